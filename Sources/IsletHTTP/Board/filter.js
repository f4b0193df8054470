// The filter's little language, the same as the command's: `state=stale and key~order-`, `not (type=Order or next<10m)`,
// `contentState.eta>5`. Beyond it a word alone matches anywhere, and terms side by side must all hold.

import {currentTime} from "./clock.js";

const tokenPattern = /\s*(?:([()])|(!=|!~|<=|>=|=|~|<|>)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([^\s()=!~<>"']+))/y;

// The members of an activity, by which it can be selected; `.` leads into members of members.
const members = [
    "id", "app", "type", "key", "device", "state", "revision", "attributes", "contentState", "staleDate",
    "relevanceScore", "style", "pushType", "startDate", "startedAt", "endedAt", "dismissAt", "expiresAt", "timestamp",
    "cause", "next", "renews", "renewedBy",
];

// {matches(row), needsNow}; throws an Error whose message is for people.
export function parseFilter(text) {
    const tokens = tokenize(text);
    let needsNow = false;
    let place = 0;

    function either() {
        const parts = [both()];
        while (isWord("or")) {
            place += 1;
            parts.push(both());
        }
        return parts.length === 1 ? parts[0] : (row) => parts.some((part) => part(row));
    }

    function both() {
        const parts = [term()];
        while (place < tokens.length && !isBracket(")") && !isWord("or")) {
            if (isWord("and")) place += 1;
            parts.push(term());
        }
        return parts.length === 1 ? parts[0] : (row) => parts.every((part) => part(row));
    }

    function term() {
        if (isWord("not")) {
            place += 1;
            const part = term();
            return (row) => !part(row);
        }
        const token = tokens[place++];
        if (token === undefined) throw new Error("something is missing at the end");
        if (token.bracket === ")") throw new Error("a bracket closes that was not opened");
        if (token.operator !== undefined) throw new Error(`before “${token.operator}” a member is missing`);
        if (token.bracket === undefined) return comparison(token);
        const inner = either();
        if (!isBracket(")")) throw new Error("a bracket is not closed");
        place += 1;
        return inner;
    }

    function comparison(token) {
        const operator = tokens[place]?.operator;
        if (operator === undefined) return anywhere(token.text);
        const value = tokens[place + 1]?.text;
        if (value === undefined) throw new Error(`after “${operator}” a value is missing`);
        place += 2;
        const path = token.text.split(".");
        const name = members.find((member) => member.toLowerCase() === path[0].toLowerCase());
        if (name === undefined) throw new Error(`there is no member “${path[0]}”: ${members.join(", ")}`);
        const wanted = readValue(value);
        if (wanted.span !== null) needsNow = true;
        return (row) => compare(operator, memberOf(row, [name, ...path.slice(1)]), wanted);
    }

    const isWord = (word) => tokens[place]?.word?.toLowerCase() === word;
    const isBracket = (bracket) => tokens[place]?.bracket === bracket;
    if (tokens.length === 0) return {matches: () => true, needsNow};
    const matches = either();
    if (place < tokens.length) throw new Error("a bracket closes that was not opened");
    return {matches, needsNow};
}

function tokenize(text) {
    const tokens = [];
    tokenPattern.lastIndex = 0;
    while (tokenPattern.lastIndex < text.length) {
        const from = tokenPattern.lastIndex;
        const found = tokenPattern.exec(text);
        if (found === null) {
            if (text.slice(from).trim() === "") break;
            throw new Error(`“${text.slice(from).trim()[0]}” has no meaning there`);
        }
        const [, bracket, operator, quoted, word] = found;
        if (bracket !== undefined) tokens.push({bracket});
        else if (operator !== undefined) tokens.push({operator});
        else if (quoted !== undefined) tokens.push({text: quoted.slice(1, -1).replace(/\\(.)/g, "$1")});
        else tokens.push({word, text: word});
    }
    return tokens;
}

const sizes = {ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000};

// A value in each of its meanings.
function readValue(text) {
    const isSpan = /^-?(\d+(\.\d+)?(ms|[smhd]))+$/.test(text);
    let span = null;
    if (isSpan) {
        span = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)].reduce((sum, [, n, unit]) => sum + n * sizes[unit], 0);
        if (text.startsWith("-")) span = -span;
    }
    const number = text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : span;
    const date = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : number;
    return {text, span, number, date, parts: text.toLowerCase().split("*")};
}

// {value, isDate}; value is undefined where the row has no such member.
function memberOf(row, path) {
    let value = row;
    for (const name of path) value = value !== null && typeof value === "object" ? value[name] : undefined;
    let name = path.at(-1);
    if (name === "next" && value !== undefined) [value, name] = [value.at, "at"]; // a deadline is its date
    if (value === null) value = undefined;
    return {value, isDate: ["at", "timestamp", "date"].includes(name) || /(At|Date)$/.test(name)};
}

function compare(operator, {value, isDate}, wanted) {
    if (value === undefined) return operator.startsWith("!");
    switch (operator) {
    case "~": return isLike(value, wanted.parts);
    case "!~": return !isLike(value, wanted.parts);
    default: {
        const order = orderOf(value, isDate, wanted);
        if (operator === "!=") return order !== 0;
        if (order === null) return false;
        return {"=": order === 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator];
    }
    }
}

// Below 0, 0, above 0; null where they are not of one kind.
function orderOf(value, isDate, wanted) {
    if (typeof value === "number") {
        const other = isDate && wanted.span !== null ? currentTime() + wanted.span : isDate ? wanted.date : wanted.number;
        return other === null || Number.isNaN(other) ? null : value - other;
    }
    if (typeof value === "boolean") return wanted.text === String(value) ? 0 : null;
    const text = textOf(value);
    return text === wanted.text ? 0 : text < wanted.text ? -1 : 1;
}

function textOf(value) {
    return typeof value === "object" ? JSON.stringify(value) : String(value);
}

// Whether it is contained, or with `*` in it matches the whole.
function isLike(value, parts) {
    const text = textOf(value).toLowerCase();
    if (parts.length === 1) return text.includes(parts[0]);
    let from = parts[0].length;
    if (!text.startsWith(parts[0])) return false;
    for (const part of parts.slice(1, -1)) {
        const found = text.indexOf(part, from);
        if (found < 0) return false;
        from = found + part.length;
    }
    return text.length - parts.at(-1).length >= from && text.endsWith(parts.at(-1));
}

function anywhere(text) {
    const wanted = text.toLowerCase();
    return (row) => searchText(row).includes(wanted);
}

const texts = new WeakMap();

// Rows are replaced when they change, so what was made of one stays true.
function searchText(row) {
    let text = texts.get(row);
    if (text === undefined) {
        const {key, type, app, device, state, id} = row;
        text = [key, type, app, device, state, id, JSON.stringify(row.contentState), JSON.stringify(row.attributes)]
            .filter((part) => part !== undefined).join(" ").toLowerCase();
        texts.set(row, text);
    }
    return text;
}

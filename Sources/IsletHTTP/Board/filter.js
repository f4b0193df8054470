// The filter of the table. The service reads it, in the one grammar that the command has too (Filter.swift), and says
// what is wrong with it; here what it has read is only carried out, and means the same as there: a member is what its
// JSON says, objects and numbers as they are written, numbers and texts to their last digit and character.

import {readFilterText} from "./api.js";
import {currentTime} from "./clock.js";
import {elementsOf, sourceOf, sourcesAt} from "./json.js";

// Selects all rows.
export const everything = {matches: () => true, needsNow: false};

// {matches(row), needsNow}; throws a CommandError whose message is for people.
export async function readFilter(text) {
    if (text.trim() === "") return everything;
    const {filter, needsNow} = await readFilterText(text);
    return {matches: (row) => holds(filter, row) === true, needsNow};
}

// Whether it holds; null where that cannot be told, as values of two kinds have no order.
export function holds(node, row) {
    switch (node.op) {
    case "or": return among(node.of, row, true);
    case "and": return among(node.of, row, false);
    case "not": {
        const inner = holds(node.of, row);
        return inner === null ? null : !inner;
    }
    case "has": return membersOf(row, node.path).length > 0;
    case "anywhere": return seenTexts(row).some((text) => find(text, node.text.normalize(), 0) >= 0);
    case "compare": return isSoOf(membersOf(row, node.path), node, compare);
    default: throw new Error(`no such part of a filter: ${node.op}`);
    }
}

// What decides alone is found: true of "or", false of "and".
function among(nodes, row, decisive) {
    let result = !decisive;
    for (const node of nodes) {
        const one = holds(node, row);
        if (one === decisive) return decisive;
        if (one === null) result = null;
    }
    return result;
}

// [{json, isDate}]: the JSON of what the path leads to; none where the row has none.
function membersOf(row, path) {
    return sourcesOf(row, path).map((json) => member(json, path.at(-1))).filter(({json}) => json !== "null");
}

function member(json, name) {
    const [date] = name === "next" && json[0] === "{" ? sourcesAt(json, ["at"]) : [];
    if (date !== undefined) [json, name] = [date, "at"]; // a deadline is its date
    return {json, isDate: ["at", "timestamp", "date"].includes(name) || /(At|Date)$/.test(name)};
}

const found = new WeakMap(); // an object → what was found in it, by path

// Objects are replaced when they change, so what was found in one stays true.
function sourcesOf(row, [first, ...path]) {
    const value = Object.hasOwn(row, first) ? row[first] : undefined;
    if (value === undefined || value === null) return [];
    if (typeof value !== "object") return path.length === 0 ? [sourceOf(value)] : [];
    let known = found.get(value);
    if (known === undefined) found.set(value, known = new Map());
    const key = path.join(".");
    if (!known.has(key)) {
        if (known.size >= pathLimit) known.clear();
        known.set(key, sourcesAt(sourceOf(value), path));
    }
    return known.get(key);
}

const pathLimit = 16;

function compare(node, member) {
    const elements = node.as === "any" ? elementsOf(member.json) : null;
    if (elements === null) return isSo(node, member);
    // Of a list it is so where it is so of one of its values, or of the whole, which has no place in an order.
    const values = elements.map((json) => ({...member, json}));
    if (!"<>".includes(node.comparison[0])) values.push(member);
    return isSoOf(values, node, isSo);
}

// Whether it is so of one of the values; what says that a value is not among them, of all.
function isSoOf(values, node, is) {
    const each = values.map((value) => is(node, value));
    if (node.comparison.startsWith("!")) return each.every((one) => one === true);
    return each.includes(true) ? true : each.includes(null) ? null : false;
}

function isSo(node, {json, isDate}) {
    const {comparison, value: wanted} = node;
    if (comparison === "~") return isLike(textOf(json), wanted.parts);
    if (comparison === "!~") return !isLike(textOf(json), wanted.parts);
    const order = orderOf(json, node.as === "any" ? meaningOf(json, isDate, wanted) : node.as, wanted);
    if (comparison === "=") return order === 0;
    if (comparison === "!=") return order !== 0;
    if (order === null) return null;
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[comparison];
}

function meaningOf(json, isDate, wanted) {
    const isMoment = wanted.date !== undefined || wanted.span !== undefined;
    if (isDate && isMoment && integer(json) !== null) return "date";
    if (exact(json) !== null) return "number";
    return json === "true" || json === "false" ? "flag" : "text";
}

// Below 0, 0, above 0; null where they are not of one kind.
function orderOf(json, meaning, wanted) {
    switch (meaning) {
    case "number": return numberOrder(exact(json), wantedNumber(wanted));
    case "date": return dateOrder(integer(json), wanted);
    case "flag": return wanted.flag !== undefined && json === String(wanted.flag) ? 0 : null;
    default: return textOrder(textOf(json), wanted.text);
    }
}

// Texts

// Of a text itself, of all else the JSON.
function textOf(json) {
    return json[0] === "\"" ? JSON.parse(json) : json;
}

// By code points, which is the order of their bytes in UTF-8.
function textOrder(one, other) {
    const end = Math.min(one.length, other.length);
    let at = 0;
    while (at < end && one[at] === other[at]) at += 1;
    if (at === end) return Math.sign(one.length - other.length);
    const rank = (unit) => unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit;
    return Math.sign(rank(one.charCodeAt(at)) - rank(other.charCodeAt(at)));
}

// Letter by letter: at the end of a word too, where a browser writes a final sigma, each is its own small one.
function lowered(text) {
    return plain.test(text) ? text.toLowerCase()
        : Array.from(text, (each) => each.toLowerCase()).join("").normalize();
}

const plain = /^[\x00-\x7f]*$/;

// Whether it is contained, or with `*` in it matches the whole.
function isLike(value, wanted) {
    const text = lowered(value);
    const parts = wanted.map((part) => part.normalize());
    if (parts.length === 1) return find(text, parts[0], 0) >= 0;
    const end = text.length - parts.at(-1).length;
    let from = parts[0].length;
    if (end < from || !stands(text, parts[0], 0) || !stands(text, parts.at(-1), end)) return false;
    for (const part of parts.slice(1, -1)) {
        const found = find(text, part, from);
        if (found < 0 || found + part.length > end) return false;
        from = found + part.length;
    }
    return true;
}

// The first place of a text in another one; -1 where there is none. It begins and ends where characters do, as people
// see them: an e is not found in an é, however that is written.
function find(text, part, from) {
    let at = text.indexOf(part, from);
    while (at >= 0 && !(isBetween(text, at) && isBetween(text, at + part.length))) at = text.indexOf(part, at + 1);
    return at;
}

function stands(text, part, at) {
    return text.startsWith(part, at) && isBetween(text, at) && isBetween(text, at + part.length);
}

const characters = new Intl.Segmenter("en", {granularity: "grapheme"});

// Whether no character reaches over this place.
function isBetween(text, at) {
    if (at === 0 || at >= text.length) return true;
    const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
    if (before < 0x80 && after < 0x80) return before !== 0x0d || after !== 0x0a;
    return characters.segment(text).containing(at).index === at;
}

const seen = new WeakMap();

// What a person sees of a row. Rows are replaced when they change, so what was made of one stays true.
function seenTexts(row) {
    let texts = seen.get(row);
    if (texts === undefined) {
        texts = ["key", "type", "kind", "app", "device", "state", "id", "contentState", "attributes"]
            .flatMap((name) => membersOf(row, [name])).map(({json}) => lowered(textOf(json)));
        seen.set(row, texts);
    }
    return texts;
}

// Numbers and dates

const [integerMin, integerMax] = [-(2n ** 63n), 2n ** 63n - 1n];

// An integer of 64 bits, which the dates of the contract are; null for all else.
function integer(json) {
    if (!/^-?\d{1,19}$/.test(json)) return null;
    if (json.length <= 15) return Number(json);
    const number = BigInt(json);
    return number < integerMin || number > integerMax ? null : number;
}

function dateOrder(date, {text, date: read, span}) {
    if (date === null) return null;
    if (span === undefined) return read === undefined ? null : order(date, integer(text) ?? read);
    const now = currentTime();
    // A Number and a BigInt are compared by their values, and not added.
    return order(date, typeof span === "bigint" ? BigInt(Math.round(now)) + span : now + span);
}

function order(one, other) {
    return one < other ? -1 : one > other ? 1 : 0;
}

// A number with all its digits, 0.DIGITS times ten to the power of EXPONENT; null for all else, and where the exponent
// is beyond 64 bits. The same as in the command (ExactNumber.swift).
function exact(json) {
    const parts = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(json);
    if (parts === null) return null;
    const [, sign, whole, fraction = "", power = "0"] = parts;
    const all = whole + fraction;
    const digits = all.replace(/^0+/, "").replace(/0+$/, "");
    const written = BigInt(power.replace("+", ""));
    if (written < integerMin || written > integerMax) return null;
    if (digits === "") return {sign: 0, digits, exponent: 0n};
    const exponent = written + BigInt(whole.length - (all.length - all.replace(/^0+/, "").length));
    if (exponent < integerMin || exponent > integerMax) return null;
    return {sign: sign === "-" ? -1 : 1, digits, exponent};
}

// As it is written, or a length of time in milliseconds.
function wantedNumber(wanted) {
    return exact(wanted.text) ?? (wanted.number === undefined ? null : exact(String(wanted.number)));
}

function numberOrder(one, other) {
    if (one === null || other === null) return null;
    if (one.sign !== other.sign) return Math.sign(one.sign - other.sign);
    if (one.exponent !== other.exponent) return one.exponent < other.exponent ? -one.sign : one.sign;
    return one.digits < other.digits ? -one.sign : one.digits > other.digits ? one.sign : 0;
}

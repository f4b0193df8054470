// The filter of the table. The service reads it, in the one grammar that the command has too (Filter.swift), and says
// what is wrong with it; here what it has read is only carried out.

import {readFilterText} from "./api.js";
import {currentTime} from "./clock.js";
import {stringify} from "./json.js";

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
    case "has": return memberOf(row, node.path).value !== undefined;
    case "anywhere": return searchText(row).includes(node.text);
    case "compare": return compare(node, memberOf(row, node.path));
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

// {value, isDate}; value is undefined where the row has no such member.
function memberOf(row, path) {
    let value = row;
    for (const name of path) {
        const isThere = value !== null && typeof value === "object" && Object.hasOwn(value, name);
        value = isThere ? value[name] : undefined;
    }
    let name = path.at(-1);
    if (name === "next" && value?.at !== undefined) [value, name] = [value.at, "at"]; // a deadline is its date
    if (value === null) value = undefined;
    return {value, isDate: ["at", "timestamp", "date"].includes(name) || /(At|Date)$/.test(name)};
}

function compare(node, {value, isDate}) {
    const {comparison, value: wanted} = node;
    if (value === undefined) return comparison.startsWith("!");
    if (comparison === "~") return isLike(value, wanted.parts);
    if (comparison === "!~") return !isLike(value, wanted.parts);
    const order = orderOf(value, node.as === "any" ? meaningOf(value, isDate) : node.as, wanted);
    if (comparison === "=") return order === 0;
    if (comparison === "!=") return order !== 0;
    if (order === null) return null;
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[comparison];
}

function meaningOf(value, isDate) {
    if (typeof value === "number") return isDate && Number.isInteger(value) ? "date" : "number";
    if (typeof value === "bigint") return "number";
    return typeof value === "boolean" ? "flag" : "text";
}

// Below 0, 0, above 0; null where they are not of one kind.
function orderOf(value, meaning, wanted) {
    switch (meaning) {
    case "number": return difference(value, wanted.number);
    case "date": return difference(value, wanted.span === undefined ? wanted.date : currentTime() + wanted.span);
    case "flag": return value === wanted.flag ? 0 : null;
    default: {
        const text = textOf(value);
        return text === wanted.text ? 0 : text < wanted.text ? -1 : 1;
    }
    }
}

function difference(value, other) {
    if (typeof value !== "number" && typeof value !== "bigint" || other === undefined) return null;
    return value < other ? -1 : value > other ? 1 : 0;
}

function textOf(value) {
    return typeof value === "object" ? stringify(value) : String(value);
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

const texts = new WeakMap();

// Rows are replaced when they change, so what was made of one stays true.
function searchText(row) {
    let text = texts.get(row);
    if (text === undefined) {
        const {key, type, kind, app, device, state, id, contentState, attributes} = row;
        text = [key, type, kind, app, device, state, id, contentState, attributes]
            .filter((part) => part !== undefined && part !== null).map(textOf).join("\n").toLowerCase();
        texts.set(row, text);
    }
    return text;
}

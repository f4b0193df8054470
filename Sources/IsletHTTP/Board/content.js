// What a payload says, without knowing its app: which member is the headline, which is progress, a date, a number.

import {count, relative, words} from "./format.js";
import {stringify} from "./json.js";

const headlines = ["status", "title", "headline", "name", "state", "phase", "message", "event", "text", "label"];
const subtitles = ["subtitle", "detail", "description", "body", "order", "place", "address", "city", "flight", "number",
    "driver", "player"];
const progressNames = ["progress", "fraction", "percent", "percentage", "completion", "ratio"];
const depthLimit = 2;
const memberLimit = 12;

// {headline, subtitle, members: [{name, value, kind: "text" | "number" | "flag" | "date", text}], progress: 0…1 or
// null}
export function readContent(contentState, attributes) {
    const members = [...flatten(contentState), ...flatten(attributes, "attribute")].slice(0, memberLimit * 2);
    const progress = members.find(isProgress);
    const strings = members.filter((member) => member.kind === "text" && member.text !== "");
    const headline = byName(strings, headlines) ?? strings[0] ?? null;
    const others = strings.filter((member) => member !== headline);
    // A short text says nothing without its name: it stands among the members.
    const subtitle = byName(others, subtitles) ?? others.find((member) => member.text.length > 3) ?? null;
    return {
        headline,
        subtitle,
        progress: progress === undefined ? null : fractionOf(progress),
        members: members.filter((member) => member !== headline && member !== subtitle && member !== progress)
            .slice(0, memberLimit),
    };
}

function flatten(value, from = "content", prefix = "", depth = 0) {
    if (value === null || typeof value !== "object") return [];
    const found = [];
    for (const [name, member] of Object.entries(value)) {
        if (found.length >= memberLimit * 2) break;
        // The last name is enough, where it stands once.
        const path = prefix !== "" && found.some((each) => each.name === words(name)) ? `${prefix} ${name}` : name;
        if (member !== null && typeof member === "object" && !Array.isArray(member) && depth < depthLimit) {
            found.push(...flatten(member, from, name, depth + 1));
        } else {
            found.push(describe(path, member, from));
        }
    }
    return found;
}

function describe(name, value, from) {
    const member = {name: words(name), value, from};
    if (typeof value === "number") {
        const isDate = Number.isInteger(value) && value >= 1e12 && value < 1e13;
        return {...member, kind: isDate ? "date" : "number", text: numberText(value)};
    }
    if (typeof value === "bigint") return {...member, value: Number(value), kind: "number", text: String(value)};
    if (typeof value === "boolean") return {...member, kind: "flag", text: value ? "yes" : "no"};
    if (typeof value === "string") return {...member, kind: "text", text: value};
    if (Array.isArray(value)) {
        const isPlain = value.every((item) => item === null || typeof item !== "object");
        return {...member, kind: "list", text: isPlain ? value.join(", ") : `${value.length} entries`};
    }
    return {...member, kind: "other", text: value === null ? "–" : stringify(value)};
}

function numberText(value) {
    if (Number.isInteger(value)) return Math.abs(value) < 1e6 ? count(value) : String(value);
    return String(Math.round(value * 100) / 100);
}

function byName(members, names) {
    for (const name of names) {
        const found = members.find((member) => member.name === name || member.name.endsWith(` ${name}`));
        if (found !== undefined) return found;
    }
    return null;
}

function isProgress(member) {
    return member.kind === "number" && progressNames.some((name) => member.name === name
        || member.name.endsWith(` ${name}`))
        && member.value >= 0 && member.value <= 100;
}

function fractionOf(member) {
    return member.value > 1 || member.name.includes("percent") ? member.value / 100 : member.value;
}

// What a member says at this moment; dates count down.
export function memberText(member, now) {
    return member.kind === "date" ? relative(member.value, now) : member.text;
}

// One line for a table: "on the way · eta 15"
export function summary(contentState, now) {
    const {headline, subtitle, progress, members} = readContent(contentState);
    const parts = [headline?.text, subtitle?.text];
    if (progress !== null) parts.push(`${Math.round(progress * 100)} %`);
    for (const member of members.slice(0, 3)) parts.push(`${member.name} ${memberText(member, now)}`);
    return parts.filter((part) => part !== undefined && part !== "").join(" · ");
}

// The one member that there is room for in a compact Dynamic Island: a number before a date before a text.
export function essence(content) {
    const fits = (member) => member.from === "content";
    const found = ["number", "date", "flag"].map((kind) => content.members.find((m) => m.kind === kind && fits(m)))
        .find((member) => member !== undefined);
    return found ?? content.headline ?? null;
}

// A colour of its own for each app, always the same, from a small calm palette.
export function hueOf(name) {
    let hash = 0;
    for (const character of String(name)) hash = (hash * 31 + character.codePointAt(0)) >>> 0;
    return [212, 262, 172, 28, 336, 142, 192, 6][hash % 8];
}

export function glyphOf(name) {
    const first = [...words(name)].find((character) => /[\p{L}\p{N}]/u.test(character));
    return (first ?? "•").toUpperCase();
}

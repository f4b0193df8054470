// JSON with all of its integers: those that a Number cannot hold are BigInts, which are shown and compared exactly. A
// browser that does not tell how a number was written gives the nearest Number.

export function parse(text) {
    // To look at each member takes several times as long, and few texts have such a number.
    return /\d{16}/.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
}

function exactly(name, value, context) {
    if (typeof value !== "number" || Number.isSafeInteger(value) || context === undefined) return value;
    return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
}

export function stringify(value, space) {
    return JSON.stringify(
        value, (name, member) => typeof member === "bigint" ? JSON.rawJSON(String(member)) : member, space);
}

// The filter's little language, the same as the command's, as in `state=stale and key~order-`, `not device=phone-1` or
// `revision>5`.
// A word alone matches anywhere. Terms side by side must all hold; `or` binds weaker than `and`; brackets group.

const tokenPattern = /\s*(?:([()])|("[^"]*"|[^\s()"]+(?:"[^"]*")?))/y;

// What a row is looked at by; names are those of the contract.
const fields = {
    state: (row) => row.state,
    key: (row) => row.key,
    type: (row) => row.type,
    kind: (row) => row.kind,
    app: (row) => row.app,
    device: (row) => row.device,
    id: (row) => row.id,
    cause: (row) => row.cause,
    style: (row) => row.style,
    family: (row) => row.family,
    next: (row) => row.next?.cause,
    revision: (row) => row.revision,
    relevance: (row) => row.relevanceScore,
};

export const fieldNames = Object.keys(fields);

// A predicate for rows; throws an Error whose message is for people.
export function parseFilter(text) {
    const tokens = tokenize(text);
    if (tokens.length === 0) return () => true;
    let place = 0;

    function alternatives() {
        const parts = [conjunction()];
        while (isWord("or")) {
            place += 1;
            parts.push(conjunction());
        }
        return parts.length === 1 ? parts[0] : (row) => parts.some((part) => part(row));
    }

    function conjunction() {
        const parts = [negation()];
        while (place < tokens.length && tokens[place] !== ")" && !isWord("or")) {
            if (isWord("and")) place += 1;
            parts.push(negation());
        }
        return parts.length === 1 ? parts[0] : (row) => parts.every((part) => part(row));
    }

    function negation() {
        if (isWord("not")) {
            place += 1;
            const part = negation();
            return (row) => !part(row);
        }
        const token = tokens[place++];
        if (token === undefined) throw new Error("something is missing at the end");
        if (token === ")") throw new Error("a bracket closes that was not opened");
        if (token !== "(") return term(token);
        const inner = alternatives();
        if (tokens[place++] !== ")") throw new Error("a bracket is not closed");
        return inner;
    }

    function isWord(word) {
        return tokens[place]?.toLowerCase() === word;
    }

    const whole = alternatives();
    if (place < tokens.length) throw new Error("a bracket closes that was not opened");
    return whole;
}

function tokenize(text) {
    const tokens = [];
    tokenPattern.lastIndex = 0;
    while (tokenPattern.lastIndex < text.length) {
        const found = tokenPattern.exec(text);
        if (found === null) break;
        tokens.push(found[1] ?? found[2]);
    }
    return tokens;
}

function term(token) {
    const parts = /^([A-Za-z]+)(!=|=|~|<|>)(.*)$/.exec(token);
    if (parts === null) return anywhere(unquoted(token));
    const [, name, operator, raw] = parts;
    const field = fields[name.toLowerCase()];
    if (field === undefined) throw new Error(`there is no field “${name}”: ${fieldNames.join(", ")}`);
    const value = unquoted(raw).toLowerCase();
    const textOf = (row) => String(field(row) ?? "").toLowerCase();
    switch (operator) {
    case "=": return (row) => textOf(row) === value;
    case "!=": return (row) => textOf(row) !== value;
    case "~": return value.endsWith("*")
        ? (row) => textOf(row).startsWith(value.slice(0, -1))
        : (row) => textOf(row).includes(value);
    default: {
        const limit = Number(value);
        if (!Number.isFinite(limit)) throw new Error(`“${value}” is not a number`);
        return operator === "<" ? (row) => Number(field(row)) < limit : (row) => Number(field(row)) > limit;
    }
    }
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
        const content = row.contentState ?? row.entry?.content ?? row.value;
        text = [row.key, row.type, row.kind, row.app, row.device, row.state, row.id, row.status,
            content === undefined ? "" : JSON.stringify(content),
            row.attributes === undefined ? "" : JSON.stringify(row.attributes)].join(" ").toLowerCase();
        texts.set(row, text);
    }
    return text;
}

function unquoted(text) {
    return text.replaceAll("\"", "");
}

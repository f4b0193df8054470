// JSON with all of its integers: those that a Number cannot hold are BigInts, which are shown and compared exactly. A
// browser that does not tell how a number was written gives the nearest Number.
//
// What users put into their activities is also known as they wrote it: a filter compares that text, and a value that has
// been read does not tell any more whether it was 1 or 1.0.

export function parse(text) {
    // To look at each member takes several times as long, and few texts have such a number.
    const value = /\d{16}/.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
    keepOrigins(value, {text, value, isRead: false});
    return value;
}

function exactly(name, value, context) {
    if (typeof value !== "number" || Number.isSafeInteger(value) || context === undefined) return value;
    return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
}

export function stringify(value, space) {
    return JSON.stringify(
        value, (name, member) => typeof member === "bigint" ? JSON.rawJSON(String(member)) : member, space);
}

// As it is written

const payloads = ["contentState", "attributes"];
const origins = new WeakMap(); // a payload → the text that it stands in
const sources = new WeakMap(); // a payload → its own text

function keepOrigins(value, whole) {
    if (value === null || typeof value !== "object") return;
    for (const name of Object.keys(value)) {
        const member = value[name];
        if (member === null || typeof member !== "object") continue;
        if (payloads.includes(name)) origins.set(member, whole);
        else keepOrigins(member, whole);
    }
}

// The JSON text of a value, of a payload as its user wrote it.
export function sourceOf(value) {
    const whole = origins.get(value);
    if (whole === undefined) return stringify(value);
    if (!whole.isRead) {
        whole.isRead = true; // a text is gone through once, and only where somebody asks
        new Scanner(whole.text).value(whole.value, (payload, source) => {
            if (origins.has(payload)) sources.set(payload, source);
        });
    }
    return sources.get(value) ?? stringify(value);
}

// The texts of what a path leads to in the JSON of a value, through a list in each of its values; none where it is not
// there.
export function sourcesAt(source, path) {
    if (path.length === 0) return [source];
    const elements = elementsOf(source);
    if (elements !== null) return elements.flatMap((each) => sourcesAt(each, path));
    const member = source[0] === "{" ? new Scanner(source).members().get(path[0]) : undefined;
    return member === undefined ? [] : sourcesAt(member, path.slice(1));
}

// The texts of a list's values; null where it is none.
export function elementsOf(source) {
    return source[0] === "[" ? new Scanner(source).elements() : null;
}

// Goes through well-formed JSON.
class Scanner {
    constructor(text) {
        this.text = text;
        this.at = 0;
    }

    space() {
        while (" \t\n\r".includes(this.text[this.at] ?? "?")) this.at += 1;
    }

    string() {
        const begin = this.at;
        this.at += 1;
        while (this.text[this.at] !== "\"") this.at += this.text[this.at] === "\\" ? 2 : 1;
        this.at += 1;
        return this.text.slice(begin, this.at);
    }

    // Goes over a value, and tells each object and list in it, side by side with what it was read as.
    value(read, tell) {
        this.space();
        const begin = this.at;
        if (this.text[begin] === "{") this.all("}", () => this.value(read?.[this.name()], tell));
        else if (this.text[begin] === "[") this.all("]", (index) => this.value(read?.[index], tell));
        else if (this.text[begin] === "\"") this.string();
        else while (this.at < this.text.length && !" \t\n\r,]}".includes(this.text[this.at])) this.at += 1;
        const source = this.text.slice(begin, this.at);
        if (read !== null && typeof read === "object") tell?.(read, source);
        return source;
    }

    name() {
        this.space();
        const name = JSON.parse(this.string());
        this.space();
        this.at += 1; // the colon
        return name;
    }

    // What stands between a bracket and its other one.
    all(end, take) {
        this.at += 1;
        this.space();
        if (this.text[this.at] === end) {
            this.at += 1;
            return;
        }
        for (let index = 0; ; index += 1) {
            take(index);
            this.space();
            this.at += 1;
            if (this.text[this.at - 1] === end) return;
        }
    }

    elements() {
        const elements = [];
        this.all("]", () => elements.push(this.value()));
        return elements;
    }

    // The members of an object; none where a name stands twice, as for the service.
    members() {
        const members = new Map();
        let isClear = true;
        this.all("}", () => {
            const name = this.name();
            if (members.has(name)) isClear = false;
            members.set(name, this.value());
        });
        return isClear ? members : new Map();
    }
}

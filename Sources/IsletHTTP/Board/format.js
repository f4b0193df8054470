// Numbers, spans and dates for people. Spans are milliseconds; dates are the service's, shown in UTC as its logs are.

const space = "\u202f"; // narrow and unbreakable: 12 031 stays in one line

// 12 031
export function count(value) {
    if (value === null || value === undefined) return "–";
    return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, space);
}

// 1 deadline, 12 deadlines
export function plural(number, word) {
    return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

// 950, 12.4 k, 3.1 M: where the place is narrow.
export function short(value) {
    if (value === null || value === undefined) return "–";
    if (value < 10 && value % 1 !== 0) return value.toFixed(1);
    if (value < 10_000) return count(value);
    if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 100_000 ? 1 : 0)}${space}k`;
    return `${(value / 1_000_000).toFixed(1)}${space}M`;
}

const units = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1_000]];

// 4 h 10 m; the two largest units that say something.
export function span(milliseconds) {
    const whole = Math.abs(milliseconds);
    if (whole < 1_000) return `${Math.round(whole)}${space}ms`;
    const first = units.findIndex(([, size]) => whole >= size);
    const [name, size] = units[first];
    const head = `${Math.floor(whole / size)}${space}${name}`;
    if (first === units.length - 1) return head;
    const [nextName, nextSize] = units[first + 1];
    const rest = Math.floor((whole % size) / nextSize);
    return rest === 0 ? head : `${head} ${rest}${space}${nextName}`;
}

// in 4 m, 12 s ago
export function relative(date, now) {
    const distance = date - now;
    if (Math.abs(distance) < 1_000) return "now";
    return distance > 0 ? `in ${span(distance)}` : `${span(distance)} ago`;
}

// A measured length: 850 µs, 12.4 ms, 2.1 s.
export function measured(value, unit) {
    if (value === null || value === undefined) return "–";
    const micro = unit === "us" ? value : value * 1_000;
    if (micro < 1_000) return unit === "us" ? `${Math.round(micro)}${space}µs` : "0\u202fms";
    const milli = micro / 1_000;
    if (milli < 10) return `${trimmed(milli)}${space}ms`;
    if (milli < 1_000) return `${Math.round(milli)}${space}ms`;
    if (milli < 60_000) return `${trimmed(milli / 1_000)}${space}s`;
    return span(milli);
}

function trimmed(value) {
    return value.toFixed(1).replace(/\.0$/, "");
}

export function bytes(value) {
    if (value === null || value === undefined) return "–";
    for (const [name, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
        if (value >= size) return `${trimmed(value / size)}${space}${name}`;
    }
    return `${count(value)}${space}B`;
}

function two(value) {
    return String(value).padStart(2, "0");
}

// 14:05
export function clock(date) {
    const day = new Date(date);
    return `${two(day.getUTCHours())}:${two(day.getUTCMinutes())}`;
}

// 14:05:09
export function clockSeconds(date) {
    return `${clock(date)}:${two(new Date(date).getUTCSeconds())}`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// 21 Nov
export function day(date) {
    const value = new Date(date);
    return `${value.getUTCDate()}${space}${months[value.getUTCMonth()]}`;
}

// 21 Nov 2026, 14:05:09.120 UTC
export function exact(date) {
    const value = new Date(date);
    const fraction = String(value.getUTCMilliseconds()).padStart(3, "0");
    return `${day(date)} ${value.getUTCFullYear()}, ${clockSeconds(date)}.${fraction} UTC`;
}

// "staleDate" → "stale date", "order_number" → "order number"
export function words(name) {
    return String(name).replace(/[_-]+/g, " ").replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().trim();
}

export function capitalized(text) {
    return text === "" ? text : text[0].toUpperCase() + text.slice(1);
}

// "Order · Pizza": an activity's type, or a kind, and its app; "Pizza" where both are called the same.
export function typeAndApp(type, app) {
    const name = appName(app);
    return words(type) === name.toLowerCase() ? name : `${type} · ${name}`;
}

// com.example.pizza → Pizza
export function appName(app) {
    return capitalized(words(String(app).split(".").pop() ?? ""));
}

// How late deadlines took effect: a histogram of the events that this page has seen, and the service's own percentiles.

import {byId, h, setAttribute, setText} from "./dom.js";
import {count, measured, plural} from "./format.js";
import {onChange, store} from "./store.js";

// Upper edges of the bars, in milliseconds; the last bar holds what is later.
const edges = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000];
const bars = [];

export function startLateness() {
    const place = byId("lateness-bars");
    for (let index = 0; index <= edges.length; index += 1) {
        const bar = h("i", {});
        bars.push(bar);
        place.append(h("div", {class: "bar"}, bar, index % 2 === 0 ? h("small", {}, edgeText(index)) : null));
    }
    onChange(({topics}) => { if (topics.has("stats")) draw(); });
}

function edgeText(index) {
    return index < edges.length ? `≤${measured(edges[index], "ms").replace("\u202f", "")}` : ">1m";
}

function draw() {
    const counts = bars.map(() => 0);
    for (const value of store.lateness) {
        const index = edges.findIndex((edge) => value <= edge);
        counts[index < 0 ? edges.length : index] += 1;
    }
    const top = Math.max(...counts, 1);
    counts.forEach((value, index) => {
        const bar = bars[index];
        // A bar that holds anything can be seen.
        bar.style.height = value === 0 ? "0" : `${Math.max((value / top) * 100, 4)}%`;
        setAttribute(bar.parentElement, "title", `${edgeText(index)}: ${count(value)}`);
    });
    const filled = counts.map((value, index) => value > 0 && `${edgeText(index)}: ${value}`).filter(Boolean);
    setAttribute(byId("lateness-bars"), "aria-label",
        `Lateness of ${plural(store.lateness.length, "deadline")}; ${filled.join(", ")}`);
    const late = store.stats.lateness;
    const recent = late.recent?.count > 0 ? late.recent : null;
    for (const name of ["p50", "p99", "p999", "max"]) {
        setText(byId(`late-${name}`), measured(late[name], "ms"));
        setText(byId(`late-recent-${name}`), recent === null ? "–" : measured(recent[name], "ms"));
    }
    setText(byId("late-count"), `${plural(late.count, "deadline")} since the start`);
    setText(byId("late-note"), `bars: ${count(store.lateness.length)} seen here`);
}

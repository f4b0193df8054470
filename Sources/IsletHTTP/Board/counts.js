// How many entities there are, for whatever part of the page says so: all parts say the same.

import {knowsDismissed} from "./lists.js";
import {plural, store} from "./store.js";

// State → how many activities are in it, those that are dismissed among them, or the same of another family.
export function countsOf(family) {
    const held = store.held[family];
    const told = store.stats?.[plural[family]] ?? {};
    // What the lists have brought is counted live, event by event. Where they have not brought all of it, only the
    // service knows, as of its last figures, unless this page knows of more than these.
    const isPart = store.loading || store.hasFailed || isMissing(family);
    const counts = isPart && sum(told) >= sum(held) ? {...told} : {...held};
    if (family === "activity") counts.dismissed = (knowsDismissed() && !isMissing("dismissed") ? held : told).dismissed;
    return counts;
}

// How many of a family there are, without dismissed ones.
export function totalOf(family) {
    return sum(countsOf(family));
}

function sum(counts) {
    let total = 0;
    for (const [state, number] of Object.entries(counts)) if (state !== "dismissed") total += number ?? 0;
    return total;
}

function isMissing(family) {
    return [...store.notes.values()].some((note) => note.family === family);
}

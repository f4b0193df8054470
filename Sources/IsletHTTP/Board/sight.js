// Reads what is in sight anew, again and again: whatever events have said, or not said, the page is right soon after.

import {allPlaces, placeOf, placesOfDismissed, readAnew} from "./lists.js";
import {selected} from "./route.js";
import {store} from "./store.js";

const often = 10_000; // milliseconds from one reading of a place to the next
const gap = 1_000; // milliseconds between two questions at least
const sightLimit = 200; // rows, tiles and cards for whose sake is read; the first ones

let turnAt = -Infinity; // when something was read that is not in sight

export function startSight() {
    setTimeout(look, gap);
}

async function look() {
    if (!document.hidden && !store.loading && store.session.connection === "live") {
        const places = inSight();
        const place = due(places);
        // What is not answered has its turn again.
        if (place !== undefined) await readAnew(place, places.get(place) ?? new Set()).catch(() => {});
    }
    setTimeout(look, gap);
}

// What was read longest ago, where that is long enough. Now and then it is something that is not in sight: it may hold
// what the page knows nothing of.
function due(places) {
    const now = performance.now();
    const isDue = ({readAt}) => now - readAt >= often;
    if (now - turnAt >= often) {
        const other = oldest(allPlaces().filter((place) => !places.has(place) && isDue(place)));
        if (other !== undefined) {
            turnAt = now;
            return other;
        }
    }
    return oldest([...places.keys()].filter(isDue));
}

function oldest(places) {
    return places.reduce((one, other) => one === undefined || other.readAt < one.readAt ? other : one, undefined);
}

// Place → the ids of what is in sight of it.
function inSight() {
    const places = new Map();
    const add = (family, id) => {
        const entity = store[family].get(id);
        if (entity === undefined) return;
        const place = placeOf(family, entity);
        if (place === undefined) return;
        if (!places.has(place)) places.set(place, new Set());
        places.get(place).add(id);
    };
    const open = selected();
    if (open !== null) add(open.family, open.id);
    const near = [...document.querySelectorAll("[data-near=yes]")].slice(0, sightLimit);
    for (const {classList, dataset} of near) {
        add(classList.contains("row") ? "activity" : classList.contains("tile") ? "control" : "widget", dataset.id);
    }
    const apps = new Set([...places.keys()].map(({app}) => app));
    for (const place of placesOfDismissed(apps)) if (!places.has(place)) places.set(place, new Set());
    return places;
}

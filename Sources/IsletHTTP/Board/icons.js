// A few drawn symbols, chosen by the words in a name; what has none is shown by its first letter.

import {h, svg} from "./dom.js";
import {glyphOf} from "./content.js";
import {words} from "./format.js";

// Strokes in a square of 24.
const drawings = {
    bag: "M6 8h12l1 12H5zM9 8a3 3 0 0 1 6 0",
    pizza: "M12 21 3.5 6.5a17 17 0 0 1 17 0zM9.5 11h.01M14 12.5h.01M12 8h.01",
    ball: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8l3.8 2.8-1.5 4.4H9.7l-1.5-4.4zM12 8V3.2M15.8 10.8l4.6-1.5"
        + "M14.3 15.2l2.8 3.9M9.7 15.2l-2.8 3.9M8.2 10.8 3.6 9.3",
    tram: "M7 5h10a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2zM5 12h14M9 5l1-2h4l1 2"
        + "M8.5 14.5h.01M15.5 14.5h.01M8 17l-2 4M16 17l2 4",
    plane: "M21 4.5c-1-1-2.6-.8-3.6.2L14 8 5.5 5.5 4 7l7 4-3.5 3.5-2.5-.5L4 15l3 2 2 3 1-1"
        + "-.5-2.5L13 13l4 7 1.5-1.5L16 10l3.3-3.4c1-1 2.2-1.2 1.7-2.1z",
    cloud: "M7 18a4 4 0 0 1-.5-8A6 6 0 0 1 18 9.5a4.3 4.3 0 0 1-.5 8.5z",
    bulb: "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.5 10.9c.6.5 1 1.3 1 2.1h5c0-.8.4-1.6 1-2.1A6 6 0 0 0 12 3z",
    thermometer: "M14 13.5V5a2 2 0 0 0-4 0v8.5a4.5 4.5 0 1 0 4 0zM12 9v8",
    door: "M4 20V9l8-5 8 5v11M7 20v-8h10v8M7 15h10M7 18h10",
    lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
    clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2",
    heart: "M12 20S3.5 14.5 3.5 9A4.3 4.3 0 0 1 12 7.5 4.3 4.3 0 0 1 20.5 9C20.5 14.5 12 20 12 20z",
    music: "M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z",
    wave: "M3 9c2 0 2-2 4.5-2S10 9 12 9s2-2 4.5-2S19 9 21 9M3 16c2 0 2-2 4.5-2s2.5 2 4.5 2 2-2 4.5-2 2.5 2 4.5 2",
    briefcase: "M4 8h16v11H4zM9 8V5h6v3M4 13h16",
};

const byWord = [
    [/pizza/, "pizza"], [/order|deliver|shop|cart|food|courier|parcel/, "bag"],
        [/match|sport|game|score|league|goal/, "ball"],
    [/ride|tram|train|bus|taxi|transit|metro|car\b/, "tram"], [/flight|plane|airport|boarding|travel/, "plane"],
    [/weather|forecast|rain|sky/, "cloud"], [/torch|light|lamp|bulb/, "bulb"],
        [/heat|thermo|temperature|climate|oven/, "thermometer"],
    [/garage|door|gate/, "door"], [/lock|alarm|secur/, "lock"], [/timer|clock|countdown|alarm/, "clock"],
        [/workout|heart|health|run\b/, "heart"],
    [/music|song|play|audio/, "music"], [/tide|surf|swim|water/, "wave"], [/shift|work|meeting|job/, "briefcase"],
];

// The symbol of the first name that has one.
export function icon(className, ...names) {
    for (const name of names) {
        const text = words(name ?? "");
        const found = byWord.find(([pattern]) => pattern.test(text));
        if (found === undefined) continue;
        return h("span", {class: `${className} drawn`, "aria-hidden": "true"},
            svg("svg", {viewBox: "0 0 24 24"}, svg("path", {d: drawings[found[1]]})));
    }
    return h("span", {class: className, "aria-hidden": "true"}, glyphOf(names[0] ?? ""));
}

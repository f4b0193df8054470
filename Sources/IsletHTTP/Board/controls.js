// Controls as tiles, as Control Center has them: a tap is a command, what it shows is what the service says.

import {byId, h, reconcile, setAttribute, setText, sightWatcher} from "./dom.js";
import {appName, capitalized, count, words} from "./format.js";
import {icon} from "./icons.js";
import {onChange, store} from "./store.js";
import {openDetail} from "./route.js";
import {totalOf} from "./counts.js";
import {toast} from "./toast.js";
import {change} from "./actions.js";
import {stringify} from "./json.js";

const tilesLimit = 240;
const groups = new Map();

// Apple's named colours; others count only as plain #rgb, since a provider may write anything.
const tints = new Map(Object.entries({
    red: "#ff3b30", orange: "#ff9500", yellow: "#ffcc00", green: "#34c759", mint: "#00c7be", teal: "#30b0c7",
    cyan: "#32ade6", blue: "#007aff", indigo: "#5856d6", purple: "#af52de", pink: "#ff2d55", brown: "#a2845e",
    gray: "#8e8e93", white: "#c7c7cc",
}));

export function startControls() {
    const concerns = ["control", "lists", "route", "session"];
    onChange(({topics}) => {
        if (concerns.some((topic) => topics.has(topic))) draw();
        else if (topics.has("stats")) say();
    });
    draw();
}

function draw() {
    if (document.body.dataset.view !== "controls") return;
    const byDevice = new Map();
    let number = 0;
    const sorted = [...store.control.values()].sort((one, other) =>
        (one.device ?? "").localeCompare(other.device ?? "") || one.addedAt - other.addedAt);
    for (const control of sorted) {
        if (++number > tilesLimit) break;
        const device = control.device ?? "No device";
        if (!byDevice.has(device)) byDevice.set(device, []);
        byDevice.get(device).push(control);
    }
    reconcile(byId("tiles"), groups, [...byDevice], ([device]) => device, makeGroup, (group, [, controls]) => {
        reconcile(group.grid, group.parts, controls, (control) => control.id, makeWatchedTile, writeTile);
    });
    say();
    byId("controls-empty").hidden = store.control.size > 0 || store.loading || store.hasFailed;
}

function say() {
    setText(byId("controls-note"), store.control.size > tilesLimit
        ? `Showing ${tilesLimit} of ${count(totalOf("control"))}` : "");
}

function makeGroup([device]) {
    const grid = h("div", {class: "tile-grid"});
    return {element: h("section", {class: "group"}, h("h3", {}, device), grid), grid, parts: new Map()};
}

const watcher = sightWatcher();

function makeWatchedTile() {
    const parts = makeTile();
    watcher.observe(parts.element);
    return parts;
}

function makeTile() {
    const parts = {
        glyph: h("span", {class: "tile-glyph-place"}), name: h("b", {}), status: h("small", {}), note: h("em", {}),
    };
    parts.tap = h("button", {type: "button", class: "tap", onclick: () => tap(parts.control)}, parts.glyph,
        h("span", {class: "tile-text"}, parts.name, parts.status, parts.note));
    parts.info = h("button", {type: "button", class: "info",
        onclick: () => openDetail("control", parts.control.app, parts.control.id)}, "i");
    parts.element = h("div", {class: "tile"}, parts.tap, parts.info);
    return parts;
}

function writeTile(parts, control) {
    const declared = declarationOf(control);
    if (parts.control === control && parts.declared === declared && parts.mayWrite === store.session.write) return;
    parts.control = control;
    parts.declared = declared;
    parts.mayWrite = store.session.write;
    const isToggle = control.template === "toggle";
    const name = displayName(control);
    const status = statusText(control);
    parts.element.dataset.id = control.id;
    parts.element.dataset.state = control.state;
    parts.element.classList.toggle("on", isToggle ? control.value === true : control.isActive === true);
    parts.element.classList.toggle("unsure", control.valueSource !== "provider");
    parts.element.classList.toggle("failed", control.failure !== undefined);
    parts.element.style.setProperty("--tint", tintOf(control) ?? "var(--tile-on)");
    if (parts.iconOf !== name) parts.glyph.replaceChildren(icon("tile-glyph", name, control.kind));
    parts.iconOf = name;
    setText(parts.name, name);
    setText(parts.status, status);
    setText(parts.note, noteOf(control));
    // What is hidden or not known yet is not off.
    setAttribute(parts.tap, "aria-pressed", isToggle && typeof control.value === "boolean" ? control.value ? "true"
        : "false" : null);
    setAttribute(parts.tap, "aria-disabled", !store.session.write || control.isDisabled ? "true" : null);
    setAttribute(parts.tap, "aria-label",
        `${name}, ${status}${control.device === undefined ? "" : `, on ${control.device}`}`);
    setAttribute(parts.tap, "title", control.actionHint ?? (isToggle ? "Tap to switch" : "Tap to run"));
    setAttribute(parts.info, "aria-label", `Why is ${name} as it is?`);
}

// What its provider declared of its kind, once that is read.
function declarationOf(control) {
    return store.kinds.get(`${control.app}/control/${control.kind}`);
}

export function displayName(control) {
    const declared = declarationOf(control);
    const rooms = Object.values(control.configuration ?? {}).filter((value) => typeof value === "string");
    return [declared?.displayName ?? capitalized(words(control.kind.split(".").pop())),
        ...rooms.slice(0, 1)].join(" · ");
}

function statusText(control) {
    if (control.isRedacted) return "hidden while locked";
    if (control.status !== undefined) return control.status;
    if (control.template === "toggle" && typeof control.value === "boolean") return control.value ? "On" : "Off";
    return control.value === undefined ? "" : typeof control.value === "object" ? stringify(control.value)
        : String(control.value);
}

const failures = {
    noProvider: "nobody provides it", providerLost: "its provider went away", timedOut: "its provider took too long",
    threw: "its provider failed",
    badAnswer: "its provider answered nonsense", busy: "its provider is busy", unknownOutcome: "unknown whether it ran",
};

// What its provider said of the last call, else what came of it.
function failureText({failure, failureReason}) {
    return failureReason ?? failures[failure] ?? words(failure ?? "it failed");
}

function noteOf(control) {
    if (control.state === "acting") return "acting …";
    if (control.state === "authenticating") return "waits for an unlock";
    if (control.state === "loading" || control.state === "reloading") return `${control.state} …`;
    if (control.failure !== undefined) return failureText(control);
    if (control.isDisabled) return "disabled";
    return control.valueSource === "preview" ? "value unknown" : "";
}

function tintOf(control) {
    const tint = control.tint ?? declarationOf(control)?.tint;
    if (tint === undefined || tint === null) return null;
    if (/^#[0-9a-f]{3}([0-9a-f]{3})?$/i.test(tint)) return tint;
    return tints.get(tint.toLowerCase()) ?? null;
}

function tap(control) {
    if (!store.session.write) return toast("This board is read-only: start the service with --board-write to tap.",
        "warn");
    tapped.add(control.id);
    change("control.tap", {app: control.app, id: control.id}).then((answer) => {
        if (answer?.outcome !== "applied") tapped.delete(control.id);
    });
}

const tapped = new Set(); // from this page, and not through yet

// A failure soon gives way to the value that is asked for after it: whoever tapped is told.
export function controlChanged({event, control}) {
    if (!["control.failed", "control.performed", "control.cancelled"].includes(event)
        || !tapped.delete(control.id)) return;
    if (event !== "control.failed") return;
    const name = displayName(store.control.get(control.id) ?? {kind: "control", app: ""});
    toast(`${name}: ${failureText(control)}.`, "bad");
}

// The same tile, larger, in the detail panel.
export function controlPreview(control) {
    const parts = makeTile();
    writeTile(parts, control);
    parts.info.remove();
    return h("div", {class: "stage tile-stage"}, parts.element, h("small", {}, appName(control.app)));
}

export function controlActions(control) {
    return [h("button", {type: "button", class: "action",
        onclick: () => change("control.reload", {app: control.app, id: control.id})}, "Ask its provider again")];
}

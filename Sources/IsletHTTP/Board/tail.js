// The tail: every event as it comes, newest first.

import {byId, h, reconcile, setAttribute, setText} from "./dom.js";
import {realTime} from "./clock.js";
import {appName, clockSeconds, count, exact, measured, words} from "./format.js";
import {onChange, store} from "./store.js";
import {openDetail} from "./route.js";

const rows = 120; // that stand in the page
const patience = 150; // milliseconds
const parts = new Map();
let timer = null;
let paused = null; // the number of the last event that is shown, or null
let held = []; // what the tail had then
let filter = "";

export function startTail() {
    byId("pause").addEventListener("click", togglePause);
    byId("tail-filter").addEventListener("input", (input) => {
        filter = input.target.value.toLowerCase();
        draw();
    });
    byId("tail").addEventListener("click", (click) => {
        const line = click.target.closest("[data-family]");
        if (line !== null) openDetail(line.dataset.family, line.dataset.app, line.dataset.id);
    });
    onChange(({topics}) => { if (topics.has("tail")) soon(); });
    draw();
}

// A stream may bring hundreds in a moment: nobody reads faster than this.
function soon() {
    timer ??= setTimeout(draw, patience);
}

export function togglePause() {
    paused = paused === null ? store.received : null;
    held = paused === null ? [] : [...store.tail];
    setAttribute(byId("pause"), "aria-pressed", paused === null ? "false" : "true");
    setText(byId("pause"), paused === null ? "Pause" : "Go on");
    draw();
}

function draw() {
    clearTimeout(timer);
    timer = null;
    const shown = [];
    const items = paused === null ? store.tail : held;
    for (let index = items.length - 1; index >= 0 && shown.length < rows; index -= 1) {
        const item = items[index];
        if (filter !== "" && !`${item.topic} ${item.event.event} ${nameOf(item)}`.toLowerCase().includes(
            filter)) continue;
        shown.push(item);
    }
    reconcile(byId("tail"), parts, shown, (item) => item.number, makeLine, () => {});
    const missed = paused === null ? 0 : store.received - paused;
    setText(byId("tail-note"), missed > 0 ? `${count(missed)} more since the pause`
        : `${count(store.received)} since this page was opened`
            + (store.hasRested ? ", without those while it was hidden for long" : ""));
    byId("tail-empty").hidden = shown.length > 0;
}

function nameOf({topic, event}) {
    const [, family, kind, instance] = topic.split("/");
    if (family === "activity") return event.activity?.key ?? store.activity.get(event.activity?.id)?.key ?? kind;
    if (family === "group") return `${kind} ${event.group?.key ?? ""}`;
    const device = store[family]?.get(instance)?.device ?? event[family]?.device;
    return device === undefined ? kind : `${kind} · ${device}`;
}

function makeLine(item) {
    const {topic, event} = item;
    const [app, family] = topic.split("/");
    const [, verb] = event.event.split(".");
    const id = event[family]?.id;
    const isOpenable = id !== undefined && ["activity", "control", "widget"].includes(family);
    const steps = event.from !== undefined && event.to !== undefined && event.from !== event.to
        ? `${event.from} → ${event.to}` : event.to ?? "";
    const late = event.lateBy > 0 ? h("span", {class: "late", title: "how late the deadline took effect, in real time"},
        `+${measured(realTime(event.lateBy), "ms")}`) : null;
    const line = h(isOpenable ? "button" : "div", {
        class: `line ${family} ${event.to ?? ""}`,
            ...(isOpenable ? {type: "button", "data-family": family, "data-app": app, "data-id": id} : {}),
    },
    h("time", {title: exact(event.at)}, clockSeconds(event.at)),
    h("span", {class: "who"}, h("b", {}, nameOf(item)), h("small", {}, appName(app))),
    h("span", {class: "verb"}, h("i", {class: "dot"}), words(verb), late),
    h("span", {class: "steps"}, steps, event.cause === undefined ? null : h("small", {}, ` ${words(event.cause)}`)));
    return {element: h("li", {}, line)};
}

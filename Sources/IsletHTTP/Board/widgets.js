// Widgets as they stand on a Home Screen, each with its timeline and budget beneath.

import {byId, h, reconcile, replaceIfOther, setAttribute, setText, sightWatcher} from "./dom.js";
import {appName, capitalized, clock, count, relative, words} from "./format.js";
import {currentTime} from "./clock.js";
import {hueOf, memberText, readContent} from "./content.js";
import {icon} from "./icons.js";
import {onChange, store} from "./store.js";
import {openDetail} from "./route.js";
import {totalOf} from "./counts.js";
import {change} from "./actions.js";
import {drawStrip, timelineOf, timelinePanel, wantTimeline} from "./timeline.js";

const cardsLimit = 120;
const groups = new Map();

export function startWidgets() {
    const concerns = ["widget", "lists", "route", "timelines"];
    onChange(({topics}) => {
        if (concerns.some((topic) => topics.has(topic))) draw();
        else if (topics.has("stats")) say();
    });
    draw();
}

function draw() {
    if (document.body.dataset.view !== "widgets") return;
    const byDevice = new Map();
    const sorted = [...store.widget.values()].sort((one, other) =>
        (one.device ?? "").localeCompare(other.device ?? "")
            || Number(other.isOnTop ?? false) - Number(one.isOnTop ?? false) || one.addedAt - other.addedAt);
    for (const widget of sorted.slice(0, cardsLimit)) {
        const device = widget.device ?? "No device";
        if (!byDevice.has(device)) byDevice.set(device, []);
        byDevice.get(device).push(widget);
    }
    reconcile(byId("cards"), groups, [...byDevice], ([device]) => device, makeGroup, (group, [, widgets]) => {
        reconcile(group.grid, group.parts, widgets, (widget) => widget.id, makeCard, writeCard);
    });
    say();
    byId("widgets-empty").hidden = store.widget.size > 0 || store.loading || store.hasFailed;
}

function say() {
    setText(byId("widgets-note"), store.widget.size > cardsLimit
        ? `Showing ${cardsLimit} of ${count(totalOf("widget"))}` : "");
}

function makeGroup([device]) {
    const grid = h("div", {class: "card-grid"});
    return {element: h("section", {class: "group"}, h("h3", {}, device), grid), grid, parts: new Map()};
}

function makeCard() {
    const parts = {face: h("div", {class: "face-place"}), strip: h("div", {class: "strip"}), now: h("small", {}),
        budget: h("small", {})};
    parts.button = h("button", {type: "button", class: "card-open",
        onclick: () => openDetail("widget", parts.widget.app, parts.widget.id)}, parts.face);
    parts.element = h("article", {class: "card"}, parts.button, parts.strip,
        h("div", {class: "card-notes"}, parts.now, parts.budget));
    watcher.observe(parts.element);
    return parts;
}

const watcher = sightWatcher((id) => {
    const widget = store.widget.get(id);
    if (widget !== undefined) wantTimeline(widget);
});

function writeCard(parts, widget) {
    const known = timelineOf(widget.id);
    if (parts.element.dataset.near === "yes") wantTimeline(widget);
    const declared = declarationOf(widget);
    if (parts.widget === widget && parts.declared === declared && parts.known === known) return;
    parts.widget = widget;
    parts.declared = declared;
    parts.known = known;
    const now = currentTime();
    parts.hasDates = contentOf(widget).members.some((member) => member.kind === "date");
    parts.element.dataset.id = widget.id;
    parts.element.dataset.state = widget.state;
    parts.element.className = `card ${widget.family}`;
    parts.face.replaceChildren(face(widget, now));
    setAttribute(parts.button, "aria-label", `${widgetName(widget)}, ${words(widget.family)}: open details`);
    tickCard(parts, now);
}

function tickCard(parts, now) {
    const {widget, known} = parts;
    // Its dates count down.
    if (parts.hasDates) replaceIfOther(parts.face, face(widget, now));
    drawStrip(parts.strip, widget, known, now);
    const next = widget.next === undefined ? "nothing ahead"
        : `${words(widget.next.cause)} ${widget.next.at <= now ? "due" : relative(widget.next.at, now)}`;
    setText(parts.now, widget.held === undefined ? next : `reload held: ${words(widget.held.reason)}`);
    const budget = known?.budget;
    setText(parts.budget, budget === undefined ? "" : `${count(budget.spent)} of ${count(budget.limit)} reloads`);
}

export function tickWidgets() {
    if (document.body.dataset.view !== "widgets") return;
    const now = currentTime();
    for (const group of groups.values()) for (const parts of group.parts.values()) tickCard(parts, now);
}

// What its provider declared of its kind, once that is read.
function declarationOf(widget) {
    return store.kinds.get(`${widget.app}/widget/${widget.kind}`);
}

export function widgetName(widget) {
    return declarationOf(widget)?.displayName ?? capitalized(words(widget.kind.split(".").pop()));
}

function contentOf(widget) {
    return readContent(widget.entry?.content ?? declarationOf(widget)?.placeholder ?? {});
}

// The widget itself, drawn from its entry's content alone.
export function face(widget, now) {
    const isPlaceholder = widget.entry?.content === undefined;
    const content = contentOf(widget);
    const room = {systemSmall: 2, systemMedium: 3, systemLarge: 8, systemExtraLarge: 10,
        accessoryRectangular: 1}[widget.family] ?? 0;
    const number = content.members.find((member) => member.kind === "number");
    const rest = content.members.filter((member) => member !== number).slice(0, room);
    const element = h("div",
        {class: `face ${widget.family} ${isPlaceholder ? "placeholder" : ""} ${widget.isInvalidated ? "invalid" : ""}`},
        h("header", {}, icon("glyph tiny", widget.kind, widget.app), h("span", {}, widgetName(widget)),
            widget.isOnTop ? h("span", {class: "top", title: "On top of its Smart Stack"}, "top") : null),
        h("div", {class: "face-main"},
            number === undefined ? null : h("div", {class: "big"}, h("strong", {}, number.text),
                h("small", {}, number.name)),
            h("div", {}, h("strong", {}, content.headline?.text ?? (isPlaceholder ? "No entry yet" : "")),
                content.subtitle === null ? null : h("p", {}, content.subtitle.text))),
        rest.length === 0 ? null : h("dl", {class: "metrics"},
            rest.map((member) => h("div", {}, h("dt", {}, member.name), h("dd", {}, memberText(member, now))))),
        widget.needsLogin ? h("div", {class: "stale-note"}, "Asks for a login") : null,
        widget.failure === undefined ? null
            : h("div", {class: "stale-note", title: widget.failureReason},
                `Last call: ${widget.failureReason ?? words(widget.failure)}`));
    element.style.setProperty("--hue", hueOf(widget.app + widget.kind));
    return element;
}

export function widgetPreview(widget, now) {
    return h("div", {class: "stage widget-stage"}, face(widget, now),
        h("small", {},
            [words(widget.family), appName(widget.app), widget.entry && `since ${clock(widget.entry.date)}`]
                .filter(Boolean).join(" · ")));
}

export function widgetTimeline(widget, place) {
    timelinePanel(widget, place);
}

export function widgetActions(widget) {
    return [h("button", {type: "button", class: "action",
        onclick: () => change("widget.reload", {app: widget.app, id: widget.id})}, "Ask for a reload")];
}

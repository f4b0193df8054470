// The table of activities: filter, sort, a window of rows, and the keyboard.

import {byId, h, prefersStillness, reconcile, setAttribute, setText, sightWatcher} from "./dom.js";
import {changed, onChange, store} from "./store.js";
import {countsOf, totalOf} from "./counts.js";
import {currentTime} from "./clock.js";
import {capitalized, count} from "./format.js";
import {everything, readFilter} from "./filter.js";
import {Row} from "./row.js";
import {compareBy, sortNames} from "./sort.js";
import {Axis, fit, rangeOf, zooms} from "./lanes.js";
import {wantDismissed} from "./lists.js";
import {wantHistory} from "./loader.js";
import {openDetail, selected} from "./route.js";
import {isShown} from "./views.js";

const pageRows = 200; // rows that stand in the page at first, and that "more" adds
const maximumRows = 1_000;
const newestFirst = new Set(["trouble", "started", "changed"]); // orders that begin with it
const patience = 300; // milliseconds between two looks at a long list

export const axis = new Axis(fit);
const parts = new Map();
const states = ["pending", "active", "stale", "ended", "dismissed"];

let filter = everything;
let isUnread = false; // whether what is typed waits for a service that answers
let state = "listed";
let sort = {by: "trouble", descending: true};
let shown = [];
let limit = pageRows;
let cursor = null; // the id of the row that Tab reaches
let timer = null;
let lookTook = 0;
let hasOtherLimits = false; // whether all lanes are to be drawn anew

const body = byId("rows");
const grid = byId("table");

export function startTable() {
    drawChips();
    drawSort();
    drawZoom();
    drawAxis();
    byId("filter").addEventListener("input", takeFilter);
    byId("filter").addEventListener("keydown", (press) => {
        if (press.key === "ArrowDown" || press.key === "Enter") {
            press.preventDefault();
            moveTo(0);
        }
        if (press.key === "Escape" && press.target.value !== "") {
            press.stopPropagation();
            press.target.value = "";
            takeFilter();
        }
    });
    byId("more").addEventListener("click", () => {
        limit = Math.min(limit + pageRows, maximumRows);
        look();
    });
    body.addEventListener("click", (click) => {
        const row = click.target.closest("[data-id]");
        if (row !== null) open(row.dataset.id);
    });
    body.addEventListener("keydown", press);
    body.addEventListener("focusin", (focus) => setCursor(focus.target.closest("[data-id]")?.dataset.id ?? cursor));
    onChange(({topics, ids}) => {
        if (isUnread && topics.has("session")) takeFilter();
        if (["activity", "lists", "stats"].some((topic) => topics.has(topic))) countStates();
        if (topics.has("limits")) hasOtherLimits = true;
        if (["lists", "route", "limits"].some((topic) => topics.has(topic))) look();
        else if (topics.has("activity")) soon(ids);
        if ((topics.has("lists") || topics.has("histories")) && !store.loading) wantHistories();
    });
    look();
}

const touched = new Set();

function soon(ids) {
    for (const id of ids) touched.add(id);
    if (store.activity.size < 2_000) return look();
    timer ??= setTimeout(look, Math.max(patience, lookTook * 8)); // at most an eighth of the time goes into it
}

let takes = 0;

// Until the service has read what is typed, the last filter holds.
async function takeFilter() {
    const field = byId("filter");
    const mine = ++takes;
    try {
        const read = await readFilter(field.value);
        if (mine !== takes) return;
        filter = read;
        isUnread = false;
        setText(byId("filter-error"), "");
        field.removeAttribute("aria-invalid");
    } catch (error) {
        if (mine !== takes) return;
        isUnread = error.retry !== "never";
        setText(byId("filter-error"), capitalized(error.message));
        field.setAttribute("aria-invalid", "true");
    }
    limit = pageRows;
    look();
}

// Chooses what is shown and writes it.
function look() {
    clearTimeout(timer);
    timer = null;
    const begun = performance.now();
    const rows = [];
    for (const activity of store.activity.values()) {
        if (state === "listed" ? activity.state === "dismissed" : state !== "all" && activity.state !== state) continue;
        if (filter.matches(activity)) rows.push(activity);
    }
    rows.sort(compareBy(sort.by, sort.descending));
    const total = rows.length;
    shown = rows.slice(0, limit);
    if (!isShown("activities")) return;
    const now = currentTime();
    axis.range = rangeOfAll(shown);
    const axisMoved = axis.follow(now);
    if (axisMoved) drawAxis();
    const isAnew = axisMoved || hasOtherLimits;
    hasOtherLimits = false;
    const hadFocus = body.contains(document.activeElement);
    reconcile(body, parts, shown, (activity) => activity.id, () => makeRow(), (row, activity) => {
        row.update(activity, store.changes.get(activity.id), axis, now, isAnew);
    });
    flash();
    shown.forEach((activity, index) => {
        const {element} = parts.get(activity.id);
        setAttribute(element, "aria-rowindex", index + 2);
        setAttribute(element, "aria-selected", selected()?.id === activity.id ? "true" : "false");
    });
    setAttribute(grid, "aria-rowcount", total + 1);
    if (!parts.has(cursor)) cursor = shown[0]?.id ?? null;
    setCursor(cursor);
    if (hadFocus && !body.contains(document.activeElement)) parts.get(cursor)?.element.focus({preventScroll: true});
    say(total);
    lookTook = performance.now() - begun;
}

function rangeOfAll(activities) {
    if (activities.length === 0) return null;
    const range = {from: Infinity, to: -Infinity};
    for (const activity of activities) {
        const {from, to} = rangeOf(activity);
        range.from = Math.min(range.from, from);
        range.to = Math.max(range.to, to);
    }
    return range;
}

function makeRow() {
    const row = new Row();
    watcher.observe(row.element);
    return row;
}

// A lane asks for its history when it comes into sight.
const watcher = sightWatcher(wantHistoryOf);

function wantHistoryOf(id) {
    const activity = store.activity.get(id);
    if (activity !== undefined) wantHistory(activity);
}

// Of lanes that are in sight, where it could not be had, or is of what was before.
function wantHistories() {
    for (const [id, {element}] of parts) if (element.dataset.near === "yes") wantHistoryOf(id);
}

function flash() {
    if (touched.size <= 20 && !prefersStillness()) for (const id of touched) parts.get(id)?.flash();
    touched.clear();
}

function say(total) {
    const families = state === "dismissed" ? ["activity", "dismissed"] : ["activity"];
    const held = [...store.notes.values()].filter((note) => families.includes(note.family));
    let text = shown.length < total ? `Showing ${count(shown.length)} of ${count(total)}` : `${count(total)} shown`;
    if (held.length > 0) text += `; read were ${held.map((note) => note.text).join(", ")}`;
    if (store.loading) text += "; reading …";
    else if (store.hasFailed) text += "; not all could be read";
    setText(byId("showing"), text);
    byId("more").hidden = shown.length >= total || limit >= maximumRows;
    byId("empty").hidden = total > 0 || store.loading || store.hasFailed || store.session.connection !== "live";
    const isNew = store.activity.size === 0 && !(countsOf("activity").dismissed > 0)
        && held.length === 0; // nor where not all apps are read
    byId("empty-new").hidden = !isNew;
    byId("empty-why").hidden = isNew;
    setText(byId("empty-why"), whyEmpty(held.length > 0));
}

// `isPart`: whether there are some that were not read.
function whyEmpty(isPart) {
    const name = state === "listed" ? "current" : state;
    if (filter !== everything) return `No ${name} activity fits the filter.`;
    if (isPart) return `No activity that was read is ${name}.`;
    return state === "listed" ? "No activity is current; those that were are dismissed." : `No activity is ${name}.`;
}

function drawChips() {
    const choose = (value) => () => {
        state = value;
        limit = pageRows;
        wantDismissed(value === "dismissed" || value === "all");
        for (const chip of byId("chips").children) setAttribute(chip, "aria-pressed", chip.dataset.state === value
            ? "true" : "false");
        look();
    };
    for (const value of ["listed", ...states]) {
        byId("chips").append(h("button", {
            class: `chip ${value}`, type: "button", "data-state": value, "aria-pressed": value === state ? "true"
                : "false",
            title: value === "listed" ? "All that are not dismissed" : null, onclick: choose(value),
        }, h("span", {class: "dot"}), value === "listed" ? "current" : value, " ", h("b", {})));
    }
}

function countStates() {
    const counts = {...countsOf("activity"), listed: totalOf("activity")};
    for (const chip of byId("chips").children) setText(chip.lastElementChild, count(counts[chip.dataset.state] ?? 0));
}

function drawSort() {
    const choice = byId("sort");
    for (const [name, title] of Object.entries(sortNames)) choice.append(h("option", {value: name}, title));
    choice.value = sort.by;
    choice.addEventListener("change", () => sortBy(choice.value, newestFirst.has(choice.value)));
    byId("direction").addEventListener("click", () => sortBy(sort.by, !sort.descending));
    for (const head of grid.querySelectorAll("[data-sort]")) {
        head.querySelector("button").addEventListener("click", () => {
            const by = head.dataset.sort;
            sortBy(by, sort.by === by ? !sort.descending : false);
        });
    }
    sortBy(sort.by, sort.descending);
}

function sortBy(by, descending) {
    sort = {by, descending};
    byId("sort").value = by;
    setAttribute(byId("direction"), "aria-label", descending ? "Descending; turn round" : "Ascending; turn round");
    setAttribute(byId("direction"), "data-descending", descending);
    for (const head of grid.querySelectorAll("[data-sort]")) {
        const isThis = head.dataset.sort === by;
        setAttribute(head, "aria-sort", isThis ? (descending ? "descending" : "ascending") : "none");
    }
    look();
}

function drawAxis() {
    const ticks = byId("ticks");
    ticks.replaceChildren(...axis.ticks().map((tick) => {
        const element = h("span", {}, tick.text);
        element.style.left = `${tick.place * 100}%`;
        return element;
    }));
    grid.style.setProperty("--tick", `${(axis.tick / axis.length) * 100}%`);
}

function drawZoom() {
    const choice = byId("zoom");
    choice.append(h("option", {value: fit}, "Fit"),
        ...zooms.map(({name}, index) => h("option", {value: index}, name)));
    choice.value = axis.zoom;
    choice.addEventListener("change", () => {
        axis.zoom = Number(choice.value);
        axis.from = 0;
        look();
        moveNow();
    });
}

// Moves the line of now, and turns the page of the axis where it is at the end. Called each frame; works only where it
// moved.
let placed = "";
export function moveNow() {
    const now = currentTime();
    if (axis.follow(now)) {
        drawAxis();
        for (const activity of shown) parts.get(activity.id)?.update(activity, store.changes.get(activity.id), axis,
            now, true);
    }
    const place = `${(axis.place(now) * 100).toFixed(2)}%`;
    if (place === placed) return;
    placed = place;
    grid.style.setProperty("--now", place);
}

// Once a second: what counts down.
export function tickTable() {
    if (!isShown("activities")) return;
    const now = currentTime();
    if (filter.needsNow) return look();
    for (const activity of shown) parts.get(activity.id)?.tick(activity, now);
}

function open(id) {
    const activity = store.activity.get(id);
    if (activity !== undefined) openDetail("activity", activity.app, id);
}

function press(event) {
    const place = shown.findIndex((activity) => activity.id === cursor);
    const moves = {ArrowDown: place + 1, ArrowUp: place - 1, PageDown: place + 10, PageUp: place - 10, Home: 0,
        End: shown.length - 1};
    if (event.key in moves) {
        event.preventDefault();
        if (event.key === "ArrowUp" && place <= 0) byId("filter").focus();
        else moveTo(moves[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        open(cursor);
    }
}

export function moveTo(place) {
    const activity = shown[Math.min(Math.max(place, 0), shown.length - 1)];
    if (activity === undefined) return;
    setCursor(activity.id);
    parts.get(activity.id)?.element.focus();
}

// Back to the row whose detail was open.
export function focusRow(id) {
    const element = parts.get(id)?.element ?? parts.get(cursor)?.element;
    element?.focus();
}

function setCursor(id) {
    for (const [each, row] of parts) setAttribute(row.element, "tabindex", each === id ? "0" : "-1");
    cursor = id;
}

export function tableChanged() {
    changed("lists");
}

// The panel of one activity, control or widget.

import {byId, h, replaceIfOther, setAttribute, setText} from "./dom.js";
import {ask} from "./api.js";
import {askingNow, hearChanges, onChange, putEntity, removeEntity, setChanges, stopHearing, store} from "./store.js";
import {currentTime} from "./clock.js";
import {appName, bytes, capitalized, exact, typeAndApp, words} from "./format.js";
import {closeDetail, selected} from "./route.js";
import {previews} from "./preview.js";
import {decisionList, nextSteps} from "./explain.js";
import {Axis, Lane, zooms} from "./lanes.js";
import {stateChanges} from "./loader.js";
import {focusRow} from "./table.js";
import {controlActions, controlPreview} from "./controls.js";
import {widgetActions, widgetPreview, widgetTimeline} from "./widgets.js";
import {tickPanel} from "./timeline.js";
import {activityActions} from "./actions.js";
import {stringify} from "./json.js";

const patience = 250; // milliseconds after a change before its explanation is read again

let open = null; // {family, app, id}
let seen = null; // the entity that is drawn
let isGone = false; // whether the service has said that it keeps nothing of it
let isUnread = false; // whether its explanation could not be read
let drawnFor = null; // whether the board may write
let decisions = [];
let isWhole = true; // whether they reach back to its beginning
let showsAll = false;
let timer = null;
let cameFrom = null;
const lane = new Lane();
const axis = new Axis(3);

export function startDetail() {
    byId("close").addEventListener("click", close);
    byId("lane-place").append(lane.element);
    onChange(({topics, ids}) => {
        if (topics.has("route")) change();
        if (open !== null && (ids.has(open.id) || topics.has("session"))) refresh();
        const mayAsk = (topics.has("session") || topics.has("lists")) && store.session.connection === "live";
        if (open !== null && isUnread && mayAsk) read();
        if (topics.has("timelines") && seen !== null && open.family === "widget" && ids.has(open.id)) {
            widgetTimeline(seen, byId("detail-timeline"));
        }
    });
    change();
}

export function close() {
    const id = open?.id;
    closeDetail();
    if (cameFrom?.isConnected && cameFrom !== document.body) cameFrom.focus();
    else focusRow(id);
}

function change() {
    const next = selected();
    if (next?.id === open?.id && next?.family === open?.family && next?.app === open?.app) return;
    if (open === null) cameFrom = document.activeElement;
    open = next;
    seen = null;
    isGone = false;
    decisions = [];
    showsAll = false;
    axis.from = 0;
    const panel = byId("detail");
    panel.hidden = open === null;
    if (open === null) return;
    setText(byId("detail-error"), "");
    byId("detail-body").hidden = true;
    setText(byId("detail-title"), "…");
    setText(byId("detail-from"), appName(open.app));
    refresh();
    read();
    panel.scrollTop = 0;
    byId("detail-title").focus({preventScroll: true});
}

function refresh() {
    const entity = store[open.family].get(open.id);
    if (entity === undefined && seen !== null) return void read(); // the service says whether it is gone
    if (entity === undefined || (entity === seen && drawnFor === store.session.write)) return;
    // What begins again under its id has other reasons.
    const isNewer = isGone || (seen !== null && seen.revision !== entity.revision);
    if (seen === null) setText(byId("detail-error"), "");
    isGone = false;
    seen = entity;
    draw();
    if (isNewer) {
        clearTimeout(timer);
        timer = setTimeout(read, patience);
    }
}

async function read() {
    const mine = open;
    if (mine === null) return;
    isUnread = false;
    const asked = askingNow();
    const hearing = hearChanges(mine.id);
    try {
        const answer = await ask(`${mine.family}.explain`, {app: mine.app, id: mine.id});
        if (mine !== open) return;
        const {isOver} = hearing;
        putEntity(mine.family, answer[mine.family], asked);
        const entity = store[mine.family].get(mine.id);
        // It has left since, or another has its id, or something was missed; the service says what is.
        if (entity === undefined || isOver) return void read();
        decisions = answer.decisions;
        const applied = decisions.filter(({outcome}) => outcome === "applied");
        isWhole = applied[0]?.revision === 1;
        if (mine.family === "activity") setChanges(hearing, stateChanges(applied, isWhole, entity));
        seen = entity;
        setText(byId("detail-error"), "");
        draw();
        drawDecisions();
    } catch (error) {
        if (mine !== open) return;
        if (error.code === "notFound") {
            const known = store[mine.family].get(mine.id);
            if (known?.$mark > asked) return void read(); // told since: another has its id
            if (known !== undefined) removeEntity(mine.family, mine.id); // its row goes, too
            gone();
        } else {
            isUnread = true;
            setText(byId("detail-error"), capitalized(error.message));
        }
    } finally {
        stopHearing(hearing);
    }
}

// Nothing is shown of it any more, and nothing offered.
function gone() {
    seen = null;
    isGone = true;
    [decisions, isWhole] = [[], true];
    drawDecisions();
    clearTimeout(timer);
    setText(byId("detail-state"), "gone");
    byId("detail-state").className = "badge removed";
    byId("detail-body").hidden = true;
    byId("detail-actions").replaceChildren();
    delete byId("detail-actions").dataset.offered;
    setText(byId("detail-error"), "It is gone: the service keeps nothing about it any more.");
}

function draw() {
    const now = currentTime();
    const {family} = open;
    drawnFor = store.session.write;
    byId("detail-body").hidden = false;
    setText(byId("detail-title"), titleOf(seen));
    setText(byId("detail-from"),
        [typeAndApp(seen.type ?? seen.kind, seen.app), seen.device].filter(Boolean).join(" · "));
    setAttribute(byId("detail-from"), "title", seen.app);
    setText(byId("detail-state"), seen.state);
    byId("detail-state").className = `badge ${seen.state}`;
    byId("detail-lane").hidden = family !== "activity";
    drawPreview(now);
    const actions = {activity: activityActions, control: controlActions, widget: widgetActions}[family];
    const offered = `${seen.id} ${seen.state} ${store.session.write}`;
    if (byId("detail-actions").dataset.offered !== offered) {
        // Only where they are others: a button that is being pressed must not be replaced.
        byId("detail-actions").replaceChildren(...(store.session.write ? actions(seen) : []));
        byId("detail-actions").dataset.offered = offered;
    }
    byId("ahead").replaceChildren(nextSteps(seen, family, now));
    if (family === "activity") drawLane(now);
    if (family === "widget") widgetTimeline(seen, byId("detail-timeline"));
    else byId("detail-timeline").replaceChildren();
    drawFacts();
}

function drawPreview(now) {
    const preview = {activity: previews, control: controlPreview, widget: widgetPreview}[open.family];
    replaceIfOther(byId("preview"), preview(seen, now));
}

function titleOf(entity) {
    return entity.key ?? entity.kind ?? entity.id.slice(-12);
}

// As much as all that is known of it, and what is ahead within reason.
function drawLane(now) {
    const changes = store.changes.get(open.id);
    const from = changes?.[0]?.at ?? seen.startedAt ?? seen.timestamp;
    const needed = (now - from) * 1.25;
    axis.zoom = zooms.findIndex((zoom) => zoom.length * 0.6 >= needed);
    if (axis.zoom < 0) axis.zoom = zooms.length - 1;
    axis.from = Math.max(from - axis.length * 0.05, now - axis.length * 0.7);
    lane.update(seen, changes, axis, now);
    byId("detail-lane").style.setProperty("--now", `${(axis.place(now) * 100).toFixed(2)}%`);
    byId("detail-lane").style.setProperty("--tick", `${(axis.tick / axis.length) * 100}%`);
}

export function tickDetail() {
    if (open === null || seen === null) return;
    const now = currentTime();
    byId("ahead").replaceChildren(nextSteps(seen, open.family, now));
    // Its dates count down. A control's tile has none, and may have the focus.
    if (open.family !== "control") drawPreview(now);
    if (open.family === "activity") drawLane(now);
    if (open.family === "widget") tickPanel(seen);
}

function drawDecisions() {
    const wasAtEnd = document.activeElement;
    byId("explain").replaceChildren(...[
        isWhole ? null : h("p", {class: "none"}, "What came before is not kept any more."),
        ...decisionList(decisions, showsAll, () => {
            showsAll = true;
            drawDecisions();
        })].filter((part) => part !== null));
    if (wasAtEnd !== null && !wasAtEnd.isConnected) byId("explain-title").focus({preventScroll: true});
}

const hiddenMembers = new Set(["id", "app", "contentState", "attributes", "state", "next", "entry", "configuration"]);

function drawFacts() {
    const facts = [["id", seen.id]];
    for (const [name, value] of Object.entries(seen)) {
        if (hiddenMembers.has(name) || name.startsWith("$")) continue;
        const isDate = typeof value === "number" && value >= 1e12 && value < 1e13;
        facts.push([words(name), isDate ? exact(value) : typeof value === "object" ? stringify(value)
            : String(value)]);
    }
    byId("facts").replaceChildren(...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    const payloads = ["contentState", "attributes", "configuration"].filter((name) => seen[name] !== undefined);
    const entry = seen.entry?.content === undefined ? [] : [["content", seen.entry.content]];
    const shown = [...payloads.map((name) => [name, seen[name]]), ...entry];
    byId("payloads").replaceChildren(...shown.map(([name, value]) => h("section", {},
        h("h4", {}, words(name)), h("pre", {tabindex: "0"}, stringify(value, 2)))));
    byId("content").hidden = shown.length === 0;
    byId("size").hidden = open.family !== "activity" || seen.contentState === undefined;
    if (!byId("size").hidden) drawSize();
}

// The exact bytes are the service's to count: re-written JSON may be a little shorter or longer.
function drawSize() {
    const encoder = new TextEncoder();
    const used = encoder.encode(stringify(seen.attributes ?? {})).length
        + encoder.encode(stringify(seen.contentState)).length;
    const limit = store.contentLimit ?? 4_096;
    byId("size-fill").style.width = `${Math.min(used / limit, 1) * 100}%`;
    byId("size-fill").classList.toggle("near", used > limit * 0.85);
    setText(byId("size-text"), `about ${bytes(used)} of ${bytes(limit)}`);
}

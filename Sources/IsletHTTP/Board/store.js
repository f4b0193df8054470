// What the page knows: entities by id, what happened lately, and how late it was. Views are told of changes once a
// frame.

import {count} from "./format.js";
import {stringify} from "./json.js";

export const families = ["activity", "control", "widget"];
export const plural = {activity: "activities", control: "controls", widget: "widgets"};
export const tailLimit = 500; // events that the tail keeps
// Of all apps together; the page says what it leaves out. Dismissed activities, whether they left while the page was
// open or were read, have a limit of their own and take no place of a listed one.
export const heldLimit = {activity: 20_000, control: 2_000, widget: 2_000, dismissed: 2_000};
const changesLimit = 400; // state changes that are kept of one activity

export const store = {
    activity: new Map(),
    control: new Map(),
    widget: new Map(),
    held: {activity: {}, control: {}, widget: {}}, // family → state → how many of the above are in it
    apps: new Map(), // app → {seq, total: {activity, control, widget}}
    kinds: new Map(), // "app/control/kind" → what its provider declared
    changes: new Map(), // activity id → [{state, at, revision}], oldest first
    tail: [], // {topic, event, number}, newest last
    received: 0,
    hasRested: false, // whether events were missed while nobody saw the page
    lateness: [], // lateBy of the last events that had one, in milliseconds of real time
    stats: null,
    session: {write: false, version: "", connection: "connecting"},
    loading: true,
    hasFailed: false, // whether the last reading of the lists did not come to its end
    notes: new Map(), // what the lists do not hold, by app and family
};

const listeners = [];
let pending = null;

// `listener({topics: Set of "activity", "control", "widget", "tail", "stats", "session", "lists", "histories",
// "limits", ids: Set})`
export function onChange(listener) {
    listeners.push(listener);
}

export function changed(topic, id) {
    if (pending === null) {
        pending = {topics: new Set(), ids: new Set()};
        // A hidden page gets no frames; its lists are kept right all the same.
        if (document.hidden) setTimeout(flush, 250);
        else requestAnimationFrame(flush);
    }
    pending.topics.add(topic);
    if (id !== undefined) pending.ids.add(id);
}

function flush() {
    const told = pending;
    pending = null;
    for (const listener of listeners) listener(told);
}

// A row of a list, or the answer of a get. `asked`: what `askingNow()` gave before it. What is known from before the
// question gives way, whatever its revision: the id may be of another one by now. Of what was told since, the newer is
// kept, and nothing of what has left since.
export function putEntity(family, entity, asked) {
    if (left.get(entity.id) > asked) return;
    const known = store[family].get(entity.id);
    const isKnown = known !== undefined && isSame(entity, known);
    if (known !== undefined && !isKnown && known.$mark > asked && !isNewer(entity, known)) return;
    const $mark = Math.max(known?.$mark ?? 0, asked);
    if (isKnown) {
        if (known.$mark < asked && !tellsTheSame(entity, known)) {
            const {$changedAt, $alert} = known;
            hold(family, {...entity, ...samePayloads(entity, known), $changedAt, $alert});
            changed(family, entity.id);
        }
        store[family].get(entity.id).$mark = $mark;
    } else {
        if (known !== undefined) {
            forgetLife(entity.id);
            changed("histories", entity.id);
        }
        hold(family, {...entity, $mark});
        changed(family, entity.id);
    }
    for (const event of takeEarly(entity.id)) applyEvent(family, event);
}

function isSame(one, other) {
    return ["revision", "state", "timestamp", "startedAt", "addedAt"].every((name) => one[name] === other[name]);
}

// Some of it changes without a revision or an event: a heartbeat moves what is next, and a service that was started
// anew may have other limits.
function tellsTheSame(entity, known) {
    const names = (one) => Object.keys(one).filter((name) => !name.startsWith("$"));
    return names(entity).length === names(known).length
        && names(entity).every((name) => stringify(entity[name]) === stringify(known[name]));
}

const payloads = ["contentState", "attributes"];

// A payload keeps the text of the answer that it came in, which may be a whole list: the known one stays.
function samePayloads(entity, known) {
    return Object.fromEntries(payloads.filter((name) => known[name] !== undefined
        && stringify(entity[name]) === stringify(known[name])).map((name) => [name, known[name]]));
}

function isNewer(one, other) {
    if (isAfter(one, other)) return true;
    return one.revision > other.revision && !isAfter(other, one);
}

// Whether one has begun after the other was over, under the same id: revisions begin with the first one again.
function isAfter(one, other) {
    if (other.state === "dismissed" && one.state !== "dismissed") return true;
    if (one.state === "dismissed" && other.state !== "dismissed") return false;
    const [begun, before] = [one.startedAt ?? one.addedAt, other.startedAt ?? other.addedAt];
    return begun !== undefined && before !== undefined && begun > before;
}

// Events of entities that no list has named yet, or that do not fit: a list's answer may be older than they are. Kept
// while lists are read.
const early = new Map();
const earlyLimit = 50_000;
let earlyCount = 0;

export function keepEarly(id, event) {
    if (earlyCount >= earlyLimit) return;
    earlyCount += 1;
    const events = early.get(id);
    if (events !== undefined) events.push(event);
    else early.set(id, [event]);
}

function takeEarly(id) {
    const events = early.get(id) ?? [];
    early.delete(id);
    earlyCount -= events.length;
    return events;
}

export function forgetEarly() {
    early.clear();
    earlyCount = 0;
}

// What has left lately, id → the mark of its leaving: an answer may be older than the event that said so.
const left = new Map();
const leftLimit = 20_000; // far more than leave while one answer is on its way
let marks = 0; // what is told, and each question, has the next

// A mark to be given with what the answer brings; to be taken before the question is asked.
export function askingNow() {
    marks += 1;
    return marks;
}

function noteLeft(id) {
    marks += 1;
    left.delete(id);
    left.set(id, marks);
    if (left.size > leftLimit) left.delete(left.keys().next().value);
}

export function removeEntity(family, id) {
    noteLeft(id);
    giveWay(family, id);
}

// It is held no longer, though it may be there: an answer that is on its way brings it back where there is room.
export function giveWay(family, id) {
    const known = store[family].get(id);
    if (known === undefined) return;
    store[family].delete(id);
    store.held[family][known.state] -= 1;
    dismissed.delete(id);
    forgetLife(id);
    changed(family, id);
}

// Since when it is in its state, as answers to reads say it: only who follows events has it from them.
function setStateAt(entity, event) {
    if (event.to !== undefined && event.to !== event.from) entity.stateAt = event.at - (event.lateBy ?? 0);
}

// An event's merge patch. Answers false where it does not fit what is known, so that the entity must be read.
export function applyEvent(family, event) {
    const patch = event[family];
    if (patch === undefined || typeof patch.id !== "string") return true;
    const known = store[family].get(patch.id);
    const hasLeft = event.to === "removed" || event.to === "dismissed";
    if (hasLeft) {
        noteLeft(patch.id);
        takeEarly(patch.id); // a row that is still to come has them, or is of another one
    }
    // An id may be used again: what begins is another one than what was dismissed.
    const isAnew = known?.state === "dismissed" && patch.app !== undefined && event.from === undefined && !hasLeft;
    if (isAnew) forgetLife(patch.id);
    if (known === undefined || isAnew) {
        if (patch.app === undefined) return hasLeft;
        if (isFull(family)) {
            noteFull(family);
            if (isAnew) removeEntity(family, patch.id);
            return true;
        }
        marks += 1;
        const begun = {...patch, $mark: marks};
        setStateAt(begun, event);
        hold(family, begun);
        if (family === "activity") {
            store.changes.set(patch.id, [{state: event.to, at: event.at, revision: patch.revision}]);
        }
        changed(family, patch.id);
        return true;
    }
    if (patch.revision <= known.revision) return true;
    // revisions are dense: one is missing
    if (patch.revision > known.revision + 1 && event.from !== undefined) {
        // What has left need not be read any more; the list of the dismissed has it as it was.
        if (hasLeft) removeEntity(family, patch.id);
        return hasLeft;
    }
    marks += 1;
    const next = {...known, $mark: marks};
    for (const [name, value] of Object.entries(patch)) {
        if (value === null) delete next[name];
        else next[name] = value;
    }
    if (event.to !== undefined) next.state = event.to;
    setStateAt(next, event);
    if (event.alert !== undefined) next.$alert = event.alert;
    next.$changedAt = event.at;
    hold(family, next);
    if (family === "activity") noteChange(patch.id, event);
    changed(family, patch.id);
    return true;
}

const dismissed = new Set(); // ids of the dismissed activities that are held; the first ones go first

// In the place of what is known of it; a dismissed one more than are held makes the first of them go.
function hold(family, entity) {
    const {id, state} = entity;
    const known = store[family].get(id);
    if (known !== undefined) store.held[family][known.state] -= 1;
    store.held[family][state] = (store.held[family][state] ?? 0) + 1;
    store[family].set(id, entity);
    if (family !== "activity") return;
    if (state !== "dismissed") dismissed.delete(id);
    else dismissed.add(id);
    if (dismissed.size <= heldLimit.dismissed) return;
    noteFull("dismissed");
    removeEntity("activity", dismissed.values().next().value);
}

// Whether no more is held of a family, or of the dismissed.
export function isFull(family) {
    if (family === "dismissed") return dismissed.size >= heldLimit.dismissed;
    return store[family].size - (family === "activity" ? dismissed.size : 0) >= heldLimit[family];
}

// Whether it is held among the listed ones, or the dismissed ones, already.
export function isHeld(family, {id, state}) {
    const known = store[family].get(id);
    return known !== undefined && (known.state === "dismissed") === (state === "dismissed");
}

function forgetLife(id) {
    store.changes.delete(id);
    endHearings(id);
}

// Whoever reads the changes of an activity hears meanwhile what events tell of it: the answer may be older.
const hearings = new Set();

export function hearChanges(id) {
    const hearing = {id, changes: [], isOver: false};
    hearings.add(hearing);
    return hearing;
}

export function stopHearing(hearing) {
    hearings.delete(hearing);
}

// The activity has gone, and what is on its way is about it.
function endHearings(id) {
    for (const hearing of hearings) if (hearing.id === id) Object.assign(hearing, {changes: [], isOver: true});
}

function noteChange(id, event) {
    if (event.to === undefined) return;
    const change = {state: event.to, at: event.at, revision: event.activity.revision};
    if (store.changes.has(id)) addChange(store.changes.get(id), change);
    for (const hearing of hearings) if (hearing.id === id) addChange(hearing.changes, change);
}

function addChange(changes, change) {
    if (changes.at(-1)?.state === change.state) return;
    changes.push(change);
    if (changes.length > changesLimit) changes.shift();
}

export function addToTail(topic, event) {
    store.received += 1;
    store.tail.push({topic, event, number: store.received});
    if (store.tail.length > tailLimit * 2) store.tail.splice(0, store.tail.length - tailLimit);
    changed("tail");
}

// State changes as a read told them; what events have told since it was asked is added.
export function setChanges({id, changes: heard}, changes) {
    const known = store.activity.get(id);
    const told = changes.slice(-changesLimit);
    const last = told.at(-1)?.revision ?? 0;
    for (const change of heard) if (change.revision > last) addChange(told, change);
    if (known !== undefined && known.$changedAt !== undefined) {
        addChange(told, {state: known.state, at: known.$changedAt, revision: known.revision});
    }
    store.changes.set(id, told);
    changed("activity", id);
}

const latenessLimit = 5_000;

export function addLateness(lateBy) {
    store.lateness.push(lateBy);
    if (store.lateness.length > latenessLimit * 2) store.lateness.splice(0, store.lateness.length - latenessLimit);
}

// How many entities of a family there are in the service, as its lists said; what is held is counted live.
export function note(app, family, held, total) {
    const key = `${app} ${family}`;
    const before = store.notes.get(key)?.text;
    if (total > held) store.notes.set(key, {family, missing: total - held,
        text: `${count(held)} of ${count(total)} of ${app}`});
    else store.notes.delete(key);
    if (store.notes.get(key)?.text !== before) changed("lists");
}

// That something is not held, as no more is: until `forgetFull` finds that this is over.
export function noteFull(family) {
    const key = `* ${family}`;
    if (!store.notes.has(key)) changed("lists");
    store.notes.set(key, {family, at: performance.now(), text: `no more than ${count(heldLimit[family])}`});
}

// `places`: what is read of the family. Nothing is left out where each was read since, and had room.
export function forgetFull(family, places) {
    const key = `* ${family}`;
    const at = store.notes.get(key)?.at;
    if (at === undefined || places.some(({isCut, readAt}) => isCut || readAt <= at)) return;
    store.notes.delete(key);
    changed("lists");
}

// That not all apps are read; null: all are.
export function noteApps(text) {
    for (const family of families) {
        if (text === null) store.notes.delete(`* apps ${family}`);
        else store.notes.set(`* apps ${family}`, {family, text});
    }
}

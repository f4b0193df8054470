// Fills the store: the lists of each app after every hello, parts of them again and again, whatever an event names that
// is not known, histories for lanes.

import {ask} from "./api.js";
import {addLateness, addToTail, applyEarly, applyEvent, askingNow, changed, families, forgetEarly, hearChanges,
    heldLimit, isDoubtful, keepEarly, note, noteApps, plural, putEntity, removeEntity, setChanges, stopHearing,
    store} from "./store.js";
import {setNow} from "./clock.js";
import {count} from "./format.js";

const pageSize = 1_000;
const appLimit = 1_000; // the service names no more

let generation = 0; // of lists; answers that belong to an older one are dropped
let listed = new Set(); // apps whose lists are being read, or were read last
let knowsAll = false; // whether all apps were named: any other has just begun

// Reads everything anew. What is shown stays until the lists say that it is gone, and events go on meanwhile: a row
// that is older than an event never replaces it. `apps`: app → {epoch, seq}, both absent where the service has not said
// so; `areAll`: whether there are no others.
export async function loadAll(apps, areAll) {
    const mine = ++generation;
    store.loading = true;
    store.listsSince = askingNow();
    knowsAll = areAll;
    dismissedPlaces.clear();
    strays.clear();
    changed("lists");
    const names = Object.keys(apps).sort().slice(0, appLimit);
    listed = new Set(names);
    noteApps(areAll && names.length === Object.keys(apps).length ? null
        : names.length > 0 ? `only ${names.length === 1 ? "one app" : `${count(names.length)} apps`}` : "only what has changed since");
    for (const [app, known] of [...store.apps]) {
        const next = apps[app];
        const isContinued = next !== undefined && (next.epoch === undefined || next.epoch === known.epoch);
        if (!isContinued) forgetApp(app);
    }
    for (const app of names) store.apps.set(app, {...store.apps.get(app), ...apps[app], seq: apps[app].seq ?? 0});
    const queue = [...names];
    const worker = async () => {
        for (let app = queue.shift(); app !== undefined; app = queue.shift()) await loadApp(app, mine);
    };
    let isThrough = false;
    try {
        await Promise.all([worker(), worker(), worker()]);
        if (wantsDismissed && mine === generation) await loadDismissed();
        isThrough = true;
    } finally {
        if (mine === generation) {
            store.hasFailed = !isThrough;
            forgetEarly();
            store.loading = false;
            changed("lists");
        }
    }
}

function forgetApp(app) {
    store.apps.delete(app);
    dismissedPlaces.delete(app);
    for (const family of families) {
        pages.delete(`${app} ${family}`);
        for (const entity of [...store[family].values()]) if (entity.app === app) removeEntity(family, entity.id);
        note(app, family, 0, 0);
    }
    note(app, "dismissed", 0, 0);
}

async function loadApp(app, mine) {
    for (const family of families) await loadFamily(app, family, mine);
    if ([...store.control.values()].some((control) => control.app === app)) await loadKinds(app, "control", mine);
    if ([...store.widget.values()].some((widget) => widget.app === app)) await loadKinds(app, "widget", mine);
}

async function loadFamily(app, family, mine) {
    const before = listedOf(app, family);
    const seen = new Set();
    const read = [];
    let cursor;
    let total = 0;
    do {
        const page = newPage(app, family, cursor);
        const answer = await readPage(page, mine);
        if (answer === null) return;
        for (const id of page.ids) seen.add(id);
        read.push(page);
        total = answer.total;
        cursor = answer.next;
        changed("lists");
    } while (cursor !== undefined && store[family].size < heldLimit[family]);
    pages.set(`${app} ${family}`, read);
    const isWhole = cursor === undefined && store[family].size < heldLimit[family];
    note(app, family, seen.size, isWhole ? seen.size : total);
    if (cursor === undefined) removeUnlisted(family, before, seen);
}

function listedOf(app, family) {
    return [...store[family].values()].filter((entity) => entity.app === app && entity.state !== "dismissed");
}

function removeUnlisted(family, before, seen) {
    for (const entity of before) {
        // The same object: no event has touched it since the list was asked for.
        if (seen.has(entity.id) || store[family].get(entity.id) !== entity) continue;
        removeEntity(family, entity.id);
        applyEarly(family, entity.id); // of what has its id now
    }
}

function newPage(app, family, cursor) {
    return {app, family, cursor, ids: new Set(), readAt: -Infinity};
}

// Null where the answer belongs to lists that are older than those that are read now.
async function readPage(page, mine) {
    const {app, family, cursor} = page;
    const asked = askingNow();
    const answer = await ask(`${family}.list`, {app, limit: pageSize, ...(cursor === undefined ? {} : {cursor})});
    if (mine !== generation) return null;
    page.readAt = performance.now();
    page.ids = new Set();
    for (const row of answer[plural[family]]) {
        if (!store[family].has(row.id) && store[family].size >= heldLimit[family]) continue;
        page.ids.add(row.id);
        putEntity(family, row, asked);
    }
    return answer;
}

// Places that are read anew. Each has its `app`, `family`, and `readAt`; a page of a list has `ids` and a `cursor`, one
// entity has its `id`, and the dismissed activities of an app have neither.

const pages = new Map(); // "app family" → the pages of its list, as they were read last
const strays = new Map(); // id → the place of one that was not on the page where it was sought
const dismissedPlaces = new Map(); // app → the place of its dismissed activities

// Where an entity is read anew, if it is: one that no list has named yet is sought on the last page.
export function placeOf(family, {app, id, state}) {
    if (strays.has(id)) return strays.get(id);
    if (state === "dismissed") return wantsDismissed ? dismissedOf(app) : undefined;
    const list = pagesOf(app, family);
    return list.find((page) => page.ids.has(id)) ?? list.at(-1);
}

function pagesOf(app, family) {
    const key = `${app} ${family}`;
    if (!pages.has(key)) pages.set(key, [newPage(app, family)]);
    return pages.get(key);
}

function dismissedOf(app) {
    if (!dismissedPlaces.has(app)) {
        dismissedPlaces.set(app, {app, family: "activity", isRead: false, readAt: -Infinity});
    }
    return dismissedPlaces.get(app);
}

// Of these apps, and of all where they could not be read yet; none where nobody looks at them.
export function placesOfDismissed(apps) {
    if (!wantsDismissed) return [];
    return [...store.apps.keys()].map(dismissedOf).filter(({app, isRead}) => apps.has(app) || !isRead);
}

export function allPages() {
    return [...store.apps.keys()].flatMap((app) => families.flatMap((family) => pagesOf(app, family)));
}

// Reads a place again, whatever events have told. `sought`: ids of those for whose sake it is read.
export async function readAnew(place, sought) {
    place.readAt = performance.now();
    if (place.id !== undefined) await readStray(place);
    else if (place.ids !== undefined) await readPageAnew(place, sought);
    else if (await readDismissed(place.app, generation)) changed("lists");
}

async function readPageAnew(page, sought) {
    const {app, family} = page;
    for (const [id, stray] of strays) if (!store[stray.family].has(id)) strays.delete(id);
    const before = listedOf(app, family);
    const answer = await readPage(page, generation);
    if (answer === null) return;
    const list = pagesOf(app, family);
    const following = list.indexOf(page) + 1;
    if (answer.next === undefined) list.length = following;
    else if (following < list.length) list[following].cursor = answer.next;
    else if (store[family].size < heldLimit[family]) list.push(newPage(app, family, answer.next));
    if (page.cursor === undefined && answer.next === undefined) return removeUnlisted(family, before, page.ids);
    // It may have gone, or be on another page.
    for (const {id} of before) {
        if (sought.has(id) && !page.ids.has(id)) strays.set(id, {app, family, id, readAt: -Infinity});
    }
}

async function readStray({app, family, id}) {
    const mine = generation;
    const known = store[family].get(id);
    const asked = askingNow();
    strays.delete(id);
    try {
        const answer = await ask(`${family}.get`, {app, id});
        if (mine === generation) putEntity(family, answer[family], asked);
    } catch (error) {
        if (error.code !== "notFound") throw error;
        if (mine === generation && store[family].get(id) === known) removeEntity(family, id);
    }
}

async function loadKinds(app, family, mine) {
    let cursor;
    do {
        const answer = await ask(`${family}.kinds`, {app, ...(cursor === undefined ? {} : {cursor})});
        if (mine !== generation) return;
        for (const row of answer.kinds) store.kinds.set(`${app}/${family}/${row.kind}`, row.declaration);
        cursor = answer.next;
    } while (cursor !== undefined);
    changed(family);
}

const kindsToRead = new Set();
const kindsPatience = 250; // milliseconds in which many events ask for the kinds of one app once

function loadKindsSoon(app, family) {
    const key = `${app} ${family}`;
    if (kindsToRead.has(key)) return;
    kindsToRead.add(key);
    setTimeout(() => {
        kindsToRead.delete(key);
        loadKinds(app, family, generation).catch(() => {}); // the next event, or list, asks again
    }, kindsPatience);
}

let wantsDismissed = false; // whether somebody looks at them

// Dismissed activities are kept for a while by the service; they are read only where somebody wants to see them, and
// then with each reading of the lists.
export function wantDismissed(wants) {
    wantsDismissed = wants;
    if (wants) loadDismissed().catch(() => {}); // those that are not read are asked for again, one by one
}

async function loadDismissed() {
    const mine = generation;
    for (const app of store.apps.keys()) if (!await readDismissed(app, mine)) return;
    changed("lists");
}

// False where the answer belongs to lists that are older than those that are read now.
async function readDismissed(app, mine) {
    const place = dismissedOf(app);
    if (store.activity.size < heldLimit.activity) {
        const asked = askingNow();
        const answer = await ask("activity.list", {app, state: "dismissed", limit: pageSize});
        if (mine !== generation) return false;
        for (const row of answer.activities) putEntity("activity", row, asked);
        note(app, "dismissed", answer.activities.length, answer.total);
    }
    Object.assign(place, {isRead: true, readAt: performance.now()});
    return true;
}

// Returns false where events were missed, so that everything must be read anew; the event itself has its effect.
export function take(topic, event) {
    const [app, family] = topic.split("/");
    const arrived = performance.now();
    if (family === "~" || event.event === undefined) {
        setNow(event.at, arrived);
        return true;
    }
    const isWhole = follow(app, event.seq);
    if (event.event !== "activity.tapped") setNow(event.at, arrived);
    if (Number.isFinite(event.lateBy)) addLateness(event.lateBy);
    addToTail(topic, event);
    if (!families.includes(family)) return isWhole;
    const id = event[family]?.id;
    const mayBeAnother = isDoubtful(family, id);
    if (mayBeAnother) keepEarly(id, event);
    const isApplied = applyEvent(family, event);
    if (isApplied) forgetHeard(id);
    else if (!mayBeAnother) {
        if (store.loading && listed.has(app)) keepEarly(id, event);
        else if (store[family].has(id) || store[family].size < heldLimit[family]) readEntity(app, family, id, event);
    }
    if (event.to === "removed") removeEntity(family, id);
    // A kind may have been declared with it, or anew.
    if (family !== "activity" && (event.event.endsWith(".added") || event.cause === "registration")) {
        loadKindsSoon(app, family);
    }
    return isWhole;
}

// Takes an app's place in its stream; false where something before it has not come.
function follow(app, seq) {
    const known = store.apps.get(app);
    if (known === undefined) {
        store.apps.set(app, {seq});
        changed("lists");
        return !knowsAll || seq === 1;
    }
    const isWhole = known.seq === 0 || seq <= known.seq + 1;
    known.seq = Math.max(known.seq, seq);
    return isWhole;
}

// Ids of those that are read → what events have told since the question, as the answer may be older; null while they
// wait for it.
const reading = new Map();
const readingLimit = 20_000; // beyond it an entity waits for its next event; no more activities are held
const heardLimit = 500; // events of one of them; without the first ones the rest does not fit, and it is read again
const toRead = [];
const readersLimit = 3;
let readers = 0;

function readEntity(app, family, id, event) {
    if (reading.has(id)) {
        const heard = reading.get(id);
        heard?.push(event);
        if (heard?.length > heardLimit) heard.shift();
        return;
    }
    if (reading.size >= readingLimit) return;
    reading.set(id, null);
    toRead.push({app, family, id});
    if (readers < readersLimit) readEntities();
}

// What is known has come to be newer than what was heard before.
function forgetHeard(id) {
    if (reading.get(id)) reading.set(id, []);
}

async function readEntities() {
    readers += 1;
    for (let next = toRead.shift(); next !== undefined; next = toRead.shift()) {
        const {app, family, id} = next;
        const mine = generation;
        const asked = askingNow();
        reading.set(id, []); // the answer will have what was told before
        let heard = [];
        try {
            const answer = await ask(`${family}.get`, {app, id});
            if (mine === generation) {
                putEntity(family, answer[family], asked);
                heard = reading.get(id);
            }
        } catch {
            // It may be gone by now; the next list tells.
        } finally {
            reading.delete(id);
        }
        for (const event of heard) {
            if (!store[family].has(id)) break;
            if (applyEvent(family, event)) continue;
            readEntity(app, family, id, event);
            break;
        }
    }
    readers -= 1;
}

const asked = new Set();
const wanted = [];
let historyWorkers = 0;

// Asks for the state changes of an activity that a lane shows, once and a few at a time.
export function wantHistory(activity) {
    if (store.changes.has(activity.id) || asked.has(activity.id)) return;
    asked.add(activity.id);
    wanted.push({app: activity.app, id: activity.id});
    if (wanted.length > 400) asked.delete(wanted.shift().id); // scrolled past long ago
    if (historyWorkers < 2) readHistories();
}

async function readHistories() {
    historyWorkers += 1;
    for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
        const hearing = hearChanges(next.id);
        try {
            const answer = await ask("activity.history", next);
            if (!hearing.isOver) setChanges(hearing, stateChanges(answer.events));
        } catch {
            // The lane is drawn from the activity's own dates then.
        } finally {
            stopHearing(hearing);
            asked.delete(next.id);
        }
        // What has the id now has other changes, or some that were missed.
        const activity = store.activity.get(next.id);
        if (hearing.isOver && activity !== undefined) wantHistory(activity);
    }
    historyWorkers -= 1;
}

// Of events, or of decisions.
export function stateChanges(events) {
    const changes = [];
    for (const event of events) {
        if (event.to === undefined || changes.at(-1)?.state === event.to) continue;
        changes.push({state: event.to, at: event.at, revision: event.revision ?? event.activity?.revision ?? 0});
    }
    return changes;
}

// The lists of each app: read after every hello, and parts of them again and again.

import {ask} from "./api.js";
import {askingNow, changed, families, forgetEarly, forgetFull, giveWay, isFull, isHeld, note, noteApps, plural,
    putEntity, removeEntity, store} from "./store.js";
import {count} from "./format.js";
import {stringify} from "./json.js";

const pageSize = 1_000;
const appLimit = 1_000; // the service names no more

export let generation = 0; // of lists; answers that belong to an older one are dropped
export let listed = new Set(); // apps whose lists are being read, or were read last
let begunAt = 0; // the mark at which the present reading of the lists began
export let knowsAll = false; // whether all apps were named: any other has just begun

// Reads everything anew. What is shown stays until the lists say that it is gone, and events go on meanwhile: a row
// that is older than an event never replaces it. `apps`: app → {epoch, seq}, both absent where the service has not said
// so; `areAll`: whether there are no others.
export async function loadAll(apps, areAll) {
    const mine = ++generation;
    begunAt = askingNow();
    older.clear();
    store.loading = true;
    knowsAll = areAll;
    dismissedPlaces.clear();
    strays.clear();
    changed("lists");
    const names = Object.keys(apps).sort().slice(0, appLimit);
    listed = new Set(names);
    noteApps(areAll && names.length === Object.keys(apps).length ? null
        : names.length > 1 ? `only ${count(names.length)} apps`
            : names.length === 1 ? "only one app" : "only what has changed since");
    for (const [app, known] of [...store.apps]) {
        const next = apps[app];
        const isContinued = next !== undefined && (next.epoch === undefined || next.epoch === known.epoch);
        if (!isContinued) forgetApp(app);
    }
    for (const [app, place] of Object.entries(apps)) {
        store.apps.set(app, {...store.apps.get(app), ...place, seq: place.seq ?? 0});
    }
    const queue = [...names];
    const worker = async () => {
        for (let app = queue.shift(); app !== undefined; app = queue.shift()) await loadApp(app, mine);
    };
    let isThrough = false;
    try {
        await Promise.all([worker(), worker(), worker()]);
        if (wantsDismissed && mine === generation) await loadDismissed();
        if (mine === generation) for (const family of families) forgetFull(family, pagesOfAll(family));
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
    const seen = new Set();
    const read = [];
    let page = newPage(app, family);
    let answer;
    do {
        answer = await readPage(page, mine, true);
        if (answer === null) return;
        for (const id of page.ids) seen.add(id);
        read.push(page);
        changed("lists");
        page = newPage(app, family, answer.next, page.since);
    } while (answer.next !== undefined && (!isFull(family) || findOlder(family) !== undefined));
    if (answer.next !== undefined) read.at(-1).isCut = true;
    pages.set(`${app} ${family}`, read);
    note(app, family, seen.size, read.some(({isCut}) => isCut) ? answer.total : seen.size);
    if (answer.next === undefined) removeUnlisted(family, listedOf(app, family), page.since);
}

function listedOf(app, family) {
    return [...store[family].values()].filter((entity) => entity.app === app && entity.state !== "dismissed");
}

// After a list was read to its end: what neither it nor an event has named since its beginning, whose mark is `since`.
function removeUnlisted(family, known, since) {
    for (const {id, $mark} of known) if ($mark < since) removeEntity(family, id);
}

// `since`: the mark of the reading of the first page that its cursor comes from, page by page; what was listed all that
// time was named by one of them. `isCut`: whether there was no room for some of it, or for what follows.
function newPage(app, family, cursor, since) {
    return {app, family, cursor, since, isCut: false, ids: new Set(), readAt: -Infinity};
}

// Null where the answer belongs to lists that are older than those that are read now. `isFirst`: what is held from before
// this reading of the lists gives way to what there would be no room for; it may have gone.
async function readPage(page, mine, isFirst = false) {
    const {app, family, cursor} = page;
    const asked = askingNow();
    const answer = await ask(`${family}.list`, {app, limit: pageSize, ...(cursor === undefined ? {} : {cursor})});
    if (mine !== generation) return null;
    page.readAt = performance.now();
    page.ids = new Set();
    page.isCut = false;
    if (cursor === undefined) page.since = asked;
    for (const row of answer[plural[family]]) {
        if (isFirst && !isHeld(family, row) && isFull(family)) {
            const other = findOlder(family);
            if (other !== undefined) giveWay(family, other);
        }
        if (!isHeld(family, row) && isFull(family)) {
            page.isCut = true;
            if (store[family].has(row.id)) removeEntity(family, row.id); // it is dismissed no longer
            continue;
        }
        page.ids.add(row.id);
        putEntity(family, row, asked);
    }
    return answer;
}

const older = new Map(); // family → ids of what was held when the limit was reached in this reading; some may have gone

// One that neither a list nor an event has named since the present reading of the lists began; undefined: there is none.
function findOlder(family) {
    if (!older.has(family)) older.set(family, [...store[family].keys()]);
    const ids = older.get(family);
    for (; ids.length > 0; ids.pop()) {
        const entity = store[family].get(ids.at(-1));
        if (entity !== undefined && entity.state !== "dismissed" && entity.$mark < begunAt) return entity.id;
    }
    return undefined;
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

// What is read in turn, in sight or not.
export function allPlaces() {
    return [...families.flatMap(pagesOfAll), ...wantsDismissed ? [...store.apps.keys()].map(dismissedOf) : []];
}

function pagesOfAll(family) {
    return [...store.apps.keys()].flatMap((app) => pagesOf(app, family));
}

// Reads a place again, whatever events have told. `sought`: ids of those for whose sake it is read.
export async function readAnew(place, sought) {
    place.readAt = performance.now();
    for (const [id, stray] of strays) if (!store[stray.family].has(id)) strays.delete(id);
    if (place.id !== undefined) await readStray(place);
    else if (place.ids !== undefined) await readPageAnew(place, sought);
    else if (await readDismissed(place.app, generation, sought)) changed("lists");
}

async function readPageAnew(page, sought) {
    const {app, family} = page;
    const before = listedOf(app, family);
    const answer = await readPage(page, generation);
    if (answer === null) return;
    const list = pagesOf(app, family);
    const following = list.indexOf(page) + 1;
    if (answer.next === undefined) list.length = following;
    else if (following < list.length) Object.assign(list[following], {cursor: answer.next, since: page.since});
    else if (isFull(family)) page.isCut = true;
    else list.push(newPage(app, family, answer.next, page.since));
    if (answer.next === undefined) removeUnlisted(family, listedOf(app, family), page.since);
    if (list.length > 1 || answer.next !== undefined) seekUnlisted(app, family, before, page.ids, sought);
    noteHeld(app, family, answer);
    // They may have been declared anew, which no event of what goes on as before tells of.
    if (family !== "activity" && page.cursor === undefined && page.ids.size > 0) await loadKinds(app, family, generation);
}

// After a page was read anew: what of the list is not held, where that is known.
function noteHeld(app, family, {next, total}) {
    const held = listedOf(app, family).length;
    if (pagesOf(app, family).some(({isCut}) => isCut)) note(app, family, held, total);
    else if (next === undefined) note(app, family, held, held);
    forgetFull(family, pagesOfAll(family));
}

// They may have gone, or be on another page.
function seekUnlisted(app, family, before, seen, sought) {
    for (const {id} of before) {
        if (sought.has(id) && !seen.has(id)) strays.set(id, {app, family, id, readAt: -Infinity});
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

const kindsToRead = new Set();
const kindsPatience = 250; // milliseconds in which many ask for the kinds of one app once

export function loadKindsSoon(app, family) {
    const key = `${app} ${family}`;
    if (kindsToRead.has(key)) return;
    kindsToRead.add(key);
    setTimeout(() => {
        kindsToRead.delete(key);
        loadKinds(app, family, generation).catch(() => {}); // the next event, or list, asks again
    }, kindsPatience);
}

const missedKinds = new Map(); // key of a kind that was not known → when it was asked for
const missedLimit = 4_000; // no more controls and widgets are held
const missedPatience = 60_000; // milliseconds until it is asked for again: nobody may have declared it

// The event that placed it may not have come, or that its kind was declared.
export function wantKind(family, {app, kind}) {
    const key = `${app}/${family}/${kind}`;
    if (family === "activity" || store.kinds.has(key)) return;
    const now = performance.now();
    if (now - (missedKinds.get(key) ?? -Infinity) < missedPatience) return;
    if (missedKinds.size >= missedLimit) missedKinds.clear();
    missedKinds.set(key, now);
    loadKindsSoon(app, family);
}

async function loadKinds(app, family, mine) {
    let cursor;
    do {
        const answer = await ask(`${family}.kinds`, {app, ...(cursor === undefined ? {} : {cursor})});
        if (mine !== generation) return;
        for (const {kind, declaration} of answer.kinds) {
            const key = `${app}/${family}/${kind}`;
            if (stringify(declaration) === stringify(store.kinds.get(key))) continue;
            store.kinds.set(key, declaration);
            changed(family);
        }
        cursor = answer.next;
    } while (cursor !== undefined);
}

let wantsDismissed = false; // whether somebody looks at them

// Dismissed activities are kept for a while by the service; they are read only where somebody wants to see them, and
// then with each reading of the lists.
export function wantDismissed(wants) {
    wantsDismissed = wants;
    if (wants) loadDismissed().catch(() => {}); // those that are not read are asked for again, one by one
}

// Whether all that the service keeps of them is read, as far as there was room.
export function knowsDismissed() {
    return wantsDismissed && [...store.apps.keys()].every((app) => dismissedPlaces.get(app)?.isRead === true);
}

async function loadDismissed() {
    const mine = generation;
    for (const app of store.apps.keys()) if (!await readDismissed(app, mine)) return;
    changed("lists");
}

// False where the answer belongs to lists that are older than those that are read now. The service keeps them only for
// a while: what a whole answer does not name has gone, and what one of several pages does not name may have.
async function readDismissed(app, mine, sought = new Set()) {
    const place = dismissedOf(app);
    const before = dismissedActivities(app);
    const asked = askingNow();
    const answer = await ask("activity.list", {app, state: "dismissed", limit: pageSize});
    if (mine !== generation) return false;
    const seen = new Set(answer.activities.map((row) => row.id));
    if (answer.next !== undefined) seekUnlisted(app, "activity", before, seen, sought);
    const [known, others] = [true, false].map((is) => answer.activities.filter(({id}) => store.activity.has(id) === is));
    for (const row of known) putEntity("activity", row, asked);
    if (answer.next === undefined) removeUnlisted("activity", dismissedActivities(app), asked);
    // Those that left while the page was open stay before those that are read.
    for (const row of others) if (!isFull("dismissed")) putEntity("activity", row, asked);
    const held = dismissedActivities(app).length;
    note(app, "dismissed", held, answer.total);
    Object.assign(place, {isRead: true, isCut: held < answer.total, readAt: performance.now()});
    forgetFull("dismissed", [...store.apps.keys()].map(dismissedOf));
    return true;
}

function dismissedActivities(app) {
    return [...store.activity.values()].filter((each) => each.app === app && each.state === "dismissed");
}

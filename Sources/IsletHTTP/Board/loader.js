// Brings into the store what events tell, and reads what they leave open: entities that are not known, the kinds of
// what was placed, histories for lanes.

import {ask} from "./api.js";
import {addLateness, addToTail, applyEvent, askingNow, changed, families, hearChanges, isFull, isHeld, keepEarly,
    noteFull, putEntity, removeEntity, setChanges, stopHearing, store} from "./store.js";
import {realTime, setNow} from "./clock.js";
import {derivedChanges} from "./lanes.js";
import {generation, knowsAll, listed, loadKindsSoon, wantKind} from "./lists.js";

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
    if (Number.isFinite(event.lateBy)) addLateness(realTime(event.lateBy));
    addToTail(topic, event);
    if (!families.includes(family)) return isWhole;
    const id = event[family]?.id;
    if (applyEvent(family, event)) forgetHeard(id);
    else if (store.loading && listed.has(app)) keepEarly(id, event);
    else if (store[family].has(id) || !isFull(family)) readEntity(app, family, id, event);
    else noteFull(family);
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
            const entity = answer[family];
            // There was room when it was asked for.
            const isTooMany = entity.state !== "dismissed" && !isHeld(family, entity) && isFull(family);
            if (mine === generation && isTooMany) {
                noteFull(family);
            } else if (mine === generation) {
                putEntity(family, entity, asked);
                wantKind(family, entity);
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
            const known = store.activity.get(next.id);
            if (!hearing.isOver) setChanges(hearing, stateChanges(answer.events, answer.complete, known));
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

// Of events, or of decisions. Where they do not reach back to the beginning, the activity's own dates tell of it.
export function stateChanges(events, isWhole, activity) {
    const first = events.find(({to}) => to !== undefined)?.at ?? Infinity;
    const changes = isWhole || activity === undefined ? []
        : derivedChanges(activity).filter(({at}) => at < first).map((change) => ({...change, revision: 0}));
    for (const event of events) {
        if (event.to === undefined || changes.at(-1)?.state === event.to) continue;
        changes.push({state: event.to, at: event.at, revision: event.revision ?? event.activity?.revision ?? 0});
    }
    return changes;
}

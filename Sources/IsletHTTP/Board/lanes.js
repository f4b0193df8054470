// A lane shows an activity's states over time: solid what was, faint what its deadlines will bring. All lanes share one
// axis.

import {h, setAttribute} from "./dom.js";
import {clock, day, exact, span, words} from "./format.js";

const minute = 60_000;
const hour = 60 * minute;

// How much a lane shows, and how far apart its ticks are.
export const zooms = [
    {length: 30 * minute, tick: 5 * minute, name: "30 minutes"},
    {length: 2 * hour, tick: 30 * minute, name: "2 hours"},
    {length: 6 * hour, tick: hour, name: "6 hours"},
    {length: 12 * hour, tick: 2 * hour, name: "12 hours"},
    {length: 24 * hour, tick: 4 * hour, name: "24 hours"},
    {length: 72 * hour, tick: 12 * hour, name: "3 days"},
];

// Apple's limits, until the service has said which ones it keeps; for how long a publisher may be silent before what it
// publishes is stale, or ends.
export const limits = {active: 8 * hour, dismissal: 4 * hour, silentToStale: Infinity, silentToEnd: Infinity};

// A zoom of its own: as much as what is shown needs.
export const fit = -1;

// How much it shows then, and how far apart its ticks may be: there are so few that their texts have room.
const shortest = 10 * minute;
const longest = 72 * hour;
const mostTicks = 6;
const tickLengths = [1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1_440].map((minutes) => minutes * minute);
const margin = 1.02; // right of the last deadline, so that its mark can be seen
const looseness = 0.75; // while what is needed takes this part of the length, or more, the lanes stand still

// Where now stands after an axis of a fixed length has moved on, and where it has gone too far: the axis turns pages, so
// that all stands still but the line.
const nowPlace = 0.3;
const turnPlace = 0.62;

export class Axis {
    constructor(zoom) {
        this.zoom = zoom;
        this.from = 0;
        this.range = null; // {from, to} of what is shown, where that is known
        this.fitted = {length: shortest, tick: 2 * minute};
    }

    get length() { return (zooms[this.zoom] ?? this.fitted).length; }
    get tick() { return (zooms[this.zoom] ?? this.fitted).tick; }

    // True where everything must be placed anew.
    follow(now) {
        if (this.zoom === fit) return this.followRange(now);
        const place = this.place(now);
        if (place >= 0.05 && place <= turnPlace) return false;
        this.from = Math.floor((now - nowPlace * this.length) / this.tick) * this.tick;
        return true;
    }

    followRange(now) {
        const first = Math.max(Math.min(this.range?.from ?? now, now), now - longest / 2);
        const last = Math.max(this.range?.to ?? now, now);
        const needed = Math.min((last - first) * margin, longest);
        const tick = tickLengths.find((each) => Math.max(needed, shortest) <= each * mostTicks) ?? tickLengths.at(-1);
        const from = Math.floor(first / tick) * tick;
        const length = Math.max(Math.ceil((first + needed - from) / tick) * tick, shortest);
        const holdsAll = first >= this.from && first + needed <= this.from + this.length;
        if (holdsAll && length >= this.length * looseness) return false;
        this.from = from;
        this.fitted = {length, tick};
        return true;
    }

    // 0 at the left edge, 1 at the right one; outside for what is not to be seen.
    place(date) {
        return (date - this.from) / this.length;
    }

    ticks() {
        const found = [];
        for (let at = this.from; at < this.from + this.length; at += this.tick) {
            const isMidnight = at % (24 * hour) === 0;
            found.push({place: this.place(at), text: isMidnight ? day(at) : clock(at)});
        }
        return found;
    }
}

// [{state, from, to}], the last ones ahead of now. `changes` are the state changes where they are known.
export function laneSpans(activity, changes, now) {
    const past = changes ?? derivedChanges(activity);
    const spans = past.map((change, index) => ({state: change.state, from: change.at, to: past[index + 1]?.at ?? now}));
    let last = spans.at(-1);
    if (last === undefined) return [];
    const ahead = (state, to) => {
        const next = {state, from: last.to, to: Math.max(to, last.to)};
        spans.push(next);
        last = next;
    };
    const until = (date) => { last.to = Math.max(date ?? now, now, last.from); };
    const silence = silenceOf(activity);
    const stale = silence?.state === "stale" ? silence.at : activity.staleDate;
    if (activity.state === "pending") {
        until(activity.startDate);
        ahead("active", Math.min(stale ?? Infinity, last.to + limits.active));
    } else if (activity.state === "active") {
        const end = endOf(activity) ?? now;
        until(stale === undefined ? end : Math.min(stale, end));
        if (stale !== undefined && stale < end) ahead("stale", end);
        ahead("ended", last.to + limits.dismissal);
    } else if (activity.state === "stale") {
        until(endOf(activity));
        ahead("ended", last.to + limits.dismissal);
    } else if (activity.state === "ended") {
        until(activity.dismissAt);
    }
    return spans.filter((each) => each.state !== "dismissed");
}

// What the silence of its publisher brings, where that is what comes next: {at, state}.
function silenceOf({state, next}) {
    if (next?.cause !== "heartbeat") return undefined;
    const {silentToStale, silentToEnd} = limits;
    const ends = state === "stale" || (silentToEnd < Infinity && silentToEnd <= silentToStale);
    return {at: next.at, state: ends ? "ended" : "stale"};
}

// When it ends by itself, if nothing is heard of its publisher.
function endOf(activity) {
    const silence = silenceOf(activity);
    if (silence === undefined || (silence.state === "stale" && limits.silentToEnd === Infinity)) {
        return activity.expiresAt;
    }
    const bySilence = silence.state === "ended" ? silence.at : silence.at + limits.silentToEnd - limits.silentToStale;
    return Math.min(bySilence, activity.expiresAt ?? Infinity);
}

// What its own dates tell.
export function derivedChanges(activity) {
    if (activity.state === "pending") return [{state: "pending", at: activity.timestamp}];
    const changes = [];
    if (activity.startedAt !== undefined) changes.push({state: "active", at: activity.startedAt});
    if (activity.state === "stale" && activity.staleDate !== undefined) changes.push(
        {state: "stale", at: activity.staleDate});
    if (activity.endedAt !== undefined) changes.push({state: "ended", at: activity.endedAt});
    if (activity.state === "dismissed" && activity.dismissAt !== undefined) {
        changes.push({state: "dismissed", at: activity.dismissAt});
    }
    return changes;
}

// From its start to its next deadline, or to its end.
export function rangeOf(activity) {
    const from = derivedChanges(activity)[0]?.at ?? activity.timestamp;
    return {from, to: activity.next?.at ?? activity.dismissAt ?? activity.endedAt ?? from};
}

// What will happen to it by itself, by date.
export function deadlines(activity) {
    const found = [];
    const add = (at, name, state) => { if (at !== undefined) found.push({at, name, state}); };
    const isPending = activity.state === "pending";
    const isOpen = activity.state === "active" || activity.state === "stale";
    const end = isPending ? activity.startDate + limits.active : endOf(activity);
    const silence = silenceOf(activity);
    if (isPending) add(activity.startDate, "starts", "active");
    // What has ended goes stale no more.
    const mayGoStale = isPending || activity.state === "active";
    if (mayGoStale && !(activity.staleDate >= end)) add(activity.staleDate, "stale", "stale");
    if (silence?.state === "stale") add(silence.at, "heartbeat missing", "stale");
    if (isOpen) add(end, silence?.state === "ended" ? "heartbeat missing, ends" : "ends", "ended");
    if (activity.state === "ended") add(activity.dismissAt, "dismissed", "dismissed");
    return found.sort((one, other) => one.at - other.at);
}

// The element of one lane. Call `update` where the activity, its changes or the axis are others than before.
export class Lane {
    constructor() {
        this.spans = h("div", {class: "spans"});
        this.marks = h("div", {class: "marks"});
        this.element = h("div", {class: "lane", role: "img"}, this.spans, this.marks);
    }

    update(activity, changes, axis, now) {
        const spans = laneSpans(activity, changes, now);
        this.place(this.spans, spans, axis, (element, each) => {
            const from = Math.max(axis.place(each.from), 0);
            const to = Math.min(axis.place(each.to), 1);
            element.className = `span ${each.state}`;
            element.hidden = to <= 0 || from >= 1 || to <= from;
            element.style.left = `${(from * 100).toFixed(2)}%`;
            element.style.width = `${(Math.max(to - from, 0) * 100).toFixed(2)}%`;
            setAttribute(element, "title", `${each.state}: ${exact(each.from)}, ${span(each.to - each.from)}`);
        });
        const marks = deadlines(activity);
        this.place(this.marks, marks, axis, (element, each) => {
            const place = axis.place(each.at);
            element.className = `mark ${each.state}`;
            element.hidden = place < 0 || place > 0.997;
            element.style.left = `${(place * 100).toFixed(2)}%`;
            setAttribute(element, "title", `${each.name}: ${exact(each.at)}`);
        });
        setAttribute(this.element, "aria-label", this.spoken(activity, spans, marks, now));
    }

    place(parent, items, axis, write) {
        while (parent.children.length > items.length) parent.lastElementChild.remove();
        while (parent.children.length < items.length) parent.append(h("i"));
        items.forEach((item, index) => write(parent.children[index], item));
    }

    spoken(activity, spans, marks, now) {
        const since = spans.findLast((each) => each.from <= now && each.state === activity.state);
        const parts = [since === undefined ? words(activity.state) : `${activity.state} since ${clock(since.from)}`];
        for (const mark of marks) parts.push(`${mark.name} at ${clock(mark.at)}`);
        return parts.join(", ");
    }
}

// Timelines of widgets: what is shown when, where now is, when the next one is asked for, and what the budget says.

import {h, setAttribute, setText} from "./dom.js";
import {ask} from "./api.js";
import {currentTime} from "./clock.js";
import {changed} from "./store.js";
import {summary} from "./content.js";
import {clock, count, day, exact, relative, words} from "./format.js";

const known = new Map(); // widget id → {revision, timeline, budget}
const knownLimit = 500;
const reading = new Set();

export function timelineOf(id) {
    return known.get(id);
}

// Reads the timeline and the budget of a widget where they may be others than those that are known.
export async function wantTimeline(widget) {
    const had = known.get(widget.id);
    const isSame = had !== undefined && had.timelineAt === widget.timelineAt && had.state === widget.state
        && had.held === widget.held?.until;
    if (isSame || reading.has(widget.id)) return;
    reading.add(widget.id);
    try {
        const target = {app: widget.app, id: widget.id};
        const [{timeline}, {budget}] = await Promise.all(
            [ask("widget.timeline", target), ask("widget.budget", target)]);
        known.set(widget.id, {timeline, budget, timelineAt: widget.timelineAt, state: widget.state,
            held: widget.held?.until});
        if (known.size > knownLimit) known.delete(known.keys().next().value);
        changed("timelines", widget.id);
    } catch {
        // The next event of the widget asks again.
    } finally {
        reading.delete(widget.id);
    }
}

function reloadAt(widget, timeline) {
    if (widget.held !== undefined) return widget.held.until;
    if (typeof timeline.policy === "object") return timeline.policy.after;
    return timeline.policy === "atEnd" ? timeline.entries.at(-1)?.date : undefined;
}

// Entries as segments on a line, with now and the next reload.
export function drawStrip(place, widget, data, now) {
    const entries = data?.timeline.entries ?? [];
    if (entries.length === 0) {
        place.replaceChildren();
        return;
    }
    const reload = reloadAt(widget, data.timeline);
    const from = Math.min(entries[0].date, now);
    const last = Math.max(entries.at(-1).date, reload ?? 0, now);
    const to = last + Math.max((last - from) * 0.06, 1);
    const percent = (date) => ((Math.min(Math.max(date, from), to) - from) / (to - from)) * 100;
    // The newest whose date has come; the service shows it a moment later at most.
    const current = entries.findLastIndex((entry) => entry.date <= now);
    const parts = entries.slice(0, 64).map((entry, index) => {
        const end = entries[index + 1]?.date ?? to;
        const element = h("i", {class: `entry ${index === current ? "current" : index < current ? "past" : "ahead"}`,
            title: `${clock(entry.date)} ${summary(entry.content, now)}`});
        element.style.left = `${percent(entry.date)}%`;
        element.style.width = `calc(${percent(end) - percent(entry.date)}% - 2px)`;
        return element;
    });
    const line = (date, name, title) => {
        const element = h("i", {class: name, title});
        element.style.left = `${percent(date)}%`;
        return element;
    };
    if (reload !== undefined) parts.push(line(reload, "reload", `next reload ${exact(reload)}`));
    parts.push(line(now, "now-line", "now"));
    place.replaceChildren(...parts);
    setAttribute(place, "role", "img");
    setAttribute(place, "aria-label",
        `Entry ${current + 1} of ${entries.length}${reload === undefined ? ""
            : `, ${reload > now ? "next reload at" : "reload due since"} ${clock(reload)}`}`);
}

// What moves with the time in the timeline that the detail panel shows: {data, strip, reload, held}.
let panel = null;

// The whole of it in the detail panel.
export function timelinePanel(widget, place) {
    wantTimeline(widget);
    const data = known.get(widget.id);
    if (data === undefined) return place.replaceChildren();
    const now = currentTime();
    const {entries} = data.timeline;
    const current = entries.findLastIndex((entry) => entry.date <= now);
    panel = {
        data, strip: h("div", {class: "strip large"}), reload: h("p", {class: "none"}), held: h("p", {class: "held"}),
    };
    const rows = entries.slice(0, 64).map((entry, index) =>
        h("li", {class: index === current ? "current" : index < current ? "past" : "ahead"},
        h("time", {title: exact(entry.date)}, clock(entry.date)),
        h("span", {}, summary(entry.content, now) || "no content"),
        entry.relevance === undefined ? null : h("small", {}, `relevance ${entry.relevance.score}`)));
    place.replaceChildren(
        h("h3", {}, "Timeline"),
        panel.strip,
        h("ol", {class: "entries"}, rows),
        entries.length > 64 ? h("p", {class: "none"}, `and ${count(entries.length - 64)} more`) : "",
        panel.reload,
        ...budgetPart(data.budget), ...data.budget.held === undefined ? [] : [panel.held]);
    tickPanel(widget);
}

// Once a second, while the panel shows the widget.
export function tickPanel(widget) {
    const data = known.get(widget.id);
    if (data === undefined || data !== panel?.data) return;
    const now = currentTime();
    drawStrip(panel.strip, widget, data, now);
    setText(panel.reload, reloadText(widget, data.timeline, now));
    if (data.budget.held !== undefined) setText(panel.held, heldText(data.budget.held, now));
}

function reloadText(widget, timeline, now) {
    const reload = reloadAt(widget, timeline);
    if (reload === undefined) return "No reload by itself.";
    const date = `${day(reload)} ${clock(reload)} (${policyText(timeline.policy)})`;
    return reload > now ? `Next reload ${relative(reload, now)}, at ${date}.` : `A reload is due since ${date}.`;
}

function heldText(held, now) {
    return `A reload (${words(held.cause)}) is held by the ${words(held.reason)} until ${exact(held.until)},`
        + ` ${relative(held.until, now)}; it stands for ${count((held.merged ?? 0) + 1)}.`;
}

function policyText(policy) {
    return typeof policy === "object" ? "after a date" : policy === "atEnd" ? "at the end" : words(policy ?? "atEnd");
}

function budgetPart(budget) {
    const fill = h("i", {class: budget.left === 0 ? "near" : ""});
    fill.style.width = `${Math.min(budget.spent / Math.max(budget.limit, 1), 1) * 100}%`;
    const exempt = Object.entries(budget.exempt).filter(([, number]) => number > 0).map(
        ([name, number]) => `${words(name)} ${number}`);
    return [
        h("h3", {}, "Budget of 24 hours"),
        h("div", {class: "meter"}, fill),
        h("p", {class: "none"}, [`${count(budget.spent)} of ${count(budget.limit)} spent, ${count(budget.left)} left`,
            budget.isLearning ? "learning" : null,
            budget.developerMode ? "developer mode" : null, exempt.length > 0 ? `not charged: ${exempt.join(", ")}`
                : null].filter(Boolean).join(" · ")),
    ];
}

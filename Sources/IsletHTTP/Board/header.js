// The strip of figures: those of `service.stats`, which the command and the metrics show too; how many activities there
// are is counted live.

import {byId, h, setAttribute, setText, svg} from "./dom.js";
import {bytes, clockSeconds, count, day, exact, measured, relative, short, span} from "./format.js";
import {currentSpeed, currentTime} from "./clock.js";
import {families, onChange, store} from "./store.js";
import {countsOf, totalOf} from "./counts.js";

const readings = []; // {at: performance.now(), taken, events}
const rates = {commands: [], events: []};
const ratesKept = 60;
const states = ["pending", "active", "stale", "ended"];

export function startHeader() {
    onChange(({topics}) => {
        if (topics.has("stats")) write();
        if (["activity", "lists", "stats"].some((topic) => topics.has(topic))) bar();
        if (topics.has("session")) connection();
    });
    connection();
}

// One more reading of the totals: rates are what lies between two of them.
export function addReading(stats, at) {
    const reading = {at, taken: stats.commands.taken, events: stats.events, uptime: stats.uptime};
    const before = readings.at(-1);
    readings.push(reading);
    if (readings.length > 2) readings.shift();
    if (before === undefined || reading.uptime < before.uptime) return; // the service was started again
    const seconds = (reading.at - before.at) / 1_000;
    if (seconds <= 0) return;
    for (const [name, member] of [["commands", "taken"], ["events", "events"]]) {
        rates[name].push((reading[member] - before[member]) / seconds);
        if (rates[name].length > ratesKept) rates[name].shift();
    }
}

function connection() {
    const {connection: state, write: mayWrite, version} = store.session;
    const text = {connecting: "Connecting …", live: "Live", waiting: "No connection: trying again",
        resting: "Resting"}[state];
    setText(byId("connection-text"), text);
    byId("connection").dataset.state = state;
    byId("mode").hidden = mayWrite || version === "";
    setAttribute(byId("mode"), "title", "Started without --board-write: nothing can be changed from here");
    document.body.dataset.write = mayWrite ? "yes" : "no";
}

export function tickHeader() {
    const now = currentTime();
    setText(byId("clock-time"), clockSeconds(now));
    setText(byId("clock-day"), day(now));
    const speed = currentSpeed();
    setText(byId("clock-speed"), speed === 1 ? "UTC" : speed === 0 ? "UTC, stands still" : `UTC ×${speed}`);
    setAttribute(byId("clock"), "title", `The service's time: ${exact(now)}`);
    writeNext(now);
}

// The figures are some seconds old, and their next deadline may have passed since. Until they are told anew, what is
// next is what the page knows of itself; it is never one that was.
function writeNext(now) {
    if (store.stats === null) return;
    const told = store.stats.timers.nextAt;
    if (told === undefined) return setText(byId("timers-note"), "none ahead");
    const next = told > now ? told : nextHeld(now);
    setText(byId("timers-note"), next === undefined ? "next –" : `next ${relative(next, now)}`);
}

function nextHeld(now) {
    let soonest;
    for (const family of families) {
        for (const {next} of store[family].values()) {
            if (next?.at > now && !(next.at >= soonest)) soonest = next.at;
        }
    }
    return soonest;
}

function write() {
    const stats = store.stats;
    if (stats === null) return;
    setText(byId("version"),
        note([stats.version, `up ${span(stats.uptime)}`, stats.memory !== undefined && bytes(stats.memory.resident),
        stats.guarantee === "full" ? null : `store: ${stats.guarantee}`]));
    figure("commands", short(rates.commands.at(-1) ?? 0), "/s", note([`${count(stats.commands.taken)} taken`,
        stats.commands.refused > 0 && `${count(stats.commands.refused)} refused`]));
    sparkline(byId("commands-line"), rates.commands);
    figure("events", short(rates.events.at(-1) ?? 0), "/s", `${count(stats.events)} in all`);
    sparkline(byId("events-line"), rates.events);
    const timers = stats.timers;
    figure("timers", short(timers.armed), "armed", null);
    writeNext(currentTime());
    alarm("timers", timers.overdue > 0, `${count(timers.overdue)} overdue`);
    const late = stats.lateness.recent?.count > 0 ? stats.lateness.recent : stats.lateness;
    figure("lateness", ...value(late.p99, "ms"), `p50 ${measured(late.p50, "ms")} · max ${measured(late.max, "ms")}`);
    setAttribute(byId("figure-lateness"), "title", late === stats.lateness ? "Since the start" : "Of the last minute");
    const commit = recent(stats.commit);
    const hasCommits = stats.commit.count > 0;
    figure("commit", ...(hasCommits ? value(commit.p99, stats.commit.unit) : ["–", ""]), note([
        hasCommits && `p50 ${measured(commit.p50, stats.commit.unit)}`, stats.answer?.count > 0
            && `answer ${measured(recent(stats.answer).p99, stats.answer.unit)}`]));
    const providers = stats.providers;
    figure("providers", count(providers.connected), "live",
        note([providers.inFlight > 0 && `${count(providers.inFlight)} out`,
        providers.waiting > 0 && `${count(providers.waiting)} wait`, `${count(providers.calls)} calls`]));
    alarm("providers", providers.timedOut > 0 || providers.failures > 0,
        note([providers.failures > 0 && `${count(providers.failures)} failed`,
        providers.timedOut > 0 && `${count(providers.timedOut)} timed out`]));
    const subscribers = stats.subscribers;
    figure("subscribers", count(subscribers.reporting), "report", subscribers.lagging > 0
        ? `at most ${count(subscribers.maximumLag)} behind`
        : subscribers.silent > 0 ? `none lags, ${count(subscribers.silent)} silent` : "none lags");
    alarm("subscribers", subscribers.lagging > 0, `${count(subscribers.lagging)} lagging`);
    banner(stats);
}

function recent(percentiles) {
    return percentiles.recent?.count > 0 ? percentiles.recent : percentiles;
}

function note(parts) {
    return parts.filter(Boolean).join(" · ");
}

function value(number, unit) {
    const text = measured(number, unit);
    if (text.includes(" ")) return [text, ""]; // of two units, as 1 m 53 s
    const [amount, ...rest] = text.split("\u202f");
    return [amount, rest.join(" ")];
}

function figure(name, big, unit, text) {
    setText(byId(`${name}-value`), big);
    setText(byId(`${name}-unit`), unit);
    if (text !== null) setText(byId(`${name}-note`), text);
}

function alarm(name, is, text) {
    const place = byId(`${name}-alarm`);
    place.hidden = !is;
    if (is) setText(place, text);
}

function bar() {
    if (store.loading && store.stats === null) return; // nothing is known yet
    const counts = countsOf("activity");
    setText(byId("activities-value"), short(totalOf("activity")));
    const place = byId("states-bar");
    if (place.children.length === 0) place.append(...states.map((state) => h("i", {class: state})));
    const legend = byId("states-legend");
    if (legend.children.length === 0) {
        legend.append(
            ...states.map((state) => h("span", {class: state}, h("i", {class: "dot"}), h("b", {}), ` ${state}`)));
    }
    states.forEach((state, index) => {
        const part = counts[state] ?? 0;
        place.children[index].style.flexGrow = part;
        place.children[index].hidden = part === 0;
        setText(legend.children[index].querySelector("b"), short(part));
        legend.children[index].classList.toggle("none", part === 0);
    });
    setAttribute(place, "aria-label", states.map((state) => `${count(counts[state] ?? 0)} ${state}`).join(", "));
}

function sparkline(place, values) {
    const width = 100;
    const height = 26;
    const top = Math.max(...values, 1e-9);
    const step = width / (ratesKept - 1);
    const from = width - (values.length - 1) * step;
    const points = values.map((value, index) =>
        `${(from + index * step).toFixed(1)},${(height - 2 - (value / top) * (height - 4)).toFixed(1)}`);
    if (place.firstChild === null) place.append(svg("polygon", {class: "area"}), svg("polyline", {}));
    setAttribute(place.children[0], "points", `${from.toFixed(1)},${height} ${points.join(" ")} ${width},${height}`);
    setAttribute(place.children[1], "points", points.join(" "));
}

function banner(stats) {
    const texts = [];
    if (stats.diskFull) texts.push("The disk is full: changes are refused until there is room.");
    if (stats.stopping) texts.push("The service is stopping.");
    setText(byId("banner"), texts.join(" "));
    byId("banner").hidden = texts.length === 0;
}

// Reads the service's figures again and again, and slower while nobody looks.

import {ask} from "./api.js";
import {changed, store} from "./store.js";
import {addReading} from "./header.js";
import {currentTime, setNow, setSpeed} from "./clock.js";
import {limits} from "./lanes.js";

const often = 2_000;
const seldom = 15_000;

let timer = null;

export function startStats() {
    document.addEventListener("visibilitychange", () => { if (!document.hidden) readStats(); });
}

// What does not change while a service runs: its speed and its rules.
export async function readInfo() {
    const {info} = await ask("service.info");
    setSpeed({speed: info.clock.speed ?? 1, manual: 0}[info.clock.kind] ?? 1);
    setNow(info.clock.now);
    takeLimits(info.ruleSet);
    store.contentLimit = info.ruleSet.contentLimit;
    return info;
}

function takeLimits({activeLimit, dismissalLimit, heartbeatStaleAfter, heartbeatEndAfter}) {
    const told = {
        active: activeLimit ?? limits.active, dismissal: dismissalLimit ?? limits.dismissal,
        silentToStale: heartbeatStaleAfter ?? Infinity, silentToEnd: heartbeatEndAfter ?? Infinity,
    };
    if (Object.entries(told).every(([name, limit]) => limits[name] === limit)) return;
    Object.assign(limits, told);
    changed("limits");
}

export async function readStats() {
    clearTimeout(timer);
    timer = setTimeout(readStats, document.hidden ? seldom : often);
    if (store.session.connection !== "live") return;
    try {
        const stats = await figures();
        const arrived = performance.now();
        setNow(stats.now, arrived);
        addReading(stats, arrived);
        store.stats = stats;
        changed("stats");
    } catch {
        // The stream notices that the service is gone; figures come again with it.
    }
}

// Once a second: where the deadline that was next has passed, the figures that name it are of the past.
export function tickStats() {
    if (store.stats?.timers.nextAt <= currentTime()) readStats();
}

async function figures() {
    try {
        return (await ask("service.stats")).stats;
    } catch (error) {
        if (error.code !== "unknownOp") throw error;
        return fromInfo(await readInfo());
    }
}

// A service that has no `service.stats` yet tells part of it in `service.info`.
function fromInfo(info) {
    const nothing = {count: 0, p50: 0, p99: 0, p999: 0, max: 0};
    return {
        now: info.clock.now, uptime: info.uptime, version: info.version, guarantee: info.guarantee,
        commands: {taken: info.commands, applied: info.commands, ignored: 0, refused: 0}, events: info.events,
        activities: info.entities, controls: info.controls, widgets: info.widgets,
        timers: {armed: info.timers, overdue: 0},
        lateness: {unit: "ms", ...info.lateness},
        answer: {unit: "us", ...nothing},
        commit: {unit: "us", ...(info.journal?.commit ?? nothing)},
        providers: {connected: info.providers, calls: 0, waiting: 0, inFlight: 0, failures: 0, timedOut: 0, dropped: 0},
        subscribers: {reporting: 0, lagging: 0, maximumLag: 0, silent: 0},
        journal: info.journal, diskFull: info.journal?.isFull ?? false, stopping: false,
    };
}

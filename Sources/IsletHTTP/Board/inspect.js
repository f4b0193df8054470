// What stands behind a figure: the next timers, the providers, the subscribers, and who holds the slots.

import {byId, h, setText} from "./dom.js";
import {ask} from "./api.js";
import {openDetail} from "./route.js";
import {currentTime} from "./clock.js";
import {clock, count, exact, measured, relative, span, words} from "./format.js";

const rowsLimit = 100;

const inspections = {
    timers: {title: "What fires next", read: timers},
    providers: {title: "Providers", read: providers},
    subscribers: {title: "Subscribers", read: subscribers},
    slots: {title: "Who holds the slots", read: slots},
};

export function startInspect() {
    for (const button of document.querySelectorAll("[data-inspect]")) {
        button.addEventListener("click", () => inspect(button.dataset.inspect));
    }
    byId("inspect-close").addEventListener("click", () => byId("inspect").close());
}

let inspected = 0;

async function inspect(name) {
    const mine = ++inspected; // an answer that comes late is for a dialog that was closed
    const {title, read} = inspections[name];
    setText(byId("inspect-title"), title);
    byId("inspect-body").replaceChildren(h("p", {class: "none"}, "Reading …"));
    byId("inspect").showModal();
    try {
        const parts = await read();
        if (mine === inspected) byId("inspect-body").replaceChildren(...parts);
    } catch (error) {
        if (mine !== inspected) return;
        const text = error.code === "unknownOp" ? "This service cannot say." : error.message;
        byId("inspect-body").replaceChildren(h("p", {class: "filter-error"}, text));
    }
}

// A table, and below it how much of all it shows.
function table(heads, rows, total, none) {
    if (rows.length === 0) return [h("p", {class: "none"}, none)];
    return [
        h("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "Table"}, h("table", {class: "list"},
            h("thead", {}, h("tr", {}, heads.map((head) => h("th", {scope: "col"}, head)))),
            h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell))))))),
        h("p", {class: "none"}, rows.length < total ? `Showing ${count(rows.length)} of ${count(total)}`
            : `${count(total)} in all`),
    ];
}

async function timers() {
    const answer = await ask("timer.list", {limit: rowsLimit});
    const now = currentTime();
    const top = Math.max(...answer.hours.map((hour) => hour.count), 1);
    const bars = answer.hours.map((hour) => {
        const bar = h("i", {});
        bar.style.height = hour.count === 0 ? "0" : `${Math.max((hour.count / top) * 100, 4)}%`;
        return h("div", {class: "bar", title: `${clock(hour.from)}: ${count(hour.count)}`}, bar,
            h("small", {}, clock(hour.from).slice(0, 2)));
    });
    const rows = answer.timers.map((timer) => [
        h("span", {title: exact(timer.at)}, timer.at <= now ? "due" : relative(timer.at, now)),
        words(timer.cause),
        h("button", {type: "button", class: "link", onclick: () => show(timer)}, timer.key ?? timer.kind),
        timer.device ?? "–",
        timer.state,
    ]);
    return [
        h("div", {class: "bars hours", role: "img",
            "aria-label": answer.hours.map((hour) => `${clock(hour.from)}: ${hour.count}`).join(", ")}, bars),
        answer.later > 0 ? h("p", {class: "none"}, `${count(answer.later)} later than 24 hours`) : "",
        answer.overdue > 0 ? h("p", {class: "filter-error"}, `${count(answer.overdue)} overdue`) : "",
        ...table(["When", "What", "Of", "Device", "State"], rows, answer.total, "Nothing is ahead."),
    ];
}

function show(timer) {
    byId("inspect").close();
    openDetail(timer.family, timer.app, timer.id);
}

async function providers() {
    const found = [];
    let total = 0;
    let cursor;
    do {
        const page = await ask("provider.list", {
            limit: rowsLimit - found.length, ...(cursor === undefined ? {} : {cursor})});
        found.push(...page.providers);
        total = page.total;
        cursor = page.next;
    } while (cursor !== undefined && found.length < rowsLimit);
    const rows = found.map((each) => [
        h("span", {title: each.id}, each.app),
        [...each.kinds, ...each.widgets ?? []].join(", "),
        each.state,
        `${count(each.inFlight)} of ${count(each.capacity)}`,
        count(each.waiting),
        count(each.calls),
        count(each.failures),
        each.p99 === undefined ? "–" : measured(each.p99, "ms"),
        span(each.silence),
    ]);
    return table(["App", "Provides", "State", "Out", "Waiting", "Calls", "Failed", "p99", "Silent for"], rows,
        total, "No provider is connected.");
}

async function subscribers() {
    const answer = await ask("subscriber.list", {limit: rowsLimit});
    const rows = answer.subscribers.map((each) => [
        h("code", {}, each.nonce.slice(0, 8)),
        h("span", {class: each.isLagging ? "late" : ""}, count(each.lag)),
        Object.entries(each.apps).map(([app, {seq, lag}]) =>
            `${app} at ${count(seq)}${lag > 0 ? `, ${count(lag)} behind` : ""}`).join("; "),
        `${span(each.age)} ago`,
    ]);
    const silent = (answer.silent ?? []).map((each) => [
        "silent", "?", each.topics.map((topic) => topic === "" ? "everything" : `${topic}…`).join("; ")
            + (each.topicCount > each.topics.length ? `; and ${count(each.topicCount - each.topics.length)} more` : ""),
        `never, for ${span(each.age)}`,
    ]);
    return table(["Subscriber", "Behind", "Apps", "Reported"], [...rows, ...silent],
        answer.total + (answer.silentTotal ?? 0),
        "No subscriber reports where it is.");
}

async function slots() {
    const answer = await ask("slot.list", {limit: rowsLimit});
    const rows = answer.devices.map((each) => {
        const fill = h("i", {class: each.held >= answer.maximumPerDevice ? "near" : ""});
        fill.style.width = `${Math.min(each.held / answer.maximumPerDevice, 1) * 100}%`;
        return [
            each.device,
            h("div", {class: "slot"}, h("div", {class: "meter"}, fill),
                `${count(each.held)} of ${count(answer.maximumPerDevice)}`),
            each.apps.map(({app, held}) => `${app}: ${count(held)} of ${count(answer.maximumPerApp)}`).join("; "),
        ];
    });
    return table(["Device", "Held", "Apps"], rows, answer.total, "No device holds a slot.");
}

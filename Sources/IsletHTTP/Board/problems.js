// What is wrong, as `islet problems` tells it: read often while it is looked at, and seldom else, for its number.

import {byId, h, reconcile, setAttribute, setText} from "./dom.js";
import {ask} from "./api.js";
import {currentView, openDetail} from "./route.js";
import {currentTime} from "./clock.js";
import {families, onChange, store} from "./store.js";
import {appName, count, exact, plural, short, span} from "./format.js";

const rowsLimit = 100;
const often = 2_000;
const seldom = 15_000;
const made = new Map();

let timer = null;
let readings = 0;
let connection = null;

export function startProblems() {
    onChange(({topics}) => {
        if (topics.has("route") && currentView() === "problems") read();
        if (topics.has("session") && store.session.connection !== connection) {
            connection = store.session.connection;
            if (connection === "live") read();
        }
    });
    document.addEventListener("visibilitychange", () => { if (!document.hidden) read(); });
}

async function read() {
    clearTimeout(timer);
    const mine = ++readings;
    if (document.hidden) return; // it is read once somebody looks
    if (store.session.connection === "live") {
        try {
            const answer = await ask("problem.list", {limit: rowsLimit});
            if (mine === readings) show(answer);
        } catch (error) {
            if (mine === readings) showUnread(error);
        }
    }
    // Behind the answer, however late it was: asked for again before it, it would never be shown.
    if (mine === readings) timer = setTimeout(read, currentView() === "problems" ? often : seldom);
}

// What is there from before may be so no longer, and that nothing was wrong least of all.
function showUnread({code, message}) {
    if (code === "unreachable") return; // of a service that is gone the page says so elsewhere
    byId("problems-empty").hidden = true;
    const isNotListed = code === "unknownOp";
    setText(byId("count-problems"), isNotListed ? "" : "?");
    setAttribute(byId("count-problems"), "class", null);
    if (isNotListed) return setText(byId("problems-note"), "This service does not list its problems.");
    const reason = code === "outcomeUnknown" ? "the service gives no answer" : message;
    const before = byId("problems-table").hidden ? "" : " What is shown is from before.";
    setText(byId("problems-note"), `The problems could not be read: ${reason}.${before}`);
}

function show({problems, counts, total, exact: isExact}) {
    const grave = counts.critical + counts.warning;
    setText(byId("count-problems"), short(grave));
    setAttribute(byId("count-problems"), "class", counts.critical > 0 ? "critical" : grave > 0 ? "warning" : null);
    byId("problems-table").hidden = problems.length === 0;
    byId("problems-empty").hidden = problems.length > 0;
    reconcile(byId("problems-rows"), made, problems, keyOf, make, update);
    const told = ["critical", "warning", "notice"].filter((name) => counts[name] > 0)
        .map((name) => name === "critical" ? `${count(counts[name])} critical` : plural(counts[name], name));
    const shown = problems.length < total ? `Showing ${count(problems.length)} of ${isExact ? "" : "about "}` : "";
    setText(byId("problems-note"), total === 0 ? "" : `${shown}${plural(total, "problem")}: ${told.join(", ")}`);
    const advice = [...new Map(problems.map((each) => [each.advice, each.what]))];
    byId("problems-advice").replaceChildren(...advice.map(([text, what]) =>
        h("div", {}, h("dt", {}, what), h("dd", {}, text))));
}

function keyOf({what, family, app, kind, id, text}) {
    return [what, family, app, kind, id, text].join("\n");
}

function make(problem) {
    const {severity, what, family, app, id} = problem;
    const name = nameOf(problem);
    const isOpenable = families.includes(family) && id !== undefined;
    const since = h("td", {});
    const why = h("td", {class: "why"});
    const element = h("tr", {},
        h("td", {}, h("span", {class: `severity ${severity}`}, severity)),
        h("td", {}, what),
        h("td", {}, `${family} `, isOpenable
            ? h("button", {type: "button", class: "link", onclick: () => openDetail(family, app, id)}, name) : name),
        h("td", {title: app}, app === undefined ? "" : appName(app)),
        since, why);
    return {element, since, why};
}

function update({element, since, why}, {severity, since: date, text, failure, failureReason, count: number}) {
    const badge = element.querySelector(".severity");
    setText(badge, severity);
    setAttribute(badge, "class", `severity ${severity}`);
    setText(since, date === undefined ? "" : `for ${span(Math.max(0, currentTime() - date))}`);
    setAttribute(since, "title", date === undefined ? null : exact(date));
    const how = failureReason ?? failure;
    setText(why, text + (how === undefined ? "" : `: ${how}`) + (number === undefined ? "" : ` (${count(number)})`));
}

function nameOf({key, kind, id, device}) {
    const last = kind?.split(".").at(-1);
    const name = key ?? (last === undefined ? id?.slice(-12) : last) ?? "";
    return device === undefined ? name : `${name} · ${device}`;
}

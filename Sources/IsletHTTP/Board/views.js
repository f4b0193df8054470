// The tabs: one view at a time where the page is narrow; where it is wide the events stand beside it.

import {byId, setAttribute, setText} from "./dom.js";
import {onChange, store} from "./store.js";
import {currentView, showView, views} from "./route.js";
import {short} from "./format.js";

export function isShown(view) {
    return currentView() === view || (view === "activities" && currentView() === "events" && isWide());
}

// Whether the rail stands beside the view; the style sheet has the same number.
export function isWide() {
    return matchMedia("(min-width: 1100px)").matches;
}

export function startViews() {
    const tabs = [...byId("tabs").children];
    for (const tab of tabs) tab.addEventListener("click", () => showView(tab.dataset.view));
    byId("tabs").addEventListener("keydown", (press) => {
        const step = {ArrowRight: 1, ArrowLeft: -1}[press.key];
        if (step === undefined) return;
        const usable = tabs.filter((tab) => tab.offsetParent !== null);
        const next = usable[(usable.indexOf(document.activeElement) + step + usable.length) % usable.length];
        next.focus();
        next.click();
    });
    onChange(({topics}) => {
        if (topics.has("route")) mark(tabs);
        if (topics.has("lists") || topics.has("control") || topics.has("widget") || topics.has("activity")) countTabs();
    });
    mark(tabs);
    countTabs();
}

function mark(tabs) {
    for (const tab of tabs) {
        const isThis = tab.dataset.view === currentView();
        setAttribute(tab, "aria-selected", isThis ? "true" : "false");
        setAttribute(tab, "tabindex", isThis ? "0" : "-1");
    }
}

function countTabs() {
    const figures = store.stats;
    const sum = (counts) => Object.entries(counts ?? {}).reduce((total, [name, n]) => name === "dismissed" ? total
        : total + n, 0);
    const number = (family, counted) => Math.max(store[family].size, sum(counted));
    let open = 0;
    for (const activity of store.activity.values()) if (activity.state !== "dismissed") open += 1;
    setText(byId("count-activities"), short(Math.max(open, figures === null ? 0 : sum(figures.activities))));
    setText(byId("count-controls"), short(number("control", figures?.controls)));
    setText(byId("count-widgets"), short(number("widget", figures?.widgets)));
}

export function viewByNumber(number) {
    const name = views[number - 1];
    if (name !== undefined) showView(name);
}

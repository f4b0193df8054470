// The tabs: one view at a time where the page is narrow; where it is wide the events stand beside it.

import {byId, setAttribute, setText} from "./dom.js";
import {families, onChange, plural} from "./store.js";
import {currentView, showView, views} from "./route.js";
import {short} from "./format.js";
import {totalOf} from "./counts.js";

export function isShown(view) {
    return currentView() === view || (view === "activities" && currentView() === "events" && isWide());
}

// Whether the rail stands beside the view; the style sheet has the same number.
const wide = matchMedia("(min-width: 1100px)");

export function isWide() {
    return wide.matches;
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
    byId("skip").addEventListener("click", (click) => {
        click.preventDefault(); // the address says which view it is
        byId("main").focus();
    });
    onChange(({topics}) => {
        if (topics.has("route")) mark(tabs);
        if (["lists", "stats", ...families].some((topic) => topics.has(topic))) countTabs();
    });
    wide.addEventListener("change", () => mark(tabs));
    mark(tabs);
    countTabs();
}

// Of the tab for the events, which is hidden where they stand beside the activities, the activities' one is marked.
function mark(tabs) {
    const marked = currentView() === "events" && isWide() ? "activities" : currentView();
    for (const tab of tabs) {
        const isThis = tab.dataset.view === marked;
        setAttribute(tab, "aria-selected", isThis ? "true" : "false");
        setAttribute(tab, "tabindex", isThis ? "0" : "-1");
    }
}

function countTabs() {
    for (const family of families) setText(byId(`count-${plural[family]}`), short(totalOf(family)));
}

export function viewByNumber(number) {
    const name = views[number - 1];
    if (name !== undefined) showView(name);
}

// Keys that work anywhere on the page, and the help that lists them.

import {byId} from "./dom.js";
import {selected, showView} from "./route.js";
import {viewByNumber} from "./views.js";
import {toggleTheme} from "./theme.js";
import {togglePause} from "./tail.js";
import {close} from "./detail.js";

export function startKeys() {
    const help = byId("help");
    byId("help-button").addEventListener("click", () => help.showModal());
    byId("help-close").addEventListener("click", () => help.close());
    document.addEventListener("keydown", (press) => {
        if (press.ctrlKey || press.metaKey || press.altKey || press.defaultPrevented) return;
        if (document.querySelector("dialog[open]") !== null) return;
        const isTyping = press.target.matches("input, select, textarea");
        if (press.key === "Escape") {
            if (selected() !== null) close();
            else if (isTyping) press.target.blur();
            return;
        }
        if (isTyping) return;
        const action = actions[press.key];
        if (action === undefined) return;
        press.preventDefault();
        action();
    });

    const actions = {
        "?": () => help.showModal(),
        "/": () => {
            showView("activities");
            // The field may only now become visible.
            requestAnimationFrame(() => byId("filter").focus());
        },
        d: toggleTheme,
        p: togglePause,
        e: () => {
            if (selected() === null) return;
            byId("explain-title").scrollIntoView({block: "start"});
            byId("explain-title").focus({preventScroll: true});
        },
        1: () => viewByNumber(1),
        2: () => viewByNumber(2),
        3: () => viewByNumber(3),
        4: () => viewByNumber(4),
        5: () => viewByNumber(5),
    };
}

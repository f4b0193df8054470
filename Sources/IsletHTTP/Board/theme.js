// Light or dark: as the system has it, until the person chooses.

import {byId, setAttribute} from "./dom.js";

const key = "islet-board-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

export function startTheme() {
    apply();
    byId("theme").addEventListener("click", toggleTheme);
    system.addEventListener("change", apply);
}

export function toggleTheme() {
    const next = isDark() ? "light" : "dark";
    remember(next === (system.matches ? "dark" : "light") ? null : next);
    apply();
}

function isDark() {
    return (remembered() ?? (system.matches ? "dark" : "light")) === "dark";
}

function apply() {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    setAttribute(byId("theme"), "aria-label", isDark() ? "Use the light theme" : "Use the dark theme");
}

// Some browsers refuse storage to pages of this kind; the choice then lasts as long as the page.
let here = null;

function remembered() {
    try {
        return localStorage.getItem(key) ?? here;
    } catch {
        return here;
    }
}

function remember(value) {
    here = value;
    try {
        if (value === null) localStorage.removeItem(key);
        else localStorage.setItem(key, value);
    } catch {
        // `here` has it.
    }
}

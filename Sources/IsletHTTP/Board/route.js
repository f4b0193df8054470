// Where the page is, kept in its address: #problems, or #activities/control/com.example.home/<id> with a detail open.

import {changed} from "./store.js";

export const views = ["problems", "activities", "controls", "widgets", "events"];

let view = "problems";
let detail = null;

export function startRoute() {
    addEventListener("hashchange", read);
    read();
}

function read() {
    const [name, family, app, id] = location.hash.slice(1).split("/").map(decoded);
    view = views.includes(name) ? name : "problems";
    detail = ["activity", "control", "widget"].includes(family) && app && id ? {family, app, id} : null;
    document.body.dataset.view = view;
    document.body.dataset.detail = detail === null ? "closed" : "open";
    changed("route");
}

// What stands in the address may have been typed by anybody; what is no text leads nowhere.
function decoded(part) {
    try {
        return decodeURIComponent(part);
    } catch {
        return undefined;
    }
}

export function currentView() {
    return view;
}

// {family, app, id} of the open detail, or null.
export function selected() {
    return detail;
}

export function showView(name) {
    location.hash = detail === null ? name : `${name}/${path(detail)}`;
}

export function openDetail(family, app, id) {
    location.hash = `${view}/${path({family, app, id})}`;
}

export function closeDetail() {
    location.hash = view;
}

function path(target) {
    return [target.family, target.app, target.id].map(encodeURIComponent).join("/");
}

// Short messages at the lower edge; screen readers hear them.

import {byId, h} from "./dom.js";

const longEnough = 6_000;
const atMost = 3;

export function toast(text, kind = "note") {
    const place = byId("toasts");
    const message = h("div", {class: `toast ${kind}`}, text);
    place.append(message);
    while (place.children.length > atMost) place.firstElementChild.remove();
    setTimeout(() => message.remove(), longEnough);
}

// One activity in the table.

import {h, setAttribute, setText} from "./dom.js";
import {exact, span, typeAndApp, words} from "./format.js";
import {Lane} from "./lanes.js";
import {summary} from "./content.js";

const nextWords = {
    staleDate: "stale", startDate: "starts", activeLimit: "ends", dismissalPolicy: "dismissed",
        heartbeat: "heartbeat due",
};

export class Row {
    constructor() {
        const cell = (name, ...children) => h("div", {class: `cell ${name}`, role: "gridcell"}, ...children);
        this.word = h("span", {class: "word"});
        this.key = h("b", {});
        this.from = h("small", {});
        this.device = cell("device");
        this.content = cell("says");
        this.lane = new Lane();
        this.when = h("b", {});
        this.what = h("small", {});
        this.revision = cell("revision");
        this.element = h("div", {class: "row", role: "row", tabindex: "-1"},
            cell("state", h("span", {class: "dot"}), this.word),
            cell("name", this.key, this.from),
            this.device,
            this.content,
            cell("lane-cell", this.lane.element),
            cell("next", this.when, this.what),
            this.revision);
        this.seen = null;
    }

    // `isAnew`: whether the lane is to be drawn though nothing has changed of the activity.
    update(activity, changes, axis, now, isAnew) {
        if (activity === this.seen && changes === this.changes && changes?.length === this.length && !isAnew) return;
        this.seen = activity;
        this.changes = changes;
        this.length = changes?.length;
        this.element.dataset.id = activity.id;
        this.element.dataset.state = activity.state;
        setText(this.word, activity.state);
        setText(this.key, activity.key ?? activity.id.slice(-12));
        setText(this.from, typeAndApp(activity.type, activity.app));
        setAttribute(this.from, "title", activity.app);
        setText(this.device, activity.device ?? "–");
        setText(this.revision, activity.revision);
        this.lane.update(activity, changes, axis, now);
        this.tick(activity, now);
    }

    tick(activity, now) {
        // Dates in it count down.
        const says = summary(activity.contentState, now);
        setText(this.content, says);
        setAttribute(this.content, "title", says);
        const next = activity.next;
        if (next === undefined) {
            setText(this.when, "–");
            setText(this.what, activity.state === "dismissed" ? words(activity.cause) : "");
            return;
        }
        setText(this.when, next.at <= now ? "due" : span(next.at - now));
        setText(this.what, nextWords[next.cause] ?? words(next.cause));
        setAttribute(this.when, "title", exact(next.at));
    }

    // A short glow, so that the eye finds what has just changed.
    flash() {
        this.element.animate([{backgroundColor: "var(--glow)", offset: 0}], {duration: 1_200, easing: "ease-out"});
    }
}

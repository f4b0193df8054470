// How an activity looks on a device: Lock Screen, and the Dynamic Island in its three sizes. Drawn from the content
// alone,
// as the board knows no app; an app's own views will differ, what they have to show does not.

import {h} from "./dom.js";
import {appName, relative} from "./format.js";
import {essence, hueOf, memberText, readContent} from "./content.js";
import {icon} from "./icons.js";

const metricsOnLockScreen = 4;
const metricsInIsland = 3;

// The whole stage; made anew for each change.
export function previews(activity, now) {
    const content = readContent(activity.contentState ?? {}, activity.attributes);
    const look = {activity, content, now, hue: hueOf(activity.app + activity.type)};
    const stage = h("div", {class: "stage", "data-state": activity.state},
        h("figure", {class: "device island-device"}, h("div", {class: "sensor-row"}, compact(look)),
            h("figcaption", {}, "Compact")),
        h("figure", {class: "device minimal-device"}, h("div", {class: "sensor-row"}, minimal(look)),
            h("figcaption", {}, "Minimal")),
        h("figure", {class: "device expanded-device"}, expanded(look), h("figcaption", {}, "Expanded")),
        h("figure", {class: "device lock-device"}, lockScreen(look), h("figcaption", {}, "Lock Screen")));
    stage.style.setProperty("--hue", look.hue);
    return stage;
}

function glyph(look, size = "") {
    return icon(`glyph ${size}`, look.activity.app, look.activity.type);
}

function compact(look) {
    const main = essence(look.content);
    return h("div", {class: "island compact", role: "img",
        "aria-label": `Compact: ${main === null ? look.activity.type : memberText(main, look.now)}`},
        glyph(look, "tiny"),
        h("span", {class: "sensor"}),
        h("span", {class: "trailing"}, look.content.progress === null
            ? (main === null ? "" : shortText(main, look.now)) : ring(look.content.progress)));
}

function minimal(look) {
    const main = essence(look.content);
    const inside = look.content.progress !== null ? ring(look.content.progress)
        : main !== null && main.kind === "number" && main.text.length <= 4 ? h("span", {class: "trailing"}, main.text)
            : glyph(look, "tiny");
    return h("div", {class: "minimal-pair", role: "img", "aria-label": "Minimal, beside another activity"},
        h("div", {class: "island rest"}, h("span", {class: "sensor"})),
        h("div", {class: "island minimal"}, inside));
}

function expanded(look) {
    const {content, activity, now} = look;
    const main = essence(content);
    const rest = content.members.filter((member) => member !== main).slice(0, metricsInIsland);
    return h("div", {class: "island expanded", role: "img",
        "aria-label": `Expanded: ${content.headline?.text ?? activity.type}`},
        h("div", {class: "leading"}, glyph(look), h("div", {},
            h("small", {}, appName(activity.app)), h("strong", {}, content.headline?.text ?? activity.type))),
        main === null || main === content.headline ? null
            : h("div", {class: "trailing"}, h("strong", {}, memberText(main, now)), h("small", {}, main.name)),
        h("div", {class: "bottom"},
            content.subtitle === null ? null : h("p", {}, content.subtitle.text),
            bar(content.progress),
            metrics(rest, now)));
}

function lockScreen(look) {
    const {content, activity, now} = look;
    const main = essence(content);
    const rest = content.members.filter((member) => member !== main).slice(0, metricsOnLockScreen);
    const alert = activity.$alert;
    return h("div", {class: "lock", role: "img",
        "aria-label": `Lock Screen: ${content.headline?.text ?? activity.type}`},
        h("header", {}, glyph(look, "small"), h("span", {}, appName(activity.app)),
            h("time", {}, freshness(activity, now))),
        h("div", {class: "lock-main"},
            h("div", {},
                h("strong", {}, content.headline?.text ?? activity.type),
                content.subtitle === null ? null : h("p", {}, content.subtitle.text)),
            main === null || main === content.headline ? null
                : h("div", {class: "big"}, h("strong", {}, memberText(main, now)), h("small", {}, main.name))),
        bar(content.progress),
        metrics(rest, now),
        alert === undefined ? null : h("div", {class: "alert"}, h("b", {}, textOf(alert.title)), " ",
            textOf(alert.body)),
        activity.state === "stale" ? h("div", {class: "stale-note"}, "Out of date") : null,
        activity.state === "ended" ? h("div", {class: "stale-note"}, "Ended") : null);
}

// An alert's texts may be localized: then they are objects, whose key says most.
function textOf(value) {
    if (value === undefined || value === null) return "";
    return typeof value === "object" ? String(value["loc-key"] ?? value.key ?? "") : String(value);
}

function freshness(activity, now) {
    if (activity.state === "pending"
        && activity.startDate !== undefined) return `starts ${relative(activity.startDate, now)}`;
    return relative(Math.min(activity.timestamp, now), now);
}

function shortText(member, now) {
    const text = memberText(member, now).replace(/^in /, "");
    return text.length > 9 ? `${text.slice(0, 8)}…` : text;
}

function metrics(members, now) {
    if (members.length === 0) return null;
    return h("dl", {class: "metrics"}, members.map(
        (member) => h("div", {}, h("dt", {}, member.name), h("dd", {}, memberText(member, now)))));
}

function bar(progress) {
    if (progress === null) return null;
    const fill = h("i", {});
    fill.style.width = `${Math.min(Math.max(progress, 0), 1) * 100}%`;
    return h("div", {class: "progress", role: "progressbar", "aria-valuenow": Math.round(progress * 100),
        "aria-valuemin": 0, "aria-valuemax": 100}, fill);
}

function ring(progress) {
    const element = h("span", {class: "ring", "aria-hidden": "true"});
    element.style.setProperty("--part", `${Math.min(Math.max(progress, 0), 1) * 360}deg`);
    return element;
}

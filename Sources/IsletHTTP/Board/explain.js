// Why it is as it is: the decisions in order, each with its rule, its cause and who asked. Used for all three families.

import {h} from "./dom.js";
import {clockSeconds, day, exact, relative, words} from "./format.js";
import {deadlines} from "./lanes.js";

const shownFirst = 30;

// A numbered list, oldest first; of a long one the newest part, with a button for the others.
export function decisionList(decisions, all, showAll) {
    const skipped = all ? 0 : Math.max(decisions.length - shownFirst, 0);
    let lastDay = "";
    const items = decisions.slice(skipped).map((decision) => {
        const dayText = day(decision.at);
        const isNewDay = dayText !== lastDay;
        lastDay = dayText;
        return h("li", {class: `decision ${decision.outcome} ${decision.to ?? ""}`},
            h("div", {class: "when"}, h("time", {title: exact(decision.at)}, clockSeconds(decision.at)), isNewDay
                ? h("small", {}, dayText) : null),
            h("div", {class: "what"},
                h("p", {}, sentence(decision.text)),
                h("p", {class: "why"},
                    decision.from !== undefined && decision.from !== decision.to
                        ? h("span", {class: "step"}, `${decision.from} → ${decision.to}`) : null,
                    decision.outcome === "applied" ? null
                        : h("span", {class: "step bad"}, `${decision.outcome}: ${words(decision.reason ?? "")}`),
                    decision.failureReason === undefined ? null : h("span", {class: "step bad"}, decision.failureReason),
                    decision.cause === undefined ? null : h("span", {}, `cause: ${words(decision.cause)}`),
                    decision.by?.req === undefined ? null
                        : h("span", {title: decision.by.client ?? ""}, `asked by ${decision.by.req}`),
                    h("span", {class: "rule", title: decision.rule}, origin(decision.rule)),
                    decision.revision === undefined ? null : h("span", {class: "rule"}, `rev ${decision.revision}`))));
    });
    const list = h("ol", {class: "decisions", start: skipped + 1}, items);
    list.style.counterReset = `decision ${skipped}`;
    return [skipped > 0 ? h("button", {type: "button", class: "quiet wide", onclick: showAll},
        `Show the ${skipped} before`) : null, list];
}

// Who made the rule: the sentence says what it is, and `islet rules` where it comes from.
function origin(rule) {
    return rule.startsWith("apple-semantics") ? "Apple's rule" : rule;
}

function sentence(text) {
    const trimmed = text.trim();
    const first = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
    return /[.!?]$/.test(first) ? first : `${first}.`;
}

// What happens next, if nobody does anything.
export function nextSteps(entity, family, now) {
    const found = family === "activity" ? deadlines(entity) : entity.next === undefined ? []
        : [{at: entity.next.at, name: words(entity.next.cause), state: ""}];
    if (found.length === 0) return h("p", {class: "none"}, entity.state === "dismissed"
        ? "Nothing more: it is dismissed." : "Nothing by itself.");
    return h("ul", {class: "ahead"}, found.map((each) => h("li", {},
        h("i", {class: `dot ${each.state}`}), h("b", {}, each.name),
            ` ${each.at <= now ? "due" : relative(each.at, now)}`, h("time", {}, exact(each.at)))));
}

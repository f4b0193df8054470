// What an operator may do to an activity where the board may write; the irreversible is asked about first.

import {h, byId, setText} from "./dom.js";
import {ask} from "./api.js";
import {toast} from "./toast.js";
import {words} from "./format.js";

export function activityActions(activity) {
    const actions = [];
    const name = activity.key ?? activity.id;
    const button = (title, kind, question, op, fields) => actions.push(h("button", {
        type: "button", class: `action ${kind}`,
        onclick: async () => {
            if (await sure(question, title)) change(op, {app: activity.app, id: activity.id, ...fields});
        },
    }, title));
    if (["pending", "active", "stale"].includes(activity.state)) {
        button("End", "", `End ${name}? It stays on the Lock Screen for a while, as its policy says.`, "activity.end",
            {});
    }
    if (activity.state !== "dismissed") {
        button("Dismiss", "danger", `Dismiss ${name}? It leaves every device at once.`, "activity.dismiss",
            {by: "system"});
    }
    return actions;
}

// What these say comes of the way to the service, on which a command may have been sent.
const uncertain = ["unreachable", "badAnswer", "outcomeUnknown"];

// Sends a change; says what became of it where that is not what was wanted.
export async function change(op, fields) {
    try {
        const answer = await ask(op, fields);
        if (answer.outcome === "ignored") toast(`Ignored: ${words(answer.reason ?? "nothing to do")}`, "warn");
        return answer;
    } catch (error) {
        toast(error.code === "unauthorized" ? "This board is read-only: start the service with --board-write."
            : uncertain.includes(error.code) ? `Not known whether it was done: ${error.message}`
                : `Refused: ${error.message}`, "bad");
        return null;
    }
}

// `title`: what is done where the person says so.
function sure(question, title) {
    const dialog = byId("sure");
    setText(byId("sure-yes"), title);
    setText(byId("sure-text"), question);
    dialog.showModal();
    return new Promise((resolve) => {
        const listeners = new AbortController();
        const decide = (is) => {
            listeners.abort();
            resolve(is);
        };
        // Not "close": that event may come late, when the next question is already asked.
        dialog.addEventListener("submit", (submit) => decide(submit.submitter?.value === "yes"),
            {signal: listeners.signal});
        dialog.addEventListener("cancel", () => decide(false), {signal: listeners.signal});
    });
}

// Commands of the contract over HTTP: the same objects, the same answers, the same errors.

import {parse, stringify} from "./json.js";

const maximumInFlight = 6; // a browser opens no more connections to one origin, and the stream needs one of them
let inFlight = 0;
const waiting = [];

export class CommandError extends Error {
    constructor(code, message, retry) {
        super(message);
        this.code = code;
        this.retry = retry ?? "later";
    }
}

// The answer to one command; throws a CommandError where it is refused or does not come.
export function ask(op, fields = {}) {
    return send("api/commands", {op, ...fields});
}

// What the service reads in a filter; throws a CommandError that says what is wrong with it.
export function readFilterText(text) {
    return send("api/filter", {text});
}

async function send(path, body) {
    await turn();
    try {
        return await post(path, body);
    } finally {
        inFlight -= 1;
        waiting.shift()?.();
    }
}

async function turn() {
    if (inFlight >= maximumInFlight - 1) await new Promise((resume) => waiting.push(resume));
    inFlight += 1;
}

async function post(path, body) {
    let response;
    try {
        response = await fetch(path, {
            method: "POST",
            headers: {"Content-Type": "application/json"},
            body: stringify(body),
        });
    } catch {
        throw new CommandError("unreachable", "the service cannot be reached");
    }
    let answer;
    try {
        answer = parse(await response.text());
    } catch {
        throw new CommandError("badAnswer", `the service answered ${response.status} without a reason`);
    }
    if (answer.ok) return answer;
    const error = answer.error ?? {};
    throw new CommandError(error.code ?? "failed", error.message ?? `the service answered ${response.status}`,
        error.retry);
}

export async function session() {
    const response = await fetch("api/session");
    if (!response.ok) throw new CommandError("unreachable", `the service answered ${response.status}`);
    return response.json();
}

// The stream of events, kept alive: one that breaks is opened again, later each time, until there is a hello.

import {parse} from "./json.js";

const firstDelay = 500;
const longestDelay = 10_000;
// A page that nobody sees for so long gives its stream up: a browser has six connections for all pages of one origin,
// and pages that keep one each leave none for what the others ask.
const restAfter = 20_000;

// `handlers`: hello(data), event(topic, event), lost(), state(name, milliseconds), whose names are
// "connecting", "live", "waiting" and "resting". Gives a function that opens the stream anew.
export function openStream(handlers) {
    let source = null;
    let delay = firstDelay;
    let timer = null;

    function open() {
        clearTimeout(timer);
        timer = null;
        handlers.state("connecting");
        source = new EventSource("api/events");
        source.addEventListener("hello", (message) => {
            delay = firstDelay;
            handlers.state("live");
            handlers.hello(parse(message.data));
        });
        source.addEventListener("lost", () => handlers.lost());
        source.addEventListener("message", (message) => {
            let parsed;
            try {
                parsed = parse(message.data);
            } catch {
                return handlers.lost();
            }
            if (typeof parsed.topic === "string" && parsed.event) handlers.event(parsed.topic, parsed.event);
        });
        source.addEventListener("error", retry);
    }

    function retry() {
        source?.close();
        source = null;
        if (timer !== null) return;
        const wait = delay * (0.75 + Math.random() / 2); // many boards do not come back in the same moment
        delay = Math.min(delay * 2, longestDelay);
        handlers.state("waiting", wait);
        timer = setTimeout(open, wait);
    }

    let resting = null;

    function rest() {
        clearTimeout(timer);
        timer = null;
        source?.close();
        source = null;
        handlers.state("resting");
    }

    // A person who comes back to the page, or to the network, does not wait for the longest delay.
    function hurry() {
        if (source !== null || document.hidden) return;
        delay = firstDelay;
        open();
    }

    function look() {
        clearTimeout(resting);
        if (document.hidden) resting = setTimeout(rest, restAfter);
        else hurry();
    }

    open();
    look();
    document.addEventListener("visibilitychange", look);
    addEventListener("online", hurry);

    return () => {
        source?.close();
        open();
    };
}

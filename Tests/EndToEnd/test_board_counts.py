"""The board's numbers agree: what several places of one screen tell comes from one place, and is never of the past."""

import json

import pytest

from support.dates import HOUR, after
from support.webpage import board_words

# While `window.holdsFigures`, the service's answers to `service.stats` wait in `window.held` until they are let go.
HELD = """(() => {
    window.held = [];
    const real = window.fetch;
    window.fetch = async (path, init) => {
        const isHeld = window.holdsFigures && init?.body !== undefined && JSON.parse(init.body).op === "service.stats";
        const response = await real(path, init);
        if (isHeld) await new Promise((letGo) => window.held.push(letGo));
        return response;
    };
})()"""
LET_GO = "window.holdsFigures = false; window.held.splice(0).forEach((letGo) => letGo())"


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


def start(client, key, **fields):
    fields = {"type": "Order", "attributes": {}, "contentState": {}, **fields}
    return client.applied("activity.start", key=key, **fields)["activity"]["id"]


def counts(page, wanted):
    """Waits until figure, tab and chips all say how many activities are in each state."""
    listed = sum(wanted.values())
    page.until(f"""(() => {{
        const wanted = {json.dumps(wanted)};
        const text = (selector) => document.querySelector(selector)?.textContent;
        return text("#activities-value") === "{listed}" && text("#count-activities") === "{listed}"
            && text("#chips .chip:first-child b") === "{listed}"
            && Object.entries(wanted).every(([state, number]) => text(`#states-legend .${{state}} b`) === `${{number}}`
                && text(`#chips .${{state}} b`) === `${{number}}`);
    }})()""", f"figure, tab and chips to say {wanted}")


def test_figure_tab_and_chips_say_the_same_before_the_figures_come(pages, service, client):
    start(client, "order-0")
    page = pages(service, width=1600, script=HELD)
    counts(page, {"pending": 0, "active": 1, "stale": 0, "ended": 0})
    page.js("window.holdsFigures = true")
    page.until("window.held.length > 0", "figures to be on their way")
    for number in range(1, 4):
        start(client, f"order-{number}")
    counts(page, {"pending": 0, "active": 4, "stale": 0, "ended": 0})
    client.applied("activity.end", key="order-1")
    counts(page, {"pending": 0, "active": 3, "stale": 0, "ended": 1})
    client.applied("activity.dismiss", key="order-2")
    counts(page, {"pending": 0, "active": 2, "stale": 0, "ended": 1})
    page.js(LET_GO)
    counts(page, {"pending": 0, "active": 2, "stale": 0, "ended": 1})


def test_where_not_all_are_held_the_service_counts_them(pages, service, client):
    page = pages(service, width=1600)
    page.js("import('./store.js').then(({heldLimit}) => { heldLimit.activity = 2; })")
    for number in range(5):
        start(client, f"order-{number}")
    client.applied("activity.end", key="order-0")
    counts(page, {"pending": 0, "active": 4, "stale": 0, "ended": 1})
    page.reads("#showing", "no more than 2")


def test_the_dismissed_are_counted_as_they_are_shown(pages, service, client):
    start(client, "order-0")
    start(client, "order-1")
    page = pages(service, width=1600, script=HELD)
    page.click(".chip.dismissed")
    page.reads("#showing", "0 shown")
    page.js("window.holdsFigures = true")
    page.until("window.held.length > 0", "figures to be on their way")
    client.applied("activity.dismiss", key="order-0")
    page.reads("#showing", "1 shown")
    page.until("document.querySelector('#chips .dismissed b').textContent === '1'", "the chip to say so")


def test_what_is_next_is_ahead(pages, service, client):
    start(client, "order-1", staleDate=after(HOUR))
    later = start(client, "order-2", staleDate=after(4 * HOUR))
    page = pages(service, width=1600, script=HELD)
    page.reads("#timers-note", "next in 1 h")
    page.js("window.holdsFigures = true")
    page.until("window.held.length > 0", "figures to be on their way")
    client.read("clock.advance", by=2 * HOUR)
    page.row(later, "document.querySelector('#clock').innerText.includes('01:00:00')")  # as the event has told
    page.reads("#timers-note", "next in 3 h")
    page.js(LET_GO)
    page.reads("#timers-note", "next in 2 h")


def test_nothing_is_next_where_nobody_knows_of_it(pages, service, client):
    only = start(client, "order-1", staleDate=after(HOUR))
    page = pages(service, width=1600, script=HELD)
    page.reads("#timers-note", "next in 1 h")
    page.js("window.holdsFigures = true")
    page.until("window.held.length > 0", "figures to be on their way")
    client.applied("activity.dismiss", id=only)
    page.gone(f'.row[data-id="{only}"]')
    client.read("clock.advance", by=2 * HOUR)
    client.applied("activity.dismiss", id=start(client, "order-2"))
    page.reads("#clock", "02:00:00")
    page.until("document.querySelector('#timers-note').innerText === 'next –'", "nothing to be next")


def test_the_figures_are_asked_for_anew_when_what_was_next_has_passed(pages, service, client):
    start(client, "order-1", staleDate=after(HOUR))
    asked = HELD + ";" + """(() => {
        const real = window.setTimeout;
        // The board's own rhythm of figures stands still.
        window.setTimeout = (what, time, ...rest) => time === 2_000 ? 0 : real(what, time, ...rest);
    })()"""
    page = pages(service, width=1600, script=asked)
    page.reads("#timers-note", "next in 1 h")
    client.read("clock.advance", by=2 * HOUR)
    page.reads("#timers-note", "next in 6 h")

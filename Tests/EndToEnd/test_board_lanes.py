"""The lanes show what is there: from the earliest start to the last deadline; and what is in trouble stands on top."""

import json

import pytest

from support.dates import HOUR, MINUTE, after
from support.webpage import board_words


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


def start(client, key, **fields):
    fields = {"type": "Order", "attributes": {}, "contentState": {}, **fields}
    return client.applied("activity.start", key=key, **fields)["activity"]["id"]


def ticks(page, *wanted):
    page.until("""JSON.stringify([...document.querySelectorAll("#ticks span")].map((tick) => tick.innerText.replace(
        /\\s/g, " "))) === """ + json.dumps(json.dumps(wanted, separators=(",", ":"))), f"the ticks {wanted}", 10)


def keys(page, *wanted):
    page.until("JSON.stringify([...document.querySelectorAll('.row .name b')].map((each) => each.innerText)) === "
               + json.dumps(json.dumps(wanted, separators=(",", ":"))), f"the rows {wanted}", 10)


def choose(page, selector, name):
    page.js(f"""(() => {{ const choice = document.querySelector("{selector}");
        choice.selectedIndex = [...choice.options].findIndex(({{text}}) => text === "{name}");
        choice.dispatchEvent(new Event("change")); }})()""")


def in_sight(page, id):
    """Whether the whole lane up to the next deadline can be seen."""
    return page.js(f"""(() => {{
        const lane = document.querySelector('.row[data-id="{id}"] .lane').getBoundingClientRect();
        const [span, mark] = ["span.active", "mark.stale"].map((name) => document.querySelector(
            `.row[data-id="{id}"] .${{name}}`).getBoundingClientRect());
        return span.width > 0 && span.left >= lane.left - 1 && mark.width > 0 && mark.right <= lane.right + 1;
    }})()""")


def test_the_lanes_fit_what_is_shown(pages, service, client):
    start(client, "order-1", staleDate=after(20 * MINUTE))
    second = start(client, "order-2", staleDate=after(40 * MINUTE))
    client.read("clock.advance", by=MINUTE)
    page = pages(service, width=1600, still=True)
    page.row(second)
    ticks(page, "1 Jan", "00:10", "00:20", "00:30", "00:40")
    assert in_sight(page, second)
    third = start(client, "order-3", staleDate=after(6 * HOUR))
    ticks(page, "1 Jan", "02:00", "04:00", "06:00")
    assert in_sight(page, third)
    page.fill("#filter", "order-2")
    ticks(page, "1 Jan", "00:10", "00:20", "00:30", "00:40")
    choose(page, "#zoom", "12 hours")
    ticks(page, "20:00", "22:00", "1 Jan", "02:00", "04:00", "06:00")
    choose(page, "#zoom", "Fit")
    ticks(page, "1 Jan", "00:10", "00:20", "00:30", "00:40")


def test_the_lanes_show_ten_minutes_at_least_and_three_days_at_most(pages, service, client):
    page = pages(service, width=1600)
    ticks(page, "1 Jan", "00:02", "00:04", "00:06", "00:08")
    id = start(client, "order-1", staleDate=after(MINUTE))
    page.row(id)
    ticks(page, "1 Jan", "00:02", "00:04", "00:06", "00:08")
    page.row(start(client, "order-2", startDate=after(240 * HOUR), alert={"title": "Soon", "body": "Now"}))
    ticks(page, "1 Jan", "12:00", "2 Jan", "12:00", "3 Jan", "12:00")


def test_what_is_stale_stands_on_top_until_another_order_is_chosen(pages, service, client):
    for number in range(1, 4):
        start(client, f"order-{number}", **({"staleDate": after(HOUR)} if number == 1 else {}))
        client.read("clock.advance", by=MINUTE)
    page = pages(service, width=1600)
    keys(page, "order-3", "order-2", "order-1")
    client.read("clock.advance", by=HOUR)
    keys(page, "order-1", "order-3", "order-2")
    page.click("#direction")
    keys(page, "order-1", "order-2", "order-3")
    page.click("[data-sort=key] button")
    keys(page, "order-1", "order-2", "order-3")
    page.click("[data-sort=key] button")
    keys(page, "order-3", "order-2", "order-1")
    choose(page, "#sort", "Trouble first")
    keys(page, "order-1", "order-3", "order-2")

"""The lanes show what is there: from the earliest start to the last deadline; and what is in trouble stands on top."""

import json

import pytest

from support.commands import Commands
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


# What deadlines will bring


def ruled(serve, wire, tmp_path, *rules):
    """A service with these rules, and a client of it."""
    path = tmp_path / "islet.yaml"
    path.write_text("ruleSet:\n" + "".join(f"  {rule}\n" for rule in rules))
    service = serve(words=board_words("--board-write", config=path))
    return service, Commands(wire, service.commands)


def lane(page, id, *wanted):
    """Waits until these are the spans of a lane and its marks, as `state for 7 h 30 m` and `ends at 08:00`."""
    page.until(f"""(() => {{
        const plain = (text) => text.replaceAll("\\u202f", " ");
        const spans = [...document.querySelectorAll('.row[data-id="{id}"] .span')].map(({{title}}) =>
            plain(title).replace(/: .*UTC, /, " for "));
        const marks = [...document.querySelectorAll('.row[data-id="{id}"] .mark')].map(({{title, className}}) =>
            plain(title).replace(/: .*, (..:..).*/, " at $1") + ` (${{className.split(" ")[1]}})`);
        return JSON.stringify([...spans, ...marks]) === {json.dumps(json.dumps(wanted, separators=(",", ":")))};
    }})()""", f"the lane {wanted}; it is {page.js(SPANS.replace('ID', id))}", 10)


SPANS = """JSON.stringify([...document.querySelectorAll('.row[data-id="ID"] .lane i')].map(({title}) => title))"""


def ahead(page, id, *wanted):
    """What the panel says that happens next."""
    page.js(f"location.hash = `activities/activity/${{encodeURIComponent('com.example.delivery')}}/{id}`")
    page.until("JSON.stringify([...document.querySelectorAll('#ahead li b')].map(({innerText}) => innerText)) === "
               + json.dumps(json.dumps(wanted, separators=(",", ":"))), f"{wanted} ahead", 10)


def test_silence_that_ends_an_activity_is_told_as_its_end(pages, serve, wire, tmp_path):
    service, client = ruled(serve, wire, tmp_path, "heartbeatEndAfter: 10m")
    id = start(client, "order-1")
    client.read("clock.advance", by=2 * MINUTE)
    page = pages(service, width=1600, still=True)
    page.row(id)
    lane(page, id, "active for 10 m", "ended for 4 h", "heartbeat missing, ends at 00:10 (ended)")
    ahead(page, id, "heartbeat missing, ends")
    client.read("clock.advance", by=8 * MINUTE)
    assert client.read("activity.get", id=id)["activity"]["state"] == "ended"


def test_silence_makes_stale_what_it_ends_later(pages, serve, wire, tmp_path):
    service, client = ruled(serve, wire, tmp_path, "heartbeatStaleAfter: 1m", "heartbeatEndAfter: 10m")
    id = start(client, "order-1")
    page = pages(service, width=1600, still=True)
    page.row(id)
    lane(page, id, "active for 1 m", "stale for 9 m", "ended for 4 h",
         "heartbeat missing at 00:01 (stale)", "ends at 00:10 (ended)")
    ahead(page, id, "heartbeat missing", "ends")
    client.read("clock.advance", by=2 * MINUTE)
    lane(page, id, "active for 1 m", "stale for 9 m", "ended for 4 h", "heartbeat missing, ends at 00:10 (ended)")
    ahead(page, id, "heartbeat missing, ends")


def test_what_ends_before_its_stale_date_is_never_said_to_go_stale(pages, service, client):
    id = start(client, "order-1", staleDate=after(12 * HOUR))
    planned = start(client, "order-2", startDate=after(HOUR), staleDate=after(10 * HOUR),
                    alert={"title": "Soon", "body": "Now"})
    page = pages(service, width=1600, still=True)
    page.row(id)
    lane(page, id, "active for 8 h", "ended for 4 h", "ends at 08:00 (ended)")
    ahead(page, id, "ends")
    lane(page, planned, "pending for 1 h", "active for 8 h", "starts at 01:00 (active)")


def test_lanes_keep_the_limits_that_the_service_tells_late(pages, serve, wire, tmp_path):
    service, client = ruled(serve, wire, tmp_path, "activeLimit: 2h", "dismissalLimit: 10m")
    id = start(client, "order-1")
    page = pages(service, width=1600, still=True, script="""(() => {
        const real = window.fetch;
        window.fetch = async (path, init) => {
            const response = await real(path, init);
            const isInfo = init?.body !== undefined && JSON.parse(init.body).op === "service.info";
            if (isInfo) await new Promise((letGo) => { window.letGo = letGo; });
            return response;
        };
    })()""")
    page.row(id)
    lane(page, id, "active for 2 h", "ended for 4 h", "ends at 02:00 (ended)")
    page.until("window.letGo !== undefined")
    page.js("window.letGo()")
    lane(page, id, "active for 2 h", "ended for 10 m", "ends at 02:00 (ended)")

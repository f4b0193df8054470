"""The board says what the command says: one grammar of filters, nothing that has gone, no address that breaks it."""

import json
import uuid

import pytest

from support.cli import Islet
from support.dates import HOUR, MINUTE, after
from support.webpage import board_words


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


@pytest.fixture
def page(pages, service):
    page = pages(service, width=1600)
    # What a wrong filter, or one that has gone, brings is an answer that the browser counts as an error of the page.
    page.expected = ("status of 400",)
    return page


def start(client, key, **fields):
    fields = {"type": "Order", "attributes": {}, "contentState": {}, **fields}
    return client.applied("activity.start", key=key, **fields)["activity"]["id"]


FILTERS = [
    "state=stale", "state~STA*", "key~order-*", "key~o*r*-1", "Key=order-1",
    "type=Ride or state=stale and device!~phone", "(type=Ride or state=stale) and device!=phone-1", "revision<1s",
    "staleDate<1min", "not staleDate<2h", "startedAt<2026-06-01", "not startedAt<2025-06-01",
    "startedAt>=2026-01-01T00:00:00.000Z", "next<10m", "next.cause=staleDate", "contentState.eta<9",
    "not contentState.eta<9", "contentState.eta<soon", "not contentState.eta<soon", "contentState.ready=on",
    "not contentState.ready<x", "contentState.readyAt<10m", "not contentState.readyAt<whenever",
    "contentState.eta.inner=1", "contentState.constructor!=1", "contentState~door",
    "contentState.note='at the \"door\"'", 'contentState.note="at the \\"door\\""', "relevanceScore=7.5e-1",
    "contentState.big=9007199254740993", "contentState.big<9007199254740993", "contentState.big>=-9007199254740993",
]


def test_every_filter_selects_the_same_as_in_the_command(page, service, client):
    start(client, "order-1", device="phone-1",
          contentState={"eta": 5, "ready": True, "note": 'at the "door"', "big": 2**53})
    start(client, "order-2", staleDate=after(HOUR),
          contentState={"eta": "late", "ready": False, "big": 2**53 + 1}, relevanceScore=0.75)
    start(client, "ride-1", type="Ride", staleDate=after(90 * MINUTE), attributes={"n": 1},
          contentState={"eta": {"inner": 1}, "readyAt": after(5 * MINUTE), "big": -(2**53) - 1})
    last = start(client, "order-3", contentState={"eta": 9.0, "readyAt": "whenever"})
    client.applied("activity.update", key="order-3", contentState={"eta": 9.0, "readyAt": "whenever"}, relevanceScore=1)
    client.read("clock.advance", by=HOUR)
    page.row(last)
    islet = Islet(service, client.app)
    for filter in FILTERS:
        expected = islet("activity", "list", "--filter", filter, "-o", "json").json
        page.js(f"""(() => {{ const field = document.querySelector('#filter'); field.value = {json.dumps(filter)};
            field.dispatchEvent(new Event('input')); }})()""")
        wanted = sorted(row["key"] for row in expected)
        page.until(
            "JSON.stringify([...document.querySelectorAll('.row .name b')].map((each) => each.innerText).sort()) === "
            + json.dumps(json.dumps(wanted, separators=(",", ":"))), f"{filter}: {wanted}")
        assert page.text("#filter-error") == "", filter


WRONG = ["startedAt<2026-02-31", "not startedAt<june", "state=stael", "colour=red", "not colour", "next.when<1m",
         "revision>many", "state~stael", "(key", "key=a=b", "next<10q"]


def test_what_is_wrong_for_the_command_is_wrong_for_the_board(page, service, client):
    id = start(client, "order-1")
    page.row(id)
    islet = Islet(service, client.app)
    for filter in WRONG:
        said = islet("activity", "list", "--filter", filter if filter != "not colour" else "not colour=1", code=2).err
        sentence = said.partition("--filter: ")[2].splitlines()[0].partition(", at character")[0]
        page.fill("#filter", filter if filter != "not colour" else "not colour=1")
        page.reads("#filter-error", sentence[1:])
        assert page.keys() == ["order-1"], "the last filter that could be read holds"


def test_brackets_without_end_are_told_and_the_page_lives(page, client):
    id = start(client, "order-1")
    page.js("""(() => { const field = document.querySelector('#filter'); field.value = '('.repeat(20_000);
        field.dispatchEvent(new Event('input')); })()""")
    page.reads("#filter-error", "more than")
    page.row(id)


@pytest.mark.parametrize("fragment", ["%", "activities/%zz", "activities/activity/com.example/%E0%A4%A", "%/%/%/%"])
def test_an_address_that_is_none_leads_to_the_activities(pages, service, client, fragment):
    id = start(client, "order-1")
    page = pages(service, fragment)
    page.row(id)
    assert page.js("document.body.dataset.view") == "activities"
    assert page.js("document.body.dataset.detail") == "closed"


def test_the_detail_of_what_has_gone_says_so_and_offers_nothing(pages, service, client, home):
    torch = home.shown(home.provider())
    page = pages(service, f"controls/control/{home.app}/{torch}", width=1600)
    page.until("document.querySelectorAll('#detail-actions button').length > 0", "the actions of a control")
    home.client.applied("control.remove", id=torch)
    page.reads("#detail-error", "It is gone")
    assert page.js("document.querySelectorAll('#detail-actions button').length") == 0
    assert page.js("document.querySelector('#detail-body').hidden")
    assert page.text("#detail-state") == "gone"


# Answers to the operation `window.heldOp` wait in `window.held` until they are let go; events of what is started with
# "lose me" never come.
LATE = """(() => {
    window.held = [];
    const real = window.fetch;
    window.fetch = async (path, init) => {
        const isHeld = init?.body !== undefined && JSON.parse(init.body).op === window.heldOp;
        const response = await real(path, init);
        if (isHeld) await new Promise((letGo) => window.held.push(letGo));
        return response;
    };
    window.EventSource = class extends EventSource {
        constructor(...given) {
            super(...given);
            window.source = this;
        }
        addEventListener(name, listener) {
            const passes = (message) => !(name === "message" && message.data.includes("lose me"));
            super.addEventListener(name, (message) => passes(message) && listener(message));
        }
    };
})()"""


def test_what_went_while_its_reasons_were_on_the_way_is_gone(pages, service, home):
    torch = home.shown(home.provider())
    page = pages(service, "controls", width=1600, script=LATE)
    page.js(f"window.heldOp = 'control.explain'; location.hash = 'controls/control/{home.app}/{torch}'")
    page.until("window.held.length === 1 && document.querySelectorAll('#detail-actions button').length > 0")
    home.client.applied("control.remove", id=torch)
    page.gone(f'#tiles .tile[data-id="{torch}"]')
    page.until("window.held.length === 2", "the question whether it is gone")
    page.js("window.heldOp = null; window.held[1]()")
    page.reads("#detail-error", "It is gone")
    page.js("window.held[0]()")
    page.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")
    assert "It is gone" in page.text("#detail-error") and page.text("#detail-state") == "gone"
    page.gone(f'#tiles .tile[data-id="{torch}"]')


def test_what_was_dismissed_while_its_list_was_on_the_way_is_no_ghost(pages, service, client):
    kept = start(client, "order-1")
    page = pages(service, script=LATE, width=1600)
    page.row(kept)
    gone = start(client, "order-2", contentState={"note": "lose me"})
    page.js("window.heldOp = 'activity.list'; window.source.dispatchEvent(new MessageEvent('lost', {data: ''}))")
    page.until("window.held.length === 1", "the list on its way")
    client.applied("activity.dismiss", id=gone)
    client.applied("activity.update", id=kept, contentState={"eta": 7})
    page.row(kept, "text.includes('7')")
    page.js("window.heldOp = null; window.held[0]()")
    page.live()
    assert page.keys() == ["order-1"]


def test_what_begins_under_an_id_that_was_used_before_is_shown(pages, service, client):
    id = start(client, "old", id=str(uuid.uuid4()), contentState={"first": 1})
    page = pages(service, width=1600)
    page.row(id)
    client.applied("activity.update", id=id, contentState={"first": 2})
    client.applied("activity.end", id=id, dismissalPolicy="immediate")
    page.gone(f'.row[data-id="{id}"]')
    client.read("clock.advance", by=50 * HOUR)
    start(client, "new", id=id, contentState={"second": 1})
    page.row(id, "text.includes('new')")
    client.applied("activity.update", id=id, contentState={"second": 2})
    page.row(id, "text.includes('active') && text.includes('2')")
    assert page.keys() == ["new"]


def test_what_began_anew_while_nobody_listened_is_shown(pages, service, client):
    id = start(client, "order-1", id=str(uuid.uuid4()))
    page = pages(service, script=LATE, width=1600)
    page.row(id)
    for n in range(3):
        client.applied("activity.update", id=id, contentState={"n": n})
    page.row(id, "text.includes('4')")
    page.js("window.source.close()")
    client.applied("activity.end", id=id, dismissalPolicy="immediate")
    client.read("clock.advance", by=50 * HOUR)
    start(client, "order-2", id=id)
    page.js("window.source.dispatchEvent(new MessageEvent('lost', {data: ''}))")
    page.row(id, "text.includes('order-2')")


@pytest.mark.parametrize("tint", ["constructor", "__proto__", "toString"])
def test_a_tint_is_a_colour_or_none(pages, service, client, home, tint):
    torch = home.shown(home.provider(), look={"status": "on", "tint": tint})
    page = pages(service, "controls", width=1600)
    page.until(f"""document.querySelector('.tile[data-id="{torch}"]') !== null""")
    style = page.js(f"""document.querySelector('.tile[data-id="{torch}"]').getAttribute('style')""")
    assert "--tint: var(--tile-on)" in style and "function" not in style and "object" not in style


def test_a_large_integer_is_shown_as_it_was_sent(page, service, client):
    big = 2**64 - 1
    id = start(client, "order-1", contentState={"big": big, "deep": [{"low": -big}]})
    page.row(id)
    page.click(f'.row[data-id="{id}"]')
    page.until(f"document.querySelector('#payloads').innerText.includes('{big}')", "the large integer")
    assert f'"low": -{big}' in page.text("#payloads") and str(float(big)) not in page.text("#payloads")

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
def test_an_address_that_is_none_leads_to_a_view(pages, service, client, fragment):
    id = start(client, "order-1")
    page = pages(service, fragment)
    view = "activities" if fragment.startswith("activities") else "problems"
    if view == "activities":
        page.row(id)
    else:
        page.reads("#problems-empty", "Nothing fails")
    assert page.js("document.body.dataset.view") == view
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


# What came while nobody listened


def miss(page, what):
    """Lets something happen of which no event comes to the page, and the page hear that it has missed some."""
    page.js("window.source.close()")
    what()
    page.js("window.source.dispatchEvent(new MessageEvent('lost', {data: ''}))")


def lane(page, id, *states):
    """Waits until the lane of a row shows these states and no other, as far as they have come."""
    page.until(f"""(() => {{
        const row = document.querySelector('.row[data-id="{id}"]');
        const spans = [...row.querySelectorAll('.span')].map((each) => each.title.split(":")[0]);
        return row.dataset.state === "{states[-1]}" && JSON.stringify(spans.slice(0, {len(states)}))
            === '{json.dumps(states, separators=(",", ":"))}';
    }})()""", f"{states} in the lane of {id}")


def test_states_that_were_missed_are_in_the_lane(pages, service, client):
    stale, ended = start(client, "order-1", staleDate=after(10 * MINUTE)), start(client, "order-2")
    page = pages(service, script=LATE, width=1600)
    lane(page, stale, "active")
    lane(page, ended, "active")

    def pass_by():
        client.read("clock.advance", by=11 * MINUTE)
        client.applied("activity.update", id=stale, contentState={"n": 1}, staleDate=after(30 * MINUTE))
        client.read("clock.advance", by=30 * MINUTE)
        client.applied("activity.end", id=ended)

    miss(page, pass_by)
    lane(page, stale, "active", "stale", "active", "stale")
    lane(page, ended, "active", "ended")


def test_a_lane_begins_with_its_activity_where_the_history_does_not(pages, service, client):
    """A history has the last 1,000 events."""
    id = start(client, "order-1")
    client.read("clock.advance", by=2 * HOUR)
    for _ in range(11):
        client.batch(*[client.command("activity.update", id=id, contentState={"n": n}) for n in range(100)])
    assert client.read("activity.history", id=id)["complete"] is False
    began = client.read("activity.get", id=id)["activity"]["startedAt"]
    page = pages(service, width=1600)
    page.js("import('./store.js').then(({store}) => { window.store = store; })")
    page.until(f"window.store?.changes.get('{id}')?.[0].at === {began}", "the beginning of the lane")
    assert page.js(f"window.store.changes.get('{id}').length") == 1
    page.click(f'.row[data-id="{id}"]')
    page.reads("#explain", "What came before is not kept any more.")
    page.until(f"window.store.changes.get('{id}')[0].at === {began}", "the beginning in the panel")


def test_the_lane_of_an_activity_that_was_read_for_a_gap_has_what_was_missed(pages, service, client):
    id = start(client, "order-1", staleDate=after(10 * MINUTE))
    page = pages(service, script=LATE, width=1600)
    lane(page, id, "active")
    client.applied("activity.update", id=id, contentState={"note": "lose me"}, staleDate=after(10 * MINUTE))
    client.read("clock.advance", by=11 * MINUTE)
    client.applied("activity.update", id=id, contentState={"n": 2})
    client.applied("activity.end", id=id)
    lane(page, id, "active", "stale", "active", "ended")


def old_one(pages, service, client):
    """The id of an activity with some updates, and a page that shows it."""
    id = start(client, "old", id=str(uuid.uuid4()))
    for n in range(4):
        client.applied("activity.update", id=id, contentState={"n": n})
    page = pages(service, script=LATE, width=1600)
    page.row(id, "text.includes('old')")
    return id, page


def scheduled_again(client, id):
    """It ends, and once it is forgotten another one is scheduled under its id."""
    client.applied("activity.end", id=id, dismissalPolicy="immediate")
    now = client.read("clock.advance", by=50 * HOUR)["now"]
    start(client, "new", id=id, startDate=now + HOUR, alert={"title": "t", "body": "b"})


def test_what_was_scheduled_under_an_id_of_before_while_nobody_listened_is_shown(pages, service, client):
    """Its revisions are lower, and it has not begun, so that no date tells the two apart."""
    id, page = old_one(pages, service, client)
    miss(page, lambda: scheduled_again(client, id))
    page.row(id, "text.includes('new') && text.includes('pending')")
    client.applied("activity.update", id=id, contentState={"second": 2})
    page.row(id, "text.includes('second 2')")
    lane(page, id, "pending")


def test_events_that_come_before_the_list_that_names_their_activity_are_of_that_one(pages, service, client):
    id, page = old_one(pages, service, client)
    page.js("window.heldOp = 'activity.list'")
    miss(page, lambda: scheduled_again(client, id))
    page.until("window.held.length === 1", "the list on its way")
    for n in range(6):
        client.applied("activity.update", id=id, contentState={"second": n})
    page.until("document.querySelector('#tail').innerText.match(/updated/g)?.length === 6", "six events")
    page.js("window.heldOp = null; window.held[0]()")
    page.row(id, "text.includes('new') && text.includes('second 5')")
    lane(page, id, "pending")


def test_an_app_that_began_while_events_were_lost_is_shown(pages, service, client):
    page = pages(service, script=LATE, width=1600)
    page.row(start(client, "order-1"))
    miss(page, lambda: start(client, "order-2", app="com.example.new"))
    page.until("document.querySelectorAll('.row').length === 2", "the row of the new app")
    assert sorted(page.keys()) == ["order-1", "order-2"]


def test_an_app_whose_first_event_was_lost_is_read(pages, service, client):
    page = pages(service, script=LATE, width=1600)
    app = "com.example.new"
    start(client, "order-1", app=app, contentState={"note": "lose me"})
    start(client, "order-2", app=app)
    page.until("document.querySelectorAll('.row').length === 2", "both rows of the new app")


def test_an_event_behind_a_gap_is_in_the_tail(pages, service, client):
    page = pages(service, script=LATE, width=1600)
    id = start(client, "order-1")
    page.row(id)
    client.applied("activity.update", id=id, contentState={"note": "lose me"})
    client.applied("activity.end", id=id)
    page.row(id, "text.includes('ended')")
    page.reads("#tail", "ended")


# What could not be read


def test_what_could_not_be_read_is_read_once_the_service_is_back(pages, service, client):
    """The reasons in an open panel, and the states of a lane."""
    id = start(client, "order-1", staleDate=after(10 * MINUTE))
    client.read("clock.advance", by=11 * MINUTE)
    client.applied("activity.update", id=id, contentState={"n": 1})
    page = pages(service, script="""(() => {
        const real = window.fetch;
        window.refused = 0;
        window.fetch = (path, init) => {
            if (window.isBack || !/"op":"activity.(explain|history)"/.test(init?.body)) return real(path, init);
            window.refused += 1;
            return Promise.reject(new TypeError("no way"));
        };
    })();""" + LATE, width=1600)
    page.row(id)
    page.until("window.refused > 0", "the refusal of a history")
    page.js(f"location.hash = 'activities/activity/{client.app}/{id}'")
    page.reads("#detail-error", "The service cannot be reached")
    page.js("window.isBack = true; window.source.dispatchEvent(new Event('error'))")
    page.until("document.querySelector('#detail-error').innerText === ''", "no error")
    page.reads("#explain", "stale → active")
    lane(page, id, "active", "stale", "active")

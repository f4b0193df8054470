"""The board where answers come late or not at all, where time passes, and where there is more than it shows."""

import json
import uuid

import pytest

from support.commands import Commands
from support.dates import MINUTE, after
from support.provider import DOOR, button, toggle
from support.webpage import board_words
from support.widgets import Board, WidgetProvider, widget

TAXI = "com.example.taxi"


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


def meddle(operation, what):
    """A script: what comes of posts of this operation, given the function `post` that makes one."""
    return f"""(() => {{
        const real = window.fetch;
        window.asked = 0;
        window.fetch = (...words) => {{
            const post = () => real(...words);
            if (!String(words[1]?.body).includes('"op":"{operation}"')) return post();
            window.asked += 1;
            return {what};
        }};
        const Real = window.EventSource;
        window.sources = [];
        window.EventSource = class extends Real {{
            constructor(...words) {{ super(...words); window.sources.push(this); }}
        }};
    }})()"""


HELD = "new Promise((resolve) => { window.release = () => resolve(post()); })"
REFUSED = """window.refuses ? Promise.resolve(new Response(
    '{"ok":false,"error":{"code":"busy","message":"not now","retry":"later"}}')) : post()"""


def lose(page):
    page.js("window.sources.at(-1).dispatchEvent(new MessageEvent('lost', {data: ''}))")


# Late answers


def test_names_and_tints_are_shown_once_they_are_read(pages, service, home):
    provider = home.provider(toggle(displayName="Reading lamp", tint="red"))
    id = home.shown(provider, True)
    page = pages(service, "controls", script=meddle("control.kinds", HELD))
    page.reads(f'.tile[data-id="{id}"]', "Torch")
    page.until("window.release !== undefined")
    page.js("window.release()")
    page.reads(f'.tile[data-id="{id}"]', "Reading lamp")
    assert page.js("document.querySelector('.tile').style.getPropertyValue('--tint')") == "#ff3b30"


def test_a_kind_that_is_declared_anew_is_read_anew(pages, service, home):
    provider = home.provider(toggle(displayName="Reading lamp"))
    id = home.shown(provider, True)
    page = pages(service, "controls")
    page.reads(f'.tile[data-id="{id}"]', "Reading lamp")
    provider.leave()
    home.provider(toggle(displayName="Desk lamp"))
    page.reads(f'.tile[data-id="{id}"]', "Desk lamp")


def test_many_that_are_placed_at_once_do_not_ask_for_their_kinds_one_by_one(pages, service, home):
    home.provider(toggle())
    page = pages(service, "controls", script=meddle("control.kinds", "post()"))
    for number in range(4):
        home.add_many(200, device=f"phone-{number}")
    page.reads("#count-controls", "800")
    # Behind all that the page has asked for until now.
    page.js("import('./api.js').then(({ask}) => ask('service.ping'))")
    assert page.js("window.asked") < 40


def test_a_timeline_that_comes_late_is_shown_in_the_panel(pages, service, wire):
    board = Board(wire, service)
    provider = WidgetProvider(wire, service.commands, widget())
    id = board.client.applied("widget.add", kind=widget()["kind"], family="systemSmall")["widget"]["id"]
    provider.shows_now(5)
    page = pages(service, f"widgets/widget/{board.app}/{id}", script=meddle("widget.timeline", HELD))
    page.until("document.querySelector('#explain').innerText !== '' && window.release !== undefined")
    page.js("window.release()")
    page.reads("#detail-timeline", "Budget of 24 hours")


def test_what_changes_while_a_history_is_on_its_way_stays_in_the_lane(pages, service, client):
    """The answer is as old as its question."""
    late = """post().then((answer) => answer.text()).then((text) => new Promise((resolve) => {
        window.release = () => resolve(new Response(text));
    }))"""
    page = pages(service, script=meddle("activity.history", late).replace(
        "const post", "if (!window.holds) return real(...words); const post"))
    id = client.start(key="order-1", staleDate=after(10 * MINUTE))["id"]
    page.row(id)
    # As of one of which no event has come since the page was opened.
    page.js(f"""Promise.all([import('./store.js'), import('./loader.js')]).then(([{{store}}, {{wantHistory}}]) => {{
        Object.assign(window, {{store, holds: true}});
        store.changes.delete('{id}');
        wantHistory(store.activity.get('{id}'));
    }})""")
    page.until("window.release !== undefined")
    client.read("clock.advance", by=11 * MINUTE)
    client.applied("activity.update", id=id, contentState={"status": "again"})
    page.row(id, "text.includes('again')")
    page.js("window.release()")
    page.until(f"window.store.changes.has('{id}')")
    assert page.js(f"window.store.changes.get('{id}').map(({{state}}) => state)") == ["active", "stale", "active"]


ANSWERED = """post().then((answer) => answer.text()).then((text) => new Promise((resolve) => {
    window.release = () => resolve(new Response(text));
}))"""


def test_what_changes_while_its_activity_is_being_read_is_shown(pages, service, client):
    """The answer is as old as its question, and nothing asks again where the event is passed over."""
    start_many_apps(client)
    page = pages(service, script=meddle("activity.get", ANSWERED))
    id = client.applied("activity.update", app=MANY[0], key="k", contentState={"n": 1})["activity"]["id"]
    page.until("window.release !== undefined")
    client.applied("activity.update", app=MANY[0], key="k", contentState={"n": 2})
    client.applied("activity.update", app=MANY[0], key="k", contentState={"n": 3})
    page.until("import('./store.js').then(({store}) => store.received >= 3)")
    page.js("window.release()")
    page.row(id, "text.includes('n 3')")
    assert page.js("window.asked") == 1, "the events bring it up to date"


def test_what_changes_in_an_app_whose_lists_are_not_read_is_shown_while_others_are(pages, service, client):
    start_many_apps(client)
    page = pages(service, script=meddle("activity.list", HELD))
    first = client.applied("activity.update", app=MANY[0], key="k", contentState={"n": 1})["activity"]["id"]
    page.row(first)
    lose(page)
    page.until("window.release !== undefined")
    second = client.applied("activity.update", app=MANY[1], key="k", contentState={"n": 2})["activity"]["id"]
    page.until("import('./store.js').then(({store}) => store.received >= 2)")
    page.js("window.release()")
    page.live()
    page.row(second, "text.includes('n 2')")


def test_an_answer_that_comes_late_is_not_shown_under_another_title(pages, service, client):
    client.start()
    page = pages(service, script=meddle("timer.list", HELD))
    page.click("[data-inspect=timers]")
    page.until("window.release !== undefined")
    page.click("#inspect-close")
    page.click("[data-inspect=providers]")
    page.reads("#inspect-body", "No provider is connected.")
    page.js("window.release()")
    page.js("new Promise((resolve) => setTimeout(resolve, 300))")
    assert "No provider is connected." in page.text("#inspect-body")


def test_lists_that_could_not_be_read_are_read_again_with_what_has_come_since(pages, service, client):
    client.start(key="first")
    page = pages(service, script=meddle("activity.list", REFUSED))
    page.js("window.refuses = true")
    lose(page)
    page.reads("#showing", "not all could be read")
    id = client.start(app=TAXI, key="second")["id"]
    page.row(id)
    page.js("window.asked = 0; window.refuses = false")
    page.until("window.asked >= 2 && !document.querySelector('#showing').innerText.includes('read')")
    assert sorted(page.keys()) == ["first", "second"]


# What is not known


def test_a_change_whose_answer_is_lost_is_not_called_refused(pages, service, client):
    id = client.start(key="order-1")["id"]
    page = pages(service, f"activities/activity/{client.app}/{id}")
    page.expected = ("ERR_", "net::")
    page.click("#detail-actions button")
    page.until("document.querySelector('#sure').open")
    service.stop()
    page.click("#sure button[value=yes]")
    page.reads("#toasts", "Not known whether it was done")


def test_what_is_hidden_is_not_called_off(pages, service, home):
    provider = home.provider(toggle(privacySensitive=True))
    id = home.shown(provider, True, device="phone")
    page = pages(service, "controls")
    tap = f"document.querySelector('.tile[data-id=\"{id}\"] .tap')"
    page.until(f"{tap}?.getAttribute('aria-pressed') === 'true'")
    home.client.read("device.event", device="phone", event="lock")
    page.reads(f'.tile[data-id="{id}"]', "hidden while locked")
    assert page.js(f"{tap}.hasAttribute('aria-pressed')") is False
    home.client.read("device.event", device="phone", event="unlock")
    page.until(f"{tap}.getAttribute('aria-pressed') === 'true'")


def test_what_begins_again_under_the_same_id_has_its_own_reasons(pages, service, home):
    home.provider(button())
    id = str(uuid.uuid4())
    home.client.applied("control.add", kind=DOOR, id=id)
    home.client.applied("control.tap", id=id)
    page = pages(service, f"controls/control/{home.app}/{id}")
    page.reads("#explain", "A tap")
    home.client.applied("control.remove", id=id)
    page.reads("#detail-error", "It is gone")
    req = home.client.applied("control.add", kind=DOOR, id=id)["req"]
    page.reads("#explain", f"asked by {req}")
    assert "A tap" not in page.text("#explain")


# Time


def test_dates_in_contents_count_down(pages, service, client):
    id = client.start(key="order-1", contentState={"status": "coming", "eta": after(10 * MINUTE)})["id"]
    page = pages(service, f"activities/activity/{client.app}/{id}")
    page.row(id, "text.includes('eta in 10 m') || text.includes('eta in 9 m')")
    client.read("clock.advance", by=8 * MINUTE)
    page.row(id, "text.includes('eta in 2 m') || text.includes('eta in 1 m')")
    page.until("/in [12]\\s+m/.test(document.querySelector('#preview .lock').innerText)")


def test_a_tail_that_is_held_stays_whatever_comes(pages, service, client):
    page = pages(service)
    id = client.start(key="order-1")["id"]
    page.reads("#tail", "started")
    page.press("p")
    for number in range(12):
        client.batch(*[client.command("activity.update", id=id, contentState={"n": number * 100 + each})
                       for each in range(100)])
    page.reads("#tail-note", "1 200 more since the pause")
    assert "started" in page.text("#tail")
    page.press("p")
    page.until("!document.querySelector('#tail').innerText.includes('started')")


# More than is shown


def test_many_apps_are_all_read(pages, service, client):
    for number in range(210):
        client.start(app=f"com.example.a{number:03}", key="k")
    page = pages(service)
    page.reads("#showing", "Showing 200 of 210")
    assert page.text("#chips .listed b") == "210"


MANY = [f"com.example.a{number:04}" for number in range(1_001)]


def in_batches(client, commands):
    for first in range(0, len(commands), 100):
        client.batch(*commands[first:first + 100])


def start_many_apps(client):
    """More than the service names to a page."""
    in_batches(client, [client.command("activity.start", app=app, key="k", type="T", attributes={}, contentState={})
                        for app in MANY])


def test_all_that_change_at_once_are_read_where_there_are_too_many_apps_to_name(pages, service, client):
    start_many_apps(client)
    page = pages(service)
    in_batches(client, [client.command("activity.update", app=app, key="k", contentState={"n": 1})
                        for app in MANY[:150]])
    page.reads("#showing", "150 shown")


def test_a_page_that_is_greeted_without_names_forgets_nothing(pages, service, client):
    """Where there are too many apps the service names none."""
    start_many_apps(client)
    page = pages(service, script=meddle("activity.list", "post()"))
    id = client.applied("activity.update", app=MANY[0], key="k", contentState={"n": 1})["activity"]["id"]
    page.row(id)
    page.js("window.sources.at(-1).dispatchEvent(new Event('error'))")
    page.until("document.querySelector('#connection').dataset.state === 'waiting'")
    client.applied("activity.update", app=MANY[0], key="k", contentState={"n": 2})
    page.live()
    page.row(id, "text.includes('n 2')")


def test_an_event_that_was_missed_in_an_app_beyond_those_that_are_read_is_no_reason_to_read_all_again(
        pages, service, client):
    start_many_apps(client)
    page = pages(service, script=meddle("activity.list", "post()"))
    in_batches(client, [client.command("activity.update", app=app, key="k", contentState={"n": 1}) for app in MANY])
    page.reads("#showing", "of 1 001")
    page.js("window.sources.at(-1).dispatchEvent(new Event('error'))")
    page.until("document.querySelector('#connection').dataset.state === 'waiting'")
    id = client.applied("activity.update", app=MANY[-1], key="k", contentState={"n": 2})["activity"]["id"]
    page.until("document.querySelector('#connection').dataset.state === 'live'")
    page.live()
    page.js("window.asked = 0")
    client.applied("activity.update", app=MANY[-1], key="k", contentState={"n": 3})
    page.until(f"import('./store.js').then(({{store}}) => store.activity.get('{id}').contentState.n === 3)")
    page.live()
    # It goes on to read one list a second at most.
    assert page.js("window.asked") < 500


def test_the_controls_that_are_not_shown_are_counted_as_the_service_counts_them(pages, service, home):
    home.provider(toggle())
    for number in range(11):
        home.add_many(200, device=f"phone-{number}")
    page = pages(service, "controls")
    page.reads("#controls-note", "Showing 240 of 2 200")
    page.reads("#count-controls", "2 200")


def test_the_dismissed_that_are_not_read_are_told(pages, service, client):
    for _ in range(11):
        started = client.batch(*[
            client.command("activity.start", type="T", attributes={}, contentState={}) for _ in range(100)])
        client.batch(*[client.command("activity.dismiss", id=each["activity"]["id"], by="system") for each in started])
    page = pages(service)
    page.click(".chip.dismissed")
    page.reads("#showing", f"1 000 of 1 100 of {client.app}")


HIDING = """(() => {
    window.isHidden = false;
    Object.defineProperty(document, "hidden", {get: () => window.isHidden});
    const wait = window.setTimeout;
    window.setTimeout = (what, time, ...more) => wait(what, time === 20_000 ? 50 : time, ...more);
})()"""


def hide(page, isHidden):
    page.js(f"window.isHidden = {json.dumps(isHidden)}; document.dispatchEvent(new Event('visibilitychange'))")


def test_a_page_that_nobody_sees_for_long_leaves_its_connection_to_others(pages, service, client):
    """A browser has six for all pages of one origin."""
    page = pages(service, script=HIDING)
    hide(page, True)
    page.until("document.querySelector('#connection').dataset.state === 'resting'")
    id = client.start(key="order-1")["id"]
    hide(page, False)
    page.live()
    page.row(id)
    page.reads("#tail-note", "without those while it was hidden for long")
    hide(page, True)
    hide(page, False)
    client.applied("activity.update", id=id, contentState={"status": "at once"})
    page.row(id, "text.includes('at once')")
    assert page.js("document.querySelector('#connection').dataset.state") == "live"


def test_what_was_dismissed_unseen_is_shown_where_the_dismissed_are_looked_at(pages, service, client):
    id = client.start(key="order-1")["id"]
    page = pages(service, script=HIDING)
    page.row(id)
    page.click(".chip.dismissed")
    page.until("document.querySelectorAll('.row').length === 0")
    hide(page, True)
    page.until("document.querySelector('#connection').dataset.state === 'resting'")
    client.applied("activity.dismiss", id=id, by="system")
    hide(page, False)
    page.row(id, "text.includes('dismissed')")


def test_what_is_dismissed_while_the_lists_are_read_anew_is_gone(pages, service, client):
    """Its event does not fit what is known from before, and the list is older than the event."""
    script = meddle("activity.list", ANSWERED).replace("const post", "if (!window.holds) return real(...words); const post")
    id = client.start(key="order-1")["id"]
    page = pages(service, script=f"{HIDING};{script}")
    page.row(id)
    hide(page, True)
    page.until("document.querySelector('#connection').dataset.state === 'resting'")
    client.applied("activity.update", id=id, contentState={"status": "unseen"})
    page.js("window.holds = true")
    hide(page, False)
    page.until("window.release !== undefined")
    client.applied("activity.dismiss", id=id, by="system")
    page.until("import('./store.js').then(({store}) => store.received >= 1)")
    page.js("window.holds = false; window.release()")
    page.live()
    page.gone(f'.row[data-id="{id}"]')
    page.click(".chip.dismissed")
    page.row(id, "text.includes('dismissed')")


# What no event tells


HEARTBEATS = "ruleSet:\n  heartbeatStaleAfter: 60000\n"


@pytest.fixture
def heartbeats(serve, tmp_path):
    """A service in which an activity whose publisher is silent for a minute goes stale."""
    (tmp_path / "islet.yaml").write_text(HEARTBEATS)
    return serve(words=board_words(config=tmp_path / "islet.yaml"))


@pytest.fixture
def beating(heartbeats, wire):
    return Commands(wire, heartbeats.commands, "com.example.beating")


def beat(client, id):
    client.read("clock.advance", by=40_000)
    client.applied("activity.heartbeat", id=id)


def test_a_heartbeat_that_came_is_not_called_due(pages, heartbeats, beating):
    id = beating.start(key="order-1")["id"]
    page = pages(heartbeats)
    page.row(id, "text.includes('heartbeat due')")
    first = beating.read("activity.get", id=id)["activity"]["next"]["at"]
    beat(beating, id)
    beat(beating, id)
    # The page has known of the first one alone, which would have been due by now.
    page.until(f"import('./store.js').then(({{store}}) => store.activity.get('{id}').next.at > {first})")
    page.row(id, "text.includes('heartbeat due') && !/\\bdue heartbeat/.test(text)")


def test_lists_tell_what_no_event_tells(pages, heartbeats, beating):
    id = beating.start(key="order-1")["id"]
    page = pages(heartbeats, script=meddle("activity.get", REFUSED))
    page.js("window.refuses = true")
    page.row(id)
    beat(beating, id)
    told = beating.read("activity.get", id=id)["activity"]["next"]["at"]
    lose(page)
    page.until(f"import('./store.js').then(({{store}}) => store.activity.get('{id}').next.at === {told})")

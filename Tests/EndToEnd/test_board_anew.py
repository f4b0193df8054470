"""What is in sight on the board is read anew, and is right again whatever its events said or did not say."""

import json

import pytest

from support.dates import HOUR, MINUTE, after
from support.provider import toggle
from support.webpage import board_words
from support.widgets import Board, WidgetProvider, widget
from test_board_late import ANSWERED, MANY, in_batches, meddle, start_many_apps
from test_board_truth import lane

# Some ten seconds until something is due, and one for each other reading, on a machine that has other work.
PATIENCE = 60
# What is not in sight has its turn when the three lists of its app have had theirs.
PATIENCE_OUT_OF_SIGHT = 150

# While `window.isDeaf` no event comes to the page; what `window.distort` makes of a message is what it hears. The
# stream itself goes on: the page has no reason to read anything for it.
LOSSY = """(() => {
    const Real = window.EventSource;
    window.EventSource = class extends Real {
        constructor(...given) {
            super(...given);
            window.source = this;
        }
        addEventListener(name, listener) {
            super.addEventListener(name, name !== "message" ? listener : (message) => {
                if (window.isDeaf) return;
                listener({data: window.distort?.(message.data) ?? message.data});
            });
        }
    };
})()"""


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


def start(client, key, **fields):
    fields = {"type": "Order", "attributes": {}, "contentState": {}, **fields}
    return client.applied("activity.start", key=key, **fields)["activity"]["id"]


def deafen(page):
    page.js("window.isDeaf = true")


def comes(page, id, condition, patience=PATIENCE):
    """Waits until the row of an activity is as the service has it."""
    page.until(f"""(() => {{
        const row = document.querySelector('.row[data-id="{id}"]');
        const text = row?.innerText.replace(/\\s+/g, " ") ?? "";
        return row !== null && ({condition});
    }})()""", f"the row of {id} with {condition}", seconds=patience)


def goes(page, selector):
    page.until(f"document.querySelector({json.dumps(selector)}) === null", f"{selector} to go", seconds=PATIENCE)


def test_rows_are_right_again_where_their_events_were_lost(pages, service, client):
    changed, ended, gone = start(client, "changed"), start(client, "ended"), start(client, "gone")
    page = pages(service, script=LOSSY, width=1600)
    for id in (changed, ended, gone):
        page.row(id)
    deafen(page)
    client.applied("activity.update", id=changed, contentState={"n": 2})
    client.applied("activity.end", id=ended)
    client.applied("activity.dismiss", id=gone)
    begun = start(client, "begun")
    comes(page, changed, "text.includes('n 2')")
    comes(page, ended, "row.dataset.state === 'ended'")
    comes(page, begun, "row.dataset.state === 'active'")
    goes(page, f'.row[data-id="{gone}"]')
    lane(page, ended, "active", "ended")


def test_a_row_is_right_again_where_its_event_said_what_is_not(pages, service, client):
    id = start(client, "order-1")
    page = pages(service, script=LOSSY, width=1600)
    page.row(id)
    page.js("window.distort = (data) => data.replace('as it is', 'as it is not')")
    client.applied("activity.update", id=id, contentState={"note": "as it is"})
    page.row(id, "text.includes('as it is not')")
    comes(page, id, "text.includes('as it is') && !text.includes('not')")


def test_what_is_told_while_an_answer_is_on_its_way_stays(pages, service, client):
    script = meddle("activity.list", f"window.holds ? {ANSWERED} : post()")
    wrong, told = start(client, "wrong"), start(client, "told")
    page = pages(service, script=f"{LOSSY};{script}", width=1600)
    page.js("window.distort = (data) => data.replace('as it is', 'as it is not')")
    client.applied("activity.update", id=wrong, contentState={"note": "as it is"})
    page.row(wrong, "text.includes('as it is not')")
    page.js("window.holds = true")
    page.until("window.release !== undefined", "a list on its way", seconds=PATIENCE)
    client.applied("activity.end", id=told, contentState={"n": 2})
    page.row(told, "text.includes('ended') && text.includes('n 2')")
    page.js("window.holds = false; window.release()")
    comes(page, wrong, "text.includes('as it is') && !text.includes('not')")
    page.row(told, "text.includes('ended') && text.includes('n 2')")


def test_the_open_panel_is_right_again(pages, service, client):
    id = start(client, "order-1")
    page = pages(service, f"activities/activity/{client.app}/{id}", script=LOSSY)
    page.reads("#explain", "active")
    deafen(page)
    client.applied("activity.end", id=id)
    page.until("document.querySelector('#detail-state').innerText === 'ended'", seconds=PATIENCE)


def test_tiles_are_right_again(pages, service, home):
    provider = home.provider(toggle())
    kept, gone = home.shown(provider, True), home.shown(provider, True)
    page = pages(service, "controls", script=LOSSY)
    page.reads(f'.tile[data-id="{kept}"]', "On")
    deafen(page)
    home.client.applied("control.remove", id=gone)
    home.client.applied("control.reload", id=kept)
    provider.gives(False)
    goes(page, f'.tile[data-id="{gone}"]')
    page.until(f"""document.querySelector('.tile[data-id="{kept}"]').innerText.includes('Off')""", seconds=PATIENCE)


def test_cards_are_right_again(pages, service, wire):
    board = Board(wire, service)
    WidgetProvider(wire, service.commands, widget())
    place = {"kind": widget()["kind"], "family": "systemSmall"}
    gone = board.client.applied("widget.add", **place)["widget"]["id"]
    page = pages(service, "widgets", script=LOSSY)
    page.until(f"""document.querySelector('.card[data-id="{gone}"]') !== null""")
    deafen(page)
    board.client.applied("widget.remove", id=gone)
    begun = board.client.applied("widget.add", **place)["widget"]["id"]
    goes(page, f'.card[data-id="{gone}"]')
    page.until(f"""document.querySelector('.card[data-id="{begun}"]') !== null""", seconds=PATIENCE)


def test_a_service_that_is_busy_is_asked_again(pages, service, client):
    refused = """window.refuses ? (window.refused = true, Promise.resolve(new Response(
        '{"ok":false,"error":{"code":"busy","message":"not now","retry":"later"}}'))) : post()"""
    id = start(client, "order-1")
    page = pages(service, script=f"{LOSSY};{meddle('activity.list', refused)}")
    page.row(id)
    deafen(page)
    page.js("window.refuses = true")
    client.applied("activity.update", id=id, contentState={"n": 2})
    page.until("window.refused", "a refusal", seconds=PATIENCE)
    page.js("window.refuses = false")
    comes(page, id, "text.includes('n 2')")


def test_the_dismissed_that_were_refused_are_asked_for_again(pages, service, client):
    refused = """window.refuses && words[1].body.includes('dismissed') ? (window.refused = true, Promise.resolve(
        new Response('{"ok":false,"error":{"code":"busy","message":"not now","retry":"later"}}'))) : post()"""
    id = start(client, "order-1")
    client.applied("activity.dismiss", id=id)
    page = pages(service, script=meddle("activity.list", refused))
    page.js("window.refuses = true")
    page.click(".chip.dismissed")
    page.until("window.refused", "a refusal")
    page.js("window.refuses = false")
    comes(page, id, "text.includes('dismissed')")


def test_what_was_dismissed_unheard_is_shown_where_none_of_its_app_is(pages, service, client):
    id = start(client, "order-1")
    page = pages(service, script=LOSSY, width=1600)
    page.row(id)
    page.click(".chip.dismissed")
    goes(page, f'.row[data-id="{id}"]')
    deafen(page)
    client.applied("activity.dismiss", id=id)
    comes(page, id, "text.includes('dismissed')", PATIENCE_OUT_OF_SIGHT)


def test_what_was_dismissed_unheard_is_shown_where_the_dismissed_are(pages, service, client):
    first, second = start(client, "order-1"), start(client, "order-2")
    client.applied("activity.dismiss", id=first)
    page = pages(service, script=LOSSY, width=1600)
    page.row(second)
    page.click(".chip.dismissed")
    page.row(first, "text.includes('dismissed')")
    deafen(page)
    client.applied("activity.dismiss", id=second)
    comes(page, second, "text.includes('dismissed')")


def test_the_dismissed_go_when_the_service_keeps_them_no_longer(pages, service, client):
    first, opened = start(client, "order-1"), start(client, "order-2")
    for id in (first, opened):
        client.applied("activity.dismiss", id=id)
    client.read("clock.advance", by=20 * HOUR)
    kept, told = start(client, "order-3"), start(client, "order-4")
    client.applied("activity.dismiss", id=kept)
    page = pages(service, width=1600)
    page.row(told)
    page.click(".chip.dismissed")
    for id in (first, opened, kept):
        page.row(id, "text.includes('dismissed')")
    client.applied("activity.dismiss", id=told)
    client.read("clock.advance", by=5 * HOUR)
    for id in (first, opened):
        goes(page, f'.row[data-id="{id}"]')
    for id in (kept, told):
        page.row(id, "text.includes('dismissed')")


def test_the_dismissed_of_a_list_of_several_pages_go_too(pages, service, client):
    gone = start(client, "seen-1")
    client.applied("activity.dismiss", id=gone)
    client.read("clock.advance", by=20 * HOUR)
    page = pages(service, width=1600)
    page.fill("#filter", "key~seen-*")
    page.click(".chip.dismissed")
    page.row(gone, "text.includes('dismissed')")
    for op, more in (("activity.start", {"type": "T", "attributes": {}, "contentState": {}}), ("activity.dismiss", {})):
        in_batches(client, [client.command(op, key=f"k{number}", **more) for number in range(1_001)])
    client.read("clock.advance", by=5 * HOUR)
    goes(page, f'.row[data-id="{gone}"]')


def test_a_row_goes_where_its_panel_says_that_it_is_gone(pages, service, client):
    refused = """window.refuses ? Promise.resolve(new Response(
        '{"ok":false,"error":{"code":"busy","message":"not now","retry":"later"}}')) : post()"""
    id = start(client, "order-1")
    client.applied("activity.dismiss", id=id)
    page = pages(service, script=meddle("activity.list", refused), width=1600)
    page.click(".chip.dismissed")
    page.row(id, "text.includes('dismissed')")
    page.js("window.refuses = true")
    client.read("clock.advance", by=25 * HOUR)
    page.click(f'.row[data-id="{id}"]')
    page.reads("#detail-error", "gone")
    goes(page, f'.row[data-id="{id}"]')
    page.reads("#detail-error", "gone")


def test_what_is_right_is_left_alone(pages, service, client):
    """What events have told is the same as what the list says: nothing is drawn anew, and no row glows twice."""
    page = pages(service, script=meddle("activity.list", "post()"))
    started = start(client, "started", relevanceScore=0.5)
    updated = start(client, "updated", contentState={"n": 1}, staleDate=after(HOUR))
    stale = start(client, "stale", staleDate=after(10 * MINUTE))
    ended = start(client, "ended", staleDate=after(HOUR))
    pending = start(client, "pending", startDate=after(2 * HOUR), alert={"title": "t", "body": "b"})
    client.read("clock.advance", by=11 * MINUTE)
    client.applied("activity.update", id=updated, contentState={"n": 2})
    client.applied("activity.end", id=ended)
    # The last event of all; a word in the row's text may be of its key.
    page.row(ended, "row.dataset.state === 'ended'")
    ids = [started, updated, stale, ended, pending]
    page.js(f"""import('./store.js').then(({{store}}) => {{
        window.store = store;
        window.before = {json.dumps(ids)}.map((id) => store.activity.get(id));
        window.asked = 0;
    }})""")
    page.until("window.asked >= 2", "a reading that is through", seconds=PATIENCE)
    assert page.js("""window.before.filter((known) => window.store.activity.get(known.id) !== known)
        .map((known) => [known, window.store.activity.get(known.id)])""") == []


# Large ones


def test_rows_of_a_list_of_several_pages_are_right_again(pages, service, client):
    first = start(client, "seen-1")
    in_batches(client, [client.command("activity.start", key=f"k{number}", type="T", attributes={}, contentState={})
                        for number in range(1_000)])
    second, gone = start(client, "seen-2"), start(client, "seen-3")
    page = pages(service, script=LOSSY, width=1600)
    page.fill("#filter", "key~seen-*")
    told = start(client, "seen-4")
    page.row(told)
    deafen(page)
    for id in (first, second, told):
        client.applied("activity.update", id=id, contentState={"n": 2})
    client.applied("activity.dismiss", id=gone)
    for id in (first, second, told):
        comes(page, id, "text.includes('n 2')")
    goes(page, f'.row[data-id="{gone}"]')


def test_rows_of_more_apps_than_are_named_are_right_again(pages, service, client):
    start_many_apps(client)
    page = pages(service, script=LOSSY)
    id = client.applied("activity.update", app=MANY[0], key="k", contentState={"n": 1})["activity"]["id"]
    page.row(id, "text.includes('n 1')")
    deafen(page)
    client.applied("activity.update", app=MANY[0], key="k", contentState={"n": 2})
    comes(page, id, "text.includes('n 2')")


def test_a_page_asks_once_a_second_at_most(pages, service, client):
    apps = MANY[:12]
    for app in apps:
        start(client, "k", app=app)
    page = pages(service, script=f"{LOSSY};{meddle('activity.list', 'window.times?.push(performance.now()), post()')}")
    page.until("document.querySelectorAll('.row').length === 12")
    page.js("window.times = []")
    page.until("window.times.length >= 5", "five readings", seconds=PATIENCE)
    times = page.js("window.times")
    # A browser's clock is coarse.
    assert min(later - earlier for earlier, later in zip(times, times[1:])) > 990


# Limits


def limit(page, **limits):
    """Makes the page hold no more than this, and gives it the store to be looked at."""
    page.js(f"""import('./store.js').then(({{heldLimit, store}}) => {{
        Object.assign(heldLimit, {json.dumps(limits)});
        window.store = store;
    }})""")


def dismiss_many(client, number):
    ids = [start(client, f"old-{place}") for place in range(number)]
    for id in ids:
        client.applied("activity.dismiss", id=id)
    return ids


def test_the_dismissed_that_are_read_take_no_place_of_the_listed(pages, service, client):
    dismiss_many(client, 6)
    page = pages(service, width=1600)
    limit(page, activity=4)
    page.click(".chip.dismissed")
    page.until("document.querySelectorAll('.row').length >= 4", "the dismissed")
    page.click(".chip.listed")
    for id in [start(client, f"new-{place}") for place in range(4)]:
        page.row(id)


def test_the_dismissed_have_one_limit_and_those_that_leave_now_come_first(pages, service, client):
    dismiss_many(client, 5)
    told = [start(client, f"new-{place}") for place in range(2)]
    page = pages(service, width=1600)
    limit(page, dismissed=3)
    page.click(".chip.dismissed")
    page.reads("#showing", "3 of 5 of")
    for id in told:
        client.applied("activity.dismiss", id=id)
    for id in told:
        page.row(id, "text.includes('dismissed')")
    page.reads("#showing", "no more than 3")
    page.reads("#showing", "3 shown")
    page.reads("#showing", "3 of 7 of")
    for id in told:
        page.row(id, "text.includes('dismissed')")


def test_the_dismissed_that_are_kept_no_longer_take_no_place_of_those_that_are(pages, service, client):
    gone = [start(client, f"old-{place}") for place in range(3)]
    page = pages(service, script=LOSSY, width=1600)
    limit(page, dismissed=3)
    for id in gone:
        client.applied("activity.dismiss", id=id)
        goes(page, f'.row[data-id="{id}"]')
    deafen(page)
    client.read("clock.advance", by=25 * HOUR)
    kept = dismiss_many(client, 2)
    page.click(".chip.dismissed")
    for id in kept:
        comes(page, id, "text.includes('dismissed')")


def test_what_has_no_place_is_told_at_once_and_shown_once_it_has_one(pages, service, client):
    first = start(client, "order-1")
    page = pages(service, width=1600)
    limit(page, activity=1)
    page.js("import('./store.js').then(({onChange}) => { window.told = 0; onChange(({topics}) => "
            "{ if (topics.has('lists')) window.told += 1; }); })")
    second = start(client, "order-2")
    page.until("window.told > 0 && document.querySelector('#showing').innerText.includes('no more than 1')",
               "the limit to be told")
    client.applied("activity.dismiss", id=first)
    comes(page, second, "text.includes('active')")
    page.until("!document.querySelector('#showing').innerText.includes('read were')", "nothing to be left out",
               seconds=PATIENCE)


def test_what_ended_while_nobody_looked_gives_way_to_what_has_begun(pages, service, client):
    def all_of(word, op, **fields):
        in_batches(client, [client.command(op, key=f"{word}-{place}", **fields) for place in range(1_100)])

    begin = {"type": "T", "attributes": {}, "contentState": {}}
    all_of("old", "activity.start", **begin)
    page = pages(service, script=LOSSY, width=1600)
    limit(page, activity=1_200)
    page.until("window.store.activity.size === 1100", "the first ones")
    deafen(page)
    all_of("old", "activity.dismiss")
    all_of("new", "activity.start", **begin)
    page.js(f"import('./lists.js').then(({{loadAll}}) => loadAll({{{json.dumps(client.app)}: {{}}}}, true))")
    page.until("[...window.store.activity.values()].filter(({key}) => key.startsWith('new-')).length === 1100",
               "all that has begun", seconds=PATIENCE)
    page.until("window.store.activity.size === 1100", "the others to go", seconds=PATIENCE)


def test_what_gives_way_and_is_there_comes_back(pages, service, client):
    """The lists of two apps are read at once: one names what gave way to the other."""
    def all_of(app, word, op, count, **fields):
        in_batches(client, [client.command(op, app=app, key=f"{word}-{place}", **fields) for place in range(count)])

    begin = {"type": "T", "attributes": {}, "contentState": {}}
    all_of("a.a", "old", "activity.start", 600, **begin)
    all_of("b.b", "kept", "activity.start", 1_500, **begin)
    page = pages(service, script=LOSSY, width=1600)
    limit(page, activity=2_900)
    page.until("window.store.activity.size === 2100", "the first ones")
    deafen(page)
    all_of("a.a", "old", "activity.dismiss", 600)
    all_of("a.a", "new", "activity.start", 1_300, **begin)
    page.js("import('./lists.js').then(({loadAll}) => loadAll({'a.a': {}, 'b.b': {}}, true))")
    page.until("[...window.store.activity.values()].filter(({key}) => !key.startsWith('old-')).length === 2800",
               "all that is there", seconds=PATIENCE)
    page.until("window.store.activity.size === 2800", "the others to go", seconds=PATIENCE)


# Out of sight


def test_what_went_out_of_sight_goes_once_all_pages_were_read(pages, service, client):
    gone = start(client, "gone")
    in_batches(client, [client.command("activity.start", key=f"k{number}", type="T", attributes={}, contentState={})
                        for number in range(1_001)])
    seen = start(client, "seen")
    page = pages(service, script=LOSSY, width=1600)
    page.fill("#filter", "key=seen")
    page.until("document.querySelectorAll('.row').length === 1")
    page.row(seen)
    limit(page)
    deafen(page)
    client.applied("activity.dismiss", id=gone)
    page.until(f"!window.store.activity.has('{gone}')", "what went to go", seconds=PATIENCE)
    assert page.js("window.store.activity.size") == 1_002


def test_the_kind_of_what_was_placed_unheard_is_read_once(pages, service, home):
    page = pages(service, "controls", script=f"{LOSSY};{meddle('control.kinds', 'post()')}")
    home.shown(home.provider(toggle(displayName="Reading lamp")), True)
    page.reads("#tiles", "Reading lamp")
    deafen(page)
    page.js("import('./store.js').then(({store}) => { store.kinds.clear(); window.asked = 0; window.store = store; })")
    id = home.add(device="another")
    page.until(f"window.store.control.has('{id}')", "the control", seconds=PATIENCE)
    page.until("window.store.kinds.size > 0", "its kind", seconds=PATIENCE)
    assert page.js("window.asked") == 1


def test_the_name_of_a_kind_that_was_declared_anew_is_shown(pages, service, wire):
    board = Board(wire, service)
    provider = WidgetProvider(wire, service.commands, widget(displayName="Weather"))
    board.client.applied("widget.add", kind=widget()["kind"], family="systemSmall")
    provider.shows_now(1)
    page = pages(service, "widgets")
    page.reads("#cards", "Weather")
    provider.leave()
    WidgetProvider(wire, service.commands, widget(displayName="Forecast"))
    page.until("document.querySelector('#cards').innerText.includes('Forecast')", "its name", seconds=PATIENCE)


# The page is told that nobody sees it, and never rests; what it asks for meanwhile is written down.
UNSEEN = """(() => {
    window.unseen = [];
    Object.defineProperty(document, "hidden", {get: () => window.isHidden === true});
    const wait = window.setTimeout;
    window.setTimeout = (what, time, ...more) => time === 20_000 ? null : wait(what, time, ...more);
    const real = window.fetch;
    window.fetch = (path, init) => {
        if (window.isHidden && init?.body) window.unseen.push(JSON.parse(init.body).op);
        return real(path, init);
    };
})()"""


def test_a_page_that_nobody_sees_reads_nothing_anew(pages, service, client):
    id = start(client, "order-1")
    page = pages(service, script=UNSEEN)
    page.row(id)
    page.js("window.isHidden = true; document.dispatchEvent(new Event('visibilitychange'))")
    # Its figures are read every 15 seconds then, which is longer than until what is in sight would be due.
    page.until("window.unseen.filter((op) => op === 'service.stats').length >= 2", "figures", seconds=PATIENCE)
    assert not [op for op in page.js("window.unseen") if op.endswith(".list")]

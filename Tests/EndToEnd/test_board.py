"""The board's table of activities in a real browser: live rows, filter, order, keyboard, detail with its reasons."""

import json

import pytest

from support.dates import HOUR, MINUTE, after
from support.webpage import board_words


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


@pytest.fixture
def page(pages, service):
    return pages(service, width=1600, height=1000)


def start(client, key=None, **fields):
    """Starts an activity; gives its id."""
    fields = {"type": "Order", "attributes": {}, "contentState": {"status": "baking", "eta": 12}, **fields}
    return client.applied("activity.start", key=key, **fields)["activity"]["id"]


# Rows


def test_a_row_appears_changes_and_leaves_with_its_activity(page, client):
    assert "No activities yet" in page.text("#table")
    id = start(client, "order-1", device="phone-1")
    text = page.row(id)
    assert "order-1" in text and "active" in text and "baking" in text and "phone-1" in text
    client.applied("activity.update", id=id, contentState={"status": "on the way", "eta": 3})
    page.row(id, "text.includes('on the way') && text.includes('eta 3')")
    client.applied("activity.end", id=id)
    page.row(id, "row.dataset.state === 'ended' && text.includes('ended')")
    client.applied("activity.dismiss", id=id)
    page.gone(f'.row[data-id="{id}"]')


def test_rows_that_were_there_before_the_page_are_read(pages, service, client):
    ids = [start(client, f"order-{number}") for number in range(3)]
    page = pages(service)
    for id in ids:
        page.row(id)
    assert page.text("#chips [data-state=active] b") == "3"


def test_a_deadline_changes_the_row_and_its_lane(page, client):
    id = start(client, "order-1", staleDate=after(30 * MINUTE))
    page.row(id, "text.includes('30 m stale') && row.querySelector('.mark.stale') !== null")
    assert "stale at 00:30" in page.js(f"""document.querySelector('.row[data-id="{id}"] .lane').ariaLabel""")
    client.read("clock.advance", by=40 * MINUTE)
    page.row(id, "row.dataset.state === 'stale' && text.includes('stale')")
    spans = page.js(f"""[...document.querySelectorAll('.row[data-id="{id}"] .span')].map((each) => each.className)""")
    assert spans == ["span active", "span stale", "span ended"]
    page.reads("#clock", "00:40:00")


def test_the_line_of_now_moves_with_the_services_time(page, client):
    start(client, "order-1")
    page.js("""(() => { const choice = document.querySelector("#zoom");
        choice.selectedIndex = [...choice.options].findIndex(({text}) => text === "12 hours");
        choice.dispatchEvent(new Event("change")); })()""")
    place = "parseFloat(document.querySelector('#table').style.getPropertyValue('--now'))"
    before = page.until(place)
    client.read("clock.advance", by=HOUR)
    page.until(f"{place} > {before}", "the line to move")
    client.read("clock.advance", by=6 * HOUR)
    page.until(f"{place} < 45", "the axis to turn its page")


def test_many_rows_are_shown_a_window_at_a_time(pages, service, client):
    for first in range(0, 450, 150):
        fields = {"type": "Order", "attributes": {}, "contentState": {}}
        client.batch(*[client.command("activity.start", key=f"order-{first + n}", **fields) for n in range(150)])
    page = pages(service)
    page.until("document.querySelectorAll('.row').length === 200")
    page.reads("#showing", "Showing 200 of 450")
    assert page.js("document.querySelector('#table').ariaRowCount") == "451"
    page.click("#more")
    page.until("document.querySelectorAll('.row').length === 400")
    page.fill("#filter", "key=order-77")
    page.until("document.querySelectorAll('.row').length === 1")
    assert page.keys() == ["order-77"]


def test_the_figures_are_those_of_the_service(page, client):
    for number in range(3):
        start(client, f"order-{number}")
    client.applied("activity.end", key="order-0")
    page.until("document.querySelector('#activities-value').innerText === '3'")
    page.reads("#states-legend", "2 active")
    page.reads("#states-legend", "1 ended")
    page.reads("#timers-value", "3")
    page.until("document.querySelector('#lateness-value').innerText === '0'")


# Filter and order


def test_a_filter_narrows_the_rows(page, client):
    late = start(client, "order-late", staleDate=after(MINUTE))
    start(client, "order-fine")
    start(client, "ride-1", type="Ride", contentState={"status": "boarding"})
    client.read("clock.advance", by=HOUR)
    page.row(late, "row.dataset.state === 'stale'")
    for filter, keys in [
        ("state=stale and key~order-", {"order-late"}), ("not state=stale", {"order-fine", "ride-1"}),
        ("boarding", {"ride-1"}), ("type=Ride or state=stale", {"ride-1", "order-late"}),
        ("key~order*", {"order-late", "order-fine"}), ("revision >= 2", {"order-late"}),
        ("(type=Ride or type=Order) and key!=ride-1", {"order-late", "order-fine"}), ("nothing", set()),
        ("next<-1m", set()), ("expiresAt<7h30m and contentState.eta=12", {"order-late", "order-fine"}),
        ("contentState.status!~bak and type!='Order'", {"ride-1"}), ("", {"order-late", "order-fine", "ride-1"}),
        ("device=phone-1", set()),
    ]:
        page.fill("#filter", filter)
        shown = "JSON.stringify([...document.querySelectorAll('.row .name b')].map((each) => each.innerText).sort())"
        page.until(f"{shown} === {json.dumps(json.dumps(sorted(keys), separators=(',', ':')))}", filter)
    assert page.text("#empty") == "No current activity fits the filter."


def test_a_filter_that_is_wrong_says_what_is_wrong(page, client):
    start(client, "order-1")
    page.expected = ("status of 400",)
    page.fill("#filter", "colour=red")
    page.reads("#filter-error", "An activity has no member 'colour'")
    page.fill("#filter", "(state=stale")
    page.reads("#filter-error", "a '(' without its ')'".capitalize())
    page.fill("#filter", "")
    page.until("document.querySelectorAll('.row').length === 1")
    assert page.text("#filter-error") == ""


def test_a_chip_chooses_a_state_also_of_those_that_are_dismissed(page, client):
    client.applied("activity.dismiss", id=start(client, "order-gone"))
    start(client, "order-here")
    page.until("document.querySelectorAll('.row').length === 1")
    page.click("#chips [data-state=dismissed]")
    page.until("document.querySelector('.row')?.dataset.state === 'dismissed'")
    assert page.keys() == ["order-gone"]
    page.click("#chips [data-state=active]")
    page.until("document.querySelector('.row')?.dataset.state === 'active'")
    assert page.keys() == ["order-here"]


def test_a_heading_orders_the_rows(page, client):
    for number in (10, 9, 1):
        start(client, f"order-{number}", staleDate=after((20 - number) * MINUTE))
    page.until("document.querySelectorAll('.row').length === 3")
    page.click("[data-sort=key] button")
    page.until("document.querySelector('[data-sort=key]').ariaSort === 'ascending'")
    assert page.keys() == ["order-1", "order-9", "order-10"]
    page.click("[data-sort=key] button")
    page.until("document.querySelector('[data-sort=key]').ariaSort === 'descending'")
    assert page.keys() == ["order-10", "order-9", "order-1"]
    page.click("[data-sort=next] button")
    page.until("document.querySelector('[data-sort=next]').ariaSort === 'ascending'")
    assert page.keys() == ["order-10", "order-9", "order-1"]


# Keyboard


def test_the_keyboard_reaches_everything(page, client):
    for number in (1, 2, 3):
        start(client, f"order-{number}")
    page.until("document.querySelectorAll('.row').length === 3")
    page.click("[data-sort=key] button")
    page.until("document.querySelector('.row .name b').innerText === 'order-1'")
    ids = page.js("[...document.querySelectorAll('.row')].map((row) => row.dataset.id)")
    page.press("/")
    page.focused("#filter")
    page.press("ArrowDown")
    page.focused(f'.row[data-id="{ids[0]}"]')
    page.press("ArrowDown")
    page.focused(f'.row[data-id="{ids[1]}"]')
    page.press("End")
    page.focused(f'.row[data-id="{ids[2]}"]')
    page.press("Enter")
    page.focused("#detail-title")
    page.reads("#detail-title", "order-3")
    page.until(f"""document.querySelector('.row[data-id="{ids[2]}"]').ariaSelected === 'true'""")
    page.press("e")
    page.focused("#explain-title")
    page.press("Escape")
    page.until("document.querySelector('#detail').hidden")
    page.focused(f'.row[data-id="{ids[2]}"]')
    page.press("ArrowUp")
    page.focused(f'.row[data-id="{ids[1]}"]')


def test_a_question_mark_shows_the_keys(page):
    page.press("?")
    page.until("document.querySelector('#help').open")
    page.press("Escape")
    page.until("!document.querySelector('#help').open")


def test_the_focus_stays_on_its_row_when_others_come(page, client):
    first = start(client, "order-1")
    page.row(first)
    page.js(f"""document.querySelector('.row[data-id="{first}"]').focus()""")
    page.row(start(client, "order-2"))
    page.focused(f'.row[data-id="{first}"]')


# Detail


def test_the_detail_says_why_in_numbered_sentences_and_goes_on(page, client):
    id = start(client, "order-1", staleDate=after(MINUTE))
    client.read("clock.advance", by=2 * MINUTE)
    page.row(id, "row.dataset.state === 'stale'")
    page.click(f'.row[data-id="{id}"]')
    page.until("document.querySelectorAll('.decision').length === 2")
    decisions = client.read("activity.explain", id=id)["decisions"]
    shown = page.texts(".decision")
    for decision, text in zip(decisions, shown, strict=True):
        assert decision["text"].strip(".").lower() in text.lower()
        assert ("Apple's rule" if decision["rule"].startswith("apple-semantics") else decision["rule"]) in text
    assert "cause: stale date" in shown[1] and "active → stale" in shown[1]
    client.applied("activity.end", id=id)
    page.until("document.querySelectorAll('.decision').length === 3")
    page.until("document.querySelector('#detail-state').innerText === 'ended'")
    page.reads("#ahead", "dismissed")


def test_the_preview_shows_the_content_on_the_lock_screen_and_in_the_island(page, client):
    id = start(client, "order-1", contentState={"status": "on the way", "eta": 12, "progress": 0.25, "courier": "Ada"},
               attributes={"address": "Elm Street 5"})
    page.row(id)
    page.click(f'.row[data-id="{id}"]')
    page.reads(".lock", "on the way")
    for place in (".lock", ".island.expanded"):
        for text in ("on the way", "12", "Elm Street 5", "Ada"):
            assert text in page.text(place), (place, text)
    assert page.js("document.querySelector('.lock .progress i').style.width") == "25%"
    assert page.js("document.querySelectorAll('.island.compact .ring, .island.minimal .ring').length") == 2
    client.applied("activity.update", id=id, contentState={"status": "at the door", "eta": 0})
    page.reads(".lock", "at the door")
    page.until("document.querySelector('.island.compact .trailing').innerText === '0'")


def test_a_detail_has_an_address_of_its_own(pages, service, client):
    id = start(client, "order-1")
    page = pages(service, f"activities/activity/{client.app}/{id}")
    page.reads("#detail-title", "order-1")
    page.click("#close")
    page.until("document.querySelector('#detail').hidden && location.hash === '#activities'")


def test_what_is_gone_says_so(pages, service, client):
    page = pages(service, f"activities/activity/{client.app}/0198c0de-0000-7000-8000-000000000001")
    page.reads("#detail-error", "It is gone")


# The tail


def test_the_tail_shows_each_event_newest_first_and_can_be_held(page, client):
    id = start(client, "order-1", staleDate=after(MINUTE))
    client.read("clock.advance", by=2 * MINUTE)
    page.until("document.querySelectorAll('#tail li').length === 2")
    newest, oldest = page.texts("#tail li")
    assert "stale" in newest and "active → stale" in newest and "started" in oldest
    page.click("#pause")
    client.applied("activity.end", id=id)
    page.row(id, "row.dataset.state === 'ended'")
    page.reads("#tail-note", "1 more since the pause")
    assert len(page.texts("#tail li")) == 2
    page.click("#pause")
    page.until("document.querySelectorAll('#tail li').length === 3")
    page.click("#tail li button")
    page.reads("#detail-title", "order-1")


def test_the_histogram_counts_deadlines(page, client):
    start(client, "order-1", staleDate=after(MINUTE))
    client.read("clock.advance", by=2 * MINUTE)
    page.until("document.querySelector('#lateness-bars').ariaLabel.includes('Lateness of 1 deadline')")
    page.reads("#late-count", "1 deadline since the start")


# What stands behind a figure


def test_the_timers_figure_opens_what_fires_next(page, client):
    id = start(client, "order-1", staleDate=after(30 * MINUTE), device="phone-1")
    page.row(id)
    page.click("[data-inspect=timers]")
    page.until("document.querySelectorAll('#inspect .list tbody tr').length === 1")
    assert page.texts("#inspect .list td")[1:] == ["stale date", "order-1", "phone-1", "active"]
    page.click("#inspect .link")
    page.until("!document.querySelector('#inspect').open")
    page.reads("#detail-title", "order-1")


def test_the_activities_figure_opens_who_holds_the_slots(page, client):
    for number in range(3):
        start(client, f"order-{number}", device="phone-1")
    page.click("[data-inspect=slots]")
    page.reads("#inspect-body", "3 of 20")
    assert f"{client.app}: 3 of 5" in page.text("#inspect-body")
    page.press("Escape")
    page.until("!document.querySelector('#inspect').open")

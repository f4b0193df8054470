"""The board's controls and widgets: tiles that can be tapped where the board may write, timelines with their budget."""

import pytest

from support.dates import HOUR, MINUTE, after
from support.provider import TORCH, toggle
from support.webpage import board_words
from support.widgets import FORECAST, entry


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


@pytest.fixture
def reader(serve):
    """A service whose board may not write."""
    return serve(words=board_words())


def placed(home, **look):
    provider = home.provider(toggle(displayName="Torch"))
    return provider, home.shown(provider, look={"status": "dark", **look}, device="phone-1")


# Controls


def test_a_tap_on_a_tile_is_a_tap_on_the_control(pages, service, home):
    provider, id = placed(home)
    page = pages(service, "controls")
    page.reads(f'.tile[data-id="{id}"]', "Torch")
    assert "dark" in page.text(f'.tile[data-id="{id}"]')
    page.click(f'.tile[data-id="{id}"] .tap')
    home.next("acting", id=id, cause="person")
    page.until(f"""document.querySelector('.tile[data-id="{id}"]').dataset.state === 'acting'""")
    assert page.js(f"""document.querySelector('.tile[data-id="{id}"] .tap').ariaPressed""") == "true"  # the wish
    call = provider.call("perform", TORCH, id)
    assert call["value"] is True
    provider.answer(call, None, status="lit")
    provider.gives(True, control=id, status="lit", tint="yellow")
    page.until(f"""(() => {{ const tile = document.querySelector('.tile[data-id="{id}"]');
        return tile.dataset.state === 'shown' && tile.innerText.includes('lit') && tile.matches('.on'); }})()""")
    assert page.js(f"""document.querySelector('.tile[data-id="{id}"]').style.getPropertyValue('--tint')""") == "#ffcc00"


def test_a_control_that_fails_says_so(pages, service, home):
    provider, id = placed(home)
    page = pages(service, "controls")
    page.click(f'.tile[data-id="{id}"] .tap')
    provider.fail(provider.call("perform", TORCH, id))
    page.reads("#toasts", "Torch: its provider failed.")


def test_without_board_write_nothing_can_be_tapped_or_sent(pages, reader, wire):
    from support.home import Home

    home = Home(wire, reader)
    provider, id = placed(home)
    order = {"type": "Order", "attributes": {}, "contentState": {}}
    activity = home.client.applied("activity.start", **order)["activity"]["id"]
    page = pages(reader, "controls")
    page.until("!document.querySelector('#mode').hidden")
    page.click(f'.tile[data-id="{id}"] .tap')
    page.reads("#toasts", "read-only")
    page.expected = ("status of 403",)
    sent = page.post({"op": "control.tap", "app": home.app, "id": id})
    assert (sent["status"], sent["answer"]["ok"], sent["answer"]["error"]["code"]) == (403, False, "unauthorized")
    assert page.post({"op": "control.get", "app": home.app, "id": id})["answer"]["control"]["value"] is False
    provider.uncalled()
    page.js("location.hash = 'activities'")
    page.click(f'.row[data-id="{activity}"]')
    page.until("document.querySelectorAll('.decision').length === 1")
    assert page.text("#detail-actions") == ""


def test_a_control_has_its_reasons_too(pages, service, home):
    _, id = placed(home)
    page = pages(service, "controls")
    page.click(f'.tile[data-id="{id}"] .info')
    page.until("document.querySelectorAll('.decision').length === 2")
    assert "The first value came." in page.text("#explain")


# Activities


def test_an_operator_may_end_an_activity_after_a_question(pages, service, client):
    id = client.applied("activity.start", type="Order", key="order-1", attributes={}, contentState={})["activity"]["id"]
    page = pages(service, width=1600)
    page.click(f'.row[data-id="{id}"]')
    page.click("#detail-actions .action")
    page.reads("#sure", "End order-1?")
    page.click("#sure [value=no]")
    page.until("!document.querySelector('#sure').open")
    page.click("#detail-actions .action")
    page.click("#sure [value=yes]")
    page.row(id, "row.dataset.state === 'ended'")
    assert client.read("activity.get", id=id)["activity"]["state"] == "ended"


# Widgets


def test_a_widget_shows_its_entry_its_timeline_and_its_budget(pages, service, board):
    provider = board.provider()
    id = board.placed(provider, *[entry(after(hour * HOUR), 20 + hour) for hour in range(3)])
    page = pages(service, "widgets")
    page.until(f"""document.querySelector('.card[data-id="{id}"] .face')?.innerText.includes('20')""")
    page.until(f"""document.querySelectorAll('.card[data-id="{id}"] .strip .entry').length === 3""")
    page.reads(f'.card[data-id="{id}"]', "reloads")
    board.rest(by=HOUR + MINUTE)
    page.until(f"""document.querySelector('.card[data-id="{id}"] .face').innerText.includes('21')""")
    page.until(f"""document.querySelector('.card[data-id="{id}"] .strip').ariaLabel.includes('Entry 2 of 3')""")
    page.click(f'.card[data-id="{id}"] .card-open')
    page.until("document.querySelectorAll('.entries li').length === 3")
    assert "n 21" in page.text(".entries .current")
    budget = board.client.read("widget.budget", id=id)["budget"]
    page.reads("#detail-timeline", f"{budget['spent']} of {budget['limit']} spent")


def test_an_open_timeline_counts_down_and_says_that_a_reload_is_due(pages, service, board):
    provider = board.provider()
    id = board.placed(provider, entry(after(0), 20), policy={"after": after(3 * HOUR)})
    page = pages(service, "widgets", width=1600)
    page.click(f'.card[data-id="{id}"] .card-open')
    page.reads("#detail-timeline", "Next reload in 3 h, at 1 Jan 03:00 (after a date).")
    line = "parseFloat(document.querySelector('#detail-timeline .now-line').style.left)"
    before = page.js(line)
    board.rest(by=HOUR)
    page.reads("#detail-timeline", "Next reload in 2 h, at 1 Jan 03:00 (after a date).")
    page.until(f"{line} > {before} + 20", "the line of now to move")
    provider.leave()
    board.client.read("clock.advance", by=4 * HOUR)
    page.reads("#detail-timeline", "A reload is due since 1 Jan 03:00 (after a date).")
    page.until(f"document.querySelector('.card[data-id=\"{id}\"] .strip').ariaLabel === "
               "'Entry 1 of 1, reload due since 03:00'")
    assert FORECAST in page.text("#detail-from")
    page.until("document.querySelectorAll('.decision').length >= 3")

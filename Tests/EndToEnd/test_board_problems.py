"""The board's first view: what is wrong, as `islet problems` tells it."""

import pytest

from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.provider import TORCH, RawProvider, toggle
from support.webpage import board_words


@pytest.fixture
def service(serve):
    return serve(words=board_words())


@pytest.fixture
def client(wire, service):
    return Commands(wire, service.commands)


ROWS = """[...document.querySelectorAll('#problems-rows tr')].map((row) => [...row.cells].map((cell) => cell.innerText))"""


def test_it_is_shown_first_and_says_that_nothing_is_wrong(pages, service, client):
    client.start(key="order-1")
    page = pages(service, "")
    page.reads("#problems-empty", "Nothing fails, waits too long, is stale or lags.")
    assert page.js("document.body.dataset.view") == "problems"
    assert page.texts("#count-problems") == ["0"] and page.js(ROWS) == []


def test_rows_come_and_go_with_what_is_wrong_and_lead_to_it(wire, pages, service, client):
    page = pages(service, "problems", width=1600)
    page.reads("#problems-empty", "Nothing fails")
    id = client.start(key="order-1", device="phone-1", staleDate=after(MINUTE))["id"]
    provider = RawProvider(wire, service.commands, toggle())
    client.applied("control.add", kind=TORCH, device="phone-1")
    provider.leave()
    client.advance(by=2 * MINUTE)
    page.until(f"{ROWS}.length === 2", "two rows")
    unserved, stale = page.js(ROWS)
    assert unserved[:4] == ["warning", "unserved", "kind torch", "Pizza"] and unserved[4] == ""
    assert stale[:3] == ["warning", "stale", "activity order-1 · phone-1"] and stale[4].startswith("for ")
    assert "out of date" in stale[5]
    page.reads("#problems-note", "2 problems: 2 warnings")
    assert page.texts("#problems-advice dt") == ["unserved", "stale"]
    page.until("document.querySelector('#count-problems').innerText === '2'", "their number in the tab")
    page.click("#problems-rows .link")
    page.reads("#detail-title", "order-1")
    assert page.js("location.hash") == f"#problems/activity/{client.app}/{id}"
    client.applied("activity.update", id=id, contentState={"eta": 2}, staleDate=after(HOUR))
    page.until(f"{ROWS}.length === 1", "the stale one to go")


def test_its_number_is_told_where_another_view_is_looked_at(pages, service, client):
    client.start(key="order-1", staleDate=after(MINUTE))
    client.advance(by=2 * MINUTE)
    page = pages(service, "activities")
    page.until("document.querySelector('#count-problems').innerText === '1'", "the number of problems in the tab")
    page.press("1")
    page.until(f"{ROWS}.length === 1", "the row")

"""The board's first view: what is wrong, as `islet problems` tells it."""

import pytest

from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.provider import TORCH, RawProvider, toggle
from support.webpage import board_words
from test_board_late import meddle


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
    page.reads("#count-problems", "0")
    assert page.js(ROWS) == []


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


# Hidden text can be read as well.
NOTHING = "!document.querySelector('#problems-empty').hidden"
# Later than the page would ask again.
LATE = "new Promise((resume) => setTimeout(resume, 3000))"


def test_answers_that_take_longer_than_the_page_waits_to_ask_again_are_shown(pages, service, client):
    client.start(key="order-1", staleDate=after(MINUTE))
    client.advance(by=2 * MINUTE)
    page = pages(service, "problems", script=meddle("problem.list", f"{LATE}.then(post)"))
    page.until(f"{ROWS}.length === 1", "the row")
    client.applied("activity.update", key="order-1", contentState={"eta": 2}, staleDate=after(HOUR))
    page.until(NOTHING, "that nothing is wrong")


# As while a commit hangs: HTTP waits for so long, and then says that there was no answer.
UNANSWERED = """window.hangs ? %s.then(() => new Response('{"ok":false,"error":{"code":"outcomeUnknown",'
    + '"message":"no answer within 10 s: the command may or may not have been executed","retry":"refresh"}}',
    {status: 504})) : post()""" % LATE


def test_it_does_not_say_that_nothing_is_wrong_while_there_is_no_answer(pages, service):
    page = pages(service, "problems", script=meddle("problem.list", UNANSWERED))
    page.until(NOTHING, "that nothing is wrong")
    page.js("window.hangs = true")
    page.reads("#problems-note", "The problems could not be read: the service gives no answer.")
    assert not page.js(NOTHING)
    assert page.texts("#count-problems") == ["?"]
    page.js("window.hangs = false")
    page.until(NOTHING, "that nothing is wrong")
    assert page.texts("#count-problems") == ["0"] and page.texts("#problems-note") == [""]


def test_what_was_wrong_before_stays_while_there_is_no_answer_and_is_told_to_be_of_before(pages, service, client):
    client.start(key="order-1", staleDate=after(MINUTE))
    client.advance(by=2 * MINUTE)
    page = pages(service, "problems", script=meddle("problem.list", UNANSWERED))
    page.until(f"{ROWS}.length === 1", "the row")
    page.js("window.hangs = true")
    page.reads("#problems-note", "gives no answer. What is shown is from before.")
    assert len(page.js(ROWS)) == 1

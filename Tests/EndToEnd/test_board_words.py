"""What the board says in so many words is what a person needs to know, and true."""

import pytest

from support.webpage import board_words


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


def start(client, key, **fields):
    fields = {"type": "Order", "attributes": {}, "contentState": {}, **fields}
    return client.applied("activity.start", key=key, **fields)["activity"]["id"]


def test_a_type_that_is_called_as_its_app_is_said_once(pages, service, client):
    pizza, order = start(client, "pizza-1", type="pizza", device="phone-1"), start(client, "order-1")
    page = pages(service, f"activities/activity/{client.app}/{pizza}", width=1600)
    assert "pizza" not in page.row(pizza).replace("pizza-1", "") and "Pizza" in page.row(pizza)
    assert "Order · Pizza" in page.row(order)
    page.until("document.querySelector('#detail-from').innerText !== ''", "the details")
    assert page.text("#detail-from") == "Pizza · phone-1"


def test_the_question_is_answered_by_what_is_to_be_done(pages, service, client):
    id = start(client, "order-1")
    page = pages(service, f"activities/activity/{client.app}/{id}", width=1600)
    for title in ("Dismiss", "End"):
        page.click(f"#detail-actions .action{'.danger' if title == 'Dismiss' else ':not(.danger)'}")
        page.until("document.querySelector('#sure').open", "the question")
        assert page.texts("#sure button") == ["Cancel", title]
        page.click("#sure [value=no]")
        page.until("!document.querySelector('#sure').open", "the question to go")


def test_an_empty_table_says_why_it_is_empty(pages, service, client):
    page = pages(service, width=1600)
    page.reads("#empty", "No activities yet. Start one")
    id = start(client, "order-1")
    page.row(id)
    page.click(".chip.stale")
    page.reads("#empty", "No activity is stale.")
    assert "filter" not in page.text("#empty").lower()
    page.fill("#filter", "order-2")
    page.reads("#empty", "No stale activity fits the filter.")
    page.click(".chip.listed")
    page.reads("#empty", "No current activity fits the filter.")
    page.fill("#filter", "")
    page.row(id)
    client.applied("activity.dismiss", id=id)
    page.reads("#empty", "No activity is current; those that were are dismissed.")
    page.open(page.origin + "/?again#activities")
    page.live()
    page.reads("#empty", "No activity is current; those that were are dismissed.")


def test_the_chips_and_the_lanes_say_what_they_are(pages, service, client):
    page = pages(service, width=1600)
    page.row(start(client, "order-1"))
    assert [" ".join(text.split()) for text in page.texts("#chips button")] == [
        "current 1", "pending 0", "active 1", "stale 0", "ended 0", "dismissed 0"]
    assert page.js("document.querySelector('#chips button').title") == "All that are not dismissed"
    assert page.js("""(() => { const choice = document.querySelector("#zoom");
        return `${choice.labels[0].innerText}: ${choice.selectedOptions[0].text}`; })()""") == "Lanes: Fit"


def test_a_person_chooses_how_much_the_lanes_show(pages, service, client):
    page = pages(service, width=1600)
    page.row(start(client, "order-1"))
    page.js("""(() => { const choice = document.querySelector("#zoom");
        choice.selectedIndex = [...choice.options].findIndex(({text}) => text === "30 minutes");
        choice.dispatchEvent(new Event("change")); })()""")
    page.until("""[...document.querySelectorAll("#ticks span")].some((tick) => tick.innerText === "00:05")""",
               "a tick each five minutes")

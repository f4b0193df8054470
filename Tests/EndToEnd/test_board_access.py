"""The board for everybody: axe finds nothing against WCAG 2.2 AA and good practice, whatever is shown, and however."""

import importlib.util
import json
import pathlib

import pytest

from support.dates import HOUR, after
from support.webpage import board_words
from support.widgets import Board

LOOKS = [(theme, width) for theme in ("light", "dark") for width in (1600, 400)]
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """axe.run(document, {resultTypes: ["violations"], runOnly: {type: "tag", values: TAGS}}).then(({violations}) =>
    violations.flatMap(({id, nodes}) => nodes.map(({target, any, all, none}) =>
        `${id}: ${target.join(" ")}: ${[...any, ...all, ...none].map(({message}) => message).join("; ")}`)))"""


@pytest.fixture(scope="module")
def axe():
    """The text of axe, which comes in a package of which nothing else is wanted."""
    found = importlib.util.find_spec("axe_playwright_python")
    assert found, "there is no axe: scripts/setup installs it"
    return (pathlib.Path(found.submodule_search_locations[0]) / "axe.min.js").read_text()


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


@pytest.fixture
def order(wire, service, client, home):
    """One of everything, an activity in each state. Gives the id of one."""
    home.shown(home.provider(), device="phone-1")
    board = Board(wire, service, client.app)  # it has nothing to do with what happened before
    board.placed(board.provider(), device="phone-1")
    fields = {"type": "Order", "attributes": {}, "contentState": {"status": "baking", "eta": 12}}
    ids = [client.applied("activity.start", key=f"order-{n}", device="phone-1", **fields, **more)["activity"]["id"]
           for n, more in enumerate([{}, {"staleDate": after(HOUR)}, {}, {}, {"staleDate": after(4 * HOUR)}])]
    client.read("clock.advance", by=2 * HOUR)
    client.applied("activity.end", id=ids[2])
    client.applied("activity.dismiss", id=ids[3])
    client.applied("activity.start", key="ride-1", startDate=after(4 * HOUR), alert={"title": "Soon", "body": "Now"},
                   **fields)
    return ids[0]


def violations(page, axe):
    page.until("document.getAnimations().every(({playState}) => playState !== 'running')", "all to stand still")
    page.js(axe + ";true")
    return page.js(RUN.replace("TAGS", json.dumps(TAGS)), 60)


@pytest.mark.parametrize("theme,width", LOOKS)
def test_nothing_stands_in_anybodys_way(pages, service, client, order, axe, theme, width):
    page = pages(service, width=width, theme=theme, still=True)
    page.row(order)
    found = {}

    def look(name):
        if lines := violations(page, axe):
            found[name] = lines

    look("activities")
    page.fill("#filter", "nothing-is-so")
    page.until("!document.querySelector('#empty').hidden", "nothing to be shown")
    look("no activity")
    page.fill("#filter", "")
    page.js(f"location.hash = 'activities/activity/{client.app}/{order}'")
    page.until("document.querySelectorAll('.decision').length > 0", "the details")
    look("details")
    client.applied("activity.dismiss", key="ride-1")  # so that a state has none
    client.applied("activity.update", id=order, contentState={"status": "in the oven", "eta": 9})
    page.until("document.querySelector('#states-legend .pending.none') !== null", "a state without any")
    for view, place in [("problems", "#problems-rows tr"), ("controls", ".tile"), ("widgets", ".card"), ("events", "#tail .line")]:
        page.js(f"location.hash = '{view}'")
        page.until(f"document.querySelector('{place}')?.offsetParent != null", view)
        look(view)
    page.js("location.hash = 'activities'")
    page.js("document.querySelector('#help-button').click()")
    look("help")
    page.js("document.querySelector('#help-close').click()")
    page.js("document.querySelector('[data-inspect=timers]').click()")
    page.until("document.querySelector('#inspect').open", "the timers")
    look("timers")
    assert found == {}, json.dumps(found, indent=2)


@pytest.mark.parametrize("width", [1600, 400])
def test_the_first_stop_of_tab_leads_past_figures_and_tabs(pages, service, order, width):
    page = pages(service, width=width)
    page.row(order)
    page.press("Tab")
    page.focused(".skip")
    page.press("Enter")
    page.focused("main")
    assert page.js("document.body.dataset.view") == "activities"
    page.press("Tab")
    page.focused("#filter")


def test_a_tab_that_can_be_seen_is_the_chosen_one(pages, service, order):
    """Where the events stand beside the activities they have no tab that could be reached."""
    page = pages(service, "events", width=1600)
    page.row(order)
    chosen = "[...document.querySelectorAll('#tabs [aria-selected=true][tabindex=\"0\"]')].map((tab) => tab.dataset.view)"
    page.until(f"{chosen}.join() === 'activities'", "the tab of the activities")
    page.press("3")
    page.press("5")
    page.until("document.body.dataset.view === 'events'")
    page.until(f"{chosen}.join() === 'activities'", "the tab of the activities")
    page.resize(400, 900)
    page.until(f"{chosen}.join() === 'events'", "the tab of the events")
    page.resize(1600, 900)
    page.until(f"{chosen}.join() === 'activities'", "the tab of the activities")


def test_the_skip_link_leads_to_the_view_that_is_shown(pages, service, order):
    page = pages(service, "controls", width=1600)
    page.press("Tab")
    page.focused(".skip")
    page.press("Enter")
    page.focused("main")
    assert page.js("document.body.dataset.view") == "controls"

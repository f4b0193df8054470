"""The board shows what a provider said of a call that it failed: on the tile, the face, in the panel and among problems."""

import pytest

from support.dates import HOUR
from support.provider import TORCH, toggle
from support.webpage import board_words

DOWN = "RuntimeError: db <b>down</b>"


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


def test_a_control_shows_its_reason_wherever_it_is_shown(pages, service, home):
    provider = home.provider(toggle(displayName="Torch"))
    id = home.shown(provider)
    page = pages(service, "controls")
    page.click(f'.tile[data-id="{id}"] .tap')
    provider.fail(provider.call("perform", TORCH, id), message=DOWN)
    page.reads("#toasts", f"Torch: {DOWN}.")
    provider.fail(provider.call("value", TORCH, id), message="no " + "x" * 253)
    page.reads(f'.tile[data-id="{id}"]', "no xxx")
    page.click(f'.tile[data-id="{id}"] .info')
    page.reads("#explain", DOWN)
    page.reads("#explain", "no " + "x" * 253)
    wide = "document.querySelector('#detail').scrollWidth <= document.querySelector('#detail').clientWidth"
    assert page.js(wide), "a long reason is broken"
    problems = pages(service, "problems")
    problems.reads("#problems-rows", "no xxx")


def test_a_widget_shows_its_reason_below_its_entry_in_the_room_that_there_is(pages, service, board):
    provider = board.provider()
    id = board.placed(provider)
    board.rest(by=HOUR)
    board.reload(id)
    provider.fails(id, message=DOWN + " x" * 128)
    page = pages(service, "widgets")
    page.reads(f'.card[data-id="{id}"] .face', f"Last call: {DOWN}")
    note = f"""document.querySelector('.card[data-id="{id}"] .face .stale-note')"""
    assert page.js(f"{note}.getBoundingClientRect().bottom <= {note}.closest('.face').getBoundingClientRect().bottom")

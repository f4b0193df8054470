"""The board as a page: nothing that a user gave becomes markup, both themes can be read, it fits, and it comes back."""

import re
import socket

import pytest

from support.commands import Commands
from support.http import Pages
from support.webpage import board_words

WIDTHS = (360, 900, 1600)
# The last while a service starts or stops: its port for HTTP is the first to be there and the last to go.
NO_CONNECTION = (*(f"ERR_{what}" for what in (
    "CONNECTION_REFUSED", "CONNECTION_RESET", "EMPTY_RESPONSE", "INCOMPLETE_CHUNKED_ENCODING")), "status of 503")
EVIL = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=2</script>"


@pytest.fixture
def service(serve):
    return serve(words=board_words("--board-write"))


def start(client, key, **fields):
    fields = {"type": "Order", "attributes": {}, "contentState": {"status": "baking"}, **fields}
    return client.applied("activity.start", key=key, **fields)["activity"]["id"]


# What users give


def test_what_a_user_gives_is_text_wherever_it_stands(pages, service, client, home):
    torch = home.shown(home.provider(), look={"status": EVIL, "tint": "red;background:url(http://example.invalid/)"})
    id = start(client, "order-1", contentState={"status": EVIL, EVIL: EVIL}, attributes={"title": EVIL})
    page = pages(service, width=1600)
    page.row(id, "text.includes('<img src=x')")
    client.applied("activity.update", id=id, contentState={"status": EVIL}, alert={"title": EVIL, "body": EVIL})
    page.click(f'.row[data-id="{id}"]')
    page.until("document.querySelectorAll('.decision').length === 2")
    page.reads(".lock", "<script>")
    page.reads("#payloads", "<script>")
    page.js("location.hash = 'controls'")
    page.reads(f'.tile[data-id="{torch}"]', "<img src=x")
    assert page.js("window.hacked") is None
    assert page.js("document.querySelectorAll('img').length") == 0
    assert page.js("document.scripts.length") == 1
    assert "url(" not in page.js(f"""document.querySelector('.tile[data-id="{torch}"]').getAttribute('style')""")


def test_the_page_forbids_what_it_does_not_need(service):
    got = Pages(service.endpoints["http"]).get("/")
    assert got.status == 200
    policy = got.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "unsafe" not in policy
    assert got.headers["X-Content-Type-Options"] == "nosniff"
    text = got.body.decode()
    assert not re.search(r"\son\w+=|\sstyle=|<style|https?://", text)


# Looks


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_can_be_read_in_both_themes(pages, service, client, theme):
    start(client, "order-1")
    page = pages(service, width=1600, theme=theme)
    assert page.js("document.documentElement.dataset.theme") == theme
    states = [(f"{state}-text", "surface") for state in ("pending", "active", "stale", "ended", "dismissed")]
    for front, back in [("text", "surface"), ("soft", "surface"), ("faint", "surface"), ("text", "page"),
                        ("soft", "page"), ("bad", "surface"), ("soft", "sunken"), ("on-accent", "accent"), ("stale-text", "warn-soft"),
                        *states]:
        ratio = page.js(CONTRAST % (front, back))
        assert ratio >= 4.5, f"{front} on {back}: {ratio:.2f}"


def test_the_person_chooses_the_theme_and_the_choice_is_kept(pages, service):
    page = pages(service, theme="light")
    page.press("d")
    page.until("document.documentElement.dataset.theme === 'dark'")
    page.open(page.origin + "/?again")
    page.until("document.documentElement.dataset.theme === 'dark'")
    page.live()
    page.click("#theme")
    page.until("document.documentElement.dataset.theme === 'light'")


@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_into_the_window_in_each_view(pages, service, client, board, width):
    board.placed(board.provider())
    id = start(client, "order-1", contentState={"status": "a status that is longer than any row is wide " * 4})
    page = pages(service, width=width, height=780)
    page.row(id)
    for view in ("problems", "activities", "controls", "widgets", "events", f"activities/activity/{client.app}/{id}"):
        page.js(f"location.hash = {view!r}")
        page.until(f"document.body.dataset.view === {view.split('/')[0]!r}")
        assert page.js("document.documentElement.scrollWidth") <= width, view
    page.until("document.querySelectorAll('.decision').length === 1")


def test_nothing_moves_for_those_who_ask_for_stillness(pages, service, client):
    page = pages(service, still=True)
    id = start(client, "order-1")
    page.row(id)
    client.applied("activity.update", id=id, contentState={"status": "on the way"})
    page.row(id, "text.includes('on the way')")
    assert page.js("document.getAnimations().length") == 0


def test_everything_that_can_be_used_has_a_name(pages, service, client, home):
    home.shown(home.provider())
    id = start(client, "order-1")
    page = pages(service, f"controls/activity/{client.app}/{id}", width=1600)
    page.until("document.querySelectorAll('.decision').length === 1")
    nameless = page.js("""[...document.querySelectorAll('button, input, select, [role=img]')].filter((each) =>
        each.offsetParent !== null && !(each.ariaLabel || each.innerText?.trim() || each.labels?.length
        || each.getAttribute('aria-label') === '')).map((each) => each.outerHTML)""")
    assert nameless == []


# Coming back


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_it_comes_back_with_the_service(serve, pages, wire, tmp_path):
    words = board_words("--board-write", http=f"127.0.0.1:{free_port()}", store="sqlite", data=tmp_path / "data")
    first = serve(words=words)
    client = Commands(wire, first.commands)
    kept, ended = start(client, "order-1"), start(client, "order-2")
    page = pages(first)
    page.row(kept)
    page.expected = NO_CONNECTION
    first.stop()
    page.until("!document.querySelector('#offline').hidden", "the page to say that there is no connection")
    assert "order-1" in page.keys(), "what was known stays"
    second = serve(words=words)
    client = Commands(wire, second.commands)
    client.applied("activity.end", id=ended, dismissalPolicy="immediate")
    third = start(client, "order-3")
    page.live()
    page.row(third)
    page.gone(f'.row[data-id="{ended}"]')
    page.row(kept)
    assert page.js("document.querySelector('#offline').hidden")


def test_a_service_that_forgot_everything_is_shown_empty(serve, pages, wire):
    words = board_words(http=f"127.0.0.1:{free_port()}")
    first = serve(words=words)
    id = start(Commands(wire, first.commands), "order-1")
    page = pages(first)
    page.row(id)
    page.expected = NO_CONNECTION
    first.stop()
    page.until("!document.querySelector('#offline').hidden")
    serve(words=words)
    page.gone(f'.row[data-id="{id}"]')
    page.live()


# What is lost on the way

TAMPER = """(() => {
    const Real = window.EventSource;
    window.sources = [];
    window.EventSource = class extends Real {
        constructor(...words) { super(...words); window.sources.push(this); }
        addEventListener(name, listener) {
            super.addEventListener(name, (message) => { if (!message.data?.includes("lose me")) listener(message); });
        }
    };
})()"""


def test_an_event_that_is_missing_is_noticed_and_all_is_read_again(pages, service, client):
    id = start(client, "order-1")
    page = pages(service, script=TAMPER)
    page.row(id)
    client.applied("activity.update", id=id, contentState={"status": "lose me"})
    start(client, "order-2")  # whose number tells that one is missing
    page.row(id, "text.includes('lose me')")
    client.applied("activity.end", id=id)
    page.row(id, "row.dataset.state === 'ended'")


def test_a_page_that_was_too_slow_reads_all_again(pages, service, client):
    id = start(client, "order-1")
    page = pages(service, script=TAMPER)
    page.row(id)
    client.applied("activity.update", id=id, contentState={"status": "lose me"})
    page.js("window.sources.at(-1).dispatchEvent(new MessageEvent('lost', {data: ''}))")
    page.row(id, "text.includes('lose me')")


CONTRAST = """(() => {
    const style = getComputedStyle(document.documentElement);
    const light = (name) => {
        const probe = document.createElement("canvas").getContext("2d");
        probe.fillStyle = style.getPropertyValue(name);
        const parts = [1, 3, 5].map((at) => parseInt(probe.fillStyle.slice(at, at + 2), 16) / 255)
            .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const [one, other] = [light("--%s"), light("--%s")];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
})()"""

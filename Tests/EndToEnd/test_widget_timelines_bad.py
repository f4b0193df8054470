"""Timelines that cannot be shown: each is refused with its reason, the call has failed, and what was shown stays."""

import pytest

from support.dates import EPOCH, HOUR, after
from support.provider import TORCH, toggle
from support.widgets import entry, widget

LARGE = ["systemMedium", "systemLarge", "systemExtraLarge", "systemExtraLargePortrait"]
SMALL = ["systemSmall", "accessoryCircular", "accessoryRectangular", "accessoryInline", "accessoryCorner"]
GOOD = entry(EPOCH, 1)
SECONDS = EPOCH // 1000
COCOA = SECONDS - 978_307_200


def told(provider, call, reason, index=None, limit=None):
    """The answer must be refused for this reason."""
    error = provider.refused("badAnswer", call)
    detail = {"call": call["call"], "reason": reason, "index": index, "limit": limit}
    assert error["detail"] == {name: value for name, value in detail.items() if value is not None}, error
    assert error["retry"] == "never"


BAD = [
    ("no entries", {"entries": []}, "emptyTimeline", None),
    ("entries are absent", {}, "emptyTimeline", None),
    ("out of order", {"entries": [entry(EPOCH), entry(after(2)), entry(after(1))]}, "entriesOutOfOrder", 2),
    ("no object", {"entries": [GOOD, 7]}, "badEntry", 1),
    ("null", {"entries": [None]}, "badEntry", 0),
    ("no date", {"entries": [{"content": {}}]}, "badEntry", 0),
    ("a date as text", {"entries": [{"date": "2026-01-01"}]}, "badEntry", 0),
    ("a date with a fraction", {"entries": [{"date": EPOCH + 0.5}]}, "implausibleDate", 0),
    ("another member", {"entries": [GOOD, {"date": EPOCH, "view": {}}]}, "badEntry", 1),
    ("content that is no object", {"entries": [{"date": EPOCH, "content": "20 °C"}]}, "badEntry", 0),
    ("content that is an array", {"entries": [{"date": EPOCH, "content": []}]}, "badEntry", 0),
    ("a url that is no text", {"entries": [{"date": EPOCH, "url": {}}]}, "badEntry", 0),
    ("links that are no object", {"entries": [{"date": EPOCH, "links": ["a"]}]}, "badEntry", 0),
    ("a link without a name", {"entries": [{"date": EPOCH, "links": {"": "b"}}]}, "badEntry", 0),
    ("a link that is no text", {"entries": [{"date": EPOCH, "links": {"a": 1}}]}, "badEntry", 0),
    ("a date in seconds", {"entries": [GOOD, entry(SECONDS)]}, "implausibleDate", 1),
    ("a date in seconds since 2001", {"entries": [entry(COCOA)]}, "implausibleDate", 0),
    ("a date in microseconds", {"entries": [entry(EPOCH * 1000)]}, "implausibleDate", 0),
    ("a negative score", {"entries": [entry(EPOCH, relevance={"score": -1})]}, "badRelevance", 0),
    ("no score", {"entries": [entry(EPOCH, relevance={"duration": 1})]}, "badRelevance", 0),
    ("a score as text", {"entries": [entry(EPOCH, relevance={"score": "high"})]}, "badRelevance", 0),
    ("a negative duration", {"entries": [GOOD, entry(EPOCH, relevance={"score": 1, "duration": -1})]},
     "badRelevance", 1),
    ("relevance with another member", {"entries": [entry(EPOCH, relevance={"score": 1, "until": 2})]},
     "badRelevance", 0),
    ("relevance that is a number", {"entries": [entry(EPOCH, relevance=1)]}, "badRelevance", 0),
    ("a policy that there is not", {"entries": [GOOD], "policy": "always"}, "badPolicy", None),
    ("a policy that is a number", {"entries": [GOOD], "policy": 1}, "badPolicy", None),
    ("after nothing", {"entries": [GOOD], "policy": {}}, "badPolicy", None),
    ("after with another member", {"entries": [GOOD], "policy": {"after": EPOCH, "before": EPOCH}}, "badPolicy", None),
    ("after a text", {"entries": [GOOD], "policy": {"after": "noon"}}, "badPolicy", None),
    ("a login of two entries", {"entries": [GOOD, entry(after(1))], "needsLogin": True}, "needsLoginEntries", None),
    ("a login of no entry", {"entries": [], "needsLogin": True}, "emptyTimeline", None),
    ("after a date in seconds", {"entries": [GOOD], "policy": {"after": SECONDS}}, "badPolicy", None),
]


@pytest.mark.parametrize("members, reason, index", [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD])
def test_a_bad_timeline_is_refused_with_its_reason_and_its_entry(board, members, reason, index):
    provider = board.provider()
    id = board.placed(provider, entry(EPOCH, 0), family="systemMedium")
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    call = provider.call("timeline")
    provider.say("provider.answer", call=call["call"], **members)
    told(provider, call, reason, index)
    patch = board.next("failed", id=id, state="shown", failure="badAnswer")
    assert patch["next"]["cause"] == "retry"
    assert board.agrees(id)["entry"] == entry(EPOCH, 0)
    provider.show(call, GOOD)
    provider.refused("unknownCall", call)
    provider.uncalled()


def test_a_first_timeline_that_is_bad_leaves_the_placeholder(board):
    provider = board.provider()
    id = board.add()
    call = provider.call("timeline")
    provider.show(call)
    told(provider, call, "emptyTimeline")
    board.next("failed", id=id, state="placeholder", failure="badAnswer")
    whole = board.agrees(id)
    assert "entry" not in whole and whole["next"]["cause"] == "retry"


def test_more_entries_than_the_rule_allows(ruled):
    board = ruled(maximumTimelineEntries=3)
    provider = board.provider()
    id = board.placed(provider, *(entry(after(n * HOUR), n) for n in range(3)))
    board.rest(by=12 * HOUR)
    board.next("entry")
    board.next("entry")
    board.reload(id)
    board.next("reloading")
    call = provider.call("timeline")
    provider.show(call, *(entry(after(n * HOUR), n) for n in range(4)))
    told(provider, call, "tooManyEntries", limit=3)
    board.next("failed", failure="badAnswer")
    assert board.agrees(id)["entry"]["content"] == {"n": 2}


def test_a_timeline_fills_a_frame_at_most(board):
    provider = board.provider()
    id = board.add()
    call = provider.call("timeline")
    provider.show(call, entry(EPOCH, url="x" * 2_000), entry(EPOCH, **{"content": {"x": "y" * 70_000}}))
    assert provider._next("answer")["error"]["code"] == "badMessage"
    # It is none, so the call is over like that of any other bad answer, and does not stay open until its deadline.
    board.next("failed", id=id, failure="badAnswer")
    board.client.applied("widget.reload", id=id)
    provider.shows(entry(EPOCH, **{"content": {"x": "y" * 60_000}}), id=id)
    board.next("reloading", id=id)
    board.next("timeline", id=id)
    assert len(board.agrees(id)["entry"]["content"]["x"]) == 60_000


def test_a_timeline_that_fills_more_than_a_frame_ends_its_call_while_the_clock_travels_too(board):
    provider = board.provider()
    id = board.add()
    call = provider.call("timeline")
    step = board.client.command("clock.advance", by=1)
    board.client.send(step)
    # The clock waits for the call, so that it travels when this comes.
    provider.show(call, entry(EPOCH, **{"content": {"x": "y" * 70_000}}))
    assert board.client.answer_to(step["req"])[0]["ok"]
    board.next("failed", id=id, failure="badAnswer")
    assert provider._next("answer")["error"]["code"] == "badMessage"


@pytest.mark.parametrize("family", LARGE + SMALL)
def test_links_have_a_place_in_medium_and_larger_families_alone(board, family):
    provider = board.provider(widget(families=[family]))
    id = board.add(family=family)
    call = provider.call("timeline")
    linked = entry(EPOCH, links={"tomorrow": "weather://1"})
    provider.show(call, GOOD, linked)
    if family in LARGE:
        board.next("timeline", id=id, entry=linked)
    else:
        told(provider, call, "linksNotAllowed", 1)
        board.next("failed", failure="badAnswer")


@pytest.mark.parametrize("family", SMALL)
def test_a_url_has_a_place_in_every_family(board, family):
    provider = board.provider(widget(families=[family]))
    id = board.placed(provider, entry(EPOCH, url="weather://now"), family=family)
    assert board.agrees(id)["entry"]["url"] == "weather://now"


@pytest.mark.parametrize("relevance", [
    {"score": 0}, {"score": 0.25, "duration": 0}, {"score": 1e3, "duration": 60_000}])
def test_relevance_that_is_right_is_taken(board, relevance):
    provider = board.provider()
    id = board.placed(provider, entry(EPOCH, relevance=relevance))
    assert board.agrees(id)["entry"]["relevance"] == relevance


def test_a_control_is_not_answered_with_entries_and_a_widget_not_with_a_value(board):
    provider = board.provider(widget(), register=False)
    provider.kinds = [toggle(TORCH)]
    provider.register()
    id = board.add()
    call = provider.call("timeline")
    provider.answer(call, {"n": 1})
    assert provider.refused("badAnswer", call)["detail"]["reason"] == "emptyTimeline"
    board.next("failed", id=id)
    board.client.applied("control.add", kind=TORCH)
    board.next("added")
    call = provider._next("call")
    provider.show(call, GOOD)
    provider.refused("badAnswer", call)
    board.next("failed", failure="badAnswer")


def test_a_bad_timeline_is_a_fault_and_is_not_asked_of_another(board):
    first, second = board.provider(), board.provider()
    id = board.add()
    call = first.call("timeline")
    first.show(call)
    told(first, call, "emptyTimeline")
    board.next("failed", id=id, failure="badAnswer")
    second.uncalled()


def test_sixteen_of_them_within_a_minute_end_a_provider(board):
    provider = board.provider(capacity=64)
    commands = [board.client.command("widget.add", kind=widget()["kind"], family="systemSmall") for _ in range(16)]
    board.client.batch(*commands)
    for _ in range(16):
        provider.show(provider.call("timeline"))
    provider.dropped("faults")

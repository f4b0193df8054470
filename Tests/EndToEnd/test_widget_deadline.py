"""A provider that misses its time: 5 seconds for a timeline, where it declares no other."""

import time

from support.dates import EPOCH, HOUR, after
from support.stalls import allowed
from support.widgets import FORECAST, entry, widget


def standard(**members):
    """A kind whose times are the contract's."""
    return {"kind": FORECAST, "families": ["systemSmall"], **members}


def test_a_timeline_has_five_seconds(board):
    provider = board.provider(standard())
    begun = time.monotonic()
    id = board.add()
    call = provider.call("timeline")
    assert 4_000 < call["within"] <= 5_000
    board.next("failed", id=id, cause="timeout", failure="timedOut", state="placeholder")
    assert 5.0 <= time.monotonic() - begun < 5.0 + allowed(begun)
    assert board.event["at"] == EPOCH, "the clock stood"
    provider.cancelled(call, "timedOut")
    provider.show(call, entry(EPOCH, 1))
    provider.uncalled()
    board.silent()
    [row] = board.providers().values()
    assert (row["late"], row["unknown"]) == (1, 0), "slow is no fault"
    assert "entry" not in board.agrees(id)


def test_who_is_late_keeps_what_is_shown_and_is_asked_again(board):
    provider = board.provider(standard(timelineDeadline=100))
    id = board.placed(provider, entry(EPOCH, 1), entry(after(2 * HOUR), 2))
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    call = provider.call("timeline")
    patch = board.next("failed", id=id, failure="timedOut", state="shown")
    provider.cancelled(call, "timedOut")
    due = patch["next"]["at"]
    assert patch["next"]["cause"] == "retry" and due > after(HOUR)
    with board.travel(to=due):
        provider.shows_now(3, id=id)
    board.next("reloading", id=id, cause="retry")
    board.next("timeline", failure=None)
    assert board.agrees(id)["entry"]["content"] == {"n": 3}
    assert board.budget(id)["spentAt"] == [after(HOUR), due], "both were asked for"


def test_a_step_of_the_clock_waits_for_the_deadline_and_goes_on(board):
    provider = board.provider(standard(timelineDeadline=300))
    board.placed(provider, entry(EPOCH), entry(after(HOUR)), policy="atEnd")
    begun = time.monotonic()
    assert board.rest(to=after(HOUR)) == after(HOUR)
    assert 0.3 <= time.monotonic() - begun < 0.3 + allowed(begun)
    board.next("entry")
    board.next("reloading", cause="atEnd")
    board.next("failed", failure="timedOut")
    assert board.event["at"] == after(HOUR)
    provider.call("timeline")


def test_one_slow_widget_delays_no_other(board):
    slow = board.provider(standard(timelineDeadline=2_000))
    quick = board.provider(widget("com.example.quick"))
    begun = time.monotonic()
    hung = board.add()
    slow.call("timeline")
    for _ in range(5):
        board.placed(quick, kind="com.example.quick")
    assert time.monotonic() - begun < 2.0
    board.next("failed", id=hung, failure="timedOut")


def test_of_two_providers_the_other_gets_what_one_could_not_do_in_time_left(board):
    first, second = board.provider(standard()), board.provider(standard())
    id = board.add()
    call = first.call("timeline")
    first.leave()
    again = second.call("timeline", placed=id)
    assert again["attempt"] == 2 and again["within"] <= call["within"]
    second.shows = None
    second.show(again, entry(EPOCH, 2), policy="never")
    board.next("timeline", id=id, entry=entry(EPOCH, 2))


def test_an_action_has_ten_seconds_or_what_its_kind_says(board):
    provider = board.provider(standard(actionDeadline=200))
    id = board.placed(provider, entry(EPOCH, 1))
    begun = time.monotonic()
    board.client.applied("widget.tap", id=id, action="refresh")
    board.next("acting")
    call = provider.call("perform", placed=id)
    assert call["within"] <= 200
    board.next("failed", id=id, failure="timedOut", cause="timeout")
    assert 0.2 <= time.monotonic() - begun < 0.2 + allowed(begun)
    provider.cancelled(call, "timedOut")
    board.next("reloading", id=id, cause="action")
    assert board.event["exempt"] == "intent"
    provider.shows_now(2, id=id)
    board.next("timeline", id=id, failure=None)
    board.agrees(id)


def test_an_action_that_ends_late_has_happened_and_its_timeline_is_asked_for_again(board):
    provider = board.provider(standard(actionDeadline=100))
    id = board.placed(provider, entry(EPOCH, 1))
    board.client.applied("widget.tap", id=id, action="refresh")
    board.next("acting")
    call = provider.call("perform")
    board.next("failed", failure="timedOut")
    board.next("reloading", cause="action")
    provider.shows_now(1, id=id)
    board.next("timeline")
    provider.say("provider.answer", call=call["call"])
    board.next("reloading", id=id, cause="action")
    assert board.event["exempt"] == "intent"
    provider.shows_now(2, id=id)
    board.next("timeline")
    assert board.agrees(id)["entry"]["content"] == {"n": 2}

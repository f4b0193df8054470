"""Timelines: each entry at its date, the next timeline by the policy, and what becomes of one that fails."""

import pytest

from support.dates import EPOCH, HOUR, MINUTE, SECOND, after
from support.widgets import DAY, entry, widget

SPACING = 5 * MINUTE
"""Between entries that are shown, and between reloads: the rule set's."""


@pytest.fixture
def provider(board):
    return board.provider()


def hours(*numbers):
    return [entry(after(number * HOUR), number) for number in numbers]


# Entries at their dates


def test_each_entry_is_shown_at_its_date(board, provider):
    id = board.placed(provider, *hours(0, 1, 2))
    for index in (1, 2):
        board.rest(to=after(index * HOUR) - 1)
        board.silent()
        board.rest(by=1)
        board.next("entry", id=id, cause="entry", entry=entry(after(index * HOUR), index), entryIndex=index, state=None)
        assert (board.event["at"], board.event["lateBy"]) == (after(index * HOUR), 0)
        assert (board.event["from"], board.event["to"]) == ("shown", "shown")
        whole = board.agrees(id)
        assert whole.get("next") == ({"at": after(2 * HOUR), "cause": "entry"} if index == 1 else None)
    board.rest(by=30 * DAY)
    board.silent()
    provider.uncalled()


def test_a_step_over_many_entries_shows_each_of_them_in_the_order_of_dates(board, provider):
    first = board.placed(provider, *hours(0, 1, 3))
    second = board.placed(provider, *hours(0, 2, 4))
    board.rest(by=DAY)
    seen = []
    for _ in range(4):
        seen.append((board.next("entry")["id"], board.event["at"], board.event["lateBy"]))
    assert seen == [(first, after(HOUR), 0), (second, after(2 * HOUR), 0), (first, after(3 * HOUR), 0),
                    (second, after(4 * HOUR), 0)]
    for id in (first, second):
        board.agrees(id)


def test_entries_of_the_past_are_dropped_but_for_the_newest(board, provider):
    id = board.placed(provider, *hours(-3, -2, -1, 1))
    assert board.event["rules"] == ["pastEntriesDropped"]
    whole = board.agrees(id)
    assert whole["entry"] == entry(after(-HOUR), -1) and whole["next"]["at"] == after(HOUR)
    timeline = board.client.read("widget.timeline", id=id)["timeline"]
    assert timeline["entries"][whole["entryIndex"]] == whole["entry"] and len(timeline["entries"]) == whole["entries"]
    board.rest(by=HOUR)
    board.next("entry", entry=entry(after(HOUR), 1), entryIndex=whole["entryIndex"] + 1)


def test_a_timeline_of_the_past_alone_shows_its_last_entry(board, provider):
    id = board.placed(provider, *hours(-3, -2))
    assert board.agrees(id)["entry"] == entry(after(-2 * HOUR), -2)
    board.rest(by=DAY)
    board.silent()


def test_where_all_entries_are_ahead_there_is_a_placeholder_until_the_first(board, provider):
    id = board.placed(provider, *hours(1, 2))
    assert (board.event["from"], board.event["to"]) == ("loading", "placeholder")
    whole = board.agrees(id)
    assert whole["state"] == "placeholder" and whole["next"] == {"at": after(HOUR), "cause": "entry"}
    assert "entry" not in whole and "entryIndex" not in whole and whole["entries"] == 2
    board.rest(by=HOUR)
    board.next("entry", id=id, state="shown", entry=entry(after(HOUR), 1), entryIndex=0)
    assert (board.event["from"], board.event["to"]) == ("placeholder", "shown")
    board.agrees(id)


def test_what_is_shown_is_carried_over_until_the_first_entry_of_the_next_timeline(board, provider):
    id = board.placed(provider, *hours(0))
    board.rest(by=30 * MINUTE)
    board.reloaded(provider, id, *hours(1, 2))
    whole = board.agrees(id)
    assert (whole["state"], whole["entry"], whole["entries"]) == ("shown", entry(EPOCH, 0), 2)
    assert "entryIndex" not in whole and whole["timelineAt"] == after(30 * MINUTE)
    assert board.client.read("widget.timeline", id=id, at=after(HOUR))["at"]["entryIndex"] == 0
    for date in (after(30 * MINUTE), after(HOUR) - 1):
        then = board.client.read("widget.timeline", id=id, at=date)["at"]
        assert then == {"at": date, "entry": entry(EPOCH, 0)}
    before = board.client.read("widget.timeline", id=id, at=after(30 * MINUTE) - 1)["at"]
    assert "entry" not in before, "what the timeline before showed then is not kept"
    board.rest(to=after(HOUR))
    board.next("entry", id=id, entry=entry(after(HOUR), 1), entryIndex=0)
    board.agrees(id)


def test_a_new_timeline_replaces_what_the_old_one_would_have_shown(board, provider):
    id = board.placed(provider, *hours(0, 1, 2, 3))
    board.rest(to=after(90 * MINUTE))
    board.next("entry")
    board.reloaded(provider, id, entry(after(90 * MINUTE), 10), entry(after(4 * HOUR), 11))
    board.rest(to=after(4 * HOUR))
    board.next("entry", id=id, entryIndex=1, entry=entry(after(4 * HOUR), 11))
    assert board.event["at"] == after(4 * HOUR)


def test_of_entries_with_the_same_date_the_later_one_wins(board, provider):
    id = board.placed(provider, entry(EPOCH, 1), entry(EPOCH, 2), entry(after(HOUR), 3), entry(after(HOUR), 4))
    assert board.agrees(id)["entry"] == entry(EPOCH, 2)
    board.rest(by=2 * HOUR)
    board.next("entry", entry=entry(after(HOUR), 4))
    board.silent()


@pytest.mark.parametrize("minutes, steps", [
    ([0, 1, 2, 10], [(5, 2), (10, 10)]),
    ([0, 4, 5, 6, 20], [(5, 5), (10, 6), (20, 20)]),
    ([0, 1, 2, 3], [(5, 3)]),
    ([0, 5, 10], [(5, 5), (10, 10)]),
    ([0, 6, 7, 8, 12, 30], [(6, 6), (11, 8), (16, 12), (30, 30)]),
])
def test_entries_closer_than_the_spacing_become_one(board, provider, minutes, steps):
    id = board.placed(provider, *(entry(after(minute * MINUTE), minute) for minute in minutes))
    coalesced = any(later - earlier < 5 for earlier, later in zip(minutes, minutes[1:]))
    assert board.event.get("rules", []) == (["entriesCoalesced"] if coalesced else [])
    board.rest(by=HOUR)
    seen = []
    for _ in steps:
        patch = board.next("entry", id=id)
        assert board.event["lateBy"] == 0
        seen.append(((board.event["at"] - EPOCH) // MINUTE, patch["entry"]["content"]["n"]))
    assert seen == steps
    board.silent()
    timeline = board.client.read("widget.timeline", id=id, at=after(30 * SECOND))
    assert timeline["at"]["entry"]["content"]["n"] == 0


def test_what_will_be_shown_is_told_with_the_spacing(board, provider):
    id = board.placed(provider, *(entry(after(minute * MINUTE), minute) for minute in (0, 1, 2, 10)))
    for minute, shown in ((0, 0), (1, 0), (4, 0), (5, 2), (9, 2), (10, 10)):
        at = board.client.read("widget.timeline", id=id, at=after(minute * MINUTE))["at"]
        assert at["entry"]["content"]["n"] == shown, minute


def test_in_developer_mode_every_entry_has_its_moment(board, provider):
    board.device("developerModeOn")
    id = board.placed(provider, *(entry(after(minute * MINUTE), minute) for minute in (0, 1, 2)), device="phone")
    assert "rules" not in board.event
    board.rest(by=HOUR)
    for minute in (1, 2):
        board.next("entry", id=id, entryIndex=minute)
        assert board.event["at"] == after(minute * MINUTE)


# Policies


def reload_at(board, id, cause, at, exempt=None):
    """The next event must be this reload."""
    board.next("reloading", id=id, cause=cause, state="reloading")
    assert (board.event["at"], board.event.get("exempt")) == (at, exempt), board.event


def test_at_the_end_the_next_timeline_is_asked_for_at_the_last_entrys_date(board, provider):
    id = board.placed(provider, *hours(0, 1, 2), policy=None)
    assert board.agrees(id)["policy"] == "atEnd"
    with board.travel(by=3 * HOUR):
        call = provider.call("timeline", placed=id)
        assert call["now"] == after(2 * HOUR)
        provider.show(call, *hours(2, 50), policy="atEnd")
    board.next("entry", entryIndex=1)
    board.next("entry", entryIndex=2)
    reload_at(board, id, "atEnd", after(2 * HOUR))
    board.next("timeline", id=id)
    assert board.budget(id)["spentAt"] == [after(2 * HOUR)]
    board.agrees(id)


def test_a_timeline_of_one_entry_is_asked_for_again_after_the_spacing(board, provider):
    id = board.placed(provider, entry(EPOCH, 1), policy="atEnd")
    assert board.agrees(id)["next"] == {"at": after(SPACING), "cause": "policy"}
    with board.travel(by=2 * SPACING - 1):
        assert provider.shows(entry(after(SPACING), 2), policy="atEnd")["now"] == after(SPACING)
    reload_at(board, id, "atEnd", after(SPACING))
    board.next("timeline", next={"at": after(2 * SPACING), "cause": "policy"})
    assert "held" not in board.agrees(id), "it was planned so"


def test_after_is_never_before_its_date_and_a_little_after_it(board, provider):
    jitter, ids = board.rules["widgetReloadJitter"], []
    wanted = after(10 * HOUR)
    limit = min(jitter, HOUR)
    for _ in range(30):
        ids.append(board.placed(provider, *hours(0), policy={"after": wanted}))
    dates = {id: board.agrees(id)["next"] for id in ids}
    assert {next["cause"] for next in dates.values()} == {"policy"}
    assert all(wanted <= next["at"] <= wanted + limit for next in dates.values())
    assert len({next["at"] for next in dates.values()}) > len(ids) / 2, "a herd"
    with board.travel(to=wanted + limit):
        for _ in ids:
            provider.shows_now()
    seen = {}
    for _ in range(2 * len(ids)):
        patch = board.next()
        if board.event["event"] == "widget.reloading":
            assert board.event["cause"] == "after" and board.event["lateBy"] == 0
            seen[patch["id"]] = board.event["at"]
    assert seen == {id: next["at"] for id, next in dates.items()}


@pytest.mark.parametrize("span", [-HOUR, 0, MINUTE])
def test_after_a_date_that_is_near_or_past_there_is_still_the_spacing(board, provider, span):
    id = board.placed(provider, *hours(0), policy={"after": after(span)})
    assert board.agrees(id)["next"] == {"at": after(SPACING), "cause": "policy"}


def test_the_jitter_is_a_tenth_of_the_way_at_most(board, provider):
    for _ in range(10):
        id = board.placed(provider, *hours(0), policy={"after": after(20 * MINUTE)})
        assert after(20 * MINUTE) <= board.agrees(id)["next"]["at"] <= after(22 * MINUTE)


def test_never_is_never_until_the_app_asks(board, provider):
    id = board.placed(provider, *hours(0, 1), policy="never")
    board.rest(by=10 * DAY)
    board.next("entry")
    board.silent()
    provider.uncalled()
    board.reloaded(provider, id)


def test_a_policy_after_the_end_comes_while_the_last_entry_stays(board, provider):
    id = board.placed(provider, *hours(0, 1), policy={"after": after(30 * MINUTE)})
    due = board.agrees(id)["next"]["at"]
    assert after(30 * MINUTE) <= due <= after(33 * MINUTE), "before the last entry"
    with board.travel(to=due):
        provider.shows(*hours(1, 2), policy="never")
    reload_at(board, id, "after", due)
    board.next("timeline", entryIndex=None)
    assert board.agrees(id)["entry"] == entry(EPOCH, 0)


# Login


def test_without_a_session_there_is_one_entry_that_asks_for_it(board, provider):
    id = board.placed(provider, entry(EPOCH, url="app://login"), policy=None, needsLogin=True)
    whole = board.agrees(id)
    assert (whole["needsLogin"], whole["policy"], whole["state"]) == (True, "never", "shown")
    board.rest(by=DAY)
    board.silent()
    board.reloaded(provider, id, entry(after(DAY), 1))
    whole = board.agrees(id)
    assert "needsLogin" not in whole and whole["entry"] == entry(after(DAY), 1)


def test_a_login_may_have_a_policy_of_its_own(board, provider):
    id = board.placed(provider, entry(EPOCH), policy={"after": after(HOUR)}, needsLogin=True)
    whole = board.agrees(id)
    assert whole["needsLogin"] is True and whole["policy"] == {"after": after(HOUR)}
    assert whole["next"]["cause"] == "policy"


# Failures


def failed(board, id, **members):
    """The next event must be a failure of this widget; gives when it is tried again."""
    patch = board.next("failed", id=id, **members)
    return (patch.get("next") or {}).get("at")


def sample(board, provider):
    """A call that goes well, so that the provider's breaker sees no five failures in a row."""
    command = board.client.command("widget.snapshot", kind=widget()["kind"], family="systemSmall")
    board.client.send(command)
    provider.show(provider.call("snapshot"), entry(EPOCH))
    assert board.client.answer_to(command["req"])[0]["ok"]


def test_a_failure_keeps_what_is_shown_and_is_tried_again_later_each_time(board, provider):
    first, longest = board.rules["widgetRetryFirst"], board.rules["widgetRetryLongest"]
    id = board.placed(provider, *hours(0))
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    provider.fails(id, message="no network")
    due = failed(board, id, state="shown", failure="threw", cause="provider")
    whole, asked = board.agrees(id), after(HOUR)
    assert whole["entry"] == entry(EPOCH, 0) and whole["next"] == {"at": due, "cause": "retry"}
    for attempt in range(12):
        span = min(longest, first << attempt)
        earliest = max(asked + SPACING, asked + span * 8 // 10)
        latest = max(asked + SPACING, asked + min(longest, span * 12 // 10))
        assert earliest <= due <= latest, attempt
        sample(board, provider)
        with board.travel(to=due):
            provider.fails(id)
        reload_at(board, id, "retry", due)
        asked, due = due, failed(board, id, state="shown")
    with board.travel(to=due):
        provider.shows_now(5, id=id)
    reload_at(board, id, "retry", due)
    board.next("timeline", failure=None)
    whole = board.agrees(id)
    assert whole["entry"]["content"] == {"n": 5} and "next" not in whole
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    provider.fails(id)
    due = failed(board, id)
    assert due - board.event["at"] <= max(SPACING, first * 12 // 10), "it begins anew"


def test_the_first_timeline_is_tried_again_without_cost(board, provider):
    first = board.rules["widgetRetryFirst"]
    id = board.add()
    provider.fails(id)
    due = failed(board, id, state="placeholder", failure="threw")
    assert after(first * 8 // 10) <= due <= after(first * 12 // 10)
    with board.travel(to=due):
        provider.shows_now(1, id=id)
    board.next("reloading", id=id, cause="retry", state="loading")
    assert (board.event["at"], board.event["exempt"]) == (due, "placement")
    board.next("timeline", state="shown", failure=None)
    budget = board.budget(id)
    assert (budget["spent"], budget["exempt"]["placement"]) == (0, 2)


def test_a_retry_of_what_is_shown_is_charged(board, provider):
    id = board.placed(provider, *hours(0))
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    provider.fails(id)
    due = failed(board, id)
    with board.travel(to=due):
        provider.shows_now(1, id=id)
    reload_at(board, id, "retry", due)
    board.next("timeline")
    assert board.budget(id)["spentAt"] == [after(HOUR), due]


def test_entries_go_on_while_their_successors_fail(board, provider):
    id = board.placed(provider, *hours(0, 2, 3))
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    step = board.begin(to=after(2 * HOUR))
    provider.fails(id)
    due = failed(board, id)
    while due is not None and due <= after(2 * HOUR):  # else the entry comes first
        provider.fails(id)
        reload_at(board, id, "retry", due)
        due = failed(board, id)
    board.arrived(step)
    board.next("entry", id=id, entry=entry(after(2 * HOUR), 2), entryIndex=1)
    assert board.agrees(id)["failure"] == "threw"


def test_an_entry_that_is_due_while_a_timeline_is_asked_for_is_shown_in_time(board, provider):
    """The clock stands while a call is out, so the call is answered by a timeline that comes after a step."""
    id = board.placed(provider, *hours(0, 1), policy="atEnd")
    with board.travel(by=HOUR):
        call = provider.call("timeline", placed=id)
        board.next("entry", id=id, entryIndex=1)
        reload_at(board, id, "atEnd", after(HOUR))
        assert board.entity(id)["state"] == "reloading"
        provider.show(call, *hours(1), policy="never")
    board.next("timeline", state="shown")
    board.agrees(id)


def test_without_a_provider_nothing_is_tried_and_nothing_charged(board, provider):
    id = board.placed(provider, *hours(0))
    board.rest(by=HOUR)
    provider.leave()
    board.reload(id)
    board.next("reloading", id=id)
    board.next("failed", id=id, state="shown", failure="noProvider", next=None)
    board.rest(by=2 * DAY)
    board.silent()
    budget = board.budget(id)
    assert (budget["spent"], budget["spentAt"]) == (0, []), "nobody was asked"
    provider.register()
    reload_at(board, id, "registration", after(HOUR + 2 * DAY))
    provider.shows_now(2, id=id)
    board.next("timeline", failure=None)
    assert board.budget(id)["spentAt"] == [after(HOUR + 2 * DAY)]


def test_a_policy_whose_date_passed_without_a_provider_is_kept_when_one_comes(board, provider):
    due, later = board.placed(provider, *hours(0, 1), policy="atEnd"), board.placed(provider, *hours(0), policy="never")
    provider.leave()
    board.rest(by=5 * HOUR)
    board.next("entry", id=due)
    board.next("reloading", id=due, cause="atEnd")
    board.next("failed", id=due, failure="noProvider")
    provider.register()
    reload_at(board, due, "registration", after(5 * HOUR))
    provider.shows_now(1, id=due)
    board.next("timeline", id=due, failure=None)
    provider.uncalled()
    assert board.get(later)["state"] == "shown"


def test_a_timeline_that_failed_at_one_provider_may_be_had_from_another_at_the_same_price(board):
    first, second = board.provider(), board.provider()
    id = board.placed(first)
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    first.fails(id, retryable=True)
    call = second.call("timeline", placed=id)
    assert call["attempt"] == 2
    second.show(call, entry(call["now"], 2), policy="never")
    board.next("timeline", id=id, failure=None)
    assert board.budget(id)["spent"] == 1


# Being seen


def test_a_widget_that_becomes_visible_is_reloaded_only_where_its_timeline_is_over_or_failed(board, provider):
    id = board.placed(provider, *hours(0, 1))
    assert board.client.ignored("widget.visible", id=id) == "unchanged"
    board.rest(by=10 * HOUR)
    board.next("entry")
    assert board.client.ignored("widget.visible", id=id) == "unchanged", "its policy is never"
    board.reload(id)
    board.next("reloading")
    assert board.client.ignored("widget.visible", id=id) == "unchanged", "it is on its way"
    provider.fails(id)
    failed(board, id)
    board.rest(by=SPACING - 1)
    held = board.client.applied("widget.visible", id=id)["widget"]["held"]
    assert held == {"until": after(10 * HOUR + SPACING), "reason": "spacing", "cause": "visible"}
    board.next("held", id=id)
    with board.travel(by=1):
        provider.shows_now(3, id=id)
    board.next("reloading", id=id)
    board.next("timeline", failure=None)
    assert board.client.ignored("widget.visible", id=id) == "unchanged"


def test_a_failed_widget_that_becomes_visible_after_the_spacing_is_reloaded_at_once(board, provider):
    longest = board.rules["widgetRetryLongest"]
    id = board.placed(provider, *hours(0))
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    provider.fails(id)
    due = failed(board, id)
    while due - board.event["at"] <= SPACING + 1:
        with board.travel(to=due):
            provider.fails(id)
        board.next("reloading")
        due = failed(board, id)
    assert longest > SPACING
    board.rest(to=due - 1)
    assert board.client.applied("widget.visible", id=id)["widget"]["state"] == "reloading"
    reload_at(board, id, "visible", due - 1)
    provider.shows_now(1, id=id)
    board.next("timeline", failure=None, next=None)
    assert widget()["kind"] == board.agrees(id)["kind"]

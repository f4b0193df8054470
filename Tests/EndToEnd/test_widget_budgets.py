"""The budget of reloads: what is charged, what is held and until when, what is exempt, and what the ledger says."""

import pytest

from support.dates import EPOCH, HOUR, MINUTE, after
from support.widgets import CLOCK, DAY, FORECAST, entry, widget

SPACING = 5 * MINUTE


def reload_at(board, id, cause, at, exempt=None):
    """The next event must be this reload."""
    board.next("reloading", id=id, cause=cause)
    assert (board.event["at"], board.event.get("exempt")) == (at, exempt), board.event


def shown(board, provider, id):
    provider.shows_now(id=id)
    board.next("timeline", id=id)


@pytest.fixture
def provider(board):
    return board.provider()


# Spacing


def test_a_reload_is_charged_when_it_is_asked_for(board, provider):
    id = board.placed(provider)
    budget = board.budget(id)
    assert (budget["spent"], budget["spentAt"], budget["isLearning"], budget["developerMode"]) == (0, [], True, False)
    assert (budget["limit"], budget["left"]) == (board.rules["widgetLearningBudget"],) * 2
    assert budget["lastReloadAt"] == EPOCH and "held" not in budget and "freeAt" not in budget
    board.rest(by=HOUR)
    answer = board.reload(id)
    assert answer["state"] == "reloading" and "held" not in answer
    budget = board.budget(id)
    assert (budget["spent"], budget["left"], budget["spentAt"]) == (1, budget["limit"] - 1, [after(HOUR)])
    assert budget["lastReloadAt"] == after(HOUR) and "freeAt" not in budget, "one may come now"
    reload_at(board, id, "request", after(HOUR))
    shown(board, provider, id)
    board.agrees(id)


def test_a_reload_too_soon_after_the_last_one_waits_and_further_ones_become_one_with_it(board, provider):
    id = board.placed(provider)
    board.rest(by=MINUTE)
    held = {"until": after(SPACING), "reason": "spacing", "cause": "request"}
    assert board.reload(id)["held"] == held
    patch = board.next("held", id=id, held=held, next={"at": after(SPACING), "cause": "held"})
    assert "state" not in patch
    revision = patch["revision"]
    for count in (1, 2, 3):
        answer = board.reload(id, source="push") if count == 2 else board.reload(id)
        assert answer["held"] == held and answer["revision"] == revision
        assert board.budget(id)["held"] == {**held, "merged": count}
    board.silent()
    assert board.budget(id)["spent"] == 0
    assert board.agrees(id)["held"] == held
    board.rest(to=after(SPACING) - 1)
    board.silent()
    with board.travel(by=HOUR):
        assert provider.shows_now(id=id)["now"] == after(SPACING)
    reload_at(board, id, "held", after(SPACING))
    assert board.event["widget"]["held"] is None and board.event["lateBy"] == 0
    board.next("timeline", next=None)
    assert board.budget(id)["spentAt"] == [after(SPACING)]
    board.silent()
    board.agrees(id)


def test_a_reload_while_one_is_on_its_way_is_not_lost(board, provider):
    id = board.placed(provider)
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    call = provider.call("timeline")
    board.reload(id)
    provider.show(call, entry(after(HOUR), 1), policy="never")
    with board.travel(by=2 * SPACING):
        assert provider.shows_now(2, id=id)["now"] == after(HOUR + SPACING)
    names = [board.next()["id"] and board.event["event"] for _ in range(3)]
    while names[-1] != "widget.timeline" or names.count("widget.timeline") < 2:
        board.next()
        names.append(board.event["event"])
    assert names.count("widget.reloading") == 1
    assert board.agrees(id)["entry"]["content"] == {"n": 2}
    assert board.budget(id)["spentAt"] == [after(HOUR), after(HOUR + SPACING)]


def test_reloads_of_a_kind_and_of_all_say_how_many(board):
    provider = board.provider(widget(), widget(CLOCK))
    forecasts = [board.placed(provider) for _ in range(3)]
    clock = board.placed(provider, kind=CLOCK)
    board.rest(by=HOUR)
    answer = board.client.applied("widget.reload", kind=FORECAST, source="push")
    assert answer["count"] == 3 and "widget" not in answer
    for _ in forecasts:
        provider.shows_now()
    events = [board.next() and board.event for _ in range(6)]
    assert {event["cause"] for event in events if event["event"] == "widget.reloading"} == {"push"}
    assert board.client.applied("widget.reload")["count"] == 4
    assert provider.shows_now(kind=CLOCK)["widget"] == clock
    held = set()
    while len(held) < 3:
        patch = board.next()
        if board.event["event"] == "widget.held":
            held.add(patch["id"])
    assert held == {*forecasts}
    assert board.client.applied("widget.reload", app="com.example.other")["count"] == 0
    assert board.client.refused("widget.reload", kind="x")["code"] == "notFound"


# The budget


@pytest.fixture
def poor(ruled):
    """Two reloads a day, from the beginning."""
    return ruled(widgetDailyBudget=2, widgetLearningBudget=2)


def spend(board, provider, id, *dates):
    """Reloads it at these dates, each of which is charged."""
    for date in dates:
        board.rest(to=date)
        board.reload(id)
        reload_at(board, id, "request", date)
        shown(board, provider, id)


def test_a_reload_over_the_budget_is_held_until_one_leaves_the_24_hours(poor):
    provider = poor.provider()
    id = poor.placed(provider)
    spend(poor, provider, id, after(HOUR), after(3 * HOUR))
    poor.rest(by=HOUR)
    held = {"until": after(HOUR + DAY), "reason": "budget", "cause": "request"}
    assert poor.reload(id)["held"] == held
    poor.next("held", id=id, held=held)
    budget = poor.budget(id)
    assert (budget["spent"], budget["left"], budget["limit"], budget["held"]) == (2, 0, 2, {**held, "merged": 0})
    assert budget["freeAt"] == after(HOUR + DAY)
    poor.rest(to=after(HOUR + DAY) - 1)
    poor.silent()
    with poor.travel(by=1):
        provider.shows_now(id=id)
    reload_at(poor, id, "held", after(HOUR + DAY))
    poor.next("timeline")
    budget = poor.budget(id)
    assert budget["spentAt"] == [after(3 * HOUR), after(HOUR + DAY)] and budget["left"] == 0
    poor.reload(id)
    poor.next("held", held={**held, "until": after(3 * HOUR + DAY)})
    with poor.travel(by=DAY):
        assert provider.shows_now(id=id)["now"] == after(3 * HOUR + DAY)
    reload_at(poor, id, "held", after(3 * HOUR + DAY))
    poor.next("timeline")
    poor.agrees(id)


def test_where_both_hold_it_the_later_counts(poor):
    provider = poor.provider()
    id = poor.placed(provider)
    spend(poor, provider, id, after(HOUR), after(HOUR + SPACING))
    poor.rest(by=MINUTE)
    assert poor.reload(id)["held"]["until"] == after(HOUR + DAY)
    poor.next("held")
    assert poor.entity(id)["held"]["reason"] == "budget"
    with poor.travel(to=after(HOUR + DAY)):
        provider.shows_now(id=id)
    poor.next("reloading")
    poor.next("timeline")
    assert poor.reload(id)["held"] == {
        "until": after(HOUR + DAY + SPACING), "reason": "budget", "cause": "request"}


@pytest.mark.parametrize("policy", ["atEnd", "after"])
def test_a_policy_over_the_budget_is_held_too(poor, policy):
    provider = poor.provider()
    wanted = after(5 * HOUR)
    id = poor.placed(provider)
    spend(poor, provider, id, after(HOUR))
    poor.rest(to=after(2 * HOUR))
    poor.reload(id)
    poor.next("reloading")
    provider.shows(entry(after(2 * HOUR)), entry(wanted),
                   policy="atEnd" if policy == "atEnd" else {"after": wanted})
    poor.next("timeline")
    due = wanted if policy == "atEnd" else None
    poor.rest(to=after(10 * HOUR))
    poor.next("entry")
    patch = poor.next("held", id=id)
    assert patch["held"] == {"until": after(HOUR + DAY), "reason": "budget", "cause": policy}
    assert poor.event["at"] == due or wanted <= poor.event["at"] <= wanted + 20 * MINUTE
    assert poor.agrees(id)["next"] == {"at": after(HOUR + DAY), "cause": "held"}
    with poor.travel(to=after(HOUR + DAY)):
        provider.shows_now(id=id)
    reload_at(poor, id, "held", after(HOUR + DAY))


def test_each_widget_has_a_budget_of_its_own(poor):
    provider = poor.provider()
    first, second = poor.placed(provider), poor.placed(provider)
    spend(poor, provider, first, after(HOUR), after(2 * HOUR))
    assert poor.reload(first)["held"]["reason"] == "budget"
    poor.next("held", id=first)
    spend(poor, provider, second, after(3 * HOUR))
    assert (poor.budget(first)["spent"], poor.budget(second)["spent"]) == (2, 1)


def test_the_first_days_have_more(ruled):
    board = ruled(widgetDailyBudget=1, widgetLearningBudget=3, widgetLearningSpan=10 * HOUR)
    provider = board.provider()
    id = board.placed(provider)
    spend(board, provider, id, after(HOUR), after(2 * HOUR), after(9 * HOUR))
    budget = board.budget(id)
    assert (budget["limit"], budget["spent"], budget["left"], budget["isLearning"]) == (3, 3, 0, True)
    board.rest(to=after(10 * HOUR) - 1)
    assert board.budget(id)["isLearning"] is True
    board.rest(by=1)
    budget = board.budget(id)
    assert (budget["limit"], budget["spent"], budget["left"], budget["isLearning"]) == (1, 3, 0, False)
    # Three are in the window, and one may be: it waits until the last of them leaves it.
    assert board.reload(id)["held"]["until"] == after(9 * HOUR + DAY)
    board.next("held")
    with board.travel(to=after(9 * HOUR + DAY)):
        provider.shows_now(id=id)
    reload_at(board, id, "held", after(9 * HOUR + DAY))


def test_what_the_budget_of_the_first_days_holds_is_explained_by_that(ruled):
    board = ruled(widgetDailyBudget=2, widgetLearningBudget=1, widgetLearningSpan=10 * HOUR)
    provider = board.provider()
    id = board.placed(provider)
    spend(board, provider, id, after(HOUR))
    for date, rule in ((9 * HOUR, "learning"), (DAY + 3 * HOUR, "budget")):
        board.rest(to=after(date))
        board.reload(id)
        assert board.next("held")["held"]["reason"] == "budget"
        [*_, decision] = board.client.read("widget.explain", id=id)["decisions"]
        assert (decision["event"], decision["rule"]) == ("widget.held", f"apple-semantics 5 {rule}")
        with board.travel(to=board.get(id)["held"]["until"]):
            provider.shows_now(id=id)
        board.until(id, state="shown", held=None, cause="provider")
        if rule == "learning":
            spend(board, provider, id, after(DAY + 2 * HOUR))


def test_a_removed_widget_takes_its_ledger_along(poor):
    provider = poor.provider()
    id = poor.placed(provider)
    spend(poor, provider, id, after(HOUR), after(2 * HOUR))
    poor.client.applied("widget.remove", id=id)
    poor.next("removed")
    again = poor.client.applied("widget.add", kind=FORECAST, family="systemSmall", id=id)["widget"]["id"]
    assert again == id
    poor.next("added")
    shown(poor, provider, id)
    assert poor.budget(id)["spent"] == 0


# What is exempt

CONDITIONS = {
    "foreground": ("appForeground", "appBackground", True), "session": ("sessionStart", "sessionEnd", True),
    "standBy": ("standByStart", "standByEnd", False), "developerMode": ("developerModeOn", "developerModeOff", False)}


def begin(board, condition, device="phone"):
    event, _, names_app = CONDITIONS[condition]
    board.device(event, device, **({"app": board.app} if names_app else {}))


def end(board, condition, device="phone"):
    _, event, names_app = CONDITIONS[condition]
    board.device(event, device, **({"app": board.app} if names_app else {}))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_while_it_holds_reloads_are_neither_charged_nor_held(poor, condition):
    provider = poor.provider()
    id = poor.placed(provider, device="phone")
    begin(poor, condition)
    for _ in range(4):
        poor.reload(id)
        reload_at(poor, id, "request", EPOCH, condition)
        shown(poor, provider, id)
    budget = poor.budget(id)
    assert (budget["spent"], budget["left"], budget["exempt"][condition]) == (0, 2, 4)
    assert budget["developerMode"] is (condition == "developerMode")
    end(poor, condition)
    assert poor.reload(id)["held"]["reason"] == "spacing", "of the last reload of any sort"
    poor.next("held")


@pytest.mark.parametrize("condition", CONDITIONS)
def test_when_it_begins_what_was_held_there_runs_at_once(poor, condition):
    provider = poor.provider()
    id, other = poor.placed(provider, device="phone"), poor.placed(provider, device="tablet")
    for each in (id, other):
        spend(poor, provider, each, poor.now + HOUR, poor.now + 2 * HOUR)
    for each in (id, other):
        poor.reload(each)
        poor.next("held", id=each)
    begin(poor, condition)
    patch = poor.next("reloading", id=id)
    assert poor.event["exempt"] == condition and patch["held"] is None
    shown(poor, provider, id)
    poor.silent()
    assert poor.budget(id)["spent"] == 2 and "held" in poor.get(other)
    poor.agrees(id)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_it_is_of_its_device_and_its_app_alone(board, condition):
    provider = board.provider()
    ids = [board.placed(provider, device="tablet"), board.placed(provider)]
    begin(board, condition)
    if CONDITIONS[condition][2]:
        ids.append(board.placed(provider, device="watch"))
        board.device(CONDITIONS[condition][0], "watch", app="com.example.other")
    for id in ids:
        assert board.reload(id)["held"]["reason"] == "spacing"
        board.next("held", id=id)
    board.silent()


def test_a_policy_is_exempt_as_well(board, provider):
    id = board.placed(provider, entry(EPOCH), entry(after(HOUR)), policy="atEnd", device="phone")
    begin(board, "foreground")
    with board.travel(by=HOUR):
        provider.shows_now(id=id)
    board.next("entry")
    reload_at(board, id, "atEnd", after(HOUR), "foreground")
    assert board.budget(id)["spent"] == 0


@pytest.mark.parametrize("event, cause", [("localeChange", "locale"), ("appearanceChange", "appearance")])
def test_a_change_of_locale_or_appearance_reloads_all_widgets_of_the_device_without_cost(board, provider, event, cause):
    ids = {board.placed(provider, device="phone") for _ in range(3)}
    board.placed(provider, device="tablet")
    board.placed(provider)
    board.device(event)
    seen = set()
    for _ in ids:
        seen.add(provider.shows_now()["widget"])
    assert seen == ids
    events = [board.next() and board.event for _ in range(6)]
    reloads = [event for event in events if event["event"] == "widget.reloading"]
    assert {(event["cause"], event["exempt"]) for event in reloads} == {(cause, cause)} and len(reloads) == 3
    provider.uncalled()
    for id in ids:
        budget = board.budget(id)
        assert (budget["spent"], budget["exempt"][cause]) == (0, 1)


def test_a_change_of_place_reloads_all_widgets_of_the_device_within_the_budget(board, provider):
    id, other = board.placed(provider, device="phone"), board.placed(provider, device="tablet")
    board.device("locationChange")
    patch = board.next("held", id=id)
    assert patch["held"] == {"until": after(SPACING), "reason": "spacing", "cause": "location"}
    with board.travel(by=SPACING):
        provider.shows_now(id=id)
    reload_at(board, id, "held", after(SPACING))
    board.next("timeline")
    board.rest(by=HOUR)
    board.device("locationChange")
    reload_at(board, id, "location", board.now)
    shown(board, provider, id)
    assert (board.budget(id)["spent"], board.budget(other)["spent"]) == (2, 0)


def test_a_device_that_starts_anew_has_no_app_in_front_no_session_and_no_standby(board, provider):
    id = board.placed(provider, device="phone")
    for condition in ("foreground", "session", "standBy"):
        begin(board, condition)
    board.device("reboot")
    assert board.reload(id)["held"]["reason"] == "spacing"
    board.next("held")
    begin(board, "developerMode")
    board.next("reloading", id=id)
    assert board.event["exempt"] == "developerMode"
    shown(board, provider, id)
    board.device("reboot")
    board.reload(id)
    board.next("reloading", id=id)
    assert board.event["exempt"] == "developerMode", "a reboot does not end that"


def test_a_rule_puts_every_widget_in_developer_mode(ruled):
    board = ruled(widgetDeveloperMode=True, widgetDailyBudget=1, widgetLearningBudget=1)
    provider = board.provider()
    id = board.placed(provider)
    for _ in range(3):
        board.reloaded(provider, id, exempt="developerMode")
    budget = board.budget(id)
    assert (budget["spent"], budget["exempt"]["developerMode"], budget["developerMode"]) == (0, 3, True)


def test_in_developer_mode_a_policy_needs_no_spacing(ruled):
    board = ruled(widgetDeveloperMode=True)
    provider = board.provider()
    id = board.placed(provider, entry(EPOCH), entry(after(MINUTE)), policy="atEnd")
    with board.travel(by=2 * MINUTE - 1):
        provider.shows(entry(after(MINUTE)), entry(after(DAY)), id=id)
    board.next("entry")
    reload_at(board, id, "atEnd", after(MINUTE), "developerMode")
    assert board.budget(id)["spent"] == 0


def test_the_ledger_says_why_each_reload_was_not_charged(board, provider):
    id = board.placed(provider, device="phone")
    begin(board, "foreground")
    board.reloaded(provider, id, exempt="foreground")
    end(board, "foreground")
    begin(board, "session")
    board.reloaded(provider, id, exempt="session")
    end(board, "session")
    board.device("localeChange")
    board.next("reloading")
    shown(board, provider, id)
    board.rest(by=HOUR)
    board.reloaded(provider, id)
    budget = board.budget(id)
    exempt = {name: count for name, count in budget["exempt"].items() if count}
    assert exempt == {"placement": 1, "foreground": 1, "session": 1, "locale": 1}
    assert budget["spentAt"] == [after(HOUR)] and budget["lastReloadAt"] == after(HOUR)

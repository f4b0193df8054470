"""Widgets over a restart of the service, killed or stopped: timelines, ledgers, held reloads and conditions stay."""

import contextlib
import json
import sqlite3

import pytest

from support.dates import EPOCH, HOUR, MINUTE, after
from support.durable import Durable
from support.widgets import CLOCK, DAY, FORECAST, Board, entry, widget

SPACING = 5 * MINUTE
HOW = pytest.mark.parametrize("how", ["kill", "stop"])


class Wall:
    """A durable service and what is seen of the one that runs now."""

    def __init__(self, wire, data, env=None):
        self.services = Durable(wire, data, env=env)
        self.start()

    def start(self):
        self.services.start()
        self.board = Board(self.services.wire, self.services.service, self.services.app)
        return self.board

    def again(self, how):
        """Ends the service so and starts it again; gives the events that the restart itself made."""
        before = self.board.bulk.digest()["seq"]
        getattr(self.services, how)()
        board = self.start()
        after = board.bulk.digest()["seq"]
        events = [json.loads(body) for _, body in board.bulk.replay(before).rows] if after > before else []
        pulled = board.bulk.snapshot()
        board.replica.load(pulled.rows)
        board.replica.seq = pulled.end["seq"]
        return events

    def provider(self, *widgets, **options):
        return self.board.provider(*widgets, **options)


@pytest.fixture
def wall(wire, tmp_path):
    made = Wall(wire, tmp_path / "data")
    yield made
    made.services.kill()


@pytest.fixture
def poor(wire, tmp_path):
    """Two reloads a day."""
    made = Wall(wire, tmp_path / "data", {
        "ISLET_RULE_SET_WIDGET_DAILY_BUDGET": "2", "ISLET_RULE_SET_WIDGET_LEARNING_BUDGET": "2"})
    yield made
    made.services.kill()


def names(events):
    return [(event["event"].removeprefix("widget."), event.get("to"), event["cause"]) for event in events]


@HOW
def test_widgets_with_all_that_they_show_outlive_a_restart(wall, how):
    board = wall.board
    kinds = [widget(parameters=[{"name": "city", "type": "string"}], rendering={"modes": ["accented"]}),
             widget(CLOCK, displayName="Clock")]
    provider = wall.provider(*kinds)
    entries = [entry(after(n * HOUR), n, url=f"weather://{n}", links={"a": "b"}) for n in range(4)]
    ids = [
        board.placed(provider, *entries, family="systemMedium", device="phone", configuration={"city": "é"},
                     rendering={"mode": "accented"}, policy={"after": after(10 * HOUR)}),
        board.placed(provider, entry(EPOCH), kind=CLOCK, needsLogin=True, policy=None),
        board.placed(provider, entry(after(HOUR), 5), kind=CLOCK)]
    failed = board.add(kind=CLOCK)
    provider.fails(failed)
    board.next("failed")
    before = {id: board.get(id) for id in [*ids, failed] if board.agrees(id)}
    timelines = {id: board.client.read("widget.timeline", id=id)["timeline"] for id in ids}
    digest = board.bulk.digest()
    assert wall.again(how) == []
    board = wall.board
    assert {id: board.get(id) for id in before} == before
    assert {id: board.client.read("widget.timeline", id=id)["timeline"] for id in ids} == timelines
    assert board.bulk.digest()["digest"] == digest["digest"] == board.replica.digest
    assert [row["declaration"] for row in sorted(
        board.client.read("widget.kinds")["kinds"], key=lambda row: row["kind"] != FORECAST)] == kinds
    assert board.stack() == [ids[0]]
    board.rest(to=after(3 * HOUR))
    shown = []
    while len(shown) < 4:
        patch = board.next()
        if board.event["event"] == "widget.entry":
            shown.append((patch["id"], board.event["at"]))
    assert sorted(shown) == sorted([(ids[2], after(HOUR)), *((ids[0], after(n * HOUR)) for n in (1, 2, 3))])
    assert board.agrees(ids[0])["entry"] == entries[3]


@HOW
def test_entries_that_were_due_meanwhile_are_shown_at_the_start_each_once(wall, how):
    board = wall.board
    provider = wall.provider()
    id = board.placed(provider, *(entry(after(n * HOUR), n) for n in range(4)))
    getattr(wall.services, how)()
    wall.services.options["--clock"] = f"manual={after(150 * MINUTE)}"
    board = wall.start()
    events = [json.loads(body) for _, body in board.bulk.replay(2).rows]
    assert [event["event"] for event in events] == ["widget.entry"] * len(events) and 1 <= len(events) <= 2
    assert events[-1]["widget"]["entry"] == entry(after(2 * HOUR), 2)
    assert events[-1]["at"] - events[-1]["lateBy"] == after(2 * HOUR)
    assert board.get(id)["next"] == {"at": after(3 * HOUR), "cause": "entry"}


@HOW
@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
def test_a_timeline_in_the_middle_is_asked_for_again_and_paid_once(wall, how, first):
    board, provider = wall.board, wall.provider()
    if first:
        id = board.add()
    else:
        id = board.placed(provider, entry(EPOCH, 1))
        board.rest(by=HOUR)
        board.reload(id)
        board.next("reloading")
    provider.call("timeline")
    wall.again(how)
    board = wall.board
    assert board.get(id)["state"] in (("loading", "placeholder") if first else ("reloading", "shown"))
    provider = wall.provider()
    provider.shows_now(2, id=id)
    board.until(id, state="shown", failure=None, cause="provider")
    provider.uncalled()
    assert board.agrees(id)["entry"]["content"] == {"n": 2}
    assert board.budget(id)["spentAt"] == ([] if first else [after(HOUR)])


@HOW
def test_an_action_in_the_middle_is_of_unknown_outcome_and_never_sent_again(wall, how):
    board, provider = wall.board, wall.provider()
    id = board.placed(provider, entry(EPOCH, 1))
    board.rest(by=HOUR)
    board.client.applied("widget.tap", id=id, action="refresh")
    board.next("acting")
    action = provider.call("perform")
    made = wall.again(how)
    assert names(made)[:2] == [("failed", "shown", "recovery"), ("reloading", "reloading", "recovery")]
    assert made[0]["widget"]["failure"] == "unknownOutcome"
    board, provider = wall.board, wall.provider(id=provider.id)
    provider.say("provider.answer", call=action["call"])
    provider.shows_now(1, id=id)
    board.until(id, state="shown", failure=None, cause="provider")
    # It may be older than what the action did.
    provider.shows_now(2, id=id)
    board.next("reloading", id=id, cause="action")
    board.next("timeline", id=id)
    whole = board.agrees(id)
    assert whole["entry"]["content"] == {"n": 2} and "isInvalidated" not in whole
    assert all(call["op"] != "widget.perform" for call in provider.calls(0.3))


@HOW
def test_the_ledger_and_a_held_reload_outlive_a_restart(poor, how):
    board, provider = poor.board, poor.provider()
    id = board.placed(provider, device="phone")
    board.device("localeChange")
    board.next("reloading")
    provider.shows_now(id=id)
    board.next("timeline")
    for date in (after(HOUR), after(2 * HOUR)):
        board.rest(to=date)
        board.reloaded(provider, id)
    for _ in range(3):
        board.reload(id)
    board.next("held")
    before, ledger = board.get(id), board.budget(id)
    assert ledger["held"] == {"until": after(HOUR + DAY), "reason": "budget", "cause": "request", "merged": 2}
    assert poor.again(how) == []
    board = poor.board
    spent = board.budget(id)
    assert (board.get(id), spent) == (before, ledger)
    provider = poor.provider()
    board.reload(id)
    board.silent()
    board.rest(to=after(HOUR + DAY) - 1)
    board.silent()
    poor.again(how)
    board, provider = poor.board, poor.provider()
    with board.travel(by=1):
        assert provider.shows_now(id=id)["now"] == after(HOUR + DAY)
    board.next("reloading", id=id, cause="held")
    board.next("timeline")
    assert board.budget(id)["spentAt"] == [after(2 * HOUR), after(HOUR + DAY)]


@HOW
def test_how_many_requests_a_held_reload_stands_for_outlives_a_restart(wall, how):
    board, provider = wall.board, wall.provider()
    id = board.placed(provider)
    for _ in range(3):
        board.reload(id)
    assert board.budget(id)["held"]["merged"] == 2
    wall.again(how)
    assert wall.board.budget(id)["held"]["merged"] == 2


@HOW
def test_a_held_reload_whose_time_came_meanwhile_runs_when_a_provider_is_there(poor, how):
    board, provider = poor.board, poor.provider()
    id = board.placed(provider)
    board.rest(by=MINUTE)
    board.reload(id)
    board.next("held")
    getattr(poor.services, how)()
    poor.services.options["--clock"] = f"manual={after(HOUR)}"
    board = poor.start()
    pulled = board.bulk.snapshot()
    board.replica.load(pulled.rows)
    board.replica.seq = pulled.end["seq"]
    provider = poor.provider()
    provider.shows_now(2, id=id)
    board.until(id, state="shown", failure=None, held=None, cause="provider")
    assert board.budget(id)["spentAt"] == [after(HOUR)]


@HOW
@pytest.mark.parametrize(("rule", "value", "exempt"), [
    ("DEVELOPER_MODE", "true", "developerMode"), ("LEARNING_BUDGET", "9", None)])
def test_what_is_held_runs_where_the_rules_of_the_next_start_allow_it(poor, how, rule, value, exempt):
    board, provider = poor.board, poor.provider()
    id = board.placed(provider)
    for date in (after(HOUR), after(2 * HOUR)):
        board.rest(to=date)
        board.reloaded(provider, id)
    board.rest(by=HOUR)
    board.reload(id)
    board.next("held")
    poor.services.env[f"ISLET_RULE_SET_WIDGET_{rule}"] = value
    first, *_ = poor.again(how)
    assert (first["event"], first["cause"], first.get("exempt")) == ("widget.reloading", "held", exempt)
    assert first["widget"]["held"] is None
    board, provider = poor.board, poor.provider()
    provider.shows_now(7, id=id)
    board.until(id, state="shown", failure=None, held=None, cause="provider")
    budget = board.budget(id)
    assert budget.get("held") is None
    assert budget["spentAt"] == [after(HOUR), after(2 * HOUR)] + ([] if exempt else [after(3 * HOUR)])


@HOW
@pytest.mark.parametrize(("span", "until"), [(2 * HOUR, after(2 * HOUR)), (12 * HOUR, after(10 * HOUR))])
def test_what_is_held_never_waits_longer_than_the_rules_of_the_next_start_say(wire, tmp_path, how, span, until):
    rule = "ISLET_RULE_SET_WIDGET_RELOAD_SPACING"
    wall = Wall(wire, tmp_path / "data", {rule: str(10 * HOUR)})
    try:
        board, provider = wall.board, wall.provider()
        id = board.placed(provider)
        board.rest(by=HOUR)
        board.reload(id)
        assert board.next("held")["held"] == {"until": after(10 * HOUR), "reason": "spacing", "cause": "request"}
        wall.services.env[rule] = str(span)
        told = [(event["event"], event["cause"], event["widget"]["held"]["until"]) for event in wall.again(how)]
        assert told == ([("widget.held", "held", until)] if until < after(10 * HOUR) else [])
        board, provider = wall.board, wall.provider()
        assert board.budget(id)["held"] == {"until": until, "reason": "spacing", "cause": "request", "merged": 0}
        if span == 12 * HOUR:  # what these say counts when its date has come
            board.rest(to=until)
            assert board.next("held")["held"]["until"] == after(12 * HOUR)
            return
        with board.travel(to=until):
            assert provider.shows_now(id=id)["now"] == until
    finally:
        wall.services.kill()


@HOW
def test_what_devices_reported_is_known_after_a_restart(wall, how):
    board, provider = wall.board, wall.provider()
    ids = {}
    for device, event, fields in (
            ("front", "appForeground", {"app": board.app}), ("player", "sessionStart", {"app": board.app}),
            ("dock", "standByStart", {}), ("bench", "developerModeOn", {}), ("plain", "standByEnd", {})):
        ids[device] = board.placed(provider, device=device)
        board.device(event, device, **fields)
    wall.again(how)
    board, provider = wall.board, wall.provider()
    for device, exemption in (("front", "foreground"), ("player", "session"), ("dock", "standBy"),
                              ("bench", "developerMode")):
        board.reload(ids[device])
        board.next("reloading", id=ids[device])
        assert board.event["exempt"] == exemption
        provider.shows_now()
        board.next("timeline")
    assert board.reload(ids["plain"])["held"]["reason"] == "spacing"


@HOW
def test_a_retry_and_a_policy_are_still_due_at_their_times(wall, how):
    board, provider = wall.board, wall.provider()
    failing, planned = board.add(), None
    provider.fails(failing)
    retry = board.next("failed")["next"]["at"]
    planned = board.placed(provider, entry(EPOCH), policy={"after": after(5 * HOUR)})
    policy = board.agrees(planned)["next"]["at"]
    wall.again(how)
    board = wall.board
    assert board.get(failing)["next"] == {"at": retry, "cause": "retry"}
    assert board.get(planned)["next"] == {"at": policy, "cause": "policy"}
    provider = wall.provider()
    for call in provider.calls(0.3):  # the registration asks those that have nothing to show
        assert call["widget"] == failing
        provider.show(call, entry(call["now"]), policy="never")
    with board.travel(to=policy):
        for _ in range(2):
            call = provider.call("timeline")
            provider.show(call, entry(call["now"]), policy="never")
            if call["widget"] == planned:
                assert call["now"] == policy
                break


@HOW
def test_recommendations_and_relevance_are_kept(wall, how):
    board = wall.board
    kind = widget(providesRelevance=True, providesRecommendations=True)
    provider = wall.provider(kind, widget(CLOCK))
    for call in provider.calls(0.3):
        provider.answer(call, [])
    ids = [f"0198c0de-0000-7000-8000-00000000000{number}" for number in (1, 2)]
    clock = board.placed(provider, kind=CLOCK, device="phone", id=ids[0])
    forecast = board.placed(provider, device="phone", id=ids[1])
    board.client.applied("widget.invalidateRelevance", kind=FORECAST)
    provider.answer(provider.call("relevance"), [{"to": after(HOUR)}])
    while board.stack() != [forecast, clock]:
        pass
    command = board.client.command("widget.recommendations", kind=FORECAST)
    board.client.send(command)
    paris = [{"configuration": {}, "description": "Paris"}]
    provider.answer(provider.call("recommendations"), paris)
    assert board.client.answer_to(command["req"])[0]["recommendations"] == paris
    wall.again(how)
    board = wall.board
    assert board.stack() == [forecast, clock]
    assert board.client.read("widget.recommendations", kind=FORECAST)["recommendations"] == paris
    board.rest(by=HOUR)
    assert board.stack() == [clock, forecast] and board.get(clock)["isOnTop"] is True


@HOW
def test_history_and_explain_reach_back_and_retries_are_known(wall, how):
    board, provider = wall.board, wall.provider()
    add = board.client.command("widget.add", kind=FORECAST, family="systemSmall", req="add-1",
                               client="0198c0de-0000-7000-8000-00000000000c")
    board.client.send(add)
    [first] = board.client.answer_to("add-1")
    id = first["widget"]["id"]
    board.next("added")
    provider.shows_now(1, id=id)
    board.next("timeline")
    board.client.applied("widget.tap", id=id)
    board.next("tapped")
    history = board.client.read("widget.history", id=id)["events"]
    wall.again(how)
    board = wall.board
    assert board.client.read("widget.history", id=id)["events"] == history
    assert len([decision for decision in board.client.read("widget.explain", id=id)["decisions"]]) >= 3
    board.client.send(add)
    assert board.client.answer_to("add-1") == [first]
    assert board.client.read("widget.list")["total"] == 1


def test_widgets_that_were_removed_stay_removed_and_their_slots_are_used_again(wall):
    board, provider = wall.board, wall.provider()
    ids = [board.placed(provider, entry(EPOCH, n)) for n in range(3)]
    board.client.applied("widget.remove", id=ids[1])
    board.next("removed")
    wall.again("kill")
    board, provider = wall.board, wall.provider()
    assert {row["id"] for row in board.client.read("widget.list")["widgets"]} == {ids[0], ids[2]}
    again = board.placed(provider, entry(EPOCH, 9))
    wall.again("kill")
    board = wall.board
    assert {row["id"]: row["entry"]["content"]["n"] for row in board.client.read("widget.list")["widgets"]} == {
        ids[0]: 0, ids[2]: 2, again: 9}


def test_who_opens_the_files_with_sqlite_finds_widgets_and_keys_of_groups(wall):
    board, provider = wall.board, wall.provider()
    id = board.placed(provider)
    board.client.applied("group.create", group="group.com.example")
    board.client.applied("group.set", group="group.com.example", key="city", value="berlin")
    journal = wall.services.data / "journal-000001.db"
    with contextlib.closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as database:
        rows = database.execute("select seq, event, id from events order by seq").fetchall()
    assert rows == [(1, "widget.added", id), (2, "widget.timeline", id), (3, "group.set", "city")]


def test_an_action_that_ends_after_the_restart_has_its_timeline_asked_for_again(wall):
    board = wall.board
    provider = wall.provider()
    id = board.placed(provider)
    board.client.applied("widget.tap", id=id, action="go")
    action = provider.call("perform")
    wall.again("kill")
    provider = wall.provider()
    provider.shows_now(1, id=id)
    wall.board.until(id, state="shown", failure=None)
    provider.answer(action)
    provider.refused("unknownCall", action)
    provider.shows_now(2, id=id)
    wall.board.next("reloading", id=id, cause="action")
    assert wall.board.event["exempt"] == "intent"
    wall.board.next("timeline", id=id)
    assert wall.board.agrees(id)["entry"]["content"] == {"n": 2}


@pytest.mark.parametrize("end", ["interrupted", "timed out", "lost"])
def test_an_action_that_was_given_up_is_heard_to_end_after_more_restarts(wall, end):
    kind = widget(actionDeadline=50 if end == "timed out" else 30_000)
    provider = wall.provider(kind)
    id = wall.board.placed(provider)
    wall.board.client.applied("widget.tap", id=id, action="go")
    action = provider.call("perform")
    if end == "timed out":
        wall.board.until(id, failure="timedOut")
    elif end == "lost":
        provider.leave()
        wall.board.until(id, failure="providerLost")
    wall.again("kill")
    provider = wall.provider(kind, id=provider.id)
    provider.shows_now(1, id=id)
    wall.board.until(id, state="shown", failure=None)
    wall.again("kill")
    provider = wall.provider(kind, id=provider.id)
    provider.answer(action)
    provider.refused("unknownCall", action)
    provider.shows_now(2, id=id)
    wall.board.next("reloading", id=id, cause="action")
    wall.board.next("timeline", id=id)
    assert wall.board.agrees(id)["entry"]["content"] == {"n": 2}


def test_what_is_explained_from_files_is_what_memory_told(wall):
    """Also why a reload was not charged, and what its failure was."""
    provider = wall.provider(widget())
    id = wall.board.placed(provider, device="phone")
    wall.board.device("appForeground", app=wall.board.app)
    wall.board.reload(id)
    wall.board.next("reloading", id=id)
    provider.fails(id)
    wall.board.next("failed", id=id)

    def explained():
        decisions = wall.board.client.read("widget.explain", id=id)["decisions"]
        return [decision for decision in decisions if "revision" in decision]

    before = explained()
    assert any("exempt" in decision for decision in before) and any("failure" in decision for decision in before)
    wall.again("stop")
    assert explained()[:len(before)] == before


@HOW
def test_only_the_families_of_which_widgets_are_placed_are_kept_over_a_restart(wall, how):
    provider = wall.provider(widget(families=["systemSmall", "systemLarge"]))
    wall.board.client.applied("widget.add", kind=FORECAST, family="systemSmall")
    large = wall.board.client.applied("widget.add", kind=FORECAST, family="systemLarge")["widget"]["id"]
    provider.leave()
    wall.again(how)
    after_it = wall.provider(widget(families=["systemSmall"]), register=False)
    assert after_it.try_to_register()["error"]["detail"]["placed"] == 1
    wall.board.client.applied("widget.remove", id=large)
    after_it.register()

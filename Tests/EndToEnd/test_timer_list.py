"""`timer.list`: what will happen by itself, and when."""

import pytest

from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.provider import DOOR, TORCH, RawProvider, button, toggle
from support.schemas import strict
from support.widgets import entry
from support.wire import Deadline

EMPTY = {"timers": [], "total": 0, "overdue": 0, "hours": [], "later": 0, "calls": [],
         "callsTotal": 0, "exact": True}


def timers(client, **fields):
    answer = client.read("timer.list", **fields)
    strict("answers/timer.list.json").validate(answer)
    return {name: value for name, value in answer.items() if name not in ("req", "ok")}


def test_nothing_is_armed_at_first(client):
    assert timers(client) == EMPTY
    assert timers(client, app=None) == EMPTY


def test_a_timer_says_when_why_and_whose(client):
    started = client.start(key="order-1", device="phone-7", staleDate=after(5 * MINUTE))
    assert timers(client) == {
        **EMPTY, "total": 1, "hours": [{"from": after(0), "count": 1}],
        "timers": [{
            "at": after(5 * MINUTE), "cause": "staleDate", "family": "activity", "app": client.app,
            "kind": "Delivery", "id": started["id"], "key": "order-1", "device": "phone-7", "state": "active"}],
    }


def test_rows_are_the_earliest_in_order_and_all_are_counted(client):
    spans = [(17 * n) % 100 for n in range(100)]
    for span in spans:
        client.start(key=f"k-{span}", staleDate=after((1 + span) * MINUTE))
    found = timers(client, limit=7)
    assert [row["at"] for row in found["timers"]] == [after((1 + span) * MINUTE) for span in range(7)]
    assert found["total"] == 100 and found["exact"]
    assert [hour["count"] for hour in found["hours"]] == [59, 41]
    assert len(timers(client, limit=1000)["timers"]) == 100
    assert len(timers(client)["timers"]) == 50


def test_hours_begin_now_and_end_with_the_last_that_has_one(client):
    client.advance(by=30 * MINUTE)
    client.start(key="a", staleDate=after(30 * MINUTE + 3 * HOUR))
    client.start(key="b", staleDate=after(30 * MINUTE + 3 * HOUR - 1))
    found = timers(client)
    assert found["hours"] == [
        {"from": after(30 * MINUTE + n * HOUR), "count": count} for n, count in enumerate([0, 0, 1, 1])]
    assert found["later"] == 0


def test_what_is_due_after_a_day_is_counted_apart(client):
    alert = {"title": "T", "body": "B"}
    client.start(startDate=after(24 * HOUR - 1), alert=alert)
    client.start(startDate=after(24 * HOUR), alert=alert)
    client.start(startDate=after(90 * HOUR), alert=alert)
    found = timers(client)
    assert found["later"] == 2 and found["total"] == 3
    assert len(found["hours"]) == 24 and found["hours"][-1]["count"] == 1
    assert [row["cause"] for row in found["timers"]] == ["startDate"] * 3
    assert {row["state"] for row in found["timers"]} == {"pending"}


def test_a_timer_that_took_effect_is_replaced_by_the_next(client):
    client.start(key="a", staleDate=after(MINUTE))
    client.advance(by=2 * MINUTE)
    [row] = timers(client)["timers"]
    assert (row["cause"], row["state"], row["at"]) == ("activeLimit", "stale", after(8 * HOUR))
    client.applied("activity.end", key="a", dismissalPolicy="immediate")
    assert timers(client) == EMPTY


def test_apps_and_devices_filter(client):
    client.start(device="phone", staleDate=after(MINUTE))
    client.start(device="tablet", staleDate=after(2 * MINUTE))
    client.start(app="com.example.taxi", device="phone", staleDate=after(3 * MINUTE))
    count = lambda **fields: timers(client, **fields)["total"]
    assert count(app=None) == 3
    assert count() == 2
    assert count(device="phone") == 1
    assert count(app=None, device="phone") == 2
    assert count(app="com.example.nobody") == 0
    assert count(device="nothing") == 0


@pytest.mark.parametrize("rows", [1, 1000])
def test_families_filter(wire, service, client, rows):
    client.start(staleDate=after(MINUTE))
    provider = RawProvider(wire, service.commands, toggle())
    control = client.applied("control.add", kind="com.example.torch", device="phone")["control"]["id"]
    provider.fail(provider.call())
    while not (found := timers(client, family="control", limit=rows))["timers"]:
        pass
    [row] = found["timers"]
    assert row["id"] == control and row["cause"] == "retry" and row["state"] == "preview"
    assert row["kind"] == "com.example.torch" and row["device"] == "phone" and "key" not in row
    assert timers(client, family="activity", limit=rows)["total"] == 1
    assert timers(client, family="widget", limit=rows) == EMPTY
    assert timers(client)["total"] == 2


def calls(client, count, **fields):
    """The calls, once there are so many."""
    deadline = Deadline()
    while (found := timers(client, **fields))["callsTotal"] != count:
        assert not deadline.passed, found
    return found["calls"]


def test_calls_tell_what_providers_are_asked_and_for_how_long_yet(wire, service, client):
    mode = {"name": "mode", "type": "string", "isOptional": True, "dynamicOptions": True}
    provider = RawProvider(wire, service.commands, toggle(parameters=[mode]), capacity=1)
    ids = [client.applied("control.add", kind=TORCH, device=device)["control"]["id"] for device in "abc"]
    asked = provider.call("value")
    # The next read waits with its provider, and its time has not begun; the third one is held back until there is room.
    sent, waits, held = calls(client, 3)
    row = {"op": "control.value", "family": "control", "app": client.app, "kind": TORCH, "state": "loading", "attempt": 1}
    assert sent == {
        **row, "id": ids[0], "device": "a", "provider": provider.id, "age": sent["age"], "left": sent["left"],
        "isWaiting": False}
    assert 0 < sent["left"] <= 30_000 and sent["age"] >= 0
    assert waits == {**row, "id": ids[1], "device": "b", "isWaiting": True}
    assert held == {**waits, "id": ids[2], "device": "c"}
    # A question is of no device, and its time runs while it waits.
    asker = Commands(wire, service.commands, client.app)
    asker.send(asker.command("control.options", kind=TORCH, parameter="mode"))
    question = calls(client, 4)[1]
    assert question == {
        "op": "control.options", "family": "control", "app": client.app, "kind": TORCH, "left": question["left"],
        "attempt": 1, "isWaiting": True}
    assert [row["id"] for row in calls(client, 1, device="a")] == [ids[0]]
    assert [row["id"] for row in calls(client, 1, device="c")] == [ids[2]]
    assert len(calls(client, 4, limit=1)) == 1
    assert calls(client, 4, family="control") and calls(client, 0, family="widget") == []
    assert calls(client, 0, family="activity") == [] and calls(client, 0, app="com.example.nobody") == []
    provider.answer(asked, True)
    # Reads and questions take turns; whichever is asked next, what was answered is not there any more.
    provider.call()
    assert ids[0] not in [row.get("id") for row in timers(client)["calls"]]


def test_what_is_removed_is_asked_nothing_any_more(wire, serve):
    """Also before its provider hears of it, and where another one has taken its place by then."""
    service = serve({"--clock": "system"})
    client = Commands(wire, service.commands)
    provider = RawProvider(wire, service.commands, toggle(), button(hasValue=False), capacity=1)
    for added in ((), (client.command("control.add", kind=DOOR, device="b"),)):
        id = client.applied("control.add", kind=TORCH, device="a")["control"]["id"]
        provider.call("value", placed=id)
        answers = client.batch(client.command("control.remove", id=id), *added, client.command("timer.list", app=None))
        strict("answers/timer.list.json").validate(answers[-1])
        assert (answers[-1]["calls"], answers[-1]["callsTotal"]) == ([], 0)


def test_the_call_of_what_was_removed_in_the_same_turn_is_not_told(wire, service, client):
    """Nor is it told as that of another control, which has its place by then."""
    provider = RawProvider(wire, service.commands, toggle())
    ids = [client.applied("control.add", kind=TORCH, device=device)["control"]["id"] for device in "ab"]
    for _ in ids:
        provider.call("value")
    listing = {"op": "timer.list", "app": None}
    removed, after_that, added, at_last = client.batch(
        client.command("control.remove", id=ids[0]), client.command(**listing),
        client.command("control.add", kind=TORCH, device="c"), client.command(**listing))
    assert removed["ok"] and added["ok"]
    for answer in (after_that, at_last):
        strict("answers/timer.list.json").validate(answer)
        assert [row["id"] for row in answer["calls"]] == [ids[1]] and answer["callsTotal"] == 1


def test_overdue_ones_stand_first_and_in_the_first_hour(wire, serve):
    """A clock that has moved on while nobody could come by is not to be had at will: what is due takes effect before
    a read. So that a read never shows one is all that is shown here."""
    client = Commands(wire, serve({"--clock": "manual"}).commands)
    for n in range(200):
        client.start(key=f"k-{n}", staleDate=after(MINUTE))
    client.advance(by=MINUTE)
    found = timers(client)
    assert found["overdue"] == 0 and found["total"] == 200
    assert {row["cause"] for row in found["timers"]} == {"activeLimit"}


def test_many_thousand_are_counted_over_several_turns(wire, serve):
    client = Commands(wire, serve({"--clock": "manual"}).commands)
    count = 70_000
    for start in range(0, count, 250):
        client.batch(*(
            client.command("activity.start", type="T", attributes={}, contentState={}, staleDate=after((1 + n) * 1000))
            for n in range(start, start + 250)))
    found = timers(client, limit=3)
    assert found["total"] == count and not found["exact"]
    assert [row["at"] for row in found["timers"]] == [after(1000), after(2000), after(3000)]
    assert sum(hour["count"] for hour in found["hours"]) + found["later"] == count


def test_no_timer_stands_behind_the_last_date_that_can_be_named(board):
    last = 9_999_999_999_999
    provider = board.provider()
    id = board.placed(provider, policy={"after": last})
    assert board.get(id)["next"] == {"at": last, "cause": "policy"}
    assert [row["at"] for row in timers(board.client)["timers"]] == [last]
    with board.travel(to=last):
        provider.show(provider.call("timeline", None, id), entry(last), policy={"after": last})
    assert "next" not in board.get(id)
    assert timers(board.client)["total"] == 0

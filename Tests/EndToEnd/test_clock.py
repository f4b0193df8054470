"""The two clocks: steps by hand, deadlines in the order of their dates, and `--speed`."""

import time

import pytest

from support.cli import Islet
from support.commands import Commands
from support.dates import EPOCH, HOUR, MINUTE, SECOND, after
from support.durable import Durable
from support.events import Events
from support.preload import needs_compiler, preloaded
from support.wire import Deadline


def test_the_manual_clock_starts_at_the_beginning_of_2026(client):
    assert client.advance(by=0) == EPOCH


def test_the_manual_clock_may_start_elsewhere(wire, serve):
    service = serve({"--clock": f"manual={after(5 * HOUR)}"})
    assert Commands(wire, service.commands).advance(by=1) == after(5 * HOUR) + 1


def test_it_steps_by_a_span_and_to_a_date(client):
    assert client.advance(by=SECOND) == after(SECOND)
    assert client.advance(to=after(HOUR)) == after(HOUR)


def test_it_never_goes_back(client):
    client.advance(by=HOUR)
    for fields, field in (({"to": after(HOUR) - 1}, "to"), ({"by": -1}, "by")):
        error = client.refused("clock.advance", **fields)
        assert (error["code"], error["detail"]["field"]) == ("badField", field)
    assert client.advance(by=0) == after(HOUR)


def test_it_never_goes_beyond_the_dates_that_a_command_may_name(client):
    error = client.refused("clock.advance", by=2**53)
    assert (error["code"], error["detail"]["field"]) == ("badField", "by")
    assert client.advance(to=10**13 - 1) == 10**13 - 1
    assert client.refused("clock.advance", by=1)["code"] == "badField"
    assert client.start()["state"] == "active"


def test_a_step_says_how_far_or_whereto_and_not_both(client):
    assert client.refused("clock.advance")["code"] == "missingField"
    assert client.refused("clock.advance", by=1, to=after(HOUR))["code"] == "badField"


def test_every_deadline_on_the_way_takes_effect_at_its_own_date_and_in_order(client, events):
    """Over many activities: starts, staleness, ends and removals, all in one step of a day."""
    spans = [7 * MINUTE, 3 * MINUTE, 3 * MINUTE, 9 * HOUR, 59 * SECOND, 1, 4096, 4097, 16_777_216, 5 * HOUR]
    started = 0
    for number, span in enumerate(spans):
        client.start(staleDate=after(span))
        client.start(startDate=after(span), alert={"title": "T", "body": "B"}, staleDate=after(2 * span))
        started += 2
    events.until(started)
    client.advance(by=24 * HOUR)
    seen = []
    while len([e for e in seen if e["to"] == "dismissed"]) < started:
        seen.append(events.next())
    dates = [event["at"] for event in seen]
    assert dates == sorted(dates)
    assert {event["lateBy"] for event in seen} == {0}
    stale = sorted(e["at"] for e in seen if e["to"] == "stale" and e["from"] == "active")
    assert after(1) in stale and after(16_777_216) in stale and after(5 * HOUR) in stale
    assert after(9 * HOUR) not in stale, "the end comes after 8 hours"
    ends = [e for e in seen if e["to"] == "ended"]
    assert len(ends) == started and {e["cause"] for e in ends} == {"activeLimit"}


def test_the_answer_to_a_step_comes_when_all_is_published(client, events):
    client.start(staleDate=after(MINUTE))
    client.advance(by=13 * HOUR)
    assert client.list() == []
    assert events.names(4) == ["started", "stale", "ended", "dismissed"]


def test_a_command_after_a_step_sees_the_new_time(client):
    step = client.command("clock.advance", by=9 * HOUR)
    begun = client.command("activity.start", type="T", attributes={}, contentState={}, key="k")
    read = client.command("activity.get", key="k")
    answers = client.batch(step, begun, read)
    assert answers[0]["now"] == after(9 * HOUR)
    assert answers[2]["activity"]["startedAt"] == after(9 * HOUR)


def test_on_the_system_clock_there_is_nothing_to_step(wire, system_service):
    error = Commands(wire, system_service.commands).refused("clock.advance", by=1)
    assert error["code"] == "unavailable"


def test_on_the_system_clock_deadlines_take_effect_by_themselves_and_never_early(wire, system_service):
    client = Commands(wire, system_service.commands)
    events = Events(wire, system_service.events, client.app + "/")
    events.join()
    now = client.get(client.start()["id"])["startedAt"]
    due = {client.start(staleDate=now + 200 + 37 * number)["id"]: now + 200 + 37 * number for number in range(10)}
    seen = {}
    while len(seen) < len(due):
        event = events.next()
        if event["event"] == "activity.stale":
            seen[event["activity"]["id"]] = event
    for id, event in seen.items():
        assert event["at"] >= due[id]
        assert event["lateBy"] == event["at"] - due[id]


def test_a_faster_clock_plays_hours_in_seconds(wire, serve):
    """At 36 000 times the speed, eight hours take 0.8 s."""
    service = serve({"--speed": "36000"})
    client = Commands(wire, service.commands)
    events = Events(wire, service.events, client.app + "/")
    events.join()
    started = client.get(client.start()["id"])["startedAt"]
    events.next("started")
    ended, dismissed = events.next("ended"), events.next("dismissed")
    assert (ended["cause"], dismissed["cause"]) == ("activeLimit", "dismissalPolicy")
    assert ended["at"] >= started + 8 * HOUR
    assert dismissed["at"] >= started + 12 * HOUR


def test_lateness_is_told_in_real_time_where_time_runs_faster(wire, serve):
    """At 36 000 times the speed a millisecond is 36 s of that clock, which events tell."""
    service = serve({"--speed": "36000"})
    client = Commands(wire, service.commands)
    events = Events(wire, service.events, client.app + "/")
    events.join()
    id = client.start()["id"]
    late = 0
    while (event := events.next())["event"] != "activity.dismissed":
        late = max(late, event.get("lateBy", 0))
    late = max(late, event["lateBy"])
    told = client.read("service.stats")["stats"]["lateness"]["max"]
    # The greatest one is told exactly.
    assert told == late // 36_000
    shown = Islet(service)("activity", "history", id).out
    assert "dismissed" in shown
    assert late < 1_000 * 36_000 and "late by" not in shown


def test_a_faster_clock_never_goes_back_over_a_kill(wire, tmp_path):
    """Nothing happens after the start, so nothing else would tell the journal how far time has come."""
    durable = Durable(wire, tmp_path / "data", options={"--clock": "system", "--speed": "5000"}).start()
    try:
        begun = durable.client.get(durable.client.start(staleDate=None)["id"])["startedAt"]
        for _ in range(3):
            deadline = Deadline()
            while (seen := durable.client.read("service.ping")["now"]) < begun + 1_000 * SECOND:
                assert not deadline.passed
            begun = durable.restart().client.read("service.ping")["now"]
            assert begun >= seen
        durable.stop()
    finally:
        durable.kill()


@needs_compiler
@pytest.mark.parametrize("speed, sync", ((600, 60), (5_000, 10)))
def test_a_faster_clock_on_a_slow_disk_writes_nothing_that_nobody_wants(wire, tmp_path, speed, sync):
    """Each commit takes half a minute of that clock. That what was answered is remembered for longer then is told in
    another commit, which is no reason for a third."""
    env = {"LD_PRELOAD": str(preloaded(tmp_path, "slow_sync")), "SLOW_SYNC": str(sync)}
    durable = Durable(wire, tmp_path / "data", options={"--clock": "system", "--speed": str(speed)}, env=env).start()

    def committed():
        return durable.client.read("service.info")["info"]["journal"]["committed"]

    try:
        durable.client.start()
        first, begun, deadline = committed(), time.monotonic(), Deadline()
        # A lease is told of each second; some of them go by.
        while committed() < first + 4:
            assert not deadline.passed
            time.sleep(0.1)
        # The watermarks of what was started need none, and an app's first events are through.
        time.sleep(1)
        assert committed() - first <= 8 + 3 * (time.monotonic() - begun)
    finally:
        durable.kill()


def test_one_step_over_a_whole_life_and_its_retention_leaves_nothing_behind(client, events):
    id = client.start(staleDate=after(HOUR))["id"]
    assert client.advance(by=72 * HOUR) == after(72 * HOUR)
    for name in ("started", "stale", "ended", "dismissed"):
        assert events.next(name)["activity"]["id"] == id
    assert client.refused("activity.get", id=id)["code"] == "notFound"

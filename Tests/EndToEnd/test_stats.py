"""`service.stats`: all figures of the service at one moment."""

import time

import pytest

from support.dates import HOUR, MINUTE, after
from support.durable import Durable
from support.provider import RawProvider, toggle
from support.schemas import strict
from support.wire import DEADLINE

NONE = {"count": 0, "p50": 0, "p99": 0, "p999": 0, "max": 0}


def stats(client):
    answer = client.read("service.stats")
    strict("answers/stats.json").validate(answer)
    return answer["stats"]


def of_late(figures):
    """The figures of the last minute, without the time that they are of."""
    return {name: value for name, value in figures["recent"].items() if name != "span"}


def until(client, holds):
    """Reads until something holds, which comes about on another connection."""
    deadline = time.monotonic() + DEADLINE
    while not holds(figures := stats(client)):
        assert time.monotonic() < deadline, figures
    return figures


@pytest.fixture
def durable(wire, tmp_path):
    made = Durable(wire, tmp_path / "data").start()
    yield made
    made.kill()


def test_a_fresh_service_has_nothing_to_tell(client):
    figures = stats(client)
    assert figures["guarantee"] == "memory" and "journal" not in figures
    assert figures["commands"] == {"taken": 1, "applied": 0, "ignored": 0, "refused": 0}
    assert figures["timers"] == {"armed": 0, "overdue": 0}
    for name, unit in {"lateness": "ms", "answer": "us", "commit": "us"}.items():
        assert figures[name]["unit"] == unit
        assert {key: figures[name][key] for key in NONE} == of_late(figures[name]) == NONE
    assert not figures["diskFull"] and not figures["stopping"]


def test_what_a_message_changes_is_in_what_it_asks_for_next(client):
    start = client.command(
        "activity.start", type="T", attributes={}, contentState={}, startDate=after(HOUR), alert={"title": "t"})
    answers = client.batch(*(client.command("service.stats") for _ in range(3)), start, client.command("service.stats"))
    assert [answer["stats"]["entities"] for answer in answers if "stats" in answer] == [0, 0, 0, 1]
    assert answers[-1]["stats"]["timers"] == {"armed": 1, "overdue": 0, "nextAt": after(HOUR)}


def test_commands_count_by_what_they_came_to(client):
    client.start(key="a")
    client.start(key="b", staleDate=after(HOUR))
    client.applied("activity.update", key="a", contentState={"eta": 1})
    assert client.ignored("activity.update", key="a", contentState={"eta": 1}) == "unchanged"
    client.refused("activity.update", key="nobody", contentState={})
    client.refused("activity.explode")
    client.raw(b"{")
    client.read("activity.get", key="a")
    figures = stats(client)
    assert figures["commands"] == {"taken": 9, "applied": 3, "ignored": 1, "refused": 3}
    assert figures["events"] == 3
    assert figures["activities"] == {"pending": 0, "active": 2, "stale": 0, "ended": 0, "dismissed": 0}
    assert figures["apps"] == 1


def test_a_retry_is_not_applied_twice(client):
    command = client.command("activity.start", type="T", attributes={}, contentState={}, req="c-1",
                             client="0198c0de-0000-7000-8000-0000000000aa")
    for _ in range(3):
        client.send(command)
        assert client.receive()[0]["ok"]
    figures = stats(client)
    assert figures["commands"]["taken"] == 4 and figures["commands"]["applied"] == 1


def test_each_answered_message_with_a_change_is_timed_once(client):
    for eta in range(20):
        client.start(key=f"order-{eta}")
    client.batch(*(client.command("activity.update", key=f"order-{eta}", contentState={"eta": -1}) for eta in range(20)))
    client.read("activity.list")
    answer = stats(client)["answer"]
    assert answer["count"] == 21
    assert 0 < answer["p50"] <= answer["p99"] <= answer["p999"] <= answer["max"] < DEADLINE * 1_000_000
    assert of_late(answer) == {name: answer[name] for name in NONE}
    assert 0 <= answer["recent"]["span"] < 60_000


def test_timers_tell_how_many_and_when(client):
    client.start(key="a", staleDate=after(5 * MINUTE))
    client.start(key="b")
    assert stats(client)["timers"] == {"armed": 2, "overdue": 0, "nextAt": after(5 * MINUTE)}
    client.advance(by=6 * MINUTE)
    figures = stats(client)
    assert figures["timers"] == {"armed": 2, "overdue": 0, "nextAt": after(8 * HOUR)}
    assert figures["now"] == after(6 * MINUTE)
    assert figures["lateness"]["count"] == figures["lateness"]["recent"]["count"] == 1


def test_devices_and_groups_are_counted(client):
    client.start(device="phone-1")
    client.start(device="phone-2")
    client.applied("group.create", group="group.x", members=[])
    client.applied("group.set", group="group.x", key="k", value="12345")
    figures = stats(client)
    assert figures["devices"] == 2
    assert figures["groups"] == {"groups": 1, "keys": 1, "bytes": len('"12345"')}


def test_providers_and_their_calls_are_counted_also_when_they_are_gone(wire, service, client):
    provider = RawProvider(wire, service.commands, toggle())
    client.applied("control.add", kind="com.example.torch")
    provider.gives(True)
    figures = until(client, lambda figures: figures["controls"]["shown"] == 1)["providers"]
    assert figures["connected"] == 1 and figures["calls"] == 1 and figures["failures"] == 0
    assert figures["call"]["count"] == 1 and figures["call"]["unit"] == "ms"
    client.applied("control.reload", kind="com.example.torch")
    provider.fail(provider.call())
    until(client, lambda figures: figures["providers"]["failures"] == 1)
    provider.leave()
    figures = until(client, lambda figures: figures["providers"]["dropped"] == 1)["providers"]
    assert figures["connected"] == 0 and figures["calls"] == 2 and figures["call"]["count"] == 2


def test_joins_are_counted(client, events):
    assert stats(client)["joins"] == 1
    events.join()
    assert stats(client)["joins"] == 2


def test_the_journal_and_commits_stand_there_where_there_are_any(durable):
    for eta in range(30):
        durable.client.start(key=f"k-{eta}")
    figures = stats(durable.client)
    assert figures["guarantee"] in ("normal", "full")
    assert figures["commit"]["count"] >= 30 and figures["commit"]["p50"] > 0
    assert figures["journal"]["commit"]["count"] == figures["commit"]["count"]
    # An answer waits for its commit.
    assert figures["answer"]["max"] >= figures["commit"]["p50"]


def test_memory_is_what_linux_says(service, client):
    said = stats(client)["memory"]["resident"]
    assert abs(said - service.resident) < 16 << 20


def test_figures_rise_and_never_fall(client):
    before = stats(client)
    for eta in range(10):
        client.start()
    now = stats(client)
    assert now["commands"]["taken"] == before["commands"]["taken"] + 11
    assert now["uptime"] >= before["uptime"]

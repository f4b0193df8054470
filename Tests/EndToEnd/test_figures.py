"""The percentiles of `service.info`: how long commits take and how late deadlines take effect."""

import time

import pytest

from support.dates import HOUR, MINUTE, after
from support.durable import Durable

NONE = {"count": 0, "p50": 0, "p99": 0, "p999": 0, "max": 0}


def info(client):
    return client.read("service.info")["info"]


def rising(figures):
    return figures["p50"] <= figures["p99"] <= figures["p999"] <= figures["max"]


@pytest.fixture
def durable(wire, tmp_path):
    made = Durable(wire, tmp_path / "data").start()
    yield made
    made.kill()


def test_nothing_was_late_before_anything_was_due(client):
    assert info(client)["lateness"] == NONE
    assert "journal" not in info(client)


def test_on_a_manual_clock_every_deadline_is_counted_and_none_is_late(client):
    for minute in range(1, 21):
        client.start(key=f"order-{minute}", staleDate=after(minute * MINUTE))
    client.advance(by=10 * MINUTE)
    assert info(client)["lateness"] == {**NONE, "count": 10}
    client.advance(by=10 * MINUTE)
    assert info(client)["lateness"] == {**NONE, "count": 20}
    # Every one of them ends and leaves the Lock Screen at a deadline, too.
    client.advance(by=13 * HOUR)
    assert info(client)["lateness"] == {**NONE, "count": 60}


def test_commits_are_counted_and_timed(durable):
    before = info(durable.client)["journal"]
    id = durable.client.start()["id"]
    for eta in range(50):
        durable.client.applied("activity.update", id=id, contentState={"eta": eta, "of": "commits"})
    after_them = info(durable.client)["journal"]
    # One at a time, so each had a commit to itself; the service may have had something to note of its own.
    committed = after_them["committed"] - before["committed"]
    assert committed >= 51
    assert after_them["commit"]["count"] - before["commit"]["count"] == committed
    assert 0 < after_them["commit"]["p50"] and rising(after_them["commit"])
    assert 0 < after_them["lastCommit"] <= after_them["commit"]["max"]


def test_figures_begin_anew_with_the_process(durable):
    durable.client.start(staleDate=after(MINUTE))
    durable.client.advance(by=HOUR)
    assert info(durable.client)["lateness"]["count"] == 1
    durable.restart()
    assert info(durable.client)["lateness"] == NONE


def test_a_deadline_that_passed_while_the_service_was_down_is_late_by_so_much(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data", options={"--clock": "system"}).start()
    try:
        due = durable.client.read("service.ping")["now"] + 300
        id = durable.client.start(staleDate=due)["id"]
        durable.kill()
        while time.time() * 1000 < due + 200:
            time.sleep(0.01)
        durable.start()
        history = durable.client.read("activity.history", id=id)["events"]
        [late_by] = [event["lateBy"] for event in history if "lateBy" in event]
        lateness = info(durable.client)["lateness"]
        assert late_by >= 200
        assert (lateness["count"], lateness["max"]) == (1, late_by)
        assert lateness["p50"] == lateness["p99"] == late_by
    finally:
        durable.kill()

"""Silence that no publisher could break is none: it counts from a start, from when a full disk has room again, from the end of
a leap of time, and from when answers leave that a commit held back."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from support.commands import encode
from support.dates import HOUR, MINUTE, after
from support.durable import Durable
from support.preload import needs_compiler, preloaded
from support.service import run
from support.small_disk import SmallDisk, may_mount, until
from support.wire import Silence

ALERT = {"title": "soon"}
BOTH = ("heartbeatStaleAfter: 3m", "heartbeatEndAfter: 6m")


def rules(tmp_path, *settings):
    path = tmp_path / "rules.yaml"
    path.write_text("ruleSet:\n" + "".join(f"  {setting}\n" for setting in settings))
    return path


@pytest.fixture
def watched(wire, tmp_path):
    """A service that watches for heartbeats, with ones that are heard of, silent, and to start while it is away."""
    made = Durable(wire, tmp_path / "data", options={"--config": rules(tmp_path, *BOTH)}).start()
    made.client.start(key="silent")
    made.client.start(key="due", startDate=after(30 * MINUTE), alert=ALERT)
    made.client.advance(by=3 * MINUTE)
    made.client.start(key="heard")
    made.client.advance(by=MINUTE)
    made.client.applied("activity.heartbeat", key="heard")
    yield made
    made.kill()


def stand(client):
    keys = ("heard", "silent", "due")
    shown = {key: client.read("activity.get", key=key)["activity"] for key in keys}
    return {key: (one["state"], one["cause"], one["next"]["at"], one["next"]["cause"]) for key, one in shown.items()}


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_silence_counts_from_the_start_of_the_service(watched, how):
    getattr(watched, how)()
    client = watched.start(clock=f"manual={after(HOUR)}").client
    assert stand(client) == {
        "heard": ("active", "command", after(HOUR + 3 * MINUTE), "heartbeat"),
        "silent": ("stale", "heartbeat", after(HOUR + 6 * MINUTE), "heartbeat"),
        "due": ("active", "startDate", after(HOUR + 3 * MINUTE), "heartbeat")}
    timers = client.read("timer.list")["timers"]
    assert [timer["at"] for timer in timers] == [after(HOUR + 3 * MINUTE)] * 2 + [after(HOUR + 6 * MINUTE)]
    client.applied("activity.heartbeat", key="silent")
    assert client.read("activity.get", key="silent")["activity"]["state"] == "active", "it is back"
    client.advance(by=2 * MINUTE)
    client.applied("activity.heartbeat", key="heard")
    client.advance(by=2 * MINUTE)
    assert stand(client) == {
        "heard": ("active", "command", after(HOUR + 5 * MINUTE), "heartbeat"),
        "silent": ("stale", "heartbeat", after(HOUR + 6 * MINUTE), "heartbeat"),
        "due": ("stale", "heartbeat", after(HOUR + 6 * MINUTE), "heartbeat")}
    client.advance(by=2 * MINUTE)
    assert client.read("activity.list", state="ended")["total"] == 2
    ended = client.read("activity.list", state="ended")["activities"]
    assert {one["endedAt"] for one in ended} == {after(HOUR + 6 * MINUTE)}


def test_each_start_sets_it_anew(watched):
    for hours in (1, 2, 3):
        client = watched.restart(clock=f"manual={after(hours * HOUR)}").client
        assert stand(client)["heard"] == ("active", "command", after(hours * HOUR + 3 * MINUTE), "heartbeat")
        client.advance(by=2 * MINUTE)
    client.advance(by=MINUTE)
    assert stand(client)["heard"][0] == "stale"


def test_other_deadlines_that_were_missed_take_effect_at_the_start(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data", options={"--config": rules(tmp_path, *BOTH)}).start()
    durable.client.start(key="k", staleDate=after(2 * MINUTE))
    durable.client.start(key="old")
    durable.client.start(key="late", startDate=after(20 * HOUR), alert=ALERT)
    durable.restart(clock=f"manual={after(9 * HOUR)}")
    ended = durable.client.read("activity.list", state="ended")["activities"]
    assert [(one["cause"], one["endedAt"]) for one in ended] == [("activeLimit", after(8 * HOUR))] * 2
    assert durable.client.read("activity.list", state="pending")["total"] == 1
    durable.stop()


def test_a_rule_that_a_start_switches_on_counts_from_there(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data").start()
    try:
        durable.client.start(key="k")
        durable.client.advance(by=HOUR)
        client = durable.stop().start(config=rules(tmp_path, *BOTH)).client
        shown = client.read("activity.get", key="k")["activity"]
        assert (shown["state"], shown["next"]) == ("active", {"at": after(HOUR + 3 * MINUTE), "cause": "heartbeat"})
        client.applied("activity.heartbeat", key="k")
    finally:
        durable.kill()


def test_silence_counts_from_the_start_of_a_restored_backup(watched, tmp_path):
    file = tmp_path / "backup.db"
    done = run("backup", file, "--commands", watched.service.commands)
    assert done.returncode == 0, done.stderr
    restored = Durable(watched.wire, tmp_path / "restored", options=watched.options | {"--data": tmp_path / "restored"})
    done = run("restore", file, "--data", restored.data, "--allow-volatile")
    assert done.returncode == 0, done.stderr
    try:
        client = restored.start(clock=f"manual={after(HOUR)}").client
        assert stand(client)["heard"] == ("active", "command", after(HOUR + 3 * MINUTE), "heartbeat")
        client.applied("activity.heartbeat", key="silent")
    finally:
        restored.kill()


def test_a_problem_names_since_when_it_is_stale(watched):
    def since(client):
        [row] = client.read("problem.list")["problems"]
        return row["what"], row["since"]

    assert since(watched.client) == ("stale", after(3 * MINUTE))
    client = watched.restart(clock=f"manual={after(HOUR)}").client
    assert since(client) == ("stale", after(3 * MINUTE)), "it was so before"
    client.applied("activity.heartbeat", key="silent")
    client.applied("activity.end", key="due")
    client.advance(by=2 * MINUTE)
    client.applied("activity.heartbeat", key="silent")
    client.advance(by=MINUTE)
    assert since(client) == ("stale", after(HOUR + 3 * MINUTE))


@pytest.mark.skipif(not may_mount(), reason="a small disk cannot be mounted here")
def test_silence_counts_from_when_a_full_disk_has_room_again(wire, tmp_path):
    disk = SmallDisk(tmp_path / "disk", "24m")
    env = {"ISLET_JOURNAL_MINIMUM_FREE": str(8 << 20), "ISLET_JOURNAL_SEGMENT_BYTES": str(1 << 20)}
    options = {"--clock": "system", "--config": rules(tmp_path, "heartbeatStaleAfter: 2s", "heartbeatEndAfter: 3s")}
    durable = Durable(wire, disk.folder / "data", prefix=disk.inside, env=env, options=options).start()
    try:
        client = durable.client
        client.start(key="k")
        disk.fill()

        def refused():
            command = client.command("activity.heartbeat", key="k")
            client.send(command)
            try:
                [answer] = client.answer_to(command["req"], seconds=1)
            except Silence:
                return False
            return not answer["ok"] and answer["error"]["detail"] == {"reason": "diskFull"}

        until(refused)
        full = time.time()
        until(lambda: time.time() > full + 3.5)
        until(refused)
        room = int(time.time() * 1000)
        disk.clear()
        until(lambda: client.ask("activity.list", state="ended").get("total") == 1)
        events = [json.loads(body) for _, body in durable.replay(after=0).rows]
        told = [(event["event"], event["cause"]) for event in events]
        assert told[-2:] == [("activity.stale", "heartbeat"), ("activity.ended", "heartbeat")]
        assert [event["at"] - event["lateBy"] >= room + span for event, span in zip(events[-2:], (2000, 3000))] == [True] * 2
    finally:
        durable.kill()
        disk.close()


def test_silence_does_not_count_while_a_commit_holds_answers_back(wire, tmp_path):
    """Most publishers give the next sign of life once the last one is answered."""
    config = rules(tmp_path, "heartbeatStaleAfter: 2s", "heartbeatEndAfter: 3s")
    durable = Durable(wire, tmp_path / "data", options={"--clock": "system", "--config": config}).start()
    try:
        client = durable.client
        client.start(key="k")
        with contextlib.closing(sqlite3.connect(durable.data / "journal-000001.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            last = client.command("activity.heartbeat", key="k")
            client.send(last)
            durable.service.line("another process has locked a file, and is waited for: .*")
            locked = time.time()
            until(lambda: time.time() > locked + 3.5)
            free = int(time.time() * 1000)
        [answer] = client.answer_to(last["req"])
        assert answer["ok"]
        # Only now its publisher could say that it lives.
        client.applied("activity.heartbeat", key="k")
        shown = client.read("activity.get", key="k")["activity"]
        assert (shown["state"], shown["revision"]) == ("active", 1)
        until(lambda: client.ask("activity.list", state="ended").get("total") == 1)
        events = [json.loads(body) for _, body in durable.replay(after=0).rows]
        assert [event["event"] for event in events] == ["activity.started", "activity.stale", "activity.ended"]
        assert [event["at"] - event["lateBy"] >= free + span for event, span in zip(events[1:], (2000, 3000))] == [True] * 2
    finally:
        durable.kill()


def told(durable):
    return [json.loads(body)["event"] for _, body in durable.replay(after=0).rows]


# Sends a frame five times a second.
PUBLISHER = """
import sys, time, zmq
socket = zmq.Context().socket(zmq.DEALER)
socket.connect(sys.argv[1])
while True:
    socket.send_string(sys.argv[2])
    time.sleep(0.2)
"""


def test_a_service_that_was_stopped_hears_what_waits_before_it_counts_silence(wire, tmp_path):
    options = {"--clock": "system", "--config": rules(tmp_path, "heartbeatStaleAfter: 2500ms", "heartbeatEndAfter: 3s")}
    durable = Durable(wire, tmp_path / "data", options=options).start()
    client = durable.client
    frame = encode(client.command("activity.heartbeat", key="k", req=None))
    publisher = None
    try:
        client.start(key="k")
        publisher = subprocess.Popen([sys.executable, "-c", PUBLISHER, durable.service.commands, frame])
        ends = client.read("activity.get", key="k")["activity"]["next"]["at"]
        heard = lambda then: client.read("activity.get", key="k")["activity"].get("next", {"at": then + 1})["at"] > then
        until(lambda: heard(ends + 1_000))
        durable.service.signal(signal.SIGSTOP)
        stopped = time.time()
        until(lambda: time.time() > stopped + 6)
        durable.service.signal(signal.SIGCONT)
        # Something that was sent a second later is heard, too.
        until(lambda: heard((stopped + 6 + 1 + 2.5) * 1_000))
        assert client.read("activity.get", key="k")["activity"]["state"] == "active"
        assert told(durable) == ["activity.started"]
    finally:
        if publisher:
            publisher.kill()
            publisher.wait()
        durable.kill()


@needs_compiler
def test_a_clock_that_is_set_forward_ends_nothing_for_silence(wire, tmp_path):
    clock = tmp_path / "clock"
    clock.write_text("0")
    env = {"LD_PRELOAD": str(preloaded(tmp_path, "set_clock")), "SET_CLOCK": str(clock)}
    options = {"--clock": "system", "--config": rules(tmp_path, "heartbeatStaleAfter: 20s", "heartbeatEndAfter: 40s")}
    durable = Durable(wire, tmp_path / "data", options=options, env=env).start()
    try:
        client = durable.client
        client.start(key="k")
        # As far as it is believed at once.
        clock.write_text("50")
        until(lambda: client.read("service.ping")["now"] > time.time() * 1_000 + 40_000)
        assert told(durable) == ["activity.started"]
        client.applied("activity.heartbeat", key="k")
    finally:
        durable.kill()

"""What was acknowledged is there after `kill -9`, after a stop, and from a backup."""

import json
import os
import pathlib
import re
import sys
import time
import uuid

import pytest

from support.commands import START, encode
from support.dates import HOUR, MINUTE, SECOND, after
from support.durable import Durable
from support.service import run
from support.small_disk import SmallDisk, may_mount, until
from support.wire import Silence


@pytest.fixture
def durable(wire, tmp_path):
    made = Durable(wire, tmp_path / "data").start()
    yield made
    made.kill()


def test_every_activity_is_back_after_a_kill(durable):
    client = durable.client
    rich = client.start(
        key="order-1", device="phone-1", staleDate=after(HOUR), relevanceScore=0.5, pushType={"channel": "c-1"},
        attributes={"order": 1042, "s": "ü\\u0000"}, contentState={"eta": [1, {"b": None}]})
    pending = client.start(startDate=after(HOUR), alert={"title": "Soon", "body": "…"})
    ended = client.start()
    client.applied("activity.end", id=ended["id"], contentState={"eta": 0})
    dismissed = client.start(key="gone")
    client.applied("activity.dismiss", id=dismissed["id"])
    renewed = client.start()
    successor = client.applied("activity.renew", id=renewed["id"])["activity"]
    client.applied("activity.update", id=rich["id"], contentState={"eta": 3}, staleDate=after(2 * HOUR))
    ids = [entity["id"] for entity in (rich, pending, ended, dismissed, renewed, successor)]
    before = [client.get(id) for id in ids]

    client = durable.restart().client
    assert [client.get(id) for id in ids] == before
    assert client.get(key="order-1", device="phone-1")["id"] == rich["id"]
    assert {entity["id"] for entity in client.list()} == {ids[0], ids[1], ids[2], ids[5]}
    assert client.refused("activity.start", **START, key="order-1", device="phone-1")["code"] == "conflict"
    client.advance(by=HOUR)
    assert client.get(pending["id"])["state"] == "active"


def test_a_pending_ones_alert_is_in_the_event_of_its_start_after_a_kill(durable):
    alert = {"title": "Soon", "body": "…"}
    durable.client.start(startDate=after(HOUR), alert=alert)
    durable.restart()
    events = durable.events()
    durable.client.advance(by=HOUR)
    assert events.next("started")["alert"] == alert


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_deadlines_that_passed_meanwhile_take_effect_once_each_in_the_order_of_their_dates(durable, how):
    client = durable.client
    dates = [5 * MINUTE, 2 * MINUTE, 7 * MINUTE, 3 * MINUTE]
    ids = [client.start(staleDate=after(span))["id"] for span in dates]
    gone = client.start()["id"]
    client.applied("activity.end", id=gone, dismissalPolicy={"after": after(4 * MINUTE)})
    seq = len(dates) + 2
    getattr(durable, how)()
    durable.start(clock=f"manual={after(HOUR)}")
    durable.client.read("service.ping")
    pulled = durable.replay(after=seq)
    events = [json.loads(body) for _, body in pulled.rows]
    assert [(event["event"], event["activity"]["id"]) for event in events] == [
        ("activity.stale", ids[1]), ("activity.stale", ids[3]), ("activity.dismissed", gone),
        ("activity.stale", ids[0]), ("activity.stale", ids[2])]
    assert [event["seq"] for event in events] == list(range(seq + 1, seq + 6))
    assert "5 deadlines were due while down" in durable.service.log

    durable.restart()
    assert durable.replay(after=seq).rows == pulled.rows
    assert "no deadline was due while down" in durable.service.log


def test_lateness_is_told_where_the_clock_is_the_machines(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data", options={"--clock": "system"}).start()
    due = int(time.time() * 1000) + 1_500
    id = durable.client.start(staleDate=due)["id"]
    durable.kill()
    assert time.time() * 1000 < due, "it was down when it was due"
    while time.time() * 1000 < due + 200:
        time.sleep(0.01)
    durable.start()
    [event] = [json.loads(body) for _, body in durable.replay(after=1).rows]
    assert (event["event"], event["activity"]["id"]) == ("activity.stale", id)
    assert event["at"] - event["lateBy"] == due and event["lateBy"] >= 200
    assert re.search(r"recovered 1 activity in .* s; 1 deadline was due while down, oldest late by", durable.service.log)
    durable.kill()


def test_a_folder_whose_path_begins_with_two_slashes_is_opened_again(wire, tmp_path):
    """As that of a user whose home is the root, in a container."""
    durable = Durable(wire, f"/{tmp_path}/data").start()
    id = durable.client.start()["id"]
    durable.restart()
    assert durable.client.get(id)["state"] == "active"
    durable.stop()


def test_a_subscriber_goes_on_from_its_last_seq_without_a_gap(durable):
    events = durable.events()
    epoch = durable.joined["apps"].get(durable.app, {}).get("epoch")
    ids = [durable.client.start()["id"] for _ in range(5)]
    live = [events.raw_next() for _ in range(3)]
    durable.restart()
    for id in ids:
        durable.client.applied("activity.update", id=id, contentState={"eta": 1})
    durable.events()
    position = durable.joined["apps"][durable.app]
    assert position["seq"] == 10
    assert epoch in (None, position["epoch"])
    assert live[0][1]["epoch"] == position["epoch"]
    rows = durable.replay(after=0).rows
    assert [(topic, body) for topic, _, body in live] == rows[:3], "published and stored bytes are the same"
    assert [json.loads(body)["seq"] for _, body in rows] == list(range(1, 11))
    assert durable.replay(after=7).rows == rows[7:]
    end = durable.replay(after=10).end
    assert (end["seq"], end["epoch"]) == (10, position["epoch"])


def test_the_epoch_stays_over_stops_and_kills(durable):
    def epoch():
        durable.client.start()
        durable.events()
        return durable.joined["apps"][durable.app]["epoch"]

    first = epoch()
    durable.restart()
    assert epoch() == first
    durable.stop().start()
    assert epoch() == first
    durable.events()
    assert durable.joined["apps"][durable.app]["seq"] == 3


def test_a_retry_gets_the_first_answer_across_a_kill_and_is_never_executed_twice(durable):
    one = str(uuid.uuid4())
    frames = [
        encode(durable.client.command("activity.start", client=one, req=f"a-{number}", **START)) for number in range(3)]
    first = [durable.client.raw(frame) for frame in frames]
    durable.restart()
    assert [durable.client.raw(frame) for frame in frames] == first
    other = encode(durable.client.command("activity.start", client=one, req="a-1", **{**START, "type": "Ride"}))
    [refusal] = durable.client.raw(other)
    assert refusal["error"]["code"] == "requestReused"
    assert len(durable.client.list()) == 3
    durable.stop().start()
    assert [durable.client.raw(frame) for frame in frames] == first


def test_what_is_forgotten_is_an_unknown_outcome_after_a_kill(durable):
    one = str(uuid.uuid4())
    frame = encode(durable.client.command("activity.start", client=one, req="a-7", **START))
    durable.client.raw(frame)
    durable.client.advance(by=11 * MINUTE)
    later = encode(durable.client.command("activity.start", client=one, req="a-8", **START))
    [answer] = durable.client.raw(later)
    durable.restart()
    [refusal] = durable.client.raw(frame)
    assert refusal["error"]["code"] == "outcomeUnknown"
    assert durable.client.raw(later) == [answer]


def test_settings_and_what_devices_reported_survive(durable):
    client = durable.client
    client.applied("settings.set", app="com.example.off", activitiesEnabled=False)
    client.applied("settings.set", device="phone-1", frequentPushesEnabled=False)
    client.applied("device.event", device="phone-2", event="appBackground", app=durable.app)
    for how in ("kill", "stop"):
        client = getattr(durable, how)().start().client
        assert client.refused("activity.start", **START, app="com.example.off")["code"] == "denied"
        settings = client.read("settings.get", device="phone-1")["settings"]
        assert settings == {"activitiesEnabled": True, "frequentPushesEnabled": False}
        assert client.refused("activity.start", **START, device="phone-2")["code"] == "visibility"


def test_a_sign_of_life_does_not_come_back_over_what_followed_it_in_its_batch(durable, tmp_path):
    config = tmp_path / "islet.yaml"
    config.write_text("ruleSet:\n  heartbeatStaleAfter: 60000\n")
    client = durable.restart(config=config).client
    id = client.start()["id"]
    client.batch(client.command("activity.heartbeat", id=id), client.command("activity.end", id=id))
    before = client.get(id)
    assert before["state"] == "ended"
    assert durable.restart(config=config).client.get(id) == before


def test_history_and_explanation_reach_back_over_a_kill(durable):
    client = durable.client
    id = client.start(key="order-1")["id"]
    for eta in range(5):
        client.applied("activity.update", id=id, contentState={"eta": eta})
    before = client.read("activity.history", id=id)
    explained = client.read("activity.explain", id=id)
    client = durable.restart().client
    assert client.read("activity.history", id=id)["events"] == before["events"]
    assert client.read("activity.explain", id=id)["decisions"] == explained["decisions"]
    client.applied("activity.end", id=id)
    history = client.read("activity.history", id=id)
    assert history["complete"] is True
    assert [event["activity"]["revision"] for event in history["events"]] == list(range(1, 8))
    decisions = client.read("activity.explain", id=id)["decisions"]
    assert [decision["revision"] for decision in decisions] == list(range(1, 8))
    assert decisions[:6] == explained["decisions"]


def test_a_clock_that_was_moved_stands_there_after_a_kill(durable):
    durable.client.advance(by=3 * HOUR)
    assert durable.restart().client.read("service.ping")["now"] == after(3 * HOUR)
    assert durable.restart(clock=f"manual={after(4 * HOUR)}").client.read("service.ping")["now"] == after(4 * HOUR)
    assert durable.restart().client.read("service.ping")["now"] == after(4 * HOUR)


def test_a_clock_that_stands_before_the_journal_is_waited_for(wire, tmp_path):
    ahead = int(time.time() * 1000) + 6_000
    durable = Durable(wire, tmp_path / "data", options={"--clock": f"manual={ahead}"}).start()
    id = durable.client.start(key="order-1")["id"]
    durable.restart(clock="system")
    assert time.time() * 1000 >= ahead - 1_000, "two clocks of one machine may differ by a second"
    assert "the clock stands before the journal's last entry" in durable.service.log
    assert durable.client.read("service.ping")["now"] >= ahead
    durable.client.applied("activity.update", id=id, contentState={"eta": 1})
    dates = [event["at"] for event in durable.client.read("activity.history", id=id)["events"]]
    assert dates == sorted(dates) and dates[0] == ahead
    durable.kill()


@pytest.mark.parametrize("sync, guarantee", [("full", "full"), ("normal", "normal")])
def test_what_is_promised_is_told(durable, sync, guarantee):
    info = durable.stop().start(sync=sync).client.read("service.info")["info"]
    assert (info["store"], info["guarantee"]) == ("sqlite", guarantee)
    assert info["journal"]["isFull"] is False


def test_old_events_are_trimmed_and_a_replay_from_before_says_so(wire, tmp_path):
    durable = Durable(
        wire, tmp_path / "data",
        env={"ISLET_JOURNAL_SEGMENT_BYTES": "65536", "ISLET_JOURNAL_RETENTION_BYTES": "262144"}).start()
    quiet = durable.client.start()["id"]
    id, count = durable.client.start()["id"], 0

    def update():
        nonlocal count
        durable.client.applied("activity.update", id=id, contentState={"eta": count, "text": "x" * 500})
        count += 1

    def used():
        return sum(file.stat().st_size for file in durable.data.glob("journal*"))

    while count < 2_000:
        update()
    # A segment that is made late grows meanwhile, and goes by those that come after it.
    until(lambda: update() or used() < 4_000_000, seconds=60)
    durable.stop().start()
    nothing = durable.client.read("activity.history", id=quiet)
    assert (nothing["events"], nothing["complete"], nothing["sinceRevision"]) == ([], False, 2)
    refusal = durable.replay(after=1).end["error"]
    assert refusal["code"] == "tooOld"
    oldest = refusal["detail"]["oldest"]
    assert 1 < oldest <= count + 2
    rows = durable.replay(after=oldest - 1).rows
    assert [json.loads(body)["seq"] for _, body in rows] == list(range(oldest, count + 3))
    history = durable.client.read("activity.history", id=id)
    assert history["complete"] is False
    assert history["events"][0]["activity"]["revision"] == history["sinceRevision"]
    assert durable.client.get(id)["contentState"]["eta"] == count - 1
    assert used() < 4_000_000, "of some 24 MB that were written"
    durable.stop()


def test_a_backup_is_a_whole_service_with_another_epoch(durable, tmp_path):
    client = durable.client
    ids = [client.start(key=f"k-{number}")["id"] for number in range(20)]
    client.applied("activity.update", id=ids[0], contentState={"eta": 1})
    before = [client.get(id) for id in ids]
    durable.events()
    epoch = durable.joined["apps"][durable.app]["epoch"]
    file = tmp_path / "backup.db"
    done = run("backup", file, "--commands", durable.service.commands)
    assert done.returncode == 0, done.stderr
    assert file.stat().st_size > 0
    again = run("backup", file, "--commands", durable.service.commands)
    assert (again.returncode, "exists" in again.stderr) == (6, True)
    client.applied("activity.end", id=ids[0])

    restored = Durable(durable.wire, tmp_path / "restored")
    done = run("restore", file, "--data", restored.data, "--allow-volatile")
    assert done.returncode == 0, done.stderr
    restored.start()
    assert [restored.client.get(id) for id in ids] == before
    restored.events()
    position = restored.joined["apps"][durable.app]
    assert position["seq"] == 21 and position["epoch"] != epoch
    history = restored.client.read("activity.history", id=ids[0])
    assert history["complete"] is (len(history["events"]) == 2)
    done = run("restore", file, "--data", restored.data)
    assert (done.returncode, "exists" in done.stderr) == (1, True)
    restored.stop()


def test_a_history_without_events_says_which_revision_is_the_next_that_is_kept(durable, tmp_path):
    id = durable.client.start()["id"]
    durable.client.applied("activity.update", id=id, contentState={"eta": 1})
    # The end writes the whole snapshot, so that a backup needs none of the events.
    durable.stop()
    durable.start()
    file = tmp_path / "backup.db"
    assert run("backup", file, "--commands", durable.service.commands).returncode == 0
    restored = Durable(durable.wire, tmp_path / "restored")
    assert run("restore", file, "--data", restored.data, "--allow-volatile").returncode == 0
    restored.start()

    history = restored.client.read("activity.history", id=id)
    assert (history["events"], history["complete"], history["sinceRevision"]) == ([], False, 3)
    restored.client.applied("activity.update", id=id, contentState={"eta": 2})
    history = restored.client.read("activity.history", id=id)
    assert ([event["activity"]["revision"] for event in history["events"]], history["sinceRevision"]) == ([3], 3)
    restored.stop()


@pytest.mark.skipif(not may_mount(), reason="nothing can be mounted here")
def test_a_backup_that_only_the_service_can_see_is_said(wire, tmp_path):
    """It is in a container, behind a tunnel, or has a /tmp of its own: a person looks for the file in vain."""
    disk = SmallDisk(tmp_path / "disk", "24m")
    durable = Durable(wire, tmp_path / "data", prefix=disk.inside).start()
    try:
        durable.client.start()
        file = disk.folder / "copy.db"
        done = run("backup", file, "--commands", durable.service.commands)
        assert done.returncode == 0 and done.stdout.startswith(f"wrote {file}, ")
        assert (disk.path / "copy.db").stat().st_size > 0 and not file.exists()
        assert f"{file} is not there for this command" in done.stderr
        seen = run("backup", tmp_path / "seen.db", "--commands", durable.service.commands)
        assert (seen.returncode, seen.stderr) == (0, "")
    finally:
        durable.kill()
        disk.close()


def test_a_backup_may_have_a_name_in_any_language(durable, tmp_path):
    durable.client.start()
    file = tmp_path / "täglich" / "備份 1.db"
    file.parent.mkdir()
    done = run("backup", file, "--commands", durable.service.commands)
    assert done.returncode == 0, done.stderr
    assert f"wrote {file}" in done.stdout
    done = run("restore", file, "--data", tmp_path / "überall", "--allow-volatile")
    assert done.returncode == 0, done.stderr
    folder = str(tmp_path).encode()
    for path in (rb"\ud800", rb"a\nb", rb"\u0000", rb"\u007f", rb"\u0022", rb"\u005c", "é".encode() * 512):
        [answer] = durable.client.raw(b'{"op":"service.backup","req":"b","path":"' + folder + b"/" + path + b'"}')
        assert "'path'" in answer["error"]["message"], (path, answer)


def test_a_memory_store_has_nothing_to_back_up(client, tmp_path):
    refusal = client.refused("service.backup", path=str(tmp_path / "x.db"))
    assert (refusal["code"], refusal["detail"]) == ("unavailable", {"reason": "storeInMemory"})
    assert client.refused("service.backup", path="relative.db")["code"] == "unavailable"


def test_a_backup_whose_path_is_too_long_for_sqlite_says_so(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data").start()
    try:
        path = tmp_path
        while len(str(path)) < 480:
            path = path / ("d" * 40)
        path.mkdir(parents=True)
        path = path / ("x" * 60)
        message = durable.client.refused("service.backup", path=str(path))["message"]
        assert f"{path}: the backup cannot be written there: its path is too long" in message
        assert list(path.parent.iterdir()) == []
        durable.stop()
    finally:
        durable.kill()


def limited(size):
    """A process that can write no file beyond so many bytes: its writes fail, as on a disk that breaks."""
    script = (
        "import os, resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); os.execv(sys.argv[1], sys.argv[1:])")
    return [sys.executable, "-c", script]


def test_a_commit_that_fails_ends_the_process_with_its_own_exit_code_and_loses_nothing_acknowledged(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data", prefix=limited(300_000)).start()
    acknowledged = []
    with pytest.raises(Silence):
        for number in range(1_000):
            command = durable.client.command("activity.start", **{**START, "attributes": {"text": "x" * 2_000}})
            durable.client.send(command)
            [answer] = durable.client.answer_to(command["req"], seconds=8)
            acknowledged.append(answer["activity"]["id"])
    assert durable.service.wait() == 74
    assert "commit" in durable.service.log or "write" in durable.service.log, durable.service.log
    assert len(acknowledged) > 10
    durable.prefix = ()
    durable.start()
    listed = {entity["id"] for entity in durable.client.list(limit=1000)}
    assert listed >= set(acknowledged) and len(listed) <= len(acknowledged) + 1
    durable.kill()


# Threads


def tasks(pid):
    """What the system shows of each thread of a process."""
    return list(pathlib.Path(f"/proc/{pid}/task").iterdir())


def task(pid, thread):
    """The same of the thread of a name."""
    found = [each for each in tasks(pid) if (each / "comm").read_text() == thread + "\n"]
    assert found, f"no thread {thread}"
    return found[0]


def processors(pid, thread):
    """Where a thread of a process may run."""
    return os.sched_getaffinity(int(task(pid, thread).name))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine has one processor")
def test_the_bus_thread_stays_on_one_processor_and_the_committer_keeps_off_it(durable):
    all = os.sched_getaffinity(0)
    pid, id = durable.service.process.pid, durable.client.start()["id"]
    seen = set()
    deadline = time.monotonic() + 60
    # A command at a time keeps the bus thread busy: it is held for most of the time, and free for some in each second.
    while seen < {"held", "free"}:
        assert time.monotonic() < deadline, seen
        durable.client.applied("activity.update", id=id, contentState={"n": time.monotonic()})
        bus, committer = processors(pid, "islet-bus"), processors(pid, "islet-commit")
        if len(bus) == 1 and committer == all - bus:
            seen.add("held")
        elif bus == all:
            seen.add("free")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine has one processor")
def test_an_operator_who_puts_the_service_on_one_processor_finds_it_there(durable):
    pid, id = durable.service.process.pid, durable.client.start()["id"]
    deadline = time.monotonic() + 60
    while len(bus := processors(pid, "islet-bus")) > 1:
        assert time.monotonic() < deadline
        durable.client.applied("activity.update", id=id, contentState={"n": time.monotonic()})
    # The one that the bus thread has chosen for itself, so that it cannot tell by its own.
    for each in tasks(pid):
        os.sched_setaffinity(int(each.name), bus)
    # Longer than it stays, and is free, by itself.
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        durable.client.applied("activity.update", id=id, contentState={"n": time.monotonic()})
        assert processors(pid, "islet-bus") == processors(pid, "islet-commit") == bus


# Memory


def pages_made(pid, thread):
    """The pages of memory that the system has made for a thread so far."""
    return int((task(pid, thread) / "stat").read_text().rpartition(")")[2].split()[7])


def test_commits_of_one_size_take_no_memory_from_the_system(durable):
    id = durable.client.start()["id"]
    pid, commits = durable.service.process.pid, 40

    def commit(number):
        # One row of some 200 kB for SQLite, which the C library would take from the system each time: 50 pages.
        frames = [
            durable.client.command("activity.update", id=id, contentState={"n": f"{number}-{each}", "x": "x" * 3_000})
            for each in range(64)]
        durable.client.send(*frames)
        assert all(answer["ok"] for answer in durable.client.receive())

    for number in range(20):
        commit(number)
    before = pages_made(pid, "islet-commit")
    for number in range(20, 20 + commits):
        commit(number)
    assert pages_made(pid, "islet-commit") - before < 10 * commits


def test_a_page_of_a_list_goes_on_within_a_process_and_not_in_another(durable):
    """After a restart an entity may have another place, so that its cursor would leave some out or show some twice."""
    client = durable.client
    ids = {client.start()["id"] for _ in range(5)}
    page = client.read("activity.list", limit=2)
    rest = client.read("activity.list", cursor=page["next"])
    assert {row["id"] for row in page["activities"] + rest["activities"]} == ids
    client = durable.restart().client
    error = client.refused("activity.list", cursor=page["next"])
    assert (error["code"], error["detail"]["field"]) == ("badField", "cursor")
    page = client.read("activity.list", limit=2)
    assert len(client.read("activity.list", cursor=page["next"])["activities"]) == 3

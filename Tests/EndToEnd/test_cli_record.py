"""`islet record`: what there is at one moment, and all that happens after it, for a replay that is whole."""

import json
import os
import signal
import stat
import subprocess
import threading

import pytest

from support.bulk import Bulk
from support.cli import Islet, replay
from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.digest import digest
from support.durable import Durable
from support.proxy import Proxy
from support.running import Running
from support.schemas import strict
from support.service import BINARY, environment
from support.small_disk import SmallDisk, may_mount, until
from support.wire import DEADLINE
from test_cli_replay import APP, GROUP, TAXI, activities, events_of, placed, shared, steady, target  # noqa: F401


@pytest.fixture
def islet(service):
    return Islet(service, app="")


@pytest.fixture
def recorder(islet):
    """Begins recordings; each that still runs is ended after the test."""
    made = []

    def make(path, *words, env=None):
        made.append(Running("record", path, *words, env=env or islet.env))
        return made[-1]

    yield make
    for each in made:
        each.kill()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recording.jsonl"


# More lines are not held against their schema, which takes its time.
VALIDATED = 40


def lines(path):
    """The header, the rows, the end of the snapshot and the events of a recording, as its schema says."""
    read = [json.loads(line) for line in path.read_text().splitlines()]
    schema = strict("cli/record.json")
    for line in read[:VALIDATED] + read[-1:]:
        schema.validate(line)
    header, rest = read[0], read[1:]
    rows = [line for line in rest if "row" in line]
    [end] = [line["snapshotEnd"] for line in rest if "snapshotEnd" in line]
    assert rest[len(rows)] == {"snapshotEnd": end}, "the rows stand before the end, the events behind it"
    return header, rows, end, rest[len(rows) + 1:]


def members(rows):
    return {line["topic"]: next(iter(line["row"].values())) for line in rows}


def entities_of(wire, service, *apps):
    """What a service has of everything: by topic, without what begins anew with a replay, or is the provider's."""
    own = {
        "revision", "startedAt", "expiresAt", "endedAt", "addedAt", "timestamp", "cause", "next", "startDate", "renews",
        "renewedBy", "valueAt", "updatedAt", "timelineAt", "entry", "timeline",
    }
    found = {}
    for app in apps:
        for topic, body in Bulk(wire, service.bulk, app).snapshot().rows:
            entity = next(iter(json.loads(body).values()))
            found[topic] = {name: value for name, value in entity.items() if name not in own}
    return found


def busy(service, target, client, steady, wire):
    """Something of each family, in each state. What controls show is their provider's, and so that of the target has it."""
    provider, other = steady(service), steady(target)
    taxi = Commands(wire, service.commands, TAXI)
    ids = activities(client)
    ids["placed"] = placed(client, service)
    shared(client, taxi)
    client.start(key="stale-1", staleDate=client_now(client) + MINUTE)
    client.advance(by=2 * MINUTE)
    client.start(key="again-1")
    client.applied("activity.end", key="again-1", contentState={"eta": 0},
                   dismissalPolicy={"after": client_now(client) + HOUR})
    ids["again-1"] = client.start(key="again-1", contentState={"eta": 3})["id"]
    client.start(key="soon-1", startDate=client_now(client) + 5 * MINUTE, alert={"title": "It begins"})
    taxi.start(key="ride-1", contentState={"text": "caf\u00e9 \U0001F355", "n": 1.50})
    other.values.update(provider.values)
    return ids


def client_now(client):
    return client.read("service.ping")["now"]


# What stands in it


def test_a_recording_has_what_there_is_and_then_what_happens(service, client, recorder, path, bulk):
    ids = [client.start(key=f"order-{number}", staleDate=after(HOUR))["id"] for number in range(3)]
    client.applied("activity.end", id=ids[1])
    client.applied("activity.dismiss", id=ids[2], by="person")
    pulled = bulk.snapshot()
    process = recorder(path)
    process.message("^2 entities of 1 app recorded; following all apps$")
    client.applied("activity.update", id=ids[0], contentState={"eta": 1})
    client.start(app=TAXI, key="ride-1")
    process.wait_until(lambda: len(path.read_text().splitlines()) == 6)
    assert process.end() == 0
    assert process.messages[-1] == f"recorded 2 entities of 1 app and 2 events, 0 missed, to {path}"
    header, rows, end, events = lines(path)
    [info] = Islet(service)("info", "--json").json
    assert header["ruleSet"] == info["ruleSet"] and header["at"] == after(0) and "prefix" not in header
    assert header["apps"] == {APP: {"epoch": pulled.end["epoch"], "seq": 5}}
    assert members(rows) == {topic: json.loads(body)["activity"] for topic, body in pulled.rows}
    assert end == {APP: {"seq": 5, "entities": 2, "digest": pulled.end["digest"]}}
    assert sorted((line["topic"].split("/")[0], line["event"]["seq"]) for line in events) == [(APP, 6), (TAXI, 1)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_there_is_comes_out_the_same(service, target, client, wire, islet, path, steady):
    busy(service, target, client, steady, wire)
    islet("record", path, "--limit", "0")
    _, rows, end, events = lines(path)
    assert events == [] and len(rows) == sum(part["entities"] for part in end.values()) > 12
    here = entities_of(wire, service, APP, TAXI)
    assert {line["topic"] for line in rows} == set(here)
    states = {entity.get("state") for entity in here.values()}
    assert {"active", "stale", "ended", "pending", "shown"} <= states
    Commands(wire, target.commands).advance(to=client_now(client))
    done = replay(target, path, "--speed", "max", "--verify", "--keep-times", "--json")
    [summary] = done.json
    strict("cli/replay.json").validate(summary)
    assert summary["entities"] == summary["events"] == summary["replayed"] == len(rows)
    assert summary["differences"] == [] and summary["refused"] == [] and summary["impossible"] == []
    there = entities_of(wire, target, APP, TAXI)
    assert set(there) == set(here)
    for topic, entity in here.items():
        assert there[topic] == entity, topic


def test_what_happens_to_what_there_was_comes_out_the_same(service, target, client, wire, recorder, path, steady):
    ids = busy(service, target, client, steady, wire)
    before = events_of(service)
    process = recorder(path)
    process.message("following")
    client.advance(by=10 * MINUTE)  # soon-1 begins
    client.applied("activity.update", key="stale-1", contentState={"eta": 2})
    client.applied("activity.update", id=ids["again-1"], contentState={"eta": 1})
    client.applied("activity.end", id=ids["order-9"])
    client.advance(by=2 * HOUR)
    torch, _, forecast = ids["placed"]
    client.applied("control.set", id=torch, value=False)
    client.applied("widget.remove", id=forecast)
    Commands(wire, service.commands, TAXI).applied("group.set", group=GROUP, key="rides", value=18)
    client.applied("group.delete", group=GROUP, key="city")
    client.advance(by=5 * HOUR)  # beyond the eight hours of what was there before
    wait_for_events(process, path, events_of(service) - before)
    assert process.end() == 0
    _, rows, _, _ = lines(path)
    Commands(wire, target.commands).advance(by=HOUR)
    done = replay(target, path, "--speed", "max", "--verify", "--json")
    [summary] = done.json
    assert summary["differences"] == [] and summary["refused"] == [] and summary["impossible"] == [], done.err
    assert summary["gaps"] == [] and summary["repeated"] == 0
    here, there = entities_of(wire, service, APP, TAXI), entities_of(wire, target, APP, TAXI)
    assert {topic: entity.get("state") for topic, entity in here.items()} \
        == {topic: entity.get("state") for topic, entity in there.items()}
    assert f"{len(rows)} entities of the snapshot begin anew" in done.err


def wait_for_events(process, path, count):
    """Waits until the recording has so many events."""
    process.wait_until(lambda: path.read_text().count('"event":{') >= count)


# While it is busy


class Writer:
    """Changes an app without a pause, until it is stopped."""

    def __init__(self, service, wire, count=2_000):
        self.client = Commands(wire, service.commands, APP)
        start = dict(type="Delivery", attributes={}, contentState={"text": "x" * 500})
        self.ids = []
        for begin in range(0, count, 200):
            answers = self.client.batch(*[
                self.client.command("activity.start", key=f"w-{number}", **start)
                for number in range(begin, begin + 200)])
            self.ids += [answer["activity"]["id"] for answer in answers]
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self):
        number = 0
        while not self._ends.is_set():
            number += 1
            some = [self.ids[(number * 7 + each) % len(self.ids)] for each in range(20)]
            self.client.batch(*[
                self.client.command("activity.update", id=id, contentState={"n": number}) for id in some])
            key = f"t-{number}"
            self.client.batch(
                self.client.command("activity.start", type="Delivery", attributes={}, contentState={}, key=key),
                self.client.command("activity.end", key=key, dismissalPolicy="immediate"))

    def stop(self):
        self._ends.set()
        self._thread.join(timeout=DEADLINE)


def applied(rows, events):
    """What rows become by events: merge patches, by topic."""
    found = {topic: dict(entity) for topic, entity in members(rows).items()}
    for line in events:
        event = line["event"]
        patch = event[event["event"].split(".")[0]]
        entity = found.setdefault(line["topic"], {"revision": 0})
        assert patch["revision"] == entity["revision"] + 1, "without a gap, and nothing twice"
        entity.update({name: value for name, value in patch.items()})
        if event.get("to") == "dismissed":
            del found[line["topic"]]
    return found


@pytest.mark.parametrize("round", range(3))
def test_nothing_is_left_out_and_nothing_is_twice_while_it_is_busy(service, client, wire, recorder, path, bulk, round):
    writer = Writer(service, wire)
    try:
        process = recorder(path, f"{APP}/")
        process.message("following")
        wait_for_events(process, path, 100)
    finally:
        writer.stop()
    last = events_of(service)
    process.wait_until(lambda: json.loads(path.read_text().splitlines()[-1])["event"]["seq"] >= last)
    assert process.end() == 0
    _, rows, end, events = lines(path)
    assert [line["event"]["seq"] for line in events] == list(range(end[APP]["seq"] + 1, last + 1))
    assert all(line["seq"] == end[APP]["seq"] for line in rows)
    assert end[APP]["digest"] == digest({topic: entity["revision"] for topic, entity in members(rows).items()})
    found = {topic: (entity["revision"], entity["contentState"]) for topic, entity in applied(rows, events).items()}
    there = {topic: json.loads(body)["activity"] for topic, body in bulk.snapshot().rows}
    assert found == {topic: (entity["revision"], entity["contentState"]) for topic, entity in there.items()}


def test_a_snapshot_whose_connection_is_lost_is_taken_anew(service, client, islet, recorder, path, bulk):
    text = {"text": "x" * 500}
    for begin in range(0, 2_000, 200):
        client.batch(*[
            client.command("activity.start", type="Delivery", attributes={}, contentState=text, key=f"k-{number}")
            for number in range(begin, begin + 200)])
    proxy = Proxy(service.bulk, bytes_per_second=1_000_000)
    try:
        process = recorder(path, "--limit", "0", env={**islet.env, "ISLET_BULK": proxy.url})
        until(lambda: b"bulk.credit" in proxy.sent)
        proxy.cut()
        assert process.wait(seconds=DEADLINE * 2) == 0
        assert proxy.sent.count(b"bulk.snapshot") == 2
    finally:
        proxy.close()
    _, rows, end, _ = lines(path)
    assert len(rows) == 2_000 and end[APP]["digest"] == bulk.snapshot().end["digest"]


def same_addresses(service):
    """The options by which the next service stands where this one stood."""
    return {f"--{name}": getattr(service, name) for name in ("commands", "events", "bulk")}


def test_a_restart_of_the_service_leaves_no_gap(wire, tmp_path, recorder, path):
    durable = Durable(wire, tmp_path / "data").start()
    durable.options.update(same_addresses(durable.service))
    try:
        durable.client.start(key="order-1")
        process = recorder(path, env=Islet(durable.service, app="").env)
        process.message("following")
        durable.client.applied("activity.update", key="order-1", contentState={"n": 1})
        durable.restart()
        durable.client.applied("activity.update", key="order-1", contentState={"n": 2})
        wait_for_events(process, path, 2)
        assert process.end() == 0
    finally:
        durable.stop()
    _, rows, end, events = lines(path)
    assert len(rows) == 1 and [line["event"]["seq"] for line in events] == [2, 3]


def test_a_new_history_ends_it(wire, serve, recorder, path):
    """A service that keeps nothing begins anew: what it tells then is not of what was recorded."""
    first = serve({"--store": "memory"})
    Commands(wire, first.commands, APP).start(key="order-1")
    process = recorder(path, env=Islet(first, app="").env)
    process.message("following")
    first.stop()
    second = serve({"--store": "memory", **same_addresses(first)})
    Commands(wire, second.commands, APP).start(key="order-2")
    assert process.wait(seconds=DEADLINE * 2) == 1
    assert "the service began a new history" in process.messages[-1]
    _, rows, _, events = lines(path)
    assert len(rows) == 1 and events == []


# How much of it, and for how long


def test_a_prefix_takes_a_part(service, target, client, wire, islet, path):
    client.start(key="order-1")
    client.start(type="Ride", key="ride-1")
    client.start(app=TAXI, type="Ride", key="ride-2")
    for number in range(3):
        client.applied("activity.update", key="order-1", contentState={"n": number})
    process = Running("record", path, f"{APP}/activity/Ride/", "--limit", "1", env=islet.env)
    process.message("^1 entity of 1 app recorded; following com.example.pizza/activity/Ride/…$")
    client.applied("activity.update", key="order-1", contentState={"n": 9})
    client.applied("activity.update", key="ride-1", contentState={"n": 9})
    assert process.wait() == 0
    header, rows, _, events = lines(path)
    assert header["prefix"] == f"{APP}/activity/Ride/" and list(header["apps"]) == [APP]
    assert [entity["key"] for entity in members(rows).values()] == ["ride-1"]
    assert [line["event"]["activity"]["revision"] for line in events] == [2]
    done = replay(target, path, "--verify", "--json")
    [summary] = done.json
    assert summary["gaps"] == [] and summary["replayed"] == 2 and summary["differences"] == []


@pytest.mark.parametrize("words", [["--app", TAXI], [f"{TAXI}/"], ["com.example.t"]], ids=" ".join)
def test_one_app_is_recorded(client, islet, path, words):
    client.start(key="order-1")
    client.start(app=TAXI, key="ride-1")
    done = islet("record", path, *words, "--limit", "0")
    header, rows, _, _ = lines(path)
    assert list(header["apps"]) == [TAXI] and len(rows) == 1
    assert done.err.splitlines()[-1] == f"recorded 1 entity of 1 app and 0 events, 0 missed, to {path}"


def test_of_nothing_an_empty_recording_is_made_and_replayed(islet, target, path):
    islet("record", path, "--limit", "0")
    header, rows, end, events = lines(path)
    assert (header["apps"], rows, end, events) == ({}, [], {}, [])
    assert "replayed 0 of 0 events" in replay(target, path).err


def test_it_ends_after_a_while(client, islet, path):
    client.start(key="order-1")
    assert islet("record", path, "--for", "50ms").err.splitlines()[-1].startswith("recorded 1 entity of 1 app and 0 events")


def test_standard_output_takes_it(client, islet, target):
    client.start(key="order-1")
    done = islet("record", "-", "--limit", "0")
    assert [next(iter(line)) for line in done.json] == ["recording", "topic", "snapshotEnd"]
    assert done.err.splitlines()[-1].endswith("to standard output")
    words = [str(BINARY), "replay", "-", "--commands", target.commands]
    played = subprocess.run(words, input=done.out, env=environment(), capture_output=True, text=True, timeout=DEADLINE)
    assert played.returncode == 0 and "replayed 1 of 1 event" in played.stderr


def test_a_reader_who_has_gone_is_no_failure_to_tell_of(client, islet):
    client.start(key="order-1")
    read, write = os.pipe()
    process = subprocess.Popen(
        [str(BINARY), "record", "-"], env=islet.env, stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE,
        text=True)
    os.close(write)
    assert os.read(read, 10)
    os.close(read)
    for number in range(200):
        client.applied("activity.update", key="order-1", contentState={"n": number})
        if process.poll() is not None:
            break
    assert process.wait(timeout=DEADLINE) == -signal.SIGPIPE
    assert "cannot" not in process.stderr.read()


def test_a_reader_who_is_slow_gets_everything(client, islet):
    """What it does not take waits at the service, which keeps it; not in the recorder."""
    id = client.start(key="order-1")["id"]
    process = subprocess.Popen(
        [str(BINARY), "record", "-", "--limit", "6000"], env=islet.env, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while "following" not in process.stderr.readline():
            assert process.poll() is None
        for begin in range(0, 6_000, 200):
            client.batch(*[
                client.command("activity.update", id=id, contentState={"n": number, "text": "x" * 500})
                for number in range(begin, begin + 200)])
        out, err = process.communicate(timeout=DEADLINE * 3)
    finally:
        process.kill()
    seqs = [json.loads(line)["event"]["seq"] for line in out.splitlines() if '"event":{' in line]
    assert seqs == list(range(2, 6_002)) and process.returncode == 0
    assert "6 000 events, 0 missed" in err


@pytest.mark.parametrize("words", [
    ["--limit", "-1"], ["--for", "0s"], ["--for", "5"], ["com.a/", "--app", "com.a"]], ids=" ".join)
def test_wrong_usage_makes_no_file(islet, path, words):
    islet("record", path, *words, code=2)
    assert not path.exists()


def test_nothing_is_overwritten(client, islet, path):
    path.write_text("mine\n")
    assert "is there already" in islet("record", path, "--limit", "0", code=2).err
    assert path.read_text() == "mine\n"
    assert "cannot make" in islet("record", path.parent / "no" / "folder", code=2).err


def test_where_nobody_answers_no_file_is_made(islet, path):
    env = dict(ISLET_COMMANDS="tcp://127.0.0.1:1", ISLET_EVENTS="tcp://127.0.0.1:1", ISLET_BULK="tcp://127.0.0.1:1")
    islet("record", path, "--timeout", "300ms", code=5, **env)
    assert not path.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_stops_it_gets_whole_lines_and_the_summary(client, recorder, path, number):
    client.start(key="order-1")
    process = recorder(path)
    process.message("following")
    client.applied("activity.update", key="order-1", contentState={"n": 1})
    wait_for_events(process, path, 1)
    assert process.end(number) == 0
    assert path.read_bytes().endswith(b"\n")
    assert process.messages[-1] == f"recorded 1 entity of 1 app and 1 event, 0 missed, to {path}"


def test_who_stops_it_within_the_snapshot_is_told(client, service, islet, recorder, path, target):
    client.start(key="order-1")
    proxy = Proxy(service.bulk)
    try:
        proxy.hold()
        process = recorder(path, env={**islet.env, "ISLET_BULK": proxy.url})
        process.wait_until(path.exists)
        assert process.end() == 1
    finally:
        proxy.close()
    assert "stopped within the snapshot" in process.messages[-1]
    done = replay(target, path, code=2)
    assert "has no whole snapshot" in done.err and "--incomplete" in done.err


@pytest.mark.skipif(not may_mount(), reason="no mounts here")
def test_a_full_disk_ends_it_with_whole_lines(client, islet, tmp_path):
    id = client.start(key="order-1")["id"]
    disk = SmallDisk(tmp_path / "disk", 65_536)
    try:
        path = disk.path / "recording.jsonl"
        process = Running("record", path, env=islet.env)
        process.message("following")
        for number in range(100):
            if process.process.poll() is not None:
                break
            client.applied("activity.update", id=id, contentState={"n": number, "text": "x" * 3_000})
        assert process.wait() == 1
        assert "cannot write to" in process.messages[-1] and "No space left" in process.messages[-1]
        _, rows, _, events = lines(path)
        assert len(rows) == 1 and events
    finally:
        disk.close()


# From before


def test_it_may_begin_in_the_past(service, target, client, wire, islet, path):
    client.start(key="untouched", contentState={"n": 1})
    client.start(key="changed", contentState={"n": 1})
    client.start(key="gone", contentState={"n": 1})
    client.applied("activity.update", key="changed", contentState={"n": 2})
    client.advance(by=HOUR)
    client.applied("activity.update", key="changed", contentState={"n": 3})
    client.applied("activity.end", key="gone", dismissalPolicy="immediate")
    client.start(key="new")
    done = islet("record", path, "--since", "10m", "--limit", "4")
    header, rows, end, events = lines(path)
    assert header["at"] == after(HOUR)
    assert {entity["key"]: entity["contentState"] for entity in members(rows).values()} \
        == {"untouched": {"n": 1}, "changed": {"n": 2}, "gone": {"n": 1}}
    assert end[APP]["seq"] == 4 and [line["event"]["seq"] for line in events] == [5, 6, 7, 8]
    assert end[APP]["digest"] == digest({topic: entity["revision"] for topic, entity in members(rows).items()})
    [summary] = replay(target, path, "--speed", "max", "--verify", "--json").json
    assert summary["differences"] == [] and summary["replayed"] + sum(summary["following"].values()) == 7, done.err


# What a replay makes of it


def test_a_recording_cut_in_its_snapshot_is_refused_unless_it_is_wanted(client, islet, target, path, wire):
    for number in range(5):
        client.start(key=f"order-{number}")
    islet("record", path, "--limit", "0")
    whole = path.read_text().splitlines(keepends=True)
    for cut in ("".join(whole[:4]), "".join(whole[:3]) + whole[3][:40], "".join(whole[:2] + whole[3:])):
        path.write_text(cut)
        done = replay(target, path, code=2)
        assert "has no whole snapshot" in done.err and "nothing was sent" in done.err
    assert events_of(target) == 0
    path.write_text("".join(whole[:4]))
    assert "replayed 3 of 3 events" in replay(target, path, "--incomplete").err
    assert len(Commands(wire, target.commands, APP).list()) == 3


def test_two_recordings_behind_each_other_are_refused(client, islet, target, path):
    client.start(key="order-1")
    islet("record", path, "--limit", "0")
    path.write_text(path.read_text() * 2)
    assert "line 4 is of another snapshot" in replay(target, path, code=2).err
    path.write_text('{"recording":2,"at":1767225600000,"apps":{}}\n')
    assert "line 1 is of a later version" in replay(target, path, code=2).err


def test_a_recording_of_the_service_itself_is_refused(client, service, islet, path):
    client.start(key="order-1")
    islet("record", path, "--limit", "0")
    assert "it was recorded at" in replay(service, path, code=6).err


@pytest.mark.parametrize("other", [TAXI, APP])
def test_a_group_that_was_removed_and_made_again_ends_as_it_was(service, target, client, wire, recorder, path, other):
    """Neither its removal nor its making is in any event."""
    taxi = Commands(wire, service.commands, TAXI)
    shared(client, taxi)
    process = recorder(path)
    process.message("following")
    before = events_of(service)
    for key in ("city", "rides"):
        client.applied("group.delete", group=GROUP, key=key)
    client.read("group.remove", group=GROUP)
    owner = taxi if other == TAXI else client
    owner.read("group.create", group=GROUP)
    owner.applied("group.set", group=GROUP, key="city", value="rome")
    wait_for_events(process, path, events_of(service) - before)
    assert process.end() == 0
    [summary] = replay(target, path, "--verify", "--json").json
    assert summary["differences"] == [] and summary["refused"] == [] and summary["impossible"] == []
    there = Commands(wire, target.commands, other)
    assert [(row["key"], row["value"], row["by"]) for row in there.read("group.list", group=GROUP)["items"]] \
        == [("city", "rome", other)]
    rows = Bulk(wire, target.bulk, other).snapshot().rows
    assert [topic for topic, _ in rows] == [f"{other}/group/{GROUP}/city"]

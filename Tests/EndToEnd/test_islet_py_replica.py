"""The replica of `scripts/islet.py` against the real service: losses, restarts, new epochs; and, for controls, rows."""

import contextlib
import decimal
import itertools
import json
import os
import random
import threading
import time
import types

import pytest

import islet
from support.bulk import Bulk
from support.commands import START, Commands
from support.digest import digest
from support.durable import Durable
from support.followed import plain
from support.interruptions import Interrupting, Interruption
from support.lossy import LossyRelay
from support.proxy import Proxy
from support.service import run
from support.small_disk import until
from support.wire import DEADLINE
from test_replica import walk

APP = "com.example.pizza"
SEED = int(os.environ.get("ISLET_TEST_SEED", random.SystemRandom().randrange(1 << 32)))


@pytest.fixture
def follow(service):
    """Makes replicas of the service, or of what stands before one of its sockets."""
    made = []

    def make(prefix="", events=None, bulk=None):
        endpoints = islet.Endpoints(service.commands, events or service.events, bulk or service.bulk)
        made.append(islet.Replica(APP, prefix, endpoints=endpoints))
        return made[-1]

    yield make
    for replica in made:
        replica.close()


def exact(replica, bulk):
    """Waits until the replica has everything, and holds it against what the service says."""
    last = bulk.digest(**({"prefix": replica.prefix} if replica.prefix else {}))
    replica.sync(0 if replica.prefix else last["seq"])
    held = {topic: entity["revision"] for topic, entity in replica.entities.items()}
    assert (len(held), digest(held)) == (last["entities"], last["digest"])


def told(replica, timeout=0.2):
    """All changes until there are no more."""
    return list(replica.changes(timeout=timeout))


def reasons(changes):
    return [change.reason for change in changes if change.kind == "synced"]


def seqs(changes):
    return [change.event["seq"] for change in changes if change.kind == "event"]


# Joining and following


def test_it_begins_with_what_is_there_and_tells_each_event_with_the_entity_after_it(client, follow):
    old = client.start(key="old")["id"]
    replica = follow().sync()
    assert replica.seq == 1 and [entity["key"] for entity in replica.entities.values()] == ["old"]
    client.applied("activity.update", id=old, contentState={"eta": 3})
    new = client.start()["id"]
    last = client.applied("activity.end", id=new, dismissalPolicy="immediate")["seq"]
    replica.sync(last)
    synced, *events = told(replica)
    assert (synced.kind, synced.reason, len(synced.missed)) == ("synced", "joined", 0)
    assert [change.event["event"] for change in events] == [
        "activity.updated", "activity.started", "activity.ended", "activity.dismissed"]
    assert events[0].topic == f"{APP}/activity/Delivery/{old}"
    assert [change.entity["state"] for change in events] == ["active", "active", "ended", "dismissed"]
    assert events[0].entity["contentState"] == {"eta": 3} and events[0].entity["attributes"] == START["attributes"]
    assert list(replica.entities) == [f"{APP}/activity/Delivery/{old}"]


def test_an_app_that_has_no_events_yet(client, follow, bulk):
    replica = follow().sync()
    assert (replica.seq, dict(replica.entities)) == (0, {})
    replica.sync(client.applied("activity.start", **START)["seq"])
    exact(replica, bulk)


def test_members_that_are_cleared_go(client, follow):
    replica = follow().sync()
    id = client.start(staleDate=client.advance(by=0) + 60_000)["id"]
    replica.sync(client.applied("activity.update", id=id, contentState={})["seq"])
    [entity] = replica.entities.values()
    assert entity == plain(client.get(id)) and "staleDate" not in entity


def test_an_integer_of_any_length_stops_no_reader(client, follow, bulk):
    """Python converts no more than 4,300 digits, and the contract sets no such limit."""
    early, digits = follow().sync(), "7" * 5_000
    client.applied("group.create", group="g")
    frame = json.dumps(client.command("group.set", group="g", key="k", value={"n": 0}))
    client.send(frame.replace('"n": 0', f'"n": {digits}').encode())
    [answer] = client.wire.receive(client.socket)
    assert b'"ok":true' in answer
    value = {"n": decimal.Decimal(digits)}
    with islet.Client(APP, endpoints=early.endpoints) as python:
        assert python.call("group.get", group="g", key="k", timeout=1)["group"]["value"] == value
    for replica in (early, follow()):
        replica.sync(1, timeout=1)
        [entity] = replica.entities.values()
        assert entity["value"] == value
        exact(replica, bulk)


def test_changes_end_after_a_while_without_one(client, follow):
    replica = follow()
    assert [change.reason for change in replica.changes(timeout=0.3)] == ["joined"]
    assert told(replica) == []


def test_sync_says_where_it_stands_when_it_waits_in_vain(client, follow):
    with pytest.raises(TimeoutError, match="following at 0, not at 5"):
        follow().sync(5, timeout=0.3)


def test_a_random_walk_gives_what_reads_show(client, follow, bulk):
    print(f"seed {SEED}: set ISLET_TEST_SEED to repeat")
    rng, early = random.Random(SEED), follow()
    for _ in range(8):
        walk(rng, client, 25)
        exact(early, bulk)
    late = follow()
    exact(late, bulk)
    listed = {row["id"]: plain(row) for row in client.list(limit=1000)}
    for replica in (early, late):
        assert {entity["id"]: entity for entity in replica.entities.values()} == listed, SEED


def test_a_snapshot_of_many_chunks_while_updates_run(client, follow, bulk, monkeypatch):
    monkeypatch.setattr(islet._Machine, "CREDIT", 1)
    for _ in range(12):
        client.batch(*[client.command("activity.start", **START, key=None) for _ in range(250)])
    ids, replica = [activity["id"] for activity in client.list(limit=1000)], follow()
    take = replica._machine._chunk

    def take_while_much_happens(frames):
        for id in ids[:500:25]:
            client.applied("activity.update", id=id, contentState={"n": len(ids)})
            client.applied("activity.start", **START)
            client.applied("activity.dismiss", id=ids.pop())
        take(frames)

    replica._machine._chunk = take_while_much_happens
    replica.sync(timeout=60)
    assert replica._machine.fuzzy > replica._machine._from + 60, "nothing happened meanwhile, so this shows nothing"
    exact(replica, bulk)
    assert reasons(told(replica)) == ["joined"]


# Losses


def test_a_lost_event_is_replayed_and_told_in_its_place(client, follow, service, bulk):
    relay = LossyRelay(service.events, lose={3, 4, 7})
    try:
        replica = follow(events=relay.url).sync()
        id = client.start()["id"]
        for number in range(9):
            last = client.applied("activity.update", id=id, contentState={"n": number})["seq"]
        replica.sync(last)
        changes = told(replica)
        assert relay.lost == [3, 4, 7]
        assert reasons(changes) == ["joined"] and seqs(changes) == list(range(1, 11))
        exact(replica, bulk)
    finally:
        replica.close()
        relay.close()


def test_the_last_event_of_all_is_missed_by_the_watermark(client, follow, service, bulk):
    relay = LossyRelay(service.events, lose={2})
    try:
        replica = follow(events=relay.url).sync()
        id = client.start()["id"]
        replica.sync(client.applied("activity.update", id=id, contentState={"n": 1})["seq"])
        assert relay.lost == [2] and seqs(told(replica)) == [1, 2]
    finally:
        replica.close()
        relay.close()


def test_a_cut_connection_is_repaired(client, follow, service, bulk):
    proxy = Proxy(service.events)
    try:
        replica, id = follow(events=proxy.url).sync(), client.start()["id"]
        last = 1
        for round in range(3):
            proxy.cut()
            for number in range(20):
                last = client.applied("activity.update", id=id, contentState={"round": round, "n": number})["seq"]
            replica.sync(last)
        changes = told(replica)
        assert reasons(changes) == ["joined"] and seqs(changes) == list(range(1, last + 1))
        exact(replica, bulk)
    finally:
        proxy.close()


def test_a_bulk_connection_that_is_cut_in_a_snapshot_begins_it_again(client, follow, service, bulk, monkeypatch):
    monkeypatch.setattr(islet._Machine, "PULL_LIMIT", 0.3)
    monkeypatch.setattr(islet._Machine, "CREDIT", 1)
    for _ in range(12):
        client.batch(*[client.command("activity.start", **START) for _ in range(250)])
    proxy = Proxy(service.bulk)
    try:
        replica, cuts = follow(bulk=proxy.url), []
        take = replica._machine._chunk

        def cut_at_the_first(frames):
            take(frames)
            if not cuts:
                cuts.append(len(replica._machine._rows))
                proxy.cut()

        replica._machine._chunk = cut_at_the_first
        exact(replica, bulk)
        assert 0 < cuts[0] < 3_000
        assert reasons(told(replica)) == ["joined"]
    finally:
        proxy.close()


def test_a_reader_that_was_away_while_the_ring_went_round_takes_a_snapshot(client, follow, service, bulk):
    """Everything after the join is lost, until a replay from there is `tooOld`."""
    relay = LossyRelay(service.events, lose=range(2, 1_000_000))
    try:
        id = client.start()["id"]
        replica = follow(events=relay.url).sync()
        alert, last = {"title": "x" * 60_000, "body": ""}, 1
        while "error" not in bulk.replay(1, credit=1, first=1).end:
            for _ in range(250):
                last += 1
                client.send(client.command("activity.update", id=id, contentState={"v": last}, alert=alert, ack="none"))
            client.read("service.ping")
        exact(replica, bulk)
        changes = told(replica)
        assert reasons(changes) == ["joined", "eventsLost"]
        assert changes[-1].missed == range(2, last + 1)
    finally:
        replica.close()
        relay.close()


def test_a_copy_that_somebody_changed_is_told_by_its_digest(client, follow, bulk):
    ids = [client.start()["id"] for _ in range(2)]
    replica = follow().sync(2)
    replica._machine.table.drop(f"{APP}/activity/Delivery/{ids[0]}")
    changes = told(replica, timeout=2)
    assert reasons(changes) == ["joined", "inconsistent"]
    exact(replica, bulk)


def test_a_snapshot_that_is_wrong_is_told_by_its_own_digest(client, follow, bulk):
    client.start()
    client.start()
    replica = follow()
    replica._machine._watermark = lambda mark: None  # it would tell, too
    end = replica._machine._snapshot_ended

    def end_without_a_row(header):
        replica._machine._snapshot_ended = end
        replica._machine._rows.pop()
        end(header)

    replica._machine._snapshot_ended = end_without_a_row
    assert reasons(told(replica, timeout=1)) == ["joined", "inconsistent"]
    exact(replica, bulk)


def test_a_reader_that_never_takes_its_changes_is_told_everything_anew(client, follow, bulk, monkeypatch):
    monkeypatch.setattr(islet._Machine, "WAITING", 10)
    replica = follow().sync()
    for _ in range(30):
        last = client.applied("activity.start", **START)["seq"]
    replica.sync(last)
    changes = told(replica)
    assert reasons(changes) == ["unread"] and len(changes) <= 10
    assert seqs(changes) == list(range(31 - len(changes) + 1, 31))
    exact(replica, bulk)


# Readers that pause or break off


def test_a_reader_that_reads_seldom_gets_a_snapshot_of_many_chunks(client, follow, service, bulk, monkeypatch):
    """The service gives up what is not read on: here whatever was asked for on the bulk connection before a pause."""
    paused = 0
    monkeypatch.setattr(islet, "time", types.SimpleNamespace(monotonic=lambda: time.monotonic() + paused, time=time.time))
    monkeypatch.setattr(islet._Machine, "CREDIT", 1)
    for _ in range(12):
        client.batch(*[client.command("activity.start", **START) for _ in range(250)])
    proxy = Proxy(service.bulk)
    try:
        replica = follow(bulk=proxy.url)
        for _ in range(20):
            changes = list(replica.changes(timeout=0))
            if changes:
                break
            replica._poller.poll(500)  # something may have come by the end of the pause
            paused += 35
            proxy.cut()
        assert reasons(changes) == ["joined"]
        exact(replica, bulk)
    finally:
        proxy.close()


REPAIR = {"distrust", "_connect_anew", "_subscribe_anew", "_do", "_open_bulk", "_open_events", "_listen",
          "_snapshot_ended", "_room", "_turn", "_take_turn"}


@pytest.mark.parametrize("within", [None, REPAIR], ids=["anywhere", "again in the repair"])
def test_a_signals_handler_that_raises_loses_nothing_in_silence(client, follow, bulk, within):
    id, replica = client.start()["id"], follow().sync()
    assert reasons(told(replica)) == ["joined"]
    heard = []

    def hear(timeout):
        for change in replica.changes(timeout=timeout):
            heard.extend([change.event["seq"]] if change.kind == "event" else change.missed)

    for number in itertools.count(1):
        last = client.applied("activity.update", id=id, contentState={"n": number})["seq"]
        assert replica._poller.poll(DEADLINE * 1000)
        replica._interrupted = repairs = within is not None
        interrupting = Interrupting(islet, number, within)
        with contextlib.suppress(Interruption), interrupting:
            hear(timeout=0)
            while repairs and (replica.state != "following" or replica.seq < last):
                hear(timeout=0.01)
        replica.sync(last)
        hear(timeout=0)
        assert sorted(heard) == list(range(2, last + 1)), interrupting.where
        if interrupting.where is None:
            break
    assert number > 50
    exact(replica, bulk)


# A prefix


def test_a_prefix_holds_its_own_and_nothing_else(client, follow, bulk):
    ride = client.start(type="Ride")["id"]
    client.start(type="Order")
    replica = follow("activity/Ride/").sync()
    client.start(type="Order")
    client.applied("activity.end", id=ride)
    changes = [next(replica.changes(timeout=5)) for _ in range(2)]
    assert [(change.kind, change.entity and change.entity["state"]) for change in changes] == [
        ("synced", None), ("event", "ended")]
    assert [entity["id"] for entity in replica.entities.values()] == [ride]
    exact(replica, bulk)


def test_what_a_prefix_misses_shows_by_a_revision(client, follow, service, bulk):
    relay = LossyRelay(service.events, lose={3})
    try:
        ride = client.start(type="Ride")["id"]
        replica = follow("activity/Ride/", events=relay.url).sync()
        for number in range(3):
            client.applied("activity.update", id=ride, contentState={"n": number})
        changes = told(replica, timeout=1)
        assert relay.lost == [3] and reasons(changes) == ["joined", "inconsistent"]
        exact(replica, bulk)
    finally:
        replica.close()
        relay.close()


def test_what_a_prefix_misses_shows_by_the_digest(client, follow, service, bulk, monkeypatch):
    """The last event of an entity is lost: no number and no revision tells."""
    monkeypatch.setattr(islet._Machine, "CHECK", 0.5)
    relay = LossyRelay(service.events, lose={2})
    try:
        ride = client.start(type="Ride")["id"]
        replica = follow("activity/Ride/", events=relay.url).sync()
        client.applied("activity.end", id=ride)
        client.start(type="Order")
        for change in replica.changes(timeout=5):
            if change.reason == "inconsistent":
                break
        assert [entity["state"] for entity in replica.entities.values()] == ["ended"]
        exact(replica, bulk)
    finally:
        replica.close()
        relay.close()


# Restarts


@pytest.fixture
def durable(wire, tmp_path):
    made = Durable(wire, tmp_path / "data")
    made.urls = {name: f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    yield made
    if made.service and made.service.alive:
        made.kill()


def test_a_restart_keeps_the_copy_and_loses_nothing(durable):
    durable.start(**durable.urls)
    with islet.Replica(APP, endpoints=islet.Endpoints(**durable.urls)) as replica:
        replica.sync()
        id = durable.client.start()["id"]
        for round in range(3):
            durable.restart(**durable.urls)
            for number in range(5):
                last = durable.client.applied("activity.update", id=id, contentState={"r": round, "n": number})["seq"]
            replica.sync(last, timeout=20)
        changes = told(replica)
        assert reasons(changes) == ["joined"] and seqs(changes) == list(range(1, 17))
        exact(replica, durable.bulk())
        durable.stop()
        assert "closing" in [change.kind for change in told(replica, timeout=1)]


@pytest.mark.parametrize("prefix", ["", "activity/"], ids=["whole", "filtered"])
def test_one_whose_service_is_gone_does_not_say_that_it_is_up_to_date(durable, prefix):
    durable.start(**durable.urls)
    with islet.Replica(APP, prefix, endpoints=islet.Endpoints(**durable.urls)) as replica:
        durable.client.start()
        assert replica.sync(1).state == "following"
        durable.kill()
        with pytest.raises(TimeoutError, match="joining at 1, not at 1 within"):
            replica.sync(1, timeout=0.5)
        assert replica.state == "joining"
        durable.start(**durable.urls)
        assert replica.sync(1, timeout=20).state == "following"
        assert reasons(told(replica)) == ["joined"]


@pytest.mark.parametrize("prefix", ["", "activity/"], ids=["whole", "filtered"])
def test_the_numbers_of_a_history_that_is_over_are_no_event_of_the_new_one(serve, wire, tmp_path, prefix):
    urls = {name: f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    flags = {f"--{name}": url for name, url in urls.items()}
    service = serve(flags)
    with islet.Replica(APP, prefix, endpoints=islet.Endpoints(**urls)) as replica:
        client = Commands(wire, urls["commands"], APP)
        for _ in range(3):
            last = client.applied("activity.start", **START)["seq"]
        replica.sync(last)
        service.stop()
        serve(flags)
        begun = Commands(wire, urls["commands"], APP).start()
        replica.sync(1, timeout=20)
        assert [entity["id"] for entity in replica.entities.values()] == [begun["id"]]


def test_a_service_that_was_restored_is_another_epoch(durable, tmp_path, wire):
    durable.start(**durable.urls)
    with islet.Replica(APP, endpoints=islet.Endpoints(**durable.urls)) as replica:
        ids = [durable.client.start()["id"] for _ in range(3)]
        replica.sync(3)
        backup = tmp_path / "backup.db"
        assert run("backup", backup, "--commands", durable.urls["commands"]).returncode == 0
        durable.client.applied("activity.end", id=ids[0])
        replica.sync(4)
        first = replica.epoch
        durable.stop()
        done = run("restore", backup, "--data", tmp_path / "restored", "--allow-volatile")
        assert done.returncode == 0, done.stderr
        restored = Durable(wire, tmp_path / "restored").start(**durable.urls)
        try:
            restored.client.applied("activity.update", id=ids[1], contentState={"n": 2})
            # No seq of the old epoch tells when the new one is there.
            for change in replica.changes(timeout=20):
                if change.reason == "epochChanged":
                    break
            exact(replica, restored.bulk())
            assert replica.epoch != first
            assert {entity["state"] for entity in replica.entities.values()} == {"active"}
        finally:
            restored.kill()


def test_a_store_in_memory_begins_anew_at_each_start(serve, wire, tmp_path):
    urls = {name: f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    flags = {f"--{name}": url for name, url in urls.items()}
    service = serve(flags)
    with islet.Replica(APP, endpoints=islet.Endpoints(**urls)) as replica:
        Commands(wire, urls["commands"], APP).start()
        replica.sync(1)
        service.stop()
        serve(flags)
        for change in replica.changes(timeout=20):
            if change.reason == "epochChanged":
                break
        assert dict(replica.entities) == {}
        client = Commands(wire, urls["commands"], APP)
        for _ in range(3):
            last = client.applied("activity.start", **START)["seq"]
        replica.sync(last)
        exact(replica, Bulk(wire, urls["bulk"], APP))


# Other families


def test_controls_are_entities_and_unknown_families_only_numbers(client, follow):
    """No service is needed to see how events are taken in."""
    replica = follow().sync()
    topic = f"{APP}/control/com.example.torch/0198c0de-0000-7000-8000-000000000001"
    epoch = replica._machine.epoch = "k3v9"

    def event(seq, topic, **members):
        frame = {"epoch": epoch, "seq": seq, "at": 1_763_700_000_000, **members}
        replica._machine._message([topic.encode(), json.dumps(frame).encode()])

    event(1, topic, event="control.added", to="loading", cause="command",
          control={"id": "0198", "revision": 1, "kind": "com.example.torch", "state": "loading", "value": False})
    event(2, f"{APP}/widget/w/1", event="widget.filled", to="filled", widget={"id": "1"})
    event(3, topic, event="control.shown", **{"from": "loading"}, to="shown", cause="provider",
          control={"id": "0198", "revision": 2, "state": "shown", "value": True, "valueSource": "provider"})
    assert replica.entities[topic]["value"] is True and replica.seq == 3
    event(4, topic, event="control.removed", **{"from": "shown"}, to="removed", cause="command",
          control={"id": "0198", "revision": 3, "state": "removed"})
    assert dict(replica.entities) == {}
    kinds = [(change.event["event"], change.entity and change.entity["revision"])
             for change in list(replica._machine.out) if change.kind == "event"]
    assert kinds == [("control.added", 1), ("widget.filled", None), ("control.shown", 2), ("control.removed", 3)]


@pytest.mark.parametrize("frames", [
    [], [b"x"], [b"com.example.pizza/~", b"nonsense"], [b"com.example.pizza/~", b"{}"], [b"\xff\xfe", b"{}"],
    [b"com.example.pizza/activity/T/1", b'{"epoch":"e","seq":1,"event":"activity.started","activity":7}'],
    [b"com.example.pizza/\xff", b'{"epoch":1,"seq":"x"}'], [b"com.example.pizza/activity/T/1", b"[" * 100_000]])
def test_what_is_none_of_the_contract_harms_nothing(client, follow, bulk, frames):
    replica = follow().sync()
    replica._machine._message(frames)
    replica.sync(client.applied("activity.start", **START)["seq"])
    exact(replica, bulk)


@pytest.mark.parametrize("app, prefix, said", [
    ("a" * 101, None, "1 to 100"), ("", None, "which app"), ("com.example/x", None, "1 to 100"), ("caf\u00e9", None, "1 to 100"),
    ("com.example", "activity/" + "x" * 220, "240 bytes")])
def test_what_the_service_answers_no_join_for_is_refused_when_the_replica_is_made(monkeypatch, app, prefix, said):
    monkeypatch.delenv("ISLET_APP", raising=False)
    with pytest.raises(ValueError, match=said):
        islet.Replica(app, prefix=prefix)


def test_the_longest_name_and_prefix_are_followed(service):
    where = islet.Endpoints(service.commands, service.events, service.bulk)
    with contextlib.closing(islet.Replica("a" * 100, "activity/" + "x" * 130, endpoints=where)) as replica:
        assert len(replica.prefix) == islet.Replica.PREFIX_LIMIT
        replica.sync()


def test_a_closed_one_says_so_and_keeps_what_it_held(client, follow):
    client.start()
    replica = follow().sync()
    replica.close()
    replica.close()
    assert len(replica.entities) == 1
    for use in (replica.sync, lambda: next(replica.changes()), lambda: next(replica.changes(timeout=0))):
        with pytest.raises(RuntimeError, match="this Replica is closed"):
            use()


@pytest.mark.parametrize("timeout", [None, -1, float("nan")])
def test_a_time_that_no_wait_could_have_is_refused(follow, timeout):
    with pytest.raises(ValueError, match="a timeout is a number of seconds from 0 on"):
        follow().sync(timeout=timeout)


def test_one_that_a_signals_handler_closes_says_so_wherever_that_comes(client, follow):
    id = client.start()["id"]
    for number in itertools.count(1, 3):
        replica = follow().sync()
        client.applied("activity.update", id=id, contentState={"n": number})
        assert replica._poller.poll(DEADLINE * 1000)
        with Interrupting(islet, number, {"_turn", "_take_turn", "_drain", "_drain_events", "_received", "_do"},
                          replica.close) as closing:
            try:
                list(replica.changes(timeout=0))
            except RuntimeError as failure:
                assert "this Replica is closed" in str(failure), closing.where
        if closing.where is None:
            break
    assert number > 30


# How far it is


@pytest.mark.parametrize("prefix", ["", "activity/", "control/"])
def test_it_reports_how_far_it_is(client, follow, prefix):
    def positions():
        found = client.read("subscriber.list", app=None)["subscribers"]
        return [(row["lag"], row["apps"][APP]["seq"]) for row in found]

    def reported(seq):
        told(replica, timeout=0.05)
        return positions() == [(0, seq)]

    client.start()
    replica = follow(prefix)
    replica.sync()
    until(lambda: reported(1))
    client.start()
    assert positions() == [(1, 1)]  # it is not read, and so says nothing
    until(lambda: reported(2))
    replica.close()
    until(lambda: positions() == [])


def test_who_reports_to_nobody_follows_all_the_same(client, service, tmp_path):
    urls = {"commands": f"ipc://{tmp_path}/none", "events": service.events, "bulk": service.bulk}
    with islet.Replica(APP, endpoints=islet.Endpoints(**urls)) as replica:
        for seq in range(1, 4):
            client.start()
            replica.sync(seq)


# Where the streams are


@pytest.mark.parametrize("named", [(), ("events",), ("bulk",)], ids=lambda named: "+".join(named) or "none")
def test_the_service_says_where_the_streams_are_that_nobody_has_named(service, monkeypatch, named):
    for name in ("COMMANDS", "EVENTS", "BULK"):
        monkeypatch.delenv(f"ISLET_{name}", raising=False)
    with islet.connect(service.commands, **{name: getattr(service, name) for name in named}, app=APP) as client:
        seq = client.call("activity.start", **START)["seq"]
        with client.replica() as replica:
            replica.sync(seq)
            assert replica.endpoints == islet.Endpoints(service.commands, service.events, service.bulk)
            assert len(replica.entities) == 1


def test_one_that_asks_where_the_streams_are_may_begin_before_its_service(serve, tmp_path):
    urls = {name: f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    with islet.Client(APP, endpoints=islet.Endpoints(urls["commands"])) as client, client.replica() as replica:
        assert told(replica) == [] and replica.state == "joining"
        with pytest.raises(TimeoutError, match=f"no answer from {urls['commands']} [(]commands[)]"):
            replica.sync(timeout=0.1)
        serve({f"--{name}": url for name, url in urls.items()})
        replica.sync(client.call("activity.start", **START)["seq"])
        assert len(replica.entities) == 1


def test_one_that_is_read_seldom_finds_the_streams(service, monkeypatch):
    """The answer that came while nobody read is taken in before the service is asked again."""
    monkeypatch.setattr(islet.Replica, "ASKING", 0)  # always longer ago
    with islet.Client(APP, endpoints=islet.Endpoints(service.commands)) as client, client.replica() as replica:
        seq = client.call("activity.start", **START)["seq"]
        assert told(replica, timeout=0) == []
        assert replica._poller.poll(DEADLINE * 1000)
        assert told(replica, timeout=0) == []
        assert replica.endpoints == islet.Endpoints(service.commands, service.events, service.bulk)
        replica.sync(seq)


@pytest.mark.parametrize("silent", ["events", "bulk"])
def test_who_waits_in_vain_is_told_which_address_does_not_answer(client, service, tmp_path, silent):
    client.start()
    urls = {name: getattr(service, name) for name in ("commands", "events", "bulk")} | {silent: f"ipc://{tmp_path}/none"}
    with islet.Replica(APP, endpoints=islet.Endpoints(**urls)) as replica:
        with pytest.raises(TimeoutError, match=f"no answer from ipc://{tmp_path}/none [(]{silent}[)]$"):
            replica.sync(timeout=1)


def test_who_waits_where_something_else_takes_messages_is_told_which_address_it_is(client, service):
    def wait():
        with islet.Replica(APP, endpoints=islet.Endpoints(service.commands, service.events, service.events)) as replica:
            try:
                replica.sync(timeout=12)  # beyond PULL_LIMIT, after which the snapshot is asked for again
            except TimeoutError as failure:
                told.append(str(failure))

    client.start()
    told = []
    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    thread.join(40)
    assert not thread.is_alive() and told[0].endswith(f"no answer from {service.events} (bulk)")


def test_an_exception_of_a_handler_while_it_asks_for_the_streams_harms_nothing(service, monkeypatch):
    monkeypatch.setattr(islet.Replica, "ASKING", 0.05)  # what was broken off is asked anew
    with islet.connect(service.commands, app=APP) as client:
        seq = client.call("activity.start", **START)["seq"]
        for number in range(1, 1_000):
            with islet.Client(APP, endpoints=islet.Endpoints(service.commands)).replica() as replica:
                interrupting = Interrupting(islet, number, {"_find_streams", "_are_streams_told", "_ask_owner"})
                with contextlib.suppress(Interruption), interrupting:
                    replica.sync(seq)
                replica.sync(seq)
                assert len(replica.entities) == 1, interrupting.where
            if interrupting.where is None:
                break
        assert number > 10


# Whose the streams are


@pytest.mark.parametrize("foreign", [("events", "bulk"), ("events",), ("bulk",)], ids="+".join)
def test_a_replica_of_a_client_does_not_follow_another_service(serve, foreign):
    """Such as one on the usual ports, beside a bench that is named by its commands alone."""
    bench, usual = serve(), serve()
    urls = {name: getattr(usual if name in foreign else bench, name) for name in ("commands", "events", "bulk")}
    with islet.connect(usual.commands, app=APP) as other, islet.connect(*urls.values(), app=APP) as client:
        other.call("activity.start", **START)
        seq = client.call("activity.start", **START)["seq"]
        with client.replica() as replica:
            for _ in range(2):
                with pytest.raises(islet.IsletError) as refused:
                    replica.sync(seq)
                assert refused.value.code == "otherService"
                assert not replica.entities


def test_an_exception_of_a_handler_while_it_is_looked_at_harms_nothing(service):
    within = {"informed", "_ask_owner", "_owner_is_settled", "_is_own", "_join_answer", "_chunk", "_do"}
    with islet.connect(service.commands, service.events, service.bulk, app=APP) as client:
        seq = client.call("activity.start", **START)["seq"]
        for number in range(1, 1_000):
            with client.replica() as replica:
                interrupting = Interrupting(islet, number, within)
                with contextlib.suppress(Interruption), interrupting:
                    replica.sync(seq)
                replica.sync(seq)
                assert len(replica.entities) == 1 and replica._commands is None, interrupting.where
            if interrupting.where is None:
                break
        assert number > 20


def test_a_replica_of_a_client_goes_through_a_new_history(serve, tmp_path):
    urls = {name: f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    flags = {f"--{name}": url for name, url in urls.items()}
    service = serve(flags)
    with islet.Client(APP, endpoints=islet.Endpoints(**urls)) as client, client.replica() as replica:
        replica.sync()
        for _ in range(2):
            service.stop()
            service = serve(flags)
            replica.sync(client.call("activity.start", **START)["seq"])
            assert len(replica.entities) == 1

"""A follower's copy: made by events alone, over lost connections, and in spite of being slow."""

import json
import os
import random

import pytest

from support.bulk import Bulk
from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.events import Events
from support.followed import plain
from support.proxy import Proxy
from support.replica import Gap, Replica
from support.wire import DEADLINE

SEED = int(os.environ.get("ISLET_TEST_SEED", random.SystemRandom().randrange(1 << 32)))


def walk(rng, client, steps):
    """Random commands of every kind, and steps of the clock; most are taken, some are not."""
    keys = [f"k{number}" for number in range(12)]
    for _ in range(steps):
        now = client.advance(by=0)
        date = now + rng.choice([-MINUTE, 0, MINUTE, 10 * MINUTE, HOUR, 5 * HOUR])
        key, device = rng.choice(keys), rng.choice([None, "phone", "tablet"])
        target = {"key": key, "device": device}
        content = {"n": rng.randrange(4)}
        alert = rng.choice([None, {"title": "T", "body": "B"}])
        match rng.randrange(12):
            case 0 | 1 | 2:
                client.ask(
                    "activity.start", **target, type=rng.choice("AB"), attributes={}, contentState=content,
                    staleDate=rng.choice([None, date]), relevanceScore=rng.choice([None, 1.5]),
                    startDate=date if alert and rng.random() < 0.3 else None, alert=alert,
                    style=rng.choice(["standard", "transient"]), ifExists=rng.choice([None, "update"]))
            case 3 | 4 | 5:
                client.ask(
                    "activity.update", **target, contentState=content, staleDate=rng.choice([None, date]), alert=alert,
                    relevanceScore=rng.choice([None, 2]), timestamp=rng.choice([None, None, date]),
                    source=rng.choice(["local", "push"]))
            case 6 | 7:
                policy = rng.choice(["default", "immediate", {"after": date}])
                client.ask(
                    "activity.end", **target, contentState=rng.choice([None, content]), dismissalPolicy=policy,
                    source=rng.choice(["local", "push"]), timestamp=rng.choice([None, date]))
            case 8:
                client.ask("activity.dismiss", **target, by=rng.choice(["person", "system"]))
            case 9:
                client.ask("activity.renew", **target, staleDate=rng.choice([None, date]))
            case 10:
                client.ask("device.event", device="phone", event=rng.choice(["lock", "leave", "reboot"]))
            case _:
                client.advance(by=rng.choice([1, MINUTE, 20 * MINUTE, HOUR, 4 * HOUR]))
    if rng.random() < 0.5:
        client.ask("settings.set", frequentPushesEnabled=rng.random() < 0.5, device=rng.choice([None, "phone"]))


def test_events_alone_keep_a_copy_that_equals_what_reads_show(client, events, bulk):
    """A random walk: every merge patch, applied to the copy, gives the entity that `get` shows."""
    print(f"seed {SEED}: set ISLET_TEST_SEED to repeat")
    rng, replica, dismissed = random.Random(SEED), Replica(), 0
    for _ in range(25):
        walk(rng, client, 20)
        last = bulk.digest()
        while replica.seq < last["seq"]:
            topic, event, _ = events.raw_next()
            replica.apply(topic, event)
            dismissed += event["to"] == "dismissed"
        assert (len(replica.entities), replica.digest) == (last["entities"], last["digest"]), SEED
        listed = {row["id"]: plain(row) for row in client.list(limit=1000)}
        assert {entity["id"]: plain(entity) for entity in replica.entities.values()} == listed, SEED
    assert dismissed, "a walk in which nothing is dismissed shows little"


def test_a_snapshot_equals_what_events_made_of_an_empty_copy(client, events, bulk):
    print(f"seed {SEED}: set ISLET_TEST_SEED to repeat")
    walk(random.Random(SEED), client, 200)
    pulled, followed = bulk.snapshot(), Replica()
    while followed.seq < pulled.end["seq"]:
        topic, event, _ = events.raw_next()
        followed.apply(topic, event)
    loaded = Replica(pulled.end["seq"])
    loaded.load(pulled.rows)
    assert {t: plain(e) for t, e in loaded.entities.items()} == {t: plain(e) for t, e in followed.entities.items()}


def catch_up(replica, events, bulk, app):
    """What a client does after its connection was new: a fresh join, and a replay of what it missed."""
    seq = events.join()["apps"][app]["seq"]
    if seq > replica.seq:
        for topic, body in bulk.replay(replica.seq).rows:
            replica.apply(topic, json.loads(body))


@pytest.fixture
def proxy(service):
    made = Proxy(service.events)
    yield made
    made.close()


def test_a_lost_connection_is_told_by_the_old_nonce_and_repaired_by_a_replay(each_wire, service, proxy):
    client = Commands(each_wire, service.commands)
    bulk = Bulk(each_wire, service.bulk, client.app)
    events = Events(each_wire, proxy.url, client.app + "/")
    replica = Replica()
    events.join()
    id = client.start()["id"]
    topic, event, _ = events.raw_next()
    replica.apply(topic, event)
    for round in range(3):
        asked = dict(events._joins)
        events._joins.clear()
        proxy.cut()
        # While the subscriber is away, or at least may be: these may or may not arrive.
        for number in range(20):
            client.applied("activity.update", id=id, contentState={"round": round, "n": number})
        events._pump_until(lambda: set(events._joins) & set(asked))
        catch_up(replica, events, bulk, client.app)
        client.applied("activity.update", id=id, contentState={"round": round, "n": "last"})
        last = bulk.digest()
        assert last["seq"] == 1 + 21 * (round + 1)
        while replica.seq < last["seq"]:
            topic, event, _ = events.raw_next()
            replica.apply(topic, event)
    assert replica.digest == bulk.digest()["digest"]
    assert replica.entities[topic]["contentState"] == {"round": 2, "n": "last"}


def gap_is_told(replica, events):
    """Follows until a number is missing, or until a watermark says that there were more."""
    while True:
        events._take(DEADLINE)
        try:
            while events._events:
                topic, event, _ = events.raw_next()
                replica.apply(topic, event)
        except Gap:
            return True
        if events._watermarks and events._watermarks[-1][1]["seq"] > replica.seq:
            return True


def test_a_subscriber_that_does_not_read_loses_events_and_can_tell_and_others_lose_none(wire, service, client, bulk):
    healthy = Events(wire, service.events, client.app + "/")
    healthy.join()
    slow = Events(wire, service.events)
    slow.socket.close()
    slow.socket = wire.socket("SUB", service.events, rcvhwm=10, rcvbuf=4096)
    slow.subscribe(client.app + "/")
    slow.join()
    id = client.start(contentState={"x": "y" * 3000})["id"]
    total, seen = 1, 0
    while total < 60_000:
        client.batch(*[
            client.command("activity.update", id=id, contentState={"n": total + number, "x": "y" * 3000})
            for number in range(250)])
        total += 250
        while seen < total:
            seen += 1
            assert healthy.next()["seq"] == seen
    replica = Replica()
    assert gap_is_told(replica, slow)
    bulk_digest = bulk.digest()
    pulled = bulk.replay(replica.seq, credit=16)
    if "error" in pulled.end:
        pulled = bulk.snapshot()
        replica = Replica(pulled.end["seq"])
        replica.load(pulled.rows)
    for topic, body in pulled.rows:
        if "seq" in json.loads(body):
            replica.apply(topic, json.loads(body))
    assert (replica.seq, replica.digest) == (total, bulk_digest["digest"])


def test_a_stale_copy_is_told_by_its_digest(client, events, bulk):
    """Somebody changed the copy: its digest no longer is that of the watermark."""
    client.start()
    replica = Replica()
    topic, event, _ = events.raw_next()
    replica.apply(topic, event)
    mark = events.watermark(lambda mark: mark["seq"] == 1)
    assert replica.digest == mark["digest"]
    replica.entities[topic]["revision"] += 1
    assert replica.digest != mark["digest"]
    assert after(0) == mark["at"]

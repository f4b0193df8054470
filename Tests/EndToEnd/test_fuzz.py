"""Frames that were broken at random: each is answered, in its place and in valid JSON, and the service lives on."""

import json
import os
import random

import pytest

from support.bulk import Bulk
from support.commands import encode
from support.dates import EPOCH, HOUR

APP = "com.example.pizza"
SEED = int(os.environ.get("ISLET_TEST_SEED", random.SystemRandom().randrange(1 << 32)))

NASTY = [
    b"", b"\x00", b"\xff", b'"', b"\\", b"{", b"}", b"[", b"]", b":", b",", b"null", b"true", b"1e999", b"-0",
    b"\\ud800", b"\xc3", b"\xef\xbf\xbf", b"\xf4\x90\x80\x80", b'"op"', b"9007199254740993", b"1767225600", b" " * 100,
    b"\n", b"{}",
]


def good_commands(rng, ids):
    """One valid command of each kind, with values that vary."""
    id = rng.choice(ids)
    date = EPOCH + rng.randrange(-HOUR, 12 * HOUR)
    deep = [[{"a": [1.5e3, None, True]}]]
    content = {"eta": rng.randrange(100), "text": "é€🍕" * rng.randrange(5), "deep": deep}
    common = {"req": f"r{rng.randrange(1000)}", "app": APP}
    yield {"op": "activity.start", **common, "type": "T", "attributes": {"o": 1}, "contentState": content,
           "staleDate": date, "relevanceScore": rng.random(), "key": f"k{rng.randrange(50)}", "ifExists": "update",
           "alert": {"title": "T", "body": "B"}, "style": "transient", "pushType": {"channel": "abc"}}
    yield {"op": "activity.update", **common, "id": id, "contentState": content, "staleDate": date, "timestamp": date,
           "source": "push", "ifRevision": 1}
    yield {"op": "activity.end", **common, "id": id, "dismissalPolicy": {"after": date}, "contentState": content}
    yield {"op": "activity.renew", **common, "id": id, "contentState": content}
    yield {"op": "activity.dismiss", **common, "key": f"k{rng.randrange(50)}", "by": "system"}
    yield {"op": "activity.list", **common, "state": "active", "limit": 3, "device": "d", "order": "presentation"}
    yield {"op": "activity.history", **common, "id": id}
    yield {"op": "settings.set", **common, "device": "d", "activitiesEnabled": True, "frequentPushesEnabled": False}
    yield {"op": "device.event", "req": "d", "device": "d", "event": "uninstall", "app": APP}
    yield {"op": "clock.advance", "req": "c", "by": rng.randrange(1000)}
    yield {"op": "bulk.snapshot", **common, "credit": 2, "prefix": APP + "/"}


def broken(rng, frame):
    """The frame with one to four random injuries."""
    frame = bytearray(frame)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(frame) + 1)
        until = min(len(frame), at + rng.randrange(1, 20))
        match rng.randrange(6):
            case 0:
                del frame[at:until]
            case 1:
                frame[at:at] = rng.choice(NASTY)
            case 2:
                frame[at:until] = rng.choice(NASTY)
            case 3:
                frame[at:at] = frame[rng.randrange(len(frame) + 1):][:rng.randrange(1, 60)]
            case 4 if at < len(frame):
                frame[at] ^= 1 << rng.randrange(8)
            case _:
                del frame[at:]
        if not frame:
            frame += b"x"
    return bytes(frame)


@pytest.fixture(scope="module")
def rng():
    print(f"seed {SEED}: set ISLET_TEST_SEED to repeat")
    return random.Random(SEED)


def test_broken_commands_are_answered_one_by_one(rng, client, service):
    ids = [client.start()["id"] for _ in range(20)]
    for round in range(100):
        frames = [broken(rng, encode(command)) for command in good_commands(rng, ids)]
        client.send(*frames)
        message = client.wire.receive(client.socket)
        silent = sum(b"none" in frame or b"stream.applied" in frame for frame in frames)
        assert len(frames) - silent <= len(message) <= len(frames), (SEED, round, frames)
        for answer in message:
            decoded = json.loads(answer)
            assert decoded["ok"] or decoded["error"]["code"], (SEED, round, decoded)
    assert client.read("service.ping"), SEED
    assert service.alive, (SEED, service.log)


def test_numbers_stay_dense_under_broken_commands(rng, client, events, bulk):
    """Whatever was taken made events without a gap, and the digest is that of the state."""
    ids = [client.start()["id"] for _ in range(20)]
    for _ in range(50):
        client.send(*[broken(rng, encode(command)) for command in good_commands(rng, ids)])
        client.wire.receive(client.socket)
    last = bulk.digest()
    seen = [event["seq"] for event in events.until(last["seq"])]
    assert seen == list(range(1, last["seq"] + 1)), SEED
    pulled = bulk.snapshot()
    assert (pulled.end["digest"], pulled.end["entities"]) == (last["digest"], last["entities"]), SEED


def test_broken_pulls_leave_the_bulk_endpoint_serving(rng, wire, client, service):
    client.start()
    for _ in range(20):
        peer = Bulk(wire, service.bulk, APP)
        for _ in range(20):
            command = rng.choice([
                {"op": "bulk.snapshot", "req": "s", "app": APP, "credit": 3},
                {"op": "bulk.replay", "req": "p", "app": APP, "from": 0, "credit": 2},
                {"op": "bulk.digest", "req": "d", "app": APP, "prefix": APP + "/activity/"},
                {"op": "bulk.credit", "req": "s", "credit": 1}, {"op": "bulk.cancel", "req": "s"},
            ])
            peer.socket.send_multipart([broken(rng, encode(command))] * rng.randrange(1, 4))
        peer.socket.close()
    assert Bulk(wire, service.bulk, APP).digest()["entities"] == 1, SEED

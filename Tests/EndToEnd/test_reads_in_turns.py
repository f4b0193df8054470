"""Events that stand in files are read in turns: many reads of one connection keep no other one waiting."""

import json

import pytest

from support.bulk import Bulk
from support.commands import Commands
from support.durable import Durable

SEGMENTS = 30
STORM = 120


@pytest.fixture
def filed(wire, tmp_path):
    """A service, and an activity whose events stand in many segments and in no memory."""
    durable = Durable(
        wire, tmp_path / "data", options={"--sync": "normal"}, env={"ISLET_JOURNAL_SEGMENT_BYTES": str(256 << 10)}).start()
    client = durable.client
    id, other = (client.start(attributes={}, contentState={"n": 0})["id"] for _ in range(2))
    updates = 0
    while len(list(durable.data.glob("journal-*.db"))) < SEGMENTS:
        updates += 1
        assert updates < 100 * SEGMENTS, "no new segments"
        client.applied("activity.update", id=id, contentState={"n": updates})
        client.batch(*[
            client.command("activity.update", id=other, contentState={"n": [updates, number], "x": "y" * 3_000})
            for number in range(40)])
    durable.restart()
    yield durable, id, updates + 1
    durable.kill()


def answered_before(wire, socket, hog):
    """The message that comes to a socket, and how many had come to the hog's until then: those are taken first."""
    poller = wire.zmq.Poller()
    poller.register(socket, wire.zmq.POLLIN)
    poller.register(hog.socket, wire.zmq.POLLIN)
    count = 0
    while True:
        ready = dict(poller.poll(60_000))
        assert ready, f"nothing more came after {count} answers"
        if hog.socket in ready:
            assert hog.receive()[0]["ok"]
            count += 1
        else:
            return socket.recv_multipart(), count


@pytest.mark.parametrize("asked", ["history", "replay"])
def test_many_histories_of_one_connection_keep_no_other_one_waiting(wire, filed, asked):
    durable, id, events = filed
    hog = Commands(wire, durable.service.commands, durable.app)
    other = Commands(wire, durable.service.commands, durable.app)
    bulk = Bulk(wire, durable.service.bulk, durable.app)
    assert other.get(id)["revision"] == events
    for _ in range(STORM):
        hog.send(hog.command("activity.history", id=id))
    # They are taken before what comes next.
    while other.read("service.stats")["stats"]["waiting"]["histories"]["count"] == 0:
        pass
    if asked == "history":
        other.send(other.command("activity.history", id=id))
        message, before = answered_before(wire, other.socket, hog)
        answer = json.loads(message[-1])
        assert [event["activity"]["revision"] for event in answer["events"]] == list(range(1, events + 1))
    else:
        bulk.send("replay", app=durable.app, credit=1, **{"from": 0})
        message, before = answered_before(wire, bulk.socket, hog)
        assert len(message) > 2 and "error" not in json.loads(message[0])
    assert before < STORM // 2

"""The whole contract in one walk, over libzmq and over a ZeroMQ that shares no code with it."""

import json

import pytest

from support.bulk import Bulk
from support.commands import Commands, encode
from support.dates import HOUR, after
from support.events import Events
from support.replica import Replica

APP = "com.example.pizza"


@pytest.fixture
def client(each_wire, service):
    return Commands(each_wire, service.commands, APP)


@pytest.fixture
def events(each_wire, service):
    subscriber = Events(each_wire, service.events, APP + "/")
    subscriber.join()
    return subscriber


@pytest.fixture
def bulk(each_wire, service):
    return Bulk(each_wire, service.bulk, APP)


def test_commands_and_events(client, events):
    id = client.start(key="order-7", staleDate=after(HOUR))["id"]
    client.applied("activity.update", id=id, contentState={"eta": 9}, staleDate=after(HOUR))
    client.advance(by=HOUR)
    client.applied("activity.end", key="order-7", dismissalPolicy="immediate")
    assert events.names(5) == ["started", "updated", "stale", "ended", "dismissed"]
    assert client.get(id)["state"] == "dismissed"


def test_a_batch_of_256(client, events):
    commands = [
        client.command("activity.start", type="T", attributes={}, contentState={"n": number}) for number in range(256)]
    answers = client.batch(*commands)
    assert [answer["req"] for answer in answers] == [command["req"] for command in commands]
    assert [event["seq"] for event in events.until(256)] == list(range(1, 257))


def test_a_request_reply_socket(each_wire, service):
    socket = each_wire.socket("REQ", service.commands)
    for req in "abc":
        socket.send(encode({"op": "service.ping", "req": req}))
        [frame] = each_wire.receive(socket)
        assert json.loads(frame)["req"] == req


def test_joining_alone_and_for_one_app(each_wire, service, client):
    client.start()
    client.start(app="com.example.taxi")
    events = Events(each_wire, service.events, "com.example.")
    assert set(events.join()["apps"]) == {APP, "com.example.taxi"}
    assert events.join(APP)["apps"][APP]["seq"] == 1


def test_a_snapshot_the_stream_and_a_replay_make_the_same_state(client, events, bulk):
    ids = []
    for _ in range(4):
        ids += [answer["activity"]["id"] for answer in client.batch(*[
            client.command("activity.start", type="T", attributes={"a": "x" * 500}, contentState={})
            for _ in range(250)])]
    pulled = bulk.snapshot()
    assert len(pulled.headers) > 1, "more than one chunk, so credit was needed"
    replica = Replica(pulled.from_seq)
    replica.load(pulled.rows)
    assert replica.digest == pulled.end["digest"]
    for number, id in enumerate(ids[:300]):
        client.send(client.command(
            "activity.dismiss" if number % 3 == 0 else "activity.update", id=id,
            contentState=None if number % 3 == 0 else {"n": number}, ack="none"))
    live = []
    while not live or live[-1][1]["seq"] < 1300:
        topic, event, raw = events.raw_next()
        live.append((topic, event, raw))
        replica.apply(topic, event)
    replayed = Replica(pulled.from_seq)
    replayed.load(pulled.rows)
    rows = bulk.replay(pulled.from_seq).rows
    assert rows == [(topic, raw) for topic, event, raw in live if event["seq"] > pulled.from_seq]
    for topic, body in rows:
        replayed.apply(topic, json.loads(body))
    mark = events.watermark(lambda mark: mark["seq"] == 1300)
    assert replica.digest == replayed.digest == mark["digest"] == bulk.digest()["digest"]
    assert len(replica.entities) == mark["entities"] == 900


def test_errors_come_back(client):
    assert client.refused("activity.get", id="0198c0de-0000-7000-8000-000000000001")["code"] == "notFound"
    assert client.raw(b"nonsense")[0]["error"]["code"] == "badMessage"

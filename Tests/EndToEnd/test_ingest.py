"""The ingest endpoint: the same commands from a plain PUB socket that wants no answer."""

import time

import pytest

from support.commands import Commands, encode
from support.dates import HOUR
from support.events import Events
from support.provider import TORCH, RawProvider, toggle
from support.wire import DEADLINE, Deadline, Silence


@pytest.fixture
def ingest(serve, tmp_path):
    """A service with an ingest endpoint, and its URL."""
    url = f"ipc://{tmp_path}/ingest"
    return serve({"--clock": "manual", "--ingest": url}), url


def followed(wire, ingest):
    """A client of the service, its events from here on, and a plain publisher."""
    service, url = ingest
    client, events = Commands(wire, service.commands), Events(wire, service.events, "com.example.pizza/")
    events.join()
    return client, events, wire.socket("PUB", url)


def publish_until_seen(events, socket, frames):
    """A PUB socket drops what it sends before it is connected, so the first command is sent until it shows."""
    for _ in range(100):
        socket.send_multipart(frames)
        try:
            return events.next("started", seconds=0.1)
        except Silence:
            continue
    raise AssertionError("nothing that was published arrived")


def test_a_plain_publisher_starts_and_updates(each_wire, ingest):
    client, events, publisher = followed(each_wire, ingest)
    begin = client.command(
        "activity.start", type="T", attributes={}, contentState={}, key="k", ifExists="update", ack="none")
    publish_until_seen(events, publisher, [encode(begin)])
    update = client.command("activity.update", key="k", contentState={"eta": 1}, ack="none")
    publisher.send(encode(update))
    assert events.next("updated")["activity"]["contentState"] == {"eta": 1}


def test_ack_none_need_not_be_said_and_bad_frames_do_no_harm(wire, ingest):
    client, events, publisher = followed(wire, ingest)
    begin = client.command(
        "activity.start", type="T", attributes={}, contentState={}, key="k", ifExists="update")
    publish_until_seen(events, publisher, [encode(begin)])
    for frames in ([b"garbage"], [b""], [b"\xff" * 100], [b"{}"] * 300, [b"x" * 100_000]):
        publisher.send_multipart(frames)
    publisher.send_multipart([b"nonsense", encode(client.command("activity.end", key="k"))])
    assert events.next("ended")
    assert client.get(key="k")["state"] == "ended"


def test_what_comes_behind_a_step_of_the_clock_waits_for_it(wire, ingest):
    client, events, publisher = followed(wire, ingest)
    begin = {"type": "T", "attributes": {}, "contentState": {}, "ifExists": "update"}
    publish_until_seen(events, publisher, [encode(client.command("activity.start", key="k", **begin))])
    now = client.read("service.ping")["now"]
    publisher.send_multipart([encode(client.command(op, **fields)) for op, fields in [
        ("clock.advance", {"by": 2 * HOUR}), ("activity.start", {"key": "late", **begin}),
        ("clock.advance", {"by": HOUR})]])
    publisher.send(encode(client.command("activity.start", key="later", **begin)))
    starts = {}
    while "later" not in starts:
        started = events.next("started")["activity"]
        starts[started["key"]] = started["startedAt"] - now
    assert (starts["late"], starts["later"]) == (2 * HOUR, 3 * HOUR)
    assert client.read("service.ping")["now"] - now == 3 * HOUR


def test_a_message_of_too_many_commands_is_dropped_whole(wire, ingest):
    client, events, publisher = followed(wire, ingest)
    start = {"type": "T", "attributes": {}, "contentState": {}, "ifExists": "update"}
    publish_until_seen(events, publisher, [encode(client.command("activity.start", key="first", **start))])
    for count in (257, 300, 256):
        publisher.send_multipart([
            encode(client.command("activity.start", key=f"{count}-{number}", **start)) for number in range(count)])
    started = [events.next("started")["activity"]["key"] for _ in range(256)]
    assert started == [f"256-{number}" for number in range(256)]


def test_what_the_service_does_not_take_waits_at_its_publisher(wire, ingest):
    """Some 64 messages and what the connection holds: how large they are decides how much memory that is."""
    client, events, _ = followed(wire, ingest)
    publisher = wire.socket("PUB", ingest[1], sndhwm=1, xpub_nodrop=1)
    begin = client.command(
        "activity.start", type="T", attributes={}, contentState={}, key="k", ifExists="update", ack="none")
    publish_until_seen(events, publisher, [encode(begin)])
    provider = RawProvider(wire, ingest[0].commands, toggle())
    client.applied("control.add", kind=TORCH)
    provider.call("value")
    # A clock that travels waits for the provider, and plain publishers wait for the clock.
    publisher.send(encode(client.command("clock.advance", by=2 * HOUR, ack="none")))
    long = encode(client.command("service.ping", ack="none")).ljust(60_000)
    sent, quiet = 0, Deadline(1)
    while sent < 1_500 and not quiet.passed:
        try:
            publisher.send(long, wire.zmq.NOBLOCK)
        except wire.zmq.Again:  # what is on its way may make room
            time.sleep(0.01)
        else:
            sent, quiet = sent + 1, Deadline(1)
    assert sent < 500


def test_a_plain_publisher_has_its_turns_beside_readers_of_much(wire, ingest):
    """Answers of 16 MiB are all that a turn makes: another one begins with those to whom commands left nothing."""
    client, events, publisher = followed(wire, ingest)
    begin = client.command(
        "activity.start", type="T", attributes={}, contentState={}, key="k", ifExists="update", ack="none")
    publish_until_seen(events, publisher, [encode(begin)])
    for _ in range(4):
        client.batch(*(
            client.command("activity.start", type="T", attributes={}, contentState={"text": "x" * 1_000})
            for _ in range(250)))
    readers = [Commands(wire, ingest[0].commands, client.app) for _ in range(12)]
    lists = [encode(client.command("activity.list", limit=1_000)) for _ in range(18)]
    updates = wire.socket("SUB", ingest[0].events, rcvhwm=0)
    updates.setsockopt(wire.zmq.SUBSCRIBE, f"{client.app}/activity/".encode())
    poller = wire.zmq.Poller()
    for reader in readers:
        reader.socket.send_multipart(lists)
        poller.register(reader.socket, wire.zmq.POLLIN)
    update = encode(client.command("activity.update", key="k", contentState={"eta": 1}, ack="none"))
    answered, sent = 0, None
    while sent is None or answered < sent + 100:
        ready = poller.poll(DEADLINE * 1000)
        assert ready
        for socket, _ in ready:
            socket.recv_multipart(copy=False)
            socket.send_multipart(lists)
            answered += 1
        if sent is None and answered >= len(readers):
            publisher.send(update)
            sent = answered
        if updates.poll(0):
            assert b'"activity.updated"' in updates.recv_multipart()[1]
            return
    raise AssertionError("readers were answered 100 times, and a plain publisher's command was not executed")

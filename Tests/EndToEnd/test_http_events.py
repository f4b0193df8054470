"""The stream of events over HTTP."""

import signal
import socket
import time

import pytest

from support.commands import Commands
from support.http import Pages
from support.wire import Deadline


@pytest.fixture
def served(serve):
    return serve({"--clock": "manual", "--http": "127.0.0.1:0"})


@pytest.fixture
def pages(served):
    return Pages(served.http)


@pytest.fixture
def bus(wire, served):
    return Commands(wire, served.commands)


def test_it_begins_with_where_all_streams_stand(pages, bus):
    seq = bus.applied("activity.update", id=bus.start()["id"], contentState={"n": 2})["seq"]
    stream = pages.events()
    assert (stream.status, stream.response.headers["content-type"]) == (200, "text/event-stream")
    hello = stream.hello()
    assert list(hello) == ["now", "version", "write", "apps"]
    assert hello["now"] == bus.ask("service.ping")["now"]
    assert (hello["version"], hello["write"]) == ("0.1.0", False)
    assert hello["apps"][bus.app]["seq"] == seq
    stream.close()


def test_every_event_comes_once_in_order_and_numbered(pages, bus):
    stream = pages.events()
    start = stream.hello()["apps"].get(bus.app, {}).get("seq", 0)
    id = bus.start(type="Delivery")["id"]
    for number in range(200):
        bus.applied("activity.update", id=id, contentState={"n": number})
    for number in range(201):
        name, counted, data = stream.next()
        assert (name, counted) == ("message", number + 1)
        assert data["topic"] == f"{bus.app}/activity/Delivery/{id}"
        assert data["event"]["seq"] == start + number + 1
    assert data["event"]["activity"]["contentState"] == {"n": 199}
    stream.close()


def test_a_group_s_notification_is_an_event_and_no_watermark(pages, bus):
    stream = pages.events()
    stream.hello()
    bus.read("group.create", group="g")
    bus.read("group.set", group="g", key="a", value=1)
    bus.read("group.notify", group="g", name="moved")
    bus.read("group.set", group="g", key="a", value=2)
    told = [stream.next()[2] for _ in range(3)]
    assert [each["event"]["event"] for each in told] == ["group.set", "group.notified", "group.set"]
    assert told[1]["topic"] == f"{bus.app}/group/g/~"
    assert [each["event"]["seq"] for each in told] == [1, 2, 3]
    stream.close()


def test_a_prefix_narrows_it(pages, bus):
    other = "com.example.taxi"
    stream = pages.events(f"{bus.app}/activity/B")
    assert set(stream.hello()["apps"]) <= {bus.app}
    everything = pages.events("")
    everything.hello()
    bus.start(type="A")
    bus.start(app=other, type="B")
    id = bus.start(type="B")["id"]
    assert stream.next()[2]["topic"] == f"{bus.app}/activity/B/{id}"
    assert [everything.next()[2]["topic"].rsplit("/", 1)[0] for _ in range(3)] == [
        f"{bus.app}/activity/A", f"{other}/activity/B", f"{bus.app}/activity/B"]
    for each in (stream, everything):
        each.close()


def test_a_payload_with_line_ends_stays_json(pages, bus):
    stream = pages.events()
    stream.hello()
    bus.send(b'{"op":"activity.start","app":"com.example.pizza","type":"T","attributes":{},'
             b'"contentState":{\n"a":\r\n1,\r"b":2}}')
    event = stream.next()[2]["event"]
    assert event["activity"]["contentState"] == {"a": 1, "b": 2}
    stream.close()


def test_a_prefix_of_over_240_bytes_is_refused(pages):
    assert pages.get("/api/events?prefix=" + "a" * 241).status == 400
    stream = pages.events("a" * 240)
    assert stream.status == 200
    stream.close()


@pytest.mark.parametrize("prefix", ["/", "//", "/activity", "a" * 101 + "/", "a" * 101 + "/activity/T"])
def test_a_prefix_that_no_topic_has_is_refused_and_does_not_wait_for_ever(pages, prefix):
    reply = pages.get("/api/events?prefix=" + prefix)
    assert (reply.status, reply.json["error"]["code"]) == (400, "badField")


@pytest.mark.parametrize("prefix", ["a" * 100 + "/", "a" * 101, "com.example.pizza/activity/T"])
def test_a_prefix_that_a_topic_may_have_is_greeted(pages, prefix):
    stream = pages.events(prefix)
    stream.hello()
    stream.close()


def test_there_are_at_most_64_and_one_that_leaves_makes_room(pages):
    streams = [pages.events() for _ in range(64)]
    for stream in streams:
        stream.hello()
    refused = pages.get("/api/events")
    assert (refused.status, refused.json["error"]["code"]) == (503, "tooMany")
    assert pages.post({"op": "service.ping"}).status == 200
    streams.pop().close()
    deadline = Deadline(10)
    while (one := pages.events()).status != 200:
        one.close()
        assert not deadline.passed
    one.hello()
    for stream in [one, *streams]:
        stream.close()


@pytest.mark.parametrize("behind", [
    "GET /readyz HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "POST /api/commands HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{{",
])
def test_one_that_leaves_with_a_request_behind_its_stream_makes_room_at_once(pages, behind):
    """Not when a heartbeat cannot be written any more, twice 15 s later."""
    asked = f"GET /api/events HTTP/1.1\r\nHost: {pages.host}\r\n\r\n{behind.format(host=pages.host)}".encode()
    for _ in range(64):
        with pages.connect() as sock:
            sock.sendall(asked)
            text = b""
            while b"event: hello" not in text:
                part = sock.recv(65_536)
                assert part, "cut before its hello"
                text += part
        assert b"connection: close" in text.lower()
    deadline = Deadline(10)
    while (one := pages.events()).status != 200:
        one.close()
        assert not deadline.passed
    one.hello()
    one.close()


def test_a_browser_that_does_not_read_loses_events_is_told_and_goes_on(pages, bus):
    sock = pages.connect(seconds=30)
    sock.sendall(f"GET /api/events HTTP/1.1\r\nHost: {pages.host}\r\n\r\n".encode())
    id = bus.start()["id"]
    pad = "x" * 3_000
    # More than its queue and all buffers between hold.
    for batch in range(120):
        bus.batch(*[
            bus.command("activity.update", id=id, contentState={"n": batch * 100 + number, "pad": pad})
            for number in range(100)])
    bus.applied("activity.update", id=id, contentState={"last": True})
    text = b""
    while b'"last":true' not in text[-8_192:]:
        part = sock.recv(1 << 20)
        assert part, "cut before its end"
        text += part
    assert text.count(b"event: lost\ndata: {\"dropped\":") >= 1
    lost = text.rindex(b"event: lost")
    assert text.index(b'"last":true') > lost
    assert len(text) < 12_000 * 3_000, "nothing was lost: the test sends too little"
    sock.close()


def test_streams_end_when_the_service_stops_and_the_stop_is_quick(pages, bus, served):
    reading = pages.events()
    reading.hello()
    stuck = []
    for _ in range(8):
        sock = pages.connect()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        sock.sendall(f"GET /api/events HTTP/1.1\r\nHost: {pages.host}\r\n\r\n".encode())
        stuck.append(sock)
    id = bus.start()["id"]
    for number in range(500):
        bus.send(bus.command("activity.update", id=id, contentState={"n": number, "pad": "x" * 3_000}))
    half = pages.connect()
    half.sendall(b"POST /api/commands HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                 b"Content-Length: 100\r\n\r\n{")
    begun = time.monotonic()
    served.signal(signal.SIGTERM)
    assert served.wait() == 0
    assert time.monotonic() - begun < 5
    while reading.next() is not None:
        pass
    for sock in [*stuck, half]:
        sock.close()


def with_a_body(pages, length, sent, *fields):
    """A connection that asks for a stream with a body, as nobody should."""
    sock = pages.connect(seconds=15)
    lines = ["GET /api/events HTTP/1.1", f"Host: {pages.host}", f"Content-Length: {length}", *fields]
    sock.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
    try:
        for _ in range(sent // 65_536):
            sock.sendall(b"x" * 65_536)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it was refused meanwhile
    return sock


def test_a_stream_that_is_asked_for_with_a_body_is_refused(pages):
    for length, sent in ((1, 0), (8 << 20, 8 << 20)):
        sock = with_a_body(pages, length, sent)
        answer = sock.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 400 "), answer[:100]
        sock.close()
    sock = pages.connect()
    sock.sendall(f"GET /api/events HTTP/1.1\r\nHost: {pages.host}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    assert sock.recv(65_536).startswith(b"HTTP/1.1 400 ")
    sock.close()
    sock = with_a_body(pages, 0, 0)
    assert sock.recv(65_536).startswith(b"HTTP/1.1 200 ")
    sock.close()


def test_streams_with_bodies_keep_no_places_and_do_not_delay_the_stop(pages, served):
    held = [with_a_body(pages, 4 << 20, 1 << 20) for _ in range(64)]
    for sock in held[:60]:
        sock.close()
    stream = pages.events()
    assert stream.status == 200
    stream.hello()
    begun = time.monotonic()
    served.signal(signal.SIGTERM)
    assert served.wait() == 0
    assert time.monotonic() - begun < 5
    for sock in held[60:]:
        sock.close()
    stream.close()

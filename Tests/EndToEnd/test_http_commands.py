"""Commands over HTTP: the bridge to the bus."""

import http.client
import itertools
import json
import signal
import threading

import pytest

from support.commands import Commands
from support.durable import Durable
from support.http import Pages

APP = "com.example.pizza"
START = {"op": "activity.start", "app": APP, "type": "T", "attributes": {}, "contentState": {"n": 1}, "key": "k"}


@pytest.fixture
def reading(serve):
    """A board that may read, and its service."""
    service = serve({"--clock": "manual", "--http": "127.0.0.1:0"})
    return Pages(service.http), service


@pytest.fixture
def writing(serve):
    """A board that may write, and its service."""
    words = ["--http", "127.0.0.1:0", "--board-write", "--clock", "manual", "--store", "memory"]
    for name in ("commands", "events", "bulk"):
        words += [f"--{name}", "tcp://127.0.0.1:*"]
    service = serve(words=words)
    return Pages(service.http), service


def test_a_read_gets_the_answer_of_the_bus(reading, wire):
    pages, service = reading
    client = Commands(wire, service.commands)
    client.start(key="k", contentState={"n": 1})
    reply = pages.post({"op": "activity.get", "app": APP, "key": "k", "req": "r-1"})
    assert reply.status == 200 and reply.headers["content-type"] == "application/json"
    expected = client.ask("activity.get", key="k")
    assert reply.json == {**expected, "req": "r-1"}
    assert list(reply.json)[0] == "req"


def test_a_refusal_of_the_service_is_an_answer_too(reading):
    pages, _ = reading
    reply = pages.post({"op": "activity.get", "app": APP, "key": "nobody"})
    assert (reply.status, reply.json["error"]["code"]) == (200, "notFound")
    reply = pages.post({"op": "activity.gets", "app": APP})
    assert (reply.status, reply.json["error"]["code"]) == (200, "unknownOp")
    reply = pages.post({"op": "activity.get", "app": APP, "key": "k", "colour": 1})
    assert (reply.status, reply.json["error"]["code"]) == (200, "unknownField")


def test_a_change_is_refused_while_the_board_is_read_only(reading, wire):
    pages, service = reading
    for command in (
        START, {"op": "activity.end", "app": APP, "key": "k"}, {"op": "control.tap", "app": APP, "id": "x"},
        {"op": "widget.reload", "app": APP}, {"op": "clock.advance", "by": 1}, {"op": "settings.set", "app": APP},
        {"op": "device.event", "device": "d", "event": "lock"}, {"op": "group.set", "app": APP},
    ):
        reply = pages.post(command)
        assert reply.status == 403, command
        assert reply.json["ok"] is False and reply.json["error"]["code"] == "unauthorized"
        assert command["op"] in reply.json["error"]["message"]
    assert Commands(wire, service.commands).ask("activity.list")["total"] == 0


@pytest.mark.parametrize("frame", [
    b'{"op":"service.ping","op":"activity.start","app":"com.example.pizza"}',
    b'{"op":"service.ping","\\u006fp":"activity.start","app":"com.example.pizza"}',
    b'{"\\u006fp":"activity.start","app":"com.example.pizza"}',
    b'{"op":"activity\\u002estart","app":"com.example.pizza"}',
    b'{"op":"service.ping"} {"op":"activity.start"}', b'[{"op":"activity.start"}]', b"", b"null", b"{", b"{}",
    b'{"op":null}', b'{"op":7}', b'{"op":"service.ping"}\x00', b'\xff{"op":"service.ping"}',
    b'\xef\xbb\xbf{"op":"activity.start"}',
])
def test_a_change_cannot_be_hidden_from_the_read_only_board(reading, wire, frame):
    """What the board reads in a command is what the service reads in it."""
    pages, service = reading
    reply = pages.post(frame)
    assert reply.status in (400, 403), (reply.status, reply.body)
    assert reply.json["ok"] is False
    assert Commands(wire, service.commands).ask("activity.list")["total"] == 0


def test_a_change_is_executed_where_the_board_may_write(writing, wire):
    pages, service = writing
    answer = pages.post({**START, "req": "b-1", "client": "0198aaaa-0000-4000-8000-000000000001"}).json
    assert answer["ok"] and answer["req"] == "b-1" and answer["activity"]["state"] == "active"
    again = pages.post({**START, "req": "b-1", "client": "0198aaaa-0000-4000-8000-000000000001"})
    assert again.json == answer, "a retry is executed once"
    assert Commands(wire, service.commands).ask("activity.list")["total"] == 1


@pytest.mark.parametrize("op", [
    "provider.register", "provider.answer", "provider.leave", "bulk.snapshot", "bulk.credit", "stream.applied",
    "service.backup",
])
def test_what_belongs_to_one_connection_or_reaches_files_is_never_passed_on(writing, op, tmp_path):
    pages, _ = writing
    reply = pages.post({"op": op, "app": APP, "path": str(tmp_path / "backup")})
    assert (reply.status, reply.json["error"]["code"]) == (403, "unauthorized")
    assert not list(tmp_path.iterdir())


def test_a_command_that_wants_no_answer_is_refused_at_once(writing):
    pages, _ = writing
    reply = pages.post({**START, "ack": "none"})
    assert (reply.status, reply.json["error"]["code"]) == (400, "badField")


def test_the_body_is_json_by_its_type(reading):
    pages, _ = reading
    ping = {"op": "service.ping"}
    assert pages.post(ping, {"Content-Type": "application/json; charset=utf-8"}).status == 200
    assert pages.post(ping, {"Content-Type": "Application/JSON"}).status == 200
    for wrong in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""):
        reply = pages.post(ping, {"Content-Type": wrong})
        assert (reply.status, reply.json["ok"]) == (415, False), wrong
    assert pages.post(ping, {}).status == 415


def test_a_body_has_at_most_64_kib(reading):
    pages, _ = reading
    ping = json.dumps({"op": "service.ping"}).encode()
    assert pages.post(ping.ljust(65_536)).status == 200
    reply = pages.post(ping.ljust(65_537))
    assert (reply.status, reply.json["ok"]) == (413, False)
    assert pages.post(b"x" * (1 << 20)).status == 413
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        pages.post(b"x" * (64 << 20))
    assert pages.post(ping).status == 200


def test_a_body_that_does_not_say_its_length_has_at_most_64_kib(reading):
    pages, _ = reading
    head = f"POST /api/commands HTTP/1.1\r\nHost: {pages.host}\r\nContent-Type: application/json\r\n"
    with pages.connect() as connection:
        connection.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
        connection.sendall(b"8000\r\n" + b" " * 0x8000 + b"\r\n")
        connection.sendall(b"8001\r\n" + b" " * 0x8001 + b"\r\n")
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413 ")


def test_commands_run_beside_one_that_waits(writing, wire):
    """An answer that is late delays no other."""
    pages, _ = writing
    first = pages.connect()
    body = json.dumps({"op": "control.options", "app": APP, "kind": "K", "parameter": "p"}).encode()
    first.sendall(
        f"POST /api/commands HTTP/1.1\r\nHost: {pages.host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode() + body[:-1])
    assert pages.post({"op": "service.ping"}).status == 200
    first.sendall(body[-1:])
    assert first.recv(65_536).startswith(b"HTTP/1.1 200 ")
    first.close()


@pytest.fixture
def durable(wire, tmp_path):
    """A board that may write, and whose service keeps what it did."""
    made = Durable(wire, tmp_path / "data", options={"--http": "127.0.0.1:0"}, env={"ISLET_BOARD_WRITE": "true"})
    yield made.start()
    made.kill()


def test_what_a_stop_left_without_an_answer_is_not_called_undone(durable):
    """Who is told to come again later sends it a second time."""
    pages = Pages(durable.service.http)
    replies = {}
    posted = threading.Semaphore(0)

    def post(name):
        for number in itertools.count():
            key = f"k-{name}-{number}"
            try:
                replies[key] = pages.post({**START, "key": key})
            except (OSError, http.client.HTTPException):
                return  # which says nothing
            finally:
                posted.release()

    threads = [threading.Thread(target=post, args=(name,)) for name in range(24)]
    for thread in threads:
        thread.start()
    for _ in range(500):
        posted.acquire()
    durable.service.signal(signal.SIGTERM)
    assert durable.service.wait() == 0
    for thread in threads:
        thread.join()
    durable.start()
    pages_of_list, cursor = [], {}
    while cursor is not None:
        answer = durable.client.read("activity.list", limit=1_000, **cursor)
        pages_of_list += answer["activities"]
        cursor = {"cursor": answer["next"]} if "next" in answer else None
    executed = {activity["key"] for activity in pages_of_list}
    for key, reply in replies.items():
        if reply.status == 200:
            assert reply.json["ok"] is (key in executed)
        elif key in executed:
            assert (reply.status, reply.json["error"]["code"]) == (504, "outcomeUnknown"), reply.json


def test_many_requests_go_by_one_connection(reading):
    pages, _ = reading
    body = b'{"op":"service.ping"}'
    one = (
        f"POST /api/commands HTTP/1.1\r\nHost: {pages.host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n").encode()
    answers = pages.raw((one + b"\r\n" + body) * 50 + one + b"Connection: close\r\n\r\n" + body)
    assert answers.count(b"HTTP/1.1 200 ") == 51 and answers.count(b'"ok":true') == 51


def test_the_session_says_what_the_board_may_do(reading, writing):
    assert reading[0].get("/api/session").json == {"write": False, "version": "0.1.0"}
    assert writing[0].get("/api/session").json == {"write": True, "version": "0.1.0"}


def test_the_session_says_how_fast_time_runs(serve):
    session = Pages(serve({"--speed": "600", "--http": "127.0.0.1:0"}).http).get("/api/session")
    assert session.json["speed"] == 600


def test_service_info_names_the_board(reading, wire):
    pages, service = reading
    info = Commands(wire, service.commands).ask("service.info")["info"]
    assert info["endpoints"]["http"] == pages.url


# Filters


def read(pages, text, **options):
    return pages.ask("POST", "/api/filter", json.dumps({"text": text, **options}).encode(), {
        "Content-Type": "application/json"})


def test_a_filter_is_read_by_the_service(reading):
    pages, _ = reading
    reply = read(pages, "state=stale next<10m or not order-")
    assert reply.status == 200 and reply.json["ok"] is True and reply.json["needsNow"] is True
    either = reply.json["filter"]
    assert [part["op"] for part in either["of"]] == ["and", "not"] and either["op"] == "or"
    stale, soon = either["of"][0]["of"]
    assert (stale["path"], stale["comparison"], stale["as"], stale["value"]["text"]) == (["state"], "=", "text", "stale")
    assert (soon["as"], soon["value"]["span"]) == ("date", 600_000)
    assert either["of"][1]["of"] == {"op": "anywhere", "text": "order-"}
    assert read(pages, "state=stale").json["needsNow"] is False


@pytest.mark.parametrize("text, complaint", [
    ("colour=red", "an activity has no member 'colour': id, app"), ("startedAt<2026-02-31", "'startedAt' is a date"),
    ("not startedAt<june", "'startedAt' is a date"), ("state=stael", "'state' is never 'stael'"),
    ("(" * 4_000, "more than 32"), ("(" * 20_000, "more than 4096 characters"), ("not " * 500, "more than 32"),
    ("(state=stale", "a '(' without its ')'"), ("state=stale )", "a ')' without its '('"), ("", "it is empty"),
])
def test_what_is_wrong_with_a_filter_is_said(reading, text, complaint):
    reply = read(reading[0], text)
    assert reply.status == 400 and reply.json["ok"] is False
    assert reply.json["error"]["code"] == "badField" and complaint in reply.json["error"]["message"]
    assert reply.json["error"]["retry"] == "never"


def test_a_filter_of_very_many_conditions_is_flat(reading):
    reply = read(reading[0], " or ".join(["key=a"] * 400))
    assert len(reply.json["filter"]["of"]) == 400
    assert len(read(reading[0], "a " * 2_000).json["filter"]["of"]) == 2_000


def test_only_scripts_of_the_board_have_filters_read(reading):
    pages, _ = reading
    assert pages.ask("POST", "/api/filter", b'{"text":"a"}').status == 415
    assert pages.get("/api/filter").status == 405
    json_type = {"Content-Type": "application/json"}
    for body in (b"", b"[]", b'{"text":1}', b'{"filter":"a"}', b'{"text":"a","of":"x"}', b'{"text":"a"'):
        assert pages.ask("POST", "/api/filter", body, json_type).status == 400, body
    assert pages.ask("POST", "/api/filter", b'{"text":"a"}', {**json_type, "Origin": "http://example.com"}).status == 403
    assert pages.ask("POST", "/api/filter", b'{"text":"' + b"a" * 70_000, json_type).status == 413

"""HTTP as a part of the process: addresses, health, metrics, the board's files, start and stop."""

import contextlib
import re
import select
import socket
import sqlite3
import time

import pytest

from support.commands import Commands
from support.demo import Demo
from support.http import Pages, everything
from support.service import FREE_PORTS, arguments, environment, run
from support.small_disk import until
from support.wire import DEADLINE


@pytest.fixture
def pages(serve):
    service = serve({"--http": "127.0.0.1:0"})
    made = Pages(service.http)
    made.service = service
    return made


# Addresses


def test_without_http_the_ready_line_says_none(serve):
    assert serve({"--http": "none"}).endpoints["http"] == "none"


@pytest.mark.parametrize("address", ["127.0.0.1:0", "127.0.0.1:*", "127.3.4.5:0"])
def test_any_port_means_the_one_that_was_found(serve, address):
    service = serve({"--http": address})
    assert re.fullmatch(r"http://127\.\d+\.\d+\.\d+:[1-9]\d+", service.http)
    assert Pages(service.http).get("/healthz").status == 200


def test_it_is_also_a_setting_of_the_environment_and_the_file(serve, tmp_path):
    over = serve({"--http": None}, env=environment(ISLET_HTTP="127.0.0.1:0", ISLET_BOARD_WRITE="true"))
    assert Pages(over.http).get("/api/session").json["write"] is True
    path = tmp_path / "islet.yaml"
    path.write_text("http: 127.0.0.1:0\nboardWrite: true\n")
    env = environment()
    del env["ISLET_HTTP"]
    filed = serve({"--http": None, "--config": path}, env=env)
    assert Pages(filed.http).get("/api/session").json["write"] is True


@pytest.mark.parametrize("address", [
    "0.0.0.0:7414", "*:7414", "192.0.2.1:7414", "example.com:7414", "localhost:7414", "127.0.0.1", "127.0.0.1:",
    "127.0.0.1:65536", ":7414", "7414", "http://127.0.0.1:7414", "[::]:7414",
])
def test_an_address_that_others_reach_or_that_is_none_is_refused_with_2(address):
    done = run("serve", *arguments({**FREE_PORTS, "--http": address}))
    assert done.returncode == 2, done.stderr
    assert "--http" in done.stderr and address in done.stderr
    done = run("dev", "--http", address)
    assert done.returncode == 2 and "--http" in done.stderr, done.stderr


def test_a_port_that_is_taken_ends_the_start_with_a_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        address = f"127.0.0.1:{holder.getsockname()[1]}"
        done = run("serve", *arguments({**FREE_PORTS, "--http": address}))
        assert done.returncode == 1
        assert done.stderr.strip() == f"cannot serve at http://{address}: address already in use"
        urls = [word for name in ("commands", "events", "bulk") for word in (f"--{name}", f"ipc://{tmp_path}/{name}")]
        done = run("dev", *urls, "--http", address)
        assert (done.returncode, done.stderr.strip()) == (
            1, f"cannot serve at http://{address}: address already in use")


def test_a_bus_that_cannot_be_served_ends_the_pages_as_well():
    with socket.create_server(("127.0.0.1", 0)) as holder:
        url = f"tcp://127.0.0.1:{holder.getsockname()[1]}"
        done = run("serve", *arguments({**FREE_PORTS, "--http": "127.0.0.1:0", "--commands": url}))
    assert done.returncode == 1 and url in done.stderr


def test_the_address_is_free_again_at_once(serve):
    first = serve({"--http": "127.0.0.1:0"})
    pages = Pages(first.http)
    streams = [pages.events() for _ in range(5)]
    for stream in streams:
        stream.hello()
    first.stop()
    second = serve({"--http": pages.host})
    assert second.http == first.http
    assert Pages(second.http).get("/healthz").status == 200
    for stream in streams:
        stream.close()


# Health and metrics


def test_a_service_that_serves_is_healthy_and_ready(pages):
    assert (pages.get("/healthz").status, pages.get("/healthz").json) == (200, {"status": "ok"})
    assert (pages.get("/readyz").status, pages.get("/readyz").json) == (200, {"ready": True})
    head = pages.ask("HEAD", "/healthz")
    assert (head.status, head.body) == (200, b"") and head.headers["Content-Length"] == "15"


def test_a_commit_that_hangs_is_not_ready_and_has_an_age(serve, wire, tmp_path):
    service = serve({"--http": "127.0.0.1:0", "--store": None, "--data": tmp_path / "data"})
    pages, client = Pages(service.http), Commands(wire, service.commands)
    client.start(key="k")
    locks = [sqlite3.connect(file, isolation_level=None, timeout=DEADLINE) for file in (tmp_path / "data").glob("*.db")]
    try:
        for lock in locks:
            lock.execute("BEGIN IMMEDIATE")
        update = client.command("activity.update", key="k", contentState={"n": 1})
        client.send(update)
        until(lambda: pages.get("/readyz").status == 503)
        assert pages.get("/readyz").json == {"ready": False, "reason": "commitHangs"}
        # To start it again would mend nothing.
        assert (pages.get("/healthz").status, pages.get("/healthz").json) == (200, {"status": "ok"})
        assert float(re.search(r"^islet_commit_age_seconds (.*)$", pages.get("/metrics").body.decode(), re.MULTILINE)[1]) > 1
    finally:
        for lock in locks:
            lock.close()
    assert [answer["ok"] for answer in client.answer_to(update["req"])] == [True]
    until(lambda: pages.get("/readyz").status == 200)
    assert "\nislet_commit_age_seconds 0\n" in pages.get("/metrics").body.decode()


def test_the_metrics_are_prometheus_text(pages):
    reply = pages.get("/metrics")
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = reply.body.decode()
    assert text.endswith("\n") and "\nislet_info{" in text and 'version="0.1.0"' in text
    assert "\nislet_commands_total{" in text and "\nislet_answer_seconds_bucket{" in text
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \w+ .+|\w+(\{.*\})? \S+", line), line


# The board's files


def test_the_board_is_served_with_its_types_and_tags(pages):
    page = pages.get("/")
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert page.body == pages.get("/index.html").body and b"<script>" not in page.body
    tag = page.headers["ETag"]
    assert page.headers["Cache-Control"] == "no-cache"
    known = pages.get("/", **{"If-None-Match": tag})
    assert (known.status, known.body, known.headers["ETag"]) == (304, b"", tag)
    assert pages.get("/", **{"If-None-Match": f'"0", W/{tag}'}).status == 304
    assert pages.get("/", **{"If-None-Match": '"0"'}).status == 200
    for name in set(re.findall(rb'(?:href|src)="/?([\w.-]+)"', page.body)):
        reply = pages.get("/" + name.decode())
        kinds = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
        assert reply.status == 200
        assert reply.headers["Content-Type"].startswith(kinds[name.decode().rsplit(".", 1)[1]])


def test_a_folder_stands_in_for_the_built_in_files_while_one_works_on_them(serve, tmp_path):
    folder = tmp_path / "board"
    folder.mkdir()
    (folder / "index.html").write_text("<p>one")
    (tmp_path / "secret.txt").write_text("secret")
    env = environment(ISLET_BOARD_FILES=str(folder))
    service = serve({"--http": "127.0.0.1:0"}, env=env)
    assert "ISLET_BOARD_FILES" not in service.log
    pages = Pages(service.http)
    assert pages.get("/").body == b"<p>one"
    (folder / "index.html").write_text("<p>two")
    assert pages.get("/").body == b"<p>two"
    assert pages.get("/board.css").status == 404
    for path in ("/../secret.txt", "/..%2fsecret.txt", "/.", "/..", "/%2e%2e/secret.txt"):
        assert pages.get(path).status == 404, path


# The demo


def test_the_demo_has_a_board(tmp_path):
    demo = Demo(tmp_path, "--http", "127.0.0.1:0")
    [url] = [match.group(1) for line in demo.process.messages if (match := re.search(r" http=(http://\S+)", line))]
    demo.process.message(re.escape(f"{url}/"))
    pages = Pages(url)
    assert pages.get("/api/session").json["speed"] == 600
    assert pages.events().hello()["write"] is True
    begun = time.monotonic()
    demo.close()
    assert time.monotonic() - begun < 5


# Connections


def ask(version="1.1", *fields, path="/healthz"):
    lines = [f"GET {path} HTTP/{version}", "Host: localhost", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


@pytest.mark.parametrize("request_bytes", [
    ask("1.1", "Connection: close"), ask("1.1", "Connection: Close"), ask("1.1", "connection: CLOSE"),
    ask("1.1", "Connection: close, x"), ask("1.1", "Connection: Upgrade, close"),
    ask("1.1", "Connection: x", "Connection: close"), ask("1.0"), ask("1.0", "Connection: close"),
    ask("1.0", "Connection: keep-alive"), ask("1.1", "Connection: Close", path="/nothing"),
], ids=lambda text: text.decode()[:-4].replace("\r\n", " "))
def test_a_connection_ends_with_the_answer_where_its_client_asks(pages, request_bytes):
    begun = time.monotonic()
    answer = pages.raw(request_bytes)
    assert answer.startswith(b"HTTP/1.1 ") and b"\r\nconnection: close\r\n" in answer.lower()
    assert time.monotonic() - begun < 20, "it stayed open for the idle time"


def test_a_connection_stays_where_nobody_asks_for_its_end(pages):
    with pages.connect() as connection:
        for fields in ([], ["Connection: keep-alive"], ["Connection: x-closed"]):
            connection.sendall(ask("1.1", *fields))
            answer = b""
            while b'{"status":"ok"}' not in answer:
                piece = connection.recv(65_536)
                assert piece, "closed"
                answer += piece
            assert b"connection: close" not in answer.lower()
        # The last of several at once ends it, and each has its answer.
        connection.sendall(ask() + ask() + ask("1.1", "Connection: close"))
        assert everything(connection).count(b'{"status":"ok"}') == 3


def test_of_many_requests_at_once_so_many_are_answered(pages):
    """Sixty-four; the client sees that it has to send the others again."""
    for count in (63, 64, 65, 2_000):
        with pages.connect() as connection:
            connection.sendall(ask() * count)
            answer = b""
            while answer.count(b'{"status":"ok"}') < min(count, 64):
                piece = connection.recv(65_536)
                assert piece, answer.count(b"HTTP/1.1 200")
                answer += piece
            if count < 64:
                assert b"connection: close" not in answer.lower()
            else:
                assert answer.lower().count(b"connection: close") == 1
                assert answer.lower().rindex(b"connection: close") > answer.rindex(b"HTTP/1.1 200")
                assert everything(connection) == b""


def test_requests_whose_answers_nobody_reads_take_little_memory(pages):
    service = pages.service
    before = service.resident
    held = []
    for _ in range(60):
        connection = pages.connect()
        connection.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            connection.send(ask(path="/board.css") * 2_000)
        held.append(connection)
    # Whoever asks behind them is answered behind what they had in the way.
    for _ in range(20):
        assert pages.get("/healthz").status == 200
        assert service.resident - before < 100 << 20
    for connection in held:
        connection.close()


@pytest.mark.parametrize("pieces, answers", [(4_096, {2}), (5_000, {0, 1})])
def test_a_body_of_very_many_pieces_ends_its_connection(pages, pieces, answers):
    """A minute's work for two hundred connections."""
    with pages.connect() as connection:
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(ask("1.1", "Transfer-Encoding: chunked") + b"1\r\nx\r\n" * pieces + b"0\r\n\r\n"
                               + ask("1.1", "Connection: close"))
        assert everything(connection).count(b'{"status":"ok"}') in answers


def post(body, *fields):
    lines = ["POST /api/commands HTTP/1.1", "Host: localhost", "Content-Type: application/json",
             f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def test_a_client_that_waits_for_a_word_before_its_body_gets_it(pages):
    body = b'{"op":"service.ping"}'
    with pages.connect() as connection:
        for _ in range(2):
            connection.sendall(post(body, "Expect: 100-Continue"))
            assert connection.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(body)
            answer = connection.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and b'"ok":true' in answer
        # Behind another request the word comes after that one's answer.
        connection.sendall(ask() + post(body, "Expect: 100-continue", "Connection: close"))
        answer = b""
        while not answer.endswith(b"HTTP/1.1 100 Continue\r\n\r\n"):
            piece = connection.recv(65_536)
            assert piece, answer
            answer += piece
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and b'{"status":"ok"}' in answer
        connection.sendall(body)
        assert b'"ok":true' in everything(connection)


def test_a_body_that_is_too_long_is_not_asked_for(pages):
    with pages.connect() as connection:
        lines = post(b"", "Expect: 100-continue").replace(b"Content-Length: 0", b"Content-Length: 65537")
        connection.sendall(lines)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413 ")


def test_clients_that_only_hold_on_give_way_to_a_probe(pages):
    held = [pages.connect() for _ in range(256)]
    for connection in held[:250:2]:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")  # and no end
    stream = pages.events()
    stream.hello()
    try:
        for _ in range(40):
            assert pages.get("/healthz").status == 200
        begun = time.monotonic()
        assert pages.get("/healthz").status == 200 and time.monotonic() - begun < 10
        # Of those that were there first some went, as many as were too many, and who is at work stays.
        ended = [held.index(connection) for connection in select.select(held, [], [], DEADLINE)[0]]
        assert 0 < len(ended) <= 4 and max(ended) < 16
        held[-1].sendall(ask("1.1", "Connection: close"))
        assert b'{"status":"ok"}' in everything(held[-1])
        assert stream.comments == 0 and stream.response.isclosed() is False
    finally:
        stream.close()
        for connection in held:
            connection.close()

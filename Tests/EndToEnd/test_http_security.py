"""Who may ask over HTTP at all, and what requests may look like."""

import socket
import threading
import time

import pytest

from support.commands import Commands
from support.http import JSON, Pages, everything


@pytest.fixture
def served(serve):
    return serve({"--clock": "manual", "--http": "127.0.0.1:0"})


@pytest.fixture
def pages(served):
    return Pages(served.http)


PATHS = ("/", "/metrics", "/healthz", "/readyz", "/api/session", "/api/events", "/board.css", "/nothing")


# Host


@pytest.mark.parametrize("host", [
    "example.com", "example.com:7414", "127.0.0.1.example.com", "localhost.example.com", "0.0.0.0", "192.0.2.1",
    "127.0.0.256", "127.1", "127.0.0.1:port", "127.0.0.1:", "[::2]", "[::1", "localhost:99999", "", "a@127.0.0.1",
    "127.0.0.1,example.com", "0x7f.0.0.1",
])
def test_a_host_that_is_not_this_machine_is_refused(pages, host):
    """A page elsewhere whose name suddenly means 127.0.0.1 sends its own name (DNS rebinding)."""
    for path in PATHS:
        reply = pages.ask("GET", path, headers={"Host": host})
        assert reply.status in (400, 403), (path, reply.status)
        assert reply.json["ok"] is False
    reply = pages.ask("POST", "/api/commands", b'{"op":"service.ping"}', {**JSON, "Host": host})
    assert reply.status in (400, 403)


@pytest.mark.parametrize("host", [
    "localhost", "LocalHost:1", "127.0.0.1", "127.9.8.7:80", "[::1]", "[::1]:7414",
])
def test_a_host_that_is_this_machine_is_served_whatever_its_port(pages, host):
    """A port may have been forwarded."""
    assert pages.ask("GET", "/healthz", headers={"Host": host}).status == 200


def test_a_request_without_a_host_or_with_two_is_refused(pages):
    assert pages.raw(b"GET /healthz HTTP/1.0\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    two = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: example.com\r\nConnection: close\r\n\r\n"
    assert pages.raw(two).startswith(b"HTTP/1.1 400 ")
    two = b"GET /healthz HTTP/1.1\r\nHost: example.com\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert pages.raw(two).split()[1] in (b"400", b"403")


# Origin


@pytest.mark.parametrize("origin", [
    "http://example.com", "https://{host}", "http://localhost:1", "null", "http://{host}.example.com", "{host}", "",
    "http://{host}/",
])
def test_an_origin_that_is_not_the_host_is_refused(pages, origin):
    origin = origin.format(host=pages.host)
    for path in ("/", "/api/session", "/api/events"):
        assert pages.get(path, Origin=origin).status == 403, path
    assert pages.post({"op": "service.ping"}, {**JSON, "Origin": origin}).status == 403


def test_the_boards_own_origin_is_served(pages):
    own = f"http://{pages.host}"
    assert pages.get("/", Origin=own).status == 200
    assert pages.post({"op": "service.ping"}, {**JSON, "Origin": own}).status == 200
    stream = pages.events(headers={"Origin": own, "Sec-Fetch-Site": "same-origin"})
    assert stream.status == 200
    stream.close()


def test_scripts_and_images_of_other_sites_are_refused_even_without_an_origin(pages):
    for site in ("cross-site", "same-site"):
        for path in ("/api/session", "/api/events"):
            assert pages.get(path, **{"Sec-Fetch-Site": site}).status == 403
        assert pages.get("/", **{"Sec-Fetch-Site": site}).status == 200, "a link to the board is no danger"


def test_no_leave_is_given_to_other_sites_pages(pages):
    reply = pages.ask("OPTIONS", "/api/commands", headers={
        "Origin": f"http://{pages.host}", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type"})
    assert reply.status == 405
    for reply in (reply, pages.get("/"), pages.post({"op": "service.ping"})):
        assert not [name for name in reply.headers if name.lower().startswith("access-control")]


# What every answer carries


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_what_protects_the_page(pages, path):
    if path == "/api/events":
        stream = pages.events()
        headers = stream.response.headers
        stream.close()
    else:
        headers = pages.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert policy.split(";")[0] == "default-src 'self'"
    assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Set-Cookie" not in headers and "Server" not in headers


def test_a_refusal_carries_it_as_well(pages):
    headers = pages.ask("GET", "/", headers={"Host": "example.com"}).headers
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"


# Methods and paths


def test_a_method_that_is_not_there_is_405_and_says_which_are(pages):
    for method, path, allowed in (
        ("POST", "/", "GET, HEAD"), ("PUT", "/metrics", "GET, HEAD"), ("DELETE", "/healthz", "GET, HEAD"),
        ("GET", "/api/commands", "POST"), ("HEAD", "/api/events", "GET"), ("TRACE", "/", "GET, HEAD"),
    ):
        reply = pages.ask(method, path)
        assert (reply.status, reply.headers["Allow"]) == (405, allowed), (method, path)


@pytest.mark.parametrize("path", [
    "/nothing", "/../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/Board/index.html", "//", "/index.html/", "/api",
    "/api/commands/", "/%00", "/.hidden", "/?../../etc/passwd&x=/..", "/board.css%00.html", "/" + "a" * 4_000,
])
def test_there_are_no_other_pages(pages, path):
    reply = pages.get(path)
    if path.startswith("/?"):
        assert reply.status == 200, "a query means nothing to a file"
    else:
        assert (reply.status, reply.json["ok"]) == (404, False)


# Requests that are none


@pytest.mark.parametrize("request_bytes", [
    b"nonsense\r\n\r\n", b"\x00" * 100, b"\xff" * 1_000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"POST /api/commands HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/commands HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: 1\r\n" * 1_000 + b"\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"CONNECT example.com:443 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL",
], ids=range(18))
def test_what_is_no_request_is_answered_with_an_error_or_cut_and_harms_nobody(pages, served, wire, request_bytes):
    try:
        with pages.connect(seconds=5) as connection:
            connection.sendall(request_bytes)
            connection.shutdown(socket.SHUT_WR)
            answer = everything(connection)
    except (ConnectionResetError, BrokenPipeError):
        answer = b""
    assert not answer or answer.split()[1][:1] in (b"4", b"5"), answer[:200]
    assert pages.get("/healthz").status == 200
    assert Commands(wire, served.commands).ask("service.ping")["ok"]


def test_an_absolute_url_is_judged_by_its_host_header_like_any_other(pages):
    answer = pages.raw(b"GET http://example.com/healthz HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 ")


# Clients that are slow, or many


def test_idle_clients_half_requests_and_streams_nobody_reads_do_not_delay_the_bus(pages, served, wire):
    held = []
    for number in range(240):
        connection = pages.connect()
        if number % 3 == 1:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: local")
        elif number % 3 == 2 and number < 150:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: {pages.host}\r\n\r\n".encode())
        held.append(connection)
    client = Commands(wire, served.commands)
    id = client.start()["id"]
    slowest = 0
    for number in range(2_000):
        begun = time.monotonic()
        assert client.ask("activity.update", id=id, contentState={"n": number, "pad": "x" * 2_000})["ok"]
        slowest = max(slowest, time.monotonic() - begun)
    assert slowest < 2, "a machine that is busy is no reason for more"
    assert pages.get("/healthz").status == 200
    for connection in held:
        connection.close()


def test_more_connections_than_are_served_wait_and_are_served_when_others_leave(pages):
    held = [pages.connect() for _ in range(300)]
    result = []
    asking = threading.Thread(target=lambda: result.append(pages.ask("GET", "/healthz", seconds=30).status))
    asking.start()
    for connection in held:
        connection.close()
    asking.join()
    assert result == [200]

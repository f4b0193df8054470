"""Connections that misbehave below the level of messages; another client is served all the while."""

import json
import re
import socket
import sqlite3
import struct
import time

import pytest

from support.commands import Commands, encode
from support.events import Events
from support.http import Pages
from support.small_disk import until
from support.wire import DEADLINE, Deadline, Silence

GREETING = b"\xff" + b"\x00" * 8 + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\x00") + b"\x00" + b"\x00" * 31


def connect(url):
    """A plain TCP connection to an endpoint."""
    host, port = url.removeprefix("tcp://").rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=5)


def ready(kind):
    """ZMTP's READY command with a socket type."""
    body = b"\x05READY" + b"\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind
    return b"\x04" + bytes([len(body)]) + body


MISSING = "00000000-0000-4000-8000-000000000001"
ENDPOINTS = ["commands", "events", "bulk"]


@pytest.fixture(autouse=True)
def bystander(wire, service):
    """A client, a subscriber and an activity that must be there before and after."""
    client = Commands(wire, service.commands, "com.example.bystander")
    events = Events(wire, service.events, "com.example.bystander/")
    events.join()
    id = client.start()["id"]
    events.next("started")
    yield
    assert service.alive, service.log
    assert client.get(id)["revision"] == 1
    client.applied("activity.update", id=id, contentState={"after": True})
    assert events.next("updated")["seq"] == 2


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("garbage", [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00" * 10_000, b"\xff" * 10_000, bytes(range(256)) * 100,
    GREETING + b"\xff" * 5000, GREETING + ready(b"PIGEON"), GREETING + b"\x04\xff", GREETING[:30],
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
], ids=["http", "zeros", "ones", "bytes", "greeting-ones", "unknown-socket", "bad-command", "half-greeting", "tls"])
def test_raw_garbage_disturbs_nobody(service, endpoint, garbage):
    for _ in range(5):
        with connect(service.endpoints[endpoint]) as raw:
            try:
                raw.sendall(garbage)
                raw.settimeout(0.05)
                raw.recv(4096)
            except OSError:
                pass


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_half_open_connections_disturb_nobody(service, client, endpoint):
    held = [connect(service.endpoints[endpoint]) for _ in range(50)]
    for position, raw in enumerate(held):
        raw.sendall(GREETING[: position])
    for _ in range(20):
        assert client.read("service.ping")
    for raw in held:
        raw.close()


def test_a_connection_that_vanishes_in_the_middle_of_a_message_disturbs_nobody(service, client):
    for cut in (1, 5, 50):
        with connect(service.commands) as raw:
            raw.sendall(GREETING + ready(b"DEALER"))
            raw.settimeout(5)
            raw.recv(64)
            raw.sendall(b"\x01\x40" + b'{"op":'[:cut])
    assert client.read("service.ping")


def test_an_endless_message_is_not_collected_for_ever(service, client):
    """Frames that always say `more`: nobody else waits, and the service lives."""
    with connect(service.commands) as raw:
        raw.sendall(GREETING + ready(b"DEALER"))
        raw.settimeout(5)
        raw.recv(64)
        try:
            for _ in range(200):
                raw.sendall(b"\x01\x01x" * 1000)
        except OSError:
            pass
        assert client.read("service.ping")


def test_a_client_that_never_reads_its_answers_is_cut_and_others_are_served(wire, service, client):
    before = service.resident
    lazy = wire.socket("DEALER", service.commands, rcvhwm=1, rcvbuf=4096, sndhwm=0)
    frame = encode({"op": "activity.list", "app": client.app, "limit": 1000})
    for _ in range(20):
        client.batch(*[
            client.command("activity.start", type="T", attributes={"x": "y" * 100}, contentState={}) for _ in range(50)
        ])
    for _ in range(3000):
        lazy.send_multipart([frame])
    for _ in range(50):
        assert client.read("service.ping")
    assert service.resident - before < 1_200_000_000


def clients_cut(client):
    return client.read("service.stats")["stats"]["clients"]["cut"]


def large_list(client):
    """A list of about 1 MiB, as a command."""
    for _ in range(3):
        client.batch(*[
            client.command("activity.start", type="T", attributes={}, contentState={"y": "y" * 3_500}) for _ in range(90)])
    return encode({"op": "activity.list", "app": client.app, "limit": 260})


@pytest.mark.parametrize("per_message", [1, 14])
def test_a_client_with_more_unread_than_its_share_is_cut_though_few_messages_wait(wire, service, client, per_message):
    """Few are taken by libzmq however large they are."""
    frame = large_list(client)
    before, former = clients_cut(client), service.resident
    lazy = wire.socket("DEALER", service.commands, rcvhwm=1, rcvbuf=4096, sndhwm=0)
    for _ in range(200 // per_message):
        lazy.send_multipart([frame] * per_message)
    deadline = Deadline()
    while clients_cut(client) == before:
        assert not deadline.passed, "it is not cut"
        # It is given 256 MiB at most, and as much is in the making.
        assert service.resident - former < 600_000_000
        time.sleep(0.1)


def test_a_client_that_reads_may_ask_for_more_at_once_than_its_share(wire, service, client):
    frame = large_list(client)
    before = clients_cut(client)
    reader = wire.socket("DEALER", service.commands, rcvhwm=0, sndhwm=0)
    for _ in range(150):
        reader.send(frame)
    for _ in range(150):
        (answer,) = wire.receive(reader)
        assert len(answer) > 900_000 and answer.startswith(b'{"ok":true')
    assert clients_cut(client) == before


def test_what_a_client_did_not_read_is_not_given_to_the_next_of_its_name(wire, service, client):
    """Whoever numbers its requests from 1 in each run would take the answer to another command for its own."""
    client.batch(*[
        client.command("activity.start", type="T", attributes={}, contentState={"y": "y" * 3000}) for _ in range(100)])
    held = encode({"op": "activity.list", "app": client.app, "limit": 12})

    reads = 0

    def others():
        """How many commands of others were executed."""
        nonlocal reads
        reads += 1
        return client.read("service.stats")["stats"]["commands"]["taken"] - reads

    def run(req, **options):
        """A connection of that name with what it received first. One that comes too early is not taken by libzmq."""
        deadline = Deadline()
        while not deadline.passed:
            socket = wire.socket("DEALER", service.commands, routing_id=b"worker-1", **options)
            socket.send(encode({"op": "service.ping", "req": req}))
            try:
                return socket, [json.loads(frame) for frame in wire.receive(socket, 0.5)]
            except Silence:
                socket.close()
        raise Silence("no connection of that name was taken")

    for number in range(5):
        lazy, _ = run("first", rcvhwm=1, rcvbuf=4096, sndhwm=0)
        before = others()
        for _ in range(1_400):
            lazy.send(held)
        deadline = Deadline()
        while others() < before + 1_400:
            assert not deadline.passed, "not all of its commands were executed"
        lazy.close()
        # Where the service tries its full pipe again, it may find that of the next one.
        time.sleep(0.005 * (number % 2))
        following, answer = run("r-1")
        assert [each.get("req") for each in answer] == ["r-1"]
        following.close()


def test_the_answer_of_a_connection_that_ended_before_its_commit_is_not_given_to_the_next_of_its_name(
        wire, serve, tmp_path):
    """A client is started again while the disk is slow, and numbers its requests from 1 in each run."""
    service = serve({"--clock": "system", "--http": "127.0.0.1:0", "--store": None, "--data": tmp_path / "data"})
    pages, client = Pages(service.http), Commands(wire, service.commands)
    id = client.start(key="k")["id"]

    def figure(name):
        """The sum over its labels."""
        page = pages.get("/metrics").body.decode()
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", page, re.MULTILINE))

    def taken(socket, *commands):
        """Whether a socket's commands were executed; one that comes before the end of the one before is not taken by libzmq."""
        before = figure("islet_commands_total")
        for command in commands:
            socket.send(encode({"app": client.app, "req": "r-1", **command}))
        deadline = Deadline(2)
        while (count := figure("islet_commands_total") - before) < len(commands) and not deadline.passed:
            time.sleep(0.001)
        return count == len(commands)

    def run(*commands):
        """A connection of that name which has sent them."""
        while not taken(socket := wire.socket("DEALER", service.commands, routing_id=b"worker-1"), *commands):
            socket.close()
        return socket

    def update(number):
        return {"op": "activity.update", "id": id, "contentState": {"n": number}}

    for number in range(3):
        before = figure("islet_connections")
        locks = [
            sqlite3.connect(file, isolation_level=None, timeout=DEADLINE) for file in (tmp_path / "data").glob("*.db")]
        try:
            for lock in locks:
                lock.execute("BEGIN IMMEDIATE")
            former = run(update(2 * number))
            until(lambda: figure("islet_commit_age_seconds") > 0)
            # Goes into the batch behind the one that is being committed, as what the next run asks does.
            assert taken(former, update(2 * number + 1))
            former.close()
            until(lambda: figure("islet_connections") == before)
            following = run({"op": "activity.end", "id": MISSING})
        finally:
            for lock in locks:
                lock.close()
        [answer] = map(json.loads, wire.receive(following))
        assert (answer["req"], answer["ok"], answer.get("error", {}).get("code")) == ("r-1", False, "notFound"), answer
        following.send(encode({"op": "service.ping", "req": "r-2"}))
        assert [json.loads(frame)["req"] for frame in wire.receive(following)] == ["r-2"]
        following.close()
        until(lambda: figure("islet_connections") == before)
        assert client.get(id)["contentState"] == {"n": 2 * number + 1}


def test_a_batch_of_large_lists_is_answered_as_far_as_it_is_reasonable(wire, service, client):
    """256 lists of a mebibyte each in one message, many times over: nobody else waits for them."""
    for _ in range(5):
        client.batch(*[
            client.command("activity.start", type="T", attributes={"x": "y" * 2000}, contentState={"x": "y" * 2000})
            for _ in range(50)])
    greedy = Commands(wire, service.commands, client.app)
    lists = [greedy.command("activity.list", limit=1000) for _ in range(256)]
    for _ in range(8):
        greedy.send(*lists)
    for _ in range(50):
        assert client.read("service.ping")
    answers = greedy.receive()
    assert len(answers) == 256
    assert answers[0]["total"] == 250
    assert {answer["error"]["code"] for answer in answers if not answer["ok"]} == {"busy"}
    assert service.resident < 1_000_000_000


def test_many_clients_come_and_go(wire, service, client):
    for _ in range(10):
        crowd = [Commands(wire, service.commands) for _ in range(50)]
        for each in crowd:
            each.send({"op": "service.ping", "req": "x"})
        for each in crowd:
            assert each.receive()[0]["ok"]
            each.socket.close()
        wire.sockets = [s for s in wire.sockets if not s.closed]
    assert client.read("service.ping")


def test_clients_that_leave_without_their_answers_lose_nothing_that_was_accepted(wire, service, client):
    for number in range(50):
        leaver = Commands(wire, service.commands, client.app)
        leaver.start(key=f"k{number}")
        leaver.send(leaver.command("activity.update", key=f"k{number}", contentState={"n": number}))
        leaver.socket.close(linger=1000)
    assert client.read("activity.list")["total"] == 50


def test_what_a_subscriber_sends_is_not_read_as_anything_else(wire, service, client):
    """An XPUB hears messages from its subscribers: they are none of its business."""
    talker = wire.socket("XSUB", service.events)
    for message in (b"\x01", b"\x00never-subscribed", b"\x02hello", b"\x01\xffjoin/", b"\x01" + b"x" * 240, b""):
        talker.send(message)
    assert client.read("service.ping")


def test_a_thousand_subscriptions_of_one_peer_are_served(wire, service, client):
    events = Events(wire, service.events, *[f"com.example.app{number}/" for number in range(990)])
    events.join()
    client.start(app="com.example.app989")
    assert events.next("started")["seq"] == 1


def test_subscriptions_of_connections_that_ended_at_once_count_for_nobody(wire, serve):
    """All that there may be at a time are shared, and what nobody holds would be missing for good."""
    service = serve({"--clock": "manual", "--http": "127.0.0.1:0"})
    pages = Pages(service.http)
    topics = b"".join(b"\x00\x40\x01" + b"%04d" % number + b"x" * 59 for number in range(200))
    for _ in range(10):
        with connect(service.events) as raw:
            raw.sendall(GREETING + ready(b"SUB"))
            raw.settimeout(5)
            raw.recv(64)
            raw.sendall(topics)
    events = Events(wire, service.events, "com.example.pizza/")
    events.join()
    deadline = Deadline()
    while (count := subscriptions(pages)) > 2:
        assert not deadline.passed, count


def subscriptions(pages):
    text = pages.get("/metrics").body.decode()
    return int(next(line for line in text.splitlines() if line.startswith("islet_subscriptions ")).split()[1])


def test_a_foreign_socket_type_is_not_served(wire, service, client):
    stranger = wire.socket("SUB", service.commands)
    stranger.setsockopt(wire.zmq.SUBSCRIBE, b"")
    with pytest.raises(Silence):
        wire.receive(stranger, seconds=0.2)
    assert client.read("service.ping")

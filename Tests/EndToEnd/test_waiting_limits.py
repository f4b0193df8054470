"""What waits or is remembered for a connection: it has a share, others have theirs, and all is given back when it goes."""

import itertools
import json
import os
import secrets
import time

import pytest

from support.bulk import Bulk
from support.commands import Commands, encode
from support.dates import HOUR, after
from support.provider import TORCH, RawProvider, toggle
from support.wire import DEADLINE

APP = "com.example.pizza"


def waiting(client):
    return client.read("service.stats")["stats"]["waiting"]


def until(client, holds):
    """Reads until something holds, which comes about on another connection; before any read gives up, after a minute."""
    deadline = time.monotonic() + DEADLINE / 2
    while not holds(figures := waiting(client)):
        assert time.monotonic() < deadline, figures
    return figures


def counts(client, **expected):
    """Waits until so many of these kinds wait, and nothing of all others."""
    until(client, lambda figures: {kind: found["count"] for kind, found in figures.items() if found["count"]} == {
        kind: count for kind, count in expected.items() if count})


def test_nothing_waits_for_commands_that_are_answered_at_once(client):
    client.start(key="a")
    client.applied("activity.update", key="a", contentState={"eta": 1})
    client.list()
    client.read("service.ping")
    assert {(found["count"], found["bytes"], found["refused"]) for found in waiting(client).values()} == {(0, 0, 0)}


def test_reads_of_connections_that_are_gone_wait_no_more(client, wire, service):
    id = client.start()["id"]
    peers = [Commands(wire, service.commands, APP) for _ in range(2)]
    for peer in peers:
        peer.send(*(peer.command("activity.get", id=id, minSeq=9, ttl=60_000) for _ in range(256)))
    counts(client, reads=512, answers=2)
    assert peers[0].refused("activity.get", id=id, minSeq=9)["code"] == "busy"
    figures = waiting(client)
    assert figures["reads"]["refused"] == 1 and figures["reads"]["bytes"] > 512 * 50
    waits = client.command("activity.get", id=id, minSeq=2, ttl=60_000)
    client.send(waits)
    until(client, lambda figures: figures["reads"]["count"] == 513)
    peers[0].socket.close(linger=0)
    counts(client, reads=257, answers=2)
    peers[1].socket.close(linger=0)
    counts(client, reads=1, answers=1)
    client.applied("activity.update", id=id, contentState={"eta": 1})
    [answer] = client.answer_to(waits["req"])
    assert answer["ok"]
    counts(client)


@pytest.mark.parametrize("count", [0, 1, 4, 5])
def test_a_connection_has_four_pulls_and_its_end_gives_them_back(client, wire, service, count):
    for number in range(3):
        client.start(key=f"{number}", contentState={"text": "x" * 3_900})
    puller, other = Bulk(wire, service.bulk, APP), Bulk(wire, service.bulk, APP)
    for number in range(count):
        # One chunk, and no credit for the end of the filtered ones.
        puller.send("snapshot", app=APP, prefix=f"{APP}/activity/", credit=1)
    answers = [puller.chunk()[0] for _ in range(count)]
    assert [answer["error"]["code"] for answer in answers if "error" in answer] == ["tooMany"] * (count - min(count, 4))
    until(client, lambda figures: figures["pulls"]["count"] == min(count, 4))
    assert other.pull("snapshot").end["entities"] == 3
    puller.socket.close(linger=0)
    counts(client)


@pytest.mark.parametrize("count", [1, 8, 9])
def test_a_connection_has_eight_digests_at_a_time(client, wire, service, count):
    client.start()
    puller, other = Bulk(wire, service.bulk, APP), Bulk(wire, service.bulk, APP)
    # What was refused leaves nothing behind, so it goes on like this for longer than there is room.
    for _ in range(17):
        # Those of one message begin in one turn, and none ends before all have begun.
        puller.socket.send_multipart(
            [encode({"op": "bulk.digest", "req": f"d-{number}", "app": APP}) for number in range(count)])
        answers = [json.loads(frame) for frame in wire.receive(puller.socket)]
        assert len(answers) == count
        assert sum(answer.get("entities", 0) for answer in answers) == min(count, 8)
        refused = [answer["error"]["code"] for answer in answers if "error" in answer]
        assert refused == ["busy"] * (count - min(count, 8))
    other.send("digest", app=APP)
    assert other.chunk()[0]["entities"] == 1
    counts(client)


def test_a_turn_looks_at_so_many_slots_for_lists_that_are_answered_in_it(client):
    """Those beyond take more than one turn, and of these a connection has 64."""
    count, slots = 256, 3_000
    for first in range(0, slots, 250):
        client.batch(*(
            client.command("activity.start", type="T", attributes={}, contentState={}, startDate=after(HOUR),
                           alert={"title": "t"}) for _ in range(first, first + 250)))
    for op, fields in (("activity.list", {"state": "stale"}), ("timer.list", {"app": client.app})):
        answers = client.batch(*(client.command(op, limit=1, **fields) for _ in range(count)))
        codes = [answer["error"]["code"] for answer in answers if "error" in answer]
        assert codes == ["busy"] * (count - 524_288 // slots - 64), codes
        assert client.read(op, limit=1, **fields)["exact"]


def test_questions_of_connections_that_are_gone_wait_no_more(client, wire, service):
    RawProvider(wire, service.commands, toggle(parameters=[
        {"name": "room", "type": "entity", "isOptional": True, "dynamicOptions": True}]))
    peers = [Commands(wire, service.commands, APP) for _ in range(2)]
    for peer in peers:
        peer.send(*(peer.command("control.options", kind=TORCH, parameter="room", ttl=60_000) for _ in range(3)))
    counts(client, questions=6, answers=2)
    for peer in peers:
        peer.socket.close(linger=0)
    counts(client)


def test_messages_that_wait_for_the_clock_are_counted_and_have_a_share(wire, serve):
    service = serve({"--clock": "manual"})
    home, client, greedy, other = (Commands(wire, service.commands, APP) for _ in range(4))
    provider = RawProvider(wire, service.commands, toggle())
    # The clock stands where a provider is called, until that has answered.
    home.applied("control.add", kind=TORCH)
    call = provider.call()
    travel = home.command("clock.advance", by=10)
    home.send(travel)
    probes = itertools.count()

    def ping(peer):
        command = peer.command("service.ping", req=f"p-{next(probes)}")
        peer.send(command)
        return command["req"]

    home.silent()
    sent = [ping(greedy) for _ in range(513)]
    [refused] = greedy.answer_to(sent[-1])
    assert refused["error"]["code"] == "busy" and refused["error"]["retry"] == "later"
    late = ping(other)
    other.silent()
    provider.answer(call, True)
    assert other.answer_to(late)[0]["ok"] and home.answer_to(travel["req"])[0]["ok"]
    assert all(greedy.answer_to(req)[0]["ok"] for req in sent[:-1])
    counts(client)
    assert waiting(client)["messages"]["refused"] == 1


def test_a_message_of_too_many_frames_that_may_not_wait_is_refused_as_a_whole(wire, serve):
    service = serve({"--clock": "manual"})
    home, greedy = (Commands(wire, service.commands, APP) for _ in range(2))
    provider = RawProvider(wire, service.commands, toggle())
    home.applied("control.add", kind=TORCH)
    call = provider.call()
    home.send(home.command("clock.advance", by=10))
    home.silent()
    for number in range(512):
        greedy.send(greedy.command("service.ping", req=f"p-{number}"))
    greedy.send(*(greedy.command("service.ping", req=f"m-{number}") for number in range(300)))
    answer = [json.loads(frame) for frame in wire.receive(greedy.socket)]
    assert [(each.get("req"), each["error"]["code"]) for each in answer] == [(None, "badMessage")]
    provider.answer(call, True)
    assert all(greedy.answer_to(f"p-{number}")[0]["ok"] for number in range(512))


def test_what_waited_for_the_clock_is_executed_in_the_order_in_which_it_came(wire, serve):
    """Over several turns, and what comes meanwhile is executed behind it."""
    service = serve({"--clock": "manual"})
    home, other = (Commands(wire, service.commands, APP) for _ in range(2))
    provider = RawProvider(wire, service.commands, toggle())
    id = home.start()["id"]
    home.applied("control.add", kind=TORCH)
    call = provider.call()
    travel = home.command("clock.advance", by=10)
    home.send(travel)
    home.silent()
    updates = [[home.command("activity.update", id=id, contentState={"n": 100 * part + n}) for n in range(100)]
               for part in range(8)]
    for part in updates:
        home.send(*part)
    until_waiting = other.command("service.ping")
    other.send(until_waiting)
    other.silent()
    provider.answer(call, True)
    home.answer_to(travel["req"])
    last = home.applied("activity.update", id=id, contentState={"n": "last"})["activity"]["revision"]
    answers = [answer for part in updates for answer in home.answer_to(part[0]["req"])]
    assert [answer["activity"]["revision"] for answer in answers] == list(range(2, 802)) and last == 802
    assert other.answer_to(until_waiting["req"])[0]["ok"]
    counts(home)


def test_commands_of_a_connection_that_is_gone_are_executed_when_the_clock_has_arrived(wire, serve):
    service = serve({"--clock": "manual"})
    home, leaving = (Commands(wire, service.commands, APP) for _ in range(2))
    provider = RawProvider(wire, service.commands, toggle())
    home.applied("control.add", kind=TORCH)
    call = provider.call()
    travel = home.command("clock.advance", by=10)
    home.send(travel)
    home.silent()
    leaving.send(leaving.command("activity.start", type="T", attributes={}, contentState={}, key="left"))
    leaving.socket.close(linger=5_000)
    provider.answer(call, True)
    home.answer_to(travel["req"])
    deadline = time.monotonic() + DEADLINE
    while not home.list():
        assert time.monotonic() < deadline
    counts(home)


def test_reports_are_forgotten_with_the_connection_that_made_them(client, wire, service):
    client.start()
    reporter = Commands(wire, service.commands, APP)
    for _ in range(3):
        reporter.send(reporter.command("stream.applied", nonce=secrets.token_hex(16), apps={APP: {"seq": 1}}))
    counts(client, reports=3)
    assert client.read("service.stats")["stats"]["subscribers"]["reporting"] == 3
    reporter.socket.close(linger=0)
    counts(client)
    assert client.read("service.stats")["stats"]["subscribers"]["reporting"] == 0


def test_a_report_that_another_connection_brought_up_to_date_is_forgotten_with_that_one(client, wire, service):
    client.start()
    first, second = (Commands(wire, service.commands, APP) for _ in range(2))
    nonces = [secrets.token_hex(16) for _ in range(3)]
    for reporter, nonce in ((first, nonces[0]), (first, nonces[1]), (second, nonces[1]), (second, nonces[2])):
        reporter.send(reporter.command("stream.applied", nonce=nonce, apps={APP: {"seq": 1}}))
        reporter.read("service.ping")
    counts(client, reports=3)
    first.socket.close(linger=0)
    counts(client, reports=2)
    assert {row["nonce"] for row in client.read("subscriber.list", app=None)["subscribers"]} == set(nonces[1:])
    second.socket.close(linger=0)
    counts(client)


def test_large_answers_that_wait_for_one_of_their_message_have_a_share(client, wire, service):
    """32 MiB of one connection, and one message more, as its commands are executed already."""
    id = client.start()["id"]
    client.batch(*(client.command("activity.update", id=id, contentState={"n": number, "text": "x" * 3_900})
                   for number in range(255)))
    greedy = Commands(wire, service.commands, APP)
    for _ in range(3):
        greedy.send(
            greedy.command("activity.get", id=id, minSeq=10**6, ttl=60_000),
            *(greedy.command("activity.history", id=id) for _ in range(16)))
    assert greedy.refused("activity.get", id=id, minSeq=10**6, ttl=60_000)["code"] == "busy"
    figures = waiting(client)["answers"]
    assert figures["count"] == 3 and figures["refused"] == 1 and 32 << 20 <= figures["bytes"] <= 48 << 20
    waits = client.command("activity.get", id=id, minSeq=257, ttl=60_000)
    client.send(waits)
    counts(client, reads=4, answers=4)
    client.applied("activity.update", id=id, contentState={"eta": 1})
    assert client.answer_to(waits["req"])[0]["ok"]
    greedy.socket.close(linger=0)
    counts(client)


def files(service):
    """How many files the process has open, each connection among them."""
    return len(os.listdir(f"/proc/{service.process.pid}/fd"))


def closed(service, socket):
    """Closes a connection, and waits until the service has closed it, too."""
    before = files(service)
    socket.close(linger=0)
    deadline = time.monotonic() + DEADLINE
    while files(service) >= before:
        assert time.monotonic() < deadline


def test_a_message_that_waits_for_the_clock_holds_nothing_once_its_peer_has_gone(wire, serve):
    service = serve({"--clock": "manual"})
    client, leaver = (Commands(wire, service.commands, APP) for _ in range(2))
    provider = RawProvider(wire, service.commands, toggle())
    client.applied("control.add", kind=TORCH)
    call = provider.call()
    leaver.send(
        leaver.command("activity.list", minSeq=10**9, ttl=60_000), leaver.command("clock.advance", by=10),
        leaver.command("activity.start", key="late", type="T", attributes={}, contentState={}))
    leaver.silent()
    closed(service, leaver.socket)
    provider.answer(call, True)
    counts(client)
    assert client.get(key="late")["state"] == "active", "its commands are executed all the same"


def test_a_read_waits_on_though_another_connection_ends(wire, serve):
    service = serve({"--clock": "manual"})
    client, first, reader = (Commands(wire, service.commands, APP) for _ in range(3))
    provider = RawProvider(wire, service.commands, toggle())
    client.applied("control.add", kind=TORCH)
    call = provider.call()
    other = Bulk(wire, service.bulk, APP)
    assert other.digest()["entities"] == 1
    first.send(first.command("clock.advance", by=1))
    first.silent()
    step = reader.command("clock.advance", by=60_000)
    reader.send(step)
    reader.silent()
    # The reader's step begins now, and stops where the control asks again.
    provider.fail(call)
    call = provider.call()
    other.send("credit", credit=1)
    reader.silent()
    provider.answer(call, True)
    assert reader.answer_to(step["req"])[0]["ok"]
    waits = reader.command("activity.list", minSeq=9, ttl=60_000)
    reader.send(waits)
    counts(client, reads=1, answers=1)
    closed(service, other.socket)
    counts(client, reads=1, answers=1)
    for number in range(9):
        client.start(key=f"{number}")
    assert reader.answer_to(waits["req"])[0]["ok"]
    counts(client)

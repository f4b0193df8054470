"""Snapshots, replays and digests, pulled with credit."""

import json
import re
import time

import pytest

from support.bulk import Bulk
from support.commands import Commands
from support.digest import digest
from support.events import Events
from support.followed import as_followed
from support.replica import Replica
from support.service import ROOT
from support.wire import Deadline, Silence


def fill(client, count, **fields):
    """Starts so many activities, in batches; gives their ids."""
    ids = []
    for begin in range(0, count, 256):
        commands = [
            client.command("activity.start", **{"type": "T", "attributes": {}, "contentState": {"n": number}, **fields})
            for number in range(begin, min(begin + 256, count))]
        ids += [answer["activity"]["id"] for answer in client.batch(*commands)]
    return ids


def revisions(rows):
    return {topic: json.loads(body)["activity"]["revision"] for topic, body in rows}


# Snapshots


def test_a_snapshot_holds_every_listed_activity_whole(client, bulk):
    ids = fill(client, 3)
    client.applied("activity.end", id=ids[1])
    client.applied("activity.dismiss", id=ids[2])
    pulled = bulk.snapshot()
    entities = {topic: json.loads(body)["activity"] for topic, body in pulled.rows}
    assert entities == {f"{client.app}/activity/T/{id}": as_followed(client.get(id)) for id in ids[:2]}
    assert pulled.headers[0]["fromSeq"] == 5
    end = pulled.end
    assert (end["end"], end["seq"], end["entities"]) == (True, 5, 2)
    assert end["digest"] == digest(revisions(pulled.rows))
    assert end["epoch"]


def test_a_snapshot_of_nothing_is_one_empty_chunk(bulk):
    pulled = bulk.snapshot()
    assert pulled.rows == []
    assert (pulled.end["end"], pulled.end["entities"], pulled.end["digest"]) == (True, 0, "0" * 16)


def test_chunks_have_at_most_256_rows_and_256_kib(client, wire, service, bulk):
    fill(client, 1000, attributes={"a": "x" * 2000})
    req = bulk.send("snapshot", app=client.app, credit=16)
    sizes, numbers = [], []
    while True:
        header, rows = bulk.chunk()
        assert header["req"] == req
        assert header["rows"] == len(rows) <= 256
        assert sum(len(topic) + len(body) for topic, body in rows) <= 256 * 1024
        numbers.append(header["chunk"])
        sizes.append(len(rows))
        if header.get("end"):
            break
        bulk.send("credit", req=req, credit=1)
    assert sum(sizes) == 1000
    assert numbers in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


def test_a_snapshot_may_be_of_a_prefix(client, bulk):
    fill(client, 3, type="Ride")
    order = fill(client, 1, type="Delivery")[0]
    pulled = bulk.snapshot(prefix=f"{client.app}/activity/Delivery/")
    assert [topic for topic, _ in pulled.rows] == [f"{client.app}/activity/Delivery/{order}"]
    assert (pulled.end["entities"], pulled.end["digest"]) == (1, digest(revisions(pulled.rows)))


def test_a_snapshot_while_updates_run_is_right_at_its_end(client, wire, service):
    """The fuzzy snapshot: rows of different moments, made one state by the events after `fromSeq`."""
    ids = fill(client, 2000)
    events = Events(wire, service.events, client.app + "/")
    events.join()
    writer, bulk = Commands(wire, service.commands, client.app), Bulk(wire, service.bulk, client.app)
    writer_sent = writer_seen = 0

    def write(count):
        nonlocal writer_sent
        for _ in range(count):
            number = writer_sent
            if number % 10 == 3:
                command = writer.command("activity.start", type="T", attributes={}, contentState={"n": -number})
            elif number % 10 == 7:
                command = writer.command("activity.dismiss", id=ids[(number * 7919) % 2000])
            else:
                command = writer.command("activity.update", id=ids[(number * 7919) % 2000], contentState={"v": number})
            writer.send(command)
            writer_sent += 1

    req = bulk.send("snapshot", app=client.app, credit=1)
    headers, rows = [], []
    while True:
        write(60)
        header, chunk = bulk.chunk()
        assert "error" not in header, header
        headers.append(header)
        rows += chunk
        if header.get("end"):
            break
        write(60)
        bulk.send("credit", req=req, credit=1)
    write(60)  # so that there is a watermark beyond the snapshot
    while writer_seen < writer_sent:
        assert writer.receive()[0]["ok"]
        writer_seen += 1

    begin, end = headers[0]["fromSeq"], headers[-1]["seq"]
    assert end > begin, "nothing happened meanwhile, so this shows nothing"
    replica = Replica(begin)
    replica.load(rows)
    while replica.seq < end:
        topic, event, _ = events.raw_next()
        replica.apply(topic, event)
    assert len(replica.entities) == headers[-1]["entities"]
    assert replica.digest == headers[-1]["digest"]

    mark = events.watermark(lambda mark: mark["seq"] > end)
    while replica.seq < mark["seq"]:
        topic, event, _ = events.raw_next()
        replica.apply(topic, event)
    assert (len(replica.entities), replica.digest) == (mark["entities"], mark["digest"])
    some = next(iter(replica.entities.values()))
    whole = client.get(some["id"])
    assert {k: v for k, v in some.items() if v is not None} == {k: v for k, v in as_followed(whole).items() if v is not None}


# Replays


def test_a_replay_gives_the_very_bytes_of_the_events(client, events, bulk):
    for id in fill(client, 300):
        client.send(client.command("activity.update", id=id, contentState={"v": 1}, ack="none"))
    live = [events.raw_next() for _ in range(600)]
    pulled = bulk.replay(0)
    assert [(topic, body) for topic, body in pulled.rows] == [(topic, body) for topic, _, body in live]
    assert (pulled.end["end"], pulled.end["seq"]) == (True, 600)
    assert [json.loads(body)["seq"] for _, body in bulk.replay(590).rows] == list(range(591, 601))


def test_a_replay_from_the_present_is_empty(client, bulk):
    fill(client, 3)
    pulled = bulk.replay(3)
    assert pulled.rows == [] and pulled.end["end"] and pulled.end["seq"] == 3


def test_a_replay_from_the_future_is_refused_or_empty(client, bulk):
    fill(client, 3)
    pulled = bulk.replay(99)
    assert pulled.rows == []
    assert pulled.end.get("end") or pulled.end["error"]["code"] in ("badField", "tooOld")


def test_a_replay_from_before_what_is_kept_names_the_oldest(client, bulk):
    """The ring is bounded, and alerts of 60 KB fill it soon."""
    id = fill(client, 1)[0]
    alert = {"title": "x" * 60_000, "body": ""}
    last = 1
    while "error" not in bulk.replay(0, credit=1, first=1).end:
        assert last < 20_000, "more than a gigabyte of events is kept"
        for _ in range(250):
            last += 1
            client.send(client.command("activity.update", id=id, contentState={"v": last}, alert=alert, ack="none"))
        client.read("service.ping")
    error = bulk.replay(0).end["error"]
    assert error["code"] == "tooOld"
    oldest = error["detail"]["oldest"]
    assert 1 < oldest < last
    kept = bulk.replay(oldest - 1, first=1)
    assert json.loads(kept.rows[0][1])["seq"] == oldest


def test_a_gap_is_repaired_by_a_replay(client, wire, service, bulk, events):
    ids = fill(client, 50)
    replica = Replica()
    for position in range(50):
        topic, event, _ = events.raw_next()
        replica.apply(topic, event)
    for id in ids:
        client.applied("activity.update", id=id, contentState={"v": 1})
    for _ in range(20):
        events.raw_next()  # lost
    client.applied("activity.dismiss", id=ids[0])
    topic, event, _ = events.raw_next()
    with pytest.raises(Exception, match="have 50, got 71"):
        replica.apply(topic, event)
    for topic, body in bulk.replay(replica.seq).rows:
        replica.apply(topic, json.loads(body))
    assert replica.seq == 101
    assert replica.digest == bulk.digest()["digest"]


# Digests


def test_a_digest_is_over_an_app_or_over_a_prefix(client, bulk):
    fill(client, 3, type="Ride")
    ids = fill(client, 2, type="Delivery")
    client.applied("activity.update", id=ids[0], contentState={"v": 2})
    rows = revisions(bulk.snapshot().rows)
    whole = bulk.digest()
    assert (whole["seq"], whole["entities"], whole["digest"]) == (6, 5, digest(rows))
    assert whole["epoch"]
    prefix = f"{client.app}/activity/Delivery/"
    some = {topic: revision for topic, revision in rows.items() if topic.startswith(prefix)}
    part = bulk.digest(prefix=prefix)
    assert (part["seq"], part["entities"], part["digest"]) == (6, 2, digest(some))
    nothing = bulk.digest(prefix=f"{client.app}/activity/Nothing/")
    assert (nothing["entities"], nothing["digest"]) == (0, "0" * 16)


# Credit


def test_a_digest_is_made_as_the_contract_notes_say(client, bulk):
    """The Python in `proto-json/README.md`, under "Copies"."""
    [block] = re.findall(r"^```python\n(.*?)^```$", (ROOT / "proto-json/README.md").read_text(), re.MULTILINE | re.DOTALL)
    made = {}
    exec(block, made)
    kept, gone = client.start(key="a"), client.start(key="b")
    client.applied("activity.update", key="a", contentState={"eta": 1})
    client.applied("activity.dismiss", id=gone["id"])
    assert made["digest"]({}) == bulk.digest(prefix="com.example.pizza/control/")["digest"]
    assert made["digest"]({f"com.example.pizza/activity/Delivery/{kept['id']}": 2}) == bulk.digest()["digest"]


def test_no_chunk_comes_without_credit(client, bulk):
    fill(client, 1000)
    req = bulk.send("snapshot", app=client.app, credit=1)
    header, _ = bulk.chunk()
    assert not header.get("end")
    with pytest.raises(Silence):
        bulk.chunk(seconds=0.3)
    bulk.send("credit", req=req, credit=2)
    bulk.chunk()
    header, _ = bulk.chunk()
    if not header.get("end"):
        with pytest.raises(Silence):
            bulk.chunk(seconds=0.3)


def test_credit_for_a_pull_that_is_over_is_passed_over(client, bulk):
    """Its last chunk and the credit may meet on the way."""
    pulled = bulk.snapshot()
    bulk.send("credit", req=pulled.end["req"], credit=1)
    bulk.send("cancel", req=pulled.end["req"])
    with pytest.raises(Silence):
        bulk.chunk(seconds=0.2)


def test_a_pull_can_be_cancelled(client, bulk):
    fill(client, 1000)
    req = bulk.send("snapshot", app=client.app, credit=1)
    bulk.chunk()
    bulk.send("cancel", req=req)
    bulk.send("credit", req=req, credit=4)
    while True:
        try:
            header, rows = bulk.chunk(seconds=0.3)
        except Silence:
            break
        assert not rows, "rows after the cancellation"
    assert bulk.snapshot().end["entities"] == 1000


@pytest.mark.parametrize("credit", [0, 17, -1])
def test_credit_is_between_1_and_16(client, bulk, credit):
    bulk.send("snapshot", app=client.app, credit=credit)
    header, _ = bulk.chunk()
    assert header["error"]["code"] == "badField"
    assert header["error"]["detail"]["field"] == "credit"


def test_a_peer_may_have_four_pulls_and_not_five(client, bulk):
    fill(client, 2000)
    reqs = [bulk.send("snapshot", app=client.app, credit=1) for _ in range(5)]
    headers = {}
    while len(headers) < 5:
        header, _ = bulk.chunk()
        headers[header["req"]] = header
    refused = [req for req in reqs if "error" in headers[req]]
    assert refused == reqs[4:]
    assert headers[reqs[4]]["error"]["code"] in ("busy", "tooMany")
    bulk.send("cancel", req=reqs[0])
    assert bulk.digest()["entities"] == 2000


def test_sixteen_pulls_run_in_all(client, wire, service):
    fill(client, 2000)
    peers = [Bulk(wire, service.bulk, client.app) for _ in range(5)]
    answered = []
    for peer in peers:
        for _ in range(4):
            peer.send("snapshot", app=client.app, credit=1)
        answered += [peer.chunk()[0] for _ in range(4)]
    refused = [header for header in answered if "error" in header]
    assert len(refused) == 4
    assert {header["error"]["code"] for header in refused} <= {"busy", "tooMany"}


def test_clients_that_vanish_hold_their_pulls_no_longer_than_others_can_wait(client, wire, service):
    fill(client, 2000)
    for _ in range(4):
        gone = Bulk(wire, service.bulk, client.app)
        for _ in range(4):
            gone.send("snapshot", app=client.app, prefix=f"{client.app}/activity/", credit=1)
        for _ in range(4):
            assert "error" not in gone.chunk()[0]
        gone.socket.close(linger=0)
    bulk = Bulk(wire, service.bulk, client.app)
    deadline = Deadline(20)  # of 30 s after which such pulls end by themselves
    while "error" in (pulled := bulk.snapshot(prefix=f"{client.app}/activity/")).end:
        assert pulled.end["error"]["code"] == "busy" and not deadline.passed
        time.sleep(0.05)
    assert pulled.end["entities"] == len(pulled.rows) == 2000


def test_a_pull_that_gave_way_says_so_to_a_client_that_is_there(client, wire, service):
    fill(client, 2000)
    slow, bulk = Bulk(wire, service.bulk, client.app), Bulk(wire, service.bulk, client.app)
    waiting = {slow.send("snapshot", app=client.app, credit=1) for _ in range(4)}
    for peer in (Bulk(wire, service.bulk, client.app) for _ in range(3)):
        for _ in range(4):
            peer.send("snapshot", app=client.app, credit=1)
        for _ in range(4):
            peer.chunk()
    assert {slow.chunk()[0]["req"] for _ in range(4)} == waiting
    deadline = Deadline(20)
    while "error" in bulk.snapshot().end:
        assert not deadline.passed
        time.sleep(0.05)
    header, _ = slow.chunk()
    assert header["req"] in waiting and header["error"]["code"] == "busy"


def test_answers_come_while_as_many_pulls_as_there_may_be_are_under_way(client, wire, service):
    fill(client, 4000, attributes={"a": "x" * 2000})
    peers = [Bulk(wire, service.bulk, client.app) for _ in range(4)]
    for peer in peers:
        for _ in range(4):
            peer.send("snapshot", app=client.app, credit=16)
    for _ in range(50):
        client.read("service.ping")
    for peer in peers:  # none had come to its end: there was more to send than credit for it
        headers = [peer.chunk()[0] for _ in range(4 * 16)]
        assert not any(header.get("end") or "error" in header for header in headers)
        assert len({header["req"] for header in headers}) == 4


def test_what_the_commands_of_one_bulk_message_answer_is_one_message_in_their_order(client, bulk):
    fill(client, 3)
    digests = [{"op": "bulk.digest", "req": f"d{number}", "app": client.app, "prefix": prefix}
               for number, prefix in enumerate(["", f"{client.app}/activity/U/", f"{client.app}/activity/T/"])]
    bad = {"op": "bulk.digest", "req": "d3"}
    pull = {"op": "bulk.snapshot", "req": "s", "app": client.app, "credit": 1}
    unknown = {"op": "bulk.digest", "req": "d4", "app": "com.example.nobody"}
    bulk.socket.send_multipart([json.dumps(each).encode() for each in (*digests, bad, pull, unknown)])
    messages = [bulk.wire.receive(bulk.socket) for _ in range(2)]
    [answers] = [list(map(json.loads, message)) for message in messages if b'"chunk"' not in message[0]]
    assert [answer["req"] for answer in answers] == ["d0", "d1", "d2", "d3", "d4"]
    assert [answer.get("entities") for answer in answers] == [3, 0, 3, None, 0]
    assert answers[3]["error"]["code"] == "missingField"


def test_bulk_commands_that_want_no_answer_get_none(client, bulk):
    fill(client, 1)
    silent = [{"op": "bulk.digest", "app": client.app, "ack": "none"}, {"op": "bulk.digest", "ack": "none"},
              {"op": "service.ping", "ack": "none"}]
    bulk.socket.send_multipart([json.dumps(each).encode() for each in silent])
    bulk.socket.send_multipart([json.dumps(each).encode() for each in (silent[0], {
        "op": "bulk.digest", "req": "heard", "app": client.app})])
    [frame] = bulk.wire.receive(bulk.socket)
    assert json.loads(frame)["req"] == "heard"
    end = bulk.snapshot(ack="none").end
    assert end["end"] and end["entities"] == 1, "chunks are no answers"


def test_commands_do_not_belong_on_the_bulk_endpoint(wire, service, client):
    misled = Commands(wire, service.bulk)
    error = misled.refused("activity.start", type="T", attributes={}, contentState={})
    assert error["code"] in ("unavailable", "unknownOp", "badMessage")
    assert client.list() == []


def test_a_snapshot_of_a_bad_app_or_prefix_names_the_field(client, bulk):
    bulk.send("snapshot", app="no spaces", credit=1)
    assert bulk.chunk()[0]["error"]["detail"]["field"] == "app"
    bulk.send("replay", app=client.app, credit=1)
    header, _ = bulk.chunk()
    assert (header["error"]["code"], header["error"]["detail"]["field"]) == ("missingField", "from")


def test_others_are_answered_while_a_long_bulk_message_goes_on(client, bulk):
    """Such a message is worth 16 turns; what is left of it is seen to wait, and its answers come in their order."""
    long = [json.dumps({"op": "bulk.digest", "req": f"d{number}", "app": client.app}).ljust(65_000).encode()
            for number in range(256)]
    for _ in range(20):
        bulk.socket.send_multipart(long)
        seen = 0
        while not bulk.socket.poll(0):
            seen = max(seen, client.read("service.stats")["stats"]["waiting"]["messages"]["count"])
        answers = [json.loads(frame) for frame in bulk.wire.receive(bulk.socket)]
        assert [answer["req"] for answer in answers] == [f"d{number}" for number in range(256)]
        assert all(answer["ok"] for answer in answers)
        if seen:
            return
    raise AssertionError("nobody was answered before the message was through")

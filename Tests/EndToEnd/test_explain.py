"""What `explain` and `history` show, and how much of it: the newest, of this life alone, in frames and messages with bounds."""

import json
import re
import uuid

from support.commands import START, Commands
from support.dates import HOUR
from support.durable import Durable
from support.schemas import CONTRACT

MIB = 1 << 20
MILLENNIUM = 1_000_000_000_000
"""A date in 2001, the earliest that is taken."""


def test_explain_tells_the_newest_thousand_decisions(client):
    id = client.start()["id"]
    for first in range(0, 1_200, 200):
        client.batch(*(client.command("activity.update", id=id, contentState={"n": n})
                       for n in range(first, first + 200)))
    decisions = client.read("activity.explain", id=id)["decisions"]
    assert [decision["revision"] for decision in decisions] == list(range(202, 1_202))


def test_what_was_dropped_is_told_until_so_many_more_were_decided(client):
    schema = json.loads((CONTRACT / "schemas/answers/explain.json").read_text())
    found = re.search(r"in memory alone: the newest ([\d,]+) decisions", schema["description"])
    assert found, "the schema says so"
    id = client.start()["id"]
    assert client.ignored("activity.update", id=id, contentState={}, timestamp=MILLENNIUM) == "olderTimestamp"
    busy = client.start()["id"]
    same = client.command("activity.update", id=busy, contentState=START["contentState"])
    left = int(found[1].replace(",", "")) - 3

    def told():
        return [decision["outcome"] for decision in client.read("activity.explain", id=id)["decisions"]]

    for first in range(0, left, 250):
        client.batch(*(same for _ in range(min(250, left - first))))
    assert told() == ["applied", "ignored"], "the newest of all are kept"
    client.batch(*(same for _ in range(2)))
    assert "ignored" not in told()


def test_many_large_explanations_in_one_message_stop_at_its_limit(client):
    id = client.start()["id"]
    for first in range(0, 1_100, 220):
        client.batch(*(client.command("activity.update", id=id, contentState={}, client=str(uuid.uuid4()),
                                      req=f"{'q' * 50}{n}") for n in range(first, first + 220)))
    client.send(*(client.command("activity.explain", id=id) for _ in range(128)))
    frames = client.wire.receive(client.socket, 60)
    assert len(frames) == 128
    assert sum(map(len, frames)) <= 16 * MIB and max(map(len, frames)) <= MIB
    answers = [json.loads(frame) for frame in frames]
    codes = {answer["error"]["code"] for answer in answers if not answer["ok"]}
    assert answers[0]["ok"] and codes == {"busy"}


def test_explain_begins_with_this_life_of_an_id(client, wire, service):
    """An id whose activity is forgotten may be used again, by another app too."""
    id = str(uuid.uuid4())
    for app in ("com.example.first", "com.example.second", "com.example.second"):
        peer = Commands(wire, service.commands, app)
        peer.start(id=id)
        peer.applied("activity.end", id=id, dismissalPolicy="immediate")
        told = peer.read("activity.explain", id=id)["decisions"]
        assert [decision.get("event") for decision in told] == [
            "activity.started", "activity.ended", "activity.dismissed"], (app, told)
        peer.advance(by=25 * HOUR)


def test_explain_does_not_tell_what_another_app_tried(client, wire, service):
    id = client.start()["id"]
    other = Commands(wire, service.commands, "com.example.other")
    stranger = {"type": "Delivery", "attributes": {}, "contentState": {}, "id": id}
    assert other.refused("activity.start", **stranger)["code"] == "reconnectNotPermitted"
    assert client.refused("activity.start", **stranger)["code"] == "reconnectNotPermitted"
    told = client.read("activity.explain", id=id)["decisions"]
    assert [decision["outcome"] for decision in told] == ["applied", "refused"], "its own app's attempt is told"


def fill(client, id, first, count):
    for n in range(first, first + count):
        client.applied("activity.update", id=id, contentState={"n": n, "x": "x" * 3_800})


def test_a_history_from_memory_and_from_files_is_one_frame_of_a_mebibyte(wire, tmp_path):
    durable = Durable(wire, tmp_path).start()
    try:
        id = durable.client.start()["id"]
        fill(durable.client, id, 0, 250)
        durable.stop().start()
        fill(durable.client, id, 250, 150)
        client = durable.client
        client.send(client.command("activity.history", id=id))
        [frame] = wire.receive(client.socket, 60)
        assert len(frame) <= MIB
        answer = json.loads(frame)
        revisions = [event["activity"]["revision"] for event in answer["events"]]
        assert revisions == list(range(answer["sinceRevision"], 402)) and len(revisions) > 200
        assert answer["complete"] is False
        durable.stop()
    finally:
        durable.service.kill()


def test_histories_from_files_stop_at_the_limit_of_their_message(wire, tmp_path):
    durable = Durable(wire, tmp_path).start()
    try:
        id = durable.client.start()["id"]
        fill(durable.client, id, 0, 260)
        durable.stop().start()
        client = durable.client
        client.send(*(client.command("activity.history", id=id) for _ in range(24)))
        frames = wire.receive(client.socket, 60)
        assert len(frames) == 24 and sum(map(len, frames)) <= 16 * MIB
        answers = [json.loads(frame) for frame in frames]
        assert {answer["ok"] for answer in answers} == {True, False}
        assert {answer["error"]["code"] for answer in answers if not answer["ok"]} == {"busy"}
        durable.stop()
    finally:
        durable.service.kill()


def test_explain_tells_what_stands_in_files_though_it_changed_in_the_same_message(wire, tmp_path):
    durable = Durable(wire, tmp_path).start()
    try:
        id = durable.client.start()["id"]
        durable.client.applied("activity.update", id=id, contentState={"n": 1})
        durable.stop().start()
        client = durable.client
        update = client.command("activity.update", id=id, contentState={"n": 2})
        explain = client.command("activity.explain", id=id)
        client.send(update, explain)
        [_, frame] = wire.receive(client.socket, 60)
        told = json.loads(frame)["decisions"]
        assert [decision["revision"] for decision in told] == [1, 2, 3]
        durable.stop()
    finally:
        durable.service.kill()

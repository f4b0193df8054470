"""`get`, `list` with its filters, pages and presentation order, `history` and `explain`."""

import json

import pytest

from support.commands import Commands, encode
from support.dates import EPOCH, HOUR, MINUTE, after


def ids(rows):
    return [row["id"] for row in rows]


def test_get_shows_the_whole_activity_in_the_order_of_the_contract(client):
    id = client.start(
        key="order-7", device="phone", staleDate=after(HOUR), relevanceScore=12.5, pushType="token")["id"]
    whole = client.get(id)
    order = (
        "id app type key device state stateAt revision attributes contentState staleDate relevanceScore style pushType "
        "startDate startedAt endedAt dismissAt expiresAt timestamp cause next renews renewedBy"
    ).split()
    assert [name for name in whole if name in order] == [name for name in order if name in whole]
    assert set(whole) <= set(order)
    shown = {name: whole[name] for name in whole if whole[name] is not None}
    assert shown == {
        "id": id, "app": client.app, "type": "Delivery", "key": "order-7", "device": "phone", "state": "active",
        "stateAt": EPOCH,
        "revision": 1, "attributes": {"order": 1042}, "contentState": {"eta": 12}, "staleDate": after(HOUR),
        "relevanceScore": 12.5, "style": "standard", "pushType": "token", "startedAt": EPOCH,
        "expiresAt": after(8 * HOUR), "timestamp": EPOCH, "cause": "command",
        "next": {"at": after(HOUR), "cause": "staleDate"},
    }


def test_a_push_type_may_name_a_channel(client):
    id = client.start(pushType={"channel": "dHN0LXNyY2gtY2hubA=="})["id"]
    assert client.get(id)["pushType"] == {"channel": "dHN0LXNyY2gtY2hubA=="}


def test_a_list_shows_open_and_ended_ones_whole(client):
    first, second, gone = (client.start()["id"] for _ in range(3))
    client.applied("activity.end", id=second)
    client.applied("activity.dismiss", id=gone)
    answer = client.read("activity.list")
    assert set(ids(answer["activities"])) == {first, second}
    assert answer["total"] == 2 and answer["exact"] is True
    assert answer.get("next") is None
    assert {row["id"]: row for row in answer["activities"]}[first] == client.get(first)


def test_a_list_filters_by_state_type_device_and_key_prefix(client):
    a = client.start(type="Ride", key="ride-1", device="phone")["id"]
    b = client.start(type="Ride", key="ride-20", device="tablet", staleDate=EPOCH)["id"]
    c = client.start(type="Delivery", key="order-1", device="phone")["id"]
    d = client.start(startDate=after(HOUR), alert={"title": "T", "body": "B"})["id"]
    client.applied("activity.end", id=c)
    for fields, expected in (
        ({"type": "Ride"}, {a, b}), ({"device": "phone"}, {a, c}), ({"key": "ride-"}, {a, b}), ({"key": "ride-2"}, {b}),
        ({"state": "active"}, {a}), ({"state": "stale"}, {b}), ({"state": "ended"}, {c}), ({"state": "pending"}, {d}),
        ({"type": "Ride", "device": "phone", "state": "active", "key": "ride"}, {a}),
        ({"type": "Rid"}, set()), ({"device": "phon"}, set()),
    ):
        answer = client.read("activity.list", **fields)
        assert set(ids(answer["activities"])) == expected, fields
        assert answer["total"] == len(expected)


def test_a_list_can_show_dismissed_ones_while_they_are_retained(client):
    id = client.start()["id"]
    client.applied("activity.dismiss", id=id)
    assert ids(client.list(state="dismissed")) == [id]


def test_a_list_shows_only_its_own_app(client):
    client.start()
    other = client.start(app="com.example.taxi")["id"]
    assert ids(client.list(app="com.example.taxi")) == [other]


def test_pages_follow_one_another_without_loss_or_repetition(client):
    expected = {client.start()["id"] for _ in range(23)}
    seen, cursor, pages = [], None, 0
    while True:
        answer = client.read("activity.list", limit=5, cursor=cursor)
        assert answer["total"] == 23
        seen += ids(answer["activities"])
        pages += 1
        cursor = answer.get("next")
        if not cursor:
            break
    assert len(seen) == 23 and set(seen) == expected
    assert pages == 5


def test_pages_stay_right_while_activities_come_and_go(client):
    stay = {client.start()["id"] for _ in range(20)}
    leave = [client.start()["id"] for _ in range(20)]
    seen, cursor = [], None
    while True:
        answer = client.read("activity.list", limit=7, cursor=cursor)
        seen += ids(answer["activities"])
        for _ in range(4):
            if leave:
                client.applied("activity.dismiss", id=leave.pop())
            client.start()
        cursor = answer.get("next")
        if not cursor or len(seen) > 200:
            break
    assert len(seen) == len(set(seen)), "no row comes twice"
    assert stay <= set(seen), "what was there all the time is seen"


def test_fifty_rows_are_a_page_by_itself_and_a_thousand_the_most(client):
    commands = [client.command("activity.start", type="T", attributes={}, contentState={}) for _ in range(256)]
    for _ in range(5):
        client.batch(*[{**c, "req": f"{i}-{c['req']}"} for i, c in enumerate(commands)])
    assert len(client.list()) == 50
    assert len(client.list(limit=1000)) == 1000
    for limit in (0, 1001, -1):
        assert client.refused("activity.list", limit=limit)["detail"]["field"] == "limit"


def test_an_answer_never_exceeds_a_mebibyte(client):
    """1 000 rows of 4 KB each would: the page is shorter then, and its cursor goes on."""
    for _ in range(400):
        client.send(client.command(
            "activity.start", type="T", attributes={"a": "x" * 2000}, contentState={"b": "y" * 2000}, ack="none"))
    seen, cursor = [], None
    while True:
        command = client.command("activity.list", limit=1000, cursor=cursor)
        client.send(command)
        [frame] = client.wire.receive(client.socket)
        assert len(frame) <= 1 << 20
        answer = json.loads(frame)
        assert answer["ok"], answer
        seen += ids(answer["activities"])
        cursor = answer.get("next")
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == 400


def test_a_made_up_cursor_is_a_bad_field(client):
    client.start()
    error = client.refused("activity.list", cursor="%%%")
    assert (error["code"], error["detail"]["field"]) == ("badField", "cursor")


def test_the_presentation_order_is_relevance_and_then_who_started_first(client):
    low = client.start(device="phone", relevanceScore=10)["id"]
    client.advance(by=MINUTE)
    tied_first = client.start(device="phone", relevanceScore=50)["id"]
    client.advance(by=MINUTE)
    tied_second = client.start(device="phone", relevanceScore=50)["id"]
    high = client.start(device="phone", relevanceScore=100)["id"]
    client.start(device="tablet", relevanceScore=1000)
    answer = client.read("activity.list", device="phone", order="presentation")
    assert ids(answer["activities"]) == [high, tied_first, tied_second, low]


def shown(client, **fields):
    """What the device shows: (id, place on the Lock Screen, form in the Dynamic Island) in order."""
    rows = client.list(device="phone", order="presentation", **fields)
    return [(r["id"], r["presentation"].get("lockScreen"), r["presentation"].get("dynamicIsland")) for r in rows]


def test_the_dynamic_island_shows_the_most_relevant_and_never_an_ended_one(client):
    first = client.start(device="phone", relevanceScore=100)["id"]
    second = client.start(device="phone", relevanceScore=50)["id"]
    third = client.start(device="phone", relevanceScore=10)["id"]
    waiting = client.start(
        device="phone", relevanceScore=200, startDate=after(HOUR), alert={"title": "T", "body": "B"})["id"]
    unseen = (waiting, None, None)
    assert shown(client) == [(first, 1, "minimal"), (second, 2, "minimal"), (third, 3, None), unseen]
    client.applied("activity.end", id=first)
    assert shown(client) == [(first, 1, None), (second, 2, "minimal"), (third, 3, "minimal"), unseen]
    client.applied("activity.end", id=second)
    assert shown(client) == [(first, 1, None), (second, 2, None), (third, 3, "compact"), unseen]
    client.applied("activity.dismiss", id=first)
    client.applied("activity.end", id=third, dismissalPolicy="immediate")
    assert shown(client) == [(second, 1, None), unseen]


def test_the_presentation_looks_at_all_apps_of_a_device(client):
    """Whoever asks, and also for one app alone: the places are those among all."""
    pizza = client.start(device="phone", relevanceScore=1)["id"]
    taxi = client.start(device="phone", relevanceScore=2, app="com.example.taxi")["id"]
    [answer] = client.raw({"op": "activity.list", "req": "all", "device": "phone", "order": "presentation"})
    assert ids(answer["activities"]) == [taxi, pizza]
    assert shown(client) == [(pizza, 2, "minimal")]


def test_the_presentation_order_has_pages_of_a_mebibyte(client):
    client.app = "com.example.pages"
    wanted = []
    for n in range(300):
        id = client.start(device="phone", contentState={"x": "x" * 3_900, "n": n})["id"]
        client.applied("activity.end", id=id)
        wanted.append(id)
    seen, cursor = [], None
    while True:
        command = client.command("activity.list", order="presentation", device="phone", state="ended", limit=250,
                                 cursor=cursor)
        client.send(command)
        [frame] = client.wire.receive(client.socket, 60)
        assert len(frame) <= 1 << 20
        page = json.loads(frame)
        assert page["total"] == 300 and len(page["activities"]) <= 250
        seen += ids(page["activities"])
        if (cursor := page.get("next")) is None:
            break
    assert len(seen) == 300 and set(seen) == set(wanted)
    beyond = client.read("activity.list", order="presentation", device="phone", cursor="300")
    assert beyond["activities"] == [] and "next" not in beyond


def test_the_presentation_order_needs_a_device(client):
    error = client.refused("activity.list", order="presentation")
    assert (error["code"], error["detail"]["field"]) == ("missingField", "device")


def test_history_tells_every_change_in_order(client):
    id = client.start(staleDate=after(HOUR))["id"]
    client.applied("activity.update", id=id, contentState={"eta": 1}, staleDate=after(HOUR))
    client.advance(by=2 * HOUR)
    client.applied("activity.end", id=id, dismissalPolicy="immediate")
    answer = client.read("activity.history", id=id)
    events = answer["events"]
    assert answer["complete"] is True
    assert [event["event"].removeprefix("activity.") for event in events] == [
        "started", "updated", "stale", "ended", "dismissed"]
    assert [event["activity"]["revision"] for event in events] == [1, 2, 3, 4, 5]
    assert [event["seq"] for event in events] == [1, 2, 3, 4, 5]


def test_explain_names_the_rule_of_every_decision(client):
    id = client.start(staleDate=after(HOUR))["id"]
    client.ignored("activity.update", id=id, contentState={"eta": 0}, timestamp=EPOCH - HOUR)
    client.refused("activity.update", id=id, contentState={"eta": 0}, ifRevision=5)
    client.advance(by=2 * HOUR)
    client.applied("activity.end", id=id, req="closing")
    client.ignored("activity.update", id=id, contentState={"eta": 0})
    decisions = client.read("activity.explain", id=id)["decisions"]
    assert [(d["rule"].removeprefix("apple-semantics 1.2 "), d["outcome"]) for d in decisions] == [
        ("row 1", "applied"), ("row 15", "ignored"), ("contract ifRevision", "refused"), ("row 19", "applied"),
        ("row 22", "applied"), ("row 35", "ignored"),
    ]
    assert [d["at"] for d in decisions] == [EPOCH] * 3 + [after(HOUR), after(2 * HOUR), after(2 * HOUR)]
    assert decisions[4]["by"]["req"] == "closing"
    assert all(d["text"] for d in decisions)


def test_a_history_in_a_batch_shows_what_the_commands_before_it_did(client):
    begun = client.command("activity.start", type="T", attributes={}, contentState={}, key="k")
    ended = client.command("activity.end", key="k")
    answers = client.batch(begun, client.command("activity.history", key="k"), ended,
                           client.command("activity.history", key="k"))
    assert [len(answer["events"]) for answer in answers[1::2]] == [1, 2]
    assert all(answer["complete"] for answer in answers[1::2])


def test_a_history_whose_beginning_is_no_longer_kept_says_so(client):
    """Updates push the start out of what is kept: alerts of 60 KB do so soon."""
    id = client.start()["id"]
    alert = {"title": "x" * 60_000, "body": ""}
    revision = 1
    while True:
        for _ in range(250):
            revision += 1
            client.send(client.command(
                "activity.update", id=id, contentState={"v": revision}, alert=alert, ack="none"))
        answer = client.read("activity.history", id=id)
        assert len(json.dumps(answer)) <= (1 << 20) + 1000
        if not answer["complete"]:
            break
        assert revision < 20_000, "more than a gigabyte of events is kept"
    assert answer["sinceRevision"] == answer["events"][0]["activity"]["revision"] > 1
    assert answer["events"][-1]["activity"]["revision"] == revision


def test_a_read_waits_for_a_sequence_number_that_is_there_already(client):
    answer = client.applied("activity.start", type="T", attributes={}, contentState={})
    whole = client.read("activity.get", id=answer["activity"]["id"], minSeq=answer["seq"])
    assert whole["activity"]["revision"] == 1


def test_a_read_waits_for_a_sequence_number_to_come(client, wire, service):
    id = client.start()["id"]
    waiting = client.command("activity.get", id=id, minSeq=2)
    client.send(waiting)
    client.silent()
    other = Commands(wire, service.commands, client.app)
    other.applied("activity.update", id=id, contentState={"eta": 1})
    assert client.answer_to(waiting["req"])[0]["activity"]["contentState"] == {"eta": 1}


def test_a_read_that_waited_is_counted_once(client, wire, service):
    def taken():
        return client.read("service.stats")["stats"]["commands"]["taken"]

    id = client.start()["id"]
    before, reader = taken(), Commands(wire, service.commands, client.app)
    reader.send(reader.command("activity.get", id=id, minSeq=2, ttl=60_000))
    while client.read("service.stats")["stats"]["waiting"]["reads"]["count"] == 0:
        before += 1
    client.applied("activity.update", id=id, contentState={"eta": 1})
    assert reader.receive()[0]["activity"]["revision"] == 2
    # The read, the stats that saw it wait, the update, and these.
    assert taken() - before == 4


@pytest.mark.parametrize("plain, escaped", [
    ("r/1", "r\\/1"), ("activity.get", "activity\\u002eget"), ("com.example.pizza", "com\\u002eexample.pizza"),
    ("abc", "ab\\u0063"),
])
def test_a_read_that_waited_reads_its_own_escapes(client, wire, service, plain, escaped):
    id = client.start(key="abc")["id"]
    waiting = encode(client.command("activity.get", key="abc", req="r/1", minSeq=2))
    assert waiting.count(f'"{plain}"'.encode()) == 1
    client.send(waiting.replace(f'"{plain}"'.encode(), f'"{escaped}"'.encode()))
    client.silent()
    other = Commands(wire, service.commands, client.app)
    other.applied("activity.update", id=id, contentState={"eta": 1})
    [answer] = client.receive()
    assert answer["req"] == "r/1"
    assert answer["activity"]["id"] == id and answer["activity"]["revision"] == 2


def test_digests_are_computed_however_many_reads_wait(client, wire, service, bulk):
    id = client.start()["id"]
    waiting = [Commands(wire, service.commands, client.app) for _ in range(4)]
    for peer in waiting:
        peer.send(*(peer.command("activity.get", id=id, minSeq=2, ttl=60_000) for _ in range(256)))
        # Messages of one connection are taken in order: with this answer, all the reads wait.
        peer.read("service.ping")
    other = Commands(wire, service.commands, client.app)
    assert other.refused("activity.get", id=id, minSeq=2, ttl=60_000)["code"] == "busy"
    bulk.send("digest", app=client.app)
    assert bulk.chunk()[0]["entities"] == 1
    other.applied("activity.update", id=id, contentState={"eta": 1})
    for peer in waiting:
        assert all(answer["ok"] for answer in peer.receive())


def test_one_connection_holds_no_more_than_its_share_of_what_may_wait(client, wire, service):
    id = client.start()["id"]
    client.send(*(client.command("activity.get", id=id, minSeq=2, ttl=60_000) for _ in range(256)))
    client.read("service.ping")
    assert client.refused("activity.get", id=id, minSeq=2, ttl=60_000)["code"] == "busy"
    other = Commands(wire, service.commands, client.app)
    waits = other.command("activity.get", id=id, minSeq=2, ttl=60_000)
    other.send(waits)
    other.applied("activity.update", id=id, contentState={"eta": 1})
    [answer] = other.answer_to(waits["req"])
    assert answer["ok"] and all(answer["ok"] for answer in client.receive())
    waits = client.command("activity.get", id=id, minSeq=3, ttl=20)
    client.send(*[waits] * 2)
    assert [answer["error"]["code"] for answer in client.receive()] == ["expired"] * 2, "the share was given back"


def test_a_read_waits_for_a_sequence_number_no_longer_than_its_ttl(client):
    id = client.start()["id"]
    assert client.refused("activity.get", id=id, minSeq=99, ttl=20)["code"] == "expired"


@pytest.mark.parametrize("op", ["activity.get", "activity.history", "activity.explain"])
def test_reads_need_an_id_or_a_key_and_not_both(client, op):
    assert client.refused(op)["code"] == "missingField"
    id = client.start(key="k")["id"]
    assert client.refused(op, id=id, key="k")["code"] == "badField"

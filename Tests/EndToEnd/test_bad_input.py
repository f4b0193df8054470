"""Whatever arrives gets the documented error that names the field, and never disturbs anybody else."""

import json

import pytest

from support.commands import Commands
from support.dates import EPOCH
from support.wire import Silence

APP = "com.example.pizza"
ID = "0198c0de-0000-7000-8000-000000000001"

START = {"op": "activity.start", "app": APP, "type": "T", "attributes": {}, "contentState": {}}
UPDATE = {"op": "activity.update", "app": APP, "id": ID, "contentState": {}}


@pytest.fixture(autouse=True)
def bystander(request, wire, service):
    """Another client, served before, during and after; what was accepted from it is still there at the end."""
    other = Commands(wire, service.commands, "com.example.bystander")
    id = other.start()["id"]
    yield other
    assert service.alive, service.log
    assert other.get(id)["revision"] == 1
    other.applied("activity.update", id=id, contentState={"after": True})
    assert other.read("activity.list")["total"] == 1


def error_of(client, frame):
    """The error of one frame's answer."""
    [answer] = client.raw(frame)
    assert answer["ok"] is False, answer
    assert set(answer["error"]) >= {"code", "message", "retry"}
    return answer["error"]


# Frames that are no command


@pytest.mark.parametrize("frame", [
    b"{", b"}", b"nonsense", b"{}x", b'{"op":}', b'{"op":"service.ping"', b'{"op":"service.ping",}',
    b"{'op':'service.ping'}", b'{"op" "service.ping"}', b'{"op":"service.ping"}{"op":"service.ping"}', b"nul", b" ",
    b'{"op":"service.ping" // comment\n}', b'{op:"service.ping"}', b'\xef\xbb\xbf{"op":"service.ping"}',
    b'{"op":"service.\nping"}', b'{"op":"service.ping\\x"}', b'{"op":"\\ud800"}', b"\x00", b"[" * 1000,
], ids=repr)
def test_broken_json_is_a_bad_message(client, frame):
    assert error_of(client, frame)["code"] == "badMessage"


@pytest.mark.parametrize("frame", [b"[]", b"null", b"1", b'"service.ping"', b"true", b'[{"op":"service.ping"}]'])
def test_json_that_is_no_object_is_a_bad_message(client, frame):
    assert error_of(client, frame)["code"] == "badMessage"


@pytest.mark.parametrize("frame", [
    b'{"op":"service.ping","req":"\xff"}', b'\xff\xfe{}', b'{"op":"activity.start","app":"a","type":"T","attributes":'
    b'{"x":"\xc3\x28"},"contentState":{}}', b'{"op":"service.ping","req":"\xed\xa0\x80"}', b'{"op":"\xc0\xaf"}',
], ids=repr)
def test_invalid_utf8_is_refused(client, frame):
    assert error_of(client, frame)["code"] in ("badMessage", "badField")


def test_an_object_without_an_op_is_refused(client):
    assert error_of(client, b"{}") == {
        "code": "missingField", "message": "the field 'op' is missing", "retry": "never", "detail": {"field": "op"}}
    assert error_of(client, b'{"req":"x"}')["code"] == "missingField"


def test_a_frame_that_cannot_be_read_is_answered_in_its_place(client):
    ping = {"op": "service.ping", "req": "x"}
    answers = client.raw(ping, b"garbage", ping, b"\xff", ping)
    assert [answer["ok"] for answer in answers] == [True, False, True, False, True]


def test_an_empty_frame_after_the_first_is_a_bad_message(client):
    ping = {"op": "service.ping", "req": "x"}
    answers = client.raw(ping, b"", ping)
    if len(answers) == 1:
        assert answers[0]["error"]["code"] == "badMessage"
    else:
        assert [answer["ok"] for answer in answers] == [True, False, True]
        assert answers[1]["error"]["code"] == "badMessage"


def test_two_empty_frames_first_are_an_envelope_and_a_bad_message(client):
    client.send(b"", b"")
    envelope, *answers = client.wire.receive(client.socket)
    assert envelope == b""
    assert [json.loads(frame)["error"]["code"] for frame in answers] == ["badMessage"]


@pytest.mark.parametrize("depth, taken", [(64, True), (65, False), (10_000, False)])
def test_payloads_nest_64_levels_deep_and_no_deeper(client, depth, taken):
    """The payload's own object is the first level."""
    nested = b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)
    frame = b'{"op":"activity.start","req":"x","app":"%s","type":"T","attributes":{},"contentState":%s}' % (
        APP.encode(), nested)
    if taken:
        assert client.raw(frame)[0]["ok"]
        return
    error = error_of(client, frame)
    assert error["code"] in ("badMessage", "badField")


# Fields


@pytest.mark.parametrize("field, value", [
    ("contentstate", {}), ("Op", "x"), ("stale_date", EPOCH), ("colour", None), ("", 1), ("é", 1),
])
def test_an_unknown_field_is_named_also_where_it_is_null(client, field, value):
    error = error_of(client, {**START, field: value})
    assert error["code"] == "unknownField"
    assert error["detail"]["field"] == field


def test_a_field_of_another_op_is_unknown_to_this_one(client):
    for field, value in {"dismissalPolicy": "immediate", "limit": 5, "by": "person", "timestamp": EPOCH}.items():
        error = error_of(client, {**START, field: value})
        assert (error["code"], error["detail"]["field"]) == ("unknownField", field)


def test_a_field_that_stands_twice_is_refused(client):
    frame = json.dumps(START)[:-1] + ', "type": "T"}'
    error = error_of(client, frame.encode())
    assert (error["code"], error["detail"]["field"]) == ("badField", "type")


def test_a_field_name_may_be_escaped_and_is_the_same_field(client):
    frame = json.dumps(START)[:-1].replace('"type"', '"t\\u0079pe"') + "}"
    [answer] = client.raw(frame.encode())
    assert answer["ok"] or answer["error"]["code"] in ("unknownField", "badField"), answer


@pytest.mark.parametrize("field", ["app", "type", "attributes", "contentState"])
def test_a_missing_field_is_named(client, field):
    for missing in ({k: v for k, v in START.items() if k != field}, {**START, field: None}):
        error = error_of(client, missing)
        assert (error["code"], error["detail"]["field"]) == ("missingField", field)


def test_null_of_a_known_field_equals_absent(client):
    nothing = dict.fromkeys(
        "staleDate relevanceScore style startDate alert pushType device key id background ifExists req client ttl "
        "ifRevision source ack".split())
    [answer] = client.raw({**START, **nothing})
    assert answer["ok"], answer


WRONG = [
    ("app", 5), ("app", ""), ("app", "with space"), ("app", "umlaut-ä"), ("app", "a" * 101), ("app", "a/b"),
    ("type", ["T"]), ("type", ""), ("type", "t" * 65), ("type", "a/b"), ("type", "~"),
    ("attributes", "text"), ("attributes", []), ("attributes", 1), ("contentState", "{}"), ("contentState", True),
    ("staleDate", "2026-01-01"), ("staleDate", 1767225600000.5), ("staleDate", True), ("staleDate", {}),
    ("relevanceScore", "high"), ("relevanceScore", []), ("style", "fancy"), ("style", 1),
    ("alert", "look"), ("alert", 5), ("pushType", "pigeon"), ("pushType", {"pigeon": "x"}), ("pushType", 5),
    ("device", ""), ("device", "d" * 65), ("device", 7), ("key", "k" * 65), ("key", "a b"), ("key", ""),
    ("id", "not-a-uuid"), ("id", ID[:-1]), ("id", ID + "0"), ("id", 5), ("id", ID.replace("-", "")),
    ("background", "yes"), ("background", 1), ("ifExists", "replace"), ("ifExists", True),
    ("req", 5), ("req", "x" * 65), ("req", "tab\there"), ("req", "ä"), ("client", "me"), ("client", 1),
    ("ttl", -1), ("ttl", "5s"), ("ttl", 1.5), ("ifRevision", -1), ("ifRevision", "1"), ("ifRevision", 1.5),
    ("source", "rumour"), ("ack", "all"), ("ack", True),
]


@pytest.mark.parametrize("field, value", WRONG, ids=[f"{field}={value!r}"[:40] for field, value in WRONG])
def test_a_wrong_value_names_its_field(client, field, value):
    error = error_of(client, {**START, field: value})
    assert (error["code"], error["detail"]["field"]) == ("badField", field)


@pytest.mark.parametrize("number", [
    "9007199254740993", "-9007199254740993", "1e400", "-1e400", "9" * 400, "1" + "0" * 5000, "1E3", "1767225600000.0",
    "18446744073709551616", "9223372036854775808",
], ids=lambda text: text[:24])
def test_huge_and_crooked_numbers_are_bad_fields(client, number):
    for field in ("ttl", "ifRevision", "staleDate"):
        frame = json.dumps({**START, field: "@"}).replace('"@"', number)
        error = error_of(client, frame.encode())
        assert error["code"] in ("badField", "implausibleDate"), (field, error)
        assert error["detail"]["field"] == field


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x10", "1_000"])
def test_what_json_knows_as_no_number_is_a_bad_message(client, number):
    frame = json.dumps({**START, "relevanceScore": "@"}).replace('"@"', number)
    assert error_of(client, frame.encode())["code"] == "badMessage"


@pytest.mark.parametrize("sent, meant", [
    (1_767_225_600, 1_767_225_600_000),          # seconds since 1970
    (788_918_400, 1_767_225_600_000),            # seconds since 2001
])
@pytest.mark.parametrize("field", ["staleDate", "startDate"])
def test_seconds_in_place_of_milliseconds_are_refused_with_what_was_meant(client, field, sent, meant):
    error = error_of(client, {**START, field: sent, "alert": {"title": "T", "body": "B"}})
    assert error["code"] == "implausibleDate"
    assert (error["detail"]["field"], error["detail"]["meant"]) == (field, meant)


def test_implausible_dates_are_refused_wherever_they_stand(client):
    seconds = EPOCH // 1000
    for op, field, value in (
        ("activity.update", "timestamp", seconds), ("activity.update", "staleDate", seconds),
        ("activity.end", "dismissalPolicy", {"after": seconds}), ("activity.end", "timestamp", 0),
        ("clock.advance", "to", seconds), ("activity.renew", "staleDate", 10**13),
    ):
        command = client.command(op, **({} if op == "clock.advance" else {"id": ID}))
        if op == "activity.update":
            command["contentState"] = {}
        error = error_of(client, {**command, field: value})
        assert error["code"] == "implausibleDate", (op, field, error)
        assert error["detail"]["field"].endswith(("after",) if field == "dismissalPolicy" else (field,))


@pytest.mark.parametrize("policy", [
    "never", 5, {}, {"before": EPOCH}, {"after": EPOCH, "x": 1}, {"after": "soon"}, ["immediate"], {"after": None},
], ids=repr)
def test_a_dismissal_policy_that_is_none_is_refused(client, policy):
    id = client.start()["id"]
    error = error_of(client, client.command("activity.end", id=id, dismissalPolicy=policy))
    assert error["code"] in ("badField", "unknownField", "missingField")
    assert client.get(id)["state"] == "active"


@pytest.mark.parametrize("fields", [
    {"op": "device.event", "device": "d", "event": "explode"}, {"op": "device.event", "device": "", "event": "lock"},
    {"op": "device.event", "event": "lock"}, {"op": "device.event", "device": "d"},
    {"op": "clock.advance", "by": "1h"}, {"op": "clock.advance", "by": 1.5}, {"op": "clock.advance", "by": 2**60},
    {"op": "activity.list", "app": APP, "state": "sleeping"}, {"op": "activity.list", "app": APP, "order": "random"},
    {"op": "activity.list", "app": APP, "limit": "all"}, {"op": "activity.dismiss", "app": APP, "id": ID, "by": "cat"},
    {"op": "settings.set", "app": APP, "activitiesEnabled": "yes"}, {"op": "settings.set", "activitiesEnabled": True},
    {"op": "stream.applied", "nonce": 5, "apps": {}}, {"op": "activity.get", "app": APP, "id": ID, "minSeq": -1},
    {"op": "activity.update", "app": APP, "contentState": {}},
], ids=lambda fields: json.dumps(fields)[8:48])
def test_other_commands_name_their_fields_too(client, fields):
    error = error_of(client, fields)
    assert error["code"] in ("badField", "missingField"), error
    assert error["detail"]["field"]


@pytest.mark.parametrize("op", [5, None, "", "activity", "activity.", ".start", "ACTIVITY.START", "x" * 5000, {}, "ä"])
def test_an_op_that_is_none_is_refused(client, op):
    assert error_of(client, {**START, "op": op})["code"] in ("unknownOp", "badField", "badMessage", "missingField")


# Sizes


def test_a_frame_of_64_kib_is_read_and_one_byte_more_is_not(client):
    base = json.dumps({**START, "req": "x"}, separators=(",", ":"))
    exact = base[:-1] + " " * (65536 - len(base)) + "}"
    assert client.raw(exact.encode())[0]["ok"]
    error = error_of(client, (exact[:-1] + " }").encode())
    assert error["code"] == "badMessage"


def test_a_frame_of_almost_a_mebibyte_is_answered(client):
    assert error_of(client, b'{"op":"' + b"x" * ((1 << 20) - 100) + b'"}')["code"] == "badMessage"
    assert client.read("service.ping")


def test_a_frame_of_five_megabytes_cuts_its_connection_and_no_other(wire, service, client):
    victim = Commands(wire, service.commands)
    assert victim.read("service.ping")
    victim.send(b"x" * 5_000_000)
    with pytest.raises(Silence):
        victim.receive(seconds=0.5)
    assert client.read("service.ping")
    fresh = Commands(wire, service.commands)
    assert fresh.read("service.ping")


def test_ten_thousand_frames_are_one_bad_message(client):
    answers = client.raw(*[b'{"op":"service.ping"}'] * 10_000)
    assert len(answers) == 1 and answers[0]["error"]["code"] == "badMessage"
    assert client.read("service.ping")


def test_two_hundred_thousand_empty_frames_are_one_bad_message_or_a_cut(client, wire, service):
    other = Commands(wire, service.commands)
    other.send(*[b""] * 200_000)
    try:
        envelope, *answers = other.wire.receive(other.socket)
        assert envelope == b"" and len(answers) == 1
    except Silence:
        pass
    assert client.read("service.ping")


def test_a_thousand_fields_are_refused_by_the_first(client):
    error = error_of(client, {**START, **{f"f{number}": number for number in range(1000)}})
    assert (error["code"], error["detail"]["field"]) == ("unknownField", "f0")


def test_errors_quote_nothing_that_breaks_the_answer(client):
    """Names of unknown fields come back as valid JSON, whatever is in them, and not without end."""
    for name in ('"', "\\", "\n", "\u0000", "\u2028", "🍕" * 20, "x" * 60_000):
        error = error_of(client, {**START, name: 1})
        assert error["code"] in ("unknownField", "badField")
        assert len(error["detail"]["field"].encode()) <= 1024


@pytest.mark.parametrize("endpoint", ["commands", "bulk"])
def test_a_frame_that_is_too_long_is_refused_by_its_req_where_that_comes_first(wire, service, endpoint):
    socket = wire.socket("DEALER", getattr(service, endpoint))
    padding = ' "contentState":{"x":"' + "y" * 66_000 + '"}'
    frames = [
        '{"op":"activity.start","req":"first",' + padding + "}",
        '{"op":"activity.start",' + padding + ',"req":"last"}',
        '{"contentState":{"req":"within","x":"' + "y" * 66_000 + '"}}',
        '{"op":"activity.start","req":"esc\\u0061ped",' + padding + "}",
        '{"op":"activity.start","req":7,' + padding + "}",
        '{"op":"activity.start","req":"unheard","ack":"none",' + padding + "}",
        '{"op":"activity.start","req":"' + "r" * 65 + '",' + padding + "}",
        '{"op":"activity.start","req":"cut' + "t" * 66_000,
        "y" * 66_000,
        '{"op":"bulk.digest","req":"fine","app":"com.example.nobody"}',
    ]
    socket.send_multipart([frame.encode() for frame in frames])
    answers = list(map(json.loads, wire.receive(socket)))
    assert [answer.get("req") for answer in answers] == ["first"] + [None] * 7 + ["fine"]
    assert {answer["error"]["code"] for answer in answers[:-1]} == {"badMessage"}

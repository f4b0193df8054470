"""The contract as data: schemas, examples and what the service really says agree with one another."""

import base64
import json

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from support import walks
from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.schemas import CONTRACT, examples, parse, schema_of, strict
from support.service import environment
from support.walks import ProviderTalk

SCHEMAS = sorted(str(path.relative_to(CONTRACT / "schemas")) for path in (CONTRACT / "schemas").rglob("*.json"))
MESSAGES = [name for name in SCHEMAS if name != "common.json"]
BAD = [
    pytest.param(row, id=f"{path.stem}: {row['why']}")
    for path in sorted((CONTRACT / "examples" / "bad").glob("*.jsonl"))
    for row in map(json.loads, path.read_text().splitlines())
]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one(name):
    schema = json.loads((CONTRACT / "schemas" / name).read_text())
    Draft202012Validator.check_schema(schema)
    assert schema["$id"].endswith("/schemas/" + name)
    assert schema["title"] and schema["description"].endswith(".")


@pytest.mark.parametrize("name", MESSAGES)
def test_every_good_example_keeps_its_schema(name):
    if name == "events/event.json":
        rows = [row for event in MESSAGES if event.startswith("events/") and event != name for row in examples(event)]
    else:
        rows = examples(name)
    assert rows, "a schema without an example"
    for row in rows:
        strict(name).validate(parse(row))
        schema_of(name).validate(parse(row))


@pytest.mark.parametrize("name", [name for name in MESSAGES if not name.startswith("commands/")])
def test_what_the_service_says_may_grow_and_may_not_shrink(name):
    """A client that validates is not broken by a member that it does not know."""
    if name == "events/event.json":
        return
    for row in map(parse, examples(name)):
        schema_of(name).validate({**row, "member of a later version": 1})
        with pytest.raises(ValidationError):
            strict(name).validate({**row, "member of a later version": 1})
        for member in schema_of(name).schema.get("required", []):
            with pytest.raises(ValidationError):
                schema_of(name).validate({key: value for key, value in row.items() if key != member})


@pytest.mark.parametrize("name", [name for name in MESSAGES if name.startswith("commands/")])
def test_a_command_refuses_what_it_does_not_know(name):
    for row in map(parse, examples(name)):
        with pytest.raises(ValidationError):
            schema_of(name).validate({**row, "colour": None})
        with pytest.raises(ValidationError):
            schema_of(name).validate({**row, "op": "activity.explode"})


@pytest.mark.parametrize("row", BAD)
def test_every_bad_example_breaks_its_schema_or_says_why_it_cannot(row):
    frame = row["frame"].encode() if "frame" in row else base64.b64decode(row["base64"])
    try:
        command = parse(frame)
    except ValueError:
        assert row["schemaCannot"] in ("it is not JSON", "it is not UTF-8")
        return
    op = command.get("op") if isinstance(command, dict) else None
    name = f"commands/{op}.json"
    if name not in SCHEMAS:
        assert row["error"]["code"] in ("badMessage", "unknownOp", "badField", "missingField")
        return
    assert schema_of(name).is_valid(command) is ("schemaCannot" in row)


def test_every_bad_example_names_a_documented_error():
    errors = {error["code"]: error for error in json.loads((CONTRACT / "errors.json").read_text())["errors"]}
    for row in (param.values[0] for param in BAD):
        documented = errors[row["error"]["code"]]
        assert set(row["error"]) - {"code"} <= set(documented["detail"])


# The service itself


@pytest.fixture
def service(serve, tmp_path):
    """One that keeps its state in files, since that one has most to say."""
    options = {"--clock": "manual", "--store": "sqlite", "--data": tmp_path / "data"}
    return serve(options, env=environment(ISLET_JOURNAL_ALLOW_VOLATILE="true"))


@pytest.fixture
def provider(wire, service):
    """The connection of a provider."""
    return Commands(wire, service.commands)


@pytest.fixture
def said(client, provider, events, bulk, tmp_path):
    """Everything that a service says while a client walks through the whole contract: (schema, frame)."""
    frames = []

    def ask(schema, op, **fields):
        command = client.command(op, **fields)
        client.send(command)
        [frame] = client.wire.receive(client.socket)
        frames.append((f"answers/{schema}.json", frame))
        return json.loads(frame)

    alert = {"title": "T", "body": "B"}
    start = {"type": "Delivery", "attributes": {"order": 1042}, "contentState": {"eta": 12}}
    first = ask("change", "activity.start", **start, key="k", device="phone", staleDate=after(HOUR), pushType="token")
    id = first["activity"]["id"]
    ask("change", "activity.update", id=id, contentState={"eta": 1}, alert=alert, relevanceScore=2.5)
    ask("change", "activity.update", id=id, contentState={"eta": 1}, relevanceScore=2.5)
    ask("change", "activity.start", **start, startDate=after(MINUTE), alert=alert)
    ask("change", "activity.start", **start, staleDate=after(-MINUTE), style="transient", device="phone")
    ask("now", "clock.advance", by=2 * MINUTE)
    renewed = ask("change", "activity.renew", id=id)["activity"]["id"]
    for op, schema in (("get", "get"), ("history", "history"), ("explain", "explain")):
        ask(schema, f"activity.{op}", id=renewed)
        ask(schema, f"activity.{op}", id=id)
    ask("list", "activity.list", limit=1)
    ask("list", "activity.list", device="phone", order="presentation")
    ask("backup", "service.backup", path=str(tmp_path / "backup.db"))
    ask("list", "activity.list", state="dismissed")
    ask("settings", "settings.get")
    ask("settings", "settings.set", device="phone", frequentPushesEnabled=False)
    ask("timer.list", "timer.list")
    ask("slot.list", "slot.list", app=None, limit=1)
    ask("problem.list", "problem.list", app=None)
    ask("entity.find", "entity.find", app=None, name="k")
    client.send({"op": "stream.applied", "nonce": "5a" * 16, "apps": {client.app: {"seq": 1}}})
    ask("subscriber.list", "subscriber.list", app=None)
    ask("stats", "service.stats")
    ask("change", "device.event", device="phone", event="lock")
    ask("change", "activity.end", id=renewed)
    ask("info", "service.info")
    ask("now", "service.ping")
    last = ask("now", "clock.advance", by=13 * HOUR)["now"]
    talk = ProviderTalk(provider, frames)
    walks.controls(client, talk, ask)
    walks.widgets(client, talk, ask)
    walks.groups(client, ask)
    ask("timer.list", "timer.list", limit=1)
    ask("problem.list", "problem.list", app=None)
    ask("stats", "service.stats")
    for op, fields in {
        "activity.get": {"id": "0198c0de-0000-7000-8000-000000000001"}, "activity.explode": {},
        "service.ping": {"x": 1},
        "activity.update": {"contentState": {}}, "activity.list": {"limit": 0}, "clock.advance": {"to": last - 1},
        "activity.heartbeat": {"id": renewed}, "bulk.cancel": {}, "settings.set": {},
        "activity.start": {**start, "attributes": {"x": "y" * 5000}},
    }.items():
        ask("error", op, **fields)
    client.send(b"{")
    frames.append(("answers/error.json", client.wire.receive(client.socket)[0]))

    last = ask("change", "activity.start", **start, key="still-here")["seq"]
    client.applied("activity.start", **start, app="com.example.taxi")
    while True:
        topic, event, raw = events.raw_next()
        frames.append(("events/event.json", raw))
        if event["seq"] == last:
            break
    frames.append(("stream/watermark.json", json.dumps(events.watermark()).encode()))
    for app in (None, client.app):
        frames.append(("stream/join.json", json.dumps(events.join(app)).encode()))
    for pulled in (bulk.snapshot(), bulk.snapshot(prefix=f"{client.app}/activity/D"), bulk.replay(0), bulk.replay(99)):
        frames += [("bulk/header.json", json.dumps(header).encode()) for header in pulled.headers]
        kind = "bulk/snapshot-row.json" if "fromSeq" in pulled.headers[0] else "events/event.json"
        frames += [(kind, body) for _, body in pulled.rows]
    frames.append(("answers/digest.json", json.dumps(bulk.digest()).encode()))
    return frames


def test_everything_that_the_service_says_keeps_its_schema(said):
    assert {name for name, _ in said} >= {
        "events/event.json", "stream/watermark.json", "stream/join.json", "bulk/header.json", "bulk/snapshot-row.json",
        *(name for name in MESSAGES if name.startswith(("answers/", "calls/")) and name not in (
            "calls/provider.ping.json", "calls/provider.dropped.json")),
    }
    for name, frame in said:
        try:
            strict(name).validate(parse(frame))
        except ValidationError as error:
            raise AssertionError(f"{name}: {frame.decode()}") from error


ORDER = ["epoch", "seq", "at", "event", "from", "to", "cause", "by", "lateBy", "alert", "exempt", "rules", "interaction",
         "activity", "control", "widget", "group", "notification"]
"""Of the members of events; no event has all of them."""


def test_the_service_writes_members_in_the_order_of_the_schemas(said):
    for name, frame in said:
        schema = schema_of(name).schema
        order = list(schema.get("properties") or schema["oneOf"][0]["properties"])
        if name.startswith("answers/"):
            order = ["req", "ok", *(member for member in order if member not in ("req", "ok"))]
        elif name == "events/event.json":
            order = ORDER
        elif name == "bulk/header.json":
            continue
        members = list(parse(frame))
        assert members == sorted(members, key=order.index), (name, frame)


def test_every_good_command_example_is_taken_by_the_service(client):
    """It may be refused for what it asks for, but never for how it is written."""
    misread = {"badMessage", "unknownOp", "unknownField", "missingField", "badField", "implausibleDate"}
    for name in MESSAGES:
        if not name.startswith("commands/") or name in ("commands/stream.applied.json", "commands/clock.advance.json"):
            continue
        for row in examples(name):
            if b'"ack":"none"' in row:
                continue
            [answer] = client.raw(row)
            while "ok" not in answer:  # a call to what was registered before
                [answer] = client.receive()
            # A cursor is of the process that gave it.
            if answer["ok"] or answer["error"].get("detail", {}).get("field") == "cursor":
                continue
            assert answer["error"]["code"] not in misread, (row, answer)


def test_every_bad_example_gets_its_error_from_the_service(client):
    for row in (param.values[0] for param in BAD):
        frame = row["frame"].encode() if "frame" in row else base64.b64decode(row["base64"])
        if not frame:
            continue  # alone in its message, an empty frame is an envelope
        [answer] = client.raw(frame)
        strict("answers/error.json").validate(answer)
        error = answer["error"]
        given = {"code": error["code"], **error.get("detail", {})}
        assert {name: given.get(name) for name in row["error"]} == row["error"], (row["why"], answer)

"""What the service says against what the model says; every difference is an AssertionError that shows both."""

import json
import pathlib

from support.digest import digest
from support.wire import Silence

RETRY = {
    error["code"]: error["retry"]
    for error in json.loads((pathlib.Path(__file__).parents[3] / "proto-json" / "errors.json").read_text())["errors"]}

UNPROMISED = {"activity.dismissed": {"contentState"}}
"""What an entity may show after such an event although the model does not say so."""


def same_answer(expected, answer, command):
    """Compares the answer to a command."""
    if not expected["ok"]:
        assert answer["ok"] is False, (command, expected, answer)
        error = answer["error"]
        assert error["code"] == expected["code"], (command, expected, answer)
        assert error["retry"] == RETRY[error["code"]], (command, answer)
        detail = {name: error.get("detail", {}).get(name) for name in expected["detail"]}
        assert detail == expected["detail"], (command, expected, answer)
        assert answer["req"] == command["req"]
        return
    assert answer == {"req": command["req"], **expected}, f"{command}\nexpected {expected}\nanswered {answer}"


class Stream:
    """A replica of one app, kept from the events by the contract alone, and compared event by event."""

    def __init__(self, app):
        self.app = app
        self.seq = 0
        self.epoch = None
        self.entities = {}
        self.bodies = []

    def take(self, expected, topic, event, body):
        """One received event against the one that the model expects."""
        shown = f"\nexpected {expected}\nreceived {event}"
        assert event["seq"] == self.seq + 1, f"after {self.seq}: {event}"
        self.seq += 1
        self.bodies.append((topic, body))
        self.epoch = self.epoch or event["epoch"]
        assert event["epoch"] == self.epoch, event
        assert topic == expected.activity.topic, shown
        assert event["event"] == expected.name, shown
        assert event["at"] == expected.at, shown
        assert (event.get("from"), event["to"], event["cause"]) == (
            expected.before, expected.to, expected.cause), shown
        assert event.get("lateBy") == expected.late, shown
        assert event.get("by") == expected.by or (expected.by is None and expected.cause == "settings"), shown
        assert event.get("alert") == expected.alert, shown
        if expected.payload is not None:
            assert b'"contentState":' + expected.payload.encode() in body, f"not these very bytes{shown}"
        self.merge(topic, event)
        entity = {n: v for n, v in self.entities[topic].items() if n not in UNPROMISED.get(expected.name, ())}
        assert entity == expected.shown, f"the replica{shown}\nholds {entity}\nshould {expected.shown}"

    def merge(self, topic, event):
        """The merge patch of the contract."""
        patch = event["activity"]
        if "from" not in event:
            forgotten = self.entities.pop(topic, {"state": "dismissed"})
            assert forgotten["state"] == "dismissed" and patch["revision"] == 1, event
        entity = self.entities.setdefault(topic, {"revision": 0})
        assert patch["revision"] == entity["revision"] + 1, (entity, event)
        for name, value in patch.items():
            if value is None:
                entity.pop(name, None)
            else:
                entity[name] = value

    @property
    def digest(self):
        """The contract's digest over what is listed."""
        return digest({t: e["revision"] for t, e in self.entities.items() if e["state"] != "dismissed"})


def same_events(groups, streams, receive):
    """Takes as many events as the model expects, app by app; within a group those of one activity are in order.

    `receive(app)` gives the next event of an app as (topic, event, body).
    """
    for app, stream in streams.items():
        for group in groups:
            waiting = [event for event in group if event.activity.app == app]
            while waiting:
                try:
                    topic, event, body = receive(app)
                except Silence:
                    raise AssertionError(f"these events do not come: {waiting}") from None
                match = next((each for each in waiting if each.activity.topic == topic), waiting[0])
                stream.take(match, topic, event, body)
                waiting.remove(match)

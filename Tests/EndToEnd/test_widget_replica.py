"""Copies of an app with widgets and groups: events, snapshots, digests and reads agree over a random life."""

import json
import os
import random

import pytest

from support.dates import HOUR, MINUTE
from support.followed import plain
from support.home import Home
from support.replica import Replica
from support.widgets import CLOCK, FORECAST, entry, widget
from support.wire import Silence

SEED = int(os.environ.get("ISLET_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
GROUP = "group.walk"
DEVICES = [None, "phone", "tablet"]


class Walk:
    """Random commands about widgets and groups, steps of the clock, and a provider that answers at random."""

    def __init__(self, board, rng):
        self.board, self.rng, self.ids, self.names = board, rng, [], set()
        note = {"name": "note", "type": "string", "isOptional": True}
        self.provider = board.provider(
            widget(parameters=[note], rendering={"modes": ["fullColor", "accented"]}), widget(CLOCK), capacity=64)
        board.client.ask("group.create", group=GROUP)
        self.kept = []

    def step(self):
        rng, ask = self.rng, self.board.client.ask
        id = rng.choice(self.ids) if self.ids else None
        match rng.randrange(20):
            case 0 | 1 | 2:
                kind, configured = rng.choice([(CLOCK, None), (FORECAST, rng.choice([None, {}, {"note": "a"}]))])
                answer = ask("widget.add", kind=kind, family=rng.choice(["systemSmall", "systemMedium"]),
                             device=rng.choice(DEVICES), configuration=configured)
                self.ids.append(answer["widget"]["id"])
            case 3 if id:
                ask("widget.configure", id=id, configuration=rng.choice([{}, {"note": "b"}, None]),
                    rendering=rng.choice([None, {"mode": "accented"}, {}]))
            case 4 if id:
                ask("widget.remove", id=id)
                self.ids.remove(id)
            case 5 | 6 if id:
                ask("widget.reload", id=id, source=rng.choice([None, "push"]))
            case 7:
                ask("widget.reload", kind=rng.choice([None, CLOCK, FORECAST]))
            case 8 if id:
                ask("widget.visible", id=id)
            case 9 | 10 if id:
                ask("widget.tap", id=id, **rng.choice([{}, {"link": "a"}, {"action": "do"}, {"action": "do"}]))
            case 11 | 12:
                event = rng.choice(["appForeground", "appBackground", "sessionStart", "sessionEnd", "standByStart",
                                    "standByEnd", "localeChange", "locationChange", "developerModeOn",
                                    "developerModeOff", "reboot", "lock"])
                app = self.board.app if event.startswith(("app", "session")) and "Change" not in event else None
                ask("device.event", device=rng.choice(DEVICES[1:]), event=event, app=app)
            case 13 | 14:
                ask("group.set", group=GROUP, key=rng.choice("abc"), value=rng.choice([0, 1, {"n": 2}, [3], "x"]))
            case 15:
                ask("group.delete", group=GROUP, key=rng.choice("abc"))
            case 16:
                ask("group.notify", group=GROUP, name="n")
            case 17:
                self.travel(rng.choice([0, 1, MINUTE, 7 * MINUTE, HOUR, 13 * HOUR]))
            case _:
                self.serve()

    def serve(self, all=False):
        """Answers some of the calls that have come, or all."""
        self.kept += self.provider.calls(0.005)
        self.rng.shuffle(self.kept)
        for _ in range(len(self.kept) if all else self.rng.randrange(len(self.kept) + 1)):
            self.answer(self.kept.pop())

    def travel(self, by):
        req, client = self.board.begin(by=by), self.board.client
        while True:
            self.serve(all=True)
            try:
                message = client.receive(0.005)
            except Silence:
                continue
            assert message[0]["req"] == req and message[0]["ok"], message
            return

    def settle(self):
        self.travel(0)
        self.serve(all=True)
        self.travel(0)

    def answer(self, call):
        rng = self.rng
        if call["op"] == "widget.perform":
            return self.provider.fail(call) if rng.random() < 0.3 else self.provider.say(
                "provider.answer", call=call["call"])
        if rng.random() < 0.15:
            return self.provider.fail(call)
        dates = sorted(call["now"] + rng.choice([-HOUR, 0, MINUTE, 3 * MINUTE, 10 * MINUTE, 2 * HOUR])
                       for _ in range(rng.randint(1, 5)))
        links = {"links": {"a": "b://"}} if call["family"] == "systemMedium" and rng.random() < 0.5 else {}
        relevance = {"relevance": {"score": rng.choice([0, 0.5, 3]), "duration": rng.choice([0, 5 * MINUTE])}}
        entries = [entry(date, n, **links, **(relevance if rng.random() < 0.5 else {})) for n, date in enumerate(dates)]
        if rng.random() < 0.1:
            return self.provider.show(call, entries[0], needsLogin=True)
        self.provider.show(call, *entries, policy=rng.choice(
            [None, "never", "atEnd", {"after": call["now"] + rng.choice([0, HOUR, 3 * HOUR])}]))


@pytest.mark.parametrize("number", range(3))
def test_events_alone_keep_a_copy_that_equals_what_reads_and_snapshots_show(board, number):
    print(f"seed {SEED}: set ISLET_TEST_SEED to repeat")
    walk, names = Walk(board, random.Random(SEED + number)), set()
    take = board.replica.apply
    board.replica.apply = lambda topic, event: (names.add(event["event"]), take(topic, event))
    for _ in range(10):
        for _ in range(40):
            walk.step()
        walk.settle()
        last = board.bulk.digest()
        while board.replica.seq < last["seq"]:
            Home.next(board)
        assert (len(board.replica.entities), board.replica.digest) == (last["entities"], last["digest"]), SEED
        rows = board.client.read("widget.list", limit=1_000)["widgets"]
        items = board.client.read("group.list", group=GROUP)["items"]
        shown = {entity.get("id") or entity["key"]: plain(entity) for entity in board.replica.entities.values()}
        for row in map(plain, [*rows, *items]):
            assert shown.pop(row.get("id") or row["key"]) == row, SEED
        assert shown == {}, SEED
        pulled = board.bulk.snapshot()
        loaded = Replica(pulled.end["seq"])
        loaded.load(pulled.rows)
        assert {topic: plain(entity) for topic, entity in loaded.entities.items()} == {
            topic: plain(entity) for topic, entity in board.replica.entities.items()}, SEED
        for row in rows:
            timeline = board.client.read("widget.timeline", id=row["id"])["timeline"]
            if "entryIndex" in row:
                assert timeline["entries"][row["entryIndex"]] == row["entry"], SEED
        for device in DEVICES[1:]:
            on_top = [row["id"] for row in rows if row.get("isOnTop") and row.get("device") == device]
            assert board.stack(device)[:1] == on_top, SEED
    assert {name.split(".")[0] for name in names} == {"widget", "group"} and len(names) >= 13, names
    replayed = Replica()
    for topic, body in board.bulk.replay(0).rows:
        replayed.apply(topic, json.loads(body))
    assert replayed.digest == board.replica.digest

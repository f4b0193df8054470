"""`islet replay`, by chance: whatever persons and publishers do, the replay's own stream is the recorded one."""

import collections
import json
import random

import pytest

from support.cli import Islet, replay
from support.commands import Commands
from support.dates import HOUR, MINUTE, SECOND
from support.running import Running
from support.widgets import rules

APPS = ["com.example.pizza", "com.example.taxi"]
DEVICES = [None, "phone-1", "phone-2"]
STEPS = 250


class Walk:
    """Things that are done at random with activities and groups; what is refused or ignored makes no event."""

    def __init__(self, wire, service, seed):
        self.chance = random.Random(seed)
        self.clients = [Commands(wire, service.commands, app) for app in APPS]
        self.ids = {client: [] for client in self.clients}
        for client in self.clients:
            client.read("group.create", group=f"group.{client.app}", members=APPS)

    def run(self):
        steps = [self.start] * 4 + [self.update] * 6 + [self.end] * 2 + [self.clock] * 4 + [
            self.dismiss, self.renew, self.tap, self.heartbeat, self.device, self.settings, self.group, self.group]
        for _ in range(STEPS):
            self.client = self.chance.choice(self.clients)
            self.chance.choice(steps)()

    def pick(self, *values):
        return self.chance.choice(values)

    @property
    def now(self):
        return self.clients[0].read("service.ping")["now"]

    @property
    def id(self):
        return self.chance.choice(self.ids[self.client] or ["0198c0de-0000-7000-8000-000000000001"])

    def date(self):
        return self.now + self.pick(-MINUTE, SECOND, MINUTE, 20 * MINUTE, 3 * HOUR, 10 * HOUR)

    def maybe(self, **fields):
        return {name: value() for name, value in fields.items() if self.chance.random() < 0.5}

    def content(self):
        return {"n": self.chance.randrange(3), "text": self.pick("caf\u00e9", "\U0001F355", "a \"b\"\\")}

    def alert(self):
        return {"title": self.pick("One", "Two")}

    def start(self):
        fields = self.maybe(
            staleDate=self.date, relevanceScore=lambda: self.pick(0, 1, 2.5, 1e3), key=lambda: self.pick("a", "b", "c"),
            style=lambda: self.pick("standard", "transient"), source=lambda: self.pick("local", "push"),
            pushType=lambda: self.pick("token", {"channel": "c"}), device=lambda: self.pick(*DEVICES[1:]),
            alert=self.alert)
        if self.chance.random() < 0.2:
            fields |= {"startDate": self.date(), "alert": self.alert()}
        answer = self.client.ask(
            "activity.start", type=self.pick("Delivery", "Ride"), attributes=self.content(),
            contentState=self.content(), **fields)
        if answer["ok"]:
            self.ids[self.client].append(answer["activity"]["id"])

    def update(self):
        self.client.ask(
            "activity.update", id=self.id, contentState=self.content(),
            **self.maybe(staleDate=self.date, relevanceScore=lambda: self.pick(0, 1, 2.5), alert=self.alert,
                         source=lambda: "push", timestamp=lambda: self.now + self.pick(-MINUTE, 0, MINUTE)))

    def end(self):
        self.client.ask(
            "activity.end", id=self.id,
            **self.maybe(contentState=self.content, source=lambda: "push",
                         dismissalPolicy=lambda: self.pick("default", "immediate", {"after": self.date()}),
                         timestamp=lambda: self.now + self.pick(-MINUTE, 0, MINUTE)))

    def dismiss(self):
        self.client.ask("activity.dismiss", id=self.id, by=self.pick("person", "system"))

    def renew(self):
        answer = self.client.ask(
            "activity.renew", id=self.id, **self.maybe(contentState=self.content, staleDate=self.date))
        if answer["ok"] and answer["outcome"] == "applied":
            self.ids[self.client].append(answer["activity"]["id"])

    def tap(self):
        self.client.ask("activity.tap", id=self.id, **self.maybe(url=lambda: "a://b?c=d"))

    def heartbeat(self):
        self.client.ask("activity.heartbeat", id=self.id)

    def device(self):
        self.client.read("device.event", device=self.pick(*DEVICES[1:]), event=self.pick("lock", "unlock", "leave"))

    def settings(self):
        device, switch = self.pick(*DEVICES), self.pick("activitiesEnabled", "frequentPushesEnabled")
        self.client.read("settings.set", device=device, **{switch: False})
        if switch == "activitiesEnabled":
            self.client.read("settings.set", device=device, **{switch: True})

    def group(self):
        name, key = f"group.{self.pick(*APPS)}", self.pick("k", "l")
        if self.chance.random() < 0.2:
            self.client.ask("group.delete", group=name, key=key)
        else:
            self.client.ask("group.set", group=name, key=key, value=self.content())

    def clock(self):
        self.clients[0].advance(by=self.pick(SECOND, MINUTE, 7 * MINUTE, HOUR, 5 * HOUR))


class Tape:
    """A tail of everything from now on."""

    def __init__(self, service, *words):
        self.islet = Islet(service, app="")
        self.follower = Running("tail", "--json", *words, env=self.islet.env)
        self.follower.message("^following all apps")

    def end(self):
        """The lines of all that was published."""
        [stats] = self.islet("stats", "--json").json
        self.follower.lines(stats["events"])
        assert self.follower.end() == 0
        return self.follower.data


def read(lines):
    """Events with their topics, where these are recorded; without who asked, the epoch, and the place in the stream."""
    for row in map(json.loads, lines):
        event = row["event"] if "topic" in row else row
        if event["event"] == "activity.ended" and event["cause"] == "settings":
            # No event tells how the switch for frequent pushes was turned: a replay ends what it ended.
            event["cause"] = "command"
        # Whether its cause is another one than before depends on that.
        event.get("activity", {}).pop("cause", None)
        yield {name: value for name, value in {**event, "topic": row.get("topic")}.items()
               if name not in ("epoch", "by", "seq")}


def renamed(recorded, played):
    """What the target called the successors of renewed activities, and what they were called."""
    for then, now in zip(recorded, played):
        if then["event"] == now["event"] == "activity.started" and then["cause"] == now["cause"] == "renewal":
            yield now["activity"]["id"], then["activity"]["id"]


def lives(events):
    """The events of each entity: what one command does to several has no order that was promised."""
    lives = collections.defaultdict(list)
    for event in events:
        entity = event.get("activity") or event["group"]
        lives[entity.get("id") or (entity["group"], entity["key"])].append(event)
    return lives


@pytest.mark.parametrize("words", [(), ("--topics",)], ids=["bare", "topics"])
@pytest.mark.parametrize("rule", [{}, {"ignoresUnchangedUpdates": False, "endedCountTowardMaxima": True}],
                         ids=["usual", "other"])
@pytest.mark.parametrize("seed", range(3))
def test_a_replay_publishes_what_was_recorded(serve, wire, tmp_path, seed, rule, words):
    first, second = (serve({"--clock": "manual"}, env=rules(**rule)) for _ in range(2))
    tape = Tape(first, *words)
    try:
        Walk(wire, first, f"{seed} {rule} {words}").run()
        recorded = tape.end()
    finally:
        tape.follower.kill()
    path = tmp_path / "recording.jsonl"
    path.write_text("".join(line + "\n" for line in recorded))
    tape = Tape(second, *words)
    try:
        done = replay(second, path, "--keep-times", "--verify", "--json", code=None)
        played = tape.end()
    finally:
        tape.follower.kill()
    for new, old in renamed(read(recorded), read(played)):
        played = [line.replace(new, old) for line in played]
    then, now = lives(read(recorded)), lives(read(played))
    for entity, events in then.items():
        assert events == now.get(entity), (seed, done.err)
    assert len(recorded) == len(played) and done.code == 0, (seed, done.err, done.out)

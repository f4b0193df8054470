"""Kills the service in the middle of random commands of all families, and holds what it shows after each start against
its own stream.

After each start: what was published is in the stream, byte for byte; every listed entity is what the stream makes of it;
and no command that was answered is executed again.
"""

import collections
import contextlib
import dataclasses
import itertools
import json
import random
import secrets
import subprocess

from support.bulk import Bulk
from support.commands import Commands
from support.dates import MINUTE, SECOND
from support.durable import Durable
from support.events import Events
from support.provider import RawProvider
from support.replica import Replica, family
from support.widgets import after, entry
from support.wire import Silence, Wire

from .mix import APPS, Mix, kinds
from .subscriber import replay

REMEMBERED = 10 * MINUTE
"""Domain time for which the service gives the first answer again."""
RETRIED = 20
"""Commands that are sent again after each start, at most."""
FAMILIES = {"activity": "activities", "control": "controls", "widget": "widgets"}
"""What can be listed without naming a group, and what the list is called in its answer."""


@dataclasses.dataclass
class Answered:
    """A command that was answered with ok, and when in domain time at the earliest."""

    frame: bytes
    answer: dict
    at: int


@dataclasses.dataclass
class Counts:
    """What a run has done; a campaign adds them up."""

    kills: int = 0
    with_commands_in_flight: int = 0
    commands: int = 0
    answered: int = 0
    executed_unanswered: int = 0
    events: int = 0
    published: int = 0
    calls: int = 0
    calls_answered: int = 0
    retried: int = 0
    rows_compared: int = 0
    changed_hands: int = 0

    def add(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


class Stream:
    """One app's stream as far as it was replayed: what it makes, and the bytes of each event."""

    def __init__(self, app):
        self.app = app
        self.replica = Replica()
        self.bodies = {}
        self.pairs = set()

    def go_on(self, bulk, published):
        """Takes what is new; each event that was published must be there."""
        for topic, event, body in replay(bulk, self.app, self.replica.seq):
            self.replica.apply(topic, event)
            self.bodies[event["seq"]] = body
            if "by" in event:
                self.pairs.add((event["by"].get("client"), event["by"].get("req")))
        for seq, body in published.items():
            assert self.bodies.get(seq) == body, (
                f"published as {seq} of {self.app}: {body}\nin the stream: {self.bodies.get(seq)}")


class Restarts:
    """One seed. `run` gives `Counts`; a broken promise is an AssertionError."""

    def __init__(self, folder, seed, lives=4, kill=True, options=None):
        self.random = random.Random(seed)
        self.mix = Mix(self.random)
        self.lives, self.kills = lives, kill
        self.wire = Wire("pyzmq")
        self.durable = Durable(self.wire, folder, options=options)
        self.streams = {app: Stream(app) for app in APPS}
        self.answered = {}
        self.on_the_way = []
        self.unanswered = set()
        self.published = collections.defaultdict(dict)
        self.owners = {}
        self.counts = Counts()

    def run(self):
        try:
            self.durable.start()
            for _ in range(self.lives):
                self.live()
                self.end_of_life()
                self.durable.start()
                self.judge()
            self.durable.stop()
            self.durable.start()
            self.judge()
            self.durable.stop()
            return self.counts
        except Exception as failure:
            raise AssertionError(f"{failure}\n{self.durable.service.log}") from failure
        finally:
            self.durable.service.kill()
            self.wire.close()

    # One life

    def live(self):
        """A few messages, each waited for; the last ones are not."""
        service = self.durable.service
        self.client = Commands(self.wire, service.commands)
        self.events = Events(self.wire, service.events, *(app + "/" for app in APPS))
        self.events.join()
        self.relevance = {app: self.random.random() < 0.5 for app in APPS}
        self.providers = [self.come(app) for app in APPS]
        self.mix.now = self.client.read("service.ping")["now"]
        for _ in range(self.random.randrange(3, 12)):
            if self.random.random() < 0.25:
                self.advance()
            self.send(self.mix.message(), waits=True)
            self.providers_answer()
            if self.random.random() < 0.1:
                place = self.random.randrange(len(self.providers))
                self.providers[place].socket.close()
                self.providers[place] = self.come(APPS[place])
        for _ in range(self.random.randrange(0, 4)):
            self.send(self.mix.message(), waits=False)

    def come(self, app):
        controls, widgets = kinds(self.relevance[app])
        return RawProvider(self.wire, self.durable.service.commands, *controls, widgets=widgets, app=app)

    def advance(self):
        """Moves the clock; who is asked on the way may answer, or let the call's deadline pass."""
        command = self.client.command("clock.advance", by=self.mix.advance())
        self.client.send(command)
        while True:
            try:
                [answer] = self.client.answer_to(command["req"], seconds=0.02)
                break
            except Silence:
                self.providers_answer()
                assert self.durable.service.alive
        assert answer["ok"], answer
        self.mix.now = answer["now"]

    def send(self, frames, waits):
        self.counts.commands += len(frames)
        self.client.send(*frames)
        if not waits:
            self.on_the_way.append(frames)
            return
        [*answers] = self.client.receive()
        assert len(answers) == len(frames), (len(frames), answers)
        for frame, answer in zip(frames, answers):
            self.take(frame, answer)

    def take(self, frame, answer):
        command = json.loads(frame)
        pair = pair_of(command)
        if not answer["ok"]:
            return
        self.counts.answered += 1
        known = self.answered.get(pair)
        if known and known.frame == frame and self.mix.now - known.at < REMEMBERED:
            assert answer == known.answer, f"executed twice: {frame}\n{known.answer}\n{answer}"
        else:
            self.answered[pair] = Answered(frame, answer, self.mix.now)
        if "id" in command and command["op"].endswith((".start", ".add")):
            place = command["op"].partition(".")[0], command["id"]
            self.counts.changed_hands += self.owners.get(place, command["app"]) != command["app"]
            self.owners[place] = command["app"]

    def providers_answer(self):
        """Each call that has come: often answered, sometimes late, and sometimes never."""
        for provider in self.providers:
            for call in provider.calls(0.002):
                self.counts.calls += 1
                if self.random.random() < 0.3:
                    continue
                self.counts.calls_answered += 1
                match call["op"]:
                    case "control.value":
                        provider.answer(call, self.random.random() < 0.5 if call["kind"] == "Torch" else 1)
                    case "widget.timeline":
                        now, step = call["now"], self.random.choice([1, SECOND, MINUTE])
                        provider.say(
                            "provider.answer", call=call["call"],
                            entries=[entry(now + n * step, n) for n in range(self.random.randrange(1, 4))],
                            policy=self.random.choice(["never", "atEnd", after(now + MINUTE)]))
                    case "widget.relevance":
                        provider.answer(call, [])
                    case _:
                        provider.answer(call)

    def end_of_life(self):
        """A kill at a random moment after the last message, and then everything that was still published."""
        service = self.durable.service
        if self.kills:
            with contextlib.suppress(subprocess.TimeoutExpired):
                service.process.wait(self.random.choice([0, 0.001, 0.003, 0.01, 0.05]))
            assert service.alive, service.log
            service.kill()
            self.counts.kills += 1
        else:
            self.durable.stop()
        self.take_late_answers()
        while True:
            try:
                topic, event, body = self.events.raw_next(0.05)
            except Silence:
                break
            self.published[topic.split("/", 1)[0]][event["seq"]] = body
            self.counts.published += 1
        for socket in [self.client.socket, self.events.socket, *(p.socket for p in self.providers)]:
            socket.close()

    def take_late_answers(self):
        """Takes the answers that came before the kill: those to the messages that were sent first."""
        while self.on_the_way:
            try:
                answers = self.client.receive(0.02)
            except Silence:
                break
            for frame, answer in zip(self.on_the_way.pop(0), answers, strict=True):
                self.take(frame, answer)
        self.counts.with_commands_in_flight += bool(self.on_the_way)
        for frame in itertools.chain.from_iterable(self.on_the_way):
            self.unanswered.add(pair_of(json.loads(frame)))
        self.on_the_way.clear()
        # Where one of these took the name of an earlier command, nobody knows whose answer is remembered.
        for pair in self.unanswered:
            self.answered.pop(pair, None)

    # Judging

    def judge(self):
        service = self.durable.service
        bulk = Bulk(self.wire, service.bulk)
        client = Commands(self.wire, service.commands)
        self.mix.now = client.read("service.ping")["now"]
        self.judge_streams(bulk, client)
        self.judge_retries(client)
        for stream in self.streams.values():  # what a retry that nobody had heard of has done
            stream.go_on(bulk, {})
        for socket in (bulk.socket, client.socket):
            socket.close()

    def judge_streams(self, bulk, client):
        for app, stream in self.streams.items():
            before = stream.replica.seq
            stream.go_on(bulk, self.published[app])
            self.counts.events += stream.replica.seq - before
            bulk.app = client.app = app
            pulled = bulk.snapshot()
            rows = {topic: json.loads(body)[family(topic)] for topic, body in pulled.rows}
            assert rows == stream.replica.entities, difference(app, rows, stream.replica.entities)
            assert pulled.end["seq"] == stream.replica.seq and pulled.end["digest"] == stream.replica.digest, pulled.end
            self.counts.rows_compared += len(rows)
            for name, list_name in FAMILIES.items():
                listed = client.read(f"{name}.list", limit=1000)[list_name]
                wanted = {e["id"] for topic, e in rows.items() if family(topic) == name}
                assert {row["id"] for row in listed} == wanted, f"{name}.list of {app}: {listed}\nnot {wanted}"
        self.counts.executed_unanswered += sum(
            pair in stream.pairs for pair in self.unanswered for stream in self.streams.values())
        self.unanswered.clear()

    def judge_retries(self, client):
        """What was answered is answered so again, or `outcomeUnknown` where it may be forgotten."""
        pairs = list(self.answered)
        recent = [pair for pair in pairs if self.mix.now - self.answered[pair].at < REMEMBERED]
        chosen = self.random.sample(recent, min(RETRIED, len(recent))) + self.random.sample(pairs, min(5, len(pairs)))
        for pair in chosen:
            known = self.answered[pair]
            is_recent = self.mix.now - known.at < REMEMBERED
            if not (is_recent or pair[1][-1].isdigit()):
                continue  # without a number nothing tells it from a new command
            [answer] = client.raw(known.frame)
            self.counts.retried += 1
            if is_recent or answer["ok"]:
                assert answer == known.answer, f"{known.frame} was answered\n{known.answer}\nand now\n{answer}"
            else:
                assert answer["error"]["code"] == "outcomeUnknown", answer


def pair_of(command):
    """What a command is remembered by."""
    return command["client"], command["req"]


def difference(app, rows, wanted):
    """Which rows differ, and how."""
    return f"{app} after the start:\n" + "\n".join(
        f"{topic}\n  shown     {rows.get(topic)}\n  in stream {wanted.get(topic)}"
        for topic in sorted(rows.keys() | wanted.keys()) if rows.get(topic) != wanted.get(topic))


def random_seed():
    return secrets.randbelow(1 << 32)

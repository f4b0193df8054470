"""The rules by which Hypothesis plays against the service, and the comparison after each of them."""

import collections
import json
import uuid

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from support.digest import digest

from .activity import HOUR, MINUTE, SECOND
from .comparison import Stream, same_answer, same_events
from .rules import Refused
from .service import Model
from .strategies import (
    ALERT, APPS, OFFSETS, PAYLOADS, STEPS, clients, devices, filler, guards, offsets, payloads, relevances, seldom,
    sources, switch, which)

class ServiceMachine(RuleBasedStateMachine):
    """One example: apps and devices of its own, and the clock that all examples share."""

    harness = None

    @initialize()
    def begin(self):
        self.number = self.harness.example()
        self.place = f"m{self.number}."
        self.apps = [self.place + name for name in APPS]
        self.model = Model(self.harness.commands.advance(by=0))
        self.streams = {app: Stream(app) for app in self.apps}
        self.clients = [str(uuid.uuid4()) for _ in range(2)]
        self.sent = []
        self.reqs = collections.Counter()
        self.connection = None
        self.sound = True
        self.connect()

    # Plumbing

    def connect(self):
        if self.connection != self.harness.connection:
            self.connection = self.harness.connection
            self.events = self.harness.subscribe(self.place)
            self.received = collections.defaultdict(collections.deque)

    def receive(self, app):
        while not self.received[app]:
            topic, event, body = self.events.raw_next()
            self.received[topic.split("/", 1)[0]].append((topic, event, body))
        return self.received[app].popleft()

    def device(self, name):
        return name and self.place + name

    def date(self, offset):
        return None if offset is None else self.model.now + offset

    def pick(self, which):
        """One of the newest activities, whatever its state; None where there is none."""
        return self.model.activities[-1 - which % len(self.model.activities)] if self.model.activities else None

    def command(self, op, client=None, **fields):
        """The command as the model reads it; None leaves a field out."""
        place = "anonymous" if client is None else f"c{client}-"
        self.reqs[place] += 1
        whole = {"op": op, "req": f"{place}{self.reqs[place]}", **fields}
        if client is not None:
            whole["client"] = self.clients[client]
        return {name: value for name, value in whole.items() if value is not None}

    @staticmethod
    def frame(command):
        """The bytes: payloads are texts already, and stand in the command as they are."""
        members = [
            json.dumps(name) + ":" + (value if name in ("attributes", "contentState") else json.dumps(value))
            for name, value in command.items()]
        return ("{" + ",".join(members) + "}").encode()

    def play(self, command):
        """Sends a command, and compares everything."""
        self.connect()
        frame = self.frame(command)
        if "client" in command:
            self.sent.append((command, frame))
        self.resend((command, frame))

    def resend(self, *pairs):
        """One message with these commands and their bytes; they run in order."""
        self.sound = False
        answers = self.harness.commands.raw(*[frame for _, frame in pairs])
        assert len(answers) == len(pairs)
        groups = []
        for (command, frame), answer in zip(pairs, answers):
            self.harness.played += 1
            given = answer.get("activity", {}).get("id")
            expected = self.model.execute(command, frame, given)
            groups += self.model.groups
            same_answer(expected, answer, command)
            if answer.get("outcome") == "applied" and expected.get("activity", {}).get("revision") == 1:
                if "id" not in command:
                    assert uuid.UUID(given).version == 7 and given == given.lower()
        self.compare(groups)

    def compare(self, groups):
        """The events and the replica; digests and lists of the apps that changed and of one more in turn."""
        same_events(groups, self.streams, self.receive)
        changed = {event.activity.app for group in groups for event in group}
        for app in sorted(changed | {self.apps[self.harness.played % len(APPS)]}):
            stream, listed = self.streams[app], self.model.listed(app)
            digest = self.harness.digest(app)
            assert digest["seq"] == stream.seq == self.model.seq[app], (app, digest, stream.seq, self.model.seq)
            assert (digest["entities"], digest["digest"]) == (len(listed), stream.digest), (app, digest)
            if stream.epoch:
                assert digest["epoch"] == stream.epoch
            answer = self.harness.commands.read("activity.list", app=app, limit=1000)
            assert (answer["total"], answer["exact"]) == (len(listed), True)
            rows = {row["id"]: row for row in answer["activities"]}
            assert rows == {a.id: a.read() for a in listed}
        self.sound = True

    # Starts

    @rule(
        app=st.sampled_from([0, 0, 0, 0, 1]), device=devices, key=st.sampled_from([None, None, "k1", "k2"]),
        stale=offsets, start=st.none() | st.none() | st.sampled_from([-1, 0, 1, SECOND, HOUR]), if_exists=switch,
        alert=switch, style=st.sampled_from([None, "standard", "transient"]), relevance=relevances,
        background=st.sampled_from([None, None, None, True, False]), attributes=payloads, content=payloads,
        own=st.sampled_from([None, None, None, "fresh", 0, 1, 2]), source=sources, client=clients,
        guard=st.sampled_from([None, None, 1, 2]),
        push=st.sampled_from([None, None, "token", {"channel": "c"}]))
    def start(self, app, device, key, stale, start, if_exists, alert, style, relevance, background, attributes,
              content, own, source, client, guard, push):
        attributes = attributes if isinstance(attributes, str) else filler(2000 + attributes)
        content = content if isinstance(content, str) else filler(4096 + content - len(attributes.encode()))
        chosen = str(uuid.uuid4()) if own == "fresh" else None
        if isinstance(own, int) and (activity := self.pick(own)):
            chosen = activity.id
        self.play(self.command(
            "activity.start", client, app=self.apps[app], type="Ride" if relevance else "Delivery",
            attributes=attributes, contentState=content, device=self.device(device), key=key,
            ifExists="update" if if_exists and key else None, ifRevision=guard if if_exists and key else None,
            staleDate=self.date(stale), startDate=self.date(start),
            alert=ALERT if alert or start is not None else None, style=style, relevanceScore=relevance,
            background=background, id=chosen, pushType=push, source=source))

    @rule(count=st.integers(2, 12), first=st.integers(0, 4), device=st.sampled_from(["phone", "tablet", None]),
          client=clients)
    def fill(self, count, first, device, client):
        """Many starts in one message, two of each app in turn: the maxima of an app and of a device."""
        self.connect()
        commands = [
            self.command(
                "activity.start", client, app=self.apps[(first + n // 2) % len(APPS)], type="Delivery",
                attributes="{}", contentState=PAYLOADS[n % 2], device=self.device(device))
            for n in range(count)]
        self.resend(*[(command, self.frame(command)) for command in commands])

    # Commands on what is there

    def target(self, which, by_key, guard):
        """The fields that address an activity, with a guard that fits or not; None where nothing is there."""
        activity = self.pick(which)
        if activity is None:
            return None, {}
        address = {"app": activity.app, "id": activity.id}
        if by_key and activity.key:
            address = {"app": activity.app, "key": activity.key, "device": activity.device}
        revision = {"right": activity.revision, "wrong": activity.revision + 1}.get(guard)
        return activity, {**address, "ifRevision": revision}

    def content(self, activity, content, same=False):
        if same:
            return activity.content
        if content is None or isinstance(content, str):
            return content
        return filler(4096 + content - len(activity.attributes.encode()))

    @precondition(lambda self: self.model.activities)
    @rule(which=which, by_key=switch, guard=guards, content=payloads, same=switch, stale=offsets, relevance=relevances,
          stamp=st.none() | st.none() | st.sampled_from([*OFFSETS, 8 * HOUR + 1]), source=sources, alert=seldom,
          client=clients)
    def update(self, which, by_key, guard, content, same, stale, relevance, stamp, source, alert, client):
        activity, address = self.target(which, by_key, guard)
        keep = same and stale is None
        self.play(self.command(
            "activity.update", client, **address, contentState=self.content(activity, content, same),
            staleDate=activity.stale_date if keep else self.date(stale),
            relevanceScore=activity.relevance if keep else relevance, timestamp=self.date(stamp), source=source,
            alert=ALERT if alert else None))

    @precondition(lambda self: self.model.activities)
    @rule(which=which, by_key=switch, guard=guards, content=st.none() | payloads,
          policy=st.sampled_from([None, "default", "immediate", -HOUR, 0, 1, HOUR, 4 * HOUR, 5 * HOUR]),
          stamp=st.none() | st.none() | st.sampled_from([*OFFSETS, 8 * HOUR + 1]), source=sources, client=clients)
    def end(self, which, by_key, guard, content, policy, stamp, source, client):
        activity, address = self.target(which, by_key, guard)
        if isinstance(policy, int):
            policy = {"after": self.date(policy)}
        self.play(self.command(
            "activity.end", client, **address, contentState=self.content(activity, content), dismissalPolicy=policy,
            timestamp=self.date(stamp), source=source))

    @precondition(lambda self: self.model.activities)
    @rule(which=which, by_key=switch, guard=guards, by=st.sampled_from([None, "person", "system"]), client=clients)
    def dismiss(self, which, by_key, guard, by, client):
        _, address = self.target(which, by_key, guard)
        self.play(self.command("activity.dismiss", client, **address, by=by))

    @precondition(lambda self: self.model.activities)
    @rule(which=which, by_key=switch, guard=guards, content=st.none() | payloads, stale=offsets, client=clients)
    def renew(self, which, by_key, guard, content, stale, client):
        activity, address = self.target(which, by_key, guard)
        self.play(self.command(
            "activity.renew", client, **address, contentState=self.content(activity, content),
            staleDate=self.date(stale)))

    @precondition(lambda self: self.model.activities)
    @rule(which=which, by_key=switch)
    def get(self, which, by_key):
        """Also what is dismissed, until its retention is over."""
        _, address = self.target(which, by_key, None)
        command = self.command("activity.get", **address)
        answer = self.harness.commands.ask(**command)
        try:
            expected = self.model.resolve(command).read()
        except Refused:
            assert answer["error"]["code"] == "notFound", (command, answer)
            return
        assert answer["ok"], (command, answer, expected)
        found = {n: v for n, v in answer["activity"].items() if n in expected or n != "contentState"}
        assert found == expected, f"{command}\nexpected {expected}\nanswered {found}"

    @rule(app=st.integers(0, 4), prefix=st.sampled_from(["", "activity/Ride/"]))
    def snapshot(self, app, prefix):
        """Of an app or of a type: the very rows that are listed."""
        app = self.apps[app]
        self.harness.bulk.app = app
        pulled = self.harness.bulk.snapshot(prefix=f"{app}/{prefix}")
        listed = {a.topic: a for a in self.model.listed(app) if a.topic.startswith(f"{app}/{prefix}")}
        assert {topic: json.loads(body)["activity"] for topic, body in pulled.rows} == {
            topic: a.shown() for topic, a in listed.items()}
        assert pulled.from_seq == pulled.end["seq"] == self.model.seq[app]
        assert (pulled.end["entities"], pulled.end["digest"]) == (
            len(listed), digest({topic: a.revision for topic, a in listed.items()}))

    # Switches, devices, the clock

    @rule(device=devices, name=st.sampled_from(["activitiesEnabled", "frequentPushesEnabled"]),
          value=st.sampled_from([True, True, False]), app=which, client=clients)
    def settings(self, device, name, value, app, client):
        self.play(self.command(
            "settings.set", client, app=self.apps[app == 5], device=self.device(device), **{name: value}))

    @rule(device=st.sampled_from(["phone", "tablet"]), client=clients, event=st.sampled_from(
        ["lock", "unlock", "collapse", "leave", "reboot", "appForeground", "appForeground", "appBackground",
         "uninstall"]))
    def report(self, device, event, client):
        named = event in ("appForeground", "appBackground", "uninstall")
        self.play(self.command(
            "device.event", client, device=self.device(device), event=event, app=self.apps[0] if named else None))

    @rule(step=st.sampled_from(STEPS), absolute=switch, client=clients)
    def advance(self, step, absolute, client):
        fields = {"to": self.date(step)} if absolute else {"by": step}
        self.play(self.command("clock.advance", client, **fields))

    @rule(back=st.sampled_from([1, HOUR]))
    def advance_back(self, back):
        self.play(self.command("clock.advance", to=self.date(-back)))

    @precondition(lambda self: any(a.deadline for a in self.model.activities))
    @rule(which=which, early=st.sampled_from([0, 0, 1]))
    def advance_to_a_deadline(self, which, early):
        """Exactly there, or a millisecond before."""
        dates = sorted({a.deadline[0] for a in self.model.activities if a.deadline})
        to = dates[which % len(dates)] - early
        if to >= self.model.now:
            self.play(self.command("clock.advance", to=to))

    # Retries

    def again(self, command, frame):
        """Not where numbers would fall: what is remembered of them then is not promised."""
        self.connect()
        self.model.retries.forget(self.model.now)
        if self.model.retries.rises((command["client"], command["req"]), frame):
            self.resend((command, frame))

    @precondition(lambda self: self.sent)
    @rule(which=st.integers(0, 12))
    def retry(self, which):
        """An earlier command with the same bytes."""
        self.again(*self.sent[-1 - which % len(self.sent)])

    @precondition(lambda self: self.sent)
    @rule(which=st.integers(0, 12))
    def reuse(self, which):
        """An earlier `req` for something else."""
        command, _ = self.sent[-1 - which % len(self.sent)]
        other = {**command, "ttl": 60_000}
        self.again(other, self.frame(other))

    # Restarts

    @precondition(lambda self: self.harness.durable)
    @rule(kill=switch, later=st.sampled_from([None, None, 0, 1, 11 * MINUTE, 5 * HOUR, 13 * HOUR]))
    def restart(self, kill, later):
        """Nothing is lost; a manual clock that stands later at the start has made a step like any other."""
        self.sound = False
        self.harness.restart(kill=kill, to=self.date(later))
        self.model.groups = []
        self.model.retries.restart(self.model.now, self.date(later or 0))
        self.model.advance(self.date(later or 0))
        self.catch_up()

    @precondition(lambda self: self.harness.durable)
    @rule(device=devices, stale=offsets, content=st.sampled_from(PAYLOADS), client=st.integers(0, 1))
    def kill_with_a_command_on_its_way(self, device, stale, content, client):
        """Whether it was executed or not: after the retry it was, once; the clock stands still meanwhile."""
        self.connect()
        command = self.command(
            "activity.start", client, app=self.apps[0], type="Delivery", attributes="{}", contentState=content,
            device=self.device(device), staleDate=self.date(stale))
        frame = self.frame(command)
        self.sound = False
        self.harness.commands.send(frame)
        self.harness.restart(kill=True)
        self.sent.append((command, frame))
        self.connection = self.harness.connection
        self.events = self.harness.subscribe(self.place)
        self.received = collections.defaultdict(collections.deque)
        [answer] = self.harness.commands.raw(frame)
        expected = self.model.execute(command, frame, answer.get("activity", {}).get("id"))
        same_answer(expected, answer, command)
        self.catch_up(fresh=False)

    def catch_up(self, fresh=True):
        """After a restart: the stream from the journal, and all that was received before, byte for byte."""
        if fresh:
            self.connect()
        assert self.harness.commands.advance(by=0) == self.model.now
        for app, stream in self.streams.items():
            stored = self.harness.replay(app, 0)
            assert [(topic, body) for topic, _, body in stored[:stream.seq]] == stream.bodies, f"the replay of {app}"
            self.received[app] = collections.deque(stored[stream.seq:])
        self.compare(self.model.groups)
        # What was committed before this connection comes from the replay, the rest comes live as well.
        self.connection = None

    def teardown(self):
        """The stored events are those that came; and nothing stays behind that would have deadlines later."""
        if getattr(self, "sound", False):
            for app, stream in self.streams.items():
                stored = self.harness.replay(app, 0)
                assert [(topic, body) for topic, _, body in stored] == stream.bodies, f"the replay of {app}"
            for app in self.apps:
                self.harness.commands.read("settings.set", app=app, activitiesEnabled=False)
            self.events.socket.close()

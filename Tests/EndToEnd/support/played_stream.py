"""One app's stream in virtual time: a service, the ways to a replica's machine and back, and a fault at one message.

Nothing here has a socket or a clock. `Play` runs a script of changes, cuts and restarts, made from a seed, counts all
messages between the two, and loses, doubles or delays the one that it is told to (briefly or for long; what comes
after overtakes it), or has it answered by `busy`. It knows what was true at each position, and so whether the replica is right."""

import heapq
import itertools
import json
import random

import islet
from .digest import digest

APP = "com.example.pizza"
PREFIX = f"{APP}/activity/Ride/"
LATENCY = 0.002
LATENESS = {"delay": 5.0, "late": 0.7}
WORK = 12.0
"""Seconds in which most changes are made; in some scripts a few follow until the end."""
HEALED = 30.0
"""Seconds after which the replica must be right again."""
FAULTS = ("lose", "delay", "late", "double", "busy")


class PlayedService:
    """The service's side of events and bulk, as in the contract, for one app and one peer."""

    ROWS, RING = 3, 20

    def __init__(self, play, rng):
        self.play, self.rng = play, rng
        self.lives = itertools.count(1)
        self.truth = {}  # (epoch, seq) → {topic: revision}
        self.log = {}  # (epoch, seq) → topic
        self.topics, self.pulls = [], {}
        self.forget()

    def forget(self):
        """Begins anew, as a store in memory does."""
        self.epoch, self.seq, self.entities, self.events = f"epoch-{next(self.lives)}", 0, {}, []
        self.known, self.changed_at, self.marked_at = False, -1e9, 0.0
        self.truth[self.epoch, 0] = {}

    # Changes

    def change(self, now):
        names = list(self.entities)
        dice = self.rng.random()
        if not names or dice < 0.4:
            topic = f"{APP}/activity/{self.rng.choice(('Ride', 'Order'))}/{self.rng.getrandbits(40):x}"
            self.entities[topic] = patch = {"id": topic[-8:], "revision": 1, "state": "active"}
            event = {"event": "activity.started", "to": "active"}
        else:
            topic = self.rng.choice(names)
            held = self.entities[topic]
            event = {"event": "activity.updated", "from": "active", "to": "active"}
            patch = {"revision": held["revision"] + 1, "n": self.rng.randrange(9)}
            if dice > 0.85:
                event.update(event="activity.dismissed", to="dismissed")
                patch["state"] = "dismissed"
                del self.entities[topic]
            else:
                self.entities[topic] = {**held, **patch}
        self.known, self.changed_at = True, now
        self.seq += 1
        body = {"epoch": self.epoch, "seq": self.seq, "at": 0, **event, "activity": patch}
        self.events.append((self.seq, topic, body))
        self.truth[self.epoch, self.seq] = {topic: each["revision"] for topic, each in self.entities.items()}
        self.log[self.epoch, self.seq] = topic
        self.publish(topic.encode(), body)

    def publish(self, topic, body):
        if any(topic.startswith(prefix) for prefix in self.topics):
            self.play.to_replica("events", [topic, json.dumps(body).encode()])

    def position(self, prefix=""):
        listed = {topic: each["revision"] for topic, each in self.entities.items() if topic.startswith(prefix)}
        return {"epoch": self.epoch, "seq": self.seq, "entities": len(listed), "digest": digest(listed)}

    def tick(self, now):
        """Watermarks: each second while something changed within a minute, and every 30 s else."""
        if self.known and now - self.marked_at >= (1.0 if now - self.changed_at < 60 else 30.0):
            self.mark(now)

    def mark(self, now):
        self.marked_at = now
        self.publish(f"{APP}/~".encode(), {**self.position(), "at": 0})

    # Questions

    def subscribe(self, topic):
        self.topics.append(topic)
        if topic.startswith(b"\xff"):
            apps = {APP: {"epoch": self.epoch, "seq": self.seq}} if self.known else {}
            self.publish(topic, {"at": 0, "apps": apps, "epoch": self.epoch})

    def inform(self, command, busy):
        """`service.info`, where commands go."""
        answer = {"ok": False, "error": {"code": "busy"}} if busy else {"ok": True, "info": {"epoch": self.epoch}}
        self.play.to_replica("owner", [json.dumps({"req": command["req"], **answer}).encode()])

    def ask(self, command, busy):
        req, op = command["req"], command["op"]
        if op == "bulk.cancel":
            self.pulls.pop(req, None)
        elif op == "bulk.credit":
            if req in self.pulls:
                self.pulls[req]["credit"] += command["credit"]
                self.advance(req)
        elif busy:
            self.refuse(req, "busy", "later", retryAfter=100)
        elif op == "bulk.digest":
            self.play.to_replica("bulk", [json.dumps(
                {"req": req, "ok": True, **self.position(command["prefix"])}).encode()])
        elif req in self.pulls:
            self.refuse(req, "requestReused", "never")
        else:
            self.pulls[req] = {**command, "chunk": 0, "fromSeq": self.seq, "rows": sorted(self.entities)}
            self.advance(req)

    def refuse(self, req, code, retry, **more):
        self.play.to_replica("bulk", [json.dumps(
            {"req": req, "ok": False, "error": {"code": code, "message": "", "retry": retry, **more}}).encode()])

    def advance(self, req):
        """One chunk for each credit, with a little time between them, in which more may happen."""
        pull = self.pulls[req]
        if pull["credit"] and not pull.get("busy"):
            pull["busy"] = True
            self.play.after(LATENCY, lambda: self.chunk(req, pull))

    def chunk(self, req, pull):
        if self.pulls.get(req) is not pull:
            return
        pull["busy"] = False
        header = {"req": req, "chunk": pull["chunk"]}
        if pull["op"] == "bulk.snapshot":
            prefix = pull.get("prefix", "")
            if pull["chunk"] == 0:
                header["fromSeq"] = pull["fromSeq"]
            taken, pull["rows"] = pull["rows"][:self.ROWS], pull["rows"][self.ROWS:]
            rows = [(topic, {"activity": self.entities[topic]}) for topic in taken
                    if topic in self.entities and topic.startswith(prefix)]
            ends = not pull["rows"]
        else:
            prefix, first = "", pull["from"] + 1
            if first <= self.seq and (not self.events or self.events[0][0] > first):
                del self.pulls[req]
                return self.play.to_replica("bulk", [json.dumps({
                    **header, "rows": 0, "epoch": self.epoch, "end": True,
                    "error": {"code": "tooOld", "message": "", "retry": "refresh"}}).encode()])
            rows = [(topic, body) for seq, topic, body in self.events if seq >= first][:self.ROWS]
            pull["from"] += len(rows)
            ends = pull["from"] >= self.seq
        header["rows"] = len(rows)
        header.update({"end": True, **self.position(prefix)} if ends else {"epoch": self.epoch})
        frames = [part for topic, row in rows for part in (topic.encode(), json.dumps(row).encode())]
        self.play.to_replica("bulk", [json.dumps(header).encode(), *frames])
        pull["chunk"] += 1
        pull["credit"] -= 1
        if ends:
            del self.pulls[req]
        else:
            self.advance(req)


class Play:
    """A script, a machine, and a fault: `fault` is a pair of a kind and the number of a message, or None."""

    def __init__(self, seed, prefix=None, fault=None):
        self.seed, self.prefix = seed, prefix
        self.kind, self.at = fault or (None, None)
        self.now, self.faulted, self.synced_at = 0.0, None, None
        self.messages = []  # what each was, for reports
        self.questions = set()  # numbers of those that `busy` may answer
        self._order, self._heap = itertools.count(), []
        self._down = {"events": False, "bulk": False, "owner": False}
        self._lives = {"events": 0, "bulk": 0, "owner": 0}  # connections so far: what was on its way on an older one is lost
        rng = random.Random(seed)
        self.service = PlayedService(self, rng)
        self._wanted = []  # what the replica's socket is subscribed to, and so each connection of it
        self.last = {}  # epoch → the event that was told last
        self.known = {}  # epoch → up to where its reader knows all
        self.heard = {}  # topic → revision, from nothing but what was told
        self._script(rng)
        self.machine = islet._Machine(APP, prefix, 0.0, random.Random(seed), owned=seed % 2 == 1)
        self._step(lambda: None)

    # The script

    def _script(self, rng):
        changes = sorted(rng.uniform(0, WORK) for _ in range(rng.choice((3, 12, 40))))
        if rng.random() < 0.5:
            changes += [WORK + 1.7 * number for number in range(1, 20)]
        for at in changes:
            self._at(at, lambda: self.service.change(self.now))
            self._at(at + 0.1, lambda: self.service.mark(self.now))
        for at in range(1, 100):
            self._at(float(at), lambda: self.service.tick(self.now))
        cut, what = rng.uniform(1, WORK - 2), rng.choice(("cut", "trimmed", "restart", "forget"))
        ends = ["events"] if what in ("cut", "trimmed") else list(self._lives)
        self._at(cut, lambda: self._cut(ends))
        if what == "forget":
            self._at(cut + 0.1, self.service.forget)
        for _ in range(3):
            self._at(cut + rng.uniform(0.1, 0.4), lambda: self.service.change(self.now))
        if what == "trimmed":
            self._at(cut + 0.45, lambda: self.service.events.__delitem__(slice(-1)))
        self._at(cut + 0.5, lambda: self._connect(ends))
        self.what = what

    def _cut(self, ends):
        for end in ends:
            self._down[end] = True
            self._lives[end] += 1
        if "bulk" in ends:
            self.service.pulls.clear()
        self._step(lambda: self.machine.disconnected(self.now))

    def _connect(self, ends):
        """Subscriptions are sent one after another, prefixes first: much may happen before the join is answered."""
        for end in ends:
            self._down[end] = False
        self.service.topics = []
        for topic in sorted(self._wanted):
            if topic.startswith(b"\xff"):
                self.service.change(self.now)
                self.service.mark(self.now)
                self.after(0.05, lambda topic=topic: topic in self._wanted and self.service.subscribe(topic))
            else:
                self.service.subscribe(topic)

    # The ways

    def _at(self, at, act):
        heapq.heappush(self._heap, (at, next(self._order), act))

    def after(self, seconds, act):
        self._at(self.now + seconds, act)

    def to_replica(self, way, frames):
        take = {"events": self.machine.subscribed, "bulk": self.machine.pulled, "owner": self.machine.informed}[way]
        self._pass(way, f"{way}: {frames[0][:90]!r}", lambda _: self._step(lambda: take(frames, self.now)))

    def to_service(self, way, what, act, is_question=False):
        if is_question:
            self.questions.add(len(self.messages))
        self._pass(way, f"{way} asked: {what!r:.90}", act)

    def _pass(self, way, what, act):
        number, life = len(self.messages), self._lives[way]
        self.messages.append(f"{self.now:.3f} {what}")
        fault = self.kind if number == self.at else None
        if fault:
            self.faulted = self.now

        def arrive():
            if life == self._lives[way]:
                act(fault == "busy")

        if self._down[way] or fault == "lose":
            return
        self.after(LATENESS.get(fault, LATENCY), arrive)
        if fault == "double":
            self.after(LATENCY, arrive)

    def _step(self, act):
        act()
        self.machine.tick(self.now)
        todo, self.machine.todo = self.machine.todo, []
        for what, about in todo:
            if what == "send":
                asks = about["op"] in ("bulk.snapshot", "bulk.replay", "bulk.digest")
                self.to_service("bulk", about, lambda busy, about=about: self.service.ask(about, busy), asks)
            elif what == "subscribe":
                self._wanted.append(about)
                self.to_service("events", about[:6], lambda _, about=about: self.service.subscribe(about))
            elif what == "unsubscribe":
                self._wanted.remove(about)
                self.to_service("events", about[:6], lambda _, about=about: (
                    about in self.service.topics and self.service.topics.remove(about)))
            elif what == "bulk":
                self._lives["bulk"] += 1
                self.service.pulls.clear()
            elif what == "owner":
                self._lives["owner"] += 1
                if about:
                    self.to_service(
                        "owner", about, lambda busy, about=about: self.service.inform(about, busy), is_question=True)
            elif what == "report":
                [applied] = about["apps"].values()
                assert (applied["epoch"], applied["seq"]) in self.service.truth, f"{self.now:.3f}: {about} never was"
                assert any(about["nonce"].encode() in topic for topic in self._wanted), f"{self.now:.3f}: {about}"
            else:
                self._lives["events"] += 1
                self.service.topics = list(about)
                self._wanted = list(about)
        self._hear()
        if flaw := self._flaw(strict=False):
            raise AssertionError(f"{self.now:.3f}: {flaw}")

    # What is right

    def _hear(self):
        while self.machine.out:
            change = self.machine.out.popleft()
            assert isinstance(change, islet.Change), change
            if change.kind == "synced":
                self.synced_at = self.now if self.synced_at is None else self.synced_at
                self.known[self.machine.epoch] = self.machine.seq
                self.heard = {topic: entity["revision"] for topic, entity in self.machine.table.entities.items()}
            elif change.kind == "event":
                epoch, seq = change.event["epoch"], change.event["seq"]
                assert seq > self.last.get(epoch, 0), f"{self.now:.3f}: event {seq} was told after {self.last[epoch]}"
                self.last[epoch] = seq
                self._follows(epoch, seq)
                if change.entity is not None:
                    self.heard.pop(change.topic, None)
                    if change.entity["state"] != "dismissed":
                        self.heard[change.topic] = change.entity["revision"]

    def _follows(self, epoch, seq):
        """Each event was told, or followed by a `synced`; only what was lost on its way is none that a prefix can miss."""
        skipped = [each for each in range(self.known.get(epoch, seq) + 1, seq)
                   if self.service.log[epoch, each].startswith(self.prefix or "")]
        self.known[epoch] = seq
        assert not skipped or self._loses_events(), f"{self.now:.3f}: {seq} was told, and {skipped} before it never"

    def _loses_events(self):
        """Whether the fault keeps an event, or takes it out of its order: no number shows that in a prefix."""
        return self.prefix and self.at is not None and f"events: b'{APP}" in self.messages[self.at]

    def _flaw(self, strict=True):
        """What is wrong with the replica. Not `strict`: only what may never be, also while something is repaired."""
        machine, service = self.machine, self.service
        if machine.state != "following" or machine.seq < machine.fuzzy:
            return f"it is {machine.state} at {machine.seq}" if strict else None
        if not strict and self.prefix:
            return None
        held = {topic: entity["revision"] for topic, entity in machine.table.entities.items()}
        true = service.truth.get((machine.epoch or service.epoch, machine.seq))
        if self.prefix and true is not None:
            true = {topic: revision for topic, revision in true.items() if topic.startswith(self.prefix)}
        if held != true:
            return f"it holds {held} at {machine.seq} of {machine.epoch}, and {true} is true"
        if strict and self.heard != held:
            return f"its reader was told {self.heard}, and it holds {held}"
        if strict and (machine.epoch or service.epoch) != service.epoch:
            return f"it follows {machine.epoch}, and {service.epoch} is the present one"
        return None

    def run(self):
        """Plays until the replica must be right, and a while longer; gives what is wrong, or None."""
        limit = WORK + HEALED
        while self.now < limit:
            due = self.machine.due()
            if self._heap and self._heap[0][0] <= due:
                self.now, _, act = heapq.heappop(self._heap)
                act()
            else:
                self.now = max(self.now, due)
                self._step(lambda: None)
            limit = max(WORK, self.faulted or 0.0) + HEALED
        # What is on its way at this moment is no fault.
        end = self.now + 3.0
        while (flaw := self._flaw() or self._behind()) and self.now < end and self._heap:
            self.now, _, act = heapq.heappop(self._heap)
            act()
        return flaw

    def _behind(self):
        """Whether it has not heard of what is long known."""
        service, machine = self.service, self.machine
        if machine.seq < service.seq and self.now - service.changed_at > 1.2:
            return f"it stands at {machine.seq}, and {service.seq} is the last"
        return None


class Rush(Play):
    """A service that has many entities, and a change each few milliseconds; its connections last."""

    BEFORE, EACH = 1_500, 0.005

    def _script(self, rng):
        for _ in range(self.BEFORE):
            self.service.change(self.now)
        for number in range(int(WORK / self.EACH)):
            self._at(number * self.EACH, lambda: self.service.change(self.now))
        for at in range(1, 100):
            self._at(float(at), lambda: self.service.tick(self.now))
        self.what = "rush"

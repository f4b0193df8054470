"""Starts, kills and restarts the service, and judges what clients saw."""

import dataclasses
import random
import signal
import socket
import sys
import time

from support.followed import as_followed
from support.bulk import Bulk
from support.commands import Commands
from support.service import Service
from support.wire import Deadline, Wire

from .fold import Fold
from .load import Load
from .subscriber import Subscriber, fingerprint, replay
from .writer import Writer

APPS = ["kill.pizza", "kill.taxi"]
START_LIMIT = 60
"""Seconds that a start may take."""
ANSWER_LIMIT = 60
"""Seconds in which all answers must be there after the last start."""
MOST_KILLS = 10
"""Times as many kills as planned, at most, until a retry and a deadline that was due while down have been seen."""


@dataclasses.dataclass
class Plan:
    """How long, how hard. With `dry` nothing is killed: that tests the checks themselves."""

    folder: str
    store: str = "sqlite"
    kills: int = 1000
    seed: int = 1
    between: tuple = (0.05, 1.0)
    writers: int = 4
    window: int = 64
    rate: int = 300
    sync: str = "full"
    dry: bool = False
    every: int = 50
    early: float = 0.1
    """Share of the kills that come before the service is ready again."""


def free_ports(count):
    """Ports that nobody uses now, below those that the system gives out by itself."""
    found = []
    while len(found) < count:
        port = random.SystemRandom().randrange(15_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                found.append(port)
            except OSError:
                continue
    return found


def milliseconds():
    return time.time_ns() // 1_000_000


class Campaign:
    """One run. `run` gives the counts as a dictionary; a broken promise, such as a command that is lost or executed twice,
    is an AssertionError."""

    def __init__(self, plan, say=lambda text: print(text, file=sys.stderr)):
        self.plan, self.say = plan, say
        self.random = random.Random(plan.seed)
        urls = [f"tcp://127.0.0.1:{port}" for port in free_ports(3)]
        self.options = dict(zip(("--commands", "--events", "--bulk"), urls))
        self.options["--store"] = plan.store
        if plan.store == "sqlite":
            self.options |= {"--data": plan.folder, "--sync": plan.sync}
        self.folds = {app: Fold(app) for app in APPS}
        self.spawned = self.early = self.busy = 0
        self.begin()
        self.writers = [
            Writer(Load(f"w{n}", APPS[n % len(APPS)], plan.seed), urls[0], window=plan.window, rate=plan.rate)
            for n in range(plan.writers)]
        self.subscriber = Subscriber(self.service, "kill.")

    # The process

    def begin(self):
        """Starts a process and waits until it serves."""
        at = milliseconds()
        for fold in self.folds.values():
            fold.started(at)
        self.service = Service(self.options)
        self.spawned += 1

    def ready(self):
        self.service.line(r"ready commands=", seconds=START_LIMIT)
        self.service.ready()

    def kill(self):
        """Without a word; now and then once more before it serves again."""
        self.service.signal(signal.SIGKILL)
        self.service.wait()
        # What was sent and has no answer when the process is gone was on its way, in a batch, or on its way back.
        self.busy += any(writer.waiting for writer in self.writers)
        while self.random.random() < self.plan.early:
            self.begin()
            time.sleep(self.random.uniform(0, 0.15))
            self.service.signal(signal.SIGKILL)
            self.service.wait()
            self.early += 1
        time.sleep(self.random.choice([0, 0, self.random.uniform(0, 0.5)]))
        self.begin()
        self.ready()

    def announce(self):
        self.subscriber.restarted(self.service)
        for writer in self.writers:
            writer.restarted()

    def check_alive(self):
        for thread in [*self.writers, self.subscriber]:
            if thread.failure:
                raise thread.failure
        assert self.service.alive, f"ended by itself with {self.service.process.returncode}:\n{self.service.log}"

    def wait_for_work(self):
        """Until this process has answered something: the kill of an idle one proves nothing."""
        deadline, before = Deadline(ANSWER_LIMIT), self.acknowledged
        while self.acknowledged == before:
            self.check_alive()
            assert not deadline.passed, "nothing is answered"
            time.sleep(0.005)

    @property
    def acknowledged(self):
        return sum(writer.acknowledged for writer in self.writers)

    def has_seen_all(self):
        """Whether the kills have come in the middle of something: a command on its way, a retry, and a deadline due while
        it was down."""
        self.judge()
        return self.busy and any(w.retried for w in self.writers) and any(fold.late for fold in self.folds.values())

    # A run

    def run(self):
        begun = time.monotonic()
        try:
            self.ready()
            for thread in [self.subscriber, *self.writers]:
                thread.start()
            number = 0
            while number < self.plan.kills or not (self.plan.dry or self.has_seen_all()):
                assert number < self.plan.kills * MOST_KILLS, f"{number} kills, and nothing to judge: {self.counts(0)}"
                number += 1
                time.sleep(self.random.uniform(*self.plan.between))
                self.wait_for_work()
                if not self.plan.dry:
                    self.kill()
                self.announce()
                self.read_back()
                if number % self.plan.every == 0:
                    self.judge()
                    self.say(f"{number} kills, {self.acknowledged} commands, "
                             f"{sum(fold.seq for fold in self.folds.values())} events, "
                             f"{time.monotonic() - begun:.0f} s")
            self.settle()
            return self.counts(time.monotonic() - begun)
        finally:
            for writer in self.writers:
                writer.aborted.set()
            self.subscriber.stopping.set()
            self.service.kill()

    def settle(self):
        """The last answers, the last deadlines, and everything compared once more from the beginning."""
        for writer in self.writers:
            writer.finish()
        deadline = Deadline(ANSWER_LIMIT)
        for writer in self.writers:
            writer.join(deadline.milliseconds / 1000)
            self.check_alive()
            assert not writer.is_alive(), f"{len(writer.waiting)} commands have no answer"
        time.sleep(2)  # every short deadline is at most a second and a half ahead
        self.check_alive()
        self.judge()
        deadline = Deadline(ANSWER_LIMIT)
        while any(self.subscriber.places[app] < fold.seq for app, fold in self.folds.items()):
            self.check_alive()
            assert not deadline.passed, f"the subscriber is at {self.subscriber.places}"
            time.sleep(0.05)
        self.subscriber.stopping.set()
        self.subscriber.join(10)
        self.check_alive()
        self.compare_from_the_beginning()
        self.compare_entities()
        if not self.plan.dry:
            self.service.stop()

    # Judging

    def read_back(self):
        """Some of what was answered, straight after the start: a read shows at least that."""
        wire = Wire("pyzmq")
        try:
            client = Commands(wire, self.service.commands)
            for writer in self.writers:
                for answer in writer.last(3):
                    shown = client.get(answer.id, app=answer.app)
                    assert shown["revision"] >= answer.revision, f"{answer}\n{shown}"
        finally:
            wire.close()

    def judge(self):
        """Folds what is new in the stream, and looks for every answered command in it."""
        wire = Wire("pyzmq")
        try:
            bulk = Bulk(wire, self.service.bulk)
            taken = {writer: [writer.answered.popleft() for _ in range(len(writer.answered))]
                     for writer in self.writers}
            for app, fold in self.folds.items():
                for topic, event, _ in replay(bulk, app, fold.seq):
                    fold.take(topic, event)
            for answers in taken.values():
                for answer in answers:
                    self.folds[answer.app].answered(answer)
        finally:
            wire.close()

    def compare_from_the_beginning(self):
        """The whole stream once more: dense, and byte for byte what the subscriber has ever seen."""
        wire = Wire("pyzmq")
        try:
            bulk = Bulk(wire, self.service.bulk)
            for app, fold in self.folds.items():
                marks, seq = self.subscriber.marks[app], 0
                for topic, event, body in replay(bulk, app, 0):
                    seq += 1
                    assert event["seq"] == seq, f"a gap in {app}: {seq} is {event}"
                    assert marks.pop(seq, None) == fingerprint(topic, body), f"not what was received: {body}"
                assert not marks, f"received, but not in the journal of {app}: {sorted(marks)}"
                assert seq == fold.seq
                assert not fold.done, f"nobody was answered: {fold.done}"
                missed = fold.missed(milliseconds() - 1000)
                assert not missed, f"deadlines that never came: {missed}"
        finally:
            wire.close()

    def compare_entities(self):
        """What reads show is the fold of the stream."""
        wire = Wire("pyzmq")
        try:
            client, bulk = Commands(wire, self.service.commands), Bulk(wire, self.service.bulk)
            for app, fold in self.folds.items():
                listed = {id: e for id, e in fold.entities.items() if e["state"] != "dismissed"}
                cursor, rows = None, {}
                while True:
                    page = client.read("activity.list", app=app, limit=1000, cursor=cursor)
                    rows |= {row["id"]: as_followed(row) for row in page["activities"]}
                    if not (cursor := page.get("next")):
                        break
                assert rows == listed, f"{app}: {len(rows)} listed, {len(listed)} in the fold"
                bulk.app = app
                assert bulk.digest()["entities"] == len(listed)
                dismissed = [e for e in fold.entities.values() if e["state"] == "dismissed"]
                for entity in self.random.sample(dismissed, min(200, len(dismissed))):
                    shown = client.get(entity["id"], app=app)
                    assert {name: shown[name] for name in entity} == entity
        finally:
            wire.close()

    def counts(self, seconds):
        folds, writers = self.folds.values(), self.writers
        return {
            "kills": self.spawned - 1, "of them while starting": self.early,
            "of them with commands on their way": self.busy, "commands acknowledged": self.acknowledged,
            "of them found in the stream, once": sum(f.found for f in folds),
            "of them ignored, as they had to be": sum(f.ignored for f in folds),
            "of them executed before a kill, the answer lost": sum(f.unheard for f in folds),
            "commands retried": sum(w.retried for w in writers),
            "refused, then retried": sum(len(w.refused) for w in writers),
            "second answers compared": sum(w.compared for w in writers),
            "events checked": sum(f.seq for f in folds), "events received live": self.subscriber.received,
            "joins": self.subscriber.joins, "events received twice": self.subscriber.overlapped,
            "deadlines due while down": sum(f.late for f in folds),
            "latest deadline, ms": max(f.latest for f in folds),
            "seconds": round(seconds, 1)}

"""A subscriber that loses nothing: it keeps its place by `seq`, and resumes by a join and a replay."""

import collections
import hashlib
import json
import threading

from support.bulk import Bulk
from support.events import Events
from support.wire import DEADLINE, Silence, Wire

PATIENCE = 2
"""Seconds of silence after which a join or a replay is begun again: the service may have been killed meanwhile."""

OVERLAP = 100
"""So many events before its place are replayed again after a restart, to compare their bytes."""


def fingerprint(topic, body):
    return hashlib.blake2b(topic.encode() + b" " + body, digest_size=8).digest()


def replay(bulk, app, after, seconds=DEADLINE):
    """The stored events of an app after a number, as (topic, event, body), chunk by chunk."""
    req = bulk.send("replay", app=app, credit=4, **{"from": after})
    while True:
        header, rows = bulk.chunk(seconds)
        if header["req"] != req:
            continue
        assert "error" not in header, header
        for topic, body in rows:
            yield topic, json.loads(body), body
        if header.get("end"):
            return
        bulk.send("credit", req=req, credit=1)


class Subscriber(threading.Thread):
    """Follows all apps of a prefix. `marks` holds, for each app, the fingerprint of each event by its number."""

    def __init__(self, service, prefix):
        super().__init__(name="subscriber", daemon=True)
        self.prefix = prefix
        self.service = service
        self.marks = collections.defaultdict(dict)
        self.places = collections.Counter()
        self.received = self.overlapped = self.joins = 0
        self.failure = None
        self.stopping = threading.Event()
        self.again = threading.Event()
        self.again.set()

    def restarted(self, service):
        self.service = service
        self.again.set()

    def run(self):
        try:
            while not self.stopping.is_set():
                self.again.wait(0.1)
                if self.again.is_set():
                    self.again.clear()
                    self.follow()
        except Exception as failure:
            self.failure = failure

    def follow(self):
        """Until the service is replaced; silence is no failure, for it may be down, but a reason to begin again."""
        wire = Wire("pyzmq")
        try:
            # A socket that connects again by itself would hide the end of a connection, and what was lost with it.
            events = Events(wire, self.service.events, self.prefix, reconnect_ivl=-1)
            answer = events.join(seconds=PATIENCE)
            self.joins += 1
            bulk = Bulk(wire, self.service.bulk)
            for app, place in answer["apps"].items():
                assert place["seq"] >= self.places[app], f"{app} was at {self.places[app]} and is at {place['seq']}"
                for topic, event, body in replay(bulk, app, max(0, self.places[app] - OVERLAP), PATIENCE):
                    self.take(app, topic, event["seq"], body)
            while not (self.stopping.is_set() or self.again.is_set()):
                try:
                    topic, event, body = events.raw_next(seconds=0.05)
                except Silence:
                    continue
                self.take(topic.split("/", 1)[0], topic, event["seq"], body)
                self.received += 1
        except Silence:
            self.again.set()
        finally:
            wire.close()

    def take(self, app, topic, seq, body):
        """One event, live or replayed: the next one, or the same bytes as before."""
        mark = fingerprint(topic, body)
        known = self.marks[app].setdefault(seq, mark)
        assert known == mark, f"event {seq} of {app} has changed: {body}"
        if seq <= self.places[app]:
            self.overlapped += 1
            return
        assert seq == self.places[app] + 1, f"a gap in {app}: after {self.places[app]} came {seq}"
        self.places[app] = seq

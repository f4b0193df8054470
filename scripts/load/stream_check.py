"""A subscriber that joins a new app and checks all that it gets: nothing lost, nothing twice, digests that agree."""

import json
import secrets
import time

import zmq

MASK = (1 << 64) - 1


class Wrong(Exception):
    """Something came back that must not, or did not come."""


def digest_part(topic, revision):
    """What one entity adds to the digest of the contract."""
    value = 0xCBF29CE484222325
    for byte in topic:
        value = ((value ^ byte) * 0x100000001B3) & MASK
    value ^= revision * 0x9E3779B97F4A7C15 & MASK
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = ((value ^ value >> 33) * factor) & MASK
    return value ^ value >> 33


class Stream:
    """One SUB socket on a whole app, from its first event on. `proven` is the seq of the last digest that agreed."""

    def __init__(self, context, url, app, patience):
        self.app, self.seq, self.proven, self.digest = app.encode(), 0, 0, 0
        self.revisions = {}
        self.socket = context.socket(zmq.SUB)
        self.socket.linger = 0
        self.socket.rcvhwm = 0
        self.socket.connect(url)
        self.socket.subscribe(self.app + b"/")
        nonce = b"\xffjoin/" + secrets.token_hex(16).encode() + b"/" + self.app
        self.socket.subscribe(nonce)
        if not self.socket.poll(patience * 1000):
            raise Wrong("nobody answers to a join")
        joined = json.loads(self.socket.recv_multipart()[1])
        if joined["apps"]:
            raise Wrong(f"{app} is not a new app")
        self.socket.unsubscribe(nonce)

    def take(self):
        """All events that are there, as (topic, event)."""
        while True:
            try:
                topic, body = self.socket.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                return
            message = json.loads(body)
            if topic == self.app + b"/~":
                self._compare(message)
            elif not topic.startswith(b"\xff"):
                self._follow(topic, message)
                yield topic, message

    def _follow(self, topic, event):
        if event["seq"] != self.seq + 1:
            raise Wrong(f"a gap in the stream: {event['seq']} after {self.seq}")
        self.seq = event["seq"]
        before = self.revisions.get(topic, 0)
        after = event[topic.split(b"/")[1].decode()]["revision"]
        if after != before + 1:
            raise Wrong(f"revision {after} after {before} of {topic.decode()}")
        self.revisions[topic] = after
        self.digest ^= (digest_part(topic, before) if before else 0) ^ digest_part(topic, after)

    def _compare(self, mark):
        if mark["seq"] != self.seq:
            return
        if mark["digest"] != f"{self.digest:016x}":
            raise Wrong(f"the digest at seq {self.seq} is {mark['digest']}, and {self.digest:016x} was received")
        if mark["entities"] != len(self.revisions):
            raise Wrong(f"{mark['entities']} entities are listed, and {len(self.revisions)} were received")
        self.proven = self.seq


def spans(times):
    """Percentiles of seconds, in microseconds, as the generator in C prints them."""
    times = sorted(times)

    def part(share):
        return round(times[min(len(times) - 1, int(share * len(times)))] * 1e6, 1) if times else 0

    return {"count": len(times), "p50": part(0.5), "p99": part(0.99), "p999": part(0.999), "max": part(1)}


class Patience:
    """Ends a wait where nothing has moved for so many seconds."""

    def __init__(self, seconds, what):
        self.seconds, self.what, self.before, self.since = seconds, what, None, time.monotonic()

    def check(self, progress):
        now = time.monotonic()
        if progress != self.before:
            self.before, self.since = progress, now
        elif now - self.since > self.seconds:
            raise Wrong(f"{self.what}: nothing moves at {progress}")

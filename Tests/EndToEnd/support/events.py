"""A subscriber that joins as the contract asks: prefixes first, then a fresh nonce."""

import json
import secrets

from .wire import DEADLINE, QUIET, Deadline, Silence


class Events:
    """One SUB socket. Events and watermarks that come while something else is awaited are kept, in order."""

    def __init__(self, wire, url, *prefixes, **options):
        self.wire = wire
        self.socket = wire.socket("SUB", url, sndhwm=0, rcvhwm=0, **options)
        self._events = []
        self._watermarks = []
        self._joins = {}
        for prefix in prefixes:
            self.subscribe(prefix)

    def subscribe(self, prefix):
        self.socket.setsockopt(self.wire.zmq.SUBSCRIBE, prefix if isinstance(prefix, bytes) else prefix.encode())

    # Joining

    def ask_to_join(self, app=None, nonce=None):
        """Subscribes to a fresh nonce; gives the topic of the answer."""
        topic = b"\xffjoin/" + (nonce or secrets.token_hex(16)).encode() + (b"/" + app.encode() if app else b"")
        self.subscribe(topic)
        return topic

    def join(self, app=None, seconds=DEADLINE):
        """Joins, and gives what the service says: `{"at":…,"apps":{…}}` or an error."""
        topic = self.ask_to_join(app)
        self._pump_until(lambda: topic in self._joins, seconds)
        return self._joins[topic]

    # Reading

    def _take(self, seconds):
        topic, body = self.wire.receive(self.socket, seconds)
        if topic.startswith(b"\xff"):
            self._joins[topic] = json.loads(body)
        elif topic.endswith(b"/~") and topic.count(b"/") == 1:
            self._watermarks.append((topic.decode(), json.loads(body)))
        else:
            self._events.append((topic.decode(), json.loads(body), body))

    def _pump_until(self, happened, seconds=DEADLINE):
        deadline = Deadline(seconds)
        while not happened():
            self._take(deadline.milliseconds / 1000)

    def raw_next(self, seconds=DEADLINE):
        """The next event as (topic, decoded, bytes)."""
        self._pump_until(lambda: self._events, seconds)
        return self._events.pop(0)

    def next(self, name=None, seconds=DEADLINE):
        """The next event; fails where it has another name."""
        _, event, _ = self.raw_next(seconds)
        assert name is None or event["event"] == f"activity.{name}", event
        return event

    def until(self, seq):
        """All events up to and with this sequence number."""
        events = []
        while not events or events[-1]["seq"] < seq:
            events.append(self.next())
        return events

    def names(self, count):
        """The names of the next events, without their family."""
        return [self.next()["event"].removeprefix("activity.") for _ in range(count)]

    def watermark(self, matching=lambda _: True, seconds=DEADLINE):
        """The next watermark that matches; those before it are dropped."""
        deadline = Deadline(seconds)
        while True:
            self._pump_until(lambda: self._watermarks, deadline.milliseconds / 1000)
            _, mark = self._watermarks.pop(0)
            if matching(mark):
                return mark

    def silent(self, seconds=QUIET):
        """Fails where an event comes; watermarks may."""
        deadline = Deadline(seconds)
        try:
            while not self._events:
                self._take(deadline.milliseconds / 1000)
        except Silence:
            return
        raise AssertionError(f"expected no event, got {self._events[0]}")

"""Plays the controls of a scenario from Python: a provider of `islet.py`, and a person who taps."""

import collections
import random
import sys
import threading
import time

from services import ROOT
from stream_check import Patience, Stream, Wrong, spans

sys.path.insert(0, str(ROOT / "scripts"))
import islet  # noqa: E402 (it is one folder up)
import zmq  # noqa: E402


class Switches(islet.Toggle):
    """The truth of all switches, and how often each was set."""

    def __init__(self):
        self.lock, self.values, self.sets = threading.Lock(), {}, collections.Counter()

    def current_value(self, control):
        with self.lock:
            return self.values.get(control.id, False)

    def set_value(self, control, value):
        with self.lock:
            self.values[control.id] = value
            self.sets[control.id] += 1


class HomePlayer:
    """Controls at one service, in an app of their own."""

    def __init__(self, scenario, endpoints, app, seed=1, patience=10):
        self.wanted, self.seconds, self.patience, self.app = scenario["controls"], scenario["seconds"], patience, app
        self.random = random.Random(seed)
        self.context = zmq.Context()
        self.stream = Stream(self.context, endpoints["events"], app, patience)
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.connect(endpoints["commands"])
        self.switches = Switches()
        self.provider = islet.Provider(app, self.wanted["capacity"], commands=endpoints["commands"])
        self.kinds = [f"Switch{number}" for number in range(self.wanted["kinds"])]
        for kind in self.kinds:
            self.provider.toggle(kind)(self.switches)
        self.shown, self.resting, self.due, self.wish = {}, [], {}, {}
        self.taps, self.times, self.answers = collections.Counter(), [], 0

    def _take(self):
        while self.socket.getsockopt(zmq.EVENTS) & zmq.POLLIN:
            for frame in self.socket.recv_multipart():
                if b'"outcome":"applied"' not in frame:
                    raise Wrong(f"not applied: {frame.decode()}")
                self.answers += 1
        for _, event in self.stream.take():
            self._take_event(event)

    def _take_event(self, event):
        patch = event["control"]
        control = patch["id"]
        if "value" in patch:
            self.shown[control] = patch["value"]
        if event["event"] == "control.shown":
            if self.shown[control] != self.wish.get(control, False):
                raise Wrong(f"{control} shows {self.shown[control]}")
            if control in self.due:
                self.times.append(time.perf_counter() - self.due.pop(control))
            self.resting.append(control)
        elif event["event"] == "control.acting" and self.shown[control] != self.wish[control]:
            raise Wrong(f"{control} shows another wish: {event}")
        elif event["event"] == "control.failed":
            raise Wrong(f"an action failed: {event}")

    def _wait(self, what, progress, done):
        patience = Patience(self.patience, what)
        while not done():
            self.stream.socket.poll(20)
            self._take()
            patience.check(progress())

    def _place(self):
        count = self.wanted["placed"]
        for number in range(count):
            self.socket.send_json({"op": "control.add", "app": self.app, "kind": self.kinds[number % len(self.kinds)]})
            if number % 64 == 63:
                self._wait("controls", lambda: self.answers, lambda: self.answers > number - 64)
        self._wait("first values", lambda: len(self.resting), lambda: len(self.resting) == count)

    def _tap(self, due):
        control = self.resting.pop(self.random.randrange(len(self.resting)))
        self.due[control], self.wish[control] = due, not self.shown[control]
        self.taps[control] += 1
        self.socket.send_json({"op": "control.tap", "app": self.app, "id": control})

    def _drive(self):
        begun, tapped = time.perf_counter() + 0.01, 0
        while tapped < self.wanted["taps"] * self.seconds:
            due = begun + tapped / self.wanted["taps"]
            if self.resting and due <= time.perf_counter():
                self._tap(due)
                tapped += 1
            self.stream.socket.poll(max(0, min(20, (due - time.perf_counter()) * 1000)))
            self._take()

    def play(self):
        """Does it all; gives what was measured, or raises `Wrong`."""
        with self.provider.start():
            self.provider.wait_until_registered(self.patience)
            self._place()
            self._drive()
            self._wait("final values", lambda: len(self.resting), lambda: len(self.resting) == self.wanted["placed"])
            self._wait("a digest", lambda: self.stream.seq, lambda: self.stream.proven == self.stream.seq)
        self.context.destroy(linger=0)
        for control, value in self.shown.items():
            if self.switches.values.get(control, False) != value or self.switches.sets[control] != self.taps[control]:
                raise Wrong(f"{control} shows {value}, was tapped {self.taps[control]} times and set "
                            f"{self.switches.sets[control]} times")
        return {"controls": len(self.shown), "taps": self.taps.total(), "final": spans(self.times)}

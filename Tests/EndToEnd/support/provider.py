"""A provider that a test plays frame by frame: it may answer late, twice, wrongly or never."""

import collections
import copy
import itertools
import json
import uuid

from .commands import encode
from .wire import DEADLINE, QUIET, Deadline, Silence

APP = "com.example.pizza"
TORCH, DOOR, LAMP = "com.example.torch", "com.example.door", "com.example.lamp"


def toggle(kind=TORCH, **members):
    """The declaration of a toggle; its times are long, so that none passes where a test does not mean it."""
    return {"kind": kind, "template": "toggle", "valueDeadline": 30_000, "actionDeadline": 30_000, **members}


def button(kind=DOOR, **members):
    return {"kind": kind, "template": "button", "valueDeadline": 30_000, "actionDeadline": 30_000, **members}


class RawProvider:
    """One DEALER. Pings are answered unless `deaf`; calls, cancellations and refusals are kept until they are asked
    for."""

    _numbers = itertools.count(1)

    def __init__(self, wire, url, *kinds, widgets=(), app=APP, capacity=None, id=None, register=True, **options):
        self.wire, self.app, self.capacity = wire, app, capacity
        self.kinds, self.widgets = list(kinds), list(widgets)
        self.id = id or str(uuid.uuid4())
        self.socket = wire.socket("DEALER", url, **{"sndhwm": 0, "rcvhwm": 0, **options})
        self.deaf = False
        self.pings = 0
        self._kept = collections.defaultdict(collections.deque)
        if register:
            self.register()

    def beside(self, *kinds):
        """Another provider on the same connection; what either is told is kept in one place."""
        made = copy.copy(self)
        made.id, made.kinds = str(uuid.uuid4()), list(kinds or self.kinds)
        made.widgets = [] if kinds else self.widgets
        return made

    # Coming and going

    def register(self, **members):
        """Registers and gives the answer, which must be a good one."""
        answer = self.try_to_register(**members)
        assert answer["ok"] is True and answer["provider"] == self.id, answer
        return answer

    def try_to_register(self, **members):
        """Registers and gives whatever the service says to it."""
        members = {"app": self.app, "kinds": self.kinds or None, "widgets": self.widgets or None,
                   "capacity": self.capacity, **members}
        return self.ask("provider.register", **members)

    def ask(self, op, **members):
        """Says what is answered, and gives the answer."""
        req = f"p-{next(self._numbers)}"
        self.say(op, req=req, **members)
        return self.answer_to(req)

    def answer_to(self, req):
        deadline = Deadline()
        while True:
            answer = self._next("answer", deadline.milliseconds / 1000)
            if answer.get("req") == req:
                return answer

    def drain(self):
        assert self.ask("provider.drain")["ok"]

    def leave(self):
        assert self.ask("provider.leave")["ok"]

    def disconnect(self):
        """Its connection goes without a word, as that of a process that was killed."""
        self.socket.close()

    # What it is told

    FAMILY = "control"
    """What it is asked about, where a test names only the verb of a call."""

    def call(self, op=None, kind=None, placed=None, seconds=DEADLINE, *, control=None):
        """The next call, which must be this one, about this placed control or widget."""
        frame = self._next("call", seconds)
        for name, wanted in (
                ("op", op and f"{self.FAMILY}.{op}"), ("kind", kind), (self.FAMILY, placed), ("control", control)):
            assert wanted is None or frame[name] == wanted, frame
        return frame

    def calls(self, seconds=0.02):
        """All calls that have come, and those that come until none does for so long."""
        while True:
            try:
                self._take(seconds)
            except Silence:
                break
        calls = list(self._kept["call"])
        self._kept["call"].clear()
        return calls

    def cancelled(self, call, reason):
        """The next cancellation, which must be of this call and for this reason."""
        frame = self._next("cancel")
        assert (frame["call"], frame["reason"]) == (call["call"], reason), frame

    def refused(self, code, call=None):
        """The next refusal of an answer, which must have this code and name this call."""
        frame = self._next("answer")
        assert frame["ok"] is False and frame["error"]["code"] == code, frame
        if call is not None:
            assert frame["error"]["detail"]["call"] == (call["call"] if isinstance(call, dict) else call), frame
        return frame["error"]

    def dropped(self, reason, seconds=DEADLINE):
        """Waits to be told that it is dropped."""
        frame = self._next("dropped", seconds)
        assert (frame["provider"], frame["reason"]) == (self.id, reason), frame

    def pinged(self, seconds=DEADLINE):
        """Waits for the next ping."""
        before, deadline = self.pings, Deadline(seconds)
        while self.pings == before:
            self._take(deadline.milliseconds / 1000)

    def uncalled(self, seconds=QUIET):
        """Fails where a call comes, or a refusal."""
        deadline = Deadline(seconds)
        try:
            while not self._kept["call"] and not self._kept["answer"]:
                self._take(deadline.milliseconds / 1000)
        except Silence:
            return
        raise AssertionError(f"expected nothing, got {dict(self._kept)}")

    # What it says

    def say(self, op, **members):
        """One frame with the provider's id, unless that is given; None leaves out."""
        whole = {"op": op, "provider": self.id, **members}
        self.socket.send_multipart([encode({name: value for name, value in whole.items() if value is not None})])

    def answer(self, call, value=None, **members):
        """Answers a call. A value of None leaves it out, as an action's answer may."""
        self.say("provider.answer", call=call["call"], value=value, **members)

    def fail(self, call, **members):
        self.say("provider.fail", call=call["call"], **members)

    def gives(self, value, *, op="value", kind=None, control=None, **members):
        """Answers the next call, which must be this one, with a value; gives the call."""
        call = self.call(op, kind, control)
        self.answer(call, value, **members)
        return call

    # The socket

    def _next(self, sort, seconds=DEADLINE):
        deadline = Deadline(seconds)
        while not self._kept[sort]:
            self._take(deadline.milliseconds / 1000)
        return self._kept[sort].popleft()

    def _take(self, seconds):
        for frame in map(json.loads, self.wire.receive(self.socket, seconds)):
            op = frame.get("op", "")
            if op == "provider.ping":
                self.pings += 1
                if not self.deaf:
                    self.say("provider.pong")
            elif op.startswith(("control.", "widget.")):
                self._kept["call"].append(frame)
            else:
                self._kept[op.removeprefix("provider.") or "answer"].append(frame)

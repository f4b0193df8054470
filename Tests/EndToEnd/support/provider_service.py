"""The service's side of a provider's connection, played by a test: what it says, when, and what it keeps back."""

import json
import queue
import threading

import zmq

from .commands import encode
from .dates import EPOCH
from .wire import DEADLINE, QUIET

PLACED = "0198c0de-0000-7000-8000-000000000001"
"""The control or widget that calls are about."""


class ProviderService:
    """A ROUTER that answers registrations, wishes (reloads) and goodbyes, and hands everything else to the test.

    `ping_limit` in milliseconds: so long that nothing is repaired by silence where a test does not say so. `refuse` is
    the error of the next registrations, in order, and `refuse_wishes` that of the next wishes; `refuses_without_req` says
    it as of a frame that could not be read; `rules` are those of the rule set that providers are told; `silent` keeps
    every answer back, as a service that hangs, and `reads_late` that to a drain, for the test to say."""

    def __init__(self, url=None, ping_limit=600_000):
        self.ping_limit = ping_limit
        self.refuse, self.refuse_wishes = [], []
        self.rules = {}
        self.silent = self.refuses_without_req = self.reads_late = False
        self.peer = None
        self.registrations, self.frames = queue.Queue(), queue.Queue()
        self._numbers = 0
        self._out = queue.Queue()
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.bind(url or "tcp://127.0.0.1:*")
        self.url = self._socket.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0")
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stopping.is_set():
            while not self._out.empty():
                self._socket.send_multipart(self._out.get())
            if self._socket.poll(2):
                peer, *frames = self._socket.recv_multipart()
                for frame in map(json.loads, frames):
                    self._take(peer, frame)

    def _take(self, peer, frame):
        op = frame["op"]
        if op == "service.info":
            return self._answer(peer, frame, [], {"info": {"ruleSet": self.rules}})
        if op == "provider.register":
            self.peer = peer
            kinds = [kind["kind"] for kind in frame.get("kinds", [])]
            self._answer(peer, frame, self.refuse, {
                "provider": frame["provider"], "pingEvery": 5_000, "pingLimit": self.ping_limit, "kinds": kinds})
            self.registrations.put(frame)
            return
        if op == "provider.leave" or (op == "provider.drain" and "req" in frame and not self.reads_late):
            self._answer(peer, frame, [], {})
        elif not op.startswith("provider."):
            self._answer(peer, frame, self.refuse_wishes, {})
        self.frames.put(frame)

    def _answer(self, peer, frame, refusals, members):
        if self.silent:
            return
        if refusals:
            members = {"ok": False, "error": {"message": "", **refusals.pop(0)}}
            if self.refuses_without_req:
                return self._out.put([peer, encode(members)])
        self._out.put([peer, encode({"req": frame["req"], "ok": True, **members})])

    # What the test says

    def say(self, *frames, raw=False):
        """One message to the provider that registered last."""
        self._out.put([self.peer, *(frames if raw else map(encode, frames))])

    def call(self, op, kind, within=5_000, **members):
        """Calls the provider; gives the id of the call."""
        return self._call("control", op, kind, {"within": within, **members})

    def call_widget(self, op, kind, **members):
        """The same about a widget."""
        if op in ("timeline", "perform"):
            members.setdefault("widget", PLACED)
        if op in ("timeline", "perform", "snapshot"):
            members.setdefault("family", "systemSmall")
        return self._call("widget", op, kind, {"now": EPOCH, "within": 5_000, **members})

    def _call(self, family, op, kind, members):
        self._numbers += 1
        call = f"call-{self._numbers}"
        placed = {"control": PLACED} if family == "control" else {}
        self.say({"call": call, "op": f"{family}.{op}", "app": "com.example.home", "kind": kind, "attempt": 1,
                  **placed, **members})
        return call

    # What the provider says

    def registered(self, seconds=DEADLINE):
        """The next registration."""
        return self.registrations.get(timeout=seconds)

    def next(self, seconds=DEADLINE):
        """The next frame that is no registration."""
        return self.frames.get(timeout=seconds)

    def answer(self, call, op="provider.answer"):
        """The next frame, which must be for this call."""
        frame = self.next()
        assert (frame["op"], frame["call"]) == (op, call), frame
        return frame

    def quiet(self, seconds=QUIET):
        """Fails where anything comes."""
        try:
            frame = self.next(seconds)
        except queue.Empty:
            return
        raise AssertionError(f"expected nothing, got {frame}")

    def close(self):
        self._stopping.set()
        self._thread.join()
        self._socket.close()
        self._context.term()

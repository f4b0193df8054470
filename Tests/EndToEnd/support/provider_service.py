"""The service's side of a provider's connection, played by a test: what it says, when, and what it keeps back."""

import json
import queue
import threading

import zmq

from .commands import encode
from .wire import DEADLINE, QUIET


class ProviderService:
    """A ROUTER that answers registrations and goodbyes, and hands everything else to the test.

    `ping_limit` in milliseconds: so long that nothing is repaired by silence where a test does not say so. `refuse` is
    the error of the next registrations, in order; `silent` keeps every answer back, as a service that hangs."""

    def __init__(self, url=None, ping_limit=600_000):
        self.ping_limit = ping_limit
        self.refuse = []
        self.silent = False
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
        if frame["op"] == "provider.register":
            self.peer = peer
            if not self.silent:
                if self.refuse:
                    self.say({"req": frame["req"], "ok": False, "error": {"message": "", **self.refuse.pop(0)}})
                else:
                    kinds = [kind["kind"] for kind in frame["kinds"]]
                    self.say({"req": frame["req"], "ok": True, "provider": frame["provider"], "pingEvery": 5_000,
                              "pingLimit": self.ping_limit, "kinds": kinds})
            self.registrations.put(frame)
            return
        if frame["op"] == "provider.leave" and not self.silent:
            self.say({"req": frame["req"], "ok": True})
        self.frames.put(frame)

    # What the test says

    def say(self, *frames, raw=False):
        """One message to the provider that registered last."""
        self._out.put([self.peer, *(frames if raw else map(encode, frames))])

    def call(self, op, kind, within=5_000, **members):
        """Calls the provider; gives the id of the call."""
        self._numbers += 1
        call = f"call-{self._numbers}"
        self.say({"call": call, "op": f"control.{op}", "app": "com.example.home", "kind": kind, "attempt": 1,
                  "control": "0198c0de-0000-7000-8000-000000000001", "within": within, **members})
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

"""Snapshots and replays, pulled with credit."""

import dataclasses
import itertools
import json

from .commands import encode
from .wire import DEADLINE, Deadline


@dataclasses.dataclass
class Pulled:
    """What a snapshot or a replay gave, chunk by chunk."""

    headers: list = dataclasses.field(default_factory=list)
    rows: list = dataclasses.field(default_factory=list)

    @property
    def end(self):
        return self.headers[-1]

    @property
    def from_seq(self):
        return self.headers[0]["fromSeq"]


class Bulk:
    """One connection to the bulk endpoint."""

    _numbers = itertools.count(1)

    def __init__(self, wire, url, app="com.example.pizza"):
        self.wire = wire
        self.app = app
        self.socket = wire.socket("DEALER", url)

    def send(self, op, **fields):
        """Sends one command; gives its `req`."""
        req = fields.pop("req", None) or f"b-{next(self._numbers)}"
        self.socket.send_multipart([encode({"op": f"bulk.{op}", "req": req, **fields})])
        return req

    def chunk(self, seconds=DEADLINE):
        """The next chunk: its header and its pairs of topic and bytes."""
        header, *frames = self.wire.receive(self.socket, seconds)
        assert len(frames) % 2 == 0, frames
        header = json.loads(header)
        return header, [(topic.decode(), body) for topic, body in zip(frames[::2], frames[1::2])]

    def pull(self, op, credit=4, first=None, **fields):
        """Pulls until the end or an error, giving one credit back for each chunk; or only so many of the `first`."""
        req = self.send(op, app=self.app, credit=credit, **fields)
        pulled = Pulled()
        deadline = Deadline()
        while True:
            header, rows = self.chunk(deadline.milliseconds / 1000)
            assert header["req"] == req, header
            pulled.headers.append(header)
            pulled.rows += rows
            if header.get("end") or "error" in header:
                return pulled
            if len(pulled.headers) == first:
                self.send("cancel", req=req)
                return pulled
            self.send("credit", req=req, credit=1)

    def snapshot(self, **fields):
        return self.pull("snapshot", **fields)

    def replay(self, after, **fields):
        return self.pull("replay", **{"from": after}, **fields)

    def digest(self, **fields):
        req = self.send("digest", app=self.app, **fields)
        header, rows = self.chunk()
        assert header.get("req") == req and not rows, header
        return header

"""A client that never loses count: a window of commands on their way, and retries with the same bytes."""

import collections
import dataclasses
import json
import threading
import time

from support.wire import Wire

REMEMBERED = 400
"""So many of the last answered commands are kept with their bytes, to be sent again."""


@dataclasses.dataclass(slots=True)
class Answered:
    """What a first answer promised."""

    app: str
    client: str
    req: str
    outcome: str
    seq: int
    id: str
    revision: int
    resent: int = 0
    """When it was first sent again after a kill, in milliseconds; 0: it was answered before."""


class Writer(threading.Thread):
    """Sends until it is told to stop, and then until everything is answered.

    `restarted` is called by the campaign when a killed service serves again: all that has no answer is sent again in
    the same order, and some of what has one as well.
    """

    def __init__(self, load, url, *, window, rate):
        super().__init__(name=load.name, daemon=True)
        self.load, self.url, self.window, self.rate = load, url, window, rate
        self.waiting = collections.OrderedDict()
        self.recent = collections.OrderedDict()
        self.resent = {}
        self.answered = collections.deque()
        self.refused = collections.Counter()
        self.acknowledged = self.retried = self.compared = 0
        self.failure = None
        self.stopping = threading.Event()
        self.aborted = threading.Event()
        self.again = threading.Event()

    def last(self, count):
        """The newest first answers; another thread may ask."""
        return [self.answered[-n] for n in range(1, min(count, len(self.answered)) + 1)]

    def restarted(self):
        self.again.set()

    def finish(self):
        """No new commands; ends when the last answer has come."""
        self.stopping.set()

    def run(self):
        try:
            self.wire = Wire("pyzmq")
            self.connect()
            self.pump()
        except Exception as failure:
            self.failure = failure
        finally:
            self.wire.close()

    def connect(self):
        self.socket = self.wire.socket("DEALER", self.url, sndhwm=0, rcvhwm=0, reconnect_ivl=10)

    def pump(self):
        begun, sent = time.monotonic(), 0
        while (self.waiting or not self.stopping.is_set()) and not self.aborted.is_set():
            if self.again.is_set():
                self.again.clear()
                self.retry()
            now = time.monotonic()
            due = int((now - begun) * self.rate) - sent
            free = self.window - len(self.waiting)
            if due > 0 and free > 0 and not self.stopping.is_set():
                sent += self.send(min(due, free, 8))
            else:
                begun, sent = (now, 0) if due > self.window else (begun, sent)
                self.receive(20)
            self.receive(0)

    def send(self, count):
        """One message of one or more commands."""
        frames = []
        for _ in range(self.load.random.randint(1, count)):
            number, frame = self.load.next(time.time_ns() // 1_000_000)
            self.waiting[f"{self.load.name}-{number}"] = frame
            frames.append(frame)
        self.socket.send_multipart(frames)
        return len(frames)

    def retry(self):
        """Over the old socket, in which messages may still wait, or over a new one."""
        if self.load.random.random() < 0.5:
            self.socket.close()
            self.wire.sockets.remove(self.socket)
            self.connect()
        for req, frame in list(self.waiting.items()):
            self.resent.setdefault(req, time.time_ns() // 1_000_000)
            self.socket.send(frame)
            self.retried += 1
        for req in self.load.random.sample(list(self.recent), min(8, len(self.recent))):
            self.socket.send(self.recent[req][0])

    def receive(self, milliseconds):
        while self.socket.poll(milliseconds):
            for body in self.socket.recv_multipart():
                self.take(body)
            milliseconds = 0

    def take(self, body):
        """The first answer counts; every other one must be the same bytes."""
        answer = json.loads(body)
        req = answer["req"]
        if req in self.waiting and not answer["ok"]:
            self.refuse(req, answer)
        elif req in self.waiting:
            self.recent[req] = (self.waiting.pop(req), body)
            if len(self.recent) > REMEMBERED:
                self.recent.popitem(last=False)
            self.acknowledged += 1
            short = answer["activity"]
            self.answered.append(Answered(
                self.load.app, self.load.client, req, answer["outcome"], answer["seq"], short["id"],
                short["revision"], self.resent.pop(req, 0)))
        elif req in self.recent:
            self.compared += 1
            first = self.recent[req][1]
            assert body == first, f"a retry of {req} was answered otherwise:\nfirst {first}\nthen  {body}"

    def refuse(self, req, answer):
        """A refusal is not remembered: the command is sent again. `notFound` comes where a start died with the process
        and the old socket still held what came after it."""
        self.refused[req] += 1
        assert answer["error"]["code"] in ("notFound", "busy", "unavailable"), f"{self.waiting[req]}: {answer}"
        assert self.refused[req] < 1000, f"{self.waiting[req]} is refused for ever: {answer}"
        time.sleep(0.002)
        self.socket.send(self.waiting[req])
        self.retried += 1

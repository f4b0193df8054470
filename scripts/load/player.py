"""Plays the activities of a scenario from Python: slower than `play.c`, and easy to change."""

import json
import random
import time

import zmq

from stream_check import Patience, Stream, Wrong, spans

OPS = {"start": "activity.start", "update": "activity.update", "end": "activity.end"}
EVENTS = {"start": "activity.started", "update": "activity.updated", "end": "activity.ended"}
BATCH, READS = 64, 1000


class Player:
    """One scenario at one service, in an app of its own."""

    def __init__(self, scenario, endpoints, app, seed=1, patience=10):
        self.scenario, self.app, self.patience = scenario, app, patience
        self.random = random.Random(seed)
        self.base = int(time.time() * 1000) % (1 << 27) << 20
        self.context = zmq.Context()
        self.streams = [Stream(self.context, endpoints["events"], app, patience) for _ in range(scenario["subscribers"])]
        self.sockets = [self._connect(endpoints["commands"]) for _ in range(scenario["publishers"])]
        self.poller = zmq.Poller()
        for socket in [*self.sockets, *(stream.socket for stream in self.streams)]:
            self.poller.register(socket, zmq.POLLIN)
        self.revisions, self.last, self.ended, self.open = [], [], set(), []  # by activity, as planned
        self.plan = {}  # by req: what was done, to which activity, the revision that this gives it, when it was due
        self.answered, self.seen = 0, [0] * len(self.streams)
        self.send_delays, self.answer_times, self.event_times = [], [], []

    def _connect(self, url):
        socket = self.context.socket(zmq.DEALER)
        socket.linger, socket.sndhwm, socket.rcvhwm = 0, 0, 0
        socket.connect(url)
        return socket

    # What is done next

    def id(self, activity):
        return f"00000000-0000-7000-8000-{self.base + activity:012x}"

    def _choose(self):
        mix = self.scenario["mix"]
        return self.random.choices(list(mix), mix.values())[0] if self.open else "start"

    def _command(self, what, due=None):
        """The next operation as the bytes of its command, and the activity that it is of."""
        if what == "start":
            place, activity = len(self.open), len(self.revisions)
            self.open.append(activity)
            self.revisions.append(0)
            self.last.append(None)
        else:
            place = self.random.randrange(len(self.open))
            activity = self.open[place]
        req = f"p-{len(self.plan)}"
        self.revisions[activity] += 1
        self.last[activity] = self._content(len(self.plan))
        self.plan[req] = (what, activity, self.revisions[activity], due)
        if what == "end":
            self.open[place] = self.open[-1]
            self.open.pop()
            self.ended.add(activity)
        fields = {"type": "Load", "attributes": {}} if what == "start" else {}
        command = {"op": OPS[what], "req": req, "app": self.app, "id": self.id(activity), **fields,
                   "contentState": self.last[activity]}
        return json.dumps(command, separators=(",", ":")).encode(), activity

    def _content(self, number):
        size = self.random.randint(self.scenario["content"]["from"], self.scenario["content"]["to"])
        content = {"n": number, "text": ""}
        content["text"] = "x" * max(0, size - len(json.dumps(content, separators=(",", ":"))))
        return content

    # What comes back

    def _take(self):
        now = time.perf_counter()
        for socket in self.sockets:
            while socket.getsockopt(zmq.EVENTS) & zmq.POLLIN:
                for frame in socket.recv_multipart():
                    self._take_answer(json.loads(frame), now)
        for number, stream in enumerate(self.streams):
            for topic, event in stream.take():
                self._take_event(number, topic, event, now)

    def _take_answer(self, answer, now):
        if answer.get("outcome") != "applied":
            raise Wrong(f"not applied: {answer}")
        *_, revision, due = self.plan[answer["req"]]
        if answer["activity"]["revision"] != revision:
            raise Wrong(f"not revision {revision}: {answer}")
        self.answered += 1
        if due is not None:
            self.answer_times.append(now - due)

    def _take_event(self, number, topic, event, now):
        what, activity, revision, due = self.plan[event["by"]["req"]]
        patch = event["activity"]
        if event["event"] != EVENTS[what] or patch["id"] != self.id(activity) or patch["revision"] != revision:
            raise Wrong(f"not the event of {what}, revision {revision} of {self.id(activity)}: {event}")
        self.seen[number] += 1
        if due is not None:
            self.event_times.append(now - due)

    def _wait(self, what, progress, done):
        patience = Patience(self.patience, what)
        while not done():
            self.poller.poll(20)
            self._take()
            patience.check(progress())

    # The whole

    def _prepare(self):
        count = self.scenario["activities"]
        for begin in range(0, count, BATCH):
            lanes = {}
            for _ in range(begin, min(begin + BATCH, count)):
                frame, activity = self._command("start")
                lanes.setdefault(activity % len(self.sockets), []).append(frame)
            for lane, frames in lanes.items():
                self.sockets[lane].send_multipart(frames)
            self._wait("starts", lambda: self.answered, lambda: len(self.plan) - self.answered < 8 * BATCH)
        self._wait("starts", lambda: self.answered, lambda: self.answered == count)

    def _drive(self):
        rate, total, sent = self.scenario["rate"], self.scenario["rate"] * self.scenario["seconds"], 0
        begun = time.perf_counter() + 0.01
        while sent < total:
            while sent < total and (due := begun + sent / rate) <= (now := time.perf_counter()):
                self.send_delays.append(now - due)
                frame, activity = self._command(self._choose(), due)
                self.sockets[activity % len(self.sockets)].send(frame)
                sent += 1
                if sent % BATCH == 0:
                    self._take()
            self.poller.poll(max(0, (begun + sent / rate - time.perf_counter()) * 1000))
            self._take()
        self._wait("answers", lambda: self.answered, lambda: self.answered == len(self.plan))
        return time.perf_counter() - begun

    def _read_back(self):
        """Reads activities, evenly chosen, and compares them with what was done."""
        chosen = list(range(0, len(self.revisions), max(1, len(self.revisions) // READS)))
        for begin in range(0, len(chosen), BATCH):
            batch = chosen[begin:begin + BATCH]
            reads = [{"op": "activity.get", "app": self.app, "id": self.id(activity)} for activity in batch]
            self.sockets[0].send_multipart([json.dumps(read).encode() for read in reads])
            if not self.sockets[0].poll(self.patience * 1000):
                raise Wrong("no answer to a read")
            for activity, answer in zip(batch, self.sockets[0].recv_multipart(), strict=True):
                self._compare(activity, json.loads(answer).get("activity", {}))
        return len(chosen)

    def _compare(self, activity, found):
        state = "ended" if activity in self.ended else "active"
        wanted = (state, self.revisions[activity], self.last[activity])
        if tuple(found.get(name) for name in ("state", "revision", "contentState")) != wanted:
            raise Wrong(f"wanted was {wanted}, and it is {found}")

    def play(self):
        """Does it all; gives what was measured, or raises `Wrong`."""
        try:
            self._prepare()
            seconds = self._drive()
            every = len(self.plan)
            self._wait("events", lambda: (self.seen, [stream.proven for stream in self.streams]),
                       lambda: all(stream.proven == every for stream in self.streams))
            read = self._read_back()
        finally:
            self.context.destroy(linger=0)
        operations = self.scenario["rate"] * self.scenario["seconds"]
        return {
            "operations": operations, "perSecond": round(operations / seconds), "activities": len(self.revisions),
            "events": every, "digest": f"{self.streams[0].digest:016x}", "read": read,
            "sendDelay": spans(self.send_delays), "answer": spans(self.answer_times), "event": spans(self.event_times)}

"""A client of the commands endpoint: sends JSON frames over a DEALER, and matches answers by `req`."""

import itertools
import json

from .wire import DEADLINE, QUIET, Deadline, Silence

APPLESS = ("service.", "clock.", "device.", "stream.", "widget.stack")


def encode(value):
    """Compact JSON in UTF-8: the bytes that the 4 KB limit counts."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


class Commands:
    """One connection. `ask` sends one command and gives its answer; `applied` and `refused` also judge it."""

    def __init__(self, wire, url, app="com.example.pizza"):
        self.wire = wire
        self.app = app
        self.socket = wire.socket("DEALER", url, sndhwm=0, rcvhwm=0)
        self._numbers = itertools.count(1)
        self._early = []

    # Building

    def command(self, op, **fields):
        """The command as a dictionary, with the `app` and the `req` that it does not name itself; None leaves out."""
        whole = {"op": op, "req": f"r-{next(self._numbers)}"}
        if not op.startswith(APPLESS):
            whole["app"] = self.app
        return {name: value for name, value in {**whole, **fields}.items() if value is not None}

    # Sending and receiving

    def send(self, *frames):
        """One message of raw frames."""
        self.socket.send_multipart([frame if isinstance(frame, bytes) else encode(frame) for frame in frames])

    def receive(self, seconds=DEADLINE):
        """The next message, whatever it answers: a list of decoded frames."""
        if self._early:
            return self._early.pop(0)
        return [json.loads(frame) for frame in self.wire.receive(self.socket, seconds)]

    def silent(self, seconds=QUIET):
        """Fails where any answer comes."""
        assert not self._early, self._early
        try:
            answer = self.wire.receive(self.socket, seconds)
        except Silence:
            return
        raise AssertionError(f"expected no answer, got {answer}")

    def answer_to(self, req, seconds=DEADLINE):
        """The message whose first frame answers `req`; others are kept for `receive`."""
        for position, message in enumerate(self._early):
            if message[0].get("req") == req:
                return self._early.pop(position)
        deadline = Deadline(seconds)
        while True:
            message = [json.loads(f) for f in self.wire.receive(self.socket, deadline.milliseconds / 1000)]
            if message[0].get("req") == req:
                return message
            self._early.append(message)

    def ask(self, op, **fields):
        """Sends one command and gives its one answer."""
        command = self.command(op, **fields)
        self.send(command)
        [answer] = self.answer_to(command["req"])
        return answer

    def batch(self, *commands):
        """Sends one message of many commands and gives the answers, which stand in the same order."""
        self.send(*commands)
        answers = self.answer_to(commands[0]["req"])
        assert len(answers) == len(commands)
        return answers

    def raw(self, *frames, seconds=DEADLINE):
        """Sends these bytes as one message and gives the next message that comes."""
        self.send(*frames)
        return self.receive(seconds)

    # Judging

    def read(self, op, **fields):
        """A query or control that must be answered with ok."""
        answer = self.ask(op, **fields)
        assert answer["ok"] is True, answer
        return answer

    def applied(self, op, **fields):
        """A change that must take effect; the whole answer."""
        answer = self.read(op, **fields)
        assert answer["outcome"] == "applied", answer
        return answer

    def ignored(self, op, **fields):
        """A change that must be dropped; the reason."""
        answer = self.read(op, **fields)
        assert answer["outcome"] == "ignored", answer
        return answer["reason"]

    def refused(self, op, **fields):
        """A command that must be refused; the error."""
        answer = self.ask(op, **fields)
        assert answer["ok"] is False, answer
        return answer["error"]

    # The commonest ones

    def start(self, **fields):
        """Starts an activity with small payloads, and gives the short form from the answer."""
        return self.applied("activity.start", **{**START, **fields})["activity"]

    def get(self, id=None, **fields):
        return self.read("activity.get", id=id, **fields)["activity"]

    def list(self, **fields):
        return self.read("activity.list", **fields)["activities"]

    def journal_is_full(self):
        """Whether changes wait for room on the disk. A question that is still waiting for its commit when the disk becomes
        full is refused, which says the same."""
        answer = self.ask("service.info")
        if answer["ok"]:
            return answer["info"]["journal"]["isFull"]
        assert answer["error"].get("detail") == {"reason": "diskFull"}, answer
        return True

    def advance(self, by=None, to=None):
        """Moves the manual clock; gives the new time."""
        return self.read("clock.advance", by=by, to=to)["now"]


START = {"type": "Delivery", "attributes": {"order": 1042}, "contentState": {"eta": 12}}
"""What an activity of the tests is started with, where the test does not say otherwise."""

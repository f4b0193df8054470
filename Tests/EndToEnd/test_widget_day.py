"""A day of 2 000 widgets with mixed policies in seconds, and its ledgers against an independent count.

With `ISLET_TEST_WIDGETS=10000`: five times as many, in a minute."""

import collections
import itertools
import json
import os
import random
import time

import pytest

from support.commands import Commands
from support.dates import EPOCH, HOUR, MINUTE
from support.widget_day import DAY, SORTS, Count, Rules, Wrong, schedule
from support.widgets import Board, rules, widget
from support.wire import Deadline

MIX = {"hourly": 35, "polite": 12, "quiet": 20, "greedy": 8, "watched": 10, "moving": 13, "shaky": 2}
"""Hundredths of the widgets."""
LENGTH = DAY + 90 * MINUTE
"""A day, and as much more as lets reloads of its first hour leave the window."""


class Day:
    """Everything on one thread: the clock's steps, the provider's answers, and the events."""

    def __init__(self, board, count):
        self.board, self.wire = board, board.wire
        self.calls = collections.defaultdict(list)
        self.reloads = collections.defaultdict(list)
        self.names = collections.Counter()
        self.seq = 0
        kinds = [widget(f"com.example.{name}") for name in SORTS]
        self.provider = board.provider(*kinds, capacity=1_024)
        self.prefix = f'{{"op":"provider.answer","provider":"{self.provider.id}","call":"'
        self.sorts = dict(self.place(count))

    def place(self, count):
        """Places the widgets; gives the sort of each by its id."""
        names = list(itertools.chain.from_iterable([name] * (count * share // 100) for name, share in MIX.items()))
        assert len(names) == count
        # Those that fail stand apart: five failures in a row would keep the provider from its calls for a while.
        random.Random(count).shuffle(names)
        commands = [self.board.client.command("widget.add", kind=f"com.example.{name}", family="systemSmall",
                                              device=SORTS[name].device) for name in names]
        for begin in range(0, count, 256):
            part = commands[begin:begin + 256]
            self.board.client.send(*part)
            for name, answer in zip(names[begin:], self.until(part[0]["req"])):
                yield answer["widget"]["id"], SORTS[name]

    def ask(self, op, **fields):
        command = self.board.client.command(op, **fields)
        self.board.client.send(command)
        [answer] = self.until(command["req"])
        assert answer["ok"], answer
        return answer

    def until(self, req):
        """Serves calls and takes events in until a command is answered."""
        zmq, poller = self.wire.zmq, self.wire.zmq.Poller()
        sockets = (self.board.client.socket, self.provider.socket, self.board.events.socket)
        for socket in sockets:
            poller.register(socket, zmq.POLLIN)
        deadline = Deadline()
        while not deadline.passed:
            ready = dict(poller.poll(deadline.milliseconds))
            if self.provider.socket in ready:
                self.drain(self.provider.socket, self.serve)
            if self.board.events.socket in ready:
                self.drain(self.board.events.socket, self.event)
            if self.board.client.socket in ready:
                message = [json.loads(frame) for frame in self.board.client.socket.recv_multipart()]
                assert message[0]["req"] == req, message
                return message
        other = Commands(self.wire, self.board.service.commands, self.board.app)
        stats, providers = (other.ask(op, app=None) for op in ("service.stats", "provider.list"))
        raise AssertionError(f"no answer to {req}: {stats}, {providers}, calls {sum(map(len, self.calls.values()))}")

    def drain(self, socket, take):
        for _ in range(512):
            try:
                frames = socket.recv_multipart(self.wire.zmq.DONTWAIT)
            except self.wire.zmq.Again:
                return
            take(frames)

    def serve(self, frames):
        answers = []
        for frame in frames:
            call = json.loads(frame)
            if call["op"] == "provider.ping":
                self.provider.say("provider.pong")
                continue
            assert call["op"] == "widget.timeline" and call["attempt"] == 1, call
            calls, now = self.calls[call["widget"]], call["now"]
            answer = SORTS[call["kind"].removeprefix("com.example.")].answer(now, len(calls))
            calls.append(now)
            if answer is None:
                answers.append(json.dumps({"op": "provider.fail", "provider": self.provider.id, "call": call["call"]}))
                continue
            dates, policy = answer
            entries = ",".join(f'{{"date":{date}}}' for date in dates)
            policy = f'"{policy}"' if isinstance(policy, str) else f'{{"after":{policy}}}'
            answers.append(f'{self.prefix}{call["call"]}","entries":[{entries}],"policy":{policy}}}')
        if answers:
            self.provider.socket.send_multipart([answer.encode() for answer in answers])

    def event(self, frames):
        topic, body = frames
        if topic.startswith(b"\xff") or topic.endswith(b"/~"):
            return
        event = json.loads(body)
        assert event["seq"] == self.seq + 1, "a gap"
        self.seq = event["seq"]
        self.names[event["event"]] += 1
        assert event.get("lateBy", 0) == 0, event
        if event["event"] == "widget.reloading":
            self.reloads[event["widget"]["id"]].append((event["at"], event.get("exempt")))

    def pass_by(self):
        """The day with all that happens in it, and the rest of it."""
        for happening in schedule():
            self.ask("clock.advance", to=happening.at)
            if happening.what == "request":
                self.ask("widget.reload", kind=happening.sort and f"com.example.{happening.sort}")
            else:
                app = self.board.app if happening.what.startswith("app") and "Change" not in happening.what else None
                self.ask("device.event", device=happening.device, event=happening.what, app=app)
            self.ask("clock.advance", by=0)
        self.ask("clock.advance", to=EPOCH + LENGTH)
        last = self.board.bulk.digest()["seq"]
        deadline = Deadline()
        while self.seq < last:
            assert not deadline.passed
            if self.board.events.socket.poll(1_000):
                self.drain(self.board.events.socket, self.event)

    def ledgers(self):
        """What the service says of each widget."""
        ids = list(self.sorts)
        for begin in range(0, len(ids), 256):
            commands = [self.board.client.command("widget.budget", id=id) for id in ids[begin:begin + 256]]
            self.board.client.send(*commands)
            for id, answer in zip(ids[begin:], self.until(commands[0]["req"])):
                yield id, answer["budget"]


def doubt(rules, sort, calls, end):
    """The count is one that can fail: with a call less, one more, or one at another moment."""
    middle = len(calls) // 2
    for wrong in (
            calls[:middle] + calls[middle + 1:], calls[:-1], sorted([*calls, calls[middle] + 1]), [*calls, end],
            [*calls[:middle], calls[middle] + 45 * MINUTE, *calls[middle + 1:]]):
        with pytest.raises(Wrong):
            Count(rules, sort, EPOCH).run(wrong, schedule(), end)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("budgets", [(12, 12, HOUR), (8, 16, 6 * HOUR)], ids=["even", "learning"])
def test_every_reload_of_a_day_is_where_it_must_be_and_every_ledger_is_exact(wire, serve, budgets):
    count = int(os.environ.get("ISLET_TEST_WIDGETS", 2_000)) if budgets[0] == 12 else 1_000
    daily, learning, span = budgets
    service = serve({"--clock": "manual"}, env=rules(
        widgetDailyBudget=daily, widgetLearningBudget=learning, widgetLearningSpan=span))
    board = Board(wire, service)
    begun = time.monotonic()
    day = Day(board, count)
    day.pass_by()
    elapsed = time.monotonic() - begun
    asked = sum(map(len, day.calls.values()))
    print(f"{count} widgets, {asked} timelines, {day.seq} events: {elapsed:.1f} s; {dict(day.names)}")
    held, end, doubted = 0, EPOCH + LENGTH, set()
    for id, ledger in day.ledgers():
        if day.sorts[id] not in doubted:
            doubted.add(day.sorts[id])
            doubt(Rules.of(board.rules), day.sorts[id], day.calls[id], end)
        model = Count(Rules.of(board.rules), day.sorts[id], EPOCH)
        model.run(day.calls[id], schedule(), end)
        said = {name: value for name, value in ledger.items() if name != "freeAt"}
        said["exempt"] = {name: number for name, number in said["exempt"].items() if number}
        assert said == model.budget(end), (day.sorts[id].name, id)
        assert day.reloads[id] == model.reloads[1:], "each event says whether it was charged"
        held += "held" in ledger
    assert asked == sum(map(len, day.calls.values())) > 10 * count
    assert held > 0 and {"widget.held", "widget.failed", "widget.entry"} <= day.names.keys()
    if count == 10_000:
        assert elapsed < 60, "a day of 10 000 widgets in a minute"

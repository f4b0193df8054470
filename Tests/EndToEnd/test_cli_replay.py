"""`islet replay`: what one service published, played into another."""

import json
import threading
import uuid

import pytest

from support.cli import Islet
from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.provider import DOOR, TORCH, RawProvider, button, toggle
from support.running import Running
from support.schemas import strict
from support.service import environment
from support.widgets import FORECAST, entry, widget
from support.wire import Silence

APP, TAXI = "com.example.pizza", "com.example.taxi"
GROUP = "group.com.example.pizza"


class SteadyProvider:
    """Answers every call at once, until it is told to stop."""

    def __init__(self, wire, service, app=APP):
        self.raw = RawProvider(
            wire, service.commands, toggle(), button(hasValue=True), widgets=[widget()], app=app)
        self.values = {}
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while not self._ends.is_set():
            try:
                call = self.raw._next("call", 0.05)
            except Silence:
                continue
            family, _, verb = call["op"].partition(".")
            if family == "widget":
                if verb == "timeline":
                    entries = [entry(call["now"], 1), entry(call["now"] + HOUR, 2)]
                    self.raw.say("provider.answer", call=call["call"], entries=entries, policy="never")
                else:
                    self.raw.answer(call)
            elif verb == "perform":
                self.values[call["control"]] = call.get("value", True)
                self.raw.answer(call)
            else:
                default = {"open": 1} if call["kind"] == DOOR else False
                value = self.values.get(call["control"], default)
                self.raw.answer(call, value if call["kind"] == TORCH else default)

    def end(self):
        self._ends.set()
        self._thread.join(timeout=5)


@pytest.fixture
def steady(wire):
    made = []

    def make(service, app=APP):
        made.append(SteadyProvider(wire, service, app))
        return made[-1]

    yield make
    for provider in made:
        provider.end()


@pytest.fixture
def recording(service, tmp_path):
    """Records everything that the service publishes while something is done."""
    path = tmp_path / "recording.jsonl"

    def record(body, *words):
        follower = Running("tail", "--json", *words, env=Islet(service, app="").env)
        try:
            follower.message("^following all apps")
            body()
            count = events_of(service)
            follower.lines(count)
            assert follower.end() == 0
        finally:
            follower.kill()
        path.write_text("".join(line + "\n" for line in follower.data))
        return path

    return record


def events_of(service):
    [stats] = Islet(service)("stats", "--json").json
    return stats["events"]


@pytest.fixture
def target(serve):
    """A second service whose clock is manual."""
    return serve({"--clock": "manual"})


def wait_for(ask, wanted):
    for _ in range(2_000):
        if ask() == wanted:
            return
    raise AssertionError(f"{ask()} and not {wanted}")


def activities(client):
    """A life of each kind; gives the ids."""
    ids = {}

    def start(name, **fields):
        ids[name] = client.start(key=name, **fields)["id"]
        return ids[name]

    start("order-1", staleDate=after(MINUTE), device="phone-1", relevanceScore=3.5, pushType="token",
          contentState={"eta": 12, "text": "caf\u00e9 \U0001F355"})
    client.advance(by=2 * MINUTE)
    client.applied("activity.update", id=ids["order-1"], contentState={"eta": 5}, relevanceScore=1,
                   staleDate=after(10 * MINUTE), alert={"title": "Nearly there"})
    client.applied("activity.tap", id=ids["order-1"], url="pizza://order/1")
    start("order-2", startDate=after(5 * MINUTE), alert={"title": "It begins"})
    start("order-3")
    start("order-4", style="transient", device="phone-2")
    start("order-5")
    client.advance(by=4 * MINUTE)
    client.applied("activity.end", id=ids["order-3"], contentState={"eta": 0},
                   dismissalPolicy={"after": after(HOUR)})
    client.read("device.event", device="phone-2", event="leave")
    client.applied("activity.dismiss", id=ids["order-5"], by="person")
    renewed = client.applied("activity.renew", key="order-2", contentState={"eta": 40})
    ids["renewed"] = renewed["activity"]["id"]
    start("order-6")
    client.applied("activity.end", id=ids["order-6"], dismissalPolicy="immediate")
    start("order-7")
    client.applied("activity.end", id=ids["order-7"])
    client.advance(by=3 * HOUR)
    client.applied("activity.update", id=ids["renewed"], contentState={"eta": 39}, source="push")
    start("order-8", device="phone-3")
    client.read("settings.set", device="phone-3", activitiesEnabled=False)
    client.read("settings.set", device="phone-3", activitiesEnabled=True)
    start("order-9", device="phone-3")
    return ids


def test_lives_of_activities_come_out_the_same(service, target, client, wire, recording):
    ids = {}
    path = recording(lambda: ids.update(activities(client)))
    Commands(wire, target.commands).advance(by=HOUR)
    done = Islet(target)("replay", path, "--speed", "max", "--verify", "--json")
    [summary] = done.json
    strict("cli/replay.json").validate(summary)
    assert summary["differences"] == [] and summary["refused"] == [] and summary["impossible"] == []
    assert summary["events"] == events_of(service) == events_of(target)
    assert summary["replayed"] + sum(summary["following"].values()) == summary["events"]
    assert summary["offset"] == HOUR
    there = Commands(wire, target.commands, APP)
    for name, id in ids.items():
        here = client.get(id=id)
        if name == "renewed":
            found = there.get(key="order-2")
        else:
            found = there.get(id=id)
        assert found["state"] == here["state"], name
        assert found.get("contentState") == here.get("contentState"), name
        if "staleDate" in here:
            assert found["staleDate"] == here["staleDate"] + HOUR, name
    assert "all is as recorded" in done.err

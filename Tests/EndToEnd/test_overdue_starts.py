"""A manual clock that starts later than it stopped: what is overdue takes effect first, each at its own date."""

import json
import time

import pytest

from support.commands import Commands
from support.dates import HOUR, after
from support.durable import Durable
from support.provider import TORCH, RawProvider, toggle
from support.widgets import FORECAST, WidgetProvider, entry, widget
from support.wire import Deadline

OVERDUE = 3_000
"""So many deadlines that they take several turns."""
BATCH = 250


@pytest.fixture
def house(wire, tmp_path):
    made = Durable(wire, tmp_path / "data", options={"--commands": f"ipc://{tmp_path}/commands"}).start()
    yield made
    made.kill()


def stale_later(client, count):
    """Starts so many activities, each of which becomes stale within a second from an hour on."""
    for first in range(0, count, BATCH):
        client.batch(*(
            client.command(
                "activity.start", type="T", attributes={}, contentState={}, staleDate=after(HOUR) + n % 1_000)
            for n in range(first, first + BATCH)))


def in_order(house, seq, until):
    """Waits until an event behind a number is as wanted, and all is stale; fails where one is dated before another that
    precedes it."""
    deadline = Deadline()
    while True:
        events = [json.loads(body) for _, body in house.replay(seq).rows]
        names = [event["event"] for event in events]
        if names.count("activity.stale") == OVERDUE and any(until(event) for event in events):
            break
        assert not deadline.passed, {name: names.count(name) for name in names}
    for before, event in zip(events, events[1:]):
        assert before["at"] <= event["at"], (before, event)
    return events


def test_nobody_is_asked_before_what_is_overdue_has_taken_effect(wire, house):
    client = house.client
    stale_later(client, OVERDUE)
    provider = RawProvider(wire, house.service.commands, toggle(), app=house.app)
    id = client.applied("control.add", kind=TORCH)["control"]["id"]
    provider.call("value")
    seq = client.read("control.get", id=id)["seq"]
    house.restart(clock=f"manual={after(2 * HOUR)}")
    in_order(house, seq, lambda event: event["event"] == "control.failed" and event["at"] == after(2 * HOUR))


def early(wire, house):
    """A client that connects before the service is there."""
    made = Commands(wire, house.options["--commands"], house.app)
    made.socket.close()
    made.socket = wire.socket("DEALER", house.options["--commands"], reconnect_ivl=1)
    return made


def received(house, client):
    deadline = Deadline()
    while not client.socket.poll(50):
        assert house.service.alive, house.service.log
        assert not deadline.passed
    return client.receive()


def test_a_command_that_comes_at_once_stands_behind_what_is_overdue(wire, house):
    stale_later(house.client, OVERDUE)
    house.stop()
    client = early(wire, house)
    client.send(client.command("activity.start", type="T", attributes={}, contentState={}))
    house.start(clock=f"manual={after(2 * HOUR)}")
    [answer] = received(house, client)
    assert answer["ok"]
    in_order(house, 0, lambda event: event["event"] == "activity.started" and event["at"] == after(2 * HOUR))


def test_a_setting_that_changes_nothing_ends_none_whose_start_is_overdue(wire, tmp_path):
    """Frequent updates were changed while it was pending, which is nothing to it."""
    options = {"--commands": f"ipc://{tmp_path}/commands", "--clock": "system"}
    house = Durable(wire, tmp_path / "data", options=options).start()
    try:
        client = house.client
        due = client.read("service.ping")["now"] + 2_000
        for first in range(0, OVERDUE, BATCH):
            client.batch(*(
                client.command("activity.start", app="com.example.crowd", type="T", attributes={}, contentState={},
                               startDate=due, alert={"title": "t"}) for _ in range(first, first + BATCH)))
        id = client.start(startDate=due + 1, alert={"title": "t"})["id"]
        client.batch(client.command("settings.set", activitiesEnabled=True),
                     client.command("settings.set", frequentPushesEnabled=False))
        house.stop()
        deadline = Deadline()
        while time.time() * 1_000 < due + 2:
            assert not deadline.passed
            time.sleep(0.01)
        client = early(wire, house)
        client.send(client.command("settings.set", activitiesEnabled=True))
        house.start()
        [answer] = received(house, client)
        assert answer["ok"]
        while house.client.get(id)["state"] == "pending":
            assert not deadline.passed
        assert house.client.get(id)["state"] == "active", house.client.read("activity.history", id=id)["events"]
    finally:
        house.kill()


def test_a_step_that_comes_at_once_waits_for_what_is_overdue(wire, house):
    client = house.client
    stale_later(client, OVERDUE)
    provider = WidgetProvider(wire, house.service.commands, widget(), app=house.app)
    id = client.applied("widget.add", kind=FORECAST, family="systemSmall")["widget"]["id"]
    call = provider.call("timeline")
    provider.show(call, entry(call["now"]), policy={"after": after(HOUR) + 1_000})
    deadline = Deadline()
    while (shown := client.read("widget.get", id=id))["widget"]["state"] != "shown":
        assert not deadline.passed
    provider.socket.close()
    house.stop()
    traveller = early(wire, house)
    traveller.send(traveller.command("clock.advance", by=1_000))
    house.start(clock=f"manual={after(2 * HOUR)}")
    [answer] = received(house, traveller)
    assert answer["now"] == after(2 * HOUR) + 1_000, answer
    events = in_order(house, shown["seq"], lambda event: event["event"] == "widget.reloading")
    assert next(event for event in events if event["event"] == "widget.reloading")["at"] < after(2 * HOUR)

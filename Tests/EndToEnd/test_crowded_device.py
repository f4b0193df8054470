"""A device on which thousands of cards have ended: what a person does there is done in turns, and holds nobody up."""

import time

import pytest

from support.durable import Durable

# More than one command and the first turn of what follows it take off a device.
CROWD = 2_200
DEADLINE = 20


def crowd(client, device):
    for first in range(0, CROWD, 100):
        commands = []
        for n in range(first, first + 100):
            here = {"device": device, "key": f"card-{n}"}
            commands.append(client.command("activity.start", type="Delivery", attributes={}, contentState={}, **here))
            commands.append(client.command("activity.end", **here))
        assert all(answer["ok"] for answer in client.batch(*commands))


def listed(client, device):
    return client.read("activity.list", device=device, limit=1)["total"]


def empty(client, device):
    end = time.monotonic() + DEADLINE
    while left := listed(client, device):
        assert time.monotonic() < end, f"{left} are left"


SWITCHED_OFF = {"op": "settings.set", "activitiesEnabled": False}
SWITCHED_ON = {"op": "settings.set", "activitiesEnabled": True}
UNINSTALLED = {"op": "device.event", "event": "uninstall", "app": "com.example.pizza"}


@pytest.mark.parametrize("done", [[SWITCHED_OFF], [SWITCHED_OFF, SWITCHED_ON], [UNINSTALLED]],
                         ids=["off", "off and on", "uninstalled"])
def test_what_reaches_thousands_on_a_device_is_done_in_turns(client, done):
    crowd(client, "crowded")
    other = client.start(app="com.example.taxi", device="crowded")["id"]
    *answers, seen = client.batch(*(client.command(**command, device="crowded") for command in done),
                                  client.command("activity.list", device="crowded", limit=1))
    assert all(answer["ok"] for answer in answers)
    # Each of them does its own part.
    least = 0 if len(done) > 1 else 1
    assert least <= seen["total"] < CROWD, "the next command waits for a part of it only"
    empty(client, "crowded")
    assert client.get(other, app="com.example.taxi")["state"] == "active"
    if done[-1] != SWITCHED_OFF:
        later = client.start(device="crowded")["id"]
        assert client.get(later)["state"] == "active"


def test_a_kill_in_the_middle_leaves_none_behind(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data").start()
    try:
        crowd(durable.client, "crowded")
        durable.client.read(**UNINSTALLED, device="crowded")
        durable.restart()
        empty(durable.client, "crowded")
        durable.restart()
        assert listed(durable.client, "crowded") == 0
    finally:
        durable.stop()

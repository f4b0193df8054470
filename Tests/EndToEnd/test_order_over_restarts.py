"""In which order things happen to many at once: the same whether the service was killed before or not."""

import pytest

from support.dates import HOUR, MINUTE, after
from support.durable import Durable

ALERT = {"title": "T", "body": "B"}


def ids(*numbers):
    return [f"0198c0de-0000-7000-8000-{number:012}" for number in numbers]


@pytest.mark.parametrize("how", [None, "kill", "stop"])
def test_what_is_open_on_a_device_ends_in_the_order_of_its_starts_the_last_first(wire, tmp_path, how):
    """By when they started, not by when they were made: some had been scheduled."""
    pending, first, later, second, last = ids(5, 3, 4, 2, 1)
    durable = Durable(wire, tmp_path / "data").start()
    try:
        client = durable.client
        client.start(id=pending, device="phone", startDate=after(HOUR), alert=ALERT)
        client.start(id=first, device="phone")
        client.start(id=later, device="phone", startDate=after(MINUTE), alert=ALERT)
        client.start(id=second, device="phone")
        client.advance(by=2 * HOUR)
        client.start(id=last, device="phone")
        if how:
            getattr(durable, how)()
            durable.start()
        events = durable.events()
        durable.client.read("device.event", device="phone", event="uninstall", app=durable.app)
        ended = [events.next()["activity"]["id"] for _ in range(5)]
        assert ended == [last, pending, later, second, first]
    finally:
        durable.service.kill()


@pytest.mark.parametrize("how", [None, "kill", "stop"])
def test_of_those_dismissed_at_one_moment_the_first_ones_are_forgotten(wire, tmp_path, how):
    """More are retained than may be: which of them go does not depend on where they stand in memory after a restart."""
    durable = Durable(wire, tmp_path / "data", env={"ISLET_RULE_SET_MAXIMUM_RETAINED": "10" if how is None else "1000"})
    durable.start()
    try:
        started = start(durable.client, ids(*(number * 37 % 41 for number in range(1, 41))))
        dismiss(durable.client, started[7:20])
        # Those are forgotten, and others take their places.
        durable.client.advance(by=25 * HOUR)
        dismissed = started[:7] + started[20:] + start(durable.client, ids(*range(100, 120)))
        dismiss(durable.client, dismissed)
        if how:
            getattr(durable, how)()
            durable.env["ISLET_RULE_SET_MAXIMUM_RETAINED"] = "10"
            durable.start()
        durable.client.advance(by=1)
        assert [id for id in dismissed if durable.client.ask("activity.get", id=id)["ok"]] == dismissed[-10:]
    finally:
        durable.service.kill()


def start(client, ids):
    client.batch(*(client.command("activity.start", id=id, type="T", attributes={}, contentState={}) for id in ids))
    return ids


def dismiss(client, ids):
    client.batch(*(client.command("activity.end", id=id, dismissalPolicy="immediate") for id in ids))

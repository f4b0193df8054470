"""A person's switches and what a device reports."""

import pytest

from support.dates import HOUR, after
from support.durable import Durable
from support.wire import Deadline

NEW = {"type": "Delivery", "attributes": {}, "contentState": {}}


def test_everything_is_switched_on_until_somebody_switches_it_off(client):
    assert client.read("settings.get")["settings"]["activitiesEnabled"] is True
    client.read("settings.set", activitiesEnabled=False)
    assert client.read("settings.get")["settings"]["activitiesEnabled"] is False


def test_a_switch_for_one_device_leaves_the_others_alone(client):
    phone, tablet = client.start(device="phone")["id"], client.start(device="tablet")["id"]
    client.read("settings.set", device="phone", activitiesEnabled=False)
    assert client.get(phone)["state"] == "dismissed"
    assert client.get(tablet)["state"] == "active"
    assert client.refused("activity.start", **NEW, device="phone")["code"] == "denied"
    client.start(device="tablet")
    assert client.read("settings.get", device="phone")["settings"]["activitiesEnabled"] is False
    assert client.read("settings.get", device="tablet")["settings"]["activitiesEnabled"] is True


def test_a_switch_for_one_app_leaves_the_others_alone(client):
    taxi = client.start(app="com.example.taxi")["id"]
    client.read("settings.set", activitiesEnabled=False)
    assert client.get(taxi, app="com.example.taxi")["state"] == "active"


def test_a_switch_without_a_device_is_for_all(client):
    ids = [client.start(device=device)["id"] for device in ("phone", "tablet", None)]
    client.read("settings.set", activitiesEnabled=False)
    assert {client.get(id)["state"] for id in ids} == {"dismissed"}
    for device in ("phone", "watch", None):
        assert client.refused("activity.start", **NEW, device=device)["code"] == "denied"


def test_many_are_switched_off_at_once_each_with_its_event(client, events):
    ids = {client.start()["id"] for _ in range(300)}
    events.until(300)
    client.read("settings.set", activitiesEnabled=False)
    gone = [events.next("dismissed") for _ in ids]
    assert {event["activity"]["id"] for event in gone} == ids
    assert [event["seq"] for event in gone] == list(range(301, 601))
    assert client.list() == []


def test_settings_that_set_nothing_are_refused_or_change_nothing(client):
    answer = client.ask("settings.set")
    assert answer["ok"] or answer["error"]["code"] == "missingField", answer
    assert client.read("settings.get")["settings"]["activitiesEnabled"] is True


@pytest.mark.parametrize("report", ["unlock", "reboot"])
def test_reports_that_end_nothing(client, report):
    id = client.start(device="phone", style="transient")["id"]
    client.read("device.event", device="phone", event=report)
    assert client.get(id)["state"] == "active"


@pytest.mark.parametrize("report", ["appForeground", "appBackground", "uninstall"])
def test_reports_about_an_app_must_name_it(client, report):
    error = client.refused("device.event", device="phone", event=report)
    assert (error["code"], error["detail"]["field"]) == ("missingField", "app")


def test_the_removal_of_an_app_takes_only_its_own_from_that_device(client):
    mine = client.start(device="phone")["id"]
    tablet = client.start(device="tablet")["id"]
    taxi = client.start(device="phone", app="com.example.taxi")["id"]
    client.read("device.event", device="phone", event="uninstall", app=client.app)
    assert client.get(mine)["state"] == "dismissed"
    assert client.get(tablet)["state"] == "active"
    assert client.get(taxi, app="com.example.taxi")["state"] == "active"


def test_a_device_that_nobody_knows_may_report(client):
    client.read("device.event", device="new", event="lock")


def test_a_pending_transient_one_is_not_touched_by_a_lock(client):
    id = client.start(device="phone", style="transient", startDate=after(HOUR), alert={"title": "T", "body": "B"})["id"]
    client.read("device.event", device="phone", event="lock")
    assert client.get(id)["state"] == "pending"


def test_a_change_that_a_pending_one_outlived_does_not_end_it_later(client):
    """Row 30 ends what runs at the change; this one did not, and a later change of another switch is no reason."""
    id = client.start(device="phone", startDate=after(HOUR), alert={"title": "T", "body": "B"})["id"]
    before = client.read("settings.get")["settings"]["frequentPushesEnabled"]
    client.read("settings.set", frequentPushesEnabled=not before)
    client.advance(by=2 * HOUR)
    assert client.get(id)["state"] == "active"
    client.read("settings.set", device="phone", activitiesEnabled=True)
    assert client.get(id)["state"] == "active"


def test_a_switch_reaches_every_activity_though_others_start_on_the_way(client):
    """The walk before ended at another place than where the next one is through."""
    def starts(count, app):
        for _ in range(0, count, 150):
            batch = (client.command("activity.start", app=app, **NEW) for _ in range(150))
            assert all(answer["ok"] for answer in client.batch(*batch))

    starts(300, "com.a")
    client.read("settings.set", app="com.c", frequentPushesEnabled=False)
    starts(1_500, "com.a")
    off = client.command("settings.set", app="com.a", activitiesEnabled=False)
    others = (client.command("activity.start", app="com.b", **NEW) for _ in range(250))
    assert all(answer["ok"] for answer in client.batch(off, *others))
    deadline = Deadline()
    while left := client.read("activity.list", app="com.a", state="active", limit=1)["total"]:
        assert not deadline.passed, left


@pytest.mark.timeout(120)
@pytest.mark.parametrize("reports", [("lock", "unlock"), ("standByStart", "standByEnd"), ("appBackground", "uninstall")])
def test_the_snapshot_goes_on_while_ever_more_devices_report(wire, tmp_path, reports):
    """What they report makes no events, and is kept until the snapshot has it, as the journal is."""
    durable = Durable(wire, tmp_path / "data").start()
    client = durable.client

    def named(event, device):
        app = {"app": client.app} if event in ("appBackground", "uninstall") else {}
        return client.command("device.event", device=device, event=event, **app)

    first = client.read("service.stats")["stats"]["journal"]["snapshot"]
    for number in range(0, 100_000, 128):
        answers = client.batch(*(named(event, f"d{number + each}") for each in range(128) for event in reports))
        assert all(answer["ok"] for answer in answers)
        # It begins before there is much.
        if number >= 20_000 and client.read("service.stats")["stats"]["journal"]["snapshot"] > first + 100:
            break
    else:
        pytest.fail("no round of the snapshot ends")
    durable.stop()

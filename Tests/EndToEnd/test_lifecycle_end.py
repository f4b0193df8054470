"""How an activity ends and goes: rows 22 to 31 and 35 to 41 of the fact sheet's transition table, seen from outside."""

import pytest

from support.dates import EPOCH, HOUR, MINUTE, SECOND, after


def end(client, id, **fields):
    return client.applied("activity.end", id=id, **fields)["activity"]


@pytest.mark.parametrize("stale_date", [None, EPOCH], ids=["active", "stale"])
def test_the_default_policy_keeps_an_ended_one_for_four_hours(client, events, stale_date):
    """Rows 22 and 38."""
    id = client.start(staleDate=stale_date)["id"]
    events.names(2 if stale_date else 1)
    client.advance(by=MINUTE)
    ended = end(client, id)
    assert ended["state"] == "ended"
    assert ended["next"] == {"at": after(4 * HOUR + MINUTE), "cause": "dismissalPolicy"}
    event = events.next("ended")
    assert (event["to"], event["cause"], event["activity"]["endedAt"]) == ("ended", "command", after(MINUTE))
    assert event["activity"]["dismissAt"] == after(4 * HOUR + MINUTE)
    assert [each["id"] for each in client.list()] == [id], "an ended one is listed until it is dismissed"
    client.advance(to=after(4 * HOUR + MINUTE) - 1)
    assert client.get(id)["state"] == "ended"
    client.advance(by=1)
    event = events.next("dismissed")
    assert (event["from"], event["cause"], event["at"]) == ("ended", "dismissalPolicy", after(4 * HOUR + MINUTE))
    assert client.list() == []


def test_an_end_may_bring_last_content_and_otherwise_keeps_it(client):
    """Row 22."""
    kept, replaced = client.start()["id"], client.start()["id"]
    end(client, kept)
    end(client, replaced, contentState={"delivered": True})
    assert client.get(kept)["contentState"] == {"eta": 12}
    assert client.get(replaced)["contentState"] == {"delivered": True}


def test_a_dismissal_date_holds_within_four_hours(client):
    """Row 23."""
    id = client.start()["id"]
    assert end(client, id, dismissalPolicy={"after": after(HOUR)})["next"]["at"] == after(HOUR)
    client.advance(to=after(HOUR))
    assert client.get(id)["state"] == "dismissed"


def test_a_dismissal_date_is_capped_at_four_hours(client):
    """Row 23."""
    id = client.start()["id"]
    assert end(client, id, dismissalPolicy={"after": after(9 * HOUR)})["next"]["at"] == after(4 * HOUR)


@pytest.mark.parametrize("policy", ["immediate", {"after": EPOCH}, {"after": EPOCH - HOUR}])
def test_an_end_that_removes_at_once_is_two_edges(client, events, policy):
    """Rows 24 and 25."""
    id = client.start()["id"]
    answer = client.applied("activity.end", id=id, dismissalPolicy=policy)
    assert (answer["activity"]["state"], answer["activity"]["revision"], answer["seq"]) == ("dismissed", 3, 3)
    assert answer["activity"].get("next") is None
    events.next("started")
    first, second = events.next("ended"), events.next("dismissed")
    assert (first["from"], first["to"], first["cause"], first["activity"]["revision"]) == (
        "active", "ended", "command", 2)
    assert (second["from"], second["to"], second["cause"], second["activity"]["revision"]) == (
        "ended", "dismissed", "dismissalPolicy", 3)


def test_an_older_timestamp_stops_a_local_end_but_not_a_pushed_one(client):
    """Row 26."""
    id = client.start()["id"]
    client.advance(by=MINUTE)
    client.applied("activity.update", id=id, contentState={"eta": 9})
    assert client.ignored("activity.end", id=id, timestamp=after(SECOND)) == "olderTimestamp"
    assert client.get(id)["state"] == "active"
    assert end(client, id, timestamp=after(SECOND), source="push")["state"] == "ended"


def test_the_system_ends_it_after_eight_hours_and_removes_it_after_twelve(client, events):
    """Row 27."""
    id = client.start(staleDate=after(HOUR))["id"]
    client.advance(to=after(8 * HOUR) - 1)
    assert client.get(id)["state"] == "stale"
    client.advance(to=after(12 * HOUR))
    assert events.names(2) == ["started", "stale"]
    ended, dismissed = events.next("ended"), events.next("dismissed")
    assert (ended["from"], ended["cause"], ended["at"]) == ("stale", "activeLimit", after(8 * HOUR))
    assert (dismissed["cause"], dismissed["at"]) == ("dismissalPolicy", after(12 * HOUR))


@pytest.mark.parametrize("by", [None, "person", "system"])
def test_a_removal_dismisses_at_once(client, events, by):
    """Row 28: whoever did it stands in the cause."""
    id = client.start()["id"]
    assert client.applied("activity.dismiss", id=id, by=by)["activity"]["state"] == "dismissed"
    events.next("started")
    event = events.next("dismissed")
    assert (event["from"], event["to"], event["cause"]) == ("active", "dismissed", by or "person")


def test_switching_the_app_off_dismisses_all_and_denies_new_ones(client, events):
    """Row 29, section 8: also those that have ended."""
    running, ended = client.start()["id"], client.start()["id"]
    end(client, ended)
    client.read("settings.set", activitiesEnabled=False)
    assert {client.get(id)["state"] for id in (running, ended)} == {"dismissed"}
    assert events.names(3) == ["started", "started", "ended"]
    assert {events.next("dismissed")["cause"] for _ in range(2)} == {"settings"}
    error = client.refused("activity.start", type="Delivery", attributes={}, contentState={})
    assert error["code"] == "denied"
    client.read("settings.set", activitiesEnabled=True)
    assert client.start()["state"] == "active"


def test_a_change_of_the_frequent_updates_setting_ends_all_that_run(client, events):
    """Row 30: a value that it has already changes nothing."""
    id = client.start()["id"]
    before = client.read("settings.get")["settings"]["frequentPushesEnabled"]
    client.read("settings.set", frequentPushesEnabled=before)
    assert client.get(id)["state"] == "active"
    client.read("settings.set", frequentPushesEnabled=not before)
    assert client.get(id)["state"] == "ended"
    events.next("started")
    assert events.next("ended")["cause"] == "settings"


@pytest.mark.parametrize("report", ["lock", "collapse", "leave"])
def test_a_transient_one_goes_when_it_is_left(client, events, report):
    """Row 31: the standard one beside it stays."""
    gone = client.start(device="phone", style="transient")["id"]
    stays = client.start(device="phone")["id"]
    elsewhere = client.start(device="tablet", style="transient")["id"]
    client.read("device.event", device="phone", event=report)
    assert client.get(gone)["state"] == "dismissed"
    assert client.get(stays)["state"] == client.get(elsewhere)["state"] == "active"
    events.names(3)
    first, second = events.next("ended"), events.next("dismissed")
    assert (first["cause"], second["cause"]) == ("transient", "dismissalPolicy") or \
        (first["cause"], second["cause"]) == ("transient", "transient")
    events.silent()


def test_it_survives_a_reboot_but_not_the_removal_of_its_app(client):
    """Rows 33 and 34, section 8."""
    id = client.start(device="phone")["id"]
    client.read("device.event", device="phone", event="reboot")
    assert client.get(id)["state"] == "active"
    client.read("device.event", device="phone", event="uninstall", app=client.app)
    assert client.get(id)["state"] == "dismissed"


def test_an_ended_one_takes_no_update(client, events):
    """Row 35."""
    id = client.start()["id"]
    end(client, id)
    assert client.ignored("activity.update", id=id, contentState={"eta": 1}) == "ended"
    assert client.get(id)["contentState"] == {"eta": 12}
    assert events.names(2) == ["started", "ended"]
    events.silent()


def test_a_second_end_at_once_clears_the_card(client, events):
    """Row 36."""
    id = client.start()["id"]
    end(client, id)
    assert end(client, id, dismissalPolicy="immediate")["state"] == "dismissed"
    assert events.names(3) == ["started", "ended", "dismissed"]


@pytest.mark.parametrize("policy", ["default", {"after": after(3 * HOUR)}])
def test_a_second_end_keeps_the_first_dismissal_date(client, policy):
    """Row 37."""
    id = client.start()["id"]
    end(client, id, dismissalPolicy={"after": after(HOUR)})
    client.advance(by=MINUTE)
    assert client.ignored("activity.end", id=id, dismissalPolicy=policy) == "ended"
    assert client.get(id)["dismissAt"] == after(HOUR)


def test_a_person_removes_an_ended_one(client, events):
    """Row 39."""
    id = client.start()["id"]
    end(client, id)
    client.applied("activity.dismiss", id=id, by="person")
    assert events.names(2) == ["started", "ended"]
    event = events.next("dismissed")
    assert (event["from"], event["cause"]) == ("ended", "person")


def test_an_ended_one_does_not_go_stale(client, events):
    """Row 40."""
    id = client.start(staleDate=after(HOUR))["id"]
    end(client, id)
    client.advance(to=after(2 * HOUR))
    assert client.get(id)["state"] == "ended"
    assert events.names(2) == ["started", "ended"]
    events.silent()


def test_nothing_moves_a_dismissed_one(client, events):
    """Row 41: no error, nothing happens, and a new start makes a new id."""
    id = client.start(key="order-7")["id"]
    client.applied("activity.dismiss", id=id)
    assert client.ignored("activity.update", id=id, contentState={"eta": 1}) == "dismissed"
    assert client.ignored("activity.update", id=id, contentState={"eta": 1}, source="push") == "dismissed"
    assert client.ignored("activity.end", id=id) == "dismissed"
    assert client.ignored("activity.end", id=id, dismissalPolicy="immediate") == "dismissed"
    assert client.ignored("activity.dismiss", id=id) == "dismissed"
    client.advance(by=12 * HOUR)
    assert events.names(2) == ["started", "dismissed"]
    events.silent()
    assert client.start(key="order-7")["id"] != id


def test_a_dismissed_one_stays_readable_for_a_day(client):
    """Retention: then it is not found, and no event says so."""
    id = client.start()["id"]
    client.applied("activity.dismiss", id=id)
    client.advance(to=after(24 * HOUR) - 1)
    whole = client.get(id)
    assert (whole["state"], whole["cause"]) == ("dismissed", "person")
    client.advance(by=2)
    assert client.refused("activity.get", id=id)["code"] == "notFound"

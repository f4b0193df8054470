"""How an activity begins: rows 1 to 5 and 8 to 12 of the fact sheet's transition table, seen from outside."""

from support.commands import encode
from support.dates import EPOCH, HOUR, MINUTE, SECOND, after
from support.durable import Durable

ALERT = {"title": "Your order", "body": "is on its way"}


def test_a_start_is_active_at_once_and_its_eight_hours_run(client, events):
    """Row 1."""
    started = client.start()
    assert started["state"] == "active"
    assert started["revision"] == 1
    assert started["next"] == {"at": after(8 * HOUR), "cause": "activeLimit"}
    event = events.next("started")
    assert (event["seq"], event["to"], event["cause"], event["at"]) == (1, "active", "command", EPOCH)
    assert "from" not in event
    whole = client.get(started["id"])
    assert whole["startedAt"] == EPOCH
    assert whole["expiresAt"] == after(8 * HOUR)
    assert whole["attributes"] == {"order": 1042} and whole["contentState"] == {"eta": 12}


def test_a_start_with_a_past_stale_date_is_stale_at_once(client, events):
    """Row 2: two edges, of which the answer names the last."""
    started = client.start(staleDate=EPOCH - SECOND)
    assert (started["state"], started["revision"]) == ("stale", 2)
    first, second = events.next("started"), events.next("stale")
    assert (first["to"], first["activity"]["revision"]) == ("active", 1)
    assert (second["from"], second["to"], second["cause"]) == ("active", "stale", "staleDate")
    assert second["activity"]["revision"] == 2


def test_a_stale_date_of_this_very_moment_has_passed(client):
    """Row 2, at the edge: a deadline takes effect at `now >= date`."""
    assert client.start(staleDate=EPOCH)["state"] == "stale"


def test_a_start_in_the_background_is_refused(client, events):
    """Row 3."""
    assert client.refused("activity.start", type="Delivery", attributes={}, contentState={}, background=True)[
        "code"] == "visibility"
    events.silent()


def test_a_start_on_a_device_that_reported_the_app_in_the_background_is_refused(client):
    """Row 3, as the device tells it; the command's own `background` wins."""
    client.read("device.event", device="phone", event="appBackground", app=client.app)
    start = {"type": "Delivery", "attributes": {}, "contentState": {}, "device": "phone"}
    assert client.refused("activity.start", **start)["code"] == "visibility"
    assert client.start(**start, background=False)["state"] == "active"
    client.read("device.event", device="phone", event="appForeground", app=client.app)
    assert client.start(**start)["state"] == "active"


def test_a_refused_start_leaves_nothing_behind(client, events):
    """Row 4."""
    error = client.refused("activity.start", type="Delivery", attributes={"note": "x" * 4096}, contentState={})
    assert error["code"] == "attributesTooLarge"
    assert client.list() == []
    client.start()
    assert events.next("started")["seq"] == 1


def test_a_scheduled_start_is_pending_and_needs_an_alert(client, events):
    """Row 5."""
    start = {"type": "Delivery", "attributes": {}, "contentState": {}, "startDate": after(HOUR)}
    error = client.refused("activity.start", **start)
    assert (error["code"], error["detail"]["field"]) == ("missingField", "alert")
    pending = client.start(**start, alert=ALERT)
    assert pending["state"] == "pending"
    assert pending["next"] == {"at": after(HOUR), "cause": "startDate"}
    assert events.next("scheduled")["to"] == "pending"


def test_a_pending_one_counts_toward_the_maximum(client):
    """Row 5."""
    for _ in range(5):
        client.start(device="phone", startDate=after(HOUR), alert=ALERT)
    error = client.refused("activity.start", type="T", attributes={}, contentState={}, device="phone")
    assert error["code"] == "targetMaximumExceeded"


def test_a_pending_one_starts_at_its_date_and_only_then_its_eight_hours_run(client, events):
    """Row 8."""
    id = client.start(startDate=after(HOUR), alert=ALERT)["id"]
    assert "alert" not in events.next("scheduled"), "nobody is alerted before the start"
    client.advance(to=after(HOUR) - 1)
    assert client.get(id)["state"] == "pending"
    client.advance(by=1)
    started = events.next("started")
    assert (started["from"], started["to"], started["cause"]) == ("pending", "active", "startDate")
    assert (started["at"], started["lateBy"]) == (after(HOUR), 0)
    assert started["alert"] == ALERT
    whole = client.get(id)
    assert (whole["state"], whole["startedAt"]) == ("active", after(HOUR))
    assert whole["next"] == {"at": after(9 * HOUR), "cause": "activeLimit"}


def test_a_start_date_that_has_passed_starts_at_once(client):
    """Row 5, at its edge: it is shown as the moment of the start."""
    assert client.start(startDate=EPOCH, alert=ALERT)["state"] == "active"
    client.advance(by=HOUR)
    id = client.start(startDate=EPOCH, alert=ALERT)["id"]
    assert [client.get(id)[date] for date in ("startDate", "startedAt")] == [after(HOUR), after(HOUR)]


def test_a_pending_one_starts_at_its_date_with_its_alert_whatever_updates_it(client, events):
    scheduled = {"startDate": after(HOUR), "alert": ALERT, "key": "order-7"}
    id = client.start(**scheduled)["id"]
    other = {"title": "Later", "body": "b"}
    client.applied("activity.update", id=id, contentState={"eta": 1}, alert=other)
    again = client.start(**{**scheduled, "startDate": after(2 * HOUR)}, ifExists="update", contentState={"eta": 2})
    assert (again["id"], again["state"], again["next"]["at"]) == (id, "pending", after(HOUR))
    client.advance(by=HOUR)
    seen = [events.next(name) for name in ("scheduled", "updated", "updated", "started")]
    assert [event.get("alert") for event in seen] == [None, other, ALERT, ALERT]
    assert client.get(id)["contentState"] == {"eta": 2}


def test_a_pending_one_takes_new_content_and_stays_pending(client, events):
    """Row 9."""
    id = client.start(startDate=after(HOUR), alert=ALERT)["id"]
    updated = client.applied("activity.update", id=id, contentState={"eta": 30})["activity"]
    assert (updated["state"], updated["revision"]) == ("pending", 2)
    events.next("scheduled")
    event = events.next("updated")
    assert (event["from"], event["to"]) == ("pending", "pending")
    assert client.get(id)["contentState"] == {"eta": 30}


def test_ending_a_pending_one_cancels_its_start(client, events):
    """Row 10, with any policy."""
    for policy in ("default", "immediate", {"after": after(2 * HOUR)}):
        id = client.start(startDate=after(HOUR), alert=ALERT)["id"]
        assert client.applied("activity.end", id=id, dismissalPolicy=policy)["activity"]["state"] == "dismissed"
        assert events.names(2) == ["scheduled", "dismissed"]
    client.advance(by=2 * HOUR)
    events.silent()


def test_a_stale_date_before_the_start_shows_at_the_start(client, events):
    """Row 11."""
    id = client.start(startDate=after(HOUR), alert=ALERT, staleDate=after(30 * MINUTE))["id"]
    client.advance(to=after(45 * MINUTE))
    assert client.get(id)["state"] == "pending"
    client.advance(to=after(HOUR))
    assert client.get(id)["state"] == "stale"
    assert events.names(3) == ["scheduled", "started", "stale"]


def test_switching_the_app_off_dismisses_a_pending_one(client, events):
    """Row 12."""
    id = client.start(startDate=after(HOUR), alert=ALERT)["id"]
    client.read("settings.set", activitiesEnabled=False)
    events.next("scheduled")
    event = events.next("dismissed")
    assert (event["from"], event["to"], event["cause"]) == ("pending", "dismissed", "settings")
    assert client.get(id)["state"] == "dismissed"


def alert_of(size):
    """An alert of so many bytes of JSON."""
    empty = {"title": "", "body": "b"}
    return {**empty, "title": "t" * (size - len(encode(empty)))}


def test_the_alert_of_a_scheduled_start_may_be_as_long_as_what_is_pushed(client):
    """It is kept until then; an alert that goes out at once is no longer held than its event."""
    start = {"type": "Delivery", "attributes": {}, "contentState": {}}
    assert client.start(**start, startDate=after(HOUR), alert=alert_of(4_096))["state"] == "pending"
    error = client.refused("activity.start", **start, startDate=after(HOUR), alert=alert_of(4_097))
    assert (error["code"], error["detail"]["field"]) == ("badField", "alert")
    assert client.start(**start, alert=alert_of(4_097))["state"] == "active"


def test_the_alert_of_a_scheduled_start_takes_memory_no_longer_than_until_then(wire, tmp_path):
    """With a journal, since without one all events stay in memory."""
    alert, count, lives = alert_of(4_096), 1_000, 12
    durable = Durable(wire, tmp_path).start()
    client, now = durable.client, EPOCH

    def life(now):
        for _ in range(0, count, 200):
            answers = client.batch(*(client.command(
                "activity.start", type="T", attributes={}, contentState={}, startDate=now + HOUR, alert=alert)
                for _ in range(200)))
            assert all(answer["ok"] for answer in answers)
        return client.advance(by=HOUR)

    try:
        now = life(now)
        before = durable.service.resident
        for _ in range(lives):
            now = life(now)
        assert durable.service.resident - before < lives * count * 4_096 // 2
        durable.stop()
    finally:
        durable.service.kill()

"""`slot.list`: who holds the slots of the maxima."""

from support.dates import HOUR, MINUTE, after
from support.schemas import strict

TAXI = "com.example.taxi"


def slots(client, **fields):
    answer = client.read("slot.list", **{"app": None, **fields})
    strict("answers/slot.list.json").validate(answer)
    return answer


def devices(client, **fields):
    return slots(client, **fields)["devices"]


def test_nobody_holds_any_at_first(client):
    answer = slots(client)
    assert (answer["maximumPerApp"], answer["maximumPerDevice"]) == (5, 20)
    assert answer["devices"] == [] and answer["total"] == 0 and answer["exact"] and "next" not in answer


def test_a_device_names_its_apps_the_one_with_most_first(client):
    for _ in range(2):
        client.start(device="phone")
    for _ in range(3):
        client.start(device="phone", app=TAXI)
    client.start(device="phone", app="com.example.bus")
    assert devices(client) == [{
        "device": "phone", "held": 6,
        "apps": [{"app": TAXI, "held": 3}, {"app": client.app, "held": 2}, {"app": "com.example.bus", "held": 1}]}]


def test_what_has_no_device_holds_none(client):
    client.start()
    assert devices(client) == []


def test_pending_and_stale_ones_hold_theirs_and_ended_ones_do_not(client):
    client.start(device="phone", startDate=after(HOUR), alert={"title": "T", "body": "B"})
    client.start(device="phone", staleDate=after(MINUTE))
    ended = client.start(device="phone")["id"]
    client.advance(by=2 * MINUTE)
    assert devices(client)[0]["held"] == 3
    client.applied("activity.end", id=ended)
    assert devices(client)[0]["held"] == 2


def test_the_slots_are_those_that_the_maximum_counts(client):
    for _ in range(5):
        client.start(device="phone")
    assert devices(client)[0]["apps"] == [{"app": client.app, "held": slots(client)["maximumPerApp"]}]
    error = client.refused("activity.start", type="T", attributes={}, contentState={}, device="phone")
    assert error["code"] == "targetMaximumExceeded"


def test_a_device_whose_slots_are_free_again_is_not_there(client):
    id = client.start(device="phone")["id"]
    client.start(device="tablet")
    client.applied("activity.end", id=id, dismissalPolicy="immediate")
    assert [row["device"] for row in devices(client)] == ["tablet"]


def test_apps_and_devices_filter_and_rows_stay_whole(client):
    client.start(device="phone")
    client.start(device="phone", app=TAXI)
    client.start(device="tablet")
    assert [row["device"] for row in devices(client, app=TAXI)] == ["phone"]
    assert devices(client, app=TAXI)[0]["held"] == 2
    assert [row["device"] for row in devices(client, device="tablet")] == ["tablet"]
    assert devices(client, device="tablet", app=TAXI) == []
    assert devices(client, device="watch") == [] and devices(client, app="com.example.nobody") == []


def test_pages_hold_every_device_once(client):
    for number in range(25):
        client.start(device=f"phone-{number}")
    seen, cursor = [], None
    while True:
        page = slots(client, limit=10, cursor=cursor)
        assert page["total"] == 25
        seen += [row["device"] for row in page["devices"]]
        if (cursor := page.get("next")) is None:
            break
    assert sorted(seen) == sorted({f"phone-{number}" for number in range(25)})
    assert client.refused("slot.list", app=None, cursor="x")["code"] == "badField"

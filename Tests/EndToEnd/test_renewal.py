"""`activity.renew`: an end at once and a linked start, so that an activity outlives its eight hours."""

from support.dates import EPOCH, HOUR, MINUTE, after

ALERT = {"title": "t", "body": "b"}


def test_a_renewal_ends_one_and_starts_a_linked_one(client, events):
    old = client.start(key="order-7", device="phone", relevanceScore=7)["id"]
    client.advance(by=7 * HOUR)
    answer = client.applied("activity.renew", id=old, contentState={"eta": 5}, staleDate=after(9 * HOUR))
    new = answer["activity"]
    assert new["id"] != old
    assert (new["state"], new["revision"]) == ("active", 1)
    assert new["next"] == {"at": after(9 * HOUR), "cause": "staleDate"}
    before, now = client.get(old), client.get(new["id"])
    assert (before["state"], before["renewedBy"]) == ("dismissed", new["id"])
    assert (now["renews"], now["attributes"], now["contentState"]) == (old, {"order": 1042}, {"eta": 5})
    assert (now["startedAt"], now["expiresAt"]) == (after(7 * HOUR), after(15 * HOUR))
    assert (now["key"], now["device"], now["type"]) == ("order-7", "phone", "Delivery")
    seen = events.until(answer["seq"])
    assert [event["event"].removeprefix("activity.") for event in seen] == ["started", "ended", "dismissed", "started"]
    assert {event["cause"] for event in seen[1:2]} == {"renewal"}
    assert client.get(key="order-7", device="phone")["id"] == new["id"]


def test_a_renewal_without_content_keeps_the_last(client):
    old = client.start()["id"]
    client.applied("activity.update", id=old, contentState={"eta": 4})
    new = client.applied("activity.renew", id=old)["activity"]["id"]
    assert client.get(new)["contentState"] == {"eta": 4}


def test_a_renewal_works_by_key_and_again_and_again(client):
    ids = [client.start(key="order-7")["id"]]
    for _ in range(3):
        client.advance(by=7 * HOUR)
        ids.append(client.applied("activity.renew", key="order-7")["activity"]["id"])
    assert len(set(ids)) == 4
    assert [client.get(id)["renews"] for id in ids[2:]] == ids[1:3]
    assert client.get(key="order-7")["state"] == "active"


def test_a_renewal_needs_no_free_place_on_a_full_device(client):
    ids = [client.start(device="phone")["id"] for _ in range(5)]
    client.applied("activity.renew", id=ids[0])
    assert len(client.list(device="phone", state="active")) == 5


def test_what_has_ended_cannot_be_renewed(client):
    id = client.start()["id"]
    client.applied("activity.end", id=id)
    assert client.ignored("activity.renew", id=id) == "ended"
    client.applied("activity.end", id=id, dismissalPolicy="immediate")
    assert client.ignored("activity.renew", id=id) == "dismissed"


def test_a_renewed_one_may_be_stale_at_once(client):
    id = client.start()["id"]
    client.advance(by=MINUTE)
    assert client.applied("activity.renew", id=id, staleDate=EPOCH)["activity"]["state"] == "stale"


def test_a_pending_one_that_is_renewed_starts_at_once(client, events):
    id = client.start(startDate=after(HOUR), alert=ALERT)["id"]
    assert client.applied("activity.renew", id=id)["activity"]["state"] == "active"
    assert events.names(3) == ["scheduled", "dismissed", "started"]
    assert client.get(id)["state"] == "dismissed"


def test_a_renewal_in_the_background_is_no_new_start(client):
    id = client.start(device="phone")["id"]
    client.read("device.event", device="phone", event="appBackground", app="com.example.pizza")
    new = {"type": "Delivery", "attributes": {}, "contentState": {}}
    assert client.refused("activity.start", **new, device="phone")["code"] == "visibility"
    assert client.applied("activity.renew", id=id)["activity"]["state"] == "active"

"""Ids, keys and apps: who is meant, who holds a key, and what two writers may expect."""

import uuid

from support.dates import HOUR, after

NEW = {"type": "Delivery", "attributes": {}, "contentState": {}}


def test_the_service_makes_ids_that_are_uuids_of_version_7(client):
    ids = [client.start()["id"] for _ in range(3)]
    assert len(set(ids)) == 3
    assert {uuid.UUID(id).version for id in ids} == {7}
    assert all(id == id.lower() for id in ids)


def test_a_client_may_choose_an_id_which_is_kept_in_lower_case(client, events):
    chosen = str(uuid.uuid4())
    assert client.start(id=chosen.upper())["id"] == chosen
    assert client.get(chosen.upper())["id"] == chosen
    topic, _, _ = events.raw_next()
    assert topic == f"{client.app}/activity/Delivery/{chosen}"


def test_an_id_cannot_be_taken_twice(client):
    chosen = client.start()["id"]
    assert client.refused("activity.start", **NEW, id=chosen)["code"] == "reconnectNotPermitted"
    client.applied("activity.dismiss", id=chosen)
    assert client.refused("activity.start", **NEW, id=chosen)["code"] == "reconnectNotPermitted"


def test_an_id_of_another_app_is_not_found(client):
    id = client.start()["id"]
    other = {"app": "com.example.taxi", "id": id}
    for op, fields in {
        "activity.update": {"contentState": {}}, "activity.end": {}, "activity.dismiss": {}, "activity.renew": {},
        "activity.get": {}, "activity.history": {}, "activity.explain": {},
    }.items():
        assert client.refused(op, **other, **fields)["code"] == "notFound", op
    assert client.get(id)["revision"] == 1


def test_an_unknown_id_or_key_is_not_found(client):
    assert client.refused("activity.update", id=str(uuid.uuid4()), contentState={})["code"] == "notFound"
    assert client.refused("activity.update", key="nobody", contentState={})["code"] == "notFound"
    assert client.refused("activity.get", key="nobody")["code"] == "notFound"


def test_a_key_addresses_the_activity_that_holds_it(client):
    id = client.start(key="order-7")["id"]
    assert client.applied("activity.update", key="order-7", contentState={"eta": 1})["activity"]["id"] == id
    assert client.get(key="order-7")["id"] == id
    assert client.applied("activity.end", key="order-7")["activity"]["id"] == id


def test_a_key_that_is_held_refuses_a_second_start_and_names_the_holder(client):
    holder = client.start(key="order-7")
    error = client.refused("activity.start", **NEW, key="order-7")
    assert error["code"] == "conflict"
    assert error["detail"]["id"] == holder["id"]


def test_a_start_with_if_exists_updates_the_holder(client, events):
    holder = client.start(key="order-7")["id"]
    again = client.start(key="order-7", ifExists="update", contentState={"eta": 3}, attributes={"other": True})
    assert (again["id"], again["revision"]) == (holder, 2)
    assert client.get(holder)["contentState"] == {"eta": 3}
    assert client.get(holder)["attributes"] == {"order": 1042}, "attributes never change"
    assert events.names(2) == ["started", "updated"]


def test_a_start_with_if_exists_starts_where_nobody_holds_the_key(client):
    first = client.start(key="order-7", ifExists="update")
    client.applied("activity.end", id=first["id"])
    assert client.start(key="order-7", ifExists="update")["id"] != first["id"]


def test_a_key_is_free_again_when_its_holder_has_ended(client):
    first = client.start(key="order-7")["id"]
    client.applied("activity.end", id=first)
    second = client.start(key="order-7")["id"]
    assert second != first
    assert client.get(key="order-7")["id"] == second


def test_where_nobody_holds_a_key_the_newest_retained_one_is_meant(client):
    older = client.start(key="order-7")["id"]
    client.applied("activity.dismiss", id=older)
    client.advance(by=1000)
    newer = client.start(key="order-7")["id"]
    client.applied("activity.end", id=newer)
    for op in ("activity.get", "activity.history", "activity.explain"):
        client.read(op, key="order-7")
    assert client.get(key="order-7")["id"] == newer
    assert client.ignored("activity.update", key="order-7", contentState={"eta": 1}) == "ended"
    assert client.applied("activity.end", key="order-7", dismissalPolicy="immediate")["activity"]["id"] == newer


def test_a_dismissal_by_key_takes_away_a_card_that_has_ended(client):
    id = client.start(key="order-7")["id"]
    client.applied("activity.end", key="order-7")
    client.applied("activity.dismiss", key="order-7", by="person")
    assert client.get(id)["state"] == "dismissed"


def test_a_key_belongs_to_an_app_and_a_device(client):
    nowhere = client.start(key="order-7")["id"]
    phone = client.start(key="order-7", device="phone")["id"]
    tablet = client.start(key="order-7", device="tablet")["id"]
    taxi = client.start(key="order-7", app="com.example.taxi")["id"]
    assert len({nowhere, phone, tablet, taxi}) == 4
    assert client.get(key="order-7")["id"] == nowhere
    assert client.get(key="order-7", device="phone")["id"] == phone
    assert client.get(key="order-7", app="com.example.taxi")["id"] == taxi


def test_a_revision_guard_lets_only_one_of_two_writers_through(client):
    id = client.start()["id"]
    client.applied("activity.update", id=id, contentState={"eta": 1}, ifRevision=1)
    error = client.refused("activity.update", id=id, contentState={"eta": 2}, ifRevision=1)
    assert error["code"] == "conflict"
    assert error["retry"] == "refresh"
    assert error["detail"]["revision"] == 2
    assert client.get(id)["contentState"] == {"eta": 1}
    client.applied("activity.end", id=id, ifRevision=2)


def test_what_is_over_is_ignored_before_its_revision_is_looked_at(client):
    """The order of checks."""
    id = client.start()["id"]
    client.applied("activity.end", id=id)
    assert client.ignored("activity.update", id=id, contentState={}, ifRevision=77) == "ended"


def test_a_revision_guard_comes_before_timestamps_and_size(client):
    """The order of checks."""
    id = client.start()["id"]
    late = {"id": id, "contentState": {"note": "x" * 5000}, "timestamp": after(-HOUR)}
    assert client.refused("activity.update", **late, ifRevision=77)["code"] == "conflict"
    assert client.ignored("activity.update", **late, ifRevision=1) == "olderTimestamp"


def test_with_a_device_an_activity_counts_and_without_one_it_does_not(client):
    for _ in range(7):
        client.start()
    for _ in range(5):
        last = client.start(device="phone")["id"]
    error = client.refused("activity.start", **NEW, device="phone")
    assert error["code"] == "targetMaximumExceeded"
    assert error["detail"]["limit"] == 5
    client.start(device="tablet")
    client.start(device="phone", app="com.example.taxi")
    client.applied("activity.end", id=last)
    assert client.start(device="phone")["state"] == "active", "ended ones do not count"


def test_a_deadline_that_is_due_frees_a_place_before_the_next_start(client):
    for _ in range(5):
        client.start(device="phone")
    client.advance(by=8 * HOUR)
    assert client.start(device="phone")["state"] == "active"


def test_a_device_has_a_maximum_over_all_apps(client):
    started = 0
    for number in range(30):
        answer = client.ask("activity.start", **NEW, device="phone", app=f"com.example.app{number // 5}")
        if not answer["ok"]:
            assert answer["error"]["code"] == "globalMaximumExceeded"
            assert answer["error"]["detail"]["limit"] == started
            return
        started += 1
    raise AssertionError("30 activities on one device, and no maximum")

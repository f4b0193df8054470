"""The events: topics, dense numbers, epochs, joining, watermarks."""

import json
import secrets
import time

import pytest

from support.commands import Commands
from support.dates import HOUR, after
from support.digest import digest
from support.events import Events

TAXI = "com.example.taxi"


def test_an_event_names_its_topic_its_place_and_who_did_it(client, events):
    me = "0198c0de-0000-7000-8000-00000000c11e"
    id = client.start(client=me, req="c7-184")["id"]
    topic, event, raw = events.raw_next()
    assert topic == f"{client.app}/activity/Delivery/{id}"
    assert event["seq"] == 1 and event["epoch"]
    assert event["by"] == {"client": me, "req": "c7-184"}
    patch = event["activity"]
    assert (patch["id"], patch["revision"], patch["state"], patch["type"]) == (id, 1, "active", "Delivery")
    assert patch["attributes"] == {"order": 1042}
    order = ["epoch", "seq", "at", "event", "from", "to", "cause", "by", "lateBy", "activity"]
    assert [name for name in json.loads(raw) if name in order] == [name for name in order if name in event]
    assert b": " not in raw and b", " not in raw, "compact"


def test_numbers_are_dense_within_an_app(client, wire, service):
    events = Events(wire, service.events, "")
    events.join()
    for number in range(20):
        client.start(app=[client.app, TAXI][number % 2])
    seen = [events.next() for _ in range(20)]
    topics = {event["activity"]["id"]: event["activity"]["app"] for event in seen}
    for app in (client.app, TAXI):
        assert [e["seq"] for e in seen if topics[e["activity"]["id"]] == app] == list(range(1, 11))
    assert len({event["epoch"] for event in seen}) in (1, 2)


def test_a_prefix_selects_an_app_a_type_or_one_activity(client, wire, service):
    ride = client.start(type="Ride")["id"]
    order = client.start(type="Delivery")["id"]
    other = client.start(type="Ride", app=TAXI)["id"]
    prefixes = {
        f"{client.app}/": {ride, order}, f"{client.app}/activity/Ride/": {ride}, "com.example.": {ride, order, other},
        f"{client.app}/activity/Delivery/{order}": {order},
    }
    subscribers = {prefix: Events(wire, service.events, prefix) for prefix in prefixes}
    for subscriber in subscribers.values():
        subscriber.join()
    for id, app in ((ride, None), (order, None), (other, TAXI)):
        client.applied("activity.end", id=id, app=app or client.app)
    for prefix, expected in prefixes.items():
        seen = {subscribers[prefix].next("ended")["activity"]["id"] for _ in expected}
        assert seen == expected, prefix
        subscribers[prefix].silent(seconds=0.05)


def test_refused_and_ignored_commands_use_no_number(client, events):
    id = client.start()["id"]
    client.refused("activity.update", id=id, contentState={}, ifRevision=9)
    client.ignored("activity.update", id=id, contentState={"eta": 12})
    client.refused("activity.start", type="T", attributes={"x": "y" * 5000}, contentState={})
    client.applied("activity.end", id=id)
    assert [event["seq"] for event in events.until(2)] == [1, 2]


def test_an_applied_answer_comes_no_later_than_a_read_shows_it(client, events):
    id = client.start()["id"]
    for eta in range(50):
        answer = client.applied("activity.update", id=id, contentState={"eta": eta})
        assert client.get(id)["contentState"] == {"eta": eta}
        assert client.get(id)["revision"] == answer["activity"]["revision"]


# Joining


def test_joining_says_how_far_each_app_is(client, wire, service):
    for app in (client.app, client.app, TAXI):
        client.start(app=app)
    events = Events(wire, service.events, "com.example.")
    answer = events.join()
    assert answer["at"] and {app: place["seq"] for app, place in answer["apps"].items()} == {client.app: 2, TAXI: 1}
    client.start()
    event = events.next("started")
    assert event["seq"] == 3
    assert event["epoch"] == answer["apps"][client.app]["epoch"]


def test_joining_one_app_answers_for_that_one(client, wire, service):
    for app in (client.app, TAXI):
        client.start(app=app)
    events = Events(wire, service.events, client.app + "/")
    assert {app: place["seq"] for app, place in events.join(client.app)["apps"].items()} == {client.app: 1}


def test_joining_before_anything_happened_stands_at_nought(wire, service):
    events = Events(wire, service.events, "com.example.pizza/")
    places = events.join()["apps"]
    assert places.get("com.example.pizza", {"seq": 0})["seq"] == 0
    places = events.join("com.example.pizza")["apps"]
    assert places.get("com.example.pizza", {"seq": 0})["seq"] == 0


def test_no_event_falls_between_a_join_and_the_stream(client, wire, service):
    """Every subscriber that joins while updates run sees each event after its answer's number."""
    id = client.start()["id"]
    updates = [client.command("activity.update", id=id, contentState={"eta": number}) for number in range(400)]
    subscribers = []
    for position, command in enumerate(updates):
        client.send(command)
        if position % 40 == 20:
            subscriber = Events(wire, service.events, client.app + "/")
            subscribers.append((subscriber, subscriber.ask_to_join()))
    for _ in updates:
        client.receive()
    for subscriber, topic in subscribers:
        subscriber._pump_until(lambda: topic in subscriber._joins)
        place = subscriber._joins[topic]["apps"][client.app]["seq"]
        if place < 401:
            seen = [event["seq"] for event in subscriber.until(401)]
            assert set(range(place + 1, 402)) <= set(seen)


def test_a_second_join_on_a_live_connection_needs_a_fresh_nonce(client, wire, service):
    events = Events(wire, service.events, client.app + "/")
    events.join()
    client.start()
    assert events.join()["apps"][client.app]["seq"] == 1


def test_answers_go_only_to_those_who_asked(wire, service):
    events, other = Events(wire, service.events, ""), Events(wire, service.events)
    events.join()
    topics = {other.ask_to_join(nonce=secrets.token_hex(16)) for _ in range(3)}
    other._pump_until(lambda: set(other._joins) == topics)
    assert all(topic in other._joins for topic in topics)


def test_a_second_subscriber_with_the_same_nonce_is_answered_too(wire, service):
    first, second = Events(wire, service.events), Events(wire, service.events)
    topic = first.ask_to_join(nonce="ab" * 16)
    first._pump_until(lambda: topic in first._joins)
    second.ask_to_join(nonce="ab" * 16)
    second._pump_until(lambda: topic in second._joins)


@pytest.mark.parametrize("nonce", ["short", "zz" * 16, "ab" * 50])
def test_a_nonce_that_is_none_disturbs_nobody(client, wire, service, nonce):
    Events(wire, service.events).ask_to_join(nonce=nonce)
    events = Events(wire, service.events, client.app + "/")
    events.join()
    client.start()
    events.next("started")


def test_a_topic_that_is_too_long_cuts_its_subscriber_and_no_other(client, wire, service, events):
    Events(wire, service.events, client.app + "/" + "x" * 1000)
    Events(wire, service.events).ask_to_join(nonce="ab" * 500)
    client.start()
    events.next("started")


def test_over_a_thousand_apps_a_join_must_name_one(client, wire, service):
    for chunk in range(5):
        client.batch(*[
            client.command("activity.start", app=f"app{chunk * 201 + number}", type="T", attributes={}, contentState={})
            for number in range(201)])
    events = Events(wire, service.events, "app7/")
    assert events.join()["error"] == "tooMany"
    assert events.join("app7")["apps"]["app7"]["seq"] == 1


# Watermarks


def test_a_watermark_proves_the_state_after_a_burst(client, events):
    for number in range(10):
        id = client.start(type=f"T{number % 3}")["id"]
        if number % 2:
            client.applied("activity.update", id=id, contentState={"eta": number})
        if number == 7:
            last = client.applied("activity.dismiss", id=id)
    revisions = {
        f"{client.app}/activity/{row['type']}/{row['id']}": row["revision"] for row in client.list()}
    mark = events.watermark(lambda mark: mark["seq"] >= 16)
    assert mark["seq"] == 16
    assert mark["entities"] == len(revisions) == 9
    assert mark["digest"] == digest(revisions)
    assert mark["epoch"] and mark["at"]


def test_a_watermark_of_an_app_that_holds_nothing_is_all_noughts(client, events):
    client.applied("activity.dismiss", id=client.start()["id"])
    mark = events.watermark(lambda mark: mark["seq"] == 2)
    assert (mark["entities"], mark["digest"]) == (0, "0" * 16)


def test_a_watermark_comes_soon_after_a_burst_and_again_each_second(client, events):
    client.start()
    events.next("started")
    burst = time.monotonic()
    events.watermark(lambda mark: mark["seq"] == 1)
    assert time.monotonic() - burst < 15
    first = time.monotonic()
    events.watermark(lambda mark: mark["seq"] == 1)
    events.watermark(lambda mark: mark["seq"] == 1)
    assert time.monotonic() - first < 25


def test_the_epoch_changes_with_every_start_of_a_memory_store(wire, serve):
    epochs = set()
    for _ in range(2):
        service = serve({"--clock": "manual"})
        client = Commands(wire, service.commands)
        events = Events(wire, service.events, client.app + "/")
        events.join()
        client.start()
        epochs.add(events.next("started")["epoch"])
    assert len(epochs) == 2


def test_events_of_an_end_by_deadline_name_nobody(client, events):
    client.start(staleDate=after(HOUR))
    client.advance(by=HOUR)
    assert "by" in events.next("started")
    assert "by" not in events.next("stale")

"""`subscriber.list`: the subscribers that report how far they are."""

import json
import secrets
import signal
import time

import pytest

from support.cli import Islet
from support.commands import Commands, encode
from support.events import Events
from support.relay import CommandRelay
from support.schemas import schema_of, strict
from support.small_disk import until
from support.webpage import board_words
from support.wire import DEADLINE

TAXI = "com.example.taxi"


def subscribers(client, **fields):
    answer = client.read("subscriber.list", **{"app": None, **fields})
    strict("answers/subscriber.list.json").validate(answer)
    return answer


def report(client, apps, nonce=None):
    """Reports positions by app, and gives the nonce."""
    nonce = nonce or secrets.token_hex(16)
    client.send({"op": "stream.applied", "nonce": nonce, "apps": {app: {"seq": seq} for app, seq in apps.items()}})
    return nonce


@pytest.mark.parametrize("prefix", ["", "com.example.pizza/", "com.example.pizza/control/"])
def test_a_tail_reports_how_far_it_is(client, service, prefix):
    client.start()
    tail = Islet(service, app="").begin("tail", *([prefix] if prefix else []))

    def reported(lag, seq):
        rows = subscribers(client)["subscribers"]
        return [(row["lag"], row["apps"].get(client.app, {}).get("seq")) for row in rows] == [(lag, seq)]

    try:
        until(lambda: reported(0, 1))
        client.start()
        until(lambda: reported(0, 2))
        tail.send_signal(signal.SIGSTOP)
        client.start()
        until(lambda: reported(1, 2))
        tail.send_signal(signal.SIGCONT)
        until(lambda: reported(0, 3))
    finally:
        tail.kill()
        tail.communicate()
    until(lambda: subscribers(client)["total"] == 0)


class Overhearing(CommandRelay):
    """Remembers the reports that go through it."""

    def __init__(self, url):
        self.reports = []
        super().__init__(url)

    def forth(self, frames):
        command = json.loads(frames[-1])
        if command["op"] == "stream.applied":
            self.reports.append(command)
        return frames


def test_a_tail_reports_in_the_form_of_the_contract(client, service, events):
    client.start()
    relay = Overhearing(service.commands)
    tail = Islet(service, app="").begin("tail", "--commands", relay.url, "--events", service.events)
    try:
        until(lambda: relay.reports)
    finally:
        tail.kill()
        tail.communicate()
        relay.close()
    for report in relay.reports:
        schema_of("commands/stream.applied.json").validate(report)
    assert relay.reports[0]["apps"] == {client.app: {"epoch": events.next()["epoch"], "seq": 1}}


def test_nobody_reports_at_first(client, events):
    answer = subscribers(client)
    assert answer["subscribers"] == [] and answer["total"] == 0


def test_a_report_shows_with_how_far_behind_it_is(client):
    for _ in range(10):
        client.start()
    nonce = report(client, {client.app: 7})
    [row] = subscribers(client)["subscribers"]
    assert 0 <= row.pop("age") < DEADLINE * 1000
    assert row == {"nonce": nonce, "lag": 3, "isLagging": False, "apps": {client.app: {"seq": 7, "lag": 3}}}


def test_the_lag_grows_while_nothing_is_reported_and_ends_with_the_next_report(client):
    client.start()
    nonce = report(client, {client.app: 1})
    assert subscribers(client)["subscribers"][0]["lag"] == 0
    client.start()
    assert subscribers(client)["subscribers"][0]["lag"] == 1
    report(client, {client.app: 2}, nonce)
    assert [row["lag"] for row in subscribers(client)["subscribers"]] == [0]


def test_the_one_that_lags_most_comes_first(client):
    for _ in range(20):
        client.start()
    nonces = {lag: report(client, {client.app: 20 - lag}) for lag in (3, 20, 0, 11)}
    found = subscribers(client)["subscribers"]
    assert [(row["lag"], row["nonce"]) for row in found] == [(lag, nonces[lag]) for lag in (20, 11, 3, 0)]
    short = subscribers(client, limit=2)
    assert [row["lag"] for row in short["subscribers"]] == [20, 11] and short["total"] == 4


def test_the_lag_is_that_of_the_app_in_which_it_is_furthest_behind(client):
    for _ in range(4):
        client.start()
    client.start(app=TAXI)
    report(client, {client.app: 1, TAXI: 1})
    [row] = subscribers(client)["subscribers"]
    assert row["lag"] == 3
    assert row["apps"] == {client.app: {"seq": 1, "lag": 3}, TAXI: {"seq": 1, "lag": 0}}
    [row] = subscribers(client, app=TAXI)["subscribers"]
    assert row["lag"] == 0 and list(row["apps"]) == [TAXI]
    assert subscribers(client, app="com.example.nobody")["total"] == 0


def test_what_a_subscriber_says_of_apps_that_are_not_known_is_not_repeated(client):
    client.start()
    report(client, {client.app: 1, 'com."quoted"': 5, "com.example.nobody": 9})
    [row] = subscribers(client)["subscribers"]
    assert list(row["apps"]) == [client.app]


def test_a_position_beyond_the_end_is_no_lag(client):
    client.start()
    report(client, {client.app: 1_000})
    assert subscribers(client)["subscribers"][0]["lag"] == 0


def test_figures_tell_of_those_that_lag(client):
    for start in range(0, 10_050, 250):
        commands = [client.command("activity.start", type="T", attributes={}, contentState={}) for _ in range(250)]
        client.batch(*commands)
    report(client, {client.app: 10_200})
    nonce = report(client, {client.app: 1})
    figures = client.read("service.stats")["stats"]["subscribers"]
    assert figures == {"reporting": 2, "lagging": 1, "maximumLag": 10_249, "silent": 0}
    [first, second] = subscribers(client)["subscribers"]
    assert first["nonce"] == nonce and first["isLagging"] and not second["isLagging"]


def test_one_that_joined_for_an_app_is_told_that_it_lags(wire, service, client):
    """On the topic that it subscribed to, which the shorter one does not reach."""
    for _ in range(41):
        client.batch(*(client.command("activity.start", type="T", attributes={}, contentState={}) for _ in range(250)))
    nonce = secrets.token_hex(16)
    events = Events(wire, service.events)
    topic = events.ask_to_join(app=client.app, nonce=nonce)
    events._pump_until(lambda: topic in events._joins)
    report(client, {client.app: 1}, nonce)
    events._pump_until(lambda: events._joins[topic].get("lagging"))
    assert set(events._joins) == {topic}


def test_reports_of_many_apps_have_a_share_of_memory(client, wire, service):
    """8 MiB of one connection; what is beyond is not remembered, and others have their own."""
    def figures():
        stats = client.read("service.stats")["stats"]
        assert stats["subscribers"]["reporting"] == stats["waiting"]["reports"]["count"]
        return stats["waiting"]["reports"]

    apps = {f"com.example.app-{number:064}": 1 for number in range(600)}
    report(client, apps)
    fit = (8 << 20) // figures()["bytes"]
    for _ in range(fit):
        report(client, apps)
    assert (figures()["count"], figures()["refused"]) == (fit, 1)
    for row in subscribers(client, limit=2)["subscribers"]:
        report(client, {client.app: 1}, row["nonce"])
    report(client, apps)
    assert figures()["count"] == fit + 1
    other = Commands(wire, service.commands)
    report(other, apps)
    other.read("service.ping")
    assert (figures()["count"], figures()["refused"]) == (fit + 2, 1)


def test_a_peer_with_no_share_left_takes_nobody_s_place(client, wire, service):
    mine = report(client, {client.app: 1})
    other = Commands(wire, service.commands)
    for _ in range(2_000):
        report(other, {client.app: 0})
    report(other, {client.app: 0}, mine)
    other.read("service.ping")
    assert subscribers(client, limit=1)["total"] == 2_001
    # Its own it may bring up to date.
    [row] = [row for row in subscribers(client, limit=2)["subscribers"] if row["nonce"] != mine][:1]
    report(other, {client.app: 1}, row["nonce"])
    other.read("service.ping")
    assert subscribers(client, limit=1)["total"] == 2_001


def test_the_first_of_thousands_come_in_their_order(client, wire, service):
    """However few of them are asked for."""
    for _ in range(20):
        client.start()
    lags = {report(client, {client.app: number % 20}): 20 - number % 20 for number in range(1_500)}
    expected = sorted(lags, key=lambda nonce: (-lags[nonce], nonce))
    for limit in (1, 2, 749, 750, 751, 1_000):
        answer = subscribers(client, limit=limit)
        assert [row["nonce"] for row in answer["subscribers"]] == expected[:limit] and answer["total"] == 1_500


def test_a_subscriber_that_is_gone_is_forgotten(wire, service, client):
    client.start()
    events = Events(wire, service.events, client.app + "/")
    nonce = secrets.token_hex(16)
    events.ask_to_join(nonce=nonce)
    events._pump_until(lambda: events._joins)
    report(client, {client.app: 1}, nonce)
    stays = report(client, {client.app: 1})
    assert subscribers(client)["total"] == 2
    events.socket.close(linger=0)
    deadline = time.monotonic() + DEADLINE
    while (found := subscribers(client))["total"] == 2:
        assert time.monotonic() < deadline
    assert [row["nonce"] for row in found["subscribers"]] == [stays]


def test_thousands_of_reports_take_several_turns_and_are_all_counted(wire, service):
    client = Commands(wire, service.commands)
    client.start()
    apps = {f"com.example.app-{number}": 1 for number in range(100)}
    for _ in range(1_000):
        report(client, {client.app: 0, **apps})
    answer = subscribers(client, limit=1000)
    assert answer["total"] == 1_000
    assert {row["lag"] for row in answer["subscribers"]} == {1}
    assert client.read("service.stats")["stats"]["subscribers"]["reporting"] == 1_000


def test_an_answer_shows_reports_of_16384_positions_at_most(client):
    """Also of apps that are not known, which are looked at and not shown."""
    for _ in range(30):
        client.start()
    apps = {f"{number}": 1 for number in range(999)}
    nonces = {lag: report(client, {client.app: 30 - lag, **apps}) for lag in range(30)}
    answer = subscribers(client, limit=100)
    assert answer["total"] == 30
    assert [row["nonce"] for row in answer["subscribers"]] == [nonces[lag] for lag in range(29, 13, -1)]
    # Where reports are small, as many are shown as are asked for.
    for nonce in nonces.values():
        report(client, {client.app: 1}, nonce)
    assert len(subscribers(client, limit=100)["subscribers"]) == 30


def test_of_an_app_that_a_report_names_again_the_last_position_counts(client):
    client.start()
    client.start()
    twice = ",".join(f'"{client.app}":{{"seq":{seq}}}' for seq in (0, 0, 1))
    client.send(f'{{"op":"stream.applied","nonce":"{"a" * 32}","apps":{{{twice}}}}}'.encode())
    [row] = subscribers(client)["subscribers"]
    assert row["apps"] == {client.app: {"seq": 1, "lag": 1}} and row["lag"] == 1


def test_who_is_too_far_behind_is_told_once_for_each_of_sixteen_apps(wire, service, client):
    """At most, and at 10,000 events of all apps together nobody is; however often a report names an app."""
    apps, limit = [f"com.example.lag{number:02}" for number in range(17)], 10_000
    for app in apps:
        activity = client.start(app=app)["id"]
        update = {"op": "activity.update", "app": app, "id": activity, "ack": "none"}
        frames = [encode({**update, "contentState": {"eta": eta}}) for eta in (1, 2)]
        for _ in range(0, limit, 250):
            client.send(*frames * 125)
    last = client.read("activity.get", app=apps[-1], id=activity)["seq"]
    assert last == limit + 1
    nonce = secrets.token_hex(16)
    # This is a prefix of the topics of all apps of this nonce.
    events = wire.socket("SUB", service.events, rcvhwm=0)
    events.setsockopt(wire.zmq.SUBSCRIBE, b"\xffjoin/" + nonce.encode())
    assert b"lagging" not in wire.receive(events)[1]

    def told(seq):
        named = ",".join(f'"{app}":{{"seq":{seq}}}' for app in apps * 50)
        client.send(f'{{"op":"stream.applied","nonce":"{nonce}","apps":{{{named}}}}}'.encode())
        # What it leads to is published before this is answered, and that before a join that comes later.
        client.read("service.ping")
        end = secrets.token_hex(16).encode()
        events.setsockopt(wire.zmq.SUBSCRIBE, b"\xffjoin/" + end)
        topics = []
        while not (topics and topics[-1].endswith(end)):
            topics.append(wire.receive(events)[0])
        return [topic.removeprefix(b"\xffjoin/" + nonce.encode()).decode() for topic in topics[:-1]]

    # All together it is ten thousand behind, and no more.
    assert told(seq=last - limit // 17) == []
    assert told(seq=last - limit) == ["", *(f"/{app}" for app in apps[:16])]
    assert told(seq=last - limit - 1) == ["", *(f"/{app}" for app in apps[:16])]


def test_who_follows_and_reports_nothing_is_listed_as_such(wire, serve, pages):
    """A subscriber of one's own in another language, beside a tail that reports, and the board, which hands events on."""
    service = serve(words=board_words())
    client = Commands(wire, service.commands)
    client.start()
    assert subscribers(client)["silentTotal"] == 0
    follower = wire.socket("SUB", service.events)
    for topic in (f"{client.app}/activity/", f"{TAXI}/", *(f"com.example.more{number}/" for number in range(10))):
        follower.setsockopt(wire.zmq.SUBSCRIBE, topic.encode())
    tail = Islet(service, app="").begin("tail")
    pages(service)
    try:
        until(lambda: subscribers(client)["total"] == 1 and subscribers(client)["silentTotal"] == 1)
        [row] = subscribers(client)["silent"]
        assert row["topicCount"] == 12 and len(row["topics"]) == 8 and row["age"] >= 5_000
        assert row["topics"][0] == "com.example.more0/"
        assert client.read("service.stats")["stats"]["subscribers"]["silent"] == 1
        shown = Islet(service)("subscribers")
        assert "FOLLOWS" in shown.out and "com.example.more0/…" in shown.out and "and 9 more" in shown.out
        assert shown.err == (
            "showing 1 of 1 subscriber, none lags; 1 more follows and reports nothing: nobody knows how far it is\n")
        assert subscribers(client, app=TAXI)["silentTotal"] == 1
        assert subscribers(client, app="com.example.nobody")["silentTotal"] == 0
        follower.close()
        until(lambda: subscribers(client)["silentTotal"] == 0)
    finally:
        tail.kill()
        tail.communicate()


def test_many_topics_of_silent_followers_take_several_turns(wire, service):
    """Each is looked at, for the app, and a follower has as many as a thousand."""
    client = Commands(wire, service.commands)
    client.start()
    topics = sorted(f"{TAXI}/activity/Ride/{number:03}".encode() for number in range(1_000))
    for _ in range(40):
        follower = wire.socket("SUB", service.events)
        for topic in topics:
            follower.setsockopt(wire.zmq.SUBSCRIBE, topic)
    until(lambda: subscribers(client, limit=1)["silentTotal"] == 40)
    for app in (None, TAXI):
        listed, stats = client.batch(
            client.command("subscriber.list", app=app, limit=1_000), client.command("service.stats"))
        strict("answers/subscriber.list.json").validate(listed)
        assert stats["stats"]["waiting"]["lists"]["count"] == 1, "it was looked at in one turn"
        assert listed["silentTotal"] == len(listed["silent"]) == 40
        for row in listed["silent"]:
            assert row["topicCount"] == 1_000
            assert row["topics"] == [topic.decode() for topic in topics[:8]]
    answer = subscribers(client, app="com.example.nobody", limit=1_000)
    assert (answer["silent"], answer["silentTotal"]) == ([], 0)


def test_who_reports_is_not_silent_whatever_else_its_connection_has_joined_since(wire, service, client):
    """Such as readers that began and ended there."""
    client.start()
    events = Events(wire, service.events, client.app + "/")
    nonce = secrets.token_hex(16)
    joined = events.ask_to_join(nonce=nonce)
    events._pump_until(lambda: joined in events._joins)
    for _ in range(4):
        other = events.ask_to_join()
        events._pump_until(lambda topic=other: topic in events._joins)
        events.socket.setsockopt(wire.zmq.UNSUBSCRIBE, other)
    report(client, {client.app: 1}, nonce)
    # When this one, which came later, is found to be silent, it would be, too.
    wire.socket("SUB", service.events).setsockopt(wire.zmq.SUBSCRIBE, TAXI.encode())
    until(lambda: TAXI in [topic for row in subscribers(client)["silent"] for topic in row["topics"]])
    assert [row["topics"] for row in subscribers(client)["silent"]] == [[TAXI]]
    assert [row["nonce"] for row in subscribers(client)["subscribers"]] == [nonce]


@pytest.mark.parametrize("prefix", ["", f"{TAXI}/"])
def test_a_tail_of_what_has_no_events_yet_reports_too(client, service, prefix):
    if prefix:
        client.start()
    tail = Islet(service, app="").begin("tail", *([prefix] if prefix else []))
    try:
        until(lambda: subscribers(client)["total"] == 1)
        [row] = subscribers(client)["subscribers"]
        assert row["apps"] == {} and row["lag"] == 0
        assert "nothing yet" in Islet(service)("subscribers").out
    finally:
        tail.kill()
        tail.communicate()

"""One message of very many events of crowded devices: it goes on in turns, between which others have theirs."""

import itertools
import json
import signal

import pytest

from support.commands import Commands, encode
from support.provider import APP, RawProvider, toggle
from support.widgets import FORECAST, WidgetProvider, widget
from support.wire import Silence

CROWD = 2_000
FRAMES = 256
"""As many commands as a message may have: they look at a hundred times as many widgets as a turn may."""
DEVICE = "phone"


@pytest.fixture
def crowd(wire, service):
    return crowded(wire, service)


def crowded(wire, service):
    """A client of an app with very many widgets on one device, of which none has a timeline."""
    client = Commands(wire, service.commands, APP)
    WidgetProvider(wire, service.commands, widget(), capacity=1)
    for _ in range(CROWD // 250):
        commands = [
            client.command("widget.add", kind=FORECAST, family="systemSmall", device=DEVICE) for _ in range(250)]
        assert all(answer["ok"] for answer in client.batch(*commands))
    return client


def event(client, name, **fields):
    return client.command("device.event", device=DEVICE, event=name, **fields)


def changes(client, count=FRAMES):
    return [event(client, "localeChange") for _ in range(count)]


def answered(client):
    """The answer to a message that was sent, where it has come."""
    try:
        return client.receive(0)
    except Silence:
        return None


def test_others_are_answered_while_a_message_about_a_crowded_device_goes_on(wire, service, crowd):
    other = Commands(wire, service.commands)
    for _ in range(5):
        crowd.send(*changes(crowd))
        for pings in itertools.count():
            if answers := answered(crowd):
                break
            other.read("service.ping")
        assert [answer["ok"] for answer in answers] == [True] * FRAMES
        # One may be answered before the message has come, and one with it.
        if pings > 3:
            return
    raise AssertionError("nobody was answered before the message was through")


def test_what_a_client_sends_behind_such_a_message_waits_for_it_and_sees_what_it_did(crowd):
    first, second = changes(crowd, FRAMES - 1), crowd.command("widget.list", limit=1)
    third = crowd.command("widget.add", kind=FORECAST, family="systemSmall", device=DEVICE)
    crowd.send(*first, event(crowd, "uninstall", app=APP))
    crowd.send(second)
    crowd.send(third, event(crowd, "localeChange"))
    answers = [crowd.receive() for _ in range(3)]
    assert [len(answer) for answer in answers] == [FRAMES, 1, 2]
    assert all(frame["ok"] for answer in answers for frame in answer)
    assert [answers[1][0]["req"], answers[2][0]["req"]] == [second["req"], third["req"]]
    assert answers[1][0]["total"] == 0
    assert crowd.read("widget.list", limit=1)["total"] == 1


def test_a_stop_refuses_what_is_left_of_such_a_message(wire, service, crowd):
    other = Commands(wire, service.commands)
    crowd.send(*changes(crowd))
    other.read("service.ping")
    service.signal(signal.SIGTERM)
    answers = crowd.receive()
    assert len(answers) == FRAMES
    codes = [answer["error"]["code"] if "error" in answer else "ok" for answer in answers]
    assert set(codes) <= {"ok", "unavailable"} and codes == sorted(codes), codes
    assert service.wait() == 0


def test_a_stop_refuses_a_message_of_too_many_frames_behind_such_a_one_as_a_whole(wire, service, crowd):
    other, first = Commands(wire, service.commands), None
    crowd.send(*changes(crowd))
    crowd.send(*(crowd.command("service.ping") for _ in range(300)))
    # One may be through before anybody has seen the other wait behind it.
    while not first and other.read("service.stats")["stats"]["waiting"]["messages"]["count"] < 2:
        first = answered(crowd)
    service.signal(signal.SIGTERM)
    if not first:
        crowd.receive()
    assert [answer["error"]["code"] for answer in crowd.receive()] == ["badMessage"]
    assert service.wait() == 0


def test_others_are_answered_while_a_message_of_long_reads_goes_on(wire, system_service):
    """As many lists as a message may have, each short enough for its turn: together they take longer than a turn may."""
    crowd = crowded(wire, system_service)
    other = Commands(wire, system_service.commands)
    for _ in range(50):  # whoever asks may be kept from it by other processes
        crowd.send(*[crowd.command("widget.list") for _ in range(FRAMES)])
        for pings in itertools.count():
            if answers := answered(crowd):
                break
            other.read("service.ping")
        assert [answer["ok"] and answer["total"] for answer in answers] == [CROWD] * FRAMES
        if pings > 3:
            return
    raise AssertionError("nobody was answered before the message was through")


def test_messages_of_a_peer_are_answered_in_order_however_long_a_turn_would_be(wire, system_service):
    """Also what a provider says keeps its place, and nothing of it is refused."""
    client = Commands(wire, system_service.commands, APP)
    id = client.start()["id"]
    provider = WidgetProvider(wire, system_service.commands, widget(), register=False)
    updates = [client.command("activity.update", id=id, contentState={"n": n, "text": "x" * 3_000})
               for n in range(16 * FRAMES)]
    for start in range(0, len(updates), FRAMES):
        client.send(*updates[start:start + FRAMES])
        provider.say("provider.register", req=f"register-{start}", app=APP, widgets=provider.widgets)
        provider.say("provider.drain", req=f"drain-{start}")
        provider.say("provider.leave", req=f"leave-{start}")
    answers = [answer for _ in range(0, len(updates), FRAMES) for answer in client.receive()]
    assert [answer["req"] for answer in answers] == [update["req"] for update in updates]
    assert all(answer["ok"] for answer in answers)
    assert [answer["activity"]["revision"] for answer in answers] == list(range(2, len(updates) + 2))
    for start in range(0, len(updates), FRAMES):
        for name in ("register", "drain", "leave"):
            answer = provider.answer_to(f"{name}-{start}")
            assert answer["ok"], answer


def test_what_a_provider_says_of_itself_stays_behind_its_registration_on_a_manual_clock(wire, service, crowd):
    """All of it waits for a turn behind a message about a crowded device, and nothing travels."""
    provider = RawProvider(wire, service.commands, toggle(), register=False)
    provider.socket.send_multipart([encode(change) for change in changes(crowd, 64)])
    provider.say("provider.register", req="register", app=APP, kinds=provider.kinds)
    for name in ("pong", "drain", "leave"):
        provider.say(f"provider.{name}", req=name)
    refused = {}
    while "leave" not in refused:
        answers = [json.loads(frame) for frame in wire.receive(provider.socket)]
        refused.update({answer["req"]: answer.get("error") for answer in answers if "req" in answer})
    assert not any(refused.values()), refused

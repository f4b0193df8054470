"""One message of very many events of crowded devices: it goes on in turns, between which others have theirs."""

import itertools
import signal

import pytest

from support.commands import Commands
from support.provider import APP
from support.widgets import FORECAST, WidgetProvider, widget
from support.wire import Silence

CROWD = 2_000
FRAMES = 256
"""As many commands as a message may have: they look at a hundred times as many widgets as a turn may."""
DEVICE = "phone"


@pytest.fixture
def crowd(wire, service):
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

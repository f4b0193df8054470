"""The log of `islet serve`: levels by rule, one id through all lines of a command, and never a payload."""

import re

import pytest

from support.commands import Commands
from support.dates import HOUR
from support.provider import RawProvider, toggle
from support.service import FREE_PORTS, arguments

CLIENT = "0198c0de-0000-7000-8000-0000000000aa"
SECRET = "attributes-that-nobody-may-read"


@pytest.fixture
def logged(serve, wire):
    """Makes a service that logs at a level, and a client of it."""
    def make(level, **options):
        words = arguments({**FREE_PORTS, "--clock": "manual", "--log-level": level, **options})
        service = serve(words=words)
        return service, Commands(wire, service.commands)
    return make


def lines(service, word):
    """The lines that hold a word, so far."""
    return [line for line in service.log.splitlines() if word in line]


def test_at_the_usual_level_commands_leave_no_line(logged):
    service, client = logged("notice")
    client.start()
    client.refused("activity.update", key="nobody", contentState={})
    client.raw(b"{")
    assert not lines(service, "] command")


def test_each_command_has_one_line_with_what_became_of_it(logged):
    service, client = logged("debug")
    id = client.start(req="r-start")["id"]
    client.applied("activity.update", req="r-update", client=CLIENT, id=id, contentState={"eta": 1})
    client.ignored("activity.update", req="r-same", id=id, contentState={"eta": 1})
    client.refused("activity.update", req="r-nobody", key="nobody", contentState={})
    client.send({"op": "service.ping", "ack": "none"})
    client.read("service.ping", req="r-last")
    service.line(r"id=r-last.* command answered")
    [start] = lines(service, "id=r-start")
    assert "op=activity.start" in start and "app=com.example.pizza" in start and "outcome=applied" in start
    assert "seq=1" in start and " debug " in start
    [update] = lines(service, f"id={CLIENT}/r-update")
    assert f"entity={id}" in update and "outcome=applied" in update
    [same] = lines(service, "id=r-same")
    assert "outcome=ignored" in same and "reason=unchanged" in same
    [nobody] = lines(service, "id=r-nobody")
    assert "outcome=refused" in nobody and "code=notFound" in nobody
    # One without a name of its own has its number.
    [ping] = lines(service, "id=#5 ")
    assert "op=service.ping" in ping


def test_what_is_no_command_has_a_line_too(logged):
    service, client = logged("debug")
    client.raw(b'{"op":"activity.start","attributes":{"a":"' + SECRET.encode())
    client.refused("activity.explode", req="r-odd")
    service.line(r"id=r-odd.* command answered")
    assert any("code=badMessage" in line for line in lines(service, "command answered"))
    assert SECRET not in service.log


def test_a_command_that_waits_has_the_same_id_when_it_is_answered(logged):
    service, client = logged("debug")
    client.start()
    client.read("clock.advance", req="r-clock", by=HOUR)
    service.line(r"id=r-clock.* command answered")
    assert [line.split("] command ")[1] for line in lines(service, "id=r-clock")] == ["waits", "answered"]


def test_at_trace_messages_and_events_have_lines_and_events_name_their_command(logged):
    service, client = logged("trace")
    client.start(req="r-1", key="order-1")
    client.advance(by=9 * HOUR)
    service.line(r" trace .*seq=2 .*\] event")
    [first] = [line for line in lines(service, "topic=com.example.pizza/activity/Delivery/") if "seq=1 " in line]
    assert "id=r-1" in first
    [second] = [line for line in lines(service, "topic=com.example.pizza/activity/Delivery/") if "seq=2 " in line]
    assert "id=" not in second
    assert lines(service, "frames=1")


def test_no_payload_and_no_token_is_ever_logged(logged):
    service, client = logged("trace")
    payload = {"order": SECRET}
    id = client.start(req="r-1", attributes=payload, contentState=payload, pushType={"channel": SECRET})["id"]
    client.applied("activity.update", id=id, contentState={"eta": SECRET}, alert={"title": SECRET, "body": SECRET})
    client.refused("activity.update", id=id, contentState=payload, unknown=SECRET)
    client.applied("group.create", group="group.x", members=[])
    client.applied("group.set", group="group.x", key="k", value=SECRET)
    client.read("activity.list")
    client.read("service.ping", req="r-last")
    service.line(r"id=r-last.* command answered")
    assert SECRET not in service.log


def test_providers_that_come_and_go_are_lifecycle(logged, wire):
    service, client = logged("info")
    provider = RawProvider(wire, service.commands, toggle())
    service.line(rf" info .*{provider.id}.*provider registered")
    provider.leave()
    service.line(rf" info .*{provider.id} reason=left .*provider dropped")
    assert not re.search("command (answered|waits|taken)", service.log)

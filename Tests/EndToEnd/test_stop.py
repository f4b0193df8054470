"""What waits when the service is told to stop is told so, under its own name."""

import signal

from support.bulk import Bulk
from support.commands import Commands, encode
from support.provider import TORCH, RawProvider, toggle
from support.wire import Silence

APP = "com.example.pizza"


def everything(client):
    """All messages that come until nothing more does."""
    messages = []
    while True:
        try:
            messages.append(client.receive(seconds=0.3 if messages else 5))
        except Silence:
            return messages


def test_commands_that_wait_for_the_clock_are_refused_by_their_req(wire, serve):
    service = serve({"--clock": "manual"})
    client = Commands(wire, service.commands, APP)
    provider = RawProvider(wire, service.commands, toggle())
    client.applied("control.add", kind=TORCH)
    provider.call()
    begin = {"type": "T", "attributes": {}, "contentState": {}}
    client.send(client.command("clock.advance", by=60_000, req="step"))
    client.send(client.command("activity.start", req="one", **begin))
    client.send(client.command("activity.start", req="two", ack="none", **begin))
    client.send(
        client.command("activity.start", req="three", ack="none", **begin), client.command("service.ping", req="four"))
    client.send(encode(client.command("activity.start", req="long", **{**begin, "attributes": {"x": "y" * 70_000}})))
    client.silent()
    service.signal(signal.SIGTERM)
    told = sorted(
        [(answer.get("req"), answer["error"]["code"]) for answer in message] for message in everything(client))
    assert told == [[("four", "unavailable")], [("long", "badMessage")], [("one", "unavailable")],
                    [("step", "unavailable")]]
    assert service.wait() == 0


def test_pulls_end_with_the_reason(client, wire, service):
    for number in range(3):
        client.start(key=f"{number}")
    bulk = Bulk(wire, service.bulk, APP)
    bulk.send("snapshot", app=APP, prefix=f"{APP}/activity/", credit=1)
    assert "end" not in bulk.chunk()[0]
    service.signal(signal.SIGTERM)
    end = bulk.chunk()[0]
    assert end["end"] is True and end["error"]["detail"]["reason"] == "stopping"
    assert service.wait() == 0

"""What the model found: the contract's words, and a service that once did otherwise."""

import uuid

import pytest

from support.commands import START, Commands
from support.dates import HOUR, MINUTE, after


def test_a_key_that_nobody_holds_reaches_an_ended_one_to_dismiss(client):
    """The contract does not name `dismiss` among those that reach it, but a card is removed after its end."""
    client.start(key="order-7")
    client.applied("activity.end", key="order-7")
    assert client.refused("activity.renew", key="order-7")["code"] == "notFound"
    client.applied("activity.dismiss", key="order-7")


def test_a_guarded_start_over_a_key_that_nobody_holds_is_not_executed(client):
    """`ifRevision`: executed only where the entity has this revision."""
    assert not client.ask("activity.start", **START, key="order-7", ifExists="update", ifRevision=3)["ok"]
    assert client.list() == []


def test_a_refused_command_that_is_sent_again_does_not_end_the_protection(client):
    """`outcomeUnknown` for every number at or below the highest forgotten; refusals are not remembered, so a client
    may well repeat one after a later command."""
    me, id = str(uuid.uuid4()), str(uuid.uuid4())
    end = {"client": me, "req": "q-1", "id": id}
    assert client.refused("activity.end", **end)["code"] == "notFound"
    client.start(client=me, req="q-2", id=id)
    client.applied("activity.end", **end)
    client.advance(by=10 * MINUTE)
    assert client.refused("activity.end", client=me, req="q-2", id=id)["code"] == "outcomeUnknown"
    assert client.refused("activity.end", **end, dismissalPolicy="immediate")["code"] == "outcomeUnknown"


def test_the_refusal_of_a_number_that_does_not_rise_says_that_it_may_never_have_been_executed(client):
    """Whoever names calls after orders that come in any order hears of it; a name that ends in no number is taken."""
    me = str(uuid.uuid4())
    client.start(client=me, req="order-1042")
    client.advance(by=10 * MINUTE)
    refusal = client.refused("activity.start", **START, client=me, req="order-1040")
    assert refusal["code"] == "outcomeUnknown"
    assert "a higher number of this client" in refusal["message"] and "may have been before" in refusal["message"]
    client.start(client=me, req="order-1042.start")
    client.advance(by=10 * MINUTE)
    client.start(client=me, req="order-1040.start")


@pytest.mark.parametrize("how, before, clock, passed", [
    ("stop", 10 * MINUTE, "manual", 0),
    ("kill", 0, f"manual={after(HOUR)}", 10 * MINUTE),
], ids=["forgotten before a stop", "forgotten ten minutes after it was down"])
def test_what_was_forgotten_is_not_executed_after_a_restart(wire, serve, tmp_path, how, before, clock, passed):
    """A retry after more than ten minutes: `outcomeUnknown`, not a second execution. Nobody was answered while the service
    was down."""
    options = {"--store": "sqlite", "--data": tmp_path}
    service = serve({**options, "--clock": "manual"})
    client, me = Commands(wire, service.commands), str(uuid.uuid4())
    first = client.applied("activity.start", **START, client=me, req="q-5")
    client.advance(by=before)
    if how == "stop":
        service.stop()
    else:
        service.kill()
        service.process.returncode = 0  # as far as the fixture is concerned
    client = Commands(wire, serve({**options, "--clock": clock}).commands)
    if passed:
        client.advance(by=passed - 1)
        assert client.applied("activity.start", **START, client=me, req="q-5") == first
        client.advance(by=1)
    assert client.refused("activity.start", **START, client=me, req="q-5")["code"] == "outcomeUnknown"


def test_what_is_forgotten_at_this_very_moment_stays_so_over_two_stops(wire, serve, tmp_path):
    """Ten minutes to the millisecond; with one more everything is right. So many are left after a start."""
    options = {"--store": "sqlite", "--data": tmp_path, "--clock": "manual"}
    service, me = serve(options), str(uuid.uuid4())
    Commands(wire, service.commands).start(client=me, req="q-5")
    for clock, passed in ((f"manual={after(10 * MINUTE)}", 0), ("manual", 10 * MINUTE), ("manual", 0)):
        Commands(wire, service.commands).advance(by=passed)
        service.stop()
        service = serve({**options, "--clock": clock})
    client = Commands(wire, service.commands)
    assert client.refused("activity.start", **START, client=me, req="q-5")["code"] == "outcomeUnknown"

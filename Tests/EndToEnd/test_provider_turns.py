"""Registrations, losses and answers that meet in one turn of the service end as if each had come in one of its own, and
what no provider ever got is neither failed as sent nor charged."""

import os

import pytest

from support.commands import encode
from support.dates import HOUR
from support.provider import LAMP, TORCH, toggle
from support.widgets import CLOCK, FORECAST, widget
from support.wire import Deadline


def together(provider, *says):
    """Says all of it in one message."""
    provider.socket.send_multipart([encode(frame) for frame in says])


def registration(provider):
    whole = {"op": "provider.register", "provider": provider.id, "app": provider.app, "kinds": provider.kinds,
             "widgets": provider.widgets}
    return {name: value for name, value in whole.items() if value}


def leaving(provider):
    return {"op": "provider.leave", "provider": provider.id}


def answering(provider, call, value):
    return {"op": "provider.answer", "provider": provider.id, "call": call["call"], "value": value}


def hung_up(service, provider):
    """Its connection goes, and the service's end of it is closed when this returns."""
    folder = f"/proc/{service.process.pid}/fd"
    before, deadline = len(os.listdir(folder)), Deadline()
    provider.disconnect()
    while len(os.listdir(folder)) >= before:
        assert not deadline.passed, "the connection stays open"


# A loss and a registration


def test_a_control_whose_provider_leaves_as_another_registers_asks_that_one(home):
    old = home.provider()
    new = old.beside()
    id = home.add()
    old.call("value")
    together(old, leaving(old), registration(new))
    home.next("failed", id=id, failure="noProvider")
    home.next("reloading", id=id, cause="registration")
    new.gives(True, control=id)
    home.next("shown", id=id, value=True)
    home.agrees(id)


def test_a_widget_whose_provider_leaves_as_another_registers_asks_that_one(board):
    old = board.provider()
    new = old.beside()
    id = board.add()
    old.call("timeline")
    together(old, leaving(old), registration(new))
    board.next("failed", id=id, failure="noProvider")
    board.next("reloading", id=id, cause="registration")
    new.shows_now(id=id)
    board.next("timeline", id=id)
    board.agrees(id)


@pytest.mark.parametrize("said, failure", [
    ({"op": "provider.fail"}, "threw"), ({"op": "provider.answer", "value": 5}, "badAnswer"),
], ids=["a failure", "a bad answer"])
def test_a_reload_right_after_a_call_that_failed_is_not_swallowed_by_it(home, said, failure):
    provider = home.provider()
    id = home.shown(provider)
    home.client.applied("control.reload", id=id)
    home.next("reloading", id=id)
    call = provider.call("value")
    together(
        provider, {**said, "provider": provider.id, "call": call["call"]},
        {"op": "control.reload", "app": home.app, "id": id})
    home.next("failed", id=id, failure=failure)
    home.next("reloading", id=id, cause="request")
    provider.gives(True)
    home.next("shown", id=id, value=True)


# What was never sent


def test_a_tap_whose_provider_has_gone_is_performed_by_the_other_one(home):
    first, second = home.provider(), home.provider()
    id = home.shown(first)
    hung_up(home.service, first)
    home.tap(id)
    home.next("acting", id=id)
    second.answer(second.call("perform", control=id))
    home.next("performed", id=id)


def test_a_tap_whose_only_provider_has_gone_was_performed_by_nobody(home):
    provider = home.provider()
    id = home.shown(provider)
    hung_up(home.service, provider)
    home.tap(id)
    home.next("acting", id=id)
    home.next("failed", id=id, failure="noProvider")


def test_an_action_whose_turn_comes_as_its_provider_leaves_waits_for_the_next_one(home):
    first, second = home.provider(capacity=1), home.provider(capacity=1)
    tapped = home.shown(first)
    ids = [home.add() for _ in range(2)]
    held = first.call("value", control=ids[0])
    other = second.call("value", control=ids[1])
    home.tap(tapped)
    home.next("acting", id=tapped)
    together(first, answering(first, held, False), leaving(first))
    home.next("shown", id=ids[0])
    second.answer(other, False)
    home.next("shown", id=ids[1])
    second.answer(second.call("perform", control=tapped))
    home.next("performed", id=tapped)


def test_an_action_whose_turn_comes_as_the_last_provider_leaves_was_performed_by_nobody(home):
    provider = home.provider(capacity=1)
    tapped = home.shown(provider)
    id = home.add()
    held = provider.call("value", control=id)
    home.tap(tapped)
    home.next("acting", id=tapped)
    together(provider, answering(provider, held, False), leaving(provider))
    home.next("shown", id=id)
    home.next("failed", id=tapped, failure="noProvider")


def test_a_reload_that_only_waited_for_a_provider_is_not_charged(board):
    provider = board.provider(widget(FORECAST), widget(CLOCK), capacity=1)
    id = board.placed(provider)
    board.rest(by=HOUR)
    before = board.budget(id)
    board.add(CLOCK)
    held = provider.call("timeline", CLOCK)
    commands = [board.client.command(op, id=id) for op in ("widget.reload", "widget.budget")]
    _, answer = board.client.batch(*commands)
    assert answer["budget"]["spent"] == 1
    board.next("reloading", id=id)
    provider.widgets = [widget(CLOCK)]
    provider.register()
    board.next("failed", id=id, failure="noProvider")
    after = board.budget(id)
    assert (after["spent"], after["spentAt"], after["lastReloadAt"]) == (0, [], before["lastReloadAt"])
    provider.show(held, {"date": held["now"]}, policy="never")
    board.next("timeline")


# Refused registrations


def test_a_registration_that_is_refused_declares_nothing(home):
    provider = home.provider(toggle(displayName="Old"))
    for _ in range(16):
        provider.say("provider.answer", call="none", value=True)
    provider.dropped("faults")
    provider.kinds = [toggle(displayName="New"), toggle(LAMP)]
    answer = provider.try_to_register()
    while answer.get("error", {}).get("code") == "unknownCall":
        answer = provider.answer_to(answer["req"])
    assert answer["error"]["code"] == "busy", answer
    kinds = home.client.read("control.kinds")["kinds"]
    assert [(row["kind"], row["declaration"].get("displayName")) for row in kinds] == [(TORCH, "Old")]


# Privacy


def test_a_kind_that_becomes_sensitive_hides_what_locked_devices_show_and_shows_it_when_it_is_no_more(home):
    provider = home.provider()
    home.client.read("device.event", device="phone", event="lock")
    locked, free = home.shown(provider, True, device="phone"), home.shown(provider, True, device="pad")
    provider.kinds = [toggle(privacySensitive=True)]
    provider.register()
    home.next("redacted", id=locked, cause="registration", isRedacted=True)
    assert "value" not in home.agrees(locked) and home.agrees(locked)["isRedacted"] is True
    assert home.agrees(free)["value"] is True
    provider.kinds = [toggle()]
    provider.register()
    home.next("revealed", id=locked, cause="registration", isRedacted=False)
    assert home.agrees(locked)["value"] is True
    home.silent()


# Questions


@pytest.fixture
def adviser(board):
    return board.provider(widget(providesRecommendations=True))


def recommend(provider, call, *names):
    provider.answer(call, [{"description": name, "configuration": {}} for name in names])


def names(answer):
    return [row["description"] for row in answer["recommendations"]]


def test_recommendations_from_before_an_invalidation_are_not_kept(board, adviser):
    command = board.client.command("widget.recommendations", kind=FORECAST)
    board.client.send(command)
    call = adviser.call("recommendations")
    board.client.applied("widget.invalidateRecommendations", kind=FORECAST)
    recommend(adviser, call, "old")
    assert names(board.client.answer_to(command["req"])[0]) == ["old"]
    board.client.send(command := board.client.command("widget.recommendations", kind=FORECAST))
    recommend(adviser, adviser.call("recommendations"), "new")
    assert names(board.client.answer_to(command["req"])[0]) == ["new"]
    assert names(board.client.read("widget.recommendations", kind=FORECAST)) == ["new"]


def test_recommendations_that_were_asked_for_earlier_do_not_replace_later_ones(board, adviser):
    commands = [board.client.command("widget.recommendations", kind=FORECAST) for _ in range(2)]
    calls = []
    for command in commands:
        board.client.send(command)
        calls.append(adviser.call("recommendations"))
    recommend(adviser, calls[1], "later")
    assert names(board.client.answer_to(commands[1]["req"])[0]) == ["later"]
    recommend(adviser, calls[0], "earlier")
    assert names(board.client.answer_to(commands[0]["req"])[0]) == ["earlier"]
    assert names(board.client.read("widget.recommendations", kind=FORECAST)) == ["later"]


def test_recommendations_that_are_none_are_a_fault_though_others_came_before_them(board, adviser):
    commands = [board.client.command("widget.recommendations", kind=FORECAST) for _ in range(2)]
    calls = []
    for command in commands:
        board.client.send(command)
        calls.append(adviser.call("recommendations"))
    recommend(adviser, calls[0], "good")
    assert names(board.client.answer_to(commands[0]["req"])[0]) == ["good"]
    adviser.answer(calls[1], "rubbish")
    adviser.refused("badAnswer", calls[1])
    assert board.client.answer_to(commands[1]["req"])[0]["error"]["detail"] == {"reason": "providerFailed"}


def test_a_kind_that_is_declared_with_other_parameters_is_asked_for_its_recommendations_again(board, adviser):
    command = board.client.command("widget.recommendations", kind=FORECAST)
    board.client.send(command)
    recommend(adviser, adviser.call("recommendations"), "old")
    board.client.answer_to(command["req"])
    adviser.widgets = [widget(
        providesRecommendations=True, parameters=[{"name": "city", "type": "string", "isOptional": True}])]
    adviser.register()
    board.client.send(command := board.client.command("widget.recommendations", kind=FORECAST))
    recommend(adviser, adviser.call("recommendations"), "new")
    assert names(board.client.answer_to(command["req"])[0]) == ["new"]


def test_recommendations_for_parameters_that_were_declared_otherwise_meanwhile_are_no_fault(board, adviser):
    """The provider cannot tell for which declaration it was asked; sixteen faults would keep it away for a minute."""
    cities, towns = ([{"name": name, "type": "string"}] for name in ("city", "town"))
    adviser.widgets = [widget(providesRecommendations=True, parameters=cities)]
    adviser.register()
    commands, calls = [board.client.command("widget.recommendations", kind=FORECAST) for _ in range(16)], []
    for command in commands:
        board.client.send(command)
        calls.append(adviser.call("recommendations"))
    adviser.widgets = [widget(providesRecommendations=True, parameters=towns)]
    adviser.register()
    for command, call in zip(commands, calls):
        adviser.answer(call, [{"description": "Rome", "configuration": {"city": "Rome"}}])
        answer = board.client.answer_to(command["req"])[0]
        assert answer["error"]["detail"] == {"reason": "providerFailed"}
    board.client.send(command := board.client.command("widget.recommendations", kind=FORECAST))
    adviser.answer(adviser.call("recommendations"), [{"description": "Ham", "configuration": {"town": "Ham"}}])
    assert names(board.client.answer_to(command["req"])[0]) == ["Ham"]
    assert board.providers()[adviser.id]["state"] == "live"


def test_invalidations_of_relevance_become_one_and_keep_no_timeline_waiting(board):
    provider = board.provider(widget(providesRelevance=True), capacity=1)
    first = provider.call("relevance")
    board.client.batch(*[board.client.command("widget.invalidateRelevance", kind=FORECAST) for _ in range(200)])
    id = board.add()
    provider.answer(first, [])
    provider.shows_now(id=id)
    board.next("timeline", id=id)
    provider.answer(provider.call("relevance"), [])
    provider.uncalled()


def test_a_kind_that_says_later_that_it_has_relevance_is_asked_for_it(board):
    provider = board.provider()
    provider.widgets = [widget(providesRelevance=True)]
    provider.register()
    provider.answer(provider.call("relevance"), [])
    provider.register()
    provider.uncalled()


@pytest.mark.parametrize("how", ["leave", "disconnect"])
def test_whoever_is_left_is_asked_for_the_relevance_of_a_kind(board, how):
    """Of a provider that goes, with a word or without one, and whose next run has come before."""
    old = board.provider(widget(providesRelevance=True))
    old.answer(old.call("relevance"), [])
    new = board.provider(widget(providesRelevance=True))
    getattr(old, how)()
    board.add()  # a call by which one that went without a word is found to be gone
    assert {new.call()["op"], new.call()["op"]} == {"widget.timeline", "widget.relevance"}


def test_all_that_a_provider_had_when_it_went_is_made_by_another_one_that_has_its_hands_full(board):
    count = 300
    old, other = board.provider(capacity=count), board.provider(capacity=count)
    for _ in range(6):
        board.client.batch(*[
            board.client.command("widget.add", kind=FORECAST, family="systemSmall") for _ in range(2 * count // 6)])
    lost = [old.call("timeline")["widget"] for _ in range(count)]
    old.leave()
    for _ in range(count):
        other.shows_now()
    again = [other.call("timeline") for _ in range(count)]
    assert [call["widget"] for call in again] == lost
    assert {call["attempt"] for call in again} == {2}


def test_a_pong_for_a_provider_of_another_connection_is_none(home):
    one, other = home.provider(), home.provider()
    assert other.ask("provider.pong", provider=one.id)["error"]["code"] == "notFound"


def test_an_action_that_ends_late_reloads_its_siblings_as_one_in_time_does(home):
    provider = home.provider(toggle(reloadsSiblings=True))
    tapped, sibling = home.shown(provider), home.shown(provider)
    provider.kinds = [toggle(reloadsSiblings=True, actionDeadline=50)]
    provider.register()
    home.tap(tapped)
    home.next("acting", id=tapped)
    late = provider.call("perform", control=tapped)
    home.next("failed", id=tapped, failure="timedOut")
    # Both are asked for once now, as it may have had its effect, and once more when it ends.
    for _ in range(2):
        home.next("reloading")
    for _ in range(2):
        provider.gives(False)
        home.next("shown")
    provider.answer(late)
    reloaded = [home.next("reloading")["id"] for _ in range(2)]
    assert sorted(reloaded) == sorted([tapped, sibling])
    for _ in range(2):
        provider.gives(True)
        home.next("shown")


def test_a_widget_whose_entries_are_all_ahead_pays_for_its_reloads(board):
    provider = board.provider()
    id = board.add()
    call = provider.call("timeline", None, id)
    provider.show(call, {"date": call["now"] + 10 * HOUR}, policy="never")
    board.next("timeline", id=id, state="placeholder")
    assert board.reload(id)["held"]["reason"] == "spacing"
    board.next("held", id=id)

"""What a provider may do wrong: each fault has its error, hurts nobody else, and too many of them end it."""

import json

import pytest

from support.provider import DOOR, LAMP, TORCH, button, toggle

FAULTS = 16
"""So many within a minute, and a provider is dropped."""


def row(home, provider):
    return home.providers()[provider.id]


@pytest.fixture
def bystander(home):
    """A provider that does nothing wrong, with a value on its way from the beginning to the end."""
    provider = home.provider(toggle(LAMP))
    id = home.add(kind=LAMP)
    call = provider.call("value", LAMP, id)
    yield provider
    provider.answer(call, True)
    home.next("shown", id=id, value=True)
    provider.uncalled()
    figures = row(home, provider)
    assert (figures["state"], figures["calls"], figures["failures"], figures["unknown"]) == ("live", 1, 0, 0)


# One fault


def test_a_toggles_value_that_is_no_boolean_is_a_bad_answer_and_the_call_has_failed(home, bystander):
    provider = home.provider()
    for value in (1, "true", None, {"value": True}):  # five failures in a row would open the breaker
        id = home.shown(provider, True)
        home.client.applied("control.reload", id=id)
        home.next("reloading")
        call = provider.call("value")
        provider.answer(call, value)
        error = provider.refused("badAnswer", call)
        assert error["retry"] == "never"
        home.next("failed", id=id, failure="badAnswer", state="shown")
        assert home.agrees(id)["value"] is True
        provider.answer(call, True)
        provider.refused("unknownCall", call)


def test_a_value_of_4_kb_is_taken_and_a_byte_more_is_a_bad_answer(home, bystander):
    provider = home.provider(button(hasValue=True))
    id = home.shown(provider, "x" * 4_094, kind=DOOR)
    assert len(json.dumps(home.agrees(id)["value"])) == 4_096
    home.client.applied("control.reload", id=id)
    home.next("reloading")
    call = provider.call("value")
    provider.answer(call, "x" * 4_095)
    provider.refused("badAnswer", call)
    home.next("failed", failure="badAnswer")
    assert home.agrees(id)["value"] == "x" * 4_094


def test_a_value_call_that_is_answered_without_a_value_has_failed(home):
    provider = home.provider(button(hasValue=True))
    home.add(kind=DOOR)
    call = provider.call("value")
    provider.answer(call, status="Open")
    provider.refused("badAnswer", call)
    home.next("failed", failure="badAnswer", state="preview")


def test_a_bad_answer_is_not_asked_of_another_provider(home):
    first, second = home.provider(), home.provider()
    home.add()
    first.answer(first.call(), "nonsense")
    first.refused("badAnswer")
    home.next("failed", failure="badAnswer")
    second.uncalled()


def test_what_an_action_answers_with_does_not_matter(home):
    provider = home.provider()
    id = home.shown(provider)
    home.tap(id)
    home.next("acting")
    provider.answer(provider.call("perform"), "nonsense")
    home.next("performed")
    provider.gives(True)
    home.next("shown")


@pytest.mark.parametrize("members, code", [
    ({"status": 7}, "badField"), ({"status": "x" * 257}, "badField"), ({"isActive": "yes"}, "badField"),
    ({"tint": {}}, "badField"), ({"disabled": 1}, "badField"), ({"colour": "red"}, "unknownField"),
])
def test_an_answer_with_a_bad_member_is_refused_and_the_call_has_failed(home, bystander, members, code):
    """As soon as it is refused, and not when its time is over: there will not be another one."""
    provider = home.provider()
    id = home.add()
    call = provider.call()
    provider.answer(call, True, **members)
    assert provider.refused(code)["detail"] == {"field": next(iter(members))}
    home.next("failed", id=id, failure="badAnswer")
    assert row(home, provider)["failures"] == 1
    provider.answer(call, True)
    provider.refused("unknownCall", call)
    home.client.applied("control.reload", id=id)
    home.next("reloading", id=id)
    provider.gives(True, control=id)
    home.next("shown", id=id, value=True)


def test_a_failure_with_a_bad_member_fails_its_call_too(home, bystander):
    provider = home.provider()
    id = home.add()
    provider.fail(provider.call(), message=7)
    provider.refused("badField")
    home.next("failed", id=id, failure="badAnswer")


def test_a_refused_answer_to_anothers_call_ends_nothing(home, bystander):
    provider, other = home.provider(), home.provider(toggle("com.example.other"))
    id = home.add()
    call = provider.call()
    other.answer(call, True, status=7)
    other.refused("badField")
    provider.answer(call, True)
    home.next("shown", id=id, value=True)


@pytest.mark.parametrize("kind", ["toggle", "button"])
def test_an_answer_that_is_given_twice_counts_once(home, bystander, kind):
    provider = home.provider(toggle() if kind == "toggle" else button(TORCH, hasValue=True))
    id = home.add()
    call = provider.call()
    provider.answer(call, True)
    provider.answer(call, False)
    provider.refused("unknownCall", call)
    home.next("shown", id=id, value=True)
    home.silent()
    assert row(home, provider)["unknown"] == 1


def test_an_action_that_is_answered_twice_has_happened_once(home):
    provider = home.provider()
    id = home.shown(provider)
    home.tap(id)
    home.next("acting")
    call = provider.call("perform")
    provider.answer(call)
    provider.fail(call)
    provider.refused("unknownCall", call)
    home.next("performed")
    value = provider.call("value")
    provider.answer(call, False)
    provider.refused("unknownCall", call)
    home.silent()
    provider.answer(value, True)
    home.next("shown")
    home.agrees(id)


def test_an_answer_to_a_call_that_was_never_made_is_refused(home, bystander):
    provider = home.provider()
    for call in ("1", "18446744073709551615", "18446744073709551616", "-1", "", "nonsense", "1" * 200):
        provider.say("provider.answer", call=call, value=True)
        error = provider._next("answer")["error"]
        assert error["code"] == ("unknownCall" if 0 < len(call) < 128 else "badField"), error
    home.silent()


def test_a_call_can_only_be_answered_by_the_provider_that_has_it(home):
    provider, other = home.provider(), home.provider()
    id = home.add()
    call = provider.call(control=id)
    other.answer(call, False)
    other.refused("unknownCall", call)
    home.silent()
    provider.answer(call, True)
    home.next("shown", value=True)


# Late


@pytest.mark.parametrize("how", ["timedOut", "superseded", "removed"])
def test_a_late_answer_is_dropped_in_silence_and_counted(home, bystander, how):
    provider = home.provider(toggle(valueDeadline=50 if how == "timedOut" else 30_000))
    id = home.add()
    call = provider.call()
    if how == "timedOut":
        home.next("failed", failure="timedOut")
    elif how == "superseded":
        home.tap(id)
        home.next("acting")
        provider.call("perform")
    else:
        home.client.applied("control.remove", id=id)
        home.next("removed")
    provider.cancelled(call, how)
    provider.answer(call, True)
    provider.uncalled()
    home.silent()
    assert (row(home, provider)["late"], row(home, provider)["unknown"]) == (1, 0)
    provider.fail(call)
    provider.refused("unknownCall", call)


def test_an_answer_that_was_retried_elsewhere_is_late_however_it_comes(home):
    first, second = home.provider(), home.provider()
    id = home.add()
    call = first.call()
    again = home.provider(id=first.id)
    retried = second.call(control=id)
    assert retried["attempt"] == 2
    again.answer(call, False)
    again.uncalled()
    assert row(home, again)["late"] == 1
    second.answer(retried, True)
    home.next("shown", value=True)


# Too many


def err(home, provider, count):
    """So many faults of a provider that has a place free, each of which is refused; gives a call to err with again."""
    id = home.client.applied("control.add", kind=TORCH)["control"]["id"]
    home.next("added")
    call = provider.call(control=id)
    for _ in range(count + 1):
        provider.answer(call, False)
    home.next("shown", id=id)
    for _ in range(count):
        provider.refused("unknownCall", call)
    return call


def test_a_provider_with_too_many_faults_is_dropped_and_banned_and_its_calls_go_elsewhere(home, bystander):
    provider = home.provider()
    answered = err(home, provider, FAULTS - 1)
    assert (row(home, provider)["state"], row(home, provider)["unknown"]) == ("live", FAULTS - 1)
    id = home.add()
    provider.call("value", TORCH, id)
    other = home.provider()
    acting = home.shown(other)
    provider.answer(answered, True)
    provider.dropped("faults")
    assert other.gives(True, control=id)["attempt"] == 2
    home.next("shown", id=id)
    successor = home.provider(id=provider.id, register=False)
    neighbour = provider.beside()
    for banned in (provider, successor, neighbour):
        error = banned.try_to_register()["error"]
        assert (error["code"], error["retry"]) == ("busy", "later")
        assert 50_000 < error["retryAfter"] <= 60_000
    home.tap(acting)
    home.next("acting")
    other.gives(None, op="perform")
    home.next("performed")
    other.gives(True)
    home.next("shown")
    restarted = home.provider()
    assert row(home, restarted)["state"] == "live"


def test_actions_of_a_provider_that_is_dropped_for_its_faults_are_lost_and_not_performed_again(home):
    provider = home.provider()
    answered = err(home, provider, FAULTS - 1)
    id = home.shown(provider)
    home.tap(id)
    home.next("acting")
    other = home.provider()
    provider.call("perform")
    provider.answer(answered, True)
    provider.dropped("faults")
    home.next("failed", failure="providerLost")
    home.next("reloading")
    other.gives(True)
    home.next("shown")
    other.uncalled()


def test_bad_answers_and_double_answers_are_faults_like_unknown_calls(home):
    provider = home.provider(capacity=64)
    ids = [home.add() for _ in range(FAULTS)]
    calls = [provider.call() for _ in ids]
    provider.answer(calls[0], True)
    home.next("shown")
    for _ in range(2):
        provider.answer(calls[0], True)
        provider.refused("unknownCall")
    for call in calls[1:]:
        provider.answer(call, "nonsense")
    provider.dropped("faults")


def test_calls_without_a_number_are_faults_too(home):
    provider = home.provider()
    for number in range(4 * FAULTS):
        provider.say("provider.answer", call=f"nonsense-{number}", value=True)
    provider.dropped("faults")


def test_a_flood_ends_its_provider_and_reaches_nobody_else(home, bystander):
    provider = home.provider()
    id = home.shown(provider, True)
    for number in range(20_000):
        provider.say("provider.answer", call=str(number), value=True)
    provider.dropped("faults")
    assert home.get(id)["value"] is True
    other = home.provider()
    home.next("reloading", id=id, cause="registration")
    other.gives(False)
    home.next("shown", value=False)


def test_frames_that_are_none_are_refused_and_the_provider_goes_on(home, bystander):
    provider = home.provider()
    id = home.add()
    call = provider.call()
    for frame in (b"{", b"\xff" * 40, b"[]", b'{"op":"provider.answer"}', b'{"op":"provider.shout"}', b"x" * 70_000):
        provider.socket.send_multipart([frame])
        assert provider._next("answer")["error"]["code"] in ("badMessage", "missingField", "unknownOp"), frame
    provider.answer(call, True)
    home.next("shown", id=id)


def test_commands_that_are_refused_are_no_faults_of_the_provider_on_their_connection(home, bystander):
    provider = home.provider()
    for frame in (b"{", b'{"op":"provider.shout"}', b'{"op":"service.ping","ping":1}', b'{"op":"clock.advance","to":1}'):
        provider.socket.send_multipart([frame] * FAULTS)
        assert not any(answer["ok"] for answer in map(json.loads, provider.wire.receive(provider.socket)))
    id = home.add()
    provider.gives(True, control=id)
    home.next("shown", id=id)


def test_a_provider_that_answers_nothing_at_all_hangs_no_control(home, bystander):
    """And its breaker spares it, and everybody who would wait for it."""
    provider = home.provider(toggle(valueDeadline=100, actionDeadline=100))
    ids = home.add_many(5)
    seen = [home.next()["state"] for _ in range(2 * len(ids))]
    assert seen.count("preview") == len(ids)
    assert row(home, provider)["state"] in ("open", "halfOpen")
    home.tap(ids[0])
    home.next("acting")
    home.next("failed", id=ids[0], failure="timedOut", state="preview")
    home.next("reloading", id=ids[0])
    home.next("failed", id=ids[0], cause="timeout", state="preview")
    assert home.agrees(ids[0])["failure"] == "timedOut"

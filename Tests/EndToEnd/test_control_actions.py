"""Taps: what is shown at once, what the provider performs, and what is the truth in the end (C8 to C12, C14)."""

import uuid

import pytest

from support.provider import DOOR, LAMP, TORCH, button, toggle


@pytest.mark.parametrize("before", [False, True])
def test_c8_a_tap_shows_the_opposite_at_once_and_performs_the_absolute_new_value(home, before):
    provider = home.provider()
    id = home.shown(provider, before)
    assert home.tap(id)["control"] == {"id": id, "revision": 3, "state": "acting"}
    home.next("acting", cause="person", state="acting", value=not before, valueSource="optimistic")
    call = provider.call("perform", TORCH, id)
    assert (call["value"], call["attempt"]) == (not before, 1)
    assert home.agrees(id)["state"] == "acting"
    provider.answer(call)
    home.next("performed", state="reloading")
    provider.gives(not before)
    home.next("shown")


def test_c9_after_the_action_the_value_of_this_control_is_asked_for_and_of_no_other(home):
    provider = home.provider()
    id, other = home.shown(provider), home.shown(provider)
    home.tap(id)
    home.next("acting")
    provider.gives(None, op="perform", control=id, status="Lit")
    home.next("performed", cause="action", state="reloading", status="Lit", value=None)
    assert (home.event["from"], home.event["to"]) == ("acting", "reloading")
    call = provider.call("value", TORCH, id)
    assert home.agrees(id)["valueSource"] == "optimistic"
    provider.answer(call, True)
    home.next("shown", id=id, state="shown", valueSource="provider")
    provider.uncalled()
    assert home.agrees(id)["value"] is True and home.agrees(other)["revision"] == 2


def test_c9_the_status_of_an_action_goes_with_the_next_one(home):
    provider = home.provider()
    id = home.shown(provider)
    home.tap(id)
    home.next("acting")
    provider.gives(None, op="perform", status="Lit")
    home.next("performed", status="Lit")
    provider.gives(True)
    home.next("shown")
    assert home.agrees(id)["status"] == "Lit"
    home.tap(id)
    assert home.next("acting")["status"] is None
    provider.gives(None, op="perform")
    home.next("performed")
    provider.gives(False)
    home.next("shown")
    assert "status" not in home.agrees(id)


def test_c10_an_action_that_throws_shows_the_value_before_and_asks_for_the_truth(home):
    provider = home.provider()
    id = home.shown(provider, False)
    home.tap(id)
    home.next("acting", value=True)
    provider.fail(provider.call("perform"), message="jammed", retryable=True)
    home.next("failed", state="shown", value=False, valueSource="provider", failure="threw")
    assert (home.event["from"], home.event["to"]) == ("acting", "shown")
    home.next("reloading", cause="action", state="reloading")
    provider.gives(False)
    home.next("shown", state="shown", failure=None)
    provider.uncalled()
    home.agrees(id)


def test_c10_an_action_that_is_not_answered_in_time_is_not_sent_again(home):
    provider, other = home.provider(toggle(actionDeadline=50)), home.provider(toggle(actionDeadline=50))
    id = home.shown(provider, False)
    home.tap(id)
    home.next("acting")
    call = provider.call("perform")
    home.next("failed", cause="timeout", value=False, failure="timedOut")
    provider.cancelled(call, "timedOut")
    home.next("reloading", cause="action")
    provider.gives(False)
    home.next("shown")
    other.uncalled()
    home.agrees(id)


def test_c10_an_action_that_is_late_does_happen_and_its_value_is_asked_for_again(home):
    """Slow is not wrong: the value that was asked for at the deadline is older than the action's end."""
    provider = home.provider(toggle(actionDeadline=50))
    id = home.shown(provider, False)
    home.tap(id)
    home.next("acting")
    call = provider.call("perform")
    home.next("failed", cause="timeout", value=False)
    home.next("reloading", cause="action")
    provider.gives(False)
    home.next("shown")
    provider.answer(call)
    home.next("reloading", cause="action")
    provider.gives(True)
    home.next("shown", value=True)
    home.agrees(id)


def test_c11_the_provider_is_the_truth_where_it_differs_from_the_wish(home):
    provider = home.provider()
    id = home.shown(provider, False)
    home.tap(id)
    home.next("acting", value=True)
    provider.gives(True, op="perform")
    home.next("performed")
    provider.gives(False)
    home.next("shown", state="shown", value=False, valueSource="provider")
    home.agrees(id)


def test_c12_a_button_is_pressed_without_a_value_and_its_value_is_asked_for_after(home):
    provider = home.provider(button(hasValue=True))
    id = home.shown(provider, {"open": 0}, kind=DOOR)
    home.tap(id)
    patch = home.next("acting", cause="person", state="acting")
    assert "value" not in patch and "valueSource" not in patch
    call = provider.call("perform", DOOR, id)
    assert "value" not in call
    assert home.client.ignored("control.tap", id=id) == "acting"
    provider.answer(call, status="Opening", isActive=True)
    home.next("performed", state="reloading", status="Opening")
    provider.gives({"open": 1}, isActive=True)
    home.next("shown", value={"open": 1}, isActive=True)
    provider.uncalled()
    home.agrees(id)


def test_c12_a_button_without_a_value_is_shown_again_when_it_was_performed(home):
    provider = home.provider(button())
    id = home.add(kind=DOOR)
    for outcome in ("answer", "fail", "answer"):
        home.tap(id)
        home.next("acting", state="acting")
        getattr(provider, outcome)(provider.call("perform"))
        patch = home.next("failed" if outcome == "fail" else "performed", state="shown")
        assert patch.get("failure") == ("threw" if outcome == "fail" else None)
        home.agrees(id)
    provider.uncalled()


def test_c14_a_tap_on_a_disabled_control_does_nothing(home):
    provider = home.provider()
    id = home.add()
    provider.gives(True, disabled=True)
    home.next("shown", state="disabled", isDisabled=True, value=True)
    assert home.client.ignored("control.tap", id=id) == "disabled"
    assert home.client.ignored("control.set", id=id, value=False) == "disabled"
    home.silent()
    provider.uncalled()
    decision = home.client.read("control.explain", id=id)["decisions"][-1]
    assert (decision["rule"], decision["reason"]) == ("apple-semantics 4.2 C14", "disabled")
    home.client.applied("control.reload", id=id)
    home.next("reloading")
    assert home.client.ignored("control.tap", id=id) == "disabled"
    provider.gives(True)
    home.next("shown", state="shown", isDisabled=False)
    home.tap(id)
    home.next("acting")
    home.agrees(id)


@pytest.mark.parametrize("state", ["loading", "preview", "reloading"])
def test_a_tap_does_not_wait_for_a_value_that_is_on_its_way(home, state):
    """The value is cancelled, for the one after the action is newer."""
    provider = home.provider()
    if state == "reloading":
        id = home.shown(provider)
        home.client.applied("control.reload", id=id)
        home.next("reloading")
    else:
        id = home.add()
    value = provider.call("value")
    if state == "preview":
        provider.fail(value)
        home.next("failed")
    home.tap(id)
    home.next("acting", value=True, next=None)
    if state != "preview":
        provider.cancelled(value, "superseded")
        provider.answer(value, False)
    home.silent()
    provider.gives(None, op="perform")
    home.next("performed", state="reloading")
    provider.gives(True)
    home.next("shown", state="shown", valueSource="provider")
    home.agrees(id)


def test_a_first_value_that_is_unknown_is_shown_as_such_again_where_the_action_fails(home):
    provider = home.provider(toggle(previewValue=True))
    id = home.add()
    provider.fail(provider.call("value"))
    home.next("failed")
    home.tap(id)
    home.next("acting", value=False, valueSource="optimistic")
    provider.fail(provider.call("perform"))
    home.next("failed", state="preview", value=True, valueSource="preview")
    home.next("reloading", state="loading")
    provider.gives(False)
    home.next("shown")
    home.agrees(id)


def test_the_newest_wish_of_a_person_who_taps_while_it_acts_is_performed_next(home):
    provider = home.provider()
    id = home.shown(provider, False)
    home.tap(id)
    home.next("acting", value=True)
    first = provider.call("perform")
    for shown in (False, True, False):
        home.tap(id)
        home.next("acting", cause="person", value=shown)
    provider.uncalled()
    provider.answer(first)
    home.next("acting", cause="action")
    second = provider.call("perform", TORCH, id)
    assert (first["value"], second["value"]) == (True, False)
    provider.answer(second)
    home.next("performed")
    provider.gives(False)
    home.next("shown")
    provider.uncalled()
    home.agrees(id)


def test_a_wish_that_comes_back_to_the_one_that_acts_is_not_performed_twice(home):
    provider = home.provider()
    id = home.shown(provider, False)
    for shown in (True, False, True):
        home.tap(id)
        home.next("acting", value=shown)
    provider.gives(None, op="perform")
    home.next("performed")
    provider.gives(True)
    home.next("shown")
    provider.uncalled()
    home.agrees(id)


def test_the_newest_wish_is_performed_although_the_action_before_it_failed(home):
    provider = home.provider()
    id = home.shown(provider, True)
    home.tap(id)
    home.next("acting", value=False)
    first = provider.call("perform")
    home.tap(id)
    home.next("acting", value=True)
    provider.fail(first)
    home.next("failed", failure="threw", value=None)
    home.next("acting", failure=None)
    assert provider.gives(None, op="perform")["value"] is True
    home.next("performed")
    provider.gives(True)
    home.next("shown")
    home.agrees(id)


def test_set_gives_a_toggle_its_absolute_value_also_the_one_that_it_shows(home):
    provider = home.provider(toggle(), button())
    id = home.shown(provider, True)
    for value in (True, False, False):
        home.client.applied("control.set", id=id, value=value)
        home.next("acting", valueSource="optimistic")
        assert provider.gives(None, op="perform")["value"] is value
        home.next("performed")
        provider.gives(value)
        home.next("shown")
        assert home.agrees(id)["value"] is value
    door = home.add(kind=DOOR)
    error = home.client.refused("control.set", id=door, value=True)
    assert (error["code"], error["detail"]) == ("badField", {"field": "value"})
    for value, code in ((None, "missingField"), ("true", "badField"), (1, "badField")):
        assert home.client.refused("control.set", id=id, value=value)["code"] == code


def test_siblings_are_reloaded_only_where_the_kind_says_so(home):
    provider = home.provider(toggle(), toggle(LAMP, reloadsSiblings=True))
    torches = [home.shown(provider) for _ in range(2)]
    lamps = [home.shown(provider, kind=LAMP) for _ in range(3)]
    home.tap(torches[0])
    home.next("acting")
    provider.gives(None, op="perform")
    home.next("performed")
    provider.gives(True)
    home.next("shown")
    provider.uncalled()
    home.tap(lamps[0])
    home.next("acting")
    provider.gives(None, op="perform")
    home.next("performed", id=lamps[0], cause="action")
    assert {home.next("reloading", cause="sibling")["id"] for _ in range(2)} == set(lamps[1:])
    calls = [provider.call("value", LAMP) for _ in lamps]
    assert sorted(call["control"] for call in calls) == sorted(lamps)
    for call in calls:
        provider.answer(call, True)
        home.next("shown", value=None if call["control"] == lamps[0] else True)
    provider.uncalled()


def leaves(home, provider, call):
    home.provider(*provider.kinds)
    provider.leave()


def is_replaced(home, provider, call):
    provider.disconnect()
    home.provider(*provider.kinds, id=provider.id)


def answers_badly(home, provider, call):
    provider.answer(call, status=5)
    provider.refused("badField")


@pytest.mark.parametrize("end", [
    lambda home, provider, call: provider.fail(call),
    lambda home, provider, call: provider.cancelled(call, "timedOut"),
    lambda home, provider, call: home.client.applied("control.configure", id=call["control"], configuration={"n": 1}),
    lambda home, provider, call: home.client.applied("control.remove", id=call["control"]),
    leaves, is_replaced, answers_badly,
], ids=["fails", "times out", "is configured", "is removed", "leaves", "is replaced", "answers badly"])
def test_whatever_ends_an_action_that_may_have_acted_its_siblings_are_asked_for(home, end):
    parameters = [{"name": "n", "type": "integer", "default": 0}]
    provider = home.provider(toggle(LAMP, reloadsSiblings=True, parameters=parameters, actionDeadline=300))
    lamp, other = home.shown(provider, kind=LAMP), home.shown(provider, kind=LAMP)
    home.tap(lamp)
    call = provider.call("perform", LAMP, lamp)
    end(home, provider, call)
    home.until(other, state="reloading")
    home.judge(home.entity(other), "reloading", cause="sibling")


def test_the_late_answer_to_an_action_of_a_control_that_is_gone_reloads_its_siblings(home):
    provider = home.provider(toggle(LAMP, reloadsSiblings=True))
    lamp, other = home.shown(provider, kind=LAMP), home.shown(provider, kind=LAMP)
    home.tap(lamp)
    late = provider.call("perform", LAMP, lamp)
    home.client.applied("control.remove", id=lamp)
    provider.gives(False, control=other)
    home.until(other, revision=4)
    provider.answer(late)
    provider.gives(True, control=other)
    home.until(other, revision=6)
    assert home.agrees(other)["value"] is True


def test_an_action_that_nobody_got_leaves_its_siblings_alone(home):
    provider = home.provider(toggle(LAMP, reloadsSiblings=True, actionDeadline=100), capacity=1)
    lamp, other = home.shown(provider, kind=LAMP), home.shown(provider, kind=LAMP)
    home.client.applied("control.reload", id=other)
    busy = provider.call("value", LAMP, other)
    home.tap(lamp)
    home.until(lamp, failure="timedOut")
    provider.answer(busy, True)
    home.until(other, state="shown")
    provider.gives(False, control=lamp)
    provider.uncalled()
    assert home.get(other)["revision"] == 4


@pytest.mark.parametrize("say", [
    lambda provider, call: provider.answer(call, status=5),
    lambda provider, call: provider.answer(call, nonsense=5),
    lambda provider, call: provider.answer(call, value="x" * 70_000),
    lambda provider, call: provider.fail(call, retryable="x"),
], ids=["status is a number", "unknown field", "too long", "bad failure"])
def test_a_late_answer_that_is_refused_is_the_end_of_an_action_all_the_same(home, say):
    provider, late = home.given_up()
    say(provider, late)
    home.next("reloading", cause="action")
    provider.gives(True)
    home.next("shown", value=True)
    # It is known once: nobody is asked again for what was answered before.
    say(provider, late)
    provider._kept["answer"].clear()
    home.silent()


def test_a_tap_that_nobody_can_perform_is_refused_and_changes_nothing(home):
    provider = home.provider()
    id = home.shown(provider, True)
    provider.leave()
    for op, fields in (("tap", {}), ("set", {"value": False})):
        error = home.client.refused(f"control.{op}", id=id, **fields)
        assert (error["code"], error["detail"]["reason"], error["retry"]) == ("unavailable", "noProvider", "later")
    home.silent()
    assert home.agrees(id)["value"] is True


def test_a_tap_that_is_sent_again_is_performed_once_and_answered_alike(home):
    provider = home.provider()
    id = home.shown(provider)
    tap = home.client.command("control.tap", id=id, client=str(uuid.uuid4()))
    first, again = home.client.batch(tap, tap)
    assert first == again and first["control"]["state"] == "acting"
    home.next("acting")
    provider.gives(None, op="perform")
    home.next("performed")
    provider.gives(True)
    home.next("shown")
    home.client.send(tap)
    assert home.client.answer_to(tap["req"]) == [first]
    provider.uncalled()
    home.silent()
    assert home.client.raw({**tap, "op": "control.remove"})[0]["error"]["code"] == "requestReused"


def test_a_tap_holds_only_for_the_revision_that_it_names(home):
    provider = home.provider()
    id = home.shown(provider)
    error = home.client.refused("control.tap", id=id, ifRevision=1)
    assert (error["code"], error["detail"]) == ("conflict", {"revision": 2})
    for op, fields in (("configure", {"configuration": {}}), ("reload", {}), ("remove", {})):
        assert home.client.refused(f"control.{op}", id=id, ifRevision=1, **fields)["code"] == "conflict"
    home.silent()
    provider.uncalled()
    home.client.applied("control.tap", id=id, ifRevision=2)
    home.next("acting")


def test_a_field_that_an_op_does_not_have_is_refused(home):
    target = {"id": "0198c0de-0000-7000-8000-000000000001"}
    kind = {"kind": TORCH}
    for op, fields in (
            ("add", kind), ("configure", {**target, "configuration": {}}), ("remove", target), ("tap", target),
            ("set", {**target, "value": True}), ("reload", target), ("get", target), ("list", {}), ("history", target),
            ("explain", target), ("preview", kind), ("kinds", {}), ("options", {**kind, "parameter": "room"})):
        error = home.client.refused(f"control.{op}", **fields, colour="red")
        assert (error["code"], error["detail"]) == ("unknownField", {"field": "colour"}), op


def test_an_action_that_ends_when_its_provider_is_no_longer_there_has_its_value_asked_of_the_others(home):
    provider, other = home.provider(), home.provider()
    id = home.shown(provider)
    home.tap(id)
    home.next("acting")
    action = provider.call("perform")
    provider.leave()
    home.next("failed", id=id, failure="providerLost")
    other.gives(False)
    home.next("reloading", id=id, cause="action")
    home.next("shown", id=id)
    # Now it has its effect.
    provider.answer(action)
    provider.refused("notFound", action)
    other.gives(True)
    home.next("reloading", id=id, cause="action")
    home.next("shown", id=id, value=True)
    home.agrees(id)
    other.uncalled()

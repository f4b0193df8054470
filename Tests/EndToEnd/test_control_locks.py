"""Locked devices: actions that wait for authentication (C13), and values that are hidden meanwhile."""

import contextlib
import json

import pytest

from support.dates import SECOND, after
from support.followed import as_followed
from support.home import Home
from support.provider import DOOR, TORCH, button, toggle
from support.wire import QUIET, Silence

SECRET = "s3cr3t"
POLICIES = ["requiresAuthentication", "requiresLocalDeviceAuthentication"]


def device(home, event, name="phone"):
    home.client.read("device.event", device=name, event=event)


@pytest.fixture
def provider(home):
    """One whose torches need authentication."""
    return home.provider(toggle(authenticationPolicy="requiresAuthentication"))


@pytest.mark.parametrize("policy", POLICIES)
def test_c13_a_tap_on_a_locked_device_waits_for_the_unlock_and_nothing_flips(home, policy):
    provider = home.provider(toggle(authenticationPolicy=policy))
    id = home.shown(provider, device="phone")
    device(home, "lock")
    assert home.tap(id)["control"]["state"] == "authenticating"
    patch = home.next("authenticating", cause="person", state="authenticating")
    assert patch["next"] == {"at": after(60 * SECOND), "cause": "authentication"} and "value" not in patch
    provider.uncalled()
    home.agrees(id)
    device(home, "unlock")
    home.next("acting", cause="authentication", value=True, valueSource="optimistic", next=None)
    assert provider.gives(None, op="perform")["value"] is True
    home.next("performed")
    provider.gives(True)
    home.next("shown")
    home.agrees(id)


def test_c13_an_action_that_waits_is_dropped_when_the_device_is_not_unlocked_within_60_seconds(home, provider):
    id = home.shown(provider, device="phone")
    device(home, "lock")
    home.tap(id)
    home.next("authenticating")
    home.client.advance(by=60 * SECOND - 1)
    home.silent()
    step = home.client.command("clock.advance", by=1)
    home.client.send(step)
    home.next("cancelled", cause="authentication", state="shown", next=None)
    assert (home.event["at"], home.event["lateBy"]) == (after(60 * SECOND), 0)
    home.next("reloading", cause="action")
    provider.gives(False)
    home.next("shown", value=None)
    assert home.client.answer_to(step["req"])[0]["ok"]
    device(home, "unlock")
    home.silent()
    provider.uncalled()
    home.agrees(id)


def test_c13_a_button_and_a_set_wait_too(home):
    provider = home.provider(
        button(authenticationPolicy=POLICIES[0]), toggle(authenticationPolicy=POLICIES[0]))
    door, torch = home.add(kind=DOOR, device="phone"), home.shown(provider, device="phone")
    device(home, "lock")
    home.tap(door)
    home.next("authenticating", id=door)
    home.client.applied("control.set", id=torch, value=False)
    home.next("authenticating", id=torch)
    device(home, "unlock")
    assert {home.next("acting")["id"] for _ in range(2)} == {door, torch}
    calls = [provider.call("perform") for _ in range(2)]
    assert {call["kind"]: call.get("value") for call in calls} == {DOOR: None, TORCH: False}


def test_c13_the_newest_wish_waits(home, provider):
    id = home.shown(provider, False, device="phone")
    device(home, "lock")
    home.tap(id)
    home.next("authenticating")
    home.client.applied("control.set", id=id, value=False)
    home.next("authenticating")
    device(home, "unlock")
    home.next("acting")
    assert provider.call("perform")["value"] is False
    provider.uncalled()


def test_c13_only_the_controls_own_device_counts_and_only_kinds_that_ask_for_it(home):
    provider = home.provider(toggle(authenticationPolicy=POLICIES[0]), button())
    ids = [home.shown(provider, device="tablet"), home.shown(provider), home.add(kind=DOOR, device="phone")]
    device(home, "lock")
    for id in ids:
        home.tap(id)
        home.next("acting", id=id)
        provider.call("perform", control=id)


def test_c13_a_control_that_is_placed_on_a_locked_device_waits_like_the_others(home, provider):
    device(home, "lock")
    id = home.shown(provider, device="phone")
    home.tap(id)
    home.next("authenticating")


def test_c13_a_tap_on_a_locked_device_waits_although_an_action_runs(home, provider):
    """Who finds the phone locked with its torch just switched must not switch it again."""
    id = home.shown(provider, False, device="phone")
    home.tap(id)
    home.next("acting", value=True)
    first = provider.call("perform")
    device(home, "lock")
    home.client.ask("control.tap", id=id)
    provider.answer(first)
    with contextlib.suppress(Silence):
        assert provider.call(seconds=QUIET)["op"] == "control.value"


def test_c13_a_control_that_waits_can_be_removed_and_configured(home, provider):
    for op, fields, event in (("configure", {"configuration": {}}, "configured"), ("remove", {}, "removed")):
        id = home.shown(provider, device="phone")
        device(home, "lock")
        home.tap(id)
        home.next("authenticating")
        home.client.applied(f"control.{op}", id=id, **fields)
        home.next(event, next=None)
        device(home, "unlock")
        if op == "configure":
            provider.gives(True)
            home.next("shown", value=True)
        home.silent()
    provider.uncalled()


# What is hidden


def sensitive(home, **members):
    parameters = [{"name": "note", "type": "string", "isOptional": True}]
    return home.provider(
        button(privacySensitive=True, hasValue=True, parameters=parameters, **members), toggle(privacySensitive=True))


def test_a_sensitive_control_is_redacted_while_its_device_is_locked_and_revealed_after(home):
    provider = sensitive(home)
    id = home.shown(
        provider, SECRET, kind=DOOR, device="phone", configuration={"note": SECRET},
        look={"status": SECRET, "isActive": True, "tint": SECRET, "actionHint": SECRET})
    before = home.agrees(id)
    device(home, "lock")
    home.next("redacted", cause="lock", isRedacted=True)
    assert home.event["from"] == home.event["to"] == "shown"
    locked = home.agrees(id)
    assert SECRET not in json.dumps(locked)
    hidden = {"value", "valueSource", "status", "isActive", "tint", "actionHint", "configuration"}
    assert not hidden & locked.keys() and hidden <= before.keys()
    assert locked in map(as_followed, home.client.read("control.list")["controls"])
    assert SECRET not in str(home.bulk.snapshot().rows)
    device(home, "unlock")
    home.next("revealed", cause="unlock", isRedacted=False, value=SECRET)
    after = home.agrees(id)
    assert {**after, "revision": 0, "cause": ""} == {**before, "revision": 0, "cause": ""}


def test_nothing_that_happens_while_the_device_is_locked_tells_the_value(home):
    provider = sensitive(home, authenticationPolicy="alwaysAllowed")
    id = home.shown(provider, "open", kind=DOOR, device="phone")
    device(home, "lock")
    home.next("redacted")
    home.client.applied("control.reload", id=id)
    told = [home.next("reloading")]
    provider.gives({"code": SECRET}, status=SECRET, tint=SECRET, actionHint=SECRET)
    told.append(home.next("shown"))
    home.tap(id)
    told.append(home.next("acting"))
    provider.gives(None, op="perform", status=SECRET)
    told.append(home.next("performed"))
    provider.gives({"code": SECRET})
    told.append(home.next("shown"))
    home.client.applied("control.configure", id=id, configuration={"note": SECRET})
    told.append(home.next("configured"))
    provider.gives({"code": SECRET})
    told.append(home.next("shown"))
    assert SECRET not in json.dumps(told)
    assert "isActive" not in json.dumps(told) and "valueSource" not in json.dumps(told)
    assert SECRET not in json.dumps(home.agrees(id))
    assert SECRET not in json.dumps(home.client.read("control.history", id=id))
    assert SECRET not in json.dumps(home.client.read("control.explain", id=id))
    device(home, "unlock")
    home.next("revealed", value={"code": SECRET}, configuration={"note": SECRET})
    home.agrees(id)


def test_the_past_of_a_redacted_control_does_not_tell_its_value(home):
    provider = sensitive(home)
    id = home.shown(
        provider, {"code": SECRET}, kind=DOOR, device="phone", configuration={"note": SECRET},
        look={"status": SECRET, "isActive": True, "tint": SECRET, "actionHint": SECRET})
    told = home.client.read("control.history", id=id)
    assert SECRET in json.dumps(told)
    device(home, "lock")
    home.next("redacted")
    hidden = home.client.read("control.history", id=id)
    assert SECRET not in json.dumps(hidden) and "valueSource" not in hidden["events"][0]["control"]
    without = [
        {**event, "control": {name: value for name, value in event["control"].items() if name not in CONTENT}}
        for event in told["events"]]
    assert hidden["events"][:-1] == without and hidden["complete"] is True
    device(home, "unlock")
    home.next("revealed")
    assert home.client.read("control.history", id=id)["events"][:len(without)] == told["events"]


def test_what_an_action_opens_is_not_told_while_its_control_is_redacted(home):
    provider = home.provider(button(privacySensitive=True))
    id = home.add(kind=DOOR, device="phone")
    url = f"home://door?code={SECRET}"

    def perform():
        home.tap(id)
        home.next("acting")
        provider.gives(None, op="perform", url=url)
        home.next("performed")
        return home.event.get("interaction")

    assert perform() == {"kind": DOOR, "url": url}
    device(home, "lock")
    home.next("redacted")
    assert perform() is None
    hidden = home.client.read("control.history", id=id)["events"]
    assert SECRET not in json.dumps(hidden) and not any("interaction" in event for event in hidden)
    device(home, "unlock")
    home.next("revealed")
    told = home.client.read("control.history", id=id)["events"]
    assert [event["interaction"] for event in told if "interaction" in event] == [{"kind": DOOR, "url": url}]


CONTENT = {"configuration", "value", "valueSource", "isActive", "status", "tint", "actionHint"}


def test_a_sensitive_control_that_is_placed_on_a_locked_device_is_redacted_from_the_first(home):
    provider = sensitive(home)
    device(home, "lock")
    home.client.applied("control.add", kind=DOOR, device="phone", configuration={"note": SECRET})
    added = home.next("added", isRedacted=True)
    assert SECRET not in json.dumps(added)
    provider.gives({"code": SECRET})
    assert SECRET not in json.dumps(home.next("shown"))
    home.agrees(added["id"])


def test_the_opposite_of_a_value_that_is_hidden_is_told_to_the_provider_alone(home):
    provider = sensitive(home)
    id = home.shown(provider, True, device="phone")
    device(home, "lock")
    home.next("redacted")
    home.tap(id)
    assert "value" not in home.next("acting")
    assert provider.gives(None, op="perform")["value"] is False
    assert "value" not in home.next("performed")
    provider.gives(False)
    assert "value" not in home.next("shown")
    device(home, "unlock")
    home.next("revealed", value=False)
    home.agrees(id)


def test_locking_touches_no_control_that_is_not_sensitive_or_is_elsewhere(home):
    provider = home.provider(toggle(), button(privacySensitive=True))
    home.shown(provider, device="phone")
    home.add(kind=DOOR, device="tablet")
    home.add(kind=DOOR)
    device(home, "lock")
    device(home, "lock")
    device(home, "unlock")
    home.silent()


def test_locking_twice_redacts_once(home):
    provider = sensitive(home)
    id = home.shown(provider, device="phone")
    for event, name in (("lock", "redacted"), ("unlock", "revealed")) * 2:
        device(home, event)
        device(home, event)
        home.next(name, id=id)
    home.silent()


def test_an_app_that_is_uninstalled_takes_its_controls_on_that_device_with_it(home, wire, service):
    provider = home.provider()
    gone, kept = home.shown(provider, device="phone"), home.shown(provider, device="tablet")
    home.client.applied("control.reload", id=gone)
    home.next("reloading")
    call = provider.call("value")
    home.client.read("device.event", device="phone", event="uninstall", app=home.app)
    home.next("removed", id=gone, cause="uninstall")
    provider.cancelled(call, "removed")
    assert [control["id"] for control in home.client.read("control.list")["controls"]] == [kept]
    assert Home(wire, service).client.refused("control.get", id=gone)["code"] == "notFound"

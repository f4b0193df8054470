"""Controls over a restart of the service, killed or stopped: nothing is lost, hangs or is performed again."""

import json
import uuid

import pytest

from support.commands import encode
from support.dates import MINUTE, SECOND, after
from support.durable import Durable
from support.home import Home
from support.provider import DOOR, LAMP, TORCH, RawProvider, button, toggle
from support.wire import Deadline

RESTARTS = ["kill", "stop"]


class House:
    """A durable service and what is seen of the one that runs now."""

    def __init__(self, wire, data):
        self.services = Durable(wire, data)
        self.start()

    def start(self):
        self.services.start()
        self.home = Home(self.services.wire, self.services.service, self.services.app)
        return self.home

    def again(self, how):
        """Ends the service so and starts it again; gives the events that the restart itself made."""
        before = self.home.bulk.digest()["seq"]
        getattr(self.services, how)()
        home = self.start()
        after = home.bulk.digest()["seq"]
        events = [json.loads(body) for _, body in home.bulk.replay(before).rows] if after > before else []
        pulled = home.bulk.snapshot()
        home.replica.load(pulled.rows)
        home.replica.seq = pulled.end["seq"]
        return events

    def provider(self, *kinds, **options):
        return self.home.provider(*kinds, **options)


@pytest.fixture
def house(wire, tmp_path):
    made = House(wire, tmp_path / "data")
    yield made
    made.services.kill()


def names(events):
    return [(event["event"].removeprefix("control."), event["to"], event["cause"]) for event in events]


@pytest.mark.parametrize("how", RESTARTS)
def test_controls_with_all_that_they_show_outlive_a_restart(house, how):
    kinds = [toggle(privacySensitive=True), button(hasValue=True, parameters=[{"name": "room", "type": "string"}])]
    provider = house.provider(*kinds)
    look = {"status": "Lit", "tint": "red", "actionHint": "Hold", "isActive": True}
    ids = [house.home.shown(provider, True, device="phone", look=look),
           house.home.shown(provider, {"rings": [1.5, "é"]}, kind=DOOR, configuration={"room": "hall"}),
           house.home.shown(provider, False, look={"disabled": True})]
    house.home.client.read("device.event", device="phone", event="lock")
    house.home.next("redacted")
    before = {id: house.home.get(id) for id in ids if house.home.agrees(id)}
    digest = house.home.bulk.digest()["digest"]
    assert house.again(how) == []
    assert {id: house.home.get(id) for id in ids} == before
    assert house.home.bulk.digest()["digest"] == house.home.replica.digest == digest
    rows = {row["kind"]: row for row in house.home.client.read("control.kinds")["kinds"]}
    assert [rows[kind["kind"]]["declaration"] for kind in kinds] == kinds
    assert {row["providers"] for row in rows.values()} == {0}
    house.home.client.read("device.event", device="phone", event="unlock")
    house.home.next("revealed", id=ids[0], value=True, tint="red")


@pytest.mark.parametrize("how", RESTARTS)
@pytest.mark.parametrize("template", [toggle(), button(TORCH, hasValue=True)], ids=["toggle", "button"])
def test_an_action_in_the_middle_is_of_unknown_outcome_and_never_sent_again(house, how, template):
    provider = house.provider(template)
    id = house.home.shown(provider, False)
    house.home.tap(id)
    house.home.next("acting")
    action = provider.call("perform")
    made = house.again(how)
    assert names(made)[:2] == [("failed", "shown", "recovery"), ("reloading", "reloading", "recovery")]
    assert made[0]["control"]["failure"] == "unknownOutcome"
    home = house.home
    home.until(id, state="shown", failure="noProvider")
    control = home.agrees(id)
    assert (control["value"], control["valueSource"]) == (False, "provider")
    provider = RawProvider(home.wire, home.service.commands, template, app=home.app, id=provider.id)
    home.next("reloading", id=id, cause="registration")
    call = provider.call("value", TORCH, id)
    provider.answer(action)
    provider.refused("unknownCall", action)
    # It may be older than what the action did.
    provider.answer(call, False)
    home.next("shown", id=id, failure=None)
    provider.gives(True)
    home.until(id, state="shown", value=True)
    provider.uncalled()
    home.agrees(id)


@pytest.mark.parametrize("how", RESTARTS)
def test_an_action_is_heard_to_end_behind_late_answers_to_other_calls_of_the_run_before(house, how):
    provider = house.provider(toggle(), toggle(LAMP))
    id = house.home.shown(provider, False)
    others = [house.home.add(kind=LAMP) for _ in range(2)]
    calls = [provider.call("value", LAMP, other) for other in others]
    house.home.tap(id)
    house.home.next("acting")
    action = provider.call("perform", TORCH, id)
    house.again(how)
    home = house.home
    provider = RawProvider(home.wire, home.service.commands, toggle(), toggle(LAMP), app=home.app, id=provider.id)
    for call in provider.calls(0.3):
        provider.answer(call, False)
    home.until(id, state="shown", failure=None, value=False)
    # Twice, as a provider may say it that heard nothing of the first time; each in a turn of its own.
    for call in 2 * calls:
        provider.answer(call, False)
        provider.refused("unknownCall", call)
        # It may have been the action.
        assert provider.gives(False, control=id)["op"] == "control.value"
        home.until(id, state="shown", cause="provider")
    provider.answer(action)
    provider.refused("unknownCall", action)
    assert provider.gives(True, control=id)["op"] == "control.value"
    home.until(id, state="shown", value=True)
    home.agrees(id)


@pytest.mark.parametrize("how", RESTARTS)
def test_a_button_without_a_value_is_shown_again_after_an_action_that_nobody_knows_of(house, how):
    provider = house.provider(button())
    id = house.home.add(kind=DOOR)
    house.home.tap(id)
    house.home.next("acting")
    provider.call("perform")
    failed = house.again(how)[0]
    assert (failed["event"], failed["control"]["failure"]) == ("control.failed", "unknownOutcome")
    provider = house.provider(button())
    provider.uncalled()
    assert house.home.get(id)["state"] == "shown"


@pytest.mark.parametrize("how", RESTARTS)
@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
def test_a_value_in_the_middle_is_asked_for_again_once_a_provider_has_come(house, how, first):
    provider = house.provider()
    if first:
        id = house.home.add()
    else:
        id = house.home.shown(provider, True)
        house.home.client.applied("control.reload", id=id)
        house.home.next("reloading")
    provider.call("value")
    house.again(how)
    control = house.home.get(id)
    assert control["state"] in (("loading", "preview") if first else ("reloading", "shown"))
    provider = house.provider()
    call = provider.call("value", TORCH, id)
    provider.answer(call, False)
    house.home.until(id, state="shown", valueSource="provider", failure=None, cause="provider")
    provider.uncalled()


@pytest.mark.parametrize("how", RESTARTS)
def test_a_wish_that_waited_behind_an_action_is_dropped_with_it(house, how):
    provider = house.provider()
    id = house.home.shown(provider, False)
    for _ in range(2):
        house.home.tap(id)
        house.home.next("acting")
    provider.call("perform")
    house.again(how)
    provider = house.provider()
    assert provider.gives(True, control=id)["op"] == "control.value"
    house.home.until(id, state="shown", valueSource="provider", failure=None, cause="provider")
    provider.uncalled()
    assert house.home.agrees(id)["value"] is True


@pytest.mark.parametrize("how", RESTARTS)
def test_a_retry_is_still_due_at_its_time(house, how):
    provider = house.provider()
    id = house.home.add()
    provider.fail(provider.call("value"))
    due = house.home.next("failed")["next"]
    house.again(how)
    assert house.home.get(id)["next"] == due
    home = house.home
    provider = house.provider(toggle(), register=False)
    home.client.advance(to=due["at"] - 1)
    home.silent()
    home.client.advance(by=1)
    home.next("reloading", cause="retry")
    home.next("failed", failure="noProvider")
    provider.register()
    home.next("reloading", cause="registration")
    provider.gives(True)
    home.next("shown")
    home.agrees(id)


@pytest.mark.parametrize("how", RESTARTS)
def test_an_action_that_waits_for_authentication_is_not_performed_without_it(house, how):
    kind = toggle(authenticationPolicy="requiresAuthentication")
    provider = house.provider(kind)
    id = house.home.shown(provider, device="phone")
    house.home.client.read("device.event", device="phone", event="lock")
    house.home.tap(id)
    house.home.next("authenticating")
    house.again(how)
    provider = house.provider(kind)
    calls = provider.calls(0.3)
    assert all(call["op"] == "control.value" for call in calls), "the device is locked still"
    for call in calls:
        provider.answer(call, False)
    step = house.home.client.command("clock.advance", by=MINUTE)
    house.home.client.send(step)
    for call in provider.calls(0.3):
        assert call["op"] == "control.value"
        provider.answer(call, False)
    assert house.home.client.answer_to(step["req"])[0]["now"] == after(MINUTE)
    assert house.home.get(id)["state"] == "shown"


@pytest.mark.parametrize("how", RESTARTS)
def test_a_tap_that_is_sent_again_after_the_restart_is_known(house, how):
    provider = house.provider()
    id = house.home.shown(provider)
    tap = house.home.client.command("control.tap", id=id, client="0198c0de-0000-7000-8000-00000000000c", req="tap-1")
    house.home.client.send(tap)
    [first] = house.home.client.answer_to("tap-1")
    house.home.next("acting")
    provider.gives(None, op="perform")
    house.home.next("performed")
    provider.gives(True)
    house.home.next("shown")
    house.again(how)
    provider = house.provider()
    for call in provider.calls():
        provider.answer(call, True)
    house.home.client.send(tap)
    [again] = house.home.client.answer_to("tap-1")
    assert again == first
    assert all(call["op"] == "control.value" for call in provider.calls(0.3))


@pytest.mark.parametrize("how", RESTARTS)
def test_history_and_explain_reach_back_over_a_restart(house, how):
    provider = house.provider()
    id = house.home.shown(provider)
    house.home.client.advance(by=SECOND)
    house.home.client.applied("control.reload", id=id)
    house.home.next("reloading")
    provider.gives(True)
    house.home.next("shown")
    history = house.home.client.read("control.history", id=id)["events"]
    assert [event["event"] for event in history] == [
        "control.added", "control.shown", "control.reloading", "control.shown"]
    house.again(how)
    assert house.home.client.read("control.history", id=id)["events"] == history
    decisions = house.home.client.read("control.explain", id=id)["decisions"]
    assert [decision["revision"] for decision in decisions] == [1, 2, 3, 4]


def test_controls_that_were_removed_stay_removed(house):
    provider = house.provider()
    ids = [house.home.shown(provider) for _ in range(3)]
    house.home.client.applied("control.remove", id=ids[1])
    house.again("kill")
    assert [row["id"] for row in house.home.client.read("control.list")["controls"]] == [ids[0], ids[2]]
    assert house.home.client.refused("control.get", id=ids[1])["code"] == "notFound"


def test_a_call_that_was_lost_is_dated_before_what_came_due_while_the_service_was_down(house):
    """On the manual clock each event has the date at which it was due, and a stream's dates never go back."""
    provider = house.provider(toggle())
    home = house.home
    id = home.shown(provider, False)
    home.client.start(app=home.client.app, staleDate=after(SECOND))
    home.tap(id)
    provider.call("perform")
    before = home.bulk.digest()["seq"]
    house.services.kill()
    house.services.start(clock=f"manual={after(MINUTE)}")
    client = house.services.client
    assert client.read("service.ping")["now"] == after(MINUTE)
    client.advance(by=0)
    events = [json.loads(body) for _, body in house.services.bulk().replay(before).rows]
    told = [(event["event"], event["at"]) for event in events]
    assert ("activity.stale", after(SECOND)) in told and "control.failed" in dict(told), told
    assert [at for _, at in told] == sorted(at for _, at in told), told


@pytest.mark.parametrize("how", RESTARTS)
def test_a_step_of_the_clock_that_was_cut_goes_where_it_was_to_go_when_it_is_asked_for_again(house, how):
    """On its way the clock stops where a provider is asked, and there the service ends."""
    provider = house.provider()
    id = house.home.add()
    provider.fail(provider.call("value", TORCH, id))
    house.home.next("failed", id=id)
    client = house.home.client
    begun = client.advance(by=0)
    frame = client.command("clock.advance", client=str(uuid.uuid4()), req="step", by=24 * 60 * MINUTE)
    client.send(frame)
    provider.call("value", TORCH, id)
    house.home.next("reloading", id=id)
    asked = house.home.event["at"]
    assert begun < asked < begun + 24 * 60 * MINUTE
    house.again(how)
    client = house.home.client
    assert client.read("service.ping")["now"] >= asked
    [answer] = client.raw(encode(frame))
    assert answer["now"] == begun + 24 * 60 * MINUTE
    assert client.raw(encode(frame)) == [answer]
    assert client.advance(by=1) == answer["now"] + 1


@pytest.mark.parametrize("how", ["registered", "not registered"])
def test_an_action_that_ends_after_the_restart_has_its_value_asked_for_again(house, how):
    lamp = toggle(LAMP, reloadsSiblings=True)
    provider = house.provider(lamp)
    ids = [house.home.shown(provider, kind=LAMP) for _ in range(2)]
    other = house.provider(toggle())
    torch = house.home.shown(other)
    house.home.tap(ids[0])
    action = provider.call("perform")
    house.again("kill")
    home = house.home
    again = RawProvider(home.wire, home.service.commands, lamp, toggle(), app=home.app)
    for _ in ids + [torch]:
        again.gives(False)
    for id in ids + [torch]:
        home.until(id, state="shown", value=False, failure=None, cause="provider")
    # Now it has its effect.
    if how == "registered":
        provider = again
    else:
        provider.socket = home.wire.socket("DEALER", home.service.commands)
    provider.answer(action)
    provider.refused("unknownCall" if how == "registered" else "notFound", action)
    asked, deadline = set(), Deadline()
    while asked != set(ids) or any(home.get(id)["state"] != "shown" for id in ids):
        assert not deadline.passed, asked
        for call in again.calls():
            asked.add(call["control"])
            again.answer(call, True)
    assert [home.get(id)["value"] for id in [*ids, torch]] == [True, True, False]


def returned(house, id, *kinds):
    """A provider that came back after a restart, and that has said that everything is off."""
    home = house.home
    provider = RawProvider(home.wire, home.service.commands, *kinds, app=home.app, id=id)
    rows = home.client.read("control.list")["controls"]
    for _ in rows:
        provider.gives(False)
    for row in rows:
        home.until(row["id"], state="shown", value=False, failure=None, cause="provider")
    return provider


def ended_late(provider, action):
    provider.answer(action)
    provider.refused("unknownCall", action)


@pytest.mark.parametrize("how", RESTARTS)
@pytest.mark.parametrize("end", ["interrupted", "timed out", "configured", "lost"])
def test_an_action_that_was_given_up_is_heard_to_end_after_more_restarts(house, end, how):
    lamp = toggle(LAMP, reloadsSiblings=True, actionDeadline=50 if end == "timed out" else 30_000)
    provider = house.provider(lamp, toggle())
    ids = [house.home.shown(provider, kind=LAMP) for _ in range(2)]
    house.home.shown(provider)
    house.home.tap(ids[0])
    action = provider.call("perform")
    if end == "timed out":
        house.home.until(ids[0], failure="timedOut")
    elif end == "configured":
        house.home.client.applied("control.configure", id=ids[0], configuration={})
    elif end == "lost":
        provider.leave()
        house.home.until(ids[0], failure="providerLost")
    for _ in range(2):
        house.again(how)
        provider = returned(house, provider.id, lamp, toggle())
    ended_late(provider, action)
    asked, deadline = set(), Deadline()
    while asked != set(ids) or any(house.home.get(id)["state"] != "shown" for id in ids):
        assert not deadline.passed, asked
        for call in provider.calls():
            asked.add(call["control"])
            provider.answer(call, True)
    assert [house.home.get(id)["value"] for id in ids] == [True, True]


def test_an_action_that_was_given_up_is_forgotten_after_its_ten_minutes(house):
    provider = house.provider(toggle())
    id = house.home.shown(provider)
    house.home.tap(id)
    action = provider.call("perform")
    house.again("kill")
    provider = returned(house, provider.id, toggle())
    house.home.client.advance(by=10 * MINUTE - 1)
    house.again("kill")
    provider = returned(house, provider.id, toggle())
    ended_late(provider, action)
    assert provider.gives(False)["op"] == "control.value"
    house.home.until(id, state="shown", cause="provider")
    house.home.client.advance(by=1)
    house.again("kill")
    provider = returned(house, provider.id, toggle())
    ended_late(provider, action)
    provider.uncalled()

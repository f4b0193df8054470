"""The life of a control, row by row of the fact sheet's table: its values (C1 to C7), its settings and its end."""

import json

import pytest

from support.dates import EPOCH, SECOND, after
from support.durable import Durable
from support.provider import DOOR, LAMP, TORCH, RawProvider, button, toggle

ROOM = {"name": "room", "type": "string"}


def test_c1_a_gallery_shows_the_preview_and_asks_nobody(home):
    provider = home.provider(toggle(previewValue=True, displayName="Torch"))
    preview = home.client.read("control.preview", kind=TORCH)["preview"]
    assert (preview["state"], preview["value"]) == ("preview", True)
    assert preview["kind"]["displayName"] == "Torch"
    provider.uncalled()
    home.silent()


def test_c1_a_toggle_previews_off_where_its_kind_does_not_say(home):
    home.provider()
    assert home.client.read("control.preview", kind=TORCH)["preview"]["value"] is False


def test_a_kind_that_nobody_declared_can_be_neither_previewed_nor_placed(home):
    for op in ("preview", "add"):
        error = home.client.refused(f"control.{op}", kind=TORCH)
        assert (error["code"], error["detail"]) == ("notFound", {"kind": TORCH})


def test_c2_a_control_that_is_added_loads_with_the_preview_and_its_value_is_asked_for(home):
    provider = home.provider(toggle(previewValue=True, parameters=[ROOM]))
    answer = home.client.applied("control.add", kind=TORCH, configuration={"room": "hall"}, device="phone")
    added = home.next("added", cause="command")
    assert home.event.get("from") is None and home.event["to"] == "loading"
    id = answer["control"]["id"]
    assert answer["control"] == {"id": id, "revision": 1, "state": "loading"}
    assert added == {
        "id": id, "app": home.app, "kind": TORCH, "device": "phone", "template": "toggle", "state": "loading",
        "revision": 1, "configuration": {"room": "hall"}, "value": True, "valueSource": "preview", "isDisabled": False,
        "isRedacted": False, "addedAt": EPOCH, "cause": "command"}
    call = provider.call("value", TORCH, id)
    assert 0 < call.pop("within") <= 30_000 and call.pop("call")
    assert call == {"op": "control.value", "app": home.app, "kind": TORCH, "control": id, "attempt": 1,
                    "configuration": {"room": "hall"}, "device": "phone"}
    assert home.agrees(id) == added


def test_c2_the_client_may_choose_the_id_which_is_one_controls_forever(home):
    provider = home.provider()
    id = home.add(id="0198c0de-0000-7000-8000-000000000001")
    provider.gives(False)
    assert home.client.refused("control.add", kind=TORCH, id=id)["code"] == "reconnectNotPermitted"
    assert home.client.refused("control.get", id=id, app="com.example.other")["code"] == "notFound"


def test_c2_a_button_without_a_value_is_shown_at_once(home):
    provider = home.provider(button())
    id = home.add(kind=DOOR)
    provider.uncalled()
    control = home.agrees(id)
    assert control["state"] == "shown" and "value" not in control


def test_c3_the_first_value_is_shown(home):
    provider = home.provider()
    home.client.advance(by=SECOND)
    id = home.add()
    provider.gives(True, control=id, status="Lit", isActive=True, tint="yellow", actionHint="Switch")
    home.next("shown", cause="provider", state="shown", value=True, valueSource="provider", valueAt=after(SECOND),
              status="Lit", isActive=True, tint="yellow", actionHint="Switch")
    assert (home.event["from"], home.event["to"]) == ("loading", "shown")
    assert home.agrees(id)["revision"] == 2


def test_c3_the_value_of_a_button_is_any_json(home):
    provider = home.provider(button(hasValue=True, previewValue={"rings": 0}))
    id = home.add(kind=DOOR)
    assert home.entity(id)["value"] == {"rings": 0}
    provider.gives({"rings": [1, "two", None, 3.5]})
    home.next("shown", value={"rings": [1, "two", None, 3.5]})
    home.agrees(id)


def test_c1_a_button_keeps_the_preview_that_it_was_placed_with_whatever_its_kind_has_later(wire, tmp_path):
    house = Durable(wire, tmp_path / "data").start()
    try:
        def register(preview):
            """By somebody who goes again at once, so that no value is known."""
            bell = button(hasValue=True, previewValue=preview)
            RawProvider(wire, house.service.commands, bell, app=house.app).leave()

        def shown():
            return {id: house.client.read("control.get", id=id)["control"].get("value") for id in ids}

        register({"rings": 0})
        ids = [house.client.applied("control.add", kind=DOOR)["control"]["id"]]
        register({"rings": 1})
        ids.append(house.client.applied("control.add", kind=DOOR)["control"]["id"])
        kept = {ids[0]: {"rings": 0}, ids[1]: {"rings": 1}}
        assert shown() == kept
        rows = [json.loads(body)["control"] for _, body in house.bulk().snapshot().rows]
        assert {row["id"]: row["value"] for row in rows} == kept
        for preview in ({"rings": 1}, {"rings": 2}, {"rings": 3}):
            register(preview)
            house.restart()
            assert shown() == kept
    finally:
        house.kill()


def test_c4_a_first_value_that_fails_leaves_the_preview_marked_as_unknown_and_is_asked_for_again(home):
    provider = home.provider(toggle(previewValue=True))
    id = home.add()
    provider.fail(provider.call("value"), message="no battery")
    patch = home.next("failed", state="preview", failure="threw")
    assert (home.event["from"], home.event["to"]) == ("loading", "preview")
    assert after(800) <= patch["next"]["at"] <= after(1_200) and patch["next"]["cause"] == "retry"
    control = home.agrees(id)
    assert (control["value"], control["valueSource"]) == (True, "preview") and "valueAt" not in control
    provider.uncalled()
    step = home.client.command("clock.advance", to=patch["next"]["at"])
    home.client.send(step)
    home.next("reloading", cause="retry", state="loading", next=None)
    provider.gives(False, control=id)
    home.next("shown", value=False, failure=None)
    assert home.client.answer_to(step["req"])[0]["ok"]
    home.agrees(id)


def test_c4_a_first_value_that_does_not_come_in_time_fails(home):
    provider = home.provider(toggle(valueDeadline=50))
    id = home.add()
    call = provider.call("value")
    home.next("failed", cause="timeout", state="preview", failure="timedOut")
    provider.cancelled(call, "timedOut")
    home.agrees(id)


def test_a_control_without_a_provider_loads_when_one_comes_and_has_no_timer_until_then(home):
    home.provider().leave()
    id = home.add()
    home.next("failed", cause="provider", state="preview", failure="noProvider", next=None)
    home.client.advance(by=3600 * SECOND)
    home.silent()
    other = home.provider()
    home.next("reloading", cause="registration", state="loading")
    other.gives(True, control=id)
    home.next("shown", value=True, failure=None)
    home.agrees(id)


@pytest.mark.parametrize("source, cause", [(None, "request"), ("push", "push")])
def test_c5_a_reload_by_id_keeps_the_value_on_screen_until_the_new_one_is_there(home, source, cause):
    provider = home.provider()
    id = home.shown(provider, True)
    answer = home.client.applied("control.reload", id=id, source=source)
    assert answer["control"] == {"id": id, "revision": 3, "state": "reloading"}
    home.next("reloading", cause=cause, state="reloading", value=None)
    call = provider.call("value", TORCH, id)
    control = home.agrees(id)
    assert (control["value"], control["valueSource"], control["state"]) == (True, "provider", "reloading")
    provider.answer(call, False)
    home.next("shown", value=False)
    home.agrees(id)


def test_c5_a_reload_by_kind_and_of_all_asks_for_each_control_once(home):
    provider = home.provider(toggle(), toggle(LAMP))
    torches = {home.shown(provider) for _ in range(3)}
    lamps = {home.shown(provider, kind=LAMP) for _ in range(2)}
    for fields, wanted in (({"kind": LAMP}, lamps), ({}, torches | lamps)):
        answer = home.client.applied("control.reload", **fields)
        assert answer["count"] == len(wanted) and "control" not in answer
        assert {home.next("reloading", cause="request")["id"] for _ in wanted} == wanted
        calls = [provider.call("value") for _ in wanted]
        assert {call["control"] for call in calls} == wanted
        for call in calls:
            provider.answer(call, True)
        for _ in wanted:
            home.next("shown")
    provider.uncalled()


def test_c5_a_reload_counts_the_controls_that_are_asked(home):
    provider = home.provider(toggle(), button())
    home.add(kind=DOOR)
    home.shown(provider)
    assert home.client.applied("control.reload")["count"] == 1
    assert home.client.applied("control.reload", kind=DOOR)["count"] == 0


def test_c5_a_reload_of_what_there_is_not(home):
    home.provider(toggle(), button())
    id = home.add(kind=DOOR)
    assert home.client.applied("control.reload", kind=TORCH)["count"] == 0
    assert home.client.refused("control.reload", kind=LAMP)["code"] == "notFound"
    assert home.client.refused("control.reload", id=id, kind=DOOR)["code"] == "badField"
    assert home.client.refused("control.reload", id="0198c0de-0000-7000-8000-000000000001")["code"] == "notFound"
    assert home.client.applied("control.reload", app="com.example.other")["count"] == 0


def test_c5_a_reload_while_a_value_is_on_its_way_asks_once_more_and_not_twice(home):
    provider = home.provider()
    id = home.shown(provider)
    home.client.applied("control.reload", id=id)
    home.next("reloading")
    first = provider.call("value")
    for _ in range(3):
        home.client.applied("control.reload", id=id)
    provider.uncalled()
    provider.answer(first, False)
    home.next("shown")
    home.next("reloading", cause="request")
    provider.gives(True)
    home.next("shown", value=True)
    provider.uncalled()
    home.agrees(id)


def test_c6_the_new_value_replaces_the_last_one_with_its_looks(home):
    provider = home.provider()
    id = home.shown(provider, False, look={"tint": "red", "isActive": True})
    home.client.advance(by=5 * SECOND)
    home.client.applied("control.reload", id=id)
    home.next("reloading")
    provider.gives(True, actionHint="Hold")
    home.next("shown", state="shown", value=True, valueAt=after(5 * SECOND), tint=None, actionHint="Hold")
    assert (home.event["from"], home.event["to"]) == ("reloading", "shown")
    control = home.agrees(id)
    assert "tint" not in control and "isActive" not in control


def test_c7_a_value_that_fails_keeps_the_last_one_and_is_tried_again_with_growing_waits(home):
    provider = home.provider()
    id = home.shown(provider, True)
    home.client.applied("control.reload", id=id)
    home.next("reloading")
    waits, now = [], EPOCH
    for _ in range(4):  # five failures in a row would open the breaker
        provider.fail(provider.call("value", TORCH, id))
        due = home.next("failed", state="shown", value=None)["next"]
        control = home.agrees(id)
        assert (control["value"], control["failure"], due["cause"]) == (True, "threw", "retry")
        waits.append(due["at"] - now)
        now = due["at"]
        step = home.client.command("clock.advance", to=now)
        home.client.send(step)
        home.next("reloading", cause="retry", state="reloading")
        assert home.event["at"] == now
    provider.gives(False)
    home.next("shown", value=False, failure=None)
    assert home.client.answer_to(step["req"])[0]["now"] == now
    for number, wait in enumerate(waits):
        assert 0.8 * SECOND <= wait / 2**number <= 1.2 * SECOND, waits
    assert len({round(wait / 2**number) for number, wait in enumerate(waits)}) > 1, "no jitter"
    home.agrees(id)


def test_c15_a_new_configuration_loads_anew_and_its_value_is_asked_for(home):
    provider = home.provider(toggle(parameters=[ROOM]))
    id = home.shown(provider, True, look={"status": "Lit"}, configuration={"room": "hall"})
    assert home.client.ignored("control.configure", id=id, configuration={"room": "hall"}) == "unchanged"
    [answer] = home.client.raw((
        '{"op":"control.configure","app":"%s","id":"%s","configuration":{ "room" : "\\u0068all" }}'
        % (home.app, id)).encode())
    assert answer["outcome"] == "ignored"
    home.silent()
    home.client.applied("control.configure", id=id, configuration={"room": "attic"})
    patch = home.next("configured", cause="configuration", state="loading", configuration={"room": "attic"})
    assert (patch["value"], patch["valueSource"], patch["valueAt"], patch["status"]) == (False, "preview", None, None)
    call = provider.gives(True)
    assert call["configuration"] == {"room": "attic"}
    home.next("shown", value=True)
    home.agrees(id)


@pytest.mark.parametrize("acting", [False, True])
def test_c15_whatever_was_asked_for_before_is_cancelled_and_its_answer_does_not_count(home, acting):
    provider = home.provider(toggle(parameters=[ROOM]))
    id = home.shown(provider, False, configuration={"room": "hall"})
    home.client.applied("control.tap" if acting else "control.reload", id=id)
    home.next("acting" if acting else "reloading")
    old = provider.call("perform" if acting else "value")
    home.client.applied("control.configure", id=id, configuration={"room": "attic"})
    home.next("configured", state="loading")
    provider.cancelled(old, "superseded")
    provider.answer(old, True)
    new = provider.call("value")
    assert new["configuration"] == {"room": "attic"}
    home.silent()
    provider.answer(new, False)
    home.next("shown", value=None)
    if acting:
        # It has happened all the same, and later than the value may be from.
        home.next("reloading")
        provider.gives(True)
        home.next("shown", value=True)
    home.agrees(id)


def test_a_configuration_that_does_not_fit_is_refused_with_its_parameter(home):
    mode = {"name": "mode", "type": "enum", "options": [{"value": "dim"}, {"value": "full"}], "default": "full"}
    level = {"name": "level", "type": "integer", "isOptional": True}
    provider = home.provider(toggle(parameters=[ROOM, mode, level]))
    id = home.shown(provider, configuration={"room": "hall", "mode": "dim", "level": 3})
    for configuration, parameter in (
            ({}, "room"), ({"room": 7}, "room"), ({"room": None}, "room"), ({"room": "hall", "floor": 1}, "floor"),
            ({"room": "hall", "mode": "loud"}, "mode"), ({"room": "hall", "level": 1.5}, "level")):
        for op, target in (("add", {"kind": TORCH}), ("configure", {"id": id})):
            error = home.client.refused(f"control.{op}", configuration=configuration, **target)
            assert error["code"] == "badField", (configuration, error)
            assert error["detail"] == {"field": "configuration", "parameter": parameter}, (configuration, error)
    home.silent()


@pytest.mark.parametrize("acting", [False, True])
def test_c16_a_control_that_is_removed_is_gone_and_its_call_is_cancelled(home, acting):
    provider = home.provider()
    id = home.shown(provider)
    home.client.applied("control.tap" if acting else "control.reload", id=id)
    home.next("acting" if acting else "reloading")
    call = provider.call("perform" if acting else "value")
    assert home.client.applied("control.remove", id=id)["control"]["state"] == "removed"
    home.next("removed", cause="command", state="removed")
    provider.cancelled(call, "removed")
    provider.answer(call, True)
    for op in ("get", "tap", "reload", "remove"):
        assert home.client.refused(f"control.{op}", id=id)["code"] == "notFound"
    assert home.client.read("control.list")["controls"] == []
    assert home.bulk.digest()["digest"] == home.replica.digest
    home.silent()
    provider.uncalled()

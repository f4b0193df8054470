"""Providers: who may declare what, and who gets which call while they come, rest and go."""

import pytest

from support.home import Home
from support.provider import DOOR, LAMP, TORCH, RawProvider, button, toggle


def listed(home):
    """`provider.list`, by the ids of the providers."""
    return {row["id"]: row for row in home.client.read("provider.list", app=None)["providers"]}


def given(name, value):
    """A member, or none where the value is None."""
    return {} if value is None else {name: value}


# Declaring


def test_a_registration_is_answered_with_what_the_service_expects(home):
    provider = home.provider(toggle(), button(), register=False)
    answer = provider.register(capacity=3)
    answer.pop("req")
    assert answer == {"ok": True, "provider": provider.id, "pingEvery": 5_000, "pingLimit": 15_000,
                      "kinds": [TORCH, DOOR]}
    row = listed(home)[provider.id]
    assert row.pop("age") >= 0 and row.pop("silence") >= 0
    assert row == {"id": provider.id, "app": home.app, "kinds": [TORCH, DOOR], "state": "live", "capacity": 3,
                   "inFlight": 0, "waiting": 0, "calls": 0, "failures": 0, "late": 0, "unknown": 0}


def test_a_kind_may_have_many_providers_that_declare_it_alike(home):
    """Alike is what it means: the order of members and what is the default anyway make no difference."""
    home.provider({"kind": TORCH, "template": "toggle"})
    home.provider({"hasValue": True, "template": "toggle", "previewValue": False, "kind": TORCH, "valueDeadline": 1_000,
                   "actionDeadline": 10_000, "parameters": [], "privacySensitive": False,
                   "authenticationPolicy": "alwaysAllowed", "displayName": None})
    [row] = home.client.read("control.kinds")["kinds"]
    assert row["providers"] == 2


def test_a_second_provider_that_declares_a_kind_differently_is_refused_with_the_difference(home):
    room = [{"name": "room", "type": "string"}]
    for member, declared, offered in (
            ("displayName", "Torch", "Lamp"), ("displayName", None, "Lamp"), ("previewValue", None, True),
            ("valueDeadline", 30_000, 20_000), ("actionDeadline", 30_000, 20_000), ("privacySensitive", None, True),
            ("reloadsSiblings", True, None), ("authenticationPolicy", None, "requiresAuthentication"),
            ("promptsForUserConfiguration", True, None), ("tint", "red", "blue"), ("actionHint", "Hold", None),
            ("description", "It shines", None), ("parameters", None, room)):
        first = home.provider(toggle(**given(member, declared)))
        second = home.provider(button(), toggle(**given(member, offered)), register=False)
        error = second.try_to_register()["error"]
        assert (error["code"], error["retry"]) == ("conflict", "refresh"), member
        assert error["detail"] == {
            "kind": TORCH, "member": member, **given("declared", declared), **given("offered", offered)}
        assert list(listed(home)) == [first.id]
        assert [row["kind"] for row in home.client.read("control.kinds")["kinds"]] == [TORCH], "all kinds or none"
        first.leave()


def test_another_template_is_refused_too(home):
    home.provider()
    detail = home.provider(button(TORCH), register=False).try_to_register()["error"]["detail"]
    assert (detail["member"], detail["declared"], detail["offered"]) == ("template", "toggle", "button")


@pytest.mark.parametrize("by", ["itself", "its successor"])
def test_a_kind_is_declared_anew_where_nobody_else_lives_by_the_old_declaration(home, by):
    first = home.provider(toggle(displayName="Torch"))
    id = home.shown(first)
    if by == "itself":
        first.register(kinds=[toggle(displayName="Light")])
    else:
        first.leave()
        second = home.provider(toggle(displayName="Light"))
        home.next("reloading", id=id, cause="registration")
        second.gives(True)
        home.next("shown")
    preview = home.client.read("control.preview", kind=TORCH)["preview"]
    assert preview["kind"]["displayName"] == "Light"


def test_what_placed_controls_are_made_of_is_not_declared_anew(home):
    first = home.provider()
    id = home.shown(first)
    error = first.try_to_register(kinds=[button(TORCH)])["error"]
    assert (error["code"], error["detail"]["member"]) == ("conflict", "template")
    home.client.applied("control.remove", id=id)
    home.next("removed")
    first.register(kinds=[button(TORCH)])


def test_two_apps_may_have_a_kind_of_one_name(home, wire, service):
    other = Home(wire, service, "com.example.other")
    mine, its = home.provider(toggle(displayName="Mine")), other.provider(toggle(displayName="Its"))
    home.shown(mine)
    other.shown(its)
    mine.uncalled()


BAD = [
    ("kind", None, "kind"), ("kind", "", "kind"), ("kind", 7, "kind"), ("kind", "a/b", "kind"),
    ("template", None, "template"), ("template", "slider", "template"), ("template", True, "template"),
    ("displayName", 7, "displayName"), ("displayName", "x" * 257, "displayName"),
    ("previewValue", "on", "previewValue"), ("hasValue", False, "hasValue"), ("reloadsSiblings", 1, "reloadsSiblings"),
    ("authenticationPolicy", "never", "authenticationPolicy"), ("valueDeadline", 9, "valueDeadline"),
    ("valueDeadline", 60_001, "valueDeadline"), ("actionDeadline", "1s", "actionDeadline"),
    ("actionDeadline", 10.5, "actionDeadline"), ("colour", "red", "colour"), ("parameters", {}, "parameters"),
    ("parameters", [{"type": "string"}], "parameters[0].name"),
    ("parameters", [{"name": "a", "type": "date"}], "parameters[0].type"),
    ("parameters", [{"name": "a", "type": "string"}, {"name": "a", "type": "string"}], "parameters[1].name"),
    ("parameters", [{"name": "a", "type": "enum"}], "parameters[0].options"),
    ("parameters", [{"name": "a", "type": "integer", "default": "1"}], "parameters[0].default"),
    ("parameters", [{"name": "a", "type": "enum", "options": [{"value": 1}]}], "parameters[0].options[0].value"),
    ("parameters", ["room"], "parameters[0]"),
    ("parameters", [{"name": str(n), "type": "string"} for n in range(33)], "parameters"),
]


def test_a_bad_declaration_is_refused_with_its_place_and_nothing_is_registered(home):
    provider = home.provider(register=False)
    for member, value, place in BAD:
        declaration = {**toggle(LAMP), member: value}
        error = provider.try_to_register(kinds=[toggle(), declaration])["error"]
        assert error["code"] == "badField", (member, value, error)
        assert error["detail"] == {"field": "kinds", "index": 1, "member": place}, (member, value, error)
    error = provider.try_to_register(kinds=[toggle(), toggle()])["error"]
    assert error["detail"] == {"field": "kinds", "index": 1, "member": "kind"}
    assert listed(home) == {} and home.client.read("control.kinds")["kinds"] == []


def test_a_bad_registration_is_refused_with_its_field(home):
    provider = home.provider(register=False)
    for members, code, field in (
            ({"kinds": None}, "missingField", "kinds"), ({"kinds": []}, "badField", "kinds"),
            ({"kinds": {}}, "badField", "kinds"), ({"kinds": ["torch"]}, "badField", "kinds"),
            ({"kinds": [toggle(f"k{n}") for n in range(65)]}, "badField", "kinds"),
            ({"capacity": 0}, "badField", "capacity"), ({"capacity": 1_025}, "badField", "capacity"),
            ({"capacity": "16"}, "badField", "capacity"), ({"provider": None}, "missingField", "provider"),
            ({"provider": "me"}, "badField", "provider"), ({"app": None}, "missingField", "app"),
            ({"speed": 1}, "unknownField", "speed")):
        error = provider.try_to_register(**members)["error"]
        assert (error["code"], error["detail"]["field"]) == (code, field), (members, error)
    assert listed(home) == {}


# Who gets which call


def test_the_least_loaded_provider_gets_a_call_and_the_first_among_equals(home):
    small, large = home.provider(capacity=2), home.provider(capacity=4)
    ids = [home.add() for _ in range(6)]
    got = {small: [small.call()["control"] for _ in range(2)], large: [large.call()["control"] for _ in range(4)]}
    # Shares in flight: 0/2 0/4 → small, 1/2 0/4 → large, 1/2 1/4 → large, 1/2 2/4 → small, 2/2 2/4 → large, large.
    assert got == {small: [ids[0], ids[3]], large: [ids[1], ids[2], ids[4], ids[5]]}
    assert {row["inFlight"] for row in listed(home).values()} == {2, 4}


def test_no_provider_gets_more_calls_at_a_time_than_it_takes(home):
    provider = home.provider(capacity=2)
    ids = [home.add() for _ in range(7)]
    done = []
    calls = [provider.call(), provider.call()]
    row = listed(home)[provider.id]
    assert (row["inFlight"], row["waiting"]) == (2, 5)
    provider.uncalled()
    while calls:
        provider.answer(calls[0], True)
        done.append(calls.pop(0)["control"])
        if len(done) + len(calls) < len(ids):
            calls.append(provider.call())
    assert done == ids, "first come, first served"


def test_the_time_that_a_call_waits_counts(home):
    provider = home.provider(toggle(), toggle(LAMP, valueDeadline=50), capacity=1)
    first, second = home.add(), home.add(kind=LAMP)
    call = provider.call(control=first)
    home.next("failed", id=second, failure="timedOut")
    assert listed(home)[provider.id]["calls"] == 1, "it was never sent"
    provider.answer(call, True)
    home.next("shown", id=first)
    provider.uncalled()


def test_an_action_goes_before_the_values_that_wait(home):
    provider = home.provider(toggle(), toggle(LAMP), capacity=1)
    id = home.shown(provider)
    others = [home.add(kind=kind) for kind in (LAMP, TORCH, LAMP, TORCH)]
    call = provider.call("value")
    home.tap(id)
    home.next("acting")
    provider.answer(call, True)
    assert provider.call("perform")["control"] == id
    assert call["control"] == others[0]


def test_more_actions_than_may_wait_are_busy_and_change_nothing(home):
    """1 024 of a kind may wait."""
    provider = home.provider(button(), capacity=1)
    ids, refused = [], 0
    for _ in range(11):
        adds = [home.client.command("control.add", kind=DOOR) for _ in range(100)]
        ids += [answer["control"]["id"] for answer in home.client.batch(*adds)]
    for start in range(0, len(ids), 100):
        taps = [home.client.command("control.tap", id=id) for id in ids[start:start + 100]]
        refused += sum(not answer["ok"] for answer in home.client.batch(*taps))

    def count(member, value):
        return [entity.get(member) for entity in home.replica.entities.values()].count(value)

    while refused + count("failure", "busy") < 75 or len(home.replica.entities) < 1_100:
        home.next()
    assert (count("state", "acting"), count("state", "shown"), refused + count("failure", "busy")) == (1_025, 75, 75)
    assert (listed(home)[provider.id]["inFlight"], listed(home)[provider.id]["waiting"]) == (1, 1_024)
    provider.leave()
    while count("state", "acting"):
        home.next()
    assert count("state", "shown") == 1_100, "nobody can perform them any more"


def test_a_provider_that_drains_gets_no_new_calls_and_ends_those_that_it_has(home):
    first, second = home.provider(), home.provider()
    id, other = home.add(), home.add()
    call, held = first.call(control=id), second.call(control=other)
    first.drain()
    first.drain()
    assert listed(home)[first.id]["state"] == "draining"
    ids = [home.add() for _ in range(3)]
    for id in ids:
        second.gives(True, control=id)
        home.next("shown", id=id)
    first.answer(call, True)
    home.next("shown", id=call["control"])
    first.uncalled()
    second.drain()
    assert home.client.refused("control.tap", id=id)["detail"]["reason"] == "noProvider"
    second.answer(held, True)
    home.next("shown", id=other)
    first.register()
    assert listed(home)[first.id]["state"] == "live"
    home.next("reloading", cause="registration")
    first.call()


def test_what_waits_for_a_provider_that_drains_alone_has_no_provider(home):
    provider = home.provider(capacity=1)
    first, second = home.add(), home.add()
    call = provider.call(control=first)
    provider.drain()
    home.next("failed", id=second, failure="noProvider")
    provider.answer(call, True)
    home.next("shown", id=first)


def test_another_provider_takes_over_the_values_of_one_that_leaves(home):
    first, second = home.provider(), home.provider()
    id = home.add()
    call = first.call(control=id)
    first.leave()
    again = second.call("value", TORCH, id)
    assert again["attempt"] == 2 and again["call"] != call["call"] and again["within"] <= call["within"]
    second.answer(again, True)
    home.next("shown", value=True)
    assert home.event["seq"] == 2, "nobody saw a failure"
    assert list(listed(home)) == [second.id]


def test_an_action_of_one_that_leaves_is_lost_and_performed_by_nobody_else(home):
    first, second = home.provider(), home.provider()
    id = home.shown(first)
    home.tap(id)
    home.next("acting")
    first.call("perform")
    first.leave()
    home.next("failed", cause="providerLost", failure="providerLost", state="shown", value=False)
    home.next("reloading", cause="action")
    second.gives(True)
    home.next("shown", value=True)
    second.uncalled()


def test_a_connection_that_goes_without_a_word_is_noticed_at_the_next_call_at_the_latest(home):
    first, second = home.provider(), home.provider(capacity=2)
    id = home.shown(first)
    home.tap(id)
    home.next("acting")
    first.call("perform")
    held = home.add()
    second.call(control=held)
    first.disconnect()
    other = home.add()  # less is in flight at the first one
    home.next("failed", id=id, failure="providerLost")
    home.next("reloading", id=id)
    assert second.gives(True)["control"] == other
    home.next("shown", id=other)
    second.gives(True, control=id)
    home.next("shown", id=id, value=True)
    assert list(listed(home)) == [second.id]


@pytest.mark.xfail(strict=True, reason="whoever registers while a dead one is still listed is not asked")
def test_a_provider_that_died_unnoticed_and_came_again_is_asked_for_the_truth(home):
    """Its new process begins with a truth of its own, and registers before anybody knows that the old one is gone."""
    old = home.provider(toggle(), toggle(LAMP))
    id = home.shown(old, True)
    old.disconnect()
    new = home.provider(toggle(), toggle(LAMP))
    home.add(kind=LAMP)  # a call by which the old one is found to be gone
    new.gives(True, kind=LAMP)
    home.next("shown")
    assert list(listed(home)) == [new.id]
    home.next("reloading", id=id, seconds=1)
    new.gives(False, control=id)
    home.next("shown", value=False)


def test_a_failure_that_may_be_retried_is_tried_once_at_another_provider_in_the_same_time(home):
    providers = [home.provider() for _ in range(3)]
    id = home.add()
    first = providers[0].call()
    providers[0].fail(first, retryable=True)
    second = providers[1].call("value", TORCH, id)
    assert second["attempt"] == 2 and second["within"] <= first["within"]
    providers[1].fail(second, retryable=True)
    home.next("failed", id=id, failure="threw")
    for provider in providers:
        provider.uncalled()


def test_a_failure_that_may_be_retried_stands_where_there_is_nobody_else(home):
    provider = home.provider()
    home.add()
    provider.fail(provider.call(), retryable=True)
    home.next("failed", failure="threw")
    provider.uncalled()


def test_a_failure_that_may_not_be_retried_stands(home):
    first, second = home.provider(), home.provider()
    home.add()
    first.fail(first.call(), retryable=False)
    home.next("failed", failure="threw")
    second.uncalled()


def test_a_provider_that_comes_again_over_a_new_connection_gets_its_values_anew_and_its_actions_never(home):
    old = home.provider()
    acting, loading = home.shown(old), home.add()
    home.tap(acting)
    home.next("acting")
    value, action = old.call("value"), old.call("perform")
    new = home.provider(id=old.id)
    home.next("failed", id=acting, failure="providerLost")
    home.next("reloading", id=acting)
    again = [new.call("value"), new.call("value")]
    assert {(call["control"], call["attempt"]) for call in again} == {(loading, 2), (acting, 1)}
    for call in (value, action):
        old.answer(call, True)
        old.refused("notFound", call)
    for call in again:
        new.answer(call, False)
        home.next("shown")
    assert list(listed(home)) == [old.id]
    new.uncalled()


def test_a_provider_that_registers_again_over_its_connection_keeps_its_calls(home):
    provider = home.provider()
    home.add()
    call = provider.call()
    provider.register(kinds=[toggle(), toggle(LAMP)], capacity=2)
    provider.answer(call, True)
    home.next("shown")
    assert listed(home)[provider.id]["kinds"] == [TORCH, LAMP]
    provider.register(kinds=[toggle(LAMP)])
    assert home.client.read("control.kinds")["kinds"][0]["providers"] == 0
    home.add()
    home.next("failed", failure="noProvider")
    provider.uncalled()


def test_only_its_own_connection_speaks_for_a_provider(home):
    provider, stranger = home.provider(), home.provider(register=False)
    home.add()
    call = provider.call()
    for op, members in (("answer", {"value": True}), ("fail", {})):
        stranger.say(f"provider.{op}", provider=provider.id, call=call["call"], **members)
        stranger.refused("notFound", call)
    for op in ("drain", "leave"):
        assert stranger.ask(f"provider.{op}", provider=provider.id)["error"]["code"] == "notFound"
        assert stranger.ask(f"provider.{op}")["error"]["code"] == "notFound"
    stranger.say("provider.pong")
    stranger.refused("notFound")
    home.silent()
    provider.answer(call, True)
    home.next("shown")


def test_one_connection_may_carry_many_providers(home, wire, service):
    first = home.provider()
    second = RawProvider(wire, service.commands, toggle(LAMP), register=False)
    second.socket, second._kept = first.socket, first._kept
    second.register()
    torch, lamp = home.add(), home.add(kind=LAMP)
    calls = {call["control"]: call for call in (first.call(), first.call())}
    first.answer(calls[torch], True)
    second.answer(calls[lamp], False)
    assert {home.next("shown")["id"] for _ in range(2)} == {torch, lamp}
    first.leave()
    assert list(listed(home)) == [second.id]


def test_a_provider_that_keeps_failing_rests_and_is_tried_with_one_call(home):
    provider = home.provider()
    ids = [home.add() for _ in range(7)]
    calls = {id: provider.call(control=id) for id in ids}
    for id in ids[:5]:
        provider.fail(calls[id])
        home.next("failed", id=id)
    row = listed(home)[provider.id]
    assert (row["state"], row["failures"]) == ("open", 5) and 0 < row["opensIn"] <= 1_000
    later = [home.add() for _ in range(2)]
    probe = provider.call("value")
    assert probe["control"] == later[0] and listed(home)[provider.id]["state"] == "halfOpen"
    provider.uncalled()
    provider.answer(probe, True)
    home.next("shown", id=later[0])
    assert provider.call("value")["control"] == later[1] and listed(home)[provider.id]["state"] == "live"


def test_the_figures_of_a_provider_tell_what_it_did(home):
    provider = home.provider(toggle(valueDeadline=60))
    for how in ("answer", "fail", "late"):
        home.add()
        call = provider.call()
        if how == "late":
            home.next("failed", failure="timedOut")
            provider.cancelled(call, "timedOut")
            provider.answer(call, True)
        else:
            getattr(provider, how)(call, **({"value": True} if how == "answer" else {}))
            home.next("shown" if how == "answer" else "failed")
    provider.drain()
    row = listed(home)[provider.id]
    assert (row["calls"], row["failures"], row["late"], row["unknown"]) == (3, 2, 1, 0)
    assert 0 <= row["p50"] <= row["p99"]


def test_any_message_is_a_sign_of_life(home):
    provider = home.provider()
    while listed(home)[provider.id]["silence"] < 300:
        pass
    assert provider.ask("service.ping", provider=None)["ok"]
    assert listed(home)[provider.id]["silence"] < 300


def test_a_provider_that_is_silent_for_15_seconds_is_dropped_and_another_lives_on(home):
    deaf, other = home.provider(), home.provider()
    deaf.deaf = True
    id = home.shown(deaf)
    home.tap(id)
    home.next("acting")
    deaf.call("perform")
    for _ in range(2):
        deaf.pinged()
        other.pinged()
    other.ask("provider.list", provider=None)
    rows = listed(home)
    assert rows[deaf.id]["silence"] >= 9_000 and rows[other.id]["silence"] < 5_000
    deaf.dropped("silent")
    home.next("failed", failure="providerLost")
    home.next("reloading")
    other.gives(True)
    home.next("shown", value=True)
    assert list(listed(home)) == [other.id]
    deaf.register()
    assert set(listed(home)) == {deaf.id, other.id}

"""What providers declare: kinds that are shared, refused with their difference, replaced, or bad."""

import json
import uuid

import pytest

from support.durable import Durable
from support.home import Home
from support.provider import DOOR, LAMP, TORCH, RawProvider, button, toggle


def given(name, value):
    """A member, or none where the value is None."""
    return {} if value is None else {name: value}


def test_a_registration_is_answered_with_what_the_service_expects(home):
    provider = home.provider(toggle(), button(), register=False)
    answer = provider.register(capacity=3)
    answer.pop("req")
    assert answer == {"ok": True, "provider": provider.id, "pingEvery": 5_000, "pingLimit": 15_000,
                      "kinds": [TORCH, DOOR]}
    row = home.providers()[provider.id]
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


def test_what_is_declared_alike_may_be_written_otherwise(home):
    """Another language escapes other characters, sets spaces, orders members otherwise, and has no order in a set."""
    kind = button(
        displayName="Tür/Tor", description="Öffnet", tint="blau", actionHint="Öffnen", hasValue=True,
        previewValue={"a": 1, "b": ["é", {"c": 0, "d": "/"}]}, parameters=[{
            "name": "room", "type": "enum", "title": "Räume", "default": "Küche",
            "options": [{"value": "Küche", "title": "Küche/Flur"}, {"value": "Bad"}]},
            {"name": "share", "type": "number", "default": 1}])
    widget = {
        "kind": LAMP, "families": ["systemSmall", "systemMedium", "accessoryCircular"], "displayName": "Für/Über",
        "placeholder": {"a": 1.5, "b": "é"}, "supplementalFamilies": ["small", "medium"], "rendering": {
            "modes": ["fullColor", "accented"], "accentedGroups": ["x", "y"],
            "mountingStyles": ["elevated", "recessed"], "levelsOfDetail": ["default", "simplified"]}}
    home.provider(kind, widgets=[widget])

    def turned(value):
        """What is no list of parameters or options, in the other order."""
        if isinstance(value, list):
            return [turned(each) for each in (value if any(isinstance(each, dict) for each in value) else value[::-1])]
        return {name: turned(each) for name, each in reversed(value.items())} if isinstance(value, dict) else value

    second = home.provider(register=False)
    written = json.dumps(turned({
        "op": "provider.register", "req": "w", "app": home.app, "provider": second.id, "kinds": [kind],
        "widgets": [widget]}))
    second.socket.send_multipart([written.replace("/", "\\/").replace('"default": 1,', '"default": 10e-1,').encode()])
    answer = second.answer_to("w")
    assert answer["ok"] is True, answer
    assert [row["providers"] for row in home.client.read("control.kinds")["kinds"]] == [2]
    [row] = home.client.read("widget.kinds")["kinds"]
    assert row["declaration"]["families"] == widget["families"], "as it was declared first"


@pytest.mark.parametrize("offered", [
    {"previewValue": {"a": [2, 1]}}, {"previewValue": {"a": [1, 2], "b": None}}, {"previewValue": {"a": [1, "2"]}},
    {"displayName": "tür"}, {"parameters": [{"name": "b", "type": "string"}, {"name": "a", "type": "string"}]}])
def test_what_is_written_nearly_alike_differs(home, offered):
    declared = {"hasValue": True, "previewValue": {"a": [1, 2]}, "displayName": "Tür", "parameters": [
        {"name": "a", "type": "string"}, {"name": "b", "type": "string"}]}
    home.provider(button(**declared))
    error = home.provider(button(**{**declared, **offered}), register=False).try_to_register()["error"]
    assert (error["code"], error["detail"]["member"]) == ("conflict", *offered)


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
        assert list(home.providers()) == [first.id]
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
    assert error["detail"]["placed"] == 1 and "what is placed of it (1) needs" in error["message"]
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
    assert home.providers() == {} and home.client.read("control.kinds")["kinds"] == []


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
    assert home.providers() == {}


def test_a_provider_serves_one_app_and_keeps_what_it_serves(home):
    """Under one UUID, a second registration replaces the first: the kinds of the other app would go without a word."""
    provider = home.provider()
    id = home.shown(provider)
    for connection in (provider, RawProvider(
            home.wire, home.service.commands, toggle(), app="com.example.other", id=provider.id, register=False)):
        answer = connection.try_to_register(app="com.example.other")
        assert answer["error"]["code"] == "badField" and answer["error"]["detail"]["field"] == "app", answer
    assert home.client.read("control.kinds", app="com.example.other")["kinds"] == []
    home.tap(id)
    provider.gives(None, op="perform", control=id)
    provider.leave()
    assert provider.try_to_register(app="com.example.other")["ok"]


DECLARED = 64 << 20
"""`declarations` in docs/limits.md."""


def large(family, number, size=60_000):
    """A registration of one kind that takes so many bytes and a few more."""
    options = [{"value": "x" * 4_000} for _ in range(size // 4_000)]
    kind = {"kind": f"k{number}", "parameters": [{"name": "p", "type": "string", "options": options}]}
    if family == "kinds":
        return {"kinds": [{**kind, "template": "button"}]}
    return {"widgets": [{**kind, "families": ["systemSmall"]}]}


def declare(client, *registrations):
    """The answers to registrations of providers that go again at once."""
    commands = []
    for members in registrations:
        provider = str(uuid.uuid4())
        commands += [client.command("provider.register", provider=provider, **members),
                     client.command("provider.leave", provider=provider, app=None)]
    return client.batch(*commands)[::2]


def test_what_is_declared_has_a_limit_in_bytes_for_all_apps_and_after_a_kill_the_same(wire, tmp_path):
    house = Durable(wire, tmp_path / "data").start()
    try:
        client, taken = house.client, 0
        for first in range(0, 2 * DECLARED // 60_000, 20):
            answers = declare(client, *(large(("kinds", "widgets")[n % 2], n) for n in range(first, first + 20)))
            taken += sum(answer["ok"] for answer in answers)
            if not answers[-1]["ok"]:
                break
        assert 60_000 * taken <= DECLARED < 60_500 * (taken + 1), f"{taken} were taken"
        for restart in (False, True):
            client = house.restart().client if restart else client
            for family, members in (("kinds", {}), ("widgets", {"app": "com.example.other"})):
                [refused] = declare(client, {**large(family, 1_000_000), **members})
                error = refused["error"]
                assert (error["code"], error["detail"]) == ("quotaExceeded", {"limit": DECLARED}), error
                assert "declarations of all kinds" in error["message"] and "declare less" in error["message"], error
            # What is declared already, and what takes less than before.
            assert [answer["ok"] for answer in declare(client, large("kinds", 0), large("widgets", 3, 20_000))] == [True] * 2
            assert [answer["ok"] for answer in declare(client, large("widgets", 3))] == [True]
        assert [answer["ok"] for answer in declare(client, large("widgets", 3, 0), large("kinds", 1_000_000))] == [True] * 2
    finally:
        house.kill()

"""Kinds of widgets as providers declare them, and what they are asked beside timelines."""

import pytest

from support.dates import EPOCH, HOUR, after
from support.provider import TORCH, toggle
from support.schemas import strict
from support.widgets import CLOCK, FORECAST, entry, widget

CITY = {"name": "city", "type": "enum", "options": [{"value": "berlin", "title": "Berlin"}, {"value": "paris"}]}
STATION = {"name": "station", "type": "entity", "isOptional": True, "dynamicOptions": True}
FULL = widget(
    parameters=[CITY, STATION], rendering={"modes": ["fullColor", "accented"]}, supplementalFamilies=["small"])


def test_the_kinds_of_an_app_stand_as_they_were_declared(board):
    first, second = widget(), FULL | {"kind": CLOCK, "displayName": "Clock", "placeholder": {"n": None}}
    provider = board.provider(first, second)
    board.placed(provider)
    rows = {row["kind"]: row for row in board.client.read("widget.kinds")["kinds"]}
    assert rows == {FORECAST: {"kind": FORECAST, "declaration": first, "providers": 1, "widgets": 1},
                    CLOCK: {"kind": CLOCK, "declaration": second, "providers": 1, "widgets": 0}}
    other = board.provider(first)
    assert {row["kind"]: row["providers"] for row in board.client.read("widget.kinds")["kinds"]} == {
        FORECAST: 2, CLOCK: 1}
    other.leave()
    provider.leave()
    assert {row["providers"] for row in board.client.read("widget.kinds")["kinds"]} == {0}


def test_a_control_and_a_widget_may_have_the_same_kind(board):
    provider = board.provider(widget(TORCH), register=False)
    provider.kinds = [toggle(TORCH)]
    answer = provider.register()
    assert answer["kinds"] == [TORCH] and answer.get("widgets", [TORCH]) == [TORCH]
    control = board.client.applied("control.add", kind=TORCH)["control"]["id"]
    placed = board.client.applied("widget.add", kind=TORCH, family="systemSmall")["widget"]["id"]
    calls = {call["op"]: call for call in (provider._next("call"), provider._next("call"))}
    assert calls["control.value"]["control"] == control and calls["widget.timeline"]["widget"] == placed
    assert [row["kind"] for row in board.client.read("control.kinds")["kinds"]] == [TORCH]
    assert [row["kind"] for row in board.client.read("widget.kinds")["kinds"]] == [TORCH]


@pytest.mark.parametrize("member, value", [
    ("families", ["systemSmall"]), ("displayName", "Other"), ("description", "Other"), ("parameters", [CITY]),
    ("placeholder", 1), ("promptsForUserConfiguration", True), ("providesRelevance", True),
    ("providesRecommendations", True), ("supplementalFamilies", ["small"]), ("rendering", {"modes": ["accented"]}),
    ("timelineDeadline", 100), ("actionDeadline", 100)])
def test_two_providers_must_declare_a_kind_alike(board, member, value):
    first = board.provider(widget())
    second = board.provider(widget(**{member: value}), register=False)
    error = second.try_to_register()["error"]
    assert error["code"] == "conflict" and (error["detail"]["kind"], error["detail"]["member"]) == (FORECAST, member)
    first.leave()
    second.register()
    assert board.client.read("widget.kinds")["kinds"][0]["declaration"] == widget(**{member: value})


def test_what_is_only_named_has_no_order(board):
    """Each process of one provider that has them as a set names them in another order."""
    words = {"families": ["systemSmall", "systemMedium", "systemLarge"], "supplementalFamilies": ["small", "medium"]}
    rendering = {"modes": ["fullColor", "accented"], "mountingStyles": ["elevated", "recessed"],
                 "levelsOfDetail": ["default", "simplified"]}
    declared = widget(**words, rendering=rendering)
    board.provider(declared)
    board.provider(widget(**{name: list(reversed(named)) for name, named in words.items()},
                          rendering={name: list(reversed(named)) for name, named in rendering.items()}))
    [row] = board.client.read("widget.kinds")["kinds"]
    assert (row["providers"], row["declaration"]) == (2, declared)


def test_a_family_may_go_of_which_nothing_is_placed(board):
    """As with a new release of an app, whose kinds are refused together where one of them is."""
    first = board.provider(widget(families=["systemSmall", "systemMedium", "systemLarge"]))
    small, large = (board.client.applied("widget.add", kind=FORECAST, family=family)["widget"]["id"]
                    for family in ("systemSmall", "systemLarge"))
    first.leave()
    board.provider(widget(families=["systemSmall", "systemLarge"])).leave()
    last = board.provider(widget(families=["systemSmall"]), register=False)
    answer = last.try_to_register()
    strict("answers/error.json").validate(answer)
    error = answer["error"]
    assert (error["code"], error["detail"]["member"], error["detail"]["placed"]) == ("conflict", "families", 1)
    assert "what is placed of it (1) needs" in error["message"]
    board.client.applied("widget.remove", id=large)
    last.register()
    assert board.client.read("widget.get", id=small)["widget"]["family"] == "systemSmall"


def test_what_another_provider_declares_is_not_said_to_be_placed(board):
    board.provider(widget(families=["systemSmall", "systemLarge"]))
    board.client.applied("widget.add", kind=FORECAST, family="systemSmall")
    error = board.provider(widget(families=["systemSmall"]), register=False).try_to_register()["error"]
    assert error["code"] == "conflict" and "placed" not in error["detail"] and "placed" not in error["message"]


@pytest.mark.parametrize("declaration, member", [
    ({}, "families"), ({"families": []}, "families"), ({"families": ["systemSmall", "huge"]}, "families[1]"),
    ({"families": ["systemSmall"] * 2}, "families[1]"), ({"families": ["systemSmall"], "color": "red"}, "color"),
    ({"families": ["systemSmall"], "placeholder": "x" * 4_095}, "placeholder"),
    ({"families": ["systemSmall"], "rendering": {"modes": ["dim"]}}, "rendering.modes[0]"),
    ({"families": ["systemSmall"], "rendering": {"accentedGroups": [f"g{n}" for n in range(17)]}},
     "rendering.accentedGroups"),
    ({"families": ["systemSmall"], "timelineDeadline": 9}, "timelineDeadline"),
    ({"families": ["systemSmall"], "parameters": [{"name": "p", "type": "date"}]}, "parameters[0].type")])
def test_a_declaration_that_is_wrong_is_refused_with_its_place(board, declaration, member):
    provider = board.provider(widget(CLOCK), {"kind": FORECAST, **declaration}, register=False)
    error = provider.try_to_register()["error"]
    assert error["code"] == "badField"
    assert error["detail"] == {"field": "widgets", "index": 1, "member": member}
    assert board.client.read("widget.kinds")["kinds"] == []


# Snapshots


@pytest.mark.parametrize("is_preview", [True, False, None])
def test_a_snapshot_is_asked_for_now_and_touches_no_widget(board, is_preview):
    provider = board.provider(FULL)
    id = board.placed(provider, configuration={"city": "berlin"})
    command = board.client.command("widget.snapshot", kind=FORECAST, family="systemMedium", isPreview=is_preview,
                                   configuration={"city": "paris"})
    board.client.send(command)
    call = provider.call("snapshot", FORECAST)
    assert "widget" not in call and call["family"] == "systemMedium" and call["configuration"] == {"city": "paris"}
    assert call.get("isPreview", False) is bool(is_preview)
    sample = entry(EPOCH, 7, url="weather://sample")
    provider.show(call, sample)
    [answer] = board.client.answer_to(command["req"])
    assert answer["ok"] and answer["snapshot"] == sample
    board.silent()
    budget = board.budget(id)
    assert (budget["spent"], budget["exempt"]["placement"]) == (0, 1)


def test_a_snapshot_that_cannot_be_had_says_why(board):
    provider = board.provider(widget(timelineDeadline=100))
    board.add()
    provider.shows_now()

    def asked(answer):
        command = board.client.command("widget.snapshot", kind=FORECAST, family="systemSmall")
        board.client.send(command)
        answer(provider.call("snapshot"))
        return board.client.answer_to(command["req"])[0]["error"]

    error = asked(provider.fail)
    assert (error["code"], error["detail"]["reason"]) == ("unavailable", "providerFailed")
    error = asked(lambda call: provider.cancelled(call, "timedOut"))
    assert (error["code"], error["detail"]["reason"]) == ("unavailable", "providerTimedOut")
    error = asked(lambda call: provider.show(call, entry(EPOCH), entry(EPOCH)))
    provider.refused("badAnswer")
    assert (error["code"], error["detail"]["reason"]) == ("unavailable", "providerFailed")
    provider.leave()
    error = board.client.refused("widget.snapshot", kind=FORECAST, family="systemSmall")
    assert (error["code"], error["detail"]["reason"], error["retry"]) == ("unavailable", "noProvider", "later")
    assert board.client.refused("widget.snapshot", kind="x", family="systemSmall")["detail"] == {"kind": "x"}
    assert board.client.refused("widget.snapshot", kind=FORECAST, family="systemLarge")["detail"]["field"] == "family"


# Options, recommendations


def ask(board, provider, op, value, **fields):
    """Asks something that the provider answers with a value; gives the call and the answer."""
    command = board.client.command(f"widget.{op}", kind=FORECAST, **fields)
    board.client.send(command)
    call = provider.call(op, FORECAST)
    provider.answer(call, value)
    return call, board.client.answer_to(command["req"])[0]


def test_options_that_were_declared_come_at_once(board):
    provider = board.provider(FULL)
    options = board.client.read("widget.options", kind=FORECAST, parameter="city")["options"]
    assert options == CITY["options"]
    provider.leave()
    assert board.client.read("widget.options", kind=FORECAST, parameter="city")["options"] == options
    assert board.client.refused("widget.options", kind=FORECAST, parameter="colour")["code"] in ("notFound", "badField")
    error = board.client.refused("widget.options", kind=FORECAST, parameter="station")
    assert error["detail"]["reason"] == "noProvider"


@pytest.mark.parametrize("query, identifiers", [
    (None, None), ("suggestedEntities", None), ("entitiesFor", ["s1", "s \"2\""]), ("entitiesFor", []),
    ("defaultResult", None)])
def test_dynamic_options_are_asked_of_the_provider_by_each_query(board, query, identifiers):
    provider = board.provider(FULL)
    value = [{"value": "s1", "title": "Station 1"}, {"value": {"id": "s2"}}]
    call, answer = ask(board, provider, "options", value, parameter="station", query=query, identifiers=identifiers,
                       configuration={"city": "paris"})
    assert answer["options"] == value
    assert (call["parameter"], call["query"], call.get("identifiers")) == (
        "station", query or "suggestedEntities", identifiers)
    assert call["configuration"] == {"city": "paris"} and "widget" not in call


def test_recommendations_are_asked_for_once_and_kept_until_they_are_invalidated(board):
    provider = board.provider(widget(parameters=[CITY], providesRecommendations=True), widget(CLOCK))
    paris = [{"configuration": {"city": "paris"}, "description": "Paris"}]
    _, answer = ask(board, provider, "recommendations", paris)
    assert answer["recommendations"] == paris
    assert board.client.read("widget.recommendations", kind=FORECAST)["recommendations"] == paris
    assert board.client.read("widget.recommendations", kind=CLOCK)["recommendations"] == []
    provider.uncalled()
    for kind in (FORECAST, None):
        answer = board.client.applied("widget.invalidateRecommendations", kind=kind)
        assert answer["count"] >= 1
        _, answer = ask(board, provider, "recommendations", [])
        assert answer["recommendations"] == []
    assert board.client.refused("widget.invalidateRecommendations", kind="x")["code"] == "notFound"
    assert board.client.refused("widget.recommendations", kind="x")["code"] == "notFound"


@pytest.mark.parametrize("value", [
    None, {}, "Paris", [1], [{}], [{"configuration": {}}], [{"description": "x"}],
    [{"configuration": [], "description": "x"}], [{"configuration": {}, "description": 1}]])
def test_recommendations_that_are_none_are_a_bad_answer(board, value):
    provider = board.provider(widget(providesRecommendations=True))
    call, answer = ask(board, provider, "recommendations", value)
    provider.refused("badAnswer", call)
    assert answer["error"]["detail"]["reason"] == "providerFailed"
    _, answer = ask(board, provider, "recommendations", [])
    assert answer["recommendations"] == [], "what was bad is not kept"


def test_relevance_is_asked_of_kinds_that_provide_it_and_again_when_it_is_invalidated(board):
    provider = board.provider(widget(providesRelevance=True), widget(CLOCK))
    first = provider.calls(0.3)
    assert all(call["op"] == "widget.relevance" and call["kind"] == FORECAST for call in first)
    for call in first:
        provider.answer(call, [])
    board.client.applied("widget.invalidateRelevance", kind=FORECAST)
    provider.answer(provider.call("relevance", FORECAST), [{"from": EPOCH, "to": after(HOUR)}])
    assert board.client.ignored("widget.invalidateRelevance", kind=CLOCK) == "unchanged"
    assert board.client.refused("widget.invalidateRelevance", kind="x")["code"] == "notFound"
    provider.uncalled()

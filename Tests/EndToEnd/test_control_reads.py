"""Reads of controls: fresh values on demand, lists, kinds, options, and what became of a control and why."""

import pytest

from support.commands import Commands
from support.dates import EPOCH, SECOND, after
from support.followed import as_followed
from support.provider import DOOR, LAMP, TORCH, button, toggle
from support.wire import QUIET


# Fresh values


def test_a_read_takes_a_value_that_is_young_enough_and_asks_nobody(home):
    provider = home.provider()
    id = home.shown(provider, True)
    home.client.advance(by=5 * SECOND)
    assert home.get(id, maxAge=5 * SECOND)["value"] is True
    home.silent()
    provider.uncalled()


def test_a_read_asks_for_a_value_that_is_too_old_and_waits_for_it(home):
    provider = home.provider()
    id = home.shown(provider, True)
    home.client.advance(by=5 * SECOND)
    command = home.client.command("control.get", id=id, maxAge=5 * SECOND - 1)
    home.client.send(command)
    home.next("reloading", cause="request")
    call = provider.call("value")
    home.client.silent()
    provider.answer(call, False)
    home.next("shown", value=False)
    [answer] = home.client.answer_to(command["req"])
    assert answer["ok"] and as_followed(answer["control"]) == home.entity(id)
    assert answer["control"]["valueAt"] == after(5 * SECOND)


def test_many_readers_that_wait_share_one_call(home, wire, service):
    provider = home.provider()
    id = home.shown(provider)
    home.client.advance(by=1)
    readers = [Commands(wire, service.commands) for _ in range(20)]
    for reader in readers:
        for number in range(5):
            reader.send(reader.command("control.get", id=id, maxAge=0, req=f"read-{number}"))
    call = provider.call("value")
    for reader in readers:
        reader.read("service.ping")
    provider.uncalled()
    provider.answer(call, True)
    for reader in readers:
        for number in range(5):
            [answer] = reader.answer_to(f"read-{number}")
            assert (answer["control"]["value"], answer["control"]["state"]) == (True, "shown")
    provider.uncalled()


@pytest.mark.parametrize("failing", ["fail", "deadline", "ttl"])
def test_a_read_whose_value_does_not_come_is_answered_with_what_there_is(home, failing):
    provider = home.provider()
    id = home.shown(provider, True)
    if failing == "deadline":
        provider.register(kinds=[toggle(valueDeadline=100)])
    home.client.advance(by=1)
    command = home.client.command("control.get", id=id, maxAge=0, ttl=100 if failing == "ttl" else None)
    home.client.send(command)
    call = provider.call("value")
    if failing == "fail":
        provider.fail(call)
    [answer] = home.client.answer_to(command["req"])
    assert answer["ok"] and (answer["control"]["value"], answer["control"]["valueAt"]) == (True, EPOCH)
    # The reader's time began before the call's.
    failures = {"fail": {"threw"}, "deadline": {"timedOut", None}, "ttl": {None}}
    assert answer["control"].get("failure") in failures[failing]


def test_a_read_waits_for_the_first_value_too(home):
    provider = home.provider()
    id = home.add()
    command = home.client.command("control.get", id=id, maxAge=60_000)
    home.client.send(command)
    home.client.silent()
    provider.gives(True)
    assert home.client.answer_to(command["req"])[0]["control"]["value"] is True


def test_a_read_does_not_wait_for_what_others_reload_meanwhile(home):
    provider = home.provider()
    id = home.shown(provider)
    home.client.advance(by=1)
    command = home.client.command("control.get", id=id, maxAge=0)
    home.client.send(command)
    call = provider.call("value")
    home.client.applied("control.reload", id=id)
    provider.answer(call, True)
    provider.call("value")  # which the reload has asked for, and which is not answered
    home.client.read("service.ping")  # whose answer is behind the other one
    assert home.client.answer_to(command["req"], QUIET)[0]["control"]["value"] is True


def test_a_read_of_what_nobody_provides_is_answered_at_once(home):
    provider = home.provider(toggle(), button())
    id, door = home.shown(provider, True), home.add(kind=DOOR)
    provider.leave()
    home.client.advance(by=1)
    assert home.get(door, maxAge=0)["state"] == "shown"
    assert home.get(id, maxAge=0)["value"] is True


# Lists and kinds


def test_a_list_shows_what_reads_show_and_filters(home):
    provider = home.provider(toggle(), button())
    ids = [home.shown(provider, device=name) for name in ("phone", "tablet", None)]
    doors = [home.add(kind=DOOR, device="phone")]
    loading = home.add()

    def listed(**fields):
        answer = home.client.read("control.list", **fields)
        assert answer["total"] == len(answer["controls"]) and answer["exact"] is True and "next" not in answer
        assert all(as_followed(control) == home.entity(control["id"]) for control in answer["controls"])
        return [control["id"] for control in answer["controls"]]

    assert listed() == [*ids, *doors, loading]
    assert listed(kind=DOOR) == doors
    assert listed(device="phone") == [ids[0], *doors]
    assert listed(device="phone", kind=TORCH) == [ids[0]]
    assert listed(state="loading") == [loading]
    assert listed(kind=LAMP) == listed(device="car") == listed(state="acting") == []
    assert listed(app="com.example.other") == []
    for fields in ({"state": "off"}, {"limit": 0}, {"limit": 1001}, {"cursor": "x"}):
        assert home.client.refused("control.list", **fields)["code"] == "badField", fields


def test_a_list_goes_on_page_by_page_and_shows_each_control_once(home):
    home.provider(button())
    ids = [home.add(kind=DOOR) for _ in range(7)]
    seen, cursor = [], None
    while True:
        page = home.client.read("control.list", limit=3, cursor=cursor)
        assert page["total"] == 7
        seen.append([control["id"] for control in page["controls"]])
        cursor = page.get("next")
        if cursor is None:
            break
    assert [len(page) for page in seen] == [3, 3, 1] and sum(seen, []) == ids


def test_the_kinds_of_an_app_say_who_provides_them_and_how_many_controls_there_are(home):
    one, two = home.provider(toggle(displayName="Torch"), button()), home.provider(toggle(displayName="Torch"))
    home.shown(one)

    def kinds():
        return {row["kind"]: row for row in home.client.read("control.kinds")["kinds"]}

    assert kinds()[TORCH] == {
        "kind": TORCH, "declaration": toggle(displayName="Torch"), "providers": 2, "controls": 1}
    assert (kinds()[DOOR]["providers"], kinds()[DOOR]["controls"]) == (1, 0)
    one.leave()
    two.leave()
    assert {kind: row["providers"] for kind, row in kinds().items()} == {TORCH: 0, DOOR: 0}
    assert home.client.read("control.kinds", app="com.example.other")["kinds"] == []


# Options


STATIC = {"name": "mode", "type": "enum", "options": [{"value": "dim", "title": "Dim"}, {"value": "full"}],
          "default": "dim"}
DYNAMIC = {"name": "room", "type": "entity", "isOptional": True, "dynamicOptions": True}


def test_static_options_are_told_at_once(home):
    home.provider(toggle(parameters=[STATIC])).leave()
    answer = home.client.read("control.options", kind=TORCH, parameter="mode")
    assert answer["options"] == STATIC["options"]
    error = home.client.refused("control.options", kind=TORCH, parameter="colour")
    assert (error["code"], error["detail"]) == ("badField", {"field": "parameter"})
    assert home.client.refused("control.options", kind=LAMP, parameter="mode")["code"] == "notFound"


def test_dynamic_options_are_asked_for_with_what_is_configured_so_far(home):
    provider = home.provider(toggle(parameters=[DYNAMIC, STATIC]))
    command = home.client.command(
        "control.options", kind=TORCH, parameter="room", configuration={"mode": "full"})
    home.client.send(command)
    call = provider.call("options")
    assert 0 < call.pop("within") <= 30_000
    assert call == {"call": call["call"], "op": "control.options", "app": home.app, "kind": TORCH,
                    "parameter": "room", "configuration": {"mode": "full"}, "attempt": 1}
    options = [{"value": "hall", "title": "Hall"}, {"value": {"id": 7}}]
    provider.answer(call, options)
    assert home.client.answer_to(command["req"])[0]["options"] == options


def test_options_that_do_not_come_are_unavailable(home):
    provider = home.provider(toggle(parameters=[DYNAMIC]))

    def ask():
        command = home.client.command("control.options", kind=TORCH, parameter="room")
        home.client.send(command)
        return command["req"]

    def reason(req):
        error = home.client.answer_to(req)[0]["error"]
        assert (error["code"], error["retry"]) == ("unavailable", "later"), error
        return error["detail"]["reason"]

    req = ask()
    provider.fail(provider.call("options"))
    assert reason(req) == "providerFailed"
    req = ask()
    provider.answer(provider.call("options"), {"not": "a list"})
    provider.refused("badAnswer")
    assert reason(req) == "providerFailed"
    provider.register(kinds=[toggle(parameters=[DYNAMIC], valueDeadline=100)])
    req = ask()
    call = provider.call("options")
    assert reason(req) == "providerTimedOut"
    provider.cancelled(call, "timedOut")
    provider.register(kinds=[toggle(parameters=[DYNAMIC])])
    req = ask()
    provider.call("options")
    provider.leave()
    assert reason(req) in ("providerFailed", "noProvider")
    assert reason(ask()) == "noProvider"


def test_options_are_asked_of_another_provider_where_the_first_is_lost(home):
    first, second = home.provider(toggle(parameters=[DYNAMIC])), home.provider(toggle(parameters=[DYNAMIC]))
    command = home.client.command("control.options", kind=TORCH, parameter="room")
    home.client.send(command)
    first.call("options")
    first.leave()
    assert second.gives([], op="options")["attempt"] == 2
    assert home.client.answer_to(command["req"])[0]["options"] == []


# What happened and why


def test_the_history_of_a_control_is_its_events_and_explain_says_why(home):
    provider = home.provider()
    id = home.add()
    published = [home.event]
    provider.gives(False)
    home.next("shown")
    published.append(home.event)
    home.client.applied("control.tap", id=id, req="a-tap")
    home.next("acting")
    published.append(home.event)
    provider.fail(provider.call("perform"))
    for _ in range(2):
        home.next()
        published.append(home.event)
    history = home.client.read("control.history", id=id)["events"]
    assert history == published
    decisions = home.client.read("control.explain", id=id)["decisions"]
    assert [(d["rule"].removeprefix("apple-semantics 4.2 "), d["event"], d["revision"]) for d in decisions] == [
        ("C2", "control.added", 1), ("C3", "control.shown", 2), ("C8 and C12", "control.acting", 3),
        ("C10", "control.failed", 4), ("C5", "control.reloading", 5)]
    assert decisions[2]["by"]["req"] == "a-tap" and decisions[3]["failure"] == "threw"
    assert all(decision["text"] for decision in decisions)


def test_a_read_waits_for_the_event_that_it_names(home, wire, service):
    provider = home.provider()
    id = home.shown(provider)
    seq = home.event["seq"]
    answer = home.client.read("control.get", id=id, minSeq=seq)
    assert answer["seq"] == seq

    reader = Commands(wire, service.commands)
    reader.send(reader.command("control.get", id=id, minSeq=seq + 1, req="waits"))
    reader.read("service.ping")
    home.tap(id)
    assert reader.answer_to("waits")[0]["control"]["state"] == "acting"

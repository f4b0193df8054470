"""What a provider that is busy, or whose breaker is not closed, is asked, by whom, and for how long."""

import time

import pytest

from support.commands import Commands
from support.provider import DOOR, LAMP, TORCH, RawProvider, button, toggle
from support.widgets import WidgetProvider, entry, widget
from support.wire import Deadline

TIME = 1_000
"""The shortest whole time of a read here, in milliseconds; a provider is busy for longer."""


@pytest.mark.parametrize("family", ["control", "widget"])
def test_a_read_that_waits_for_a_busy_provider_is_sent_with_its_whole_time(home, family):
    if family == "control":
        kinds = toggle(), toggle(LAMP, valueDeadline=TIME)
        provider, fields = RawProvider(home.wire, home.service.commands, *kinds, app=home.app, capacity=1), {}
    else:
        kinds = widget(TORCH, timelineDeadline=30_000), widget(LAMP, timelineDeadline=TIME)
        provider = WidgetProvider(home.wire, home.service.commands, *kinds, app=home.app, capacity=1)
        fields = {"family": "systemSmall"}
    for kind in TORCH, LAMP:
        home.client.applied(f"{family}.add", kind=kind, **fields)
    busy = provider.call(kind=TORCH)
    time.sleep(1.5 * TIME / 1_000)
    provider.fail(busy)
    assert provider.call(kind=LAMP)["within"] == TIME


def broken(home, **members):
    """A provider that failed too often, and another call to it, by which it is tried; it has no answer yet. And a control
    that is shown."""
    provider = home.provider(toggle(**members))
    shown = home.shown(provider)
    home.add_many(5)
    for _ in range(5):
        provider.fail(provider.call("value"))
    home.add_many(1)
    probe = provider.call("value")
    assert home.providers()[provider.id]["state"] == "halfOpen"
    return provider, probe, shown


def test_an_action_waits_for_a_busy_provider_where_the_other_one_is_being_tried(home):
    sick, _, shown = broken(home)
    well = home.provider(capacity=1)
    home.add_many(1)
    busy = well.call("value")
    home.client.applied("control.tap", id=shown)
    sick.uncalled()
    well.answer(busy, True)
    assert well.call("perform")["control"] == shown


@pytest.mark.parametrize("goes", ["drain", "leave"])
def test_an_action_goes_to_one_that_is_being_tried_where_there_is_no_other_any_more(home, goes):
    sick, _, shown = broken(home)
    well = home.provider(capacity=1)
    home.add_many(1)
    well.call("value")
    home.client.applied("control.tap", id=shown)
    sick.uncalled()
    getattr(well, goes)()
    assert sick.call("perform")["control"] == shown


def test_a_provider_of_actions_alone_is_tried_again_where_the_other_one_is_busy(home):
    sick = home.provider(button())
    ids = home.add_many(7, kind=DOOR)
    for id in ids[:5]:
        home.client.applied("control.tap", id=id)
        sick.fail(sick.call("perform"))
    assert home.providers()[sick.id]["state"] == "open"
    well = home.provider(button(), capacity=1)
    for id in ids[5:]:
        home.client.applied("control.tap", id=id)
    assert well.call("perform")["control"] == ids[5]
    trial = sick.call("perform")
    assert trial["control"] == ids[6]
    sick.answer(trial)
    deadline = Deadline()
    while home.get(ids[6])["state"] != "shown":
        assert not deadline.passed
    assert home.providers()[sick.id]["state"] == "live"


def test_controls_that_fail_one_after_another_fail_no_others_of_their_kind(home):
    """The first ten are of a device that is away: they open the breaker, and the next one of the line is one of them."""
    provider = home.provider(toggle(valueDeadline=1_500), capacity=5)
    provider.leave()
    ids = home.add_many(30)
    nobody = set(ids)
    while nobody:
        patch = home.next()
        if patch.get("failure") == "noProvider":
            nobody.remove(patch["id"])
    provider.register()
    away, asked = set(ids[:10]), set()
    while asked != set(ids):
        call = provider.call("value")
        asked.add(call["control"])
        if call["control"] in away:
            provider.fail(call)
        else:
            provider.answer(call, True)
    left = set(ids) - away
    while left:
        patch = home.next()
        if patch["id"] in left:
            assert patch.get("failure") is None, patch
            if patch.get("state") == "shown":
                left.remove(patch["id"])


@pytest.mark.parametrize("family", ["control", "widget"])
def test_what_a_person_places_is_not_behind_what_a_provider_failed_to_answer_for_a_while(home, family):
    """It comes back and fails everything at first: what had no provider waits for it with deadlines, until it answers."""
    if family == "control":
        provider = RawProvider(
            home.wire, home.service.commands, toggle(valueDeadline=30_000), app=home.app, capacity=1)
        fields, answer = {}, lambda call: provider.answer(call, True)
    else:
        provider = WidgetProvider(
            home.wire, home.service.commands, widget(TORCH, timelineDeadline=30_000), app=home.app, capacity=1)
        fields, answer = {"family": "systemSmall"}, lambda call: provider.show(
            call, entry(call["now"]), policy="never")
    provider.leave()
    for _ in range(40):
        home.client.applied(f"{family}.add", kind=TORCH, **fields)
    provider.register()
    for _ in range(6):
        provider.fail(provider.call())
    answer(provider.call())
    placed = home.client.applied(f"{family}.add", kind=TORCH, device="other", **fields)[family]["id"]
    before = 0
    while (call := provider.call())[family] != placed:
        before += 1
        answer(call)
    assert before <= 4, before


PATIENCE = 10
"""So many seconds without an answer, and a provider that fails may count as one that answers nothing."""


def quiet_hour(home):
    """A provider that was asked of nothing for a while but of controls of a device that is away, which it failed each time;
    these, and others, which are shown."""
    provider = home.provider(toggle(valueDeadline=1_000))
    away, others = ([home.shown(provider) for _ in range(count)] for count in (8, 6))
    quiet = Deadline(PATIENCE + 1)
    for id in away:
        home.client.applied("control.reload", id=id)
    while not quiet.passed:
        for call in provider.calls():
            assert call["control"] in away, call
            provider.fail(call)
    assert home.providers()[provider.id]["state"] in ("open", "halfOpen")
    return provider, away, others


@pytest.mark.parametrize("polled", [False, True])
def test_controls_that_are_away_in_a_quiet_hour_fail_no_others_when_those_are_wanted(home, polled):
    """Those that are away are the first of all, or, where somebody reads them, also the newest and those of most weight."""
    provider, away, others = quiet_hour(home)
    home.client.applied("control.reload", kind=TORCH)
    reader = Commands(home.wire, home.service.commands, home.app)
    left, asked, deadline = set(others), [], Deadline()
    while left:
        assert not deadline.passed, (left, asked)
        if polled:
            reader.send(*[reader.command("control.get", id=id, maxAge=0) for id in away])
        for call in provider.calls():
            asked.append(call["control"])
            if call["control"] in away:
                provider.fail(call)
            else:
                provider.answer(call, True)
        for id in list(left):
            control = home.get(id)
            assert "failure" not in control, (control, asked)
            if control["value"]:
                left.remove(id)


def rests_longer(home, provider, away):
    """Asks a provider of what is away, and fails that, until it has failed when it was tried, too, and rests for longer."""
    deadline = Deadline()
    for id in away:
        home.client.applied("control.reload", id=id)
    while home.providers()[provider.id].get("opensIn", 0) <= 2_000:
        assert not deadline.passed, home.providers()
        for call in provider.calls():
            assert call["control"] in away, call
            provider.fail(call)
        if home.providers()[provider.id]["state"] == "halfOpen":
            home.client.applied("control.reload", id=away[0])


def test_a_provider_that_came_in_a_quiet_hour_fails_no_others_when_those_are_wanted(home):
    """It takes the place of another one, and is asked of nothing until then but of what is away."""
    kind = toggle(valueDeadline=1_000)
    before = home.provider(kind)
    away, others = ([home.shown(before) for _ in range(count)] for count in (8, 6))
    after = home.provider(kind)
    before.drain()
    before.leave()
    rests_longer(home, after, away)
    home.client.applied("control.reload", kind=TORCH)
    left, deadline = set(others), Deadline()
    while left:
        assert not deadline.passed, left
        for call in after.calls():
            if call["control"] in away:
                after.fail(call)
            else:
                after.answer(call, True)
        for id in list(left):
            control = home.get(id)
            assert "failure" not in control, control
            if control["value"]:
                left.remove(id)


def test_what_a_command_asks_does_not_wait_for_a_provider_that_rests(home):
    """What it failed before was of a device that is away; a person looks at a sheet."""
    mode = {"name": "mode", "type": "string", "isOptional": True, "dynamicOptions": True}
    provider = home.provider(toggle(valueDeadline=1_000, parameters=[mode]))
    rests_longer(home, provider, [home.shown(provider) for _ in range(6)])
    asker = Commands(home.wire, home.service.commands, home.app)
    for given in None, [{"value": "full", "title": "Full"}]:
        asker.send(asker.command("control.options", kind=TORCH, parameter="mode"))
        call = provider.call("options")
        if given:
            provider.answer(call, given)
        else:
            provider.fail(call)
        [answer] = asker.receive()
        assert answer["ok"] == bool(given), answer
        assert home.providers()[provider.id]["state"] == ("live" if given else "open")


def test_what_a_command_asks_does_not_wait_for_the_turns_of_a_crowd_of_many_kinds(home):
    mode = {"name": "mode", "type": "string", "isOptional": True, "dynamicOptions": True}
    kinds = [f"{TORCH}{number}" for number in range(20)]
    provider = RawProvider(
        home.wire, home.service.commands, *(toggle(kind, valueDeadline=30_000, parameters=[mode]) for kind in kinds),
        app=home.app, capacity=1)
    for kind in kinds:
        home.add_many(3, kind=kind)
    asker = Commands(home.wire, home.service.commands, home.app)
    first = provider.call("value")
    for kind in kinds[-1], kinds[0]:
        asker.send(asker.command("control.options", kind=kind, parameter="mode"))
    provider.uncalled(0.2)
    provider.answer(first, True)
    asked = []
    for _ in range(4):
        call = provider.call()
        asked.append(call["op"])
        provider.answer(call, [] if call["op"] == "control.options" else True)
    assert asked.count("control.options") == 2, asked


def test_what_a_command_asks_is_no_probe_where_another_provider_is_well(home):
    mode = {"name": "mode", "type": "string", "isOptional": True, "dynamicOptions": True}
    kind = toggle(valueDeadline=1_000, parameters=[mode])
    sick = home.provider(kind)
    home.add_many(5)
    for _ in range(5):
        sick.fail(sick.call("value"))
    well = home.provider(kind)
    deadline = Deadline()
    while home.providers()[sick.id]["state"] != "halfOpen":
        assert not deadline.passed
        for call in sick.calls():
            sick.fail(call)
        for call in well.calls():
            well.answer(call, True)
    asker = Commands(home.wire, home.service.commands, home.app)
    for _ in range(3):
        asker.send(asker.command("control.options", kind=TORCH, parameter="mode"))
        well.answer(well.call("options"), [{"value": "full", "title": "Full"}])
        [answer] = asker.receive()
        assert answer["ok"], answer


@pytest.mark.parametrize("is_busy", [False, True])
def test_what_a_command_asks_goes_to_one_that_rests_where_the_only_one_that_is_well_has_failed_it(home, is_busy):
    """Nothing else tries that one: nothing is read of the kind."""
    mode = {"name": "mode", "type": "string", "isOptional": True, "dynamicOptions": True}
    kind = button(hasValue=False, valueDeadline=10_000, parameters=[mode])
    asker = Commands(home.wire, home.service.commands, home.app)

    def ask():
        asker.send(asker.command("control.options", kind=DOOR, parameter="mode"))

    rested = home.provider(kind)
    for _ in range(5):
        ask()
        rested.fail(rested.call("options"))
        asker.receive()
    well = home.provider(kind)
    deadline = Deadline()
    while home.providers()[rested.id]["state"] != "halfOpen":
        assert not deadline.passed
    ask()
    if is_busy:
        # Another one of these is with it already.
        well.fail(well.call("options"), retryable=True)
        first = rested.call("options")
        ask()
        well.fail(well.call("options"), retryable=True)
        rested.uncalled(0.2)
        rested.fail(first)
        assert not asker.receive()[0]["ok"]
    else:
        well.fail(well.call("options"), retryable=True)
    call = rested.call("options")
    assert call["attempt"] == 2
    rested.answer(call, [{"value": "full", "title": "Full"}])
    [answer] = asker.receive()
    assert answer["ok"], answer
    assert home.providers()[rested.id]["state"] == "live"


def test_a_provider_that_fails_everything_by_now_says_so_to_those_who_wait(home):
    provider, away, others = quiet_hour(home)
    home.client.applied("control.reload", kind=TORCH)
    asked, deadline = set(), Deadline()
    while not all("failure" in home.get(id) for id in others):
        assert not deadline.passed, asked
        for call in provider.calls():
            asked.add(call["control"])
            provider.fail(call)
    assert asked.intersection(others)

"""Who gets which call while providers come, rest and go."""

import contextlib
import json
import signal
import sqlite3

import pytest

from support.commands import encode
from support.durable import Durable
from support.kernel import until_nobody_reads, until_unread
from support.provider import DOOR, LAMP, TORCH, RawProvider, button, toggle
from support.proxy import Proxy
from support.wire import DEADLINE, Deadline, Silence


def test_the_least_loaded_provider_gets_a_call_and_the_first_among_equals(home):
    small, large = home.provider(capacity=2), home.provider(capacity=4)
    ids = [home.add() for _ in range(6)]
    got = {small: [small.call()["control"] for _ in range(2)], large: [large.call()["control"] for _ in range(4)]}
    # Shares: 0/2 0/4 → small, 1/2 0/4 → large, 1/2 1/4 → large, 1/2 2/4 → small, 2/2 2/4 → large, large.
    assert got == {small: [ids[0], ids[3]], large: [ids[1], ids[2], ids[4], ids[5]]}
    assert {row["inFlight"] for row in home.providers().values()} == {2, 4}


def test_no_provider_gets_more_calls_at_a_time_than_it_takes(home):
    provider = home.provider(capacity=2)
    ids = [home.add() for _ in range(7)]
    done = []
    calls = [provider.call(), provider.call()]
    row = home.providers()[provider.id]
    assert (row["inFlight"], row["waiting"]) == (2, 5)
    provider.uncalled()
    while calls:
        provider.answer(calls[0], True)
        done.append(calls.pop(0)["control"])
        if len(done) + len(calls) < len(ids):
            calls.append(provider.call())
    assert done == ids, "first come, first served"


def test_a_connection_that_is_full_for_a_moment_loses_no_provider_and_no_call(home):
    """As many calls at once as two of the largest providers take, over one connection that nobody reads meanwhile."""
    note = {"name": "note", "type": "string"}
    provider = home.provider(toggle(parameters=[note]), capacity=1_024, rcvhwm=1, rcvbuf=4_096)
    other = provider.beside()
    other.register()
    ids = [id for _ in range(40) for id in home.add_many(50, configuration={"note": "x" * 4_000})]
    while sum(row["inFlight"] for row in home.providers().values()) < len(ids):
        assert set(home.providers()) == {provider.id, other.id}, "dropped, although it reads soon"
    mine = {}
    for _ in ids:
        call = provider.call("value")
        mine[call["control"]] = call
    assert mine.keys() == set(ids)
    assert set(home.providers()) == {provider.id, other.id}


def test_the_time_that_an_action_waits_counts(home):
    provider = home.provider(toggle(), toggle(LAMP, actionDeadline=50), capacity=1)
    lamp, torch = home.shown(provider, kind=LAMP), home.add()
    call = provider.call(control=torch)
    home.tap(lamp)
    home.next("acting", id=lamp)
    home.next("failed", id=lamp, failure="timedOut")
    assert home.providers()[provider.id]["calls"] == 2, "it was never sent"
    provider.answer(call, True)
    home.until(torch, state="shown")


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
    assert (home.providers()[provider.id]["inFlight"], home.providers()[provider.id]["waiting"]) == (1, 1_024)
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
    assert home.providers()[first.id]["state"] == "draining"
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
    assert home.providers()[first.id]["state"] == "live"
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
    assert list(home.providers()) == [second.id]


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
    assert list(home.providers()) == [second.id]


def test_a_provider_that_died_unnoticed_and_came_again_is_asked_for_the_truth(home):
    """Its new process begins with a truth of its own, and registers before anybody knows that the old one is gone."""
    old = home.provider(toggle(), toggle(LAMP))
    id = home.shown(old, True)
    old.disconnect()
    new = home.provider(toggle(), toggle(LAMP))
    home.add(kind=LAMP)  # a call by which the old one is found to be gone
    new.gives(True, kind=LAMP)
    home.until(id, state="reloading", cause="providerLost")
    assert list(home.providers()) == [new.id]
    new.gives(False, control=id)
    home.until(id, state="shown", value=False)


def named(home, name, *kinds, seconds=DEADLINE):
    """A provider whose connection bears this name, which the service takes once the former one of that name has ended."""
    deadline = Deadline(seconds)
    while True:
        provider = home.provider(*kinds, routing_id=name, register=False)
        provider.say("provider.register", req="r", app=home.app, kinds=provider.kinds)
        with contextlib.suppress(Silence):
            assert provider._next("answer", 0.5)["ok"] is True
            return provider
        assert not deadline.passed
        provider.disconnect()


def test_a_new_run_over_a_connection_of_the_same_name_stands_for_itself(home):
    """Clients may name their connections; the old run is known by that name, and its values are not the new one's."""
    old = named(home, b"torch-1")
    id = home.shown(old, False)
    old.disconnect()
    new = named(home, b"torch-1")
    home.until(id, state="reloading")
    assert list(home.providers()) == [new.id]
    new.gives(True, control=id)
    home.until(id, state="shown", value=True)


def test_a_new_run_may_declare_its_kind_otherwise(home):
    """A new release over a connection of the same name: what its dead run declared is nobody's any more."""
    old = named(home, b"torch-1")
    old.disconnect()
    new = named(home, b"torch-1", button(TORCH))
    assert list(home.providers()) == [new.id]


@pytest.mark.parametrize("is_first", [False, True], ids=["beside another one", "as the first ones"])
def test_new_runs_stand_for_themselves_though_all_came_at_once(home, is_first):
    """Their registrations are received together, as by a service that had much to do."""
    if not is_first:
        home.provider()
    kinds = [f"com.example.k{number}" for number in range(12)]

    old = [home.provider(toggle(kinds[number]), routing_id=b"run-%d" % number, register=False) for number in range(12)]
    for provider in old:  # connected
        provider.say("service.ping", provider=None, req="ping")
        assert provider.answer_to("ping")["ok"]
    home.service.signal(signal.SIGSTOP)
    try:
        for provider in old:
            provider.say("provider.register", req="reg", app=provider.app, kinds=provider.kinds)
        until_unread(home.service.commands, len(old))
    finally:
        home.service.signal(signal.SIGCONT)
    for provider in old:
        assert provider.answer_to("reg")["ok"]
        provider.disconnect()
    new = [named(home, b"run-%d" % number, toggle(kinds[number])) for number in range(12)]
    live = set(home.providers())
    assert {provider.id for provider in new} <= live and not {provider.id for provider in old} & live


def test_a_new_run_takes_the_place_of_one_whose_connection_ended_while_its_registration_waited(home):
    """The first run was killed as soon as it had registered, at a service that had much to do."""
    home.provider(toggle("com.example.other"))
    for _ in range(16):
        home.client.batch(*[home.client.command("control.add", kind="com.example.other", device="phone")
                            for _ in range(250)])
    old = home.provider(routing_id=b"torch-1", register=False, linger=3_000)
    old.say("service.ping", provider=None, req="ping")
    assert old.answer_to("ping")["ok"]
    home.service.signal(signal.SIGSTOP)
    try:
        # More than a turn's work, so that what comes behind waits for later ones.
        old.socket.send_multipart([
            encode({"op": "device.event", "device": "phone", "event": "lock" if n % 2 else "unlock", "req": f"e{n}"})
            for n in range(200)])
        old.say("provider.register", req="reg", app=home.app, kinds=old.kinds)
        old.disconnect()
        until_unread(home.service.commands, ended=True)
    finally:
        home.service.signal(signal.SIGCONT)
    # The sockets' peers are read in turns: after two answers to another one the registration has been taken. Before,
    # the next run's connection may have the number of the one that ended.
    for _ in range(2):
        home.client.read("service.ping")
    new = named(home, b"torch-1")
    live = home.providers()
    assert new.id in live and old.id not in live


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
    # That value may be older than what the action did.
    home.next("reloading", id=acting)
    new.gives(True, control=acting)
    home.next("shown", id=acting, value=True)
    assert list(home.providers()) == [old.id]
    new.uncalled()


def test_a_provider_that_registers_again_over_its_connection_keeps_its_calls(home):
    provider = home.provider()
    home.add()
    call = provider.call()
    provider.register(kinds=[toggle(), toggle(LAMP)], capacity=2)
    provider.answer(call, True)
    home.next("shown")
    assert home.providers()[provider.id]["kinds"] == [TORCH, LAMP]
    provider.register(kinds=[toggle(LAMP)])
    kinds = {row["kind"]: row["providers"] for row in home.client.read("control.kinds")["kinds"]}
    assert kinds == {TORCH: 0, LAMP: 1}
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


def test_one_connection_may_carry_many_providers(home):
    first = home.provider()
    second = first.beside(toggle(LAMP))
    second.register()
    torch, lamp = home.add(), home.add(kind=LAMP)
    calls = {call["control"]: call for call in (first.call(), first.call())}
    first.answer(calls[torch], True)
    second.answer(calls[lamp], False)
    assert {home.next("shown")["id"] for _ in range(2)} == {torch, lamp}
    first.leave()
    assert list(home.providers()) == [second.id]


def test_a_provider_that_keeps_failing_rests_and_is_tried_with_one_call(home):
    provider = home.provider()
    ids = [home.add() for _ in range(7)]
    calls = {id: provider.call(control=id) for id in ids}
    for id in ids[:5]:
        provider.fail(calls[id])
        home.next("failed", id=id)
    row = home.providers()[provider.id]
    assert row["failures"] == 5 and 0 < row.get("opensIn", 1) <= 1_000
    assert row["state"] in ("open", "halfOpen"), "the latter where a second has passed"
    later = {home.add() for _ in range(2)}
    probe = provider.call("value")
    assert probe["control"] in later and home.providers()[provider.id]["state"] == "halfOpen"
    later.remove(probe["control"])
    provider.uncalled()
    provider.answer(probe, True)
    home.next("shown", id=probe["control"])
    assert {provider.call("value")["control"]} == later and home.providers()[provider.id]["state"] == "live"


def test_providers_of_one_connection_are_known_by_one_pong_over_the_next_and_told_when_they_are_dropped(home):
    """A connection that libzmq makes anew under the name that the client gave it."""
    with contextlib.closing(Proxy(home.service.commands)) as proxy:
        first = RawProvider(home.wire, proxy.url, toggle(), app=home.app, routing_id=b"house-1")
        second = first.beside(toggle(LAMP))
        second.register()
        proxy.cut()
        first.say("provider.pong")
        third = first.beside(button())
        third.register()
        assert set(home.providers()) == {first.id, second.id, third.id}
        proxy.cut()
        third.register()
        told = [first._next("dropped") for _ in range(2)]
        assert {frame["provider"] for frame in told} == {first.id, second.id}
        assert {frame["reason"] for frame in told} == {"unreachable"}
        assert list(home.providers()) == [third.id]


def test_an_action_is_let_through_at_once_while_its_provider_rests(home):
    """Whatever is out beside it: a person waits for it, and what failed was about other controls."""
    provider = home.provider()
    torch = home.add()
    provider.answer(provider.call("value", control=torch), False)
    home.next("shown", id=torch)
    ids = [home.add() for _ in range(5)]
    for call in [provider.call("value", control=id) for id in ids]:
        provider.fail(call)
        home.next("failed")
    probe = home.add()
    probe = provider.call("value", control=probe)
    provider.uncalled()
    home.client.applied("control.tap", id=torch)
    action = provider.call("perform", control=torch)
    assert home.providers()[provider.id]["state"] == "halfOpen"
    provider.answer(action)
    home.next("acting", id=torch)
    # It is answered, so the provider is well: the torch's own value is asked for beside the probe.
    provider.answer(provider.call("value", control=torch), True)
    assert home.providers()[provider.id]["state"] == "live"
    provider.answer(probe, True)


def test_the_figures_of_a_provider_tell_what_it_did(home):
    provider = home.provider()
    for how in ("answer", "fail", "late"):
        if how == "late":
            provider.register(kinds=[toggle(valueDeadline=60)])
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
    row = home.providers()[provider.id]
    assert (row["calls"], row["failures"], row["late"], row["unknown"]) == (3, 2, 1, 0)
    assert 0 <= row["p50"] <= row["p99"]


def test_any_message_is_a_sign_of_life(home):
    provider = home.provider()
    while home.providers()[provider.id]["silence"] < 300:
        pass
    frames = [{"op": "service.ping", "req": "a"}, {"op": "provider.list", "req": "b"}]
    provider.socket.send_multipart([json.dumps(frame).encode() for frame in frames])
    provider.answer_to("a")
    [row] = provider.answer_to("b")["providers"]
    assert row["silence"] < 300


def test_a_provider_is_not_silent_while_a_commit_that_hangs_keeps_the_service_from_reading(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data", options={"--clock": "system"}).start()
    try:
        client = durable.client
        provider = RawProvider(wire, durable.service.commands, toggle(actionDeadline=60_000))
        id = client.applied("control.add", kind=TORCH)["control"]["id"]
        provider.gives(False)
        while client.read("control.get", id=id)["control"]["state"] != "shown":
            pass
        client.applied("control.tap", id=id)
        call = provider.call("perform")
        activity = client.start()["id"]
        with contextlib.closing(sqlite3.connect(durable.data / "journal-000001.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            # More than the batches hold that may wait for it: then nothing is read any more.
            for first in range(0, 16_000, 16):
                contents = [{"n": number, "text": "x" * 3_000} for number in range(first, first + 16)]
                client.send(*[client.command("activity.update", id=activity, contentState=new) for new in contents])
            until_nobody_reads(durable.service.commands)
            provider.answer(call)
            deadline = Deadline(17)
            while not deadline.passed:
                provider.pinged(10)
        deadline = Deadline(DEADLINE)
        while (told := client.read("control.get", id=id)["control"])["state"] == "acting":
            assert not deadline.passed, told
        assert [decision["rule"] for decision in client.read("control.explain", id=id)["decisions"]][2:4] == [
            "apple-semantics 4.2 C8 and C12", "apple-semantics 4.2 C9 and C12"]
        assert [row["id"] for row in client.read("provider.list", app=None)["providers"]] == [provider.id]
    finally:
        durable.kill()


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
    rows = home.providers()
    assert rows[deaf.id]["silence"] >= 9_000 and rows[other.id]["silence"] < 5_000
    deadline = Deadline(DEADLINE)
    while not (told := home.client.read("problem.list", app=None, family="provider")["problems"]):
        assert not deadline.passed, "dropped without a word"
    assert [(row["what"], row["id"]) for row in told] == [("silent", deaf.id)]
    deaf.dropped("silent")
    home.next("failed", failure="providerLost")
    home.next("reloading")
    other.gives(True)
    home.next("shown", value=True)
    assert list(home.providers()) == [other.id]
    deaf.register()
    assert set(home.providers()) == {deaf.id, other.id}

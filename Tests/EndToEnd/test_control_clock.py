"""Controls under the manual clock: its steps wait for the calls that they cause, and those take real time."""

import json
import time

from support.commands import Commands, encode
from support.dates import EPOCH, HOUR, MINUTE, SECOND, after
from support.provider import TORCH, toggle
from support.stalls import allowed


def begin(home, **step):
    """Begins a step of the clock; gives what to wait for."""
    command = home.client.command("clock.advance", **step)
    home.client.send(command)
    return command["req"]


def failed(home, provider):
    """Places a control whose first value fails; gives its id and when it is tried again."""
    id = home.add()
    provider.fail(provider.call("value", TORCH, id))
    return id, home.next("failed", id=id)["next"]["at"]


def test_a_step_waits_for_the_call_that_it_causes_and_goes_on_from_there(home):
    provider = home.provider()
    id, due = failed(home, provider)
    stale = home.client.applied("activity.start", type="T", attributes={}, contentState={}, staleDate=after(MINUTE))
    home.next("started")
    req = begin(home, by=2 * MINUTE)
    home.next("reloading", cause="retry")
    assert home.event["at"] == due and home.event["lateBy"] == 0
    call = provider.call("value", TORCH, id)
    home.client.silent()
    home.silent()
    provider.answer(call, True)
    assert home.next("shown")["valueAt"] == due
    home.next("stale", id=stale["activity"]["id"])
    assert home.event["at"] == after(MINUTE)
    assert home.client.answer_to(req)[0]["now"] == after(2 * MINUTE)


def test_a_step_over_many_retries_stops_at_each_of_them(home):
    provider = home.provider()
    id, due = failed(home, provider)
    req, dates = begin(home, by=MINUTE), []
    for _ in range(3):
        home.next("reloading", cause="retry")
        dates.append(home.event["at"])
        provider.fail(provider.call("value", TORCH, id))
        next_due = home.next("failed")["next"]["at"]
        assert home.event["at"] == dates[-1] == due
        due = next_due
    home.next("reloading", cause="retry")
    provider.gives(True)
    assert home.next("shown")["valueAt"] == due
    assert home.client.answer_to(req)[0]["now"] == after(MINUTE)
    assert EPOCH < dates[0] < dates[1] < dates[2]
    home.agrees(id)


def test_a_step_does_not_go_where_the_next_try_is_not_yet_due(home):
    provider = home.provider()
    id, due = failed(home, provider)
    assert home.client.advance(to=due - 1) == due - 1
    home.silent()
    provider.uncalled()
    req = begin(home, by=1)
    provider.gives(True, control=id)
    assert home.client.answer_to(req)[0]["now"] == due


def test_commands_wait_until_the_clock_has_arrived(home):
    provider = home.provider()
    id, due = failed(home, provider)
    req = begin(home, to=due + SECOND)
    call = provider.call("value")
    tap = home.client.command("control.tap", id=id)
    home.client.send(tap)
    home.client.silent()
    provider.answer(call, False)
    assert home.client.receive()[0]["req"] == req
    assert home.client.answer_to(tap["req"])[0]["outcome"] == "applied"
    assert provider.call("perform")["value"] is True
    assert [home.next()["state"] for _ in range(3)] == ["loading", "shown", "acting"]
    assert home.event["at"] == due + SECOND


def test_an_answer_is_read_though_no_more_commands_may_wait_for_the_clock(home):
    """So many wait; the others are told at once to come again, and hold nobody's answer up."""
    provider = home.provider()
    id, due = failed(home, provider)
    req = begin(home, to=due + SECOND)
    call = provider.call("value")
    first, second, third = (Commands(home.wire, home.service.commands, home.app) for _ in range(3))
    for client in (first, second):
        for _ in range(SHARE + 1):
            client.send(client.command("service.ping"))
        [refused] = client.receive()
        assert refused["req"] == f"r-{SHARE + 1}" and refused["error"]["code"] == "busy", refused
    third.send(third.command("service.ping"), third.command("service.ping", ack="none"), b"[]")
    busy, bad = third.receive()
    assert busy["error"]["code"] == "busy" and busy["error"]["retryAfter"] > 0 and bad["error"]["code"] == "badMessage"
    provider.answer(call, True)
    home.next("reloading", cause="retry")
    home.next("shown", id=id)
    assert home.client.answer_to(req)[0]["now"] == due + SECOND
    for client in (first, second):
        answers = [client.receive()[0] for _ in range(SHARE)]
        assert [(answer["req"], answer["ok"]) for answer in answers] == [(f"r-{n + 1}", True) for n in range(SHARE)]


SHARE = 512
"""So many messages of one connection wait for the clock, and twice as many in all."""


def test_an_answer_is_taken_wherever_in_its_message_it_stands(home):
    provider = home.provider()
    id, due = failed(home, provider)
    req = begin(home, to=due)
    home.next("reloading", cause="retry")
    call = provider.call("value")
    answer = {"op": "provider.answer", "provider": provider.id, "call": call["call"]}
    stranger = {"op": "provider.answer", "provider": provider.id, "call": "1", "req": "p-2"}
    frames = [{"op": "service.ping", "req": "p-1"}, stranger, {**answer, "value": True}, {"op": "service.ping", "req": "p-3"}]
    provider.socket.send_multipart([encode(frame) for frame in frames])
    home.next("shown", id=id, value=True)
    assert home.client.answer_to(req)[0]["now"] == due
    answers = [json.loads(frame) for frame in home.wire.receive(provider.socket)]
    assert [(answer["req"], answer["ok"]) for answer in answers] == [("p-1", True), ("p-2", False), ("p-3", True)]


def test_an_answer_behind_the_step_in_its_own_message_does_not_wait_for_it(home):
    provider = home.provider()
    id = home.add()
    call = provider.call("value")
    step = {"op": "clock.advance", "by": MINUTE, "req": "p-1"}
    answer = {"op": "provider.answer", "provider": provider.id, "call": call["call"], "value": True}
    provider.socket.send_multipart([encode(step), encode(answer)])
    home.next("shown", id=id, value=True)
    assert home.event["at"] == EPOCH
    assert provider.answer_to("p-1")["now"] == after(MINUTE)


def test_an_answer_that_is_refused_lets_the_clock_go_on_at_once(home):
    provider = home.provider()
    id, due = failed(home, provider)
    req = begin(home, to=due)
    home.next("reloading", cause="retry")
    provider.say("provider.answer", call=provider.call("value")["call"], value=True, colour="red")
    provider.refused("unknownField")
    home.next("failed", id=id, failure="badAnswer")
    assert home.client.answer_to(req)[0]["now"] == due


def test_a_call_that_was_made_before_the_step_is_waited_for_too(home):
    provider = home.provider()
    id = home.shown(provider)
    home.tap(id)
    home.next("acting")
    action = provider.call("perform")
    req = begin(home, by=MINUTE)
    home.client.silent()
    provider.answer(action)
    home.next("performed")
    assert home.event["at"] == EPOCH
    value = provider.call("value")
    home.client.silent()
    provider.answer(value, True)
    home.next("shown")
    assert home.event["at"] == EPOCH
    assert home.client.answer_to(req)[0]["now"] == after(MINUTE)


def test_deadlines_of_calls_are_of_real_time_while_the_clock_stands(home):
    provider = home.provider(toggle(valueDeadline=200, actionDeadline=300))
    begun = time.monotonic()
    id = home.add()
    home.next("failed", failure="timedOut")
    assert 0.2 <= time.monotonic() - begun < 0.2 + allowed(begun)
    begun = time.monotonic()
    home.tap(id)
    home.next("acting")
    home.next("failed", failure="timedOut")
    assert 0.3 <= time.monotonic() - begun < 0.3 + allowed(begun)
    assert home.event["at"] == EPOCH and provider.pings == 0


def test_the_clock_alone_lets_no_call_time_out(home):
    provider = home.provider()
    id = home.add()
    call = provider.call()
    req = begin(home, by=1_000 * MINUTE)
    home.client.silent()
    provider.answer(call, True)
    home.next("shown", id=id, failure=None)
    assert home.client.answer_to(req)[0]["ok"]


def test_what_a_provider_says_in_the_middle_of_a_step_is_not_dated_before_what_was_told(home):
    """Far more is due on the way than a turn does, and nobody is asked for it: the clock goes on without a stop, and an
    action that had been given up ends meanwhile."""
    provider, late = home.given_up()
    for message in range(MESSAGES):
        home.client.batch(*[start(home, after(message * SECOND + number + 1)) for number in range(STARTS)])
    for _ in range(MESSAGES * STARTS):
        home.next("started")
    req = begin(home, by=HOUR)
    home.next("stale")
    provider.answer(late)
    provider.gives(True)
    assert home.client.answer_to(req)[0]["now"] == after(HOUR)
    dates = []
    while len(dates) < MESSAGES * STARTS + 1:  # one is taken, and the control asks and shows what it is told
        home.next()
        dates.append(home.event["at"])
    assert dates == sorted(dates)
    assert home.agrees(late["control"])["value"] is True


MESSAGES, STARTS = 40, 250


def start(home, stale):
    return home.client.command("activity.start", type="T", attributes={}, contentState={}, staleDate=stale)


def test_a_provider_that_answers_nothing_delays_a_step_by_its_deadlines_at_most(home):
    provider = home.provider(toggle(valueDeadline=50))
    ids = home.add_many(3)
    while home.replica.seq < 2 * len(ids):
        home.next()
    begun = time.monotonic()
    assert home.client.advance(by=20 * MINUTE) == after(20 * MINUTE)
    elapsed = time.monotonic() - begun
    seq = home.bulk.digest()["seq"]
    dates = {id: [] for id in ids}
    while home.replica.seq < seq:
        id = home.next()["id"]
        if home.event["cause"] == "retry":
            dates[id].append(home.event["at"])
    tries = sum(map(len, dates.values()))
    assert all(len(tried) >= 8 and tried == sorted(set(tried)) for tried in dates.values())
    assert max(later - one for tried in dates.values() for one, later in zip(tried, tried[1:])) <= 360 * SECOND
    # Each of them in its turn, and a margin for a machine that has much to do.
    assert elapsed <= tries * 0.05 + 10, (elapsed, tries)
    provider.drain()


def test_a_provider_that_goes_in_the_middle_of_a_step_does_not_hold_it(home):
    provider, other = home.provider(), home.provider(register=False)
    id, due = failed(home, provider)
    req = begin(home, by=MINUTE)
    provider.call("value")
    provider.leave()
    assert home.client.answer_to(req)[0]["now"] == after(MINUTE)
    home.next("reloading")
    home.next("failed", failure="noProvider", next=None)
    other.register()
    home.next("reloading", id=id, cause="registration")
    assert home.event["at"] == after(MINUTE)


def test_many_controls_are_tried_again_each_at_its_own_time(home):
    provider = home.provider(capacity=64)
    due = {}
    for number in range(20):
        id = home.add()
        call = provider.call("value", TORCH, id)
        if number % 4 == 3:
            # In between one is well, so that the breaker sees no five failures in a row.
            provider.answer(call, True)
            home.next("shown")
        else:
            provider.fail(call)
            due[id] = home.next("failed")["next"]["at"]
    req = begin(home, by=2 * SECOND)
    for _ in due:
        provider.gives(True, op="value")
    assert home.client.answer_to(req)[0]["now"] == after(2 * SECOND)
    tried = []
    for _ in range(2 * len(due)):
        id = home.next()["id"]
        if home.event["cause"] == "retry":
            tried.append((home.event["at"], id))
    dates = [at for at, _ in tried]
    assert dates == sorted(dates) and {id: at for at, id in tried} == due
    assert len(set(due.values())) > len(due) / 2, "they were to come at times of their own"


def test_a_step_stops_at_the_end_of_a_reload_of_many_as_well(home):
    """A reload of many takes several turns, and the last of them asks too."""
    home.provider().leave()
    for _ in range(5):
        home.add_many(240)
    start = home.client.applied("activity.start", type="T", attributes={}, contentState={}, staleDate=after(HOUR))
    step = home.client.command("clock.advance", by=2 * HOUR)
    home.client.send(home.client.command("control.reload", kind=TORCH), step)
    assert home.client.receive()[1]["now"] == after(2 * HOUR)
    events = [json.loads(body) for _, body in home.bulk.replay(start["seq"]).rows]
    dates = [event["at"] for event in events]
    assert dates == sorted(dates)
    assert events[-1]["event"] == "activity.stale" and {event["at"] for event in events[:-1]} == {after(0)}

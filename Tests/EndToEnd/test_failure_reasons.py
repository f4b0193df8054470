"""What a provider says of a call that it fails: shown to whoever may read the app, bounded, printable, and kept."""

import json

import pytest

from support.cli import Islet
from support.dates import HOUR
from support.durable import Durable
from support.followed import as_followed
from support.home import Home
from support.provider import DOOR, button, toggle
from support.widgets import Board, widget

DOWN = "RuntimeError: db down"
LIMIT = 256

SHOWN = [
    (DOWN, DOWN), ("x", "x"), ("", None), (" ", None), ("\n\t\0", None), (None, None),
    ("a\0b\x1b[2J\r\nc\x7fd", "a b [2J  c d"), ("\x9b1m\u202e\u2028\ufeff.", " 1m   ."), ('say "no" \\ /', 'say "no" \\ /'),
    ("👩‍🚀 東京", "👩‍🚀 東京"),
    ("x" * (LIMIT - 1), "x" * (LIMIT - 1)), ("x" * LIMIT, "x" * LIMIT), ("x" * (LIMIT + 1), "x" * LIMIT),
    ("x" * (LIMIT - 1) + "é", "x" * (LIMIT - 1)), ("x" * (LIMIT - 2) + "é", "x" * (LIMIT - 2) + "é"),
    ("é" * LIMIT, "é" * (LIMIT // 2)), ("\n" * LIMIT + "x", None), ('"' * 512, '"' * LIMIT)]


@pytest.mark.parametrize("said, shown", SHOWN, ids=[repr(said)[:20] for said, _ in SHOWN])
def test_what_a_provider_says_is_shown_as_far_as_it_has_room_and_is_printable(home, said, shown):
    provider = home.provider()
    id = home.add()
    provider.fail(provider.call("value"), message=said)
    patch = home.next("failed", failure="threw", failureReason=shown)
    assert ("failureReason" in patch) == (shown is not None)
    control = home.agrees(id)
    assert control.get("failureReason") == shown and control["failure"] == "threw"
    row = json.loads(home.bulk.snapshot().rows[0][1])["control"]
    assert as_followed(row) == control


def test_a_lone_surrogate_is_a_replacement_character(home):
    provider = home.provider()
    id = home.add()
    call = provider.call("value")["call"]
    provider.socket.send_multipart([
        b"", f'{{"op":"provider.fail","provider":"{provider.id}","call":"{call}","message":"\\ud800!"}}'.encode()])
    home.next("failed", failureReason="\ufffd!")
    home.agrees(id)


def test_more_than_a_command_may_have_is_refused_and_is_no_reason(home):
    provider = home.provider()
    id = home.add()
    provider.fail(provider.call("value"), message="x" * 1_025)
    home.next("failed", failure="badAnswer", failureReason=None)
    assert "failureReason" not in home.agrees(id)


def test_it_goes_with_the_next_success_and_with_another_failure(home):
    provider = home.provider()
    id = home.shown(provider)

    def fails(patch, **members):
        home.client.applied("control.reload", id=id)
        assert "failureReason" not in home.next("reloading"), "while it is asked again, it is shown"
        provider.fail(provider.call("value"), **members)
        assert home.next("failed").get("failureReason", "as before") == patch
        return home.agrees(id).get("failureReason")

    def does_well():
        home.client.applied("control.reload", id=id)
        home.next("reloading")
        provider.gives(True)
        return home.next("shown", failure=None)

    assert fails(DOWN, message=DOWN) == DOWN
    assert fails("as before", message=DOWN) == DOWN
    assert fails("no table", message="no table") == "no table"
    assert does_well()["failureReason"] is None and "failureReason" not in home.agrees(id)
    assert fails(DOWN, message=DOWN) == DOWN
    assert fails(None) is None
    assert fails("as before") is None
    assert "failureReason" not in does_well()
    assert fails(DOWN, message=DOWN) == DOWN
    home.client.applied("control.reload", id=id)
    home.next("reloading")
    provider.call("value")
    provider.leave()
    patch = home.next("failed")
    assert patch["failure"] in ("providerLost", "noProvider") and patch["failureReason"] is None
    assert "failureReason" not in home.agrees(id)


def test_a_wish_that_follows_at_once_takes_the_reason_away_behind_the_event_that_tells_it(home):
    provider = home.provider()
    id = home.shown(provider, False)
    home.tap(id)
    home.next("acting")
    call = provider.call("perform")
    home.tap(id)
    home.next("acting")
    provider.fail(call, message="jammed")
    home.next("failed", failure="threw", failureReason="jammed")
    assert home.next("acting", failure=None)["failureReason"] is None
    home.agrees(id)


def test_a_widget_shows_it_beside_its_last_entry(board):
    provider = board.provider(widget())
    id = board.placed(provider)
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    provider.fails(id, message=DOWN)
    board.next("failed", failure="threw", failureReason=DOWN)
    whole = board.agrees(id)
    assert whole["failureReason"] == DOWN and whole["entry"]
    with board.travel(to=whole["next"]["at"]):
        provider.shows_now(1, id=id)
    board.next("reloading", cause="retry")
    patch = board.next("timeline", failure=None)
    assert patch["failureReason"] is None and "failureReason" not in board.agrees(id)


def test_an_action_of_a_widget_shows_it_until_the_timeline_after_it(board):
    provider = board.provider(widget())
    id = board.placed(provider)
    board.client.applied("widget.tap", id=id, action="buy")
    board.next("acting")
    provider.fail(provider.call("perform"), message="sold out")
    board.next("failed", failure="threw", failureReason="sold out")
    board.next("reloading")
    assert board.agrees(id)["failureReason"] == "sold out"
    provider.shows_now(1, id=id)
    board.next("timeline", failureReason=None)
    board.agrees(id)


def test_of_two_providers_the_one_that_failed_last_says_why(home):
    first, second = home.provider(), home.provider()
    id = home.add()
    first.fail(first.call("value"), retryable=True, message="first")
    second.fail(second.call("value"), message="second")
    home.next("failed", failureReason="second")
    home.agrees(id)


def test_a_first_failure_that_stands_has_its_reason_though_it_waited_for_another_provider(home):
    first, second = home.provider(capacity=1), home.provider(capacity=1)
    home.add(), home.add()
    call, other = first.call("value"), second.call("value")
    first.fail(call, retryable=True, message=DOWN)
    home.client.read("service.ping")
    second.leave()
    home.next("failed", id=call["control"], failure="threw", failureReason=DOWN)
    first.gives(True, control=other["control"])
    home.next("shown", id=other["control"])
    for id in (call["control"], other["control"]):
        home.agrees(id)


# Hidden


def test_a_control_that_is_hidden_does_not_show_it_nor_does_its_past(home):
    provider = home.provider(button(privacySensitive=True))
    id = home.add(DOOR, device="phone")
    secret = "s3cr3t"

    def device(event):
        home.client.read("device.event", device="phone", event=event)

    def explained():
        return home.client.read("control.explain", id=id)["decisions"]

    def reasons():
        return [decision.get("failureReason") for decision in explained() if decision["event"] == "control.failed"]

    def told():
        reads = [home.client.read(op, id=id) for op in ("control.get", "control.history", "control.explain")]
        return json.dumps([*reads, home.client.read("problem.list")])

    home.client.applied("control.tap", id=id)
    home.next("acting")
    provider.fail(provider.call("perform"), message=secret)
    home.next("failed", failureReason=secret)
    assert reasons() == [secret] and secret in told()
    device("lock")
    patch = home.next("redacted")
    assert patch["failureReason"] is None
    assert home.agrees(id)["failure"] == "threw"
    assert reasons() == [None] and secret not in told()
    home.client.applied("control.tap", id=id)
    home.next("acting")
    provider.fail(provider.call("perform"), message=secret + "2")
    assert secret not in json.dumps(home.next("failed", failure="threw"))
    home.agrees(id)
    assert secret not in told()
    device("unlock")
    home.next("revealed", failureReason=secret + "2")
    home.agrees(id)
    assert reasons() == [secret, secret + "2"]


# Explained


def test_explain_tells_each_failure_its_own_reason(home):
    provider = home.provider()
    id = home.shown(provider)
    for message in (DOWN, DOWN, "no table", None):
        home.client.applied("control.reload", id=id)
        home.next("reloading")
        provider.fail(provider.call("value"), message=message)
        home.next("failed")
    decisions = home.client.read("control.explain", id=id)["decisions"]
    failed = [decision for decision in decisions if decision["event"] == "control.failed"]
    assert [decision.get("failureReason") for decision in failed] == [DOWN, DOWN, "no table", None]
    assert all("failureReason" not in decision for decision in decisions if decision not in failed)


# Kept


@pytest.fixture
def house(tmp_path, wire):
    house = Durable(wire, tmp_path / "house")
    yield house
    house.kill()


@pytest.mark.parametrize("ends", ["stop", "kill"])
@pytest.mark.parametrize("begins", [[], ["stop"]], ids=["from events", "from a snapshot"])
def test_it_outlives_the_process(house, wire, begins, ends):
    house.start()
    home = Home(wire, house.service)
    provider = home.provider(toggle(), button())
    torch, door = home.shown(provider), home.add(DOOR)
    home.client.applied("control.reload", id=torch)
    provider.fail(provider.call("value"), message=DOWN)
    home.until(torch, failureReason=DOWN)
    home.client.applied("control.tap", id=door)
    provider.fail(provider.call("perform"), message='no "power"\n')
    home.until(door, failureReason='no "power" ')
    before = [home.get(id) for id in (torch, door) if home.agrees(id)]
    for end in [*begins, ends]:
        getattr(house, end)().start()
    assert [house.client.read("control.get", id=id)["control"] for id in (torch, door)] == before
    explained = house.client.read("control.explain", id=torch)["decisions"]
    assert [decision["failureReason"] for decision in explained if decision["event"] == "control.failed"] == [DOWN]
    history = house.client.read("control.history", id=door)["events"]
    told = [event["control"]["failureReason"] for event in history if event["event"] == "control.failed"]
    assert told == ['no "power" ']


def test_explain_reads_the_reasons_of_former_processes_from_files(house, wire):
    house.start()
    home = Home(wire, house.service)
    provider = home.provider()
    id = home.shown(provider)
    for message in (DOWN, DOWN, "no table", None):
        home.client.applied("control.reload", id=id)
        home.next("reloading")
        provider.fail(provider.call("value"), message=message)
        home.next("failed")
    house.restart()
    home = Home(wire, house.service)
    home.replica.load(home.bulk.snapshot().rows)
    provider = home.provider()
    provider.fail(provider.call("value"), message="no network")
    home.until(id, failureReason="no network")
    decisions = home.client.read("control.explain", id=id)["decisions"]
    failed = [decision.get("failureReason") for decision in decisions if decision["event"] == "control.failed"]
    assert failed[:4] == [DOWN, DOWN, "no table", None] and failed[-1] == "no network"


@pytest.mark.parametrize("ends", ["stop", "kill"])
def test_that_of_a_widget_outlives_the_process(house, wire, ends):
    house.start()
    board = Board(wire, house.service)
    provider = board.provider(widget())
    id = board.placed(provider)
    board.rest(by=HOUR)
    board.reload(id)
    provider.fails(id, message="sold out")
    board.until(id, failureReason="sold out")
    # What is told of it whole has the reason as what is told in part.
    board.client.applied("widget.configure", id=id, rendering={"mode": "fullColor"})
    board.until(id, rendering={"mode": "fullColor"})
    getattr(house, ends)().start()
    whole = house.client.read("widget.get", id=id)["widget"]
    assert (whole["failure"], whole["failureReason"], whole["rendering"]) == ("threw", "sold out", {"mode": "fullColor"})
    house.restart()
    assert house.client.read("widget.get", id=id)["widget"]["failureReason"] == "sold out"


# Found and shown


def test_problems_say_it_and_filters_find_it(home):
    provider = home.provider(toggle(), button(hasValue=False))
    torch, well = home.shown(provider), home.shown(provider)
    home.client.applied("control.reload", id=torch)
    provider.fail(provider.call("value"), message=DOWN)
    home.until(torch, failureReason=DOWN)
    [row] = home.client.read("problem.list")["problems"]
    assert (row["failure"], row["failureReason"]) == ("threw", DOWN)
    islet = Islet(home.service)
    for family in ("control", "problem"):
        listed = ["problems"] if family == "problem" else ["control", "list"]
        done = islet(*listed, "--filter", f"failureReason = '{DOWN}'", "--json", code=None)
        assert [row["id"] for row in done.json] == [torch] and well
    assert f"failed: {DOWN}" in islet("control", "get", torch).out
    assert f"failed: {DOWN}" in islet("control", "list").out
    assert f"failure: {DOWN}" in islet("explain", torch).out
    assert f": {DOWN}" in islet("problems", code=1).out

"""The Smart Stack of a device: the order by relevance now, the rule that decided, and rotations."""

import itertools

import pytest

from support.dates import EPOCH, HOUR, MINUTE, after
from support.durable import Durable
from support.widgets import CLOCK, FORECAST, Board, entry, widget


def scored(date, score, duration=None, n=None):
    return entry(date, n, relevance={"score": score, **({} if duration is None else {"duration": duration})})


def rows(board, device="phone"):
    answer = board.client.read("widget.stack", device=device)
    assert answer["device"] == device
    return answer["stack"]


def rules(board):
    return [(row["id"], row["rule"]) for row in rows(board)]


@pytest.fixture
def provider(board):
    """Of kinds that say nothing of their relevance."""
    return board.provider(widget(), widget(CLOCK))


def place(board, provider, *entries, device="phone", **fields):
    """Places a widget; of those that are placed at one date the later ones have the lower ids."""
    return board.placed(provider, *entries, device=device, id=next(IDS), **fields)


IDS = (f"0198c0de-0000-7000-8000-{10**12 - number:012}" for number in itertools.count(1))


def rotations(board, count):
    """The next rotations: who is on top, who no longer is."""
    seen = []
    for _ in range(count):
        patch = board.next("rotated", cause="stack")
        assert "isOnTop" in patch
        seen.append((patch["id"], patch["isOnTop"]))
    return seen


def test_without_relevance_the_first_placed_is_on_top(board, provider):
    ids = [place(board, provider) for _ in range(3)]
    assert rules(board) == [(id, "placement") for id in ids]
    assert rows(board)[0] == {"id": ids[0], "app": board.app, "kind": FORECAST, "rule": "placement"}
    assert board.get(ids[0])["isOnTop"] is True
    assert all("isOnTop" not in board.get(id) for id in ids[1:])
    for id in ids:
        board.agrees(id)


def test_the_order_of_placing_outlasts_a_restart(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data").start()
    try:
        board = Board(wire, durable.service)
        provider = board.provider()
        ids = [place(board, provider) for _ in range(3)]
        assert board.stack() == ids
        board = Board(wire, durable.restart().service)
        assert board.stack() == ids
        ids.append(place(board, board.provider()))
        assert board.stack() == ids
        # Now from the snapshot.
        board = Board(wire, durable.stop().start().service)
        assert board.stack() == ids
    finally:
        durable.stop()


def test_an_app_that_is_uninstalled_leaves_a_new_first_of_the_stack_and_no_other_rotation(board, provider):
    gone = [place(board, provider, family="systemSmall") for _ in range(4)]
    other = Board(board.wire, board.service, "com.example.other")
    its = other.provider()
    stays = [place(other, its) for _ in range(2)]
    assert board.stack() == gone + stays
    before = other.get(stays[0])["revision"]
    board.client.read("device.event", device="phone", event="uninstall", app=board.app)
    for id in gone:
        board.next("removed", id=id)
    assert rotations(other, 1) == [(stays[0], True)] and other.get(stays[0])["revision"] == before + 1
    assert other.stack() == stays
    board.silent()


def test_a_duration_beyond_all_dates_lasts_until_the_next_entry(board, provider):
    id = place(board, provider, scored(EPOCH, 1, duration=2**53))
    assert rows(board) == [
        {"id": id, "app": board.app, "kind": FORECAST, "rule": "entryRelevance", "score": 1}]
    assert all(timer["at"] < 10**13 for timer in board.client.read("timer.list", app=None)["timers"])


def test_a_stack_is_of_its_device_alone_and_widgets_without_a_device_are_in_none(board, provider):
    here, there, nowhere = place(board, provider), place(board, provider, device="tablet"), board.placed(provider)
    assert board.stack() == [here] and board.stack("tablet") == [there] and board.stack("watch") == []
    assert board.get(here)["isOnTop"] and board.get(there)["isOnTop"] and "isOnTop" not in board.get(nowhere)


def test_the_relevance_of_the_entry_that_is_shown_comes_first(board, provider):
    plain = place(board, provider)
    low = place(board, provider, scored(EPOCH, 1), scored(after(5 * HOUR), 4))
    high = place(board, provider, scored(EPOCH, 30), scored(after(6 * HOUR), 40))
    assert board.stack() == [high, low, plain]
    first, second, third = rows(board)
    assert (first["rule"], first["score"]) == ("entryRelevance", 0.75) and "until" not in first, "until the next entry"
    assert (second["rule"], second["score"]) == ("entryRelevance", 0.25)
    assert third["rule"] == "placement" and "score" not in third


def test_scores_are_compared_with_those_of_their_own_timeline_alone(board, provider):
    modest = place(board, provider, scored(EPOCH, 0.5))
    loud = place(board, provider, scored(EPOCH, 500), scored(after(HOUR), 1_000))
    assert board.stack() == [modest, loud], "the first is at its highest, the second at half of its own"


def test_a_score_of_zero_is_none(board, provider):
    zero, plain = place(board, provider, scored(EPOCH, 0)), place(board, provider)
    assert rules(board) == [(zero, "placement"), (plain, "placement")]


def test_equal_scores_stand_as_they_were_placed(board, provider):
    ids = [place(board, provider, scored(EPOCH, score)) for score in (3, 7, 5)]
    assert board.stack() == ids


def test_a_duration_ends_the_relevance_and_the_stack_rotates(board, provider):
    plain = place(board, provider)
    brief = place(board, provider, scored(EPOCH, 1, duration=30 * MINUTE))
    assert rows(board)[0] | {"score": 1} == {
        "id": brief, "app": board.app, "kind": FORECAST, "rule": "entryRelevance", "score": 1,
        "until": after(30 * MINUTE)}
    board.rest(to=after(30 * MINUTE) - 1)
    assert board.stack() == [brief, plain]
    board.rest(by=1)
    assert rules(board) == [(plain, "placement"), (brief, "placement")]
    assert board.agrees(plain)["isOnTop"] and "isOnTop" not in board.agrees(brief)
    events = [event for event in board.client.read("widget.history", id=brief)["events"]
              if event["event"] == "widget.rotated"]
    assert [(event["at"], event["widget"]["isOnTop"]) for event in events] == [
        (EPOCH, True), (after(30 * MINUTE), None)]
    assert "lateBy" not in events[0] and events[1]["lateBy"] == 0


@pytest.mark.parametrize("duration", [None, 0, 10 * HOUR])
def test_relevance_lasts_until_the_next_entry_at_most(board, provider, duration):
    plain = place(board, provider)
    id = place(board, provider, scored(EPOCH, 1, duration), entry(after(HOUR)))
    assert board.stack() == [id, plain]
    board.rest(by=HOUR)
    assert board.stack() == [plain, id]


def test_the_last_entry_without_a_duration_stays_relevant(board, provider):
    plain = place(board, provider)
    id = place(board, provider, scored(EPOCH, 1))
    assert "until" not in rows(board)[0]
    board.rest(by=30 * HOUR)
    assert board.stack() == [id, plain]


def test_the_next_entrys_relevance_takes_effect_at_its_date(board, provider):
    first = place(board, provider, scored(EPOCH, 10), scored(after(2 * HOUR), 1))
    second = place(board, provider, scored(EPOCH, 5), scored(after(HOUR), 10))
    assert board.stack() == [first, second]
    board.rest(by=HOUR)
    assert board.stack() == [first, second], "both at their highest: as they were placed"
    board.rest(by=HOUR)
    assert [(row["id"], row["score"]) for row in rows(board)] == [(second, 1), (first, pytest.approx(0.1))]


def test_a_rotation_is_told_of_both(board, provider):
    first = place(board, provider)
    assert board.agrees(first)["isOnTop"] is True
    second = board.add(device="phone", id=next(IDS))
    provider.shows(scored(EPOCH, 1), id=second, policy="never")
    board.next("timeline", id=second)
    assert sorted(rotations(board, 2), key=str) == sorted([(second, True), (first, None)], key=str)
    assert board.event["at"] == EPOCH and (board.event["from"], board.event["to"]) == ("shown", "shown")
    board.silent()
    board.client.applied("widget.remove", id=second)
    board.next("removed", id=second)
    assert rotations(board, 1) == [(first, True)]
    board.silent()
    board.agrees(first)


def test_what_does_not_change_the_top_rotates_nothing(board, provider):
    top = place(board, provider, scored(EPOCH, 1))
    other = place(board, provider)
    board.agrees(top)
    board.agrees(other)
    seq = board.bulk.digest()["seq"]
    third = place(board, provider, scored(EPOCH, 1), scored(after(HOUR), 2))
    assert board.stack() == [top, third, other]
    assert board.bulk.digest()["seq"] == seq + 2, "added, timeline"


# The relevance of kinds


@pytest.fixture
def kinds(board):
    """A provider of two kinds that say when they are relevant; and what it says."""
    provider = board.provider(widget(providesRelevance=True, parameters=[
        {"name": "city", "type": "string", "isOptional": True}]), widget(CLOCK, providesRelevance=True))
    for call in provider.calls(0.2):
        provider.answer(call, [])

    def say(kind, *relevances):
        board.client.applied("widget.invalidateRelevance", kind=kind)
        call = provider.call("relevance", kind)
        provider.answer(call, list(relevances))
        board.client.read("widget.kinds")
        provider.uncalled(0.1)

    def relevance():
        """The call for a relevance that is asked for anew."""
        board.client.applied("widget.invalidateRelevance", kind=FORECAST)
        return provider.call("relevance", FORECAST)

    provider.say_relevance, provider.relevance = say, relevance
    return provider


def test_a_relevant_kind_is_above_placement_and_below_the_entries(board, kinds):
    clock = place(board, kinds, kind=CLOCK)
    forecast = place(board, kinds)
    scoring = place(board, kinds, scored(EPOCH, 1), kind=CLOCK)
    kinds.say_relevance(FORECAST, {})
    assert rules(board) == [(scoring, "entryRelevance"), (forecast, "widgetRelevance"), (clock, "placement")]


def test_a_kind_that_says_no_more_that_it_has_relevance_stands_where_it_was_placed(board, kinds):
    clock = place(board, kinds, kind=CLOCK)
    forecast = place(board, kinds)
    kinds.say_relevance(FORECAST, {})
    assert rules(board) == [(forecast, "widgetRelevance"), (clock, "placement")]
    kinds.widgets[0] = {name: value for name, value in kinds.widgets[0].items() if name != "providesRelevance"}
    kinds.register()
    assert rules(board) == [(clock, "placement"), (forecast, "placement")]
    # What it said before is not taken for true when it says again that it has some: it is asked.
    kinds.widgets[0] = {**kinds.widgets[0], "providesRelevance": True}
    kinds.register()
    call = kinds.call("relevance", FORECAST)
    assert rules(board) == [(clock, "placement"), (forecast, "placement")]
    kinds.answer(call, [{}])
    kinds.uncalled(0.1)
    assert rules(board) == [(forecast, "widgetRelevance"), (clock, "placement")]


def test_a_kind_is_relevant_between_its_dates(board, kinds):
    clock, forecast = place(board, kinds, kind=CLOCK), place(board, kinds)
    kinds.say_relevance(FORECAST, {"from": after(HOUR), "to": after(2 * HOUR)})
    assert board.stack() == [clock, forecast]
    board.rest(to=after(HOUR) - 1)
    assert board.stack() == [clock, forecast]
    board.rest(by=1)
    assert board.stack() == [forecast, clock] and rows(board)[0].get("until") == after(2 * HOUR)
    board.rest(to=after(2 * HOUR))
    assert board.stack() == [clock, forecast]
    assert board.agrees(clock)["isOnTop"]


def test_a_relevance_with_a_configuration_is_of_widgets_with_that_one(board, kinds):
    berlin = place(board, kinds, configuration={"city": "berlin"})
    paris = place(board, kinds, configuration={"city": "paris"})
    kinds.say_relevance(FORECAST, {"configuration": {"city": "paris"}})
    assert rules(board) == [(paris, "widgetRelevance"), (berlin, "placement")]


SPELLINGS = ('{"city": "Köln", "size":1.5}', '{"size":15e-1,"city":"K\\u00f6ln"}',
             '{ "city" :"Köln","size":1.50,"note":null}')


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_relevance_is_of_widgets_with_its_configuration_however_that_is_written(board, kinds, spelling):
    parameters = [{"name": "city", "type": "string"}, {"name": "size", "type": "number"},
                  {"name": "note", "type": "string", "isOptional": True}]
    kinds.widgets = [widget(providesRelevance=True, parameters=parameters)]
    kinds.register()
    kinds.answer(kinds.call("relevance", FORECAST), [])
    place(board, kinds, configuration={"city": "Kassel", "size": 1.5})
    meant = place(board, kinds, configuration={"city": "Köln", "size": 1.5})
    board.client.applied("widget.invalidateRelevance", kind=FORECAST)
    call = kinds.call("relevance", FORECAST)
    kinds.socket.send((
        '{"op":"provider.answer","provider":"%s","call":"%s","value":[{"configuration":%s}]}'
        % (kinds.id, call["call"], spelling)).encode())
    kinds.register()  # what was said before is known by then
    assert rules(board)[0] == (meant, "widgetRelevance")
    # To be configured so is to be left as it is.
    [answer] = board.client.raw((
        '{"op":"widget.configure","app":"%s","id":"%s","configuration":%s}' % (board.app, meant, spelling)).encode())
    assert answer["outcome"] == "ignored" and board.get(meant)["configuration"] == {"city": "Köln", "size": 1.5}


CITY_AND_DAYS = [{"name": "city", "type": "string", "default": "berlin"},
                 {"name": "days", "type": "integer", "default": 5}]


@pytest.fixture
def configured(board, kinds):
    """The provider, of a kind whose parameters have defaults."""
    kinds.widgets = [widget(providesRelevance=True, parameters=CITY_AND_DAYS)]
    kinds.register()
    kinds.answer(kinds.call("relevance", FORECAST), [])
    return kinds


@pytest.mark.parametrize("relevant", [
    {"city": "berlin", "days": 5}, {"days": 5e0}, {"city": "berlin", "days": None}, {}])
@pytest.mark.parametrize("placed", [None, {}, {"city": None}, {"city": "berlin"}, {"days": 5, "city": "berlin"}])
def test_to_a_relevance_what_a_configuration_leaves_out_is_the_default_that_its_kind_declares(
        board, configured, relevant, placed):
    place(board, configured, configuration={"city": "paris"})
    place(board, configured, configuration={"days": 4})
    meant = place(board, configured, configuration=placed)
    configured.answer(configured.relevance(), [{"configuration": relevant}])
    configured.register()  # what was said before is known by then
    assert [row["id"] for row in rows(board) if row["rule"] == "widgetRelevance"] == [meant]


def test_what_is_left_out_beside_what_is_configured_is_filled_in_too(board, configured):
    place(board, configured)
    meant = place(board, configured, configuration={"city": "paris"})
    configured.answer(configured.relevance(), [{"configuration": {"city": "paris", "days": 5}}])
    configured.register()
    assert rules(board)[0] == (meant, "widgetRelevance")
    # A default that is written out changes what is there all the same, and is kept as it was written.
    written = {"city": "paris", "days": 5}
    board.client.applied("widget.configure", id=meant, configuration=written)
    assert board.get(meant)["configuration"] == written
    assert rules(board)[0] == (meant, "widgetRelevance")


def test_the_defaults_of_a_relevance_are_those_that_hold_now_also_after_a_restart(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data").start()

    def now(board):
        return [row["id"] for row in rows(board) if row["rule"] == "widgetRelevance"]

    def declared(city):
        return widget(providesRelevance=True, parameters=[{"name": "city", "type": "string", "default": city}])

    try:
        board = Board(wire, durable.service)
        provider = board.provider(declared("berlin"))
        provider.answer(provider.call("relevance"), [{"configuration": {"city": "berlin"}}])
        provider.register()
        bare = board.add(device="phone", id=next(IDS))
        berlin = board.add(device="phone", id=next(IDS), configuration={"city": "berlin"})
        assert now(board) == [bare, berlin]
        board = Board(wire, durable.restart().service)
        assert now(board) == [bare, berlin]
        # From here on a widget that says nothing is one of Paris, whatever its provider said of Berlin.
        provider = board.provider(declared("paris"))
        assert now(board) == [berlin] and board.get(berlin)["isOnTop"]
        # Now from the snapshot.
        board = Board(wire, durable.stop().start().service)
        assert now(board) == [berlin]
    finally:
        durable.stop()


def test_a_relevance_that_could_not_be_had_is_asked_for_again_later_each_time(board, kinds):
    place(board, kinds, kind=CLOCK)
    forecast = place(board, kinds)
    board.client.applied("widget.invalidateRelevance", kind=FORECAST)
    kinds.fail(kinds.call("relevance", FORECAST))
    kinds.register()  # what was said before is known by then
    last = board.now
    with board.travel(by=10 * MINUTE):
        for number in range(3):
            call = kinds.call("relevance", FORECAST)
            wait, last = (call["now"] - last) / MINUTE, call["now"]
            assert 0.8 <= wait / 2**number <= 1.2
            if number < 2:
                kinds.fail(call)
        kinds.answer(call, [{}])
    assert rules(board)[0] == (forecast, "widgetRelevance")
    board.rest(by=HOUR)
    kinds.uncalled()


def test_a_relevance_that_fails_is_not_asked_for_again_when_its_kind_says_no_more_that_it_has_one(board, kinds):
    board.client.applied("widget.invalidateRelevance", kind=FORECAST)
    kinds.fail(kinds.call("relevance", FORECAST))
    kinds.register()
    kinds.widgets[0] = {name: value for name, value in kinds.widgets[0].items() if name != "providesRelevance"}
    kinds.register()
    board.rest(by=HOUR)
    kinds.uncalled()


def test_the_order_of_the_list_is_the_order_of_relevance(board, kinds):
    berlin = place(board, kinds, configuration={"city": "berlin"})
    paris = place(board, kinds, configuration={"city": "paris"})
    kinds.say_relevance(FORECAST, {"configuration": {"city": "paris"}}, {"configuration": {"city": "berlin"}})
    assert board.stack() == [paris, berlin]
    kinds.say_relevance(FORECAST, {"configuration": {"city": "berlin"}}, {"configuration": {"city": "paris"}})
    assert board.stack() == [berlin, paris]
    kinds.say_relevance(FORECAST)
    assert {row["rule"] for row in rows(board)} == {"placement"}


@pytest.mark.parametrize("value", [None, {}, [1], [{"from": "noon"}], [{"from": EPOCH // 1000}], [{"until": EPOCH}],
                                   [{"configuration": []}], [{"from": after(2), "to": after(1)}]])
def test_a_relevance_that_is_none_is_a_bad_answer_and_the_old_one_stays(board, kinds, value):
    place(board, kinds, kind=CLOCK)
    forecast = place(board, kinds)
    kinds.say_relevance(FORECAST, {})
    board.client.applied("widget.invalidateRelevance", kind=FORECAST)
    call = kinds.call("relevance", FORECAST)
    kinds.answer(call, value)
    kinds.refused("badAnswer", call)
    assert board.stack()[0] == forecast


def test_the_first_64_of_a_device_take_part(board, provider):
    commands = [board.client.command("widget.add", kind=FORECAST, family="systemSmall", device="phone", id=next(IDS))
                for _ in range(70)]
    ids = [answer["widget"]["id"] for answer in board.client.batch(*commands)]
    for _ in ids:
        call = provider.call("timeline")
        provider.show(call, scored(EPOCH, 1) if call["widget"] in ids[60:] else entry(EPOCH), policy="never")
    seen = 0
    while seen < len(ids):
        board.next()
        seen += board.event["event"] == "widget.timeline"
    stack = board.stack()
    assert len(stack) == 64 and set(stack) == set(ids[:64])
    assert set(stack[:4]) == set(ids[60:64])


def test_a_stack_of_several_apps(board, wire, service, provider):
    from support.widgets import Board
    other = Board(wire, service, "com.example.other")
    theirs = other.provider(widget())
    mine = place(board, provider)
    id = other.placed(theirs, scored(EPOCH, 5), device="phone")
    assert [(row["id"], row["app"]) for row in rows(board)] == [(id, other.app), (mine, board.app)]
    assert "isOnTop" not in board.agrees(mine) and other.agrees(id)["isOnTop"]

"""What a person does to a widget, an activity or a control, and what becomes known of it."""

import json

import pytest

from support.dates import EPOCH, HOUR, after
from support.provider import DOOR, button
from support.widgets import FORECAST, entry, widget

LINKS = {"tomorrow": "weather://1", "week": "weather://7"}
KIND = {"kind": FORECAST, "family": "systemMedium"}


@pytest.fixture
def provider(board):
    return board.provider(widget(parameters=[{"name": "city", "type": "string", "isOptional": True}]))


@pytest.fixture
def id(board, provider):
    """A widget that has a url and links."""
    return board.placed(provider, entry(EPOCH, 1, url="weather://0", links=LINKS), family="systemMedium")


# Taps that open the app


def test_a_tap_opens_what_the_entry_says_and_changes_nothing_else(board, provider, id):
    before = board.agrees(id)
    answer = board.client.applied("widget.tap", id=id)
    assert answer["widget"] == {"id": id, "revision": 3, "state": "shown"}
    patch = board.next("tapped", id=id, cause="person")
    assert board.event["interaction"] == {**KIND, "url": "weather://0"}
    assert (board.event["from"], board.event["to"]) == ("shown", "shown")
    assert patch.keys() <= {"id", "revision", "cause", "state"}
    assert board.agrees(id) == {**before, "revision": 3, "cause": board.entity(id)["cause"]}
    provider.uncalled()


def test_a_tap_on_an_entry_without_a_url_opens_the_app(board, provider):
    id = board.placed(provider, configuration={"city": "berlin"})
    board.client.applied("widget.tap", id=id)
    board.next("tapped")
    assert board.event["interaction"] == {
        "kind": FORECAST, "family": "systemSmall", "configuration": {"city": "berlin"}}


def test_a_placeholder_opens_the_app_too_and_has_no_links_and_no_actions(board, provider):
    id = board.add(family="systemMedium")
    provider.call("timeline")
    board.client.applied("widget.tap", id=id)
    board.next("tapped", id=id)
    assert board.event["interaction"] == KIND and board.event["to"] == "loading"
    for fields in ({"link": "tomorrow"}, {"action": "refresh"}):
        error = board.client.refused("widget.tap", id=id, **fields)
        assert (error["code"], error["detail"]["field"]) == ("badField", next(iter(fields)))
    board.silent()


@pytest.mark.parametrize("link", LINKS)
def test_a_link_is_one_of_the_entrys(board, id, link):
    board.client.applied("widget.tap", id=id, link=link)
    board.next("tapped", id=id)
    interaction = board.event["interaction"]
    assert interaction["link"] == link and interaction.get("url", LINKS[link]) == LINKS[link]
    error = board.client.refused("widget.tap", id=id, link="yesterday")
    assert (error["code"], error["detail"]["field"]) == ("badField", "link")
    board.silent()


def test_the_url_is_that_of_the_entry_that_is_shown(board, provider):
    entries = [entry(EPOCH, url="weather://0", links={"a": "b"}), entry(after(HOUR), url="weather://1")]
    id = board.placed(provider, *entries, family="systemMedium")
    board.rest(by=HOUR)
    board.next("entry")
    board.client.applied("widget.tap", id=id)
    board.next("tapped")
    assert board.event["interaction"]["url"] == "weather://1"
    assert board.client.refused("widget.tap", id=id, link="a")["detail"]["field"] == "link"


def test_a_url_is_carried_byte_for_byte(board, provider):
    id = board.add()
    call = provider.call("timeline")
    url = r'"weather:\/\/\u0062erlin"'
    provider.socket.send_multipart([(
        f'{{"op":"provider.answer","provider":"{provider.id}","call":"{call["call"]}",'
        f'"entries":[{{"date":{EPOCH},"url":{url}}}]}}').encode()])
    board.next("timeline")
    board.client.applied("widget.tap", id=id)
    _, event, raw = board.events.raw_next()
    assert f'"url":{url}'.encode() in raw and event["interaction"]["url"] == "weather://berlin"


# Actions


def act(board, id, action="refresh", **fields):
    answer = board.client.applied("widget.tap", id=id, action=action, **fields)["widget"]
    assert answer["state"] == "acting"
    return answer


def test_an_action_runs_in_the_provider_while_what_is_shown_is_invalidated(board, provider, id):
    act(board, id, parameters={"deep": True})
    board.next("acting", id=id, cause="person", state="acting", isInvalidated=True)
    assert board.event["interaction"] == {**KIND, "action": "refresh", "parameters": {"deep": True}}
    whole = board.agrees(id)
    assert whole["isInvalidated"] is True and whole["entry"]["content"] == {"n": 1}
    call = provider.call("perform", FORECAST, id)
    assert (call["action"], call["parameters"], call["family"], call["attempt"]) == (
        "refresh", {"deep": True}, "systemMedium", 1)
    provider.say("provider.answer", call=call["call"])
    board.next("performed", id=id, cause="action", state="reloading")
    assert (board.event["from"], board.event["to"], board.event["exempt"]) == ("acting", "reloading", "intent")
    provider.shows_now(2, id=id)
    board.next("timeline", id=id, state="shown")
    whole = board.agrees(id)
    assert "isInvalidated" not in whole and whole["entry"]["content"] == {"n": 2}
    budget = board.budget(id)
    assert (budget["spent"], budget["exempt"]["intent"]) == (0, 1), "right after the first timeline, and not held"
    provider.uncalled()


def test_parameters_travel_byte_for_byte(board, provider, id):
    parameters = '{ "a" : 1.50e0, "b":"\\u2600" }'
    board.client.send((f'{{"op":"widget.tap","req":"t","app":"{board.app}","id":"{id}","action":"set",'
                       f'"parameters":{parameters}}}').encode())
    assert board.client.answer_to("t")[0]["ok"]
    assert f'"parameters":{parameters}'.encode() in board.events.raw_next()[2]
    raw = board.wire.receive(provider.socket)[0]
    assert f'"parameters":{parameters}'.encode() in raw and json.loads(raw)["op"] == "widget.perform"


@pytest.mark.parametrize("how", ["fail", "lost"])
def test_an_action_that_fails_is_followed_by_a_timeline_all_the_same(board, provider, id, how):
    act(board, id)
    board.next("acting")
    call = provider.call("perform")
    if how == "fail":
        provider.fail(call, message="no network", retryable=True)
        board.next("failed", id=id, failure="threw", state="shown")
        assert board.event["from"] == "acting"
        board.next("reloading", id=id, cause="action")
        assert board.event["exempt"] == "intent"
        provider.shows_now(2, id=id)
        board.next("timeline", failure=None)
        assert "isInvalidated" not in board.agrees(id)
    else:
        other = board.provider(*provider.widgets)
        provider.leave()
        board.next("failed", id=id, failure="providerLost")
        board.next("reloading", id=id, cause="action")
        other.shows_now(2, id=id)
        board.next("timeline", failure=None)
        other.uncalled()


def test_one_action_at_a_time(board, provider, id):
    act(board, id)
    board.next("acting")
    assert board.client.ignored("widget.tap", id=id, action="refresh") == "acting"
    board.client.applied("widget.tap", id=id)
    board.next("tapped", id=id)
    assert board.event["to"] == "acting"
    call = provider.call("perform")
    provider.say("provider.answer", call=call["call"])
    board.next("performed")
    provider.shows_now(id=id)
    board.next("timeline")
    act(board, id)


def test_a_timeline_that_is_on_its_way_is_given_up_and_asked_for_after_the_action(board, provider, id):
    board.rest(by=HOUR)
    board.reload(id)
    board.next("reloading")
    old = provider.call("timeline")
    act(board, id)
    board.next("acting", id=id)
    assert board.event["from"] == "reloading"
    provider.cancelled(old, "superseded")
    call = provider.call("perform")
    provider.show(old, entry(EPOCH, 9))
    provider.say("provider.answer", call=call["call"])
    board.next("performed", state="reloading")
    provider.shows_now(2, id=id)
    board.next("timeline", id=id)
    assert board.agrees(id)["entry"]["content"] == {"n": 2}
    assert board.budget(id)["spentAt"] == [after(HOUR)]


def test_a_reload_that_comes_during_an_action_is_part_of_the_one_after_it(board, provider, id):
    act(board, id)
    board.next("acting")
    call = provider.call("perform")
    board.reload(id)
    provider.say("provider.answer", call=call["call"])
    names = []
    provider.shows_now(2, id=id)
    while "widget.timeline" not in names:
        board.next(id=id)
        names.append(board.event["event"])
    assert board.agrees(id)["entry"]["content"] == {"n": 2}
    assert board.budget(id)["exempt"]["intent"] == 1


def test_without_a_provider_there_is_no_action_and_nothing_changes(board, provider, id):
    provider.leave()
    error = board.client.refused("widget.tap", id=id, action="refresh")
    assert (error["code"], error["detail"]["reason"]) == ("unavailable", "noProvider")
    board.silent()
    board.client.applied("widget.tap", id=id)
    board.next("tapped")


def test_entries_go_on_during_an_action(board, provider):
    """The clock waits for the action; an entry that is due with its end is shown in its turn."""
    id = board.placed(provider, entry(EPOCH, 0), entry(after(HOUR), 1))
    board.rest(to=after(HOUR) - 1)
    act(board, id)
    board.next("acting")
    call = provider.call("perform")
    req = board.begin(by=1)
    board.client.silent()
    provider.say("provider.answer", call=call["call"])
    board.next("performed")
    provider.shows(entry(after(HOUR), 5), id=id, policy="never")
    board.next("timeline")
    board.arrived(req)
    board.until(id, entry=entry(after(HOUR), 5))
    board.agrees(id)


def test_a_widget_that_is_removed_during_its_action_is_gone(board, provider, id):
    act(board, id)
    board.next("acting")
    call = provider.call("perform")
    board.client.applied("widget.remove", id=id)
    board.next("removed", id=id)
    assert board.event["from"] == "acting"
    provider.cancelled(call, "removed")
    provider.say("provider.answer", call=call["call"])
    provider.uncalled()
    board.silent()


def test_every_interaction_can_be_counted(board, provider, id):
    """What an analytics subscriber needs: kind, family, configuration, and what was opened or done."""
    board.client.applied("widget.tap", id=id)
    board.client.applied("widget.tap", id=id, link="week")
    act(board, id)
    seen = []
    for _ in range(3):
        board.next(id=id)
        seen.append(board.event["interaction"])
    assert all(KIND.items() <= interaction.items() for interaction in seen)
    assert [next(name for name in ("link", "action", "url") if name in interaction) for interaction in seen] == [
        "url", "link", "action"]


# Activities and controls open their app as well


def start(board, **fields):
    id = board.client.start(**fields)["id"]
    board.next("started")
    return id


@pytest.mark.parametrize("url", [None, "pizza://order/7", "x" * 2_048])
def test_a_tap_on_an_activity(board, url):
    id = start(board, key="order-7", device="phone")
    before = board.client.get(id)
    answer = board.client.applied("activity.tap", key="order-7", device="phone", url=url)
    assert answer["activity"] | {"next": None} == {"id": id, "revision": 2, "state": "active", "next": None}
    board.next("tapped", id=id)
    assert board.event["interaction"] == {"type": "Delivery", **({"url": url} if url else {})}
    tapped = board.client.get(id)
    assert tapped["revision"] == 2
    assert {name: value for name, value in tapped.items() if name not in ("revision", "cause")} == {
        name: value for name, value in before.items() if name not in ("revision", "cause")}
    assert board.client.refused("activity.tap", id=id, url="x" * 2_049)["detail"]["field"] == "url"
    assert board.client.refused("activity.tap", id=id, ifRevision=1)["code"] == "conflict"


@pytest.mark.parametrize("how", ["ended", "dismissed"])
def test_a_tap_on_an_activity_that_is_over_is_ignored(board, how):
    id = start(board)
    board.client.applied("activity.end", id=id)
    if how == "dismissed":
        board.client.applied("activity.dismiss", id=id)
    assert board.client.ignored("activity.tap", id=id) == how
    assert board.client.refused("activity.tap", key="nobody")["code"] == "notFound"


def test_the_action_of_a_control_may_open_its_app(board):
    provider = board.provider(widget(), register=False)
    provider.kinds, provider.FAMILY = [button()], "control"
    provider.register()
    id = board.client.applied("control.add", kind=DOOR)["control"]["id"]
    board.next("added")
    for url in ("home://door", None):
        board.client.applied("control.tap", id=id)
        board.next("acting")
        call = provider.call("perform")
        provider.say("provider.answer", call=call["call"], status="Open", url=url)
        board.next("performed", id=id)
        assert board.event.get("interaction") == ({"kind": DOOR, "url": url} if url else None)


def test_an_action_that_ends_when_its_provider_is_no_longer_there_has_its_timeline_asked_of_the_others(board):
    provider, other = board.provider(), board.provider()
    id = board.placed(provider)
    board.client.applied("widget.tap", id=id, action="go")
    board.next("acting", id=id)
    action = provider.call("perform")
    provider.leave()
    board.next("failed", id=id, failure="providerLost")
    other.shows_now(1, id=id)
    board.next("reloading", id=id, cause="action")
    board.next("timeline", id=id)
    # Now it has its effect.
    provider.answer(action)
    provider.refused("notFound", action)
    other.shows_now(2, id=id)
    board.next("reloading", id=id, cause="action")
    board.next("timeline", id=id)
    assert board.agrees(id)["entry"]["content"] == {"n": 2}
    other.uncalled()

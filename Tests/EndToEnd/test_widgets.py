"""Widgets as they are placed, configured, read and taken away, and the kinds that providers declare."""

import json
import uuid

import pytest

from support.dates import EPOCH, HOUR, after
from support.followed import as_followed
from support.provider import TORCH, RawProvider, toggle
from support.widgets import CLOCK, FORECAST, entry, widget

CITY = {"name": "city", "type": "enum", "options": [{"value": "berlin", "title": "Berlin"}, {"value": "paris"}]}
STATION = {"name": "station", "type": "entity", "isOptional": True, "dynamicOptions": True}
RENDERING = {
    "modes": ["fullColor", "accented"], "accentedGroups": ["numbers"], "containerBackgroundRemovable": True,
    "mountingStyles": ["elevated"], "texture": "glass", "levelsOfDetail": ["default", "simplified"]}
FULL = widget(parameters=[CITY, STATION], rendering=RENDERING, supplementalFamilies=["small"])
FAMILIES = [
    "systemSmall", "systemMedium", "systemLarge", "systemExtraLarge", "systemExtraLargePortrait", "accessoryCircular",
    "accessoryRectangular", "accessoryInline", "accessoryCorner"]


# Placing


def test_a_widget_is_placed_its_timeline_is_asked_for_and_what_came_is_shown(board):
    provider = board.provider()
    answer = board.client.applied("widget.add", kind=FORECAST, family="systemSmall")
    id = answer["widget"]["id"]
    assert answer["widget"] == {"id": id, "revision": 1, "state": "loading"}
    whole = {"id": id, "app": board.app, "kind": FORECAST, "family": "systemSmall", "state": "loading", "revision": 1,
             "addedAt": EPOCH, "cause": "command"}
    assert board.next("added") == whole == board.agrees(id)
    assert (board.event["to"], board.event.get("from")) == ("loading", None)
    assert board.event.get("exempt") in (None, "placement")
    call = provider.call("timeline", FORECAST, id)
    assert {name: value for name, value in call.items() if name not in ("call", "within")} == {
        "op": "widget.timeline", "app": board.app, "kind": FORECAST, "widget": id, "family": "systemSmall",
        "now": EPOCH, "attempt": 1}
    assert 0 < call["within"] <= 30_000
    shown = entry(EPOCH, 1, url="weather://now")
    provider.show(call, shown, entry(after(HOUR), 2))
    board.next("timeline", id=id, cause="provider", state="shown", entry=shown, entryIndex=0, entries=2,
               policy="atEnd", timelineAt=EPOCH, next={"at": after(HOUR), "cause": "entry"})
    assert (board.event["from"], board.event["to"]) == ("loading", "shown") and "exempt" not in board.event
    provider.uncalled()
    assert board.agrees(id) == {**whole, "state": "shown", "revision": 2, "entry": shown, "entryIndex": 0, "entries": 2,
                                "policy": "atEnd", "timelineAt": EPOCH, "cause": "provider",
                                "next": {"at": after(HOUR), "cause": "entry"}}


def test_what_a_person_chose_travels_to_the_provider_and_back_byte_for_byte(board):
    provider = board.provider(FULL)
    id = str(uuid.uuid4())
    configuration, rendering = '{ "city":"b\\u0065rlin" }', '{"mode" : "accented","showsContainerBackground":false}'
    frame = (f'{{"op":"widget.add","req":"w","app":"{board.app}","kind":"{FORECAST}","family":"systemMedium",'
             f'"configuration":{configuration},"rendering":{rendering},"device":"phone","id":"{id.upper()}"}}')
    board.client.send(frame.encode())
    [answer] = board.client.answer_to("w")
    assert answer["widget"]["id"] == id
    topic, event, raw = board.events.raw_next()
    assert topic == f"{board.app}/widget/{FORECAST}/{id}"
    assert f'"configuration":{configuration}'.encode() in raw and f'"rendering":{rendering}'.encode() in raw
    call = provider.call("timeline")
    assert (call["configuration"], call["rendering"], call["device"], call["family"]) == (
        {"city": "berlin"}, json.loads(rendering), "phone", "systemMedium")
    content = '{"date":%d, "content": { "n" : 1.50e0, "n2":"\\u2600" } }' % EPOCH
    answer = f'{{"op":"provider.answer","provider":"{provider.id}","call":"{call["call"]}","entries":[{content}]}}'
    provider.socket.send_multipart([answer.encode()])
    assert f'"entry":{content}'.encode() in board.events.raw_next()[2]
    board.client.send(board.client.command("widget.get", id=id, req="g"))
    raw = board.wire.receive(board.client.socket)[0]
    for part in (f'"configuration":{configuration}', f'"rendering":{rendering}', f'"entry":{content}'):
        assert part.encode() in raw


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_its_place(board, family):
    provider = board.provider(widget(families=[family]))
    id = board.placed(provider, family=family)
    assert board.agrees(id)["family"] == family
    for other in {*FAMILIES} - {family}:
        error = board.client.refused("widget.add", kind=FORECAST, family=other)
        assert (error["code"], error["detail"]["field"]) == ("badField", "family")


@pytest.mark.parametrize("members, code, detail", [
    ({"kind": "com.example.other"}, "notFound", {"kind": "com.example.other"}),
    ({"family": "systemLarge"}, "badField", {"field": "family"}),
    ({"family": "huge"}, "badField", {"field": "family"}),
    ({"configuration": {"city": "rome"}}, "badField", {"field": "configuration", "parameter": "city"}),
    ({"configuration": {}}, "badField", {"field": "configuration", "parameter": "city"}),
    ({"configuration": None}, "badField", {"field": "configuration", "parameter": "city"}),
    ({"rendering": {"mode": "vibrant"}}, "badField", {"field": "rendering"}),
    ({"rendering": {"mode": 1}}, "badField", {"field": "rendering"}),
    ({"rendering": {"mountingStyle": "recessed"}}, "badField", {"field": "rendering"}),
    ({"rendering": {"levelOfDetail": "coarse"}}, "badField", {"field": "rendering"}),
    ({"rendering": {"supplementalFamily": "medium"}}, "badField", {"field": "rendering"}),
    ({"rendering": {"showsContainerBackground": "no"}}, "badField", {"field": "rendering"}),
    ({"rendering": {"colour": "red"}}, "badField", {"field": "rendering"}),
    ({"rendering": []}, "badField", {"field": "rendering"}),
    ({"ifRevision": 1}, "badField", {"field": "ifRevision"}),
    ({"template": "toggle"}, "unknownField", {"field": "template"}),
])
def test_what_does_not_fit_the_kind_is_refused_and_leaves_nothing_behind(board, members, code, detail):
    provider = board.provider(FULL)
    whole = {"kind": FORECAST, "family": "systemSmall", "configuration": {"city": "berlin"}}
    error = board.client.refused("widget.add", **{**whole, **members})
    assert error["code"] == code and detail.items() <= error["detail"].items(), error
    board.silent()
    provider.uncalled()
    assert board.client.read("widget.list")["total"] == 0
    board.add(**whole)


@pytest.mark.parametrize("rendering", [
    {}, {"mode": "accented"}, {"mountingStyle": "elevated"}, {"levelOfDetail": "simplified"},
    {"supplementalFamily": "small"}, {"showsContainerBackground": True}, {"showsContainerBackground": False}])
def test_renderings_that_the_kind_lists_are_taken(board, rendering):
    provider = board.provider(FULL)
    id = board.placed(provider, configuration={"city": "berlin"}, rendering=rendering)
    assert board.agrees(id)["rendering"] == rendering


def test_a_kind_without_rendering_facts_is_drawn_in_full_colour(board):
    board.provider()
    assert board.client.refused("widget.add", kind=FORECAST, family="systemSmall", rendering={"mode": "accented"})[
        "detail"]["field"] == "rendering"
    board.add(rendering={"mode": "fullColor"})


def test_a_background_that_cannot_be_removed_is_shown(board):
    board.provider(widget(rendering={"containerBackgroundRemovable": False}))
    bad = board.client.refused(
        "widget.add", kind=FORECAST, family="systemSmall", rendering={"showsContainerBackground": False})
    assert bad["detail"]["field"] == "rendering"
    board.add(rendering={"showsContainerBackground": True})


def test_an_id_that_is_taken_is_refused(board):
    board.provider(widget())
    id = board.add()
    assert board.client.refused("widget.add", kind=FORECAST, family="systemSmall", id=id)["code"] == (
        "reconnectNotPermitted")
    assert board.client.refused("activity.start", id=id, type="T", attributes={}, contentState={})["code"] == (
        "reconnectNotPermitted")


@pytest.mark.parametrize("family", ["widget", "control"])
def test_a_device_has_so_many_and_what_it_reports_reaches_all_of_them(board, family):
    board.provider().leave()
    RawProvider(board.wire, board.service.commands, toggle(), app=board.app).leave()
    fields = {"kind": FORECAST, "family": "systemSmall"} if family == "widget" else {"kind": TORCH}

    def add(device):
        return board.client.command(f"{family}.add", **fields, device=device)

    for _ in range(4_096 // 256):
        assert all(answer["ok"] for answer in board.client.batch(*(add("phone") for _ in range(256))))
    refused, taken = board.client.batch(add("phone"), add("tablet"))
    assert (refused["error"]["code"], refused["error"]["detail"]) == ("quotaExceeded", {"limit": 4_096})
    assert taken["ok"] is True
    board.device("uninstall", "phone", app=board.app)
    assert board.client.read(f"{family}.list")["total"] == 1
    assert board.client.batch(add("phone"))[0]["ok"] is True


def test_without_a_provider_there_is_a_placeholder_until_one_comes(board):
    provider = board.provider()
    provider.leave()
    id = board.add()
    board.next("failed", id=id, state="placeholder", failure="noProvider", next=None)
    assert board.agrees(id)["state"] == "placeholder"
    provider.register()
    board.next("reloading", id=id, state="loading", cause="registration")
    assert board.event["exempt"] == "placement"
    provider.shows_now(1, id=id)
    board.next("timeline", state="shown", failure=None)
    board.agrees(id)


# Configuring


def test_another_configuration_asks_for_another_timeline_and_clears_what_was_shown(board):
    provider = board.provider(FULL)
    id = board.placed(provider, configuration={"city": "berlin"})
    answer = board.client.applied("widget.configure", id=id, configuration={"city": "paris"})
    assert answer["widget"] == {"id": id, "revision": 3, "state": "loading"}
    patch = board.next("configured", id=id, state="loading", configuration={"city": "paris"})
    for member in ("entry", "entryIndex", "entries", "policy", "timelineAt"):
        assert member in patch and patch[member] is None, member
    assert board.agrees(id)["state"] == "loading"
    call = provider.call("timeline", FORECAST, id)
    assert call["configuration"] == {"city": "paris"}
    provider.show(call, entry(EPOCH, 2))
    board.next("timeline", state="shown")
    budget = board.budget(id)
    assert (budget["spent"], budget["exempt"]["placement"]) == (0, 2)


def test_another_rendering_alone_asks_for_nothing(board):
    provider = board.provider(FULL)
    id = board.placed(provider, configuration={"city": "berlin"})
    before = board.agrees(id)
    board.client.applied("widget.configure", id=id, rendering={"mode": "accented"})
    board.next("configured", id=id, rendering={"mode": "accented"}, configuration=None, state=None)
    after = board.agrees(id)
    assert after["rendering"] == {"mode": "accented"}
    assert {name: after[name] for name in ("entry", "state", "configuration")} == {
        name: before[name] for name in ("entry", "state", "configuration")}
    provider.uncalled()


def test_equal_bytes_change_nothing(board):
    provider = board.provider(FULL)
    id = board.placed(provider, configuration={"city": "berlin"}, rendering={"mode": "accented"})
    for fields in ({"configuration": {"city": "berlin"}}, {"rendering": {"mode": "accented"}},
                   {"configuration": {"city": "berlin"}, "rendering": {"mode": "accented"}}):
        assert board.client.ignored("widget.configure", id=id, **fields) == "unchanged"
    assert board.client.refused("widget.configure", id=id)["code"] == "missingField"
    board.silent()
    board.client.applied("widget.configure", id=id, configuration={"city": "berlin"}, rendering={})
    board.next("configured", rendering={})
    provider.uncalled()


def test_a_bad_configuration_is_refused_and_nothing_changes(board):
    provider = board.provider(FULL)
    id = board.placed(provider, configuration={"city": "berlin"})
    for fields, field in (
            ({"configuration": {"city": 1}}, "configuration"), ({"rendering": {"mode": "dim"}}, "rendering"),
            ({"configuration": {"city": "paris"}, "rendering": {"mode": "dim"}}, "rendering")):
        assert board.client.refused("widget.configure", id=id, **fields)["detail"]["field"] == field
    board.silent()
    provider.uncalled()


def test_a_widget_that_is_configured_while_it_is_asked_for_gets_the_timeline_of_the_new_configuration(board):
    provider = board.provider(FULL)
    id = board.add(configuration={"city": "berlin"})
    old = provider.call("timeline")
    board.client.applied("widget.configure", id=id, configuration={"city": "paris"})
    board.next("configured", id=id)
    provider.cancelled(old, "superseded")
    provider.show(old, entry(EPOCH, 1))
    call = provider.call("timeline", placed=id)
    assert call["configuration"] == {"city": "paris"}
    provider.show(call, entry(EPOCH, 2))
    board.next("timeline", entry=entry(EPOCH, 2))
    board.agrees(id)


# Removing


def test_a_removed_widget_is_gone_and_its_call_is_cancelled(board):
    provider = board.provider()
    shown, loading = board.placed(provider), board.add()
    call = provider.call("timeline")
    for id in (shown, loading):
        assert board.client.applied("widget.remove", id=id)["widget"]["state"] == "removed"
        board.next("removed", id=id, state="removed", cause="command")
        assert board.client.refused("widget.get", id=id)["code"] == "notFound"
        assert board.client.refused("widget.remove", id=id)["code"] == "notFound"
    provider.cancelled(call, "removed")
    assert board.replica.entities == {} and board.client.read("widget.list")["total"] == 0
    board.rest(by=HOUR)
    board.silent()


def test_the_widgets_of_an_app_that_is_uninstalled_go_with_it(board):
    provider = board.provider()
    here, there = board.placed(provider, device="phone"), board.placed(provider, device="tablet")
    board.device("uninstall", app=board.app)
    board.next("removed", id=here, cause="uninstall")
    board.silent()
    assert board.get(there)["state"] == "shown"


# Guards, retries, other apps


@pytest.mark.parametrize("op, fields", [
    ("configure", {"rendering": {"mode": "fullColor"}}), ("remove", {}), ("reload", {}), ("tap", {})])
def test_a_change_may_depend_on_the_revision_and_names_a_widget_of_its_app(board, op, fields):
    provider = board.provider()
    id = board.placed(provider)
    error = board.client.refused(f"widget.{op}", id=id, ifRevision=1, **fields)
    assert (error["code"], error["detail"]["revision"]) == ("conflict", 2)
    for wrong in ({"id": str(uuid.uuid4())}, {"id": id, "app": "com.example.other"}):
        assert board.client.refused(f"widget.{op}", **{**wrong, **fields})["code"] == "notFound"
    board.silent()
    assert board.client.read(f"widget.{op}", id=id, ifRevision=2, **fields)["outcome"] in ("applied", "ignored")


@pytest.mark.parametrize("op", ["get", "history", "explain", "timeline", "budget"])
def test_a_read_names_a_widget_of_its_app(board, op):
    provider = board.provider()
    id = board.placed(provider)
    assert board.client.read(f"widget.{op}", id=id)["ok"]
    for wrong in ({"id": str(uuid.uuid4())}, {"id": id, "app": "com.example.other"}):
        assert board.client.refused(f"widget.{op}", **wrong)["code"] == "notFound"


def test_a_command_that_is_sent_twice_is_executed_once(board):
    provider = board.provider()
    add = board.client.command("widget.add", kind=FORECAST, family="systemSmall", req="add-1",
                               client="0198c0de-0000-7000-8000-00000000000c")
    board.client.send(add)
    [first] = board.client.answer_to("add-1")
    board.client.send(add)
    assert board.client.answer_to("add-1") == [first]
    board.next("added", id=first["widget"]["id"])
    provider.call("timeline")
    board.silent()
    provider.uncalled()


# Reads


def test_the_widgets_of_an_app_are_listed_whole_and_by_what_they_are(board):
    provider = board.provider(widget(), widget(CLOCK, ["accessoryInline"]))
    forecasts = [board.placed(provider, family=family, device=device) for family, device in
                 (("systemSmall", "phone"), ("systemMedium", "phone"), ("systemSmall", "tablet"))]
    clock = board.add(kind=CLOCK, family="accessoryInline")

    def listed(**fields):
        page = board.client.read("widget.list", **fields)
        assert (page["total"], page["exact"]) == (len(page["widgets"]), True)
        return {row["id"] for row in page["widgets"]}

    rows = {row["id"]: row for row in board.client.read("widget.list")["widgets"]}
    assert rows == {id: board.get(id) for id in [*forecasts, clock]}
    assert listed(kind=FORECAST) == {*forecasts} and listed(kind=CLOCK) == {clock}
    assert listed(family="systemSmall") == {forecasts[0], forecasts[2]}
    assert listed(device="phone") == {*forecasts[:2]}
    assert listed(device="phone", family="systemMedium") == {forecasts[1]}
    assert listed(state="loading") == {clock} and listed(state="shown") == {*forecasts}
    assert listed(app="com.example.other") == set()
    found, cursor = [], None
    while True:
        page = board.client.read("widget.list", limit=3, cursor=cursor)
        found += [row["id"] for row in page["widgets"]]
        if (cursor := page.get("next")) is None:
            break
    assert sorted(found) == sorted(rows) and page["total"] == 4


def test_history_has_the_stored_events_and_explain_their_rules(board):
    provider = board.provider()
    id = board.placed(provider)
    board.rest(by=HOUR)
    board.reloaded(provider, id)
    history = board.client.read("widget.history", id=id)
    assert history["complete"] and history["widget"]["id"] == id
    assert [event["event"] for event in history["events"]] == [
        "widget.added", "widget.timeline", "widget.reloading", "widget.timeline"]
    assert [event["widget"]["revision"] for event in history["events"]] == [1, 2, 3, 4]
    explained = board.client.read("widget.explain", id=id)
    assert explained["widget"] == as_followed(board.get(id))
    assert [decision["event"] for decision in explained["decisions"] if "event" in decision] == [
        event["event"] for event in history["events"]]
    assert all(decision["rule"] and decision["text"] for decision in explained["decisions"])


def test_a_timeline_can_be_read_and_what_it_shows_at_any_time(board):
    provider = board.provider()
    entries = [entry(after(hour * HOUR), hour, url=f"weather://{hour}") for hour in range(3)]
    id = board.placed(provider, *entries, policy={"after": after(5 * HOUR)})

    def read(**fields):
        return board.client.read("widget.timeline", id=id, **fields)

    timeline = read()["timeline"]
    assert timeline == {"entries": entries, "policy": {"after": after(5 * HOUR)}, "timelineAt": EPOCH, "entryIndex": 0,
                        "next": {"at": after(HOUR), "cause": "entry"}}
    assert "at" not in read()
    for at, index in ((0, 0), (HOUR - 1, 0), (HOUR, 1), (2 * HOUR - 1, 1), (2 * HOUR, 2), (50 * HOUR, 2)):
        assert read(at=after(at))["at"] == {"at": after(at), "entryIndex": index, "entry": entries[index]}
    before = read(at=after(-HOUR))["at"]
    assert before == {"at": after(-HOUR)}, "nothing was shown then"
    loading = board.add()
    assert board.client.read("widget.timeline", id=loading)["timeline"].get("entries", []) == []

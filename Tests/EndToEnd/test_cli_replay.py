"""`islet replay`: what one service published, played into another."""

import json
import subprocess
import threading
import uuid

import pytest

from support.cli import Islet, on_a_terminal, replay
from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.provider import DOOR, TORCH, RawProvider, button, toggle
from support.proxy import Proxy
from support.running import Running
from support.schemas import strict
from support.scripted import ScriptedService
from support.service import BINARY, environment
from support.widgets import FORECAST, entry, widget
from support.wire import Silence

APP, TAXI = "com.example.pizza", "com.example.taxi"
GROUP = "group.com.example.pizza"


class SteadyProvider:
    """Answers every call at once, until it is told to stop."""

    def __init__(self, wire, service, kinds):
        self.raw = RawProvider(wire, service.commands, *kinds, widgets=[widget()], app=APP)
        self.values = {}
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while not self._ends.is_set():
            try:
                call = self.raw._next("call", 0.05)
            except Silence:
                continue
            family, _, verb = call["op"].partition(".")
            if family == "widget":
                if verb == "timeline":
                    entries = [entry(call["now"], 1), entry(call["now"] + HOUR, 2)]
                    self.raw.say("provider.answer", call=call["call"], entries=entries, policy="never")
                else:
                    self.raw.answer(call)
            elif verb == "perform":
                self.values[call["control"]] = call.get("value", True)
                self.raw.answer(call)
            else:
                default = {"open": 1} if call["kind"] == DOOR else False
                value = self.values.get(call["control"], default)
                self.raw.answer(call, value if call["kind"] == TORCH else default)

    def end(self):
        self._ends.set()
        self._thread.join(timeout=5)


@pytest.fixture
def steady(wire):
    made = []

    def make(service, *kinds):
        made.append(SteadyProvider(wire, service, kinds or [toggle(), button(hasValue=True)]))
        return made[-1]

    yield make
    for provider in made:
        provider.end()


@pytest.fixture
def recording(service, tmp_path):
    """Records everything that the service publishes while something is done."""
    path = tmp_path / "recording.jsonl"

    def record(body, *words):
        before = events_of(service)
        follower = Running("tail", "--json", *words, env=Islet(service, app="").env)
        try:
            follower.message("^following all apps")
            body()
            follower.lines(events_of(service) - before)
            assert follower.end() == 0
        finally:
            follower.kill()
        path.write_text("".join(line + "\n" for line in follower.data))
        return path

    return record


def events_of(service):
    [stats] = Islet(service)("stats", "--json").json
    return stats["events"]


@pytest.fixture
def target(serve):
    """A second service whose clock is manual."""
    return serve({"--clock": "manual"})


def wait_for(ask, wanted):
    for _ in range(2_000):
        if ask() == wanted:
            return
    raise AssertionError(f"{ask()} and not {wanted}")


def activities(client):
    """A life of each kind; gives the ids."""
    ids = {}

    def start(name, **fields):
        ids[name] = client.start(key=name, **fields)["id"]
        return ids[name]

    start("order-1", staleDate=after(MINUTE), device="phone-1", relevanceScore=3.5, pushType="token",
          contentState={"eta": 12, "text": "caf\u00e9 \U0001F355"})
    client.advance(by=2 * MINUTE)
    client.applied("activity.update", id=ids["order-1"], contentState={"eta": 5}, relevanceScore=1,
                   staleDate=after(10 * MINUTE), alert={"title": "Nearly there"})
    client.applied("activity.tap", id=ids["order-1"], url="pizza://order/1")
    start("order-2", startDate=after(5 * MINUTE), alert={"title": "It begins"})
    start("order-3")
    start("order-4", style="transient", device="phone-2")
    start("order-5")
    client.advance(by=4 * MINUTE)
    client.applied("activity.end", id=ids["order-3"], contentState={"eta": 0},
                   dismissalPolicy={"after": after(HOUR)})
    client.read("device.event", device="phone-2", event="leave")
    client.applied("activity.dismiss", id=ids["order-5"], by="person")
    renewed = client.applied("activity.renew", key="order-2", contentState={"eta": 40})
    ids["renewed"] = renewed["activity"]["id"]
    start("order-6")
    client.applied("activity.end", id=ids["order-6"], dismissalPolicy="immediate")
    start("order-7")
    client.applied("activity.end", id=ids["order-7"])
    client.advance(by=3 * HOUR)
    client.applied("activity.update", id=ids["renewed"], contentState={"eta": 39}, source="push")
    start("order-8", device="phone-3")
    client.read("settings.set", device="phone-3", activitiesEnabled=False)
    client.read("settings.set", device="phone-3", activitiesEnabled=True)
    start("order-9", device="phone-3")
    return ids


def test_lives_of_activities_come_out_the_same(service, target, client, wire, recording):
    ids = {}
    path = recording(lambda: ids.update(activities(client)))
    Commands(wire, target.commands).advance(by=HOUR)
    done = replay(target, path, "--speed", "max", "--verify", "--json")
    [summary] = done.json
    strict("cli/replay.json").validate(summary)
    assert summary["differences"] == [] and summary["refused"] == [] and summary["impossible"] == []
    assert summary["events"] == events_of(service) == events_of(target)
    assert summary["replayed"] + sum(summary["following"].values()) == summary["events"]
    assert summary["offset"] == HOUR
    there = Commands(wire, target.commands, APP)
    for name, id in ids.items():
        here = client.get(id=id)
        if name == "renewed":
            found = there.get(key="order-2")
        else:
            found = there.get(id=id)
        assert found["state"] == here["state"], name
        assert found.get("contentState") == here.get("contentState"), name
        if "staleDate" in here:
            assert found["staleDate"] == here["staleDate"] + HOUR, name
    assert "all is as recorded" in done.err


# Controls, widgets and groups


def placed(client, provider):
    """What persons do with controls and widgets, with a provider that answers at once; gives the ids."""
    def control(id):
        return lambda: client.read("control.get", id=id)["control"]["state"]

    def shown(id):
        return lambda: client.read("widget.get", id=id)["widget"]["state"]

    torch = client.applied("control.add", kind=TORCH, device="phone-1")["control"]["id"]
    wait_for(control(torch), "shown")
    client.applied("control.tap", id=torch)
    wait_for(control(torch), "shown")
    client.advance(by=MINUTE)
    door = client.applied("control.add", kind=DOOR)["control"]["id"]
    wait_for(control(door), "shown")
    client.applied("control.tap", id=door)
    wait_for(control(door), "shown")
    client.applied("control.reload", id=torch)
    wait_for(control(torch), "shown")
    client.applied("control.set", id=torch, value=False)
    wait_for(control(torch), "shown")
    client.applied("control.set", id=torch, value=True)
    wait_for(control(torch), "shown")
    gone = client.applied("control.add", kind=TORCH)["control"]["id"]
    wait_for(control(gone), "shown")
    client.applied("control.remove", id=gone)
    forecast = client.applied("widget.add", kind=FORECAST, family="systemSmall", device="phone-1")["widget"]["id"]
    wait_for(shown(forecast), "shown")
    client.applied("widget.tap", id=forecast)
    client.applied("widget.tap", id=forecast, action="refresh", parameters={"deep": True})
    wait_for(shown(forecast), "shown")
    client.advance(by=2 * HOUR)
    wait_for(shown(forecast), "shown")
    client.applied("widget.reload", id=forecast)
    wait_for(shown(forecast), "shown")
    other = client.applied("widget.add", kind=FORECAST, family="systemMedium", device="phone-1")["widget"]["id"]
    wait_for(shown(other), "shown")
    client.applied("widget.remove", id=other)
    client.read("device.event", device="phone-1", event="localeChange")
    wait_for(shown(forecast), "shown")
    return torch, door, forecast


def shared(client, taxi):
    """What two apps keep in a group."""
    client.read("group.create", group=GROUP)
    client.read("group.admit", group=GROUP, member=TAXI)
    client.applied("group.set", group=GROUP, key="city", value={"name": "berlin", "n": 1.50})
    taxi.applied("group.set", group=GROUP, key="city", value={"name": "paris"})
    taxi.applied("group.set", group=GROUP, key="rides", value=17)
    client.applied("group.set", group=GROUP, key="old", value=0)
    client.advance(by=MINUTE)
    client.applied("group.delete", group=GROUP, key="old")
    client.read("group.notify", group=GROUP, name="moved")


@pytest.mark.parametrize("words", [(), ("--topics",)])
def test_controls_widgets_and_groups_come_out_the_same(service, target, client, wire, recording, steady, words):
    steady(service), steady(target)
    taxi = Commands(wire, service.commands, TAXI)
    path = recording(lambda: (placed(client, service), shared(client, taxi)), *words)
    done = replay(target, path, "--speed", "max", "--verify", "--json")
    [summary] = done.json
    strict("cli/replay.json").validate(summary)
    assert summary["differences"] == [] and summary["refused"] == [] and summary["impossible"] == []
    assert summary["gaps"] == [], "the group's events have their place in its owner's stream"
    there, then = Commands(wire, target.commands, APP), Commands(wire, service.commands, APP)
    for family in ("control", "widget"):
        here, found = (each.read(f"{family}.list", **{})[f"{family}s"] for each in (then, there))
        assert [row["id"] for row in here] == [row["id"] for row in found] and here
        assert [row["state"] for row in here] == [row["state"] for row in found]
        assert [row.get("value") for row in here] == [row.get("value") for row in found]
    keys = {row["key"]: (row["value"], row["by"]) for row in there.read("group.list", group=GROUP)["items"]}
    assert keys == {"city": ({"name": "paris"}, TAXI), "rides": (17, TAXI)}


def test_a_locked_device_is_locked_again(service, target, client, wire, recording, steady):
    """Nothing is published about a device: what it holds tells that it was locked."""
    torch = toggle(privacySensitive=True, authenticationPolicy="requiresAuthentication")
    steady(service, torch), steady(target, torch)
    made = []

    def evening():
        def state():
            return client.read("control.get", id=made[0])["control"]["state"]

        made.append(client.applied("control.add", kind=TORCH, device="phone-1")["control"]["id"])
        wait_for(state, "shown")
        client.read("device.event", device="phone-1", event="lock")
        client.applied("control.tap", id=made[0])
        wait_for(state, "authenticating")
        client.advance(by=10_000)
        client.read("device.event", device="phone-1", event="unlock")
        wait_for(state, "shown")
        client.read("device.event", device="phone-1", event="lock")

    path = recording(evening)
    ops = [row["op"] + ":" + row.get("event", "") for row in replay(target, path, "--dry-run").json]
    assert ops == ["control.add:", "device.event:lock", "control.tap:", "device.event:unlock", "device.event:lock"]
    replay(target, path, "--verify")
    found = Commands(wire, target.commands, APP).read("control.get", id=made[0])["control"]
    assert found["isRedacted"] and found["state"] == "shown"


# Names, ids, and once more


def test_a_production_recording_is_played_into_a_staging_app(service, target, client, wire, recording):
    taxi = Commands(wire, service.commands, TAXI)
    path = recording(lambda: (client.start(key="order-7"), taxi.start(key="ride-7"), shared(client, taxi)))
    done = replay(target, path, "--prefix", "staging.", "--app-map", f"{TAXI}=com.example.cab", "--verify")
    assert "all is as recorded" in done.err
    assert Commands(wire, target.commands, f"staging.{APP}").get(key="order-7")["state"] == "active"
    cab = Commands(wire, target.commands, "com.example.cab")
    assert cab.get(key="ride-7")["state"] == "active"
    assert cab.read("group.get", group=f"staging.{GROUP}", key="rides")["group"]["value"] == 17


def test_the_same_recording_twice_changes_nothing(service, target, client, wire, recording):
    def life():
        id = client.start(key="order-7")["id"]
        client.advance(by=MINUTE)
        client.applied("activity.update", id=id, contentState={"eta": 1})

    path = recording(life)
    there = Commands(wire, target.commands, APP)
    replay(target, path)
    there.applied("activity.update", key="order-7", contentState={"eta": 0})
    before = events_of(target)
    # The target gives the answers of the first time and does nothing.
    assert "replayed 2 of 2 events" in replay(target, path).err
    there.advance(by=HOUR)  # longer than answers are remembered
    done = replay(target, path, code=1)
    assert "replayed 0 of 2 events" in done.err, done.err
    assert "replayed here before" in done.err and "--new-ids" in done.err
    assert events_of(target) == before and there.get(key="order-7")["contentState"] == {"eta": 0}


def test_what_is_lost_with_its_connection_is_played_in_its_order(service, serve, client, wire, recording):
    last = 40

    def updates():
        id = client.start(key="order-1")["id"]
        for number in range(1, last + 1):
            client.applied("activity.update", id=id, contentState={"eta": number})

    path = recording(updates)
    other = serve()
    proxy = Proxy(other.commands)
    proxy.lose_with(b"activity.update")
    try:
        done = Islet(other)("replay", path, "--commands", proxy.url, "--yes", "--speed", "max")
    finally:
        proxy.close()
    assert proxy.sent.count(b"activity.update") > last, "nothing was lost"
    assert f"replayed {last + 1} of {last + 1} events" in done.err
    [there] = Commands(wire, other.commands, app=APP).read("activity.list")["activities"]
    assert there["contentState"] == {"eta": last}


@pytest.mark.parametrize("words", [[], ["--new-ids"]])
def test_each_life_of_an_id_is_played(service, target, client, wire, recording, steady, words):
    """What begins under an id that was used before has the first revision again."""
    order, torch, forecast = (str(uuid.uuid4()) for _ in range(3))
    steady(service), steady(target)

    def lives():
        client.start(id=order, key="old")
        client.applied("activity.end", id=order, dismissalPolicy="immediate")
        for device in ("phone-1", "phone-2"):
            client.applied("control.add", kind=TORCH, id=torch, device=device)
            client.applied("widget.add", kind=FORECAST, family="systemSmall", id=forecast, device=device)
            if device == "phone-1":
                client.applied("control.remove", id=torch)
                client.applied("widget.remove", id=forecast)
        client.advance(by=50 * HOUR)
        client.start(id=order, key="new", contentState={"eta": 2})
        client.applied("activity.update", id=order, contentState={"eta": 1})

    path = recording(lives, "--topics")
    done = replay(target, path, "--verify", "--json", *words)
    [summary] = done.json
    assert (summary["repeated"], summary["impossible"], summary["refused"], summary["differences"]) == (0, [], [], [])
    there = Commands(wire, target.commands, APP)
    [order] = there.list(state="active")
    assert (order["key"], order["contentState"]) == ("new", {"eta": 1})
    for family in ("control", "widget"):
        assert [row["device"] for row in there.read(f"{family}.list")[f"{family}s"]] == ["phone-2"]
    # The same events once more are no further lives.
    path.write_text(path.read_text() * 2)
    [again] = replay(target, path, "--dry-run", "--json", "--prefix", "x.").json[-1:]
    assert f"left out {summary['events']} events" in replay(target, path, "--new-ids", code=None).err, again


def test_new_ids_play_it_once_more(service, target, client, wire, recording):
    def life():
        id = client.start()["id"]
        client.applied("activity.update", id=id, contentState={"eta": 1})
        renewed = client.applied("activity.renew", id=id)["activity"]["id"]
        client.applied("activity.update", id=renewed, contentState={"eta": 2})

    path = recording(life)
    there = Commands(wire, target.commands, APP)
    for number in (1, 2):
        replay(target, path, "--new-ids", "--verify")
        rows = there.list(state="active")
        assert [row["contentState"] for row in rows] == [{"eta": 2}] * number


# What is written


def test_a_dry_run_writes_the_commands_and_asks_nobody(service, client, recording):
    path = recording(lambda: activities(client))
    done = Islet(service)("replay", path, "--dry-run", ISLET_COMMANDS="tcp://127.0.0.1:1")
    commands = done.json
    for command in commands:
        strict(f"commands/{command['op']}.json").validate(command)
    assert [int(command["req"].partition("-")[2]) for command in commands] == list(range(1, len(commands) + 1))
    ops = {command["op"] for command in commands}
    assert ops == {"activity.start", "activity.update", "activity.end", "activity.dismiss", "activity.renew",
                   "activity.tap", "device.event", "settings.set"}
    assert "would replay" in done.err and "follow from deadlines" in done.err
    first = commands[0]
    assert (first["key"], first["device"], first["staleDate"], first["relevanceScore"], first["pushType"]) == (
        "order-1", "phone-1", after(MINUTE), 3.5, "token")
    scheduled = next(command for command in commands if command.get("key") == "order-2")
    assert scheduled["alert"] == {"title": "It begins"} and scheduled["startDate"] == after(5 * MINUTE)
    policies = [command.get("dismissalPolicy") for command in commands if command["op"] == "activity.end"]
    assert policies == [{"after": after(HOUR)}, "immediate", None]


def test_a_planted_difference_is_found(service, target, client, wire, recording):
    path = recording(lambda: (client.start(key="order-1"), client.start(key="order-2")))
    there = Commands(wire, target.commands, APP)
    there.start(key="order-2", contentState={"eta": 99})
    done = replay(target, path, "--verify", code=1)
    assert "activity.start: refused" in done.err and "1 conflict" in done.err
    assert "activity/Delivery/order-2: state is not there, recorded was active" in done.out
    assert "1 difference from the recording" in done.err


def test_a_journal_dump_is_a_recording(serve, target, wire, tmp_path):
    data = tmp_path / "data"
    first = serve({"--clock": "manual", "--store": None, "--data": data})
    client = Commands(wire, first.commands, APP)
    id = client.start(key="order-7")["id"]
    client.advance(by=MINUTE)
    client.applied("activity.end", id=id, dismissalPolicy="immediate")
    first.stop()
    dump = tmp_path / "dump.jsonl"
    dump.write_text(Islet(first)("journal", "dump", "--data", data).out)
    replay(target, dump, "--verify")
    assert Commands(wire, target.commands, APP).get(id=id)["state"] == "dismissed"


def test_what_is_not_in_the_recording_is_said(service, target, client, recording):
    id = client.start(key="early")["id"]

    def life():
        client.applied("activity.update", id=id, contentState={"eta": 1})
        client.start(key="order-7")

    path = recording(life)
    done = replay(target, path, "--json", code=1)
    assert done.json[0]["impossible"] == [{"reason": "startNotRecorded", "count": 1}]
    assert "1 could not be replayed: 1 whose start is not recorded" in done.err
    assert "replayed 1 of 2 events as 1 command" in done.err


def test_gaps_and_repetitions_are_said(service, target, client, recording, tmp_path):
    path = recording(lambda: [client.start(key=f"order-{n}") for n in range(5)])
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[0], lines[3], lines[4]]) + "\n")
    done = replay(target, path, "--json")
    assert f"{APP}: events 2 to 3 are not in the recording" in done.err
    [summary] = done.json
    assert (summary["repeated"], summary["gaps"], summary["replayed"]) == (1, [{"app": APP, "first": 2, "last": 3}], 3)


# Bad recordings


def event_line(**changes):
    activity = {"id": str(uuid.uuid4()), "app": APP, "type": "Delivery", "state": "active", "revision": 1,
                "attributes": {}, "contentState": {}, "relevanceScore": 0, "style": "standard",
                "timestamp": after(0), "cause": "command"}
    return json.dumps({"epoch": "e", "seq": 1, "at": after(0), "event": "activity.started", "to": "active",
                       "cause": "command", "activity": activity, **changes})


@pytest.mark.parametrize("text, code, said", [
    ("", 2, "has no events"),
    ("\n  \n", 2, "has no events"),
    ("not json\n", 2, "line 1 is no JSON"),
    ('{"hello":1}\n', 2, "line 1 is no event: a recording is what"),
    ("[1,2]\n", 2, "line 1 is no event"),
    (event_line() + "\n\n{broken\n" + event_line(seq=2) + "\n", 2, "line 3 is no JSON; nothing was sent"),
    (event_line() + "\n" + event_line(seq=2)[:40], 1, "line 2 is cut off"),
    (event_line() + "\n" + event_line(seq=2), 0, "replayed 2 of 2 events"),
    (event_line() + "\r\n" + event_line(seq=2) + "\r\n", 0, "replayed 2 of 2 events"),
    (event_line() + "\n" + "x" * 1_100_000 + "\n", 2, "line 2 has more than 1 048 576 bytes"),
    (event_line(event="hologram.started") + "\n", 1, "1 of an unknown kind"),
    (event_line(event="activity.evaporated", **{"from": "active"}) + "\n", 1, "1 whose start is not recorded"),
    (event_line(event="activity.melted") + "\n", 1, "1 of an unknown kind"),
    (event_line(activity={"id": str(uuid.uuid4())}) + "\n", 1, "1 that lack something"),
], ids=range(14))
def test_a_bad_recording(target, tmp_path, text, code, said):
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    done = replay(target, path, "--speed", "max", code=code)
    assert said in done.err
    if code == 2:
        assert events_of(target) == 0 and "bad.jsonl" in done.err


def test_bytes_that_are_no_text_are_no_recording(target, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b"\xff\xfe\x00\x00\n")
    assert "line 1 is no JSON" in replay(target, path, code=2).err


def test_a_file_that_cannot_be_read(target, tmp_path):
    assert "No such file" in replay(target, tmp_path / "none", code=2).err
    assert "directory" in replay(target, tmp_path, code=2).err.lower()
    for words in (["--speed", "0"], ["--speed", "fast"], ["--speed", "-1"], ["--app-map", "a"],
                  ["--app-map", "a=b/c"], ["--prefix", "a b"], ["--dry-run", "--verify"]):
        replay(target, tmp_path / "none", *words, code=2)


# The target


def test_a_target_that_refuses(service, target, client, wire, recording):
    path = recording(lambda: [client.start(key=f"order-{n}") for n in range(3)])
    Commands(wire, target.commands, APP).start(key="order-1")
    done = replay(target, path, code=1)
    assert "line 2: activity.start: refused:" in done.err and "1 not executed: 1 conflict" in done.err
    assert "replayed 2 of 3 events" in done.err
    done = replay(target, path, "--stop-on-error", "--new-ids", code=1)
    assert "stopped before the other" in done.err or "3 conflict" in done.err


def test_a_target_that_is_not_there(tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text(event_line() + "\n")
    follower = Running("replay", path, "--commands", "tcp://127.0.0.1:1", "--timeout", "300ms", env=environment())
    assert follower.wait() == 5
    assert "no answer from tcp://127.0.0.1:1" in follower.messages[-1]


def test_a_clock_that_would_have_to_go_back(service, target, client, wire, recording):
    path = recording(lambda: client.start())
    Commands(wire, target.commands).advance(by=HOUR)
    assert "a clock does not go back" in replay(target, path, "--keep-times", code=2).err


def test_dates_are_kept_where_that_is_asked_for(service, target, client, wire, recording):
    def later():
        client.advance(by=HOUR)
        client.start(key="order-7", staleDate=after(2 * HOUR))

    path = recording(later)
    replay(target, path, "--keep-times", "--verify")
    found = Commands(wire, target.commands, APP).get(key="order-7")
    assert (found["startedAt"], found["staleDate"]) == (after(HOUR), after(2 * HOUR))


# Which target


NAMED = "say into which service: --commands URL, or --context NAME"


def test_the_target_is_named_and_not_what_happens_to_be_set(target, tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text(event_line() + "\n")
    islet = Islet(target)
    config = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert NAMED in islet("replay", path, "--yes", code=2).err
    islet("context", "add", "bench", "--commands", target.commands, "--use", **config)
    islet("context", "add", "shop", "--app", APP, **config)
    nobody = {**config, "ISLET_COMMANDS": ""}
    for words, env in ([], {}), ([], {"ISLET_CONTEXT": "bench"}), (["--context", "shop"], {}):
        assert NAMED in islet("replay", path, "--yes", *words, code=2, **nobody, **env).err, words
    assert events_of(target) == 0
    islet("replay", path, "--context", "bench", **nobody)
    assert events_of(target) == 1
    islet("replay", path, "--dry-run", **nobody)


def test_what_would_be_done_is_said_first_and_asked_where_something_is_there(service, target, client, wire, recording):
    client.start(key="old")

    def life():
        client.applied("activity.update", key="old", contentState={"eta": 1})
        client.start(key="new")

    path = recording(life)
    words = ["replay", path, "--commands", target.commands]
    done = Islet(target)(*words, code=1)
    first = done.err.splitlines()[0]
    assert first == (
        f"into {target.commands}, which is empty: would replay 1 of 2 events as 1 command; 1 could not be replayed: 1 "
        "whose start is not recorded")
    Commands(wire, target.commands, TAXI).start(key="here")
    Commands(wire, target.commands, TAXI).applied("group.create", group="group.com.example")
    before = events_of(target)
    done = Islet(target)(*words, "--new-ids", "--prefix", "x.", code=2)
    first, last = done.err.splitlines()
    assert first.startswith(f"into {target.commands}, which has 2 activities, 1 group: would replay 1 of 2 events")
    assert last.startswith(f"to replay it into {target.commands}, which is not empty needs --yes")
    assert events_of(target) == before and done.out == ""
    Islet(target)(*words, "--new-ids", "--prefix", "x.", "--yes", code=1)
    assert events_of(target) == before + 1


@pytest.mark.parametrize("words", [[], ["--new-ids"], ["--prefix", "staging.", "--new-ids"], ["--keep-times"]])
def test_a_service_gets_no_recording_of_its_own(service, client, recording, words):
    path = recording(lambda: client.start(key="order-7"))
    done = replay(service, path, *words, code=6)
    assert "was recorded at" in done.err and "itself" in done.err and done.out == ""
    assert events_of(service) == 1


def test_what_has_the_ids_already_is_no_replay_of_before(service, target, client, wire, recording):
    """Such as what was recorded elsewhere and brought there in another way."""
    ids = []
    path = recording(lambda: ids.append(client.start(key="order-7")["id"]))
    Commands(wire, target.commands, APP).start(key="order-8", id=ids[0])
    done = replay(target, path, code=1)
    assert "reconnectNotPermitted" in done.err and "replayed here before" not in done.err
    assert done.err.endswith("things of these ids are there already: --new-ids plays it once more as new things\n")


# Time


def test_dates_are_moved_to_when_the_person_has_said_yes(service, target, client, wire, recording):
    def life():
        id = client.start(key="order-7", staleDate=after(10 * MINUTE))["id"]
        client.start(key="order-8", startDate=after(5 * MINUTE), alert={"title": "It begins"})
        client.advance(by=MINUTE)
        client.applied("activity.update", id=id, contentState={"eta": 1}, timestamp=after(MINUTE // 2),
                       staleDate=after(10 * MINUTE))

    path = recording(life)
    there = Commands(wire, target.commands, APP)
    Commands(wire, target.commands, TAXI).start(key="here")
    code, seen = on_a_terminal(
        Islet(target), "replay", path, "--commands", target.commands, "--verify", types="y\n",
        meanwhile=lambda: there.advance(by=HOUR))
    assert code == 0 and "all is as recorded" in seen, seen
    assert there.get(key="order-7")["staleDate"] == after(HOUR + 10 * MINUTE)
    assert there.get(key="order-8")["state"] == "pending"


def test_on_a_running_clock_the_spans_between_events_are_kept(service, system_service, client, wire, recording):
    def life():
        id = client.start(key="order-7")["id"]
        for _ in range(4):
            client.advance(by=MINUTE)
            client.applied("activity.update", id=id, contentState={"at": client.read("service.ping")["now"]})

    path = recording(life)
    done = replay(system_service, path, "--speed", "600", "--json")
    assert 400 <= done.json[0]["took"] < 4_000, done.json
    history = Commands(wire, system_service.commands, APP).read("activity.history", key="order-7")["events"]
    steps = [b["at"] - a["at"] for a, b in zip(history, history[1:])]
    # Each leaves when it is due or later: one that was late makes the next span shorter, and the sum only by the first's.
    assert sum(steps) >= 240, steps
    assert "(×600)" in done.err


class Listening(ScriptedService):
    """Notes what it is asked, and refuses what it does not know."""

    asked = ()

    def _answer(self, command):
        self.asked = (*self.asked, command)
        return super()._answer(command)


def test_the_clock_is_asked_when_the_way_of_the_commands_is_open(tmp_path, client, system_service, wire, recording):
    """On a fast clock much time passes until it is, and what has a timestamp of its own would be older than its start."""
    path = recording(lambda: client.start(key="order-7"))
    there = Commands(wire, system_service.commands, APP)
    answers = {op: {name: value for name, value in there.read(op, app=None).items() if name not in ("req", "ok")}
               for op in ("service.info", "service.stats")}
    service = Listening(tmp_path, **{op.replace(".", "_"): answer for op, answer in answers.items()})
    try:
        replay(service, path, code=1)
        [start] = [at for at, command in enumerate(service.asked) if command["op"] == "activity.start"]
        ping, start = service.asked[start - 1:start + 1]
        assert ping["op"] == "service.ping"
        assert ping["req"].rpartition("-")[0] == start["req"].rpartition("-")[0]
    finally:
        service.close()


def test_a_manual_clock_is_moved_at_the_named_speed(service, target, client, recording):
    path = recording(lambda: (client.start(), client.advance(by=MINUTE), client.start(type="Ride")))
    done = replay(target, path, "--speed", "200", "--json")
    assert done.json[0]["took"] >= 250


def test_ctrl_c_tells_how_far_it_came(service, system_service, client, recording):
    def life():
        client.start(key="order-7")
        client.advance(by=8 * HOUR)
        client.start(key="order-8")

    path = recording(life)
    follower = Running("replay", path, "--commands", system_service.commands, env=environment())
    try:
        islet = Islet(system_service)
        wait_for(lambda: events_of(system_service), 1)
        assert follower.end() == 1
    finally:
        follower.kill()
    assert follower.messages[-1].startswith("replayed 1 of 3 events as 1 command in ")
    assert follower.messages[-1].endswith("1 follows from deadlines; stopped before the other 1")
    assert islet("activity", "get", "order-7", "-o", "name").out == "order-7\n"


def test_standard_input_is_a_recording_too(target, tmp_path):
    words = [str(BINARY), "replay", "-", "--commands", target.commands]
    done = subprocess.run(
        [*words, "--speed", "max"], input=event_line() + "\n", env=environment(), text=True, capture_output=True,
        timeout=20)
    assert done.returncode == 0 and "replayed 1 of 1 event as 1 command" in done.stderr
    done = subprocess.run(
        [*words, "--yes"], input="x\n", env=environment(), text=True, capture_output=True, timeout=20)
    assert done.returncode == 2 and "standard input line 1 is no JSON" in done.stderr


def test_a_long_recording_goes_in_batches(service, target, client, recording):
    def life():
        ids = [client.start(key=f"order-{n}")["id"] for n in range(300)]
        for id in ids:
            client.applied("activity.update", id=id, contentState={"eta": 1})

    path = recording(life)
    done = replay(target, path, "--verify", "--json")
    assert done.json[0]["commands"] == 600 and done.json[0]["took"] < 10_000


def test_a_provider_that_does_not_answer_holds_nothing_up(service, target, client, wire, recording, steady):
    """Before a tap the control must stand where it stood; where it never comes there, that is waited for once."""
    steady(service)

    def taps():
        id = client.applied("control.add", kind=TORCH)["control"]["id"]
        for value in (True, False, True, False):
            wait_for(lambda: client.read("control.get", id=id)["control"]["state"], "shown")
            client.applied("control.set", id=id, value=value)
        wait_for(lambda: client.read("control.get", id=id)["control"]["state"], "shown")

    path = recording(taps)
    RawProvider(wire, target.commands, toggle(), app=APP)
    [summary] = replay(target, path, "--verify", "--json", code=1).json
    assert summary["replayed"] == 5 and 2_000 <= summary["took"] < 4_000
    assert {difference["member"] for difference in summary["differences"]} >= {"state"}

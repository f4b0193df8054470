"""`islet control …` and `islet provider …`, and what `tail`, `history` and `explain` tell of controls."""

import json
import re
import signal
import threading
import time

import pytest

import islet as module
from support.cli import Islet
from support.commands import Commands
from support.demo import Demo
from support.running import Running
from support.service import run
from support.wire import DEADLINE

APP = "com.example.home"
TORCH, HEATING, DOOR, SAFE = (f"com.example.{name}" for name in ("Torch", "Heating", "Door", "Safe"))
PATIENT = {"value_deadline": 30.0, "action_deadline": 30.0}
"""No call is too late where a test does not mean it, on a slow machine either."""
ID = "0198c0de-0000-7000-8000-00000000000a"


@pytest.fixture
def islet(service):
    return Islet(service, APP)


@pytest.fixture
def client(wire, service):
    return Commands(wire, service.commands, APP)


class Torch(module.Toggle):
    """Its action waits until the test says that it may be through."""

    def __init__(self):
        self.lit, self.refuses, self.disabled = False, False, False
        self.may_act = threading.Event()
        self.may_act.set()

    def current_value(self, control):
        return module.Answer(self.lit, disabled=self.disabled or None)

    def set_value(self, control, value):
        assert self.may_act.wait(DEADLINE)
        if self.refuses:
            raise module.Fail("broken")
        self.lit = value


class Heating(module.Toggle):
    def current_value(self, control):
        return module.Answer(False, status=f"19 °C in the {control.configuration['room']}")

    def options(self, control, parameter):
        return [("kitchen", "Kitchen"), "office"]


@pytest.fixture
def torch():
    return Torch()


@pytest.fixture
def provider(service, torch):
    made = module.Provider(APP, commands=service.commands)
    made.toggle(TORCH, display_name="Torch", **PATIENT)(torch)
    made.toggle(HEATING, preview=True, **PATIENT, parameters=[module.parameter("room", dynamic_options=True)])(Heating)

    made.toggle(SAFE, privacy_sensitive=True, authentication_policy="requiresAuthentication", **PATIENT)(Torch)

    @made.button(DOOR, **PATIENT)
    def door(control):
        raise module.Fail("stuck")

    with made.start():
        made.wait_until_registered()
        yield made
        torch.may_act.set()


@pytest.fixture
def placed(client, provider):
    """Places a control and waits for its first value; gives its id."""

    def place(kind=TORCH, **fields):
        id = client.applied("control.add", kind=kind, **fields)["control"]["id"]
        return client.read("control.get", id=id, maxAge=3_600_000)["control"]["id"]

    return place


@pytest.fixture
def tail(islet):
    made = Running("tail", env=islet.env)
    made.message("following from")
    yield made
    made.kill()


def words(line):
    return " ".join(line.split())


def short(id):
    return id[-12:]


# Placing


def test_a_control_is_added_with_what_to_try_next(islet, client, provider):
    done = islet("control", "add", HEATING, "--configuration", '{"room":"kitchen"}', "--device", "phone", "--id", ID)
    assert done.out == f"added Heating/00000000000a: loading, revision 1\nid {ID}\n"
    for next_command in ("get", "tap", "explain"):
        assert f"control {next_command} Heating/00000000000a" in done.err
    control = client.read("control.get", id=ID)["control"]
    assert (control["configuration"], control["device"]) == ({"room": "kitchen"}, "phone")
    [answer] = islet("control", "add", TORCH, "--json").json
    assert (answer["outcome"], answer["control"]["state"]) == ("applied", "loading")


def test_a_control_is_configured_and_removed(islet, client, placed):
    id = placed(HEATING, configuration={"room": "kitchen"})
    done = islet("control", "configure", "Heating", "--configuration", '{"room":"office"}')
    assert re.fullmatch(r"configured Heating: loading, revision \d+\n", done.out)
    assert client.read("control.get", id=id)["control"]["configuration"] == {"room": "office"}
    again = islet("control", "configure", "Heating", "--configuration", '{"room":"office"}')
    assert "unchanged" in again.err
    assert "room" in islet("control", "configure", "Heating", "--configuration", '{"room":1}', code=2).err
    assert re.fullmatch(r"removed Heating: removed, revision \d+\n", islet("control", "remove", "Heating").out)
    assert "notFound" in islet("control", "get", id, code=3).err


@pytest.mark.parametrize("name", ["Torch", "torch", TORCH, "{id}", "{short}", "Torch/{short}"])
def test_a_control_has_many_names(islet, placed, name):
    id = placed(id=ID)
    placed(DOOR)
    [control] = islet("control", "get", name.format(id=id, short=short(id)), "--json").json
    assert control["id"] == id


def test_a_name_that_is_none_is_3_and_the_closest_is_suggested(islet, placed):
    placed()
    assert "did you mean Torch?" in islet("control", "get", "Torhc", code=3).err
    for name in ("com.example.Trch", "Torch", "torch"):
        assert f"did you mean {TORCH}?" in islet("control", "add", name, code=3).err
    assert "did you mean" not in islet("control", "get", "Nothing-like-it", code=3).err


def test_a_name_of_several_is_2_unless_the_device_tells_them_apart(islet, placed):
    first, second = placed(device="phone"), placed(device="tablet")
    done = islet("control", "get", "Torch", code=2)
    assert f"Torch/{short(first)}  on phone" in done.err and f"Torch/{short(second)}  on tablet" in done.err
    [control] = islet("control", "get", "Torch", "--device", "tablet", "--json").json
    assert control["id"] == second


# Acting


def test_a_tap_says_what_happens_at_once(islet, placed, torch):
    placed()
    torch.may_act.clear()
    assert islet("control", "tap", "Torch").out == "tapped Torch: acting, on, revision 3\n"
    assert islet("control", "set", "Torch", "off").out == "set Torch: acting, off, revision 4\n"
    [answer] = islet("control", "tap", "Torch", "--json").json
    assert answer["control"] == {"id": answer["control"]["id"], "revision": 5, "state": "acting"}


def test_a_tap_that_waits_shows_the_steps_and_the_final_value(islet, placed, torch):
    id = placed()
    date, *steps, last = islet("control", "tap", "Torch", "--wait").out.splitlines()[1:]
    assert date == "Thu 2026-01-01 UTC"
    assert [words(step) for step in steps] == [
        f"00:00:00 Torch/{short(id)} acting → reloading action rev 4",
        f"00:00:00 Torch/{short(id)} reloading → shown provider rev 5",
    ]
    assert re.fullmatch(rf"Torch/{short(id)}: shown, on, revision 5, after [\d.]+ s", last)
    answer, control = islet("control", "set", id, "off", "--wait", "--json").json
    assert answer["control"]["state"] == "acting"
    assert (control["state"], control["value"], control["valueSource"]) == ("shown", False, "provider")


def test_a_tap_that_fails_is_1_and_says_what_is_shown(islet, placed, torch):
    placed()
    torch.refuses = True
    done = islet("control", "tap", "Torch", "--wait", code=1)
    assert "failed: broken" in done.out and done.out.splitlines()[-1].split(": ")[1].startswith("shown, off")
    assert done.err == "the action failed: broken\n"
    placed(DOOR)
    _, control = (done := islet("control", "tap", "Door", "--wait", "--json", code=1)).json
    assert (control["state"], control["failure"], control["failureReason"]) == ("shown", "threw", "stuck")
    assert done.err == "the action failed: stuck\n"


def test_a_value_that_fails_after_the_action_is_1_too(islet, placed, torch, monkeypatch):
    placed()
    monkeypatch.setattr(torch, "current_value", lambda control: "nonsense")
    done = islet("control", "tap", "Torch", "--wait", code=1)
    assert done.err == "the action was performed, but the value could not be had: " \
        "current_value gave 'nonsense', which is no bool\n"


def test_a_tap_that_waits_and_is_stopped_says_that_the_action_goes_on(islet, placed, torch):
    placed()
    torch.may_act.clear()
    tap = Running("control", "tap", "Torch", "--wait", env=islet.env)
    try:
        tap.lines(1)
        assert tap.end() == 1
        assert re.fullmatch(
            r"Torch is still acting after .* s, and what was asked for goes on; stopped", tap.messages[-1])
    finally:
        torch.may_act.set()
        tap.kill()


@pytest.mark.parametrize("words", [("tap", "Torch"), ("set", "Torch", "off")])
def test_a_tap_that_waits_is_not_made_where_no_events_come(islet, placed, torch, tmp_path, words):
    """Where events should come from, nobody is: what follows from it could not be told."""
    placed()
    url = f"ipc://{tmp_path}/events"
    done = islet("control", *words, "--wait", "--timeout", "1s", "--events", url, code=5)
    assert done.out == "" and done.err == (
        f"no events from {url} within 1 s, so Torch was not {'set' if words[0] == 'set' else 'tapped'}: "
        "name where they come from with --events, or leave --wait out\n")
    assert islet("control", "get", "Torch", "--json").json[0]["revision"] == 2


def test_a_tap_that_waits_takes_no_longer_than_it_may(islet, placed, torch):
    placed()
    torch.may_act.clear()
    try:
        done = islet("control", "tap", "Torch", "--wait", "--timeout", "1s", code=5)
        assert re.fullmatch(r"Torch is still acting after 1(\.\d+)? s, and what was asked for goes on\n", done.err)
    finally:
        torch.may_act.set()


def test_a_tap_that_waits_on_a_locked_device_ends_when_it_is_unlocked(islet, placed):
    placed(SAFE, device="phone")
    islet("device", "lock", "--device", "phone")
    tap = Running("control", "tap", "Safe", "--wait", env=islet.env)
    try:
        assert tap.lines(1) == ["tapped Safe: authenticating, revision 4, given up in 1 m"]
        assert islet("control", "tap", "Safe").out.startswith("tapped Safe: authenticating, revision 5")
        islet("device", "unlock", "--device", "phone")
        assert tap.wait() == 0
        assert ": shown, on, revision " in tap.data[-1]
    finally:
        tap.kill()


@pytest.mark.parametrize("words", [("tap", "Safe"), ("set", "Safe", "on")])
def test_a_tap_whose_wait_for_the_person_is_over_is_1_and_shows_what_was(islet, placed, words):
    placed(SAFE, device="phone")
    islet("device", "lock", "--device", "phone")
    tap = Running("control", *words, "--wait", env=islet.env)
    try:
        tap.lines(1)
        islet("clock", "advance", "2m")
        assert tap.wait() == 1
        assert ": shown, hidden, revision " in tap.data[-1]
        assert tap.messages == ["the action was not performed: the device was not unlocked in time"]
    finally:
        tap.kill()


def test_a_tap_whose_control_is_removed_is_3(islet, placed, torch):
    id = placed()
    torch.may_act.clear()
    tap = Running("control", "tap", "Torch", "--wait", env=islet.env)
    try:
        tap.lines(1)
        islet("control", "remove", id)
        assert tap.wait() == 3
        assert tap.messages == ["Torch was removed"]
    finally:
        tap.kill()


def test_taps_that_do_nothing_are_4_and_those_that_nobody_performs_6(islet, placed, torch, provider):
    torch.disabled = True
    placed()
    for wait in ([], ["--wait"]):
        assert "ignored: disabled" in islet("control", "tap", "Torch", *wait, code=4).err
    assert "badField" in islet("control", "set", placed(DOOR), "on", code=2).err
    provider.stop()
    assert "no provider" in islet("control", "tap", "Door", code=6).err


def test_reloads_of_one_of_a_kind_and_of_all(islet, client, placed):
    id, _ = placed(), placed()
    placed(HEATING, configuration={"room": "office"})
    assert re.fullmatch(rf"reloading {id}: (reloading|shown), revision \d\n", islet("control", "reload", id).out)
    assert islet("control", "reload", "--kind", TORCH, "--push").out == "reloading 2 controls\n"
    assert islet("control", "reload").out == "reloading 3 controls\n"
    assert islet("control", "reload", "--json").json[0]["count"] == 3
    assert "did you mean" in islet("control", "reload", "--kind", "com.example.Tor", code=3).err


# Looking


def test_json_is_what_the_service_said(islet, client, placed):
    id = placed(HEATING, configuration={"room": "kitchen"})
    placed()
    assert islet("control", "get", id, "--json").json == [client.read("control.get", id=id)["control"]]
    assert islet("control", "list", "--json").json == client.read("control.list")["controls"]
    assert islet("control", "history", id, "--json").json == client.read("control.history", id=id)["events"]
    [explained] = islet("control", "explain", id, "--json").json
    assert explained["decisions"] == client.read("control.explain", id=id)["decisions"]
    kinds = client.read("control.kinds")["kinds"]
    assert islet("control", "kinds", "--json").json == kinds
    assert islet("control", "kinds", "-o", "name").out.split() == [kind["kind"] for kind in kinds]
    assert islet("control", "preview", TORCH, "--json").json == [client.read("control.preview", kind=TORCH)["preview"]]
    options = client.read("control.options", kind=HEATING, parameter="room")["options"]
    assert islet("control", "options", HEATING, "room", "--json").json == options
    [listed] = islet("provider", "list", "--json").json
    assert (listed["app"], listed["state"]) == (APP, "live") and set(listed["kinds"]) == {TORCH, HEATING, SAFE, DOOR}


def test_a_person_reads_what_is_offered(islet, placed):
    placed()
    head, *rows = [words(line) for line in islet("control", "kinds").out.splitlines()]
    assert head == "KIND TEMPLATE PROVIDERS CONTROLS PARAMETERS"
    assert rows == [
        f"{DOOR} button 1 0 -", f"{HEATING} toggle 1 0 room (string)", f"{SAFE} toggle 1 0 -", f"{TORCH} toggle 1 1 -"]
    assert islet("control", "options", HEATING, "room").out == "kitchen  Kitchen\noffice\n"
    assert islet("control", "preview", HEATING).out.splitlines()[0] == "Heating  preview  on"
    head, row = [words(line) for line in islet("provider", "list").out.splitlines()]
    assert head == "ID APP STATE CALLS FAILED AT WORK WAITING P50 P99 KINDS"
    assert re.fullmatch(rf"\w{{12}} {APP} live \d+ 0 0 of 16 0 \d+ ms \d+ ms Torch, Heating, Safe, Door", row)


def test_a_provider_that_is_at_work_is_not_asked_a_second_time(service, islet):
    asked, was_asked_again = [], threading.Event()
    provider = module.Provider(APP, commands=service.commands)

    @provider.toggle(HEATING, **PATIENT, parameters=[module.parameter("room", dynamic_options=True)])
    class Slow(Heating):
        def options(self, control, parameter):
            if asked:
                was_asked_again.set()
            asked.append(parameter)
            was_asked_again.wait(3)
            return super().options(control, parameter)

    with provider.start():
        provider.wait_until_registered()
        assert islet("control", "options", HEATING, "room", "--timeout", "1m").out == "kitchen  Kitchen\noffice\n"
        assert asked == ["room"]


def test_a_person_reads_what_is_placed(islet, placed):
    torch = placed(device="phone")
    placed(HEATING, configuration={"room": "office"})
    door = placed(DOOR)
    islet("control", "tap", "Door", "--wait", code=1)
    done = islet("control", "list")
    head, *rows = [words(line) for line in done.out.splitlines()]
    assert head == "KIND ID DEVICE STATE IN STATE VALUE STATUS REV NEXT"
    assert rows[0] == f"Torch {short(torch)} phone shown 0 s off 2 -"
    assert rows[1].endswith("shown 0 s off 19 °C in the office 2 -")
    assert rows[2] == f"Door {short(door)} shown 0 s - 3 failed: stuck"
    assert done.err == f"showing 3 of 3 in {APP}\n"
    assert len(islet("control", "list", "--state", "shown", "--kind", DOOR).out.splitlines()) == 2
    assert "showing 1 of 3" in islet("control", "list", "--limit", "1").err
    lines = islet("control", "get", "Torch").out.splitlines()
    assert lines[0] == f"Torch/{short(torch)}  shown  off"
    assert re.search(r"valueAt +2026-01-01 00:00:00 UTC \(now\)", "\n".join(lines))


def test_a_get_may_ask_for_a_fresh_value(islet, placed, torch):
    placed()
    torch.lit = True
    assert islet("control", "get", "Torch").out.splitlines()[0].endswith("off")
    assert islet("control", "get", "Torch", "--max-age", "1h").out.splitlines()[0].endswith("off")
    islet("clock", "advance", "1m")
    assert islet("control", "get", "Torch", "--max-age", "30s").out.splitlines()[0].endswith("on")


def test_history_and_explain_tell_why(islet, placed):
    placed()
    islet("control", "tap", "Torch", "--wait")
    _, *lines = [words(line) for line in islet("control", "history", "Torch").out.splitlines()]
    assert lines == [
        "00:00:00 Torch → loading added off (preview), rev 1", "00:00:00 Torch loading → shown provider rev 2",
        "00:00:00 Torch shown → acting tap on, rev 3", "00:00:00 Torch acting → reloading action rev 4",
        "00:00:00 Torch reloading → shown provider rev 5",
    ]
    told = islet("control", "explain", "Torch").out
    assert "shown → acting: A tap: the new state is shown at once" in told
    assert "rule: performed" in told and "asked by cli-" in told
    assert told.splitlines()[:2] == [
        "Now it is shown, on, since 2026-01-01 00:00:00 UTC (now).", "Nothing will happen to it by itself."]


def test_tail_tells_the_steps_of_a_control(islet, tail, client, placed, torch):
    id = placed(DOOR)
    placed(HEATING, configuration={"room": "kitchen"})
    islet("control", "tap", id)
    first, *lines = [words(line) for line in tail.lines(6)]
    assert first == "Thu 2026-01-01 UTC"
    [added, heating, shown, tapped, failed] = lines
    assert added == f"00:00:00 Door/{short(id)} → shown added rev 1"
    assert heating.endswith('→ loading added on (preview), rev 1 {"room":"kitchen"}')
    assert shown.endswith("loading → shown provider off, rev 2 “19 °C in the kitchen”")
    assert tapped == f"00:00:00 Door/{short(id)} shown → acting tap rev 2"
    assert failed == f"00:00:00 Door/{short(id)} acting → shown provider failed: stuck, rev 3"


def test_tail_tells_when_a_failed_value_is_asked_for_again(islet, tail, client, placed, torch):
    placed()
    torch.current_value = None
    client.applied("control.reload", kind=TORCH)
    failed = words(tail.lines(5)[-1])
    told = r"reloading → shown provider failed: TypeError: 'NoneType' object is not callable, asked again in [\d.]+ s, rev 4$"
    assert re.search(told, failed)
    client.advance(by=60_000)
    assert re.search(r"shown → reloading retry rev 5$", words(tail.lines(6)[-1]))


def test_tail_tells_how_late_a_control_was_asked_again(system_service, wire, torch):
    """The service is stopped while the time of the retry, a second or two away, goes by."""
    islet, client = Islet(system_service, APP), Commands(wire, system_service.commands, APP)
    provider = module.Provider(APP, commands=system_service.commands)
    provider.toggle(TORCH, **PATIENT)(torch)
    with provider.start():
        provider.wait_until_registered()
        tail = Running("tail", env=islet.env)
        try:
            tail.message("following")
            torch.current_value = None
            client.applied("control.add", kind=TORCH)
            assert "asked again in" in tail.lines(3)[-1]
            system_service.signal(signal.SIGSTOP)
            time.sleep(3)
            system_service.signal(signal.SIGCONT)
            late = r"preview → loading +retry +late by [\d.]+ s, rev \d$"
            tail.wait_until(lambda: any(re.search(late, line) for line in tail.data))
        finally:
            system_service.signal(signal.SIGCONT)
            tail.kill()


def test_what_a_locked_device_hides_is_hidden(islet, tail, placed):
    placed(SAFE, device="phone")
    islet("device", "lock", "--device", "phone")
    assert "shown 0 s hidden" in words(islet("control", "list").out)
    islet("device", "unlock", "--device", "phone")
    _, _, _, hidden, shown = [words(line) for line in tail.lines(5)]
    assert hidden.endswith(" shown lock hidden, rev 3") and shown.endswith(" shown unlock off, rev 4")


def test_controls_and_providers_are_counted(islet, client, placed, torch):
    placed()
    placed(DOOR)
    torch.disabled = True
    placed()
    info = islet("info", "--json").json[0]
    assert info["controls"] == {
        "loading": 0, "preview": 0, "shown": 2, "reloading": 0, "acting": 0, "authenticating": 0, "disabled": 1}
    assert info["providers"] == 1
    islet("control", "remove", "Door")
    assert re.search(r"^controls\n(  \w+ +\d\n)*  shown +1\n", islet("info").out, re.MULTILINE)
    assert re.search(r"^providers +1$", islet("info").out, re.MULTILINE)


def test_counts_come_back_after_a_restart(serve, wire, tmp_path):
    options = {"--store": "sqlite", "--data": tmp_path / "data"}
    first = serve(options)
    with module.Provider(APP, commands=first.commands) as provider:
        provider.toggle(TORCH)(Torch())
        provider.start().wait_until_registered()
        client = Commands(wire, first.commands, APP)
        for _ in range(3):
            id = client.applied("control.add", kind=TORCH)["control"]["id"]
        client.read("control.get", id=id, maxAge=3_600_000)
        client.applied("control.remove", id=id)
        before = client.read("service.info")["info"]["controls"]
    first.stop()
    after = Commands(wire, serve(options).commands, APP).read("service.info")["info"]
    assert after["controls"] == before and sum(before.values()) == 2
    assert after["providers"] == 0


# The demo


def test_the_home_of_the_demo_can_be_tapped_and_its_door_fails_one_time_in_five(tmp_path):
    demo = Demo(tmp_path)
    try:
        torch, door, kitchen, bedroom = demo.home()
        assert [control["kind"] for control in (torch, door, kitchen, bedroom)] == [
            "Torch", "GarageDoor", "Thermostat", "Thermostat"]
        assert demo.islet("control", "tap", "Torch", "--wait").stdout.splitlines()[-1].count("shown, on, “lit”") == 1
        for position in ("open", "closed", "open", "closed"):
            last = demo.islet("control", "tap", "GarageDoor", "--wait").stdout.splitlines()[-1]
            assert f"shown, {position}" in last
        failed = demo.islet("control", "tap", "GarageDoor", "--wait", code=1).stderr
        assert "the action failed: the door is stuck" in failed
        assert "shown, open" in demo.islet("control", "tap", "GarageDoor", "--wait").stdout
        assert demo.islet("control", "options", "Thermostat", "room").stdout.splitlines() == [
            "bedroom  Bedroom", "kitchen  Kitchen", "office  Office"]
        name = f"Thermostat/{short(kitchen['id'])}"
        demo.islet("control", "configure", name, "--configuration", '{"room":"office"}')
        assert "in the office" in demo.islet("control", "get", name, "--max-age", "0s").stdout
        tried = [line.split("#")[0].replace("'", "").split()[1:] for line in demo.process.messages
                 if line.startswith("  ")]
        assert [words[0] for words in tried] == [
            "top", "tail", "activity", "activity", "activity", "info", "control", "control", "control", "widget",
            "widget", "widget"]
        for words in tried[6:9]:
            demo.islet(*words)
    finally:
        demo.close()


def test_the_thermostats_of_the_demo_change_by_themselves_and_by_push(tmp_path):
    demo = Demo(tmp_path)
    try:
        demo.home()
        tail = Running("tail", "com.example.home/control/Thermostat/", "--limit", "8", "--json", env=demo.env)
        assert tail.wait(seconds=60) == 0
        causes = [json.loads(line)["cause"] for line in tail.data]
        assert set(causes) == {"provider", "push", "request"}
    finally:
        demo.close()


# Usage


@pytest.mark.parametrize("line", [
    "control get", "control explode", "control tap", "control set Torch", "control set Torch maybe",
    "control add", "control configure Torch", "control add Torch --configuration [1]", "control reload Torch --kind T",
    "control reload --device phone", "control list --limit 0", "control list --state sleeping",
    "control get Torch --max-age soon", "control options Torch", "provider explode",
])
def test_wrong_usage_is_2_and_says_why(islet, line):
    done = islet(*line.split(), code=2)
    assert done.out == "" and done.err.strip()


@pytest.mark.parametrize("verb", [
    "", "add", "configure", "remove", "tap", "set", "reload", "get", "list", "history", "explain", "kinds", "options",
    "preview",
])
def test_help_begins_with_examples(verb):
    done = run("control", *verb.split(), "--help")
    assert done.returncode == 0
    assert done.stdout.index(f"islet control {verb}".strip()) < done.stdout.index("OPTIONS:")


def test_a_state_is_coloured_on_a_terminal(islet, placed):
    placed()
    assert "\x1b[32mshown" in islet.on_a_terminal("control", "list")
    assert "\x1b[" not in islet("control", "list").out

"""What an operator asks about all of it: what fires next, who holds slots, who is slow, the figures, the verdict."""

import json
import os
import re
import secrets
import shutil
import signal
import subprocess

import pytest

from support.cli import Islet
from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.provider import TORCH, RawProvider, toggle
from support.schemas import strict
from support.scripted import ScriptedService
from support.service import ROOT
from support.wire import DEADLINE, Deadline


@pytest.fixture
def islet(service):
    return Islet(service)


@pytest.fixture
def scripted(tmp_path):
    """Makes a service that says these figures, and the command that asks it."""
    made = []

    def make(**answers):
        usual = {"service_stats": {"stats": STATS}, "provider_list": {"providers": []}, "service_info": INFO}
        made.append(ScriptedService(tmp_path, **{**usual, **answers}))
        return Islet(made[-1])

    yield make
    for service in made:
        service.close()


def spans(unit, p99, count=100):
    """A histogram as the contract has it, and the same as its recent part."""
    values = {"count": count, "p50": p99 // 2, "p99": p99, "p999": p99, "max": p99}
    return {"unit": unit, **values, "recent": {"span": 42_000, **values}}


INFO = {"info": {"ruleSet": {"maximumEntities": 1_000}, "version": "0.1.0"}}
STATS = {
    "now": after(0), "uptime": 11_520_000, "version": "0.1.0", "guarantee": "full",
    "commands": {"taken": 12_031, "applied": 12_000, "ignored": 30, "refused": 1}, "events": 12_500, "joins": 3,
    "apps": 2, "devices": 40, "entities": 98,
    "activities": {"pending": 1, "active": 70, "stale": 2, "ended": 3, "dismissed": 5},
    "controls": {"loading": 0, "preview": 0, "shown": 4, "reloading": 0, "acting": 0, "authenticating": 0,
                 "disabled": 1},
    "widgets": {"loading": 0, "placeholder": 0, "shown": 0, "reloading": 0, "acting": 0},
    "groups": {"groups": 1, "keys": 17, "bytes": 4_210},
    "timers": {"armed": 80, "overdue": 0, "nextAt": after(MINUTE)},
    "lateness": spans("ms", 2), "answer": spans("us", 1_900), "commit": spans("us", 1_500),
    "providers": {"connected": 2, "calls": 31, "waiting": 0, "inFlight": 1, "failures": 2, "timedOut": 1, "dropped": 0,
                  "call": spans("ms", 12)},
    "subscribers": {"reporting": 2, "lagging": 0, "maximumLag": 0, "silent": 0}, "clients": {"connected": 5, "cut": 0},
    "journal": {"epoch": "e", "committed": 900, "snapshot": 800, "isFull": False},
    "diskFull": False, "stopping": False, "memory": {"resident": 220_200_960},
}


def changed(**members):
    """The figures, but for these; a member of an object by `object__member`."""
    stats = json.loads(json.dumps(STATS))
    for path, value in members.items():
        *objects, name = path.split("__")
        place = stats
        for part in objects:
            place = place[part]
        place[name] = value
    return {"service_stats": {"stats": stats}}


# Timers


def test_timers_tells_what_fires_next_and_how_late_timers_are(islet, client):
    client.start(key="order-7", device="phone", staleDate=after(30 * MINUTE))
    client.start(key="order-8")
    shown = islet("timers")
    lines = [line.rstrip() for line in shown.out.splitlines()]
    assert lines == [
        "FIRES    AT                       WHAT         NAME              APP                DEVICE  STATE",
        "in 30 m  2026-01-01 00:30:00 UTC  staleDate    activity order-7  com.example.pizza  phone   active",
        "in 8 h   2026-01-01 08:00:00 UTC  activeLimit  activity order-8  com.example.pizza  -       active",
        "",
        "lateness     none yet",
        lines[-1],
    ]
    assert re.fullmatch(r"  last \S+ s\s+none yet", lines[-1])
    assert shown.err == "showing 2 of 2 timers, none overdue\n"
    client.advance(by=HOUR)
    assert re.search(r"^lateness +p50 0 ms, p99 0 ms, p99.9 0 ms, max 0 ms of 1$", islet("timers").out, re.MULTILINE)


def test_timers_by_app_device_family_and_number(islet, client):
    for n in range(5):
        client.start(key=f"k{n}", device="phone" if n % 2 else None)
    client.applied("activity.start", app="com.example.taxi", type="T", attributes={}, contentState={}, key="ride")
    assert islet("timers", "--app", "com.example.taxi").err == (
        "showing 1 of 1 timer, with app com.example.taxi, none overdue\n")
    assert islet("timers", "--device", "phone").err.startswith("showing 2 of 2 timers, with device phone")
    assert islet("timers", "--family", "widget").err.startswith("showing 0 of 0 timers, with family widget")
    cut = islet("timers", "--limit", "2")
    assert cut.err.startswith("showing 2 of 6 timers")
    rows = islet("timers", "--limit", "2", "--json").json
    assert rows == client.read("timer.list", app=None, limit=2)["timers"]
    for words in (("--family", "gadget"), ("--limit", "0"), ("--limit", "1001")):
        assert islet("timers", *words, code=2).out == ""


def test_timers_are_filtered_and_named_as_other_subcommands_take_them(islet, client):
    for n in range(5):
        client.start(key=f"k{n}", device="phone" if n % 2 else None, staleDate=after((n + 1) * MINUTE))
    some = islet("timers", "--filter", "cause=staleDate and key~k1 or key=k2")
    assert re.findall(r"staleDate +activity (k\d) ", some.out) == ["k1", "k2"]
    assert some.err == "showing 2 of 2 that fit, among 5\n"
    cut = islet("timers", "--filter", "at<3m", "--limit", "1", "-o", "name")
    assert cut.out == "k0\n" and cut.err == "showing 1 of 2 that fit, among 5\n"
    one, two = islet("timers", "--limit", "2", "-o", "name").out.splitlines()
    assert one == "k0"
    assert islet("activity", "get", two, "--json").json[0]["key"] == "k1", "an id, since it is on a device"
    assert islet("timers", "-o", "wide").out.splitlines()[0].split()[-2:] == ["KIND", "ID"]
    islet("timers", "--hours", "--filter", "key", code=2)
    islet("timers", "--hours", "-o", "name", code=2)


def test_timers_shows_what_providers_are_asked(islet, client, wire, service):
    provider = RawProvider(wire, service.commands, toggle(), capacity=1)
    ids = [client.applied("control.add", kind=TORCH, device=device)["control"]["id"] for device in "ab"]
    call = provider.call("value")
    lines = [" ".join(line.split()) for line in islet("timers").out.splitlines()]
    assert lines[:2] == ["", "CALL TIME LEFT SENT NAME APP DEVICE PROVIDER"]
    ends = [f"torch/{id[-12:]}" for id in ids]
    assert re.fullmatch(
        rf"control\.value [\d.]+ s [\d.]+ m?s ago control {ends[0]} com\.example\.pizza a {provider.id[-12:]}", lines[2]), lines
    assert lines[3].startswith("control.value - waits control "), lines
    only = islet("timers", "--calls", "-o", "name")
    assert only.out.split() == ids and only.err == "showing 2 of 2 calls\n"
    assert [row["op"] for row in islet("timers", "--calls", "--json").json] == ["control.value"] * 2
    assert islet("timers", "--calls", "--device", "b").err == "showing 1 of 1 call, with device b\n"
    provider.answer(call, True)
    for words in (["--hours"], ["--filter", "device=a"]):
        islet("timers", "--calls", *words, code=2)


def test_timers_by_hour(islet, client):
    for n in range(40):
        client.start(key=f"k{n}", staleDate=after(90 * MINUTE))
    client.start(key="z")
    lines = islet("timers", "--hours").out.splitlines()
    assert lines[0] == "Thu 2026-01-01 UTC"
    assert lines[1] == "00:00          0"
    assert lines[2] == "01:00         40  " + "#" * 40
    assert lines[9] == "08:00          1  #"
    rows = islet("timers", "--hours", "--json").json
    assert rows == client.read("timer.list", app=None)["hours"] and rows[1]["count"] == 40


def test_timers_that_are_overdue_say_for_how_long(scripted):
    timer = {"at": after(-3_000), "cause": "entry", "family": "widget", "app": "a.b", "kind": "com.x.Flight",
             "id": "0198c0de-2c00-7a3e-9f21-3b5c8d7e0a11", "state": "shown"}
    ask = scripted(timer_list={
        "timers": [timer], "total": 12_031, "overdue": 1, "hours": [], "later": 0, "exact": False})
    shown = ask("timers")
    assert re.search(r"^due for 3 s  .*entry  widget Flight/3b5c8d7e0a11  a.b  -       shown$", shown.out, re.MULTILINE)
    assert shown.err == "showing 1 of about 12 031 timers, 1 overdue\n"
    assert "lateness     p50 1 ms, p99 2 ms, p99.9 2 ms, max 2 ms of 100" in shown.out
    assert "  last 42 s  p50 1 ms" in shown.out


# Apps


def test_apps_tells_which_there_are_and_what_each_has(islet, client, home):
    assert islet("apps").err == "showing 0 of 0 apps\n"
    home.provider()
    client.start(key="a")
    client.start(key="b")
    home.add_many(3)
    client.applied("activity.start", app="com.example.taxi", type="T", attributes={}, contentState={})
    shown = islet("apps")
    assert shown.out.splitlines() == [
        "APP                EVENTS  ACTIVITIES  CONTROLS  WIDGETS",
        "com.example.pizza  5       2           3         0",
        "com.example.taxi   1       1           0         0",
    ]
    assert shown.err == "showing 2 of 2 apps\n"
    first, second = islet("apps", "--json").json
    strict("cli/apps.json").validate(first)
    assert second == {"app": "com.example.taxi", "seq": 1, "activities": 1, "controls": 0, "widgets": 0}
    assert islet("apps", "--limit", "1").err == "showing 1 of 2 apps\n"


def test_a_list_of_all_apps_has_a_table_for_each_that_has_any(islet, client):
    client.start(key="a")
    client.start(key="b", staleDate=after(-MINUTE))
    for key in ("x", "y"):
        client.applied("activity.start", app="com.example.taxi", type="T", attributes={}, contentState={}, key=key)
    shown = islet("activity", "list", "--all")
    lines = shown.out.splitlines()
    assert [line.split()[0] for line in lines if line] == [
        "com.example.pizza", "KEY", "a", "b", "com.example.taxi", "KEY", "x", "y"]
    assert shown.err == "showing 4 of 4, in 2 apps\n"
    stale = islet("activity", "list", "--all", "--state", "stale", "-o", "name")
    assert stale.out == "b --app com.example.pizza\n" and stale.err == "showing 1 of 1, in 1 app, with state stale\n"
    some = islet("activity", "list", "--all", "--filter", "key!=a", "--limit", "2", "--json")
    assert [row["key"] for row in some.json] == ["b", "x"] and some.err == "showing 2 of 3 that fit, in 2 apps\n"
    assert islet("activity", "list", "--all", "--limit", "1").err == "showing 1 of 4, in 2 apps\n"
    assert islet("widget", "list", "--all").err == "showing 0 of 0, in 0 apps\n"
    islet("activity", "list", "--all", "--app", "a.b", code=2)


def test_the_order_of_presentation_is_that_of_the_device_whichever_apps_are_there(service, client):
    islet = Islet(service, app="")
    for app, score in ("com.example.bus", 1), ("com.example.pizza", 3), ("com.example.taxi", 2):
        client.applied(
            "activity.start", app=app, type="T", attributes={}, contentState={}, key="a", device="kiosk", relevanceScore=score)
    words = ("activity", "list", "--device", "kiosk", "--order", "presentation")
    shown = islet(*words)
    lines = [line.split() for line in shown.out.splitlines()]
    assert [line[-1] for line in lines[1:]] == ["com.example.pizza", "com.example.taxi", "com.example.bus"]
    assert lines[0][-1] == "APP" and shown.err == "showing 3 of 3, with device kiosk\n"
    one = islet(*words, "--all", "--limit", "1", "--json")
    assert [row["app"] for row in one.json] == ["com.example.pizza"] and one.err == "showing 1 of 3, with device kiosk\n"
    assert one.json[0]["presentation"]["lockScreen"] == 1
    assert islet(*words, "--limit", "1").out.startswith("com.example.pizza\n")
    found = islet(*words, "--filter", "presentation.lockScreen>1", "-o", "name")
    assert [line.split(" --app ")[1] for line in found.out.splitlines()] == ["com.example.taxi", "com.example.bus"]
    assert found.err == "showing 2 of 2 that fit, among 3, with device kiosk\n"
    named = islet(*words, "--app", "com.example.bus")
    assert named.err == "showing 1 of 1 in com.example.bus, with device kiosk\n" and "APP" not in named.out


def test_apps_are_filtered_and_named(islet, client):
    client.start(key="a")
    client.applied("activity.start", app="com.example.taxi", type="T", attributes={}, contentState={})
    client.applied("activity.start", app="com.example.taxi", type="T", attributes={}, contentState={})
    assert islet("apps", "-o", "name").out.split() == ["com.example.pizza", "com.example.taxi"]
    some = islet("apps", "--filter", "activities>1", "-o", "name")
    assert some.out == "com.example.taxi\n" and some.err == "showing 1 of 1 that fit, among 2 apps\n"


def test_apps_of_a_service_with_a_busy_stream_are_told_at_once(islet, client):
    """They are asked for in one message: what the streams carry is not read."""
    client.start(key="a")
    before = client.read("service.stats")["stats"]["joins"]
    assert len(islet("apps", "--json").json) == 1
    assert client.read("service.stats")["stats"]["joins"] == before + 1


def test_apps_where_events_cannot_be_had_say_so(islet, tmp_path):
    done = islet("apps", "--timeout", "300ms", code=5, ISLET_EVENTS=f"ipc://{tmp_path}/nobody")
    assert done.err == f"no answer from ipc://{tmp_path}/nobody within 0.3 s\n"


# Slots


def test_slots_tells_who_holds_them_and_what_is_full(islet, client):
    for n in range(5):
        client.start(key=f"k{n}", device="phone")
    client.applied("activity.start", app="com.example.taxi", type="T", attributes={}, contentState={}, device="phone")
    client.start(key="other", device="watch")
    client.start(key="none")
    client.applied("activity.end", key="other", device="watch")
    shown = islet("slots")
    assert shown.out.splitlines() == [
        "DEVICE  HELD     APPS",
        "phone   6 of 20  com.example.pizza 5 of 5 full, com.example.taxi 1 of 5",
    ]
    assert shown.err == "showing 1 of 1 device with any slot held\n"
    assert islet("slots", "--json").json == client.read("slot.list", app=None)["devices"]


def test_slots_of_a_device_names_the_activities(islet, client):
    for n in range(2):
        client.start(key=f"k{n}", device="phone")
    client.start(key="gone", device="phone")
    client.applied("activity.end", key="gone", device="phone")
    lines = islet("slots", "--device", "phone").out.splitlines()
    assert lines[2:4] == ["", "com.example.pizza"]
    assert sorted(line.split()[0] for line in lines[5:]) == ["k0", "k1"]


def test_slots_of_a_device_names_ended_activities_where_they_hold_some(serve, tmp_path):
    config = tmp_path / "islet.yaml"
    config.write_text("ruleSet:\n  endedCountTowardMaxima: true\n")
    islet = Islet(serve({"--clock": "manual", "--config": config}))
    for name in ("kept", "over"):
        islet("activity", "start", name, "--type", "T", "--state", "{}", "--device", "phone")
    islet("activity", "end", "over", "--device", "phone")
    lines = islet("slots", "--device", "phone").out.splitlines()
    assert "com.example.pizza 2 of 5" in lines[1]
    assert sorted(line.split()[0] for line in lines[5:]) == ["kept", "over"]


def test_slots_are_filtered_and_named(islet, client):
    for n in range(3):
        client.start(key=f"k{n}", device="phone")
    client.start(key="other", device="watch")
    some = islet("slots", "--filter", "held>=3 or device~none", "-o", "name")
    assert some.out == "phone\n"
    assert some.err == "showing 1 of 1 that fit, among 2 devices with any slot held\n"


# Subscribers and providers


def test_subscribers_tells_who_is_behind(islet, client, events):
    assert islet("subscribers").err == "showing 0 of 0 subscribers, none lags\n"
    for n in range(3):
        client.start(key=f"k{n}")
    nonce = secrets.token_hex(16)
    events.ask_to_join(nonce=nonce)
    epoch = events.join()["apps"][client.app]["epoch"]
    client.send(client.command("stream.applied", app=None, nonce=nonce, apps={client.app: {"epoch": epoch, "seq": 1}}))
    client.read("service.ping")
    [row] = islet("subscribers", "--json").json
    assert row["nonce"] == nonce and row["lag"] == 2
    shown = islet("subscribers")
    assert re.search(
        rf"^{nonce[:12]}  2    no    .* ago +com.example.pizza at 1 \(2 behind\)$", shown.out, re.MULTILINE)
    assert shown.err == "showing 1 of 1 subscriber, none lags\n"


def test_a_subscriber_that_lags_is_marked(scripted):
    apps = {f"com.a{n}": {"seq": 1_000 + n, "lag": 5_000 * n} for n in range(5)}
    row = {"nonce": "ab" * 16, "age": 4_000, "lag": 20_000, "isLagging": True, "apps": apps}
    shown = scripted(subscriber_list={"subscribers": [row], "total": 1})("subscribers")
    assert shown.out.splitlines()[1] == (
        "abababababab  20 000  yes   4 s ago   com.a0 at 1 000, com.a1 at 1 001 (5 000 behind), "
        "com.a2 at 1 002 (10 000 behind), and 2 more")
    assert shown.err == "showing 1 of 1 subscriber, 1 of them lags\n"


def test_subscribers_are_filtered_named_and_shown_whole(scripted):
    rows = [{"nonce": f"{n:032x}", "age": n * 1_000, "lag": n * 100, "isLagging": n > 3, "apps": {}} for n in range(5)]
    ask = scripted(subscriber_list={"subscribers": rows, "total": 5})
    some = ask("subscribers", "--filter", "lag>=300 and age<10s", "-o", "name")
    assert some.out.split() == [rows[3]["nonce"], rows[4]["nonce"]]
    assert some.err == "showing 2 of 2 that fit, among 5 subscribers, 1 of them lags\n"
    assert ask("subscribers", "--filter", "isLagging", "-o", "name").out == rows[4]["nonce"] + "\n"
    assert ask("subscribers", "-o", "wide").out.splitlines()[1].startswith(rows[0]["nonce"] + " ")


def test_providers_is_provider_list(islet, home):
    home.provider()
    shown, same = islet("providers"), islet("provider", "list")
    assert shown.out.splitlines()[0] == same.out.splitlines()[0]
    assert shown.err == "1 provider\n" and len(islet("providers", "--json").json) == 1


# Stats


def test_stats_tells_all_figures_in_words(scripted):
    assert scripted()("stats").out.splitlines() == [
        "islet 0.1.0, up 3 h 12 m, guarantee full, its time is 2026-01-01 00:00:00 UTC",
        "commands     12 031 taken, 12 000 applied, 30 ignored, 1 refused",
        "events       12 500 made, 3 joins of subscribers",
        "apps         2",
        "devices      40",
        "activities   1 pending, 70 active, 2 stale, 3 ended, 5 dismissed",
        "controls     4 shown, 1 disabled",
        "widgets      none",
        "groups       1, 17 keys, 4.1 KiB",
        "timers       80 armed, 0 overdue, next at 2026-01-01 00:01:00 UTC (in 1 m)",
        "lateness     p50 1 ms, p99 2 ms, p99.9 2 ms, max 2 ms of 100",
        "  last 42 s  p50 1 ms, p99 2 ms, p99.9 2 ms, max 2 ms of 100",
        "answer       p50 0.9 ms, p99 1.9 ms, p99.9 1.9 ms, max 1.9 ms of 100",
        "  last 42 s  p50 0.9 ms, p99 1.9 ms, p99.9 1.9 ms, max 1.9 ms of 100",
        "commit       p50 0.7 ms, p99 1.5 ms, p99.9 1.5 ms, max 1.5 ms of 100",
        "  last 42 s  p50 0.7 ms, p99 1.5 ms, p99.9 1.5 ms, max 1.5 ms of 100",
        "providers    2 connected, 31 calls, 1 at work, 0 waiting, 2 failed, 1 timed out, 0 dropped",
        "calls        p50 6 ms, p99 12 ms, p99.9 12 ms, max 12 ms of 100",
        "  last 42 s  p50 6 ms, p99 12 ms, p99.9 12 ms, max 12 ms of 100",
        "subscribers  2 report, 0 lagging",
        "clients      5 connected",
        "journal      900 batches committed, the snapshot holds through 800",
        "memory       210 MiB resident",
    ]


def test_stats_says_first_what_is_wrong(scripted):
    lines = scripted(**changed(diskFull=True, stopping=True))("stats").out.splitlines()
    assert lines[1:3] == ["the disk is full: changes are refused", "it is stopping"]


def test_stats_of_a_real_service(islet, client):
    client.start(key="a", staleDate=after(MINUTE))
    [stats] = islet("stats", "--json").json
    strict("answers/stats.json").validate({"ok": True, "stats": stats})
    assert stats["activities"]["active"] == 1 and stats["timers"]["armed"] == 1
    assert re.search(r"^timers +1 armed, 0 overdue, next at .*in 1 m", islet("stats").out, re.MULTILINE)


def test_a_watch_writes_a_line_for_each_interval_with_rates(islet, client):
    shown = islet("stats", "--watch", "--interval", "100ms", "--count", "3")
    head, *lines = shown.out.splitlines()
    assert head.split()[:5] == ["TIME", "CMD/S", "EVENT/S", "REFUSED/S", "ACTIVE"] and len(lines) == 3
    assert all(len(line) == len(head) for line in lines), "columns of one width"
    # Rates have spaces where they are large, as after an interval that was cut short: one command in a millisecond.
    events = head.index("EVENT/S") + len("EVENT/S")
    assert [line[:events].split("  ")[-1].strip() for line in lines] == ["0.0"] * 3, "no event happened"
    assert re.fullmatch(r"in .* s: \d+ commands, 0 events\n", shown.err)
    assert len(islet("stats", "--watch", "--interval", "100ms", "--count", "2", "--json").json) == 2


def test_a_watch_ends_with_a_summary(islet):
    process = islet.begin("stats", "--watch", "--interval", "100ms")
    for _ in range(3):
        assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0 and re.search(r"^in .* s: \d+ commands, \d+ events$", err)


class Restarting(ScriptedService):
    """Says one reading after another, the last one for ever."""

    def __init__(self, folder, *readings):
        super().__init__(folder)
        self.readings = list(readings)

    def _answer(self, command):
        if command["op"] == "service.stats":
            reading = self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]
            self.answers["service.stats"] = {"stats": reading}
        return super()._answer(command)


def test_the_summary_of_a_watch_counts_all_lives_of_the_service(tmp_path):
    readings = [{**STATS, "uptime": uptime, "commands": {"taken": taken}, "events": events}
                for uptime, taken, events in ((5_000, 100, 40), (6_000, 107, 43), (50, 2, 1), (900, 5, 1), (20, 1, 0))]
    service = Restarting(tmp_path, *readings)
    try:
        shown = Islet(service)("stats", "--watch", "--interval", "100ms", "--count", "4")
        assert shown.err.endswith("s: at least 13 commands, 4 events; the service was started again 2 times\n")
    finally:
        service.close()


def test_lines_say_that_the_disk_is_full(scripted):
    islet = scripted(service_stats={"stats": {**STATS, "diskFull": True}})
    head, *lines = islet("stats", "--watch", "--interval", "100ms", "--count", "2").out.splitlines()
    assert all(line.endswith("  DISK FULL") for line in lines) and len(lines) == 2 and "DISK" not in head
    process = islet.begin("top", "--interval", "1s")
    try:
        assert [process.stdout.readline().rstrip().endswith(" DISK FULL") for _ in range(2)] == [False, True]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=DEADLINE)


@pytest.mark.parametrize("words", [("--count", "3"), ("--watch", "--interval", "1ms"), ("--watch", "--count", "0")])
def test_a_watch_that_cannot_be_is_2(islet, words):
    assert islet("stats", *words, code=2).out == ""


# The verdict


def test_a_healthy_service_is_0_in_one_line_with_performance_data(islet):
    done = islet("check", "--response", "off")
    assert re.fullmatch(
        r"ISLET OK: lateness p99 0 ms; answer p99 0\.0 ms; commit p99 0\.0 ms; overdue timers 0 \| "
        r"lateness_p99=0ms;250;5000;0 answer_p99=0us;250000;2000000;0 commit_p99=0us;250000;2000000;0 "
        r"overdue=0;100;10000;0 clock_ahead=0ms;1000;10000;0 lagging=0;0;10;0 waiting=0;16;256;0 open_providers=0;0;;0 "
        r"half_open_providers=0;0;;0 failing=0;0;;0 providers=0;;;0 entities=0%;80;95;0 memory=\d+B;;;0 response=\d+ms;;;0\n", done.out), done.out
    assert done.err == ""


@pytest.mark.parametrize("figures, words, code, told", [
    ({"lateness": spans("ms", 300)}, [], 1, "WARNING: lateness p99 300 ms, warning above 250 ms"),
    ({"lateness": spans("ms", 6_000)}, [], 2, "CRITICAL: lateness p99 6000 ms, critical above 5000 ms"),
    ({"lateness": spans("ms", 300)}, ["--lateness-p99", "off"], 0, "OK"),
    ({"lateness": spans("ms", 300)}, ["--lateness-p99", "1s:"], 0, "OK"),
    ({"commit": spans("us", 90_000)}, ["--commit-p99", "50ms:80ms"], 2,
     "CRITICAL: commit p99 90.0 ms, critical above 80.0 ms"),
    ({"subscribers__lagging": 1}, [], 1, "WARNING: lagging subscribers 1, warning above 0"),
    ({"timers__overdue": 10_001}, [], 2, "CRITICAL: overdue timers 10 001, critical above 10 000"),
    ({"clockAhead": 1_001}, [], 1, "WARNING: domain time ahead of the wall clock 1001 ms, warning above 1000 ms"),
    ({"clockAhead": 3_600_000}, ["--clock-ahead", "off"], 0, "OK"),
    ({"providers__connected": 1}, ["--providers", "2:1"], 1, "WARNING: connected providers 1, warning below 2"),
    ({"providers__connected": 0}, ["--providers", "2:1"], 2, "CRITICAL: connected providers 0, critical below 1"),
    ({"memory__resident": 3 << 30}, ["--memory", "1GiB:2GiB"], 2,
     "CRITICAL: resident memory 3 GiB, critical above 2 GiB"),
    ({"providers__waiting": 17}, [], 1, "WARNING: waiting calls 17, warning above 16"),
    ({"providers__waiting": 1_217, "providers__held": 1_200}, [], 1, "WARNING: waiting calls 17, warning above 16"),
    ({"providers__waiting": 1_200, "providers__held": 1_184}, [], 0, "OK"),
    ({"entities": 910}, [], 1, "WARNING: entities 91 %, warning above 80 %"),
    ({"diskFull": True}, [], 2, "CRITICAL: the disk is full, changes are refused"),
    ({"stopping": True}, [], 1, "WARNING: the service is stopping"),
    ({"stopping": True, "timers__overdue": 10_001}, [], 2,
     "CRITICAL: overdue timers 10 001, critical above 10 000; the service is stopping"),
], ids=lambda value: str(value) if isinstance(value, str) else "")
def test_what_is_wrong_is_said_and_decides_the_exit_code(scripted, figures, words, code, told):
    done = scripted(**changed(**figures))("check", *words, "--response", "off", code=code)
    assert done.out.startswith(f"ISLET {told}") and done.out.count("\n") == 1, done.out
    if code:
        assert f"{told} | " in done.out


def test_an_older_service_tells_its_entities_by_state_alone(scripted):
    answers = changed(activities__active=900, activities__dismissed=900)
    del answers["service_stats"]["stats"]["entities"]
    done = scripted(**answers)("check", "--response", "off", code=1)
    assert done.out.startswith("ISLET WARNING: entities 92 %, warning above 80 %"), done.out


def test_entities_are_judged_as_starts_are(wire, serve, tmp_path):
    """Dismissed ones hold no place, keys of groups do."""
    path = tmp_path / "islet.yaml"
    path.write_text("ruleSet:\n  maximumEntities: 10\n")
    service = serve({"--clock": "manual", "--config": path})
    client, islet = Commands(wire, service.commands), Islet(service)
    for _ in range(20):
        client.applied("activity.dismiss", id=client.start()["id"])
    assert "entities=0%" in islet("check", "--response", "off").out
    client.applied("group.create", group="g")
    for n in range(10):
        client.applied("group.set", group="g", key=f"k{n}", value=n)
    refused = client.refused("activity.start", type="T", attributes={}, contentState={})
    assert refused["code"] == "quotaExceeded"
    assert "entities 100 %, critical above 95 %" in islet("check", "--response", "off", code=2).out


def test_a_percentile_counts_only_where_something_happened_lately(scripted):
    idle = spans("ms", 6_000)
    idle["recent"] = {"span": 42_000, "count": 0, "p50": 0, "p99": 0, "p999": 0, "max": 0}
    done = scripted(**changed(lateness=idle))("check", "--response", "off")
    assert done.out.startswith("ISLET OK: lateness p99 0 ms")


def test_lateness_is_judged_in_real_time(scripted):
    """The service tells it so already."""
    fast = {"info": {**INFO["info"], "clock": {"kind": "speed", "speed": 600}}}
    done = scripted(**changed(lateness=spans("ms", 300)), service_info=fast)("check", "--response", "off", code=1)
    assert "WARNING: lateness p99 300 ms, warning above 250 ms" in done.out


def test_providers_that_fail_are_a_warning(scripted):
    row = {"id": "i", "state": "open"}
    done = scripted(provider_list={"providers": [row, {**row, "state": "live"}]})(
        "check", "--response", "off", code=1)
    assert done.out.startswith("ISLET WARNING: failing providers 1, warning above 0 |")


def test_a_provider_that_is_tried_again_is_a_warning_as_one_that_rests(scripted):
    """Else a provider that fails all the time were a warning and none in turn."""
    done = scripted(provider_list={"providers": [{"id": "i", "state": "halfOpen"}]})(
        "check", "--response", "off", code=1)
    assert done.out.startswith("ISLET WARNING: half open providers 1, warning above 0 |")
    assert "half_open_providers=1;0;;0" in done.out


def test_a_provider_that_failed_once_and_of_which_nobody_wants_anything_is_ok(scripted):
    """As the service judges it: what it does not tell as a problem is none."""
    rows = {"providers": [{"id": "i", "state": "halfOpen"}, {"id": "j", "state": "halfOpen"}]}
    problem = {"severity": "warning", "what": "failed", "family": "provider", "id": "j", "state": "halfOpen"}
    done = scripted(provider_list=rows, problem_list={"problems": [problem]})("check", "--response", "off", code=1)
    assert done.out.startswith("ISLET WARNING: half open providers 1, warning above 0 |")
    done = scripted(provider_list=rows, problem_list={"problems": []})("check", "--response", "off")
    assert done.out.startswith("ISLET OK") and "half_open_providers=0;0;;0" in done.out


PROBLEMS = [
    {"severity": "critical", "what": "overdue", "family": "control"},
    {"severity": "warning", "what": "failed", "family": "control", "failure": "threw"},
    {"severity": "warning", "what": "failed", "family": "widget", "failure": "timedOut"},
    {"severity": "warning", "what": "unserved", "family": "kind", "count": 40},
    {"severity": "warning", "what": "failed", "family": "provider"},
    {"severity": "notice", "what": "waiting", "family": "kind", "count": 7},
]


def test_controls_and_widgets_that_fail_are_a_warning(scripted):
    done = scripted(problem_list={"problems": PROBLEMS})("check", "--response", "off", code=1)
    assert done.out.startswith("ISLET WARNING: failing controls and widgets 42, warning above 0 |")
    assert "failing=42;0;;0" in done.out
    assert "failing" not in scripted()("check", "--response", "off").out, "an older service does not say it"


class Failing(ScriptedService):
    """Shows the worst of more controls that fail than an answer has room for, and two kinds that nobody serves."""

    def _answer(self, command):
        if command["op"] != "problem.list":
            return super()._answer(command)
        rows, counts = {
            "control": ([PROBLEMS[0], {**PROBLEMS[0], "severity": "warning", "since": 5}] + 8 * [PROBLEMS[1]], (3, 1_301, 7)),
            "widget": ([{**PROBLEMS[0], "family": "widget", "severity": "warning", "since": 5}], (0, 1, 40)),
            "kind": ([PROBLEMS[3], {**PROBLEMS[3], "count": 2}, PROBLEMS[5]], (0, 2, 1)),
        }.get(command["family"], ([], (0, 0, 0)))
        return {"req": command["req"], "ok": True, "problems": rows, "total": sum(counts), "exact": True,
                "counts": dict(zip(("critical", "warning", "notice"), counts))}


def test_more_failing_ones_than_an_answer_shows_are_counted(tmp_path):
    """1 300 controls, though one of the 1 301 warnings is overdue, and 42 that two kinds have."""
    service = Failing(tmp_path, service_stats={"stats": STATS}, service_info=INFO, provider_list={"providers": []})
    try:
        done = Islet(service)("check", "--response", "off", "--failing", "10:1200", code=2)
        assert done.out.startswith("ISLET CRITICAL: failing controls and widgets 1 342, critical above 1 200 |")
    finally:
        service.close()


class FullDisk(ScriptedService):
    """Shows nothing that may not be durable: it refuses, as older ones, or says why it shows nothing."""

    def __init__(self, folder, refuses, **answers):
        super().__init__(folder, **answers)
        self.refuses = refuses

    def _answer(self, command):
        if command["op"] != "problem.list":
            return super()._answer(command)
        error = {"code": "unavailable", "message": "the disk is full", "retry": "later", "detail": {"reason": "diskFull"}}
        if self.refuses:
            return {"req": command["req"], "ok": False, "error": error}
        rows = [] if command["family"] == "provider" else [{"severity": "critical", "what": "full", "family": "journal"}]
        return {"req": command["req"], "ok": True, "problems": rows, "total": len(rows), "exact": not rows,
                "counts": {"critical": len(rows), "warning": 0, "notice": 0}}


@pytest.mark.parametrize("refuses", [True, False])
def test_a_full_disk_is_critical_though_nothing_is_said_of_what_fails(tmp_path, refuses):
    answers = {"service_stats": {"stats": {**STATS, "diskFull": True}}, "service_info": INFO,
               "provider_list": {"providers": []}}
    service = FullDisk(tmp_path, refuses, **answers)
    try:
        done = Islet(service)("check", "--response", "off", code=2)
        assert done.out.startswith("ISLET CRITICAL: the disk is full, changes are refused") and "failing=" not in done.out
    finally:
        service.close()


@pytest.mark.parametrize("kinds", [1, 20])
def test_values_that_wait_for_room_and_lose_no_time_are_ok(home, kinds):
    """As after each start of a provider of many controls, of however many kinds: they are asked for as it has room."""
    names = [f"com.example.k{n}" for n in range(kinds)]
    provider = home.provider(*map(toggle, names), capacity=1)
    ids = [home.add(names[n % kinds]) for n in range(40)]
    call = provider.call("value")
    deadline = Deadline(DEADLINE)
    while (calls := home.client.read("service.stats")["stats"]["providers"])["waiting"] < 39:
        assert not deadline.passed, calls
    assert calls["held"] == 39 and calls["inFlight"] == 1
    done = Islet(home.service)("check", "--response", "off")
    assert done.out.startswith("ISLET OK"), done.out
    provider.answer(call, True)
    for _ in ids[1:]:
        provider.gives(True)


def test_a_widget_that_nobody_computes_is_not_ok(islet, client, board):
    board.provider().leave()
    client.applied("widget.add", kind="com.example.forecast", family="systemSmall")
    assert "failing controls and widgets 1" in islet("check", "--response", "off", "--answer-p99", "off", code=1).out
    assert islet("check", "--response", "off", "--answer-p99", "off", "--failing", "off").out.startswith("ISLET OK")


def test_nothing_that_answers_is_critical_in_every_format(islet, tmp_path):
    nobody = {"ISLET_COMMANDS": f"ipc://{tmp_path}/nobody"}
    done = islet("check", "--timeout", "200ms", code=2, **nobody)
    assert re.fullmatch(r"ISLET CRITICAL: no answer from .* is the service running\?\n", done.out)
    [verdict] = islet("check", "--timeout", "200ms", "--json", code=2, **nobody).json
    strict("cli/check.json").validate(verdict)
    assert (verdict["status"], verdict["code"], verdict["figures"]) == ("critical", 2, [])
    assert "islet_check_status 2" in islet(
        "check", "--timeout", "200ms", "--format", "prometheus", code=2, **nobody).out.splitlines()


@pytest.mark.parametrize("words", [
    ("--lateness-p99", "soon"), ("--lagging", "1"), ("--memory", "1:2:3"), ("--overdue", ":"), ("--overdue", "-1:2"),
    ("--format", "xml"), ("--nonsense",), ("more",),
], ids=" ".join)
def test_what_cannot_be_judged_is_3(scripted, words):
    done = scripted()("check", *words, code=3)
    assert done.out.startswith("ISLET UNKNOWN: ") or done.err


def test_an_older_service_is_unknown(scripted):
    ask = scripted(service_stats=None)
    assert ask("check", code=3).out == (
        "ISLET UNKNOWN: refused: there is no op 'service.stats' (unknownOp): the service is older than this command\n")


def test_the_verdict_as_json_keeps_its_schema(islet, scripted):
    [verdict] = islet("check", "--json", "--response", "off").json
    strict("cli/check.json").validate(verdict)
    assert (verdict["status"], verdict["code"], verdict["problems"]) == ("ok", 0, [])
    [verdict] = scripted(**changed(subscribers__lagging=11))("check", "--format", "json", code=2).json
    strict("cli/check.json").validate(verdict)
    assert verdict["problems"] == ["lagging subscribers 11, critical above 10"]
    [figure] = [figure for figure in verdict["figures"] if figure["name"] == "lagging"]
    assert figure == {"name": "lagging", "status": "critical", "value": 11, "unit": "", "warning": 0, "critical": 10}


def test_the_verdict_for_prometheus(scripted):
    lines = scripted(**changed(lateness=spans("ms", 300)))("check", "--format", "prometheus", code=1).out
    samples = dict(line.rsplit(" ", 1) for line in lines.splitlines() if not line.startswith("#"))
    assert samples["islet_check_status"] == "1"
    assert samples['islet_check_figure_status{figure="lateness_p99"}'] == "1"
    assert samples["islet_check_lateness_p99_seconds"] == "0.3"
    assert samples["islet_check_commit_p99_seconds"] == "0.0015"
    assert samples["islet_check_memory_bytes"] == "220200960" and samples["islet_check_entities_ratio"] == "0.09"
    promtool = shutil.which("promtool", path=f"{os.environ['PATH']}:{ROOT}/.build/tools")
    if promtool:
        judged = subprocess.run([str(promtool), "check", "metrics"], input=lines, capture_output=True, text=True)
        assert judged.returncode == 0, judged.stdout + judged.stderr

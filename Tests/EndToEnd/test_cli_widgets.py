"""`islet widget …`, `islet activity tap`, and what `tail`, `history` and `explain` tell of widgets."""

import json
import re
import threading

import pytest

import islet as module
from support.cli import Islet
from support.commands import Commands
from support.dates import EPOCH, HOUR, MINUTE
from support.demo import Demo
from support.running import Running
from support.service import run
from support.wire import DEADLINE, Deadline
from support.widgets import rules

APP = "com.example.travel"
FLIGHT, WEATHER, TASKS = (f"com.example.{name}" for name in ("Flight", "Weather", "Tasks"))
PATIENT = {"timeline_deadline": 30.0, "action_deadline": 30.0}
"""No call is too late where a test does not mean it, on a slow machine either."""
ID = "0198c0de-0000-7000-8000-00000000000a"
STEPS = ["scheduled", "boarding", "departed", "landed"]


@pytest.fixture
def service(request, serve):
    """As everywhere, with the rules that a test names."""
    return serve({"--clock": "manual"}, env=rules(**getattr(request, "param", {})))


@pytest.fixture
def islet(service):
    return Islet(service, APP)


@pytest.fixture
def client(wire, service):
    return Commands(wire, service.commands, APP)


class Flight(module.TimelineProvider):
    """A flight with an entry each hour from the moment of the call; the last step is not the end of the timeline."""

    def __init__(self):
        self.policy, self.fails, self.needs_login, self.asked = None, False, False, 0

    def timeline(self, widget):
        self.asked += 1
        if self.fails:
            raise module.Fail("no network")
        if self.needs_login:
            entry = module.TimelineEntry(widget.now, {"login": True})
            return module.Timeline([entry], "never", needs_login=True)
        entries = [
            module.TimelineEntry(
                widget.now + hour * HOUR, {"status": step},
                module.TimelineEntryRelevance(100, 1_800) if step == "boarding" else None, f"travel://flight/{step}")
            for hour, step in enumerate(STEPS)]
        return module.Timeline(entries, self.policy)


class Weather(module.TimelineProvider):
    def __init__(self):
        self.relevant = []

    def timeline(self, widget):
        city = widget.configuration.get("city", "nowhere")
        links = None if widget.family == "systemSmall" else {"tomorrow": f"travel://{city}/tomorrow"}
        entry = module.TimelineEntry(
            widget.now, {"city": city, "sample": widget.is_preview}, url=f"travel://{city}", links=links)
        return module.Timeline([entry], "never")

    def options(self, widget, parameter):
        return [("berlin", "Berlin"), "paris"]

    def default_option(self, widget, parameter):
        return ("berlin", "Berlin")

    def recommendations(self):
        return [({"city": "paris"}, "Paris in spring")]

    def relevance(self):
        return list(self.relevant)


class Tasks(module.TimelineProvider):
    """Its action waits until the test says that it may be through."""

    def __init__(self):
        self.done, self.refuses = 0, False
        self.may_act = threading.Event()
        self.may_act.set()

    def timeline(self, widget):
        return module.Timeline([module.TimelineEntry(widget.now, {"done": self.done})], "never")

    def perform(self, widget, action, parameters):
        assert self.may_act.wait(DEADLINE)
        if self.refuses or action != "complete":
            raise module.Fail("refused")
        self.done += parameters.get("count", 1)


@pytest.fixture
def flight():
    return Flight()


@pytest.fixture
def weather():
    return Weather()


@pytest.fixture
def tasks():
    return Tasks()


@pytest.fixture
def provider(service, flight, weather, tasks):
    made = module.Provider(APP, commands=service.commands)
    made.widget(FLIGHT, ["systemSmall", "systemMedium"], display_name="Flight", **PATIENT)(flight)
    made.widget(
        WEATHER, ["systemSmall", "systemMedium"], rendering={"modes": ["fullColor", "accented"]}, **PATIENT,
        parameters=[module.parameter("city", default="berlin", dynamic_options=True)])(weather)
    made.widget(TASKS, ["systemSmall"], **PATIENT)(tasks)
    with made.start():
        made.wait_until_registered()
        yield made
        tasks.may_act.set()


@pytest.fixture
def placed(client, provider):
    """Places a widget and waits for its first timeline; gives its id."""

    def place(kind=FLIGHT, family="systemSmall", **fields):
        id = client.applied("widget.add", kind=kind, family=family, **fields)["widget"]["id"]
        return rests(client, id)["id"]

    return place


def rests(client, id):
    """Waits until a widget is asked nothing; gives it."""
    deadline = Deadline()
    while True:
        widget = client.read("widget.get", id=id)["widget"]
        if widget["state"] in ("shown", "placeholder"):
            return widget
        assert not deadline.passed, widget


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


def test_a_widget_is_added_with_what_to_try_next(islet, client, provider):
    done = islet("widget", "add", WEATHER, "--family", "systemMedium", "--configuration", '{"city":"paris"}',
                 "--rendering", '{"mode":"accented"}', "--device", "phone", "--id", ID)
    assert done.out == f"added Weather/00000000000a: loading, revision 1\nid {ID}\n"
    for next_command in ("timeline", "budget", "explain"):
        assert f"widget {next_command} Weather/00000000000a" in done.err
    widget = rests(client, ID)
    assert (widget["configuration"], widget["rendering"]) == ({"city": "paris"}, {"mode": "accented"})
    assert (widget["device"], widget["family"]) == ("phone", "systemMedium")
    [answer] = islet("widget", "add", FLIGHT, "--family", "systemSmall", "--json").json
    assert (answer["outcome"], answer["widget"]["state"]) == ("applied", "loading")


def test_a_family_and_a_rendering_that_the_kind_has_not_are_2(islet, provider):
    assert "family" in islet("widget", "add", FLIGHT, "--family", "accessoryInline", code=2).err
    assert "rendering" in islet(
        "widget", "add", FLIGHT, "--family", "systemSmall", "--rendering", '{"mode":"vibrant"}', code=2).err


def test_a_widget_is_configured_drawn_otherwise_and_removed(islet, client, placed):
    id = placed(WEATHER, configuration={"city": "berlin"})
    done = islet("widget", "configure", "Weather", "--configuration", '{"city":"paris"}')
    assert re.fullmatch(r"configured Weather: loading, revision \d+\n", done.out)
    assert rests(client, id)["entry"]["content"]["city"] == "paris"
    done = islet("widget", "configure", "Weather", "--rendering", '{"mode":"accented"}')
    assert re.fullmatch(r"configured Weather: shown, revision \d+\n", done.out)
    assert client.read("widget.get", id=id)["widget"]["rendering"] == {"mode": "accented"}
    again = islet("widget", "configure", "Weather", "--rendering", '{"mode":"accented"}')
    assert "unchanged" in again.err
    assert "city" in islet("widget", "configure", "Weather", "--configuration", '{"city":1}', code=2).err
    assert re.fullmatch(r"removed Weather: removed, revision \d+\n", islet("widget", "remove", "Weather").out)
    assert "notFound" in islet("widget", "get", id, code=3).err


@pytest.mark.parametrize("name", ["Flight", "flight", FLIGHT, "{id}", "{short}", "Flight/{short}"])
def test_a_widget_has_many_names(islet, placed, name):
    id = placed(id=ID)
    placed(TASKS)
    [widget] = islet("widget", "get", name.format(id=id, short=short(id)), "--json").json
    assert widget["id"] == id


def test_a_name_that_is_none_is_3_and_one_of_several_2(islet, placed):
    first, second = placed(device="phone"), placed(device="tablet")
    assert "did you mean Flight?" in islet("widget", "budget", "Fligt", code=3).err
    assert f"did you mean {FLIGHT}?" in islet(
        "widget", "add", "com.example.Fligt", "--family", "systemSmall", code=3).err
    done = islet("widget", "timeline", "Flight", code=2)
    assert "2 widgets are called 'Flight'" in done.err
    assert f"Flight/{short(first)}  on phone" in done.err and f"Flight/{short(second)}  on tablet" in done.err
    [widget] = islet("widget", "get", "Flight", "--device", "tablet", "--json").json
    assert widget["id"] == second


# Timelines


def test_a_timeline_shows_what_is_when_and_marks_what_is_now(islet, client, placed):
    placed()
    client.advance(by=61 * MINUTE)
    head, *entries, nothing_yet = islet("widget", "timeline", "Flight").out.splitlines()[:6]
    assert head == "4 entries, came 2026-01-01 00:00:00 UTC (1 h 1 m ago)"
    assert [words(entry) for entry in entries] == [
        '1 2026-01-01 00:00:00 UTC 1 h 1 m ago {"status":"scheduled"}',
        '→ 2 2026-01-01 01:00:00 UTC now {"status":"boarding"} score 100 for 30 m',
        '3 2026-01-01 02:00:00 UTC in 59 m {"status":"departed"}',
        '4 2026-01-01 03:00:00 UTC in 1 h 59 m {"status":"landed"}',
    ]
    assert nothing_yet == "next entry in 59 m, 2026-01-01 02:00:00 UTC"


@pytest.mark.parametrize("policy, told", [
    (None, "next timeline at its end, 2026-01-01 03:00:00 UTC (in 3 h)"),
    (module.after(EPOCH + 5 * HOUR), "next timeline not before 2026-01-01 05:00:00 UTC (in 5 h)"),
    ("never", "reload only when it is asked for"),
])
def test_a_timeline_says_when_the_next_one_is_asked_for(islet, flight, placed, policy, told):
    flight.policy = policy
    placed()
    assert islet("widget", "timeline", "Flight").out.splitlines()[-2:] == [
        "next entry in 1 h, 2026-01-01 01:00:00 UTC", told]


def test_a_timeline_whose_last_entry_is_shown_says_when_the_reload_is_planned(islet, client, flight, placed):
    flight.policy = module.after(EPOCH + 5 * HOUR)
    placed()
    client.advance(by=4 * HOUR)
    last = islet("widget", "timeline", "Flight").out.splitlines()[-1]
    assert re.fullmatch(r"next timeline in (1 h|1 h \d+ m|60 m), 2026-01-01 05:\d\d:\d\d UTC", last)


def test_a_timeline_tells_what_is_shown_at_another_time(islet, placed):
    id = placed()
    for date in ("2h5m", "2026-01-01T02:05Z", str(EPOCH + 125 * MINUTE)):
        last = islet("widget", "timeline", "Flight", "--at", date).out.splitlines()[-1]
        assert last == '2026-01-01 02:05:00 UTC (in 2 h 5 m): entry 3: {"status":"departed"}'
    last = islet("widget", "timeline", "Flight", "--at", "-1h").out.splitlines()[-1]
    assert last == "2025-12-31 23:00:00 UTC (1 h ago): none of these entries"
    [answer] = islet("widget", "timeline", id, "--at", "2h", "--json").json
    assert answer["at"]["entryIndex"] == 2 and len(answer["timeline"]["entries"]) == 4


def test_without_a_timeline_it_says_so_and_when_it_is_asked_again(islet, client, flight, placed):
    flight.fails = True
    placed()
    none, again = islet("widget", "timeline", "Flight").out.splitlines()
    assert none == "no timeline is there yet"
    assert re.fullmatch(r"asked again in .+, 2026-01-01 00:\d\d:\d\d UTC", again)
    assert "placeholder" in words(islet("widget", "list").out)
    assert islet("widget", "get", "Flight").out.splitlines()[0].endswith("placeholder  failed: no network")


# Budgets


STRICT = pytest.mark.parametrize("service", [{"widgetDailyBudget": 2, "widgetLearningBudget": 2}], indirect=True)
"""Two reloads a day."""


def spend(islet, client, id, minutes):
    """A reload so many minutes later, whose timeline is waited for."""
    client.advance(by=minutes * MINUTE)
    islet("widget", "reload", id)
    rests(client, id)


@STRICT
def test_a_budget_says_what_is_spent_and_what_is_free(islet, client, flight, placed):
    flight.policy = "never"
    id = placed()
    assert islet("widget", "budget", "Flight").out.splitlines() == [
        "0 of 2 reloads in the last 24 hours, 2 left",
        "it was placed lately, and has more than it will have later",
        "last reload 2026-01-01 00:00:00 UTC (now)",
        "not charged since it was placed: 1 when it was placed or configured",
    ]
    spend(islet, client, id, 10)
    assert islet("widget", "budget", id).out.splitlines()[0] == "1 of 2 reloads in the last 24 hours, 1 left"
    assert islet("widget", "budget", id, "--json").json == [client.read("widget.budget", id=id)["budget"]]


@STRICT
def test_a_spent_budget_holds_a_reload_and_says_until_when(islet, client, flight, placed):
    flight.policy = "never"
    id = placed()
    for _ in range(2):
        spend(islet, client, id, 10)
    client.advance(by=10 * MINUTE)
    done = islet("widget", "reload", "Flight", "--push")
    assert re.fullmatch(
        r"reloading Flight: shown, revision \d+, next entry in 50 m, held reload in 23 h 40 m, "
        r"since the budget is spent\n", done.out)
    islet("widget", "reload", "Flight")
    lines = islet("widget", "budget", "Flight").out.splitlines()
    until = "2026-01-02 00:10:00 UTC (in 23 h 40 m)"
    assert lines[0] == f"2 of 2 reloads in the last 24 hours, none left; the next one is free at {until}"
    assert lines[-1] == f"a reload is held until {until}, since the budget is spent; for a push and 1 more request"
    assert f"until {until}, since the budget is spent" in islet("widget", "get", id).out
    assert "held reload in 23 h 40 m" in islet("widget", "list").out
    assert islet("widget", "timeline", id).out.splitlines()[-2:] == [
        "next entry in 50 m, 2026-01-01 01:20:00 UTC",
        f"the next timeline is held until {until}, since the budget is spent; for a push and 1 more request"]


@STRICT
def test_why_a_reload_is_held_stands_in_plain_words(islet, client, flight, placed):
    flight.policy = "atEnd"
    id = placed()
    for _ in range(2):
        spend(islet, client, id, 10)
    client.advance(by=9 * HOUR)
    held = "since the budget is spent; as its timeline had come to the end"
    assert islet("widget", "budget", id).out.splitlines()[-1].endswith(held)
    assert "rule: learningBudget (setting widgetLearningBudget)" in islet("widget", "explain", id).out
    islet("widget", "reload", id)
    assert islet("widget", "budget", id).out.splitlines()[-1].endswith(f"{held}, and for 1 more request")


@STRICT
def test_in_developer_mode_no_budget_is_kept(islet, client, flight, placed):
    id = placed(device="phone")
    islet("device", "developerModeOn", "--device", "phone")
    for _ in range(3):
        islet("widget", "reload", id)
        rests(client, id)
    lines = islet("widget", "budget", id).out.splitlines()
    assert lines[0].startswith("0 of 2 ") and "developer mode: nothing is charged, nothing waits" in lines
    assert "3 in developer mode" in lines[-1]


# Tapping


def test_a_tap_says_what_it_opens(islet, client, placed):
    placed(WEATHER, "systemMedium", configuration={"city": "paris"})
    assert re.fullmatch(
        r"tapped Weather: shown, opens travel://paris, revision \d\n", islet("widget", "tap", "Weather").out)
    assert "opens travel://paris/tomorrow" in islet("widget", "tap", "Weather", "--link", "tomorrow").out
    assert "link" in islet("widget", "tap", "Weather", "--link", "yesterday", code=2).err
    [answer] = islet("widget", "tap", "Weather", "--json").json
    assert answer["outcome"] == "applied"


def test_an_action_that_is_waited_for_shows_the_steps_and_the_entry_then(islet, placed):
    id = placed(TASKS)
    first, date, *steps, last = islet(
        "widget", "tap", "Tasks", "--action", "complete", "--parameters", '{"count":2}', "--wait").out.splitlines()
    assert re.fullmatch(r"tapped Tasks: acting, revision \d", first) and date == "Thu 2026-01-01 UTC"
    assert [re.sub(r" rev \d", "", words(step)) for step in steps] == [
        f"00:00:00 Tasks/{short(id)} acting → reloading action not charged: intent,",
        f'00:00:00 Tasks/{short(id)} reloading → shown provider {{"done":2}}',
    ]
    assert re.fullmatch(rf'Tasks/{short(id)}: shown, {{"done":2}}, revision \d, after [\d.]+ s', last)
    answer, widget = islet("widget", "tap", "Tasks", "--action", "complete", "--wait", "--json").json
    assert answer["widget"]["state"] == "acting"
    assert (widget["state"], widget["entry"]["content"]) == ("shown", {"done": 3})


def test_an_action_that_fails_is_1_and_one_that_runs_already_4(islet, placed, tasks, provider):
    placed(TASKS)
    tasks.refuses = True
    done = islet("widget", "tap", "Tasks", "--action", "complete", "--wait", code=1)
    assert done.err == "the action failed: refused\n" and "failed: refused" in done.out
    tasks.may_act.clear()
    assert islet("widget", "tap", "Tasks", "--action", "complete").out.startswith("tapped Tasks: acting")
    assert "about to change" in islet("widget", "list").out
    assert "ignored: acting" in islet("widget", "tap", "Tasks", "--action", "complete", code=4).err
    tasks.may_act.set()


def test_an_action_that_nobody_performs_is_6(islet, placed, provider):
    placed(TASKS)
    provider.stop()
    assert "provider" in islet("widget", "tap", "Tasks", "--action", "complete", code=6).err


def test_an_activity_is_tapped(islet, client, tail):
    client.start(type="Trip", key="trip-1")
    done = islet("activity", "tap", "trip-1", "--url", "travel://trip/1")
    assert re.fullmatch(r"tapped trip-1: active, opens travel://trip/1, revision 2, ends in 8 h\n", done.out)
    assert islet("activity", "tap", "trip-1").out.startswith("tapped trip-1: active, revision 3")
    client.applied("activity.end", key="trip-1")
    assert "ignored: ended" in islet("activity", "tap", "trip-1", code=4).err
    assert "notFound" in islet("activity", "tap", "trip-2", code=3).err
    first, second = [words(line) for line in tail.lines(4)[2:]]
    assert first == "00:00:00 Trip/trip-1 active tap opens travel://trip/1, ends in 8 h, rev 2"
    assert second == "00:00:00 Trip/trip-1 active tap ends in 8 h, rev 3"


# Reloading


def test_reloads_of_one_of_a_kind_and_of_all(islet, client, placed):
    first, _ = placed(), placed()
    placed(TASKS)
    client.advance(by=10 * MINUTE)
    assert re.fullmatch(rf"reloading {first}: (reloading|shown), revision \d[^\n]*\n",
                        islet("widget", "reload", first).out)
    client.advance(by=10 * MINUTE)
    assert islet("widget", "reload", "--kind", FLIGHT, "--push").out == "reloading 2 widgets\n"
    client.advance(by=10 * MINUTE)
    assert islet("widget", "reload", "--json").json[0]["count"] == 3
    assert "did you mean" in islet("widget", "reload", "--kind", "com.example.Fligt", code=3).err


def test_a_widget_that_becomes_visible_is_reloaded_only_where_its_timeline_is_over(islet, client, flight, placed):
    id = placed()
    assert "unchanged" in islet("widget", "visible", "Flight").err
    flight.fails = True
    client.advance(by=HOUR)
    islet("widget", "reload", id)
    assert rests(client, id)["failure"] == "threw"
    client.advance(by=5 * MINUTE - 1)
    assert re.match(r"saw Flight: (reloading|shown), revision \d", islet("widget", "visible", "Flight").out)


# Looking


def test_json_is_what_the_service_said(islet, client, placed):
    id = placed(WEATHER, configuration={"city": "paris"}, device="phone")
    placed()
    assert islet("widget", "get", id, "--json").json == [client.read("widget.get", id=id)["widget"]]
    assert islet("widget", "list", "--json").json == client.read("widget.list")["widgets"]
    assert islet("widget", "history", id, "--json").json == client.read("widget.history", id=id)["events"]
    [explained] = islet("widget", "explain", id, "--json").json
    assert explained["decisions"] == client.read("widget.explain", id=id)["decisions"]
    [timeline] = islet("widget", "timeline", id, "--json").json
    assert timeline["timeline"] == client.read("widget.timeline", id=id)["timeline"]
    assert islet("widget", "kinds", "--json").json == client.read("widget.kinds")["kinds"]
    assert islet("widget", "stack", "phone", "--json").json == client.read("widget.stack", device="phone", app=None)[
        "stack"]
    options = client.read("widget.options", kind=WEATHER, parameter="city")["options"]
    assert islet("widget", "options", WEATHER, "city", "--json").json == options
    recommended = client.read("widget.recommendations", kind=WEATHER)["recommendations"]
    assert islet("widget", "recommendations", WEATHER, "--json").json == recommended
    snapshot = client.read("widget.snapshot", kind=WEATHER, family="systemSmall")["snapshot"]
    assert islet("widget", "snapshot", WEATHER, "--family", "systemSmall", "--json").json == [snapshot]


def test_a_person_reads_what_is_offered(islet, placed, provider):
    placed()
    head, *rows = [words(line) for line in islet("widget", "kinds").out.splitlines()]
    assert head == "KIND FAMILIES PROVIDERS WIDGETS PARAMETERS"
    assert rows == [
        f"{FLIGHT} systemSmall, systemMedium 1 1 -", f"{TASKS} systemSmall 1 0 -",
        f"{WEATHER} systemSmall, systemMedium 1 0 city (string)"]
    assert islet("widget", "options", WEATHER, "city").out == "berlin  Berlin\nparis\n"
    assert islet("widget", "options", WEATHER, "city", "--default").out == "berlin  Berlin\n"
    assert islet("widget", "options", WEATHER, "city", "--entity", "paris", "--entity", "rome").out == "paris\n"
    assert islet("widget", "recommendations", WEATHER).out == 'Paris in spring  {"city":"paris"}\n'
    assert islet("widget", "recommendations", WEATHER, "--fresh").out == 'Paris in spring  {"city":"paris"}\n'
    done = islet("widget", "recommendations", FLIGHT)
    assert (done.out, done.err) == ("", "nothing is recommended\n")
    date, content, url = islet("widget", "snapshot", WEATHER, "--family", "systemSmall", "--preview",
                               "--configuration", '{"city":"paris"}').out.splitlines()[:3]
    assert date == "2026-01-01 00:00:00 UTC (now)"
    assert words(content) == 'content {"city":"paris","sample":true}' and words(url) == "url travel://paris"
    assert "did you mean" in islet("widget", "snapshot", "com.example.Weathr", "--family", "systemSmall", code=3).err
    head, row = [words(line) for line in islet("provider", "list").out.splitlines()]
    assert row.endswith("Flight, Weather, Tasks")


def test_a_snapshot_that_nobody_can_give_is_6(islet, client, provider):
    provider.stop()
    assert "unavailable" in islet("widget", "snapshot", FLIGHT, "--family", "systemSmall", code=6).err


def test_a_person_reads_what_is_placed(islet, placed, flight):
    first = placed(device="phone")
    placed(WEATHER, "systemMedium", configuration={"city": "paris"})
    flight.needs_login = True
    third = placed(device="tablet")
    done = islet("widget", "list")
    head, *rows = [words(line) for line in done.out.splitlines()]
    assert head == "KIND ID FAMILY DEVICE STATE IN STATE ENTRY REV NEXT"
    assert re.fullmatch(
        rf'Flight {short(first)} systemSmall phone shown 0 s {{"status":"scheduled"}} \d on top, next entry in 1 h',
        rows[0])
    assert re.search(r'systemMedium shown 0 s {"city":"paris","sample":false} \d -$', rows[1])
    assert re.search(rf'^Flight {short(third)} .* on top, asks for a login$', rows[2])
    assert done.err == f"showing 3 of 3 in {APP}\n"
    done = islet("widget", "list", "--family", "systemMedium", "--state", "shown")
    assert len(done.out.splitlines()) == 2
    assert done.err == f"showing 1 of 1 in {APP}, with state shown, family systemMedium\n"
    assert "showing 1 of 3" in islet("widget", "list", "--limit", "1").err
    lines = islet("widget", "get", first).out.splitlines()
    assert lines[0] == f'Flight/{short(first)}  shown  {{"status":"scheduled"}}  on top'
    assert re.search(r"timelineAt +2026-01-01 00:00:00 UTC \(now\)", "\n".join(lines))
    assert re.search(r"policy +at the end of the timeline", "\n".join(lines))


def test_a_stack_tells_who_is_on_top_and_why(islet, client, placed):
    weather = placed(WEATHER, device="phone")
    client.advance(by=1)
    flight = placed(device="phone")
    done = islet("widget", "stack", "phone")
    head, *rows = [words(line) for line in done.out.splitlines()]
    assert head == "PLACE WIDGET APP BY SCORE UNTIL"
    assert rows == [
        f"1 Weather/{short(weather)} {APP} placement - -", f"2 Flight/{short(flight)} {APP} placement - -"]
    assert done.err == "2 widgets on phone\n"
    client.advance(by=HOUR)
    _, *rows = [words(line) for line in islet("widget", "stack", "phone").out.splitlines()]
    assert rows[0] == (
        f"1 Flight/{short(flight)} {APP} entryRelevance 1 2026-01-01 01:30:00 UTC (in 30 m)")
    assert islet("widget", "stack", "watch").err == "0 widgets on watch\n"


def test_the_provider_of_a_kind_is_asked_again_when_it_is_relevant(islet, client, placed, weather):
    flight = placed(device="phone")
    client.advance(by=1)
    paris = placed(WEATHER, device="phone", configuration={"city": "paris"})

    def stack():
        return [row["id"] for row in client.read("widget.stack", device="phone", app=None)["stack"]]

    assert stack() == [flight, paris]
    weather.relevant = [module.WidgetRelevance({"city": "paris"})]
    assert islet("widget", "invalidate-relevance", WEATHER).out == f"asking when {WEATHER} is relevant\n"
    deadline = Deadline()
    while stack() != [paris, flight]:
        assert not deadline.passed
    assert islet("widget", "invalidate-relevance", WEATHER, "--json").json[0]["outcome"] == "applied"
    silent = islet("widget", "invalidate-relevance", FLIGHT)
    assert (silent.out, silent.err) == ("", "ignored: unchanged (its provider says nothing of its relevance)\n")
    assert "did you mean" in islet("widget", "invalidate-relevance", "com.example.Fligt", code=3).err


def test_history_and_explain_tell_why(islet, client, placed):
    id = placed()
    client.advance(by=HOUR)
    _, *lines = [words(line) for line in islet("widget", "history", "Flight").out.splitlines()]
    assert lines == [
        "00:00:00 Flight → loading added systemSmall, not charged: placement, rev 1",
        '00:00:00 Flight loading → shown provider 4 entries, next entry in 1 h, rev 2 {"status":"scheduled"}',
        '01:00:00 Flight shown entry entry 2 of 4, next entry in 1 h, rev 3 {"status":"boarding"}',
    ]
    told = islet("widget", "explain", id).out
    assert "rule: entryShown" in told and "asked by" in told
    now, next, *later = told.splitlines()[:3]
    assert now == 'Now it is shown, {"status":"boarding"}, since 2026-01-01 00:00:00 UTC (1 h ago).'
    assert next == "What happens next:" and later == [
        "  in 1 h, at 2026-01-01 02:00:00 UTC: its next entry is shown (entry)"]


# Tail


def test_tail_tells_the_steps_of_a_widget(islet, tail, client, placed):
    id = placed(TASKS)
    client.advance(by=10 * MINUTE)
    islet("widget", "reload", id, "--push")
    rests(client, id)
    islet("widget", "reload", id)
    islet("widget", "tap", id)
    islet("widget", "remove", id)
    first, *lines = [words(line) for line in tail.lines(8)]
    assert first == "Thu 2026-01-01 UTC"
    name = f"Tasks/{short(id)}"
    assert lines == [
        f"00:00:00 {name} → loading added systemSmall, not charged: placement, rev 1",
        f'00:00:00 {name} loading → shown provider 1 entry, rev 2 {{"done":0}}',
        f"00:10:00 {name} shown → reloading reloading (push) rev 3",
        f'00:10:00 {name} reloading → shown provider 1 entry, rev 4 {{"done":0}}',
        f"00:10:00 {name} shown request held until 00:15:00, in 5 m, since the last reload was a moment ago, rev 5",
        f"00:10:00 {name} shown tap held reload in 5 m, rev 6",
        f"00:10:00 {name} shown → removed removed rev 7",
    ]


def test_tail_tells_entries_reloads_taps_and_rotations(islet, tail, client, placed):
    weather = placed(WEATHER, "systemMedium", device="phone", configuration={"city": "paris"})
    client.advance(by=1)
    id = placed(device="phone")
    client.advance(by=HOUR)
    islet("widget", "tap", id)
    islet("widget", "tap", weather, "--link", "tomorrow")
    client.advance(by=30 * MINUTE)
    steps = [words(line).removeprefix("01:").split(" ", 2) for line in tail.lines(12) if line.startswith("01:")]
    told = {(name.split("/")[0], re.sub(r",? rev \d.*", "", rest)) for _, name, rest in steps}
    assert told == {
        ("Flight", "shown entry entry 2 of 4, next entry in 1 h"), ("Weather", "shown stack no longer on top"),
        ("Flight", "shown stack on top of the stack, next entry in 1 h"),
        ("Flight", "shown tap opens travel://flight/boarding, next entry in 1 h"),
        ("Weather", "shown tap link tomorrow, opens travel://paris/tomorrow"),
        ("Flight", "shown stack no longer on top, next entry in 30 m"),
        ("Weather", "shown stack on top of the stack"),
    }


def test_tail_tells_why_a_timeline_is_asked_for(islet, tail, client, placed, flight):
    id = placed(device="phone")
    islet("device", "localeChange", "--device", "phone")
    rests(client, id)
    flight.fails = True
    client.advance(by=10 * MINUTE)
    islet("widget", "reload", id)
    rests(client, id)
    lines = [words(line) for line in tail.lines(7) if f"Flight/{short(id)}" in line]
    assert any(re.search(r"shown → reloading locale not charged: locale, .*rev \d$", line) for line in lines), lines
    assert re.search(r"reloading → shown provider failed: no network, asked again in .*rev \d", lines[-1])


def test_tail_knows_the_entries_of_a_widget_from_before_it_began(islet, client, placed):
    id = placed()
    tail = Running("tail", env=islet.env)
    try:
        tail.message("following from seq 2")
        client.advance(by=HOUR)
        line = words(tail.lines(2)[1])
        assert line.endswith('shown entry entry 2 of 4, next entry in 1 h, rev 3 {"status":"boarding"}')
        islet("widget", "reload", id)
        assert "provider 4 entries, " in words(tail.lines(4)[3])
    finally:
        tail.kill()


# The demo


@pytest.fixture
def demo(tmp_path):
    made = Demo(tmp_path)
    yield made
    made.close()


def test_the_demo_has_a_flight_and_weather_that_can_be_looked_at_and_tapped(demo):
    flight, berlin, tokyo = demo.travel()
    assert [widget["kind"] for widget in (flight, berlin, tokyo)] == ["Flight", "Weather", "Weather"]
    assert flight["entry"]["content"]["status"] in STEPS and "celsius" in berlin["entry"]["content"]["weather"]
    lines = demo.islet("widget", "timeline", "Flight").stdout.splitlines()
    assert re.match(r"\d entr", lines[0]) and sum(line.startswith("→ ") for line in lines) <= 1
    assert " of 120 reloads in the last 24 hours, " in demo.islet("widget", "budget", "Flight").stdout
    assert len(demo.islet("widget", "stack", "phone-1").stdout.splitlines()) == 3
    done = demo.islet("widget", "tap", "Flight", "--action", "checkIn", "--parameters", '{"seat":"7F"}', "--wait")
    assert ": shown, " in done.stdout.splitlines()[-1]
    assert '"seat":"7F"' in demo.islet("widget", "get", "Flight").stdout
    assert demo.islet("widget", "options", "Weather", "city").stdout.splitlines() == [
        "berlin  Berlin", "paris  Paris", "tokyo  Tokyo"]
    assert len(demo.islet("widget", "recommendations", "Weather").stdout.splitlines()) == 3
    tried = [line.split("#")[0].split()[1:] for line in demo.process.messages if line.startswith("  ")]
    widgets = [words for words in tried if words[0] == "widget"]
    assert len(widgets) == 3
    for words in widgets:
        demo.islet(*words)


def test_the_flights_of_the_demo_step_through_their_lives_and_the_stack_rotates(tmp_path):
    demo = Demo(tmp_path, "--speed", "2400")
    tail = None
    try:
        demo.travel()
        tail = Running("tail", "com.example.travel/widget/Flight/", "--json", env=demo.env)
        seen, rotations = set(), set()

        def all_seen():
            for line in list(tail.data):
                event = json.loads(line)
                entry = event["widget"].get("entry")
                seen.add(entry and entry["content"]["status"])
                if event["event"] == "widget.rotated":
                    rotations.add(event["widget"]["isOnTop"])
            return seen >= set(STEPS) and rotations == {True, None}

        tail.wait_until(all_seen, seconds=60)
    finally:
        if tail:
            tail.kill()
        demo.close()


# Usage


@pytest.mark.parametrize("line", [
    "widget get", "widget explode", "widget tap", "widget add Flight", "widget configure Flight",
    "widget add Flight --family systemSmall --configuration [1]", "widget reload Flight --kind F",
    "widget reload --device phone", "widget list --limit 0", "widget list --state sleeping",
    "widget tap Flight --link a --action b", "widget tap Flight --parameters {}", "widget tap Flight --wait",
    "widget timeline Flight --at soon", "widget options Weather", "widget options Weather city --default --entity x",
    "widget snapshot Flight", "widget stack", "widget list --family huge", "device --device phone sessionSart",
])
def test_wrong_usage_is_2_and_says_why(islet, line):
    done = islet(*line.split(), code=2)
    assert done.out == "" and done.err.strip()


@pytest.mark.parametrize("verb", [
    "", "list", "add", "configure", "remove", "get", "timeline", "budget", "tap", "reload", "visible", "kinds",
    "options", "snapshot", "recommendations", "invalidate-relevance", "stack", "history", "explain",
])
def test_help_begins_with_examples(verb):
    done = run("widget", *verb.split(), "--help")
    assert done.returncode == 0
    assert done.stdout.index(f"islet widget {verb}".strip()) < done.stdout.index("OPTIONS:")


def test_a_current_entry_is_coloured_on_a_terminal(islet, placed):
    placed()
    assert "\x1b[32mshown" in islet.on_a_terminal("widget", "list")
    assert "→ \x1b[32m1 " in islet.on_a_terminal("widget", "timeline", "Flight")
    assert "\x1b[" not in islet("widget", "timeline", "Flight").out


# Flags that stand only where they are true


def test_a_flag_that_is_not_there_is_false(islet, placed, flight):
    top = placed(WEATHER, device="phone-1")
    flight.needs_login = True
    login = placed(device="phone-1")
    ask = lambda filter: {row["id"] for row in islet("widget", "list", "--filter", filter, "--json").json}
    [on_top] = ask("isOnTop")
    below = ({top, login} - {on_top}).pop()
    for filter in ("isOnTop=true", "isOnTop!=false", "not isOnTop=false", "not isOnTop!=true", "isOnTop=on"):
        assert ask(filter) == {on_top}, filter
    for filter in ("isOnTop=false", "isOnTop!=true", "not isOnTop", "not isOnTop=true", "isOnTop=no"):
        assert ask(filter) == {below}, filter
    assert ask("needsLogin=false") == {top} and ask("not needsLogin=false") == {login}
    assert ask("isInvalidated=false") == {top, login} and ask("not isInvalidated=false") == set()
    assert "is true or false" in islet("widget", "list", "--filter", "isOnTop=null", code=2).err
    rows = islet("top", "--once", "--tab", "widgets", "--filter", "needsLogin=false").out
    assert short(top) in rows and short(login) not in rows
    for flag in ("needsLogin", "isInvalidated"):
        islet("wait", top, "--for", f"{flag}=false", "--timeout", "5s")
        islet("wait", top, "--for", f"{flag}=null", "--timeout", "5s")
    islet("wait", below, "--for", "isOnTop=false", "--timeout", "5s")
    islet("wait", login, "--for", "needsLogin=true", "--timeout", "5s")
    islet("wait", login, "--for", "needsLogin=false", "--timeout", "200ms", code=5)


def test_who_waits_until_a_login_is_done_sees_it(islet, client, placed, flight):
    flight.needs_login = True
    id = placed()
    waits = Running("wait", id, "--for", "needsLogin=false", "--timeout", "30s", env=islet.env)
    try:
        flight.needs_login = False
        client.advance(by=10 * MINUTE)
        client.applied("widget.reload", id=id)
        assert waits.wait() == 0
    finally:
        waits.kill()


def test_events_are_asked_for_what_they_say_of_such_a_flag(islet, client, placed, flight):
    flight.needs_login = True
    id = placed()
    flight.needs_login = False
    client.advance(by=10 * MINUTE)
    client.applied("widget.reload", id=id)
    rests(client, id)
    ask = lambda filter: [json.loads(line)["event"] for line in islet(
        "widget", "history", id, "--filter", filter, "--json").out.splitlines()]
    assert ask("needsLogin") == ask("needsLogin=true") == ["widget.timeline"]
    assert ask("needsLogin=false") == ["widget.added", "widget.timeline"]

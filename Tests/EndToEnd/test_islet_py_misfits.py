"""What handlers of `scripts/islet.py` may give that is no answer fails its call, and no more: to the service it would be
a fault of the provider, which is dropped after sixteen of them with all its other kinds."""

import json
import logging
import pathlib
import time

import pytest

import islet
from support.dates import EPOCH, after
from support.widgets import rules
from support.wire import DEADLINE

APP, FORECAST, TORCH, SETTING = "com.example.home", "com.example.forecast", "com.example.torch", "com.example.setting"
FAMILIES = ["systemSmall", "systemMedium", "accessoryInline"]
CASES = json.loads((pathlib.Path(__file__).parent / "support" / "timeline_cases.json").read_text())["cases"]
ENTRY = islet.TimelineEntry(EPOCH)


def timeline(case):
    """The timeline of a case of the table."""
    def entry(date, score=None, duration=0, urlBytes=None, links=None, linkBytes=None):
        links = {"a": "x" * linkBytes} if linkBytes else links
        relevance = None if score is None else islet.TimelineEntryRelevance(score, duration)
        return islet.TimelineEntry(date, {"a": 1}, relevance, urlBytes and "x" * urlBytes, links)

    entries = [entry(**members) for members in case["entries"]] * case.get("times", 1)
    return islet.Timeline(entries, case.get("policy"), case.get("needsLogin", False))


OTHERS = [
    *(islet.Timeline([ENTRY], policy) for policy in (
        "atend", "", 7, True, {}, {"after": None}, {"after": True}, {"after": EPOCH, "x": 1}, {"before": EPOCH})),
    *([islet.TimelineEntry(EPOCH, {}, relevance)] for relevance in (
        0, 5, {"score": 1}, *(islet.TimelineEntryRelevance(score) for score in (
            None, True, "1", float("nan"), float("inf"), 10 ** 400, 3.5e38)))),
    *([islet.TimelineEntry(EPOCH, {}, islet.TimelineEntryRelevance(1, duration))]
      for duration in (None, "1", True, float("nan"), float("inf"))),
    *([islet.TimelineEntry(EPOCH, url=url)] for url in (7, b"x://", '"' * 1_025, "\x01" * 400)),
    *([islet.TimelineEntry(EPOCH, links=links)] for links in (
        ["a"], "ab", {1: "x://"}, {"a": None}, {"a": 7}, {"a": '"' * 1_025}, {"ä": "x://"}, {"a" * 65: "x://"})),
    *([islet.TimelineEntry(date)] for date in (True, None, 1e12, EPOCH * 1_000, -EPOCH)),
    [islet.TimelineEntry(EPOCH, {"a": "x" * 66_000})], [islet.TimelineEntry(EPOCH, {"a": "\ud800"})],
    [islet.TimelineEntry(EPOCH, [("a", 1)])], [islet.TimelineEntry(EPOCH, {"a": b""})], None, 7, "atEnd", [None],
]
"""What a handler can give that the table, which other languages share, cannot say."""

PARAMETERS = [
    islet.parameter("city", "entity", dynamic_options=True, is_optional=True),
    islet.parameter("size", "enum", options=["small", ("large", "L")], default="small"),
    islet.parameter("count", "integer", is_optional=True), islet.parameter("share", "number", is_optional=True),
    islet.parameter("loud", "boolean", is_optional=True), islet.parameter("name")]

OPTIONS = [
    [(7, "seven"), ("b", 5)], [(7, True)], [("a", ["b"])], [None], [(None, "none")], ["a"] * 1_001, ["x" * 60_001], 7,
    [()], [("a",)], [{"a": float("nan")}], [object()]]

RECOMMENDATIONS = [
    [({"name": "a"}, 5)], [({"name": "a"}, None)], [(["name"], "a")], [("name", "a")], [({}, "no name")],
    [({"name": None}, "no name")], [({"name": 7}, "a")], [({"name": "a", "other": 1}, "a")],
    [({"name": "a", "size": "medium"}, "a")], [({"name": "a", "size": 1}, "a")], [({"name": "a", "count": 1.5}, "a")],
    [({"name": "a", "count": True}, "a")], [({"name": "a", "count": 2 ** 63}, "a")], [({"name": "a", "share": "1"}, "a")],
    [({"name": "a", "share": False}, "a")], [({"name": "a", "loud": 1}, "a")], [({"name": "a", "city": 7}, "a")],
    [({"name": "a", "city": ["b"]}, "a")], [({"name": "x" * 4_086}, "a")],
    [({"name": "a"}, "a")] * 101, [{"name": "a"}], 7, [None]]

RELEVANCE = [
    [islet.WidgetRelevance(["a"])], [islet.WidgetRelevance("a")], [islet.WidgetRelevance(begin=7)],
    [islet.WidgetRelevance(end=True)], [islet.WidgetRelevance(begin=after(1), end=EPOCH)],
    [islet.WidgetRelevance()] * 101, [None], 7, [{"from": EPOCH}]]

VALUES = [
    None, float("nan"), "x" * 4_095, {"a": b""}, islet.Answer("a", url='"' * 1_025), islet.Answer("a", url=7),
    islet.Answer("a", status=7), islet.Answer("a", disabled="yes"), islet.Answer(), object()]


class Home:
    """A provider whose handlers give what the test says, and which has a torch that is without fault."""

    def __init__(self, client):
        self.client, self.given, self.said = client, None, None
        home = self

        class Setting(islet.Button):
            def current_value(self, control):
                return home.given

            def perform(self, control):
                return home.said

            def options(self, control, parameter):
                return home.given

        class Forecast(islet.TimelineProvider):
            def timeline(self, widget):
                return home.given

            def options(self, widget, parameter):
                return home.given

            def recommendations(self):
                return home.given

            def relevance(self):
                return home.given

        class Torch(islet.Toggle):
            def current_value(self, control):
                return True

            def set_value(self, control, value):
                pass

        self.provider = client.provider()
        self.provider.widget(FORECAST, FAMILIES, parameters=PARAMETERS)(Forecast)
        self.provider.button(SETTING, parameters=PARAMETERS[:1])(Setting)
        self.provider.toggle(TORCH)(Torch)

    def __enter__(self):
        self.provider.start().wait_until_registered()
        self.id = self.provider.id
        self.torch = self.place("control", TORCH)
        self.until(self.torch, "control", state="shown", valueSource="provider")
        return self

    def __exit__(self, *_):
        self.provider.stop()

    def place(self, what, kind, **fields):
        return self.client.call(f"{what}.add", kind=kind, **fields)[what]["id"]

    def until(self, id, family, **members):
        deadline = time.monotonic() + DEADLINE
        while True:
            entity = self.client.call(f"{family}.get", id=id)[family]
            if all(entity.get(name) == value for name, value in members.items()):
                return entity
            assert time.monotonic() < deadline, (members, entity)
            time.sleep(0.005)

    def is_well(self, about):
        """The provider never had to go, and what is asked of its other kinds is answered."""
        assert self.client.call("control.tap", id=self.torch)["outcome"] == "applied", about
        [listed] = self.client.call("provider.list")["providers"]
        assert (listed["id"], listed["state"]) == (self.id, "live"), about
        self.until(self.torch, "control", state="shown")

    def shows(self, given, family="systemMedium"):
        """Why a widget shows nothing of what its handler gives; None: it does."""
        self.given = given
        id = self.place("widget", FORECAST, family=family, configuration={"name": "a"})
        deadline = time.monotonic() + DEADLINE
        while True:
            widget = self.client.call("widget.get", id=id)["widget"]
            if widget.get("failure") or widget.get("timelineAt"):
                self.client.call("widget.remove", id=id)
                return widget.get("failure")
            assert time.monotonic() < deadline, (given, widget)
            time.sleep(0.005)

    def refuses(self, op, **fields):
        """The service has nothing to answer where the provider's handler failed."""
        with pytest.raises(islet.IsletError) as raised:
            self.client.call(op, **fields)
        assert (raised.value.code, raised.value.detail["reason"]) == ("unavailable", "providerFailed")


def client_of(service):
    return islet.Client(APP, endpoints=islet.Endpoints(service.commands, service.events, service.bulk))


@pytest.fixture
def home(service):
    with client_of(service) as client, Home(client) as made:
        yield made


def test_a_timeline_that_cannot_be_shown_fails_its_call_and_no_more(home, caplog):
    for case in CASES:
        with caplog.at_level(logging.WARNING, "islet"):
            caplog.clear()
            failure = home.shows(timeline(case), case.get("family", "systemMedium"))
        assert failure == ("threw" if "says" in case else None), case["name"]
        assert case.get("says", "") in caplog.text and "refused" not in caplog.text, (case["name"], caplog.text)
        home.is_well(case["name"])


@pytest.mark.parametrize("part", range(3))
def test_whatever_a_handler_of_timelines_gives_is_no_fault(home, part):
    for given in OTHERS[part::3]:
        assert home.shows(given) == "threw", repr(given)[:200]
        home.is_well(repr(given)[:200])


def test_a_snapshot_is_one_entry(home):
    for given in ([], [ENTRY, ENTRY], [islet.TimelineEntry(EPOCH, links={"a": "b"})], [islet.TimelineEntry(7)]):
        home.provider._kinds["widget", FORECAST][1].snapshot = lambda widget, given=given: given
        home.refuses("widget.snapshot", kind=FORECAST, family="systemSmall", configuration={"name": "a"})
        home.is_well(given)


@pytest.mark.parametrize("family, kind", [("widget", FORECAST), ("control", SETTING)])
def test_options_that_are_none_are_no_fault(home, family, kind):
    for given in OPTIONS:
        home.given = given
        home.refuses(f"{family}.options", kind=kind, parameter="city")
        home.is_well(repr(given)[:200])
    for given in (["a"] * 1_000, [("a", None)], [(0, "zero"), (False, "")], []):
        home.given = given
        assert len(home.client.call(f"{family}.options", kind=kind, parameter="city")["options"]) == len(given)


def test_recommendations_that_do_not_fit_are_no_fault(home):
    for given in RECOMMENDATIONS:
        home.given = given
        home.refuses("widget.recommendations", kind=FORECAST)
        home.is_well(repr(given)[:200])
    home.given = [
        ({"name": "a", "size": "large", "count": -2 ** 63, "share": 1, "loud": False, "city": {"id": "b"}}, "x" * 300),
        ({"name": "a", "size": None, "city": "b", "share": 0.5}, ""), ({"name": "x" * 4_085}, "as long as it may be")]
    found = home.client.call("widget.recommendations", kind=FORECAST)["recommendations"]
    assert [each["description"] for each in found] == ["x" * 254, "", "as long as it may be"]
    home.client.call(
        "widget.add", kind=FORECAST, family="systemSmall", device="phone", configuration=found[-1]["configuration"])


def test_a_relevance_that_is_none_is_no_fault(home, caplog):
    for given in RELEVANCE:
        home.given = given
        with caplog.at_level(logging.WARNING, "islet"):
            caplog.clear()
            home.provider.invalidate_relevance(FORECAST)
            deadline = time.monotonic() + DEADLINE
            while "widget.relevance of" not in caplog.text:
                assert time.monotonic() < deadline, (given, caplog.text)
                time.sleep(0.005)
        home.is_well(repr(given)[:200])


def test_a_value_that_is_none_is_no_fault(home):
    control = home.place("control", SETTING)
    for given in VALUES:
        home.given = given
        home.client.call("control.reload", id=control)
        home.until(control, "control", failure="threw")
        home.is_well(repr(given)[:200])
        home.given = "well"
        home.client.call("control.reload", id=control)
        home.until(control, "control", failure=None, state="shown")


def test_an_action_that_says_odd_things_was_performed(home):
    home.given = "well"
    control = home.place("control", SETTING)
    for said in VALUES:
        home.until(control, "control", value="well", valueSource="provider", state="shown")
        home.said = said
        assert home.client.call("control.tap", id=control)["outcome"] == "applied"
        assert "failure" not in home.until(control, "control", state="shown"), repr(said)[:200]
        home.is_well(repr(said)[:200])


@pytest.mark.parametrize("limit", [3, 300])
def test_the_rules_of_the_service_hold(serve, caplog, limit):
    ruled = serve({"--clock": "manual"}, env=rules(maximumTimelineEntries=limit, controlValueLimit=100))
    with client_of(ruled) as client, Home(client) as home, caplog.at_level(logging.WARNING, "islet"):
        assert home.shows([ENTRY] * limit) is None
        assert home.shows([ENTRY] * (limit + 1)) == "threw"
        home.given = "x" * 99
        home.until(home.place("control", SETTING), "control", failure="threw")
        home.is_well("what is more than a rule allows")
    assert f"there are {limit + 1} entries, and may be {limit}" in caplog.text
    assert "the value has 101 bytes, and may have 100" in caplog.text

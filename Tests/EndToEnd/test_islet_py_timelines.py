"""Providers of widgets of `scripts/islet.py` as the real service sees them, and widgets as its replica shows them."""

import time

import pytest

import islet
from support.dates import EPOCH, HOUR, after
from support.followed import as_followed
from support.wire import DEADLINE

APP, FORECAST, FLIGHT = "com.example.weather", "com.example.forecast", "com.example.flight"


@pytest.fixture
def client(service):
    endpoints = islet.Endpoints(service.commands, service.events, service.bulk)
    with islet.Client(APP, endpoints=endpoints) as made:
        yield made


@pytest.fixture
def replica(client):
    with client.replica("widget/") as made:
        yield made.sync()


class Forecast(islet.TimelineProvider):
    """The weather of a city, hour by hour."""

    def __init__(self):
        self.warmer, self.fail, self.performed = 0, None, []

    def timeline(self, widget):
        if self.fail:
            raise self.fail
        city = widget.configuration.get("city", "?")
        entries = [
            islet.TimelineEntry(widget.now + hour * HOUR, {"city": city, "celsius": 20 + self.warmer - hour},
                                islet.TimelineEntryRelevance(10 - hour), f"weather://{city}/{hour}")
            for hour in range(4)]
        return islet.Timeline(entries, islet.after(widget.now + 12 * HOUR))

    def snapshot(self, widget):
        return islet.TimelineEntry(widget.now, {"city": "Cupertino" if widget.is_preview else "here"})

    def perform(self, widget, action, parameters):
        self.performed.append((action, parameters))
        self.warmer += parameters.get("by", 1)

    def options(self, widget, parameter):
        return [("berlin", "Berlin"), ("paris", "Paris")]

    def recommendations(self):
        return [({"city": "paris"}, "Paris")]

    def relevance(self):
        return [islet.WidgetRelevance({"city": "paris"}, EPOCH, after(HOUR))]


@pytest.fixture
def forecast():
    return Forecast()


@pytest.fixture
def provider(client, forecast):
    made = client.provider()
    made.widget(FORECAST, ["systemSmall", "systemMedium"], display_name="Forecast", placeholder={"celsius": None},
                parameters=[islet.parameter("city", is_optional=True, dynamic_options=True)])(forecast)
    with made.start():
        made.wait_until_registered()
        yield made


def place(client, **fields):
    return client.call("widget.add", kind=FORECAST, **{"family": "systemSmall", **fields})["widget"]["id"]


def until(replica, id, happened, **members):
    """Waits until the widget shows these members; gives it."""
    deadline = time.monotonic() + DEADLINE
    for change in replica.changes(timeout=DEADLINE):
        assert time.monotonic() < deadline
        if change.kind == "event" and change.entity["id"] == id:
            shown = {name: change.entity.get(name) for name in members}
            if change.event["event"] == f"widget.{happened}" and shown == members:
                return change.entity
    raise AssertionError(f"{members} never shown")


def test_a_forecast_is_placed_and_goes_by_the_clock(client, replica, provider):
    id = place(client, configuration={"city": "berlin"})
    entity = until(replica, id, "timeline", state="shown")
    assert entity["entry"] == {"date": EPOCH, "content": {"city": "berlin", "celsius": 20}, "relevance": {"score": 10},
                               "url": "weather://berlin/0"}
    assert (entity["entries"], entity["policy"]) == (4, {"after": after(12 * HOUR)})
    client.call("clock.advance", by=2 * HOUR)
    assert until(replica, id, "entry", entryIndex=2)["entry"]["content"]["celsius"] == 18
    [held] = replica.entities.values()
    whole = client.call("widget.get", id=id)["widget"]
    assert held == {name: value for name, value in as_followed(whole).items() if value is not None}
    client.call("clock.advance", by=13 * HOUR)
    assert until(replica, id, "timeline")["timelineAt"] > after(12 * HOUR)
    assert client.call("widget.budget", id=id)["budget"]["spent"] == 1
    client.call("widget.remove", id=id)
    until(replica, id, "removed")
    assert dict(replica.entities) == {}


def test_the_app_says_that_something_has_changed(client, replica, provider, forecast):
    id = place(client)
    until(replica, id, "timeline")
    client.call("clock.advance", by=HOUR)
    forecast.warmer = 5
    provider.reload_timelines(FORECAST)
    assert until(replica, id, "timeline")["entry"]["content"]["celsius"] == 25
    forecast.warmer = 7
    provider.reload_timelines(id=id)
    assert until(replica, id, "held")["held"]["reason"] == "spacing"
    client.call("clock.advance", by=HOUR)
    assert until(replica, id, "timeline")["entry"]["content"]["celsius"] == 27


def test_an_action_is_performed_once_and_its_effect_is_shown(client, replica, provider, forecast):
    id = place(client)
    until(replica, id, "timeline")
    client.call("widget.tap", id=id, action="warmer", parameters={"by": 3})
    assert until(replica, id, "acting")["isInvalidated"] is True
    assert until(replica, id, "timeline", state="shown")["entry"]["content"]["celsius"] == 23
    assert forecast.performed == [("warmer", {"by": 3})]
    client.call("widget.tap", id=id)
    until(replica, id, "tapped")
    assert forecast.performed == [("warmer", {"by": 3})]


def test_a_failure_keeps_what_is_shown(client, replica, provider, forecast):
    id = place(client)
    shown = until(replica, id, "timeline")["entry"]
    client.call("clock.advance", by=10 * 60_000)
    forecast.fail = islet.Fail("no network")
    provider.reload_timelines()
    entity = until(replica, id, "failed", failure="threw", state="shown")
    assert entity["entry"] == shown and entity["next"]["cause"] == "retry"
    forecast.fail = None
    client.call("clock.advance", to=entity["next"]["at"])
    assert "failure" not in until(replica, id, "timeline")


def test_the_gallery_and_the_configuration_are_asked_of_the_provider(client, provider):
    for preview, city in ((True, "Cupertino"), (False, "here")):
        answer = client.call("widget.snapshot", kind=FORECAST, family="systemSmall", isPreview=preview)
        assert answer["snapshot"]["content"] == {"city": city}
    options = client.call("widget.options", kind=FORECAST, parameter="city")["options"]
    assert options == [{"value": "berlin", "title": "Berlin"}, {"value": "paris", "title": "Paris"}]
    found = client.call("widget.options", kind=FORECAST, parameter="city", query="entitiesFor", identifiers=["paris"])
    assert found["options"] == [{"value": "paris", "title": "Paris"}]
    assert client.call("widget.options", kind=FORECAST, parameter="city", query="defaultResult")["options"] == []
    assert client.call("widget.recommendations", kind=FORECAST)["recommendations"] == [
        {"configuration": {"city": "paris"}, "description": "Paris"}]
    [kind] = client.call("widget.kinds")["kinds"]
    assert kind["declaration"]["providesRelevance"] and kind["declaration"]["providesRecommendations"]


def test_relevance_leads_a_stack(client, replica, provider):
    berlin = place(client, device="phone", configuration={"city": "berlin"})
    client.call("clock.advance", by=1)  # of two that were placed in one millisecond the lesser id is the first
    paris = place(client, device="phone", configuration={"city": "paris"})
    for _ in range(2):
        [change] = [next(change for change in replica.changes(timeout=DEADLINE)
                         if change.kind == "event" and change.event["event"] == "widget.timeline")]
    assert {row["rule"] for row in client.call("widget.stack", device="phone")["stack"]} == {"entryRelevance"}
    client.call("clock.advance", by=90 * 60_000)
    stack = client.call("widget.stack", device="phone")["stack"]
    assert [row["id"] for row in stack] == [berlin, paris] and change.entity is not None


def test_a_widget_without_a_session_asks_for_one(client, replica):
    session = []
    provider = client.provider()

    @provider.widget(FLIGHT, ["systemSmall"])
    def flight(widget):
        if not session:
            return islet.Timeline([islet.TimelineEntry(widget.now, {"login": True}, url="flight://login")],
                                  needs_login=True)
        return islet.TimelineEntry(widget.now, {"gate": session[0]})

    with provider.start():
        provider.wait_until_registered()
        id = client.call("widget.add", kind=FLIGHT, family="systemSmall")["widget"]["id"]
        entity = until(replica, id, "timeline")
        assert (entity["needsLogin"], entity["policy"]) == (True, "never")
        session.append("A12")
        client.call("clock.advance", by=HOUR)
        provider.reload_timelines(FLIGHT)
        entity = until(replica, id, "timeline")
        assert "needsLogin" not in entity and entity["entry"]["content"] == {"gate": "A12"}

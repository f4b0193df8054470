"""Providers of widgets of `scripts/islet.py` against a service that a test plays: declarations, calls, wishes."""

import datetime
import logging
import threading

import pytest

import islet
from support.dates import EPOCH, HOUR, MINUTE
from support.provider_service import PLACED, ProviderService
from support.wire import DEADLINE

APP, CLOCK, TORCH = "com.example.home", "com.example.clock", "com.example.torch"
SMALL = ["systemSmall"]


@pytest.fixture
def fake():
    made = ProviderService()
    yield made
    made.close()


@pytest.fixture
def made(fake):
    """Providers of the fake service, with what they are given declared, that are stopped at the end."""
    providers = []

    def make(handler=None, start=True, **declaration):
        provider = islet.Provider(APP, commands=fake.url, grace=0.2)
        if handler:
            provider.widget(CLOCK, **{"families": SMALL, **declaration})(handler)
        providers.append(provider)
        if start:
            provider.start().wait_until_registered()
            provider.frame = fake.registered()
        return provider

    yield make
    for provider in providers:
        provider.stop()


class Clock(islet.TimelineProvider):
    def __init__(self, given=None):
        self.given, self.asked, self.performed = given, [], []

    def timeline(self, widget):
        self.asked.append(widget)
        if isinstance(self.given, Exception):
            raise self.given
        return self.given if self.given is not None else [islet.TimelineEntry(widget.now)]

    def perform(self, widget, action, parameters):
        self.performed.append((widget.id, action, parameters))


@pytest.fixture
def both(fake, made):
    """A provider of a control and a widget of one name."""
    provider = made(start=False)
    provider.widget(TORCH, SMALL)(Clock())

    @provider.toggle(TORCH)
    class Torch(islet.Toggle):
        def current_value(self, control):
            return True

    provider.start().wait_until_registered()
    provider.frame = fake.registered()
    return provider


def test_a_registration_declares_widgets_in_the_contracts_words(made, fake):
    class Forecast(Clock):
        def recommendations(self):
            return []

        def relevance(self):
            return []

    provider = made(
        Forecast, families=("systemSmall", "accessoryInline"), display_name="Forecast", placeholder={"celsius": None},
        supplemental_families=["small"], prompts_for_user_configuration=True, timeline_deadline=0.5, action_deadline=2,
        rendering={"modes": ["accented"], "containerBackgroundRemovable": True},
        parameters=[islet.parameter("city", options=[("b", "Berlin")], default="b")])
    assert provider.frame == {
        "op": "provider.register", "req": "register", "app": APP, "provider": provider.id, "capacity": 16, "widgets": [
            {"kind": CLOCK, "families": ["systemSmall", "accessoryInline"], "displayName": "Forecast",
             "placeholder": {"celsius": None}, "supplementalFamilies": ["small"], "promptsForUserConfiguration": True,
             "timelineDeadline": 500, "actionDeadline": 2_000,
             "rendering": {"modes": ["accented"], "containerBackgroundRemovable": True},
             "parameters": [{"name": "city", "type": "string", "options": [{"value": "b", "title": "Berlin"}],
                             "default": "b"}],
             "providesRelevance": True, "providesRecommendations": True}]}


def test_a_control_and_a_widget_may_share_a_name_and_each_is_asked_as_what_it_is(both, fake):
    assert [kind["kind"] for kind in both.frame["kinds"]] == [TORCH]
    assert both.frame["widgets"] == [{"kind": TORCH, "families": SMALL}]
    assert fake.answer(fake.call("value", TORCH))["value"] is True
    assert fake.answer(fake.call_widget("timeline", TORCH))["entries"] == [{"date": EPOCH}]


def test_a_kind_twice_and_a_handler_that_is_none_are_refused_at_once(made):
    provider = made(Clock, start=False)
    with pytest.raises(ValueError, match="declared already"):
        provider.widget(CLOCK, SMALL)
    with pytest.raises(TypeError, match="islet.TimelineProvider"):
        provider.widget("com.example.other", SMALL)(islet.Toggle)
    with pytest.raises(TypeError, match="islet.Button"):
        provider.button("com.example.other")(Clock())


def test_a_handler_is_told_what_it_is_asked_about(made, fake):
    clock = Clock()
    made(clock)
    fake.answer(fake.call_widget("timeline", CLOCK, configuration={"city": "b"}, rendering={"mode": "accented"},
                                 device="phone", attempt=2, family="systemLarge"))
    [widget] = clock.asked
    assert (widget.app, widget.kind, widget.id, widget.family) == (APP, CLOCK, PLACED, "systemLarge")
    assert (widget.configuration, widget.rendering) == ({"city": "b"}, {"mode": "accented"})
    assert (widget.device, widget.attempt, widget.now, widget.is_preview) == ("phone", 2, EPOCH, False)


def test_a_timeline_is_written_in_the_contracts_words(made, fake):
    entries = [
        islet.TimelineEntry(EPOCH, {"time": "noon"}, islet.TimelineEntryRelevance(0.5, 90.5), "clock://",
                            {"a": "b://"}),
        islet.TimelineEntry(datetime.datetime(2026, 1, 1, 1, tzinfo=datetime.timezone.utc), {},
                            islet.TimelineEntryRelevance(2))]
    provider = made(Clock(islet.Timeline(entries, policy=islet.after(EPOCH + 2 * HOUR))))
    call = fake.call_widget("timeline", CLOCK, family="systemMedium")
    assert fake.answer(call) == {
        "op": "provider.answer", "provider": provider.id, "call": call, "policy": {"after": EPOCH + 2 * HOUR},
        "entries": [
            {"date": EPOCH, "content": {"time": "noon"}, "relevance": {"score": 0.5, "duration": 90_500},
             "url": "clock://", "links": {"a": "b://"}},
            {"date": EPOCH + HOUR, "content": {}, "relevance": {"score": 2}}]}


@pytest.mark.parametrize("given, members", [
    (islet.Timeline([islet.TimelineEntry(EPOCH)]), {}),
    (islet.Timeline(iter([islet.TimelineEntry(EPOCH)]), "never"), {"policy": "never"}),
    (islet.Timeline([islet.TimelineEntry(EPOCH)], "atEnd"), {"policy": "atEnd"}),
    (islet.Timeline([islet.TimelineEntry(EPOCH)], needs_login=True), {"needsLogin": True}),
    (islet.TimelineEntry(EPOCH), {}), ((islet.TimelineEntry(EPOCH),), {})])
def test_policies_and_short_forms(made, fake, given, members):
    made(Clock(given))
    answer = fake.answer(fake.call_widget("timeline", CLOCK))
    assert {name: answer[name] for name in answer.keys() - {"op", "provider", "call"}} == {
        "entries": [{"date": EPOCH}], **members}


def test_after_takes_a_datetime_as_well():
    moment = datetime.datetime.fromtimestamp((EPOCH + MINUTE) / 1000, tz=datetime.timezone.utc)
    assert islet.after(moment) == islet.after(EPOCH + MINUTE) == {"after": EPOCH + MINUTE}


def test_a_datetime_is_never_later_than_it_says():
    """The present would be in the future: an entry would wait for its date, a millisecond long."""
    zone = datetime.timezone.utc
    for microsecond, millisecond in ((0, 0), (999, 0), (1_000, 1), (1_999, 1), (999_999, 999)):
        assert islet.after(datetime.datetime(2026, 1, 1, 0, 0, 0, microsecond, zone)) == {"after": EPOCH + millisecond}
    for number in range(1_000_000_000_000, 10_000_000_000_000, 777_777_777_777):
        whole = datetime.datetime.fromtimestamp(number // 1_000, zone)
        assert islet.after(whole.replace(microsecond=number % 1_000 * 1_000)) == {"after": number}


@pytest.mark.parametrize("given, said", [
    (islet.Fail("no network", retryable=True), "no network"), (KeyError("city"), "KeyError"),
    ([], "no entries"), ([{"date": EPOCH}], "islet."), (7, "TypeError"), ([islet.TimelineEntry(EPOCH, {"x": float("nan")})], "ValueError"),
    ([islet.TimelineEntry(EPOCH, {"x": "y" * 70_000})], "may have 65536")])
def test_a_timeline_that_is_none_is_a_failed_call(made, fake, given, said):
    made(Clock(given))
    frame = fake.answer(fake.call_widget("timeline", CLOCK), "provider.fail")
    assert said in frame["message"] and frame.get("retryable") is (True if "network" in said else None)


def test_a_snapshot_is_the_first_entry_of_the_timeline_or_its_own(made, fake):
    class Gallery(Clock):
        def snapshot(self, widget):
            return islet.TimelineEntry(widget.now, {"sample": widget.is_preview})

    clock = Clock([islet.TimelineEntry(EPOCH, {"n": n}) for n in range(3)])
    provider = made(clock, start=False)
    provider.widget("com.example.gallery", SMALL)(Gallery)
    provider.start().wait_until_registered()
    assert fake.answer(fake.call_widget("snapshot", CLOCK))["entries"] == [{"date": EPOCH, "content": {"n": 0}}]
    assert clock.asked[0].id is None
    for preview in (True, False):
        answer = fake.answer(fake.call_widget("snapshot", "com.example.gallery", isPreview=preview))
        assert answer["entries"] == [{"date": EPOCH, "content": {"sample": preview}}] and "policy" not in answer


def test_an_action_is_performed_and_its_answer_says_nothing(made, fake):
    clock = Clock()
    provider = made(clock)
    for parameters in ({}, {"deep": True}):
        call = fake.call_widget("perform", CLOCK, action="wind", **({"parameters": parameters} if parameters else {}))
        assert fake.answer(call) == {"op": "provider.answer", "provider": provider.id, "call": call}
    assert clock.performed == [(PLACED, "wind", {}), (PLACED, "wind", {"deep": True})]


def test_a_provider_without_actions_or_options_says_so(made, fake):
    made(lambda widget: islet.TimelineEntry(widget.now))
    assert "has no action 'wind'" in fake.answer(fake.call_widget("perform", CLOCK, action="wind"), "provider.fail")[
        "message"]
    call = fake.call_widget("options", CLOCK, parameter="zone", query="suggestedEntities")
    assert "has no options for 'zone'" in fake.answer(call, "provider.fail")["message"]
    for op in ("recommendations", "relevance"):
        assert "NotImplementedError" in fake.answer(fake.call_widget(op, CLOCK), "provider.fail")["message"]


class Zones(Clock):
    def options(self, widget, parameter):
        return [("utc", "UTC"), "cet", {"id": "pst", "hours": -8}, ({"id": widget.configuration.get("own")}, "Own")]


@pytest.mark.parametrize("query, members, value", [
    ("suggestedEntities", {},
     [{"value": "utc", "title": "UTC"}, {"value": "cet"}, {"value": {"id": "pst", "hours": -8}},
      {"value": {"id": "me"}, "title": "Own"}]),
    ("entitiesFor", {"identifiers": ["me", "pst", "gone"]},
     [{"value": {"id": "pst", "hours": -8}}, {"value": {"id": "me"}, "title": "Own"}]),
    ("defaultResult", {}, [])])
def test_options_are_queried_as_entity_queries_are(made, fake, query, members, value):
    made(Zones())
    call = fake.call_widget("options", CLOCK, parameter="zone", query=query, configuration={"own": "me"}, **members)
    assert fake.answer(call)["value"] == value


def test_a_default_and_entities_may_be_computed(made, fake):
    class Own(Zones):
        def default_option(self, widget, parameter):
            return ("utc", "UTC")

        def entities(self, widget, parameter, identifiers):
            return [f"{parameter}-{identifier}" for identifier in identifiers]

    made(Own())
    call = fake.call_widget("options", CLOCK, parameter="zone", query="defaultResult")
    assert fake.answer(call)["value"] == [{"value": "utc", "title": "UTC"}]
    call = fake.call_widget("options", CLOCK, parameter="zone", query="entitiesFor", identifiers=["1"])
    assert fake.answer(call)["value"] == [{"value": "zone-1"}]


def test_recommendations_and_relevance(made, fake):
    class Forecast(Clock):
        def recommendations(self):
            yield {"city": "b"}, "Berlin"

        def relevance(self):
            return [islet.WidgetRelevance({"city": "b"}, EPOCH, EPOCH + HOUR), islet.WidgetRelevance(end=EPOCH),
                    islet.WidgetRelevance()]

    made(Forecast, parameters=[islet.parameter("city")])
    assert fake.answer(fake.call_widget("recommendations", CLOCK))["value"] == [
        {"configuration": {"city": "b"}, "description": "Berlin"}]
    assert fake.answer(fake.call_widget("relevance", CLOCK))["value"] == [
        {"configuration": {"city": "b"}, "from": EPOCH, "to": EPOCH + HOUR}, {"to": EPOCH}, {}]


def test_reloads_and_invalidations_are_sent_once_each_from_any_thread(made, fake):
    provider = made(Clock, start=False)
    for _ in range(3):
        provider.reload_timelines(CLOCK)
        provider.reload_timelines(id=PLACED)
        provider.reload_timelines()
        provider.reload(TORCH)
        provider.invalidate_recommendations()
        provider.invalidate_relevance(CLOCK)
    provider.start().wait_until_registered()
    frames = [fake.next() for _ in range(6)]
    assert [{name: value for name, value in frame.items() if name not in ("req", "app")} for frame in frames] == [
        {"op": "widget.reload", "kind": CLOCK}, {"op": "widget.reload", "id": PLACED}, {"op": "widget.reload"},
        {"op": "control.reload", "kind": TORCH}, {"op": "widget.invalidateRecommendations"},
        {"op": "widget.invalidateRelevance", "kind": CLOCK}]
    fake.quiet()
    provider.reload_timelines()
    assert fake.next()["op"] == "widget.reload"


def test_more_wishes_than_are_remembered_become_one_of_each_sort(made, fake):
    provider = made(Clock, start=False)
    provider.invalidate_relevance(CLOCK)
    for number in range(provider.RECENT):
        provider.reload_timelines(id=str(number))
    provider.start().wait_until_registered()
    assert fake.next()["kind"] == CLOCK
    frame = fake.next()
    assert frame["op"] == "widget.reload" and "id" not in frame and "kind" not in frame
    fake.quiet()


def test_an_action_whose_connection_was_lost_is_followed_by_a_reload_of_its_timeline(made, fake):
    entered, go_on = threading.Event(), threading.Event()

    class Slow(Clock):
        def perform(self, widget, action, parameters):
            entered.set()
            assert go_on.wait(DEADLINE)

    provider = made(Slow)
    fake.call_widget("perform", CLOCK, action="wind")
    assert entered.wait(DEADLINE)
    fake.say({"op": "provider.dropped", "provider": provider.id, "reason": "silent"})
    fake.registered()
    go_on.set()
    frame = fake.next()
    assert (frame["op"], frame["id"]) == ("widget.reload", PLACED)


def test_an_action_may_end_after_its_deadline_and_a_timeline_may_not(made, fake):
    entered, go_on = threading.Semaphore(0), threading.Event()

    class Slow(Clock):
        def perform(self, widget, action, parameters):
            entered.release()
            assert go_on.wait(DEADLINE)

        def timeline(self, widget):
            entered.release()
            assert widget.cancelled.wait(DEADLINE)
            return []

    made(Slow)
    for op, members in (("timeline", {}), ("perform", {"action": "wind"})):
        call = fake.call_widget(op, CLOCK, **members)
        assert entered.acquire(timeout=DEADLINE)
        fake.say({"op": "provider.cancel", "call": call, "reason": "timedOut"})
    fake.quiet()
    go_on.set()
    fake.answer(call)


def test_the_action_of_a_control_may_open_something(fake, made, caplog):
    provider, urls = made(start=False), ["home://torch", 7, "x" * 2_049]

    @provider.button("com.example.door")
    def open_door(control):
        return islet.Answer(status="Open", url=urls.pop(0))

    provider.start().wait_until_registered()
    assert fake.answer(fake.call("perform", "com.example.door"))["url"] == "home://torch"
    with caplog.at_level(logging.WARNING, "islet"):
        for _ in range(2):
            answer = fake.answer(fake.call("perform", "com.example.door"))
            assert "url" not in answer and answer["status"] == "Open"
    assert caplog.text.count("is no url") == 2

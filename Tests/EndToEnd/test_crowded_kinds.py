"""More controls or widgets of one kind than its providers take at a time: none fails because others are before it, and
what a person waits for comes before the crowd."""

import time

import pytest

from support.durable import Durable
from support.provider import RawProvider, toggle
from support.widgets import WidgetProvider, entry, rules, widget
from support.wire import Deadline

MANY = 70_000
"""More than the 65,536 of one kind that could wait, and the 1,024 that a provider has at a time."""
BATCH = 250
CROWD, OTHER = "com.example.crowd", "com.example.other"
SECONDS = 120
"""For all of them on a slow machine; nothing takes that long."""
SOME, CAPACITY, WORK = 600, 4, 0.004
"""So many of one kind, of which its provider takes so few at a time, and each keeps it busy for so many seconds: all of them
for far longer than the deadline of one."""
SHORT = 500
SOON = SOME // 2
"""Of the calls after something that a person did, its own is among so many: before it come those that the provider has
already, and those that it gets until what the person did is written down. Behind the crowd it would be the last one."""


class Controls:
    family, made = "control", staticmethod(toggle)
    provider, fields = RawProvider, {}
    read, act, deadline = "control.value", {}, "valueDeadline"

    @staticmethod
    def answer(provider, call):
        provider.answer(call, call.get("value", True))


class Widgets:
    family, made = "widget", staticmethod(widget)
    provider, fields = WidgetProvider, {"family": "systemSmall"}
    read, act, deadline = "widget.timeline", {"action": "refresh"}, "timelineDeadline"

    @staticmethod
    def answer(provider, call):
        if call["op"] == "widget.perform":
            provider.answer(call)
        elif call["op"] == "widget.snapshot":
            provider.show(call, entry(call["now"]))
        else:
            provider.show(call, entry(call["now"]), policy="never")


@pytest.fixture(params=[Controls, Widgets], ids=["controls", "widgets"])
def sort(request):
    return request.param


@pytest.fixture
def services(wire, tmp_path):
    made = Durable(wire, tmp_path / "data", env=rules(widgetReloadSpacing=1)).start()
    yield made
    made.kill()


def provider(services, sort, kind, capacity=1_024):
    return sort.provider(
        services.wire, services.service.commands, sort.made(kind), app=services.app, capacity=capacity)


def place(services, sort, kind, count):
    for first in range(0, count, BATCH):
        services.client.batch(*[
            services.client.command(f"{sort.family}.add", kind=kind, **sort.fields)
            for _ in range(min(BATCH, count - first))])


def states(services, sort):
    return services.client.read("service.info")["info"][sort.family + "s"]


def serve_all(services, sort, one, count):
    """Answers whatever comes until so many are shown; the clock stands, so none is tried again."""
    deadline = Deadline(SECONDS)
    while (now := states(services, sort))["shown"] < count:
        assert not deadline.passed, now
        for call in one.calls(0.05):
            sort.answer(one, call)


@pytest.mark.parametrize("goes", [False, True], ids=["and stays", "and goes, and another one"])
def test_all_of_a_crowd_are_asked_about_when_their_provider_comes(services, sort, goes):
    for kind, count in (CROWD, MANY), (OTHER, 1):
        provider(services, sort, kind).leave()
        place(services, sort, kind, count)
    one, other = provider(services, sort, CROWD), provider(services, sort, OTHER)
    # All of the crowd have wanted to be asked about by now, and keep no other kind waiting.
    sort.answer(other, other.call())
    if goes:
        one.leave()
        one = provider(services, sort, CROWD)
    serve_all(services, sort, one, MANY + 1)


class Crowd:
    """Many of one kind that are shown, and whose provider, which is not fast, is to be asked about all of them anew."""

    def __init__(self, services, sort):
        self.services, self.sort = services, sort
        self.client = services.client
        self.one = provider(services, sort, CROWD)
        self.asked = []
        """What the provider was asked since the reload."""
        self.ids = []
        for first in range(0, SOME, BATCH):
            answers = self.client.batch(*[
                self.client.command(f"{sort.family}.add", kind=CROWD, **sort.fields)
                for _ in range(min(BATCH, SOME - first))])
            self.ids += [answer[sort.family]["id"] for answer in answers]
            serve_all(services, sort, self.one, len(self.ids))
        self.declares(SHORT, CAPACITY)
        self.client.advance(1_000)
        self.client.ask(f"{sort.family}.reload", kind=CROWD)

    def declares(self, deadline, capacity):
        """Registers again, with another deadline and another capacity."""
        declared = self.sort.made(
            CROWD, parameters=[{"name": "n", "type": "integer", "isOptional": True}], **{self.sort.deadline: deadline})
        self.one.register(**{
            "kinds" if self.sort is Controls else "widgets": [declared], "capacity": capacity})

    def serve(self, count):
        """Answers so many calls, one after another."""
        for _ in range(count):
            call = self.one.call()
            self.asked.append((call["op"], call.get(self.sort.family)))
            time.sleep(WORK)
            self.sort.answer(self.one, call)

    def failures(self):
        """How many are shown with a failure."""
        found, cursor = 0, {}
        while True:
            page = self.client.read(f"{self.sort.family}.list", limit=1_000, **cursor)
            found += sum("failure" in each for each in page[self.sort.family + "s"])
            if "next" not in page:
                return found
            cursor = {"cursor": page["next"]}

    def is_soon(self, *calls):
        """Fails unless these calls come before nearly all others."""
        left = list(calls)
        for _ in range(SOON):
            if not left:
                return
            self.serve(1)
            if self.asked[-1] in left:
                left.remove(self.asked[-1])
        assert not left, self.asked


@pytest.fixture
def crowd(services, sort):
    return Crowd(services, sort)


def test_a_reload_of_a_crowd_fails_nobody_because_others_are_before_it(crowd):
    deadline = Deadline(SECONDS)
    while (now := states(crowd.services, crowd.sort))["shown"] < SOME:
        assert not deadline.passed, now
        for call in crowd.one.calls(0.01):
            time.sleep(WORK)
            crowd.sort.answer(crowd.one, call)
    # Where this very process stood still for too long, its provider was told so, and one more was the next.
    assert crowd.failures() <= 2 * len(crowd.one._kept["cancel"])


def test_what_a_person_does_comes_before_the_crowd(crowd):
    crowd.serve(10)
    id = crowd.ids[-1]
    crowd.client.applied(f"{crowd.sort.family}.tap", id=id, **crowd.sort.act)
    crowd.is_soon((f"{crowd.sort.family}.perform", id), (crowd.sort.read, id))


def test_what_a_person_places_or_configures_comes_before_the_crowd(crowd):
    crowd.serve(10)
    family = crowd.sort.family
    placed = crowd.client.applied(f"{family}.add", kind=CROWD, **crowd.sort.fields)[family]["id"]
    crowd.client.applied(f"{family}.configure", id=crowd.ids[-1], configuration={"n": 1})
    crowd.is_soon((crowd.sort.read, placed), (crowd.sort.read, crowd.ids[-1]))


@pytest.mark.parametrize("sort", [Controls], ids=["controls"], indirect=True)
def test_a_value_that_is_waited_for_comes_before_the_crowd(crowd):
    crowd.serve(10)
    crowd.client.send(crowd.client.command("control.get", id=crowd.ids[-1], maxAge=0))
    crowd.client.ask("service.ping")
    crowd.is_soon((crowd.sort.read, crowd.ids[-1]))


@pytest.mark.parametrize("sort", [Widgets], ids=["widgets"], indirect=True)
def test_a_gallery_comes_before_the_crowd(crowd):
    crowd.serve(10)
    crowd.client.send(crowd.client.command("widget.snapshot", kind=CROWD, family="systemSmall"))
    crowd.client.ask("service.ping")
    crowd.is_soon(("widget.snapshot", None))


def test_a_provider_that_answers_nothing_leaves_nobody_waiting(services, sort):
    one = provider(services, sort, CROWD, CAPACITY)
    one.leave()
    place(services, sort, CROWD, 100)
    one = sort.provider(
        services.wire, services.service.commands, sort.made(CROWD, **{sort.deadline: 100}), app=services.app,
        capacity=CAPACITY)
    deadline = Deadline(SECONDS)
    while (now := states(services, sort))["loading"]:
        assert not deadline.passed, now
        one.calls(0.05)
    one.leave()

"""More controls or widgets of one kind than may wait for its providers: none fails because others are before it."""

import pytest

from support.durable import Durable
from support.provider import RawProvider, toggle
from support.widgets import WidgetProvider, entry, widget
from support.wire import Deadline

MANY = 70_000
"""More than the 65,536 of one kind that could wait, and the 1,024 that a provider has at a time."""
BATCH = 250
CROWD, OTHER = "com.example.crowd", "com.example.other"
SECONDS = 120
"""For all of them on a slow machine; nothing takes that long."""


class Controls:
    family, made = "control", staticmethod(toggle)
    provider, fields = RawProvider, {}

    @staticmethod
    def answer(provider, call):
        provider.answer(call, True)


class Widgets:
    family, made = "widget", staticmethod(widget)
    provider, fields = WidgetProvider, {"family": "systemSmall"}

    @staticmethod
    def answer(provider, call):
        provider.show(call, entry(call["now"]), policy="never")


@pytest.fixture(params=[Controls, Widgets], ids=["controls", "widgets"])
def sort(request):
    return request.param


@pytest.fixture
def services(wire, tmp_path):
    made = Durable(wire, tmp_path / "data").start()
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

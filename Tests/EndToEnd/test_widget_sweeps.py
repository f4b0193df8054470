"""A reload of very many widgets takes several turns of the service: what was answered is kept all the same."""

import json

import pytest

from support.dates import HOUR, after
from support.durable import Durable
from support.widgets import FORECAST, WidgetProvider, entry, widget
from support.wire import Deadline

MANY = 6_000
"""Several times what one turn reloads."""
BATCH = 200


class Crowd:
    """Very many widgets of one kind, of which no event is looked at."""

    def __init__(self, wire, data, env=None):
        self.wire, self.services = wire, Durable(wire, data, env=env)
        self.start()

    def start(self):
        self.services.start()
        self.client = self.services.client

    def provider(self):
        return WidgetProvider(self.wire, self.services.service.commands, widget(), app=self.services.app, capacity=64)

    def place(self, provider, count=MANY):
        """Places them, each with a timeline that asks for nothing by itself; gives their ids."""
        ids = []
        for _ in range(count // BATCH):
            added = self.client.batch(
                *(self.client.command("widget.add", kind=FORECAST, family="systemSmall") for _ in range(BATCH)))
            ids += [answer["widget"]["id"] for answer in added]
            self.serve(provider, BATCH)
        return ids

    def serve(self, provider, count):
        """Answers so many calls."""
        for _ in range(count):
            call = provider.call("timeline")
            provider.show(call, entry(call["now"]), policy="never")

    def asked_for(self):
        """The widgets whose timeline was asked for where nobody could be asked."""
        rows = [json.loads(body)["widget"] for _, body in self.services.bulk().snapshot().rows]
        return {row["id"] for row in rows if row.get("failure") == "noProvider"}


@pytest.fixture
def crowd(wire, tmp_path):
    made = Crowd(wire, tmp_path / "data")
    yield made
    made.services.kill()


@pytest.mark.parametrize("how", ["kill", "stop"])
@pytest.mark.parametrize("whose", ["kind", "app"])
def test_a_reload_of_many_that_was_answered_reaches_each_of_them_whatever_happens(crowd, how, whose):
    provider = crowd.provider()
    ids = crowd.place(provider)
    crowd.client.advance(to=after(HOUR))
    answer = crowd.client.applied("widget.reload", **({"kind": FORECAST} if whose == "kind" else {}))
    getattr(crowd.services, how)()
    assert answer["count"] == MANY
    crowd.start()
    deadline = Deadline()
    while len(asked := crowd.asked_for()) < MANY:
        assert not deadline.passed, f"{len(asked)} of {MANY}"
    assert asked == set(ids)
    crowd.services.restart()
    assert crowd.asked_for() == asked


def test_a_reload_of_many_reaches_each_of_them_where_the_clock_stands_since_their_last_one(wire, tmp_path):
    """The step that comes with it waits for what the first of them have asked, and the others with it."""
    many = 1_400
    crowd = Crowd(wire, tmp_path / "data", env={"ISLET_RULE_SET_WIDGET_DEVELOPER_MODE": "true"})
    try:
        provider = crowd.provider()
        ids = crowd.place(provider, many)
        client = crowd.client
        client.send(client.command("widget.reload", kind=FORECAST), client.command("clock.advance", by=HOUR))
        provider.call("timeline")
        crowd.services.restart()
        deadline = Deadline()
        while len(asked := crowd.asked_for()) < many:
            assert not deadline.passed, f"{len(asked)} of {many}"
        assert asked == set(ids)
    finally:
        crowd.services.kill()

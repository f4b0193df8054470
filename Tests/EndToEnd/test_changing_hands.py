"""Ids that go from one app to another within one message: a start after a kill gives each to the app that had it last."""

import pytest

from killing.mix import IDS, kinds
from support.bulk import Bulk
from support.durable import Durable
from support.provider import RawProvider

PLACED = {"control": {"kind": "Torch"}, "widget": {"kind": "Forecast", "family": "systemSmall"}}


@pytest.fixture
def durable(wire, tmp_path):
    made = Durable(wire, tmp_path / "data").start()
    yield made
    made.kill()


@pytest.fixture
def owners(durable):
    """Which app has each id, as the service's own snapshots say."""
    def look():
        found = {}
        for app in ("com.a", "com.b"):
            bulk = Bulk(durable.wire, durable.service.bulk, app)
            for topic, _ in bulk.snapshot().rows:
                found.setdefault(topic.rsplit("/", 1)[1], []).append(topic.split("/")[:2])
        return found
    return look


def change(durable, family, app, verb, id):
    fields = PLACED[family] if verb == "add" else {}
    return durable.client.command(f"{family}.{verb}", app=app, id=id, **fields)


@pytest.mark.parametrize("returns", [False, True])
@pytest.mark.parametrize("first, last", [("com.a", "com.b"), ("com.b", "com.a")])
@pytest.mark.parametrize("family", PLACED)
def test_an_id_that_changed_hands_within_a_batch_is_where_it_was_last(durable, owners, family, first, last, returns):
    """The journal has the batch app by app, that of its first event first, whose lives of the ids are the last ones."""
    for app in (first, last):
        controls, widgets = kinds(relevance=False)
        RawProvider(durable.wire, durable.service.commands, *controls, widgets=widgets, app=app)
    lives = [("add", first), ("remove", first), ("add", last)]
    if returns:
        durable.client.batch(*(change(durable, family, last, "add", id) for id in IDS))
        lives = [("remove", last), *lives]
    begin = durable.client.command("activity.start", app=last, type="Delivery", attributes={}, contentState={})
    answers = durable.client.batch(
        begin, *(change(durable, family, app, verb, id) for id in IDS for verb, app in lives))
    assert all(answer["ok"] for answer in answers), answers
    before = owners()
    durable.restart()
    assert owners() == before
    assert all(before[id] == [[last, family]] for id in IDS), before

"""A reload of very many controls takes several turns of the service: what was answered is kept all the same."""

import json

import pytest

from support.durable import Durable
from support.provider import TORCH, RawProvider, toggle
from support.wire import Deadline

MANY = 3_000
"""Several times what one turn reloads."""
BATCH = 200


@pytest.fixture
def house(wire, tmp_path):
    made = Durable(wire, tmp_path / "data").start()
    yield made
    made.kill()


def revisions(house):
    """Of all controls that nobody is asked about, by id."""
    rows = [json.loads(body)["control"] for _, body in house.bulk().snapshot().rows]
    return {row["id"]: row["revision"] for row in rows if row["state"] == "preview"}


def until_quiet(house, before):
    """Waits until each control is one step and its failure further than before; gives their revisions."""
    deadline = Deadline()
    while True:
        now = revisions(house)
        if len(now) == MANY and all(now[id] > revision for id, revision in before.items()):
            return now
        assert not deadline.passed, f"{sum(now.get(id, 0) > before[id] for id in before)} of {len(before)}"


@pytest.mark.parametrize("how", ["kill", "stop"])
@pytest.mark.parametrize("whose", ["kind", "app"])
def test_a_reload_of_many_that_was_answered_reaches_each_of_them_whatever_happens(wire, house, how, whose):
    RawProvider(wire, house.service.commands, toggle(), app=house.app).leave()
    client = house.client
    for _ in range(MANY // BATCH):
        client.batch(*(client.command("control.add", kind=TORCH) for _ in range(BATCH)))
    before = until_quiet(house, {})
    answer = client.applied("control.reload", **({"kind": TORCH} if whose == "kind" else {}))
    getattr(house, how)()
    assert answer["count"] == MANY
    house.start()
    after = until_quiet(house, before)
    house.restart()
    assert revisions(house) == after

"""`history` and `explain` among other commands of their message: they show what was so at their place, from memory and
from files alike."""

import pytest

from support.dates import HOUR
from support.durable import Durable

ID = "0198c0de-0000-7000-8000-000000000007"


@pytest.fixture
def asked(wire, tmp_path):
    """Makes the answers to one message about an activity with six events, whose past stands in files or in memory."""
    made = []

    def ask(place, *commands):
        durable = Durable(wire, tmp_path / place).start()
        made.append(durable)
        client = durable.client
        client.start(id=ID, req="begin", key="k")
        for n in range(5):
            client.applied("activity.update", id=ID, contentState={"n": n}, req=f"u{n}")
        if place == "files":
            durable.restart()
        client = durable.client
        return client.batch(*(
            client.command(op, req=f"b{n}", **({} if op == "clock.advance" else {"id": ID}), **fields)
            for n, (op, fields) in enumerate(commands)))

    yield ask
    for durable in made:
        durable.service.kill()


def comparable(answer):
    """Without the epoch, and without the deadlines that the first event after a start tells again."""
    def event(told):
        entity = {name: told["activity"][name] for name in told["activity"] if name not in ("next", "expiresAt")}
        return {**told, "epoch": None, "activity": entity}

    return {**answer, "events": [event(told) for told in answer.get("events", [])]}


LATER = (("activity.update", {"contentState": {"n": "later"}}), ("activity.end", {"dismissalPolicy": "immediate"}))


@pytest.mark.parametrize("place", ["memory", "files"])
def test_a_history_ends_at_its_place_in_its_message(asked, place):
    history, *changes = asked(place, ("activity.history", {}), *LATER)
    assert [change["activity"]["revision"] for change in changes] == [7, 9]
    assert [event["activity"]["revision"] for event in history["events"]] == [1, 2, 3, 4, 5, 6]
    assert history["activity"]["revision"] == 6 and history["activity"]["state"] == "active"
    assert history["complete"] is True


def test_memory_and_files_tell_the_same_past(asked):
    message = (("activity.history", {}), ("activity.explain", {}), LATER[0], ("activity.history", {}),
               ("activity.explain", {}), LATER[1], ("activity.history", {}), ("activity.explain", {}))
    memory, files = asked("memory", *message), asked("files", *message)
    for told, read in zip(memory, files, strict=True):
        assert comparable(read) == comparable(told)
    assert [len(answer["events"]) for answer in files if "events" in answer] == [6, 7, 9]
    assert [len(answer["decisions"]) for answer in files if "decisions" in answer] == [6, 7, 9]
    assert [answer["activity"]["state"] for answer in files if "decisions" in answer] == [
        "active", "active", "dismissed"]


@pytest.mark.parametrize("place", ["memory", "files"])
def test_what_is_forgotten_later_in_its_message_has_its_past_still(asked, place):
    """The clock moves on to when nothing is known of it any more."""
    history, _, _ = asked(place, ("activity.history", {}), LATER[1], ("clock.advance", {"by": 25 * HOUR}))
    assert history["ok"], history
    assert [event["seq"] for event in history["events"]] == [1, 2, 3, 4, 5, 6]

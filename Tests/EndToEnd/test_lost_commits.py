"""What `--sync normal` allows: the last commits go with the machine, the snapshot that shows them may stay. No kill while that
is being settled makes the folder one that is refused."""

import os
import sqlite3
import time

import pytest

from support.commands import Commands
from support.durable import Durable
from support.service import run
from support.wire import DEADLINE, Deadline


@pytest.fixture
def durable(wire, tmp_path):
    made = Durable(wire, tmp_path / "data", options={"--sync": "normal"}).start()
    yield made
    made.kill()


def journal(durable):
    return durable.client.read("service.info")["info"]["journal"]


def epoch(durable):
    return journal(durable)["epoch"]


def rows(durable, query, *values):
    """What the state's file has."""
    state = sqlite3.connect(f"file:{durable.data / 'state.db'}?mode=ro", uri=True)
    try:
        return state.execute(query, values).fetchall()
    finally:
        state.close()


def meta(durable, key):
    return rows(durable, "SELECT value FROM meta WHERE key = ?", key)[0][0]


def swept(durable):
    """Waits until the snapshot on the disk holds every batch."""
    deadline = Deadline(DEADLINE)
    while int(meta(durable, "holds_through")) < journal(durable)["committed"]:
        assert not deadline.passed, journal(durable)
        time.sleep(0.02)


def lose(durable, size, facts):
    """Kills it. Then the machine is another one that has nothing of the log behind `size`, and the snapshot has these
    facts: those of a round come before its activities, which may be many batches younger.
    """
    durable.kill()
    os.truncate(durable.data / "journal-000001.db-wal", size)
    with sqlite3.connect(durable.data / "state.db") as state:
        state.execute("UPDATE meta SET value = 'another run' WHERE key = 'boot_id'")
        # What another run wrote would have its own sum; a value without one is taken as it is.
        state.execute("DELETE FROM meta WHERE key = 'sum:boot_id'")
        state.executemany("INSERT OR REPLACE INTO fact VALUES (?, ?, ?)", facts)
    state.close()


def test_a_snapshot_that_is_ahead_of_its_journal_is_taken_up_again_after_every_kill(durable):
    others = Commands(durable.wire, durable.service.commands, "com.example.bakery")
    first, other = durable.client.start(key="first"), others.start(key="other")
    swept(durable)
    facts = rows(durable, "SELECT key, value, sum FROM fact")
    size = (durable.data / "journal-000001.db-wal").stat().st_size
    before = epoch(durable)
    # Nothing of this is in the log that is left; the second app has no event after it either.
    durable.client.applied("activity.update", id=first["id"], contentState={"eta": 1})
    second = durable.client.start(key="second")
    others.applied("activity.update", id=other["id"], contentState={"eta": 2})
    swept(durable)
    lose(durable, size, facts)

    done = run("journal", "verify", "--data", durable.data)
    assert done.returncode == 0, done.stdout
    assert "sync=normal" in done.stdout and "in a new epoch" in done.stdout
    new = epoch(durable.start())
    assert new != before
    for _ in range(3):
        # However far the snapshot came.
        assert epoch(durable.restart()) == new
    assert durable.client.get(first["id"])["contentState"] == {"eta": 1}
    assert durable.client.get(second["id"])["key"] == "second"
    durable.client.applied("activity.update", id=second["id"], contentState={"eta": 3})
    assert epoch(durable.restart()) == new
    # A stop writes the snapshot to its end: from then on everything must agree again.
    durable.stop().start()
    assert epoch(durable) == new
    assert Commands(durable.wire, durable.service.commands, "com.example.bakery").get(other["id"])["contentState"] == {"eta": 2}
    durable.stop()
    done = run("journal", "verify", "--data", durable.data)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert int(meta(durable, "ahead")) == 0

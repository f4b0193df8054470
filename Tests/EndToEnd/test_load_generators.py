"""The load generators of `scripts/bench` against the real service: a fault that is planted ends them, or is repaired."""

import json
import subprocess
import time

import pytest

from support.lossy import LossyRelay
from support.service import ROOT
from support.wire import DEADLINE

LOAD = ROOT / ".build" / "load"
UPDATES = 2000


@pytest.fixture(scope="session", autouse=True)
def built():
    subprocess.run(["bash", "-c", ". scripts/lib.sh && build_load"], cwd=ROOT, check=True, capture_output=True)


@pytest.fixture
def generate(system_service):
    """Runs a load generator; gives the finished process."""

    def run(program, events=system_service.events, **options):
        words = [LOAD / program, "--commands", system_service.commands, "--events", events]
        for name, value in options.items():
            words += [f"--{name}"] if value is True else [f"--{name}", value]
        return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=DEADLINE)

    return run


@pytest.fixture
def lossy(system_service):
    """Makes a relay of the service's events that loses one."""
    made = []

    def make(lose):
        made.append(LossyRelay(system_service.events, [lose]))
        return made[-1].url

    yield make
    for relay in made:
        relay.close()


def measured(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("shape", [{}, {"batch": 64, "window": 4, "stale": True}, {"subscribers": 3}], ids=str)
def test_updates_as_fast_as_they_come_back(generate, lossy, shape):
    assert measured(generate("load", start=True, activities=100))["started"] == 100
    found = measured(generate("load", activities=100, updates=UPDATES, **shape))
    assert found["updates"] == UPDATES and found["publishedPerSecond"] > 0
    failed = generate("load", events=lossy(UPDATES + 1000), activities=100, updates=UPDATES, **shape)
    assert failed.returncode == 1 and f"a gap in the stream: {UPDATES + 1001} after {UPDATES + 999}" in failed.stderr


def test_updates_at_a_rate(generate, lossy):
    measured(generate("load", start=True, activities=100))
    shape = {"rate": 2000, "seconds": 1, "warmup": 1, "activities": 100, "deadlines": 50, "connections": 2}
    found = measured(generate("open", **shape))
    assert found["measured"] == found["event"]["count"] == 2000 and found["deadline"]["count"] == 50
    failed = generate("open", events=lossy(6000), **shape)
    assert failed.returncode == 1 and "a gap in the stream before seq: 6001" in failed.stderr


def test_what_a_storm_loses_is_replayed(generate, lossy, system_service):
    """500 starts and one more, 500 ends: the events of the dismissals begin at 1002."""
    measured(generate("load", start=True, activities=501))
    date = int(time.time() * 1000) + 2500
    measured(generate("load", end=date, activities=500))
    found = measured(generate("storm", events=lossy(1500), bulk=system_service.bulk, activities=500, date=date))
    assert (found["dismissed"], found["gaps"], found["replayed"]) == (500, 1, 1)
    assert found["event"]["count"] == 499 and found["seconds"] > 0 and found["answer"]["count"] > 0

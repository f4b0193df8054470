"""The load tests of `scripts/load` against the real service: they pass where all is well, and find what is planted."""

import json
import re
import subprocess
import sys

import pytest

from support.bulk import Bulk
from support.lossy import LossyRelay
from support.service import ROOT
from support.wire import DEADLINE

PLAY = ROOT / "scripts" / "load" / "play.py"
SCENARIOS = ROOT / "scripts" / "load" / "scenarios"


@pytest.fixture(params=["c", "python"])
def play(request, system_service):
    """Plays a scenario for a second at a fraction of its size; gives the finished process."""

    def run(name, events=system_service.events):
        words = [PLAY, SCENARIOS / f"{name}.yaml", "--with", request.param, "--seconds", 1, "--scale", 0.05, "--patience", 3,
                 "--json", "--commands", system_service.commands, "--events", events]
        return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, timeout=DEADLINE)

    return run


def measured(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", sorted(path.stem for path in SCENARIOS.glob("*.yaml")))
def test_a_scenario_passes_with_the_digest_that_the_service_has(play, name, wire, system_service):
    found = measured(play(name))
    assert found["answer"]["count"] == found["operations"] > 0
    assert found["events"] >= found["operations"]
    assert found["read"] >= min(found["activities"], 1000)
    held = Bulk(wire, system_service.bulk, found["app"]).digest()
    assert (held["seq"], held["entities"], held["digest"]) == (found["events"], found["activities"], found["digest"])
    assert (found.get("taps", {}).get("taps", 0) > 0) == (name == "home")


@pytest.fixture
def relayed(system_service):
    """Makes relays of the service's events that have a fault."""
    made = []

    def make(kind=LossyRelay, lose=()):
        made.append(kind(system_service.events, lose))
        return made[-1].url

    yield make
    for relay in made:
        relay.close()


def failed(done, because):
    assert done.returncode == 1 and done.stdout == "", done.stdout
    assert re.search(because, done.stderr), done.stderr


def test_one_lost_event_fails_it(play, relayed):
    failed(play("rush", relayed(lose=[150])), "a gap in the stream: 151 after 149")


def test_a_lost_last_event_fails_it(play, relayed):
    """No gap shows it: nothing comes after it but the watermark."""
    last = measured(play("rush"))["events"]
    failed(play("rush", relayed(lose=[last])), "never came|nothing moves")


class Forged(LossyRelay):
    """Loses nothing, but changes each digest."""

    def _loses(self, message):
        topic, body = message
        if topic.endswith(b"/~"):
            message[1] = re.sub(rb'("digest":")(.)', lambda found: found[1] + (b"1" if found[2] == b"0" else b"0"), body)
        return False


def test_a_wrong_digest_fails_it(play, relayed):
    failed(play("rush", relayed(Forged)), "digest")


class Skipping(LossyRelay):
    """Loses nothing, but gives one event another revision."""

    def _loses(self, message):
        topic, body = message
        if not topic.startswith(b"\xff") and not topic.endswith(b"/~") and json.loads(body)["seq"] == 150:
            message[1] = body.replace(b'"revision":', b'"revision":9')
        return False


def test_a_wrong_revision_fails_it(play, relayed):
    failed(play("rush", relayed(Skipping)), "revision")

"""The service against an independent model of the contract, played by Hypothesis over the wire.

After each command are compared: the answer, the events (order, numbers, dates, lateness, causes, the very bytes of
payloads), the replica that the merge patches make, digests, totals and rows of lists. A failure prints the shortest
sequence that shows it, and the blob that plays it again.

Bounded here; the long run is `ISLET_MODEL=campaign`, with `ISLET_MODEL_EXAMPLES` and `ISLET_MODEL_SEED`.
"""

import os
import random

import hypothesis
import pytest
from hypothesis.stateful import run_state_machine_as_test

from model import activity, retries, rules, service
from model.harness import Harness
from model.machine import ServiceMachine

CAMPAIGN = os.environ.get("ISLET_MODEL") == "campaign"
EXAMPLES = int(os.environ.get("ISLET_MODEL_EXAMPLES", "3000" if CAMPAIGN else "100"))
SEED = int(os.environ.get("ISLET_MODEL_SEED", random.SystemRandom().randrange(1 << 32)))

SETTINGS = hypothesis.settings(
    max_examples=EXAMPLES, stateful_step_count=40, deadline=None, derandomize=False, print_blob=True, database=None,
    suppress_health_check=list(hypothesis.HealthCheck))


@pytest.fixture
def play():
    """Plays many examples against one service."""
    made = []

    def run(store, settings=SETTINGS, seed=SEED):
        harness = Harness(store)
        made.append(harness)
        print(f"ISLET_MODEL_SEED={seed}")
        machine = type("Machine", (ServiceMachine,), {"harness": harness})
        run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=settings)
        print(f"{harness.played} commands in {next(harness.numbers) - 1} examples")

    yield run
    for harness in made:
        harness.close()


@pytest.mark.timeout(0 if CAMPAIGN else 600)
def test_the_service_does_what_the_contract_says(play):
    play("memory")


@pytest.mark.timeout(0 if CAMPAIGN else 600)
def test_it_does_so_over_restarts_and_kills(play):
    """The same on the durable store, with restarts, kills and commands that are on their way at a kill."""
    play("sqlite", hypothesis.settings(SETTINGS, max_examples=max(10, EXAMPLES // 5)))


WRONG = {
    "a deadline takes effect a millisecond late": lambda patch: patch.setattr(
        activity.Activity, "deadline", property(later(activity.Activity.deadline.fget))),
    "one byte more is allowed": lambda patch: patch.setattr(rules, "CONTENT_LIMIT", 4097),
    "ended ones keep their key": lambda patch: patch.setattr(rules, "OPEN", {"pending", "active", "stale", "ended"}),
    "dismissed ones are listed": lambda patch: patch.setattr(service, "LISTED", activity.LISTED | {"dismissed"}),
    "answers are remembered for a minute": lambda patch: patch.setattr(retries, "REMEMBERED", activity.MINUTE),
    "an end waits for an hour": lambda patch: patch.setattr(rules, "DISMISSAL_LIMIT", activity.HOUR),
    "nothing is too old": lambda patch: patch.setattr(
        service.Model, "check_timestamp", lambda self, command, *_, **__: command.get("timestamp", self.now)),
}


def later(deadline):
    """The same deadline, a millisecond later."""
    return lambda self: (found := deadline(self)) and (found[0] + 1, found[1])


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_rule_in_the_model_is_found(play, monkeypatch, wrong):
    """The comparison is able to fail: a service that broke this rule would be found as fast."""
    WRONG[wrong](monkeypatch)
    settings = hypothesis.settings(
        SETTINGS, max_examples=500, phases=[hypothesis.Phase.generate], report_multiple_bugs=False, print_blob=False)
    with pytest.raises(AssertionError):
        play("memory", settings, seed=1)

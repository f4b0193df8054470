"""The restart campaign in short (the long one is scripts/restart_campaign.py), and proof that its checks can fail."""

import pytest

from killing.restarts import Counts, Restarts, random_seed

SEEDS = range(1, 17)
LIVES = 3


@pytest.mark.parametrize("seed", [*SEEDS, *(None for _ in range(4))])
def test_what_is_shown_after_a_kill_is_what_the_stream_says(tmp_path, seed):
    seed = random_seed() if seed is None else seed
    print(f"seed {seed}")
    counts = Restarts(tmp_path, seed, lives=LIVES).run()
    print(counts)
    assert counts.kills == LIVES and counts.rows_compared


def test_the_mix_reaches_what_the_campaign_is_about(tmp_path):
    """Several seeds together: ids change hands, calls are answered and not, kills meet commands on their way."""
    total = Counts()
    for seed in range(100, 103):
        total.add(Restarts(tmp_path / str(seed), seed, lives=LIVES).run())
    print(total)
    assert total.changed_hands and total.with_commands_in_flight and total.retried
    assert 0 < total.calls_answered < total.calls


def test_nothing_is_found_where_nothing_is_killed(tmp_path):
    counts = Restarts(tmp_path, random_seed(), lives=2, kill=False).run()
    assert not counts.kills and counts.rows_compared


# What the checks find


def test_a_store_that_forgets_is_found(tmp_path):
    with pytest.raises(AssertionError):
        Restarts(tmp_path, 1, options={"--store": "memory", "--data": None}).run()


class Tampered(Restarts):
    """A campaign that remembers something else than what it was told."""

    def __init__(self, *place, fault):
        super().__init__(*place)
        self.fault = fault

    def judge(self):
        self.fault(self)
        super().judge()


def another_event(campaign):
    app, events = next((app, events) for app, events in campaign.published.items() if events)
    events[next(iter(events))] = b"{}"


def an_event_beyond_the_end(campaign):
    app, events = next((app, events) for app, events in campaign.published.items() if events)
    events[max(events) + 1_000] = b"{}"


def another_row(campaign):
    entities = next(s.replica.entities for s in campaign.streams.values() if s.replica.entities)
    next(iter(entities.values()))["type"] = "other"


def other_answers(campaign):
    for known in campaign.answered.values():
        known.answer = {**known.answer, "seq": -1}


@pytest.mark.parametrize("fault", [another_event, an_event_beyond_the_end, another_row, other_answers])
def test_the_checks_find(tmp_path, fault):
    with pytest.raises(AssertionError):
        Tampered(tmp_path, 1, fault=fault).run()

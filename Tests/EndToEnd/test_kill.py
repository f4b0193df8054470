"""The kill campaign in short (the long one is scripts/kill_campaign.py), and proof that its checks can fail."""

import dataclasses
import json
import random

import pytest

from killing.campaign import Campaign, Plan
from killing.fold import LATE_LIMIT, Fold
from killing.load import Load
from killing.subscriber import replay
from killing.writer import Answered, Writer


@pytest.mark.timeout(300)
@pytest.mark.parametrize("sync", ["full", "normal"])
def test_nothing_acknowledged_is_lost_or_done_twice(tmp_path, sync):
    """A handful of kills under load, some of them while it starts."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    counts = Campaign(Plan(str(tmp_path), kills=6, seed=seed, between=(0.1, 0.5), sync=sync, early=0.3)).run()
    print(counts)
    assert counts["kills"] >= 6 and counts["commands retried"] and counts["deadlines due while down"]
    assert counts["of them with commands on their way"]
    judged = counts["of them found in the stream, once"] + counts["of them ignored, as they had to be"]
    assert judged == counts["commands acknowledged"], "each answer is looked for"


@pytest.mark.timeout(120)
def test_the_checks_hold_where_nothing_is_killed(tmp_path):
    """The campaign's load, retries and comparisons alone, on the memory store."""
    counts = Campaign(Plan(str(tmp_path), "memory", kills=4, seed=random.randrange(1 << 32), dry=True)).run()
    assert counts["commands acknowledged"] and counts["second answers compared"] and counts["joins"] > 1


@pytest.mark.timeout(120)
def test_the_campaign_finds_a_store_that_forgets(tmp_path):
    """One kill with the memory store, which keeps nothing."""
    with pytest.raises(AssertionError):
        Campaign(Plan(str(tmp_path), "memory", kills=3, seed=random.randrange(1 << 32), between=(0.5, 1))).run()


# What the checks find


@pytest.fixture
def stream(client, bulk):
    """A stream with commands of a known client and deadlines, as (topic, event), and the first answers."""
    load, answers, now = Load("w", client.app, seed=1), [], client.advance(by=0)
    for _ in range(300):
        number, frame = load.next(now)
        [answer] = client.raw(frame)
        short = answer["activity"]
        answers.append(Answered(
            client.app, load.client, f"w-{number}", answer["outcome"], answer["seq"], short["id"], short["revision"]))
        now = client.advance(by=load.random.randrange(40))
    client.advance(by=2000)
    return [(topic, event) for topic, event, _ in replay(bulk, client.app, 0)], answers


def judge(stream, answers, starts=()):
    fold = Fold(stream[0][0].split("/", 1)[0])
    for start in starts:
        fold.started(start)
    for topic, event in stream:
        fold.take(topic, event)
    for answer in answers:
        fold.answered(answer)
    assert not fold.done, "nobody was answered"
    return fold


def test_a_right_stream_passes(stream):
    rows, answers = stream
    fold = judge(rows, answers)
    assert fold.found + fold.ignored == len(answers) and fold.ignored
    assert fold.seq == len(rows) > 300 and not fold.missed(rows[-1][1]["at"])


def numbered(rows):
    """Dense numbers again, so that only what was broken shows."""
    return [(topic, {**event, "seq": number}) for number, (topic, event) in enumerate(rows, 1)]


def of_a_command(rows):
    return next(n for n, (_, event) in enumerate(rows) if n > 50 and event["event"] == "activity.updated")


def of_a_deadline(rows):
    return next(n for n, (_, e) in enumerate(rows) if n > 50 and e["event"] == "activity.stale" and "by" not in e)


def changed(rows, position, **fields):
    topic, event = rows[position]
    return rows[:position] + [(topic, {**event, **fields})] + rows[position + 1:]


def doubled(rows):
    """An update that was executed again: a later revision of the same command, with dense numbers and revisions."""
    position = of_a_command(rows)
    topic, event = rows[position]
    id, revision = event["activity"]["id"], event["activity"]["revision"]
    again = (topic, {**event, "from": event["to"], "activity": {**event["activity"], "revision": revision + 1}})
    rest = [
        (t, {**e, "activity": {**e["activity"], "revision": e["activity"]["revision"] + (e["activity"]["id"] == id)}})
        for t, e in rows[position + 1:]]
    return numbered(rows[:position + 1] + [again] + rest)


BROKEN = {
    "a lost event": lambda rows: rows[:of_a_command(rows)] + rows[of_a_command(rows) + 1:],
    "a lost event behind dense numbers": lambda rows: numbered(
        rows[:of_a_command(rows)] + rows[of_a_command(rows) + 1:]),
    "a lost end of the stream": lambda rows: rows[:-80],
    "a command executed twice": doubled,
    "an event that comes twice": lambda rows: rows[:60] + rows[59:],
    "another epoch": lambda rows: changed(rows, 60, epoch="other"),
    "a deadline that came early": lambda rows: changed(rows, of_a_deadline(rows), at=rows[0][1]["at"]),
    "a wrong lateness": lambda rows: changed(rows, of_a_deadline(rows), lateBy=1),
    "a change that nobody asked for": lambda rows: changed(
        rows, of_a_command(rows), by={**rows[of_a_command(rows)][1]["by"], "req": "w-999999"}),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_the_checks_find(stream, fault):
    rows, answers = stream
    with pytest.raises(AssertionError):
        judge(BROKEN[fault](json.loads(json.dumps(rows))), answers)


def test_the_checks_find_a_command_that_is_said_to_be_ignored(stream):
    """Nothing is in the stream of it, and what it was to change goes on."""
    rows, answers = stream
    shown = next(event["activity"] for _, event in rows if event["event"] == "activity.started")
    last = answers[-1]
    ignored = dataclasses.replace(
        last, req="w-999999", outcome="ignored", id=shown["id"], revision=shown["revision"])
    with pytest.raises(AssertionError, match="without a reason"):
        judge(rows, answers + [ignored])


def test_commands_that_were_executed_before_a_kill_are_counted(stream):
    rows, answers = stream
    end = rows[-1][1]["at"] + 1
    applied = next(n for n, answer in enumerate(answers) if answer.outcome == "applied")
    assert judge(rows, answers).unheard == 0
    resent = answers[:applied] + [dataclasses.replace(answers[applied], resent=end)] + answers[applied + 1:]
    assert judge(rows, resent).unheard == 1
    # It was sent again before it was executed, which the second time did.
    at = next(event["at"] for _, event in rows if event["seq"] == answers[applied].seq)
    resent[applied] = dataclasses.replace(answers[applied], resent=at)
    assert judge(rows, resent).unheard == 0


@pytest.fixture
def two_deadlines(client, bulk):
    """Two starts, and their stale dates, as (topic, event)."""
    now = client.advance(by=0)
    for span in (100, 200):
        client.start(staleDate=now + span)
    client.advance(by=1000)
    rows = [(topic, event) for topic, event, _ in replay(bulk, client.app, 0)]
    for _, event in rows[:2]:
        del event["by"]  # nobody waits for an answer
    return rows


def test_the_checks_find_a_deadline_that_never_came(two_deadlines):
    end = two_deadlines[-1][1]["at"]
    assert not judge(two_deadlines, []).missed(end)
    assert judge(two_deadlines[:-1], []).missed(end + 1)


def later(rows, position, by):
    topic, event = rows[position]
    return rows[:position] + [(topic, {**event, "at": event["at"] + by, "lateBy": event.get("lateBy", 0) + by})]


def test_the_checks_find_a_deadline_that_came_too_late(two_deadlines):
    """Its lateness is told and right, and it is ten minutes."""
    last = len(two_deadlines) - 1
    assert judge(later(two_deadlines, last, LATE_LIMIT), []).latest == LATE_LIMIT
    late = later(two_deadlines, last, 600_000)
    with pytest.raises(AssertionError, match="too late"):
        judge(late, [])
    # Nobody can be blamed for what was due while nothing ran.
    assert judge(late, [], [late[-1][1]["at"] - 1000]).late == 1
    with pytest.raises(AssertionError, match="too late"):
        judge(late, [], [late[-1][1]["at"] - LATE_LIMIT - 1])


def test_the_checks_find_missed_deadlines_in_another_order(two_deadlines):
    """As after a start: both are late, and the later one comes first."""
    start = two_deadlines[-1][1]["at"] + 800
    begun, late = two_deadlines[:2], [
        (topic, {**event, "at": start, "lateBy": start - event["at"]}) for topic, event in two_deadlines[2:]]
    assert judge(begun + late, [], [start]).late == 2
    with pytest.raises(AssertionError, match="after one due"):
        judge(numbered(begun + late[::-1]), [], [start])


def test_a_retry_that_is_answered_otherwise_is_found():
    writer = Writer(Load("w", "app", seed=1), "tcp://127.0.0.1:1", window=1, rate=1)
    body = b'{"req":"w-1","ok":true,"outcome":"applied","seq":1,"activity":{"id":"x","revision":1}}'
    writer.waiting["w-1"] = b"{}"
    writer.take(body)
    writer.take(body)
    with pytest.raises(AssertionError, match="otherwise"):
        writer.take(body.replace(b'"seq":1', b'"seq":2'))

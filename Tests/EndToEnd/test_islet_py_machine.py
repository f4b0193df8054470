"""The machine of `islet.Replica` in virtual time: whatever happens to any one message, the copy is right soon after."""

import json
import os
import random

import pytest

import islet
from support.digest import digest
from support.played_stream import APP, FAULTS, PREFIX, WORK, Play, Rush

SEEDS = [int(os.environ["ISLET_TEST_SEED"])] if "ISLET_TEST_SEED" in os.environ else range(12)


@pytest.mark.parametrize("prefix", [None, PREFIX], ids=["whole", "filtered"])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_fault_at_any_one_message_leaves_the_copy_wrong(seed, prefix):
    """Each of them lost, doubled, or overtaken for a while or for long, each question answered by `busy`."""
    plain = Play(seed, prefix)
    assert plain.run() is None
    points = [(kind, number) for number, line in enumerate(plain.messages) if float(line.split()[0]) < WORK + 2
              for kind in FAULTS if kind != "busy" or number in plain.questions]
    assert len(points) > 50 and plain.questions
    for fault in points:
        play = Play(seed, prefix, fault)
        try:
            flaw = play.run()
        except AssertionError as failure:
            flaw = failure
        assert flaw is None, f"seed {seed}, {play.what}, {fault} at {play.messages[fault[1]]!r}: {flaw}"


@pytest.mark.parametrize("prefix", [None, PREFIX], ids=["whole", "filtered"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_copy_is_there_while_more_goes_on_than_may_wait(monkeypatch, seed, prefix):
    """During its snapshot several times as many events come as may wait for its end, and they never cease before it."""
    monkeypatch.setattr(islet._Machine, "WAITING", 16)
    play = Rush(seed, prefix)
    assert play.run() is None
    assert play.synced_at is not None and play.synced_at < WORK / 2


# One question at a time: what each is followed by


class Machine:
    """A machine by hand, at a time that the test moves."""

    def __init__(self, prefix=None, epoch="e1", seq=0, owned=False):
        self.now = 0.0
        self.core = islet._Machine(APP, prefix, self.now, random.Random(7), owned=owned)
        self.asked = []
        self.turn()
        if not owned:
            self.join(epoch, seq)

    def turn(self, seconds=0.0):
        """Lets time pass, step by step, and keeps what is asked."""
        end = self.now + seconds
        while True:
            self.now = min(end, max(self.now, self.core.due()))
            self.core.tick(self.now)
            self.asked += self.core.todo
            self.core.todo.clear()
            if self.core.due() > end:
                self.now = end
                return self

    def subscribed(self, topic, **body):
        self.core.subscribed([topic, json.dumps(body).encode()], self.now)
        return self.turn()

    def join(self, epoch, seq, begin=None):
        """`begin`: the epoch of streams that begin now, where the app has no events."""
        apps = {} if epoch is None else {APP: {"epoch": epoch, "seq": seq}}
        named = {} if (begin or epoch) is None else {"epoch": begin or epoch}
        return self.subscribed(self.core._nonce, at=0, apps=apps, **named)

    def owner(self, epoch):
        """Answers the last question for it, if there is one: the service that takes the commands names this epoch."""
        questions = [about for what, about in self.asked if what == "owner"]
        self.asked = [each for each in self.asked if each[0] != "owner"]
        if questions and questions[-1]:
            info = {} if epoch is None else {"epoch": epoch}
            answer = {"req": questions[-1]["req"], "ok": True, "info": info}
            self.core.informed([json.dumps(answer).encode()], self.now)
            self.turn()
        return self

    def event(self, seq, revision, epoch="e1", type="Ride"):
        start = {} if revision == 1 else {"from": "active"}
        return self.subscribed(f"{APP}/activity/{type}/x".encode(), epoch=epoch, seq=seq, event="activity.updated",
                               to="active", activity={"revision": revision, "state": "active"}, **start)

    def mark(self, seq, epoch="e1", entities=0, digest="0" * 16):
        return self.subscribed(f"{APP}/~".encode(), epoch=epoch, seq=seq, entities=entities, digest=digest)

    def questions(self, op):
        """What was asked so far, and not looked at yet."""
        found = [about for what, about in self.asked if what == "send" and about["op"] == op]
        self.asked = [each for each in self.asked if each[0] != "send" or each[1]["op"] != op]
        return found

    def answer(self, question, *rows, **header):
        frames = [json.dumps({"req": question["req"], **header}).encode()]
        for topic, row in rows:
            frames += [topic.encode(), row if isinstance(row, bytes) else json.dumps(row).encode()]
        self.core.pulled(frames, self.now)
        return self.turn()

    def snapshot(self, seq=0, epoch="e1", **revisions):
        """Answers the snapshot that is asked for: entities by name, with their revisions."""
        [question] = self.questions("bulk.snapshot")
        rows = [(f"{APP}/activity/Ride/{name}", {"activity": {"revision": revision, "state": "active"}})
                for name, revision in revisions.items()]
        listed = digest({topic: row["activity"]["revision"] for topic, row in rows})
        return self.answer(question, *rows, chunk=0, rows=len(rows), fromSeq=seq, end=True, epoch=epoch, seq=seq,
                           entities=len(rows), digest=listed)

    def told(self):
        told = [change if isinstance(change, islet.IsletError) else change.reason or change.event["seq"]
                for change in self.core.out]
        self.core.out.clear()
        return told


def test_an_answer_to_a_join_that_is_behind_a_replay_is_no_new_history():
    machine = Machine().snapshot()
    machine.core._join()
    machine.turn().mark(2)
    [replay] = machine.questions("bulk.replay")
    rows = [(f"{APP}/activity/Ride/x", {"epoch": "e1", "seq": seq, "event": "activity.updated", "to": "active", **start,
                                        "activity": {"revision": seq, "state": "active"}})
            for seq, start in ((1, {}), (2, {"from": "active"}))]
    machine.answer(replay, *rows, chunk=0, rows=2, end=True, epoch="e1", seq=2, entities=1, digest="?")
    machine.join("e1", 1)
    assert (machine.core.state, machine.core.seq, machine.told()) == ("following", 2, ["joined", 1, 2])
    assert machine.questions("bulk.snapshot") == []


def test_an_app_without_events_is_joined_again_without_a_word():
    """Its snapshot names an epoch and the answers to joins do not; a quiet reader joins again every 45 seconds."""
    machine = Machine(epoch=None).snapshot()
    for _ in range(3):
        machine.core._join()
        machine.turn(1.0).join(None, 0)
        assert machine.core.state == "following" and machine.questions("bulk.snapshot") == []
    assert machine.told() == ["joined"]


def test_a_prefix_of_an_app_without_events_goes_on_in_a_new_history_and_asks_no_more_than_before():
    """So it is where a service in memory is started anew: digests name its epoch, and answers to joins do beside the apps."""
    machine = Machine(PREFIX, epoch=None).snapshot()
    machine.core.disconnected(machine.now)
    machine.turn()
    nonces, digests = set(), 0
    for _ in range(40):
        if not machine.core._answered:
            nonces.add(machine.core._nonce)
            machine.join(None, 0, "e2")
        machine.turn(1.0)
        for question in machine.questions("bulk.digest"):
            digests += 1
            machine.answer(question, ok=True, epoch="e2", seq=0, entities=0, digest="0" * 16)
    assert (len(nonces), digests, machine.core.state) == (1, 1, "following")
    assert machine.event(1, 1, epoch="e2").told() == ["joined", 1]
    assert machine.questions("bulk.snapshot") == []


def test_an_answer_from_before_the_first_event_is_no_new_history_and_one_from_after_it_is():
    machine = Machine(epoch=None).snapshot()
    machine.core._join()
    machine.turn().event(1, 1).join(None, 0)
    assert machine.core.state == "following" and machine.questions("bulk.snapshot") == []
    machine.turn(1.0).join(None, 0)
    machine.snapshot(epoch="e2")
    assert machine.told() == ["joined", 1, "epochChanged"] and dict(machine.core.table.entities) == {}


def test_a_snapshot_that_is_interrupted_by_an_older_epoch_is_taken_all_the_same():
    machine = Machine().snapshot(1, x=1)
    machine.mark(5, epoch="e2").turn(1.0).join("e2", 5)
    assert len(machine.questions("bulk.snapshot")) == 1
    machine.mark(1, epoch="e1").turn(1.0).join("e2", 5)
    machine.snapshot(5, "e2", y=1)
    assert list(machine.core.table.entities) == [f"{APP}/activity/Ride/y"]
    assert machine.told() == ["joined", "epochChanged"]


@pytest.mark.parametrize("reply", ["lost", "busy", "later", "odd", "cut"])
def test_a_digest_without_an_answer_is_asked_for_again(reply):
    machine = Machine(PREFIX).snapshot(1, x=1).turn(2.0)
    machine.event(2, 2)
    machine.turn(machine.core.CHECK)
    question = machine.questions("bulk.digest")[-1]
    if reply in ("busy", "later"):
        error = {"code": reply, "message": "", "retry": "later", "retryAfter": 100}
        machine.answer(question, ok=False, error=error)
    elif reply == "odd":
        machine.answer(question, ok=True, seq="x")
    elif reply == "cut":
        machine.core.distrust(machine.now)
        machine.turn().join("e1", 2)
        machine.snapshot(2, x=2).event(3, 3)
    machine.turn(machine.core.DIGEST_LIMIT + 1.0)
    again = machine.questions("bulk.digest")
    assert again and again[0]["req"] != question["req"]
    # The answer to the first one, late: of no use any more.
    machine.answer(question, ok=True, epoch="e1", seq=2, entities=9, digest="?")
    assert machine.core.state == "following"
    machine.answer(again[-1], ok=True, epoch="e1", seq=machine.core.seq, entities=9, digest="?")
    assert machine.core.state == "snapshotting"


@pytest.mark.parametrize("is_right", [True, False])
def test_a_digest_that_events_have_overtaken_is_compared_with_what_held_then(is_right):
    machine = Machine(PREFIX).snapshot(1, x=1).event(2, 2)
    machine.turn(machine.core.CHECK)
    question = machine.questions("bulk.digest")[-1]
    machine.event(4, 3).event(6, 4)
    listed = digest({f"{APP}/activity/Ride/x": 3 if is_right else 2})
    machine.answer(question, ok=True, epoch="e1", seq=5, entities=1, digest=listed)
    assert machine.core.state == ("following" if is_right else "snapshotting")


def test_a_prefix_takes_nothing_in_between_a_lost_connection_and_the_answer_to_a_join():
    """Neither an event nor a watermark moves it past what it missed; the replay begins where it stood."""
    machine = Machine(PREFIX).snapshot(1, x=1).turn(2.0)
    late = machine.core._nonce
    machine.core.disconnected(machine.now)
    machine.turn()
    # An answer that was on its way before the loss speaks of no other connection.
    machine.subscribed(late, at=0, apps={APP: {"epoch": "e1", "seq": 1}})
    machine.event(5, 4).mark(6)
    assert (machine.core.state, machine.core.seq) == ("joining", 1)
    machine.join("e1", 6)
    [replay] = machine.questions("bulk.replay")
    assert replay["from"] == 1 and machine.core.state == "repairing"
    rows = [(f"{APP}/activity/Ride/x", {"epoch": "e1", "seq": seq, "event": "activity.updated", "from": "active",
                                        "to": "active", "activity": {"revision": seq - 1, "state": "active"}})
            for seq in (3, 4, 5)]
    rows.insert(0, (f"{APP}/group/g/k", {"epoch": "e1", "seq": 2, "event": "group.set", "group": {"revision": 1}}))
    rows.append((f"{APP}/group/g/k", {"epoch": "e1", "seq": 6, "event": "group.set", "group": {"revision": 2}}))
    machine.answer(replay, *rows, chunk=0, rows=5, end=True, epoch="e1", seq=6)
    assert (machine.core.state, machine.core.seq, machine.told()) == ("following", 6, ["joined", 3, 4, 5])


def test_a_whole_app_is_not_up_to_date_between_a_lost_connection_and_the_answer_to_a_join():
    """Numbers show what it missed: events are taken in meanwhile, as long as they follow."""
    machine = Machine().snapshot(1, x=1)
    late = machine.core._nonce
    machine.core.disconnected(machine.now)
    machine.turn().subscribed(late, at=0, apps={APP: {"epoch": "e1", "seq": 1}})
    assert machine.event(2, 2).core.lost
    machine.join("e1", 2)
    assert (machine.core.lost, machine.core.state, machine.told()) == (False, "following", ["joined", 2])
    assert machine.questions("bulk.replay") == []
    # A connection whose loss nobody told of.
    assert machine.join("e1", 3).core.lost
    machine.turn(0.1).join("e1", 3)
    assert not machine.core.lost and [each["from"] for each in machine.questions("bulk.replay")] == [2]


@pytest.mark.parametrize("pull", ["snapshot", "replay"])
def test_a_prefix_that_loses_its_connection_in_a_pull_waits_for_the_join_as_well(pull):
    machine = Machine(PREFIX)
    if pull == "replay":
        machine.snapshot(1, x=1).core.disconnected(machine.now)
        machine.turn().join("e1", 2)
        [replay] = machine.questions("bulk.replay")
    machine.core.disconnected(machine.now)
    machine.turn()
    if pull == "replay":
        event = {"epoch": "e1", "seq": 2, "event": "group.notified"}
        machine.answer(replay, (f"{APP}/group/g", event), chunk=0, rows=1, end=True, epoch="e1", seq=2)
    else:
        machine.snapshot(2, x=1)
    machine.mark(9)
    assert (machine.core.state, machine.core.seq) == ("joining", 2)
    machine.join("e1", 9)
    assert [replay["from"] for replay in machine.questions("bulk.replay")] == [2]


def test_a_prefix_for_which_too_much_waits_replays_it(monkeypatch):
    monkeypatch.setattr(islet._Machine, "WAITING", 4)
    machine = Machine(PREFIX).snapshot(1, x=1)
    machine.core.disconnected(machine.now)
    machine.turn().join("e1", 2)
    [replay] = machine.questions("bulk.replay")
    for seq in range(3, 8):
        machine.event(seq, seq)
    event = {"epoch": "e1", "seq": 2, "event": "activity.updated", "from": "active", "to": "active",
             "activity": {"revision": 2, "state": "active"}}
    machine.answer(replay, (f"{APP}/activity/Ride/x", event), chunk=0, rows=1, end=True, epoch="e1", seq=2)
    machine.turn(0.1).join("e1", 7)
    assert [replay["from"] for replay in machine.questions("bulk.replay")] == [2]


def test_a_snapshot_during_which_too_much_waits_is_not_begun_anew(monkeypatch):
    """While so much goes on it would never end; numbers show the gap, which a replay fills."""
    monkeypatch.setattr(islet._Machine, "WAITING", 4)
    machine = Machine(seq=1)
    for seq in range(2, 12):
        machine.event(seq, seq)
    machine.turn(1.0)
    if not machine.core._answered:
        machine.join("e1", 11)
    machine.snapshot(1, x=1)  # the one that was asked for
    assert machine.core.synced
    assert [replay["from"] for replay in machine.questions("bulk.replay")] == [1]


def test_a_subscription_that_is_silent_is_made_anew():
    machine = Machine().snapshot()
    machine.turn(30.0).mark(0).turn(44.0)
    assert [about for what, about in machine.asked if what == "events"] == [[f"{APP}/".encode()]]
    machine.turn(1.0)
    assert [about for what, about in machine.asked if what == "events"] == [[f"{APP}/".encode()]] * 2
    assert machine.asked[-1][0] == "subscribe"


def test_a_join_without_an_answer_is_asked_again_for_as_long_as_it_takes():
    machine = Machine().snapshot()
    machine.core._join()
    nonces = {machine.core._nonce for _ in range(30) if machine.turn(12.0)}
    assert len(nonces) >= 25
    assert machine.join("e1", 0).core.state == "following"


def test_a_pull_that_is_refused_for_good_is_told_and_asked_again():
    machine = Machine()
    for _ in range(3):
        [question] = machine.questions("bulk.snapshot")
        machine.answer(question, ok=False, error={"code": "badField", "message": "no", "retry": "never"})
        [error] = machine.told()
        assert error.code == "badField" and machine.questions("bulk.snapshot") == []
        machine.turn(5.0)
    assert machine.snapshot().core.state == "following"


@pytest.mark.parametrize("row", [b"[" * 100_000, b'{"activity":', b"\xff"])
def test_a_row_that_cannot_be_read_is_told_and_asked_for_again(row):
    machine, topic = Machine(), f"{APP}/activity/Ride/x"
    for _ in range(3):
        [question] = machine.questions("bulk.snapshot")
        machine.answer(question, (topic, row), chunk=0, rows=1, fromSeq=1, end=True, epoch="e1", seq=1)
        [error] = machine.told()
        assert error.code == "unreadable" and topic in error.message and error.retry == "never"
        assert [cancel["req"] for cancel in machine.questions("bulk.cancel")] == [question["req"]]
        machine.turn(5.0)
    assert machine.snapshot().core.state == "following"


def test_an_event_that_cannot_be_read_is_one_that_is_lost():
    machine, topic = Machine().snapshot(), f"{APP}/activity/Ride/x"
    machine.core.subscribed([topic.encode(), b"[" * 100_000], machine.now)
    machine.turn().mark(1)
    [question] = machine.questions("bulk.replay")
    machine.answer(question, (topic, b"[" * 100_000), chunk=0, rows=1, end=True, epoch="e1", seq=1)
    machine.snapshot(1, x=1)
    assert machine.core.state == "following" and machine.told() == ["joined", "eventsLost"]


@pytest.mark.parametrize("code, retry", [("tooMany", "never"), ("busy", "later"), ("unavailable", "later")])
def test_a_pull_that_is_refused_for_now_is_asked_again_when_the_service_says(code, retry):
    machine = Machine()
    [question] = machine.questions("bulk.snapshot")
    machine.answer(question, ok=False, error={"code": code, "message": "", "retry": retry, "retryAfter": 3_000})
    assert machine.turn(2.9).questions("bulk.snapshot") == [] and machine.told() == []
    assert machine.turn(2.2).snapshot().core.state == "following"


@pytest.mark.parametrize("header", [
    {"chunk": 0, "rows": 1}, {"rows": 0}, {"chunk": "0", "rows": 0}, {"chunk": 1, "rows": 0}, {"chunk": 0, "rows": 0},
    {"chunk": 0, "rows": 0, "fromSeq": "x"}, {"chunk": 0, "rows": 0, "fromSeq": 0, "end": True, "seq": None}])
def test_a_chunk_that_is_none_of_the_contract_is_asked_for_again(header):
    machine = Machine()
    [question] = machine.questions("bulk.snapshot")
    machine.answer(question, epoch="e1", **header).turn(1.0)
    assert machine.snapshot().core.state == "following"


# Whose the streams are


def following(machine):
    return (machine.core.state, machine.told()) == ("following", ["joined"])


@pytest.mark.parametrize("prefix", [None, PREFIX], ids=["whole", "filtered"])
def test_the_streams_of_another_service_are_not_taken_in(prefix):
    machine = Machine(prefix, owned=True)
    for _ in range(2):  # it is told again as long as somebody reads
        for _ in range(islet._Machine.OWNER_TRIES):
            machine.owner("e1").join("e2", 3).event(4, 1, epoch="e2")
        [error] = machine.told()
        assert error.code == "otherService" and "the events are another service's" in error.message
        assert (machine.core.state, machine.questions("bulk.snapshot")) == ("joining", [])
        machine.turn(islet._Machine.OWNER_PAUSE)
    machine.owner("e2").join("e2", 4)
    assert following(machine.snapshot(seq=4, epoch="e2", x=1))


def test_a_history_that_begins_between_the_two_answers_is_no_other_service():
    machine = Machine(owned=True).owner("e1").join("e2", 0).owner("e2").join("e2", 0)
    assert following(machine.snapshot(epoch="e2"))


def test_what_is_joined_waits_for_whose_it_is():
    machine = Machine(owned=True).join("e1", 1)
    assert machine.questions("bulk.snapshot") == []
    machine.owner("e1").join("e1", 1)
    assert following(machine.snapshot(seq=1, x=1))


@pytest.mark.parametrize("epoch", ["e1", None])
def test_the_snapshots_of_another_service_are_not_taken_in(epoch):
    """Also of an app without events, of which a join names no epoch of its own."""
    machine = Machine(owned=True)
    for _ in range(islet._Machine.OWNER_TRIES):
        machine.owner("e1")
        apps = {APP: {"epoch": "e1", "seq": 1}} if epoch else {}
        machine.subscribed(machine.core._nonce, at=0, apps=apps, epoch="e1").turn(1.0).snapshot(seq=9, epoch="e2", y=1)
    [error] = machine.told()
    assert error.code == "otherService" and "snapshots" in error.message and not machine.core.table.entities


def test_where_commands_are_not_answered_it_goes_on_without():
    machine = Machine(owned=True).join("e1", 1)
    machine.turn(islet._Machine.OWNER_LIMIT * islet._Machine.OWNER_TRIES).join("e1", 1)
    assert following(machine.snapshot(seq=1, x=1))


def test_a_service_that_names_no_epoch_is_taken_at_its_word():
    machine = Machine(owned=True).owner(None).join("e1", 1)
    assert following(machine.snapshot(seq=1, x=1))
    machine = Machine(owned=True).owner("e1")
    machine.subscribed(machine.core._nonce, at=0, apps={APP: {"epoch": "e2", "seq": 1}})
    assert following(machine.snapshot(seq=1, epoch="e2", x=1))


def test_a_new_history_that_begins_later_is_told_as_ever():
    machine = Machine(owned=True).owner("e1").join("e1", 1).snapshot(seq=1, x=1)
    assert following(machine) and ("owner", None) in machine.asked
    machine.core._join()
    machine.turn().join("e2", 0).snapshot(epoch="e2")
    assert machine.told() == ["epochChanged"]


# How far it is


def reports(machine):
    """What was reported so far, and not looked at yet."""
    found = [about for what, about in machine.asked if what == "report"]
    machine.asked = [each for each in machine.asked if each[0] != "report"]
    return [(about["nonce"], about["apps"][APP]["seq"]) for about in found]


def test_it_reports_each_second_what_is_new_and_else_each_half_minute():
    machine = Machine(epoch="e1", seq=4)
    [snapshot] = machine.questions("bulk.snapshot")
    assert reports(machine) == []  # it has nothing yet
    machine.answer(snapshot, epoch="e1", chunk=0, rows=0, fromSeq=4, end=True, seq=4, entities=0, digest="0" * 16)
    nonce = machine.core._nonce[6:38].decode()
    assert reports(machine) == [(nonce, 4)]
    for seq in range(5, 55):
        machine.event(seq, seq - 4).turn(0.1)
    told = [seq for _, seq in reports(machine)]
    assert 4 <= len(told) <= 5 and told == sorted(set(told)) and told[-1] > 40
    machine.turn(1.0)
    assert reports(machine) == [(nonce, 54)]
    machine.turn(25.0)
    assert reports(machine) == []
    machine.turn(10.0)
    assert reports(machine) == [(nonce, 54)]
    # One that could not go is made again.
    machine.core.unreported()
    machine.turn(1.0)
    assert reports(machine) == [(nonce, 54)]
    # Without its connection it knows nothing; the next nonce is another subscriber to the service.
    machine.core.disconnected(machine.now)
    machine.turn(0.5)
    assert reports(machine) == []
    machine.join("e1", 54).turn(1.0)
    other = machine.core._nonce[6:38].decode()
    assert other != nonce and reports(machine) == [(other, 54)]

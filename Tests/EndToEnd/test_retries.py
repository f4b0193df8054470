"""Retries: the same `client` and `req` again are never executed twice."""

import re
import uuid

import pytest

from support.commands import START, Commands, encode
from support.dates import HOUR, MINUTE, SECOND, after
from support.schemas import CONTRACT


@pytest.fixture
def one():
    """The UUID of a client that comes back after a reconnect."""
    return str(uuid.uuid4())


def test_the_same_command_again_gets_the_same_answer_and_changes_nothing(client, events, one):
    frame = encode(client.command("activity.start", client=one, req="a", **START))
    first = client.raw(frame)
    assert first[0]["outcome"] == "applied"
    assert client.raw(frame) == first
    assert events.names(1) == ["started"]
    client.start()
    assert events.names(1) == ["started"], "nothing came between the two"


def test_the_answer_is_the_first_one_although_the_state_has_changed(client, one):
    start = encode(client.command("activity.start", client=one, req="a", **START))
    [first] = client.raw(start)
    client.applied("activity.end", id=first["activity"]["id"])
    assert client.raw(start) == [first]


def test_another_connection_is_the_same_client(client, wire, service, one):
    frame = encode(client.command("activity.start", client=one, req="a", **START))
    first = client.raw(frame)
    assert Commands(wire, service.commands).raw(frame) == first


def test_twice_in_one_message_is_a_retry_too(client, one):
    frame = encode(client.command("activity.start", client=one, req="a", **START))
    first, second = client.raw(frame, frame)
    assert first == second
    assert client.read("activity.list")["total"] == 1


def test_other_bytes_under_the_same_req_are_refused(client, one):
    begun = client.applied("activity.start", client=one, req="a", **START)
    error = client.refused("activity.start", client=one, req="a", **{**START, "type": "Other"})
    assert (error["code"], error["retry"]) == ("requestReused", "never")
    assert client.get(begun["activity"]["id"])["type"] == START["type"]


def test_an_escape_is_told_from_what_stands_in_its_place_once_it_is_read(client, one):
    frame = encode(client.command("activity.start", client=one, req="a", key="KEY", **START))
    [first] = client.raw(frame.replace(b"KEY", rb"\u0061"))
    assert client.get(first["activity"]["id"])["key"] == "a"
    [other] = client.raw(frame.replace(b"KEY", b"au0061"))
    assert other["error"]["code"] == "requestReused"
    assert client.raw(frame.replace(b"KEY", rb"\u0061")) == [first]


def test_another_client_may_use_the_same_req(client, one):
    client.applied("activity.start", client=one, req="a", **START)
    client.applied("activity.start", client=str(uuid.uuid4()), req="a", **START)
    client.applied("activity.start", req="a", **START)
    assert client.read("activity.list")["total"] == 3


def test_a_refused_command_may_be_sent_again(client, one):
    id = str(uuid.uuid4())
    assert client.refused("activity.update", client=one, req="u1", id=id, contentState={})["code"] == "notFound"
    client.start(id=id)
    client.applied("activity.update", client=one, req="u1", id=id, contentState={"eta": 1})


def test_an_answer_is_remembered_for_ten_minutes_of_domain_time(client, one):
    frame = encode(client.command("activity.start", client=one, req="once", **START))
    first = client.raw(frame)
    client.advance(by=10 * MINUTE - 1)
    assert client.raw(frame) == first
    client.advance(by=1)
    assert client.raw(frame) != first
    assert client.read("activity.list")["total"] == 2


def test_work_that_comes_again_later_is_safe_by_its_own_fields(client):
    """What `proto-json/README.md` says of a queue of jobs, under "Retries"."""
    id, begun = str(uuid.uuid4()), after(0)
    start = {"id": id, "key": "order-1"}
    client.start(**start)
    newer = {"id": id, "contentState": {"eta": 3}, "timestamp": begun + MINUTE}
    older = {"id": id, "contentState": {"eta": 9}, "timestamp": begun + SECOND}
    client.applied("activity.update", **older)
    client.applied("activity.update", **newer)
    client.advance(by=11 * MINUTE)
    assert client.refused("activity.start", **{**START, **start})["code"] == "conflict"
    assert client.ignored("activity.update", **older) == "olderTimestamp"
    revision = client.get(id)["revision"]
    client.applied("activity.update", id=id, contentState={"eta": 2}, ifRevision=revision)
    again = client.refused("activity.update", id=id, contentState={"eta": 2}, ifRevision=revision)
    assert again["code"] == "conflict"
    end = {"id": id, "source": "push", "dismissalPolicy": "immediate"}
    client.applied("activity.end", **end)
    # Its key is another one's by now, which the job's end does not reach.
    other = client.start(key="order-1")
    client.advance(by=11 * MINUTE)
    client.ignored("activity.end", **end)
    client.applied("activity.end", id=other["id"], dismissalPolicy="immediate")
    client.advance(by=24 * HOUR - 12 * MINUTE)
    assert client.refused("activity.start", **{**START, **start})["code"] == "reconnectNotPermitted"
    client.advance(by=2 * HOUR)
    client.start(**start)


def test_jobs_of_a_queue_that_was_behind_end_their_activity(client):
    """The end's fields are those of `proto-json/README.md`. An update of before the start's execution is dropped, as it says."""
    member, value = documented(r"^- an end by that `id`.*?\(`\"(\w+)\":\"(\w+)\"`\)")
    for first in ({}, {"timestamp": after(HOUR)}):  # a late start, and an update by a clock that is ahead
        id, told = str(uuid.uuid4()), client.read("service.ping")["now"]
        client.advance(by=15 * MINUTE)
        client.start(id=id)
        update = {"id": id, "contentState": {"eta": 5}, "timestamp": told + MINUTE}
        assert client.ignored("activity.update", **update) == "olderTimestamp"
        if first:
            client.applied("activity.update", id=id, contentState={"eta": 3}, **first)
            assert client.ignored("activity.end", id=id) == "olderTimestamp", "why the end is a push"
        assert client.ignored("activity.end", id=id, timestamp=told + MINUTE) == "olderTimestamp"
        end = {"id": id, "contentState": {"eta": 0}, member: value}
        client.applied("activity.end", **end)
        assert (client.get(id)["state"], client.get(id)["contentState"]) == ("ended", {"eta": 0})
        client.advance(by=11 * MINUTE)
        assert client.ignored("activity.end", **end) == "ended"


def test_jobs_of_one_that_was_renewed_go_on_with_the_one_that_is_shown_now(client):
    reason, member = documented(r"with the reason `(\w+)`\s+where the activity was renewed: .*? is its `(\w+)`")
    id = client.start()["id"]
    shown = client.applied("activity.renew", id=id)["activity"]["id"]
    end = {"source": "push", "dismissalPolicy": "immediate"}
    for _ in range(2):
        assert client.ignored("activity.end", id=id, **end) == reason
        assert client.get(id)[member] == shown
        client.advance(by=MINUTE)
    client.applied("activity.end", id=shown, **end)


def test_a_job_that_alerts_and_comes_again_looks_first(client, events):
    documented(r"with an `alert`,\s+what comes again alerts again\. So a job that\s+alerts looks first \(`activity\.get`\)")
    id = client.start()["id"]
    client.advance(by=MINUTE)
    told = client.read("service.ping")["now"]
    update = {"id": id, "contentState": {"eta": 5}, "timestamp": told, "alert": {"title": "Soon", "body": "Five minutes"}}
    for outcome in ("applied", "done"):
        activity = client.get(id)
        if activity["timestamp"] >= told:
            assert outcome == "done"
            continue
        revision = activity["revision"]
        assert client.applied("activity.update", **update, ifRevision=revision)["outcome"] == outcome
        client.advance(by=11 * MINUTE)
    quicker = client.refused("activity.update", **update, ifRevision=revision)
    assert quicker["code"] == "conflict"
    assert events.names(2) == ["started", "updated"]
    client.applied("activity.update", **update)
    assert events.next()["alert"]["title"] == "Soon", "without ifRevision a person is alerted a second time"


def test_a_job_that_comes_again_while_a_dismissal_mutes_its_key_is_told_that_it_was_started(wire, serve, tmp_path):
    """Not that it may come later: by then its activity may be known no more, and be shown anew."""
    documented(r"else as\s+`reconnectNotPermitted`, also while a person's dismissal mutes the key, as long as the activity is known")
    path = tmp_path / "islet.yaml"
    path.write_text("clock: manual\nruleSet:\n  muteAfterPersonDismissal: 48h\n")
    client = Commands(wire, serve({"--config": path}).commands)
    job = START | {"id": str(uuid.uuid4()), "key": "order-1"}
    client.applied("activity.start", **job)
    client.applied("activity.dismiss", id=job["id"], by="person")
    for _ in range(2):
        for again in ({}, {"ifExists": "update"}):
            assert client.refused("activity.start", **job, **again)["code"] == "reconnectNotPermitted"
        assert client.refused("activity.start", **START, key="order-1")["code"] == "denied"
        client.advance(by=40 * HOUR)
    client.advance(by=8 * HOUR)
    client.applied("activity.start", **job)


@pytest.mark.parametrize("other", [{"device": "phone-2"}, {"app": "com.example.courier"}], ids=["device", "app"])
def test_an_order_that_is_shown_in_two_places_has_an_id_in_each(client, other):
    documented(r"made from the app, the device and the\s+order's number\. An id is taken in all apps and on all devices")
    id = str(uuid.uuid4())
    client.start(id=id, key="order-1", device="phone-1")
    there = START | {"device": "phone-1", "key": "order-1"} | other
    assert client.refused("activity.start", **there, id=id)["code"] == "reconnectNotPermitted"
    client.applied("activity.start", **there, id=str(uuid.uuid4()))


def test_a_job_that_renews_does_so_by_the_id(client):
    documented(r"- a renewal by that `id`")
    id = client.start(key="order-1")["id"]
    shown = client.applied("activity.renew", id=id)["activity"]["id"]
    assert client.ignored("activity.renew", id=id) == "dismissed"
    assert client.get(id)["renewedBy"] == shown
    assert client.applied("activity.renew", key="order-1")["activity"]["id"] != shown, "by key it is renewed again"


def test_an_update_that_changes_nothing_counts_as_no_newer_one(wire, serve, tmp_path):
    """So jobs that may overtake each other tell something of their own in each, or the rule is off."""
    reason, content, date, rule = documented(
        r"is `ignored` as `(\w+)`,\s+and its `timestamp` does not count: .*? its time in `(\w+)` or a `(\w+)` counted\s+from"
        r" it, .*? the rule\s+`(\w+)`")
    path = tmp_path / "islet.yaml"
    path.write_text(f"clock: manual\nruleSet:\n  {rule}: false\n")
    usual, off = (Commands(wire, serve(options).commands) for options in ({"--clock": "manual"}, {"--config": path}))

    def shown(client, **own):
        id, told = client.start()["id"], client.read("service.ping")["now"]
        client.advance(by=MINUTE)
        outcomes = []
        for second, eta in ((10, 3), (20, 3), (15, 9)):  # what was told at 15 s comes last
            time = told + second * SECOND
            update = {"contentState": {"eta": eta}} | {name: value(eta, time) for name, value in own.items()}
            answer = client.read("activity.update", id=id, timestamp=time, **update)
            outcomes.append(answer.get("reason", answer["outcome"]))
        return outcomes, client.get(id)["contentState"]["eta"]

    dropped = ["applied", "applied", "olderTimestamp"]
    assert shown(usual) == (["applied", reason, "applied"], 9), "what is older is shown, and stays"
    assert shown(usual, **{content: lambda eta, time: {"eta": eta, "told": time}}) == (dropped, 3)
    assert shown(usual, **{date: lambda eta, time: time + HOUR}) == (dropped, 3)
    assert shown(off) == (dropped, 3)


def test_a_job_finds_what_its_activity_was_renewed_as_while_that_is_known(client):
    documented(r"older than the start or a renewal, which count from when the service took them")
    documented(r"a job of the first id goes on\s+with that, as long as the first is known")
    id, told = client.start(key="order-1")["id"], client.read("service.ping")["now"]
    client.advance(by=7 * HOUR)
    shown = client.applied("activity.renew", id=id)["activity"]["id"]
    late = {"contentState": {"eta": 3}, "timestamp": told + HOUR}
    assert client.ignored("activity.update", id=shown, **late) == "olderTimestamp"
    for _ in range(4):
        assert client.get(id)["renewedBy"] == shown
        client.advance(by=6 * HOUR)
        client.applied("activity.renew", key="order-1")
    assert client.refused("activity.update", id=id, contentState={"eta": 2})["code"] == "notFound"
    client.applied("activity.update", key="order-1", contentState={"eta": 2})


def documented(pattern):
    """What `proto-json/README.md` says, by the groups of the pattern."""
    found = re.search(pattern, (CONTRACT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert found, "the contract's notes do not say so"
    return found.groups()


def test_a_number_at_or_below_the_highest_forgotten_is_not_executed(client, one):
    for number in range(1, 9):
        client.start(client=one, req=f"c7-{number}")
    client.advance(by=10 * MINUTE)
    error = client.refused("activity.start", client=one, req="c7-5", **START)
    assert error["code"] == "outcomeUnknown"
    assert client.refused("activity.start", client=one, req="c7-8", **START)["code"] == "outcomeUnknown"
    client.start(client=one, req="c7-9")
    assert client.read("activity.list")["total"] == 9


@pytest.mark.parametrize("more", [0, 1])
def test_numbers_are_known_behind_the_four_beginnings_that_a_client_used_last(client, one, more):
    [count] = documented(r"It is so behind the (\w+) beginnings that a client used last")
    stems = "abcdefgh"[:{"four": 4}[count] + more]
    id = client.start()["id"]
    for number in (1, 2, 3):
        for stem in stems:
            client.applied("activity.update", client=one, req=f"{stem}-{number}", id=id, contentState={stem: number})
        if number == 2:
            client.advance(by=11 * MINUTE)
    again = {"client": one, "req": f"{stems[0]}-1", "id": id, "contentState": {stems[0]: 1}}
    if more:
        client.applied("activity.update", **again)
    else:
        assert client.refused("activity.update", **again)["code"] == "outcomeUnknown"


def test_a_step_of_the_clock_is_not_repeated(client, one):
    frame = encode(client.command("clock.advance", client=one, req="t", by=SECOND))
    first = client.raw(frame)
    assert first[0]["now"] == after(SECOND)
    assert client.raw(frame) == first
    assert client.advance(by=0) == after(SECOND)

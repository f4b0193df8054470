"""Groups: data that the processes of an app family share, and the signals between them."""

import contextlib
import sqlite3
import threading

import pytest

import islet
from support.commands import Commands
from support.dates import EPOCH, HOUR, after
from support.durable import Durable
from support.events import Events
from support.replica import Replica
from support.widgets import rules
from support.wire import Deadline

OWNER, EXTENSION, STRANGER = "com.example.pizza", "com.example.pizza.widgets", "com.example.stranger"
GROUP = "group.com.example.pizza"


class Member:
    """One app's way to a group."""

    def __init__(self, client, app):
        self.client, self.app = client, app

    def __getattr__(self, verb):
        def ask(judge="read", **fields):
            return getattr(self.client, judge)(f"group.{verb}", **{"app": self.app, "group": GROUP, **fields})

        return ask

    def value(self, key):
        return self.get(key=key)["group"]["value"]


@pytest.fixture
def owner(client):
    made = Member(client, OWNER)
    made.create("applied", members=[EXTENSION])
    return made


@pytest.fixture
def extension(client, owner):
    return Member(client, EXTENSION)


@pytest.fixture
def stranger(client):
    return Member(client, STRANGER)


def code(error):
    return error["code"], error.get("detail", {})


# Membership


def test_who_makes_a_group_is_its_owner_and_a_member(client, stranger):
    owner = Member(client, OWNER)
    owner.create("applied")
    assert owner.info()["group"] == {"group": GROUP, "owner": OWNER, "members": [OWNER], "keys": 0, "bytes": 0}
    assert code(owner.create("refused")) == ("conflict", {"group": GROUP})
    assert code(stranger.create("refused")) == ("conflict", {"group": GROUP})


def test_members_may_be_named_at_the_start_and_admitted_later(owner, extension, stranger):
    assert owner.info()["group"]["members"] == [OWNER, EXTENSION]
    extension.admit("applied", member=STRANGER)
    assert stranger.info()["group"]["members"] == [OWNER, EXTENSION, STRANGER]
    assert owner.admit("ignored", member=STRANGER) == "unchanged"
    stranger.leave("applied")
    assert code(stranger.info("refused")) == ("unauthorized", {"group": GROUP})
    assert owner.info()["group"]["members"] == [OWNER, EXTENSION]


def test_the_owner_cannot_leave(owner):
    error = owner.leave("refused")
    assert error["code"] == "badField"


@pytest.mark.parametrize("verb, fields", [
    ("info", {}), ("set", {"key": "k", "value": 1}), ("get", {"key": "k"}), ("list", {}), ("delete", {"key": "k"}),
    ("notify", {"name": "n"}), ("admit", {"member": STRANGER}), ("leave", {}), ("remove", {})])
def test_who_is_no_member_may_do_nothing_and_an_unknown_group_is_not_found(owner, stranger, events, verb, fields):
    owner.set("applied", key="k", value=7)
    assert events.raw_next()[1]["event"] == "group.set"
    assert code(getattr(stranger, verb)("refused", **fields)) == ("unauthorized", {"group": GROUP})
    assert code(getattr(owner, verb)("refused", **{**fields, "group": "group.other"})) == (
        "notFound", {"group": "group.other"})
    events.silent()
    assert owner.value("k") == 7


@pytest.mark.parametrize("fields, field", [
    ({"group": "a b"}, "group"), ({"group": "g" * 65}, "group"), ({"members": ["a/b"]}, "members"),
    ({"members": [1]}, "members"), ({"members": "x"}, "members"),
    ({"members": [f"m{n}" for n in range(64)]}, "members")])
def test_a_group_that_is_none_is_refused(client, fields, field):
    error = Member(client, OWNER).create("refused", **fields)
    assert error["code"] in ("badField", "quotaExceeded")
    assert error["code"] == "quotaExceeded" or error["detail"]["field"] == field


def test_a_group_has_64_members_at_most(client):
    owner = Member(client, OWNER)
    owner.create("applied", members=[f"com.example.m{n}" for n in range(63)])
    assert len(owner.info()["group"]["members"]) == 64
    error = owner.admit("refused", member="com.example.more")
    assert code(error) == ("quotaExceeded", {"limit": 64})


def test_a_group_without_keys_is_removed_by_its_owner(owner, extension, stranger, events):
    assert code(extension.remove("refused")) == ("badField", {"field": "app"})
    owner.set("applied", key="k", value=1)
    owner.set("applied", key="l", value=1)
    error = owner.remove("refused")
    assert code(error) == ("conflict", {"group": GROUP, "keys": 2})
    assert error["retry"] == "refresh" and "has 2 keys" in error["message"]
    for key in "kl":
        extension.delete("applied", key=key)
    for event in ("group.set", "group.set", "group.deleted", "group.deleted"):
        assert events.raw_next()[1]["event"] == event
    answer = owner.remove("applied")
    assert answer["group"] == {"group": GROUP} and answer["seq"] == 4
    events.silent()
    for member in (owner, extension):
        assert code(member.info("refused")) == ("notFound", {"group": GROUP})
    assert code(owner.remove("refused")) == ("notFound", {"group": GROUP})
    stranger.create("applied")
    assert stranger.info()["group"] == {"group": GROUP, "owner": STRANGER, "members": [STRANGER], "keys": 0, "bytes": 0}
    assert code(owner.info("refused")) == ("unauthorized", {"group": GROUP})
    assert stranger.set("applied", key="k", value=1)["group"]["revision"] == 3, "newer than what anybody holds of it"


def test_a_removal_that_is_sent_again_removes_no_other_group(owner, stranger):
    who = {"client": "11111111-2222-4333-8444-555555555555", "req": "r-1"}
    first = owner.remove("applied", **who)
    owner.create("applied")
    assert owner.client.ask("group.remove", **{"app": OWNER, "group": GROUP, **who}) == first
    assert owner.info()["group"]["keys"] == 0


def test_removed_groups_make_room_for_others(client, stranger):
    for first in range(0, 10_000, 100):
        made = client.batch(*[
            client.command("group.create", app=OWNER, group=f"g{n}") for n in range(first, first + 100)])
        assert {answer["ok"] for answer in made} == {True}, made
    error = Member(client, OWNER).create("refused")
    assert code(error) == ("quotaExceeded", {"limit": 10_000})
    client.applied("group.remove", app=OWNER, group="g17")
    Member(client, OWNER).create("applied")
    assert code(client.refused("group.create", app=OWNER, group="g17")) == ("quotaExceeded", {"limit": 10_000})
    assert client.read("group.info", app=OWNER, group="g18")["group"]["group"] == "g18"
    assert client.read("service.stats")["stats"]["groups"]["groups"] == 10_000


# Keys and values


def test_a_value_is_shared_with_every_member(owner, extension):
    answer = owner.set("applied", key="city", value={"name": "Berlin"})
    assert answer["group"]["revision"] == 1
    assert extension.get(key="city")["group"] == {
        "group": GROUP, "key": "city", "state": "present", "revision": 1, "value": {"name": "Berlin"}, "by": OWNER,
        "updatedAt": EPOCH}
    extension.client.advance(by=HOUR)
    assert extension.set("applied", key="city", value="Paris")["group"]["revision"] == 2
    item = owner.get(key="city")["group"]
    assert (item["value"], item["by"], item["updatedAt"], item["revision"]) == ("Paris", EXTENSION, after(HOUR), 2)
    assert owner.get("refused", key="country")["code"] == "notFound"


@pytest.mark.parametrize("value", [
    '{ "b" : 1.0e0, "a":"\\u2600" }', "[1, 2,3]", '"a \\ud83c\\udf55"', "-0.50", "true", "null", '""'])
def test_values_are_carried_byte_for_byte(client, events, value):
    Member(client, OWNER).create("applied")
    frame = f'{{"op":"group.set","req":"s","app":"{OWNER}","group":"{GROUP}","key":"k","value":{value}}}'
    client.send(frame.encode())
    answer = client.answer_to("s")[0]
    if value == "null":
        assert answer["error"]["code"] == "missingField"
        return
    assert answer["ok"]
    assert f'"value":{value}'.encode() in events.raw_next()[2]
    client.send(client.command("group.get", group=GROUP, key="k", req="g"))
    assert f'"value":{value}'.encode() in client.wire.receive(client.socket)[0]


def test_equal_bytes_change_nothing(owner, extension, events):
    owner.set("applied", key="k", value={"a": 1})
    events.raw_next()
    assert owner.set("ignored", key="k", value={"a": 1}) == "unchanged"
    assert extension.set("ignored", key="k", value={"a": 1}) == "unchanged"
    events.silent()
    assert owner.get(key="k")["group"]["by"] == OWNER
    owner.set("applied", key="k", value={"a": 1.0})


def test_a_change_may_depend_on_the_revision(owner, extension):
    assert owner.set("applied", key="k", value=1, ifRevision=0)["group"]["revision"] == 1
    assert code(extension.set("refused", key="k", value=2, ifRevision=0)) == ("conflict", {"revision": 1})
    extension.set("applied", key="k", value=2, ifRevision=1)
    assert code(owner.delete("refused", key="k", ifRevision=1)) == ("conflict", {"revision": 2})
    assert owner.set("refused", key="k", value=3, ifRevision=3)["code"] == "conflict"
    owner.delete("applied", key="k", ifRevision=2)
    assert owner.set("refused", key="k", value=3, ifRevision=2)["code"] in ("conflict", "notFound")
    owner.set("applied", key="k", value=3, ifRevision=0)


def test_a_key_that_was_deleted_begins_above_its_old_life(owner, extension, events):
    for value in (1, 2, 3):
        owner.set("applied", key="k", value=value)
    extension.delete("applied", key="k")
    assert owner.get("refused", key="k")["code"] == "notFound"
    assert owner.delete("refused", key="k")["code"] == "notFound"
    owner.set("applied", key="other", value=1)
    again = owner.set("applied", key="k", value=4)["group"]["revision"]
    assert again > 4
    copy, last = Replica(), None
    for _ in range(6):
        topic, event, _ = events.raw_next()
        copy.apply(topic, event)
        last = event
    assert last["group"]["revision"] == again and last["event"] == "group.set"
    assert copy.entities[f"{OWNER}/group/{GROUP}/k"] == owner.get(key="k")["group"]


def test_the_keys_are_listed_by_prefix_in_pages(owner, extension):
    keys = [f"{letter}-{number:02}" for letter in "ab" for number in range(7)]
    for key in reversed(keys):
        owner.set("applied", key=key, value=key)

    def listed(**fields):
        found, cursor = [], None
        while True:
            page = extension.list(cursor=cursor, **fields)
            found += page["items"]
            if (cursor := page.get("next")) is None:
                return found, page["total"]

    items, total = listed()
    assert sorted(item["key"] for item in items) == keys and total == 14
    assert items == [extension.get(key=item["key"])["group"] for item in items]
    for limit in (1, 3, 7, 100):
        items, total = listed(prefix="b-", limit=limit)
        assert sorted(item["key"] for item in items) == keys[7:] and total == 7, limit
    assert listed(prefix="c") == ([], 0)
    for key in keys[:7]:
        owner.delete("applied", key=key)
    assert listed()[1] == 7
    assert owner.info()["group"]["keys"] == 7


# Limits


def test_a_value_has_a_limit(owner, events):
    whole = "x" * (16_384 - 2)
    owner.set("applied", key="k", value=whole)
    assert owner.value("k") == whole
    error = owner.set("refused", key="k", value=whole + "x")
    assert (code(error), error["retry"]) == (("badField", {"field": "value"}), "never")
    assert owner.value("k") == whole
    assert owner.info()["group"]["bytes"] == 16_384


def limited(wire, serve, **named):
    service = serve({"--clock": "manual"}, env=rules(**named))
    owner = Member(Commands(wire, service.commands, OWNER), OWNER)
    owner.create("applied")
    return owner


def test_a_group_has_so_many_keys(wire, serve):
    owner = limited(wire, serve, maximumGroupKeys=3)
    for key in "abc":
        owner.set("applied", key=key, value=1)
    assert code(owner.set("refused", key="d", value=1)) == ("quotaExceeded", {"limit": 3})
    owner.set("applied", key="a", value=2)
    owner.delete("applied", key="b")
    owner.set("applied", key="d", value=1)
    assert owner.set("refused", key="b", value=1)["code"] == "quotaExceeded"


def test_a_group_has_so_many_bytes(wire, serve):
    owner = limited(wire, serve, groupLimit=1_000, groupValueLimit=600)
    assert code(owner.set("refused", key="a", value="x" * 600)) == ("badField", {"field": "value"})
    owner.set("applied", key="a", value="x" * 598)
    owner.set("applied", key="b", value="x" * 398)
    assert owner.info()["group"]["bytes"] == 1_000
    assert code(owner.set("refused", key="c", value=1)) == ("quotaExceeded", {"limit": 1_000})
    assert owner.set("refused", key="b", value="x" * 399)["code"] == "quotaExceeded"
    owner.set("applied", key="b", value="x" * 300)
    owner.set("applied", key="c", value=1)
    owner.delete("applied", key="a")
    assert owner.info()["group"]["bytes"] == 303


# Events


def test_every_change_is_an_event_on_the_stream_of_the_owner(owner, extension, events, wire, service):
    theirs = Events(wire, service.events, EXTENSION + "/")
    theirs.join()
    extension.set("applied", key="city", value="Berlin", req="s-1", client=None)
    topic, event, _ = events.raw_next()
    assert topic == f"{OWNER}/group/{GROUP}/city"
    assert (event["event"], event["by"]) == ("group.set", {"req": "s-1"})
    assert event["group"] == {"group": GROUP, "key": "city", "state": "present", "revision": 1, "value": "Berlin",
                              "by": EXTENSION, "updatedAt": EPOCH}
    owner.set("applied", key="city", value=2)
    event = events.raw_next()[1]
    assert (event["group"]["revision"], event["group"]["value"], event["group"]["by"]) == (2, 2, OWNER)
    extension.delete("applied", key="city")
    topic, event, _ = events.raw_next()
    assert (event["event"], event["group"]["revision"], event["group"]["state"]) == ("group.deleted", 3, "removed")
    assert topic == f"{OWNER}/group/{GROUP}/city"
    theirs.silent()


def test_any_subscriber_of_a_prefix_sees_the_changes_of_one_key(owner, extension, wire, service):
    watcher = Events(wire, service.events, f"{OWNER}/group/{GROUP}/city")
    watcher.join()
    extension.set("applied", key="country", value=1)
    extension.set("applied", key="city", value=2)
    topic, event, _ = watcher.raw_next()
    assert topic.endswith("/city") and event["group"]["value"] == 2
    watcher.silent()


def test_a_signal_is_an_event_without_an_entity(owner, extension, events, bulk):
    before = bulk.digest()
    answer = extension.notify("applied", name="moved")
    topic, event, _ = events.raw_next()
    assert topic == f"{OWNER}/group/{GROUP}/~"
    assert event["event"] == "group.notified" and "group" not in event
    assert event["notification"] == {"group": GROUP, "name": "moved", "by": EXTENSION}
    digest = bulk.digest()
    assert digest["seq"] == before["seq"] + 1 == event["seq"]
    assert (digest["entities"], digest["digest"]) == (before["entities"], before["digest"])
    assert answer.get("seq", event["seq"]) == event["seq"]
    for _ in range(2):
        owner.notify("applied", name="moved")
        assert events.raw_next()[1]["event"] == "group.notified"


def test_a_retried_signal_is_given_once(owner, events):
    fields = {"name": "n", "req": "n-1", "client": "0198c0de-0000-7000-8000-00000000000c"}
    first = owner.notify("applied", **fields)
    assert owner.notify("applied", **fields) == first
    events.raw_next()
    events.silent()


def test_keys_are_listed_in_snapshots_replays_and_digests(owner, client, events, bulk):
    client.start()
    for n in range(5):
        owner.set("applied", key=f"k{n}", value=n)
    owner.delete("applied", key="k2")
    owner.notify("applied", name="n")
    copy = Replica()
    for _ in range(8):
        copy.apply(*events.raw_next()[:2])
    pulled = bulk.snapshot()
    loaded = Replica(pulled.end["seq"])
    loaded.load(pulled.rows)
    assert {t for t in loaded.entities if "/group/" in t} == {
        f"{OWNER}/group/{GROUP}/k{n}" for n in (0, 1, 3, 4)}
    assert copy.entities.keys() == loaded.entities.keys()
    assert copy.digest == loaded.digest == bulk.digest()["digest"] and bulk.digest()["entities"] == 5
    part = bulk.digest(prefix=f"{OWNER}/group/")
    assert part["entities"] == 4
    replayed = [topic for topic, _ in bulk.replay(0).rows]
    assert len(replayed) == 8 and replayed[-1] == f"{OWNER}/group/{GROUP}/~"


def test_the_replica_of_islet_py_follows_keys_and_hears_signals(owner, service):
    endpoints = islet.Endpoints(service.commands, service.events, service.bulk)
    owner.set("applied", key="before", value=1)
    with islet.Client(OWNER, endpoints=endpoints) as app, app.replica() as replica, app.replica("group/") as part:
        replica.sync()
        part.sync()
        app.call("group.set", group=GROUP, key="city", value={"name": "Berlin"})
        app.call("group.notify", group=GROUP, name="moved")
        app.call("group.delete", group=GROUP, key="before")
        last = app.call("group.set", group=GROUP, key="before", value=2)["seq"]
        for each in (replica, part):
            each.sync(last)
            changes = [change for change in each.changes(timeout=0.1) if change.kind == "event"]
            assert [change.event["event"] for change in changes] == [
                "group.set", "group.notified", "group.deleted", "group.set"]
            assert changes[1].entity is None and changes[1].event["notification"]["name"] == "moved"
            assert {topic.rpartition("/")[2]: entity["value"] for topic, entity in each.entities.items()} == {
                "city": {"name": "Berlin"}, "before": 2}
            assert [change.reason for change in each.changes(timeout=0.1) if change.kind == "synced"] == []


def test_many_processes_count_without_losing_one(owner, service):
    """Each adds to the same number, and again where somebody was faster."""
    endpoints, each, threads = islet.Endpoints(service.commands, service.events, service.bulk), 25, 4
    owner.set("applied", key="count", value=0)

    def count():
        with islet.Client(OWNER, endpoints=endpoints) as app:
            done = 0
            while done < each:
                item = app.call("group.get", group=GROUP, key="count")["group"]
                try:
                    app.call("group.set", group=GROUP, key="count", value=item["value"] + 1,
                             ifRevision=item["revision"])
                    done += 1
                except islet.IsletError as error:
                    assert (error.code, error.retry) == ("conflict", "refresh")

    workers = [threading.Thread(target=count) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    item = owner.get(key="count")["group"]
    assert (item["value"], item["revision"]) == (each * threads, each * threads + 1)


# Restarts


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_groups_outlive_a_restart(wire, tmp_path, how):
    services = Durable(wire, tmp_path / "data").start()

    def members():
        return Member(services.client, OWNER), Member(services.client, EXTENSION)

    owner, extension = members()
    owner.create("applied", members=[EXTENSION])
    owner.admit("applied", member=STRANGER)
    for n in range(3):
        owner.set("applied", key="kept", value={"n": n})
        owner.set("applied", key="gone", value=n)
    extension.set("applied", key="theirs", value="x" * 1_000)
    owner.delete("applied", key="gone")
    before = (owner.info()["group"], owner.list()["items"], services.bulk().digest())
    getattr(services, how)()
    services.start()
    owner, extension = members()
    after = (owner.info()["group"], owner.list()["items"], services.bulk().digest())
    assert after[:2] == before[:2]
    assert {name: after[2][name] for name in ("seq", "entities", "digest", "epoch")} == {
        name: before[2][name] for name in ("seq", "entities", "digest", "epoch")}
    assert owner.set("applied", key="gone", value=9)["group"]["revision"] > 4
    assert extension.set("ignored", key="theirs", value="x" * 1_000) == "unchanged"
    assert code(owner.set("refused", key="kept", value=1, ifRevision=1)) == ("conflict", {"revision": 3})
    getattr(services, how)()
    services.start()
    owner, _ = members()
    assert owner.value("gone") == 9
    owner.delete("applied", key="gone")
    services.restart()
    owner, _ = members()
    assert owner.get("refused", key="gone")["code"] == "notFound"
    services.stop()


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_removed_group_stays_removed(wire, tmp_path, how):
    services = Durable(wire, tmp_path / "data").start()

    def again():
        getattr(services, how)()
        services.start()
        return Member(services.client, OWNER), Member(services.client, STRANGER)

    owner = Member(services.client, OWNER)
    owner.create("applied", members=[EXTENSION])
    for n in range(3):
        owner.set("applied", key="k", value=n)
    owner.delete("applied", key="k")
    owner.remove("applied")
    owner, stranger = again()
    assert code(owner.info("refused")) == ("notFound", {"group": GROUP})
    stranger.create("applied")
    stranger.set("applied", key="k", value="theirs")
    owner, stranger = again()
    assert stranger.get(key="k")["group"]["revision"] == 5
    assert stranger.info()["group"]["members"] == [STRANGER]
    stranger.delete("applied", key="k")
    stranger.remove("applied")
    owner.create("applied")
    owner, stranger = again()
    assert owner.set("applied", key="k", value=1)["group"]["revision"] == 7
    assert services.bulk().digest()["entities"] == 1
    services.stop()


def in_batches(services, op, names, app=OWNER, **fields):
    for first in range(0, len(names), 256):
        answers = services.client.batch(*[
            services.client.command(op, app=app, group=name, **fields) for name in names[first:first + 256]])
        assert {answer["ok"] for answer in answers} == {True}, answers


def snapshot(services):
    """How many groups are in the snapshot by now, and the batch that it holds everything through."""
    with contextlib.closing(sqlite3.connect(f"file:{services.data}/state.db?mode=ro", uri=True)) as database:
        [[groups]] = database.execute("select count(*) from fact where substr(key, 1, 1) = x'67'")
        [[through]] = database.execute("select value from meta where key = 'holds_through'")
    return groups, int(through)


def test_at_the_limit_of_groups_a_removed_one_is_taken_back_with_the_one_in_its_place(wire, tmp_path):
    services = Durable(wire, tmp_path / "data").start()
    in_batches(services, "group.create", [f"g{n}" for n in range(10_000)])
    command = services.client.command
    answers = services.client.batch(
        command("group.set", app=OWNER, group="g17", key="k", value=1),
        command("group.delete", app=OWNER, group="g17", key="k"),
        command("group.remove", app=OWNER, group="g17"), command("group.create", app=STRANGER, group=GROUP))
    assert {answer["ok"] for answer in answers} == {True}, answers
    services.restart()
    assert services.client.read("service.stats")["stats"]["groups"]["groups"] == 10_000
    assert code(services.client.refused("group.info", app=OWNER, group="g17")) == ("notFound", {"group": "g17"})
    assert code(services.client.refused("group.create", app=OWNER, group="g17")) == ("quotaExceeded", {"limit": 10_000})
    services.stop()


def test_groups_that_are_made_anew_while_the_snapshot_forgets_them_stay_those_of_who_made_them(wire, tmp_path):
    services = Durable(wire, tmp_path / "data").start()
    names = [f"g{n}" for n in range(3_000)]
    in_batches(services, "group.create", names, members=[EXTENSION])
    services.stop().start()
    in_batches(services, "group.remove", names)
    deadline = Deadline()
    while snapshot(services)[0] == len(names):  # a part of them at a time
        assert not deadline.passed
    _, through = snapshot(services)
    in_batches(services, "group.create", names, app=STRANGER)
    in_batches(services, "group.set", names, app=STRANGER, key="k", value=1)
    while snapshot(services)[1] == through:
        assert not deadline.passed
    services.restart()
    in_batches(services, "group.info", names, app=STRANGER)
    assert code(services.client.refused("group.info", app=EXTENSION, group="g0")) == ("unauthorized", {"group": "g0"})
    services.stop()


def test_the_snapshot_goes_on_where_groups_are_removed_that_it_was_to_write(wire, tmp_path):
    services = Durable(wire, tmp_path / "data").start()
    names = [f"g{n}" for n in range(6_000)]
    in_batches(services, "group.create", names)
    deadline = Deadline()
    while snapshot(services)[0] < 600:  # a part of them at a time
        assert not deadline.passed
    in_batches(services, "group.remove", names[::-1])
    _, through = snapshot(services)
    while snapshot(services)[0] or snapshot(services)[1] < through + 20:
        assert not deadline.passed, snapshot(services)
    services.stop()

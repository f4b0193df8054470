"""A full disk: commands are refused, nothing acknowledged is lost, and the service goes on when there is room."""

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
import uuid

import pytest

from support.commands import START, Commands, encode
from support.dates import HOUR, MINUTE, after
from support.durable import Durable
from support.provider import TORCH, RawProvider, toggle
from support.schemas import strict
from support.service import environment, run
from support.small_disk import SmallDisk, may_mount, until
from support.wire import Silence

pytestmark = pytest.mark.skipif(not may_mount(), reason="a small disk cannot be mounted here")


@pytest.fixture
def disk(tmp_path):
    made = SmallDisk(tmp_path / "disk", "24m")
    yield made
    made.close()


@pytest.mark.parametrize("floor", [1 << 20, 0])
def test_commands_are_refused_while_there_is_no_room_and_taken_again_when_there_is(wire, disk, floor):
    durable = Durable(
        wire, disk.folder / "data", prefix=disk.inside,
        env={"ISLET_JOURNAL_MINIMUM_FREE": str(floor), "ISLET_JOURNAL_SEGMENT_BYTES": "1048576"}).start()
    try:
        client = durable.client
        id = client.start()["id"]
        disk.fill(leave=floor // 2)
        acknowledged, refusal, number = [], None, 0

        def refused():
            nonlocal refusal, number
            number += 1
            command = client.command("activity.update", id=id, contentState={"n": number, "text": "x" * 3000})
            client.send(command)
            try:
                [answer] = client.answer_to(command["req"], seconds=1)
            except Exception:
                return True
            if answer["ok"]:
                acknowledged.append(number)
            else:
                refusal = answer["error"]
            return not answer["ok"]

        until(refused)
        until(lambda: client.journal_is_full())
        error = client.refused("activity.update", id=id, contentState={"n": 0})
        assert (error["code"], error["detail"], error["retry"]) == ("unavailable", {"reason": "diskFull"}, "later")
        assert client.refused("activity.start", **START)["code"] == "unavailable"
        assert client.read("service.ping")["now"]

        disk.clear()
        until(lambda: client.ask("activity.get", id=id)["ok"])
        assert client.applied("activity.update", id=id, contentState={"n": -1})
        state = client.get(id)
        durable.restart()
        assert durable.client.get(id) == state
        events = [json.loads(body) for _, body in durable.replay(after=0).rows]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        shown = [event["activity"].get("contentState", {}).get("n") for event in events]
        assert [n for n in acknowledged if n not in shown] == []
        durable.stop()
    finally:
        durable.kill()


def test_a_command_that_is_executed_later_is_refused_to_nobody(wire, disk, tmp_path):
    """Clients send again until they are answered; whoever were told that nothing was done would do it twice."""
    env = {"ISLET_JOURNAL_MINIMUM_FREE": str(8 << 20), "ISLET_JOURNAL_SEGMENT_BYTES": str(1 << 20)}
    durable = Durable(wire, disk.folder / "data", prefix=disk.inside, env=env).start()
    try:
        client, copy = durable.client, tmp_path / "copy.db"
        id = client.start(key="k")["id"]
        other = Commands(wire, durable.service.commands, client.app)
        disk.fill(leave=0)
        identity = str(uuid.uuid4())
        command = client.command("activity.update", id=id, contentState={"n": 77}, client=identity)
        client.send(command)
        until(client.journal_is_full)
        backup = client.command("service.backup", path=str(copy), client=identity)
        client.send(backup)
        until(copy.exists)
        # Nothing is said of them, however often they come.
        for _ in range(5):
            other.send(command)
            other.send(backup)
        ping = other.command("service.ping")
        other.send(ping)
        assert [answer["req"] for answer in other.receive()] == [ping["req"]]
        # What was executed by nobody is refused.
        update = run("activity", "update", "k", "--state", '{"n": 78}', "--app", client.app, "--commands",
                     durable.service.commands)
        assert update.returncode == 6, update
        disk.clear()
        for asked in (command, backup):
            for connection in (client, other):
                assert [answer["ok"] for answer in connection.answer_to(asked["req"])] == [True]
        assert client.get(id)["contentState"] == {"n": 77}
    finally:
        durable.kill()


def test_what_waits_for_room_is_not_told_to_the_next_connection_of_a_name(wire, disk):
    """A client is started again while the disk is full, and numbers its requests from 1 in each run."""
    env = {"ISLET_JOURNAL_MINIMUM_FREE": str(8 << 20), "ISLET_JOURNAL_SEGMENT_BYTES": str(1 << 20)}
    durable = Durable(wire, disk.folder / "data", prefix=disk.inside, env=env).start()
    try:
        client = durable.client
        id = client.start()["id"]
        disk.fill(leave=0)

        def named(**command):
            socket = wire.socket("DEALER", durable.service.commands, routing_id=b"worker-1")
            socket.send(encode({**command, "req": "r-1"}))
            return socket

        former = named(op="activity.update", app=client.app, id=id, contentState={"n": 1})
        until(client.journal_is_full)
        former.close()
        following = named(op="service.ping")
        # One that comes before the end of the one before is not taken by libzmq.
        while not following.poll(1_000):
            following.close()
            following = named(op="service.ping")
        [answer] = map(json.loads, wire.receive(following))
        assert answer["req"] == "r-1" and "now" in answer
        disk.clear()
        until(lambda: client.ask("activity.update", id=id, contentState={"n": 2})["ok"])
        following.send(encode({"op": "service.ping", "req": "r-2"}))
        [answer] = map(json.loads, wire.receive(following))
        assert answer["req"] == "r-2", answer
        # What was sent is done all the same.
        assert client.get(id)["revision"] == 3
    finally:
        durable.kill()


def test_a_command_that_is_held_back_for_more_than_ten_minutes_is_executed_once(wire, disk):
    """Ten minutes take ten seconds. Whoever waits for the answer sends again, and once more when it was lost."""
    env = {"ISLET_JOURNAL_MINIMUM_FREE": str(8 << 20), "ISLET_JOURNAL_SEGMENT_BYTES": str(1 << 20)}
    durable = Durable(
        wire, disk.folder / "data", prefix=disk.inside, env=env, options={"--clock": "system", "--speed": "60"}).start()
    try:
        client = durable.client
        id = client.start(key="k")["id"]
        disk.fill(leave=0)
        named = client.command(
            "activity.update", id=id, contentState={"n": 1}, alert={"title": "Paid", "body": "Thank you"},
            client=str(uuid.uuid4()), req="order-paid")
        begun, now = time.monotonic(), client.read("service.ping")["now"]
        client.send(named)
        until(client.journal_is_full)
        until(lambda: client.read("service.ping") and time.monotonic() > begun + 11)
        other = Commands(wire, durable.service.commands, client.app)
        other.send(named)
        ping = other.command("service.ping")
        other.send(ping)
        assert [answer["req"] for answer in other.receive()] == [ping["req"]]
        disk.clear()
        [first] = client.answer_to("order-paid")
        assert first["ok"] and other.answer_to("order-paid") == [first]
        # The clock stood for want of room, and is where it would be now.
        until(lambda: client.read("service.ping")["now"] > now + 660_000)
        client.send(named)
        assert client.answer_to("order-paid") == [first]
        assert client.get(id)["revision"] == 2
    finally:
        durable.kill()


LOCK = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def locked(disk, file):
    """Another process has begun to write into a database on the disk."""
    words = [*disk.inside, sys.executable, "-c", LOCK, str(file)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "locked\n"
        yield


def is_taken(client, number, **fields):
    """Whether some updates are."""
    commands = [client.command("activity.update", contentState={"n": n, "x": "y" * 3000}, **fields) for n in range(number)]
    client.send(*commands)
    try:
        return all(answer["ok"] for answer in client.answer_to(commands[0]["req"], seconds=2))
    except Silence:
        return False


@pytest.fixture
def filling(wire, disk):
    """Starts a service that fills the disk by itself while its snapshot waits for a lock: two segments, of which the first can
    go only by the snapshot."""
    services = []

    def start(retention, **options):
        env = {"ISLET_JOURNAL_MINIMUM_FREE": str(8 << 20), "ISLET_JOURNAL_SEGMENT_BYTES": str(7 << 20), **retention}
        durable = Durable(wire, disk.folder / "data", prefix=disk.inside, env=env, options=options).start()
        services.append(durable)
        until(lambda: (disk.path / "data" / "journal-000002.db").exists())
        return durable

    yield start
    for durable in services:
        durable.kill()


def fill(client, id):
    """Until nothing more is taken."""
    until(lambda: not is_taken(client, 20, id=id))
    until(client.journal_is_full)


@pytest.mark.parametrize("what, leave", [
    ("a backup", None), ("islet backup", None), ("a call", None),
    # Between what a batch needs that was handed over before and what the snapshot needs.
    ("a backup", 5 << 20), ("a call", 5 << 20)])
def test_what_ends_while_the_disk_is_full_does_not_keep_it_full(wire, disk, tmp_path, filling, what, leave):
    durable = filling({"ISLET_JOURNAL_RETENTION_BYTES": str(4 << 20)})
    client, copy = durable.client, tmp_path / "copy.db"
    id = client.start()["id"]
    provider = RawProvider(wire, durable.service.commands, toggle())
    client.applied("control.add", kind=TORCH)
    call = provider.call("value")
    with locked(disk, disk.folder / "data" / "state.db"):
        fill(client, id)
        if leave:
            disk.fill(leave=leave)
        if what == "a backup":
            assert client.ask("service.backup", path=str(copy), client=str(uuid.uuid4()))["ok"]
        elif what == "islet backup":
            assert run("backup", copy, "--commands", durable.service.commands).returncode == 0
        else:
            provider.answer(call, True)
            provider.drain()
    until(lambda: is_taken(client, 1, id=id))
    assert client.read("control.list")["controls"][0]["value"] is (what == "a call")
    durable.restart()
    assert is_taken(durable.client, 1, id=id)
    durable.stop()


def test_time_of_another_speed_goes_on_while_the_disk_is_full(disk, filling):
    """An hour takes six seconds: what is kept for an hour goes, and makes room."""
    durable = filling({"ISLET_JOURNAL_RETENTION": "1h"}, **{"--clock": "system", "--speed": "600"})
    client = durable.client
    id = client.start(staleDate=None)["id"]
    with locked(disk, disk.folder / "data" / "state.db"):
        fill(client, id)
    until(lambda: client.ask("activity.list")["ok"])
    durable.stop()


@pytest.mark.parametrize("leave", [2 << 20, 5 << 20])
def test_a_provider_that_is_refused_is_not_registered(wire, disk, leave):
    """The disk becomes full while its registration is on its way."""
    env = {"ISLET_JOURNAL_MINIMUM_FREE": str(8 << 20), "ISLET_JOURNAL_SEGMENT_BYTES": str(1 << 20)}
    durable = Durable(wire, disk.folder / "data", prefix=disk.inside, env=env).start()
    try:
        client = durable.client
        client.start()
        provider = RawProvider(wire, durable.service.commands, toggle(), register=False)
        disk.fill(leave=leave)
        provider.say("provider.register", req="r", app=provider.app, kinds=provider.kinds)
        until(client.journal_is_full)
        disk.clear()
        until(lambda: not client.journal_is_full())
        is_registered = provider.answer_to("r")["ok"]
        listed = [row["id"] for row in client.read("provider.list", app=None)["providers"]]
        assert listed == ([provider.id] if is_registered else [])
    finally:
        durable.kill()


@pytest.mark.parametrize("leave", [0, 64 << 10, 1 << 20])
def test_a_backup_says_whose_disk_is_full(wire, disk, tmp_path, leave):
    durable = Durable(wire, tmp_path / "data", prefix=disk.inside).start()
    try:
        client, copy = durable.client, disk.folder / "copy.db"
        for _ in range(8):
            client.batch(*[client.command("activity.start", **{**START, "attributes": {"x": "y" * 3500}}) for _ in range(100)])
        # The snapshot has it all then.
        durable.restart()
        disk.fill(leave=leave)
        message = durable.client.refused("service.backup", path=str(copy))["message"]
        assert str(copy) in message and "full" in message, message
        assert str(tmp_path / "data") not in message, message
        assert [file.name for file in disk.path.iterdir()] == ["ballast"]
        disk.clear()
        assert durable.client.read("service.backup", path=str(copy))["bytes"]
    finally:
        durable.kill()


def test_a_backup_says_which_file_is_damaged(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data").start()
    try:
        client, copy = durable.client, tmp_path / "copy.db"
        for _ in range(8):
            client.batch(*[client.command("activity.start", **{**START, "attributes": {"x": "y" * 3500}}) for _ in range(100)])
        durable.restart()
        state = tmp_path / "data" / "state.db"

        def is_swept():
            journal = durable.client.read("service.info")["info"]["journal"]
            with contextlib.closing(sqlite3.connect(state)) as database:
                [[through]] = database.execute("SELECT value FROM meta WHERE key = 'holds_through'")
            return int(through) == journal["committed"]

        # What is written there later would mend it, or find it before the backup does.
        until(is_swept)
        pages = state.stat().st_size // 4096
        with open(state, "r+b") as file:
            for page in range(pages // 2, pages):
                file.seek(page * 4096)
                file.write(b"\0" * 8)
        message = durable.client.refused("service.backup", path=str(copy))["message"]
        assert f"{state} is damaged" in message and str(copy) not in message, message
    finally:
        durable.kill()


def test_problems_say_that_the_disk_is_full_and_show_nothing_that_is_not_on_it(wire, disk):
    """What was taken and waits for room may yet be lost, and is told to nobody."""
    env = {"ISLET_JOURNAL_MINIMUM_FREE": str(8 << 20), "ISLET_JOURNAL_SEGMENT_BYTES": str(1 << 20)}
    durable = Durable(wire, disk.folder / "data", prefix=disk.inside, env=env).start()
    try:
        client = durable.client
        client.start(key="late", staleDate=after(MINUTE))
        client.advance(by=HOUR)
        assert [row["what"] for row in client.read("problem.list", app=None)["problems"]] == ["stale"]
        disk.fill(leave=0)
        client.send(client.command("activity.start", **{**START, "key": "lost"}))
        until(client.journal_is_full)
        whole = ({"family": "journal"}, {"family": "provider"}, {"family": "clock"}, {"app": "com.example.none"})
        for fields in ({}, {"family": "widget"}, {"app": client.app}, *whole):
            answer = client.read("problem.list", **{"app": None, **fields})
            strict("answers/problem.list.json").validate({**answer, "req": answer["req"]})
            assert [(row["severity"], row["what"], row["family"]) for row in answer["problems"]] == [
                ("critical", "full", "journal")], fields
            assert answer["exact"] is (fields in whole) and answer["total"] == 1
        ask = lambda *words: run("problems", *words, "--commands", durable.service.commands, env=environment())
        done = ask()
        assert done.returncode == 2 and "the disk has no room for the journal" in done.stdout and "make room" in done.stdout
        assert ask("--family", "widget").returncode == ask("--family", "provider").returncode == 2
        assert ask("--family", "provider", "--filter", "what=silent").returncode == 0
        done = ask("--filter", "what=stale")
        assert done.returncode == 3 and done.stdout == "" and "diskFull" in done.stderr
        disk.clear()
        until(lambda: client.ask("activity.get", key="lost")["ok"])
        assert [row["what"] for row in client.read("problem.list", app=None)["problems"]] == ["stale"]
    finally:
        durable.kill()

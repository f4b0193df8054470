"""Whatever the system has no more of: the service goes on without it, says so, and takes it up again when it is there."""

import contextlib
import http.client
import json
import os
import resource
import signal
import socket
import sqlite3
import struct
import subprocess
import time
import uuid

import pytest

from support.cli import Islet
from support.commands import START, Commands
from support.demo import Demo
from support.durable import Durable
from support.events import Events
from support.service import BINARY, environment
from support.small_disk import SmallDisk, may_mount, until
from support.wire import DEADLINE, Silence

small_disk = pytest.mark.skipif(not may_mount(), reason="a small disk cannot be mounted here")

MIB = 1 << 20


@pytest.fixture
def disk_of(tmp_path):
    made = []

    def make(size, **options):
        made.append(SmallDisk(tmp_path / "disk", size, **options))
        return made[-1]

    yield make
    for disk in made:
        disk.close()


def durable_on(wire, disk, *, floor=0, segment=None, **options):
    env = {"ISLET_JOURNAL_MINIMUM_FREE": str(floor), **({"ISLET_JOURNAL_SEGMENT_BYTES": str(segment)} if segment else {})}
    return Durable(wire, disk.folder / "data", prefix=disk.inside, env=env, **options)


def ends_soon(service, seconds=10):
    """SIGTERM ends it within the time that it has."""
    service.signal(signal.SIGTERM)
    began = time.monotonic()
    assert service.wait(seconds) == 0, service.log
    return time.monotonic() - began


def lowest_free(process):
    """The number that the next file has which it opens."""
    numbers = {int(name) for name in os.listdir(f"/proc/{process}/fd")}
    return min(set(range(len(numbers) + 1)) - numbers)


# A disk that becomes full while nobody commits anything


@small_disk
def test_a_stop_ends_although_the_snapshot_has_no_room(wire, disk_of):
    disk = disk_of("32m")
    durable = durable_on(wire, disk, floor=8 * MIB).start()
    try:
        disk.fill(leave=8 * MIB + 512 * 1024)
        ids = [durable.client.start()["id"] for _ in range(3)]
        disk.fill(leave=7 * MIB)
        ends_soon(durable.service)
        disk.clear()
        durable.start()
        assert [durable.client.get(id)["state"] for id in ids] == ["active"] * 3
        durable.stop()
    finally:
        durable.kill()


@small_disk
def test_a_disk_that_became_full_is_known_before_anybody_sends_a_command(wire, disk_of):
    disk = disk_of("24m")
    durable = durable_on(wire, disk, floor=8 * MIB).start()
    try:
        disk.fill(leave=4 * MIB)
        until(lambda: durable.client.journal_is_full())
        durable.service.line("the disk is full")
        error = durable.client.refused("activity.start", type="order", attributes={}, contentState={})
        assert error["detail"] == {"reason": "diskFull"}
        disk.clear()
        until(lambda: not durable.client.journal_is_full())
        durable.client.start()
        durable.stop()
    finally:
        durable.kill()


# What goes on while the disk is full


@small_disk
def test_streams_pulls_and_backups_go_on_while_the_disk_is_full(wire, disk_of, tmp_path):
    disk = disk_of("24m")
    durable = durable_on(wire, disk).start()
    try:
        client, bulk = durable.client, durable.bulk()
        id, events = client.start()["id"], durable.events()
        disk.fill()

        def is_silent():
            """The last command that was taken waits for room, and the stream stands before it."""
            command = client.command("activity.update", id=id, contentState={"text": "x" * 3000})
            client.send(command)
            try:
                [answer] = client.answer_to(command["req"], seconds=0.5)
            except Silence:
                return True
            assert answer["ok"] or answer["error"]["detail"] == {"reason": "diskFull"}
            return not answer["ok"]

        until(is_silent)
        until(lambda: client.journal_is_full())
        seq = events.join()["apps"][client.app]["seq"]
        while events._events:
            last = events.next()
            assert last["seq"] <= seq
        assert events.watermark(seconds=5)["seq"] == seq
        for op, fields in (("snapshot", {}), ("replay", {"from": 0})):
            pulled = bulk.pull(op, **fields)
            assert pulled.end["error"]["detail"] == {"reason": "diskFull"}
        path = tmp_path / "copy.db"
        assert client.read("service.backup", path=str(path))["bytes"] == path.stat().st_size
        ends_soon(durable.service)
        assert events.watermark(lambda mark: mark.get("closing"))["seq"] == seq
    finally:
        durable.kill()


@small_disk
def test_a_log_whose_index_cannot_grow_waits_for_room(wire, disk_of):
    """SQLite finds room for a commit, which was made before, and none for the index that its connections share."""
    disk = disk_of("48m")
    durable = durable_on(wire, disk, segment=48 * MIB).start()
    try:
        client = durable.client
        id, number = client.start()["id"], 0
        index = disk.path / "data" / "journal-000001.db-shm"

        def update(count):
            nonlocal number
            commands = []
            for _ in range(count):
                number += 1
                commands.append(client.command("activity.update", id=id, contentState={"n": number, "t": "x" * 3900}))
            client.send(*commands)
            return commands[0]["req"]

        def frames():
            return struct.unpack_from("<I", index.read_bytes(), 16)[0]

        while frames() < 3_960:
            client.answer_to(update(48))
        disk.fill()
        req = update(48)
        for _ in range(200):
            try:
                if not client.answer_to(req, seconds=1)[0]["ok"]:
                    break
            except Silence:
                break
            req = update(1)
        assert index.stat().st_size == 32_768 and durable.service.alive, durable.service.log
        until(lambda: client.journal_is_full())
        disk.clear()
        until(lambda: client.ask("activity.get", id=id)["ok"])
        for number in range(200):  # what was refused may have been shorter than the room that the index had left
            client.applied("activity.update", id=id, contentState={"n": -number, "t": "x" * 3900})
            if index.stat().st_size > 32_768:
                break
        assert index.stat().st_size > 32_768
        state = client.get(id)
        durable.restart()
        assert durable.client.get(id) == state
        durable.stop()
    finally:
        durable.kill()


# No files any more


@small_disk
def test_a_segment_that_can_have_no_inode_is_made_later(wire, disk_of):
    disk = disk_of("48m", inodes=64)
    durable = durable_on(wire, disk, segment=64 * 1024).start()
    try:
        client = durable.client
        id = client.start()["id"]
        until(lambda: (disk.path / "data" / "journal-000002.db").exists())
        disk.take_inodes()
        for number in range(60):
            client.applied("activity.update", id=id, contentState={"n": number, "t": "x" * 3900})
        durable.service.line("segment 3 cannot be made yet")
        client.applied("activity.update", id=id, contentState={"n": -1})
        until(lambda: client.read("service.stats")["stats"]["journal"].get("segmentDelayed"))
        check = ["check", *(f"--{name}=off" for name in ("response", "answer-p99", "commit-p99", "lateness-p99"))]
        judged = Islet(durable.service, client.app)(*check, code=1)
        assert "can begin no new segment" in judged.out
        disk.give_inodes_back()
        durable.service.line("segment 3 could be made now")
        until(lambda: "segmentDelayed" not in client.read("service.stats")["stats"]["journal"])
        Islet(durable.service, client.app)(*check)
        for number in range(60):
            client.applied("activity.update", id=id, contentState={"n": number, "t": "x" * 3900})
        until(lambda: (disk.path / "data" / "journal-000004.db").exists())
        state = client.get(id)
        durable.restart()
        assert durable.client.get(id) == state
        durable.stop()
    finally:
        durable.kill()


def test_connections_take_no_file_that_the_journal_needs(wire, tmp_path):
    limit = ["sh", "-c", 'ulimit -n 128 && exec "$0" "$@"']
    durable = Durable(wire, tmp_path, prefix=limit, env={"ISLET_JOURNAL_SEGMENT_BYTES": "65536"}).start()
    sockets = []
    try:
        client = durable.client
        id = client.start()["id"]
        port = int(durable.service.commands.rsplit(":", 1)[1])
        for _ in range(300):
            sockets.append(socket.create_connection(("127.0.0.1", port)))
        number = 0

        def has_fifth():
            """One that is made late is made while the one before it grows."""
            nonlocal number
            number += 1
            client.applied("activity.update", id=id, contentState={"n": number, "t": "x" * 3900})
            return (tmp_path / "journal-000005.db").exists()

        until(has_fifth)
        state = client.get(id)
        durable.restart()
        assert durable.client.get(id) == state
        durable.stop()
    finally:
        for each in sockets:
            each.close()
        durable.kill()


def test_a_replay_that_finds_no_file_to_open_is_to_be_tried_again(wire, tmp_path):
    """It does not say that events are gone."""
    durable = Durable(wire, tmp_path).start()
    try:
        id = durable.client.start()["id"]
        durable.client.applied("activity.update", id=id, contentState={"n": 1})

        def is_busy():
            # Nothing is in memory, and no file is open yet to be read.
            durable.restart()
            bulk, process = durable.bulk(), durable.service.process.pid
            assert bulk.snapshot().end["seq"] == 2
            soft, hard = resource.prlimit(process, resource.RLIMIT_NOFILE)
            resource.prlimit(process, resource.RLIMIT_NOFILE, (lowest_free(process), hard))
            end = bulk.replay(after=0).end
            resource.prlimit(process, resource.RLIMIT_NOFILE, (soft, hard))
            assert [json.loads(body)["seq"] for _, body in bulk.replay(after=0).rows] == [1, 2]
            # A file that was just closed may have left it its number.
            return "error" in end and end["error"]["code"] == "busy"

        until(is_busy)
        durable.stop()
    finally:
        durable.kill()


# libzmq aborts the process that has no descriptors for its threads to poll with


def test_http_reaches_the_service_once_there_are_files_for_it(serve):
    """It opens its connection with the first request: each that comes before there are enough is refused."""
    service = serve({"--http": "127.0.0.1:0"})
    process = service.process.pid
    browser = http.client.HTTPConnection(service.http.removeprefix("http://"), timeout=DEADLINE)
    with contextlib.closing(browser):
        browser.request("GET", "/healthz")  # needs no connection of the service's own
        assert browser.getresponse().read()
        soft, hard = resource.prlimit(process, resource.RLIMIT_NOFILE)
        seen = []
        while 200 not in seen:
            assert len(seen) < 100, seen
            resource.prlimit(process, resource.RLIMIT_NOFILE, (lowest_free(process) + len(seen), hard))
            browser.request("POST", "/api/commands", b'{"op":"service.ping"}', {"Content-Type": "application/json"})
            reply = browser.getresponse()
            reply.read()
            seen.append(reply.status)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (soft, hard))
    assert seen[0] == 502


def test_a_command_that_finds_no_files_says_so(service):
    env, seen = Islet(service).env, []
    for files in range(7, 100):
        done = subprocess.run(
            ["prlimit", f"--nofile={files}", BINARY, "info", "--timeout", "2s"], env=env, capture_output=True, text=True)
        # Without one for the connection itself there is no answer.
        assert done.returncode in (0, 2, 5), (files, done)
        seen.append(done.returncode)
        if done.returncode == 0:
            break
        assert done.returncode == 5 or "no descriptor is free" in done.stderr, (files, done)
    assert seen[0] == 2 and seen[-1] == 0


@small_disk
def test_a_file_system_that_is_mounted_read_only_is_named(wire, disk_of):
    disk = disk_of("24m")
    durable = durable_on(wire, disk).start()
    durable.stop()
    subprocess.run([*disk.inside, "mount", "-o", "remount,ro", str(disk.folder)], check=True)
    assert f"{disk.folder}/data is on a file system that is mounted read-only" in durable.refused()


# A stop while something else is waited for


def test_a_start_that_waits_for_the_clock_can_be_stopped(wire, tmp_path):
    ahead = int(time.time() * 1000) + 3_600_000
    durable = Durable(wire, tmp_path, options={"--clock": f"manual={ahead}"}).start()
    durable.client.start()
    durable.stop()
    service = durable.service_with(clock="system")
    try:
        service.line("waiting for it to be set")
        ends_soon(service, seconds=5)
        assert "ready" not in service.log
    finally:
        service.kill()


# Who ends it, and who has it


@pytest.mark.parametrize("words, ends", [([], True), (["nohup"], False)])
def test_a_terminal_that_goes_away_ends_it_in_good_order(wire, serve, words, ends):
    service = serve(prefix=words)
    client, events = Commands(wire, service.commands), Events(wire, service.events, "com.example.")
    events.join()
    client.start()
    service.signal(signal.SIGHUP)
    if ends:
        assert service.wait() == 0
        assert events.watermark(lambda mark: mark.get("closing"))["seq"] == 1
    else:
        client.start()


def test_a_terminal_that_goes_away_ends_the_demo_in_good_order(tmp_path):
    demo = Demo(tmp_path, "--no-demo", "--http", "none")
    try:
        assert demo.process.end(signal.SIGHUP) == 0
    finally:
        demo.process.kill()


def test_the_demo_outlives_who_reads_its_messages(wire, tmp_path):
    """A script reads until it is ready, and no further."""
    url = f"ipc://{tmp_path}/commands"
    words = [str(BINARY), "dev", "--no-demo", "--http", "none", "--commands", url]
    for name in ("events", "bulk"):
        words += [f"--{name}", f"ipc://{tmp_path}/{name}"]
    dev = subprocess.Popen(words, env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        while "ready" not in (line := dev.stderr.readline()):
            assert line, "ended before it was ready"
        dev.stderr.close()
        client, provider = Commands(wire, url), str(uuid.uuid4())
        kind = {"kind": "Torch", "template": "toggle", "hasValue": True, "previewValue": False}
        assert client.ask("provider.register", provider=provider, kinds=[kind])["ok"]
        for number in range(17):  # of which the log tells
            client.ask("provider.answer", provider=provider, call=f"never-{number}", value=True)
        assert client.ask("service.ping")["ok"]
        dev.terminate()
        assert dev.wait(DEADLINE) == 0
    finally:
        dev.kill()
        dev.wait()


def test_a_folder_whose_lock_file_was_removed_has_one_process(wire, tmp_path):
    durable = Durable(wire, tmp_path).start()
    try:
        (tmp_path / "lock").unlink()
        assert "is used by another process" in durable.refused()
        durable.client.start()
        durable.stop()
    finally:
        durable.kill()


# A lock that another process has


@pytest.mark.parametrize("name", ["journal-000001.db", "state.db"])
def test_a_lock_that_another_process_holds_is_waited_for(wire, tmp_path, name):
    """As `sqlite3` holds it in the hands of somebody who has begun to write and gone for a coffee."""
    durable = Durable(wire, tmp_path / "data").start()
    try:
        with contextlib.closing(sqlite3.connect(durable.data / name, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            command = durable.client.command("activity.start", **START)
            durable.client.send(command)
            durable.service.line("another process has locked a file, and is waited for: .*" + name)
        assert durable.client.answer_to(command["req"])[0]["ok"]
        durable.service.line("the file that another process had locked is free again")
        durable.stop()
    finally:
        durable.kill()


def test_while_a_commit_is_waited_for_the_bulk_socket_makes_no_more_answers_than_a_turn_may(wire, tmp_path):
    """They wait behind the answer to the change that is not committed; whoever asks for more finds no room at last."""
    durable = Durable(wire, tmp_path / "data").start()
    try:
        asked = wire.socket("DEALER", durable.service.bulk, sndhwm=8, rcvhwm=8)
        with contextlib.closing(sqlite3.connect(durable.data / "journal-000001.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            command = durable.client.command("activity.start", **START)
            durable.client.send(command)
            durable.service.line("another process has locked a file, and is waited for: .*")
            # Four times as much as 16 MiB, and what the sockets hold.
            ping, sent = [b'{"op":"service.ping","req":"x"}'] * 256, 0
            while sent < 5_000 and asked.poll(2_000, wire.zmq.POLLOUT):
                asked.send_multipart(ping)
                sent += 1
        assert 100 < sent < 5_000
        assert durable.client.answer_to(command["req"])[0]["ok"]
        for _ in range(sent):
            assert len(wire.receive(asked)) == 256
        durable.stop()
    finally:
        durable.kill()


def test_a_replay_at_the_last_committed_event_waits_for_a_commit_that_takes_long(wire, tmp_path):
    """Memory has given up what comes next, and no file has it yet: that is no reason to take a snapshot."""
    durable = Durable(wire, tmp_path / "data").start()
    try:
        client, id = durable.client, durable.client.start()["id"]
        for _ in range(5):
            seq = client.applied("activity.update", id=id, contentState={"n": 0})["seq"]
            with contextlib.closing(sqlite3.connect(durable.data / "journal-000001.db", isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                # More than the 8 MiB that memory keeps.
                for number in range(30):
                    client.send(*[
                        client.command("activity.update", id=id, ack="none", contentState={"n": n, "text": "x" * 3_300})
                        for n in range(100)])
                time.sleep(0.3)  # as much of it as may wait for a commit is executed
                replay = durable.bulk()
                replay.send("replay", app=client.app, credit=16, **{"from": seq})
                time.sleep(0.1)
            while not (header := replay.chunk()[0]).get("end"):
                assert "error" not in header, header
                replay.send("credit", req=header["req"], credit=1)
        durable.stop()
    finally:
        durable.kill()


@pytest.mark.parametrize("name, code", [("journal-000001.db", 74), ("state.db", 0)])
def test_a_stop_waits_some_seconds_for_a_lock_that_another_process_holds(wire, tmp_path, name, code):
    """What cannot be written then is acknowledged to nobody, and is not there at the next start."""
    durable = Durable(wire, tmp_path / "data", options={"--log-level": "debug"}).start()
    try:
        client = durable.client
        kept = [client.start(key="kept")["id"]]
        events = Events(wire, durable.service.events, client.app + "/")
        assert events.join()["apps"][client.app]["seq"] == 1
        with contextlib.closing(sqlite3.connect(durable.data / name, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            first, second = (client.command("activity.start", **{**START, "key": key}) for key in ("first", "second"))
            client.send(first)
            durable.service.line("another process has locked a file, and is waited for: .*" + name)
            if code == 0:
                kept.append(client.answer_to(first["req"])[0]["activity"]["id"])
            else:
                client.send(second)
                durable.service.line(f"id={second['req']} .*command answered")
            durable.service.signal(signal.SIGTERM)
            assert durable.service.wait(30) == code, durable.service.log
            if code != 0:
                assert "which another process kept from being written: " in durable.service.log
                assert client.answer_to(second["req"])[0]["error"]["detail"] == {"reason": "stopping"}
                client.silent()
        # The last word on the stream is what is committed of it.
        closing = events.watermark(lambda mark: mark.get("closing"))
        assert (closing["seq"], closing["entities"]) == (len(kept), len(kept))
        durable.start()
        assert sorted(activity["id"] for activity in durable.client.list()) == sorted(kept)
        durable.stop()
    finally:
        durable.kill()


def test_a_start_says_that_another_process_has_a_lock(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data").start().stop()
    with contextlib.closing(sqlite3.connect(durable.data / "state.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "another process has locked it, and is waited for no longer than a second" in durable.refused()
    durable.start().stop()

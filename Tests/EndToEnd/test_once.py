"""At most once, whatever is forgotten: a restart, a trimmed journal, a backup and a pair that is used again."""

import contextlib
import itertools
import pathlib
import signal
import sqlite3
import time
import uuid

import pytest

from support.commands import START, Commands, encode
from support.dates import MINUTE
from support.durable import Durable
from support.http import Pages
from support.preload import needs_compiler, preloaded
from support.provider import TORCH, RawProvider, toggle
from support.service import run
from support.small_disk import SmallDisk, may_mount, until
from support.wire import Silence

SMALL = {"ISLET_JOURNAL_SEGMENT_BYTES": "65536", "ISLET_JOURNAL_RETENTION_BYTES": "262144"}


@pytest.fixture
def one():
    return str(uuid.uuid4())


@pytest.fixture
def make(wire, tmp_path):
    """Makes services on a directory; at the end each is killed."""
    made = []

    def make(name="data", **more):
        made.append(Durable(wire, tmp_path / name, **more))
        return made[-1]

    yield make
    for durable in made:
        if durable.service:
            durable.kill()


def frames(client, one):
    """A start whose `req` counts up, and one whose `req` does not."""
    return [encode(client.command("activity.start", client=one, req=req, **START)) for req in ("n-1", "go")]


def execute(client, frames):
    return [client.raw(frame)[0] for frame in frames]


def test_a_pair_that_was_used_again_is_known_by_its_last_use_after_a_kill(make, one):
    durable = make().start()
    frame = encode(durable.client.command("activity.start", client=one, req="go", **START))
    others = [encode(durable.client.command("activity.start", client=one, req=req, **START)) for req in "ab"]
    [before] = execute(durable.client, [frame])
    execute(durable.client, others)
    durable.client.advance(by=10 * MINUTE)
    [again] = execute(durable.client, [frame])
    assert again["activity"]["id"] != before["activity"]["id"]
    durable.restart()
    assert execute(durable.client, [frame]) == [again]
    assert durable.client.read("activity.list")["total"] == 4
    durable.client.advance(by=10 * MINUTE - 1)
    assert execute(durable.client, [frame]) == [again]


def fill(durable, until_gone):
    """Updates until a file is trimmed; the last of them are not remembered for anybody."""
    client = durable.client
    id = client.start()["id"]
    number = 0

    def happens():
        nonlocal number
        commands = []
        for _ in range(40):
            number += 1
            commands.append(client.command("activity.update", id=id, contentState={"n": number, "text": "x" * 1_500}))
        assert all(answer["ok"] for answer in client.batch(*commands))
        return not until_gone.exists()

    until(happens)


def test_what_the_journals_bytes_trim_is_not_executed_again_after_a_kill(make, one):
    durable = make(env=SMALL).start()
    sent = frames(durable.client, one)
    first = execute(durable.client, sent)
    fill(durable, durable.data / "journal-000001.db")
    durable.restart()
    assert execute(durable.client, sent) == first
    assert run("journal", "verify", "--data", durable.stop().data).returncode == 0
    durable.start()
    assert execute(durable.client, sent) == first
    # As before, ten minutes are the end of it.
    durable.client.advance(by=10 * MINUTE)
    numbered, other = execute(durable.client, sent)
    assert numbered["error"]["code"] == "outcomeUnknown"
    assert other["ok"]
    durable.restart()
    [numbered] = execute(durable.client, sent[:1])
    assert numbered["error"]["code"] == "outcomeUnknown"


def sweep(durable):
    """Waits until the snapshot holds everything."""

    def is_swept():
        journal = durable.client.read("service.info")["info"]["journal"]
        return journal["snapshot"] == journal["committed"]

    until(is_swept)


def test_what_a_client_does_after_its_trace_was_written_counts_after_a_kill(make, one):
    """A trace is what is left of forgotten answers. It is not written again before more are forgotten."""
    durable = make().start()

    def start(req):
        return encode(durable.client.command("activity.start", client=one, req=req, **START))

    assert execute(durable.client, [start("a-1")])[0]["ok"]
    durable.client.advance(by=10 * MINUTE)
    sweep(durable)
    # Under a stem that the trace does not know.
    frame = start("b-1")
    assert execute(durable.client, [frame])[0]["ok"]
    durable.client.advance(by=MINUTE)
    sweep(durable)
    durable.restart()
    durable.client.advance(by=10 * MINUTE)
    [again] = execute(durable.client, [frame])
    assert again["ok"] is False and again["error"]["code"] == "outcomeUnknown"
    assert durable.client.read("activity.list")["total"] == 2


def back_up(durable, file):
    """A backup when the snapshot holds everything, so that there is no batch beside it."""
    sweep(durable)
    done = run("backup", file, "--commands", durable.service.commands)
    assert done.returncode == 0, done.stderr


def restore(make, file, name="restored"):
    restored = make(name)
    done = run("restore", file, "--data", restored.data, "--allow-volatile")
    assert done.returncode == 0, done.stderr
    return restored.start()


@pytest.mark.parametrize("env", [{}, SMALL], ids=["from segments", "trimmed before"])
def test_a_retry_finds_its_first_answer_in_a_restored_backup(make, one, tmp_path, env):
    durable = make(env=env).start()
    sent = frames(durable.client, one)
    first = execute(durable.client, sent)
    if env:
        fill(durable, durable.data / "journal-000001.db")
    total = durable.client.read("activity.list")["total"]
    back_up(durable, tmp_path / "backup.db")
    durable.stop()
    restored = restore(make, tmp_path / "backup.db")
    assert execute(restored.client, sent) == first
    restored.restart()
    assert execute(restored.client, sent) == first
    assert restored.client.read("activity.list")["total"] == total
    # A backup of what was restored has them too.
    back_up(restored, tmp_path / "second.db")
    assert execute(restore(make, tmp_path / "second.db", "again").client, sent) == first


def test_a_kept_answer_that_is_damaged_is_refused(make, one, tmp_path):
    """Else a retry would get an answer that nobody gave."""
    durable = make().start()
    execute(durable.client, frames(durable.client, one))
    back_up(durable, tmp_path / "backup.db")
    restored = make("restored")
    assert run("restore", tmp_path / "backup.db", "--data", restored.data, "--allow-volatile").returncode == 0
    with contextlib.closing(sqlite3.connect(restored.data / "state.db")) as database, database:
        batch, answers = database.execute("SELECT batch, answers FROM answer").fetchone()
        changed = answers.replace(b'"ok":true', b'"ok":tru3')
        assert changed != answers
        database.execute("UPDATE answer SET answers = ? WHERE batch = ?", [changed, batch])
    assert f"the answers of batch {batch} are not as they were written" in restored.refused()


def test_a_number_that_was_forgotten_is_known_in_a_restored_backup(make, one, tmp_path):
    durable = make().start()
    sent = frames(durable.client, one)
    execute(durable.client, sent)
    durable.client.advance(by=11 * MINUTE)
    durable.client.start()
    back_up(durable, tmp_path / "backup.db")
    [refusal] = execute(restore(make, tmp_path / "backup.db").client, sent[:1])
    assert refusal["error"]["code"] == "outcomeUnknown"


def test_a_backup_is_made_once(make, one, tmp_path):
    durable = make().start()
    file = str(tmp_path / "backup.db")
    frame = encode(durable.client.command("service.backup", client=one, req="b", path=file))
    first = execute(durable.client, [frame])
    assert first[0]["bytes"] == pathlib.Path(file).stat().st_size
    assert execute(durable.client, [frame]) == first
    durable.restart()
    assert execute(durable.client, [frame]) == first
    other = encode(durable.client.command("service.backup", client=one, req="b", path=file + "2"))
    assert execute(durable.client, [other])[0]["error"]["code"] == "requestReused"
    # A backup that failed may be asked for again.
    frame = encode(durable.client.command("service.backup", client=one, req="c", path=file))
    assert execute(durable.client, [frame])[0]["error"]["code"] == "unavailable"
    pathlib.Path(file).unlink()
    assert execute(durable.client, [frame])[0]["ok"]


def test_a_retry_of_a_backup_finds_its_answer_also_while_another_one_is_made(make, one, tmp_path):
    durable = make().start()
    file = str(tmp_path / "backup.db")
    frame = encode(durable.client.command("service.backup", client=one, req="b", path=file))
    [first] = execute(durable.client, [frame])
    running = encode(durable.client.command("service.backup", client=one, req="c", path=file + "2"))
    reused = encode(durable.client.command("service.backup", client=one, req="c", path=file + "3"))
    # In one message: the copy is made behind it.
    made, again, refused = durable.client.raw(running, frame, reused)
    assert made["ok"] and again == first
    assert refused["error"]["code"] == "requestReused"


def test_a_retry_of_a_backup_whose_ttl_is_over_gets_its_answer(make, one, wire, tmp_path):
    """It waits behind a clock, which waits for a provider."""
    durable = make().start()
    client = durable.client
    file = str(tmp_path / "backup.db")
    frame = encode(client.command("service.backup", client=one, req="b", path=file, ttl=100))
    # A busy machine may be too late for it.
    until(lambda: execute(client, [frame])[0]["ok"])
    provider = RawProvider(wire, durable.service.commands, toggle())
    client.applied("control.add", kind=TORCH)
    call = provider.call("value")
    advance = client.command("clock.advance", by=1000)
    client.send(advance)
    client.send(frame)
    other = encode(client.command("service.backup", client=one, req="c", path=file + "2", ttl=100))
    client.send(other)
    sent = time.monotonic()
    until(lambda: time.monotonic() > sent + 1)
    provider.answer(call, True)
    assert client.answer_to(advance["req"])[0]["ok"]
    assert client.answer_to("b")[0]["bytes"] == pathlib.Path(file).stat().st_size
    assert client.answer_to("c")[0]["error"]["code"] == "expired"


@pytest.mark.skipif(not may_mount(), reason="a small disk cannot be mounted here")
@pytest.mark.parametrize("restarts", [False, True])
def test_a_disk_that_the_journal_filled_heals_when_retention_is_over(make, tmp_path, restarts):
    disk = SmallDisk(tmp_path / "disk", "16m")
    try:
        durable = make(
            "disk/data", prefix=disk.inside, options={"--clock": "system"},
            env={
                "ISLET_JOURNAL_MINIMUM_FREE": str(4 << 20), "ISLET_JOURNAL_SEGMENT_BYTES": str(1 << 20),
                "ISLET_JOURNAL_RETENTION": "2s"}).start()
        client = durable.client
        id = client.start()["id"]

        numbers = itertools.count()

        def fills():
            commands = [
                client.command("activity.update", id=id, contentState={"n": next(numbers), "text": "x" * 3_000})
                for _ in range(100)]
            client.send(*commands)
            with contextlib.suppress(Silence):
                client.answer_to(commands[0]["req"], seconds=0.5)
            return client.journal_is_full()

        until(fills)
        if restarts:
            client = durable.restart().client
        until(lambda: not client.journal_is_full() and client.ask("activity.update", id=id, contentState={"n": -1})["ok"])
        assert client.get(id)["contentState"] == {"n": -1}
        durable.stop()
    finally:
        disk.close()


def test_a_change_that_waited_beside_a_read_is_not_refused_where_a_commit_does_not_come_at_a_stop(make, wire, one):
    """It was committed long before; only its answer had waited."""
    durable = make(options={"--clock": "system", "--http": "127.0.0.1:0"}).start()
    client, other = durable.client, Commands(wire, durable.service.commands, durable.app)
    id = client.start()["id"]
    change = client.command("activity.update", id=id, contentState={"n": 1}, client=one)
    client.send(change, client.command("activity.get", id=id, minSeq=50))
    until(lambda: client.get(id)["revision"] == 2)
    with contextlib.ExitStack() as locks:
        for file in durable.data.glob("journal-*.db"):
            database = locks.enter_context(contextlib.closing(sqlite3.connect(file, isolation_level=None)))
            database.execute("BEGIN IMMEDIATE")
        other.send(other.command("activity.update", id=id, contentState={"n": 2}))
        pages = Pages(durable.service.http)
        until(lambda: pages.get("/readyz").status == 503)
        durable.service.signal(signal.SIGTERM)
        assert durable.service.wait() == 74
        client.silent()
    durable.start()
    [again] = durable.client.raw(encode(change))
    assert again["ok"] and again["activity"]["revision"] == 2


@needs_compiler
@pytest.mark.parametrize("how", ["stays", "kill", "stop"])
def test_what_was_answered_before_the_clock_was_set_forward_is_remembered(make, one, tmp_path, how):
    """Whoever waits for an answer sends again within moments, however far the clock went meanwhile."""
    clock = tmp_path / "clock"
    clock.write_text("0")
    env = {"LD_PRELOAD": str(preloaded(tmp_path, "set_clock")), "SET_CLOCK": str(clock)}
    durable = make(options={"--clock": "system"}, env=env).start()
    client = durable.client
    sent = frames(client, one)
    first = execute(client, sent)
    assert all(answer["ok"] for answer in first)
    # A quarter of an hour, in steps that are believed at once.
    for step in range(50, 901, 50):
        clock.write_text(str(step))
        until(lambda: client.read("service.ping")["now"] > time.time() * 1_000 + (step - 10) * 1_000)
    # Something that is committed at the new date.
    client.start()
    if how != "stays":
        getattr(durable, how)().start()
    assert execute(durable.client, sent) == first
    assert durable.client.read("activity.list")["total"] == 3


@needs_compiler
def test_what_was_answered_is_remembered_where_a_stop_comes_after_a_commit_that_took_long(make, wire, one, tmp_path):
    """The stop is given up before its snapshot is written: the journal alone tells the next start what is remembered."""
    clock = tmp_path / "clock"
    clock.write_text("0")
    env = {"LD_PRELOAD": str(preloaded(tmp_path, "set_clock")), "SET_CLOCK": str(clock)}
    durable = make(options={"--clock": "system", "--http": "127.0.0.1:0"}, env=env).start()
    client = durable.client
    sent = frames(client, one)
    first = execute(client, sent)
    assert all(answer["ok"] for answer in first)
    # A quarter of an hour, in steps that are believed at once.
    steps = range(50, 901, 50)
    for step in steps:
        client.start(staleDate=client.read("service.ping")["now"] + (step - 20) * 1_000)
    pages = Pages(durable.service.http)

    def gone_stale():
        return next(
            float(line.split()[-1]) for line in pages.get("/metrics").body.decode().splitlines()
            if line.startswith("islet_entities") and 'family="activity"' in line and 'state="stale"' in line)

    with contextlib.ExitStack() as state, contextlib.ExitStack() as journal:
        for locks, files in ((journal, durable.data.glob("journal-*.db")), (state, [durable.data / "state.db"])):
            for file in files:
                database = locks.enter_context(contextlib.closing(sqlite3.connect(file, isolation_level=None)))
                database.execute("BEGIN IMMEDIATE")
        client.send(client.command("activity.start", **START))
        durable.service.line("another process has locked a file, and is waited for: .*")
        # In the batch that follows.
        late = client.command("activity.start", **START)
        client.send(late)
        for count, step in enumerate(steps, 1):
            clock.write_text(str(step))
            until(lambda: gone_stale() == count)
        durable.service.signal(signal.SIGTERM)
        durable.service.line("stopping for .*: waiting for a commit")
        journal.close()
        [answer] = client.answer_to(late["req"])
        assert answer["ok"]
        durable.kill()
    durable.start()
    assert execute(durable.client, sent) == first

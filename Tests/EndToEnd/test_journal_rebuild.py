"""Files that are sound while what they say is not: the message names it, `verify` finds it, `rebuild` goes on."""

import contextlib
import json
import os
import sqlite3
import subprocess

import pytest

from support.bulk import Bulk
from support.durable import Durable
from support.provider import RawProvider, toggle
from support.service import BINARY, environment, run
from support.small_disk import NAMESPACE, may_mount
from support.wire import Deadline

APPS = ["com.a", "com.b"]


def shown(durable, app):
    """The rows of an app's snapshot by topic; of controls the topics alone, since they miss their provider."""
    bulk = Bulk(durable.wire, durable.service.bulk, app)
    return {topic: "/control/" in topic or json.loads(body) for topic, body in bulk.snapshot().rows}


@pytest.fixture
def durable(wire, tmp_path):
    """A service that was stopped, with a control and three activities of each of two apps."""
    made = Durable(wire, tmp_path / "data").start()
    for app in APPS:
        RawProvider(wire, made.service.commands, toggle("Torch"), app=app)
        made.client.applied("control.add", app=app, kind="Torch")
        for number in range(3):
            made.client.start(app=app, key=f"order-{number}")
    made.kept = {app: shown(made, app) for app in APPS}
    yield made.stop()
    made.kill()


@contextlib.contextmanager
def state(durable):
    """The snapshot's database, to change it."""
    database = sqlite3.connect(durable.data / "state.db")
    with contextlib.closing(database), database:
        yield database


def lose(durable, app, family="activity"):
    """Takes the first row of a family out of an app's snapshot, and says which topic it was."""
    topic = next(topic for topic in sorted(durable.kept[app]) if f"/{family}/" in topic)
    with state(durable) as database:
        found = database.execute("DELETE FROM entity WHERE id = ?", [topic.rsplit("/", 1)[1]])
        assert found.rowcount == 1
    return topic


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "lock" and "shm" not in file.name}


def rebuild(durable, folder, *words):
    return run("journal", "rebuild", "--data", durable.data, "--to", folder, "--allow-volatile", *words)


@pytest.mark.parametrize("family", ["activity", "control"])
def test_a_refused_start_names_the_entity_with_its_row_and_its_events(durable, family):
    topic = lose(durable, "com.b", family)
    message = durable.refused()
    for words in (f"{topic} is missing", "no row in the snapshot", " seq ", "in batch", "islet journal rebuild"):
        assert words in message, message
    assert "com.a" not in message.replace(str(durable.data), "")
    done = run("journal", "verify", "--data", durable.data)
    assert done.returncode == 1 and f"{topic} is missing" in done.stdout, done.stdout


def test_an_older_row_than_the_last_event_is_named(durable):
    """The row is whole, and as old as if a round of the snapshot had left it out."""
    folder = durable.data
    durable.start()
    id = durable.client.list(app="com.a")[0]["id"]
    with contextlib.closing(sqlite3.connect(folder / "state.db")) as database:
        old = database.execute("SELECT * FROM entity WHERE id = ?", [id]).fetchone()
    durable.client.applied("activity.update", app="com.a", id=id, contentState={"eta": 1})
    durable.stop()
    with state(durable) as database:
        database.execute(f"REPLACE INTO entity VALUES({','.join('?' * len(old))})", old)
    message = durable.refused()
    assert f"{id} is at revision 1 instead of 2" in message and "activity.updated seq" in message, message


def test_what_is_left_is_rebuilt_beside_it_under_a_new_epoch(durable, tmp_path):
    topic = lose(durable, "com.b")
    epoch = epoch_of(durable.data)
    before = files(durable.data)
    done = rebuild(durable, tmp_path / "new")
    assert done.returncode == 0, done.stderr
    assert f"{topic} is missing" in done.stdout and "com.b has 3 entities and not the 4" in done.stdout, done.stdout
    assert files(durable.data) == before
    assert epoch_of(tmp_path / "new") != epoch
    assert run("journal", "verify", "--data", tmp_path / "new").returncode == 0
    durable.data = tmp_path / "new"
    durable.options["--data"] = durable.data
    durable.start()
    del durable.kept["com.b"][topic]
    assert {app: shown(durable, app) for app in APPS} == durable.kept
    durable.client.start(app="com.b", key="order-9")
    durable.restart()
    assert len(shown(durable, "com.b")) == 4


def epoch_of(folder):
    done = run("journal", "stats", "--data", folder, "--json")
    return json.loads(done.stdout)["epoch"]


def test_a_sound_folder_can_be_rebuilt_too(durable, tmp_path):
    done = rebuild(durable, tmp_path / "new", "--json")
    report = json.loads(done.stdout)
    assert (report["entities"], report["lossCount"], report["losses"]) == (8, 0, []), report
    assert report["epoch"] == epoch_of(tmp_path / "new") != epoch_of(durable.data)


def test_a_folder_with_a_store_is_not_written_over(durable, tmp_path):
    assert rebuild(durable, tmp_path / "new").returncode == 0
    again = rebuild(durable, tmp_path / "new")
    assert again.returncode == 1 and "exists already" in again.stderr


def test_a_folder_in_use_is_not_rebuilt(durable, tmp_path):
    durable.start()
    refused = rebuild(durable, tmp_path / "new")
    assert refused.returncode == 1 and "is used by another process" in refused.stderr
    assert not (tmp_path / "new").exists()


def test_batches_that_were_acknowledged_and_are_gone_are_among_the_losses(durable, tmp_path):
    """All of them, as the log is gone; or the last one, as only its end is."""
    log = durable.data / "journal-000001.db-wal"
    last = json.loads(run("journal", "stats", "--data", durable.data, "--json").stdout)["acknowledged"]
    os.truncate(log, log.stat().st_size - 1)
    found = rebuild(durable, tmp_path / "one", "--json")
    assert json.loads(found.stdout)["losses"] == [f"batch {last} was acknowledged and is gone"], found.stderr
    os.truncate(log, 0)
    found = rebuild(durable, tmp_path / "all")
    assert f"batches 1 to {last} were acknowledged and are gone\n" in found.stdout, found.stderr
    assert "nothing is missing" not in found.stdout


COLUMNS = "slot, revision, seq, next_at, id, app, kind, key, device, state, next_cause, attributes, content, image"


def checksum(row):
    """The sum of a row of entities, as `RowChecksum` has it."""
    sum = 0x6a09e667f3bcc908

    def add(word):
        nonlocal sum
        sum = ((sum ^ word) * 0x9e3779b97f4a7c15) % 2**64
        sum ^= sum >> 32

    for number in row[:4]:
        add((number or 0) % 2**64)
    for column in row[4:]:
        content = column.encode() if isinstance(column, str) else column or b""
        add(len(content))
        whole = len(content) // 8 * 8
        for at in range(0, whole, 8):
            add(int.from_bytes(content[at:at + 8], "little"))
        if whole < len(content):
            add(int.from_bytes(content[whole:], "big"))
    return sum - 2**64 if sum >= 2**63 else sum


@pytest.mark.parametrize("family", ["activity", "control"])
def test_a_row_that_cannot_be_read_is_named_and_left_out(durable, tmp_path, family):
    """Written by a newer version, say: its sum is right, and its image is none."""
    topic = next(topic for topic in sorted(durable.kept["com.b"]) if f"/{family}/" in topic)
    id = topic.rsplit("/", 1)[1]
    with state(durable) as database:
        row = database.execute(f"SELECT {COLUMNS}, sum FROM entity WHERE id = ?", [id]).fetchone()
        assert row[-1] == checksum(row[:-1]), "the sum is another one now"
        image = b"\xff" * 5
        database.execute("UPDATE entity SET image = ?, sum = ? WHERE id = ?", [image, checksum((*row[:-2], image)), id])
    place = f"the {family} in slot {row[0] % 2**32}"
    message = durable.refused()
    assert place in message and "islet journal rebuild" in message, message
    done = rebuild(durable, tmp_path / "new", "--json")
    losses = json.loads(done.stdout)["losses"]
    assert any(place in loss for loss in losses), losses
    assert any(f"{topic} is missing" in loss for loss in losses), losses
    assert run("journal", "verify", "--data", tmp_path / "new").returncode == 0
    durable.options["--data"] = durable.data = tmp_path / "new"
    durable.start()
    del durable.kept["com.b"][topic]
    assert {app: shown(durable, app) for app in APPS} == durable.kept
    # It was taken out of the snapshot too, so that its place can be another's.
    durable.client.start(app="com.b", key="order-9")
    durable.stop().start()
    assert len(shown(durable, "com.b")) == 4


def test_a_group_whose_members_are_gone_is_among_the_losses(durable, tmp_path):
    durable.start()
    durable.client.applied("group.create", app="com.a", group="shared", members=["com.b"])
    durable.client.applied("group.set", app="com.a", group="shared", key="k", value=1)
    durable.stop()
    with state(durable) as database:
        assert database.execute("DELETE FROM fact WHERE key = ?", [b"gshared"]).rowcount == 1
    found = rebuild(durable, tmp_path / "new", "--json")
    told = "the group shared: its members are not known any more, and its owner com.a is the only one"
    assert json.loads(found.stdout)["losses"] == [told], found.stderr


def test_what_is_older_than_a_service_keeps_by_itself_is_rebuilt_too(wire, tmp_path):
    """The service that is going to run there may keep it for longer."""
    env = {"ISLET_JOURNAL_RETENTION": "30d", "ISLET_JOURNAL_SEGMENT_BYTES": "65536"}
    durable = Durable(wire, tmp_path / "data", env=env).start()
    try:
        for _ in range(3):
            id = durable.client.start()["id"]
            for number in range(40):
                durable.client.applied("activity.update", id=id, contentState={"n": number, "text": "x" * 3000})
            durable.client.advance(by=48 * 3_600_000)
        durable.stop()
        done = rebuild(durable, tmp_path / "new")
        assert done.returncode == 0 and "nothing is missing" in done.stdout, done.stderr
        found, kept = ({segment["name"]: segment["events"] for segment in stats(folder)["segments"] if segment["events"]}
                       for folder in (durable.data, tmp_path / "new"))
        assert kept == found
    finally:
        durable.kill()


def stats(folder):
    return json.loads(run("journal", "stats", "--data", folder, "--json").stdout)


def test_what_a_killed_rebuild_leaves_is_refused(durable, tmp_path):
    """It is killed while it waits for the last file, which comes there all the same."""
    mark = (durable.data / "mark").read_bytes()
    (durable.data / "mark").unlink()
    os.mkfifo(durable.data / "mark")
    new, deadline = tmp_path / "new", Deadline()
    words = ["journal", "rebuild", "--data", durable.data, "--to", new, "--allow-volatile"]
    sizes = {path.name: path.stat().st_size for path in durable.data.iterdir() if path.name.endswith((".db", "-wal"))}
    with subprocess.Popen([str(BINARY), *map(str, words)], env=environment(), stdin=subprocess.DEVNULL) as process:
        while not all((new / name).exists() and (new / name).stat().st_size == size for name, size in sizes.items()):
            assert process.poll() is None and not deadline.passed
        process.kill()
    (durable.data / "mark").unlink()
    (durable.data / "mark").write_bytes(mark)
    (new / "mark").write_bytes(mark)
    durable.options["--data"] = new
    told = f"{new} is half of what `islet restore` or `islet journal rebuild` makes"
    assert told in durable.refused()
    for refused in (run("journal", "verify", "--data", new),
                    run("journal", "rebuild", "--data", new, "--to", tmp_path / "newer", "--allow-volatile")):
        assert refused.returncode == 1 and told in refused.stdout + refused.stderr, refused
    assert rebuild(durable, tmp_path / "again").returncode == 0
    durable.options["--data"] = tmp_path / "again"
    durable.start().stop()


def test_a_rebuild_that_fails_leaves_nothing_in_the_way_of_the_next(durable, tmp_path):
    (durable.data / "mark").unlink()
    for _ in range(2):
        refused = rebuild(durable, tmp_path / "new")
        assert refused.returncode == 1 and f"{durable.data}/mark is missing" in refused.stderr, refused.stderr
    assert files(tmp_path / "new") == {}


@pytest.mark.skipif(not may_mount(), reason="nothing can be mounted here")
def test_what_cannot_be_read_without_writing_is_not_called_wrong(durable):
    for index in durable.data.glob("*-shm"):
        index.unlink()
    words = f"mount --bind {durable.data} {durable.data} && mount -o remount,ro,bind {durable.data} && exec "
    words += f"{BINARY} journal verify --data {durable.data}"
    done = subprocess.run([*NAMESPACE, "sh", "-c", words], env=environment(), capture_output=True, text=True)
    assert done.returncode == 1 and "cannot be written" in done.stderr, done.stderr
    assert "wrong" not in done.stdout + done.stderr
    assert run("journal", "verify", "--data", durable.data).returncode == 0

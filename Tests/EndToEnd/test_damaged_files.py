"""Files that are not what the service left: a message that says what is wrong and where, and never a start from zero."""

import os
import pathlib
import shutil
import sqlite3

import pytest

from support.durable import Durable
from support.service import run


@pytest.fixture
def durable(wire, tmp_path):
    """A service that was killed after some commands."""
    made = Durable(wire, tmp_path / "data").start()
    for number in range(40):
        made.client.start(key=f"order-{number}", contentState={"text": "x" * 300})
    yield made.kill()
    made.kill()


def log(durable):
    """The write-ahead log that holds the journal."""
    return durable.data / "journal-000001.db-wal"


def is_refused(durable, *words):
    """It does not start, says these words, changes nothing, and `verify` finds something too."""
    before = {file.name: file.read_bytes() for file in durable.data.iterdir() if not file.name.endswith("-shm")}
    message = durable.refused()
    for word in words:
        assert word in message, message
    after = {file.name: file.read_bytes() for file in durable.data.iterdir() if not file.name.endswith("-shm")}
    before.pop("lock", None), after.pop("lock", None)
    assert after == before
    done = run("journal", "verify", "--data", durable.data)
    assert done.returncode == 1, done.stdout


def test_a_sound_folder_is_said_to_be_sound(durable):
    done = run("journal", "verify", "--data", durable.data)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("sound: ") and "40 events" in done.stdout


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_flipped_bit_is_found_and_placed(durable, share):
    file = log(durable)
    content = bytearray(file.read_bytes())
    content[int(len(content) * share)] ^= 0x10
    file.write_bytes(content)
    is_refused(durable, str(file), "at byte", "islet journal verify")


def test_a_log_that_was_cut_is_refused(durable):
    file = log(durable)
    os.truncate(file, file.stat().st_size // 2)
    is_refused(durable, "was acknowledged", "islet journal verify")


def test_an_empty_log_is_refused(durable):
    os.truncate(log(durable), 0)
    is_refused(durable, "was acknowledged")


@pytest.mark.parametrize("name", ["journal-000001.db", "state.db"])
@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to look like one " * 100])
def test_a_file_that_is_no_database_is_refused(durable, name, content):
    (durable.data / name).write_bytes(content)
    is_refused(durable, name)


@pytest.mark.parametrize("name", ["journal-000001.db", "state.db"])
def test_a_database_of_another_program_is_refused(durable, name, tmp_path):
    for rest in durable.data.glob(name + "-*"):
        rest.unlink()
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as database:
        database.execute("create table songs(title)")
    database.close()
    shutil.copy(foreign, durable.data / name)
    is_refused(durable, name, "another program")


@pytest.mark.parametrize("name", ["journal-000001.db", "state.db"])
def test_a_newer_schema_is_refused(durable, name):
    with sqlite3.connect(durable.data / name) as database:
        database.execute("pragma user_version = 99")
    database.close()
    message = durable.refused()
    assert name in message and "99" in message and "later version" in message


def test_a_journal_that_is_gone_is_refused(durable):
    for file in durable.data.glob("journal-*"):
        file.unlink()
    is_refused(durable, "was acknowledged")


def test_a_snapshot_that_is_gone_is_made_again_while_the_whole_journal_is_there(durable):
    for file in durable.data.glob("state.db*"):
        file.unlink()
    durable.start()
    assert len(durable.client.list(limit=100)) == 40


def test_two_processes_on_one_folder(durable):
    durable.start()
    message = durable.refused()
    assert str(durable.service.process.pid) in message


def test_a_file_is_no_folder(durable, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    durable.data = file
    assert "not a folder" in durable.refused(data=file)


def test_folders_are_made(durable, tmp_path):
    deep = tmp_path / "a" / "b" / "c"
    durable.start(data=deep)
    assert deep.is_dir() and deep.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(durable, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert "cannot be written" in durable.refused(data=closed)
    assert "closed" in durable.refused(data=closed / "below")


def memory_folder():
    """A folder in memory, or None."""
    mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    return next((line[1] for line in mounts if line[2] == "tmpfs" and os.access(line[1], os.W_OK)), None)


@pytest.mark.skipif(memory_folder() is None, reason="this machine has no tmpfs to write to")
def test_a_folder_in_memory_is_refused_unless_it_is_allowed(wire, durable, tmp_path):
    folder = pathlib.Path(memory_folder()) / f"islet-{os.getpid()}-{tmp_path.name}"
    try:
        strict = Durable(wire, folder, env={"ISLET_JOURNAL_ALLOW_VOLATILE": "false"})
        message = strict.refused()
        assert "tmpfs" in message and str(folder) in message
        Durable(wire, folder).start().stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)

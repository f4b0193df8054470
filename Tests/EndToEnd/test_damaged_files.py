"""Files that are not what the service left: a message that says what is wrong and where, and never a start from zero."""

import contextlib
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile

import pytest

from support.durable import Durable
from support.service import BINARY, run


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


def written(content):
    """How many bytes of a log are not the room behind its end, which is zeros."""
    return len(content.rstrip(b"\0"))


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
    content[int(written(content) * share)] ^= 0x10
    file.write_bytes(content)
    is_refused(durable, str(file), "at byte", "islet journal verify")


def test_room_behind_the_end_of_a_log_is_cut_off_whatever_is_in_it(durable):
    file = log(durable)
    content = bytearray(file.read_bytes())
    assert len(content) - written(content) > 4_096
    content[-1] = 1
    file.write_bytes(content)
    assert durable.start().client.read("activity.list")["total"] == 40
    durable.stop()
    assert 0 <= file.stat().st_size - written(file.read_bytes()) < 4_096


def test_a_log_that_was_cut_is_refused(durable):
    file = log(durable)
    os.truncate(file, written(file.read_bytes()) // 2)
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


@pytest.mark.parametrize("key", ["epoch", "store", "boot_id", "sync", "clock", "holds_through", "first_segment"])
def test_a_flipped_bit_in_a_single_value_of_the_snapshot_is_found(durable, key):
    file = durable.data / "state.db"
    with contextlib.closing(sqlite3.connect(file)) as database:
        # All of it in the file, whose pages have no checksums, and nothing there of values that were before.
        database.execute("vacuum")
        database.execute("pragma wal_checkpoint(truncate)")
    (durable.data / "state.db-wal").touch()
    content = file.read_bytes()
    places = [found.end() for found in re.finditer(rb"(?<![_a-z])" + key.encode(), content)]
    assert len(places) == 2, "the value and its sum"
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1
        file.write_bytes(damaged)
        is_refused(durable, str(file), "islet journal verify")
    file.write_bytes(content)
    assert len(durable.start().client.list(limit=100)) == 40


def content_of(folder):
    """All rows of a restored folder, but for what is told anew with each restore."""
    rows = []
    for name, tables in (("state.db", ["entity", "fact"]), ("journal-000001.db", ["batch"])):
        with contextlib.closing(sqlite3.connect(f"file:{folder / name}?mode=ro", uri=True)) as database:
            for table in tables:
                rows.append(database.execute(f"select * from {table} order by 1").fetchall())
    return rows


def test_a_backup_that_is_damaged_is_refused_and_the_folder_can_be_restored_into_still(durable, tmp_path):
    durable.start()
    sound, file, folder = tmp_path / "backup.db", tmp_path / "damaged.db", tmp_path / "restored"
    assert run("backup", sound, "--commands", durable.service.commands).returncode == 0
    assert run("restore", sound, "--data", tmp_path / "sound", "--allow-volatile").returncode == 0
    expected, content = content_of(tmp_path / "sound"), sound.read_bytes()
    refused = 0
    for place in range(101, len(content), len(content) // 48):
        damaged = bytearray(content)
        damaged[place] ^= 0x10
        file.write_bytes(damaged)
        done = run("restore", file, "--data", folder, "--allow-volatile")
        if done.returncode == 0:  # nothing is stored at that place
            assert content_of(folder) == expected, place
            shutil.rmtree(folder)
            continue
        refused += 1
        assert done.returncode == 1 and str(file) in done.stderr, done.stderr
        assert not folder.exists() or [left.name for left in folder.iterdir()] in ([], ["lock"])
    assert refused > 12
    for damaged in (content[: len(content) // 2], b""):
        file.write_bytes(damaged)
        assert run("restore", file, "--data", folder, "--allow-volatile").returncode == 1
    assert run("restore", sound, "--data", folder, "--allow-volatile").returncode == 0
    assert content_of(folder) == expected


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


NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
"""Root may write everywhere, so it runs the service as somebody who may not."""


@pytest.fixture
def modest(wire, tmp_path):
    """A service without privileges, and a folder where others may look."""
    is_root = os.geteuid() == 0
    if is_root and (shutil.which(NOBODY[0]) is None or subprocess.run([*NOBODY, "test", "-x", BINARY]).returncode):
        pytest.skip("nobody else can run the service here")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        yield Durable(wire, folder / "data", prefix=NOBODY if is_root else ()), folder


def test_a_folder_that_may_not_be_written(modest):
    service, folder = modest
    closed = folder / "closed"
    closed.mkdir(mode=0o500)
    message = service.refused(data=closed)
    assert str(closed) in message and "cannot be written" in message
    assert "closed" in service.refused(data=closed / "below")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files that are not one's own")
def test_a_folder_of_somebody_else_is_refused(modest, durable):
    service, folder = modest
    shutil.copytree(durable.data, folder / "data")
    for mode, word in ((0o700, "cannot be written"), (0o755, "cannot be written"), (0o777, "lock")):
        (folder / "data").chmod(mode)
        (folder / "data" / "lock").chmod(0o600)
        message = service.refused()
        assert str(folder / "data") in message and word in message, message


def test_a_folder_that_is_mounted_for_reading_alone_is_refused(wire, durable):
    mount = ("unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"')
    prefix = (*mount, str(durable.data))
    if os.geteuid() != 0 or subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    message = Durable(wire, durable.data, prefix=prefix).refused()
    assert str(durable.data) in message and "mounted read-only" in message


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

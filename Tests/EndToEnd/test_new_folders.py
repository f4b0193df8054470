"""Where `islet restore` and `islet journal rebuild` make a folder: where nothing is, and nobody else makes anything."""

import os
import shutil
import subprocess

import pytest

from support.durable import Durable
from support.service import BINARY, environment, run
from support.wire import DEADLINE, Deadline


@pytest.fixture
def durable(wire, tmp_path):
    """A stopped service with an activity, of which there is a backup."""
    made = Durable(wire, tmp_path / "data").start()
    made.client.start(key="order-1")
    assert run("backup", tmp_path / "backup.db", "--commands", made.service.commands).returncode == 0
    yield made.stop()


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock" and "shm" not in path.name}


def restore(file, folder):
    return run("restore", file, "--data", folder, "--allow-volatile")


def begin(*words):
    return subprocess.Popen(
        [str(BINARY), *map(str, words), "--allow-volatile"], env=environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    out, err = process.communicate(timeout=DEADLINE)
    return process.returncode, out + err


def test_a_restore_leaves_alone_what_another_has_made_meanwhile(durable, tmp_path):
    """The first has seen that nothing is there, and reads its backup for as long as the second takes."""
    os.mkfifo(tmp_path / "slow.db")
    first = begin("restore", tmp_path / "slow.db", "--data", tmp_path / "new")
    with open(tmp_path / "slow.db", "wb") as slow:
        assert restore(tmp_path / "backup.db", tmp_path / "new").returncode == 0
        before = files(tmp_path / "new")
        slow.write((tmp_path / "backup.db").read_bytes()[:100])
    code, text = ended(first)
    assert code == 1 and f"{tmp_path / 'new'} exists already" in text, text
    assert files(tmp_path / "new") == before
    assert run("journal", "verify", "--data", tmp_path / "new").returncode == 0


def test_nobody_makes_anything_where_a_rebuild_does(durable, tmp_path):
    slow = tmp_path / "slow"
    shutil.copytree(durable.data, slow)
    (slow / "journal-000001.db").unlink()
    os.mkfifo(slow / "journal-000001.db")
    rebuild, deadline = begin("journal", "rebuild", "--data", slow, "--to", tmp_path / "new"), Deadline()
    while not (tmp_path / "new" / "rebuilding").exists():
        assert rebuild.poll() is None and not deadline.passed
    done = restore(tmp_path / "backup.db", tmp_path / "new")
    assert done.returncode == 1 and f"{tmp_path / 'new'} exists already" in done.stderr
    # Now it goes on, and does not get far.
    with open(slow / "journal-000001.db", "wb"):
        assert ended(rebuild)[0] == 1


def test_half_a_restore_is_no_folder_to_start_in(durable, wire, tmp_path):
    deadline = Deadline()
    for attempt in range(1_000):
        assert not deadline.passed, "no restore was killed on its way"
        folder = tmp_path / f"new-{attempt}"
        killed = begin("restore", tmp_path / "backup.db", "--data", folder)
        # Its first file is there before anything that the folder has in the end.
        while killed.poll() is None and not any(folder.glob("*.unfinished")):
            pass
        killed.kill()
        ended(killed)
        if not (folder / "mark").exists() and any(folder.glob("journal-*")):
            break
    log = Durable(wire, folder).refused()
    assert f"{folder} is half of what `islet restore` or `islet journal rebuild` makes" in log, log
    assert run("journal", "verify", "--data", folder).returncode == 1
    assert restore(tmp_path / "backup.db", folder).returncode == 1
    shutil.rmtree(folder)
    assert restore(tmp_path / "backup.db", folder).returncode == 0
    assert run("journal", "verify", "--data", folder).returncode == 0


def test_a_folder_with_anything_in_it_is_not_rebuilt_into(durable, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "notes.txt").write_text("mine")
    code, text = ended(begin("journal", "rebuild", "--data", durable.data, "--to", tmp_path / "new"))
    assert code == 1 and "exists already" in text and files(tmp_path / "new") == {"notes.txt": b"mine"}


def test_a_new_file_system_has_nothing_in_it(durable, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder / "lost+found").mkdir(parents=True)
    assert restore(tmp_path / "backup.db", tmp_path / "one").returncode == 0
    assert ended(begin("journal", "rebuild", "--data", tmp_path / "one", "--to", tmp_path / "two"))[0] == 0
    assert run("journal", "verify", "--data", tmp_path / "two").returncode == 0


def test_no_backup_is_written_into_another_s_data_folder(durable, wire, tmp_path):
    other = Durable(wire, tmp_path / "other").start()
    (durable.data / "inner").mkdir()
    for place in (durable.data, durable.data / "inner"):
        done = run("backup", place / "copy.db", "--commands", other.service.commands)
        assert done.returncode == 6 and f"is within the data folder {durable.data}:" in done.stderr, done.stderr
        assert not (place / "copy.db").exists()
    other.stop()


def locks(file):
    """The locks that processes have on a file."""
    with open("/proc/locks") as table:
        return [line.split(maxsplit=1)[1] for line in table if f":{file.stat().st_ino} " in line]


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_link_to_its_own_files_costs_a_service_no_lock(durable, tmp_path, link):
    """Closing any descriptor of a file gives up SQLite's locks on it, and whoever came then would take its log away."""
    durable.start()
    place, deadline = tmp_path / "backups", Deadline()
    place.mkdir()
    link(durable.data / "state.db", place / "state.db")
    while not (before := locks(durable.data / "state.db")):
        assert not deadline.passed
    done = run("backup", place / "copy.db", "--commands", durable.service.commands)
    assert done.returncode == 6 and f"is within the data folder {place}:" in done.stderr, done.stderr
    assert locks(durable.data / "state.db") == before
    durable.stop()


def test_a_pipe_above_a_backup_is_not_waited_for(durable, tmp_path):
    durable.start()
    (tmp_path / "public" / "backups").mkdir(parents=True)
    os.mkfifo(tmp_path / "public" / "state.db")
    done = run("backup", tmp_path / "public" / "backups" / "copy.db", "--commands", durable.service.commands)
    assert done.returncode == 0, done.stderr
    durable.stop()


NAMES = ["state.db", "mark", "lock", "rebuilding", "copy.unfinished", "copy.unfinished-wal", "copy.db-wal", "copy.db-shm",
         "copy.db-journal", "journal-000009.db", "journal-000009.db-wal"]


def test_a_backup_has_no_name_that_a_journal_uses(durable, tmp_path):
    """Its folder would be taken for a data folder, or it for what an attempt left over."""
    durable.start()
    place = tmp_path / "backups"
    place.mkdir()
    for name in NAMES:
        done = run("backup", place / name, "--commands", durable.service.commands)
        told = f"{place / name} has a name that a journal uses itself"
        assert done.returncode == 6 and told in done.stderr, done.stderr
    assert not list(place.iterdir())
    durable.stop()


@pytest.mark.parametrize("place", ["data/new", "link/new", "data/../data/new", "data/inner/new/", "inner-link/new"])
@pytest.mark.parametrize("how", ["rebuild", "rebuild by a link", "restore"])
def test_nothing_is_made_within_a_data_folder(durable, tmp_path, place, how):
    (tmp_path / "link").symlink_to(tmp_path / "data")
    (durable.data / "inner").mkdir()
    (tmp_path / "inner-link").symlink_to(durable.data / "inner")
    before = sorted(path for path in durable.data.rglob("*") if path.name != "lock")
    target = f"{tmp_path}/{place}"
    if how == "restore":
        words = ("restore", tmp_path / "backup.db", "--data", target)
    else:
        words = ("journal", "rebuild", "--data", tmp_path / ("link" if "link" in how else "data"), "--to", target)
    code, text = ended(begin(*words))
    assert code == 1 and f"{target} is within the data folder {tmp_path}/" in text, text
    assert sorted(path for path in durable.data.rglob("*") if path.name != "lock") == before
    assert restore(tmp_path / "backup.db", tmp_path / "beside").returncode == 0


def test_nothing_is_made_within_a_folder_that_is_too_damaged_to_be_known(durable, tmp_path):
    (durable.data / "state.db").unlink()
    code, text = ended(begin("journal", "rebuild", "--data", durable.data, "--to", durable.data / "new"))
    assert code == 1 and "is within the data folder" in text and not (durable.data / "new").exists()

"""A full disk: commands are refused, nothing acknowledged is lost, and the service goes on when there is room."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from support.commands import START
from support.durable import Durable
from support.wire import Deadline

NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


def may_mount():
    if not shutil.which("unshare"):
        return False
    tried = subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
    return tried.returncode == 0


pytestmark = pytest.mark.skipif(not may_mount(), reason="a small disk cannot be mounted here")


class SmallDisk:
    """A file system of a few megabytes that only one process sees, and this test through /proc."""

    def __init__(self, folder, size):
        self.folder = folder
        folder.mkdir()
        words = f"mount -t tmpfs -o size={size} none {folder} && echo mounted && exec sleep 600"
        self.process = subprocess.Popen([*NAMESPACE, "sh", "-c", words], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "mounted\n"
        self.path = pathlib.Path(f"/proc/{self.process.pid}/root{folder}")
        self.inside = ["nsenter", "--target", str(self.process.pid), "--user", "--mount", "--preserve-credentials"]

    def fill(self, leave=0):
        """Takes all the room, but for so many bytes."""
        free = os.statvfs(self.path)
        # The service may take the last of it meanwhile.
        with contextlib.suppress(OSError), open(self.path / "ballast", "wb", buffering=0) as file:
            file.write(b"\0" * max(0, free.f_bavail * free.f_frsize - leave))

    def clear(self):
        (self.path / "ballast").unlink()

    def close(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def disk(tmp_path):
    made = SmallDisk(tmp_path / "disk", "24m")
    yield made
    made.close()


def until(happens, seconds=20):
    deadline = Deadline(seconds)
    while not happens():
        assert not deadline.passed, "it did not happen in time"


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
        until(lambda: client.read("service.info")["info"]["journal"]["isFull"])
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

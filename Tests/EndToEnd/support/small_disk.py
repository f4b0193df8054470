"""A file system of a few megabytes that only one process sees, and a test through /proc."""

import contextlib
import os
import pathlib
import shutil
import subprocess

from .wire import DEADLINE, Deadline

NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


def may_mount():
    if not shutil.which("unshare"):
        return False
    tried = subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
    return tried.returncode == 0


class SmallDisk:
    """In memory, with a limit of bytes and, where wanted, of inodes."""

    def __init__(self, folder, size, inodes=None):
        self.folder = folder
        folder.mkdir()
        options = f"size={size}" + (f",nr_inodes={inodes}" if inodes else "")
        words = f"mount -t tmpfs -o {options} none {folder} && echo mounted && exec sleep 600"
        self.process = subprocess.Popen([*NAMESPACE, "sh", "-c", words], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "mounted\n"
        self.path = pathlib.Path(f"/proc/{self.process.pid}/root{folder}")
        self.inside = ["nsenter", "--target", str(self.process.pid), "--user", "--mount", "--preserve-credentials"]

    @property
    def free(self):
        status = os.statvfs(self.path)
        return status.f_bavail * status.f_frsize

    def fill(self, leave=0):
        """Takes all the room, but for so many bytes."""
        # The service may take the last of it meanwhile.
        with contextlib.suppress(OSError), open(self.path / "ballast", "ab", buffering=0) as file:
            file.write(b"\0" * max(0, self.free - leave))

    def clear(self):
        (self.path / "ballast").unlink()

    def take_inodes(self):
        """Makes empty files until there can be no more."""
        (self.path / "inodes").mkdir()
        with contextlib.suppress(OSError):
            for number in range(1 << 20):
                (self.path / "inodes" / str(number)).touch()

    def give_inodes_back(self):
        shutil.rmtree(self.path / "inodes")

    def close(self):
        self.process.kill()
        self.process.wait()


def until(happens, seconds=DEADLINE):
    deadline = Deadline(seconds)
    while not happens():
        assert not deadline.passed, "it did not happen in time"

"""What the figures were measured on: the machine and the versions of everything."""

import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time

from services import ISLET, LOAD, REDIS, ROOT, quiet


def output(*words):
    """What a program prints, or nothing where it is absent or fails."""
    try:
        return subprocess.run(
            [str(word) for word in words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def first(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1).strip() if found else "unknown"


def package(*names):
    """The version of the first of these Debian packages that is installed."""
    for name in names:
        if version := first(r"^(\S+)$", output("dpkg-query", "-W", "-f=${Version}\n", name)):
            if version != "unknown":
                return version
    return "unknown"


def sync_milliseconds():
    """The median time of a write of 512 bytes with `fdatasync` where the files are."""
    path = LOAD / "sync"
    times = []
    with open(path, "wb", buffering=0) as file:
        for _ in range(200):
            begun = time.perf_counter()
            file.write(b"\0" * 512)
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - begun)
    path.unlink()
    return statistics.median(times) * 1000


def disk():
    """The kind of the file system, its device, and how long it takes to sync."""
    found = output("df", "--output=source,fstype", LOAD).splitlines()
    device = ", ".join(found[-1].split()) if found else "unknown"
    return f"{device}; write of 512 bytes and fdatasync: median {sync_milliseconds():.2f} ms"


def wake_microseconds():
    """The median time until a process on one processor has woken one on another and was woken by it, through two pipes.

    Where a virtual machine's processors go to sleep between, most of a latency at a fixed rate is made of this. None: there
    is one processor alone.
    """
    processors = sorted(os.sched_getaffinity(0))[:2]
    if len(processors) < 2:
        return None
    echo = f"import os; os.sched_setaffinity(0, [{processors[1]}])\nwhile os.read(0, 1): os.write(1, b'x')"
    before, times = os.sched_getaffinity(0), []
    with subprocess.Popen([sys.executable, "-c", echo], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        os.sched_setaffinity(0, processors[:1])
        for _ in range(2_000):
            begun = time.perf_counter()
            other.stdin.write(b"x")
            other.stdout.read(1)
            times.append(time.perf_counter() - begun)
        os.sched_setaffinity(0, before)
        other.stdin.close()
    return statistics.median(times) * 1_000_000


def halt_polling():
    """How long a virtual machine's processor looks for work before it halts; otherwise its host must wake it."""
    parameter = pathlib.Path("/sys/module/haltpoll/parameters/guest_halt_poll_ns")
    return f"{int(parameter.read_text()) / 1000:.0f} µs (guest_halt_poll_ns)" if parameter.exists() else "unknown"


def commit():
    """The commit that was measured, and whether sources stood there that are not in it."""
    changed = output("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!BENCHMARKS.md")
    return output("git", "rev-parse", "--short=12", "HEAD") + (" and changes that are not in it" if changed else "")


def is_busy():
    """Whether something else runs on this machine: the figures are then not worth much."""
    return os.getloadavg()[0] > 0.4 * (os.cpu_count() or 1)


def facts(load_before):
    """Name and value of everything that is worth knowing."""
    processor = first(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text())
    wake = wake_microseconds()
    memory = int(first(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())) / 1048576
    return [
        ("CPU", f"{processor}, {os.cpu_count()} cores"),
        ("memory", f"{memory:.0f} GiB"),
        ("kernel", f"{platform.system()} {platform.release()}"),
        ("system", first(r'PRETTY_NAME="(.*)"', pathlib.Path("/etc/os-release").read_text())),
        ("disk", disk()),
        ("waking a process on the other processor and being woken by it", f"median {wake:.0f} µs" if wake else "one processor"),
        ("an idle processor looks for work before it halts", halt_polling()),
        ("load before the run", f"{load_before:.2f}" + (" (BUSY)" if load_before > 0.4 * (os.cpu_count() or 1) else "")),
        ("processors taken by the host", f"{quiet.repeated} measurements made again as more than "
         f"{quiet.MOST_STOLEN:.0%} was stolen, {quiet.accepted} kept nonetheless"),
        ("commit", commit()),
        ("Islet", first(r"(\S+)$", output(ISLET, "--version"))),
        ("libzmq", package("libzmq5")),
        ("SQLite", package("libsqlite3-0")),
        ("Redis", first(r"v=(\S+)", output(REDIS, "--version"))),
        ("Erlang", f"OTP {package('erlang-base')}"),
        ("gcc", first(r"^(.*)$", output("gcc", "--version"))),
        ("Swift", first(r"Swift version (\S+)", output("swift", "--version"))),
    ]

"""What the measurements of `scripts/bench` run: the service, the bare relay, and the load generators."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

import zmq

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / ".build" / "release"
ISLET = pathlib.Path(os.environ.get("ISLET", BUILT / "islet"))
LOAD = ROOT / ".build" / "load"
ANSWER_SECONDS = 60
# The load generators that also pull replays.
WITH_BULK = {"storm"}
# A link that `scripts/bench` makes: the name decides what the program in Debian's redis-tools is.
REDIS = LOAD / "redis-server"


@contextlib.contextmanager
def ready(words, **more):
    """A process that says where it serves; gives its endpoints and its process id, and ends it afterwards."""
    process = subprocess.Popen(
        [str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, **more)
    try:
        for line in process.stderr:
            if match := re.search(r"ready (commands=.*)", line):
                pairs = dict(pair.split("=", 1) for pair in match.group(1).split() if "=" in pair)
                threading.Thread(target=pass_on, args=(process,), daemon=True).start()
                yield pairs, process.pid
                return
        sys.exit(f"{words[0]} ended before it was ready")
    finally:
        process.stdin.close()
        process.terminate()
        process.wait(timeout=60)


def pass_on(process):
    """Shows what it has to complain about; reads all, so that it never waits for a reader."""
    with contextlib.suppress(ValueError):
        for line in process.stderr:
            if re.search(r"\b(warning|error|critical|fatal)\b", line, re.IGNORECASE):
                print(f"{process.args[0]}: {line}", end="", file=sys.stderr)


def folder():
    """A folder on the disk of this project, for as long as it is used."""
    LOAD.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=LOAD, prefix="data-")


def islet_in(data, store="sqlite"):
    """The service with its files in a folder, or in memory."""
    if not ISLET.exists():
        sys.exit(f"{ISLET} is not there: swift build -c release --product islet")
    free = "tcp://127.0.0.1:*"
    words = [ISLET, "serve", "--commands", free, "--events", free, "--bulk", free, "--http", "none"]
    return ready([*words, "--store", store, "--data", data])


@contextlib.contextmanager
def islet(store="sqlite"):
    """The service, new and empty."""
    with folder() as data, islet_in(data, store) as running:
        yield running


def ask(endpoints, **command):
    """One command over a connection of its own, and its answer."""
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.connect(endpoints["commands"])
        socket.send(json.dumps(command).encode())
        if not socket.poll(ANSWER_SECONDS * 1000):
            raise LoadFailed(f"no answer to {command['op']}")
        return json.loads(socket.recv())


def info(endpoints):
    """What `service.info` tells."""
    return ask(endpoints, op="service.info")["info"]


def relay(sizes):
    return ready([LOAD / "relay", sizes["topicBytes"], sizes["eventBytes"], sizes["answerBytes"]])


class LoadFailed(Exception):
    """A load generator ended without a result; it has said why."""


def run(program, *words, **options):
    """Runs a program of this folder to its end; gives the JSON that it printed."""
    words = [str(LOAD / program), *map(str, words)]
    for name, value in options.items():
        words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise LoadFailed(f"it failed: {' '.join(words)}")
    return json.loads(done.stdout) if done.stdout else {}


def load(endpoints, program="load", **options):
    """Runs a load generator: `load`, `open`, `provider` or `storm`; gives what it measured."""
    words = ["--commands", endpoints["commands"], "--events", endpoints["events"]]
    if program in WITH_BULK:
        words += ["--bulk", endpoints["bulk"]]
    return run(program, *words, **options)


class Quiet:
    """Notices what a virtual machine does not get: when it stood still, and when its host gave the processors to others.
    Nothing measured meanwhile is worth anything, whoever was measured.
    """

    TICK, LONGEST, ATTEMPTS = 0.1, 1.0, 4
    # Of the processors' time, while something was measured.
    MOST_STOLEN = 0.02
    # Seconds that all repetitions together may take: where the host is never quiet, it shows in the table instead.
    PATIENCE = 90

    def __init__(self):
        self.pauses = 0
        self.repeated = 0
        self.accepted = 0
        self.spent = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        while True:
            before = time.monotonic()
            time.sleep(self.TICK)
            if (span := time.monotonic() - before) > self.LONGEST:
                self.pauses += 1
                print(f"the machine stood still for {span:.1f} s", file=sys.stderr)

    @staticmethod
    def _times():
        """Ticks of all processors, and of these the stolen ones (proc_stat(5))."""
        ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return sum(ticks), ticks[7]

    def steadily(self, measure, *arguments):
        """What a measurement gives; again, a few times at most, where the machine was not all there meanwhile."""
        for attempt in range(1, self.ATTEMPTS + 1):
            pauses, begun, (all_before, stolen_before) = self.pauses, time.monotonic(), self._times()
            failure = result = None
            try:
                result = measure(*arguments)
            except (LoadFailed, subprocess.TimeoutExpired) as error:
                failure = error
            all_after, stolen_after = self._times()
            stolen = (stolen_after - stolen_before) / max(1, all_after - all_before)
            is_quiet = self.pauses == pauses and stolen <= self.MOST_STOLEN
            if is_quiet or attempt == self.ATTEMPTS or self.spent > self.PATIENCE:
                self.accepted += not is_quiet
                if failure:
                    raise failure
                return result
            self.repeated += 1
            self.spent += time.monotonic() - begun
            print(f"once more: {stolen:.1%} of the processors' time was stolen", file=sys.stderr)
        raise AssertionError("unreachable")


quiet = Quiet()
steadily = quiet.steadily


def resident(process):
    """Bytes of memory of a process that are resident."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024

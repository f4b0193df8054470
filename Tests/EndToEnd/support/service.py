"""The real `islet serve` as a process."""

import os
import pathlib
import re
import signal
import subprocess
import threading

from .kernel import stopped
from .wire import DEADLINE, Deadline

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = pathlib.Path(os.environ.get("ISLET", ROOT / ".build" / "release" / "islet"))

FREE_PORTS = {
    "--commands": "tcp://127.0.0.1:*",
    "--events": "tcp://127.0.0.1:*",
    "--bulk": "tcp://127.0.0.1:*",
    "--http": "none",
    "--store": "memory",
}


def arguments(options):
    """`--name value …` of a mapping; a value of None leaves the flag out."""
    return [word for flag, value in options.items() if value is not None for word in (flag, str(value))]


def environment(**additions):
    """This environment without the settings of another service, with `additions`; no HTTP unless it is asked for."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ISLET_")}
    return {**kept, "ISLET_HTTP": "none", **additions}


def run(*words, env=None, seconds=DEADLINE):
    """Runs `islet` with these words to its end, and gives the finished process with its output as text."""
    return subprocess.run(
        [str(BINARY), *map(str, words)], env=env or environment(), capture_output=True, text=True, timeout=seconds
    )


class Service:
    """A running service. `commands`, `events`, `bulk` … are the endpoints that its ready line names."""

    def __init__(self, options=None, words=None, env=None, prefix=(), program=BINARY):
        words = words if words is not None else arguments({**FREE_PORTS, **(options or {})})
        self.process = subprocess.Popen(
            [*prefix, str(program), "serve", *words],
            env=env or environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines = []
        self.output = []
        self.endpoints = {}
        self._changed = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stderr, self.lines), daemon=True),
            threading.Thread(target=self._read, args=(self.process.stdout, self.output), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, lines):
        for line in stream:
            with self._changed:
                lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            lines.append(None)
            self._changed.notify_all()

    def line(self, pattern, seconds=DEADLINE):
        """Waits for a line of standard error that matches; fails where the process ends without it."""
        deadline = Deadline(seconds)
        seen = 0
        with self._changed:
            while True:
                for line in self.lines[seen:]:
                    seen += 1
                    assert line is not None, f"ended without a line like {pattern!r}:\n{self.log}"
                    if match := re.search(pattern, line):
                        return match
                assert not deadline.passed, f"no line like {pattern!r} within {seconds} s:\n{self.log}"
                self._changed.wait(deadline.milliseconds / 1000)

    def ready(self):
        """Waits for the line that says where it serves."""
        line = self.line(r"(?:^|\s)ready (commands=.*)").group(1)
        self.endpoints = dict(pair.split("=", 1) for pair in line.split() if "=" in pair)
        for name in ("commands", "events", "bulk"):
            assert not self.endpoints[name].endswith((":*", ":0")), f"not a bound port: {line}"
        return self

    commands = property(lambda self: self.endpoints["commands"])
    events = property(lambda self: self.endpoints["events"])
    bulk = property(lambda self: self.endpoints["bulk"])
    http = property(lambda self: self.endpoints["http"])

    @property
    def log(self):
        return "\n".join(line for line in self.lines if line is not None)

    @property
    def alive(self):
        return self.process.poll() is None

    @property
    def resident(self):
        """Bytes of memory that are resident."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024

    def signal(self, number):
        self.process.send_signal(number)
        if number == signal.SIGSTOP:
            stopped(self.process.pid)

    def wait(self, seconds=DEADLINE):
        """The exit code, when it has ended by itself."""
        code = self.process.wait(timeout=seconds)
        for reader in self._readers:
            reader.join(timeout=1)
        return code

    def stop(self):
        """Asks it to stop as an operator does, and checks that it does so in good order."""
        self.signal(signal.SIGTERM)
        assert self.wait() == 0, f"ended with {self.process.returncode} after SIGTERM:\n{self.log}"

    def kill(self):
        if self.alive:
            self.process.kill()
        self.wait()

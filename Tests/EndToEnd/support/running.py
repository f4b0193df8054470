"""A command that goes on, such as a `tail`, with its lines as they come."""

import re
import signal
import subprocess
import threading

from .service import BINARY
from .wire import DEADLINE, Deadline


class Running:
    """A command that goes on; its lines are read as they come."""

    def __init__(self, *words, env):
        self.process = subprocess.Popen(
            [str(BINARY), *map(str, words)],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.data, self.messages = [], []
        self._changed = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in ((self.process.stdout, self.data), (self.process.stderr, self.messages))
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, lines):
        for line in stream:
            with self._changed:
                lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def wait_until(self, happened, seconds=DEADLINE):
        deadline = Deadline(seconds)
        with self._changed:
            while not happened():
                assert not deadline.passed, f"not within {seconds} s:\n{self.data}\n{self.messages}"
                self._changed.wait(min(0.2, deadline.milliseconds / 1000))

    def message(self, pattern, seconds=DEADLINE):
        """Waits for a line of standard error that matches."""
        self.wait_until(lambda: any(re.search(pattern, line) for line in self.messages), seconds)

    def lines(self, count, seconds=DEADLINE):
        """Waits for so many lines of data, and gives them."""
        self.wait_until(lambda: len(self.data) >= count, seconds)
        return self.data[:count]

    def end(self, number=signal.SIGINT):
        """Ends it as Ctrl-C does; gives the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self, seconds=DEADLINE):
        code = self.process.wait(timeout=seconds)
        for reader in self._readers:
            reader.join(timeout=1)
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.wait()

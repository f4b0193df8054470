"""A pseudo-terminal with an emulator behind it: what a person would see, and the keys that they would press."""

import copy
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import threading
import time

import pyte

from .service import BINARY
from .wire import DEADLINE, Deadline

KEYS = {
    "enter": "\r", "escape": "\x1b", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
    "pagedown": "\x1b[6~", "pageup": "\x1b[5~", "home": "\x1b[H", "end": "\x1b[F", "tab": "\t", "backtab": "\x1b[Z",
    "backspace": "\x7f", "ctrl-c": "\x03", "ctrl-z": "\x1a", "ctrl-l": "\x0c", "ctrl-u": "\x15",
}


class Screen(pyte.Screen):
    """The emulator's screen, with the alternate one, which pyte leaves out."""

    saved = None

    def set_mode(self, *modes, **more):
        if more.get("private") and 1049 in modes:
            self.saved = copy.deepcopy(self.buffer), copy.copy(self.cursor)
            self.erase_in_display(2)
        super().set_mode(*modes, **more)

    def reset_mode(self, *modes, **more):
        super().reset_mode(*modes, **more)
        if more.get("private") and 1049 in modes and self.saved:
            self.buffer, self.cursor = self.saved
            self.dirty.update(range(self.lines))
            self.saved = None


class Terminal:
    """A terminal of so many columns and rows, with a program on it that is its own session."""

    def __init__(self, words, env, columns=80, rows=24):
        self.screen = Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.changed = threading.Condition()
        self.master, self.slave = pty.openpty()
        self.resize(columns, rows, tells=False)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            words, env={"TERM": "xterm-256color", **env}, stdin=self.slave, stdout=self.slave, stderr=self.slave,
            start_new_session=True, preexec_fn=self._own)
        self._closing = False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    @staticmethod
    def _own():
        """Makes the terminal the controlling one of the new session."""
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    @classmethod
    def islet(cls, *words, env, **size):
        return cls([str(BINARY), *map(str, words)], env, **size)

    def _read(self):
        while not self._closing:
            ready, _, _ = select.select([self.master], [], [], 0.1)
            if not ready:
                continue
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                return
            with self.changed:
                self.raw += piece
                self.stream.feed(piece)
                self.changed.notify_all()

    def resize(self, columns, rows, tells=True):
        """Changes the size; the system tells the program."""
        if tells:
            with self.changed:
                self.screen.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, *keys):
        """Presses keys by their names, or types texts."""
        for key in keys:
            os.write(self.master, KEYS.get(key, key).encode())

    @property
    def lines(self):
        with self.changed:
            return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.lines)

    def wait(self, fits, seconds=DEADLINE):
        """Waits until the screen shows a text (a regular expression), or until a function of the screen is true."""
        test = fits if callable(fits) else lambda text: re.search(fits, text, re.M)
        deadline = Deadline(seconds)
        while True:
            text = self.text
            if found := test(text):
                return found
            assert not deadline.passed, f"not seen within {seconds} s: {fits}\n{text}"
            with self.changed:
                self.changed.wait(0.2)

    def wait_raw(self, piece, seconds=DEADLINE):
        """Waits until these bytes were written."""
        deadline = Deadline(seconds)
        while piece not in self.raw:
            assert not deadline.passed, f"{piece!r} was not written within {seconds} s"
            with self.changed:
                self.changed.wait(0.2)

    def ended(self, seconds=DEADLINE):
        """The exit code, when it has ended, with everything read that it wrote."""
        code = self.process.wait(timeout=seconds)
        self.settle()
        return code

    def settle(self):
        """Waits until nothing more is to be read."""
        while select.select([self.master], [], [], 0.05)[0]:
            time.sleep(0.01)

    def is_restored(self):
        """Whether the terminal is set as it was, and shows what it showed before, with its cursor."""
        on, off = self.raw.rfind(b"\x1b[?1049h"), self.raw.rfind(b"\x1b[?1049l")
        cursor = self.raw.rfind(b"\x1b[?25h") > self.raw.rfind(b"\x1b[?25l")
        return termios.tcgetattr(self.slave) == self.before and off > on >= 0 and cursor

    def hang_up(self):
        """The terminal goes away, as when a window is closed."""
        self._closing = True
        self.reader.join()
        os.close(self.master)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._closing = True
        self.reader.join()
        for descriptor in (self.master, self.slave):
            try:
                os.close(descriptor)
            except OSError:
                pass

"""The `islet` command, run as a person or a script runs it."""

import json
import os
import pty
import select
import subprocess

from .service import BINARY, environment
from .wire import DEADLINE, Deadline


class Finished:
    """What a run of the command left: its exit code, its data and its messages."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        """Standard output as one JSON document for each line."""
        return [json.loads(line) for line in self.out.splitlines()]


class Islet:
    """Runs the command against one service."""

    def __init__(self, service, app="com.example.pizza", program=BINARY):
        self.program = str(program)
        self.env = environment(
            ISLET_COMMANDS=service.commands, ISLET_EVENTS=service.events, ISLET_BULK=service.bulk, ISLET_APP=app)

    def __call__(self, *words, code=0, **env):
        """Runs it to its end; fails where the exit code is another one, unless any will do (None)."""
        done = subprocess.run(
            [self.program, *map(str, words)], env={**self.env, **env}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=DEADLINE * 2)
        assert code is None or done.returncode == code, f"{words}: ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return Finished(done.returncode, done.stdout, done.stderr)

    def begin(self, *words, **env):
        """Starts it and leaves it running, its output line by line."""
        return subprocess.Popen(
            [self.program, *map(str, words)], env={**self.env, **env}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)

    def on_a_terminal(self, *words, **env):
        """Runs it with standard output on a terminal; gives what it wrote there."""
        mine, its = pty.openpty()
        process = subprocess.Popen(
            [self.program, *map(str, words)], env={**self.env, "TERM": "xterm-256color", **env},
            stdin=subprocess.DEVNULL, stdout=its, stderr=subprocess.DEVNULL)
        os.close(its)
        written = b""
        while True:
            try:
                piece = os.read(mine, 4096)
            except OSError:
                break
            if not piece:
                break
            written += piece
        os.close(mine)
        assert process.wait(timeout=DEADLINE) == 0
        return written.decode()


def replay(service, path, *words, **more):
    """Plays a recording into a service, whatever that has already."""
    return Islet(service)("replay", path, "--commands", service.commands, "--yes", *words, **more)


def on_a_terminal(islet, *words, types="", meanwhile=lambda: None):
    """Runs it with all its streams on a terminal, where a person types; gives the exit code and what was seen.
    `meanwhile` is called when the person is asked."""
    pid, mine = pty.fork()
    if pid == 0:
        os.execve(BINARY, [str(BINARY), *words], {**islet.env, "TERM": "xterm"})
    seen, deadline = "", Deadline(DEADLINE)
    try:
        while not deadline.passed:
            if not select.select([mine], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(mine, 4096).decode()
            except OSError:
                break
            if not piece:
                break
            seen += piece
            if types and "[y/N]" in seen:
                meanwhile()
                os.write(mine, types.encode())
                types = ""
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen
    finally:
        os.close(mine)

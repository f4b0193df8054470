"""Real providers as processes that are killed and stopped, and the truth that they leave behind."""

import json
import pathlib
import signal
import subprocess
import sys
import threading

from .kernel import stopped
from .service import ROOT, environment
from .wire import DEADLINE, Deadline

PROGRAM = pathlib.Path(__file__).with_name("provider_program.py")


class Household:
    """A folder with what is true of each control and widget, and the processes that provide it."""

    def __init__(self, folder, commands, app, capacity=16, pause=0.0, widget=None, **declaration):
        self.folder, self.app, self.commands = folder, app, commands
        self.options = {"capacity": capacity, "pause": pause, "declaration": declaration, "widget": widget}
        for name in ("truth", "performed"):
            (folder / name).mkdir()
        self.processes = []

    def provider(self, wait=True):
        """Another process; waits until it has registered."""
        made = ProviderProcess(self, f"provider-{len(self.processes) + 1}")
        self.processes.append(made)
        if wait:
            made.said_so("registered")
        return made

    def truth(self, id):
        return (self.folder / "truth" / id).exists()

    def performed(self, id):
        """How often an action of a control or widget was performed."""
        log = self.folder / "performed" / id
        return len(log.read_text().splitlines()) if log.exists() else 0

    def close(self):
        for process in self.processes:
            process.kill()


class ProviderProcess:
    """One process."""

    def __init__(self, household, name):
        self.folder, self.name = household.folder, name
        env = environment(
            PYTHONPATH=str(ROOT / "scripts"), ISLET_COMMANDS=household.commands, ISLET_APP=household.app)
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(household.folder), name, json.dumps(household.options)], env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.said = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self._changed:
                self.said.append(line.split())
                self._changed.notify_all()

    def said_so(self, what, count=1, seconds=DEADLINE):
        """Waits until it has said this so often; gives of which controls or widgets."""
        deadline = Deadline(seconds)
        with self._changed:
            while len(lines := [line for line in self.said if line[0] == what]) < count:
                assert not deadline.passed, f"not {count} times {what!r}: {self.said}"
                self._changed.wait(deadline.milliseconds / 1000)
        return [control for _, *controls in lines for control in controls]

    def hold(self, what):
        """From now on it stays in the middle of each `value` and `timeline`, `before` or `after` an action's effect."""
        (self.folder / f"{self.name}-{what}").touch()

    def release(self, what):
        (self.folder / f"{self.name}-{what}").unlink()

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)
        stopped(self.process.pid)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """As `kill -9`, whether it is stopped or not."""
        self.process.kill()
        self.process.wait()
        self._reader.join(timeout=1)
        self.process.stdout.close()

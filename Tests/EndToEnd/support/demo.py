"""`islet dev` with its demo, on addresses of its own."""

import json

from .running import Running
from .service import environment, run
from .wire import Deadline


class Demo:
    """A running demo; `env` leads the command to it."""

    def __init__(self, folder, *words):
        urls = {name: f"ipc://{folder}/{name}" for name in ("commands", "events", "bulk")}
        self.env = environment(**{f"ISLET_{name.upper()}": url for name, url in urls.items()})
        self.process = Running("dev", *words, env=self.env)
        self.process.message("^ready ")

    def islet(self, *words, code=0):
        """Runs a command to its end; fails where the exit code is another one."""
        done = run(*words, env=self.env)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done

    def home(self):
        """Waits until the home's controls are all placed and shown; gives them."""
        return self._placed("control", 4, lambda control: control["state"] == "shown")

    def travel(self):
        """Waits until the traveller's widgets are all placed and show something; gives them."""
        return self._placed("widget", 3, lambda widget: "entry" in widget)

    def _placed(self, family, count, is_shown):
        deadline = Deadline()
        while True:
            found = [json.loads(line) for line in self.islet(family, "list", "--json").stdout.splitlines()]
            if len(found) == count and all(map(is_shown, found)):
                return found
            assert not deadline.passed, found

    def close(self):
        """Ends it as Ctrl-C does, which must be well."""
        code = self.process.end()
        assert code == 0, self.process.messages

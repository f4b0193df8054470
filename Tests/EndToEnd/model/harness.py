"""The real service of a test of the model: its sockets, and its restarts where it has a durable store."""

import itertools
import json
import tempfile

from support.bulk import Bulk
from support.commands import Commands
from support.events import Events
from support.service import Service
from support.wire import Wire

AT_ONCE = 1_024
"""Settings for all devices have their effect before the answer where the service has no more activities than that."""
LARGEST_EXAMPLE = 500
"""An example has 40 steps, of which each makes at most twelve activities."""


class Harness:
    """A service on the manual clock. Examples have apps and devices of their own and share it, until it has very
    many activities; except where it has a durable store: there each begins with an empty folder, so that it shows the
    same when it is played again."""

    def __init__(self, store):
        self.durable = store == "sqlite"
        self.options = {"--clock": "manual", "--store": store}
        self.folder = None
        self.fresh_folder()
        self.numbers = itertools.count(1)
        self.played = 0
        self.connection = 0
        self.wire = None
        self.begin({})

    def fresh_folder(self):
        if self.durable:
            if self.folder:
                self.folder.cleanup()
            self.folder = tempfile.TemporaryDirectory(prefix="islet-model-", ignore_cleanup_errors=True)
            self.options["--data"] = self.folder.name

    def begin(self, more):
        """Starts a process, and connects."""
        self.service = Service({**self.options, **more}).ready()
        self.wire = Wire("pyzmq")
        self.commands = Commands(self.wire, self.service.commands)
        self.bulk = Bulk(self.wire, self.service.bulk)
        self.connection += 1

    def example(self):
        """The number of the example that begins."""
        number = next(self.numbers)
        if number > 1 and (self.durable or self.is_full()):
            self.service.kill()
            self.wire.close()
            self.fresh_folder()
            self.begin({})
        return number

    def is_full(self):
        """Whether one more example might make so many activities that settings reach some only after the answer."""
        return sum(self.commands.read("service.stats")["stats"]["activities"].values()) > AT_ONCE - LARGEST_EXAMPLE

    def restart(self, *, kill, to=None):
        """Ends the process, gently or not, and starts another one on the same folder, perhaps at a later date."""
        if kill:
            self.service.kill()
        else:
            self.service.stop()
        self.wire.close()
        self.begin({"--clock": f"manual={to}"} if to else {})

    def subscribe(self, prefix):
        """A subscriber that has joined."""
        events = Events(self.wire, self.service.events, prefix)
        events.join()
        return events

    def replay(self, app, after):
        """The stored events of an app after a number, as (topic, event, body)."""
        self.bulk.app = app
        pulled = self.bulk.replay(after)
        assert pulled.end.get("end"), pulled.end
        return [(topic, json.loads(body), body) for topic, body in pulled.rows]

    def digest(self, app):
        self.bulk.app = app
        return self.bulk.digest()

    def close(self):
        try:
            if self.service.alive:
                self.service.stop()
        finally:
            self.service.kill()
            print(self.service.log)
            self.wire.close()
            if self.folder:
                self.folder.cleanup()

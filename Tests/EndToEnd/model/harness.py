"""The real service of a test of the model: its sockets, and its restarts where it has a durable store."""

import itertools
import json
import tempfile

from support.bulk import Bulk
from support.commands import Commands
from support.events import Events
from support.service import Service
from support.wire import Wire


class Harness:
    """One service on the manual clock, used by all examples of a test, each with apps and devices of its own."""

    def __init__(self, store):
        self.durable = store == "sqlite"
        self.folder = tempfile.TemporaryDirectory(prefix="islet-model-") if self.durable else None
        self.options = {"--clock": "manual", "--store": store}
        if self.durable:
            self.options["--data"] = self.folder.name
        self.numbers = itertools.count(1)
        self.played = 0
        self.connection = 0
        self.wire = None
        self.begin({})

    def begin(self, more):
        """Starts a process, and connects."""
        self.service = Service({**self.options, **more}).ready()
        self.wire = Wire("pyzmq")
        self.commands = Commands(self.wire, self.service.commands)
        self.bulk = Bulk(self.wire, self.service.bulk)
        self.connection += 1

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

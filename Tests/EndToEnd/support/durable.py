"""A service whose files outlive it: killed, stopped and started again on the same directory."""

from .bulk import Bulk
from .commands import Commands
from .events import Events
from .service import Service, environment


class Durable:
    """Services one after another on one directory; each attribute is of the one that runs now."""

    def __init__(self, wire, data, app="com.example.pizza", options=None, env=None, prefix=()):
        self.wire = wire
        self.data = data
        self.app = app
        self.options = {"--store": "sqlite", "--data": data, "--clock": "manual", **(options or {})}
        # Folders of tests may be in memory, and no test loses power.
        self.env = {"ISLET_JOURNAL_ALLOW_VOLATILE": "true", **(env or {})}
        self.prefix = prefix
        self.service = None

    def service_with(self, **options):
        """A service on the directory that may or may not get ready."""
        options = {f"--{name}": value for name, value in options.items()}
        return Service({**self.options, **options}, env=environment(**self.env), prefix=self.prefix)

    def start(self, **options):
        self.service = self.service_with(**options).ready()
        self.client = Commands(self.wire, self.service.commands, self.app)
        return self

    def refused(self, **options):
        """What a service says that does not start."""
        service = self.service_with(**options)
        code = service.wait()
        assert code == 1, f"ended with {code}:\n{service.log}"
        assert "ready" not in service.log
        return service.log

    def kill(self):
        self.service.kill()
        return self

    def stop(self):
        self.service.stop()
        return self

    def restart(self, **options):
        """As after `kill -9`."""
        return self.kill().start(**options)

    def events(self):
        subscriber = Events(self.wire, self.service.events, self.app + "/")
        self.joined = subscriber.join()
        return subscriber

    def bulk(self):
        return Bulk(self.wire, self.service.bulk, self.app)

    def replay(self, after=0):
        return self.bulk().pull("replay", **{"from": after})

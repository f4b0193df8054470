"""Controls as a person has them, with what a test needs to watch them: commands, events and providers of one app."""

from .bulk import Bulk
from .commands import Commands
from .events import Events
from .followed import as_followed
from .provider import APP, TORCH, RawProvider, toggle
from .replica import Replica, family
from .wire import DEADLINE, Deadline


class Home:
    """One app at one service. `next` takes each event of a control in turn, and `entity` is what they make of it."""

    FAMILY = "control"

    def __init__(self, wire, service, app=APP):
        self.wire, self.service, self.app = wire, service, app
        self.client = Commands(wire, service.commands, app)
        self.events = Events(wire, service.events, app + "/")
        joined = self.events.join()["apps"].get(app, {})
        self.replica = Replica(joined.get("seq", 0))
        self.state_at = {}  # by topic, of those whose state an event has brought

    @property
    def bulk(self):
        return Bulk(self.wire, self.service.bulk, self.app)

    def provider(self, *kinds, **options):
        """Another provider on a connection of its own."""
        return RawProvider(self.wire, self.service.commands, *(kinds or [toggle()]), app=self.app, **options)

    # Commands

    def add(self, kind=TORCH, **fields):
        """Places a control; gives its id."""
        id = self.client.applied("control.add", kind=kind, **fields)["control"]["id"]
        self.next("added", id=id)
        return id

    def add_many(self, count, **fields):
        """Places so many controls at once, and takes no event in; gives their ids."""
        commands = [self.client.command("control.add", **{"kind": TORCH, **fields}) for _ in range(count)]
        return [answer["control"]["id"] for answer in self.client.batch(*commands)]

    def shown(self, provider, value=False, kind=TORCH, look=None, **fields):
        """Places a control whose first value is there; gives its id."""
        id = self.add(kind, **fields)
        provider.gives(value, kind=kind, control=id, **(look or {}))
        self.next("shown", id=id)
        return id

    def tap(self, id, **fields):
        return self.client.applied("control.tap", id=id, **fields)

    def given_up(self):
        """A provider whose action took too long and was given up, and that action's call. Its control shows what is so."""
        provider = self.provider(toggle(actionDeadline=50))
        id = self.shown(provider)
        self.tap(id)
        late = provider.call("perform")
        provider.cancelled(late, "timedOut")
        provider.gives(False)
        self.until(id, failure="timedOut", state="reloading")
        self.until(id, state="shown")
        return provider, late

    def get(self, id, **fields):
        return self.client.read(f"{self.FAMILY}.get", id=id, **fields)[self.FAMILY]

    def providers(self):
        """`provider.list`, by the ids of the providers."""
        return {row["id"]: row for row in self.client.read("provider.list", app=None)["providers"]}

    # Events

    def next(self, name=None, id=None, cause=None, seconds=DEADLINE, **members):
        """The next event, which must be this one and change these members; gives the patch in it."""
        deadline = Deadline(seconds)
        while True:
            topic, event, _ = self.events.raw_next(deadline.milliseconds / 1000)
            if event["seq"] > self.replica.seq:  # else a snapshot has it
                break
        self.replica.apply(topic, event)
        if event.get("from") != event.get("to"):
            self.state_at[topic] = event["at"] - event.get("lateBy", 0)
        self.event = event
        return self.judge(event.get(family(topic), {}), name, id, cause, **members)

    def judge(self, patch, name=None, id=None, cause=None, **members):
        """Fails where the event that was taken is not this one; gives the patch in it."""
        event = self.event
        assert name is None or event["event"].partition(".")[2] == name, event
        assert cause is None or event["cause"] == cause, event
        assert id is None or patch["id"] == id, event
        assert {member: patch.get(member) for member in members} == members, event
        return patch

    def until(self, id, **members):
        """Takes events until a control shows these members; None: it has no such member."""
        while {member: self.entity(id).get(member) for member in members} != members:
            self.next()

    def entity(self, id):
        """The control as the events so far make it."""
        [found] = [entity for topic, entity in self.replica.entities.items() if topic.endswith(id)]
        return found

    def agrees(self, id):
        """Fails where the events make something else of it than a read shows; gives the control."""
        read = self.get(id)
        self.check(id, read)
        return as_followed(read)

    def check(self, id, read):
        """Fails where the events make something else of it than a read has shown, also of since when it is in its state."""
        assert self.entity(id) == as_followed(read)
        for topic, date in self.state_at.items():
            assert not topic.endswith(id) or read["stateAt"] == date, (topic, date, read)

    def silent(self):
        """Fails where an event comes."""
        self.events.silent()

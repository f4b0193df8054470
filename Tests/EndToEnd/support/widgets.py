"""Widgets as a person has them, with what a test needs to watch them: commands, events and providers of one app."""

import contextlib

from .dates import HOUR
from .followed import as_followed
from .home import Home
from .provider import APP, RawProvider
from .service import environment
from .wire import QUIET, Silence

FORECAST, CLOCK = "com.example.forecast", "com.example.clock"
DAY = 24 * HOUR


def widget(kind=FORECAST, families=("systemSmall", "systemMedium"), **members):
    """The declaration of a widget kind; its times are long, so that none passes where a test does not mean it."""
    return {"kind": kind, "families": list(families), "timelineDeadline": 30_000, "actionDeadline": 30_000, **members}


def entry(date, n=None, **members):
    """An entry that shows a number, or nothing."""
    return {"date": date, **({} if n is None else {"content": {"n": n}}), **members}


def after(date):
    """The policy."""
    return {"after": date}


def rules(**named):
    """The environment of a service with these rules; spans are in milliseconds."""
    def name(rule):
        return "".join("_" + letter if letter.isupper() else letter for letter in rule).upper()

    return environment(**{f"ISLET_RULE_SET_{name(rule)}": str(value).lower() for rule, value in named.items()})


class WidgetProvider(RawProvider):
    """A provider of widgets that a test plays frame by frame."""

    FAMILY = "widget"

    def __init__(self, wire, url, *widgets, **options):
        super().__init__(wire, url, widgets=widgets, **options)

    def show(self, call, *entries, policy=None, needsLogin=None):
        """Answers a call with a timeline."""
        self.say("provider.answer", call=call["call"], entries=list(entries), policy=policy, needsLogin=needsLogin)

    def shows(self, *entries, id=None, kind=None, policy=None, needsLogin=None):
        """Answers the next call, which must be for the timeline of this widget; gives the call."""
        call = self.call("timeline", kind, id)
        self.show(call, *entries, policy=policy, needsLogin=needsLogin)
        return call

    def shows_now(self, n=None, **fields):
        """Answers the next call with one entry of its very moment that asks for nothing by itself."""
        call = self.call("timeline", fields.pop("kind", None), fields.pop("id", None))
        self.show(call, entry(call["now"], n), **{"policy": "never", **fields})
        return call

    def fails(self, id=None, **members):
        """Lets the next call, which must be for the timeline of this widget, fail; gives the call."""
        call = self.call("timeline", None, id)
        self.fail(call, **members)
        return call


class Board(Home):
    """One app's widgets at one service, whose clock is manual."""

    FAMILY = "widget"

    def __init__(self, wire, service, app=APP):
        super().__init__(wire, service, app)
        self.rules = self.client.read("service.info")["info"]["ruleSet"]

    def next(self, name=None, *place, **members):
        """As of controls; but what comes to the top of a Smart Stack, or leaves it, is told where it is asked for."""
        while True:
            patch = super().next()
            if name == "rotated" or self.event["event"] != "widget.rotated":
                break
        return self.judge(patch, name, *place, **members)

    def agrees(self, id):
        """Fails where the events make something else of it than a read shows; gives the widget."""
        read = self.get(id)
        while self.entity(id)["revision"] < read["revision"]:
            super().next("rotated")
        self.check(id, read)
        return as_followed(read)

    def silent(self):
        """Fails where an event comes that is no rotation."""
        while True:
            try:
                topic, event, _ = self.events.raw_next(QUIET)
            except Silence:
                return
            assert event["event"] == "widget.rotated", event
            self.replica.apply(topic, event)

    def provider(self, *widgets, **options):
        """Another provider on a connection of its own."""
        return WidgetProvider(
            self.wire, self.service.commands, *(widgets or [widget()]), app=self.app, **options)

    @property
    def now(self):
        return self.client.read("service.ping")["now"]

    # Commands

    def add(self, kind=FORECAST, family="systemSmall", **fields):
        """Places a widget; gives its id."""
        id = self.client.applied("widget.add", kind=kind, family=family, **fields)["widget"]["id"]
        self.next("added", id=id)
        return id

    def placed(self, provider, *entries, policy="never", needsLogin=None, **fields):
        """Places a widget whose first timeline is there (one entry of now, without more, where none is given)."""
        id = self.add(**fields)
        call = provider.call("timeline", None, id)
        provider.show(call, *(entries or [entry(call["now"])]), policy=policy, needsLogin=needsLogin)
        self.next("timeline", id=id)
        return id

    def reload(self, id, **fields):
        return self.client.applied("widget.reload", id=id, **fields)["widget"]

    def reloaded(self, provider, id, *entries, exempt=None, policy="never", **fields):
        """Reloads a widget that may be reloaded at once; gives the call."""
        self.reload(id, **fields)
        self.next("reloading", id=id)
        assert self.event.get("exempt") == exempt, self.event
        call = provider.call("timeline", None, id)
        provider.show(call, *(entries or [entry(call["now"])]), policy=policy)
        self.next("timeline", id=id)
        return call

    def budget(self, id):
        return self.client.read("widget.budget", id=id)["budget"]

    def device(self, event, device="phone", **fields):
        return self.client.read("device.event", device=device, event=event, **fields)

    def stack(self, device="phone"):
        """The ids of a Smart Stack, the top first."""
        return [row["id"] for row in self.client.read("widget.stack", device=device)["stack"]]

    # The clock

    def begin(self, **step):
        """Begins a step of the clock; gives what to wait for."""
        command = self.client.command("clock.advance", **step)
        self.client.send(command)
        return command["req"]

    def arrived(self, req):
        """Waits for the end of a step; gives the time."""
        [answer] = self.client.answer_to(req)
        assert answer["ok"], answer
        return answer["now"]

    @contextlib.contextmanager
    def travel(self, by=None, to=None):
        """A step of the clock during which a provider is asked something."""
        req = self.begin(**({"by": by} if to is None else {"to": to}))
        yield
        self.arrived(req)

    def rest(self, by=None, to=None):
        """A step of the clock during which nobody is asked anything."""
        return self.client.advance(by=by, to=to)


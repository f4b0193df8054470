"""All of one service in the model: what there is, the clock, switches and devices, and the walk of a command."""

import collections

from .activity import DISMISSAL_LIMIT, LISTED, OPEN, RETENTION
from .retries import Retries
from .rules import ActivityRules, Ignored, Refused

TRANSIENT_REPORTS = {"lock", "collapse", "leave"}


class Model(ActivityRules):
    """The state of one service, as far as the apps of one example go.

    `groups` collects the events of a command: each group is a list of events of which those of different activities
    may come in any order, because the contract orders by date (and one command's effects on many not at all).
    """

    def __init__(self, now):
        self.now = now
        self.activities = []
        self.retries = Retries()
        self.seq = collections.Counter()
        self.switches = {}
        self.background = set()
        self.groups = []
        self._order = 0

    # Looking

    def retained(self, app=None):
        """All that can be read, oldest first."""
        return [
            a for a in self.activities
            if (app is None or a.app == app) and not (a.gone_at is not None and self.now >= a.gone_at + RETENTION)]

    def listed(self, app):
        return [a for a in self.retained(app) if a.state in LISTED]

    def resolve(self, command, any_state=True):
        """Whom `id` or `key` means; a key means its holder, and for some commands else the newest retained one."""
        for_app = self.retained(command["app"])
        if "id" in command:
            found = [a for a in for_app if a.id == command["id"]]
        else:
            found = [a for a in for_app if a.key == command["key"] and a.device == command.get("device")]
            found = [a for a in found if a.state in OPEN] or (found if any_state else [])
        if not found:
            raise Refused("notFound")
        return found[-1]

    def switch(self, app, device, name):
        """The value that holds for a device: its own, else the one for all, else on."""
        return self.switches.get((app, device, name), self.switches.get((app, None, name), True))

    # Collecting

    def emit(self, *events):
        """Events of one command, in order."""
        for event in events:
            self.seq[event.activity.app] += 1
            self.groups.append([event])

    def emit_together(self, events):
        """Events of several activities, among which the contract gives no order."""
        for event in events:
            self.seq[event.activity.app] += 1
        if events:
            self.groups.append(list(events))

    # The clock

    def advance(self, to):
        """Every deadline on the way, at its own date."""
        while due := [a for a in self.activities if a.deadline and a.deadline[0] <= to]:
            self.now = max(self.now, min(a.deadline[0] for a in due))
            events = []
            for activity in due:
                while activity.deadline and activity.deadline[0] <= self.now:
                    events.append(activity.fire(self.now))
            self.emit_together(events)
        self.now = max(self.now, to)

    # Switches and devices

    def set_switches(self, command):
        """Rows 12, 29 and 30; a switch without a device is for all of them."""
        app, device = command["app"], command.get("device")
        [name] = {"activitiesEnabled", "frequentPushesEnabled"} & set(command)
        scope = [a for a in self.listed(app) if device is None or a.device == device]
        before = {a: self.switch(app, a.device, name) for a in scope}
        if device is None:
            for place in [p for p in self.switches if p[0] == app and p[2] == name]:
                del self.switches[place]
        self.switches[app, device, name] = command[name]
        if name == "activitiesEnabled":
            if not command[name]:
                self.emit_together([a.dismiss(self.now, "settings") for a in scope])
        else:
            self.emit_together([
                a.end(self.now, self.now + DISMISSAL_LIMIT, "settings") for a in scope
                if a.state in ("active", "stale") and before[a] != command[name]])
        return {each: self.switch(app, device, each) for each in ("activitiesEnabled", "frequentPushesEnabled")}

    def report(self, command):
        """`device.event`: rows 31, 33 and 34, and whether an app may start something."""
        device, event, by = command["device"], command["event"], self.by(command)
        if event in TRANSIENT_REPORTS:
            events = []
            for activity in [a for a in self.activities if a.device == device and a.style == "transient"]:
                if activity.state in ("active", "stale"):
                    events.append(activity.end(self.now, self.now, "transient", by=by))
                    events.append(activity.dismiss(self.now, "transient", by=by))
            self.emit_together(events)
        elif event == "uninstall":
            gone = [a for a in self.listed(command["app"]) if a.device == device]
            self.emit_together([a.dismiss(self.now, "system", by=by) for a in gone])
            self.background.discard((command["app"], device))
            for name in ("activitiesEnabled", "frequentPushesEnabled"):
                self.switches.pop((command["app"], device, name), None)
        elif event == "appBackground":
            self.background.add((command["app"], device))
        elif event == "appForeground":
            self.background.discard((command["app"], device))

    # All commands

    def execute(self, command, frame, new_id):
        """The answer that is expected, as a dictionary, and (in `groups`) the events.

        `new_id` is the id that the service gave, where it made one.
        """
        self.groups = []
        self.retries.forget(self.now)
        pair = (command["client"], command["req"]) if "client" in command else None
        if pair:
            known = self.retries.verdict(pair, frame)
            if isinstance(known, str):
                return {"ok": False, "code": known, "detail": {}}
            if known:
                return known
        try:
            answer = self.perform(command, new_id)
        except Ignored as ignored:
            answer = {
                "ok": True, "outcome": "ignored", "reason": ignored.reason, "seq": self.seq[command["app"]],
                "activity": ignored.activity.short()}
        except Refused as refused:
            return {"ok": False, "code": refused.code, "detail": refused.detail}
        answer = {"req": command["req"], **answer}
        if pair:
            self.retries.remember(pair, frame, answer, self.now)
        return answer

    def perform(self, command, new_id):
        op = command["op"]
        if op in self.ACTIVITY:
            activity = self.ACTIVITY[op](self, command, new_id)
            return {
                "ok": True, "outcome": "applied", "seq": self.seq[command["app"]], "activity": activity.short()}
        if op == "settings.set":
            settings = self.set_switches(command)
            return {"ok": True, "outcome": "applied", "seq": self.seq[command["app"]], "settings": settings}
        if op == "device.event":
            self.report(command)
            return {"ok": True, "outcome": "applied"}
        to = command["to"] if "to" in command else self.now + command["by"]
        if to < self.now:
            raise Refused("badField")
        self.advance(to)
        return {"ok": True, "now": self.now}

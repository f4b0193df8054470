"""All commands of the model: the contract's checks in their order, and what each does."""

import collections

from .activity import (
    CONTENT_LIMIT, DISMISSAL_LIMIT, FUTURE_LIMIT, LISTED, MAXIMUM_PER_APP, MAXIMUM_PER_DEVICE, OPEN, RETENTION, Activity)
from .retries import Retries

TRANSIENT_REPORTS = {"lock", "collapse", "leave"}


class Refused(Exception):
    """The command is refused; `detail` is what the answer must say beside the code."""

    def __init__(self, code, **detail):
        super().__init__(code)
        self.code = code
        self.detail = detail


class Ignored(Exception):
    """The command is dropped, as ActivityKit drops it."""

    def __init__(self, reason, activity):
        super().__init__(reason)
        self.reason = reason
        self.activity = activity


class Model:
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

    def wake_up(self, now):
        """A start after a time in which nothing ran: what was missed, at once, in the order of the dates."""
        self.now = max(self.now, now)
        set_at = {}
        while due := [a for a in self.activities if a.deadline and a.deadline[0] <= self.now]:
            date = min(a.deadline[0] for a in due)
            events = []
            for activity in due:
                if activity.deadline[0] == date:
                    event = activity.fire(self.now, self.now - max(date, set_at.get(activity, 0)))
                    event.at = self.now
                    events.append(event)
            self.emit_together(events)

    # The checks that many share

    @staticmethod
    def check_revision(command, activity):
        if "ifRevision" in command and command["ifRevision"] != activity.revision:
            raise Refused("conflict", revision=activity.revision)

    @staticmethod
    def check_over(activity, *, ended=True):
        if activity.state == "dismissed" or (ended and activity.state == "ended"):
            raise Ignored(activity.state, activity)

    @staticmethod
    def check_size(attributes, content):
        size = len(attributes.encode()) + len(content.encode())
        if size > CONTENT_LIMIT:
            raise Refused("attributesTooLarge", bytes=size, limit=CONTENT_LIMIT)

    def check_timestamp(self, command, activity, *, older=True):
        stamp = command.get("timestamp", self.now)
        if older and stamp < activity.timestamp:
            raise Ignored("olderTimestamp", activity)
        if command.get("source") == "push" and stamp > self.now + FUTURE_LIMIT:
            raise Ignored("futureTimestamp", activity)
        return stamp

    @staticmethod
    def by(command):
        return {name: command[name] for name in ("client", "req") if name in command}

    # Activities

    def start(self, command, new_id):
        app, device, key = command["app"], command.get("device"), command.get("key")
        holder = key and next(
            (a for a in self.activities if (a.app, a.device, a.key) == (app, device, key) and a.state in OPEN), None)
        if holder and command.get("ifExists") == "update":
            return self.change(command, holder, dated=False)
        if holder:
            raise Refused("conflict", id=holder.id)
        if "id" in command and any(a.id == command["id"] for a in self.retained()):
            raise Refused("reconnectNotPermitted")
        if not self.switch(app, device, "activitiesEnabled"):
            raise Refused("denied")
        if command.get("background", (app, device) in self.background):
            raise Refused("visibility")
        self.check_size(command["attributes"], command["contentState"])
        if device and len([
            a for a in self.activities if (a.app, a.device) == (app, device) and a.state in OPEN
        ]) >= MAXIMUM_PER_APP:
            raise Refused("targetMaximumExceeded", limit=MAXIMUM_PER_APP)
        if device and len([a for a in self.activities if a.device == device and a.state in OPEN]) >= MAXIMUM_PER_DEVICE:
            raise Refused("globalMaximumExceeded", limit=MAXIMUM_PER_DEVICE)
        self._order += 1
        new = Activity(
            app, command["type"], command["attributes"], command["contentState"], self._order,
            id=command.get("id", new_id), key=key, device=device, stale_date=command.get("staleDate"),
            relevance=command.get("relevanceScore", 0), style=command.get("style", "standard"),
            push_type=command.get("pushType"), start_date=command.get("startDate"), timestamp=self.now,
            alert=command.get("alert"))
        if new.start_date is not None:
            new.start_date = max(new.start_date, self.now)
        self.activities.append(new)
        by, cause = self.by(command), "push" if command.get("source") == "push" else "command"
        if new.start_date is not None and new.start_date > self.now:
            self.emit(new.move("scheduled", "pending", cause, self.now, by=by, payload=new.content))
        else:
            self.emit(new.begin(self.now, cause, by=by, alert=new.alert, payload=new.content))
            self.settle(new, by)
        return new

    def settle(self, activity, by):
        """A stale date that has passed shows at once."""
        while activity.deadline and activity.deadline[0] <= self.now:
            self.emit(activity.fire(self.now, by=by))

    def change(self, command, activity, dated=True):
        """Rows 9, 13 to 18, 20, 21, 35 and 41."""
        self.check_over(activity)
        self.check_revision(command, activity)
        stamp = self.check_timestamp(command if dated else {**command, "timestamp": self.now}, activity)
        content, alert = command["contentState"], command.get("alert")
        self.check_size(activity.attributes, content)
        new = (content, command.get("staleDate"), command.get("relevanceScore", 0))
        if new == (activity.content, activity.stale_date, activity.relevance) and alert is None:
            raise Ignored("unchanged", activity)
        payload = content if content != activity.content else None
        activity.content, activity.stale_date, activity.relevance = new
        activity.timestamp = stamp
        to = activity.state
        if to == "stale" and not (activity.stale_date is not None and activity.stale_date <= self.now):
            to = "active"
        by, cause = self.by(command), "push" if command.get("source") == "push" else "command"
        self.emit(activity.move("updated", to, cause, self.now, by=by, alert=alert, payload=payload))
        if activity.state != "pending":
            self.settle(activity, by)
        return activity

    def update(self, command, _):
        return self.change(command, self.resolve(command))

    def finish(self, command, _):
        """`activity.end`."""
        activity = self.resolve(command)
        policy, by = command.get("dismissalPolicy", "default"), self.by(command)
        self.check_over(activity, ended=policy != "immediate")
        self.check_revision(command, activity)
        cause, pushed = "push" if command.get("source") == "push" else "command", command.get("source") == "push"
        if activity.state == "pending":
            activity.timestamp = max(activity.timestamp, command.get("timestamp", self.now))
            self.emit(activity.dismiss(self.now, cause, by=by))
            return activity
        if activity.state == "ended":
            activity.timestamp = max(activity.timestamp, command.get("timestamp", self.now))
            self.emit(activity.dismiss(self.now, "dismissalPolicy", late=0, by=by))
            return activity
        stamp = self.check_timestamp(command, activity, older=not pushed)
        content = command.get("contentState", activity.content)
        self.check_size(activity.attributes, content)
        payload = content if content != activity.content else None
        activity.content = content
        activity.timestamp = max(activity.timestamp, stamp)
        latest = self.now + DISMISSAL_LIMIT
        if policy == "default":
            leaves = latest
        else:
            leaves = self.now if policy == "immediate" else max(self.now, min(policy["after"], latest))
        self.emit(activity.end(self.now, leaves, cause, by=by, payload=payload))
        self.settle(activity, by)
        return activity

    def remove(self, command, _):
        """`activity.dismiss`."""
        activity = self.resolve(command, any_state=False)
        self.check_over(activity, ended=False)
        self.check_revision(command, activity)
        self.emit(activity.dismiss(self.now, command.get("by", "person"), by=self.by(command)))
        return activity

    def renew(self, command, new_id):
        old = self.resolve(command, any_state=False)
        self.check_over(old)
        self.check_revision(command, old)
        content = command.get("contentState", old.content)
        self.check_size(old.attributes, content)
        self._order += 1
        new = Activity(
            old.app, old.type, old.attributes, content, self._order, id=new_id, key=old.key, device=old.device,
            stale_date=command.get("staleDate"), relevance=old.relevance, style=old.style, push_type=old.push_type,
            renews=old.id, timestamp=self.now)
        by, old.renewed_by = self.by(command), new_id
        if old.state != "pending":
            self.emit(old.end(self.now, self.now, "renewal", by=by))
        self.emit(old.dismiss(self.now, "renewal", by=by))
        self.activities.append(new)
        self.emit(new.begin(self.now, "renewal", by=by, payload=content))
        self.settle(new, by)
        return new

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

    ACTIVITY = {
        "activity.start": start, "activity.update": update, "activity.end": finish, "activity.dismiss": remove,
        "activity.renew": renew,
    }

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

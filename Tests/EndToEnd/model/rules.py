"""What each command on an activity does, and the contract's checks in their order."""

from .activity import (
    CONTENT_LIMIT, DISMISSAL_LIMIT, FUTURE_LIMIT, MAXIMUM_PER_APP, MAXIMUM_PER_DEVICE, OPEN, Activity)


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


class ActivityRules:
    """The part of the model that decides about one activity; the rest of it is `Model`."""

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
        if "ifRevision" in command:
            raise Refused("notFound")
        if "id" in command and any(a.id == command["id"] for a in self.retained()):
            raise Refused("reconnectNotPermitted")
        if not self.switch(app, device, "activitiesEnabled"):
            raise Refused("denied")
        pushed = command.get("source") == "push"
        if not pushed and command.get("background", (app, device) in self.background):
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
        by, cause = self.by(command), "push" if pushed else "command"
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
        activity = self.resolve(command)  # a card is removed after its end
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

    ACTIVITY = {
        "activity.start": start, "activity.update": update, "activity.end": finish, "activity.dismiss": remove,
        "activity.renew": renew,
    }

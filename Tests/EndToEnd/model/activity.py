"""One activity of the model, and the events that its changes make."""

import dataclasses
import json

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

ACTIVE_LIMIT = 8 * HOUR
DISMISSAL_LIMIT = 4 * HOUR
FUTURE_LIMIT = 8 * HOUR
RETENTION = 24 * HOUR
CONTENT_LIMIT = 4096
MAXIMUM_PER_APP = 5
MAXIMUM_PER_DEVICE = 20

OPEN = {"pending", "active", "stale"}
LISTED = OPEN | {"ended"}


@dataclasses.dataclass
class Event:
    """One edge of one activity as it must be published, and how the activity looks after it."""

    activity: "Activity"
    name: str
    before: str | None
    to: str
    cause: str
    at: int
    late: int | None
    by: dict | None
    alert: dict | None
    shown: dict
    payload: str | None


@dataclasses.dataclass(eq=False)
class Activity:
    """Its fields are those of the contract; payloads are the JSON texts that were sent."""

    app: str
    type: str
    attributes: str
    content: str
    order: int
    id: str | None = None
    key: str | None = None
    device: str | None = None
    state: str | None = None
    state_at: int | None = None
    revision: int = 0
    stale_date: int | None = None
    relevance: float = 0
    style: str = "standard"
    push_type: object = None
    start_date: int | None = None
    started_at: int | None = None
    ended_at: int | None = None
    dismiss_at: int | None = None
    expires_at: int | None = None
    timestamp: int | None = None
    cause: str | None = None
    renews: str | None = None
    renewed_by: str | None = None
    alert: dict | None = None
    gone_at: int | None = None

    @property
    def topic(self):
        return f"{self.app}/activity/{self.type}/{self.id}"

    @property
    def deadline(self):
        """The next one as (date, cause), or None. The limit of 8 hours wins over a stale date of the same moment."""
        if self.state == "pending":
            return self.start_date, "startDate"
        if self.state == "active" and self.stale_date is not None and self.stale_date < self.expires_at:
            return self.stale_date, "staleDate"
        if self.state in ("active", "stale"):
            return self.expires_at, "activeLimit"
        if self.state == "ended":
            return self.dismiss_at, "dismissalPolicy"
        return None

    @property
    def next(self):
        return {"at": self.deadline[0], "cause": self.deadline[1]} if self.deadline else None

    def read(self):
        """As `get` and `list` show it; the content of a dismissed one is not promised."""
        return {**self.shown(), "stateAt": self.state_at}

    def shown(self):
        """As events and snapshots show it: without what only answers to reads have."""
        whole = {
            "id": self.id, "app": self.app, "type": self.type, "key": self.key, "device": self.device,
            "state": self.state, "revision": self.revision, "attributes": json.loads(self.attributes),
            "contentState": None if self.state == "dismissed" else json.loads(self.content),
            "staleDate": self.stale_date, "relevanceScore": self.relevance, "style": self.style,
            "pushType": self.push_type, "startDate": self.start_date, "startedAt": self.started_at,
            "endedAt": self.ended_at, "dismissAt": self.dismiss_at, "expiresAt": self.expires_at,
            "timestamp": self.timestamp, "cause": self.cause, "next": self.next, "renews": self.renews,
            "renewedBy": self.renewed_by,
        }
        return {name: value for name, value in whole.items() if value is not None}

    def short(self):
        """As answers to changes carry it."""
        whole = {
            "id": self.id, "revision": self.revision, "state": self.state, "next": self.next, "renews": self.renews}
        return {name: value for name, value in whole.items() if value is not None}

    def move(self, name, to, cause, at, late=None, by=None, alert=None, payload=None):
        """One edge: the next revision, and the event of it."""
        before, self.state, self.cause = self.state, to, cause
        self.revision += 1
        if before != to:
            self.state_at = at - (late or 0)
        return Event(self, "activity." + name, before, to, cause, at, late, by, alert, self.shown(), payload)

    # The edges of the table

    def begin(self, at, cause, late=None, by=None, alert=None, payload=None):
        """Rows 1, 6 and 8: its 8 hours run from `at`."""
        self.started_at, self.expires_at = at, at + ACTIVE_LIMIT
        self.timestamp = max(self.timestamp or 0, at)
        return self.move("started", "active", cause, at, late, by, alert, payload)

    def end(self, at, dismiss_at, cause, late=None, by=None, payload=None):
        """Rows 22 to 27 and 30."""
        self.ended_at, self.dismiss_at, self.expires_at = at, dismiss_at, None
        return self.move("ended", "ended", cause, at, late, by, payload=payload)

    def dismiss(self, at, cause, late=None, by=None):
        """Rows 10, 24, 25, 28, 29, 34, 36, 38 and 39."""
        if self.state in ("active", "stale"):
            self.ended_at = at
        self.expires_at, self.dismiss_at, self.gone_at = None, at, at
        return self.move("dismissed", "dismissed", cause, at, late, by)

    def fire(self, at, late=0, by=None):
        """What its due deadline does. Its own dates come from the deadline, whenever that takes effect."""
        date, cause = self.deadline
        if cause == "startDate":
            return self.begin(date, cause, late, alert=self.alert)
        if cause == "staleDate":
            return self.move("stale", "stale", cause, at, late, by)
        if cause == "activeLimit":
            return self.end(date, date + DISMISSAL_LIMIT, cause, late)
        return self.dismiss(date, cause, late, by)

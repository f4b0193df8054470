"""The stream of one app, checked event by event: density, edges, deadlines, and who did what how often."""

import bisect
import collections

FROM = {
    "activity.scheduled": {None}, "activity.started": {None, "pending"}, "activity.updated": {
        "pending", "active", "stale"}, "activity.stale": {"active"}, "activity.ended": {"active", "stale"},
    "activity.dismissed": {"pending", "active", "stale", "ended"}}

DUE = {"staleDate": "staleDate", "startDate": "startDate", "dismissalPolicy": "dismissAt", "activeLimit": "expiresAt"}
"""Which date of an entity a cause goes by."""

LATE_LIMIT = 15_000
"""Milliseconds after its date, or after the start of the process that finds it over, in which a deadline has taken effect:
what a machine may stall, and what a start takes."""

ROOTS = {"activity.scheduled", "activity.started", "activity.updated", "activity.ended"}


class Fold:
    """Entities by id, from nothing but events; each check raises an AssertionError.

    `done` maps (client, req) to the (seq, id, revision) of the last event that names them, and `made` to when the first
    one was made. `over` maps an id to the revision at which it had ended. Counted are commands whose first answer was
    `found` in the stream, those `ignored` with reason, and those `unheard`: executed, with the answer lost in a kill.
    """

    def __init__(self, app):
        self.app = app
        self.seq = self.late = self.latest = 0
        self.epoch = None
        self.entities = {}
        self.since = {}
        self.done, self.made = {}, {}
        self.over = {}
        self.found = self.unheard = self.ignored = 0
        self.finished = collections.defaultdict(set)
        self.starts = [0]
        self.overdue = {}

    def started(self, at):
        """The service was started at this moment, in milliseconds."""
        self.starts.append(at)

    def take(self, topic, event):
        """The next event of the stream."""
        assert event["seq"] == self.seq + 1, f"after {self.seq} came {event}"
        self.seq = event["seq"]
        self.epoch = self.epoch or event["epoch"]
        assert event["epoch"] == self.epoch, f"the epoch was {self.epoch}: {event}"
        patch = event["activity"]
        entity = self.entities.setdefault(patch["id"], {"revision": 0})
        assert patch["revision"] == entity["revision"] + 1, f"{entity}\n{event}"
        assert event.get("from") == entity.get("state") and event.get("from") in FROM[event["event"]], (
            f"{entity}\n{event}")
        if "by" in event:
            self.credit(event)
        elif "lateBy" in event:
            self.deadline(entity, event)
        for name, value in patch.items():
            if name in DUE.values():
                self.since[patch["id"], name] = event["at"]
            if value is None:
                entity.pop(name, None)
            else:
                entity[name] = value
        assert entity["state"] == event["to"]
        if entity["state"] in ("ended", "dismissed"):
            self.over.setdefault(entity["id"], entity["revision"])
        assert topic == f"{self.app}/activity/{entity['type']}/{entity['id']}"
        if entity["state"] == "dismissed":
            for name in set(DUE.values()):
                self.since.pop((patch["id"], name), None)
            self.entities[patch["id"]] = {n: entity[n] for n in ("id", "type", "state", "revision")}

    def credit(self, event):
        """A command makes one edge, and at once after it those that were due with it; never twice."""
        pair = event["by"]["client"], event["by"]["req"]
        id, revision = event["activity"]["id"], event["activity"]["revision"]
        assert pair[1] not in self.finished[pair[0]], f"executed a second time: {event}"
        if pair in self.done:
            assert self.done[pair] == (event["seq"] - 1, id, revision - 1), f"executed twice: {event}"
            assert event["event"] in ("activity.stale", "activity.dismissed"), f"executed twice: {event}"
        else:
            assert event["event"] in ROOTS or event["cause"] in ("command", "dismissalPolicy"), event
        self.made.setdefault(pair, event["at"])
        self.done[pair] = event["seq"], id, revision

    def answered(self, answer):
        """A first answer against the stream. Content of this load always differs, so only what is over is left as it is."""
        pair = answer.client, answer.req
        if answer.outcome == "applied":
            assert self.done.pop(pair, None) == (answer.seq, answer.id, answer.revision), f"lost: {answer}"
            self.found += 1
            self.unheard += self.made.pop(pair) < answer.resent
        else:
            assert pair not in self.done, f"ignored, and executed: {answer}"
            over = self.over.get(answer.id)
            assert over and answer.revision >= over, f"ignored without a reason, over since {over}: {answer}"
            self.ignored += 1
        self.finished[answer.client].add(answer.req)

    def deadline(self, entity, event):
        """Never early, never much too late, its lateness right, and after a start in the order of the dates."""
        name = DUE[event["cause"]]
        date, at = entity[name], event["at"]
        since = self.since.get((entity["id"], name), 0)
        if name == "staleDate":  # it cannot be due before the start
            since = max(since, entity["startedAt"])
        due = max(date, since)
        assert at >= date, f"early: {entity}\n{event}"
        assert event["lateBy"] == at - due, f"due {due}: {event}"
        patch = event["activity"]
        for field in {"startDate": ["startedAt"], "activeLimit": ["endedAt"]}.get(event["cause"], []):
            assert patch[field] == date, f"due {date}: {event}"
        self.latest = max(self.latest, event["lateBy"])
        start = self.starts[bisect.bisect_right(self.starts, at) - 1]
        assert at <= max(due, start) + LATE_LIMIT, f"too late, due {due}, started {start}: {event}"
        if due < start:
            self.late += 1
            last_start, last_due = self.overdue.get("last", (0, 0))
            assert start != last_start or due >= last_due, f"after one due {last_due}: {event}"
            self.overdue["last"] = start, due

    def missed(self, now):
        """Entities whose deadline is over although nothing happened."""
        dates = {"pending": ["startDate"], "active": ["staleDate", "expiresAt"], "stale": ["expiresAt"],
                 "ended": ["dismissAt"], "dismissed": []}
        return [
            entity for entity in self.entities.values()
            if any(entity.get(name, now) < now for name in dates[entity["state"]])]

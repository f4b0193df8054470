"""A day of many widgets: what their provider answers, and an independent count of what each reload costs.

The count knows the rules of the contract and nothing of the service. It is told when a widget's provider was called,
and says for each call whether that was right then, what it was for, and whether it was charged."""

import bisect
import collections
import dataclasses

from .dates import EPOCH, HOUR, MINUTE

DAY = 24 * HOUR


@dataclasses.dataclass(frozen=True)
class Rules:
    """Of the rule set, in milliseconds."""

    daily: int
    learning: int
    learning_span: int
    spacing: int
    jitter: int
    retry_first: int
    retry_longest: int

    @classmethod
    def of(cls, rules):
        return cls(rules["widgetDailyBudget"], rules["widgetLearningBudget"], rules["widgetLearningSpan"],
                   rules["widgetReloadSpacing"], rules["widgetReloadJitter"], rules["widgetRetryFirst"],
                   rules["widgetRetryLongest"])


class Sort:
    """A sort of widgets: what its provider answers to a call of a date. `None`: it fails."""

    name = ""
    device = None

    def answer(self, now, number):
        """The dates of the entries from `now` on, and the policy: "atEnd", "never", or a date."""
        raise NotImplementedError


class Hourly(Sort):
    """Entries of four hours, and then the next timeline."""

    name = "hourly"

    def answer(self, now, number):
        return [now + hour * HOUR for hour in range(5)], "atEnd"


class Polite(Sort):
    """One entry, and the next not before three hours have passed: with jitter."""

    name = "polite"

    def answer(self, now, number):
        return [now], now + 3 * HOUR


class Quiet(Sort):
    """Only when it is told to."""

    name = "quiet"

    def answer(self, now, number):
        return [now, now + 5 * HOUR], "never"


class Greedy(Sort):
    """As often as it may: its budget is spent within hours, and the rest of the day is held."""

    name = "greedy"

    def answer(self, now, number):
        return [now], "atEnd"


class Watched(Greedy):
    """The same on a device where its app is in the foreground for a part of the day."""

    name, device = "watched", "phone"


class Moving(Sort):
    """Every 25 minutes on a device that moves, changes its language, and goes to StandBy for the night."""

    name, device = "moving", "tablet"

    def answer(self, now, number):
        return [now, now + 25 * MINUTE], "atEnd"


class Shaky(Sort):
    """Every second call fails."""

    name = "shaky"

    def answer(self, now, number):
        return None if number % 2 else ([now, now + 2 * HOUR], "atEnd")


SORTS = {sort.name: sort for sort in (Hourly(), Polite(), Quiet(), Greedy(), Watched(), Moving(), Shaky())}


@dataclasses.dataclass(frozen=True)
class Happening:
    """What is done to widgets from outside at a date: `request` (of a sort, or of all), or what a device reports."""

    at: int
    what: str
    sort: str | None = None
    device: str | None = None

    def touches(self, sort):
        return self.sort in (None, sort.name) and self.device in (None, sort.device)


CONDITIONS = {
    "appForeground": ("foreground", True), "appBackground": ("foreground", False), "standByStart": ("standBy", True),
    "standByEnd": ("standBy", False)}
CHANGES = {"localeChange": "locale", "appearanceChange": "appearance"}
ORDER = ["developerMode", "foreground", "session", "standBy"]


class Wrong(AssertionError):
    """The service did not do what the rules say."""


class Count:
    """One widget's day by the rules. `run` takes the dates at which its provider was called."""

    def __init__(self, rules, sort, placed):
        self.rules, self.sort, self.placed = rules, sort, placed
        self.charged, self.exempt, self.reloads = [], collections.Counter(), []
        self.conditions = set()
        self.last = None
        self.held = None  # [until, reason, cause, merged]
        self.policy = self.retry = None  # (earliest, latest, cause)
        self.failures = 0
        self.shown = False

    def run(self, calls, happenings, end):
        """Follows the day, call by call; raises `Wrong` where one is missing, too many, early or late."""
        self.calls, self.position = calls, 0
        self.reload(self.placed, "command", "placement")
        todo = collections.deque(happening for happening in happenings if happening.touches(self.sort))
        while True:
            due = self.due()
            happens = todo[0].at if todo else None
            if due is not None and due <= end and (happens is None or due <= happens):
                self.by_itself(due)
            elif happens is not None:
                self.happen(todo.popleft())
            else:
                break
        if self.position != len(calls):
            raise Wrong(f"a call at {calls[self.position] - EPOCH} that nothing asked for, after {self.reloads[-3:]}")

    # What comes by itself

    def due(self):
        """When the next thing happens by itself. A date with jitter is known only by the call that it led to."""
        if self.held:
            return self.held[0]
        return min((self.date(plan) for plan in (self.policy, self.retry) if plan), default=None)

    def date(self, plan):
        """With jitter it is that of the next call, if that can be it; else it has not come yet."""
        earliest, latest, _ = plan
        seen = self.calls[self.position] if self.position < len(self.calls) else None
        return seen if earliest < latest and seen is not None and earliest <= seen <= latest else latest

    def by_itself(self, now):
        if self.held:
            self.request(now, "held")
        elif self.policy and self.date(self.policy) == now:
            cause, self.policy = self.policy[2], None
            self.request(now, cause)
        else:
            self.retry = None
            self.request(now, "retry")

    def happen(self, happening):
        now, what = happening.at, happening.what
        if what == "request":
            self.request(now, "request")
        elif what == "locationChange":
            self.request(now, "location")
        elif what in CHANGES:
            self.reload(now, CHANGES[what], CHANGES[what])
        else:
            condition, begins = CONDITIONS[what]
            (self.conditions.add if begins else self.conditions.discard)(condition)
            if begins and self.held:
                self.request(now, "held")

    # Reloads

    @property
    def exemption(self):
        return next((name for name in ORDER if name in self.conditions), None)

    def limit(self, now):
        return self.rules.learning if now - self.placed < self.rules.learning_span else self.rules.daily

    def window(self, now):
        """The dates of the charged reloads that count now: within 24 hours."""
        return self.charged[bisect.bisect_right(self.charged, now - DAY):]

    def request(self, now, cause):
        if not self.shown:
            return self.reload(now, cause, "placement")
        if (exemption := self.exemption) is not None:
            return self.reload(now, cause, exemption)
        until, reason = max((self.free(now), "budget"), (self.last + self.rules.spacing, "spacing"))
        if until <= now:
            return self.reload(now, cause, None)
        if self.free(now) > now:
            reason = "budget"
        if self.held and now < self.held[0]:
            self.held[3] += 1
        else:
            first, merged = self.held[2:] if self.held else (cause, 0)
            self.held, self.retry = [until, reason, first, merged], None

    def free(self, now):
        """From when on fewer charged reloads count than may."""
        dates = {now, self.placed + self.rules.learning_span, *(date + DAY for date in self.charged)}
        return next(date for date in sorted(dates) if date >= now and len(self.window(date)) < self.limit(date))

    def reload(self, now, cause, exemption):
        """The provider must have been called now."""
        if self.position >= len(self.calls) or self.calls[self.position] != now:
            seen = self.calls[self.position] - EPOCH if self.position < len(self.calls) else None
            raise Wrong(f"{self.sort.name}: no call at {now - EPOCH} ({cause}), but at {seen}; {self.reloads[-3:]}")
        self.reloads.append((now, exemption))
        if exemption:
            self.exempt[exemption] += 1
        else:
            self.charged.append(now)
        self.last, self.held, self.retry = now, None, None
        answer = self.sort.answer(now, self.position)
        self.position += 1
        if answer is None:
            return self.failed(now)
        entries, policy = answer
        self.failures, self.shown, self.policy = 0, True, None
        soonest = now + self.rules.spacing
        if policy == "atEnd":
            date = max(entries[-1], soonest)
            self.policy = (date, date, "atEnd")
        elif policy != "never":
            jitter = min(self.rules.jitter, max(0, (policy - now) // 10))
            self.policy = (max(policy, soonest), max(policy + jitter, soonest), "after")

    def failed(self, now):
        span = min(self.rules.retry_longest, self.rules.retry_first << self.failures)
        self.failures += 1
        soonest = now + self.rules.spacing
        first = soonest if self.shown else 0
        self.retry = (max(first, now + span * 4 // 5), max(first, now + span * 6 // 5), "retry")
        if self.policy:
            earliest, latest, cause = self.policy
            self.policy = (max(earliest, soonest), max(latest, soonest), cause) if latest > now else None

    # What must be in the ledger

    def budget(self, now):
        """The answer of `widget.budget`, but for counts of exemptions that are none."""
        spent, limit = self.window(now), self.limit(now)
        ledger = {
            "limit": limit, "spent": len(spent), "left": max(0, limit - len(spent)),
            "isLearning": now - self.placed < self.rules.learning_span, "developerMode": False,
            "lastReloadAt": self.last, "spentAt": spent, "exempt": dict(self.exempt)}
        if self.held:
            until, reason, cause, merged = self.held
            ledger["held"] = {"until": until, "reason": reason, "cause": cause, "merged": merged}
        return ledger


def schedule():
    """What happens to the widgets during the day, in the order of dates."""
    at = [
        (1 * HOUR + 7 * MINUTE, "request", None, None), (1 * HOUR + 8 * MINUTE, "request", None, None),
        (3 * HOUR, "appForeground", None, "phone"), (3 * HOUR + 1, "request", "watched", None),
        (4 * HOUR, "locationChange", None, "tablet"), (5 * HOUR + 2 * MINUTE, "localeChange", None, "tablet"),
        (6 * HOUR, "appBackground", None, "phone"), (9 * HOUR + 13, "request", "quiet", None),
        (9 * HOUR + 14, "request", "quiet", None), (12 * HOUR, "localeChange", None, "phone"),
        (13 * HOUR + 3, "request", "polite", None), (15 * HOUR, "appForeground", None, "phone"),
        (15 * HOUR + MINUTE, "appBackground", None, "phone"), (18 * HOUR, "appearanceChange", None, "tablet"),
        (21 * HOUR, "standByStart", None, "tablet"), (23 * HOUR + 30 * MINUTE, "standByEnd", None, "tablet"),
        (23 * HOUR + 55 * MINUTE, "request", None, None)]
    return [Happening(EPOCH + date, what, sort, device) for date, what, sort, device in at]

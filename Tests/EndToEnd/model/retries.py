"""What the model remembers of (`client`, `req`): the contract's rules of retries."""

import re

from .activity import MINUTE

REMEMBERED = 10 * MINUTE


class Retries:
    """Answers to changes by (client, req), with their bytes and the moment of domain time."""

    def __init__(self):
        self.kept = {}
        self.highest_forgotten = {}
        self.highest = {}
        # What was executed after the one is remembered until the other.
        self.after = self.until = 0

    def restart(self, last, now):
        """A start gives ten minutes more to what was remembered at the end."""
        self.forget(last)
        if now > last:
            after = last - REMEMBERED
            self.after = min(self.after, after) if self.until > last else after
            self.until = now + REMEMBERED

    def forget(self, now):
        """Drops what is ten minutes old, and notes the highest number of each client and beginning of a `req`."""
        for pair, (_, _, at) in list(self.kept.items()):
            if now - at >= REMEMBERED and not (at > self.after and now < self.until):
                del self.kept[pair]
                if numbered := number_of(pair):
                    place, number = numbered
                    self.highest_forgotten[place] = max(number, self.highest_forgotten.get(place, number))

    def verdict(self, pair, frame):
        """The first answer, the code of a refusal, or None where the command is to be executed."""
        if pair in self.kept:
            first, answer, _ = self.kept[pair]
            return answer if first == frame else "requestReused"
        if numbered := number_of(pair):
            place, number = numbered
            if number <= self.highest_forgotten.get(place, -1):
                return "outcomeUnknown"
        return None

    def remember(self, pair, frame, answer, now):
        self.kept[pair] = (frame, answer, now)
        if numbered := number_of(pair):
            place, number = numbered
            self.highest[place] = max(number, self.highest.get(place, number))

    def rises(self, pair, frame):
        """Whether executing this now keeps the numbers of executed commands rising, or it is not executed at all."""
        place, number = number_of(pair)
        return self.verdict(pair, frame) is not None or number > self.highest.get(place, -1)


def number_of(pair):
    """((client, beginning), number) of a `req` that ends in decimal digits."""
    client, req = pair
    found = re.fullmatch(r"(.*?)([0-9]+)", req)
    return ((client, found.group(1)), int(found.group(2))) if found else None

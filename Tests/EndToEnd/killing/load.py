"""The commands of one writer: starts, updates and ends with short deadlines, all from one seed."""

import random
import uuid

from support.commands import encode

OPEN_LIMIT = 200
"""So many activities of one writer are open at a time; then ends outweigh starts."""


class Load:
    """Makes frames; every command has the writer's `client` and a `req` whose number rises."""

    def __init__(self, name, app, seed):
        self.name = name
        self.app = app
        self.random = random.Random(f"{seed}/{name}")
        self.client = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        self.number = 0
        self.open = []

    def uuid(self):
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def soon(self, now):
        """A date within the next second and a half, so that many pass while the service is down."""
        return now + self.random.randrange(20, 1500)

    def next(self, now):
        """(number, frame) of the next command; `now` is the machine's clock in milliseconds."""
        self.number += 1
        chance = self.random.random()
        if not self.open or chance < (0.25 if len(self.open) < OPEN_LIMIT else 0.02):
            fields = self.start(now)
        elif chance < 0.8:
            fields = {"op": "activity.update", "id": self.random.choice(self.open), "contentState": self.content()}
            if self.random.random() < 0.5:
                fields["staleDate"] = self.soon(now)
        else:
            fields = self.end(now)
        return self.number, encode(
            {**fields, "app": self.app, "client": self.client, "req": f"{self.name}-{self.number}"})

    def content(self):
        return {"n": self.number, "pad": "x" * self.random.randrange(60)}

    def start(self, now):
        fields = {
            "op": "activity.start", "id": self.uuid(), "type": self.random.choice(["Delivery", "Ride"]),
            "attributes": {"writer": self.name}, "contentState": self.content()}
        self.open.append(fields["id"])
        if self.random.random() < 0.6:
            fields["staleDate"] = self.soon(now)
        if self.random.random() < 0.15:
            fields |= {"startDate": self.soon(now), "alert": {"title": "It begins"}}
        return fields

    def end(self, now):
        """Now and then an id stays in use, so that some commands are ignored."""
        position = self.random.randrange(len(self.open))
        id = self.open[position] if self.random.random() < 0.1 else self.open.pop(position)
        policy = self.random.choice(["default", "immediate", {"after": self.soon(now)}, {"after": self.soon(now)}])
        return {"op": "activity.end", "id": id, "dismissalPolicy": policy}

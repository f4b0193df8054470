"""A copy of one app's listed entities, kept by the rules of the contract alone."""

import json

from .digest import digest

GONE = {"dismissed", "removed"}
"""The states of entities that are listed no more."""


def family(topic):
    """The member that the entity of a topic stands under."""
    return topic.split("/", 2)[1]


class Gap(Exception):
    """Sequence numbers are missing: a replay or a snapshot is due."""


class Replica:
    """Entities by topic; `seq` is the last event of the stream that was taken in."""

    def __init__(self, seq=0):
        self.seq = seq
        self.entities = {}

    def load(self, rows):
        """Takes the rows of a snapshot: pairs of topic and JSON."""
        for topic, body in rows:
            self.entities[topic] = json.loads(body)[family(topic)]

    def apply(self, topic, event):
        """Takes one event in order; raises `Gap` where one is missing, and drops what it has already."""
        if event["seq"] <= self.seq:
            return
        if event["seq"] != self.seq + 1:
            raise Gap(f"have {self.seq}, got {event['seq']}")
        self.seq = event["seq"]
        patch = event.get(family(topic))
        if patch is None:
            return  # such as a signal in a group
        entity = self.entities.get(topic)
        if entity is None:
            if patch["revision"] != 1 and family(topic) != "group":
                return  # it was started before; the key of a group begins above what was deleted
            entity = self.entities[topic] = {}
        elif patch["revision"] <= entity["revision"]:
            return
        else:
            assert patch["revision"] == entity["revision"] + 1, (entity["revision"], event)
        for name, value in patch.items():
            if value is None:
                entity.pop(name, None)
            else:
                entity[name] = value
        if event.get("to", entity.get("state")) in GONE:
            del self.entities[topic]

    @property
    def digest(self):
        return digest({topic: entity["revision"] for topic, entity in self.entities.items()})

"""Followers' copies of an app that has controls and activities: events, snapshots and digests agree about both."""

import os
import random

from support.digest import digest
from support.followed import plain
from support.home import Home
from support.provider import DOOR, LAMP, TORCH, button, toggle
from support.replica import Replica, family

SEED = int(os.environ.get("ISLET_TEST_SEED", random.SystemRandom().randrange(1 << 32)))


class Walk:
    """Random commands about activities and controls, and a provider that answers at random."""

    def __init__(self, home, rng):
        self.home, self.rng = home, rng
        self.note = {"name": "note", "type": "string", "isOptional": True}
        self.provider = home.provider(
            toggle(parameters=[self.note]), toggle(LAMP, privacySensitive=True, reloadsSiblings=True),
            button(hasValue=True, parameters=[self.note], privacySensitive=True,
                   authenticationPolicy="requiresAuthentication"), capacity=64)
        self.ids, self.calls = [], []

    def step(self):
        rng, ask = self.rng, self.home.client.ask
        id = rng.choice(self.ids) if self.ids else None
        device = rng.choice([None, "phone", "tablet"])
        configuration = rng.choice([None, {}, {"note": rng.choice("abc")}])
        match rng.randrange(14):
            case 0 | 1:
                kind = rng.choice([TORCH, LAMP, DOOR])
                answer = ask("control.add", kind=kind, device=device,
                             configuration=None if kind == LAMP else configuration)
                self.ids.append(answer["control"]["id"])
            case 2 | 3 | 4 if id:
                ask("control.tap", id=id)
            case 5 if id:
                ask("control.configure", id=id, configuration=configuration or {})
            case 6 if id:
                ask("control.reload", id=id)
            case 7:
                ask("control.reload", kind=rng.choice([TORCH, LAMP, DOOR]))
            case 8 if id:
                ask("control.remove", id=id)
                self.ids.remove(id)
            case 9:
                ask("device.event", device="phone", event=rng.choice(["lock", "unlock"]))
            case 10 | 11:
                ask("activity.start", key=rng.choice("kl"), type="T", attributes={}, ifExists="update",
                    contentState={"n": rng.randrange(9)})
            case 12:
                ask("activity.dismiss", key=rng.choice("kl"), by="person")
            case _:
                self.serve()

    def serve(self):
        """Answers some of the calls that have come."""
        self.calls += self.provider.calls()
        self.rng.shuffle(self.calls)
        for _ in range(self.rng.randrange(len(self.calls) + 1)):
            self.answer(self.calls.pop())

    def settle(self):
        """Answers until nothing is asked any more, and everything that was said is taken in."""
        self.calls += self.provider.calls()
        while self.calls:
            while self.calls:
                self.answer(self.calls.pop())
            self.provider.ask("service.ping", provider=None)
            self.calls += self.provider.calls()

    def answer(self, call):
        rng = self.rng
        if rng.random() < 0.15:
            return self.provider.fail(call)
        value = {"n": rng.randrange(5)} if call["kind"] == DOOR else rng.random() < 0.5
        text = rng.choice([None, "one", "two"])
        self.provider.answer(call, value, status=text, tint=text, isActive=rng.choice([None, True]),
                             disabled=True if rng.random() < 0.1 else None)


def follow(home):
    """Takes in what was published, to the last event; gives the service's digest there."""
    last = home.bulk.digest()
    while home.replica.seq < last["seq"]:
        home.next()
    return last


def test_events_alone_keep_a_copy_of_both_families_that_equals_what_reads_show(home):
    print(f"seed {SEED}: set ISLET_TEST_SEED to repeat")
    walk, names = Walk(home, random.Random(SEED)), set()
    take = home.replica.apply
    home.replica.apply = lambda topic, event: (names.add(event["event"]), take(topic, event))
    for _ in range(12):
        for _ in range(25):
            walk.step()
        walk.settle()
        last = follow(home)
        assert (len(home.replica.entities), home.replica.digest) == (last["entities"], last["digest"]), SEED
        rows = {**listed(home, "activity"), **listed(home, "control")}
        assert {entity["id"]: plain(entity) for entity in home.replica.entities.values()} == rows, SEED
    families = {name.split(".")[0] for name in names}
    assert families == {"activity", "control"} and "control.removed" in names, "the walk shows little"


def listed(home, family):
    rows = home.client.read(f"{family}.list", limit=1_000)[{"activity": "activities", "control": "controls"}[family]]
    return {row["id"]: plain(row) for row in rows}


def test_a_snapshot_has_both_families_and_equals_what_the_events_made(home):
    print(f"seed {SEED}: set ISLET_TEST_SEED to repeat")
    walk = Walk(home, random.Random(SEED))
    for _ in range(150):
        walk.step()
    home.client.start()
    home.client.applied("control.add", kind=TORCH)
    walk.settle()
    follow(home)
    pulled = home.bulk.snapshot()
    follow(home)
    loaded = Replica(pulled.end["seq"])
    loaded.load(pulled.rows)
    assert home.replica.seq == pulled.end["seq"], "nothing happens any more"
    assert {family(topic) for topic in loaded.entities} == {"activity", "control"}
    assert {t: plain(e) for t, e in loaded.entities.items()} == {
        t: plain(e) for t, e in home.replica.entities.items()}
    assert loaded.digest == pulled.end["digest"] == home.bulk.digest()["digest"]


def test_a_snapshot_and_a_digest_may_be_of_the_controls_alone_or_of_one_kind(home):
    provider = home.provider(toggle(), button())
    home.client.start()
    home.next("started")
    torches, doors = {home.shown(provider) for _ in range(3)}, {home.add(kind=DOOR)}
    for prefix, ids in ((f"{home.app}/control/", torches | doors), (f"{home.app}/control/{TORCH}/", torches),
                        (f"{home.app}/control/{LAMP}/", set())):
        pulled, copy = home.bulk.snapshot(prefix=prefix), Replica()
        copy.load(pulled.rows)
        assert {entity["id"] for entity in copy.entities.values()} == ids
        assert all(topic.startswith(prefix) for topic in copy.entities)
        assert all(home.replica.entities[topic] == entity for topic, entity in copy.entities.items())
        part = home.bulk.digest(prefix=prefix)
        assert (part["entities"], part["digest"]) == (len(ids), copy.digest)
    assert home.bulk.digest()["entities"] == 5


def test_a_replay_brings_the_events_of_controls_as_they_were_published(home, wire, service):
    provider = home.provider()
    late = Home(wire, service)
    id = home.shown(provider, True)
    home.client.start()
    home.tap(id)
    provider.gives(None, op="perform")
    provider.gives(False)
    last = 0
    while last < 6:
        last = home.bulk.digest()["seq"]
    replayed = [(topic, body) for topic, body in home.bulk.replay(0).rows]
    published = [late.events.raw_next() for _ in range(last)]
    assert replayed == [(topic, body) for topic, _, body in published]
    copy = Replica()
    for topic, event, _ in published:
        copy.apply(topic, event)
    assert copy.digest == home.bulk.digest()["digest"] == digest(
        {topic: entity["revision"] for topic, entity in copy.entities.items()})

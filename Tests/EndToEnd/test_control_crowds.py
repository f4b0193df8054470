"""Very many controls of one device or app: one message has little done at once, and hides what it must hide all the same."""

import pytest

from support.commands import Commands, encode
from support.durable import Durable
from support.events import Events
from support.provider import DOOR, TORCH, RawProvider, button, toggle
from support.wire import Deadline

CROWD = 300
"""Several times what one step changes."""
SECRET = {"note": "s3cr3t"}


def crowd(home, kind=DOOR, count=CROWD, **fields):
    """So many controls on one phone; gives their ids."""
    ids = []
    for _ in range(count // 100):
        commands = (home.client.command("control.add", kind=kind, device="phone", **fields) for _ in range(100))
        ids += [answer["control"]["id"] for answer in home.client.batch(*commands)]
    return ids


def seq(client, id):
    return client.read("control.get", id=id)["seq"]


def until(client, id, goal):
    """Waits until the app's stream has come so far."""
    deadline = Deadline()
    while (now := seq(client, id)) < goal:
        assert not deadline.passed, f"{now} of {goal}"


def sensitive(home):
    """A provider of doors that are sensitive, whose configuration tells something."""
    parameter = {"name": "note", "type": "string"}
    return home.provider(button(privacySensitive=True, hasValue=False, parameters=[parameter]))


def locks(client, count):
    return [client.command("device.event", device="phone", event=("lock", "unlock")[n % 2]) for n in range(count)]


def test_a_message_of_locks_and_unlocks_tells_each_control_of_a_crowded_device_the_last_of_them_once(home):
    sensitive(home)
    ids = crowd(home, configuration=SECRET)
    before = seq(home.client, ids[0])
    assert all(answer["ok"] for answer in home.client.batch(*locks(home.client, 101)))
    until(home.client, ids[0], before + CROWD)
    # Whatever comes behind the last of them: each is told of the last lock, and of none before.
    home.client.applied("control.remove", id=ids[0])
    assert seq(home.client, ids[1]) == before + CROWD + 1
    rows = home.client.read("control.list", limit=CROWD)["controls"]
    assert all(row["isRedacted"] and row["cause"] == "lock" for row in rows), rows


def test_a_crowded_device_shows_nothing_sensitive_once_its_lock_is_answered(home):
    sensitive(home)
    ids = crowd(home, configuration=SECRET)
    client = home.client
    shown = [client.command("control.get", id=id) for id in (ids[0], ids[-1])]
    past = client.command("control.history", id=ids[-1])
    listed = client.command("control.list", limit=CROWD)
    _, first, last, history, page = client.batch(locks(client, 1)[0], *shown, past, listed)
    rows = page["controls"]
    assert len(rows) == CROWD and all(row["isRedacted"] and "configuration" not in row for row in rows)
    for row in (first["control"], last["control"], history["events"][0]["control"]):
        assert "configuration" not in row, row
    _, last = client.batch(client.command("device.event", device="phone", event="unlock"), shown[1])
    assert last["control"]["configuration"] == SECRET, "who reads right behind the unlock sees it"


def test_an_action_that_waited_on_a_crowded_device_runs_with_the_unlock(home):
    provider = home.provider(button(authenticationPolicy="requiresAuthentication", privacySensitive=True))
    ids = crowd(home)
    home.client.batch(locks(home.client, 1)[0], home.client.command("control.tap", id=ids[-1]))
    unlock = home.client.command("device.event", device="phone", event="unlock")
    _, read = home.client.batch(unlock, home.client.command("control.get", id=ids[-1]))
    assert read["control"]["state"] == "acting" and read["control"]["isRedacted"] is False
    provider.call("perform", control=ids[-1])


def test_what_becomes_sensitive_is_hidden_on_locked_devices_before_each_control_is_told(home):
    provider = home.provider(button(hasValue=False))
    ids = crowd(home, count=1_100)
    client = home.client
    client.read("device.event", device="phone", event="lock")
    frames = [
        client.command("provider.register", provider=provider.id, kinds=[button(hasValue=False, privacySensitive=True)]),
        client.command("control.get", id=ids[-1]), client.command("control.list", limit=1_000)]
    provider.socket.send_multipart([encode(frame) for frame in frames])
    registered, last, page = (provider.answer_to(frame["req"]) for frame in frames)
    assert registered["ok"] and last["control"]["isRedacted"], (registered, last)
    assert all(row["isRedacted"] for row in page["controls"])


@pytest.mark.parametrize("between", ["an answer", "a failure"])
def test_what_a_provider_says_between_a_lock_and_an_unlock_reaches_who_follows(home, between):
    provider = home.provider(toggle(privacySensitive=True), capacity=CROWD)
    ids = crowd(home, TORCH)
    for _ in ids:
        provider.gives(False)
    last = ids[-1]
    home.client.applied("control.reload", id=last)
    call = provider.call("value")
    said = {"op": "provider.answer", "value": True, "status": "on"}
    if between == "a failure":
        said = {"op": "provider.fail", "message": "no"}
    lock, unlock = locks(home.client, 2)
    said = {**said, "provider": provider.id, "call": call["call"]}
    provider.socket.send_multipart([encode(frame) for frame in (lock, said, unlock)])
    assert provider.answer_to(unlock["req"])["ok"]
    # Whatever is yet to come of the two locks comes before this.
    home.client.applied("control.reload", id=last)
    goal = seq(home.client, last)
    while home.replica.seq < goal:
        home.next()
    shown = home.agrees(last)
    assert shown["isRedacted"] is False and shown.get("status") == ("on" if between == "an answer" else None)


# Reloads


KINDS, PER_REGISTRATION, RELOADS = 60, 15, 64


@pytest.mark.parametrize("family", ["control", "widget"])
def test_reloads_of_an_app_write_down_little_however_large_its_kinds_are(wire, tmp_path, family):
    """64 of them with 60 kinds of 4 kB each were 15 MB, twice."""
    house = Durable(wire, tmp_path / "data").start()
    try:
        client, url = house.client, house.service.commands
        large = [{"name": "p", "type": "string", "isOptional": True, "options": [{"value": "x" * 3_900}]}]
        place = {"op": f"{family}.add"} if family == "control" else {"op": "widget.add", "family": "systemSmall"}
        for first in range(0, KINDS, PER_REGISTRATION):
            names = [f"k{n}" for n in range(first, first + PER_REGISTRATION)]
            if family == "control":
                provider = RawProvider(
                    wire, url, *(button(name, hasValue=True, parameters=large) for name in names), app=house.app)
            else:
                provider = RawProvider(
                    wire, url, app=house.app,
                    widgets=[{"kind": name, "families": ["systemSmall"], "parameters": large} for name in names])
            provider.leave()
            client.batch(*(client.command(**place, kind=name) for name in names))
        # More than is reloaded at once.
        for _ in range(7):
            client.batch(*(client.command(**place, kind="k0") for _ in range(200)))
        before = sum(file.stat().st_size for file in (tmp_path / "data").glob("journal-*"))
        answers = client.batch(*(client.command(f"{family}.reload") for _ in range(RELOADS)))
        assert answers[0]["ok"] and client.read("service.ping")
        after = sum(file.stat().st_size for file in (tmp_path / "data").glob("journal-*"))
        assert after - before < 8 << 20, f"{after - before >> 20} MiB for {RELOADS} small commands"
    finally:
        house.kill()


def kinds_of_a_crowd(wire, service, family, app, count, crowded=0):
    """A client of an app with so many kinds of which each has one placed, and the first many more."""
    client = Commands(wire, service.commands, app)
    place = {"op": f"{family}.add"} if family == "control" else {"op": "widget.add", "family": "systemSmall"}
    names = [f"k{n}" for n in range(count)]
    declared = (
        {"kinds": [button(name, hasValue=True) for name in names]} if family == "control"
        else {"widgets": [{"kind": name, "families": ["systemSmall"]} for name in names]})
    provider = RawProvider(wire, service.commands, app=app, register=False)
    provider.register(**declared)
    provider.leave()
    assert all(answer["ok"] for answer in client.batch(*(client.command(**place, kind=name) for name in names)))
    for _ in range(crowded // 200):
        client.batch(*(client.command(**place, kind="k0") for _ in range(200)))
    return client


OF_APP = 16
"""`reloads` in docs/limits.md, of one app."""


@pytest.mark.parametrize("family", ["control", "widget"])
def test_reloads_of_one_app_leave_room_for_those_of_others(wire, service, family):
    greedy = kinds_of_a_crowd(wire, service, family, "com.example.greedy", RELOADS, crowded=1_400)
    other = kinds_of_a_crowd(wire, service, family, "com.example.modest", 1)
    # The first is of very many, so the others wait behind it.
    reloads = [greedy.command(f"{family}.reload", kind=f"k{n}") for n in range(RELOADS)]
    reloads.append(other.command(f"{family}.reload", kind="k0"))
    *answers, last = greedy.batch(*reloads)
    assert last["ok"] and last["count"] == 1, last
    codes = [answer["error"]["code"] if "error" in answer else "ok" for answer in answers]
    assert codes[:OF_APP] == ["ok"] * OF_APP and set(codes) <= {"ok", "busy"}, codes


def test_siblings_that_reload_take_no_place_of_a_reload_that_is_asked_for(home, wire, service):
    other = kinds_of_a_crowd(wire, service, "control", "com.example.modest", 1, crowded=1_400)
    # Each kind has two controls: one is tapped, and the other one is its sibling.
    names = [f"k{n}" for n in range(RELOADS)]
    provider = home.provider(*(toggle(name, reloadsSiblings=True) for name in names), capacity=4 * RELOADS)
    ids = [home.client.applied("control.add", kind=name)["control"]["id"] for name in names for _ in "12"]
    for _ in ids:
        provider.gives(False)
    home.client.batch(*(home.client.command("control.tap", id=id) for id in ids[::2]))
    performed = [provider.call("perform")["call"] for _ in names]
    reload = other.command("control.reload", kind="k0", app="com.example.modest")
    answers = [{"op": "provider.answer", "provider": provider.id, "call": call} for call in performed]
    provider.socket.send_multipart([encode(frame) for frame in [*answers, reload]])
    answer = provider.answer_to(reload["req"])
    assert answer["ok"], answer


@pytest.mark.parametrize("family", ["control", "widget"])
def test_a_reload_of_an_app_takes_over_those_of_its_kinds_that_wait(wire, service, family):
    client = kinds_of_a_crowd(wire, service, family, "com.example.greedy", OF_APP, crowded=1_400)
    whole = [client.command(f"{family}.reload") for _ in range(2)]
    kinds = [client.command(f"{family}.reload", kind=f"k{n}") for n in range(OF_APP)]
    # The kinds take all places; the app takes theirs, and whatever of them comes behind it is one with it.
    answers = client.batch(*kinds, whole[0], *(client.command(f"{family}.reload", kind=f"k{n}") for n in range(OF_APP)), whole[1])
    assert [answer["ok"] for answer in answers] == [True] * len(answers), answers
    assert answers[OF_APP]["count"] == OF_APP + 1_400


@pytest.mark.parametrize("family", ["control", "widget"])
def test_a_reload_of_few_does_not_wait_for_those_of_many(wire, service, family):
    greedy = kinds_of_a_crowd(wire, service, family, "com.example.greedy", 1, crowded=20_000)
    other = kinds_of_a_crowd(wire, service, family, "com.example.modest", 1)
    place = {} if family == "control" else {"family": "systemSmall"}
    # The walk comes to the one that was placed last when it is through with all of its app.
    last, few = (client.applied(f"{family}.add", kind="k0", **place)[family]["id"] for client in (greedy, other))
    for client, id in ((greedy, last), (other, few)):
        deadline = Deadline()
        while client.read(f"{family}.get", id=id)[family].get("failure") != "noProvider":
            assert not deadline.passed
    events = Events(wire, service.events, f"com.example.greedy/{family}/k0/{last}", f"com.example.modest/{family}/k0/{few}")
    events.join()
    answers = greedy.batch(greedy.command(f"{family}.reload"), other.command(f"{family}.reload"))
    assert [answer["count"] for answer in answers] == [20_002, 2]
    names = []
    while len(names) < 2:
        topic, event, _ = events.raw_next()
        if event["event"] == f"{family}.reloading":
            names.append(topic.split("/")[0])
    assert names == ["com.example.modest", "com.example.greedy"]

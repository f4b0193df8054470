"""Lists by name in pages, and how large answers may be."""

import json
import uuid

import pytest

from support.cli import Islet
from support.commands import encode
from support.durable import Durable
from support.home import Home
from support.provider import APP, RawProvider, button
from support.schemas import strict
from support.widgets import widget

MIB = 1 << 20
LARGE = "x" * 4_000


def declared(home, names, family="control", **members):
    """A provider that has declared kinds of these names, some 60 KB of them in each registration."""
    made = home.provider(register=False)
    made.kinds = []
    share = 14 if members else 256
    for begin in range(0, len(names), share):
        part = names[begin:begin + share]
        if family == "control":
            made.register(kinds=[button(name, hasValue=True, **members) for name in part])
        else:
            made.register(widgets=[widget(name, ("systemSmall",), **members) for name in part])
    return made


def page(client, op, member, **fields):
    """One page: its rows, its cursor, and the size of its frame."""
    command = client.command(op, **fields)
    client.send(command)
    [frame] = client.wire.receive(client.socket)
    answer = json.loads(frame)
    assert answer["ok"] and answer["req"] == command["req"], answer
    if len(frame) < MIB // 16:  # a large one takes seconds
        strict(f"answers/{op}.json").validate(answer)
    return answer[member], answer.get("next"), len(frame)


def pages(client, op, member, **fields):
    """All pages until the last."""
    cursor, found = None, []
    while True:
        rows, cursor, size = page(client, op, member, cursor=cursor, **fields)
        assert size <= MIB
        found.append(rows)
        if cursor is None:
            return found
        assert rows and len(found) < 1_000


@pytest.mark.parametrize("family", ["control", "widget"])
def test_kinds_come_by_name_in_pages(home, family):
    op = f"{family}.kinds"
    assert page(home.client, op, "kinds", limit=1)[:2] == ([], None)
    names = ["b", "a.2", "c", "B", "a.10"]
    declared(home, names, family)
    ordered = sorted(names)
    for limit in (1, 2, 4, 5, 6, None):
        found = [[row["kind"] for row in rows] for rows in pages(home.client, op, "kinds", limit=limit)]
        assert sum(found, []) == ordered
        assert [len(rows) for rows in found[:-1]] == [limit or 5] * (len(found) - 1)
        assert len(found) == -(-5 // (limit or 5))


@pytest.mark.parametrize("family", ["control", "widget"])
def test_a_cursor_of_kinds_holds_over_new_ones_and_a_restart(wire, tmp_path, family):
    op = f"{family}.kinds"
    services = Durable(wire, tmp_path / "data")
    services.start()
    home = Home(wire, services.service, services.app)
    declared(home, ["b", "d", "f"], family)
    rows, cursor, _ = page(home.client, op, "kinds", limit=2)
    assert [row["kind"] for row in rows] == ["b", "d"]
    services.stop()
    services.start()
    home = Home(wire, services.service, services.app)
    declared(home, ["a", "c", "e", "g"], family)
    rows, cursor, _ = page(home.client, op, "kinds", limit=3, cursor=cursor)
    assert [row["kind"] for row in rows] == ["e", "f", "g"] and cursor is None
    assert page(home.client, op, "kinds", limit=1, cursor="zzz")[:2] == ([], None)
    services.kill()


@pytest.mark.parametrize("family, member", [("control", "previewValue"), ("widget", "placeholder")])
def test_kinds_that_one_answer_has_no_room_for_come_in_several(home, service, family, member):
    names = [f"k{number:03}" for number in range(270)]
    declared(home, names, family, **{member: LARGE})
    op = f"{family}.kinds"
    found = pages(home.client, op, "kinds")
    assert len(found) == 2 and [row["kind"] for rows in found for row in rows] == names
    shown = Islet(service, APP)(family, "kinds", "--json").json
    assert [row["kind"] for row in shown] == names


def test_providers_come_by_id_in_pages(home):
    assert page(home.client, "provider.list", "providers", app=None, limit=1)[:2] == ([], None)
    ids = sorted(str(uuid.UUID(int=number << 64 | 7)) for number in (5, 3, 9, 1))
    made = {id: home.provider(id=id) for id in ids[::-1]}
    for limit in (1, 3, 4, 5, None):
        found = [[row["id"] for row in rows] for rows in pages(
            home.client, "provider.list", "providers", app=None, limit=limit)]
        assert sum(found, []) == ids and len(found) == -(-4 // (limit or 4))
    rows, cursor, _ = page(home.client, "provider.list", "providers", app=None, limit=2)
    made[rows[-1]["id"]].leave()
    made[ids[2]].leave()
    answer = home.client.read("provider.list", app=None, limit=2, cursor=cursor)
    assert [row["id"] for row in answer["providers"]] == ids[3:] and answer["total"] == 2 and "next" not in answer


def test_providers_that_one_answer_has_no_room_for_come_in_several(home, service):
    names = [f"{'k' * 61}{number:03}" for number in range(64)]
    first = RawProvider(
        home.wire, service.commands, *({"kind": name, "template": "toggle"} for name in names),
        widgets=[{"kind": name, "families": ["systemSmall"]} for name in names])
    for _ in range(129):
        first.beside().register()
    found = pages(home.client, "provider.list", "providers", app=None)
    ids = [row["id"] for rows in found for row in rows]
    assert len(found) == 2 and len(ids) == 130 and ids == sorted(set(ids))
    assert len(Islet(service, APP)("provider", "list", "--json").json) == 130


def test_the_answers_to_one_message_have_sixteen_mib(home):
    declared(home, [f"k{number:03}" for number in range(250)], previewValue=LARGE)
    declared(home, [f"k{number:03}" for number in range(250)], "widget", placeholder=LARGE)
    commands = [home.client.command(f"{('control', 'widget')[number % 2]}.kinds") for number in range(40)]
    commands.append(home.client.command("service.ping"))
    home.client.send(*commands)
    frames = home.client.wire.receive(home.client.socket)
    assert sum(map(len, frames)) <= 16 * MIB and max(map(len, frames)) <= MIB
    answers = list(map(json.loads, frames))
    assert [answer["req"] for answer in answers] == [command["req"] for command in commands]
    refused = [answer["error"] for answer in answers if not answer["ok"]]
    assert {error["code"] for error in refused} == {"busy"} and 0 < len(refused) < 40
    assert answers[0]["ok"] and answers[-1]["ok"]


def test_subscribers_of_many_apps_fit_into_one_answer(client):
    apps = [f"{'a' * 97}{number:03}" for number in range(545)]
    for begin in range(0, len(apps), 182):
        client.batch(*(client.command("activity.start", app=app, type="T", attributes={}, contentState={})
                       for app in apps[begin:begin + 182]))
    positions = {app: {"seq": 1} for app in apps}
    for number in range(17):
        client.send(encode({"op": "stream.applied", "nonce": f"{number:032x}", "apps": positions}))
    rows, _, size = page(client, "subscriber.list", "subscribers", app=None)
    assert size <= MIB and 10 < len(rows) < 17

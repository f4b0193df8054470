"""`entity.find`: what has a name, in whichever app."""

from support.dates import HOUR, MINUTE, after
from support.provider import APP, LAMP, TORCH, toggle
from support.schemas import strict

TAXI = "com.example.taxi"
NOBODY = "0198c0de-0000-7000-8000-000000000001"


def find(client, name, **fields):
    answer = client.read("entity.find", **{"app": None, "name": name, **fields})
    strict("answers/entity.find.json").validate(answer)
    assert answer["exact"]
    return answer


def ids(client, name, **fields):
    answer = find(client, name, **fields)
    assert answer["total"] == len(answer["found"])
    return [row["id"] for row in answer["found"]]


def test_a_key_is_found_in_all_apps(client):
    one = client.start(key="order-7")
    two = client.start(app=TAXI, key="order-7", device="phone")
    client.start(app=TAXI, key="order-77")
    assert find(client, "order-7")["found"] == [
        {"family": "activity", "app": client.app, "kind": "Delivery", "id": one["id"], "key": "order-7",
         "state": "active"},
        {"family": "activity", "app": TAXI, "kind": "Delivery", "id": two["id"], "key": "order-7", "device": "phone",
         "state": "active"}]
    assert ids(client, "order-7", app=TAXI) == ids(client, "order-7", device="phone") == [two["id"]]
    assert ids(client, "order-7", family="control") == ids(client, "order-7", app="com.example.nobody") == []
    assert ids(client, "order") == ids(client, NOBODY) == []
    answer = find(client, "order-7", limit=1)
    assert len(answer["found"]) == 1 and answer["total"] == 2


def test_an_id_and_its_end_are_names(client):
    id = client.start(key="a")["id"]
    client.start(key="b")
    assert ids(client, id) == ids(client, id.upper()) == ids(client, id[-12:]) == [id]
    assert ids(client, id[-11:]) == [], "too short to name one of many"
    assert ids(client, id, family="widget") == ids(client, id, app=TAXI) == []


def test_a_key_in_the_form_of_an_id_is_found_where_no_id_is_so(client):
    one = client.start(key=NOBODY)
    two = client.start(app=TAXI, key=NOBODY, device="phone")
    assert ids(client, NOBODY) == ids(client, NOBODY, family="activity") == [one["id"], two["id"]]
    assert ids(client, NOBODY, device="phone") == [two["id"]]
    assert ids(client, NOBODY, family="control") == ids(client, NOBODY.upper(), app="com.example.nobody") == []
    three = client.start(key=one["id"])
    assert ids(client, one["id"]) == [one["id"]] and ids(client, three["id"]) == [three["id"]]


def test_what_is_over_comes_behind_what_is_listed(client):
    old = client.start(key="k")
    client.applied("activity.dismiss", id=old["id"])
    assert [(row["id"], row["state"]) for row in find(client, "k")["found"]] == [(old["id"], "dismissed")]
    new = client.start(key="k")
    assert ids(client, "k") == [new["id"], old["id"]]


def test_what_is_placed_has_its_kind_as_its_name(home):
    provider = home.provider(toggle(), toggle(LAMP))
    torch, lamp = home.shown(provider), home.shown(provider, kind=LAMP)
    short = TORCH.rpartition(".")[2]
    for name in (TORCH, short, short.upper(), torch, torch[-12:], f"{short}/{torch[-4:]}", f"{TORCH}/{torch[-12:]}"):
        assert ids(home.client, name) == [torch], name
    assert ids(home.client, f"{short}/{lamp[-12:]}") == ids(home.client, f"{short}/") == []
    [row] = find(home.client, torch)["found"]
    assert row == {"family": "control", "app": APP, "kind": TORCH, "id": torch, "state": "shown"}
    home.client.applied("control.remove", id=torch)
    assert ids(home.client, short) == []


def test_a_crowd_is_looked_through_over_several_turns(client):
    for _ in range(0, 66_000, 100):
        client.batch(*(
            client.command("activity.start", type="T", attributes={}, contentState={}, staleDate=after(MINUTE))
            for _ in range(100)))
    last = client.start(key="last", staleDate=after(HOUR))
    answer = client.read("entity.find", app=None, name="last")
    strict("answers/entity.find.json").validate(answer)
    assert [row["id"] for row in answer["found"]] == [last["id"]]
    assert (answer["total"], answer["exact"]) == (1, False)

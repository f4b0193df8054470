"""Whose app is meant: a change needs one that somebody has named; only the demo has apps of its own."""

import json

import pytest

from support.cli import Islet
from support.demo import Demo
from support.provider import toggle
from support.scripted import ScriptedService

ID = "0b3f0e0a-6f5d-4d6e-9a3b-27e5fe81cfb1"


@pytest.fixture
def islet(service):
    return Islet(service, app="")


CHANGES = [
    ["activity", "start", "k1", "--type", "Ride", "--state", "{}"],
    ["activity", "update", "k1", "--state", "{}"],
    ["activity", "end", "k1"],
    ["activity", "end", "--filter", "state=active", "--yes"],
    ["activity", "dismiss", "k1"],
    ["activity", "dismiss", "--filter", "state=active", "--yes"],
    ["activity", "renew", ID],
    ["activity", "heartbeat", "k1"],
    ["activity", "tap", "k1"],
    ["control", "add", "Torch"],
    ["control", "tap", ID],
    ["control", "tap", "Torch", "--wait"],
    ["control", "configure", ID, "--configuration", "{}"],
    ["control", "remove", ID],
    ["control", "remove", "--filter", "device=phone", "--yes"],
    ["control", "reload"],
    ["widget", "add", "Flight", "--family", "systemSmall"],
    ["widget", "reload", "Flight"],
    ["widget", "visible", ID],
    ["widget", "invalidate-relevance", "Flight"],
    ["group", "create", "group.com.example"],
    ["group", "set", "group.com.example", "key", "1"],
    ["group", "leave", "group.com.example"],
    ["settings", "set", "--activities", "off"],
    ["device", "uninstall", "--device", "phone"],
]


def events(client):
    return client.read("service.stats", app=None)["stats"]["events"]


@pytest.mark.parametrize("words", CHANGES, ids=lambda words: " ".join(words[:3]))
def test_a_change_needs_an_app(islet, client, words):
    """The demo's app is not there: what would be made or changed in it is nobody's."""
    client.start(app="com.example.delivery", key="k1")
    before = events(client)
    done = islet(*words, code=2)
    assert done.out == "" and "name the app: --app" in done.err
    assert "ISLET_APP" in done.err and "islet context" in done.err and "islet apps" in done.err
    assert events(client) == before


@pytest.mark.parametrize("words", [
    ["control", "kinds"], ["group", "list", "group.com.example"], ["settings", "get"],
], ids=" ".join)
def test_nobody_looks_in_the_demos_app_either(islet, client, words):
    client.start(app="com.example.delivery", key="k1")
    done = islet(*words, code=2)
    assert done.out == "" and "name the app: --app" in done.err


TAXI = "com.example.taxi"


@pytest.mark.parametrize("words", [
    ["activity", "get", "k1"], ["activity", "history", "k1"], ["activity", "at", "1", "k1"], ["explain", "k1"],
    ["activity", "explain", "k1"], ["activity", "diff", "k1"], ["wait", "k1", "--for", "active"],
    ["explain", "k1", "--family", "activity"], ["explain", "k1", "--device", "phone"],
], ids=" ".join)
def test_a_look_finds_what_stands_in_any_app(islet, client, words):
    """Which app that was is told; of several each is named as it is typed."""
    client.start(key="other")
    client.start(app=TAXI, key="k1", device="phone")
    done = islet(*words)
    assert done.err == f"({TAXI})\n"
    # How long it was waited for may be told with each, and differs.
    assert islet(*words, "--app", TAXI).out.partition("waited")[0] == done.out.partition("waited")[0]
    assert "k1" in islet(*words, "--app", "com.example.pizza", code=3).err
    client.start(app="com.example.bus", key="k1", device="phone")
    done = islet(*words, code=3)
    assert done.out == "" and done.err == (
        "2 are called 'k1'; name one of them (notFound):\n"
        f"  k1 --app {TAXI} --device phone\n  k1 --app com.example.bus --device phone\n")
    for line in done.err.splitlines()[1:]:
        target, *options = line.split()
        assert islet(*words, *(options[:2] if "--device" in words else options)).code == 0


def test_which_app_it_is_in_is_told_once(islet, client):
    """Also where a filter asks for what stands in the first event alone."""
    client.start(app=TAXI, key="k1", device="phone")
    done = islet("activity", "history", "k1", "--filter", "device=phone")
    assert done.err == f"({TAXI})\n"


def test_what_is_over_is_found_where_nothing_else_has_its_name(islet, client):
    for _ in range(2):
        old = client.start(app=TAXI, key="k1")
        client.applied("activity.dismiss", app=TAXI, id=old["id"])
    done = islet("activity", "get", "k1", "--json")
    assert done.json[0]["state"] == "dismissed" and done.err == f"({TAXI})\n"
    new = client.start(key="k1")
    assert islet("activity", "get", "k1", "--json").json[0]["id"] == new["id"]


@pytest.mark.parametrize("device", [{}, {"device": "phone"}], ids=["none", "device"])
def test_a_key_that_very_many_have_had_is_one_name(islet, client, device):
    """As of what is built again and again: they are more than an answer has, and all are called alike."""
    for _ in range(101):
        old = client.start(app=TAXI, key="build", **device)
        client.applied("activity.dismiss", app=TAXI, id=old["id"], by="system")
    done = islet("activity", "get", "build", "--json")
    assert done.json[0]["id"] == old["id"] and done.err == f"({TAXI})\n"
    assert islet("wait", "build", "--for", "ended").out.startswith("build: dismissed")
    other = client.start(app="com.example.bus", key="build")
    client.applied("activity.dismiss", app="com.example.bus", id=other["id"], by="system")
    assert islet("activity", "get", "build", code=3).err.startswith("102 are called 'build'; name one of them")


def test_what_is_placed_is_found_by_its_kind_in_any_app(islet, home, client):
    provider = home.provider()
    id = home.shown(provider)
    assert islet("explain", "Torch").err == "(com.example.pizza)\n"
    for words in (["control", "get", "torch"], ["control", "history", id[-12:]], ["explain", f"torch/{id[-12:]}"]):
        assert islet(*words).err == "(com.example.pizza)\n", words
    client.start(app=TAXI, key="torch")
    done = islet("explain", "torch", code=3)
    assert done.err == (
        "2 are called 'torch'; name one of them (notFound):\n"
        f"  torch --app {TAXI} --family activity\n  torch/{id[-12:]} --app com.example.pizza --family control\n")
    assert islet("control", "get", "torch").code == 0


def test_a_kind_that_is_written_so_comes_before_one_that_is_like_it_in_any_app(islet, home):
    home.provider(toggle("Torch"), toggle())
    id = home.add("Torch")
    home.add()
    assert islet("control", "get", "Torch", "--json").json[0]["id"] == id
    assert islet("explain", "Torch", code=0).err == "(com.example.pizza)\n"
    assert "2 are called 'torch'" in islet("control", "get", "torch", code=3).err


def test_nothing_in_any_app_is_not_found(islet, client):
    client.start(app=TAXI, key="order-7")
    for words in (["explain", "ordr-7"], ["activity", "get", "ordr-7"], ["wait", "ordr-7", "--for", "ended"]):
        err = islet(*words, code=3).err
        assert "nothing is called 'ordr-7' in any app; did you mean order-7?" in err
    assert "nothing is called 'Torch' in any app (looked for: control)" in islet("control", "get", "Torch", code=3).err


@pytest.mark.parametrize("words", [["activity", "get", "k1"], ["explain", "k1"], ["control", "get", "Torch"]], ids=" ".join)
def test_an_older_service_wants_the_app(tmp_path, words):
    service = ScriptedService(tmp_path, service_info={"info": {}})
    try:
        assert "name the app: --app" in Islet(service, app="")(*words, code=2).err
    finally:
        service.close()


def test_each_way_to_name_it_will_do(islet, client, tmp_path):
    config = {"XDG_CONFIG_HOME": str(tmp_path)}
    words = ["--type", "Ride", "--state", "{}"]
    islet("activity", "start", "a", *words, "--app", "com.example.one")
    islet("activity", "start", "b", *words, ISLET_APP="com.example.two")
    islet("context", "add", "three", "--app", "com.example.three", **config)
    islet("activity", "start", "c", *words, "--context", "three", **config)
    for key, app in ("a", "com.example.one"), ("b", "com.example.two"), ("c", "com.example.three"):
        assert client.get(key=key, app=app)["state"] == "active"


def test_a_list_is_of_all_apps_where_none_is_named(islet, client):
    client.start(key="a")
    client.start(app="com.example.taxi", key="b")
    done = islet("activity", "list", "-o", "name")
    assert done.out == "a --app com.example.pizza\nb --app com.example.taxi\n"
    assert done.err == "showing 2 of 2, in 2 apps\n"
    one = islet("activity", "list", "-o", "name", ISLET_APP="com.example.taxi")
    assert (one.out, one.err) == ("b\n", "showing 1 of 1 in com.example.taxi\n")
    assert islet("control", "list").err == "showing 0 of 0, in 0 apps\n"


def test_a_list_of_all_apps_says_which_it_cannot_ask(islet, client):
    """The apps are those of the stream: where that does not answer, one has to be named."""
    client.start(key="a")
    words = ["activity", "list", "--events", "tcp://127.0.0.1:1", "--timeout", "200ms"]
    assert "name one with --app" in islet(*words, code=5).err
    assert "a" in islet(*words, "--app", "com.example.pizza").out


def test_the_demo_has_apps_of_its_own_and_says_so(tmp_path):
    demo = Demo(tmp_path)
    try:
        info = json.loads(demo.islet("info", "--json").stdout)
        assert info["demo"] == {
            "activity": "com.example.delivery", "control": "com.example.home", "widget": "com.example.travel"}
        # An order of somebody's own: the demo's have small numbers.
        demo.islet("activity", "start", "order-777", "--type", "Delivery", "--state", '{"eta":12}')
        shown = json.loads(demo.islet("activity", "get", "order-777", "--app", "com.example.delivery", "--json").stdout)
        assert shown["key"] == "order-777"
        demo.islet("activity", "explain", "order-777")
        demo.islet("explain", "order-777")
        # Nobody may have thought of these apps.
        err = demo.islet("explain", "nothing-like-it", code=3).stderr
        assert "nothing is called 'nothing-like-it' in any app" in err
        demo.home()
        demo.islet("explain", "Torch")
        demo.islet("control", "kinds")
        demo.islet("group", "create", "group.com.example")
    finally:
        demo.close()


def test_a_service_without_the_demo_has_none(client, tmp_path):
    assert "demo" not in client.read("service.info", app=None)["info"]
    dev = Demo(tmp_path, "--no-demo")
    try:
        assert "demo" not in json.loads(dev.islet("info", "--json").stdout)
        done = dev.islet("activity", "start", "a", "--type", "T", "--state", "{}", code=2)
        assert "name the app" in done.stderr
    finally:
        dev.close()

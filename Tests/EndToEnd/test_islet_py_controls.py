"""Providers of `scripts/islet.py` as the real service sees them, and controls as its replica shows them."""

import subprocess
import sys
import time

import pytest

import islet
from support.followed import as_followed
from support.service import ROOT, environment
from support.wire import DEADLINE

APP, TORCH, DOOR = "com.example.home", "com.example.torch", "com.example.door"


@pytest.fixture
def endpoints(system_service):
    return islet.Endpoints(system_service.commands, system_service.events, system_service.bulk)


@pytest.fixture
def home(endpoints):
    with islet.Client(APP, endpoints=endpoints) as made:
        yield made


@pytest.fixture
def replica(home):
    with home.replica("control/") as made:
        yield made.sync()


class Torch(islet.Toggle):
    def __init__(self):
        self.lit, self.sets, self.fail = {}, [], None

    def current_value(self, control):
        if self.fail:
            raise self.fail
        return self.lit.get(control.id, False)

    def set_value(self, control, value):
        self.sets.append(value)
        if self.fail:
            raise self.fail
        self.lit[control.id] = value
        return "Lit" if value else "Dark"


@pytest.fixture
def torch():
    return Torch()


@pytest.fixture
def provider(home, torch):
    made = home.provider()
    made.toggle(TORCH, display_name="Torch")(torch)
    with made.start():
        made.wait_until_registered()
        yield made


def until(replica, id, **members):
    """Waits until the control shows these members; gives the names of the events up to there."""
    names, deadline = [], time.monotonic() + DEADLINE
    for change in replica.changes(timeout=DEADLINE):
        assert time.monotonic() < deadline
        if change.kind == "event" and change.entity["id"] == id:
            names.append(change.event["event"])
            shown = {name: change.entity.get(name) for name in members}
            if shown == members:
                return names
    raise AssertionError(f"{members} never shown: {names}")


def test_a_torch_is_placed_shown_and_tapped(home, replica, provider, torch):
    id = home.call("control.add", kind=TORCH)["control"]["id"]
    assert until(replica, id, state="shown", value=False, valueSource="provider") == ["control.added", "control.shown"]
    home.call("control.tap", id=id)
    names = until(replica, id, state="shown", value=True, valueSource="provider")
    assert names == ["control.acting", "control.performed", "control.shown"]
    assert torch.sets == [True]
    home.call("control.set", id=id, value=False)
    until(replica, id, state="shown", value=False, valueSource="provider")
    assert torch.sets == [True, False]
    [entity] = replica.entities.values()
    whole = home.call("control.get", id=id)["control"]
    assert entity == {name: value for name, value in as_followed(whole).items() if value is not None}
    home.call("control.remove", id=id)
    until(replica, id, state="removed")
    assert dict(replica.entities) == {}


def test_a_value_that_changed_by_itself_is_told_by_a_reload(home, replica, provider, torch):
    id = home.call("control.add", kind=TORCH)["control"]["id"]
    until(replica, id, state="shown", value=False)
    torch.lit[id] = True
    provider.reload(TORCH)
    until(replica, id, state="shown", value=True)
    torch.lit[id] = False
    provider.reload(id=id)
    until(replica, id, state="shown", value=False)


def test_a_failed_action_shows_the_previous_value_and_why(home, replica, provider, torch):
    id = home.call("control.add", kind=TORCH)["control"]["id"]
    until(replica, id, state="shown", value=False, valueSource="provider")
    torch.fail = islet.Fail("no battery")
    home.call("control.tap", id=id)
    until(replica, id, value=False, failure="threw")
    torch.fail = None
    until(replica, id, state="shown", value=False, valueSource="provider", failure=None)
    assert torch.sets == [True], "an action is never repeated"


def test_options_are_asked_of_the_provider(home):
    provider = home.provider()

    @provider.toggle(TORCH, parameters=[islet.parameter("lamp", is_optional=True, dynamic_options=True)])
    class Lamp(Torch):
        def options(self, control, parameter):
            return [(f"{parameter}-1", "First"), "second"]

    with provider.start():
        provider.wait_until_registered()
        options = home.call("control.options", kind=TORCH, parameter="lamp")["options"]
        assert options == [{"value": "lamp-1", "title": "First"}, {"value": "second"}]


def test_a_button_that_is_a_function(home, replica):
    provider, rung = home.provider(), []

    @provider.button(DOOR, display_name="Door")
    def ring(control):
        rung.append(control.id)

    with provider.start():
        provider.wait_until_registered()
        id = home.call("control.add", kind=DOOR)["control"]["id"]
        until(replica, id, state="shown")
        home.call("control.tap", id=id)
        until(replica, id, state="shown")
        assert rung == [id]


def test_a_kind_that_another_declares_differently_is_refused_with_the_difference(home, provider):
    other = home.provider()
    other.toggle(TORCH, display_name="Lamp")(Torch)
    other.CONFLICT_LIMIT = 0
    with pytest.raises(islet.IsletError) as raised:
        other.run()
    assert raised.value.code == "conflict"
    assert (raised.value.detail["kind"], raised.value.detail["member"]) == (TORCH, "displayName")


def test_one_that_comes_back_with_another_declaration_registers_once_its_predecessor_has_gone(home, provider, caplog):
    other = home.provider()
    other.toggle(TORCH, display_name="Lamp")(Torch)
    with other.start():
        deadline = time.monotonic() + DEADLINE
        while "tried again: conflict" not in caplog.text:
            assert time.monotonic() < deadline, caplog.text
            time.sleep(0.01)
        provider.stop()
        other.wait_until_registered(DEADLINE)


def test_a_goodbye_is_heard(home, provider):
    [listed] = home.call("provider.list")["providers"]
    assert (listed["id"], listed["app"], listed["capacity"]) == (provider.id, APP, 16)
    provider.stop()
    assert home.call("provider.list")["providers"] == []


PROCESS = f"""
import islet, sys, time
provider = islet.Provider("{APP}")
@provider.toggle("{TORCH}")
class Torch(islet.Toggle):
    def current_value(self, control):
        return True
    def set_value(self, control, value):
        print("acting", flush=True)
        time.sleep(600)
provider.run()
"""


def test_a_provider_that_is_killed_in_an_action_leaves_no_control_hanging(home, replica, endpoints):
    env = environment(PYTHONPATH=str(ROOT / "scripts"), ISLET_COMMANDS=endpoints.commands)
    process = subprocess.Popen([sys.executable, "-c", PROCESS], env=env, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + DEADLINE
        while not home.call("provider.list")["providers"]:
            assert time.monotonic() < deadline
        id = home.call("control.add", kind=TORCH)["control"]["id"]
        until(replica, id, state="shown", value=True, valueSource="provider")
        home.call("control.tap", id=id)
        assert process.stdout.readline() == "acting\n"
    finally:
        process.kill()
        process.communicate()
    successor = home.provider()
    torch = Torch()
    successor.toggle(TORCH)(torch)
    with successor.start():
        until(replica, id, state="shown", value=False, valueSource="provider", failure=None)
    assert torch.sets == [], "nobody repeats the action"


def test_a_restart_of_the_service_finds_the_provider_again(serve, tmp_path):
    urls = {name: f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    flags = {**{f"--{name}": url for name, url in urls.items()}, "--store": "sqlite", "--data": tmp_path / "data"}
    env = environment(ISLET_JOURNAL_ALLOW_VOLATILE="true")
    service = serve(flags, env=env)
    torch = Torch()
    with islet.Client(APP, endpoints=islet.Endpoints(**urls)) as home, home.replica() as replica:
        replica.sync()
        provider = home.provider()
        provider.toggle(TORCH)(torch)
        with provider.start():
            provider.wait_until_registered()
            id = home.call("control.add", kind=TORCH)["control"]["id"]
            until(replica, id, state="shown", value=False, valueSource="provider")
            for wanted in (True, False):
                service.stop()
                service = serve(flags, env=env)
                # From before its registration a tap is refused, and changes nothing.
                deadline = time.monotonic() + DEADLINE
                while time.monotonic() < deadline:
                    try:
                        home.call("control.set", id=id, value=wanted)
                        break
                    except islet.IsletError as error:
                        assert (error.code, error.detail["reason"]) == ("unavailable", "noProvider")
                        time.sleep(0.05)
                until(replica, id, state="shown", value=wanted, valueSource="provider")
            assert torch.sets == [True, False]

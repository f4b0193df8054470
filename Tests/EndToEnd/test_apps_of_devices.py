"""What is known of single apps on a device: of so many of them, and each is written for itself."""

import json

import pytest

from support.durable import Durable

LIMIT = 256
"""`appsOfDevice` in docs/limits.md."""
DEVICE = "phone"


@pytest.fixture
def house(wire, tmp_path):
    house = Durable(wire, str(tmp_path / "data"), options={"--sync": "full"}).start()
    yield house
    house.service.kill()


def name(number):
    return f"com.example.app{number}"


def setting(client, number, **fields):
    return client.command("settings.set", app=name(number), device=DEVICE, **(fields or {"activitiesEnabled": False}))


def background(client, number):
    return client.command("device.event", device=DEVICE, event="appBackground", app=name(number))


def fill(client, make=setting):
    assert all(answer["ok"] for answer in client.batch(*[make(client, number) for number in range(LIMIT)]))


def is_on(client, number, device=DEVICE):
    return client.read("settings.get", app=name(number), device=device)["settings"]["activitiesEnabled"]


def one(client, command):
    [answer] = client.batch(command)
    return answer


def written(tmp_path):
    """The bytes of all files of the service."""
    return sum(file.stat().st_size for file in (tmp_path / "data").iterdir())


def is_full(client, command):
    error = one(client, command)["error"]
    assert (error["code"], error["retry"], error["detail"]) == ("quotaExceeded", "later", {"limit": LIMIT}), error
    assert str(LIMIT) in error["message"] and "set one back" in error["message"], error
    return True


@pytest.mark.parametrize("make", [setting, background])
def test_a_device_has_so_many_apps_and_no_more_and_after_a_kill_the_same(house, make):
    client = house.client
    fill(client, make)
    for other in (setting, background):
        assert is_full(client, other(client, LIMIT))
    # What is known of may change.
    assert one(client, setting(client, 0))["ok"] and one(client, background(client, 1))["ok"]
    client = house.restart().client
    for other in (setting, background):
        assert is_full(client, other(client, LIMIT))
    assert [is_on(client, number) for number in (0, 2, LIMIT)] == [False, make is background, True]
    assert is_on(client, 0, device="tablet")


@pytest.mark.parametrize("make, back", [
    (setting, lambda client, number: setting(client, number, activitiesEnabled=True)),
    (setting, lambda client, number: client.command(
        "device.event", device=DEVICE, event="uninstall", app=name(number))),
    (setting, lambda client, number: client.command("settings.set", app=name(number), activitiesEnabled=True)),
    (setting, lambda client, number: client.command("settings.set", app=name(number), activitiesEnabled=False)),
    (background, lambda client, number: client.command(
        "device.event", device=DEVICE, event="appForeground", app=name(number))),
], ids=["as on all devices", "uninstalled", "set for all", "all set to the same", "foreground"])
def test_an_app_of_which_nothing_of_its_own_is_known_any_more_gives_its_place_to_another(house, make, back):
    fill(house.client, make)
    assert one(house.client, back(house.client, 7))["ok"]
    client = house.restart().client
    assert one(client, make(client, LIMIT))["ok"]
    assert is_full(client, make(client, LIMIT + 1))


def test_an_app_in_the_foreground_may_go_to_the_background_though_all_places_are_taken(house):
    """Else its reloads would stay exempt for good."""
    client = house.client
    fill(client, background)
    late = [condition(client, "appForeground", LIMIT), condition(client, "appForeground", LIMIT + 1),
            background(client, LIMIT)]
    assert [answer.get("error") for answer in client.batch(*late)] == [None] * 3
    client = house.restart().client
    error = one(client, client.command(
        "activity.start", app=name(LIMIT), key="k", device=DEVICE, type="Order", attributes={},
        contentState={}))["error"]
    assert error["code"] == "visibility", "it is known to be in the background"
    # There are not ever more of them: a further one has no place for when it goes to the background.
    for further in (condition(client, "appForeground", LIMIT + 2), background(client, LIMIT + 3)):
        assert is_full(client, further)
    for again in (condition(client, "appForeground", LIMIT + 1), background(client, LIMIT + 1)):
        assert one(client, again)["ok"]
    back = [condition(client, "appForeground", number) for number in (LIMIT, LIMIT + 1, LIMIT + 2)]
    assert [answer.get("error") for answer in client.batch(*back)] == [None] * 3


def test_settings_that_are_as_on_all_devices_take_no_place(house):
    client = house.client
    same = [setting(client, number, activitiesEnabled=True) for number in range(LIMIT)]
    assert all(answer["ok"] for answer in client.batch(*same))
    assert client.read("service.stats")["stats"]["devices"] == 0
    for number in range(LIMIT):
        client.send(setting(client, LIMIT + number))
        assert client.receive()[0]["ok"]
    assert is_full(client, setting(client, 0)) and is_full(client, background(client, 1))


def test_a_command_about_one_app_writes_nothing_of_the_others(house, tmp_path):
    client = house.client
    fill(client)

    before = written(tmp_path)
    for number in range(2_000):
        enabled = bool(number % 2)
        client.send(json.dumps({
            "op": "settings.set", "app": name(7), "device": DEVICE, "activitiesEnabled": enabled}).encode())
    answers = [client.receive() for _ in range(2_000)]
    assert all(answer["ok"] for [answer] in answers)
    # All of them in one were 8 kB each time.
    assert written(tmp_path) - before < 2_000 * 2_048


# What decides whether reloads are charged: apps in the foreground, and with sessions.


def condition(client, event, number=None):
    return client.command("device.event", device=DEVICE, event=event, app=None if number is None else name(number))


@pytest.mark.parametrize("begin, end", [("appForeground", "appBackground"), ("sessionStart", "sessionEnd")])
def test_a_device_with_as_many_apps_at_once_as_may_be_refuses_only_further_ones(house, begin, end):
    client = house.client
    fill(client, lambda client, number: condition(client, begin, number))
    for restart in (False, True):
        client = house.restart().client if restart else client
        error = one(client, condition(client, begin, LIMIT))["error"]
        assert (error["code"], error["detail"]) == ("quotaExceeded", {"limit": LIMIT}), error
        known = [condition(client, begin, 7), condition(client, "standByStart"), condition(client, "developerModeOn"),
                 condition(client, "standByEnd"), condition(client, "developerModeOff")]
        assert [answer["ok"] for answer in client.batch(*known)] == [True] * len(known)
    # One that has ended gives its place to another.
    assert [answer["ok"] for answer in client.batch(condition(client, end, 7), condition(client, begin, LIMIT))] == [True] * 2


def test_what_a_device_reports_writes_nothing_of_the_other_apps_and_is_known_after_a_kill(house, tmp_path):
    client = house.client
    fill(client, lambda client, number: condition(client, "appForeground", number))
    before = written(tmp_path)
    for number in range(2_000):
        client.send(condition(client, ("standByStart", "standByEnd")[number % 2]))
    answers = [client.receive() for _ in range(2_000)]
    assert all(answer["ok"] for [answer] in answers)
    # All of them in one were 6 kB each time, and 51 kB where their names are long and as many had sessions.
    assert written(tmp_path) - before < 2_000 * 2_048
    assert one(client, condition(client, "appBackground", 7))["ok"]
    client = house.restart().client
    assert one(client, condition(client, "appForeground", LIMIT))["ok"]
    assert not one(client, condition(client, "appForeground", LIMIT + 1))["ok"]
    assert one(client, condition(client, "reboot"))["ok"]
    fill(house.restart().client, lambda client, number: condition(client, "appForeground", number + LIMIT))

"""What things are called on the command line: no other one is taken for it, and no word that says more is passed over."""

import uuid

import pytest

from support.cli import Islet
from support.scripted import ScriptedService

ID = "0b3f0e0a-6f5d-4d6e-9a3b-27e5fe81cfb1"


@pytest.fixture
def islet(service):
    return Islet(service)


class ManyPlaced(ScriptedService):
    """Lists of one row, many lamps, and another row, page by page."""

    def __init__(self, folder, family, ends, lamps):
        super().__init__(folder)
        self.lines, self.taken = [{"kind": ends[0]}, *[{"kind": "com.a.Lamp"}] * lamps, {"kind": ends[1]}], []
        for number, line in enumerate(self.lines):
            self.lines[number] = {**line, "id": str(uuid.UUID(int=number)), "state": "shown", "revision": 2}
        self.family, self.plural = family, family + "s"

    def _answer(self, command):
        if command["op"] != f"{self.family}.list":
            self.taken.append(command)
            return {"req": command["req"], "ok": True, "outcome": "applied", self.family: self.lines[-1]}
        begin = int(command.get("cursor", 0))
        end = begin + command["limit"]
        page = {self.plural: self.lines[begin:end], "total": len(self.lines), "exact": True}
        if end < len(self.lines):
            page["next"] = str(end)
        return {"req": command["req"], "ok": True, **page}


@pytest.fixture
def many(tmp_path):
    made = []

    def make(family, *ends, lamps=10_500):
        made.append(ManyPlaced(tmp_path, family, ends, lamps))
        return made[-1], Islet(made[-1])

    yield make
    made[-1].close()


@pytest.mark.parametrize("family", ["control", "widget"])
def test_a_name_that_two_have_is_of_neither_however_far_apart_they_are(many, family):
    service, islet = many(family, "com.a.Torch", "com.a.Torch")
    done = islet(family, "remove", "Torch", code=2)
    assert f"2 {family}s are called 'Torch'; name one of them" in done.err
    assert service.taken == [] and done.err.count("Torch/") == 2


@pytest.mark.parametrize("family", ["control", "widget"])
@pytest.mark.parametrize("kinds", [("Torch", "com.a.torch"), ("com.a.torch", "Torch")])
def test_a_kind_that_is_written_so_comes_before_one_that_is_like_it(many, family, kinds):
    service, islet = many(family, *kinds, lamps=3)
    islet(family, "remove", "Torch")
    assert [command["id"] for command in service.taken] == [line["id"] for line in service.lines if line["kind"] == "Torch"]
    assert f"2 {family}s are called 'torch'" in islet(family, "remove", "torch", code=2).err


def test_a_name_is_found_behind_many_others(many):
    service, islet = many("control", "com.a.Door", "com.a.Torch")
    islet("control", "remove", "Torch")
    assert [command["id"] for command in service.taken] == [service.lines[-1]["id"]]
    assert "did you mean Torch?" in islet("control", "remove", "Torhc", code=3).err
    assert "10500 controls are called 'lamp'" in islet("control", "remove", "lamp", code=2).err


class ManyDismissed(ScriptedService):
    """A key that was used very often, of which nothing is listed any more."""

    def _answer(self, command):
        if "id" in command:
            return {"req": command["req"], "ok": True, "activity": self.row(int(command["id"], 16))}
        if command["op"] == "activity.get":
            error = {"code": "notFound", "message": "there is no such activity", "retry": "never"}
            return {"req": command["req"], "ok": False, "error": error}
        rows = [self.row(number) for number in range(1_500)] if command.get("state") == "dismissed" else []
        begin, end = int(command.get("cursor", 0)), int(command.get("cursor", 0)) + command["limit"]
        page = {"activities": rows[begin:end], "total": len(rows), **({"next": str(end)} if end < len(rows) else {})}
        return {"req": command["req"], "ok": True, **page}

    def row(self, number):
        return {"id": f"{number:x}", "key": "daily", "device": "phone", "state": "dismissed", "revision": 2,
                "startedAt": 1_767_225_600_000 + number}


def test_of_many_with_the_same_key_the_newest_is_read(tmp_path):
    service = ManyDismissed(tmp_path)
    try:
        assert Islet(service)("activity", "get", "daily", "--json").json[0]["id"] == f"{1_499:x}"
    finally:
        service.close()


def test_who_holds_a_slot_is_found_among_many_who_do_not(islet, client):
    for number in range(60):
        client.start(key=f"k{number}", device="phone")
        client.applied("activity.end", key=f"k{number}", device="phone")
    client.start(key="last", device="phone")
    assert "last" in islet("slots", "--device", "phone").out


# A device beside an id

VERBS = {
    "activity": ["update --state {}", "end", "dismiss", "renew", "tap", "get", "history", "explain", "at 1", "diff"],
    "control": ["configure --configuration {}", "tap", "set", "get", "remove", "reload"],
    "widget": ["tap", "visible", "timeline", "budget", "remove", "reload"],
    None: ["explain", "wait --for active"],
}


@pytest.mark.parametrize("family", VERBS)
def test_an_id_takes_no_device_that_it_may_not_be_on(islet, client, family):
    """An activity's key may have its form, and is looked for on the device."""
    client.start(id=ID, device="phone-1")
    for verb in VERBS[family]:
        words = [*([family] if family else []), *verb.split(), ID, *(["on"] if verb == "set" else [])]
        done = islet(*words, "--device", "phone-2", code=2 if family in ("control", "widget") else 3)
        assert "an id says which one it is: it takes no --device" in done.err, words
    assert client.get(id=ID)["revision"] == 1


# A key in the form of an id

READS = ["activity get", "activity history", "activity explain", "activity at 1", "activity diff", "explain",
         "wait --for active"]
CHANGES = ["update --state {}", "tap", "renew", "end", "dismiss"]


@pytest.mark.parametrize("device", [None, "phone-1"])
def test_a_key_that_has_the_form_of_an_id_names_its_activity(islet, client, device):
    id = client.start(key=ID, device=device)["id"]
    for words in READS:
        for place in [[], ["--device", device]] if device else [[]]:
            assert islet(*words.split(), ID, *place).out != "", words
            if words == "activity get":
                assert islet(*words.split(), ID, *place, "--json").json[0]["id"] == id
    for verb in CHANGES:
        if verb == "end":
            id = client.get(key=ID, device=device)["id"]
        assert ID in islet("activity", *verb.split(), ID, *(["--device", device] if device else [])).out, verb
    assert client.get(id=id)["state"] == "dismissed"


def test_such_a_key_is_found_where_no_app_is_named(service, client):
    client.start(key=ID, app="com.example.taxi", device="phone-1")
    nobodys = Islet(service, app="")
    for words in READS:
        for place in ([], ["--device", "phone-1"]):
            assert nobodys(*words.split(), ID, *place).err == "(com.example.taxi)\n", words


def test_an_id_comes_before_a_key_in_its_form(islet, client):
    client.start(id=ID, key="order-1")
    client.start(key=ID)
    assert "order-1" in islet("activity", "get", ID).out
    assert islet("explain", ID, "--json").json[0]["activity"]["key"] == "order-1"
    islet("activity", "end", ID)
    assert client.get(id=ID)["state"] == "ended" and client.get(key=ID)["state"] == "active"


def test_a_name_is_not_said_to_mean_itself(islet, client):
    client.start(key=ID, device="phone-1")
    for words in (["activity", "end", ID], ["activity", "end", ID, "--device", "phone-2"]):
        done = islet(*words, code=3)
        assert "phone-1" in done.err and client.get(key=ID, device="phone-1")["state"] == "active"
    assert f"did you mean {ID} on phone-1?" in done.err
    islet("activity", "end", ID, "--device", "phone-1")


@pytest.mark.parametrize("words", [["explain"], ["wait", "--for", "shown"]], ids=" ".join)
def test_what_is_placed_is_found_in_its_app_as_lists_show_it(service, home, words):
    provider = home.provider()
    id = home.shown(provider, False, device="phone")
    home.shown(provider, False, device="watch")
    islet = Islet(service)
    for target in (f"torch/{id[-12:]}", f"Torch/{id[-4:]}", f"com.example.torch/{id[-12:]}"):
        assert islet(*words, target).out != ""
    done = islet(*words, "torch/000000000000", code=3)
    assert "nothing is called 'torch/000000000000'" in done.err


def test_the_end_of_an_id_is_looked_for_on_the_device(islet, home):
    id = home.shown(home.provider(), False, device="phone")
    assert islet("control", "get", id[-12:], "--device", "phone", "--json").json[0]["id"] == id
    islet("control", "get", id[-12:], "--device", "watch", code=3)


# Words that say the same, or nothing

STATE = ["--state", "{}"]


@pytest.mark.parametrize("words, complaint", [
    (["activity", "start", "k", "--type", "T", *STATE, "--stale-in", "1m", "--stale-at", "2026-02-01"], "--stale-at, not both"),
    (["activity", "update", "k", *STATE, "--stale-in", "1m", "--stale-at", "2026-02-01"], "--stale-at, not both"),
    (["activity", "renew", "k", "--stale-in", "1m", "--stale-at", "2026-02-01"], "--stale-at, not both"),
    (["activity", "start", "k", "--type", "T", *STATE, "--start-in", "1m", "--start-at", "2026-02-01", "--alert-title", "T"],
     "--start-at, not both"),
    *((["device", event, "--device", "phone", "--app", "com.a"], f"{event} is about the whole device: it takes no --app")
      for event in ("lock", "unlock", "reboot", "localeChange")),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_of_two_words_none_is_passed_over(islet, client, words, complaint):
    client.start(key="k")
    assert complaint in islet(*words, code=2).err
    assert client.get(key="k")["revision"] == 1


def test_an_app_from_elsewhere_is_no_word_of_the_person(islet):
    islet("device", "lock", "--device", "phone", ISLET_APP="com.a")
    islet("device", "uninstall", "--device", "phone", "--app", "com.a")


# Lists that a restart cuts


class Restarted(ManyPlaced):
    """Refuses the first `restarts` cursors, as a real service does with those of before its start."""

    def __init__(self, folder, refusal, restarts):
        super().__init__(folder, "control", ["com.a.Torch", "com.a.Door"], 2_500)
        self.refusal, self.restarts, self.answered = refusal, restarts, 0

    def _answer(self, command):
        if "cursor" in command and self.restarts and self.answered % 2:
            self.restarts, self.answered = self.restarts - 1, 0
            return {"req": command["req"], "ok": False, "error": self.refusal}
        self.answered += 1
        return super()._answer(command)


@pytest.mark.parametrize("words", [
    ["list", "--limit", "2000"], ["list", "--limit", "2000", "--filter", "kind~*"], ["get", "Door"]], ids=" ".join)
def test_a_list_that_a_restart_cuts_is_read_from_its_beginning(tmp_path, client, words):
    refusal = client.refused("control.list", cursor="of-before")
    assert (refusal["code"], refusal["detail"]) == ("badField", {"field": "cursor"})
    service = Restarted(tmp_path, refusal, 2)
    try:
        done = Islet(service)("control", *words, "--json")
        assert service.restarts == 0
        if words[0] == "get":
            assert [row["id"] for row in done.json] == [service.lines[-1]["id"]]
        else:
            assert [row["id"] for row in done.json] == [line["id"] for line in service.lines[:2_000]]
        service.restarts = 100
        assert "begin with the first page" in Islet(service)("control", *words, code=2).err
    finally:
        service.close()

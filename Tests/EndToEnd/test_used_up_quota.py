"""A quota that is used up is a full disk: commands are refused, nothing ends, and everything goes on after."""

import json

import pytest

from support.durable import Durable
from support.preload import needs_compiler, preloaded
from support.small_disk import until
from support.wire import Silence

pytestmark = needs_compiler


class Quota:
    """Of the files whose path begins so; the free bytes of the disk tell nothing of it."""

    def __init__(self, library, start, signs):
        self.signs = {"bytes": signs / "bytes", "files": signs / "files"}
        self.env = {
            "LD_PRELOAD": str(library), "QUOTA_OF": str(start), "ISLET_JOURNAL_MINIMUM_FREE": "0",
            "ISLET_JOURNAL_SEGMENT_BYTES": "262144",
            "QUOTA_BYTES": str(self.signs["bytes"]), "QUOTA_FILES": str(self.signs["files"])}

    def use_up(self, *kinds):
        for kind in kinds:
            self.signs[kind].touch()

    def give_back(self):
        for sign in self.signs.values():
            sign.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return preloaded(tmp_path_factory.mktemp("quota"), "used_up_quota")


@pytest.fixture
def service(wire, tmp_path, library):
    """A service and its quota; of one file only where it is named."""
    services = []

    def make(file="data"):
        quota = Quota(library, tmp_path / file, tmp_path)
        services.append(Durable(wire, tmp_path / "data", env=quota.env))
        return services[-1], quota

    yield make
    for each in services:
        if each.service:
            each.kill()


def update(durable, id, number):
    """Sends an update; whether it was taken."""
    command = durable.client.command("activity.update", id=id, contentState={"n": number, "text": "x" * 3000})
    durable.client.send(command)
    try:
        [answer] = durable.client.answer_to(command["req"], seconds=1)
    except Silence:
        assert durable.service.alive, durable.service.log
        return False
    assert answer["ok"] or answer["error"]["detail"] == {"reason": "diskFull"}, answer
    return answer["ok"]


def test_commands_are_refused_while_a_quota_is_used_up_and_taken_again_after(service):
    durable, quota = service()
    client = durable.start().client
    id, number, taken = client.start()["id"], 0, []
    for _ in range(2):
        quota.use_up("bytes", "files")
        while update(durable, id, number):
            taken.append(number)
            number += 1
        number += 1
        until(client.journal_is_full)
        durable.service.line("the journal cannot be written yet, and is tried again: .*Disk quota exceeded")
        error = client.refused("activity.update", id=id, contentState={"n": -1})
        assert (error["code"], error["detail"], error["retry"]) == ("unavailable", {"reason": "diskFull"}, "later")
        quota.give_back()
        until(lambda: client.ask("activity.get", id=id)["ok"])
        until(lambda: update(durable, id, number))
        taken.append(number)
        number += 1
    state = client.get(id)
    durable.restart()
    assert durable.client.get(id) == state
    events = [json.loads(body) for _, body in durable.replay(after=0).rows]
    shown = [event["activity"].get("contentState", {}).get("n") for event in events]
    assert [n for n in taken if n not in shown] == []
    durable.stop()


@pytest.mark.parametrize("kind", ["bytes", "files"])
def test_a_segment_for_which_a_quota_leaves_nothing_is_made_later(service, kind):
    durable, quota = service("data/journal-000003")
    client = durable.start().client
    id = client.start()["id"]
    until(lambda: (durable.data / "journal-000002.db").exists())
    quota.use_up(kind)
    for number in range(120):
        client.applied("activity.update", id=id, contentState={"n": number, "text": "x" * 3000})
    durable.service.line("segment 3 cannot be made yet, and the one before it grows: .*Disk quota exceeded")
    quota.give_back()
    durable.service.line("segment 3 could be made now")
    client.applied("activity.update", id=id, contentState={"n": -1})
    state = client.get(id)
    durable.restart()
    assert durable.client.get(id) == state
    durable.stop()


@pytest.mark.parametrize("kind", ["bytes", "files"])
@pytest.mark.parametrize("file", ["data", "data/state.db", "data/journal-000001", "data/mark", "data/lock"])
def test_a_start_says_what_a_quota_lacks_and_succeeds_when_it_is_there(service, file, kind):
    durable, quota = service(file)
    durable.data.mkdir()
    quota.use_up(kind)
    assert "Disk quota exceeded" in durable.refused()
    quota.give_back()
    durable.start().stop()


@pytest.mark.parametrize("kind", ["bytes", "files"])
def test_a_backup_that_a_quota_leaves_no_room_for_is_refused(service, tmp_path, kind):
    durable, quota = service("copy.db")
    client, path = durable.start().client, str(tmp_path / "copy.db")
    client.start()
    quota.use_up(kind)
    error = client.refused("service.backup", path=path)
    assert "Disk quota exceeded" in json.dumps(error), error
    quota.give_back()
    assert client.read("service.backup", path=path)["bytes"]
    durable.stop()

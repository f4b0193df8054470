"""A full disk: commands are refused, nothing acknowledged is lost, and the service goes on when there is room."""

import json

import pytest

from support.commands import START
from support.durable import Durable
from support.small_disk import SmallDisk, may_mount, until

pytestmark = pytest.mark.skipif(not may_mount(), reason="a small disk cannot be mounted here")


@pytest.fixture
def disk(tmp_path):
    made = SmallDisk(tmp_path / "disk", "24m")
    yield made
    made.close()


@pytest.mark.parametrize("floor", [1 << 20, 0])
def test_commands_are_refused_while_there_is_no_room_and_taken_again_when_there_is(wire, disk, floor):
    durable = Durable(
        wire, disk.folder / "data", prefix=disk.inside,
        env={"ISLET_JOURNAL_MINIMUM_FREE": str(floor), "ISLET_JOURNAL_SEGMENT_BYTES": "1048576"}).start()
    try:
        client = durable.client
        id = client.start()["id"]
        disk.fill(leave=floor // 2)
        acknowledged, refusal, number = [], None, 0

        def refused():
            nonlocal refusal, number
            number += 1
            command = client.command("activity.update", id=id, contentState={"n": number, "text": "x" * 3000})
            client.send(command)
            try:
                [answer] = client.answer_to(command["req"], seconds=1)
            except Exception:
                return True
            if answer["ok"]:
                acknowledged.append(number)
            else:
                refusal = answer["error"]
            return not answer["ok"]

        until(refused)
        until(lambda: client.journal_is_full())
        error = client.refused("activity.update", id=id, contentState={"n": 0})
        assert (error["code"], error["detail"], error["retry"]) == ("unavailable", {"reason": "diskFull"}, "later")
        assert client.refused("activity.start", **START)["code"] == "unavailable"
        assert client.read("service.ping")["now"]

        disk.clear()
        until(lambda: client.ask("activity.get", id=id)["ok"])
        assert client.applied("activity.update", id=id, contentState={"n": -1})
        state = client.get(id)
        durable.restart()
        assert durable.client.get(id) == state
        events = [json.loads(body) for _, body in durable.replay(after=0).rows]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        shown = [event["activity"].get("contentState", {}).get("n") for event in events]
        assert [n for n in acknowledged if n not in shown] == []
        durable.stop()
    finally:
        durable.kill()

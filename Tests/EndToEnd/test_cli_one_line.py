"""JSON Lines: a line is a whole JSON document, whatever white space users have in their content."""

import json
import subprocess

import pytest

from support.cli import Islet, replay
from support.commands import Commands
from support.running import Running
from support.service import run
from support.wire import DEADLINE

LINES = b'{\r\n  "eta": 12,\n\t"text": "a\\nb\\r"\r}'
CONTENT = {"eta": 12, "text": "a\nb\r"}


@pytest.fixture
def service(serve, tmp_path):
    """One whose files can be dumped."""
    return serve({"--clock": "manual", "--store": None, "--data": str(tmp_path / "data")})


@pytest.fixture
def islet(service):
    return Islet(service)


def begin(client):
    """Starts an activity whose content and attributes stand in several lines."""
    [answer] = client.raw(
        b'{"op":"activity.start","app":"com.example.pizza","type":"T","key":"k","req":"r","attributes":%b,"contentState":%b}'
        % (LINES, LINES))
    assert answer["outcome"] == "applied"


def contents(lines):
    """The content of each line, which is JSON by itself; a dump has a line without any."""
    whole = [json.loads(line) for line in lines]
    whole = [row["event"] if isinstance(row.get("event"), dict) else row for row in whole if "facts" not in row]
    return [row.get("activity", row)["contentState"] for row in whole]


def test_what_stands_in_several_lines_is_told_in_one(islet, client, tmp_path):
    begin(client)
    for words in (["list"], ["get", "k"], ["history", "k"], ["at", "1", "k"]):
        assert contents(islet("activity", *words, "--json").out.split("\n")[:-1]) == [CONTENT], words
    dump = run("journal", "dump", "--data", tmp_path / "data")
    assert contents(dump.stdout.split("\n")[:-1]) == [CONTENT]
    seen = islet.on_a_terminal("activity", "get", "k", "--json")
    assert contents(seen.split("\r\n")[:-1]) == [CONTENT] and "\r" not in seen.replace("\r\n", "")


def test_a_recording_of_it_can_be_replayed(islet, client, serve, wire, tmp_path):
    tail = Running("tail", "--json", "--topics", "--limit", "1", env=islet.env)
    tail.message("following")
    begin(client)
    assert tail.wait() == 0
    assert contents(tail.data) == [CONTENT]
    (tmp_path / "recording.jsonl").write_text("\n".join(tail.data) + "\n")
    other = serve({"--clock": "manual"})
    replay(other, tmp_path / "recording.jsonl")
    [row] = Commands(wire, other.commands).list()
    assert row["contentState"] == CONTENT


def test_the_value_of_a_key_stays_as_it_was_set(islet):
    islet("group", "create", "group.x")
    islet("group", "set", "group.x", "k", LINES.decode())
    words = [islet.program, "group", "get", "group.x", "k"]
    assert subprocess.run(words, env=islet.env, capture_output=True, timeout=DEADLINE).stdout == LINES + b"\n"
    assert json.loads(islet("group", "list", "group.x", "--json").out.split("\n")[0])["value"] == CONTENT

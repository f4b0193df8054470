"""What users wrote never commands the terminal of an operator: neither in lists, nor in lines, nor in details."""

import re

import pytest

from support.cli import Islet
from support.dates import MINUTE, after
from support.scripted import ScriptedService

ESCAPES = "\x1b[2J\x1b]0;mine\x07"
HOSTILE = f"k{ESCAPES}\n\u202e\x9b31m\x7f"
SHOWN = "k␛[2J␛]0;mine␇␊\ufffd\ufffd31m␡"
COLOURS = re.compile(r"\x1b\[(?:0|1|2|7|3[12356]|90)(?:;\d+)?m")
"""The codes of the command's own colours."""


@pytest.fixture
def islet(tmp_path):
    """A service whose every text is hostile: more than the contract allows to users."""
    entity = {
        "id": "0198c0de-2c00-7a3e-9f21-3b5c8d7e0a11", "app": "a.b", "type": "T", "kind": HOSTILE, "key": HOSTILE,
        "device": HOSTILE, "state": "active", "revision": 2, "attributes": {}, "contentState": {HOSTILE: HOSTILE},
        "value": HOSTILE, "status": HOSTILE, "failure": HOSTILE, "configuration": {"x": HOSTILE}, "cause": HOSTILE,
        "entry": {"date": after(0), "content": {"text": HOSTILE}}, "staleDate": after(MINUTE),
        "next": {"at": after(MINUTE), "cause": HOSTILE}, "held": {"until": after(0), "reason": HOSTILE},
    }
    event = {"epoch": "e", "seq": 1, "at": after(0), "event": HOSTILE, "from": HOSTILE, "to": "active",
             "cause": HOSTILE}
    events = [{**event, "activity": {**entity, "revision": 1}}, {**event, "activity": entity}]
    decision = {"at": after(0), "rule": HOSTILE, "text": HOSTILE, "outcome": "applied", "revision": 1, "to": HOSTILE,
                "cause": HOSTILE, "by": {"req": HOSTILE, "client": HOSTILE}}
    timer = {"at": after(0), "cause": HOSTILE, "family": "activity", "app": "a.b", "key": HOSTILE, "id": "i",
             "state": "active"}
    provider = {"id": HOSTILE, "app": HOSTILE, "state": HOSTILE, "kinds": [HOSTILE]}
    service = ScriptedService(
        tmp_path,
        activity_list={"activities": [entity], "total": 1}, activity_get={"activity": entity},
        activity_history={"activity": entity, "events": events, "complete": True},
        activity_explain={"activity": entity, "decisions": [decision]},
        control_list={"controls": [entity], "total": 1}, control_get={"control": entity},
        widget_list={"widgets": [entity], "total": 1}, widget_get={"widget": entity},
        control_kinds={"kinds": [{"kind": HOSTILE, "declaration": {"displayName": HOSTILE}, "providers": 1}]},
        control_options={"options": [{"value": HOSTILE, "title": HOSTILE}]},
        group_get={"group": {"key": HOSTILE, "value": {"raw": "\u202e"}}},
        group_list={"items": [{"key": HOSTILE, "value": HOSTILE, "by": HOSTILE}], "total": 1},
        widget_recommendations={"recommendations": [{"description": HOSTILE, "configuration": {}}]},
        settings_get={"settings": {HOSTILE: True}}, service_info={"info": {HOSTILE: HOSTILE, "endpoints": {}}},
        service_stats={"stats": {"now": after(0), "version": HOSTILE}},
        timer_list={"timers": [timer], "total": 1}, provider_list={"providers": [provider]},
        slot_list={"devices": [{"device": HOSTILE, "held": 1, "apps": [{"app": HOSTILE, "held": 1}]}], "total": 1},
        subscriber_list={"subscribers": [{"nonce": HOSTILE, "apps": {HOSTILE: {"seq": 1, "lag": 1}}}], "total": 1})
    yield Islet(service, "a.b")
    service.close()


COMMANDS = [
    "activity list", "activity list -o wide", "activity list -o name", "activity get k", "activity history k",
    "activity explain k", "explain k", "activity diff k", "activity at 2 k", "control list -o wide",
    "control get 0198c0de-2c00-7a3e-9f21-3b5c8d7e0a11", "widget list -o wide",
    "widget get 0198c0de-2c00-7a3e-9f21-3b5c8d7e0a11", "control kinds", "control options K p", "group get g k",
    "group list g", "widget recommendations K", "settings get", "info", "stats", "timers", "timers -o wide",
    "timers -o name", "providers", "slots", "slots -o name", "subscribers", "subscribers -o wide", "top --once",
]


@pytest.mark.parametrize("words", COMMANDS)
def test_nothing_of_it_reaches_a_terminal_or_a_pipe(islet, words):
    on_terminal = islet.on_a_terminal(*words.split())
    piped = islet(*words.split())
    data = "" if words.startswith("group get") else piped.out  # bytes for programs, as its help says
    for text in (COLOURS.sub("", on_terminal).replace("\r\n", "\n"), data, piped.err):
        bad = [c for c in text if c != "\n" and (c < " " or "\x7f" <= c <= "\x9f" or c in "\u202e\u2028")]
        assert not bad, (words, bad, text)
        assert all("mine" not in line or "␛]0;mine␇" in line or "\\u001b]0;mine\\u0007" in line
                   for line in text.splitlines()), text
    # A line's end of a user begins no line.
    assert not re.search(r"^(\ufffd|\u202e)", data, re.M)


def test_what_programs_read_is_exact(islet):
    assert islet("activity", "get", "k", "--json").json[0]["key"] == HOSTILE
    assert islet("group", "get", "g", "k").json == [{"raw": "\u202e"}], "bytes for a pipe, as its help says"
    assert islet("activity", "list", "--json").json[0]["device"] == HOSTILE


def test_it_can_be_seen_what_it_is(islet):
    assert f"value           {SHOWN}" in islet("control", "get", "0198c0de-2c00-7a3e-9f21-3b5c8d7e0a11").out
    assert islet("timers", "-o", "name").out == SHOWN + "\n"

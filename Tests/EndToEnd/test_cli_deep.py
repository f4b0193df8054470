"""Payloads as deep as the service takes them reach whoever reads with the Swift library: the command is one of these."""

import json

import pytest

from support.cli import Islet

DEPTH = 64


@pytest.fixture
def islet(service):
    return Islet(service)


def nested(depth):
    value = {}
    for _ in range(depth - 1):
        value = {"d": value}
    return value


def test_a_deep_payload_is_shown_by_everything_that_reads_activities(islet, client):
    client.start(key="order-7", attributes=nested(DEPTH), contentState={})
    client.applied("activity.update", key="order-7", contentState=nested(DEPTH))
    assert [line["key"] for line in islet("activity", "list", "--json").json] == ["order-7"]
    assert islet("activity", "get", "order-7", "--json").json[0]["contentState"] == nested(DEPTH)
    islet("activity", "history", "order-7")
    islet("activity", "explain", "order-7")
    islet("wait", "order-7", "--for", "active")
    client.advance(by=1_000)
    seen = islet("tail", "--since", "1h", "--limit", "2", "--json").json
    assert [event["event"] for event in seen] == ["activity.started", "activity.updated"]


def test_a_deep_value_of_a_group_is_shown(islet, client):
    client.read("group.create", group="g")
    client.read("group.set", group="g", key="k", value=nested(DEPTH))
    assert json.loads(islet("group", "get", "g", "k").out) == nested(DEPTH)


def test_what_is_deeper_is_refused_at_once(islet, client):
    client.start(key="order-7")
    refused = islet("activity", "update", "order-7", "--state", json.dumps(nested(DEPTH + 1)), code=None)
    assert refused.code != 0 and "64" in refused.err, refused.err

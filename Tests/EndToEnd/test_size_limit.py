"""Attributes and content together may have 4 096 bytes: the exact bytes, as they were sent."""

import json

import pytest

LIMIT = 4096


def text_of(size):
    """A JSON object of exactly so many bytes."""
    return {"x": "y" * (size - len('{"x":""}'))}


def test_exactly_the_limit_is_taken_and_one_byte_more_is_not(client):
    attributes = text_of(1000)
    id = client.start(attributes=attributes, contentState=text_of(LIMIT - 1000))["id"]
    error = client.refused("activity.start", type="T", attributes=attributes, contentState=text_of(LIMIT - 999))
    assert error["code"] == "attributesTooLarge"
    assert error["retry"] == "never"
    assert error["detail"] == {"bytes": LIMIT + 1, "limit": LIMIT}
    assert client.get(id)["contentState"] == text_of(LIMIT - 1000)


@pytest.mark.parametrize("op", ["activity.update", "activity.end", "activity.renew"])
def test_later_content_counts_with_the_attributes_of_the_start(client, op):
    id = client.start(attributes=text_of(1000))["id"]
    error = client.refused(op, id=id, contentState=text_of(LIMIT - 999))
    assert (error["code"], error["detail"]["bytes"]) == ("attributesTooLarge", LIMIT + 1)
    assert client.get(id)["revision"] == 1
    client.applied(op, id=id, contentState=text_of(LIMIT - 1000))


def test_spaces_and_escapes_count_as_they_were_sent_and_come_back_untouched(client, events):
    padding = " " * 2000
    content = '{"b" : 1.50, "a":"\\u00e9", "a":2,' + padding + '"z":[ ]}'
    frame = '{"op":"activity.start","req":"x","app":"%s","type":"T","attributes":{"k":%s1},"contentState":%s}'
    answer = client.raw((frame % (client.app, " " * 200, content)).encode())[0]
    assert answer["ok"], answer
    _, _, event = events.raw_next()
    assert content.encode() in event
    assert b'{"k":' + b" " * 200 + b"1}" in event
    client.send({"op": "activity.get", "req": "g", "app": client.app, "id": answer["activity"]["id"]})
    assert content.encode() in client.wire.receive(client.socket)[0]
    too_long = frame % (client.app, " " * 200, '{"b":' + " " * LIMIT + "1}")
    error = client.raw(too_long.encode())[0]["error"]
    assert error["code"] == "attributesTooLarge"
    assert error["detail"]["bytes"] > LIMIT


def test_bytes_are_counted_and_not_characters(client):
    euros = {"x": "€" * 1362}
    size = len(json.dumps(euros, ensure_ascii=False, separators=(",", ":")).encode())
    assert size + 2 == LIMIT
    client.start(attributes={}, contentState=euros)
    assert client.refused("activity.start", type="T", attributes={"a": 1}, contentState=euros)["code"] == \
        "attributesTooLarge"

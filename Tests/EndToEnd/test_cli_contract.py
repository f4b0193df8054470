"""The `islet` command as a client of the contract: what arrives, what is ignored, and every error there is."""

import json
import threading

import pytest

from support.cli import Islet
from support.commands import encode
from support.dates import HOUR, MINUTE, SECOND, after
from support.service import ROOT, environment, run

START = ("activity", "start", "order-7", "--type", "Delivery", "--state", '{"eta":12}')
ERRORS = json.loads((ROOT / "proto-json" / "errors.json").read_text())["errors"]


@pytest.fixture
def islet(service):
    return Islet(service)


def test_every_option_of_a_start_arrives(islet, client):
    islet(
        *START, "--device", "phone", "--relevance", "12.5", "--style", "transient", "--push-type", "channel:abc",
        "--id", "0198AAAA-0000-7000-8000-00000000000A")
    activity = client.get(key="order-7", device="phone")
    assert activity["id"] == "0198aaaa-0000-7000-8000-00000000000a"
    assert activity["relevanceScore"] == 12.5 and activity["style"] == "transient"
    assert activity["pushType"] == {"channel": "abc"}
    islet("activity", "start", "order-7", "--type", "Delivery", "--state", '{"eta":3}', "--device", "phone",
          "--or-update")
    assert client.get(key="order-7", device="phone")["contentState"] == {"eta": 3}


def test_payloads_go_through_byte_for_byte(islet, tmp_path, client, events):
    odd = '{ "b" : 1.0e0 ,"a":"\\u00e9é" }'
    (tmp_path / "state.json").write_text(odd + "\n")
    islet("activity", "start", "k", "--type", "D", "--state", f"@{tmp_path}/state.json")
    assert odd.encode() in events.raw_next()[2]


def test_spans_are_in_the_time_of_the_service(islet, client):
    client.advance(by=3 * HOUR)
    islet(*START, "--stale-in", "90s")
    assert client.get(key="order-7")["staleDate"] == after(3 * HOUR + 90 * SECOND)


def test_ignored_changes_name_their_reason(islet):
    islet(*START)
    update = ("activity", "update", "order-7", "--state", '{"eta":1}')
    assert "ignored: olderTimestamp" in islet(*update, "--timestamp", "-1h", code=4).err
    assert "ignored: futureTimestamp" in islet(*update, "--timestamp", "9h", "--push", code=4).err
    assert islet("activity", "end", "order-7").out.startswith("ended order-7: ended, revision 2, removed in 4 h")
    assert "ignored: ended" in islet(*update, code=4).err
    islet("activity", "dismiss", "order-7")
    assert "ignored: dismissed" in islet(*update, code=4).err
    assert islet(*update, "--json", code=4).json[0]["outcome"] == "ignored"


@pytest.mark.parametrize("policy, state, span", [
    ("immediate", "dismissed", None), ("15m", "ended", 15 * MINUTE), ("2026-01-01T02:00Z", "ended", 2 * HOUR),
    ("default", "ended", 4 * HOUR),
])
def test_an_end_takes_each_dismissal_policy(islet, client, policy, state, span):
    islet(*START)
    islet("activity", "end", "order-7", "--dismissal", policy, "--state", '{"eta":0}')
    activity = client.get(key="order-7")
    assert activity["state"] == state
    assert span is None or activity["dismissAt"] == after(span)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error["code"])
def test_every_error_has_the_exit_code_of_the_contract(wire, error):
    router = wire.context.socket(wire.zmq.ROUTER)
    router.bind("tcp://127.0.0.1:*")
    wire.sockets.append(router)
    answers = threading.Thread(target=answer_once, args=(router, error), daemon=True)
    answers.start()
    url = router.getsockopt(wire.zmq.LAST_ENDPOINT).decode().rstrip("\0")
    done = run("activity", "get", "k", "--app", "com.example.shop", "--commands", url, "--timeout", "5s", env=environment())
    answers.join()
    assert done.returncode == error["exit"], done.stderr
    # What is not there is told by its name, which the service does not say.
    words = "com.example.shop has no activity 'k'" if error["code"] == "notFound" else "refused: Words for people."
    assert done.stderr.startswith(words) and error["code"] in done.stderr
    assert done.stdout == ""


def answer_once(router, error):
    peer, frame = router.recv_multipart()
    body = {"code": error["code"], "message": "Words for people.", "retry": error["retry"], "retryAfter": 60_000}
    router.send_multipart([peer, encode({"req": json.loads(frame)["req"], "ok": False, "error": body})])

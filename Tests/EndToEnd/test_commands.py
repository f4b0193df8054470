"""Messages and answers: envelopes, batches, `req`, `ack`, `ttl`, and the short form."""

import json

import pytest

from support.commands import Commands, encode
from support.dates import EPOCH, HOUR, after


def start(client, **fields):
    return client.command("activity.start", **{"type": "T", "attributes": {}, "contentState": {}, **fields})


def test_an_answer_to_a_change_carries_the_short_form(client):
    answer = client.applied("activity.start", type="T", attributes={"long": "x" * 500}, contentState={})
    assert list(answer) == ["req", "ok", "outcome", "seq", "activity"]
    assert set(answer["activity"]) == {"id", "revision", "state", "next"}


def test_an_answer_to_a_refusal_says_what_to_do_next(client):
    answer = client.ask("activity.update", id="0198c0de-0000-7000-8000-000000000001", contentState={})
    assert list(answer) == ["req", "ok", "error"]
    assert answer["error"]["code"] == "notFound"
    assert answer["error"]["message"]
    assert answer["error"]["retry"] in ("never", "later", "refresh")


def test_an_ignored_command_answers_with_the_reason_and_the_state(client):
    id = client.start()["id"]
    client.applied("activity.end", id=id)
    answer = client.ask("activity.update", id=id, contentState={})
    assert (answer["ok"], answer["outcome"], answer["reason"]) == (True, "ignored", "ended")
    assert answer["activity"]["state"] == "ended" and answer["activity"]["revision"] == 2


def test_the_req_is_echoed_as_it_was_sent(client):
    for req in ("a", "x" * 64, "~!@#$%^&*()_+ []{}<>?,./'`|:;", "0"):
        assert client.ask("service.ping", req=req)["req"] == req


def test_a_command_without_a_req_is_answered_without_one(client):
    [answer] = client.raw({"op": "service.ping"})
    assert answer["ok"] is True
    assert answer.get("req") is None


def test_a_batch_is_answered_in_order_and_is_no_transaction(client, events):
    commands = [start(client, key=f"k{number}") for number in range(5)]
    commands[2]["staleDate"] = 1_767_225_600
    commands.insert(3, client.command("service.ping"))
    answers = client.batch(*commands)
    assert [answer["req"] for answer in answers] == [command["req"] for command in commands]
    assert [answer["ok"] for answer in answers] == [True, True, False, True, True, True]
    assert [answer.get("seq") for answer in answers] == [1, 2, None, None, 3, 4]
    assert events.names(4) == ["started"] * 4


def test_commands_of_a_batch_see_what_those_before_them_did(client):
    begun = start(client, key="k")
    update = client.command("activity.update", key="k", contentState={"eta": 1})
    read = client.command("activity.get", key="k")
    end = client.command("activity.end", key="k", dismissalPolicy="immediate")
    late = client.command("activity.update", key="k", contentState={"eta": 2})
    answers = client.batch(begun, update, read, end, late)
    assert [answer.get("outcome") for answer in answers] == ["applied", "applied", None, "applied", "ignored"]
    assert answers[2]["activity"]["contentState"] == {"eta": 1}


def test_256_commands_are_a_batch_and_257_are_one_bad_message(client):
    answers = client.batch(*[start(client) for _ in range(256)])
    assert all(answer["ok"] for answer in answers)
    answers = client.raw(*[start(client) for _ in range(257)])
    assert len(answers) == 1
    assert answers[0]["error"]["code"] == "badMessage"
    assert client.read("activity.list")["total"] == 256


def test_answers_to_many_messages_in_flight_come_in_order(client):
    commands = [start(client) for _ in range(500)]
    for command in commands:
        client.send(command)
    answers = [client.receive()[0] for _ in commands]
    assert [answer["req"] for answer in answers] == [command["req"] for command in commands]
    assert [answer["seq"] for answer in answers] == list(range(1, 501))


def test_ack_none_does_the_work_in_silence(client, events):
    client.send(start(client, ack="none"))
    assert events.next("started")["seq"] == 1
    client.silent()


def test_a_batch_with_some_ack_none_answers_the_others(client):
    silent, loud = start(client, ack="none"), start(client)
    client.send(silent, loud, {**silent, "req": "z"})
    answers = client.receive()
    assert [answer["req"] for answer in answers] == [loud["req"]]
    assert client.read("activity.list")["total"] == 3


def test_a_req_socket_is_served(wire, service):
    socket = wire.socket("REQ", service.commands)
    for number in range(3):
        socket.send(encode({"op": "service.ping", "req": str(number)}))
        [frame] = wire.receive(socket)
        assert json.loads(frame)["req"] == str(number)


def test_a_req_socket_may_send_a_batch(wire, service):
    socket = wire.socket("REQ", service.commands)
    socket.send_multipart([encode({"op": "service.ping", "req": req}) for req in "abc"])
    assert [json.loads(frame)["req"] for frame in wire.receive(socket)] == ["a", "b", "c"]


def test_a_req_socket_that_correlates_gets_its_request_back(wire, service):
    socket = wire.socket("REQ", service.commands, req_correlate=1, req_relaxed=1)
    for number in range(3):
        socket.send(encode({"op": "service.ping", "req": str(number)}))
        [frame] = wire.receive(socket)
        assert json.loads(frame)["req"] == str(number)


@pytest.mark.parametrize("envelope", [[b""], [b"\x00\x01\x02\x03", b""]], ids=["empty", "correlated"])
def test_an_envelope_is_echoed_before_the_answer(wire, service, envelope):
    dealer = wire.socket("DEALER", service.commands)
    dealer.send_multipart([*envelope, encode({"op": "service.ping", "req": "x"})])
    answer = wire.receive(dealer)
    assert answer[:-1] == envelope
    assert json.loads(answer[-1])["req"] == "x"


@pytest.mark.parametrize("envelope", [[b""], [b"\x00\x01\x02\x03", b""]], ids=["empty", "correlated"])
def test_an_envelope_with_nothing_after_it_is_passed_over(client, envelope):
    client.send(*envelope)
    client.silent()
    assert client.read("service.ping")


def test_connections_are_answered_each_on_its_own(wire, service):
    clients = [Commands(wire, service.commands, f"com.example.app{number}") for number in range(10)]
    commands = [start(client, req=client.app) for client in clients]
    for client, command in zip(clients, commands):
        client.send(command)
    for client in clients:
        answer = client.answer_to(client.app)[0]
        assert answer["ok"] and answer["seq"] == 1, "each app is a stream of its own"


def test_a_ttl_that_has_not_passed_changes_nothing(client):
    assert client.applied("activity.start", type="T", attributes={}, contentState={}, ttl=60_000)


def test_a_command_that_waits_longer_than_its_ttl_is_expired_and_not_executed(client):
    """A step of the manual clock over many deadlines is long work, and the commands behind it wait."""
    for _ in range(40):
        client.batch(*[start(client, staleDate=after(HOUR)) for _ in range(250)])
    step, late, read = client.command("clock.advance", by=13 * HOUR), start(client, key="late", ttl=1), start(client)
    answers = client.batch(step, late, read)
    assert answers[0]["ok"] and answers[2]["ok"]
    assert answers[1]["error"]["code"] == "expired"
    assert client.refused("activity.get", key="late")["code"] == "notFound"


def test_service_info_names_the_guarantee_the_rules_and_the_endpoints(client, service):
    info = client.read("service.info")["info"]
    assert info["protocol"] == 1
    assert info["version"]
    assert "memory" in json.dumps(info["guarantee"]) or info["guarantee"] == "none", info["guarantee"]
    assert info["ruleSet"]["name"] and info["ruleSet"]["date"]
    assert info["ruleSet"]["contentLimit"] == 4096
    assert info["endpoints"]["commands"] == service.commands
    assert info["endpoints"]["events"] == service.events


def test_a_heartbeat_is_taken_or_says_that_its_rule_is_off(client):
    id = client.start()["id"]
    answer = client.ask("activity.heartbeat", id=id)
    assert answer["ok"] or answer["error"]["code"] == "unavailable", answer
    assert client.get(id)["revision"] == 1


def test_an_unknown_op_is_named(client):
    error = client.refused("activity.explode", id="x")
    assert error["code"] == "unknownOp"
    assert "activity.explode" in error["message"] or error["detail"].get("op") == "activity.explode"


def test_reserved_families_are_not_known_yet(client):
    for op in ("token.set", "channel.create", "push.send", "budget.get", "device.report"):
        assert client.refused(op)["code"] == "unknownOp", op


def test_stream_applied_gets_no_answer(client):
    client.send({"op": "stream.applied", "nonce": "00" * 16, "apps": {client.app: {"epoch": "x", "seq": 1}}})
    client.silent()


def test_bulk_operations_belong_on_the_bulk_endpoint(client):
    for op, fields in {"bulk.snapshot": {"credit": 1}, "bulk.replay": {"from": 0, "credit": 1}}.items():
        answer = client.ask(op, **fields)
        assert answer["ok"] is False and answer["error"]["code"] in ("unavailable", "unknownOp"), answer


def test_times_are_those_of_the_manual_clock(client, events):
    client.start()
    client.advance(by=HOUR)
    client.start()
    assert [events.next()["at"] for _ in range(2)] == [EPOCH, after(HOUR)]


def test_answers_that_nobody_wants_take_no_room_from_those_that_somebody_does(client):
    """Each is written before it is left out; the service takes no commands while too many bytes wait to leave."""
    silent = client.command("service.info", ack="none")
    refused = {"op": "activity.explode", "ack": "none"}
    for _ in range(40):
        client.send(*[silent] * 250)
        client.send(*[refused] * 250)
    assert client.read("service.ping")["now"]

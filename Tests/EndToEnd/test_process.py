"""`islet serve` as a process: flags, file, environment, exit codes, and a stop in good order."""

import json
import signal
import socket

import pytest

from support.bulk import Bulk
from support.commands import Commands
from support.dates import HOUR, after
from support.events import Events
from support.service import FREE_PORTS, arguments, environment, run
from support.wire import Silence


# Starting


def test_it_takes_more_connections_than_the_shell_allows_it_at_first(wire, serve, tmp_path):
    """`ulimit -n` is 1024 where nobody sets it, as many as connections alone may be."""
    service = serve({"--store": "sqlite", "--data": tmp_path}, prefix=["sh", "-c", 'ulimit -Sn 64 && exec "$0" "$@"'])
    clients = [Commands(wire, service.commands) for _ in range(100)]
    for client in clients:
        client.start()


# Stopping


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_with_0_when_asked(serve, number):
    service = serve()
    service.signal(number)
    assert service.wait() == 0


def test_a_stop_says_goodbye_on_the_stream(wire, service):
    client, events = Commands(wire, service.commands), Events(wire, service.events, "com.example.")
    events.join()
    client.start()
    client.start(app="com.example.taxi")
    service.stop()
    apps = set()
    while apps < {client.app, "com.example.taxi"}:
        events._pump_until(lambda: events._watermarks)
        topic, mark = events._watermarks.pop(0)
        if mark.get("closing"):
            assert mark["seq"] == 1 and mark["entities"] == 1
            apps.add(topic.removesuffix("/~"))


def test_a_stop_answers_every_command_that_it_executed(wire, service):
    """Commands run while SIGTERM comes: whatever made an event was answered, and in order."""
    client, events = Commands(wire, service.commands), Events(wire, service.events, "com.example.pizza/")
    events.join()
    id = client.start()["id"]
    for number in range(3000):
        client.send(client.command("activity.update", id=id, contentState={"n": number}))
        if number == 1500:
            service.signal(signal.SIGTERM)
    published, answered = [], []
    while True:
        try:
            published.append(events.next(seconds=2)["seq"])
        except Silence:
            break
    while True:
        try:
            [answer] = client.receive(seconds=0.5)
        except Silence:
            break
        if answer["ok"]:
            answered.append(answer["seq"])
        else:
            assert answer["error"]["code"] == "unavailable", answer
    assert service.wait() == 0
    assert published == list(range(1, len(published) + 1))
    assert answered == published[1:], "the first answer was taken by the start"


def test_it_stops_while_a_subscriber_and_a_pull_do_not_read(wire, service, client):
    for _ in range(4):
        client.batch(*[
            client.command("activity.start", type="T", attributes={"a": "x" * 1000}, contentState={})
            for _ in range(250)])
    Events(wire, service.events, "").ask_to_join()
    Bulk(wire, service.bulk).send("snapshot", app=client.app, credit=16)
    service.stop()


def test_what_it_says_at_the_start_names_the_memory_store(serve):
    service = serve({"--store": "memory"})
    assert "memory" in service.log or "outlive" in service.log, service.log


# Flags


def test_an_address_that_is_neither_loopback_nor_ipc_is_refused_with_2():
    for flag in ("--commands", "--events", "--bulk", "--ingest"):
        for url in ("tcp://0.0.0.0:7999", "tcp://*:7999", "tcp://192.0.2.1:7999", "tcp://example.com:7999"):
            done = run("serve", *arguments({**FREE_PORTS, flag: url}))
            assert done.returncode == 2, (flag, url, done.stderr)
            assert url in done.stderr or flag.strip("-") in done.stderr


@pytest.mark.parametrize("flags", [
    {"--commands": "nonsense"}, {"--clock": "sundial"}, {"--clock": "manual=1767225600"}, {"--speed": "0"},
    {"--speed": "fast"}, {"--store": "paper"}, {"--sync": "sometimes"}, {"--unknown": "x"},
])
def test_a_flag_that_makes_no_sense_is_refused_with_a_message(flags):
    done = run("serve", *arguments({**FREE_PORTS, **flags}))
    assert done.returncode in (2, 64), done.stderr
    assert done.stderr.strip()


def test_a_port_that_is_taken_is_a_failure_with_a_message():
    with socket.create_server(("127.0.0.1", 0)) as holder:
        url = f"tcp://127.0.0.1:{holder.getsockname()[1]}"
        done = run("serve", *arguments({**FREE_PORTS, "--commands": url}))
    assert done.returncode not in (0, None) and done.returncode > 0
    assert url in done.stderr


def test_it_serves_over_ipc(wire, serve, tmp_path):
    urls = {name: f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    service = serve({f"--{name}": url for name, url in urls.items()})
    assert {name: service.endpoints[name] for name in urls} == urls
    client = Commands(wire, service.commands)
    events = Events(wire, service.events, client.app + "/")
    events.join()
    client.start()
    events.next("started")


# Configuration


def yaml(tmp_path, text):
    path = tmp_path / "islet.yaml"
    path.write_text(text)
    return path


def test_a_file_configures_and_flags_and_environment_stand_over_it(wire, serve, tmp_path):
    path = yaml(tmp_path, f"""
clock: manual={after(HOUR)}
commands: ipc://{tmp_path}/from-file
ruleSet:
  name: strict-test
  date: "2026-02-03"
  contentLimit: 100
  maximumPerApp: 2
""")
    service = serve({"--commands": None, "--clock": None, "--config": path})
    assert service.commands == f"ipc://{tmp_path}/from-file"
    client = Commands(wire, service.commands)
    assert client.advance(by=0) == after(HOUR)
    rules = client.read("service.info")["info"]["ruleSet"]
    assert (rules["name"], rules["date"], rules["contentLimit"]) == ("strict-test", "2026-02-03", 100)
    assert client.refused("activity.start", type="T", attributes={"a": "x" * 100}, contentState={})["detail"][
        "limit"] == 100
    for _ in range(2):
        client.start(device="phone")
    assert client.refused(
        "activity.start", type="T", attributes={}, contentState={}, device="phone")["detail"]["limit"] == 2

    over = serve(
        {"--commands": f"ipc://{tmp_path}/from-flag", "--clock": None, "--config": path},
        env=environment(ISLET_CLOCK=f"manual={after(2 * HOUR)}"))
    assert over.commands == f"ipc://{tmp_path}/from-flag"
    assert Commands(wire, over.commands).advance(by=0) == after(2 * HOUR)


def test_check_config_says_that_a_good_file_is_good(tmp_path):
    path = yaml(tmp_path, "store: memory\nclock: manual\nruleSet:\n  maximumPerApp: 3\n")
    done = run("serve", "--config", path, "--check-config")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text, named", [
    ("ruleSet:\n  maximumPerApp: many\n", "maximumPerApp"),
    ("ruleSet:\n  maximumPerAp: 3\n", "maximumPerAp"),
    ("comands: tcp://127.0.0.1:7411\n", "comands"),
    ("commands: tcp://0.0.0.0:7411\n", "0.0.0.0"),
    ("clock: sundial\n", "clock"),
    ("store: [a, b\n", ""),
    ("data: ~\n", "islet.yaml:1: data: \"~\" is no directory"),
    ("data: null\n", "islet.yaml:1: data: \"null\" is no directory"),
    ("journal.segmentBytes: 65536\njournal:\n  segmentBytes: 131072\n",
     "islet.yaml:3: journal.segmentBytes stands twice, here and in line 1"),
    ("events: tcp://127.0.0.1:7411\n", "islet.yaml:1: events: \"tcp://127.0.0.1:7411\" is the address of events and of commands"),
    ("bulk: tcp://127.0.0.1:7412\n", "is the address of bulk and of events"),
    ("commands: ipc:///run/x\nevents: ipc:///run/x\n", "is the address of events and of commands"),
    ("commands: ipc:///run/./x\nevents: ipc:///run//x\n", "is the address of events and of commands"),
    ("events: tcp://127.0.0.1:07411\n", "is the address of events and of commands"),
    ("commands: tcp://[::1]:7411\n", "is IPv6, which is not supported"),
    ("data: \"/run/nul\\0b\"\n", "is no directory"),
    ("ruleSet: {retention: 200000000000d}\n", "is too long: ten years at most"),
    ("ruleSet: {retention: 3650d1ms}\n", "is too long: ten years at most"),
])
def test_check_config_names_what_is_wrong(tmp_path, text, named):
    done = run("serve", "--config", yaml(tmp_path, text), "--check-config")
    assert done.returncode in (1, 2), (done.returncode, done.stderr)
    assert named in done.stderr, done.stderr


ENDS = pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])


@ENDS
@pytest.mark.parametrize(("lines", "named"), [
    (["store: memory", "foo: 1", ""], 'islet.yaml:2: there is no setting "foo"'),
    (["store: memory", "clock: bad", ""], 'islet.yaml:2: clock: "bad" is no clock'),
    # What has no end ends with the file, and not behind it.
    (["store: memory", 'data: "/x', ""], "islet.yaml:2: is no YAML: found unexpected end of stream"),
    (["store: memory", 'data: "/x'], "islet.yaml:2: is no YAML: found unexpected end of stream"),
    (["store: [a, b", ""], "islet.yaml:1: is no YAML: did not find expected ',' or ']'"),
    (["store: memory", "", "clock"], "islet.yaml:3: is no YAML: could not find expected ':'"),
    # A line is one, whatever a value has.
    (["store: memory", "logLevel: |", "  loud", ""], r'islet.yaml:2: logLevel: "loud\n" is none of'),
    (["store: memory", 'data: "\x01', '  x"', "foo: 1", ""], "islet.yaml:2: is no YAML: control characters are not allowed"),
])
def test_a_line_is_named_whatever_ends_it(tmp_path, end, lines, named):
    path = tmp_path / "islet.yaml"
    path.write_bytes(end.join(lines).encode())
    done = run("serve", "--config", path, "--check-config")
    assert done.returncode == 2, (done.returncode, done.stderr)
    problems = done.stderr.splitlines()
    assert len(problems) == 1 and named in problems[0], done.stderr


@ENDS
def test_a_file_that_begins_with_the_mark_of_its_encoding_is_read(tmp_path, end):
    path = tmp_path / "islet.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + f"store: memory{end}logLevel: debug{end}".encode())
    done = run("serve", "--config", path, "--check-config")
    assert done.returncode == 0 and "logLevel: debug" in done.stdout, done.stderr


def test_a_speed_of_the_file_does_not_hold_for_a_manual_clock_of_the_command_line(tmp_path):
    path = yaml(tmp_path, "speed: 60\ndata: \"null\"\ncommands: tcp://127.0.0.1:*\nevents: tcp://127.0.0.1:*\n")
    done = run("serve", "--config", path, "--clock", "manual", "--check-config")
    assert done.returncode == 0, done.stderr
    assert run("serve", "--clock", "manual", "--speed", "60", "--check-config").returncode == 2


def test_a_file_that_is_not_there_is_named(tmp_path):
    done = run("serve", "--config", tmp_path / "nothing.yaml", *arguments(FREE_PORTS))
    assert done.returncode in (1, 2)
    assert "nothing.yaml" in done.stderr


# Rules that are off by default


def test_a_key_that_a_person_dismissed_is_muted_where_the_rule_is_on(wire, serve, tmp_path):
    path = yaml(tmp_path, f"clock: manual\nruleSet:\n  muteAfterPersonDismissal: {HOUR}\n")
    client = Commands(wire, serve({"--config": path}).commands)
    again = {"type": "T", "attributes": {}, "contentState": {}, "key": "order-7"}
    client.applied("activity.dismiss", id=client.start(key="order-7")["id"], by="person")
    error = client.refused("activity.start", **again)
    assert error["code"] == "denied"
    assert str(after(HOUR)) in json.dumps(error["detail"])
    client.start(key="order-8")
    client.advance(by=HOUR)
    id = client.start(**again)["id"]
    client.applied("activity.dismiss", id=id, by="system")
    client.start(**again)


def test_a_silent_publisher_makes_it_stale_and_then_ends_it_where_the_rules_are_on(wire, serve, tmp_path):
    path = yaml(tmp_path, "clock: manual\nruleSet:\n  heartbeatStaleAfter: 60000\n  heartbeatEndAfter: 180000\n")
    service = serve({"--config": path})
    client, events = Commands(wire, service.commands), Events(wire, service.events, "com.example.pizza/")
    events.join()
    id = client.start()["id"]
    assert client.get(id)["next"] == {"at": after(60_000), "cause": "heartbeat"}
    client.advance(by=59_999)
    client.read("activity.heartbeat", id=id)
    client.advance(by=59_999)
    assert client.get(id)["state"] == "active"
    client.advance(by=1)
    assert client.get(id)["state"] == "stale"
    client.read("activity.heartbeat", id=id)
    assert client.get(id)["state"] == "active"
    client.advance(by=180_000)
    assert client.get(id)["state"] == "ended"
    assert events.names(1) == ["started"]
    assert [events.next(name)["cause"] for name in ("stale", "updated", "stale", "ended")][::3] == [
        "heartbeat", "heartbeat"]

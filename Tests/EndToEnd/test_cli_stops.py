"""What a signal leaves behind: a command that is stopped while it waits ends as programs do, and says what it does not
know."""

import json
import signal
import threading
import time

import pytest
import zmq

from support.commands import encode
from support.dates import after
from support.relay import CommandRelay
from support.running import Running
from support.service import environment
from support.wire import DEADLINE, Deadline

UPDATE = ("activity", "update", "order-7", "--state", '{"eta":1}')
STARTED = {
    "epoch": "e", "seq": 1, "at": after(0), "event": "activity.started", "to": "active", "cause": "command",
    "activity": {
        "id": "0198aaaa-0000-7000-8000-00000000000a", "app": "com.example.pizza", "type": "Delivery",
        "state": "active", "revision": 1, "attributes": {}, "contentState": {}, "relevanceScore": 0,
        "style": "standard", "timestamp": after(0), "cause": "command"}}
UNKNOWN = "activity.update was sent, outcome unknown: look at it before you repeat it"


class Silent:
    """A service that takes commands and answers only some of them."""

    def __init__(self, wire, **answers):
        self.socket = wire.context.socket(zmq.ROUTER)
        self.socket.bind("tcp://127.0.0.1:*")
        wire.sockets.append(self.socket)
        self.url = self.socket.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0")
        self.answers = {name.replace("_", "."): answer for name, answer in answers.items()}

    def asked(self, op):
        """Answers until it is asked for this, which has no answer."""
        while self.socket.poll(DEADLINE * 1000):
            self.peer, *frames = self.socket.recv_multipart()
            commands = [json.loads(frame) for frame in frames]
            if any(command["op"] == op for command in commands):
                return commands
            self.reply(*({"req": one["req"], "ok": True, **self.answers[one["op"]]} for one in commands))
        raise AssertionError(f"nobody asked for {op}")

    def asked_next(self):
        """The next commands, whatever they are."""
        assert self.socket.poll(DEADLINE * 1000), "nobody asks for anything"
        self.peer, *frames = self.socket.recv_multipart()
        return [json.loads(frame) for frame in frames]

    def reply(self, *answers):
        """Answers whoever asked last."""
        self.socket.send_multipart([self.peer, *map(encode, answers)])


class Withholding(CommandRelay):
    """Keeps the commands of one op to itself."""

    def __init__(self, url, op):
        self.op = op
        self.kept = threading.Event()
        super().__init__(url)

    def forth(self, frames):
        if f'"op":"{self.op}"'.encode() not in frames[-1]:
            return frames
        self.kept.set()
        return None


@pytest.fixture
def running():
    made = []

    def make(*words, url):
        made.append(Running(*words, env=environment(ISLET_COMMANDS=url, ISLET_APP="com.example.pizza")))
        return made[-1]

    yield make
    for process in made:
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_change_without_an_answer_is_named_with_its_outcome_unknown(wire, running, number):
    service = Silent(wire)
    process = running(*UPDATE, "--timeout", "20s", url=service.url)
    service.asked("activity.update")
    assert process.end(number) == -number, "as a shell expects it"
    assert process.data == [] and process.messages == [f"stopped; {UNKNOWN}"]


def test_a_change_that_times_out_is_named_with_its_outcome_unknown(wire, running):
    service = Silent(wire)
    process = running(*UPDATE, "--timeout", "300ms", url=service.url)
    service.asked("activity.update")
    assert process.wait() == 5
    assert process.data == [] and process.messages == [
        f"no answer from {service.url} within 0.3 s: is the service running? {UNKNOWN}"]


def test_a_change_that_was_not_sent_says_so(running, tmp_path):
    url = f"ipc://{tmp_path}/nobody"
    process = running(*UPDATE, "--timeout", "300ms", url=url)
    assert process.wait() == 5
    assert process.messages == [
        f"no answer from {url} within 0.3 s: is the service running? activity.update was not sent"]


def test_a_change_that_was_sent_before_the_service_went_is_not_taken_for_unsent(wire, running):
    """What waits for a connection then is only its repetition."""
    service = Silent(wire)
    process = running(*UPDATE, "--timeout", "3s", url=service.url)
    service.asked("activity.update")
    service.socket.close(0)
    assert process.wait() == 5
    assert process.messages[-1].endswith(UNKNOWN), process.messages


def test_a_backup_of_nobody_does_not_wait_for_the_copy(running, tmp_path):
    url = f"ipc://{tmp_path}/nobody"
    process = running("backup", tmp_path / "copy.db", "--timeout", "300ms", url=url)
    assert process.wait() == 5
    assert process.messages == [f"no answer from {url} within 0.3 s: is the service running?"]


def test_a_backup_waits_longer_than_the_time_out_as_long_as_the_service_is_there(wire, running, tmp_path):
    service = Silent(wire, service_ping={"now": after(0)}, service_stats={"stats": {"diskFull": True}})
    process = running("backup", tmp_path / "copy.db", "--timeout", "300ms", url=service.url)
    [backup] = service.asked("service.backup")
    seen = 0
    while seen < 3:
        [command] = service.asked_next()
        if command["op"] == "service.stats":
            seen += 1
            service.reply({"req": command["req"], "ok": True, "stats": {"diskFull": True}})
    (tmp_path / "copy.db").write_bytes(bytes(4096))
    service.reply({"req": backup["req"], "ok": True, "bytes": 4096})
    assert process.wait() == 0, process.messages
    assert process.data == [f"wrote {tmp_path}/copy.db, 4 096 bytes"]
    assert len(process.messages) == 1 and "is full" in process.messages[0], "it is said once"


def test_a_backup_goes_on_where_the_service_is_silent_for_a_while(wire, running, tmp_path):
    """As during a commit to a slow disk, which the copy itself makes slow."""
    service = Silent(wire, service_ping={"now": after(0)})
    process = running("backup", tmp_path / "copy.db", "--timeout", "3s", url=service.url)
    [backup] = service.asked("service.backup")
    peer = service.peer
    while service.asked_next()[0]["op"] != "service.stats":
        # The backup is sent again.
        pass
    # Begun later, with the same time-out.
    assert running("activity", "list", "--timeout", "3s", url=service.url).wait() == 5
    service.peer = peer
    (tmp_path / "copy.db").write_bytes(bytes(4096))
    service.reply({"req": backup["req"], "ok": True, "bytes": 4096})
    assert process.wait() == 0, process.messages
    assert process.data == [f"wrote {tmp_path}/copy.db, 4 096 bytes"]


def test_a_backup_ends_with_its_service(wire, running, tmp_path):
    service = Silent(wire, service_ping={"now": after(0)})
    process = running("backup", tmp_path / "copy.db", "--timeout", "300ms", url=service.url)
    service.asked("service.backup")
    assert process.wait() == 5
    assert process.messages == [
        f"no answer from {service.url} within 1.8 s: is the service running? "
        "service.backup was sent, outcome unknown: look at it before you repeat it"]


def test_a_question_that_times_out_is_no_change(wire, running):
    service = Silent(wire)
    process = running("activity", "list", "--timeout", "300ms", url=service.url)
    service.asked("activity.list")
    assert process.wait() == 5
    assert process.messages == [f"no answer from {service.url} within 0.3 s: is the service running?"]


def test_a_signal_that_is_to_be_ignored_is_ignored(wire, running):
    """As `nohup` asks for it."""
    service = Silent(wire)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = running(*UPDATE, "--timeout", "20s", url=service.url)
    finally:
        signal.signal(signal.SIGHUP, before)
    [command] = service.asked("activity.update")
    process.process.send_signal(signal.SIGHUP)
    service.reply({"req": command["req"], "ok": True, "outcome": "ignored", "reason": "unchanged"})
    assert process.wait() == 0


@pytest.mark.parametrize("command", ["wait", "tail", "top"])
def test_what_follows_ignores_a_signal_that_is_to_be_ignored(service, client, running, command):
    """As a shell asks for it of what a script starts in the background."""
    id = client.start(key="order-7")["id"]
    words = {
        "wait": ("wait", "order-7", "--for", "ended", "--timeout", "1m"), "tail": ("tail", "--limit", "1"),
        "top": ("top", "--interval", "200ms")}[command]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = running(*words, "--app", client.app, url=service.commands)
    finally:
        signal.signal(signal.SIGINT, before)
    if command == "top":
        process.lines(2)
        process.process.send_signal(signal.SIGINT)
        process.lines(len(process.data) + 10)
        assert process.end(signal.SIGTERM) == 0
        return
    deadline = Deadline(DEADLINE)
    # The first looks at whose streams they are.
    while client.read("service.stats")["stats"]["joins"] < 2:
        assert not deadline.passed, "nobody joined"
    process.process.send_signal(signal.SIGINT)
    # Who is stopped by it has said so by then.
    client.read("service.stats")
    client.applied("activity.end", id=id)
    assert process.wait() == 0, process.messages
    assert process.data, process.messages


def test_a_question_without_an_answer_leaves_nothing_to_say(wire, running):
    service = Silent(wire)
    process = running("activity", "list", "--timeout", "20s", url=service.url)
    service.asked("activity.list")
    assert process.end() == -signal.SIGINT
    assert process.data == [] and process.messages == []


def active(count):
    """A list of so many activities, all that there are."""
    rows = [{"id": f"0198aaaa-0000-7000-8000-{number:012x}", "key": f"k{number}", "state": "active", "revision": 1}
            for number in range(count)]
    return {"activities": rows, "total": count, "exact": True}


def test_a_change_of_many_waits_for_its_answers_and_a_second_signal_ends_it_at_once(wire, running):
    service = Silent(wire, activity_list=active(3))
    process = running("activity", "end", "--filter", "key~k", "--yes", "--timeout", "20s", url=service.url)
    service.asked("activity.end")
    # Two that come at once may be one, as signals are: then another one follows.
    while process.process.poll() is None:
        process.process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    assert process.wait() == -signal.SIGINT
    assert process.messages[-1] == (
        "stopped; activity.end and 2 more were sent, outcome unknown: look at it before you repeat it")


def test_a_change_of_many_goes_no_further_where_nobody_answers(wire, running):
    service = Silent(wire, activity_list=active(200))
    process = running("activity", "end", "--filter", "key~k", "--yes", "--timeout", "300ms", url=service.url)
    service.asked("activity.end")
    assert process.wait() == 5
    assert process.messages[-1] == (
        "ended 0 of 200 activities, 64 failed; the service answers nothing more; stopped before the other 136")


def test_a_change_that_was_made_is_told_though_the_service_answers_nothing_more(wire, running):
    service = Silent(wire)
    process = running(*UPDATE, "--timeout", "300ms", url=service.url)
    [command] = service.asked("activity.update")
    service.reply({"req": command["req"], "ok": True, "outcome": "applied", "seq": 2, "activity": {
        "id": "0198aaaa-0000-7000-8000-00000000000a", "revision": 2, "state": "active",
        "next": {"at": after(0), "cause": "activeLimit"}}})
    assert process.wait() == 0
    assert process.data == ["updated order-7: active, revision 2"]


@pytest.mark.parametrize("timeout", ["20s", "300ms"], ids=["stopped", "timed out"])
def test_a_scenario_against_a_running_service_names_its_change_without_an_answer(service, running, tmp_path, timeout):
    path = tmp_path / "s.yaml"
    path.write_text("name: an update\nsteps:\n  - start: a\n  - update: a\n")
    relay = Withholding(service.commands, "activity.update")
    try:
        process = running("scenario", "run", path, "--commands", relay.url, "--events", service.events,
                          "--bulk", service.bulk, "--timeout", timeout, url=relay.url)
        assert relay.kept.wait(DEADLINE)
        if timeout == "20s":
            assert process.end() == -signal.SIGINT
            assert process.messages == [f"stopped; {UNKNOWN}"]
        else:
            assert process.wait() == 1
            assert any(f"no answer within 0.3 s; {UNKNOWN}" in line for line in process.data), process.data
    finally:
        relay.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_replay_names_what_it_sent_and_has_no_answer_to(service, running, tmp_path, number):
    """What it was stopped before, was not sent."""
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(STARTED) + "\n")
    relay = Withholding(service.commands, "activity.start")
    unknown = UNKNOWN.replace("update", "start")
    try:
        process = running("replay", path, "--commands", relay.url, "--timeout", "20s", url=relay.url)
        assert relay.kept.wait(DEADLINE)
        code = process.end(number)
    finally:
        relay.close()
    if number == signal.SIGINT:
        assert code == 1
        assert process.messages[-1].startswith("replayed 0 of 1 event as 0 commands in ")
        assert process.messages[-1].endswith(f"; stopped with the other 1 open; {unknown}")
    else:
        assert code == -number
        assert process.messages[-1] == f"stopped; {unknown}"


def test_a_replay_that_is_stopped_while_it_is_compared_tells_what_it_has_replayed(service, running, tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(STARTED) + "\n")
    relay = Withholding(service.commands, "activity.get")
    try:
        process = running("replay", path, "--commands", relay.url, "--verify", "--timeout", "20s", url=relay.url)
        assert relay.kept.wait(DEADLINE)
        assert process.end() == 1
    finally:
        relay.close()
    assert process.messages[-1].startswith("replayed 1 of 1 event as 1 command in ")
    assert process.messages[-1].endswith("; not all of it was compared with the recording")


def test_a_replay_whose_events_lie_too_far_apart_for_any_clock_waits(serve, running, tmp_path):
    """Where both the replay and its target are as slow as they can be."""
    service = serve({"--speed": "0.000001"})
    path = tmp_path / "two.jsonl"
    late = {**STARTED, "seq": 2, "at": 9_000_000_000_000,
            "activity": {**STARTED["activity"], "id": "0198aaaa-0000-7000-8000-00000000000b"}}
    path.write_text(json.dumps(STARTED) + "\n" + json.dumps(late) + "\n")
    relay = Withholding(service.commands, "activity.start")
    try:
        process = running("replay", path, "--commands", relay.url, "--speed", "0.000001", "--timeout", "20s", url=relay.url)
        assert relay.kept.wait(DEADLINE)
        assert process.end() == 1
    finally:
        relay.close()


def test_a_tap_that_is_stopped_while_it_waits_for_its_events_was_not_made(wire, service, home, running, tmp_path):
    torch = home.shown(home.provider())
    events = wire.context.socket(zmq.XPUB)
    events.bind("tcp://127.0.0.1:*")
    wire.sockets.append(events)
    process = running("control", "tap", torch, "--app", home.app, "--wait", "--timeout", "20s",
                      "--events", events.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0"),
                      "--bulk", f"ipc://{tmp_path}/bulk", url=service.commands)
    assert events.poll(DEADLINE * 1000), "the subscription"
    assert process.end() == 1
    assert process.messages[-1].endswith(" was not tapped; stopped"), process.messages
    assert home.get(torch)["state"] == "shown"


def test_a_wait_without_events_looks_once_more_before_it_says_that_nothing_came(wire, running, tmp_path):
    """Where events should come from, nobody is."""
    service = Silent(wire, service_info={"info": {}})
    streams = ("--events", f"ipc://{tmp_path}/events", "--bulk", f"ipc://{tmp_path}/bulk")
    process = running("wait", "order-7", "--for", "ended", "--timeout", "1s", "--json", *streams, url=service.url)
    for state in ("active", "ended"):
        [command] = service.asked("activity.get")
        service.reply({"req": command["req"], "ok": True, "activity": {
            "id": "0198aaaa-0000-7000-8000-00000000000a", "key": "order-7", "state": state, "revision": 1}})
    assert process.wait() == 0, process.messages
    assert json.loads(process.data[0])["state"] == "ended"

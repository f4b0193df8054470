"""The commands of `scripts/islet.py` against the real service."""

import copy
import json
import multiprocessing
import os
import pickle
import signal
import threading
import time
import uuid

import pytest
import zmq

import islet
from support.commands import START
from support.durable import Durable

APP = "com.example.pizza"


@pytest.fixture
def endpoints(service):
    return islet.Endpoints(service.commands, service.events, service.bulk)


@pytest.fixture
def python(endpoints):
    with islet.Client(APP, endpoints=endpoints) as made:
        yield made


class Relay:
    """Stands between clients and the service, and loses answers or whole commands the first times."""

    def __init__(self, commands, lose_commands=0, lose_answers=0):
        self.lose_commands, self.lose_answers = lose_commands, lose_answers
        self.seen = []
        self._context = zmq.Context()
        self._front, self._back = self._context.socket(zmq.ROUTER), self._context.socket(zmq.DEALER)
        for socket in (self._front, self._back):
            socket.setsockopt(zmq.LINGER, 0)
        port = self._front.bind_to_random_port("tcp://127.0.0.1")
        self.url = f"tcp://127.0.0.1:{port}"
        self._back.connect(commands)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        peer, poller = None, zmq.Poller()
        poller.register(self._front, zmq.POLLIN)
        poller.register(self._back, zmq.POLLIN)
        while not self._stopping.is_set():
            ready = dict(poller.poll(20))
            if self._front in ready:
                peer, *frames = self._front.recv_multipart()
                self.seen.append(frames)
                if self.lose_commands:
                    self.lose_commands -= 1
                else:
                    self._back.send_multipart(frames)
            if self._back in ready:
                frames = self._back.recv_multipart()
                if self.lose_answers:
                    self.lose_answers -= 1
                else:
                    self._front.send_multipart([peer, *frames])

    def close(self):
        self._stopping.set()
        self._thread.join()
        self._front.close()
        self._back.close()
        self._context.term()


def losing(endpoints, **losses):
    relay = Relay(endpoints.commands, **losses)
    client = islet.Client(
        APP, endpoints=islet.Endpoints(relay.url, endpoints.events, endpoints.bulk), first_retry=0.05)
    return relay, client


# Calls


def test_a_call_gives_the_answer(python):
    begun = python.call("activity.start", key="order-7", staleDate=None, **START)
    assert begun["outcome"] == "applied" and begun["seq"] == 1
    whole = python.call("activity.get", key="order-7")["activity"]
    assert (whole["app"], whole["revision"], whole["contentState"]) == (APP, 1, START["contentState"])
    assert python.call("service.ping")["ok"] is True


def test_a_change_says_who_did_it_and_numbers_rise(python, events):
    for _ in range(2):
        python.call("activity.start", **START)
    by = [events.next("started")["by"] for _ in range(2)]
    assert [each["client"] for each in by] == [python.client] * 2
    first, second = (int(each["req"].rpartition("-")[2]) for each in by)
    assert first < second


def test_a_refusal_is_raised_with_what_the_service_says(python):
    with pytest.raises(islet.IsletError, match="notFound") as raised:
        python.call("activity.update", key="nobody", contentState={})
    assert (raised.value.code, raised.value.retry) == ("notFound", "never")
    with pytest.raises(islet.IsletError) as raised:
        python.call("activity.start", **START, contentstate={})
    assert (raised.value.code, raised.value.detail) == ("unknownField", {"field": "contentstate"})


def test_many_calls_go_in_messages_of_256_and_come_back_in_order(python):
    commands = [{"op": "activity.start", **START, "contentState": {"n": number}} for number in range(600)]
    commands[300] = {"op": "activity.end", "key": "nobody"}
    answers = python.call_many(commands)
    assert len(answers) == 600
    assert isinstance(answers[300], islet.IsletError) and answers[300].code == "notFound"
    assert [answer["seq"] for answer in answers if isinstance(answer, dict)] == list(range(1, 600))


def test_two_commands_under_one_req_are_refused_before_they_are_sent(python):
    with pytest.raises(ValueError, match="same req"):
        python.call_many([{"op": "service.ping", "req": "a"}, {"op": "service.ping", "req": "a"}])


def test_addresses_come_from_arguments_then_the_environment_then_the_contract(monkeypatch):
    for name in ("COMMANDS", "EVENTS", "BULK", "APP"):
        monkeypatch.delenv(f"ISLET_{name}", raising=False)
    assert islet.connect().endpoints == islet.Endpoints("tcp://127.0.0.1:7411", None, None)  # the service says the others
    monkeypatch.setenv("ISLET_EVENTS", "ipc:///tmp/events")
    monkeypatch.setenv("ISLET_APP", APP)
    client = islet.connect(bulk="ipc:///tmp/bulk")
    assert client.endpoints == islet.Endpoints("tcp://127.0.0.1:7411", "ipc:///tmp/events", "ipc:///tmp/bulk")
    assert client.app == APP
    # The streams of the environment are those of its own service.
    bench = islet.connect("tcp://127.0.0.1:8411", bulk="tcp://127.0.0.1:8413")
    assert bench.endpoints == islet.Endpoints("tcp://127.0.0.1:8411", None, "tcp://127.0.0.1:8413")
    monkeypatch.setenv("ISLET_COMMANDS", "tcp://127.0.0.1:8411")
    assert islet.connect().endpoints == islet.Endpoints("tcp://127.0.0.1:8411", "ipc:///tmp/events", None)
    monkeypatch.delenv("ISLET_APP")
    with pytest.raises(ValueError, match="which app"):
        islet.connect().replica()


# Retries


def test_a_lost_answer_is_asked_for_again_and_the_command_executed_once(endpoints):
    relay, client = losing(endpoints, lose_answers=3)
    try:
        assert client.call("activity.start", **START)["outcome"] == "applied"
        # On a slow machine the answer that is let through may be asked for more than once, too.
        assert len(relay.seen) >= 4 and len({frames[0] for frames in relay.seen}) == 1, "the same bytes each time"
        assert client.call("activity.list")["total"] == 1
    finally:
        client.close()
        relay.close()


def test_a_lost_batch_is_sent_again(endpoints):
    relay, client = losing(endpoints, lose_commands=2)
    try:
        answers = client.call_many([{"op": "activity.start", **START} for _ in range(40)])
        assert [answer["seq"] for answer in answers] == list(range(1, 41))
        assert len(relay.seen) >= 3 and all(frames == relay.seen[0] for frames in relay.seen), "the same bytes each time"
        assert len(relay.seen[0]) == 40
    finally:
        client.close()
        relay.close()


@pytest.mark.parametrize("op", ["widget.snapshot", "widget.options", "widget.recommendations", "control.options"])
def test_what_a_provider_answers_is_not_asked_again_while_that_is_at_work(op):
    """It would be asked each time."""
    with Scripted(lambda number, commands: []) as service, islet.Client(
            APP, endpoints=islet.Endpoints(service.url, "", ""), first_retry=0.01) as client:
        with pytest.raises(islet.NoAnswer):
            client.call(op, kind="com.example.forecast", timeout=0.5)
        assert len(service.messages) == 1


def test_no_answer_is_an_error_of_its_own_and_the_same_req_asks_again(endpoints):
    relay, client = losing(endpoints, lose_answers=1_000)
    try:
        with pytest.raises(islet.NoAnswer) as raised:
            client.call("activity.start", **START, timeout=0.3)
        assert (raised.value.code, raised.value.retry) == ("noAnswer", "refresh")
        assert len(relay.seen) > 1
        relay.lose_answers = 0
        late = client.call("activity.start", **START, req=raised.value.req)
        assert late["seq"] == 1, "the first answer, not a second execution"
        assert client.call("activity.list")["total"] == 1
    finally:
        client.close()
        relay.close()


def test_a_call_during_a_restart_is_executed_once(durable_service):
    """Over a connection that comes back by itself: what the old process took is not taken again by the new one."""
    durable, urls = durable_service
    durable.start(**urls)
    with islet.Client(APP, endpoints=islet.Endpoints(urls["commands"], urls["events"], urls["bulk"])) as client:
        client.call("activity.start", key="k", **START)
        for round in range(3):
            restarter = threading.Thread(target=durable.restart, kwargs=urls)
            restarter.start()
            for number in range(10):
                client.call("activity.update", key="k", contentState={"round": round, "n": number}, timeout=30)
            restarter.join()
        assert client.call("activity.get", key="k")["activity"]["revision"] == 31
    durable.kill()


@pytest.fixture
def durable_service(wire, tmp_path):
    return Durable(wire, tmp_path / "data"), {
        name: f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}


def test_what_got_no_answer_is_not_executed_when_the_service_comes_at_last(tmp_path):
    """Nobody expects it any more; who still does sends it again."""
    url = f"ipc://{tmp_path}/commands"
    with islet.Client(APP, endpoints=islet.Endpoints(url, "", ""), first_retry=0.05) as client:
        with pytest.raises(islet.NoAnswer):
            client.call("activity.start", **START, timeout=0.3)
        late = Busy(times=0, url=url)
        try:
            client.call("service.ping")
            assert [json.loads(frame)["op"] for _, frame in late.frames] == ["service.ping"]
        finally:
            late.close()


class Busy:
    """A service that is too busy the first times, and then answers."""

    def __init__(self, times, retry_after=30, url="tcp://127.0.0.1:*"):
        self.frames = []
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.bind(url)
        self.url = self.socket.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0")
        self.thread = threading.Thread(target=self.run, args=(times, retry_after), daemon=True)
        self.thread.start()

    def run(self, times, retry_after):
        for number in range(times + 1):
            peer, frame = self.socket.recv_multipart()
            self.frames.append((time.monotonic(), frame))
            busy = {"ok": False, "error": {"code": "busy", "message": "", "retry": "later", "retryAfter": retry_after}}
            answer = busy if number < times else {"ok": True}
            # Before it something that is no answer to anything.
            self.socket.send_multipart([peer, b"[]", b"\xff", json.dumps({"req": "other", "ok": True}).encode(),
                                        json.dumps({"req": json.loads(frame)["req"], **answer}).encode()])

    def close(self):
        self.thread.join(timeout=10)
        self.socket.close()
        self.context.term()


def test_a_busy_service_is_asked_again_when_it_says():
    busy = Busy(times=3)
    try:
        with islet.Client(APP, endpoints=islet.Endpoints(busy.url, "", "")) as client:
            assert client.call("activity.list")["ok"]
        times = [at for at, _ in busy.frames]
        assert all(after - before >= 0.03 for before, after in zip(times, times[1:]))
        assert len({frame for _, frame in busy.frames}) == 1
    finally:
        busy.close()


def test_a_service_that_stays_busy_is_an_error():
    late = Busy(times=1, retry_after=60_000)
    try:
        with islet.Client(APP, endpoints=islet.Endpoints(late.url, "", "")) as client:
            with pytest.raises(islet.IsletError) as raised:
                client.call("activity.list", timeout=2)
            assert (raised.value.code, raised.value.retry_after) == ("busy", 60)
            client.call("service.ping")
    finally:
        late.close()


# Threads


def test_threads_share_a_client_and_not_its_sockets(python):
    answers, failures = {}, []

    def work(name):
        try:
            for number in range(50):
                answer = python.call("activity.start", key=f"{name}-{number}", **START)
                answers[answer["seq"]] = name
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sorted(answers) == list(range(1, 201))


def test_a_uuid_of_ones_own_goes_on_with_higher_numbers_in_another_process(endpoints):
    """Two clients after one another with one UUID: the second is not taken for a repetition of the first."""
    one = str(uuid.uuid4())
    for _ in range(2):
        with islet.Client(APP, endpoints=endpoints, client=one) as client:
            assert client.call("activity.start", **START)["outcome"] == "applied"
    with islet.Client(APP, endpoints=endpoints) as client:
        assert client.call("activity.list")["total"] == 2


class Scripted:
    """A service that gives each message what the test says: `answer(number, commands)` gives messages of answers."""

    def __init__(self, answer):
        self.messages = []
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.url = f"tcp://127.0.0.1:{self.socket.bind_to_random_port('tcp://127.0.0.1')}"
        self.answer, self.stopping = answer, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stopping.is_set():
            if self.socket.poll(10):
                peer, *frames = self.socket.recv_multipart()
                self.messages.append([json.loads(frame) for frame in frames])
                for message in self.answer(len(self.messages), self.messages[-1]):
                    self.socket.send_multipart([peer, *(json.dumps(answer).encode() for answer in message)])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
        self.socket.close()
        self.context.term()


def well(commands):
    return [{"req": command["req"], "ok": True} for command in commands if command.get("ack") != "none"]


def test_a_number_is_drawn_only_when_its_message_is_about_to_be_sent():
    """Those of a long `call_many` too: a number that waits behind many of another thread may be forgotten by then.
    Which of two threads' messages arrives first is up to their connections; which numbers they have is not."""
    entered, go = threading.Event(), threading.Event()

    def answer(number, commands):
        if number == 1:
            entered.set()
            assert go.wait(10)
        return [well(commands)]

    with Scripted(answer) as service, islet.Client(
            APP, endpoints=islet.Endpoints(service.url, "", ""), first_retry=60, timeout=60) as client:
        long = threading.Thread(target=client.call_many, args=([{"op": "activity.end", "key": "long"}] * 600,))
        long.start()
        assert entered.wait(10)
        short = threading.Thread(target=client.call, args=("activity.end",), kwargs={"key": "short"})
        short.start()
        deadline = time.monotonic() + 10
        while client._numbers.__reduce__()[1][0] < 258:
            assert time.monotonic() < deadline, "the short call draws no number"
            time.sleep(0.005)
        go.set()
        long.join()
        short.join()
        numbers = {"long": [], "short": []}
        for message in service.messages:
            for command in message:
                numbers[command["key"]].append(int(command["req"].rpartition("-")[2]))
        assert numbers["short"] == [257]
        assert numbers["long"] == [*range(1, 257), *range(258, 602)]


# Processes and copies


FORK = multiprocessing.get_context("fork")


def in_a_fork(act):
    """What `act` gives in a forked process, or the exception that it raises there."""
    mine, its = FORK.Pipe(duplex=False)

    def body():
        try:
            its.send(act())
        except BaseException as failure:
            its.send(failure)

    process = FORK.Process(target=body)
    process.start()
    try:
        assert mine.poll(30), "the forked process hangs"
        return mine.recv()
    finally:
        process.kill()
        process.join()


@pytest.mark.parametrize("given", [None, "0198c0de-0000-7000-8000-000000000001"])
def test_forked_processes_are_clients_of_their_own(endpoints, given):
    with islet.Client(APP, endpoints=endpoints, client=given) as client:
        for _ in range(2):
            client.call("activity.start", **START)
        ids = [in_a_fork(lambda: client.call("activity.start", **START)["activity"]["id"]) for _ in range(3)]
        ids.append(client.call("activity.start", **START)["activity"]["id"])
        assert len(set(ids)) == 4 and client.call("activity.list")["total"] == 6
        uuids = {in_a_fork(lambda: client.client) for _ in range(2)} | {client.client}
        assert len(uuids) == (1 if given else 3)


def test_a_fork_in_the_middle_of_other_threads_calls_has_none_of_their_locks_and_sockets(endpoints):
    context = zmq.Context()
    with islet.Client(APP, endpoints=endpoints, context=context) as client:
        client.call("service.ping")
        with client._lock:
            begun = time.monotonic()
            assert in_a_fork(lambda: client.call("service.ping", timeout=20)["ok"]) is True
            assert time.monotonic() - begun < 15
        assert client.call("service.ping")["ok"]
    context.term()


@pytest.mark.parametrize("given", [None, "0198c0de-0000-7000-8000-000000000001"])
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda client: pickle.loads(pickle.dumps(client))])
def test_a_copy_is_a_client_of_its_own(endpoints, given, way):
    with islet.Client(APP, endpoints=endpoints, client=given, timeout=7, first_retry=3, prefix="x") as client, way(
            client) as other:
        assert (other.app, other.endpoints, other.timeout, other.first_retry) == (APP, endpoints, 7, 3)
        assert (other.client == client.client) == (given is not None)
        ids = {each.call("activity.start", **START)["activity"]["id"] for each in (client, other)}
        assert len(ids) == 2


class Refused(islet.IsletError):
    def __init__(self, answer):
        super().__init__("odd", "message")
        self.answer = answer


@pytest.mark.parametrize("error", [
    islet.IsletError("busy", "later", "later", {"a": 1}, 0.5, "py-1"), islet.NoAnswer(2.5, "py-7"), Refused([1])])
@pytest.mark.parametrize("way", [copy.copy, lambda error: pickle.loads(pickle.dumps(error)), lambda error: in_a_fork(
    lambda: error)])
def test_errors_come_whole_out_of_other_processes(error, way):
    other = way(error)
    assert type(other) is type(error) and str(other) == str(error) and vars(other) == vars(error)


# What would never be answered


def test_a_command_that_is_too_long_fails_at_once_and_the_others_do_not(python):
    room = 65_536 - len(islet._encode({"req": f"{python._numbered}1", "op": "service.ping", "x": ""}))
    begun = time.monotonic()
    answers = python.call_many([
        {"op": "service.ping", "x": "x" * room}, {"op": "service.ping", "x": "x" * (room + 1)}, {"op": "service.ping"}])
    assert time.monotonic() - begun < 5
    assert [getattr(answer, "code", "ok") for answer in answers] == ["unknownField", "badMessage", "ok"]
    assert answers[1].retry == "never" and answers[1].detail == {"bytes": 65_537, "limit": 65_536}


@pytest.mark.parametrize("req, code", [
    ("r" * 64, None), ("", "badField"), (" ~!", None), ("r" * 65, "badField"), ('a"b', "badField"), ("a\\b", "badField"),
    ("ä", "badField"), ("a\n", "badField"), (7, "badField"), ("\ud800", "badField")])
def test_a_req_that_the_service_cannot_echo_fails_at_once(python, req, code):
    if code is None:
        assert python.call("service.ping", req=req)["req"] == req
        return
    with pytest.raises(islet.IsletError) as raised:
        python.call("service.ping", req=req, timeout=60)
    assert (raised.value.code, raised.value.detail) == (code, {"field": "req"})


@pytest.mark.parametrize("silent", [{}, {"ack": "none"}])
def test_what_nests_too_deep_fails_at_once_and_the_others_do_not(python, silent):
    """The service reads it not far enough for its `req`, nor for what it wants no answer to."""
    def nested(levels):
        return {"op": "activity.start", **START, "contentState": {"x": json.loads("[" * levels + "]" * levels)}}

    answers = python.call_many([
        {"op": "service.ping"}, {**nested(70), **silent}, nested(63), nested(64), {"op": "service.ping"}], timeout=60)
    codes = [getattr(answer, "code", "ok") for answer in answers]
    assert codes == ["ok", "badMessage", "ok", "badMessage", "ok"]
    with pytest.raises(islet.IsletError, match="badMessage"):
        python.call("service.ping", x=nested(70), timeout=60)


def test_a_refusal_without_a_req_belongs_to_the_command_in_its_place():
    refusal = {"ok": False, "error": {"code": "badMessage", "message": "", "retry": "never"}}
    with Scripted(lambda number, commands: [[refusal, *well(commands[1:])]]) as service, islet.Client(
            APP, endpoints=islet.Endpoints(service.url, "", "")) as client:
        first, second = client.call_many([{"op": "service.ping"}, {"op": "service.ping"}], timeout=60)
    assert first.code == "badMessage" and second["ok"] is True


def test_what_has_no_answer_is_waited_for_no_longer_than_it_takes(python):
    report = {"nonce": "0" * 32, "apps": {}, "req": "mine"}
    assert python.call("stream.applied", **report, timeout=60) == {"req": "mine"}
    answers = python.call_many([{"op": "stream.applied", **report}, {"op": "service.ping", "req": "ping"}], timeout=60)
    assert answers[0] == {"req": "mine"} and answers[1]["ok"]


def test_what_is_no_json_is_raised_before_anything_is_sent(python):
    for wrong in (object(), float("nan"), "\ud800", b"x"):
        with pytest.raises((TypeError, ValueError)):
            python.call_many([{"op": "activity.start", **START}] * 300 + [{"op": "service.ping", "x": wrong}])
    assert python.call("activity.list")["total"] == 0


def test_commands_that_want_no_answer_are_taken_and_told_of_by_their_req_alone(python):
    begun = time.monotonic()
    assert python.call("activity.start", **START, ack="none", req="mine", timeout=60) == {"req": "mine"}
    silent = {"op": "activity.start", **START, "ack": "none"}
    assert len(python.call_many([silent] * 300)) == 300
    answers = python.call_many([silent, {"op": "activity.start", **START}, silent, {"op": "activity.end", "key": "x"}])
    assert [list(answer) if isinstance(answer, dict) else answer.code for answer in answers][::2] == [["req"]] * 2
    assert answers[1]["seq"] == 303 and answers[3].code == "notFound"  # the third was executed before the answers
    assert time.monotonic() - begun < 20 and python.call("activity.list")["total"] == 304


def test_commands_that_want_no_answer_are_sent_again_when_they_were_lost(endpoints):
    relay, client = losing(endpoints, lose_commands=1, lose_answers=1)
    try:
        client.call_many([{"op": "activity.start", **START, "ack": "none"}] * 3)
        assert client.call("activity.list")["total"] == 3
    finally:
        client.close()
        relay.close()


# Timeouts and interruptions


@pytest.mark.parametrize("ack", [{}, {"ack": "none"}])
def test_a_call_ends_also_where_something_else_than_the_service_takes_messages(service, ack):
    """libzmq gives such an address up for good, and a socket without a peer waits for one, in its next `send`."""
    def call():
        try:
            client.call("activity.start", **START, **ack)
        except islet.NoAnswer as failure:
            told.append(failure)

    told, endpoints = [], islet.Endpoints(service.events, service.events, service.bulk)
    with islet.Client(APP, endpoints=endpoints, timeout=1, first_retry=0.05) as client:
        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        thread.join(20)
        assert not thread.is_alive() and len(told) == 1


def test_a_timeout_of_zero_is_none_at_all(python):
    begun = time.monotonic()
    with pytest.raises(islet.NoAnswer):
        python.call("activity.start", **START, timeout=0)
    assert time.monotonic() - begun < 5
    assert python.call("activity.list")["total"] == 0
    for wrong in (-1, float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            python.call("service.ping", timeout=wrong)
        with pytest.raises(ValueError, match="timeout"):
            islet.Client(timeout=wrong)
    assert python.call("service.ping", timeout=float("inf"))["ok"]


class Interrupted(Exception):
    pass


def test_a_call_that_an_exception_breaks_is_not_executed_later(tmp_path):
    def interrupt(*_):
        raise Interrupted

    url = f"ipc://{tmp_path}/commands"
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with islet.Client(APP, endpoints=islet.Endpoints(url, "", "")) as client:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(Interrupted):
                client.call("activity.start", **START, timeout=60)
            late = Busy(times=0, url=url)
            try:
                client.call("service.ping")
                assert [json.loads(frame)["op"] for _, frame in late.frames] == ["service.ping"]
            finally:
                late.close()
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_call_in_a_signals_handler_takes_nothing_from_the_call_that_it_interrupts():
    heard = []

    def answer(number, commands):
        if number == 1:
            held.append(commands)
            os.kill(os.getpid(), signal.SIGALRM)
            return []
        return [well(commands)]

    held = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(client.call("service.info", timeout=20)))
    try:
        with Scripted(answer) as service, islet.Client(
                APP, endpoints=islet.Endpoints(service.url, "", ""), first_retry=0.3) as client:
            assert client.call("service.ping", timeout=20)["ok"]
            assert len(heard) == 1 and heard[0]["ok"]
    finally:
        signal.signal(signal.SIGALRM, before)


def refused(command, code="conflict"):
    return {"req": command["req"], "ok": False, "error": {"code": code, "message": "", "retry": "refresh"}}


def copies_answered(*answers):
    """Answers for a service that takes one command's copies together: none has an answer before all are there. What comes
    behind them is answered well."""
    waiting = []

    def answer(number, commands):
        if number > len(answers):
            return [well(commands)]
        waiting.append([answers[number - 1](commands[0]), *well(commands[1:])])
        return waiting if number == len(answers) else []

    return answer


@pytest.mark.parametrize("code", ["conflict", "expired", "notFound"])
def test_a_change_is_not_refused_that_a_later_copy_of_it_has_executed(code):
    """A refusal is not remembered: by the time of the second copy what it was refused for may have passed."""
    with Scripted(copies_answered(lambda first: refused(first, code), lambda second: well([second])[0])) as service, (
            islet.Client(APP, endpoints=islet.Endpoints(service.url, "", ""), first_retry=0.05)) as client:
        answer, other = client.call_many([{"op": "activity.start", **START}, {"op": "service.ping"}], timeout=20)
        assert not isinstance(answer, islet.IsletError) and answer["ok"] and other["ok"]
        ops = [[command["op"] for command in message] for message in service.messages]
        assert ops[:2] == [["activity.start", "service.ping"]] * 2 and ["activity.start"] not in ops[2:]


def lost(number, commands):
    """The first copy has no answer, and the second is refused; a ping behind both says that no more will come."""
    return [] if number == 1 else [[refused(commands[0])]] if number == 2 else [well(commands)]


@pytest.mark.parametrize("answer", [copies_answered(refused, refused), lost])
def test_a_change_is_refused_once_each_of_its_copies_is_or_is_lost(answer):
    with Scripted(answer) as service, islet.Client(
            APP, endpoints=islet.Endpoints(service.url, "", ""), first_retry=0.05) as client:
        with pytest.raises(islet.IsletError, match="conflict"):
            client.call("activity.start", **START, timeout=20)
        assert [message[0]["op"] for message in service.messages].count("activity.start") == 2


def test_whether_a_change_was_executed_is_unknown_where_the_rest_has_no_answer():
    with Scripted(lambda number, commands: [[refused(commands[0])]] if number == 2 else []) as service, islet.Client(
            APP, endpoints=islet.Endpoints(service.url, "", ""), first_retry=0.05) as client:
        with pytest.raises(islet.NoAnswer):
            client.call("activity.start", **START, timeout=0.5)


def test_a_late_answer_is_not_taken_for_that_of_the_next_call_with_the_same_req():
    def answer(number, commands):
        if number == 1:
            return []
        return [[{"req": commands[0]["req"], "ok": True, "number": number}]] * 2 if number == 2 else [
            [{"req": commands[0]["req"], "ok": True, "number": number}]]

    with Scripted(answer) as service, islet.Client(
            APP, endpoints=islet.Endpoints(service.url, "", ""), first_retry=0.05) as client:
        assert client.call("service.ping", req="mine")["number"] >= 2
        last = len(service.messages)
        assert client.call("service.info", req="mine")["number"] > last


@pytest.mark.parametrize("options, said", [
    ({"timeout": None}, "a timeout is a number"), ({"timeout": float("nan")}, "a timeout is a number"),
    ({"timeout": -1}, "a timeout is a number"), ({"first_retry": 0}, "first_retry is a number"),
    ({"first_retry": -1}, "first_retry is a number")])
def test_times_that_no_call_could_have_are_refused_when_the_client_is_made(options, said):
    with pytest.raises(ValueError, match=said):
        islet.Client("com.example.app", **options)


def test_the_operation_is_told_once(python):
    with pytest.raises(TypeError, match="service.ping: the operation is the first argument"):
        python.call("service.ping", op="activity.list")


def test_a_client_of_none_leaves_no_change_without_one(endpoints):
    """Without any it would be executed as often as it is sent."""
    relay, client = losing(endpoints, lose_answers=1)
    try:
        begun = client.call("activity.start", **START, client=None)
        assert len(relay.seen) == 2 and begun["seq"] == 1
        assert client.call("activity.list")["total"] == 1
    finally:
        client.close()
        relay.close()


@pytest.mark.parametrize("prefix", ['a"b', "a\\b", "ü", "a\n", "a" * 33])
def test_a_prefix_that_no_req_may_have_is_refused_when_the_client_is_made(prefix):
    with pytest.raises(ValueError, match="a prefix has at most 32 printable ASCII characters"):
        islet.Client(APP, prefix=prefix)


@pytest.mark.parametrize("times", [1e300, float("inf")])
def test_any_time_from_0_on_is_one_that_can_be_waited_for(endpoints, times):
    with islet.Client(APP, endpoints=endpoints, timeout=times, first_retry=times, prefix="a" * 32) as client:
        assert client.call("service.ping")["ok"] is True

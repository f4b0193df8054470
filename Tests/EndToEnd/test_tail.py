"""`islet tail`: from the moment it has joined nothing is lost, whatever happens on the way."""

import fcntl
import itertools
import json
import pathlib
import signal
import time

import pytest
import zmq

from support.cli import Islet
from support.commands import Commands, encode
from support.dates import HOUR, MINUTE, after
from support.durable import Durable
from support.lossy import LossyRelay
from support.provider import TORCH, RawProvider, toggle
from support.proxy import Proxy
from support.relay import CommandRelay
from support.running import Running
from support.service import environment, run
from support.small_disk import until
from support.wire import DEADLINE, Deadline


@pytest.fixture
def islet(service):
    return Islet(service)


@pytest.fixture
def running():
    """Starts commands that go on; each is ended after the test."""
    made = []

    def make(*words, env):
        made.append(Running(*words, env=env))
        return made[-1]

    yield make
    for process in made:
        process.kill()


@pytest.fixture
def tail(islet, running):
    return lambda *words, env=None: running("tail", *words, env=env or islet.env)


def test_a_tail_gives_the_bytes_of_every_event_since_it_joined(tail, client, events):
    client.start()
    events.raw_next()
    follower = tail("--json")
    follower.message(r"^com.example.pizza: following from seq 1$")
    client.start(key="order-7", staleDate=after(MINUTE))
    client.advance(by=2 * MINUTE)
    client.applied("activity.update", key="order-7", contentState={"eta": 1})
    published = [events.raw_next()[2].decode() for _ in range(3)]
    assert follower.lines(3) == published
    assert follower.end() == 0
    assert follower.messages[-1] == "3 events, 0 missed"


def test_lines_for_people_tell_cause_deadline_and_revision(tail, client):
    client.start(key="order-6")
    follower = tail()
    follower.message("following from seq 1")
    client.start(key="order-7", staleDate=after(MINUTE))
    client.advance(by=2 * MINUTE)
    client.applied("activity.update", key="order-6", contentState={"eta": 1})
    follower.lines(4)
    client.applied("activity.end", key="order-7", dismissalPolicy={"after": after(32 * MINUTE)})
    client.applied("activity.dismiss", key="order-6", by="person")
    date, *lines = follower.lines(6)
    assert date == "Thu 2026-01-01 UTC"
    assert [line.split("  ", 2)[:2] for line in lines] == [
        ["00:00:00", "Delivery/order-7"], ["00:01:00", "Delivery/order-7"], ["00:02:00", "Delivery/order-6"],
        ["00:02:00", "Delivery/order-7"], ["00:02:00", "Delivery/order-6"],
    ]
    rests = [" ".join(line.split()[2:]) for line in lines]
    assert rests == [
        '→ active started stale in 1 m, rev 1 {"eta":12}', "active → stale staleDate ends in 7 h 59 m, rev 2",
        # The start of order-6 was before the tail: its key and its deadline were asked for.
        'active updated ends in 7 h 58 m, rev 2 {"eta":1}', "stale → ended ended removed in 30 m, rev 3",
        "active → dismissed person rev 3",
    ]


def test_a_tail_repairs_what_was_lost_on_the_way(islet, tail, service, client):
    relay = LossyRelay(service.events, lose={2, 3, 6})
    try:
        follower = tail("--json", env={**islet.env, "ISLET_EVENTS": relay.url})
        follower.message("following from the beginning")
        id = client.start()["id"]
        for number in range(5):
            client.applied("activity.update", id=id, contentState={"n": number})
        # The last one is lost with nothing after it: a watermark shows it.
        assert [json.loads(line)["seq"] for line in follower.lines(6)] == [1, 2, 3, 4, 5, 6]
        assert sorted(relay.lost) == [2, 3, 6]
    finally:
        relay.close()


def test_a_prefix_selects_and_a_limit_ends(tail, client):
    follower = tail("com.example.pizza/activity/Ride/", "--json", "--limit", "2")
    follower.message("following")
    client.start()
    ride = client.start(type="Ride")["id"]
    client.start()
    client.applied("activity.end", id=ride)
    assert follower.wait() == 0
    assert [json.loads(line)["event"] for line in follower.data] == ["activity.started", "activity.ended"]


def test_a_tail_of_everything_follows_all_apps(islet, running, client):
    env = {name: value for name, value in islet.env.items() if name != "ISLET_APP"}
    follower = running("tail", "--limit", "2", env=env)
    follower.message("^following all apps$")
    client.start(key="a")
    follower.lines(2)
    client.start(app="com.example.taxi", key="b")
    assert follower.wait() == 0
    assert "com.example.pizza  Delivery/a" in follower.data[1]
    assert "com.example.taxi  Delivery/b" in follower.data[2]


@pytest.mark.parametrize("words", [[], ["com.example."], ["--since", "1h"]], ids=" ".join)
def test_what_begins_while_the_connection_is_lost_is_shown_from_its_first_event(islet, running, service, client, words):
    """Nobody told the tail of that app: only the answer to its next join names it, and where it stands by then."""
    client.start(key="a")
    proxy = Proxy(service.events)
    follower = running("tail", *words, "--json", env={**islet.env, "ISLET_APP": "", "ISLET_EVENTS": proxy.url})
    try:
        follower.message("^com.example.pizza: following from")
        proxy.hold()
        client.start(app="com.example.taxi", key="b")
        for number in range(3):
            client.applied("activity.update", app="com.example.taxi", key="b", contentState={"n": number})
        proxy.let_through()
        follower.message("^com.example.taxi: following from")
        before = 1 if "--since" in words else 0
        assert [json.loads(line)["seq"] for line in follower.lines(before + 4)][before:] == [1, 2, 3, 4]
    finally:
        proxy.close()


def test_one_ctrl_c_ends_a_tail_whose_reader_takes_less_than_comes(islet, client):
    """Such as a slow terminal: something waits for it at all times."""
    client.start(key="a")
    follower = islet.begin("tail")
    fcntl.fcntl(follower.stdout, fcntl.F_SETPIPE_SZ, 4_096)
    try:
        assert "following from" in follower.stderr.readline()
        updates = (client.command("activity.update", key="a", contentState={"n": n}) for n in itertools.count())
        for _ in range(10):
            client.batch(*itertools.islice(updates, 200))
        follower.send_signal(signal.SIGINT)
        deadline = Deadline()
        while follower.stdout.readline():
            assert not deadline.passed, "it goes on for as long as there is something to show"
            client.batch(next(updates))
        assert follower.wait(timeout=DEADLINE) == 0
        assert ", 0 missed" in follower.stderr.read()
    finally:
        follower.kill()
        follower.communicate()


GREETING = 64
"""Bytes with which a connection begins, by ZMTP."""


@pytest.mark.parametrize(("name", "other", "words"), [
    ("commands", "events", ("activity", "list")), ("events", "commands", ("tail", "--limit", "1")),
    ("bulk", "events", ("tail", "--since", "1h", "--limit", "2"))])
def test_an_address_where_something_else_answered_first_is_tried_again(
        running, service, client, islet, name, other, words):
    """Such as a service whose addresses were exchanged, before it was started anew. libzmq itself tries no more where the other
    side is of a kind that does not fit."""
    client.start()
    proxy = Proxy(getattr(service, other))
    asking = running(*words, env={**islet.env, f"ISLET_{name.upper()}": proxy.url})
    try:
        until(lambda: len(proxy.sent) >= 2 * GREETING)
        proxy.lead_to(getattr(service, name))
        if words[0] == "tail":
            asking.message("following")
            client.start()
        assert asking.wait() == 0, asking.messages
        assert asking.data
    finally:
        proxy.close()


@pytest.mark.parametrize("has_events", [True, False])
def test_a_tail_whose_connection_leads_nowhere_any_more_makes_another(running, service, client, islet, has_events):
    """Such as through a proxy whose other side is gone without a word: it stays open."""
    if has_events:
        client.start(key="a")
    proxy = Proxy(service.events)
    follower = running("tail", env={**islet.env, "ISLET_EVENTS": proxy.url})
    try:
        follower.message("following")
        proxy.mute()
        client.start(key="b")
        follower.lines(1, seconds=3 * DEADLINE)
    finally:
        proxy.close()


def test_a_command_whose_connection_leads_nowhere_goes_by_another(running, service, client, islet):
    client.start(key="a")
    proxy = Proxy(service.commands)
    proxy.mute_with(b"activity.update")
    words = ("activity", "update", "a", "--state", '{"n":1}', "--timeout", "90s")
    changing = running(*words, env={**islet.env, "ISLET_COMMANDS": proxy.url})
    try:
        assert changing.wait(seconds=3 * DEADLINE) == 0, changing.messages
    finally:
        proxy.close()


def test_a_large_answer_by_a_slow_connection_comes(running, service, client, islet):
    """It takes longer than a connection may be silent at first, and the answer to a ping stands behind it."""
    client.batch(*(client.command("activity.start", attributes={}, contentState={"text": "x" * 4_000}) for _ in range(200)))
    proxy = Proxy(service.commands, bytes_per_second=45_000)
    words = ("activity", "list", "--limit", "1000", "--json", "--timeout", "90s")
    listing = running(*words, env={**islet.env, "ISLET_COMMANDS": proxy.url})
    try:
        assert listing.wait(seconds=3 * DEADLINE) == 0, listing.messages
    finally:
        proxy.close()


def time_on_processor(process, thread):
    """How many nanoseconds a thread of this name has run."""
    tasks = pathlib.Path(f"/proc/{process.pid}/task").iterdir()
    return next(int((task / "schedstat").read_text().split()[0]) for task in tasks
                if (task / "comm").read_text().strip() == thread)


def test_a_connection_that_is_lost_while_a_message_is_read_aborts_no_tail(running, service, client, islet):
    """libzmq ends the process (`!_more`) that hears of the loss between two frames, where a queue goes with its
    connection. This message has so many frames that it is still read when the connection is gone; at which moment of
    that decides nothing now."""
    client.start()
    epoch = client.read("service.info")["info"]["epoch"]
    count = 2_000_000
    for milliseconds in (1, 5, 10, 20, 40):
        with zmq.Context() as context, context.socket(zmq.ROUTER) as bulk:
            bulk.linger = 0
            bulk.bind("tcp://127.0.0.1:*")
            proxy = Proxy(bulk.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0"))
            follower = running("tail", "--since", "1h", env={**islet.env, "ISLET_BULK": proxy.url})
            try:
                assert bulk.poll(1_000 * DEADLINE)
                _, asked = bulk.recv_multipart()
                header = encode({"req": json.loads(asked)["req"], "chunk": 0, "rows": count // 2, "epoch": epoch})
                # ZMTP: flags, of which 1 says that more follow, the length, and the frame.
                proxy.send(bytes([1, len(header)]) + header + b"\1\1x" * (count - 1))
                time.sleep(0.5)
                begun = time_on_processor(follower.process, "islet-client")
                proxy.send(b"\0\1x")
                deadline = Deadline(DEADLINE)
                while time_on_processor(follower.process, "islet-client") < begun + 1_000_000 * milliseconds:
                    assert not deadline.passed, "what came is not read"
                proxy.cut()
                # It is no answer of a service.
                assert follower.wait() == 1, follower.messages
            finally:
                proxy.close()


def test_a_tail_asks_the_service_where_its_streams_are(service, running, client):
    follower = running("tail", "com.example.pizza/", "--commands", service.commands, "--limit", "1", env=environment())
    follower.message("following")
    client.start()
    assert follower.wait() == 0


@pytest.mark.parametrize("named", ["bulk", "events"])
def test_the_service_says_of_each_stream_that_nobody_named_where_it_is(service, client, named):
    client.start()
    words = ("--commands", service.commands, f"--{named}", getattr(service, named), "--timeout", "5s")
    done = run("tail", "--since", "1h", "--limit", "1", *words, env=environment())
    assert "1 event, 0 missed" in done.stderr, done.stderr
    done = run("apps", *words, env=environment())
    assert done.returncode == 0 and "com.example.pizza" in done.stdout, done.stderr


def test_a_tail_since_a_while_begins_in_the_past_and_goes_on_without_gap_or_double(tail, client, events):
    client.start(key="old")
    client.advance(by=20 * MINUTE)
    client.start(key="order-7", staleDate=after(30 * MINUTE))
    client.advance(by=5 * MINUTE)
    client.applied("activity.update", key="order-7", contentState={"eta": 1})
    published = [events.raw_next()[2].decode() for _ in range(3)]
    follower = tail("--json", "--since", "10m")
    assert follower.lines(2) == published[1:]
    client.applied("activity.end", key="order-7")
    assert follower.lines(3)[2] == events.raw_next()[2].decode()
    assert follower.end() == 0
    assert follower.messages == ["com.example.pizza: following from seq 1", "3 events, 0 missed"]


def test_what_has_an_id_now_says_nothing_of_who_had_it_before(tail, client):
    id = "0198aaaa-0000-7000-8000-00000000000a"
    client.start(id=id, key="first", type="Delivery", staleDate=after(HOUR))
    client.advance(by=MINUTE)
    client.applied("activity.update", id=id, contentState={"eta": 1})
    client.applied("activity.dismiss", id=id)
    client.advance(by=25 * HOUR)
    client.start(id=id, key="second", type="Delivery")
    client.applied("activity.update", id=id, contentState={"eta": 2})
    seen = tail("--since", "25h30s", "--limit", "1", "--filter", "key=second")
    assert seen.wait() == 0
    assert "→ active" in seen.data[1], "what came before was another's"
    seen = tail("--since", "25h30s", "--limit", "4")
    assert seen.wait() == 0
    lines = [line.split() for line in seen.data if not line.endswith("UTC")]
    names = [next(word for word in line if word.startswith("Delivery/")) for line in lines]
    assert names == ["Delivery/00000000000a"] * 2 + ["Delivery/second"] * 2


def test_a_past_event_tells_no_deadline_that_was_set_later(tail, client):
    client.start(key="order-7", staleDate=after(HOUR))
    client.advance(by=MINUTE)
    client.applied("activity.update", key="order-7", contentState={"eta": 1}, staleDate=after(HOUR))
    client.applied("activity.update", key="order-7", contentState={"eta": 2}, staleDate=after(2 * HOUR))
    seen = tail("--since", "30s", "--limit", "2")
    assert seen.wait() == 0
    first, second = seen.data[1:]
    assert "Delivery/order-7" in first and "stale in" not in first
    assert "stale in 1 h 59 m" in second


@pytest.mark.parametrize("since, expected", [("0s", []), ("1h", [1, 2, 3]), ("2026-01-01T00:10Z", [2, 3]),
                                             ("2026-01-01T00:20Z", [3])])
def test_since_is_exact_to_the_event(tail, client, since, expected):
    for number in range(3):
        client.start(key=f"k{number}")
        client.advance(by=10 * MINUTE)
    follower = tail("--json", "--since", since)
    follower.message("following from")
    client.start(key="last")
    lines = [json.loads(line)["seq"] for line in follower.lines(len(expected) + 1)]
    assert lines == [*expected, 4]


def test_since_finds_its_place_among_very_many(tail, client):
    """More than fits one chunk, so that it has to be searched for; each event comes once."""
    for number in range(30):
        client.batch(*(
            client.command("activity.start", type="T", attributes={}, contentState={}) for _ in range(100)))
        client.advance(by=MINUTE)
    # The events of minute n have the seqs from 100 n + 1 on; the clock stands at minute 30.
    follower = tail("--json", "--since", "11m", "--limit", "1100")
    assert follower.wait() == 0
    assert [json.loads(line)["seq"] for line in follower.data] == list(range(1_901, 3_001))


def test_since_of_several_apps_with_a_prefix_and_a_filter(islet, running, client):
    client.start(key="a")
    client.advance(by=MINUTE)
    client.applied("activity.start", app="com.example.taxi", type="Ride", attributes={}, contentState={}, key="b")
    client.advance(by=MINUTE)
    client.applied("activity.start", app="com.example.taxi", type="Trip", attributes={}, contentState={}, key="c")
    client.advance(by=MINUTE)
    client.start(key="d")
    everything = running("tail", "--json", "--since", "1h", "--limit", "4", env={**islet.env, "ISLET_APP": ""})
    assert everything.wait() == 0
    keys = [json.loads(line)["activity"]["key"] for line in everything.data]
    assert keys == ["a", "b", "c", "d"], "by date, over all apps"
    part = running("tail", "com.example.taxi/activity/Ride/", "--json", "--since", "1h", "--limit", "1",
                   env=islet.env)
    assert part.wait() == 0 and json.loads(part.data[0])["activity"]["key"] == "b"
    fitting = running("tail", "--app", "com.example.taxi", "--since", "1h", "--limit", "1", "--filter", "key=c",
                      env=islet.env)
    assert fitting.wait() == 0 and "Trip/c" in fitting.data[-1]


def test_since_says_what_the_service_does_not_keep_any_more(running, wire, tmp_path):
    durable = Durable(
        wire, tmp_path / "data",
        env={"ISLET_JOURNAL_SEGMENT_BYTES": "65536", "ISLET_JOURNAL_RETENTION_BYTES": "262144"}).start()
    id = durable.client.start()["id"]
    for eta in range(2_000):
        durable.client.applied("activity.update", id=id, contentState={"eta": eta, "text": "x" * 500})
    durable.stop().start()
    try:
        follower = running("tail", "--json", "--since", "1d", env=Islet(durable.service).env)
        follower.message(r"^com.example.pizza: what happened before 20\d\d-.* UTC is not kept any more$")
        follower.wait_until(lambda: follower.data and json.loads(follower.data[-1])["seq"] == 2_001)
        seqs = [json.loads(line)["seq"] for line in follower.data]
        assert seqs[0] > 1 and seqs == list(range(seqs[0], 2_002)), "no gap after the beginning"
        assert follower.end() == 0
    finally:
        durable.stop()


def test_a_tail_outlives_a_restart_and_tells_of_the_new_history(serve, running, wire):
    first = serve()
    endpoints = {"--commands": first.commands, "--events": first.events, "--bulk": first.bulk}
    Commands(wire, first.commands).start()
    follower = running("tail", "--json", env=Islet(first).env)
    follower.message("following from seq 1")
    first.stop()
    follower.message("stopping")
    second = serve(endpoints)
    follower.message("new history")
    Commands(wire, second.commands).start()
    assert len(follower.lines(1)) == 1


def test_a_tail_may_be_started_before_the_service(serve, running, wire, tmp_path):
    # Addresses that nobody else takes meanwhile.
    endpoints = {f"--{name}": f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    follower = running("tail", "--commands", endpoints["--commands"], "--limit", "1", env=environment())
    follower.message("waiting for")
    client = Commands(wire, serve(endpoints).commands)
    follower.message("following")
    client.start()
    assert follower.wait() == 0


def test_the_demo_says_what_to_try_and_each_of_it_works(running, tmp_path):
    urls = [word for name in ("commands", "events", "bulk") for word in (f"--{name}", f"ipc://{tmp_path}/{name}")]
    demo = running("dev", "--no-demo", *urls, env=environment())
    demo.message("islet info")
    tried = [line.strip() for line in demo.messages if line.startswith("  ")]
    assert len(tried) == 6
    for line in tried:
        words = line.replace("'", "").split()[1:]
        if words[0] not in ("tail", "top"):
            done = run(*words, env=environment())
            assert done.returncode == 0, (line, done.stderr)
    assert demo.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_demo_stops_when_asked_in_the_middle_of_a_morning(running, tmp_path, number):
    urls = [word for name in ("commands", "events", "bulk") for word in (f"--{name}", f"ipc://{tmp_path}/{name}")]
    demo = running("dev", *urls, env=environment())
    follower = running("tail", "--limit", "3", "--commands", f"ipc://{tmp_path}/commands", env=environment())
    assert follower.wait() == 0
    assert demo.end(number) == 0
    assert not any("rror" in line for line in demo.messages)


def test_what_was_given_up_while_there_was_no_bulk_endpoint_is_not_asked_for_later(tail, client, tmp_path):
    """A question is given up after five seconds and asked again: who comes at last hears nothing of those before."""
    client.start()
    url = f"ipc://{tmp_path}/bulk"
    tail("--since", "10m", "--app", "com.example.pizza", "--bulk", url, "--timeout", "10m")
    time.sleep(7)
    context = zmq.Context()
    try:
        with context.socket(zmq.ROUTER) as router:
            router.setsockopt(zmq.LINGER, 0)
            router.bind(url)
            assert router.poll(DEADLINE * 1_000)
            question = json.loads(router.recv_multipart()[1])
        assert question["op"] == "bulk.replay" and question["req"] != "p-1", question
    finally:
        context.term()


def test_a_slow_reader_of_much_gives_up_each_pull_that_it_has_enough_of(islet, client, service):
    """Each that is left open holds one of the service's places for half a minute."""
    client.start(key="order-7")
    for first in range(0, 40_000, 200):
        client.batch(*(client.command("activity.update", key="order-7", contentState={"n": first + each})
                       for each in range(200)))
    proxy = Proxy(service.bulk)
    process = islet.begin("tail", "--json", "--since", "1h", ISLET_BULK=proxy.url)
    try:
        for _ in range(6):
            for _ in range(6_000):
                assert process.stdout.readline()
            time.sleep(0.3)  # it reads ahead until it has enough
        assert proxy.sent.count(b"bulk.replay") >= 3
        assert proxy.sent.count(b"bulk.cancel") >= proxy.sent.count(b"bulk.replay") - 1
    finally:
        process.kill()
        process.communicate()
        proxy.close()


def test_by_a_slow_connection_what_was_asked_for_comes(islet, running, client, service):
    """A chunk takes two and a half seconds here, so that what is asked for anew because others came first, or what nobody
    needs, stands before all that is asked for next."""
    client.start(key="order-7")
    count = 400
    for first in range(0, count, 50):
        client.batch(*(client.command("activity.update", key="order-7", contentState={"n": first + each, "text": "x" * 3_000})
                       for each in range(50)))
    proxy = Proxy(service.bulk, bytes_per_second=100_000)
    try:
        follower = running("tail", "--since", "1h", "--json", env={**islet.env, "ISLET_BULK": proxy.url})
        assert [json.loads(line)["seq"] for line in follower.lines(count + 1)] == list(range(1, count + 2))
    finally:
        proxy.close()


MORE_THAN_A_JOIN_ANSWERS = "there are more than 1 000 apps, which nobody follows at once (tooMany): name one with --app, or " \
    "as a prefix"


def begin_apps(client, count):
    for first in range(0, count, 91):
        client.batch(*(
            client.command("activity.start", app=f"com.example.n{n}", type="T", attributes={}, contentState={})
            for n in range(first, min(first + 91, count))))


@pytest.mark.parametrize("words", [[], ["--since", "1h"]], ids=" ".join)
def test_more_apps_than_a_join_answers_are_followed_one_by_one(islet, client, words):
    begin_apps(client, 1001)
    done = islet("tail", *words, code=6, ISLET_APP="")
    assert f"{MORE_THAN_A_JOIN_ANSWERS}\n" in done.err
    islet("tail", "--since", "1h", "--limit", "1", "--app", "com.example.n7")


def test_a_tail_under_which_there_come_to_be_more_apps_says_what_to_do(islet, tail, client):
    begin_apps(client, 1000)
    follower = tail(env={**islet.env, "ISLET_APP": ""})
    follower.message("^com.example.n999: following from seq 1$")
    client.start(app="com.example.taxi")
    assert follower.wait() == 6
    assert MORE_THAN_A_JOIN_ANSWERS in follower.messages


# What never changes of an entity, and stands in its first event only


def on_a_phone(client, device="phone-1"):
    """Four events of an activity on a phone."""
    client.start(key="order-1", device=device, attributes={"restaurant": "Napoli"})
    client.applied("activity.update", key="order-1", device=device, contentState={"eta": 2})
    client.applied("activity.end", key="order-1", device=device)
    client.applied("activity.dismiss", key="order-1", device=device)


def followed(islet, filter, *words):
    return [(event["event"], event["seq"]) for event in map(json.loads, islet(
        "tail", "--since", "1h", "--json", "--filter", filter, *words).out.splitlines())]


@pytest.mark.parametrize("filter", [
    "device=phone-1", "device", "not device=phone-2", "attributes.restaurant=Napoli", "style=standard", "key=order-1",
    "startedAt>2020-01-01", "device=phone-1 and contentState.eta!=3",
])
def test_what_never_changes_counts_in_each_event_of_an_entity(islet, tail, client, filter):
    names = ["activity.started", "activity.updated", "activity.ended", "activity.dismissed"]
    follower = tail("--json", "--filter", filter)
    follower.message("following from the beginning")
    client.start(type="Ride")
    client.applied("group.create", group="g")
    on_a_phone(client)
    wanted = names if filter not in ("not device=phone-2", "style=standard", "startedAt>2020-01-01") else ["activity.started", *names]
    assert [json.loads(line)["event"] for line in follower.lines(len(wanted))] == wanted
    assert [name for name, _ in followed(islet, filter, "--limit", str(len(wanted)))] == wanted


def test_the_opposite_does_not_show_later_events_of_what_has_it(tail, client):
    follower = tail("--json", "--filter", "not device")
    follower.message("following from the beginning")
    on_a_phone(client)
    client.start(key="order-2")
    assert json.loads(follower.lines(1)[0])["activity"]["key"] == "order-2"
    assert len(follower.data) == 1


@pytest.mark.parametrize("words", [(), ("--since", "1m")], ids=" ".join)
def test_what_began_before_the_tail_is_asked_for(tail, client, words):
    client.start(key="order-1", device="phone-1")
    client.start(key="order-2")
    client.advance(by=10 * MINUTE)
    follower = tail("--json", "--filter", "device=phone-1", *words)
    if not words:
        follower.message("following from")
    client.applied("activity.update", key="order-2", contentState={"eta": 2})
    client.applied("activity.update", key="order-1", device="phone-1", contentState={"eta": 2})
    assert json.loads(follower.lines(1)[0])["activity"]["id"] == client.get(key="order-1", device="phone-1")["id"]


class Evasive(CommandRelay):
    """Lets the first question about an activity go unanswered, or be refused for now, however often it is sent."""

    def __init__(self, url, refuses):
        self.refuses, self.first = refuses, None
        super().__init__(url)

    def forth(self, frames):
        command = json.loads(frames[-1])
        if self.first is None and command["op"] == "activity.get":
            self.first = command["req"]
        return None if self._is_first(command) and not self.refuses else frames

    def back(self, frames):
        if self._is_first(json.loads(frames[-1])):
            error = {"code": "unavailable", "message": "the service is stopping", "retry": "later"}
            frames[-1] = encode({"req": self.first, "ok": False, "error": error})
        return frames

    def _is_first(self, message):
        return self.first is not None and message.get("req") == self.first


@pytest.mark.parametrize("refuses", [False, True], ids=["unanswered", "refused"])
def test_what_a_filter_decides_by_is_asked_for_until_it_is_answered(islet, tail, service, client, refuses):
    """A service that is stopped, or killed, right behind an event says nothing of it until it is back."""
    client.start(key="order-1", device="phone-1")
    relay = Evasive(service.commands, refuses)
    try:
        follower = tail("--json", "--filter", "device=phone-1", env={**islet.env, "ISLET_COMMANDS": relay.url})
        follower.message("following from")
        for eta in (2, 3):
            client.applied("activity.update", key="order-1", device="phone-1", contentState={"eta": eta})
        shown = [json.loads(line)["activity"]["contentState"]["eta"] for line in follower.lines(2)]
        assert shown == [2, 3] and relay.first is not None
        follower.message(f"waiting for {relay.url} to say what the filter asks of ")
    finally:
        relay.close()


def test_controls_on_a_phone_are_followed_as_well(wire, service, tail, client):
    provider = RawProvider(wire, service.commands, toggle(), app=client.app)
    id, other = [client.applied("control.add", kind=TORCH, device=device)["control"]["id"]
                 for device in ("phone-1", "phone-2")]
    for _ in range(2):
        provider.gives(False)
    until(lambda: all(client.read("control.get", id=each)["control"]["state"] == "shown" for each in (id, other)))
    follower = tail("--json", "--filter", "device=phone-1 or event=control.removed")
    follower.message("following from")
    for each in (other, id):
        client.applied("control.reload", id=each)
    # Of what is removed before it is asked for nobody knows the device.
    follower.lines(1)
    client.applied("control.remove", id=id)
    client.applied("control.remove", id=other)
    # A change of what is on another one is not among them.
    events = [json.loads(line) for line in follower.lines(3)]
    assert [event["control"]["id"] for event in events[:2]] == [id, id] and events[-1]["event"] == "control.removed"


def test_a_history_has_what_never_changes_in_each_event(islet, client):
    on_a_phone(client)
    ask = lambda filter: len(islet(
        "activity", "history", "order-1", "--device", "phone-1", "--json", "--filter", filter).out.splitlines())
    assert [ask(filter) for filter in ("device=phone-1", "not device", "key=order-1")] == [4, 0, 4]


@pytest.mark.parametrize("filter, count", [("by.req=job.up", 1), ("by.client", 1), ("by~job", 1), ("alert.title=Hi", 1)])
def test_an_event_is_asked_for_who_caused_it_and_its_alert(islet, client, filter, count):
    client.start(key="order-1")
    client.ask("activity.update", key="order-1", contentState={"eta": 2}, alert={"title": "Hi", "body": "there"},
               client="0198c0de-0000-7000-8000-00000000000a", req="job.up")
    shown = followed(islet, filter, "--limit", "1")
    assert [name for name, _ in shown] == ["activity.updated"]

"""The contract's limits of connections and subscriptions: who has one too many is cut, and nobody else notices."""

import contextlib
import resource
import select
import socket

import pytest

from support.commands import Commands
from support.events import Events
from support.small_disk import until

CONNECTIONS, SUBSCRIPTIONS = 1_024, 1_000


@pytest.fixture
def many_files():
    """This process may open as many files as it may at most, for a while."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))
    yield min(hard, 8_192)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def raw_connections(endpoint, count):
    port = int(endpoint.rsplit(":", 1)[1])
    return [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]


def shut(connections):
    """Those that were shut from the other side; what they were greeted with is read."""
    found = set()
    poll = select.poll()
    for each in connections:
        poll.register(each, select.POLLIN)
    by_number = {each.fileno(): each for each in connections}
    for number, _ in poll.poll(0):
        with contextlib.suppress(ConnectionResetError):
            if by_number[number].recv(4_096, socket.MSG_DONTWAIT):
                continue
        found.add(number)
    return found


def test_connections_beyond_the_limit_are_shut(wire, serve, many_files):
    wanted = CONNECTIONS + 76
    if many_files < wanted + 200:
        pytest.skip("so many connections are more than this process may open")
    service = serve()
    client = Commands(wire, service.commands)
    client.start()
    connections = raw_connections(service.commands, wanted)
    try:
        gone = set()

        def are_shut():
            gone.update(shut([each for each in connections if each.fileno() not in gone]))
            return len(gone) >= wanted + 1 - CONNECTIONS

        until(are_shut)
        client.start()
        assert service.line(rf"connections were shut: at most {CONNECTIONS} are taken")
    finally:
        for each in connections:
            each.close()
    # There is room again when they have gone.
    Commands(wire, service.commands).start()


def test_a_subscriber_with_too_many_subscriptions_is_cut_and_nobody_else(wire, serve):
    service = serve()
    client = Commands(wire, service.commands)
    other = Events(wire, service.events, client.app + "/")
    other.join()
    greedy = Events(wire, service.events)
    for number in range(100_000):
        greedy.subscribe(f"com.example.greedy/activity/order/{number:060}")
    service.line(rf"subscribers were cut: a peer has at most {SUBSCRIPTIONS} subscriptions")
    before = service.resident
    client.start()
    other.next("started")
    assert service.resident < before + (64 << 20)


def test_long_topics_of_many_subscribers_are_bounded_and_the_others_stay(wire, serve):
    """Each subscriber is within its own limits, and all of them together make a trie through which ZeroMQ walks whenever one of
    them leaves."""
    service = serve()
    client = Commands(wire, service.commands)
    small = [Events(wire, service.events, f"{client.app}/") for _ in range(3)]
    for events in small:
        events.join()
    before = service.resident
    greedy = [Events(wire, service.events) for _ in range(10)]
    for place, events in enumerate(greedy):
        for number in range(SUBSCRIPTIONS - 1):
            events.subscribe(f"{place}-{number:03}-".ljust(240, "x"))
    service.line(r"subscribers were cut: .* differ in at most 2 MiB")
    client.start()
    for events in small:
        events.next("started")
    assert service.resident < before + (128 << 20)
    # Who was cut subscribes again as soon as it looks at its socket, again and again; others are still taken beside it.
    late = Events(wire, service.events, f"{client.app}/")
    topic = late.ask_to_join()

    def is_joined():
        for events in greedy:
            events.socket.poll(0)
        # A watermark may come before the answer.
        return late.socket.poll(0) and wire.receive(late.socket)[0] == topic

    until(is_joined, seconds=60)
    client.start()
    late.next("started")


def test_a_peer_may_have_as_many_subscriptions_as_the_contract_says(wire, serve):
    service = serve()
    client = Commands(wire, service.commands)
    events = Events(wire, service.events, client.app + "/")
    for number in range(SUBSCRIPTIONS - 2):
        events.subscribe(f"com.example.other/activity/order/{number}")
    events.join()
    client.start()
    events.next("started")
    assert "were cut" not in service.log


def test_subscriptions_that_come_and_go_are_no_more_than_there_are(wire, serve):
    """Also of a topic that somebody else stays subscribed to."""
    service = serve()
    client = Commands(wire, service.commands)
    others, events = Events(wire, service.events, "com.example.shared/"), Events(wire, service.events, client.app + "/")
    others.join()
    for _ in range(2 * SUBSCRIPTIONS):
        events.subscribe("com.example.shared/")
        events.socket.setsockopt(wire.zmq.UNSUBSCRIBE, b"com.example.shared/")
    events.join()
    client.start()
    events.next("started")
    assert "were cut" not in service.log


def test_subscriptions_end_with_their_connection(wire, serve):
    """A descriptor's number comes again, and its next connection begins with nothing."""
    service = serve()
    client = Commands(wire, service.commands)
    for _ in range(4):
        events = Events(wire, service.events, client.app + "/")
        for number in range(SUBSCRIPTIONS // 2):
            events.subscribe(f"com.example.other/{number}")
        events.join()
        events.socket.close()
    events = Events(wire, service.events, client.app + "/")
    events.join()
    client.start()
    events.next("started")
    assert "were cut" not in service.log


def test_one_app_too_many_is_refused_with_the_limit_of_apps(wire, serve):
    """And leaves nothing behind."""
    service = serve({"--clock": "manual"})
    client = Commands(wire, service.commands)
    apps, members = 100_000, 64
    names = [[f"a.{number}" for number in range(first, first + members)] for first in range(0, apps, members)]
    names[-1] = names[-1][: members - len(names) * members + apps]
    groups = [
        client.command("group.create", app=these[0], group=f"g.{index}", members=these[1:])
        for index, these in enumerate(names)]
    for first in range(0, len(groups), 250):
        answers = client.batch(*groups[first : first + 250])
        assert all(answer["ok"] for answer in answers), answers
    assert client.read("service.stats")["stats"]["apps"] == apps
    error = client.refused("activity.start", app="b.1", type="o", attributes={}, contentState={}, device="phone")
    assert (error["code"], error["detail"]) == ("quotaExceeded", {"limit": apps})
    assert client.read("service.stats")["stats"]["devices"] == 0


def test_a_named_join_costs_the_same_however_many_apps_there_are(wire, serve):
    """Counted in processor time: one that looked at each of them would take a hundred times as much."""
    service = serve({"--clock": "manual"})
    client = Commands(wire, service.commands)
    client.start()
    few = min(cost_of_joins(wire, service, client.app) for _ in range(3))
    for first in range(0, 50_000, 64):
        client.applied("group.create", app=f"a.{first}", group=f"g.{first}",
                       members=[f"a.{number}" for number in range(first + 1, first + 64)])
    many = min(cost_of_joins(wire, service, client.app) for _ in range(3))
    assert many < 3 * few + 30, f"{few} ticks with one app, {many} with 50,000"


def cost_of_joins(wire, service, app):
    """The ticks of the processor (a hundredth of a second each) that 3,600 joins take, each of which names an app."""
    subscribers = [Events(wire, service.events) for _ in range(4)]
    for each in subscribers:
        each.join(app)
    before = ticks(service.process.pid)
    for each in subscribers:
        for _ in range(900):
            each.ask_to_join(app)
    for each in subscribers:
        each.join(app)
    spent = ticks(service.process.pid) - before
    for each in subscribers:
        each.socket.close(linger=0)
    return spent


def ticks(pid):
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return int(user) + int(system)

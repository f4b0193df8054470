"""Commands that come to a service through a tunnel, and streams that do not: whose they are is looked at before they are read."""

import itertools

import pytest

from support.cli import Islet
from support.relay import CommandRelay
from support.running import Running
from support.service import environment


class Tunnel(CommandRelay):
    """The `streams` of the service have the addresses of another one's here: `ssh -L` of one port, or of two."""

    def __init__(self, far, near, streams=("events", "bulk")):
        self.names = {getattr(far, name).encode(): getattr(near, name).encode() for name in streams}
        super().__init__(far.commands)

    def back(self, frames):
        return list(map(self._renamed, frames))

    def _renamed(self, frame):
        for far, near in self.names.items():
            frame = frame.replace(far, near)
        return frame


@pytest.fixture
def far(serve):
    service = serve()
    Islet(service)("activity", "start", "order-1", "--type", "T", "--state", "{}")
    return service


@pytest.fixture
def near(serve):
    return serve()


@pytest.fixture
def tunnel(far, near):
    made = Tunnel(far, near)
    yield made
    made.close()


@pytest.mark.parametrize("words", [
    ("activity", "list", "--all"), ("apps",), ("wait", "order-1", "--for", "stale", "--timeout", "3s")])
def test_the_streams_of_another_service_are_not_read(far, near, tunnel, words):
    done = Islet(far)(*words, "--commands", tunnel.url, code=2)
    assert done.out == ""
    assert f"{near.events}: it has the events of another service than {tunnel.url}" in done.err


def test_a_tail_does_not_follow_them(far, near, tunnel):
    tail = Running("tail", "--commands", tunnel.url, env=environment())
    try:
        assert tail.wait() == 2
        assert tail.data == [] and "the events of another service" in tail.messages[-1]
    finally:
        tail.kill()


def test_the_doctor_says_whose_they_are(far, near, tunnel):
    done = Islet(far)("doctor", "--commands", tunnel.url, code=1)
    assert "it has the events of another service" in done.out, done.out


@pytest.fixture
def narrow(far, near):
    """One through which the events pass too."""
    made = Tunnel(far, near, ["bulk"])
    yield made
    made.close()


@pytest.mark.parametrize("words", [("tail", "--since", "1h"), ("tail",), ("wait", "order-1", "--for", "stale", "--timeout", "3s")])
def test_nothing_is_replayed_from_another_service(far, near, narrow, words):
    running = Running(*words, "--commands", narrow.url, env=environment())
    try:
        assert running.wait() == 2
        assert running.data == []
        said = f"{near.bulk}: it has the snapshots and replays of another service than {narrow.url}"
        assert said in running.messages[-1]
    finally:
        running.kill()


@pytest.mark.parametrize("words", [("activity", "list", "--all"), ("apps",)])
def test_what_needs_no_bulk_does_not_look_at_it(far, narrow, words):
    done = Islet(far)(*words, "--commands", narrow.url)
    assert ("order-1" if "list" in words else "com.example.pizza") in done.out


def test_the_doctor_says_whose_bulk_it_is(far, near, narrow):
    done = Islet(far)("doctor", "--commands", narrow.url, code=1)
    assert f"{near.bulk}: it has the snapshots and replays of another service" in done.out, done.out
    assert f"{far.events} lets subscribers in" in done.out


def test_the_doctor_looks_at_streams_that_are_named_too(far, near):
    own = ("--commands", far.commands, "--events", far.events, "--bulk", far.bulk)
    assert "of another service" not in Islet(far)("doctor", *own, code=None).out
    done = Islet(far)(
        "doctor", "--commands", far.commands, "--events", near.events, "--bulk", near.bulk, code=1)
    assert f"{near.events}: it has the events of another service" in done.out
    assert f"{near.bulk}: it has the snapshots and replays of another service" in done.out


@pytest.mark.parametrize("words, foreign, what", [
    (("tail",), ("events", "bulk"), "events"), (("tail",), ("events",), "events"),
    (("tail", "--since", "1h"), ("bulk",), "snapshots and replays")])
def test_streams_that_are_named_are_not_followed_where_they_are_of_another_service(far, near, words, foreign, what):
    Islet(near)("activity", "start", "not-of-here", "--type", "T", "--state", "{}")
    flags = {f"--{name}": getattr(near if name in foreign else far, name) for name in ("commands", "events", "bulk")}
    running = Running(*words, *itertools.chain(*flags.items()), env=environment())
    try:
        assert running.wait() == 2
        assert running.data == []
        url = flags["--bulk" if foreign == ("bulk",) else "--events"]
        assert f"{url}: it has the {what} of another service than {far.commands}" in running.messages[-1]
    finally:
        running.kill()


def test_streams_that_are_named_are_read(far, near, tunnel):
    done = Islet(far)(
        "activity", "list", "--all", "--commands", tunnel.url, "--events", far.events, "--bulk", far.bulk)
    assert "order-1" in done.out

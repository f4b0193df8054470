"""Commands that come to a service through a tunnel, and streams that do not: whose they are is looked at before they are read."""

import threading

import pytest
import zmq

from support.cli import Islet
from support.running import Running
from support.service import environment


class Tunnel:
    """Stands between commands and a service, whose `streams` have the addresses of another one's here: `ssh -L` of one port,
    or of two."""

    def __init__(self, far, near, streams=("events", "bulk")):
        self.far = far
        self.names = {getattr(far, name).encode(): getattr(near, name).encode() for name in streams}
        self.context = zmq.Context()
        self.front = self.context.socket(zmq.ROUTER)
        self.front.bind("tcp://127.0.0.1:*")
        self.commands = self.front.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0")
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        backs = {}
        poller = zmq.Poller()
        poller.register(self.front, zmq.POLLIN)
        while not self.stopping.is_set():
            for socket, _ in poller.poll(50):
                if socket is not self.front:
                    self.front.send_multipart([backs[socket], *map(self._renamed, socket.recv_multipart())])
                    continue
                peer, *frames = socket.recv_multipart()
                back = next((back for back, owner in backs.items() if owner == peer), None)
                if back is None:
                    back = self.context.socket(zmq.DEALER)
                    back.connect(self.far.commands)
                    backs[back] = peer
                    poller.register(back, zmq.POLLIN)
                back.send_multipart(frames)

    def _renamed(self, frame):
        for far, near in self.names.items():
            frame = frame.replace(far, near)
        return frame

    def close(self):
        self.stopping.set()
        self.thread.join()
        self.context.destroy(0)


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
    done = Islet(far)(*words, "--commands", tunnel.commands, code=2)
    assert done.out == ""
    assert f"{near.events}: it has the events of another service than {tunnel.commands}" in done.err


def test_a_tail_does_not_follow_them(far, near, tunnel):
    tail = Running("tail", "--commands", tunnel.commands, env=environment())
    try:
        assert tail.wait() == 2
        assert tail.data == [] and "the events of another service" in tail.messages[-1]
    finally:
        tail.kill()


def test_the_doctor_says_whose_they_are(far, near, tunnel):
    done = Islet(far)("doctor", "--commands", tunnel.commands, code=1)
    assert "it has the events of another service" in done.out, done.out


@pytest.fixture
def narrow(far, near):
    """One through which the events pass too."""
    made = Tunnel(far, near, ["bulk"])
    yield made
    made.close()


@pytest.mark.parametrize("words", [("tail", "--since", "1h"), ("tail",), ("wait", "order-1", "--for", "stale", "--timeout", "3s")])
def test_nothing_is_replayed_from_another_service(far, near, narrow, words):
    running = Running(*words, "--commands", narrow.commands, env=environment())
    try:
        assert running.wait() == 2
        assert running.data == []
        said = f"{near.bulk}: it has the snapshots and replays of another service than {narrow.commands}"
        assert said in running.messages[-1]
    finally:
        running.kill()


@pytest.mark.parametrize("words", [("activity", "list", "--all"), ("apps",)])
def test_what_needs_no_bulk_does_not_look_at_it(far, narrow, words):
    done = Islet(far)(*words, "--commands", narrow.commands)
    assert ("order-1" if "list" in words else "com.example.pizza") in done.out


def test_the_doctor_says_whose_bulk_it_is(far, near, narrow):
    done = Islet(far)("doctor", "--commands", narrow.commands, code=1)
    assert f"{near.bulk}: it has the snapshots and replays of another service" in done.out, done.out
    assert f"{far.events} lets subscribers in" in done.out


def test_the_doctor_looks_at_streams_that_are_named_too(far, near):
    own = ("--commands", far.commands, "--events", far.events, "--bulk", far.bulk)
    assert "of another service" not in Islet(far)("doctor", *own, code=None).out
    done = Islet(far)(
        "doctor", "--commands", far.commands, "--events", near.events, "--bulk", near.bulk, code=1)
    assert f"{near.events}: it has the events of another service" in done.out
    assert f"{near.bulk}: it has the snapshots and replays of another service" in done.out


def test_streams_that_are_named_are_read(far, near, tunnel):
    done = Islet(far)(
        "activity", "list", "--all", "--commands", tunnel.commands, "--events", far.events, "--bulk", far.bulk)
    assert "order-1" in done.out

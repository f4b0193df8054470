"""Commands that come to a service through a tunnel, and streams that do not: whose they are is looked at before they are read."""

import threading

import pytest
import zmq

from support.cli import Islet
from support.running import Running
from support.service import environment


class Tunnel:
    """Stands between commands and a service, whose streams have the addresses of another one's here: `ssh -L` of one port."""

    def __init__(self, far, near):
        self.far = far
        self.names = {getattr(far, name).encode(): getattr(near, name).encode() for name in ("events", "bulk")}
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


def test_streams_that_are_named_are_read(far, near, tunnel):
    done = Islet(far)(
        "activity", "list", "--all", "--commands", tunnel.commands, "--events", far.events, "--bulk", far.bulk)
    assert "order-1" in done.out

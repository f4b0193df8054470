"""ZeroMQ sockets of either implementation, and waiting with a deadline."""

import importlib
import time

DEADLINE = 60.0
"""Seconds after which a thing that was waited for counts as not happening."""

QUIET = 0.3
"""Seconds that must pass in silence where a test says that nothing comes."""

MODULES = {"pyzmq": "zmq", "pyomq": "pyomq"}


class Deadline:
    """A moment by which something must have happened."""

    def __init__(self, seconds=DEADLINE):
        self.at = time.monotonic() + seconds

    @property
    def milliseconds(self):
        """What is left, never negative."""
        return max(0, int((self.at - time.monotonic()) * 1000))

    @property
    def passed(self):
        return time.monotonic() >= self.at


class Silence(Exception):
    """Nothing came before the deadline."""


class Wire:
    """One implementation of ZeroMQ: `pyzmq` wraps libzmq, `pyomq` is written in Rust and shares nothing with it."""

    def __init__(self, name):
        self.name = name
        self.zmq = importlib.import_module(MODULES[name])
        self.context = self.zmq.Context()
        self.sockets = []

    def socket(self, kind, url, **options):
        """A connected socket of the kind `DEALER`, `REQ`, `SUB` …; options by their names in lower case."""
        socket = self.context.socket(getattr(self.zmq, kind))
        socket.setsockopt(self.zmq.LINGER, 0)
        for name, value in options.items():
            socket.setsockopt(getattr(self.zmq, name.upper()), value)
        socket.connect(url)
        self.sockets.append(socket)
        return socket

    def receive(self, socket, seconds=DEADLINE):
        """The next whole message as a list of frames; raises `Silence` where none comes in time."""
        if not socket.poll(int(seconds * 1000), self.zmq.POLLIN):
            raise Silence(f"nothing within {seconds} s")
        return socket.recv_multipart()

    def close(self):
        for socket in self.sockets:
            socket.close()
        self.context.term()

"""A relay between clients and a service's commands, which may change or keep what goes through it."""

import threading

import zmq


class CommandRelay:
    """`url` is where clients connect. What they send, and what they are answered, goes through `forth` and `back`."""

    def __init__(self, service):
        """`service` is the address of the service's commands."""
        self.service = service
        self._context = zmq.Context()
        self._front = self._context.socket(zmq.ROUTER)
        self._front.bind("tcp://127.0.0.1:*")
        self.url = self._front.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0")
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def forth(self, frames):
        """What the service gets of a client's message; None: nothing."""
        return frames

    def back(self, frames):
        """What the client gets of the service's message."""
        return frames

    def _run(self):
        backs = {}
        poller = zmq.Poller()
        poller.register(self._front, zmq.POLLIN)
        while not self._stopping.is_set():
            for socket, _ in poller.poll(50):
                if socket is not self._front:
                    self._front.send_multipart([backs[socket], *self.back(socket.recv_multipart())])
                    continue
                peer, *frames = socket.recv_multipart()
                back = next((back for back, owner in backs.items() if owner == peer), None)
                if back is None:
                    back = self._context.socket(zmq.DEALER)
                    back.connect(self.service)
                    backs[back] = peer
                    poller.register(back, zmq.POLLIN)
                if (passed := self.forth(frames)) is not None:
                    back.send_multipart(passed)

    def close(self):
        self._stopping.set()
        self._thread.join()
        self._context.destroy(0)

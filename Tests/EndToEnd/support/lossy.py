"""A relay between the service's events and a subscriber that loses what it is told to lose."""

import json
import threading

import zmq


class LossyRelay:
    """`url` is where subscribers connect; events whose `seq` is in `lose` do not get through the first time."""

    def __init__(self, events, lose):
        self.lose = set(lose)
        self.lost = []
        self._context = zmq.Context()
        self._front = self._context.socket(zmq.XPUB)
        self._front.setsockopt(zmq.XPUB_VERBOSE, 1)
        self._front.bind("tcp://127.0.0.1:*")
        self.url = self._front.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0")
        self._back = self._context.socket(zmq.XSUB)
        self._back.connect(events)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        poller = zmq.Poller()
        poller.register(self._front, zmq.POLLIN)
        poller.register(self._back, zmq.POLLIN)
        while not self._stopping.is_set():
            ready = dict(poller.poll(50))
            if self._front in ready:
                self._back.send(self._front.recv())
            if self._back in ready:
                message = self._back.recv_multipart()
                if not self._loses(message):
                    self._front.send_multipart(message)

    def _loses(self, message):
        topic, body = message
        if topic.startswith(b"\xff") or topic.endswith(b"/~"):
            return False
        seq = json.loads(body)["seq"]
        if seq not in self.lose:
            return False
        self.lose.remove(seq)
        self.lost.append(seq)
        return True

    def close(self):
        self._stopping.set()
        self._thread.join()
        for socket in (self._front, self._back):
            socket.close(0)
        self._context.term()

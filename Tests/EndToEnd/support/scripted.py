"""A service that is none: it answers each op with what the test has written, for states that a real one seldom has."""

import json
import threading

import zmq

from .commands import encode


class ScriptedService:
    """Answers commands on an endpoint of its own. `answers` has the members of each op's answer."""

    def __init__(self, folder, **answers):
        self.commands = f"ipc://{folder}/scripted"
        self.events = self.bulk = f"ipc://{folder}/nobody"
        self.answers = {"service.ping": {"now": 1767225600000}}
        self.answers |= {name.replace("_", "."): answer for name, answer in answers.items()}
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.bind(self.commands)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while not self._end.is_set():
            if self._socket.poll(20):
                peer, *frames = self._socket.recv_multipart()
                self._socket.send_multipart([peer, *(encode(self._answer(json.loads(frame))) for frame in frames)])

    def _answer(self, command):
        answer = self.answers.get(command["op"])
        if answer is None:
            error = {"code": "unknownOp", "message": f"there is no op '{command['op']}'", "retry": "never"}
            return {"req": command.get("req"), "ok": False, "error": error}
        return {"req": command.get("req"), "ok": True, **answer}

    def close(self):
        self._end.set()
        self._thread.join()
        self._socket.close()
        self._context.term()

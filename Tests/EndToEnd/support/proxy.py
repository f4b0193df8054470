"""A TCP relay between a client and the service, whose connections can be cut from outside."""

import contextlib
import socket
import threading
import time


class Proxy:
    """Listens on a free port and passes bytes on to a `tcp://` endpoint, both ways; to clients no more than so many in a
    second, where that is given."""

    def __init__(self, url, bytes_per_second=None):
        self.lead_to(url)
        self._rate = bytes_per_second
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._ends = []
        self._open = threading.Event()
        self._open.set()
        self._lost_with = None
        self._muted = 0
        self._muted_with = None
        self.sent = bytearray()
        """What the clients have sent, of all connections."""
        threading.Thread(target=self._accept, daemon=True).start()

    def lead_to(self, url):
        """Where those go that come next."""
        host, port = url.removeprefix("tcp://").rsplit(":", 1)
        self.target = (host, int(port))

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                self._open.wait()
                far = socket.create_connection(self.target)
                with self._lock:
                    self._ends += [near, far]
                for source, sink, is_from_client in ((near, far, True), (far, near, False)):
                    threading.Thread(target=self._pass, args=(source, sink, is_from_client), daemon=True).start()

    def _pass(self, source, sink, is_from_client):
        muted = self._muted
        with contextlib.suppress(OSError):
            while data := source.recv(65536 if is_from_client or not self._rate else 8192):
                if muted != self._muted:
                    continue
                if is_from_client:
                    self.sent += data
                    if self._lost_with is not None and self._lost_with in data:
                        self._lost_with = None
                        break
                    if self._muted_with is not None and self._muted_with in data:
                        self._muted_with = None
                        self.mute()
                        continue
                elif self._rate:
                    time.sleep(len(data) / self._rate)
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def send(self, data):
        """Sends bytes of its own to the client that came first."""
        with self._lock:
            near = self._ends[0]
        near.sendall(data)

    def lose_with(self, text):
        """The connection by which a client sends this next ends before the service has it."""
        self._lost_with = text

    def mute_with(self, text):
        """As `mute`, as a client sends this next, which the service does not get."""
        self._muted_with = text

    def mute(self):
        """All present connections stand and pass nothing on any more; those that come next are well."""
        self._muted += 1

    def cut(self):
        """Ends all present connections; the clients will come again by themselves."""
        with self._lock:
            ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def hold(self):
        """Ends all present connections; those that come next get nothing before `let_through`."""
        self._open.clear()
        self.cut()

    def let_through(self):
        self._open.set()

    def close(self):
        self._open.set()
        self.listener.close()
        self.cut()

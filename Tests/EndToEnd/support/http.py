"""HTTP as browsers, monitors and worse clients speak it."""

import http.client
import json
import socket
import urllib.parse

from .wire import DEADLINE, Deadline

JSON = {"Content-Type": "application/json"}


class Reply:
    """A whole answer: `status`, `headers`, `body` as bytes, and `json`."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    json = property(lambda self: json.loads(self.body))


class Pages:
    """What the service at this URL serves over HTTP; one connection for each request."""

    def __init__(self, url):
        self.url = url
        self.host = urllib.parse.urlsplit(url).netloc

    def ask(self, method, path, body=None, headers=None, seconds=DEADLINE):
        connection = http.client.HTTPConnection(self.host, timeout=seconds)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            return Reply(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, headers=headers)

    def post(self, command, headers=JSON, seconds=DEADLINE):
        """Sends a command: a dictionary, or raw bytes."""
        body = command if isinstance(command, bytes) else json.dumps(command).encode()
        return self.ask("POST", "/api/commands", body, headers, seconds)

    def connect(self, seconds=DEADLINE):
        """A connection to send anything by."""
        host, port = self.host.split(":")
        return socket.create_connection((host, int(port)), timeout=seconds)

    def raw(self, request, seconds=DEADLINE):
        """Sends these bytes, and gives all that comes until the service closes the connection, or is silent for a while."""
        with self.connect(seconds) as connection:
            connection.sendall(request)
            return everything(connection)

    def events(self, prefix=None, headers=None):
        query = "" if prefix is None else "?" + urllib.parse.urlencode({"prefix": prefix})
        return EventSource(self.host, "/api/events" + query, headers or {})


def everything(connection):
    """What comes by a connection until its other side closes it."""
    parts = []
    while True:
        try:
            part = connection.recv(65_536)
        except ConnectionResetError:
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


class EventSource:
    """A stream of server-sent events, read line by line as a browser reads it."""

    def __init__(self, host, path, headers, seconds=DEADLINE):
        self._connection = http.client.HTTPConnection(host, timeout=seconds)
        self._connection.request("GET", path, headers=headers)
        self.response = self._connection.getresponse()
        self.status = self.response.status
        self.comments = 0

    def next(self):
        """The next event: its name, its id as a number or None, and its data; None at the end of the stream."""
        name, number, data = "message", None, []
        deadline = Deadline(DEADLINE)
        while not deadline.passed:
            line = self.response.readline()
            if not line:
                return None
            line = line.decode().rstrip("\n")
            if line.startswith(":"):
                self.comments += 1
            elif not line:
                if data:
                    return name, number, json.loads("\n".join(data))
                name, number = "message", None
            else:
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "id":
                    number = int(value)
                elif field == "data":
                    data.append(value)
        raise AssertionError("no event in time")

    def hello(self):
        name, _, data = self.next()
        assert name == "hello"
        return data

    def close(self):
        self.response.close()
        self._connection.close()

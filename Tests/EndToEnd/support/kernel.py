"""Processes that are stopped, and what the kernel keeps for them."""

import pathlib
import time

from .wire import DEADLINE

ESTABLISHED, PEER_HAS_CLOSED = "01", "08"
"""States of a connection in /proc/net/tcp."""


def _state(task):
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:  # it has ended just now
        return "T"


def stopped(pid):
    """Waits until all threads of a process stand still, which was told to: one has to take the signal, and tells the rest."""
    tasks = pathlib.Path(f"/proc/{pid}/task")
    deadline = time.monotonic() + DEADLINE
    while any(_state(task) != "T" for task in tasks.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.001)


def _connections(port):
    """State and unread bytes of each connection to a port of this machine."""
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    return [(row[3], int(row[4].split(":")[1], 16)) for row in rows if int(row[1].split(":")[1], 16) == port]


def until_unread(endpoint, connections=1, *, ended=False):
    """Waits until so many connections to an endpoint have something that nobody has read, and with `ended` have ended."""
    port = int(endpoint.rsplit(":", 1)[1])
    wanted = PEER_HAS_CLOSED if ended else ESTABLISHED
    deadline = time.monotonic() + DEADLINE
    while sum(state == wanted and unread > 0 for state, unread in _connections(port)) < connections:
        assert time.monotonic() < deadline, _connections(port)
        time.sleep(0.01)


def until_nobody_reads(endpoint):
    """Waits until what is unread at an endpoint has stood still for a second."""
    port = int(endpoint.rsplit(":", 1)[1])
    deadline = time.monotonic() + DEADLINE
    known, since = [], time.monotonic()
    while time.monotonic() < since + 1:
        unread = [bytes for _, bytes in _connections(port) if bytes > 0]
        if not unread or unread != known:
            known, since = unread, time.monotonic()
        assert time.monotonic() < deadline, _connections(port)
        time.sleep(0.01)

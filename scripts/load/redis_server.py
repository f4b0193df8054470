"""Redis as a contender: a server of its own with files of its own, tuned to be at its best, and its load generators."""

import contextlib
import socket
import subprocess
import time

from services import REDIS, LoadFailed, folder, run

# Synced once a second; no rewrites of the log meanwhile; contents in list packs, which is small and fast.
SETTINGS = {
    "save": "", "appendonly": "yes", "appendfsync": "everysec", "auto-aof-rewrite-percentage": "0",
    "hash-max-listpack-value": "1024", "daemonize": "no", "bind": "127.0.0.1",
}
START_SECONDS = 120


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def ask(port, *words):
    """One command over a connection of its own; the first line of the answer."""
    command = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
    with socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS) as connection:
        connection.sendall(command.encode())
        return connection.makefile("r", newline="\r\n").readline().strip()


def wait(port, process):
    """Waits until it answers, which it does when it has loaded its data."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError):
            if ask(port, "PING") == "+PONG":
                return
        time.sleep(0.002)
    raise LoadFailed("redis-server does not answer")


@contextlib.contextmanager
def running_in(data, **settings):
    """A server with its files in a folder; gives its port and its process id once it answers."""
    port = free_port()
    words = [str(REDIS), "--port", str(port), "--dir", data]
    for name, value in {**SETTINGS, **{key.replace("_", "-"): value for key, value in settings.items()}}.items():
        words += [f"--{name}", str(value)]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait(port, process)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(timeout=60)


@contextlib.contextmanager
def running(**settings):
    """A new and empty server."""
    with folder() as data, running_in(data, **settings) as server:
        yield server


def drive(port, program="redis", **options):
    """Runs a load generator: `redis` or `expiry`; gives what it measured."""
    return run(program, port=port, **options)


def compact(port):
    """Rewrites the log as Redis does from time to time: what it then loads is a binary image of its data."""
    ask(port, "BGREWRITEAOF")
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS) as connection:
            connection.sendall(b"*2\r\n$4\r\nINFO\r\n$11\r\npersistence\r\n")
            text = connection.recv(1 << 16).decode()
        if "aof_rewrite_in_progress:0" in text and "aof_rewrite_scheduled:0" in text:
            return
        time.sleep(0.05)
    raise LoadFailed("redis-server does not end its rewrite")

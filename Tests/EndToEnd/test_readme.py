"""What the README shows is run as it is printed, but for the port numbers: the Python, and two of the tours."""

import queue
import re
import subprocess
import sys
import threading

import pytest

import islet
from support.demo import Demo
from support.service import BINARY, ROOT, environment
from support.wire import DEADLINE


def python():
    """All blocks of Python."""
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)


def blocks():
    """The README's Python without a library, by role: the block that connects a SUB is the subscriber."""
    found = [block for block in python() if "import islet" not in block]
    assert len(found) == 2, "the README shows one publisher and one subscriber"
    subscriber = next(block for block in found if "zmq.SUB" in block)
    publisher = next(block for block in found if block is not subscriber)
    return publisher, subscriber


def runnable(block, service):
    """The block with this service's ports in place of the default ones."""
    for name, default in (("commands", 7411), ("events", 7412), ("bulk", 7413)):
        block = block.replace(f"127.0.0.1:{default}", service.endpoints[name].removeprefix("tcp://"))
    assert "127.0.0.1:741" not in block
    return block


def test_they_are_about_ten_lines_each():
    for block in blocks():
        assert 5 <= len([line for line in block.splitlines() if line.strip()]) <= 14


def test_nothing_is_promised_of_the_subscriber_that_zeromq_does_not_keep():
    """An XPUB drops what a slow subscriber does not take: it learns of that, and has to fill the gap."""
    text = (ROOT / "README.md").read_text()
    said = " ".join(text.partition("And a subscriber")[2].partition("```")[0].split())
    assert all(word in said for word in ("gap", "`seq`", "watermark", "replay", "snapshot")), said
    assert "sure to miss nothing" not in text


class Listening:
    """The subscriber's lines as a running program."""

    def __init__(self, block):
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", block], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def line(self, containing):
        """The next line, which must contain this."""
        line = self.lines.get(timeout=DEADLINE)
        assert containing in line, line
        return line

    def stop(self):
        self.process.terminate()
        _, errors = self.process.communicate(timeout=DEADLINE)
        assert "Traceback" not in errors, errors


def test_the_publisher_and_the_subscriber_work_as_printed(system_service):
    publisher, subscriber = (runnable(block, system_service) for block in blocks())
    listening = Listening(subscriber)
    try:
        listening.line("joined")
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", publisher], env=environment(), capture_output=True, text=True, timeout=DEADLINE)
            assert done.returncode == 0, done.stderr
            assert done.stdout.count("applied") == 3, done.stdout
            for name in ("started", "updated", "ended"):
                listening.line(f"activity.{name}")
        # Events of every shape: some have no state before or after them.
        with islet.connect(system_service.commands, app="com.example.pizza") as other:
            other.call("group.create", group="group.com.example")
            other.call("group.set", group="group.com.example", key="last-city", value={"city": "berlin"})
            other.call("group.notify", group="group.com.example", name="moved")
            other.call("group.delete", group="group.com.example", key="last-city")
        for name in ("set", "notified", "deleted"):
            listening.line(f"group.{name}")
    finally:
        listening.stop()


def test_a_bench_beside_another_service_has_no_address_of_that_one():
    """What is recorded has the default addresses on the same machine, also that of HTTP."""
    [line] = re.findall(r"^    (islet serve --clock manual .*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    words = line.split()
    for address, default in (("commands", 7411), ("events", 7412), ("bulk", 7413), ("http", 7414)):
        assert str(default) not in words[words.index(f"--{address}") + 1]


# The tours of controls and widgets


def tour(name):
    """The commands of a section, as words."""
    section = re.search(rf"^## {name}\n(.*?)^## ", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    return [line.split("#")[0].split() for line in section.splitlines() if line.startswith("    ")]


@pytest.fixture
def demo(tmp_path):
    made = Demo(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("name, count", [("Controls", 6), ("Widgets", 7)])
def test_the_tour_works_as_printed(demo, name, count):
    demo.home()
    demo.travel()
    commands = tour(name)
    assert len(commands) == count
    for binary, *words in commands:
        assert binary == ".build/release/islet"
        done = subprocess.run(
            [str(BINARY), *words], env=demo.env, capture_output=True, text=True, timeout=2 * DEADLINE)
        assert done.returncode == 0, (words, done.stderr)
        assert done.stdout, words

"""The examples in the docstring of `scripts/islet.py`, and those of the README that use it, run as they are printed."""

import ast
import contextlib
import re
import signal
import subprocess
import sys
import textwrap

import pytest

import islet
from support.dates import EPOCH, HOUR, MINUTE
from support.provider_service import ProviderService
from support.service import ROOT, environment
from support.wire import DEADLINE
from test_readme import python

TORCH, FORECAST = "com.example.torch", "com.example.forecast"


def documented():
    """The four examples of the docstring: client, replica, provider of controls, provider of widgets."""
    blocks = re.findall(r"^( {4}import islet\n(?: {4}.*\n|\n)*)", islet.__doc__, re.MULTILINE)
    assert len(blocks) == 4
    return [textwrap.dedent(block) for block in blocks]


def printed():
    """The README's: client, provider of controls, provider of widgets."""
    blocks = [block for block in python() if "import islet" in block]
    assert len(blocks) == 3
    return blocks


def begin(block, service):
    urls = {f"ISLET_{name.upper()}": url for name, url in service.endpoints.items() if name != "http"}
    return subprocess.Popen(
        [sys.executable, "-c", block], env=environment(PYTHONPATH=str(ROOT / "scripts"), **urls),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def output(block, service):
    out, errors = (process := begin(block, service)).communicate(timeout=DEADLINE)
    assert process.returncode == 0, errors
    return out.splitlines()


def test_the_documented_client_and_replica(system_service):
    client, replica, *_ = documented()
    assert output(client, system_service) == ["notFound never", "[2, 3, 4]"]
    lines = output(replica, system_service)
    assert re.fullmatch(r"com\.example\.pizza/activity/Order/\S+ ended 5", lines[0])
    assert lines[1:] == ["all anew: joined 1"]


def test_the_client_of_the_readme(service):
    """Again after the window of retries: it brings no older content back, nor an order that has ended."""
    def run():
        outcome, line = output(printed()[0], service)
        assert line.startswith("synced None [")
        [order] = ast.literal_eval(line.removeprefix("synced None "))
        assert order["key"] == "order-9"
        return outcome, order["state"], order["contentState"]

    with islet.connect(service.commands, app="com.example.pizza") as client:
        assert run() == ("applied", "active", {"eta": 20})
        client.call("activity.update", key="order-9", contentState={"eta": 3})
        client.call("clock.advance", by=11 * MINUTE)
        assert run() == ("conflict", "active", {"eta": 3})
        client.call("activity.end", key="order-9")
        client.call("clock.advance", by=11 * MINUTE)
        assert run() == ("reconnectNotPermitted", "ended", {"eta": 3})


def test_the_client_of_the_readme_takes_no_other_refusal_for_an_order_that_was_started(service):
    with islet.connect(service.commands, app="com.example.pizza") as client:
        client.call("settings.set", activitiesEnabled=False)
        process = begin(printed()[0], service)
        out, errors = process.communicate(timeout=DEADLINE)
        assert (process.returncode, out) == (1, "") and "IsletError: denied" in errors.splitlines()[-1]
        assert client.call("activity.list")["activities"] == []


@pytest.mark.parametrize("block", [documented()[2], printed()[1]], ids=["documented", "readme"])
def test_a_provider_of_controls(block):
    with running(block) as (fake, process):
        assert [kind["kind"] for kind in fake.registered()["kinds"]] == [TORCH]
        assert fake.answer(fake.call("value", TORCH))["value"] is False
        fake.answer(fake.call("perform", TORCH, value=True))
        assert fake.answer(fake.call("value", TORCH))["value"] is True


@pytest.mark.parametrize("block", [documented()[3], printed()[2]], ids=["documented", "readme"])
def test_a_provider_of_widgets(block):
    with running(block) as (fake, process):
        assert [kind["families"] for kind in fake.registered()["widgets"]] == [["systemSmall", "systemMedium"]]
        answer = fake.answer(fake.call_widget("timeline", FORECAST))
        assert [entry["date"] for entry in answer["entries"]] == [EPOCH + hour * HOUR for hour in range(6)]
        assert answer["policy"] == {"after": EPOCH + 6 * HOUR}
        if "perform" in block:
            call = fake.call_widget("perform", FORECAST, action="refresh")
            frames = {frame["op"]: frame for frame in (fake.next(), fake.next())}
            assert frames["provider.answer"]["call"] == call and frames["widget.reload"]["kind"] == FORECAST


@contextlib.contextmanager
def running(block):
    """A block as a process that provides for a played service, and ends well."""
    fake = ProviderService()
    fake.endpoints = {"commands": fake.url}
    process = begin(block, fake)
    try:
        yield fake, process
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=DEADLINE) == 0
    finally:
        process.kill()
        process.communicate()
        fake.close()

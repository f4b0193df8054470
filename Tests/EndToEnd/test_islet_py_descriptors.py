"""What `scripts/islet.py` does where the process may open few more files, or none."""

import os
import resource
import subprocess
import sys
import time

import pytest

import islet
from support.durable import Durable
from support.service import ROOT, environment
from support.wire import DEADLINE, Deadline

APP = "com.example.pizza"
PROGRAM = """
import os, resource, sys
import islet
what, free, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
def leave():
    held = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    for file in held[len(held) - free:]:
        os.close(file)
def call():
    leave()
    try:
        with islet.connect(url, app="com.example.pizza", timeout=0.2) as client:
            client.call("service.ping")
        print("ok")
    except islet.IsletError as error:
        print(error.code)
if what == "forked":
    with islet.connect(url, app="com.example.pizza") as client:
        client.call("service.ping")
    child = os.fork()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0)
if what == "provider":
    provider = islet.Provider("com.example.pizza", commands=url)
    @provider.button("Door")
    def press(control):
        pass
    leave()
    try:
        provider.start()
        provider.wait_until_registered(0.3)
        print("ok")
    except (TimeoutError, OSError):
        print("not registered")
    os._exit(0)
call()
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.parametrize("what", ["client", "forked", "provider"])
def test_no_number_of_free_descriptors_ends_the_process(service, what):
    env = environment(PYTHONPATH=str(ROOT / "scripts"))
    said = set()
    for free in range(16):
        done = subprocess.run([sys.executable, "-c", PROGRAM, what, str(free), service.commands], env=env,
                              capture_output=True, text=True, timeout=DEADLINE)
        assert done.returncode == 0, (free, done)
        said.add(done.stdout.strip())
    assert said >= ({"not registered", "ok"} if what == "provider" else {"unavailable"}), said
    assert said <= {"ok", "unavailable", "noAnswer", "not registered"}, said


def test_a_call_without_descriptors_may_be_made_again_later(service):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with islet.connect(service.commands, app=APP) as client:
        held = []
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, before[1]))
        try:
            with pytest.raises(OSError):
                while True:
                    held.append(os.open(os.devnull, os.O_RDONLY))
            with pytest.raises(islet.IsletError) as refused:
                client.call("service.ping")
        finally:
            for file in held:
                os.close(file)
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert (refused.value.code, refused.value.retry) == ("unavailable", "later")
        assert refused.value.detail == {"reason": "descriptors"} and "Too many open files" in refused.value.message
        assert client.call("service.ping")["ok"]


def test_a_provider_without_descriptors_comes_back_when_there_are_some(wire, tmp_path):
    url = f"ipc://{tmp_path}/commands"
    service = Durable(wire, tmp_path / "data", options={"--commands": url}).start()
    provider = islet.Provider(APP, commands=url)

    @provider.button("Door")
    def press(control):
        pass

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    provider.start()
    held = []
    try:
        provider.wait_until_registered(DEADLINE)
        service.kill()
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")), before[1]))
        deadline = Deadline()
        while provider.registered.is_set() or provider._refusal is None:
            try:
                held.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                time.sleep(0.02)
            assert not deadline.passed and provider._thread.is_alive()
        for file in held:
            os.close(file)
        held = []
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        service.start()
        provider.wait_until_registered(DEADLINE)
    finally:
        for file in held:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        provider.stop()
        service.kill()

"""What handlers of `scripts/islet.py` may be and give, and what they may do to their own provider."""

import ast
import functools
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import types

import islet
import pytest

from support.service import ROOT, environment
from support.wire import DEADLINE
from test_islet_py_client import in_a_fork
from test_islet_py_provider import APP, DOOR, TORCH, Torch, fake, made, torch  # noqa: F401: fixtures

FORECAST = "com.example.forecast"


async def nothing(*_):
    pass


def yields(*_):
    yield "Lit"


async def yields_async(*_):
    yield "Lit"


@pytest.mark.parametrize("declare", [
    lambda provider: provider.button(DOOR)(nothing),
    lambda provider: provider.button(DOOR)(type("Async", (islet.Button,), {"perform": nothing})),
    lambda provider: provider.toggle(TORCH)(type("Async", (Torch,), {"set_value": nothing})()),
    lambda provider: provider.toggle(TORCH)(type("Async", (Torch,), {"options": nothing})),
    lambda provider: provider.widget(FORECAST, ["systemSmall"])(nothing),
    lambda provider: provider.widget(FORECAST, ["systemSmall"])(
        type("Async", (islet.TimelineProvider,), {"recommendations": nothing})),
    lambda provider: provider.toggle(TORCH)(type("Async", (Torch,), {"set_value": yields_async}))])
def test_an_async_handler_is_refused_where_it_is_declared(made, declare):
    provider = made(start=False)
    with pytest.raises(TypeError, match="is async, and nothing would await it"):
        declare(provider)


class Bell:
    def __init__(self):
        self.rung = []

    def ring(self, control):
        self.rung.append(control.kind)
        return "Ding"

    __call__ = ring


@pytest.mark.parametrize("way", [lambda bell: bell.ring, lambda bell: functools.partial(Bell.ring, bell), lambda bell: bell])
def test_a_button_may_be_anything_that_can_be_called(made, fake, way):
    provider, bell = made(start=False), Bell()
    provider.button(DOOR)(way(bell))
    provider.start().wait_until_registered()
    assert fake.answer(fake.call("perform", DOOR))["status"] == "Ding"
    assert bell.rung == [DOOR]


def test_kinds_are_declared_before_a_run_or_between_two(made, fake, torch):
    provider = made((TORCH, torch))
    with pytest.raises(RuntimeError, match="declared before"):
        provider.toggle(DOOR)(Torch)
    fake.registered()
    provider.stop()
    provider.toggle(DOOR)(Torch)
    provider.start().wait_until_registered()
    assert [kind["kind"] for kind in fake.registered()["kinds"]] == [TORCH, DOOR]


def test_one_that_runs_is_not_started_again(made, torch):
    provider = made((TORCH, torch))
    with pytest.raises(RuntimeError, match="running already"):
        provider.start()


@pytest.mark.parametrize("member, value", [
    ("tint", 5), ("action_hint", ["Tap"]), ("is_active", "yes"), ("disabled", 1), ("url", 7), ("url", "x" * 2_049),
    ("status", b"Lit")])
def test_a_value_with_a_member_of_another_type_fails_at_once_and_an_action_is_told_without_it(
        made, fake, member, value):
    class Odd(Torch):
        def current_value(self, control):
            return islet.Answer(True, **{member: value})

        def set_value(self, control, on):
            return islet.Answer(**{"status": "Lit", "tint": "red", member: value})

    made((TORCH, Odd))
    assert f"is no {member}" in fake.answer(fake.call("value", TORCH), "provider.fail")["message"]
    answer = fake.answer(fake.call("perform", TORCH, value=True))
    wire = {"action_hint": "actionHint", "is_active": "isActive"}.get(member, member)
    assert wire not in answer and {"status", "tint"} - {member} <= answer.keys()


def test_a_url_may_have_the_longest_length_and_no_more(made, fake):
    class Long(Torch):
        def current_value(self, control):
            return islet.Answer(True, url="x" * 2_048)

    made((TORCH, Long))
    assert len(fake.answer(fake.call("value", TORCH))["url"]) == 2_048


@pytest.mark.parametrize("entry, said", [
    (islet.TimelineEntry("tomorrow", {}), "is no date"), (islet.TimelineEntry(1.5, {}), "is no date"),
    (islet.TimelineEntry(1, "sunny"), "is no content"), (islet.TimelineEntry(1, [1]), "is no content")])
def test_a_timeline_with_an_entry_of_another_type_fails_at_once(made, fake, entry, said):
    provider = made(start=False)
    provider.widget(FORECAST, ["systemSmall"])(lambda widget: [entry])
    provider.start().wait_until_registered()
    assert said in fake.answer(fake.call_widget("timeline", FORECAST), "provider.fail")["message"]


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class MuteFail(islet.Fail):
    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize("failure", [Mute, MuteFail])
def test_an_exception_whose_text_cannot_be_had_is_a_failed_call_and_keeps_no_thread(made, fake, failure):
    class Broken(Torch):
        def current_value(self, control):
            raise failure()

    made((TORCH, Broken), capacity=1)
    for _ in range(4):  # twice the threads that there may be
        message = fake.answer(fake.call("value", TORCH), "provider.fail")["message"]
        assert "its message cannot be made" in message


def test_a_stop_within_a_handler_does_not_wait_for_that_handler(made, fake):
    class Last(Torch):
        def set_value(self, control, value):
            provider.stop()
            return "Off"

    provider = made((TORCH, Last), grace=30)
    call = fake.call("perform", TORCH, value=False)
    said = [fake.next() for _ in range(3)]
    assert sorted(frame["op"] for frame in said) == ["provider.answer", "provider.drain", "provider.leave"]
    assert next(frame["status"] for frame in said if frame.get("call") == call) == "Off"
    provider.stop()
    provider.start().wait_until_registered()


def test_two_threads_may_stop_it_and_it_may_be_started_again(made, fake, torch):
    provider = made((TORCH, torch))
    failures = []

    def stop():
        try:
            provider.stop()
        except Exception as failure:
            failures.append(failure)

    for _ in range(5):
        threads = [threading.Thread(target=stop) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        assert not failures
        provider.start().wait_until_registered()


# Processes


def test_a_provider_in_a_forked_process_begins_anew_and_leaves_the_other_one_alone(made, fake, torch):
    provider = made((TORCH, torch))
    id = fake.registered()["provider"]
    torch.hold = threading.Event()
    call = fake.call("value", TORCH)
    assert torch.entered.acquire(timeout=DEADLINE)

    def act():
        assert not provider.registered.is_set() and not provider._calls
        provider.reload(TORCH)
        provider.start().wait_until_registered()
        provider.stop()
        return provider.id

    with provider._lock:
        its = in_a_fork(act)
    assert fake.registered()["provider"] == its != id
    said = [fake.next() for _ in range(3)]
    assert {frame["op"] for frame in said} == {"control.reload", "provider.drain", "provider.leave"}
    assert {frame.get("provider", its) for frame in said} == {its}
    torch.hold.set()
    assert fake.answer(call)["provider"] == id


def test_what_wakes_a_provider_wakes_none_in_a_forked_process(made):
    provider = made(start=False)
    provider.reload(TORCH)

    def is_awake():
        return bool(select.select([provider._wake_in], [], [], 0)[0])

    assert not in_a_fork(is_awake)
    assert is_awake()
    # Nor the other way round.
    provider._wake_in.recv(100)
    in_a_fork(provider.stop)
    assert not is_awake()


def test_a_provider_in_a_process_with_many_files_registers_again(made, fake, torch):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_096, before[1]), before[1]))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_030)]
    try:
        fake.refuse = [{"code": "busy", "retry": "later", "retryAfter": 1}]
        provider = made((TORCH, torch))
        assert provider._wake_in.fileno() >= 1_024
        provider.stop()
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_process_that_a_handler_forks_ends_at_its_first_signal(fake):
    program = f"""
import faulthandler, os, signal
import islet
faulthandler.dump_traceback_later({DEADLINE} * 0.9)  # where it is, should it not end
provider = islet.Provider("{APP}")
@provider.button("{DOOR}")
def fork(control):
    ready, ours = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        os.write(ours, b"!")
        while True:
            signal.pause()
    os.read(ready, 1)
    os.kill(child, signal.SIGTERM)
    return str(os.WTERMSIG(os.waitpid(child, 0)[1]))
provider.run()
"""
    env = environment(PYTHONPATH=str(ROOT / "scripts"), ISLET_COMMANDS=fake.url)
    process = subprocess.Popen([sys.executable, "-c", program], env=env)
    try:
        fake.registered()
        assert fake.answer(fake.call("perform", DOOR))["status"] == str(int(signal.SIGTERM))
        process.terminate()
        assert process.wait(DEADLINE) == 0
        assert fake.next()["op"] == "provider.drain"
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_interrupts_no_wait_stops_the_provider_at_once(fake, number):
    """As one does that comes between the last instruction before a wait and the wait, or on another thread."""
    program = f"""
import signal, threading
import islet
provider = islet.Provider("{APP}")
@provider.button("{DOOR}")
def press(control):
    return "pressed"
threading.Thread(target=threading.Event().wait, daemon=True).start()  # a thread that takes the signal
signal.pthread_sigmask(signal.SIG_BLOCK, [{int(number)}])
assert signal.set_wakeup_fd(-1) == -1
provider.run()
assert signal.set_wakeup_fd(-1) == -1
"""
    env = environment(PYTHONPATH=str(ROOT / "scripts"), ISLET_COMMANDS=fake.url)
    process = subprocess.Popen([sys.executable, "-c", program], env=env)
    try:
        fake.registered()
        process.send_signal(number)
        # Else it is noticed after 15 seconds without a sign of the service.
        assert fake.next()["op"] == "provider.drain"
        assert process.wait(DEADLINE) == 0
    finally:
        process.kill()
        process.wait()


def test_the_signals_of_a_process_that_a_handler_forks_write_to_no_file_of_it(fake, tmp_path):
    program = f"""
import os, signal
import islet
provider = islet.Provider("{APP}")
@provider.button("{DOOR}")
def fork(control):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        files = [os.open({str(tmp_path)!r} + "/" + str(n), os.O_CREAT | os.O_WRONLY) for n in range(100)]
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.raise_signal(signal.SIGUSR1)
        os._exit(0)
    return str(os.waitpid(child, 0)[1])
provider.run()
"""
    env = environment(PYTHONPATH=str(ROOT / "scripts"), ISLET_COMMANDS=fake.url)
    process = subprocess.Popen([sys.executable, "-c", program], env=env)
    try:
        fake.registered()
        assert fake.answer(fake.call("perform", DOOR))["status"] == "0"
        written = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
        assert len(written) == 100 and not any(written.values())
    finally:
        process.kill()
        process.wait()


def test_the_oldest_python_is_named_and_can_read_the_file():
    source = (ROOT / "scripts" / "islet.py").read_text()
    assert "Python 3.10 or later" in ast.get_docstring(ast.parse(source, feature_version=(3, 10)))
    with pytest.raises(SyntaxError):
        ast.parse(source, feature_version=(3, 9))


@pytest.mark.parametrize("hidden", [
    functools.wraps(nothing)(lambda *given: nothing(*given)), type("Called", (), {"__call__": nothing})()])
def test_what_a_handler_gives_to_be_awaited_is_a_failed_call(made, fake, hidden):
    provider = made(start=False)
    provider.button(DOOR)(hidden)
    provider.start().wait_until_registered()
    assert "it has not run" in fake.answer(fake.call("perform", DOOR), "provider.fail")["message"]


def nested(levels):
    value = 0
    for _ in range(levels):
        value = [value]
    return value


def test_a_value_that_nests_too_deep_never_reaches_the_service(made, fake):
    provider = made(start=False)
    values = [nested(63), nested(64), {"text": "[" * 100}]

    @provider.button(DOOR)
    class Deep(islet.Button):
        def current_value(self, control):
            return values.pop(0)

    provider.start().wait_until_registered()
    assert fake.answer(fake.call("value", DOOR))["value"] == nested(63)
    assert "64 levels deep" in fake.answer(fake.call("value", DOOR), "provider.fail")["message"]
    assert fake.answer(fake.call("value", DOOR))["value"] == {"text": "[" * 100}


@pytest.mark.parametrize("answer", [
    islet.Answer(url="https://example.com/\ud800"), islet.Answer(object()), islet.Answer("x" * 5_000),
    islet.Answer(nested(64))])
def test_an_action_was_performed_whatever_else_it_gives(made, fake, answer):
    provider = made(start=False)
    provider.button(DOOR)(lambda control: answer)
    provider.start().wait_until_registered()
    given = fake.answer(fake.call("perform", DOOR))
    assert "url" not in given and "value" not in given


def test_any_mapping_is_content(made, fake):
    content = types.MappingProxyType({"temperature": 21})
    provider = made(start=False)
    provider.widget(FORECAST, ["systemSmall"])(lambda widget: islet.TimelineEntry(widget.now, content))
    provider.start().wait_until_registered()
    [entry] = fake.answer(fake.call_widget("timeline", FORECAST))["entries"]
    assert entry["content"] == {"temperature": 21}


def test_a_provider_that_runs_is_not_run_again(made, fake, torch):
    provider = made((TORCH, torch))
    fake.registered()
    for again in (provider.run, provider.start):
        with pytest.raises(RuntimeError, match="it is running already"):
            again()
    assert fake.answer(fake.call("value", TORCH))["value"] is False


def test_a_stop_of_what_does_not_run_ends_nothing_later(made, fake, torch):
    provider = made((TORCH, torch))
    fake.registered()
    provider.stop()
    provider.stop()
    assert [fake.next()["op"] for _ in range(2)] == ["provider.drain", "provider.leave"]
    thread = threading.Thread(target=provider.run)
    thread.start()
    try:
        fake.registered()
        assert fake.answer(fake.call("value", TORCH))["value"] is False
    finally:
        provider.stop()
        thread.join(DEADLINE)
    assert not thread.is_alive()


@pytest.mark.parametrize("declare", [
    lambda provider: provider.button(DOOR)(yields),
    lambda provider: provider.toggle(TORCH)(type("Yields", (Torch,), {"set_value": yields})),
    lambda provider: provider.widget(FORECAST, ["systemSmall"])(
        type("Yields", (islet.TimelineProvider,), {"perform": yields}))])
def test_an_action_that_is_a_generator_is_refused_where_it_is_declared(made, declare):
    with pytest.raises(TypeError, match="is a generator, and nothing would take its values"):
        declare(made(start=False))


@pytest.mark.parametrize("hidden, kind", [(yields, "a generator"), (yields_async, "async")])
def test_an_action_that_gives_a_generator_has_failed(made, fake, hidden, kind):
    provider = made(start=False)
    provider.button(DOOR)(lambda control: hidden())

    @provider.widget(FORECAST, ["systemSmall"])
    class Forecast(islet.TimelineProvider):
        def timeline(self, widget):
            yield islet.TimelineEntry(widget.now, {})

        def perform(self, widget, action, parameters):
            return hidden()

    provider.start().wait_until_registered()
    for call in (fake.call("perform", DOOR), fake.call_widget("perform", FORECAST, action="ring")):
        assert f"is {kind}, and nothing" in fake.answer(call, "provider.fail")["message"]
    assert len(fake.answer(fake.call_widget("timeline", FORECAST))["entries"]) == 1


def test_a_button_without_a_value_to_give_says_so(made, fake):
    provider = made(start=False)

    @provider.button(DOOR)
    class Door(islet.Button):
        def current_value(self, control):
            pass

    provider.start().wait_until_registered()
    assert "current_value gave None" in fake.answer(fake.call("value", DOOR), "provider.fail")["message"]


def test_a_deadline_of_none_is_the_services(made, fake):
    provider = made(start=False)
    provider.toggle(TORCH, value_deadline=None, action_deadline=2.5)(Torch)
    provider.start().wait_until_registered()
    [kind] = fake.registered()["kinds"]
    assert "valueDeadline" not in kind and kind["actionDeadline"] == 2_500

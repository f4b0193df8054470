"""Providers of `scripts/islet.py` against a service that a test plays: calls, faults, silence, goodbyes."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid

import pytest

import islet
from support.provider_service import PLACED, ProviderService
from support.proxy import Proxy
from support.service import ROOT, environment
from support.wire import DEADLINE, QUIET

APP = "com.example.home"
TORCH, DOOR = "com.example.torch", "com.example.door"


@pytest.fixture
def fake():
    made = ProviderService()
    yield made
    made.close()


class Torch(islet.Toggle):
    """Its truth, and everything that it was told."""

    def __init__(self):
        self.lit = False
        self.told = []
        self.hold = None
        self.entered = threading.Semaphore(0)

    def current_value(self, control):
        self.told.append(control)
        self.entered.release()
        if self.hold:
            assert self.hold.wait(DEADLINE)
        return self.lit

    def set_value(self, control, value):
        self.told.append((control, value))
        self.lit = value
        return "Lit" if value else None


@pytest.fixture
def torch():
    return Torch()


@pytest.fixture
def made(fake):
    """Providers of the fake service that are stopped at the end."""
    providers = []

    def make(*handlers, url=None, start=True, **options):
        provider = islet.Provider(APP, commands=url or fake.url, **{"grace": 0.2, **options})
        for kind, handler in handlers:
            provider.toggle(kind)(handler)
        providers.append(provider)
        if start:
            provider.start().wait_until_registered()
        return provider

    yield make
    for provider in providers:
        provider.stop()


@pytest.fixture
def provider(made, torch, fake):
    """One that provides the torch, and is registered."""
    provider = made((TORCH, torch))
    fake.registered()
    return provider


# Declarations


def test_a_registration_declares_kinds_in_the_contracts_words(made, fake):
    provider = made(start=False, capacity=3)

    @provider.toggle(TORCH, display_name="Torch", preview=True, tint="#ffcc00", value_deadline=0.5, action_deadline=2,
                     privacy_sensitive=True, parameters=[
                         islet.parameter("room", "enum", title="Room", options=[("k", "Kitchen"), "hall"], default="k"),
                         islet.parameter("lamp", "entity", is_optional=True, dynamic_options=True)])
    class Lamp(Torch):
        pass

    @provider.button(DOOR)
    def open_door(control):
        pass

    @provider.button("com.example.bell", preview={"rings": 0})
    class Bell(islet.Button):
        def current_value(self, control):
            return {"rings": 1}

    provider.start().wait_until_registered()
    frame = fake.registered()
    assert frame == {
        "op": "provider.register", "req": "register", "app": APP, "provider": provider.id, "capacity": 3, "kinds": [
            {"kind": TORCH, "template": "toggle", "previewValue": True, "displayName": "Torch", "tint": "#ffcc00",
             "valueDeadline": 500, "actionDeadline": 2_000, "privacySensitive": True, "parameters": [
                 {"name": "room", "type": "enum", "options": [{"value": "k", "title": "Kitchen"}, {"value": "hall"}],
                  "title": "Room", "default": "k"},
                 {"name": "lamp", "type": "entity", "isOptional": True, "dynamicOptions": True}]},
            {"kind": DOOR, "template": "button"},
            {"kind": "com.example.bell", "template": "button", "previewValue": {"rings": 0}, "hasValue": True}]}
    assert uuid.UUID(frame["provider"]).version == 4


def test_a_handler_of_another_template_and_a_kind_twice_are_refused_at_once(made):
    provider = made((TORCH, Torch()), start=False)
    with pytest.raises(ValueError, match="declared already"):
        provider.toggle(TORCH)
    with pytest.raises(TypeError, match="islet.Toggle"):
        provider.toggle("com.example.other")(islet.Button)
    with pytest.raises(TypeError, match="islet.Button"):
        provider.button("com.example.other")(Torch)


# Calls


def test_a_value_is_asked_for(provider, fake, torch):
    torch.lit = True
    before = time.monotonic()
    answer = fake.answer(fake.call("value", TORCH, within=700, configuration={"room": "k"}, device="phone", attempt=2))
    assert answer == {"op": "provider.answer", "provider": provider.id, "call": "call-1", "value": True}
    [control] = torch.told
    assert (control.app, control.kind, control.device, control.attempt) == (APP, TORCH, "phone", 2)
    assert control.configuration == {"room": "k"} and control.id.startswith("0198")
    assert before + 0.7 <= control.deadline <= time.monotonic() + 0.7
    assert not control.cancelled.is_set()


def test_what_is_not_configured_has_the_declared_default(made, fake, torch):
    provider = made(start=False)
    provider.toggle(TORCH, parameters=[
        islet.parameter("room", default="kitchen"), islet.parameter("limit", "integer", default=3),
        islet.parameter("lamp", "entity", default={"id": "l"}), islet.parameter("colour", is_optional=True)])(torch)
    provider.start().wait_until_registered()
    declared = fake.registered()["kinds"]
    for configured, wanted in (({}, {}), ({"room": None, "limit": 0}, {"limit": 0}), ({"colour": "red"}, {"colour": "red"})):
        fake.answer(fake.call("value", TORCH, configuration=configured))
        told = torch.told.pop().configuration
        assert told == {"room": "kitchen", "limit": 3, "lamp": {"id": "l"}, **wanted}
        told["lamp"]["id"] = "changed"
    assert islet._decode(islet._encode([*provider._kinds.values()][0][0])) == declared[0]


def test_what_is_configured_as_null_is_not_configured_as_for_the_service(provider, fake, torch):
    fake.answer(fake.call("value", TORCH, configuration={"room": None, "limit": 0, "lamp": {"id": "l", "name": None}}))
    [control] = torch.told
    assert control.configuration == {"limit": 0, "lamp": {"id": "l", "name": None}}
    assert control.configuration.get("room", "kitchen") == "kitchen"


def test_an_action_gets_the_absolute_new_value_and_may_give_a_status(provider, fake, torch):
    assert fake.answer(fake.call("perform", TORCH, value=True))["status"] == "Lit"
    assert "status" not in fake.answer(fake.call("perform", TORCH, value=False))
    assert [value for _, value in torch.told] == [True, False]


def test_more_than_a_value_may_be_said(made, fake):
    class Full(islet.Toggle):
        def current_value(self, control):
            return islet.Answer(True, status="Charging", is_active=False, tint="red", action_hint="Tap", disabled=True)

    made((TORCH, Full))
    assert fake.answer(fake.call("value", TORCH)) | {"provider": ""} == {
        "op": "provider.answer", "provider": "", "call": "call-1", "value": True, "status": "Charging",
        "isActive": False, "tint": "red", "actionHint": "Tap", "disabled": True}


def test_an_action_that_gives_no_status_but_something_else_was_performed_all_the_same(made, fake):
    class Odd(Torch):
        def set_value(self, control, value):
            return {True: value, False: islet.Answer(status=7, tint="red")}[value]

    made((TORCH, Odd))
    assert "status" not in fake.answer(fake.call("perform", TORCH, value=True))
    assert fake.answer(fake.call("perform", TORCH, value=False))["tint"] == "red"


def test_texts_are_cut_to_what_the_service_takes(made, fake):
    class Long(Torch):
        def set_value(self, control, value):
            return islet.Answer(status="x" * 300 if value else "\ud800", tint="\n" * 300, action_hint="")

    made((TORCH, Long))
    answer = fake.answer(fake.call("perform", TORCH, value=True))
    assert (answer["status"], answer["tint"], answer["actionHint"]) == ("x" * 254, "\n" * 127, "")
    assert fake.answer(fake.call("perform", TORCH, value=False))["status"] == "?"


def test_a_button_may_be_a_function(made, fake):
    provider = made(start=False)
    rung = []

    @provider.button(DOOR)
    def ring(control):
        rung.append(control.id)
        return "Ding"

    provider.start().wait_until_registered()
    assert fake.answer(fake.call("perform", DOOR))["status"] == "Ding"
    assert len(rung) == 1


def test_options_are_computed_when_asked(made, fake):
    class Lamp(Torch):
        def options(self, control, parameter):
            assert control.id is None
            return [(f"{parameter}-1", "First"), *control.configuration.values()]

    made((TORCH, Lamp), start=True)
    call = fake.call("options", TORCH, control=None, parameter="lamp", configuration={"room": "k"})
    assert fake.answer(call)["value"] == [{"value": "lamp-1", "title": "First"}, {"value": "k"}]
    call = fake.call("options", TORCH, control=None, parameter="x" * 5_000)
    assert len(fake.answer(call)["value"][0]["value"]) == 5_002, "more than a value may have"
    call = fake.call("options", TORCH, control=None, parameter="x" * 60_000)
    assert "may have 60000" in fake.answer(call, "provider.fail")["message"]


@pytest.mark.parametrize("failure, members", [
    (islet.Fail("no battery", retryable=True), {"message": "no battery", "retryable": True}),
    (islet.Fail(), {}),
    (KeyError("lamp"), {"message": "KeyError: 'lamp'"}),
    (RuntimeError("x" * 10_000), {"message": ("RuntimeError: " + "x" * 10_000)[:1_022]}),
    (islet.Fail('"' * 10_000), {"message": '"' * 511}), (islet.Fail("é" * 10_000), {"message": "é" * 511}),
    (islet.Fail("no \udcff"), {"message": "no ?"}), (SystemExit(3), {"message": "SystemExit: 3"})])
def test_what_a_handler_raises_is_a_failed_call_and_no_more(made, fake, failure, members):
    class Broken(Torch):
        def current_value(self, control):
            if control.device == "bad":
                raise failure
            return True

    provider = made((TORCH, Broken))
    call = fake.call("value", TORCH, device="bad")
    assert fake.answer(call, "provider.fail") == {
        "op": "provider.fail", "provider": provider.id, "call": call, **members}
    assert fake.answer(fake.call("value", TORCH))["value"] is True


@pytest.mark.parametrize("value, said", [
    ("on", "is no bool"), (1, "is no bool"), (None, "is no bool"), (islet.Answer(status="x"), "is no bool")])
def test_a_toggle_whose_value_is_no_bool_never_reaches_the_service(made, fake, value, said):
    class Odd(Torch):
        def current_value(self, control):
            return value

    made((TORCH, Odd))
    assert said in fake.answer(fake.call("value", TORCH), "provider.fail")["message"]


@pytest.mark.parametrize("value, said", [
    ("x" * 5_000, "5002 bytes"), (float("nan"), "ValueError"), (object(), "TypeError"), ("\ud800", "UnicodeEncode")])
def test_a_button_whose_value_is_no_json_or_too_long_never_reaches_the_service(made, fake, value, said):
    provider = made(start=False)

    @provider.button(DOOR)
    class Odd(islet.Button):
        def current_value(self, control):
            return value

    provider.start().wait_until_registered()
    assert said in fake.answer(fake.call("value", DOOR), "provider.fail")["message"]


def test_a_kind_that_is_not_declared_is_a_failed_call(provider, fake):
    assert "not declared" in fake.answer(fake.call("value", "com.example.other"), "provider.fail")["message"]


def test_a_system_without_more_threads_is_a_failed_call_that_another_may_take(provider, fake, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert fake.answer(fake.call("value", TORCH), "provider.fail")["retryable"] is True
    fake.answer(fake.call("value", TORCH))


def test_calls_run_at_the_same_time_and_pings_are_answered_meanwhile(made, fake, torch):
    torch.hold = threading.Event()
    provider = made((TORCH, torch), capacity=4)
    calls = [fake.call("value", TORCH) for _ in range(4)]
    for _ in calls:
        assert torch.entered.acquire(timeout=DEADLINE)
    fake.say({"op": "provider.ping", "at": 1_763_700_000_000})
    assert fake.next() == {"op": "provider.pong", "provider": provider.id}
    torch.hold.set()
    assert {fake.next()["call"] for _ in calls} == set(calls)


def test_a_call_that_comes_twice_runs_once(provider, fake, torch):
    call = fake.call("perform", TORCH, value=True)
    fake._numbers -= 1
    assert fake.call("perform", TORCH, value=True) == call
    fake.answer(call)
    fake.quiet()
    assert len(torch.told) == 1


def test_a_cancelled_call_is_told_and_its_answer_dropped(provider, fake, torch):
    torch.hold = threading.Event()
    call = fake.call("value", TORCH)
    assert torch.entered.acquire(timeout=DEADLINE)
    fake.say({"op": "provider.cancel", "call": call, "reason": "timedOut"})
    assert torch.told[0].cancelled.wait(DEADLINE)
    torch.hold.set()
    fake.quiet()
    assert fake.answer(fake.call("value", TORCH))["value"] is False


def test_a_call_that_was_cancelled_before_it_was_read_does_not_begin(made, fake, torch):
    """As after a pause of the process: the call and its end are read together."""
    made((TORCH, torch))
    whole = {"app": APP, "kind": TORCH, "control": "c", "attempt": 1, "within": 10, "op": "control.perform"}
    fake.say({"call": "a", "value": True, **whole}, {"op": "provider.cancel", "call": "a", "reason": "timedOut"})
    fake.answer(fake.call("value", TORCH))
    assert len(torch.told) == 1 and torch.lit is False


def given_up(fake, torch, **members):
    """A value whose handler goes on although nobody waits for it."""
    call = fake.call("value", TORCH, **members)
    assert torch.entered.acquire(timeout=DEADLINE)
    fake.say({"op": "provider.cancel", "call": call, "reason": "timedOut"})


def test_handlers_that_ignore_their_end_do_not_fill_the_process(made, fake, torch):
    """From twice the capacity on none begins for what another one waits for; its call fails at once, and another provider
    may take it."""
    torch.hold = threading.Event()
    made((TORCH, torch), capacity=2)
    for _ in range(4):
        given_up(fake, torch)
    call = fake.call("value", TORCH)
    assert fake.answer(call, "provider.fail")["retryable"] is True
    torch.hold.set()
    # The threads that have ended make room.
    deadline = time.monotonic() + DEADLINE
    while fake.call("value", TORCH) and fake.next()["op"] != "provider.answer":
        assert time.monotonic() < deadline


def test_handlers_that_ignore_their_end_hold_up_no_others(made, fake, torch):
    """A few lamps are unplugged, and what waits for them has a longer time-out than their kind: all others go on."""
    torch.hold = threading.Event()
    made((TORCH, torch), capacity=2)
    for number in range(6):
        given_up(fake, torch, control=f"unplugged-{number}")
    for id in "unplugged-0", "lamp":
        fake.answer(fake.call("perform", TORCH, control=id, value=True))
    call = fake.call("value", TORCH, control="lamp")
    assert torch.entered.acquire(timeout=DEADLINE)
    torch.hold.set()
    assert fake.answer(call)["value"] is True


def test_handlers_at_work_have_a_limit_and_actions_one_of_their_own(made, fake, torch):
    torch.hold = threading.Event()
    provider = made((TORCH, torch), capacity=2)
    provider.AT_WORK = 6
    for number in range(6):
        given_up(fake, torch, control=f"unplugged-{number}")
    failed = fake.answer(fake.call("value", TORCH, control="lamp"), "provider.fail")
    assert failed["retryable"] is True and "threads" in failed["message"]
    fake.answer(fake.call("perform", TORCH, control="lamp", value=True))
    torch.hold.set()


@pytest.mark.parametrize("frames", [
    [b""], [b"nonsense", b"\xff\xff"], [b"[]", b"null", b"7"], [b"[" * 100_000], [b"{}"],
    [b'{"op":"provider.cancel"}'], [b'{"op":"provider.cancel","call":"never"}'], [b'{"op":"control.value"}'],
    [b'{"op":"control.value","call":7,"kind":"com.example.torch"}'], [b'{"op":"from.the.future","call":"x"}'],
    [b'{"ok":false}'], [b'{"ok":false,"error":{"code":"badAnswer","message":"","detail":{"call":"x"}}}']])
def test_what_is_none_of_the_contract_harms_nothing(provider, fake, frames):
    fake.say(*frames, raw=True)
    call = fake.call("value", TORCH)
    while (frame := fake.next())["call"] != call:
        pass
    assert frame["op"] == "provider.answer"
    assert fake.registrations.empty()


@pytest.mark.parametrize("members", [
    {"within": "soon"}, {"within": None}, {"configuration": 7}, {"kind": ["x"]}, {"attempt": None}, {"value": None}])
def test_a_call_with_odd_members_harms_nothing(provider, fake, members):
    fake.say({"call": "odd", "op": "control.value", "app": APP, "kind": TORCH, "control": "c", "within": 9, **members})
    call = fake.call("value", TORCH)
    while (frame := fake.next())["call"] != call:
        assert frame["call"] == "odd"
    assert frame["op"] == "provider.answer"


# Reloads


def test_a_reload_is_asked_for_once_however_often_it_is_wanted(made, fake, torch):
    provider = made((TORCH, torch), start=False)
    for _ in range(5):
        provider.reload(TORCH)
    provider.reload(id="0198")
    provider.start().wait_until_registered()
    assert wished(fake) == {"op": "control.reload", "app": APP, "kind": TORCH}
    assert wished(fake) == {"op": "control.reload", "app": APP, "id": "0198"}
    # A refusal of it is no reason to register again.
    fake.refuse_wishes = [{"code": "notFound", "retry": "never"}]
    provider.reload(id="0199")
    assert wished(fake) == {"op": "control.reload", "app": APP, "id": "0199"}
    provider.reload()
    assert wished(fake) == {"op": "control.reload", "app": APP}
    assert fake.registrations.qsize() == 1


def wished(fake):
    """The next frame, which must be a wish, without its number."""
    frame = fake.next()
    assert frame.pop("req").startswith("reload-"), frame
    return frame


def test_reloads_that_nobody_takes_become_one_of_everything(made, fake, torch):
    provider = made((TORCH, torch), start=False)
    for number in range(provider.RECENT + 1):
        provider.reload(id=str(number))
    provider.start().wait_until_registered()
    assert wished(fake) == {"op": "control.reload", "app": APP}
    fake.quiet()


def test_a_reload_that_was_sent_to_a_service_that_dies_is_asked_of_the_next(made, tmp_path, torch):
    url = f"ipc://{tmp_path}/commands"
    first = ProviderService(url)
    try:
        provider = made((TORCH, torch), url=url)
        first.silent = True
        provider.reload_timelines("com.example.forecast")
        provider.reload(id="0198")
        wishes = [wished(first) for _ in range(2)]
        assert [wish["op"] for wish in wishes] == ["widget.reload", "control.reload"]
    finally:
        first.close()
    second = ProviderService(url)
    try:
        assert sorted([wished(second) for _ in range(2)], key=lambda wish: wish["op"], reverse=True) == wishes
        second.registered()
        # These were answered: another registration brings none of them.
        provider.reload(TORCH)
        assert wished(second)["kind"] == TORCH
        second.say({"op": "provider.dropped", "reason": "silence"})
        second.registered()
        second.answer(second.call("value", TORCH))
        provider.stop()
    finally:
        second.close()


def test_a_reload_is_sent_again_to_a_busy_service_when_it_says(made, fake, torch):
    provider = made((TORCH, torch))
    fake.refuse_wishes = [{"code": "busy", "retry": "later", "retryAfter": 400}]
    provider.reload(TORCH)
    assert wished(fake) == {"op": "control.reload", "app": APP, "kind": TORCH}
    begun = time.monotonic()
    assert wished(fake) == {"op": "control.reload", "app": APP, "kind": TORCH}
    assert 0.3 < time.monotonic() - begun < 10
    fake.answer(fake.call("value", TORCH))


def test_no_more_reloads_are_without_an_answer_than_may_wait(made, fake, torch, monkeypatch):
    monkeypatch.setattr(islet.Provider, "RECENT", 2)
    provider = made((TORCH, torch))
    fake.silent = True
    for id in ("a", "b"):
        provider.reload(id=id)
        frame = fake.next()
        assert frame["id"] == id
    for id in ("c", "d", "e"):
        provider.reload(id=id)
    fake.quiet()
    fake.silent = False
    fake.say({"req": frame["req"], "ok": True})
    assert wished(fake) == {"op": "control.reload", "app": APP}


# Faults


@pytest.mark.parametrize("wish", [
    lambda provider: provider.reload(b"torch"), lambda provider: provider.reload("\ud800"),
    lambda provider: provider.reload("x" * 2_000_000), lambda provider: provider.reload("two words"),
    lambda provider: provider.reload(id=7), lambda provider: provider.reload_timelines(id=""),
    lambda provider: provider.reload_timelines("\n"), lambda provider: provider.invalidate_recommendations(b"torch"),
    lambda provider: provider.invalidate_relevance(5)])
def test_a_reload_that_cannot_be_asked_for_is_refused_where_it_is_wanted(provider, fake, torch, wish):
    with pytest.raises(ValueError, match="has 1 to 64 letters"):
        wish(provider)
    assert fake.answer(fake.call("value", TORCH))["value"] is False


def test_a_reload_of_one_of_a_kind_is_of_that_one(provider, fake):
    """The service takes either of them."""
    provider.reload(TORCH, id="0198")
    assert wished(fake) == {"op": "control.reload", "app": APP, "id": "0198"}


def test_silence_beyond_the_limit_is_a_lost_service(made, torch):
    fake = ProviderService(ping_limit=300)
    try:
        made((TORCH, torch), url=fake.url)
        first = fake.registered()
        again = fake.registered()
        assert (again["provider"], again["kinds"]) == (first["provider"], first["kinds"])
        assert fake.answer(fake.call("value", TORCH))["value"] is False
    finally:
        fake.close()


def test_pings_are_signs_of_life(made, torch):
    fake = ProviderService(ping_limit=600)
    try:
        made((TORCH, torch), url=fake.url)
        fake.registered()
        for _ in range(12):
            fake.say({"op": "provider.ping", "at": 1_763_700_000_000})
            assert fake.next()["op"] == "provider.pong"
            time.sleep(0.1)
        assert fake.registrations.empty()
    finally:
        fake.close()


def test_a_cut_connection_is_noticed_at_once_and_calls_at_work_are_given_up(made, fake, torch):
    proxy = Proxy(fake.url)
    try:
        torch.hold = threading.Event()
        provider = made((TORCH, torch), url=proxy.url)
        first = fake.registered()
        fake.call("value", TORCH)
        assert torch.entered.acquire(timeout=DEADLINE)
        begun = time.monotonic()
        proxy.cut()
        assert fake.registered()["provider"] == first["provider"]
        assert time.monotonic() - begun < 5, "not only after the limit of silence"
        assert torch.told[0].cancelled.is_set()
        provider.wait_until_registered()
        torch.hold.set()
        fake.quiet()
        assert fake.answer(fake.call("value", TORCH))["value"] is False
    finally:
        proxy.close()


@pytest.mark.parametrize("declared, reloaded", [({}, {"id": "0198"}), ({"reloads_siblings": True}, {"kind": TORCH})])
def test_an_action_that_ended_for_a_lost_connection_leads_to_what_its_end_would(made, fake, declared, reloaded):
    acting, hold = threading.Event(), threading.Event()

    class Slow(Torch):
        def set_value(self, control, value):
            acting.set()
            assert hold.wait(DEADLINE)

    proxy = Proxy(fake.url)
    try:
        provider = made(url=proxy.url, start=False)
        provider.toggle(TORCH, **declared)(Slow)
        provider.start()
        fake.registered()
        fake.call("perform", TORCH, value=True, control="0198")
        assert acting.wait(DEADLINE)
        proxy.cut()
        fake.registered()
        provider.wait_until_registered()
        hold.set()
        assert wished(fake) == {"op": "control.reload", "app": APP, **reloaded}
    finally:
        proxy.close()


def test_a_service_that_was_restarted_gets_a_new_registration(made, tmp_path, torch):
    url = f"ipc://{tmp_path}/commands"
    first = ProviderService(url)
    try:
        provider = made((TORCH, torch), url=url)
        first.registered()
        torch.hold = old = threading.Event()
        first.call("value", TORCH)
        assert torch.entered.acquire(timeout=DEADLINE)
    finally:
        first.close()
    second = ProviderService(url)
    try:
        second.registered()
        provider.wait_until_registered()
        # The same number of a call as at the first service: the old answer is not taken for the new one's.
        torch.hold = new = threading.Event()
        assert second.call("value", TORCH) == "call-1"
        assert torch.entered.acquire(timeout=DEADLINE)
        old.set()
        second.quiet()
        torch.lit = True
        new.set()
        assert second.answer("call-1")["value"] is True
        second.quiet()
        provider.stop()
    finally:
        second.close()


def test_a_service_that_comes_later_than_the_provider_finds_it(made, tmp_path, torch):
    url = f"ipc://{tmp_path}/commands"
    provider = made((TORCH, torch), url=url, start=False).start()
    with pytest.raises(TimeoutError, match="not registered"):
        provider.wait_until_registered(timeout=0.3)
    fake = ProviderService(url)
    try:
        fake.registered()
        provider.wait_until_registered()
        provider.stop()
    finally:
        fake.close()


def test_a_registration_without_an_answer_is_made_again(made, fake, torch, monkeypatch):
    monkeypatch.setattr(islet.Provider, "REGISTER_LIMIT", 0.2)
    fake.silent = True
    provider = made((TORCH, torch), start=False).start()
    for _ in range(3):
        fake.registered()
    fake.silent = False
    provider.wait_until_registered()


@pytest.mark.parametrize("reason", [
    {"op": "provider.dropped", "reason": "faults"},
    {"ok": False, "error": {"code": "notFound", "message": "", "retry": "never", "detail": {"call": "x"}}}])
def test_a_service_that_does_not_know_it_any_more_gets_a_new_registration(provider, fake, reason):
    fake.say(reason)
    assert fake.registered()["provider"] == provider.id


def test_connections_that_are_over_keep_no_descriptors(provider, fake, monkeypatch):
    """Even where what is logged of their ends is kept, as here, and with it the exceptions and their frames."""
    monkeypatch.setattr(islet, "_backoff", lambda *_: 0.0)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(40):
        fake.say({"op": "provider.dropped", "reason": "silent"})
        fake.registered()
    deadline = time.monotonic() + 5
    while (now := len(os.listdir("/proc/self/fd"))) > before + 20:  # libzmq closes what is closed a little later
        assert time.monotonic() < deadline, f"{before} descriptors before, {now} after"
        time.sleep(0.01)


def test_a_call_that_stands_before_its_end_with_the_service_does_not_begin(made, fake, torch):
    made((TORCH, torch))
    fake.registered()
    fake.say({"call": "a", "op": "control.perform", "app": APP, "kind": TORCH, "control": "c", "within": 10,
              "value": True}, {"op": "provider.dropped", "reason": "silence"})
    fake.registered()
    fake.answer(fake.call("value", TORCH))
    assert torch.lit is False and len(torch.told) == 1


def test_a_busy_service_is_asked_again_when_it_says(made, fake, torch):
    fake.refuse = [{"code": "busy", "retry": "later", "retryAfter": 600}]
    provider = made((TORCH, torch), start=False).start()
    fake.registered()
    begun = time.monotonic()
    fake.registered()
    assert 0.5 < time.monotonic() - begun < 10
    provider.wait_until_registered()


def test_a_conflict_with_one_that_was_killed_passes(made, fake, torch, monkeypatch, caplog):
    """The service finds out some seconds later that it is gone."""
    monkeypatch.setattr(islet, "_backoff", lambda *_: 0.01)
    conflict = {"code": "conflict", "retry": "refresh", "detail": {"kind": TORCH, "member": "tint"}}
    fake.refuse = [conflict, conflict]
    provider = made((TORCH, torch), start=False).start()
    for _ in range(3):
        fake.registered()
    provider.wait_until_registered()
    assert caplog.text.count("tried again: conflict") == 2 and "'member': 'tint'" in caplog.text


def test_who_waits_for_a_registration_that_is_tried_again_hears_why_it_is_not_there(made, fake, torch):
    fake.refuse = [{"code": "conflict", "retry": "refresh"}] * 100
    provider = made((TORCH, torch), start=False).start()
    fake.registered()
    fake.registered()  # the first refusal has been heard
    with pytest.raises(TimeoutError, match="conflict") as raised:
        provider.wait_until_registered(0)
    assert raised.value.__cause__.code == "conflict"


def test_a_conflict_that_stays_ends_it_once_whoever_was_killed_would_have_been_found(made, fake, torch, monkeypatch):
    monkeypatch.setattr(islet.Provider, "CONFLICT_LIMIT", 0.3)
    monkeypatch.setattr(islet, "_backoff", lambda *_: 0.2)
    fake.refuse = [{"code": "conflict", "retry": "refresh"}] * 100
    begun = time.monotonic()
    with pytest.raises(islet.IsletError, match="conflict"):
        made((TORCH, torch), start=False).run()
    assert time.monotonic() - begun >= 0.3
    assert len(fake.refuse) < 99, "tried again"


def test_a_conflict_that_stays_ends_it_with_the_difference(made, fake, torch, monkeypatch):
    monkeypatch.setattr(islet.Provider, "CONFLICT_LIMIT", 0)
    detail = {"kind": TORCH, "member": "tint", "declared": "red", "offered": "blue"}
    for begin in (lambda: made((TORCH, torch), start=False).run(),
                  lambda: made((TORCH, torch), start=False).start().wait_until_registered()):
        fake.refuse = [{"code": "conflict", "retry": "refresh", "detail": detail}]
        with pytest.raises(islet.IsletError) as raised:
            begin()
        assert (raised.value.code, raised.value.detail) == ("conflict", detail)


def test_a_registration_that_the_service_cannot_read_ends_it(made, fake, torch):
    """What is nested too deep is not read as far as its `req`."""
    fake.refuse = [{"code": "badMessage", "retry": "never"}]
    fake.refuses_without_req = True
    with pytest.raises(islet.IsletError, match="badMessage"):
        made((TORCH, torch), start=False).start().wait_until_registered()


def test_what_ends_a_run_in_the_background_is_logged(made, fake, torch, caplog):
    """Whoever goes on without a stop would never hear of it."""
    fake.refuse = [{"code": "badMessage", "retry": "never", "message": "too deep"}]
    provider = made((TORCH, torch), start=False).start()
    provider._thread.join(DEADLINE)
    assert "the provider has ended: badMessage" in caplog.text
    with pytest.raises(islet.IsletError, match="badMessage"):
        provider.stop()


# Ends


def test_a_stop_says_goodbye(made, fake, torch):
    provider = made((TORCH, torch))
    provider.stop()
    assert not provider.registered.is_set()
    assert [fake.next() for _ in range(2)] == [
        {"op": "provider.drain", "req": "drain", "provider": provider.id},
        {"op": "provider.leave", "req": "leave", "provider": provider.id}]


def test_calls_that_cross_a_stop_are_answered(made, fake, torch, monkeypatch):
    """The service made them before it read the drain, and gives up what has no answer at the goodbye."""
    monkeypatch.setattr(islet.Provider, "LEAVE_LIMIT", DEADLINE)
    provider = made((TORCH, torch), grace=DEADLINE)
    fake.reads_late = True
    stopping = threading.Thread(target=provider.stop)
    stopping.start()
    drain = fake.next()
    assert drain["op"] == "provider.drain"
    fake.quiet()
    fake.answer(fake.call("perform", TORCH, value=True))
    torch.hold = threading.Event()
    last = fake.call("value", TORCH)
    fake.say({"req": drain["req"], "ok": True})
    assert torch.entered.acquire(timeout=DEADLINE)
    fake.quiet()  # it waits for what it has begun, too
    torch.hold.set()
    assert fake.answer(last)["value"] is True
    assert fake.next()["op"] == "provider.leave"
    stopping.join()


def test_a_drain_that_nobody_answers_is_not_waited_for_beyond_its_limit(made, fake, torch):
    provider = made((TORCH, torch), grace=float("inf"))
    fake.reads_late = True
    provider.stop()
    assert [fake.next()["op"] for _ in range(2)] == ["provider.drain", "provider.leave"]


def test_a_drain_that_nobody_answers_is_not_waited_for_beyond_the_grace(made, fake, torch, monkeypatch):
    monkeypatch.setattr(islet.Provider, "LEAVE_LIMIT", 2 * DEADLINE)
    provider = made((TORCH, torch), grace=0.1)
    fake.reads_late = True
    begun = time.monotonic()
    provider.stop()
    assert time.monotonic() - begun < DEADLINE
    assert [fake.next()["op"] for _ in range(2)] == ["provider.drain", "provider.leave"]


def test_a_drain_that_the_service_refuses_ends_it_without_what_was_asked_for(made, fake, torch):
    """It does not know this provider any more, so nobody waits for values that are at work."""
    torch.hold = threading.Event()
    provider = made((TORCH, torch), grace=float("inf"))
    fake.reads_late = True
    fake.call("value", TORCH)
    assert torch.entered.acquire(timeout=DEADLINE)
    stopping = threading.Thread(target=provider.stop)
    stopping.start()
    drain = fake.next()
    error = {"code": "notFound", "retry": "never", "message": ""}
    fake.say({"req": drain.get("req"), "ok": False, "error": error})
    stopping.join(DEADLINE)
    assert not stopping.is_alive()
    torch.hold.set()
    fake.quiet()


def test_a_stop_waits_for_what_is_at_work_but_not_for_ever(made, fake, torch):
    torch.hold = threading.Event()
    provider = made((TORCH, torch), grace=30)
    call = fake.call("value", TORCH)
    assert torch.entered.acquire(timeout=DEADLINE)
    stopping = threading.Thread(target=provider.stop)
    stopping.start()
    assert fake.next()["op"] == "provider.drain"
    torch.hold.set()
    fake.answer(call)
    assert fake.next()["op"] == "provider.leave"
    stopping.join()

    torch.hold = threading.Event()
    impatient = made((TORCH, torch), grace=0.1)
    fake.call("value", TORCH)
    assert torch.entered.acquire(timeout=DEADLINE)
    impatient.stop()
    assert [fake.next()["op"] for _ in range(2)] == ["provider.drain", "provider.leave"]
    torch.hold.set()


@pytest.mark.parametrize("is_back", [False, True])
def test_a_stop_waits_for_an_action_whose_connection_is_lost(made, fake, torch, is_back):
    """The process that ends would break it off in the middle."""
    entered, goes_on, done = threading.Event(), threading.Event(), []

    def set_value(control, value):
        entered.set()
        assert goes_on.wait(DEADLINE)
        done.append(value)

    torch.set_value = set_value
    provider = made((TORCH, torch), grace=30)
    fake.registered()
    fake.call("perform", TORCH, value=True)
    assert entered.wait(DEADLINE)
    fake.say({"op": "provider.dropped", "provider": provider.id, "reason": "silent"})
    if is_back:
        fake.registered()
    stopping = threading.Thread(target=provider.stop)
    stopping.start()
    stopping.join(QUIET)
    assert stopping.is_alive() and not done
    goes_on.set()
    stopping.join(DEADLINE)
    assert not stopping.is_alive() and done == [True]


@pytest.mark.parametrize("end", ["refusal", "failure"])
def test_a_run_that_cannot_go_on_waits_for_an_action_at_work(made, fake, torch, monkeypatch, end):
    """The process that ends would break it off in the middle."""
    entered, goes_on, done = threading.Event(), threading.Event(), []

    def set_value(control, value):
        entered.set()
        assert goes_on.wait(DEADLINE)
        done.append(control.cancelled.is_set())

    torch.set_value = set_value
    provider = made((TORCH, torch), start=False, grace=30)
    ended = []

    def run():
        try:
            provider.run()
        except Exception as failure:
            ended.append((failure, list(done)))

    running = threading.Thread(target=run, daemon=True)
    running.start()
    fake.registered()
    fake.call("perform", TORCH, value=True)
    assert entered.wait(DEADLINE)
    if end == "refusal":
        fake.refuse = [{"code": "badField", "retry": "never"}]
    else:
        monkeypatch.setattr(islet, "_Link", None)  # as where the process may open no more files
    fake.say({"op": "provider.dropped", "provider": provider.id, "reason": "silent"})
    if end == "refusal":
        fake.registered()
    running.join(QUIET)
    goes_on.set()
    running.join(DEADLINE)
    [(failure, done_before)] = ended
    assert done_before == [True], "the run ended before the action"
    assert isinstance(failure, islet.IsletError if end == "refusal" else TypeError)


def at_work(made, fake, torch, **options):
    """A provider with an action at work, and what lets that go on."""
    entered, goes_on = threading.Event(), threading.Event()

    def set_value(control, value):
        entered.set()
        assert goes_on.wait(DEADLINE)

    torch.set_value = set_value
    provider = made((TORCH, torch), **options)
    fake.registered()
    fake.call("perform", TORCH, value=True)
    assert entered.wait(DEADLINE)
    return provider, goes_on


def test_a_run_that_is_refused_waits_no_longer_than_the_grace(made, fake, torch):
    provider, goes_on = at_work(made, fake, torch)
    fake.refuse = [{"code": "badField", "retry": "never"}]
    fake.say({"op": "provider.dropped", "provider": provider.id, "reason": "silent"})
    provider._thread.join(DEADLINE)
    with pytest.raises(islet.IsletError, match="badField"):
        provider.stop()
    goes_on.set()


def test_an_action_of_a_lost_connection_that_ends_while_it_stops_is_told_before_the_goodbye(made, fake, torch):
    """The service holds what was true before it."""
    provider, goes_on = at_work(made, fake, torch, grace=30)
    fake.say({"op": "provider.dropped", "provider": provider.id, "reason": "silent"})
    fake.registered()
    provider.wait_until_registered()
    stopping = threading.Thread(target=provider.stop)
    stopping.start()
    assert fake.next()["op"] == "provider.drain"
    fake.quiet()
    goes_on.set()
    assert wished(fake) == {"op": "control.reload", "app": APP, "id": PLACED}
    assert fake.next()["op"] == "provider.leave"
    stopping.join()


def test_a_stop_may_wait_for_as_long_as_it_takes(made, fake, torch):
    torch.hold = threading.Event()
    provider = made((TORCH, torch), grace=float("inf"))
    call = fake.call("value", TORCH)
    assert torch.entered.acquire(timeout=DEADLINE)
    stopping = threading.Thread(target=provider.stop)
    stopping.start()
    assert fake.next()["op"] == "provider.drain"
    fake.say({"op": "provider.ping", "at": 1_763_700_000_000})
    assert fake.next()["op"] == "provider.pong"
    torch.hold.set()
    fake.answer(call)
    assert fake.next()["op"] == "provider.leave"
    stopping.join()


def test_a_goodbye_that_nobody_answers_is_short(made, fake, torch):
    provider = made((TORCH, torch))
    fake.silent = True
    begun = time.monotonic()
    provider.stop()
    assert time.monotonic() - begun < 5


def test_each_run_has_a_uuid_of_its_own(made, fake, torch):
    provider = made((TORCH, torch))
    first = fake.registered()["provider"]
    provider.stop()
    provider.start().wait_until_registered()
    assert fake.registered()["provider"] != first


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_asked_to_end_says_goodbye(fake, number):
    program = f"""
import islet
provider = islet.Provider("{APP}")
@provider.toggle("{TORCH}")
class Torch(islet.Toggle):
    def current_value(self, control):
        return True
provider.run()
print("ended well")
"""
    env = environment(PYTHONPATH=str(ROOT / "scripts"), ISLET_COMMANDS=fake.url)
    process = subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, text=True)
    try:
        fake.registered()
        assert fake.answer(fake.call("value", TORCH))["value"] is True
        process.send_signal(number)
        out, _ = process.communicate(timeout=DEADLINE)
        assert (process.returncode, out) == (0, "ended well\n")
        assert [fake.next()["op"] for _ in range(2)] == ["provider.drain", "provider.leave"]
    finally:
        process.kill()
        process.wait()


def test_a_stop_says_goodbye_also_where_the_registration_has_no_answer_yet(made, fake, torch):
    """The service may have taken it already, and call it."""
    fake.silent = True
    provider = made((TORCH, torch), start=False).start()
    fake.registered()
    provider.stop()
    assert [fake.next()["op"] for _ in range(2)] == ["provider.drain", "provider.leave"]


def test_a_call_behind_the_goodbye_does_not_begin(made, fake, torch):
    """The service gives it up with the provider: nobody hears what becomes of it."""
    provider = made((TORCH, torch))
    fake.silent = True
    stopping = threading.Thread(target=provider.stop)
    stopping.start()
    assert [fake.next()["op"] for _ in range(2)] == ["provider.drain", "provider.leave"]
    fake.call("perform", TORCH, value=True)
    stopping.join()
    assert torch.told == []
    fake.quiet()


@pytest.mark.parametrize("timeout", [None, -1, float("nan")])
def test_a_time_that_no_wait_could_have_is_refused(made, timeout):
    with pytest.raises(ValueError, match="a timeout is a number of seconds from 0 on"):
        made(start=False).wait_until_registered(timeout)
    with pytest.raises(ValueError, match="a grace is a number of seconds from 0 on"):
        made(start=False, grace=timeout)


def test_a_start_that_the_system_has_no_thread_for_may_be_tried_again(made, fake, torch, monkeypatch):
    provider = made((TORCH, torch), start=False)

    def start(_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="new thread"):
        patch.setattr(threading.Thread, "start", start)
        provider.start()
    provider.start().wait_until_registered()

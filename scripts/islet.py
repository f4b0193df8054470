"""Islet from Python: commands, a live copy of the state, providers of controls and widgets. One file; needs
Python 3.10 or later and pyzmq.

Addresses come from ISLET_COMMANDS, ISLET_EVENTS and ISLET_BULK, the app from ISLET_APP. Commands else go to
the contract's address; where the streams are, the service says, unless you name it. ISLET_EVENTS and
ISLET_BULK are those of the service at ISLET_COMMANDS: beside another address of commands they do not hold.
Fields of commands, entities and events have the contract's names, and its dates are milliseconds since 1970;
the times of this module's own arguments are seconds. An integer of more digits than Python converts (4,300)
comes as a `decimal.Decimal`. The contract is `proto-json/` of the project.

`Client` sends commands. A call that gets no answer is sent again under the same `req`, so that it is executed once:

    import islet

    client = islet.connect(app="com.example.pizza")
    client.call("activity.start", type="Order", key="order-7", ifExists="update",
                attributes={"number": 7}, contentState={"eta": 20})
    try:
        client.call("activity.update", key="order-8", contentState={"eta": 12})
    except islet.IsletError as error:
        print(error.code, error.retry)                # notFound never
    answers = client.call_many(
        [{"op": "activity.update", "key": "order-7", "contentState": {"eta": eta}} for eta in (9, 6, 3)])
    print([answer["activity"]["revision"] for answer in answers])
    client.call("activity.end", key="order-7")
    client.close()

`Replica` keeps a copy of an app's listed entities, and tells what changes. Nothing is lost in silence: a gap is
repaired by a replay or, where that is impossible, by a new snapshot:

    import islet

    with islet.connect(app="com.example.pizza").replica() as replica:
        replica.sync()                                # the copy is complete and followed from here on
        for topic, entity in replica.entities.items():
            print(topic, entity["state"], entity["revision"])
        for change in replica.changes(timeout=2):     # ends after two seconds without a change
            if change.kind == "event":
                print(change.topic, change.event["event"], change.event["cause"], change.entity)
            elif change.kind == "synced":             # here `entities` may have changed in any way
                print("all anew:", change.reason, len(replica.entities))

`Provider` computes the values of controls, the timelines of widgets, and performs their actions, in threads:

    import islet

    provider = islet.Provider(app="com.example.home", capacity=16)

    @provider.toggle("com.example.torch", display_name="Torch", preview=False)
    class Torch(islet.Toggle):
        lit = False

        def current_value(self, control):
            return self.lit

        def set_value(self, control, value):
            self.lit = value
            return "Lit" if value else "Dark"         # a status, shown for a moment

    provider.run()                                    # until SIGTERM, Ctrl-C or provider.stop()

A widget's timeline says what it shows and when; the service shows each entry at its date, and asks again by the policy:

    import islet

    HOUR = 3_600_000
    provider = islet.Provider(app="com.example.weather")

    @provider.widget("com.example.forecast", families=["systemSmall", "systemMedium"], display_name="Forecast")
    class Forecast(islet.TimelineProvider):
        def timeline(self, widget):
            entries = [islet.TimelineEntry(widget.now + hour * HOUR, {"celsius": 20 + hour}) for hour in range(6)]
            return islet.Timeline(entries, policy=islet.after(widget.now + 6 * HOUR))

        def perform(self, widget, action, parameters):
            if action == "refresh":
                provider.reload_timelines(widget.kind)

    provider.run()

Threads: a `Client` and a `Provider` may be called from any thread (the client has one socket for each thread that
calls it); a `Replica` belongs to the thread that reads it. None of them sets ZMQ_HEARTBEAT_IVL, and neither may you:
it can abort a process with libzmq 4.3.4.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import copyreg
import dataclasses
import datetime
import decimal
import errno
import functools
import inspect
import itertools
import json
import logging
import os
import queue
import random
import re
import signal
import socket as sockets
import threading
import time
import types
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import zmq

__all__ = [
    "Answer", "Button", "Change", "Client", "Control", "Endpoints", "Fail", "IsletError", "NoAnswer", "Provider",
    "Replica", "Timeline", "TimelineEntry", "TimelineEntryRelevance", "TimelineProvider", "Toggle", "Widget",
    "WidgetRelevance", "after", "connect", "parameter"]

JSON = dict[str, Any]
log = logging.getLogger("islet")


def connect(commands: str | None = None, events: str | None = None, bulk: str | None = None, *,
            app: str | None = None, timeout: float = 10.0) -> Client:
    """A client of the service at these addresses; its `replica()` and `provider()` use the same ones. Where nobody has
    named `events` or `bulk`, a replica asks the service."""
    return Client(app, endpoints=Endpoints.given(commands, events, bulk), timeout=timeout)


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where a service is."""

    commands: str
    events: str | None = None
    """None: where the service says; so for `bulk`."""
    bulk: str | None = None

    @classmethod
    def given(cls, commands: str | None = None, events: str | None = None, bulk: str | None = None) -> Endpoints:
        """What is not given comes from the environment. The streams that it names are those of its own service: they do not
        hold where commands go to another one. Commands else go to the contract's address."""
        own = os.environ.get("ISLET_COMMANDS") or "tcp://127.0.0.1:7411"
        commands = commands or own
        streams: Mapping[str, str] = os.environ if commands == own else {}
        return cls(commands, events or streams.get("ISLET_EVENTS") or None, bulk or streams.get("ISLET_BULK") or None)


class IsletError(Exception):
    """The service refused a command. `retry` says what to do about a code that you do not know: "never" (the same
    command fails again), "later" (after `retry_after` seconds, if it stands), "refresh" (look at the state first)."""

    def __init__(self, code: str, message: str, retry: str = "never", detail: JSON | None = None,
                 retry_after: float | None = None, req: str | None = None):
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.retry, self.req = code, message, retry, req
        self.detail = detail or {}
        self.retry_after = retry_after

    def __reduce__(self) -> Any:
        # Of any class and with any arguments, so that it comes whole out of another process.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]

    @classmethod
    def of(cls, answer: JSON) -> IsletError:
        """The error that an answer holds."""
        error = answer.get("error")
        error = error if isinstance(error, dict) else {}
        after = error.get("retryAfter")
        return cls(str(error.get("code")), str(error.get("message")), str(error.get("retry", "never")),
                   error.get("detail"), after / 1000 if isinstance(after, (int, float)) else None, answer.get("req"))


class NoAnswer(IsletError):
    """No answer came in time: the command may or may not have been executed, and the same `req` asks again safely."""

    def __init__(self, after: float, req: str | None):
        super().__init__("noAnswer", f"no answer within {after:g} s", "refresh", req=req)


# What all three share

_ODD = (AttributeError, LookupError, TypeError, ValueError)
"""What a message that is none of the contract may lead to: it is passed over, and ends no loop."""


def _encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain).encode()


def _plain(value: Any) -> Any:
    """Any mapping is as good as a dictionary."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_NESTING = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]')


def _depth(frame: bytes) -> int:
    """How deep arrays and objects of a frame nest."""
    depth = deepest = 0
    for found in _NESTING.finditer(frame):
        if found[0] in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif found[0] in (b"]", b"}"):
            depth -= 1
    return deepest


def _integer(digits: str) -> int | decimal.Decimal:
    try:
        return int(digits)
    except ValueError:
        return decimal.Decimal(digits)


def _decode(frame: bytes) -> JSON | None:
    """A frame as an object; None where it is none: nothing that comes from outside may end a loop."""
    try:
        try:
            value = json.loads(frame)
        except ValueError:  # no JSON, or an integer that is too long: only now, since it makes reading slower
            value = json.loads(frame, parse_int=_integer)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_chance = random.SystemRandom()
"""Without a state that forked processes would share: their waits and names are to differ."""


def _backoff(attempt: int, first: float, longest: float, chance: random.Random = _chance) -> float:
    """The wait before further attempt 1, 2 …: doubling, and by chance, so that many clients do not come together."""
    return min(first * float(1 << min(max(attempt - 1, 0), 20)), longest) * chance.uniform(0.5, 1.0)


def _checked_timeout(timeout: float | None, *, optional: bool = True, name: str = "timeout") -> None:
    if not (optional if timeout is None else timeout >= 0):
        raise ValueError(f"a {name} is a number of seconds from 0 on, and not {timeout!r}")


_of_this_process: weakref.WeakSet[Any] = weakref.WeakSet()
"""Clients and providers. A forked process has their numbers, sockets and locks, too, and must not use them."""


_before_ours: dict[int, Any] = {}
"""The handlers of signals that those of a provider at work have taken the place of."""


def _forked() -> None:
    # The first signal ends this process, also one that comes just before a wait, where no handler of Python's would run.
    for number, handler in _before_ours.items():
        signal.signal(number, handler or signal.SIG_DFL)
    _before_ours.clear()
    of_others = {end.fileno() for each in list(_of_this_process) for end in getattr(each, "_ends", ())}
    if (wakes := signal.set_wakeup_fd(-1)) not in of_others:  # a signal must not write to what is closed here
        signal.set_wakeup_fd(wakes)
    for each in list(_of_this_process):
        each._context = None  # one that was given is the other process's, too
        each._begin_process()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


_FIRST_DESCRIPTORS = 12
"""What the first socket of a context opens at most, as it starts libzmq's threads: without, libzmq ends the process."""

_started: weakref.WeakSet[zmq.Context[Any]] = weakref.WeakSet()
"""The contexts that have made a socket. A forked process has others."""


def _socket(context: zmq.Context[Any] | None, kind: int, url: str, prepare: Callable[[Any], Any] | None = None) -> Any:
    """A connected socket that never blocks the end of the process; an `IsletError` where it may open no more of them."""
    made = None
    try:
        context = context or zmq.Context.instance()
        if context not in _started:
            _look_for_descriptors()
        made = context.socket(kind)
        _started.add(context)
        return _connected(made, url, prepare)
    except (OSError, zmq.ZMQError) as error:
        if made is not None:
            made.close()
        if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
            raise
        message = f"this process may open no more files or sockets: {_said(error)}"
        raise IsletError("unavailable", message, "later", {"reason": "descriptors"}) from error


def _look_for_descriptors() -> None:
    pipes: list[int] = []
    try:
        while len(pipes) < _FIRST_DESCRIPTORS:
            pipes += os.pipe()
    finally:
        for end in pipes:
            os.close(end)


def _connected(made: Any, url: str, prepare: Callable[[Any], Any] | None) -> Any:
    made.setsockopt(zmq.LINGER, 0)
    made.setsockopt(zmq.SNDHWM, 0)  # a SUB loses filters beyond its limit; the others send what is bounded anyway
    made.setsockopt(zmq.RCVHWM, 100_000)
    # libzmq's own jitter is the same in all processes.
    made.setsockopt(zmq.RECONNECT_IVL, _chance.randint(100, 300))
    made.setsockopt(zmq.RECONNECT_IVL_MAX, 5_000)
    for option, value in ((zmq.TCP_KEEPALIVE, 1), (zmq.TCP_KEEPALIVE_IDLE, 15), (zmq.TCP_KEEPALIVE_INTVL, 5),
                          (zmq.TCP_KEEPALIVE_CNT, 3)):
        made.setsockopt(option, value)
    if prepare:
        prepare(made)
    made.connect(url)
    return made


def _send(made: Any, url: str, frames: list[bytes]) -> None:
    """Sends without waiting. Where something else answered than what must be at the address, libzmq gives it up for good,
    and a socket that has no other peer would wait for one without end: it is connected anew."""
    try:
        made.send_multipart(frames, zmq.DONTWAIT)
    except zmq.Again:
        with contextlib.suppress(zmq.ZMQError):  # it has been forgotten already
            made.disconnect(url)
        made.connect(url)
        made.send_multipart(frames, zmq.DONTWAIT)


def _milliseconds(seconds: float) -> int:
    """Rounded up, so that a turn does not come just before its time; at most a day, since libzmq takes no longer one."""
    return int(min(seconds, 86_400) * 1000) + 1 if seconds > 0 else 0


# Commands


class Client:
    """Sends commands and gives their answers. Any thread may call it: each has a socket of its own, made at its first
    call. `close()` is for when no thread is in a call. A forked process and a copy (by `pickle` or `copy`) is a client of
    its own: what two of them send is never taken for one's repetition."""

    BATCH = 256
    """Commands in one message, at most: the contract's number."""
    FRAME_LIMIT, REQ_LIMIT, DEPTH_LIMIT = 65_536, 64, 65
    """Bytes of a command, characters of a `req`, and levels of nesting, of which the command itself is the first."""
    READS = frozenset({
        "get", "list", "history", "explain", "info", "ping", "kinds", "preview", "options", "timeline", "budget",
        "snapshot", "recommendations", "stack", "stats"})
    ASKING = frozenset({"options", "snapshot", "recommendations"})
    """Reads that a provider answers: each time that one is sent, it is asked. So they are not sent again before
    `PATIENCE` / 2, which is longer than providers usually may take."""
    PATIENCE = 10.0
    _APPLESS = ("service.", "clock.", "device.", "stream.", "provider.", "widget.stack")

    def __init__(self, app: str | None = None, *, endpoints: Endpoints | None = None, timeout: float = 10.0,
                 first_retry: float = 0.5, client: str | None = None, prefix: str = "py",
                 context: zmq.Context[Any] | None = None):
        """`timeout` is for a call with all its attempts; the first is repeated after about `first_retry`, or later where a
        provider is asked. `client` is the UUID that makes retries safe: give one only where calls are to be repeated by
        another process, under a `req` of your own, within ten minutes of the service's clock: see `call`. Other calls are
        numbered, after `prefix` and a part by chance."""
        _checked_timeout(timeout, optional=False)
        if not first_retry > 0:
            raise ValueError(f"first_retry is a number of seconds above 0, and not {first_retry!r}")
        if not re.fullmatch(r"[ !#-\[\]-~]{0,32}", prefix):
            raise ValueError(f"a prefix has at most 32 printable ASCII characters without \" and \\, and is not {prefix!r:.80}")
        self.app = app or os.environ.get("ISLET_APP")
        self.endpoints = endpoints or Endpoints.given()
        self.timeout, self.first_retry = timeout, first_retry
        self._given, self._prefix, self._context = client, prefix, context
        self._begin_process()
        _of_this_process.add(self)

    def _begin_process(self) -> None:
        """Who it is in this process, and nothing of the one from which that was forked: no number, socket or lock."""
        self.client = self._given or str(uuid.uuid4())
        """The UUID that it signs changes with; another one after a fork."""
        # By chance, so that no number is one of another process that was given the same UUID, or a `req` from there.
        self._numbered = f"{self._prefix}-{_chance.getrandbits(32):08x}-"
        self._numbers = itertools.count(1)
        self._local = threading.local()
        self._sockets: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:
        return functools.partial(type(self), endpoints=self.endpoints, timeout=self.timeout, client=self._given,
                                 first_retry=self.first_retry, prefix=self._prefix), (self.app,)

    def call(self, op: str, /, *, timeout: float | None = None, **fields: Any) -> JSON:
        """Sends one command and gives its answer; raises `IsletError` where it is refused, `NoAnswer` where none comes.
        Fields that are None are left out. With `ack="none"` nobody learns what it came to, only that the service has
        taken it: what comes back has the `req` alone. So it is with `stream.applied`, which has no answer.

        A `req` of your own makes this very call repeatable by the same `client` for ten minutes of the service's clock,
        which are a second of `islet dev` (and 65,536 further calls of the client); after that it is executed again. So
        where the same work may come again later, or in another process, a start has an `id` of its own and no `ifExists`,
        and another `id` in each app and on each device, as one that is taken anywhere is refused; an end names that `id`,
        with `source="push"`, so that nothing newer keeps it from ending; an update names it with a `timestamp`, tells
        something of its own, such as that time, as one that changes nothing is dropped and counts as no newer one, and
        has an `ifRevision` where it alerts, as what has the newest `timestamp` again is applied again. Let a `req` end
        in no number ("order-1042.start", not "order-1042"), unless those behind the same beginning rise from call to
        call: one that is not above a forgotten one is refused as `outcomeUnknown`, though it was never executed."""
        if "op" in fields:
            raise TypeError(f"{op}: the operation is the first argument, and no command has a field 'op' beside it")
        [answer] = self.call_many([{"op": op, **fields}], timeout=timeout)
        if isinstance(answer, IsletError):
            raise answer
        return answer

    def call_many(self, commands: Iterable[Mapping[str, Any]], *, timeout: float | None = None,
                  ) -> list[JSON | IsletError]:
        """Sends many commands, 256 a message, and gives what each came to, in order: its answer or its `IsletError`.
        They are independent of each other: no transaction. `timeout` is for each message. Where a command is no JSON,
        or two have the same `req`, that is raised before anything is sent."""
        timeout = self.timeout if timeout is None else timeout
        _checked_timeout(timeout)
        made = [_Command(self._complete(command)) for command in commands]
        reqs = [command.req for command in made if command.req is not None]
        if len(set(reqs)) < len(reqs):
            raise ValueError("two commands of one call have the same req")
        size = self.BATCH - any(command.is_silent for command in made)  # a ping goes with those
        for begin in range(0, len(made), size):
            self._exchange(made[begin:begin + size], timeout)
        return [command.result for command in made]

    def replica(self, prefix: str = "", *, app: str | None = None) -> Replica:
        """A replica of this client's app at the same service. Where the streams are another one's, as the addresses do not
        belong together, it raises `IsletError` (`otherService`) instead of taking them in."""
        return Replica(app or self.app, prefix, endpoints=self.endpoints, context=self._context, owned=True)

    def provider(self, *, app: str | None = None, capacity: int = 16) -> Provider:
        """A provider for this client's app at the same service."""
        return Provider(app or self.app, capacity, commands=self.endpoints.commands, context=self._context)

    def close(self) -> None:
        with self._lock:
            for made in list(self._sockets):
                made.close()
        self._local = threading.local()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _complete(self, command: Mapping[str, Any]) -> JSON:
        op: str = command["op"]
        whole: JSON = {"op": op}
        if op.rpartition(".")[2] not in self.READS:
            whole["client"] = self.client
        if self.app and not op.startswith(self._APPLESS):
            whole["app"] = self.app
        # Without any `client` a change would be executed as often as it is sent.
        given = {name: value for name, value in command.items() if name != "client" or value is not None}
        return {name: value for name, value in {**whole, **given}.items() if value is not None}

    def _exchange(self, commands: list[_Command], timeout: float) -> None:
        """One message and its answers. What is unanswered is sent again with the same bytes, what was refused as busy
        when the service says."""
        # A number is drawn just before it is sent: in many threads, too, the service sees them rise.
        commands = [command for command in commands if command.begin(self._numbered, self._numbers)]
        # The thread's socket is taken out while it is in use: a call in the middle of this one, such as that of a
        # signal's handler, has another.
        local = self._local
        connection, local.socket = getattr(local, "socket", None), None
        if connection is None or connection.closed:
            connection = self._new_socket()
        try:
            keep = self._converse(connection, commands, timeout)
            if keep and local.socket is None:
                local.socket = connection
        finally:
            # What waits in the socket must not be executed when nobody expects it any more, nor a late answer be taken
            # for another call's.
            if local.socket is not connection:
                connection.close()

    def _converse(self, connection: Any, commands: list[_Command], timeout: float) -> bool:
        """Sends until each command has its result; whether the socket has nothing on its way any more. A change is not
        refused while a further copy of it is on its way, which is executed where the reason has passed by then."""
        asked = [command for command in commands if not command.is_silent]
        if commands and not asked:  # something whose answer tells that the message was taken
            asked = [_Command({"op": "service.ping"})]
            asked[0].begin(self._numbered, self._numbers)
            commands = commands + asked
        by_req = {command.req: command for command in asked}
        silent = [command for command in commands if command.is_silent]
        first = max(self.first_retry, self.PATIENCE if any(command.asks for command in asked) else 0.0)
        sent: list[list[_Command]] = []  # what was asked in each message that is not answered yet
        ping: _Command | None = None
        doubtful: list[_Command] = []  # what was refused, and whose copies are before the ping
        begun = due = time.monotonic()
        attempt = 0
        while waiting := [command for command in asked if command.result is None]:
            now = time.monotonic()
            if now >= begun + timeout:
                for command in waiting + silent:
                    command.result = NoAnswer(timeout, command.req)
                return False
            if ping is None and (doubtful := [command for command in waiting if command.refusal is not None]):
                ping = _Command({"op": "service.ping"})
                ping.begin(self._numbered, self._numbers)
                by_req[ping.req] = ping
                due = now
            if now >= due:
                attempt += 1
                message = [command for command in commands if command.result is None and command.refusal is None]
                message += [ping] if ping is not None else []
                _send(connection, self.endpoints.commands, [command.frame for command in message])
                sent.append([command for command in message if not command.is_silent])
                due = now + _backoff(attempt, first, max(first, 4.0))
            if not connection.poll(_milliseconds(min(due, begun + timeout) - now)):
                continue
            answers = [_decode(frame) for frame in connection.recv_multipart()]
            answered = next((each for each in sent if self._answers(answers, each)), None)
            if answered is not None:
                sent.remove(answered)
            for place, answer in enumerate(answers):
                if answer is None:
                    continue
                # A refusal of what could not be read far enough has no req: then its place tells.
                command = by_req.get(str(answer["req"])) if "req" in answer else answered and answered[place]
                if command is None or command.result is not None:
                    continue  # an answer that came twice, or after its time
                for each in silent:  # they stood in the same message
                    each.result = {"req": each.req}
                silent = []
                error = None if answer.get("ok") else IsletError.of(answer)
                wait = (error and error.retry_after) or 0.1
                if error is None:
                    command.result = answer
                elif error.code == "busy" and time.monotonic() + wait < begun + timeout:
                    due = time.monotonic() + wait * _chance.uniform(1.0, 1.25)
                elif command.changes and any(command in copy for copy in sent):
                    command.refusal = error  # a later copy may be executed nevertheless
                else:
                    command.result = error
            if ping is not None and ping.result is not None:
                # What one connection has sent is answered in its order: no copy is on its way any more.
                for command in doubtful:
                    command.result = command.result or command.refusal
                ping = None
        return not sent

    @staticmethod
    def _answers(answers: list[JSON | None], asked: list[_Command]) -> bool:
        """Whether these are the answers to that message: as many, each with its command's req or with none."""
        return len(answers) == len(asked) and all(
            answer is not None and str(answer.get("req", command.req)) == command.req
            for answer, command in zip(answers, asked))

    def _new_socket(self) -> Any:
        """A socket for this thread; it goes when the thread goes."""
        made = _socket(self._context, zmq.DEALER, self.endpoints.commands)
        with self._lock:
            self._sockets.add(made)
        return made


class _Command:
    """A command on its way: its frame, and what it came to."""

    def __init__(self, whole: JSON):
        self.req: str | None = whole.pop("req", None)
        self.is_silent = whole.get("ack") == "none" or whole["op"] == "stream.applied"
        verb = whole["op"].rpartition(".")[2]
        self.changes, self.asks = verb not in Client.READS, verb in Client.ASKING
        self.frame = b""
        self.refusal: IsletError | None = None  # what one copy came to, while others may come to something else
        self.result: Any = None
        self._rest = _encode(whole)[1:]

    def begin(self, prefix: str, numbers: Iterator[int]) -> bool:
        """Gives it its number; whether it is worth sending. The service could not say whose these refusals are."""
        if self.req is None:
            self.req = f"{prefix}{next(numbers)}"
        elif not isinstance(self.req, str) or not re.fullmatch(r"[ !#-\[\]-~]+", self.req):
            return self._refuse("badField", f"the field 'req' is printable ASCII without \" and \\, and not {self.req!r:.80}",
                                field="req")
        if len(self.req) > Client.REQ_LIMIT:
            return self._refuse("badField", f"the field 'req' has at most {Client.REQ_LIMIT} characters", field="req")
        self.frame = b'{"req":"%s",' % self.req.encode() + self._rest
        if (size := len(self.frame)) > Client.FRAME_LIMIT:
            limit = Client.FRAME_LIMIT
            return self._refuse("badMessage", f"a command has at most {limit} bytes, and this one has {size}",
                                bytes=size, limit=limit)
        limit = Client.DEPTH_LIMIT
        if self.frame.count(b"[") + self.frame.count(b"{") > limit and (depth := _depth(self.frame)) > limit:
            return self._refuse("badMessage", f"a command nests at most {limit} levels deep, and this one {depth}")
        return True

    def _refuse(self, code: str, message: str, **detail: Any) -> bool:
        self.result = IsletError(code, message, "never", detail, req=self.req)
        return False


# The copy


@dataclass(frozen=True, slots=True)
class Change:
    """What a replica tells. `kind` is one of

    - "synced": everything is told anew, `reason` says why ("joined", "epochChanged", "eventsLost", "inconsistent",
      "unread"); `missed` are the numbers of the events that will not be told, where that is known;
    - "event": one event, in the stream's order, each once; `entity` is the whole entity after it. `news` is False where
      the snapshot had it in already;
    - "closing": the service is stopping in good order.
    """

    kind: str
    reason: str | None = None
    missed: range = range(0)
    topic: str | None = None
    event: JSON | None = None
    entity: JSON | None = None
    news: bool = True


class _Table:
    """Entities by topic, with the digest of the contract kept up to date."""

    MASK, LISTED_NO_MORE = (1 << 64) - 1, frozenset({"dismissed", "removed"})

    def __init__(self) -> None:
        self.entities: dict[str, JSON] = {}
        self._hashes: dict[str, int] = {}
        self._digest = 0

    def put(self, topic: str, entity: JSON) -> None:
        """Takes an entity in, in place of the one that may be there."""
        hashed = self._hashes.get(topic)
        if hashed is None:
            hashed = 0xCBF29CE484222325
            for byte in topic.encode():
                hashed = ((hashed ^ byte) * 0x100000001B3) & self.MASK
            self._hashes[topic] = hashed
        else:
            self._digest ^= self._part(hashed, self.entities[topic]["revision"])
        self.entities[topic] = entity
        self._digest ^= self._part(hashed, entity["revision"])

    def drop(self, topic: str) -> None:
        if (entity := self.entities.pop(topic, None)) is not None:
            self._digest ^= self._part(self._hashes.pop(topic), entity["revision"])

    def clear(self) -> None:
        self.entities.clear()
        self._hashes.clear()
        self._digest = 0

    def digest(self) -> tuple[int, str]:
        """How many entities there are, and their digest as the contract writes it."""
        return len(self.entities), f"{self._digest:016x}"

    def agrees(self, mark: JSON) -> bool:
        """Whether a watermark, or the end of a snapshot, speaks of the same."""
        return self.digest() == (mark.get("entities"), mark.get("digest"))

    @classmethod
    def _part(cls, hashed: int, revision: int) -> int:
        value = hashed ^ (revision * 0x9E3779B97F4A7C15 & cls.MASK)
        value ^= value >> 33
        value = (value * 0xFF51AFD7ED558CCD) & cls.MASK
        value ^= value >> 33
        value = (value * 0xC4CEB9FE1A85EC53) & cls.MASK
        return value ^ (value >> 33)


class _Machine:
    """What a replica knows, what it has asked, and what it does next. It has no socket and no clock: messages and the
    time (seconds on any steady clock) are arguments, and what is to be done then stands in `todo`, in order:

    - `("subscribe", topic)` and `("unsubscribe", topic)`;
    - `("send", command)` on the bulk connection;
    - `("bulk", None)`: close that connection and open another, so that what was asked for on it ends;
    - `("events", topics)`: the same for the subscription, with these topics in this order;
    - `("owner", command)`: send it to the service that takes the commands, on another connection; None: close that;
    - `("report", command)`: send it there, too, if that can be done at once; what cannot is told by `unreported`.

    Each question has a deadline and a next step, so that nothing waits for a message that was lost:

    - join: `JOIN_LIMIT` and a backoff, then another nonce;
    - snapshot and replay: `PULL_LIMIT` from chunk to chunk, then again on another connection, after a backoff; a refusal
      that says "later" is asked again when it says;
    - digest: `DIGEST_LIMIT`, then again;
    - whose the streams are: `OWNER_LIMIT` from when a join is answered, `OWNER_TRIES` times, then it goes on without;
    - a subscription that is silent for `SILENCE`, although watermarks come every 30 s: another one, and a join.

    Numbers show a prefix no gap. So where its subscription may have missed something, above all with its connection
    (`_doubt`), it takes nothing in until a join was answered after that, and then replays from where it stood. A whole
    app goes on taking in what follows, and is `lost` until then.

    Where `owned`, the first answer to a join and the first chunk must name the epoch that `service.info` does: else they are
    another service's. A new one may have begun in between, so that is asked again before it is told. What comes later is
    a new history of the same service."""

    CREDIT = 4
    """Chunks of a snapshot or replay that may be on their way."""
    WAITING = 65_536
    """Events that wait for the end of a snapshot or replay, changes that wait for their reader, and positions that are
    remembered for a digest that was asked for, at most."""
    REPORT, REPORT_AGAIN = 1.0, 30.0
    """Seconds from one report of how far it is to the next, and where nothing has changed since."""
    CHECK = 20.0
    """Seconds between comparisons of digests, where a prefix is followed and its app's events go on."""
    PULL_LIMIT, JOIN_LIMIT, DIGEST_LIMIT, SILENCE = 10.0, 1.0, 3.0, 45.0
    OWNER_LIMIT, OWNER_TRIES = 1.0, 3
    OWNER_PAUSE = 5.0
    """Seconds after it was told that streams are another service's, until that is looked at again."""

    def __init__(self, app: str, prefix: str | None, now: float, chance: random.Random | None = None, *,
                 owned: bool = False):
        """`prefix` begins with the app; None: the whole app. `chance` spreads backoffs and makes nonces. `owned`: whether
        the streams must be those of the service that takes the commands."""
        self.app, self.prefix = app, prefix
        self._chance = chance or _chance
        self.todo: list[tuple[str, Any]] = []
        self.out: collections.deque[Change | IsletError] = collections.deque()
        self.state = "joining"
        self.epoch: str | None = None
        self.seq = 0
        self._told = 0  # every event up to this one was told, or stands in a `missed`
        self.table = _Table()
        self.synced = False
        self.fuzzy = 0  # events up to here may be in the snapshot's rows
        self._now = now
        self._waiting: collections.deque[tuple[str, JSON]] = collections.deque()
        self._head = 0  # an event that is known to exist
        self._pending: JSON | None = None  # what must hold at its `seq`, which may not be reached yet
        self._need: str | None = "joined"  # why a snapshot must come before anything is followed
        # Joining.
        self._nonce = b""
        self._answered = False
        self._asked_at = 0  # `seq` when the nonce was subscribed to
        self._join_attempt = 0
        self._join_due: float | None = None
        self.lost = False  # whether its subscription is, or was, without a connection, until a join is answered
        self._doubted = False  # a prefix alone: what comes may have a gap before it, until a join is answered
        self._reconnected = False  # whether the pull under way may have gone with the subscription's connection
        self._skipped = False  # a prefix alone: behind the beginning of the snapshot under way events were dropped
        self._silence_due = now + self.SILENCE
        # The pull that is wanted (`_pull_begin`) or under way (`_pull_due`).
        self._pull: JSON | None = None
        self._pull_begin: float | None = None
        self._pull_due: float | None = None
        self._chunks = 0
        self._rows: list[tuple[str, JSON]] = []
        self._from = 0
        self._attempt = 0
        self._numbers = itertools.count(1)
        # The digest that is asked for, and what held since then: (seq, entities, digest).
        self._digest_req: str | None = None
        self._digest_due: float | None = None
        self._trail: collections.deque[tuple[int, int, str]] = collections.deque(maxlen=self.WAITING)
        self._checked: int | None = None  # the position that was compared last
        self._check_due = now + self.CHECK
        # What was reported last, and when.
        self._reported: tuple[bytes, int] | None = None
        self._reported_at = now - self.REPORT
        # Whose the streams are, until that is known.
        self._owner_tries = self.OWNER_TRIES if owned else 0
        self._owner: str | None = None  # the epoch of the service that takes the commands
        self._owner_req = ""
        self._owner_due: float | None = None  # while a join waits for it
        self._subscribe_anew()
        if owned:
            self._ask_owner()

    # What happens

    def due(self) -> float:
        """When `tick` is wanted, whatever comes before."""
        dues = (self._join_due, self._silence_due, self._pull_begin, self._pull_due, self._digest_due,
                self._owner_due, self._check_due if self.prefix else None, self._report_due())
        return min(due for due in dues if due is not None)

    def awaited(self) -> str | None:
        """The address, as `Endpoints` names it, of which nothing has come that it needs to go on; None where it only lacks
        events, or the rest of what comes in."""
        if self._owner_due is not None and self._owner is None:
            return "commands"
        if self.lost:
            return "events"
        return "bulk" if self._pull is not None and not self._chunks else None

    def progress(self) -> tuple[str, int] | None:
        """The snapshot or replay that is under way, and how many of its chunks have come."""
        return (self._pull["req"], self._chunks) if self._pull and self._pull_due is not None else None

    def tick(self, now: float) -> None:
        """Does what is due; called after the messages that have come."""
        self._now = now
        if now >= self._silence_due:
            self._subscribe_anew()
        if self._owner_due is not None and now >= self._owner_due:
            self._owner_overdue()
        if self._join_due is not None and now >= self._join_due:
            self._join()
        if self._pull_due is not None and now >= self._pull_due:
            self._connect_anew()
            self._retry()
        if self._pull_begin is not None and now >= self._pull_begin:
            self._pull_begin, self._pull_due = None, now + self.PULL_LIMIT
            self.todo.append(("send", self._pull))
        if self._digest_due is not None and now >= self._digest_due:
            self._ask_digest()
        if self.prefix and now >= self._check_due:
            self._check()
        report_due = self._report_due()
        if report_due is not None and now >= report_due:
            self._reported, self._reported_at = (self._nonce, self.seq), now
            nonce = self._nonce.split(b"/")[1].decode()
            self.todo.append(("report", {"op": "stream.applied", "nonce": nonce, "apps": {
                self.app: {"epoch": self.epoch, "seq": self.seq}}}))

    def _report_due(self) -> float | None:
        """When the service is to be told how far it is, under the nonce that was answered last; None: it follows nothing."""
        if self.lost or not self._answered or not self.synced or self.epoch is None:
            return None
        is_news = self._reported != (self._nonce, self.seq)
        return self._reported_at + (self.REPORT if is_news else self.REPORT_AGAIN)

    def unreported(self) -> None:
        """The report could not go: another one is made, no sooner than usual."""
        self._reported = None

    def subscribed(self, frames: list[bytes], now: float) -> None:
        """A message came by the subscription."""
        self._now, self._silence_due = now, now + self.SILENCE
        self._message(frames)

    def disconnected(self, now: float) -> None:
        """The subscription's connection was lost; called before anything that came by another one. The nonce is a fresh
        one, so that no answer from before counts."""
        self._now, self._reconnected = now, True
        self._doubt()
        self._join()

    def pulled(self, frames: list[bytes], now: float) -> None:
        """A message came on the bulk connection."""
        self._now = now
        self._chunk(frames)

    def informed(self, frames: list[bytes], now: float) -> None:
        """A message came from the service that takes the commands."""
        self._now = now
        answer = _decode(frames[0])
        if answer is None or answer.get("req") != self._owner_req or not isinstance(answer.get("info"), dict):
            return  # what is refused is asked again
        epoch = answer["info"].get("epoch")
        waits, self._owner_due = self._owner_due is not None, None
        if isinstance(epoch, str):
            self._owner = epoch
        else:
            self._owner_is_settled()  # it is too old to name it
        if waits:
            self._join()

    def distrust(self, now: float) -> None:
        """Something was broken off in the middle, such as by an exception of a signal's handler: all is asked anew."""
        self._now = now
        self.todo.clear()  # it may be about a socket that is closed
        self._pull = None
        self._pull_begin = self._pull_due = None
        self._waiting.clear()
        self._need = self._need or "inconsistent"
        self.state = "joining"
        if self._owner_tries:
            self._ask_owner()
        else:
            self.todo.append(("owner", None))
        self._connect_anew()
        self._subscribe_anew()

    def _tell(self, change: Change | IsletError, upto: int | None = None) -> None:
        """Tells it; every event up to `upto` is told thereby."""
        told = self._told if upto is None else upto
        out = self._room()
        # Without a call from here on, so that no signal's handler can come between and break it off.
        out += (change,)
        self.out, self._told = out, told

    def _room(self) -> collections.deque[Change | IsletError]:
        """Where the next change goes."""
        if len(self.out) < self.WAITING:
            return self.out
        return collections.deque([Change("synced", reason="unread")])  # nobody reads

    def _backoff(self, attempt: int, first: float, longest: float) -> float:
        return _backoff(attempt, first, longest, self._chance)

    def _connect_anew(self) -> None:
        """Another bulk connection: whatever was asked for on the present one ends."""
        self.todo.append(("bulk", None))
        self._pull_due = None
        if self._digest_req:
            self._forget_digest(again=0.0)

    # Joining

    def _doubt(self) -> None:
        """What comes next by the subscription may not be what follows."""
        self.lost = True
        if self.prefix:
            self._doubted = True
            self._forget_digest()
            if self.state == "following":
                self.state = "joining"

    def _subscribe_anew(self) -> None:
        self._doubt()
        self._silence_due = self._now + self.SILENCE
        self._nonce = b""
        topics = [self.prefix, f"{self.app}/~"] if self.prefix else [f"{self.app}/"]
        self.todo.append(("events", [topic.encode() for topic in topics]))
        self._join()

    def _join(self) -> None:
        """The new nonce before the old one goes: one of them always tells of a new connection. Prefixes come first."""
        old, self._nonce = self._nonce, b"\xffjoin/%032x/%s" % (self._chance.getrandbits(128), self.app.encode())
        self.todo.append(("subscribe", self._nonce))
        if old:
            self.todo.append(("unsubscribe", old))
        self._answered, self._asked_at = False, self.seq
        self._join_attempt += 1
        self._join_due = self._now + self.JOIN_LIMIT + self._backoff(self._join_attempt, 0.5, 10.0)

    def _join_soon(self) -> None:
        if self._answered and self._join_due is None:
            self._join_due = self._now + 0.05

    def _join_answer(self, body: bytes) -> None:
        answer = _decode(body)
        if answer is None or not isinstance(answer.get("apps"), dict):
            return  # such as the notice that this subscriber lags
        position = answer["apps"].get(self.app, {"epoch": None, "seq": 0})  # an app without events is absent
        epoch, seq = position.get("epoch"), position.get("seq")
        if not isinstance(seq, int) or not (epoch is None or isinstance(epoch, str)):
            return
        if self._answered:  # nobody asked: the connection is new
            self._reconnected = True
            self._doubt()
            return self._join_soon()
        if not self._is_own(answer.get("epoch"), "events"):
            return
        self._answered, self._join_due, self._join_attempt = True, None, 0
        if self.synced and epoch is None and self.seq > self._asked_at == 0:
            return self._join_soon()  # it was under way while the app had its first events: no new history
        self.lost = False
        doubted, self._doubted = self._doubted, False
        reconnected, self._reconnected = self._reconnected, False
        self._checked = None
        self._check_due = min(self._check_due, self._now + 1.0)
        self._waiting = collections.deque(pair for pair in self._waiting if pair[1]["epoch"] == epoch)
        if self.state == "snapshotting" and self._pull and epoch == self.epoch and not reconnected:
            # While much goes on it would never end if each answer began it anew: a replay brings what was dropped.
            self._skipped, self._head = self._skipped or doubted, max(self._head, seq)
            return
        # Of an app without events nobody names an epoch: it goes on where nothing is known of it.
        has_nothing = epoch is None and self.seq == 0 and not self.table.entities
        begin = answer.get("epoch")
        if has_nothing and self.synced and isinstance(begin, str) and begin != self.epoch:
            # The history of which it had nothing is over; one that begins now is of this epoch, as digests say as well.
            self.epoch, self.fuzzy, self._head, self._pending = begin, 0, 0, None
        if not self.synced or (epoch != self.epoch and self.epoch is not None and not has_nothing):
            if epoch != self.epoch:
                self.fuzzy = 0
            self._skipped = False
            self.epoch, self.seq, self._head, self._attempt = epoch, seq, seq, 0
            return self._snapshot("epochChanged" if self.synced else "joined")
        self.epoch = epoch or self.epoch
        # An answer may be behind what a replay has brought since it was asked for.
        self._head = max(self._head, seq)
        if self._need:  # the pull may have gone with its connection
            self._snapshot(self._need)
        elif self.state == "repairing" or (doubted and self._head > self.seq):
            self._replay()
        else:
            self.state = "following"
            self._go_on()

    def _rejoin(self, kept: tuple[str, JSON] | None = None) -> None:
        """Something is of an epoch that this replica has not joined."""
        self._cancel_pull()
        self._forget_digest()
        if self._waiting and kept and self._waiting[0][1]["epoch"] != kept[1]["epoch"]:
            self._waiting.clear()
        if kept:
            self._wait(*kept)
        self.state = "joining"
        self._join_soon()

    # Whose the streams are

    def _ask_owner(self) -> None:
        self._owner, self._owner_due, self._owner_req = None, None, f"owner-{next(self._numbers)}"
        self.todo.append(("owner", {"op": "service.info", "req": self._owner_req}))

    def _owner_overdue(self) -> None:
        self._owner_tries -= 1
        if self._owner_tries:
            self._ask_owner()
            self._owner_due = self._now + self.OWNER_LIMIT
        else:
            self._owner_is_settled()
            self._join()

    def _owner_is_settled(self) -> None:
        """It is known, or will not be."""
        self._owner_tries, self._owner_due = 0, None
        self.todo.append(("owner", None))

    def _is_own(self, epoch: Any, what: str) -> bool:
        """Whether what names this epoch may be taken in. Where not, nothing is, until a join is answered after more is
        known."""
        if self._owner_tries and not isinstance(epoch, str):
            self._owner_is_settled()  # the service is too old to name it
        if not self._owner_tries or epoch == self._owner:
            return True
        self._cancel_pull()
        self._waiting.clear()
        self.state, self.lost, self._answered, self._join_due = "joining", True, False, None
        if self._owner is None:
            self._owner_due = self._owner_due or self._now + self.OWNER_LIMIT
            return False
        self._owner_tries -= 1
        if self._owner_tries:
            self._ask_owner()
            self._owner_due = self._now + self.OWNER_LIMIT
        else:
            self._owner, self._owner_tries = None, self.OWNER_TRIES + 1
            self._owner_due = self._now + self.OWNER_PAUSE
            self._tell(IsletError("otherService", f"the {what} are another service's than the one that takes the commands: "
                                                  f"name where its own are, as the addresses or in the environment"))
        return False

    # What comes by the subscription

    def _message(self, frames: list[bytes]) -> None:
        if len(frames) != 2:
            return
        if frames[0].startswith(b"\xff"):
            if frames[0] == self._nonce:
                self._join_answer(frames[1])
            return
        event = _decode(frames[1])
        if event is None or not isinstance(event.get("seq"), int) or not isinstance(event.get("epoch"), str):
            return
        topic = frames[0].decode(errors="replace")
        if topic == f"{self.app}/~":
            self._watermark(event)
            if event.get("closing"):
                self._tell(Change("closing"))
        elif "event" in event:
            self._event(topic, event)

    def _event(self, topic: str, event: JSON) -> None:
        if not self._answered and not self.synced:
            return  # older than the answer will be
        if self.epoch is not None and event["epoch"] != self.epoch:
            return self._rejoin((topic, event))
        self.epoch = event["epoch"]
        if self.state != "following":
            self._wait(topic, event)
        elif event["seq"] > self.seq:
            if self._follows(event):
                self._take(topic, event)
            else:
                self._wait(topic, event)
                self._replay()

    def _wait(self, topic: str, event: JSON) -> None:
        if len(self._waiting) >= self.WAITING:  # a gap, repaired like any other
            self._waiting.clear()
            if self.prefix:  # it sees none
                self._doubt()
                self._join_soon()
        self._waiting.append((topic, event))

    def _watermark(self, mark: JSON) -> None:
        if self.epoch is not None and mark["epoch"] != self.epoch:
            return self._rejoin()
        if self.state != "following":
            return
        self.epoch = mark["epoch"]
        if self.prefix:
            if mark["seq"] > self.seq and self._compare(mark["seq"]):
                self.seq = mark["seq"]
                self._compare(self.seq + 1)
        elif mark["seq"] > self.seq:
            self._head = max(self._head, mark["seq"])
            self._replay()
        elif mark["seq"] == self.seq >= self.fuzzy and not self.table.agrees(mark):
            self._snapshot("inconsistent")

    def _follows(self, event: JSON) -> bool:
        """Whether nothing is missing before it, as far as numbers can tell: other events are not sent to a prefix."""
        return bool(event["seq"] > self.seq if self.prefix else event["seq"] == self.seq + 1)

    def _go_on(self) -> None:
        """Takes in what waited, and makes sure that all that is known to exist is there."""
        while self.state == "following" and self._waiting:
            topic, event = self._waiting.popleft()
            if event["epoch"] != self.epoch:
                self._waiting.clear()
                return self._rejoin((topic, event))
            if event["seq"] <= self.seq:
                continue
            if not self._follows(event):
                self._waiting.appendleft((topic, event))
                return self._replay()
            self._take(topic, event)
        if self.state == "following" and self._head > self.seq:
            self._replay()

    def _take(self, topic: str, event: JSON) -> None:
        """The next event: its merge patch goes over the entity."""
        if not self._compare(event["seq"]):
            return self._wait(topic, event)
        self.seq = event["seq"]
        self._head = max(self._head, self.seq)
        if self.prefix is None or topic.startswith(self.prefix):
            patch = event.get(_family(topic))
            if not isinstance(patch, dict) or not isinstance(patch.get("revision"), int):
                self._tell(Change("event", topic=topic, event=event), self.seq)  # a family without entities
            elif not self._apply(topic, event, patch):
                return self._snapshot("inconsistent")
        if self._digest_req:
            self._trail.append(self._here())
        self._compare(self.seq + 1)

    def _apply(self, topic: str, event: JSON, patch: JSON) -> bool:
        held = self.table.entities.get(topic)
        starts, revision = event.get("from") is None, patch["revision"]
        if revision <= held["revision"] if held else self.seq <= self.fuzzy and not starts:
            self._tell(Change("event", topic=topic, event=event, entity=held, news=False), self.seq)
            return True
        if not starts and (held is None or revision != held["revision"] + 1):
            return False  # a revision is missing although no event is
        entity = {name: value for name, value in {**(held or {}), **patch}.items() if value is not None}
        if (event.get("to") or entity.get("state")) in _Table.LISTED_NO_MORE:
            self.table.drop(topic)
        else:
            self.table.put(topic, entity)
        self._tell(Change("event", topic=topic, event=event, entity=entity), self.seq)
        return True

    # Digests

    def _here(self) -> tuple[int, int, str]:
        return (self.seq, *self.table.digest())

    def _check(self) -> None:
        """Numbers show a prefix no gap, so digests are compared where its app has gone on."""
        self._check_due = self._now + self.CHECK
        if self.state != "following":
            self._check_due = self._now + 1.0
        elif self.seq != self._checked and self._digest_req is None:
            self._ask_digest()

    def _ask_digest(self) -> None:
        self._digest_req, self._digest_due = f"digest-{next(self._numbers)}", self._now + self.DIGEST_LIMIT
        self._trail.clear()
        self._trail.append(self._here())
        self.todo.append(("send", {
            "op": "bulk.digest", "req": self._digest_req, "app": self.app, "prefix": self.prefix}))

    def _forget_digest(self, again: float = 1.0) -> None:
        """The digest that was asked for is of no use any more; it is asked for again so many seconds later."""
        if self._digest_req:
            self._check_due = min(self._check_due, self._now + again)
        self._digest_req = self._digest_due = None
        self._trail.clear()

    def _digest(self, header: JSON) -> None:
        if header.get("error"):
            error = IsletError.of(header)
            if error.code != "requestReused":
                self._forget_digest(max(error.retry_after or 0.0, self._backoff(1, 1.0, 1.0)))
            return
        if not isinstance(header.get("seq"), int):
            return self._forget_digest()
        if self.epoch is not None and header.get("epoch") != self.epoch:
            return self._rejoin()
        # Events may have overtaken it: then what held at its position counts.
        then = [each for each in self._trail if each[0] <= header["seq"]]
        self._digest_req = self._digest_due = None
        self._trail.clear()
        if not then:
            self._check_due = min(self._check_due, self._now + 1.0)
        elif header["seq"] >= self.seq:
            self._pending = header
            if header["seq"] == self.seq:
                self._compare(self.seq + 1)
        elif then[-1][1:] == (header.get("entities"), header.get("digest")):
            self._checked = header["seq"]
        else:
            self._snapshot("inconsistent")

    def _compare(self, before: int) -> bool:
        """Compares a digest that waits, if its position is before `before`, and so the present one."""
        if self._pending is None or self._pending["seq"] >= before:
            return True
        pending, self._pending = self._pending, None
        if pending["seq"] < self.seq or self.table.agrees(pending):
            self._checked, self._attempt = max(self.seq, pending["seq"]), 0
            return True
        self._attempt += 1
        self._snapshot("inconsistent")
        return False

    # Snapshots and replays

    def _snapshot(self, reason: str) -> None:
        self.state, self._need = "snapshotting", reason
        self._pending = None
        self._want({"op": "bulk.snapshot", **({"prefix": self.prefix} if self.prefix else {})})

    def _replay(self) -> None:
        self.state = "repairing"
        self._want({"op": "bulk.replay", "from": self.seq})

    def _retry(self, after: float = 0.0) -> None:
        self._attempt += 1
        if self._need:
            self._snapshot(self._need)
        else:
            self._replay()
        if self._pull_begin is not None:
            self._pull_begin = max(self._pull_begin, self._now + after)

    def _want(self, pull: JSON) -> None:
        self._cancel_pull()
        self._forget_digest()
        self._rows, self._chunks = [], 0
        self._pull = {**pull, "req": f"pull-{next(self._numbers)}", "app": self.app, "credit": self.CREDIT}
        self._pull_begin = self._now + (self._backoff(self._attempt, 0.2, 5.0) if self._attempt else 0.0)

    def _cancel_pull(self) -> None:
        if self._pull and self._pull_due is not None:
            self.todo.append(("send", {"op": "bulk.cancel", "req": self._pull["req"]}))
        self._pull = self._pull_begin = self._pull_due = None

    def _chunk(self, frames: list[bytes]) -> None:
        header = _decode(frames[0])
        if header is None or header.get("req") is None:
            return
        if header["req"] == self._digest_req:
            return self._digest(header)
        if self._pull is None or self._pull_due is None or header["req"] != self._pull["req"]:
            return  # of a pull that is over
        if header.get("error"):
            return self._pull_failed(IsletError.of(header))
        if not self._is_own(header.get("epoch"), "snapshots and replays"):
            return
        if self._owner_tries:
            self._owner_is_settled()
        if self.epoch is not None and header.get("epoch") != self.epoch:
            return self._rejoin()
        number = header.get("chunk")
        if isinstance(number, int) and number < self._chunks:
            return  # it came twice
        pairs = [(topic.decode(errors="replace"), _decode(body)) for topic, body in zip(frames[1::2], frames[2::2])]
        if number != self._chunks or len(pairs) != header.get("rows") or not self._is_whole(header):
            return self._retry()
        rows = [(topic, body) for topic, body in pairs if body is not None]
        if len(rows) < len(pairs):
            self._cancel_pull()
            topic = next(topic for topic, body in pairs if body is None)
            return self._pull_failed(IsletError("unreadable", f"what came of {topic} is no JSON that can be read here"))
        self._chunks += 1
        self._pull_due = self._now + self.PULL_LIMIT
        if self.state == "snapshotting":
            self._from = header.get("fromSeq", self._from)
            self._rows += rows
            if header.get("end"):
                return self._snapshot_ended(header)
        elif not self._replayed(rows, header):
            return
        self.todo.append(("send", {"op": "bulk.credit", "req": self._pull["req"], "credit": 1}))

    def _is_whole(self, header: JSON) -> bool:
        """Whether a chunk says what one in its place must say."""
        wanted = ["seq"] if header.get("end") else []
        if self.state == "snapshotting" and self._chunks == 0:
            wanted.append("fromSeq")
        return all(isinstance(header.get(name), int) for name in wanted)

    def _pull_failed(self, error: IsletError) -> None:
        if error.code == "requestReused":
            return  # the question came twice; its first copy is being answered
        self._pull_due = None
        if self.state == "repairing" and error.retry != "later":  # `tooOld`, above all
            return self._snapshot("eventsLost")
        # What fails for good is told, and asked again all the same: who goes on reading hears of it each time.
        if error.retry == "never" and error.code != "tooMany":
            self._attempt += 3
            self._tell(error)
        self._retry(error.retry_after or 0.0)

    def _snapshot_ended(self, end: JSON) -> None:
        """A snapshot is fuzzy: an event up to its beginning is in the rows; one up to its end is where the row's
        revision says so; there the digest proves that all is in."""
        self._pull = self._pull_due = None
        rows = [(topic, row.get(_family(topic))) for topic, row in self._rows]
        self._rows = []
        self.table.clear()
        for topic, entity in rows:
            if isinstance(entity, dict) and isinstance(entity.get("revision"), int):
                self.table.put(topic, {name: value for name, value in entity.items() if value is not None})
        self.epoch = self.epoch or end.get("epoch")
        self.seq = max(self.seq, self._from)
        missed = range(0)
        if self.synced and self._need != "epochChanged" and self.prefix is None and self.seq > self._told:
            missed = range(self._told + 1, self.seq + 1)
        self.fuzzy, self._pending = max(end["seq"], self._from), end
        # The events up to the end are under way by the subscription: missing only if a later one shows a gap.
        self._head = max(self._head, self.seq)
        change, out, state = Change("synced", reason=self._need, missed=missed), self._room(), self._resting()
        out += (change,)  # as in `_tell`
        self.out, self._told, self.state, self.synced, self._need = out, self.seq, state, True, None
        skipped, self._skipped = self._skipped, False
        if not self._compare(self.seq + 1):
            return
        if skipped and self.state == "following" and self._head > self.seq:
            return self._replay()
        self._go_on()

    def _replayed(self, rows: list[tuple[str, JSON]], header: JSON) -> bool:
        """Takes a chunk of a replay in; whether more is wanted."""
        for topic, event in rows:
            if event.get("seq", 0) <= self.seq:
                continue
            if event["seq"] != self.seq + 1:
                self._snapshot("eventsLost")
                return False
            self._take(topic, event)
            if self.state != "repairing":
                return False
        if not header.get("end"):
            return True
        self._pull = self._pull_due = None
        if header["seq"] > self.seq:
            self._snapshot("eventsLost")
            return False
        self._attempt, self._head, self.state = 0, self.seq, self._resting()
        self._go_on()
        return False

    def _resting(self) -> str:
        """What it is after a pull."""
        return "joining" if self._doubted else "following"


class Replica:
    """A copy of one app's listed entities (activities, controls, widgets, keys of the groups that it owns), or of those
    under a prefix such as "control/".

    joining ──► snapshotting ──► following ──gap──► repairing ──► following; a new epoch leads back to joining, a replay
    that is `tooOld`, or a digest that differs, to snapshotting. Sockets are read while you read: in `changes()`
    and `sync()`. Who reads seldom loses nothing; what was not kept meanwhile comes by a replay. The service gives up one
    that is not read on, and a snapshot, too: after a pause `changes()` reads on while either comes in. Of a prefix the
    numbers show no gap: where more than 100,000 events wait, those beyond are lost, and only what is listed in the end is
    repaired. Follow the whole app where each event counts.

    While it is read, it reports how far it is (`stream.applied`), so that `islet subscribers` shows it. So it has a
    connection of its own to each of the three addresses, each of which takes 1,024 of all clients.

    Where nobody has named the streams' addresses, it asks the service at `endpoints.commands` when it is first read, until
    that answers. Where they are the service's word, or it is `owned`, as one of `Client.replica` is, its streams must be those
    of that service: what `changes()` and `sync()` raise else has the code `otherService`.

    It belongs to one thread at a time and to the process that made it; it is neither copied nor pickled."""

    PREFIX_LIMIT = 240
    """Bytes of what it subscribes to, at most: the contract's number."""
    TURN = 256
    """Messages that are taken in from one socket before the other has its turn."""
    ASKING = 5.0
    """Seconds until the service is asked again where its streams are."""
    PULLING, CHUNK = 5.0, 0.25
    """Seconds that `changes()` takes at most, after a pause of `PULL_LIMIT`, where its timeout is over but a snapshot or
    replay comes in; and those from chunk to chunk."""

    def __init__(self, app: str | None = None, prefix: str = "", *, endpoints: Endpoints | None = None,
                 context: zmq.Context[Any] | None = None, owned: bool = False):
        self.app = _needed(app)
        self.prefix = f"{self.app}/{prefix}" if prefix else None
        # The service answers no join for others.
        if not re.fullmatch(r"[A-Za-z0-9.-]{1,100}", self.app):
            raise ValueError(f"an app has 1 to 100 letters, digits, dots and hyphens: {self.app!r:.120}")
        if self.prefix and len(self.prefix.encode(errors="replace")) > self.PREFIX_LIMIT:
            raise ValueError(f"an app and a prefix have at most {self.PREFIX_LIMIT} bytes, with the / between them")
        self.endpoints = endpoints or Endpoints.given()
        self._context = context
        self._machine = _Machine(self.app, self.prefix, time.monotonic(), owned=owned or not self._knows_streams)
        self.entities: Mapping[str, JSON] = types.MappingProxyType(self._machine.table.entities)
        """The newest known entities by topic; to be read, not changed."""
        self._reading = threading.Lock()
        self._interrupted = self._closed = False
        self._read_at = time.monotonic()
        self._process = os.getpid()
        self._events: Any = None
        self._losses: Any = None
        """Has a message for each connection that the subscription lost. It is read, whatever that means: one that is not
        stalls libzmq."""
        self._bulk: Any = None
        self._commands: Any = None
        """Asks where the streams are, and whose, until that is known."""
        self._ask_again = 0.0
        self._reports: Any = None
        """Tells the service how far it is."""
        if self._knows_streams:
            self._open_bulk()
            self._do()

    @property
    def _knows_streams(self) -> bool:
        return self.endpoints.events is not None and self.endpoints.bulk is not None

    @property
    def state(self) -> str:
        """"joining", "snapshotting", "following" or "repairing", as far as it has read: whether the connection is still
        there, `sync()` and `changes()` look for."""
        machine = self._machine
        return "joining" if machine.lost and machine.state == "following" else machine.state

    @property
    def epoch(self) -> str | None:
        return self._machine.epoch

    @property
    def seq(self) -> int:
        """Every event up to this one is in."""
        return self._machine.seq

    def changes(self, timeout: float | None = None) -> Iterator[Change]:
        """The changes as they come; ends after `timeout` seconds without one (with 0, when what has come is told), never
        where it is None. Raises `IsletError` where the service refuses the copy for good, or a row of it cannot be read
        (`unreadable`); who reads on, asks again."""
        _checked_timeout(timeout)
        self._check_use()
        machine, progress = self._machine, None
        latest = time.monotonic() + self.PULLING
        paused = time.monotonic() >= self._read_at + machine.PULL_LIMIT
        while True:
            deadline = None if timeout is None else time.monotonic() + timeout
            while not machine.out:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                more = self._turn(left)
                now = time.monotonic()
                if left != 0.0 or machine.out or (more and now < latest):
                    continue
                before, progress = progress, machine.progress()
                if not paused or progress in (None, before) or now >= latest:
                    return
                deadline = now + self.CHUNK
            change = machine.out[0]
            is_error = isinstance(change, IsletError)
            del machine.out[0]  # no call, after which a signal's handler could break it off
            if is_error:
                raise change
            yield change

    def sync(self, seq: int = 0, timeout: float = 10.0) -> Replica:
        """Waits until the copy is complete, follows the service and has taken in event `seq`, such as an answer's: so you
        read your writes. While the service is away it waits.
        The changes meanwhile stay for `changes()`. Raises `TimeoutError`, which names the address that does not answer, and
        `IsletError` as `changes()` does."""
        _checked_timeout(timeout, optional=False)
        self._check_use()
        machine, deadline = self._machine, time.monotonic() + timeout
        left = 0.0  # a connection that was lost since the last turn is seen in one
        while True:
            self._turn(max(0.0, left))
            if machine.out and isinstance(machine.out[-1], IsletError):
                error = machine.out[-1]
                del machine.out[-1]
                raise error
            if (self.state == "following" and machine.synced and not self._interrupted
                    and machine.seq >= max(seq, machine.fuzzy)):
                return self
            left = deadline - time.monotonic()
            if left < 0.0:
                raise TimeoutError(f"{self.app}: {self.state} at {self.seq}, not at {seq} within {timeout:g} s"
                                   + self._unanswered())

    def _unanswered(self) -> str:
        """Who has not answered, for the end of a message."""
        awaited = self._machine.awaited() if self._knows_streams else "commands"
        return f"; no answer from {getattr(self.endpoints, awaited)} ({awaited})" if awaited else ""

    def close(self) -> None:
        """Follows no longer; what it holds stays readable."""
        self._closed = True
        self._close_events()
        for made in filter(None, (self._bulk, self._commands, self._reports)):
            made.close()

    def __enter__(self) -> Replica:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a Replica has sockets and is neither copied nor pickled; make another one")

    def _check_use(self) -> None:
        if self._closed:
            raise RuntimeError("this Replica is closed and follows nothing any more; make another one")
        if self._process != os.getpid():
            raise RuntimeError(f"this Replica belongs to process {self._process}, from which this one was forked; make one here")

    # The sockets

    def _turn(self, longest: float | None) -> bool:
        """Waits at most `longest` seconds for something to happen and takes in what has come; whether more may have."""
        self._check_use()
        if self._reading.locked():
            raise RuntimeError("a Replica is read by one thread at a time, and not by a signal handler of that thread")
        # Nothing but `with` gives it back whenever a signal's handler breaks this off, and not right behind a call whose
        # value is returned.
        with self._reading:
            try:
                more = self._take_turn(longest)
            except zmq.ZMQError:
                self._check_use()  # a signal's handler may have closed it meanwhile
                raise
            return more

    def _take_turn(self, longest: float | None) -> bool:
        machine = self._machine
        if not self._knows_streams:
            if not self._find_streams(longest):
                return False
            longest = 0.0
        if self._interrupted:
            machine.distrust(time.monotonic())
            self._do()
        wait = max(0.0, machine.due() - time.monotonic())
        ready = dict(self._poller.poll(_milliseconds(wait if longest is None else min(wait, longest))))
        self._interrupted = True  # until the end, which an exception of a signal's handler leaves out
        if self._commands in ready:
            self._drain(self._commands, machine.informed)
        more = self._bulk in ready and self._drain(self._bulk, machine.pulled)
        more |= (self._events in ready or self._losses in ready) and self._drain_events()
        self._read_at = time.monotonic()
        machine.tick(self._read_at)
        self._do()
        self._interrupted = False
        return more

    def _find_streams(self, longest: float | None) -> bool:
        """Asks the service where the streams are that nobody has named, and waits at most `longest` seconds; whether it has
        said so. Who reads seldom finds the answer there already: it is looked for before another question ends its way."""
        if self._are_streams_told():
            return True
        now = time.monotonic()
        if now >= self._ask_again:
            self._ask_owner({"op": "service.info", "req": "streams"})
            self._ask_again = now + self.ASKING
        wait = self._ask_again - now
        self._poller.poll(_milliseconds(wait if longest is None else min(wait, longest)))
        return self._are_streams_told()

    def _are_streams_told(self) -> bool:
        """Whether the service has answered where they are. Then everything begins as after an interruption, which this may
        have been, too."""
        if self._commands is None or self._commands.closed:  # an interruption left no other one
            return False
        for frames in self._received(self._commands):
            answer = _decode(frames[0])
            info = answer.get("info") if answer is not None and answer.get("req") == "streams" else None
            if not isinstance(info, dict):
                continue  # what is refused is asked again
            # An old service says nothing: then they are where the contract has them.
            said = {"events": "tcp://127.0.0.1:7412", "bulk": "tcp://127.0.0.1:7413"}
            if isinstance(info.get("endpoints"), dict):
                said |= {name: url for name, url in info["endpoints"].items() if name in said and isinstance(url, str)}
            self._interrupted = True
            self.endpoints = Endpoints(self.endpoints.commands, self.endpoints.events or said["events"],
                                       self.endpoints.bulk or said["bulk"])
            return True
        return False

    def _drain(self, source: Any, take: Callable[[list[bytes], float], None]) -> bool:
        """Takes in so many messages at a time; whether there may be more."""
        messages = self._received(source)
        self._take_in(messages, take)
        return len(messages) == self.TURN

    def _drain_events(self) -> bool:
        """The same for the subscription. A loss is known before what comes by the next connection can be received; so
        they are looked for after the messages were, and told before them."""
        messages = self._received(self._events)
        if self._received(self._losses):
            self._machine.disconnected(time.monotonic())
        self._take_in(messages, self._machine.subscribed)
        return len(messages) == self.TURN

    def _received(self, source: Any) -> list[list[bytes]]:
        messages: list[list[bytes]] = []
        with contextlib.suppress(zmq.Again):
            while len(messages) < self.TURN:
                messages.append(source.recv_multipart(zmq.DONTWAIT))
        return messages

    @staticmethod
    def _take_in(messages: list[list[bytes]], take: Callable[[list[bytes], float], None]) -> None:
        for message in messages:
            try:
                take(message, time.monotonic())
            except _ODD:
                log.exception("passed over a message that is none of the contract")

    def _do(self) -> None:
        """What the machine wants done."""
        todo = self._machine.todo
        while todo:
            what, about = todo.pop(0)
            if what == "send":
                _send(self._bulk, self.endpoints.bulk, [_encode(about)])
            elif what == "subscribe":
                self._events.subscribe(about)
            elif what == "unsubscribe":
                self._events.unsubscribe(about)
            elif what == "bulk":
                self._open_bulk()
            elif what == "owner":
                self._ask_owner(about)
            elif what == "report":
                self._report(about)
            else:
                self._open_events(about)

    def _open_bulk(self) -> None:
        if self._bulk is not None:
            self._bulk.close()
        self._bulk = _socket(self._context, zmq.DEALER, self.endpoints.bulk)
        self._listen()

    def _ask_owner(self, command: JSON | None) -> None:
        if self._commands is not None:
            self._commands.close()
        self._commands = _socket(self._context, zmq.DEALER, self.endpoints.commands) if command else None
        if command:
            _send(self._commands, self.endpoints.commands, [_encode(command)])
        self._listen()

    def _report(self, command: JSON) -> None:
        """None waits: where the service is away, only the newest would be worth sending."""
        if self._reports is None:
            self._reports = _socket(self._context, zmq.DEALER, self.endpoints.commands, self._unqueued)
        self._received(self._reports)  # only what an older service has to say against it
        try:
            self._reports.send(_encode(command), zmq.DONTWAIT)
        except zmq.Again:
            self._machine.unreported()

    @staticmethod
    def _unqueued(made: Any) -> None:
        made.setsockopt(zmq.IMMEDIATE, 1)
        made.setsockopt(zmq.SNDHWM, 8)

    def _open_events(self, topics: list[bytes]) -> None:
        self._close_events()
        self._events = _socket(self._context, zmq.SUB, self.endpoints.events, self._watch)
        for topic in topics:
            self._events.subscribe(topic)
        self._listen()

    def _watch(self, made: Any) -> None:
        address = f"inproc://islet-{uuid.uuid4()}"
        made.monitor(address, zmq.EVENT_DISCONNECTED)
        self._losses = made.context.socket(zmq.PAIR)
        self._losses.setsockopt(zmq.LINGER, 0)
        self._losses.setsockopt(zmq.RCVHWM, 0)  # who is not read for long must not stall libzmq
        self._losses.connect(address)

    def _close_events(self) -> None:
        if self._events is None:
            return
        if not self._events.closed:
            self._events.disable_monitor()
        self._events.close()
        self._losses.close()

    def _listen(self) -> None:
        self._poller = zmq.Poller()
        for source in filter(None, (self._events, self._losses, self._bulk, self._commands)):
            self._poller.register(source, zmq.POLLIN)


def _family(topic: str) -> str:
    """The member that the entity of a topic stands under: `activity`, `control` …"""
    return topic.split("/", 2)[1] if topic.count("/") >= 2 else ""


_NAME = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def _name(what: str, name: str | None) -> str | None:
    """The name of a kind, or an id, or None. Later nobody could say who gave one that cannot be sent."""
    if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ValueError(f"{what} has 1 to 64 letters, digits and . _ : - in it, and is not {name!r:.100}")
    return name


def _needed(app: str | None) -> str:
    app = app or os.environ.get("ISLET_APP")
    if not app:
        raise ValueError("which app? Give app=… or set ISLET_APP")
    return app


# Providers


class Fail(Exception):
    """Raise it in a handler: the call has failed. `retryable`: another provider may be asked for the same value.

    The control or widget shows the beginning of the message, 256 bytes at most, as its `failureReason` to whoever may read the
    app; of any other exception it shows the type and the text. Put no secret into either."""

    def __init__(self, message: str = "", *, retryable: bool = False):
        super().__init__(message)
        self.retryable = retryable


class _Misfit(Fail):
    """What a handler gave is no answer. It is told as a failure of its call: what the service would refuse counts there
    as a fault of the whole provider, which it drops after some, with all its other kinds."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a control's handler may return in place of a bare value or status, to say more. `url`: what its action
    opens."""

    value: Any = None
    status: str | None = None
    is_active: bool | None = None
    tint: str | None = None
    action_hint: str | None = None
    disabled: bool | None = None
    url: str | None = None


_ANSWERED = {"status": str, "is_active": bool, "tint": str, "action_hint": str, "disabled": bool, "url": str}
"""What the members of an `Answer` may be, beside None; `value` is the kind's own."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Asked:
    """What a handler is asked about. `id` is None where it is no placed one: options, snapshots and the like."""

    app: str
    kind: str
    id: str | None
    configuration: JSON
    """As it was configured, without members that are null, which equal absent ones, and with the declared default of each
    parameter that is absent."""
    device: str | None
    attempt: int
    deadline: float
    """On `time.monotonic()`: who answers later is not heard. Let no wait of a handler be longer, as Python ends no
    thread."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when nobody waits for the answer any longer: a long computation may look, or wait for it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Control(_Asked):
    """The control that a handler is asked about."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Widget(_Asked):
    """The widget that a handler is asked about."""

    family: str | None
    rendering: JSON
    now: int
    """The service's clock, which the dates of entries are in: it may be a manual one."""
    is_preview: bool
    """A snapshot for the gallery: sample data will do, and fast."""


class _Handler:
    template = ""

    def options(self, control: Control, parameter: str) -> Iterable[Any]:
        """The options of a parameter with `dynamic_options`: values, or pairs of value and title."""
        raise Fail(f"{type(self).__name__} has no options for {parameter!r}")


class Toggle(_Handler):
    """A control that is on or off. One instance of your class serves all controls of its kind, from many threads."""

    template = "toggle"

    def current_value(self, control: Control) -> bool | Answer:
        """The truth, now."""
        raise NotImplementedError

    def set_value(self, control: Control, value: bool) -> str | Answer | None:
        """Brings the new value about; may give a status to be shown for a moment."""
        raise NotImplementedError


class Button(_Handler):
    """A control that does one thing. A class that has a `current_value` too is asked for it."""

    template = "button"

    def perform(self, control: Control) -> str | Answer | None:
        """Does it; may give a status to be shown for a moment."""
        raise NotImplementedError

    def current_value(self, control: Control) -> Any:
        raise NotImplementedError


Date = int | datetime.datetime
"""Milliseconds since 1970, as the contract has them; a `datetime` serves too (without a zone it is local time)."""


@dataclass(frozen=True, slots=True)
class TimelineEntryRelevance:
    """How relevant an entry is in a Smart Stack, against the other entries of the same provider."""

    score: float
    duration: float = 0
    """Seconds; 0: until the next entry."""

    def _wire(self) -> JSON:
        if not _is_number(self.score) or not 0 <= self.score <= _LARGEST_SCORE:
            raise _Misfit(f"the score {self.score!r:.100} is no number from 0 to {_LARGEST_SCORE}")
        if not _is_number(self.duration) or not 0 <= self.duration <= _LONGEST_DURATION:
            raise _Misfit(f"the duration {self.duration!r:.100} is no number of seconds from 0 to {_LONGEST_DURATION}")
        return _members(score=self.score, duration=round(self.duration * 1000) or None)


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """What a widget shows from `date` on. `url` is what a tap opens; `links` what taps on its parts open, by name, in
    families from systemMedium on. A URL has at most 2,048 bytes."""

    date: Date
    content: Mapping[str, Any] | None = None
    relevance: TimelineEntryRelevance | None = None
    url: str | None = None
    links: Mapping[str, str] | None = None

    def _wire(self, family: str | None) -> JSON:
        if not isinstance(self.content, Mapping | None):
            raise _Misfit(f"{self.content!r:.100} is no content: it has members")
        if not isinstance(self.relevance, TimelineEntryRelevance | None):
            raise _Misfit(f"{self.relevance!r:.100} is no relevance: it is an islet.TimelineEntryRelevance")
        return _members(
            date=_date(self.date), content=self.content, relevance=self.relevance and self.relevance._wire(),
            url=None if self.url is None else _url("the url", self.url), links=self._wire_links(family))

    def _wire_links(self, family: str | None) -> JSON | None:
        if not self.links:
            return None
        if not isinstance(self.links, Mapping):
            raise _Misfit(f"the links {self.links!r:.100} are no URLs by their names")
        if family in _WITHOUT_LINKS:
            raise _Misfit(f"{family} has no place for links, and there are {len(self.links)}")
        return {_link(name): _url(f"the link {name}", url) for name, url in self.links.items()}


@dataclass(frozen=True, slots=True)
class Timeline:
    """Entries in the order of their dates: at least one, and at most 256 where the service has no other rule
    (`maximumTimelineEntries`). `policy` says when the next timeline is asked for: "atEnd" (at the last
    entry's date: so it is where None), "never", or `after(date)`. `needs_login`: there is no session, and the one entry
    says so; the policy then is "never" where it is None."""

    entries: Iterable[TimelineEntry]
    policy: str | JSON | None = None
    needs_login: bool = False


def after(date: Date) -> JSON:
    """The policy of a timeline whose successor is wanted not before that date."""
    return {"after": _date(date)}


@dataclass(frozen=True, slots=True)
class WidgetRelevance:
    """When a kind is relevant in a Smart Stack, with this configuration or with any; None: without that bound."""

    configuration: JSON | None = None
    begin: Date | None = None
    end: Date | None = None

    def _wire(self) -> JSON:
        if not isinstance(self.configuration, Mapping | None):
            raise _Misfit(f"{self.configuration!r:.100} is no configuration: it has members")
        bounds = {name: _date(date) for name, date in (("from", self.begin), ("to", self.end)) if date is not None}
        if len(bounds) == 2 and bounds["to"] < bounds["from"]:
            raise _Misfit(f"a relevance ends at {bounds['to']}, before it begins at {bounds['from']}")
        return _members(configuration=self.configuration) | bounds


class TimelineProvider:
    """A widget kind. One instance of your class serves all widgets of its kind, from many threads. What a method gives
    that cannot be shown (no entries, dates out of order, a URL that is too long …) fails its call, and is logged with the
    reason."""

    def timeline(self, widget: Widget) -> Timeline | Iterable[TimelineEntry] | TimelineEntry:
        """What it shows from `widget.now` on: a timeline, or only its entries: at least one. Where there is nothing to
        show yet, give an entry that says so, or raise `Fail`: what is shown stays, and it is asked again later. Entries
        alone have the policy "atEnd": where the last one is of now, that is every five minutes, until the widget's budget
        of the day is spent, and what `reload_timelines` asks for then has to wait."""
        raise NotImplementedError

    def snapshot(self, widget: Widget) -> TimelineEntry:
        """One entry, now, for the gallery where `widget.is_preview`. As it is here: the first of the timeline."""
        return _timeline(self.timeline(widget)).entries[0]  # type: ignore[index]

    def perform(self, widget: Widget, action: str, parameters: JSON) -> None:
        """Does what a button or toggle in it is for. The timeline is asked for afterwards."""
        raise Fail(f"{type(self).__name__} has no action {action!r}")

    def options(self, widget: Widget, parameter: str) -> Iterable[Any]:
        """What a person is offered for a parameter with `dynamic_options`: values, or pairs of value and title."""
        raise Fail(f"{type(self).__name__} has no options for {parameter!r}")

    def entities(self, widget: Widget, parameter: str, identifiers: list[str]) -> Iterable[Any]:
        """The options with these identifiers. As it is here: those of `options` whose value, or its `id`, is one."""
        def name(option: Any) -> Any:
            value = option[0] if isinstance(option, tuple) else option
            return value.get("id") if isinstance(value, dict) else value

        return [option for option in self.options(widget, parameter) if name(option) in identifiers]

    def default_option(self, widget: Widget, parameter: str) -> Any:
        """The option that holds where nobody has chosen; None: there is none."""
        return None

    def recommendations(self) -> Iterable[tuple[JSON, str]]:
        """Configurations that are worth placing, each with its description; at most 100. A class that has this is asked
        for it."""
        raise NotImplementedError

    def relevance(self) -> Iterable[WidgetRelevance]:
        """When the kind is relevant, the most relevant first; at most 100. A class that has this is asked for it."""
        raise NotImplementedError


_METHODS = ("current_value", "set_value", "perform", "options", "timeline", "snapshot", "entities", "default_option",
            "recommendations", "relevance")
"""What handlers of any kind are asked for."""


_DATES = (1_000_000_000_000, 9_999_999_999_999)
"""From 2001 to 2286: what is outside is in other units than milliseconds."""
_DATES_BEGIN = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_LARGEST_SCORE = 3.4028234663852886e38
"""Of a `Float`, which the service keeps."""
_LONGEST_DURATION = 2 ** 53 // 1000
_WITHOUT_LINKS = frozenset({
    "systemSmall", "accessoryCircular", "accessoryRectangular", "accessoryInline", "accessoryCorner"})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _date(date: Date) -> int:
    if isinstance(date, datetime.datetime):
        # Rounded down: the present is not in the future.
        date = ((date if date.tzinfo else date.astimezone()) - _DATES_BEGIN) // datetime.timedelta(milliseconds=1)
    if not isinstance(date, int) or isinstance(date, bool):
        raise _Misfit(f"{date!r:.100} is no date: milliseconds since 1970, or a datetime")
    if not _DATES[0] <= date <= _DATES[1]:
        raise _Misfit(f"{date!r:.100} is no date: in milliseconds since 1970 it would not be from 2001 to 2286")
    return date


def _url(what: str, url: Any) -> str:
    if not isinstance(url, str):
        raise _Misfit(f"{what} is {url!r:.100}, which is no text")
    if (size := _text_size(url)) > Provider.URL_LIMIT:
        raise _Misfit(f"{what} has {size} bytes, and may have {Provider.URL_LIMIT}")
    return url


def _link(name: Any) -> str:
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise _Misfit(f"{name!r:.100} is no name of a link: it has 1 to 64 letters, digits and . _ : - in it")
    return name


def _text_size(text: str) -> int:
    """How many bytes a text has as it is sent, without its quotes."""
    return len(_encode(text)) - 2


def _policy(policy: Any) -> str | JSON | None:
    if isinstance(policy, Mapping) and list(policy) == ["after"]:
        return after(policy["after"])
    if policy is not None and not (isinstance(policy, str) and policy in ("atEnd", "never")):
        raise _Misfit(f"{policy!r:.100} is no policy: \"atEnd\", \"never\" or islet.after(date)")
    return policy


def _timeline(given: Any) -> Timeline:
    """What a handler gave as a timeline, its entries in a list."""
    if isinstance(given, TimelineEntry):
        given = [given]
    timeline = given if isinstance(given, Timeline) else Timeline(given)
    entries = list(timeline.entries)
    if not all(isinstance(entry, TimelineEntry) for entry in entries):
        raise _Misfit(f"a timeline is made of islet.TimelineEntry, and not of {entries!r:.100}")
    if not entries:
        raise _Misfit("the timeline has no entries, and must have one: it may say that there is nothing to show")
    return dataclasses.replace(timeline, entries=entries)


def _entries(timeline: Timeline, family: str | None, limit: int) -> list[JSON]:
    """The entries as they are sent to a widget of this family."""
    entries = list(timeline.entries)
    if len(entries) > limit:
        raise _Misfit(f"there are {len(entries)} entries, and may be {limit}")
    if timeline.needs_login and len(entries) != 1:
        raise _Misfit(f"a timeline that needs a login has {len(entries)} entries, and must have one")
    wired: list[JSON] = []
    for place, entry in enumerate(entries):
        try:
            wired.append(entry._wire(family))
        except _Misfit as misfit:
            raise _Misfit(f"entries[{place}]: {misfit}") from None
        if place and wired[place]["date"] < wired[place - 1]["date"]:
            raise _Misfit(f"entries[{place}] is at {wired[place]['date']}, before entries[{place - 1}] at "
                          f"{wired[place - 1]['date']}: they stand in the order of their dates")
    return wired


def parameter(name: str, type: str = "string", *, options: Iterable[Any] | None = None, **more: Any) -> JSON:
    """A parameter of a configurable kind: string, integer, number, boolean, enum or entity. More: title, default (what a
    handler finds in `configuration` where nothing is configured), is_optional, dynamic_options (the handler's `options` is
    asked). Options are values, or pairs of value and title."""
    return _members(name=name, type=type, options=None if options is None else _options(options), **more)


def _options(options: Iterable[Any]) -> list[JSON]:
    return [_members(value=option[0], title=option[1]) if isinstance(option, tuple) else {"value": option}
            for option in options]


def _offered(options: Iterable[Any]) -> list[JSON]:
    """Options as a handler gave them."""
    offered = _counted("options", _options(options), Provider.OPTIONS_COUNT)
    for option in offered:
        if option.get("value") is None:
            raise _Misfit("an option is None, which is no value: in a message null is as good as nothing")
        if not isinstance(title := option.get("title", ""), str):
            raise _Misfit(f"the title of the option {option['value']!r:.100} is {title!r:.100}, which is no text")
    return offered


def _counted(what: str, given: list[JSON], limit: int) -> list[JSON]:
    if len(given) > limit:
        raise _Misfit(f"there are {len(given)} {what}, and may be {limit}")
    return given


def _recommended(configuration: Any, description: Any, parameters: Iterable[JSON]) -> JSON:
    if not isinstance(configuration, Mapping):
        raise _Misfit(f"{configuration!r:.100} is no configuration: it has members")
    if not isinstance(description, str):
        raise _Misfit(f"{description!r:.100} is no description: it is a text")
    declared = {each["name"]: each for each in parameters}
    for name, value in configuration.items():
        if name not in declared:
            raise _Misfit(f"the configuration {configuration!r:.100} has {name!r:.100}, which is no parameter")
        if value is not None and not _fits(value, declared[name]):
            raise _Misfit(f"{value!r:.100} is no value of the parameter {name}")
    for name, each in declared.items():
        if configuration.get(name) is None and each.get("default") is None and not each.get("isOptional"):
            raise _Misfit(f"the configuration {configuration!r:.100} has no {name}, which has no default")
    if (size := len(_encode(configuration))) > Provider.VALUE_LIMIT:
        raise _Misfit(f"a configuration has {size} bytes, and could not be placed with more than {Provider.VALUE_LIMIT}")
    return {"configuration": configuration, "description": _cut(description, Provider.TEXT_LIMIT)}


def _fits(value: Any, parameter: JSON) -> bool:
    """Whether a parameter may have this value."""
    match parameter["type"]:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool) and -2 ** 63 <= value < 2 ** 63
        case "number":
            return _is_number(value)
        case "boolean":
            return isinstance(value, bool)
        case "entity":
            return isinstance(value, str | Mapping)
        case "enum" if not parameter.get("dynamicOptions"):
            return isinstance(value, str) and any(value == option["value"] for option in parameter.get("options") or ())
    return isinstance(value, str)


def _members(**fields: Any) -> JSON:
    """`display_name=…` as the contract's `displayName`, without what is None."""
    return {re.sub("_(.)", lambda match: match[1].upper(), name): value
            for name, value in fields.items() if value is not None}


def _said(failure: BaseException) -> str:
    """What an exception says; one whose own text cannot be had must not end the thread that it came out on."""
    try:
        return str(failure)
    except Exception:
        return "its message cannot be made"


def _done(given: Any) -> Any:
    """What a handler gave, unless that is still to be awaited: behind a wrapper no declaration shows that it is async."""
    if not (inspect.isawaitable(given) or inspect.isasyncgen(given)):
        return given
    if inspect.iscoroutine(given):
        given.close()
    raise Fail("the handler is async, and nothing awaits it: it has not run. A handler runs on a thread of its own, so "
               "write a plain function, with asyncio.run() in it if need be")


def _performed(given: Any) -> Any:
    """The same for an action, which a generator has not even begun."""
    if inspect.isgenerator(given):
        raise Fail("the handler is a generator, and nothing takes its values: it has not run. Write a function without yield")
    return _done(given)


def _cut(text: str, limit: int) -> str:
    """As much of a text as has so many bytes of JSON, without what is no UTF-8 (of file names, for example)."""
    text = text.encode(errors="replace")[:limit].decode(errors="ignore")
    while len(_encode(text)) > limit:
        text = text[:-1]
    return text


@dataclass(slots=True, eq=False)
class _Call:
    """A call on its way through a handler, and the frame that it came to."""

    id: str
    frame: JSON
    asked: Control | Widget
    handler: Any
    result: bytes = b""

    @property
    def acts(self) -> bool:
        """Whether it has an effect: then its end is told, however late."""
        return str(self.frame["op"]).endswith(".perform")

    def asks_as(self, other: _Call) -> bool:
        """Whether both ask the same of one control or widget that is placed."""
        return (self.frame["op"], self.asked.id) == (other.frame["op"], other.asked.id) and self.asked.id is not None


_Wish = tuple[str, str | None, str | None]
"""What a provider asks of the service by itself: an operation, a kind and an id."""


class _Lost(Exception):
    """The connection is of no more use."""


class Provider:
    """A process that computes the values of control kinds and the timelines of widget kinds. Declare kinds with
    `toggle`, `button` and `widget`, then `run()`.

    The socket lives on the thread of `run()` alone; each call has a thread of its own, and what it gives comes back
    over a queue. A lost connection, a silent service and one that was restarted lead to a new registration; the calls
    at work then are cancelled and their answers dropped, since the service has given them up. In a forked process it is
    one that has not run yet, with the same kinds: so each of many processes may run what was declared before."""

    VALUE_LIMIT, OPTIONS_LIMIT, TEXT_LIMIT, MESSAGE_LIMIT, URL_LIMIT = 4_096, 60_000, 256, 1_024, 2_048
    """Bytes of JSON; longer texts are cut."""
    FRAME_LIMIT, DEPTH_LIMIT = 65_536, 64
    """Bytes of an answer, and so of a timeline."""
    ENTRIES_COUNT, OPTIONS_COUNT, OFFERS_COUNT = 256, 1_000, 100
    """Of entries where the service does not name its rule; options; recommendations, and times of relevance."""
    RECENT = 1_024
    """Calls that are remembered so that none runs twice, and reloads that may wait."""
    AT_WORK = 512
    """Handlers at work, of actions and as many of all else, or twice the capacity where that is more. So many are for those
    that go on although their calls were cancelled, as Python ends no thread: they hold up no others."""
    REGISTER_LIMIT, LEAVE_LIMIT = 5.0, 1.0
    CONFLICT_LIMIT = 20.0
    """So many seconds after the first `conflict` a registration that is refused with it is tried again. Who declares a
    kind differently may be this provider's own predecessor, which was killed: the service finds that out by its silence
    of 15 s, and this is longer."""
    _CALLS = frozenset({
        "control.value", "control.perform", "control.options", "widget.timeline", "widget.snapshot", "widget.perform",
        "widget.options", "widget.recommendations", "widget.relevance"})

    def __init__(self, app: str | None = None, capacity: int = 16, *, commands: str | None = None,
                 grace: float = 5.0, context: zmq.Context[Any] | None = None):
        """`capacity`: calls at a time; `grace`: how many seconds a stop waits for those at work or on their way, and for
        actions at work also where the service is away or refuses the registration."""
        _checked_timeout(grace, optional=False, name="grace")
        self.app, self.capacity, self.grace = _needed(app), capacity, grace
        self.url = Endpoints.given(commands).commands
        self.id = str(uuid.uuid4())
        """Of this run."""
        self._context = context
        self._kinds: dict[tuple[str, str], tuple[JSON, Any]] = {}  # by family and name
        self._wishes: dict[_Wish, None] = {}
        self._wishes_due = 0.0
        self._wish_numbers = itertools.count(1)
        self._ends: tuple[sockets.socket, ...] = ()
        self._begin_process()
        _of_this_process.add(self)

    def _begin_process(self) -> None:
        """Not running, and with nothing of the process from which this one was forked: no thread, call, lock or socket.
        What was declared stays, and so do the wishes."""
        for end in self._ends:
            end.close()  # by these it would wake the other process, and take from that what is to wake it
        self._ends = self._wake_out, self._wake_in = sockets.socketpair()
        for end in self._ends:
            end.setblocking(False)
        self.registered = threading.Event()
        """Set while the service has this provider registered."""
        self._stopping = self._running = self._has_ended = False
        self._handling = threading.local()
        """`call` is set on the threads of handlers."""
        self._calls: dict[str, _Call] = {}
        self._acting: set[_Call] = set()
        """Actions whose handlers are at work, also those of a connection that is lost."""
        self._asking: set[_Call] = set()
        """Calls for anything else whose handlers are at work, also those that nobody waits for any more."""
        self._recent: collections.deque[str] = collections.deque(maxlen=self.RECENT)
        self._results: queue.SimpleQueue[_Call] = queue.SimpleQueue()
        self._grace_end: float | None = None  # of the stop that is under way
        self._entries_limit, self._value_limit = self.ENTRIES_COUNT, self.VALUE_LIMIT  # by the service's rules
        self._asked: dict[str, _Wish] = {}  # by `req`, until the service has said what it came to
        self._lock = threading.RLock()  # a signal's handler may have wishes, too
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._refusal: IsletError | None = None  # of the newest registration, where it is tried again

    # Declaring

    def toggle(self, kind: str, *, preview: bool = False, **declaration: Any) -> Callable[[Any], Any]:
        """Declares a kind; decorates a `Toggle` (the class, or an instance of it). `preview` is what the gallery shows.
        More: display_name, description, tint, action_hint, parameters, reloads_siblings, privacy_sensitive,
        authentication_policy, prompts_for_user_configuration; value_deadline (1 where nothing is said: what comes later is
        dropped) and action_deadline (10) in seconds, up to 60."""
        return self._declare(kind, Toggle, preview_value=preview, **declaration)

    def button(self, kind: str, *, preview: Any = None, **declaration: Any) -> Callable[[Any], Any]:
        """The same for a `Button`; a function of the control serves too."""
        return self._declare(kind, Button, preview_value=preview, **declaration)

    def widget(self, kind: str, families: Iterable[str], **declaration: Any) -> Callable[[Any], Any]:
        """Declares a widget kind; decorates a `TimelineProvider` (the class, or an instance of it), or a function that
        gives the timeline of a widget. More: display_name, description, parameters, placeholder, rendering (in the
        contract's words), supplemental_families, prompts_for_user_configuration; timeline_deadline (5 where nothing is
        said) and action_deadline (10) in seconds, up to 60."""
        return self._declare(kind, TimelineProvider, families=list(families), **declaration)

    def _declare(self, kind: str, base: type[_Handler | TimelineProvider], **more: Any) -> Callable[[Any], Any]:
        family = "widget" if base is TimelineProvider else "control"
        if (family, kind) in self._kinds:
            raise ValueError(f"{kind} is declared already")
        for name in {"value_deadline", "timeline_deadline", "action_deadline"} & more.keys():
            more[name] = None if more[name] is None else round(more[name] * 1000)
        if self._running:
            raise RuntimeError(f"{kind}: kinds are declared before run() or start(), which register them")
        functions = {Button: "perform", TimelineProvider: "timeline"}
        optional = {Button: {"current_value": "has_value"}, TimelineProvider: {
            "relevance": "provides_relevance", "recommendations": "provides_recommendations"}}

        def decorate(given: Any) -> Any:
            handler = given() if isinstance(given, type) else given
            if base in functions and callable(given) and not isinstance(given, type | base):
                handler = base()
                setattr(handler, functions[base], given)
            if not isinstance(handler, base):
                raise TypeError(f"{kind}: {given!r} is no islet.{base.__name__}")
            for name in _METHODS:
                method = getattr(handler, name, None)
                if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
                    raise TypeError(f"{kind}: {name} is async, and nothing would await it: a handler runs on a thread of "
                                    "its own, so write a plain function, with asyncio.run() in it if need be")
                if name in ("set_value", "perform") and inspect.isgeneratorfunction(method):
                    raise TypeError(f"{kind}: {name} is a generator, and nothing would take its values: it would never "
                                    "run. Write a function without yield")
            for method, member in optional.get(base, {}).items():
                if getattr(type(handler), method) is not getattr(base, method):
                    more.setdefault(member, True)
            template = getattr(base, "template", None)
            self._kinds[family, kind] = (_members(kind=kind, template=template, **more), handler)
            return given

        return decorate

    # Running

    def run(self) -> None:
        """Serves until `stop()`; on the main thread also until SIGTERM or SIGINT. Raises `IsletError` where the service
        refuses the registration for good, or for CONFLICT_LIMIT seconds with `conflict`: another provider declares a kind
        differently, and is not one that was killed, which the service would have given up by then; or so many are
        `placed` that need what was declared before, as a widget its family, which are removed first. It does so once
        the actions that are still at work have ended, or after `grace` seconds."""
        self._begin_run()
        self._serve()

    def _begin_run(self) -> None:
        if self._running:
            raise RuntimeError("it is running already")
        self._failure, self._refusal, self._running, self._has_ended = None, None, True, False

    def _serve(self) -> None:
        self.id, self._grace_end = str(uuid.uuid4()), None
        with self._signals():
            try:
                try:
                    self._keep_registered()
                except Exception:  # not those that are to end it at once, such as of a second Ctrl-C
                    self._await_actions()
                    raise
                self._await_actions()
            finally:
                self._forget()
                self._has_ended = True  # first: a stop that comes in between is one after the end
                self._stopping = self._running = False

    def _keep_registered(self) -> None:
        """One connection after the other, until a stop."""
        attempt = 0
        conflict_end: float | None = None
        while not self._stopping:
            wait = 0.0
            try:
                self._session()
            except IsletError as error:
                may_pass = error.retry == "later"
                if error.code == "conflict":
                    now = time.monotonic()
                    conflict_end = now + self.CONFLICT_LIMIT if conflict_end is None else conflict_end
                    may_pass = may_pass or now < conflict_end
                if not may_pass:
                    raise
                log.warning("registration refused, and tried again: %s %s", error, error.detail)
                self._refusal = error
                wait = error.retry_after or 0.0
            except _Lost as lost:
                log.warning("connection lost: %s", lost)
                attempt = 0 if self.registered.is_set() else attempt
                conflict_end = None
            self._forget()
            attempt += 1
            self._pause(max(wait, _backoff(attempt, 0.2, 5.0)))

    def start(self) -> Provider:
        """Runs it on a thread of its own, until `stop()` or the end of `with provider.start():`."""
        self._begin_run()
        self._stopping = False

        def body() -> None:
            try:
                self._serve()
            except BaseException as failure:
                self._failure = failure
                # Whoever goes on without stop() would never hear of it.
                log.error("the provider has ended: %s", _said(failure))

        thread = threading.Thread(target=body, name="islet-provider", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads
            self._running = False
            raise
        self._thread = thread
        return self

    def stop(self) -> None:
        """Ends it: no new calls, those at work or on their way have `grace` seconds, then goodbye. From any thread or
        signal handler; after `start()` it waits for the end, and raises what the run has raised. Within a handler it does
        not wait, since the end waits for the handler."""
        # No lock: this may be a signal handler. One that comes before a run ends it at once; one after it ends no later one.
        self._stopping = not self._has_ended
        self._wake()
        thread = self._thread  # another thread may stop it too
        if thread and thread is not threading.current_thread() and not hasattr(self._handling, "call"):
            thread.join()
            self._thread = None
            self._raise()

    def wait_until_registered(self, timeout: float = 10.0) -> None:
        """Waits for it after `start()`; raises where the registration was refused for good, and a `TimeoutError` with the
        last refusal as its cause where it is still tried again."""
        _checked_timeout(timeout, optional=False)
        deadline = time.monotonic() + timeout
        while not self.registered.wait(0.02):
            self._raise()
            if time.monotonic() >= deadline:
                refusal = self._refusal
                raise TimeoutError(f"not registered within {timeout:g} s{f': {refusal}' if refusal else ''}") from refusal

    def _raise(self) -> None:
        """Raises what the run on its own thread has raised, once."""
        failure, self._failure = self._failure, None
        if failure:
            raise failure

    def __enter__(self) -> Provider:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def reload(self, kind: str | None = None, *, id: str | None = None) -> None:
        """A value has changed by itself: the service asks for it again, of one control, of a kind or of all. From any
        thread; what comes together, or while there is no connection, is asked once, and again where the connection is
        lost before the service has said that it took it."""
        self._wish("control.reload", _name("a kind", kind), _name("an id", id))

    def reload_timelines(self, kind: str | None = None, *, id: str | None = None) -> None:
        """The same for timelines, of one widget, of a kind or of all: within each widget's budget, else later."""
        self._wish("widget.reload", _name("a kind", kind), _name("an id", id))

    def invalidate_recommendations(self, kind: str | None = None) -> None:
        """What `recommendations` gave holds no more, of a kind or of all."""
        self._wish("widget.invalidateRecommendations", _name("a kind", kind))

    def invalidate_relevance(self, kind: str) -> None:
        """What `relevance` gave holds no more."""
        self._wish("widget.invalidateRelevance", _name("a kind", kind))

    def _wish(self, op: str, kind: str | None = None, id: str | None = None) -> None:
        self._want([(op, kind if id is None else None, id)])  # the service takes one of them: an id says all
        self._wake()

    def _want(self, wishes: Iterable[_Wish]) -> None:
        """Keeps them until the service has answered each with ok or for good, beyond the loss of a connection, too."""
        with self._lock:
            self._wishes.update(dict.fromkeys(wishes))
            if len(self._wishes) > self.RECENT:
                self._wishes = {(op, None if op.endswith(".reload") else kind, None): None
                                for op, kind, _ in list(self._wishes)}

    # The thread of the socket

    def _session(self) -> None:
        """One connection, from its registration to its end."""
        link = _Link(self._context, self.url, self._wake_in)
        try:
            self._recent.clear()
            kinds = {member: [declaration for (each, _), (declaration, _) in self._kinds.items() if each == family]
                     for member, family in (("kinds", "control"), ("widgets", "widget"))}
            link.send({"op": "provider.register", "req": "register", "app": self.app, "provider": self.id,
                       **{member: declared for member, declared in kinds.items() if declared},
                       "capacity": self.capacity})
            link.send({"op": "service.info", "req": "info"})  # right behind: calls come after its answer
            alive, limit = time.monotonic(), self.REGISTER_LIMIT
            goodbye, drained, drains, said = float("inf"), float("inf"), False, False
            while True:
                now = time.monotonic()
                if self._stopping:
                    if said and now >= goodbye:
                        return
                    if not drains:  # also where the registration has no answer yet: the service may have taken it
                        drains, goodbye = True, now + self.grace
                        self._grace_end = goodbye
                        # What was called before the service had read this stands before its answer, and is for us yet.
                        drained = now + self.LEAVE_LIMIT
                        link.send({"op": "provider.drain", "req": "drain", "provider": self.id})
                    if not said and ((now >= drained and not self._works()) or now >= goodbye):
                        said, goodbye = True, now + self.LEAVE_LIMIT
                        link.send({"op": "provider.leave", "req": "leave", "provider": self.id})
                waits = drained if drained > now else float("inf")
                frames = list(link.frames(min(alive + limit, goodbye, waits, self._wishes_at())))
                if frames:
                    alive = time.monotonic()
                    # After a pause of this process a call may stand before its own end: it must not begin any more.
                    self._recent += [str(frame.get("call")) for frame in frames if frame.get("op") == "provider.cancel"]
                for frame in frames:
                    if frame.get("ok"):  # before the end of the connection, which brings back what has no answer
                        self._asked.pop(str(frame.get("req")), None)
                for frame in sorted(frames, key=lambda frame: frame.get("op") != "provider.dropped"):
                    if frame.get("req") == "leave":
                        return
                    if frame.get("req") == "drain":
                        if frame.get("ok") is False and IsletError.of(frame).code == "notFound":
                            raise _Lost("the service does not know this provider")
                        drained = time.monotonic()
                        continue
                    if said and frame.get("op") in self._CALLS:
                        continue  # the service has given it up with this provider
                    try:
                        limit = self._take(link, frame) or limit
                    except _ODD:
                        log.exception("passed over a frame that is none of the contract")
                if link.broken:
                    raise _Lost("disconnected")
                if time.monotonic() >= alive + limit:
                    raise _Lost(f"no sign of life for {limit:g} s")
                self._flush(link)
        finally:
            link.close()

    def _take(self, link: _Link, frame: JSON) -> float | None:
        """Takes one frame in; gives the limit of silence where it was the registration's answer."""
        op = str(frame.get("op"))
        if op in self._CALLS:
            self._begin(link, str(frame.get("call")), frame)
        elif op == "provider.ping":
            link.send({"op": "provider.pong", "provider": self.id})
        elif op == "provider.cancel":
            if (call := self._calls.get(str(frame.get("call")))) is not None:
                call.asked.cancelled.set()
                if not call.acts:
                    del self._calls[call.id]
        elif op == "provider.dropped" and frame.get("provider", self.id) == self.id:
            raise _Lost(f"dropped by the service: {frame.get('reason')}")
        elif frame.get("ok") and frame.get("req") == "register":
            self._refusal = None
            self.registered.set()
            log.info("registered %s as %s", ", ".join(kind for _, kind in self._kinds), self.id)
            return float(frame.get("pingLimit", 15_000)) / 1000
        elif frame.get("req") == "info":
            rules = frame["info"]["ruleSet"] if frame.get("ok") else {}  # refused by a full disk, for example
            self._entries_limit = int(rules.get("maximumTimelineEntries", self.ENTRIES_COUNT))
            self._value_limit = min(self.VALUE_LIMIT, int(rules.get("controlValueLimit", self.VALUE_LIMIT)))
        elif frame.get("ok") is False:
            error = IsletError.of(frame)
            if error.req == "register":
                raise error
            if error.code == "badMessage" and error.req is None and not self.registered.is_set():
                raise error  # nothing else was said, and it could not be read as far as its req
            if error.code == "notFound" and error.req is None:
                raise _Lost("the service does not know this provider")
            wish = self._asked.pop(str(error.req), None)
            if wish and error.retry == "later":
                self._want([wish])
                self._wishes_due = time.monotonic() + (error.retry_after or 0.1) * _chance.uniform(1.0, 1.25)
                return None
            log.warning("refused: %s %s", error, error.detail)
        return None

    def _begin(self, link: _Link, id: str, frame: JSON) -> None:
        if id in self._recent:
            return  # never twice
        self._recent.append(id)
        family, kind = str(frame["op"]).split(".")[0], str(frame.get("kind"))
        if (family, kind) not in self._kinds:
            return link.forward(self._failed(id, f"{kind} is not declared here"))
        written = frame.get("configuration")
        configured = written.items() if isinstance(written, dict) else ()
        configuration = {name: value for name, value in configured if value is not None}
        for each in self._kinds[family, kind][0].get("parameters") or ():
            if each["name"] not in configuration and each.get("default") is not None:
                configuration[each["name"]] = copy.deepcopy(each["default"])  # it is declared again later, as it was
        common = {
            "app": str(frame.get("app")), "kind": kind, "id": frame.get(family), "device": frame.get("device"),
            "configuration": configuration, "attempt": frame.get("attempt", 1),
            "deadline": time.monotonic() + frame.get("within", 1_000) / 1000}
        asked: Control | Widget = Control(**common) if family == "control" else Widget(
            **common, family=frame.get("family"), rendering=frame.get("rendering") or {},
            now=frame.get("now") or int(time.time() * 1000), is_preview=bool(frame.get("isPreview")))
        call = _Call(id, frame, asked, self._kinds[family, kind][1])
        if obstacle := self._obstacle(call):
            return link.forward(self._failed(id, obstacle, retryable=True))
        self._calls[id] = call
        at_work = self._acting if call.acts else self._asking
        at_work.add(call)
        try:
            threading.Thread(target=self._work, args=(call,), name=f"islet-{kind}", daemon=True).start()
        except RuntimeError as failure:  # the system has no more threads
            at_work.discard(call)
            call.result = self._failed(id, str(failure), retryable=True)
            self._results.put(call)

    def _obstacle(self, call: _Call) -> str | None:
        """Why its handler may not begin, or None. More than the capacity are at work where some go on although their calls
        were cancelled: then no second one waits for what such a one waits for, so that a few devices that are away, and
        asked again and again, do not take the threads of all others. A tap is not kept from its device by that."""
        at_work = list(self._acting if call.acts else self._asking)
        if len(at_work) < 2 * self.capacity:
            return None
        if len(at_work) >= self.AT_WORK:
            return "all threads are at work"
        is_asked = not call.acts and any(call.asks_as(other) for other in at_work)
        return "the handler of the call before is still at work" if is_asked else None

    def _flush(self, link: _Link) -> None:
        """Sends what the handlers gave, and the reloads."""
        while not self._results.empty():
            call = self._results.get()
            if self._calls.get(call.id) is call:  # else it was cancelled, or is of another connection
                del self._calls[call.id]
                link.forward(call.result)
            elif call.acts:
                # It ended for a connection that is lost: the service holds what was true before, also of its siblings.
                family, kind = call.frame["op"].split(".")[0], call.asked.kind
                has_siblings = self._kinds[family, kind][0].get("reloadsSiblings")
                self._wish(f"{family}.reload", **({"kind": kind} if has_siblings else {"id": call.asked.id}))
        while time.monotonic() >= self._wishes_at():
            req = f"reload-{next(self._wish_numbers)}"
            with self._lock:
                op, kind, id = self._asked[req] = next(iter(self._wishes))
                self._wishes.pop(self._asked[req], None)
            link.send(_members(op=op, req=req, app=self.app, kind=kind, id=id))

    def _wishes_at(self) -> float:
        """When a wish may be sent, if there is one. As many as may wait may be without an answer."""
        may = self._wishes and self.registered.is_set() and len(self._asked) < self.RECENT
        return self._wishes_due if may else float("inf")

    def _works(self) -> bool:
        """Whether something is at work that the service is to hear of: calls, and actions of a connection that was lost."""
        may_tell = self.registered.is_set()
        return bool(self._calls) or may_tell and (bool(self._acting) or not self._results.empty())

    def _forget(self) -> None:
        self.registered.clear()
        # What has no answer may never have been taken.
        unanswered, self._asked = self._asked, {}
        self._want(unanswered.values())
        for call in self._calls.values():
            call.asked.cancelled.set()
        self._calls.clear()

    def _pause(self, seconds: float) -> None:
        self._sleep(time.monotonic() + seconds, lambda: self._stopping)

    def _await_actions(self) -> None:
        """Gives the actions at work their grace: the end of the process would break them off in the middle."""
        self._forget()  # nobody waits for what they give
        end = time.monotonic() + self.grace if self._grace_end is None else self._grace_end
        self._sleep(end, lambda: not self._acting)

    def _sleep(self, end: float, is_over: Callable[[], bool]) -> None:
        """Waits until it is over, which `_wake` tells, but no longer than to the end."""
        poller = zmq.Poller()  # `select` takes no descriptor from 1,024 on
        poller.register(self._wake_in, zmq.POLLIN)
        while not is_over() and (left := end - time.monotonic()) > 0:
            if poller.poll(_milliseconds(left)):
                self._wake_in.recv(4096)

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # full: it is awake
            self._wake_out.send(b"!")

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """SIGTERM and Ctrl-C stop it well, a second one as ever."""
        before: dict[int, Any] = {}
        process = os.getpid()

        def stop(number: int, _: object) -> None:
            signal.signal(number, before[number] or signal.SIG_DFL)
            if os.getpid() == process:
                self.stop()
            else:  # one that a handler has forked: there is nothing to stop in it
                signal.raise_signal(number)

        wakes = None
        if threading.current_thread() is threading.main_thread():
            # Python runs a handler between two instructions, and a signal that comes just before a wait does not end it:
            # what the system's own handler writes does.
            wakes = signal.set_wakeup_fd(self._wake_out.fileno(), warn_on_full_buffer=False)
            # Known before the first of them can come.
            before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
            _before_ours.update(before)
            for number in before:
                signal.signal(number, stop)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler or signal.SIG_DFL)
                _before_ours.pop(number, None)
            if wakes is not None:
                signal.set_wakeup_fd(wakes)

    # The threads of the handlers

    def _work(self, call: _Call) -> None:
        self._handling.call = call
        call.result = self._failed(call.id, "the handler's error cannot be told")
        try:
            call.result = self._answer(call)
        except Fail as fail:
            call.result = self._failed(call.id, _said(fail), fail.retryable)
            if isinstance(fail, _Misfit):  # nobody has decided that it fails, as who raises `Fail` has
                log.warning("%s of %s: %s", call.frame["op"], call.asked.kind, _said(fail))
        except BaseException as failure:
            call.result = self._failed(call.id, f"{type(failure).__name__}: {_said(failure)}")
            log.exception("%s of %s", call.frame["op"], call.asked.kind)
        finally:
            self._asking.discard(call)
            self._results.put(call)
            self._acting.discard(call)
            self._wake()

    def _answer(self, call: _Call) -> bytes:
        answer = (self._widget_answer if isinstance(call.asked, Widget) else self._control_answer)(call)
        frame = _encode(_members(op="provider.answer", provider=self.id, call=call.id, **answer))
        if len(frame) > self.FRAME_LIMIT:
            raise _Misfit(f"the answer has {len(frame)} bytes, and may have {self.FRAME_LIMIT}")
        if (depth := _depth(frame)) > self.DEPTH_LIMIT:
            raise _Misfit(f"the answer nests {depth} levels deep, and may nest {self.DEPTH_LIMIT}")
        return frame

    def _control_answer(self, call: _Call) -> JSON:
        handler, control, op = call.handler, call.asked, call.frame["op"]
        toggles = handler.template == "toggle"
        if op == "control.options":
            given = Answer(_offered(_done(handler.options(control, call.frame.get("parameter")))))
        elif op == "control.value":
            value = _done(handler.current_value(control))
            given = value if isinstance(value, Answer) else Answer(value)
            if toggles and not isinstance(given.value, bool):
                raise _Misfit(f"current_value gave {given.value!r:.100}, which is no bool")
            if given.value is None:
                raise _Misfit("current_value gave None, which is no value: in a message null is as good as nothing")
        else:
            status = _performed(
                handler.set_value(control, call.frame.get("value")) if toggles else handler.perform(control))
            given = status if isinstance(status, Answer) else Answer(status=status)
        for name in self._misfits(given):
            said = f"{getattr(given, name)!r:.100} is no {name}"
            if not call.acts:
                raise _Misfit(said)
            # The action was performed, so the call has not failed.
            log.warning("%s: %s", control.kind, said)
            given = dataclasses.replace(given, **{name: None})
        limit = self.OPTIONS_LIMIT if op == "control.options" else self._value_limit
        try:
            if (size := len(encoded := _encode(given.value))) > limit:
                raise _Misfit(f"the value has {size} bytes, and may have {limit}")
            if (depth := 1 + _depth(encoded)) > self.DEPTH_LIMIT:
                raise _Misfit(f"the value nests {depth - 1} levels deep, and may nest {self.DEPTH_LIMIT - 1}")
        except (Fail, TypeError, ValueError, RecursionError) as failure:
            if not call.acts:
                raise
            log.warning("%s: the value is left out: %s", control.kind, _said(failure))
            given = dataclasses.replace(given, value=None)
        return {name: _cut(value, self.TEXT_LIMIT) if isinstance(value, str) and name not in ("value", "url") else value
                for name, value in ((field.name, getattr(given, field.name)) for field in dataclasses.fields(given))}

    def _misfits(self, given: Answer) -> list[str]:
        """The members of an answer that the service would refuse."""
        said = {name: value for name in _ANSWERED if (value := getattr(given, name)) is not None}
        return [name for name, value in said.items() if not isinstance(value, _ANSWERED[name])
                or (name == "url" and not self._is_url(value))]

    def _is_url(self, text: str) -> bool:
        try:
            return _text_size(text) <= self.URL_LIMIT
        except UnicodeEncodeError:  # of a file name, for example
            return False

    def _widget_answer(self, call: _Call) -> JSON:
        handler, widget, frame = call.handler, call.asked, call.frame
        match frame["op"]:
            case "widget.timeline":
                timeline = _timeline(_done(handler.timeline(widget)))
                return {"entries": _entries(timeline, widget.family, self._entries_limit),
                        "policy": _policy(timeline.policy), "needs_login": bool(timeline.needs_login) or None}
            case "widget.snapshot":
                return {"entries": _entries(_timeline(_done(handler.snapshot(widget))), widget.family, 1)}
            case "widget.perform":
                _performed(handler.perform(widget, frame.get("action"), frame.get("parameters") or {}))
                return {}
            case "widget.recommendations":
                parameters = self._kinds["widget", widget.kind][0].get("parameters") or ()
                return {"value": _counted("recommendations", [
                    _recommended(configuration, description, parameters)
                    for configuration, description in _done(handler.recommendations())], self.OFFERS_COUNT)}
            case "widget.relevance":
                return {"value": _counted("times of relevance", [
                    relevance._wire() for relevance in _done(handler.relevance())], self.OFFERS_COUNT)}
        name = frame.get("parameter")
        match frame.get("query"):
            case "entitiesFor":
                options = _done(handler.entities(widget, name, frame.get("identifiers") or []))
            case "defaultResult":
                options = [option] if (option := _done(handler.default_option(widget, name))) is not None else []
            case _:
                options = _done(handler.options(widget, name))
        offered = _offered(options)
        if (size := len(_encode(offered))) > self.OPTIONS_LIMIT:
            raise _Misfit(f"the options have {size} bytes, and may have {self.OPTIONS_LIMIT}")
        return {"value": offered}

    def _failed(self, call: str, message: str, retryable: bool = False) -> bytes:
        return _encode(_members(op="provider.fail", provider=self.id, call=call, retryable=retryable or None,
                                message=_cut(message, self.MESSAGE_LIMIT) if message else None))


class _Link:
    """One connection of a provider. Belongs to one thread."""

    def __init__(self, context: zmq.Context[Any] | None, url: str, wake: sockets.socket):
        self.broken = False
        self._wake = wake
        self._socket = _socket(context, zmq.DEALER, url, self._watch)
        self._poller = zmq.Poller()
        for source in (self._socket, self._monitor, wake):
            self._poller.register(source, zmq.POLLIN)

    def _watch(self, made: Any) -> None:
        # A monitor that is not read stalls libzmq: one kind of event alone, which ends the link at its first.
        self._monitor = made.get_monitor_socket(zmq.EVENT_DISCONNECTED)

    def send(self, frame: JSON) -> None:
        self.forward(_encode(frame))

    def forward(self, frame: bytes) -> None:
        try:
            self._socket.send(frame, zmq.DONTWAIT)
        except zmq.Again:  # libzmq has given the address up, where something else answered
            raise _Lost("no connection takes it") from None

    def frames(self, due: float) -> Iterator[JSON]:
        """Waits until something happens, at most until `due`, and gives what has come."""
        ready = dict(self._poller.poll(_milliseconds(due - time.monotonic())))
        if self._wake.fileno() in ready:
            self._wake.recv(4096)
        self.broken = self._monitor in ready
        for _ in range(256 if self._socket in ready else 0):
            try:
                yield from filter(None, map(_decode, self._socket.recv_multipart(zmq.DONTWAIT)))
            except zmq.Again:
                return

    def close(self) -> None:
        self._socket.disable_monitor()
        self._socket.close()
        self._monitor.close()

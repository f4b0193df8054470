"""Number 8: how long a start takes with a million activities, with nothing overdue and with all of it, beside Redis."""

import contextlib
import shutil
import statistics
import sys
import time

import redis_server
import storm
from report import Row, at_most
from services import LoadFailed, ask, folder, info, islet_in, load, steadily

APP = "com.example.bench"
CALM_SECONDS, OVERDUE_SECONDS, FINISH_SECONDS = 2, 4, 120


def first_answer(endpoints, options):
    """Reads the one activity that is still active; its answer is the first thing that the service says."""
    answer = ask(endpoints, op="activity.get", app=APP, id=f"00000000-0000-7000-8000-{options.many:012x}")
    if not answer["ok"] or answer["activity"]["state"] != "active":
        raise LoadFailed(f"a wrong first answer: {answer}")


@contextlib.contextmanager
def started(data, options):
    """A start; gives the endpoints, the seconds to the first answer, and when it began. Ends with a clean stop."""
    begun = time.monotonic()
    with islet_in(data) as (endpoints, _):
        first_answer(endpoints, options)
        yield endpoints, time.monotonic() - begun, begun


def start_calmly(data, options):
    """Seconds from the start to the first answer, and those of a clean stop."""
    with started(data, options) as (endpoints, seconds, _):
        if info(endpoints)["entities"]["active"] != options.many + 1:
            raise LoadFailed("activities are missing after a start")
        stopping = time.monotonic()
    return seconds, time.monotonic() - stopping


def start_overdue(data, options):
    """Seconds to the first answer, and until all that was overdue has been done and committed."""
    with folder() as copy:
        shutil.copytree(data, copy, dirs_exist_ok=True)
        with started(copy, options) as (endpoints, seconds, begun):
            while info(endpoints)["entities"]["ended"] > 0:
                if time.monotonic() - begun > FINISH_SECONDS:
                    raise LoadFailed("what is overdue is not done")
                time.sleep(0.05)
            done = time.monotonic() - begun
            if info(endpoints)["entities"]["dismissed"] != options.many:
                raise LoadFailed("not all of what was overdue is dismissed")
            return seconds, done


def run_islet(options):
    """Calm starts, then starts with everything overdue."""
    with folder() as data:
        begun = time.monotonic()
        with islet_in(data) as (endpoints, _):
            load(endpoints, start=True, activities=options.many + 1, content=options.content)
            spent = time.monotonic() - begun
        calm = [start_calmly(data, options) for _ in range(options.starts)]
        with islet_in(data) as (endpoints, _):
            date = storm.end_all(endpoints, options, time.monotonic() - spent)
        if storm.now() > date:
            raise LoadFailed("stopping took too long: something else runs on this machine")
        time.sleep((date - storm.now()) / 1000 + 0.1)
        return calm, [start_overdue(data, options) for _ in range(options.starts)]


def run_redis(options):
    """Seconds from the start to the first answer, with the keys in the form that loads fastest."""
    times = []
    with folder() as data:
        with redis_server.running_in(data) as (port, _):
            redis_server.drive(port, start=True, activities=options.many, content=options.content)
            redis_server.compact(port)
        for _ in range(options.starts):
            begun = time.monotonic()
            with redis_server.running_in(data):
                times.append(time.monotonic() - begun)
    return times


def measure(options):
    """The rows of the table."""
    print("starts", file=sys.stderr)
    calm, overdue = steadily(run_islet, options)
    redis = statistics.median(steadily(run_redis, options))
    answer, stop, late, done = (statistics.median(times) for times in [*zip(*calm), *zip(*overdue)])
    print(f"\n{options.many:,} activities, medians of {options.starts}: first answer after {answer:.2f} s, all overdue "
          f"{late:.2f} s and all done {done:.2f} s; a clean stop {stop:.2f} s; Redis loads as many in {redis:.2f} s")
    what = f"start with {options.many:,}"
    limit = CALM_SECONDS + OVERDUE_SECONDS * options.many / 1_000_000
    return [
        at_most(8, f"{what}, nothing overdue: first answer", answer, CALM_SECONDS, "s", other=f"Redis {redis:.2f} s"),
        at_most(8, f"{what}, all overdue: first answer", late, limit, "s"),
        Row(8, f"{what}, all overdue: all done and durable", f"{done:.2f} s"),
        Row(8, "a clean stop", f"{stop:.2f} s"),
    ]

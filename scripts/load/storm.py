"""Number 6: a million dismissals due at one instant, beside Redis's expiry events and Erlang's gen_statem timers."""

import json
import statistics
import subprocess
import sys
import time

import redis_server
from report import Row, at_most
from services import LOAD, LoadFailed, islet, load, steadily

ERLANG_TIMERS = 200_000


def now():
    return int(time.time() * 1000)


def end_all(endpoints, options, begun):
    """Ends all of them, to be dismissed at an instant soon after; gives that instant.

    `begun` is when starting them began: to end them takes about as long, twice as long at most."""
    date = now() + int((time.monotonic() - begun) * 2000) + 3000
    load(endpoints, end=date, activities=options.many, content=options.content)
    if now() > date - 1000:
        raise LoadFailed("ending took too long: something else runs on this machine")
    return date


def run_islet(options):
    with islet() as (endpoints, _):
        begun = time.monotonic()
        load(endpoints, start=True, activities=options.many + 1, content=options.content)
        date = end_all(endpoints, options, begun)
        return load(endpoints, "storm", date=date, activities=options.many, content=options.content)


def run_redis(options):
    settings = {"notify_keyspace_events": "Ex", "hz": 100, "active_expire_effort": 10,
                "client_output_buffer_limit": "pubsub 0 0 0"}
    with redis_server.running(**settings) as (port, _):
        ahead = max(4, options.many // 50_000)
        return redis_server.drive(port, "expiry", keys=options.many, ahead=ahead, content=options.content)


def run_erlang():
    words = ["erl", "-noshell", "+P", "2000000", "-pa", str(LOAD), "-run", "timers", "main", str(ERLANG_TIMERS)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    if done.returncode:
        raise LoadFailed("the timers in Erlang failed")
    return json.loads(done.stdout)


def measure(options):
    """The three in turns; a run counts only where each came once, none early, and no event was lost."""
    runs = {"islet": [], "redis": [], "erlang": []}
    for number in range(options.storms):
        print(f"storm: round {number + 1} of {options.storms}", file=sys.stderr)
        runs["islet"].append(steadily(run_islet, options))
        runs["redis"].append(steadily(run_redis, options))
        runs["erlang"].append(steadily(run_erlang))
    seconds = {name: statistics.median(run["seconds"] for run in some) for name, some in runs.items()}
    answers = {name: statistics.median(run["answer"]["p99"] for run in runs[name]) / 1000 for name in ("islet", "redis")}
    answers["erlang"] = statistics.median(run["probeP99"] for run in runs["erlang"]) / 1000
    calm = statistics.median(run["calm"]["p99"] for run in runs["islet"]) / 1000
    counts = {"islet": options.many, "redis": options.many, "erlang": ERLANG_TIMERS}
    print(f"\nDue at one instant, medians of {options.storms} rounds\n")
    print(f"{'':12}{'due':>11}{'last after':>13}{'a second':>12}{'answers meanwhile p99':>24}")
    for name, count in counts.items():
        print(f"{name:12}{count:11,}{seconds[name]:11.2f} s{count / seconds[name]:12,.0f}{answers[name]:21.2f} ms")
    print(f"(islet's answers in the second before: p99 {calm:.2f} ms)")
    missed = statistics.median(run["replayed"] for run in runs["islet"])
    print(f"islet's subscriber was too slow for {missed:,.0f} events, and got them by replays: included")
    what = f"{options.many:,} dismissals due at one instant"
    others = (f"Redis {seconds['redis']:.2f} s, Erlang ({ERLANG_TIMERS // 1000} k, in memory) {seconds['erlang']:.2f} s")
    meanwhile = f"Redis {answers['redis']:.1f} ms, Erlang {answers['erlang']:.1f} ms"
    return [
        at_most(6, f"{what}: all committed and received", seconds["islet"], 4, "s", other=others),
        at_most(6, "answers meanwhile, p99", answers["islet"], 50, "ms", other=meanwhile),
    ]

"""How many updates a second: the service, the relay and Redis in turns, and the service with more and more activities."""

import contextlib
import statistics
import sys

import redis_server
from report import Row, versus
from services import islet, load, relay, run, steadily

ISLET, MEMORY, RELAY, REDIS = "islet", "islet, in memory", "relay", "redis"
BATCHED = ", batches of 64"
POPULATIONS = (10_000, 100_000, 1_000_000)


def say(*words):
    print(*words, file=sys.stderr)


def median(runs, name="publishedPerSecond"):
    return statistics.median(run[name] for run in runs)


def shapes(options):
    """What commands one at a time and commands in batches have in common and what not. As many wait either way."""
    one = {"window": options.window, "connections": options.connections, "content": options.content}
    if options.deadline:
        one["stale"] = True
    return one, {**one, "window": max(1, options.window // 64), "connections": 1, "batch": 64}


def run_islet(options, store, subscribers=1):
    with islet(store) as (endpoints, _):
        load(endpoints, start=True, activities=options.activities, content=options.content)
        return [load(endpoints, activities=options.activities, updates=options.updates, subscribers=subscribers, **shape)
                for shape in shapes(options)]


def run_relay(options, sizes):
    with relay(sizes) as (endpoints, _):
        return [load(endpoints, updates=options.updates, **shape) for shape in shapes(options)]


def run_redis(options, sizes):
    shape = {"activities": options.activities, "content": options.content}
    event = sizes["topicBytes"] + sizes["eventBytes"]
    with redis_server.running() as (port, _):
        redis_server.drive(port, start=True, **shape)
        return [
            redis_server.drive(port, updates=options.updates, event=event, **shape, **more)
            for more in ({"window": options.redis_window}, {"window": max(1, options.redis_window // 64), "batch": 64})]


def contend(options):
    """All contenders in turns: a list of runs for each, one command a message and in batches."""
    rows = {name + kind: [] for kind in ("", BATCHED) for name in (RELAY, ISLET, MEMORY, REDIS)}
    for number in range(options.rounds):
        say(f"updates: round {number + 1} of {options.rounds}")
        done = {ISLET: steadily(run_islet, options, "sqlite"), MEMORY: steadily(run_islet, options, "memory")}
        done[RELAY] = steadily(run_relay, options, done[ISLET][0])
        done[REDIS] = steadily(run_redis, options, done[ISLET][0])
        for name, (one, many) in done.items():
            rows[name].append(one)
            rows[name + BATCHED].append(many)
    return rows


def print_contenders(options, rows):
    base, one = median(rows[RELAY]), rows[ISLET][0]
    print(f"\n{options.activities} activities, {options.content}-byte content, {options.connections} connection(s) of "
          f"{options.window} waiting commands, sync=full; medians of {options.rounds} rounds of {options.updates}")
    print(f"bytes: command {one['commandBytes']}, topic {one['topicBytes']}, event {one['eventBytes']}, "
          f"answer {one['answerBytes']}\n")
    print(f"{'':36}{'updates/s':>11}{'ratio':>8}{'answer p50':>12}{'p99':>9}{'event p50':>12}{'p99':>9}   (ms)")
    for name, runs in rows.items():
        times = [median(runs, key) / 1000 for key in ("answerP50", "answerP99", "eventP50", "eventP99")]
        print(f"{name:36}{median(runs):11,.0f}{median(runs) / base:8.2f}{times[0]:12.3f}{times[1]:9.3f}"
              f"{times[2]:12.3f}{times[3]:9.3f}")


def measure(options):
    """Numbers 1 and 2."""
    rows = contend(options)
    print_contenders(options, rows)
    one, many = median(rows[ISLET]), median(rows[ISLET + BATCHED])
    base, redis = median(rows[RELAY]), median(rows[REDIS])
    best = max(redis, median(rows[REDIS + BATCHED]))
    return [
        versus(1, "durable updates, one command a message", one, base, "/s", 0.5, name="relay"),
        versus(1, "the same beside Redis with a script, everysec", one, redis, "/s", 2, name="Redis"),
        versus(2, "durable updates, batches of 64", many, base, "/s", 0.7, name="relay unbatched"),
        Row(2, "the same beside the best of Redis, batched or not", f"{many:,.0f} /s", f"Redis {best:,.0f}", many / best),
    ]


def run_scale(options, endpoints, population, shape):
    return load(endpoints, activities=population, updates=options.updates, **shape)


def measure_scale(options):
    """Number 3: services with more and more activities, side by side; only one of them has work at a time."""
    one, _ = shapes(options)
    runs = {population: [] for population in POPULATIONS}
    with contextlib.ExitStack() as stack:
        services = {}
        for population in POPULATIONS:
            services[population], _ = stack.enter_context(islet())
            load(services[population], start=True, activities=population, content=options.content)
        for number in range(options.rounds):
            say(f"scale: round {number + 1} of {options.rounds}")
            for population, endpoints in services.items():
                runs[population].append(steadily(run_scale, options, endpoints, population, one))
    figures = [median(runs[population]) for population in POPULATIONS]
    print(f"\nupdates/s with more activities, medians of {options.rounds} rounds of {options.updates}\n")
    for population, figure in zip(POPULATIONS, figures):
        print(f"{population:12,}{figure:11,.0f}{figure / figures[0]:8.2f}")
    what = "durable updates with 1 M activities, beside 10 k"
    return [versus(3, what, figures[-1], figures[0], "/s", 0.85, name="10 k activities")]


def run_fanout(options, sizes):
    """Bare PUB, and the relay, with as many subscribers; events a second."""
    count = {"subscribers": options.subscribers}
    words = {**count, "events": options.updates, "topic": sizes["topicBytes"], "event": sizes["eventBytes"]}
    with relay(sizes) as (endpoints, _):
        relayed = [load(endpoints, updates=options.updates, **shape, **count) for shape in shapes(options)]
    return run("fanout", **words), relayed


def measure_subscribers(options):
    """Number 9: deliveries a second to many subscribers."""
    runs = {name: [] for name in ("bare PUB", ISLET, ISLET + BATCHED, RELAY, RELAY + BATCHED)}
    for number in range(options.rounds):
        say(f"subscribers: round {number + 1} of {options.rounds}")
        here = steadily(run_islet, options, "sqlite", options.subscribers)
        bare, relayed = steadily(run_fanout, options, here[0])
        for name, one in zip(runs, [bare, *here, *relayed]):
            runs[name].append(one)
    figures = {name: median(some) * options.subscribers for name, some in runs.items()}
    print(f"\ndeliveries/s to {options.subscribers} subscribers, medians of {options.rounds} rounds of "
          f"{options.updates}\n")
    for name, figure in figures.items():
        print(f"{name:36}{figure:11,.0f}{figure / figures['bare PUB']:8.2f}")
    what, bare = f"deliveries to {options.subscribers} subscribers", figures["bare PUB"]
    return [
        versus(9, f"{what}, batches of 64", figures[ISLET + BATCHED], bare, "/s", 0.8, name="bare PUB"),
        Row(9, f"{what}, one command a message", f"{figures[ISLET]:,.0f} /s", f"relay {figures[RELAY]:,.0f}",
            figures[ISLET] / figures[RELAY]),
    ]

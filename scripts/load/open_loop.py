"""Latencies at a fixed rate: commands leave when they are due, whatever came back so far (see `open.c`)."""

import statistics
import sys

from report import Row, at_most
from services import LoadFailed, folder, info, islet_in, load, relay, steadily

ISLET = "islet, sync=full"
ROWS = {ISLET: "sqlite", "relay": None}
# A rate counts as reached where so much of it was published.
REACHED = 0.99
MEASURES = {
    "answer": "command to answer", "event": "command to event", "commit": "commit, hand-over to durable",
    "lateness": "deadline late by", "deadline": "stale date to event", "sendDelay": "of these: sent late by",
}


def run_islet(options, rate, store):
    """One run against the service; what the generator and the service measured, in microseconds."""
    shape = {"activities": options.activities, "content": options.content}
    with folder() as data:
        if store == "sqlite":
            with islet_in(data, store) as (endpoints, _):
                load(endpoints, start=True, window=options.window, **shape)
        # A new process: its figures begin with it.
        with islet_in(data, store) as (endpoints, _):
            if store == "memory":
                load(endpoints, start=True, window=options.window, **shape)
            measured = load(
                endpoints, "open", rate=rate, seconds=options.seconds, deadlines=options.deadlines,
                connections=options.publishers, **shape)
            told = info(endpoints)
    lateness = told["lateness"]
    measured["lateness"] = {name: value * (1 if name == "count" else 1000) for name, value in lateness.items()}
    measured["commit"] = told.get("journal", {}).get("commit")
    return measured


def run_relay(options, rate, sizes):
    with relay(sizes) as (endpoints, _):
        return load(
            endpoints, "open", rate=rate, seconds=options.seconds, connections=options.publishers,
            activities=options.activities, content=options.content)


def sizes_of(options):
    """The sizes of the messages, which the relay is to send, too."""
    with folder() as data, islet_in(data, "memory") as (endpoints, _):
        shape = {"activities": 1_000, "content": options.content, "window": options.window}
        load(endpoints, start=True, **shape)
        return load(endpoints, updates=10_000, **shape)


def rounds(options, rate, store, sizes):
    """The runs that succeeded, and how many failed. Below the first rate, two are enough to say what is reached."""
    runs, count = [], options.rounds if rate == options.rates[0] else min(2, options.rounds)
    for number in range(count):
        print(f"open loop at {rate}/s, {store or 'relay'}: round {number + 1} of {count}", file=sys.stderr)
        try:
            more = (run_islet, options, rate, store) if store else (run_relay, options, rate, sizes)
            runs.append(steadily(*more))
        except LoadFailed as failure:
            print(failure, file=sys.stderr)
    return runs, count - len(runs)


def print_row(name, rate, runs, failed):
    """Prints what runs gave; True where they reached the rate."""
    if failed:
        print(f"\n{name}: {failed} of {failed + len(runs)} runs at {rate:,} updates/s FAILED")
    if not runs:
        return False
    published = statistics.median(run["publishedPerSecond"] for run in runs)
    reached = published >= REACHED * rate
    print(f"\n{name}: {published:,.0f} of {rate:,} updates/s" + ("" if reached else ", NOT REACHED"))
    for key, words in MEASURES.items():
        figures = [run[key] for run in runs if run.get(key) and run[key]["count"]]
        if not figures:
            continue
        shown = [statistics.median(figure[part] for figure in figures) / 1000 for part in ("p50", "p99", "p999")]
        shown.append(max(figure["max"] for figure in figures) / 1000)
        count = statistics.median(figure["count"] for figure in figures)
        print(f"  {words:32}" + "".join(f"{value:10.3f}" for value in shown) + f"{count:12,.0f}")
    return reached and not failed


def part(runs, key, percentile):
    """The median of a percentile over runs, in milliseconds."""
    return statistics.median(run[key][percentile] for run in runs) / 1000


def measure(options):
    """Number 4, and how late deadlines are of number 5: each row at the first rate, and at lower ones until one is
    reached. A run counts only where no event was lost and no deadline took effect early."""
    sizes = sizes_of(options)
    print(f"\nOpen loop: {options.activities} activities, {options.content}-byte content, one command a message over "
          f"{options.publishers} connections,\none subscriber, {options.seconds} s with {options.deadlines} stale "
          f"dates falling due; from the intended times on;\nmedians of {options.rounds} rounds, the worst max\n")
    print(f"  {'(ms)':32}" + "".join(f"{part:>10}" for part in ("p50", "p99", "p99.9", "max")) + f"{'count':>12}")
    first = {}
    for name, store in ROWS.items():
        for rate in options.rates:
            runs, failed = rounds(options, rate, store, sizes)
            reached = print_row(name, rate, runs, failed)
            first.setdefault(name, (runs, reached))
            if reached:
                break
    return table_rows(options.rates[0], *first[ISLET], first["relay"][0])


def table_rows(rate, runs, reached, relayed):
    """The rows of the table, of the runs at the first rate."""
    at = f"at {rate:,} updates/s"
    if not runs:
        return [Row(4, f"command to event {at}", "all runs failed", reached=False)]
    published = statistics.median(run["publishedPerSecond"] for run in runs)
    rows = [Row(4, f"published {at}, none lost", f"{published:,.0f} /s", target=f"≥ {REACHED * rate:,.0f} /s",
                reached=reached)]
    for key, limit in (("p50", 0.6), ("p99", 2)):
        other = f"relay {part(relayed, 'event', key):.2f} ms" if relayed else ""
        rows.append(at_most(4, f"command to event {at}, {key}", part(runs, "event", key), limit, "ms", other=other))
    for key, limit, words in (("p99", 2, "p99"), ("p999", 10, "p99.9")):
        rows.append(at_most(5, f"deadlines late {at}, {words}", part(runs, "lateness", key), limit, "ms"))
    return rows

"""Runs the measurements of `scripts/bench` and prints them; the relay and the service take turns, medians count."""

import argparse
import statistics
import subprocess
import sys

import controls
import open_loop
from services import BUILT, LoadFailed, islet, load, relay, resident

SECTIONS = ("closed", "open", "controls", "memory", "wheel")


def throughput(options):
    """The service and the relay in turns: a list of runs for each of the rows."""
    names = ["relay", "islet", "islet, in memory"]
    rows = {name + kind: [] for kind in ["", ", batches of 64"] for name in names}
    shape = {"window": options.window, "connections": options.connections, "content": options.content}
    batched = {**shape, "window": max(1, options.window // 8), "connections": 1, "batch": 64}
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        for name, store in [("islet, in memory", "memory"), ("islet", "sqlite")]:
            with islet(store) as (endpoints, _):
                load(endpoints, start=True, activities=options.activities, **shape)
                one = load(endpoints, activities=options.activities, updates=options.updates, **shape)
                many = load(endpoints, activities=options.activities, updates=options.updates, **batched)
            rows[name].append(one)
            rows[name + ", batches of 64"].append(many)
        with relay(one) as (endpoints, _):
            rows["relay"].append(load(endpoints, updates=options.updates, **shape))
            rows["relay, batches of 64"].append(load(endpoints, updates=options.updates, **batched))
    return rows


def memory(options):
    """Bytes of memory beside the payload that another activity costs, once the buffers of fixed size are full."""
    shape = {"window": options.window, "content": options.content}
    with islet("memory") as (endpoints, process):
        load(endpoints, start=True, activities=options.activities, **shape)
        # The ring of events for replays fills up here, until it only turns, and no longer counts below.
        before, grown = 0, resident(process)
        while grown - before > 4 << 20:
            before = grown
            load(endpoints, activities=options.activities, updates=100_000, **shape)
            grown = resident(process)
        before = grown
        load(endpoints, start=True, first=options.activities, activities=options.activities, **shape)
        after = resident(process)
    payload = options.content + len("{}")
    return (after - before) / options.activities - payload


def median(runs, name):
    return statistics.median(run[name] for run in runs)


def print_throughput(options):
    rows = throughput(options)
    base = median(rows["relay"], "publishedPerSecond")
    one = rows["islet"][0]
    print(f"\n{options.activities} activities, {options.content}-byte content, {options.connections} connection(s) of "
          f"{options.window} waiting commands, sync=full; medians of {options.rounds} rounds of {options.updates}")
    print(f"bytes: command {one['commandBytes']}, topic {one['topicBytes']}, event {one['eventBytes']}, "
          f"answer {one['answerBytes']}\n")
    print(f"{'':36}{'updates/s':>11}{'ratio':>8}{'answer p50':>12}{'p99':>9}{'event p50':>12}{'p99':>9}   (ms)")
    for name, runs in rows.items():
        rate = median(runs, "publishedPerSecond")
        times = [median(runs, key) / 1000 for key in ("answerP50", "answerP99", "eventP50", "eventP99")]
        print(f"{name:36}{rate:11,.0f}{rate / base:8.2f}{times[0]:12.3f}{times[1]:9.3f}{times[2]:12.3f}{times[3]:9.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="some of the sections")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=300_000)
    parser.add_argument("--activities", type=int, default=100_000)
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--connections", type=int, default=1, help="of the closed loop")
    parser.add_argument("--content", type=int, default=256)
    parser.add_argument(
        "--rates", type=int, nargs="+", default=[50_000, 40_000, 30_000, 20_000, 10_000],
        help="updates/s of the open loop: the first, and the next as long as the one before was not reached")
    parser.add_argument("--seconds", type=int, default=10, help="measured seconds of an open loop")
    parser.add_argument("--publishers", type=int, default=8, help="connections of the open loop")
    parser.add_argument("--deadlines", type=int, default=20_000, help="stale dates that fall due meanwhile")
    parser.add_argument("--controls", type=int, default=1_000, help="controls of one provider")
    parser.add_argument("--kinds", type=int, default=4, help="their kinds")
    parser.add_argument("--capacity", type=int, default=256, help="calls that the provider takes at a time")
    parser.add_argument("--tap-window", type=int, default=256, help="controls on their way to the final value")
    parser.add_argument("--tap-rate", type=int, default=200, help="taps/s of the open loop")
    options = parser.parse_args()

    if "closed" in options.only:
        print_throughput(options)
    if "open" in options.only:
        open_loop.measure(options)
    if "controls" in options.only:
        controls.measure(options)
    if "memory" in options.only:
        print(f"\nan activity: {memory(options):.0f} bytes resident beside its payload of {options.content + 2}")
    if "wheel" in options.only:
        wheel = subprocess.run([BUILT / "islet-bench", "wheel"], stdout=subprocess.PIPE, text=True, check=True).stdout
        print("\n" + wheel, end="")


if __name__ == "__main__":
    try:
        main()
    except LoadFailed as failure:
        sys.exit(str(failure))

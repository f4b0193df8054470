"""Runs the measurements of `scripts/bench` and prints them; the relay and the service take turns, medians count."""

import argparse
import contextlib
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / ".build" / "release"
LOAD = ROOT / ".build" / "load"


@contextlib.contextmanager
def ready(words, **more):
    """A process that says where it serves; gives its endpoints and its process id, and ends it afterwards."""
    process = subprocess.Popen(
        [str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, **more)
    try:
        for line in process.stderr:
            if match := re.search(r"ready (commands=.*)", line):
                pairs = dict(pair.split("=", 1) for pair in match.group(1).split() if "=" in pair)
                yield pairs, process.pid
                return
        sys.exit(f"{words[0]} ended before it was ready")
    finally:
        process.stdin.close()
        process.terminate()
        process.wait(timeout=20)


@contextlib.contextmanager
def islet(store="sqlite"):
    """The service: durable with its files on the disk of this project, or in memory."""
    free = "tcp://127.0.0.1:*"
    words = [BUILT / "islet", "serve", "--commands", free, "--events", free, "--bulk", free, "--http", "none"]
    LOAD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=LOAD, prefix="data-") as data:
        with ready([*words, "--store", store, "--data", data]) as running:
            yield running


def relay(sizes):
    return ready([LOAD / "relay", sizes["topicBytes"], sizes["eventBytes"], sizes["answerBytes"]])


def load(endpoints, **options):
    """Runs the load generator; gives what it measured."""
    words = [LOAD / "load", "--commands", endpoints["commands"], "--events", endpoints["events"]]
    for name, value in options.items():
        words += [f"--{name}"] if value is True else [f"--{name}", value]
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"the load generator failed: {' '.join(map(str, words))}")
    return json.loads(done.stdout) if done.stdout else {}


def resident(process):
    """Bytes of memory of a process that are resident."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=300_000)
    parser.add_argument("--activities", type=int, default=100_000)
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--content", type=int, default=256)
    options = parser.parse_args()

    rows = throughput(options)
    beside = memory(options)
    wheel = subprocess.run([BUILT / "islet-bench", "wheel"], stdout=subprocess.PIPE, text=True, check=True).stdout

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
    print(f"\nan activity: {beside:.0f} bytes resident beside its payload of {options.content + 2}\n")
    print(wheel, end="")


if __name__ == "__main__":
    main()

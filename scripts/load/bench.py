"""Runs the measurements of `scripts/bench`, and prints one table: the contenders take turns, medians count."""

import argparse
import os
import sys
import time

import controls
import machine
import memory
import open_loop
import report
import starts
import storm
import throughput
import wheel
from services import LoadFailed

SECTIONS = {
    "updates": throughput.measure,
    "scale": throughput.measure_scale,
    "open": open_loop.measure,
    "wheel": wheel.measure,
    "storm": storm.measure,
    "memory": memory.measure,
    "start": starts.measure,
    "subscribers": throughput.measure_subscribers,
    "controls": controls.measure,
}


def read_options():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write BENCHMARKS.md")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="some of the sections")
    parser.add_argument("--rounds", type=int, default=5, help="of each throughput and latency")
    parser.add_argument("--activities", type=int, default=100_000)
    parser.add_argument("--many", type=int, default=1_000_000, help="activities of a storm, a start, and memory")
    parser.add_argument("--storms", type=int, default=3, help="rounds of dismissals at one instant")
    parser.add_argument("--starts", type=int, default=3, help="starts of each kind")
    parser.add_argument("--subscribers", type=int, default=8, help="where there are many of them")
    parser.add_argument("--content", type=int, default=256, help="bytes of a content state")
    closed = parser.add_argument_group("as fast as answers come back")
    closed.add_argument("--updates", type=int, default=200_000, help="of one run")
    closed.add_argument("--window", type=int, default=2048, help="waiting commands of a connection")
    closed.add_argument("--connections", type=int, default=1)
    closed.add_argument("--redis-window", type=int, default=128, help="depth of the pipeline to Redis")
    closed.add_argument("--no-deadline", dest="deadline", action="store_false", help="updates without a stale date")
    rate = parser.add_argument_group("at a fixed rate, from the intended times on")
    rate.add_argument(
        "--rates", type=int, nargs="+", default=[50_000, 40_000, 30_000, 20_000],
        help="updates/s: the first, and the next as long as the one before was not reached")
    rate.add_argument("--seconds", type=int, default=6, help="that are measured")
    rate.add_argument("--publishers", type=int, default=8, help="connections")
    rate.add_argument("--deadlines", type=int, default=20_000, help="stale dates that fall due meanwhile")
    taps = parser.add_argument_group("controls of one provider, and taps on them")
    taps.add_argument("--controls", type=int, default=1_000)
    taps.add_argument("--kinds", type=int, default=4)
    taps.add_argument("--capacity", type=int, default=256, help="calls that the provider takes at a time")
    taps.add_argument("--tap-window", type=int, default=256, help="controls on their way to the final value")
    taps.add_argument("--tap-rate", type=int, default=200, help="taps/s")
    taps.add_argument("--tap-seconds", type=int, default=3)
    options = parser.parse_args()
    if options.write and len(options.only) < len(SECTIONS):
        parser.error("--write needs all sections")
    return options


def main():
    options = read_options()
    before, begun, rows, failed = os.getloadavg()[0], time.monotonic(), [], []
    if machine.is_busy():
        print(f"something else runs on this machine (load {before:.1f}): figures will be worse", file=sys.stderr)
    for name in options.only:
        since = time.monotonic()
        try:
            rows += SECTIONS[name](options)
        except LoadFailed as failure:
            failed.append(name)
            print(f"{name} FAILED: {failure}", file=sys.stderr)
        print(f"{name}: {time.monotonic() - since:.0f} s", file=sys.stderr)
    rows.sort(key=lambda row: row.number)
    report.print_table(rows)
    print(f"in {(time.monotonic() - begun) / 60:.1f} minutes" + (f"; FAILED: {', '.join(failed)}" if failed else ""))
    if options.write:
        report.write(rows, machine.facts(before), options)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

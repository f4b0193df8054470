#!/usr/bin/env python3
"""Kills the real service in the middle of random commands of all families, and holds what it shows after each start
against its own stream; prints one table. What is judged stands in `Tests/EndToEnd/killing/restarts.py`.

    .venv/bin/python scripts/restart_campaign.py [--seeds 500] [--first N] [--jobs 2] [--lives 4] [SEED …]

Named seeds are run alone. A failure prints its seed; the kill itself comes when the machine lets it, so a seed may have
to be run more than once until it fails again. Needs `.venv` (scripts/setup) and a built `islet`.
"""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import random
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests" / "EndToEnd"))

from killing.restarts import Counts, Restarts  # noqa: E402


def run(seed, lives):
    """The seed, what it did, and what was wrong."""
    with tempfile.TemporaryDirectory(prefix="islet-restarts-") as folder:
        try:
            return seed, Restarts(pathlib.Path(folder) / "data", seed, lives=lives).run(), None
        except AssertionError as failure:
            return seed, None, str(failure)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--seeds", type=int, default=500, help="how many")
    options.add_argument("--first", type=int, default=random.SystemRandom().randrange(1 << 31))
    options.add_argument("--jobs", type=int, default=2, help="how many at a time")
    options.add_argument("--lives", type=int, default=4, help="kills of each seed")
    options.add_argument("seed", type=int, nargs="*", help="run these alone")
    given = options.parse_args()

    seeds = given.seed or range(given.first, given.first + given.seeds)
    begun, total, failed = time.monotonic(), Counts(), []
    with concurrent.futures.ProcessPoolExecutor(given.jobs) as pool:
        runs = [pool.submit(run, seed, given.lives) for seed in seeds]
        for number, done in enumerate(concurrent.futures.as_completed(runs), 1):
            seed, counts, failure = done.result()
            if counts:
                total.add(counts)
            else:
                failed.append(seed)
                print(f"FAILED with seed {seed}:\n{failure}", file=sys.stderr, flush=True)
            if number % 50 == 0:
                print(f"{number} seeds, {total.kills} kills, {len(failed)} failed, {time.monotonic() - begun:.0f} s",
                      file=sys.stderr, flush=True)
    table = {"seeds": len(seeds), "first seed": min(seeds), "failed": len(failed)}
    for field in dataclasses.fields(total):
        table[field.name.replace("_", " ")] = getattr(total, field.name)
    for name, value in {**table, "seconds": round(time.monotonic() - begun, 1)}.items():
        print(f"{name:<28}{value:>12}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

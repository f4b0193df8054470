#!/usr/bin/env python3
"""Kills the real service again and again under load, and looks for every acknowledged command; prints one table.

What it proves stands in `Tests/EndToEnd/killing/__init__.py`. Needs `.venv` (scripts/setup) and a built `islet`.

    .venv/bin/python scripts/kill_campaign.py [--kills 1000] [--seed N] [--seconds-between 0.05..1] [--sync full]
                                              [--writers 4] [--rate 300] [--window 64] [--data DIR] [--dry]
"""

import argparse
import pathlib
import random
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests" / "EndToEnd"))

from killing.campaign import Campaign, Plan  # noqa: E402


def span(text):
    low, _, high = text.partition("..")
    return float(low), float(high or low)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kills", type=int, default=1000)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options.add_argument("--seconds-between", type=span, default=(0.05, 1.0), metavar="LOW..HIGH")
    options.add_argument("--sync", choices=["full", "normal"], default="full")
    options.add_argument("--writers", type=int, default=4)
    options.add_argument("--rate", type=int, default=300, help="commands a second of each writer")
    options.add_argument("--window", type=int, default=64, help="commands of each writer on their way")
    options.add_argument("--data", help="the folder of the service; it is kept (else a temporary one is removed)")
    options.add_argument("--dry", action="store_true", help="no kills, memory store: tests the checks themselves")
    given = options.parse_args()

    print(f"seed {given.seed}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="islet-kill-") as temporary:
        campaign = Campaign(Plan(
            folder=given.data or temporary, store="memory" if given.dry else "sqlite", kills=given.kills,
            seed=given.seed, between=given.seconds_between,
            sync=given.sync, writers=given.writers, rate=given.rate, window=given.window, dry=given.dry))
        try:
            counts = campaign.run()
        except Exception:
            traceback.print_exc()
            print(f"FAILED with seed {given.seed} after {campaign.spawned - 1} kills\n{campaign.service.log}",
                  file=sys.stderr)
            return 1
    for name, value in {"seed": given.seed, **counts}.items():
        print(f"{name:<50}{value:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Controls: calls through one provider that answers at once, and how long a tap takes to its final value (see
`provider.c`)."""

import statistics
import sys

from report import Row, at_most
from services import LoadFailed, info, islet, load, steadily

CALLS = 20_000

ISLET = "islet, sync=full"
ROWS = {ISLET: "sqlite"}


def run(options, store):
    """One run; what the generator and the service measured."""
    with islet(store) as (endpoints, _):
        measured = load(
            endpoints, "provider", controls=options.controls, kinds=options.kinds, capacity=options.capacity,
            window=options.tap_window, rate=options.tap_rate, seconds=options.tap_seconds)
        measured["commit"] = info(endpoints).get("journal", {}).get("commit")
    return measured


def rounds(options):
    """The rows in turns: a list of runs for each, and how many failed."""
    runs, failed = {name: [] for name in ROWS}, dict.fromkeys(ROWS, 0)
    for number in range(options.rounds):
        for name, store in ROWS.items():
            print(f"controls, {name}: round {number + 1} of {options.rounds}", file=sys.stderr)
            try:
                runs[name].append(steadily(run, options, store))
            except LoadFailed as failure:
                failed[name] += 1
                print(failure, file=sys.stderr)
    return runs, failed


def rate_of(runs, phase, key):
    return statistics.median(run[phase][key] for run in runs)


def print_times(words, figures):
    """A line of medians in milliseconds, with the worst maximum."""
    figures = [figure for figure in figures if figure and figure["count"]]
    if not figures:
        return
    shown = [statistics.median(figure[part] for figure in figures) / 1000 for part in ("p50", "p99", "p999")]
    shown.append(max(figure["max"] for figure in figures) / 1000)
    count = statistics.median(figure["count"] for figure in figures)
    print(f"  {words:44}" + "".join(f"{value:10.3f}" for value in shown) + f"{count:12,.0f}")


def print_row(name, runs, options):
    reloads, taps = rate_of(runs, "reloads", "callsPerSecond"), rate_of(runs, "taps", "callsPerSecond")
    print(f"\n{name}: {reloads:,.0f} provider calls/s by reloads, {taps:,.0f} by taps "
          f"({rate_of(runs, 'taps', 'tapsPerSecond'):,.0f} taps/s)")
    print_times(f"tap to final value, at {options.tap_rate} taps/s", [run["rate"]["final"] for run in runs])
    print_times("tap to optimistic value", [run["rate"]["acting"] for run in runs])
    print_times("of these: sent late by", [run["rate"]["sendDelay"] for run in runs])
    print_times(f"tap to final value, {options.tap_window} at a time", [run["taps"]["final"] for run in runs])
    print_times("commit, hand-over to durable (all phases)", [run["commit"] for run in runs])


def measure(options):
    """Number 10; a run counts only where every value was the truth and every tap was performed once."""
    runs, failed = rounds(options)
    print(f"\nControls: {options.controls} toggles of {options.kinds} kinds, one provider of {options.capacity} calls "
          f"in flight that answers at once,\n{options.tap_seconds} s of each; a tap is three commits and two calls; from "
          f"the intended times on; medians of {options.rounds} rounds, the worst max\n")
    print(f"  {'(ms)':44}" + "".join(f"{part:>10}" for part in ("p50", "p99", "p99.9", "max")) + f"{'count':>12}")
    for name in ROWS:
        if failed[name]:
            print(f"\n{name}: {failed[name]} of {options.rounds} runs FAILED")
        if runs[name]:
            print_row(name, runs[name], options)
    if failed[ISLET] or not runs[ISLET]:
        return [Row(10, "provider calls/s", "runs failed", reached=False)]
    calls = rate_of(runs[ISLET], "reloads", "callsPerSecond")
    final = statistics.median(run["rate"]["final"]["p99"] for run in runs[ISLET]) / 1000
    return [
        Row(10, "calls through one provider", f"{calls:,.0f} /s", target=f"≥ {CALLS:,} /s", reached=calls >= CALLS),
        at_most(10, f"a tap to its final value, {options.tap_rate} taps/s, p99", final, 5, "ms"),
    ]

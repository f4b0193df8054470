"""The one table of `scripts/bench`, and BENCHMARKS.md, which keeps what was written into it by hand."""

import dataclasses
import datetime
import textwrap

from services import ROOT

PAGE = ROOT / "BENCHMARKS.md"
# What stands below this line is kept when the page is written again.
MARKER = "<!-- written by hand from here on; scripts/bench --write keeps it -->"
BY_HAND = """
## What was tried and did not pay

## Numbers not reached, and why
"""
HEADINGS = ("", "what", "Islet", "compared with", "ratio", "target", "reached")


@dataclasses.dataclass
class Row:
    """One measured thing. `reached` is None where it has no target: it stands there to be compared with."""

    number: int
    what: str
    islet: str
    other: str = ""
    ratio: float | None = None
    target: str = ""
    reached: bool | None = None

    def cells(self):
        verdict = {True: "yes", False: "NO", None: ""}[self.reached]
        ratio = f"{self.ratio:.2f}" if self.ratio is not None else ""
        return (str(self.number), self.what, self.islet, self.other, ratio, self.target, verdict)


def versus(number, what, islet, other, unit, least, *, name):
    """A row of two figures, larger is better: reached where the first is at least so many times the second."""
    ratio = islet / other
    return Row(number, what, f"{islet:,.0f} {unit}", f"{name} {other:,.0f}", ratio, f"≥ {least:g} ×", ratio >= least)


def at_most(number, what, value, limit, unit, digits=2, other=""):
    """A row of one figure that has an upper bound."""
    return Row(number, what, f"{value:,.{digits}f} {unit}", other, None, f"≤ {limit:g} {unit}", value <= limit)


def print_table(rows):
    """The table as text, as wide as it needs to be."""
    lines = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    print()
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if line is HEADINGS:
            print("  ".join("-" * width for width in widths))
    asked = [row.reached for row in rows if row.reached is not None]
    print(f"\n{sum(asked)} of {len(asked)} targets reached")


def markdown(headings, lines):
    cells = [headings, ["---"] * len(headings), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def bold(cells):
    """A target that was missed is not to be overlooked."""
    return [f"**{cell}**" if cell == "NO" else cell for cell in cells]


def write(rows, facts, options):
    """BENCHMARKS.md anew, with the part that was written by hand as it stands there."""
    kept = BY_HAND
    if PAGE.exists() and MARKER in (old := PAGE.read_text()):
        kept = old.split(MARKER, 1)[1]
    words = textwrap.dedent(f"""\
        # Benchmarks

        Written by `scripts/bench --write` on {datetime.date.today().isoformat()}. Everything ran on one machine and in one run, the
        contenders taking turns: medians of {options.rounds} rounds where it is a throughput or a latency at a fixed rate, of {options.storms} where a
        million are due or a million are started. A run counts only where nothing was lost, repeated, out of order or early:
        the load generators check what they receive, and fail otherwise.

        {{table}}

        ## Where

        {{facts}}

        ## How to repeat it

        `scripts/bench` installs what it needs (Debian packages alone), builds, measures and prints this table in less than
        20 minutes; `--write` writes this page, `--only SECTION …` measures a part, `--help` lists the rest. The machine
        should have nothing else to do. What each contender does, and how it is tuned:

        - **Islet**: `islet serve` with its defaults, `sync=full`: acknowledged and published is what the disk has. An update
          has {options.content} bytes of content and moves the stale date. {options.window} commands wait for their answers at a time,
          here and with the relay, in batches or not.
        - **Relay** (`scripts/load/relay.c`): libzmq's ROUTER in, PUB and an answer out, for messages of the same sizes, driven
          by the same client. It parses, stores and journals nothing.
        - **Redis** (`scripts/load/redis.c`): one script a command (HGET, HSET, ZADD, PUBLISH), `appendfsync everysec` (up to
          a second of acknowledged updates is lost with the power), a pipeline of {options.redis_window}, no rewrites meanwhile, hashes as
          list packs. It keeps no rules, no stream without gaps, no answers for retries.
        - **Redis, expiry** (`scripts/load/expiry.c`): keys with one PXAT and `notify-keyspace-events Ex`, with `hz 100` and
          `active-expire-effort 10`, which is as fast as it goes. Its events are not stored and carry no content.
        - **Erlang** (`scripts/load/timers.erl`): a `gen_statem` process for each timer, all told to one counter; nothing is
          stored or published.
        - **Bare PUB** (`scripts/load/fanout.c`): a libzmq publisher that sends as fast as it can, received by the same code.
        - The million dismissals: the time counts until the subscriber has the last one. Where it was too slow for a moment,
          it got what it missed by replays, as the contract says; the time for that counts.

        """)
    table = markdown(HEADINGS, [bold(row.cells()) for row in rows])
    body = words.replace("{table}", table).replace("{facts}", markdown(("", ""), facts))
    PAGE.write_text(f"{body}{MARKER}\n\n{kept.strip(chr(10))}\n")

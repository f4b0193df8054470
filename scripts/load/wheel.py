"""Number 5: what an operation of the timer wheel costs (`islet-bench wheel`); lateness is in `open_loop`."""

import json
import subprocess

from report import at_most
from services import BUILT, LoadFailed

LIMITS = {"insert": 25, "re-arm": 50, "cancel": 30}


def measure(_):
    """The rows of the table."""
    done = subprocess.run([BUILT / "islet-bench", "wheel", "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise LoadFailed("islet-bench failed")
    told = json.loads(done.stdout)
    print(f"\ntimer wheel, {told['count']} timers, best of {told['rounds']} rounds")
    for row in told["operations"]:
        print(f"{row['name']:24}{row['nanoseconds']:9.1f} ns{row['allocations']:9.3f} calls for memory")
    for figure in told["figures"]:
        print(f"{figure['name']}: {figure['value']:.0f}")
    found = {row["name"]: row for row in told["operations"]}
    rows = [at_most(5, f"timer wheel, 1 M armed: {name}", found[name]["nanoseconds"], limit, "ns", digits=1)
            for name, limit in LIMITS.items()]
    most = max(found[name]["allocations"] for name in LIMITS)
    return [*rows, at_most(5, "timer wheel: allocations an operation", most, 0, "calls", digits=3)]

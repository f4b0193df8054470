"""Number 5: what an operation of the timer wheel costs (`islet-bench wheel`); lateness in the service is in `open_loop`."""

import re
import subprocess

from report import at_most
from services import BUILT, LoadFailed

LIMITS = {"insert": 25, "re-arm": 50, "cancel": 30}


def measure(_):
    """The rows of the table."""
    done = subprocess.run([BUILT / "islet-bench", "wheel"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise LoadFailed("islet-bench failed")
    print("\n" + done.stdout, end="")
    rows = []
    for name, limit in LIMITS.items():
        found = re.search(rf"^{name}\s+([0-9.]+) ns/op", done.stdout, re.MULTILINE)
        if not found:
            raise LoadFailed(f"islet-bench does not say what {name} costs")
        rows.append(at_most(5, f"timer wheel, 1 M armed: {name}", float(found.group(1)), limit, "ns", digits=1))
    return rows

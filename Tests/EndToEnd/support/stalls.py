"""How long this machine kept a thread waiting that wanted to run: what bounds in real time have to allow for."""

import collections
import threading
import time

STEP = 0.005
NOTICED = 0.02
"""Seconds; a thread that sleeps wakes a little late on any machine."""
USUAL = 1.0
"""Seconds that are always allowed for what takes no time."""
SHARE = 5
"""One thread's stalls speak for those of several processes in a row."""

_late = collections.deque(maxlen=100_000)


def _watch():
    before = time.monotonic()
    while True:
        time.sleep(STEP)
        now = time.monotonic()
        if (late := now - before - STEP) > NOTICED:
            _late.append((now, late))
        before = now


def allowed(since, late=_late):
    """Seconds beyond a limit that nobody is to blame for, of a wait that began at `since` (on `time.monotonic()`)."""
    return USUAL + SHARE * sum(seconds for moment, seconds in list(late) if moment >= since)


threading.Thread(target=_watch, name="stalls", daemon=True).start()

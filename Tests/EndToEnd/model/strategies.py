"""What Hypothesis may choose: dates around now, payloads around the limit, and the few names that commands share."""

from hypothesis import strategies as st

from .activity import HOUR, MINUTE, SECOND

ALERT = {"title": "Look", "body": "here"}
OFFSETS = [-HOUR, -1, 0, 1, 59 * SECOND, 10 * MINUTE, 2 * HOUR, 8 * HOUR - 1, 8 * HOUR, 9 * HOUR]
STEPS = [0, 1, SECOND, 59 * SECOND, 4 * MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, 8 * HOUR, 13 * HOUR, 25 * HOUR]
PAYLOADS = [
    '{"eta":1}', '{"eta":2}', '{ "eta" : 1.50, "z":[ ] }', '{"a":1,"a":2}', '{"n":"h\\u00e9"}', '{"n":"é€"}', "{}"]
APPS = ["pizza", "taxi", "bus", "train", "game"]

offsets = st.none() | st.sampled_from(OFFSETS)
which = st.integers(0, 5)
switch = st.booleans()
seldom = st.sampled_from([False] * 7 + [True])
payloads = st.sampled_from(PAYLOADS) | st.integers(-2, 2)
"""A text, or so many bytes more than the limit allows."""
devices = st.sampled_from([None, None, "phone", "tablet"])
sources = st.sampled_from([None, None, "local", "push"])
clients = st.sampled_from([None, 0, 1])
guards = st.sampled_from([None, None, None, "right", "wrong"])
relevances = st.sampled_from([None, None, 0, 7, 12.5])


def filler(size):
    """A JSON object of exactly so many bytes, where that is possible."""
    return '{"x":"%s"}' % ("y" * max(0, size - len('{"x":""}')))

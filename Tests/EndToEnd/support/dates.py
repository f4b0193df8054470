"""Dates of the tests: milliseconds since 1970, around the moment at which a manual clock starts."""

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

EPOCH = 1_767_225_600_000
"""2026-01-01T00:00Z, where `--clock manual` starts."""


def after(span):
    """So long after the start of the manual clock."""
    return EPOCH + span

"""What the tests judge by can fail: the time that is allowed, and tests that did not run."""

import time

import pytest

from support import stalls

pytest_plugins = ["pytester"]


def test_only_stalls_after_the_beginning_of_a_wait_are_allowed_for():
    assert stalls.allowed(10, []) == stalls.USUAL
    assert stalls.allowed(10, [(9, 5.0)]) == stalls.USUAL
    assert stalls.allowed(10, [(9, 5.0), (11, 0.5), (12, 0.25)]) == stalls.USUAL + stalls.SHARE * 0.75


def test_a_stall_is_seen():
    before = time.monotonic()
    end = before + 60
    while stalls.allowed(before) == stalls.USUAL:
        sum(range(3_000_000))  # holds the lock of the interpreter, as a busy machine holds its processors
        assert time.monotonic() < end


SKIPPED = """
import pytest

@pytest.mark.skipif(True, reason="no disk here")
def test_marked():
    pass

def test_by_itself():
    pytest.skip("no disk here")

def test_ran():
    pass
"""


@pytest.mark.parametrize("ci, counts", [(None, {"passed": 1, "skipped": 2}), ("true", {"passed": 1, "failed": 2})])
def test_what_is_skipped_fails_in_ci(pytester, monkeypatch, request, ci, counts):
    monkeypatch.setenv("CI", ci) if ci else monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(SKIPPED)
    source = (request.config.rootpath / "conftest.py").read_text()
    hook = source[source.index("@pytest.hookimpl"):source.index("def pytest_configure")]
    pytester.makeconftest(f"import os\nimport pytest\n\n\n{hook}")
    outcomes = pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:timeout").parseoutcomes()
    if ci:  # a mark is judged before its test begins
        assert outcomes.pop("errors", 0) + outcomes.pop("failed", 0) == 2 and outcomes["passed"] == 1, outcomes
    else:
        assert outcomes == counts

"""What an operator asks about one control or widget: the same as of an activity, in the words of its family."""

import pytest

from support.cli import Islet
from support.dates import HOUR, after
from support.followed import as_followed
from support.schemas import strict
from support.widgets import entry
from support.wire import DEADLINE


@pytest.fixture
def islet(service):
    return Islet(service)


def ended(process):
    """What a command has written when it has ended well."""
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    return out


# Controls


@pytest.fixture
def torch(home):
    """A torch that is off for an hour, with two revisions: placed, and shown."""
    id = home.shown(home.provider(), False, device="phone")
    home.client.advance(by=HOUR)
    return id


def test_the_past_of_a_control(islet, home, torch):
    [now] = islet("control", "at", "0s", torch, "--json").json
    strict("cli/at.json").validate(now)
    assert now["control"] == as_followed(home.get(torch)) and now["complete"]
    [before] = islet("control", "at", "1", "Torch", "--json").json
    assert (before["at"], before["control"]["state"]) == (after(0), "loading")
    [diff] = islet("control", "diff", "Torch", "--json").json
    strict("cli/diff.json").validate(diff)
    changes = {change["path"]: (change.get("from"), change.get("to")) for change in diff["changes"]}
    assert changes["/state"] == ("loading", "shown") and changes["/valueAt"] == (None, after(0))
    assert islet("control", "diff", "Torch").out.splitlines()[:2] == [
        "Torch  revision 1 → 2, 0 s later: 2026-01-01 00:00:00 UTC → 2026-01-01 00:00:00 UTC",
        "  state        loading → shown",
    ]


def test_waiting_for_the_value_and_for_the_end_of_a_control(islet, home, torch):
    waiting = islet.begin("wait", "Torch", "--for", "value=on", "--timeout", "60s")
    home.tap(torch)
    assert ended(waiting).startswith(f"torch/{torch[-12:]}: acting, on (wished), revision 3")
    assert islet("wait", torch, "--for", "acting", "--family", "control").code == 0
    removed = islet.begin("wait", torch, "--for", "removed", "--timeout", "60s")
    hopeless = islet.begin("wait", torch, "--for", "disabled", "--timeout", "60s")
    home.client.applied("control.remove", id=torch)
    out, err = removed.communicate(timeout=DEADLINE)
    # Where it was gone before the wait had begun, there is no such thing.
    assert (removed.returncode, ": removed" in out) == (0, True) or removed.returncode == 3
    hopeless.communicate(timeout=DEADLINE)
    assert hopeless.returncode in (3, 4)


def test_explain_of_a_control_says_what_it_waits_for(islet, home):
    provider = home.provider()
    home.add(device="phone")
    provider.call("value")
    assert islet("explain", "Torch").out.splitlines()[:3] == [
        "Now it is loading, off (preview), since 2026-01-01 00:00:00 UTC (now).",
        "What happens next:",
        "  its provider is asked: its answer comes, or the deadline of the call (islet providers)",
    ]


# Widgets


@pytest.fixture
def forecast(board):
    """A widget with a timeline of two entries, now and in an hour, and a third revision when that came."""
    provider = board.provider()
    id = board.placed(provider, entry(after(0), 1), entry(after(HOUR), 2), device="phone")
    board.rest(by=HOUR)
    return id


def test_the_past_of_a_widget(islet, board, forecast):
    [now] = islet("widget", "at", "0s", forecast, "--json").json
    strict("cli/at.json").validate(now)
    assert now["widget"] == as_followed(board.get(forecast)) and now["complete"]
    [before] = islet("widget", "at", "1s", "Forecast", "--json").json
    assert before["widget"]["entry"]["content"] == {"n": 1}
    [diff] = islet("widget", "diff", "Forecast", "1h", "0s", "--json").json
    strict("cli/diff.json").validate(diff)
    assert {"path": "/entry/content/n", "from": 1, "to": 2} in diff["changes"]
    assert "  entry.content.n  1 → 2" in islet("widget", "diff", "Forecast", "1h", "0s").out.splitlines()


def test_waiting_for_an_entry_of_a_widget(islet, board):
    provider = board.provider()
    id = board.placed(provider, entry(after(0), 1), entry(after(HOUR), 2), device="phone")
    waiting = islet.begin("wait", "Forecast", "--for", "entry.content.n=2", "--timeout", "60s", "--json")
    board.rest(by=HOUR)
    assert f'"id":"{id}"' in ended(waiting)


def test_explain_of_a_widget_looks_ahead(islet, board):
    provider = board.provider()
    board.placed(provider, entry(after(0), 1), entry(after(HOUR), 2), policy={"after": after(2 * HOUR)})
    assert islet("explain", "Forecast").out.splitlines()[1:4] == [
        "What happens next:",
        "  in 1 h, at 2026-01-01 01:00:00 UTC: its next entry is shown (entry)",
        "  in 2 h, at 2026-01-01 02:00:00 UTC: its provider is asked for the next timeline (policy)",
    ]

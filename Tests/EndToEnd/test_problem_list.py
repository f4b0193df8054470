"""`problem.list`: what is wrong, since when, why, and what to do."""

from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.provider import APP, DOOR, LAMP, TORCH, button, toggle
from support.schemas import strict
from support.widgets import FORECAST, widget
from support.wire import DEADLINE, Deadline

NONE = {"problems": [], "counts": {"critical": 0, "warning": 0, "notice": 0}, "byWhat": {}, "total": 0, "exact": True}


def listed(client, **fields):
    answer = client.read("problem.list", **{"app": None, **fields})
    strict("answers/problem.list.json").validate(answer)
    assert sum(answer["byWhat"].values()) == answer["total"] and all(answer["byWhat"].values())
    return {name: value for name, value in answer.items() if name not in ("req", "ok")}


def problems(client, **fields):
    """The rows, without what is for people."""
    rows = listed(client, **fields)["problems"]
    assert all(row.pop("text") and row.pop("advice") for row in rows)
    return rows


def until(client, holds, **fields):
    deadline = Deadline(DEADLINE)
    while not holds(rows := problems(client, **fields)):
        assert not deadline.passed, f"no such problem: {rows}"
    return rows


def test_nothing_is_wrong_at_first(client):
    assert listed(client) == NONE
    client.start(key="a", staleDate=after(MINUTE))
    assert listed(client) == NONE


def test_a_stale_activity_says_since_when_and_whose_it_is(client):
    started = client.start(key="order-7", device="phone", staleDate=after(MINUTE))
    client.start(key="order-8", staleDate=after(3 * HOUR))
    client.advance(by=HOUR)
    assert problems(client) == [{
        "severity": "warning", "what": "stale", "family": "activity", "app": client.app, "kind": "Delivery",
        "id": started["id"], "key": "order-7", "device": "phone", "state": "stale", "since": after(MINUTE)}]
    assert listed(client)["counts"] == {"critical": 0, "warning": 1, "notice": 0}
    client.applied("activity.end", id=started["id"])
    assert listed(client) == NONE


def test_the_worst_and_oldest_are_shown_and_all_are_counted(client):
    for span in (5, 3, 9, 1, 7):
        client.start(key=f"k-{span}", staleDate=after(span * MINUTE))
    client.advance(by=HOUR)
    answer = listed(client, limit=2)
    assert [row["key"] for row in answer["problems"]] == ["k-1", "k-3"]
    assert (answer["total"], answer["exact"]) == (5, True)


def test_a_crowd_of_entities_hides_nothing_that_is_about_many(home):
    """What is unserved, or a provider that fails, stands before what went stale long ago; none of it by a limit."""
    client = home.client
    for n in range(4):
        client.start(app="com.example.taxi", key=f"k-{n}", staleDate=after(MINUTE + n))
    client.advance(by=HOUR)
    provider = home.provider(toggle())
    home.shown(provider)
    provider.leave()
    rows = until(client, lambda rows: rows[0]["family"] == "kind", limit=2)
    assert [(row["what"], row.get("key")) for row in rows] == [("unserved", None), ("stale", "k-0")]
    assert [row["what"] for row in problems(client, limit=1)] == ["unserved"]
    answer = listed(client, limit=3)
    assert [row.get("key") for row in answer["problems"]] == [None, "k-0", "k-1"] and answer["total"] == 5


def test_it_is_of_an_app_or_a_family_where_one_is_named(client):
    client.start(key="a", staleDate=after(MINUTE))
    client.start(app="com.example.taxi", key="b", staleDate=after(MINUTE))
    client.advance(by=HOUR)
    assert [row["key"] for row in problems(client, app="com.example.taxi")] == ["b"]
    assert problems(client, app="com.example.nobody") == []
    assert [row["key"] for row in problems(client, family="activity")] == ["a", "b"]
    for family in ("control", "widget", "kind", "group", "provider", "subscriber", "journal", "clock"):
        assert listed(client, family=family) == NONE


def test_a_kind_that_nobody_serves_is_one_row_for_all_that_is_placed(home):
    provider = home.provider(toggle(), toggle(LAMP))
    for _ in range(3):
        home.shown(provider)
    assert problems(home.client) == []
    provider.leave()
    rows = until(home.client, lambda rows: rows and home.providers() == {})
    assert rows == [
        {"severity": "warning", "what": "unserved", "family": "kind", "app": APP, "kind": TORCH, "count": 3}]


def test_a_widget_that_never_had_a_provider_is_of_a_kind_that_nobody_serves(board):
    provider = board.provider(widget())
    provider.leave()
    board.client.applied("widget.add", kind=FORECAST, family="systemSmall")
    rows = until(board.client, lambda rows: len(rows) == 1 and rows[0]["count"] == 1)
    assert (rows[0]["what"], rows[0]["family"], rows[0]["kind"]) == ("unserved", "kind", FORECAST)


def test_a_control_whose_provider_fails_says_how(home):
    provider = home.provider(toggle())
    id = home.shown(provider)
    home.client.applied("control.reload", id=id)
    provider.fail(provider.call("value"), retryable=False)
    home.until(id, failure="threw")
    failed_at = home.event["at"]
    [row] = problems(home.client)
    assert row.pop("until") > after(0)
    assert row == {
        "severity": "warning", "what": "failed", "family": "control", "app": APP, "kind": TORCH, "id": id,
        "state": "shown", "since": failed_at, "failure": "threw"}


def test_a_button_without_a_value_whose_last_tap_failed_shows_nothing_that_is_wrong(home):
    """Nothing is asked of its provider before somebody taps it again, which may be in a month."""
    provider = home.provider(button(DOOR, hasValue=False))
    id = home.add(DOOR)
    home.client.applied("control.tap", id=id)
    provider.fail(provider.call("perform"), retryable=False)
    home.until(id, failure="threw")
    assert listed(home.client) == NONE


def test_a_provider_that_fails_too_often_is_a_problem_until_it_does_well(home):
    """Whether its breaker is open or half open: in between nothing says that all is well."""
    provider = home.provider(toggle())
    id = home.shown(provider)
    for failures in range(1, 6):
        home.client.applied("control.reload", id=id)
        provider.fail(provider.call("value"), retryable=False)
        deadline = Deadline(DEADLINE)
        while home.providers()[provider.id]["failures"] < failures:
            assert not deadline.passed
    seen = set()
    deadline = Deadline(DEADLINE)
    while seen != {"open", "halfOpen"}:
        [row] = problems(home.client, family="provider")
        assert (row["severity"], row["what"], row["id"]) == ("warning", "failed", provider.id)
        seen.add(row["state"])
        assert not deadline.passed, f"only {seen}"
    home.client.applied("control.reload", id=id)
    provider.gives(True)
    home.until(id, state="shown")
    until(home.client, lambda rows: rows == [])


def test_what_waits_for_the_device_or_the_budget_is_a_notice(home):
    provider = home.provider(toggle(authenticationPolicy="requiresAuthentication"))
    id = home.shown(provider, device="phone")
    home.client.applied("device.event", app=None, device="phone", event="lock")
    home.tap(id)
    [row] = problems(home.client)
    assert (row["severity"], row["what"], row["state"]) == ("notice", "waiting", "authenticating")
    assert row["until"] > after(0)


def test_a_subscriber_that_is_far_behind_is_a_problem(client):
    nonce = "5a" * 16
    id = client.start()["id"]
    for _ in range(100):
        client.batch(*(client.command("activity.update", id=id, contentState={"n": n}) for n in range(100)))
    client.send({"op": "stream.applied", "nonce": nonce, "apps": {client.app: {"seq": 1}}})
    assert problems(client) == [], "10 000 behind are not yet too many"
    client.applied("activity.update", id=id, contentState={"n": -1})
    [row] = problems(client)
    assert row == {"severity": "warning", "what": "lagging", "family": "subscriber", "id": nonce, "count": 10_001}
    assert problems(client, app=client.app) == [row] and problems(client, app="com.example.nobody") == []


def test_a_group_that_is_nearly_full_is_a_problem(wire, serve, tmp_path):
    path = tmp_path / "islet.yaml"
    path.write_text("ruleSet:\n  maximumGroupKeys: 10\n")
    service = serve({"--clock": "manual", "--config": path})
    client = Commands(wire, service.commands)
    client.applied("group.create", group="g")
    for n in range(8):
        client.applied("group.set", group="g", key=f"k{n}", value=n)
    assert problems(client) == []
    client.applied("group.set", group="g", key="k8", value=8)
    assert problems(client, family="group") == [
        {"severity": "warning", "what": "full", "family": "group", "app": client.app, "id": "g", "count": 9}]


def test_many_are_counted_over_several_turns(client):
    """What is looked through takes more than one turn, and is right all the same."""
    for _ in range(0, 66_000, 100):
        client.batch(*(
            client.command("activity.start", type="T", attributes={}, contentState={}, staleDate=after(MINUTE))
            for _ in range(100)))
    client.advance(by=HOUR)
    answer = listed(client, limit=5)
    assert len(answer["problems"]) == 5 and not answer["exact"]
    assert answer["counts"] == {"critical": 0, "warning": 66_000, "notice": 0}


def test_calls_that_wait_for_a_busy_provider_are_a_notice(home):
    provider = home.provider(capacity=1)
    ids = home.add_many(4)
    call = provider.call("value")
    until(home.client, lambda rows: rows == [
        {"severity": "notice", "what": "waiting", "family": "kind", "app": APP, "kind": TORCH, "count": 3}])
    provider.answer(call, True)
    for _ in ids[1:]:
        provider.gives(True)
    until(home.client, lambda rows: rows == [])


def test_a_provider_that_drains_is_a_notice_as_long_as_it_has_calls(home):
    provider, other = home.provider(), home.provider()
    home.add()
    call = provider.call("value")
    provider.drain()
    assert problems(home.client, family="provider") == [
        {"severity": "notice", "what": "waiting", "family": "provider", "app": APP, "id": provider.id,
         "state": "draining", "count": 1}]
    provider.answer(call, True)
    until(home.client, lambda rows: rows == [])
    other.leave()


def test_a_reload_that_is_held_is_a_notice_with_its_date(board):
    provider = board.provider()
    id = board.placed(provider)
    board.rest(by=MINUTE)
    held = board.reload(id)["held"]
    [row] = problems(board.client)
    assert (row["severity"], row["what"], row["family"], row["id"]) == ("notice", "held", "widget", id)
    assert row["until"] == held["until"] and row["state"] == "shown"

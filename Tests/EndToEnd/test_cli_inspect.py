"""What an operator asks about one thing: why it is so, what it was, what changed, and to wait until it is otherwise."""

import re
import signal

import pytest

from support.followed import as_followed
from support.cli import Islet
from support.dates import HOUR, MINUTE, after
from support.schemas import strict
from support.scripted import ScriptedService
from support.service import environment, run
from support.terminal import Terminal
from support.wire import DEADLINE, Deadline


@pytest.fixture
def islet(service):
    return Islet(service)


@pytest.fixture
def scripted(tmp_path):
    """Makes a service that answers what the test wants, and the command that asks it."""
    made = []

    def make(**answers):
        made.append(ScriptedService(tmp_path, **answers))
        return Islet(made[-1])

    yield make
    for service in made:
        service.close()


@pytest.fixture
def order(client):
    """An activity with four revisions: started, updated after a minute, stale, updated after a quarter of an hour."""
    fields = {"key": "order-7", "contentState": {"eta": 12, "stage": "oven"}, "staleDate": after(10 * MINUTE)}
    id = client.start(**fields)["id"]
    client.advance(by=MINUTE)
    client.applied("activity.update", id=id, contentState={"eta": 11}, staleDate=after(11 * MINUTE))
    client.ignored("activity.update", id=id, contentState={"eta": 11}, staleDate=after(11 * MINUTE))
    client.advance(by=14 * MINUTE)
    client.applied("activity.update", id=id, contentState={"eta": 11, "courier": "Kim"})
    return id


# Why


def test_explain_says_why_who_asked_by_which_rule_and_what_is_next(islet, order):
    asked = "              because a client asked for it (command) · asked by"
    assert islet("activity", "explain", "order-7").out.splitlines() == [
        "Now it is active, since 2026-01-01 00:15:00 UTC (now).",
        "What happens next:",
        "  in 7 h 45 m, at 2026-01-01 08:00:00 UTC: it ends: it will have been active for as long as it may be "
        "(activeLimit)",
        "What was decided:",
        "Thu 2026-01-01 UTC",
        "1.  00:00:00  active: started, so it is active and its 8-hour clock runs",
        f"{asked} r-1 · rule: startedAtOnce (setting activeLimit) · revision 1",
        "2.  00:01:00  active: updated: content and stale date are replaced",
        f"{asked} r-3 · rule: updated · revision 2",
        "3.  00:01:00  ignored: the update changed nothing",
        "              reason: unchanged · asked by r-4 · rule: unchanged (setting ignoresUnchangedUpdates)",
        "4.  00:11:00  active → stale: its stale date was reached without an update",
        "              because its stale date came (staleDate) · rule: staleDateReached · revision 3",
        "5.  00:15:00  stale → active: an update brought it back from stale",
        f"{asked} r-6 · rule: updatedFromStale · revision 4",
    ]


def test_explain_of_a_busy_one_begins_with_the_conclusion_and_has_the_last_ten_decisions(islet, client):
    id = client.start(key="busy")["id"]
    for eta in range(104):
        client.applied("activity.update", id=id, contentState={"eta": eta})
    client.applied("activity.end", id=id)

    def told(*words):
        lines = islet(*words).out.splitlines()
        return lines, [int(found[1]) for found in (re.match(r"(\d+)\. ", line) for line in lines) if found]

    for words in (("explain", "busy"), ("activity", "explain", "busy")):
        lines, numbers = told(*words)
        assert lines[0].startswith("Now it is ended, since") and lines[1] == "What happens next:"
        assert lines[3:6] == ["What was decided:", "  … 96 earlier ones: --all", "Thu 2026-01-01 UTC"]
        assert numbers == list(range(97, 107))
        assert lines[-2].startswith("106. 00:00:00  active → ended: ")
        assert told(*words, "--all")[1] == list(range(1, 107))
        assert told(*words, "--limit", "2")[1] == [105, 106]
        [whole] = islet(*words, "--json").json
        assert len(whole["decisions"]) == 106 and islet(*words, "--all", "--json").json == [whole]
        [cut] = islet(*words, "--limit", "2", "--json").json
        assert cut["decisions"] == whole["decisions"][-2:] and cut["activity"] == whole["activity"]
        assert "not both" in islet(*words, "--all", "--limit", "2", code=2).err
        assert "at least 1" in islet(*words, "--limit", "0", code=2).err
    # Who says from when on has chosen already.
    assert told("activity", "explain", "busy", "--since", "1m")[1] == list(range(1, 107))


def test_rules_shows_what_explanations_name(islet, order):
    rules = {rule["name"]: rule for rule in islet("rules", "--filter", "family=activity", "--json").json}
    for rule in rules.values():
        strict("cli/rules.json").validate(rule)
    named = re.findall(r"rule: (\w+)", islet("explain", "order-7").out)
    assert len(named) == 5 and set(named) <= set(rules)
    assert rules["unchanged"]["origin"] == "rule set" and rules["staleDateReached"]["origin"] == "Apple"
    shown = islet("rules", "staledatereached").out.splitlines()
    assert shown[0] == "staleDateReached, a rule of activities"
    assert " ".join(line.strip() for line in shown[1:-2]) == (
        f"Its stale date was reached without an update. {rules['staleDateReached']['detail']}")
    assert shown[-2:] == ["  basis    Apple documents it", "  source   apple-semantics 1.2 row 19"]
    assert all(len(line) <= 80 for rule in rules for line in islet("rules", rule).out.splitlines())
    limit = islet("rules", "activeLimitReached").out
    assert "\n  setting  activeLimit (islet info --json shows its value)\n" in limit
    # Two families may call a rule alike, and each is told of.
    assert [line for line in islet("rules", "revisionGuard").out.splitlines() if ", a rule of " in line] == [
        f"revisionGuard, a rule of {family}" for family in ("activities", "controls", "widgets")]
    assert "did you mean staleDateReached?" in islet("rules", "staleDateReach", code=3).err
    assert "did you mean staleDateReached or updatedPastStaleDate?" in islet("rules", "staledate", code=3).err
    assert "did you mean staleDateReached?" in islet("rules", "staleDateReeched", code=3).err
    assert "did you mean" not in islet("rules", "qqqqqqqq", code=3).err
    # Each setting that is named can be looked up.
    known = islet("info", "--json").json[0]["ruleSet"]
    assert {rule["setting"] for rule in islet("rules", "--json").json if "setting" in rule} <= set(known)


def test_explain_needs_no_family(islet, order):
    assert islet("explain", "order-7").out == islet("activity", "explain", "order-7").out
    assert islet("explain", order, "--json").json[0]["activity"]["id"] == order
    assert "looked for: activity, control, widget" in islet("explain", "nobody", code=3).err


def test_where_nothing_is_found_the_app_that_was_looked_through_is_named(service):
    err = Islet(service, app="")("explain", "order-7", "--app", "com.example.other", code=3).err
    assert "'order-7' in com.example.other (looked for" in err and "name another app" not in err


def test_a_key_that_one_device_has_needs_no_device(islet, client):
    client.start(key="a", device="phone")
    assert "\n1.  00:00:00  active: started" in islet("explain", "a").out
    assert islet("wait", "a", "--for", "active").out.startswith("a: active, revision 1")
    assert islet("activity", "at", "1", "a", "--json").json[0]["activity"]["device"] == "phone"
    assert islet("activity", "diff", "a").out.startswith("a  revision 0 → 1")
    client.start(key="a", device="watch")
    done = islet("explain", "a", code=3)
    assert re.fullmatch(r"'a' is on (phone, watch|watch, phone): say so with --device \(notFound\)\n", done.err)
    assert islet("explain", "a", "--device", "watch").code == 0


def test_explain_looks_ahead_beyond_the_next_deadline(islet, client):
    def outlook():
        return islet("activity", "explain", "a").out.partition("\nWhat was decided:\n")[0].splitlines()[1:]

    client.start(key="a", staleDate=after(HOUR))
    assert outlook()[-2:] == [
        "  in 1 h, at 2026-01-01 01:00:00 UTC: it goes stale, unless an update comes first (staleDate)",
        "  in 8 h, at 2026-01-01 08:00:00 UTC: it ends: it will have been active for as long as it may be "
        "(activeLimit)",
    ]
    client.applied("activity.end", key="a")
    assert outlook()[-1] == (
        "  in 4 h, at 2026-01-01 04:00:00 UTC: it is removed from the Lock Screen (dismissalPolicy)")
    client.applied("activity.dismiss", key="a")
    assert outlook() == ["Nothing will happen to it by itself."]


def test_explain_names_the_client_of_a_command_and_says_that_older_decisions_are_gone(islet, client, scripted):
    islet("activity", "start", "b", "--type", "T", "--state", "{}")
    assert re.search(r"asked by cli-\d+ of client …[0-9a-f]{12} · rule", islet("activity", "explain", "b").out)
    decision = {"at": after(0), "rule": "r", "text": "updated", "outcome": "applied", "event": "activity.updated",
                "seq": 9, "revision": 7, "from": "active", "to": "active", "cause": "command"}
    ask = scripted(activity_explain={"activity": {"id": "i", "state": "active"}, "decisions": [decision]})
    assert ask("activity", "explain", "b").err == "what was decided before revision 7 is not kept any more\n"


# What it was


def test_diff_of_two_revisions(islet, order):
    assert islet("activity", "diff", "order-7", "1", "4").out.splitlines() == [
        "order-7  revision 1 → 4, 15 m later: 2026-01-01 00:00:00 UTC → 2026-01-01 00:15:00 UTC",
        "  contentState.eta      12 → 11",
        "- contentState.stage    oven",
        "+ contentState.courier  Kim",
        "- staleDate             2026-01-01 00:10:00 UTC",
        "  timestamp             2026-01-01 00:00:00 UTC → 2026-01-01 00:15:00 UTC",
        "  next.at               2026-01-01 00:10:00 UTC → 2026-01-01 08:00:00 UTC",
        "  next.cause            staleDate → activeLimit",
        "Thu 2026-01-01 UTC",
        '00:01:00  order-7  active               updated          stale in 10 m, rev 2  {"eta":11}',
        "00:11:00  order-7  active → stale       staleDate        ends in 7 h 49 m, rev 3",
        '00:15:00  order-7  stale → active       updated          rev 4  {"eta":11,"courier":"Kim"}',
    ]


def test_diff_in_json_keeps_its_schema_and_gives_the_exact_values(islet, client, order):
    [diff] = islet("activity", "diff", "order-7", "2", "3", "--json").json
    strict("cli/diff.json").validate(diff)
    assert diff == {
        "id": order, "from": {"revision": 2, "at": after(MINUTE)}, "to": {"revision": 3, "at": after(11 * MINUTE)},
        "changes": [
            {"path": "/state", "from": "active", "to": "stale"},
            {"path": "/cause", "from": "command", "to": "staleDate"},
            {"path": "/next/at", "from": after(11 * MINUTE), "to": after(8 * HOUR)},
            {"path": "/next/cause", "from": "staleDate", "to": "activeLimit"}],
        "complete": True, "unknown": []}


def test_diff_takes_revisions_times_or_nothing(islet, order):
    def ends(*points):
        [diff] = islet("activity", "diff", "order-7", *points, "--json").json
        return diff["from"]["revision"], diff["to"]["revision"]
    assert ends() == (3, 4), "the last change"
    assert ends("2") == (1, 2), "what made this revision"
    assert ends("4", "2") == (2, 4), "the older one first"
    assert ends("1") == (0, 1), "its beginning, from nothing"
    assert ends("14m", "4m") == (2, 3), "how long ago"
    assert ends("5m") == (2, 4), "from then to now"
    assert ends("2026-01-01T00:01Z", f"{after(11 * MINUTE)}") == (2, 3)


@pytest.mark.parametrize("ago, revision", [("14m1s", 1), ("14m", 2), ("5m", 2), ("4m", 3), ("0s", 4)])
def test_at_gives_what_held_at_that_time(islet, order, ago, revision):
    [shown] = islet("activity", "at", ago, "order-7", "--json").json
    strict("cli/at.json").validate(shown)
    assert (shown["revision"], shown["activity"]["revision"], shown["complete"]) == (revision, revision, True)
    assert islet("activity", "at", str(revision), "order-7", "--json").json[0]["activity"] == shown["activity"]


def test_at_now_is_what_get_shows(islet, client, order):
    [shown] = islet("activity", "at", "0s", "order-7", "--json").json
    assert shown["activity"] == as_followed(client.get(order))
    assert (shown["at"], shown["revisionAt"]) == (after(15 * MINUTE), after(15 * MINUTE))


def test_at_tells_people_the_state_and_the_deadlines_of_then(islet, order):
    shown = islet("activity", "at", "14m", "order-7").out.splitlines()
    assert shown[0] == "2026-01-01 00:01:00 UTC (14 m ago): revision 2, made at 2026-01-01 00:01:00 UTC (now)"
    assert shown[1] == "order-7  active"
    assert '  contentState    {"eta":11}' in shown and "  next            stale in 10 m" in shown


def test_what_was_not_there_is_3_and_what_is_to_come_is_2(islet, order):
    assert "was not there yet" in islet("activity", "at", "1h", "order-7", code=3).err
    assert "revisions 1 to 4" in islet("activity", "at", "9", "order-7", code=3).err
    assert "notFound" in islet("activity", "diff", "nobody", code=3).err
    assert "explain order-7" in islet("activity", "at", "2026-01-02T00:00Z", "order-7", code=2).err
    for words in (("at", "soon", "order-7"), ("at", "0", "order-7"), ("diff", "order-7", "x")):
        assert islet("activity", *words, code=2).out == ""


def test_the_past_of_a_dismissed_one_is_whole_as_long_as_its_events_are(islet, client, order):
    client.applied("activity.dismiss", id=order, by="person")
    [shown] = islet("activity", "at", "4", "order-7", "--json").json
    assert shown["complete"] and shown["activity"]["contentState"] == {"eta": 11, "courier": "Kim"}


def test_what_is_not_known_any_more_is_named_and_never_guessed(scripted):
    """Of an activity whose first two events are gone: what has not changed since is known, the rest is not."""
    def event(revision, to, **patch):
        return {"epoch": "e", "seq": revision, "at": after(revision * MINUTE), "event": "activity.updated",
                "from": "active", "to": to, "cause": "command", "activity": {"id": "i", "revision": revision, **patch}}
    events = [event(3, "active", relevanceScore=1), event(4, "stale", state="stale", staleDate=None),
              event(5, "active", state="active", contentState={"eta": 5})]
    whole = {"id": "i", "key": "order-7", "state": "active", "revision": 5, "contentState": {"eta": 5},
             "relevanceScore": 1, "cause": "command"}
    history = {"activity": {"id": "i", "revision": 5, "state": "active"}, "events": events, "complete": False,
               "sinceRevision": 3}
    ask = scripted(activity_history=history, activity_get={"activity": whole},
                   service_ping={"now": after(HOUR)})
    [third] = ask("activity", "at", "3", "order-7", "--json").json
    strict("cli/at.json").validate(third)
    assert third["activity"] == {
        "id": "i", "key": "order-7", "state": "active", "revision": 3, "relevanceScore": 1, "cause": "command"}
    assert third["unknown"] == ["contentState", "staleDate"] and third["complete"] is False
    [fourth] = ask("activity", "at", "4", "order-7", "--json").json
    assert fourth["unknown"] == ["contentState"] and "staleDate" not in fourth["activity"]
    [last] = ask("activity", "at", "5", "order-7", "--json").json
    assert last["activity"] == whole and last["complete"]
    told = ask("activity", "diff", "order-7", "3", "5")
    assert told.out.splitlines()[1] == "  nothing is different"
    assert told.err == "not all events before revision 3 are kept any more; not known: contentState, staleDate\n"
    assert "known since 2026-01-01 00:03:00 UTC" in ask("activity", "at", "58m", "order-7", code=3).err


def test_what_an_answer_has_no_room_for_is_not_said_to_be_gone(islet, client):
    """Of an activity with more events than an answer has."""
    id = client.start(key="long", contentState={"n": 0}, attributes={"a": 1})["id"]
    for first in range(1, 1101, 100):
        client.batch(*(
            client.command("activity.update", id=id, contentState={"n": n}) for n in range(first, first + 100)))
    client.advance(by=MINUTE)
    tail = f"`{islet.program} tail --since`"
    history = islet("activity", "history", "long", "--json")
    assert len(history.out.splitlines()) == 1000
    assert history.err == (
        f"an answer has no room for all events, only those since revision 102: {tail} shows all that are kept\n")
    third = islet("activity", "at", "3", "long", code=3).err
    assert third == (
        f"of long an answer has no more than its revisions 102 to 1101, and not revision 3: {tail} shows older events "
        "that are kept (notFound)\n")
    assert "revision 1102 of long is not known: its revisions 102 to 1101 are kept" in islet(
        "activity", "at", "1102", "long", code=3).err
    past = islet("activity", "at", "2h", "long", code=3).err
    assert past.startswith("of long an answer has no more than its events since ")
    assert islet("activity", "explain", "long").err == (
        "an answer has no room for what was decided before revision 102\n")


def test_a_hole_between_events_is_not_bridged(scripted):
    events = [
        {"epoch": "e", "seq": n, "at": after(n * MINUTE), "event": f"activity.{name}", "to": "active",
         "cause": "command", "activity": {"id": "i", "revision": n, **patch}}
        for n, name, patch in ((1, "started", {"type": "T", "contentState": {"eta": 1}, "style": "standard"}),
                               (4, "updated", {"relevanceScore": 2}))]
    history = {"activity": {"id": "i", "revision": 4, "state": "active"}, "events": events, "complete": True}
    whole = {"id": "i", "type": "T", "state": "active", "revision": 4, "contentState": {"eta": 9}, "relevanceScore": 2,
             "style": "standard"}
    ask = scripted(activity_history=history, activity_get={"activity": whole}, service_ping={"now": after(HOUR)})
    [first] = ask("activity", "at", "1", "k", "--json").json
    assert first["activity"]["contentState"] == {"eta": 1} and first["complete"]
    [last] = ask("activity", "at", "4", "k", "--json").json
    assert last["activity"]["contentState"] == {"eta": 9} and last["complete"]


# Waiting


def test_what_holds_already_is_0_at_once(islet, order):
    assert re.fullmatch(r"order-7: active, revision 4, ends in 7 h 45 m, waited [\d.]+ s\n",
                        islet("wait", "order-7", "--for", "active").out)
    assert islet("wait", order, "--for", "stale,active", "--family", "activity").out.startswith("order-7: active")
    assert islet("wait", "order-7", "--for", "contentState.courier=Kim", "--json").json[0]["id"] == order
    assert islet("wait", "order-7", "--for", "staleDate=null").code == 0


@pytest.mark.parametrize("change, condition, told", [
    ({"op": "activity.end"}, "ended", r"order-7: ended, revision 5, removed in 4 h, waited .*"),
    ({"op": "activity.end", "dismissalPolicy": "immediate"}, "ended", r"order-7: (ended|dismissed), revision [56].*"),
    ({"op": "activity.dismiss"}, "ended", r"order-7: dismissed, revision 5.*"),
    ({"op": "activity.update", "contentState": {"eta": 0}}, "contentState.eta=0", r"order-7: active, revision 5.*"),
], ids=["ended", "immediate", "dismissed", "member"])
def test_a_change_ends_the_wait(islet, client, order, change, condition, told):
    process = islet.begin("wait", "order-7", "--for", condition, "--timeout", "60s")
    joined(client)
    client.applied(change["op"], id=order, **{name: value for name, value in change.items() if name != "op"})
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0 and re.fullmatch(told + r"\n", out), (out, err)


def joined(client, count=1):
    """Returns when so many subscribers have joined the service's events."""
    deadline = Deadline()
    while not deadline.passed:
        stats = client.ask("service.stats")
        if not stats["ok"] or stats["stats"]["joins"] >= count:
            return
    raise AssertionError("nobody joined")


@pytest.mark.parametrize("condition", ["ended", "dismissed", "stale", "contentState.eta=0"])
def test_who_waits_for_a_key_goes_on_with_what_its_activity_was_renewed_as(islet, client, order, condition):
    process = islet.begin("wait", "order-7", "--for", condition, "--timeout", "60s", "--json")
    joined(client)
    client.applied("activity.renew", key="order-7")
    renewed = client.applied("activity.renew", key="order-7", contentState={"eta": 3})["activity"]["id"]
    joined(client, 2)
    assert process.poll() is None
    client.applied("activity.update", id=renewed, contentState={"eta": 0}, staleDate=after(HOUR))
    client.advance(by=HOUR)
    client.applied("activity.end", id=renewed, dismissalPolicy="immediate")
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0 and f'"id":"{renewed}"' in out, (out, err)


def test_who_waits_for_an_id_waits_for_that_activity_alone(islet, client, order):
    process = islet.begin("wait", order, "--for", "ended", "--timeout", "60s", "--json")
    joined(client)
    client.applied("activity.renew", id=order)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0 and f'"id":"{order}"' in out, (out, err)


def test_the_end_of_an_id_names_that_activity_alone(islet, client, order):
    process = islet.begin("wait", order[-12:], "--for", "ended", "--timeout", "8s", "--json", ISLET_APP="")
    joined(client)
    client.applied("activity.renew", id=order)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0 and f'"id":"{order}"' in out, (out, err)


def test_a_wait_for_a_key_that_was_renewed_ends_in_its_time(islet, client, order):
    process = islet.begin("wait", "order-7", "--for", "ended", "--timeout", "3s")
    joined(client)
    client.applied("activity.renew", key="order-7")
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 5 and err.startswith("order-7 is still active at revision 1 after 3 s: waited for ended"), err


def test_a_deadline_ends_the_wait(islet, client, order):
    process = islet.begin("wait", "order-7", "--for", "dismissed", "--timeout", "60s", "--json")
    joined(client)
    client.advance(by=13 * HOUR)
    out, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0 and '"state":"dismissed"' in out


def test_it_asks_for_nothing_while_it_waits(islet, client, order):
    before = client.read("service.info")["info"]["commands"]
    islet("wait", "order-7", "--for", "ended", "--timeout", "2s", code=5)
    asked = client.read("service.info")["info"]["commands"] - before
    assert asked < 8, "it waits for events and does not poll"


def test_what_does_not_hold_in_time_is_5(islet, order):
    done = islet("wait", "order-7", "--for", "ended", "--timeout", "300ms", code=5)
    assert done.out == "" and done.err == "order-7 is still active at revision 4 after 0.3 s: waited for ended\n"


def test_a_stop_says_how_far_it_has_come(islet, client, order):
    process = islet.begin("wait", "order-7", "--for", "ended", "--timeout", "60s")
    joined(client)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1 and out == ""
    assert re.fullmatch(r"order-7 is still active at revision 4 after .* s: waited for ended; stopped\n", err), err


def test_on_a_terminal_it_says_what_it_waits_for(islet, client, order):
    one = Terminal.islet("wait", "order-7", "--for", "ended", "--timeout", "60s", env=islet.env, columns=120)
    try:
        one.wait(r"^order-7 is still active at revision 4, waiting for ended … \d")
        client.applied("activity.end", id=order)
        one.wait(r"^order-7: ended, revision 5")
        assert one.ended() == 0
    finally:
        one.close()


def test_what_can_never_hold_any_more_is_4(islet, client, order):
    client.applied("activity.dismiss", id=order)
    done = islet("wait", "order-7", "--for", "active", code=4)
    assert done.err == "order-7 was dismissed and will not be active any more\n"
    assert islet("wait", "order-7", "--for", "ended").code == 0, "dismissed is ended and more"


@pytest.mark.parametrize("condition", [
    "pending", "state=pending", "revision=3", "attributes.size=1", "key=order-8",
])
def test_what_an_activity_is_beyond_is_4_at_once(islet, order, condition):
    done = islet("wait", "order-7", "--for", condition, "--timeout", "20s", code=4)
    assert done.err == f"order-7 is active and will not be {condition} any more\n"


@pytest.mark.parametrize("condition", ["active", "stale,active", "pending", "state=stale", "contentState.eta=0"])
def test_what_has_ended_goes_only_on_to_be_dismissed(islet, client, order, condition):
    process = islet.begin("wait", "order-7", "--for", "stale,pending", "--timeout", "20s")
    joined(client)
    client.applied("activity.end", id=order)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 4 and "is ended and will not be stale or pending any more" in err
    assert "is ended and will not be" in islet("wait", "order-7", "--for", condition, "--timeout", "20s", code=4).err


@pytest.mark.parametrize("condition, words", [
    ("revision=many", "'revision' is a number"), ("staleDate=10m", "'staleDate' is a date"),
    ("staleDate=1700000000", "1700000000000 was probably meant"), ("next=10m", "its date is next.at"),
    ("contentState.eta!=1", "member=value"), ("contentState.eta>=1", "member=value"), ("", "member=value"),
])
def test_what_a_member_cannot_be_is_2(islet, order, condition, words):
    assert words in islet("wait", "order-7", "--for", condition, "--timeout", "20s", code=2).err


def test_a_value_may_be_written_in_each_of_its_forms(islet, order):
    for condition in ("revision=4.0", "relevanceScore=0.00", "startedAt=2026-01-01T00:00Z"):
        assert islet("wait", "order-7", "--for", condition).code == 0


def waited_for_and_killed(serve, span):
    """A service that keeps all in memory and was killed while somebody waited for so long; and who waits."""
    service = serve({"--clock": "manual"})
    islet = Islet(service)
    islet("activity", "start", "order-7", "--type", "T", "--state", "{}")
    process = islet.begin("wait", "order-7", "--for", "ended", "--timeout", span)
    deadline = Deadline()
    while islet("stats", "--json").json[0]["joins"] < 1:
        assert not deadline.passed
    service.signal(signal.SIGKILL)
    service.wait()
    service.process.returncode = 0  # it was killed by the test
    return service, process


def test_what_a_new_history_does_not_know_has_not_ended(serve):
    """The service is started again at the same place."""
    service, process = waited_for_and_killed(serve, "20s")
    serve({"--clock": "manual", "--commands": service.commands, "--events": service.events, "--bulk": service.bulk})
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 3 and out == "" and "what became of it is unknown" in err, (out, err)


def taken(client):
    """How many commands the service has taken, this question among them."""
    return client.read("service.stats")["stats"]["commands"]["taken"]


def test_the_last_look_sees_that_it_can_never_hold_any_more(islet, client, order):
    """Where no events come, only that look says so."""
    before, questions = taken(client), 0
    process = islet.begin("wait", "order-7", "--for", "stale", "--timeout", "5s", ISLET_EVENTS="tcp://127.0.0.1:9")
    deadline = Deadline()
    while taken(client) - before <= (questions := questions + 1):
        assert not deadline.passed, "it has not looked for the first time"
    client.applied("activity.dismiss", id=order)
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 4 and err == "order-7 was dismissed and will not be stale any more\n", err


def test_a_service_that_went_is_not_said_to_answer(serve):
    service, process = waited_for_and_killed(serve, "5s")
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 5 and err == (
        "order-7 was active at revision 1 when it was last seen; waited 5 s for ended; "
        f"{service.commands}: no answer within 1 s\n"), err


def test_what_is_not_there_is_3_and_no_state_is_2(islet, order):
    assert "looked for: activity, control, widget" in islet("wait", "nobody", "--for", "ended", code=3).err
    assert "looked for: widget" in islet("wait", "order-7", "--for", "shown", "--family", "widget", code=3).err
    assert "did you mean ended?" in islet("wait", "order-7", "--for", "endet", code=2).err
    for words in (("wait", "order-7"), ("wait", "order-7", "--for", ""), ("wait", "order-7", "--for", ".=1"),
                  ("wait", "order-7", "--for", "ended", "--family", "gadget")):
        assert islet(*words, code=2).out == ""


def test_a_service_that_is_not_there_is_5(islet, tmp_path):
    done = islet("wait", "k", "--for", "ended", "--timeout", "200ms", code=5, ISLET_COMMANDS=f"ipc://{tmp_path}/nobody")
    assert "is the service running?" in done.err


# Help


@pytest.mark.parametrize("words", [
    ["wait"], ["timers"], ["slots"], ["subscribers"], ["providers"], ["stats"], ["apps"], ["explain"], ["rules"],
    ["check"], ["problems"], ["doctor"],
    *([family, verb] for family in ("activity", "control", "widget") for verb in ("explain", "history", "at", "diff")),
], ids=" ".join)
def test_help_begins_with_examples(words):
    done = run(*words, "--help", env=environment())
    assert done.returncode == 0
    assert done.stdout.index("EXAMPLES:") < done.stdout.index("OPTIONS:")
    assert done.stdout.index("islet " + " ".join(words)) < done.stdout.index("OPTIONS:")


def test_the_help_of_top_names_its_tabs():
    shown = run("top", "--help", env=environment()).stdout
    assert "else problems; with a filter activities" in re.sub(r"\s+", " ", shown)
    assert not re.search(r"^ +\w+ +- *$", shown, re.MULTILINE)


def test_the_help_says_which_command_answers_which_question():
    shown = run("--help", env=environment()).stdout
    for command in ("stats", "tail", "timers", "slots", "subscribers", "providers", "check", "doctor", "wait", "problems"):
        assert re.search(rf"islet {command}\b", shown), command
        assert re.search(rf"^  {command} +\w", shown, re.MULTILINE), command
    for group in ("SERVICE", "INSPECTION", "HEALTH", "ENTITY", "FILE"):
        assert f"\n{group} SUBCOMMANDS:\n" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())

"""What every subcommand of `islet` has in common: forms of output, filters, limits, suggestions, consent."""

import json
import re
import signal

import pytest

from support.cli import Islet, on_a_terminal
from support.dates import HOUR, MINUTE, after
from support.provider import toggle
from support.service import environment, run
from support.wire import DEADLINE


@pytest.fixture
def islet(service):
    return Islet(service)


@pytest.fixture
def orders(client):
    """Three deliveries, of which one is stale after ten minutes, and a shift without a key."""
    client.start(key="order-1", type="Delivery", device="phone-1", staleDate=after(10 * MINUTE))
    client.start(key="order-2", type="Delivery", device="phone-2", contentState={"eta": 5})
    client.start(key="parcel-1", type="Delivery", contentState={"eta": 50})
    return client.start(type="Shift")["id"]


def names(done):
    return set(done.out.split())


def keys(done):
    """The keys of rows; SHIFT for the one without."""
    return {row.get("key", "SHIFT") for row in done.json}


# Forms of output


def test_names_are_what_other_subcommands_take(islet, orders):
    given = names(islet("activity", "list", "-o", "name"))
    assert len(given) == 4 and given > {"parcel-1", orders}, "a key alone does not name what is on a device"
    for name in given:
        assert islet("activity", "get", name, "-o", "name").out == name + "\n"
    assert islet("activity", "end", "parcel-1", "-o", "name").out == "parcel-1\n"


def test_json_is_the_same_by_either_word(islet, orders):
    assert islet("activity", "list", "-o", "json").out == islet("activity", "list", "--json").out
    get = ("activity", "get", "parcel-1")
    assert islet(*get, "--output", "json").out == islet(*get, "--json").out
    islet("activity", "list", "--json", "-o", "name", code=2)
    assert "wide" in islet("activity", "list", "-o", "yaml", code=2).err


def test_a_wide_list_has_all_of_the_other_and_more(islet, client, orders):
    plain = islet("activity", "list").out.splitlines()
    wide = islet("activity", "list", "-o", "wide").out.splitlines()
    assert wide[0].startswith(plain[0].rstrip()) and "CONTENT" in wide[0] and len(wide) == len(plain)
    row = next(line for line in wide if line.startswith("order-2"))
    assert client.get(key="order-2", device="phone-2")["id"] in row and '{"eta":5}' in row


# Filters


@pytest.mark.parametrize("filter, expected", [
    ("key~order-", {"order-1", "order-2"}), ("key~*-1", {"order-1", "parcel-1"}), ("not key", {"SHIFT"}),
    ("type=Delivery and not device", {"parcel-1"}), ("contentState.eta>12", {"parcel-1"}),
    ("staleDate<11m", {"order-1"}), ("staleDate<9m", set()), ("state=active and (key=order-1 or type=Shift)",
                                                             {"order-1", "SHIFT"}),
])
def test_a_filter_selects(islet, orders, filter, expected):
    done = islet("activity", "list", "--filter", filter, "--json")
    assert keys(done) == expected
    assert f"showing {len(expected)} of {len(expected)} that fit, among 4" in done.err


def test_a_filter_looks_through_all_pages_and_the_limit_is_told(islet, client):
    for begin in range(0, 1200, 200):
        client.batch(*[
            client.command("activity.start", type="T", attributes={}, contentState={}, key=f"k{n:04}")
            for n in range(begin, begin + 200)])
    done = islet("activity", "list", "--filter", "key~k*9", "--limit", "7", "-o", "name")
    assert len(names(done)) == 7 and "showing 7 of 120 that fit, among 1 200" in done.err
    assert "showing 50 of 1 200 in com.example.pizza" in islet("activity", "list").err


@pytest.mark.parametrize("words", [
    ["activity", "list"], ["control", "list"], ["widget", "list"], ["group", "list", "g"], ["provider", "list"],
    ["providers"], ["tail"], ["activity", "history", "k"], ["activity", "end"], ["control", "remove"],
], ids=" ".join)
def test_a_filter_that_is_none_is_wrong_usage_and_the_place_is_shown(islet, words):
    done = islet(*words, "--filter", "state key=a", code=2)
    assert "expected 'and', 'or' or the end, not 'key', at character 7" in done.err
    mark = next(line for line in done.err.splitlines() if line.strip() == "^")
    text = next(line for line in done.err.splitlines() if line.strip() == "state key=a")
    assert mark.index("^") == text.index("key")


def test_controls_widgets_and_group_keys_are_filtered_too(islet, home, board):
    home_rows = islet("control", "list", "--filter", "kind=nothing")
    assert home_rows.out == "" and "that fit" in home_rows.err
    assert "that fit" in islet("widget", "list", "--filter", "next<10m").err
    islet("group", "create", "group.x")
    for n in range(3):
        islet("group", "set", "group.x", f"k{n}", str(n))
    assert islet("group", "list", "group.x", "--filter", "value>0", "-o", "name").out.split() == ["k1", "k2"]


def test_a_tail_shows_what_fits_and_counts_what_was_seen(islet, client):
    tail = islet.begin("tail", "--filter", "to=stale or key~vip-*", "--json", "--limit", "2")
    try:
        while "following" not in tail.stderr.readline():
            assert tail.poll() is None
        client.start(key="plain", staleDate=after(MINUTE))
        client.start(key="vip-1")
        client.advance(by=2 * MINUTE)
        out, err = tail.communicate(timeout=DEADLINE)
    finally:
        tail.kill()
    assert '"vip-1"' in out.splitlines()[0] and '"activity.stale"' in out.splitlines()[1]
    assert "2 of 3 events, 0 missed" in err


def test_a_tail_asks_for_the_key_that_an_event_does_not_carry(islet, client):
    client.start(key="vip-1")
    client.start(key="plain")
    tail = islet.begin("tail", "--filter", "key=vip-1", "--json", "--limit", "1")
    try:
        while "following" not in tail.stderr.readline():
            assert tail.poll() is None
        for key in ("plain", "vip-1"):
            client.applied("activity.update", key=key, contentState={"eta": 1})
        out, err = tail.communicate(timeout=DEADLINE)
    finally:
        tail.kill()
    assert len(out.splitlines()) == 1 and "1 of 2 events" in err


# Since


def test_since_leaves_out_what_was_before(islet, client):
    client.start(key="k", staleDate=after(10 * MINUTE))
    client.advance(by=HOUR)
    client.applied("activity.update", key="k", contentState={"eta": 1})
    names = [event["event"] for event in islet("activity", "history", "k", "--json").json]
    assert names == ["activity.started", "activity.stale", "activity.updated"]
    done = islet("activity", "history", "k", "--since", "30m", "--json")
    assert [event["event"] for event in done.json] == ["activity.updated"] and "showing 1 of 3" in done.err
    assert len(islet("activity", "history", "k", "--since", "2026-01-01T00:05Z", "--json").json) == 2
    done = islet("activity", "history", "k", "--filter", "cause=staleDate", "--json")
    assert [event["event"] for event in done.json] == ["activity.stale"]
    all = islet("activity", "explain", "k", "--json").json[0]["decisions"]
    late = islet("activity", "explain", "k", "--since", "30m", "--json").json[0]["decisions"]
    assert late == all[-1:] and len(all) == 3
    assert "1. " not in islet("activity", "explain", "k", "--since", "30m").out


# Names that may be meant


@pytest.mark.parametrize("words, meant", [
    (["list"], "activity list"), (["tap"], "activity tap"), (["timeline"], "widget timeline"),
    (["verify"], "journal verify"), (["activty"], "activity"), (["activity", "lst"], "list"), (["activity", "ls"], "list"),
    (["completion"], "completions"), (["context", "select"], "use"), (["control", "delete", "x"], "remove"), (["journal", "verfy"], "verify"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else value)
def test_a_misspelt_subcommand_is_told_with_what_may_be_meant(words, meant):
    done = run(*words)
    assert done.returncode == 2 and done.stdout == "" and f"did you mean {meant}?" in done.stderr


def test_what_is_like_nothing_is_not_guessed():
    done = run("activity", "xylophone")
    assert done.returncode == 2 and "no subcommand 'xylophone'" in done.stderr and "mean" not in done.stderr


def test_a_misspelt_option_is_told_with_what_may_be_meant():
    assert "--filter" in run("activity", "list", "--fliter", "x").stderr


@pytest.mark.parametrize("words", [
    ["get"], ["history"], ["explain"], ["end"], ["dismiss"], ["tap"], ["renew"], ["update", "--state", "{}"],
], ids=" ".join)
def test_a_misspelt_key_is_told_with_what_may_be_meant(islet, orders, words):
    done = islet("activity", words[0], "ordr-1", *words[1:], code=3)
    assert "did you mean order-1 on phone-1?" in done.err and "notFound" in done.err and done.out == ""


def test_a_key_that_another_device_has_is_told_with_that_device(islet, orders):
    """order-1 is on phone-1 only."""
    for verb in ("get", "explain"):
        done = islet("activity", verb, "order-1", "--device", "phone-9", code=3)
        assert "has no activity 'order-1'; did you mean order-1 on phone-1? (notFound)" in done.err
    assert "did you mean order-1?" in islet("activity", "get", "ordr-1", "--device", "phone-1", code=3).err


@pytest.mark.parametrize(
    "words", [["at", "-10m", "order-1"], ["at", "order-1", "-10m"], ["diff", "order-1", "-10m"]], ids=" ".join)
def test_a_time_with_a_dash_is_told_how_it_is_written(islet, orders, words):
    done = islet("activity", *words, code=2)
    assert done.err.startswith("Error: '-10m' begins with a dash, as options do: write 10m, or -- before it\n"), done.err


def test_a_key_on_one_device_is_read_without_naming_it_and_changed_only_with(islet, client, orders):
    for verb in ("get", "history", "explain"):
        assert islet("activity", verb, "order-1").out
    done = islet("activity", "end", "order-1", code=3)
    assert "phone-1" in done.err and "--device" in done.err
    client.start(key="order-1", device="phone-2")
    done = islet("activity", "get", "order-1", code=3)
    assert "phone-1" in done.err and "phone-2" in done.err and "--device" in done.err
    assert islet("activity", "get", "order-1", "--device", "phone-2", "--json").json[0]["device"] == "phone-2"


def test_a_name_that_is_like_none_is_not_guessed(islet, orders):
    assert islet("activity", "get", "something-else", code=3).err == (
        "com.example.pizza has no activity 'something-else' (notFound)\n")


def test_why_one_on_a_device_was_dismissed_can_be_asked_by_its_key(islet, client):
    """When it has vanished, its key is what a person knows."""
    for _ in range(2):
        newest = client.start(key="order-9", device="phone-1")["id"]
        client.advance(by=MINUTE)
        client.applied("activity.dismiss", id=newest, by="person")
    for words in (("explain",), ("activity", "explain"), ("activity", "history"), ("activity", "get")):
        assert "person" in islet(*words, "order-9").out
    assert islet("activity", "get", "order-9", "--json").json[0]["id"] == newest
    assert "phone-1" in islet("activity", "end", "order-9", code=3).err


# Changes of many


def test_nothing_is_done_to_many_where_nobody_can_be_asked(islet, client, orders):
    for verb in ("end", "dismiss"):
        done = islet("activity", verb, "--filter", "type=Delivery", code=2)
        assert "3 activities" in done.err and "--yes" in done.err and done.out == ""
    assert {row["state"] for row in client.list()} == {"active"}


def test_a_dry_run_names_them_and_changes_nothing(islet, client, orders):
    done = islet("activity", "end", "--filter", "key~order-", "--dry-run", "--json")
    assert keys(done) == {"order-1", "order-2"} and "nothing was changed" in done.err
    assert {row["state"] for row in client.list()} == {"active"}


def test_many_are_ended_with_consent(islet, client, orders):
    done = islet("activity", "end", "--filter", "key~order-", "--yes", "--dismissal", "15m", "--state", '{"eta":0}')
    assert "ended 2 of 2 activities" in done.err
    rows = {row.get("key"): row for row in client.list()}
    assert {key: row["state"] for key, row in rows.items()} == {
        "order-1": "ended", "order-2": "ended", "parcel-1": "active", None: "active"}
    assert rows["order-1"]["dismissAt"] == after(15 * MINUTE) and rows["order-1"]["contentState"] == {"eta": 0}
    again = islet("activity", "end", "--filter", "key~order-", "--yes")
    assert "0 activities" in again.err and "2 more fit, but have ended already" in again.err
    done = islet("activity", "dismiss", "--filter", "state=ended", "-y", "-o", "name")
    assert names(done) == {rows["order-1"]["id"], rows["order-2"]["id"]}
    assert len(islet("activity", "end", "--filter", "state=active", "-y", "--json").json) == 2


def test_the_exit_code_is_that_of_what_failed(islet, orders):
    done = islet("activity", "end", "--filter", "key~order-", "--yes", "--timestamp", "-1d", code=4)
    assert "ended 0 of 2 activities, 2 ignored" in done.err and "olderTimestamp" in done.err


def test_one_is_named_or_a_filter_and_not_both(islet):
    for words in ([], ["k", "--filter", "key=k"], ["k", "--dry-run"]):
        islet("activity", "end", *words, code=2)


@pytest.mark.parametrize("answer, code, state", [("y\n", 0, "ended"), ("n\n", 1, "active"), ("\n", 1, "active")])
def test_a_person_is_asked(islet, client, orders, answer, code, state):
    ended, seen = on_a_terminal(islet, "activity", "end", "--filter", "key=order-1", types=answer)
    assert (ended, client.get(key="order-1", device="phone-1")["state"]) == (code, state)
    assert "end 1 activity in com.example.pizza? [y/N]" in seen and "order-1" in seen


def test_times_that_are_named_count_from_the_answer_and_not_from_the_question(islet, client):
    client.start(key="order-1")
    code, seen = on_a_terminal(
        islet, "activity", "end", "--filter", "key=order-1", "--dismissal", "15m", types="y\n",
        meanwhile=lambda: client.advance(by=HOUR))
    order = client.get(key="order-1")
    assert code == 0 and order["state"] == "ended", seen
    assert order["dismissAt"] - order["endedAt"] == 15 * MINUTE


@pytest.mark.parametrize("verb, state", [("end", "ended"), ("dismiss", "dismissed")])
def test_what_does_not_fit_any_more_when_the_person_says_yes_is_skipped(islet, client, verb, state):
    ids = {key: client.start(key=key, staleDate=after(MINUTE), device="phone")["id"] for key in ("fresh", "old", "busy")}
    client.advance(by=2 * MINUTE)

    def meanwhile():
        client.applied("activity.update", id=ids["fresh"], contentState={"eta": 1})
        client.applied("activity.update", id=ids["busy"], contentState={"eta": 2})

    code, seen = on_a_terminal(
        islet, "activity", verb, "--filter", "state=stale or key=busy", types="y\n", meanwhile=meanwhile)
    rows = {key: client.get(id=id) for key, id in ids.items()}
    assert {key: row["state"] for key, row in rows.items()} == {"fresh": "active", "old": state, "busy": state}
    assert rows["fresh"]["contentState"] == {"eta": 1}
    assert "fresh on phone: skipped: it has changed and does not fit any more" in seen and "busy on phone: " not in seen
    assert code == 4 and f"{state} 2 of 3 activities, 1 skipped" in seen


@pytest.mark.parametrize("gone", [1, 3])
def test_what_is_gone_when_the_person_says_yes_is_counted_and_no_failure(islet, home, gone):
    home.provider(toggle("Lamp"))
    ids = [home.client.applied("control.add", kind="Lamp")["control"]["id"] for _ in range(3)]

    def meanwhile():
        for id in ids[:gone]:
            home.client.applied("control.remove", id=id)

    code, seen = on_a_terminal(
        islet, "control", "remove", "--filter", "kind=Lamp", types="y\n", meanwhile=meanwhile)
    assert code == 0 and f"removed {3 - gone} of 3 controls, {gone} gone meanwhile" in seen and "failed" not in seen
    assert home.client.read("control.list")["controls"] == []


def test_a_control_with_other_parameters_than_when_it_was_asked_for_stays(islet, home):
    home.provider(toggle("Lamp", parameters=[{"name": "room", "type": "string"}]))
    add = lambda room: home.client.applied("control.add", kind="Lamp", configuration={"room": room})["control"]["id"]
    moved, left = add("office"), add("office")
    code, seen = on_a_terminal(
        islet, "control", "remove", "--filter", "configuration.room=office", types="y\n",
        meanwhile=lambda: home.client.applied("control.configure", id=moved, configuration={"room": "kitchen"}))
    assert [row["id"] for row in home.client.read("control.list")["controls"]] == [moved], seen
    assert code == 4 and "removed 1 of 2 controls, 1 skipped" in seen


def test_a_stop_is_heard_between_two_parts(islet, client):
    for begin in range(0, 2000, 200):
        client.batch(*[
            client.command("activity.start", type="T", attributes={}, contentState={}, key=f"k{n}")
            for n in range(begin, begin + 200)])
    process = islet.begin("activity", "end", "--filter", "key~k", "--yes", "-o", "name")
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=DEADLINE)
    ended = sum(row["state"] == "ended" for row in pages(client))
    told = re.search(r"ended ([\d ]+) of 2 000 activities(; stopped before the other ([\d ]+))?", err)
    assert told and int(told[1].replace(" ", "")) == ended > 0
    # Where it was quicker than the signal, all of them are ended, and that is well.
    assert process.returncode == (1 if told[2] else 0)


def pages(client):
    cursor = {}
    while True:
        page = client.read("activity.list", limit=1000, **cursor)
        yield from page["activities"]
        if page.get("next") is None:
            return
        cursor = {"cursor": page["next"]}


def test_a_restore_asks_a_person_and_no_script(islet, serve, tmp_path):
    service = serve({"--store": None, "--data": str(tmp_path / "data")})
    Islet(service)("backup", tmp_path / "copy.db")
    ended, seen = on_a_terminal(islet, "restore", str(tmp_path / "copy.db"), "--data", str(tmp_path / "a"), types="n\n")
    assert ended == 1 and "nothing was changed" in seen and not (tmp_path / "a").exists()
    ended, seen = on_a_terminal(islet, "restore", str(tmp_path / "copy.db"), "--data", str(tmp_path / "a"), "--yes")
    assert ended == 0 and "restored" in seen
    islet("restore", tmp_path / "copy.db", "--data", tmp_path / "b")


def subcommands(command, path=()):
    """Every subcommand with its words; the parser's own help left out."""
    path = (*path, command["commandName"])
    yield path, command
    for inner in command.get("subcommands", []):
        if inner["commandName"] != "help":
            yield from subcommands(inner, path)


def test_every_help_begins_with_examples_of_itself():
    tree = json.loads(run("--experimental-dump-help").stdout)["command"]
    found = dict(subcommands(tree))
    assert len(found) > 60
    for path, command in found.items():
        discussion = command.get("discussion") or ""
        assert discussion.startswith("EXAMPLES:\n"), path
        assert " ".join(path) in discussion, path
        assert command.get("abstract"), path


def test_options_about_the_service_may_stand_before_the_subcommand(islet, orders):
    url = islet.env["ISLET_COMMANDS"]
    env = {**islet.env, "ISLET_COMMANDS": "tcp://127.0.0.1:1"}
    for words in (["--commands", url, "activity", "list", "-o", "name"], [f"--commands={url}", "--timeout", "5s", "info"],
                  ["--timeout=5s", "--commands", url, "check"], ["--commands", url, "activity", "get", "--", "order-1"]):
        done = run(*words, env=env)
        assert done.returncode == 0, (words, done.stderr)


@pytest.mark.parametrize("words, words_of_it", [
    (["--context", "nowhere", "info"], "nowhere"), (["--context"], "--context"), (["--context", "x"], "--context"),
    (["--commands", "a", "info", "--commands", "b"], "--commands is given 2 times"), (["--nonsense", "info"], "--nonsense"),
    (["--context", "x", "journal", "verify", "/nowhere"], "--context"), (["--context", "x", "nonsense"], "nonsense"),
])
def test_options_before_the_subcommand_are_judged_as_those_behind_it(words, words_of_it):
    done = run(*words, env=environment())
    assert done.returncode == 2 and words_of_it in done.stderr and done.stdout == ""


@pytest.mark.parametrize("words, name", [
    (["activity", "list", "--filter", "state=stale", "--filter", "type=Shift"], "--filter"),
    (["activity", "end", "--filter", "key=a", "--dry-run", "--filter=key~order"], "--filter"),
    (["activity", "list", "-o", "name", "--output", "wide"], "--output or -o"),
    (["activity", "list", "--limit", "1", "--limit", "1"], "--limit"), (["wait", "k", "--for", "ended", "--for", "stale"], "--for"),
    (["activity", "list", "-o=json", "-o=name"], "-o"), (["activity", "list", "-o=json", "--output", "name"], "--output or -o"),
])
def test_an_option_of_one_value_is_not_taken_twice(islet, orders, words, name):
    done = islet(*words, code=2)
    assert done.out == "" and done.err.startswith(f"Error: {name} is given 2 times, and has one value")


def test_options_of_several_values_flags_and_words_behind_two_dashes_may_repeat(islet, orders):
    islet("group", "create", "group.x", "--member", "com.example.a", "--member", "com.example.b")
    islet("activity", "list", "--json", "--json")
    islet("activity", "start", "alert-1", "--type", "T", "--state", "{}")
    islet("activity", "update", "alert-1", "--state", '{"eta":1}', "--alert-title", "-o", "--alert-body", "-o")
    islet("activity", "start", "--type", "T", "--state", "{}", "--", "--type")
    assert islet("activity", "get", "--", "--type").out.startswith("--type  active")


# What the service would refuse


@pytest.mark.parametrize("family, states", [
    ("activity", "pending, active, stale, ended, dismissed"),
    ("control", "loading, preview, shown, reloading, acting, authenticating, disabled, removed"),
    ("widget", "loading, placeholder, shown, reloading, acting, removed"),
])
def test_a_list_of_a_state_that_there_is_not_says_which_there_are(islet, family, states):
    done = islet(family, "list", "--state", "stael", "--commands", "tcp://127.0.0.1:9", code=2)
    assert f"--state is one of {states}, and not 'stael'" in done.err
    assert ("; did you mean stale?" in done.err) == (family == "activity")
    assert islet(family, "list", "--state", states.split(", ")[0]).out == ""


def test_a_later_start_without_an_alert_says_which_option_is_missing(islet):
    words = ["activity", "start", "k", "--type", "T", "--state", "{}", "--commands", "tcp://127.0.0.1:9"]
    for option, value in ("--start-in", "2h"), ("--start-at", "2026-02-01"):
        done = islet(*words, option, value, code=2)
        assert f"{option} needs an alert" in done.err and "--alert-title" in done.err


def test_a_dry_run_calls_things_as_the_run_does(islet, client):
    ids = {device: client.start(key="k", device=device)["id"] for device in ("phone-1", "phone-2")}
    client.start(key="alone")
    words = ["activity", "end", "--filter", "state=active"]
    called = islet(*words, "--dry-run").out.splitlines()
    assert sorted(called) == ["alone", "k on phone-1", "k on phone-2"]
    assert islet(*words, "--dry-run", "-o", "name").out.split() == [
        ids.get(name.removeprefix("k on "), name) for name in called]
    asked = islet(*words, code=2).err
    assert ", ".join(called) in asked

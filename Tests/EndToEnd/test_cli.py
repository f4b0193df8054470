"""The `islet` command against the real service: data and messages, exit codes, colours, and what it says next."""

import json
import re
import signal
import subprocess
import types

import pytest

from support.cli import Islet
from support.dates import HOUR, MINUTE, after
from support.service import BINARY, ROOT, environment, run
from support.wire import DEADLINE, Deadline
from test_islet_py_client import Scripted, copies_answered, refused


@pytest.fixture
def islet(service):
    return Islet(service)


def start(islet, key="order-7", *words, **more):
    return islet("activity", "start", key, "--type", "Delivery", "--state", '{"eta":12}', *words, **more)


# A life


def test_a_start_says_what_became_of_it_and_what_to_try_next(islet, client):
    done = start(islet, "order-7", "--stale-in", "30m")
    shown = client.get(key="order-7")
    assert shown["id"] in done.out + done.err and "active" in done.out + done.err
    assert shown["staleDate"] == after(30 * MINUTE)
    for next_command in ("activity update order-7", "activity explain order-7", "tail"):
        assert next_command in done.err, "what is worth trying is no data"


def test_a_change_is_not_refused_that_a_later_copy_of_it_has_executed():
    """The command sends again what has no answer; the first copy may be refused for what has passed by the second one."""
    def ended(command):
        entity = {"id": "0198c0de-0000-7000-8000-000000000001", "revision": 2, "state": "ended"}
        return {"req": command["req"], "ok": True, "outcome": "applied", "seq": 2, "activity": entity}

    with Scripted(copies_answered(refused, ended)) as scripted:
        service = types.SimpleNamespace(commands=scripted.url, events=scripted.url, bulk=scripted.url)
        assert "ended" in Islet(service)("activity", "end", "order-7").out


def test_a_life_by_the_command_alone(islet, client):
    start(islet, "order-7", "--device", "phone", "--attributes", '{"order":7}', "--relevance", "2.5")
    here = ("order-7", "--device", "phone")
    islet("activity", "update", *here, "--state", '{"eta":5}', "--stale-in", "10m", "--alert-title", "Look",
          "--alert-body", "here")
    islet("clock", "advance", "10m")
    assert client.get(key="order-7", device="phone")["state"] == "stale"
    islet("activity", "update", *here, "--state", '{"eta":4}')
    islet("activity", "renew", *here, "--state", '{"eta":3}')
    whole = client.get(key="order-7", device="phone")
    assert (whole["contentState"], whole["attributes"]) == ({"eta": 3}, {"order": 7}) and whole["renews"]
    islet("activity", "end", *here, "--dismissal", "15m", "--state", '{"eta":0}')
    assert client.get(key="order-7", device="phone")["dismissAt"] == after(25 * MINUTE)
    islet("activity", "dismiss", *here, "--by", "system")
    whole = client.get(key="order-7", device="phone")
    assert (whole["state"], whole["cause"]) == ("dismissed", "system")


def test_dates_may_be_spans_or_written_out(islet, client):
    start(islet, "a", "--stale-at", "2026-01-01T02:30Z")
    start(islet, "b", "--stale-in", "1h30m")
    start(islet, "c", "--start-in", "2h", "--alert-title", "T", "--alert-body", "B")
    assert client.get(key="a")["staleDate"] == after(2 * HOUR + 30 * MINUTE)
    assert client.get(key="b")["staleDate"] == after(90 * MINUTE)
    assert client.get(key="c")["startDate"] == after(2 * HOUR)


def test_the_state_may_come_from_a_file(islet, client, tmp_path):
    (tmp_path / "state.json").write_text('{ "eta": 1 }\n')
    islet("activity", "start", "k", "--type", "T", "--state", f"@{tmp_path}/state.json")
    assert client.get(key="k")["contentState"] == {"eta": 1}
    done = islet("activity", "start", "l", "--type", "T", "--state", f"@{tmp_path}/nothing.json", code=2)
    assert "nothing.json" in done.err


def test_an_id_serves_where_there_is_no_key(islet, client):
    id = islet("activity", "start", "--type", "T", "--state", "{}", "--json").json[0]["activity"]["id"]
    islet("activity", "update", id, "--state", '{"x":1}')
    assert client.get(id)["revision"] == 2


def test_settings_devices_and_the_clock(islet, client):
    start(islet, "order-7", "--device", "phone", "--style", "transient")
    islet("device", "lock", "--device", "phone")
    assert client.get(key="order-7", device="phone")["state"] == "dismissed"
    islet("settings", "set", "--activities", "off")
    assert islet("settings", "get", "--json").json[0]["activitiesEnabled"] is False
    assert start(islet, "order-8", code=6).err.count("denied") == 1
    islet("clock", "advance", "--to", "2026-01-01T09:00Z")
    assert islet("clock", "now", "--json").json == [{"now": after(9 * HOUR)}]
    assert "2026-01-01 09:00:00" in islet("clock", "now").out


# Looking


def test_json_is_what_the_service_said(islet, client):
    start(islet)
    [shown] = islet("activity", "get", "order-7", "--json").json
    assert shown == client.get(key="order-7")
    [row] = islet("activity", "list", "--json").json
    assert row == shown
    events = islet("activity", "history", "order-7", "--json").json
    assert [event["event"] for event in events] == ["activity.started"]
    [explained] = islet("activity", "explain", "order-7", "--json").json
    assert explained["decisions"][0]["rule"] == "apple-semantics 1.2 row 1"
    [info] = islet("info", "--json").json
    assert info == {**client.read("service.info")["info"], **{k: info[k] for k in ("uptime", "commands")}}


def test_a_list_never_hides_that_there_is_more(islet, client):
    client.batch(*[
        client.command("activity.start", type="T", attributes={}, contentState={}, key=f"k{n}") for n in range(60)])
    assert "50 of 60" in islet("activity", "list").err
    assert len(islet("activity", "list", "--limit", "60", "--json").json) == 60
    shown = islet("activity", "list", "--key", "k5")
    assert "11 of 11" in shown.err and len(shown.out.splitlines()) == 12
    assert len(islet("activity", "list", "--limit", "5", "--json").json) == 5


def test_a_person_reads_states_causes_and_deadlines(islet):
    start(islet, "order-7", "--stale-in", "30m")
    assert re.search(r"active .*stale in 30 m", islet("activity", "list").out)
    assert re.search(r"staleDate .*in 30 m", islet("activity", "get", "order-7").out)
    islet("clock", "advance", "45m")
    assert re.search(r"active → stale .*staleDate .*ends in 7 h 30 m", islet("activity", "history", "order-7").out)
    assert "its stale date was reached" in islet("activity", "explain", "order-7").out
    assert "apple-2026" in islet("info").out


# Exit codes


def test_what_is_not_there_is_3(islet):
    done = islet("activity", "get", "nobody", code=3)
    assert done.out == "" and "notFound" in done.err


def test_a_conflict_and_a_state_that_takes_nothing_are_4(islet):
    start(islet)
    assert "conflict" in start(islet, code=4).err
    assert "conflict" in islet("activity", "update", "order-7", "--state", "{}", "--if-revision", "9", code=4).err
    islet("activity", "end", "order-7", "--dismissal", "immediate")
    done = islet("activity", "update", "order-7", "--state", "{}", code=4)
    assert "ignored" in done.err and "dismissed" in done.err


def test_an_update_that_changes_nothing_is_no_failure(islet):
    start(islet)
    done = islet("activity", "update", "order-7", "--state", '{"eta":12}')
    assert "unchanged" in done.err


def test_a_limit_is_6(islet, tmp_path):
    (tmp_path / "large.json").write_text(json.dumps({"x": "y" * 5000}))
    done = islet("activity", "start", "k", "--type", "T", "--state", f"@{tmp_path}/large.json", code=6)
    assert "attributesTooLarge" in done.err and "4096" in done.err


def test_a_service_that_is_not_there_is_5(islet, tmp_path):
    for words in (("activity", "get", "k"), ("info",), ("activity", "list")):
        done = islet(*words, "--timeout", "200ms", code=5, ISLET_COMMANDS=f"ipc://{tmp_path}/nobody")
        assert str(tmp_path) in done.err


@pytest.mark.parametrize("words", [
    ["explode"], ["activity", "explode"], ["activity", "get"], ["activity", "start", "k"],
    ["activity", "start", "k", "--type", "T", "--state", "{bad"],
    ["activity", "start", "k", "--type", "T", "--state", "[]"],
    ["activity", "start", "k k", "--type", "T", "--state", "{}"], ["activity", "get", "k", "--timeout", "soon"],
    ["activity", "start", "k", "--type", "T", "--state", "{}", "--stale-in", "later"],
    ["activity", "list", "--state", "sleeping"], ["device", "explode", "--device", "d"], ["tail", "--limit", "0"],
    ["activity", "end", "k", "--dismissal", "whenever"], ["settings", "set", "--activities", "maybe"],
], ids=" ".join)
def test_wrong_usage_is_2_and_says_why(islet, words):
    done = islet(*words, code=2)
    assert done.out == "" and done.err.strip()


def test_help_lists_the_exit_codes_of_the_contract():
    table = json.loads((ROOT / "proto-json" / "errors.json").read_text())
    listed = {int(code) for code in re.findall(r"^ +(\d)  \w", run("--help").stdout, re.MULTILINE)}
    assert listed == {row["exit"] for row in table["exitCodes"]} >= {row["exit"] for row in table["errors"]}


# How it looks


def test_colours_stand_on_a_terminal_only_and_not_where_they_are_unwanted(islet):
    start(islet)
    assert "\x1b[" in islet.on_a_terminal("activity", "list")
    assert "\x1b[" not in islet("activity", "list").out
    assert "\x1b[" not in islet.on_a_terminal("activity", "list", NO_COLOR="1")
    assert "\x1b[" not in islet.on_a_terminal("activity", "list", TERM="dumb")
    assert "\x1b[" not in islet.on_a_terminal("activity", "list", "--json")


@pytest.mark.parametrize("words", [
    [], ["serve"], ["dev"], ["info"], ["tail"], ["activity"], ["activity", "start"], ["activity", "update"],
    ["activity", "end"], ["activity", "dismiss"], ["activity", "renew"], ["activity", "get"], ["activity", "list"],
    ["activity", "history"], ["activity", "explain"], ["activity", "tap"], ["settings"], ["device"], ["clock"],
], ids=" ".join)
def test_help_begins_with_examples(words):
    done = run(*words, "--help")
    assert done.returncode == 0
    examples = done.stdout.index("islet " + " ".join(words).strip())
    assert examples < done.stdout.index("OPTIONS:")


# The demo


def test_the_demo_shows_first_changes_at_once_and_every_kind_soon(tmp_path):
    """At ten times its usual speed: what it promises for two minutes has to be there in twelve seconds."""
    urls = {name: f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    env = environment(**{f"ISLET_{name.upper()}": url for name, url in urls.items()})
    flags = [word for name, url in urls.items() for word in (f"--{name}", url)]
    dev = subprocess.Popen(
        [str(BINARY), "dev", "--speed", "6000", *flags], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)
    tail = None
    try:
        while "ready" not in (line := dev.stderr.readline()):
            assert line, "ended before it was ready"
        tail = subprocess.Popen(
            [str(BINARY), "tail", "--json"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        wanted = {
            (None, "active", "command"), (None, "pending", "command"), ("pending", "active", "startDate"),
            ("active", "active", "command"), ("active", "stale", "staleDate"), ("stale", "active", "command"),
            ("active", "ended", "command"), ("ended", "dismissed", "dismissalPolicy"),
            ("active", "ended", "activeLimit"), ("active", "dismissed", "person"),
            ("ended", "dismissed", "person"), ("active", "ended", "transient"),
            ("active", "dismissed", "settings"), ("pending", "dismissed", "command"), ("active", "ended", "renewal"),
        }
        deadline = Deadline(60)
        for line in tail.stdout:
            event = json.loads(line)
            wanted.discard((event.get("from"), event["to"], event["cause"]))
            if not wanted:
                break
            assert not deadline.passed, wanted
        assert not wanted
    finally:
        for process in (tail, dev):
            if process:
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=DEADLINE)
    assert dev.returncode == 0


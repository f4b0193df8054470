"""`islet top` on a pseudo-terminal: what it shows, its keys, and that the terminal is afterwards as it was."""

import itertools
import json
import os
import re
import signal
import threading

import pytest

from support.cli import Islet
from support.commands import Commands
from support.dates import HOUR, MINUTE, after
from support.demo import Demo
from support.running import Running
from support.provider import TORCH, RawProvider, toggle
from support.service import BINARY, environment, run
from support.terminal import Terminal

COLOUR = re.compile(rb"\x1b\[[0-9;]*3[0-7][0-9;]*m")


@pytest.fixture
def terminal():
    """Makes terminals; each is closed after the test."""
    made = []

    def make(*words, env, **more):
        made.append(Terminal.islet(*words, env=env, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def top(terminal, service):
    """A top of the service, over all apps."""
    env = {name: value for name, value in Islet(service).env.items() if name != "ISLET_APP"}

    def make(*words, wait="live", more=(), tab="activities", **size):
        tab = [] if "--tab" in words else ["--tab", tab]
        one = terminal("top", "--interval", "100ms", *tab, *words, env={**env, **dict(more)}, **size)
        if wait:
            one.wait(wait)
        return one

    return make


def quits(one):
    one.press("q")
    assert one.ended() == 0
    assert one.is_restored()


def row(one, name):
    return next((line for line in one.lines if line.startswith(name)), None)


def test_a_screen_of_80_by_24_has_figures_states_and_rows_by_the_next_deadline(top, client):
    client.start(key="order-7", staleDate=after(2 * MINUTE))
    client.start(key="order-8", staleDate=after(MINUTE))
    client.start(key="order-9")
    one = top(wait=r"^order-9 ")
    assert all(len(line) <= 80 for line in one.lines)
    assert re.search(r"^islet top .*up .* UTC  live$", one.lines[0])
    assert re.search(r"^timers +3 armed +next in 1 m ", one.text, re.M)
    assert "active 3" in one.text and "2 Activities 3" in one.text
    names = [line.split()[0] for line in one.lines if line.startswith("order-")]
    assert names == ["order-8", "order-7", "order-9"]
    assert "showing 3 of 3" in one.text
    client.advance(by=100_000)
    one.wait(r"^order-8 .* stale .* ends in 7 h 58 m")
    one.wait(r"stale 1")
    quits(one)


def test_rows_are_filtered_while_it_is_typed_and_sorted_by_any_column(top, client):
    for number in range(1, 6):
        client.start(key=f"order-{number}", staleDate=after(number * MINUTE), type=f"Type{number % 2}")
    one = top(wait="showing 5 of 5")
    one.press("/", "type=Type1")
    one.wait(lambda text: "order-2" not in text and "order-3" in text)
    one.press("enter")
    one.wait("showing 3 of 3 .*filter type=Type1")
    one.press("escape")
    one.wait("showing 5 of 5")
    one.press("/", "ORDER-4")
    one.wait(lambda text: "order-2" not in text and "order-4" in text)
    one.press("escape")
    one.wait("showing 5 of 5")
    one.press("r")
    one.wait(lambda text: re.findall(r"^order-\d", text, re.M) == [f"order-{n}" for n in (5, 4, 3, 2, 1)])
    one.press("s", "s")
    one.wait(r"by app|by name")
    quits(one)


def test_what_is_wrong_stands_first_and_leads_to_its_details(top, client, wire, service):
    one = top(tab="problems", wait="nothing fails, waits too long, is stale or lags", columns=120)
    client.start(key="order-7", staleDate=after(MINUTE))
    client.start(key="order-8", staleDate=after(2 * MINUTE))
    client.start(key="order-9")
    provider = RawProvider(wire, service.commands, toggle())
    client.applied("control.add", kind=TORCH, device="phone")
    provider.leave()
    client.advance(by=3 * MINUTE)
    one.wait("^warning +unserved +kind torch ")
    one.wait("^warning +stale +activity order-8 ")
    shown = [line.split()[1:4:2] for line in one.lines if line.startswith("warning ")]
    assert shown == [["unserved", "torch"], ["stale", "order-7"], ["stale", "order-8"]], one.text
    assert " 1 Problems " in one.text and "order-9" not in one.text
    one.press("/", *"stale", "enter")
    one.wait("showing 2 of 3 ")
    one.press("enter")
    one.wait("^  key +order-7")
    one.press("e")
    one.wait("staleDateReached")
    one.press("t")
    one.wait("nothing has happened yet")
    client.applied("activity.update", key="order-7", contentState={"eta": 2}, staleDate=after(HOUR))
    one.wait(r'updated .*\{"eta":2\}')
    one.press("escape")
    one.wait("^warning +stale +activity order-8 ")
    quits(one)


def test_rows_are_ended_dismissed_and_reloaded_once_it_is_confirmed(top, client, wire, service):
    provider = RawProvider(wire, service.commands, toggle())
    client.applied("control.add", kind=TORCH, device="phone")
    provider.answer(provider.call("value"), True)
    client.start(key="order-7", staleDate=after(HOUR))
    looking = top(wait="^order-7 ")
    looking.press("E")
    looking.wait("nothing is changed from here: start it with --write")
    quits(looking)
    one = top("--write", wait="^order-7 ")
    one.press("E")
    one.wait(r"^end activity order-7 of com\.example\.pizza\? y: yes, any other key: no")
    one.press("n")
    one.wait("showing 1 of 1")
    one.press("R")
    one.wait("order-7 is nothing to reload")
    one.press("E", "y")
    one.wait("^activity order-7 was ended")
    one.wait("^order-7 .* ended ")
    [ended] = [event for event in client.read("activity.history", key="order-7")["events"] if event["to"] == "ended"]
    assert ended["by"]["req"].startswith("top")
    one.press("D", "y")
    one.wait("^activity order-7 was dismissed")
    one.press("3")
    one.wait("^torch/")
    one.press("R", "y")
    one.wait("was asked for anew")
    provider.answer(provider.call("value"), False)
    one.wait("^torch/.* shown ")
    quits(one)


def test_what_has_changed_since_it_was_shown_is_not_ended(top, client):
    client.start(key="order-7", staleDate=after(HOUR))
    one = top("--write", wait="^order-7 ")
    one.press("p", "E")
    one.wait("^end activity order-7 ")
    client.applied("activity.update", key="order-7", contentState={"eta": 2}, staleDate=after(HOUR))
    one.press("y")
    one.wait("activity order-7 has changed meanwhile: nothing was done")
    assert client.read("activity.get", key="order-7")["activity"]["state"] == "active"
    # A problem's row has no revision, and its state says whether it is still one.
    two = top("--write", tab="problems", wait="nothing fails")
    client.advance(by=2 * HOUR)
    two.wait("^warning +stale +activity order-7 ")
    two.press("p", "E")
    two.wait("^end activity order-7 ")
    client.applied("activity.update", key="order-7", contentState={"eta": 3}, staleDate=after(9 * HOUR))
    two.press("y")
    two.wait("activity order-7 is active by now: nothing was done")
    assert client.read("activity.get", key="order-7")["activity"]["state"] == "active"


def test_a_panel_stays_with_what_it_shows_where_that_is_no_problem_any_more(top, client):
    for key in ("order-7", "order-8"):
        client.start(key=key, staleDate=after(MINUTE))
    client.advance(by=2 * MINUTE)
    one = top(tab="problems", wait="activity order-8 ")
    one.press("home", "enter")
    one.wait("^  state +stale")
    assert one.lines[6].startswith("activity order-7 ")
    client.applied("activity.update", key="order-7", contentState={"eta": 2}, staleDate=after(HOUR))
    one.wait("^  state +active")
    one.wait(" stale 1 ")
    one.press("e")
    one.wait("^Why is it so[?] activity order-[78] ")
    assert one.lines[6].startswith("Why is it so? activity order-7 ")
    one.press("t")
    one.wait("^Tail of activity order-7")
    quits_from_panel(one)


def quits_from_panel(one):
    one.press("escape")
    quits(one)


def test_a_change_names_the_device_and_says_where_nobody_knows_what_came_of_it(top, client, service):
    for device in ("phone", "tablet"):
        client.start(key="order-7", device=device)
    one = top("--write", wait="^order-7 ", columns=120)
    one.press("home", "E")
    one.wait(r"^end activity order-7 on phone of com\.example\.pizza\? y: yes")
    assert one.lines[-1] == "y yes  any other key no"
    os.kill(service.process.pid, signal.SIGSTOP)
    try:
        one.press("y")
        one.wait("^activity order-7 on phone: no answer within 5 s; activity.end was sent, outcome unknown")
    finally:
        os.kill(service.process.pid, signal.SIGCONT)
    quits(one)


def test_a_filter_of_problems_lists_problems_and_those_of_an_app_are_asked_for(service, client):
    for first in range(0, 210, 70):
        client.batch(*(
            client.command("activity.start", type="Delivery", attributes={}, contentState={}, key=f"k{number}",
                           staleDate=after(MINUTE)) for number in range(first, first + 70)))
    client.start(app="com.example.taxi", key="ride-1", staleDate=after(2 * MINUTE))
    client.advance(by=HOUR)
    islet = Islet(service, app="")

    def once(filter):
        return islet("top", "--once", "--interval", "100ms", "--filter", filter).out

    assert re.search("^warning +stale +activity ride-1 ", once("what=stale app=com.example.taxi"), re.M)
    out = once("what=stale key=ride-1")
    assert "none of the 200 problems that were looked through fit" in out and "all are looked through" not in out


def test_details_explanation_tail_help_and_pause_are_a_key_away(top, client):
    client.start(key="order-7", staleDate=after(MINUTE))
    one = top(wait="^order-7 ")
    one.press("enter")
    one.wait(r'^  contentState +\{"eta":12\}')
    client.applied("activity.update", key="order-7", contentState={"eta": 3}, staleDate=after(HOUR))
    one.wait(r'^  contentState +\{"eta":3\}')
    one.press("e")
    one.wait(r"^1\. .*active")
    one.wait(r"Now it is active")
    one.press("t")
    one.wait("nothing has happened yet")
    client.applied("activity.update", key="order-7", contentState={"eta": 2}, staleDate=after(HOUR))
    one.wait(r'updated .*\{"eta":2\}')
    one.press("escape", "?")
    one.wait("Ctrl-L")
    one.press("q", "p")
    one.wait("PAUSED")
    client.start(key="order-8")
    one.press("3")
    one.wait("there are no controls now")
    one.press("2", "p")
    one.wait("^order-8 ")
    quits(one)


def test_the_selection_stays_on_its_row_and_moves_through_more_than_a_screen(top, client):
    for number in range(40):
        client.start(key=f"order-{number:02}", staleDate=after((number + 1) * MINUTE))
    one = top(wait="showing 40 of 40")
    one.press("end")
    one.wait("^order-39 ")
    one.press("home", "down", "enter")
    one.wait("^order-01  ")
    one.press("escape", "pagedown")
    one.wait(lambda text: "order-00" not in text and "order-15" in text)
    quits(one)


def test_it_follows_the_size_of_the_terminal(top, client):
    client.start(key="order-7")
    one = top(wait="^order-7 ")
    for columns, rows in [(132, 40), (40, 10), (20, 5), (3, 2), (80, 24)]:
        one.resize(columns, rows)
        if rows > 5:
            one.wait("^order-7")
        else:
            one.press("down")
    one.wait(r"^timers .*armed")
    one.wait(lambda text: text.splitlines()[-1].startswith("q quit"))
    quits(one)


@pytest.mark.parametrize("how", ["q", "ctrl-c", signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_the_terminal_is_as_it_was_whatever_ends_it(top, client, how):
    client.start(key="order-7")
    one = top(wait="^order-7 ")
    one.press("t")
    one.wait("Tail of order-7")
    if how == "q":
        one.press("escape", "q")
    elif isinstance(how, str):
        one.press(how)
    else:
        one.process.send_signal(how)
    assert one.ended() == 0
    assert one.is_restored()


def test_it_ends_when_its_terminal_goes(top):
    one = top()
    one.hang_up()
    assert one.process.wait(timeout=30) == 0


def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back(service, client):
    client.start(key="order-7")
    env = {**Islet(service).env, "PS1": "shell$ ", "HISTFILE": "/dev/null"}
    one = Terminal(["bash", "--norc", "--noprofile", "-i"], env)
    try:
        one.wait(r"shell\$")
        one.press(f"{BINARY} top --tab activities --interval 100ms", "enter")
        one.wait("^order-7 ")
        one.press("ctrl-z")
        one.wait("Stopped")
        # Echo and whole lines: the terminal is the shell's.
        one.press("echo a$((40+2))b", "enter")
        one.wait("^a42b")
        one.press("fg", "enter")
        one.wait("^order-7 ")
        client.start(key="order-8")
        one.wait("^order-8 ")
        one.press("q")
        # What is typed before the top has ended is for nobody.
        one.wait(lambda text: "UTC  live" not in text and text.rstrip().endswith("shell$"))
        one.press("echo c$((40+2))d", "enter")
        one.wait("^c42d")
        one.press("exit", "enter")
        one.ended()
    finally:
        one.close()


def test_a_stop_that_nobody_asked_for_is_survived(top, client):
    client.start(key="order-7")
    one = top(wait="^order-7 ")
    os.kill(one.process.pid, signal.SIGSTOP)
    os.kill(one.process.pid, signal.SIGCONT)
    client.start(key="order-8")
    one.wait("^order-8 ")
    quits(one)


def test_a_service_that_goes_away_is_waited_for(terminal, serve, wire, tmp_path):
    urls = {f"--{name}": f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    service = serve(urls)
    Commands(wire, service.commands).start(key="order-7")
    env = environment(ISLET_COMMANDS=urls["--commands"])
    one = terminal("top", "--interval", "100ms", "--tab", "activities", env=env)
    one.wait("^order-7 ")
    service.stop()
    one.wait("NO ANSWER for ")
    assert "order-7" in one.text and "trying again" in one.text
    again = serve(urls)
    Commands(wire, again.commands).start(key="order-8")
    one.wait("^order-8 ")
    one.wait("live$")
    again.stop()
    one.wait("NO ANSWER for ")
    quits(one)


def test_a_tail_goes_on_with_a_service_that_was_away(terminal, serve, wire, tmp_path):
    urls = {f"--{name}": f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    service = serve(urls)
    Commands(wire, service.commands).start(key="order-7")
    one = terminal(
        "top", "--interval", "100ms", "--tab", "activities", env=environment(ISLET_COMMANDS=urls["--commands"]))
    one.wait("^order-7 ")
    one.press("T")
    one.wait("nothing has happened yet")
    service.stop()
    one.wait("NO ANSWER for [6-9] s")  # a reading has failed, and not only begun
    client = Commands(wire, serve(urls).commands)
    client.start(key="order-8")
    one.wait("live$")
    eta = itertools.count()

    def is_told(text):
        # What was before it joined is not shown, and that it has joined is seen by nothing else.
        client.applied("activity.update", key="order-8", contentState={"eta": next(eta)})
        return re.search("Delivery/.*updated", text)

    one.wait(is_told)
    one.press("escape")
    quits(one)


def test_a_service_that_is_not_there_yet_is_waited_for_and_may_be_quit(terminal, tmp_path):
    env = environment(ISLET_COMMANDS=f"ipc://{tmp_path}/nobody")
    one = terminal("top", env=env)
    one.wait("waiting for ipc://")
    one.wait("Is it running")
    quits(one)


def test_text_of_users_commands_no_terminal(top, client):
    hostile = "\x7f\x9b31m\u202e\u2066\u200b" + "Z" + "\u0301" * 50
    client.start(key="order-7", contentState={"note": hostile, "esc": "\x1b[2J"})
    one = top(wait="^order-7 ")
    one.press("enter")
    one.wait(r"^  contentState .*note")
    one.press("t")
    one.wait("nothing has happened yet")
    client.applied("activity.update", key="order-7", contentState={"note": hostile, "n": 2})
    one.wait("updated")
    for bad in ("\x7f", "\x9b", "\u202e", "\u2066", "\u200b", "\u0301" * 5):
        assert bad.encode() not in one.raw
    one.press("escape")
    quits(one)


def test_of_very_many_it_shows_some_and_says_so_and_a_filter_finds_the_others(top, client):
    for first in range(0, 300, 100):
        client.batch(*(
            client.command("activity.start", type="Delivery", attributes={}, contentState={}, key=f"order-{number:03}")
            for number in range(first, first + 100)))
    one = top(wait="showing 200 of 300")
    assert " 2 Activities 300 " in one.text
    one.press("/", "key=order-299", "enter")
    one.wait("^order-299 ")
    one.wait("showing 1 of 1 ")
    one.press("escape", "/", "order-298", "enter")
    one.wait("^order-298 ")
    quits(one)


def test_a_filter_means_what_it_does_in_the_lists(service, client):
    islet = Islet(service, app="")
    for key in ("order-1", "order-12", "order-3"):
        client.start(key=key)

    def shown(text):
        keys = re.findall(r"^order-\d+", islet("top", "--once", "--filter", text).out, re.MULTILINE)
        return sorted(keys)

    for text in ("key=order-1", "key=order-1 and state~act", "key~order-1", "type=Delivery", "not key=order-1",
                 "key='order-12'", "app=com.example", "state=active and key=order-"):
        listed = re.findall(r"\border-\d+", islet("activity", "list", "--filter", text, "-o", "name").out)
        assert shown(text) == sorted(listed), text
    assert shown("key=order-1") == ["order-1"]
    # Words stay words, which the lists do not have.
    assert shown("order-1") == ["order-1", "order-12"] and shown("order- state=active R-3") == ["order-3"]
    for text in ("state=act", "state=act*", "state=", "stat=active"):
        islet("activity", "list", "--filter", text, code=2)
        err = islet("top", "--once", "--filter", text, code=2).err
        assert ("'state'" in err and "stale" in err) or "a value after '='" in err or "no member 'stat'" in err, err


def test_a_value_is_a_beginning_until_it_is_entered(top, client):
    client.start(key="order-1"), client.start(key="order-12")
    one = top(wait="^order-12 ")
    one.press("/", "key=order-1")
    one.wait("/key=order-1")
    one.wait("^order-12 ")
    one.press("enter")
    one.wait("showing 1 of [12] ")
    one.wait(lambda text: re.search("^order-1 ", text, re.MULTILINE) and "order-12 " not in text)
    quits(one)


def test_the_tail_of_all_names_activities_by_their_keys(top, client):
    client.start(key="order-7")
    one = top(wait="^order-7 ")
    one.press("T")
    one.wait("nothing has happened yet")
    client.applied("activity.update", key="order-7", contentState={"eta": 3})
    one.wait("Delivery/order-7 .*updated")
    client.start(key="order-8")
    one.wait("Delivery/order-8 .*started")
    one.press("escape")
    quits(one)


def test_of_very_many_the_next_deadlines_are_shown_whichever_they_are(top, client):
    for first in range(0, 300, 100):
        client.batch(*(
            client.command("activity.start", type="Delivery", attributes={}, contentState={}, key=f"order-{number:03}",
                           staleDate=after((400 - number) * MINUTE))
            for number in range(first, first + 100)))
    one = top(wait="showing 200 of 300")
    # The last one that was started is the next one to go stale, and the list does not reach it.
    lines = [line for line in one.lines if line.startswith("order-")]
    assert [line.split()[0] for line in lines[:3]] == ["order-299", "order-298", "order-297"]
    assert "by next" in one.text and "among these" not in one.text
    one.press("/", "state=active and key~order-00", "enter")
    one.wait("^order-009 ")
    quits(one)


def test_apps_controls_widgets_and_providers_of_the_demo_have_their_tabs(terminal, tmp_path):
    demo = Demo(tmp_path)
    try:
        demo.home(), demo.travel()
        one = terminal("top", "--interval", "100ms", env=demo.env)
        one.wait("nothing fails|^(critical|warning|notice) ")
        one.press("tab")
        one.wait("^order-101 ")
        one.press("3")
        one.wait("^GarageDoor/.*phone-1 .*shown .*closed")
        one.press("4")
        one.wait("^Flight/.*shown")
        one.press("enter")
        one.wait("^  family ")
        one.press("end")
        one.wait("RELOADS")
        one.press("escape", "5")
        one.wait(r"com.example.tr.* live")
        one.press("enter")
        one.wait("capacity")
        one.press("escape", "6")
        one.wait("there are no subscribers now|does not list its subscribers")
        one.press("tab", "tab")
        one.wait("^order-101 ")
        quits(one)
    finally:
        demo.close()


def test_no_color_has_weight_but_no_colours(top, client):
    client.start(key="order-7")
    one = top("--tab", "activities", wait="^order-7 ", more={"NO_COLOR": "1"}.items())
    assert not COLOUR.search(one.raw)
    assert b"\x1b[1m" in one.raw
    quits(one)
    other = top(wait="^order-7 ")
    assert COLOUR.search(other.raw)
    quits(other)


@pytest.mark.parametrize("kind", ["dumb", "pipe"])
def test_without_a_terminal_it_writes_a_line_of_figures_for_each_interval(terminal, service, client, kind):
    client.start(key="order-7", staleDate=after(MINUTE))
    env = Islet(service).env
    if kind == "dumb":
        one = terminal("top", "--interval", "100ms", env={**env, "TERM": "dumb"}, columns=140)
        one.wait(lambda text: len(re.findall(r"^00:00:00 ", text, re.M)) >= 3)
        assert b"\x1b" not in one.raw
        lines = one.lines
        one.press("ctrl-c")
        assert one.ended() == 0
    else:
        process = Running("top", "--interval", "100ms", env=env)
        lines = process.lines(4)
        assert process.end() == 0
    head, first = (line.split() for line in lines[:2])
    assert head[:6] == ["TIME", "CMD/s", "REFUSED", "EVT/s", "ACTIVE", "STALE"]
    assert len(first) == len(head)
    assert dict(zip(head, first))["ACTIVE"] == "1" and dict(zip(head, first))["TIMERS"] == "1"


def test_lines_say_that_a_service_went_and_came_back(serve, tmp_path):
    urls = {f"--{name}": f"ipc://{tmp_path}/{name}" for name in ("commands", "events", "bulk")}
    service = serve(urls)
    process = Running("top", "--interval", "100ms", env=environment(ISLET_COMMANDS=urls["--commands"]))
    try:
        process.lines(2)
        service.stop()
        process.message("^no answer from ipc://.*; trying again$")
        serve(urls)
        process.message("answers again$")
        process.lines(len(process.data) + 2)
        assert process.end() == 0
    finally:
        process.kill()


def test_once_writes_the_screen_as_text(service, client):
    client.start(key="order-7", staleDate=after(MINUTE))
    islet = Islet(service)
    out = islet("top", "--once", "--tab", "activities", "--interval", "100ms").out
    assert "\x1b" not in out
    assert re.search(r"^order-7 .* active .* stale in 1 m", out, re.M)
    assert "showing 1 of 1" in out
    assert islet("top", "--once", "--filter", "state=stale").out.count("order-7") == 0
    assert islet.on_a_terminal("top", "--once").startswith("\x1b[1mislet top")


def start_many(client, apps, key=None):
    """An activity in each of these apps, with the same key."""
    named = {} if key is None else {"key": key}
    for index in range(0, len(apps), 200):
        answers = client.batch(*(
            {"op": "activity.start", "req": f"start.{app}", "app": app, "type": "Order", "attributes": {}, "contentState": {},
             **named}
            for app in apps[index:index + 200]))
        assert all(answer["ok"] for answer in answers)


def test_what_fits_is_found_in_each_of_many_apps(service, client):
    start_many(client, [f"com.team.app{number:03}" for number in range(150)], key="order-1")
    client.applied("activity.update", app="com.team.app149", key="order-1", contentState={}, staleDate=after(-MINUTE))
    islet = Islet(service, app="")
    out = islet("top", "--once", "--interval", "100ms", "--filter", "state=stale").out
    assert re.search(r"^order-1 .* stale .* com.team.app149", out, re.M) and out.endswith("showing 1 of 1\n")
    assert islet("top", "--once", "--tab", "activities", "--interval", "100ms").out.endswith("showing 150 of 150\n")


def test_apps_that_were_not_asked_are_told(service, client):
    # Each list looks at all of the service's activities, so that of very many not all apps are asked.
    start_many(client, [f"com.team.app{number:03}" for number in range(600)], key="order-1")
    start_many(client, ["com.team.app000"] * 14_000)
    client.applied("activity.update", app="com.team.app599", key="order-1", contentState={}, staleDate=after(-MINUTE))
    out = Islet(service, app="")("top", "--once", "--interval", "100ms", "--filter", "state=stale").out
    asked = (8 << 20) // 14_600
    assert f"the {asked} apps that were asked have no activities that fit the filter" in out
    assert re.search(f"showing 0 of (about )?0 · {600 - asked} more apps not asked: name one with app=…\n$", out)


def test_once_of_a_service_that_is_not_there_fails_with_5(tmp_path):
    done = run("top", "--once", "--timeout", "300ms", env=environment(ISLET_COMMANDS=f"ipc://{tmp_path}/nobody"))
    assert done.returncode == 5 and "is the service running?" in done.stderr


class OlderService:
    """A service without stats, which has two activities and answers nothing else."""

    def __init__(self, wire, url):
        self.zmq = wire.zmq
        self.socket = wire.context.socket(self.zmq.ROUTER)
        self.socket.bind(url)
        self.asked = set()
        self.stopping = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopping:
            if not self.socket.poll(50):
                continue
            peer, *frames = self.socket.recv_multipart()
            self.socket.send_multipart([peer, *(json.dumps(self.answer(json.loads(f))).encode() for f in frames)])

    def answer(self, command):
        self.asked.add(command["op"])
        base = {"req": command["req"], "ok": True}
        match command["op"]:
            case "service.info":
                return {**base, "info": {
                    "version": "0.0.9", "guarantee": "full", "clock": {"kind": "system", "now": after(0)},
                    "uptime": 5000, "entities": {"active": 2}, "timers": 7, "commands": 12, "events": 9,
                    "lateness": {"count": 3, "p50": 0, "p99": 4, "p999": 4, "max": 5}, "providers": 0}}
            case "activity.list":
                rows = [{"id": f"0-{n}", "app": command["app"], "type": "Old", "key": f"old-{n}", "state": "active",
                         "revision": 1} for n in (1, 2)]
                return {**base, "activities": rows, "total": 2, "exact": True}
        error = {"code": "unknownOp", "message": "there is no such op", "retry": "never"}
        return {"req": command["req"], "ok": False, "error": error}

    def stop(self):
        self.stopping = True
        self.thread.join()
        self.socket.close(0)


def test_a_service_without_stats_is_shown_by_what_it_says(terminal, wire, tmp_path):
    older = OlderService(wire, f"ipc://{tmp_path}/old")
    try:
        env = environment(ISLET_COMMANDS=f"ipc://{tmp_path}/old", ISLET_APP="com.example.old")
        one = terminal("top", "--interval", "100ms", env=env, columns=160)
        one.wait("this service does not list its problems")
        one.press("2")
        one.wait("^old-2 ")
        assert re.search(r"^timers +7 armed +lateness p50 0 p99 4 max 5 ms", one.text, re.M)
        assert "0.0.9" in one.text and "service.stats" in older.asked
        one.press("6")
        one.wait("this service does not list its subscribers")
        one.press("3")
        one.wait("there are no controls now|no controls")
        quits(one)
    finally:
        older.stop()

"""What the command writes: lost output is a failure, a reader who goes is none, and no terminal obeys what is shown."""

import fcntl
import json
import os
import pty
import re
import signal
import subprocess

import pytest

from support.cli import Islet
from support.service import BINARY, environment, run
from support.wire import DEADLINE, Deadline


@pytest.fixture
def islet(service):
    return Islet(service)


def into(path, islet, *words, **options):
    """Runs the command with its data on a file; its exit code and its messages."""
    with open(path, "wb") as out:
        done = subprocess.run(
            [islet.program, *words], env=islet.env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
            text=True, timeout=DEADLINE, **options)
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [
    ["activity", "list", "--json"], ["info"], ["stats"], ["completions", "bash"], ["rules"], ["--help"], ["--version"],
    ["activity", "list", "--help"], ["serve", "--check-config", "--store", "memory"],
    ["tail", "--json", "--since", "1h", "--limit", "1"],
], ids=" ".join)
def test_data_that_cannot_be_written_is_a_failure(islet, client, words):
    client.start(key="order-1")
    code, err = into("/dev/full", islet, *words)
    assert code == 1 and "cannot write to standard output: No space left on device" in err


@pytest.mark.parametrize("words, made", [
    (["activity", "update", "order-1", "--state", '{"eta":1}'], "updated order-1"),
    (["activity", "end", "order-1", "--json"], "ended order-1"),
    (["device", "lock", "--device", "phone"], "phone: lock"),
], ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_a_change_that_cannot_be_told_on_standard_output_is_told_on_the_other(islet, client, words, made):
    client.start(key="order-1")
    code, err = into("/dev/full", islet, *words)
    assert code == 1
    assert err == f"cannot write to standard output: No space left on device; the change was made: {made}\n"


def test_a_start_that_updates_says_so(islet, client):
    words = ["activity", "start", "o1", "--type", "Order", "--or-update", "--state"]
    assert islet(*words, '{"n":1}').out.startswith("started o1: active, revision 1")
    assert islet(*words, '{"n":2}').out.startswith("updated o1: active, revision 2")


def test_what_changed_nothing_is_no_change_that_was_made(islet, client):
    client.start(key="order-1")
    islet("activity", "end", "order-1")
    code, err = into("/dev/full", islet, "activity", "update", "order-1", "--state", '{"eta":1}', "--json")
    assert code == 1 and "the change was made" not in err


def test_a_check_whose_words_are_lost_is_unknown(islet):
    code, err = into("/dev/full", islet, "check")
    assert code == 3 and "No space left on device" in err


def test_a_dump_that_is_lost_is_a_failure(serve, tmp_path):
    service = serve({"--store": "sqlite", "--data": tmp_path / "data"})
    islet = Islet(service)
    islet("activity", "start", "order-1", "--type", "T", "--state", "{}")
    service.stop()
    code, err = into("/dev/full", islet, "journal", "dump", "--data", str(tmp_path / "data"))
    assert code == 1 and "cannot write to standard output: No space left on device" in err


def test_a_tail_ends_without_a_word_when_its_reader_has_gone(islet, client):
    process = subprocess.Popen(
        [islet.program, "tail", "--json"], env=islet.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    try:
        assert "following" in process.stderr.readline()
        process.stdout.close()
        deadline = Deadline(DEADLINE)
        while process.poll() is None and not deadline.passed:
            client.start()
        assert process.poll() is not None, "it runs on"
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()


def test_a_pipe_that_takes_nothing_now_is_waited_for_without_work(islet, client):
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4_096)
    for number in range(12):
        client.start(key=f"order-{number}", contentState={"text": "x" * 3_000})
    process = subprocess.Popen(
        [islet.program, "activity", "list", "--json"], env=islet.env, stdin=subprocess.DEVNULL, stdout=writer)
    os.close(writer)
    try:
        # It comes to a halt at a full pipe: asleep, and not at work.
        deadline = Deadline(DEADLINE)
        while True:
            status = dict(line.split(":\t", 1) for line in open(f"/proc/{process.pid}/status") if ":\t" in line)
            waits = all(
                open(f"/proc/{process.pid}/task/{task}/stat").read().rpartition(")")[2].split()[0] == "S"
                for task in os.listdir(f"/proc/{process.pid}/task"))
            before = cpu(process.pid)
            if waits and status["State"].startswith("S") and is_full(reader) and all(
                    cpu(process.pid) == before for _ in range(20_000)):
                break
            assert not deadline.passed, "it never rests"
        text = b""
        while piece := os.read(reader, 65_536):
            text += piece
        assert len(text.splitlines()) == 12
        assert process.wait(timeout=DEADLINE) == 0
    finally:
        os.close(reader)
        process.kill()
        process.wait()


def is_full(reader):
    """Whether a pipe of one page has nearly all that fits."""
    waiting = bytearray(4)
    fcntl.ioctl(reader, 0x541B, waiting)
    return int.from_bytes(waiting, "little") > 0


def cpu(pid):
    """The ticks of processor time that a process has had."""
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_json_on_a_terminal_has_no_character_that_the_terminal_obeys(islet, client):
    evil = "a\u009b31mred\u009d0;title\u0007\u202eflipped\u2028 \U000e0001 \u200d \u00e9"
    client.start(key="order-1", contentState={"text": evil})
    shown = islet.on_a_terminal("activity", "get", "order-1", "--json")
    assert not [each for each in shown if 0x7F <= ord(each) < 0xA0 or each in "\u202e\u2028\U000e0001"]
    assert json.loads(shown)["contentState"]["text"] == evil
    assert "\u200d \u00e9" in shown
    # Programs get every byte as it is.
    assert "\u009b31m" in islet("activity", "get", "order-1", "--json").out


@pytest.mark.parametrize("words, words_of_it", [
    (["nonsense", "--help"], "islet has no subcommand 'nonsense'"),
    (["activity", "lst", "-h"], "islet activity has no subcommand 'lst'; did you mean list?"),
    (["help", "nonsense"], "islet has no subcommand 'nonsense'"),
    (["help", "activity", "lst"], "islet activity has no subcommand 'lst'"),
])
def test_help_on_what_there_is_not_is_wrong_usage(words, words_of_it):
    done = run(*words)
    assert done.returncode == 2 and words_of_it in done.stderr and done.stdout == ""


@pytest.mark.parametrize("word, meant", [("foo", None), ("xyz", None), ("tpo", "top"), ("tp", "top"), ("tial", "tail"),
                                         ("stat", "stats"), ("explane", "explain"), ("docter", "doctor")])
def test_a_short_word_is_close_to_one_that_differs_in_a_letter_or_their_order(word, meant):
    done = run(word)
    assert done.returncode == 2
    assert ("did you mean" in done.stderr) == (meant is not None)
    assert meant is None or f"did you mean {meant}?" in done.stderr


@pytest.mark.parametrize("words", [["help"], ["help", "activity", "list"], ["activity", "list", "--help"], ["-h"]])
def test_help_on_what_there_is_is_data(words):
    done = run(*words)
    assert done.returncode == 0 and "USAGE:" in done.stdout and done.stderr == ""


# Help


def commands(dump, words=()):
    """The words of each command, and what is said of it."""
    yield words, dump
    for each in dump.get("subcommands", []):
        if each["commandName"] != "help":
            yield from commands(each, (*words, each["commandName"]))


def test_help_fits_a_terminal_of_80_columns_and_says_of_what_it_speaks():
    dump = json.loads(run("--experimental-dump-help").stdout)["command"]
    found = dict(commands(dump))
    assert len(found) > 100
    for words, command in found.items():
        help = run(*words, "--help").stdout
        assert [line for line in help.splitlines() if len(line) > 80] == [], words
        assert "  USAGE" not in help and help.count("USAGE: ") == 1, words
        abstract = command["abstract"]
        # In the list above it nobody knows what "it" is.
        assert not re.match(r"(\w+ ){1,2}(all of |that |why )?(it|its|them|those)\b", abstract), (words, abstract)
        if len(words) == 1:
            assert len(abstract) <= 53, (words, abstract)  # a line in that list
    assert "USAGE: islet group set [<options>] <group> <key> <json>\n" in run("group", "set", "--help").stdout
    usage = [line for line in run("group", "set", "g", "--bogus").stderr.splitlines() if line.startswith("Usage: ")]
    assert usage == ["Usage: islet group set [<options>] <group> <key> <json>"]

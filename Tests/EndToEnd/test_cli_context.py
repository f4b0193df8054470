"""Names for services: what is kept, how, and what stands over what."""

import concurrent.futures
import json
import os
import re
import stat

import pytest

from support.cli import Finished
from support.commands import Commands
from support.service import environment, run
from support.wire import DEADLINE


@pytest.fixture
def islet(tmp_path):
    """The command with a configuration directory of its own, and no service named by the environment."""
    def call(*words, code=0, **env):
        done = run(*words, env=environment(XDG_CONFIG_HOME=str(tmp_path), **env), seconds=DEADLINE * 2)
        assert done.returncode == code, f"{words}: ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return Finished(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def file(tmp_path):
    return tmp_path / "islet" / "contexts.json"


def test_a_context_names_a_service_and_an_app(islet, service, client):
    client.start(key="order-7")
    islet("context", "add", "shop", "--commands", service.commands, "--app", "com.example.pizza", "--use")
    assert islet("activity", "get", "order-7", "--json").json[0]["key"] == "order-7"
    assert islet("activity", "list", "-o", "name").out == "order-7\n"


def test_flags_stand_over_the_environment_and_that_over_the_context_in_use(islet, service):
    nobody, url = "tcp://127.0.0.1:9", service.commands
    quickly = ("info", "--timeout", "300ms")
    islet("context", "add", "here", "--commands", url)
    islet("context", "add", "nowhere", "--commands", nobody)
    islet(*quickly, "--context", "here")
    islet(*quickly, ISLET_CONTEXT="here")
    islet("context", "use", "nowhere")
    assert nobody in islet(*quickly, code=5).err
    islet(*quickly, "--context", "here")
    islet(*quickly, "--context", "here", ISLET_CONTEXT="nowhere")
    islet(*quickly, ISLET_COMMANDS=url)
    assert nobody in islet(*quickly, "--commands", nobody, code=5, ISLET_COMMANDS=url).err
    assert nobody in islet(*quickly, code=5, ISLET_COMMANDS=nobody, ISLET_CONTEXT="here").err
    islet(*quickly, "--context", "here", ISLET_COMMANDS=nobody)
    assert nobody in islet(*quickly, "--context", "nowhere", code=5, ISLET_COMMANDS=url).err
    assert nobody in islet(*quickly, "--context", "here", "--commands", nobody, code=5, ISLET_COMMANDS=url).err


def test_a_context_that_is_named_stands_over_the_environment_in_all_that_it_says(islet, service, client):
    client.start(key="order-7")
    nobody = "tcp://127.0.0.1:9"
    env = {"ISLET_COMMANDS": nobody, "ISLET_EVENTS": nobody, "ISLET_BULK": nobody, "ISLET_APP": "com.example.other"}
    islet("context", "add", "here", "--commands", service.commands)
    islet("context", "add", "shop", "--commands", service.commands, "--events", service.events, "--bulk", service.bulk,
          "--app", client.app)
    listed = ("activity", "list", "-o", "name")
    assert islet(*listed, "--context", "shop", **env).out == "order-7\n"
    assert islet(*listed, "--context", "here", **env).out == "", "what the context does not say, the environment does"
    assert islet(*listed, "--context", "shop", "--app", "com.example.other", **env).out == ""
    # An environment that names streams alone names those of the service that is meant without options.
    nowhere = {"ISLET_EVENTS": nobody, "ISLET_BULK": nobody}
    for words in (["--context", "here"], ["--commands", service.commands]):
        assert client.app in islet("apps", "--timeout", "5s", *words, **nowhere).out, words
    islet("context", "use", "shop")
    assert islet(*listed, **env | {"ISLET_COMMANDS": service.commands}).out == "", "one that is only in use does not"
    # Streams are those of the service that commands go to.
    for words in (["--context", "here"], ["--context", "shop"], ["--commands", service.commands]):
        assert client.app in islet("apps", "--timeout", "5s", *words, **env).out, words
    assert nobody in islet("apps", "--timeout", "300ms", code=5, **nowhere).err, "in the context in use they do hold"


def test_a_scenario_plays_against_the_context_that_is_named(islet, serve, wire, tmp_path):
    """Wherever the environment points: a clock that is moved does not go back."""
    named, other = serve({"--clock": "manual"}), serve({"--clock": "manual"})
    path = tmp_path / "s.yaml"
    path.write_text("name: an hour\napp: com.example.pizza\nsteps:\n  - start: order-1\n  - advance: 1h\n")
    islet("context", "add", "bench", "--commands", named.commands)
    islet("context", "add", "shop", "--app", "com.example.pizza")
    env = {"ISLET_COMMANDS": other.commands, "ISLET_EVENTS": other.events, "ISLET_BULK": other.bulk}
    before = [Commands(wire, each.commands).read("service.ping")["now"] for each in (named, other)]
    islet("scenario", "run", path, "--context", "bench", **env)
    for name in ("shop", "default"):
        said = islet("scenario", "run", path, "--context", name, code=2, **env).err
        assert f"the context '{name}' does not say where commands go" in said
    after = [Commands(wire, each.commands).read("service.ping")["now"] for each in (named, other)]
    assert (after[0] - before[0], after[1] - before[1]) == (3_600_000, 0)
    assert [row["key"] for row in Commands(wire, named.commands, "com.example.pizza").list()] == ["order-1"]


def test_the_timeout_of_a_context_holds_where_none_is_named(islet):
    islet("context", "add", "nowhere", "--commands", "tcp://127.0.0.1:9", "--timeout", "200ms")
    assert "0.2 s" in islet("info", "--context", "nowhere", code=5).err
    assert "0.4 s" in islet("info", "--context", "nowhere", "--timeout", "400ms", code=5).err


def test_the_file_is_for_nobody_else(islet, file):
    islet("context", "add", "shop", "--app", "com.example.shop")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert os.listdir(file.parent) == ["contexts.json"], "nothing is left beside it"
    islet("context", "use", "shop")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == {
        "format": 1, "current": "shop", "contexts": {"shop": {"app": "com.example.shop"}}}


def test_a_life_of_contexts(islet, file):
    assert islet("context", "list").out == ""
    islet("context", "add", "shop", "--app", "com.example.shop")
    islet("context", "add", "other", "--commands", "tcp://127.0.0.1:1", "--use")
    islet("context", "add", "shop", "--timeout", "2s")
    assert [row["name"] for row in islet("context", "list", "--json").json if row["current"]] == ["other"]
    assert islet("context", "list", "-o", "name").out.split() == ["shop", "other"]
    assert islet("context", "show", "--json").json == [{"commands": "tcp://127.0.0.1:1"}]
    assert islet("context", "show", "shop", "--json").json == [{"app": "com.example.shop", "timeout": "2000ms"}]
    assert re.search(r"^\*  +other", islet("context", "list").out, re.MULTILINE)
    assert "no context is used now" in islet("context", "remove", "other").out
    islet("context", "remove", "other", code=3)
    islet("context", "use", "default")
    assert "defaults hold" in islet("context", "show").err


def test_what_gives_access_is_masked_unless_it_is_asked_for(islet, file):
    islet("context", "add", "shop", "--commands", "tcp://me:hush@127.0.0.1:1")
    book = json.loads(file.read_text())
    book["contexts"]["shop"]["token"] = "abc123"
    file.write_text(json.dumps(book))
    for words in (("show", "shop"), ("show", "shop", "--json"), ("list",), ("list", "--json")):
        shown = islet("context", *words).out
        assert "abc123" not in shown and "hush" not in shown, words
    shown = islet("context", "show", "shop", "--show-secrets").out
    assert "abc123" in shown and "hush" in shown
    islet("context", "add", "shop", "--app", "a")
    assert json.loads(file.read_text())["contexts"]["shop"]["token"] == "abc123", "what is not known is kept"


def test_a_misspelt_context_is_wrong_usage_and_what_is_meant_is_named(islet):
    islet("context", "add", "shop")
    for words in (("info", "--context", "shup"), ("context", "use", "shup"), ("context", "show", "shup")):
        assert "did you mean shop?" in islet(*words, code=2).err
    assert "did you mean shop?" in islet("info", code=2, ISLET_CONTEXT="shup").err
    islet("context", "add", "a b", code=2)
    islet("context", "add", "default", code=2)


@pytest.mark.parametrize("text, words", [
    ("nonsense", "no JSON"), ('{"format":1,"contexts":{"a":{"commands":1}}}', "contexts.a.commands"),
    ('{"format":9}', "newer"),
])
def test_a_file_that_cannot_be_read_is_named_and_kept(islet, file, text, words):
    file.parent.mkdir()
    file.write_text(text)
    for command in (("info",), ("context", "list"), ("context", "add", "x")):
        done = islet(*command, code=2)
        assert str(file) in done.err and words in done.err
    assert file.read_text() == text
    assert "no answer" in islet(
        "info", "--context", "default", "--commands", "tcp://127.0.0.1:9", "--timeout", "100ms", code=5).err


def test_a_place_that_cannot_be_written_is_said(islet, tmp_path):
    (tmp_path / "islet").write_text("a file")
    assert "islet" in islet("context", "add", "x", code=1).err


def test_many_that_change_the_contexts_at_once_lose_nothing(islet, file):
    names = [f"c{number}" for number in range(12)]
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        for _ in pool.map(lambda name: islet("context", "add", name, "--commands", "tcp://127.0.0.1:1"), names):
            pass
    assert set(json.loads(file.read_text())["contexts"]) == set(names)
    assert {each.name for each in file.parent.iterdir()} == {file.name}


@pytest.mark.parametrize("words, complaint", [
    (["--commands", "foo"], "--commands is tcp://HOST:PORT or ipc://PATH, and not 'foo'"),
    (["--commands", "tcp://127.0.0.1"], "--commands is"), (["--events", "tcp://127.0.0.1:0"], "--events is"),
    (["--bulk", "tcp://127.0.0.1:65536"], "--bulk is"), (["--commands", "ipc://"], "--commands is"),
    (["--commands", "tcp://:7411"], "--commands is"), (["--app", "no good!"], "--app is a bundle id"),
    (["--app", ""], "--app is a bundle id"), (["--app", "a" * 101], "--app is a bundle id"),
])
def test_a_context_names_only_what_there_can_be(islet, file, words, complaint):
    assert complaint in islet("context", "add", "shop", *words, code=2).err
    assert not file.exists()


def test_a_file_behind_a_link_is_written_and_the_link_stays(islet, file, tmp_path):
    kept = tmp_path / "dotfiles" / "contexts.json"
    kept.parent.mkdir()
    kept.write_text('{"format":1,"contexts":{"old":{}}}')
    file.parent.mkdir()
    file.symlink_to(kept)
    islet("context", "add", "shop", "--commands", "ipc:///run/islet/commands")
    assert file.is_symlink() and set(json.loads(kept.read_text())["contexts"]) == {"old", "shop"}
    assert {each.name for each in kept.parent.iterdir()} == {kept.name}
    kept.unlink()
    islet("context", "add", "shop", code=1)
    assert file.is_symlink()


def test_what_is_suggested_names_the_service_as_it_was_named(islet, service):
    islet("context", "add", "shop", "--commands", service.commands)
    start = ["activity", "start", "--type", "T", "--state", "{}"]
    place = {"--context": "shop", "--events": service.events, "--bulk": service.bulk}
    words = [word for pair in place.items() for word in pair]
    suggested = [line for line in islet(*start, "k", *words, "--app", "com.example.pizza").err.splitlines() if "islet" in line]
    assert len(suggested) == 4 and all(line.endswith(" " + " ".join(words)) for line in suggested), suggested
    named = islet("activity", "at", "2100-01-01", "k", "--commands", service.commands, "--app", "com.example.pizza", code=2).err
    assert f"explain k --app com.example.pizza --commands {service.commands}`" in named


def test_no_time_at_all_is_no_timeout(islet, service):
    for words in (["info"], ["wait", "order-7", "--for", "ended"]):
        done = islet(*words, "--timeout", "0s", "--commands", service.commands, code=2)
        assert "--timeout must be longer than 0 s" in done.err

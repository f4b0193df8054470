"""The completion of the shells: what each script offers, and that bash, given the script, offers names of the service."""

import shutil
import subprocess

import pytest

from support.cli import Islet
from support.dates import HOUR, after
from support.service import BINARY, environment, run
from support.wire import DEADLINE


@pytest.fixture
def islet(service):
    return Islet(service)


@pytest.fixture
def shell(islet, tmp_path):
    """Asks a real bash, which has read the script, what it offers for a line."""
    (tmp_path / "script").write_text(run("completions", "bash").stdout)
    (tmp_path / "islet").symlink_to(BINARY)

    def offers(*words, **env):
        quoted = " ".join(f"'{word}'" for word in words)
        line = " ".join(words)
        program = f"""
            source {tmp_path}/script
            COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1} COMP_LINE='{line}' COMP_POINT={len(line)} COMP_TYPE=9
            function=$(complete -p islet | sed 's/.*-F \\([^ ]*\\).*/\\1/')
            "$function" islet '{words[-1]}' '{words[-2]}'
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(
            ["bash", "--norc", "-c", program], env={**islet.env, "PATH": f"{tmp_path}:/usr/bin:/bin", **env},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE)
        assert done.returncode == 0, done.stderr
        return {word.strip() for word in done.stdout.split("\n")} - {""}

    return offers


def start(client, **fields):
    client.start(**fields)


def test_bash_offers_subcommands_and_options(shell):
    assert {"activity", "control", "context", "completions", "tail"} <= shell("islet", "")
    assert shell("islet", "act") == {"activity"}
    assert {"start", "end", "list"} <= shell("islet", "activity", "")
    assert {"--filter", "--limit", "--json", "--context"} <= shell("islet", "activity", "list", "--")
    assert {"stale", "active"} <= shell("islet", "activity", "list", "--state", "")


def test_bash_offers_the_keys_of_the_service(shell, client):
    for key in ("order-7", "order-8", "shift-1"):
        start(client, key=key)
    assert shell("islet", "activity", "get", "") >= {"order-7", "order-8", "shift-1"}
    assert shell("islet", "activity", "end", "ord") == {"order-7", "order-8"}
    assert shell("islet", "wait", "shi") == {"shift-1"}


def test_bash_offers_devices_apps_and_topics(shell, client):
    start(client, key="a", device="phone-1", staleDate=after(HOUR))
    assert "phone-1" in shell("islet", "activity", "list", "--device", "")
    assert "com.example.pizza" in shell("islet", "activity", "list", "--app", "com")
    assert "com.example.pizza/" in shell("islet", "tail", "com")


def test_the_line_says_which_app_and_which_service(shell, service, client):
    start(client, key="order-7")
    assert shell("islet", "activity", "get", "--app", "com.example.other", "order") == set()
    nobody = {"ISLET_COMMANDS": "tcp://127.0.0.1:9"}
    assert shell("islet", "activity", "get", "order", **nobody) == set()
    assert shell("islet", "activity", "get", "--commands", service.commands, "order", **nobody) == {"order-7"}


def test_bash_offers_contexts(shell, tmp_path):
    config = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert run("context", "add", "shop", "--app", "a", env=environment(**config)).returncode == 0
    assert shell("islet", "context", "use", "", **config) == {"shop", "default"}
    assert shell("islet", "info", "--context", "sh", **config) == {"shop"}


@pytest.mark.parametrize("name, mark", [("zsh", "#compdef islet"), ("fish", "complete -c 'islet'")])
def test_the_other_shells_have_scripts(name, mark, tmp_path):
    script = run("completions", name).stdout
    assert mark in script and "---completion" in script
    if shutil.which(name):
        (tmp_path / "script").write_text(script)
        subprocess.run([name, "-n", tmp_path / "script"], check=True, timeout=DEADLINE)


def test_an_unknown_shell_is_wrong_usage():
    done = run("completions", "tcsh")
    assert done.returncode == 2 and "bash" in done.stderr

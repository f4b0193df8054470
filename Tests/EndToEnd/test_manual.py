"""Man pages are made from the help: one for each subcommand, whole, and without anything that a formatter warns of."""

import json
import re
import runpy
import subprocess

import pytest

from support.service import ROOT, run


MANUAL = runpy.run_path(str(ROOT / "scripts" / "manual"))


@pytest.fixture(scope="module")
def dump():
    """The command as its parser describes it."""
    return json.loads(run("--experimental-dump-help", seconds=60).stdout)


@pytest.fixture(scope="module")
def command(dump):
    return dump["command"]


@pytest.fixture(scope="module")
def folder(dump, tmp_path_factory):
    """All pages. That the script writes the same is shown where it makes those of the package."""
    made = tmp_path_factory.mktemp("man")
    pages = list(MANUAL["pages"](dump, "islet 0.1.0", "2026-01-01"))
    for page in pages:
        (made / f"{page.name}.1").write_text(page.text([other.name for other in pages]))
    return made


def shown(page, width=80):
    """The page as a person reads it."""
    done = subprocess.run(
        ["mandoc", "-T", "utf8", "-O", f"width={width}", page], capture_output=True, text=True, timeout=60, check=True)
    # Bold and underlined letters are written twice.
    return re.sub(r".\x08", "", done.stdout)


def test_each_subcommand_has_a_page(folder, command):
    names = [each["commandName"] for each in command["subcommands"] if each["commandName"] != "help"]
    assert {page.name for page in folder.iterdir()} == {"islet.1"} | {f"islet-{name}.1" for name in names}


def test_no_formatter_warns(folder):
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", *sorted(folder.iterdir())], capture_output=True, text=True, timeout=60)
    assert done.stdout == "" and done.returncode == 0, done.stdout


def walk(path, command):
    """The command and all below it, each with its path."""
    yield path, command
    for child in command.get("subcommands", []):
        if child["commandName"] != "help":
            yield from walk([*path, child["commandName"]], child)


def test_every_option_and_every_line_of_the_help_is_there(folder, command):
    # Wide enough that no line is broken.
    pages = {page.stem: " ".join(shown(page, width=1000).split()) for page in folder.iterdir()}
    lines = 0
    for path, each in walk(["islet"], command):
        page = pages["-".join(path[:2])]
        said = [each["abstract"].removesuffix(".")]
        # The headings are spelled in another way.
        said += [line for line in (each.get("discussion") or "").splitlines() if not re.fullmatch("[A-Z ]+:", line)]
        for argument in each["arguments"]:
            if argument.get("preferredName", {}).get("name") not in ("help", "version"):
                said.append(argument.get("abstract", ""))
                said += ["--" + name["name"] for name in argument.get("names", []) if name["kind"] == "long"]
        for line in said:
            assert " ".join(line.split()) in page, path
        lines += len(said)
    assert lines > 500


def test_a_page_has_its_sections_in_their_order(folder):
    headings = re.findall(r"^([A-Z][A-Z ]+)$", shown(folder / "islet.1"), re.MULTILINE)
    wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXAMPLES", "ENVIRONMENT", "EXIT STATUS", "SEE ALSO"]
    assert [heading for heading in headings if heading in wanted] == wanted


def test_examples_stand_as_they_are_typed(folder):
    lines = [line.strip() for line in shown(folder / "islet-activity.1").splitlines()]
    assert "islet activity start order-7 --type Delivery \\" in lines
    assert "--state '{\"eta\":12}' --stale-in 30s" in lines


def test_what_most_commands_share_is_said_once(folder):
    text = shown(folder / "islet-activity.1")
    common = text[text.index("COMMON OPTIONS"):]
    assert text.count("Where commands go") == common.count("Where commands go") == 1

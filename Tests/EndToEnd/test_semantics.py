"""docs/semantics.md is what scripts/semantics makes of the rules of the program."""
import json
import subprocess
import sys

from support.service import BINARY, ROOT


def test_the_page_of_the_rules_is_what_the_program_says(tmp_path):
    made = tmp_path / "semantics.md"
    subprocess.run([sys.executable, ROOT / "scripts" / "semantics", BINARY, made], check=True)
    assert made.read_text() == (ROOT / "docs" / "semantics.md").read_text(), \
        "run scripts/semantics .build/release/islet docs/semantics.md"


def test_the_page_has_each_rule_once():
    shown = subprocess.run([BINARY, "rules", "--json"], check=True, capture_output=True, text=True).stdout
    page = (ROOT / "docs" / "semantics.md").read_text()
    for rule in map(json.loads, shown.splitlines()):
        assert page.count(rule["detail"]) == 1, rule["name"]

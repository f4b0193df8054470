"""The deliberate faults of Tests/Mutants still fit the code that they break; `scripts/mutants` lets the tests find them."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_all_patches_still_apply():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "mutants", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[0]) >= 34


def test_documents_speak_of_the_patches_that_there_are():
    folder = ROOT / "Tests" / "Mutants"
    patches = {path.name for path in folder.glob("*.patch")}
    rows = re.findall(r"^\| \d+ \| `([^`]+)` ", (folder / "KILLERS.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(patches)
    [killed] = re.findall(r"^\| \| killed \| (.*) \|$", (ROOT / "RELIABILITY.md").read_text(), re.MULTILINE)
    assert killed == f"{len(patches)} of {len(patches)}"

"""The deliberate faults of Tests/Mutants still fit the code that they break; `scripts/mutants` lets the tests find them."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_all_patches_still_apply():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "mutants", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[0]) >= 34

"""Prometheus' own judge of metrics and rules."""

import shutil
import subprocess

from .service import ROOT
from .wire import DEADLINE


def promtool(*words, text=None):
    """Runs promtool, with `text` as its standard input; fails where it finds anything wrong. Gives what it wrote."""
    program = shutil.which("promtool") or ROOT / ".build" / "tools" / "promtool"
    done = subprocess.run(
        [str(program), *map(str, words)], input=text, capture_output=True, text=True, timeout=2 * DEADLINE)
    assert done.returncode == 0, f"promtool {words}: ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr

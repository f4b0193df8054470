"""Libraries that a service loads before the C library, so that calls of the system do what a test wants."""

import pathlib
import shutil
import subprocess

import pytest

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def preloaded(folder, name):
    """Compiles a source of this folder; gives the library."""
    made = folder / f"{name}.so"
    source = pathlib.Path(__file__).with_name(f"{name}.c")
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", made, source], check=True)
    return made

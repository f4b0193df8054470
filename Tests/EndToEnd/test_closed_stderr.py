"""A service whose standard error nobody reads any more goes on."""

import subprocess

from support.service import BINARY, FREE_PORTS, arguments, environment
from support.wire import DEADLINE


def test_a_service_outlives_the_reader_of_its_log():
    process = subprocess.Popen(
        [str(BINARY), "serve", *arguments({**FREE_PORTS, "--log-level": "trace"})], env=environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        while "ready commands=" not in process.stderr.readline():
            assert process.poll() is None
        process.stderr.close()
        # It tells of its end on the way, to nobody.
        process.terminate()
        assert process.wait(timeout=DEADLINE) == 0
    finally:
        process.kill()
        process.wait()

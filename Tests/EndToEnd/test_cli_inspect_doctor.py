"""`islet doctor` on this very machine: what it measures, what it says to do, and its exit code."""

import http.server
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import threading

import pytest

from support.cli import Finished, Islet
from support.schemas import strict
from support.scripted import ScriptedService
from support.service import BINARY, environment
from support.wire import DEADLINE


@pytest.fixture
def islet(service):
    return Islet(service)


def findings(done):
    """The findings of a run with --json by their names; the whole keeps its schema."""
    [report] = done.json
    strict("cli/doctor.json").validate(report)
    return {finding["name"]: finding for finding in report["findings"]}


def offline(*words, **limits):
    """Runs it without a service, under these limits of the system, soft and hard; gives the finished process."""
    def limit():
        for name, pair in limits.items():
            resource.setrlimit(getattr(resource, name), pair)
    return subprocess.run(
        [str(BINARY), "doctor", "--offline", *map(str, words)], env=environment(), capture_output=True, text=True,
        preexec_fn=limit, timeout=DEADLINE)


def test_a_line_for_each_thing_and_what_to_do(islet, tmp_path):
    done = islet("doctor", "--data", tmp_path, code=None)
    assert re.search(r"^ok    versions       islet \d\S+, libzmq 4\.\d+\.\d+, SQLite 3\.\d+", done.out, re.MULTILINE)
    assert re.search(r"^\w+ +diskSync +a commit waits .* for the disk, .* at most \(of \d+\)$", done.out, re.MULTILINE)
    assert re.search(r"^ok    service        tcp://127\.0\.0\.1:\d+ answers in .* ms, up ", done.out, re.MULTILINE)
    assert re.search(r"^ok    events         tcp://\S+ lets subscribers in$", done.out, re.MULTILINE)
    assert re.search(r"^ok    bulk           tcp://127\.0\.0\.1:\d+ listens$", done.out, re.MULTILINE)
    assert re.search(r"^warn  durability     it keeps everything in memory only.*\n +→ +start it with --store sqlite$",
                     done.out, re.MULTILINE)
    assert re.search(r"^warn  serviceClock   its time is 2026-01-01 00:00:00 UTC by a manual clock$", done.out,
                     re.MULTILINE)
    counts = [len(re.findall(rf"^{level} ", done.out, re.MULTILINE)) for level in ("fail", "warn", "ok")]
    assert done.err == "{} failed, {} to be looked at, {} well\n".format(*counts)
    assert done.code == (1 if counts[0] else 0)


def test_it_measures_and_leaves_nothing_behind(islet, tmp_path):
    found = findings(islet("doctor", "--data", tmp_path, "--json", code=None))
    assert list(tmp_path.iterdir()) == []
    sync = found["diskSync"]["figures"]
    assert sync["unit"] == "us" and 1 <= sync["count"] <= 50 and 0 <= sync["p50"] <= sync["max"]
    disk = os.statvfs(tmp_path)
    assert found["room"]["figures"]["bytes"] == pytest.approx(disk.f_bavail * disk.f_frsize, rel=0.2)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert found["openFiles"]["figures"]["soft"] == soft
    assert abs(found["clock"]["figures"]["drift"]) < 1_000
    assert found["service"]["figures"]["answer"] > 0


def test_a_service_on_the_wall_clock_agrees_with_it(system_service, tmp_path):
    found = findings(Islet(system_service)("doctor", "--data", tmp_path, "--json", code=None))
    assert found["serviceClock"]["level"] == "ok" and abs(found["serviceClock"]["figures"]["offset"]) < 10_000


def test_http_is_asked_how_it_is(serve, tmp_path):
    service = serve({"--http": "127.0.0.1:0"})
    found = findings(Islet(service)("doctor", "--data", tmp_path, "--json", code=None))["http"]
    assert found["level"] == "ok" and found["figures"] == {"health": 200, "readiness": 200}
    assert found["text"] == f"{service.http} is well and takes commands (/healthz, /readyz)"


@pytest.mark.parametrize("answers, text", [
    ({"/healthz": (200, {"status": "ok"}), "/readyz": (503, {"ready": False, "reason": "diskFull"})},
     "is well, but /readyz says: diskFull"),
    ({"/healthz": (503, {"status": "the partition does not answer"})}, "/healthz answers 503: the partition"),
    ({}, "/healthz answers 404: no JSON"),
])
def test_http_that_is_not_well_fails(tmp_path, answers, text):
    """Whatever listens there: that it listens is not enough."""
    class Answering(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = answers.get(self.path, (404, None))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode() if body else b"nothing")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    info = {"guarantee": "full", "endpoints": {"http": f"http://127.0.0.1:{server.server_port}"}}
    scripted = ScriptedService(tmp_path, service_info={"info": info})
    try:
        found = findings(Islet(scripted)("doctor", "--data", tmp_path, "--json", code=1))["http"]
        assert found["level"] == "fail" and text in found["text"]
    finally:
        scripted.close()
        server.shutdown()
        server.server_close()


def test_offline_looks_at_the_machine_alone(tmp_path):
    done = offline("--data", tmp_path, "--json")
    assert set(findings(Finished(done.returncode, done.stdout, done.stderr))) == {
        "versions", "openFiles", "memory", "files", "room", "diskSync", "clock"}
    assert done.returncode in (0, 1)


@pytest.mark.parametrize("soft, hard, files, level", [
    (100, 100, "100", "fail"), (2_000, 2_000, "2.000", "warn"), (100, 2_000, "2.000", "warn"), (100, 8_000, "8.000", "ok"),
    (8_000, 8_000, "8.000", "ok"),
])
def test_too_few_open_files(tmp_path, soft, hard, files, level):
    """A service raises its limit as far as it may."""
    done = offline("--data", tmp_path, RLIMIT_NOFILE=(soft, hard))
    assert re.search(rf"^{level} +openFiles +a service may have {files} files", done.stdout, re.MULTILINE)
    assert ("LimitNOFILE=65536" in done.stdout) is (level != "ok")
    assert done.returncode == 1 or level != "fail"


def test_a_directory_that_does_not_live_on_a_disk_fails():
    done = offline("--data", "/dev/shm/islet/data")
    assert re.search(
        r"^fail  files          /dev/shm/islet/data \(to be made at the first start\), on tmpfs\n"
        r" +→ +nothing there survives", done.stdout, re.MULTILINE)
    assert done.returncode == 1 and not os.path.exists("/dev/shm/islet")


def test_a_directory_that_may_not_be_written_is_said(tmp_path):
    done = offline("--data", "/proc/nothing")
    assert re.search(
        r"^warn  diskSync       cannot write in /proc: .*\n +→ +run this as the service's user", done.stdout,
        re.MULTILINE)


def test_no_service_fails_and_says_whether_somebody_else_is_there(islet, tmp_path, service):
    nobody = islet("doctor", "--data", tmp_path, "--json", "--timeout", "200ms", code=1,
                   ISLET_COMMANDS="tcp://127.0.0.1:9")
    assert "nothing listens at tcp://127.0.0.1:9" in findings(nobody)["service"]["text"]
    assert "islet serve" in findings(nobody)["service"]["advice"]
    stranger = islet(
        "doctor", "--data", tmp_path, "--json", "--timeout", "300ms", code=1, ISLET_COMMANDS=service.events)
    assert findings(stranger)["service"]["text"].startswith("something listens at")


def test_names_of_the_kernels_own_are_listened_at(serve, tmp_path):
    names = {name: f"ipc://@{tmp_path.name}-{os.getpid()}-{name}" for name in ("commands", "events", "bulk")}
    service = serve({f"--{name}": endpoint for name, endpoint in names.items()})
    found = findings(Islet(service)("doctor", "--data", tmp_path, "--json", code=None))
    assert found["service"]["level"] == "ok" and found["bulk"]["text"] == f"{names['bulk']} listens"


@pytest.mark.parametrize("name", ["commands", "bulk"])
def test_a_file_that_nobody_listens_at_is_nobody(tmp_path, name):
    """A killed service leaves the file of its socket."""
    path = tmp_path / "left"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    info = {"endpoints": {"bulk": f"ipc://{path}"}}
    scripted = ScriptedService(tmp_path, service_info={"info": info})
    try:
        islet = Islet(scripted)
        if name == "commands":
            islet.env["ISLET_COMMANDS"] = f"ipc://{path}"
        else:
            del islet.env["ISLET_BULK"]  # the service says where it is
        found = findings(islet("doctor", "--data", tmp_path, "--json", "--timeout", "1s", code=1))
        said = found["service"]["text"] if name == "commands" else found["bulk"]["text"]
        assert f"nothing listens at ipc://{path}" in said or said == f"ipc://{path} does not listen"
    finally:
        scripted.close()


def test_what_the_service_says_of_itself_is_judged(tmp_path):
    info = {"version": "9.9.9", "guarantee": "normal", "clock": {"kind": "system", "now": 4_000_000_000_000},
            "endpoints": {"bulk": "tcp://127.0.0.1:9"}}
    scripted = ScriptedService(tmp_path, service_info={"info": info})
    try:
        found = findings(Islet(scripted)("doctor", "--data", tmp_path, "--json", code=1))
        assert found["serviceVersion"]["level"] == "warn" and "9.9.9" in found["serviceVersion"]["text"]
        assert found["durability"]["text"] == "its guarantee is normal: the last changes may not survive loss of power"
        assert re.search("ahead of the wall clock", found["serviceClock"]["text"])
        assert found["events"]["level"] == "fail" and found["bulk"]["level"] == "fail"
        scripted.answers["service.info"]["info"] |= {"journal": {"isFull": True}}
        found = findings(Islet(scripted)("doctor", "--data", tmp_path, "--json", code=1))
        assert found["durability"]["level"] == "fail"
    finally:
        scripted.close()


def test_without_data_it_looks_at_the_directory_of_the_service(serve, tmp_path):
    """An installed service keeps its state elsewhere than a person's own would."""
    service = serve({"--store": None, "--data": tmp_path / "data"})
    found = findings(Islet(service)("doctor", "--json", code=None, HOME=str(tmp_path / "home")))
    assert found["files"]["text"].startswith(f"{tmp_path}/data, on ")
    assert {"room", "diskSync"} <= found.keys()
    named = findings(Islet(service)("doctor", "--json", "--data", tmp_path / "other", code=None))
    assert named["files"]["text"].startswith(f"{tmp_path}/other (to be made at the first start), on ")


def test_a_directory_that_is_not_on_this_machine_is_said(tmp_path):
    """Its service is in a container, or at the other end of a tunnel: no disk of this machine is measured for it."""
    scripted = ScriptedService(tmp_path, service_info={"info": {"guarantee": "full", "data": f"{tmp_path}/there"}})
    try:
        found = findings(Islet(scripted)("doctor", "--json", code=1))
        assert found["files"]["level"] == "warn" and f"{tmp_path}/there, which is not here" in found["files"]["text"]
        assert "room" not in found and "diskSync" not in found
    finally:
        scripted.close()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can be somebody else")
def test_an_endpoint_that_this_user_may_not_use_is_told_as_such(serve):
    """`ipc://` in a directory of a group: nobody is to look for a service that hangs."""
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(BINARY))
    if subprocess.run([*nobody[:-1], "test", "-x", BINARY]).returncode:
        pytest.skip("nobody else can run it here")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        service = serve({"--commands": f"ipc://{folder}/commands"})

        def asked(*words):
            return subprocess.run(
                [*nobody, *words, "--commands", service.commands, "--timeout", "300ms"],
                env=environment(HOME="/nowhere"), capture_output=True, text=True, timeout=DEADLINE)

        why = f"{service.commands} may not be used by this user"
        doctor = asked("doctor")
        assert doctor.returncode == 1 and re.search(f"^fail  service +{why}: Permission denied$", doctor.stdout, re.MULTILINE)
        for words, stream in ((("check",), "stdout"), (("info",), "stderr"), (("top", "--once"), "stderr")):
            assert why in getattr(asked(*words), stream), words
        tail = subprocess.Popen(
            [*nobody, "tail", "--commands", service.commands], env=environment(HOME="/nowhere"), stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, text=True)
        try:
            assert tail.stderr.readline().startswith(why)
        finally:
            tail.kill()
            tail.communicate()
        service.stop()

"""The Debian package: what it holds, what its unit allows, and that the service runs from it.

`scripts/package --test` goes further: it installs a package into a clean Debian, which systemd boots.
"""

import os
import re
import shutil
import subprocess

import pytest
import yaml

from support.cli import Islet
from support.service import BINARY, FREE_PORTS, ROOT, Service, arguments, environment, run

UNIT = ROOT / "packaging" / "islet.service"
SETTINGS = ROOT / "packaging" / "islet.yaml"
DEBIAN = ROOT / "packaging" / "debian"


def output(*words, seconds=60, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=seconds, **more)
    assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
    return done.stdout


def exec_start():
    """The words after the binary in the unit's command line."""
    return re.search(r"^ExecStart=/usr/bin/islet (.*)$", UNIT.read_text(), re.MULTILINE)[1].split()


@pytest.fixture
def package(tmp_path):
    """A package of the binary under test, and what it holds, unpacked."""
    # What saves time here: nobody downloads it.
    env = {**os.environ, "DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    deb = output(ROOT / "scripts" / "package", "--binary", BINARY, "--out", tmp_path, seconds=200, env=env).strip()
    unpacked = tmp_path / "root"
    output("dpkg-deb", "--raw-extract", deb, unpacked)
    return deb, unpacked


# The package


# Ten seconds of computing, on a machine that may have much else to do.
@pytest.mark.timeout(240)
def test_the_package_is_whole_and_the_service_runs_from_it(package, tmp_path):
    deb, root = package
    control = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", (root / "DEBIAN" / "control").read_text(), re.MULTILINE))
    assert control["Version"].split("-")[0] == run("--version").stdout.split()[-1]
    for library in ("adduser", "libc6", "libzmq5", "libsqlite3-0"):
        assert re.search(rf"(^|, ){library}($|,| \()", control["Depends"]), control["Depends"]

    # Everything belongs to root, and nobody else may change it.
    for line in output("dpkg-deb", "--contents", deb).splitlines():
        mode, owner = line.split()[:2]
        assert owner == "root/root" and mode[5] == mode[8] == "-", line

    held = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and "DEBIAN" not in path.parts}
    assert {
        "usr/bin/islet", "lib/systemd/system/islet.service", "etc/islet/islet.yaml", "usr/share/man/man1/islet.1.gz",
        "usr/share/man/man1/islet-activity.1.gz", "usr/share/bash-completion/completions/islet",
        "usr/share/zsh/vendor-completions/_islet", "usr/share/fish/vendor_completions.d/islet.fish",
        "usr/share/doc/islet/copyright", "usr/share/doc/islet/changelog.Debian.gz", "usr/share/doc/islet/README.Debian",
        "usr/share/doc/islet/examples/prometheus/islet.rules.yml", "usr/share/doc/islet/examples/grafana/islet.json",
    } <= held
    assert (root / "DEBIAN" / "conffiles").read_text() == "/etc/islet/islet.yaml\n"
    output("md5sum", "--check", "--strict", "--quiet", "DEBIAN/md5sums", cwd=root)
    assert {line.split(maxsplit=1)[1] for line in (root / "DEBIAN" / "md5sums").read_text().splitlines()} == held
    output("bash", "-n", root / "usr/share/bash-completion/completions/islet")
    licences = (root / "usr/share/doc/islet/copyright").read_text()
    for name in ("swift", "Yams", "swift-argument-parser"):
        assert re.search(rf"^(.*, )?{name}(, .*)?:$", licences, re.MULTILINE), name

    # The packaged settings, but for what the machine's own service may have taken.
    binary, settings = root / "usr/bin/islet", root / "etc/islet/islet.yaml"
    words = [word.replace("/etc/islet/islet.yaml", str(settings)) for word in exec_start()[1:]]
    free = arguments({**FREE_PORTS, "--store": None, "--data": tmp_path / "data"})
    service = Service(words=[*words, *free], program=binary)
    try:
        service.ready()
        islet = Islet(service, program=binary)
        islet("activity", "start", "order-7", "--type", "Delivery", "--state", '{"eta":12}')
        assert islet("activity", "get", "order-7", "--json").json[0]["contentState"] == {"eta": 12}
        assert islet("info", "--json").json[0]["guarantee"] == "full"
        service.stop()
    finally:
        service.kill()


# The unit


def directives():
    found = {}
    for line in UNIT.read_text().splitlines():
        if re.match(r"[A-Z]\w+=", line):
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


def test_the_unit_restarts_what_ends_but_not_what_is_wrongly_configured():
    unit = directives()
    assert unit["Restart"] == ["always"] and unit["StartLimitIntervalSec"] == ["0"]
    assert unit["RestartPreventExitStatus"] == [str(run("serve", "--sync", "sometimes").returncode)] == ["2"]


def test_the_unit_has_a_user_and_limits_of_its_own():
    unit = directives()
    assert unit["User"] == unit["Group"] == unit["StateDirectory"] == ["islet"]
    assert unit["MemoryMax"] and unit["LimitNOFILE"] and unit["TasksMax"]


def test_the_unit_writes_to_no_folder_that_is_gone_with_it():
    """A /tmp of its own is deleted when it stops, and a backup there with it."""
    unit = directives()
    assert unit["PrivateTmp"] == ["yes"] and unit["ReadOnlyPaths"] == ["/tmp /var/tmp"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_accepts_the_unit_and_finds_little_exposed(tmp_path):
    # The binary and the pages are not installed here.
    unit = tmp_path / "islet.service"
    text = UNIT.read_text().replace("/usr/bin/islet", str(BINARY))
    unit.write_text(re.sub(r"^Documentation=.*\n", "", text, flags=re.MULTILINE))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and unit.name not in done.stderr, done.stderr
    report = output("systemd-analyze", "security", "--no-pager", "--offline=true", unit)
    exposure = re.search(r"exposure level for islet.service: ([\d.]+)", report)[1]
    assert float(exposure) <= 1.5, report


def test_the_packaged_settings_are_accepted_and_are_the_defaults():
    """But for the directory; so that what the file shows is what holds without it."""
    def effective(*words):
        done = run("serve", "--check-config", *words, env=environment(HOME="/nowhere"))
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return yaml.safe_load(done.stdout)

    packaged, default = effective("--config", SETTINGS), effective()
    assert packaged.pop("data") == "/var/lib/islet" and default.pop("data") != "/var/lib/islet"
    assert packaged == default


def test_the_help_that_the_packaged_settings_name_shows_all_settings_with_their_defaults():
    """Also where the environment says something else."""
    assert "`islet serve --help` shows" in SETTINGS.read_text()
    environs = {"ISLET_COMMANDS": "tcp://127.0.0.1:9", "ISLET_RULE_SET_CONTENT_LIMIT": "1000"}
    help = run("serve", "--help", env=environment(**environs)).stdout
    assert "127.0.0.1:9)" not in run("dev", "--help", env=environment(**environs)).stdout
    _, found, rest = help.partition("SETTINGS OF THE FILE:\n")
    assert found and "127.0.0.1:9)" not in help
    without_flags = yaml.safe_load(re.search(r"^  \w+:\n(?:    ?.*\n|  \w+:\n)+", rest, re.MULTILINE)[0])
    default = yaml.safe_load(run("serve", "--check-config", env=environment()).stdout)
    assert without_flags == {name: value for name, value in default.items() if isinstance(value, dict)}
    flags = {name for name, value in default.items() if not isinstance(value, dict)}
    spelled = {"--" + re.sub("[A-Z]", lambda upper: "-" + upper[0].lower(), name) for name in flags}
    assert all(f"\n  {flag}" in help for flag in spelled), spelled


def test_the_rules_warn_before_the_memory_of_the_unit_is_used_up():
    rules = (ROOT / "contrib" / "prometheus" / "islet.rules.yml").read_text()
    [limit] = directives()["MemoryMax"]
    assert f"islet_resident_bytes > 0.8 * {limit.removesuffix('G')} * 1024 ^ 3" in rules


@pytest.mark.parametrize("name", ["postinst", "prerm", "postrm"])
def test_the_maintainer_script_is_one_of_a_plain_shell(name):
    assert (DEBIAN / name).read_text().startswith("#!/bin/sh\n")
    output("dash", "-n", DEBIAN / name)


def test_an_upgrade_leaves_the_folder_of_backups_as_an_operator_has_made_it(tmp_path):
    """The script runs with another folder in place of `/var/backups`, and with no tool that changes this system."""
    text = (DEBIAN / "postinst").read_text()
    assert text.count("/var/backups/islet") == 2
    script, backups, tools = tmp_path / "postinst", tmp_path / "backups" / "islet", tmp_path / "bin"
    backups.parent.mkdir()
    script.write_text(text.replace("/var/backups", str(backups.parent)))
    tools.mkdir()
    # Its user does not exist here, so that the folder cannot be that user's.
    install = f"#!/bin/sh\necho install >>{tmp_path}/said\nshift 5\nexec /usr/bin/install -d \"$@\"\n"
    nothing = dict.fromkeys(("getent", "systemctl", "deb-systemd-helper", "deb-systemd-invoke"), "#!/bin/sh\n")
    for name, words in {**nothing, "adduser": "#!/bin/sh\nexit 9\n", "install": install}.items():
        (tools / name).write_text(words)
        (tools / name).chmod(0o755)

    def configure(*words):
        output("sh", script, "configure", *words, env={"PATH": f"{tools}:{os.environ['PATH']}"})
        return backups.stat().st_mode & 0o7777

    assert configure() == 0o750
    backups.chmod(0o2770)
    assert configure("0.1-1") == 0o2770
    assert (tmp_path / "said").read_text().split() == ["install"], "once, where there was none"

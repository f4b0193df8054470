"""Endpoints of the machine itself, which have a path."""

import socket
import stat

from support.commands import Commands
from support.service import FREE_PORTS, Service, arguments


def refused(options):
    service = Service(words=arguments({**FREE_PORTS, **options}))
    try:
        assert service.wait(20) == 1, service.log
        return service.log
    finally:
        service.kill()


def test_a_file_that_is_no_socket_is_not_deleted(tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text("all my work")
    for name in ("--commands", "--events", "--bulk", "--ingest"):
        assert f"cannot serve at ipc://{precious}: something else than a socket is there" in refused(
            {name: f"ipc://{precious}"})
    assert precious.read_text() == "all my work"


def test_the_endpoint_of_a_running_service_is_not_taken(wire, serve, tmp_path):
    endpoint = f"ipc://{tmp_path}/commands"
    running = serve({"--commands": endpoint})
    assert f"cannot serve at {endpoint}: address already in use" in refused({"--commands": endpoint})
    Commands(wire, running.commands).start()


def test_an_address_is_told_with_its_whole_path(wire, serve, tmp_path):
    """Whoever follows it may be in another directory."""
    names = ("commands", "events", "bulk")
    service = serve({f"--{name}": f"ipc://{name}" for name in names}, prefix=("env", "-C", str(tmp_path)))
    told = {name: f"ipc://{tmp_path}/{name}" for name in names}
    assert {name: service.endpoints[name] for name in names} == told
    endpoints = Commands(wire, f"ipc://{tmp_path}/commands").read("service.info")["info"]["endpoints"]
    assert {name: endpoints[name] for name in names} == told


def test_two_endpoints_of_one_service_are_not_the_same(tmp_path):
    """However they are written."""
    endpoint = f"ipc://{tmp_path}/one"
    service = Service({"--commands": endpoint, "--events": f"ipc://{tmp_path}/./one"})
    assert service.wait() == 2, service.log
    assert "is the address of events and of commands" in service.log


def test_a_socket_that_was_left_behind_is_taken(wire, serve, tmp_path):
    path = tmp_path / "commands"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    assert stat.S_ISSOCK(path.stat().st_mode)
    killed = Service(words=arguments({**FREE_PORTS, "--commands": f"ipc://{path}"})).ready()
    Commands(wire, killed.commands).start()
    killed.kill()
    assert stat.S_ISSOCK(path.stat().st_mode)
    service = serve({"--commands": f"ipc://{path}"})
    Commands(wire, service.commands).start()

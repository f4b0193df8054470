"""Fixtures: the real service on free ports, and clients of it over either implementation of ZeroMQ."""

import os
import signal

import pytest

from support import browser as chromium
from support.bulk import Bulk
from support.commands import Commands
from support.events import Events
from support.home import Home
from support.service import BINARY, Service
from support.webpage import BoardPage
from support.widgets import Board, rules
from support.wire import MODULES, Wire

APP = "com.example.pizza"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What CI skips, nobody runs: there it is a failure, whatever the reason."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"skipped in CI: {call.excinfo and call.excinfo.value}"
    return report


def pytest_configure():
    # A shell lets what it runs in its background ignore this, and programs that are tested would, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not BINARY.exists():
        pytest.exit(f"{BINARY} is not there: scripts/test builds it first", returncode=3)


@pytest.fixture
def wire():
    """libzmq through pyzmq."""
    made = Wire("pyzmq")
    yield made
    made.close()


@pytest.fixture(params=list(MODULES))
def each_wire(request):
    """Each implementation in turn."""
    made = Wire(request.param)
    yield made
    made.close()


@pytest.fixture
def serve():
    """Makes services; at the end each that still runs is stopped, and must stop well."""
    made = []

    def make(options=None, **more):
        service = Service(options, **more)
        made.append(service)
        return service.ready()

    yield make
    failures = []
    for service in made:
        try:
            if service.alive:
                service.stop()
            else:
                assert service.process.returncode == 0, f"died with {service.process.returncode}"
        except Exception as failure:
            failures.append(failure)
        finally:
            service.kill()
            print(service.log)
    for failure in failures:
        raise failure


@pytest.fixture
def service(serve):
    """A service whose clock stands at 2026-01-01T00:00Z and moves when told."""
    return serve({"--clock": "manual"})


@pytest.fixture
def system_service(serve):
    """A service on the machine's clock."""
    return serve()


@pytest.fixture
def client(wire, service):
    return Commands(wire, service.commands, APP)


@pytest.fixture
def events(wire, service):
    """A subscriber of the whole app that has joined."""
    subscriber = Events(wire, service.events, APP + "/")
    subscriber.join()
    return subscriber


@pytest.fixture
def bulk(wire, service):
    return Bulk(wire, service.bulk, APP)


@pytest.fixture
def home(wire, service):
    """An app's controls, watched from the first event on."""
    return Home(wire, service, APP)


@pytest.fixture
def board(wire, service):
    """An app's widgets, watched from the first event on."""
    return Board(wire, service, APP)


@pytest.fixture
def ruled(wire, serve):
    """Makes the same at services with other rules."""
    return lambda **named: Board(wire, serve({"--clock": "manual"}, env=rules(**named)), APP)


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium for all tests of a worker that look at the board."""
    assert chromium.find(), "there is no chromium: scripts/setup installs it"
    made = chromium.Browser()
    yield made
    made.close()


@pytest.fixture
def pages(browser, serve):  # pages are closed before their services end
    """Opens the board of a service in pages; at the end each must have been without errors, and have stayed at home."""
    made = []

    def make(service, view="activities", **options):
        made.append(BoardPage(browser, service, view, **options))
        return made[-1]

    yield make
    try:
        for page in made:
            page.check()
    finally:
        for page in made:
            page.close()

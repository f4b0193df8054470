"""A descriptor that lacks for one moment: SQLite would open for reading alone what it is to write, and fail for good then."""

import json

import pytest

from support.durable import Durable
from support.preload import needs_compiler, preloaded
from support.small_disk import until

pytestmark = needs_compiler


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return preloaded(tmp_path_factory.mktemp("descriptor"), "missing_descriptor")


@pytest.fixture
def service(wire, tmp_path, library):
    """A service, and the sign that lets the next opening of such a file fail."""
    services = []

    def make(part, end):
        sign = tmp_path / "sign"
        env = {
            "LD_PRELOAD": str(library), "MISSING_SIGN": str(sign), "MISSING_OF": part, "MISSING_END": end,
            "ISLET_JOURNAL_SEGMENT_BYTES": "65536", "ISLET_JOURNAL_RETENTION_BYTES": "262144"}
        services.append(Durable(wire, tmp_path / "data", env=env).start())
        return services[-1], sign

    yield make
    for each in services:
        each.kill()


def test_a_segment_that_cannot_be_opened_for_a_moment_is_made_later(service):
    durable, sign = service("/journal-", ".db")
    client = durable.client
    id, number = client.start()["id"], 0
    until(lambda: (durable.data / "journal-000002.db").exists())
    sign.touch()

    def update():
        nonlocal number
        number += 1
        client.applied("activity.update", id=id, contentState={"n": number, "text": "x" * 3000})

    until(lambda: update() or not sign.exists())
    durable.service.line("segment [0-9]+ cannot be made yet, and the one before it grows: .*Too many open files")
    durable.service.line("segment [0-9]+ could be made now")
    update()
    state = client.get(id)
    durable.restart()
    assert durable.client.get(id) == state
    durable.stop()


def test_a_segment_that_grew_larger_than_all_may_be_is_kept_until_the_next_has_as_much(service):
    durable, sign = service("/journal-", ".db")
    id, number = durable.client.start()["id"], 0

    def update():
        nonlocal number
        number += 1
        durable.client.applied("activity.update", id=id, contentState={"n": number, "text": "x" * 3000})

    def has_grown():
        sign.touch()
        update()
        return max(log.stat().st_size for log in durable.data.glob("journal-*.db-wal")) > 400_000

    until(has_grown)
    sign.unlink(missing_ok=True)
    durable.service.line("segment [0-9]+ could be made now")
    for _ in range(3):
        update()
    # The snapshot holds all of it then.
    durable.stop().start()
    update()
    first = durable.replay(after=0)
    oldest = first.end.get("error", {"detail": {"oldest": 1}})["detail"]["oldest"]
    seqs = [json.loads(body)["seq"] for _, body in durable.replay(after=oldest - 1).rows]
    assert len(seqs) > 20 and seqs == list(range(oldest, number + 2))
    durable.stop()


@pytest.mark.parametrize("file", ["/journal- .db", "/state .db", "/state -wal", "/state -shm"])
def test_a_start_that_finds_no_descriptor_for_a_moment_says_so_and_succeeds_the_next_time(service, file):
    durable, sign = service(*file.split())
    id = durable.client.start()["id"]
    durable.client.applied("activity.update", id=id, contentState={"n": 1})
    state = durable.client.get(id)
    durable.kill()
    sign.touch()
    assert "Too many open files" in durable.refused()
    assert not sign.exists()
    durable.start()
    assert durable.client.get(id) == state
    durable.client.applied("activity.update", id=id, contentState={"n": 2})
    durable.stop()

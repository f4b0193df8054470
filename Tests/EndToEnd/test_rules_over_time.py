"""What a rule promised for longer than an activity is kept, and rules that are others after a start."""

import pytest

from support.dates import HOUR, after
from support.durable import Durable
from support.wire import Deadline

AGAIN = {"type": "Delivery", "attributes": {}, "contentState": {}, "key": "order-7"}


def rules(tmp_path, name, *settings):
    path = tmp_path / f"{name}.yaml"
    path.write_text("ruleSet:\n" + "".join(f"  {setting}\n" for setting in settings))
    return path


@pytest.mark.parametrize("limit", ["retention: 24h", "maximumRetained: 0"])
def test_a_key_is_muted_for_longer_than_its_activity_is_retained(wire, tmp_path, limit):
    config = rules(tmp_path, "rules", "muteAfterPersonDismissal: 48h", limit)
    durable = Durable(wire, tmp_path / "data", options={"--config": config}).start()
    try:
        client = durable.client
        id = client.start(key="order-7")["id"]
        client.applied("activity.dismiss", id=id, by="person")
        client.advance(by=30 * HOUR)
        until = {"mutedUntil": after(48 * HOUR)}
        assert client.refused("activity.start", **AGAIN)["detail"] == until
        for address in ({"id": id}, {"key": "order-7"}):
            for op in ("get", "history", "explain", "dismiss"):
                assert client.refused(f"activity.{op}", **address)["code"] == "notFound", (op, address)
        assert client.read("activity.list", state="dismissed")["total"] == 0
        assert client.read("service.info")["info"]["entities"]["dismissed"] == 0
        # Its id is taken as long: two lives of one id would not both come back.
        other_key = AGAIN | {"id": id, "key": "order-8"}
        assert client.refused("activity.start", **other_key)["code"] == "reconnectNotPermitted"
        client = durable.restart().client
        assert client.refused("activity.start", **AGAIN)["detail"] == until
        assert client.refused("activity.start", **other_key)["code"] == "reconnectNotPermitted"
        client.advance(to=after(48 * HOUR))
        client.start(**AGAIN)
        client.start(**other_key)
    finally:
        durable.stop()


def test_a_shorter_limit_after_a_start_ends_nothing_in_the_past(wire, tmp_path):
    """The deadline of the new rules had passed when the service ran last, and was not one then."""
    durable = Durable(wire, tmp_path / "data").start()
    try:
        id = durable.client.start()["id"]
        durable.client.advance(by=3 * HOUR)
        durable.client.applied("activity.update", id=id, contentState={"n": 1})
        durable.restart(config=rules(tmp_path, "shorter", "activeLimit: 1h"))
        told = durable.client.read("activity.history", id=id)["events"]
        assert [(event["event"], event["at"], event.get("lateBy")) for event in told[1:]] == [
            ("activity.updated", after(3 * HOUR), None), ("activity.ended", after(3 * HOUR), 0)]
        assert durable.client.get(id)["endedAt"] == after(HOUR)
    finally:
        durable.stop()


def test_who_follows_events_knows_the_dates_of_the_rules_as_they_are(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data").start()
    try:
        id = durable.client.start()["id"]
        durable.restart(config=rules(tmp_path, "shorter", "activeLimit: 1h"))
        known = {}
        for n in (1, 2):
            durable.client.applied("activity.update", id=id, contentState={"n": n})
            for event in durable.client.read("activity.history", id=id)["events"]:
                for name, value in event["activity"].items():
                    known[name] = value
            entity = durable.client.get(id)
            assert known["expiresAt"] == entity["expiresAt"] == after(HOUR)
            assert known["next"] == entity["next"] == {"at": after(HOUR), "cause": "activeLimit"}
        assert "expiresAt" not in event["activity"]
    finally:
        durable.stop()


def test_lateness_does_not_count_from_a_deadline_that_only_the_rules_of_this_start_make(wire, tmp_path):
    """On the clock of the wall, which goes on while the service is down."""
    durable = Durable(wire, tmp_path / "data", options={"--clock": "system"}).start()
    try:
        client = durable.client
        id = client.start()["id"]
        begun, deadline = client.get(id)["startedAt"], Deadline()
        while client.read("service.ping")["now"] < begun + 100:
            assert not deadline.passed
        client.applied("activity.update", id=id, contentState={"n": 1})
        ran = client.read("service.ping")["now"]
        durable.stop().start(config=rules(tmp_path, "shorter", "activeLimit: 50ms"))
        [ended] = [event for event in durable.client.read("activity.history", id=id)["events"]
                   if event["event"] == "activity.ended"]
        assert ended["cause"] == "activeLimit" and ended["at"] - ended["lateBy"] >= ran
        assert durable.client.get(id)["endedAt"] == begun + 50
    finally:
        durable.stop()


def test_lateness_counts_from_a_deadline_that_passed_while_the_service_was_down(wire, tmp_path):
    config = rules(tmp_path, "short", "activeLimit: 300ms")
    durable = Durable(wire, tmp_path / "data", options={"--clock": "system", "--config": config}).start()
    try:
        id = durable.client.start()["id"]
        begun = durable.client.get(id)["startedAt"]
        durable.stop().start()
        deadline = Deadline()
        while durable.client.get(id)["state"] != "ended":
            assert not deadline.passed
        ended = durable.client.read("activity.history", id=id)["events"][-1]
        assert ended["at"] - ended["lateBy"] == begun + 300
    finally:
        durable.stop()


def test_a_renewal_carries_nothing_that_is_too_large_by_now(wire, tmp_path):
    durable = Durable(wire, tmp_path / "data").start()
    try:
        id = durable.client.start(contentState={"text": "x" * 1_000})["id"]
        client = durable.restart(config=rules(tmp_path, "smaller", "contentLimit: 512")).client
        assert client.refused("activity.renew", id=id)["code"] == "attributesTooLarge"
        assert client.get(id)["state"] == "active"
        client.applied("activity.renew", id=id, contentState={"text": "short"})
    finally:
        durable.stop()

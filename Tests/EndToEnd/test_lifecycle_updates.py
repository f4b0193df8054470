"""How content changes and goes out of date: rows 13 to 21 of the fact sheet's transition table, seen from outside."""

from support.dates import EPOCH, HOUR, MINUTE, SECOND, after


def test_an_update_replaces_the_content_and_the_stale_date(client, events):
    """Row 13."""
    id = client.start(staleDate=after(HOUR))["id"]
    updated = client.applied("activity.update", id=id, contentState={"eta": 9}, staleDate=after(2 * HOUR))["activity"]
    assert (updated["state"], updated["revision"]) == ("active", 2)
    assert updated["next"] == {"at": after(2 * HOUR), "cause": "staleDate"}
    events.next("started")
    event = events.next("updated")
    assert (event["from"], event["to"], event["cause"]) == ("active", "active", "command")
    patch = event["activity"]
    assert (patch["id"], patch["revision"], patch["contentState"], patch["staleDate"]) == (
        id, 2, {"eta": 9}, after(2 * HOUR))
    assert "attributes" not in patch and "type" not in patch


def test_an_update_without_a_stale_date_clears_it(client, events):
    """Row 13."""
    id = client.start(staleDate=after(HOUR))["id"]
    updated = client.applied("activity.update", id=id, contentState={"eta": 9})["activity"]
    assert updated["next"]["cause"] == "activeLimit"
    events.next("started")
    patch = events.next("updated")["activity"]
    assert "staleDate" in patch and patch["staleDate"] is None
    assert client.get(id).get("staleDate") is None


def test_an_update_without_a_relevance_score_makes_it_zero(client):
    """Row 13, with Apple's default."""
    id = client.start(relevanceScore=75.5)["id"]
    assert client.get(id)["relevanceScore"] == 75.5
    client.applied("activity.update", id=id, contentState={"eta": 9})
    assert client.get(id).get("relevanceScore") in (0, None)


def test_an_update_with_a_past_stale_date_makes_it_stale(client, events):
    """Row 14."""
    id = client.start()["id"]
    updated = client.applied("activity.update", id=id, contentState={"eta": 9}, staleDate=EPOCH)["activity"]
    assert (updated["state"], updated["revision"]) == ("stale", 3)
    assert events.names(3) == ["started", "updated", "stale"]


def test_an_older_timestamp_is_dropped_and_says_so(client, events):
    """Row 15: also one from before the start."""
    id = client.start()["id"]
    client.advance(by=MINUTE)
    client.applied("activity.update", id=id, contentState={"eta": 9}, timestamp=after(30 * SECOND))
    for stamp in (after(30 * SECOND) - 1, EPOCH, EPOCH - HOUR):
        assert client.ignored("activity.update", id=id, contentState={"eta": 1}, timestamp=stamp) == "olderTimestamp"
    assert client.get(id)["contentState"] == {"eta": 9}
    assert events.names(2) == ["started", "updated"]
    events.silent()


def test_an_equal_timestamp_is_accepted(client):
    """Row 16."""
    id = client.start()["id"]
    client.applied("activity.update", id=id, contentState={"eta": 9}, timestamp=EPOCH)
    client.applied("activity.update", id=id, contentState={"eta": 8}, timestamp=EPOCH)
    assert client.get(id)["contentState"] == {"eta": 8}


def test_a_push_from_too_far_in_the_future_is_dropped(client):
    """Row 17: more than 8 hours ahead; exactly 8 hours are taken."""
    id = client.start()["id"]
    update = {"id": id, "contentState": {"eta": 9}, "source": "push"}
    assert client.ignored("activity.update", **update, timestamp=after(8 * HOUR) + 1) == "futureTimestamp"
    client.applied("activity.update", **update, timestamp=after(8 * HOUR))


def test_a_local_timestamp_may_be_far_ahead_and_then_holds(client):
    """Row 17 is about pushes alone, row 15 about both."""
    id = client.start()["id"]
    update = {"id": id, "contentState": {"eta": 9}}
    client.applied("activity.update", **update, timestamp=after(48 * HOUR))
    assert client.ignored("activity.update", id=id, contentState={"eta": 8}) == "olderTimestamp"


def test_it_goes_stale_at_its_date_and_not_before(client, events):
    """Row 19."""
    id = client.start(staleDate=after(10 * MINUTE))["id"]
    events.next("started")
    client.advance(to=after(10 * MINUTE) - 1)
    assert client.get(id)["state"] == "active"
    client.advance(by=1)
    event = events.next("stale")
    assert (event["from"], event["to"], event["cause"]) == ("active", "stale", "staleDate")
    assert (event["at"], event["lateBy"]) == (after(10 * MINUTE), 0)
    assert client.get(id)["next"] == {"at": after(8 * HOUR), "cause": "activeLimit"}


def test_an_update_brings_a_stale_one_back(client, events):
    """Row 20, with a later stale date and with none."""
    for stale_date in (None, after(2 * HOUR)):
        id = client.start(staleDate=EPOCH)["id"]
        updated = client.applied("activity.update", id=id, contentState={"eta": 9}, staleDate=stale_date)["activity"]
        assert updated["state"] == "active"
        assert events.names(2) == ["started", "stale"]
        event = events.next("updated")
        assert (event["from"], event["to"]) == ("stale", "active")


def test_an_update_with_a_past_stale_date_leaves_a_stale_one_stale(client, events):
    """Row 21."""
    id = client.start(staleDate=EPOCH)["id"]
    client.advance(by=MINUTE)
    updated = client.applied("activity.update", id=id, contentState={"eta": 9}, staleDate=after(SECOND))["activity"]
    assert updated["state"] == "stale"
    assert events.names(2) == ["started", "stale"]
    event = events.next("updated")
    assert (event["from"], event["to"]) == ("stale", "stale")


def test_an_update_that_changes_nothing_is_unchanged(client, events):
    """The rule of the contract: equal bytes, dates and relevance, and no alert; not even the timestamp moves."""
    id = client.start(staleDate=after(HOUR), relevanceScore=3)["id"]
    client.advance(by=MINUTE)
    same = {"id": id, "contentState": {"eta": 12}, "staleDate": after(HOUR), "relevanceScore": 3}
    assert client.ignored("activity.update", **same, timestamp=after(MINUTE)) == "unchanged"
    assert client.get(id)["revision"] == 1
    client.applied("activity.update", **{**same, "contentState": {"eta": 11}}, timestamp=after(SECOND))
    events.next("started")
    assert events.next("updated")["seq"] == 2


def test_equal_content_is_a_change_where_anything_else_differs(client):
    last = {"contentState": {"eta": 12}, "staleDate": after(HOUR), "relevanceScore": 3}
    id = client.start(**last)["id"]
    alert = {"title": "Look", "body": "here"}
    for difference in (
        {"staleDate": after(2 * HOUR)}, {"relevanceScore": 4}, {"contentState": {"eta": 12.0}}, {"staleDate": None},
        {"relevanceScore": None},
    ):
        last = {**last, **difference}
        client.applied("activity.update", id=id, **last)
        assert client.ignored("activity.update", id=id, **last) == "unchanged"
    client.applied("activity.update", id=id, **last, alert=alert)


def test_an_alert_stands_in_the_event_that_carries_it_and_nowhere_else(client, events):
    alert = {"title": "Look", "body": "here", "sound": "default"}
    id = client.start(alert=alert)["id"]
    client.applied("activity.update", id=id, contentState={"eta": 9})
    client.applied("activity.update", id=id, contentState={"eta": 8}, alert=alert)
    first, second, third = events.next("started"), events.next("updated"), events.next("updated")
    assert first["alert"] == alert and "alert" not in second and third["alert"] == alert
    assert all("alert" not in event["activity"] for event in (first, second, third))
    assert "alert" not in client.get(id)

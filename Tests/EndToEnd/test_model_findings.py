"""Where the model and the service disagree about the contract: each stays here until one of them is changed."""

import pytest

from support.commands import START


@pytest.mark.xfail(strict=True, reason="dismiss reaches an ended one by a key that nobody holds, which renew does not")
def test_a_key_that_nobody_holds_reaches_nothing_to_dismiss(client):
    """`get`, `history`, `explain`, `update` and `end` reach the newest retained one; no other command does."""
    client.start(key="order-7")
    client.applied("activity.end", key="order-7")
    assert client.refused("activity.renew", key="order-7")["code"] == "notFound"
    assert client.refused("activity.dismiss", key="order-7")["code"] == "notFound"


@pytest.mark.xfail(strict=True, reason="the start is executed although there is no entity of this revision")
def test_a_guarded_start_over_a_key_that_nobody_holds_is_not_executed(client):
    """`ifRevision`: executed only where the entity has this revision."""
    assert not client.ask("activity.start", **START, key="order-7", ifExists="update", ifRevision=3)["ok"]
    assert client.list() == []

"""`islet problems`: what is wrong, in one command."""

import pytest

from support.cli import Islet
from support.dates import HOUR, MINUTE, after
from support.provider import TORCH
from support.scripted import ScriptedService


@pytest.fixture
def islet(service):
    return Islet(service)


@pytest.fixture
def scripted(tmp_path):
    made = []

    def make(*rows):
        counts = {severity: sum(row["severity"] == severity for row in rows) for severity in
                  ("critical", "warning", "notice")}
        answer = {"problems": list(rows), "counts": counts, "total": len(rows), "exact": True}
        service = ScriptedService(tmp_path, problem_list=answer)
        made.append(service)
        return Islet(service)

    yield make
    for service in made:
        service.close()


def row(severity, what="failed", family="provider", **members):
    return {"severity": severity, "what": what, "family": family, "text": "it is so", "advice": "do it", **members}


def test_nothing_is_wrong(islet):
    done = islet("problems")
    assert (done.out, done.err) == ("", "showing 0 of 0 problems\n")


def test_what_is_wrong_is_shown_with_what_to_do(islet, client):
    client.start(key="order-7", staleDate=after(MINUTE))
    client.start(key="order-8", device="phone", staleDate=after(2 * MINUTE))
    client.advance(by=HOUR)
    done = islet("problems", code=1)
    head, first, second, empty, title, advice = done.out.splitlines()
    assert head.split() == ["SEVERITY", "WHAT", "NAME", "APP", "SINCE", "WHY"]
    assert first.split()[:5] == ["warning", "stale", "activity", "order-7", "com.example.pizza"]
    assert "59 m ago" in first and "nobody has updated it in time" in first and "58 m ago" in second
    assert (empty, title) == ("", "WHAT TO DO") and advice.startswith("stale ") and "islet explain" in advice
    assert done.err == "showing 2 of 2 problems: 2 warnings\n"
    assert islet("problems", "-o", "name", code=1).out.splitlines()[0] == "order-7"
    rows = islet("problems", "--json", code=1).json
    assert [(row["key"], row["since"]) for row in rows] == [
        ("order-7", after(MINUTE)), ("order-8", after(2 * MINUTE))]
    wide = islet("problems", "-o", "wide", code=1).out
    assert "UNTIL" in wide and "Delivery" in wide and "phone" in wide


def test_the_exit_code_is_of_what_is_asked_for(islet, client):
    client.start(key="order-7", staleDate=after(MINUTE))
    client.advance(by=HOUR)
    assert islet("problems", "--family", "widget").out == ""
    assert islet("problems", "--app", "com.example.other").out == ""
    assert islet("problems", "--filter", "what=failed").err == "showing 0 of 0 that fit, among 1\n"
    islet("problems", "--filter", "key~order", code=1)


def test_a_filter_finds_what_is_behind_more_than_an_answer_has(islet, client, home):
    """As where many orders are stale each night: what has failed since an unknown time comes behind them all."""
    home.provider().leave()
    home.client.applied("control.add", kind=TORCH)
    starts = [client.command("activity.start", type="Order", key=f"k{n}", attributes={}, contentState={},
                             staleDate=after(MINUTE + n)) for n in range(1_001)]
    for part in range(0, len(starts), 100):
        assert all(answer["ok"] for answer in client.batch(*starts[part:part + 100]))
    client.advance(by=HOUR)
    ask = lambda *words, code: islet("problems", *words, "-o", "name", code=code)
    assert ask("--limit", "2", code=1).err == "showing 2 of 1 002 problems: 1 002 warnings (activity 1 001, kind 1)\n"
    done = ask("--filter", "severity=critical or what=unserved", code=1)
    assert (done.out, done.err) == (f"{TORCH}\n", "showing 1 of 1 that fit, among the first 1 001\n")
    assert ask("--filter", "what=failed", code=0).out == ask("--filter", "severity=critical", code=0).out == ""
    assert len(ask("--filter", "key~k", "--limit", "1000", code=1).out.split()) == 1_000
    assert ask("--filter", "family=kind or key=k999", code=1).out == f"{TORCH}\nk999\n"
    behind = ask("--filter", "key=k1000", code=3)
    assert behind.out == "" and "of the family activity only the worst 1 000 were looked at" in behind.err
    assert "only the worst" in ask("--family", "activity", "--filter", "key=k1000", code=3).err
    assert ask("--app", "com.example.other", "--filter", "key=k1000", code=0).out == ""


@pytest.mark.parametrize("severities, code", [
    (["notice"], 0), (["warning", "notice"], 1), (["critical", "warning"], 2), (["critical"], 2),
], ids=str)
def test_the_worst_decides_the_exit_code(scripted, severities, code):
    islet = scripted(*map(row, severities))
    assert islet("problems", code=code).err.startswith(f"showing {len(severities)} of {len(severities)} problem")
    islet("problems", "--json", code=code)
    assert islet("problems", "--filter", "severity=notice", code=0).code == 0


def test_rows_of_all_sorts_are_named(scripted):
    id = "0198c0de-0000-7000-8000-0123456789ab"
    shown = scripted(
        row("warning", family="provider", id=id, state="halfOpen"), row("warning", family="control", kind="a.b.Torch", id=id),
        row("warning", "unserved", "kind", kind="a.b.Flight", count=12_000), row("warning", "full", "group", id="g"),
        row("warning", "full", "journal"), row("warning", failure="threw", family="widget", kind="W", id=id),
    )("problems", code=1).out
    for name in ("provider 0123456789ab", "control Torch/0123456789ab", "kind Flight", "group g", "journal"):
        assert name in shown
    assert "it is so (12 000)" in shown and "it is so: threw" in shown and shown.count("do it") == 1


@pytest.mark.parametrize("words", [
    ["--family", "disk"], ["--limit", "1001"], ["--limit", "0"], ["--filter", "what=broken"], ["--nonsense"],
], ids=" ".join)
def test_what_is_asked_for_wrongly_judges_nothing(islet, words):
    assert islet("problems", *words, code=3).out == ""


def test_nobody_who_answers_judges_nothing(islet, tmp_path):
    nobody = {"ISLET_COMMANDS": f"ipc://{tmp_path}/nobody"}
    done = islet("problems", "--timeout", "200ms", code=3, **nobody)
    assert done.out == "" and "is the service running?" in done.err


def test_an_older_service_judges_nothing(tmp_path):
    service = ScriptedService(tmp_path)
    try:
        assert "the service is older than this command" in Islet(service)("problems", code=3).err
    finally:
        service.close()

"""Numbers and dates that people write: what cannot be is refused, and nothing is too large to be answered."""

import json

import pytest

from support.cli import Islet
from support.dates import MINUTE, after
from support.service import run

LONG = "106751991167d"  # the longest span of days whose milliseconds are told in 64 bits


@pytest.fixture
def islet(service):
    return Islet(service)


@pytest.mark.parametrize("words", [
    ["activity", "start", "k", "--type", "T", "--state", "{}", "--stale-in", LONG],
    ["activity", "start", "k", "--type", "T", "--state", "{}", "--start-in", LONG, "--alert-title", "T"],
    ["activity", "start", "k", "--type", "T", "--state", "{}", "--start-at", LONG, "--alert-title", "T"],
    ["activity", "start", "k", "--type", "T", "--state", "{}", "--stale-at", f"+{LONG}"],
    ["activity", "end", "order-1", "--timestamp", LONG], ["activity", "update", "order-1", "--state", "{}", "--stale-in", LONG],
    ["clock", "advance", "--to", LONG],
], ids=lambda words: " ".join(words[-4:]))
def test_a_date_beyond_all_dates_is_wrong_usage(islet, client, words):
    client.start(key="order-1")
    done = islet(*words, code=2)
    assert "from now is beyond all dates" in done.err


@pytest.mark.parametrize("words, code", [
    (["activity", "at", LONG, "order-1"], 3), (["activity", "diff", "order-1", LONG, "1"], 3),
    (["activity", "history", "order-1", "--since", LONG], 0), (["activity", "explain", "order-1", "--since", LONG], 0),
    (["info", "--timeout", LONG], 0), (["wait", "order-1", "--for", "active", "--timeout", LONG], 0),
    (["activity", "list", "--filter", f"timestamp<{LONG}"], 0),
    (["activity", "list", "--filter", f"not timestamp<-{LONG}"], 0),
    (["clock", "advance", LONG], 2), (["tail", "--since", LONG, "--limit", "1"], 0),
    (["check", "--answer-p99", f"{LONG}:"], 3), (["check", "--lateness-p99", f"{LONG}:{LONG}", "--commit-p99", "off"], 0),
    (["top", "--once", "--timeout", LONG], 0),
])
def test_a_span_as_long_as_can_be_is_answered(islet, client, words, code):
    client.start(key="order-1", staleDate=after(MINUTE))
    done = islet(*words, code=None)
    assert done.code == code, f"{done.code}\n{done.out}\n{done.err}"


@pytest.mark.parametrize("words", [
    ["activity", "start", "k", "--type", "T", "--state", "{}"], ["activity", "update", "order-1", "--state", "{}"],
], ids=lambda words: words[1])
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999"])
def test_a_relevance_that_is_no_number_is_wrong_usage(islet, client, words, number):
    client.start(key="order-1")
    assert "--relevance is a number" in islet(*words, f"--relevance={number}", code=2).err
    islet(*words, "--relevance=-0.5")
    assert client.get(key=words[2])["relevanceScore"] == -0.5


@pytest.mark.parametrize("first", [2**42, 2**44, 2**63, 2**64 - 1])
def test_a_dump_from_beyond_the_last_batch_is_empty(serve, tmp_path, first):
    service = serve({"--store": None, "--data": str(tmp_path / "data")})
    Islet(service)("activity", "start", "k", "--type", "T", "--state", "{}")
    dump = lambda first: run("journal", "dump", "--data", tmp_path / "data", "--from", first)
    assert any("topic" in json.loads(line) for line in dump(0).stdout.splitlines())
    assert (dump(first).returncode, dump(first).stdout) == (0, "")


@pytest.mark.parametrize("date", [
    "2026-02-31T09:00Z", "2026-02-29", "2026-02-29T00:00:00Z", "2026-02-03T09::30Z", "2026-02-+3T9:5Z", "2026-2-3T09:05Z",
    "2026-02-03T24:00Z", "2026-02-03T23:59:60Z", "2026-13-01T09:00Z", "2026-00-01", "2026-04-31", "2026-02-03T09:00",
    "2026-02-03T09:00z", "2026-02-03T09:00Zx", "2026-02-03T09:00+01:00", "1969-12-31T23:59Z", "2026-02-03T09:00:00.5Z",
    "2026-02-03 09:00Z", "１９２６-02-03", "20260203T090000Z", "",
])
def test_a_date_that_there_is_not_is_wrong_usage(islet, client, date):
    islet("activity", "start", "k", "--type", "T", "--state", "{}", "--stale-at", date, code=2)
    for filter in (f"startedAt<'{date}'", f"not startedAt<'{date}'"):
        islet("activity", "end", "--filter", filter, "--yes", code=2)


@pytest.mark.parametrize("date, milliseconds", [
    ("2030-02-28T09:00Z", 1_898_499_600_000), ("2028-02-29T00:00:30Z", 1_835_395_230_000),
    ("2030-06-01", 1_906_502_400_000), ("2030-06-01T00:00:00.250Z", 1_906_502_400_250),
    ("2030-06-01T00:00:00.206Z", 1_906_502_400_206), ("2030-06-01T00:00:59.999Z", 1_906_502_459_999),
    ("1906502400000", 1_906_502_400_000),
])
def test_a_date_is_the_moment_that_it_names(islet, client, date, milliseconds):
    islet("activity", "start", "k", "--type", "T", "--state", "{}", "--stale-at", date)
    assert client.get(key="k")["staleDate"] == milliseconds
    assert islet("activity", "list", "--filter", f"staleDate={date}", "-o", "name").out == "k\n"
    assert islet("activity", "list", "--filter", f"not staleDate<={date}", "-o", "name").out == ""


@pytest.mark.parametrize("words, complaint", [
    (["--entities=-5:95"], "--entities wants WARN:CRIT"), (["--entities", "95:80"], "--entities warns only where"),
    (["--lagging", "10:5"], "WARN is above CRIT"), (["--providers", "1:2"], "WARN is below CRIT"),
    (["--memory", "2GiB:1GiB"], "WARN is above CRIT"), (["--answer-p99", "2s:1s"], "WARN is above CRIT"),
])
def test_thresholds_that_judge_nothing_are_told(islet, words, complaint):
    done = islet("check", *words, code=3)
    assert complaint in done.out


def test_thresholds_that_are_equal_or_left_out_are_well(islet):
    islet("check", "--entities", "95:95", "--providers", "off", "--lagging", ":10", "--overdue", "100:")


@pytest.mark.parametrize("words, hint", [
    (["activity", "list", "--filter", "next<1800"], "1800s or 1800ms"),
    (["activity", "list", "--filter", "staleDate<1700000000"], "1700000000000 was probably meant"),
    (["tail", "--filter", "at>1700000000"], "1700000000000 was probably meant"),
    (["tail", "--since", "1700000000"], "1700000000000 was probably meant"),
    (["tail", "--since", "10"], "10s or 10ms"),
    (["activity", "history", "order-1", "--since", "1700000000"], "1700000000000 was probably meant"),
    (["activity", "history", "order-1", "--since", "yesterday"], "2026-01-31T09:00Z"),
    (["activity", "start", "k", "--type", "T", "--state", "{}", "--stale-in", "1800"], "1800s, 1800m or 1800ms"),
    (["activity", "start", "k", "--type", "T", "--state", "{}", "--stale-at", "1800000000"], "1800000000000 was probably"),
    (["activity", "list", "--timeout", "5"], "5s, 5m or 5ms"), (["activity", "list", "--timeout", "5 s"], "250ms, 30s"),
    (["clock", "advance", "90"], "90s, 90m or 90ms"), (["clock", "advance", "--to", "1800000000"], "1800000000000"),
    (["activity", "end", "order-1", "--dismissal", "1800"], "1800s or 1800ms"),
    (["context", "add", "shop", "--timeout", "0s"], "longer than 0 s"),
], ids=lambda words: " ".join(words[-2:]) if isinstance(words, list) else "")
def test_a_time_without_a_unit_or_in_another_one_is_refused_with_what_is_valid(islet, client, tmp_path, words, hint):
    client.start(key="order-1")
    done = islet(*words, code=2, XDG_CONFIG_HOME=tmp_path)
    assert hint in done.err and done.out == ""


def test_values_may_begin_with_a_dash(islet, client):
    client.advance(by=20 * MINUTE)
    start = ("activity", "start", "k", "--type", "T", "--state", "{}", "--relevance", "-5", "--stale-at", "-5m")
    islet(*start, "--alert-title", "-10 °C", "--alert-body", "--")
    activity = client.get(key="k")
    assert activity["state"] == "stale" and activity["relevanceScore"] == -5
    islet("activity", "end", "k", "--dismissal", "-5m")
    assert client.get(key="k")["state"] == "dismissed"
    assert "Missing value" in islet("activity", "start", "k", "--type", code=2).err

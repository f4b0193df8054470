"""Filters: what there is not is wrong usage before anything is read or changed, and the valid ones are listed."""

import json
import re

import pytest

from support.cli import Islet
from support.provider import toggle
from support.service import ROOT

COMMON = json.loads((ROOT / "proto-json/schemas/common.json").read_text())["$defs"]


@pytest.fixture
def islet(service):
    return Islet(service)


def answer(name, member):
    """The schema of the rows in an answer."""
    schema = json.loads((ROOT / f"proto-json/schemas/answers/{name}.json").read_text())
    return schema["properties"][member]["items"]


def line(name):
    return json.loads((ROOT / f"proto-json/schemas/cli/{name}.json").read_text())


SUBJECTS = {
    "activity list": COMMON["entity"], "control list": COMMON["control"], "widget list": COMMON["widget"],
    "group list g": COMMON["groupItem"], "providers": answer("provider.list", "providers"),
    "subscribers": answer("subscriber.list", "subscribers"), "timers": answer("timer.list", "timers"),
    "problems": answer("problem.list", "problems"), "slots": answer("slot.list", "devices"), "apps": line("apps"), "rules": line("rules"),
}


def resolved(schema):
    schema = {} if schema is True else schema
    while "$ref" in schema:
        schema = COMMON[schema["$ref"].rpartition("/")[2]]
    return schema


def listed(done):
    """What an error lists after its colon."""
    return re.search(r": ([^:\n]+), at character \d+$", done.err, re.MULTILINE)[1].split(", ")


@pytest.mark.parametrize("words", SUBJECTS)
def test_all_members_of_the_contract_and_no_others_can_be_asked_for(islet, words):
    schema = SUBJECTS[words]
    usage = 3 if words == "problems" else 2  # who judges says that nothing could be judged
    done = islet(*words.split(), "--filter", "not nothing=1", code=usage)
    assert "has no member 'nothing'" in done.err
    assert set(listed(done)) == set(schema["properties"]) - {"presentation"}
    for name, member in schema["properties"].items():
        if name == "presentation":  # only in the order of presentation
            continue
        member = resolved(member)
        if "enum" in member and all(isinstance(value, str) for value in member["enum"]):
            done = islet(*words.split(), "--filter", f"not {name}=nothing", code=usage)
            assert f"'{name}' is never 'nothing'" in done.err
            assert set(listed(done)) - {"removed"} == set(member["enum"]) - {"removed"}, name
        if member.get("type") == "object" and "properties" in member:
            done = islet(*words.split(), "--filter", f"not {name}.nothing=1", code=usage)
            assert f"'{name}' has no member 'nothing'" in done.err
            assert set(listed(done)) == set(member["properties"]), name


WRONG = [
    ("startedAt<2026-06-31", "'startedAt' is a date such as 2026-01-31"), ("startedAt<june", "'startedAt' is a date"),
    ("next<10q", "'next' is a date"), ("revision>many", "'revision' is a number, or a length of time"),
    ("state=stael", "'state' is never 'stael': pending, active, stale, ended, dismissed"),
    ("state~stael", "no value of 'state' is like 'stael'"), ("colour=red", "an activity has no member 'colour': id, app"),
    ("colour", "an activity has no member 'colour'"), ("next.when<1m", "'next' has no member 'when': at, cause"),
    ("key.inner=1", "'key' has no members"), ("startedAt~2026", "'startedAt' is a date, which = != < <= > and >="),
]


@pytest.mark.parametrize("filter, complaint", WRONG)
def test_what_there_is_not_selects_nothing_and_its_opposite_changes_nothing(islet, client, filter, complaint):
    client.start(key="order-1")
    for words, text in [(["list"], filter), (["end", "--yes"], f"not {filter}"),
                        (["dismiss", "--yes"], f"key=order-1 or not ({filter})")]:
        assert complaint in islet("activity", *words, "--filter", text, code=2).err
    assert client.get(key="order-1")["state"] == "active"


def test_it_is_wrong_before_a_service_is_asked(islet):
    done = islet("activity", "list", "--filter", "state=stael", "--commands", "tcp://127.0.0.1:9", code=2)
    assert "'state' is never 'stael'" in done.err


@pytest.mark.parametrize("words, filter, complaint", [
    (["tail"], "to=stael", "'to' is never 'stael': pending"), (["tail"], "event=activity.stael", "'event' is never"),
    (["tail"], "lateBy>much", "'lateBy' is a number"), (["activity", "history", "k"], "cause=nobody", "'cause' is never"),
    (["widget", "list"], "family=small", "'family' is never 'small': systemSmall"),
    (["control", "list"], "isDisabled=perhaps", "'isDisabled' is true or false"),
    (["control", "list"], "isDisabled<true", "'isDisabled' is true or false"),
    (["top", "--once"], "state=stael", "'state' is never 'stael'"), (["top", "--once"], "colour=red", "no member 'colour'"),
    (["top", "--once"], "state!=stael", "'state' is never 'stael'"), (["top", "--once"], "startedAt<june", "is a date"),
    (["top", "--once"], "(state=stale", "a '(' without its ')'"),
])
def test_everything_that_takes_a_filter_says_what_is_wrong(islet, words, filter, complaint):
    assert complaint in islet(*words, "--filter", filter, code=2).err


@pytest.mark.parametrize("filter", ["state=stale", "key=order word", "app=com.example", "revision=3", "type=Deliv*"])
def test_a_top_takes_words_and_what_lists_take(islet, filter):
    islet("top", "--once", "--filter", filter)


def test_a_user_s_own_values_of_another_kind_are_neither_below_nor_not_below(islet, client):
    client.start(key="number", contentState={"eta": 5})
    client.start(key="text", contentState={"eta": "late"})
    client.start(key="nothing", contentState={})
    ask = lambda filter: set(islet("activity", "list", "--filter", filter, "-o", "name").out.split())
    assert ask("contentState.eta<soon") == {"text"}
    assert ask("not contentState.eta<soon") == {"nothing"}
    assert ask("contentState.eta!=soon") == {"number", "text", "nothing"}
    assert ask("contentState.eta<soon or key=number") == {"number", "text"}


def test_names_of_members_are_found_in_any_case(islet, client):
    client.start(key="order-1", contentState={"eta": 5})
    assert islet("activity", "list", "--filter", "CONTENTSTATE.eta=5 and Key~ORDER", "-o", "name").out == "order-1\n"
    assert islet("activity", "list", "--filter", "contentState.ETA=5", "-o", "name").out == ""


@pytest.mark.parametrize("family, entity", [("activity", "entity"), ("control", "control"), ("widget", "widget")])
def test_a_history_is_asked_for_what_its_events_can_have_and_for_nothing_else(islet, family, entity):
    """An event of a history says what it has of one entity, and has no topic."""
    members = set(COMMON[entity]["properties"])
    for path in (ROOT / "proto-json/schemas/events").glob(f"{family}.*.json"):
        events = json.loads(path.read_text())["properties"]
        members |= {name for name, member in events.items() if name != family}
    ask = lambda filter: islet(family, "history", "k", "--filter", filter, code=2)
    done = ask("not nothing=1")
    assert set(listed(done)) == members - {"presentation"} and f"an event of {'an' if family[0] == 'a' else 'a'} {family} has no" in done.err
    for filter in ("topic~com.", "group", "not family=group", "value" if family == "activity" else "contentState"):
        assert "--filter" in ask(filter).err
    assert "'event' is never 'group.set'" in ask("event=group.set").err
    assert "'to' is never 'present'" in ask("to=present").err


@pytest.mark.parametrize("condition, complaint", [
    ("colour=red", "an activity has no member 'colour': id, app"), ("next.when=1", "'next' has no member 'when'"),
    ("state=stael", "'state' is never 'stael'"), ("State=stael", "'state' is never 'stael'"),
    ("Next.at=5", "'next.at' is a date"), ("not state=5", "has no member 'not state'"), ("cause=nobody", "'cause' is never 'nobody'"),
])
def test_nobody_waits_for_what_never_is(islet, client, condition, complaint):
    client.start(key="order-1")
    assert complaint in islet("wait", "order-1", "--for", condition, "--timeout", "30s", code=2).err


@pytest.mark.parametrize("condition", ["ended", "state=ended", "stale,ended"])
def test_what_was_dismissed_has_ended(islet, client, condition):
    client.start(key="order-1")
    client.applied("activity.dismiss", key="order-1")
    islet("wait", "order-1", "--for", condition)
    islet("wait", "order-1", "--for", "state=stale", code=4)


@pytest.mark.parametrize("condition", ["state=active", "contentState.colour=null", "device=null", "revision=1", "State=active",
                                       "contentstate.eta=5", "Next.Cause=activeLimit", "contentState.it's on=1"])
def test_what_can_be_is_waited_for(islet, client, condition):
    """Members' names are found in any case, as in a filter."""
    client.start(key="order-1", contentState={"eta": 5, "it's on": 1})
    islet("wait", "order-1", "--for", condition)


# What rows really have


ELSEWHERE = "has no member 'presentation' here: it is only in a list in the order of presentation"


@pytest.mark.parametrize("words", [
    "activity list", "activity list --order other --device phone-1", "activity end --yes", "activity dismiss --yes",
    "activity history order-1", "tail", "top --once",
])
def test_a_member_of_other_lists_is_refused_and_said_where_it_is(islet, client, words):
    client.start(key="order-1", device="phone-1")
    for filter in ("presentation.lockScreen!=1", "not presentation", "Presentation"):
        if words.startswith("top") and "!=" not in filter and "not " not in filter:
            continue  # a word alone stands anywhere in a row there
        assert ELSEWHERE in islet(*words.split(), "--filter", filter, code=2).err
    assert client.get(key="order-1", device="phone-1")["state"] == "active"


def test_the_order_of_presentation_can_be_asked_for_where_rows_have_it(islet, client):
    for score in (1, 2, 3):
        client.start(key=f"order-{score}", device="phone-1", relevanceScore=score)
    ask = lambda filter: [row["key"] for row in islet(
        "activity", "list", "--device", "phone-1", "--order", "presentation", "--filter", filter, "--json").json]
    assert ask("presentation.lockScreen!=1") == ["order-2", "order-1"] and ask("presentation.lockScreen=1") == ["order-3"]
    assert "'presentation'" in islet("wait", "order-1", "--device", "phone-1", "--for", "presentation.lockScreen=1", code=2).err


def test_the_family_of_an_event_is_that_of_its_topic(islet):
    assert "'family' is never 'systemSmall'" in islet("tail", "--filter", "not family=systemSmall", code=2).err


def test_a_list_is_so_where_one_of_its_values_is(islet, home, client):
    lights = home.provider(toggle("Torch"), toggle("Lamp"))
    doors = home.provider(toggle("Door"))
    ask = lambda filter: {row["id"] for row in islet("providers", "--filter", filter, "--json").json}
    both = {lights.id, doors.id}
    assert ask("kinds=Torch") == ask("kinds=Lamp") == ask("kinds~tor*") == {lights.id}
    assert ask("kinds!=Torch") == ask("not kinds=Torch") == ask("kinds!~torch") == {doors.id}
    assert ask("kinds=Tor") == ask("widgets=Torch") == set() and ask("kinds!=Nothing") == ask("kinds") == both
    client.start(device="phone-1")
    assert islet("slots", "--filter", f"apps={client.app}", "-o", "name").out == "phone-1\n"
    assert islet("slots", "--filter", f"apps!={client.app}", "-o", "name").out == ""


def test_a_flag_alone_is_what_it_is_true_of(islet, home):
    """Also one that always stands: a button that is not disabled has the flag all the same."""
    provider = home.provider()
    shown = home.shown(provider)
    disabled = home.add(device="phone-1")
    provider.gives(True, disabled=True)
    home.until(disabled, state="disabled")
    ask = lambda *words: {row["id"] for row in islet("control", *words, "--json").json}
    assert ask("list", "--filter", "isDisabled") == ask("list", "--filter", "isDisabled=true") == {disabled}
    assert ask("list", "--filter", "not isDisabled") == ask("list", "--filter", "isDisabled=false") == {shown}
    assert ask("list", "--filter", "isDisabled or isRedacted") == {disabled}
    events = islet("control", "history", disabled, "--filter", "isDisabled", "--json").json
    assert [event["event"] for event in events] == ["control.shown"]
    assert islet("control", "remove", "--filter", "isDisabled", "--yes").err.endswith("removed 1 of 1 control\n")
    assert ask("list") == {shown}

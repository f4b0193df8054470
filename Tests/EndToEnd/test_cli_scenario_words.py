"""`islet scenario`: what is expected is of members, words and names that there can be, and of what can be told."""

import json

import pytest

from support.commands import Commands
from support.schemas import CONTRACT
from support.service import environment, run

COMMON = json.loads((CONTRACT / "schemas" / "common.json").read_text())["$defs"]

HEAD = """name: an order
steps:
  - start: {key: order-1, contentState: {note: a5, n: 5}, staleDate: 30m}
"""
EVENT_MEMBERS = [
    "from", "to", "lateBy", "alert", "notification", "interaction", "exempt", "rules", "activity", "control", "widget",
    "group"]


@pytest.fixture
def play(tmp_path):
    """Plays the scenario with these steps after a start; its exit code and all that it says."""
    def play(*steps, words=()):
        path = tmp_path / "s.yaml"
        path.write_text(HEAD + "".join(f"  - {step}\n" for step in steps))
        done = run("scenario", "run", path, *words, env=environment())
        return done.returncode, done.stdout + done.stderr
    return play


@pytest.fixture
def complaints(tmp_path):
    """What is said of a scenario with each of these steps after a start."""
    def complaints(steps):
        paths = [tmp_path / f"{number}.yaml" for number in range(len(steps))]
        for path, step in zip(paths, steps):
            path.write_text(f"{HEAD}  - {step}\n")
        done = run("scenario", "check", *paths, env=environment())
        assert done.returncode == 2
        lines = done.stderr.splitlines()
        return ["\n".join(line for line in lines if line.startswith(f"{path}:")) for path in paths]
    return complaints


UPDATE = "update: {key: order-1, contentState: {n: 6}}"


def test_what_cannot_be_told_does_not_hold(play):
    for condition in ("note: {not: {contains: 5}}", "n: {not: {matches: '5'}}", "eat: {not: {above: 5}}"):
        code, text = play(f"state: {{key: order-1, contentState: {{{condition}}}}}")
        assert code == 1 and "of which that cannot be told" in text, text


@pytest.mark.parametrize("sent, asked", [
    ("{count: 7}", "{count: 1}"), ("{count: 7}", "{count: 7}"), ("{count: 7}", "{not: {count: 1}}"),
    ("{count: 7}", "{count: {above: 0}, not: 3}"), ("{present: false}", "{present: true}"),
    ("{absent: true}", "{absent: false}"), ("{not: 9}", "{not: 3}"), ("{above: 3}", "{not: {above: 3}}"),
    ("{one of: 3}", "{one of: [present]}"), ("{count: 7}", "{all of: [{count: 1}, present]}"),
])
def test_a_condition_of_an_object_with_such_a_member_does_not_hold(play, sent, asked):
    for step in (f"state: {{key: o, contentState: {{a: {asked}}}}}",
                 f"{{update: {{key: o, contentState: {{a: {sent}}}}}, "
                 f"no events: [{{event: activity.updated, activity: {{contentState: {{a: {asked}}}}}}}]}}",
                 f"{{update: {{key: o, contentState: {{a: {sent}}}}}, "
                 f"events: [{{event: activity.updated, activity: {{contentState: {{a: {asked}}}}}}}]}}"):
        code, text = play(f"start: {{key: o, contentState: {{a: {sent}}}}}", step)
        assert code == 1, (step, text)
        if step.startswith("state"):
            word = sent[1:].partition(":")[0]
            assert f"of which that cannot be told; of a member called '{word}': equals: {{…}}" in text, text
            code, text = play(f"start: {{key: o, contentState: {{a: {sent}}}}}",
                              f"state: {{key: o, contentState: {{a: {{equals: {sent}}}}}}}",
                              "state: {key: o, contentState: {a: present}}")
            assert code == 0, text


def test_an_object_has_no_count(play):
    for condition in ("count: 2", "not: {count: 3}"):
        code, text = play("start: {key: o, contentState: {a: {b: 1, c: 2}}}",
                          f"state: {{key: o, contentState: {{a: {{{condition}}}}}}}")
        assert code == 1 and "of which that cannot be told" in text, text


# Keys


def test_names_are_texts_however_they_are_written(play):
    code, text = play(
        "start: {key: 1042, device: 7, contentState: {n: 1042}}",
        "state: {key: 1042, device: 7, is: active, contentState: {n: 1042}}",
        "{update: {key: 1042, device: 7, contentState: {key: 5}}, state: {key: 1042, device: 7, contentState: {key: 5}}}",
        "{send: {op: activity.get, key: 1042}, expect: {error: {code: badField}}}")
    assert code == 0, text


def test_a_key_may_have_the_form_of_an_id(play):
    key = "206c6dd2-a19a-47bc-9aa0-5904dce8e997"
    code, text = play(
        f"start: {{key: {key}, contentState: {{n: 1}}}}", f"state: {{key: {key}, is: active, contentState: {{n: 1}}}}",
        f"state: {{{key}: active}}", f"{{end: {{key: {key}, dismissalPolicy: immediate}}, state: {{{key}: dismissed}}}}")
    assert code == 0, text
    code, text = play(f"start: {{id: {key}, key: o, contentState: {{}}}}", f"state: {{id: {key}, is: active}}")
    assert code == 0, text
    code, text = play(f"start: {{id: {key}, key: o, contentState: {{}}}}", f"state: {{key: {key}, is: active}}")
    assert code == 1 and f"there is no activity {key}" in text, text


# Events


def test_a_later_event_is_of_the_same_activity_as_its_first(play):
    """It carries neither a key nor a state that is as it was; both may be asked for all the same."""
    code, text = play(
        "{update: {key: order-1, contentState: {n: 6}, staleDate: 30m}, "
        "events: {exactly: [{activity: {key: order-1, type: Activity, state: active}}]}}",
        "{advance: 30m, events: [{event: activity.stale, activity: {state: stale, key: {matches: ^order}}}]}",
        "{advance: 9h, no events: [{event: activity.ended, activity: {state: {not: ended}}}]}")
    assert code == 0, text
    for members in ("key: order-1", "state: active", "app: com.example.scenario", "device: absent", "state: {not: stale}"):
        code, text = play(f"{{{UPDATE}, no events: [{{event: activity.updated, activity: {{{members}}}}}]}}")
        assert code == 1 and "activity.updated order-1 came, and was not to come" in text, members


def test_a_later_event_of_a_control_has_its_kind(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("""name: a torch
device: phone-1
provider: {controls: {Torch: {value: false}}}
steps:
  - add: {control: Torch}
    events: [{event: control.shown, control: {kind: Torch, device: phone-1, state: shown, template: toggle}}]
""")
    done = run("scenario", "run", path, env=environment())
    assert done.returncode == 0, done.stdout


def test_events_of_what_was_there_before_are_known_too(play, service, client, wire):
    client = Commands(wire, service.commands, "com.example.scenario")
    client.start(key="before", contentState={"n": 1})
    words = ("--commands", service.commands)
    update = "update: {key: before, contentState: {n: 2}}"
    for event in ("{event: activity.updated, of: before}", "{activity: {key: before}}"):
        code, text = play(f"{{{update}, no events: [{event}]}}", words=words)
        assert code == 1 and "activity.updated before came, and was not to come" in text, text
        client.applied("activity.update", key="before", contentState={"n": 1})
        client.applied("activity.end", key="order-1", dismissalPolicy="immediate")
    code, text = play(f"{{{update}, events: [{{event: activity.updated, of: before, activity: {{key: before}}}}]}}", words=words)
    assert code == 0, text


NO_EVENT = [
    ("event: activity.updated, activity: {next: {cuase: staleDate}}", "'cuase' is no member of 'next'; did you mean 'cause'?"),
    ("event: activity.updated, activity: {next: {cause: staledate}}", "'staledate' is no cause; did you mean 'staleDate'?"),
    ("event: activity.started, by: {clinet: present}", "'clinet' is no member of 'by'; did you mean 'client'?"),
    ("event: activity.ended, activity: {state: edned}", "'edned' is no state; did you mean 'ended'?"),
    ("event: activity.updated, activity: {presentation: present}", "'presentation' is no member of an activity"),
    ("event: activity.started, control: {kind: present}", "activity.started never has 'control'"),
    ("event: control.shown, to: stale", "'stale' is no state"), ("event: activity.ended, cause: retry", "'retry' is no cause"),
    ("activity: {revision: two}", "'revision' is a number, and never 'two'"),
    ("activity: {revision: '2'}", "'revision' is a number, and never '2'"), ("at: noon", "'at' is a date"),
    ("activity: {endedAt: soon}", "'endedAt' is a date"), ("control: {isDisabled: yes}", "'isDisabled' is true or false"),
    ("activity: {state: {name: active}}", "'name' is no condition, and 'state' has no members"),
    ("activity: {next: 30m}", "'next' has members, and is never '30m': its date is 'at'"),
    ("activity: {key: 5}", "'key' is a text, and never 5 without quotes"), ("activity: {contentState: {}}", "'contentState' is empty"),
    ("event: activity.started, of: order-2", "no step does anything with a key or kind 'order-2': nothing would be looked at"),
    ("event: activity.started, of: oredr-1", "did you mean 'order-1'?"),
    ("event: activity.started, of: [order-1]", "of is a key, a kind or a $name, and this is a list"),
    ("event: activity.stale, cause: command", "'command' is no cause of activity.stale: one of staleDate, heartbeat"),
    ("event: activity.stale, cause: {one of: [staleDate, command]}", "'command' is no cause of activity.stale"),
    ("event: activity.stale, cause: {matches: '^comm'}", "no cause of activity.stale is matching /^comm/: one of staleDate"),
    ("event: activity.stale, from: ended", "'ended' is no state that activity.stale comes from: one of active"),
    ("event: activity.stale, from: {contains: nde}", "no state that activity.stale comes from is containing 'nde'"),
    ("event: activity.stale, to: active", "'active' is no state that activity.stale leads to: one of stale"),
    ("event: activity.scheduled, from: pending", "'pending' is no state that activity.scheduled comes from"),
    ("event: control.shown, cause: person", "'person' is no cause of control.shown"),
    ("event: widget.added, cause: push", "'push' is no cause of widget.added"),
    ("event: activity.stale, activity: {state: active}", "'active' is no state that activity.stale leads to: one of stale"),
    ("event: activity.stale, activity: {cause: command}", "'command' is no cause of activity.stale"),
    ("event: control.removed, control: {state: shown}", "'shown' is no state that control.removed leads to"),
    ("event: activity.stale, from: absent", "activity.stale always has 'from'"),
    ("event: activity.stale, from: null", "activity.stale always has 'from'"),
    ("event: activity.stale, cause: {present: false}", "activity.stale always has 'cause'"),
    ("event: activity.stale, activity: absent", "activity.stale always has 'activity'"),
    ("event: activity.scheduled, from: present", "activity.scheduled never has 'from'"),
    ("event: widget.added, from: {absent: false}", "widget.added never has 'from'"),
    ("event: group.deleted, from: removed", "'removed' is no state that group.deleted comes from"),
    ("cause: {matches: '^comand'}", "no cause is matching /^comand/"), ("to: {contains: stael}", "no state is containing 'stael'"),
]
# Not their opposites, for which all that comes is something.
NO_NAME = [
    ("no events: [{activity: {key: {matches: '^oredr'}}}]", "no step does anything with the key matching /^oredr/"),
    ("no events: [{activity: {key: {contains: oredr}}}]", "no step does anything with the key containing 'oredr'"),
    ("no events: [{activity: {key: {all of: [order-1, {matches: 2$}]}}}]", "no step does anything with the key matching /2$/"),
    ("no events: [{activity: {device: order-1}}]", "no step does anything with the device 'order-1'"),
    # What stands in a payload names nothing, nor do the words of a step.
    ("no events: [{event: activity.stale, of: a5}]", "no step does anything with a key or kind 'a5'"),
    ("no events: [{event: activity.stale, of: n}]", "no step does anything with a key or kind 'n'"),
    ("no events: [{event: activity.stale, of: 30m}]", "no step does anything with a key or kind '30m'"),
    ("state: {a5: gone}", "no step does anything with a key 'a5'"), ("state: {Activity: gone}", "no step does anything with a key 'Activity'"),
]


def test_what_is_no_name_is_no_expectation(complaints):
    for (step, complaint), said in zip(NO_NAME, complaints([step for step, _ in NO_NAME])):
        assert complaint in said, f"{step}: {said}"


def test_what_events_are_may_be_expected(play, tmp_path):
    """Of each event that stands in the contract as an example, and of words and names by a part of them."""
    golden = [json.loads(line) for path in (CONTRACT / "examples/good/events").glob("*.jsonl") for line in path.open()]
    assert len({event["event"] for event in golden}) == 34
    path = tmp_path / "golden.yaml"
    steps = [{name: event[name] for name in ("event", "from", "to", "cause") if name in event} for event in golden]
    path.write_text(HEAD + "".join(f"  - no events: {json.dumps([step])}\n" for step in steps))
    done = run("scenario", "check", path, env=environment())
    assert done.returncode == 0, done.stderr
    code, text = play(
        "{advance: 1m, no events: [{cause: {matches: 'Date$'}, activity: {key: {matches: '^order'}}}, {cause: {contains: Date}}]}",
        "send: {op: group.create, group: group.home}", "send: {op: group.set, group: group.home, key: lamp, value: {}}",
        "{advance: 1m, no events: [{event: group.set, of: lamp}, {group: {group: group.home}}]}")
    assert code == 0, text
    code, text = play(
        "send: {op: group.create, group: group.home}",
        "{send: {op: group.set, group: group.home, key: lamp, value: {}}, no events: [{event: group.set, of: lamp}]}")
    assert code == 1 and "group.set lamp came" in text, text


def test_what_no_event_can_be_is_no_expectation(complaints):
    """Neither it nor its opposite."""
    steps, expected = ["no events: [{activity: {key: oredr-1}}]"], ["did you mean 'order-1'?"]
    for event, complaint in NO_EVENT:
        steps += [f"no events: [{{{event}}}]", f"no events: [{{{event.replace(': {', ': {not: {', 1)}{'}' * (': {' in event)}}}]"]
        expected += [complaint] * 2
    for step, complaint, said in zip(steps, expected, complaints(steps)):
        assert complaint in said, f"{step}: {said}"


def test_every_event_may_have_the_members_of_its_schema_and_no_others(tmp_path):
    right, wrong = tmp_path / "right.yaml", []
    steps = []
    for file in sorted((CONTRACT / "schemas" / "events").glob("*.*.json")):
        name, schema = file.stem, json.loads(file.read_text())
        members = {member for member, what in schema["properties"].items() if what is not False} - {"event"}
        steps += [f"  - events: [{{event: {name}, {member}: present}}]\n" for member in sorted(members)]
        path = tmp_path / f"{name}.yaml"
        others = sorted(set(EVENT_MEMBERS) - members - {"from"})
        path.write_text(f"name: {name}\nsteps:\n" + "".join(
            f"  - events: [{{event: {name}, {member}: present}}]\n" for member in others))
        wrong += [(path, len(others))]
    right.write_text("name: right\nsteps:\n" + "".join(steps))
    done = run("scenario", "check", right, env=environment())
    assert done.returncode == 0, done.stderr
    done = run("scenario", "check", *(path for path, _ in wrong), env=environment())
    assert done.returncode == 2
    for path, count in wrong:
        assert sum(line.startswith(f"{path}:") for line in done.stderr.splitlines()) == count, (path, done.stderr)


# States and answers


def members_of(schema, depth=3):
    """The paths of the members that a schema names, without those of users' own values."""
    schema = COMMON[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    for name, what in schema.get("properties", {}).items():
        yield (name,)
        if isinstance(what, dict) and depth > 1:
            yield from ((name, *rest) for part in [what, *what.get("anyOf", []), *what.get("oneOf", [])]
                        for rest in members_of(part, depth - 1))


@pytest.mark.parametrize("family, schema", [("activity", "entity"), ("control", "control"), ("widget", "widget")])
def test_all_members_of_entities_may_be_expected(tmp_path, family, schema):
    # Only lists in the order of presentation have that.
    paths = sorted({path for path in members_of(COMMON[schema]) if path[0] != "presentation"})
    assert len(paths) > 20
    address = {"activity": "key"}.get(family, family)
    lines = []
    for path in paths:
        value = "present"
        for name in reversed(path):
            value = f"{{{name}: {value}}}"
        if path[0] not in ("key", "id", "app", "device"):
            lines += [f"  - state: {{{address}: a, {value[1:]}\n"]
        lines += [f"  - send: {{op: {family}.get}}\n    expect: {{{family}: {value}}}\n"]
    file = tmp_path / "s.yaml"
    file.write_text("name: all\nsteps:\n" + "".join(lines))
    done = run("scenario", "check", file, env=environment())
    assert done.returncode == 0, done.stderr


NO_STATE = [
    ("state: {key: order-1, next: {cuase: absent}}", "'cuase' is no member of 'next'; did you mean 'cause'?"),
    ("state: {key: order-1, next: {not: {cause: stealDate}}}", "'stealDate' is no cause"),
    ("state: {key: order-1, contentState: {}}", "'contentState' is empty: nothing would be looked at"),
    ("state: {key: order-1, contentState: {n: {one of: [{}, 7]}}}", "'n' is empty"),
    ("state: {key: order-1, staleDate: {not: tomorrow}}", "'staleDate' is a date"),
    ("state: {control: T, is: placeholder}", "'placeholder' is no state of a control"),
    (f"{{{UPDATE}, expect: {{activity: {{stat: absent}}}}}}", "'stat' is no member of an activity; did you mean 'state'?"),
    (f"{{{UPDATE}, expect: {{activity: {{state: {{not: actve}}}}}}}}", "'actve' is no state; did you mean 'active'?"),
    (f"{{{UPDATE}, expect: {{error: {{not: {{code: conflcit}}}}}}}}", "'conflcit' is no error code; did you mean 'conflict'?"),
    (f"{{{UPDATE}, expect: {{error: {{not: conflict}}}}}}", "'error' has members, and is never 'conflict'"),
    (f"{{{UPDATE}, expect: {{error: {{cod: absent}}}}}}", "'cod' is no member of 'error'; did you mean 'code'?"),
    (f"{{{UPDATE}, expect: {{ignored: {{not: unchangd}}}}}}", "'unchangd' is no reason; did you mean 'unchanged'?"),
    (f"{{{UPDATE}, expect: {{outcome: {{not: aplied}}}}}}", "'aplied' is no outcome; did you mean 'applied'?"),
    ("{send: {op: activity.list}, expect: {activities: {not: {contains: {stat: ended}}}}}", "'stat' is no member of"),
    ("state: {oredr-1: gone}", "no step does anything with a key 'oredr-1': nothing would be looked at; did you mean 'order-1'?"),
    ("state: {key: order-1, device: phone-1, is: gone}", "no step does anything with a device 'phone-1'"),
    ("state: {key: order-1, app: com.example.scenaro, is: gone}", "no step does anything with an app"),
    ("state: {control: Torch, is: gone}", "no step does anything with a kind 'Torch'"),
]


def test_what_there_cannot_be_is_no_expectation(complaints):
    for (step, complaint), said in zip(NO_STATE, complaints([step for step, _ in NO_STATE])):
        assert complaint in said, f"{step}: {said}"


@pytest.mark.parametrize("kind, sort", [
    ("controls: {T: {value: false, SAYS: timeline}}", "timeline"),
    ("controls: {T: {value: false, SAYS: {snapshot: 2}}}", "snapshot"),
    ("widgets: {T: {SAYS: [timeline, value]}}", "value"),
])
@pytest.mark.parametrize("says", ["fail", "silent"])
def test_a_call_that_a_kind_never_gets_is_none_that_fails(tmp_path, kind, sort, says):
    path = tmp_path / "s.yaml"
    path.write_text(f"name: never\nprovider: {{{kind.replace('SAYS', says)}}}\nsteps:\n  - start: a\n")
    done = run("scenario", "check", path, env=environment())
    assert done.returncode == 2 and f"'{sort}' is no call" in done.stderr, done.stderr


def test_what_is_gone_is_gone_from_every_device(play):
    start = "start: {key: order-2, device: phone-1}"
    code, text = play(start, "start: {key: order-22}", "state: {order-2: gone}")
    assert code == 1 and "activity order-2 is still there: active on phone-1" in text, text
    code, text = play(start, "state: {key: order-1, device: phone-1, is: gone}", "state: [{key: order-2, device: phone-1, is: active}]")
    assert code == 0, text
    code, text = play(start, "end: {key: order-2, device: phone-1, dismissalPolicy: immediate}", "state: {order-2: gone}")
    assert code == 1 and "activity order-2 is still there: dismissed on phone-1" in text, text
    code, text = play("{start: {key: order-2, ifExist: x}}", "state: {order-2: gone}")
    assert code == 2, "a file that is wrong"
    code, text = play("{start: {key: order-2, pushType: {channel: ''}}, expect: refused}", "state: {order-2: gone}")
    assert code == 0, text

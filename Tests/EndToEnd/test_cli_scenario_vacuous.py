"""`islet scenario run`: nothing passes that was not looked at, and what there cannot be is no expectation."""

import json

import pytest

from support.commands import Commands
from support.dates import HOUR, after
from support.service import ROOT, environment, run

HEAD = """name: an order
key: order-1
steps:
  - start: {key: order-1, contentState: {eta: 20, number: 18446744073709551615}, staleDate: 30m}
"""


@pytest.fixture
def play(tmp_path):
    """Plays the scenario with these steps after a start; its exit code and all that it says."""
    def play(steps):
        path = tmp_path / "s.yaml"
        path.write_text(HEAD + "".join(f"  - {step}\n" for step in steps))
        done = run("scenario", "run", path, env=environment())
        return done.returncode, done.stdout + done.stderr
    return play


@pytest.mark.parametrize("step", [
    "state: {order-1: {is: gone}}", "state: {order-1: gone}", "state: gone", "state: {key: order-1, is: gone}",
    "state: [{order-1: {is: gone}}]",
])
def test_what_is_there_is_not_gone_however_it_is_written(play, step):
    code, text = play([step])
    assert code == 1 and "activity order-1 is still there: active" in text


def test_all_members_that_answers_have_may_be_expected(play):
    """Of every schema of an answer, those at its top."""
    names = set()
    for path in sorted((ROOT / "proto-json/schemas/answers").glob("*.json")):
        schema = json.loads(path.read_text())
        for part in [schema, *(part for way in ("oneOf", "anyOf", "allOf") for part in schema.get(way, []))]:
            names |= part.get("properties", {}).keys()
    assert {"activity", "stack", "providers"} <= names
    code, text = play([f"{{update: {{contentState: {{}}}}, expect: {{{name}: absent}}}}" for name in sorted(names)])
    assert "no member of an answer" not in text, text


@pytest.mark.parametrize("step", [
    "state: {order-1: {is: active, endedAt: absent}}", "state: {order-1: {}}".replace("{}", "present"),
    "{advance: 1m, events: {exactly: []}}", "{advance: 1m, no events: []}", "state: {order-1: {not: stale}}",
    "state: {order-1: {contentState: {number: 18446744073709551615}}}",
    "state: {order-1: {contentState: {number: {above: 18446744073709551614, below: 18446744073709551616.5}}}}",
    "state: {order-1: {contentState: {number: 1.8446744073709551615e19, eta: 2e1}}}",
    "state: {order-1: {relevanceScore: 0.0}}", "state: {order-1: {staleDate: {above: 29m, at most: 30m}}}",
    "{advance: 1h, events: [{event: activity.stale, at: {at least: 30m}}]}",
    "{update: {key: order-1, contentState: {}}, expect: {error: absent}}",
    "{update: {key: order-1, contentState: {}}, expect: {error: {absent: true}}}",
    "{update: {key: order-9, contentState: {}}, expect: {error: present}}",
    "{update: {key: order-1, contentState: {n: 5}}, expect: {ignored: absent}}",
    "{update: {key: order-1, contentState: {n: 5}}, expect: {ignored: {absent: true}}}",
    "{update: {key: order-9, contentState: {}}, expect: {error: {code: notFound}}}",
])
def test_what_is_so_passes(play, step):
    code, text = play([step])
    assert code == 0, text


@pytest.mark.parametrize("step", [
    "state: {order-1: {contentState: {number: 18446744073709551614}}}",
    "state: {order-1: {contentState: {number: {above: 18446744073709551615}}}}",
    "state: {order-1: {contentState: {number: {at most: 18446744073709551614}}}}",
    "state: {order-1: {contentState: {number: 18446744073709551616}}}",
])
def test_large_numbers_are_compared_digit_by_digit(play, step):
    code, text = play([step])
    assert code == 1 and "not as expected" in text


@pytest.mark.parametrize("step, complaint", [
    ("{update: {key: order-1, contentState: {}}, expect: {}}", "and this is an empty mapping"),
    ("state: {}", "state is empty"), ("state: []", "state is empty"), ("state: {order-1: {}}", "a state is empty"),
    ("state: {order-1: {is: {}}}", "a state is empty"), ("state: {order-1: {is: gone, revision: 1}}", "what is gone has no"),
    ("{advance: 1h, events: []}", "events is empty"), ("{advance: 1h, events: {in order: []}}", "events is empty"),
    ("{advance: 1h, events: {any order: []}}", "events is empty"), ("{advance: 1h, events: {}}", "events is empty"),
    ("state: {order-1: {endetAt: absent}}", "no member of an activity; did you mean 'endedAt'?"),
    ("state: {key: order-1, stalDate: absent}", "no member of an activity; did you mean 'staleDate'?"),
    ("state: {order-1: {not: stael}}", "'stael' is no state; did you mean 'stale'?"),
    ("state: {order-1: {state: {not: {one of: [stale, endet]}}}}", "'endet' is no state"),
    ("{advance: 1h, no events: [{event: activity.stale, to: stael}]}", "'stael' is no state; did you mean 'stale'?"),
    ("{advance: 1h, no events: [{event: activity.stale, cause: staledate}]}", "'staledate' is no cause"),
    ("{advance: 1h, no events: [{activity: {contentStat: {eta: 1}}}]}", "no member of an activity; did you mean 'contentState'"),
    ("{update: {contentState: {}}, expect: {activty: absent}}", "no member of an answer; did you mean 'activity'?"),
    ("{update: {contentState: {}}, expect: {contentState: absent}}", "'contentState' is no member of an answer"),
    ("{advance: 1h, no events: [{event: activity.stale, activity: {key: {one of: [order-1, order-9]}}}]}",
     "no step does anything with the key 'order-9'"),
    ("state: {key: order-1, staleDate: {above: 30}}", "never '30'"),
    ("state: {key: order-1, next: {at: {at least: 45}}}", "never '45'"),
    ("{advance: 1h, no events: [{event: activity.stale, at: {below: 45}}]}", "never '45'"),
    ("advance: 106751991167d", "the clock would stand beyond all dates"),
])
def test_what_would_look_at_nothing_is_no_scenario(play, step, complaint):
    code, text = play([step])
    assert code == 2 and complaint in text, text


UPDATE = "update: {key: order-1, contentState: {eta: 20, number: 18446744073709551615}, relevanceScore: %d}"


def test_what_must_not_come_is_looked_for_in_what_did_not_change_too(play):
    """An event carries what has changed; of what has not, its entity tells."""
    for members in ("contentState: {eta: 20}", "expiresAt: present", "relevanceScore: 1, contentState: {eta: {above: 3}}"):
        code, text = play([f"{{{UPDATE % 1}, no events: [{{event: activity.updated, activity: {{{members}}}}}]}}"])
        assert code == 1 and "activity.updated order-1 came, and was not to come" in text, text
    for members in ("contentState: {eta: 19}", "endedAt: present", "relevanceScore: 2, contentState: {eta: 20}"):
        code, text = play([f"{{{UPDATE % 1}, no events: [{{event: activity.updated, activity: {{{members}}}}}]}}"])
        assert code == 0, text


def test_what_nothing_has_told_of_what_must_not_come_fails(tmp_path, service, wire):
    client = Commands(wire, service.commands, "com.example.scenario")
    client.start(key="order-1", contentState={"eta": 20}, staleDate=after(HOUR))
    path = tmp_path / "s.yaml"
    for members, said in (("contentState: {eta: 20}", "cannot be told"), ("relevanceScore: {not: 5}", "was not to come")):
        client.applied("activity.update", key="order-1", contentState={"eta": 20}, relevanceScore=1, staleDate=after(HOUR))
        path.write_text(f"""name: from before
steps:
  - update: {{key: order-1, contentState: {{eta: 20}}, staleDate: 1h, relevanceScore: 2}}
    no events: [{{event: activity.updated, activity: {{{members}}}}}]
""")
        done = run("scenario", "run", path, "--commands", service.commands, env=environment())
        assert done.returncode == 1 and said in done.stdout + done.stderr, done.stdout + done.stderr


PROVIDED = """name: a home
provider:
  controls: {{Torch: {{value: false{control}}}}}
  widgets: {{Weather: {{timeline: {{entries: [{{date: 0s, content: {{t: 1}}}}], policy: never}}{widget}}}}}
steps:
  - add: {{control: Torch}}
    as: torch
"""


@pytest.mark.parametrize("step, words", [
    ("tap: {control: Torch, id: 0198aaaa-0000-7000-8000-0000000000c1}", "leave 'id' out"),
    ("tap: {control: $torch, id: 0198aaaa-0000-7000-8000-0000000000c1}", "leave 'id' out"),
    ("add: {widget: Weather, kind: Other, family: systemSmall}", "leave 'kind' out"),
    ("reload: {control: Torch, kind: Torch}", "leave 'kind' out"),
    ("provider: {Torch: {timeline: {entries: []}}}", "'timeline' is no member"),
    ("provider: {Weather: {value: 5}}", "'value' is no member"), ("provider: {Torch: {}}", "nothing is said"),
    ("provider: {Torch: {value: $torch.seq}}", "takes no part of an answer"),
    ("provider: {}", "nothing is said of how any kind answers"), ("provider: {Torch: {fail: []}}", "no call is named"),
    ("provider: {Torch: {silent: {}}}", "no call is named"),
    ("{tap: {control: Torch}, within: 5s}", "here is none of them"),
])
def test_what_a_step_says_is_never_passed_over(tmp_path, step, words):
    path = tmp_path / "s.yaml"
    path.write_text(PROVIDED.format(control="", widget="") + f"  - {step}\n")
    done = run("scenario", "run", path, env=environment())
    assert done.returncode == 2 and f"{path}:8:" in done.stderr and words in done.stderr, done.stderr


@pytest.mark.parametrize("control, widget, words", [
    (", timeline: {entries: []}", "", "'timeline' is no member"), ("", ", value: 5", "'value' is no member"),
    ("", ", timelines: [{entries: []}]", "timeline or timelines, not both"),
])
def test_what_a_provider_says_is_never_passed_over(tmp_path, control, widget, words):
    path = tmp_path / "s.yaml"
    path.write_text(PROVIDED.format(control=control, widget=widget))
    done = run("scenario", "run", path, env=environment())
    assert done.returncode == 2 and words in done.stderr, done.stderr


def test_a_call_that_is_named_twice_fails_twice(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(PROVIDED.format(control=", fail: [perform, perform]", widget="") + """
  - state: {control: Torch, is: shown}
  - {tap: {control: Torch}, events: [control.failed]}
  - {tap: {control: Torch}, events: [control.failed]}
""")
    done = run("scenario", "run", path, env=environment())
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_clock_that_a_service_does_not_have_is_told(tmp_path, service):
    path = tmp_path / "s.yaml"
    path.write_text("name: later\nclock: 2027-01-01T00:00Z\nsteps:\n  - start: {key: k}\n")
    done = run("scenario", "run", path, "--commands", service.commands, env=environment())
    assert "the clock of 'later' is not set there" in done.stderr


@pytest.mark.parametrize("date", ["1767227400", "30", "-5"])
def test_a_date_in_seconds_is_no_expectation(play, date):
    code, text = play([f"state: {{order-1: {{staleDate: {date}}}}}"])
    assert code == 2 and "'staleDate' is a date" in text


ID = "0B0E0C0D-1111-7111-8111-00000000000A"


@pytest.mark.parametrize("written, sought", [(ID, ID), (ID, ID.lower()), (ID.lower(), ID)])
def test_an_id_is_found_in_whatever_case_it_is_written(tmp_path, written, sought):
    path = tmp_path / "s.yaml"

    def play(step):
        path.write_text(f"name: an order\nsteps:\n  - start: {{id: {written}, staleDate: 10m}}\n  - {step}\n")
        done = run("scenario", "run", path, env=environment())
        return done.returncode, done.stdout + done.stderr

    for pattern in (f"of: {sought}", f"activity: {{id: {sought}}}", f"activity: {{id: {{one of: [{sought}]}}}}",
                    f"activity: {{id: {{equals: {sought}}}}}"):
        code, text = play(f"{{advance: 1h, events: [{{event: activity.stale, {pattern}}}]}}")
        assert code == 0, text
        code, text = play(f"{{advance: 1h, no events: [{{event: activity.stale, {pattern}}}]}}")
        assert code == 1 and "came, and was not to come" in text, text
    code, text = play(f"{{update: {{id: {sought}, contentState: {{}}}}, expect: {{activity: {{id: {sought}}}}}}}")
    assert code == 0, text
    code, text = play(f"state: [{{activity: {sought}, is: gone}}]")
    assert code == 1 and "is still there" in text, text


WIDGETS = """name: flags
app: com.example.weather
provider:
  widgets:
    Weather: {timelines: [{entries: [{date: 0s, content: {isOnTop: false}}], needsLogin: true}, {entries: [{date: 0s, content: {n: 2}}], policy: never}]}
steps:
  - add: {widget: Weather, family: systemSmall}
    as: one
  - state: {widget: Weather, is: shown, needsLogin: true, isOnTop: false}
    within: 10s
  - advance: 10m
"""
SHOWN = "state: {widget: Weather, is: shown, needsLogin: false, isInvalidated: {equals: false}, isOnTop: {one of: [false]}}"


@pytest.mark.parametrize("step, code", [
    (f"{{{SHOWN}, within: 10s}}", 0), ("state: {widget: Weather, needsLogin: {not: true}}", 0),
    ("state: {widget: Weather, needsLogin: {not: false}}", 1), ("state: {widget: Weather, needsLogin: true}", 1),
    ("state: {widget: Weather, needsLogin: absent}", 0), ("state: {widget: Weather, entry: {content: {isOnTop: false}}}", 1),
])
def test_a_flag_that_is_not_there_is_false(tmp_path, step, code):
    path = tmp_path / "s.yaml"
    reload = "  - reload: {widget: Weather}\n  - state: {widget: Weather, is: shown, entry: {content: {n: 2}}}\n    within: 10s\n"
    path.write_text(WIDGETS + reload + f"  - {step}\n")
    done = run("scenario", "run", path, env=environment())
    assert done.returncode == code, done.stdout + done.stderr
    assert "no scenario" not in done.stderr


@pytest.mark.parametrize("expected, code", [
    ("events: [{event: widget.timeline, widget: {needsLogin: false}}]", 0),
    ("events: [{event: widget.reloading, widget: {needsLogin: false}}]", 1),
    ("no events: [{event: widget.timeline, widget: {needsLogin: false}}]", 1),
    ("no events: [{event: widget.timeline, widget: {needsLogin: true}}]", 0),
])
def test_an_event_says_that_a_flag_is_no_more(tmp_path, expected, code):
    path = tmp_path / "s.yaml"
    path.write_text(WIDGETS + f"  - reload: {{widget: Weather}}\n    {expected}\n    within: 5s\n")
    done = run("scenario", "run", path, env=environment())
    assert done.returncode == code, done.stdout + done.stderr

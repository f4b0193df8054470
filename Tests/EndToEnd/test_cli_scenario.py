"""`islet scenario run`: every example passes and can fail, failures say where and why, and wrong files are refused."""

import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from support.commands import Commands
from support.proxy import Proxy
from support.running import Running
from support.schemas import schema_of, strict
from support.service import BINARY, ROOT, environment, run
from support.wire import DEADLINE, Deadline

EXAMPLES = sorted((ROOT / "examples" / "scenarios").glob("*.yaml"))


def scenario(*words, code=0, **env):
    """Runs `islet scenario run` to its end, which must be with this code."""
    done = run("scenario", "run", *words, env=environment(**env))
    assert done.returncode == code, f"ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture
def file(tmp_path):
    """Writes a file of scenarios."""
    def make(text, name="s.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return path
    return make


PASSING = """name: it goes stale
app: com.example.pizza
steps:
  - start: {key: order-1, contentState: {eta: 20}, staleDate: 30m}
    as: order
  - advance: 30m
    events: [{event: activity.stale, of: order-1, at: 30m}]
  - state: {key: order-1, is: stale, contentState: {eta: 20}}
"""
FAILING = PASSING.replace("name: it goes stale", "name: it stays active").replace("is: stale", "is: active")


# Examples


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_passes(path):
    done = scenario(path)
    assert re.search(r"^\d+ scenarios?, \d+ passed, 0 failed \(.*\)$", done.stdout, re.MULTILINE)
    assert done.stdout.splitlines()[0].startswith("ok ")


MUTATIONS = {
    "pizza-order": ("{step: delivered}, dismissAt: 15m", "{step: lost}, dismissAt: 15m"),
    "stale-then-update": ("is: stale, contentState", "is: active, contentState"),
    "limits-and-dismissal": ("cause: activeLimit, at: 2026-07-01T18:00Z", "cause: activeLimit, at: 2026-07-01T17:59Z"),
    "exactly-once": ("seq: $first.seq, activity", "seq: 2, activity"),
    "too-many": ("  - {start: order-5}\n", ""),
    "controls": ("fail: {perform: 1}", "fail: {perform: 0}"),
    "widget-day": ("{date: 3h, content: {sky: sun}", "{date: 2h, content: {sky: sun}"),
    "push-and-channel": ("source: push, timestamp: -2m}", "source: push, timestamp: -30s}"),
}


def test_each_example_has_a_mutation():
    assert set(MUTATIONS) == {path.stem for path in EXAMPLES}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_mutated_example_fails(path, file):
    old, new = MUTATIONS[path.stem]
    text = path.read_text()
    assert text.count(old) == 1
    done = scenario(file(text.replace(old, new)), code=1)
    assert " 1 failed (" in done.stdout.splitlines()[-1]
    assert "FAIL  " in done.stdout


def test_all_of_a_folder_are_played():
    done = scenario(ROOT / "examples" / "scenarios")
    count = sum(1 for path in EXAMPLES for line in path.read_text().splitlines() if line.startswith("name: "))
    assert done.stdout.splitlines()[-1].startswith(f"{count} scenarios, {count} passed, 0 failed (")
    assert not done.stderr


def test_folders_in_a_folder_are_told_of_and_named_by_themselves(file, tmp_path):
    (tmp_path / "all" / "deep").mkdir(parents=True)
    (tmp_path / "all" / "empty").mkdir()
    (tmp_path / "all" / "deep" / "b.yml").write_text("name: b\nsteps:\n  - start: {key: b, contentState: {}}\n")
    done = scenario(tmp_path / "all", code=2)
    assert "has no files that end in .yaml or .yml; folders in it are named by themselves: deep" in done.stderr
    (tmp_path / "all" / "a.yaml").write_text("name: a\nsteps:\n  - start: {key: a, contentState: {}}\n")
    done = scenario(tmp_path / "all")
    assert done.stdout.splitlines()[-1].startswith("1 scenario, 1 passed")
    assert done.stderr == f"{tmp_path}/all: folders in it are not looked into, name them by themselves: deep\n"
    assert scenario(tmp_path / "all", tmp_path / "all" / "deep").stdout.splitlines()[-1].startswith("2 scenarios, 2")


def test_the_page_shows_what_is_true(file):
    """Each whole scenario on the page about scenarios is played."""
    page = (ROOT / "examples" / "scenarios" / "README.md").read_text()
    blocks = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    whole = [block for block in blocks if block.startswith("name: ")]
    assert len(whole) >= 2
    for number, block in enumerate(whole):
        scenario(file(block, f"{number}.yaml"))
    only = re.search(r"^    islet scenario run order\.yaml --only '([^']+)'", page, re.MULTILINE)[1]
    scenario(file(next(block for block in whole if "order-1" in block), "order.yaml"), "--only", only)


def test_the_help_shows_what_is_true(file):
    text = run("scenario", "run", "--help", env=environment()).stdout
    block = text.split("A FILE:\n", 1)[1].split("\n\n", 1)[0]
    only = re.search(r"--only '([^']+)'", text)[1]
    scenario(file("".join(f"{line.removeprefix('  ')}\n" for line in block.splitlines())), "--only", only)


def test_the_readme_shows_what_is_true(file):
    text = (ROOT / "README.md").read_text().split("## Testing your own flows", 1)[1].split("\n## ", 1)[0]
    block = "".join(f"{line[4:]}\n" for line in text.splitlines() if line.startswith("    "))
    assert block.startswith("name: an order goes stale")
    path = file(block)
    scenario(path)
    scenario(path, "--only", re.search(r"`--only '([^']+)'`", text)[1])


# Failures


def test_a_failure_says_where_what_and_why_and_the_next_scenario_goes_on(file):
    path = file(FAILING + "---\n" + PASSING)
    done = scenario(path, code=1)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("FAIL  it stays active (")
    assert lines[1] == f"  {path}:8, step 3 (state order-1): activity order-1 is not as expected"
    assert lines[2:4] == ["    - state: active", "    + state: stale"]
    assert "activity.stale" not in done.stdout and "active → stale" in done.stdout
    assert "why activity order-1 is as it is:" in done.stdout and "asked by line-4" in done.stdout
    assert "Now it is stale" in done.stdout
    assert lines[-2].startswith("ok    it goes stale (")
    assert re.fullmatch(r"2 scenarios, 1 passed, 1 failed \(.*\)", lines[-1])


@pytest.mark.parametrize("step, says", [
    ("- update: {key: nobody, contentState: {}}", r":4, step 2 \(update nobody\): refused: .* \(notFound\)"),
    ("- update: {key: a, contentState: {}}", r"step 2 .*: ignored: unchanged"),
    ("- update: {key: a, contentState: {eta: 1}, ifRevision: 7}\n    expect: {error: {detail: {revison: 1}}}",
     r"- error\.detail\.revison: 1 \(did you mean revision\?\)\n +\+ error\.detail\.revison: absent"),
    ("- update: {key: a, contentState: {eta: 1}}\n    expect: refused", r"- ok: false\n +\+ ok: true"),
    ("- update: {key: nobody, contentState: {}}\n    expect: {error: conflict}",
     r"- error\.code: conflict\n +\+ error\.code: notFound"),
    ("- advance: 1h\n    events: [activity.ended]", r":5, step 2 \(advance 1h\): activity\.ended did not come"),
    ("- end: a\n    no events: true", r":5, step 2 .*: no event was expected, and activity\.ended a came"),
    ("- end: a\n    no events: [activity.stale, activity.ended]", r"activity\.ended a came, and was not to come"),
    ("- end: {key: a, dismissalPolicy: immediate}\n    events: [activity.dismissed, activity.ended]",
     r"activity\.ended came, but not after activity\.dismissed"),
    ("- end: {key: a, dismissalPolicy: immediate}\n    events: {exactly: [activity.ended]}",
     r"activity\.dismissed a came too, and was not expected"),
    ("- end: {key: a, dismissalPolicy: immediate}\n    events: {any order: [activity.dismissed, activity.dismissed]}",
     r"activity\.dismissed did not come"),
    ("- end: a\n    events: [{event: activity.ended, cause: push}]", r"- cause: push\n +\+ cause: command"),
    ("- state: {b: active}", r"there is no activity b"),
    ("- state: {a: gone}", r"activity a is still there: active"),
    ("- state: {control: Torch, is: shown}", r"there is no control Torch"),
    ("- tap: {control: Torch}", r"there is no control of the kind Torch"),
    ("- state: {key: a, contentState: {eta: {above: 3}}}", r"- contentState\.eta: above 3\n +\+ contentState\.eta: absent"),
    ("- send: {op: activity.get, key: a}\n    as: got\n  - update: {key: a, contentState: {eta: $got.nothing}}",
     r"\$got\.nothing: there is no 'nothing' in "),
])
def test_what_does_not_hold_is_told(file, step, says):
    done = scenario(file(f"name: it fails\nsteps:\n  - start: a\n  {step}\n"), code=1)
    assert re.search(says, done.stdout), done.stdout
    assert "\n1 scenario, 0 passed, 1 failed (" in done.stdout


def test_without_providers_nothing_is_waited_for(file):
    """Ten failures take no longer than ten passes: where time stands still, what has not come will not come."""
    path = file("\n---\n".join(FAILING.replace("active", f"active {number}", 1) for number in range(10)))
    result = json.loads(scenario(path, "--json", code=1).stdout)
    assert result["failed"] == 10
    assert max(each["duration"] for each in result["results"]) < 5_000


def test_what_a_provider_is_slow_with_is_waited_for(file):
    text = """name: a slow torch
provider: {controls: {Torch: {value: true, previewValue: false, delay: 300ms}}}
steps:
  - add: {control: Torch}
    events: [{event: control.shown, control: {value: true}}]
    within: 30s
"""
    scenario(file(text))
    done = scenario(file(text.replace("30s", "1ms")), code=1)
    assert "control.shown with {control: {value: true}} did not come" in done.stdout


SLOW = """name: a torch that fails a little later
provider: {controls: {Torch: {value: false, delay: 200ms, fail: {perform: 1}}}}
steps:
  - add: {control: Torch}
  - state: {control: Torch, is: shown}
  - tap: {control: Torch}
    EXPECTED
"""


@pytest.mark.parametrize("expected, says", [
    ("no events: [control.failed]", "control.failed Torch came, and was not to come"),
    ("no events: [{event: control.shown, control: {value: true}}]", None),
    ("events: {exactly: [control.acting]}", "control.failed"),
    ("events: {exactly: [control.acting, control.failed, control.reloading, control.shown]}", None),
    ("events: [control.acting]\n    no events: [control.failed]", "control.failed Torch came, and was not to come"),
    # More time makes no look less strict.
    ("events: {exactly: [control.acting]}\n    within: 20s", "control.failed Torch came too, and was not expected"),
    ("events: {exactly: [control.acting]}\n    state: {control: Torch, is: shown}\n    within: 20s", "control.failed"),
    ("events: {exactly: [control.acting, control.failed, control.reloading, control.shown]}\n    within: 20s", None),
    # Who says that nothing is waited for has it so.
    ("no events: [control.failed]\n    within: 0s", None), ("events: {exactly: [control.acting]}\n    within: 0s", None),
])
def test_what_is_not_to_come_is_looked_for_when_providers_have_answered(file, expected, says):
    """Nothing passes because the provider was slower than the look."""
    done = scenario(file(SLOW.replace("EXPECTED", expected)), code=1 if says else 0)
    assert (says or "1 passed") in done.stdout


@pytest.mark.parametrize("delay", ["0ms", "100ms"])
@pytest.mark.parametrize("waits", ["", "state: {control: Torch, is: shown}"])
@pytest.mark.parametrize("looked, then, says", [
    # A list looks as far as its last event, whatever had come by then.
    ("events: [control.acting]", "events: [control.failed]", None),
    ("events: [control.acting]", "no events: [control.failed]", "control.failed Torch came, and was not to come"),
    ("events: [control.acting]", "no events: [control.acting]", None),
    ("events: [control.acting]", "events: {exactly: [control.failed, control.reloading, control.shown]}", None),
    ("events: [control.acting]", "events: [control.acting]\n    within: 300ms", "control.acting did not come"),
    ("events: {any order: [control.failed, control.acting]}", "events: {exactly: [control.reloading, control.shown]}", None),
    ("events: {any order: [{cause: present}, control.acting]}", "events: {exactly: [control.reloading, control.shown]}", None),
    ("events: {exactly: [control.acting, control.failed, control.reloading, control.shown]}", "no events: true", None),
    ("no events: [control.performed]", "no events: true", None),
])
def test_a_step_that_does_nothing_looks_at_what_was_not_looked_at(file, looked, then, says, waits, delay):
    """It matters neither how quick the provider is, nor what else the step before has waited for."""
    text = SLOW.replace("200ms", delay).replace("EXPECTED", f"{looked}\n    {waits}\n  - {then}")
    done = scenario(file(text), code=1 if says else 0)
    assert (says or "1 passed") in done.stdout


@pytest.mark.parametrize("entries, says", [
    ("[{date: 2h}, {date: 1h}]", "entries[1] is earlier than the entry before"),
    ("[{date: 1h, content: sunny}]", "entries[0] is no entry: it needs a date, content that is an object where it has some"),
])
def test_a_timeline_that_the_service_would_not_have_is_told(file, entries, says):
    done = scenario(file(f"""name: a wrong timeline
provider: {{widgets: {{Weather: {{timeline: {{entries: {entries}}}}}}}}}
steps:
  - add: {{widget: Weather, family: systemSmall}}
    events: [widget.timeline]
    within: 500ms
"""), code=1)
    assert f"the service would not have what the provider said: {says}" in done.stdout


MISSPOKEN = """name: a provider that says what there cannot be
provider:
  controls: {Torch: {value: false}}
  widgets: {Weather: {timeline: {entries: [{date: 0s, content: {sky: sunny}}, {date: 1h}], policy: never}}}
steps:
  - add: {control: Torch}
    state: {control: Torch, is: shown}
  - add: {widget: Weather, family: systemSmall}
    state: {widget: Weather, is: shown}
  - advance: 30m
  - provider: {SAYS}
  - reload: {control: Torch}
    state: {control: Torch, is: shown}
  - reload: {widget: Weather}
    state: {widget: Weather, is: shown}
    no events: [widget.entry, {event: control.shown, control: {value: true}}]
"""


@pytest.mark.parametrize("says, refused", [
    ("Torch: {value: maybe}", "the answer has the wrong type"),
    ("Torch: {value: true, answer: {status: 5}}", "the field 'status' has the wrong type"),
    ("Torch: {value: true, answer: {nonsense: 1}}", "nonsense"),
    ("Weather: {timeline: {entries: [{date: 5 minutes}]}}", "entries[0] is no entry"),
    ("Weather: {timeline: {entries: [{date: 0s}], policy: later}}", "the policy is none of atEnd, never"),
    ("Weather: {timeline: {entries: []}}", "the timeline has no entries"),
])
def test_nothing_passes_since_the_service_would_not_have_what_the_provider_said(file, says, refused):
    """What was to be looked at never was: what was shown before stays, and no event comes."""
    text = MISSPOKEN.replace("SAYS", says)
    done = scenario(file(text), code=1)
    assert "the service would not have what the provider said: " in done.stdout and refused in done.stdout, done.stdout
    assert "0 passed, 1 failed" in done.stdout
    # Unless that is what a step is about.
    family = "control: Torch" if says.startswith("Torch") else "widget: Weather"
    scenario(file(text + f"  - state: {{{family}, failure: badAnswer}}\n"))


def test_an_answer_that_comes_too_late_is_no_wrong_one(file):
    scenario(file("""name: a provider that is too slow
provider: {controls: {Torch: {value: false, actionDeadline: 100ms}}}
steps:
  - add: {control: Torch}
    state: {control: Torch, is: shown}
  - provider: {Torch: {delay: 300ms}}
  - tap: {control: Torch}
    events: [control.acting]
    state: {control: Torch, failure: timedOut}
  - provider: {Torch: {delay: 0s}}
    no events: [control.performed]
    within: 400ms
"""))


# Forms of the report


def test_the_json_keeps_its_schema_and_has_everything(file):
    path = file(FAILING + "---\n" + PASSING)
    done = scenario(path, "--json", code=1)
    assert done.stdout.count("\n") == 1 and not done.stderr
    result = json.loads(done.stdout)
    schema_of("cli/scenario.json").validate(result)
    for event in result["results"][0]["failure"].pop("events"):
        schema_of("events/event.json").validate(event)
    del result["results"][0]["failure"]["came"]
    strict("cli/scenario.json").validate(result | {"results": [
        each | {"failure": each["failure"] | {"events": []}} if "failure" in each else each
        for each in result["results"]]})
    assert (result["scenarios"], result["passed"], result["failed"]) == (2, 1, 1)
    failed, passed = result["results"]
    assert passed == {**passed, "name": "it goes stale", "file": str(path), "line": 10, "passed": True, "steps": 3}
    failure = failed["failure"]
    assert (failure["line"], failure["column"], failure["step"]) == (8, 12, 3)
    assert failure["differences"] == [{"path": ["state"], "expected": "active", "came": "stale"}]
    assert failure["explanation"][-1]


def test_the_junit_report_is_read_by_a_parser(file, tmp_path):
    odd = FAILING.replace("it stays active", '"a <b> & \\"c\\" \\u0007 d"')
    report = tmp_path / "report.xml"
    scenario(file(odd, "a&b.yaml"), file(PASSING, "b.yaml"), "--junit", report, code=1)
    root = ElementTree.parse(report).getroot()
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "2", "1")
    first, second = root.findall("testsuite")
    assert first.get("name").endswith("a&b.yaml") and (first.get("tests"), first.get("failures")) == ("1", "1")
    case = first.find("testcase")
    assert case.get("name") == 'a <b> & "c" \ufffd d' and float(case.get("time")) >= 0 and case.get("line") == "1"
    failure = case.find("failure")
    assert failure.get("message") == "activity order-1 is not as expected"
    assert "- state: active\n    + state: stale" in failure.text
    assert second.find("testcase").find("failure") is None


def test_a_report_that_cannot_be_written_is_told(file):
    done = scenario(file(PASSING), "--junit", "/nowhere/report.xml", code=2)
    assert "cannot write /nowhere/report.xml" in done.stderr


@pytest.mark.parametrize("only, names", [
    ("stale", ["it goes stale"]), ("STAYS", ["it stays active"]), ("it *", ["it stays active", "it goes stale"]),
    ("it goes st??e", ["it goes stale"]),
])
def test_only_some_are_played(file, only, names):
    code = 1 if "it stays active" in names else 0
    result = json.loads(scenario(file(FAILING + "---\n" + PASSING), "--only", only, "--json", code=code).stdout)
    assert [each["name"] for each in result["results"]] == names


def test_nothing_that_is_called_so_is_wrong_usage(file):
    done = scenario(file(PASSING), "--only", "it goes stele", code=2)
    assert "no scenario is called 'it goes stele'; did you mean it goes stale?" in done.stderr


# Files that are wrong


@pytest.mark.parametrize("text, says", [
    ("", ": is empty: it has no scenario"),
    ("---\n---\n", ": is empty: it has no scenario"),
    ("a: b: c", ":1:5: is no YAML: mapping values are not allowed in this context"),
    ("name: x\nsteps:\n\t- start: a\n", ":3:1: a tab: YAML is indented with spaces"),
    ("name: x\nname: y\nsteps: [{start: a}]", ": stands twice: name"),
    ("- start: a\n", ":1:1: a scenario is a mapping, and this is a list"),
    ("steps: [{start: a}]\n", ":1:1: a scenario has a name"),
    ("name: x\n", ":1:1: a scenario has steps"),
    ("name: x\nsteps: []\n", ":2:1: steps is a list, and this is an empty list"),
    ("name: x\nsteps: [{start: a}]\naap: y\n", ":3:1: 'aap' is no member of a scenario; did you mean 'app'?"),
    ("name: x\nsteps:\n  - strat: a\n", ":3:5: 'strat' is no member of a step; did you mean 'start'?"),
    ("name: x\nsteps:\n  - start: {key: a, contentSate: {}}\n",
     ":3:21: 'contentSate' is no field of activity.start; did you mean 'contentState'?"),
    ("name: x\nsteps:\n  - send: {op: activity.strat}\n", ":3:16: 'activity.strat' is no op; did you mean 'activity.start'?"),
    ("name: x\nsteps:\n  - send: {app: com.example}\n", ":3:11: a command has an op"),
    ("name: x\nsteps:\n  - send: {op: bulk.snapshot}\n", ":3:16: 'bulk.snapshot' is no command for a scenario"),
    ("name: x\nsteps:\n  - start: a\n    as: first\n  - update: $frist\n",
     ":5:13: no step before has named an answer 'frist'; did you mean $first?"),
    ("name: x\nsteps:\n  - start: a\n    as: b c\n", ":4:9: as is a name of letters, digits, - and _"),
    ("name: x\nsteps:\n  - start: a\n    as: b\n  - start: c\n    as: b\n", ":6:9: 'b' is the name of an earlier answer already"),
    ("name: x\nclock: 2026-01-01T12:00Z\nsteps:\n  - advance: 1h\n  - to: 2026-01-01T12:59Z\n",
     ":5:9: the clock would go back: it stands at 2026-01-01 13:00:00 UTC by then"),
    ("name: x\nsteps:\n  - advance: -1h\n", ":3:14: the clock would go back, and only goes forward"),
    ("name: x\nsteps:\n  - advance: a while\n", ":3:14: advance is a length of time such as 30s, 4h or 1h30m, and this is 'a while'"),
    ("name: x\nclock: yesterday\nsteps: [{start: a}]\n", ":2:8: clock is a date in UTC such as 2026-01-31T09:00Z, and this is 'yesterday'"),
    ("name: x\nrules: {activLimit: 8h}\nsteps: [{start: a}]\n", ":2:9: 'activLimit' is no rule; did you mean 'activeLimit'?"),
    ("name: x\nrules: {activeLimit: long}\nsteps: [{start: a}]\n", ":2:22: activeLimit: 'long' is no span"),
    ("name: x\nsteps:\n  - start: a\n    end: a\n", ":4:5: a step does one thing: 'start' or 'end'"),
    ("name: x\nsteps:\n  - within: 1s\n", ":3:5: this step does nothing and expects nothing"),
    ("name: x\nsteps:\n  - start: a\n    expect: okay\n", ":4:13: 'okay' is no expectation; did you mean 'ok'?"),
    ("name: x\nsteps:\n  - start: a\n    expect: {error: conflit}\n", ":4:21: 'conflit' is no error code; did you mean 'conflict'?"),
    ("name: x\nsteps:\n  - state: {a: actve}\n", ":3:16: 'actve' is no state of an activity; did you mean 'active'?"),
    ("name: x\nsteps:\n  - state: {is: active}\n", ":3:13: of which entity?"),
    ("name: x\nsteps:\n  - state: {control: T, is: stale}\n", ":3:29: 'stale' is no state of a control: one of loading, preview,"),
    ("name: x\nsteps:\n  - events: [activity.stael]\n", ":3:14: 'activity.stael' is no event; did you mean 'activity.stale'?"),
    ("name: x\nsteps:\n  - no events: [{event: activity.stale, cuase: x}]\n", ":3:41: 'cuase' is no member of an event; did you mean 'cause'?"),
    ("name: x\nsteps:\n  - events: {in oder: [activity.stale]}\n", "'in oder' is no member of events; did you mean 'in order'?"),
    ("name: x\nsteps:\n  - device: lok\n", ":3:13: 'lok' is no event of a device; did you mean 'lock'?"),
    ("name: x\nsteps:\n  - device: lock\n", ":3:5: which device?"),
    ("name: x\nsteps:\n  - tap: {control: T}\n    expect: {outcome: {matches: '('}}\n", "'matches' is a regular expression"),
    ("name: x\nsteps:\n  - provider: {T: {value: 1}}\n", ":3:5: the scenario has no provider"),
    ("name: x\nprovider: {controls: {T: {value: 1, fail: perfrom}}}\nsteps: [{start: a}]\n",
     "'perfrom' is no call of a provider; did you mean 'perform'?"),
    ("name: x\nsteps: [{start: a}]\n---\nname: x\nsteps: [{start: a}]\n", ":4:1: a scenario 'x' stands at line 1 already"),
    ("a: &a [*a]", "is no YAML: found undefined alias"),
    ("name: x\nsteps: " + "[" * 300 + "]" * 300, "is more than 64 levels deep"),
    ("a: " + "[" * 100_000, "is no YAML: "),
    ("&b" * 3, "is no YAML"),
    ("\x00", ": is no YAML: "),
], ids=lambda value: None if len(value) > 60 else repr(value))
def test_a_wrong_file_is_refused_with_the_place(file, text, says):
    path = file(text)
    done = scenario(path, code=2)
    assert str(path) in done.stderr and says in done.stderr, done.stderr
    assert not done.stdout


def test_all_that_is_wrong_is_told_and_nothing_is_played(file):
    one = file("name: x\naap: y\nsteps:\n  - strat: a\n", "one.yaml")
    two = file(PASSING, "two.yaml")
    done = scenario(one, two, "/nowhere.yaml", code=2)
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [f"{one}:2:1", f"{one}:4:5", "/nowhere.yaml"]
    assert "cannot be read: No such file or directory" in done.stderr and not done.stdout


def test_aliases_that_mean_billions_are_refused(file):
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 12):
        bomb += f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n"
    assert "has more than 200000 values" in scenario(file(bomb + "name: x\nsteps: *a11\n"), code=2).stderr
    done = scenario(file(bomb + "? *a11\n: 1\nname: x\nsteps: []\n"), code=2)
    assert "cannot be understood within 5 s" in done.stderr


def test_a_file_that_is_too_long_or_no_text_is_refused(file, tmp_path):
    assert "has more than 1048576 bytes" in scenario(file(PASSING + "#" * 1_048_576), code=2).stderr
    (tmp_path / "b.yaml").write_bytes(b"name: \xff\n")
    assert "is no text in UTF-8" in scenario(tmp_path / "b.yaml", code=2).stderr
    (tmp_path / "none").mkdir()
    assert "has no files that end in .yaml or .yml" in scenario(tmp_path / "none", code=2).stderr


def test_standard_input_is_a_file_too():
    done = subprocess.run(
        [str(BINARY), "scenario", "run", "-"], input=PASSING, env=environment(), capture_output=True, text=True,
        timeout=DEADLINE)
    assert done.returncode == 0 and "1 scenario, 1 passed" in done.stdout


def test_check_reads_and_plays_nothing(file):
    path = file(FAILING)
    done = run("scenario", "check", path, env=environment())
    assert done.returncode == 0 and done.stdout == f"{path}:1: it stays active (3 steps)\n"
    assert run("scenario", "check", file("name: x\n"), env=environment()).returncode == 2


# Surroundings


def test_it_needs_no_service_and_leaves_the_one_that_is_there_alone(file, service, client):
    scenario(file(PASSING), ISLET_COMMANDS=service.commands, ISLET_EVENTS=service.events, ISLET_BULK=service.bulk)
    assert client.list() == []


def test_it_plays_against_a_service_that_is_named(file, service, client):
    scenario(file(PASSING), "--commands", service.commands)
    activity = client.get(key="order-1")
    assert activity["state"] == "stale"
    done = scenario(file(FAILING), "--commands", service.commands, code=1)
    assert "order-1" in done.stdout and "(conflict)" in done.stdout


def test_a_clock_that_does_not_move_when_told_is_said_before_anything_is_done(file, wire, system_service):
    done = scenario(file(PASSING), "--commands", system_service.commands, code=2)
    assert "moves the clock" in done.stderr and "start it with --clock manual" in done.stderr
    assert Commands(wire, system_service.commands, "com.example.pizza").list() == []
    still = "name: no clock\nsteps:\n  - start: a\n  - state: {a: active}\n"
    scenario(file(still), "--commands", system_service.commands)


def test_where_the_clock_runs_by_itself_all_events_of_the_time_are_looked_at(file, serve):
    """It goes stale half a second later."""
    text = """name: a clock that runs
steps:
  - start: {key: order-1, staleDate: 5m}
    events: {exactly: [activity.started]}
    within: 3s
"""
    fast = serve({"--speed": 600})
    done = scenario(file(text), "--commands", fast.commands, code=1)
    assert "activity.stale order-1 came too, and was not expected" in done.stdout
    scenario(file(text.replace("order-1", "order-2").replace("5m", "7h")), "--commands", fast.commands)


@pytest.mark.parametrize("check", [
    "no events: [activity.stale]", "no events: [{event: activity.stale, of: order-1}]", "events: {exactly: [activity.started]}",
    "events: [activity.started, activity.stale]",
])
def test_what_may_have_come_while_the_connection_was_lost_is_not_taken_for_nothing(file, wire, serve, check):
    """It goes stale while nobody hears it."""
    service = serve({"--clock": "manual"})
    proxy = Proxy(service.events)
    client = Commands(wire, service.commands, "com.example.scenario")
    play = Running("scenario", "run", file(f"""name: a connection that is lost for a moment
steps:
  - start: {{key: order-1, staleDate: 5m}}
    state: {{order-1: stale}}
    {check}
"""), "--commands", service.commands, "--events", proxy.url, env=environment())
    try:
        deadline = Deadline()
        while not client.list():
            assert not deadline.passed, play.messages
        proxy.hold()
        client.advance(by=600_000)
        proxy.let_through()
        assert play.wait() == 1
    finally:
        play.kill()
        proxy.close()
    assert any("events are missing" in line for line in play.data), play.data


def test_the_next_scenario_may_declare_a_kind_otherwise(file, serve):
    """Also where the service is the same one: the provider of the one before has left."""
    text = "".join(f"""---
name: {name}
provider: {{controls: {{Torch: {{value: false, displayName: {name}}}}}}}
steps:
  - add: {{control: Torch}}
  - state: {{control: Torch, is: shown}}
  - remove: {{control: Torch}}
""" for name in ("Torch", "Lamp"))
    service = serve({"--clock": "manual"})
    for _ in range(2):
        scenario(file(text), "--commands", service.commands)


@pytest.mark.parametrize("check", ["no events: true", "events: {exactly: []}", "state: {order-1: gone}"])
def test_events_of_another_service_are_not_looked_at(file, serve, check):
    """Nothing ever comes by them."""
    service, other = serve({"--clock": "manual"}), serve({"--clock": "manual"})
    done = scenario(
        file(f"name: of two services\nsteps:\n  - start: order-1\n    {check}\n"), "--commands", service.commands,
        "--events", other.events, code=2)
    assert "another service" in done.stderr and not done.stdout


def test_a_service_that_is_not_there_is_no_failed_scenario(file, tmp_path):
    done = scenario(file(PASSING), "--commands", f"ipc://{tmp_path}/nobody", "--timeout", "300ms", code=5)
    assert "no answer from" in done.stderr


def test_what_was_played_is_reported_where_the_service_goes_in_between(file, wire, tmp_path, serve):
    service, report = serve({"--clock": "manual"}), tmp_path / "report.xml"
    text = "name: first\nsteps:\n  - start: a\n---\nname: second\nsteps:\n  - start: b\n  - state: {b: stale}\n    within: 1m\n" \
        "---\nname: third\nsteps:\n  - start: c\n"
    play = Running("scenario", "run", file(text), "--commands", service.commands, "--timeout", "300ms", "--junit", report,
                   "--json", env=environment())
    client = Commands(wire, service.commands, "com.example.scenario")
    try:
        deadline = Deadline()
        while len(client.list()) < 2:
            assert not deadline.passed, play.messages
        service.stop()
        assert play.wait() == 5
    finally:
        play.kill()
    assert [each["passed"] for each in json.loads(play.data[0])["results"]] == [True, False]
    assert [each.get("name") for each in ElementTree.parse(report).iter("testcase")] == ["first", "second"]


def test_names_and_texts_cannot_obey_the_terminal(file):
    done = scenario(file('name: "a \\e[31m b"\nsteps:\n  - update: {key: "x"}\n'), code=1)
    assert "\x1b" not in done.stdout and "a ␛[31m b" in done.stdout

"""The judge of instruction counts can fail: what it compares with, what it never lets through, and what it records."""

import json

import instructions
import pytest

HERE = {"swift": "6"}
ELSEWHERE = {"swift": "7"}


def counts(**instructions_of):
    return {f"wheel.{name}": {"instructions": count, "allocations": 0.0} for name, count in instructions_of.items()}


@pytest.fixture
def recorded():
    return {"conditions": HERE, "operations": counts(insert=100.0), "ceilings": {"wheel.insert": 130}}


def verdict(measured, recorded, conditions=HERE, **environment):
    return instructions.judge(measured, recorded, conditions, ["wheel"], environment)


@pytest.mark.parametrize("count, code", [(100.0, 0), (109.9, 0), (110.1, 1), (50.0, 0)])
def test_a_tenth_more_than_recorded_passes_and_no_more(recorded, count, code):
    assert verdict(counts(insert=count), recorded) == code


@pytest.mark.parametrize("count, code", [(130.0, 0), (130.1, 1)])
def test_a_ceiling_holds_whatever_is_recorded_and_on_any_version(recorded, count, code):
    recorded["operations"] = counts(insert=count)
    assert verdict(counts(insert=count), recorded) == code
    assert verdict(counts(insert=count), recorded, ELSEWHERE) == code


def test_an_operation_without_a_ceiling_or_a_record_fails(recorded):
    assert verdict(counts(insert=100.0, cancel=1.0), recorded) == 1
    recorded["ceilings"]["wheel.cancel"] = 2
    assert verdict(counts(insert=100.0, cancel=1.0), recorded) == 1
    assert verdict({}, recorded) == 1


def test_more_calls_for_memory_fail(recorded):
    measured = counts(insert=100.0)
    measured["wheel.insert"]["allocations"] = 0.2
    assert verdict(measured, recorded) == 1


def test_other_versions_pass_in_ci_only_with_a_reason(recorded, capsys):
    measured = counts(insert=100.0)
    assert verdict(measured, recorded, ELSEWHERE) == 0
    assert verdict(measured, recorded, ELSEWHERE, CI="true") == 1
    capsys.readouterr()
    assert verdict(measured, recorded, ELSEWHERE, CI="true", ISLET_INSTRUCTIONS_EXCUSE="the new compiler comes first") == 0
    assert "the new compiler comes first" in capsys.readouterr().out


@pytest.mark.parametrize("count, is_taken", [(125.0, True), (131.0, False)])
def test_recording_shows_old_and_new_keeps_ceilings_and_refuses_what_is_above_one(
        recorded, tmp_path, monkeypatch, capsys, count, is_taken):
    path = tmp_path / "instructions.json"
    path.write_text(json.dumps(recorded))
    monkeypatch.setattr(instructions, "RECORD", path)
    monkeypatch.setattr(instructions, "measure_all", lambda subjects: counts(insert=count))
    monkeypatch.setattr(instructions, "conditions", lambda: HERE)
    monkeypatch.setattr("sys.argv", ["instructions", "--record", "wheel"])
    assert instructions.main() == (0 if is_taken else 1)
    shown = capsys.readouterr().out
    assert f"{count:.1f}" in shown and "100.0" in shown
    wanted = {**recorded, "operations": counts(insert=count)} if is_taken else recorded
    assert json.loads(path.read_text()) == wanted


def test_every_recorded_operation_has_a_ceiling_near_its_count():
    real = json.loads(instructions.RECORD.read_text())
    assert real["operations"].keys() == real["ceilings"].keys()
    for name, known in real["operations"].items():
        assert known["instructions"] <= real["ceilings"][name] <= 2 * known["instructions"], name

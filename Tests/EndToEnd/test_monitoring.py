"""The rules for Prometheus and the dashboard for Grafana: they are sound, and they speak of metrics that there are."""

import itertools
import json
import re
import urllib.request

import pytest
import yaml

from support.cli import Islet
from support.commands import Commands
from support.dates import HOUR, MINUTE
from support.preload import needs_compiler, preloaded
from support.promtool import promtool
from support.schemas import strict
from support.service import ROOT, Service, environment
from support.wire import DEADLINE

PROMETHEUS = ROOT / "contrib" / "prometheus"
RULES = PROMETHEUS / "islet.rules.yml"
RULE_TESTS = PROMETHEUS / "islet.rules.test.yml"
DASHBOARD = json.loads((ROOT / "contrib" / "grafana" / "islet.json").read_text())


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def panels():
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def shown():
    """Each expression of the dashboard, by the title of its panel."""
    return [(panel["title"], target["expr"]) for panel in panels() for target in panel["targets"]]


def expressions():
    """Whatever asks for a metric."""
    variables = [variable["definition"] for variable in DASHBOARD["templating"]["list"] if variable["type"] == "query"]
    annotations = [annotation["expr"] for annotation in DASHBOARD["annotations"]["list"]]
    return [rule["expr"] for rule in rules()] + [expression for _, expression in shown()] + variables + annotations


# Prometheus


def test_promtool_accepts_the_rules_and_the_example_configuration():
    assert f"SUCCESS: {len(rules())} rules found" in promtool("check", "rules", RULES)
    promtool("check", "config", PROMETHEUS / "prometheus.yml")


def test_the_alerts_fire_where_they_must_and_stay_silent_where_all_is_well():
    assert "SUCCESS" in promtool("test", "rules", RULE_TESTS)


def test_each_alert_is_shown_to_fire():
    expected = " ".join(
        sample["labels"]
        for case in yaml.safe_load(RULE_TESTS.read_text())["tests"]
        for expression in case["promql_expr_test"]
        for sample in expression["exp_samples"])
    alerts = [rule["alert"] for rule in rules() if "alert" in rule]
    assert len(set(alerts)) == len(alerts) >= 10
    for alert in alerts:
        assert re.search(rf'alertname="{alert}", alertstate="firing"', expected), alert


def test_each_alert_has_a_severity_and_says_what_to_do():
    for rule in rules():
        if "alert" in rule:
            assert rule["labels"]["severity"] in {"critical", "warning", "info"}, rule["alert"]
            assert {"summary", "description"} <= rule["annotations"].keys(), rule["alert"]


def test_the_rules_that_are_used_are_defined():
    defined = {rule["record"] for rule in rules() if "record" in rule}
    used = {name for rule in rules() for name in re.findall(r"\binstance:\w+:\w+", rule["expr"])}
    assert used <= defined


# Grafana


def test_the_panels_are_told_apart_and_do_not_overlap():
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(numbers)) == len(numbers)
    taken = {}
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        columns = range(place["x"], place["x"] + place["w"])
        for cell in itertools.product(columns, range(place["y"], place["y"] + place["h"])):
            assert taken.setdefault(cell, panel["title"]) == panel["title"]


def test_each_panel_asks_the_data_source_that_was_chosen_and_has_a_unit():
    for panel in panels():
        assert panel["datasource"]["uid"] == "${datasource}", panel["title"]
        assert panel["targets"], panel["title"]
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references), panel["title"]
        assert panel["fieldConfig"]["defaults"].get("unit") or panel["type"] == "heatmap", panel["title"]


def test_prometheus_can_read_each_expression_of_the_dashboard(tmp_path):
    texts = [expression for _, expression in shown()] + [
        annotation["expr"] for annotation in DASHBOARD["annotations"]["list"]]
    plain = [re.sub(r"\$\w+", "x", text.replace("$__rate_interval", "5m")) for text in texts]
    file = tmp_path / "dashboard.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": [
        {"record": f"dashboard:{number}", "expr": text} for number, text in enumerate(plain)]}]}))
    promtool("check", "rules", file)


# A clock that was set back


@needs_compiler
def test_domain_time_that_stands_still_is_a_figure_of_everything_that_watches(wire, tmp_path):
    clock = tmp_path / "clock"
    clock.write_text("0")
    env = environment(LD_PRELOAD=str(preloaded(tmp_path, "set_clock")), SET_CLOCK=str(clock))
    service = Service({"--clock": "system", "--http": "127.0.0.1:0"}, env=env).ready()
    try:
        client = Commands(wire, service.commands)
        assert "clockAhead" not in client.read("service.stats")["stats"]
        clock.write_text("-3600")
        stats = client.read("service.stats")["stats"]
        assert HOUR - 2 * MINUTE < stats["clockAhead"] <= HOUR
        strict("answers/stats.json").validate({"ok": True, "stats": stats})
        with urllib.request.urlopen(service.endpoints["http"] + "/metrics", timeout=DEADLINE) as answer:
            [value] = re.findall(r"^islet_clock_ahead_seconds (\S+)$", answer.read().decode(), re.MULTILINE)
        assert HOUR - 3 * MINUTE < float(value) * 1000 <= HOUR
        checked = Islet(service)("check", code=2).out
        assert re.match(r"ISLET CRITICAL: domain time ahead of the wall clock .+, critical above 10 s \|", checked)
        [problem] = client.read("problem.list", app=None)["problems"]
        assert (problem["severity"], problem["what"], problem["family"]) == ("critical", "clock", "clock")
        clock.write_text("0")
        assert "clockAhead" not in client.read("service.stats")["stats"]
        assert re.match(r"[-0-9T:+]+ warning ", service.line(r".*the clock was set back by \d+ ms: time stands still").group())
        assert re.match(r"[-0-9T:+]+ notice ", service.line(r".*the clock has caught up: time goes on").group())
    finally:
        service.kill()


# The metrics that there are


@pytest.fixture
def metrics(serve, tmp_path):
    """What a service with files answers to a scrape."""
    service = serve({"--http": "127.0.0.1:0", "--store": None, "--data": tmp_path / "data"})
    with urllib.request.urlopen(service.endpoints["http"] + "/metrics", timeout=DEADLINE) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return answer.read().decode()


def test_promtool_accepts_the_metrics(metrics):
    assert promtool("check", "metrics", text=metrics) == ""


def test_the_metrics_and_labels_that_are_asked_for_exist(metrics):
    series = re.findall(r"^(islet_\w+)(?:{(.*)})? ", metrics, re.MULTILINE)
    labels = {}
    for name, written in series:
        for label, value in re.findall(r'(\w+)="([^"]*)"', written):
            labels.setdefault((name, label), set()).add(value)
    asked = 0
    for expression in expressions():
        # What follows a colon is the name of a rule.
        for name, written in re.findall(r"(?<![:\w])(islet_\w+)(?:{([^}]*)})?", expression):
            assert name in {each for each, _ in series}, expression
            for label, values in re.findall(r'(outcome|family|state)(?:=|!=|=~)"([^"]*)"', written):
                assert set(values.split("|")) <= labels[name, label], expression
                asked += 1
    assert asked > 5

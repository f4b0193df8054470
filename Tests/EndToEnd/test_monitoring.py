"""The rules for Prometheus and the dashboard for Grafana: they are sound, and they speak of metrics that there are."""

import itertools
import json
import re

import pytest
import yaml

from support.promtool import promtool
from support.service import ROOT

PROMETHEUS = ROOT / "contrib" / "prometheus"
RULES = PROMETHEUS / "islet.rules.yml"
RULE_TESTS = PROMETHEUS / "islet.rules.test.yml"
DASHBOARD = json.loads((ROOT / "contrib" / "grafana" / "islet.json").read_text())

HISTOGRAMS = {"islet_answer_seconds", "islet_commit_seconds", "islet_lateness_seconds", "islet_provider_call_seconds"}
METRICS = HISTOGRAMS | {
    "islet_clients_cut_total", "islet_commands_total", "islet_disk_full", "islet_entities", "islet_events_total", "islet_info",
    "islet_journal_bytes", "islet_journal_free_bytes", "islet_provider_calls_in_flight", "islet_provider_calls_total",
    "islet_provider_calls_waiting", "islet_providers", "islet_resident_bytes", "islet_start_time_seconds", "islet_subscriber_lag_max",
    "islet_subscribers_lagging", "islet_timers_armed", "islet_timers_overdue",
}


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def panels():
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def shown():
    """Each expression of the dashboard, by the title of its panel."""
    return [(panel["title"], target["expr"]) for panel in panels() for target in panel["targets"]]


def queried():
    """All metrics that rules and dashboard ask for, with the expression that does."""
    variables = [variable["definition"] for variable in DASHBOARD["templating"]["list"] if variable["type"] == "query"]
    annotations = [annotation["expr"] for annotation in DASHBOARD["annotations"]["list"]]
    texts = [rule["expr"] for rule in rules()] + [expression for _, expression in shown()] + variables + annotations
    # What follows a colon is the name of a rule.
    return [(name, text) for text in texts for name in re.findall(r"(?<![:\w])islet_\w+", text)]


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
    expressions = [expression for _, expression in shown()] + [
        annotation["expr"] for annotation in DASHBOARD["annotations"]["list"]]
    plain = [re.sub(r"\$\w+", "x", text.replace("$__rate_interval", "5m")) for text in expressions]
    file = tmp_path / "dashboard.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": [
        {"record": f"dashboard:{number}", "expr": text} for number, text in enumerate(plain)]}]}))
    promtool("check", "rules", file)


# The metrics that there are


@pytest.mark.parametrize("name", sorted({name for name, _ in queried()}))
def test_the_metric_exists(name):
    histogram = re.sub(r"_(bucket|count|sum)$", "", name)
    assert name in METRICS - HISTOGRAMS or (histogram in HISTOGRAMS and histogram != name)

# SPDX-License-Identifier: Apache-2.0
"""The rules: what promtool says of them, what their tests cover, and that they find what they ask for."""

import re
import subprocess

import servers
import yaml
from program import SOURCE, wait_until

FOLDER = servers.DEPLOY / "prometheus"
TESTS = sorted((FOLDER / "tests").glob("*.yml"))
TEMPLATE = re.compile(r"\{\{\s*\$(labels\.\w+|value)")

# What the rules ask for and the demo cannot have: what is missing.
NOT_ON_THE_DEMO = {
    "gpu:xid_errors:increase10m": "a GPU with an XID in the last minutes",
    "gpu_nvlink_state": "NVLink",
    "gpu_nvlink_errors_total": "NVLink",
    "everywatt_remote_write_queued_samples": "a receiver of remote write",
    "everywatt_remote_write_queued_bytes": "a receiver of remote write",
    "everywatt_remote_write_sent_samples_total": "a receiver of remote write",
    "everywatt_remote_write_dropped_samples_total": "a receiver of remote write",
    "everywatt_remote_write_failed_samples_total": "a receiver of remote write",
    "everywatt_notify_queued": "a channel to people",
    "everywatt_notify_sent_total": "a channel to people",
    "everywatt_notify_dropped_total": "a channel to people",
    "everywatt_notify_failed_total": "a channel to people",
}


def rules(kind: str) -> list[dict]:
    found = []
    for file in servers.RULES:
        for group in yaml.safe_load(file.read_text())["groups"]:
            found += [rule for rule in group["rules"] if kind in rule]
    return found


def promtool(*arguments) -> None:
    servers.need("promtool")
    result = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr


def test_promtool_accepts_configuration_and_rules():
    promtool("check", "config", FOLDER / "prometheus.yml")
    promtool("check", "rules", *servers.RULES)


def test_the_tests_of_the_rules_pass():
    promtool("test", "rules", *TESTS)


def test_the_memory_rule_is_the_one_that_everybody_has():
    (rule,) = (rule for rule in rules("alert") if rule["alert"] == "GpuMemoryHigh")
    assert rule["expr"] == "avg by (gpu, instance) (dcgm_fb_used / dcgm_fb_total) > 0.9"
    assert rule["for"] == "5m"
    assert rule["labels"] == {"severity": "warning"}
    assert "memory use at" in rule["annotations"]["summary"]


def test_every_alert_says_how_bad_it_is_and_what_to_do_in_both_languages():
    page = (SOURCE / "docs/alerts.md").read_text()
    headings = {heading.lower() for heading in re.findall(r"^### (\w+)$", page, re.MULTILINE)}
    names = [rule["alert"] for rule in rules("alert")]
    assert len(set(names)) == len(names)
    assert headings == {name.lower() for name in names}
    for rule in rules("alert"):
        name, said = rule["alert"], rule["annotations"]
        assert rule["for"] and rule["labels"]["severity"] in ("critical", "warning", "info"), name
        assert set(said) == {"summary", "summary_zh", "description", "description_zh", "runbook"}, name
        assert said["runbook"] == f"docs/alerts.md#{name.lower()}"
        for text in ("summary", "description"):
            chinese = said[f"{text}_zh"]
            assert re.search("[\u4e00-\u9fff]", chinese), name
            assert not re.search("[\u4e00-\u9fff]", said[text]), name
            assert set(TEMPLATE.findall(chinese)) == set(TEMPLATE.findall(said[text])), name


def test_every_alert_has_a_test_in_which_it_fires_and_one_in_which_it_does_not():
    fires, silent = set(), set()
    for file in TESTS:
        for case in yaml.safe_load(file.read_text())["tests"]:
            checks = case.get("promql_expr_test", [])
            found = set(re.findall(r'alertname="(\w+)"', str([c for c in checks if c["exp_samples"]])))
            for check in case.get("alert_rule_test", []):
                (fires if check["exp_alerts"] else silent).add(check["alertname"])
            fires |= found
            # No alert at all at another time of the same case.
            if any(not check["exp_samples"] for check in checks):
                silent |= found
    names = {rule["alert"] for rule in rules("alert")}
    assert names - fires == set()
    assert names - silent == set()


def names_asked_for(expr: str) -> set[str]:
    without_labels = re.sub(r"\{[^}]*\}", "", expr)
    without_labels = re.sub(r"\b(on|by|without|group_left)\s*\([^)]*\)", "", without_labels)
    return set(re.findall(r"\b(?:gpu|host|everywatt|instance|dcgm)[a-z0-9_]*(?::\w+)*\b", without_labels))


def test_the_rules_find_what_they_ask_for_on_the_demo(watch):
    _, prometheus = watch("--demo", "all")
    everything = rules("alert") + rules("record")
    asked = set().union(*(names_asked_for(rule["expr"]) for rule in everything))
    asked |= {rule["record"] for rule in rules("record")}
    assert len(asked) > 50
    missing = set(NOT_ON_THE_DEMO) | {"gpu_xid_errors_total"}
    for name in sorted(asked - missing):
        # Rates over five minutes take some seconds until they have two samples.
        wait_until(lambda: prometheus.ask(name), name, patience_s=60)  # noqa: B023
    bad = [rule for rule in prometheus.rules() if rule["health"] != "ok"]
    assert bad == []


def test_an_xid_becomes_an_alert_of_its_class(watch):
    _, prometheus = watch("--demo", "scenario:xid_storm")

    def classes():
        return {
            (series["metric"]["xid_class"], series["metric"]["xid"])
            for series in prometheus.ask("ALERTS{xid!='',gpu='0'}")
        }

    wanted = {("application", "31"), ("hardware", "48"), ("unclear", "63"), ("unclear", "94")}
    wait_until(lambda: classes() == wanted, classes, patience_s=60)

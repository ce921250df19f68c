# SPDX-License-Identifier: Apache-2.0
"""Alertmanager's configuration, as its own tool sees it, and what it routes and keeps back."""

import subprocess

import pytest
import servers
import test_rules
import yaml

FILE = servers.DEPLOY / "alertmanager/alertmanager.yml"


@pytest.fixture
def config() -> dict:
    return yaml.safe_load(FILE.read_text())


def amtool(*arguments) -> str:
    servers.need("amtool")
    result = subprocess.run(["amtool", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.strip()


def test_amtool_takes_it():
    assert "SUCCESS" in amtool("check-config", FILE)


@pytest.mark.parametrize(
    ("severity", "receiver"), [("critical", "ops"), ("warning", "ops"), ("info", "nobody")]
)
def test_what_somebody_must_know_goes_out(severity, receiver):
    labels = [f"severity={severity}", "alertname=GpuLost", "gpu=0", "instance=a"]
    assert amtool("config", "routes", "test", f"--config.file={FILE}", *labels).split()[0] == receiver


def test_the_receiver_is_everywatts_with_a_token_from_a_file(config):
    (webhook,) = config["receivers"][0]["webhook_configs"]
    assert webhook["url"] == "http://localhost:9400/api/v1/notify/alertmanager/ops"
    assert webhook["send_resolved"] is True and webhook["max_alerts"] > 0
    authorization = webhook["http_config"]["authorization"]
    assert authorization["type"] == "Bearer" and authorization["credentials_file"]
    assert config["route"]["group_by"] == ["instance", "gpu"]


def test_every_alert_that_is_inhibited_or_inhibits_is_there(config):
    names = {rule["alert"] for rule in test_rules.rules("alert")}
    for rule in config["inhibit_rules"]:
        assert "instance" in rule["equal"]
        for matcher in rule["source_matchers"]:
            for name in matcher.split('"')[1].split("|"):
                assert name in names, matcher

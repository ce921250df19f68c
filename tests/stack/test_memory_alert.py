# SPDX-License-Identifier: Apache-2.0
"""The whole way: memory that grows, the shipped rule, Prometheus, Alertmanager, our receiver, a robot.

The configurations are those of deploy/. Every duration in them is divided by 60, of the rule `for`
alone; addresses and the token's place are the test's.
"""

import os
import re
import sys
import time

import program
import pytest
import servers
import yaml
from program import wait_until

sys.path.insert(0, str(program.SOURCE / "tests/notify"))
from robots import DINGTALK, Robots  # noqa: E402

SECRET = "SECa1b2c3d4e5f6"
TOKEN = "receiver-token-of-the-test"
REFUSALS = ("busy", "503", "reset")
UNITS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def sixtieth(duration: str) -> str:
    number, unit = re.fullmatch(r"(\d+)([smhd])", duration).groups()
    return f"{int(number) * UNITS[unit] // 60}ms"


def hastened(value):
    """The same configuration with every duration divided."""
    if isinstance(value, dict):
        return {name: hastened(each) for name, each in value.items()}
    if isinstance(value, list):
        return [hastened(each) for each in value]
    return sixtieth(value) if isinstance(value, str) and re.fullmatch(r"\d+[smhd]", value) else value


@pytest.fixture
def write(folder):
    def make(name: str, content: str):
        file = folder / name
        file.write_text(content)
        os.chmod(file, 0o644)
        return file

    return make


@pytest.fixture
def robots():
    robots = Robots(secrets={DINGTALK: SECRET})
    yield robots
    robots.close()


@pytest.fixture
def start():
    started = []

    def keep(server):
        started.append(server)
        return server

    yield keep
    for server in reversed(started):
        server.kill()


def rule_file(write):
    """The shipped rule; only `for` is another."""
    rules = yaml.safe_load((servers.DEPLOY / "prometheus/rules/dcgm.yml").read_text())
    (rule,) = rules["groups"][0]["rules"]
    rule["for"] = sixtieth(rule["for"])
    return write("dcgm.yml", yaml.safe_dump(rules, allow_unicode=True))


def alertmanager_config(url: str, token) -> dict:
    config = hastened(yaml.safe_load((servers.DEPLOY / "alertmanager/alertmanager.yml").read_text()))
    (webhook,) = config["receivers"][0]["webhook_configs"]
    webhook["url"] = webhook["url"].replace("http://localhost:9400", url)
    webhook["http_config"]["authorization"]["credentials_file"] = str(token)
    return config


def prometheus_config(url: str, alertmanager: str, rules) -> dict:
    config = hastened(servers.shipped_prometheus(url, alertmanager, interval="15s"))
    config["global"]["scrape_timeout"] = config["global"]["scrape_interval"]
    config["rule_files"] = [str(rules)]
    return config


def test_memory_that_fills_up_and_frees_again_is_told_in_the_chat(
    folder, write, robots, start, serve, tmp_path_factory
):
    servers.need("prometheus")
    servers.need_alertmanager()
    url = f"http://127.0.0.1:{servers.free_port()}"
    token = write("token", TOKEN)
    config = write(
        "everywatt.toml",
        "[notify.ops]\n"
        'type = "dingtalk"\n'
        f'url_file = "{write("ops.url", robots.url(DINGTALK))}"\n'
        f'secret_file = "{write("ops.secret", SECRET)}"\n'
        f'receiver_token_file = "{token}"\n',
    )
    manager = start(
        servers.Alertmanager(tmp_path_factory.mktemp("alertmanager"), alertmanager_config(url, token))
    )
    prometheus = start(
        servers.Prometheus(
            tmp_path_factory.mktemp("prometheus"),
            prometheus_config(url, manager.url, rule_file(write)),
        )
    )
    serve(
        "--demo", "scenario:memory_alert", "--config", str(config),
        "--listen", url.removeprefix("http://"),
    )  # fmt: skip

    seen = []

    def is_over() -> bool:
        state = prometheus.alert_states("GpuMemoryHigh") or {"inactive"}
        if not seen or seen[-1] != state:
            seen.append(state)
        return seen[-1] == {"inactive"} and {"firing"} in seen

    wait_until(lambda: bool(prometheus.ask("dcgm_fb_used")), "a scrape")
    # What it says and what the connection does when it is not well: each costs one more try.
    robots.answer(DINGTALK, *REFUSALS)
    wait_until(is_over, lambda: f"pending, firing, resolved; but {seen}", patience_s=120)
    assert [next(iter(state)) for state in seen] == ["inactive", "pending", "firing", "inactive"]

    fired, resolved = robots.wait(2, DINGTALK, seconds=60)
    answers = [message.answer for message in robots.received]
    assert len(answers) == len(REFUSALS) + 2, answers
    assert answers[len(REFUSALS) :] == ["ok", "ok"]
    # Signed anew each time, and the same words.
    tries = list(robots.received)[: len(REFUSALS) + 1]
    assert {each.text for each in tries} == {fired.text}
    assert len({each.target for each in tries}) == len(tries)
    for message in robots.received:
        assert len(message.raw) < 20000
    summary = f"instance {url.removeprefix('http://')} GPU 0 memory use at 96%"
    for message in (fired, resolved):
        assert "GpuMemoryHigh" in message.text
        assert summary in message.text
    assert fired.text != resolved.text
    assert abs(time.time() - resolved.seconds) < 120
    assert TOKEN not in (folder.parent / f"{folder.name}.log").read_text()

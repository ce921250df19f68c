# SPDX-License-Identifier: Apache-2.0
"""The real Prometheus and Alertmanager, on free ports, with what deploy/ ships."""

import json
import shutil
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import yaml
from program import SOURCE, wait_until

DEPLOY = SOURCE / "deploy"
ALERTMANAGER = SOURCE / "tools/dev/alertmanager"
RULES = sorted((DEPLOY / "prometheus/rules").glob("*.yml"))


def need(*programs: str) -> None:
    for name in programs:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not there")


def need_alertmanager() -> None:
    if subprocess.run([ALERTMANAGER, "--version"], capture_output=True, timeout=60).returncode != 0:
        pytest.skip("Alertmanager is not there, or this machine lets nobody lay folders over others")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def shipped_prometheus(target: str, alertmanager: str = "", interval: str = "1s") -> dict:
    """deploy/prometheus/prometheus.yml, at another pace and with other addresses."""
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    config["global"] |= {"scrape_interval": interval, "scrape_timeout": interval}
    config["global"]["evaluation_interval"] = interval
    config["rule_files"] = [str(file) for file in RULES]
    for job in config["scrape_configs"]:
        job["static_configs"][0]["targets"] = [target.removeprefix("http://")]
    if alertmanager:
        to = config["alerting"]["alertmanagers"][0]["static_configs"][0]
        to["targets"] = [alertmanager.removeprefix("http://")]
    else:
        del config["alerting"]
    return config


class Server:
    """A program with an HTTP address. It is ready when the constructor returns."""

    def __init__(self, folder: Path, command: list[str], url: str, ready: str):
        self.url = url
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        wait_until(lambda: self.status(ready) == 200, lambda: self.log.read_text()[-2000:])

    def status(self, path: str) -> int:
        assert self.process.poll() is None, self.log.read_text()[-2000:]
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def get(self, path: str, **parameters):
        query = f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
        try:
            with urllib.request.urlopen(f"{self.url}{path}{query}", timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path} {parameters}: {error.read().decode()}") from error

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Prometheus(Server):
    def __init__(self, folder: Path, config: dict):
        url = f"http://127.0.0.1:{free_port()}"
        file = folder / "prometheus.yml"
        file.write_text(yaml.safe_dump(config))
        command = [
            "prometheus",
            f"--config.file={file}",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address={url.removeprefix('http://')}",
        ]
        super().__init__(folder, command, url, "/-/ready")

    def ask(self, query: str) -> list[dict]:
        return self.get("/api/v1/query", query=query)["data"]["result"]

    def label_values(self, label: str, series: str) -> list[str]:
        return self.get(f"/api/v1/label/{label}/values", **{"match[]": series})["data"]

    def rules(self) -> list[dict]:
        groups = self.get("/api/v1/rules")["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def alert_states(self, name: str) -> set[str]:
        return {
            alert["state"]
            for alert in self.get("/api/v1/alerts")["data"]["alerts"]
            if alert["labels"]["alertname"] == name
        }


class Alertmanager(Server):
    def __init__(self, folder: Path, config: dict):
        url = f"http://127.0.0.1:{free_port()}"
        file = folder / "alertmanager.yml"
        file.write_text(yaml.safe_dump(config))
        command = [
            str(ALERTMANAGER),
            f"--config.file={file}",
            f"--storage.path={folder}/data",
            f"--web.listen-address={url.removeprefix('http://')}",
            "--cluster.listen-address=",
        ]
        super().__init__(folder, command, url, "/-/ready")

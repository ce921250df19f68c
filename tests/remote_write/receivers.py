# SPDX-License-Identifier: Apache-2.0
"""Real receivers of remote write, which a test kills and starts again on the same folder and port."""

import json
import shutil
import signal
import socket
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from program import wait_until

# [(milliseconds since 1970, value)]
Samples = list[tuple[int, float]]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Receiver:
    """One that runs from the start."""

    program = ""
    ready_path = ""

    def __init__(self, folder: Path):
        if not shutil.which(self.program):
            pytest.skip(f"{self.program} is not installed")
        folder.mkdir()
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None
        self.start()

    def arguments(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(
                [self.program, *self.arguments()], stdout=log, stderr=log
            )
        wait_until(self._is_ready, lambda: (self.folder / "log").read_text()[-2000:], 60)

    def stop(self, sign: signal.Signals) -> None:
        if self.process:
            self.process.send_signal(sign)
            self.process.wait(timeout=60)
            self.process = None

    def fetch(self, path: str, **query) -> str:
        address = f"{self.url}{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(address, timeout=30) as answer:
            return answer.read().decode()

    def instant(self, query: str) -> list[dict]:
        return json.loads(self.fetch("/api/v1/query", query=query))["data"]["result"]

    def names(self) -> set[str]:
        return set(json.loads(self.fetch("/api/v1/label/__name__/values"))["data"])

    def _is_ready(self) -> bool:
        assert self.process is not None and self.process.poll() is None, "it has ended"
        try:
            self.fetch(self.ready_path)
        except OSError:
            return False
        return True


class Prometheus(Receiver):
    program = "prometheus"
    ready_path = "/-/ready"

    def arguments(self) -> list[str]:
        config = self.folder / "prometheus.yml"
        config.write_text("global: {scrape_interval: 1h}\n")
        return [
            f"--config.file={config}",
            f"--storage.tsdb.path={self.folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            "--web.enable-remote-write-receiver",
        ]

    def samples(self, series: str) -> Samples:
        """All of one series, but for the markers of its end."""
        found = self.instant(f"{series}[1h]")
        assert len(found) <= 1, found
        return [(round(at * 1000), float(value)) for at, value in found[0]["values"]] if found else []


class VictoriaMetrics(Receiver):
    program = "victoria-metrics"
    ready_path = "/health"
    more_arguments: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        return [
            f"-storageDataPath={self.folder / 'data'}",
            f"-httpListenAddr=127.0.0.1:{self.port}",
            "-retentionPeriod=1",
            # It would show nothing of the last 30 s.
            "-search.latencyOffset=0s",
            *self.more_arguments,
        ]

    def samples(self, series: str) -> Samples:
        """As it stored them: with what came twice. A marker of an end is no number."""
        self.fetch("/internal/force_flush")
        found: Samples = []
        for line in self.fetch("/api/v1/export", **{"match[]": series}).splitlines():
            stored = json.loads(line)
            found += [
                (at, value)
                for at, value in zip(stored["timestamps"], stored["values"])
                if value is not None
            ]
        return sorted(found)



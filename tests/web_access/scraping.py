# SPDX-License-Identifier: Apache-2.0
"""The real Prometheus, which scrapes one address."""

import json
from pathlib import Path
from urllib.parse import urlsplit

from program import wait_until
from receivers import Receiver


class Scraper(Receiver):
    program = "prometheus"
    ready_path = "/-/ready"

    def __init__(self, folder: Path, url: str, **login):
        place = urlsplit(url)
        self.job = {
            "job_name": "everywatt",
            "scrape_interval": "200ms",
            "scrape_timeout": "200ms",
            "scheme": place.scheme,
            "static_configs": [{"targets": [place.netloc]}],
            **login,
        }
        super().__init__(folder)

    def arguments(self) -> list[str]:
        config = self.folder / "prometheus.yml"
        # JSON is YAML.
        config.write_text(json.dumps({"scrape_configs": [self.job]}, default=str))
        return [
            f"--config.file={config}",
            f"--storage.tsdb.path={self.folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
        ]

    def target(self) -> dict:
        """Nothing in it until Prometheus has taken it up."""
        targets = json.loads(self.fetch("/api/v1/targets"))["data"]["activeTargets"]
        return targets[0] if targets else {}

    def wait_for(self, health: str) -> dict:
        """The target once it is "up" or "down"."""
        wait_until(lambda: self.target().get("health") == health, lambda: self.target())
        return self.target()

    def wait_for_readings(self) -> None:
        self.wait_for("up")
        wait_until(lambda: self.instant("gpu_power_watts"), "readings in Prometheus")

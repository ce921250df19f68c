# SPDX-License-Identifier: Apache-2.0
"""A daemon that sends, and what it says about that."""

import collections
import os
import re
import signal
from pathlib import Path

import program
from program import wait_until

FAMILY = re.compile(r'everywatt_remote_write_(\w+)\{destination="(\w+)"[^}]*\} (\S+)')


class Sending:
    def __init__(self, daemon: program.Daemon):
        self.daemon = daemon

    def counts(self, destination: str) -> dict[str, float]:
        """By name: queued_samples, sent_samples_total, ...; 0 before the courier is there."""
        found: collections.Counter[str] = collections.Counter()
        for line in self.daemon.fetch("/metrics?names=self").splitlines():
            sample = FAMILY.fullmatch(line)
            if sample and sample[2] == destination:
                found[sample[1]] += float(sample[3])
        return found

    def failed_samples(self, destination: str, reason: str) -> float:
        labels = f'{{destination="{destination}",reason="{reason}"}}'
        line = f"everywatt_remote_write_failed_samples_total{labels} "
        (value,) = [
            one.removeprefix(line)
            for one in self.daemon.fetch("/metrics?names=self").splitlines()
            if one.startswith(line)
        ]
        return float(value)

    def kill_courier(self) -> None:
        """The supervisor starts another one."""
        before = self.daemon.parts()["courier"]
        os.kill(before, signal.SIGKILL)
        wait_until(lambda: self.daemon.parts().get("courier", before) != before, "another courier")


def start_sending(folder: Path, serve, demo: str, destinations: dict[str, dict]) -> Sending:
    config = folder / "everywatt.toml"
    config.write_text(format_config(destinations))
    config.chmod(0o644)
    return Sending(serve("--demo", demo, "--config", config))


def format_config(destinations: dict[str, dict]) -> str:
    lines = []
    for name, keys in destinations.items():
        lines.append(f"[remote_write.{name}]")
        lines += [f"{key} = {format_value(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def format_value(value) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {format_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(format_value, value)) + "]"
    return f'"{value}"' if isinstance(value, (str, Path)) else str(value)

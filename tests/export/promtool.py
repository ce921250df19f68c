# SPDX-License-Identifier: Apache-2.0
"""Prometheus' own tool as a judge of what we expose."""

import re
import shutil
import subprocess

# DCGM's exporter writes labels and counters that the rules for names ask to be called otherwise;
# whoever asks for its names wants exactly those.
DCGM_HABITS = re.compile(
    r"DCGM_\w+ (label names should be written in 'snake_case' not 'camelCase'"
    r"|counter metrics should have \"_total\" suffix"
    r"|metric name should not include type 'counter')"
)


def is_installed() -> bool:
    return shutil.which("promtool") is not None


def complaints(text: bytes) -> list[str]:
    """What it minds; fails when the text cannot be parsed at all."""
    result = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, timeout=60
    )
    lines = (result.stdout + result.stderr).decode().splitlines()
    assert result.returncode in (0, 3), lines
    return [line for line in lines if line.strip()]


def complaints_but_for_dcgm(text: bytes) -> list[str]:
    return [line for line in complaints(text) if not DCGM_HABITS.fullmatch(line)]

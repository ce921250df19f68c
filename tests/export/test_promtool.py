# SPDX-License-Identifier: Apache-2.0
"""What we expose, as Prometheus' own tool sees it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ.get("EVERYWATT_SOURCE_DIR", Path(__file__).resolve().parents[2]))
GOLDEN = SOURCE / "src/serve/exporter/golden"
# DCGM's exporter writes labels and counters that the rules for names ask to be called otherwise;
# whoever asks for its names wants exactly those.
DCGM_HABITS = re.compile(
    r"DCGM_\w+ (label names should be written in 'snake_case' not 'camelCase'"
    r"|counter metrics should have \"_total\" suffix"
    r"|metric name should not include type 'counter')"
)


def check(name: str) -> list[str]:
    """The complaints about a golden text; fails when it cannot be parsed at all."""
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed")
    text = (GOLDEN / name).read_bytes()
    result = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, timeout=60
    )
    lines = (result.stdout + result.stderr).decode().splitlines()
    assert result.returncode in (0, 3), lines
    return [line for line in lines if line.strip()]


@pytest.mark.parametrize("name", ["native.prom", "self.prom"])
def test_promtool_is_silent_about_our_own_names(name):
    assert check(name) == []


def test_promtool_minds_only_the_habits_of_dcgms_exporter(name="dcgm.prom"):
    assert [line for line in check(name) if not DCGM_HABITS.fullmatch(line)] == []

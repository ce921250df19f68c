# SPDX-License-Identifier: Apache-2.0
"""What we expose, as Prometheus' own tool sees it."""

import os
from pathlib import Path

import promtool
import pytest

SOURCE = Path(os.environ.get("EVERYWATT_SOURCE_DIR", Path(__file__).resolve().parents[2]))


def golden(name: str) -> bytes:
    if not promtool.is_installed():
        pytest.skip("promtool is not installed")
    return (SOURCE / "src/serve/exporter/golden" / name).read_bytes()


@pytest.mark.parametrize("name", ["native.prom", "self.prom"])
def test_promtool_is_silent_about_our_own_names(name):
    assert promtool.complaints(golden(name)) == []


def test_promtool_minds_only_the_habits_of_dcgms_exporter():
    assert promtool.complaints_but_for_dcgm(golden("dcgm.prom")) == []

# SPDX-License-Identifier: Apache-2.0
"""The scenarios for people: each can be played by its name and says what is to be seen."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "scenarios"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
EXPECTED = {"driver_update", "gpu_lost", "hot_plug", "hung_gpu", "nvlink_down", "xid_storm"}


def make(player, folder, name, check=True):
    traces = FOLDER.parent / "traces"
    return player("--make", folder, "--demo", f"scenario:{name}", "--traces", traces, "--stepped", check=check)


def test_the_documented_ones_are_there():
    assert EXPECTED <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_played_from_another_folder_and_begins_with_what_is_seen(player, tmp_path, name):
    text = (FOLDER / f"{name}.toml").read_text()
    assert text.startswith("# ") and text.splitlines()[0].endswith(".")
    make(player, tmp_path / "sim", name)
    for moment in (0, 100_000):
        player("--root", tmp_path / "root", "--sim", tmp_path / "sim", "--once", moment)
    assert (tmp_path / "root/proc/stat").exists()


def test_a_wrong_name_lists_those_that_there_are(player, tmp_path):
    refused = make(player, tmp_path / "sim", "?", check=False)
    assert refused.returncode == 2 and ", ".join(NAMES) in refused.stderr

# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
BUILD = Path(os.environ.get("EVERYWATT_BUILD_DIR", HERE.parent.parent / "build/release"))


class Simulation:
    """A folder with a scenario, a playhead and the simulated library under the driver's name."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.library = BUILD / "libnvidia-ml-sim.so"
        libraries = folder / "lib"
        libraries.mkdir(parents=True)
        (libraries / "libnvidia-ml.so.1").symlink_to(self.library)

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "EVERYWATT_SIM": str(self.folder),
            "LD_LIBRARY_PATH": str(self.folder / "lib"),
            "PYTHONPATH": str(HERE),
        }

    @property
    def playhead(self):
        from playhead import Playhead

        return Playhead(self.folder / "playhead")

    def make(self, demo: str, *options: str) -> None:
        run_player("--make", self.folder, "--demo", demo, "--stepped", *options)

    def append(self, text: str) -> None:
        with open(self.folder / "scenario.toml", "a") as file:
            file.write(text)

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess:
        """Runs a client in Python, with the folder of this file's neighbours to import from."""
        return subprocess.run(
            [sys.executable, "-c", script, str(self.folder / "playhead"), *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )


def run_player(*arguments, check: bool = True) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BUILD / "everywatt-player", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=check,
        timeout=60,
    )


@pytest.fixture
def simulation(tmp_path) -> Simulation:
    return Simulation(tmp_path / "sim")


@pytest.fixture
def player():
    return run_player

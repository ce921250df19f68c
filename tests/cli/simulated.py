# SPDX-License-Identifier: Apache-2.0
"""Daemons on simulated GPUs whose playhead the test moves."""

import subprocess
from pathlib import Path

import program
from playhead import Playhead
from program import wait_until


class Machine:
    """Every trace as a GPU of one profile, at a played time that the test chooses."""

    def __init__(self, folder: Path, names: list[str], profile: str, serve, *arguments):
        self.folder = folder / "sim"
        self.names = names
        self._player = None
        make = [program.PLAYER, "--make", self.folder, "--demo", ",".join(names), "--stepped"]
        subprocess.run([*make, "--profile", profile], check=True, timeout=60)
        self.playhead = Playhead(self.folder / "playhead")
        self.playhead.step_to(0)
        self._player = subprocess.Popen([program.PLAYER, "--play", self.folder])
        self.playhead.wait_for_root(self.folder / "root")
        self.daemon = serve(
            "--nvml-library", program.LIBRARY, "--host-root", self.folder / "root", *arguments,
            env=program.environment(EVERYWATT_SIM=str(self.folder)),
        )  # fmt: skip

    def close(self) -> None:
        if self._player:
            self._player.kill()
            self._player.wait()

    def wait_for_calls(self, function: str, rounds: int) -> None:
        """Until each GPU has been asked that often. They are asked at the same pace, so one round
        more than asked for covers them all."""
        wanted = self.playhead.calls().get(function, 0) + (rounds + 1) * len(self.names)
        wait_until(lambda: self.playhead.calls().get(function, 0) >= wanted, function)

# SPDX-License-Identifier: Apache-2.0
"""
Fault: the machine's wall clock is set by an hour, either way, while everything runs
Seen: event `clock_step` with the milliseconds; nothing is missed, repeated or taken for old
For: one second until it is noticed
Clears: by itself: order and windows follow the monotonic clock, the wall clock is for people alone
"""

import json
import shutil
import struct
import subprocess
import time
from pathlib import Path

import pytest
from faulty import Readers
from program import wait_until

HOUR_S = 3600
SOURCE = Path(__file__).with_name("wall_clock.c")


class WallClock:
    """Of all processes of a machine, moved at will."""

    def __init__(self, folder: Path):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            pytest.skip("no C compiler")
        self.library = folder / "wall_clock.so"
        self.file = folder / "wall_clock"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", self.library, SOURCE], check=True)
        self.file.write_bytes(bytes(8))

    @property
    def env(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "EVERYWATT_TEST_WALL_CLOCK": str(self.file)}

    def step(self, seconds: int) -> None:
        with open(self.file, "r+b") as file:
            file.write(struct.pack("<q", seconds * 1_000_000_000))


def times(machine, metric: str) -> list[int]:
    answer = machine.daemon.run("history", metric, "--gpu", "0", "--since", "10m", "--json")
    return [point[0] for point in json.loads(answer.stdout)["series"][0]["points"]]


@pytest.mark.parametrize("seconds", [HOUR_S, -HOUR_S], ids=["ahead", "back"])
def test_a_step_of_an_hour_is_told_and_breaks_nothing(machine, folder, seconds):
    clock = WallClock(folder)
    broken = machine("gemm,fed", env=clock.env)
    broken.wait_until_fresh()
    rows = len(times(broken, "gpu_power_watts"))
    with Readers(broken) as readers:
        clock.step(seconds)
        told = broken.wait_for_event("clock_step")
        assert abs(told["code"] - seconds * 1000) < 500
        assert told["text"].startswith("the wall clock jumped by ")
        wait_until(lambda: len(times(broken, "gpu_power_watts")) > rows + 10, "ten rows more")
        assert broken.ready() == (200, ["ready"])
        assert broken.state(0) == broken.state(1) == "ok"
        # All is shown by the clock as it is now, in order, and without a hole where it jumped.
        for metric in ("gpu_power_watts", "gpu_utilization_ratio"):
            shown = times(broken, metric)
            assert shown == sorted(shown)
            assert max(b - a for a, b in zip(shown, shown[1:])) < 1.1e9
            assert abs(shown[-1] / 1e9 - time.time() - seconds) < 5
        assert readers.rounds > 1
        clock.step(0)
        broken.wait_for_event("clock_step", count=2)
        assert broken.ready() == (200, ["ready"])
    wall = [event["code"] for event in broken.events("clock_step")]
    assert len(wall) == 2 and abs(wall[0] + wall[1]) < 500
    assert not broken.events("coverage_lost")

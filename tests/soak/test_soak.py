# SPDX-License-Identifier: Apache-2.0
"""Random faults from a seed on eight GPUs for two hours, with scrapers and readers beside them.

EVERYWATT_SOAK_MINUTES and EVERYWATT_SOAK_SEED choose how long and which; the seed is printed. The
daemon is one and the same all the time. Each act gets a scenario of its own: the driver is let go
of, as for an update, the new scenario is laid, and it is taken up again.
"""

import contextlib
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import acts
import program
import pytest
from faulty import FaultyMachine, Readers, driver_counts
from leaks import count, memory_kb, unlike
from program import wait_until

MINUTES = float(os.environ.get("EVERYWATT_SOAK_MINUTES", 120))
SEED = int(os.environ.get("EVERYWATT_SOAK_SEED", random.SystemRandom().randrange(1 << 32)))
ACT_MS = 30_000
SCRAPERS = 3
# An allocator keeps something; a leak a minute comes to more in two hours.
GROWTH_KB = 4_096
# A GPU that hung is tried again after 3 s, and another time after 6 s.
RECOVERY_S = 60
# Of eight GPUs and three readers on two cores.
MISSED_S = 1.5
COMMANDS = (
    ("events", "--since", "1m"), ("get", "gpu_power_watts"), ("processes",), ("why", "gpu_power_watts"),
)  # fmt: skip
STORM = "i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i+1)); done"


class Soak:
    def __init__(self, folder: Path):
        self.machine = FaultyMachine(folder / "soak", "gemm", daemon=False)
        self.script = acts.Script(SEED)
        self.begin_act(self.script.next_act(0, 0, ACT_MS), is_empty=True)
        self.machine.start()

    @property
    def daemon(self) -> program.Daemon:
        return self.machine.daemon

    def begin_act(self, act: acts.Act, is_empty: bool = False) -> None:
        if self.daemon:
            self.daemon.run("drain", code=0)
        sections = [] if is_empty else act.sections
        self.machine.lay("\n".join([acts.scenario_head(program.SOURCE), *sections]), act.begin_ms)
        if self.daemon:
            self.daemon.run("resume", code=0)

    def play(self, act: acts.Act) -> None:
        self.begin_act(act)
        wait_until(lambda: len(self.daemon.metrics("native").get("gpu_power_watts", {})) > 0, "readings")
        begun, since_ns = time.monotonic(), time.time_ns()
        kills, storms = sorted(act.kills), sorted(act.storms)
        while (elapsed := time.monotonic() - begun) < act.length_ms / 1000:
            while kills and kills[0][0] <= elapsed:
                kill(self.machine.parts().get(kills.pop(0)[1]))
            while storms and storms[0] <= elapsed:
                storms.pop(0)
                subprocess.run(["sh", "-c", STORM])
            for command in COMMANDS:
                assert self.daemon.run(*command).returncode in (0, 1)
            time.sleep(0.2)
        wait_until(lambda: self.machine.ready()[0] == 200, self.machine.ready, RECOVERY_S)
        gaps = {gpu: self.machine.longest_gap_s(gpu, since_ns) for gpu in sorted(act.innocent)}
        print("  longest gaps:", {gpu: round(gap, 2) for gpu, gap in gaps.items()}, flush=True)
        assert all(gap <= MISSED_S for gap in gaps.values()), (act.what, gaps)


def kill(pid: int | None) -> None:
    if pid is not None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


@pytest.fixture
def soak():
    with tempfile.TemporaryDirectory(prefix="everywatt-soak-", dir="/dev/shm") as folder:
        Path(folder).chmod(0o755)
        made = Soak(Path(folder))
        yield made
        made.machine.close()


def sums_of(machine) -> dict[str, float]:
    return machine.daemon.metrics("native")["gpu_observed_seconds_total"]


@pytest.mark.long
@pytest.mark.timeout(MINUTES * 60 + 600)
def test_nothing_is_leaked_and_nothing_lost(soak):
    print(f"\nsoak: {MINUTES:g} minutes, EVERYWATT_SOAK_SEED={SEED}", flush=True)
    machine = soak.machine
    machine.wait_until_ready()
    deadline = time.monotonic() + MINUTES * 60
    before: dict[str, int] = {}
    memory: dict[str, int] = {}
    number, played_ms = 0, ACT_MS
    readers = [Readers(machine, may_fail=True, may_fall=[driver_counts()]) for _ in range(SCRAPERS)]
    with contextlib.ExitStack() as stack:
        for reader in readers:
            stack.enter_context(reader)
        while time.monotonic() < deadline or not before:
            number += 1
            act = soak.script.next_act(number, played_ms, ACT_MS)
            played_ms += ACT_MS + 1_000
            print(f"act {number}: {'; '.join(act.what)}", flush=True)
            soak.play(act)
            sums = sums_of(machine)
            assert len(sums) == acts.GPUS
            # What is made once and kept is no leak: it is there after the second act.
            if number == 2:
                before, memory = count(machine), memory_kb(machine)
    wait_until(lambda: not unlike(before, count(machine)), lambda: unlike(before, count(machine)))
    for part, kb in memory_kb(machine).items():
        assert kb < memory[part] + GROWTH_KB, (part, memory[part], kb)
    assert machine.ready() == (200, ["ready"])
    pids = machine.parts()
    code, seconds = machine.daemon.stop()
    assert code == 0 and seconds < 5
    assert not any(map(program.is_running, pids.values()))

# SPDX-License-Identifier: Apache-2.0
"""What a trace says at a played time, computed here from the files alone, independently of the simulation."""

import bisect
import csv
import gzip
import math
import os
from functools import cached_property, lru_cache
from pathlib import Path

SOURCE = Path(os.environ.get("EVERYWATT_SOURCE_DIR", Path(__file__).resolve().parent.parent.parent))
TRACES = SOURCE / "traces"
START_MS = 10_000

# Begin and end in ms, as traces/README.md has them; in the order in which `--demo all` numbers the GPUs.
LOOPS = {
    "input_bound": (20_000, 51_000),
    "fed": (20_000, 51_000),
    "synthetic": (18_000, 36_000),
    "gemm": (17_000, 33_000),
    "oom_ramp": (10_000, 34_900),
    "mem_leak": (13_000, 41_000),
    "launch_bound": (15_000, 29_000),
    "pcie_bound": (15_000, 33_000),
    "ckpt_stall": (18_000, 50_000),
    "bursty_inference": (18_000, 41_000),
    "idle_holder": (14_000, 23_000),
}
NAMES = list(LOOPS)

GPM_IDS = {
    "gract": 1,
    "smact": 2,
    "smocc": 3,
    "int": 4,
    "tensor": 5,
    "dfma": 6,
    "hmma": 7,
    "imma": 9,
    "dram": 10,
    "fp64": 11,
    "fp32": 12,
    "fp16": 13,
    "pcie_tx_mibs": 20,
    "pcie_rx_mibs": 21,
}
COUNTERS = ("energy_mj", "viol_power_ns", "viol_thermal_ns")


def read_csv(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt") as file:
        return list(csv.DictReader(file))


class Trace:
    def __init__(self, name: str, folder: Path = TRACES):
        self.name = name
        self.folder = folder
        self.rows = read_csv(folder / f"{name}.gpu.csv.gz")
        self.times = [float(row["t_ms"]) for row in self.rows]
        self.begin, self.end = LOOPS[name]

    def position(self, played_ms: float) -> tuple[float, int]:
        """The time in the trace, and the lap."""
        first_pass = self.end - START_MS
        if played_ms < first_pass:
            return START_MS + played_ms, 0
        laps, rest = divmod(played_ms - first_pass, self.end - self.begin)
        return self.begin + rest, int(laps) + 1

    def row_at(self, trace_ms: float) -> dict[str, str]:
        return self.rows[bisect.bisect_right(self.times, trace_ms) - 1]

    def value(self, column: str, played_ms: float) -> int:
        trace_ms, lap = self.position(played_ms)
        value = int(self.row_at(trace_ms)[column], 0)
        if column in COUNTERS and lap:
            at_end = int(self.row_at(self.end - 0.001)[column], 0)
            at_begin = int(self.row_at(self.begin)[column], 0)
            value += lap * (at_end - at_begin)
        return value

    @cached_property
    def refreshes(self) -> list[tuple[float, dict[str, str]]]:
        return [(t, row) for t, row in zip(self.times, self.rows) if row["dram"] != "nan"]

    def refresh(self, played_ms: float) -> dict[str, str]:
        """The row of the refresh of the GPM counters that came last by then."""
        trace_ms, lap = self.position(played_ms)
        earlier = [row for t, row in self.refreshes if t <= trace_ms and (not lap or t >= self.begin)]
        if earlier:
            return earlier[-1]
        return [row for t, row in self.refreshes if t < self.end][-1]  # of the lap before

    def refresh_times(self, from_ms: float, until_ms: float) -> list[float]:
        """Played times in (from, until] at which the GPM counters move."""
        times = []
        lap_ms = self.end - self.begin
        for t, _ in self.refreshes:
            if t < self.end:
                times.append(t - START_MS)
            if self.begin <= t < self.end:
                first = t - self.begin + self.end - START_MS
                laps = max(0, math.ceil((until_ms - first) / lap_ms) + 1)
                times += [first + lap * lap_ms for lap in range(laps)]
        return sorted(t for t in times if from_ms < t <= until_ms)

    @cached_property
    def process_rows(self) -> list[dict[str, str]]:
        return read_csv(self.folder / f"{self.name}.processes.csv.gz")

    @cached_property
    def host_rows(self) -> list[dict[str, str]]:
        return read_csv(self.folder / f"{self.name}.host.csv.gz")

    def process(self, played_ms: float) -> dict[str, str] | None:
        """The row of the only process of each trace that is listed then, if any surely is."""
        trace_ms, _ = self.position(played_ms)
        recent = [r for r in self.process_rows if trace_ms - 1000 < float(r["t_ms"]) <= trace_ms]
        return recent[-1] if recent else None


@lru_cache(maxsize=None)
def load(name: str) -> Trace:
    return Trace(name)

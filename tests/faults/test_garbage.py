# SPDX-License-Identifier: Apache-2.0
"""
Fault: the driver says OK and returns rubbish: all ones, zeros, random, NaN, huge, text without end
Seen: nothing that cannot be; such readings are `invalid`, counted in `gpu_rejected_readings_total`
For: as long as the driver lies; the other GPUs go on
Clears: with the next good reading; sums do not jump
"""

import json
import math
import re

import program
import pytest
from faulty import FINE_MS, Readers, driver_counts, fault
from program import wait_until

KINDS = ("ones", "zeros", "random", "nan", "huge", "text")
STEP_MS = 10_000
LIST = "nvmlDeviceGetComputeRunningProcesses_v3"
SAMPLE = re.compile(r"^(\w+)(?:\{([^}]*)\})? (\S+)$", re.MULTILINE)
ALL_ONES = {float(2**64 - 1), float(2**32 - 1), float(2**63), float(2**64)}


def begin_of(kind: str) -> int:
    return FINE_MS + STEP_MS * (1 + 2 * KINDS.index(kind))


def garbage() -> list[str]:
    return [
        fault("*", "gpu = 1", f'garbage = "{kind}"',
              when=f"from_ms = {begin_of(kind)}\nuntil_ms = {begin_of(kind) + STEP_MS}\n")
        for kind in KINDS
    ]  # fmt: skip


@pytest.fixture(scope="module")
def gpu_metrics() -> dict[str, dict]:
    return {m["name"]: m for m in program.run_json("catalog") if m["scope"] == "gpu"}


def check_readings(machine, metrics: dict[str, dict]) -> int:
    """Whatever is given is in its range; how many are given."""
    names = [name for name, metric in metrics.items() if metric["type"] != "text"]
    answer = json.loads(machine.daemon.run("get", *names, "--gpu", "1", "--json").stdout)
    given = [r for r in answer["readings"] if r["state"] == "ok"]
    for reading in given:
        metric, value = metrics[reading["metric"]], reading["value"]
        assert math.isfinite(value), reading
        assert value not in ALL_ONES or "mask" in reading["metric"], reading
        assert metric.get("low") is None or value >= metric["low"], reading
        assert metric.get("high") is None or value <= metric["high"], reading
    return len(given)


def check_exposition(machine) -> None:
    for name, labels, value in SAMPLE.findall(machine.daemon.fetch("/metrics")):
        assert math.isfinite(float(value)), (name, labels, value)
        assert float(value) not in ALL_ONES, (name, labels, value)
        # What the driver calls a text is plain in a label, too.
        assert labels.isprintable(), (name, labels)


# With GPM, and without, where the blocking PCIe call is read instead.
@pytest.mark.parametrize("profile", ["h200", "a100"])
def test_nothing_that_cannot_be_is_published(machine, gpu_metrics, profile):
    broken = machine("gemm,fed", *garbage(), profile=profile,
                     arguments=("--set", "lanes.pcie_seconds=1"))  # fmt: skip
    broken.wait_until_fresh()
    good = check_readings(broken, gpu_metrics)
    assert good > 20
    rejected = "gpu_rejected_readings_total"
    # What the driver counts itself may be a lie; what we add up is not.
    with Readers(broken, may_fall=[driver_counts() + r'\w+\{gpu="1"']) as readers:
        for kind in KINDS:
            before = broken.daemon.metrics("native")[rejected]["1"]
            calls = broken.playhead.calls()
            broken.jump_to(begin_of(kind))
            # Every lane has been read twice.
            wait_until(
                lambda: all(
                    broken.playhead.calls().get(name, 0) >= calls.get(name, 0) + 4
                    for name in ("nvmlDeviceGetTotalEccErrors", LIST)
                ),
                f"calls with {kind}",
            )
            check_readings(broken, gpu_metrics)
            check_exposition(broken)
            assert broken.daemon.metrics("native")[rejected]["1"] > before or kind == "zeros", kind
            broken.jump_to(begin_of(kind) + STEP_MS)
            wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
            broken.wait_for_state(1, "ok")
        # A jump of played time is no second: one reading of the other GPU may be rejected for each.
        assert broken.daemon.metrics("native")[rejected]["0"] <= 2 * len(KINDS)
        broken.check_fresh([0], readers.since_ns)


@pytest.mark.parametrize("kind", ["ones", "random", "text"])
def test_a_gpu_that_lies_from_the_start_hides_no_other(machine, gpu_metrics, kind):
    broken = machine("gemm,fed", *garbage(), starts_at_ms=begin_of(kind))
    broken.wait_for_state(0, "ok")
    check_readings(broken, gpu_metrics)
    check_exposition(broken)
    broken.jump_to(begin_of(kind) + STEP_MS)
    wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
    broken.wait_for_state(1, "ok")
    assert len(broken.daemon.metrics("native")["gpu_power_watts"]) == 2


def test_no_pid_that_cannot_be_is_published(machine, gpu_metrics):
    broken = machine("gemm,fed", *garbage())
    broken.wait_until_fresh()
    for kind in ("ones", "zeros", "huge"):
        calls = broken.playhead.calls()[LIST]
        broken.jump_to(begin_of(kind))
        wait_until(lambda calls=calls: broken.playhead.calls()[LIST] > calls + 4, LIST)
        check_readings(broken, gpu_metrics)
        listed = broken.daemon.run("processes", "--json").stdout
        pids = [int(pid) for pid in re.findall(r'"pid":\s*(\d+)', listed)]
        assert pids and all(1 <= pid <= 4194304 for pid in pids), listed

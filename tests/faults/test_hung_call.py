# SPDX-License-Identifier: Apache-2.0
"""
Fault: a driver call about one GPU never returns (any call, signals masked)
Seen: that GPU is `timed_out`; event `timed_out` names the call; `/readyz` answers 503 and names it
For: the others miss at most 1 s; the GPU is tried again after 30 s, then ever more seldom
Clears: by itself at the first call that returns; event for it, and its sums go on
"""

import pytest
from faulty import BROKEN_MS, Readers, fault
from program import is_running, wait_until

SUM = "gpu_observed_seconds_total"
# One of each lane, and the two that find a GPU.
CALLS = [
    "nvmlDeviceGetUtilizationRates",
    "nvmlGpmSampleGet",
    "nvmlDeviceGetSamples",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetTotalEnergyConsumption",
]


def hang(function: str, *more: str) -> str:
    return fault(function, "gpu = 1", "hangs = true", "signals_masked = true", *more)


@pytest.mark.parametrize("function", CALLS)
def test_the_gpu_is_left_alone_and_the_others_miss_at_most_a_second(machine, function):
    broken = machine("gemm,fed,synthetic", hang(function))
    broken.wait_until_fresh()
    before = broken.daemon.metrics("native")[SUM]
    sampler = broken.parts()["sampler"]
    with Readers(broken) as readers:
        broken.break_it()
        told = broken.wait_for_event("timed_out", "GPU 1")
        assert told["text"].startswith(f"{function} has not returned for 0.")
        assert told["source"] == "supervisor"
        broken.wait_for_state(1, "timed_out")
        assert function in broken.why(1)
        wait_until(lambda: broken.ready()[0] == 503, broken.ready)
        (line,) = broken.ready()[1]
        assert line.startswith("GPU 1: timed_out")
        wait_until(lambda: not is_running(sampler), "the end of the sampler that hangs")
        broken.mend_it()
        broken.wait_for_state(1, "ok")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
        broken.check_fresh([0, 2], readers.since_ns)
    after = broken.daemon.metrics("native")[SUM]
    assert all(after[gpu] >= before[gpu] for gpu in before)
    assert len(broken.events("timed_out")) == 1


def test_a_gpu_that_hangs_when_it_is_looked_up_is_not_touched_while_it_is_fenced(machine):
    broken = machine("gemm,fed", hang("*"))
    broken.wait_until_fresh()
    broken.break_it()
    broken.wait_for_event("timed_out", "GPU 1")
    # What the new sampler asks stands in the playhead's count of faults: nothing of this GPU.
    fired = wait_until(lambda: broken.playhead.faults_fired()[0], "the first hang")
    wait_until(lambda: broken.daemon.metrics("native").get("gpu_power_watts"), "the other GPU")
    assert broken.playhead.faults_fired()[0] == fired


def test_one_that_hangs_again_is_left_alone_for_longer(machine):
    broken = machine("gemm,fed", hang("nvmlDeviceGetPowerUsage"))
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        broken.break_it()
        broken.wait_for_event("timed_out", "GPU 1", count=3)
        times = [event["unix_ns"] for event in broken.events("timed_out", "GPU 1")]
        assert times[2] - times[1] > times[1] - times[0]
        broken.check_fresh([0], readers.since_ns)


def test_the_wait_for_events_that_hangs_costs_the_events_alone(machine):
    broken = machine("gemm,fed", fault("nvmlEventSetWait_v2", "hangs = true"))
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        broken.break_it()
        told = broken.wait_for_event("timed_out", "machine")
        assert told["text"].startswith("nvmlEventSetWait_v2 has not returned for 2.")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
        broken.check_fresh([0, 1], readers.since_ns)
    assert broken.state(0) == broken.state(1) == "ok"
    assert len(broken.events("timed_out")) == 1


def test_the_blocking_pcie_call_fences_its_gpu(machine):
    broken = machine(
        "gemm,fed", hang("nvmlDeviceGetPcieThroughput"), profile="a100",
        arguments=("--set", "lanes.pcie_seconds=0.2"),
    )  # fmt: skip
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        broken.break_it()
        told = broken.wait_for_event("timed_out", "GPU 1")
        assert told["text"].startswith("nvmlDeviceGetPcieThroughput has not returned")
        broken.wait_for_state(1, "timed_out")
        broken.check_fresh([0], readers.since_ns)
        broken.mend_it()
        broken.wait_for_state(1, "ok")


def test_everything_ends_in_time_while_a_call_hangs(machine):
    broken = machine("gemm,fed", hang("*"), starts_at_ms=BROKEN_MS)
    pids = broken.wait_for_parts()
    code, seconds = broken.daemon.stop()
    assert code == 0 and seconds < 5
    assert not any(map(is_running, pids.values()))


def test_drain_ends_a_sampler_that_hangs(machine):
    broken = machine("gemm,fed", hang("nvmlDeviceGetPowerUsage"))
    broken.wait_until_fresh()
    broken.break_it()
    sampler = broken.parts()["sampler"]
    assert broken.daemon.run("drain", code=0).stdout.startswith("drained: ")
    assert not is_running(sampler)
    assert broken.state(0) == broken.state(1) == "drained"
    broken.mend_it()
    broken.daemon.run("resume", code=0)
    broken.wait_for_state(1, "ok")

# SPDX-License-Identifier: Apache-2.0
"""
Fault: the driver's library crashes in a call about one GPU
Seen: event `part_ended` names signal and call; after the second crash within a minute the GPU is `failed`
For: the others miss at most 1 s a crash; the GPU is tried again after 30 s, then ever more seldom
Clears: by itself when the call works again; event for it, and its sums go on
"""

from faulty import Readers, fault
from program import wait_until

CALL = "nvmlDeviceGetPowerUsage"
SUM = "gpu_observed_seconds_total"


def crash(*more: str) -> str:
    return fault(CALL, "gpu = 1", "crash = true", *more)


def crashes(broken) -> list[dict]:
    return [e for e in broken.events("part_ended", "sampler") if "killed by signal 11" in e["text"]]


def test_one_crash_costs_a_gap_and_nothing_else(machine):
    broken = machine("gemm,fed", crash("times = 1"))
    broken.wait_until_fresh()
    before = broken.daemon.metrics("native")[SUM]
    with Readers(broken) as readers:
        broken.break_it()
        told = broken.wait_for_event("part_ended", "sampler")
        # The other GPU's thread may have been in a call of its own, which is named beside it.
        assert told["code"] == 139 and CALL in told["text"].rpartition(" in ")[2].split(", ")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
        broken.check_fresh([0, 1], readers.since_ns)
    after = broken.daemon.metrics("native")[SUM]
    assert all(after[gpu] >= before[gpu] for gpu in before)
    assert len(crashes(broken)) == 1


def test_the_second_crash_on_the_same_gpu_takes_it_out_of_service(machine):
    broken = machine("gemm,fed,synthetic", crash())
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        broken.break_it()
        told = broken.wait_for_event("gpu_lost", "GPU 1")
        assert f"crashed again in {CALL}" in told["text"]
        assert len(crashes(broken)) == 2
        wait_until(
            lambda: set(broken.daemon.metrics("native").get("gpu_power_watts", {})) == {"0", "2"},
            lambda: broken.daemon.metrics("native").get("gpu_power_watts"),
        )
        assert f"crashed again in {CALL}" in broken.why(1)
        # The others are named, too, for the moment in which the sampler starts anew.
        wait_until(lambda: broken.ready()[0] == 503 and len(broken.ready()[1]) == 1, broken.ready)
        (line,) = broken.ready()[1]
        assert line.startswith("GPU 1: ") and CALL in line
        assert broken.state(0) == broken.state(2) == "ok"
        broken.mend_it()
        broken.wait_for_state(1, "ok")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
        broken.check_fresh([0, 2], readers.since_ns)


def test_a_library_that_crashes_at_its_start_is_tried_ever_more_seldom(machine):
    broken = machine("gemm,fed", fault("nvmlInit_v2", "crash = true"), starts_at_ms=60_000)
    with Readers(broken):
        told = broken.wait_for_event("part_ended", "sampler", count=4)
        assert told["text"].endswith("in nvmlInit_v2")
        times = [event["unix_ns"] for event in broken.events("part_ended", "sampler")]
        assert times[3] - times[2] > times[1] - times[0]
        assert broken.daemon.status("/healthz") == 200
        broken.mend_it()
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)

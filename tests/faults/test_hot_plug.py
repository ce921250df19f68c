# SPDX-License-Identifier: Apache-2.0
"""
Fault: GPUs are plugged in and pulled out while the machine runs
Seen: a new one is there with all readings; one that is pulled is `gone`; the others are read on
For: at most 10 s until it is noticed
Clears: a card that comes back, in whatever slot, goes on with its sums
"""

import program
from faulty import BROKEN_MS, MENDED_MS, Readers
from program import wait_until

NOTICED_S = 10
SUM = "gpu_observed_seconds_total"
UUID = "GPU-5ee00000-e0e7-4a77-8000-0000000000aa"


def card(trace: str, *lines: str) -> str:
    return "\n".join(["[[device]]", f'trace = "{trace}"', *lines, ""])


NEW = card("TRACE", f"present_from_ms = {BROKEN_MS}")
PULLED = card("TRACE", f'uuid = "{UUID}"', f"present_until_ms = {BROKEN_MS}")
BACK_ELSEWHERE = card("TRACE", f'uuid = "{UUID}"', f"present_from_ms = {MENDED_MS}")


def with_trace(*sections: str) -> list[str]:
    return [section.replace("TRACE", str(program.SOURCE / "traces/gemm")) for section in sections]


def test_a_new_gpu_is_read(machine):
    broken = machine("gemm,fed", *with_trace(NEW))
    broken.wait_until_fresh()
    assert len(broken.daemon.metrics("native")[SUM]) == 2
    with Readers(broken) as readers:
        broken.break_it()
        wait_until(
            lambda: len(broken.daemon.metrics("native").get("gpu_power_watts", {})) == 3,
            lambda: broken.daemon.metrics("native").get("gpu_power_watts"),
            NOTICED_S,
        )
        broken.check_fresh([0, 1], readers.since_ns)
    assert broken.ready() == (200, ["ready"])


def test_a_gpu_that_is_pulled_is_gone_and_comes_back_elsewhere_with_its_sums(machine):
    broken = machine("gemm,fed", *with_trace(PULLED, BACK_ELSEWHERE))
    broken.wait_until_fresh()
    before = broken.daemon.metrics("native")[SUM]
    assert len(before) == 3
    with Readers(broken) as readers:
        broken.break_it()
        wait_until(
            lambda: set(broken.daemon.metrics("native")["gpu_power_watts"]) == {"0", "1"},
            lambda: broken.daemon.metrics("native")["gpu_power_watts"],
            NOTICED_S,
        )
        wait_until(lambda: broken.state(UUID) in ("lost", "gone"), lambda: broken.why(UUID))
        broken.mend_it()
        broken.wait_for_state(UUID, "ok")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
        wait_until(
            lambda: broken.daemon.metrics("native")[SUM].get("2", 0) > before["2"], "a sum that goes on"
        )
        broken.check_fresh([0, 1], readers.since_ns)


def test_more_gpus_than_the_recorder_has_slots_for_make_a_larger_one(machine):
    broken = machine("gemm,fed", *with_trace(*[NEW] * 12))
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        broken.break_it()
        wait_until(
            lambda: len(broken.daemon.metrics("native").get("gpu_power_watts", {})) == 14,
            lambda: broken.daemon.metrics("native").get("gpu_power_watts"),
            NOTICED_S,
        )
        broken.wait_for_event("recorder_replaced")
        broken.check_fresh([0, 1], readers.since_ns)

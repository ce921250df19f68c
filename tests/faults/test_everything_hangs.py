# SPDX-License-Identifier: Apache-2.0
"""
Fault: every driver call about every GPU hangs with all signals masked, and no part answers
Seen: all GPUs `timed_out`; on SIGTERM everything ends all the same
For: 5 s at most from SIGTERM to the end of the last process
Clears: the next `serve` starts cleanly and its sums go on
"""

import os
import signal

from faulty import MENDED_MS, fault
from program import is_running, wait_until

HANG = [fault(name, "hangs = true", "signals_masked = true")
        for name in ("*", "nvmlShutdown", "nvmlEventSetWait_v2", "nvmlSystemGetDriverVersion")]  # fmt: skip
SUM = "gpu_observed_seconds_total"


def test_it_ends_in_time_and_starts_cleanly(machine):
    broken = machine("gemm,fed,synthetic", *HANG)
    broken.wait_until_fresh()
    before = broken.daemon.metrics("native")[SUM]
    pids = broken.parts()
    broken.break_it()
    broken.wait_for_event("timed_out")
    pids |= {f"new {part}": pid for part, pid in broken.parts().items()}
    for part in ("host", "server"):
        os.kill(pids[part], signal.SIGSTOP)
    code, seconds = broken.daemon.stop()
    assert code == 0 and seconds < 5
    assert not any(map(is_running, pids.values()))
    broken.jump_to(MENDED_MS)
    broken.start()
    wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
    after = broken.daemon.metrics("native")[SUM]
    assert all(after[gpu] >= before[gpu] for gpu in before)


def test_all_gpus_that_hang_are_named_and_come_back(machine):
    broken = machine("gemm,fed", *HANG)
    broken.wait_until_fresh()
    broken.break_it()
    for gpu in range(2):
        broken.wait_for_event("timed_out", f"GPU {gpu}")
        broken.wait_for_state(gpu, "timed_out")
        assert "timed out: a driver call does not return" in broken.why(gpu)
    wait_until(lambda: broken.ready() == (503, ["GPU 0: timed_out", "GPU 1: timed_out"]), broken.ready)
    broken.mend_it()
    wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready, patience_s=40)

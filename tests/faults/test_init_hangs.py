# SPDX-License-Identifier: Apache-2.0
"""
Fault: the start of the driver's library (nvmlInit) does not return
Seen: every GPU is `timed_out`; event `timed_out` names the call; the machine's readings go on
For: tried anew after 5 s, then ever more seldom, up to 10 minutes
Clears: by itself at the first start that returns
"""

import os
import signal

from faulty import BROKEN_MS, Readers, fault
from program import is_running, wait_until

HANGS = fault("nvmlInit_v2", "hangs = true", "signals_masked = true")
SHORT = ("--set", "driver.init_deadline_seconds=1")


def test_a_start_that_hangs_is_ended_and_tried_anew(machine):
    broken = machine("gemm,fed", HANGS, starts_at_ms=BROKEN_MS, arguments=SHORT)
    with Readers(broken):
        told = broken.wait_for_event("timed_out")
        assert told["device"] == "machine" and told["source"] == "supervisor"
        assert told["text"].startswith("nvmlInit_v2 has not returned for 1.")
        sampler = broken.wait_for_event("part_started", "sampler")["pid"]
        wait_until(lambda: not is_running(sampler), "its end")
        assert "sampler" not in broken.parts()
        assert "host_memory_total_bytes" in broken.daemon.fetch("/metrics")
        assert broken.ready() == (503, ["GPUs: none found"])
        broken.mend_it()
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
    assert broken.state(0) == broken.state(1) == "ok"
    assert len(broken.events("timed_out")) == 1


def test_gpus_that_were_read_before_are_named(machine):
    broken = machine("gemm,fed", HANGS, arguments=SHORT)
    broken.wait_until_fresh()
    with Readers(broken):
        broken.break_it()
        os.kill(broken.parts()["sampler"], signal.SIGKILL)
        broken.wait_for_event("timed_out", "machine")
        wait_until(
            lambda: broken.ready() == (503, ["GPU 0: timed_out", "GPU 1: timed_out"]), broken.ready
        )
        assert broken.state(1) == "timed_out"
        assert "nvmlInit_v2 has not returned for 1." in broken.why(1)
        broken.mend_it()
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)


def test_it_ends_in_time_while_the_start_hangs(machine):
    broken = machine("gemm,fed", HANGS, starts_at_ms=BROKEN_MS)
    pids = broken.wait_for_parts()
    code, seconds = broken.daemon.stop()
    assert code == 0 and seconds < 5
    assert not any(map(is_running, pids.values()))

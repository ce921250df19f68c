# SPDX-License-Identifier: Apache-2.0
"""
Fault: all GPUs fall off the bus at once
Seen: every GPU is `lost` with an event of its own; the machine's own readings go on
For: as long as they are gone; the program stays, and `/healthz` answers 200
Clears: each GPU by itself at its next try, with the event `gpu_back`
"""

from faulty import Readers, fault
from program import wait_until

LOST = fault("*", 'return = "GPU_IS_LOST"')


def test_all_gpus_are_named_and_come_back(machine):
    broken = machine("gemm,fed,synthetic", LOST)
    broken.wait_until_fresh()
    with Readers(broken):
        broken.break_it()
        for gpu in range(3):
            broken.wait_for_event("gpu_lost", f"GPU {gpu}")
            assert broken.state(gpu) == "lost"
            assert "lost: gone from the bus" in broken.why(gpu)
        wait_until(lambda: len(broken.ready()[1]) == 3, broken.ready)
        assert broken.ready() == (503, [f"GPU {gpu}: lost" for gpu in range(3)])
        assert broken.daemon.status("/healthz") == 200
        assert "gpu_power_watts" not in broken.daemon.metrics("native")
        assert "host_memory_total_bytes" in broken.daemon.fetch("/metrics")
        assert broken.daemon.run("get", "gpu_power_watts").returncode == 1
        broken.mend_it()
        for gpu in range(3):
            broken.wait_for_event("gpu_back", f"GPU {gpu}")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
    assert len(broken.daemon.metrics("native")["gpu_power_watts"]) == 3

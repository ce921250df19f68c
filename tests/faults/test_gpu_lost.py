# SPDX-License-Identifier: Apache-2.0
"""
Fault: a GPU falls off the bus (XID 79), and comes back
Seen: its readings are `lost`; events `xid` 79 and `gpu_lost`; `/readyz` answers 503 and names it
For: as long as it is gone
Clears: by itself at the next try (2 s after, at most 60 s); event `gpu_back`; its sums go on
"""

from faulty import BROKEN_MS, Readers, fault
from program import wait_until

LOST = fault("*", "gpu = 1", 'return = "GPU_IS_LOST"')
XID_79 = f"[[event]]\ngpu = 1\nat_ms = {BROKEN_MS}\nxid = 79\n"


def test_a_lost_gpu_is_named_and_comes_back_while_the_others_go_on(machine):
    broken = machine("gemm,fed,synthetic", XID_79, LOST)
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        broken.break_it()
        wait_until(
            lambda: any(
                (event["source"], event["text"]) == ("readings", "the GPU is gone from the bus")
                for event in broken.events("gpu_lost", "GPU 1")
            ),
            broken.events,
        )
        assert broken.wait_for_event("xid", "GPU 1")["code"] == 79
        assert broken.state(1) == "lost"
        assert "GPU 1 is lost: gone from the bus, since" in broken.why(1)
        assert broken.ready() == (503, ["GPU 1: lost"])
        metrics = broken.daemon.metrics("native")
        assert set(metrics["gpu_power_watts"]) == {"0", "2"}
        assert set(metrics["gpu_observed_seconds_total"]) == {"0", "1", "2"}
        sampler = broken.parts()["sampler"]
        broken.mend_it()
        broken.wait_for_event("gpu_back", "GPU 1")
        broken.wait_for_state(1, "ok")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
        # Nothing had to be started anew.
        assert broken.parts()["sampler"] == sampler
        broken.check_fresh([0, 2], readers.since_ns)
    told = [(event["event"], event["source"]) for event in broken.events(device="GPU 1")]
    for each in ("xid", "nvml"), ("gpu_lost", "readings"), ("gpu_back", "readings"):
        assert told.count(each) == 1, told
    # The kernel said it, too.
    assert told.count(("xid", "kernel_log")) == 1, told


def test_the_sums_of_a_lost_gpu_stand_still_and_go_on(machine):
    broken = machine("gemm,fed", LOST)
    broken.wait_until_fresh()
    name = "gpu_observed_seconds_total"
    broken.break_it()
    broken.wait_for_state(1, "lost")
    lost = broken.daemon.metrics("native")[name]
    wait_until(lambda: broken.daemon.metrics("native")[name]["0"] > lost["0"] + 0.5, name)
    assert broken.daemon.metrics("native")[name]["1"] == lost["1"] > 0
    broken.mend_it()
    wait_until(lambda: broken.daemon.metrics("native")[name]["1"] > lost["1"], name)

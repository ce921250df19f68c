# SPDX-License-Identifier: Apache-2.0
"""
Fault: the kernel driver is unloaded while GPUs are read, and loaded again
Seen: each GPU `gpu_lost`, then `driver_absent`: not loaded; `/readyz` answers 503
For: as long as it is not loaded
Clears: by itself at the next try (2 s); event `gpu_back` for each GPU; sums go on
"""

from faulty import MENDED_MS, WHILE_BROKEN, Readers
from program import wait_until

UNLOADED = f"[[library]]\nnot_loaded = true\n{WHILE_BROKEN}"
NOT_LOADED = "the NVIDIA kernel driver is not loaded"


def test_an_unloaded_driver_is_named_and_taken_up_again(machine):
    broken = machine("gemm,fed", UNLOADED)
    broken.wait_until_fresh()
    parts = broken.parts()
    with Readers(broken) as readers:
        broken.break_it()
        assert NOT_LOADED in broken.wait_for_event("driver_absent")["text"]
        wait_until(lambda: broken.ready()[0] == 503, broken.ready)
        assert NOT_LOADED in broken.why(0)
        assert [NOT_LOADED in line for line in broken.ready()[1]] == [True, True]
        broken.mend_it()
        for gpu in range(2):
            broken.wait_for_event("gpu_back", f"GPU {gpu}")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
        assert readers.rounds > 1
    assert len(broken.events("driver_absent")) == 1
    assert not broken.events("driver_changed")
    assert broken.parts() == parts


def test_a_driver_that_is_loaded_anew_between_two_calls_is_taken_up(machine):
    reload = f'[[driver]]\nfrom_ms = {MENDED_MS}\nversion = "580.200.01"\n'
    broken = machine("gemm,fed", reload)
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        broken.mend_it()
        for gpu in range(2):
            broken.wait_for_event("driver_changed", f"GPU {gpu}")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
        broken.check_fresh([0, 1], readers.since_ns)

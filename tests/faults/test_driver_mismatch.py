# SPDX-License-Identifier: Apache-2.0
"""
Fault: the driver's files are updated while the old driver is loaded, then the new one is loaded
Seen: nothing while the sampler runs; a new one says `driver_absent`: the versions differ, reload it
For: until the new driver is loaded; sums stay
Clears: by itself; event `driver_changed` with both versions
"""

import os
import signal

from faulty import MENDED_MS, WHILE_BROKEN, Readers
from program import wait_until

NEW = "580.200.01"
UPDATE = (
    f"[[library]]\nmismatch = true\n{WHILE_BROKEN}",
    f'[[driver]]\nfrom_ms = {MENDED_MS}\nversion = "{NEW}"\n',
)
DIFFER = "the library and the loaded kernel driver differ in version"


def test_what_runs_is_read_on_and_the_new_driver_is_taken_up(machine):
    broken = machine("gemm,fed", *UPDATE)
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        broken.break_it()
        before = broken.daemon.metrics("native")["gpu_observed_seconds_total"]["0"]
        wait_until(
            lambda: broken.daemon.metrics("native")["gpu_observed_seconds_total"]["0"] > before + 1,
            "a second more",
        )
        broken.check_fresh([0, 1], readers.since_ns)
        assert not broken.events("driver_absent")
        broken.mend_it()
        for gpu in range(2):
            told = broken.wait_for_event("driver_changed", f"GPU {gpu}")
            assert told["text"].startswith(f"driver {NEW}, was ")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
    assert NEW in broken.daemon.run("discover", code=0).stdout


def test_a_new_sampler_is_told_that_the_versions_differ(machine):
    broken = machine("gemm,fed", *UPDATE)
    broken.wait_until_fresh()
    with Readers(broken):
        broken.break_it()
        os.kill(broken.parts()["sampler"], signal.SIGKILL)
        assert DIFFER in broken.wait_for_event("driver_absent")["text"]
        wait_until(lambda: broken.ready()[0] == 503, broken.ready)
        assert DIFFER in broken.why(0)
        assert DIFFER in broken.ready()[1][0]
        broken.mend_it()
        broken.wait_for_event("driver_changed", "GPU 1")
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)

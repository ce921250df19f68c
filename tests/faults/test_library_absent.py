# SPDX-License-Identifier: Apache-2.0
"""
Fault: the driver's library is not there at the start, and appears later; or goes while in use
Seen: event `driver_absent` with what the loader said; `why` and `/readyz` name it
For: until it is there; one that is in use goes on when its file goes
Clears: by itself at the next try (2 s), without a new start of anything
"""

from faulty import BROKEN_MS, WHILE_BROKEN, Readers
from program import wait_until

ABSENT = f"[[library]]\nabsent = true\n{WHILE_BROKEN}"


def test_a_library_that_appears_later_is_taken_up(machine):
    broken = machine("gemm,fed", ABSENT, starts_at_ms=BROKEN_MS)
    parts = broken.wait_for_parts()
    told = broken.wait_for_event("driver_absent")
    assert told["device"] == "machine"
    assert "libnvidia-ml.so.1: No such file or directory" in told["text"]
    with Readers(broken):
        wait_until(lambda: broken.ready()[0] == 503, broken.ready)
        assert broken.daemon.status("/healthz") == 200
        assert broken.daemon.run("get", "gpu_power_watts").returncode == 1
        broken.mend_it()
        wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
        assert broken.state(0) == broken.state(1) == "ok"
    assert len(broken.events("driver_absent")) == 1
    assert broken.parts() == parts


def test_what_is_absent_is_said_where_one_looks(machine):
    broken = machine("gemm,fed", ABSENT, starts_at_ms=BROKEN_MS)
    broken.wait_for_event("driver_absent")
    said = "no usable NVIDIA library"
    for gpu in range(2):
        assert said in broken.why(gpu)
    assert [said in line for line in broken.ready()[1]] == [True, True]
    broken.mend_it()
    wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)
    assert said not in broken.why(0)


def test_a_library_whose_file_goes_while_it_is_in_use_is_read_on(machine):
    broken = machine("gemm,fed", ABSENT)
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        broken.break_it()
        wait_until(lambda: not broken.library.exists(), "the end of the file")
        before = broken.daemon.metrics("native")["gpu_observed_seconds_total"]["0"]
        wait_until(
            lambda: broken.daemon.metrics("native")["gpu_observed_seconds_total"]["0"] > before + 1,
            "a second more",
        )
        broken.check_fresh([0, 1], readers.since_ns)
    assert not broken.events("driver_absent")

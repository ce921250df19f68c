# SPDX-License-Identifier: Apache-2.0
"""
Fault: the end of the driver's library (nvmlShutdown) does not return
Seen: the sampler's process is killed; `drain` and the end of the program are held up by it for 2 s
For: 2 s
Clears: by itself
"""

from faulty import fault
from program import is_running, wait_until

HANGS = fault("nvmlShutdown", "hangs = true", "signals_masked = true", when="")


def test_drain_ends_and_resume_takes_it_up_again(machine):
    broken = machine("gemm,fed", HANGS)
    broken.wait_until_fresh()
    sampler = broken.parts()["sampler"]
    assert broken.daemon.run("drain", code=0).stdout.startswith("drained: ")
    assert not is_running(sampler)
    assert broken.state(0) == "drained"
    broken.daemon.run("resume", code=0)
    wait_until(lambda: broken.ready() == (200, ["ready"]), broken.ready)


def test_everything_ends_within_five_seconds(machine):
    broken = machine("gemm,fed", HANGS)
    broken.wait_until_fresh()
    pids = broken.parts()
    code, seconds = broken.daemon.stop()
    assert code == 0 and seconds < 5
    assert not any(map(is_running, pids.values()))

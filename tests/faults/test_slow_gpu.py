# SPDX-License-Identifier: Apache-2.0
"""
Fault: every call about one GPU takes long, but returns, while the sampler is replaced
Seen: that GPU has fewer readings, each with its time; nothing else
For: the others miss at most 1 s
Clears: by itself when its calls are quick again
"""

import os
import signal
import time

from faulty import fault
from program import wait_until


def test_a_sampler_that_starts_beside_it_reads_the_others_at_once(machine):
    slow = machine("gemm,fed,synthetic", fault("*", "gpu = 1", "delay_ms = 100"))
    slow.wait_until_fresh()
    since_ns = time.time_ns()
    slow.break_it()
    killed = slow.parts()["sampler"]
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: slow.parts().get("sampler", killed) != killed, slow.parts)
    begun_ns = time.time_ns()
    for gpu in (0, 2):
        wait_until(lambda gpu=gpu: slow.newest_ns(gpu) > begun_ns, f"readings of GPU {gpu}")
    slow.check_fresh([0, 2], since_ns)

# SPDX-License-Identifier: Apache-2.0
"""
Fault: MIG instances are destroyed and others made while they are read; MIG mode goes off and on
Seen: event `mig_changed`; instances that are gone leave, new ones come, those that stay read on
For: at most 10 s where the driver tells nothing of it
Clears: by itself
"""

from faulty import BROKEN_MS, MENDED_MS, WHILE_BROKEN, Readers
from program import wait_until

STAYS = f'[[mig]]\ngpu = 0\nprofiles = "3g.71gb"\nuntil_ms = {MENDED_MS}\n'
GOES = f'[[mig]]\ngpu = 0\nprofiles = "2g.35gb"\nuntil_ms = {BROKEN_MS}\n'
COMES = f'[[mig]]\ngpu = 0\nprofiles = "1g.18gb,1g.18gb"\n{WHILE_BROKEN}'
MEMORY = "gpu_memory_used_bytes"


def instances(machine) -> set[str]:
    lines = machine.daemon.fetch("/metrics?names=native").splitlines()
    return {
        line.split('uuid="')[1].split('"')[0]
        for line in lines
        if line.startswith(MEMORY + "{") and 'uuid="MIG-' in line
    }


def test_instances_come_and_go_while_the_others_are_read_on(machine):
    broken = machine("gemm,fed", STAYS, GOES, COMES)
    broken.wait_until_fresh()
    before = wait_until(lambda: len(instances(broken)) == 2 and instances(broken), "instances")
    with Readers(broken) as readers:
        broken.break_it()
        now = wait_until(lambda: len(i := instances(broken)) == 3 and i, lambda: instances(broken))
        (stayed,) = before & now
        broken.wait_for_event("mig_changed", "GPU 0")
        broken.check_fresh([1], readers.since_ns)
        assert broken.longest_gap_s(stayed, readers.since_ns, MEMORY) < 2.5
        assert broken.ready() == (200, ["ready"])
        broken.mend_it()
        wait_until(lambda: not instances(broken), lambda: instances(broken))
        broken.check_fresh([0, 1], readers.since_ns)
    assert broken.ready() == (200, ["ready"])
    assert broken.state(0) == "ok"

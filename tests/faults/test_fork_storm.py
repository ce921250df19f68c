# SPDX-License-Identifier: Apache-2.0
"""
Fault: thousands of processes start and end within seconds, on the GPU and beside it
Seen: as many of them as are seen at all in the events; the list shows those that are there
For: as long as it lasts
Clears: by itself; nothing is kept of those that are gone but their identities and their events
"""

import json
import subprocess

from faulty import BROKEN_MS, Readers
from program import wait_until

COUNT, EACH_MS = 3_000, 200
# So many at once; each pid is used several times.
AT_ONCE, PIDS = 60, 500


def storm() -> str:
    sections = []
    for i in range(COUNT):
        begin = BROKEN_MS + i * EACH_MS // AT_ONCE
        sections.append(
            f"[[process]]\npid = {20_000 + i % PIDS}\ngpu = 1\nmemory_bytes = 1048576\n"
            f'command = "python3 short.py {i}"\nfrom_ms = {begin}\nuntil_ms = {begin + EACH_MS}\n'
        )
    return "\n".join(sections)


def test_a_storm_of_processes_passes(machine):
    broken = machine("gemm,fed", storm())
    broken.wait_until_fresh()
    resident = memory_kb(broken)
    with Readers(broken) as readers:
        broken.break_it()
        # Real ones, too: they cost the kernel time that we need.
        subprocess.run(["sh", "-c", "i=0; while [ $i -lt 3000 ]; do /bin/true; i=$((i+1)); done"])
        over_ms = BROKEN_MS + COUNT * EACH_MS // AT_ONCE + EACH_MS
        wait_until(lambda: broken.playhead.played_ms > over_ms, "its end")
        wait_until(lambda: len(on_gpu(broken, 1)) == 1, lambda: on_gpu(broken, 1))
        broken.check_fresh([0, 1], readers.since_ns)
    assert broken.ready() == (200, ["ready"])
    for part, before in resident.items():
        # Rings that fill up are in it.
        assert memory_kb(broken)[part] < before + 16_384, part


def on_gpu(machine, gpu: int) -> list[int]:
    answer = machine.daemon.run("processes", "--gpu", gpu, "--json").stdout
    (found,) = json.loads(answer)["gpus"]
    return [process["pid"] for process in found["processes"]]


def memory_kb(machine) -> dict[str, int]:
    found = {}
    for part, pid in machine.parts().items():
        with open(f"/proc/{pid}/smaps_rollup") as file:
            found[part] = sum(int(line.split()[1]) for line in file if line.startswith("Private_Dirty"))
    return found

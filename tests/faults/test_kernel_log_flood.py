# SPDX-License-Identifier: Apache-2.0
"""
Fault: something floods the kernel's log, and a GPU reports hundreds of XIDs a second
Seen: an XID among the flood is found; XIDs beyond what the ring of events holds push out the oldest
For: as long as the flood lasts; the host process keeps its pace
Clears: by itself
"""

import json
import time

from faulty import Readers
from program import wait_until

LINES, BURST = 100_000, 1_000


def append(machine, texts) -> None:
    """As the kernel's log has them; the numbers go on from those that are there."""
    log = machine.root / "dev/kmsg"
    last = [line for line in log.read_text().splitlines() if ";" in line]
    number = int(last[-1].split(",")[1]) + 1 if last else 1
    stamp = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    with open(log, "a") as file:
        file.writelines(f"3,{number + i},{stamp},-;{text}\n" for i, text in enumerate(texts))


def xid(number: int) -> str:
    return f"NVRM: Xid (PCI:0000:02:00): {number}, pid=77, name=python3, Ch 00000008"


def test_an_xid_in_a_flood_is_found(machine):
    broken = machine("gemm,fed")
    broken.wait_until_fresh()
    flood = ["usb 1-1: device descriptor read/64, error -71"] * LINES
    flood[LINES // 2] = xid(48)
    with Readers(broken) as readers:
        append(broken, flood)
        wait_until(
            lambda: any(event["code"] == 48 for event in broken.events("xid", "GPU 1")),
            lambda: broken.events(),
        )
        broken.check_fresh([0, 1], readers.since_ns)
        assert broken.ready() == (200, ["ready"])
    # What concerns no GPU is not kept.
    assert not broken.events("kernel_line")


def test_a_storm_of_xids_holds_up_nothing(machine):
    broken = machine("gemm,fed")
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        for _ in range(3):
            append(broken, [xid(31)] * BURST)
        append(broken, [xid(48)])
        wait_until(
            lambda: any(event["code"] == 48 for event in broken.events("xid", "GPU 1")), "the last one"
        )
        broken.check_fresh([0, 1], readers.since_ns)
        answer = json.loads(
            broken.daemon.run("history", "host_load1", "--since", "10m", "--json").stdout
        )
        times = [point[0] for point in answer["series"][0]["points"] if point[2] == "ok"]
        assert max(b - a for a, b in zip(times, times[1:])) < 2.1e9
    assert broken.ready() == (200, ["ready"])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the whole program on simulated GPUs: scrape time and size, memory, CPU, start-up.

The simulated driver's calls cost next to nothing, so the CPU figures are Everywatt's own part; the
calls of a real driver come on top (docs/measurements.md has them from an H200).
"""

import gzip
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from daemon import Daemon  # noqa: E402
from scrapes import PeerExporter, scrape  # noqa: E402

TRACES = ["gemm", "fed", "synthetic", "input_bound", "launch_bound", "pcie_bound", "mem_leak",
          "bursty_inference"]


def demo(gpus: int) -> str:
    return ",".join(TRACES[i % len(TRACES)] for i in range(gpus))


def measure(gpus: int) -> None:
    with Daemon("--demo", demo(gpus)) as daemon:
        daemon.wait_ready()
        for names in ("dcgm", "native,dcgm,self"):
            path = f"/metrics?names={names}"
            plain = daemon.get(path)
            print(f"{gpus:3} GPUs  {names:18} {len(plain):8} B plain "
                  f"{len(gzip.compress(plain, 6)):7} B gzip at level 6", flush=True)
            print("          " + scrape(daemon.url + path, daemon.pids()), flush=True)
        cpu = daemon.cpu_ratio(20)
        print("          CPU of one core: " +
              ", ".join(f"{name} {share * 100:.2f} %" for name, share in cpu.items()))
        memory = daemon.private_bytes()
        print("          Pss less recorder files: " +
              ", ".join(f"{name} {size / 2**20:.1f} MiB" for name, size in memory.items()),
              flush=True)


def measure_peer() -> None:
    """What Debian's exporter of the machine, which has no GPU, needs for a scrape."""
    with PeerExporter() as peer:
        print("node_exporter  " + scrape(peer.url + "/metrics", [peer.process.pid]), flush=True)


def measure_start() -> None:
    times = []
    for _ in range(5):
        with Daemon("--demo", "gemm") as daemon:
            daemon.wait_ready()
            times.append(time.clock_gettime(time.CLOCK_BOOTTIME) - daemon.started)
    print(f"start to ready, with the player's start: min {min(times) * 1e3:.0f} ms, "
          f"max {max(times) * 1e3:.0f} ms of {len(times)}")


def main() -> None:
    measure_start()
    measure_peer()
    for gpus in (1, 8, 64):
        measure(gpus)


if __name__ == "__main__":
    main()

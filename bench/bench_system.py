#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the whole program on simulated GPUs: scrape time and size, memory, CPU, start-up.

The simulated driver's calls cost next to nothing, so the CPU figures are Everywatt's own part; the
calls of a real driver come on top (docs/measurements.md has them from an H200).
"""

import gzip
import http.client
import os
import sys
import time
from urllib.parse import urlparse

sys.path.insert(0, os.path.dirname(__file__))
from daemon import Daemon  # noqa: E402

TRACES = ["gemm", "fed", "synthetic", "input_bound", "launch_bound", "pcie_bound", "mem_leak",
          "bursty_inference"]


def demo(gpus: int) -> str:
    return ",".join(TRACES[i % len(TRACES)] for i in range(gpus))


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def scrape(daemon: Daemon, path: str, headers: dict[str, str], seconds: float) -> dict:
    """Back-to-back scrapes over one kept-alive connection, as fast as the answers come."""
    address = urlparse(daemon.url)
    connection = http.client.HTTPConnection(address.hostname, address.port)
    times, size = [], 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.perf_counter()
        connection.request("GET", path, headers=headers)
        body = connection.getresponse().read()
        times.append(time.perf_counter() - start)
        size = len(body)
    connection.close()
    return {"bytes": size, "p50_ms": percentile(times, 0.5) * 1e3,
            "p99_ms": percentile(times, 0.99) * 1e3, "per_second": len(times) / seconds}


def measure(gpus: int) -> None:
    with Daemon("--demo", demo(gpus)) as daemon:
        daemon.wait_ready()
        for names in ("dcgm", "native,dcgm,self"):
            path = f"/metrics?names={names}"
            plain = daemon.get(path)
            print(f"{gpus:3} GPUs  {names:18} {len(plain):8} B plain "
                  f"{len(gzip.compress(plain, 6)):7} B gzip at level 6", flush=True)
            found = scrape(daemon, path, {"Accept-Encoding": "gzip"}, 3)
            print(f"          scrape: {found['bytes']} B p50 {found['p50_ms']:.2f} ms "
                  f"p99 {found['p99_ms']:.2f} ms, {found['per_second']:.0f}/s by one client",
                  flush=True)
        cpu = daemon.cpu_ratio(20)
        print("          CPU of one core: " +
              ", ".join(f"{name} {share * 100:.2f} %" for name, share in cpu.items()))
        memory = daemon.private_bytes()
        print("          Pss less recorder files: " +
              ", ".join(f"{name} {size / 2**20:.1f} MiB" for name, size in memory.items()),
              flush=True)


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
    for gpus in (1, 8, 64):
        measure(gpus)


if __name__ == "__main__":
    main()

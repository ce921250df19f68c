# SPDX-License-Identifier: Apache-2.0
"""Scrapes of an exporter, ours or another, one after the other over one connection."""

import http.client
import socket
import subprocess
import time
import urllib.error
import urllib.request
from urllib.parse import urlparse

from processes import cpu_seconds

SECONDS = 3


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def scrape(url: str, pids: list[int]) -> str:
    """As fast as the answers come, gzip'd: their size, their times, and what `pids` spent on one."""
    address = urlparse(url)
    path = address.path + (f"?{address.query}" if address.query else "")
    connection = http.client.HTTPConnection(address.hostname, address.port)
    times, size, cpu = [], 0, sum(map(cpu_seconds, pids))
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        start = time.perf_counter()
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        size = len(connection.getresponse().read())
        times.append(time.perf_counter() - start)
    connection.close()
    cpu = sum(map(cpu_seconds, pids)) - cpu
    return (f"scrape: {size} B p50 {percentile(times, 0.5) * 1e3:.2f} ms "
            f"p99 {percentile(times, 0.99) * 1e3:.2f} ms, {len(times) / SECONDS:.0f}/s by one "
            f"client, {cpu / len(times) * 1e3:.2f} ms CPU each")


class PeerExporter:
    """Debian's prometheus-node-exporter, on a free port of the loopback."""

    def __enter__(self) -> "PeerExporter":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            ["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{port}"],
            stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while True:
            try:
                urllib.request.urlopen(self.url, timeout=1).read()
                return self
            except (urllib.error.URLError, OSError):
                if time.monotonic() > end:
                    self.__exit__()
                    raise
                time.sleep(0.02)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(10)

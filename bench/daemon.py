# SPDX-License-Identifier: Apache-2.0
"""Starts `everywatt serve` for a measurement and ends it."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from processes import cpu_seconds, name, private_memory_bytes, tree

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("EVERYWATT_BIN", ROOT / "build/release/everywatt"))


class Daemon:
    """A running `serve` with a run folder of its own, on a free port of the loopback."""

    def __init__(self, *arguments: str):
        self.folder = Path(tempfile.mkdtemp(prefix="everywatt-bench-", dir="/dev/shm"))
        self.started = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.started_wall = time.time()
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--run-dir", self.folder / "run", "--listen", "127.0.0.1:0",
             *arguments],
            stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        self.url = ""
        self._found = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        self._found.wait(60)
        if not self.url:
            self.close()
            raise RuntimeError("serve did not say where it listens: " + "".join(self.lines))

    def _read(self) -> None:
        for line in self.process.stderr:
            self.lines.append(line)
            found = re.search(r"http://[0-9.:]+[0-9]", line)
            if found and not self.url:
                self.url = found[0]
                self._found.set()
        self._found.set()  # it has ended, and there is nothing more to wait for

    def get(self, path: str, **headers: str) -> bytes:
        request = urllib.request.Request(self.url + path, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read()

    def wait_ready(self, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while True:
            try:
                self.get("/readyz")
                return
            except (urllib.error.URLError, OSError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def pids(self) -> list[int]:
        """Its processes but the player of a demo, which is no part of the product's cost."""
        return [pid for pid in tree(self.process.pid) if "everywatt-player" not in name(pid)]

    def cpu_ratio(self, seconds: float) -> dict[str, float]:
        """CPU of each process over that time, as a share of one core, and of all."""
        before = {pid: cpu_seconds(pid) for pid in self.pids()}
        start = time.monotonic()
        time.sleep(seconds)
        elapsed = time.monotonic() - start
        by_name = {}
        for pid, cpu in before.items():
            words = name(pid).split()
            label = words[2] if len(words) > 2 and words[1] == "part" else "supervisor"
            by_name[label] = (cpu_seconds(pid) - cpu) / elapsed
        return by_name | {"all": sum(by_name.values())}

    def private_bytes(self) -> dict[str, int]:
        """Pss of each process less the recorder files, and of all."""
        by_name = {}
        for pid in self.pids():
            words = name(pid).split()
            label = words[2] if len(words) > 2 and words[1] == "part" else "supervisor"
            by_name[label] = private_memory_bytes(pid, str(self.folder))
        return by_name | {"all": sum(by_name.values())}

    def command(self, *arguments: str) -> str:
        return subprocess.run(
            [PROGRAM, *arguments], env=os.environ | {"EVERYWATT_RUN_DIR": str(self.folder / "run")},
            check=True, text=True, capture_output=True).stdout

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        finally:
            self.process.kill()
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Daemon":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

# SPDX-License-Identifier: Apache-2.0
"""
Fault: the run folder is full or read-only, at the start or while everything runs
Seen: `serve` refuses in one line that says which folder; what runs goes on, its memory is its own
For: until there is room; a data folder that takes nothing costs the marks alone
Clears: at the next start
"""

import os
import subprocess
import time
from pathlib import Path

import pytest
from faulty import Readers
from program import LIBRARY, run, wait_until


@pytest.fixture
def mount(folder):
    """Mounts a file system of shared memory of so many MiB; its options."""
    mounted = []

    def do(name: str, megabytes: int, options: str = "") -> Path:
        path = folder / name
        path.mkdir()
        size = f"size={megabytes}m,mode=755{options}"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", path], capture_output=True)
        if done.returncode != 0:
            pytest.skip("file systems cannot be mounted here")
        mounted.append(path)
        return path

    yield do
    for path in mounted:
        subprocess.run(["umount", "-l", path])


def refuse(path: Path) -> str:
    (path.parent / "root/proc").mkdir(parents=True, exist_ok=True)
    refused = run("serve", "--nvml-library", LIBRARY, "--host-root", path.parent / "root",
                  "--listen", "127.0.0.1:0", "--run-dir", path)  # fmt: skip
    assert refused.returncode == 3, refused.stderr
    (line,) = refused.stderr.splitlines()
    return line


def test_a_read_only_folder_is_refused_in_one_line(mount):
    line = refuse(mount("read_only", 64, ",ro"))
    assert "read_only" in line and "Read-only file system" in line


def test_a_read_only_folder_refuses_a_demo_in_the_same_way(mount):
    path = mount("read_only", 64, ",ro")
    refused = run("serve", "--demo", "gemm", "--listen", "127.0.0.1:0", "--run-dir", path)
    assert refused.returncode == 3, refused.stderr
    assert "Read-only file system" in refused.stderr and len(refused.stderr.splitlines()) == 1


def test_a_folder_without_room_is_not_used(mount, folder):
    path = mount("full", 1)
    answer = run("serve", "--demo", "gemm", "--listen", "127.0.0.1:0", "--run-dir", path, "--set", "x.y=1")
    assert answer.returncode == 2  # a wrong key is told before anything is touched
    assert not list(path.iterdir())
    line = refuse(path)
    assert "full" in line
    assert not [file for file in path.iterdir() if file.is_file() and file.stat().st_size > 0]


def test_a_folder_that_fills_up_while_all_runs_stops_nothing(machine, mount):
    path = mount("filled", 128)
    broken = machine("gemm,fed", daemon=False)
    broken.run_folder = path
    broken.start()
    broken.wait_until_fresh()
    parts = broken.parts()
    fill(path / "filler")
    assert os.statvfs(path).f_bavail == 0
    with Readers(broken) as readers:
        before = broken.daemon.metrics("native")["gpu_observed_seconds_total"]["0"]
        wait_until(
            lambda: broken.daemon.metrics("native")["gpu_observed_seconds_total"]["0"] > before + 4,
            "four seconds",
        )
        broken.check_fresh([0, 1], readers.since_ns)
    assert broken.parts() == parts
    assert broken.ready() == (200, ["ready"])
    code, seconds = broken.daemon.stop()
    assert code == 0 and seconds < 5


def fill(path: Path) -> None:
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 20))
        except OSError:
            pass


def test_a_data_folder_that_takes_nothing_costs_the_marks_alone(machine, mount):
    path = mount("data", 1, ",ro")
    broken = machine("gemm,fed", arguments=("--data-dir", path))
    broken.wait_until_ready()
    assert "no marks are taken" in broken.daemon.log.read_text()
    assert broken.daemon.run("mark", "hello").returncode == 3
    assert broken.state(0) == "ok"
    begun = time.monotonic()
    assert broken.daemon.stop()[0] == 0 and time.monotonic() - begun < 5

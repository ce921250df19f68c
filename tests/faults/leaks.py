# SPDX-License-Identifier: Apache-2.0
"""Counts what a daemon holds."""

import contextlib
import os
import re
from pathlib import Path

from program import children_of

SLACK = 4
VARYING = ("mappings",)
# Files of a process that is watched, which are kept open while it lives.
OF_PROCESS = re.compile(r"/proc/(\d+)/(stat|status|smaps)")


def open_files(pid: int) -> list[str]:
    paths = []
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            paths.append(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
    return paths


def is_of_living(path: str) -> bool:
    found = OF_PROCESS.fullmatch(path)
    return found is not None and os.path.exists(f"/proc/{found[1]}")


def count(machine) -> dict[str, int]:
    """Everything that can leak, by name."""
    found = {
        "files": len(list(machine.run_folder.rglob("*"))),
        "processes": len(children_of(machine.daemon.process.pid)),
    }
    for part, pid in {"supervisor": machine.daemon.process.pid, **machine.parts()}.items():
        found[f"{part} descriptors"] = sum(not is_of_living(path) for path in open_files(pid))
        found[f"{part} threads"] = len(os.listdir(f"/proc/{pid}/task"))
        found[f"{part} mappings"] = len(Path(f"/proc/{pid}/maps").read_text().splitlines())
    return found


def memory_kb(machine) -> dict[str, int]:
    found = {}
    for part, pid in {"supervisor": machine.daemon.process.pid, **machine.parts()}.items():
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        found[part] = sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))
    return found


def unlike(before: dict[str, int], now: dict[str, int]) -> dict[str, tuple]:
    """What has grown. An allocator may map another piece: fewer than one a round, so that a leak
    shows."""
    return {
        name: (before.get(name), now.get(name))
        for name in before | now
        if now.get(name, 0) > before.get(name, 0) + (SLACK if name.endswith(VARYING) else 0)
    }

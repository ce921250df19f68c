# SPDX-License-Identifier: Apache-2.0
"""Counts what a daemon holds."""

import os
from pathlib import Path

from program import children_of

SLACK = 4
VARYING = ("mappings", "host descriptors")


def count(machine) -> dict[str, int]:
    """Everything that can leak, by name."""
    found = {
        "files": len(list(machine.run_folder.rglob("*"))),
        "processes": len(children_of(machine.daemon.process.pid)),
    }
    for part, pid in {"supervisor": machine.daemon.process.pid, **machine.parts()}.items():
        found[f"{part} descriptors"] = len(os.listdir(f"/proc/{pid}/fd"))
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
    """What has grown. An allocator may map another piece, and the host process holds descriptors of
    the processes that are on the GPUs just then: fewer than one a round, so that a leak shows."""
    return {
        name: (before.get(name), now.get(name))
        for name in before | now
        if now.get(name, 0) > before.get(name, 0) + (SLACK if name.endswith(VARYING) else 0)
    }

# SPDX-License-Identifier: Apache-2.0
"""What processes cost: CPU seconds and private memory, read from /proc."""

import os
import re
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def tree(root: int) -> list[int]:
    """`root` and all its descendants."""
    pids, queue = [], [root]
    while queue:
        pid = queue.pop()
        pids.append(pid)
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                queue += [int(p) for p in children.read_text().split()]
            except OSError:
                continue
    return pids


def cpu_seconds(pid: int) -> float:
    """CPU time of all its threads: from schedstat (ns), which ticks of 10 ms are too coarse for."""
    total = 0
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        total += int(file.read_text().split()[0])
    return total / 1e9


def name(pid: int) -> str:
    """The first words of its command; none when it has ended."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    words = command.split(b"\0")
    return " ".join(w.decode(errors="replace") for w in words[:3])


def private_memory_bytes(pid: int, without: str) -> int:
    """Pss less the mappings of files below the folder `without` (the recorder files)."""
    total, path = 0, ""
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        head = re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)", line)
        if head:
            path = head[1]
        elif line.startswith("Pss:") and not path.startswith(f"{without}/"):
            total += int(line.split()[1]) * 1024
    return total

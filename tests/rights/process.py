# SPDX-License-Identifier: Apache-2.0
"""What /proc tells of a process."""

import os
import re
from pathlib import Path

from program import wait_until

PARTS = {"sampler", "host", "server"}


def all_started(daemon) -> dict[str, int]:
    """The parts, once they have given away what they do not need."""
    parts = wait_until(lambda: (p := daemon.parts()) and PARTS <= set(p) and p, "all parts")
    wait_until(lambda: status(parts["server"])["Seccomp"] == "2", "the server's filter")
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    return parts


def status(pid: int) -> dict[str, str]:
    return statuses(f"/proc/{pid}/status")


def statuses(path: str) -> dict[str, str]:
    with open(path) as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def threads(pid: int) -> list[dict[str, str]]:
    return [statuses(f"/proc/{pid}/task/{task}/status") for task in os.listdir(f"/proc/{pid}/task")]


def descriptors(pid: int) -> dict[int, str]:
    """All but the standard three, which are whoever's that started it."""
    folder = f"/proc/{pid}/fd"
    found = {}
    for name in os.listdir(folder):
        try:
            found[int(name)] = os.readlink(f"{folder}/{name}")
        except FileNotFoundError:
            pass
    return {number: target for number, target in found.items() if number > 2}


def mapped_files(pid: int) -> set[str]:
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6}


LISTENING = "0A"


def tcp_sockets(pid: int) -> list[tuple[str, int]]:
    """State and local port of each that the process holds."""
    inodes = set(re.findall(r"socket:\[(\d+)\]", " ".join(descriptors(pid).values())))
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[9] in inodes:
                found.append((words[3], int(words[1].rsplit(":", 1)[1], 16)))
    return found


def listening_ports(pid: int) -> list[int]:
    return [port for state, port in tcp_sockets(pid) if state == LISTENING]


def connections(pid: int) -> int:
    return sum(state != LISTENING for state, _ in tcp_sockets(pid))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a C++ source is compiled by no CMake target: a test that is not wired tests nothing.

usage: check_wired.py COMPILE_COMMANDS_JSON, with the names of all sources on standard input.
"""

import json
import sys
from pathlib import Path


def main(commands_file: str) -> int:
    commands = json.loads(Path(commands_file).read_text())
    wired = {Path(command["directory"], command["file"]).resolve() for command in commands}
    loose = [name for name in sys.stdin.read().splitlines() if Path(name).resolve() not in wired]
    for name in loose:
        print(f"{name}: no CMake target compiles it")
    return 1 if loose else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

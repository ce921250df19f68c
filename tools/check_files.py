#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on source files without a licence line, on long ones, on text that must not ship, and on links
between pages that lead nowhere.

Reads the names of files to look at from standard input, one a line.
"""

import re
import sys
from pathlib import Path

LICENCE = "SPDX-License-Identifier: Apache-2.0"
SOURCE = re.compile(r"(\.(cc|h|inc|py|sh|cmake|ts|js)|/CMakeLists\.txt|^CMakeLists\.txt|^dev|^\.ci/run)$")
CODE = re.compile(r"\.(cc|h|inc)$")
BINARY = re.compile(r"\.(gz|png|ico|woff2?|bin|rec)$")
LONGEST = 500
REASON = re.compile(r"^(//|#) size: \S", re.MULTILINE)
# Places on the machine where it was written, and where packages were fetched from. Each holds a
# class of one letter so that this file passes its own check.
FORBIDDEN = re.compile(
    r"(?<![\w.-])/wor[k]/|/tmp/[w]\b|\bshare[d]/(design|reference|traces|hooks)\b"
    r"|\bpypi\.or[g]\b|\bpythonhosted\.or[g]\b|\bregistry\.npmjs\.or[g]\b|\bdeb\.debian\.or[g]\b"
)
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")


def dead_links(name: str, text: str) -> list[str]:
    """Links of a page to files that are not there. What lies elsewhere is not looked up."""
    links = [link for link in LINK.findall(text) if "://" not in link]
    return [
        f"{name}: links to {link}, which is not there"
        for link in links
        if not (Path(name).parent / link).exists()
    ]


def faults(name: str, text: str) -> list[str]:
    found = []
    lines = text.splitlines()
    if SOURCE.search(name) and not any(LICENCE in line for line in lines[:3]):
        found.append(f"{name}: the first lines lack '{LICENCE}'")
    if CODE.search(name) and len(lines) > LONGEST and not REASON.search(text):
        found.append(
            f"{name}: {len(lines)} lines; split it at {LONGEST}, or say why not: '// size: REASON'"
        )
    for number, line in enumerate(lines, 1):
        forbidden = FORBIDDEN.search(line)
        if forbidden:
            found.append(f"{name}:{number}: must not say '{forbidden[0]}'")
    return found


def main() -> int:
    found = []
    for name in sys.stdin.read().splitlines():
        if BINARY.search(name):
            continue
        text = Path(name).read_text(errors="replace")
        found += faults(name, text)
        if name.endswith(".md"):
            found += dead_links(name, text)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

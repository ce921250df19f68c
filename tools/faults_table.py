#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/faults.md from the tests in tests/faults, so that the page tells what is tested.

usage: faults_table.py [--check]

The docstring of a test file is four lines, in this order: `Fault: ...`, `Seen: ...`, `For: ...`,
`Clears: ...`; a line may go on in lines that are indented. The names of its tests are the details.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/faults.md"
KEYS = ("Fault", "Seen", "For", "Clears")

HEAD = """# Faults

What Everywatt does when something breaks: what a user sees, for how long, and how it clears. The \
table is written from the tests in `tests/faults` (`tools/faults_table.py`); each line is a file \
that makes the fault happen, and its tests are named below.

What holds for all of them: the other GPUs stay fresh, readers are never blocked, `everywatt why`, \
`events` and `/readyz` name what happened, and no accumulator falls.

| fault | what a user sees | for how long | how it clears |
|---|---|---|---|
"""


def read_rows(file: Path) -> tuple[list[str], list[str]]:
    """The four texts of a test file's docstring, and what its tests say."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    texts: list[str] = []
    for line in (ast.get_docstring(tree) or "").splitlines():
        if len(texts) < len(KEYS) and line.startswith(f"{KEYS[len(texts)]}: "):
            texts.append(line.split(": ", 1)[1].strip())
        elif texts and line.startswith(" "):
            texts[-1] += " " + line.strip()
        elif line.strip():
            break
    if len(texts) != len(KEYS):
        wanted = ", ".join(f"'{key}: '" for key in KEYS)
        sys.exit(f"{file.relative_to(ROOT)}: its docstring must be lines with {wanted}")
    tests = [node.name.removeprefix("test_").replace("_", " ") for node in ast.walk(tree)
             if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return [text.replace("|", "\\|") for text in texts], tests


def make_page() -> str:
    table, details = "", "\n## What the tests show\n"
    for file in sorted((ROOT / "tests/faults").glob("test_*.py")):
        texts, tests = read_rows(file)
        table += "| " + " | ".join(texts) + " |\n"
        details += f"\n`{file.name}`\n\n" + "".join(f"- {test}\n" for test in tests)
    return HEAD + table + details


def main(arguments: list[str]) -> int:
    page = make_page()
    if arguments == ["--check"]:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page:
            return 0
        print("docs/faults.md differs from the tests: tools/faults_table.py")
        return 1
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

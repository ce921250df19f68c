#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts single test cases in a folder of JUnit XML, and prints the line that ./dev test ends with.

The folder holds reports of GoogleTest (<preset>/<program>.xml), of pytest, and of ctest
(<preset>.ctest.xml). ctest knows only whole programs, so its report counts for one thing: a program
that failed without naming a failed test, because it crashed, ran out of time or a sanitizer objected
at its end, is a failed test.
"""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def verdict(case: xml.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("result") == "skipped":
        return "skipped"
    # GoogleTest lists what a filter left out, and disabled tests, as not run.
    if case.get("status") == "notrun":
        return "left out" if case.get("result") != "suppressed" else "skipped"
    return "passed"


def cases(report: Path) -> list[tuple[str, str]]:
    """The names and verdicts in one report; none if it is missing or was cut off by a crash."""
    try:
        root = xml.parse(report).getroot()
    except (OSError, xml.ParseError):
        return []
    return [
        (f"{case.get('classname', '')}.{case.get('name')}", verdict(case))
        for case in root.iter("testcase")
    ]


def silent_failures(ctest_report: Path) -> list[str]:
    """Programs that ctest saw fail and whose own report names no failed test."""
    folder = ctest_report.parent / ctest_report.name.removesuffix(".ctest.xml")
    silent = []
    for case in xml.parse(ctest_report).getroot().iter("testcase"):
        if case.get("status") == "run":
            continue
        own = cases(folder / f"{case.get('name')}.xml")
        if not any(found == "failed" for _, found in own):
            silent.append(f"{folder.name}/{case.get('name')} (the program itself failed)")
    return silent


def main(folder: Path) -> int:
    counts = {"passed": 0, "failed": 0, "skipped": 0, "left out": 0}
    failures = []
    for report in sorted(folder.rglob("*.xml")):
        if report.name.endswith(".ctest.xml"):
            silent = silent_failures(report)
            counts["failed"] += len(silent)
            failures += silent
            continue
        for name, found in cases(report):
            counts[found] += 1
            if found == "failed":
                failures.append(f"{report.relative_to(folder).with_suffix('')} {name}")
    for failure in failures:
        print(f"failed: {failure}")
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

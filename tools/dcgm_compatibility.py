#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/dcgm_compatibility.md: dcgm-exporter's metrics and flags against ours, one by one.

usage: dcgm_compatibility.py PROGRAM [--check]

What dcgm-exporter has stands in dcgm_exporter_metrics.tsv (name, type and lists of its files); what
Everywatt has is asked of the program.
"""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/dcgm_compatibility.md"
LIST = ROOT / "tools/dcgm_exporter_metrics.tsv"
LEGACY = ROOT / "src/serve/exporter/dcgm_legacy.cc"
FLAG_ROWS = ROOT / "src/app/dcgm_exporter_flags.inc"
MEMBER = re.compile(r'\.(\w+) = "((?:[^"\\]|\\.)*)"')
COUNTERS = ROOT / "src/serve/exporter/counters.cc"

ABSENT = {
    "DCGM_FI_DEV_VGPU_LICENSE_STATUS": "vGPU guests only; not read",
    "DCGM_EXP_GPU_HEALTH_STATUS": "not there yet: verdicts of our own come with `health`",
    "DCGM_EXP_P2P_STATUS": "not read; `gpu_nvlink_state` tells each link",
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_L0": "each link has `gpu_nvlink_link_transmit_bytes_per_second`",
    "DCGM_FI_DEV_OEM_INFOROM_VER": "not read",
    "DCGM_FI_DEV_ECC_INFOROM_VER": "not read",
    "DCGM_FI_DEV_POWER_INFOROM_VER": "not read",
    "DCGM_FI_DEV_INFOROM_IMAGE_VER": "not read",
}

HEAD = """# Everywatt in the place of dcgm-exporter

Written from the program by `tools/dcgm_compatibility.py`.

A link named `dcgm-exporter` to the program `everywatt` takes that program's flags and environment, \
listens where it does (`:9400`) and serves `DCGM_FI_…` names. Under its own name, `everywatt serve` \
has them beside its own (`?names=dcgm`).

## Metrics

Lists: `default`, `dcp` and `1.x` are dcgm-exporter's counters files, `chart` that of its Helm chart; \
(off) is a line that is commented out there. *same*: name, unit, type and labels. *better typed*: the \
type there is wrong for what the value does, here it is right unless a counters file says otherwise.

| metric | type there | lists | here | |
|---|---|---|---|---|
"""

FLAGS = """
## Flags and environment

"""


def catalog(program: str) -> dict[str, dict]:
    """Our metrics by DCGM's names, old and new."""
    told = subprocess.run([program, "catalog", "--json"], capture_output=True, text=True, check=True)
    found = {}
    for metric in json.loads(told.stdout):
        for key in ("dcgm", "dcgm_alias"):
            if metric.get(key):
                found[metric[key]] = metric
    return found


def legacy_names() -> set[str]:
    return set(re.findall(r'"(dcgm_\w+)"', LEGACY.read_text(encoding="utf-8")))


def computed_names() -> set[str]:
    return set(re.findall(r'"(DCGM_EXP_\w+)"', COUNTERS.read_text(encoding="utf-8")))


def type_of(metric: dict) -> str:
    return "counter" if metric["kind"] == "counter" else "gauge"


def describe(name: str, there: str, ours: dict[str, dict]) -> tuple[str, str]:
    """What it is here, and the verdict."""
    if name in computed_names():
        return "gauge, over a window; where a counters file names it", "better typed"
    if name.startswith("dcgm_"):
        return ("`?names=dcgm-legacy`", "same") if name in legacy_names() else ("-", "absent")
    metric = ours.get(name)
    if metric is None:
        return "-", f"absent: {ABSENT[name]}"
    if there == "label":
        return f"`{metric['name']}`, as label", "same"
    same = there in ("", "-", type_of(metric))
    verdict = "same" if same else f"better typed: {type_of(metric)}"
    return f"`{metric['name']}`", verdict


def flags() -> str:
    """A row for each FLAG(...)."""
    text = "| flag | environment | here |\n|---|---|---|\n"
    for flag in re.findall(r"^FLAG\((.*?)\)$", FLAG_ROWS.read_text(encoding="utf-8"), re.M | re.S):
        row = {key: value.replace('\\"', '"') for key, value in MEMBER.findall(flag)}
        names = f"`--{row['name']}`" + (f", `-{row['letter']}`" if "letter" in row else "")
        key = f" (`{row['key']}`)" if "key" in row else ""
        text += f"| {names} | `{row['variable']}` | {row['en']}{key} |\n"
    return text


def write(program: str) -> str:
    ours = catalog(program)
    text = HEAD
    with open(LIST, encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            here, verdict = describe(row["name"], row["type"], ours)
            text += f"| `{row['name']}` | {row['type']} | {row['lists']} | {here} | {verdict} |\n"
    return text + FLAGS + flags()


def main(arguments: list[str]) -> int:
    program = arguments[0]
    text = write(program)
    if "--check" in arguments:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE.name} differs from the program: tools/dcgm_compatibility.py {program}")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

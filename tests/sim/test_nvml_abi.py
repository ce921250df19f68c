# SPDX-License-Identifier: Apache-2.0
"""Our declarations of the NVML interface against the official header, which the test set-up fetches."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SOURCE = Path(os.environ.get("EVERYWATT_SOURCE_DIR", HERE.parent.parent))
PARTS = ("structures.h", "numbers.h", "ids.h", "calls.h")


def official_header() -> Path:
    found = sorted(Path(sys.prefix).glob("lib/python*/site-packages/nvidia/**/include/nvml.h"))
    if not found:
        pytest.skip("the package nvidia-nvml-dev, which brings nvml.h, is not installed")
    return found[0]


def compile_check(part: str, sources: Path) -> subprocess.CompletedProcess:
    compiler = shutil.which("g++") or pytest.skip("no g++")
    return subprocess.run(
        [
            compiler,
            "-std=c++23",
            "-fsyntax-only",
            "-Wno-deprecated-declarations",
            "-DNVML_NO_UNVERSIONED_FUNC_DEFS",
            f"-I{sources}",
            f"-I{official_header().parent}",
            "-x",
            "c++",
            HERE / "abi_check" / part,
        ],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("part", PARTS)
def test_our_declarations_equal_the_official_header(part):
    result = compile_check(part, SOURCE / "src")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "part, file, right, wrong",
    [
        ("structures.h", "abi.h", "unsigned sm_util;", "unsigned long sm_util;"),
        ("numbers.h", "abi.h", "kGpuIsLost = 15", "kGpuIsLost = 16"),
        ("ids.h", "abi_ids.h", "kPowerInstant = 186", "kPowerInstant = 185"),
        ("calls.h", "abi_functions.h", "Return(Device, unsigned*)", "Return(Device)"),
    ],
)
def test_a_wrong_declaration_does_not_compile(tmp_path, part, file, right, wrong):
    official_header()
    folder = tmp_path / "device" / "nvml"
    shutil.copytree(SOURCE / "src" / "device" / "nvml", folder)
    text = (folder / file).read_text()
    assert right in text
    assert compile_check(part, tmp_path).returncode == 0
    (folder / file).write_text(text.replace(right, wrong))
    assert compile_check(part, tmp_path).returncode != 0

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the dashboards of deploy/grafana/dashboards from this folder; with --check only tells which
differ from it."""

import argparse
import json
import sys
from pathlib import Path

import dcgm
import gpu
import heatmaps
import overview
import training
from model import LANGUAGES, written

FOLDER = Path(__file__).resolve().parent.parent / "dashboards"
BOARDS = (overview.BOARD, gpu.BOARD, training.BOARD, heatmaps.BOARD, dcgm.BOARD)


def files() -> dict[Path, str]:
    return {
        FOLDER / language / f"{board.name}.json": json.dumps(
            written(board, language), ensure_ascii=False, indent=1
        )
        + "\n"
        for board in BOARDS
        for language in LANGUAGES
    }


def differences(made: dict[Path, str]) -> list[Path]:
    there = set(FOLDER.glob("*/*.json"))
    return sorted(
        (there - set(made))
        | {file for file, text in made.items() if file not in there or file.read_text() != text}
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if any differs")
    only_check = parser.parse_args().check
    made = files()
    different = differences(made)
    if only_check:
        for file in different:
            print(f"{file} differs from its source: run deploy/grafana/source/build.py")
        return 1 if different else 0
    for file in different:
        if file in made:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(made[file])
        else:
            file.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())

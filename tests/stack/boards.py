# SPDX-License-Identifier: Apache-2.0
"""The dashboards as they are shipped, and their queries as Grafana would send them."""

import json
import re
from dataclasses import dataclass

from program import SOURCE

FOLDER = SOURCE / "deploy/grafana/dashboards"
FILES = sorted(FOLDER.glob("*/*.json"))

# What Grafana puts in; a scrape each second stands for one each 15 s.
INTERVALS = {"$__rate_interval": "10s", "$__range": "1m", "$__interval": "1s"}
LONG_WINDOW = re.compile(r"\[(5m|10m|1h)\]")


@dataclass(frozen=True)
class PanelQuery:
    board: str
    panel: str
    expr: str

    def filled(self, **chosen: str) -> str:
        """With what the menus hold."""
        expr = self.expr
        for name, value in INTERVALS.items():
            expr = expr.replace(name, value)
        for name, value in chosen.items():
            expr = expr.replace(f"${{{name}}}", value).replace(f"${name}", value)
        return LONG_WINDOW.sub("[10s]", expr)


def load(name: str, language: str = "en") -> dict:
    return json.loads((FOLDER / language / f"{name}.json").read_text())


def panels(board: dict) -> list[dict]:
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def queries(language: str = "en") -> list[PanelQuery]:
    found = []
    for file in sorted((FOLDER / language).glob("*.json")):
        board = json.loads(file.read_text())
        for panel in panels(board):
            for target in panel["targets"]:
                found.append(PanelQuery(file.stem, panel["title"], target["expr"]))
    return found

# SPDX-License-Identifier: Apache-2.0
"""What a dashboard is made of, and the JSON that Grafana takes for it.

Every text is a pair, English and Chinese. In expressions `@gpu` stands for the labels that the menus
choose and `@host` for those of a machine without its GPUs.
"""

from dataclasses import dataclass, field
from itertools import count

LANGUAGES = ("en", "zh")
Text = tuple[str, str]
NOTHING: Text = ("", "")

# Grafana 10 and newer.
SCHEMA_VERSION = 39
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS = 24


@dataclass(frozen=True)
class Query:
    expr: str
    legend: str | Text = ""
    instant: bool = False
    form: str = "time_series"  # or "table", "heatmap"


@dataclass(frozen=True)
class Panel:
    title: Text
    queries: tuple[Query, ...]
    unit: str
    about: Text = NOTHING
    kind: str = "timeseries"
    width: int = 12
    height: int = 8
    low: float | None = None
    high: float | None = None
    decimals: int | None = None
    stacked: bool = False
    # From which value on which colour.
    steps: tuple[tuple[float | None, str], ...] = ((None, "green"),)
    # What a GPU without performance counters (before Hopper) shows in its place.
    without_gpm: "Panel | None" = None
    # Tables: (query's letter, title, unit) of each column.
    columns: tuple[tuple[str, Text, str], ...] = ()
    # A panel for each value of this variable.
    repeat: str = ""


@dataclass(frozen=True)
class Row:
    title: Text
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Variable:
    name: str
    label: Text
    query: str
    many: bool = True


@dataclass(frozen=True)
class Board:
    name: str
    title: Text
    about: Text
    rows: tuple[Row, ...]
    gpu_labels: str = 'job=~"$job",instance=~"$instance",gpu=~"$gpu"'
    host_labels: str = 'job=~"$job",instance=~"$instance"'
    variables: tuple[Variable, ...] = ()
    xids: bool = True
    tags: tuple[str, ...] = field(default=("everywatt",))


def menus(series: str, one_gpu: bool = False) -> tuple[Variable, ...]:
    """The menus of a board whose GPUs all have this series."""
    return (
        Variable("job", ("Job", "任务"), f"label_values({series}, job)"),
        Variable(
            "instance",
            ("Machine", "机器"),
            f'label_values({series}{{job=~"$job"}}, instance)',
            many=not one_gpu,
        ),
        Variable(
            "gpu",
            ("GPU", "GPU"),
            f'label_values({series}{{job=~"$job",instance=~"$instance"}}, gpu)',
            many=not one_gpu,
        ),
    )


WITHOUT_GPM_ROW: Text = (
    "GPUs without performance counters (before Hopper)",
    "没有性能计数器的 GPU（Hopper 之前）",
)


def with_variants(board: Board) -> tuple[Row, ...]:
    """The rows, and one more with the variants of all panels that need performance counters."""
    variants = tuple(p.without_gpm for row in board.rows for p in row.panels if p.without_gpm)
    return board.rows + ((Row(WITHOUT_GPM_ROW, variants),) if variants else ())


def written(board: Board, language: str) -> dict:
    """The board as Grafana's JSON."""
    return Writer(board, LANGUAGES.index(language)).board()


class Writer:
    def __init__(self, board: Board, language: int):
        self.source = board
        self.language = language
        self.ids = count(1)

    def say(self, text: str | Text) -> str:
        return text if isinstance(text, str) else text[self.language]

    def board(self) -> dict:
        source, name = self.source, LANGUAGES[self.language]
        return {
            "uid": f"everywatt-{source.name}-{name}",
            "title": self.say(source.title),
            "description": self.say(source.about),
            "tags": [*source.tags, f"everywatt-{name}"],
            "schemaVersion": SCHEMA_VERSION,
            "version": 1,
            "editable": True,
            "graphTooltip": 1,
            "refresh": "15s",
            "time": {"from": "now-1h", "to": "now"},
            "timezone": "browser",
            "annotations": {"list": self.annotations()},
            "links": [
                {
                    "type": "dashboards",
                    "title": self.say(("Everywatt", "Everywatt")),
                    "tags": [f"everywatt-{name}"],
                    "asDropdown": True,
                    "keepTime": True,
                    "includeVars": True,
                }
            ],
            "templating": {"list": self.variables()},
            "panels": self.panels(),
        }

    def annotations(self) -> list[dict]:
        if not self.source.xids:
            return []
        return [
            {
                "name": "XID",
                "datasource": DATASOURCE,
                "enable": True,
                "iconColor": "red",
                "expr": self.filled("increase(gpu_xid_errors_total{@gpu}[$__rate_interval]) > 0"),
                "titleFormat": "XID {{xid}}",
                "textFormat": "{{instance}} GPU {{gpu}}",
            }
        ]

    def variables(self) -> list[dict]:
        found = [
            {
                "name": "datasource",
                "label": self.say(("Data source", "数据源")),
                "type": "datasource",
                "query": "prometheus",
                "refresh": 1,
            }
        ]
        for variable in self.source.variables:
            found.append(
                {
                    "name": variable.name,
                    "label": self.say(variable.label),
                    "type": "query",
                    "datasource": DATASOURCE,
                    "query": {"query": variable.query, "refId": variable.name},
                    "definition": variable.query,
                    "refresh": 2,
                    "sort": 3,
                    "multi": variable.many,
                    "includeAll": variable.many,
                    **({"allValue": ".*"} if variable.many else {}),
                    "current": {"text": "All", "value": "$__all"} if variable.many else {},
                }
            )
        return found

    def panels(self) -> list[dict]:
        found, y = [], 0
        for row in with_variants(self.source):
            found.append(
                {
                    "id": next(self.ids),
                    "type": "row",
                    "title": self.say(row.title),
                    "collapsed": False,
                    "panels": [],
                    "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1},
                }
            )
            y += 1
            x = height = 0
            for panel in row.panels:
                if x + panel.width > COLUMNS:
                    x, y, height = 0, y + height, 0
                found.append(self.panel(panel, x, y))
                x, height = x + panel.width, max(height, panel.height)
            y += height
        return found

    def panel(self, panel: Panel, x: int, y: int) -> dict:
        made = {
            "id": next(self.ids),
            "type": panel.kind,
            "title": self.say(panel.title),
            "description": self.say(panel.about),
            "datasource": DATASOURCE,
            "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
            "targets": [self.target(q, chr(ord("A") + i)) for i, q in enumerate(panel.queries)],
            "fieldConfig": self.field_config(panel),
            "options": OPTIONS[panel.kind](panel),
        }
        if panel.columns:
            made["transformations"] = self.transformations(panel)
        if panel.repeat:
            made |= {"repeat": panel.repeat, "repeatDirection": "h", "maxPerRow": 2}
        return made

    def filled(self, expr: str) -> str:
        return expr.replace("@gpu", self.source.gpu_labels).replace("@host", self.source.host_labels)

    def target(self, query: Query, letter: str) -> dict:
        return {
            "refId": letter,
            "datasource": DATASOURCE,
            "expr": self.filled(query.expr),
            "legendFormat": self.say(query.legend) or "__auto",
            "format": query.form,
            "instant": query.instant,
            "range": not query.instant,
        }

    def field_config(self, panel: Panel) -> dict:
        defaults = {
            "unit": panel.unit,
            "thresholds": {
                "mode": "absolute",
                "steps": [{"value": value, "color": colour} for value, colour in panel.steps],
            },
            "custom": {},
        }
        for name, value in (("min", panel.low), ("max", panel.high), ("decimals", panel.decimals)):
            if value is not None:
                defaults[name] = value
        if panel.kind == "timeseries":
            defaults["custom"] = {
                "drawStyle": "line",
                "lineWidth": 1,
                "fillOpacity": 40 if panel.stacked else 8,
                "showPoints": "never",
                # A gap is a gap: nobody was there, or the reading was absent.
                "spanNulls": False,
                "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
            }
        overrides = [
            {
                "matcher": {"id": "byName", "options": f"Value #{letter}"},
                "properties": [
                    {"id": "displayName", "value": self.say(title)},
                    {"id": "unit", "value": unit},
                ],
            }
            for letter, title, unit in panel.columns
        ]
        return {"defaults": defaults, "overrides": overrides}

    def transformations(self, panel: Panel) -> list[dict]:
        """One line a GPU; of the queries that have no column only their labels are shown."""
        shown = {letter for letter, _, _ in panel.columns}
        letters = [chr(ord("A") + i) for i in range(len(panel.queries))]
        hidden = ["Time", *(f"Value #{letter}" for letter in letters if letter not in shown)]
        names = {
            "instance": ("Machine", "机器"),
            "gpu": ("GPU", "GPU"),
            "name": ("Model", "型号"),
            "status": ("Status", "状态"),
        }
        return [
            {"id": "merge", "options": {}},
            {
                "id": "organize",
                "options": {
                    "excludeByName": dict.fromkeys(hidden, True),
                    "indexByName": {name: i for i, name in enumerate(names)},
                    "renameByName": {name: self.say(text) for name, text in names.items()},
                },
            },
        ]


def _timeseries_options(panel: Panel) -> dict:
    return {
        "legend": {
            "displayMode": "table" if panel.width > 8 else "list",
            "placement": "bottom",
            "showLegend": True,
            "calcs": ["mean", "max", "lastNotNull"] if panel.width > 8 else [],
        },
        "tooltip": {"mode": "multi", "sort": "desc"},
    }


def _reduced_options(panel: Panel) -> dict:
    return {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "orientation": "auto",
    }


def _heatmap_options(panel: Panel) -> dict:
    return {
        # Prometheus' buckets as they are.
        "calculate": False,
        "cellGap": 1,
        "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64},
        "yAxis": {"unit": panel.unit, "axisPlacement": "left"},
        "rowsFrame": {"layout": "auto"},
        "tooltip": {"mode": "single", "yHistogram": True},
        "legend": {"show": True},
    }


OPTIONS = {
    "timeseries": _timeseries_options,
    "stat": lambda panel: _reduced_options(panel)
    | {"colorMode": "value", "graphMode": "area", "textMode": "auto"},
    "gauge": lambda panel: _reduced_options(panel)
    | {"showThresholdLabels": False, "showThresholdMarkers": True},
    "bargauge": lambda panel: _reduced_options(panel) | {"displayMode": "lcd"},
    "heatmap": _heatmap_options,
    "table": lambda panel: {"showHeader": True, "cellHeight": "sm", "footer": {"show": False}},
}

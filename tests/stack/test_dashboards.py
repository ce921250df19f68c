# SPDX-License-Identifier: Apache-2.0
"""The dashboards: what Grafana needs of them, and that no panel is empty."""

import json
import re
import subprocess
import sys
from pathlib import Path

import boards
import jsonschema
import model
import program
import pytest
from program import SOURCE, wait_until

HERE = Path(__file__).resolve().parent
ALL = {"job": ".*", "instance": ".*", "gpu": ".*"}

# Panels that the demo's GPUs, eleven H200 alone in their machines, cannot fill: what is missing.
NOT_ON_THE_DEMO = {
    ("gpu", "Fans"): "a board with fans of its own",
    ("gpu", "NVLink"): "a second GPU or a switch at the NVLinks",
    ("gpu", "PCIe, a look of 20 ms each 10 s"): "a GPU before Hopper",
    ("training", "PCIe to the GPU, a look of 20 ms each 10 s"): "a GPU before Hopper",
}


@pytest.mark.parametrize("file", boards.FILES, ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_grafana_gets_all_that_it_needs(file):
    schema = json.loads((HERE / "dashboard.schema.json").read_text())
    board = json.loads(file.read_text())
    jsonschema.Draft202012Validator(schema).validate(board)
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)
    names = {variable["name"] for variable in board["templating"]["list"]}
    assert {"datasource", "job", "instance", "gpu"} <= names
    used = set(re.findall(r"\$\{?([a-z]+)", json.dumps(board)))
    assert used <= names


@pytest.mark.parametrize("file", boards.FILES, ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_no_panel_covers_another_or_leaves_the_page(file):
    taken = set()
    for panel in json.loads(file.read_text())["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= model.COLUMNS, panel["title"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


def test_the_files_are_those_of_the_source():
    check = [sys.executable, "deploy/grafana/source/build.py", "--check"]
    result = subprocess.run(check, cwd=SOURCE, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (0, "")
    # Provisioned dashboards of one Grafana share one space of identifiers.
    uids = [json.loads(file.read_text())["uid"] for file in boards.FILES]
    assert len(set(uids)) == len(uids) == 10


def test_both_languages_ask_the_same_and_say_it_in_their_words():
    assert [q.expr for q in boards.queries("en")] == [q.expr for q in boards.queries("zh")]
    for file in boards.FILES:
        board = json.loads(file.read_text())
        texts = [board["title"], board["description"]]
        texts += [panel["description"] for panel in boards.panels(board) if panel["description"]]
        for text in texts:
            assert bool(re.search("[\u4e00-\u9fff]", text)) == (file.parent.name == "zh"), text


def gpm_names() -> set[str]:
    """Names of what only GPUs with performance counters tell, in every output."""
    found = {"gpu_sm_active_sampled_ratio_bucket"}
    for metric in program.run_json("catalog"):
        if metric["lane"] == "gpm":
            found |= {metric["name"], metric.get("dcgm")}
    return found


def needs_gpm(panel, names) -> bool:
    return any(set(re.findall(r"\w+", query.expr)) & names for query in panel.queries)


def test_every_panel_that_needs_performance_counters_has_a_variant_that_does_not():
    import build

    names = gpm_names()
    needing = 0
    for board in build.BOARDS:
        for row in board.rows:
            for panel in row.panels:
                if needs_gpm(panel, names):
                    needing += 1
                    assert panel.without_gpm, (board.name, panel.title)
                    assert not needs_gpm(panel.without_gpm, names), (board.name, panel.title)
    assert needing >= 12


def empty_panels(prometheus, **chosen: str) -> set[tuple[str, str]]:
    """Those of which no query gives anything; a query that is wrong raises."""
    filled = set()
    panels = set()
    for query in boards.queries():
        panels.add((query.board, query.panel))
        if prometheus.ask(query.filled(**(ALL | chosen))):
            filled.add((query.board, query.panel))
    return panels - filled


def test_on_the_demo_no_panel_is_empty_but_those_whose_hardware_is_missing(watch):
    _, prometheus = watch("--demo", "all")
    expected = set(NOT_ON_THE_DEMO)
    wait_until(
        lambda: empty_panels(prometheus) == expected,
        lambda: f"empty: {empty_panels(prometheus) ^ expected}",
        patience_s=90,
    )
    panels = {(query.board, query.panel) for query in boards.queries()}
    assert len(expected) <= 0.05 * len(panels)
    # Every query, not only one a panel.
    assert [
        query
        for query in boards.queries()
        if (query.board, query.panel) not in expected and not prometheus.ask(query.filled(**ALL))
    ] == []


def test_the_menus_offer_what_there_is(watch):
    daemon, prometheus = watch("--demo", "all")
    instance = daemon.url.removeprefix("http://")
    gpus = {str(n) for n in range(11)}
    for name, job, series in (("gpu", "everywatt", "gpu_up"), ("dcgm", "dcgm", "DCGM_FI_DEV_GPU_TEMP")):
        asked = {
            variable["name"]: variable["query"]["query"]
            for variable in boards.load(name)["templating"]["list"]
            if variable["type"] == "query"
        }
        assert asked["job"] == f"label_values({series}, job)"
        wait_until(lambda: prometheus.label_values("job", series) == [job], series)  # noqa: B023
        assert prometheus.label_values("instance", f'{series}{{job=~"{job}"}}') == [instance]
        chosen = f'{series}{{job=~"{job}",instance=~"{instance}"}}'
        assert set(prometheus.label_values("gpu", chosen)) == gpus


def test_gpus_without_performance_counters_fill_the_variants(watch):
    import build

    _, prometheus = watch("--demo", "scenario:mig_a100")
    variants = {
        (board.name, panel.without_gpm.title[0])
        for board in build.BOARDS
        for row in board.rows
        for panel in row.panels
        if panel.without_gpm
    }
    wait_until(
        lambda: not empty_panels(prometheus) & variants,
        lambda: f"empty: {empty_panels(prometheus) & variants}",
        patience_s=90,
    )


def test_links_to_other_gpus_fill_their_panel(watch):
    _, prometheus = watch("--demo", "scenario:nvlink_down")
    wait_until(
        lambda: ("gpu", "NVLink") not in empty_panels(prometheus), "a curve of NVLink", patience_s=60
    )


# As NVIDIA's published dashboard asks, in its older and its newer form, and document readers do.
VERBATIM = (
    'DCGM_FI_DEV_GPU_TEMP{instance=~"${instance}", gpu=~"${gpu}"}',
    'avg(DCGM_FI_DEV_GPU_TEMP{instance=~"${instance}", gpu=~"${gpu}"})',
    'DCGM_FI_DEV_POWER_USAGE{instance=~"${instance}", gpu=~"${gpu}"}',
    'sum(DCGM_FI_DEV_POWER_USAGE{instance=~"${instance}", gpu=~"${gpu}"})',
    'DCGM_FI_DEV_SM_CLOCK{instance=~"${instance}", gpu=~"${gpu}"} * 1000000',
    'DCGM_FI_DEV_GPU_UTIL{instance=~"${instance}", gpu=~"${gpu}"}',
    'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{instance=~"${instance}", gpu=~"${gpu}"}',
    'DCGM_FI_DEV_FB_USED{instance=~"${instance}", gpu=~"${gpu}"}',
    'max(DCGM_FI_DEV_GPU_TEMP{Hostname=~"$Hostname", gpu=~"$gpu"}) by (Hostname, gpu, uuid)',
    'sum(max(DCGM_FI_DEV_POWER_USAGE{Hostname=~"$Hostname", gpu=~"$gpu"}) by (gpu))',
    'max(DCGM_FI_DEV_SM_CLOCK{Hostname=~"$Hostname", gpu=~"$gpu"} * 1000000) by (Hostname, UUID, gpu)',
    'max(DCGM_FI_PROF_GR_ENGINE_ACTIVE{Hostname=~"$Hostname", gpu=~"$gpu"})'
    " by (Hostname, gpu, GPU_I_ID, GPU_I_PROFILE)",
    'dcgm_gpu_utilization{gpu="0"}',
    '(dcgm_fb_used{gpu="0"} / dcgm_fb_total{gpu="0"}) * 100',
    'dcgm_temperature_gpu{gpu="0"}',
    "dcgm_power_usage",
    "dcgm_ecc_error_count_total",
    "avg by (instance) (dcgm_gpu_utilization)",
    'avg by (instance) (dcgm_gpu_utilization{job=~"$job"})',
)


@pytest.mark.parametrize("query", VERBATIM)
def test_the_queries_of_old_dashboards_run_as_they_stand(query, watch):
    _, prometheus = watch("--demo", "all")
    for name in ("instance", "Hostname", "gpu", "job"):
        query = query.replace(f"${{{name}}}", ".*").replace(f"${name}", ".*")
    found = wait_until(lambda: prometheus.ask(query), query)
    assert all(float(series["value"][1]) >= 0 for series in found)

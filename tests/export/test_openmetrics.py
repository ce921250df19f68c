# SPDX-License-Identifier: Apache-2.0
"""OpenMetrics and the filters, judged by Prometheus' own parser for Python and by Prometheus."""

import json
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest
from program import SOURCE, wait_until
from prometheus_client.openmetrics.parser import text_string_to_metric_families

ACCEPT = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"


def families(text: str) -> dict:
    """By name. The parser is strict: it raises at the first thing that is not to the letter."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_our_openmetrics_is_to_the_letter():
    text = (SOURCE / "src/serve/exporter/golden/all.openmetrics").read_text()
    found = families(text)
    energy = found["gpu_energy_joules"]
    assert (energy.type, energy.unit) == ("counter", "joules")
    assert {sample.name for sample in energy.samples} == {"gpu_energy_joules_total"}
    assert found["gpu"].type == "info"
    # Its name is DCGM's, whatever the format wishes.
    assert found["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"].type == "unknown"
    histogram = found["gpu_utilization_sampled_ratio"]
    assert histogram.type == "histogram"
    assert {"1.0", "+Inf"} <= {s.labels.get("le") for s in histogram.samples}


def test_a_daemon_speaks_it_and_answers_what_is_asked_for(serve):
    daemon = serve("--demo", "gemm,fed")
    ask = urllib.request.Request(
        daemon.url + "/metrics?gpu=1&metric=gpu_power*&metric=DCGM_FI_DEV_GPU_UTIL",
        headers={"Accept": ACCEPT},
    )
    with urllib.request.urlopen(ask, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
        found = families(answer.read().decode())
    assert {"gpu_power_watts", "DCGM_FI_DEV_GPU_UTIL", "gpu_power_sampled_watts"} <= set(found)
    assert all(name.startswith(("gpu_power", "DCGM_FI_DEV_GPU_UTIL")) for name in found)
    gpus = {s.labels["gpu"] for family in found.values() for s in family.samples}
    assert gpus == {"1"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def prometheus(tmp_path):
    """Starts Prometheus on a free port with these scrape jobs; `ask(query)` is what it says."""
    if shutil.which("prometheus") is None:
        pytest.skip("prometheus is not installed")
    started = []

    def start(jobs: list[dict]):
        config = tmp_path / "prometheus.yml"
        # JSON is YAML.
        config.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": jobs}))
        url = f"http://127.0.0.1:{free_port()}"
        log = (tmp_path / "log").open("w")
        process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={tmp_path}/data",
             f"--web.listen-address={url.removeprefix('http://')}"],
            stdout=log, stderr=log,
        )  # fmt: skip
        started.append(process)

        def ask(query: str) -> list[dict]:
            try:
                with urllib.request.urlopen(
                    f"{url}/api/v1/query?{urllib.parse.urlencode({'query': query})}", timeout=10
                ) as answer:
                    return json.load(answer)["data"]["result"]
            except OSError:
                return []  # it has not come up yet

        return ask

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_prometheus_scrapes_every_set_of_names(serve, prometheus):
    daemon = serve("--demo", "gemm,fed")
    target = daemon.url.removeprefix("http://")

    def job(names: str) -> dict:
        return {"job_name": names, "params": {"names": [names]}, "metrics_path": "/metrics",
                "static_configs": [{"targets": [target]}]}  # fmt: skip

    ask = prometheus([job(n) for n in ("native", "dcgm", "dcgm-legacy", "self")])
    wait_until(lambda: len(ask("up == 1")) == 4, lambda: f"four targets: {ask('up')}")
    # The queries of old dashboards, as they are.
    for query, count in {
        'dcgm_gpu_utilization{gpu="0"}': 1,
        '(dcgm_fb_used{gpu="0"} / dcgm_fb_total{gpu="0"}) * 100': 1,
        'dcgm_temperature_gpu{gpu="0"}': 1,
        "dcgm_power_usage": 2,
        "dcgm_ecc_error_count_total": 2,
        "avg by (instance) (dcgm_gpu_utilization)": 1,
        "avg by (gpu, instance) (dcgm_fb_used / dcgm_fb_total) > 0": 2,
        "DCGM_FI_DEV_GPU_UTIL": 2,
        "gpu_info": 2,
        "histogram_quantile(0.5, gpu_utilization_sampled_ratio_bucket)": 2,
        "everywatt_build_info": 1,
    }.items():
        wait_until(lambda: len(ask(query)) == count, lambda: f"{query}: {ask(query)}")  # noqa: B023
    kinds = {result["metric"]["__name__"] for result in ask('{job="self"}')}
    assert kinds and not any(name.startswith(("gpu_", "DCGM_", "dcgm_")) for name in kinds)

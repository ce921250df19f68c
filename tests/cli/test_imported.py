# SPDX-License-Identifier: Apache-2.0
"""What the readers say about an imported trace is what the trace says."""

import csv
import io
from pathlib import Path

import pytest
from program import SOURCE, run, run_json
from trace import NAMES, load

PERCENT = {
    "gpu_graphics_engine_active_ratio": "gract",
    "gpu_sm_active_ratio": "smact",
    "gpu_sm_occupancy_ratio": "smocc",
    "gpu_integer_active_ratio": "int",
    "gpu_tensor_active_ratio": "tensor",
    "gpu_tensor_dfma_active_ratio": "dfma",
    "gpu_tensor_hmma_active_ratio": "hmma",
    "gpu_tensor_imma_active_ratio": "imma",
    "gpu_dram_active_ratio": "dram",
    "gpu_fp64_active_ratio": "fp64",
    "gpu_fp32_active_ratio": "fp32",
    "gpu_fp16_active_ratio": "fp16",
}
# Metric -> what it is made of the trace's row.
REFRESHED = {name: lambda row, c=c: float(row[c]) / 100 for name, c in PERCENT.items()} | {
    "gpu_pcie_transmit_bytes_per_second": lambda row: float(row["pcie_tx_mibs"]) * 1048576,
    "gpu_pcie_receive_bytes_per_second": lambda row: float(row["pcie_rx_mibs"]) * 1048576,
    "gpu_memory_used_bytes": lambda row: int(row["fb_used_b"]),
    "gpu_memory_reserved_bytes": lambda row: int(row["fb_reserved_b"]),
    "gpu_power_watts": lambda row: int(row["power_mw"]) / 1000,
    "gpu_power_instant_watts": lambda row: int(row["power_inst_mw"]) / 1000,
    "gpu_temperature_celsius": lambda row: int(row["temp_c"]),
    "gpu_memory_temperature_celsius": lambda row: int(row["mem_temp_c"]),
    "gpu_sm_clock_hertz": lambda row: int(row["sm_mhz"]) * 1e6,
    "gpu_memory_clock_hertz": lambda row: int(row["mem_mhz"]) * 1e6,
    "gpu_clock_event_reasons_mask": lambda row: int(row["reasons"], 16),
    "gpu_performance_state": lambda row: int(row["pstate"]),
    "gpu_power_violation_seconds_total": lambda row: int(row["viol_power_ns"]) / 1e9,
}


def start_unix_ns(path) -> int:
    """Wall clock of the trace's time 0: a line says so at that moment."""
    (note,) = [
        event
        for event in map(eval_json, run("events", "--recorder", path, "--json").stdout.splitlines())
        if event["event"] == "annotation"
    ]
    return note["unix_ns"]


def eval_json(line: str):
    import json

    return json.loads(line)


def history(path, *metrics, since="1h") -> dict[str, list]:
    """{metric: [(unix_ns, value, window_ns)]} of readings that are there."""
    answer = run_json("history", *metrics, "--since", since, "--recorder", path)
    return {
        series["metric"]: [(t, v, w) for t, v, state, w in series["points"] if state == "ok"]
        for series in answer["series"]
    }


@pytest.mark.parametrize("name", NAMES)
def test_history_is_the_trace(recordings, name):
    path, trace = recordings(name), load(name)
    start_ns = start_unix_ns(path)
    found = history(path, *REFRESHED)
    assert set(found) == set(REFRESHED)
    for metric, make in REFRESHED.items():
        expected = [(start_ns + round(t * 1e6), make(row)) for t, row in trace.refreshes]
        assert [point[:2] for point in found[metric]] == expected, metric
    times = [t for t, _ in trace.refreshes]
    windows = [point[2] for point in found["gpu_sm_active_ratio"]]
    assert windows[1:] == [round((b - a) * 1e6) for a, b in zip(times, times[1:])]


@pytest.mark.parametrize("name", NAMES)
def test_utilization_and_energy_are_the_trace(recordings, name):
    path, trace = recordings(name), load(name)
    start_ns = start_unix_ns(path)
    found = history(path, "gpu_utilization_ratio", "gpu_energy_joules_total")
    at = {start_ns + round(t * 1e6): row for t, row in trace.refreshes}
    utilization = found["gpu_utilization_ratio"]
    assert len(utilization) >= len(trace.refreshes) // 3
    assert all(value == int(at[t]["util_gpu"]) / 100 for t, value, _ in utilization)
    assert all(b[0] - a[0] >= 190e6 for a, b in zip(utilization, utilization[1:]))
    moved, last = [], None
    for t, row in zip(trace.times, trace.rows):
        if row["energy_mj"] != last:
            last = row["energy_mj"]
            moved.append((start_ns + round(t * 1e6), int(last) / 1000))
    assert [point[:2] for point in found["gpu_energy_joules_total"]] == moved


@pytest.mark.parametrize("name", NAMES)
def test_power_samples_hold_the_instant_power(recordings, name):
    path, trace = recordings(name), load(name)
    start_ns = start_unix_ns(path)
    samples = history(path, "gpu_power_sample_watts")["gpu_power_sample_watts"]
    assert len(samples) == int(trace.times[-1] // 20.7)
    for t, watts, _ in samples:
        row = trace.row_at((t - start_ns) / 1e6)
        assert watts == int(row["power_inst_mw"]) / 1000


@pytest.mark.parametrize("name", NAMES)
def test_get_is_the_last_refresh(recordings, name):
    path, trace = recordings(name), load(name)
    last = trace.refreshes[-1][1]
    readings = run_json("get", *REFRESHED, "--recorder", path)["readings"]
    assert {r["metric"]: r["value"] for r in readings} == {
        metric: make(last) for metric, make in REFRESHED.items()
    }
    # An age is counted from the end of the recording, never from today.
    assert all(0 <= r["age_seconds"] < 1 for r in readings)
    assert all(r["state"] == "ok" and r["gpu"] == 0 for r in readings)


def test_any_name_of_a_metric_will_do(recordings):
    path = recordings("gemm")
    ours = run_json("get", "gpu_utilization_ratio", "--recorder", path)
    for other in ("DCGM_FI_DEV_GPU_UTIL", "dcgm_fi_dev_gpu_util", "203", "utilization.gpu"):
        assert run_json("get", other, "--recorder", path) == ours


def test_any_name_of_a_gpu_will_do(recordings):
    path = recordings("gemm")
    reading = run_json("get", "gpu_power_watts", "--recorder", path)["readings"][0]
    uuid = reading["uuid"]
    for name in ("0", uuid, uuid[:10], "00000000:01:00.0", "0000:01:00.0"):
        assert run_json("get", "155", "--gpu", name, "--recorder", path)["readings"] == [reading]


@pytest.mark.parametrize("name", NAMES)
def test_processes_and_their_events_are_the_trace(recordings, name):
    path, trace = recordings(name), load(name)
    start_ns = start_unix_ns(path)
    rows = trace.process_rows
    pids = {int(row["pid"]) for row in rows}
    assert len(pids) == 1
    events = [
        event
        for event in map(eval_json, run("events", "--recorder", path, "--json").stdout.splitlines())
        if event["event"] != "annotation"
    ]
    assert events[0]["event"] == "process_start"
    assert events[0]["unix_ns"] == start_ns + round(float(rows[0]["t_ms"]) * 1e6)
    assert events[0]["pid"] in pids
    ran_to_the_end = trace.times[-1] - float(rows[-1]["t_ms"]) < 1500
    assert [event["event"] for event in events[1:]] == ([] if ran_to_the_end else ["process_end"])

    (gpu,) = run_json("processes", "--recorder", path)["gpus"]
    if not ran_to_the_end:
        assert gpu["known"] and gpu["processes"] == []
        return
    (process,) = gpu["processes"]
    last, host = rows[-1], trace.host_rows[-1]
    assert process["pid"] in pids and process["type"] == "compute"
    assert process["memory_bytes"] == int(last["used_mem_b"])
    sampled = next(row for row in reversed(rows) if int(row["sm_util"]) >= 0)
    assert process["sm_ratio"] == int(sampled["sm_util"]) / 100
    assert process["memory_controller_ratio"] == int(sampled["mem_util"]) / 100
    assert process["host"]["threads"] == int(host["threads"])
    assert process["host"]["children"] == int(host["children"])
    assert process["host"]["resident_bytes"] == int(host["rss_kb"]) * 1024
    assert process["host"]["state"] == host["main_state"]
    assert process["host"]["cpu_cores"] == pytest.approx(float(host["main_cpu_pct"]) / 100)
    owners = eval_json((SOURCE / "traces" / f"{name}.owners.json").read_text())
    assert process["user"] == owners["user"]
    # The program without its folder, and what it runs: never all of its arguments.
    assert process["command"].split()[0] == Path(owners["command"][0]).name


def test_without_gpm_there_is_a_reason_for_each(recordings):
    path = recordings("gemm", "a100")
    readings = run_json("get", *PERCENT, "--recorder", path, code=1)["readings"]
    assert {r["state"] for r in readings} == {"not_supported"}
    assert all(r["value"] is None for r in readings)
    why = run("why", "gpu_sm_active_ratio", "--recorder", path, code=1).stdout
    assert why.startswith("GPU 0 gpu_sm_active_ratio: ")
    assert run_json("get", "203", "--recorder", path)["readings"][0]["value"] == 1.0


def test_history_in_steps_is_the_mean(recordings):
    path, trace = recordings("gemm"), load("gemm")
    start_ns = start_unix_ns(path)
    answer = run_json(
        "history", "gpu_power_watts", "--since", "5s", "--step", "1s", "--recorder", path
    )
    points = answer["series"][0]["points"]
    assert 5 <= len(points) <= 6
    for end_ns, mean, _, _ in points[1:-1]:
        inside = [
            int(row["power_mw"]) / 1000
            for t, row in trace.refreshes
            if end_ns - 1e9 < start_ns + round(t * 1e6) <= end_ns
        ]
        assert mean == pytest.approx(sum(inside) / len(inside), rel=1e-6)


def test_history_as_csv_is_the_same(recordings):
    path = recordings("fed")
    text = run("history", "gpu_power_watts", "--since", "3s", "--recorder", path, code=0).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    expected = history(path, "gpu_power_watts", since="3s")["gpu_power_watts"]
    assert [(int(row["unix_ns"]), float(row["value"])) for row in rows] == [
        point[:2] for point in expected
    ]
    assert {row["device"] for row in rows} == {"GPU 0"}


def test_all_traces_make_a_machine_of_eleven_gpus(tmp_path):
    path = tmp_path / "all.rec"
    assert "11 GPUs" in run("import", SOURCE / "traces", "--output", path, code=0).stdout
    readings = run_json("get", "gpu_memory_used_bytes", "--recorder", path)["readings"]
    names = sorted(NAMES)
    assert [r["gpu"] for r in readings] == list(range(11))
    for reading, name in zip(readings, names):
        assert reading["value"] == int(load(name).refreshes[-1][1]["fb_used_b"])
    overview = run("--recorder", path, code=0).stdout
    assert overview.count("NVIDIA H200") == 11
    gpus = run_json("discover", "--recorder", path)["gpus"]
    assert len({gpu["uuid"] for gpu in gpus}) == 11
    # Only the process of oom_ramp has died, and its GPU worked until two seconds ago.
    assert run("free", "--recorder", path, code=1).stdout == ""


def test_record_copies_a_file(recordings, tmp_path):
    path, copy = recordings("fed"), tmp_path / "copy.rec"
    run("record", copy, "--recorder", path, code=0)
    for command in (["get", "203", "155"], ["processes"], ["history", "155", "--since", "1h"]):
        assert run_json(*command, "--recorder", copy) == run_json(*command, "--recorder", path)
    bare = tmp_path / "bare.rec"
    run("record", bare, "--no-identities", "--recorder", path, code=0)
    (gpu,) = run_json("processes", "--recorder", bare)["gpus"]
    assert "user" not in gpu["processes"][0] and gpu["processes"][0]["pid"] == 529


def test_texts_are_in_the_language_asked_for(recordings):
    path = recordings("gemm")
    assert "METRIC" in run("get", "203", "--recorder", path).stdout
    assert "指标" in run("get", "203", "--lang", "zh", "--recorder", path).stdout
    from program import environment

    chinese = run("processes", "--recorder", path, env=environment(LANG="zh_CN.UTF-8")).stdout
    assert "命令" in chinese


def test_tables_carry_no_colours_when_nobody_looks(recordings):
    for arguments in ([], ["processes"], ["get", "203"], ["discover"]):
        assert "\x1b" not in run(*arguments, "--recorder", recordings("gemm")).stdout


def test_catalog_writes_the_documentation():
    assert run("catalog", "--markdown", code=0).stdout == (SOURCE / "docs/metrics.md").read_text()
    rows = run_json("catalog")
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names) > 200
    for row in rows:
        assert row["meaning"] and row["kind"] and row["lane"] and row["scope"]

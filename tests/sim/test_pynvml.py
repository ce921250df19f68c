# SPDX-License-Identifier: Apache-2.0
"""nvidia-ml-py, which knows nothing of us, must read from the simulation what the traces say."""

import json
import math

import pytest
import trace

# In the first pass, in several laps, and just after a seam.
MOMENTS_MS = (0, 1_234, 5_000, 12_345, 19_990, 23_500.1, 40_999, 41_000, 77_777, 200_000.5, 3_600_000)
# Clear of rounding at the edge itself.
JUST_AFTER_MS = 0.05

READ_ALL = """
import json, sys
import pynvml as n
from playhead import Playhead

playhead = Playhead(sys.argv[1])
n.nvmlInit()
for moment in json.loads(sys.argv[2]):
    playhead.step_to(moment)
    for i in range(n.nvmlDeviceGetCount()):
        d = n.nvmlDeviceGetHandleByIndex(i)
        utilization = n.nvmlDeviceGetUtilizationRates(d)
        memory = n.nvmlDeviceGetMemoryInfo(d, version=n.nvmlMemory_v2)
        whole = n.nvmlDeviceGetMemoryInfo(d)
        fields = n.nvmlDeviceGetFieldValues(d, [74, 75, 82, 83, 185, 186])
        assert all(f.nvmlReturn == 0 for f in fields)
        assert memory.total == memory.used + memory.free + memory.reserved
        assert whole.used == memory.used + memory.reserved and whole.free == memory.free
        print(json.dumps({
            "moment": moment, "gpu": i,
            "util_gpu": utilization.gpu, "util_mem": utilization.memory,
            "fb_used_b": memory.used, "fb_reserved_b": memory.reserved,
            "bar1_used_b": n.nvmlDeviceGetBAR1MemoryInfo(d).bar1Used,
            "power_mw": n.nvmlDeviceGetPowerUsage(d),
            "power_inst_mw": fields[5].value.uiVal,
            "energy_mj": n.nvmlDeviceGetTotalEnergyConsumption(d),
            "temp_c": n.nvmlDeviceGetTemperature(d, n.NVML_TEMPERATURE_GPU),
            "mem_temp_c": fields[2].value.uiVal,
            "sm_mhz": n.nvmlDeviceGetClockInfo(d, n.NVML_CLOCK_SM),
            "mem_mhz": n.nvmlDeviceGetClockInfo(d, n.NVML_CLOCK_MEM),
            "reasons": n.nvmlDeviceGetCurrentClocksEventReasons(d),
            "pstate": n.nvmlDeviceGetPerformanceState(d),
            "enc": n.nvmlDeviceGetEncoderUtilization(d)[0],
            "dec": n.nvmlDeviceGetDecoderUtilization(d)[0],
            "viol_power_ns": fields[0].value.ullVal,
            "viol_thermal_ns": fields[1].value.ullVal,
            "processes": [[p.pid, p.usedGpuMemory] for p in n.nvmlDeviceGetComputeRunningProcesses(d)],
        }))
"""


def read_all(simulation) -> list[dict]:
    result = simulation.run(READ_ALL, json.dumps(MOMENTS_MS))
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("profile", ["h200", "a100"])
def test_every_gauge_of_every_trace_is_what_the_trace_says_at_that_moment(simulation, profile):
    simulation.make("all", "--profile", profile)
    answers = read_all(simulation)
    assert len(answers) == len(MOMENTS_MS) * len(trace.NAMES)
    for answer in answers:
        recorded = trace.load(trace.NAMES[answer["gpu"]])
        moment = answer["moment"]
        for column in set(answer) - {"moment", "gpu", "processes"}:
            assert answer[column] == recorded.value(column, moment), (recorded.name, moment, column)
        process = recorded.process(moment)
        if process:
            assert [memory for _, memory in answer["processes"]] == [int(process["used_mem_b"])]
            first_pid = 10_000 + 1_000 * answer["gpu"]
            assert first_pid <= answer["processes"][0][0] < first_pid + 512


def test_a_process_that_the_loop_ends_comes_back_with_another_pid(simulation):
    simulation.make("oom_ramp,fed")
    script = """
import sys
import pynvml as n
from playhead import Playhead

playhead = Playhead(sys.argv[1])
n.nvmlInit()
for moment in (15_000, 23_500, 39_900):
    playhead.step_to(moment)
    for i in range(2):
        d = n.nvmlDeviceGetHandleByIndex(i)
        print(moment, i, *[p.pid for p in n.nvmlDeviceGetComputeRunningProcesses(d)])
"""
    result = simulation.run(script)
    assert result.stdout.splitlines() == [
        "15000 0 10000",
        "15000 1 11000",
        "23500 0",  # 33.5 s into the trace: dead since 32.8 s
        "23500 1 11000",
        "39900 0 10064",
        "39900 1 11000",
    ], result.stderr


def test_counters_never_fall_over_the_laps(simulation):
    simulation.make("gemm")
    script = """
import sys
import pynvml as n
from playhead import Playhead

playhead = Playhead(sys.argv[1])
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
for moment in range(0, 100_000, 50):
    playhead.step_to(moment)
    violation = n.nvmlDeviceGetFieldValues(d, [74])[0].value.ullVal
    print(n.nvmlDeviceGetTotalEnergyConsumption(d), violation)
"""
    rows = [tuple(map(int, line.split())) for line in simulation.run(script).stdout.splitlines()]
    assert len(rows) == 2_000
    for before, after in zip(rows, rows[1:]):
        assert before[0] <= after[0] <= before[0] + 800_000  # no jump: at most a second at 800 W
        assert before[1] <= after[1]


GPM = """
import json, math, sys
import pynvml as n
from playhead import Playhead

playhead = Playhead(sys.argv[1])
ids = json.loads(sys.argv[2])
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)

def take():
    sample = n.nvmlGpmSampleAlloc()
    n.nvmlGpmSampleGet(d, sample)
    return sample

def metrics(older, newer):
    request = n.c_nvmlGpmMetricsGet_t()
    request.version = 1
    request.numMetrics = len(ids)
    request.sample1, request.sample2 = older, newer
    for i, id in enumerate(ids):
        request.metrics[i].metricId = id
    n.nvmlGpmMetricsGet(request)
    assert all(request.metrics[i].nvmlReturn == 0 for i in range(len(ids)))
    return [request.metrics[i].value for i in range(len(ids))]

before = take()
for moment in json.loads(sys.argv[3]):
    playhead.step_to(moment)
    now = take()
    print(json.dumps([None if math.isnan(v) else v for v in metrics(before, now)]))
    before = now
"""


def read_gpm(simulation, name, moments) -> list[list[float]]:
    simulation.make(name)
    result = simulation.run(GPM, json.dumps(list(trace.GPM_IDS.values())), json.dumps(moments))
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("name", trace.NAMES)
def test_gpm_between_two_refreshes_is_exactly_the_recorded_row(simulation, name):
    recorded = trace.load(name)
    first_pass = recorded.end - trace.START_MS
    # Around the seam: the last seconds of the first pass and the first ones of the loop.
    moments = [t + JUST_AFTER_MS for t in recorded.refresh_times(first_pass - 3_000, first_pass + 3_000)]
    assert 55 <= len(moments) <= 62
    rows = read_gpm(simulation, name, moments)
    for moment, values in list(zip(moments, rows))[1:]:
        row = recorded.refresh(moment)
        assert values == [float(row[column]) for column in trace.GPM_IDS], moment


def test_gpm_faster_than_the_hardware_is_zero_and_nan_nine_times_out_of_ten(simulation):
    moments = [15_000 + 10 * i for i in range(500)]
    rows = read_gpm(simulation, "gemm", moments)[1:]
    dram = list(trace.GPM_IDS).index("dram")
    empty = [row for row in rows if row[dram] is None]
    assert 440 <= len(empty) <= 455
    for row in empty:
        assert all(value == 0 for i, value in enumerate(row) if i != dram)


def test_gpm_over_a_second_is_the_mean_of_its_refreshes_by_time(simulation):
    recorded = trace.load("fed")
    edges = [t + JUST_AFTER_MS for t in recorded.refresh_times(20_000, 22_000)[:12]]
    values = read_gpm(simulation, "fed", [edges[0], edges[-1]])[1]
    widths = [b - a for a, b in zip(edges, edges[1:])]
    for column, value in zip(trace.GPM_IDS, values):
        rows = [float(recorded.refresh(edge)[column]) for edge in edges[1:]]
        mean = sum(v * w for v, w in zip(rows, widths)) / sum(widths)
        assert math.isclose(value, mean, rel_tol=1e-9), column


def test_the_profile_without_gpm_says_so_and_offers_the_blocking_call(simulation):
    simulation.make("pcie_bound", "--profile", "a100")
    script = """
import sys
import pynvml as n
from playhead import Playhead

Playhead(sys.argv[1]).step_to(12_000)
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
print(n.nvmlDeviceGetName(d))
print(n.nvmlGpmQueryDeviceSupport(d).isSupportedDevice)
try:
    n.nvmlGpmSampleGet(d, n.nvmlGpmSampleAlloc())
except n.NVMLError_NotSupported:
    print("not supported")
print(n.nvmlDeviceGetPcieThroughput(d, n.NVML_PCIE_UTIL_RX_BYTES))
"""
    expected = float(trace.load("pcie_bound").refresh(12_000)["pcie_rx_mibs"])
    assert simulation.run(script).stdout.splitlines() == [
        "NVIDIA A100-SXM4-80GB",
        "0",
        "not supported",
        str(int(expected * 1024)),
    ]


def test_the_power_buffer_holds_the_instant_power_in_steps_of_20_7_ms(simulation):
    simulation.make("gemm")
    script = """
import json, sys
import pynvml as n
from playhead import Playhead

playhead = Playhead(sys.argv[1])
playhead.step_to(20_000)
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
_, samples = n.nvmlDeviceGetSamples(d, n.NVML_TOTAL_POWER_SAMPLES, 0)
print(json.dumps([[s.timeStamp - playhead.stamp_us(0), s.sampleValue.uiVal] for s in samples]))
playhead.step_to(20_100)
_, newer = n.nvmlDeviceGetSamples(d, n.NVML_TOTAL_POWER_SAMPLES, samples[-1].timeStamp)
print(json.dumps([s.timeStamp - playhead.stamp_us(0) for s in newer]))
try:
    n.nvmlDeviceGetSamples(d, n.NVML_TOTAL_POWER_SAMPLES, playhead.stamp_us(30_000))
except n.NVMLError_NotFound:
    print("nothing newer")
"""
    lines = simulation.run(script).stdout.splitlines()
    samples = json.loads(lines[0])
    assert len(samples) == 119
    last = math.floor(20_000 / 20.7)
    for i, (stamp_us, power) in enumerate(samples):
        step = last - 118 + i
        assert abs(stamp_us - step * 20_700) <= 1
        assert power == trace.load("gemm").value("power_inst_mw", step * 20.7)
    assert [abs(stamp - 20_700 * (last + 1 + i)) <= 1 for i, stamp in enumerate(json.loads(lines[1]))] == [True] * 5
    assert lines[2] == "nothing newer"


def test_process_samples_come_once_a_second_and_only_those_not_seen(simulation):
    simulation.make("synthetic")
    script = """
import json, sys
import pynvml as n
from playhead import Playhead

playhead = Playhead(sys.argv[1])
playhead.step_to(20_500)
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
since = playhead.stamp_us(15_000)
samples = n.nvmlDeviceGetProcessUtilization(d, since)
print(json.dumps([[s.pid, s.timeStamp - playhead.stamp_us(0), s.smUtil, s.memUtil] for s in samples]))
try:
    n.nvmlDeviceGetProcessUtilization(d, samples[-1].timeStamp)
except n.NVMLError_NotFound:
    print("nothing newer")
"""
    lines = simulation.run(script).stdout.splitlines()
    rows = [r for r in trace.load("synthetic").process_rows if 25_000 < float(r["t_ms"]) <= 30_500]
    assert len(rows) >= 5
    expected = [
        [10_000, round(float(r["t_ms"]) * 1000) - 10_000_000, int(r["sm_util"]), int(r["mem_util"])]
        for r in rows
    ]
    assert json.loads(lines[0]) == expected
    assert lines[1] == "nothing newer"

# SPDX-License-Identifier: Apache-2.0
"""Compares what Everywatt recorded with what pynvml and nvidia-smi read at the same moments.

pynvml reads every 20 ms while Everywatt records at its own pace. A recorded reading agrees when the
readings of pynvml within `slack` of its time span it: the driver may have refreshed between the two.
"""

import json
import subprocess
import time

import pynvml as nvml

MIB = 2**20


def readers(gpu) -> dict:
    """Metric -> (how pynvml reads it in the metric's unit, how far apart the two may lie)."""

    def field(number: int):
        return nvml.nvmlDeviceGetFieldValues(gpu, [number])[0].value.uiVal

    return {
        "gpu_utilization_ratio": lambda: nvml.nvmlDeviceGetUtilizationRates(gpu).gpu / 100,
        "gpu_memory_controller_active_ratio":
            lambda: nvml.nvmlDeviceGetUtilizationRates(gpu).memory / 100,
        "gpu_memory_used_bytes":
            lambda: nvml.nvmlDeviceGetMemoryInfo(gpu, version=nvml.nvmlMemory_v2).used,
        "gpu_memory_reserved_bytes":
            lambda: nvml.nvmlDeviceGetMemoryInfo(gpu, version=nvml.nvmlMemory_v2).reserved,
        "gpu_power_watts": lambda: nvml.nvmlDeviceGetPowerUsage(gpu) / 1e3,
        "gpu_power_instant_watts": lambda: field(186) / 1e3,
        "gpu_temperature_celsius":
            lambda: nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU),
        "gpu_memory_temperature_celsius": lambda: field(82),
        "gpu_sm_clock_hertz": lambda: nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_SM) * 1e6,
        "gpu_memory_clock_hertz":
            lambda: nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_MEM) * 1e6,
        "gpu_video_clock_hertz":
            lambda: nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_VIDEO) * 1e6,
        "gpu_clock_event_reasons_mask":
            lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu),
        "gpu_performance_state": lambda: nvml.nvmlDeviceGetPerformanceState(gpu),
        "gpu_encoder_utilization_ratio":
            lambda: nvml.nvmlDeviceGetEncoderUtilization(gpu)[0] / 100,
        "gpu_decoder_utilization_ratio":
            lambda: nvml.nvmlDeviceGetDecoderUtilization(gpu)[0] / 100,
    }


def watch(seconds: float) -> dict[str, list[tuple[float, float]]]:
    nvml.nvmlInit()
    gpu = nvml.nvmlDeviceGetHandleByIndex(0)
    sources = readers(gpu)
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in sources}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, read in sources.items():
            seen[name].append((time.time(), float(read())))
        time.sleep(0.02)
    return seen


def agreement(points: list, seen: list[tuple[float, float]], slack: float) -> dict:
    """How many recorded points lie within what pynvml saw around their time."""
    compared, agreed, worst = 0, 0, 0.0
    for unix_ns, value, state, _ in points:
        moment = unix_ns / 1e9
        around = [v for t, v in seen if abs(t - moment) <= slack]
        if state != "ok" or not around or moment - slack < seen[0][0] or moment + slack > seen[-1][0]:
            continue
        compared += 1
        off = max(min(around) - value, value - max(around), 0)
        worst = max(worst, off)
        agreed += off == 0
    return {"compared": compared, "agreed": agreed, "worst_difference": worst}


def compare_gauges(daemon, seconds: float) -> dict:
    seen = watch(seconds)
    time.sleep(0.3)
    answer = json.loads(daemon.command("history", *seen, "--since", f"{seconds + 2}s", "--json"))
    out = {}
    for series in answer["series"]:
        name = series["metric"]
        out[name] = agreement(series["points"], seen[name], 0.25)
    return out


SMI = {  # nvidia-smi's query: what one unit of it is in ours
    "memory.total": MIB, "power.limit": 1, "power.max_limit": 1, "power.default_limit": 1,
    "clocks.max.sm": 1e6, "clocks.max.memory": 1e6, "pcie.link.gen.max": 1, "pcie.link.width.max": 1,
    "ecc.errors.corrected.volatile.total": 1, "ecc.errors.uncorrected.volatile.total": 1,
    "pcie.link.gen.current": 1, "pcie.link.width.current": 1,
}
SMI_TEXT = ["name", "uuid", "serial", "vbios_version", "driver_version", "pci.bus_id"]


def compare_smi(daemon) -> dict:
    """Constants and slow readings, asked for under nvidia-smi's own names."""
    names = [*SMI, *SMI_TEXT]
    line = subprocess.run(["nvidia-smi", f"--query-gpu={','.join(names)}",
                           "--format=csv,noheader,nounits"],
                          check=True, text=True, capture_output=True).stdout.strip()
    out = {}
    for name, said in zip(names, line.split(", ")):
        try:
            got = json.loads(daemon.command("get", name, "--json"))["readings"][0]
        except subprocess.CalledProcessError as error:
            out[name] = {"smi": said, "everywatt": (error.stdout + error.stderr).strip()[:200],
                         "equal": False}
            continue
        value = got["value"]
        scale = SMI.get(name)
        # nvidia-smi rounds memory to whole MiB.
        equal = said == value if scale is None else (
            value is not None and round(value / scale, 2) == round(float(said), 2)
            if said.replace(".", "").isdigit() else value is None)
        out[name] = {"smi": said, "everywatt": value, "equal": equal}
    return out

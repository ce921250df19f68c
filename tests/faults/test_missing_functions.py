# SPDX-License-Identifier: Apache-2.0
"""
Fault: the driver's library lacks functions, as an older one does
Seen: what they would tell is `not_supported`, with the reason; where there is an older one it serves
For: as long as that library is used
Clears: with a newer driver
"""

import subprocess

import program
import pytest
from faulty import Readers
from program import wait_until

NEWER = {
    "nvmlDeviceGetMemoryInfo_v2": ("gpu_memory_used_bytes", "ok"),
    "nvmlDeviceGetComputeRunningProcesses_v3": ("gpu_power_watts", "ok"),
    "nvmlDeviceGetFieldValues": ("gpu_power_watts", "ok"),
    "nvmlGpmSampleGet": ("gpu_sm_active_ratio", "not_supported"),
    "nvmlDeviceGetTemperatureV": ("gpu_temperature_celsius", "ok"),
    "nvmlDeviceGetTotalEccErrors": ("gpu_ecc_corrected_volatile_errors_total", "not_supported"),
    "nvmlDeviceGetUtilizationRates": ("gpu_utilization_ratio", "not_supported"),
    "nvmlEventSetCreate": ("gpu_power_watts", "ok"),
}


def without(machine, folder, names: list[str]):
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(
        [program.PLAYER, "--library", program.LIBRARY, "--without", ",".join(names),
         "--output", library], check=True,
    )  # fmt: skip
    broken = machine("gemm,fed", daemon=False)
    broken.start(library=library)
    return broken


@pytest.mark.parametrize("name", NEWER)
def test_a_library_without_one_serves_all_the_rest(machine, folder, name):
    broken = without(machine, folder, [name])
    broken.wait_until_ready()
    metric, state = NEWER[name]
    broken.wait_for_state(0, state, metric)
    if state == "not_supported":
        assert "not" in broken.why(0, metric)
    assert broken.state(0) == "ok"


def test_a_library_without_any_of_them_still_gives_the_basic_readings(machine, folder):
    broken = without(machine, folder, list(NEWER))
    broken.wait_until_fresh()
    with Readers(broken) as readers:
        for metric in ("gpu_power_watts", "gpu_sm_clock_hertz"):
            broken.wait_for_state(1, "ok", metric)
        broken.wait_for_state(1, "not_supported", "gpu_utilization_ratio")
        wait_until(lambda: readers.rounds > 5, "rounds")
        broken.check_fresh([0, 1], readers.since_ns)

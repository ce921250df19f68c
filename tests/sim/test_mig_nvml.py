# SPDX-License-Identifier: Apache-2.0
"""MIG layouts as the vendor's own Python client sees them."""

import json

import pytest
from test_scenarios import PRELUDE, lines_of

MIB = 1 << 20

# Everything of each instance that its handle tells.
LAYOUT = (
    PRELUDE
    + """
# The client gives some numbers as they came from C.
def whole(number):
    return getattr(number, "value", number)

def layout(gpu=0):
    parent = n.nvmlDeviceGetHandleByIndex(gpu)
    found = []
    for i in range(whole(n.nvmlDeviceGetMaxMigDeviceCount(parent))):
        try:
            mig = n.nvmlDeviceGetMigDeviceHandleByIndex(parent, i)
        except n.NVMLError_NotFound:
            continue
        memory = n.nvmlDeviceGetMemoryInfo(mig)
        parts = n.nvmlDeviceGetAttributes_v2(mig)
        found.append(dict(
            name=n.nvmlDeviceGetName(mig), uuid=n.nvmlDeviceGetUUID(mig),
            index=n.nvmlDeviceGetIndex(mig), is_mig=whole(n.nvmlDeviceIsMigDeviceHandle(mig)),
            gi=whole(n.nvmlDeviceGetGpuInstanceId(mig)), ci=whole(n.nvmlDeviceGetComputeInstanceId(mig)),
            total=memory.total, used=memory.used, free=memory.free,
            sms=parts.multiprocessorCount, slices=parts.gpuInstanceSliceCount,
            memory_mib=parts.memorySizeMB,
            pids=[p.pid for p in n.nvmlDeviceGetComputeRunningProcesses(mig)],
            parent=n.nvmlDeviceGetUUID(n.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig)),
        ))
    return found

n.nvmlInit()
"""
)


def mig(profiles: str, more: str = "") -> str:
    return f'[[mig]]\nprofiles = "{profiles}"\n{more}'


@pytest.mark.parametrize(
    ("gpu", "profiles", "expected"),
    [
        ("a100-40gb", "4g.20gb,2g.10gb,1g.5gb",
         [("4g.20gb", 1, 56, 20096), ("2g.10gb", 5, 28, 9984), ("1g.5gb", 13, 14, 4864)]),
        ("a100", "3g.40gb,3g.40gb", [("3g.40gb", 1, 42, 40448), ("3g.40gb", 2, 42, 40448)]),
        ("h100", "1g.10gb,1g.10gb+me", [("1g.10gb", 7, 16, 9984), ("1g.10gb+me", 8, 16, 9984)]),
        ("h200", "7g.141gb", [("7g.141gb", 0, 132, 143360)]),
    ],
)  # fmt: skip
def test_a_layout_has_the_profiles_of_its_gpu(simulation, gpu, profiles, expected):
    simulation.make("gemm", "--profile", gpu)
    simulation.append(mig(profiles))
    found = json.loads(lines_of(simulation, LAYOUT + "print(json.dumps(layout()))")[0])
    assert [(m["name"].split(" MIG ")[1], m["gi"], m["sms"], m["memory_mib"]) for m in found] == expected
    for place, one in enumerate(found):
        assert one["index"] == place and one["is_mig"] == 1 and one["ci"] == 0
        assert one["uuid"].startswith("MIG-") and one["parent"].startswith("GPU-5ee00000")
        assert one["total"] == one["memory_mib"] * MIB == one["used"] + one["free"]


def test_instances_appear_and_go_and_their_handles_with_them(simulation):
    simulation.make("gemm,fed")
    simulation.append(mig("3g.71gb", "gpu = 1\nfrom_ms = 1000\nuntil_ms = 9000\n"))
    simulation.append(mig("4g.71gb", "gpu = 1\nfrom_ms = 1000\nuntil_ms = 3000\n"))
    simulation.append(mig("2g.35gb,1g.18gb", "gpu = 1\nfrom_ms = 3000\nuntil_ms = 5000\n"))
    script = """
parent = n.nvmlDeviceGetHandleByIndex(1)
kept = None
for moment in (0, 1_000, 3_000, 5_000, 9_000):
    playhead.step_to(moment)
    print(n.nvmlDeviceGetMigMode(parent)[0], *[m["name"].split()[-1] for m in layout(1)])
    if moment == 1_000:
        kept, gone = [n.nvmlDeviceGetMigDeviceHandleByIndex(parent, i) for i in (0, 1)]
        by_uuid = n.nvmlDeviceGetHandleByUUID(n.nvmlDeviceGetUUID(gone))
        print(n.nvmlDeviceGetName(by_uuid))
        uuid = n.nvmlDeviceGetUUID(gone)
    if moment == 3_000:
        print(whole(n.nvmlDeviceGetGpuInstanceId(kept)), outcome(n.nvmlDeviceGetMemoryInfo, gone),
              outcome(n.nvmlDeviceGetName, gone), outcome(n.nvmlDeviceGetPowerUsage, gone),
              outcome(n.nvmlDeviceGetHandleByUUID, uuid))
print(layout(0))
"""
    assert lines_of(simulation, LAYOUT + script) == [
        "0",
        "1 3g.71gb 4g.71gb",
        "NVIDIA H200 MIG 4g.71gb",
        "1 3g.71gb 2g.35gb 1g.18gb",
        "1 InvalidArgument InvalidArgument InvalidArgument NotFound",
        "1 3g.71gb",
        "0",
        "[]",
    ]


def test_what_instances_lack_is_not_supported_and_their_gpu_lacks_utilization(simulation):
    simulation.make("gemm,fed")
    simulation.append(mig("3g.71gb", "gpu = 0\n"))
    script = """
playhead.step_to(20_000)
parent, other = [n.nvmlDeviceGetHandleByIndex(i) for i in (0, 1)]
child = n.nvmlDeviceGetMigDeviceHandleByIndex(parent, 0)
whole_only = [n.nvmlDeviceGetUtilizationRates, n.nvmlDeviceGetEncoderUtilization, n.nvmlDeviceGetDecoderUtilization]
for device in (other, parent, child):
    print(*[outcome(call, device) for call in whole_only],
          outcome(n.nvmlDeviceGetProcessUtilization, device, 0))
print(*[outcome(call, child) for call in (
    n.nvmlDeviceGetPowerUsage, n.nvmlDeviceGetTotalEnergyConsumption, n.nvmlDeviceGetPersistenceMode,
    n.nvmlDeviceGetMigMode, n.nvmlDeviceGetPciInfo, n.nvmlDeviceGetMaxMigDeviceCount)])
print(outcome(n.nvmlDeviceGetPowerUsage, parent) > 0, outcome(n.nvmlDeviceGetGpuInstanceId, parent))
"""
    assert lines_of(simulation, LAYOUT + script) == [
        "ok ok ok ok",
        "NotSupported NotSupported NotSupported NotSupported",
        "NotSupported NotSupported NotSupported NotSupported",
        "NotSupported NotSupported NotSupported NotSupported NotSupported NotSupported",
        "True NotSupported",
    ]


def test_processes_run_in_instances_and_fill_their_memory(simulation):
    simulation.make("gemm")
    simulation.append(mig("3g.71gb,1g.18gb"))
    simulation.append("[[process]]\npid = 77\nmemory_bytes = 8388608\nmig = 1\n")
    simulation.append("[[process]]\npid = 78\nmemory_bytes = 8388608\nmig = 1\nuntil_ms = 21000\n")
    script = """
parent = n.nvmlDeviceGetHandleByIndex(0)
for moment in (20_000, 21_000):
    playhead.step_to(moment)
    print(json.dumps(layout()))
    print(json.dumps([[p.pid, p.gpuInstanceId, p.usedGpuMemory]
                      for p in n.nvmlDeviceGetComputeRunningProcesses(parent)]))
    print(n.nvmlDeviceGetMemoryInfo(parent, n.nvmlMemory_v2).used)
"""
    lines = [json.loads(line) for line in lines_of(simulation, LAYOUT + script)]
    first, second = lines[0]
    assert second["pids"] == [77, 78] and second["used"] == 18 * MIB  # 16 of its own
    listed = {pid: (instance, used) for pid, instance, used in lines[1]}
    assert listed[77] == (second["gi"], 1 * MIB)
    (own,) = first["pids"]
    assert listed[own][0] == first["gi"] and first["used"] == 16 * MIB + listed[own][1]
    assert lines[2] == first["used"] + second["used"]
    assert lines[3][1]["pids"] == [77] and lines[3][1]["used"] == 17 * MIB


GPM = """
def gpm(parent, take):
    samples = [n.nvmlGpmSampleAlloc() for _ in range(2)]
    for moment, sample in zip((20_000, 22_000), samples):
        playhead.step_to(moment)
        take(sample)
    request = n.c_nvmlGpmMetricsGet_t()
    request.version = n.NVML_GPM_METRICS_GET_VERSION
    request.sample1, request.sample2 = samples
    asked = (1, 2, 5, 10, 20)
    request.numMetrics = len(asked)
    for i, id in enumerate(asked):
        request.metrics[i].metricId = id
    n.nvmlGpmMetricsGet(request)
    return [request.metrics[i].value if request.metrics[i].nvmlReturn == 0 else None
            for i in range(len(asked))]

n.nvmlInit()
parent = n.nvmlDeviceGetHandleByIndex(0)
found = [gpm(parent, lambda s: n.nvmlGpmSampleGet(parent, s))]
for id in map(int, sys.argv[2:]):
    found.append(gpm(parent, lambda s: n.nvmlGpmMigSampleGet(parent, id, s)))
print(json.dumps(found))
"""


def test_the_activity_of_instances_adds_up_to_their_gpus(simulation):
    simulation.make("gemm")
    whole = json.loads(simulation.run(PRELUDE + GPM).stdout)[0]
    assert whole[1] > 50
    simulation.append(mig("3g.71gb,2g.35gb,1g.18gb", 'activity_percent = "100,50,0"\n'))
    result = simulation.run(PRELUDE + GPM, "1", "5", "13")
    parent, large, middle, idle = json.loads(result.stdout)
    assert large[:4] == whole[:4] and large[4] is None
    assert middle[:4] == pytest.approx([v / 2 for v in whole[:4]])
    assert idle[:4] == [0, 0, 0, 0]
    for i in (0, 1, 2):
        assert parent[i] == pytest.approx((large[i] * 60 + middle[i] * 32 + idle[i] * 16) / 132)
    assert parent[3] == pytest.approx((large[3] * 4 + middle[3] * 2 + idle[3]) / 8)
    assert parent[4] == whole[4]  # the bus is the GPU's


def test_there_is_no_gpm_before_hopper_and_none_of_an_instance_that_is_not_there(simulation):
    for profile, profiles, expected in (
        ("a100", "1g.10gb", "NotSupported NotSupported"),
        ("h100", "1g.10gb", "ok InvalidArgument"),
    ):
        simulation.make("gemm", "--profile", profile)
        simulation.append(mig(profiles))
        script = """
n.nvmlInit()
parent, sample = n.nvmlDeviceGetHandleByIndex(0), n.nvmlGpmSampleAlloc()
print(*[outcome(n.nvmlGpmMigSampleGet, parent, id, sample) for id in (7, 8)])
"""
        assert lines_of(simulation, script) == [expected]


def test_a_change_of_the_layout_is_an_event(simulation):
    simulation.make("gemm")
    simulation.append(mig("3g.71gb", "from_ms = 1000\nuntil_ms = 2000\n"))
    script = """
n.nvmlInit()
events = n.nvmlEventSetCreate()
n.nvmlDeviceRegisterEvents(n.nvmlDeviceGetHandleByIndex(0), n.nvmlEventMigConfigChange, events)
for moment in (999, 1_000, 2_000):
    playhead.step_to(moment)
    event = outcome(n.nvmlEventSetWait_v2, events, 10)
    print(event)
"""
    assert lines_of(simulation, script) == ["Timeout", "ok", "ok"]


def test_nvitop_sees_the_instances(simulation):
    pytest.importorskip("nvitop")
    simulation.make("gemm")
    simulation.append(mig("3g.71gb,1g.18gb"))
    script = """
import sys
from nvitop import Device
from playhead import Playhead
Playhead(sys.argv[1]).step_to(20_000)
device = Device(0)
print(device.is_mig_mode_enabled())
for one in device.mig_devices():
    print(one.index, one.name(), one.memory_total(), one.gpu_instance_id(), len(one.processes()))
"""
    result = simulation.run(script)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "True",
        f"(0, 0) NVIDIA H200 MIG 3g.71gb {71168 * MIB} 1 1",
        f"(0, 1) NVIDIA H200 MIG 1g.18gb {16384 * MIB} 11 0",
    ]

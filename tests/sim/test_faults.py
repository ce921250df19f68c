# SPDX-License-Identifier: Apache-2.0
"""Faults and changes of a machine, as any program that loads the driver's library meets them."""

import signal

import pytest
from test_scenarios import PRELUDE, lines_of


def test_a_call_that_crashes_takes_its_process_along(simulation):
    simulation.make("gemm")
    simulation.append('[[fault]]\nfunction = "nvmlDeviceGetPowerUsage"\ncrash = true\n')
    script = """
n.nvmlInit()
handle = n.nvmlDeviceGetHandleByIndex(0)
print(outcome(n.nvmlDeviceGetTemperature, handle, 0), flush=True)
n.nvmlDeviceGetPowerUsage(handle)
print("alive")
"""
    result = simulation.run(PRELUDE + script)
    assert result.returncode == -signal.SIGSEGV
    assert len(result.stdout.splitlines()) == 1


GARBAGE = {
    "ones": (4294967295, 18446744073709551615),
    "zeros": (0, 0),
    "nan": (0, 0x7FF8000000000000),
    "huge": (2808348672, 10**18),
}


@pytest.mark.parametrize("kind", ["ones", "zeros", "nan", "huge"])
def test_garbage_fills_every_number_that_a_call_gives(simulation, kind):
    simulation.make("gemm")
    simulation.append(f'[[fault]]\nfunction = "*"\ngarbage = "{kind}"\nfrom_ms = 1000\n')
    script = """
n.nvmlInit()
handle = n.nvmlDeviceGetHandleByIndex(0)
playhead.step_to(1_000)
print(n.nvmlDeviceGetPowerUsage(handle), n.nvmlDeviceGetTotalEnergyConsumption(handle))
rates = n.nvmlDeviceGetUtilizationRates(handle)
print(rates.gpu)
"""
    power, energy = GARBAGE[kind]
    assert lines_of(simulation, script) == [f"{power} {energy}", str(power)]


def test_garbage_of_text_fills_the_callers_buffer_and_no_byte_more(simulation):
    simulation.make("gemm")
    simulation.append('[[fault]]\nfunction = "nvmlDeviceGetName"\ngarbage = "text"\n')
    script = """
n.nvmlInit()
handle = n.nvmlDeviceGetHandleByIndex(0)
get = n._nvmlGetFunctionPointer("nvmlDeviceGetName")
buffer = (ctypes.c_ubyte * 40)(*([0x58] * 40))
print(get(handle, ctypes.byref(buffer), ctypes.c_uint(32)), 0 in buffer[:32], set(buffer[32:]) == {0x58})
"""
    assert lines_of(simulation, script) == ["0 False True"]


def test_garbage_in_lists_and_fields_stays_within_what_the_caller_gave(simulation):
    simulation.make("gemm")
    simulation.append('[[fault]]\nfunction = "*"\ngarbage = "ones"\nfrom_ms = 1000\n')
    script = """
n.nvmlInit()
handle = n.nvmlDeviceGetHandleByIndex(0)
playhead.step_to(1_000)
get = n._nvmlGetFunctionPointer("nvmlDeviceGetComputeRunningProcesses_v3")
entries = (n.c_nvmlProcessInfo_v3_t * 4)()
count = ctypes.c_uint(2)
print(get(handle, ctypes.byref(count), entries), count.value, [e.pid for e in entries])
fields = (n.c_nvmlFieldValue_t * 2)()
fields[0].fieldId = fields[1].fieldId = 186
get = n._nvmlGetFunctionPointer("nvmlDeviceGetFieldValues")
print(get(handle, ctypes.c_int(1), fields), fields[0].fieldId, fields[0].nvmlReturn, fields[0].valueType,
      fields[1].valueType)
"""
    assert lines_of(simulation, script) == [
        "0 4294967295 [4294967295, 4294967295, 0, 0]",
        "0 186 0 4294967295 0",
    ]


@pytest.mark.parametrize("function", ["nvmlInit_v2", "nvmlInitWithFlags", "nvmlInit"])
def test_each_way_of_initialising_can_fail(simulation, function):
    simulation.make("gemm")
    simulation.append(f'[[fault]]\nfunction = "{function}"\nreturn = "UNKNOWN"\ntimes = 1\n')
    script = f"""
library = ctypes.CDLL("libnvidia-ml.so.1")
print([library.{function}(0) for _ in range(2)])
"""
    assert lines_of(simulation, script) == ["[999, 0]"]


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("nvmlSystemGetDriverVersion", "n.nvmlSystemGetDriverVersion"),
        ("nvmlDeviceGetCount_v2", "n.nvmlDeviceGetCount"),
        ("nvmlEventSetWait_v2", "lambda: n.nvmlEventSetWait_v2(events, 10)"),
        ("nvmlShutdown", "n.nvmlShutdown"),
    ],
)
def test_functions_that_concern_no_gpu_can_fail(simulation, function, call):
    simulation.make("gemm")
    simulation.append(f'[[fault]]\nfunction = "{function}"\nreturn = "IRQ_ISSUE"\n')
    script = f"""
n.nvmlInit()
events = n.nvmlEventSetCreate()
print(outcome({call}))
"""
    assert lines_of(simulation, script) == ["IrqIssue"]


def test_an_initialisation_that_hangs_holds_up_no_other_call(simulation):
    simulation.make("gemm")
    simulation.append(
        '[[fault]]\nfunction = "nvmlInit_v2"\nhangs = true\nsignals_masked = true\nfrom_ms = 1000\nuntil_ms = 2000\n'
    )
    script = """
import threading
n.nvmlInit()
handle = n.nvmlDeviceGetHandleByIndex(0)
playhead.step_to(1_000)
stuck = threading.Thread(target=n._nvmlGetFunctionPointer("nvmlInit_v2"))
stuck.start()
for _ in range(20):
    n.nvmlDeviceGetPowerUsage(handle)
    time.sleep(0.005)
blocked = [line for line in open(f"/proc/self/task/{stuck.native_id}/status") if line.startswith("SigBlk")]
print(stuck.is_alive(), int(blocked[0].split()[1], 16) >> 14 & 1)
playhead.step_to(2_000)
stuck.join(5)
print(stuck.is_alive())
"""
    assert lines_of(simulation, script) == ["True 1", "False"]


def test_gpus_are_plugged_in_and_out(simulation):
    simulation.make("gemm,fed,synthetic")
    scenario = simulation.folder / "scenario.toml"
    first, second, third, fourth = scenario.read_text().split("[[device]]")
    scenario.write_text(
        f"{first}[[device]]{second}present_until_ms = 2000\n[[device]]{third}[[device]]{fourth}present_from_ms = 1000\n"
    )
    script = """
n.nvmlInit()
def seen():
    return [n.nvmlDeviceGetPciInfo(n.nvmlDeviceGetHandleByIndex(i)).bus for i in range(n.nvmlDeviceGetCount())]
print(seen(), outcome(n.nvmlDeviceGetHandleByPciBusId, b"0000:03:00.0"))
first = n.nvmlDeviceGetHandleByIndex(0)
second = n.nvmlDeviceGetHandleByIndex(1)
playhead.step_to(1_000)
print(seen(), outcome(n.nvmlDeviceGetHandleByPciBusId, b"0000:03:00.0"))
playhead.step_to(2_000)
print(seen(), outcome(n.nvmlDeviceGetPowerUsage, first), n.nvmlDeviceGetIndex(second))
print(outcome(n.nvmlDeviceGetHandleByUUID, b"GPU-5ee00000-e0e7-4a77-8000-000000000001"))
"""
    assert lines_of(simulation, script) == [
        "[1, 2] NotFound",
        "[1, 2, 3] ok",
        "[2, 3] GpuIsLost 0",
        "NotFound",
    ]


def test_the_order_changes_and_names_stay(simulation):
    simulation.make("gemm,fed,synthetic")
    simulation.append('[[order]]\nat_ms = 1000\norder = "2,0,1"\n')
    script = """
n.nvmlInit()
handle = n.nvmlDeviceGetHandleByIndex(0)
uuid = n.nvmlDeviceGetUUID(handle)
playhead.step_to(1_000)
print(n.nvmlDeviceGetIndex(handle), n.nvmlDeviceGetMinorNumber(handle), n.nvmlDeviceGetUUID(handle) == uuid)
print([n.nvmlDeviceGetPciInfo(n.nvmlDeviceGetHandleByIndex(i)).bus for i in range(3)])
"""
    assert lines_of(simulation, script) == ["1 0 True", "[3, 1, 2]"]


def test_a_driver_that_is_loaded_anew_wants_a_new_beginning(simulation):
    simulation.make("gemm")
    simulation.append('[[driver]]\nversion = "580.200.01"\nfrom_ms = 1000\n')
    script = """
n.nvmlInit()
handle = n.nvmlDeviceGetHandleByIndex(0)
print(n.nvmlSystemGetDriverVersion())
playhead.step_to(1_000)
print(outcome(n.nvmlDeviceGetPowerUsage, handle), outcome(n.nvmlSystemGetDriverVersion), outcome(n.nvmlDeviceGetCount))
n.nvmlShutdown()
n.nvmlInit()
print(n.nvmlSystemGetDriverVersion(), n.nvmlSystemGetNVMLVersion())
print(outcome(n.nvmlDeviceGetPowerUsage, n.nvmlDeviceGetHandleByIndex(0)) > 0)
"""
    assert lines_of(simulation, script) == [
        "580.159.04",
        "Uninitialized Uninitialized Uninitialized",
        "580.200.01 13.580.200.01",
        "True",
    ]


def test_the_driver_may_not_be_had_for_a_while(simulation):
    simulation.make("gemm")
    simulation.append(
        "[[library]]\nmismatch = true\nfrom_ms = 1000\nuntil_ms = 2000\n"
        "[[library]]\nnot_loaded = true\nfrom_ms = 2000\nuntil_ms = 3000\n"
    )
    script = """
n.nvmlInit()
handle = n.nvmlDeviceGetHandleByIndex(0)
init = n._nvmlGetFunctionPointer("nvmlInit_v2")
for moment in (1_000, 2_000, 3_000):
    playhead.step_to(moment)
    print(outcome(n.nvmlDeviceGetMinorNumber, handle), init())
"""
    assert lines_of(simulation, script) == ["0 18", "Uninitialized 9", "Uninitialized 0"]


def test_an_absent_library_is_a_link_that_comes_and_goes(simulation, player):
    simulation.make("gemm")
    simulation.append("[[library]]\nabsent = true\nuntil_ms = 1000\n")
    link = simulation.folder / "lib" / "libnvidia-ml.so.1"
    root = simulation.folder / "root"
    player("--root", root, "--sim", simulation.folder, "--once", 0)
    assert not link.is_symlink()
    player("--root", root, "--sim", simulation.folder, "--once", 1000)
    assert link.resolve() == simulation.library.resolve()


def test_each_link_is_as_the_scenario_says(simulation):
    simulation.make("gemm,fed")
    scenario = simulation.folder / "scenario.toml"
    text = scenario.read_text().replace('"h200"', '"a100"', 1)
    scenario.write_text(text)
    simulation.append(
        '[[nvlink]]\ngpu = 0\nstate = "up"\nremote = "gpu:1"\nbytes_per_second = 1048576\nreceive_bytes_per_second = 2048\n'
        '[[nvlink]]\ngpu = 0\nlink = 2\nremote = "switch:1"\nerrors_per_second = 30\n'
        '[[nvlink]]\ngpu = 0\nlink = 4\nstate = "down"\nfrom_ms = 5000\n'
        '[[nvlink]]\ngpu = 0\nlink = 11\nstate = "unknown"\nversion = 5\nfrom_ms = 5000\n'
    )
    script = """
n.nvmlInit()
first, second = (n.nvmlDeviceGetHandleByIndex(i) for i in range(2))
playhead.step_to(10_000)
print(*[outcome(n.nvmlDeviceGetNvLinkState, first, link) for link in (0, 2, 4, 11, 12)])
print(outcome(n.nvmlDeviceGetNvLinkState, second, 0))
print(*[outcome(n.nvmlDeviceGetNvLinkVersion, first, link) for link in (0, 11)])
print(*[outcome(n.nvmlDeviceGetNvLinkRemoteDeviceType, first, link) for link in (0, 2, 4)])
print(*[hex(n.nvmlDeviceGetNvLinkRemotePciInfo(first, link).bus) for link in (0, 2)])
print(*[n.nvmlDeviceGetNvLinkErrorCounter(first, 2, kind) for kind in range(4)], n.nvmlDeviceGetNvLinkErrorCounter(first, 0, 0))
fields = n.nvmlDeviceGetFieldValues(first, [(138, 0), (139, 0), (138, 4), (138, 0xffffffff), 91, (138, 12)])
print(*[f.value.ullVal if f.nvmlReturn == 0 else f"error{f.nvmlReturn}" for f in fields])
print(n.nvmlDeviceGetP2PStatus(first, second, n.NVML_P2P_CAPS_INDEX_NVLINK))
"""
    assert lines_of(simulation, script) == [
        "1 1 0 Unknown InvalidArgument",
        "NotSupported",
        "4 Unknown",
        "0 2 255",
        "0x2 0xc1",
        "300 30 300 3 0",
        # 12 links for 10 s, two of which stopped at 5 s
        f"10240 20 5120 {10 * 10240 + 2 * 5120} 12 error3",
        "0",
    ]


def test_performance_counters_tell_the_rates_of_links(simulation):
    simulation.make("gemm")
    simulation.append('[[nvlink]]\nstate = "up"\nbytes_per_second = 104857600\nreceive_bytes_per_second = 10485760\n')
    script = """
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
older, newer = n.nvmlGpmSampleAlloc(), n.nvmlGpmSampleAlloc()
playhead.step_to(10_000)
n.nvmlGpmSampleGet(d, older)
playhead.step_to(12_000)
n.nvmlGpmSampleGet(d, newer)
request = n.c_nvmlGpmMetricsGet_t()
request.version, request.numMetrics, request.sample1, request.sample2 = 1, 4, older, newer
for place, metric in enumerate((60, 61, 62, 63)):
    request.metrics[place].metricId = metric
n.nvmlGpmMetricsGet(request)
print(*[f"{request.metrics[i].value:.3f}" for i in range(4)])
"""
    assert lines_of(simulation, script) == ["180.000 1800.000 10.000 100.000"]


def test_the_kernel_logs_in_step_and_pids_are_used_again(simulation, player):
    simulation.make("gemm")
    simulation.append(
        "[[event]]\nat_ms = 1000\nxid = 31\npid = 42\n"
        '[[process]]\npid = 42\nfrom_ms = 0\nuntil_ms = 1500\ncommand = "/bin/train --a"\nout_of_memory = true\n'
        '[[process]]\npid = 42\nfrom_ms = 3000\ncommand = "/bin/other"\nuid = 7\ncgroup = "/x"\n'
    )
    root = simulation.folder / "root"

    def show(moment):
        player("--root", root, "--sim", simulation.folder, "--once", moment)

    show(1000)
    lines = (root / "dev/kmsg").read_text().splitlines()
    assert len(lines) == 1 and ";NVRM: Xid (PCI:0000:01:00): 31, pid=42, name=python3, " in lines[0]
    stat = (root / "proc/42/stat").read_text()
    assert (root / "proc/42/cmdline").read_text() == "/bin/train\0--a\0"
    show(2000)
    assert not (root / "proc/42").exists()
    lines = (root / "dev/kmsg").read_text().splitlines()
    assert len(lines) == 2 and "Out of memory: Killed process 42 (train) total-vm:" in lines[1]
    show(3000)
    again = (root / "proc/42/stat").read_text()
    assert again.startswith("42 (other) S ")
    assert int(again.split()[21]) == int(stat.split()[21]) + 300
    assert "Uid:\t7\t" in (root / "proc/42/status").read_text()


def test_the_bus_has_the_gpus_that_are_there_and_the_driver_that_is_loaded(simulation, player):
    simulation.make("gemm,fed")
    scenario = simulation.folder / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("[[device]]", "[[device]]\npresent_until_ms = 2000", 1))
    simulation.append(
        '[[library]]\nnot_loaded = true\nfrom_ms = 1000\nuntil_ms = 2000\n[[driver]]\nversion = "580.200.01"\nfrom_ms = 2000\n'
    )
    root = simulation.folder / "root"
    bus, version = root / "sys/bus/pci/devices", root / "sys/module/nvidia/version"

    def show(moment):
        player("--root", root, "--sim", simulation.folder, "--once", moment)
        return sorted(path.name for path in bus.iterdir() if (path / "vendor").exists())

    assert show(0) == ["0000:01:00.0", "0000:02:00.0"] and version.read_text() == "580.159.04\n"
    assert (bus / "0000:01:00.0/driver").is_symlink()
    show(1000)
    assert (root / "dev/kmsg").exists()

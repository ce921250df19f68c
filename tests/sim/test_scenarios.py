# SPDX-License-Identifier: Apache-2.0
"""Scripted trouble: what a scenario file says happens, happens to the caller."""


PRELUDE = """
import ctypes, json, sys, time
import pynvml as n
from playhead import Playhead

playhead = Playhead(sys.argv[1])

def outcome(call, *arguments):
    try:
        result = call(*arguments)
        return result if isinstance(result, int) else "ok"
    except n.NVMLError as error:
        return type(error).__name__.removeprefix("NVMLError_")

"""


def lines_of(simulation, script: str) -> list[str]:
    result = simulation.run(PRELUDE + script)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_a_call_fails_as_often_as_the_scenario_says_counted_over_all_processes(simulation):
    simulation.make("gemm,fed")
    simulation.append('[[fault]]\nfunction = "nvmlDeviceGetPowerUsage"\ngpu = 1\nreturn = "NO_PERMISSION"\ntimes = 3\n')
    script = """
n.nvmlInit()
for i in range(2):
    print(*[outcome(n.nvmlDeviceGetPowerUsage, n.nvmlDeviceGetHandleByIndex(i)) for _ in range(2)])
"""
    first, second = lines_of(simulation, script), lines_of(simulation, script)
    assert first[0].split()[0].isdigit() and first[1] == "NoPermission NoPermission"
    assert second[1].split()[0] == "NoPermission" and second[1].split()[1].isdigit()


def test_a_lost_gpu_fails_in_every_call_for_a_while_and_returns(simulation):
    simulation.make("gemm,fed")
    simulation.append('[[fault]]\nfunction = "*"\ngpu = 0\nreturn = 15\nfrom_ms = 3000\nuntil_ms = 5000\n')
    script = """
n.nvmlInit()
handles = [n.nvmlDeviceGetHandleByIndex(i) for i in range(2)]
for moment in (2_999, 3_000, 4_999, 5_000):
    playhead.step_to(moment)
    print(*[outcome(n.nvmlDeviceGetTemperature, h, 0) for h in handles], outcome(n.nvmlDeviceGetHandleByIndex, 0))
"""
    rows = [line.split() for line in lines_of(simulation, script)]
    assert [row[0].isdigit() for row in rows] == [True, False, False, True]
    assert [row[2] for row in rows] == ["ok", "GpuIsLost", "GpuIsLost", "ok"]
    assert all(row[1].isdigit() for row in rows)


def test_an_xid_reaches_a_waiting_event_set_with_its_number_and_gpu(simulation):
    simulation.make("gemm,fed")
    simulation.append("[[event]]\ngpu = 1\nat_ms = 4000\nxid = 31\n[[event]]\ngpu = 1\nat_ms = 2000\nxid = 13\n")
    script = """
n.nvmlInit()
events = n.nvmlEventSetCreate()
handles = [n.nvmlDeviceGetHandleByIndex(i) for i in range(2)]
for handle in handles:
    n.nvmlDeviceRegisterEvents(handle, n.nvmlEventTypeXidCriticalError, events)
started = time.monotonic()
print(outcome(n.nvmlEventSetWait_v2, events, 50), time.monotonic() - started >= 0.05)
playhead.step_to(5_000)
for _ in range(2):
    event = n.nvmlEventSetWait_v2(events, 50)
    print(event.eventType, event.eventData, n.nvmlDeviceGetIndex(event.device), event.gpuInstanceId == 0xffffffff)
print(outcome(n.nvmlEventSetWait_v2, events, 0))
"""
    assert lines_of(simulation, script) == ["Timeout True", "8 13 1 True", "8 31 1 True", "Timeout"]


def test_an_event_set_ends_with_the_library_that_made_it(simulation):
    simulation.make("gemm")
    simulation.append("[[event]]\nat_ms = 4000\nxid = 31\n")
    script = """
n.nvmlInit()
events = n.nvmlEventSetCreate()
n.nvmlDeviceRegisterEvents(n.nvmlDeviceGetHandleByIndex(0), n.nvmlEventTypeXidCriticalError, events)
n.nvmlShutdown()
n.nvmlInit()
playhead.step_to(5_000)
print(outcome(n.nvmlEventSetWait_v2, events, 0))
handle = n.nvmlDeviceGetHandleByIndex(0)
print(outcome(n.nvmlDeviceRegisterEvents, handle, n.nvmlEventTypeXidCriticalError, events))
n.nvmlEventSetFree(events)
"""
    assert lines_of(simulation, script) == ["InvalidArgument", "InvalidArgument"]


def test_readings_can_be_replaced_by_sentinels_and_by_counters_that_grow(simulation):
    simulation.make("gemm")
    simulation.append(
        '[[override]]\nreading = "util_gpu"\nvalue = 4294967295\nfrom_ms = 1000\nuntil_ms = 2000\n'
        '[[override]]\nreading = "ecc_corrected_volatile"\nvalue = 5\nper_second = 2\nfrom_ms = 10000\n'
    )
    script = """
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
for moment in (999, 1_000, 2_000, 13_000):
    playhead.step_to(moment)
    print(n.nvmlDeviceGetUtilizationRates(d).gpu, n.nvmlDeviceGetTotalEccErrors(d, 0, 0))
"""
    assert lines_of(simulation, script) == ["0 0", "4294967295 0", "0 0", "100 11"]


def test_further_processes_come_and_go_and_a_list_grows_between_two_calls(simulation):
    simulation.make("gemm")
    scenario = simulation.folder / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("[[device]]", "[[device]]\ngrowing_lists = 1"))
    simulation.append(
        "[[process]]\npid = 4242\nmemory_bytes = 18446744073709551615\nfrom_ms = 10000\nuntil_ms = 11000\n"
        '[[process]]\npid = 77\nkind = "graphics"\nmemory_bytes = 1048576\n'
    )
    script = """
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
playhead.step_to(10_500)
get = n._nvmlGetFunctionPointer("nvmlDeviceGetComputeRunningProcesses_v3")
count = ctypes.c_uint(0)
print(get(d, ctypes.byref(count), None), count.value)
entries = (n.c_nvmlProcessInfo_v3_t * 8)()
print(get(d, ctypes.byref(count), entries), count.value)
print(get(d, ctypes.byref(count), entries), count.value, [(e.pid, e.usedGpuMemory) for e in entries[:count.value]])
print([p.pid for p in n.nvmlDeviceGetGraphicsRunningProcesses(d)])
"""
    lines = lines_of(simulation, script)
    assert lines[:2] == ["7 2", "7 3"]
    assert lines[2].startswith("0 2 [(10000, ") and lines[2].endswith("(4242, 18446744073709551615)]")
    assert lines[3] == "[77]"


def test_unfilled_slots_of_process_samples_hold_rubbish_and_may_be_counted(simulation):
    simulation.make("gemm")
    scenario = simulation.folder / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("[[device]]", "[[device]]\nreports_buffer_size = true"))
    script = """
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
playhead.step_to(7_500)
get = n._nvmlGetFunctionPointer("nvmlDeviceGetProcessUtilization")
count = ctypes.c_uint(100)
samples = (n.c_nvmlProcessUtilizationSample_t * 100)()
print(get(d, samples, ctypes.byref(count), ctypes.c_ulonglong(0)), count.value)
print(*[s.pid for s in samples[:4]], hex(samples[50].smUtil))
"""
    lines = lines_of(simulation, script)
    assert lines[0] == "0 100"
    assert lines[1] == "10000 10000 10000 2863311530 0xaaaaaaaa"


def test_a_hanging_call_ends_when_its_time_is_over_and_holds_up_no_other_gpu(simulation):
    simulation.make("gemm,fed")
    simulation.append('[[fault]]\nfunction = "nvmlDeviceGetPowerUsage"\ngpu = 0\nhangs = true\nuntil_ms = 5000\n')
    script = """
import threading
n.nvmlInit()
handles = [n.nvmlDeviceGetHandleByIndex(i) for i in range(2)]
stuck = threading.Thread(target=n.nvmlDeviceGetPowerUsage, args=(handles[0],))
stuck.start()
for _ in range(20):
    n.nvmlDeviceGetPowerUsage(handles[1])
    time.sleep(0.005)
print(stuck.is_alive())
playhead.step_to(5_000)
stuck.join(5)
print(stuck.is_alive())
"""
    assert lines_of(simulation, script) == ["True", "False"]


def test_a_library_can_be_had_without_some_of_its_functions(simulation, player, tmp_path):
    simulation.make("gemm")
    link = simulation.folder / "lib" / "libnvidia-ml.so.1"
    link.unlink()
    missing = "nvmlDeviceGetMemoryInfo_v2,nvmlDeviceGetCurrentClocksEventReasons"
    player("--library", simulation.library, "--without", missing, "--output", link)
    script = """
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
print(outcome(n.nvmlDeviceGetMemoryInfo, d, n.nvmlMemory_v2), outcome(n.nvmlDeviceGetMemoryInfo, d))
print(outcome(n.nvmlDeviceGetCurrentClocksEventReasons, d), outcome(n.nvmlDeviceGetCurrentClocksThrottleReasons, d))
"""
    assert lines_of(simulation, script) == ["FunctionNotFound ok", "FunctionNotFound 1"]
    refused = player("--library", simulation.library, "--without", "nvmlNone", "--output", link, check=False)
    assert refused.returncode == 1 and "no function 'nvmlNone'" in refused.stderr


def test_structures_with_a_wrong_version_word_are_refused(simulation):
    simulation.make("gemm")
    script = """
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
print(outcome(n.nvmlDeviceGetMemoryInfo, d, 0x01000028))
support = n.c_nvmlGpmSupport_t()
support.version = 2
print(n._nvmlGetFunctionPointer("nvmlGpmQueryDeviceSupport")(d, ctypes.byref(support)))
"""
    assert lines_of(simulation, script) == ["ArgumentVersionMismatch", "25"]


def test_short_buffers_are_refused_and_handles_are_checked(simulation):
    simulation.make("gemm")
    script = """
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
name = ctypes.create_string_buffer(96)
get = n._nvmlGetFunctionPointer("nvmlDeviceGetName")
print(get(d, name, ctypes.c_uint(5)), get(d, name, ctypes.c_uint(12)), name.value.decode())
print(get(ctypes.c_void_p(1234), name, ctypes.c_uint(96)))
print(outcome(n.nvmlDeviceGetHandleByIndex, 1), outcome(n.nvmlDeviceGetHandleByUUID, "GPU-none"))
print(n.nvmlDeviceGetIndex(n.nvmlDeviceGetHandleByPciBusId("0000:01:00.0")))
n.nvmlShutdown()
print(outcome(n.nvmlDeviceGetCount))
"""
    assert lines_of(simulation, script) == [
        "7 0 NVIDIA H200",
        "2",
        "InvalidArgument NotFound",
        "0",
        "Uninitialized",
    ]


def test_what_the_recorded_gpu_did_not_have_is_not_supported(simulation):
    simulation.make("gemm")
    script = """
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
print(outcome(n.nvmlDeviceGetFanSpeed, d), outcome(n.nvmlDeviceGetNvLinkState, d, 0))
print(*[f.nvmlReturn for f in n.nvmlDeviceGetFieldValues(d, [138, 139, 91, 170, 186])])
print(outcome(n.nvmlDeviceGetSamples, d, n.NVML_PROCESSOR_CLK_SAMPLES, 0), outcome(n.nvmlDeviceGetSamples, d, 7, 0))
print(n.nvmlDeviceGetMigMode(d), n.nvmlDeviceGetEccMode(d), n.nvmlDeviceGetRemappedRows(d))
print(hex(n.nvmlDeviceGetSupportedEventTypes(d)))
"""
    assert lines_of(simulation, script) == [
        "NotSupported NotSupported",
        "3 3 3 3 0",
        "NotFound InvalidArgument",
        "[0, 0] [1, 1] (0, 0, 0, 0)",
        "0xff9f",
    ]


def test_calls_are_counted_by_function(simulation):
    simulation.make("gemm")
    script = """
n.nvmlInit()
d = n.nvmlDeviceGetHandleByIndex(0)
for _ in range(7):
    n.nvmlDeviceGetPowerUsage(d)
"""
    lines_of(simulation, script)
    assert simulation.playhead.calls() == {
        "nvmlInitWithFlags": 1,  # what this client calls
        "nvmlDeviceGetHandleByIndex_v2": 1,
        "nvmlDeviceGetPowerUsage": 7,
    }


def test_a_scenario_with_a_mistake_says_where_and_the_library_does_not_start(simulation):
    simulation.make("gemm")
    simulation.append("[[fault]]\nfunktion = 1\n")
    result = simulation.run(PRELUDE + "print(outcome(n.nvmlInit))")
    assert result.stdout == "DriverNotLoaded\n"
    number = len((simulation.folder / "scenario.toml").read_text().splitlines())
    assert f"scenario.toml:{number}: no key 'funktion' here" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_eleven_gpus_take_little_memory_and_start_at_once(simulation):
    simulation.make("all")
    script = """
def resident():
    return int(next(l for l in open("/proc/self/status") if l.startswith("RssAnon")).split()[1])

ctypes.CDLL("libnvidia-ml.so.1")
before = resident()
n.nvmlInit()
print(resident() - before)
"""
    grown_kb = int(lines_of(simulation, script)[0])
    assert grown_kb <= 6 * 1024

# SPDX-License-Identifier: Apache-2.0
"""nvitop, a monitor of its own making, on the simulation."""

import json

import trace

MOMENTS_MS = (3_000, 14_500, 26_000, 61_000)

READ_ALL = """
import json, sys
from nvitop import Device
from playhead import Playhead

playhead = Playhead(sys.argv[1])
for moment in json.loads(sys.argv[2]):
    playhead.step_to(moment)
    for i, d in enumerate(Device.all()):
        print(json.dumps({
            "moment": moment, "gpu": i, "name": d.name(), "uuid": d.uuid(), "bus": d.bus_id(),
            "util_gpu": d.gpu_utilization(), "util_mem": d.memory_utilization(),
            "fb_used_b": d.memory_used(), "fb_reserved_b": d.memory_total() - d.memory_used() - d.memory_free(),
            "power_mw": d.power_usage(), "temp_c": d.temperature(),
            "sm_mhz": d.sm_clock(), "mem_mhz": d.memory_clock(),
            "limit": d.power_limit(), "fan": str(d.fan_speed()),
            "processes": {pid: p.gpu_memory() for pid, p in d.processes().items()},
        }))
"""


def test_nvitop_reads_what_the_traces_say(simulation):
    simulation.make("all")
    result = simulation.run(READ_ALL, json.dumps(MOMENTS_MS))
    assert result.returncode == 0, result.stderr
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(answers) == len(MOMENTS_MS) * len(trace.NAMES)
    for answer in answers:
        recorded = trace.load(trace.NAMES[answer["gpu"]])
        for column in ("util_gpu", "util_mem", "fb_used_b", "fb_reserved_b", "power_mw", "temp_c", "sm_mhz", "mem_mhz"):
            assert answer[column] == recorded.value(column, answer["moment"]), (recorded.name, column)
        assert answer["name"] == "NVIDIA H200"
        assert answer["bus"] == f"00000000:{answer['gpu'] + 1:02X}:00.0"
        assert (answer["limit"], answer["fan"]) == (700_000, "N/A")
        process = recorded.process(answer["moment"])
        if process:
            assert list(answer["processes"].values()) == [int(process["used_mem_b"])]
    assert len({answer["uuid"] for answer in answers}) == len(trace.NAMES)

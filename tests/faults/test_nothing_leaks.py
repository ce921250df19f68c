# SPDX-License-Identifier: Apache-2.0
"""
Fault: the same fault over and over: a GPU lost and back, hung and left alone, the driver reloaded
Seen: descriptors, threads, processes, files and memory are afterwards what they were before
For: 100 rounds with `./dev test --all`, 10 otherwise
Clears: nothing is left to clear
"""

import os

from faulty import FINE_MS, WHILE_BROKEN, fault
from leaks import count, memory_kb, unlike
from program import wait_until

ROUNDS = 100 if os.environ.get("EVERYWATT_TEST_ALL") else 10
SHORT = (
    "--set", "driver.call_deadline_seconds=0.2",
    "--set", "driver.retry_seconds=0.1",
    "--set", "driver.retry_max_seconds=1",
    "--set", "lanes.slow_seconds=1",
)  # fmt: skip
# Rings that fill up are shared memory, which is not counted; the rest is what an allocator keeps.
GROWTH_KB = 2_048


def go_round(machine, wait_for_fault) -> None:
    """Breaks it, waits until that is seen, mends it, and waits until all is well."""
    machine.break_it()
    wait_for_fault()
    machine.jump_to(FINE_MS)
    wait_until(lambda: machine.ready() == (200, ["ready"]), machine.ready)


def check_rounds(machine, wait_for_fault, after_round=lambda: None) -> None:
    machine.wait_until_ready()
    # What is made at the first fault and kept is no leak.
    for _ in range(2):
        go_round(machine, wait_for_fault)
        after_round()
    before, memory = count(machine), memory_kb(machine)
    for _ in range(ROUNDS):
        go_round(machine, wait_for_fault)
        after_round()
    # A connection of ours may not be closed yet.
    wait_until(lambda: unlike(before, count(machine)) == {}, lambda: unlike(before, count(machine)))
    for part, kb in memory_kb(machine).items():
        assert kb < memory[part] + GROWTH_KB, part


def test_a_gpu_lost_and_back(machine):
    broken = machine("gemm,fed", fault("*", "gpu = 1", 'return = "GPU_IS_LOST"'), settings=SHORT)
    check_rounds(broken, lambda: wait_until(lambda: broken.ready()[0] == 503, broken.ready))


def test_the_driver_unloaded_and_loaded(machine):
    not_loaded = f"[[library]]\nnot_loaded = true\n{WHILE_BROKEN}"
    broken = machine("gemm,fed", not_loaded, settings=SHORT)
    check_rounds(broken, lambda: wait_until(lambda: broken.ready()[0] == 503, broken.ready))


def test_a_gpu_that_hangs_and_is_left_alone(machine):
    hangs = [
        fault(name, "gpu = 1", "hangs = true", "signals_masked = true")
        for name in ("nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureV")
    ]
    broken = machine("gemm,fed", *hangs, settings=SHORT)

    def wait_for_fault():
        wait_until(lambda: "GPU 1: timed_out" in broken.ready()[1], broken.ready)
        # Tried again at once, and not ever more seldom.
        broken.jump_to(FINE_MS)
        broken.daemon.run("drain", code=0)
        broken.daemon.run("resume", code=0)

    check_rounds(broken, wait_for_fault)


def test_readers_and_commands(machine):
    broken = machine("gemm,fed")
    broken.wait_until_fresh()
    broken.daemon.fetch("/metrics")
    before = count(broken)
    for _ in range(ROUNDS):
        for path in ("/metrics", "/api/v1/gpus", "/readyz"):
            broken.daemon.fetch(path)
        broken.daemon.run("get", "gpu_power_watts", code=0)
        broken.daemon.run("events", code=0)
    wait_until(lambda: unlike(before, count(broken)) == {}, lambda: unlike(before, count(broken)))

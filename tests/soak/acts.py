# SPDX-License-Identifier: Apache-2.0
"""Random trouble for eight GPUs, an act at a time, all of it from a seed."""

import random
from dataclasses import dataclass, field

GPUS = 8
TRACES = ("gemm", "fed", "synthetic", "bursty_inference")
# The trouble of an act begins so long after its start and is over so long before its end.
LEAD_MS, TAIL_MS = 2_000, 8_000

CALLS = (
    "nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureV", "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetClockInfo", "nvmlDeviceGetFieldValues",
    "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlGpmSampleGet",
    "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetSamples",
)  # fmt: skip
CODES = ("UNKNOWN", "NO_PERMISSION", "NOT_SUPPORTED", "IN_USE", "MEMORY", "TIMEOUT", "GPU_IS_LOST")
GARBAGE = ("ones", "zeros", "random", "nan", "huge", "text")
XIDS = (13, 31, 43, 48, 63, 74, 79, 94, 95, 119)


@dataclass
class Act:
    number: int
    begin_ms: int
    length_ms: int
    sections: list[str] = field(default_factory=list)
    # GPUs about which nothing is wrong.
    innocent: set[int] = field(default_factory=lambda: set(range(GPUS)))
    # (seconds after the start, part to be killed)
    kills: list[tuple[float, str]] = field(default_factory=list)
    storms: list[float] = field(default_factory=list)
    what: list[str] = field(default_factory=list)


def scenario_head(source) -> str:
    devices = [f'[[device]]\ntrace = "{source}/traces/{TRACES[i % len(TRACES)]}"\n' for i in range(GPUS)]
    return 'playhead = "playhead"\n\n' + "".join(devices)


class Script:
    def __init__(self, seed: int):
        self._random = random.Random(seed)

    def next_act(self, number: int, begin_ms: int, length_ms: int) -> Act:
        act = Act(number, begin_ms, length_ms)
        for gpu in self._random.sample(range(GPUS), self._random.randint(1, 3)):
            act.innocent.discard(gpu)
            trouble = self._random.choice(
                (self._lost, self._hang, self._crash, self._garbage, self._codes, self._slow)
            )
            act.what.append(f"GPU {gpu}: {trouble(act, gpu)}")
        self._events(act)
        if self._random.random() < 0.2:
            act.what.append(f"all: {self._driver(act)}")
            act.innocent.clear()
        for part in self._random.sample(("sampler", "host", "server"), self._random.randint(0, 2)):
            at = self._random.uniform(1, (length_ms - TAIL_MS) / 1000)
            act.kills.append((at, part))
            act.what.append(f"kill {part} at {at:.1f} s")
        if self._random.random() < 0.3:
            act.storms.append(self._random.uniform(0, (length_ms - TAIL_MS) / 1000))
        return act

    def _span(self, act: Act, longest_ms: int) -> str:
        last = act.begin_ms + act.length_ms - TAIL_MS
        begin = self._random.randint(act.begin_ms + LEAD_MS, last - 1_000)
        end = min(begin + self._random.randint(500, longest_ms), last)
        return f"from_ms = {begin}\nuntil_ms = {end}\n"

    def _fault(self, act: Act, gpu: int, function: str, *lines: str, longest_ms: int = 5_000) -> None:
        act.sections.append("\n".join(
            ["[[fault]]", f'function = "{function}"', f"gpu = {gpu}", *lines, self._span(act, longest_ms)]
        ))  # fmt: skip

    def _lost(self, act: Act, gpu: int) -> str:
        self._fault(act, gpu, "*", 'return = "GPU_IS_LOST"')
        return "lost"

    def _hang(self, act: Act, gpu: int) -> str:
        call = self._random.choice(("*", *CALLS))
        masked = self._random.choice(("true", "false"))
        self._fault(act, gpu, call, "hangs = true", f"signals_masked = {masked}")
        return f"{call} hangs"

    def _crash(self, act: Act, gpu: int) -> str:
        call, times = self._random.choice(CALLS), self._random.randint(1, 3)
        self._fault(act, gpu, call, "crash = true", f"times = {times}")
        return f"{call} crashes {times} times"

    def _garbage(self, act: Act, gpu: int) -> str:
        kind = self._random.choice(GARBAGE)
        self._fault(act, gpu, "*", f'garbage = "{kind}"')
        return f"garbage {kind}"

    def _codes(self, act: Act, gpu: int) -> str:
        calls = self._random.sample(CALLS, 4)
        for call in calls:
            self._fault(act, gpu, call, f'return = "{self._random.choice(CODES)}"')
        return f"errors of {', '.join(calls)}"

    def _slow(self, act: Act, gpu: int) -> str:
        self._fault(act, gpu, "*", f"delay_ms = {self._random.randint(1, 100)}")
        return "slow"

    def _events(self, act: Act) -> None:
        for _ in range(self._random.randint(0, 5)):
            at = self._random.randint(act.begin_ms, act.begin_ms + act.length_ms - TAIL_MS)
            gpu, xid = self._random.randrange(GPUS), self._random.choice(XIDS)
            act.sections.append(f"[[event]]\ngpu = {gpu}\nat_ms = {at}\nxid = {xid}\n")

    def _driver(self, act: Act) -> str:
        what = self._random.choice(("mismatch", "not_loaded"))
        act.sections.append(f"[[library]]\n{what} = true\n{self._span(act, 4_000)}")
        return what

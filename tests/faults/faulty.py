# SPDX-License-Identifier: Apache-2.0
"""A machine with simulated GPUs on which something breaks at a moment that the test chooses.

Time is played in real time, from FINE_MS on. What a scenario holds between BROKEN_MS and MENDED_MS
happens when the test calls break_it() and is over when it calls mend_it(): both jump there.
"""

import http.client
import json
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import program
from playhead import Playhead
from program import wait_until

FINE_MS, BROKEN_MS, MENDED_MS = 1_000, 60_000, 120_000
WHILE_BROKEN = f"from_ms = {BROKEN_MS}\nuntil_ms = {MENDED_MS}\n"

# Deadlines and pauses short enough for a test. A fence is up for 15 times the pause.
CALL_DEADLINE_S, RETRY_S, RETRY_MAX_S = 0.5, 0.2, 1
FENCE_S = 15 * RETRY_S
QUICK = (
    "--set", f"driver.call_deadline_seconds={CALL_DEADLINE_S}",
    "--set", f"driver.retry_seconds={RETRY_S}",
    "--set", f"driver.retry_max_seconds={RETRY_MAX_S}",
    "--set", "lanes.slow_seconds=1",
)  # fmt: skip
# What the other GPUs may miss.
MISSED_S = 1.0
PERIOD_S = 0.1


def fault(function: str, *lines: str, when: str = WHILE_BROKEN) -> str:
    return "\n".join(["[[fault]]", f'function = "{function}"', *lines, when])


class FaultyMachine:
    def __init__(self, folder: Path, demo: str, sections=(), profile: str = "h200", daemon=True,
                 arguments=(), starts_at_ms: float = FINE_MS, env: dict | None = None, settings=QUICK):  # fmt: skip
        self.folder = folder
        self.sim = folder / "sim"
        self.run_folder = folder / "run"
        folder.mkdir()
        self.run_folder.mkdir()
        self.daemon = None
        self._player = None
        make = [program.PLAYER, "--make", self.sim, "--demo", demo, "--profile", profile]
        subprocess.run([*make, "--stepped"], check=True, timeout=60)
        with open(self.sim / "scenario.toml", "a") as file:
            file.write("\n" + "\n".join(sections))
        self.root = self.sim / "root"
        self.playhead = Playhead(self.sim / "playhead")
        self.playhead.step_to(starts_at_ms)
        self._player = subprocess.Popen([program.PLAYER, "--play", self.sim])
        self.playhead.wait_for_root(self.root)
        self.playhead.run()
        self.env, self.settings = env or {}, settings
        if daemon:
            try:
                self.start(*arguments)
            except BaseException:
                self.close()
                raise

    @property
    def library(self) -> Path:
        """The driver's library; one that is absent at times is a link that the player keeps."""
        is_link = "absent" in (self.sim / "scenario.toml").read_text()
        return self.sim / "lib/libnvidia-ml.so.1" if is_link else program.LIBRARY

    def start(self, *arguments, library: Path | None = None, **options) -> program.Daemon:
        self.daemon = program.Daemon(
            self.run_folder, "--nvml-library", library or self.library, "--host-root", self.root,
            *self.settings,
            *arguments,
            env=program.environment(EVERYWATT_SIM=str(self.sim), **self.env), **options,
        )  # fmt: skip
        return self.daemon

    def close(self) -> None:
        if self.daemon:
            self.daemon.kill()
        if self._player:
            self._player.kill()
            self._player.wait()

    def lay(self, scenario: str, played_ms: float) -> None:
        """Another scenario, for what is initialised from now on; played from there on."""
        if self._player:
            self._player.kill()
            self._player.wait()
        (self.sim / "scenario.toml").write_text(scenario)
        self._player = subprocess.Popen([program.PLAYER, "--play", self.sim])
        self.jump_to(played_ms)

    def jump_to(self, played_ms: float) -> None:
        self.playhead.step_to(played_ms)
        self.playhead.run()

    def break_it(self) -> None:
        self.jump_to(BROKEN_MS)

    def mend_it(self) -> None:
        self.jump_to(MENDED_MS)

    # What a user sees.

    def events(self, kind: str | None = None, device: str | None = None) -> list[dict]:
        lines = self.daemon.run("events", "--json", code=0).stdout.splitlines()
        return [
            event
            for event in map(json.loads, lines)
            if kind in (None, event["event"]) and device in (None, event.get("device"))
        ]

    def wait_for_event(self, kind: str, device: str | None = None, count: int = 1) -> dict:
        wait_until(
            lambda: len(self.events(kind, device)) >= count,
            lambda: f"{count} {kind} of {device}: {self.events()}",
        )
        return self.events(kind, device)[count - 1]

    def why(self, gpu: int | str, metric: str = "gpu_power_watts") -> str:
        return self.daemon.run("why", metric, "--gpu", gpu).stdout

    def state(self, gpu: int | str, metric: str = "gpu_power_watts") -> str:
        (reading,) = json.loads(
            self.daemon.run("get", metric, "--gpu", gpu, "--json").stdout
        )["readings"]  # fmt: skip
        return reading["state"]

    def wait_for_state(self, gpu: int | str, state: str, metric: str = "gpu_power_watts"):
        wait_until(
            lambda: self.state(gpu, metric) == state,
            lambda: f"GPU {gpu} {state}: {self.why(gpu, metric)}",
        )

    def ready(self) -> tuple[int, list[str]]:
        """/readyz: its code and its lines."""
        request = urllib.request.Request(self.daemon.url + "/readyz")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode().splitlines()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode().splitlines()

    def wait_until_ready(self) -> None:
        wait_until(lambda: self.ready()[0] == 200, self.ready)

    def wait_until_fresh(self) -> None:
        """Until all is well and each GPU has a second of readings behind it."""
        self.wait_until_ready()
        begun = time.time_ns()
        wait_until(lambda: time.time_ns() - begun > 1_000_000_000, "a second")

    def parts(self) -> dict[str, int]:
        return self.daemon.parts()

    def wait_for_parts(self) -> dict[str, int]:
        return wait_until(
            lambda: {"sampler", "host", "server"} <= self.parts().keys() and self.parts(), self.parts
        )

    def times_of(self, gpu: int | str, metric: str = "gpu_power_watts") -> list[int]:
        """Of the good rows of the recorder, as wall time."""
        answer = json.loads(
            self.daemon.run("history", metric, "--gpu", gpu, "--since", "10m", "--json").stdout
        )
        (series,) = answer["series"]
        return [at for at, _, state, _ in series["points"] if state == "ok"]

    def newest_ns(self, gpu: int | str) -> int:
        return max(self.times_of(gpu), default=0)

    def longest_gap_s(self, gpu: int | str, since_ns: int, metric: str = "gpu_power_watts") -> float:
        """Between good rows of the recorder, from that wall time until now."""
        times = [at for at in self.times_of(gpu, metric) if at >= since_ns]
        times = [since_ns, *times, time.time_ns()]
        return max(b - a for a, b in zip(times, times[1:])) / 1e9

    def check_fresh(self, gpus, since_ns: int) -> None:
        gaps = {gpu: self.longest_gap_s(gpu, since_ns) for gpu in gpus}
        # The end of the last gap is when the row was looked for, by a program that has to start.
        assert max(gaps.values()) <= MISSED_S + PERIOD_S + 0.1, gaps


SUM = re.compile(r"^(\w+_total(?:\{[^}]*\})?) (\S+)$", re.MULTILINE)


def read_sums(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in SUM.findall(text)}


def driver_counts() -> str:
    """A pattern for sums that are the driver's own; it may lie about them."""
    ours = [m["name"] for m in program.run_json("catalog") if m["lane"] in ("totals", "faults")]
    return rf"^(?!{'|'.join(ours)})"


class Readers:
    """Reads all the while, as scrapers and pages do: nothing may hold it up, no sum may fall.

    Leaving it says since when (wall clock) it looked, and checks what it saw."""

    SLOWEST_S = 2.0
    # Of a process that is gone nothing is kept, and another may have its pid. The machine's idle time
    # is what the jump's busy time leaves of it. What a part of ours did ends with it.
    MAY_FALL = ("pid=", "^host_cpu_seconds_total", "part=")

    def __init__(self, machine: FaultyMachine, may_fail: bool = False, may_fall=()):
        """`may_fail`: the server may be away. `may_fall`: patterns of sums that are not ours."""
        self._daemon = machine.daemon
        self._may_fall = [re.compile(each) for each in (*self.MAY_FALL, *may_fall)]
        self._may_fail = may_fail
        self._is_over = threading.Event()
        self.complaints: list[str] = []
        self.rounds = 0
        self.slowest_s = 0.0
        self.sums: dict[str, float] = {}
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._is_over.is_set():
            for path in ("/metrics", "/api/v1/gpus"):
                begin = time.monotonic()
                try:
                    text = self._daemon.fetch(path)
                # The latter: the server was killed in the middle of an answer.
                except (OSError, http.client.HTTPException) as error:
                    if not self._may_fail:
                        self.complaints.append(f"{path}: {error}")
                    continue
                self.slowest_s = max(self.slowest_s, time.monotonic() - begin)
                if path == "/metrics":
                    self._check_sums(text)
            self.rounds += 1
            self._is_over.wait(0.05)

    def _check_sums(self, text: str) -> None:
        for name, value in read_sums(text).items():
            before = self.sums.get(name, 0)
            if value < before and not any(each.search(name) for each in self._may_fall):
                self.complaints.append(f"{name} fell from {before} to {value}")
            self.sums[name] = value

    def __enter__(self) -> "Readers":
        self.since_ns = time.time_ns()
        self._thread.start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._is_over.set()
        self._thread.join()
        if kind is None:
            assert not self.complaints, self.complaints[:5]
            assert self.rounds > 0
            assert self.slowest_s < self.SLOWEST_S

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures Everywatt on a real GPU under a PyTorch load, and the other tools beside it.

    measure.py STAGE... [--out FILE]     stages: look compare xid cost start pairs

Needs PyTorch, torchvision, pynvml and nvcc. Writes one JSON document with what each stage found.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import compare  # noqa: E402
from daemon import Daemon  # noqa: E402
from processes import cpu_seconds, tree  # noqa: E402

BARE = Path(os.environ.get("EVERYWATT_BARE", HERE.parent.parent / "build/release/bench/bare_nvml"))
HARDWARE_PACE = ["--set", 'lanes.gpm_pace="fast"']
SECOND_PACE = ["--set", 'lanes.gpm_pace="slow"']


class Load:
    """train.py in the background, ready when its first steps are done."""

    def __init__(self, *arguments: str):
        self.process = subprocess.Popen([sys.executable, HERE / "train.py", *arguments],
                                        stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def __enter__(self) -> "Load":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def stage_look() -> dict:
    """All that it reads, idle and under load, with the reasons for what is absent."""
    out = {}
    with Daemon() as daemon:
        daemon.wait_ready()
        with Load("--seconds", "60"):
            time.sleep(12)
            out["screen"] = daemon.command()
            out["discover"] = daemon.command("discover")
            out["processes"] = daemon.command("processes")
            out["metrics"] = daemon.get("/metrics").decode()
            out["gpus"] = json.loads(daemon.get("/api/v1/gpus"))
        time.sleep(1.5)
        out["events"] = daemon.command("events", "--since", "5m")
        out["log"] = daemon.lines
    return out


def stage_compare() -> dict:
    with Daemon() as daemon:
        daemon.wait_ready()
        with Load("--seconds", "60"):
            time.sleep(2)
            return {"pynvml": compare.compare_gauges(daemon, 10),
                    "nvidia_smi": compare.compare_smi(daemon)}


def stage_xid() -> dict:
    runs = []
    with tempfile.TemporaryDirectory() as folder, Daemon() as daemon:
        program = f"{folder}/fault"
        subprocess.run(["nvcc", "-o", program, str(HERE / "fault.cu")], check=True)
        daemon.wait_ready()
        offset_ns = time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        for _ in range(5):
            done = subprocess.run([program], text=True, capture_output=True, check=False)
            fault = json.loads(done.stdout)
            seen_ns = wait_for_metric(daemon)
            time.sleep(0.5)
            events = [json.loads(line) for line in
                      daemon.command("events", "--since", "1m", "--json").splitlines()]
            xids = [e for e in events if e["event"] == "xid" and e.get("code") == 31
                    and e["unix_ns"] >= fault["before_ns"] + offset_ns - 50_000_000]
            runs.append({
                "fault": fault,
                "events": [{"source": e["source"], "pid": e.get("pid"), "text": e.get("text"),
                            "boottime_s": (e["unix_ns"] - offset_ns) / 1e9,
                            "after_launch_ms":
                                (e["unix_ns"] - offset_ns - fault["before_ns"]) / 1e6}
                           for e in xids],
                "metric_after_program_ms": (seen_ns - fault["after_ns"]) / 1e6})
        # The kernel's own stamps (seconds since boot) beside the times of our events.
        kernel = re.findall(r"\[\s*([0-9.]+)\] NVRM: Xid[^,]*, pid=(\d+)", subprocess.run(
            ["dmesg"], check=False, text=True, capture_output=True).stdout)
        return {"runs": runs, "kernel": kernel[-len(runs):], "log": daemon.lines}


def wait_for_metric(daemon: Daemon) -> int:
    """Boottime at which the count of XID 31 has grown on /metrics."""
    def count() -> float:
        text = daemon.get("/metrics?names=native").decode()
        found = re.search(r'^gpu_xid_errors_total\{[^}]*xid="31"[^}]*\} (\S+)', text, re.MULTILINE)
        return float(found[1]) if found else 0

    last = getattr(daemon, "xids_seen", 0)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        now = count()
        if now > last:
            daemon.xids_seen = now
            return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        time.sleep(0.005)
    return 0


def cost_of(command: list, seconds: float) -> dict:
    """CPU of another tool: from its second second on, all its processes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL)
    try:
        time.sleep(2)
        pids = tree(process.pid)
        before = sum(cpu_seconds(pid) for pid in pids)
        start = time.monotonic()
        time.sleep(seconds)
        used = sum(cpu_seconds(pid) for pid in pids) - before
        status = Path(f"/proc/{pids[-1]}/status").read_text()
        return {"cpu_ratio": used / (time.monotonic() - start),
                "rss_mib": int(re.search(r"VmRSS:\s*(\d+)", status)[1]) / 1024}
    finally:
        process.kill()
        process.wait()


def bare(seconds: int, gpm_ms: int) -> dict:
    return json.loads(subprocess.run([BARE, str(seconds), str(gpm_ms)], check=True, text=True,
                                     capture_output=True).stdout)


def everywatt_cost(seconds: float, *arguments: str) -> dict:
    with Daemon(*arguments) as daemon:
        daemon.wait_ready()
        time.sleep(12)
        return {"cpu_ratio": daemon.cpu_ratio(seconds), "pss_bytes": daemon.private_bytes(),
                "self": [line for line in daemon.get("/metrics?names=self").decode().splitlines()
                         if not line.startswith("#")], "log": daemon.lines}


def stage_cost() -> dict:
    out = {}
    with Load("--seconds", "600"):
        out["default_gpm_1s"] = everywatt_cost(40, *SECOND_PACE)
        out["bare_gpm_1s"] = bare(40, 1000)
        out["hardware_pace"] = everywatt_cost(40, *HARDWARE_PACE)
        out["bare_hardware_pace"] = bare(40, 100)
        out["nvidia_smi_dmon_1s"] = cost_of(["nvidia-smi", "dmon", "-d", "1"], 20)
        out["nvitop_1s"] = cost_of(
            ["script", "-qec", f"stty cols 160 rows 50; {sys.executable} -m nvitop --monitor full "
             "--interval 1", "/dev/null"], 20)
    return out


def stage_start() -> dict:
    """From exec to the first gauge row, and what NVML's own init takes on this machine."""
    out = []
    for _ in range(5):
        with Daemon() as daemon:
            daemon.wait_ready()
            time.sleep(0.5)
            answer = json.loads(daemon.command("history", "gpu_power_watts", "--since", "1m", "--json"))
            first_ns = answer["series"][0]["points"][0][0]
            out.append({"first_gauge_ms": first_ns / 1e6 - daemon.started_wall * 1e3,
                        "bare_init_ms": bare(1, 1000)["init_ms"]})
    return {"runs": out}


def stage_pairs(pairs: int) -> dict:
    """Training speed watched and unwatched, in pairs; the mean ratio with its 95 % interval."""
    # A stopped process looks like a driver call that hangs: let it, for these windows.
    with Daemon("--set", "driver.call_deadline_seconds=60") as daemon:
        daemon.wait_ready()
        pids = ",".join(map(str, daemon.pids()))
        lines = subprocess.run(
            [sys.executable, HERE / "train.py", "--pairs", str(pairs), "--seconds", "0.8",
             "--pids", pids], check=True, text=True, capture_output=True).stdout.splitlines()
    rates: dict[int, dict[bool, float]] = {}
    for line in map(json.loads, lines[1:]):
        rates.setdefault(line["pair"], {})[line["watched"]] = line["steps"] / line["seconds"]
    ratios = [pair[True] / pair[False] for pair in rates.values()]
    half = 1.984 * statistics.stdev(ratios) / len(ratios) ** 0.5  # t for about 100 pairs
    return {"pairs": len(ratios), "watched_per_unwatched": statistics.mean(ratios),
            "interval_95": [statistics.mean(ratios) - half, statistics.mean(ratios) + half],
            "unwatched_steps_per_s": statistics.median(p[False] for p in rates.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="+",
                        choices=["look", "compare", "xid", "cost", "start", "pairs"])
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--out", default="measured.json")
    options = parser.parse_args()
    found = {}
    for stage in options.stages:
        start = time.monotonic()
        try:
            found[stage] = stage_pairs(options.pairs) if stage == "pairs" else \
                globals()[f"stage_{stage}"]()
        except Exception as error:  # one stage that fails must not cost the others
            found[stage] = {"error": f"{type(error).__name__}: {error}",
                            "stderr": getattr(error, "stderr", None)}
        print(f"{stage}: {time.monotonic() - start:.0f} s", flush=True)
        Path(options.out).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

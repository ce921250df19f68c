#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What faults and rights come to on a real GPU under a PyTorch load.

    unbreakable.py STAGE... [--out FILE]     stages: kill drain user

kill: SIGKILL to the sampler, the host process and the server in turn: does the job notice, how long
is the gap. drain: drain and resume under load: what is still open. user: what an ordinary user's
daemon cannot see. Needs PyTorch and root. Writes one JSON document.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from daemon import PROGRAM, Daemon  # noqa: E402
from measure import Load  # noqa: E402
from processes import name  # noqa: E402

USER = 65534  # nobody


class WatchedLoad(Load):
    """A load whose windows of a second are kept."""

    def stop(self) -> list[dict]:
        self.process.terminate()
        lines = self.process.stdout.read().splitlines()
        self.process.wait()
        return [json.loads(line) for line in lines if line.endswith("}")]


def rates(windows: list[dict], since: float, until: float) -> dict:
    found = [w["steps"] / w["seconds"] for w in windows if since <= w["t"] - w["seconds"] and
             w["t"] <= until]
    return {"windows": len(found), "mean_steps_per_s": statistics.mean(found) if found else None,
            "least_steps_per_s": min(found, default=None)}


def part(daemon: Daemon, wanted: str) -> int | None:
    return next((pid for pid in daemon.pids() if f"part {wanted}" in name(pid)), None)


def gaps_ms(daemon: Daemon, metric: str, since: str) -> list[float]:
    """The three longest spans between neighbouring rows."""
    answer = json.loads(daemon.command("history", metric, "--since", since, "--json"))
    times = [point[0] for point in answer["series"][0]["points"]]
    return sorted(((b - a) / 1e6 for a, b in zip(times, times[1:])), reverse=True)[:3]


def totals(daemon: Daemon) -> dict[str, float]:
    lines = daemon.get("/metrics?names=native").decode().splitlines()
    samples = (line.rsplit(" ", 1) for line in lines if line.startswith("gpu_"))
    return {series: float(value) for series, value in samples
            if series.split("{")[0].endswith("_total")}


def fallen(before: dict[str, float], after: dict[str, float]) -> list[str]:
    return [key for key, value in before.items() if after.get(key, value) < value]


def stage_kill() -> dict:
    out = {}
    load = WatchedLoad("--seconds", "300")
    with Daemon() as daemon:
        daemon.wait_ready()
        time.sleep(6)
        quiet = (time.monotonic() - 5, time.monotonic())
        for wanted in ("sampler", "host", "server"):
            before, pid, start = totals(daemon), part(daemon, wanted), time.monotonic()
            os.kill(pid, 9)
            while part(daemon, wanted) in (pid, None):
                time.sleep(0.002)
            replaced = time.monotonic()
            time.sleep(4)
            out[wanted] = {
                "replaced_after_ms": (replaced - start) * 1e3,
                "longest_gaps_ms": gaps_ms(daemon, "gpu_power_watts", "5s"),
                "fallen": fallen(before, totals(daemon)),
                "around": (start - 0.5, time.monotonic())}
        out["events"] = daemon.command("events", "--since", "1m").splitlines()[-12:]
        windows = load.stop()
        out["unkilled"] = rates(windows, *quiet)
        for wanted in ("sampler", "host", "server"):
            out[wanted]["job"] = rates(windows, *out[wanted].pop("around"))
    return out


def driver_traces(daemon: Daemon) -> list[str]:
    """Mappings of the driver's library and open device nodes in any of our processes."""
    found = []
    for pid in daemon.pids():
        maps = Path(f"/proc/{pid}/maps").read_text()
        found += [f"{name(pid)}: maps {line.split()[-1]}" for line in maps.splitlines()
                  if "nvidia" in line]
        for link in Path(f"/proc/{pid}/fd").iterdir():
            target = os.readlink(link)
            if "/dev/nvidia" in target:
                found.append(f"{name(pid)}: opens {target}")
    return sorted(set(found))


def stage_drain() -> dict:
    out = {}
    load = WatchedLoad("--seconds", "300")
    with Daemon() as daemon:
        daemon.wait_ready()
        time.sleep(4)
        before = totals(daemon)
        out["before"] = driver_traces(daemon)
        start = time.monotonic()
        out["drain_says"] = daemon.command("drain").strip()
        out["drain_ms"] = (time.monotonic() - start) * 1e3
        out["drained"] = driver_traces(daemon)
        time.sleep(3)
        out["get_while_drained"] = subprocess.run(
            [PROGRAM, "get", "gpu_power_watts"], text=True, capture_output=True, check=False,
            env=os.environ | {"EVERYWATT_RUN_DIR": str(daemon.folder / "run")}).stdout
        start = time.monotonic()
        out["resume_says"] = daemon.command("resume").strip()
        daemon.wait_ready()
        out["resume_to_ready_ms"] = (time.monotonic() - start) * 1e3
        time.sleep(2)
        out["fallen"] = fallen(before, totals(daemon))
        out["longest_gaps_ms"] = gaps_ms(daemon, "gpu_power_watts", "20s")
        out["events"] = daemon.command("events", "--since", "1m").splitlines()[-8:]
        windows = load.stop()
        out["job"] = rates(windows, 0, time.monotonic())
    return out


def stage_user() -> dict:
    """An ordinary user's daemon beside root's load: the metrics that it lacks, and why."""
    with Load("--seconds", "60"), Daemon() as own:
        own.wait_ready()
        folder = Path("/tmp/everywatt-user-run")
        log = open("/tmp/everywatt-user.log", "w", encoding="utf-8")
        process = subprocess.Popen(
            ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", PROGRAM, "serve",
             "--run-dir", folder, "--listen", "127.0.0.1:9477"], stderr=log)
        time.sleep(14)
        environment = os.environ | {"EVERYWATT_RUN_DIR": str(folder)}

        def ask(*arguments: str) -> str:
            return subprocess.run([PROGRAM, *arguments], text=True, capture_output=True,
                                  check=False, env=environment).stdout

        def names(text: str) -> set[str]:
            return {line.split("{")[0] for line in text.splitlines() if line.startswith("gpu_")}

        curl = subprocess.run(["curl", "-s", "http://127.0.0.1:9477/metrics?names=native"],
                              text=True, capture_output=True, check=False).stdout
        time.sleep(8)
        lacking = sorted(names(own.get("/metrics?names=native").decode()) - names(curl))
        found = {"lacking": {metric: ask("why", metric).strip() for metric in lacking},
                 "screen": ask(), "processes": ask("processes")}
        process.terminate()
        process.wait()
        return found | {"log": Path(log.name).read_text(encoding="utf-8")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="+", choices=["kill", "drain", "user"])
    parser.add_argument("--out", default="unbreakable.json")
    options = parser.parse_args()
    found = {}
    for stage in options.stages:
        try:
            found[stage] = globals()[f"stage_{stage}"]()
        except Exception as error:  # one stage that fails must not cost the others
            found[stage] = {"error": f"{type(error).__name__}: {error}",
                            "stderr": getattr(error, "stderr", None)}
        print(f"{stage}: done", flush=True)
        Path(options.out).write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""kill -9 of each process of a daemon."""

import json
import os
import signal
import subprocess

import pytest
from process import PARTS, all_started
from program import LIBRARY, PLAYER, environment, is_running, wait_until

TOTALS = ("gpu_observed_seconds_total", "gpu_energy_total_joules", "gpu_power_band_seconds_total")


def events(daemon) -> list[dict]:
    lines = daemon.run("events", "--json", code=0).stdout.splitlines()
    return [json.loads(line) for line in lines]


def totals(daemon) -> dict[tuple, float]:
    """From the recorder itself: the server may be the one that is gone."""
    found = {}
    for name in TOTALS:
        answer = daemon.run("get", name, "--json")
        if answer.returncode == 2:
            continue  # no such metric
        for place, reading in enumerate(json.loads(answer.stdout)["readings"]):
            if reading.get("value") is not None:
                found[name, reading.get("device"), place] = reading["value"]
    return found


def longest_gap_s(daemon, gpu: int) -> float:
    (series,) = daemon.run_json(
        "history", "gpu_temperature_celsius", "--gpu", str(gpu), "--since", "30s", "--step", "100ms"
    )["series"]
    times = [t for t, _, state, _ in series["points"] if state == "ok"]
    assert len(times) > 10
    return max(b - a for a, b in zip(times, times[1:])) / 1e9


@pytest.mark.parametrize("part", sorted(PARTS))
def test_the_others_go_on_and_it_is_replaced(serve_as, part):
    daemon = serve_as("--demo", "gemm,fed")
    before = all_started(daemon)
    wait_until(lambda: len(totals(daemon)) >= 2, "totals")
    reached = totals(daemon)
    os.kill(before[part], signal.SIGKILL)
    after = wait_until(
        lambda: (p := daemon.parts()) and set(p) == set(before) and p[part] != before[part] and p,
        f"a new {part}",
    )
    assert {k: v for k, v in after.items() if k != part} == {
        k: v for k, v in before.items() if k != part
    }
    (ended,) = [e for e in events(daemon) if e["event"] == "part_ended"]
    assert (ended["device"], ended["pid"], ended["code"]) == (part, before[part], 137)
    assert after[part] in [e["pid"] for e in events(daemon) if e["event"] == "part_started"]
    all_started(daemon)
    name = TOTALS[0]
    wait_until(
        lambda: (now := totals(daemon)) and all(
            now[key] > value for key, value in reached.items() if key[0] == name
        ),
        "growth",
    )
    now = totals(daemon)
    assert all(now[key] >= value for key, value in reached.items())
    for gpu in (0, 1):
        # A new sampler has to begin with the driver's library first.
        assert longest_gap_s(daemon, gpu) < (3 if part == "sampler" else 1)


def test_nothing_is_left_of_a_supervisor_that_is_killed_and_the_next_goes_on(serve, tmp_path):
    sim = tmp_path / "sim"
    subprocess.run([PLAYER, "--make", sim, "--demo", "gemm"], check=True)
    subprocess.run([PLAYER, "--root", sim / "root", "--sim", sim, "--once", "0"], check=True)
    named = ("--nvml-library", LIBRARY, "--host-root", sim / "root")
    env = environment(EVERYWATT_SIM=str(sim))
    daemon = serve(*named, env=env)
    parts = wait_until(lambda: (p := daemon.parts()) and PARTS <= set(p) and p, "all parts")
    reached = wait_until(lambda: totals(daemon), "totals")
    inode = (daemon.run_folder / "recorder").stat().st_ino
    daemon.process.kill()
    daemon.process.wait()
    wait_until(lambda: not any(map(is_running, parts.values())), "their end", patience_s=5)
    left = {p.name for p in daemon.run_folder.iterdir()}
    assert left <= {"recorder", "identities", "annotate.sock", "data", "journal", "lock"}
    again = serve(*named, env=env)
    assert (again.run_folder / "recorder").stat().st_ino == inode
    wait_until(
        lambda: (now := totals(again)) and all(now[k] > v for k, v in reached.items() if k[0] == TOTALS[0]),
        "growth",
    )
    assert all(totals(again)[key] >= value for key, value in reached.items())
    assert again.stop()[0] == 0

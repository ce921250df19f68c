# SPDX-License-Identifier: Apache-2.0
"""The fake host root that everywatt-player keeps in step with the simulated GPUs."""

import bisect
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
import trace


@pytest.fixture
def root_at(simulation, player, tmp_path):
    """Writes the root of a demo as it is at a played time."""
    roots = {}

    def write(demo: str, played_ms: float) -> Path:
        if demo not in roots:
            simulation.make(demo)
            roots[demo] = tmp_path / "root"
        player("--root", roots[demo], "--sim", simulation.folder, "--once", played_ms)
        return roots[demo]

    return write


def cpu_ticks(root: Path, pid: int) -> int:
    cells = (root / f"proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(cells[11]) + int(cells[12])


def recorded_cpu_seconds(name: str, column: str, from_ms: float, until_ms: float) -> float:
    """CPU seconds between two times of a trace, row by row."""
    rows = trace.load(name).host_rows
    times = [float(row["t_ms"]) for row in rows]
    seconds = 0.0
    for i in range(1, len(rows)):
        width = min(times[i], until_ms) - max(times[i - 1], from_ms)
        if width > 0:
            seconds += float(rows[i][column]) / 100 * width / 1000
    return seconds


def host_row(name: str, played_ms: float) -> dict[str, str]:
    recorded = trace.load(name)
    times = [float(row["t_ms"]) for row in recorded.host_rows]
    return recorded.host_rows[bisect.bisect_right(times, recorded.position(played_ms)[0]) - 1]


@pytest.mark.parametrize("name", trace.NAMES)
def test_cpu_time_of_the_training_process_is_what_was_recorded(root_at, name):
    from_ms, until_ms = 5_000, 9_000
    root = root_at(name, from_ms)
    before = cpu_ticks(root, 10_000)
    root_at(name, until_ms)
    expected = recorded_cpu_seconds(name, "main_cpu_pct", from_ms + 10_000, until_ms + 10_000)
    assert abs((cpu_ticks(root, 10_000) - before) / 100 - expected) <= 0.03


def test_workers_are_children_whose_cpu_time_adds_up(root_at):
    root = root_at("fed", 20_000)
    pids = [int(pid) for pid in (root / "proc/10000/task/10000/children").read_text().split()]
    assert len(pids) == 14
    before = sum(cpu_ticks(root, pid) for pid in pids)
    root_at("fed", 25_000)
    expected = recorded_cpu_seconds("fed", "children_cpu_pct", 30_000, 35_000)
    assert abs((sum(cpu_ticks(root, pid) for pid in pids) - before) / 100 - expected) <= 14 * 0.03
    for pid in pids:
        assert re.search(r"^PPid:\t10000$", (root / f"proc/{pid}/status").read_text(), re.MULTILINE)


def test_state_memory_threads_and_bytes_are_those_of_the_row(root_at):
    for played_ms in (6_000, 33_300, 70_000):
        root = root_at("ckpt_stall", played_ms)
        row = host_row("ckpt_stall", played_ms)
        tree = [10_000, *map(int, (root / "proc/10000/task/10000/children").read_text().split())]
        assert len(tree) == int(row["children"]) + 1
        status = [(root / f"proc/{pid}/status").read_text() for pid in tree]
        assert re.search(r"^State:\t(.)", status[0], re.MULTILINE)[1] == row["main_state"]
        resident = [int(re.search(r"VmRSS:\t(\d+)", text)[1]) for text in status]
        assert int(row["rss_kb"]) - len(tree) < sum(resident) <= int(row["rss_kb"])
        threads = sum(int(re.search(r"Threads:\t(\d+)", text)[1]) for text in status)
        assert threads == int(row["threads"])


def test_written_bytes_go_on_over_the_laps(root_at):
    written = []
    for played_ms in range(0, 120_000, 4_000):
        root = root_at("ckpt_stall", played_ms)
        written.append(int(re.search(r"^write_bytes: (\d+)", (root / "proc/10000/io").read_text(), re.MULTILINE)[1]))
    assert written == sorted(written)
    lap = [int(r["write_bytes"]) for r in trace.load("ckpt_stall").host_rows if 18_000 <= float(r["t_ms"]) < 50_000]
    assert written[-1] > 3 * (lap[-1] - lap[0])


def test_the_machine_has_the_cpu_time_of_all_jobs_on_16_cpus_each(root_at):
    def cpu_line(root):
        return [int(cell) for cell in (root / "proc/stat").read_text().splitlines()[0].split()[1:6]]

    root = root_at("fed,gemm", 10_000)
    before = cpu_line(root)
    root_at("fed,gemm", 20_000)
    user, _, system, idle, iowait = (b - a for a, b in zip(before, cpu_line(root)))
    for ticks, column in ((user, "cpu_user"), (system, "cpu_sys"), (idle, "cpu_idle"), (iowait, "cpu_iowait")):
        expected = sum(16 * recorded_cpu_seconds(name, column, 20_000, 30_000) for name in ("fed", "gemm"))
        assert abs(ticks / 100 - expected) <= 0.03, column
    assert sum(1 for line in (root / "proc/stat").read_text().splitlines() if re.match(r"cpu\d", line)) == 32


def test_no_number_of_the_machine_falls_over_the_seam(root_at):
    before = None
    for step in range(60):
        root = root_at("gemm,ckpt_stall", 21_000 + step * 100)
        numbers = [int(n) for n in (root / "proc/stat").read_text().splitlines()[0].split()[1:6]]
        numbers += [int(n) for n in (root / "proc/diskstats").read_text().split()[3:14] if n != "0"]
        numbers += [int(n) for n in re.findall(r"total=(\d+)", (root / "proc/pressure/io").read_text())]
        assert before is None or all(a <= b for a, b in zip(before, numbers)), step
        before = numbers


def test_a_dead_process_leaves_and_its_successor_is_another(root_at):
    root = root_at("oom_ramp", 15_000)
    first = (root / "proc/10000/stat").read_text().rsplit(")", 1)[1].split()
    root_at("oom_ramp", 23_500)
    assert not [entry for entry in (root / "proc").iterdir() if entry.name.isdigit()]
    root_at("oom_ramp", 26_000)
    second = (root / "proc/10064/stat").read_text().rsplit(")", 1)[1].split()
    assert int(second[19]) > int(first[19])  # start times
    assert int(second[11]) + int(second[12]) <= 150  # and CPU time begins anew


def test_pids_of_all_traces_are_distinct_and_equal_those_of_the_driver(simulation, player, tmp_path):
    simulation.make("all")
    script = """
import json, sys
import pynvml as n
from playhead import Playhead

playhead = Playhead(sys.argv[1])
playhead.step_to(16_000)
n.nvmlInit()
print(json.dumps([p.pid for i in range(n.nvmlDeviceGetCount())
                  for p in n.nvmlDeviceGetComputeRunningProcesses(n.nvmlDeviceGetHandleByIndex(i))]))
"""
    gpu_pids = json.loads(simulation.run(script).stdout)
    player("--root", tmp_path / "root", "--sim", simulation.folder, "--once", 16_000)
    host_pids = [int(e.name) for e in (tmp_path / "root/proc").iterdir() if e.name.isdigit()]
    assert len(gpu_pids) == len(set(gpu_pids)) >= 10
    assert len(host_pids) == len(set(host_pids)) and set(gpu_pids) <= set(host_pids)


def test_owners_are_visible_as_on_a_real_machine(root_at):
    root = root_at("all", 20_000)
    users = {line.split(":")[0]: int(line.split(":")[2]) for line in (root / "etc/passwd").read_text().splitlines()}
    for gpu, name in enumerate(trace.NAMES):
        owner = json.loads((trace.TRACES / f"{name}.owners.json").read_text())
        pids = [p for p in (root / "proc").iterdir() if p.name.isdigit() and int(p.name) // 1000 == 10 + gpu]
        main = min(pids, key=lambda p: int(p.name))
        assert (main / "cmdline").read_bytes().split(b"\0")[:-1] == [word.encode() for word in owner["command"]]
        assert (main / "cgroup").read_text() == f"0::{owner['cgroup']}\n"
        assert f"Uid:\t{owner['uid']}\t" in (main / "status").read_text()
        assert users[owner["user"]] == owner["uid"]
        assert os.readlink(main / "cwd") == owner["working_folder"]
        group = root / f"sys/fs/cgroup{owner['cgroup']}"
        assert (group / "cpu.max").read_text() == owner["cpu_max"] + "\n"
        assert (group / "cpuset.cpus.effective").read_text() == f"{16 * gpu}-{16 * gpu + 15}\n"
        assert main.name in (group / "cgroup.procs").read_text().split()
        address = root / f"sys/bus/pci/devices/0000:{gpu + 1:02x}:00.0"
        assert (address / "vendor").read_text() == "0x10de\n" and (address / "class").read_text() == "0x030200\n"


def test_the_player_follows_the_playhead_until_it_is_told_to_stop(simulation):
    simulation.make("gemm")
    player = simulation.library.with_name("everywatt-player")
    process = subprocess.Popen([player, "--play", simulation.folder])
    try:
        playhead = simulation.playhead
        root = simulation.folder / "root"
        for played_ms in (1_000, 9_000, 2_000):
            playhead.step_to(played_ms)
            playhead.wait_for_root(root)
            uptime = float((root / "proc/uptime").read_text().split()[0])
            origin = playhead._read(24) / 1e9
            assert abs(uptime - origin - played_ms / 1000) < 0.02
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0


def damage(folder: Path, name: str, change) -> Path:
    folder.mkdir()
    for file in trace.TRACES.glob("gemm.*"):
        shutil.copy(file, folder)
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    return path


def packed(change):
    return lambda raw: gzip.compress(change(gzip.decompress(raw)))


@pytest.mark.parametrize(
    "name, change, message",
    [
        ("gemm.gpu.csv.gz", lambda raw: raw[: len(raw) // 2], r"gemm\.gpu\.csv\.gz: damaged gzip: .+"),
        ("gemm.gpu.csv.gz", packed(lambda t: t.replace(b"util_gpu", b"other", 1)), r"gemm\.gpu\.csv\.gz:1: no column 'util_gpu'"),
        (
            "gemm.gpu.csv.gz",
            packed(lambda t: b"\n".join(t.split(b"\n")[:5]) + b",1\n"),
            r"gemm\.gpu\.csv\.gz:5: 35 cells, the header has 34",
        ),
        (
            "gemm.gpu.csv.gz",
            packed(lambda t: t.replace(b",0x1,", b",oops,", 1)),
            r"gemm\.gpu\.csv\.gz:2: reasons is not a number",
        ),
        ("gemm.processes.csv.gz", packed(lambda t: t.replace(b",636,", b",-5,", 1)), r"gemm\.processes\.csv\.gz:2: pid is not .+"),
        ("gemm.host.csv.gz", packed(lambda t: t.replace(b",S,", b",,", 1)), r"gemm\.host\.csv\.gz:2: main_state is not one letter"),
        ("gemm.owners.json", lambda raw: raw[:-3], r"gemm\.owners\.json: .+"),
    ],
)
def test_a_damaged_trace_costs_one_clear_line(player, tmp_path, name, change, message):
    damage(tmp_path / "traces", name, change)
    result = player("--make", tmp_path / "demo", "--demo", tmp_path / "traces", check=False)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert re.search(message, result.stderr)
    assert not (tmp_path / "demo").exists()


def test_a_trace_that_is_not_there_names_those_that_are(player, tmp_path):
    result = player("--make", tmp_path / "demo", "--demo", "gem", check=False)
    assert result.returncode == 2
    assert "no trace 'gem'" in result.stderr and "gemm" in result.stderr

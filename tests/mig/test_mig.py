# SPDX-License-Identifier: Apache-2.0
"""MIG instances from the driver to every output: they appear, change and go while running."""

import csv
import io
import json
import re
import subprocess

import program
import pytest
from playhead import Playhead
from program import wait_until

MIB = 1 << 20
BUSY_MS = 20_000  # both traces work from here on
PARENT = "GPU-5ee00000-e0e7-4a77-8000-000000000001"
# Instances by their number in the scenario.
UUIDS = [f"MIG-5ee00000-e0e7-5a77-8000-{number + 1:012x}" for number in range(5)]
CHANGE_MS, OFF_MS = 60_000, 120_000

SECTIONS = {
    "h200": f"""
[[mig]]
gpu = 0
profiles = "3g.71gb,1g.18gb"
activity_percent = "100,20"
until_ms = {OFF_MS}
[[mig]]
gpu = 0
profiles = "2g.35gb"
activity_percent = "0"
until_ms = {CHANGE_MS}
[[mig]]
gpu = 0
profiles = "1g.18gb,1g.18gb"
activity_percent = "50,0"
from_ms = {CHANGE_MS}
until_ms = {OFF_MS}
""",
    "a100": f"""
[[mig]]
gpu = 0
profiles = "3g.40gb,1g.10gb"
until_ms = {OFF_MS}
[[mig]]
gpu = 0
profiles = "2g.20gb"
until_ms = {CHANGE_MS}
[[mig]]
gpu = 0
profiles = "1g.10gb,1g.10gb"
from_ms = {CHANGE_MS}
until_ms = {OFF_MS}
""",
}
PROCESS = "[[process]]\ngpu = 0\nmig = 1\npid = 30001\nmemory_bytes = 8388608\n"


class Machine:
    """Two GPUs, the first of them in MIG mode."""

    def __init__(self, folder, serve, profile: str, unannounced: bool = False):
        self.folder = folder / "sim"
        self._player = None
        make = [program.PLAYER, "--make", self.folder, "--demo", "gemm,fed", "--stepped"]
        subprocess.run([*make, "--profile", profile], check=True, timeout=60)
        sections = SECTIONS[profile]
        if unannounced:
            sections = sections.replace("[[mig]]", "[[mig]]\nannounced = false")
        with open(self.folder / "scenario.toml", "a") as file:
            file.write(sections + PROCESS)
        self.playhead = Playhead(self.folder / "playhead")
        self.playhead.step_to(BUSY_MS)
        self._player = subprocess.Popen([program.PLAYER, "--play", self.folder])
        self.playhead.wait_for_root(self.folder / "root")
        self.daemon = serve(
            "--nvml-library", program.LIBRARY, "--host-root", self.folder / "root",
            env=program.environment(EVERYWATT_SIM=str(self.folder)),
        )  # fmt: skip

    def close(self) -> None:
        if self._player:
            self._player.kill()
            self._player.wait()

    def instances(self) -> list[str]:
        """Their names in the order of every output."""
        return [
            gpu["gpu_mig_profile"]
            for gpu in self.discovered()
            if gpu.get("gpu_mig_parent_uuid") == PARENT
        ]

    def discovered(self) -> list[dict]:
        return self.daemon.run_json("discover")["gpus"]

    def readings(self, *metrics: str) -> dict[str, dict]:
        """{uuid: reading} of each metric."""
        answer = json.loads(self.daemon.run("get", *metrics, "--json").stdout)
        return {f"{r['metric']} {r['uuid']}": r for r in answer["readings"]}

    def series(self, names: str, metric: str) -> list[tuple[dict, str]]:
        found = []
        for line in self.daemon.fetch(f"/metrics?names={names}").splitlines():
            if line.startswith(metric + "{"):
                labels, value = re.fullmatch(r"\w+\{(.*)\} (\S+)", line).groups()
                found.append((dict(re.findall(r'(\w+)="([^"]*)"', labels)), value))
        return found

    def uuids(self) -> set[str]:
        """Of the instances that have a series now."""
        return {
            labels["uuid"]
            for labels, _ in self.series("native", "gpu_memory_used_bytes")
            if labels.get("uuid", "").startswith("MIG-")
        }

    def events(self, kind: str) -> list[dict]:
        lines = self.daemon.run("events", "--json", code=0).stdout.splitlines()
        return [event for event in map(json.loads, lines) if event["event"] == kind]

    def starts_of(self, pid: int) -> list[str]:
        return [event["device"] for event in self.events("process_start") if event["pid"] == pid]

    def go_to(self, played_ms: int, *numbers: int) -> None:
        """On to another layout, until these instances are the ones that are read."""
        self.playhead.step_to(played_ms)
        wanted = {UUIDS[number] for number in numbers}
        wait_until(lambda: self.uuids() == wanted, lambda: f"{wanted}, not {self.uuids()}")


@pytest.fixture
def machine(tmp_path, serve_apart):
    made = []

    def make(profile: str, **options) -> Machine:
        made.append(Machine(tmp_path / str(len(made)), serve_apart, profile, **options))
        wait_until(lambda: made[-1].uuids() == set(UUIDS[:3]), made[-1].uuids)
        return made[-1]

    yield make
    for each in made:
        each.close()


def play(machine: Machine, until: str, metric: str) -> dict:
    """Goes on in steps, for the counters to move, until an instance has this reading."""
    moment = BUSY_MS

    def look():
        nonlocal moment
        moment += 100
        machine.playhead.step_to(moment)
        reading = machine.readings(metric).get(f"{metric} {until}")
        return reading and reading["state"] == "ok"

    wait_until(look, f"{metric} of {until}")
    return machine.readings(metric)


def test_memory_and_processes_are_each_instances_own(machine):
    here = machine("h200")
    memory = "gpu_memory_used_bytes"
    (gpu,) = [p for p in here.daemon.run_json("processes")["gpus"] if p["uuid"] == UUIDS[0]]
    own = gpu["processes"][0]["memory_bytes"]
    found = here.readings(memory, "gpu_memory_total_bytes")
    assert found[f"{memory} {UUIDS[0]}"]["value"] == 16 * MIB + own
    assert found[f"{memory} {UUIDS[1]}"]["value"] == 17 * MIB
    assert found[f"{memory} {UUIDS[2]}"]["value"] == 16 * MIB
    assert found[f"{memory} {PARENT}"]["value"] == 49 * MIB + own
    totals = [found[f"gpu_memory_total_bytes {uuid}"]["value"] for uuid in UUIDS[:3]]
    assert totals == [71_168 * MIB, 16_384 * MIB, 33_280 * MIB]

    # Each process once, with its instance.
    pids = {
        gpu["uuid"]: [process["pid"] for process in gpu["processes"]]
        for gpu in here.daemon.run_json("processes")["gpus"]
    }
    assert pids[UUIDS[0]] == [10_000] and pids[UUIDS[1]] == [30_001]
    assert pids[UUIDS[2]] == [] and pids[PARENT] == []
    started = wait_until(lambda: here.starts_of(30_001), "the process's event")
    assert started == ["GPU 0 MIG 2"]


def test_activity_of_the_instances_adds_up_to_their_gpus(machine):
    here = machine("h200")
    metric = "gpu_sm_active_ratio"
    play(here, UUIDS[0], metric)
    # All took their samples at these moments; nothing moves while it is asked.
    found = {
        labels["uuid"]: float(value)
        for labels, value in here.series("native", metric)
        if labels["gpu"] == "0"
    }
    assert found[UUIDS[0]] > 0.5
    assert found[UUIDS[1]] == pytest.approx(found[UUIDS[0]] * 0.2, rel=0.05)
    assert found[UUIDS[2]] == 0
    parts = found[UUIDS[0]] * 60 + found[UUIDS[1]] * 16
    assert found[PARENT] == pytest.approx(parts / 132, rel=0.05)


def test_under_mig_utilization_is_absent_and_not_zero(machine):
    here = machine("h200")
    metric = "gpu_utilization_ratio"
    found = here.readings(metric)
    for uuid in [PARENT, *UUIDS[:3]]:
        assert found[f"{metric} {uuid}"]["state"] == "not_supported"
    assert [labels["gpu"] for labels, _ in here.series("native", metric)] == ["1"]
    assert [labels["gpu"] for labels, _ in here.series("dcgm", "DCGM_FI_DEV_GPU_UTIL")] == ["1"]
    told = here.daemon.run("why", metric, "--gpu", UUIDS[0], code=1).stdout
    assert told.startswith("GPU 0 MIG 0 ") and "MIG instances" in told
    assert here.readings("gpu_power_watts")[f"gpu_power_watts {UUIDS[0]}"]["state"] == "not_supported"
    assert here.readings("gpu_power_watts")[f"gpu_power_watts {PARENT}"]["state"] == "ok"


def test_without_gpm_there_is_memory_and_no_activity(machine):
    here = machine("a100")
    assert here.instances() == ["3g.40gb", "2g.20gb", "1g.10gb"]
    metric = "gpu_sm_active_ratio"
    states = {key.split()[1]: r["state"] for key, r in here.readings(metric).items()}
    assert states[PARENT] == states[UUIDS[0]] == "not_supported"
    assert here.series("native", metric) == []
    found = here.readings("gpu_memory_used_bytes")
    assert found[f"gpu_memory_used_bytes {UUIDS[1]}"]["value"] == 17 * MIB


@pytest.mark.parametrize("unannounced", [False, True], ids=["told", "not told by the driver"])
def test_a_layout_changes_while_it_is_read(machine, unannounced):
    here = machine("h200", unannounced=unannounced)
    assert here.instances() == ["3g.71gb", "2g.35gb", "1g.18gb"]
    before = here.daemon.run("get", "gpu_memory_used_bytes", "--gpu", UUIDS[2], code=0)
    assert "GPU 0 MIG 1" in before.stdout

    here.go_to(CHANGE_MS, 0, 1, 3, 4)
    assert here.instances() == ["3g.71gb", "1g.18gb", "1g.18gb", "1g.18gb"]
    indices = {gpu["uuid"]: gpu["mig"] for gpu in here.discovered() if "mig" in gpu}
    assert sorted(indices.values()) == [0, 1, 2, 3] and indices[UUIDS[0]] == 0
    # The one that is gone is nobody's device any more, and the others go on.
    gone = here.daemon.run("get", "gpu_memory_used_bytes", "--gpu", UUIDS[2])
    assert gone.returncode == 2 and UUIDS[0] in gone.stderr
    history = here.daemon.run("history", "gpu_memory_used_bytes", "--since", "1m", "--gpu", UUIDS[0])
    rows = list(csv.DictReader(io.StringIO(history.stdout)))
    assert {row["state"] for row in rows} == {"ok"} and {row["uuid"] for row in rows} == {UUIDS[0]}

    here.go_to(OFF_MS)
    wait_until(lambda: here.instances() == [], here.discovered)
    assert [gpu["uuid"][:3] for gpu in here.discovered()] == ["GPU", "GPU"]
    assert len(json.loads(here.daemon.fetch("/api/v1/gpus"))["gpus"]) == 2
    # What they did can still be asked for.
    last = here.daemon.run("get", "gpu_memory_used_bytes", "--gpu", UUIDS[0])
    assert last.returncode == 1 and "- (lost)" in last.stdout
    history = here.daemon.run("history", "gpu_memory_used_bytes", "--since", "1m", "--gpu", UUIDS[0])
    assert ",ok," in history.stdout
    assert here.daemon.fetch("/readyz").strip() == "ready"
    metric = "gpu_utilization_ratio"
    wait_until(
        lambda: here.readings(metric)[f"{metric} {PARENT}"]["state"] == "ok",
        "utilization of the whole GPU",
    )
    changes = [event["device"] for event in here.events("mig_changed")]
    assert changes == ([] if unannounced else ["GPU 0"] * 2)


def test_every_output_names_the_instances(machine):
    here = machine("h200")
    play(here, UUIDS[0], "gpu_sm_active_ratio")
    for command in (["discover"], [], ["get", "gpu_memory_used_bytes"], ["processes"],
                    ["watch", "gpu_memory_used_bytes", "--count", "1"]):  # fmt: skip
        text = here.daemon.run(*command).stdout
        assert "MIG 0" in text and "MIG 2" in text, (command, text)
    text = here.daemon.run("discover").stdout
    assert f"GPU 0 MIG 1  2g.35gb  {UUIDS[2]}  32.5 GiB" in text
    # By UUID, its beginning, and place.
    for name in (UUIDS[2], UUIDS[2][:-4] + "0003", "0:1"):
        answer = here.daemon.run_json("get", "gpu_memory_used_bytes", "--gpu", name)
        (reading,) = answer["readings"]
        assert (reading["gpu"], reading["mig"], reading["uuid"]) == (0, 1, UUIDS[2])
    # The one of 35 GB does nothing, the GPU that is split is not free, and GPU 1 works.
    assert here.daemon.run("free", code=0).stdout.split() == [UUIDS[2]]

    labels, value = next(
        (labels, value)
        for labels, value in here.series("dcgm", "DCGM_FI_DEV_FB_USED")
        if labels.get("GPU_I_ID") == "11"
    )
    assert list(labels) == [
        "gpu", "UUID", "pci_bus_id", "device", "modelName", "GPU_I_PROFILE", "GPU_I_ID", "Hostname",
        "DCGM_FI_DRIVER_VERSION",
    ]  # fmt: skip
    assert labels["GPU_I_PROFILE"] == "1g.18gb" and labels["UUID"] == PARENT
    assert labels["modelName"] == "NVIDIA H200" and value == "17"
    info = {labels["uuid"]: labels for labels, _ in here.series("native", "gpu_info")}[UUIDS[1]]
    assert (info["gpu"], info["gpu_instance"], info["compute_instance"]) == ("0", "11", "0")
    assert (info["mig_profile"], info["mig_parent_uuid"]) == ("1g.18gb", PARENT)
    assert info["gpm_supported"] == "1"

    gpus = json.loads(here.daemon.fetch("/api/v1/gpus"))["gpus"]
    assert [(gpu["gpu"], gpu.get("mig"), gpu["uuid"]) for gpu in gpus][:4] == [
        (0, None, PARENT), (0, 0, UUIDS[0]), (0, 1, UUIDS[2]), (0, 2, UUIDS[1]),
    ]  # fmt: skip

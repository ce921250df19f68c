# SPDX-License-Identifier: Apache-2.0
"""NVLinks, from what a scenario says of each to every output."""

import re
import subprocess

import program
import pytest
from playhead import Playhead
from program import wait_until

# GPU 0: 18 links at two switches, one of them erring, one going down, one unknown. GPU 1: 12 links
# to GPU 0. GPU 2 has none.
LINKS = """
[[nvlink]]
gpu = 0
state = "up"
remote = "switch:0"
bytes_per_second = 1048576
receive_bytes_per_second = 2048
[[nvlink]]
gpu = 0
link = 7
remote = "switch:1"
errors_per_second = 30
[[nvlink]]
gpu = 0
link = 3
state = "down"
from_ms = 5000
[[nvlink]]
gpu = 0
link = 5
state = "unknown"
from_ms = 5000
[[nvlink]]
gpu = 1
state = "up"
remote = "gpu:0"
"""
NOW_MS = 10_000
SENT = {link: 5 * 1048576 if link == 3 else 10 * 1048576 for link in range(18) if link != 5}


@pytest.fixture
def machine(tmp_path, serve_apart):
    folder = tmp_path / "sim"
    subprocess.run(
        [program.PLAYER, "--make", folder, "--demo", "gemm,gemm,gemm", "--stepped"], check=True, timeout=60
    )
    scenario = folder / "scenario.toml"
    before, first, second, third = scenario.read_text().split("[[device]]")
    second = second.replace("h200", "a100")
    scenario.write_text(f"{before}[[device]]{first}[[device]]{second}[[device]]{third}{LINKS}")
    playhead = Playhead(folder / "playhead")
    playhead.step_to(NOW_MS)
    root = folder / "root"
    subprocess.run([program.PLAYER, "--root", root, "--sim", folder, "--once", str(NOW_MS)], check=True, timeout=60)
    daemon = serve_apart(
        "--nvml-library", program.LIBRARY, "--host-root", root,
        env=program.environment(EVERYWATT_SIM=str(folder)),
    )  # fmt: skip
    daemon.playhead = playhead
    return daemon


def links_of(daemon, name: str, names: str = "native", labels: str = "") -> dict[str, dict[int, float]]:
    """{gpu: {link: value}} of a series that has one value a link."""
    found: dict[str, dict[int, float]] = {}
    for line in daemon.fetch(f"/metrics?names={names}").splitlines():
        series = re.fullmatch(rf"{name}\{{(.*)\}} (\S+)", line)
        link = series and re.search(r'\b(?:link|nvlink)="(\d+)"', series[1])
        if link and labels in series[1]:
            gpu = re.search(r'gpu="(\d+)"', series[1])[1]
            found.setdefault(gpu, {})[int(link[1])] = float(series[2])
    return found


def all_links(daemon):
    return wait_until(
        lambda: (f := links_of(daemon, "gpu_nvlink_transmit_bytes_total")) and "0" in f and "1" in f and f,
        "links in /metrics",
    )


def test_metrics_tell_each_link_as_the_scenario_does(machine):
    assert all_links(machine) == {"0": SENT, "1": {link: 0 for link in range(12)}}
    up = {link: 0 if link == 3 else 1 for link in SENT}
    assert links_of(machine, "gpu_nvlink_state") == {"0": up, "1": {link: 1 for link in range(12)}}
    received = links_of(machine, "gpu_nvlink_receive_bytes_total")["0"]
    assert received == {link: sent / 512 for link, sent in SENT.items()}
    assert links_of(machine, "gpu_nvlink_version")["1"] == {link: 4 for link in range(12)}
    types = links_of(machine, "gpu_nvlink_remote_type")
    assert types["0"] == {link: 255 if link == 3 else 2 for link in SENT}
    assert set(types["1"].values()) == {0}


def test_errors_of_a_link_have_native_and_dcgm_names(machine):
    all_links(machine)
    for error, dcgm, number in (
        ("crc_flit", "CRC_FLIT", 300),
        ("crc_data", "CRC_DATA", 3),
        ("replay", "REPLAY", 300),
        ("recovery", "RECOVERY", 30),
    ):
        wanted = {link: number if link == 7 else 0 for link in SENT}
        native = links_of(machine, "gpu_nvlink_errors_total", labels=f'error="{error}"')
        assert native == {"0": wanted, "1": {link: 0 for link in range(12)}}
        # DCGM has one number for all links of a GPU.
        name = f"DCGM_FI_DEV_NVLINK_{dcgm}_ERROR_COUNT_TOTAL"
        assert machine.metrics("dcgm")[name] == {"0": number, "1": 0}


def test_traffic_of_all_links_has_dcgm_name_and_unit(machine):
    all_links(machine)

    def rate():
        machine.playhead.step_by(1000)
        return machine.metrics("dcgm").get("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", {}).get("0")

    # In MB/s, where time is played as fast as we step it.
    assert wait_until(rate, "the rate of all links") > 0
    text = machine.fetch("/metrics?names=dcgm")
    assert "Packets sent again on a link: the sum of all links." in text
    assert "# TYPE DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL gauge" in text


def test_the_other_ends_are_named(machine):
    all_links(machine)
    info = machine.fetch("/metrics?names=native")
    ends = {
        (gpu, int(link)): address
        for gpu, link, address in re.findall(
            r'gpu_nvlink_info\{gpu="(\d)".*?link="(\d+)".*?remote_address="([^"]+)"', info
        )
    }
    assert ends[("0", 0)].endswith(":c0:00.0") and ends[("0", 7)].endswith(":c1:00.0")
    assert ends[("1", 11)].endswith(":01:00.0")
    assert ("0", 3) not in ends and ("0", 5) not in ends and not any(gpu == "2" for gpu, _ in ends)


def test_discover_and_get_tell_each_link(machine):
    all_links(machine)
    gpus = machine.run_json("discover")["gpus"]
    assert [len(gpu["nvlinks"]) for gpu in gpus] == [18, 12, 0]
    first = {link["link"]: link["up"] for link in gpus[0]["nvlinks"]}
    assert first == {link: None if link == 5 else link != 3 for link in range(18)}
    # One that cannot be read is an absence with its reason, and that is worth a look.
    readings = machine.run_json("get", "gpu_nvlink_state", "--gpu", "0", code=1)["readings"]
    shown = {int(reading["link"]): (reading["state"], reading["value"]) for reading in readings}
    assert shown == {
        link: ("failed", None) if link == 5 else ("ok", 0 if link == 3 else 1) for link in range(18)
    }
    text = machine.run("why", "gpu_nvlink_state", "--gpu", "0", code=1).stdout
    assert "gpu_nvlink_state{link=5}: " in text


def test_the_rates_of_links_are_those_between_two_samples(machine):
    all_links(machine)
    machine.playhead.run()
    rates = wait_until(
        lambda: links_of(machine, "gpu_nvlink_link_transmit_bytes_per_second").get("0"), "rates of links"
    )
    assert set(rates) == set(range(18))
    for link, rate in rates.items():
        assert rate == pytest.approx(0 if link in (3, 5) else 1048576, abs=100), link
    total = machine.metrics("native")["gpu_nvlink_transmit_bytes_per_second"]["0"]
    assert total == pytest.approx(16 * 1048576, abs=2000)

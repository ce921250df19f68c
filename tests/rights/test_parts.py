# SPDX-License-Identifier: Apache-2.0
"""What each process of a daemon may still do, as root and as an ordinary user."""

import os

import pytest
from process import PARTS, all_started, descriptors, listening_ports, mapped_files, status, threads

CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapAmb")
# DAC_READ_SEARCH, SYS_PTRACE, SYSLOG
READING = 1 << 2 | 1 << 19 | 1 << 34


@pytest.fixture
def daemon(serve_as):
    return serve_as("--demo", "gemm,fed")


def test_the_server_has_no_right_at_all(daemon):
    server = all_started(daemon)["server"]
    for thread in threads(server):
        uids = set(thread["Uid"].split())
        assert "0" not in uids and len(uids) == 1
        assert set(thread["Gid"].split()) != {"0"}
        for kind in CAPABILITIES:
            assert int(thread[kind], 16) == 0, kind
        assert thread["NoNewPrivs"] == "1"
        assert thread["Seccomp"] == "2"
    if daemon.is_root:
        assert int(status(server)["CapBnd"], 16) == 0
        assert status(server)["Groups"].strip() == ""
    else:
        assert status(server)["Uid"].split()[0] == str(daemon.uid)


def test_the_server_holds_what_it_needs_and_no_gpu(daemon):
    server = all_started(daemon)["server"]
    assert not [name for name in mapped_files(server) if "nvidia" in name.lower()]
    assert listening_ports(server) == [int(daemon.url.rsplit(":", 1)[1])]
    known = ("socket:[", "anon_inode:[event", "anon_inode:[timerfd]", "anon_inode:[signalfd]")
    files = {
        target for target in descriptors(server).values() if not target.startswith(known)
    }
    run_folder = str(daemon.run_folder)
    assert {f for f in files if not f.startswith(run_folder)} == set()
    names = {os.path.basename(f) for f in files if f != run_folder}
    assert names <= {"recorder", "identities", "journal"}


def test_the_sampler_and_the_host_process_have_no_socket(daemon):
    parts = all_started(daemon)
    for part in ("sampler", "host"):
        assert not [t for t in descriptors(parts[part]).values() if t.startswith("socket:")], part
        assert listening_ports(parts[part]) == []
        assert status(parts[part])["NoNewPrivs"] == "1"


def test_the_driver_is_in_the_sampler_alone(daemon):
    parts = all_started(daemon)

    def has_driver(pid: int) -> bool:
        return any("libnvidia-ml" in name for name in mapped_files(pid))

    assert has_driver(parts["sampler"])
    for part in PARTS - {"sampler"}:
        assert not has_driver(parts[part]), part
    assert not has_driver(daemon.process.pid)


def test_the_host_process_can_read_and_nothing_else(daemon):
    host = status(all_started(daemon)["host"])
    if daemon.is_root:
        mine = int(status(os.getpid())["CapBnd"], 16)
        for kind in ("CapPrm", "CapEff", "CapBnd"):
            assert int(host[kind], 16) == READING & mine, kind
    else:
        assert int(host["CapEff"], 16) == 0 and int(host["CapPrm"], 16) == 0
    assert int(host["CapInh"], 16) == 0 and int(host["CapAmb"], 16) == 0
    assert host["Uid"].split()[0] == str(daemon.uid)


def test_the_sampler_keeps_the_user(daemon):
    sampler = status(all_started(daemon)["sampler"])
    assert sampler["Uid"].split() == [str(daemon.uid)] * 4


def test_the_sampler_comes_before_all_others_where_it_may(daemon):
    sampler = all_started(daemon)["sampler"]
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    wanted = {-10} if daemon.is_root and has_capability(23) else {ours}  # SYS_NICE
    assert {os.getpriority(os.PRIO_PROCESS, int(t)) for t in os.listdir(f"/proc/{sampler}/task")} == wanted


def has_capability(number: int) -> bool:
    return int(status(os.getpid())["CapEff"], 16) >> number & 1 == 1


def test_no_part_keeps_the_settings_open(daemon):
    for part, pid in all_started(daemon).items():
        assert not [t for t in descriptors(pid).values() if "everywatt-settings" in t], part


def test_all_that_the_server_answers_passes_its_filter(daemon):
    server = all_started(daemon)["server"]
    for path in ("/", "/metrics", "/healthz", "/readyz", "/api/v1/gpus",
                 "/api/v1/series?metric=gpu_power_watts&gpu=0"):  # fmt: skip
        assert daemon.status(path) == 200, path
    assert daemon.parts()["server"] == server
    assert daemon.stop()[0] == 0
    assert "server: " not in daemon.log.read_text()

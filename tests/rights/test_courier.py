# SPDX-License-Identifier: Apache-2.0
"""What the courier may still do, as root and as an ordinary user."""

import os
import signal
import stat
import subprocess

import pytest
from ordinary import ORDINARY
from process import PARTS, descriptors, listening_ports, mapped_files, status, tcp_sockets, threads
from program import is_running, server_gid, wait_until
from test_files import mode_of


@pytest.fixture
def daemon(serve_as):
    daemon = serve_as(
        "--demo", "gemm",
        "--set", "notify.ops.type=webhook", "--set", "notify.ops.url=http://127.0.0.1:1/",
        "--set", "remote_write.central.url=http://127.0.0.1:1/",
    )  # fmt: skip
    daemon.courier = wait_until(lambda: daemon.parts().get("courier"), "the courier")
    wait_until(lambda: status(daemon.courier)["Seccomp"] == "2", "its filter")
    wait_until(lambda: len(threads(daemon.courier)) > 3, "its threads")
    return daemon


def test_it_has_no_right_at_all(daemon):
    for thread in threads(daemon.courier):
        uids = set(thread["Uid"].split())
        assert "0" not in uids and len(uids) == 1
        assert set(thread["Gid"].split()) != {"0"}
        for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            assert int(thread[kind], 16) == 0, kind
        assert thread["NoNewPrivs"] == "1"
        assert thread["Seccomp"] == "2"
    if daemon.is_root:
        assert int(status(daemon.courier)["CapBnd"], 16) == 0
        assert status(daemon.courier)["Groups"].strip() == ""
        assert int(status(daemon.courier)["Gid"].split()[0]) == server_gid()
    else:
        assert status(daemon.courier)["Uid"].split()[0] == str(daemon.uid)


def test_it_holds_no_gpu_no_driver_and_no_door(daemon, needs_root):
    assert not [name for name in mapped_files(daemon.courier) if "nvidia" in name.lower()]
    assert listening_ports(daemon.courier) == []
    files = [t for t in descriptors(daemon.courier).values() if t.startswith("/")]
    assert not [name for name in files if "nvidia" in name]
    folders = (str(daemon.run_folder), str(daemon.run_folder / "everywatt-demo/data/spool"))
    assert [name for name in files if not name.startswith(folders)] == []
    assert not [t for t in descriptors(daemon.courier).values() if "everywatt-settings" in t]


def test_it_reads_the_recorder_and_writes_none_of_it(daemon, needs_root):
    for number, target in descriptors(daemon.courier).items():
        if not target.startswith(str(daemon.run_folder)) or "/spool" in target:
            continue
        with open(f"/proc/{daemon.courier}/fdinfo/{number}") as file:
            flags = int(dict(line.split(":", 1) for line in file)["flags"], 8)
        assert flags & os.O_ACCMODE == os.O_RDONLY, target


def test_no_other_process_of_its_user_looks_into_it(daemon, needs_root):
    """The server is one, when the daemon is root's."""
    user = int(status(daemon.courier)["Uid"].split()[0])
    for name in ("environ", "mem", "maps"):
        tried = subprocess.run(
            ["head", "-c", "1", f"/proc/{daemon.courier}/{name}"], capture_output=True,
            user=user, group=user, extra_groups=[],
        )  # fmt: skip
        assert tried.returncode != 0, name


def test_what_waits_is_its_users_alone(daemon):
    spool = daemon.run_folder / "everywatt-demo/data/spool"
    wait_until(lambda: (spool / "remote_write").exists() and (spool / "notify").exists(), "its folders")
    about = spool.stat()
    assert mode_of(spool) == 0o700 and stat.S_ISDIR(about.st_mode)
    assert str(about.st_uid) == status(daemon.courier)["Uid"].split()[0]
    if os.geteuid() == 0:
        tried = subprocess.run(["ls", spool], capture_output=True, user=ORDINARY + 1, group=ORDINARY + 1)
        assert tried.returncode != 0


def test_it_is_replaced_while_the_others_go_on(daemon):
    before = daemon.parts()
    os.kill(daemon.courier, signal.SIGKILL)
    after = wait_until(
        lambda: (p := daemon.parts()) and set(p) == set(before) and p["courier"] != daemon.courier and p,
        "a new courier",
    )
    assert {k: v for k, v in after.items() if k != "courier"} == {
        k: v for k, v in before.items() if k != "courier"
    }
    assert PARTS <= set(after)


def test_it_ends_with_the_daemon_in_good_order_and_without_it(daemon):
    code, seconds = daemon.stop()
    assert code == 0 and seconds < 5
    assert not is_running(daemon.courier)
    assert "courier: " not in daemon.log.read_text()


def test_it_does_not_outlive_a_supervisor_that_is_killed(daemon):
    daemon.process.kill()
    daemon.process.wait()
    wait_until(lambda: not is_running(daemon.courier), "its end", patience_s=5)


def test_it_speaks_to_others_and_nobody_to_it(daemon, needs_root):
    states = {state for state, _ in tcp_sockets(daemon.courier)}
    assert "0A" not in states

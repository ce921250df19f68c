# SPDX-License-Identifier: Apache-2.0
"""`drain` lets go of the driver, `resume` takes it up again; readers go on."""

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import threading
import urllib.error
from pathlib import Path

from program import PROGRAM, environment, is_running, run, wait_until

TOTAL = "gpu_observed_seconds_total"


def pids(daemon) -> list[int]:
    return [daemon.process.pid, *daemon.parts().values()]


def holds_driver(pid: int) -> bool:
    """Whether anything of the driver is in that process."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
        files = [os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return False
    return "libnvidia-ml" in maps or any(f.startswith("/dev/nvidia") for f in files)


def statuses(daemon) -> set[str]:
    lines = daemon.fetch("/metrics?names=self").splitlines()
    return {
        line.split('status="')[1].split('"')[0] for line in lines if "everywatt_gpu_status{" in line
    }


def kinds(daemon) -> list[str]:
    lines = daemon.run("events", "--json", code=0).stdout.splitlines()
    return [json.loads(line)["event"] for line in lines]


def ready(daemon):
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    wait_until(lambda: statuses(daemon) == {"ok"}, "good GPUs")


@contextlib.contextmanager
def readers(daemon):
    """A scraper and a `watch` that go on all the while; what failed, and the `watch`."""
    watch = subprocess.Popen(
        [PROGRAM, "watch", "gpu_power_watts", "--interval", "100ms", "--json", "--run-dir",
         daemon.run_folder],
        stdout=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    failures = []
    is_over = threading.Event()

    def scrape():
        while not is_over.is_set():
            try:
                daemon.fetch("/metrics")
                daemon.fetch("/api/v1/gpus")
            except (OSError, urllib.error.HTTPError) as error:
                failures.append(error)

    scraper = threading.Thread(target=scrape)
    scraper.start()
    try:
        watch.stdout.readline()
        yield failures, watch
        assert not failures
        assert watch.poll() is None
    finally:
        is_over.set()
        scraper.join()
        watch.kill()
        watch.communicate()


def check_drained(daemon, totals: dict[str, float]) -> None:
    assert set(daemon.parts()) == {"host", "server", "player"}
    assert not any(holds_driver(pid) for pid in pids(daemon))
    assert statuses(daemon) == {"drained"}
    assert daemon.fetch("/readyz").splitlines()[:3] == [
        "ready", "GPU 0: drained", "GPU 1: drained",
    ]  # fmt: skip
    why = daemon.run("why", "gpu_power_watts", "--gpu", "0", code=1).stdout
    assert "drained: let go of on request" in why
    assert kinds(daemon).count("drained") == 1
    # Sums outlive it, readings do not.
    assert daemon.metrics("native")[TOTAL].keys() == totals.keys()
    assert "gpu_power_watts" not in daemon.metrics("native")


def test_the_driver_is_let_go_of_and_taken_up_again_while_readers_go_on(serve):
    daemon = serve("--demo", "gemm,fed")
    ready(daemon)
    assert any(holds_driver(pid) for pid in pids(daemon))
    before = wait_until(
        lambda: len(t := daemon.metrics("native").get(TOTAL, {})) == 2 and t, "totals"
    )
    with readers(daemon) as (failures, watch):
        old_sampler = daemon.parts()["sampler"]
        answer = daemon.run("drain", code=0)
        assert answer.stdout.startswith("drained: ")
        assert not is_running(old_sampler)
        check_drained(daemon, before)
        assert json.loads(watch.stdout.readline())

        assert daemon.run("drain", code=0).stdout == "it was drained before\n"
        assert not failures
        os.kill(daemon.parts()["server"], signal.SIGKILL)
        wait_until(lambda: daemon.status("/readyz") == 200, "a new server")
        failures.clear()
        assert statuses(daemon) == {"drained"}
        assert "sampler" not in daemon.parts()

        assert daemon.run("resume", code=0).stdout.startswith("resumed: ")
        wait_until(lambda: statuses(daemon) == {"ok"}, "good GPUs again")
        wait_until(lambda: daemon.fetch("/readyz").splitlines()[0] == "ready", "readiness")
        assert "drained" not in daemon.fetch("/readyz")
        wait_until(
            lambda: all(daemon.metrics("native")[TOTAL][gpu] > before[gpu] for gpu in before),
            "sums that go on",
        )
        assert any(holds_driver(pid) for pid in pids(daemon))
        assert kinds(daemon).count("resumed") == 1
        assert daemon.run("resume", code=0).stdout == "it was not drained: nothing to resume\n"


def test_a_drained_daemon_ends_at_once_and_begins_anew(serve):
    daemon = serve("--demo", "gemm")
    ready(daemon)
    daemon.run("drain", code=0)
    code, seconds = daemon.stop()
    assert code == 0 and seconds < 5
    assert not Path(f"{daemon.run_folder}-control").exists()
    again = serve("--demo", "gemm")
    ready(again)


def test_without_a_daemon_one_line_says_so(folder):
    for command in ("drain", "resume"):
        answer = run(command, "--run-dir", folder, code=3)
        assert answer.stdout == "" and len(answer.stderr.splitlines()) == 1
        assert "no daemon runs" in answer.stderr


def test_another_user_may_not(serve, as_nobody):
    daemon = serve("--demo", "gemm")
    ready(daemon)
    control = Path(f"{daemon.run_folder}-control")
    assert stat.S_IMODE(control.stat().st_mode) == 0o700
    for command in ("drain", "resume"):
        answer = daemon.run(command, code=3, **as_nobody)
        assert answer.stdout == "" and len(answer.stderr.splitlines()) == 1
        assert "its own user and root" in answer.stderr
    # Reading it may.
    assert "GPU 0" in daemon.run("get", "gpu_power_watts", code=0, **as_nobody).stdout
    # Nor when somebody has opened the folder for all.
    control.chmod(0o755)
    (control / "control").chmod(0o666)
    answer = daemon.run("drain", code=3, **as_nobody)
    assert "only the daemon's own user and root" in answer.stderr
    assert statuses(daemon) == {"ok"}


def test_a_silent_peer_holds_up_nothing(serve):
    daemon = serve("--demo", "gemm")
    ready(daemon)
    peers = []
    for _ in range(8):
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        peer.connect(f"{daemon.run_folder}-control/control")
        peers.append(peer)
    wait_until(lambda: daemon.run("drain").returncode == 0, "an answer")
    assert statuses(daemon) == {"drained"}
    for peer in peers:
        peer.close()

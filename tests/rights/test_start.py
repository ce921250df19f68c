# SPDX-License-Identifier: Apache-2.0
"""What whoever starts a daemon may have left in its way."""

import os
import signal
import subprocess
import time

import pytest
from ordinary import ORDINARY
from process import PARTS, all_started
from program import PROGRAM, children_of, environment, run, wait_until


def test_a_strict_umask_shuts_nobody_out(serve, folder, needs_root):
    folder.rmdir()
    daemon = serve("--demo", "gemm", preexec_fn=lambda: os.umask(0o077))
    all_started(daemon)
    answer = run("get", "gpu_power_watts", "--run-dir", daemon.run_folder,
                 user=ORDINARY, group=ORDINARY, extra_groups=[])  # fmt: skip
    assert answer.returncode == 0, answer.stderr


def test_no_umask_lets_others_write_into_a_demo(serve, folder):
    daemon = serve("--demo", "gemm", preexec_fn=lambda: os.umask(0))
    all_started(daemon)
    demo = folder / "everywatt-demo"
    for path in (demo, demo / "playhead", demo / "root", demo / "root/proc", demo / "root/dev/kmsg"):
        assert path.stat().st_mode & 0o022 == 0, path


def test_a_parent_that_ignores_its_children_does_not_hide_ours(serve):
    daemon = serve("--demo", "gemm", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    before = all_started(daemon)
    os.kill(before["host"], signal.SIGKILL)
    wait_until(lambda: daemon.parts().get("host", before["host"]) != before["host"], "a new one")


def bare_daemon(folder, **options) -> subprocess.Popen:
    """One whose standard descriptors are not a file that is read for its address."""
    return subprocess.Popen(
        [PROGRAM, "serve", "--demo", "gemm", "--listen", "127.0.0.1:0", "--run-dir", folder],
        env=environment(), **options,
    )  # fmt: skip


def started_parts(daemon: subprocess.Popen) -> dict[str, int]:
    return wait_until(lambda: (p := children_of(daemon.pid)) and PARTS <= set(p) and p, "all parts")


def close_standard_descriptors():
    for descriptor in range(3):
        os.close(descriptor)


def test_no_file_of_ours_takes_the_place_of_a_closed_standard_descriptor(folder):
    daemon = bare_daemon(folder, preexec_fn=close_standard_descriptors)
    try:
        for pid in (*started_parts(daemon).values(), daemon.pid):
            assert [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in range(3)] == ["/dev/null"] * 3
    finally:
        daemon.kill()
        daemon.wait()


@pytest.fixture
def full_pipe():
    """The end of a pipe that nobody empties, and a way to fill it up."""
    reading, writing = os.pipe()

    def fill():
        os.set_blocking(writing, False)
        try:
            while True:
                os.write(writing, b"x")
        except BlockingIOError:
            os.set_blocking(writing, True)

    yield writing, fill
    os.close(reading)
    os.close(writing)


def test_a_log_that_nobody_reads_holds_up_nothing(folder, full_pipe):
    writing, fill = full_pipe
    daemon = bare_daemon(folder, stderr=writing)
    try:
        before = started_parts(daemon)
        fill()
        os.kill(before["host"], signal.SIGKILL)
        wait_until(lambda: children_of(daemon.pid).get("host", before["host"]) != before["host"], "a new one")
        begin = time.monotonic()
        daemon.terminate()
        assert daemon.wait(10) == 0 and time.monotonic() - begin < 5
    finally:
        daemon.kill()
        daemon.wait()

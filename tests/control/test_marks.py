# SPDX-License-Identifier: Apache-2.0
"""Marks that people and programs set: `everywatt mark`, annotate.sock, the journal."""

import json
import os
import re
import shutil
import socket
import stat
import subprocess
import time

import pytest
from program import PROGRAM, environment, run, wait_until


def marks(daemon) -> list[dict]:
    lines = daemon.run("events", "--json", code=0).stdout.splitlines()
    return [e for e in map(json.loads, lines) if e["event"] == "annotation"]


def wait_for(daemon, text: str) -> dict:
    return wait_until(lambda: next((m for m in marks(daemon) if m.get("text") == text), None), text)


def counts(daemon) -> dict[str, int]:
    found = re.findall(
        r'everywatt_annotations_total\{result="(\w+)"\} (\d+)', daemon.fetch("/metrics?names=self")
    )
    return {result: int(count) for result, count in found}


class Sender:
    def __init__(self, daemon):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.socket.connect(str(daemon.run_folder / "annotate.sock"))

    def send_surely(self, message) -> None:
        wait_until(lambda: self.send(message), "room for one more")

    def send(self, message) -> bool:
        """False: no room right now."""
        if not isinstance(message, bytes):
            message = json.dumps(message).encode()
        try:
            self.socket.send(message)
        except BlockingIOError:
            return False
        return True


def test_a_mark_stands_among_the_events(serve):
    daemon = serve("--demo", "gemm")
    assert daemon.run("mark", "lr drop \u4e2d", code=0).stdout == ""
    mark = wait_for(daemon, "lr drop \u4e2d")
    assert mark["source"] == "user" and mark["uid"] == os.geteuid() and mark["pid"] > 0
    assert "lr drop" in daemon.run("events", code=0).stdout


def test_a_program_marks_step_epoch_phase_and_values(serve):
    daemon = serve("--demo", "gemm")
    said = {"text": "eval", "step": 1200, "epoch": 2.5, "phase": "train",
            "values": {"loss": 0.25, "lr": 1e-4}}  # fmt: skip
    assert Sender(daemon).send(said)
    mark = wait_for(daemon, "eval")
    assert {key: mark[key] for key in said} == said
    assert mark["uid"] == os.geteuid() and mark["pid"] == os.getpid()
    line = daemon.run("events", code=0).stdout
    assert "eval step=1200 epoch=2.5 phase=train loss=0.25 lr=0.0001" in line


def test_what_is_no_mark_is_dropped_and_counted(serve):
    daemon = serve("--demo", "gemm")
    sender = Sender(daemon)
    bad = [
        b"", b"no JSON", b"[]", b'{"text":"\xff"}', b'{"text":"x","uid":0}', b'{"step":1e300}',
        b'{"epoch":1e999}', b'{"values":{"a":{"b":1}}}', b"[" * 2000, b'{"text":7}',
    ]  # fmt: skip
    for message in bad:
        sender.send_surely(message)
    sender.send_surely(b'{"text":"' + b"x" * 3000 + b'"}')
    sender.send_surely({"text": "good"})
    wait_for(daemon, "good")
    wanted = {"written": 1, "limited": 0, "malformed": len(bad), "too_large": 1}
    wait_until(lambda: counts(daemon) == wanted, lambda: counts(daemon))
    assert len(marks(daemon)) == 1


def test_ten_thousand_at_once_block_nobody_and_the_pace_is_kept(serve):
    daemon = serve("--demo", "gemm")
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    sender = Sender(daemon)
    begin = time.monotonic()
    sent = sum(sender.send({"step": step}) for step in range(10_000))
    assert time.monotonic() - begin < 10
    assert daemon.status("/healthz") == 200 and daemon.status("/readyz") == 200
    wait_until(lambda: sum(counts(daemon).values()) == sent, lambda: (sent, counts(daemon)))
    elapsed = time.monotonic() - begin
    assert min(sent, 100) <= counts(daemon)["written"] <= 100 + 20 * elapsed
    assert counts(daemon)["malformed"] == counts(daemon)["too_large"] == 0
    # Somebody else's marks are not held up by it: tested where users are counted, sender_pace_test.
    assert len(marks(daemon)) == counts(daemon)["written"]


def test_marks_outlive_server_and_daemon(serve, tmp_path):
    data = tmp_path / "data"
    daemon = serve("--demo", "gemm", "--data-dir", data)
    daemon.run("mark", "one", code=0)
    wait_for(daemon, "one")
    server = daemon.parts()["server"]
    os.kill(server, 9)
    daemon.run("mark", "two", code=0)
    wait_for(daemon, "two")
    assert daemon.stop()[0] == 0
    assert not (daemon.run_folder / "annotate.sock").exists()
    assert [m["text"] for m in marks(daemon)] == ["one", "two"]
    again = serve("--demo", "gemm", "--data-dir", data)
    again.run("mark", "three", code=0)
    wait_for(again, "three")
    assert [m["text"] for m in marks(again)] == ["one", "two", "three"]
    assert stat.S_IMODE((data / "journal").stat().st_mode) == 0o640


def test_a_recording_holds_them(serve, tmp_path):
    daemon = serve("--demo", "gemm")
    daemon.run("mark", "kept", code=0)
    wait_for(daemon, "kept")
    for name, options, wanted in (("all", [], 1), ("public", ["--no-identities"], 0)):
        kept = tmp_path / name
        daemon.run("record", kept, "--for", "1s", *options, code=0)
        assert run("events", "--recorder", kept, code=0).stdout.count("kept") == wanted


@pytest.mark.parametrize("data", ["/proc/no/such/folder", "/dev/null"])
def test_without_a_place_for_the_journal_all_else_works(serve, data):
    daemon = serve("--demo", "gemm", "--data-dir", data)
    warnings = [line for line in daemon.log.read_text().splitlines() if "marks" in line]
    assert len(warnings) == 1 and "no marks are taken" in warnings[0]
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    answer = daemon.run("mark", "in vain", code=3)
    assert len(answer.stderr.splitlines()) == 1 and "takes no marks" in answer.stderr
    assert counts(daemon) == {}


def test_without_a_daemon_one_line_says_so(folder):
    answer = run("mark", "in vain", "--run-dir", folder, code=3)
    assert len(answer.stderr.splitlines()) == 1 and "no daemon runs" in answer.stderr
    run("mark", "--run-dir", folder, code=2)
    run("mark", "", "--run-dir", folder, code=2)


def test_one_that_is_too_long_is_refused(serve):
    daemon = serve("--demo", "gemm")
    assert "too long" in daemon.run("mark", "x" * 3000, code=2).stderr


def test_an_ordinary_user_may_mark_and_not_read_others(serve, as_nobody):
    daemon = serve("--demo", "gemm")
    assert stat.S_IMODE((daemon.run_folder / "annotate.sock").stat().st_mode) == 0o666
    daemon.run("mark", "of nobody", code=0, **as_nobody)
    assert wait_for(daemon, "of nobody")["uid"] == as_nobody["user"]
    assert "of nobody" not in daemon.run("events", code=0, **as_nobody).stdout


def test_a_container_reads_and_marks_and_does_nothing_else(serve, tmp_path):
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"]).returncode != 0:
        pytest.skip("this machine makes no containers for its users")
    daemon = serve("--demo", "gemm")
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    inside = tmp_path / "everywatt"
    inside.mkdir()

    def in_container(command: str):
        script = (
            f"mount --bind {daemon.run_folder} {inside} && "
            f"mount -o remount,bind,ro,nosuid,nodev {inside} && {command}"
        )
        return subprocess.run(
            [*unshare, "sh", "-c", script], capture_output=True, text=True, env=environment()
        )

    read = in_container(f"{PROGRAM} get gpu_power_watts --run-dir {inside}")
    assert read.returncode == 0 and "GPU 0" in read.stdout, read.stderr
    marked = in_container(f"{PROGRAM} mark inside --run-dir {inside}")
    assert marked.returncode == 0, marked.stderr
    assert wait_for(daemon, "inside")["uid"] == os.geteuid()
    assert in_container(f"{PROGRAM} drain --run-dir {inside}").returncode == 3
    assert in_container(f"touch {inside}/new").returncode != 0
    assert in_container(f"rm {inside}/annotate.sock").returncode != 0

# SPDX-License-Identifier: Apache-2.0
"""./dev stack: everything comes up, is linked with each other, and leaves nothing behind."""

import json
import os
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import program
import pytest
import servers
from program import SOURCE, wait_until

PARTS = ("Everywatt", "Prometheus", "Alertmanager", "VictoriaMetrics", "chat robot")


def base_port() -> int:
    """The first of five free ports in a row."""
    for base in range(21000, 30000, 10):
        try:
            for port in range(base, base + 5):
                with socket.socket() as taken:
                    taken.bind(("127.0.0.1", port))
        except OSError:
            continue
        return base
    raise AssertionError("no five ports in a row are free")


def fetch(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read().decode()
    except OSError:
        return ""


def series(url: str, query: str) -> list[dict]:
    text = fetch(f"{url}/api/v1/query?{urllib.parse.urlencode({'query': query})}")
    return json.loads(text)["data"]["result"] if text else []


def processes_of(group: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(words[2]) == group and words[0] != "Z":
            found.append(int(status.parent.name))
    return found


def heed_ctrl_c():
    """Tests that run in the background ignore it, and a shell cannot trap what it began by ignoring."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def stack(tmp_path):
    servers.need("prometheus", "victoria-metrics")
    servers.need_alertmanager()
    log = tmp_path / "log"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    # Other users than ours read there.
    for folder in (tmp_path.parent.parent, tmp_path.parent, tmp_path, temporary):
        folder.chmod(0o755)
    before = set(Path("/dev/shm").glob("everywatt-stack-*"))
    with log.open("w") as out:
        process = subprocess.Popen(
            ["./dev", "stack", "--base", str(base_port()), "--demo", "gemm,fed"],
            cwd=SOURCE, stdout=out, stderr=out, start_new_session=True, preexec_fn=heed_ctrl_c,
            env=os.environ | {"EVERYWATT_BIN": program.PROGRAM, "TMPDIR": str(temporary)},
        )  # fmt: skip
    process.log, process.temporary, process.before = log, temporary, before
    yield process
    for pid in processes_of(process.pid):
        os.kill(pid, signal.SIGKILL)
    process.wait()


def test_all_of_it_comes_up_and_ends_without_a_trace(stack):
    def addresses():
        assert stack.poll() is None, stack.log.read_text()
        text = stack.log.read_text()
        return "Ctrl-C" in text and dict(re.findall(r"^(\w[\w ]*?) +(http://[\d.:]+)", text, re.MULTILINE))

    urls = wait_until(addresses, stack.log.read_text, patience_s=60)
    assert tuple(urls) == PARTS
    assert "<title>" in fetch(urls["Everywatt"] + "/")
    wait_until(
        lambda: len(series(urls["Prometheus"], "up == 1")) == 2,
        lambda: series(urls["Prometheus"], "up"),
        patience_s=60,
    )
    managers = json.loads(fetch(urls["Prometheus"] + "/api/v1/alertmanagers"))["data"]
    assert [m["url"].startswith(urls["Alertmanager"]) for m in managers["activeAlertmanagers"]] == [True]
    assert json.loads(fetch(urls["Alertmanager"] + "/api/v2/status"))["config"]["original"]
    assert "Chat robots" in fetch(urls["chat robot"])
    # By remote write, not by a scrape.
    wait_until(
        lambda: len(series(urls["VictoriaMetrics"], "last_over_time(gpu_power_watts[1m])")) == 2,
        "both GPUs in VictoriaMetrics",
        patience_s=60,
    )

    # As a terminal does: to the whole group.
    os.killpg(stack.pid, signal.SIGINT)
    assert stack.wait(30) == 0, stack.log.read_text()
    wait_until(lambda: not processes_of(stack.pid), lambda: processes_of(stack.pid))
    assert list(stack.temporary.iterdir()) == []
    assert set(Path("/dev/shm").glob("everywatt-stack-*")) <= stack.before


def test_what_it_does_not_understand_it_says():
    command = ["./dev", "stack", "--base", "here"]
    result = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2 and "usage: ./dev stack" in result.stderr

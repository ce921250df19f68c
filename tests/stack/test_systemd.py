# SPDX-License-Identifier: Apache-2.0
"""The unit: what systemd says of it, and that the program needs no more than it leaves."""

import re
import shutil
import subprocess

import program
import pytest
import servers
from program import wait_until

UNIT = servers.DEPLOY / "systemd/everywatt.service"
# systemd's own figure from 0 (nothing is exposed) to 10. What is left over is what the program is
# for: it starts as root, reads all processes and the kernel's log, and listens.
MOST_EXPOSED = 3.9


@pytest.fixture
def unit(tmp_path):
    """The unit with a program that is there."""
    servers.need("systemd-analyze")
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/usr/bin/everywatt", program.PROGRAM))
    return copy


def analyze(*arguments) -> str:
    command = ["systemd-analyze", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def test_systemd_finds_nothing_wrong(unit):
    complaints = analyze("verify", unit).splitlines()
    assert [line for line in complaints if unit.name in line] == []


def test_little_is_exposed(unit):
    text = analyze("security", "--offline=yes", f"--threshold={int(MOST_EXPOSED * 10)}", unit)
    score = re.search(r"Overall exposure level for \S+: ([0-9.]+)", text)
    assert float(score[1]) <= MOST_EXPOSED


def capabilities() -> list[str]:
    (line,) = re.findall(r"^CapabilityBoundingSet=(.+)$", UNIT.read_text(), re.MULTILINE)
    return [name.removeprefix("CAP_").lower() for name in line.split()]


def test_the_capabilities_that_it_leaves_are_enough(serve, needs_root, tmp_path):
    servers.need("setpriv")
    left = ",".join(["-all", *(f"+{name}" for name in capabilities())])
    bounded = tmp_path / "everywatt"
    bounded.write_text(
        "#!/bin/sh\n"
        f"exec setpriv --no-new-privs --bounding-set={left} --inh-caps=-all {program.PROGRAM} \"$@\"\n"
    )
    bounded.chmod(0o755)
    whole = program.PROGRAM
    program.PROGRAM = str(bounded)
    try:
        daemon = serve("--demo", "gemm,fed")
    finally:
        program.PROGRAM = whole
    wait_until(lambda: daemon.status("/readyz") == 200, "readings of both GPUs")
    assert {"sampler", "host", "server"} <= set(daemon.parts())
    code, seconds = daemon.stop()
    assert code == 0 and seconds < 10
    assert "denied" not in daemon.log.read_text().lower()
    assert "not permitted" not in daemon.log.read_text().lower()


def test_the_user_of_the_server_is_the_one_that_the_program_looks_for():
    text = (UNIT.parent / "everywatt.sysusers.conf").read_text()
    assert re.search(r"^u everywatt -", text, re.MULTILINE)
    if shutil.which("systemd-sysusers"):
        subprocess.run(
            ["systemd-sysusers", "--dry-run", UNIT.parent / "everywatt.sysusers.conf"],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip

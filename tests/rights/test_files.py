# SPDX-License-Identifier: Apache-2.0
"""Whose the files are, and what another user and a container can do with them."""

import json
import os
import stat
import subprocess

import pytest
from ordinary import ORDINARY
from process import all_started
from program import PROGRAM, environment, run, server_gid, wait_until

STRANGER = ORDINARY + 1

# In a container of its own: what can be read there, and what is refused.
CONTAINER = r"""
set -eu
mount -t tmpfs none /mnt
mkdir /mnt/run
mount --bind "$RUN_FOLDER" /mnt/run
mount -o remount,bind,ro /mnt/run
everywatt() { "$PROGRAM" "$@" --run-dir /mnt/run; }
everywatt get gpu_power_watts --json
everywatt history gpu_power_watts --since 10s --json | head -c 20 >/dev/null
everywatt events --json >/dev/null
if [ -S /mnt/run/annotate.sock ]; then everywatt mark "from a container"; fi
refuse() { if "$@" 2>/dev/null; then echo "allowed: $*" >&2; exit 9; fi; }
refuse touch /mnt/run/new
refuse rm -f /mnt/run/recorder
refuse mv /mnt/run/recorder /mnt/run/old
refuse chmod 0666 /mnt/run/recorder
refuse sh -c 'printf x >>/mnt/run/recorder'
refuse sh -c 'printf x 1<>/mnt/run/recorder'
refuse cat /mnt/run/identities
refuse kill -0 "$SUPERVISOR"
refuse kill -9 "$SAMPLER"
refuse everywatt drain
"""


def mode_of(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def words_on(text: str) -> set[str]:
    """Commands and users in what `processes --json` says."""
    listed = [p for gpu in json.loads(text)["gpus"] for p in gpu["processes"]]
    return {str(p.get(key)) for p in listed for key in ("command", "user")} - {"None", ""}


def wait_for_words(daemon) -> set[str]:
    def ask() -> set[str]:
        return words_on(daemon.run("processes", "--json", code=0).stdout)

    return wait_until(ask, "processes")


def test_files_have_the_modes_and_owners_of_the_contract(serve_as):
    daemon = serve_as("--demo", "gemm")
    all_started(daemon)
    recorder, identities = (daemon.run_folder / name for name in ("recorder", "identities"))
    assert mode_of(daemon.run_folder) == 0o755
    assert mode_of(recorder) == 0o644
    assert mode_of(identities) == 0o640
    assert recorder.stat().st_uid == identities.stat().st_uid == daemon.uid
    if daemon.is_root:
        assert identities.stat().st_gid == server_gid()
    socket = daemon.run_folder / "annotate.sock"
    if socket.exists():
        assert stat.S_ISSOCK(socket.stat().st_mode) and mode_of(socket) == 0o666
    for path in daemon.run_folder.iterdir():
        if path.name not in ("annotate.sock", "data", "everywatt-demo", "demo"):
            assert mode_of(path) & 0o022 == 0, path


def test_another_user_reads_readings_but_neither_commands_nor_labels(serve_as, needs_root):
    daemon = serve_as("--demo", "gemm", "--set", "processes.command=full")
    all_started(daemon)

    def as_stranger(*arguments):
        return run(
            *arguments, "--run-dir", daemon.run_folder,
            user=STRANGER, group=STRANGER, extra_groups=[],
        )  # fmt: skip

    answer = as_stranger("get", "gpu_power_watts", "--json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["readings"][0]["state"] == "ok"
    words = wait_for_words(daemon)
    shown = as_stranger("processes", "--json").stdout
    assert '"pid"' in shown and not words & words_on(shown)
    tries = ["cat identities", "echo >>recorder", "echo >identities", "touch new", "rm -f recorder"]
    for line in tries:
        tried = subprocess.run(
            ["sh", "-c", line], cwd=daemon.run_folder, capture_output=True,
            user=STRANGER, group=STRANGER, extra_groups=[],
        )  # fmt: skip
        assert tried.returncode != 0, line
    for pid in (daemon.process.pid, *daemon.parts().values()):
        tried = subprocess.run(
            ["kill", "-0", str(pid)], capture_output=True,
            user=STRANGER, group=STRANGER, extra_groups=[],
        )  # fmt: skip
        assert tried.returncode != 0


def test_without_credentials_http_tells_no_command_and_no_user(serve_as):
    daemon = serve_as("--demo", "gemm", "--set", "processes.command=full")
    all_started(daemon)
    words = wait_for_words(daemon)
    pages = daemon.fetch("/api/v1/gpus") + daemon.fetch("/metrics")
    assert not [word for word in words if f'"{word}"' in pages]


def test_a_container_with_the_folder_reads_and_does_nothing_else(serve_as):
    daemon = serve_as("--demo", "gemm")
    parts = all_started(daemon)
    unshare = ["unshare", "--user", "--mount", "--pid", "--fork", "--map-root-user"]
    as_user = {}
    if os.geteuid() == 0:
        as_user = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
    if subprocess.run([*unshare, "true"], capture_output=True, **as_user).returncode != 0:
        pytest.skip("this machine lets nobody make namespaces")
    if not as_user and not daemon.is_root:
        pytest.skip("the container's user would be the daemon's own")
    env = environment(
        RUN_FOLDER=str(daemon.run_folder), PROGRAM=PROGRAM,
        SUPERVISOR=str(daemon.process.pid), SAMPLER=str(parts["sampler"]),
    )  # fmt: skip
    inside = subprocess.run(
        [*unshare, "sh", "-c", CONTAINER], env=env, capture_output=True, text=True, timeout=60, **as_user
    )
    assert inside.returncode == 0, inside.stderr
    assert json.loads(inside.stdout)["readings"][0]["state"] == "ok"
    assert daemon.parts() == parts

# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for neighbour in ("cli", "sim"):
    sys.path.insert(0, str(HERE.parent / neighbour))

import program  # noqa: E402

NOBODY = 65534


@pytest.fixture
def folder():
    """A folder of shared memory, as a run folder is."""
    path = Path(tempfile.mkdtemp(prefix="everywatt-test-", dir="/dev/shm"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)
    shutil.rmtree(f"{path}-control", ignore_errors=True)


@pytest.fixture
def serve(folder):
    """Starts a daemon on a free port; ends it after the test."""
    daemons = []

    def start(*arguments, **options):
        daemons.append(program.Daemon(folder, *arguments, **options))
        return daemons[-1]

    yield start
    for daemon in daemons:
        daemon.kill()


@pytest.fixture
def as_nobody():
    """What makes a command that of an ordinary user."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}

# SPDX-License-Identifier: Apache-2.0
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for neighbour in ("cli", "sim"):
    sys.path.insert(0, str(HERE.parent / neighbour))

import program  # noqa: E402


@pytest.fixture
def serve():
    """Starts daemons on free ports, with run folders of their own; ends them after the test."""
    started = []

    def start(*arguments, **options):
        folder = Path(tempfile.mkdtemp(prefix="everywatt-test-", dir="/dev/shm"))
        # The server may be another user. What lies beside a run folder goes with it.
        folder.chmod(0o755)
        run_folder = folder / "run"
        run_folder.mkdir(mode=0o755)
        daemon = program.Daemon(run_folder, *arguments, **options)
        started.append((daemon, folder))
        return daemon

    yield start
    for daemon, folder in started:
        daemon.kill()
        shutil.rmtree(folder, ignore_errors=True)

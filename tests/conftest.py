# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# Programs and daemons; the traces and the playhead, as the simulation's tests know them.
for folder_of_modules in ("cli", "sim"):
    sys.path.insert(0, str(HERE / folder_of_modules))

import program  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "long: runs for minutes or hours, with ./dev test --all alone")


@pytest.fixture
def folder():
    """A folder of shared memory, as a run folder is."""
    path = Path(tempfile.mkdtemp(prefix="everywatt-test-", dir="/dev/shm"))
    # The server may be another user.
    path.chmod(0o755)
    yield path
    # The daemon's doors for orders and its log lie beside its run folder.
    for left in (path, f"{path}-control"):
        shutil.rmtree(left, ignore_errors=True)
    Path(f"{path}.log").unlink(missing_ok=True)


@pytest.fixture
def serve(folder):
    """Starts daemons on free ports in `folder`; ends those that the test leaves behind."""
    daemons = []

    def start(*arguments, **options):
        daemons.append(program.Daemon(folder, *arguments, **options))
        return daemons[-1]

    yield start
    for daemon in daemons:
        daemon.kill()


@pytest.fixture
def serve_apart(folder):
    """The same, each with a run folder of its own."""
    daemons = []

    def start(*arguments, **options):
        run_folder = folder / f"run{len(daemons)}"
        run_folder.mkdir(mode=0o755)
        daemons.append(program.Daemon(run_folder, *arguments, **options))
        return daemons[-1]

    yield start
    for daemon in daemons:
        daemon.kill()


@pytest.fixture
def needs_root():
    if os.geteuid() != 0:
        pytest.skip("needs root")

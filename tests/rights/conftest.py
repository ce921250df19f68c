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

from ordinary import ORDINARY  # noqa: E402

import program  # noqa: E402


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
    """Starts daemons; ends those that the test leaves behind."""
    daemons = []

    def start(*arguments, **options):
        daemon = program.Daemon(folder, *arguments, **options)
        daemons.append(daemon)
        return daemon

    yield start
    for daemon in daemons:
        daemon.kill()


@pytest.fixture(params=["root", "ordinary user"])
def serve_as(request, folder, serve):
    """`serve`, once as root and once as an ordinary user."""
    options = {}
    if request.param == "root":
        needs_root_now()
    elif os.geteuid() == 0:
        os.chown(folder, ORDINARY, ORDINARY)
        options = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}

    def start(*arguments):
        daemon = serve(*arguments, **options)
        daemon.is_root = request.param == "root"
        daemon.uid = 0 if daemon.is_root else options.get("user", os.geteuid())
        return daemon

    return start


def needs_root_now():
    if os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture
def needs_root():
    needs_root_now()

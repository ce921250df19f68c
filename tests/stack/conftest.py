# SPDX-License-Identifier: Apache-2.0
import shutil
import sys
import tempfile
from pathlib import Path

import program
import pytest
import servers

sys.path.insert(0, str(program.SOURCE / "deploy/grafana/source"))


@pytest.fixture(scope="session")
def watch(tmp_path_factory):
    """`watch(*arguments)` starts Everywatt with them and a Prometheus that scrapes it as
    deploy/prometheus says, rules included, but each second; the two of a call serve all tests."""
    started, pairs = [], {}

    def start(*arguments):
        if arguments in pairs:
            return pairs[arguments]
        servers.need("prometheus")
        folder = Path(tempfile.mkdtemp(prefix="everywatt-test-", dir="/dev/shm"))
        folder.chmod(0o755)
        started.append(folder)
        daemon = program.Daemon(folder, *arguments)
        started.append(daemon)
        config = servers.shipped_prometheus(daemon.url)
        prometheus = servers.Prometheus(tmp_path_factory.mktemp("prometheus"), config)
        started.append(prometheus)
        pairs[arguments] = (daemon, prometheus)
        return pairs[arguments]

    yield start
    for thing in reversed(started):
        if isinstance(thing, Path):
            shutil.rmtree(thing, ignore_errors=True)
            shutil.rmtree(f"{thing}-control", ignore_errors=True)
        else:
            thing.kill()

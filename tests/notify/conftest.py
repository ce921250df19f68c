# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import sys
from pathlib import Path

import program
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mail_server import MailServer, make_certificate  # noqa: E402
from robots import Robots  # noqa: E402

DRIVER = program.BUILD / "tests/test_notify_driver"


class Notifier:
    """The program's notifier, without the rest of the program."""

    def __init__(self, folder, channels, environment):
        self.folder = folder
        tables = folder / "channels.json"
        tables.write_text(json.dumps([{"name": name, **table} for name, table in channels.items()]))
        self.log = open(folder / "log", "ab")
        self.process = subprocess.Popen(
            [DRIVER, tables, folder / "spool"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=program.environment(**environment),
        )

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def accept(self, channel, payload):
        return self.ask(f"{channel} {json.dumps(payload, ensure_ascii=False)}")

    def status(self, channel):
        return json.loads(self.ask("status"))[channel]

    def sample(self, channel):
        return self.ask(f"sample {channel}")

    def wait(self, channel, **expected):
        def is_so():
            status = self.status(channel)
            return all(status[name] == value for name, value in expected.items()) and status

        return program.wait_until(is_so, lambda: f"{expected}, but {self.status(channel)}")

    def stop(self):
        self.process.stdin.close()
        assert self.process.wait(10) == 0

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def text_of_log(self):
        return (self.folder / "log").read_text()


@pytest.fixture
def robots():
    robots = Robots()
    yield robots
    robots.close()


@pytest.fixture
def write(folder):
    """A file that only its user may read."""

    def make(name, content):
        path = folder / name
        path.write_text(content)
        os.chmod(path, 0o600)
        return str(path)

    return make


@pytest.fixture
def notify(folder):
    """Starts a notifier with channels: `notify(ops={"type": ...})`."""
    started = []

    def start(environment=None, **channels):
        started.append(Notifier(folder, channels, environment or {}))
        return started[-1]

    yield start
    for notifier in started:
        notifier.kill()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def mail_server(certificate):
    """Starts mail servers: `mail_server(users={"u": "p"})`."""
    started = []

    def start(**options):
        started.append(MailServer(*certificate, **options))
        return started[-1]

    yield start
    for server in started:
        server.close()

# SPDX-License-Identifier: Apache-2.0
import os
import signal
import sys
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).resolve().parent
# What starts real receivers starts a real scraper, too.
sys.path.insert(0, str(HERE.parent / "remote_write"))
sys.path.insert(0, str(HERE))

from certificates import Authority  # noqa: E402
from program import server_gid  # noqa: E402
from scraping import Scraper  # noqa: E402


class AccessFolder:
    """The operator's files, with the rights that docs/security.md asks for: the server may read
    them, and others may not."""

    def __init__(self, path: Path):
        path.mkdir(mode=0o755)
        self.path = path

    def give(self, *files: Path) -> None:
        for file in files:
            file.chmod(0o640)
            if os.geteuid() == 0:
                os.chown(file, 0, server_gid())

    def write(self, name: str, text: str) -> Path:
        """Whole at any time."""
        fresh = self.path / f"{name}.new"
        fresh.write_text(text)
        self.give(fresh)
        return fresh.rename(self.path / name)

    def web_config(self, **keys) -> Path:
        return self.write("web.yml", yaml.safe_dump(keys))


@pytest.fixture
def access(folder):
    return AccessFolder(folder / "access")


@pytest.fixture
def authority(access):
    return Authority(access.path, "authority")


@pytest.fixture
def server_tls(access, authority):
    """The keys of tls_server_config for a server that `authority` signed. Names of files are
    relative to the web configuration file."""
    access.give(*authority.sign("server"))
    return {"cert_file": "server.crt", "key_file": "server.key"}


@pytest.fixture
def scrape(folder):
    """Starts Prometheus: `scrape(url, basic_auth={...}, tls_config={...})`."""
    scrapers = []

    def start(url: str, **login) -> Scraper:
        scrapers.append(Scraper(folder / f"prometheus{len(scrapers)}", url, **login))
        return scrapers[-1]

    yield start
    for scraper in scrapers:
        scraper.stop(signal.SIGKILL)

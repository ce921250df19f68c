# SPDX-License-Identifier: Apache-2.0
"""A daemon with channels, and what Alertmanager does with it."""

import http.client
import json
import os
import pwd
import re
from pathlib import Path
from urllib.parse import urlsplit

from program import wait_until

PATH = "/api/v1/notify/alertmanager/"


def courier_ids() -> tuple[int, int]:
    """User and group of the courier where the daemon is root's."""
    for name in ("everywatt", "nobody"):
        try:
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
        except KeyError:
            pass
    return 65534, 65534


def secret_file(path: Path, text: str) -> Path:
    """As the documentation says: for root and the courier's group alone."""
    path.write_text(text + "\n")
    if os.geteuid() == 0:
        os.chown(path, 0, courier_ids()[1])
    path.chmod(0o640)
    return path


def post(daemon, channel, body, token=None, source="127.0.0.1", **headers) -> tuple[int, str]:
    """Status and text."""
    address = urlsplit(daemon.url)
    client = http.client.HTTPConnection(address.hostname, address.port, timeout=20, source_address=(source, 0))
    headers = {"Content-Type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        client.request("POST", PATH + channel, content, headers)
        answer = client.getresponse()
        return answer.status, answer.read().decode()
    finally:
        client.close()


def value(daemon, name: str, **labels) -> float | None:
    """Of the one series of that name that has these labels."""
    for line in daemon.fetch("/metrics?names=self").splitlines():
        found = re.fullmatch(rf"{name}(\{{.*\}})? (\S+)", line)
        if found and all(f'{k}="{v}"' in (found[1] or "") for k, v in labels.items()):
            return float(found[2])
    return None


def wait_connected(daemon) -> int:
    """The courier, once the server hears it."""
    wait_until(lambda: value(daemon, "everywatt_courier_connected") == 1, "the courier")
    return daemon.parts()["courier"]

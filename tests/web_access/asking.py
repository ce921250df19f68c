# SPDX-License-Identifier: Apache-2.0
"""Asks as a client would, with what it has to prove who it is."""

import base64
import hashlib
import http.client
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


@dataclass
class Answer:
    status: int
    headers: dict[str, str]  # names in lower case
    body: str


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def bearer(token: str) -> str:
    return f"Bearer {token}"


def trust(authority: Path, certificate: tuple[Path, Path] | None = None) -> ssl.SSLContext:
    """Takes servers that `authority` signed, and shows this certificate."""
    context = ssl.create_default_context(cafile=authority)
    if certificate:
        context.load_cert_chain(*certificate)
    return context


def ask(
    url: str,
    path: str = "/metrics",
    login: str = "",
    tls: ssl.SSLContext | None = None,
    client: str = "127.0.0.1",
    method: str = "GET",
) -> Answer:
    place = urlsplit(url)
    if place.scheme == "https":
        connection = http.client.HTTPSConnection(
            place.hostname, place.port, timeout=10, context=tls, source_address=(client, 0)
        )
    else:
        connection = http.client.HTTPConnection(
            place.hostname, place.port, timeout=10, source_address=(client, 0)
        )
    try:
        connection.request(method, path, headers={"Authorization": login} if login else {})
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, headers, answer.read().decode())
    finally:
        connection.close()


def shown_certificate(url: str) -> str:
    """The fingerprint of the one that a new connection is shown."""
    place = urlsplit(url)
    pem = ssl.get_server_certificate((place.hostname, place.port), timeout=10)
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


def fingerprint(certificate: Path) -> str:
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.read_text())).hexdigest()

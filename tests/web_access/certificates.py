# SPDX-License-Identifier: Apache-2.0
"""A certificate authority of one's own, and what it signs."""

import os
import subprocess
from pathlib import Path


def _openssl(*arguments) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


def _new_key(key: Path) -> tuple:
    return (
        *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-days", "2", "-keyout", key),
    )


class Authority:
    def __init__(self, folder: Path, name: str):
        self.folder = folder
        self.name = name
        self.certificate = folder / f"{name}.crt"
        self.key = folder / f"{name}.key"
        _openssl(*_new_key(self.key), "-out", self.certificate, "-subj", f"/CN={name}")

    def sign(self, name: str, alternative: str = "IP:127.0.0.1,DNS:localhost") -> tuple[Path, Path]:
        """A certificate and its key. Signed anew under the same name they are put in the place of
        the old ones, as programs do that renew certificates: each is whole at any time."""
        certificate, key = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        fresh, fresh_key = self.folder / f"{name}.crt.new", self.folder / f"{name}.key.new"
        _openssl(
            *_new_key(fresh_key),
            *("-out", fresh, "-CA", self.certificate, "-CAkey", self.key),
            *("-subj", f"/CN={name}", "-addext", f"subjectAltName={alternative}"),
            *("-addext", "basicConstraints=critical,CA:FALSE"),
        )
        if key.exists():
            owner = key.stat()
            fresh_key.chmod(owner.st_mode & 0o777)
            os.chown(fresh_key, owner.st_uid, owner.st_gid)
        fresh.rename(certificate)
        fresh_key.rename(key)
        return certificate, key

# SPDX-License-Identifier: Apache-2.0
import os

import pytest
from ordinary import ORDINARY


@pytest.fixture(params=["root", "ordinary user"])
def serve_as(request, folder, serve):
    """`serve`, once as root and once as an ordinary user."""
    options = {}
    if request.param == "root":
        request.getfixturevalue("needs_root")
    elif os.geteuid() == 0:
        os.chown(folder, ORDINARY, ORDINARY)
        options = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}

    def start(*arguments):
        daemon = serve(*arguments, **options)
        daemon.is_root = request.param == "root"
        daemon.uid = 0 if daemon.is_root else options.get("user", os.geteuid())
        return daemon

    return start

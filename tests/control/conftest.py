# SPDX-License-Identifier: Apache-2.0
import os

import pytest

NOBODY = 65534


@pytest.fixture
def as_nobody():
    """What makes a command that of an ordinary user."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}

# SPDX-License-Identifier: Apache-2.0
import pytest
from faulty import FaultyMachine


@pytest.fixture
def machine(folder):
    """Makes machines in which a scenario's faults happen when the test says so."""
    made = []

    def make(demo: str, *sections: str, **options) -> FaultyMachine:
        made.append(FaultyMachine(folder / f"machine{len(made)}", demo, sections, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()

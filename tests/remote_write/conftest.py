# SPDX-License-Identifier: Apache-2.0
import signal

import pytest
from receivers import Prometheus, VictoriaMetrics
from sending import start_sending


@pytest.fixture
def prometheus(folder):
    receiver = Prometheus(folder / "prometheus")
    yield receiver
    receiver.stop(signal.SIGKILL)


@pytest.fixture
def victoria_metrics(folder):
    receiver = VictoriaMetrics(folder / "victoria-metrics")
    yield receiver
    receiver.stop(signal.SIGKILL)


@pytest.fixture
def send(folder, serve_apart):
    """A daemon with simulated GPUs that sends: `send(central={"url": ...}, demo="gemm,fed")`."""

    def start(demo: str = "gemm,fed", **destinations):
        return start_sending(folder, serve_apart, demo, destinations)

    return start

# SPDX-License-Identifier: Apache-2.0
"""What real receivers have of what was sent, with everybody alive and with any of them killed."""

import random
import signal
import time

import pytest
from cutting_proxy import CuttingProxy
from program import wait_until
from receivers import Receiver
from recorded import complain, read_rows, snapshots

METRICS = ("gpu_power_watts", "gpu_memory_used_bytes")
GPUS = (0, 1)
SECOND_MS = 1000


def last_time(receiver: Receiver, series: str = 'gpu_power_watts{gpu="0"}') -> int:
    samples = receiver.samples(series)
    return samples[-1][0] if samples else 0


def wait_for_samples(receiver: Receiver, until_ms: int) -> None:
    wait_until(lambda: last_time(receiver) >= until_ms, f"samples up to {until_ms}", 60)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def check_against_the_recorder(sending, receiver: Receiver, from_ms: int, until_ms: int) -> None:
    """With a step of a second: nothing is missing, nothing is another value than it was."""
    checked = 0
    for metric in METRICS:
        for gpu in GPUS:
            expected = snapshots(read_rows(sending.daemon, metric, gpu), SECOND_MS)
            got = receiver.samples(f'{metric}{{gpu="{gpu}"}}')
            assert complain(got, expected, from_ms, until_ms) == []
            checked += sum(from_ms <= at <= until_ms for at in expected)
    assert checked >= (until_ms - from_ms) / SECOND_MS


@pytest.mark.parametrize("kind", ["prometheus", "victoria_metrics"])
def test_a_receiver_has_what_a_scrape_would_have_shown(kind, send, request):
    receiver = request.getfixturevalue(kind)
    sending = send(
        central={"url": f"{receiver.url}/api/v1/write", "step_seconds": 1, "labels": {"rack": "r1"}}
    )
    wait_for_samples(receiver, 1)
    from_ms = receiver.samples('gpu_power_watts{gpu="0"}')[0][0]
    wait_for_samples(receiver, from_ms + 5 * SECOND_MS)
    check_against_the_recorder(sending, receiver, from_ms, from_ms + 4 * SECOND_MS)
    (one,) = receiver.instant('gpu_power_watts{gpu="0"}')
    assert one["metric"]["job"] == "everywatt"
    assert one["metric"]["instance"]
    assert one["metric"]["rack"] == "r1"
    # All of the endpoint's series are there.
    shown = {
        line.split("{")[0].split(" ")[0]
        for line in sending.daemon.fetch("/metrics?names=native").splitlines()
        if not line.startswith("#")
    }
    assert len(shown) > 50
    wait_until(lambda: shown <= receiver.names(), lambda: f"{shown - receiver.names()}")


@pytest.mark.parametrize("kind", ["prometheus", "victoria_metrics"])
def test_below_a_second_every_reading_is_sent_once_with_its_own_time(kind, send, request):
    receiver = request.getfixturevalue(kind)
    sending = send(central={"url": f"{receiver.url}/api/v1/write", "step_seconds": 0.1})
    wait_for_samples(receiver, 1)
    from_ms = receiver.samples('gpu_power_watts{gpu="0"}')[0][0]
    until_ms = from_ms + 5 * SECOND_MS
    wait_for_samples(receiver, until_ms + SECOND_MS)
    for metric in METRICS:
        for gpu in GPUS:
            rows = [
                row
                for row in read_rows(sending.daemon, metric, gpu)
                if from_ms + SECOND_MS < row[0] < until_ms
            ]
            got = [
                sample
                for sample in receiver.samples(f'{metric}{{gpu="{gpu}"}}')
                if from_ms + SECOND_MS < sample[0] < until_ms
            ]
            assert len(rows) >= 35
            assert [value for _, value in got] == [value for _, value in rows]
            # The clock of a machine is corrected by microseconds all the time.
            assert all(abs(one[0] - two[0]) <= 1 for one, two in zip(got, rows))


def test_nothing_is_missing_when_prometheus_is_killed_again_and_again(send, prometheus):
    sending = send(central={"url": f"{prometheus.url}/api/v1/write", "step_seconds": 1})
    wait_for_samples(prometheus, 1)
    from_ms = prometheus.samples('gpu_power_watts{gpu="0"}')[0][0]
    chance = random.Random(20)
    for _ in range(4):
        time.sleep(chance.uniform(0.5, 2.5))
        prometheus.stop(signal.SIGKILL)
        time.sleep(chance.uniform(0.1, 2))
        prometheus.start()
    until_ms = now_ms()
    wait_for_samples(prometheus, until_ms)
    check_against_the_recorder(sending, prometheus, from_ms, until_ms - SECOND_MS)
    counts = sending.counts("central")
    assert counts["failed_samples_total"] == 0
    assert counts["dropped_samples_total"] == 0
    assert counts["retries_total"] > 0


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_missing_when_victoria_metrics_is_cut_off_and_stopped(
    send, victoria_metrics, seed
):
    proxy = CuttingProxy(victoria_metrics.port, seed)
    sending = send(
        central={"url": f"http://127.0.0.1:{proxy.port}/api/v1/write", "step_seconds": 1}
    )
    wait_for_samples(victoria_metrics, 1)
    from_ms = victoria_metrics.samples('gpu_power_watts{gpu="0"}')[0][0]
    chance = random.Random(seed)
    for _ in range(3):
        time.sleep(chance.uniform(2, 4))
        victoria_metrics.stop(signal.SIGTERM)
        time.sleep(chance.uniform(0.1, 2))
        victoria_metrics.start()
    # An answer was cut off; chance does not always do that within these seconds.
    wait_until(proxy.has_passed_one_twice, "the same request again", 60)
    proxy.is_cutting = False
    until_ms = now_ms()
    wait_for_samples(victoria_metrics, until_ms)
    check_against_the_recorder(sending, victoria_metrics, from_ms, until_ms - SECOND_MS)
    # With what came twice, where it did not go into one block.
    stored = victoria_metrics.samples('gpu_power_watts{gpu="0"}')
    victoria_metrics.stop(signal.SIGTERM)
    victoria_metrics.more_arguments = ("-dedup.minScrapeInterval=1ms",)
    victoria_metrics.start()
    shown = victoria_metrics.samples('gpu_power_watts{gpu="0"}')
    assert len(shown) == len(set(shown))
    assert set(stored) <= set(shown)
    counts = sending.counts("central")
    assert counts["failed_samples_total"] == 0
    assert counts["dropped_samples_total"] == 0
    proxy.close()


def test_nothing_is_missing_when_the_sender_is_killed_again_and_again(send, victoria_metrics):
    proxy = CuttingProxy(victoria_metrics.port, 3)
    sending = send(
        central={"url": f"http://127.0.0.1:{proxy.port}/api/v1/write", "step_seconds": 1}
    )
    wait_for_samples(victoria_metrics, 1)
    from_ms = victoria_metrics.samples('gpu_power_watts{gpu="0"}')[0][0]
    chance = random.Random(30)
    for _ in range(5):
        time.sleep(chance.uniform(0.2, 2))
        sending.kill_courier()
    proxy.is_cutting = False
    until_ms = now_ms()
    wait_for_samples(victoria_metrics, until_ms)
    check_against_the_recorder(sending, victoria_metrics, from_ms, until_ms - SECOND_MS)
    proxy.close()


@pytest.mark.parametrize("kind", ["prometheus", "victoria_metrics"])
def test_series_end_at_once_when_their_gpus_are_away(kind, send, request):
    receiver = request.getfixturevalue(kind)
    sending = send(central={"url": f"{receiver.url}/api/v1/write", "step_seconds": 1})
    ending = ("gpu_power_watts", "gpu_process_memory_bytes")
    wait_until(lambda: all(receiver.instant(name) for name in ending), "samples", 60)
    sending.daemon.run("drain", code=0)
    # Without a marker they would be there for five minutes more.
    wait_until(lambda: not any(receiver.instant(name) for name in ending), "their end", 10)
    assert {one["value"][1] for one in receiver.instant("gpu_up")} == {"0"}
    sending.daemon.run("resume", code=0)
    wait_until(lambda: all(receiver.instant(name) for name in ending), "samples again", 20)

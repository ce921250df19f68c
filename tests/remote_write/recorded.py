# SPDX-License-Identifier: Apache-2.0
"""What a receiver must have, told from the rows that the recorder holds."""

from bisect import bisect_right

from receivers import Samples

# A gauge that is read each 100 ms has no value after three periods without a reading.
STALE_MS = 300


def read_rows(daemon, metric: str, gpu: int, since: str = "10m") -> Samples:
    answer = daemon.run_json("history", metric, "--gpu", gpu, "--since", since)
    return [
        (at // 1_000_000, value)
        for at, value, state, _ in answer["series"][0]["points"]
        if state == "ok"
    ]


def snapshots(rows: Samples, step_ms: int) -> dict[int, float]:
    """What a scrape at each multiple of the step would have shown, but for those about which a
    millisecond decides."""
    times = [at for at, _ in rows]
    expected = {}
    first = -(-times[0] // step_ms) * step_ms
    for at in range(first + step_ms, times[-1], step_ms):
        place = bisect_right(times, at) - 1
        is_close_call = at - times[place] < 2 or times[place + 1] - at < 2
        if at - times[place] < STALE_MS and not is_close_call:
            expected[at] = rows[place][1]
    return expected


def complain(got: Samples, expected: dict[int, float], from_ms: int, to_ms: int) -> list[str]:
    """What is missing or wrong between two times; what came twice has to be the same."""
    by_time: dict[int, set[float]] = {}
    for at, value in got:
        by_time.setdefault(at, set()).add(value)
    complaints = [f"{at}: {values}" for at, values in by_time.items() if len(values) > 1]
    for at, value in expected.items():
        if from_ms <= at <= to_ms and by_time.get(at) != {value}:
            complaints.append(f"{at}: {by_time.get(at)} and not {value}")
    return complaints

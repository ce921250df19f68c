# SPDX-License-Identifier: Apache-2.0
"""The main job: what a scrape says about each GPU is what its trace says at that moment."""

import re

import promtool
import pytest
from program import wait_until
from simulated import Machine
from trace import GPM_IDS, NAMES, load

STEP_MS = 100
GPM_CALL = "nvmlGpmSampleGet"
GAUGE_CALL = "nvmlDeviceGetUtilizationRates"


def is_doubtful(trace, played_ms: float) -> bool:
    """Counters that show no work while the driver's own average shows some: their window is not
    closed before the next refresh, which a standing playhead does not bring."""
    row = trace.refresh(played_ms)
    has_work = any(float(row[column]) > 0.1 for column in GPM_IDS if "pcie" not in column)
    return not has_work and any(
        trace.value("util_gpu", at) > 5 for at in (played_ms - STEP_MS, played_ms)
    )


def moments() -> list[int]:
    """Played times at which a step of 100 ms meets exactly one refresh of every trace: in the first
    pass, over a loop's end, and laps later."""

    def is_good(trace, start: int) -> bool:
        refreshes = trace.refresh_times(start, start + STEP_MS)
        return len(refreshes) == 1 and not is_doubtful(trace, start + STEP_MS)

    found = []
    for near in (4_000, 9_000, 15_000, 26_300, 41_000, 63_000):
        for start in range(near, near + 3_000, 10):
            if all(is_good(load(name), start) for name in NAMES):
                found.append(start)
                break
    return found


@pytest.fixture
def machine(folder, tmp_path, serve, request):
    made = Machine(tmp_path, NAMES, request.param, serve, "--set", "lanes.gpm_pace=fast")
    yield made
    made.close()


def expected_gauges(played_ms: float) -> dict[str, dict[str, float]]:
    at = {str(i): load(name) for i, name in enumerate(NAMES)}
    return {
        "DCGM_FI_DEV_GPU_UTIL": {g: t.value("util_gpu", played_ms) for g, t in at.items()},
        "DCGM_FI_DEV_FB_USED": {g: t.value("fb_used_b", played_ms) // 2**20 for g, t in at.items()},
        "DCGM_FI_DEV_POWER_USAGE": {
            g: t.value("power_mw", played_ms) / 1000 for g, t in at.items()
        },
    }


def expected_activity(played_ms: float) -> dict[str, float]:
    return {
        str(i): round(float(load(name).refresh(played_ms)["gract"]) / 100, 6)
        for i, name in enumerate(NAMES)
    }


def differences(metrics: dict, expected: dict) -> list[tuple]:
    """(name, GPU, what is served, what the trace says) of all that is not the same."""
    return [
        (name, gpu, metrics.get(name, {}).get(gpu), value)
        for name, values in expected.items()
        for gpu, value in values.items()
        if metrics.get(name, {}).get(gpu) != value
    ]


def expect(machine, expected: dict) -> None:
    """That is what a scrape says within five seconds; a value does not wait for the others."""
    left = [None]

    def is_there() -> bool:
        found = differences(machine.daemon.metrics("dcgm"), expected)
        if left[0] is None or len(found) < len(left[0]):
            left[0] = found
        return not found

    wait_until(is_there, lambda: left[0], patience_s=5)


def check_text(text: str) -> None:
    """No NaN, no series twice, and nothing that Prometheus' own tool minds."""
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)
    series = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(set(series)) == len(series)
    if promtool.is_installed():
        assert promtool.complaints_but_for_dcgm(text.encode()) == []


@pytest.mark.parametrize("machine", ["h200"], indirect=True)
def test_values_are_the_traces_at_that_moment(machine):
    assert len(moments()) >= 4
    for moment in moments():
        machine.playhead.step_to(moment)
        machine.wait_for_calls(GPM_CALL, 3)
        after = moment + STEP_MS
        machine.playhead.step_to(after)
        expected = expected_gauges(after) | {
            "DCGM_FI_PROF_GR_ENGINE_ACTIVE": expected_activity(after)
        }
        expect(machine, expected)
    check_text(machine.daemon.fetch("/metrics"))


@pytest.mark.parametrize("machine", ["a100"], indirect=True)
def test_without_gpm_the_rest_is_the_traces_and_each_absence_has_a_reason(machine):
    for moment in moments():
        machine.playhead.step_to(moment)
        expected = expected_gauges(moment)
        machine.wait_for_calls(GAUGE_CALL, 2)
        expect(machine, expected)
    text = machine.daemon.fetch("/metrics")
    assert "DCGM_FI_PROF" not in text and "gpu_sm_active_ratio{" not in text
    check_text(text)
    for name in ("gpu_sm_active_ratio", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"):
        answer = machine.daemon.run("why", name, "--json", code=1)
        assert answer.stdout.count('"state":"not_supported"') == len(NAMES)
        assert answer.stdout.count('"reason":') == len(NAMES)


@pytest.mark.parametrize("machine", ["h200"], indirect=True)
def test_a_standing_playhead_brings_no_new_gpm_values(machine):
    """P008: what did not move is no sample."""
    machine.playhead.step_to(8_000)
    machine.wait_for_calls(GPM_CALL, 3)
    machine.playhead.step_to(8_100)
    machine.wait_for_calls(GPM_CALL, 3)

    def rows() -> list[int]:
        answer = machine.daemon.run_json("history", "gpu_sm_active_ratio", "--since", "1m")
        return [len(series["points"]) for series in answer["series"]]

    before = wait_until(lambda: (r := rows()) and min(r) >= 1 and r, "a first window")
    machine.wait_for_calls(GPM_CALL, 10)
    assert rows() == before


def test_gemm_keeps_the_sms_busy_in_its_steady_part(serve):
    daemon = serve("--demo", "gemm", "--set", "lanes.gpm_pace=fast")
    from playhead import Playhead

    playhead = Playhead(daemon.run_folder / "everywatt-demo" / "playhead")
    playhead.step_to(9_000)  # 19 s into the trace, in its loop
    playhead.run()

    def steady() -> list[float] | None:
        # The windows of the last seconds, all taken after the jump.
        if playhead.played_ms < 13_000:
            return None
        answer = daemon.run_json("history", "gpu_sm_active_ratio", "--since", "3s")
        return [v for _, v, state, _ in answer["series"][0]["points"] if state == "ok"]

    values = wait_until(steady, "four seconds of play")
    assert len(values) >= 25
    assert all(abs(value - 0.97) <= 0.02 for value in values), values
    assert abs(daemon.metrics()["gpu_sm_active_ratio"]["0"] - 0.97) <= 0.02

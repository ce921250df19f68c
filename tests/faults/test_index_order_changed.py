# SPDX-License-Identifier: Apache-2.0
"""
Fault: NVML counts the GPUs in another order than before
Seen: `gpu` is nvidia-smi's index as it is now, `uuid` stays with the card; sums stay with the UUID
For: until the next look at what seldom changes
Clears: by itself; nothing is read twice or mixed up
"""

from faulty import BROKEN_MS, Readers
from program import wait_until

OTHER_ORDER = f'[[order]]\nat_ms = {BROKEN_MS}\norder = "2,0,1"\n'
SUM = "gpu_observed_seconds_total"


def uuids(machine) -> dict[str, str]:
    """UUID by index, as the scrape has it."""
    lines = machine.daemon.fetch("/metrics?names=native").splitlines()
    labels = [line.split("{")[1].split("}")[0] for line in lines if line.startswith(SUM + "{")]
    pairs = [dict(each.split("=", 1) for each in label.split(",")) for label in labels]
    return {pair["gpu"].strip('"'): pair["uuid"].strip('"') for pair in pairs}


def sums(machine) -> dict[str, float]:
    by_uuid = uuids(machine)
    return {by_uuid[gpu]: value for gpu, value in machine.daemon.metrics("native")[SUM].items()}


def test_readings_stay_with_their_card_and_the_index_follows(machine):
    broken = machine("gemm,fed,synthetic", OTHER_ORDER)
    broken.wait_until_fresh()
    before, sums_before = uuids(broken), sums(broken)
    with Readers(broken) as readers:
        broken.break_it()
        wait_until(
            lambda: uuids(broken) == {"0": before["2"], "1": before["0"], "2": before["1"]},
            lambda: uuids(broken),
            patience_s=12,
        )
        after = sums(broken)
        assert all(after[uuid] > sums_before[uuid] for uuid in sums_before)
        for gpu, uuid in before.items():
            broken.check_fresh([uuid], readers.since_ns)
    assert broken.ready() == (200, ["ready"])


def test_readings_of_a_card_are_never_mixed_with_those_of_another(machine):
    broken = machine("gemm,fed,synthetic", OTHER_ORDER)
    broken.wait_until_fresh()
    cards = list(uuids(broken).values())
    broken.break_it()
    before = sums(broken)
    wait_until(lambda: all(sums(broken)[card] > before[card] + 1 for card in cards), "a second")
    # Each plays a trace of its own.
    names = {card: broken.daemon.run("processes", "--gpu", card).stdout for card in cards}
    assert len(set(names.values())) == 3

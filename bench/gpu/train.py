#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A steady training load for measurements: ResNet-50, bf16, batch 128, inputs already on the GPU.

Prints one JSON line a window: {"t": monotonic seconds at its end, "steps": n, "seconds": s}. With
--pairs N it alternates windows in which the processes named by --pids run and are stopped
(SIGSTOP), to see whether watching disturbs training; the order within a pair alternates too.
"""

import argparse
import json
import os
import signal
import time

import torch
import torchvision


def build_step(batch: int):
    torch.backends.cudnn.benchmark = True
    model = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    images = torch.randn(batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (batch,), device="cuda")
    loss_of = torch.nn.CrossEntropyLoss()

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = loss_of(model(images), labels)
        loss.backward()
        optimizer.step()

    return step


def run_window(step, seconds: float) -> dict:
    torch.cuda.synchronize()
    start = time.monotonic()
    steps = 0
    while True:
        step()
        steps += 1
        if steps % 4 == 0:
            torch.cuda.synchronize()
            if time.monotonic() - start >= seconds:
                break
    torch.cuda.synchronize()
    end = time.monotonic()
    return {"t": end, "steps": steps, "seconds": end - start}


def run_pairs(step, pairs: int, seconds: float, pids: list[int]) -> None:
    def window(watched: bool) -> dict:
        for pid in pids:
            os.kill(pid, signal.SIGCONT if watched else signal.SIGSTOP)
        time.sleep(0.05)
        return run_window(step, seconds) | {"watched": watched}

    try:
        for pair in range(pairs):
            for watched in (True, False) if pair % 2 == 0 else (False, True):
                print(json.dumps(window(watched) | {"pair": pair}), flush=True)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long, or of each window")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--pids", default="", help="comma-separated")
    options = parser.parse_args()
    step = build_step(options.batch)
    run_window(step, 5)
    print(json.dumps({"ready": time.monotonic()}), flush=True)
    if options.pairs:
        run_pairs(step, options.pairs, options.seconds, [int(p) for p in options.pids.split(",")])
        return
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        print(json.dumps(run_window(step, 1)), flush=True)


if __name__ == "__main__":
    main()

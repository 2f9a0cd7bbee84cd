#!/usr/bin/env python3
"""Trains two networks with PyTorch on a CPU, with the allocator of the C library and by a plan of their third step.

bench/plan_at_run_time.py --preload build/release/src/runtime/libberth_preload.so \
    --berth build/release/tools/berth/berth [--steps 100]

Prints a row for each run: losses (a hash of all), the resident memory before training and its peak from the fifth
step on, and the median time of a step. Needs PyTorch.
"""

import argparse
import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NETWORKS = ("convolutions", "transformer")
FIRST_MEASURED = 5


def resident(key):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) / 1024
    raise KeyError(key)


def make(network):
    import torch
    from torch import nn

    if network == "convolutions":
        def block(inputs, outputs, stride):
            return nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())  # fmt: skip

        model = nn.Sequential(
            block(3, 32, 1), block(32, 32, 1), block(32, 64, 2), block(64, 64, 1), block(64, 128, 2),
            block(128, 128, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))  # fmt: skip
        optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
        return model, optimizer, lambda: (torch.randn(32, 3, 64, 64), torch.randint(10, (32,)))
    layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.1, batch_first=True)
    model = nn.Sequential(
        nn.Embedding(1000, 256), nn.TransformerEncoder(layer, 4), nn.Linear(256, 1000), nn.Flatten(0, 1))  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    return model, optimizer, lambda: (torch.randint(1000, (8, 128)), torch.randint(1000, (1024,)))


def train(network, steps):
    import torch

    step = getattr(ctypes.CDLL(None), "berth_step", lambda: None)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, optimizer, batch = make(network)
    losses, times = [], []
    before = resident("VmRSS")
    for i in range(1, steps + 1):
        if i == FIRST_MEASURED:
            Path("/proc/self/clear_refs").write_text("5")  # The peak begins anew.
        began = time.perf_counter()
        step()
        inputs, targets = batch()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append(time.perf_counter() - began)
    digest = hashlib.sha256(repr(losses).encode()).hexdigest()[:12]
    print(f"losses {digest}, last {losses[-1]:.6f}; {before:.0f} MiB before, {resident('VmHWM'):.0f} MiB at the peak; "
          f"median step {1e3 * sorted(times)[steps // 2]:.0f} ms", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preload")
    parser.add_argument("--berth", default="berth")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--network", choices=NETWORKS, help="train this one in this process")
    arguments = parser.parse_args()
    if arguments.network:
        return train(arguments.network, arguments.steps)
    if not arguments.preload:
        parser.error("--preload names libberth_preload.so")

    def run(network, steps, **variables):
        if variables:
            variables["LD_PRELOAD"] = str(Path(arguments.preload).resolve())
        command = [sys.executable, __file__, "--network", network, "--steps", str(steps)]
        subprocess.run(command, env={**os.environ, **variables}, check=True)

    for network in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            table, plan = str(Path(folder, "step.csv")), str(Path(folder, "plan.csv"))
            print(f"{network}: recording", flush=True)
            run(network, 5, BERTH_RECORD=table)
            subprocess.run([arguments.berth, "place", table, "-o", plan], check=True)
            print(f"{network}: the C library's allocator", flush=True)
            run(network, arguments.steps)
            print(f"{network}: by the plan", flush=True)
            run(network, arguments.steps, BERTH_PLAN=plan)


main()

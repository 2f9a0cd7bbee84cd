#!/usr/bin/env python3
"""Trains two networks with PyTorch on a CPU, with the allocator of the C library and by a plan of their third step.

bench/plan_at_run_time.py --preload build/release/src/runtime/libberth_preload.so \
    --berth build/release/tools/berth/berth --lab build/release/tools/lab/berth-lab [--steps 100] [-o FOLDER]

Prints a row for each run: a hash of all losses, the resident memory before training and its peak from the fifth step
on, the median time of a step, and what the library says of the requests; and with --lab what a request costs without
the network. With -o the rows, the plans and the conditions are kept in FOLDER as well. Needs PyTorch.
"""

import argparse
import csv
import ctypes
import datetime
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NETWORKS = ("convolutions", "transformer")
FIRST_MEASURED = 5
COLUMNS = (
    "network", "allocator", "steps", "losses_sha256", "last_loss", "resident_before_kib", "peak_resident_kib",
    "median_step_seconds", "median_step_processor_seconds", "steps_by_plan", "arena_bytes", "arena_bound_bytes",
    "served", "not_planned", "other_threads", "departures")  # fmt: skip
REPORT = re.compile(
    r"berth: (?P<steps_by_plan>\d+) steps, (?P<served>\d+) requests in an arena of (?P<arena_bytes>\d+) bytes, "
    r"(?P<not_planned>\d+) left to the allocator by the plan, (?P<other_threads>\d+) of other threads"
    r"(, none departed from the plan|; (?P<departures>\d+) departures from the plan)")  # fmt: skip


def resident(key):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1])
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


def median(times):
    return sorted(times)[len(times) // 2]


def train(network, steps):
    """Prints what came of it as one line of JSON."""
    import torch

    step = getattr(ctypes.CDLL(None), "berth_step", lambda: None)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, optimizer, batch = make(network)
    losses, times, processor_times = [], [], []
    before = resident("VmRSS")
    for i in range(1, steps + 1):
        if i == FIRST_MEASURED:
            Path("/proc/self/clear_refs").write_text("5")  # The peak begins anew.
        began, processor_began = time.perf_counter(), time.process_time()
        step()
        inputs, targets = batch()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append(time.perf_counter() - began)
        processor_times.append(time.process_time() - processor_began)
    print(json.dumps({
        "steps": steps,
        "losses_sha256": hashlib.sha256(repr(losses).encode()).hexdigest()[:12],
        "last_loss": f"{losses[-1]:.6f}",
        "resident_before_kib": before,
        "peak_resident_kib": resident("VmHWM"),
        "median_step_seconds": f"{median(times):.4f}",
        "median_step_processor_seconds": f"{median(processor_times):.4f}",
    }), flush=True)  # fmt: skip


def run(arguments, network, steps, **variables):
    """Trains in a process of its own: what it and the library say, as a row."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("BERTH_")}
    if variables:
        variables["LD_PRELOAD"] = str(Path(arguments.preload).resolve())
    command = [sys.executable, __file__, "--network", network, "--steps", str(steps)]
    ran = subprocess.run(command, env={**clean, **variables}, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{network}: exit code {ran.returncode}\n{ran.stderr}")
    row = {"network": network, "allocator": "C library", **json.loads(ran.stdout)}
    if "BERTH_PLAN" in variables:
        report = REPORT.search(ran.stderr)
        if report is None:
            sys.exit(f"{network}: the library has not said what came of the plan:\n{ran.stderr}")
        row.update(report.groupdict(default="0"), allocator="plan")
    return row


def place(arguments, table, plan):
    """The plan of a recorded step, and the least height that is proved."""
    said = subprocess.run(
        [arguments.berth, "place", table, "-o", plan, "--json"], check=True, capture_output=True, text=True)
    return json.loads(said.stdout)["height_bound"]  # fmt: skip


def conditions(arguments, date, load):
    import torch

    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return {
        "date": date,
        "machine": {"cpu": cpu, "hardware_threads": os.cpu_count(),
                    "operating_system": f"{platform.system()} {platform.release()}"},
        "load_average": {"begin": load, "end": os.getloadavg()[0]},
        "berth": subprocess.run([arguments.berth, "--version"], capture_output=True, text=True).stdout.split()[-1],
        "c_library": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": 1,
        "steps": arguments.steps,
        "memory": f"the most that is resident from step {FIRST_MEASURED} on",
        "time": "medians of all steps, by the wall clock and in processor time, which other programs disturb less",
    }  # fmt: skip


def keep(folder, rows, about):
    with open(folder / "plan-at-run-time.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "plan-at-run-time-conditions.json").write_text(json.dumps(about, indent=2) + "\n")


def compare(arguments, network, folder):
    """Records a step, plans it, and trains without and by the plan."""
    table, plan = str(folder / "step.csv"), str(folder / f"{network}-plan.csv")
    run(arguments, network, FIRST_MEASURED, BERTH_RECORD=table)
    bound = place(arguments, table, plan)
    rows = [run(arguments, network, arguments.steps), run(arguments, network, arguments.steps, BERTH_PLAN=plan)]
    rows[1]["arena_bound_bytes"] = bound
    for row in rows:
        print(", ".join(f"{key} {row[key]}" for key in COLUMNS if key in row), flush=True)
    return rows, plan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preload")
    parser.add_argument("--berth", default="berth")
    parser.add_argument("--lab", help="berth-lab, which measures what requests cost")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("-o", "--output", help="the folder for what is kept; default: nothing is")
    parser.add_argument("--network", choices=NETWORKS, help="train this one in this process")
    arguments = parser.parse_args()
    if arguments.network:
        return train(arguments.network, arguments.steps)
    if not arguments.preload:
        parser.error("--preload names libberth_preload.so")
    date, load = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.output or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows, plans = [], []
        for network in NETWORKS:
            compared, plan = compare(arguments, network, Path(temporary))
            rows += compared
            plans.append(plan)
        if arguments.lab:
            output = ["-o", str(folder / "requests.csv")] if arguments.output else []
            subprocess.run([arguments.lab, "replay", *plans, *output], check=True)
        if arguments.output:
            for plan in plans:
                (folder / Path(plan).name).write_bytes(Path(plan).read_bytes())
            keep(folder, rows, conditions(arguments, date, load))


main()

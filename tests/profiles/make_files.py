#!/usr/bin/env python3
"""Makes the files of this folder: a small training step as berth.torch traces it, and what torch.profiler
says of one run of it: tests/profiles/make_files.py. Needs PyTorch. Times differ from run to run, so the
figures in tests/io/profile_test.cc change with the files."""

import json
import sys
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))
import berth.torch  # noqa: E402


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(8 * 16 * 16, 10)).train()  # fmt: skip
    x, y = torch.randn(4, 3, 16, 16), torch.randint(10, (4,))
    graph = berth.torch.trace_training_step(
        model, (x,), F.cross_entropy, (y,), optimizer="sgd", name="step")  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=False)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    step()
    cpu = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=cpu, record_shapes=True) as profile:
        step()
    with tempfile.TemporaryDirectory() as folder:
        profile.export_chrome_trace(f"{folder}/trace.json")
        trace = json.loads(Path(folder, "trace.json").read_text(encoding="utf-8"))
    for key in ("traceName", "host_name"):  # Of the machine.
        trace.pop(key, None)

    def write(name, data):
        (HERE / name).write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")

    write("torch_step.trace.json", trace)
    write("torch_step.json", graph)


main()

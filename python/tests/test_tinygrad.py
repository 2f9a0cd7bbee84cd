"""examples/tinygrad_planner.py: a network trains to the same losses. Needs tinygrad and clang."""

import os
import shutil
import subprocess
import sys

import pytest


def test_training_gives_the_same_losses(root):
    pytest.importorskip("tinygrad")
    clang = next(filter(shutil.which, ("clang", "clang-19", "clang-16", "clang-14")), None)
    if clang is None:
        pytest.skip("tinygrad compiles with clang")
    run = subprocess.run(
        [sys.executable, root / "examples" / "tinygrad_planner.py"],
        env={**os.environ, "CC": clang, "DEV": "CPU"}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "with Berth (optimal)" in run.stdout

#!/usr/bin/env python3
"""Records a step of a program, plans it, and runs it again by the plan.

replay.py steps|torch PRELOAD COMMAND STEPS -- STEPS is the program in C. Exit status 77 without PyTorch.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

which, preload, command, steps = sys.argv[1:]
python = os.environ.get("BERTH_TORCH_PYTHON", sys.executable)
here = Path(__file__).resolve().parent


def run(program, **variables):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("BERTH_")}
    if variables:
        variables["LD_PRELOAD"] = preload
    return subprocess.run(program, env={**clean, **variables}, capture_output=True, text=True, timeout=600)


def output(program, **variables):
    ran = run(program, **variables)
    assert ran.returncode == 0, (program, ran.returncode, ran.stdout, ran.stderr)
    return ran.stdout, ran.stderr


def departures(said):
    found = re.search(r"(\d+) steps, (\d+) requests in an arena of (\d+) bytes.*", said)
    assert found, said
    assert int(found[2]) > 0, said
    return "none departed" not in said


def main():
    if which == "torch":
        if run([python, "-c", "import torch"]).returncode != 0:
            print("Skipped: PyTorch is not installed (BERTH_TORCH_PYTHON names another interpreter).")
            return 77
        program = [python, str(here / "train.py"), "12"]
    else:
        program = [steps, "12"]
    expected, said = output(program)
    with tempfile.TemporaryDirectory() as folder:
        table, plan = str(Path(folder, "step.csv")), str(Path(folder, "plan.csv"))
        recorded, said = output(program, BERTH_RECORD=table)
        assert recorded == expected, (recorded, expected)
        assert "recorded" in said, said
        output([command, "place", table, "-o", plan, "--time-limit", "10s"])
        planned, said = output(program, BERTH_PLAN=plan)
        print(said, end="")
        assert planned == expected, (planned, expected)
        assert not departures(said), said
        if which == "torch":
            return 0
        # A run that departs is told so, and computes the same as without a plan.
        other = [steps, "12", "8"]
        departing, said = output(other, BERTH_PLAN=plan)
        assert departing == output(other)[0]
        assert departures(said) and "the first in step" in said, said
        # Children of fork() find no lock that stays locked, and realloc() to no bytes is a release.
        for variables in ({}, {"BERTH_RECORD": table + ".fork"}, {"BERTH_PLAN": plan}):
            output([steps, "fork"], **variables)
            output([steps, "realloc"], **variables)
        _, said = output([steps, "2"], BERTH_PLAN=plan)
        assert "only 2 steps were begun" in said, said
        for wrong in ("0", "-1", "3x", ""):
            again, said = output(program, BERTH_PLAN=plan, BERTH_STEP=wrong)
            assert f"BERTH_STEP={wrong} is not a step" in said and not departures(said), said
            assert again == expected
        # A run that is too short to record, and plans that are none, are told.
        _, said = output([steps, "3"], BERTH_RECORD=table)
        assert "only 3 steps were begun" in said, said
        for count, silent in (("0", True), ("-5", False)):  # Nothing is asked for; no step is begun.
            _, said = output([steps, count], BERTH_RECORD=table + ".none")
            assert ("has not called berth_step()" in said) != silent, said
        _, said = output(program, BERTH_PLAN=table)
        assert "columns id, size and offset" in said, said
        _, said = output(program, BERTH_PLAN=folder + "/none.csv")
        assert "cannot be opened" in said, said
        said = run(program, BERTH_PLAN=plan, BERTH_RECORD=table).stderr
        assert "exclude each other" in said, said
    return 0


sys.exit(main())

"""The Python packages that a benchmark needs."""

import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

SKIP = 77  # Exit status of a benchmark that lacks something.


def need(name, packages):
    """Returns if this Python has all `packages`: what is imported -> what pip installs. Otherwise
    the running script starts again in a virtual environment, build/NAME, that has them. The versions
    are those that the benchmark was tried with. Exits with SKIP where they cannot be installed."""
    if all(importlib.util.find_spec(each) for each in packages):
        return
    folder = Path(__file__).resolve().parents[1] / "build" / name
    python = folder / "bin" / "python"
    if Path(sys.prefix).resolve() != folder.resolve():
        try:
            if not python.exists():
                venv.create(folder, with_pip=True, symlinks=True)
            install = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
                       "--retries", "1", *packages.values()]  # fmt: skip
            if subprocess.run(install).returncode == 0:
                os.execv(python, [python, *sys.argv])
        except subprocess.CalledProcessError as error:
            print(f"No virtual environment (Debian: apt install python3-venv): {error}")
    print(f"Skipped: one of {', '.join(packages.values())} cannot be installed.")
    sys.exit(SKIP)

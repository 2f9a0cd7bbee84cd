#!/usr/bin/env python3
"""Tests the Python package as users get it: python/tests/run.py BUILD_FOLDER LIBRARY COMMAND

Makes an empty virtual environment in BUILD_FOLDER, builds a wheel (with LIBRARY, a libberth.so.1
that is built already, unless it is "-"), installs it, and runs python/tests against it. Installs
pytest, numpy and mypy from the index; and, where they can be had, what the package only uses if it
is there. Exit status 77 if the index cannot be reached.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

NEEDED = ["pytest", "numpy", "mypy", "setuptools", "wheel"]
# The notebook and some examples need these.
USEFUL = ["pandas", "matplotlib", "onnx", "tqdm", "nbclient", "ipykernel"]
SKIP = 77


def main():
    folder, library, command = Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    root = Path(__file__).resolve().parents[2]
    environment = folder / "venv"
    python = environment / "bin" / "python"
    if not python.exists():
        try:
            venv.create(environment, with_pip=True, symlinks=True)
        except subprocess.CalledProcessError as error:
            print(f"No virtual environment (Debian: apt install python3-venv): {error}")
            return SKIP
    clean = {name: value for name, value in os.environ.items()
             if name not in ("PYTHONPATH", "PYTHONHOME", "BERTH_LIBRARY")}  # fmt: skip

    def pip(*arguments, **more):
        run = subprocess.run(
            [python, "-m", "pip", "--disable-pip-version-check", *arguments],
            env={**clean, **more}, capture_output=True, text=True, cwd=folder,
        )  # fmt: skip
        if run.returncode != 0:
            print(f"pip {' '.join(map(str, arguments))} failed:\n{run.stderr[-3000:]}")
        return run.returncode == 0

    if not pip("install", "--quiet", "--retries", "1", *NEEDED):
        print("The tests of the Python package are skipped, as pip could not fetch what they need.")
        return SKIP
    if not pip("install", "--quiet", "--retries", "1", "--prefer-binary", *USEFUL):
        print("Tests of notebooks, pandas and ONNX models in Python are skipped.")

    for old in folder.glob("*.whl"):
        old.unlink()
    built = {} if library == "-" else {"BERTH_LIBRARY": library}
    if not pip("wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, root, **built):
        return 1
    (wheel,) = folder.glob("*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    if "-py3-none-" not in wheel.name:
        print("The wheel should serve every Python.")
        return 1
    if not pip("install", "--quiet", "--no-deps", "--force-reinstall", wheel):
        return 1
    tests = subprocess.run(
        [python, "-m", "pytest", "-p", "no:cacheprovider", "-rs", "--durations=5",
         root / "python" / "tests"],
        env={**clean, "BERTH_COMMAND": command, "PYTHONDONTWRITEBYTECODE": "1"}, cwd=folder,
    )  # fmt: skip
    return tests.returncode


if __name__ == "__main__":
    sys.exit(main())

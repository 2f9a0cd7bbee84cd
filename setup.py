"""Builds libberth.so.1 with CMake and packs it beside the Python files (pyproject.toml).

The package is pure Python over the C interface, so that one wheel serves every Python: its tag is
py3-none-PLATFORM. Environment variables:

  BERTH_LIBRARY  a libberth.so.1 to pack instead of building one
  CMAKE_ARGS     further arguments for CMake, such as -DCMAKE_CXX_COMPILER=clang++-14
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # Before setuptools 70.1.
    from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
NAME = "libberth.so.1"

# What the build needs, by a word of CMake's message, and Debian's package for it.
NEEDED = {
    "tl-expected": ("the header tl/expected.hpp", "libexpected-dev"),
    "nlohmann_json": ("the header nlohmann/json.hpp", "nlohmann-json3-dev"),
    "CMAKE_CXX_COMPILER": ("a C++20 compiler", "g++"),
    "CMAKE_MAKE_PROGRAM": ("ninja or make", "ninja-build"),
}


def missing(what, package):
    sys.exit(
        f"\nBerth cannot be built: {what} is missing.\n"
        f"On Debian or Ubuntu: apt install {package}   (or scripts/install-dependencies for all)\n"
    )


def run(command):
    """Runs a command with its output shown; returns (exit status, output)."""
    print("+", shlex.join(command), flush=True)
    lines = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        for line in process.stdout:
            sys.stdout.write(line)
            lines.append(line)
    return process.returncode, "".join(lines)


def build_library(folder):
    """Builds the library in `folder` and returns its path."""
    if os.environ.get("BERTH_LIBRARY"):
        return Path(os.environ["BERTH_LIBRARY"])
    if shutil.which("cmake") is None:
        missing("cmake", "cmake")
    if not any(map(shutil.which, [os.environ.get("CXX") or "c++", "g++", "clang++"])):
        missing("a C++20 compiler", "g++")
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder)]
    if not os.environ.get("CMAKE_GENERATOR") and shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    switches = {
        "CMAKE_BUILD_TYPE": "Release",
        "BERTH_BUILD_TOOLS": "OFF",
        "BERTH_BUILD_TESTS": "OFF",
        "BERTH_BUILD_BASELINES": "OFF",
        "BERTH_WERROR": "OFF",
        "BERTH_WITH_XGBOOST": "OFF",
        "BERTH_C_STATIC_RUNTIME": "ON",
    }
    configure += [f"-D{name}={value}" for name, value in switches.items()]
    status, output = run(configure + shlex.split(os.environ.get("CMAKE_ARGS", "")))
    if status != 0:
        for word, (what, package) in NEEDED.items():
            if word in output:
                missing(what, package)
        sys.exit("\nBerth cannot be built: CMake's message is above.")
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
    status, _ = run(["cmake", "--build", str(folder), "--target", "berth_c", "--parallel", jobs])
    if status != 0:
        sys.exit("\nBerth cannot be built: the compiler's message is above.")
    return next(folder.rglob(NAME))


class Build(build_py):
    def run(self):
        if getattr(self, "editable_mode", False):
            target = ROOT / "python" / "berth" / NAME
        else:
            target = Path(self.build_lib) / "berth" / NAME
            shutil.rmtree(target.parent, ignore_errors=True)  # Of an earlier build.
        super().run()
        folder = Path(self.get_finalized_command("build").build_temp).resolve() / "cmake"
        library = build_library(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(library.resolve(), target)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", str(target)], check=False)


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True  # The wheel is for one platform.


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=WithLibrary)

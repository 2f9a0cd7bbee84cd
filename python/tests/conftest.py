"""Paths of the tests: of the repository, of the `berth` command, and of further data."""

import os
import pathlib
import random
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def examples():
    return ROOT / "examples"


@pytest.fixture(scope="session")
def command():
    """The command, with which plans are compared; $BERTH_COMMAND, or that of the release build."""
    built = ROOT / "build" / "release" / "tools" / "berth" / "berth"
    found = os.environ.get("BERTH_COMMAND") or (str(built) if built.exists() else None)
    found = found or shutil.which("berth")
    if found is None:
        pytest.skip("the berth command is not built; $BERTH_COMMAND names it")
    return found


@pytest.fixture(scope="session")
def data():
    """The collection of tables and graphs that $BERTH_DATA names."""
    if "BERTH_DATA" not in os.environ:
        pytest.skip("BERTH_DATA is not set")
    return pathlib.Path(os.environ["BERTH_DATA"])


@pytest.fixture(scope="session")
def hard():
    """(start, end, size) of 500 buffers that fill a rectangle exactly: it is cut into pieces at
    random. No search puts such a puzzle together within a minute."""
    rng = random.Random(1)
    pieces = [(0, 200, 10**9)]
    while len(pieces) < 500:
        pieces.sort(key=lambda piece: (piece[1] - piece[0]) * piece[2])
        last = len(pieces) - 1
        start, end, size = pieces.pop(last - min(int(rng.expovariate(0.7)), last))
        if rng.random() < 0.5 and end - start > 1:
            middle = rng.randrange(start + 1, end)
            pieces += [(start, middle, size), (middle, end, size)]
        else:
            part = rng.randrange(1, size)
            pieces += [(start, end, part), (start, end, size - part)]
    return tuple(list(column) for column in zip(*pieces))

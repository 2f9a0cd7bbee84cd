"""The options of searches, by name."""

from __future__ import annotations

import ctypes
from typing import List, NamedTuple

from berth._errors import check, error_slot
from berth._library import OptionInfo, lib, text


class Option(NamedTuple):
    """What the argument `options` takes: its name, its default and the values allowed as text, and
    what it does."""

    name: str
    default: str
    allowed: str
    sentence: str


def options() -> List[Option]:
    """All options of searches (docs/options.md). Many also are arguments of their own."""
    found = []
    for i in range(lib.berth_option_count()):
        info, slot = OptionInfo(), error_slot()
        check(lib.berth_option_at(i, ctypes.byref(info), ctypes.byref(slot)), slot)
        found.append(Option(*(text(value) for value in info.values().values())))
    return found


def library_version() -> str:
    """The version of libberth.so: "0.1.0"."""
    return text(lib.berth_version_string())

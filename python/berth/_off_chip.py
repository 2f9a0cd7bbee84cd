"""How long a run takes in which one channel makes the copies of a plan while operators run."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Tuple

from berth._arrays import memory
from berth._errors import check, error_slot
from berth._library import Handle, IntervalStruct, OffChipCopyStruct, OffChipSummary, lib

if TYPE_CHECKING:
    from berth._plan import Residency


class OffChipCopy(NamedTuple):
    """A copy of a tensor as a whole, between the memory and the store behind it.

    tensor: its name. bytes: its size. direction: "out" or "in".
    residency: index of Plan.residencies: it begins with the copy, or is what is copied out.
    avoidable: a larger memory would avoid it (Plan.moves); else compulsory.
    after: it waits for the operators of all steps before this one.
    before: the operator of this step waits for it; None if none does.
    begins, ends: in nanoseconds from the beginning of the run.
    """

    tensor: str
    bytes: int
    direction: str
    residency: int
    avoidable: bool
    after: int
    before: Optional[int]
    begins: int
    ends: int


class OffChipRun(NamedTuple):
    """What happens when, in nanoseconds from the beginning of the run.

    time: until the last operator and the last copy have ended.
    computing, copying: the sums of the times of operators and of copies.
    stalled: in which operators wait for copies.
    avoidable_pj, compulsory_pj: the energy of the copied bytes in picojoules; None if the link of the
        device has none.
    copies: in the order in which they are made.
    operators: when that of each step begins and ends.
    """

    time: int
    computing: int
    copying: int
    stalled: int
    avoidable_pj: Optional[float]
    compulsory_pj: Optional[float]
    copies: List[OffChipCopy]
    operators: List[Tuple[int, int]]

    @property
    def one_by_one(self) -> int:
        """The time if nothing else happened while a copy is made."""
        return self.computing + self.copying


def _energy(picojoules: float) -> Optional[float]:
    return None if picojoules < 0 else picojoules


def run_off_chip(plan: int, residencies: List[Residency], steps: int) -> OffChipRun:
    """The run of a plan that the library holds."""
    result, slot = ctypes.c_void_p(), error_slot()
    check(lib.berth_run_off_chip(plan, ctypes.byref(result), ctypes.byref(slot)), slot)
    handle = Handle(result.value, lib.berth_off_chip_run_free)
    sums = OffChipSummary()
    _fill(lib.berth_off_chip_run_summary, handle.pointer, sums)
    copies = []
    for i in range(lib.berth_off_chip_run_copy_count(handle.pointer)):
        each = OffChipCopyStruct()
        _fill(lib.berth_off_chip_run_copy, handle.pointer, i, each)
        of = residencies[each.residency]
        copies.append(
            OffChipCopy(
                of.name,
                of.bytes,
                "out" if each.out else "in",
                each.residency,
                bool(each.avoidable),
                each.after,
                None if each.before == steps else each.before,
                each.begins,
                each.ends,
            )
        )
    count = ctypes.c_size_t()
    found = lib.berth_off_chip_run_operators(handle.pointer, ctypes.byref(count))
    times = memory(found, ctypes.sizeof(IntervalStruct) * count.value).cast("q").tolist()
    return OffChipRun(
        sums.time,
        sums.computing,
        sums.copying,
        sums.stalled,
        _energy(sums.avoidable_pj),
        _energy(sums.compulsory_pj),
        copies,
        list(zip(times[::2], times[1::2])),
    )


def _fill(function: Any, *arguments: Any) -> None:
    *given, struct = arguments
    slot = error_slot()
    check(function(*given, ctypes.byref(struct), ctypes.byref(slot)), slot)

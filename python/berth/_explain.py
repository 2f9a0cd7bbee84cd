"""Why a table does not fit, what changed between two plans, and whether a plan is right."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import (
    Any,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    SupportsIndex,
    Union,
    overload,
)

from berth._answer import OUTCOMES, Answer, Outcome, Path, known
from berth._arrays import IntArray
from berth._errors import check as check_status, error_slot
from berth._graph import Graph, read
from berth._library import (
    ChangeStruct,
    ConflictStruct,
    DiffStruct,
    Handle,
    MemoryChangeStruct,
    TransferStruct,
    encoded,
    lib,
    text,
)
from berth._plan import parse_plan, set_memories
from berth._problem import (
    GapTuple,
    Offsets,
    Placement,
    Problem,
    check_arrays,
    parse_placement,
)
from berth._search import (
    Options,
    OptionsHandle,
    ProgressCallback,
    Size,
    frame,
    search,
    suffix,
    text_of,
    write,
)


class Conflict:
    """Why buffers do not fit a capacity. Sizes are bytes.

    outcome: INFEASIBLE: `buffers` cannot be placed together. FEASIBLE or OPTIMAL: everything fits,
        and there is no conflict. UNKNOWN: the search ended before either was known.
    buffers: indices of the buffers of the conflict.
    minimal: proved: without any one of them the others fit.
    pins_collide: two pins overlap: no capacity is enough.
    step, load: where most of them are live, and how many bytes.
    short_by: proved to be missing for these buffers.
    works_with: the smallest capacity known to be enough, or None.
    height_bound: proved: no less is enough for the whole table.
    """

    outcome: Outcome
    minimal: bool
    pins_collide: bool
    step: int
    load: int
    capacity: Optional[int]
    short_by: int
    works_with: Optional[int]
    height_bound: int
    nodes: int
    seconds: float

    def __init__(self, found: Any, buffers: List[int], problem: Problem) -> None:
        for name, value in found.values().items():
            setattr(self, name, value)
        self.outcome = OUTCOMES[found.outcome]
        self.minimal = bool(found.minimal)
        self.pins_collide = bool(found.pins_collide)
        self.capacity = known(found.capacity)
        self.works_with = known(found.works_with)
        self.buffers = buffers
        self.problem = problem

    @property
    def ids(self) -> List[str]:
        """The names of the buffers of the conflict."""
        return [self.problem[i].id for i in self.buffers]

    def __bool__(self) -> bool:
        """There is a conflict."""
        return bool(self.buffers)

    def __repr__(self) -> str:
        if not self.buffers:
            return f"<Conflict: none, {self.outcome}>"
        minimal = ", minimal" if self.minimal else ""
        works = "" if self.works_with is None else f", {self.works_with:,} are enough"
        reason = "pins collide" if self.pins_collide else (
            f"{self.load:,} bytes at step {self.step}, short by {self.short_by:,}{works}"
        )
        return f"<Conflict: {self.outcome}, {len(self.buffers):,} buffers{minimal}, {reason}>"


@overload
def explain(
    start: Union[Problem, Path],
    *,
    capacity: Size,
    time_limit: Optional[Union[float, str]] = ...,
    node_limit: Optional[int] = ...,
    endpoints: Optional[str] = ...,
    options: Optional[Options] = ...,
    progress: Union[ProgressCallback, bool, None] = ...,
) -> Conflict: ...


@overload
def explain(
    start: IntArray,
    end: IntArray,
    size: IntArray,
    alignment: Union[SupportsIndex, IntArray, None] = ...,
    *,
    capacity: Size,
    time_limit: Optional[Union[float, str]] = ...,
    node_limit: Optional[int] = ...,
    offset: Optional[Offsets] = ...,
    gaps: Optional[Mapping[int, Iterable[GapTuple]]] = ...,
    endpoints: Optional[str] = ...,
    ids: Optional[Sequence[str]] = ...,
    options: Optional[Options] = ...,
    progress: Union[ProgressCallback, bool, None] = ...,
) -> Conflict: ...


def explain(
    start: Union[Problem, Path, IntArray],
    end: Optional[IntArray] = None,
    size: Optional[IntArray] = None,
    alignment: Union[SupportsIndex, IntArray, None] = None,
    *,
    capacity: Size,
    time_limit: Optional[Union[float, str]] = None,
    node_limit: Optional[int] = None,
    offset: Optional[Offsets] = None,
    gaps: Optional[Mapping[int, Iterable[GapTuple]]] = None,
    endpoints: Optional[str] = None,
    ids: Optional[Sequence[str]] = None,
    options: Optional[Options] = None,
    progress: Union[ProgressCallback, bool, None] = None,
) -> Conflict:
    """Which buffers do not fit `capacity` together, where, and how many bytes are missing.

    Arguments and errors: those of place().
    """
    if isinstance(start, Problem):
        problem = start
    elif isinstance(start, (str, os.PathLike)):
        problem = Problem.read(start, endpoints=endpoints)
    elif end is None or size is None:
        raise TypeError("explain() needs start, end and size; or a Problem, or a table's path")
    else:
        problem = Problem(start, end, size, alignment, offset=offset, gaps=gaps,
                          endpoints=endpoints, ids=ids)  # fmt: skip
    request = OptionsHandle()
    request.set_all({"capacity": capacity, "time_limit": time_limit, "node_limit": node_limit,
                     **(options or {})})  # fmt: skip
    found, count = ConflictStruct(), ctypes.c_size_t()
    room = len(problem)
    buffers = (ctypes.c_size_t * room)()
    return search(
        request,
        progress,
        time_limit,
        lambda slot: int(
            lib.berth_explain_problem(
                problem._handle.pointer, request.pointer, ctypes.byref(found), buffers, room,
                ctypes.byref(count), slot,
            )
        ),
        lambda: Conflict(found, list(buffers[: count.value]), problem),
    )  # fmt: skip


class Change(NamedTuple):
    """A buffer that is not as before. What was before, or is now, is None where a plan has not got it.

    memory_before, memory_after: names of memories, of plans for several of them.
    """

    id: str
    start_before: Optional[int]
    start_after: Optional[int]
    end_before: Optional[int]
    end_after: Optional[int]
    size_before: Optional[int]
    size_after: Optional[int]
    offset_before: Optional[int]
    offset_after: Optional[int]
    memory_before: Optional[str]
    memory_after: Optional[str]


class MemoryChange(NamedTuple):
    """One of several memories in two plans; None where a plan has not got it. A capacity may be None
    in any case."""

    name: str
    capacity_before: Optional[int]
    capacity_after: Optional[int]
    height_before: Optional[int]
    height_after: Optional[int]
    peak_before: Optional[int]
    peak_after: Optional[int]


class Transfer(NamedTuple):
    """The buffers that were in the memory `source` and are in `target` now: how many, and their bytes."""

    source: str
    target: str
    buffers: int
    bytes: int


class Diff:
    """What changed from one plan to the next. Sizes are bytes; None where a plan has none.

    height_before, height_after, peak_before, peak_after: of plans in one memory; memories has those of
        several. traffic_before, traffic_after;
    added, removed, grown, shrunk, moved, retimed, unchanged: how many buffers;
    same_order: the operators run in the same order.
    Of plans for several memories: cost_before, cost_after, with same_cost_kind where these can be
        compared; unplaced_before, unplaced_after; other_memory: buffers that are in another memory
        now, which `moved` counts, too.
    """

    height_before: Optional[int]
    height_after: Optional[int]
    peak_before: Optional[int]
    peak_after: Optional[int]
    traffic_before: Optional[int]
    traffic_after: Optional[int]
    added: int
    removed: int
    grown: int
    shrunk: int
    moved: int
    retimed: int
    unchanged: int
    same_order: bool
    same_cost_kind: bool
    other_memory: int
    unplaced_before: int
    unplaced_after: int
    cost_before: Optional[int]
    cost_after: Optional[int]

    def __init__(self, pointer: Optional[int]) -> None:
        self._handle = Handle(pointer, lib.berth_comparison_free)
        found, slot = DiffStruct(), error_slot()
        summary = lib.berth_comparison_summary
        check_status(summary(self._handle.pointer, ctypes.byref(found), ctypes.byref(slot)), slot)
        for name, value in found.values().items():
            setattr(self, name, known(value) if name.endswith(("before", "after")) else value)
        self.same_order = bool(found.same_order)
        self.same_cost_kind = bool(found.same_cost_kind)

    def _all(self, what: str, struct: Any) -> List[Any]:
        """Every entry of one of the lists of the comparison."""
        count, at = getattr(lib, f"{what}_count"), getattr(lib, what)
        entries = []
        for i in range(count(self._handle.pointer)):
            entry, slot = struct(), error_slot()
            status = at(self._handle.pointer, i, ctypes.byref(entry), ctypes.byref(slot))
            check_status(status, slot)
            entries.append(entry)
        return entries

    @functools.cached_property
    def changes(self) -> List[Change]:
        """The buffers that both plans have and that differ, those that grew most first; then new
        ones and those that are gone, each the largest first."""

        def change(found: Any) -> Change:
            def side(name: str, there: int) -> Any:
                value = getattr(found, name)
                if not there:
                    return None
                return (text(value) or None) if name.startswith("memory") else int(value)

            values = [
                side(f"{name}_{end}", found.in_before if end == "before" else found.in_after)
                for name in ("start", "end", "size", "offset", "memory")
                for end in ("before", "after")
            ]
            return Change(text(found.id), *values)

        return [change(each) for each in self._all("berth_comparison_change", ChangeStruct)]

    @functools.cached_property
    def memories(self) -> List[MemoryChange]:
        """Of plans for several memories, those of the new plan, then those that are gone."""
        return [
            MemoryChange(text(each.name), *(known(getattr(each, name))
                                            for name in MemoryChange._fields[1:]))
            for each in self._all("berth_comparison_memory", MemoryChangeStruct)
        ]  # fmt: skip

    @functools.cached_property
    def transfers(self) -> List[Transfer]:
        """What went from each memory to each other, the most bytes first."""
        return [
            Transfer(text(each.from_memory), text(each.to_memory), each.buffers, each.bytes)
            for each in self._all("berth_comparison_transfer", TransferStruct)
        ]

    @property
    def changed(self) -> int:
        """How many buffers are not as before."""
        return int(lib.berth_comparison_change_count(self._handle.pointer))

    def __repr__(self) -> str:
        def pair(name: str, unit: str = " bytes") -> str:
            before, after = getattr(self, name + "_before"), getattr(self, name + "_after")
            if before is None and after is None:
                return ""
            both = ["none" if value is None else f"{value:,}" for value in (before, after)]
            return f"{name} {both[0]} -> {both[1]}{unit}, "

        names = ("added", "removed", "grown", "shrunk", "moved", "other_memory", "retimed", "unchanged")
        counts = [f"{getattr(self, name):,} {name}" for name in names if getattr(self, name)]
        figures = pair("height") + pair("cost", "") + pair("traffic")
        return f"<Diff: {figures}{', '.join(counts).replace('_', ' ')}>"

    @functools.cached_property
    def _page(self) -> bytes:
        return text_of(lib.berth_comparison_to_page, self._handle.pointer)

    def report(self, path: Optional[Path] = None) -> Optional[str]:
        """Writes both plans side by side as one HTML file; without a path, returns it."""
        if path is None:
            return self._page.decode("utf-8")
        suffix(path, (".html",))
        write(path, self._page)
        return None

    def _repr_html_(self) -> str:
        return frame(self._page)


PlanSource = Union[Answer, Path, bytes]


def _content(plan: PlanSource, name: str) -> "tuple[bytes, str]":
    """(a plan as a file, what errors call it)."""
    if isinstance(plan, Answer):
        return plan.to_json().encode("utf-8"), name
    if isinstance(plan, bytes):
        return plan, name
    with open(plan, "rb") as file:
        return file.read(), os.fspath(plan)


def diff(
    before: PlanSource,
    after: PlanSource,
    *,
    memory: Union[Sequence[str], Path, None] = None,
) -> Diff:
    """What changed from one plan to the next: a Plan or Placement, the path or the bytes of a file.

    memory: of tables in CSV with the columns memory and offset, as for plan(): ["sram=512KiB@8GB/s",
        "dram@1GB/s"], or the path of a board. Plans in JSON have memories of their own.
    Buffers are matched by their ids. Raises ParseError, OSError; InvalidPlan, where one plan is for
    several memories and the other for one, or a table is no plan for the memories; InvalidOptions.
    """
    options = OptionsHandle()
    set_memories(options, memory, None, None)
    first, first_name = _content(before, "before")
    second, second_name = _content(after, "after")
    found, slot = ctypes.c_void_p(), error_slot()
    check_status(
        lib.berth_compare_plans_in_memories(
            first, len(first), encoded(first_name), second, len(second), encoded(second_name),
            options.pointer, ctypes.byref(found), ctypes.byref(slot),
        ),
        slot,
    )  # fmt: skip
    return Diff(found.value)


@overload
def check(
    start: Union[Graph, Problem, Path], plan: Union[PlanSource, Sequence[int]], /
) -> None: ...


@overload
def check(
    start: IntArray,
    end: IntArray,
    size: IntArray,
    offsets: IntArray,
    alignment: Union[SupportsIndex, IntArray, None] = ...,
    *,
    capacity: Optional[Size] = ...,
    endpoints: Optional[str] = ...,
) -> None: ...


def check(
    start: Any,
    end: Any = None,
    size: Any = None,
    offsets: Any = None,
    alignment: Union[SupportsIndex, IntArray, None] = None,
    *,
    capacity: Optional[Size] = None,
    endpoints: Optional[str] = None,
) -> None:
    """Checks a plan, whoever made it. Returns None if it holds.

    check(start, end, size, offsets, alignment): the offsets of arrays of buffers, as in place():
        they are aligned, within `capacity` if it is given, and no two buffers that are live
        together overlap.
    check(model, plan): a Graph, a Problem, or the path of a model or table; and a Plan, a
        Placement, the path or the bytes of a plan, or for a table a list of offsets. Also checks
        pins, gaps, the order, and that each operator finds its inputs in the memory.

    Raises InvalidPlacement or InvalidPlan, naming the buffers; what place() and read() raise.
    """
    if isinstance(start, (Graph, Problem, str, bytes, os.PathLike)):
        _check_plan(start if isinstance(start, (Graph, Problem)) else read(start), end)
        return
    if end is None or size is None or offsets is None:
        raise TypeError("check() needs start, end, size and offsets; or a model and a plan")
    check_arrays(start, end, size, offsets, alignment, capacity, endpoints)


def _check_plan(model: Union[Graph, Problem], plan: Any) -> None:
    if plan is None:
        raise TypeError("check() of a model needs a plan")
    if isinstance(model, Problem):
        if isinstance(plan, (Placement, str, bytes, os.PathLike)):
            parse_placement(model, *_content(plan, "plan"))
        else:
            parse_placement(model, model._csv(plan), "offsets")
    else:
        parse_plan(model, *_content(plan, "plan"))

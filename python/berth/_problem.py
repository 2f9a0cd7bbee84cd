"""Tables of buffers: lifetimes known, offsets wanted."""

from __future__ import annotations

import ctypes
import os
from typing import (
    Any,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    SupportsIndex,
    Tuple,
    Union,
    overload,
)

from berth._answer import Answer, Path, SearchReport, against, data_frame, speed
from berth._arrays import (
    IntArray, column, each, int64, memory, position, same_length, whole,
)  # fmt: skip
from berth._library import NONE, BufferStruct, GapStruct, Handle, encoded, lib, text
from berth._proof import Proof, prove
from berth._search import (
    Options,
    OptionsHandle,
    ProgressCallback,
    Size,
    path_bytes,
    save,
    search,
    text_of,
)
from berth._errors import InvalidPlacement, InvalidPlan, check as check_status, error_slot

# For some buffers: {buffer: offset}, or a value for each, where None or -1 means none.
Offsets = Union[Mapping[int, int], Sequence[Optional[int]], Any]
# Steps [start, end) without need for the bytes, or (start, end, lower, upper): in them only the
# bytes [lower, upper) of the buffer are needed.
GapTuple = Union[Tuple[int, int], Tuple[int, int, Optional[int], Optional[int]]]

# Buffers by index, or {buffer: distance}.
Group = Union[Iterable[int], Mapping[int, int]]


class Gap(NamedTuple):
    """Steps [start, end) in which only the bytes [lower, upper) of a buffer are needed; with None,
    none of them."""

    start: int
    end: int
    lower: Optional[int] = None
    upper: Optional[int] = None


class Buffer(NamedTuple):
    """One row of a table: live at the steps from `start` to `end` - 1, sizes in bytes.

    offset: the only offset that it may have (a pin), or None.
    hint: an offset to be tried first, or None.
    """

    id: str
    start: int
    end: int
    size: int
    alignment: int = 1
    offset: Optional[int] = None
    hint: Optional[int] = None
    gaps: Tuple[Gap, ...] = ()


_ENDPOINTS = {None: (0, 0), "half-open": (0, 0), "inclusive": (0, 1), "exclusive": (1, 0)}


class Problem:
    """Buffers with known lifetimes, whose offsets are wanted (docs/problem.md).

    Arguments: those of place(). Problem() is empty; add() appends a buffer. Whether buffers obey
    the rules is checked when they are placed. One thread at a time may change a problem.
    """

    def __init__(
        self,
        start: IntArray = (),
        end: IntArray = (),
        size: IntArray = (),
        alignment: Union[SupportsIndex, IntArray, None] = None,
        *,
        offset: Optional[Offsets] = None,
        hint: Optional[Offsets] = None,
        gaps: Optional[Mapping[int, Iterable[GapTuple]]] = None,
        endpoints: Optional[str] = None,
        ids: Optional[Sequence[str]] = None,
    ) -> None:
        self._handle = Handle(lib.berth_problem_new(), lib.berth_problem_free)
        self._from_array = False
        self._add_arrays(start, end, size, alignment, endpoints, ids)
        for buffer, value in _given(offset):
            self.pin(buffer, value)
        for buffer, value in _given(hint):
            self.hint(buffer, value)
        for buffer, windows in (gaps or {}).items():
            for window in windows:
                self.gap(buffer, *window)

    @classmethod
    def _adopt(cls, pointer: Optional[int]) -> Problem:
        problem = cls.__new__(cls)
        problem._handle = Handle(pointer, lib.berth_problem_free)
        problem._from_array = False
        return problem

    @classmethod
    def read(
        cls,
        source: Union[Path, bytes],
        *,
        endpoints: Optional[str] = None,
        problem: Optional[str] = None,
    ) -> Problem:
        """A table in CSV (docs/formats/csv.md), or a plan that another system wrote down
        (docs/formats/recorded.md): a path, or the bytes of a file.

        endpoints: what the lifetime columns of a table mean: "half-open", "inclusive", "exclusive",
        or "by-name" (the default). problem: the name or the number of one of several. Raises
        FileError, ParseError with the line, InvalidProblem.
        """
        options, slot, result = OptionsHandle(), error_slot(), ctypes.c_void_p()
        options.set_all({"endpoints": endpoints, "problem": problem})
        if isinstance(source, bytes):
            status = lib.berth_problem_parse(
                source, len(source), b"table", options.pointer,
                ctypes.byref(result), ctypes.byref(slot),
            )  # fmt: skip
        else:
            status = lib.berth_problem_read(
                path_bytes(source), options.pointer, ctypes.byref(result), ctypes.byref(slot)
            )
        check_status(status, slot)
        return cls._adopt(result.value)

    def _add_arrays(
        self,
        start: IntArray,
        end: IntArray,
        size: IntArray,
        alignment: Union[SupportsIndex, IntArray, None],
        endpoints: Optional[str],
        ids: Optional[Sequence[str]],
    ) -> None:
        columns = [int64(start, "start"), int64(end, "end"), int64(size, "size")]
        count = same_length(list(zip(("start", "end", "size"), columns)))
        self._from_array = any(c.from_array for c in columns)
        if alignment is not None:
            columns.append(each(alignment, count, "alignment"))
            same_length([("start", columns[0]), ("alignment", columns[3])])
        if ids is not None:
            if len(ids) != count:
                raise ValueError(f"ids has {len(ids)} values, but start has {count}")
            if endpoints not in _ENDPOINTS:
                raise ValueError(f"endpoints is {endpoints!r}; it should be 'half-open', "
                                 "'inclusive' or 'exclusive'")  # fmt: skip
            first, last = _ENDPOINTS[endpoints]
            for id, row in zip(ids, zip(*(c.tolist() for c in columns))):
                self.add(row[0] + first, row[1] + last, *row[2:], id=id)
            return
        options, slot = OptionsHandle(), error_slot()
        options.set("endpoints", endpoints)
        addresses = [c.address for c in columns] + [None] * (4 - len(columns))
        check_status(
            lib.berth_problem_add_arrays(
                self._handle.pointer, count, *addresses, options.pointer, ctypes.byref(slot)
            ),
            slot,
        )

    def add(
        self, start: int, end: int, size: int, alignment: int = 1, *, id: Optional[str] = None
    ) -> int:
        """Adds a buffer that is live at the steps from `start` to `end` - 1; sizes are bytes.
        Returns its index. `id` is the index by default."""
        index, slot = ctypes.c_size_t(), error_slot()
        check_status(
            lib.berth_problem_add(
                self._handle.pointer, None if id is None else encoded(id),
                whole(start, "start"), whole(end, "end"), whole(size, "size"),
                whole(alignment, "alignment"), ctypes.byref(index), ctypes.byref(slot),
            ),
            slot,
        )  # fmt: skip
        return index.value

    def pin(self, buffer: int, offset: Optional[int]) -> None:
        """The only offset that the buffer may have; None: any."""
        slot = error_slot()
        value = -1 if offset is None else whole(offset, "offset")
        buffer = position(buffer, "buffer")
        check_status(
            lib.berth_problem_pin(self._handle.pointer, buffer, value, ctypes.byref(slot)), slot
        )

    def hint(self, buffer: int, offset: Optional[int]) -> None:
        """An offset to be tried first; None: none."""
        slot = error_slot()
        value = -1 if offset is None else whole(offset, "offset")
        buffer = position(buffer, "buffer")
        check_status(
            lib.berth_problem_hint(self._handle.pointer, buffer, value, ctypes.byref(slot)), slot
        )

    def gap(
        self,
        buffer: int,
        start: int,
        end: int,
        lower: Optional[int] = None,
        upper: Optional[int] = None,
    ) -> None:
        """In the steps [start, end) of its lifetime, only the bytes [lower, upper) of the buffer
        are needed; without `lower` and `upper`, none. Gaps are added in increasing order."""
        slot = error_slot()
        if (lower is None) != (upper is None):
            raise ValueError("a window needs both lower and upper")
        window = (-1, -1)
        if lower is not None and upper is not None:
            window = (whole(lower, "lower"), whole(upper, "upper"))
        check_status(
            lib.berth_problem_add_gap(
                self._handle.pointer, position(buffer, "buffer"), whole(start, "start"),
                whole(end, "end"), *window, ctypes.byref(slot),
            ),
            slot,
        )

    def colocate(self, groups: Iterable[Group]) -> Colocated:
        """A table in which each group of buffers is one: they have one offset, or stand at fixed
        distances, and may share bytes with each other: aliases, results written in place.

        groups: each the indices of its buffers, or {buffer: distance in bytes from the group's
            offset}. A buffer is in one group at most.

        Raises InvalidProblem with the buffer whose alignment or pin contradicts its group.
        """
        count = len(self)
        group_of = (ctypes.c_size_t * count)(*[NONE] * count)
        distance_of = (ctypes.c_int64 * count)()
        for number, group in enumerate(groups):
            members = group.items() if isinstance(group, Mapping) else ((b, 0) for b in group)
            for buffer, distance in members:
                index = position(buffer, "buffer")
                if index >= count:
                    raise IndexError(f"there is no buffer {buffer}; there are {count}")
                if group_of[index] != NONE:
                    raise ValueError(f"buffer {buffer} is in two groups")
                group_of[index] = number
                distance_of[index] = whole(distance, "distance")
        result, slot = ctypes.c_void_p(), error_slot()
        buffer_of, shift_of = (ctypes.c_size_t * count)(), (ctypes.c_int64 * count)()
        check_status(
            lib.berth_problem_colocate(
                self._handle.pointer, group_of, distance_of, ctypes.byref(result),
                buffer_of, shift_of, ctypes.byref(slot),
            ),
            slot,
        )  # fmt: skip
        return Colocated(Problem._adopt(result.value), list(zip(buffer_of, shift_of)))

    def __len__(self) -> int:
        return int(lib.berth_problem_count(self._handle.pointer))

    def __getitem__(self, buffer: int) -> Buffer:
        count = len(self)
        if not -count <= buffer < count:
            raise IndexError(f"there is no buffer {buffer}; there are {count}")
        index = buffer % count
        row, slot = BufferStruct(), error_slot()
        check_status(
            lib.berth_problem_buffer(
                self._handle.pointer, index, ctypes.byref(row), ctypes.byref(slot)
            ),
            slot,
        )
        gaps = tuple(self._gap(index, k) for k in range(row.gaps)) if row.gaps else ()
        return Buffer(
            text(row.id),
            row.start,
            row.end,
            row.size,
            row.alignment,
            None if row.pin < 0 else row.pin,
            None if row.hint < 0 else row.hint,
            gaps,
        )

    def _gap(self, buffer: int, index: int) -> Gap:
        gap, slot = GapStruct(), error_slot()
        check_status(
            lib.berth_problem_gap(
                self._handle.pointer, buffer, index, ctypes.byref(gap), ctypes.byref(slot)
            ),
            slot,
        )
        none = gap.lower < 0
        return Gap(gap.start, gap.end, None if none else gap.lower, None if none else gap.upper)

    def __iter__(self) -> Iterator[Buffer]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Problem: {len(self):,} buffers>"

    def to_csv(self, offsets: Optional[IntArray] = None) -> str:
        """The table as CSV; with an offset for each buffer, as a plan."""
        return self._csv(offsets).decode("utf-8")

    def _csv(self, offsets: Optional[IntArray] = None) -> bytes:
        address = None
        if offsets is not None:
            values = int64(offsets, "offsets")
            if values.count != len(self):
                raise ValueError(f"there are {values.count} offsets for {len(self)} buffers")
            address = values.address
        return text_of(lib.berth_problem_to_csv, self._handle.pointer, address)

    def save(self, path: Path) -> None:
        """Writes the table as .csv."""
        save(path, {".csv": self._csv})

    def to_pandas(self) -> Any:
        """A DataFrame with the columns id, start, end, size, alignment, offset (pins) and hint."""
        rows = list(self)
        return data_frame({name: [getattr(row, name) for row in rows] for name in
                           ("id", "start", "end", "size", "alignment", "offset", "hint")})  # fmt: skip


def _given(values: Optional[Offsets]) -> List[Tuple[int, int]]:
    """(buffer, offset) where there is one."""
    if values is None:
        return []
    if isinstance(values, Mapping):
        return [
            (position(buffer, "buffer"), whole(value, "offset"))
            for buffer, value in values.items()
        ]
    if hasattr(values, "tolist"):
        values = values.tolist()
    return [(i, whole(value, "offset")) for i, value in enumerate(values) if value is not None and value != -1]


class Colocated(NamedTuple):
    """What Problem.colocate() returns.

    problem: the table with a buffer for each group and for each buffer without one.
    places: of each buffer given: its buffer in `problem`, and the distance from that one's offset.
    """

    problem: Problem
    places: List[Tuple[int, int]]

    def offsets_of(self, placement: Placement) -> Optional[List[int]]:
        """The offsets of the buffers given, in bytes, from a placement of `problem`."""
        if placement.offsets is None:
            return None
        return [int(placement.offsets[buffer]) + distance for buffer, distance in self.places]


class Placement(Answer):
    """Offsets for the buffers of a table.

    offsets: an offset in bytes for each buffer, in their order: a numpy array if the buffers came
        from arrays and numpy is installed, else a list; None without a plan. With the outcomes
        INFEASIBLE and UNKNOWN they are those of the lowest plan known, which exceeds the capacity.
    problem: the buffers.
    outcome, stopped, capacity, height, lower_bound, nodes, seconds: what is known.
    """

    offsets: Any
    problem: Problem

    def __init__(self, pointer: Optional[int], problem: Problem) -> None:
        super().__init__(pointer)
        self.problem = problem
        count = ctypes.c_size_t()
        found = lib.berth_plan_residencies(self._handle.pointer, ctypes.byref(count))
        self.offsets = None
        if self._summary.has_plan:
            data = memory(found, 40 * count.value)
            self.offsets = column(data, 3, 5, problem._from_array)

    @property
    def lower_bound(self) -> int:
        """Proved: no placement has a smaller height, in bytes."""
        return int(self._summary.height_bound)

    @property
    def fits(self) -> bool:
        """There are offsets, and they are within the capacity (if there is one)."""
        height, capacity = self.height, self.capacity
        return height is not None and (capacity is None or height <= capacity)

    @property
    def algorithm(self) -> str:
        """That found the offsets."""
        return SearchReport(self._handle.pointer, 2).algorithm

    def prove(
        self,
        *,
        time_limit: Optional[Union[float, str]] = None,
        node_limit: Optional[int] = None,
        algorithm: Optional[str] = None,
        seed: Optional[int] = None,
        progress: Union[ProgressCallback, bool, None] = None,
    ) -> Proof:
        """Why the outcome is true: why no placement fits, or that this one fits and none is lower. Searches
        once more, unless a bound is enough.

        time_limit, node_limit: without them, twice the time of the search, ten seconds at least.
        algorithm: "niche" or "guided": that search alone logs its steps; else both in turn.

        Raises InvalidOptions for an outcome that has nothing to prove: only OPTIMAL and INFEASIBLE have.
        """
        options = OptionsHandle()
        options.set_all({"time_limit": time_limit, "node_limit": node_limit, "algorithm": algorithm,
                         "seed": seed})  # fmt: skip
        return prove(self._handle.pointer, options, time_limit, progress)

    def __repr__(self) -> str:
        capacity = "" if self.capacity is None else f" in {self.capacity:,}"
        return (
            f"<Placement: {self.outcome}, {len(self.problem):,} buffers{capacity}, "
            f"{against(self.height, self.lower_bound, 'height')} bytes, "
            f"{speed(self.nodes, self.seconds)}>"
        )

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each buffer: id, start, end, size, alignment, offset."""
        rows = list(self.problem)
        names = ("id", "start", "end", "size", "alignment")
        columns: dict[str, Any] = {name: [getattr(row, name) for row in rows] for name in names}
        columns["offset"] = self.offsets
        return data_frame(columns)


def _as_problem(source: Any, endpoints: Optional[str]) -> Problem:
    if isinstance(source, Problem):
        return source
    return Problem.read(source, endpoints=endpoints)


@overload
def place(
    start: Union[Problem, Path],
    *,
    capacity: Optional[Size] = ...,
    time_limit: Optional[Union[float, str]] = ...,
    node_limit: Optional[int] = ...,
    minimize: Optional[bool] = ...,
    threads: Optional[int] = ...,
    seed: Optional[int] = ...,
    algorithm: Optional[str] = ...,
    endpoints: Optional[str] = ...,
    options: Optional[Options] = ...,
    progress: Union[ProgressCallback, bool, None] = ...,
) -> Placement: ...


@overload
def place(
    start: IntArray,
    end: IntArray,
    size: IntArray,
    alignment: Union[SupportsIndex, IntArray, None] = ...,
    *,
    capacity: Optional[Size] = ...,
    time_limit: Optional[Union[float, str]] = ...,
    node_limit: Optional[int] = ...,
    minimize: Optional[bool] = ...,
    threads: Optional[int] = ...,
    seed: Optional[int] = ...,
    algorithm: Optional[str] = ...,
    offset: Optional[Offsets] = ...,
    hint: Optional[Offsets] = ...,
    gaps: Optional[Mapping[int, Iterable[GapTuple]]] = ...,
    endpoints: Optional[str] = ...,
    ids: Optional[Sequence[str]] = ...,
    options: Optional[Options] = ...,
    progress: Union[ProgressCallback, bool, None] = ...,
) -> Placement: ...


def place(
    start: Union[Problem, Path, IntArray],
    end: Optional[IntArray] = None,
    size: Optional[IntArray] = None,
    alignment: Union[SupportsIndex, IntArray, None] = None,
    *,
    capacity: Optional[Size] = None,
    time_limit: Optional[Union[float, str]] = None,
    node_limit: Optional[int] = None,
    minimize: Optional[bool] = None,
    threads: Optional[int] = None,
    seed: Optional[int] = None,
    algorithm: Optional[str] = None,
    offset: Optional[Offsets] = None,
    hint: Optional[Offsets] = None,
    gaps: Optional[Mapping[int, Iterable[GapTuple]]] = None,
    endpoints: Optional[str] = None,
    ids: Optional[Sequence[str]] = None,
    options: Optional[Options] = None,
    progress: Union[ProgressCallback, bool, None] = None,
) -> Placement:
    """Gives every buffer its offset: as few bytes as possible, or within `capacity`.

    Buffers are a Problem, the path of a table in CSV, or arrays of n integers: lists, array.array,
    numpy, torch on the CPU. Arrays of int64 are read without a loop in Python.

    start, end: steps; the buffer is live at those from `start` to `end` - 1.
    size: bytes, from 1 to 2^60.
    alignment: the offset is a multiple of it: one number for all, or n.
    capacity: bytes, or text such as "512KiB".
    time_limit: seconds.
    node_limit: ends the search after this many nodes: the same on every machine.
    minimize: go on below the capacity until the height is proved least.
    threads: the answer does not depend on it.
    seed: of random numbers.
    algorithm: one of those that `berth place --help` lists; "auto" by default.
    offset: pins, {buffer: offset}, or n offsets with None or -1 for none.
    hint: offsets to be tried first, as `offset`.
    gaps: {buffer: [(start, end), ...]}: steps [start, end) in which its bytes are not needed;
        (start, end, lower, upper): in which only its bytes [lower, upper) are.
    endpoints: "half-open" (the default for arrays), or "inclusive" if `end` is the last live step.
    ids: n names, for errors, files and pages; "0", "1", ... by default.
    options: further options by name, such as {"niche.beam": "off"} (docs/options.md).
    progress: called about 20 times a second with a Progress, on this thread; if it returns True,
        the search ends with the best plan so far. True shows a bar. False also leaves out what
        Ctrl-C needs (some 10 us for a call): it then waits until the search has ended.

    Raises InvalidProblem with the buffer, InvalidOptions, Unsupported, MemoryError; TypeError for
    values that are not integers, and ValueError for arrays that do not match. Interrupted, with the
    best placement so far as `partial`, on Ctrl-C. That nothing fits is an outcome, not an error.

    Other threads run during the search.
    """
    if isinstance(start, (Problem, str, os.PathLike)):
        given = {"end": end, "size": size, "alignment": alignment, "offset": offset, "hint": hint,
                 "gaps": gaps, "ids": ids}  # fmt: skip
        for name, value in given.items():
            if value is not None:
                raise TypeError(f"{name} is for arrays; a Problem or a table has its own")
        problem = _as_problem(start, endpoints)
    elif end is None or size is None:
        raise TypeError("place() needs start, end and size; or a Problem, or a table's path")
    else:
        problem = Problem(start, end, size, alignment, offset=offset, hint=hint, gaps=gaps,
                          endpoints=endpoints, ids=ids)  # fmt: skip
    request = OptionsHandle()
    request.set_all({"capacity": capacity, "time_limit": time_limit, "node_limit": node_limit,
                     "minimize": minimize, "threads": threads, "seed": seed,
                     "algorithm": algorithm, **(options or {})})  # fmt: skip
    result = ctypes.c_void_p()
    return search(
        request,
        progress,
        time_limit,
        lambda slot: int(
            lib.berth_place_problem(
                problem._handle.pointer, request.pointer, ctypes.byref(result), slot
            )
        ),
        lambda: Placement(result.value, problem),
    )


def check_arrays(
    start: IntArray,
    end: IntArray,
    size: IntArray,
    offsets: IntArray,
    alignment: Union[SupportsIndex, IntArray, None],
    capacity: Optional[Size],
    endpoints: Optional[str],
) -> None:
    """berth.check() of arrays."""
    names = ["start", "end", "size", "offsets"]
    columns = [int64(a, name) for a, name in zip((start, end, size, offsets), names)]
    if alignment is not None:
        columns.append(each(alignment, columns[0].count, "alignment"))
        names.append("alignment")
    count = same_length(list(zip(names, columns)))
    options, slot = OptionsHandle(), error_slot()
    options.set_all({"capacity": capacity, "endpoints": endpoints})
    aligned = columns[4].address if len(columns) > 4 else None
    status = lib.berth_check(
        count, columns[0].address, columns[1].address, columns[2].address, aligned,
        options.pointer, columns[3].address, ctypes.byref(slot),
    )  # fmt: skip
    _placement_errors(status, slot)


def _placement_errors(status: int, slot: Any) -> None:
    """Errors of offsets are InvalidPlacement."""
    try:
        check_status(status, slot)
    except InvalidPlacement:
        raise
    except InvalidPlan as error:
        raise InvalidPlacement(error.message, error.subject, error.index) from None


def parse_placement(problem: Problem, content: bytes, name: str) -> Placement:
    """A plan in JSON or CSV for a table, checked."""
    result, slot = ctypes.c_void_p(), error_slot()
    status = lib.berth_plan_parse_problem(
        problem._handle.pointer, content, len(content), encoded(name),
        ctypes.byref(result), ctypes.byref(slot),
    )  # fmt: skip
    _placement_errors(status, slot)
    return Placement(result.value, problem)

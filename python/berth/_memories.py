"""Several memories: which buffer goes where, at which offset, and why not elsewhere."""

from __future__ import annotations

import ctypes
from array import array
from dataclasses import dataclass
from typing import Any, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from berth._answer import OUTCOMES, STOPS, Outcome, Path, Stop, known
from berth._arrays import IntArray, Int64, each, int64, position, whole
from berth._errors import check, error_slot
from berth._library import (
    NONE,
    DisplacedStruct,
    Handle,
    MemoriesStruct,
    MemoriesSummary,
    encoded,
    lib,
    text,
)
from berth._problem import Group, Problem, _as_problem
from berth._search import Options, OptionsHandle, ProgressCallback, Size, search

# Rows of costs, one for each buffer; None or -1 where it may not be.
Costs = Union[Sequence[Sequence[Optional[int]]], Any]
# In them: what the uses of the buffer cost there.
BY_USES = -2


@dataclass(frozen=True)
class Memory:
    """One of several memories. Bytes, and costs in any unit that all costs have.

    name: unique, for errors. capacity: None for as large as necessary.
    alignment: of the offsets. base: the address of its first byte.
    read, write: (cost, bytes): that much for every so many bytes. access: for each access.
    reserved: (lower, upper, start, end): bytes that no buffer may use at these steps.
    """

    name: str
    capacity: Optional[int] = None
    alignment: int = 1
    base: int = 0
    read: Tuple[int, int] = (0, 1)
    write: Tuple[int, int] = (0, 1)
    access: int = 0
    reserved: Sequence[Tuple[int, int, int, int]] = ()


Memories = Sequence[Union[Memory, int, None]]
Uses = Union[Mapping[int, Tuple[int, int, int]], Sequence[Tuple[int, int, int]]]


class Displaced(NamedTuple):
    """A buffer, or several that stand together, and a memory in which it would cost less.

    buffers: of a plan of a model, tensors. start, end: when it is live; of several, the first one.
    memory: where it is, or None. cheaper: where it would cost less. Both are indices.
    cost: what it costs; 0 if it must be placed and is not (must). least: what it would cost there.
    reason: what keeps it from there: "memory": too small for it, or reserved; "bytes": at a step fewer
        are free than it needs; "places": enough are free at each step, but nowhere the same ones;
        "nothing": the plan is not the best.
    step: where the fewest bytes of that memory are left, `free`, of the `needed` ones. All are None
        where the memory is the reason, or has no capacity.
    offset: where there `in_the_way` save the least, or None.
    saved: what these save where they are; None if one of them may be in no other memory.
    """

    buffers: List[int]
    start: int
    end: int
    memory: Optional[int]
    cheaper: int
    cost: int
    least: int
    must: bool
    reason: str
    step: Optional[int]
    free: Optional[int]
    needed: Optional[int]
    offset: Optional[int]
    in_the_way: List[int]
    saved: Optional[int]


@dataclass(frozen=True)
class MemoryPlacement:
    """What place_in_memories() and repack() return. Costs are in the unit of the costs given.

    memories: of each buffer, the index of its memory; None if it is left out.
    offsets: its offset there, or None.
    outcome: OPTIMAL if everything that must be placed is, at the least cost.
    unplaced: how many buffers that must be placed are not; no plan leaves out fewer than
        unplaced_bound, and none that leaves out as few costs less than cost_bound.
    moved: bytes of placed buffers that are not where they were.
    """

    memories: List[Optional[int]]
    offsets: List[Optional[int]]
    outcome: Outcome
    stopped: Stop
    unplaced: int
    unplaced_bound: int
    cost: int
    cost_bound: int
    moved: int
    nodes: int
    seconds: float

    @property
    def fits(self) -> bool:
        """Every buffer that must be placed is."""
        return self.outcome in (Outcome.OPTIMAL, Outcome.FEASIBLE)


def _numbers(values: Iterable[Optional[int]], count: int, name: str) -> array[int]:
    """`count` numbers, -1 for None."""
    numbers = array("q", [-1 if v is None else whole(v, name) for v in values])
    if len(numbers) != count:
        raise ValueError(f"{name} has {len(numbers)} values, but there are {count}")
    return numbers


def _rows(costs: Any, count: int, width: int) -> Any:
    """The costs one after another, as something that has them in memory."""
    shape = getattr(costs, "shape", None)
    if shape is not None:
        if tuple(shape) != (count, width):
            raise ValueError(f"costs has the shape {tuple(shape)}, not {(count, width)}")
        return int64(costs.reshape(-1), "costs")
    numbers = array("q")
    if len(costs) != count:
        raise ValueError(f"costs has {len(costs)} rows, but there are {count} buffers")
    for buffer, row in enumerate(costs):
        values = [-1 if cost is None else whole(cost, "costs") for cost in row]
        if len(values) != width:
            raise ValueError(
                f"costs[{buffer}] has {len(values)} values, but there are {width} memories"
            )
        numbers.extend(values)
    return numbers


def _address(values: Any) -> int:
    return int(values.address if isinstance(values, Int64) else values.buffer_info()[0])


def _described(memories: Memories) -> List[Memory]:
    """Numbers are capacities. The name "" is that of no memory."""
    return [m if isinstance(m, Memory) else Memory("", m) for m in memories]


class _Request:
    """The struct of a call, and the arrays that it points to."""

    def __init__(self, count: int, capacities: Memories) -> None:
        self.count = count
        self.struct = MemoriesStruct()
        self._kept: List[Any] = []  # Alive as long as this.
        self._described = described = _described(capacities)
        self.struct.memories = self.memories = len(described)
        limits = [-1 if m.capacity is None else whole(m.capacity, "capacities") for m in described]
        self.struct.capacities = self._keep(array("q", limits))
        if not any(isinstance(m, Memory) for m in capacities):
            return
        names = [encoded(m.name or str(i)) for i, m in enumerate(described)]
        self._kept.append(names)
        self.struct.names = self._keep((ctypes.c_char_p * len(names))(*names))
        for field, values in (
            ("bases", [m.base for m in described]),
            ("read_costs", [m.read[0] for m in described]),
            ("read_bytes", [m.read[1] for m in described]),
            ("write_costs", [m.write[0] for m in described]),
            ("write_bytes", [m.write[1] for m in described]),
            ("access_costs", [m.access for m in described]),
        ):
            setattr(self.struct, field, self._keep(_numbers(values, len(described), field)))

    def _keep(self, values: Any) -> int:
        self._kept.append(values)
        if isinstance(values, ctypes.Array):
            return ctypes.addressof(values)
        return _address(values)

    def set_rules(
        self,
        costs: Optional[Costs],
        alignments: Union[int, IntArray, None],
        reserved: Iterable[Tuple[int, int, int, int, int]],
        cost_left_out: Union[Mapping[int, int], Sequence[Optional[int]], None],
    ) -> None:
        count, memories = self.count, self.memories
        own = [m.alignment for m in self._described]
        if alignments is not None and any(each_own != 1 for each_own in own):
            raise ValueError("alignments: a Memory has its own")
        values = each(own if alignments is None else alignments, memories, "alignments")
        if values.count != memories:
            raise ValueError(f"alignments has {values.count} values, but there are {memories}")
        self.struct.alignments = self._keep(values)
        ranges = [_numbers(entry, 5, "reserved") for entry in reserved]
        for number, described in enumerate(self._described):
            ranges += [_numbers((number, *r), 5, "reserved") for r in described.reserved]
        self.struct.reserved = self._keep(array("q", [n for entry in ranges for n in entry]))
        self.struct.reserved_count = len(ranges)
        if costs is not None:
            self.struct.costs = self._keep(_rows(costs, count, memories))
        if isinstance(cost_left_out, Mapping):
            numbers = array("q", [-1]) * count
            for buffer, cost in cost_left_out.items():
                numbers[_buffer(buffer, count)] = whole(cost, "cost_left_out")
            self.struct.costs_left_out = self._keep(numbers)
        elif cost_left_out is not None:
            self.struct.costs_left_out = self._keep(
                _numbers(cost_left_out, count, "cost_left_out")
            )

    def set_uses(self, uses: Optional[Uses], places: Iterable[Tuple[int, int, int, int]]) -> None:
        count = self.count
        if uses is not None:
            columns = [array("q", [0]) * count for _ in range(3)]
            rows = uses.items() if isinstance(uses, Mapping) else enumerate(uses)
            for buffer, row in rows:
                for values_of, number in zip(columns, _numbers(row, 3, "uses")):
                    values_of[_buffer(buffer, count)] = number
            self.struct.bytes_read, self.struct.bytes_written, self.struct.accesses = map(
                self._keep, columns
            )
        listed = [_numbers(place, 4, "places") for place in places]
        for place in listed:
            _buffer(place[0], count)
        self.struct.places = self._keep(array("q", [n for place in listed for n in place]))
        self.struct.place_count = len(listed)

    def set_previous(self, previous: Optional[Mapping[int, Sequence[int]]]) -> None:
        """Places of two numbers have no cost of being anywhere else."""
        if not previous:
            return
        count = self.count
        columns = [array("q", [-1]) * count, array("q", [0]) * count, array("q", [0]) * count]
        for buffer, place in previous.items():
            full = (*place, 0) if len(place) == 2 else place
            for values_of, number in zip(columns, _numbers(full, 3, "previous")):
                values_of[_buffer(buffer, count)] = number
        self.struct.previous_memories, self.struct.previous_offsets, self.struct.move_costs = map(
            self._keep, columns
        )

    def set_relations(
        self,
        together: Iterable[Group],
        apart: Iterable[Tuple[int, int]],
        apart_memories: Iterable[Tuple[int, int]],
    ) -> None:
        count = self.count
        group_of = (ctypes.c_size_t * count)(*[NONE] * count)
        distance_of = array("q", [0]) * count
        for number, group in enumerate(together):
            members = group.items() if isinstance(group, Mapping) else ((b, 0) for b in group)
            for buffer, distance in members:
                index = _buffer(buffer, count)
                if group_of[index] != NONE:
                    raise ValueError(f"buffer {buffer} is in two groups")
                group_of[index] = number
                distance_of[index] = whole(distance, "distance")
        self.struct.groups = self._keep(group_of)
        self.struct.distances = self._keep(distance_of)
        pairs = [(pair, 0) for pair in apart] + [(pair, 1) for pair in apart_memories]
        flat = [_buffer(buffer, count) for pair, _ in pairs for buffer in pair]
        if len(flat) != 2 * len(pairs):
            raise ValueError("apart has an entry that is not a pair")
        self.struct.apart = self._keep((ctypes.c_size_t * len(flat))(*flat))
        self.struct.apart_memories = self._keep(
            (ctypes.c_int8 * len(pairs))(*[kind for _, kind in pairs])
        )
        self.struct.apart_count = len(pairs)


def _search(
    function: Any,
    table: Problem,
    request: _Request,
    time_limit: Optional[Union[float, str]],
    values: Mapping[str, Any],
    progress: Union[ProgressCallback, bool, None],
) -> MemoryPlacement:
    """What one of the library's functions for several memories finds."""
    handle = OptionsHandle()
    handle.set_all(values)
    chosen, offsets = (ctypes.c_int64 * len(table))(), (ctypes.c_int64 * len(table))()
    summary = MemoriesSummary()

    def result() -> MemoryPlacement:
        return MemoryPlacement(
            [None if m < 0 else m for m in chosen],
            [None if m < 0 else offset for m, offset in zip(chosen, offsets)],
            OUTCOMES[int(summary.outcome)],
            STOPS[int(summary.stopped)],
            summary.unplaced,
            summary.unplaced_bound,
            summary.cost,
            summary.cost_bound,
            summary.moved,
            summary.nodes,
            summary.seconds,
        )

    return search(
        handle,
        progress,
        time_limit,
        lambda slot: int(
            function(
                table._handle.pointer, ctypes.byref(request.struct), handle.pointer, chosen, offsets,
                ctypes.byref(summary), slot,
            )
        ),
        result,
    )  # fmt: skip


def place_in_memories(
    problem: Union[Problem, Path],
    capacities: Memories,
    costs: Optional[Costs] = None,
    *,
    alignments: Union[int, IntArray, None] = None,
    reserved: Iterable[Tuple[int, int, int, int, int]] = (),
    cost_left_out: Union[Mapping[int, int], Sequence[Optional[int]], None] = None,
    previous: Optional[Mapping[int, Tuple[int, int, int]]] = None,
    together: Iterable[Group] = (),
    apart: Iterable[Tuple[int, int]] = (),
    apart_memories: Iterable[Tuple[int, int]] = (),
    uses: Optional[Uses] = None,
    places: Iterable[Tuple[int, int, int, int]] = (),
    time_limit: Optional[Union[float, str]] = None,
    node_limit: Optional[int] = None,
    options: Optional[Options] = None,
    progress: Union[ProgressCallback, bool, None] = None,
) -> MemoryPlacement:
    """Chooses a memory for every buffer, and an offset in it, at the least cost.

    problem: a Problem, or the path of a table in CSV. Its pins are for every memory.
    capacities: of each memory, in bytes; None for as large as necessary. Or a Memory each, with all
        that is known of it.
    costs: n rows with a cost for each memory, None or -1 where the buffer may not be, BY_USES for what
        its uses cost there; or an array of the shape (n, memories). By default every buffer may be
        anywhere, at what its uses cost.
    alignments: of the offsets in each memory, or one number for all.
    reserved: (memory, lower, upper, start, end): bytes that no buffer may use at these steps.
    cost_left_out: {buffer: cost}, or n costs: these buffers need not be placed, and cost this if they
        are not. All others (None) must be placed.
    previous: {buffer: (memory, offset, cost of being anywhere else)} of an earlier plan.
    together: groups of buffers in one memory, as Problem.colocate() takes them.
    apart: pairs of buffers that never share a byte, even at different times.
    apart_memories: pairs that are not even in one memory.
    uses: {buffer: (bytes read, bytes written, accesses)}, or n of these, which cost what each Memory
        says. By default none.
    places: (buffer, memory, offset, cost): single offsets that a buffer may be at, besides what its
        `costs` allow; without these, there alone.
    time_limit, node_limit, options, progress: as in place().

    Raises InvalidProblem with the buffer, InvalidOptions, Unsupported; TypeError and ValueError for
    arguments that do not match. That nothing fits is an outcome, not an error.
    """
    table = _as_problem(problem, None)
    request = _Request(len(table), capacities)
    request.set_rules(costs, alignments, reserved, cost_left_out)
    request.set_uses(uses, places)
    request.set_previous(previous)
    request.set_relations(together, apart, apart_memories)
    values = {"time_limit": time_limit, "node_limit": node_limit, **(options or {})}
    return _search(lib.berth_place_in_memories, table, request, time_limit, values, progress)


def repack(
    problem: Union[Problem, Path],
    capacities: Memories,
    previous: Mapping[int, Sequence[int]],
    costs: Optional[Costs] = None,
    *,
    most_moved: Optional[Size] = None,
    exchange: Optional[bool] = None,
    place_nodes: Optional[int] = None,
    alignments: Union[int, IntArray, None] = None,
    reserved: Iterable[Tuple[int, int, int, int, int]] = (),
    cost_left_out: Union[Mapping[int, int], Sequence[Optional[int]], None] = None,
    together: Iterable[Group] = (),
    apart: Iterable[Tuple[int, int]] = (),
    apart_memories: Iterable[Tuple[int, int]] = (),
    uses: Optional[Uses] = None,
    places: Iterable[Tuple[int, int, int, int]] = (),
    time_limit: Optional[Union[float, str]] = None,
    node_limit: Optional[int] = None,
    options: Optional[Options] = None,
    progress: Union[ProgressCallback, bool, None] = None,
) -> MemoryPlacement:
    """Changes an earlier plan as little as possible, so that more, or what is worth more, fits.

    For the inner loop of a compiler that keeps its most useful buffers in a fast memory. For some
    hundred buffers it takes milliseconds if all find places, and seconds if many are left out: set
    time_limit=0.01, and the answer is the best plan so far. The plan has the fewest buffers unplaced,
    then the least cost, then the fewest bytes moved of those that are found. It is never worse than the
    earlier plan, if that keeps the rules; where places collide, those of the least benefit give way.
    place_in_memories() proves more, if there is time.

    previous: {buffer: (memory, offset)} of the earlier plan, or (memory, offset, cost of being
        anywhere else). All other buffers are new.
    most_moved: at most so many bytes of placed buffers leave their previous places: a number, or
        text such as "64KiB". By default as many as necessary.
    exchange: buffers that cost less to leave out make room for others (default). False: what is in a
        memory is not left out.
    place_nodes: of each question to place(), which is asked where moving a few buffers does not help;
        2000 by default, 0: it is not asked.
    problem, capacities, costs, alignments, reserved, cost_left_out, together, apart, apart_memories,
        uses, places: as in place_in_memories(). time_limit, node_limit, options, progress: as in place(). Without a
        limit the search ends after a fixed amount of work, always with the same answer.

    Raises InvalidProblem with the buffer, InvalidOptions; Unsupported for more than 60 memories;
    TypeError, ValueError and IndexError for arguments that do not match. That nothing fits is an
    outcome, not an error.
    """
    table = _as_problem(problem, None)
    request = _Request(len(table), capacities)
    request.set_rules(costs, alignments, reserved, cost_left_out)
    request.set_uses(uses, places)
    request.set_previous(previous)
    request.set_relations(together, apart, apart_memories)
    values = {"most_moved": most_moved, "exchange": exchange, "place_nodes": place_nodes,
              "time_limit": time_limit, "node_limit": node_limit, **(options or {})}  # fmt: skip
    return _search(lib.berth_repack, table, request, time_limit, values, progress)


def _indices(address: Optional[int], count: int) -> List[int]:
    if address is None:
        return []
    return list((ctypes.c_size_t * count).from_address(address))


def displaced_of(pointer: Optional[int]) -> List[Displaced]:
    """The entries of a handle, which this frees."""
    handle = Handle(pointer, lib.berth_displacements_free)
    entries = []
    for i in range(lib.berth_displacements_count(handle.pointer)):
        each_of, slot = DisplacedStruct(), error_slot()
        check(
            lib.berth_displacements_at(
                handle.pointer, i, ctypes.byref(each_of), ctypes.byref(slot)
            ),
            slot,
        )
        has_step = bool(each_of.has_step)
        entries.append(
            Displaced(
                _indices(each_of.buffers, each_of.buffer_count),
                each_of.start,
                each_of.end,
                None if each_of.memory == NONE else each_of.memory,
                each_of.cheaper,
                each_of.cost,
                each_of.least,
                bool(each_of.must),
                text(lib.berth_obstacle_name(each_of.obstacle)),
                each_of.step if has_step else None,
                each_of.free if has_step else None,
                each_of.needed if has_step else None,
                known(each_of.offset),
                _indices(each_of.in_the_way, each_of.in_the_way_count),
                known(each_of.saved),
            )
        )
    return entries


def find_displaced(
    problem: Union[Problem, Path],
    capacities: Memories,
    placement: MemoryPlacement,
    costs: Optional[Costs] = None,
    *,
    most: int = 10,
    alignments: Union[int, IntArray, None] = None,
    reserved: Iterable[Tuple[int, int, int, int, int]] = (),
    cost_left_out: Union[Mapping[int, int], Sequence[Optional[int]], None] = None,
    previous: Optional[Mapping[int, Sequence[int]]] = None,
    together: Iterable[Group] = (),
    apart: Iterable[Tuple[int, int]] = (),
    apart_memories: Iterable[Tuple[int, int]] = (),
    uses: Optional[Uses] = None,
    places: Iterable[Tuple[int, int, int, int]] = (),
) -> List[Displaced]:
    """Why buffers are not in the memory in which they would cost the least.

    placement: the plan: what place_in_memories() or repack() returned.
    most: entries at most: those that must be placed first, then those that would save the most.
    problem, capacities, costs, alignments, reserved, cost_left_out, previous, together, apart,
        apart_memories, uses, places: as in the call that made the plan.

    Raises InvalidProblem with the buffer; InvalidPlan if the plan breaks a rule; TypeError, ValueError
    and IndexError for arguments that do not match.
    """
    table = _as_problem(problem, None)
    count = len(table)
    request = _Request(count, capacities)
    request.set_rules(costs, alignments, reserved, cost_left_out)
    request.set_uses(uses, places)
    request.set_previous(previous)
    request.set_relations(together, apart, apart_memories)
    chosen = _numbers(placement.memories, count, "placement.memories")
    offsets = _numbers(placement.offsets, count, "placement.offsets")
    result, slot = ctypes.c_void_p(), error_slot()
    check(
        lib.berth_find_displaced(
            table._handle.pointer,
            ctypes.byref(request.struct),
            _address(chosen),
            _address(offsets),
            position(most, "most"),
            ctypes.byref(result),
            ctypes.byref(slot),
        ),
        slot,
    )
    return displaced_of(result.value)


def _buffer(buffer: int, count: int) -> int:
    index = position(buffer, "buffer")
    if index >= count:
        raise IndexError(f"there is no buffer {buffer}; there are {count}")
    return index

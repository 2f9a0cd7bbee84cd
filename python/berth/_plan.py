"""Plans of graphs: an order, an offset for every tensor, and what leaves the memory."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from berth._answer import Answer, Path, SearchReport, against, data_frame, known, speed
from berth._arrays import memory, position
from berth._errors import check as check_status, error_slot
from berth._graph import Graph, Model, as_graph
from berth._library import (
    NONE,
    CopyStruct,
    MemoriesSummary,
    MemoryStruct,
    RecomputedStruct,
    RunStruct,
    encoded,
    indices,
    lib,
    text,
)
from berth._memories import Displaced, displaced_of
from berth._off_chip import OffChipRun, run_off_chip
from berth._proof import Proof, prove
from berth._search import Options, OptionsHandle, ProgressCallback, Size, search, text_of


class Residency(NamedTuple):
    """A tensor in a memory at one address, at the steps from `start` to `end` - 1.

    tensor: its index in the graph.
    name: its name.
    bytes: its size.
    offset: in bytes; None in a plan without offsets.
    memory: the index of the memory; 0 where there is only one.
    comes_in: copied in before `start`, not made by the operator of that step.
    written_out: copied out of this memory before `end`.
    """

    tensor: int
    name: str
    start: int
    end: int
    bytes: int
    offset: Optional[int]
    memory: int
    comes_in: bool
    written_out: bool


class Move(NamedTuple):
    """A copy that a larger memory would avoid: before `step`, `tensor` with `bytes` bytes is copied
    in the direction "out" or "in"."""

    step: int
    tensor: str
    bytes: int
    direction: str


class Traffic(NamedTuple):
    """Bytes between the memory and the one outside.

    spilled: written out to make room; retrieved: brought back. Their sum is `avoidable`.
    compulsory_in: given tensors, read once each. compulsory_out: results, written once each.
    """

    spilled: int
    retrieved: int
    compulsory_in: int
    compulsory_out: int

    @property
    def avoidable(self) -> int:
        return self.spilled + self.retrieved


class Recomputed(NamedTuple):
    """What running operators again costs.

    operators: executions after the first of each operator.
    cost: of these. copies: what the copies of `Plan.traffic` cost, if the device has a link.
    bound: proved: no plan within the capacity has a lower sum of both.
    of_run: the cost of running every operator once.
    unit: of these costs: that of the graph, "ns" for a device, else "bytes".
    """

    operators: int
    cost: int
    copies: int
    bound: int
    of_run: int
    unit: str


class MemoryUse(NamedTuple):
    """What a plan takes of one of several memories, in bytes.

    name, capacity: as given; a capacity of None is as large as necessary.
    height: the largest offset + size. peak: the most bytes live at one step.
    """

    name: str
    capacity: Optional[int]
    height: int
    peak: int


class Copy(NamedTuple):
    """A copy of a tensor from one of several memories to another.

    source, target: indices of Plan.memories.
    after_step, before_step: between these operators it is made. Without `prefetch` they follow each
        other, and wait; with it, operators in between run meanwhile.
    cost: of reading there and writing here; with `prefetch`, the time that it takes.
    begins, ends: with `prefetch`, in nanoseconds from the beginning of the run; otherwise None.
    """

    tensor: str
    bytes: int
    source: int
    target: int
    after_step: int
    before_step: int
    cost: int
    begins: Optional[int]
    ends: Optional[int]


class Run(NamedTuple):
    """Where the time of a run goes, in nanoseconds: `time` is the sum of the others.

    computing: of operators, without accesses. accessing: to tensors where they are.
    stalled: in which operators wait for copies.
    """

    time: int
    computing: int
    accessing: int
    stalled: int


class Plan(Answer):
    """A plan of a graph, and what is known of it.

    graph: as it was planned.
    order: the operator of each step, as indices of graph.operators; empty without a plan. Operators
        that run again, in a plan made with `recompute`, come again.
    """

    graph: Graph
    order: List[int]

    def __init__(self, pointer: Optional[int], graph: Graph) -> None:
        super().__init__(pointer)
        self.graph = graph
        count = ctypes.c_size_t()
        found = lib.berth_plan_order(self._handle.pointer, ctypes.byref(count))
        self.order = memory(found, count.value * ctypes.sizeof(count)).cast("Q").tolist()

    @functools.cached_property
    def residencies(self) -> List[Residency]:
        """Where each tensor is when; in the order of the tensors, then of time."""
        count = ctypes.c_size_t()
        found = lib.berth_plan_residencies(self._handle.pointer, ctypes.byref(count))
        data = memory(found, 40 * count.value)
        numbers, flags = data.cast("q").tolist(), data.cast("b").tolist()
        places = data.cast("i").tolist()
        addressed = bool(self._summary.addressed)
        result = []
        for i in range(count.value):
            tensor, start, end, offset = numbers[5 * i : 5 * i + 4]
            of = self.graph.tensor(tensor)
            result.append(
                Residency(
                    tensor,
                    of.name,
                    start,
                    end,
                    of.bytes,
                    offset if addressed else None,
                    places[10 * i + 8],
                    bool(flags[40 * i + 36]),
                    bool(flags[40 * i + 37]),
                )
            )
        return result

    @property
    def offsets(self) -> Optional[List[int]]:
        """Those of the residencies, in the same order; None without offsets."""
        if not self._summary.addressed:
            return None
        return [r.offset for r in self.residencies if r.offset is not None]

    def offset(self, tensor: Union[int, str], step: Optional[int] = None) -> Optional[int]:
        """The offset of a tensor (index or name) at a step. Without a step, that of a tensor that
        never changes its address; ValueError if it does. None where it is not in the memory."""
        found = {
            r.offset
            for r in self.residencies
            if (r.name if isinstance(tensor, str) else r.tensor) == tensor
            and (step is None or r.start <= step < r.end)
        }
        if len(found) > 1:
            raise ValueError(f"tensor {tensor!r} comes back at another address: "
                             "name the step")  # fmt: skip
        return found.pop() if found else None

    @functools.cached_property
    def memories(self) -> List[MemoryUse]:
        """The memories, if `memory` was given; Residency.memory is an index of this list. Otherwise
        empty."""
        pointer = self._handle.pointer
        found = []
        for i in range(lib.berth_plan_memory_count(pointer)):
            use, slot = MemoryStruct(), error_slot()
            check_status(
                lib.berth_plan_memory(pointer, i, ctypes.byref(use), ctypes.byref(slot)), slot
            )
            found.append(MemoryUse(text(use.name), known(use.capacity), use.height, use.peak))
        return found

    @functools.cached_property
    def _costs(self) -> Optional[MemoriesSummary]:
        if not self.memories:
            return None
        found, slot = MemoriesSummary(), error_slot()
        pointer = self._handle.pointer
        check_status(lib.berth_plan_memories(pointer, ctypes.byref(found), ctypes.byref(slot)), slot)
        return found

    @functools.cached_property
    def copies(self) -> List[Copy]:
        """The copies from one of several memories to another, of a plan made with `may_move` or
        `prefetch`, in the order in which they are made."""
        pointer = self._handle.pointer
        found = []
        for i in range(lib.berth_plan_copy_count(pointer)):
            each, slot = CopyStruct(), error_slot()
            check_status(
                lib.berth_plan_copy(pointer, i, ctypes.byref(each), ctypes.byref(slot)), slot
            )
            name = self.graph.tensor(each.tensor).name
            found.append(
                Copy(name, each.bytes, each.from_memory, each.to_memory, each.start - 1,
                     each.before, each.cost, known(each.begins), known(each.ends))
            )  # fmt: skip
        return found

    @functools.cached_property
    def run(self) -> Optional[Run]:
        """Where the time goes, if the plan was made with `prefetch`; otherwise None."""
        found, slot = RunStruct(), error_slot()
        pointer = self._handle.pointer
        if lib.berth_plan_run(pointer, ctypes.byref(found), ctypes.byref(slot)) != 0:
            lib.berth_error_free(slot)
            return None
        return Run(found.time, found.computing, found.accessing, found.stalled)

    @functools.cached_property
    def recomputed(self) -> Optional[Recomputed]:
        """The operators that run again, if the plan was made with `recompute`; otherwise None."""
        found, slot = RecomputedStruct(), error_slot()
        pointer = self._handle.pointer
        if lib.berth_plan_recomputed(pointer, ctypes.byref(found), ctypes.byref(slot)) != 0:
            lib.berth_error_free(slot)
            return None
        return Recomputed(
            found.operators, found.cost, found.copies, found.bound, found.of_run, text(found.unit)
        )

    @property
    def cost(self) -> Optional[int]:
        """Of a plan in several memories, in nanoseconds or the unit of the board; otherwise None."""
        return int(self._costs.cost) if self._costs and self._summary.has_plan else None

    @property
    def cost_bound(self) -> Optional[int]:
        """Proved: no plan in several memories that leaves out as few tensors as can be costs less."""
        return int(self._costs.cost_bound) if self._costs else None

    @property
    def unplaced(self) -> int:
        """Tensors that have no place in any of several memories."""
        return int(self._costs.unplaced) if self._costs else 0

    def displaced(self, most: int = 10) -> List[Displaced]:
        """Of a plan in several memories: why tensors are not in the memory in which they would cost the
        least; the `most` that would save the most, those that have no place first. A tensor that is
        copied has no entry: without its copies it would be another plan. Raises ValueError for any
        other plan, and for one that spills."""
        result, slot = ctypes.c_void_p(), error_slot()
        check_status(
            lib.berth_plan_displaced(
                self._handle.pointer, position(most, "most"), ctypes.byref(result), ctypes.byref(slot)
            ),
            slot,
        )
        return displaced_of(result.value)

    def prove(
        self,
        *,
        time_limit: Optional[Union[float, str]] = None,
        node_limit: Optional[int] = None,
        progress: Union[ProgressCallback, bool, None] = None,
    ) -> Proof:
        """Why no order has a peak below the height of the plan or, if nothing fits, within the capacity.
        Looks for it once more.

        time_limit, node_limit: without them, twice the time of the search, ten seconds at least.

        Raises InvalidOptions for an outcome that does not rest on a bound of all orders: OPTIMAL and
        INFEASIBLE mostly do, but not with spills, with operators that run again or in several memories.
        """
        options = OptionsHandle()
        options.set_all({"time_limit": time_limit, "node_limit": node_limit})
        return prove(self._handle.pointer, options, time_limit, progress)

    def run_off_chip(self) -> OffChipRun:
        """How long a run takes if one channel makes the copies between the memory and the store behind it
        while operators run: of the copies that may begin, the one that an operator waits for first
        (docs/formats/device.md). The graph was read with a `device` that has a link. Raises InvalidOptions
        without such a device, or where an operator has no time; InvalidPlan without offsets, or in several
        memories; ValueError where there is no plan."""
        return run_off_chip(self._handle.pointer, self.residencies, len(self.order))

    @property
    def operators(self) -> List[str]:
        """The names of the operators in the order of the plan."""
        return [self.graph.operator(i).name for i in self.order]

    @property
    def moves(self) -> List[Move]:
        """The copies that a larger memory would avoid, in the order in which they happen."""
        moves = []
        for before, after in zip(self.residencies, self.residencies[1:]):
            # Where it is not retrieved, an operator makes it again.
            if before.tensor == after.tensor and after.comes_in:
                if before.written_out:
                    moves.append(Move(before.end, before.name, before.bytes, "out"))
                moves.append(Move(after.start, after.name, after.bytes, "in"))
        # What is spilled makes room for what is retrieved.
        return sorted(moves, key=lambda move: (move.step, move.direction == "in"))

    @property
    def peak(self) -> Optional[int]:
        """The most bytes resident at one step; None without a plan."""
        return known(self._summary.peak)

    @property
    def height_bound(self) -> int:
        """Proved: no plan has a smaller height."""
        return int(self._summary.height_bound)

    @property
    def placement_bound(self) -> int:
        """Proved: no placement of these residencies has a smaller height."""
        return int(self._summary.placement_bound)

    @property
    def peak_bound(self) -> int:
        """Proved: no order has a lower peak."""
        return int(self._summary.peak_bound)

    @property
    def program_order_peak(self) -> int:
        """The peak if the operators run as they are listed."""
        return int(self._summary.program_order_peak)

    @property
    def spills(self) -> bool:
        """`budget` or `spill` was given: tensors may have been spilled."""
        return bool(self._summary.spills)

    @property
    def fixed_order(self) -> bool:
        """Outcome and bounds are about this order alone."""
        return bool(self._summary.fixed_order)

    @property
    def traffic(self) -> Optional[Traffic]:
        """Bytes in and out; None if the plan was made without `budget`."""
        s = self._summary
        if not s.spills or not s.has_plan:
            return None
        return Traffic(s.spilled, s.retrieved, s.compulsory_in, s.compulsory_out)

    @property
    def traffic_bound(self) -> Optional[int]:
        """Proved: no plan within the capacity has less avoidable traffic. None without `budget`."""
        return int(self._summary.traffic_bound) if self._summary.spills else None

    @property
    def least_memory(self) -> Optional[int]:
        """With `budget`: what the largest operator needs by itself; no plan fits in less (MR)."""
        return known(self._summary.least_memory)

    @property
    def least_operator(self) -> Optional[str]:
        """With `budget`: the first operator that needs `least_memory`."""
        index = self._summary.least_operator
        if index == NONE:
            return None
        return self.graph.operator(index).name

    @property
    def least_peak(self) -> Optional[int]:
        """With `budget`: from this capacity on nothing is spilled, and nothing runs again (MP)."""
        return known(self._summary.least_peak)

    @property
    def unsized(self) -> int:
        """Tensors in the plan without a known size: they count as 0 bytes."""
        return int(self._summary.unsized)

    @property
    def searches(self) -> Dict[str, SearchReport]:
        """The searches behind the plan: "order", "spills", "offsets"."""
        names = ("order", "spills", "offsets")
        return {name: SearchReport(self._handle.pointer, i) for i, name in enumerate(names)}

    @property
    def fits(self) -> bool:
        """There is a plan, and it is within the capacity (if there is one)."""
        s = self._summary
        need = s.height if s.addressed else s.peak
        if self.unplaced or (s.spills and not s.addressed):
            return False
        return bool(s.has_plan) and (s.capacity < 0 or need <= s.capacity)

    def __repr__(self) -> str:
        parts = [str(self.outcome), f"{self.graph.operator_count:,} operators"]
        if self.capacity is not None:
            parts.append(f"capacity {self.capacity:,}")
        if self.cost is not None:
            parts.append(against(self.cost, int(self.cost_bound or 0), "cost"))
        elif self._summary.addressed:
            parts.append(against(self.height, self.height_bound, "height") + " bytes")
        else:
            parts.append(against(self.peak, self.peak_bound, "peak") + " bytes, no offsets")
        traffic, bound = self.traffic, self.traffic_bound
        if traffic is not None and bound is not None and self._summary.addressed:
            parts.append(against(traffic.avoidable, bound, "traffic") + " bytes")
        if self.unsized:
            parts.append(f"{self.unsized:,} of unknown size")
        return f"<Plan: {', '.join(parts)}, {speed(self.nodes, self.seconds)}>"

    def _advise(self, options: Any, result: Any, slot: Any) -> int:
        source = self.graph._source
        if not isinstance(source, bytes):  # The library itself can read a file again.
            return super()._advise(options, result, slot)
        pointer = self._handle.pointer
        return int(lib.berth_advise_model(pointer, source, len(source), options, result, slot))

    def model(self) -> bytes:
        """The ONNX or TensorFlow Lite model that was planned, with its operators in the order of
        the plan; a TensorFlow Lite model also has its offsets, for TensorFlow Lite Micro. Nothing
        else in it changes.

        Raises ValueError for other graphs, InvalidPlan if the file has changed since or the plan
        moves tensors, InvalidOptions for sizes that are not the file's.
        """
        source = self.graph._source
        if isinstance(source, str):
            with open(source, "rb") as file:
                source = file.read()
        if source is None:
            raise ValueError("the graph was not read from an ONNX or TensorFlow Lite model")
        return text_of(lib.berth_plan_to_model, self._handle.pointer, source, len(source))

    def _formats(self) -> Dict[str, Callable[[], bytes]]:
        return {**super()._formats(), ".onnx": lambda: self._model(False),
                ".tflite": lambda: self._model(True)}  # fmt: skip

    def _model(self, tflite: bool) -> bytes:
        model = self.model()
        if (model[4:8] == b"TFL3") != tflite:
            kind = "ONNX" if tflite else "TensorFlow Lite"
            raise ValueError(f"the graph was read from a model in {kind}: save() that")
        return model

    def save(self, path: Path) -> None:
        """Writes the plan as what the name ends in: .json (order, residencies and bounds), .csv (a
        table with an offset column), .html (as report()), .svg, or .onnx and .tflite: the model
        that was planned, as model() gives it.

        Raises ValueError for other names and for tables and pictures of plans without offsets,
        OSError if the file cannot be written.
        """
        super().save(path)

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each residency."""
        rows = self.residencies
        return data_frame({name: [getattr(r, name) for r in rows] for name in Residency._fields})


def set_order(
    options: OptionsHandle, graph: Graph, order: Union[str, Sequence[Union[int, str]], None]
) -> None:
    """The name of a method, or operators by index or name."""
    if order is None or isinstance(order, str):
        options.set("order", order)
        return
    listed: List[Any] = order.tolist() if hasattr(order, "tolist") else list(order)
    if any(isinstance(op, str) for op in listed):
        names = {op.name: i for i, op in enumerate(graph.operators)}
        for op in listed:
            if isinstance(op, str) and op not in names:
                raise ValueError(f"order: there is no operator {op!r} in the graph")
        listed = [names[op] if isinstance(op, str) else op for op in listed]
    for op in listed:
        if op < 0:
            raise ValueError(f"order: {op} is not the index of an operator")
    options.set_order(listed)


def set_memories(
    options: OptionsHandle,
    memory: Union[Sequence[str], Path, None],
    activations_in: Union[str, Sequence[str], None],
    weights_in: Union[str, Sequence[str], None],
    stage_weights_in: Union[str, Sequence[str], None] = None,
) -> None:
    """Memories as text, or the path of a board, and the names of those that tensors may be in."""
    if isinstance(memory, (str, os.PathLike)):
        with open(memory, encoding="utf-8") as file:
            options.set("memory", file.read().strip())
    else:
        for each in memory or ():
            options.set("memory", each)
    for name, names in (
        ("activations_in", activations_in),
        ("weights_in", weights_in),
        ("stage_weights_in", stage_weights_in),
    ):
        if names is not None:
            options.set(name, names if isinstance(names, str) else ",".join(names))


def plan(
    model: Model,
    *,
    capacity: Optional[Size] = None,
    budget: Optional[Size] = None,
    recompute: Optional[bool] = None,
    no_spill: Optional[bool] = None,
    device: Optional[Path] = None,
    profile: Optional[Path] = None,
    memory: Union[Sequence[str], Path, None] = None,
    activations_in: Union[str, Sequence[str], None] = None,
    weights_in: Union[str, Sequence[str], None] = None,
    spill: Optional[bool] = None,
    may_move: Optional[bool] = None,
    prefetch: Optional[bool] = None,
    stage_weights_in: Union[str, Sequence[str], None] = None,
    copy_latency: Optional[int] = None,
    time_limit: Optional[Union[float, str]] = None,
    node_limit: Optional[int] = None,
    count: Optional[str] = None,
    order: Union[str, Sequence[Union[int, str]], None] = None,
    minimize: Optional[bool] = None,
    threads: Optional[int] = None,
    seed: Optional[int] = None,
    algorithm: Optional[str] = None,
    allow_unknown: Optional[bool] = None,
    dim: Optional[Mapping[str, int]] = None,
    dim_default: Optional[int] = None,
    element_bytes: Optional[int] = None,
    alignment: Optional[Size] = None,
    fuse: Optional[bool] = None,
    in_place: Optional[bool] = None,
    options: Optional[Options] = None,
    progress: Union[ProgressCallback, bool, None] = None,
) -> Plan:
    """Plans a model: an order for its operators and an offset for every tensor.

    model: a path (ONNX, TensorFlow Lite, or a graph in JSON), bytes, a Graph, a dict as berth.torch makes, an
        onnx.ModelProto, a torch.export.ExportedProgram or a torch.fx.GraphModule.
    capacity: the memory that the plan may use: bytes, or text such as "512KiB". Without it and
        `budget`, as few bytes as possible.
    budget: as `capacity`, but what does not fit is spilled and retrieved, for the least traffic:
        bytes, or "MR" (what the largest operator needs), "MP" (the least peak), "MH" (halfway).
    recompute: within the budget, what does not fit is dropped and made again by the operators that
        made it, or copied where the device has a link, at the least cost (Plan.recomputed).
        no_spill: nothing is copied, even with a link.
    device: the path of a device in JSON (docs/formats/device.md): operators cost the time that they
        take on it. profile: the path of measured times (docs/formats/profile.md); `device` prices
        what it lacks. Without both, they cost what a graph says, or else their bytes.
    memory: several memories, for the least cost: ["tcm=512KiB@8GB/s", "dram@1GB/s"], each with a
        name, a capacity and a bandwidth, or the path of a board in JSON (docs/formats/memories.md).
        activations_in, weights_in: names of those that activations, or weights, may be in; weights
        are then part of the plan. Not with `capacity` or `budget`.
    spill: with `memory`, each memory is a scratchpad for the tensors that may be in it alone, and
        what does not fit is spilled and retrieved, for the least traffic (Plan.moves).
    may_move: with `memory`, tensors may be copied from one memory to another between operators.
        prefetch: these copies are made while operators run, for the shortest run: every operator
        needs a time, such as from `device`. copy_latency: of each, in nanoseconds. (Plan.copies,
        Plan.run.) stage_weights_in: with either, names of memories in which copies of weights may be
        kept for a while, beside the originals in `weights_in`.
    time_limit: seconds. node_limit: the same on every machine.
    count: what to plan besides the tensors that operators make: "none", "inputs", "parameters"
        or "all".
    order: "auto", "program", "greedy", "beam", ...; or the order: operators by index or name.
    allow_unknown: count tensors without a known size as 0 bytes. Without it they prove nothing.
    minimize, threads, seed, algorithm, options, progress: as in place().
    dim, dim_default, element_bytes, alignment, fuse, in_place: as in read().

    Raises what read() raises; InvalidPlan for an order that cannot run, InvalidOptions,
    Unsupported, MemoryError. Interrupted, with the best plan so far as `partial`, on Ctrl-C. That
    nothing fits is an outcome, not an error. Other threads run during the search.
    """
    graph = as_graph(model, dim=dim, dim_default=dim_default, element_bytes=element_bytes,
                     alignment=alignment, fuse=fuse, in_place=in_place, device=device,
                     profile=profile)  # fmt: skip
    request = OptionsHandle()
    request.set_all({"capacity": capacity, "budget": budget, "recompute": recompute, "no_spill": no_spill,
                     "spill": spill, "may_move": may_move, "prefetch": prefetch,
                     "copy_latency": copy_latency, "time_limit": time_limit,
                     "node_limit": node_limit, "count": count, "minimize": minimize,
                     "threads": threads, "seed": seed, "algorithm": algorithm,
                     "allow_unknown": allow_unknown, **(options or {})})  # fmt: skip
    set_memories(request, memory, activations_in, weights_in, stage_weights_in)
    set_order(request, graph, order)
    result = ctypes.c_void_p()
    return search(
        request,
        progress,
        time_limit,
        lambda slot: int(
            lib.berth_plan_graph(
                graph._handle.pointer, request.pointer, ctypes.byref(result), slot
            )
        ),
        lambda: Plan(result.value, graph),
    )


def schedule(
    model: Model,
    *,
    time_limit: Optional[Union[float, str]] = None,
    node_limit: Optional[int] = None,
    count: Optional[str] = None,
    order: Optional[str] = None,
    allow_unknown: Optional[bool] = None,
    dim: Optional[Mapping[str, int]] = None,
    dim_default: Optional[int] = None,
    element_bytes: Optional[int] = None,
    alignment: Optional[Size] = None,
    fuse: Optional[bool] = None,
    in_place: Optional[bool] = None,
    options: Optional[Options] = None,
    progress: Union[ProgressCallback, bool, None] = None,
) -> Plan:
    """Orders the operators of a model for the least peak. The plan has no offsets.

    order: the method: "auto", "program", "hoisted-updates", "greedy", "greedy-backwards", "beam".
    Other arguments and errors: those of plan(). save("model.onnx") writes the reordered model, and
    save("model.tflite") for a TensorFlow Lite model.
    """
    graph = as_graph(model, dim=dim, dim_default=dim_default, element_bytes=element_bytes,
                     alignment=alignment, fuse=fuse, in_place=in_place)  # fmt: skip
    request = OptionsHandle()
    request.set_all({"time_limit": time_limit, "node_limit": node_limit, "count": count,
                     "order": order, "allow_unknown": allow_unknown,
                     **(options or {})})  # fmt: skip
    result = ctypes.c_void_p()
    return search(
        request,
        progress,
        time_limit,
        lambda slot: int(
            lib.berth_schedule_graph(
                graph._handle.pointer, request.pointer, ctypes.byref(result), slot
            )
        ),
        lambda: Plan(result.value, graph),
    )


def parse_plan(graph: Graph, content: bytes, name: str) -> Plan:
    """A plan in JSON for a graph, checked."""
    result, slot = ctypes.c_void_p(), error_slot()
    check_status(
        lib.berth_plan_parse_graph(
            graph._handle.pointer, content, len(content), encoded(name),
            ctypes.byref(result), ctypes.byref(slot),
        ),
        slot,
    )  # fmt: skip
    return Plan(result.value, graph)

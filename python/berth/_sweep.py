"""Traffic, the cost of recomputation, or that of several memories, against the size of a memory."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from berth._answer import OUTCOMES, Outcome, Path, data_frame, known
from berth._errors import check, error_slot
from berth._graph import Graph, Model, as_graph
from berth._library import (
    Handle,
    MemoryPointStruct,
    MemoryStruct,
    SweepPointStruct,
    encoded,
    lib,
    text,
)
from berth._plan import MemoryUse, set_memories, set_order
from berth._search import (
    Options,
    OptionsHandle,
    ProgressCallback,
    Size,
    frame,
    save,
    search,
    suffix,
    text_of,
    write,
)


class Point(NamedTuple):
    """The best plan found at one capacity. Units are bytes and seconds.

    avoidable: its traffic, `spilled` + `retrieved`; None without a plan.
    traffic_bound: proved: no plan within the capacity has less.
    traffic_by_sum: the least traffic found where bytes need only fit in sum.

    Of sweeps with `recompute`, in which both of these are 0; None of others:
    cost: of running operators again and of copies, which is what is least; None without a plan.
    copy_cost: the part of it that copies cost.
    cost_bound: proved: no plan within the capacity costs less.
    repeats: how often operators run again.
    of_run: the cost of running every operator once. cost_unit: of all of these.
    """

    capacity: int
    outcome: Outcome
    avoidable: Optional[int]
    spilled: int
    retrieved: int
    traffic_bound: int
    traffic_by_sum: int
    seconds: float
    cost: Optional[int] = None
    copy_cost: Optional[int] = None
    cost_bound: Optional[int] = None
    repeats: Optional[int] = None
    of_run: Optional[int] = None
    cost_unit: Optional[str] = None


_COSTS = ("cost", "copy_cost", "cost_bound", "repeats", "of_run", "cost_unit")


class MemoryPoint(NamedTuple):
    """What a memory with this capacity is worth: the best plan found. Units are bytes and seconds.

    unplaced: tensors that have no place; no plan leaves fewer than unplaced_bound.
    cost: of the plan, in `cost_unit`; with `prefetch`, the time of the run. cost_bound: proved: no plan
        that leaves as few unplaced costs less.
    copies: of tensors from one memory to another.
    memories: what the plan takes of each memory.
    """

    capacity: int
    outcome: Outcome
    unplaced: int
    unplaced_bound: int
    cost: int
    cost_bound: int
    copies: int
    seconds: float
    cost_unit: str
    memories: List[MemoryUse]


class _Files:
    """What the library writes of a sweep."""

    _handle: Handle
    _csv_of: Callable[..., int]
    _page_of: Callable[..., int]

    def to_csv(self) -> str:
        """A row for each point, as `berth sweep -o` writes it."""
        return self._csv().decode("utf-8")

    def _csv(self) -> bytes:
        return text_of(self._csv_of, self._handle.pointer)

    def _page(self) -> bytes:
        return text_of(self._page_of, self._handle.pointer)

    def save(self, path: Path) -> None:
        """Writes the points as .csv, or the page as .html."""
        save(path, {".csv": self._csv, ".html": self._page})

    def report(self, path: Optional[Path] = None) -> Optional[str]:
        """Writes one HTML file with the curve; without a path, returns it."""
        if path is None:
            return self._page().decode("utf-8")
        suffix(path, (".html",))
        write(path, self._page())
        return None

    def _repr_html_(self) -> str:
        return frame(self._page())


class MemorySweep(_Files):
    """The cost of plans at several capacities of one memory, from the smallest to the largest.

    memory: its name.
    """

    graph: Graph
    memory: str
    points: List[MemoryPoint]

    def __init__(self, pointer: Optional[int], graph: Graph, memory: str) -> None:
        self._handle = Handle(pointer, lib.berth_memory_sweep_free)
        self._csv_of = lib.berth_memory_sweep_to_csv
        self._page_of = lib.berth_memory_sweep_to_page
        self.graph = graph
        self.memory = memory
        count = lib.berth_memory_sweep_count(self._handle.pointer)
        self.points = [self._at(i) for i in range(count)]

    def _at(self, index: int) -> MemoryPoint:
        pointer = self._handle.pointer
        point, slot = MemoryPointStruct(), error_slot()
        check(
            lib.berth_memory_sweep_at(pointer, index, ctypes.byref(point), ctypes.byref(slot)), slot
        )
        uses = []
        for m in range(lib.berth_memory_sweep_memory_count(pointer)):
            use = MemoryStruct()
            check(
                lib.berth_memory_sweep_use(
                    pointer, index, m, ctypes.byref(use), ctypes.byref(slot)
                ),
                slot,
            )
            uses.append(MemoryUse(text(use.name), known(use.capacity), use.height, use.peak))
        values = point.values()
        values["outcome"] = OUTCOMES[values["outcome"]]
        values["cost_unit"] = text(values["cost_unit"])
        return MemoryPoint(**values, memories=uses)

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[MemoryPoint]:
        return iter(self.points)

    def __getitem__(self, index: int) -> MemoryPoint:
        return self.points[index]

    def __repr__(self) -> str:
        if not self.points:
            return "<MemorySweep: no points>"
        proved = sum(p.outcome is Outcome.OPTIMAL for p in self.points)
        first, last = self.points[0], self.points[-1]
        return (
            f"<MemorySweep: {self.memory!r} with {first.capacity:,} to {last.capacity:,} bytes, cost "
            f"{first.cost:,} to {last.cost:,} {first.cost_unit}, {proved} of {len(self)} optimal>"
        )


class Sweep(_Files):
    """Off-chip traffic, or the cost of recomputation, at several capacities: from the largest to the
    smallest, or in the order that was asked for."""

    graph: Graph
    points: List[Point]

    def __init__(self, pointer: Optional[int], graph: Graph) -> None:
        self._handle = Handle(pointer, lib.berth_sweep_free)
        self._csv_of = lib.berth_sweep_to_csv
        self._page_of = lib.berth_sweep_to_page
        self.graph = graph
        self.points = [self._at(i) for i in range(lib.berth_sweep_count(self._handle.pointer))]

    def _at(self, index: int) -> Point:
        point, slot = SweepPointStruct(), error_slot()
        check(
            lib.berth_sweep_at(
                self._handle.pointer, index, ctypes.byref(point), ctypes.byref(slot)
            ),
            slot,
        )
        values = point.values()
        values["outcome"] = OUTCOMES[values["outcome"]]
        values["avoidable"] = known(values["avoidable"])
        values["cost"] = known(values["cost"])
        if values["cost_unit"] is None:
            values.update(dict.fromkeys(_COSTS))
        else:
            values["cost_unit"] = text(values["cost_unit"])
        return Point(**values)

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __getitem__(self, index: int) -> Point:
        return self.points[index]

    def __repr__(self) -> str:
        if not self.points:
            return "<Sweep: no points>"
        proved = sum(p.outcome is Outcome.OPTIMAL for p in self.points)
        sizes = [p.capacity for p in self.points]
        values = [p.avoidable if p.cost_unit is None else p.cost for p in self.points]
        found = [value for value in values if value is not None]
        what, unit = ("traffic", "bytes") if self._unit is None else ("cost", self._unit)
        traffic = f", {what} {min(found):,} to {max(found):,} {unit}" if found else ""
        return (
            f"<Sweep: {len(self.points)} capacities of {min(sizes):,} to {max(sizes):,} bytes"
            f"{traffic}, {proved} optimal>"
        )

    @property
    def _unit(self) -> Optional[str]:
        """Of costs; None without recomputation."""
        return self.points[0].cost_unit if self.points else None

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each point."""
        names = [n for n in Point._fields if n not in _COSTS or self._unit is not None]
        columns: dict[str, Any] = {
            name: [getattr(point, name) for point in self.points] for name in names
        }
        columns["outcome"] = [str(point.outcome) for point in self.points]
        return data_frame(columns)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draws traffic, or the cost as a share of one run, against capacity with matplotlib, on `ax` or
        on new axes, and returns them. Filled marks are proved; the shade reaches down to the proved
        bound."""
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError("plot() needs matplotlib: pip install matplotlib") from None
        if ax is None:
            _, ax = pyplot.subplots(figsize=(7, 4), layout="constrained")
        points = sorted((p for p in self.points if p.avoidable is not None), key=lambda p: p[0])
        memory, memory_unit = _scale([p.capacity for p in points])
        sizes = [p.capacity / memory for p in points]
        if self._unit is None:
            one, unit = _scale([p.avoidable or 0 for p in points])
            values = [(p.avoidable or 0) / one for p in points]
            bounds = [p.traffic_bound / one for p in points]
            label, title = f"avoidable traffic ({unit})", "Off-chip traffic of"
        else:
            percent = [100 / (p.of_run or 1) for p in points]
            values = [(p.cost or 0) * each for p, each in zip(points, percent)]
            bounds = [(p.cost_bound or 0) * each for p, each in zip(points, percent)]
            label, title = "cost (% of one run)", "Cost of recomputation of"
        style.setdefault("color", "#2f6f9f")
        color = style["color"]
        # A plan for one capacity also fits every larger one.
        ax.step(sizes, values, where="post", **style)
        ax.fill_between(sizes, bounds, values, step="post", alpha=0.2, color=color, linewidth=0)
        for proved in (True, False):
            some = [(x, y) for p, x, y in zip(points, sizes, values)
                    if (p.outcome is Outcome.OPTIMAL) == proved]  # fmt: skip
            if some:
                ax.plot(*zip(*some), "o", color=color, markersize=5, clip_on=False, zorder=3,
                        markerfacecolor=color if proved else "white")  # fmt: skip
        ax.set_ylim(bottom=0)
        ax.grid(axis="y", color="#dddddd", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.set_xlabel(f"memory ({memory_unit})")
        ax.set_ylabel(label)
        ax.set_title(f"{title} {self.graph.name or 'the model'}")
        return ax


def _scale(values: Sequence[int]) -> Tuple[int, str]:
    """(bytes of the unit that suits the largest value, its name)."""
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if max(values, default=0) >= 1024**power:
            return 1024**power, unit
    return 1, "bytes"


def sweep(
    model: Model,
    *,
    budgets: Optional[Sequence[Size]] = None,
    points: Optional[int] = None,
    time_limit: Optional[Union[float, str]] = None,
    node_limit: Optional[int] = None,
    recompute: Optional[bool] = None,
    no_spill: Optional[bool] = None,
    device: Optional[Path] = None,
    profile: Optional[Path] = None,
    count: Optional[str] = None,
    order: Union[str, Sequence[Union[int, str]], None] = None,
    threads: Optional[int] = None,
    seed: Optional[int] = None,
    allow_unknown: Optional[bool] = None,
    dim: Optional[Mapping[str, int]] = None,
    dim_default: Optional[int] = None,
    element_bytes: Optional[int] = None,
    alignment: Optional[Size] = None,
    fuse: Optional[bool] = None,
    in_place: Optional[bool] = None,
    options: Optional[Options] = None,
    progress: Union[ProgressCallback, bool, None] = None,
) -> Sweep:
    """Plans a model with spills or recomputation at many capacities: the least off-chip traffic, or
    the least cost, at each. A plan for less memory counts for more, so neither grows with memory.

    budgets: the capacities: bytes, text such as "512KiB", or "MR", "MH", "MP".
    points: without `budgets`: how many capacities from MP (from which on nothing has to be spilled)
        down to MR (what the largest operator needs); 20 by default.
    time_limit, node_limit: for each point. Without any, 50 seconds for all.
    recompute: instead of traffic, the least cost of running operators again and, over the link of
        `device`, of copies. no_spill, device, profile: as for plan().
    Other arguments and errors: those of plan(). On Ctrl-C, `partial` has the points that are done.
    """
    graph = as_graph(model, dim=dim, dim_default=dim_default, element_bytes=element_bytes,
                     alignment=alignment, fuse=fuse, in_place=in_place, device=device,
                     profile=profile)  # fmt: skip
    request = OptionsHandle()
    if budgets is not None:
        request.set("budgets", ",".join(str(budget) for budget in budgets))
    request.set_all({"points": points, "time_limit": time_limit, "node_limit": node_limit,
                     "recompute": recompute, "no_spill": no_spill, "count": count,
                     "threads": threads, "seed": seed,
                     "allow_unknown": allow_unknown, **(options or {})})  # fmt: skip
    set_order(request, graph, order)
    result = ctypes.c_void_p()
    return search(
        request,
        progress,
        None,
        lambda slot: int(
            lib.berth_sweep_graph(
                graph._handle.pointer, request.pointer, ctypes.byref(result), slot
            )
        ),
        lambda: Sweep(result.value, graph),
    )


def sweep_memory(
    model: Model,
    name: str,
    memory: Union[Sequence[str], Path],
    *,
    capacities: Optional[Sequence[Size]] = None,
    points: Optional[int] = None,
    time_limit: Optional[Union[float, str]] = None,
    activations_in: Union[str, Sequence[str], None] = None,
    weights_in: Union[str, Sequence[str], None] = None,
    may_move: Optional[bool] = None,
    prefetch: Optional[bool] = None,
    stage_weights_in: Union[str, Sequence[str], None] = None,
    copy_latency: Optional[int] = None,
    device: Optional[Path] = None,
    profile: Optional[Path] = None,
    count: Optional[str] = None,
    order: Union[str, Sequence[Union[int, str]], None] = None,
    threads: Optional[int] = None,
    seed: Optional[int] = None,
    allow_unknown: Optional[bool] = None,
    dim: Optional[Mapping[str, int]] = None,
    dim_default: Optional[int] = None,
    element_bytes: Optional[int] = None,
    alignment: Optional[Size] = None,
    fuse: Optional[bool] = None,
    in_place: Optional[bool] = None,
    options: Optional[Options] = None,
    progress: Union[ProgressCallback, bool, None] = None,
) -> MemorySweep:
    """What more of one memory is worth: a model planned in several memories for many capacities of it.
    A plan for less memory counts for more, so no point costs more than one of less memory.

    name: the memory whose capacity changes. memory: all of them, as for plan(); what this one has as
        its own capacity does not count.
    capacities: bytes, or text such as "512KiB". points: without them: how many capacities, from nearly
        nothing to the least peak found; 20 by default.
    time_limit: for each point, 1 second by default.
    Other arguments and errors: those of plan(); also InvalidOptions for a name that no memory has. On
    Ctrl-C, `partial` has the points that are done.
    """
    graph = as_graph(model, dim=dim, dim_default=dim_default, element_bytes=element_bytes,
                     alignment=alignment, fuse=fuse, in_place=in_place, device=device,
                     profile=profile)  # fmt: skip
    request = OptionsHandle()
    if capacities is not None:
        request.set("budgets", ",".join(str(capacity) for capacity in capacities))
    request.set_all({"points": points, "time_limit": time_limit, "may_move": may_move,
                     "prefetch": prefetch, "copy_latency": copy_latency, "count": count,
                     "threads": threads, "seed": seed,
                     "allow_unknown": allow_unknown, **(options or {})})  # fmt: skip
    set_memories(request, memory, activations_in, weights_in, stage_weights_in)
    set_order(request, graph, order)
    result = ctypes.c_void_p()
    return search(
        request,
        progress,
        None,
        lambda slot: int(
            lib.berth_sweep_memory(
                graph._handle.pointer, request.pointer, encoded(name), ctypes.byref(result), slot
            )
        ),
        lambda: MemorySweep(result.value, graph, name),
    )

"""Berth as ExecuTorch's memory planner.

    from executorch.exir import ExecutorchBackendConfig
    from executorch.exir.passes import MemoryPlanningPass
    import berth.executorch

    planner = berth.executorch.planner()
    program = edge.to_executorch(ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(memory_planning_algo=berth.executorch.suite(planner))
    ))
    print(planner.pools)  # What it found: a placement with its proved bound for each memory.

Nothing here imports ExecuTorch before a planner is called.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from berth._errors import InternalError
from berth._problem import Placement, Problem, place
from berth._search import Options

__all__ = ["Planner", "Pool", "planner", "suite"]

# Enough for a proof on nearly all models, in well under a second. Nodes, not seconds, so that a
# build gives the same program on every machine.
_NODES = 1_000_000


class Pool(NamedTuple):
    """One memory of one call of the planner: the module, or a body of its control flow.

    mem_id: ExecuTorch's number for the memory.
    reserved: bytes at its beginning that bodies of control flow use; planned bytes follow.
    placement: of the tensors, from `reserved` on; members of a storage are one buffer.
    bytes: of the arena: reserved, the placement's height, and padding.
    """

    mem_id: int
    reserved: int
    placement: Placement
    bytes: int

    def __repr__(self) -> str:
        return f"<Pool {self.mem_id}: {self.bytes:,} bytes, {self.placement!r}>"


class Planner:
    """A member of ExecuTorch's MemoryPlanningAlgorithmSuite: see planner().

    pools: what each call found, in the order of the calls.
    """

    def __init__(self, limits: Dict[str, Any]) -> None:
        self.__name__ = "berth"  # What the suite calls it.
        self.pools: List[Pool] = []
        self._limits = limits

    def __call__(
        self,
        alignment: int,
        specs: Iterable[Any],
        graph_module: Any,
        graph_signature: Any = None,
        extra_padding: int = 0,
    ) -> Any:
        """ExecuTorch's MemoryAlgoResult: for each TensorSpec a memory and an offset, and the bytes
        of each memory. Writes nothing but the alignment of the specs.

        Raises ValueError for a spec without a lifetime or with a storage that is not planned.
        """
        from executorch.exir.memory_planning import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
            MemoryAlgoResult,
            SpecAllocResult,
        )

        planned = list(specs)
        for spec in planned:
            spec.realign(alignment)
        names = _names(planned, graph_module)
        pool_of = _memories(planned, names)
        sizes = [0] * (max(pool_of.values(), default=1) + 1)
        taken: Sequence[int] = getattr(graph_module, "input_mem_buffer_sizes", None) or []
        for mem_id in range(1, min(len(sizes), len(taken))):
            sizes[mem_id] = taken[mem_id]
        found: Dict[Any, Any] = {}
        for mem_id in sorted(set(pool_of.values())):
            members = [spec for spec in planned if pool_of[spec] == mem_id]
            reserved = _round_up(sizes[mem_id], alignment)
            offsets, placement = self._place(members, names)
            for spec, offset in zip(members, offsets):
                # No object: specs that have one must not share bytes in part.
                found[spec] = SpecAllocResult(mem_id, None, reserved + offset)
            _check(members, offsets, names)
            height = 0 if placement.height is None else placement.height
            sizes[mem_id] = reserved + height + extra_padding
            self.pools.append(Pool(mem_id, reserved, placement, sizes[mem_id]))
        return MemoryAlgoResult(found, sizes)

    def _place(self, specs: List[Any], names: Dict[Any, str]) -> Tuple[List[int], Placement]:
        """An offset for each spec, and the placement behind them."""
        problem = Problem()
        index: Dict[Any, int] = {}
        for spec in specs:
            size = spec.allocated_memory
            if size > 0:  # Others need no place.
                first, last = spec.lifetime
                index[spec] = problem.add(first, last + 1, size, spec.alignment, id=names[spec])
        groups: Dict[Any, Dict[int, int]] = {}
        for spec in index:
            root, distance = _storage(spec)
            groups.setdefault(root, {})[index[spec]] = distance
        merged = problem.colocate([group for group in groups.values() if len(group) > 1])
        placement = place(merged.problem, **self._limits)
        offsets = merged.offsets_of(placement)
        if offsets is None:
            raise InternalError("the planner has no plan although memory is not limited")
        return [offsets[index[spec]] if spec in index else 0 for spec in specs], placement

    def __repr__(self) -> str:
        return f"<Planner: {self.pools!r}>"


def planner(
    *,
    node_limit: Optional[int] = _NODES,
    time_limit: Optional[Union[float, str]] = None,
    seed: Optional[int] = None,
    algorithm: Optional[str] = None,
    options: Optional[Options] = None,
) -> Planner:
    """A planner of memory for ExecuTorch.

    It plans each memory (mem_id) by itself, from the bytes on that bodies of control flow have
    reserved, with tensors in one storage together. Specs that a pass has given a mem_id stay there.
    Vulkan's partitioner allows no tensors that share bytes in part: use ExecuTorch's own planner.

    node_limit: ends the search of one memory; then the plan may not be the least one, and
        planner.pools says so. The same on every machine.
    time_limit, seed, algorithm, options: as in berth.place().
    """
    return Planner({"node_limit": node_limit, "time_limit": time_limit, "seed": seed,
                    "algorithm": algorithm, "options": options})  # fmt: skip


def suite(*members: Any) -> Any:
    """What MemoryPlanningPass takes as memory_planning_algo: ExecuTorch's suite of its own greedy
    planner and `members` (a planner() by default), which takes the plan with the fewest bytes."""
    from executorch.exir.memory_planning import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
        MemoryPlanningAlgorithmSuite,
        greedy,
    )

    return MemoryPlanningAlgorithmSuite([greedy, *(members or (planner(),))])


def _round_up(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment


def _base(spec: Any) -> Tuple[Any, int]:
    """The spec whose storage this one uses, or None, and where in it. Releases before 1.4 call it
    inplace_base, without an offset."""
    if hasattr(spec, "storage_base"):
        return spec.storage_base, getattr(spec, "storage_base_offset", 0)
    return getattr(spec, "inplace_base", None), 0


def _storage(spec: Any) -> Tuple[Any, int]:
    """The spec at the end of the chain, and the bytes from its offset to this one's."""
    seen = {spec}
    distance = 0
    base, offset = _base(spec)
    while base is not None:
        if base in seen:
            raise ValueError(f"the storages of {spec} form a circle")
        seen.add(base)
        spec, distance = base, distance + offset
        base, offset = _base(spec)
    return spec, distance


def _memories(specs: List[Any], names: Dict[Any, str]) -> Dict[Any, int]:
    """The memory of each spec: that of its storage, the one given, or 1."""
    planned = set(specs)
    memories = {}
    for spec in specs:
        root, _ = _storage(spec)
        if root not in planned:
            raise ValueError(f"{names[spec]} is in a storage that is not planned: {root}")
        if None in spec.lifetime or spec.lifetime[0] > spec.lifetime[1]:
            raise ValueError(f"{names[spec]} has no lifetime: {spec.lifetime}")
        memories[spec] = 1 if root.mem_id is None else int(root.mem_id)
        if memories[spec] < 1:
            raise ValueError(f"{names[spec]} is in memory {memories[spec]}, which is for constants")
    return memories


def _names(specs: List[Any], graph_module: Any) -> Dict[Any, str]:
    """A name for each spec, for messages and pages: that of the node that makes it."""
    wanted = set(specs)
    names: Dict[Any, str] = {}
    used = set()
    for node in getattr(getattr(graph_module, "graph", None), "nodes", ()):
        found = node.meta.get("spec")
        made = list(found) if isinstance(found, (list, tuple)) else [found]
        for number, spec in enumerate(made):
            if _hashable(spec) and spec in wanted and spec not in names:
                name = node.name if len(made) == 1 else f"{node.name}:{number}"
                if name not in used:
                    names[spec] = name
                    used.add(name)
    for number, spec in enumerate(specs):
        if spec not in names:
            names[spec] = f"spec {number}"
    return names


def _hashable(value: Any) -> bool:
    return getattr(value, "__hash__", None) is not None


def _check(specs: List[Any], offsets: List[int], names: Dict[Any, str]) -> None:
    """The suite looks at nothing: that tensors of different storages share no byte while both live
    is checked here, against the specs themselves. Cost: n log n and the overlaps in time."""
    order = sorted(range(len(specs)), key=lambda i: specs[i].lifetime[0])
    live: List[Tuple[int, int, int, Any, int]] = []  # Last step, bytes from and to, storage, index.
    for i in order:
        spec = specs[i]
        first, last = spec.lifetime
        lower, upper = offsets[i], offsets[i] + spec.allocated_memory
        root = _storage(spec)[0]
        live = [entry for entry in live if entry[0] >= first]
        if lower < 0 or lower % spec.alignment != 0:
            raise InternalError(f"{names[spec]} has the offset {lower}, which is misaligned")
        for _, other_lower, other_upper, other_root, other in live:
            if other_root is not root and lower < other_upper and other_lower < upper:
                raise InternalError(f"{names[spec]} and {names[specs[other]]} share bytes")
        live.append((last, lower, upper, root, i))

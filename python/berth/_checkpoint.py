"""Policies for selective activation checkpointing made from a plan: berth.torch.checkpoint_policy().

torch.utils.checkpoint() drops what a region of a model, such as a block, computes in the forward pass, and
runs the region again in the backward pass. A policy says for each operator of it whether what it makes is
kept all the same. The policies below come from a plan of the whole training step in which only the operators
of the regions may run again, and every operator runs first in the order of the program.

A policy cannot express all of a plan. PyTorch runs a region again as a whole, as soon as the backward pass
first needs something of it, and then every operator in it whose result is not kept, up to the last one that
is needed. The plan runs an operator again when its result is needed, and no other. So the measured peak can
be above the plan's, and more runs again. berth.torch.compile() runs the plan itself.

Operators are known by their place in the region. PyTorch decides what to execute when a model runs, so the
policy compares each operator with the one that was planned, and stops where they differ.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from berth import torch as tracer
from berth import _training
from berth._errors import Unsupported
from berth._plan import Plan, plan as plan_graph
from berth._search import Size

torch = tracer.torch
fx = tracer.fx


class _Step(NamedTuple):
    """A traced training step. regions: for each region, its nodes in the order of their execution, as
    torch.utils.checkpoint sees them. forward: all nodes up to the loss."""

    traced: Any
    names: List[str]
    kinds: List[str]
    regions: List[List[Any]]
    forward: Set[str]


def _is_view(target: Any) -> bool:
    """By its schema: what it returns shares the bytes of an operand, and nothing is written. Tracing sees
    more of these than PyTorch executes, and they make nothing that could be kept."""
    shared = [value.alias_info for value in target._schema.returns if value.alias_info is not None]
    return bool(shared) and not any(info.is_write for info in shared)


def _visible(nodes: Sequence[Any]) -> List[Any]:
    """Of these, the operators of which torch.utils.checkpoint asks a policy, without views."""
    from torch.utils.checkpoint import SAC_IGNORED_OPS

    return [n for n in nodes if hasattr(n.target, "_schema") and n.target not in SAC_IGNORED_OPS
            and not _is_view(n.target)]  # fmt: skip


def _trace(
    model: Any, regions: Sequence[Any], inputs: Sequence[Any], loss: Callable[..., Any],
    targets: Sequence[Any],
) -> _Step:  # fmt: skip
    import torch.fx.experimental.proxy_tensor as proxies

    found: List[List[Any]] = [[] for _ in regions]
    forward: Set[str] = set()
    starts: Dict[int, int] = {}

    def nodes() -> List[Any]:
        mode: Any = proxies.get_proxy_mode()
        return list(mode.tracer.graph.nodes)

    def before(region: int, *_: Any) -> None:
        if found[region]:
            raise Unsupported(f"region {region} runs more than once in a step: give each call a module")
        starts[region] = len(nodes())

    def after(region: int, *_: Any) -> None:
        found[region] = _visible(nodes()[starts[region] :])

    def whole(output: Any, *others: Any) -> Any:
        value = loss(output, *others)
        forward.update(node.name for node in nodes())
        return value

    hooks = []
    try:
        for i, region in enumerate(regions):
            hooks.append(region.register_forward_pre_hook(functools.partial(before, i)))
            hooks.append(region.register_forward_hook(functools.partial(after, i)))
        traced, names, kinds = tracer.trace_training_step_to_fx(
            model, inputs, whole, targets, optimizer=None
        )
    finally:
        for hook in hooks:
            hook.remove()
    for i, nodes_of in enumerate(found):
        if not nodes_of:
            raise Unsupported(f"region {i} runs no operator in the step")
    return _Step(traced, names, kinds, found, forward)


class _Facts(NamedTuple):
    """What the graph says of an operator. outputs: the bases of what it makes; reads: of its inputs."""

    outputs: Set[int]
    reads: Set[int]
    writes: Set[int]
    view: bool
    lasting: bool  # It writes what lasts beyond the step, such as running statistics: it runs once.


def _facts(step: _Step) -> Tuple[Any, List[Dict[str, Any]], Dict[Any, int], Dict[str, _Facts]]:
    """(tensors, operators, tensor by fx node) of the step, and what is known of each operator."""
    tensors, records, index = tracer._convert(step.traced, step.names, step.kinds)
    by_name = {node.name: node for node in step.traced.graph.nodes}
    facts: Dict[str, _Facts] = {}
    for record in records:
        writes = {tensors.base(t) for t in record.get("mutates", [])}
        facts[record["name"]] = _Facts(
            {tensors.base(t) for t in record["outputs"]} | writes,
            {tensors.base(t) for t in record["inputs"]}, writes,
            _training._is_view(by_name[record["name"]]),
            any(tensors.all[t]["kind"] != "activation" for t in writes))  # fmt: skip
    return tensors, records, index, facts


class _Group(NamedTuple):
    """Operators of a region that make the same bytes, in place: kept all or none. Autograd ignores what a
    policy returns for an operator in place; it goes on with the bytes that the first of them made.
    hindrance: what reads or writes these bytes before their last state, or outside; "": nothing."""

    names: Set[str]
    hindrance: str


def _groups(step: _Step, facts: Dict[str, _Facts]) -> List[_Group]:
    """The operators of all regions. One that writes nothing in place is a group by itself."""
    names = list(facts)
    found: List[_Group] = []
    for nodes in step.regions:
        inside = [n.name for n in nodes if n.name in facts and not facts[n.name].view]
        group = {name: _Group({name}, "") for name in inside}
        for maker in inside:
            for base in facts[maker].outputs - facts[maker].writes:
                uses = names[names.index(maker) + 1 :]
                writers = [n for n in uses if base in facts[n].writes]
                if not writers:
                    continue
                between = uses[: uses.index(writers[-1])]
                others = [n for n in between if base in facts[n].reads and n not in writers
                          and not facts[n].view]  # fmt: skip
                hindrance = (others + [n for n in writers if n not in group] + [""])[0]
                joined = [group[n] for n in [maker, *writers] if n in group]
                whole = _Group(
                    set().union(*(g.names for g in joined)),
                    next((g.hindrance for g in joined if g.hindrance), hindrance),
                )
                group.update(dict.fromkeys(whole.names, whole))
        found += {id(each): each for each in group.values()}.values()
    return found


def _run_once(step: _Step, facts: Dict[str, _Facts], groups: List[_Group]) -> Set[str]:
    """Operators of regions that must not run again: those that write what lasts or draw random numbers,
    and what writes in place with these."""
    by_name = {node.name: node for nodes in step.regions for node in nodes}
    once: Set[str] = set()
    for group in groups:
        reasons = [n for n in group.names if facts[n].lasting
                   or torch.Tag.nondeterministic_seeded in by_name[n].target.tags]  # fmt: skip
        if reasons and group.hindrance:
            raise Unsupported(f"{sorted(reasons)[0]} may run only once, but {group.hindrance} uses what it "
                              "makes before it is written in place, or outside of its region: write it "
                              "out of place")  # fmt: skip
        if reasons:
            once |= group.names
    return once


def _graph_of(step: _Step) -> Tuple[tracer.GraphDict, Dict[str, _Facts], List[_Group], Set[str]]:
    """(the step as Berth plans it, its operators by name, groups, what runs once)"""
    tensors, records, index, facts = _facts(step)
    by_name = {node.name: node for node in step.traced.graph.nodes}
    groups = _groups(step, facts)
    once = _run_once(step, facts, groups)
    may_repeat = {node.name for nodes in step.regions for node in nodes} - once
    for record in records:
        if record["name"] not in may_repeat:
            record["repeat"] = "never"
        elif _training._draws_random_numbers(by_name[record["name"]]) is False:
            record["repeat"] = "pure"
    results = tracer._results(step.traced, index)
    return tracer._finish("step", tensors, records, results, set()), facts, groups, once


def _kept(
    step: _Step, facts: Dict[str, _Facts], groups: List[_Group], once: Set[str], plan: Plan
) -> Set[str]:
    """The operators whose results are kept."""
    times: Dict[str, int] = {}
    for name in plan.operators:
        times[name] = times.get(name, 0) + 1
    late: Set[int] = set()  # Bases that are read after the forward pass, by whatever runs then.
    for name, fact in facts.items():
        if name not in step.forward or times.get(name, 0) > 1:
            late |= fact.reads
    kept = set(once)
    for names, hindrance in groups:
        again = any(times.get(name, 0) > 1 for name in names)
        if not again and not hindrance and any(facts[name].outputs & late for name in names):
            kept |= names
    return kept


class CheckpointPolicy:
    """What to keep of each region of a model; see berth.torch.checkpoint_policy().

    plan: the berth.Plan that the policies are made from. kept, dropped: names of operators, by region.
    """

    def __init__(self, step: _Step, plan: Plan, kept: Set[str]) -> None:
        self.plan = plan
        self.kept = [[n.name for n in nodes if n.name in kept] for nodes in step.regions]
        self.dropped = [[n.name for n in nodes if n.name not in kept] for nodes in step.regions]
        self._operators = [[n.target for n in nodes] for nodes in step.regions]
        self._decisions = [[n.name in kept for n in nodes] for nodes in step.regions]

    def __len__(self) -> int:
        """The number of regions."""
        return len(self._decisions)

    def context_fn(self, region: int) -> Callable[[], Any]:
        """The `context_fn` of torch.utils.checkpoint.checkpoint() for a region, by its position."""
        self._decisions[region]
        return functools.partial(self._contexts, region)

    def _contexts(self, region: int) -> Any:
        import torch.utils.checkpoint as checkpoints

        contexts: Any = checkpoints.create_selective_checkpoint_contexts
        # What operators write in place counts as mutated. That nothing else writes it was checked.
        return contexts(self.policy_fn(region), allow_cache_entry_mutation=True)

    def policy_fn(self, region: int) -> Callable[..., Any]:
        """A new policy for one execution of a region, for create_selective_checkpoint_contexts()."""
        from torch.utils.checkpoint import CheckpointPolicy as Choice

        planned, kept = self._operators[region], self._decisions[region]
        places = {False: 0, True: 0}  # In the forward pass, and when the region runs again.

        def policy(context: Any, operator: Any, *_: Any, **__: Any) -> Any:
            if _is_view(operator):
                return Choice.PREFER_RECOMPUTE
            place = places[context.is_recompute]
            places[context.is_recompute] += 1
            if place >= len(planned) or planned[place] is not operator:
                expected = str(planned[place]) if place < len(planned) else "nothing more"
                raise RuntimeError(f"operator {place} of region {region} is {operator}, where {expected} "
                                   "was planned: make the policy for these inputs and this mode")  # fmt: skip
            return Choice.MUST_SAVE if kept[place] else Choice.PREFER_RECOMPUTE

        return policy


def checkpoint_policy(
    model: Any,
    regions: Sequence[Any],
    inputs: Sequence[Any],
    loss: Callable[..., Any],
    targets: Sequence[Any] = (),
    budget: Optional[Size] = None,
    **options: Any,
) -> CheckpointPolicy:
    """See berth.torch.checkpoint_policy()."""
    step = _trace(model, regions, inputs, loss, targets)
    graph, facts, groups, once = _graph_of(step)
    found = plan_graph(graph, budget="MP" if budget is None else budget, recompute=True, no_spill=True,
                       order="program", **options)  # fmt: skip
    if not found.order or not found.fits:
        raise tracer.DoesNotFit(_training._why_not(found), found)
    return CheckpointPolicy(step, found, _kept(step, facts, groups, once, found))

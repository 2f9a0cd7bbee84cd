"""Training steps of PyTorch within a memory budget: berth.torch.compile() and its backend.

PyTorch's AOTAutograd traces a model, its loss and their gradients as one graph of operators, and asks a
partition function to cut it into a forward and a backward graph. `Partition` below

1. writes the joint graph as a graph for Berth, with one operator more, the boundary: it stands for the
   time between both passes, reads what the forward pass returns and makes the gradients of that;
2. plans it: an order in which operators run again within the budget (docs/algorithms/recompute.md);
3. writes what the plan executes before the boundary as the forward graph and the rest as the backward
   graph. Whatever of the first the second reads is saved.

Views have no bytes: they are made again wherever they are needed, from the newest copy of their base. As
a view keeps its base in memory, none may outlive the stay of its base in the plan.

Both graphs run one operator at a time, and each tensor is freed after its last use.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import time
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from berth import torch as tracer
from berth._answer import Path
from berth._errors import Unsupported
from berth._plan import Plan, plan as plan_graph
from berth._search import Size

torch = tracer.torch
fx = tracer.fx

BOUNDARY = "between forward and backward"


def _why_not(plan: Plan) -> str:
    budget = f"{plan.capacity:,} bytes"
    least, peak = plan.least_memory or 0, plan.least_peak
    if plan.capacity is not None and least > plan.capacity:
        return (f"no plan fits {budget}: operator {plan.least_operator} alone needs {least:,} bytes "
                "for what it reads and makes")  # fmt: skip
    without = "" if peak is None else f"; {peak:,} bytes suffice without running operators again"
    if str(plan.outcome) == "infeasible":
        return (f"no plan fits {budget}: proved, as too much of what is needed may not be made again"
                f"{without}")  # fmt: skip
    return (f"no plan that fits {budget} was found in {plan.seconds:.1f} s; that none exists is not "
            f"proved. Every plan needs {least:,} bytes (operator {plan.least_operator}){without}")  # fmt: skip


# ---- The joint graph as a graph for Berth.


def _described(output: Any, count: int) -> Sequence[Any]:
    found = output.meta.get("desc")
    leaves = list(torch.utils._pytree.tree_leaves(found)) if found is not None else []
    if len(leaves) != count:
        raise Unsupported(
            f"PyTorch {torch.__version__} does not say which inputs a training step writes in place: "
            "berth.torch.compile() needs 2.9 or newer"
        )
    return leaves


def _draws_random_numbers(node: Any) -> Optional[bool]:
    """None: that follows from the type of the operator, as Berth knows it."""
    if not hasattr(node.target, "_schema"):
        return None
    for argument in node.target._schema.arguments:
        if argument.name == "dropout_p":  # Attention.
            places = {a.name: i for i, a in enumerate(node.target._schema.arguments)}
            given = dict(tracer._arguments(node))
            value = given.get(places["dropout_p"], argument.default_value)
            return bool(value)
    return True if torch.Tag.nondeterministic_seeded in node.target.tags else None


def _unread(node: Any) -> List[Any]:
    """The running statistics that the gradient of a batch normalization in training does not read."""
    if node.target is not torch.ops.aten.native_batch_norm_backward.default or node.args[7] is not True:
        return []
    read = tracer._nodes_in(node.args[:3] + node.args[5:])
    return [n for n in tracer._nodes_in(node.args[3:5]) if n not in read]


def _batch_norm(node: Any) -> Optional[Tuple[Any, Any]]:
    """The running statistics that a batch normalization in training replaces by its outputs 3 and 4,
    if nothing reads these but the runtime, which copies them."""
    if node.target is not torch.ops.aten._native_batch_norm_legit_functional.default:
        return None
    if len(node.args) < 6 or node.args[5] is not True:
        return None
    for item in node.users:
        readers = [user for user in item.users if user.op != "output"]
        if item.args[1] >= 3 and any(item not in _unread(user) for user in readers):
            return None
    return node.args[3], node.args[4]


def _is_view(node: Any) -> bool:
    """Every output shares the bytes of an operand, and none is written."""
    if node.op != "call_function" or not hasattr(node.target, "_schema"):
        return False
    shared, written = tracer._sharing(node)
    return shared is not None and not written


def _is_written(node: Any) -> bool:
    """It writes an operand in place."""
    return hasattr(node.target, "_schema") and bool(tracer._sharing(node)[1])


class _Joint:
    """The joint graph of AOTAutograd, taken apart.

    module: the fx.GraphModule. primals, tangents: its placeholders. forward, backward: its results.
    mutated: primals that get a new value between forward and backward, by result of `forward`.
    """

    def __init__(self, module: Any, forward_results: int) -> None:
        self.module = module
        nodes = list(module.graph.nodes)
        self.primals: List[Any] = []
        self.tangents: List[Any] = []
        for node in nodes:
            if node.op != "placeholder":
                continue
            name = str(node.target)
            if "tangents" in name:
                self.tangents.append(node)
            elif name.startswith("primals"):
                self.primals.append(node)
            else:
                raise Unsupported(f"the training step has the input {name!r}, which only some modes of "
                                  "PyTorch add: random numbers as inputs, or opaque state")  # fmt: skip
        self.output = next(node for node in nodes if node.op == "output")
        results = torch.utils._pytree.tree_leaves(self.output.args)
        self.forward, self.backward = results[:forward_results], results[forward_results:]
        self.descriptions = _described(self.output, len(results))
        by_description = {str(node.meta.get("desc")): node for node in self.primals}
        self.mutated: Dict[int, Any] = {}
        for i, found in enumerate(self.descriptions[:forward_results]):
            if type(found).__name__ == "InputMutationAOTOutput":
                self.mutated[i] = by_description[str(found.mutated_input)]
        self._check()

    def _check(self) -> None:
        for node in self.module.graph.nodes:
            value = node.meta.get("val")
            parts = value if isinstance(value, (list, tuple)) else [value]
            for part in parts:
                if isinstance(part, (torch.SymInt, torch.SymFloat, torch.SymBool)) or (
                    isinstance(part, torch.Tensor)
                    and not all(isinstance(dim, int) for dim in part.shape)
                ):
                    raise Unsupported(f"{node.name} has a size that is not fixed: compile with "
                                      "dynamic=False")  # fmt: skip
            if node.op == "call_function" and not hasattr(node.target, "_schema"):
                if node.target is not operator.getitem:
                    raise Unsupported(f"{node.name} ({node.target}) is not an operator with a schema, so "
                                      "what it shares and writes is not known")  # fmt: skip

    def early(self) -> Set[Any]:
        """The nodes that do not depend on the gradients of the results."""
        late = set(self.tangents)
        for node in self.module.graph.nodes:
            if any(source in late for source in node.all_input_nodes):
                late.add(node)
        return {node for node in self.module.graph.nodes if node not in late}


def graph_for(
    joint: _Joint, measured: Mapping[str, Optional[Measured]] = {}, costs: bool = False
) -> tracer.GraphDict:
    """The joint graph as Berth plans it, with the workspaces of `measured`, and the times if `costs`."""
    weights = {node for node in joint.primals if type(node.meta.get("desc")).__name__ == "ParamAOTInput"}
    placeholders = [n for n in joint.module.graph.nodes if n.op == "placeholder"]
    kinds = ["parameter" if n in weights else "input" if n in joint.primals else "activation"
             for n in placeholders]  # fmt: skip
    tensors, records, index = tracer._convert(joint.module, [n.name for n in placeholders], kinds)
    by_name = {node.name: node for node in joint.module.graph.nodes}
    for record in records:
        node = by_name[record["name"]]
        random = _draws_random_numbers(node)
        if random is not None:
            record.update({"random": True} if random else {"repeat": "pure"})
        if record["name"] in measured:
            _add_measured(record, measured[record["name"]], tensors, costs)
        statistics = _batch_norm(node)
        unread = {index[n] for n in [*(statistics or ()), *_unread(node)]}
        if unread:  # See _again().
            record["inputs"] = [t for t in record["inputs"] if t not in unread]
    lasting = [n for i, n in enumerate(joint.forward) if n in index and i not in joint.mutated]
    results = [index[n] for n in lasting + [n for n in joint.backward if n in index]]
    records = _with_boundary(joint, tensors, records, index, by_name)
    graph = tracer._finish(type(joint.module).__name__, tensors, records, results, set())
    if costs:
        graph["cost_unit"] = "ns"
    return graph


def _add_measured(
    record: Dict[str, Any], found: Optional[Measured], tensors: tracer._Tensors, costs: bool
) -> None:
    if found is None:  # Nothing is known of it, so it runs once.
        record["repeat"] = "never"
        return
    if costs:
        record["cost"] = found.nanoseconds
    for tensor, size in zip(record["outputs"], found.results):
        if tensors.base(tensor) == tensor:
            tensors.all[tensor]["bytes"] = max(tensors.all[tensor]["bytes"], size)
    if found.workspace > 0:
        space = torch.empty(found.workspace, dtype=torch.uint8, device="meta")
        name = record["name"] + " workspace"
        record["outputs"] = record["outputs"] + [tensors.add(name, space, "activation")]


def _with_boundary(
    joint: _Joint,
    tensors: tracer._Tensors,
    records: List[Dict[str, Any]],
    index: Dict[Any, int],
    by_name: Dict[str, Any],
) -> List[Dict[str, Any]]:
    """`records` with the boundary. Random numbers that are drawn before it are not drawn after it."""
    boundary: Dict[str, Any] = {
        "name": BOUNDARY, "op": "", "random": True,
        "inputs": list(dict.fromkeys(index[n] for n in joint.forward if n in index)),
        "outputs": [index[n] for n in joint.tangents if n in index],
    }  # fmt: skip
    writes = sorted({tensors.base(index[n]) for n in joint.mutated.values()})
    if writes:
        boundary["mutates"] = writes
    early = joint.early()
    needed: Set[Any] = {n for n in joint.forward if isinstance(n, fx.Node)}
    for node in reversed(joint.module.graph.nodes):
        if node in needed or (node in early and _is_written(node)):
            needed.add(node)
            needed.update(node.all_input_nodes)
    first = next((k for k, r in enumerate(records) if by_name[r["name"]] not in early), len(records))
    moved = [r for r in records[first:] if by_name[r["name"]] in needed]
    left = [r for r in records[first:] if by_name[r["name"]] not in needed]
    return records[:first] + moved + [boundary] + left


# ---- What operators take, measured.


class Measured(NamedTuple):
    """What an operator takes.

    results: bytes of the storage of each tensor that it makes, which can be larger than the tensor.
    workspace: bytes that it needs besides these and its operands while it runs.
    """

    nanoseconds: int
    results: Sequence[int]
    workspace: int


def _example(value: Any, device: Any = None) -> Any:
    """A tensor like `value` with contents that operators take, where `device` says or where `value` is."""
    if not isinstance(value, torch.Tensor):
        return value
    made = torch.empty_strided(
        value.size(), value.stride(), dtype=value.dtype, device=device or value.device
    )
    return made.fill_(0.5) if value.dtype.is_floating_point else made.zero_()


def _examples(node: Any, devices: Mapping[Any, Sequence[Any]]) -> Any:
    """Operands in place of what `node` makes. `devices`: where tensors of operators that have run are.
    Tracing may say another device: the state of random numbers of attention is on the CPU, and its
    gradient reads it there without looking."""
    leaves, tree = torch.utils._pytree.tree_flatten(node.meta["val"])
    places = devices.get(node, ())
    if len(places) != len(leaves):
        places = [None] * len(leaves)
    return torch.utils._pytree.tree_unflatten([_example(x, at) for x, at in zip(leaves, places)], tree)


def _devices_of(value: Any) -> List[Any]:
    """Where each leaf of `value` is; None for what is no tensor."""
    leaves = torch.utils._pytree.tree_leaves(value)
    return [x.device if isinstance(x, torch.Tensor) else None for x in leaves]


def _storages(value: Any) -> List[int]:
    """Bytes of the storage of each tensor in `value`; of one on a GPU, as PyTorch's allocator rounds them."""
    found = []
    for tensor in torch.utils._pytree.tree_leaves(value):
        if isinstance(tensor, torch.Tensor):
            size = int(tensor.untyped_storage().nbytes())
            found.append(-(-size // 512) * 512 if tensor.is_cuda else size)
    return found


def _on_cpu(run: Callable[[], Any]) -> Tuple[Any, int]:
    """(what `run` returns, the most bytes that it had allocated)"""
    with torch.autograd.profiler.profile(profile_memory=True) as profile:
        made = run()
    events = [e for e in profile.kineto_results.events() if e.name() == "[memory]"]
    live = most = 0
    for event in sorted(events, key=lambda event: int(event.start_ns())):
        live += event.nbytes()
        most = max(most, live)
    return made, most


def _on_accelerator(run: Callable[[], Any]) -> Tuple[Any, int]:
    run()  # The first run of a kind allocates what libraries keep, and loads kernels.
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    made = run()
    torch.cuda.synchronize()
    return made, int(torch.cuda.max_memory_allocated()) - int(before)


def _measure_operator(node: Any, on_gpu: bool, devices: Dict[Any, Sequence[Any]]) -> Optional[Measured]:
    """Runs an operator alone, with made-up operands. None where it does not take them. `devices`: see
    _examples(); what it makes is added."""
    try:
        args = fx.node.map_arg(node.args, lambda n: _examples(n, devices))
        kwargs = fx.node.map_arg(node.kwargs, lambda n: _examples(n, devices))
        run = functools.partial(node.target, *args, **kwargs)
        made, most = (_on_accelerator if on_gpu else _on_cpu)(run)
        devices[node] = _devices_of(made)
        results = _storages(made)
        del made
        started = time.perf_counter_ns()
        made = run()
        if on_gpu:
            torch.cuda.synchronize()
        return Measured(time.perf_counter_ns() - started, results, max(0, most - sum(results)))
    except (RuntimeError, IndexError, NotImplementedError):
        return None


def measure(joint: _Joint) -> Dict[str, Optional[Measured]]:
    """What each operator that does more than views takes on this machine, by name."""
    found: Dict[str, Optional[Measured]] = {}
    devices: Dict[Any, Sequence[Any]] = {}
    on_gpu = any(node.meta["val"].device.type == "cuda" for node in joint.primals
                 if isinstance(node.meta.get("val"), torch.Tensor))  # fmt: skip
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch._subclasses.fake_tensor.unset_fake_temporarily())
        stack.enter_context(torch._C._DisableAutocast())
        stack.enter_context(torch.no_grad())
        stack.enter_context(torch.random.fork_rng())
        for node in joint.module.graph.nodes:
            if node.op == "call_function" and hasattr(node.target, "_schema") and not _is_view(node):
                found[node.name] = _measure_operator(node, on_gpu, devices)
            elif node.target is operator.getitem and node.args[0] in devices:
                maker, place = node.args
                devices[node] = devices[maker][place : place + 1]
    return found


# ---- The plan as a forward and a backward graph.


def _again(node: Any, after_boundary: bool) -> Tuple[Any, Tuple[Any, ...]]:
    """The operator and operands that make what `node` makes.

    After the forward pass the running statistics have their next values; a batch normalization that
    runs again neither reads nor makes them."""
    if after_boundary and _batch_norm(node) is not None:
        x, weight, bias, _, _, training, momentum, eps = node.args
        return (torch.ops.aten._native_batch_norm_legit.no_stats,
                (x, weight, bias, training, momentum, eps))  # fmt: skip
    if _unread(node):
        return node.target, node.args[:3] + (None, None) + node.args[5:]
    return node.target, node.args


class _Pass:
    """The graph of one pass, as it is written."""

    def __init__(self, joint: _Joint, missing: Callable[[Any], Any]) -> None:
        self.joint = joint
        self.graph = fx.Graph()
        self.made: Dict[Any, Any] = {}  # A node of the joint graph -> that which makes it here.
        self._missing = missing
        self._views: Dict[Any, Set[Any]] = {}  # Owner of the bytes -> views in `made`.

    def placeholder(self, node: Any) -> Any:
        self.made[node] = self.graph.placeholder(node.target)
        self.made[node].meta = dict(node.meta)
        return self.made[node]

    def run(self, node: Any, after_boundary: bool) -> None:
        """Executes an operator, maybe again: what it makes replaces what it made before."""
        target, args = _again(node, after_boundary)
        made = self._write(node, target, args)
        self._forget(node)
        self.made[node] = made
        statistics = target is not node.target
        for item in [n for n in self.joint.module.graph.nodes if n in node.users]:
            if item.target is not operator.getitem:
                continue
            self._forget(item)
            if not (statistics and item.args[1] >= 3):
                self.made[item] = self._item(item, made)

    def result(self, node: Any) -> Any:
        """What `node` of the joint graph is here; makes views and constants where they are needed."""
        if not isinstance(node, fx.Node):
            return node
        if node in self.made:
            return self.made[node]
        source = node.args[0] if node.target is operator.getitem else node
        if node.op == "get_attr":
            self.made[node] = self.graph.get_attr(node.target)
            self.made[node].meta = dict(node.meta)
        elif _is_view(source):
            owner, _ = tracer._sharing(source)
            self.result(owner)
            made = self._write(source, source.target, source.args)
            self._views.setdefault(owner, set()).update({node, source})
            self.made[source] = made
            if source is not node:
                self.made[node] = self._item(node, made)
        else:
            self.made[node] = self._missing(node)
        return self.made[node]

    def _forget(self, owner: Any) -> None:
        """Views of the bytes that `owner` had."""
        for view in self._views.pop(owner, ()):
            self.made.pop(view, None)
            self._forget(view)

    def _write(self, node: Any, target: Any, args: Tuple[Any, ...]) -> Any:
        args = fx.node.map_arg(args, self.result)
        kwargs = fx.node.map_arg(node.kwargs, self.result)
        made = self.graph.create_node("call_function", target, args, kwargs, node.name)
        made.meta = dict(node.meta)
        return made

    def _item(self, item: Any, source: Any) -> Any:
        made = self.graph.create_node(
            "call_function", item.target, (source, item.args[1]), {}, item.name
        )
        made.meta = dict(item.meta)
        return made

    def end(self, results: Sequence[Any], descriptions: Sequence[Any]) -> Any:
        output = self.graph.output(tuple(results))
        output.meta["desc"] = list(descriptions)
        self.graph.lint()
        return fx.GraphModule(self.joint.module, self.graph)


def _nothing_missing(node: Any) -> Any:
    raise AssertionError(f"{node.name} is read before it is made")


def split(joint: _Joint, order: Iterable[str]) -> Tuple[Any, Any]:
    """The forward and the backward graph that execute the operators named in `order`."""
    by_name = {node.name: node for node in joint.module.graph.nodes}
    forward = _Pass(joint, _nothing_missing)
    for node in joint.primals:
        forward.placeholder(node)
    saved: List[Tuple[Any, Any]] = []  # (in the forward graph, placeholder of the backward graph)

    def save(node: Any) -> Any:
        with backward.graph.inserting_before(backward.made[joint.tangents[0]]):
            found = backward.graph.placeholder(node.name)
        found.meta = dict(node.meta)
        saved.append((forward.made[node], found))
        return found

    backward = _Pass(joint, save)
    for node in joint.tangents:
        backward.placeholder(node)
    crossed = False
    results: List[Any] = []
    for name in order:
        if name == BOUNDARY:
            crossed = True
            results = [forward.result(node) for node in joint.forward]
        elif not _is_view(by_name[name]):
            (backward if crossed else forward).run(by_name[name], crossed)
    gradients = [backward.result(node) for node in joint.backward]
    count = len(joint.forward)
    described = list(joint.descriptions)
    return (
        forward.end(results + [node for node, _ in saved], described[:count] + [None] * len(saved)),
        backward.end(gradients, described[count:]),
    )


# ---- For users.


class Partition:
    """A partition function for functorch.compile.aot_function() and others: it plans the joint graph.

    Arguments are those of berth.torch.backend(). plans: those made so far, one for each graph.
    """

    def __init__(
        self,
        budget: Optional[Size] = None,
        *,
        device: Optional[Path] = None,
        profile: Optional[Path] = None,
        measure: bool = True,
        time_limit: Optional[float] = None,
        node_limit: Optional[int] = None,
    ) -> None:
        tracer._need_torch()
        self.plans: List[Plan] = []
        self._budget = budget
        self._measure = measure
        self._options: Dict[str, Any] = {"device": device, "profile": profile,
                                         "time_limit": time_limit, "node_limit": node_limit}  # fmt: skip

    def __call__(
        self, joint_module: Any, joint_inputs: Any, *, num_fwd_outputs: int, **_: Any
    ) -> Tuple[Any, Any]:
        """The forward and the backward graph. Raises DoesNotFit, berth.Unsupported, and what
        berth.plan() raises."""
        joint = _Joint(joint_module, num_fwd_outputs)
        measured = measure(joint) if self._measure else {}
        priced = self._options["device"] is not None or self._options["profile"] is not None
        graph = graph_for(joint, measured, costs=self._measure and not priced)
        if self._budget is None:
            found = plan_graph(graph, **self._options)
        else:
            found = plan_graph(graph, budget=self._budget, recompute=True, no_spill=True,
                               **self._options)  # fmt: skip
        if not found.order or not found.fits:
            raise tracer.DoesNotFit(_why_not(found), found)
        self.plans.append(found)
        return split(joint, found.operators)


def _runner(module: Any, _: Any = None) -> Callable[[List[Any]], Any]:
    """Runs a graph one operator at a time; takes its inputs out of the list that it is given, so that
    they are freed after their last use, as everything else is."""
    interpreter = fx.Interpreter(module)

    def run(arguments: List[Any]) -> Any:
        try:
            return interpreter.boxed_run(arguments)
        finally:
            interpreter.env = {}  # It would keep what it returns until it runs again.

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


class Backend:
    """A backend for torch.compile() that trains within a memory budget; see berth.torch.backend().

    plans: the plans made so far, one for each graph that was compiled for training.
    """

    def __init__(self, budget: Optional[Size] = None, **options: Any) -> None:
        self.partition = Partition(budget, **options)

    @property
    def plans(self) -> List[Plan]:
        return self.partition.plans

    def __call__(self, module: Any, inputs: Any, **_: Any) -> Any:
        from torch._dynamo.backends.common import aot_autograd

        return aot_autograd(fw_compiler=_runner, partition_fn=self.partition)(module, inputs)

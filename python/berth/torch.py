"""Traces PyTorch models to graphs for Berth: forward passes and whole training steps.

As a program:

  python -m berth.torch torchvision.models:resnet18 --input float32[32,3,224,224] -o forward.json
  python -m berth.torch torchvision.models:resnet18 --input float32[32,3,224,224] \\
      --train cross_entropy --optimizer sgd -o training.json

As a module:

  graph = berth.torch.trace_forward(model, (images,))
  graph = berth.torch.trace_training_step(model, (images,), lambda out: loss(out, labels))
  plan = berth.plan(graph)

What torch.export, make_fx and torch.compile have traced already is converted by graph_of(), which
berth.plan() calls by itself.

A trace runs on fake tensors, which have shapes but no data: a model needs no more memory than its
weights (and none under `torch.device("meta")`). docs/formats/graph.md describes the output format.

Shared bytes are handled as follows:

* Views are the outputs that, by the operator's schema, share bytes with an operand. Each is recorded
  as a view of its base, never of another view.
* In-place writes are also read from the schema, plus the running statistics that batch normalization
  updates without declaring it. Which operators read the bytes before the write, and which after it,
  must not depend on the order. For the written value, data edges ensure that; for other views of the
  same bytes they do not, so the operator gets `after` edges: from each write to the uses since, and
  from those uses to the next write, unless a path exists already.

An order that respects data edges and `after` computes the same results as the program;
python/tests/trace.py checks that against PyTorch, with random orders.

Needs PyTorch 1.13 or newer; neither Berth's library nor numpy.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import operator
import os
import re
import sys
import warnings
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
    cast,
)

# A graph as JSON has it (docs/formats/graph.md).
GraphDict = Dict[str, Any]

torch: Any = None
try:
    torch = importlib.import_module("torch")
except ModuleNotFoundError:
    pass  # --help works without; everything else says so.

if torch is not None:
    fx: Any = importlib.import_module("torch.fx")
    make_fx: Any = importlib.import_module("torch.fx.experimental.proxy_tensor").make_fx
    try:
        functional_call: Any = importlib.import_module("torch.func").functional_call
    except ImportError:  # Before PyTorch 2.
        functional_call = importlib.import_module("torch.nn.utils.stateless").functional_call

    aten = torch.ops.aten


def _need_torch() -> None:
    if torch is None:
        raise ImportError("berth.torch needs PyTorch 1.13 or newer: pip install torch")


# ---- Facts missing from PyTorch's schemas.

# Operators that return an operand's bytes without declaring it: output -> operand.
_UNSAID_VIEWS = {"aten::_unsafe_view": 0}


# Batch normalizations that in training write the running mean and variance, operands 3 and 4, without
# declaring it. All have `training` as operand 5.
_UNSAID_STATISTICS = {"aten::native_batch_norm", "aten::cudnn_batch_norm", "aten::miopen_batch_norm"}


def _unsaid_writes(node: Any) -> List[int]:
    """Positions of operands that `node` writes in place without declaring it."""
    if _name(node.target) in _UNSAID_STATISTICS and len(node.args) > 5 and node.args[5]:
        return [3, 4]
    return []


def _name(target: Any) -> str:
    schema = getattr(target, "_schema", None)
    return str(schema.name) if schema is not None else ""


_meta_kernels: Any = None


def _add_missing_shapes() -> None:
    """Adds shape functions for operators that old versions cannot run on fake tensors."""
    global _meta_kernels
    if _meta_kernels is not None:
        return
    from torch import library

    _meta_kernels = library.Library("aten", "IMPL", "Meta")
    if torch._C._dispatch_has_kernel_for_dispatch_key("aten::convolution_backward", "Meta"):
        return

    def convolution_backward(
        grad: Any,
        x: Any,
        weight: Any,
        bias_sizes: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        transposed: Any,
        output_padding: Any,
        groups: Any,
        mask: Any,
    ) -> Any:
        return (x.new_empty(x.shape) if mask[0] else None,
                weight.new_empty(weight.shape) if mask[1] else None,
                grad.new_empty((grad.shape[1],)) if mask[2] else None)

    _meta_kernels.impl("convolution_backward", convolution_backward)


@contextlib.contextmanager
def _dropout_with_mask() -> Iterator[None]:
    """Dropout as on accelerators: one operator, which also returns the mask for the gradient."""
    functional = torch.nn.functional
    original = functional.dropout

    def dropout(
        input: Any, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Any:
        if not training or p == 0:
            return input
        return aten.native_dropout(input, p, True)[0]

    functional.dropout = dropout
    try:
        yield
    finally:
        functional.dropout = original


# ---- From PyTorch's graph to Berth's.


class _Tensors:
    """The tensors of a graph, in the order found."""

    def __init__(self) -> None:
        self.all: List[Dict[str, Any]] = []
        self._names: Set[str] = set()

    def add(self, name: str, value: Any, kind: str, base: Optional[int] = None) -> int:
        unique, count = name, 1
        while unique in self._names:
            count += 1
            unique = f"{name}#{count}"
        self._names.add(unique)
        size = int(value.numel()) * value.element_size()
        tensor = {"id": len(self.all), "name": unique, "bytes": size, "kind": kind,
                  "dtype": str(value.dtype).replace("torch.", ""),
                  "shape": [int(dim) for dim in value.shape]}
        if base is not None:
            # An expanded view has more elements than bytes.
            tensor["bytes"] = min(size, self.all[base]["bytes"])
            tensor["alias_of"] = base
        self.all.append(tensor)
        return len(self.all) - 1

    def base(self, tensor: int) -> int:
        return cast(int, self.all[tensor].get("alias_of", tensor))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _value(node: Any) -> Any:
    """What the node makes, as far as its shape is known."""
    value = node.meta.get("val")
    if value is None and _is_shape(node.meta.get("tensor_meta")):
        meta = node.meta["tensor_meta"]
        value = torch.empty(meta.shape, dtype=meta.dtype, device="meta")
    return value


def _is_shape(meta: Any) -> bool:
    return hasattr(meta, "shape") and hasattr(meta, "dtype")


def _untraced(node: Any) -> ValueError:
    return ValueError(
        f"{node.op} {node.name}: this is not an operator of PyTorch with known views and writes; "
        "trace the model with torch.export, make_fx, or berth.torch.trace_forward()"
    )


def _arguments(node: Any) -> List[Tuple[int, Any]]:
    """Each operand with its position in the schema, or its name."""
    schema = node.target._schema
    places = {argument.name: i for i, argument in enumerate(schema.arguments)}
    found = [(i, value) for i, value in enumerate(node.args)]
    found += [(places[key], value) for key, value in node.kwargs.items() if key in places]
    return found


def _nodes_in(value: Any) -> List[Any]:
    found: List[Any] = []

    def visit(node: Any) -> Any:
        found.append(node)
        return node

    fx.node.map_arg(value, visit)
    return found


def _sharing(node: Any) -> Tuple[Any, List[Any]]:
    """(operand whose bytes the outputs are, or None; operands written in place), as fx nodes."""
    schema = node.target._schema
    written: List[Any] = []
    shared = None
    places = dict(_arguments(node))
    views: Set[str] = set()
    for returned in schema.returns:
        if returned.alias_info is not None:
            views |= set(returned.alias_info.before_set)
    for i, argument in enumerate(schema.arguments):
        info = argument.alias_info
        if info is None or i not in places:
            continue
        if info.is_write:
            written += _nodes_in(places[i])
        if shared is None and views & set(info.before_set):
            shared = next(iter(_nodes_in(places[i])), None)
    unsaid = _UNSAID_VIEWS.get(_name(node.target))
    if unsaid is not None:
        shared = next(iter(_nodes_in(places[unsaid])), None)
    for i in _unsaid_writes(node):
        written += _nodes_in(places.get(i))
    return shared, written


def _convert(
    traced: Any, sources: Iterable[str], kinds: Iterable[str]
) -> Tuple[_Tensors, List[Dict[str, Any]], Dict[Any, int]]:
    """(tensors, operators, tensor by fx node) of `traced`; `sources` and `kinds` are names and kinds of
    its placeholders."""
    tensors = _Tensors()
    nodes: List[Dict[str, Any]] = []
    index: Dict[Any, int] = {}  # fx node, or (fx node, position) for one of several outputs -> tensor.
    given = iter(zip(sources, kinds))
    items: Dict[Any, Dict[int, Any]] = {}
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target is operator.getitem:
            items.setdefault(node.args[0], {})[node.args[1]] = node
    for node in traced.graph.nodes:
        value = _value(node)
        if node.op == "placeholder":
            name, kind = next(given)
            if _is_tensor(value):
                index[node] = tensors.add(name, value, kind)
        elif node.op == "get_attr":
            value = operator.attrgetter(node.target)(traced)
            index[node] = tensors.add(node.target, value, "constant")
        elif node.op == "output":
            pass
        elif node.target is operator.getitem:
            if node.args in index:
                index[node] = index[node.args]
        elif node.op == "call_function":
            _add_operator(node, items, tensors, index, nodes)
        else:
            raise _untraced(node)
    return tensors, nodes, index


def _results(traced: Any, index: Dict[Any, int]) -> List[int]:
    """The tensors that `traced` returns."""
    output = next(node for node in traced.graph.nodes if node.op == "output")
    return [index[n] for n in _nodes_in(output.args) if n in index]


def _add_operator(
    node: Any,
    items: Dict[Any, Dict[int, Any]],
    tensors: _Tensors,
    index: Dict[Any, int],
    nodes: List[Dict[str, Any]],
) -> None:
    if not hasattr(node.target, "_schema"):
        if node in items or _is_tensor(_value(node)):
            raise _untraced(node)
        return  # Arithmetic on sizes.
    shared, written = _sharing(node)
    inputs = list(dict.fromkeys(index[n] for n in _nodes_in((node.args, node.kwargs)) if n in index))
    base = tensors.base(index[shared]) if shared in index else None
    outputs: List[int] = []
    value = _value(node)
    if node in items or isinstance(value, (tuple, list)):
        # Old versions only know the outputs that are used; others are added where they are known.
        parts = dict(enumerate(value or []))
        names = {i: item.name for i, item in items.get(node, {}).items()}
        parts.update({i: _value(item) for i, item in items.get(node, {}).items()})
        for i, part in sorted(parts.items()):
            if _is_tensor(part):
                name = names.get(i, f"{node.name}.{i}")
                index[(node, i)] = tensors.add(name, part, "activation", base)
                outputs.append(index[(node, i)])
    elif _is_tensor(value):
        index[node] = tensors.add(node.name, value, "activation", base)
        outputs.append(index[node])
    record = {"name": node.name,
              "op": str(node.target).replace("aten.", "").replace(".default", ""),
              "inputs": inputs, "outputs": outputs}
    mutates = sorted({tensors.base(index[n]) for n in written if n in index})
    if mutates:
        record["mutates"] = mutates
    nodes.append(record)


def _drop_dead(
    tensors: _Tensors, nodes: List[Dict[str, Any]], results: List[int]
) -> List[Dict[str, Any]]:
    """Removes operators that neither a result nor a lasting write depends on."""
    needed = set(results) | {tensors.base(t) for t in results}
    lasting = {t["id"] for t in tensors.all if t["kind"] in ("parameter", "input")}
    live = []
    for node in reversed(nodes):
        writes = node.get("mutates", [])
        if (any(t in needed for t in node["outputs"]) or
                any(b in lasting or b in needed for b in writes)):
            for t in node["inputs"] + writes:
                needed |= {t, tensors.base(t)}
            live.append(node)
    return live[::-1]


_GENERATOR = -1  # Of random numbers: as a tensor that every draw writes.


def _order_writes(tensors: _Tensors, nodes: List[Dict[str, Any]]) -> None:
    """Adds `after` where an in-place write must be ordered and data edges do not ensure it, and between
    operators that draw random numbers, so that each draws the same in every order."""
    made_by = {t: k for k, node in enumerate(nodes) for t in node["outputs"]}
    before: List[int] = []  # By operator: the operators before it, as bits.
    writer: Dict[int, int] = {}  # By base: the last write.
    users: Dict[int, Set[int]] = {}  # By base: the operators that have used it since.
    for k, node in enumerate(nodes):
        known = 0
        for t in node["inputs"]:
            if t in made_by:
                known |= before[made_by[t]] | 1 << made_by[t]
        used = {tensors.base(t) for t in node["inputs"] + node["outputs"]}
        writes = set(node.get("mutates", []))
        if node.get("random"):
            writes.add(_GENERATOR)
        wanted = {writer[b] for b in used | writes if b in writer}
        for b in writes:
            wanted |= users.get(b, set())
        after = []
        for v in sorted(wanted - {k}, reverse=True):
            if not known >> v & 1:
                after.append(v)
                known |= before[v] | 1 << v
        if after:
            node["after"] = sorted(after)
        before.append(known)
        for b in used - writes:
            users.setdefault(b, set()).add(k)
        for b in writes:
            writer[b] = k
            users[b] = set()


def _finish(
    name: str,
    tensors: _Tensors,
    nodes: List[Dict[str, Any]],
    results: List[int],
    parameters: Set[int],
) -> GraphDict:
    nodes = _drop_dead(tensors, nodes, results)
    _order_writes(tensors, nodes)
    used = {t for node in nodes for t in node["inputs"] + node["outputs"] + node.get("mutates", [])}
    used |= set(results)
    used |= {tensors.base(t) for t in used}
    made = {t for node in nodes for t in node["outputs"]}
    for t in results:
        if t in made:
            tensors.all[t]["kind"] = "output"
        else:
            tensors.all[t]["output"] = True
    # The last write of a parameter is its update; the update's other inputs are gradients.
    seen: Set[int] = set()
    for node in reversed(nodes):
        targets = [b for b in node.get("mutates", []) if b in parameters]
        if not targets or all(b in seen for b in targets):
            continue
        seen |= set(targets)
        node["update"] = True
        for t in node["inputs"]:
            for gradient in (t, tensors.base(t)):
                if tensors.all[gradient]["kind"] == "activation":
                    tensors.all[gradient]["kind"] = "gradient"
    ids = {t: i for i, t in enumerate(sorted(used))}
    for node in nodes:
        for key in ("inputs", "outputs", "mutates"):
            if key in node:
                node[key] = [ids[t] for t in node[key]]
    kept = []
    for t in sorted(used):
        tensor = tensors.all[t]
        tensor["id"] = ids[t]
        if "alias_of" in tensor:
            tensor["alias_of"] = ids[tensor["alias_of"]]
        kept.append(tensor)
    return {"format": "berth-graph", "format_version": 1, "name": name, "nodes": nodes,
            "tensors": kept}


# ---- Tracing.


def _trace(step: Callable[..., Any], arguments: Tuple[Any, ...], as_run: bool = False) -> Any:
    """`as_run`: with the operators that run here, also where accelerators have others."""
    _need_torch()
    _add_missing_shapes()
    with warnings.catch_warnings(), contextlib.nullcontext() if as_run else _dropout_with_mask():
        warnings.simplefilter("ignore")
        return make_fx(step, tracing_mode="fake")(*arguments)


def _flat_tensors(value: Any) -> List[Any]:
    if _is_tensor(value):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for part in value for t in _flat_tensors(part)]
    return []


def _state(model: Any) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    parameters = {k: v.detach() for k, v in model.named_parameters()}
    buffers = {k: v.detach() for k, v in model.named_buffers()}
    return parameters, buffers


def trace_forward_to_fx(model: Any, inputs: Sequence[Any]) -> Tuple[Any, List[str], List[str]]:
    """(the fx graph, names of its placeholders, their kinds); see trace_forward()."""
    parameters, buffers = _state(model)

    def step(parameters: Any, buffers: Any, inputs: Any) -> List[Any]:
        with torch.no_grad():
            out = functional_call(model, {**parameters, **buffers}, inputs)
        return _flat_tensors(out)

    traced = _trace(step, (parameters, buffers, tuple(inputs)))
    names = list(parameters) + list(buffers) + [f"input{i}" for i in range(len(inputs))]
    kinds = ["parameter"] * (len(parameters) + len(buffers)) + ["input"] * len(inputs)
    return traced, names, kinds


def trace_forward(model: Any, inputs: Sequence[Any], name: Optional[str] = None) -> GraphDict:
    """The graph of `model(*inputs)` without gradients, as a dict to write as JSON.

    `inputs` are tensors; their values do not matter. The model is traced in its current mode: call
    `model.eval()` for inference.
    """
    traced, names, kinds = trace_forward_to_fx(model, inputs)
    tensors, nodes, index = _convert(traced, names, kinds)
    results = _results(traced, index)
    return _finish(name or type(model).__name__, tensors, nodes, results, set())


def _sgd(parameter: Any, gradient: Any, state: Any, rate: float) -> None:
    parameter.add_(gradient, alpha=-rate)


def _momentum(parameter: Any, gradient: Any, state: Any, rate: float) -> None:
    state[0].mul_(0.9).add_(gradient)
    parameter.add_(state[0], alpha=-rate)


def _adam(parameter: Any, gradient: Any, state: Any, rate: float) -> None:
    # Without bias correction: it does not affect the sizes of the operators.
    first, second = state
    first.mul_(0.9).add_(gradient, alpha=0.1)
    second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
    parameter.addcdiv_(first, second.sqrt().add_(1e-8), value=-rate)


# The update function, and the number of state tensors per parameter.
OPTIMIZERS: Dict[str, Tuple[Callable[..., None], int]] = {"sgd": (_sgd, 0), "momentum": (_momentum, 1), "adam": (_adam, 2)}


def trace_training_step_to_fx(
    model: Any,
    inputs: Sequence[Any],
    loss: Callable[..., Any],
    targets: Sequence[Any] = (),
    optimizer: Optional[str] = "sgd",
    rate: float = 0.01,
) -> Tuple[Any, List[str], List[str]]:
    """(the fx graph, names of its placeholders, their kinds); see trace_training_step().

    Without an optimizer: loss and gradients, with the operators that run here."""
    update, copies = OPTIMIZERS[optimizer] if optimizer is not None else (None, 0)
    parameters, buffers = _state(model)
    frozen = {k for k, v in model.named_parameters() if not v.requires_grad}
    states = {k: [torch.zeros_like(v) for _ in range(copies)] for k, v in parameters.items()
              if k not in frozen}

    def step(parameters: Any, buffers: Any, states: Any, inputs: Any, targets: Any) -> Any:
        weights = {k: v if k in frozen else v.requires_grad_(True) for k, v in parameters.items()}
        trained = [k for k in weights if k not in frozen]
        out = functional_call(model, {**weights, **buffers}, inputs)
        value = loss(out, *targets)
        gradients = torch.autograd.grad(value, [weights[k] for k in trained], allow_unused=True)
        if update is None:
            return [value, *(g for g in gradients if g is not None)]
        with torch.no_grad():
            for k, gradient in zip(trained, gradients):
                if gradient is not None:
                    update(weights[k], gradient, states[k], rate)
        return value

    arguments = (parameters, buffers, states, tuple(inputs), tuple(targets))
    traced = _trace(step, arguments, as_run=update is None)
    names = list(parameters) + list(buffers)
    names += [f"{k}.state{i}" for k in states for i in range(copies)]
    kinds = ["parameter"] * len(names)
    names += [f"input{i}" for i in range(len(inputs))]
    names += [f"target{i}" for i in range(len(targets))]
    kinds += ["input"] * (len(inputs) + len(targets))
    return traced, names, kinds


def trace_training_step(
    model: Any,
    inputs: Sequence[Any],
    loss: Callable[..., Any],
    targets: Sequence[Any] = (),
    optimizer: str = "sgd",
    rate: float = 0.01,
    name: Optional[str] = None,
) -> GraphDict:
    """The graph of a training step, as a dict: forward, backward, and the update of each weight.

    `loss(outputs, *targets)` returns a scalar. `optimizer` is a key of OPTIMIZERS. The model is
    traced in its current mode: call `model.train()`.
    """
    traced, names, kinds = trace_training_step_to_fx(model, inputs, loss, targets, optimizer, rate)
    tensors, nodes, index = _convert(traced, names, kinds)
    results = _results(traced, index)
    weights = {k for k, _ in model.named_parameters()}
    parameters = {t["id"] for t in tensors.all if t["kind"] == "parameter" and t["name"] in weights}
    return _finish(name or type(model).__name__, tensors, nodes, results, parameters)


def graph_of(traced: Any, name: Optional[str] = None) -> GraphDict:
    """The graph of a model that was traced already, as a dict to write as JSON.

    traced: a torch.export.ExportedProgram, or a torch.fx.GraphModule of ATen operators with shapes,
        as make_fx and the backends of torch.compile have it. What both hold as attributes, and the
        parameters and buffers of an ExportedProgram, are `parameter`; other placeholders, `input`.
        Dynamic dimensions have the sizes of the example.

    Raises TypeError for a model that was not traced, ValueError for a graph of modules or without
    shapes.
    """
    _need_torch()
    module = getattr(traced, "graph_module", traced)
    if not isinstance(module, fx.GraphModule):
        raise TypeError(
            f"{type(traced).__name__} is not traced: give its inputs to "
            "berth.torch.trace_forward(model, inputs), or use torch.export.export()"
        )
    signature = getattr(traced, "graph_signature", None)
    weights: Dict[str, str] = {}
    constants: Dict[str, str] = {}
    if signature is not None:
        weights = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
        constants = dict(getattr(signature, "inputs_to_lifted_tensor_constants", None) or {})
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    for node in placeholders:
        if _value(node) is None:
            raise ValueError(f"{node.name} has no shape: trace the model with torch.export or make_fx")
    kinds = ["parameter" if n.name in weights else "constant" if n.name in constants else "input"
             for n in placeholders]  # fmt: skip
    sources = [weights.get(n.name) or constants.get(n.name) or n.name for n in placeholders]
    tensors, nodes, index = _convert(module, sources, kinds)
    results = _results(module, index)
    return _finish(name or type(module).__name__, tensors, nodes, results, set())


# ---- Training within a budget (python/berth/_training.py).


class DoesNotFit(RuntimeError):
    """There is no plan for a training step within the budget, or none was found.

    plan: a berth.Plan with what is known: `outcome`, `capacity`, `least_memory` with `least_operator`
        (no plan needs less), and `least_peak` (enough without running operators again).
    """

    def __init__(self, message: str, plan: Any) -> None:
        super().__init__(message)
        self.plan = plan


def backend(
    budget: Union[int, str, None] = None,
    *,
    device: Optional[Union[str, "os.PathLike[str]"]] = None,
    profile: Optional[Union[str, "os.PathLike[str]"]] = None,
    measure: bool = True,
    time_limit: Optional[float] = None,
    node_limit: Optional[int] = None,
) -> Any:
    """A backend for torch.compile(), which trains within a memory budget; arguments as in compile().

    Its attribute `plans` lists the berth.Plan of each graph that was compiled for training so far, and
    `partition` is a partition function, for functorch.compile.aot_function() and others.
    """
    _need_torch()
    from berth import _training

    return _training.Backend(budget, device=device, profile=profile, measure=measure,
                             time_limit=time_limit, node_limit=node_limit)  # fmt: skip


def compile(model: Any, budget: Union[int, str, None] = None, **options: Any) -> Any:
    """`model`, which trains within a memory budget: its operators run in an order that Berth plans, and
    some run again instead of keeping what they made.

    model: a torch.nn.Module or a function of tensors that returns tensors, such as a loss. What is
        outside of it is not part of the plan: a function that computes the loss is best.
    budget: of all that its forward and backward passes make, gradients of the weights and workspaces of
        operators included, in bytes, or text such as "512MiB", or "MR", "MH", "MP" as berth.plan() has
        them. Weights, inputs and the optimizer's state are not counted. None: nothing runs again, in the
        order with the lowest peak.
    options: of backend():
    measure: run each operator once before planning, with made-up operands, for its time and its
        workspace; operators that do not take them never run again. False: workspaces are not counted,
        and operators that read and write few bytes are cheap to run again.
    device, profile: the path of a device (docs/formats/device.md) or of measured times
        (docs/formats/profile.md), which say instead how long operators take.
    time_limit, node_limit: of the search, in seconds, or the same on every machine.

    The first call with gradients plans, which takes seconds; a plan is for one shape of the inputs.
    Results and gradients are those of the model: operators that draw random numbers run once, in their
    order, and running statistics are updated once. One operator runs at a time: nothing is fused.

    Needs PyTorch 2.9 or newer. The first call raises what torch.compile(backend=..., fullgraph=True,
    dynamic=False) raises: an error with the message of DoesNotFit if there is no plan within the
    budget, or of berth.Unsupported, naming the operator.
    """
    return torch.compile(model, backend=backend(budget, **options), fullgraph=True, dynamic=False)


def checkpoint_policy(
    model: Any,
    regions: Sequence[Any],
    inputs: Sequence[Any],
    loss: Callable[..., Any],
    targets: Sequence[Any] = (),
    budget: Union[int, str, None] = None,
    **options: Any,
) -> Any:
    """Policies for torch.utils.checkpoint's selective activation checkpointing, made from a plan.

    model, inputs, loss, targets: a training step, as for trace_training_step().
    regions: the submodules that the model runs under torch.utils.checkpoint.checkpoint(), each once in a
        step. The model is traced as it is: with the checkpoints not yet in it, or with plain calls.
    budget: as for compile(): of all that both passes make. None: MP, the least peak of any order; as
        operators first run in program order here, some may have to run again even with that.
    options: of berth.plan(): device, profile, time_limit, node_limit.

    Returns an object with `context_fn(i)`, for checkpoint(regions[i], x, use_reentrant=False,
    context_fn=...), `policy_fn(i)`, the `plan`, and by region the names of operators whose results are
    `kept` and `dropped`. The policy holds for these shapes and this mode; where another operator runs
    than was planned, it raises RuntimeError.

    The budget is the plan's, not a limit: PyTorch runs a region again as a whole when the backward pass
    first needs it, so more is in memory and more runs again than in the plan. compile() keeps to the
    plan. Workspaces of operators are not counted.

    Needs PyTorch 2.4 or newer. Raises DoesNotFit, and berth.Unsupported for a region that runs never or
    more than once.
    """
    _need_torch()
    from berth import _checkpoint

    return _checkpoint.checkpoint_policy(model, regions, inputs, loss, targets, budget, **options)


# ---- Command line.


def _parse_input(text: str) -> Any:
    match = re.fullmatch(r"(?:([a-z]+[0-9]*))?\[([0-9, ]*)\]", text)
    if match is None:
        raise SystemExit(f"{text!r} is not an input; write it as float32[1,3,224,224]")
    dtype = getattr(torch, match.group(1) or "float32", None)
    if not isinstance(dtype, torch.dtype):
        raise SystemExit(f"{text!r}: PyTorch has no type {match.group(1)!r}")
    shape = [int(part) for part in match.group(2).split(",") if part.strip()]
    return torch.zeros(shape, dtype=dtype)


def _first_tensor(out: Any) -> Any:
    found = _flat_tensors(out)
    if not found:
        raise SystemExit("the model's result contains no tensor for the loss")
    return found[0]


def _cross_entropy(out: Any, target: Any) -> Any:
    return torch.nn.functional.cross_entropy(_first_tensor(out), target)


def _mse(out: Any, target: Any) -> Any:
    return torch.nn.functional.mse_loss(_first_tensor(out), target)


def _target(model: Any, inputs: Sequence[Any], loss: str) -> Any:
    """A target for the result, whose shape is found by another trace."""
    traced, _, _ = trace_forward_to_fx(model, inputs)
    output = next(n for n in traced.graph.nodes if n.op == "output")
    shape = list(_nodes_in(output.args)[0].meta["val"].shape)
    if loss == "mse":
        return torch.zeros(shape)
    return torch.zeros(shape[:1] + shape[2:], dtype=torch.long)


def main(arguments: Optional[Sequence[str]] = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m berth.torch",
        description="Traces a PyTorch model to a graph for berth.",
        epilog="MODEL is a Python module, a colon, and a class or function that returns the model "
               "when called without arguments.")
    parser.add_argument("model", metavar="MODEL", help="for example torchvision.models:resnet18")
    parser.add_argument("--input", action="append", required=True, metavar="TYPE[SHAPE]",
                        help="for example float32[1,3,224,224]; repeat for each input")
    parser.add_argument("--train", choices=["cross_entropy", "mse"], metavar="LOSS",
                        help="trace a training step with this loss: cross_entropy or mse")
    parser.add_argument("--optimizer", choices=sorted(OPTIMIZERS), default="sgd")
    parser.add_argument("-o", "--output", default="-", metavar="FILE",
                        help="file for the graph (default: -, standard output)")
    options = parser.parse_args(arguments)
    if torch is None:
        raise SystemExit("berth.torch needs PyTorch 1.13 or newer: pip install torch")

    module, _, attribute = options.model.partition(":")
    try:
        model = operator.attrgetter(attribute)(importlib.import_module(module))()
    except (ImportError, AttributeError, ValueError) as error:
        raise SystemExit(f"{options.model}: {error}")
    inputs = [_parse_input(text) for text in options.input]
    if options.train:
        model.train()
        targets = [_target(model, inputs, options.train)]
        loss = {"cross_entropy": _cross_entropy, "mse": _mse}[options.train]
        graph = trace_training_step(model, inputs, loss, targets, options.optimizer, name=attribute)
    else:
        model.eval()
        graph = trace_forward(model, inputs, name=attribute)
    text = json.dumps(graph, separators=(",", ":")) + "\n"
    if options.output == "-":
        sys.stdout.write(text)
    else:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()

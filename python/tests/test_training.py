"""berth.torch.compile(): real training steps, against what PyTorch computes and allocates."""

import pytest

import berth

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 9):
    pytest.skip("berth.torch.compile() needs PyTorch 2.9", allow_module_level=True)

import berth.torch  # noqa: E402
from berth import _training  # noqa: E402

nn, F = torch.nn, torch.nn.functional
EFFORT = {"node_limit": 30_000}


class Convnet(nn.Module):
    """Batch normalization, dropout, an activation in place, and a result that is used twice."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.second = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.GELU(), nn.Dropout(0.3))
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        y = self.first(x)
        return self.head((y + self.second(y)).mean((2, 3)))


class Counting(nn.Module):
    """Reads a buffer that it replaces, so that the old value must not be read after the forward pass."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(3))
        self.register_buffer("scale", torch.full((64, 32), 0.5))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x)) * torch.exp(self.scale)
        self.scale.mul_(1.5)
        return x


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 32)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True) for _ in range(2))

    def forward(self, x):
        x = self.table(x)
        for block in self.blocks:
            x = block(x)
        return (x @ self.table.weight.t()).flatten(0, 1)


def images():
    return torch.randn(8, 3, 12, 12), torch.randint(5, (8,))


CASES = {
    "convnet": (Convnet, images, F.cross_entropy),
    "counting": (Counting, lambda: (torch.randn(64, 32), torch.randn(64, 32)), F.mse_loss),
    "transformer": (Blocks, lambda: (torch.randint(50, (4, 16)), torch.randint(50, (64,))), F.cross_entropy),
}


class Case:
    def __init__(self, name):
        self.kind, inputs, self.criterion = CASES[name]
        torch.manual_seed(0)
        self.inputs = inputs()

    def trained(self, backend=None, steps=2):
        """Losses, gradients, weights and statistics of some steps, and what the last one allocated."""
        torch._dynamo.reset()
        torch.manual_seed(1)
        model = self.kind().train()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def loss(x, y):
            return self.criterion(model(x), y)

        if backend is not None:
            loss = torch.compile(loss, backend=backend, fullgraph=True, dynamic=False)
        found = []

        def step():
            value = loss(*self.inputs)
            value.backward()
            found.extend([value.detach(), *(p.grad.clone() for p in model.parameters())])

        torch.manual_seed(2)
        for _ in range(steps):
            step()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return found + [v.clone() for v in model.state_dict().values()], allocated(lambda: loss(*self.inputs).backward())


def allocated(run):
    """The most bytes at a time that `run` has allocated: what the allocator says, not the plan."""
    with torch.autograd.profiler.profile(profile_memory=True) as profile:
        run()
    live = most = 0
    events = [e for e in profile.kineto_results.events() if e.name() == "[memory]"]
    for event in sorted(events, key=lambda event: event.start_ns()):
        live += event.nbytes()
        most = max(most, live)
    return most


def equal(expected, found):
    assert len(expected) == len(found)
    for a, b in zip(expected, found):
        assert torch.equal(a, b)


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_pytorch_at_every_budget(name):
    case = Case(name)
    expected, _ = case.trained()
    backend = berth.torch.backend(**EFFORT)
    found, _ = case.trained(backend)
    equal(expected, found)
    (plan,) = backend.plans
    assert len(set(plan.order)) == len(plan.order)
    again = []
    for percent in (90, 75, 60):
        backend = berth.torch.backend(plan.peak * percent // 100, measure=False, **EFFORT)
        found, _ = case.trained(backend)
        equal(expected, found)
        (tight,) = backend.plans
        assert tight.peak <= plan.peak * percent // 100
        again += [tight.graph.operator(op).type for op in tight.order if tight.order.count(op) > 1]
        assert tight.recomputed.operators == len(tight.order) - tight.graph.operator_count
    assert again


@pytest.mark.parametrize("name", CASES)
def test_measured_peak_is_that_of_the_plan(name):
    case = Case(name)
    _, plain = case.trained()
    peaks = []
    for percent in (100, 80):
        budget = peaks[0] * percent // 100 if peaks else None
        backend = berth.torch.backend(budget, **EFFORT)
        _, measured = case.trained(backend)
        (plan,) = backend.plans
        assert abs(measured - plan.peak) <= 0.05 * plan.peak
        peaks.append(plan.peak)
    assert peaks[0] <= 1.02 * plain


def joint_graph(function, *inputs, given=0):
    """The joint graph of AOTAutograd, with gradients of all but the last `given` inputs."""
    from functorch.compile import aot_function, default_partition

    found = []

    def keep(module, joint_inputs, *, num_fwd_outputs, **more):
        found.append(_training._Joint(module, num_fwd_outputs))
        return default_partition(module, joint_inputs, num_fwd_outputs=num_fwd_outputs, **more)

    for x in inputs[: len(inputs) - given]:
        x.requires_grad_()
    aot_function(function, fw_compiler=_training._runner, partition_fn=keep)(*inputs)
    return found[0]


def calls(module, *targets):
    return [n for n in module.graph.nodes if n.op == "call_function" and n.target in targets]


def chain(x, w, mean, variance):
    y = F.batch_norm(x @ w, mean, variance, training=True)
    y = torch.tanh(y).view(4, 2, 8).transpose(1, 2)
    y = F.dropout(y, 0.5, training=True)
    return torch.tanh(y).sum()


def chain_graph():
    joint = joint_graph(chain, torch.randn(8, 8), torch.randn(8, 8), torch.zeros(8), torch.ones(8), given=2)
    return joint, _training.graph_for(joint)


def test_statistics_and_random_numbers_are_made_once():
    joint, graph = chain_graph()
    names = [node["name"] for node in graph["nodes"]]
    random = [node["name"] for node in graph["nodes"] if node.get("random")]
    assert _training.BOUNDARY in random and len(random) > 1
    boundary = names.index(_training.BOUNDARY)
    norm = next(name for name in names if "batch_norm" in name and "backward" not in name)
    again = names[:boundary + 1] + [norm] + names[boundary + 1:]
    forward, backward = _training.split(joint, again)
    aten = torch.ops.aten
    assert len(calls(forward, aten._native_batch_norm_legit_functional.default)) == 1
    assert len(calls(backward, aten._native_batch_norm_legit.no_stats)) == 1
    assert not calls(backward, aten._native_batch_norm_legit_functional.default)


def test_views_are_made_where_they_are_used():
    joint, graph = chain_graph()
    forward, backward = _training.split(joint, [node["name"] for node in graph["nodes"]])
    saved = forward.graph.output_node().args[0][len(joint.forward):]
    assert saved
    for node in saved:
        assert not _training._is_view(node)


def test_the_order_of_random_numbers_is_kept():
    joint = joint_graph(
        lambda x: (F.dropout(x, 0.5) + F.dropout(2 * x, 0.3)).sum() + F.dropout(x * x, 0.1).sum(),
        torch.randn(16))  # fmt: skip
    graph = _training.graph_for(joint)
    drawn = [k for k, node in enumerate(graph["nodes"]) if node.get("random")]
    assert len(drawn) == 4  # With the boundary.
    assert graph["nodes"][drawn[-1]]["name"] == _training.BOUNDARY
    planned = berth.plan(graph)
    assert [op for op in planned.order if op in drawn] == drawn


def test_a_budget_that_no_plan_fits():
    case = Case("convnet")
    with pytest.raises(Exception) as refused:
        case.trained(berth.torch.backend("1KiB", **EFFORT))
    assert "no plan fits 1,024 bytes: operator " in str(refused.value)
    joint = joint_graph(lambda x: torch.tanh(torch.tanh(x)).sum(), torch.randn(64))
    partition = _training.Partition(500, measure=False)
    with pytest.raises(berth.torch.DoesNotFit) as told:
        partition(joint.module, (), num_fwd_outputs=len(joint.forward))
    assert told.value.plan.least_memory > 500
    assert told.value.plan.least_operator in str(told.value)


def test_what_cannot_be_planned_is_named():
    joint = joint_graph(lambda x: torch.tanh(x).sum(), torch.randn(64))
    tanh = calls(joint.module, torch.ops.aten.tanh.default)[0]
    tanh.target = len  # No operator with a schema.
    with pytest.raises(berth.Unsupported, match="tanh .* is not an operator with a schema"):
        _training._Joint(joint.module, len(joint.forward))

    @torch.compile(backend=berth.torch.backend(), dynamic=True)
    def sizes(x):
        return torch.tanh(x).sum()

    with pytest.raises(Exception, match="dynamic=False"):
        sizes(torch.randn(64, requires_grad=True)).backward()


def test_an_operator_that_cannot_be_measured_runs_once(monkeypatch):
    def refuse(value, device):
        if value.dim() == 2:
            raise RuntimeError("not with such contents")
        return torch.ones(())

    joint = joint_graph(lambda x: torch.tanh(torch.exp(x).sum()), torch.randn(4, 4))
    monkeypatch.setattr(_training, "_example", refuse)
    found = _training.measure(joint)
    failed = [name for name, taken in found.items() if taken is None]
    assert failed and len(failed) < len(found)
    graph = _training.graph_for(joint, found, costs=True)
    for node in graph["nodes"]:
        assert (node.get("repeat") == "never") or node["name"] not in failed


def test_operands_are_where_they_will_be(monkeypatch):
    """Tracing says of attention on a GPU that the state of its random numbers is there, too, and its
    gradient reads that on the CPU without looking."""
    seen = {}

    def look(value, device):
        seen.setdefault(tuple(value.shape), []).append(device)
        return torch.ones(value.shape)

    joint = joint_graph(lambda x: torch.tanh(torch.topk(x, 3).values).sum(), torch.randn(5))
    monkeypatch.setattr(_training, "_example", look)
    _training.measure(joint)
    assert seen[(5,)][0] is None  # Given: where tracing says that it is.
    assert seen[(3,)][0] == torch.device("cpu")  # Made by an operator that has run.


@pytest.mark.parametrize("name", ["native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"])
def test_batch_norms_write_their_statistics_in_training(name):
    """On GPUs, PyTorch calls another one, whose schema does not say so either."""
    graph = torch.fx.Graph()
    given = [graph.placeholder(each) for each in ("x", "weight", "bias", "mean", "variance")]
    target = getattr(torch.ops.aten, name).default
    training = graph.call_function(target, (*given, True, 0.1, 1e-5))
    assert berth.torch._sharing(training) == (None, given[3:])
    assert berth.torch._sharing(graph.call_function(target, (*given, False, 0.1, 1e-5))) == (None, [])


def test_storages_larger_than_their_tensor_are_counted():
    joint = joint_graph(F.mse_loss, torch.randn(1000), torch.randn(1000), given=1)
    found = _training.measure(joint)
    size = sum(found["mse_loss"].results)
    graph = _training.graph_for(joint, found)
    made = [t["bytes"] for t in graph["tensors"] if t["name"] == "mse_loss"]
    assert made == [max(size, 4)]


def test_workspaces_are_counted():
    x, w = torch.randn(4, 8, 16, 16), torch.randn(8, 8, 3, 3)
    joint = joint_graph(lambda x, w: F.conv2d(x, w, padding=1).sum(), x, w)
    graph = _training.graph_for(joint, {
        node["name"]: _training.Measured(5, [10], 1000 if node["op"] == "convolution" else 0)
        for node in _training.graph_for(joint)["nodes"] if node["name"] != _training.BOUNDARY
    }, costs=True)  # fmt: skip
    spaces = [t for t in graph["tensors"] if t["name"].endswith("workspace")]
    assert [t["bytes"] for t in spaces] == [1000]
    assert not any(spaces[0]["id"] in node["inputs"] for node in graph["nodes"])
    assert graph["cost_unit"] == "ns"

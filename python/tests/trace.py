#!/usr/bin/env python3
"""Tests of berth.torch, which need PyTorch alone. Exit status 77 if it is not installed."""

import json
import operator
import os
import random
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    print("PyTorch is not installed")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import berth.torch as tracer  # noqa: E402

nn = torch.nn
F = torch.nn.functional


class Residual(nn.Module):
    """Convolutions, statistics updated in place, and writes over operands."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.again = nn.Conv2d(4, 4, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        y = self.relu(self.norm(self.conv(x)))
        y = y + self.again(y)
        y += y.mean()
        a, b = y.split(2, 1)
        y = torch.cat([b, a], 1).amax((2, 3))
        return {"logits": self.out(y)}


class Tied(nn.Module):
    """A weight that is used twice: its update must wait for all of its readers."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 6)
        self.layer = nn.TransformerEncoderLayer(6, 2, 12, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.layer(self.table(x)) @ self.table.weight.t()


class WritesWhatIsRead(nn.Module):
    """Readers of old and new values of a buffer that is written several times."""

    def __init__(self):
        super().__init__()
        self.register_buffer("memory", torch.arange(4.0))

    def forward(self, x):
        before = x * self.memory
        row = self.memory[1:3]
        self.memory.add_(x)
        after = x * self.memory
        row.mul_(2)
        return before, after, row.clone(), self.memory.sum()


def cases():
    torch.manual_seed(1)
    image = torch.rand(2, 3, 5, 5)
    words = torch.randint(11, (2, 4))
    loss = lambda out, target: F.cross_entropy(out["logits"], target)  # noqa: E731
    tied_loss = lambda out, target: F.cross_entropy(out.flatten(0, 1), target.flatten())  # noqa: E731
    yield ("forward", Residual().eval(), (image,), None, (), "sgd")
    yield ("writes", WritesWhatIsRead(), (torch.rand(4),), None, (), "sgd")
    for optimizer in tracer.OPTIMIZERS:
        yield ("residual " + optimizer, Residual().train(), (image,), loss,
               (torch.tensor([0, 2]),), optimizer)
    yield ("tied", Tied().train(), (words,), tied_loss, (words,), "momentum")


def trace(case):
    """(graph, fx graph, values of its placeholders)"""
    _, model, inputs, loss, targets, optimizer = case
    values = [v.detach() for v in model.parameters()] + [v.detach() for v in model.buffers()]
    if loss is None:
        graph = tracer.trace_forward(model, inputs)
        traced, names, _ = tracer.trace_forward_to_fx(model, inputs)
    else:
        graph = tracer.trace_training_step(model, inputs, loss, targets, optimizer)
        traced, names, _ = tracer.trace_training_step_to_fx(model, inputs, loss, targets,
                                                                optimizer)
        copies = tracer.OPTIMIZERS[optimizer][1]
        values += [torch.zeros_like(v) for v in model.parameters() for _ in range(copies)]
    values += list(inputs) + list(targets)
    assert len(values) == len(names)
    return graph, traced, values


def predecessors(graph, use_after=True):
    made_by = {t: k for k, node in enumerate(graph["nodes"]) for t in node["outputs"]}
    return [{made_by[t] for t in node["inputs"] if t in made_by} |
            (set(node.get("after", [])) if use_after else set()) for node in graph["nodes"]]


def random_order(graph, rng, use_after=True):
    waits = predecessors(graph, use_after)
    left, done, order = set(range(len(waits))), set(), []
    while left:
        ready = [k for k in sorted(left) if waits[k] <= done]
        # Prefers the last ready operator, to get far from program order.
        k = ready[-1] if rng.random() < 0.5 else rng.choice(ready)
        left.remove(k)
        done.add(k)
        order.append(k)
    return order


def execute(graph, traced, values, order):
    """Runs the operators in `order` and returns the results and the final inputs."""
    given = [v.clone() for v in values]
    env = {}
    by_name = {}
    placeholders = iter(given)
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            env[node] = next(placeholders)
        elif node.op == "get_attr":
            env[node] = operator.attrgetter(node.target)(traced).clone()
        elif node.op == "call_function":
            by_name[node.name] = node

    def value(node):
        if node not in env and node.target is operator.getitem:
            env[node] = env[node.args[0]][node.args[1]]
        return env[node]

    for k in order:
        node = by_name[graph["nodes"][k]["name"]]
        env[node] = node.target(*torch.fx.node.map_arg(node.args, value),
                                **torch.fx.node.map_arg(node.kwargs, value))
    output = next(n for n in traced.graph.nodes if n.op == "output")
    results = []
    torch.fx.node.map_arg(output.args, lambda n: results.append(value(n).clone()) or n)
    return results + given


class TraceTest(unittest.TestCase):
    def test_structure(self):
        for case in cases():
            with self.subTest(case[0]):
                graph, _, _ = trace(case)
                nodes, tensors = graph["nodes"], graph["tensors"]
                self.assertEqual([t["id"] for t in tensors], list(range(len(tensors))))
                self.assertEqual(len({t["name"] for t in tensors}), len(tensors))
                self.assertEqual(len({n["name"] for n in nodes}), len(nodes))
                made = set()
                sources = {t["id"] for t in tensors
                           if t["kind"] in ("input", "parameter", "constant")}
                for k, node in enumerate(nodes):
                    self.assertLessEqual(set(node["inputs"]), made | sources)
                    self.assertTrue(all(v < k for v in node.get("after", [])))
                    self.assertFalse(made & set(node["outputs"]))
                    made |= set(node["outputs"])
                    for base in node.get("mutates", []):
                        self.assertNotIn("alias_of", tensors[base])
                self.assertEqual(made | sources, set(range(len(tensors))))
                for t in tensors:
                    if "alias_of" in t:
                        base = tensors[t["alias_of"]]
                        self.assertNotIn("alias_of", base)
                        self.assertLessEqual(t["bytes"], base["bytes"])

    def test_any_order_computes_the_same(self):
        rng = random.Random(7)
        for case in cases():
            with self.subTest(case[0]):
                graph, traced, values = trace(case)
                expected = execute(graph, traced, values, range(len(graph["nodes"])))
                self.assertTrue(all(torch.isfinite(v).all() for v in expected))
                moved = 0
                for _ in range(10):
                    order = random_order(graph, rng)
                    moved += order != sorted(order)
                    found = execute(graph, traced, values, order)
                    for a, b in zip(expected, found):
                        self.assertTrue(torch.equal(a, b))
                self.assertGreater(moved, 0)

    def test_orders_that_ignore_writes_compute_something_else(self):
        rng = random.Random(7)
        for case in cases():
            if case[0] not in ("writes", "tied"):
                continue
            with self.subTest(case[0]):
                graph, traced, values = trace(case)
                self.assertTrue(any("after" in node for node in graph["nodes"]))
                expected = execute(graph, traced, values, range(len(graph["nodes"])))
                wrong = 0
                for _ in range(20):
                    found = execute(graph, traced, values, random_order(graph, rng, False))
                    wrong += any(not torch.equal(a, b) for a, b in zip(expected, found))
                self.assertGreater(wrong, 0)

    def test_what_a_training_step_does(self):
        case = next(c for c in cases() if c[0] == "residual sgd")
        graph, traced, values = trace(case)
        nodes, tensors = graph["nodes"], graph["tensors"]
        updated = {tensors[b]["name"] for n in nodes if n.get("update") for b in n["mutates"]}
        self.assertEqual(updated, {name for name, _ in case[1].named_parameters()})
        written = {tensors[b]["name"] for n in nodes for b in n.get("mutates", [])}
        self.assertLessEqual({"norm.running_mean", "norm.running_var",
                              "norm.num_batches_tracked"}, written)
        self.assertTrue(any(t["kind"] == "gradient" for t in tensors))
        self.assertEqual([t["name"] for t in tensors if t["kind"] == "output"], ["nll_loss_forward"]
                         if any(t["name"] == "nll_loss_forward" for t in tensors)
                         else [t["name"] for t in tensors if t["kind"] == "output"])
        # The step computes the same as PyTorch's own optimizer.
        model = case[1]
        results = execute(graph, traced, values, range(len(nodes)))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        optimizer.zero_grad()
        loss = case[3](model(*case[2]), *case[4])
        loss.backward()
        optimizer.step()
        self.assertTrue(torch.allclose(results[0], loss.detach()))
        for mine, theirs in zip(results[1:], model.parameters()):
            self.assertTrue(torch.allclose(mine, theirs.detach(), atol=1e-6))

    def test_program(self):
        with tempfile.TemporaryDirectory() as folder:
            sys.path.insert(0, folder)
            with open(os.path.join(folder, "my_models.py"), "w", encoding="utf-8") as file:
                file.write("import torch\n"
                           "def tiny(): return torch.nn.Sequential(torch.nn.Linear(4, 3), "
                           "torch.nn.ReLU(), torch.nn.Linear(3, 2))\n")
            path = os.path.join(folder, "graph.json")
            tracer.main(["my_models:tiny", "--input", "float32[5,4]", "-o", path])
            with open(path, encoding="utf-8") as file:
                forward = json.load(file)
            tracer.main(["my_models:tiny", "--input", "[5,4]", "--train", "cross_entropy",
                              "--optimizer", "adam", "-o", path])
            with open(path, encoding="utf-8") as file:
                training = json.load(file)
            self.assertEqual(forward["name"], "tiny")
            self.assertEqual([n["op"] for n in forward["nodes"]], ["t", "addmm", "relu", "t", "addmm"])
            self.assertGreater(len(training["nodes"]), 2 * len(forward["nodes"]))
            for wrong in (["my_models:none"], ["my_models:tiny", "--input", "float32(4)"],
                          ["my_models:tiny", "--input", "list[4]"]):
                with self.assertRaises(SystemExit):
                    with open(os.devnull, "w", encoding="utf-8") as nowhere:
                        sys.stderr, kept = nowhere, sys.stderr
                        try:
                            tracer.main(wrong + ["--input", "[5,4]"])
                        finally:
                            sys.stderr = kept
            sys.path.remove(folder)

    def test_reference_transformer(self):
        data = os.environ.get("BERTH_DATA")
        if data is None:
            self.skipTest("BERTH_DATA is not set")
        with open(os.path.join(data, "graphs/training/transformer_b1.json"),
                  encoding="utf-8") as file:
            reference = json.load(file)
        model = nn.Transformer().train()
        target = torch.zeros(20, 1, 512)
        graph = tracer.trace_training_step(
            model, (torch.zeros(10, 1, 512), target.clone()), lambda out, y: F.mse_loss(out, y), (target,))
        self.assertEqual([n["op"] for n in graph["nodes"]], [n["op"] for n in reference["nodes"]])
        self.assertEqual([n.get("after") for n in graph["nodes"]],
                         [n.get("after") for n in reference["nodes"]])
        self.assertEqual([t["bytes"] for t in graph["tensors"]],
                         [t["bytes"] for t in reference["tensors"]])
        self.assertEqual([t.get("alias_of") for t in graph["tensors"]],
                         [t.get("alias_of") for t in reference["tensors"]])


if __name__ == "__main__":
    unittest.main()

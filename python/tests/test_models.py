"""berth.read(), berth.plan(), berth.schedule(), berth.sweep(), berth.diff(): models."""

import json

import berth
import pytest


@pytest.fixture
def spilling():
    """Two long chains that meet: with less than the least peak, one has to wait off chip."""
    graph = berth.Graph("chains")
    graph.add_tensor("x", 100, kind="input", dtype="float32", shape=(5, 5))
    graph.add_operator("start", ["x"], [graph.add_tensor("a", 100)])
    for name in "bc":
        graph.add_tensor(name, 300)
    graph.add_tensor("d", 300)
    graph.add_tensor("e", 100)
    graph.add_tensor("f", 50, output=True)
    graph.add_operator("b", ["a"], ["b"])
    graph.add_operator("c", ["b"], ["c"])
    graph.add_operator("d", ["c"], ["d"])
    graph.add_operator("e", ["d"], ["e"])
    graph.add_operator("f", ["e", "a"], ["f"])
    return graph


def test_builder(spilling):
    assert spilling.name == "chains"
    assert (spilling.tensor_count, spilling.operator_count) == (7, 6)
    assert spilling.tensors[0] == berth.Tensor("x", 100, "input", False, 1, None, "", "float32", "5x5")
    assert spilling.operators[5] == berth.Operator("f", "", (5, 1), (6,), (), ())
    spilling.validate()
    again = berth.read(spilling.to_json().encode())
    assert isinstance(again, berth.Graph)
    assert again.tensors == spilling.tensors and again.operators == spilling.operators
    assert repr(spilling) == "<Graph 'chains': 6 operators, 7 tensors>"
    view = spilling.add_tensor("view", 100, alias_of="e")
    spilling.add_operator("g", ["e"], [view], type="Reshape", after=[0])
    spilling.add_operator("h", [view], [], mutates=["e"], after=[5, 6])
    assert spilling.operators[7].mutates == (5,) and spilling.operators[7].after == (5, 6)
    assert spilling.tensors[7].alias_of == 5


def test_plan(spilling):
    plan = berth.plan(spilling)
    assert plan.outcome is berth.Outcome.OPTIMAL and plan.fits
    assert plan.height == plan.peak == plan.height_bound == plan.peak_bound == 700
    assert plan.operators == ["start", "b", "c", "d", "e", "f"] and plan.order == [0, 1, 2, 3, 4, 5]
    assert plan.offsets == [r.offset for r in plan.residencies]
    assert [r.name for r in plan.residencies] == ["a", "b", "c", "d", "e", "f"]
    assert plan.offset("b") == plan.offset(2) == plan.residencies[1].offset
    assert plan.moves == [] and plan.traffic is None and plan.traffic_bound is None
    assert repr(plan).startswith("<Plan: optimal, 6 operators, height 700 bytes, ")
    assert plan.searches["offsets"].outcome is berth.Outcome.OPTIMAL
    plan.validate()
    berth.check(spilling, plan)
    tight = berth.plan(spilling, capacity=600)
    assert tight.outcome is berth.Outcome.INFEASIBLE and not tight.fits
    counted = berth.plan(spilling, count="inputs")
    assert "x" in [r.name for r in counted.residencies]


def test_budget(spilling):
    plan = berth.plan(spilling, budget=600)
    assert plan.outcome is berth.Outcome.OPTIMAL and plan.spills and plan.fits
    assert plan.traffic.spilled == plan.traffic.retrieved == 100
    assert plan.traffic.avoidable == plan.traffic_bound == 200
    assert plan.least_memory == 600 and plan.least_operator in ("c", "d")
    assert plan.least_peak == 700
    assert [(m.tensor, m.bytes, m.direction) for m in plan.moves] == [
        ("a", 100, "out"),
        ("a", 100, "in"),
    ]
    of_a = [r for r in plan.residencies if r.name == "a"]
    assert [r.comes_in for r in of_a] == [False, True] and of_a[0].written_out
    assert plan.offset("a", of_a[1].start) == of_a[1].offset
    assert "traffic 200 bytes" in repr(plan)
    named = berth.plan(spilling, budget="MR")
    assert named.capacity == 600
    too_small = berth.plan(spilling, budget=599)
    assert too_small.outcome is berth.Outcome.INFEASIBLE and not too_small.fits


def test_recompute(spilling, examples, tmp_path):
    plan = berth.plan(spilling, budget=600, recompute=True)
    # x is no operator's: making a again reads it and writes 100 bytes.
    assert plan.outcome is berth.Outcome.OPTIMAL and plan.fits and not plan.spills
    assert plan.recomputed == berth.Recomputed(1, 200, 0, 200, 2450, "bytes")
    assert plan.operators.count("start") == 2 and len(plan.order) == 7 and plan.moves == []
    assert len([r for r in plan.residencies if r.name == "a"]) == 2
    plan.save(tmp_path / "plan.json")
    berth.check(spilling, tmp_path / "plan.json")
    assert berth.plan(spilling, budget=600).recomputed is None
    graph = berth.Graph("costs", cost_unit="us")
    for name in "abcd":
        graph.add_tensor(name, 4, output=name == "d")
    graph.add_operator("make a", [], ["a"], cost=7)
    graph.add_operator("make b", ["a"], ["b"], cost=1)
    graph.add_operator("make c", ["b"], ["c"], cost=1)
    graph.add_operator("make d", ["a", "c"], ["d"], cost=1, repeat=False)
    again = berth.plan(graph, budget=12, recompute=True)
    assert again.recomputed == berth.Recomputed(0, 0, 0, 0, 10, "us")
    device = examples / "devices" / "a100.json"
    timed = berth.plan(examples / "cells.onnx", budget="MH", recompute=True, device=device,
                       time_limit=2)  # fmt: skip
    again = timed.recomputed
    assert again.unit == "ns" and again.cost + again.copies >= again.bound and timed.spills
    alone = berth.plan(examples / "cells.onnx", budget="MH", recompute=True, no_spill=True,
                       device=device, time_limit=2)  # fmt: skip
    assert alone.recomputed.copies == 0 and not alone.spills
    read = berth.read(examples / "cells.onnx")
    assert read.changed(device=device).to_json() == berth.read(examples / "cells.onnx", device=device).to_json()
    with pytest.raises(berth.InvalidOptions, match="budget"):
        berth.plan(spilling, recompute=True)
    with pytest.raises(berth.InvalidProblem, match="a cost of its own"):
        berth.plan(graph, device=device)


def test_measured_times(examples, tmp_path):
    graph = berth.Graph("measured")
    for name, size in (("x", 4), ("y", 4), ("z", 6), ("w", 2)):
        graph.add_tensor(name, size, output=name == "w")
    graph.add_operator("make x", [], ["x"])
    graph.add_operator("make y", ["x"], ["y"])
    graph.add_operator("make z", ["y"], ["z"])
    graph.add_operator("join", ["x", "z"], ["w"])
    times = tmp_path / "times.csv"
    times.write_text("operator,ns\nmake x,9\nmake x,7\nmake y,20\nmake z,20\njoin,20\n")
    plan = berth.plan(graph, budget=12, recompute=True, profile=times)
    assert plan.recomputed == berth.Recomputed(1, 7, 0, 7, 67, "ns")
    assert json.loads(plan.to_json())["profile"] == "profile"
    plan.save(tmp_path / "plan.json")
    berth.check(graph.changed(profile=times), tmp_path / "plan.json")
    with pytest.raises(berth.InvalidOptions, match="apply the option profile"):
        berth.check(graph, tmp_path / "plan.json")
    device = berth.plan(graph, budget=12, recompute=True,
                        device=examples / "devices" / "a100.json")  # fmt: skip
    device.save(tmp_path / "plan.json")
    with pytest.raises(berth.InvalidOptions, match="apply the option device"):
        berth.check(graph, tmp_path / "plan.json")
    changed = graph.changed(profile=str(times))
    assert berth.plan(changed, budget=12, recompute=True).recomputed == plan.recomputed
    with pytest.raises(berth.InvalidProblem, match="a cost of its own"):
        changed.changed(profile=times)
    times.write_text("operator,ns\nmake x,9\n")
    with pytest.raises(berth.InvalidProblem, match='no time for 3 of 4 operators; the first is "make y"'):
        berth.plan(graph, budget=12, recompute=True, profile=times)
    times.write_text("operator,ns\nmake x,-9\n")
    with pytest.raises(berth.InvalidOptions, match='profile:2:8: ns is "-9"'):
        berth.plan(graph, profile=times)
    with pytest.raises(FileNotFoundError):
        berth.plan(graph, profile=tmp_path / "none.csv")


def test_orders(spilling):
    assert berth.plan(spilling, order="program").fixed_order in (True, False)
    given = berth.plan(spilling, order=["start", "b", "c", "d", "e", "f"])
    assert given.order == [0, 1, 2, 3, 4, 5]
    order = berth.schedule(spilling)
    assert order.peak == 700 and order.offsets is None and order.residencies[0].offset is None
    assert order.fits and "no offsets" in repr(order)


def test_files(spilling, tmp_path):
    plan = berth.plan(spilling, budget="600B")
    for name in ("plan.json", "plan.csv", "plan.html", "plan.svg"):
        plan.save(tmp_path / name)
    plan.report(tmp_path / "report.html", advice=plan.advice(node_limit=100))
    plan.trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "plan.json").read_text())["order"] == plan.operators
    berth.check(spilling, tmp_path / "plan.json")
    spilling.save(tmp_path / "graph.json")
    berth.check(tmp_path / "graph.json", tmp_path / "plan.json")
    assert "<iframe" in plan._repr_html_()
    for name in ("plan.onnx", "plan.tflite"):
        with pytest.raises(ValueError, match="ONNX or TensorFlow Lite"):
            plan.save(tmp_path / name)


def test_onnx(examples, tmp_path):
    graph = berth.read(examples / "cells.onnx")
    assert graph.operator_count == 214 and graph.open_dimensions == []
    order = berth.schedule(graph)
    order.save(tmp_path / "reordered.onnx")
    again = berth.read(tmp_path / "reordered.onnx")
    assert [op.name for op in again.operators] == order.operators
    content = (examples / "cells.onnx").read_bytes()
    assert berth.schedule(content).model() == order.model()
    fused = berth.plan(graph, fuse=True, in_place=True)
    read = berth.plan(examples / "cells.onnx", fuse=True, in_place=True)
    assert fused.to_csv() == read.to_csv()
    assert len(fused.residencies) < len(berth.plan(graph).residencies)
    quarter = berth.plan(examples / "cells.onnx", element_bytes=1)
    assert quarter.height == berth.plan(graph).height // 4


def test_tflite(data, tmp_path):
    path = data / "tflite" / "vww_96_int8.tflite"
    plan = berth.plan(path)
    assert plan.height == 55296
    plan.save(tmp_path / "planned.tflite")
    again = berth.read(tmp_path / "planned.tflite")
    assert [op.name for op in again.operators] == plan.operators
    assert berth.schedule(path.read_bytes(), order="program").model() == path.read_bytes()
    with pytest.raises(ValueError, match="TensorFlow Lite: save"):
        plan.save(tmp_path / "planned.onnx")
    with pytest.raises(berth.InvalidOptions, match="fuse"):
        berth.plan(path, fuse=True).model()


def test_onnx_model(examples):
    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(examples / "cells.onnx"), load_external_data=False)
    assert berth.plan(model).height == berth.plan(examples / "cells.onnx").height
    value = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    more = onnx.helper.make_node("Abs", ["y"], ["z"])
    graph = onnx.helper.make_graph(
        [node, more], "open",
        [value("x", onnx.TensorProto.FLOAT, ["batch", 16])],
        [value("z", onnx.TensorProto.FLOAT, ["batch", 16])],
    )  # fmt: skip
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    unsized = berth.plan(model)
    assert unsized.unsized and unsized.outcome is berth.Outcome.UNKNOWN
    assert unsized.graph.open_dimensions == ["batch"]
    assert "open: batch" in repr(unsized.graph)
    assert berth.plan(model, dim={"batch": 8}).height == 2 * 8 * 16 * 4
    assert berth.plan(model, dim_default=2).height == 2 * 2 * 16 * 4


def test_graph_in_python(spilling):
    """A dict, as berth.torch makes it."""
    assert berth.plan(json.loads(spilling.to_json())).height == 700


def test_pandas(spilling):
    pytest.importorskip("pandas")
    frame = berth.plan(spilling, budget=600).to_pandas()
    assert frame[frame.name == "a"].shape[0] == 2
    assert spilling.to_pandas().bytes.sum() == 1250
    sweep = berth.sweep(spilling, points=3).to_pandas()
    assert list(sweep.outcome) == ["optimal"] * len(sweep)


def test_advice(spilling):
    advice = berth.plan(spilling, capacity=600).advice(node_limit=1000)
    assert len(advice) > 0 and isinstance(advice[0], berth.Remedy)
    assert all(remedy.title and remedy.detail for remedy in advice)
    assert repr(advice).startswith("<Advice: ")


def test_sweep(spilling, tmp_path):
    sweep = berth.sweep(spilling, points=5)
    assert sweep.points[0].capacity == 700 and sweep[len(sweep) - 1].capacity == 600
    assert [p.avoidable for p in sweep][0] == 0 and sweep.points[-1].avoidable == 200
    assert all(p.outcome is berth.Outcome.OPTIMAL for p in sweep)
    assert "traffic 0 to 200 bytes" in repr(sweep)
    sweep.save(tmp_path / "sweep.csv")
    assert (tmp_path / "sweep.csv").read_text() == sweep.to_csv()
    sweep.report(tmp_path / "sweep.html")
    assert "<iframe" in sweep._repr_html_()
    chosen = berth.sweep(spilling, budgets=["MP", 650, "MR"], node_limit=100)
    assert [p.capacity for p in chosen] == [700, 650, 600]
    assert all(p.cost is None and p.cost_unit is None for p in chosen)


def test_sweep_of_costs(tmp_path):
    """x waits from the first operator to the last; it can be made again for a cost of 45."""
    graph = berth.Graph("waits", cost_unit="flop")
    x, y, z = (graph.add_tensor(name, size) for name, size in (("x", 4), ("y", 6), ("z", 6)))
    last = graph.add_tensor("last", 2)
    graph.add_operator("make x", [], [x], cost=45)
    graph.add_operator("make y", [x], [y], cost=1000)
    graph.add_operator("make z", [y], [z], cost=1000)
    graph.add_operator("join", [x, z], [last], cost=1000)
    sweep = berth.sweep(graph, budgets=["MP", "MR", 3], recompute=True)
    free, tight, none = sweep
    assert (free.cost, free.repeats, free.avoidable) == (0, 0, 0)
    assert (tight.cost, tight.cost_bound, tight.repeats, tight.copy_cost) == (45, 45, 1, 0)
    assert (tight.of_run, tight.cost_unit) == (3045, "flop")
    assert none.cost is None and none.outcome is berth.Outcome.INFEASIBLE
    assert "cost 0 to 45 flop" in repr(sweep)
    assert ",1,45,0,45,3045,flop" in sweep.to_csv()
    page = sweep.report()
    assert '"recomputed":[0,45,0]' in page and '"least_operator":"make z"' in page
    many = berth.sweep(graph, points=20, recompute=True).points
    assert [p.capacity for p in many] == sorted((p.capacity for p in many), reverse=True)
    costs = [p.cost for p in many]
    assert costs == sorted(costs) and None not in costs


def test_plot(spilling, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = berth.sweep(spilling, points=5).plot()
    axes.figure.savefig(tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").stat().st_size > 5000
    assert axes.get_xlabel() == "memory (bytes)"


def test_diff(spilling, tmp_path):
    before = berth.plan(spilling)
    after = berth.plan(spilling, budget=600)
    change = berth.diff(before, after)
    assert (change.height_before, change.height_after) == (700, 600)
    assert change.changed > 0 and "height 700 -> 600 bytes" in repr(change)
    before.save(tmp_path / "before.json")
    assert berth.diff(tmp_path / "before.json", before.to_json().encode()).changed == 0
    change.report(tmp_path / "diff.html")
    assert (tmp_path / "diff.html").read_text() == change.report()


def test_torch():
    torch = pytest.importorskip("torch")
    import berth.torch as tracer

    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    inputs = (torch.zeros(2, 8),)
    traced = berth.plan(tracer.trace_forward(model.eval(), inputs))
    assert traced.outcome is berth.Outcome.OPTIMAL and traced.height > 0
    assert any(t.dtype == "float32" and t.shape == "2x16" for t in traced.graph.tensors)
    with pytest.raises(TypeError, match="not traced"):
        berth.plan(model)
    with pytest.raises(ValueError, match="trace"):
        berth.plan(torch.fx.symbolic_trace(model))
    module, _, _ = tracer.trace_forward_to_fx(model, inputs)
    assert berth.plan(module).height == traced.height
    if hasattr(torch, "export") and hasattr(torch.export, "export"):
        exported = torch.export.export(model, inputs)
        plan = berth.plan(exported)
        assert plan.outcome is berth.Outcome.OPTIMAL and plan.height > 0

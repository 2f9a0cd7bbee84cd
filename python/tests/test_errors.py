"""What is raised, and what it says. No answer is an outcome, and is tested elsewhere."""

import pickle

import berth
import pytest


def test_invalid_problem():
    with pytest.raises(berth.InvalidProblem, match='buffer "conv2"') as raised:
        berth.place([0, 5], [1, 5], [8, 8], ids=["conv1", "conv2"])
    error = raised.value
    assert (error.subject, error.index) == ("buffer", 1)
    assert isinstance(error, (berth.Error, ValueError)) and str(error) == error.message
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.subject, again.index) == (error.message, "buffer", 1)
    with pytest.raises(berth.InvalidProblem, match='buffer "0"'):
        berth.place([0], [1], [0])
    with pytest.raises(berth.InvalidProblem, match=r"size\[1\].*beyond 64 bits"):
        berth.place([0, 0], [1, 1], [1, 2**64])
    with pytest.raises(berth.InvalidProblem):
        berth.place([0], [1], [2**61])
    with pytest.raises(berth.InvalidProblem):
        berth.place([0], [4], [8], gaps={0: [(3, 2)]})


def test_types_and_lengths():
    with pytest.raises(TypeError, match=r"start\[1\] is 1.5"):
        berth.place([0, 1.5], [1, 2], [1, 1])
    with pytest.raises(TypeError, match="size is str"):
        berth.place([0], [1], "8")
    with pytest.raises(TypeError, match="size is int"):
        berth.place([0], [1], 8)
    with pytest.raises(ValueError, match="size has 1 values, but start has 2"):
        berth.place([0, 0], [1, 1], [8])
    with pytest.raises(ValueError, match="alignment has 1 values"):
        berth.place([0, 0], [1, 1], [8, 8], [1])
    with pytest.raises(ValueError, match="ids has 1 values"):
        berth.place([0, 0], [1, 1], [8, 8], ids=["a"])
    with pytest.raises(TypeError, match="needs start, end and size"):
        berth.place([0])
    with pytest.raises(TypeError, match="size is for arrays"):
        berth.place(berth.Problem([0], [1], [1]), size=[2])
    with pytest.raises(ValueError):
        berth.place([0], [1], [1], offset={3: 0})


def test_invalid_options():
    for options in (
        {"algorithm": "none such"},
        {"time_limit": -1},
        {"threads": 0},
        {"capacity": "12 apples"},
        {"endpoints": "open"},
        {"options": {"niche.none": "on"}},
        {"options": {"niche.beam": "maybe"}},
    ):
        with pytest.raises(berth.InvalidOptions):
            berth.place([0], [1], [1], **options)
    with pytest.raises(berth.InvalidOptions, match="capacity"):
        berth.plan(tiny(), capacity=10, budget=10)


def test_status_codes():
    """Of berth.h; no input leads to some of them today."""
    from berth._errors import _CLASSES

    assert _CLASSES[6] is berth.Unsupported and issubclass(berth.Unsupported, NotImplementedError)
    assert _CLASSES[10] is berth.InternalError and issubclass(berth.InternalError, RuntimeError)


def tiny():
    graph = berth.Graph("tiny")
    graph.add_tensor("x", 64, kind="input")
    graph.add_tensor("y", 32)
    graph.add_tensor("z", 16, output=True)
    graph.add_operator("a", ["x"], ["y"])
    graph.add_operator("b", ["y"], ["z"])
    return graph


def test_invalid_graph():
    graph = tiny()
    graph.add_tensor("orphan", 8)
    with pytest.raises(berth.InvalidGraph, match='"orphan"') as raised:
        graph.validate()
    assert (raised.value.subject, raised.value.index) == ("tensor", 3)
    with pytest.raises(berth.InvalidGraph, match='"orphan"'):
        berth.plan(graph)
    with pytest.raises(ValueError, match="no tensor 'w'"):
        graph.add_operator("c", ["w"], ["z"])
    with pytest.raises(ValueError, match="kind"):
        graph.add_tensor("v", 8, kind="weight")
    with pytest.raises(ValueError):
        graph.add_operator("c", [99], [])


def test_invalid_plan():
    with pytest.raises(berth.InvalidPlan) as raised:
        berth.plan(tiny(), order=["b", "a"])
    assert raised.value.subject == "operator"
    with pytest.raises(ValueError, match="no operator 'c'"):
        berth.plan(tiny(), order=["c", "a"])
    with pytest.raises(berth.InvalidPlan):
        berth.plan(tiny(), order=[0])
    text = berth.plan(tiny()).to_json()
    berth.check(tiny(), text.encode())
    broken = text.replace('"offset":0', '"offset":4')
    assert broken != text
    with pytest.raises(berth.InvalidPlan):
        berth.check(tiny(), broken.encode())


def test_parse_error(tmp_path):
    with pytest.raises(berth.ParseError, match="table:3") as raised:
        berth.read(b"id,lower,upper,size\na,0,1,8\nb,0,1,eight\n")
    assert (raised.value.subject, raised.value.index) == ("line", 3)
    (tmp_path / "bad.json").write_text('{"format": "berth-graph"')
    with pytest.raises(berth.ParseError, match="bad.json"):
        berth.read(tmp_path / "bad.json")
    with pytest.raises(berth.ParseError):
        berth.plan(b"\x08\x07 not a model")


def test_file_error(tmp_path):
    for name in ("none.onnx", "none.csv", "none.json", "none"):
        with pytest.raises(berth.FileError, match="none") as raised:
            berth.read(tmp_path / name)
        assert isinstance(raised.value, OSError)
    with pytest.raises(OSError):
        berth.diff(tmp_path / "a.json", tmp_path / "b.json")


def test_arguments_of_other_kinds_of_files(examples):
    with pytest.raises(TypeError, match="dim is for models"):
        berth.read(examples / "inference_mobilenet_v2.csv", dim={"n": 1})
    with pytest.raises(TypeError, match="endpoints is for tables"):
        berth.read(examples / "cells.onnx", endpoints="inclusive")
    with pytest.raises(TypeError, match="not a model"):
        berth.plan(42)
    with pytest.raises(TypeError, match="berth.read"):
        berth.plan(tiny(), dim={"n": 1})


def test_no_offsets():
    order = berth.schedule(tiny())
    assert order.offsets is None and order.height is None
    with pytest.raises(ValueError):
        order.svg()
    with pytest.raises(ValueError, match="ONNX"):
        order.model()


def test_names():
    assert berth.InvalidProblem.__module__ == "berth"
    assert issubclass(berth.Interrupted, KeyboardInterrupt)
    assert not issubclass(berth.Interrupted, berth.Error)
    for kind in (berth.InternalError, berth.Unsupported, berth.InvalidPlacement):
        assert issubclass(kind, berth.Error)

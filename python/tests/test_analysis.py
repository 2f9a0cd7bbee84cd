"""Runs with copies off chip, and proofs: as the command has them."""

import json
import subprocess

import berth
import pytest
from berth._problem import parse_placement

DEVICE = {
    "format": "berth-device",
    "format_version": 1,
    "operations_per_second": 1,
    "bandwidth": "1GB/s",
    "launch_ns": 10,
    "link": {"out": "1GB/s", "in": "500MB/s", "latency_ns": 6, "energy_pj_per_byte": 100},
}


@pytest.fixture
def spill():
    graph = berth.Graph("spill")
    for name, size in (("x", 4), ("y", 4), ("z", 6), ("w", 2)):
        graph.add_tensor(name, size, output=name == "w")
    graph.add_operator("make x", [], ["x"])
    graph.add_operator("make y", ["x"], ["y"])
    graph.add_operator("make z", ["y"], ["z"])
    graph.add_operator("join", ["x", "z"], ["w"])
    return graph


@pytest.fixture
def device(tmp_path):
    def write(**link):
        path = tmp_path / "device.json"
        path.write_text(json.dumps({**DEVICE, "link": {**DEVICE["link"], **link}}))
        return path

    return write


def test_run_off_chip(spill, device):
    """Bytes take a nanosecond, starts 10: x comes back to the place of y, and `join` waits for it."""
    plan = berth.plan(spill, budget=12, device=device())
    run = plan.run_off_chip()
    assert (run.time, run.computing, run.copying, run.stalled) == (96, 74, 32, 14)
    assert run.one_by_one == 106
    assert (run.avoidable_pj, run.compulsory_pj) == (800.0, 200.0)
    assert run.operators == [(0, 14), (14, 32), (32, 52), (66, 88)]
    out, back, result = run.copies
    assert (out.tensor, out.direction, out.avoidable, out.bytes) == ("x", "out", True, 4)
    assert (back.tensor, back.direction, back.after, back.before) == ("x", "in", 3, 3)
    assert (back.begins, back.ends) == (52, 66)
    assert plan.residencies[back.residency].comes_in
    assert (result.tensor, result.avoidable, result.before) == ("w", False, None)
    moved = [(copy.tensor, copy.bytes, copy.direction) for copy in run.copies if copy.avoidable]
    assert moved == [(move.tensor, move.bytes, move.direction) for move in plan.moves]


def test_run_without_what_it_needs(spill, device, tmp_path):
    unknown = berth.plan(spill, budget=12, device=device(energy_pj_per_byte=0))
    assert unknown.run_off_chip().avoidable_pj == 0
    with pytest.raises(berth.InvalidOptions, match="the graph has none"):
        berth.plan(spill, budget=12).run_off_chip()
    no_link = {key: value for key, value in DEVICE.items() if key != "link"}
    path = tmp_path / "unlinked.json"
    path.write_text(json.dumps(no_link))
    with pytest.raises(berth.InvalidOptions, match="it has no link"):
        berth.plan(spill, budget=12, device=path).run_off_chip()
    with pytest.raises(berth.InvalidPlan, match="no addresses"):
        berth.plan(spill, budget=11, device=device()).run_off_chip()


def test_run_is_that_of_the_command(command, examples):
    edge = examples / "devices" / "edge-accelerator.json"
    arguments = ["--budget", "MR", "--count", "all", "--node-limit", "2000", "--device", edge, "--json"]
    found = subprocess.run([command, "plan", examples / "cells.onnx", *map(str, arguments)],
                           capture_output=True, text=True)  # fmt: skip
    expected = json.loads(found.stdout)["off_chip_run"]
    plan = berth.plan(examples / "cells.onnx", budget="MR", count="all", node_limit=2000, device=edge)
    run = plan.run_off_chip()
    assert {name: getattr(run, name) for name in expected} == expected
    assert len(run.operators) == len(plan.order) and run.time > 0 and len(run.copies) > 2


def check_proofs_against_the_command(command, name, make, path, least, kind, tmp_path):
    """`make(path, capacity=...)` plans as `berth NAME` does: their proofs have the same bytes."""
    assert least.outcome is berth.Outcome.OPTIMAL
    for capacity in (None, least.height - 1):
        proof = make(path, capacity=capacity).prove()
        assert proof.missing is None and proof.text.endswith("end\n")
        claim = f"claim optimal {least.height}" if capacity is None else f"claim infeasible {capacity}"
        assert proof.text.splitlines()[:2] == [f"{kind} 1", claim]
        arguments = [] if capacity is None else ["--capacity", str(capacity)]
        subprocess.run([command, name, path, "--proof", tmp_path / "command.txt", *arguments],
                       capture_output=True)  # fmt: skip
        proof.save(tmp_path / "python.txt")
        assert (tmp_path / "python.txt").read_bytes() == (tmp_path / "command.txt").read_bytes()


def test_proofs_are_those_of_the_command(command, examples, tmp_path):
    table = examples / "inference_mobilenet_v2.csv"
    least = berth.place(table, time_limit=20)
    check_proofs_against_the_command(command, "place", berth.place, table, least, "berth-proof", tmp_path)


def test_proofs_of_orders_are_those_of_the_command(command, examples, tmp_path):
    graph = examples / "training_alexnet_b32.json"
    least = berth.plan(graph)
    check_proofs_against_the_command(command, "plan", berth.plan, graph, least, "berth-order-proof", tmp_path)
    with pytest.raises(berth.InvalidOptions, match="all orders"):
        berth.plan(graph, budget="MR", node_limit=100).prove()


def test_proofs_that_are_missing(hard, tmp_path):
    start, end, size = hard
    load = 10**9
    short = berth.place(start, end, size, capacity=load + 1, node_limit=1)
    assert short.outcome is berth.Outcome.UNKNOWN
    with pytest.raises(berth.InvalidOptions, match="only an answer"):
        short.prove()
    # Of an optimum that a bound does not prove.
    table = [(0, 4, 5), (3, 8, 3), (1, 6, 4), (5, 9, 7), (7, 11, 2), (2, 4, 6), (8, 10, 6), (0, 2, 3)]
    columns = [list(column) for column in zip(*table)]
    for alignment in (1, 4):
        placement = berth.place(*columns, alignment)
        assert placement.outcome is berth.Outcome.OPTIMAL
        proof = placement.prove(node_limit=0)
        assert (proof.text is None) == (proof.missing is not None)
        if proof.text is None:
            assert proof.missing == "budget"
            with pytest.raises(ValueError, match="there is no proof: budget"):
                proof.save(tmp_path / "none.txt")
        whole = placement.prove(algorithm="guided", seed=3, progress=False)
        assert whole.text and whole.nodes >= 0 and whole.seconds >= 0


def test_false_claims_are_not_proved():
    """A file may say that its plan is optimal."""
    problem = berth.Problem([0, 0], [2, 2], [4, 4])
    plan = json.loads(berth.place(problem).to_json())
    upper = next(each for each in plan["residencies"] if each["offset"] == 4)
    upper["offset"], plan["height"] = 8, 12
    for bound in (8, 12):
        plan["height_bound"] = bound
        claimed = parse_placement(problem, json.dumps(plan).encode(), "claim")
        assert claimed.outcome is berth.Outcome.OPTIMAL and claimed.height == 12
        proof = claimed.prove()
        assert (proof.text, proof.missing) == (None, "algorithm")

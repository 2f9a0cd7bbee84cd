"""Plans are those of the `berth` command, byte for byte."""

import csv
import io
import json
import os
import subprocess

import berth
import pytest

NODES = 2000  # Of each search: the same on every machine.


@pytest.fixture
def same(command, tmp_path):
    """Runs the command and compares the file that it writes, if any, with a plan's."""

    def compare(arguments, plan, ending=".json"):
        path, mine = tmp_path / ("command" + ending), tmp_path / ("python" + ending)
        path.unlink(missing_ok=True)
        run = subprocess.run(
            [command, *map(str, arguments), "-o", str(path)], capture_output=True, text=True
        )
        assert run.returncode in (0, 1, 3), run.stderr
        if not path.exists():
            assert not plan.fits
            return False
        plan.save(mine)
        assert path.read_bytes() == mine.read_bytes()
        return True

    return compare


def without_seconds(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return [{key: row[key] for key in row if key != "seconds"} for row in rows]


def check_table(same, table, nodes=NODES):
    place = ["place", table, "--node-limit", nodes]
    found = berth.place(table, node_limit=nodes)
    same(place, found)
    same(place, found, ".csv")
    less = found.lower_bound - 1
    same([*place, "--capacity", less], berth.place(table, node_limit=nodes, capacity=less))


def check_model(same, command, model, tmp_path, nodes=NODES):
    limit = ["--node-limit", nodes]
    graph = berth.read(model)
    found = berth.plan(graph, node_limit=nodes)
    assert same(["plan", model, *limit], found) == found.fits
    same(["plan", model, *limit], found, ".csv")
    for budget in ("MR", "MH"):
        plan = berth.plan(graph, budget=budget, node_limit=nodes)
        same(["plan", model, *limit, "--budget", budget], plan)
    changed = ["--in-place", "--fuse", "--count", "all", "--order", "program"]
    plan = berth.plan(
        model, node_limit=nodes, in_place=True, fuse=True, count="all", order="program"
    )
    same(["plan", model, *limit, *changed], plan)

    order = berth.schedule(graph, node_limit=nodes)
    ending = os.path.splitext(model)[1]
    if ending in (".onnx", ".tflite"):
        assert same(["schedule", model, *limit], order, ending)
    else:
        written = subprocess.run(
            [command, "schedule", str(model), "--node-limit", str(nodes), "-o", "-"],
            capture_output=True, check=True,
        ).stdout  # fmt: skip
        assert [node["name"] for node in json.loads(written)["nodes"]] == order.operators

    if ending == ".tflite":
        same(["plan", model, *limit], found, ending)

    table = tmp_path / "sweep.csv"
    table.unlink(missing_ok=True)
    arguments = ["sweep", str(model), "--points", "3", "--node-limit", str(nodes // 4)]
    subprocess.run([command, *arguments, "-o", str(table)], capture_output=True, check=True)
    sweep = berth.sweep(graph, points=3, node_limit=nodes // 4)
    assert without_seconds(sweep.to_csv()) == without_seconds(table.read_text())


def test_tables(same, examples):
    for table in sorted(examples.glob("*.csv")):
        check_table(same, table)


def test_models(same, command, examples, tmp_path):
    for name in ("cells.onnx", "training_alexnet_b32.json"):
        check_model(same, command, examples / name, tmp_path)


def test_options(same, examples):
    table = examples / "inference_densenet121.csv"
    found = berth.place(table, algorithm="niche", seed=7, node_limit=500, endpoints="inclusive",
                        options={"niche.beam": "off"})  # fmt: skip
    same(["place", table, "--algorithm", "niche", "--seed", 7, "--node-limit", 500,
          "--endpoints", "inclusive", "--niche-beam", "off"], found)  # fmt: skip
    model = examples / "cells.onnx"
    plan = berth.plan(model, alignment=64, element_bytes=1, count="inputs", node_limit=500)
    same(["plan", model, "--alignment", 64, "--element-bytes", 1, "--count", "inputs",
          "--node-limit", 500], plan)  # fmt: skip


def test_check(command, examples, tmp_path):
    """The independent verifier of the command accepts plans of Python."""
    model = examples / "cells.onnx"
    berth.plan(model, budget="MR").save(tmp_path / "plan.json")
    subprocess.run([command, "check", str(model), str(tmp_path / "plan.json"), "--execute"],
                   check=True, capture_output=True)  # fmt: skip


def some(paths):
    """All of them where BERTH_ALL_DATA is set, which takes a quarter of an hour; else a few."""
    paths = sorted(paths)
    assert paths
    return paths if "BERTH_ALL_DATA" in os.environ else paths[:: max(len(paths) // 4, 1)]


def test_tables_of_others(same, data):
    tables = some((data / "buffers").rglob("*.csv"))
    for table in tables:
        check_table(same, table, 200)
    print(f"{len(tables)} tables are placed as by the command")


def test_graphs_of_others(same, command, data, tmp_path):
    graphs = data / "graphs"
    models = some((graphs / "inference").glob("*.onnx"))
    models += some((graphs / "training").glob("*.json"))
    models += some((data / "tflite").glob("*.tflite"))
    for model in models:
        check_model(same, command, model, tmp_path, 400)
    print(f"{len(models)} graphs are planned as by the command")

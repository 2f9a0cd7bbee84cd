#!/usr/bin/env python3
"""Holds inferred shapes against ONNX's own test cases, whose results were computed.

Usage: check_cases.py SHAPES_PROGRAM

Each case of onnx.backend.test is a model with inputs and the outputs that numpy gives for them. The
model is imported without the shapes of its outputs, small inputs other than the first as constants,
and each shape that the importer knows must be that of the true output. Exit status 77 where Python's
onnx (Debian: python3-onnx) is not installed.
"""

import os
import subprocess
import sys
import tempfile

try:
    import numpy as np

    for alias, kind in (("float", float), ("int", int), ("bool", bool), ("object", object)):
        if alias not in np.__dict__:
            setattr(np, alias, kind)  # The cases are older than numpy.
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.case.node import collect_testcases
except ImportError as error:
    print(f"Python's onnx is not installed: {error}")
    sys.exit(77)

# Results whose shapes cannot be known before the run, or that no rule covers, are open; of the 1084
# results of ONNX 1.12 these are the numbers.
MOST_OPEN = 100


def collect():
    try:
        return collect_testcases()
    except TypeError:
        return collect_testcases(None)


def write_cases(folder):
    """The true shapes: file -> output -> text."""
    true = {}
    for case in collect():
        if case.model is None or not case.data_sets:
            continue
        inputs, outputs = case.data_sets[0]
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        graph = model.graph
        for output in graph.output:
            if output.type.HasField("tensor_type"):
                output.type.tensor_type.ClearField("shape")
        for value, given in list(zip(list(graph.input), inputs))[1:]:
            small = isinstance(given, np.ndarray) and given.size <= 64 and given.ndim <= 1
            if small and given.dtype in (np.int64, np.int32, np.float32, np.bool_):
                graph.initializer.append(numpy_helper.from_array(given, value.name))
                graph.input.remove(value)
        path = os.path.join(folder, case.name + ".onnx")
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        true[path] = {}
        for output, value in zip(graph.output, outputs):
            if isinstance(value, np.ndarray) or np.isscalar(value):
                shape = np.asarray(value).shape
                true[path][output.name] = "x".join(map(str, shape)) or "scalar"
    return true


def main():
    with tempfile.TemporaryDirectory() as folder:
        true = write_cases(folder)
        answer = subprocess.run([sys.argv[1], *sorted(true)], check=True, capture_output=True)
    right = wrong = still_open = 0
    for line in answer.stdout.decode(errors="replace").splitlines():
        path, name, *rest = line.split("\t")
        case = os.path.basename(path)
        if name == "refused":
            print(f"{case} is refused: {rest[0]}")
            wrong += 1
        elif name in true[path]:
            if rest[0] == true[path][name]:
                right += 1
            elif rest[0] == "" or "?" in rest[0]:
                still_open += 1
            else:
                print(f"{case}: {name} is {true[path][name]}, not {rest[0]}")
                wrong += 1
    print(f"{right} shapes are right, {wrong} wrong, {still_open} open")
    return 1 if wrong or still_open > MOST_OPEN or right < 500 else 0


if __name__ == "__main__":
    sys.exit(main())

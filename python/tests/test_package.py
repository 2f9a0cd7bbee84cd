"""The package itself: the table of signatures, types, documentation, the notebook."""

import ctypes
import inspect
import os
import re
import shutil
import subprocess
import sys

import berth
import pytest
from berth import _library, library_version


def header(root):
    names = ("berth.h", "berth_analysis.h")
    text = "".join((root / "include/berth" / name).read_text() for name in names)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def test_versions(root):
    assert library_version() == berth.__version__
    project = (root / "CMakeLists.txt").read_text()
    assert f"project(berth VERSION {berth.__version__} " in project
    assert int(re.search(r"#define BERTH_ABI_VERSION (\d+)", header(root)).group(1)) >= 1
    assert _library.lib.berth_abi_version() >= _library.ABI_VERSION


def code_of(declaration):
    """The letter of _SIGNATURES for a type of C."""
    declaration = " ".join(declaration.split())
    if "berth_error**" in declaration:
        return "e"
    if declaration.startswith("const char*"):
        return "s"
    if "*" in declaration or "berth_progress_function" in declaration:
        return "h"
    for start, code in (("void", "v"), ("size_t", "z"), ("int64_t", "b"), ("int", "i"),
                        ("berth_", "i")):  # fmt: skip
        if declaration.startswith(start):
            return code
    raise AssertionError(declaration)


def test_signatures_are_those_of_the_header(root):
    """Addresses: h, * and s are the same to C."""
    found = dict(
        (name, (result, arguments))
        for result, name, arguments in re.findall(
            r"BERTH_API ([\w\s*]+?)\s*\b(berth_\w+)\(([^;]*)\);", header(root)
        )
    )
    assert set(_library._SIGNATURES) < set(found)
    plain = str.maketrans("*s", "hh")
    for name, codes in _library._SIGNATURES.items():
        result, arguments = found[name]
        kinds = [] if arguments.strip() == "void" else arguments.split(",")
        expected = "".join(map(code_of, [result, *kinds]))
        assert codes.translate(plain) == expected.translate(plain), name


def test_structs_are_those_of_the_header(root):
    names = {
        "berth_summary": _library.Summary,
        "berth_search": _library.Search,
        "berth_residency": _library.ResidencyStruct,
        "berth_option_info": _library.OptionInfo,
        "berth_progress": _library.ProgressStruct,
        "berth_buffer": _library.BufferStruct,
        "berth_gap": _library.GapStruct,
        "berth_memories": _library.MemoriesStruct,
        "berth_memories_summary": _library.MemoriesSummary,
        "berth_copy": _library.CopyStruct,
        "berth_run": _library.RunStruct,
        "berth_off_chip_summary": _library.OffChipSummary,
        "berth_off_chip_copy": _library.OffChipCopyStruct,
        "berth_interval": _library.IntervalStruct,
        "berth_proof": _library.ProofStruct,
        "berth_tensor": _library.TensorStruct,
        "berth_operator": _library.OperatorStruct,
        "berth_diff": _library.DiffStruct,
        "berth_change": _library.ChangeStruct,
        "berth_memory_change": _library.MemoryChangeStruct,
        "berth_transfer": _library.TransferStruct,
        "berth_conflict": _library.ConflictStruct,
        "berth_remedy": _library.RemedyStruct,
        "berth_sweep_point": _library.SweepPointStruct,
    }
    sizes = {"size_t": 8, "int64_t": 8, "double": 8, "int32_t": 4, "int8_t": 1}
    for name, struct in names.items():
        body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (name, name), header(root), re.S)
        fields = [field.split() for field in body.group(1).split(";") if field.strip()]
        assert [field[-1].partition("[")[0] for field in fields] == [f[0] for f in struct._fields_]
        for words, field in zip(fields, struct._fields_):
            kind = " ".join(words[:-1])
            size = 8 if "*" in kind else sizes.get(kind, 4)  # Enumerations are ints.
            count = re.search(r"\[(\d+)\]", words[-1])
            assert ctypes.sizeof(field[1]) == size * int(count.group(1) if count else 1), field


def test_enumerations_are_those_of_the_header(root):
    lib = _library.lib
    from berth._answer import OUTCOMES, STOPS
    from berth._graph import KINDS

    assert [lib.berth_outcome_name(i).decode() for i in range(4)] == [str(o) for o in OUTCOMES]
    assert [lib.berth_stop_name(i).decode() for i in range(len(STOPS))] == [str(s) for s in STOPS]
    kinds = re.search(r"typedef enum berth_tensor_kind \{(.*?)\}", header(root), re.S).group(1)
    listed = re.findall(r"BERTH_(\w+) = (\d)", kinds)
    assert [(kind.upper(), str(i)) for i, kind in enumerate(KINDS)] == listed


def test_everything_public_is_documented():
    for name in berth.__all__:
        thing = getattr(berth, name)
        if name != "__version__":
            assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and thing.__module__ == "berth":
            for part, member in vars(thing).items():
                if not part.startswith("_") and (callable(member) or isinstance(member, property)):
                    if inspect.getdoc(member) is None:
                        assert name == "Traffic" or part in ("name", "offsets", "operator_count",
                                                             "tensor_count", "seconds"), (name, part)  # fmt: skip


def mypy(folder, *arguments):
    """mypy --strict, which finds the package as the tests do: installed, or on the path."""
    env = dict(os.environ)
    place = os.path.dirname(os.path.dirname(berth.__file__))
    if "site-packages" not in place:
        env["MYPYPATH"] = place
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, *arguments],
        capture_output=True, text=True, cwd=folder, env=env,
    )  # fmt: skip


def test_types(tmp_path):
    pytest.importorskip("mypy")
    found = mypy(tmp_path, "--ignore-missing-imports", "-p", "berth")
    assert found.returncode == 0, found.stdout


def test_types_of_a_program(tmp_path):
    pytest.importorskip("mypy")
    good = """
import berth
p: berth.Placement = berth.place([0], [1], [8], capacity="1KiB", progress=lambda s: None)
h: int = p.lower_bound
m = berth.plan("model.onnx", budget=1 << 20, order=["a", "b"])
n: list[str] = m.operators
berth.check([0], [1], [8], [0])
berth.check("model.onnx", m)
c: berth.Conflict = berth.explain("table.csv", capacity=8)
"""
    (tmp_path / "good.py").write_text(good)
    (tmp_path / "bad.py").write_text("import berth\nberth.plan('m.onnx', budgte=1)\n")
    for name, status in (("good.py", 0), ("bad.py", 1)):
        found = mypy(tmp_path, name)
        assert found.returncode == status, found.stdout


def test_tracer_needs_neither_torch_nor_the_library(tmp_path):
    env = {**os.environ, "BERTH_LIBRARY": str(tmp_path / "none.so")}
    run = [sys.executable, "-m", "berth.torch"]
    found = subprocess.run([*run, "--help"], capture_output=True, text=True, env=env)
    assert found.returncode == 0 and "--optimizer" in found.stdout, found.stderr
    missing = subprocess.run([sys.executable, "-c", "import berth; berth.place([0], [1], [8])"],
                             capture_output=True, text=True, env=env)  # fmt: skip
    assert "ImportError" in missing.stderr and "$BERTH_LIBRARY" in missing.stderr


def blocks(path):
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), re.S | re.M)


def run_blocks(root, path, folder):
    """All blocks of a document, one after the other, as one program."""
    shutil.copy(root / "examples" / "cells.onnx", folder / "model.onnx")
    shutil.copy(root / "examples" / "inference_mobilenet_v2.csv", folder / "table.csv")
    shutil.copy(root / "examples" / "devices" / "edge-accelerator.json", folder)
    program = "\n".join(blocks(path))
    assert program.strip()
    for package in ("numpy", "pandas", "matplotlib", "onnx", "torch"):
        if re.search(rf"^\s*import {package}", program, re.M):
            pytest.importorskip(package)
    (folder / "program.py").write_text(program)
    env = {**os.environ, "MPLBACKEND": "Agg"}
    found = subprocess.run([sys.executable, "program.py"], cwd=folder, env=env,
                           capture_output=True, text=True)  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_howto(root, tmp_path):
    """Word for word, with what it says that is printed."""
    path = root / "docs" / "howto" / "python.md"
    printed = run_blocks(root, path, tmp_path)
    shown = "".join(re.findall(r"^```text\n(.*?)^```", path.read_text(), re.S | re.M))
    assert printed == shown


def test_readme(root, tmp_path):
    for path in (root / "README.md", root / "python" / "README.md"):
        assert blocks(path)
        run_blocks(root, path, tmp_path)


def test_howto_of_the_tracer(root, tmp_path):
    torch = pytest.importorskip("torch")
    program = """
class MyModel(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.Flatten(), torch.nn.Linear(3 * 224 * 224, 10))

my_loss = torch.nn.functional.cross_entropy
"""
    parts = blocks(root / "docs" / "howto" / "pytorch.md")
    if not hasattr(torch, "export"):  # Before PyTorch 2.1.
        parts = [part for part in parts if "torch.export" not in part]
    text = "\n".join(parts)
    (tmp_path / "program.py").write_text("import torch\n" + program + text)
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True)


def test_notebook(root, tmp_path):
    pytest.importorskip("matplotlib")
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(root / "examples" / "notebook.ipynb", as_version=4)
    for cell in notebook.cells:
        assert not cell.get("outputs"), "the notebook is committed without outputs"
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3",
        resources={"metadata": {"path": str(root / "examples")}},
    )  # fmt: skip
    os.environ["PYTHONPATH"] = os.path.dirname(os.path.dirname(berth.__file__))
    client.execute()
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", [])
             for kind in output.get("data", {})}  # fmt: skip
    assert {"text/html", "image/png", "text/plain"} <= kinds
    keep = os.environ.get("BERTH_NOTEBOOK")
    if keep:
        nbformat.write(notebook, keep)

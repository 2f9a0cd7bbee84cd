"""berth.place(), berth.check(), berth.explain(): tables of buffers."""

import json
import os
import subprocess
import sys
from array import array

import berth
import pytest

START, END, SIZE = [0, 3, 2], [3, 5, 4], [4096, 4096, 2048]


def valid(start, end, size, offsets, gaps=()):
    """Whether no two buffers that are live together overlap."""
    return not any(
        start[i] < end[j]
        and start[j] < end[i]
        and offsets[i] < offsets[j] + size[j]
        and offsets[j] < offsets[i] + size[i]
        for i in range(len(start))
        for j in range(i)
    )


def test_lists():
    found = berth.place(START, END, SIZE)
    assert found.outcome is berth.Outcome.OPTIMAL
    assert found.stopped is berth.Stop.ANSWERED
    assert (found.height, found.lower_bound, found.capacity) == (6144, 6144, None)
    assert type(found.offsets) is list
    assert valid(START, END, SIZE, found.offsets)
    assert found.fits and found.nodes >= 0 and found.seconds >= 0
    assert repr(found).startswith("<Placement: optimal, 3 buffers, height 6,144 bytes, ")
    assert "\n" not in repr(found)
    found.validate()


def test_all_kinds_of_arrays_give_the_same_offsets():
    expected = berth.place(START, END, SIZE).offsets
    for code in "qlihLQ":
        found = berth.place(array(code, START), array(code, END), array(code, SIZE))
        assert list(found.offsets) == expected, code
    assert list(berth.place((0, 3, 2), iter(END), SIZE).offsets) == expected
    readonly = memoryview(array("q", SIZE)).toreadonly()
    assert list(berth.place(memoryview(array("q", START)), END, readonly).offsets) == expected


def test_numpy():
    numpy = pytest.importorskip("numpy")
    expected = berth.place(START, END, SIZE).offsets
    for kind in (numpy.int64, numpy.int32, numpy.uint16, numpy.uint64, ">i8"):
        columns = [numpy.array(column, dtype=kind) for column in (START, END, SIZE)]
        found = berth.place(*columns, numpy.int64(64)).offsets
        assert isinstance(found, numpy.ndarray) and found.dtype == numpy.int64
        assert found.tolist() == expected
    table = numpy.array([START, END, SIZE]).T  # Columns with a stride.
    assert berth.place(table[:, 0], table[:, 1], table[:, 2]).offsets.tolist() == expected
    frozen = numpy.array(SIZE)
    frozen.flags.writeable = False
    assert berth.place(START, END, frozen).offsets.tolist() == expected
    with pytest.raises(TypeError, match="size is an array of float64"):
        berth.place(START, END, numpy.array([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="one dimension"):
        berth.place(table, END, SIZE)
    with pytest.raises(berth.InvalidProblem, match=r"size\[1\]"):
        berth.place(START, END, numpy.array([1, 2**63, 3], dtype=numpy.uint64))
    empty = berth.place(numpy.array([]), numpy.array([]), numpy.array([]))
    assert empty.height == 0 and len(empty.offsets) == 0


def test_numpy_is_not_needed():
    script = (
        "import sys; sys.modules['numpy'] = None\n"
        "import berth; from array import array\n"
        "found = berth.place(array('q', [0, 3, 2]), array('i', [3, 5, 4]), [4096, 4096, 2048])\n"
        "assert found.offsets == [0, 0, 4096], found.offsets\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_torch():
    torch = pytest.importorskip("torch")
    tensors = [torch.tensor(column) for column in (START, END, SIZE)]
    expected = berth.place(START, END, SIZE).offsets
    assert list(berth.place(*tensors).offsets) == expected
    assert list(berth.place(*[t.to(torch.int32) for t in tensors]).offsets) == expected
    with pytest.raises(TypeError, match="torch.float32"):
        berth.place(START, END, tensors[2].float())


def test_capacity():
    small = berth.place(START, END, SIZE, capacity="5KiB")
    assert small.outcome is berth.Outcome.INFEASIBLE and not small.fits
    assert small.capacity == 5120 and small.height >= small.lower_bound > 5120
    assert berth.place(START, END, SIZE, capacity=6144).fits


def test_alignment():
    found = berth.place(START, END, [100, 100, 100], 64)
    assert all(offset % 64 == 0 for offset in found.offsets)
    found = berth.place(START, END, [100, 100, 100], [1, 256, 16])
    assert found.offsets[1] % 256 == 0 and found.offsets[2] % 16 == 0


def test_endpoints():
    # Of live steps, 0 to 3 and 3 to 5 meet.
    both = berth.place([0, 3], [3, 5], [10, 10], endpoints="inclusive")
    assert both.height == 20
    assert berth.place([0, 3], [3, 5], [10, 10], endpoints="half-open").height == 10
    named = berth.place([0, 3], [3, 5], [10, 10], endpoints="inclusive", ids=["a", "b"])
    assert named.height == 20
    assert [b.end for b in named.problem] == [4, 6]


def test_pins_hints_and_gaps():
    pinned = berth.place(START, END, SIZE, offset={0: 8192})
    assert pinned.offsets[0] == 8192
    assert berth.place(START, END, SIZE, offset=[None, -1, 512]).offsets[2] == 512
    # A hint that costs nothing is followed.
    hinted = berth.place([0, 0], [1, 1], [10, 10], hint={0: 10, 1: 0}, capacity=20)
    assert hinted.fits
    # Buffer 0 is not needed at steps 1 and 2, in which buffer 1 lives.
    assert berth.place([0, 1], [4, 3], [10, 10]).height == 20
    gap = berth.place([0, 1], [4, 3], [10, 10], gaps={0: [(1, 3)]})
    assert gap.height == 10
    window = berth.place([0, 1], [4, 3], [10, 4], gaps={0: [(1, 3, 6, 10)]})
    assert window.height == 10
    assert window.problem[0].gaps == (berth.Gap(1, 3, 6, 10),)
    assert gap.problem[0].gaps == (berth.Gap(1, 3, None, None),)


def test_problem():
    problem = berth.Problem()
    assert problem.add(0, 4, 10, id="a") == 0
    assert problem.add(1, 3, 10, 4) == 1
    problem.gap(0, 1, 3)
    problem.pin(1, 0)
    problem.hint(0, 2)
    assert len(problem) == 2 and [b.id for b in problem] == ["a", "1"]
    assert problem[-1] == berth.Buffer("1", 1, 3, 10, 4, 0, None, ())
    with pytest.raises(IndexError):
        problem[2]
    assert repr(problem) == "<Problem: 2 buffers>"
    assert berth.place(problem).height == 10
    again = berth.read(problem.to_csv().encode())
    assert list(again) == list(problem)
    problem.pin(1, None)
    assert problem[1].offset is None


def test_options():
    off = berth.place(START, END, SIZE, options={"niche.beam": "off"}, seed=3, threads=2)
    assert off.height == 6144
    assert berth.place(START, END, SIZE, algorithm="first-fit-size").algorithm == "first-fit-size"
    names = {option.name: option for option in berth.options()}
    assert names["time_limit"].default == "none" and "niche.beam" in names
    assert all(option.sentence.endswith(".") for option in names.values())


def test_files(tmp_path):
    found = berth.place(START, END, SIZE, ids=["conv", "relu", "naïve"], capacity="8KiB")
    for name in ("plan.json", "plan.csv", "plan.html", "plan.svg"):
        found.save(tmp_path / name)
    assert json.loads((tmp_path / "plan.json").read_text())["height"] == 6144
    assert "naïve" in (tmp_path / "plan.csv").read_text(encoding="utf-8")
    assert (tmp_path / "plan.svg").read_text().startswith("<svg")
    with pytest.raises(ValueError, match="should end in"):
        found.save(tmp_path / "plan.txt")
    with pytest.raises(OSError):
        found.save(tmp_path / "none" / "plan.json")
    found.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == found.report()
    assert found.svg() == (tmp_path / "plan.svg").read_text()
    assert json.loads(found.trace())
    html = found._repr_html_()
    assert html.startswith("<iframe srcdoc=\"&lt;!") and "&quot;" in html
    berth.check(found.problem, found)
    berth.check(found.problem, tmp_path / "plan.json")
    berth.check(found.problem, tmp_path / "plan.csv")
    berth.check(found.problem, found.offsets)


def test_pandas():
    pytest.importorskip("pandas")
    frame = berth.place(START, END, SIZE, ids=["a", "b", "c"]).to_pandas()
    assert list(frame.columns) == ["id", "start", "end", "size", "alignment", "offset"]
    assert berth.place(frame.start, frame.end, frame["size"]).height == 6144
    assert frame.offset.tolist() == [0, 0, 4096]
    assert len(berth.place(START, END, SIZE).problem.to_pandas()) == 3


def test_check():
    assert berth.check(START, END, SIZE, [0, 0, 4096]) is None
    berth.check(array("q", START), END, SIZE, [0, 0, 4096], 64, capacity=6144)
    with pytest.raises(berth.InvalidPlacement, match='buffer "2".*buffer "0"') as raised:
        berth.check(START, END, SIZE, [0, 0, 4000])
    assert raised.value.subject == "buffer" and raised.value.index == 2
    with pytest.raises(berth.InvalidPlacement):
        berth.check(START, END, SIZE, [0, 0, 4096], capacity=6143)
    with pytest.raises(berth.InvalidPlacement):
        berth.check(START, END, SIZE, [0, 0, 4096], [1, 1, 8192])
    with pytest.raises(berth.InvalidPlacement):
        berth.check([0, 3], [3, 5], [10, 10], [0, 0], endpoints="inclusive")
    problem = berth.Problem(START, END, SIZE, offset={0: 64})
    with pytest.raises(berth.InvalidPlan):
        berth.check(problem, [0, 0, 4096])


def test_explain():
    why = berth.explain(START, END, SIZE, capacity=6000, ids=["a", "b", "c"])
    assert why.outcome is berth.Outcome.INFEASIBLE and why.minimal and why
    assert set(why.ids) < {"a", "b", "c"} and len(why.buffers) == 2
    assert why.load == 6144 and why.short_by == 144 and why.works_with == 6144
    assert "2 buffers, minimal" in repr(why)
    fits = berth.explain(START, END, SIZE, capacity=6144)
    assert not fits and fits.buffers == [] and "none" in repr(fits)
    collide = berth.explain([0, 0], [1, 1], [8, 8], capacity=64, offset={0: 0, 1: 4})
    assert collide.pins_collide


def test_a_million_buffers_without_a_loop():
    numpy = pytest.importorskip("numpy")
    count = 1_000_000
    start = numpy.arange(count, dtype=numpy.int64)
    end = start + 2
    size = numpy.full(count, 64, dtype=numpy.int64)
    calls = 0

    def counted(frame, event, argument):
        nonlocal calls
        calls += 1

    sys.setprofile(counted)
    try:
        found = berth.place(start, end, size, algorithm="first-fit-start")
    finally:
        sys.setprofile(None)
    assert found.height == 128 and len(found.offsets) == count
    assert calls < 2000, "something loops over the buffers in Python"


def test_groups_of_buffers():
    problem = berth.Problem([0, 2, 4], [4, 7, 7], [6, 3, 3])
    assert berth.place(problem).height == 9
    merged = problem.colocate([[0, 1]])
    assert len(merged.problem) == 2
    assert merged.places == [(0, 0), (0, 0), (1, 0)]
    assert merged.problem[0].gaps == (berth.Gap(4, 7, 0, 3),)
    placed = berth.place(merged.problem)
    assert placed.height == 6
    assert merged.offsets_of(placed) == [0, 0, 3]
    apart = problem.colocate([{0: 0, 2: -4}])
    offsets = apart.offsets_of(berth.place(apart.problem))
    assert offsets is not None and offsets[2] == offsets[0] - 4
    with pytest.raises(ValueError, match="buffer 1 is in two groups"):
        problem.colocate([[0, 1], [1]])
    with pytest.raises(IndexError, match="there is no buffer 3; there are 3"):
        problem.colocate([[3]])
    aligned = berth.Problem([0, 0], [1, 1], [8, 8], 4)
    with pytest.raises(berth.InvalidProblem, match="alignment 4 at the distance 2 contradicts") as error:
        aligned.colocate([{0: 0, 1: 2}])
    assert error.value.index == 1


def test_plans_that_other_systems_wrote_down():
    glow = b"MODEL a\nALLOC 1 9\nFREE 1\nMODEL b\nALLOC 1 5\nALLOC 2 6\n"
    assert len(berth.read(glow, problem="b")) == 2
    assert len(berth.Problem.read(glow, problem="1")) == 1
    with pytest.raises(berth.InvalidOptions, match="problem is missing: table has 2 problems"):
        berth.read(glow)
    with pytest.raises(berth.InvalidOptions, match="problem: table is a table, which is one problem"):
        berth.read(b"id,lower,upper,size\na,0,2,1\n", problem="a")
    with pytest.raises(berth.InvalidOptions, match="endpoints: only for tables in CSV"):
        berth.read(glow, problem="b", endpoints="inclusive")
    with pytest.raises(TypeError, match="problem is for files with several"):
        berth.read(b"{}", problem="1")
    # Beginning as a program of ExecuTorch does, it is read as one.
    with pytest.raises(berth.ParseError, match=": byte "):
        berth.read(b"\x08\0\0\0ET12" + bytes(8))

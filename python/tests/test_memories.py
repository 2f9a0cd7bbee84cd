"""Several memories: placing, repacking, explaining and sweeping them."""

import dataclasses
import random

import pytest

import berth

numpy = pytest.importorskip("numpy")


def table():
    """Two buffers live together, and one that is large."""
    return berth.Problem([0, 1, 1], [2, 3, 3], [40, 90, 500])


COSTS = [[80, 800], [180, 1800], [None, 7]]


def test_the_least_cost_is_found_and_proved():
    found = berth.place_in_memories(table(), [100, 200], COSTS, cost_left_out={2: 3000})
    assert found.outcome is berth.Outcome.OPTIMAL and found.fits
    assert found.stopped is berth.Stop.ANSWERED
    assert found.memories == [1, 0, None]
    assert found.offsets[2] is None and found.offsets[0] is not None
    assert found.cost == found.cost_bound == 800 + 180 + 3000
    assert found.unplaced == found.unplaced_bound == found.moved == 0
    rows = numpy.array([[80, 800], [180, 1800], [-1, 7]])
    again = berth.place_in_memories(table(), [100, 200], rows, cost_left_out=[None, -1, 3000])
    assert (again.memories, again.offsets, again.cost) == (found.memories, found.offsets, found.cost)


def test_a_memory_without_capacity_holds_everything():
    found = berth.place_in_memories(table(), [100, None], COSTS)
    assert found.memories == [1, 0, 1]
    assert found.cost == 800 + 180 + 7


def test_what_cannot_be_placed_is_said():
    found = berth.place_in_memories(table(), [100])
    assert found.outcome is berth.Outcome.INFEASIBLE and not found.fits
    assert found.unplaced == found.unplaced_bound == 2
    assert found.memories.count(None) == 2


def test_every_rule_reaches_the_search():
    problem, memories = table(), [100, 600]
    reserved = berth.place_in_memories(problem, memories, COSTS, reserved=[(0, 0, 20, -10, 10)])
    assert reserved.memories == [0, 1, 1]
    moved = berth.place_in_memories(
        problem, memories, COSTS, previous={1: (1, 64, 5000)}, cost_left_out={2: 0}
    )
    assert (moved.memories[1], moved.offsets[1], moved.moved) == (1, 64, 0)
    together = berth.place_in_memories(
        problem, memories, COSTS, together=[{0: 0, 1: 40}], cost_left_out={2: 0}
    )
    assert together.memories[:2] == [1, 1]
    assert together.offsets[1] == together.offsets[0] + 40
    roomy = berth.place_in_memories(problem, [200, 600], COSTS)
    assert roomy.memories == [0, 0, 1]
    banks = berth.place_in_memories(problem, [200, 600], COSTS, apart_memories=[(0, 1)])
    assert banks.memories == [1, 0, 1]
    later = berth.Problem([0, 5], [2, 7], [60, 60])
    assert berth.place_in_memories(later, [100]).offsets == [0, 0]
    assert not berth.place_in_memories(later, [100], apart=[(0, 1)]).fits
    aligned = berth.place_in_memories(table(), [None], alignments=64)
    assert all(offset % 64 == 0 for offset in aligned.offsets)


def test_bad_arguments_are_named():
    place = berth.place_in_memories
    with pytest.raises(ValueError, match=r"costs has 1 rows, but there are 3 buffers"):
        place(table(), [1], [[3]])
    with pytest.raises(ValueError, match=r"costs\[1\] has 2 values, but there are 1 memories"):
        place(table(), [1], [[3], [3, 4], [5]])
    with pytest.raises(ValueError, match=r"shape \(3, 2\), not \(3, 1\)"):
        place(table(), [1], numpy.zeros((3, 2), dtype=numpy.int64))
    with pytest.raises(TypeError, match="capacities is float"):
        place(table(), [1.5])
    with pytest.raises(IndexError, match="there is no buffer 3; there are 3"):
        place(table(), [1], cost_left_out={3: 4})
    with pytest.raises(ValueError, match="buffer 1 is in two groups"):
        place(table(), [1], together=[[0, 1], [1]])
    with pytest.raises(ValueError, match="reserved has 3 values, but there are 5"):
        place(table(), [1], reserved=[(0, 0, 4)])
    with pytest.raises(berth.InvalidProblem, match='buffer "2" may be in no memory') as error:
        place(table(), [100], [[1], [2], [None]])
    assert error.value.index == 2
    with pytest.raises(berth.InvalidProblem, match="there is no memory"):
        place(table(), [])
    with pytest.raises(berth.InvalidOptions, match="capacity"):
        place(table(), [100], options={"capacity": "64"})


def test_repacking_moves_the_smaller_buffer():
    problem = berth.Problem([0, 4, 2], [9, 9, 9], [20, 30, 50])
    before = {0: (0, 0), 1: (0, 40)}
    worth = [900, 900, 500]
    found = berth.repack(problem, [100], before, cost_left_out=worth)
    assert found.outcome is berth.Outcome.OPTIMAL and found.memories == [0, 0, 0]
    assert (found.cost, found.moved, found.offsets[0]) == (0, 30, 0)
    kept = berth.repack(problem, [100], before, cost_left_out=worth, most_moved=29)
    assert (kept.memories, kept.offsets) == ([0, 0, None], [0, 40, None])
    assert (kept.cost, kept.moved) == (500, 0)
    # What is in the memory may make room for what is worth more, or may not.
    worth = [900, 1, 500]
    swapped = berth.repack(problem, [100], before, cost_left_out=worth, most_moved="0B")
    assert swapped.memories == [0, None, 0] and swapped.cost == 1
    stays = berth.repack(problem, [100], before, cost_left_out=worth, most_moved=0, exchange=False)
    assert stays.memories == [0, 0, None] and stays.cost == 500
    # A place may have a cost of its own to leave.
    dear = berth.repack(problem, [100], {0: (0, 0), 1: (0, 40, 600)}, cost_left_out=[900, 900, 500])
    assert dear.memories == [0, 0, None] and dear.cost == 500


def cost_of(start, end, size, capacity, costs, left_out, before, found):
    """Cost and bytes moved of a plan, after checking it against the rules."""
    total = moved = 0
    for b, (memory, offset) in enumerate(zip(found.memories, found.offsets)):
        if memory is None:
            assert offset is None
            total += left_out[b]
            continue
        total += costs[b][memory]
        assert 0 <= offset and offset + size[b] <= capacity[memory]
        if b in before and before[b] != (memory, offset):
            moved += size[b]
        for other in range(b):
            if found.memories[other] == memory and start[b] < end[other] and start[other] < end[b]:
                low = found.offsets[other]
                assert offset + size[b] <= low or low + size[other] <= offset, (b, other)
    return total, moved


@pytest.mark.parametrize("seed", range(60))
def test_repacking_is_valid_and_no_better_than_the_proved_best(seed):
    rng = random.Random(seed)
    count = rng.randint(2, 9)
    start = [rng.randint(0, 6) for _ in range(count)]
    end = [s + rng.randint(1, 5) for s in start]
    size = [rng.randint(1, 9) for _ in range(count)]
    capacity = [rng.randint(9, 16), rng.randint(9, 24)]
    costs = [[rng.randint(0, 9), rng.randint(0, 40)] for _ in range(count)]
    left_out = [rng.randint(20, 90) for _ in range(count)]
    problem = berth.Problem(start, end, size)
    # An earlier plan of some of them, with other costs.
    old = [b for b in range(count) if rng.random() < 0.7]
    wished = [left_out[b] if b in old else 0 for b in range(count)]
    first = berth.place_in_memories(
        problem, capacity, [[9, 9]] * count, cost_left_out=wished, node_limit=2000
    )
    before = {b: (first.memories[b], first.offsets[b]) for b in old if first.memories[b] is not None}
    best = berth.place_in_memories(problem, capacity, costs, cost_left_out=left_out)
    assert best.outcome is berth.Outcome.OPTIMAL
    earlier = sum(costs[b][before[b][0]] if b in before else left_out[b] for b in range(count))
    for most_moved in (None, 0, rng.randint(1, 12)):
        found = berth.repack(
            problem, capacity, before, costs, cost_left_out=left_out, most_moved=most_moved
        )
        judged = cost_of(start, end, size, capacity, costs, left_out, before, found)
        assert judged == (found.cost, found.moved)
        assert most_moved is None or found.moved <= most_moved
        assert best.cost <= found.cost <= earlier
        assert found.cost_bound <= best.cost
        if found.outcome is berth.Outcome.OPTIMAL:
            assert found.cost == best.cost
        again = berth.repack(
            problem, capacity, before, costs, cost_left_out=left_out, most_moved=most_moved
        )
        assert (again.memories, again.offsets, again.nodes) == (
            found.memories, found.offsets, found.nodes)  # fmt: skip


def test_bad_arguments_of_repacking_are_named():
    repack = berth.repack
    with pytest.raises(IndexError, match="there is no buffer 3; there are 3"):
        repack(table(), [100], {3: (0, 0)})
    with pytest.raises(ValueError, match="previous has 1 values, but there are 3"):
        repack(table(), [100], {0: (0,)})
    with pytest.raises(TypeError, match="previous is float"):
        repack(table(), [100], {0: (0, 1.5)})
    with pytest.raises(berth.InvalidProblem, match='buffer "1"') as error:
        repack(table(), [100], {1: (5, 0)})
    assert error.value.index == 1
    with pytest.raises(berth.InvalidOptions, match="most_moved"):
        repack(table(), [100], {}, most_moved=-1)
    with pytest.raises(berth.InvalidOptions, match="place_nodes"):
        repack(table(), [100], {}, place_nodes=-1)
    with pytest.raises(berth.InvalidOptions, match="only berth_repack"):
        berth.place_in_memories(table(), [100], options={"most_moved": 4})


def chain():
    """Four layers, the first of which makes the largest tensor."""
    sizes = [400, 300, 200, 100]
    tensors = [{"id": i, "name": f"t{i}", "bytes": b, "kind": "activation" if i else "input"}
               for i, b in enumerate([50, *sizes])]  # fmt: skip
    nodes = [{"name": f"op{i}", "op": "Conv", "inputs": [i], "outputs": [i + 1]} for i in range(4)]
    return {"format": "berth-graph", "format_version": 1, "name": "chain", "nodes": nodes,
            "tensors": tensors}  # fmt: skip


def test_a_model_in_several_memories(tmp_path):
    found = berth.plan(chain(), memory=["fast=450@1GB/s", "slow@100MB/s"])
    assert found.outcome is berth.Outcome.OPTIMAL and found.fits and found.unplaced == 0
    # t1 and t2 are live together: one of them is slow.
    slow = [r.name for r in found.residencies if found.memories[r.memory].name == "slow"]
    assert slow == ["t2"]
    assert found.cost == found.cost_bound == 2 * 400 + 10 * 2 * 300 + 2 * 200 + 100
    assert found.memories[0].capacity == 450 and found.memories[0].height <= 450
    assert found.memories[1] == berth.MemoryUse("slow", None, 300, 300)
    assert found.height is None and found.peak is None and "cost" in repr(found)
    found.validate()
    found.save(str(tmp_path / "plan.json"))
    berth.check(found.graph, str(tmp_path / "plan.json"))
    assert "fast" in found.to_csv() and "fast" in found.svg() and "fast" in found.report()


def test_a_board_in_a_file_and_where_tensors_may_be(tmp_path):
    board = tmp_path / "board.json"
    board.write_text('{"format": "berth-memories", "format_version": 1, "memories": ['
                     '{"name": "a", "capacity": 1000}, {"name": "b", "capacity": 1000}]}')  # fmt: skip
    found = berth.plan(chain(), memory=board, activations_in=["b"])
    assert {r.memory for r in found.residencies} == {1}
    with pytest.raises(berth.InvalidOptions, match="no memory"):
        berth.plan(chain(), memory=board, weights_in="c")
    with pytest.raises(berth.InvalidOptions):
        berth.plan(chain(), memory=["fast=1KiB"], capacity=100)
    assert berth.plan(chain()).memories == [] and berth.plan(chain()).cost is None


def test_tensors_without_a_place_are_said():
    found = berth.plan(chain(), memory=["only=350"])
    assert found.outcome is berth.Outcome.INFEASIBLE and not found.fits
    assert found.unplaced >= 1


def parking(fast=190):
    """`x` is made and used early, and again in the end; `y` leaves it no room in the fast memory between."""
    sizes = {"x": 100, "a": 20, "y": 150, "z": 20}
    names = list(sizes)
    tensors = [{"id": i, "name": name, "bytes": sizes[name], "kind": "activation"}
               for i, name in enumerate(names)]  # fmt: skip

    def node(name, inputs, outputs):
        return {"name": name, "op": "Op", "inputs": [names.index(i) for i in inputs],
                "outputs": [names.index(o) for o in outputs], "cost": 1000}  # fmt: skip

    nodes = [node("make", [], ["x"])]
    nodes += [node(f"use{i}", ["x"], ["a"] if i == 0 else []) for i in range(3)]
    nodes += [node("big", ["a"], ["y"]), node("bigger", ["y"], ["z"]), node("last", ["x", "z"], [])]
    graph = {"format": "berth-graph", "format_version": 1, "name": "parking", "cost_unit": "ns",
             "nodes": nodes, "tensors": tensors}  # fmt: skip
    return graph, [f"fast={fast}@1GB/s", "slow@100MB/s"]


def test_tensors_move_between_memories(tmp_path):
    graph, memory = parking()
    staying = berth.plan(graph, memory=memory, order="program")
    moving = berth.plan(graph, memory=memory, order="program", may_move=True)
    assert staying.copies == [] and staying.run is None and moving.run is None
    assert moving.cost < staying.cost and moving.cost_bound <= moving.cost
    (copy,) = moving.copies
    assert copy.tensor == "x" and copy.bytes == 100
    assert [moving.memories[m].name for m in (copy.source, copy.target)] == ["fast", "slow"]
    assert copy.before_step == copy.after_step + 1
    assert copy.cost == 100 + 10 * 100 and copy.begins is None and copy.ends is None
    assert len([r for r in moving.residencies if r.name == "x"]) == 2
    moving.validate()
    moving.save(str(tmp_path / "plan.json"))
    berth.check(moving.graph, str(tmp_path / "plan.json"))
    assert "x#1" in moving.to_csv() and "x#2" in moving.report()
    assert "copy of x from fast to slow" in moving.svg()


def test_copies_while_operators_run():
    graph, memory = parking()
    found = berth.plan(graph, memory=memory, order="program", prefetch=True, copy_latency=7)
    stopping = berth.plan(graph, memory=memory, order="program", may_move=True)
    run = found.run
    assert run.time == found.cost == run.computing + run.accessing + run.stalled
    assert run.computing == 7 * 1000
    assert run.time <= run.computing + stopping.cost
    for copy in found.copies:
        # It reads and writes at once, and takes as long as the slower end.
        assert copy.cost == 7 + 10 * copy.bytes == copy.ends - copy.begins
        assert copy.after_step < copy.before_step
    assert found.copies
    found.validate()


def test_prefetch_takes_times_from_a_device(root):
    model = root / "examples" / "cells.onnx"
    device = root / "examples" / "devices" / "cortex-m7.json"
    memory = ["tcm=64KiB@8GB/s", "dram@1GB/s"]
    found = berth.plan(model, memory=memory, device=device, prefetch=True, order="program")
    assert found.run.computing > 0
    with pytest.raises(berth.InvalidOptions, match="time of every operator"):
        berth.plan(model, memory=memory, prefetch=True)


def test_two_plans_are_compared(tmp_path):
    graph, memory = parking()
    before = berth.plan(graph, memory=memory, order="program")
    after = berth.plan(graph, memory=["fast=270@1GB/s", "ram@100MB/s"], order="program")
    change = berth.diff(before, after)
    assert (change.cost_before, change.cost_after) == (before.cost, after.cost)
    assert change.same_cost_kind and change.height_before is None and change.peak_after is None
    fast, ram, slow = change.memories
    assert (fast.name, fast.capacity_before, fast.capacity_after) == ("fast", 190, 270)
    assert fast.height_after == after.memories[0].height
    assert (ram.name, ram.height_before, ram.capacity_after) == ("ram", None, None)
    assert (slow.name, slow.height_after, slow.height_before) == ("slow", None, before.memories[1].height)
    moved = [each for each in change.changes if each.memory_before != each.memory_after]
    assert len(moved) == change.other_memory > 0
    assert sum(each.buffers for each in change.transfers) == len(moved)
    assert sum(each.bytes for each in change.transfers) == sum(each.size_after for each in moved)
    assert {(each.memory_before, each.memory_after) for each in moved} == {
        (each.source, each.target) for each in change.transfers
    }
    assert change.changed == len(change.changes) and "other memory" in repr(change)
    assert "fast" in change.report()
    with pytest.raises(berth.InvalidPlan, match="several memories"):
        berth.diff(before, berth.plan(graph))


def test_scratchpads_spill(tmp_path):
    graph, _ = parking()
    found = berth.plan(graph, memory=["pad=190"], order="program", spill=True)
    assert found.spills and found.traffic.spilled == found.traffic.retrieved == 100
    assert found.traffic_bound == 200 and found.copies == []
    assert [(move.tensor, move.direction) for move in found.moves] == [("x", "out"), ("x", "in")]
    found.validate()
    found.save(str(tmp_path / "plan.json"))
    berth.check(found.graph, str(tmp_path / "plan.json"))
    assert 'class="out"' in found.svg() and "x#2" in found.to_csv()
    assert '"written":100' in found.report()


def test_moves_that_cannot_be():
    graph, memory = parking()
    with pytest.raises(berth.InvalidOptions, match="may_move: only with memory"):
        berth.plan(graph, may_move=True)
    with pytest.raises(berth.InvalidOptions, match="spill: only with memory"):
        berth.plan(graph, spill=True, budget=190)
    with pytest.raises(berth.InvalidOptions, match="prefetch and spill"):
        berth.plan(graph, memory=["pad=190"], spill=True, prefetch=True)
    with pytest.raises(berth.InvalidOptions, match="prefetch: only with memory"):
        berth.plan(graph, prefetch=True, capacity=1000)
    with pytest.raises(berth.InvalidOptions, match="copy_latency: .* only with prefetch"):
        berth.plan(graph, memory=memory, may_move=True, copy_latency=5)
    with pytest.raises(berth.InvalidOptions, match="copy_latency"):
        berth.plan(graph, memory=memory, prefetch=True, copy_latency=-1)


def test_diff_of_tables(tmp_path):
    """Plans in CSV do not say what their memories are."""
    head = "id,lower,upper,size,memory,offset\nx,0,2,100,fast,0\n"
    before, after, wrong = (tmp_path / f"{name}.csv" for name in ("before", "after", "wrong"))
    before.write_text(head + "y,0,2,100,slow,0\n")
    after.write_text(head + "y,0,2,100,fast,100\n")
    wrong.write_text(head + "y,0,2,100,fast,171\n")
    memory = ["fast=270@1GB/s", "slow@100MB/s"]
    change = berth.diff(before, after, memory=memory)
    assert change.other_memory == 1 and change.cost_after < change.cost_before
    assert change.transfers == [berth.Transfer("slow", "fast", 1, 100)]
    board = tmp_path / "board.json"
    board.write_text(
        '{"format": "berth-memories", "format_version": 1, "memories": [{"name": "fast", "capacity": 270,'
        ' "read": "1GB/s", "write": "1GB/s"}, {"name": "slow", "read": "100MB/s", "write": "100MB/s"}]}'
    )
    assert berth.diff(before, after, memory=board).cost_after == change.cost_after
    with pytest.raises(berth.ParseError, match="several memories"):
        berth.diff(before, after)
    with pytest.raises(berth.InvalidPlan, match="wrong.csv: the plan does not hold"):
        berth.diff(before, wrong, memory=memory)


def board(capacity=100):
    return [
        berth.Memory("tcm", capacity, alignment=2, read=(1, 8), write=(1, 4), access=1),
        berth.Memory("dram", base=64, read=(5, 1), write=(10, 1), reserved=[(0, 16, 0, 2)]),
    ]


USES = [(80, 40, 2), (900, 90, 11), (500, 500, 2)]


def test_costs_follow_from_uses():
    """Each product is rounded up: 80 / 8 + 40 / 4 + 2 for the first in the fast memory."""
    fast = [10 + 10 + 2, 113 + 23 + 11, 63 + 125 + 2]
    slow = [80 * 5 + 40 * 10, 900 * 5 + 90 * 10, 500 * 5 + 500 * 10]
    found = berth.place_in_memories(table(), board(), uses=USES)
    assert found.memories == [1, 0, 1] and found.outcome is berth.Outcome.OPTIMAL
    assert found.cost == slow[0] + fast[1] + slow[2]
    assert min(found.offsets[0], found.offsets[2]) >= 16
    rows = [[berth.BY_USES, berth.BY_USES], [7, None], [berth.BY_USES, 5]]
    mixed = berth.place_in_memories(table(), board(), rows, uses=dict(enumerate(USES)))
    assert mixed.cost == slow[0] + 7 + 5
    roomy = berth.place_in_memories(table(), board(700), uses=USES)
    assert roomy.memories == [0, 0, 0] and roomy.cost == sum(fast)
    assert all(offset % 2 == 0 for offset in roomy.offsets)
    pinned = berth.place_in_memories(table(), board(), rows, uses=USES, places=[(1, 1, 640, 3)])
    assert (pinned.memories[1], pinned.offsets[1]) == (1, 640)
    assert pinned.cost == fast[0] + 3 + 5
    # Without costs, a buffer with single places is at one of these.
    only = berth.place_in_memories(table(), board(), uses=USES, places=[(1, 1, 640, 9000)])
    assert (only.offsets[1], only.cost) == (640, fast[0] + 9000 + slow[2])


def test_bad_descriptions_are_named():
    place = berth.place_in_memories
    with pytest.raises(berth.InvalidProblem, match='"tcm"'):
        place(table(), [berth.Memory("tcm", 100), berth.Memory("tcm", 200)])
    with pytest.raises(berth.InvalidProblem, match='"tcm"'):
        place(table(), [berth.Memory("tcm", 100, read=(1, 0))], [[berth.BY_USES]] * 3)
    with pytest.raises(berth.InvalidProblem, match='buffer "1"'):
        place(table(), board(), uses={1: (-1, 0, 0)})
    with pytest.raises(berth.InvalidProblem, match='buffer "1"'):
        place(table(), board(), [[1, berth.BY_USES]] * 3, uses={1: (2**60, 2**60, 0)})
    with pytest.raises(ValueError, match="alignments: a Memory has its own"):
        place(table(), board(), alignments=4)
    with pytest.raises(ValueError, match="uses has 2 values, but there are 3"):
        place(table(), board(), uses={1: (1, 0)})
    with pytest.raises(IndexError, match="there is no buffer 3; there are 3"):
        place(table(), board(), places=[(3, 0, 0, 0)])
    with pytest.raises(ValueError, match="memory 2 of a place"):
        place(table(), board(), places=[(1, 2, 0, 0)])


def test_what_is_in_the_way_is_said():
    found = berth.place_in_memories(table(), board(), uses=USES)
    large, small = berth.find_displaced(table(), board(), found, uses=USES)
    assert (large.buffers, large.reason, large.offset, large.saved) == ([2], "memory", None, None)
    assert (large.memory, large.cheaper, large.step, large.needed) == (1, 0, None, None)
    assert (small.buffers, small.start, small.end) == ([0], 0, 2)
    assert (small.reason, small.step, small.free, small.needed) == ("bytes", 1, 10, 40)
    assert (small.cost, small.least, small.must) == (800, 22, False)
    assert small.in_the_way == [1] and small.saved == 5400 - 147
    assert berth.find_displaced(table(), board(), found, uses=USES, most=1) == [large]
    nowhere = berth.place_in_memories(table(), [100])
    entries = berth.find_displaced(table(), [100], nowhere)
    assert [each.must for each in entries] == [True, True]
    assert {each.memory for each in entries} == {None}
    assert {each.buffers[0] for each in entries} == {
        b for b, memory in enumerate(nowhere.memories) if memory is None
    }
    wrong = dataclasses.replace(found, offsets=[0, *found.offsets[1:]])
    with pytest.raises(berth.InvalidPlan, match='"dram"'):
        berth.find_displaced(table(), board(), wrong, uses=USES)
    with pytest.raises(ValueError, match="placement.memories has 3 values, but there are 2"):
        berth.find_displaced(berth.Problem([0, 0], [1, 1], [1, 1]), board(), found)


def test_a_model_says_what_is_in_the_way():
    found = berth.plan(chain(), memory=["fast=450@1GB/s", "slow@100MB/s"])
    (entry,) = found.displaced()
    assert [found.graph.tensor(t).name for t in entry.buffers] == ["t2"]
    assert (entry.memory, entry.cheaper, entry.cost) == (1, 0, 10 * entry.least)
    assert entry.reason == "bytes" and entry.free < entry.needed == 300
    assert found.displaced(most=0) == []
    with pytest.raises(ValueError, match="single memory"):
        berth.plan(chain()).displaced()


def test_what_more_of_a_memory_saves(tmp_path):
    graph, memory = parking()
    options = {"memory": memory, "order": "program"}
    curve = berth.sweep_memory(graph, "fast", capacities=["270B", 190, 100], **options)
    assert [point.capacity for point in curve] == [100, 190, 270] and len(curve) == 3
    for point in curve:
        plan = berth.plan(graph, memory=[f"fast={point.capacity}@1GB/s", memory[1]], order="program")
        assert (point.cost, point.cost_bound, point.unplaced) == (plan.cost, plan.cost_bound, 0)
        assert point.outcome is plan.outcome and point.cost_unit == "ns" and point.copies == 0
        assert point.memories == plan.memories
    assert curve[0].cost > curve[2].cost and "'fast'" in repr(curve)
    curve.save(tmp_path / "curve.csv")
    rows = (tmp_path / "curve.csv").read_text().splitlines()
    assert rows[0] == "capacity,outcome,unplaced,cost_ns,cost_bound_ns,seconds"
    assert rows[1].startswith(f"100,optimal,0,{curve[0].cost},{curve[0].cost_bound},")
    assert "fast" in curve.report() and "fast" in curve._repr_html_()
    moving = berth.sweep_memory(graph, "fast", capacities=[190], may_move=True, **options)
    assert moving[0].copies == 1 and moving[0].cost < curve[1].cost
    assert "copies" in moving.to_csv()
    assert len(berth.sweep_memory(graph, "fast", points=4, **options)) == 4
    with pytest.raises(berth.InvalidOptions, match='no memory "quick"'):
        berth.sweep_memory(graph, "quick", **options)
    with pytest.raises(berth.InvalidOptions, match="bytes"):
        berth.sweep_memory(graph, "fast", capacities=["MR"], **options)

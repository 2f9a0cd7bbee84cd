"""Values and moments that nobody should count on: they raise, and never give a wrong plan."""

import json
import signal
from array import array

import berth
import pytest


def test_numbers_beyond_64_bits_are_named():
    problem = berth.Problem([0], [1], [4])
    with pytest.raises(berth.InvalidProblem, match="end"):
        problem.add(0, 2**64 + 5, 4)
    with pytest.raises(TypeError, match="size"):
        problem.add(0, 5, 4.5)
    with pytest.raises(TypeError, match="offset"):
        berth.place([0], [1], [4], offset={0: 4.9})
    with pytest.raises(berth.InvalidProblem, match="alignment"):
        berth.place([0], [1], [4], 2**64)
    graph = berth.Graph()
    with pytest.raises(berth.InvalidProblem, match="bytes"):
        graph.add_tensor("x", 2**64 + 4)
    graph.add_tensor("x", 4)
    with pytest.raises(ValueError, match="tensor"):
        graph.add_tensor("y", 4, alias_of=-1)


def test_half_a_window_is_no_window():
    problem = berth.Problem([0], [9], [8])
    with pytest.raises(ValueError, match="lower and upper"):
        problem.gap(0, 1, 3, 0)


def test_an_operator_is_added_whole_or_not_at_all():
    graph = berth.Graph()
    graph.add_tensor("x", 4)
    with pytest.raises(ValueError, match="99"):
        graph.add_operator("o", [], ["x"], after=[99])
    assert graph.operator_count == 0


def test_arrays_cannot_be_resized_while_they_are_read():
    start = array("q", [0] * 4)

    class Grows:
        def __iter__(self):
            start.extend([7] * 100_000)
            return iter([1, 1, 1, 1])

    with pytest.raises(BufferError):
        berth.place(start, Grows(), [4] * 4)


def test_scalars_of_numpy_are_options():
    numpy = pytest.importorskip("numpy")
    found = berth.place([0, 0], [1, 1], [4, 4], time_limit=numpy.float64(1.5),
                        minimize=numpy.True_, capacity=numpy.int64(64))  # fmt: skip
    assert found.height == 8


def test_plans_keep_what_was_read(examples, tmp_path):
    """A file that changes after it was read changes nothing, and does no harm."""
    path = tmp_path / "cells.onnx"
    path.write_bytes((examples / "cells.onnx").read_bytes())
    plan = berth.plan(path, capacity="1MiB")
    before = plan.to_json()
    path.write_bytes(b"")
    assert plan.to_json() == before
    assert len(plan.advice(time_limit=1)) > 0


def test_an_order_of_another_model_is_refused(examples, tmp_path):
    path = tmp_path / "cells.onnx"
    path.write_bytes((examples / "cells.onnx").read_bytes())
    plan = berth.schedule(path)
    plan.save(path)
    with pytest.raises(berth.InvalidPlan):
        plan.save(path)  # It has been reordered already.
    assert berth.schedule(path).peak == plan.peak


def test_any_handler_may_raise(tmp_path):
    """An alarm that raises is heard during a search, and raised after it."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("no timers")
    table = tmp_path / "hard.csv"
    rows = ["id,lower,upper,size"]
    state = 7
    for i in range(600):
        values = []
        for below in (200, 60, 100_003):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            values.append((state >> 33) % below)
        rows.append(f"{i},{values[0]},{values[0] + 1 + values[1]},{1 + values[2]}")
    table.write_text("\n".join(rows) + "\n")

    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    old = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        found = berth.place(table, time_limit=120, minimize=True)
        assert found.outcome is berth.Outcome.OPTIMAL  # Faster than the alarm.
    except Alarm as alarm:
        assert alarm.partial.height > 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert json.loads(berth.place(table, node_limit=100).to_json())["outcome"] != "unknown"

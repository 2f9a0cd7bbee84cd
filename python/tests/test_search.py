"""Searches as they run: progress, Ctrl-C, threads, limits."""

import os
import signal
import subprocess
import sys
import threading
import time

import berth
import pytest


def test_limits(hard):
    found = berth.place(*hard, node_limit=500)
    assert found.outcome is berth.Outcome.FEASIBLE and found.stopped is berth.Stop.BUDGET
    assert "(bound " in repr(found)
    again = berth.place(*hard, node_limit=500, threads=2)
    assert again.offsets == found.offsets and again.nodes == found.nodes
    timed = berth.place(*hard, time_limit=0.05)
    assert timed.stopped is berth.Stop.BUDGET


def test_progress(hard):
    seen = []
    found = berth.place(*hard, time_limit=0.5, progress=seen.append)
    assert seen
    last = seen[-1]
    assert isinstance(last, berth.Progress) and last.nodes > 0 and 0 < last.seconds < 30
    assert last.bound <= found.lower_bound <= found.height <= last.best


def test_progress_ends_the_search(hard):
    found = berth.place(*hard, time_limit=60, progress=lambda state: state.seconds > 0.1)
    assert found.stopped is berth.Stop.BUDGET and found.seconds < 30


def test_progress_raises(hard):
    class Mine(Exception):
        pass

    def fail(state):
        raise Mine("enough")

    with pytest.raises(Mine) as raised:
        berth.place(*hard, time_limit=60, progress=fail)
    assert isinstance(raised.value.partial, berth.Placement)
    assert raised.value.partial.height > 0


def test_bar(hard, capsys):
    berth.place(*hard, time_limit=0.3, progress=True)
    shown = capsys.readouterr().err
    assert "best " in shown and "bound " in shown and shown.endswith("\n")


def test_bar_without_tqdm(hard, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    berth.place(*hard, time_limit=0.3, progress=True)
    shown = capsys.readouterr().err
    assert shown.startswith("\rbest ") and shown.endswith("\n")


def interrupt(call):
    """Runs `call`, which takes long, sends SIGINT after 0.3 s, and returns what was raised."""
    sent, raised = [], []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, send)
    timer.start()
    try:
        found = call()
        time.sleep(1)
        pytest.fail(f"ended before Ctrl-C came: {found!r}")
    except KeyboardInterrupt as error:
        raised.append(error)
    after = time.perf_counter() - sent[0]
    timer.join()
    print(f"Ctrl-C: back after {after:.3f} s")
    assert after < 20
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return raised[0]


def test_interrupt(hard):
    error = interrupt(lambda: berth.place(*hard, time_limit=60))
    assert isinstance(error, berth.Interrupted)
    partial = error.partial
    assert isinstance(partial, berth.Placement) and partial.outcome is berth.Outcome.FEASIBLE
    berth.check(*hard, partial.offsets)
    assert partial.stopped is berth.Stop.BUDGET


def test_interrupt_with_progress(hard):
    error = interrupt(lambda: berth.place(*hard, time_limit=60, progress=lambda state: None))
    assert isinstance(error.partial, berth.Placement)


def test_interrupt_while_planning(examples, hard):
    graph = berth.read(examples / "cells.onnx")
    error = interrupt(lambda: berth.sweep(graph, points=1000, count="all", time_limit=60))
    assert isinstance(error.partial, berth.Sweep)
    # The hard table as tensors: one operator for each step makes some and reads others.
    start, end, size = hard
    slow = berth.Graph("slow")
    tensors = [slow.add_tensor(f"t{i}", bytes) for i, bytes in enumerate(size)]
    for step in range(max(end)):
        slow.add_operator(
            f"op{step}",
            [t for t in tensors if start[t] < step == end[t] - 1],
            [t for t in tensors if start[t] == step],
            after=[step - 1] if step else [],
        )
    error = interrupt(lambda: berth.plan(slow, time_limit=60))
    assert isinstance(error.partial, berth.Plan) and error.partial.height > 0
    berth.check(slow, error.partial)


def test_handler_of_the_program(hard):
    """A handler that does not raise lets the search go on; one that raises something else ends it."""
    called = []
    old = signal.signal(signal.SIGINT, lambda number, frame: called.append(number))
    try:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        found = berth.place(*hard, time_limit=0.5)
        assert called == [signal.SIGINT] and found.seconds > 0.4
    finally:
        signal.signal(signal.SIGINT, old)


def test_not_heard(hard):
    found = berth.place(*hard, node_limit=200, progress=False)
    assert found.nodes >= 200


def test_threads_share_graphs_and_plans(examples):
    """Eight threads at once: the same answers as one after the other."""
    graph = berth.read(examples / "cells.onnx")
    problem = berth.read(examples / "inference_mobilenet_v2.csv")
    expected = (
        berth.plan(graph, budget="MR", node_limit=300).to_json(),
        berth.place(problem, node_limit=300).to_json(),
    )
    shared = berth.place(problem, node_limit=300)
    failures = []

    def work():
        try:
            for _ in range(3):
                assert berth.plan(graph, budget="MR", node_limit=300).to_json() == expected[0]
                assert berth.place(problem, node_limit=300).to_json() == expected[1]
                assert shared.report() and shared.to_json() == expected[1]
                with pytest.raises(berth.InvalidProblem, match='buffer "0"'):
                    berth.place([1], [0], [8])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_other_threads_run_during_a_search(hard):
    turns = 0
    done = threading.Event()

    def count():
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    berth.place(*hard, time_limit=0.5)
    done.set()
    thread.join()
    assert turns > 2


def test_handles_are_freed():
    """Memory does not grow with calls."""
    script = """
import berth, resource
def work(count):
    for _ in range(count):
        berth.place(list(range(200)), list(range(1, 201)), [8] * 200).to_json()
        try:
            berth.place([1], [0], [8])
        except berth.InvalidProblem:
            pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = work(50)
after = work(400)
assert after < before + 20_000, (before, after)
"""
    subprocess.run([sys.executable, "-c", script], check=True)

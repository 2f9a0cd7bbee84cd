#!/usr/bin/env python3
"""Berth as tinygrad's memory planner, end to end.

    pip install . tinygrad
    python3 examples/tinygrad_planner.py

Trains a small network in tinygrad twice, with tinygrad's planner and with Berth's, and compares the
losses and the bytes of the arenas. `install()` is all that other programs need.

tinygrad plans by running an allocator (TLSF) along the schedule and keeping the offsets that it
gives. So the plan is made in two passes over tinygrad's own code: in the first, an allocator that
only writes down who is live when; in the second, one that gives the offsets which Berth has found
for these lifetimes.
"""

import functools
import sys

import berth

BLOCK = 256  # tinygrad's sizes and offsets are multiples of it.


class Recorder:
    """Takes the place of the allocator of one arena: writes down lifetimes."""

    def __init__(self, lanes):
        self.start, self.end, self.size, self.step = [], [], [], 0
        lanes.append(self)

    def alloc(self, size, *_):
        self.start.append(self.step)
        self.end.append(None)
        self.size.append(size)
        self.step += 1
        return len(self.size) - 1  # Stands for the offset until it is freed.

    def free(self, buffer):
        self.end[buffer] = self.step
        self.step += 1

    def place(self):
        end = [self.step if step is None else step for step in self.end]
        return berth.place(self.start, end, self.size, BLOCK, node_limit=1_000_000, progress=False)


class Replay:
    """Takes its place in the second pass: gives the offsets of the plan, in the same order."""

    def __init__(self, placements):
        self.offsets = iter(placements.pop(0).offsets)

    def alloc(self, *_):
        return int(next(self.offsets))

    def free(self, _):
        pass


class Report:
    """What was planned: a berth.Placement for each arena, and the bytes that tinygrad's own
    allocator takes for the same requests."""

    def __init__(self):
        self.placements = []
        self.tinygrad_bytes = []

    @property
    def bytes(self):
        return [placement.height for placement in self.placements]


def install():
    """From now on tinygrad plans with Berth. Returns the report that grows with each plan."""
    import tinygrad.engine.jit
    import tinygrad.schedule
    from tinygrad.schedule import memory

    report = Report()
    original, TLSF = memory.memory_plan_rewrite, memory.TLSFAllocator

    def with_allocator(make, *arguments):
        memory.TLSFAllocator = make
        try:
            return original(*arguments)
        finally:
            memory.TLSFAllocator = TLSF

    @functools.wraps(original)
    def planned(linear, held_bufs=None):
        lanes = []
        # The plan of this pass is thrown away: its offsets are numbers of buffers.
        with_allocator(lambda *_, **__: Recorder(lanes), linear, held_bufs)
        placements = [lane.place() for lane in lanes]
        report.placements += placements
        report.tinygrad_bytes += [tlsf_bytes(TLSF, lane) for lane in lanes]
        left = list(placements)
        return with_allocator(lambda *_, **__: Replay(left), linear, held_bufs)

    memory.memory_plan_rewrite = planned
    tinygrad.schedule.memory_plan_rewrite = planned
    tinygrad.engine.jit.memory_plan_rewrite = planned
    return report


def tlsf_bytes(TLSF, lane):
    """The height of the same requests with tinygrad's allocator."""
    allocator = TLSF(2 * sum(lane.size), block_size=BLOCK, lv2_cnt=32)
    ends = {step: buffer for buffer, step in enumerate(lane.end) if step is not None}
    starts = {step: buffer for buffer, step in enumerate(lane.start)}
    offsets, height = {}, 0
    for step in range(lane.step):
        if step in ends:
            allocator.free(offsets[ends[step]])
        else:
            buffer = starts[step]
            offsets[buffer] = allocator.alloc(lane.size[buffer])
            height = max(height, offsets[buffer] + lane.size[buffer])
    return height


def train(steps=4):
    """Losses of a small residual network on noise; the step is compiled by TinyJit."""
    from tinygrad import Context, Tensor, TinyJit, nn

    class Net:
        def __init__(self):
            self.first = nn.Conv2d(3, 16, 3, padding=1)
            self.blocks = [nn.Conv2d(16, 16, 3, padding=1) for _ in range(4)]
            self.last = nn.Linear(16, 10)

        def __call__(self, x):
            x = self.first(x).relu()
            for block in self.blocks:
                x = x + block(x).relu()
            return self.last(x.mean((2, 3)))

    Tensor.manual_seed(1)
    net = Net()
    optimizer = nn.optim.Adam(nn.state.get_parameters(net), lr=1e-3)
    x, y = Tensor.randn(8, 3, 16, 16).realize(), Tensor.randint(8, high=10).realize()

    @TinyJit
    def step():
        optimizer.zero_grad()
        loss = net(x).sparse_categorical_crossentropy(y).backward()
        return loss.realize(*optimizer.schedule_step())

    with Context(TRAINING=1):
        return [step().item() for _ in range(steps)]


def main():
    losses = train()
    report = install()
    ours = train()
    print(f"losses: {losses} with tinygrad's planner, {ours} with Berth's")
    for placement, own in zip(report.placements, report.tinygrad_bytes):
        if len(placement.problem) > 1:
            print(f"{len(placement.problem)} buffers: {own:,} bytes with tinygrad's allocator, "
                  f"{placement.height:,} with Berth ({placement.outcome})")  # fmt: skip
    return 0 if losses == ours else 1


if __name__ == "__main__":
    sys.exit(main())

"""Berth plans memory: an order for the operators of a model, an offset for every tensor, and what
to spill where it does not fit; with a proof of how close to the optimum the plan is.

    placement = berth.place(start, end, size)                 # Arrays in, offsets out.
    plan = berth.plan("model.onnx", budget="512KiB")          # A model, with spills.
    plan.save("plan.json"); plan.report("plan.html")

Steps are positions in a schedule, and lifetimes are half-open: a buffer is live at the steps from
`start` to `end` - 1. Sizes, offsets and capacities are bytes, times are seconds. "It does not fit"
and "not known" are outcomes (Outcome), never exceptions; what is wrong with an input is an Error.

The work is done in libberth.so, which is called without the interpreter's lock. All functions may
be called from several threads; a Problem or Graph may be changed by one thread at a time. Equal
arguments give equal plans, on every machine, unless time or Ctrl-C ends a search.
"""

from berth._answer import Advice, Outcome, Remedy, SearchReport, Stop
from berth._errors import (
    Error,
    FileError,
    InternalError,
    Interrupted,
    InvalidGraph,
    InvalidOptions,
    InvalidPlacement,
    InvalidPlan,
    InvalidProblem,
    ParseError,
    Unsupported,
)
from berth._explain import (
    Change,
    Conflict,
    Diff,
    MemoryChange,
    Transfer,
    check,
    diff,
    explain,
)
from berth._graph import Graph, Operator, Tensor, read
from berth._memories import (
    BY_USES,
    Displaced,
    Memory,
    MemoryPlacement,
    find_displaced,
    place_in_memories,
    repack,
)
from berth._off_chip import OffChipCopy, OffChipRun
from berth._options import Option, library_version, options
from berth._plan import (
    Copy,
    MemoryUse,
    Move,
    Plan,
    Recomputed,
    Residency,
    Run,
    Traffic,
    plan,
    schedule,
)
from berth._problem import Buffer, Colocated, Gap, Placement, Problem, place
from berth._proof import Proof
from berth._search import Progress
from berth._sweep import MemoryPoint, MemorySweep, Point, Sweep, sweep, sweep_memory
from berth._version import __version__

__all__ = [
    "Advice",
    "BY_USES",
    "Buffer",
    "Change",
    "Colocated",
    "Conflict",
    "Copy",
    "Diff",
    "Displaced",
    "Error",
    "FileError",
    "Gap",
    "Graph",
    "InternalError",
    "Interrupted",
    "InvalidGraph",
    "InvalidOptions",
    "InvalidPlacement",
    "InvalidPlan",
    "InvalidProblem",
    "Memory",
    "MemoryChange",
    "MemoryPlacement",
    "MemoryPoint",
    "MemorySweep",
    "MemoryUse",
    "Move",
    "OffChipCopy",
    "OffChipRun",
    "Operator",
    "Option",
    "Outcome",
    "ParseError",
    "Placement",
    "Plan",
    "Point",
    "Problem",
    "Progress",
    "Proof",
    "Recomputed",
    "Remedy",
    "Residency",
    "Run",
    "SearchReport",
    "Stop",
    "Sweep",
    "Tensor",
    "Traffic",
    "Transfer",
    "Unsupported",
    "__version__",
    "check",
    "diff",
    "explain",
    "find_displaced",
    "library_version",
    "options",
    "place",
    "place_in_memories",
    "plan",
    "read",
    "repack",
    "schedule",
    "sweep",
    "sweep_memory",
]

# Messages and documentation call them by their public names.
for _name in __all__:
    if _name not in ("BY_USES", "__version__"):
        globals()[_name].__module__ = __name__
del _name

"""What placements and plans have in common."""

from __future__ import annotations

import ctypes
import enum
import os
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Union

from berth._library import Handle, RemedyStruct, Search, Summary, lib, text
from berth._search import (
    OptionsHandle,
    ProgressCallback,
    frame,
    save,
    search,
    suffix,
    text_of,
    write,
)
from berth._errors import check, error_slot

Path = Union[str, "os.PathLike[str]"]


class Outcome(enum.Enum):
    """What is known about the whole question. It is data: nothing is raised for it."""

    OPTIMAL = "optimal"  # A plan that fits; proved that none is better.
    FEASIBLE = "feasible"  # A plan that fits; a better one may exist.
    INFEASIBLE = "infeasible"  # Proved: no plan fits.
    UNKNOWN = "unknown"  # Neither a plan that fits nor a proof that there is none.

    def __str__(self) -> str:
        return str(self.value)


class Stop(enum.Enum):
    """Why a search stopped."""

    ANSWERED = "answered"  # Nothing is left to find out.
    BUDGET = "budget"  # By time, nodes, or cancellation.
    EFFORT = "effort"  # There was no limit, and the default effort is spent.
    SIZE = "size"  # The input is too large for exact search.
    ALGORITHM = "algorithm"  # The algorithm has finished and proves nothing.
    UNSIZED = "unknown sizes"  # Tensors have no known size.
    GAP = "gap"  # The plan is as near to the bound as `gap` asks for.

    def __str__(self) -> str:
        return str(self.value)


OUTCOMES = tuple(Outcome)  # By berth_outcome,
STOPS = tuple(Stop)  # and by berth_stop.


def known(value: int) -> Optional[int]:
    """-1 stands for no value."""
    return None if value < 0 else value


class SearchReport:
    """One of the searches behind an answer: its own outcome, why it stopped, the algorithm that
    found its result ("" if it did not run), nodes, and seconds."""

    __slots__ = ("algorithm", "nodes", "outcome", "seconds", "stopped")

    def __init__(self, plan: int, kind: int) -> None:
        found, slot = Search(), error_slot()
        check(lib.berth_plan_search(plan, kind, ctypes.byref(found), ctypes.byref(slot)), slot)
        self.outcome = OUTCOMES[found.outcome]
        self.stopped = STOPS[found.stopped]
        self.algorithm = text(found.algorithm)
        self.nodes = int(found.nodes)
        self.seconds = float(found.seconds)

    def __repr__(self) -> str:
        return (
            f"<{self.algorithm or 'no search'}: {self.outcome}, stopped: {self.stopped}, "
            f"{self.nodes:,} nodes, {self.seconds:.3f} s>"
        )


class Remedy(NamedTuple):
    """What would lower the plan, or make it fit. It was tried.

    title: "A capacity of 146 MiB". detail: one or two sentences.
    change: options, as on the command line: "--capacity 153092096"; "" for none.
    needs: the bytes that would then be needed, or None if not known.
    traffic: avoidable bytes, or None where nothing is spilled.
    fits: a plan with these changes was found that fits.
    proved: no plan with these changes needs less.
    estimated: of operators in strips, which no option makes: what a runtime would need.
    recompute_cost: of operators that run again, in the unit of Plan.recomputed; None where none do.
    enlarges: it gives more memory, within which a plan was found.
    """

    title: str
    detail: str
    change: str
    needs: Optional[int]
    traffic: Optional[int]
    fits: bool
    proved: bool
    estimated: bool
    recompute_cost: Optional[int] = None
    enlarges: bool = False


class Advice(Sequence[Remedy]):
    """Remedies, the best first. report() shows them in a page."""

    def __init__(self, pointer: Optional[int]) -> None:
        self._handle = Handle(pointer, lib.berth_advice_free)
        count = lib.berth_advice_count(self._handle.pointer)
        self._remedies = [self._at(i) for i in range(count)]

    def _at(self, index: int) -> Remedy:
        found, slot = RemedyStruct(), error_slot()
        check(
            lib.berth_advice_remedy(
                self._handle.pointer, index, ctypes.byref(found), ctypes.byref(slot)
            ),
            slot,
        )
        return Remedy(
            text(found.title),
            text(found.detail),
            text(found.change),
            known(found.needs),
            known(found.traffic),
            bool(found.fits),
            bool(found.proved),
            bool(found.estimated),
            known(found.recompute_cost),
            bool(found.enlarges),
        )

    def __len__(self) -> int:
        return len(self._remedies)

    def __getitem__(self, index: Any) -> Any:
        return self._remedies[index]

    def __repr__(self) -> str:
        titles = "; ".join(remedy.title for remedy in self._remedies)
        return f"<Advice: {titles or 'none'}>"


class Answer:
    """A plan and what is known of it. It never changes; threads may share it."""

    def __init__(self, pointer: Optional[int]) -> None:
        self._handle = Handle(pointer, lib.berth_plan_free)
        summary, slot = Summary(), error_slot()
        check(
            lib.berth_plan_summary(
                self._handle.pointer, ctypes.byref(summary), ctypes.byref(slot)
            ),
            slot,
        )
        self._summary = summary

    @property
    def outcome(self) -> Outcome:
        """What is known about the whole question."""
        return OUTCOMES[int(self._summary.outcome)]

    @property
    def stopped(self) -> Stop:
        """Why the search ended."""
        return STOPS[int(self._summary.stopped)]

    @property
    def capacity(self) -> Optional[int]:
        """The bytes that were asked for, or None for as few as possible."""
        return known(self._summary.capacity)

    @property
    def height(self) -> Optional[int]:
        """The largest offset + size in bytes; None without offsets. It may exceed the capacity."""
        return known(self._summary.height)

    @property
    def nodes(self) -> int:
        """Of search; the same on every machine unless time or Ctrl-C ended it."""
        return int(self._summary.nodes)

    @property
    def seconds(self) -> float:
        """Wall clock of the search."""
        return float(self._summary.seconds)

    def _text(self, function: Any) -> bytes:
        return text_of(function, self._handle.pointer)

    def validate(self) -> None:
        """Checks the plan once more, against its table or graph. Raises InvalidPlan."""
        slot = error_slot()
        check(lib.berth_plan_validate(self._handle.pointer, ctypes.byref(slot)), slot)

    def to_json(self) -> str:
        """The plan as a file (docs/formats/plan.md)."""
        return self._text(lib.berth_plan_to_json).decode("utf-8")

    def to_csv(self) -> str:
        """A table with a row for each residency and its offset. ValueError without offsets."""
        return self._text(lib.berth_plan_to_csv).decode("utf-8")

    def report(
        self, path: Optional[Path] = None, *, advice: Optional[Advice] = None
    ) -> Optional[str]:
        """Writes one HTML file that explains the plan, for any browser, offline, with the remedies
        of advice() if they are given. Without a path, returns it."""
        if path is not None:
            suffix(path, (".html",))
        page = self._page_with(advice)
        if path is None:
            return page.decode("utf-8")
        write(path, page)
        return None

    def _page_with(self, advice: Optional[Advice] = None) -> bytes:
        remedies = None if advice is None else advice._handle.pointer
        return text_of(lib.berth_plan_to_page, self._handle.pointer, remedies)

    def advice(
        self,
        *,
        time_limit: Optional[Union[float, str]] = None,
        node_limit: Optional[int] = None,
        progress: Union[ProgressCallback, bool, None] = None,
    ) -> Advice:
        """What would lower the plan, or make it fit: each remedy was tried.

        time_limit, node_limit: of all these searches together.
        """
        options = OptionsHandle()
        options.set_all({"time_limit": time_limit, "node_limit": node_limit})
        result = ctypes.c_void_p()
        return search(
            options,
            progress,
            time_limit,
            lambda slot: self._advise(options.pointer, ctypes.byref(result), slot),
            lambda: Advice(result.value),
        )

    def _advise(self, options: Any, result: Any, slot: Any) -> int:
        return int(lib.berth_advise_plan(self._handle.pointer, options, result, slot))

    def svg(self, path: Optional[Path] = None) -> Optional[str]:
        """Writes a picture of the plan; without a path, returns it. ValueError without offsets."""
        return self._written(path, ".svg", lib.berth_plan_to_svg)

    def trace(self, path: Optional[Path] = None) -> Optional[str]:
        """Writes the plan as events for Perfetto and chrome://tracing; without a path, returns
        them."""
        return self._written(path, ".json", lib.berth_plan_to_trace)

    def _written(self, path: Optional[Path], ending: str, function: Any) -> Optional[str]:
        if path is None:
            return self._text(function).decode("utf-8")
        suffix(path, (ending,))
        write(path, self._text(function))
        return None

    def _formats(self) -> Dict[str, Callable[[], bytes]]:
        return {
            ".json": lambda: self._text(lib.berth_plan_to_json),
            ".csv": lambda: self._text(lib.berth_plan_to_csv),
            ".html": self._page_with,
            ".svg": lambda: self._text(lib.berth_plan_to_svg),
        }

    def save(self, path: Path) -> None:
        """Writes the plan as what the name ends in: .json (order, offsets and bounds), .csv (a
        table with an offset column), .html (as report()) or .svg.

        Raises ValueError for other names and for tables and pictures of plans without offsets,
        OSError if the file cannot be written.
        """
        save(path, self._formats())

    def _repr_html_(self) -> str:
        return frame(self._page_with())


def speed(nodes: int, seconds: float) -> str:
    return f"{nodes:,} nodes, {seconds:.3f} s"


def against(value: Optional[int], bound: int, what: str) -> str:
    """"peak 12 (bound 10)"."""
    if value is None:
        return f"no {what} (bound {bound:,})"
    return f"{what} {value:,}" + ("" if value == bound else f" (bound {bound:,})")


def data_frame(columns: Dict[str, Any]) -> Any:
    """Columns as a pandas.DataFrame."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from None
    return pandas.DataFrame(columns)

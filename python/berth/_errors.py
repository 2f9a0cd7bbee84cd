"""What is raised. That a problem has no answer, or none yet, is an Outcome and never an error."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, Optional, Type, Union

from berth._library import NONE, lib, text

if TYPE_CHECKING:
    from berth._plan import Plan
    from berth._problem import Placement


class Error(Exception):
    """Of everything that Berth refuses.

    message: one sentence that names the file and line, or the buffer, and the value.
    subject: what `index` counts: "buffer", "tensor", "operator", "line" (the first is 1), or None.
    index: of the culprit, or None.
    """

    def __init__(
        self, message: str, subject: Optional[str] = None, index: Optional[int] = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.subject = subject
        self.index = index

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:  # Exceptions of worker processes are pickled.
        return type(self), (self.message, self.subject, self.index)


class InvalidProblem(Error, ValueError):
    """A buffer, or the capacity, breaks a rule of docs/problem.md."""


class InvalidGraph(Error, ValueError):
    """An operator or a tensor breaks a rule of docs/formats/graph.md."""


class InvalidPlan(Error, ValueError):
    """An order that cannot run, or a plan that does not compute what its graph computes."""


class InvalidPlacement(InvalidPlan):
    """Offsets that overlap, are misaligned or exceed the capacity."""


class InvalidOptions(Error, ValueError):
    """An option that does not exist, a value out of bounds, or a contradiction."""


class Unsupported(Error, NotImplementedError):
    """The chosen algorithm cannot honour what the problem asks for."""


class ParseError(Error, ValueError):
    """A text or file is not in the format that it should be in."""


class FileError(Error, OSError):
    """A file cannot be read."""


class InternalError(Error, RuntimeError):
    """A fault of Berth; the message says which invariant is broken."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search. The search was ended, and what it had found is kept.

    partial: the best Placement, Plan or Sweep so far, or None.
    """

    def __init__(self, partial: Union[Placement, Plan, Any, None] = None) -> None:
        super().__init__("interrupted" if partial is None else f"interrupted with {partial!r}")
        self.partial = partial


_CLASSES: Dict[int, Type[Error]] = {
    2: InvalidProblem,
    3: InvalidGraph,
    4: InvalidPlan,
    5: InvalidOptions,
    6: Unsupported,
    7: ParseError,
    8: FileError,
    10: InternalError,
}
_SUBJECTS = {1: "buffer", 2: "tensor", 3: "operator", 4: "line"}


def error_slot() -> Any:
    """Where a call puts its error."""
    return ctypes.c_void_p()


def check(status: int, slot: Any) -> None:
    """Raises the error in `slot` if `status` is not BERTH_OK."""
    if status != 0:
        raise failure(status, slot)


def failure(status: int, slot: Any) -> Exception:
    """The error in `slot` as an exception; frees it."""
    message = text(lib.berth_error_message(slot)) or text(lib.berth_status_name(status))
    subject = _SUBJECTS.get(lib.berth_error_subject(slot))
    index = lib.berth_error_index(slot)
    lib.berth_error_free(slot)
    if status == 1:  # An index out of range, or a plan without what was asked for.
        return ValueError(message)
    if status == 9:
        return MemoryError(message)
    kind = _CLASSES.get(status, InternalError)
    if kind is InvalidPlan and subject == "buffer":
        kind = InvalidPlacement
    return kind(message, subject, None if index == NONE else index)

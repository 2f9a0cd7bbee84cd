"""What every search shares: options as text, progress, and Ctrl-C."""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys
import threading
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

from berth._library import Handle, ProgressFunction, encoded, indices, lib
from berth._errors import Interrupted, check, error_slot

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

T = TypeVar("T")

# A number of bytes, or text such as "512KiB".
Size: TypeAlias = "Union[int, str]"
Options: TypeAlias = "Mapping[str, Union[str, int, float, bool]]"


class Progress(NamedTuple):
    """How far a search is. Units are those of what it minimises: bytes of height, peak or traffic.

    best: of the best plan so far, or None.
    bound: proved: no plan has less.
    nodes: of search.
    seconds: since the call began.
    """

    best: Optional[int]
    bound: int
    nodes: int
    seconds: float


# Returning True ends the search with the best plan so far.
ProgressCallback: TypeAlias = "Callable[[Progress], Optional[bool]]"


def _as_text(value: Any) -> str:
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):  # numpy's.
        return "on" if value else "off"
    if isinstance(value, float):
        return float.__repr__(value)
    return str(value)


class OptionsHandle:
    """The options of one call."""

    __slots__ = ("_handle", "_set", "pointer")

    def __init__(self) -> None:
        self._handle = Handle(lib.berth_options_new(), lib.berth_options_free)
        self.pointer = self._handle.pointer

    def set(self, name: str, value: Any) -> None:
        """None leaves the default."""
        if value is None:
            return
        slot = error_slot()
        status = lib.berth_options_set(
            self.pointer, encoded(name), encoded(_as_text(value)), ctypes.byref(slot)
        )
        check(status, slot)

    def set_all(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            if value is not None:
                self.set(name, value)

    def set_dimensions(self, dim: Optional[Mapping[str, int]]) -> None:
        for name, size in (dim or {}).items():
            self.set("dim", f"{name}={size}")

    def set_files(self, **paths: Optional[Union[str, "os.PathLike[str]"]]) -> None:
        """Options whose values are the contents of files: a device, a profile."""
        for name, path in paths.items():
            if path is not None:
                with open(path, encoding="utf-8") as file:
                    self.set(name, file.read().strip())

    def set_order(self, order: Sequence[int]) -> None:
        array, count = indices(order)
        slot = error_slot()
        check(lib.berth_options_set_order(self.pointer, array, count, ctypes.byref(slot)), slot)


# ---- Progress


def _si(value: Optional[int]) -> str:
    return "none yet" if value is None else f"{value:,}"


class _Bar:
    """A line that says how far a search is: tqdm's where it is installed, else one on stderr."""

    def __init__(self, time_limit: Optional[float]) -> None:
        self._bar: Any = None
        self._width = 0
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        total = round(time_limit, 1) if time_limit else None
        form = "{percentage:3.0f}%|{bar}| {desc}" if total else "{desc}"
        self._bar = tqdm(total=total, bar_format=form)

    def __call__(self, progress: Progress) -> None:
        line = (
            f"best {_si(progress.best)}, bound {progress.bound:,}, "
            f"{progress.nodes:,} nodes, {progress.seconds:.1f} s"
        )
        if self._bar is not None:
            self._bar.n = min(round(progress.seconds, 1), self._bar.total or float("inf"))
            self._bar.set_description_str(line)
        elif sys.stderr is not None:
            sys.stderr.write("\r" + line.ljust(self._width))
            sys.stderr.flush()
            self._width = len(line)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._width and sys.stderr is not None:
            sys.stderr.write("\n")


def _seconds(time_limit: Any) -> Optional[float]:
    return float(time_limit) if isinstance(time_limit, (int, float)) else None


# ---- Ctrl-C

# The functions of `signal` make enumerations of what these give, which takes longer than most searches.
try:
    _fast_signal: Any = importlib.import_module("_signal")
except ImportError:
    _fast_signal = signal
_getsignal: Callable[[int], Any] = _fast_signal.getsignal
_setsignal: Callable[[int, Any], Any] = _fast_signal.signal

_NUMBERS = tuple(sorted(int(number) for number in signal.valid_signals()))


def _signals_come_here() -> bool:
    """Python runs handlers of signals on the main thread."""
    return threading.current_thread() is threading.main_thread() and callable(
        _getsignal(int(signal.SIGINT))
    )


class _Signals:
    """Keeps what handlers of signals (Ctrl-C, alarms) raise until the search has returned.

    Python runs handlers of signals on the main thread when the library calls back. There is no
    place in the callback where an exception could not arise before its first `try`, and ctypes
    would print and forget it. Therefore the handler itself is wrapped.
    """

    def __init__(self) -> None:
        self.raised: Optional[BaseException] = None
        self._old: Dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        if threading.current_thread() is threading.main_thread():
            for number in _NUMBERS:
                old = _getsignal(number)
                # Not those that Python itself does not handle: SIG_DFL, SIG_IGN, None.
                if not callable(old):
                    continue
                self._old[number] = old
                try:
                    _setsignal(number, self._handle)
                except (OSError, ValueError):  # The main thread of another interpreter.
                    del self._old[number]
        return self

    def _handle(self, number: int, frame: Any) -> None:
        try:
            self._old[number](number, frame)
        except BaseException as error:
            self.raised = self.raised or error

    def __exit__(self, *_: Any) -> None:
        for number, old in self._old.items():
            _setsignal(number, old)


def search(
    options: OptionsHandle,
    progress: Union[ProgressCallback, bool, None],
    time_limit: Any,
    call: Callable[[Any], int],
    wrap: Callable[[], T],
) -> T:
    """Runs call(where an error goes) and returns wrap().

    If `progress` or the handler of a signal raises, the search is cancelled; the exception is raised
    after it has returned, with `partial`, the result so far. The library calls back every 50 ms; with
    progress=False never, and nothing is heard until it returns.
    """
    bar = _Bar(_seconds(time_limit)) if progress is True else None
    told = bar if bar is not None else progress if callable(progress) else None
    slot = error_slot()
    if progress is False or (told is None and not _signals_come_here()):
        check(call(ctypes.byref(slot)), slot)
        return wrap()
    signals = _Signals()

    def watch(_: Any, state: Any) -> int:
        try:
            if signals.raised is None and told is not None:
                now = state.contents
                best = None if now.best < 0 else now.best
                stop = told(Progress(best, now.bound, now.nodes, now.seconds))
                if stop:
                    return 1
        except BaseException as error:
            signals.raised = signals.raised or error
        return int(signals.raised is not None)

    function = ProgressFunction(watch)
    lib.berth_options_set_progress(options.pointer, ctypes.cast(function, ctypes.c_void_p), None)
    try:
        with signals:
            status = call(ctypes.byref(slot))
    finally:
        lib.berth_options_set_progress(options.pointer, None, None)
        if bar is not None:
            bar.close()
    if signals.raised is not None:
        raise _with_partial(signals.raised, status, slot, wrap)
    check(status, slot)
    return wrap()


def _with_partial(
    raised: BaseException, status: int, slot: Any, wrap: Callable[[], Any]
) -> BaseException:
    partial = None
    if status == 0:
        partial = wrap()
    else:
        lib.berth_error_free(slot)
    if type(raised) is KeyboardInterrupt:
        return Interrupted(partial)
    try:
        raised.partial = partial  # type: ignore[attr-defined]
    except AttributeError:
        pass
    return raised


# ---- Files


def path_bytes(path: Union[str, os.PathLike[str]]) -> bytes:
    return os.fsencode(os.fspath(path))


def text_of(function: Any, *arguments: Any) -> bytes:
    """The text that a function of the library makes in its last result."""
    result, slot = ctypes.c_void_p(), error_slot()
    check(function(*arguments, ctypes.byref(result), ctypes.byref(slot)), slot)
    try:
        return ctypes.string_at(lib.berth_text_data(result), lib.berth_text_length(result))
    finally:
        lib.berth_text_free(result)


def write(path: Union[str, os.PathLike[str]], content: bytes) -> None:
    """As a whole or not at all, where the path is that of a file."""
    name = os.fspath(path)
    if os.path.exists(name) and not os.path.isfile(name):
        with open(name, "wb") as device:
            device.write(content)
        return
    beside = f"{os.path.realpath(name)}.{os.getpid()}.{threading.get_ident()}.part"
    try:
        with open(beside, "wb") as file:
            file.write(content)
        os.replace(beside, os.path.realpath(name))
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def suffix(path: Union[str, os.PathLike[str]], allowed: Tuple[str, ...]) -> str:
    """The suffix of the path, which decides the format."""
    found = os.path.splitext(os.fspath(path))[1].lower()
    if found not in allowed:
        raise ValueError(f"{os.fspath(path)!r} should end in {' or '.join(allowed)}")
    return found


def save(path: Union[str, os.PathLike[str]], formats: Dict[str, Callable[[], bytes]]) -> None:
    """Writes the format that the suffix of the path says."""
    write(path, formats[suffix(path, tuple(formats))]())


# ---- Notebooks


def frame(page: bytes, height: int = 720) -> str:
    """A page as a part of a notebook."""
    import html

    content = html.escape(page.decode("utf-8", "replace"), quote=True)
    return (
        f'<iframe srcdoc="{content}" style="width:100%;height:{height}px;border:0" '
        'sandbox="allow-scripts allow-downloads allow-modals allow-popups"></iframe>'
    )

"""Sequences of integers as 64-bit arrays for the library, without a loop in Python for arrays.

Taken without a copy: array.array and contiguous numpy arrays of int64, and torch tensors of int64 on
the CPU.
"""

from __future__ import annotations

import functools
import sys
from array import array
from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, SupportsIndex, Tuple, Union

from berth._errors import InvalidProblem

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

# Integers: a list or tuple, array.array, a numpy array, a torch tensor, a pandas Series.
IntArray: TypeAlias = "Union[Sequence[SupportsIndex], Iterable[SupportsIndex], Any]"


class Int64:
    """Where the integers are; keeps their owner alive."""

    __slots__ = ("address", "count", "owner", "from_array")

    def __init__(self, address: int, count: int, owner: Any, from_array: bool) -> None:
        self.address = address
        self.count = count
        self.owner = owner
        self.from_array = from_array  # Not a list: the results should be arrays, too.

    def tolist(self) -> list[int]:
        values = memory(self.address, self.count * 8).cast("q").tolist()
        return values  # type: ignore[no-any-return, unused-ignore]


def memory(address: int, length: int) -> memoryview:
    """A copy of the bytes at `address`."""
    from ctypes import string_at

    return memoryview(string_at(address, length) if length else b"")


def whole(value: SupportsIndex, name: str) -> int:
    """`value`, which errors call `name`, as a number of 64 bits.

    Raises TypeError for what is no integer, and InvalidProblem beyond 64 bits.
    """
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{name} is {type(value).__name__}, not an integer") from None
    if not -(1 << 63) <= number < 1 << 63:
        raise InvalidProblem(f"{name} is {number}, beyond 64 bits")
    return number


def position(value: SupportsIndex, name: str) -> int:
    """An index, not negative. Raises TypeError and ValueError."""
    number = whole(value, name)
    if number < 0:
        raise ValueError(f"{name} is {number}, not an index")
    return number


def _of_array(values: array[int], from_array: bool) -> Int64:
    # While it is exported, the array cannot be resized.
    exported = memoryview(values)
    address, count = values.buffer_info()
    return Int64(address, count, exported, from_array)


def _of_numpy(values: Any, name: str) -> Int64:
    import numpy

    values = numpy.asarray(values)
    if values.ndim != 1:
        raise ValueError(f"{name} has the shape {values.shape}; it must have one dimension")
    if values.dtype != numpy.int64 or not values.flags.c_contiguous:
        if values.dtype.kind not in "iu":
            if values.dtype.kind != "O" and values.size:
                raise TypeError(f"{name} is an array of {values.dtype}, not of integers")
            return _of_list(values.tolist(), name, True)
        if values.dtype.kind == "u" and values.dtype.itemsize == 8 and values.size:
            worst = int(values.argmax())
            if int(values[worst]) >= 2**63:
                raise _too_large(name, worst, int(values[worst]))
        values = numpy.ascontiguousarray(values, dtype=numpy.int64)
    return Int64(values.__array_interface__["data"][0], values.size, values, True)


def _of_torch(values: Any, name: str) -> Int64:
    torch = sys.modules["torch"]
    if values.dim() != 1:
        raise ValueError(f"{name} has the shape {tuple(values.shape)}; it must have one dimension")
    if values.is_floating_point() or values.is_complex() or values.dtype == torch.bool:
        raise TypeError(f"{name} is a tensor of {values.dtype}, not of integers")
    if values.device.type != "cpu":
        raise TypeError(f"{name} is a tensor on {values.device}; call .cpu() first")
    values = values.detach().to(torch.int64).contiguous()
    return Int64(values.data_ptr(), values.numel(), values, True)


def _too_large(name: str, index: int, value: int) -> InvalidProblem:
    return InvalidProblem(
        f"{name}[{index}] is {value}, beyond 64 bits; sizes and steps go up to 2^60",
        "buffer",
        index,
    )


def _of_list(values: Iterable[Any], name: str, from_array: bool) -> Int64:
    if not isinstance(values, (list, tuple)):
        values = list(values)
    try:
        return _of_array(array("q", values), from_array)
    except (TypeError, OverflowError):
        for i, value in enumerate(values):  # Which one?
            try:
                array("q", [value])
            except TypeError:
                raise TypeError(f"{name}[{i}] is {value!r}, not an integer") from None
            except OverflowError:
                raise _too_large(name, i, value) from None
        raise


def _of_buffer(values: Any, name: str) -> Optional[Int64]:
    """By the buffer protocol; None if it has none."""
    try:
        view = memoryview(values)
    except TypeError:
        return None
    if view.ndim != 1:
        raise ValueError(f"{name} has {view.ndim} dimensions; it must have one")
    kind = view.format.lstrip("@=<")
    if kind not in tuple("bBhHiIlLqQnN"):
        raise TypeError(f"{name} is an array of the type {view.format!r}, not of integers")
    if kind in tuple("lqn") and view.itemsize == 8 and view.c_contiguous:
        copied = array("q")
        copied.frombytes(view.cast("B"))
        return _of_array(copied, True)
    return _of_list(view.tolist(), name, True)


def int64(values: IntArray, name: str) -> Int64:
    """`values`, which errors call `name`, as int64.

    Raises TypeError for what is not integers, ValueError for more than one dimension, and
    InvalidProblem for integers beyond 64 bits.
    """
    if isinstance(values, (list, tuple, range)):
        return _of_list(values, name, False)
    if isinstance(values, array) and values.typecode in "lq" and values.itemsize == 8:
        return _of_array(values, True)
    if type(values).__module__.partition(".")[0] == "torch":
        return _of_torch(values, name)
    if hasattr(values, "__array__"):
        return _of_numpy(values, name)
    found = None if isinstance(values, (str, bytes)) else _of_buffer(values, name)
    if found is not None:
        return found
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} is {type(values).__name__}, not a sequence of integers")
    return _of_list(values, name, False)


def each(values: Union[SupportsIndex, IntArray], count: int, name: str) -> Int64:
    """`values`, or `count` times the same number."""
    if hasattr(values, "__index__") and not getattr(values, "shape", None):
        number: Any = values
        return _of_array(array("q", [whole(number, name)]) * count, False)
    return int64(values, name)


def same_length(arrays: Sequence[Tuple[str, Int64]]) -> int:
    """Their common length. Raises ValueError, naming the first that differs."""
    first_name, first = arrays[0]
    for name, values in arrays[1:]:
        if values.count != first.count:
            raise ValueError(
                f"{name} has {values.count} values, but {first_name} has {first.count}"
            )
    return first.count


@functools.lru_cache(maxsize=None)
def _numpy() -> Any:
    """The package, or None: looking for one that is not installed takes longer than a search."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def column(data: memoryview, index: int, width: int, as_array: bool) -> Any:
    """Field `index` of records of `width` int64 each: an ndarray if asked for and numpy is
    installed, else a list."""
    numpy = _numpy() if as_array else None
    if numpy is not None:
        return numpy.frombuffer(data, dtype=numpy.int64)[index::width].copy()
    return data.cast("q")[index::width].tolist()

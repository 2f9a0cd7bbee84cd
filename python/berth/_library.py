"""libberth.so by ctypes: its structs, the signatures of its functions, and the owner of a handle.

The library is loaded when it is first used, so that berth.torch works without it. It is looked for
at $BERTH_LIBRARY, beside this file (where wheels have it), and where the system finds libraries.
ctypes releases the interpreter's lock during each call.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int8, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

# Of berth/berth.h: BERTH_ABI_VERSION.
ABI_VERSION = 5
NAME = "libberth.so.1"
NONE = ctypes.c_size_t(-1).value  # BERTH_NONE.


class Sized(ctypes.Structure):
    """A struct that begins with its size, as the library expects it."""

    def __init__(self) -> None:
        super().__init__()
        self.struct_size = ctypes.sizeof(self)

    def values(self) -> Dict[str, Any]:
        """The fields by name, without the size."""
        return {field[0]: getattr(self, field[0]) for field in self._fields_[1:]}


class Summary(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("outcome", c_int),
        ("stopped", c_int),
        ("has_plan", c_int32),
        ("addressed", c_int32),
        ("capacity", c_int64),
        ("height", c_int64),
        ("peak", c_int64),
        ("height_bound", c_int64),
        ("placement_bound", c_int64),
        ("peak_bound", c_int64),
        ("traffic_bound", c_int64),
        ("spilled", c_int64),
        ("retrieved", c_int64),
        ("compulsory_in", c_int64),
        ("compulsory_out", c_int64),
        ("program_order_peak", c_int64),
        ("least_memory", c_int64),
        ("least_operator", c_size_t),
        ("least_peak", c_int64),
        ("traffic_by_sum", c_int64),
        ("tensors", c_size_t),
        ("unsized", c_size_t),
        ("spills", c_int32),
        ("fixed_order", c_int32),
        ("nodes", c_int64),
        ("seconds", c_double),
    ]


class Search(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("outcome", c_int),
        ("stopped", c_int),
        ("algorithm", c_char_p),
        ("nodes", c_int64),
        ("seconds", c_double),
    ]


class ResidencyStruct(ctypes.Structure):
    """The only struct that comes in arrays: it never changes."""

    _fields_ = [
        ("tensor", c_int64),
        ("start", c_int64),
        ("end", c_int64),
        ("offset", c_int64),
        ("memory", c_int32),
        ("comes_in", c_int8),
        ("written_out", c_int8),
        ("reserved", c_int8 * 2),
    ]


class OptionInfo(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("default_value", c_char_p),
        ("allowed", c_char_p),
        ("sentence", c_char_p),
    ]


class ProgressStruct(ctypes.Structure):
    _fields_ = [
        ("best", c_int64),
        ("bound", c_int64),
        ("nodes", c_int64),
        ("seconds", c_double),
    ]


class BufferStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_char_p),
        ("start", c_int64),
        ("end", c_int64),
        ("size", c_int64),
        ("alignment", c_int64),
        ("pin", c_int64),
        ("hint", c_int64),
        ("gaps", c_size_t),
    ]


class GapStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("start", c_int64),
        ("end", c_int64),
        ("lower", c_int64),
        ("upper", c_int64),
    ]


class TensorStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("kind", c_int),
        ("is_output", c_int32),
        ("bytes", c_int64),
        ("alignment", c_int64),
        ("alias_of", c_size_t),
        ("unsized", c_char_p),
        ("dtype", c_char_p),
        ("shape", c_char_p),
    ]


class OperatorStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("type", c_char_p),
        ("inputs", POINTER(c_size_t)),
        ("input_count", c_size_t),
        ("outputs", POINTER(c_size_t)),
        ("output_count", c_size_t),
        ("mutates", POINTER(c_size_t)),
        ("mutate_count", c_size_t),
        ("after", POINTER(c_size_t)),
        ("after_count", c_size_t),
    ]


class DiffStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("height_before", c_int64),
        ("height_after", c_int64),
        ("peak_before", c_int64),
        ("peak_after", c_int64),
        ("traffic_before", c_int64),
        ("traffic_after", c_int64),
        ("added", c_size_t),
        ("removed", c_size_t),
        ("grown", c_size_t),
        ("shrunk", c_size_t),
        ("moved", c_size_t),
        ("retimed", c_size_t),
        ("unchanged", c_size_t),
        ("same_order", c_int32),
        ("same_cost_kind", c_int32),
        ("other_memory", c_size_t),
        ("unplaced_before", c_size_t),
        ("unplaced_after", c_size_t),
        ("cost_before", c_int64),
        ("cost_after", c_int64),
    ]


class ChangeStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_char_p),
        ("in_before", c_int32),
        ("in_after", c_int32),
        ("start_before", c_int64),
        ("start_after", c_int64),
        ("end_before", c_int64),
        ("end_after", c_int64),
        ("size_before", c_int64),
        ("size_after", c_int64),
        ("offset_before", c_int64),
        ("offset_after", c_int64),
        ("memory_before", c_char_p),
        ("memory_after", c_char_p),
    ]


class MemoryChangeStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("in_before", c_int32),
        ("in_after", c_int32),
        ("capacity_before", c_int64),
        ("capacity_after", c_int64),
        ("height_before", c_int64),
        ("height_after", c_int64),
        ("peak_before", c_int64),
        ("peak_after", c_int64),
    ]


class TransferStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("from_memory", c_char_p),
        ("to_memory", c_char_p),
        ("buffers", c_size_t),
        ("bytes", c_int64),
    ]


class ConflictStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("outcome", c_int),
        ("minimal", c_int32),
        ("pins_collide", c_int32),
        ("step", c_int64),
        ("load", c_int64),
        ("capacity", c_int64),
        ("short_by", c_int64),
        ("works_with", c_int64),
        ("height_bound", c_int64),
        ("nodes", c_int64),
        ("seconds", c_double),
    ]


class RemedyStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("title", c_char_p),
        ("detail", c_char_p),
        ("change", c_char_p),
        ("needs", c_int64),
        ("traffic", c_int64),
        ("fits", c_int32),
        ("proved", c_int32),
        ("estimated", c_int32),
        ("recompute_cost", c_int64),
        ("enlarges", c_int32),
    ]


class SweepPointStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("capacity", c_int64),
        ("outcome", c_int),
        ("avoidable", c_int64),
        ("spilled", c_int64),
        ("retrieved", c_int64),
        ("traffic_bound", c_int64),
        ("traffic_by_sum", c_int64),
        ("seconds", c_double),
        ("cost", c_int64),
        ("copy_cost", c_int64),
        ("cost_bound", c_int64),
        ("repeats", c_int64),
        ("of_run", c_int64),
        ("cost_unit", c_char_p),
    ]


class MemoriesStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("memories", c_size_t),
        ("capacities", c_void_p),
        ("alignments", c_void_p),
        ("reserved", c_void_p),
        ("reserved_count", c_size_t),
        ("costs", c_void_p),
        ("costs_left_out", c_void_p),
        ("previous_memories", c_void_p),
        ("previous_offsets", c_void_p),
        ("move_costs", c_void_p),
        ("groups", c_void_p),
        ("distances", c_void_p),
        ("apart", c_void_p),
        ("apart_count", c_size_t),
        ("apart_memories", c_void_p),
        ("names", c_void_p),
        ("bases", c_void_p),
        ("read_costs", c_void_p),
        ("read_bytes", c_void_p),
        ("write_costs", c_void_p),
        ("write_bytes", c_void_p),
        ("access_costs", c_void_p),
        ("bytes_read", c_void_p),
        ("bytes_written", c_void_p),
        ("accesses", c_void_p),
        ("places", c_void_p),
        ("place_count", c_size_t),
    ]


class DisplacedStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("buffers", c_void_p),
        ("buffer_count", c_size_t),
        ("start", c_int64),
        ("end", c_int64),
        ("memory", c_size_t),
        ("cheaper", c_size_t),
        ("cost", c_int64),
        ("least", c_int64),
        ("must", c_int32),
        ("obstacle", c_int),
        ("has_step", c_int32),
        ("step", c_int64),
        ("free", c_int64),
        ("needed", c_int64),
        ("offset", c_int64),
        ("in_the_way", c_void_p),
        ("in_the_way_count", c_size_t),
        ("saved", c_int64),
    ]


class MemoryPointStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("capacity", c_int64),
        ("outcome", c_int),
        ("unplaced", c_size_t),
        ("unplaced_bound", c_size_t),
        ("cost", c_int64),
        ("cost_bound", c_int64),
        ("copies", c_size_t),
        ("seconds", c_double),
        ("cost_unit", c_char_p),
    ]


class MemoriesSummary(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("outcome", c_int),
        ("stopped", c_int),
        ("unplaced", c_size_t),
        ("unplaced_bound", c_size_t),
        ("cost", c_int64),
        ("cost_bound", c_int64),
        ("moved", c_int64),
        ("nodes", c_int64),
        ("seconds", c_double),
    ]


class RecomputedStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("operators", c_size_t),
        ("cost", c_int64),
        ("copies", c_int64),
        ("bound", c_int64),
        ("of_run", c_int64),
        ("unit", c_char_p),
    ]


class CopyStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("tensor", c_size_t),
        ("from_memory", c_size_t),
        ("to_memory", c_size_t),
        ("start", c_int64),
        ("before", c_int64),
        ("bytes", c_int64),
        ("cost", c_int64),
        ("begins", c_int64),
        ("ends", c_int64),
    ]


class RunStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("time", c_int64),
        ("computing", c_int64),
        ("accessing", c_int64),
        ("stalled", c_int64),
    ]


class OffChipSummary(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("time", c_int64),
        ("computing", c_int64),
        ("copying", c_int64),
        ("stalled", c_int64),
        ("avoidable_pj", c_double),
        ("compulsory_pj", c_double),
    ]


class OffChipCopyStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("residency", c_size_t),
        ("out", c_int32),
        ("avoidable", c_int32),
        ("after", c_int64),
        ("before", c_int64),
        ("begins", c_int64),
        ("ends", c_int64),
    ]


class IntervalStruct(ctypes.Structure):
    _fields_ = [("begins", c_int64), ("ends", c_int64)]


class ProofStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("missing", c_int),
        ("nodes", c_int64),
        ("seconds", c_double),
    ]


class MemoryStruct(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("capacity", c_int64),
        ("height", c_int64),
        ("peak", c_int64),
    ]


ProgressFunction = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(ProgressStruct))

# Of each function: what it returns, then its arguments. Handles, texts with a length, and arrays
# are addresses; h: handle or array, *: where a result goes, s: text, z: size_t, i: int,
# b: int64_t, v: nothing. A last letter e stands for `berth_error** error`.
_CODES: Dict[str, Any] = {
    "h": c_void_p,
    "*": c_void_p,
    "s": c_char_p,
    "z": c_size_t,
    "i": c_int,
    "b": c_int64,
    "v": None,
    "e": c_void_p,
}
_SIGNATURES = {
    "berth_abi_version": "i",
    "berth_version_string": "s",
    "berth_error_free": "vh",
    "berth_error_message": "sh",
    "berth_error_status": "ih",
    "berth_error_subject": "ih",
    "berth_error_index": "zh",
    "berth_status_name": "si",
    "berth_text_free": "vh",
    "berth_text_data": "hh",
    "berth_text_length": "zh",
    "berth_outcome_name": "si",
    "berth_stop_name": "si",
    "berth_options_new": "h",
    "berth_options_free": "vh",
    "berth_options_set": "ihsse",
    "berth_options_get": "ihs*e",
    "berth_options_set_order": "ihhze",
    "berth_option_count": "z",
    "berth_option_at": "iz*e",
    "berth_options_set_progress": "vhhh",
    "berth_canceller_new": "h",
    "berth_canceller_free": "vh",
    "berth_options_set_canceller": "vhh",
    "berth_cancel": "vh",
    "berth_check": "izhhhhhhe",
    "berth_problem_new": "h",
    "berth_problem_free": "vh",
    "berth_problem_read": "ish*e",
    "berth_problem_parse": "ihzsh*e",
    "berth_problem_names": "ihzs*e",
    "berth_problem_add": "ihsbbbb*e",
    "berth_problem_add_arrays": "ihzhhhhhe",
    "berth_problem_pin": "ihzbe",
    "berth_problem_hint": "ihzbe",
    "berth_problem_add_gap": "ihzbbbbe",
    "berth_problem_colocate": "ihhh*hhe",
    "berth_problem_count": "zh",
    "berth_problem_buffer": "ihz*e",
    "berth_problem_gap": "ihzz*e",
    "berth_problem_to_csv": "ihh*e",
    "berth_place_in_memories": "ihhhhhhe",
    "berth_repack": "ihhhhhhe",
    "berth_obstacle_name": "si",
    "berth_find_displaced": "ihhhhz*e",
    "berth_displacements_free": "vh",
    "berth_displacements_count": "zh",
    "berth_displacements_at": "ihz*e",
    "berth_graph_read": "ish*e",
    "berth_graph_parse": "ihzsh*e",
    "berth_graph_new": "hs",
    "berth_graph_free": "vh",
    "berth_graph_add_tensor": "ihsibbzi*e",
    "berth_graph_describe_tensor": "ihzsse",
    "berth_graph_add_operator": "ihsshzhz*e",
    "berth_graph_add_mutation": "ihzze",
    "berth_graph_add_dependency": "ihzze",
    "berth_graph_add_overwrite": "ihzzze",
    "berth_graph_set_cost": "ihzbe",
    "berth_graph_set_cost_unit": "ihse",
    "berth_graph_set_repeat": "ihzie",
    "berth_graph_apply": "ihh*e",
    "berth_graph_validate": "ihe",
    "berth_graph_name": "sh",
    "berth_graph_tensor_count": "zh",
    "berth_graph_operator_count": "zh",
    "berth_graph_tensor": "ihz*e",
    "berth_graph_operator": "ihz*e",
    "berth_graph_note_count": "zh",
    "berth_graph_note": "shz",
    "berth_graph_open_dimension_count": "zh",
    "berth_graph_open_dimension": "shz",
    "berth_graph_to_json": "ih*e",
    "berth_plan_free": "vh",
    "berth_place_problem": "ihh*e",
    "berth_schedule_graph": "ihh*e",
    "berth_plan_graph": "ihh*e",
    "berth_plan_summary": "ih*e",
    "berth_plan_memories": "ih*e",
    "berth_plan_recomputed": "ih*e",
    "berth_plan_copy_count": "zh",
    "berth_plan_copy": "ihz*e",
    "berth_plan_run": "ih*e",
    "berth_plan_displaced": "ihz*e",
    "berth_plan_memory_count": "zh",
    "berth_plan_memory": "ihz*e",
    "berth_plan_search": "ihi*e",
    "berth_plan_residencies": "hh*",
    "berth_plan_order": "hh*",
    "berth_plan_validate": "ihe",
    "berth_plan_to_json": "ih*e",
    "berth_plan_to_csv": "ih*e",
    "berth_plan_to_page": "ihh*e",
    "berth_plan_to_svg": "ih*e",
    "berth_plan_to_trace": "ih*e",
    "berth_plan_to_model": "ihhz*e",
    "berth_plan_parse_problem": "ihhzs*e",
    "berth_plan_parse_graph": "ihhzs*e",
    "berth_compare_plans": "ihzshzs*e",
    "berth_compare_plans_in_memories": "ihzshzsh*e",
    "berth_comparison_free": "vh",
    "berth_comparison_summary": "ih*e",
    "berth_comparison_change_count": "zh",
    "berth_comparison_change": "ihz*e",
    "berth_comparison_memory_count": "zh",
    "berth_comparison_memory": "ihz*e",
    "berth_comparison_transfer_count": "zh",
    "berth_comparison_transfer": "ihz*e",
    "berth_comparison_to_page": "ih*e",
    "berth_explain_problem": "ihh*hz*e",
    "berth_advise_plan": "ihh*e",
    "berth_advise_model": "ihhzh*e",
    "berth_advice_free": "vh",
    "berth_advice_count": "zh",
    "berth_advice_remedy": "ihz*e",
    "berth_sweep_graph": "ihh*e",
    "berth_sweep_free": "vh",
    "berth_sweep_count": "zh",
    "berth_sweep_at": "ihz*e",
    "berth_sweep_to_csv": "ih*e",
    "berth_sweep_to_page": "ih*e",
    "berth_sweep_memory": "ihhs*e",
    "berth_memory_sweep_free": "vh",
    "berth_memory_sweep_count": "zh",
    "berth_memory_sweep_memory_count": "zh",
    "berth_memory_sweep_at": "ihz*e",
    "berth_memory_sweep_use": "ihzz*e",
    "berth_memory_sweep_to_csv": "ih*e",
    "berth_memory_sweep_to_page": "ih*e",
    "berth_run_off_chip": "ih*e",
    "berth_off_chip_run_free": "vh",
    "berth_off_chip_run_summary": "ih*e",
    "berth_off_chip_run_copy_count": "zh",
    "berth_off_chip_run_copy": "ihz*e",
    "berth_off_chip_run_operators": "hh*",
    "berth_no_proof_name": "si",
    "berth_prove_plan": "ihh**e",
}


def _load() -> ctypes.CDLL:
    chosen = os.environ.get("BERTH_LIBRARY")
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), NAME)
    place = chosen or (beside if os.path.exists(beside) else NAME)
    try:
        return ctypes.CDLL(place)
    except OSError as error:
        hint = "$BERTH_LIBRARY names it" if chosen else "it is part of Berth's wheel: pip install ."
        raise ImportError(f"Berth's library cannot be loaded ({hint}): {error}") from None


class _Library:
    """The functions of the library as attributes. Loads it with the first one."""

    def __getattr__(self, name: str) -> Any:
        if name not in _SIGNATURES:
            raise AttributeError(name)
        # Two threads may both come here: they set the same attributes.
        library = _load()
        functions: Dict[str, Any] = {}
        for function, codes in _SIGNATURES.items():
            try:
                found = getattr(library, function)
            except AttributeError:
                raise ImportError(
                    f"{library._name} has no {function}(): it is not of this version of Berth"
                ) from None
            found.restype = _CODES[codes[0]]
            found.argtypes = [_CODES[code] for code in codes[1:]]
            functions[function] = found
        version = functions["berth_abi_version"]()
        if version < ABI_VERSION:
            raise ImportError(
                f"{library._name} has version {version} of the interface, not {ABI_VERSION}"
            )
        self.__dict__.update(functions)
        return functions[name]


lib = _Library()


class Handle:
    """Owns what the library created, and frees it."""

    __slots__ = ("pointer", "_free")

    def __init__(self, pointer: Optional[int], free: Callable[[int], None]) -> None:
        if not pointer:
            raise MemoryError("Berth could not allocate memory")
        self.pointer = pointer
        self._free = free

    def __del__(self) -> None:
        pointer = getattr(self, "pointer", None)
        if pointer:
            self._free(pointer)


def text(value: Optional[bytes]) -> str:
    """A text of the library. It is UTF-8; names in foreign files may be anything."""
    return (value or b"").decode("utf-8", "replace")


def encoded(value: str) -> bytes:
    """A text for the library, which ends at a 0 byte."""
    if "\0" in value:
        raise ValueError(f"{value!r} contains a 0 byte")
    return value.encode("utf-8", "surrogateescape")


def indices(values: Sequence[int]) -> Tuple[Any, int]:
    """(an array of size_t, its length)."""
    try:
        return (c_size_t * len(values))(*values), len(values)
    except TypeError:
        raise TypeError(f"indices must be integers: {list(values)[:8]!r}") from None

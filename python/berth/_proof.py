"""Proofs of placements and orders, for a checker that does not trust Berth."""

from __future__ import annotations

import ctypes
from typing import NamedTuple, Optional, Union

from berth._answer import Path
from berth._library import ProofStruct, lib, text
from berth._search import OptionsHandle, ProgressCallback, search, write


class Proof(NamedTuple):
    """Why no placement or order is lower, or none fits: a text that `berth-check-proof` checks
    (docs/algorithms/proofs.md).

    text: None where there is no proof; what was proved stays true.
    missing: why there is none: "budget" (time or nodes ended first), "interrupted", "memory", "size" (too
        many buffers meet, or there are too many operators), "algorithm" (no search that can log its steps decides it); else None.
    nodes: of the searches that logged their steps; 0 where a bound is enough. seconds: wall clock.
    """

    text: Optional[str]
    missing: Optional[str]
    nodes: int
    seconds: float

    def save(self, path: Path) -> None:
        """Writes the text. Raises ValueError where there is none, OSError if the file cannot be written."""
        if self.text is None:
            raise ValueError(f"there is no proof: {self.missing}")
        write(path, self.text.encode("utf-8"))


def prove(
    plan: int,
    options: OptionsHandle,
    time_limit: Optional[Union[float, str]],
    progress: Union[ProgressCallback, bool, None],
) -> Proof:
    """The proof of a plan that the library holds."""
    found, result = ProofStruct(), ctypes.c_void_p()

    def proof() -> Proof:
        missing = text(lib.berth_no_proof_name(found.missing)) if found.missing else None
        if not result.value:
            return Proof(None, missing, found.nodes, found.seconds)
        try:
            content = ctypes.string_at(
                lib.berth_text_data(result), lib.berth_text_length(result)
            ).decode("utf-8")
        finally:
            lib.berth_text_free(result)
        return Proof(content, missing, found.nodes, found.seconds)

    return search(
        options,
        progress,
        time_limit,
        lambda slot: int(
            lib.berth_prove_plan(
                plan, options.pointer, ctypes.byref(found), ctypes.byref(result), slot
            )
        ),
        proof,
    )

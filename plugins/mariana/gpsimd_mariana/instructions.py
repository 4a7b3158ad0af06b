"""The instructions that mariana and mariana_plus take from the library, one row each."""

from __future__ import annotations

from gpsimd_core.isa.ops.dve_read_accumulator import DVE_READ_ACCUMULATOR
from gpsimd_core.isa.ops.select_reduce import SELECT_REDUCE
from gpsimd_core.values import Instruction

__all__ = ["INSTRUCTIONS"]

INSTRUCTIONS: tuple[Instruction, ...] = (
    DVE_READ_ACCUMULATOR,
    SELECT_REDUCE,
)

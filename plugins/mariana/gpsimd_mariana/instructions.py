"""The instructions that mariana and mariana_plus take from the library, one row each."""

from __future__ import annotations

from gpsimd_core.values import Instruction

__all__ = ["INSTRUCTIONS"]

INSTRUCTIONS: tuple[Instruction, ...] = ()

"""The instructions that cayman takes from the library, one row each."""

from __future__ import annotations

from gpsimd_core.values import Instruction

__all__ = ["INSTRUCTIONS"]

INSTRUCTIONS: tuple[Instruction, ...] = ()

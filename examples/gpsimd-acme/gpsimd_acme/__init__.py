"""Acme's plugins for gpsimd: `acme` adds the opcode 0xF5, `acme_plain` replaces the kernel of 0xEA when asked to."""

from __future__ import annotations

from collections.abc import Iterable

from gpsimd_core.hookspecs import hookimpl
from gpsimd_core.values import Generation, Instruction, Policy

__all__ = ["acme", "acme_plain"]


class Acme:
    """Adds an instruction and a policy, on every generation."""

    GPSIMD_API = 1

    @hookimpl
    def gpsimd_execute(self, gen: Generation) -> Iterable[Instruction]:
        """The opcode 0xF5: the instruction brings its encoding and its engine."""
        from gpsimd_acme.clamp import CLAMP_COUNT

        return [CLAMP_COUNT]

    @hookimpl
    def gpsimd_policies(self) -> Iterable[Policy]:
        """What a NaN becomes."""
        from gpsimd_acme.clamp import CLAMP_NAN

        return [CLAMP_NAN]


class AcmePlain:
    """Computes select_reduce by numpy, whichever generation it belongs to."""

    GPSIMD_API = 1
    GPSIMD_ON_REQUEST = True

    @hookimpl
    def gpsimd_execute(self, gen: Generation) -> Iterable[Instruction]:
        """The instruction of the library with another kernel; its rules and layout stay."""
        from gpsimd_acme.plain import PLAIN_SELECT_REDUCE

        return [PLAIN_SELECT_REDUCE]


acme = Acme()
acme_plain = AcmePlain()

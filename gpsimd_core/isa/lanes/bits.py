"""Bit patterns as integers: what every integer leaf is made of.

Patterns of up to 64 bits travel in a signed 64-bit integer (compiled) or a Python integer (slow twin). Whoever stores a
result takes it modulo its width, so the sign of the carrier never matters; a lane that compares or shifts right reads
its operands with `signed` or `unsigned` first. Longer patterns travel as rows of 32-bit words, low word first.
"""

from __future__ import annotations

from gpsimd_core.isa.lane import lane

__all__ = ["clamp", "field", "mask", "signed", "unsigned"]


@lane
def mask(width: int) -> int:
    """`width` one-bits, for widths 1 to 64; two shifts, because a shift by 64 has no value when compiled."""
    return ((1 << (width - 1)) << 1) - 1


@lane
def unsigned(x: int, width: int) -> int:
    """The low `width` bits as a number from 0 on (at 64 bits the compiled carrier stays signed: do not compare it)."""
    return x & mask(width)


@lane
def signed(x: int, width: int) -> int:
    """The low `width` bits as a two's-complement number."""
    top = 1 << (width - 1)
    return ((x & mask(width)) ^ top) - top


@lane
def clamp(x: int, low: int, high: int) -> int:
    """`x` limited to [low, high]."""
    return min(max(x, low), high)


@lane
def field(truth: int, width: int) -> int:
    """A predicate field: every bit carries the truth value, so that any consumer may look at the lowest one."""
    return mask(width) if truth else 0

"""Picking lanes: one for all, one each out of one or two registers, and compression under a predicate.

A lane of a register result is a function of its index; control lanes and amounts wrap at the number of candidates,
which is a power of two.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.predicate import test_bit

__all__ = ["byte_pair", "compress", "extract", "low_byte_pair", "replicate", "rotate", "select", "shuffle"]


@lane
def extract(v: Sequence[int], k: int) -> int:
    """Lane `k`."""
    return v[k & (len(v) - 1)]


@lane
def replicate(index: int, v: Sequence[int], k: int) -> int:
    """Every lane is lane `k`."""
    return extract(v, k)


@lane
def shuffle(index: int, a: Sequence[int], ctrl: Sequence[int]) -> int:
    """Lane ctrl[index] of one register."""
    return extract(a, ctrl[index])


@lane
def select(index: int, a: Sequence[int], b: Sequence[int], ctrl: Sequence[int]) -> int:
    """Lane ctrl[index] of a pool of two registers, the second source in its lower half."""
    lanes = len(a)
    pick = ctrl[index] & (2 * lanes - 1)
    return b[pick] if pick < lanes else a[pick - lanes]


@lane
def compress(index: int, a: Sequence[int], keep: int) -> int:
    """A kept lane takes source lane number `kept lanes below it`; any other takes the last source lane."""
    lanes = len(a)
    if not test_bit(keep, index, lanes):
        return a[lanes - 1]
    below = 0
    for other in range(index):
        below += test_bit(keep, other, lanes)
    return a[below]


@lane
def rotate(index: int, v: Sequence[int], amount: int) -> int:
    """Closed rotation of the lanes: lane (index + amount) modulo the lane count, no fill."""
    return extract(v, index + amount)


@lane
def byte_pair(a: int) -> int:
    """(a << 8) OR a, without masking the operand."""
    return (a << 8) | a


@lane
def low_byte_pair(a: int) -> int:
    """The low byte in both halves of a halfword."""
    return byte_pair(a & 0xFF)

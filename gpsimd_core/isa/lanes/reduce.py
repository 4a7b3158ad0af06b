"""Cross-lane folds: sums, extrema, and extrema with the whole set of lanes that hold them.

A fold takes one register as a sequence of lanes and a predicate word `keep`; a lane that is not kept does not exist.
With no lane left an integer fold gives its identity and the winner set is empty.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.bits import mask
from gpsimd_core.isa.lanes.integer import number, saturate
from gpsimd_core.isa.lanes.predicate import lane_field, test_bit

__all__ = [
    "extremum",
    "extremum_kept",
    "extremum_step",
    "extremum_winners",
    "total",
    "total_kept",
    "total_saturating",
]

ALL_LANES = -1  # the predicate word in which every lane is kept


@lane
def total_kept(v: Sequence[int], keep: int, width: int, sign: int) -> int:
    """Exact sum of the kept lanes after sign or zero extension; the result's width decides whether it wraps."""
    acc = 0
    for index in range(len(v)):
        acc += number(v[index], width, sign) * test_bit(keep, index, len(v))
    return acc


@lane
def total(v: Sequence[int], width: int, sign: int) -> int:
    """Exact sum of all lanes. Integer addition is associative, so the order of the fold cannot show."""
    acc = 0
    for index in range(len(v)):
        acc += number(v[index], width, sign)
    return acc


@lane
def total_saturating(v: Sequence[int], width: int) -> int:
    """The exact sum clamped once, after the last lane, to the lane's signed range."""
    return saturate(total(v, width, 1), width)


@lane
def _identity(width: int, sign: int, largest: int) -> int:
    """What no lane can lose against: the least number for a maximum, the greatest for a minimum."""
    if largest:
        return -(1 << (width - 1)) if sign else 0
    return mask(width - 1) if sign else mask(width)


@lane
def extremum_kept(v: Sequence[int], keep: int, width: int, sign: int, largest: int) -> int:
    """Largest (or smallest) kept lane, as signed or unsigned numbers."""
    best = _identity(width, sign, largest)
    for index in range(len(v)):
        if test_bit(keep, index, len(v)):
            x = number(v[index], width, sign)
            best = max(best, x) if largest else min(best, x)
    return best


@lane
def extremum(v: Sequence[int], width: int, sign: int, largest: int) -> int:
    """Largest (or smallest) lane."""
    return extremum_kept(v, ALL_LANES, width, sign, largest)


@lane
def _fold(best: int, winners: int, x: int, flag: int, width: int, sign: int, largest: int) -> tuple[int, int]:
    challenger, champion = number(x, width, sign), number(best, width, sign)
    if challenger == champion:
        return winners | flag, best
    if (challenger > champion) == (largest != 0):
        return flag, x
    return winners, best


@lane
def extremum_step(
    best: int, winners: int, x: int, position: int, width: int, sign: int, largest: int
) -> tuple[int, int]:
    """One step of the fold with its tie set: (winners, best).

    Strictly better replaces both, equal adds bit `position` to the set, worse changes nothing.
    """
    return _fold(best, winners, x, 1 << (position & 63), width, sign, largest)


@lane
def extremum_winners(v: Sequence[int], width: int, sign: int, largest: int) -> tuple[int, int]:
    """(winners, best) over all lanes; the set holds every lane that ties with the best, not one of them."""
    best, winners = v[0], lane_field(0, len(v))
    for index in range(1, len(v)):
        winners, best = _fold(best, winners, v[index], lane_field(index, len(v)), width, sign, largest)
    return winners, best

"""Predicate words: one field of 64 / lanes bits per lane, written whole, read at its lowest bit."""

from __future__ import annotations

from collections.abc import Sequence

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.bits import field, mask, signed, unsigned

__all__ = [
    "all_true",
    "and_",
    "and_not",
    "any_bank",
    "any_true",
    "concatenate",
    "dense_status",
    "extract_bit",
    "first_lanes",
    "first_lanes_signed",
    "inject_bit",
    "is_negative",
    "is_nonnegative",
    "is_nonzero",
    "is_zero",
    "kill_mask",
    "lane_field",
    "merge",
    "no_bank",
    "not_",
    "or_",
    "or_not",
    "population",
    "repeat_bit",
    "test_bit",
    "xor_",
]


@lane
def test_bit(word: int, index: int, lanes: int) -> int:
    """The predicate of lane `index`: the lowest bit of its field."""
    return (word >> (index * (64 // lanes))) & 1


@lane
def lane_field(index: int, lanes: int) -> int:
    """The word in which lane `index` alone is true."""
    width = 64 // lanes
    return mask(width) << (index * width)


@lane
def first_lanes(count: int, lanes: int) -> int:
    """True below `count`, which counts modulo the lane count: as many as there are lanes is none."""
    word = 0
    for index in range(count & (lanes - 1)):
        word |= lane_field(index, lanes)
    return word


@lane
def first_lanes_signed(count: int, lanes: int) -> int:
    """True below a signed 32-bit count of which six bits are looked at; a negative count is none."""
    word = 0
    if signed(count, 32) > 0:
        for index in range(min(count & 63, lanes)):
            word |= lane_field(index, lanes)
    return word


@lane
def all_true(word: int, lanes: int) -> int:
    """AND over the lane predicates."""
    truth = 1
    for index in range(lanes):
        truth &= test_bit(word, index, lanes)
    return truth


@lane
def any_true(word: int, lanes: int) -> int:
    """OR over the lane predicates."""
    truth = 0
    for index in range(lanes):
        truth |= test_bit(word, index, lanes)
    return truth


@lane
def kill_mask(predicate: int, width: int, killing: int) -> int:
    """All ones where the write-back keeps the old destination: where the predicate equals `killing`."""
    return field((predicate & 1) == killing, width)


@lane
def merge(fresh: int, old: int, kill: int) -> int:
    """The write-back of a predicated form: killed bits keep the old destination, nothing is zero-filled."""
    return (fresh & ~kill) | (old & kill)


@lane
def concatenate(fields: Sequence[int], width: int) -> int:
    """Lane fields side by side, lane 0 lowest."""
    word = 0
    for index in range(len(fields)):
        word |= unsigned(fields[index], width) << (index * width)
    return word


@lane
def and_(a: int, b: int) -> int:
    return a & b


@lane
def or_(a: int, b: int) -> int:
    return a | b


@lane
def xor_(a: int, b: int) -> int:
    return a ^ b


@lane
def and_not(a: int, b: int) -> int:
    return a & ~b


@lane
def or_not(a: int, b: int) -> int:
    return a | ~b


@lane
def not_(a: int) -> int:
    return ~a


@lane
def repeat_bit(a: int, width: int) -> int:
    """Bit 0 in every bit of a field."""
    return field(a & 1, width)


@lane
def extract_bit(source: int, index: int, width: int) -> int:
    """Bit `index` of a predicate word, repeated over a field of `width` bits."""
    return field((source >> index) & 1, width)


@lane
def inject_bit(source: int, bit: int, index: int, width: int) -> int:
    """`source` with one bit overwritten by the low bit of `bit`; the index wraps at the width."""
    place = index & (width - 1)
    return (source & ~(1 << place)) | ((bit & 1) << place)


@lane
def population(a: int, width: int) -> int:
    """Number of ones among the low `width` bits."""
    count = 0
    for index in range(width):
        count += (a >> index) & 1
    return count


@lane
def any_bank(banks: Sequence[int]) -> int:
    """OR over the flag banks."""
    word = 0
    for index in range(len(banks)):
        word |= banks[index]
    return word


@lane
def no_bank(banks: Sequence[int]) -> int:
    """Complement of the OR over the flag banks."""
    return ~any_bank(banks)


@lane
def dense_status(word: int) -> int:
    """Status and control bits without the holes: bits 2 to 6, then bits 8 to 14."""
    return ((word >> 2) & 0x1F) | (((word >> 8) & 0x7F) << 5)


@lane
def is_zero(ar: int) -> int:
    return int(signed(ar, 32) == 0)


@lane
def is_nonzero(ar: int) -> int:
    return int(signed(ar, 32) != 0)


@lane
def is_nonnegative(ar: int) -> int:
    return int(signed(ar, 32) >= 0)


@lane
def is_negative(ar: int) -> int:
    return int(signed(ar, 32) < 0)

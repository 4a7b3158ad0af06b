"""First approximations for Newton sequences, out of two tables of 128 bytes.

An argument is taken as +-1.f x 2^e after its subnormals are normalised. The tables are indexed by the top seven
fraction bits, or by the lowest exponent bit and the top six.
"""

from __future__ import annotations

import math

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.bits import mask
from gpsimd_core.isa.lanes.compare import exponent_of_infinity, fraction_bits, infinity, is_nan, sign_bit

__all__ = [
    "RECIPROCAL",
    "ROOT",
    "divide_seed",
    "is_positive_finite",
    "is_root_argument",
    "reciprocal_seed",
    "root_seed",
    "square_root_seed",
]


def _reciprocal_table() -> tuple[int, ...]:
    """round(256 / (1 + (i + 1/2) / 128)), with the published exception at 127."""
    table = [(256 * 512 + (257 + 2 * i)) // (2 * (257 + 2 * i)) for i in range(128)]
    table[127] = 0x81
    return tuple(table)


def _root_table() -> tuple[int, ...]:
    """round(256 / sqrt(x)) for 64 arguments from 2 on and 64 from 1 on, with the published exception at 13."""

    def entry(numerator: int) -> int:  # x = numerator / 128; floor(y + 1/2) = floor((floor(2 y) + 1) / 2)
        return (math.isqrt(512 * 512 * 128 // numerator) + 1) // 2

    table = [entry(2 * (129 + 2 * j)) for j in range(64)] + [entry(129 + 2 * j) for j in range(64)]
    table[13] = 0xA5
    return tuple(table)


RECIPROCAL = _reciprocal_table()
ROOT = _root_table()


@lane
def is_positive_finite(x: int, width: int) -> bool:
    """What `square_root_seed` and `divide_seed` have published values for."""
    return 0 < x < infinity(width)


@lane
def is_root_argument(x: int, width: int) -> bool:
    """What `root_seed` has published values for: +0, +infinity and every finite number that is not zero."""
    magnitude = x & (sign_bit(width) - 1)
    return x in (0, infinity(width)) or 0 < magnitude < infinity(width)


@lane
def _split(x: int, width: int) -> tuple[int, int]:
    """(e, fraction) of a finite non-zero number."""
    fraction = fraction_bits(width)
    bias = exponent_of_infinity(width) >> 1
    exponent, rest = (x >> fraction) & exponent_of_infinity(width), x & mask(fraction)
    if exponent == 0:
        exponent = 1
        while rest >> fraction == 0:
            rest <<= 1
            exponent -= 1
        rest &= mask(fraction)
    return exponent - bias, rest


@lane
def _join(entry: int, scale: int, width: int) -> int:
    """entry / 256 x 2^scale for a table entry of 128 to 255: exact, subnormal or infinity."""
    fraction = fraction_bits(width)
    exponent = scale - 1 + (exponent_of_infinity(width) >> 1)
    significand = entry << (fraction - 7)
    if exponent >= exponent_of_infinity(width):
        return infinity(width)
    if exponent <= 0:
        return significand >> (1 - exponent)
    return (exponent << fraction) | (significand & mask(fraction))


@lane
def reciprocal_seed(x: int, width: int) -> int:
    """About 1 / x; zero gives infinity and infinity zero, by sign; a NaN shows the table entry in its fraction."""
    sign = x & sign_bit(width)
    magnitude = x ^ sign
    index = (x & mask(fraction_bits(width))) >> (fraction_bits(width) - 7)
    if magnitude == 0:
        return sign | infinity(width)
    if magnitude == infinity(width):
        return sign
    if is_nan(x, width):
        return sign | infinity(width) | ((RECIPROCAL[index] << (fraction_bits(width) - 8)) & mask(fraction_bits(width)))
    exponent, rest = _split(magnitude, width)
    return sign | _join(RECIPROCAL[rest >> (fraction_bits(width) - 7)], -exponent, width)


@lane
def _root_entry(exponent: int, rest: int, width: int) -> int:
    """The root table at an exponent and a fraction: an odd exponent stands for an argument of 2 to 4."""
    parity = 1 - (exponent & 1)
    return ROOT[parity * 64 + (rest >> (fraction_bits(width) - 6))]


@lane
def root_seed(x: int, width: int) -> int:
    """About 1 / sqrt(x); +0 gives infinity, +infinity zero, a negative number a NaN that shows the table entry."""
    if x == 0:
        return infinity(width)
    if x == infinity(width):
        return 0
    exponent, rest = _split(x & (sign_bit(width) - 1), width)
    entry = _root_entry(exponent, rest, width)
    if x & sign_bit(width):
        return sign_bit(width) | infinity(width) | ((entry & 0x7F) << (fraction_bits(width) - 7))
    return _join(entry, -(exponent >> 1), width)


@lane
def square_root_seed(x: int, width: int) -> int:
    """The table entry alone, as a number of [1/2, 1)."""
    exponent, rest = _split(x, width)
    return _join(_root_entry(exponent, rest, width), 0, width)


@lane
def divide_seed(x: int, width: int) -> int:
    """The reciprocal of the fraction, halved where the exponent is odd."""
    exponent, rest = _split(x, width)
    return _join(RECIPROCAL[rest >> (fraction_bits(width) - 7)], -(exponent & 1), width)

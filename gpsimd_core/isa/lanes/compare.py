"""Floating lanes that only look at bit patterns: comparison, classification, extremum, sign and exponent moves.

`width` is 16 (IEEE binary16) or 32 (binary32). No lane here rounds anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.bits import field, mask
from gpsimd_core.isa.lanes.predicate import lane_field, test_bit

__all__ = [
    "EQUAL",
    "GREATER",
    "LESS",
    "UNORDERED",
    "add_exponents",
    "canonical_nan",
    "classify",
    "clear_sign",
    "compare",
    "compare_kept",
    "exponent_of_infinity",
    "flip_sign",
    "float_extremum",
    "fraction_bits",
    "infinity",
    "is_nan",
    "is_signalling",
    "number_extremum",
    "number_fold",
    "number_fold_kept",
    "number_fold_winners",
    "number_fold_winners_kept",
    "quieted",
    "sign_bit",
]

LESS, EQUAL, GREATER, UNORDERED = 1, 2, 4, 8
ALL_LANES = -1


@lane
def fraction_bits(width: int) -> int:
    return 10 if width == 16 else 23


@lane
def exponent_of_infinity(width: int) -> int:
    """The exponent field of infinity and NaN; half of it, rounded down, is the bias."""
    return 31 if width == 16 else 255


@lane
def infinity(width: int) -> int:
    return exponent_of_infinity(width) << fraction_bits(width)


@lane
def sign_bit(width: int) -> int:
    return 1 << (width - 1)


@lane
def canonical_nan(width: int) -> int:
    return quieted(infinity(width), width)


@lane
def quieted(x: int, width: int) -> int:
    """`x` with the quiet bit, the top fraction bit, set; sign and payload stay."""
    return x | (1 << (fraction_bits(width) - 1))


@lane
def is_nan(x: int, width: int) -> int:
    return int((x & (sign_bit(width) - 1)) > infinity(width))


@lane
def is_signalling(x: int, width: int) -> int:
    return is_nan(x, width) & int(quieted(x, width) != x)


@lane
def _key(x: int, width: int) -> int:
    """A number that orders the patterns as their values, -0 below +0."""
    magnitude = x & (sign_bit(width) - 1)
    return -1 - magnitude if x & sign_bit(width) else magnitude


@lane
def _relation(a: int, b: int, width: int) -> int:
    """LESS, EQUAL, GREATER or UNORDERED; zeros of either sign are equal."""
    if is_nan(a, width) or is_nan(b, width):
        return UNORDERED
    both_zero = ((a | b) & (sign_bit(width) - 1)) == 0
    if a == b or both_zero:
        return EQUAL
    return LESS if _key(a, width) < _key(b, width) else GREATER


@lane
def compare(a: int, b: int, width: int, bits: int, outcomes: int, signals: int) -> tuple[int, int]:
    """(invalid, field): true where the relation of `a` to `b` is one of `outcomes`.

    Invalid comes from a signalling NaN, and with `signals` from any NaN.
    """
    relation = _relation(a, b, width)
    invalid = is_signalling(a, width) | is_signalling(b, width)
    if signals and relation == UNORDERED:
        invalid = 1
    return invalid, field(relation & outcomes, bits)


@lane
def compare_kept(a: int, b: int, keep: int, width: int, bits: int, outcomes: int, signals: int) -> tuple[int, int]:
    """`compare`, silent and false where the incoming predicate is false."""
    if keep & 1:
        return compare(a, b, width, bits, outcomes, signals)
    return 0, 0


@lane
def classify(x: int, width: int) -> int:
    """Bit set: 0 sign, 1 zero, 2 subnormal, 3 normal, 4 infinity, 5 NaN, 6 signalling NaN, 7 finite."""
    magnitude = x & (sign_bit(width) - 1)
    sign = int((x & sign_bit(width)) != 0)
    if magnitude > infinity(width):
        return sign | 0x20 | (is_signalling(x, width) << 6)
    if magnitude == infinity(width):
        return sign | 0x10
    if magnitude == 0:
        return sign | 0x82
    return sign | (0x84 if magnitude >> fraction_bits(width) == 0 else 0x88)


@lane
def float_extremum(a: int, b: int, width: int, largest: int) -> tuple[int, int]:
    """(invalid, r): `a` where it strictly wins, else `b` as it is: on ties, on zeros of unlike sign and on any NaN."""
    relation = _relation(a, b, width)
    wins = relation == (GREATER if largest else LESS)
    return int(relation == UNORDERED), (a if wins else b)


@lane
def _beats(a: int, b: int, width: int, largest: int) -> bool:
    return _key(a, width) > _key(b, width) if largest else _key(a, width) < _key(b, width)


@lane
def number_extremum(a: int, b: int, width: int, largest: int) -> tuple[int, int]:
    """(invalid, r): the number wins over a NaN, -0 orders below +0, two NaN give the second as it is."""
    invalid = is_signalling(a, width) | is_signalling(b, width)
    if is_nan(a, width):
        return invalid, b
    if is_nan(b, width):
        return invalid, a
    return invalid, (a if _beats(a, b, width, largest) else b)


@lane
def number_fold_winners_kept(v: Sequence[int], keep: int, width: int, largest: int) -> tuple[int, int, int]:
    """(invalid, winners, best) over the kept lanes that are numbers, in the order that puts -0 below +0.

    NaN lanes are skipped, signalling ones with Invalid. Without a number the best is the canonical NaN and nobody wins.
    """
    invalid, winners, best, lanes = 0, 0, canonical_nan(width), len(v)
    for index in range(lanes):
        x = v[index]
        if not test_bit(keep, index, lanes):
            continue
        if is_nan(x, width):
            invalid |= is_signalling(x, width)
        elif is_nan(best, width) or _beats(x, best, width, largest):
            best, winners = x, lane_field(index, lanes)
        elif x == best:
            winners |= lane_field(index, lanes)
    return invalid, winners, best


@lane
def number_fold_winners(v: Sequence[int], width: int, largest: int) -> tuple[int, int, int]:
    """(invalid, winners, best) over all lanes."""
    return number_fold_winners_kept(v, ALL_LANES, width, largest)


@lane
def number_fold_kept(v: Sequence[int], keep: int, width: int, largest: int) -> tuple[int, int]:
    """(invalid, best) over the kept lanes."""
    invalid, _, best = number_fold_winners_kept(v, keep, width, largest)
    return invalid, best


@lane
def number_fold(v: Sequence[int], width: int, largest: int) -> tuple[int, int]:
    """(invalid, best) over all lanes."""
    return number_fold_kept(v, ALL_LANES, width, largest)


@lane
def flip_sign(a: int, width: int) -> int:
    """The sign bit turned over, of a NaN too."""
    return a ^ sign_bit(width)


@lane
def clear_sign(a: int, width: int) -> int:
    """The sign bit cleared, of a NaN too."""
    return a & ~sign_bit(width)


@lane
def add_exponents(a: int, b: int, width: int) -> int:
    """Exponents added without bias, modulo their field; fraction of `a`, signs XORed; no value is special."""
    fraction, top = fraction_bits(width), exponent_of_infinity(width)
    exponent = ((a >> fraction) + (b >> fraction) - (top >> 1)) & top
    return ((a ^ b) & sign_bit(width)) | (exponent << fraction) | (a & mask(fraction))

"""Exact numbers into fp16 and fp32 with one rounding and all flags: narrowing, integral values, integers.

`width` is 16 or 32. Modes are those of a leaf's mode argument; flags come in the order inexact, underflow, overflow,
invalid, then the result.
"""

from __future__ import annotations

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.bits import clamp, mask, unsigned
from gpsimd_core.isa.lanes.compare import (
    canonical_nan,
    exponent_of_infinity,
    fraction_bits,
    infinity,
    is_nan,
    is_signalling,
    quieted,
)
from gpsimd_core.isa.lanes.integer import number
from gpsimd_core.isa.lanes.rounding import RMI, RNE, RPI, leaf_mode, rounded64
from gpsimd_core.isa.lanes.words import i64, u64

__all__ = [
    "encode",
    "from_integer",
    "integral",
    "integral_fixed",
    "narrow_to_half",
    "to_integer",
    "widen_to_single",
]


@lane
def _dropped(significand: int, count: int, sign: int, mode: int) -> int:
    """significand / 2^count, rounded; from 62 bits on everything lies below the half bit and only counts as non-zero."""
    if count <= 0:
        return significand << -count
    if count > 62:
        significand, count = 1, 2
    return i64(rounded64(u64(significand), u64(count), sign, mode, u64(0)))


@lane
def _is_exact(significand: int, count: int) -> bool:
    return count <= 0 or (count <= 62 and significand & ((1 << count) - 1) == 0)


@lane
def encode(sign: int, significand: int, scale: int, width: int, mode: int) -> tuple[int, int, int, int]:
    """(inexact, underflow, overflow, r) of +-significand x 2^scale, for 0 < significand < 2^62.

    Underflow is a result that is tiny after rounding and inexact.
    """
    fraction, bias = fraction_bits(width), exponent_of_infinity(width) >> 1
    exponent = scale - 1
    rest = significand
    while rest:
        rest >>= 1
        exponent += 1
    least = 1 - bias
    count = max(exponent, least) - fraction - scale
    magnitude = ((max(exponent, least) - least) << fraction) + _dropped(significand, count, sign, mode)
    inexact = int(not _is_exact(significand, count))
    tiny = exponent < least
    if exponent == least - 1:
        tiny = _dropped(significand, count - 1, sign, mode) >> (fraction + 1) == 0
    overflow = int(magnitude >= infinity(width))
    if overflow:
        away = mode == RNE or mode == (RMI if sign else RPI)
        magnitude = infinity(width) if away else infinity(width) - 1
        inexact = 1
    return inexact, int(tiny) & inexact, overflow, magnitude | (sign << (width - 1))


@lane
def _significand(x: int, width: int) -> tuple[int, int]:
    """(significand, scale) of a finite number's magnitude; the significand of zero is 0."""
    fraction = fraction_bits(width)
    exponent = (x >> fraction) & exponent_of_infinity(width)
    hidden = 1 if exponent else 0
    scale = max(exponent, 1) - (exponent_of_infinity(width) >> 1) - fraction
    return (x & mask(fraction)) | (hidden << fraction), scale


@lane
def narrow_to_half(x: int, mode: int) -> tuple[int, int, int, int, int]:
    """fp32 to fp16: one rounding, subnormal results kept, NaN canonical, Invalid for a signalling one."""
    sign = x >> 31
    if is_nan(x, 32):
        return 0, 0, 0, is_signalling(x, 32), canonical_nan(16)
    if x & mask(31) == infinity(32):
        return 0, 0, 0, 0, (sign << 15) | infinity(16)
    significand, scale = _significand(x, 32)
    if significand == 0:
        return 0, 0, 0, 0, sign << 15
    inexact, underflow, overflow, result = encode(sign, significand, scale, 16, leaf_mode(mode))
    return inexact, underflow, overflow, 0, result


@lane
def widen_to_single(x: int) -> tuple[int, int]:
    """(invalid, fp32) of an fp16, exact; a NaN keeps sign and payload, moved up 13 bits, and is quieted."""
    sign = (x >> 15) << 31
    if x & mask(15) >= infinity(16):
        payload = (x & mask(10)) << 13
        moved = sign | infinity(32) | payload
        return is_signalling(x, 16), (quieted(moved, 32) if payload else moved)
    significand, scale = _significand(x, 16)
    if significand == 0:
        return 0, sign
    _, _, _, result = encode(sign >> 31, significand, scale, 32, RNE)
    return 0, result


@lane
def integral(x: int, mode: int, width: int) -> tuple[int, int, int]:
    """(inexact, invalid, r): the nearest integral value under a leaf's mode.

    A zero result keeps the sign, infinities pass, a NaN is quieted in place.
    """
    inexact, invalid, result = _integral(x, leaf_mode(mode), width)
    return inexact, invalid, result


@lane
def integral_fixed(x: int, width: int, mode: int) -> tuple[int, int]:
    """(invalid, r): as `integral`, with the rounding mode that the operation fixes."""
    _, invalid, result = _integral(x, mode, width)
    return invalid, result


@lane
def _integral(x: int, mode: int, width: int) -> tuple[int, int, int]:
    if is_nan(x, width):
        return 0, is_signalling(x, width), quieted(x, width)
    sign, magnitude = x >> (width - 1), x & mask(width - 1)
    significand, scale = _significand(x, width)
    if magnitude == infinity(width) or scale >= 0 or significand == 0:
        return 0, 0, x
    whole = _dropped(significand, -scale, sign, mode)
    inexact = int(not _is_exact(significand, -scale))
    if whole == 0:
        return inexact, 0, sign << (width - 1)
    _, _, _, result = encode(sign, whole, 0, width, mode)
    return inexact, 0, result


@lane
def from_integer(x: int, scale: int, mode: int, source: int, signs: int, width: int) -> tuple[int, int, int, int]:
    """(inexact, underflow, overflow, r) of an integer of `source` bits, divided by 2^scale and rounded once."""
    exact = number(x, source, signs)
    if exact == 0:
        return 0, 0, 0, 0
    return encode(int(exact < 0), abs(exact), -scale, width, leaf_mode(mode))


@lane
def to_integer(x: int, scale: int, width: int, bits: int, signs: int) -> tuple[int, int, int]:
    """(inexact, overflow, r): x times 2^scale, its fraction dropped, in `bits` bits.

    Signed: clamped. Unsigned: clamped above; a negative number is the two's complement of its truncated value with
    overflow, and from -2^(bits - 1) down that power. A NaN gives the positive maximum. Where overflow is raised inexact is
    not.
    """
    top = 1 << (bits - 1)
    greatest = top - 1 if signs else mask(bits)
    if is_nan(x, width):
        return 0, 1, greatest
    negative = x >> (width - 1)
    significand, power = _significand(x, width)
    power = clamp(power + scale, -62, 39)  # beyond, nothing but zero, or nothing but overflow
    exact = significand << power if power >= 0 else significand >> -power
    dropped = int(not _is_exact(significand, -power))
    if negative:
        if exact > top or (x & mask(width - 1)) == infinity(width):
            return 0, 1, unsigned(-top, bits)
        overflow = int(signs == 0 and exact > 0)
        return dropped & (1 - overflow), overflow, unsigned(-exact, bits)
    if exact > greatest or x == infinity(width):
        return 0, 1, greatest
    return dropped, 0, exact

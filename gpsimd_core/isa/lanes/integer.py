"""Integer lanes: wrapping, saturating, extremum, mean, and the forms that also yield a predicate field.

`width` is the lane's width in bits, `sign` is 1 where operands are two's complement and 0 where they are unsigned.
"""

from __future__ import annotations

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.bits import clamp, field, mask, signed, unsigned

__all__ = [
    "absolute",
    "absolute_difference",
    "absolute_saturating",
    "add",
    "add_normalising",
    "add_saturating",
    "equal",
    "less",
    "less_equal",
    "maximum",
    "maximum_with_flag",
    "mean",
    "minimum",
    "minimum_with_flag",
    "move",
    "negate",
    "negate_saturating",
    "not_equal",
    "number",
    "saturate",
    "saturate_unsigned",
    "sign_accumulating_difference",
    "sign_extend",
    "sign_extend_from",
    "subtract",
    "subtract_normalising",
    "subtract_saturating",
]


@lane
def number(x: int, width: int, sign: int) -> int:
    """What the pattern counts for: two's complement or unsigned."""
    return signed(x, width) if sign else unsigned(x, width)


@lane
def saturate(x: int, width: int) -> int:
    """An exact number clamped once to the two's-complement range of `width` bits."""
    top = 1 << (width - 1)
    return clamp(x, -top, top - 1)


@lane
def saturate_unsigned(x: int, width: int) -> int:
    """An exact number clamped once to 0 .. 2^width - 1."""
    return clamp(x, 0, mask(width))


@lane
def add(a: int, b: int, width: int) -> int:
    return unsigned(a + b, width)


@lane
def subtract(a: int, b: int, width: int) -> int:
    return unsigned(a - b, width)


@lane
def negate(a: int, width: int) -> int:
    return unsigned(-a, width)


@lane
def add_saturating(a: int, b: int, width: int) -> int:
    return saturate(signed(a, width) + signed(b, width), width)


@lane
def subtract_saturating(a: int, b: int, width: int) -> int:
    return saturate(signed(a, width) - signed(b, width), width)


@lane
def negate_saturating(a: int, width: int) -> int:
    return saturate(-signed(a, width), width)


@lane
def absolute_saturating(a: int, width: int) -> int:
    return saturate(abs(signed(a, width)), width)


@lane
def absolute(a: int, width: int) -> int:
    """The magnitude modulo 2^width: that of the minimum is the minimum itself."""
    return unsigned(abs(signed(a, width)), width)


@lane
def absolute_difference(a: int, b: int, width: int, sign: int) -> int:
    return unsigned(abs(number(a, width, sign) - number(b, width, sign)), width)


@lane
def maximum(a: int, b: int, width: int, sign: int) -> int:
    return a if number(a, width, sign) > number(b, width, sign) else b


@lane
def minimum(a: int, b: int, width: int, sign: int) -> int:
    return a if number(a, width, sign) < number(b, width, sign) else b


@lane
def mean(a: int, b: int, width: int, sign: int, half: int) -> int:
    """The exact sum halved toward minus infinity, after adding `half` (0 or 1)."""
    return unsigned((number(a, width, sign) + number(b, width, sign) + half) >> 1, width)


@lane
def equal(a: int, b: int, width: int, bits: int) -> int:
    return field(unsigned(a, width) == unsigned(b, width), bits)


@lane
def not_equal(a: int, b: int, width: int, bits: int) -> int:
    return field(unsigned(a, width) != unsigned(b, width), bits)


@lane
def less(a: int, b: int, width: int, bits: int, sign: int) -> int:
    return field(number(a, width, sign) < number(b, width, sign), bits)


@lane
def less_equal(a: int, b: int, width: int, bits: int, sign: int) -> int:
    return field(number(a, width, sign) <= number(b, width, sign), bits)


@lane
def maximum_with_flag(a: int, b: int, width: int, bits: int, sign: int) -> tuple[int, int]:
    """(field, winner): the flag says that the first operand is strictly larger."""
    wins = number(a, width, sign) > number(b, width, sign)
    return field(wins, bits), (a if wins else b)


@lane
def minimum_with_flag(a: int, b: int, width: int, bits: int, sign: int) -> tuple[int, int]:
    """(field, winner): the flag says that the first operand is strictly smaller."""
    wins = number(a, width, sign) < number(b, width, sign)
    return field(wins, bits), (a if wins else b)


@lane
def _normalise(exact: int, width: int, bits: int) -> tuple[int, int]:
    fits = saturate(exact, width) == exact
    return field(not fits, bits), (unsigned(exact, width) if fits else unsigned(exact >> 1, width))


@lane
def add_normalising(a: int, b: int, width: int, bits: int) -> tuple[int, int]:
    """(field, sum): an exact sum that does not fit is halved and the field set; nothing is clamped."""
    return _normalise(signed(a, width) + signed(b, width), width, bits)


@lane
def subtract_normalising(a: int, b: int, width: int, bits: int) -> tuple[int, int]:
    """(field, difference), as `add_normalising`."""
    return _normalise(signed(a, width) - signed(b, width), width, bits)


@lane
def sign_accumulating_difference(a: int, b: int, flag: int, width: int) -> tuple[int, int]:
    """(flag XOR a < b, |a - b|), unsigned."""
    x, y = unsigned(a, width), unsigned(b, width)
    return (flag & 1) ^ int(x < y), abs(x - y)


@lane
def sign_extend(a: int, source: int) -> int:
    """The low `source` bits with their sign carried to the top; the bits above them are ignored."""
    return signed(a, source)


@lane
def sign_extend_from(a: int, top: int) -> int:
    """Sign extension from bit number `top`."""
    return signed(a, top + 1)


@lane
def move(a: int, source: int) -> int:
    """The low `source` bits: zero-extended by a wider result, cut by a narrower one."""
    return unsigned(a, source)

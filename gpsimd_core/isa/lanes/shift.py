"""Element shifts, rotates and normalisation distances."""

from __future__ import annotations

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.bits import signed, unsigned
from gpsimd_core.isa.lanes.integer import saturate

__all__ = [
    "leading_zeros",
    "redundant_signs",
    "rotate_right",
    "shift_left",
    "shift_left_saturating",
    "shift_right",
    "shift_right_arithmetic",
    "two_way_left",
    "two_way_right",
    "two_way_right_arithmetic",
]


@lane
def shift_left(a: int, amount: int, width: int) -> int:
    """Zero from the right; an amount of the width or more gives 0."""
    return 0 if amount >= width else unsigned(a << amount, width)


@lane
def shift_right(a: int, amount: int, width: int) -> int:
    """Zero from the left; an amount of the width or more gives 0."""
    return 0 if amount >= width else unsigned(a, width) >> amount


@lane
def shift_right_arithmetic(a: int, amount: int, width: int) -> int:
    """The sign from the left; an amount of the width or more gives the sign in every bit."""
    return signed(a, width) >> min(amount, width)


@lane
def two_way_left(a: int, amount: int, width: int, field: int) -> int:
    """Left by a signed amount of `field` bits; a negative one shifts right, logically."""
    by = signed(amount, field)
    return shift_left(a, by, width) if by >= 0 else shift_right(a, -by, width)


@lane
def two_way_right(a: int, amount: int, width: int, field: int) -> int:
    """Right, logically, by a signed amount; a negative one shifts left."""
    by = signed(amount, field)
    return shift_right(a, by, width) if by >= 0 else shift_left(a, -by, width)


@lane
def two_way_right_arithmetic(a: int, amount: int, width: int, field: int) -> int:
    """Right, arithmetically, by a signed amount; a negative one shifts left."""
    by = signed(amount, field)
    return shift_right_arithmetic(a, by, width) if by >= 0 else shift_left(a, -by, width)


@lane
def shift_left_saturating(a: int, amount: int, width: int) -> int:
    """The exact signed product with 2^amount, clamped; every non-zero lane has left the range after `width` places."""
    return saturate(signed(a, width) << min(amount, width), width)


@lane
def rotate_right(a: int, amount: int, width: int) -> int:
    """Closed rotation inside the lane, amount modulo the width."""
    by = amount & (width - 1)
    x = unsigned(a, width)
    return unsigned((x >> by) | (x << (width - by)), width)


@lane
def leading_zeros(a: int, width: int) -> int:
    """Zeros above the highest one; `width` for 0."""
    x = unsigned(a, width)
    count = width
    while x:
        x >>= 1
        count -= 1
    return count


@lane
def redundant_signs(a: int, width: int) -> int:
    """Copies of the sign bit below it: width - 1 for 0 and -1."""
    x = signed(a, width)
    return leading_zeros(x if x >= 0 else ~x, width) - 1

"""fp16 and fp32 sums, products and fused forms as leaves report them: flags first, then the result.

The values are those of `fma.py`; here the mode argument is taken as a leaf takes it and the flag word is taken apart.
"""

from __future__ import annotations

from gpsimd_core.isa.lane import bind, lane
from gpsimd_core.isa.lanes.fma import (
    add16,
    add32,
    add_flags16,
    add_flags32,
    fused16,
    fused32,
    fused_flags16,
    fused_flags32,
    mul16,
    mul32,
    mul_flags16,
    mul_flags32,
)
from gpsimd_core.isa.lanes.rounding import INEXACT, INVALID, OVERFLOW, RNE, UNDERFLOW, leaf_mode
from gpsimd_core.isa.lanes.words import i64, u32

__all__ = [
    "add_leaf16",
    "add_leaf32",
    "fused_leaf16",
    "fused_leaf32",
    "fused_nearest16",
    "fused_nearest32",
    "multiply_leaf16",
    "multiply_leaf32",
    "one_minus_leaf16",
    "one_minus_leaf32",
]

add, add_flags, mul, mul_flags, fused, fused_flags = add32, add_flags32, mul32, mul_flags32, fused32, fused_flags32
ONE = 0x3F800000


@lane
def _raised(flags: int, flag: int) -> int:
    return int((flags & flag) != 0)


@lane
def add_leaf32(a: int, b: int, mode: int, negate: int) -> tuple[int, int, int, int]:
    """(inexact, overflow, invalid, r) of a + b, or of a - b where `negate` is 1."""
    by = leaf_mode(mode)
    flags = add_flags(u32(a), u32(b), negate, by)
    result = i64(add(u32(a), u32(b), negate, by))
    return _raised(flags, INEXACT), _raised(flags, OVERFLOW), _raised(flags, INVALID), result


@lane
def multiply_leaf32(a: int, b: int, mode: int) -> tuple[int, int, int, int, int]:
    """(inexact, underflow, overflow, invalid, r) of a * b."""
    by = leaf_mode(mode)
    flags = mul_flags(u32(a), u32(b), by)
    result = i64(mul(u32(a), u32(b), by))
    exact, tiny = _raised(flags, INEXACT), _raised(flags, UNDERFLOW)
    return exact, tiny, _raised(flags, OVERFLOW), _raised(flags, INVALID), result


@lane
def fused_leaf32(a: int, b: int, c: int, mode: int, negate: int) -> tuple[int, int, int, int, int]:
    """(inexact, underflow, overflow, invalid, r) of a + b * c, or of a - b * c where `negate` is 1."""
    by = leaf_mode(mode)
    flags = fused_flags(u32(a), u32(b), u32(c), negate, by)
    result = i64(fused(u32(a), u32(b), u32(c), negate, by))
    exact, tiny = _raised(flags, INEXACT), _raised(flags, UNDERFLOW)
    return exact, tiny, _raised(flags, OVERFLOW), _raised(flags, INVALID), result


@lane
def fused_nearest32(a: int, b: int, c: int, negate: int) -> int:
    """a + b * c, or a - b * c, always to nearest even and without flags."""
    return i64(fused(u32(a), u32(b), u32(c), negate, RNE))


@lane
def one_minus_leaf32(a: int, b: int, mode: int) -> tuple[int, int, int, int, int]:
    """(inexact, underflow, overflow, invalid, r) of 1 - a * b."""
    by = leaf_mode(mode)
    flags = fused_flags(u32(ONE), u32(a), u32(b), 1, by)
    result = i64(fused(u32(ONE), u32(a), u32(b), 1, by))
    exact, tiny = _raised(flags, INEXACT), _raised(flags, UNDERFLOW)
    return exact, tiny, _raised(flags, OVERFLOW), _raised(flags, INVALID), result


add_leaf16 = bind(add_leaf32, add=add16, add_flags=add_flags16)
multiply_leaf16 = bind(multiply_leaf32, mul=mul16, mul_flags=mul_flags16)
fused_leaf16 = bind(fused_leaf32, fused=fused16, fused_flags=fused_flags16)
fused_nearest16 = bind(fused_nearest32, fused=fused16)
one_minus_leaf16 = bind(one_minus_leaf32, fused=fused16, fused_flags=fused_flags16, ONE=0x3C00)

"""Sums, products and fused operations of fp16 and fp32 with one rounding, in every mode, with flags.

The product of two such numbers is exact in double precision, and a sum rounded to odd there keeps all that any later
rounding asks for; so every operation is one double, narrowed by the rounding core. Names end in the width, 16 or 32.

A NaN operand passes with its quiet bit set, sign and payload kept; which one wins differs by operation (reading 34).
Invalid is raised by a signalling NaN, by infinity minus infinity and by zero times infinity; a NaN that no operand
brought is the canonical one.

Sources: ISA Batch 17 (spfma); ISA Batch 18 (hp_fma); Formal Semantics II, section 2.5; settled readings 33 to 35
(docs/decisions.md).
"""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.formats import FORMATS, format_row
from gpsimd_core.isa.lane import bind, inlined, lane
from gpsimd_core.isa.lanes.hub import reader_of, widen_float
from gpsimd_core.isa.lanes.rounding import (
    INVALID,
    RMI,
    RNA,
    RNE,
    RPI,
    RTZ,
    ieee_target64,
    narrow64,
    narrow_flags64,
    odd_sum,
)
from gpsimd_core.isa.lanes.words import bits64, double, f32, u32, u64

__all__ = [
    "add16",
    "add32",
    "add_flags16",
    "add_flags32",
    "fused16",
    "fused32",
    "fused_flags16",
    "fused_flags32",
    "fused_row16",
    "fused_row32",
    "mul16",
    "mul32",
    "mul_flags16",
    "mul_flags32",
]

FP16 = format_row(FORMATS["fp16"])
EXPONENT_BITS, MANTISSA_BITS = 8, 23


@inlined
def number32(bits: int) -> float:
    """The number of an fp32 pattern as a double."""
    return double(f32(bits))


@inlined
def number16(bits: int) -> float:
    """The number of an fp16 pattern as a double."""
    return double(f32(widen_float(bits, reader_of(FP16))))


number = number32


@lane
def sign_of(bits: int) -> int:
    """The sign bit."""
    return u32(u32(bits >> u32(EXPONENT_BITS + MANTISSA_BITS)) & u32(1))


@lane
def flipped(bits: int, negate: int) -> int:
    """The pattern with its sign changed if `negate` is 1."""
    return u32(bits ^ u32(u32(negate) << u32(EXPONENT_BITS + MANTISSA_BITS)))


@lane
def is_nan(bits: int) -> bool:
    """Whether a pattern is NaN."""
    sign = u32(u32(1) << u32(EXPONENT_BITS + MANTISSA_BITS))
    infinity = u32(sign - u32(u32(1) << u32(MANTISSA_BITS)))
    return u32(bits & u32(sign - u32(1))) > infinity


@lane
def quiet(bits: int) -> int:
    """A NaN with its quiet bit set."""
    return u32(bits | u32(u32(1) << u32(MANTISSA_BITS - 1)))


@lane
def signals(bits: int) -> bool:
    """Whether a pattern is a signalling NaN."""
    return is_nan(bits) and u32(bits & u32(u32(1) << u32(MANTISSA_BITS - 1))) == u32(0)


@inlined
def sum_of(x: float, y: float, mode: int) -> int:
    """fp64 bits of x + y rounded to odd; an exact zero from opposite signs is +0, or -0 toward minus infinity."""
    bits = odd_sum(x, y)
    either = u64(u64(bits64(x) | bits64(y)) & u64(0x8000000000000000))
    return either if mode == RMI and u64(bits << u64(1)) == u64(0) else bits


@lane
def add32(a: int, b: int, negate: int, mode: int) -> int:
    """a + b, or a - b where `negate` is 1. The first NaN operand wins.

    Args:
        a, b: patterns.
        negate: 1 to subtract.
        mode: rounding mode; a leaf passes its argument through `leaf_mode`.

    Returns:
        A pattern.
    """
    total = sum_of(number(a), number(flipped(b, negate)), mode)
    answer = u32(narrow64(total, ieee_target64(EXPONENT_BITS, MANTISSA_BITS, mode), mode, u64(0)))
    answer = quiet(b) if is_nan(b) else answer
    return quiet(a) if is_nan(a) else answer


@lane
def add_flags32(a: int, b: int, negate: int, mode: int) -> int:
    """The flags of `add32`. A sum never underflows inexactly."""
    if is_nan(a) or is_nan(b):
        return INVALID if signals(a) or signals(b) else 0
    total = sum_of(number(a), number(flipped(b, negate)), mode)
    if u64(total << u64(1)) > u64(0xFFE0000000000000):
        return INVALID
    return narrow_flags64(total, ieee_target64(EXPONENT_BITS, MANTISSA_BITS, mode), mode, u64(0))


@lane
def mul32(a: int, b: int, mode: int) -> int:
    """a * b. The second NaN operand wins."""
    product = bits64(number(a) * number(b))
    answer = u32(narrow64(product, ieee_target64(EXPONENT_BITS, MANTISSA_BITS, mode), mode, u64(0)))
    answer = quiet(a) if is_nan(a) else answer
    return quiet(b) if is_nan(b) else answer


@lane
def mul_flags32(a: int, b: int, mode: int) -> int:
    """The flags of `mul32`."""
    if is_nan(a) or is_nan(b):
        return INVALID if signals(a) or signals(b) else 0
    product = bits64(number(a) * number(b))
    if u64(product << u64(1)) > u64(0xFFE0000000000000):
        return INVALID
    return narrow_flags64(product, ieee_target64(EXPONENT_BITS, MANTISSA_BITS, mode), mode, u64(0))


@inlined
def fused32(a: int, b: int, c: int, negate: int, mode: int) -> int:
    """a + b * c, or a - b * c where `negate` is 1, rounded once. Of NaN operands `a` wins, then `c`, then `b`.

    Args:
        a: addend.
        b, c: factors.
        negate: 1 to subtract the product.
        mode: rounding mode; a leaf passes its argument through `leaf_mode`.

    Returns:
        A pattern.
    """
    total = sum_of(number(a), number(flipped(b, negate)) * number(c), mode)
    answer = u32(narrow64(total, ieee_target64(EXPONENT_BITS, MANTISSA_BITS, mode), mode, u64(0)))
    answer = quiet(b) if is_nan(b) else answer
    answer = quiet(c) if is_nan(c) else answer
    return quiet(a) if is_nan(a) else answer


@lane
def fused_flags32(a: int, b: int, c: int, negate: int, mode: int) -> int:
    """The flags of `fused32`. Zero times infinity is invalid even when the addend is a NaN."""
    product = number(flipped(b, negate)) * number(c)
    invented = u64(bits64(product) << u64(1)) > u64(0xFFE0000000000000) and not (is_nan(b) or is_nan(c))
    if is_nan(a) or is_nan(b) or is_nan(c):
        return INVALID if invented or signals(a) or signals(b) or signals(c) else 0
    total = sum_of(number(a), product, mode)
    if u64(total << u64(1)) > u64(0xFFE0000000000000):
        return INVALID
    return narrow_flags64(total, ieee_target64(EXPONENT_BITS, MANTISSA_BITS, mode), mode, u64(0))


MODE = RNE


@lane
def fused_loop32(a: Any, b: Any, c: Any, out: Any, negate: int) -> None:
    """`fused_row32` in the mode that is bound to MODE."""
    for i in range(out.size):
        out[i] = fused32(u32(a[i]), u32(b[i]), u32(c[i]), negate, MODE)


_rne32, _rtz32, _rpi32, _rmi32, _rna32 = (bind(fused_loop32, MODE=mode) for mode in (RNE, RTZ, RPI, RMI, RNA))


@lane
def fused_row32(a: Any, b: Any, c: Any, out: Any, negate: int, mode: int) -> None:
    """`fused32` over rows of patterns, one axis each; every mode has a loop that it is folded into."""
    if mode == RNE:
        _rne32(a, b, c, out, negate)
    elif mode == RPI:
        _rpi32(a, b, c, out, negate)
    elif mode == RMI:
        _rmi32(a, b, c, out, negate)
    elif mode == RNA:
        _rna32(a, b, c, out, negate)
    else:
        _rtz32(a, b, c, out, negate)


_HALF: dict[str, Any] = {"EXPONENT_BITS": 5, "MANTISSA_BITS": 10}
_flipped16 = bind(flipped, **_HALF)
_is_nan16 = bind(is_nan, **_HALF)
_quiet16 = bind(quiet, MANTISSA_BITS=10)
_NAN: dict[str, Any] = {"is_nan": _is_nan16, "quiet": _quiet16}
_FLAGS: dict[str, Any] = {"is_nan": _is_nan16, "signals": bind(signals, MANTISSA_BITS=10, is_nan=_is_nan16)}

add16 = bind(add32, number=number16, flipped=_flipped16, **_NAN, **_HALF)
add_flags16 = bind(add_flags32, number=number16, flipped=_flipped16, **_FLAGS, **_HALF)
mul16 = bind(mul32, number=number16, **_NAN, **_HALF)
mul_flags16 = bind(mul_flags32, number=number16, **_FLAGS, **_HALF)
fused16 = bind(fused32, number=number16, flipped=_flipped16, **_NAN, **_HALF)
fused_flags16 = bind(fused_flags32, number=number16, flipped=_flipped16, **_FLAGS, **_HALF)
_rne16, _rtz16, _rpi16, _rmi16, _rna16 = (
    bind(fused_loop32, fused32=fused16, MODE=mode) for mode in (RNE, RTZ, RPI, RMI, RNA)
)
fused_row16 = bind(fused_row32, _rne32=_rne16, _rtz32=_rtz16, _rpi32=_rpi16, _rmi32=_rmi16, _rna32=_rna16)

"""Values of the fp32 hub: any code of at most 32 bits to fp32 bits, and fp32 bits to any such code.

64-bit integers have lanes of their own, because the engines' hub never meets them.

Sources: settled readings 16 to 18 (docs/decisions.md); The Unified Datatype Model; policies `fp_to_int`,
`fp8_overflow`, `fp32r_mantissa_bits`, `stochastic_rounding`.
"""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.lane import bind, inlined, lane
from gpsimd_core.isa.lanes.rounding import (
    INEXACT,
    INVALID,
    OVERFLOW,
    RNE,
    fraction_of,
    ieee_target64,
    narrow64,
    odd_sum,
    rounded,
    stepped,
)
from gpsimd_core.isa.lanes.rounding import narrow as narrow_float
from gpsimd_core.isa.lanes.rounding import narrow_flags as float_flags
from gpsimd_core.isa.lanes.words import bits32, double, f32, i32, single, u32, u64

__all__ = [
    "int64_flags",
    "integer_flags",
    "narrow",
    "narrow_flags",
    "narrow_float",
    "narrow_int64",
    "narrow_integer",
    "narrow_scale",
    "read_flags",
    "reader_of",
    "target_of",
    "widen",
    "widen_float",
    "widen_int64",
    "widen_integer",
    "widen_scale",
]

# Columns of a format row; `Row` of isa/formats.py describes them.
KIND, BITS, SIGNED, WRAP, ROUNDING, SEED = 0, 1, 3, 4, 5, 6
READ_SHIFT, READ_MASK, READ_NORMAL, READ_UNIT, READ_INFINITY, READ_LAST, READ_PAYLOAD = 7, 8, 9, 10, 11, 12, 13
SHIFT, REBIAS, FIRST_NORMAL, BASE, MAXIMUM, LIMIT_POSITIVE, LIMIT_NEGATIVE = 14, 15, 16, 17, 18, 19, 20
INFINITE, SIGNLESS, NAN, SIGN_SHIFT, PADDING = 21, 22, 23, 24, 25

FLOAT, INTEGER, SCALE = 1, 2, 3
word, WIDTH = u32, 32


@inlined
def reader_of(row: Any) -> tuple[int, ...]:
    """The numbers that `widen_float` needs, as words."""
    return (
        u32(row[READ_SHIFT]),
        u32(row[READ_MASK]),
        u32(row[READ_NORMAL]),
        u32(row[READ_UNIT]),
        u32(row[READ_INFINITY]),
        u32(row[READ_LAST]),
        u32(row[READ_PAYLOAD]),
        u32(row[REBIAS]),
        u32(row[SIGN_SHIFT]),
    )


@inlined
def target_of(row: Any) -> tuple[int, ...]:
    """The numbers that narrowing to a float needs, as words."""
    return (
        u32(row[SHIFT]),
        u32(row[REBIAS]),
        u32(row[FIRST_NORMAL]),
        u32(row[BASE]),
        u32(row[MAXIMUM]),
        u32(row[LIMIT_POSITIVE]),
        u32(row[LIMIT_NEGATIVE]),
        u32(row[INFINITE]),
        u32(row[SIGNLESS]),
        u32(row[NAN]),
        u32(row[SIGN_SHIFT]),
        u32(row[PADDING]),
    )


@inlined
def widen_float(code: int, reader: tuple[int, ...]) -> int:
    """fp32 bits of a float code: exact; NaN quietened, its sign and payload kept."""
    magnitude = u32(code & reader[1])
    moved = u32(magnitude << reader[0])
    subnormal = bits32(single(i32(magnitude)) * f32(reader[3]))
    bits = u32(moved + reader[7]) if magnitude >= reader[2] else subnormal
    bits = u32(0x7F800000) if magnitude == reader[4] else bits
    bits = u32(0x7FC00000 | u32(moved & reader[6])) if magnitude > reader[5] else bits
    return u32(bits | u32(u32(code >> reader[8]) << u32(31)))


@inlined
def widen_integer(code: int, width: int, signed: int) -> int:
    """fp32 bits of an integer code of `width` bits, nearest even."""
    top = u32(code << u32(32 - width))
    if signed:
        return bits32(single(i32(i32(top) >> i32(32 - width))))
    return bits32(single(u32(top >> u32(32 - width))))


@lane
def widen_scale(code: int) -> int:
    """fp32 bits of 2^(code - 127); code 0 is an fp32 subnormal, code 255 is NaN."""
    bits = u32(0x00400000) if code == 0 else u32(code << u32(23))
    return u32(0x7FC00000) if code == 0xFF else bits


@lane
def widen(code: int, row: Any) -> int:
    """Read a code into the hub.

    Args:
        code: a code of at most 32 bits.
        row: its format's row.

    Returns:
        fp32 bits: integers to nearest even, everything else exact; NaN is quietened and keeps sign and payload. A row
        without values gives the canonical NaN; whoever plans an instruction refuses it first.
    """
    if row[KIND] == FLOAT:
        return widen_float(code, reader_of(row))
    if row[KIND] == INTEGER:
        return widen_integer(code, row[BITS], row[SIGNED])
    if row[KIND] == SCALE:
        return widen_scale(code)
    return u32(0x7FC00000)


@lane
def widen_int64(code: int, signed: int) -> int:
    """fp32 bits of a 64-bit integer, nearest even, rounded once."""
    sign = u64(code >> u64(63)) if signed else u64(0)
    magnitude = u64(u64(0) - code) if sign else code
    high = double(u32(magnitude >> u64(32))) * 4294967296.0
    bits = narrow64(odd_sum(high, double(u32(magnitude))), ieee_target64(8, 23, RNE), RNE, u64(0))
    return u32(u32(bits) | u32(u32(sign) << u32(31)))


@lane
def whole_part(bits: int, mode: int) -> tuple[int, int, int]:
    """The magnitude of an fp32 pattern as an integer modulo 2^WIDTH, the dropped fraction, the exponent field."""
    magnitude = u32(bits & u32(0x7FFFFFFF))
    exponent = i32(magnitude >> u32(23))
    hidden = u32(0x00800000) if exponent > 0 else u32(0)
    significand = u32(u32(magnitude & u32(0x007FFFFF)) | hidden)
    right = u32(max(i32(0), min(i32(150 - exponent), i32(31))))
    left = word(max(i32(0), min(i32(exponent - 150), i32(WIDTH - 1))))
    number = word(word(rounded(significand, right, u32(bits >> u32(31)), mode, u32(0))) << left)
    return number, fraction_of(significand, right), exponent


@lane
def limit_of(sign: int, width: int, signed: int) -> int:
    """The largest magnitude of that sign among integers of `width` bits."""
    top = word(word(1) << word(width - 1))
    if signed:
        return top if sign else word(top - word(1))
    return word(0) if sign else word(top | word(top - word(1)))


@lane
def narrow_integer(bits: int, width: int, signed: int, wrap: int, mode: int) -> int:
    """Round an fp32 pattern to an integer of `width` bits, saturating, or modulo 2^width.

    Infinities saturate by sign, and so does NaN (the maximum where its sign is clear); under `wrap` both give 0.
    """
    sign = u32(bits >> u32(31))
    number, _, exponent = whole_part(bits, mode)
    if wrap:
        number = word(0) if exponent > WIDTH + 149 else number
    else:
        limit = limit_of(sign, width, signed)
        number = limit if number > limit or exponent > WIDTH + 126 else number
    number = word(word(0) - number) if sign else number
    return word(number & limit_of(u32(0), width, 0))


@lane
def integer_flags(bits: int, width: int, signed: int, mode: int) -> int:
    """The flags of `narrow_integer`: OVERFLOW outside the range, infinities included; INVALID for NaN; INEXACT."""
    if u32(bits & u32(0x7FFFFFFF)) > u32(0x7F800000):
        return INVALID
    number, fraction, exponent = whole_part(bits, mode)
    flags = INEXACT if fraction != i32(0) else 0
    if number > limit_of(u32(bits >> u32(31)), width, signed) or exponent > WIDTH + 126:
        return flags | OVERFLOW
    return flags


@lane
def narrow_scale(bits: int, mode: int) -> int:
    """Round an fp32 pattern to the code of a power of two.

    What no power of two stands for (zero, below half the smallest, a negative number, infinity) gives NaN, code 255.
    Ties go to the even code. Evidence: PROPOSED; ml_dtypes does the same.
    """
    small = u32(bits) < u32(0x00800000)
    position = u32(u32(bits << u32(1)) if small else u32(bits + u32(0x00800000)))  # 2^23 at 2^-127, which is code 0
    below = u32(1) if position < u32(0x00800000) else u32(0)
    kept = u32(u32(u32(position >> u32(23)) + below) - u32(1))
    code = stepped(kept, fraction_of(position, u32(23)), u32(0), mode, u32(0))
    code = u32(u32(code - below) & u32(0xFF))
    return code if u32(bits) < u32(0x7F800000) else u32(0xFF)


@lane
def narrow(bits: int, row: Any, draw: int) -> int:
    """Write an fp32 pattern.

    Args:
        bits: fp32 bits.
        row: the target format's row, with its policies and rounding mode.
        draw: the random 32 bits of the stochastic mode (`draw_at`), else anything.

    Returns:
        The code. A row without values gives 0; whoever plans an instruction refuses it first.
    """
    if row[KIND] == FLOAT:
        return narrow_float(bits, target_of(row), row[ROUNDING], draw)
    if row[KIND] == INTEGER:
        return narrow_integer(bits, row[BITS], row[SIGNED], row[WRAP], row[ROUNDING])
    if row[KIND] == SCALE:
        return narrow_scale(bits, row[ROUNDING])
    return u32(0)


@lane
def narrow_flags(bits: int, row: Any, draw: int) -> int:
    """The flags of `narrow`: INEXACT UNDERFLOW OVERFLOW INVALID. To a power of two, what has none raises INVALID."""
    if row[KIND] == FLOAT:
        return float_flags(bits, target_of(row), row[ROUNDING], draw)
    if row[KIND] == INTEGER:
        return integer_flags(bits, row[BITS], row[SIGNED], row[ROUNDING])
    code = narrow_scale(bits, row[ROUNDING])
    if code == u32(0xFF):
        return INVALID
    return 0 if widen_scale(code) == bits else INEXACT


whole_part64 = bind(whole_part, word=u64, WIDTH=64)
limit_of64 = bind(limit_of, word=u64)
narrow_int64 = bind(narrow_integer, word=u64, WIDTH=64, whole_part=whole_part64, limit_of=limit_of64)
int64_flags = bind(integer_flags, WIDTH=64, whole_part=whole_part64, limit_of=limit_of64)


@lane
def read_flags(code: int, row: Any) -> int:
    """The flags of `widen`: INEXACT for an integer that fp32 does not hold, INVALID for a signalling NaN."""
    if row[KIND] == INTEGER and row[BITS] == 32:
        bits = widen_integer(code, 32, row[SIGNED])
        number = narrow_integer(bits, 32, row[SIGNED], 1, RNE)
        return 0 if number == code else INEXACT
    if row[KIND] == FLOAT and row[READ_PAYLOAD] != 0:
        moved = u32(u32(code & u32(row[READ_MASK])) << u32(row[READ_SHIFT]))
        if u32(code & u32(row[READ_MASK])) > u32(row[READ_LAST]) and u32(moved & u32(0x00400000)) == u32(0):
            return INVALID
    return 0

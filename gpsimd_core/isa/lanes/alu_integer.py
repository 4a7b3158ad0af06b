"""The ALU operators on raw bits and on wrapping integers.

Each lane exists at two word widths: 32 bits (`..32`, also for narrower operands of the raw-bit form) and 64 bits
(`..64`); `alu_bitvec` and `alu_int` take the width as an argument. Operands and results are unsigned patterns.

Sources: settled reading 20 (docs/decisions.md); Tensor-Tensor Elementwise Arith; Tensor-Tensor 64-bit Path; ISA batch
pages (integer divide).
"""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.enums import AluOp
from gpsimd_core.isa.lane import bind, lane
from gpsimd_core.isa.lanes.words import i32, i64, u32, u64

__all__ = [
    "alu_bitvec",
    "alu_bitvec32",
    "alu_bitvec64",
    "alu_bitvec_row",
    "alu_int",
    "alu_int32",
    "alu_int64",
    "alu_int_row",
    "argument_wins",
]

word, integer, WIDTH = u32, i32, 32


@lane
def shift_left(a: int, count: int, width: int) -> int:
    """a << count, low `width` bits; 0 from `width` on."""
    moved = word(a << min(count, word(WIDTH - 1)))
    return word(moved & ones(width)) if count < word(width) else word(0)


@lane
def shift_right(a: int, count: int, width: int) -> int:
    """a >> count, zeros moving in; 0 from `width` on."""
    return word(a >> min(count, word(WIDTH - 1))) if count < word(width) else word(0)


@lane
def shift_right_signed(a: int, count: int, width: int) -> int:
    """a >> count, the sign bit moving in; all sign bits from `width` on."""
    lifted = integer(word(a << word(WIDTH - width)))
    moved = integer(lifted >> integer(word(WIDTH - width)))
    return word(word(integer(moved >> integer(min(count, word(WIDTH - 1))))) & ones(width))


@lane
def ones(width: int) -> int:
    """`width` ones."""
    return word(word(word(0) - word(1)) >> word(WIDTH - width))


@lane
def alu_bitvec32(op: int, a: int, b: int, width: int) -> int:
    """One raw-bit operator.

    Args:
        op: operator code. CRC32 and codes outside the band give 0: whoever plans an instruction refuses them first.
        a, b: patterns of `width` bits; the unary operators take `a`, shifts take `b` as an unsigned count.
        width: 8, 16 or 32 bits (64 for `alu_bitvec64`).

    Returns:
        A pattern of `width` bits.
    """
    if op == AluOp.BYPASS:
        return word(a)
    if op == AluOp.BITWISE_NOT:
        return word(word(~a) & ones(width))
    if op == AluOp.BITWISE_AND:
        return word(a & b)
    if op == AluOp.BITWISE_OR:
        return word(a | b)
    if op == AluOp.BITWISE_XOR:
        return word(a ^ b)
    if op == AluOp.ARITH_SHIFT_LEFT or op == AluOp.LOGICAL_SHIFT_LEFT:
        return shift_left(a, b, width)
    if op == AluOp.LOGICAL_SHIFT_RIGHT:
        return shift_right(a, b, width)
    if op == AluOp.ARITH_SHIFT_RIGHT:
        return shift_right_signed(a, b, width)
    return word(0)


@lane
def less(a: int, b: int, signed: int) -> bool:
    """a < b, as two's complement or unsigned numbers."""
    top = word(word(1) << word(WIDTH - 1)) if signed else word(0)
    return word(a ^ top) < word(b ^ top)


@lane
def magnitude(a: int, signed: int) -> int:
    """|a|; the lowest number keeps its pattern."""
    return word(word(0) - a) if signed and integer(a) < integer(0) else word(a)


@lane
def quotient(a: int, b: int, signed: int) -> int:
    """a / b toward zero; all ones for b = 0; the lowest number by -1 is itself."""
    divisor = magnitude(b, signed)
    whole = word(magnitude(a, signed) // (word(1) if divisor == word(0) else divisor))
    negative = signed and integer(word(a ^ b)) < integer(0)
    whole = word(word(0) - whole) if negative else whole
    return word(word(0) - word(1)) if divisor == word(0) else whole


@lane
def remainder(a: int, b: int, signed: int) -> int:
    """a - trunc(a / b) * b, with the sign of `a`; `a` itself for b = 0."""
    if b == word(0):
        return word(a)
    return word(a - word(quotient(a, b, signed) * b))


@lane
def alu_int32(op: int, a: int, b: int, signed: int) -> int:
    """One operator of the integer band.

    Args:
        op: operator code; the reduce-only ARGMAX / ARGMIN and codes outside the band give 0.
        a, b: 32-bit patterns (64-bit for `alu_int64`); ABS_VALUE_INT takes `a`.
        signed: 1 when the operands are signed. It decides for the operators that take either; the others are signed
            or unsigned by name.

    Returns:
        A pattern of the same width; compares give 0 or 1.
    """
    one, zero = word(1), word(0)
    if op == AluOp.ADD_INT:
        return word(a + b)
    if op == AluOp.SUBTRACT_INT:
        return word(a - b)
    if op == AluOp.MULT_INT or op == AluOp.MULT_UINT:
        return word(a * b)
    if op == AluOp.DIVIDE_INT:
        return quotient(a, b, signed)
    if op == AluOp.DIVIDE_UINT:
        return quotient(a, b, 0)
    if op == AluOp.MOD or op == AluOp.MOD_INT:
        return remainder(a, b, signed)
    if op == AluOp.MOD_UINT:
        return remainder(a, b, 0)
    if op == AluOp.IS_EQUAL_INT:
        return one if a == b else zero
    if op == AluOp.IS_NE_INT:
        return one if a != b else zero
    if op == AluOp.ABS_MAX_INT:
        return max(magnitude(a, signed), magnitude(b, signed))
    if op == AluOp.ABS_MIN_INT:
        return min(magnitude(a, signed), magnitude(b, signed))
    if op == AluOp.ABS_DIFF_INT:
        return word(b - a) if less(a, b, signed) else word(a - b)
    if op == AluOp.ABS_VALUE_INT:
        return magnitude(a, signed)
    if op == AluOp.MAX_INT:
        return word(b) if less(a, b, 1) else word(a)
    if op == AluOp.MIN_INT:
        return word(a) if less(a, b, 1) else word(b)
    if op == AluOp.MAX_UINT:
        return max(word(a), word(b))
    if op == AluOp.MIN_UINT:
        return min(word(a), word(b))
    if op == AluOp.IS_GT_INT:
        return one if less(b, a, 1) else zero
    if op == AluOp.IS_GE_INT:
        return zero if less(a, b, 1) else one
    if op == AluOp.IS_LE_INT:
        return zero if less(b, a, 1) else one
    if op == AluOp.IS_LT_INT:
        return one if less(a, b, 1) else zero
    if op == AluOp.IS_GT_UINT:
        return one if less(b, a, 0) else zero
    if op == AluOp.IS_GE_UINT:
        return zero if less(a, b, 0) else one
    if op == AluOp.IS_LE_UINT:
        return zero if less(b, a, 0) else one
    if op == AluOp.IS_LT_UINT:
        return one if less(a, b, 0) else zero
    return zero


ones64 = bind(ones, word=u64, WIDTH=64)
alu_bitvec64 = bind(
    alu_bitvec32,
    word=u64,
    ones=ones64,
    shift_left=bind(shift_left, word=u64, WIDTH=64, ones=ones64),
    shift_right=bind(shift_right, word=u64, WIDTH=64),
    shift_right_signed=bind(shift_right_signed, word=u64, integer=i64, WIDTH=64, ones=ones64),
)
less64 = bind(less, word=u64, WIDTH=64)
magnitude64 = bind(magnitude, word=u64, integer=i64)
quotient64 = bind(quotient, word=u64, integer=i64, magnitude=magnitude64)
alu_int64 = bind(
    alu_int32,
    word=u64,
    less=less64,
    magnitude=magnitude64,
    quotient=quotient64,
    remainder=bind(remainder, word=u64, quotient=quotient64),
)


@lane
def alu_bitvec(op: int, a: int, b: int, width: int) -> int:
    """`alu_bitvec32` or `alu_bitvec64` by width; patterns travel as 64-bit words."""
    if width == 64:
        return alu_bitvec64(op, u64(a), u64(b), width)
    return u64(alu_bitvec32(op, u32(a), u32(b), width))


@lane
def alu_int(op: int, a: int, b: int, width: int, signed: int) -> int:
    """`alu_int32` or `alu_int64` by width; patterns travel as 64-bit words.

    The widening form of an operator is this one at the result's width, on operands extended by their signedness.
    """
    if width == 64:
        return alu_int64(op, u64(a), u64(b), signed)
    return u64(alu_int32(op, u32(a), u32(b), signed))


@lane
def argument_wins(op: int, value: int, best: int, width: int) -> bool:
    """Whether `value` takes the place of `best` in ARGMAX / ARGMIN: only when strictly better, so the first of equals
    stays. Patterns of 32 or 64 bits as 64-bit words."""
    signed = 1 if op == AluOp.ARGMAX_INT or op == AluOp.ARGMIN_INT else 0
    lift = u64(64 - width)
    a, b = u64(u64(value) << lift), u64(u64(best) << lift)
    if op == AluOp.ARGMAX_INT or op == AluOp.ARGMAX_UINT:
        return less64(b, a, signed)
    return less64(a, b, signed)


@lane
def alu_bitvec_row(op: int, a: Any, b: Any, out: Any, width: int) -> None:
    """One raw-bit operator over rows of unsigned codes of `width` bits, in one axis; `out` may be `a` or `b`."""
    if width == 64:
        for i in range(out.size):
            out[i] = alu_bitvec64(op, u64(a[i]), u64(b[i]), width)
    else:
        for i in range(out.size):
            out[i] = alu_bitvec32(op, u32(a[i]), u32(b[i]), width)


@lane
def alu_int_row(op: int, a: Any, b: Any, out: Any, width: int, signed: int) -> None:
    """One integer operator over rows of unsigned codes of 32 or 64 bits, in one axis; `out` may be `a` or `b`."""
    if width == 64:
        for i in range(out.size):
            out[i] = alu_int64(op, u64(a[i]), u64(b[i]), signed)
    else:
        for i in range(out.size):
            out[i] = alu_int32(op, u32(a[i]), u32(b[i]), signed)

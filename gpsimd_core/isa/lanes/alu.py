"""The ALU operators on fp32 bits: one lane each, and `alu_fp32`, which picks by operator code.

Each operator rounds once, to nearest even. A NaN result is 7fc00000, whatever the operands' sign and payload.
`nan_policy` is the number of policy `reduce_nan`: SUPPRESS (the number wins, -0 orders below +0), PROPAGATE (any NaN
wins), SELECT (a > b ? a : b).

Sources: settled readings 16 to 21 (docs/decisions.md); Tensor-Tensor Elementwise Arith; The ALU-Op Datapath + Dtype
Matrix.
"""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.enums import AluOp
from gpsimd_core.isa.lane import bind, lane
from gpsimd_core.isa.lanes.transcend import power
from gpsimd_core.isa.lanes.words import bits32, double, f32, i32, root, u32

__all__ = [
    "NAN",
    "NAN_POLICIES",
    "ONE",
    "PROPAGATE",
    "SELECT",
    "SUPPRESS",
    "absolute",
    "absolute_difference",
    "add",
    "alu_fp32",
    "alu_fp32_row",
    "bypass",
    "canonical",
    "divide",
    "greater",
    "is_eq",
    "is_ge",
    "is_gt",
    "is_le",
    "is_lt",
    "is_nan",
    "is_ne",
    "key_of",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "maximum_absolute",
    "minimum",
    "minimum_absolute",
    "multiply",
    "pattern_of",
    "reciprocal",
    "reciprocal_root",
    "relu",
    "square",
    "square_root",
    "subtract",
    "symmetric_clamp",
]

SUPPRESS, PROPAGATE, SELECT = 0, 1, 2
NAN_POLICIES = {"suppress": SUPPRESS, "propagate": PROPAGATE, "select": SELECT}

NAN, INFINITY, ONE, SIGN, MAGNITUDE = 0x7FC00000, 0x7F800000, 0x3F800000, 0x80000000, 0x7FFFFFFF


@lane
def is_nan(bits: int) -> bool:
    """Whether an fp32 pattern is NaN."""
    return u32(bits & MAGNITUDE) > u32(INFINITY)


@lane
def canonical(bits: int) -> int:
    """The pattern itself, or 7fc00000 for NaN."""
    return u32(NAN) if u32(bits & MAGNITUDE) > u32(INFINITY) else u32(bits)


@lane
def bypass(a: int) -> int:
    """`a` as an arithmetic result."""
    return canonical(a)


@lane
def add(a: int, b: int) -> int:
    """a + b."""
    return canonical(bits32(f32(a) + f32(b)))


@lane
def subtract(a: int, b: int) -> int:
    """a - b."""
    return canonical(bits32(f32(a) - f32(b)))


@lane
def multiply(a: int, b: int) -> int:
    """a * b."""
    return canonical(bits32(f32(a) * f32(b)))


@lane
def square(a: int) -> int:
    """a * a."""
    return multiply(a, a)


@lane
def divide(a: int, b: int) -> int:
    """a / b; x / 0 is infinity by sign, 0 / 0 is NaN."""
    zero = u32(b << u32(1)) == u32(0)
    quotient = bits32(f32(a) / f32(u32(ONE) if zero else u32(b)))
    infinite = u32(u32(u32(a ^ b) & u32(SIGN)) | u32(INFINITY))
    undefined = u32(a << u32(1)) == u32(0) or is_nan(a)
    by_zero = u32(NAN) if undefined else infinite
    return canonical(by_zero if zero else quotient)


@lane
def reciprocal(a: int) -> int:
    """1 / a."""
    return divide(u32(ONE), a)


@lane
def square_root(a: int) -> int:
    """The square root; -0 gives -0, any other negative number NaN."""
    usable = u32(a) <= u32(INFINITY)
    answer = bits32(root(f32(u32(a) if usable else u32(ONE))))
    rest = u32(a) if u32(a) == u32(SIGN) else u32(NAN)
    return answer if usable else rest


@lane
def reciprocal_root(a: int) -> int:
    """1 / sqrt(a), correctly rounded; a zero gives infinity by sign, a negative number NaN."""
    usable = u32(a - u32(1)) < u32(INFINITY - 1)
    answer = bits32(1.0 / root(double(f32(u32(a) if usable else u32(ONE)))))
    zero = u32(u32(a & u32(SIGN)) | u32(INFINITY))
    rest = zero if u32(a << u32(1)) == u32(0) else u32(NAN)
    rest = u32(0) if u32(a) == u32(INFINITY) else rest
    return answer if usable else rest


@lane
def absolute(a: int) -> int:
    """|a|."""
    return canonical(u32(a & u32(MAGNITUDE)))


@lane
def absolute_difference(a: int, b: int) -> int:
    """|a - b|."""
    return u32(subtract(a, b) & u32(MAGNITUDE))


@lane
def key_of(bits: int) -> int:
    """A number's place in the order of fp32 numbers, -0 below +0, as a signed 32-bit integer; NaN has none."""
    return i32(u32(bits ^ u32(u32(i32(bits) >> i32(31)) >> u32(1))))


@lane
def pattern_of(key: int) -> int:
    """The fp32 pattern of a place in the order."""
    return u32(key_of(u32(key)))


@lane
def greater(a: int, b: int, nan_policy: int) -> int:
    """The larger of two; how NaN and zeros count is the policy's business."""
    if nan_policy == SELECT:
        return canonical(u32(a) if f32(a) > f32(b) else u32(b))
    larger = u32(a) if key_of(a) > key_of(b) else u32(b)
    if nan_policy == PROPAGATE:
        return u32(NAN) if is_nan(a) or is_nan(b) else larger
    larger = u32(a) if is_nan(b) else larger
    return canonical(u32(b) if is_nan(a) else larger)


@lane
def maximum(a: int, b: int, nan_policy: int) -> int:
    """The larger of two."""
    return greater(a, b, nan_policy)


@lane
def minimum(a: int, b: int, nan_policy: int) -> int:
    """The smaller of two: the larger of the negated ones, negated."""
    least = greater(u32(a ^ u32(SIGN)), u32(b ^ u32(SIGN)), nan_policy)
    return canonical(u32(least ^ u32(SIGN)))


@lane
def maximum_absolute(a: int, b: int, nan_policy: int) -> int:
    """The larger magnitude."""
    return maximum(u32(a & u32(MAGNITUDE)), u32(b & u32(MAGNITUDE)), nan_policy)


@lane
def minimum_absolute(a: int, b: int, nan_policy: int) -> int:
    """The smaller magnitude."""
    return minimum(u32(a & u32(MAGNITUDE)), u32(b & u32(MAGNITUDE)), nan_policy)


@lane
def relu(a: int, nan_policy: int) -> int:
    """The larger of `a` and +0."""
    return maximum(a, u32(0), nan_policy)


@lane
def symmetric_clamp(a: int, b: int, nan_policy: int) -> int:
    """copysign(max(|a|, |b|), a), as the header's comment says; the name would suggest the smaller magnitude."""
    return canonical(u32(maximum_absolute(a, b, nan_policy) | u32(a & u32(SIGN))))


@lane
def truth(bits: int) -> bool:
    """Whether a pattern counts as true: it compares unequal to zero, so NaN does and -0 does not."""
    return u32(bits << u32(1)) != u32(0)


@lane
def logical_and(a: int, b: int) -> int:
    """1.0 when both are true."""
    return u32(ONE) if truth(a) and truth(b) else u32(0)


@lane
def logical_or(a: int, b: int) -> int:
    """1.0 when any is true."""
    return u32(ONE) if truth(a) or truth(b) else u32(0)


@lane
def logical_xor(a: int, b: int) -> int:
    """1.0 when exactly one is true."""
    return u32(ONE) if truth(a) != truth(b) else u32(0)


@lane
def is_eq(a: int, b: int) -> int:
    """1.0 when equal; a NaN equals nothing."""
    return u32(ONE) if f32(a) == f32(b) else u32(0)


@lane
def is_ne(a: int, b: int) -> int:
    """1.0 when not equal, as always with a NaN."""
    return u32(ONE) if f32(a) != f32(b) else u32(0)


@lane
def is_gt(a: int, b: int) -> int:
    """1.0 when a > b."""
    return u32(ONE) if f32(a) > f32(b) else u32(0)


@lane
def is_ge(a: int, b: int) -> int:
    """1.0 when a >= b."""
    return u32(ONE) if f32(a) >= f32(b) else u32(0)


@lane
def is_lt(a: int, b: int) -> int:
    """1.0 when a < b."""
    return u32(ONE) if f32(a) < f32(b) else u32(0)


@lane
def is_le(a: int, b: int) -> int:
    """1.0 when a <= b."""
    return u32(ONE) if f32(a) <= f32(b) else u32(0)


@lane
def alu_fp32(op: int, a: int, b: int, nan_policy: int) -> int:
    """One operator of the fp32 band on fp32 bits.

    Args:
        op: operator code; a code that has no fp32 form gives NaN, whoever plans an instruction refuses it first.
        a, b: fp32 bits; unary operators take `a`.
        nan_policy: number of policy `reduce_nan`.

    Returns:
        fp32 bits.
    """
    if op == AluOp.BYPASS:
        return bypass(a)
    if op == AluOp.ADD:
        return add(a, b)
    if op == AluOp.SUBTRACT:
        return subtract(a, b)
    if op == AluOp.MULT:
        return multiply(a, b)
    if op == AluOp.DIVIDE:
        return divide(a, b)
    if op == AluOp.MAX:
        return maximum(a, b, nan_policy)
    if op == AluOp.MIN:
        return minimum(a, b, nan_policy)
    if op == AluOp.LOGICAL_AND:
        return logical_and(a, b)
    if op == AluOp.LOGICAL_OR:
        return logical_or(a, b)
    if op == AluOp.LOGICAL_XOR:
        return logical_xor(a, b)
    if op == AluOp.IS_EQ:
        return is_eq(a, b)
    if op == AluOp.IS_NE:
        return is_ne(a, b)
    if op == AluOp.IS_GT:
        return is_gt(a, b)
    if op == AluOp.IS_GE:
        return is_ge(a, b)
    if op == AluOp.IS_LE:
        return is_le(a, b)
    if op == AluOp.IS_LT:
        return is_lt(a, b)
    if op == AluOp.ABSOLUTE_DIFF:
        return absolute_difference(a, b)
    if op == AluOp.ABSOLUTE_VALUE:
        return absolute(a)
    if op == AluOp.POW:
        return power(a, b)
    if op == AluOp.RSQRT:
        return reciprocal_root(a)
    if op == AluOp.ABS_MAX:
        return maximum_absolute(a, b, nan_policy)
    if op == AluOp.ABS_MIN:
        return minimum_absolute(a, b, nan_policy)
    if op == AluOp.RE_LU:
        return relu(a, nan_policy)
    if op == AluOp.SQUARE:
        return square(a)
    if op == AluOp.SYMMETRIC_CLAMP:
        return symmetric_clamp(a, b, nan_policy)
    return u32(NAN)


value = add


@lane
def each_pair(a: Any, b: Any, out: Any) -> None:
    """One operator over two rows of fp32 bits: a loop to `bind` a value to."""
    for i in range(out.size):
        out[i] = value(u32(a[i]), u32(b[i]))


@lane
def _maximum(a: int, b: int) -> int:
    return maximum(a, b, SUPPRESS)


@lane
def _minimum(a: int, b: int) -> int:
    return minimum(a, b, SUPPRESS)


_add_row = each_pair
_subtract_row = bind(each_pair, value=subtract)
_multiply_row = bind(each_pair, value=multiply)
_maximum_row = bind(each_pair, value=_maximum)
_minimum_row = bind(each_pair, value=_minimum)


@lane
def alu_fp32_row(op: int, a: Any, b: Any, out: Any, nan_policy: int) -> None:
    """One operator over rows of fp32 bits, `alu_fp32` element by element; the common ones run at vector speed.

    Args:
        op: operator code.
        a, b: uint32, one axis, as long as `out`; unary operators read `a` only.
        out: uint32, receives the results; it may be `a` or `b`.
        nan_policy: number of policy `reduce_nan`.
    """
    if op == AluOp.ADD:
        _add_row(a, b, out)
    elif op == AluOp.SUBTRACT:
        _subtract_row(a, b, out)
    elif op == AluOp.MULT:
        _multiply_row(a, b, out)
    elif op == AluOp.MAX and nan_policy == SUPPRESS:
        _maximum_row(a, b, out)
    elif op == AluOp.MIN and nan_policy == SUPPRESS:
        _minimum_row(a, b, out)
    else:
        for i in range(out.size):
            out[i] = alu_fp32(op, u32(a[i]), u32(b[i]), nan_policy)

"""fp32 arithmetic on bit patterns in Python integers and fractions, rounded once to nearest even. No project code."""

from __future__ import annotations

from fractions import Fraction

from value_model import FLOATS, is_nan32, magnitude_code, magnitude_value

__all__ = [
    "CANONICAL",
    "add",
    "canonical",
    "compare",
    "divide",
    "key",
    "multiply",
    "negate",
    "number",
    "rounded",
    "subtract",
]

FP32 = FLOATS["fp32"]
CANONICAL, INFINITY, SIGN = 0x7FC00000, 0x7F800000, 0x80000000


def canonical(bits: int) -> int:
    """An arithmetic result: NaN is 7fc00000."""
    return CANONICAL if is_nan32(bits) else bits


def number(bits: int) -> Fraction:
    """The value of a finite pattern."""
    value = magnitude_value(FP32, bits & 0x7FFFFFFF)
    return -value if bits & SIGN else value


def rounded(value: Fraction, *, negative_zero: bool = False) -> int:
    """The pattern nearest to a value."""
    if value == 0:
        return SIGN if negative_zero else 0
    sign = SIGN if value < 0 else 0
    return sign | min(magnitude_code(FP32, abs(value)), INFINITY)


def negate(bits: int) -> int:
    return bits ^ SIGN


def add(a: int, b: int) -> int:
    if is_nan32(a) or is_nan32(b):
        return CANONICAL
    infinite = [x for x in (a, b) if x & 0x7FFFFFFF == INFINITY]
    if infinite:
        return infinite[0] if len(set(infinite)) == 1 else CANONICAL
    if (a | b) & 0x7FFFFFFF == 0:
        return a & b
    return rounded(number(a) + number(b))


def subtract(a: int, b: int) -> int:
    return add(a, b if is_nan32(b) else negate(b))


def multiply(a: int, b: int) -> int:
    if is_nan32(a) or is_nan32(b):
        return CANONICAL
    sign = (a ^ b) & SIGN
    sizes = (a & 0x7FFFFFFF, b & 0x7FFFFFFF)
    if INFINITY in sizes:
        return CANONICAL if 0 in sizes else sign | INFINITY
    return sign | rounded(abs(number(a) * number(b)))


def divide(a: int, b: int) -> int:
    if is_nan32(a) or is_nan32(b):
        return CANONICAL
    sign = (a ^ b) & SIGN
    x, y = a & 0x7FFFFFFF, b & 0x7FFFFFFF
    if x == y and x in (0, INFINITY):
        return CANONICAL
    if x == INFINITY or y == 0:
        return sign | INFINITY
    if y == INFINITY:
        return sign
    return sign | rounded(abs(number(a) / number(b)))


def key(bits: int) -> int:
    """The place of a number, -0 below +0."""
    magnitude = bits & 0x7FFFFFFF
    return -magnitude - 1 if bits & SIGN else magnitude


def compare(a: int, b: int) -> int | None:
    """-1, 0 or 1; None where one is a NaN. The zeros are equal."""
    if is_nan32(a) or is_nan32(b):
        return None
    if (a | b) & 0x7FFFFFFF == 0:
        return 0
    return (key(a) > key(b)) - (key(a) < key(b))

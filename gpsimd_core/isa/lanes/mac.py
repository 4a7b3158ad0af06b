"""Integer products and accumulators of three times the operand width, which wrap and never saturate.

Accumulators of 24 and 48 bits are numbers; those of 96 bits are three 32-bit words, low word first. `sign_a` and
`sign_b` are 1 for a two's-complement factor and 0 for an unsigned one; `step` is 1 to add the product, -1 to subtract
it and 0 to leave the accumulator out.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.bits import mask, signed
from gpsimd_core.isa.lanes.integer import number

__all__ = [
    "accumulate",
    "accumulate_complex",
    "accumulate_wide",
    "decrement_negative",
    "decrement_negative_wide",
    "multiply",
    "multiply_complex",
    "multiply_sign",
    "multiply_wide",
    "square_pair",
    "square_pair_wide",
]

WORD = 0xFFFFFFFF


@lane
def multiply(a: int, b: int, width: int, sign_a: int, sign_b: int) -> int:
    """The exact product of two factors of at most 16 bits."""
    return number(a, width, sign_a) * number(b, width, sign_b)


@lane
def accumulate(acc: int, a: int, b: int, width: int, sign_a: int, sign_b: int, step: int) -> int:
    """Accumulator plus or minus the product, modulo 2^(3 * width)."""
    return (acc + step * multiply(a, b, width, sign_a, sign_b)) & mask(3 * width)


@lane
def _carry(low: int, middle: int, high: int) -> tuple[int, int, int]:
    """Three words out of sums that ran over: each passes its excess, also a negative one, to the next."""
    middle += low >> 32
    high += middle >> 32
    return low & WORD, middle & WORD, high & WORD


@lane
def _product(a: int, b: int) -> tuple[int, int, int]:
    """The words of a * b, two's complement over 96 bits, for -2^31 <= a, b < 2^32."""
    low = a * (b & 0xFFFF)
    high = a * (b >> 16)
    return _carry(low + ((high & 0xFFFF) << 16), high >> 16, 0)


@lane
def multiply_wide(a: int, b: int, width_a: int, sign_a: int, sign_b: int) -> tuple[int, int, int]:
    """The three words of a product of a `width_a`-bit and a 32-bit factor."""
    x, y = number(a, width_a, sign_a), number(b, 32, sign_b)
    return _product(x, y)


@lane
def accumulate_wide(
    acc: Sequence[int], a: int, b: int, width_a: int, sign_a: int, sign_b: int, step: int
) -> tuple[int, int, int]:
    """Accumulator plus or minus the product, modulo 2^96."""
    low, middle, high = multiply_wide(a, b, width_a, sign_a, sign_b)
    return _carry(acc[0] + step * low, acc[1] + step * middle, acc[2] + step * high)


@lane
def multiply_complex(a: int, b: int, conjugate: int) -> tuple[int, int]:
    """(real, imaginary) of a product of packed pairs, real part in the low 16 bits; `conjugate` takes that of b."""
    real_a, imaginary_a = signed(a, 16), signed(a >> 16, 16)
    real_b, imaginary_b = signed(b, 16), signed(b >> 16, 16)
    if conjugate:
        imaginary_b = -imaginary_b
    return (
        (real_a * real_b - imaginary_a * imaginary_b) & mask(48),
        (real_a * imaginary_b + imaginary_a * real_b) & mask(48),
    )


@lane
def accumulate_complex(acc_real: int, acc_imaginary: int, a: int, b: int, conjugate: int, step: int) -> tuple[int, int]:
    """Both parts plus or minus the complex product, each modulo 2^48."""
    real, imaginary = multiply_complex(a, b, conjugate)
    return (acc_real + step * real) & mask(48), (acc_imaginary + step * imaginary) & mask(48)


@lane
def square_pair(a: int, b: int, width: int) -> int:
    """a^2 + b^2 of two signed lanes of at most 16 bits."""
    x, y = signed(a, width), signed(b, width)
    return x * x + y * y


@lane
def square_pair_wide(a: int, b: int) -> tuple[int, int, int]:
    """a^2 + b^2 of two signed 32-bit lanes."""
    x, y = signed(a, 32), signed(b, 32)
    low, middle, high = _product(x, x)
    other_low, other_middle, other_high = _product(y, y)
    return _carry(low + other_low, middle + other_middle, high + other_high)


@lane
def decrement_negative(a: int, width: int) -> int:
    """One less where the accumulator is negative, wrapping at the minimum."""
    return a - 1 if signed(a, width) < 0 else a


@lane
def decrement_negative_wide(a: Sequence[int]) -> tuple[int, int, int]:
    """`decrement_negative` on three words."""
    return _carry(a[0] - (a[2] >> 31), a[1], a[2])


@lane
def multiply_sign(a: int, b: int, width: int) -> int:
    """`b` negated where `a` is negative; the negation wraps."""
    return -b if signed(a, width) < 0 else b

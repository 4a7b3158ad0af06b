"""What the activation table has beyond the ALU operators and `transcend.py`: circular functions, and gates made of
exponentials.

Each is evaluated in double precision, from additions, products and quotients alone, and rounded once to fp32.

Source: settled reading 21 (docs/decisions.md), which is PROPOSED.
"""

from __future__ import annotations

from math import factorial

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.alu import canonical, multiply
from gpsimd_core.isa.lanes.transcend import exp64, number, unless_nan, with_sign
from gpsimd_core.isa.lanes.words import bits32, double, f32, i64, u32, u64

__all__ = ["arctangent", "cosine", "gelu_tanh", "leaky_relu", "mish", "rectified", "sign_of", "sine"]

NAN, INFINITY, ONE, SIGN, MAGNITUDE = 0x7FC00000, 0x7F800000, 0x3F800000, 0x80000000, 0x7FFFFFFF

ROOT_2_OVER_PI = 0.7978845608028654
CUBE = 0.044715
HALF_PI, SIXTH_PI, ROOT_3, TAN_TWELFTH_PI = (
    1.5707963267948966,
    0.5235987755982989,
    1.7320508075688772,
    0.2679491924311227,
)

# 2 / pi: 32 zero bits, then the first 256 of its fraction
TWO_OVER_PI = (
    0, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
)  # fmt: skip
SIN = tuple((-1.0) ** k / factorial(2 * k + 1) for k in range(9))
COS = tuple((-1.0) ** k / factorial(2 * k) for k in range(10))
ATAN = tuple((-1.0) ** k / (2 * k + 1) for k in range(15))


@lane
def rectified(a: int) -> int:
    """The number itself, +0 below zero, NaN for NaN."""
    return unless_nan(a, u32(0) if u32(a) >= u32(SIGN) else u32(a))


@lane
def leaky_relu(a: int, slope: int) -> int:
    """The number itself, slope x a below zero, NaN for NaN."""
    return multiply(a, slope) if u32(a) > u32(SIGN) else canonical(a)


@lane
def sign_of(a: int) -> int:
    """1, -1, or the zero itself; NaN for NaN."""
    return unless_nan(a, u32(a) if u32(a << u32(1)) == u32(0) else u32(u32(a & u32(SIGN)) | u32(ONE)))


@lane
def gelu_tanh(a: int) -> int:
    """a x (1 + tanh(sqrt(2 / pi) x (a + 0.044715 x a^3))) / 2; -0 far below zero."""
    x = number(a, 15.5)
    inner = ROOT_2_OVER_PI * (x + CUBE * (x * (x * x)))
    gate = 1.0 / (1.0 + exp64(-2.0 * inner))
    return unless_nan(a, bits32((x if x < 0.0 else double(f32(a))) * gate))


@lane
def mish(a: int) -> int:
    """a x tanh(ln(1 + e^a)); -0 far below zero."""
    x = number(a, 200.0)
    grown = exp64(x)
    rise = grown * (grown + 2.0)
    gate = rise / (rise + 2.0)
    return unless_nan(a, bits32((x if x < 0.0 else double(f32(a))) * gate))


@lane
def arctangent(a: int) -> int:
    """arctan a."""
    x = double(f32(u32(a & u32(MAGNITUDE))))
    y = 1.0 / x if x > 1.0 else x
    t = (y * ROOT_3 - 1.0) / (y + ROOT_3) if y > TAN_TWELFTH_PI else y
    w = t * t
    s = ATAN[13] + w * ATAN[14]
    s = ATAN[12] + w * s
    s = ATAN[11] + w * s
    s = ATAN[10] + w * s
    s = ATAN[9] + w * s
    s = ATAN[8] + w * s
    s = ATAN[7] + w * s
    s = ATAN[6] + w * s
    s = ATAN[5] + w * s
    s = ATAN[4] + w * s
    s = ATAN[3] + w * s
    s = ATAN[2] + w * s
    s = ATAN[1] + w * s
    angle = t + t * (w * s)
    angle = SIXTH_PI + angle if y > TAN_TWELFTH_PI else angle
    return unless_nan(a, with_sign(a, bits32(HALF_PI - angle if x > 1.0 else angle)))


@lane
def quarter_turns(bits: int) -> tuple[int, float]:
    """A finite fp32 magnitude of 0.5 or more as quarter turns: their number modulo 4, and the angle left, at most pi / 4.

    The significand is multiplied by the 96 bits of 2 / pi that matter at its exponent.
    """
    exponent = u64(u64(bits) >> u64(23))  # 126 to 254
    significand = u64(u64(u64(bits) & u64(0x007FFFFF)) | u64(0x00800000))
    start = u64(exponent - u64(120))  # of the 96 bits; the first weighs 2
    word, skip = i64(start >> u64(5)), u64(start & u64(31))
    high = u64(u64(u64(TWO_OVER_PI[word]) << u64(32)) | u64(TWO_OVER_PI[word + 1]))
    low = u64(u64(u64(TWO_OVER_PI[word + 2]) << u64(32)) | u64(TWO_OVER_PI[word + 3]))
    low_half = u64(u64(high << u64(32)) | u64(low >> u64(32)))
    q2 = u64(u64(high << skip) >> u64(32))
    q1 = u64(u64(low_half << skip) >> u64(32))
    q0 = u64(u64(low << skip) >> u64(32))
    p0 = u64(significand * q0)
    p1 = u64(u64(significand * q1) + u64(p0 >> u64(32)))
    p2 = u64(u64(significand * q2) + u64(p1 >> u64(32)))
    turns = u64(u64(p2 << u64(32)) | u64(p1 & u64(0xFFFFFFFF)))  # 2 bits before the point, 62 after it
    fraction = u64(u64(turns << u64(2)) | u64(u64(p0 & u64(0xFFFFFFFF)) >> u64(30)))
    whole = u64(u64(turns >> u64(62)) + u64(fraction >> u64(63)))
    return whole & u64(3), double(i64(fraction)) * (HALF_PI / 18446744073709551616.0)


@lane
def circular(bits: int, ahead: int) -> int:
    """The sine of an fp32 magnitude plus `ahead` quarter turns."""
    large = u32(bits) >= u32(0x3F000000)
    turns, angle = quarter_turns(u32(bits) if large else u32(ONE))
    turns = u64(turns if large else u64(0))
    angle = angle if large else double(f32(bits))
    turns = u64(u64(turns + u64(ahead)) & u64(3))
    w = angle * angle
    s = SIN[7] + w * SIN[8]
    s = SIN[6] + w * s
    s = SIN[5] + w * s
    s = SIN[4] + w * s
    s = SIN[3] + w * s
    s = SIN[2] + w * s
    s = SIN[1] + w * s
    s = angle + angle * (w * s)
    c = COS[8] + w * COS[9]
    c = COS[7] + w * c
    c = COS[6] + w * c
    c = COS[5] + w * c
    c = COS[4] + w * c
    c = COS[3] + w * c
    c = COS[2] + w * c
    c = 1.0 - (w * 0.5 - w * (w * c))
    value = c if turns & u64(1) else s
    return bits32(-value if turns & u64(2) else value)


@lane
def sine(a: int) -> int:
    """sin a, for every finite fp32 number; NaN for an infinite one."""
    size = u32(a & u32(MAGNITUDE))
    finite = size < u32(INFINITY)
    answer = u32(circular(size if finite else u32(ONE), 0) ^ u32(a & u32(SIGN)))
    return answer if finite else u32(NAN)


@lane
def cosine(a: int) -> int:
    """cos a, for every finite fp32 number; NaN for an infinite one."""
    size = u32(a & u32(MAGNITUDE))
    finite = size < u32(INFINITY)
    answer = circular(size if finite else u32(ONE), 1)
    return answer if finite else u32(NAN)

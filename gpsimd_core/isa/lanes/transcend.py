"""Transcendental functions: our own evaluations in double precision, from additions, products, quotients and roots
alone, so that the stored bits are the same on every machine.

Functions named `..64` take and give doubles and are good to about 1e-15; the others take and give fp32 bits. Rounded
once to fp32, every result is within 0.51 ulp of the exact one (a test holds 1 ulp against another arithmetic).

Source: settled reading 21 (docs/decisions.md), which is PROPOSED.
"""

from __future__ import annotations

from math import factorial

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.words import bits32, bits64, double, f32, f64, u32, u64

__all__ = [
    "error_function",
    "exponential",
    "gelu",
    "hyperbolic_tangent",
    "logarithm",
    "power",
    "sigmoid",
    "silu",
    "softplus",
]

NAN, INFINITY, ONE, SIGN, MAGNITUDE = 0x7FC00000, 0x7F800000, 0x3F800000, 0x80000000, 0x7FFFFFFF

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693147180369123816490  # the upper 33 bits of ln 2, so that k * LN2_HIGH is exact
LN2_LOW = 1.90821492927058770002e-10
ROOT_HALF = 0.7071067811865476
TO_INTEGER = 6755399441055744.0  # 1.5 x 2^52: adding it rounds to an integer, which then stands in the low bits

EXP = tuple(1.0 / factorial(k) for k in range(15))

# (1 + z/2) x exp(z^2) x erfc(z) over 0 <= z <= 11 by Chebyshev interpolation, as a polynomial in v, which runs from -1
# at z = 11 to 1 at z = 0 and is linear in 1 / (1 + z/2).
ERFC = (
    0.567017294776998,
    0.3280580425255921,
    0.10490060142908843,
    0.006636721237429304,
    -0.006488945000861354,
    -0.0007254322773477374,
    0.0006529010184763412,
    7.390846764485408e-06,
    -7.64237102251123e-05,
    1.4694650042455538e-05,
    6.427955318909241e-06,
    -3.83496229108094e-06,
    2.525865087074026e-07,
    5.017280078359377e-07,
    -2.0344775575024164e-07,
    -1.1687216014115614e-08,
    2.7356260398369442e-08,
    -5.024776318503741e-09,
)
ERFC_MIDDLE, ERFC_HALF = 0.5769230769230769, 0.4230769230769231

ERF = tuple((-1.0) ** k / (factorial(k) * (2 * k + 1)) for k in range(12))
ERF_SLOPE = 1.1283791670955126  # 2 / sqrt(pi)


@lane
def exp_parts64(x: float) -> tuple[float, float]:
    """expm1(r) and 2^k, where x = k ln 2 + r and |r| <= ln 2 / 2, for |x| <= 700."""
    shifted = x * LOG2_E + TO_INTEGER
    k = shifted - TO_INTEGER
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = EXP[13] + r * EXP[14]
    p = EXP[12] + r * p
    p = EXP[11] + r * p
    p = EXP[10] + r * p
    p = EXP[9] + r * p
    p = EXP[8] + r * p
    p = EXP[7] + r * p
    p = EXP[6] + r * p
    p = EXP[5] + r * p
    p = EXP[4] + r * p
    p = EXP[3] + r * p
    p = EXP[2] + r * p
    scale = f64(u64(u64(bits64(shifted) << u64(52)) + u64(0x3FF0000000000000)))
    return r + r * (r * p), scale


@lane
def exp64(x: float) -> float:
    """e^x for |x| <= 700."""
    p, scale = exp_parts64(x)
    return scale + scale * p


@lane
def expm1_64(x: float) -> float:
    """e^x - 1 for |x| <= 700, accurate near 0."""
    p, scale = exp_parts64(x)
    return scale * p + (scale - 1.0)


@lane
def atanh_series64(f: float) -> float:
    """2 atanh(f) for |f| <= 0.18."""
    w = f * f
    s = 1.0 / 23.0 + w * (1.0 / 25.0)
    s = 1.0 / 21.0 + w * s
    s = 1.0 / 19.0 + w * s
    s = 1.0 / 17.0 + w * s
    s = 1.0 / 15.0 + w * s
    s = 1.0 / 13.0 + w * s
    s = 1.0 / 11.0 + w * s
    s = 1.0 / 9.0 + w * s
    s = 1.0 / 7.0 + w * s
    s = 1.0 / 5.0 + w * s
    s = 1.0 / 3.0 + w * s
    return 2.0 * f + 2.0 * f * (w * s)


@lane
def log64(x: float) -> float:
    """ln x for positive normal doubles, accurate near 1."""
    bits = bits64(x)
    # the exponent that leaves a mantissa in [sqrt(1/2), sqrt(2))
    k = u64(u64(u64(bits - bits64(ROOT_HALF)) >> u64(52)) & u64(0xFFF))
    mantissa = f64(u64(bits - u64(k << u64(52))))
    exponent = double(k) - (4096.0 if k >= u64(2048) else 0.0)
    return exponent * LN2_HIGH + (atanh_series64((mantissa - 1.0) / (mantissa + 1.0)) + exponent * LN2_LOW)


@lane
def log1p64(x: float) -> float:
    """ln(1 + x) for 0 <= x, accurate near 0."""
    small = x if x < 0.4 else 0.0
    return atanh_series64(small / (2.0 + small)) if x < 0.4 else log64(1.0 + x)


@lane
def erfc64(z: float) -> float:
    """The complementary error function for 0 <= z <= 11, with a small relative error."""
    t = 1.0 / (1.0 + 0.5 * z)
    v = (t - ERFC_MIDDLE) / ERFC_HALF
    p = ERFC[16] + v * ERFC[17]
    p = ERFC[15] + v * p
    p = ERFC[14] + v * p
    p = ERFC[13] + v * p
    p = ERFC[12] + v * p
    p = ERFC[11] + v * p
    p = ERFC[10] + v * p
    p = ERFC[9] + v * p
    p = ERFC[8] + v * p
    p = ERFC[7] + v * p
    p = ERFC[6] + v * p
    p = ERFC[5] + v * p
    p = ERFC[4] + v * p
    p = ERFC[3] + v * p
    p = ERFC[2] + v * p
    p = ERFC[1] + v * p
    p = ERFC[0] + v * p
    return p * t * exp64(-(z * z))


@lane
def erf_series64(x: float) -> float:
    """The error function for |x| <= 0.5."""
    w = x * x
    s = ERF[10] + w * ERF[11]
    s = ERF[9] + w * s
    s = ERF[8] + w * s
    s = ERF[7] + w * s
    s = ERF[6] + w * s
    s = ERF[5] + w * s
    s = ERF[4] + w * s
    s = ERF[3] + w * s
    s = ERF[2] + w * s
    s = ERF[1] + w * s
    return ERF_SLOPE * (x + x * (w * s))


@lane
def number(bits: int, limit: float) -> float:
    """The number of an fp32 pattern within [-limit, limit]; NaN gives `limit`."""
    x = double(f32(bits))
    x = x if x < limit else limit
    return x if x > -limit else -limit


@lane
def unless_nan(bits: int, answer: int) -> int:
    """The answer, or 7fc00000 where the operand is NaN."""
    return u32(NAN) if u32(bits & u32(MAGNITUDE)) > u32(INFINITY) else u32(answer)


@lane
def with_sign(bits: int, answer: int) -> int:
    """An odd function's answer for |x|, given the sign of x."""
    return u32(u32(answer & u32(MAGNITUDE)) | u32(bits & u32(SIGN)))


@lane
def exponential(a: int) -> int:
    """e^a."""
    return unless_nan(a, bits32(exp64(number(a, 200.0))))


@lane
def logarithm(a: int) -> int:
    """ln a; a zero gives -infinity, a negative number NaN."""
    usable = u32(a - u32(1)) < u32(INFINITY - 1)
    answer = bits32(log64(double(f32(u32(a) if usable else u32(ONE)))))
    rest = u32(0xFF800000) if u32(a << u32(1)) == u32(0) else u32(NAN)
    rest = u32(INFINITY) if u32(a) == u32(INFINITY) else rest
    return answer if usable else rest


@lane
def hyperbolic_tangent(a: int) -> int:
    """tanh a."""
    rise = expm1_64(2.0 * number(u32(a & u32(MAGNITUDE)), 20.0))
    return unless_nan(a, with_sign(a, bits32(rise / (rise + 2.0))))


@lane
def sigmoid(a: int) -> int:
    """1 / (1 + e^-a)."""
    return unless_nan(a, bits32(1.0 / (1.0 + exp64(-number(a, 200.0)))))


@lane
def silu(a: int) -> int:
    """a / (1 + e^-a); -0 far below zero."""
    x = number(a, 200.0)
    gate = 1.0 / (1.0 + exp64(-x))
    return unless_nan(a, bits32((x if x < 0.0 else double(f32(a))) * gate))


@lane
def softplus(a: int) -> int:
    """ln(1 + e^a)."""
    x = number(a, 200.0)
    low = log1p64(exp64(-abs(x)))
    large = u32(a) < u32(INFINITY) and x > 100.0
    answer = u32(a) if large else bits32(low + (x if x > 0.0 else 0.0))
    return unless_nan(a, u32(INFINITY) if u32(a) == u32(INFINITY) else answer)


@lane
def error_function(a: int) -> int:
    """erf a."""
    x = number(u32(a & u32(MAGNITUDE)), 11.0)
    near = erf_series64(x if x < 0.5 else 0.5)
    return unless_nan(a, with_sign(a, bits32(near if x < 0.5 else 1.0 - erfc64(x))))


@lane
def gelu(a: int) -> int:
    """a x (1 + erf(a / sqrt 2)) / 2; -0 far below zero."""
    x = number(a, 15.5)
    half_tail = 0.5 * erfc64(abs(x) * ROOT_HALF)
    gate = half_tail if x < 0.0 else 1.0 - half_tail
    return unless_nan(a, bits32((x if x < 0.0 else double(f32(a))) * gate))


@lane
def parity(bits: int) -> int:
    """Of an fp32 number: 0 when it is no integer, 1 when it is an odd one, 2 when it is an even one (or infinite)."""
    exponent = u32(u32(bits & u32(MAGNITUDE)) >> u32(23))
    below = u32(max(u32(150), exponent) - exponent)  # bits behind the point
    significand = u32(u32(bits & u32(0x007FFFFF)) | u32(0x00800000))
    lowest = u32(significand >> min(below, u32(31)))
    fraction = u32(significand << u32(u32(31) - min(below, u32(31))))
    if u32(bits << u32(1)) == u32(0) or exponent > u32(150):
        return 2
    if below > u32(23) or u32(fraction << u32(1)) != u32(0):
        return 0
    return 1 if lowest & u32(1) else 2


@lane
def power(a: int, b: int) -> int:
    """a^b by the rules of IEEE 754 pow: x^0 = 1^y = 1 even for NaN; a negative base takes integer exponents only.

    Within 1 ulp (reading 20). The corner cases are PROPOSED.
    """
    size, rise = u32(a & u32(MAGNITUDE)), u32(b & u32(MAGNITUDE))
    if rise == u32(0) or u32(a) == u32(ONE):
        return u32(ONE)
    if size > u32(INFINITY) or rise > u32(INFINITY):
        return u32(NAN)
    kind = parity(b)
    sign = u32(a & u32(SIGN)) if kind == 1 else u32(0)
    if size == u32(0) or size == u32(INFINITY):
        return u32(sign | (u32(0) if (size == u32(0)) == (u32(b) == rise) else u32(INFINITY)))
    if rise == u32(INFINITY):
        if size == u32(ONE):
            return u32(ONE)
        return u32(0) if (size < u32(ONE)) == (u32(b) == rise) else u32(INFINITY)
    if kind == 0 and u32(a) != size:
        return u32(NAN)
    grown = double(f32(b)) * log64(double(f32(size)))
    grown = grown if grown < 200.0 else 200.0
    return u32(sign | bits32(exp64(grown if grown > -200.0 else -200.0)))

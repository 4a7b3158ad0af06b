"""Transcendental functions, roots and reciprocals against MPFR: each within its stated bound, corners by table."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
from gmpy2 import mpfr

from gpsimd_core.isa.lane import compiled, lane
from gpsimd_core.isa.lanes import alu, transcend
from gpsimd_core.isa.lanes.words import u32

PRECISION = 150
BOUND = 0.501  # ulps of fp32; the double that is rounded is good to some 1e-13
RECIPROCAL_ROOT: Any = None

EXACT: dict[str, Callable[[Any], Any]] = {
    "exponential": gmpy2.exp,
    "logarithm": gmpy2.log,
    "hyperbolic_tangent": gmpy2.tanh,
    "sigmoid": lambda x: 1 / (1 + gmpy2.exp(-x)),
    "silu": lambda x: x / (1 + gmpy2.exp(-x)),
    "softplus": lambda x: x if x > 1000 else gmpy2.log1p(gmpy2.exp(x)),
    "error_function": gmpy2.erf,
    "gelu": lambda x: x * gmpy2.erfc(-x / gmpy2.sqrt(mpfr(2))) / 2,
    "reciprocal": lambda x: 1 / x,
    "square_root": gmpy2.sqrt,
    "reciprocal_root": gmpy2.rec_sqrt,
}


def function(name: str) -> Any:
    return getattr(transcend, name, None) or getattr(alu, name)


def number(bits: int) -> float:
    return float(np.uint32(bits).view(np.float32))


def ulps(bits: int, exact: Any) -> float:
    """Distance of an fp32 pattern from a number, in units of the last place of that number."""
    found = number(bits)
    limit = mpfr(2) ** 128
    if math.isinf(found):
        found, exact = math.copysign(1.0, found) * 2.0**127 * 2, min(max(exact, -limit), limit)
    exponent = max(gmpy2.get_exp(exact) - 1, -126) if exact != 0 else -126
    return float(abs(mpfr(found) - exact) / mpfr(2) ** (exponent - 23))


def operands(count: int, seed: int) -> list[int]:
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(0, 1 << 32, count, dtype=np.uint32)]
    drawn += [rng.normal(0, spread, count).astype(np.float32).view(np.uint32) for spread in (0.1, 3, 40)]
    near_one = (0x3F800000 + rng.integers(-3000, 3000, count)).astype(np.uint32)
    bits = np.concatenate([*drawn, near_one])
    return [value for value in bits.tolist() if math.isfinite(number(value)) and number(value) != 0]


@pytest.mark.parametrize("name", EXACT)
def test_within_the_bound(name: str) -> None:
    built, worst = compiled(function(name)), 0.0
    with gmpy2.context(gmpy2.get_context(), precision=PRECISION):
        for bits in operands(500, seed=len(name)):
            found = int(built(np.uint32(bits)))
            exact = EXACT[name](mpfr(number(bits)))
            if gmpy2.is_nan(exact):
                assert found == 0x7FC00000
            else:
                worst = max(worst, ulps(found, exact))
    assert worst <= BOUND


@pytest.mark.parametrize("name", EXACT)
def test_the_plain_function_gives_the_same_bits(name: str) -> None:
    plain, built = function(name), compiled(function(name))
    for bits in [*operands(40, seed=99), 0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFF800001, 1, 0x80000001]:
        assert plain(bits) == int(built(np.uint32(bits))), hex(bits)


SPECIAL = [  # +0, -0, +infinity, -infinity, NaN
    ("exponential", (0x3F800000, 0x3F800000, 0x7F800000, 0x00000000)),
    ("logarithm", (0xFF800000, 0xFF800000, 0x7F800000, 0x7FC00000)),
    ("hyperbolic_tangent", (0x00000000, 0x80000000, 0x3F800000, 0xBF800000)),
    ("sigmoid", (0x3F000000, 0x3F000000, 0x3F800000, 0x00000000)),
    ("silu", (0x00000000, 0x80000000, 0x7F800000, 0x80000000)),
    ("softplus", (0x3F317218, 0x3F317218, 0x7F800000, 0x00000000)),
    ("error_function", (0x00000000, 0x80000000, 0x3F800000, 0xBF800000)),
    ("gelu", (0x00000000, 0x80000000, 0x7F800000, 0x80000000)),
    ("reciprocal", (0x7F800000, 0xFF800000, 0x00000000, 0x80000000)),
    ("square_root", (0x00000000, 0x80000000, 0x7F800000, 0x7FC00000)),
    ("reciprocal_root", (0x7F800000, 0xFF800000, 0x00000000, 0x7FC00000)),
]


@pytest.mark.parametrize(("name", "expected"), SPECIAL)
def test_special_inputs(name: str, expected: tuple[int, ...]) -> None:
    specials = (0x00000000, 0x80000000, 0x7F800000, 0xFF800000)
    assert tuple(function(name)(bits) for bits in specials) == expected
    for nan in (0x7FC00000, 0xFFC00001, 0x7F800001):
        assert function(name)(nan) == 0x7FC00000


def test_powers_within_one_ulp() -> None:
    rng = np.random.default_rng(8)
    bases = np.concatenate(
        [rng.integers(0, 1 << 32, 1500, dtype=np.uint32), rng.normal(1, 0.3, 1500).astype(np.float32).view(np.uint32)]
    )
    rises = np.concatenate(
        [
            rng.normal(0, 9, 1500).astype(np.float32).view(np.uint32),
            rng.integers(-40, 40, 1500).astype(np.float32).view(np.uint32),
        ]
    )
    rises = rng.permutation(rises)
    built, worst, judged = compiled(transcend.power), 0.0, 0
    with gmpy2.context(gmpy2.get_context(), precision=PRECISION):
        for a, b in zip(bases.tolist(), rises.tolist(), strict=True):
            x, y = number(a), number(b)
            if not (math.isfinite(x) and math.isfinite(y)) or x == 0:
                continue
            found, exact = int(built(np.uint32(a), np.uint32(b))), mpfr(x) ** mpfr(y)
            if gmpy2.is_nan(exact):
                assert found == 0x7FC00000
            else:
                judged += 1
                worst = max(worst, ulps(found, exact))
    assert judged > 2000
    assert worst <= BOUND


def test_special_powers_as_in_c() -> None:
    values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        math.inf,
        -math.inf,
        math.nan,
        2.0**24 + 2,
        -(2.0**23) - 1,
        1e-45,
    ]
    for x in values:
        for y in values:
            a, b = (int(np.float32(value).view(np.uint32)) for value in (x, y))
            x, y = number(a), number(b)
            try:
                exact = math.pow(x, y)
            except ValueError:  # a pole, or a negative number to a broken power
                odd = y == int(y) and int(y) % 2 == 1
                exact = math.copysign(math.inf, x if odd else 1.0) if x == 0 else math.nan
            except OverflowError:
                odd = y == int(y) and int(y) % 2 == 1
                exact = -math.inf if x < 0 and odd else math.inf
            found = transcend.power(a, b)
            with np.errstate(all="ignore"):
                expected = 0x7FC00000 if math.isnan(exact) else int(np.float32(exact).view(np.uint32))
            assert abs(found - expected) <= 1, (x, y, hex(found), hex(expected))


def correctly_rounded_root(significand: int, exponent: int, found: int) -> bool:
    """Whether an fp32 pattern is the one nearest to 1 / sqrt(significand x 2^exponent)."""
    mantissa, power = (found & 0x7FFFFF) | 0x800000, (found >> 23) - 150
    below, above = Fraction(2 * mantissa - 1, 2), Fraction(2 * mantissa + 1, 2)
    value = Fraction(significand) * Fraction(2) ** exponent * Fraction(2) ** (2 * power)
    return below**2 * value < 1 < above**2 * value


def test_reciprocal_roots_are_correctly_rounded() -> None:
    rng = np.random.default_rng(11)
    for bits in rng.integers(0x3F000000, 0x40000000, 4000).tolist():  # two binades hold every case
        mantissa = (bits & 0x7FFFFF) | 0x800000
        if mantissa != 0x800000:
            assert correctly_rounded_root(mantissa, (bits >> 23) - 150, alu.reciprocal_root(bits)), hex(bits)


@lane
def _misrounded(first: int, count: int) -> int:
    """How many reciprocal roots from one pattern on are not the nearest: (2m - 1)^2 x < 4 < (2m + 1)^2 x, scaled."""
    wrong = 0
    for i in range(count):
        bits = u32(first + i)
        found = u32(RECIPROCAL_ROOT(bits))
        x = int((bits & u32(0x7FFFFF)) | u32(0x800000))
        odd = int(bits >> u32(23)) & 1  # 127 stands for [1, 2), 126 for [1/2, 1)
        m = int((found & u32(0x7FFFFF)) | u32(0x800000))
        # 1/sqrt(x 2^-23 2^(odd - 1)) = m 2^(found - 150): the remainder 2^k - (2m +- 1)^2 x must straddle zero
        shift = 23 + 1 - odd - 2 * (int(found >> u32(23)) - 150) + 2
        for side in (-1, 1):
            edge = 2 * m + side
            square = edge * edge
            high = (square >> 26) * x
            low = (square & 0x3FFFFFF) * x
            high += low >> 26
            low &= 0x3FFFFFF
            limit = 1 << (shift - 26)
            beyond = high > limit or (high == limit and low > 0)
            if beyond != (side == 1):
                wrong += 1
    return wrong


@pytest.mark.slow
def test_every_reciprocal_root_is_correctly_rounded() -> None:
    from gpsimd_core.isa.lane import bind

    judge = compiled(bind(_misrounded, RECIPROCAL_ROOT=alu.reciprocal_root))
    assert judge(0x3F000001, 0x007FFFFF) + judge(0x3F800001, 0x007FFFFF) == 0

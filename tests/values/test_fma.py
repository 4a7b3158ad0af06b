"""Sums, products and fused operations: softfloat and exact rationals as judges, NaN by a table."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
import softfloatpy

from gpsimd_core.isa.lanes import fma
from gpsimd_core.isa.lanes.rounding import DEVICE_AWAY, INEXACT, INVALID, OVERFLOW, RMI, RNA, RNE, RPI, RTZ, UNDERFLOW

SOFTFLOAT = {
    RNE: softfloatpy.RoundingMode.NEAR_EVEN,
    RTZ: softfloatpy.RoundingMode.MIN_MAG,
    RPI: softfloatpy.RoundingMode.MAX,
    RMI: softfloatpy.RoundingMode.MIN,
    RNA: softfloatpy.RoundingMode.NEAR_MAX_MAG,
}
MODE_NAMES = {RNE: "RNE", RTZ: "RTZ", RPI: "RPI", RMI: "RMI", RNA: "RNA"}


def triples(width: int, count: int, seed: int) -> np.ndarray[Any, Any]:
    """Addend and two factors: random patterns, edges, and addends whose exponent is near the product's."""
    rng = np.random.default_rng(seed)
    mantissa = 10 if width == 16 else 23
    fields = (1 << (width - 1 - mantissa)) - 1
    infinity = fields << mantissa
    edges = [
        0,
        1,
        2,
        (1 << mantissa) - 1,
        1 << mantissa,
        infinity - 1,
        infinity,
        infinity | 1,
        infinity | 1 << (mantissa - 1),
    ]
    edges += [(fields >> 1) << mantissa, ((fields >> 1) << mantissa) + 1, ((fields >> 1) << mantissa) - 1]
    edges += [edge | 1 << (width - 1) for edge in edges]
    a, b, c = rng.integers(0, 1 << width, (3, count))
    product = ((b >> mantissa) & fields) + ((c >> mantissa) & fields) - (fields >> 1)
    near = np.clip(product + rng.integers(-mantissa - 3, mantissa + 4, count), 0, fields)
    a = np.where(rng.random(count) < 0.6, (a & ~(fields << mantissa)) | near << mantissa, a)
    made = np.stack([a, b, c])
    edge = rng.random((3, count)) < 0.12
    made[edge] = rng.choice(edges, edge.sum())
    return made.astype(np.uint32)


class Width:
    """The lanes and the judge's functions at one width."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.infinity = 0x7C00 if width == 16 else 0x7F800000
        self.make = softfloatpy.Float16 if width == 16 else softfloatpy.Float32
        prefix = f"f{width}"
        self.add, self.sub, self.mul = (getattr(softfloatpy, f"{prefix}_{name}") for name in ("add", "sub", "mul"))
        self.fma = getattr(softfloatpy, f"{prefix}_mul_add")

    def lane(self, name: str) -> Any:
        return getattr(fma, f"{name}{self.width}")

    def judge(self, function: Any, *operands: int) -> tuple[int, int]:
        made = [self.make.from_bytes(value.to_bytes(self.width // 8, "big")) for value in operands]
        softfloatpy.set_exception_flags(0)
        result = int.from_bytes(function(*made).to_bytes(), "big")
        return result, int(softfloatpy.get_exception_flags())

    def same(self, mine: int, theirs: int) -> bool:
        sign = (1 << (self.width - 1)) - 1
        if theirs & sign > self.infinity:
            return mine & sign > self.infinity
        return mine == theirs


@pytest.fixture(params=[16, 32])
def width(request: pytest.FixtureRequest) -> Width:
    return Width(request.param)


@pytest.mark.parametrize("mode", SOFTFLOAT, ids=MODE_NAMES.get)
def test_value_and_flags_before_softfloat(width: Width, mode: int) -> None:
    softfloatpy.set_rounding_mode(SOFTFLOAT[mode])
    softfloatpy.set_tininess_mode(softfloatpy.TininessMode.AFTER_ROUNDING)
    a, b, c = triples(width.width, 1000, seed=mode)
    wrong = []
    for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        cases = (
            ("add", width.add, (x, y), (x, y, 0)),
            ("add", width.sub, (x, y), (x, y, 1)),
            ("mul", width.mul, (y, z), (y, z)),
            ("fused", width.fma, (y, z, x), (x, y, z, 0)),
        )
        for name, function, operands, args in cases:
            theirs, raised = width.judge(function, *operands)
            mine = width.lane(name)(*args, mode)
            flags = width.lane(f"{name}_flags")(*args, mode)
            if not width.same(mine, theirs) or flags != raised:
                wrong.append((name, [hex(value) for value in args], hex(mine), hex(theirs), flags, raised))
    assert wrong == []


@pytest.mark.parametrize("mode", SOFTFLOAT, ids=MODE_NAMES.get)
def test_rows_of_fused_operations_before_softfloat(width: Width, mode: int, run: Callable[[Any], Any]) -> None:
    softfloatpy.set_rounding_mode(SOFTFLOAT[mode])
    a, b, c = triples(width.width, 1200, seed=10 + mode)
    out = np.zeros_like(a)
    run(width.lane("fused_row"))(a, b, c, out, 0, mode)
    for x, y, z, mine in zip(*(array.tolist() for array in (a, b, c, out)), strict=True):
        theirs, _ = width.judge(width.fma, y, z, x)
        assert width.same(mine, theirs), (hex(x), hex(y), hex(z))


def test_fused_operations_before_exact_rationals(width: Width) -> None:
    a, b, c = triples(width.width, 2500, seed=77)
    view = np.float16 if width.width == 16 else np.float32
    kind = np.uint16 if width.width == 16 else np.uint32
    context = gmpy2.ieee(width.width)
    with np.errstate(all="ignore"):
        numbers = [array.astype(kind).view(view).astype(np.float64) for array in (a, b, c)]
    usable = np.isfinite(np.stack(numbers)).all(axis=0)
    with gmpy2.context(context):
        for i in np.flatnonzero(usable):
            x, y, z = (Fraction(float(number[i])) for number in numbers)
            for negate in (0, 1):
                exact = x - y * z if negate else x + y * z
                if exact == 0:
                    continue
                expected = float(gmpy2.mpfr(gmpy2.mpq(exact.numerator, exact.denominator)))
                mine = width.lane("fused")(int(a[i]), int(b[i]), int(c[i]), negate, RNE)
                with np.errstate(all="ignore"):
                    found = float(np.array([mine], kind).view(view)[0])
                assert found == expected, (i, negate)


# NaN operands: q quiet, s signalling, n a number; results by operand. Sources: iss-leaves, families add / sub, mul, fma;
# open question e. fp16: q1 = 7e11, q2 = fe55, q3 = 7e33, s1 = 7d01, s2 = fd02 (quietened 7f01, ff02).
Q1, Q2, Q3, S1, S2, ONE, INF, ZERO = 0x7E11, 0xFE55, 0x7E33, 0x7D01, 0xFD02, 0x3C00, 0x7C00, 0x0000
S1_QUIET, S2_QUIET = 0x7F01, 0xFF02
NAN_ADD = [
    pytest.param(Q1, Q2, Q1, 0, id="the first wins"),
    pytest.param(Q2, Q1, Q2, 0, id="sign kept"),
    pytest.param(ONE, Q2, Q2, 0, id="the only one"),
    pytest.param(S1, Q2, S1_QUIET, INVALID, id="quietened"),
    pytest.param(Q1, S2, Q1, INVALID, id="any signalling one is invalid"),
    pytest.param(INF, Q2, Q2, 0, id="beside infinity"),
]
NAN_MUL = [
    pytest.param(Q1, Q2, Q2, 0, id="the second wins"),
    pytest.param(Q2, ONE, Q2, 0, id="the only one"),
    pytest.param(S1, S2, S2_QUIET, INVALID, id="quietened"),
    pytest.param(S1, Q2, Q2, INVALID, id="any signalling one is invalid"),
    pytest.param(INF, ZERO, 0x7E00, INVALID, id="infinity times zero"),
    pytest.param(0x8000, INF, 0x7E00, INVALID, id="minus zero times infinity: positive"),
]
NAN_FUSED = [
    pytest.param(Q1, Q2, Q3, Q1, 0, id="the addend wins"),
    pytest.param(ONE, Q2, Q3, Q3, 0, id="then the third"),
    pytest.param(ONE, Q2, ONE, Q2, 0, id="then the second"),
    pytest.param(S1, ONE, ONE, S1_QUIET, INVALID, id="quietened"),
    pytest.param(Q1, S2, ONE, Q1, INVALID, id="any signalling one is invalid"),
    pytest.param(ONE, ZERO, INF, 0x7E00, INVALID, id="zero times infinity"),
    pytest.param(Q1, ZERO, INF, Q1, INVALID, id="zero times infinity under a NaN addend"),
    pytest.param(INF, 0xBC00, INF, 0x7E00, INVALID, id="infinity minus infinity"),
]


@pytest.mark.parametrize(("a", "b", "result", "flags"), NAN_ADD)
@pytest.mark.parametrize("negate", [0, 1])
def test_nan_of_sums(a: int, b: int, result: int, flags: int, negate: int) -> None:
    assert (fma.add16(a, b, negate, RNE), fma.add_flags16(a, b, negate, RNE)) == (result, flags)


@pytest.mark.parametrize(("a", "b", "result", "flags"), NAN_MUL)
def test_nan_of_products(a: int, b: int, result: int, flags: int) -> None:
    assert (fma.mul16(a, b, RNE), fma.mul_flags16(a, b, RNE)) == (result, flags)


@pytest.mark.parametrize(("a", "b", "c", "result", "flags"), NAN_FUSED)
def test_nan_of_fused_operations(a: int, b: int, c: int, result: int, flags: int) -> None:
    assert (fma.fused16(a, b, c, 0, RNE), fma.fused_flags16(a, b, c, 0, RNE)) == (result, flags)


def test_nan_at_32_bits() -> None:
    assert fma.add32(0xFF800001, 0x7FC00002, 0, RNE) == 0xFFC00001
    assert fma.mul32(0xFF800001, 0x7FC00002, RNE) == 0x7FC00002
    assert fma.fused32(0x3F800000, 0x7FC00001, 0xFFC00002, 0, RNE) == 0xFFC00002
    assert fma.add32(0x7F800000, 0x7F800000, 1, RNE) == 0x7FC00000
    assert fma.add_flags32(0x7F800000, 0x7F800000, 1, RNE) == INVALID


CORNERS = [  # a, b, c, negate, then the results in RNE, RTZ, RPI, RMI, RNA, device_away, and the flags in RNE; fp16
    pytest.param(0x3C00, 0x3C00, 0x3C00, 1, [0, 0, 0, 0x8000, 0, 0], 0, id="1 - 1 is -0 only toward minus infinity"),
    pytest.param(0x8000, 0x8000, 0x3C00, 0, [0x8000] * 6, 0, id="-0 + -0"),
    pytest.param(0x0000, 0x0000, 0x3C00, 0, [0x0000] * 6, 0, id="+0 + +0"),
    pytest.param(0x0000, 0x8000, 0x3C00, 0, [0, 0, 0, 0x8000, 0, 0], 0, id="+0 + -0"),
    pytest.param(0xBC00, 0x3C01, 0x3BFF, 0, [0x0FFE] * 6, 0, id="-1 + 3c01 x 3bff is 0ffe: one rounding"),
    pytest.param(0x7BFF, 0x7BFF, 0x3C00, 0, [0x7C00, 0x7BFF, 0x7C00, 0x7BFF, 0x7C00, 0x7BFF], OVERFLOW | INEXACT, id="overflow"),
    pytest.param(0x0000, 0x0001, 0x3800, 0, [0, 0, 1, 0, 1, 0], UNDERFLOW | INEXACT, id="half the least number"),
    pytest.param(0x3C00, 0x0001, 0x0001, 0, [0x3C00, 0x3C00, 0x3C01, 0x3C00, 0x3C00, 0x3C00], INEXACT, id="far apart"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "c", "negate", "expected", "flags"), CORNERS)
def test_corners(a: int, b: int, c: int, negate: int, expected: list[int], flags: int) -> None:
    modes = [RNE, RTZ, RPI, RMI, RNA, DEVICE_AWAY]
    assert [fma.fused16(a, b, c, negate, mode) for mode in modes] == expected
    assert fma.fused_flags16(a, b, c, negate, RNE) == flags


def test_a_fused_operation_is_not_a_product_and_a_sum() -> None:
    a, b = 0xBF800002, 0x3F800001  # -(1 + 2^-22) and 1 + 2^-23
    assert fma.fused32(a, b, b, 0, RNE) == 0x28800000  # 2^-46
    assert fma.add32(a, fma.mul32(b, b, RNE), 0, RNE) == 0x00000000

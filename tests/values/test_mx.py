"""MX blocks: both scale rules by hand, and what any quantiser must keep."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.mx import BLOCK, ELEMENT_EMAX, dequantise, quantise


def block(*values: float) -> np.ndarray[Any, Any]:
    """A block that starts with some values; the rest is zero."""
    out = np.zeros(BLOCK, np.float32)
    out[: len(values)] = values
    return out


# The scale byte of a block by its largest magnitude: element format, amax, rule nki, rule compiler.
# nki: 127 + floor(log2 amax) - (emax - 1); compiler: max(1, exponent field - emax).
SCALES = [
    pytest.param("fp8_e4m3fn", 1.0, 120, 119, id="e4m3fn 1"),
    pytest.param("fp8_e4m3fn", 1.999, 120, 119, id="e4m3fn just below 2"),
    pytest.param("fp8_e4m3fn", 448.0, 128, 127, id="e4m3fn 448"),
    pytest.param("fp8_e5m2", 1.0, 113, 112, id="e5m2 1"),
    pytest.param("fp4_e2m1", 1.0, 126, 125, id="e2m1 1"),
    pytest.param("fp4_e2m1", 6.0, 128, 127, id="e2m1 6"),
    pytest.param("fp4_e2m1", 0.0, 0, 1, id="a block of zeros"),
    pytest.param("fp8_e5m2", 2.0**-120, 0, 1, id="clamped"),
    pytest.param("fp4_e2m1", 2.0**-127, 0, 1, id="subnormal"),
    pytest.param("fp4_e2m1", 2.0**127, 253, 252, id="the largest power"),
]


@pytest.mark.parametrize(("target", "amax", "nki", "compiler"), SCALES)
def test_scale_rules(target: str, amax: float, nki: int, compiler: int) -> None:
    found = [
        int(quantise(block(0.0, -amax, amax / 3), target, policies={"mx_scale": rule})[1].view(np.uint8)[0])
        for rule in ("nki", "compiler")
    ]
    assert found == [nki, compiler]


def test_the_default_rule_is_nki() -> None:
    values = block(1.0, 0.3)
    for policies in (None, {}, {"mx_scale": "nki"}):
        assert quantise(values, "fp4_e2m1", policies=policies)[1].view(np.uint8).tolist() == [126]


def test_elements_by_hand() -> None:
    elements, scales = quantise(block(1.0, -0.3, 0.26, 3.9, 0.0, -0.0), "fp4_e2m1")
    assert scales.view(np.uint8).tolist() == [127]  # 2^0
    # 3.9 rounds to 4, 0.3 to 0.5, 0.26 to 0.5
    assert elements.view(np.uint8)[:6].tolist() == [0x2, 0x9, 0x1, 0x6, 0x0, 0x8]
    elements, scales = quantise(block(6.5, 1.0), "fp4_e2m1", policies={"mx_scale": "compiler"})
    assert scales.view(np.uint8).tolist() == [127]
    assert elements.view(np.uint8)[:2].tolist() == [0x7, 0x2]  # 6.5 saturates at 6


def test_infinity_and_nan_are_elements_like_any_other() -> None:
    values = block(np.inf, -np.inf, np.nan, 1.0)
    elements, scales = quantise(values, "fp8_e4m3fn")
    assert scales.view(np.uint8).tolist() == [120]
    assert elements.view(np.uint8)[:4].tolist() == [0x7E, 0xFE, 0x7F, 0x70]
    elements, _ = quantise(values, "fp8_e5m2")
    assert elements.view(np.uint8)[:3].tolist() == [0x7B, 0xFB, 0x7E]


def test_dequantise_is_element_times_scale() -> None:
    codes = np.zeros(BLOCK, np.uint8)
    codes[:5] = [0x38, 0xB8, 0x01, 0x7E, 0x7F]  # 1, -1, 2^-9, 448, NaN
    found = dequantise(codes, np.array([130], np.uint8), from_="fp8_e4m3fn")
    assert found.view(np.uint32)[:5].tolist() == [0x41000000, 0xC1000000, 0x3C800000, 0x45600000, 0x7FC00000]
    assert np.isnan(dequantise(codes, np.array([255], np.uint8), from_="fp8_e4m3fn")).all()
    assert dequantise(codes, np.array([130], np.uint8), to="bf16", from_="fp8_e4m3fn").dtype == ml_dtypes.bfloat16


def test_dequantise_reaches_below_fp32() -> None:
    codes = np.full(BLOCK, 0x1, np.uint8)  # 0.5
    found = dequantise(codes, np.array([0], np.uint8), from_="fp4_e2m1")
    assert (found.view(np.uint32) == 0x00200000).all()  # 2^-128


@pytest.mark.parametrize("rule", ["nki", "compiler"])
@pytest.mark.parametrize("target", ELEMENT_EMAX)
def test_scaling_a_block_by_a_power_of_two_scales_the_scale(target: str, rule: str) -> None:
    values = np.random.default_rng(1).normal(0, 1, (6, 2 * BLOCK)).astype(np.float32)
    elements, scales = quantise(values, target, policies={"mx_scale": rule})
    again, moved = quantise(values * np.float32(1024), target, policies={"mx_scale": rule})
    assert (elements.view(np.uint8) == again.view(np.uint8)).all()
    assert (moved.view(np.uint8) == scales.view(np.uint8) + 10).all()
    assert elements.shape == values.shape
    assert scales.shape == (6, 2)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=BLOCK, max_size=BLOCK))
def test_under_nki_every_element_is_within_half_a_step(values: list[float]) -> None:
    array = np.array(values, np.float32)
    elements, scales = quantise(array, "fp8_e4m3fn")
    scale = Fraction(2) ** (int(scales.view(np.uint8)[0]) - 127)
    read = elements.astype(np.float32)
    for value, element in zip(array.tolist(), read.tolist(), strict=True):
        exact = Fraction(value) / scale
        step = Fraction(2) ** max(int(np.floor(np.log2(max(abs(element), 2.0**-6)))), -6) / 8
        assert abs(exact - Fraction(element)) <= step / 2 or abs(element) == 448.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: quantise(np.zeros(31, np.float32), "fp4_e2m1"), BadValue, "32"),
        (lambda: quantise(np.float32(1), "fp4_e2m1"), BadValue, "32"),
        (lambda: quantise(np.zeros(32, np.float32), "fp8_e3m4"), Unsupported, "scale rule"),
        (lambda: quantise(np.zeros(32, np.float32), "fp4_e2m1", policies={"mx_scale": "ocp"}), BadValue, "compiler"),
        (lambda: dequantise(np.zeros(64, np.uint8), np.zeros(1, np.uint8), from_="fp4_e2m1"), BadValue, r"\(2,\)"),
        (lambda: dequantise(np.zeros(32, np.float32), np.zeros(1, np.uint8)), Unsupported, "fp32"),
    ],
)
def test_bad_arguments(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()

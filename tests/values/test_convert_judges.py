"""Conversions before independent judges: softfloatpy, gfloat, ml_dtypes. A NaN of theirs counts as any NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gfloat
import ml_dtypes
import numpy as np
import pytest
import softfloatpy
from gfloat.formats import (
    format_info_bfloat16,
    format_info_binary16,
    format_info_ocp_e2m1,
    format_info_ocp_e2m3,
    format_info_ocp_e4m3,
    format_info_ocp_e5m2,
    format_info_ocp_e8m0,
)

from gpsimd_core.isa.convert import codes_of, convert
from gpsimd_core.isa.formats import FORMATS, Overflow

Hard = Callable[..., np.ndarray[Any, Any]]

SOFTFLOAT = {
    "RNE": softfloatpy.RoundingMode.NEAR_EVEN,
    "RTZ": softfloatpy.RoundingMode.MIN_MAG,
    "RPI": softfloatpy.RoundingMode.MAX,
    "RMI": softfloatpy.RoundingMode.MIN,
    "RNA": softfloatpy.RoundingMode.NEAR_MAX_MAG,
}
GFLOAT = {
    "RNE": gfloat.RoundMode.TiesToEven,
    "RTZ": gfloat.RoundMode.TowardZero,
    "RPI": gfloat.RoundMode.TowardPositive,
    "RMI": gfloat.RoundMode.TowardNegative,
    "RNA": gfloat.RoundMode.TiesToAway,
}


def _ieee_like(name: str, exponent: int, mantissa: int, bias: int) -> gfloat.FormatInfo:
    return gfloat.FormatInfo(
        name,
        1 + exponent + mantissa,
        1 + mantissa,
        bias=bias,
        is_signed=True,
        domain=gfloat.Domain.Extended,
        has_nz=True,
        num_high_nans=(1 << mantissa) - 1,
        has_subnormals=True,
        is_twos_complement=False,
    )


JUDGED_BY_GFLOAT = {
    "fp16": format_info_binary16,
    "bf16": format_info_bfloat16,
    "fp8_e5m2": format_info_ocp_e5m2,
    "fp8_e4m3fn": format_info_ocp_e4m3,
    "fp4_e2m1": format_info_ocp_e2m1,
    "fp6_e2m3": format_info_ocp_e2m3,
    "fp8_e3m4": _ieee_like("e3m4", 3, 4, 3),
    "fp8_e4m3": _ieee_like("e4m3", 4, 3, 7),
}


@pytest.mark.parametrize("mode", SOFTFLOAT)
@pytest.mark.parametrize("target", ["fp16", "bf16"])
def test_value_and_flags_before_softfloat(hard: Hard, target: str, mode: str) -> None:
    fmt = FORMATS[target]
    bits = hard(fmt, 8000, seed=len(mode + target))
    found, flags = convert(bits.view(np.float32), fmt, rounding=mode, flags=True)
    narrow = softfloatpy.f32_to_f16 if target == "fp16" else softfloatpy.f32_to_bf16
    softfloatpy.set_rounding_mode(SOFTFLOAT[mode])
    softfloatpy.set_tininess_mode(softfloatpy.TininessMode.AFTER_ROUNDING)
    wrong = []
    for value, mine, raised in zip(bits.tolist(), codes_of(found, fmt).tolist(), flags.tolist(), strict=True):
        softfloatpy.set_exception_flags(0)
        theirs = int.from_bytes(narrow(softfloatpy.Float32.from_bytes(value.to_bytes(4, "big"))).to_bytes(), "big")
        nan = (theirs & 0x7FFF) > fmt.infinity
        if (mine != fmt.nan if nan else mine != theirs) or raised != int(softfloatpy.get_exception_flags()):
            wrong.append((hex(value), hex(mine), hex(theirs), raised))
    assert wrong == []


@pytest.mark.parametrize("overflow", ["ieee", "saturate"])
@pytest.mark.parametrize("mode", GFLOAT)
@pytest.mark.parametrize("target", JUDGED_BY_GFLOAT)
def test_values_before_gfloat(hard: Hard, target: str, mode: str, overflow: str) -> None:
    fmt, info = FORMATS[target], JUDGED_BY_GFLOAT[target]
    bits = hard(fmt, 2500, seed=1)
    bits = bits[~np.isnan(bits.view(np.float32))]
    mine = codes_of(convert(bits.view(np.float32), fmt, rounding=mode, policies={"fp8_overflow": overflow}), fmt)
    saturate = fmt.nan is None or (overflow == "saturate" and fmt.overflow == Overflow.POLICY)
    values = bits.view(np.float32).astype(np.float64)
    theirs = gfloat.round_ndarray(info, values, GFLOAT[mode], saturate)
    codes = gfloat.encode_ndarray(info, theirs)
    nan = np.isnan(theirs)
    assert (mine[~nan] == codes[~nan]).all()
    assert (mine[nan] == (fmt.nan or 0)).all()


@pytest.mark.parametrize(
    "target", ["fp16", "bf16", "fp8_e3m4", "fp8_e4m3", "fp8_e4m3fn", "fp8_e5m2", "fp4_e2m1", "fp6_e2m3"]
)
def test_nearest_even_before_ml_dtypes(hard: Hard, target: str) -> None:
    fmt = FORMATS[target]
    bits = hard(fmt, 150_000, seed=2)
    if fmt.nan is None:
        bits = bits[~np.isnan(bits.view(np.float32))]
    mine = codes_of(convert(bits.view(np.float32), fmt, policies={"fp8_overflow": "ieee"}), fmt)
    with np.errstate(all="ignore"):
        theirs = bits.view(np.float32).astype(fmt.dtype)
        nan = np.isnan(theirs.astype(np.float32))
    assert (mine[~nan] == theirs.view(fmt.code_dtype)[~nan]).all()
    assert (mine[nan] == (fmt.nan or 0)).all()


def test_bare_exponents_before_ml_dtypes() -> None:
    bits = np.random.default_rng(4).integers(0, 1 << 32, 100_000, dtype=np.uint32)
    bits = bits[(bits & 0x7FFFFFFF) >= 0x00800000]  # it rounds subnormals to the next power up, gfloat does not
    mine = codes_of(convert(bits.view(np.float32), "e8m0"), FORMATS["e8m0"])
    with np.errstate(all="ignore"):
        theirs = bits.view(np.float32).astype(ml_dtypes.float8_e8m0fnu).view(np.uint8)
    assert (mine == theirs).all()


@pytest.mark.parametrize("mode", GFLOAT)
def test_bare_exponents_before_gfloat(mode: str) -> None:
    rng = np.random.default_rng(7)
    bits = np.concatenate([rng.integers(0x00400000, 0x01000000, 3000), rng.integers(0x00400000, 0x7F000001, 3000)])
    bits = bits.astype(np.uint32)
    mine = codes_of(convert(bits.view(np.float32), "e8m0", rounding=mode), FORMATS["e8m0"])
    theirs = gfloat.round_ndarray(format_info_ocp_e8m0, bits.view(np.float32).astype(np.float64), GFLOAT[mode])
    codes = [int(gfloat.encode_float(format_info_ocp_e8m0, float(value))) for value in theirs]
    assert mine.tolist() == codes


@pytest.mark.parametrize(
    "target", ["int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_integers_before_python(hard: Hard, target: str) -> None:
    fmt = FORMATS[target]
    rng = np.random.default_rng(5)
    bits = (rng.integers(110, 195, 20_000) << 23) | rng.integers(0, 1 << 23, 20_000) | rng.integers(0, 2, 20_000) << 31
    ties = (rng.integers(-600, 600, 5000) + 0.5).astype(np.float32).view(np.uint32)
    values = np.concatenate([bits.astype(np.uint32), ties]).view(np.float32)
    low, high = fmt.min_value, fmt.max_code
    expected = [min(max(round(float(x)), low), high) % (1 << fmt.bits) for x in values]
    assert codes_of(convert(values, fmt), fmt).tolist() == expected
    truncated = [min(max(int(x), low), high) % (1 << fmt.bits) for x in values]
    assert codes_of(convert(values, fmt, policies={"fp_to_int": "rtz_saturate"}), fmt).tolist() == truncated
    wrapped = [int(x) % (1 << fmt.bits) for x in values]
    assert codes_of(convert(values, fmt, policies={"fp_to_int": "wrap"}), fmt).tolist() == wrapped


@pytest.mark.parametrize("source", ["int32", "uint32", "int64", "uint64"])
def test_integers_read_before_numpy(source: str) -> None:
    rng = np.random.default_rng(6)
    info = np.iinfo(source)
    values = rng.integers(info.min, info.max, 50_000, dtype=source, endpoint=True)
    values = np.concatenate([values, values >> rng.integers(0, info.bits - 1, values.size, dtype=source)])
    assert (convert(values, "fp32").view(np.uint32) == values.astype(np.float32).view(np.uint32)).all()

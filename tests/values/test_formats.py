"""Formats: their numbers, their names, their rows."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.convert import convert
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.formats import (
    FORMATS,
    ROW_LENGTH,
    Format,
    Kind,
    Overflow,
    Row,
    Specials,
    format_of,
    format_row,
    format_table,
)
from gpsimd_core.isa.lanes import rounding
from gpsimd_core.isa.value_policies import checked_policies

# Code of the largest finite number, of infinity and of the canonical NaN; the least normal and subnormal number as
# powers of two. Sources: The Unified Datatype Model; settled reading 17 (docs/decisions.md).
EXTREMES = [
    pytest.param("fp32", 0x7F7FFFFF, 0x7F800000, 0x7FC00000, -126, -149, id="fp32"),
    pytest.param("fp32r", 0x7F7FF000, 0x7F800000, 0x7FC00000, -126, -137, id="fp32r"),
    pytest.param("fp16", 0x7BFF, 0x7C00, 0x7E00, -14, -24, id="fp16"),
    pytest.param("bf16", 0x7F7F, 0x7F80, 0x7FC0, -126, -133, id="bf16"),
    pytest.param("fp8_e3m4", 0x6F, 0x70, 0x78, -2, -6, id="fp8_e3m4"),
    pytest.param("fp8_e4m3", 0x77, 0x78, 0x7C, -6, -9, id="fp8_e4m3"),
    pytest.param("fp8_e4m3fn", 0x7E, None, 0x7F, -6, -9, id="fp8_e4m3fn"),
    pytest.param("fp8_e5m2", 0x7B, 0x7C, 0x7E, -14, -16, id="fp8_e5m2"),
    pytest.param("fp4_e2m1", 0x7, None, None, 0, -1, id="fp4_e2m1"),
    pytest.param("fp6_e2m3", 0x1F, None, None, 0, -3, id="fp6_e2m3"),
    pytest.param("e8m0", 0xFE, None, 0xFF, -127, -127, id="e8m0"),
]
MAXIMA = {
    "fp8_e3m4": 15.5,
    "fp8_e4m3": 240.0,
    "fp8_e4m3fn": 448.0,
    "fp8_e5m2": 57344.0,
    "fp4_e2m1": 6.0,
    "fp16": 65504.0,
}
UNREADABLE = ["fp8_e2m5", "e7m1", "e6m2", "e5m3", *(f"cptc{bits}" for bits in range(1, 8))]


@pytest.mark.parametrize(("name", "maximum", "infinity", "nan", "normal", "subnormal"), EXTREMES)
def test_extremes(name: str, maximum: int, infinity: int | None, nan: int | None, normal: int, subnormal: int) -> None:
    fmt = FORMATS[name]
    assert (fmt.max_code, fmt.infinity, fmt.nan) == (maximum, infinity, nan)
    assert (fmt.min_normal, fmt.min_subnormal) == (2.0**normal, 2.0**subnormal)


@pytest.mark.parametrize("name", MAXIMA)
def test_published_maxima(name: str) -> None:
    assert FORMATS[name].max_finite == MAXIMA[name]


@pytest.mark.parametrize("name", [n for n, f in FORMATS.items() if f.kind == Kind.FLOAT and n != "fp32r"])
def test_extremes_agree_with_ml_dtypes(name: str) -> None:
    fmt = FORMATS[name]
    theirs = ml_dtypes.finfo(fmt.dtype)
    assert float(theirs.max) == fmt.max_finite
    assert float(theirs.smallest_normal) == fmt.min_normal
    assert float(theirs.smallest_subnormal) == fmt.min_subnormal
    assert np.dtype(fmt.dtype).itemsize == fmt.nbytes


@pytest.mark.parametrize("bits", [4, 8, 16, 32, 64])
def test_integer_ranges(bits: int) -> None:
    signed, unsigned = FORMATS[f"int{bits}"], FORMATS[f"uint{bits}"]
    assert (signed.min_value, signed.max_code) == (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    assert (unsigned.min_value, unsigned.max_code) == (0, 2**bits - 1)
    assert signed.nbytes == unsigned.nbytes == max(1, bits // 8)


@pytest.mark.parametrize("fmt", list(FORMATS.values()), ids=lambda fmt: fmt.name)
def test_every_spelling_finds_the_format(fmt: Format) -> None:
    assert format_of(fmt) is fmt
    assert format_of(fmt.name.upper()) is fmt
    for alias in fmt.aliases:
        assert format_of(alias) is fmt
    if fmt.numpy_name is not None and fmt.name != "fp32r":
        assert format_of(fmt.dtype) is fmt
        assert format_of(fmt.numpy_name) is fmt
        assert format_of(np.zeros(1, fmt.dtype).dtype.type) is fmt


@pytest.mark.parametrize("what", ["float8", "fp8_exp4", "", None, 7, "float64", np.complex64, "float8_e4m3fnuz", ">u4"])
def test_what_names_no_format(what: object) -> None:
    with pytest.raises(BadValue, match="fp16"):
        format_of(what if what is not None else np.dtype("U3"))


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_formats_print_but_have_no_values(name: str) -> None:
    fmt = format_of(name)
    assert not fmt.readable
    assert format_row(fmt)[Row.KIND] == Kind.NONE
    with pytest.raises(Unsupported, match="not published"):
        convert(np.zeros(3, np.float32), name)
    with pytest.raises(Unsupported, match="not published"):
        convert(np.zeros(3, np.uint8), "fp32", from_=name)


def test_every_format_is_known() -> None:
    floats = ["fp32", "fp16", "bf16", "fp32r", "fp8_e3m4", "fp8_e4m3", "fp8_e4m3fn", "fp8_e5m2", "fp4_e2m1", "fp6_e2m3"]
    integers = [f"{sign}int{bits}" for bits in (4, 8, 16, 32, 64) for sign in ("", "u")]
    assert set(FORMATS) == {*floats, "e8m0", *integers, *UNREADABLE}


def test_a_table_has_a_row_for_each_code() -> None:
    table = format_table({Dtype.FP16: FORMATS["fp16"], Dtype.FP8_EXP2: FORMATS["fp8_e2m5"]}, {"select_reduce": "merge"})
    assert table.shape == (256, ROW_LENGTH)
    assert table.dtype == np.int64
    assert table[Dtype.FP16].tolist() == list(format_row(FORMATS["fp16"]))
    assert table[Dtype.FP8_EXP2, Row.KIND] == Kind.NONE
    assert not table[Dtype.INVALID].any()


def test_rows_carry_the_policies() -> None:
    def row(name: str, **policies: object) -> tuple[int, ...]:
        return format_row(FORMATS[name], policies=policies)

    assert row("fp16")[Row.ROUNDING] == rounding.RNE
    assert row("fp16", stochastic_rounding=7)[Row.ROUNDING] == rounding.STOCHASTIC
    assert row("int8", stochastic_rounding=7)[Row.ROUNDING] == rounding.RNE
    assert row("fp16", stochastic_rounding=2**64 - 1)[Row.SEED] == -1
    assert row("int8", fp_to_int="rtz_saturate")[Row.ROUNDING] == rounding.RTZ
    assert row("int8", fp_to_int="wrap")[Row.WRAP] == 1
    assert row("fp32r")[Row.PADDING] == 12
    assert row("fp32r", fp32r_mantissa_bits=10)[Row.PADDING] == 13
    assert row("fp32r", fp32r_mantissa_bits="13")[Row.PADDING] == 10
    assert row("fp8_e4m3fn")[Row.INFINITE] == 0x7E
    assert row("fp8_e4m3fn", fp8_overflow="ieee")[Row.INFINITE] == 0x7F
    assert row("fp8_e5m2", fp8_overflow="saturate")[Row.INFINITE] == 0x7B


@pytest.mark.parametrize(
    "policies",
    [
        {"fp_to_int": "round"},
        {"fp8_overflow": "clip"},
        {"fp32r_mantissa_bits": 12},
        {"fp32r_mantissa_bits": True},
        {"stochastic_rounding": -1},
        {"stochastic_rounding": 1.5},
        {"stochastic_rounding": True},
        {"stochastic_rounding": 2**64},
        {"mx_scale": "ocp"},
    ],
)
def test_policy_values_are_checked(policies: dict[str, object]) -> None:
    with pytest.raises(BadValue, match=next(iter(policies))):
        checked_policies(policies)


def test_a_format_of_ones_own_needs_no_code() -> None:
    e5m3 = Format(
        name="e5m3_ours",
        kind=Kind.FLOAT,
        bits=9,
        exponent_bits=5,
        mantissa_bits=3,
        bias=15,
        nan=0xFC,
        specials=Specials.IEEE,
    )
    assert (e5m3.nbytes, e5m3.code_dtype, e5m3.max_finite) == (2, np.uint16, 61440.0)
    codes = np.arange(512, dtype=np.uint16)
    values = convert(codes, "fp32", from_=e5m3)
    assert values[0x78] == 1.0
    assert values[0xF7] == e5m3.max_finite
    assert values[1] == e5m3.min_subnormal
    back = convert(values, e5m3)
    nan = (codes & 0xFF) > 0xF8
    assert (back[~nan] == codes[~nan]).all()
    assert (back[nan] == 0xFC).all()
    assert format_of("e5m3_ours", formats=[e5m3]) is e5m3
    with pytest.raises(BadValue):
        format_of("e5m3_ours")


@pytest.mark.parametrize(("exponent", "mantissa", "bias"), [(5, 10, 15), (7, 23, 63)])
def test_a_format_with_the_fields_of_another_keeps_its_own_specials(exponent: int, mantissa: int, bias: int) -> None:
    bits = 1 + exponent + mantissa
    finite = Format(
        name="finite_only", kind=Kind.FLOAT, bits=bits, exponent_bits=exponent, mantissa_bits=mantissa,
        bias=bias, overflow=Overflow.SATURATE,
    )  # fmt: skip
    top = np.array([(1 << (bits - 1)) - 1], finite.code_dtype)
    value = convert(top, "fp32", from_=finite)
    assert float(value[0]) == finite.max_finite
    assert convert(value, finite).tolist() == top.tolist()


def test_a_format_beyond_fp32_is_refused() -> None:
    with pytest.raises(BadValue, match="fp32"):
        Format(name="fp64", kind=Kind.FLOAT, bits=64, exponent_bits=11, mantissa_bits=52, bias=1023)

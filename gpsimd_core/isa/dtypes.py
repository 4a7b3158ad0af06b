"""Element dtypes: wire code, public name, storage size, number format. One row per code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from gpsimd_core.isa.enums import Dtype

if TYPE_CHECKING:
    from gpsimd_core.isa.formats import Format

__all__ = ["BY_CODE", "BY_NAME", "DTYPES", "SIZES", "DtypeRow", "code_of", "name_of", "wire_formats"]


@frozen(kw_only=True)
class DtypeRow:
    """One wire code. `size` is the bytes of an element in memory, 0 where an operand cannot have this dtype."""

    code: Dtype
    name: str
    size: int
    format: str | None
    """Name of the number format; None where no source grounds a value."""


def _row(code: Dtype, name: str, size: int, *, format: str | None = "") -> DtypeRow:
    return DtypeRow(code=code, name=name, size=size, format=name if format == "" else format)


DTYPES = (
    _row(Dtype.INVALID,    "invalid",    0, format=None),
    _row(Dtype.UINT64,     "uint64",     8),
    _row(Dtype.INT8,       "int8",       1),
    _row(Dtype.UINT8,      "uint8",      1),
    _row(Dtype.INT16,      "int16",      2),
    _row(Dtype.UINT16,     "uint16",     2),
    _row(Dtype.BFLOAT16,   "bf16",       2),
    _row(Dtype.FP16,       "fp16",       2),
    _row(Dtype.INT32,      "int32",      4),
    _row(Dtype.UINT32,     "uint32",     4),
    _row(Dtype.FP32,       "fp32",       4),
    _row(Dtype.FP32R,      "fp32r",      4),
    _row(Dtype.INT64,      "int64",      8),
    _row(Dtype.FP8_EXP3,   "fp8_e3m4",   1),
    _row(Dtype.FP8_EXP4,   "fp8_e4m3",   1),  # fp8_e4m3fn under policy fp8_exp4 = ocp
    _row(Dtype.FP8_EXP5,   "fp8_e5m2",   1),
    _row(Dtype.FP4_EXP2,   "fp4_e2m1",   1),
    _row(Dtype.FP8_EXP2,   "fp8_e2m5",   1),
    _row(Dtype.INT4,       "int4",       0),
    _row(Dtype.SFP8_E8,    "e8m0",       1),
    _row(Dtype.SFP8_E7,    "e7m1",       1),
    _row(Dtype.SFP8_E6,    "e6m2",       1),
    _row(Dtype.SFP8_E5,    "e5m3",       1),
    _row(Dtype.CPTC1,      "cptc1",      0),
    _row(Dtype.CPTC2,      "cptc2",      0),
    _row(Dtype.CPTC3,      "cptc3",      0),
    _row(Dtype.CPTC4,      "cptc4",      0),
    _row(Dtype.CPTC5,      "cptc5",      0),
    _row(Dtype.CPTC6,      "cptc6",      0),
    _row(Dtype.CPTC7,      "cptc7",      0),
)  # fmt: skip

BY_CODE = {row.code: row for row in DTYPES}
BY_NAME = {row.name: row for row in DTYPES} | {"fp8_e4m3fn": BY_CODE[Dtype.FP8_EXP4]}

SIZES: np.ndarray[Any, Any] = np.zeros(256, np.int64)
"""Bytes of an element by wire code; 0 for codes without a size."""
for _r in DTYPES:
    SIZES[_r.code] = _r.size


def wire_formats(policies: Mapping[str, str | int]) -> dict[int, Format]:
    """Wire code to number format, as the policy `fp8_exp4` says."""
    from gpsimd_core.isa.formats import format_of

    found = {int(row.code): format_of(row.format) for row in DTYPES if row.format}
    if policies.get("fp8_exp4") == "ocp":
        found[int(Dtype.FP8_EXP4)] = format_of("fp8_e4m3fn")
    return found


def name_of(code: int) -> str:
    """Public name of a wire code, or its number where it has none."""
    row = BY_CODE.get(code)  # type: ignore[call-overload]
    return row.name if row else f"0x{code:02X}"


def code_of(name: str) -> Dtype | None:
    """Wire code of a public or enumeration name, in any case; None where nothing has the name."""
    row = BY_NAME.get(name.lower())
    return row.code if row else Dtype.__members__.get(name.upper())

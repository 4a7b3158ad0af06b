"""Conversions of rows of elements through the fp32 hub: the loops that engine kernels call.

One kind of format a loop, its numbers hoisted, so that they run at vector speed whatever the formats are; the formats met
all the time (fp32, fp16, bf16) have loops with their numbers folded in. The values are those of `isa/lanes/hub.py`.
"""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.formats import FORMATS, format_row
from gpsimd_core.isa.lane import bind, lane
from gpsimd_core.isa.lanes.hub import (
    BITS,
    FLOAT,
    INTEGER,
    KIND,
    PADDING,
    READ_PAYLOAD,
    READ_SHIFT,
    REBIAS,
    ROUNDING,
    SEED,
    SHIFT,
    SIGN_SHIFT,
    SIGNED,
    WRAP,
    int64_flags,
    narrow,
    narrow_flags,
    narrow_float,
    narrow_int64,
    narrow_integer,
    read_flags,
    reader_of,
    target_of,
    widen,
    widen_float,
    widen_int64,
    widen_integer,
)
from gpsimd_core.isa.lanes.rounding import RNE, draw_at
from gpsimd_core.isa.lanes.words import u32, u64

__all__ = [
    "int64_flags_row",
    "narrow",
    "narrow_flags_row",
    "narrow_float_loop",
    "narrow_int64_row",
    "narrow_row",
    "read_flags_row",
    "widen",
    "widen_float_loop",
    "widen_int64_row",
    "widen_row",
]

ROW: tuple[int, ...] = ()


@lane
def widen_float_loop(codes: Any, out: Any) -> None:
    """`widen_row` for the float format whose row is bound to ROW."""
    reader = reader_of(ROW)
    for i in range(out.size):
        out[i] = widen_float(u32(codes[i]), reader)


@lane
def narrow_float_loop(hub: Any, out: Any) -> None:
    """`narrow_row` for the float format and mode whose row is bound to ROW; not for the stochastic mode."""
    target = target_of(ROW)
    for i in range(out.size):
        out[i] = narrow_float(u32(hub[i]), target, ROW[ROUNDING], u32(0))


@lane
def same_target(row: Any) -> bool:
    """Whether a row writes as the one bound to ROW does."""
    for column in range(SHIFT, PADDING + 1):
        if row[column] != ROW[column]:
            return False
    return bool(row[KIND] == FLOAT and row[ROUNDING] == ROW[ROUNDING])


@lane
def same_reader(row: Any) -> bool:
    """Whether a row reads as the one bound to ROW does."""
    for column in range(READ_SHIFT, READ_PAYLOAD + 1):
        if row[column] != ROW[column]:
            return False
    return bool(row[KIND] == FLOAT and row[REBIAS] == ROW[REBIAS] and row[SIGN_SHIFT] == ROW[SIGN_SHIFT])


FP32, FP16, BF16 = (format_row(FORMATS[name]) for name in ("fp32", "fp16", "bf16"))
reads_fp32, reads_fp16, reads_bf16 = (bind(same_reader, ROW=row) for row in (FP32, FP16, BF16))
is_fp32, is_fp16, is_bf16 = (bind(same_target, ROW=row) for row in (FP32, FP16, BF16))
widen_fp32, widen_fp16, widen_bf16 = (bind(widen_float_loop, ROW=row) for row in (FP32, FP16, BF16))
narrow_fp32, narrow_fp16, narrow_bf16 = (bind(narrow_float_loop, ROW=row) for row in (FP32, FP16, BF16))


@lane
def widen_row(codes: Any, row: Any, out: Any) -> None:
    """Read a row of elements into the hub.

    Args:
        codes: unsigned codes of at most 32 bits, one axis.
        row: their format's row.
        out: uint32 of the same length, receives fp32 bits.
    """
    bits, signed = row[BITS], row[SIGNED]
    if reads_fp32(row):
        widen_fp32(codes, out)
    elif reads_fp16(row):
        widen_fp16(codes, out)
    elif reads_bf16(row):
        widen_bf16(codes, out)
    elif row[KIND] == FLOAT:
        reader = reader_of(row)
        for i in range(out.size):
            out[i] = widen_float(u32(codes[i]), reader)
    elif row[KIND] == INTEGER and signed:
        for i in range(out.size):
            out[i] = widen_integer(u32(codes[i]), bits, 1)
    elif row[KIND] == INTEGER:
        for i in range(out.size):
            out[i] = widen_integer(u32(codes[i]), bits, 0)
    else:
        for i in range(out.size):
            out[i] = widen(u32(codes[i]), row)


@lane
def narrow_row(hub: Any, row: Any, out: Any, first: int) -> None:
    """Write a row of fp32 patterns.

    Args:
        hub: uint32, one axis.
        row: the target format's row.
        out: unsigned codes of the same length, receives the results.
        first: global index of the first element, for the stochastic mode.
    """
    mode, target = row[ROUNDING], target_of(row)
    if is_fp32(row):
        narrow_fp32(hub, out)
    elif is_fp16(row):
        narrow_fp16(hub, out)
    elif is_bf16(row):
        narrow_bf16(hub, out)
    elif row[KIND] == FLOAT and mode == RNE:
        for i in range(out.size):
            out[i] = narrow_float(u32(hub[i]), target, RNE, u32(0))
    elif row[KIND] == FLOAT:
        for i in range(out.size):
            out[i] = narrow_float(u32(hub[i]), target, mode, draw_at(row[SEED], first + i))
    elif row[KIND] == INTEGER:
        bits, signed, wrap = row[BITS], row[SIGNED], row[WRAP]
        for i in range(out.size):
            out[i] = narrow_integer(u32(hub[i]), bits, signed, wrap, mode)
    else:
        for i in range(out.size):
            out[i] = narrow(u32(hub[i]), row, u32(0))


@lane
def narrow_flags_row(hub: Any, row: Any, out: Any, first: int) -> None:
    """The flags of `narrow_row`, one byte an element."""
    for i in range(out.size):
        out[i] = u32(narrow_flags(u32(hub[i]), row, draw_at(row[SEED], first + i)))


@lane
def read_flags_row(codes: Any, row: Any, out: Any) -> None:
    """The flags of `widen_row`, one byte an element."""
    for i in range(out.size):
        out[i] = u32(read_flags(u32(codes[i]), row))


@lane
def widen_int64_row(codes: Any, signed: int, out: Any) -> None:
    """Read a row of 64-bit integers into the hub."""
    for i in range(out.size):
        out[i] = widen_int64(u64(codes[i]), signed)


@lane
def narrow_int64_row(hub: Any, row: Any, out: Any) -> None:
    """Write a row of fp32 patterns as 64-bit integers."""
    for i in range(out.size):
        out[i] = narrow_int64(u32(hub[i]), 64, row[SIGNED], row[WRAP], row[ROUNDING])


@lane
def int64_flags_row(hub: Any, row: Any, out: Any) -> None:
    """The flags of `narrow_int64_row`, one byte an element."""
    for i in range(out.size):
        out[i] = u32(int64_flags(u32(hub[i]), 64, row[SIGNED], row[ROUNDING]))

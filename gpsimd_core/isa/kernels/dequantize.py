"""Kernel of tensor_dequantize: packed codes of 4 or 6 bits to fp8 bytes, counted in 32-bit words."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gpsimd_core.isa.enums import DequantFmt
from gpsimd_core.isa.formats import FORMATS, format_row
from gpsimd_core.isa.lanes.convert import narrow, widen

__all__ = ["dequantize", "dequantize_missing"]

PACKED = {
    DequantFmt.E2M1_TO_E5M2: ("fp4_e2m1", "fp8_e5m2"),
    DequantFmt.INT4_TO_E5M2: ("int4", "fp8_e5m2"),
    DequantFmt.E2M3_TO_E4M3: ("fp6_e2m3", "fp8_e4m3"),
}
"""What each form packs, and what it becomes. Every conversion is exact."""


@functools.cache
def table(form: DequantFmt) -> np.ndarray[Any, Any]:
    """The fp8 byte of each packed code."""
    source, target = (FORMATS[name] for name in PACKED[form])
    reading, writing = format_row(source), format_row(target)
    return np.array([narrow(widen(code, reading), writing, 0) for code in range(1 << source.bits)], np.uint8)


def dequantize_missing(step: Any) -> str | None:
    """Which fact is missing, if one is."""
    if step.number("group_size"):
        return "where the scale of a group stands, and its format"
    if step.number("dequant_fmt") not in PACKED:
        return "the NF4 code book as the firmware stores it"
    return None


def dequantize(step: Any) -> dict[str, Any]:
    """Codes from the low bits of each word up, one byte for each."""
    form = DequantFmt(step.number("dequant_fmt"))
    width = FORMATS[PACKED[form][0]].bits
    words = np.ascontiguousarray(step.read("packed"))
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").reshape(step.channels, -1, width)
    packed = np.packbits(bits, axis=2, bitorder="little")[:, :, 0]
    return {"out": table(form)[packed].view(np.uint32)}

"""Kernels of what an affine expression of index and channel gives: iota and affine select."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import AffineSelectCmp

__all__ = ["affine_select", "affine_select_ready", "iota"]

COMPARE = {
    AffineSelectCmp.GREATER_THAN: np.greater,
    AffineSelectCmp.GREATER_EQ: np.greater_equal,
    AffineSelectCmp.EQ: np.equal,
    AffineSelectCmp.NOT_EQ: np.not_equal,
}


def affine(step: Any, pattern: str) -> np.ndarray[Any, Any]:
    """base + sum of index x step + channel x channel_multiplier, modulo 2^32: int32, (channels, elements)."""
    value = step.layout.read(np.frombuffer(step.record, np.uint8))[pattern]
    total = np.full((1, 1, 1, 1), value["base"], np.int64)
    for dim, (n, s) in enumerate(zip(value["num"], value["step"], strict=True)):
        shape = [1] * 4
        shape[3 - dim] = n
        total = total + (np.arange(n, dtype=np.int64) * s).reshape(shape)
    channels = np.arange(step.channels, dtype=np.int64) * step.number("channel_multiplier")
    return np.asarray(channels[:, None] + total.reshape(1, -1)).astype(np.int32)


def iota(step: Any) -> dict[str, Any]:
    """The sequence: its low bits in an integer dtype, else rounded to fp32 and converted."""
    sequence = affine(step, "src_data_pattern")
    p = step.operands["out"]
    fmt = step.formats[p.code]
    if fmt.is_integer:
        return {"out": sequence.astype(f"i{p.size}").view(fmt.dtype)}
    return {"out": step.narrowed("out", sequence.astype(np.float32).view(np.uint32))}


def affine_select_ready(step: Any) -> str | None:
    """Whether the fill register holds nothing."""
    number = step.number("fill_reg")
    if number < len(step.registers.defined) and not step.registers.defined[number]:
        return f"register r{number} (fill_reg) was never written"
    return None


def affine_select(step: Any) -> dict[str, Any]:
    """The element where the expression compares with zero, else the fp32 number in fill_reg."""
    passes = COMPARE[AffineSelectCmp(step.number("fill_mode"))](affine(step, "mask_pattern"), 0)
    row = np.where(passes, step.hub("data"), np.uint32(step.register(step.number("fill_reg"))))
    written = step.narrowed("out", row)
    if step.operands["data"].code == step.operands["out"].code:
        written = np.where(passes, step.read("data"), written)
    return {"out": written}

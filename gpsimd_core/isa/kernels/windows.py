"""Kernels of pooling: windows over the inner dimensions of each channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import AluOp, PoolType, TensorSubdim
from gpsimd_core.isa.kernels.arrays import HIGHEST, LOWEST, arithmetic, canonical, fold, order

__all__ = ["max_pool_select", "pool", "pool_select_missing"]


def window_size(step: Any) -> int:
    """Elements of a window: the product of the counts that pool_dim names."""
    dims = max(step.number("pool_dim") - TensorSubdim.X + 1, 0)
    return int(np.prod(step.operands["data"].num[:dims], dtype=np.int64))


def windows(step: Any) -> np.ndarray[Any, Any]:
    """The windows as fp32 bits: uint32, (channels x windows, elements of a window)."""
    return step.hub("data").reshape(-1, window_size(step))  # type: ignore[no-any-return]


def pool(step: Any) -> dict[str, Any]:
    """The largest element of each window, or its sum times pool_scale."""
    found = windows(step)
    averages = step.number("pool_func") == PoolType.AVG
    result = fold(step, AluOp.ADD if averages else AluOp.MAX, canonical(found[:, 0]), found[:, 1:])
    if averages:
        result = arithmetic(AluOp.MULT, result, np.array([step.number("pool_scale")], np.uint32))
    return {"out": step.narrowed("out", result.reshape(step.channels, -1))}


def pool_select_missing(step: Any) -> str | None:
    """Which fact is missing, if one is."""
    bits = 8 * step.operands["out"].size
    if window_size(step) > 1 << bits:
        return f"what an index beyond {bits} bits becomes; the window has {window_size(step)} elements"
    return None


def max_pool_select(step: Any) -> dict[str, Any]:
    """The position of the largest element of each window, the first of several.

    Under policy `reduce_nan`: suppress orders -0 below +0 and passes over NaN (a window of NaN gives 0), propagate takes
    the first NaN, select keeps the earlier of equal zeros and passes over NaN unless the window begins with one.
    """
    found = windows(step)
    policy = step.policy("reduce_nan")
    keys = order(found, HIGHEST if policy == "propagate" else LOWEST)
    if policy == "select":
        keys = np.where(found & np.uint32(0x7FFFFFFF) == 0, np.int32(0), keys)
        keys[:, 0] = np.where(order(found[:, 0], LOWEST) == LOWEST, HIGHEST, keys[:, 0])
    p = step.operands["out"]
    return {"out": keys.argmax(axis=1).reshape(step.channels, -1).astype(f"u{p.size}")}

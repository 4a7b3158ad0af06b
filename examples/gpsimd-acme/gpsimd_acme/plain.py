"""select_reduce (0xEA) in plain numpy, in place of the kernel that a generation brings: a second opinion, and slow."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve

from gpsimd_core.isa.enums import AccumCmd, Dtype, TensScalarRevOps
from gpsimd_core.isa.ops.select_reduce import SELECT_REDUCE

__all__ = ["PLAIN_SELECT_REDUCE"]

NAN = 0x7FC00000
LOWEST = {Dtype.INT8: -128.0, Dtype.INT16: -32768.0, Dtype.UINT8: 0.0, Dtype.UINT16: 0.0}


def _order(bits: Any) -> Any:
    """fp32 bits as integers in the order of their values, -0 below +0, NaN below everything: int64."""
    magnitude = (bits & 0x7FFFFFFF).astype(np.int64)
    ordered = np.where(bits >> 31 != 0, -magnitude - 1, magnitude)
    return np.where(magnitude > 0x7F800000, np.iinfo(np.int64).min, ordered)


def _largest(bits: Any) -> Any:
    """The largest fp32 value of each row, as bits: uint32 of (channels,); NaN where there is none but NaN."""
    best = np.take_along_axis(bits, _order(bits).argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where((best & 0x7FFFFFFF) > 0x7F800000, np.uint32(NAN), best)


def select_reduce(step: Any) -> dict[str, Any]:
    """The kernel: copy where the predicate holds, and the maximum of what was copied."""
    holds = step.mask ^ (step.number("reverse_operands") == TensScalarRevOps.FIRST)
    data, out = step.operands["data"], step.operands["out"]
    hub = step.hub("data")
    copied = step.read("data") if data.code == out.code else step.narrowed("out", hub)

    seed = np.float32(LOWEST.get(Dtype(data.code), -np.inf)).view(np.uint32)
    start = np.full((step.channels, 1), seed, np.uint32)
    if step.number("accumulator_cmd") == AccumCmd.ACCUMULATE:
        start = step.accumulator.view(np.uint32)[:, None]
    return {
        "out": copied, "mask": holds,
        "accumulator": _largest(np.hstack([start, np.where(holds, hub, np.uint32(NAN))])),
    }  # fmt: skip


def _not_here(step: Any) -> str | None:
    wanted = {"select_reduce": "merge", "reduce_nan": "suppress", "idle_accumulator": "single_shot"}
    other = [f"{name} = {step.policy(name)}" for name, value in wanted.items() if step.policy(name) != value]
    return f"gpsimd-acme's kernel knows no policy {other[0]}" if other else None


PLAIN_SELECT_REDUCE = evolve(
    SELECT_REDUCE, kernel=select_reduce, unsupported=_not_here, overrides="*:select_reduce"
)  # fmt: skip

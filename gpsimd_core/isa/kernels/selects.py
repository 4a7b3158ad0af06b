"""Kernels of the selects: by one predicate a channel, and by the index of an element."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import AccumCmd, AluOp
from gpsimd_core.isa.kernels.arrays import codes, fold, scalar_bits, scalar_hub, values

__all__ = ["range_select", "tensor_scalar_select"]

COMPARE = {
    AluOp.IS_EQ: np.equal,
    AluOp.IS_GT: np.greater,
    AluOp.IS_GE: np.greater_equal,
    AluOp.IS_LE: np.less_equal,
    AluOp.IS_LT: np.less,
}


def tensor_scalar_select(step: Any) -> dict[str, Any]:
    """The element where the channel's predicate holds, else the scalar; the other way round when reversed."""
    chooses = (scalar_bits(step, "pred_imm") != 0) ^ (step.number("reversed_pred") == 1)
    data = codes(step, "data")
    chosen = np.where(chooses, data, scalar_bits(step, "src1_imm").astype(data.dtype))
    return {"out": chosen.view(step.formats[step.operands["out"].code].dtype)}


def range_select(step: Any) -> dict[str, Any]:
    """The element where base + k passes both comparisons, else the fill; the row is folded before it is narrowed."""
    elements = step.operands["data"].elements
    base = np.array([step.number("base")], np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        key = base + np.arange(elements, dtype=np.float32)
    passes = COMPARE[AluOp(step.number("comp_op0"))](key, values(scalar_hub(step, "bound0")))
    passes = passes & COMPARE[AluOp(step.number("comp_op1"))](key, values(scalar_hub(step, "bound1")))
    row = np.where(passes, step.hub("data"), np.uint32(step.number("fill_val")))
    written = step.narrowed("out", row)
    if step.operands["data"].code == step.operands["out"].code:
        written = np.where(passes, step.read("data"), written)
    answer = {"out": written}
    command = step.number("reduce_cmd")
    if command != AccumCmd.IDLE:
        state = np.full(step.channels, 0xFF800000, np.uint32)
        if command == AccumCmd.ACCUMULATE:
            state = step.accumulator.view(np.uint32)
        answer["accumulator"] = fold(step, AluOp.MAX, state, row)
    return answer

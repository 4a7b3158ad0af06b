"""Kernels of the activation forms: an affine step, a function of the table, a fold into the accumulator."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.alu import OPERATORS
from gpsimd_core.isa.enums import AccumCmd, AluOp, ReduceCmd, TensScalarRevOps
from gpsimd_core.isa.kernels.arrays import arithmetic, fold, identity, scalar_hub
from gpsimd_core.isa.lane import bind, lane
from gpsimd_core.isa.lanes.alu import bypass, multiply
from gpsimd_core.isa.lanes.words import u32

__all__ = [
    "activate",
    "activate2",
    "activate2_missing",
    "activate_missing",
    "activate_quantize",
    "apply",
]

Array = np.ndarray[Any, Any]

value = bypass


@lane
def each(bits: Any, out: Any) -> None:
    """A function over a row of fp32 bits: a loop to `bind` a function to."""
    for i in range(out.size):
        out[i] = value(u32(bits[i]))


with_parameter = multiply


@lane
def each_with(bits: Any, parameter: int, out: Any) -> None:
    """A function of two arguments over a row of fp32 bits."""
    for i in range(out.size):
        out[i] = with_parameter(u32(bits[i]), u32(parameter))


def apply(step: Any, row: Array, parameter: Array | None = None) -> Array:
    """The step's function on fp32 bits.

    Args:
        row: uint32, (channels, elements).
        parameter: fp32 bits, (channels, 1), for a function that takes one.
    """
    chosen = step.activations[step.number("activation_func")]
    row = np.ascontiguousarray(row)
    out = np.empty(row.shape, np.uint32)
    if not chosen.parameter:
        step.core.compiled(bind(each, value=chosen.function))(row.reshape(-1), out.reshape(-1))
        return out
    assert parameter is not None
    run = step.core.compiled(bind(each_with, with_parameter=chosen.function))
    for c in range(step.channels):
        run(row[c], int(parameter[c, 0]), out[c])
    return out


def activate_missing(step: Any) -> str | None:
    """Which fact is missing, if one is."""
    number = step.number("activation_func")
    if number not in step.activations:
        return f"what function {number} is: the table has no such row, and the host's is not published"
    chosen = step.activations[number]
    if chosen.parameter and "relu_param" not in step.layout.leaves:
        return f"where the {chosen.parameter} of {chosen.name} stands in this record"
    return None


def activate(step: Any) -> dict[str, Any]:
    """function(x * scale + bias), product and sum rounded apart; folded with ADD."""
    scaled = arithmetic(AluOp.MULT, step.hub("data"), scalar_hub(step, "scale_value"))
    row = apply(step, arithmetic(AluOp.ADD, scaled, scalar_hub(step, "bias")))
    answer: dict[str, Any] = {"out": step.narrowed("out", row)}
    command = step.number("accumulator_cmd")
    if command != AccumCmd.IDLE:
        state = np.zeros(step.channels, np.uint32)
        if command == AccumCmd.ACCUMULATE:
            state = step.accumulator.view(np.uint32)
        elif command == AccumCmd.LOAD_ACCUMULATE:
            state = scalar_hub(step, "imm")[:, 0]
        answer["accumulator"] = state if command == AccumCmd.ZERO else fold(step, AluOp.ADD, state, row)
    return answer


def activate_quantize(step: Any) -> dict[str, Any]:
    """function(x * dequant_scale + bias) * quant_scale + zero point, every step rounded apart."""

    def scalar(leaf: str) -> Array:
        return np.array([step.number(leaf)], np.uint32)

    scaled = arithmetic(AluOp.MULT, step.hub("data"), scalar("dequant_scale_value"))
    row = apply(step, arithmetic(AluOp.ADD, scaled, scalar_hub(step, "bias_addr")))
    quantised = arithmetic(AluOp.MULT, row, scalar("quant_scale_value"))
    return {"out": step.narrowed("out", arithmetic(AluOp.ADD, quantised, scalar("quant_zero_value")))}


def activate2_missing(step: Any) -> str | None:
    """Which fact is missing, if one is."""
    command, op = step.number("reduce_cmd"), AluOp(step.number("reduce_op"))
    if command != ReduceCmd.IDLE:
        if OPERATORS[op].kind not in ("arith", "both") or OPERATORS[op].missing:
            return f"what a fold of fp32 values with {op.name} gives"
        if command in (ReduceCmd.RESET, ReduceCmd.RESET_REDUCE) and identity(op) is None:
            return f"what the accumulator is reset to for {op.name}"
    return activate_missing(step)


def activate2(step: Any) -> dict[str, Any]:
    """function(op1(op0(x, imm0), imm1)), each step rounded; folded with reduce_op."""
    swaps = step.number("reverse_operands")
    row = step.hub("data")
    for op, imm, swap in (("op0", "imm0", TensScalarRevOps.FIRST), ("op1", "imm1", TensScalarRevOps.SECOND)):
        pair = (row, np.broadcast_to(scalar_hub(step, imm), row.shape))
        a, b = pair[::-1] if swaps in (swap, TensScalarRevOps.BOTH) else pair
        row = arithmetic(step.number(op), a, b)
    row = apply(step, row, scalar_hub(step, "relu_param"))
    answer: dict[str, Any] = {"out": step.narrowed("out", row)}
    command, reduce_op = step.number("reduce_cmd"), step.number("reduce_op")
    if command != ReduceCmd.IDLE:
        if command == ReduceCmd.REDUCE:
            state = step.accumulator.view(np.uint32)
        else:
            state = np.full(step.channels, identity(reduce_op), np.uint32)
        answer["accumulator"] = state if command == ReduceCmd.RESET else fold(step, reduce_op, state, row)
    return answer

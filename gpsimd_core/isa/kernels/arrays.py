"""What array kernels share: codes of operands, scalars a channel, NaN rules and folds, in numpy.

fp32 values travel as bits, uint32; rows are (channels, elements).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.alu import OPERATORS
from gpsimd_core.isa.enums import AluOp, ImmSrc
from gpsimd_core.isa.lanes.alu import NAN_POLICIES, alu_fp32_row

__all__ = [
    "HIGHEST",
    "LOWEST",
    "NAN",
    "arithmetic",
    "canonical",
    "codes",
    "fold",
    "identity",
    "integers",
    "is_nan",
    "order",
    "scalar_bits",
    "scalar_hub",
    "values",
]

Array = np.ndarray[Any, Any]

NAN = np.uint32(0x7FC00000)
LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
"""Places in the order of fp32 numbers below and above every number."""


def is_nan(bits: Array) -> Array:
    """Which fp32 bits are a NaN."""
    return np.asarray((bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000))


def canonical(bits: Array) -> Array:
    """fp32 bits as arithmetic results: NaN is 7fc00000."""
    return np.where(is_nan(bits), NAN, bits)


def order(bits: Array, nan: int) -> Array:
    """The place of fp32 bits in the order of numbers, -0 below +0, as int32; NaN gets the place `nan`."""
    signed = bits.view(np.int32)
    return np.where(is_nan(bits), np.int32(nan), np.where(signed < 0, ~(signed & 0x7FFFFFFF), signed))


def values(bits: Array) -> Array:
    """fp32 bits as float32."""
    return np.ascontiguousarray(bits).view(np.float32)


def arithmetic(op: int, a: Array, b: Array) -> Array:
    """ADD, SUBTRACT, MULT or BYPASS of fp32 bits, rounded once."""
    if op == AluOp.BYPASS:
        return canonical(a)
    function = {AluOp.ADD: np.add, AluOp.SUBTRACT: np.subtract, AluOp.MULT: np.multiply}[AluOp(op)]
    with np.errstate(all="ignore"):
        return canonical(function(values(a), values(b)).view(np.uint32))


# Operands and scalars ------------------------------------------------------------------------------------------------


def codes(step: Any, operand: str) -> Array:
    """An operand's elements as unsigned codes: (channels, elements)."""
    found: Array = step.read(operand).view(f"u{step.operands[operand].size}")
    return found


def integers(step: Any, operand: str) -> Array:
    """The elements of an integer operand: int64, (channels, elements)."""
    return np.asarray(step.read(operand).astype(np.int64))


def _inline(step: Any, name: str) -> Any:
    return step.immediates[name].source == ImmSrc.INSTRUCTION_IMMEDIATE


def scalar_bits(step: Any, name: str) -> Array:
    """An immediate's code, one a channel: uint32, (channels, 1)."""
    found = step.imm(name)
    return np.asarray(found.view(f"u{found.itemsize}").astype(np.uint32))


def scalar_hub(step: Any, name: str) -> Array:
    """An immediate as fp32 bits, one a channel: uint32, (channels, 1). Inline ones of a narrow dtype are its low bytes."""
    f = step.layout.by_name[name]
    if f.dtype is None or not _inline(step, name):
        return np.asarray(step.imm_hub(name))
    return np.asarray(step.widened_codes(scalar_bits(step, name), step.number(f.dtype)))


# Folds -----------------------------------------------------------------------------------------------------------------


def identity(op: int) -> int | None:
    """fp32 bits that a fold with this operator starts from; None where no source gives any."""
    if op == AluOp.SUBTRACT:
        return 0
    named = {"zero": 0, "minus_zero": 0, "one": 0x3F800000, "lowest": 0xFF800000, "highest": 0x7F800000}
    return named.get(OPERATORS[AluOp(op)].identity or "")


def fold(step: Any, op: int, state: Array, row: Array) -> Array:
    """Fold each row into a state, left to right: state = op(new, state).

    Args:
        step: whose policies hold.
        op: operator code of the fp32 band.
        state: fp32 bits, (channels,).
        row: fp32 bits, (channels, elements).

    Returns:
        fp32 bits, (channels,).
    """
    policy = step.policy("reduce_nan")
    if op == AluOp.ADD:
        with np.errstate(all="ignore"):
            sums = np.add.accumulate(np.concatenate((values(state)[:, None], values(row)), axis=1), axis=1)
        return canonical(np.ascontiguousarray(sums[:, -1]).view(np.uint32))
    if op in (AluOp.MAX, AluOp.MIN):
        flip = np.uint32(0x80000000 if op == AluOp.MIN else 0)
        return canonical(largest(state ^ flip, row ^ flip, policy) ^ flip)
    run = step.core.compiled(alu_fp32_row)
    state = np.array(state, np.uint32)
    for new in np.ascontiguousarray(row.T):
        run(int(op), new, state, state, NAN_POLICIES[policy])
    return canonical(state)


def largest(state: Array, row: Array, policy: str | int) -> Array:
    """The largest of a state and a row of fp32 bits, under policy `reduce_nan`: uint32, (channels,)."""
    every = np.concatenate((state[:, None], row), axis=1)
    keys = order(every, HIGHEST if policy == "propagate" else LOWEST)
    if policy == "select":  # equal zeros: the earlier one; a NaN that is there already stays
        keys = np.where(every & np.uint32(0x7FFFFFFF) == 0, np.int32(0), keys)
        keys[:, 0] = np.where(is_nan(state), HIGHEST, keys[:, 0])
    return canonical(np.take_along_axis(every, keys.argmax(axis=1)[:, None], axis=1)[:, 0])

"""clamp_count (0xF5): clamp a tile between two limits, and count in the accumulator how often that was needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.checks import (
    active_channels,
    dtype_in,
    field_in,
    reserved_zero,
    rule,
    rules,
    same_count,
    start_partition,
    tensor_valid,
)
from gpsimd_core.isa.enums import AccumCmd, Dtype
from gpsimd_core.isa.layout import F32, U8, Tensor2D, zeros
from gpsimd_core.isa.layouts.common import Bundle
from gpsimd_core.values import Evidence, Instruction, Operand, Policy

__all__ = ["CLAMP_COUNT", "CLAMP_NAN", "ClampCount"]

EVIDENCE = Evidence(confidence="PROPOSED", source="Acme", note="an opcode byte that no generation uses")


class ClampCount(Bundle):
    """The 64 bytes of a record: header and events as in every record, then these."""

    title = "CLAMP_COUNT"
    evidence = EVIDENCE
    src = Tensor2D.at(12, dtype="in_dtype", doc="what is clamped")
    dst = Tensor2D.at(24, dtype="in_dtype", doc="where it goes, in the same dtype")
    in_dtype = Dtype.at(36, doc="dtype of src and dst")
    num_active_channels = U8.at(37, doc="partitions processed, 1 to 128")
    accumulator_cmd = AccumCmd.at(38, doc="whether the count is dropped, starts at zero, or goes on")
    reserved0 = zeros.at(39)
    low = F32.at(40, doc="lower limit")
    high = F32.at(44, doc="upper limit")
    reserved1 = zeros.at(48, 16)


def _limits_in_order(c: Any, f: Any) -> Any:
    low, high = c["low"].view(np.float32), c["high"].view(np.float32)
    return low <= high  # false where one of them is a NaN


def clamp(step: Any) -> dict[str, Any]:
    """The kernel: it reads operands as arrays of (channels, elements) and returns arrays; it never writes.

    Args:
        step: the planned instruction (`gpsimd_core.step.Step`).

    Returns:
        `dst`, of its dtype's numpy type; and the accumulator, float32 of (channels,), unless the command is IDLE.
    """
    data = step.read("src")
    low, high = step.imm("low").astype(data.dtype), step.imm("high").astype(data.dtype)
    below, above = data < low, data > high
    if step.policy("acme_clamp_nan") == "low":
        below = below | np.isnan(data)
    answer = {"dst": np.where(above, high, np.where(below, low, data))}
    command = step.number("accumulator_cmd")
    if command != AccumCmd.IDLE:
        count = (below | above).sum(axis=1).astype(np.float32)
        answer["accumulator"] = count + step.accumulator if command == AccumCmd.ACCUMULATE else count
    return answer


CLAMP_NAN = Policy(
    name="acme_clamp_nan", values=("keep", "low"), default="keep", help="0xF5: a NaN stays, or becomes the lower limit",
    evidence=EVIDENCE,
)  # fmt: skip

CLAMP_COUNT = Instruction(
    name="clamp_count",
    aliases=("ClampCount",),
    opcodes=(0xF5,),
    engine="dve",
    layout=ClampCount,
    reads=(Operand(name="src", at="src", dtype="in_dtype"),),
    writes=(Operand(name="dst", at="dst", dtype="in_dtype"),),
    immediates=("low", "high"),
    rules=rules(
        EVIDENCE,
        (2, dtype_in("in_dtype", "fp_datapath")),
        (3, active_channels()),
        (4, start_partition("src", needs=("check_active_channels",))),
        (4, start_partition("dst", needs=("check_active_channels",))),
        (5, tensor_valid("src", "in_dtype", needs=("dtype_in[in_dtype]",))),
        (5, tensor_valid("dst", "in_dtype", write=True, needs=("dtype_in[in_dtype]",))),
        (6, same_count("src", "dst", needs=("tensor_valid[src]", "tensor_valid[dst]"))),
        (7, field_in("accumulator_cmd", AccumCmd.IDLE, AccumCmd.ACCUMULATE, AccumCmd.ZERO_ACCUMULATE)),
        (8, rule("limits_in_order", "", ("low", "high"), _limits_in_order, "low at most high, and neither a NaN")),
        (9, reserved_zero("reserved0", "reserved1")),
    ),
    kernel=clamp,
    accumulator="accumulator_cmd",
    semantics=(
        "dst = src where low <= src <= high, else the limit that it passes; a NaN stays, or becomes low under policy "
        "acme_clamp_nan = low. The number of elements that changed is added to the DVE accumulator of the lane."
    ),
    evidence=EVIDENCE,
)

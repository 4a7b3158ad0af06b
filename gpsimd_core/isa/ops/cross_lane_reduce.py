"""cross_lane_reduce (0x7C arithmetic, 0x7D bitvec): fold across partitions."""

from __future__ import annotations

from gpsimd_core.isa.checks import (
    active_channels,
    addresses,
    dtype_in,
    dtype_valid,
    field_in,
    member_of,
    reserved_zero,
    rule,
    rules,
    same_count,
    start_partition,
    tensor_valid,
)
from gpsimd_core.isa.enums import ReduceAxis, ReduceOp
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.reduce import cross_lane_row, run
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s4d4_cr import S4D4Cr
from gpsimd_core.isa.ops.shared import CHANNELS, Bools, Rows, When, same_dtype, valid, where
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand, Reading

__all__ = ["CROSS_LANE_REDUCE_ARITH", "CROSS_LANE_REDUCE_BITVEC"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="CrossLaneReduce",
    note="the axis is HIGH, where the result lies MED",
    readings=(
        Reading(
            topic="which opcode takes which fold",
            chosen="0x7C ADD, AVERAGE, MAX; 0x7D the bitwise ones, on integers with in = out",
            beaten=("either takes all six",),
            why="no page ties them together: PROPOSED",
        ),
        Reading(
            topic="order of the fold",
            chosen="ascending partition, each in stream order, as one chain from the first element; one element alone is arithmetic",
            beaten=("a balanced tree", "for ALL: across the partitions element by element, then along the stream"),
            why="the header guarantees none; left to right is reproducible: PROPOSED",
        ),
        Reading(
            topic="integers in 0x7C",
            chosen="in fp32",
            beaten=("at 16 or 32 bits, as the vector core's adders widen",),
            why="what the engine computes, not which primitive it uses, is visible",
            policy="cross_lane_int",
        ),
    ),
)

ALL = When(fields=("reduce_axis",), test=lambda c, f: c["reduce_axis"] == ReduceAxis.ALL, text="reduce_axis = ALL")
PARTITIONS = When(
    fields=("reduce_axis",),
    test=lambda c, f: c["reduce_axis"] == ReduceAxis.PARTITIONS,
    text="reduce_axis = PARTITIONS",
)


def _single(c: Columns, f: Facts) -> Bools:
    return addresses(c, f, "dst").shape | (c["dst.num_elem"] == 1).all(axis=1)


COMMON: Rows = (
    (2, reserved_zero("reserved0")),
    (3, dtype_valid("in_dtype")),
    (3, dtype_valid("out_dtype", fp32r=True)),
    (4, start_partition("src", needs=(CHANNELS,))),
    (4, start_partition("dst", channels=1)),
    (5, active_channels()),
    (6, tensor_valid("src", "in_dtype", psum=False, needs=("is_valid_dtype[in_dtype]",))),
    (6, tensor_valid("dst", "out_dtype", write=True, psum=False, needs=("is_valid_dtype[out_dtype]",))),
    (7, member_of("reduce_axis", ReduceAxis)),
    (8, where(ALL, rule(
        "single_element", "dst", ("dst.num_elem",), _single, "1 in every dimension",
        needs=("is_valid_enum[reduce_axis]", *valid("dst")),
    ))),
    (8, where(PARTITIONS, same_count("src", "dst", needs=("is_valid_enum[reduce_axis]", *valid("src", "dst"))))),
)  # fmt: skip

READS = (Operand(name="data", at="src", dtype="in_dtype"),)
WRITES = (Operand(name="out", at="dst", dtype="out_dtype", channels=1),)
PLACE = "ALL leaves one element on one partition, PARTITIONS one partition of as many elements as src has."

CROSS_LANE_REDUCE_ARITH = Instruction(
    name="cross_lane_reduce_arith",
    aliases=("CrossLaneReduce", "CrossLaneReduceArith"),
    layout=S4D4Cr,
    reads=READS,
    writes=WRITES,
    rules=rules(
        EVIDENCE, *COMMON, (9, field_in("reduce_op", ReduceOp.ADD, ReduceOp.AVERAGE, ReduceOp.MAX)),
    ),
    kernel=CompiledKernel(run=run, row=cross_lane_row),
    semantics=(
        f"Folds all active partitions in fp32, ascending partition first, then stream order. {PLACE} AVERAGE multiplies "
        "each element by scale and adds; it never divides."
    ),
    evidence=EVIDENCE,
)  # fmt: skip

CROSS_LANE_REDUCE_BITVEC = Instruction(
    name="cross_lane_reduce_bitvec",
    aliases=("CrossLaneReduceBitvec",),
    layout=S4D4Cr,
    reads=READS,
    writes=WRITES,
    rules=rules(
        EVIDENCE,
        *COMMON,
        (9, field_in("reduce_op", ReduceOp.BITWISE_OR, ReduceOp.BITWISE_AND, ReduceOp.BITWISE_XOR)),
        (9, dtype_in("in_dtype", "int_datapath", needs=("is_valid_dtype[in_dtype]",))),
        (9, same_dtype("in_dtype", "out_dtype", needs=("dtype_in[in_dtype]", "is_valid_dtype[out_dtype]"))),
    ),
    kernel=CompiledKernel(run=run, row=cross_lane_row),
    semantics=f"Folds all active partitions on raw bits. {PLACE}",
    evidence=EVIDENCE,
)

"""scalar_tensor_tensor (0x9D arithmetic, 0x9E bitvec): two operators over two tensors and a scalar."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import (
    active_channels,
    addresses,
    dtype_in,
    dtype_valid,
    field_in,
    field_is,
    immediate,
    in_partitions,
    member_of,
    reserved_zero,
    rule,
    rules,
    same_count,
)
from gpsimd_core.isa.enums import AccumCmd, AluOp, ImmSrc, TensScalarRevOps
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.elementwise import run
from gpsimd_core.isa.kernels.elementwise_plan import scalar_tensor_bitvec_row, scalar_tensor_row
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s2s2d2_stt import S2S2D2Stt
from gpsimd_core.isa.ops.shared import (
    CHANNELS,
    Bools,
    Rows,
    arith_shift,
    inline_fp32,
    operator_in,
    placed,
    same_dtype,
    valid,
)
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand, Reading, Rule

__all__ = ["SCALAR_TENSOR_TENSOR_ARITH", "SCALAR_TENSOR_TENSOR_BITVEC", "dtypes", "operators", "patterns"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="Scalar-Tensor-Tensor (STT)",
    readings=(
        Reading(
            topic="dst while accumulating",
            chosen="always written",
            beaten=("written only when nothing is accumulated",),
            why="the compiler and the public API write dst and return a reduction besides",
        ),
        Reading(
            topic="fold operator of the accumulator",
            chosen="ADD",
            beaten=("op1",),
            why="the record has no field for it; a public model of the compiler adds",
        ),
    ),
)

_QUADRANT = Evidence(
    confidence="PROPOSED",
    source="Scalar-Tensor-Tensor (STT)",
    note="the header ties s2s2d2_stt_quadrant_check to an erratum; its body is not given",
)


def dtypes(number: int) -> Rows:
    """The plain gates of the four dtypes."""
    return (
        (number, dtype_valid("src0_dtype")),
        (number, dtype_valid("src1_dtype")),
        (number, dtype_valid("imm0_dtype")),
        (number, dtype_valid("out_dtype", fp32r=True)),
    )


def operators(number: int, then: int, name: str) -> Rows:
    """Both operators are operators, and members of a set."""
    return (
        (number, member_of("op0", AluOp)),
        (number, member_of("op1", AluOp)),
        (then, operator_in("op0", name, needs=("is_valid_enum[op0]",))),
        (then, operator_in("op1", name, needs=("is_valid_enum[op1]",))),
    )


def patterns(number: int, then: int) -> Rows:
    """Immediate, start addresses, tensors and channels; then counts and placement."""
    return (
        (number - 1, immediate("imm0", "imm0_src", "imm0_dtype", needs=("is_valid_dtype[imm0_dtype]", CHANNELS))),
        *placed(number, "src0", "src0_dtype", "is_valid_dtype[src0_dtype]"),
        *placed(number, "src1", "src1_dtype", "is_valid_dtype[src1_dtype]"),
        *placed(number, "dst", "out_dtype", "is_valid_dtype[out_dtype]", write=True),
        (number, active_channels()),
        (then, same_count("src0", "src1", needs=valid("src0", "src1"))),
        (then, same_count("src0", "dst", needs=valid("src0", "dst"))),
        (then, in_partitions(
            "src0", "src1", needs=("start_addr_active_channels[src0]", "start_addr_active_channels[src1]"),
        )),
    )  # fmt: skip


def _one_quadrant(c: Columns, f: Facts) -> Bools:
    placed_in = [(a, a.plain) for a in (addresses(c, f, operand) for operand in ("src0", "src1", "dst"))]
    placed_in.append((addresses(c, f, "imm0", ""), c["imm0_src"] == ImmSrc.POINTER_IMMEDIATE))
    quadrants = np.zeros(len(c), np.int64)
    for a, known in placed_in:
        quadrants |= np.where(known & a.sbuf, 1 << (a.partition.astype(np.int64) // 32 & 3), 0)
    return quadrants & (quadrants - 1) == 0


def _quadrant_check() -> Rule:
    return rule(
        "s2s2d2_stt_quadrant_check", "", ("src0.start_addr", "src1.start_addr", "dst.start_addr", "imm0", "imm0_src"),
        _one_quadrant, "operands in SBUF all in one quadrant of 32 partitions", warning=True, evidence=_QUADRANT,
        needs=(
            "start_addr_active_channels[src0]", "start_addr_active_channels[src1]", "start_addr_active_channels[dst]",
            "has_valid_immediates[imm0]",
        ),
    )  # fmt: skip


ARITH_RULES = rules(
    EVIDENCE,
    *dtypes(2),
    (4, inline_fp32(needs=("is_valid_dtype[imm0_dtype]",))),
    *operators(5, 6, "general_arith"),
    *patterns(8, 9),
    (10, _quadrant_check()),
    (11, field_in("accumulator_cmd", AccumCmd.IDLE, AccumCmd.ACCUMULATE, AccumCmd.ZERO_ACCUMULATE)),
    (12, member_of("reverse_operands", TensScalarRevOps)),
    (13, reserved_zero("reserved")),
)

BITVEC_RULES = rules(
    EVIDENCE,
    *dtypes(2),
    *(
        (3, dtype_in(name, "int_datapath", needs=(f"is_valid_dtype[{name}]",)))
        for name in ("src0_dtype", "src1_dtype", "imm0_dtype", "out_dtype")
    ),
    *(
        (3, same_dtype("src0_dtype", name, needs=("dtype_in[src0_dtype]", f"dtype_in[{name}]")))
        for name in ("src1_dtype", "imm0_dtype", "out_dtype")
    ),
    (3, arith_shift("op0", "src0_dtype", needs=("dtype_in[src0_dtype]",))),
    (3, arith_shift("op1", "src0_dtype", needs=("dtype_in[src0_dtype]",))),
    *operators(5, 6, "general_bitvec"),
    *patterns(8, 9),
    (11, field_is("accumulator_cmd", AccumCmd.IDLE)),
    (12, member_of("reverse_operands", TensScalarRevOps)),
    (13, reserved_zero("reserved")),
)

READS = (Operand(name="data0", at="src0", dtype="src0_dtype"), Operand(name="data1", at="src1", dtype="src1_dtype"))
WRITES = (Operand(name="out", at="dst", dtype="out_dtype"),)

SCALAR_TENSOR_TENSOR_ARITH = Instruction(
    name="scalar_tensor_tensor_arith",
    aliases=("ScalarTensorTensorArith",),
    layout=S2S2D2Stt,
    reads=READS,
    writes=WRITES,
    immediates=("imm0",),
    rules=ARITH_RULES,
    kernel=CompiledKernel(run=run, row=scalar_tensor_row),
    accumulator="accumulator_cmd",
    semantics=(
        "dst[k] = op1(op0(src0[k], imm0), src1[k]) in fp32, each operator rounded, one conversion at the store. "
        "reverse_operands swaps the operands of op0 (FIRST), op1 (SECOND) or both. With ACCUMULATE or ZERO_ACCUMULATE "
        "the results before conversion are also added into the accumulator of the lane, from what is there or from 0."
    ),
    evidence=EVIDENCE,
)

SCALAR_TENSOR_TENSOR_BITVEC = Instruction(
    name="scalar_tensor_tensor_bitvec",
    aliases=("ScalarTensorTensorBitvec",),
    layout=S2S2D2Stt,
    reads=READS,
    writes=WRITES,
    immediates=("imm0",),
    rules=BITVEC_RULES,
    kernel=CompiledKernel(run=run, row=scalar_tensor_bitvec_row),
    semantics=(
        "dst[k] = op1(op0(src0[k], imm0), src1[k]) on raw bits; all four dtypes are one integer dtype. "
        "reverse_operands swaps as in the arithmetic form."
    ),
    evidence=EVIDENCE,
)

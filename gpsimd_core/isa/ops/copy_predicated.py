"""copy_predicated (0x72), cast_predicated (0x99): copy where a predicate holds, keep the destination elsewhere."""

from __future__ import annotations

from gpsimd_core.isa.checks import dtype_in, dtype_valid, field_is, rules
from gpsimd_core.isa.enums import AluOp
from gpsimd_core.isa.kernels.predicated import copy_row, run
from gpsimd_core.isa.layouts.s3s3d3_tt import S3S3D3Tt
from gpsimd_core.isa.ops.shared import same_dtype
from gpsimd_core.isa.ops.tensor_tensor import matched
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand, Reading

__all__ = ["CAST_PREDICATED", "COPY_PREDICATED"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="CastPredicated — opcode 0x99",
    note="that false lanes keep their bytes is MED as a mechanism",
    readings=(
        Reading(
            topic="0x99 with equal dtypes",
            chosen="a copy of bits",
            beaten=("through fp32 like any cast",),
            why="32-bit integers and NaN payloads survive; the page states no shortcut",
        ),
    ),
)

DTYPES = (
    (2, dtype_valid("out_dtype")),
    (2, dtype_valid("src0_dtype")),
    (2, dtype_valid("src1_dtype")),
    (3, dtype_in("src0_dtype", "int_datapath", needs=("is_valid_dtype[src0_dtype]",))),
)
REST = ((5, field_is("op", AluOp.BYPASS)), *matched(6, 7, 7, "is_valid_dtype"))

CAST_RULES = rules(EVIDENCE, *DTYPES, *REST)
COPY_RULES = rules(
    EVIDENCE,
    *DTYPES,
    (4, same_dtype("src1_dtype", "out_dtype", needs=("is_valid_dtype[src1_dtype]", "is_valid_dtype[out_dtype]"))),
    *REST,
)

READS = (
    Operand(name="predicate", at="src0", dtype="src0_dtype", predicate=True),
    Operand(name="data", at="src1", dtype="src1_dtype"),
)
WRITES = (Operand(name="out", at="dst", dtype="out_dtype", merges=True),)

COPY_PREDICATED = Instruction(
    name="copy_predicated",
    aliases=("CopyPredicated",),
    layout=S3S3D3Tt,
    reads=READS,
    writes=WRITES,
    rules=COPY_RULES,
    kernel=CompiledKernel(run=run, row=copy_row),
    semantics="Where src0[k] is not zero, dst[k] takes the bits of src1[k]; elsewhere dst[k] keeps its bytes.",
    evidence=EVIDENCE,
)

CAST_PREDICATED = Instruction(
    name="cast_predicated",
    aliases=("CastPredicated",),
    layout=S3S3D3Tt,
    reads=READS,
    writes=WRITES,
    rules=CAST_RULES,
    kernel=CompiledKernel(run=run, row=copy_row),
    semantics=(
        "Where src0[k] is not zero, dst[k] = src1[k] through fp32 to out_dtype, or its bits when the dtypes are equal; "
        "elsewhere dst[k] keeps its bytes."
    ),
    evidence=EVIDENCE,
)

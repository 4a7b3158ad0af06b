"""copy_predicated_scalar (0xE8): write one scalar where a predicate selects, keep the destination elsewhere."""

from __future__ import annotations

from gpsimd_core.isa.checks import (
    active_channels,
    dtype_in,
    dtype_valid,
    field_in,
    immediate,
    reserved_zero,
    rules,
    same_count,
)
from gpsimd_core.isa.kernels.predicated import run, scalar_row
from gpsimd_core.isa.layouts.s3d3_cp_pred_scalar import S3D3CpPredScalar
from gpsimd_core.isa.ops.shared import CHANNELS, INDEX_LISTS, placed, same_dtype, valid
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand

__all__ = ["COPY_PREDICATED_SCALAR"]

EVIDENCE = Evidence(confidence="HIGH/OBSERVED", source="CopyPredicatedScalar — opcode 0xe8", readings=(INDEX_LISTS,))

RULES = rules(
    EVIDENCE,
    (1, reserved_zero("reserved0", "reserved1")),
    (2, immediate("src0_imm", "src0_imm_src", "in_dtype", needs=("is_valid_dtype[in_dtype]", CHANNELS))),
    *placed(3, "pred", "pred_dtype", "dtype_in[pred_dtype]", mem_pattern=True),
    *placed(3, "dst", "out_dtype", "is_valid_dtype[out_dtype]", write=True, mem_pattern=True),
    (4, same_count("pred", "dst", needs=valid("pred", "dst"))),
    (5, dtype_in("pred_dtype", "int_datapath")),
    (5, dtype_valid("in_dtype")),
    (5, dtype_valid("out_dtype")),
    (5, same_dtype("in_dtype", "out_dtype", needs=("is_valid_dtype[in_dtype]", "is_valid_dtype[out_dtype]"))),
    (6, field_in("reversed_pred", 0, 1)),
    (6, active_channels()),
)

COPY_PREDICATED_SCALAR = Instruction(
    name="copy_predicated_scalar",
    aliases=("CopyPredicatedScalar",),
    layout=S3D3CpPredScalar,
    reads=(Operand(name="predicate", at="pred", dtype="pred_dtype", predicate=True),),
    writes=(Operand(name="out", at="dst", dtype="out_dtype", merges=True),),
    immediates=("src0_imm",),
    rules=RULES,
    kernel=CompiledKernel(run=run, row=scalar_row),
    semantics=(
        "With reversed_pred 0, dst[k] takes the bits of the scalar where pred[k] is zero; with 1, where it is not. "
        "Elsewhere dst[k] keeps its bytes. Nothing is converted."
    ),
    evidence=EVIDENCE,
)

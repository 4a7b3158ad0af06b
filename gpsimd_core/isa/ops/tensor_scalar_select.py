"""tensor_scalar_select (0x98): a tensor or a scalar, chosen by one predicate number."""

from __future__ import annotations

from gpsimd_core.isa.checks import (
    active_channels,
    dtype_in,
    dtype_valid,
    field_in,
    immediate,
    reserved_zero,
    rule,
    rules,
    same_count,
)
from gpsimd_core.isa.enums import ImmSrc
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.selects import tensor_scalar_select
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s3d3_ts_select import S3D3TsSelect
from gpsimd_core.isa.ops.shared import CHANNELS, Bools, placed, same_width, valid
from gpsimd_core.values import Evidence, Instruction, Operand

__all__ = ["TENSOR_SCALAR_SELECT"]

EVIDENCE = Evidence(confidence="HIGH/OBSERVED", source="TensorScalarSelect (0x98)")


def _truth(c: Columns, f: Facts) -> Bools:
    return (c["pred_imm_src"] != ImmSrc.INSTRUCTION_IMMEDIATE) | (c["pred_imm"] <= 1)


RULES = rules(
    EVIDENCE,
    (1, reserved_zero("reserved0", "reserved1")),
    (2, dtype_valid("dtype")),
    (2, dtype_in("pred_imm_dtype", "int_datapath")),
    (2, same_width("dtype", "pred_imm_dtype", needs=("is_valid_dtype[dtype]", "dtype_in[pred_imm_dtype]"))),
    (3, rule("inline_predicate", "", ("pred_imm", "pred_imm_src"), _truth, "0 or 1 when inline")),
    (3, immediate("src1_imm", "src1_imm_src", "dtype", needs=("is_valid_dtype[dtype]", CHANNELS))),
    (3, immediate("pred_imm", "pred_imm_src", "pred_imm_dtype", needs=("dtype_in[pred_imm_dtype]", CHANNELS))),
    (4, field_in("reversed_pred", 0, 1)),
    (4, same_count("src0", "dst", needs=valid("src0", "dst"))),
    *placed(4, "src0", "dtype", "is_valid_dtype[dtype]"),
    *placed(4, "dst", "dtype", "is_valid_dtype[dtype]", write=True),
    (4, active_channels()),
)

TENSOR_SCALAR_SELECT = Instruction(
    name="tensor_scalar_select",
    aliases=("TensorScalarSelect",),
    layout=S3D3TsSelect,
    reads=(Operand(name="data", at="src0", dtype="dtype"),),
    writes=(Operand(name="out", at="dst", dtype="dtype"),),
    immediates=("src1_imm", "pred_imm"),
    rules=RULES,
    kernel=tensor_scalar_select,
    semantics=(
        "Where the predicate of the channel is not zero, dst[k] takes the bits of src0[k], else those of src1_imm; "
        "reversed_pred exchanges the two."
    ),
    evidence=EVIDENCE,
)

"""tensor_cumulative (0x4E arithmetic, 0x5E bitvec): running results along the inner dimensions."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import (
    active_channels,
    dtype_valid,
    field_in,
    field_is,
    member_of,
    reserved_zero,
    rule,
    rules,
    same_count,
)
from gpsimd_core.isa.enums import AluOp, Dtype
from gpsimd_core.isa.kernels.combine import crc32_missing
from gpsimd_core.isa.kernels.reduce import cumulative_bitvec_row, cumulative_row, run
from gpsimd_core.isa.layouts.s4d4_tr import S4D4Tr
from gpsimd_core.isa.ops.copy_cast import READS, WRITES
from gpsimd_core.isa.ops.shared import (
    BITVEC_DTYPES,
    SUBDIMS,
    Rows,
    When,
    arith_shift,
    operator_in,
    operator_not_in,
    placed,
    same_dtype,
    valid,
    where,
)
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Rule

__all__ = ["TENSOR_CUMULATIVE_ARITH_OP", "TENSOR_CUMULATIVE_BITVEC_OP", "bitvec_dtypes", "logical_shift"]

EVIDENCE = Evidence(confidence="HIGH/OBSERVED", source="TensorCumulative (0x4E/0x5E)")
REFUSED = (AluOp.DIVIDE, AluOp.POW, AluOp.MOD)
INTEGER = When(fields=("op",), test=lambda c, f: f.has("int_aluop", c["op"]), text="operators of the integer band")


def logical_shift(field: str, dtype: str, *, needs: tuple[str, ...]) -> Rule:
    """LOGICAL_SHIFT_RIGHT works on INT32 alone."""
    return rule(
        "logical_shift_dtype", field, (field, dtype),
        lambda c, f: (c[field] != AluOp.LOGICAL_SHIFT_RIGHT) | (c[dtype] == Dtype.INT32),
        "for LOGICAL_SHIFT_RIGHT: INT32", needs=needs,
    )  # fmt: skip


def bitvec_dtypes(number: int) -> Rows:
    """in = out, one of the bitvec dtypes."""
    return (
        (number, field_in("in_dtype", *BITVEC_DTYPES)),
        (number, same_dtype("in_dtype", "out_dtype", needs=("field_in[in_dtype]",))),
    )


def _refused() -> Rule:
    return rule(
        "operator_refused", "op", ("op",), lambda c, f: ~np.isin(c["op"], REFUSED),
        f"anything but {' '.join(op.name for op in REFUSED)}", needs=("operator_in[op]",),
    )  # fmt: skip


def _integer_dtypes() -> Rule:
    return rule(
        "integer_dtypes", "", ("in_dtype", "out_dtype"),
        lambda c, f: f.has("int32_set", c["in_dtype"]) & (c["in_dtype"] == c["out_dtype"]),
        lambda f: f"in_dtype = out_dtype, one of {f.listed('int32_set')}",
        needs=("operator_refused[op]", "is_valid_dtype[in_dtype]", "is_valid_dtype[out_dtype]"), sets=("int32_set", "int_aluop"),
    )  # fmt: skip


def _rest(source_gate: str, target_gate: str) -> Rows:
    return (
        (6, field_is("negated", 0)),
        (6, field_is("mask_enable", 0)),
        (6, reserved_zero("reserved1")),
        *placed(7, "src", "in_dtype", source_gate, mem_pattern=True),
        *placed(7, "dst", "out_dtype", target_gate, write=True, mem_pattern=True),
        (7, active_channels()),
        (7, same_count("src", "dst", needs=valid("src", "dst"))),
    )


ARITH_RULES = rules(
    EVIDENCE,
    (2, field_in("op_dim", *SUBDIMS)),
    (3, member_of("op", AluOp)),
    (3, operator_in("op", "arith", needs=("is_valid_enum[op]",))),
    (3, _refused()),
    (3, operator_not_in("op", "unary", needs=("operator_in[op]",))),
    (4, dtype_valid("in_dtype")),
    (4, dtype_valid("out_dtype", fp32r=True)),
    (5, where(INTEGER, _integer_dtypes())),
    *_rest("is_valid_dtype[in_dtype]", "is_valid_dtype[out_dtype]"),
)

BITVEC_RULES = rules(
    EVIDENCE,
    (2, field_in("op_dim", *SUBDIMS)),
    (3, member_of("op", AluOp)),
    (3, operator_in("op", "bitvec", needs=("is_valid_enum[op]",))),
    (3, operator_not_in("op", "unary", needs=("operator_in[op]",))),
    *bitvec_dtypes(4),
    (5, logical_shift("op", "in_dtype", needs=("field_in[in_dtype]",))),
    (5, arith_shift("op", "in_dtype", needs=("field_in[in_dtype]",))),
    *_rest("field_in[in_dtype]", "same_dtype[in_dtype,out_dtype]"),
)

TENSOR_CUMULATIVE_ARITH_OP = Instruction(
    name="tensor_cumulative_arith_op",
    aliases=("TensorCumulativeArith",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=ARITH_RULES,
    kernel=CompiledKernel(run=run, row=cumulative_row),
    semantics=(
        "Along the dimensions that op_dim names: dst[0] = src[0], dst[k] = op(state, src[k]) with the state in fp32, "
        "restarted for each index of the others. Integer operators work on 32-bit integers."
    ),
    evidence=EVIDENCE,
)

TENSOR_CUMULATIVE_BITVEC_OP = Instruction(
    name="tensor_cumulative_bitvec_op",
    aliases=("TensorCumulativeBitvec",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=BITVEC_RULES,
    kernel=CompiledKernel(run=run, row=cumulative_bitvec_row),
    unsupported=crc32_missing,
    semantics=(
        "Along the dimensions that op_dim names: dst[0] = src[0], dst[k] = op(state, src[k]) on raw bits, restarted for "
        "each index of the others."
    ),
    evidence=EVIDENCE,
)

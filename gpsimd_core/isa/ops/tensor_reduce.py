"""tensor_reduce (0x42 arithmetic, 0x52 bitvec, 0x83 and 0x84 after a transpose): fold inner dimensions."""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.checks import active_channels, field_in, field_is, member_of, reserved_zero, rule, rules
from gpsimd_core.isa.enums import AluOp, Dtype
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.combine import crc32_missing
from gpsimd_core.isa.kernels.reduce import (
    blocks_missing,
    reduce_bitvec_row,
    reduce_row,
    run,
    transpose_reduce_bitvec_row,
    transpose_reduce_row,
    width_missing,
)
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s4d4_tr import S4D4Tr
from gpsimd_core.isa.ops.copy_cast import READS, WRITES
from gpsimd_core.isa.ops.shared import (
    SUBDIMS,
    Bools,
    Rows,
    When,
    arith_shift,
    channels_multiple,
    dtype_valid_64,
    in_sbuf,
    operator_in,
    placed,
    reduced_count,
    valid,
    where,
)
from gpsimd_core.isa.ops.tensor_cumulative import bitvec_dtypes, logical_shift
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Reading, Rule

__all__ = [
    "TENSOR_REDUCE_ARITH_OP",
    "TENSOR_REDUCE_BITVEC_OP",
    "TRANSPOSE_TENSOR_REDUCE_ARITH_OP",
    "TRANSPOSE_TENSOR_REDUCE_BITVEC_OP",
]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="Tensor-Reduce (cross-partition)",
    note="details MED; that the destination holds the product of the remaining counts is PROPOSED",
    readings=(
        Reading(
            topic="engine of the integer and arg-reduce forms",
            chosen="POOL",
            beaten=("none: one POOL table has no slot for 0x42",),
            why="the rules name POOL for them",
        ),
        Reading(
            topic="negated with integers or bits",
            chosen="refused",
            beaten=("negates the result",),
            why="the sign is that of the fp32 result; the public API refuses it",
        ),
    ),
)
TRANSPOSED = Evidence(confidence="HIGH/OBSERVED", source=EVIDENCE.source, note="the order of the two steps is MED")


def _band(c: Columns, f: Facts) -> Bools:
    return f.has("int_aluop", c["op"])


def _arguments(c: Columns, f: Facts) -> Bools:
    return f.has("argument_reduce", c["op"])


def _integer(c: Columns, f: Facts) -> Bools:
    return _band(c, f) | _arguments(c, f)


INTEGER = When(fields=("op",), test=_integer, text="integer operators")
BAND = When(fields=("op",), test=_band, text="operators of the integer band")
ARGUMENTS = When(fields=("op",), test=_arguments, text="arg-reduces")
FLOATING = When(fields=("op",), test=lambda c, f: ~_integer(c, f), text="operators outside the integer band")


def _wide_integer(field: str) -> Rule:
    return rule(
        "integer_dtype", field, (field,),
        lambda c, f: f.has("int32_set", c[field]) | f.has("int64_set", c[field]),
        lambda f: f"{f.listed('int32_set')} {f.listed('int64_set')}",
        needs=("operator_in[op]", f"is_valid_dtype_64[{field}]"), sets=("int32_set", "int64_set"),
    )  # fmt: skip


def _narrow(field: str) -> Rule:
    return where(FLOATING, rule(
        "no_64bit", field, (field,), lambda c, f: ~f.has("int64_set", c[field]), "no 64-bit dtype",
        needs=("operator_in[op]", f"is_valid_dtype_64[{field}]"), sets=("int64_set",),
    ))  # fmt: skip


def _counts() -> Rule:
    return reduced_count("src", "dst", "op_dim", needs=(*valid("src", "dst"), "field_in[op_dim]"))


def _places(source_gate: str, target_gate: str) -> Rows:
    return (
        *placed(6, "src", "in_dtype", source_gate, mem_pattern=True),
        *placed(6, "dst", "out_dtype", target_gate, write=True, mem_pattern=True),
        (6, active_channels()),
        (6, field_is("mask_enable", 0)),
        (6, reserved_zero("reserved1")),
    )


ARITH: Rows = (
    (1, dtype_valid_64("in_dtype", "int64_set")),
    (1, dtype_valid_64("out_dtype", "int64_set", fp32r=True)),
    (1, _narrow("in_dtype")),
    (1, _narrow("out_dtype")),
    (2, field_in("negated", 0, 1)),
    (2, where(INTEGER, field_is("negated", 0, needs=("field_in[negated]", "operator_in[op]")), id="integer_negated")),
    (3, member_of("op", AluOp)),
    (3, operator_in("op", "general_arith", "int_aluop", "argument_reduce", needs=("is_valid_enum[op]",))),
    (4, where(INTEGER, _wide_integer("in_dtype"))),
    (4, where(BAND, _wide_integer("out_dtype"))),
    (4, where(ARGUMENTS, field_is(
        "out_dtype", Dtype.UINT32, needs=("operator_in[op]", "is_valid_dtype_64[out_dtype]"),
    ), id="argument_dtype")),
    (4, in_sbuf("src", INTEGER, "integer_in_sbuf", needs=("operator_in[op]", *valid("src")))),
    (4, in_sbuf("dst", INTEGER, "integer_in_sbuf", needs=("operator_in[op]", *valid("dst")))),
    (5, field_in("op_dim", *SUBDIMS)),
    (6, _counts()),
    *_places("is_valid_dtype_64[in_dtype]", "is_valid_dtype_64[out_dtype]"),
)  # fmt: skip

BITVEC: Rows = (
    *bitvec_dtypes(1),
    (1, logical_shift("op", "in_dtype", needs=("field_in[in_dtype]",))),
    (2, field_is("negated", 0)),
    (3, member_of("op", AluOp)),
    (3, operator_in("op", "bitvec", needs=("is_valid_enum[op]",))),
    (3, arith_shift("op", "in_dtype", needs=("field_in[in_dtype]",))),
    (5, field_in("op_dim", *SUBDIMS)),
    (6, _counts()),
    *_places("field_in[in_dtype]", "same_dtype[in_dtype,out_dtype]"),
)


def _takers(c: Columns, f: Facts, engine: str) -> Any:
    return (engine == "pool") | ~_integer(c, f)


ARITH_TEXT = (
    "Folds the dimensions that op_dim names, X innermost, op(new, state) in fp32 from the first element on; dst holds "
    "one value for each index of the others, its sign flipped when negated is 1. Integer operators fold 32- or 64-bit "
    "integers on POOL; an arg-reduce gives the index inside the folded block, dim 0 fastest, the first on ties."
)
BITVEC_TEXT = "Folds the dimensions that op_dim names on raw bits, op(new, state) from the first element on."
FIRST = "Transposes each block of 32 partitions by 32 elements of src, then: "

TENSOR_REDUCE_ARITH_OP = Instruction(
    name="tensor_reduce_arith_op",
    aliases=("TensorReduceArith",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=rules(EVIDENCE, *ARITH),
    takes=_takers,
    kernel=CompiledKernel(run=run, row=reduce_row),
    unsupported=width_missing,
    semantics=ARITH_TEXT,
    evidence=EVIDENCE,
)

TENSOR_REDUCE_BITVEC_OP = Instruction(
    name="tensor_reduce_bitvec_op",
    aliases=("TensorReduceBitvec",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=rules(EVIDENCE, *BITVEC),
    kernel=CompiledKernel(run=run, row=reduce_bitvec_row),
    unsupported=crc32_missing,
    semantics=BITVEC_TEXT,
    evidence=EVIDENCE,
)

TRANSPOSE_TENSOR_REDUCE_ARITH_OP = Instruction(
    name="transpose_tensor_reduce_arith_op",
    aliases=("TransposeTensorReduceArith",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=rules(TRANSPOSED, *ARITH, (8, channels_multiple(32))),
    kernel=CompiledKernel(run=run, row=transpose_reduce_row),
    unsupported=lambda step: blocks_missing(step) or width_missing(step),
    semantics=FIRST + ARITH_TEXT,
    evidence=TRANSPOSED,
)

TRANSPOSE_TENSOR_REDUCE_BITVEC_OP = Instruction(
    name="transpose_tensor_reduce_bitvec_op",
    aliases=("TransposeTensorReduceBitvec",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=rules(TRANSPOSED, *BITVEC, (8, channels_multiple(32))),
    kernel=CompiledKernel(run=run, row=transpose_reduce_bitvec_row),
    unsupported=lambda step: crc32_missing(step) or blocks_missing(step),
    semantics=FIRST + BITVEC_TEXT,
    evidence=TRANSPOSED,
)

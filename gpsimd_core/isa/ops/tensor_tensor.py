"""tensor_tensor (0x41 arithmetic, 0x51 bitvec): one operator between the elements of two tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.checks import active_channels, dtype_in, in_partitions, member_of, rule, rules, same_count
from gpsimd_core.isa.enums import AluOp, Dtype
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.elementwise import run
from gpsimd_core.isa.kernels.elementwise_plan import tensor_bitvec_row, tensor_row
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s3s3d3_tt import S3S3D3Tt
from gpsimd_core.isa.ops.shared import (
    Bools,
    Rows,
    When,
    arith_shift,
    dtype_valid_64,
    in_sbuf,
    operator_in,
    placed,
    same_dtype,
    valid,
    where,
)
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand, Reading, Rule

__all__ = ["TENSOR_TENSOR_ARITH_OP", "TENSOR_TENSOR_BITVEC_OP", "matched"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="Tensor-Tensor Elementwise Arith + the ALU-OP Table",
    readings=(
        Reading(
            topic="64-bit operands of 0x41",
            chosen="only with the integer band",
            beaten=("any operator", "ADD, SUBTRACT and MULT as well"),
            why="base-band operators compute in fp32 on both engines",
        ),
    ),
)
WIDE = "tensor_tensor_int64"
DTYPES = ("src0_dtype", "src1_dtype", "out_dtype")
OPERANDS = ("src0", "src1", "dst")


def matched(number: int, then: int, last: int, dtype_rule: str) -> Rows:
    """Start addresses, tensors and channels; equal counts; placement of the sources."""
    return (
        *placed(number, "src0", "src0_dtype", f"{dtype_rule}[src0_dtype]"),
        *placed(number, "src1", "src1_dtype", f"{dtype_rule}[src1_dtype]"),
        *placed(number, "dst", "out_dtype", f"{dtype_rule}[out_dtype]", write=True),
        (number, active_channels()),
        (then, same_count("src0", "src1", needs=valid("src0", "src1"))),
        (then, same_count("src0", "dst", needs=valid("src0", "dst"))),
        (last, in_partitions(
            "src0", "src1", needs=("start_addr_active_channels[src0]", "start_addr_active_channels[src1]"),
        )),
    )  # fmt: skip


def _integer(c: Columns, f: Facts) -> Bools:
    return f.has("int_aluop", c["op"])


INTEGER = When(fields=("op",), test=_integer, text="operators of the integer band")
FLOATING = When(fields=("op",), test=lambda c, f: ~_integer(c, f), text="operators outside the integer band")
POW = When(fields=("op",), test=lambda c, f: c["op"] == AluOp.POW, text="POW")


def _one_wide_integer(c: Columns, f: Facts) -> Bools:
    wide = f.has("int32_set", c["src0_dtype"]) | f.has(WIDE, c["src0_dtype"])
    return wide & (c["src1_dtype"] == c["src0_dtype"]) & (c["out_dtype"] == c["src0_dtype"])


def _right_signedness(c: Columns, f: Facts) -> Bools:
    signed = f.has("signed", c["src0_dtype"])
    return np.where(signed, f.has("int_signed", c["op"]), f.has("int_unsigned", c["op"]))


def _integer_dtypes(f: Facts) -> str:
    return f"three equal dtypes of {f.listed('int32_set')} {f.listed(WIDE) if f.sets[WIDE] else ''}".rstrip()


def _no_64bit(field: str) -> Rule:
    narrow = rule(
        "no_64bit", field, (field,), lambda c, f: ~f.has("int64_set", c[field]), "no 64-bit dtype",
        needs=("operator_in[op]", f"is_valid_dtype_64[{field}]"), sets=("int64_set",),
    )  # fmt: skip
    return where(FLOATING, narrow)


ARITH_RULES = rules(
    EVIDENCE,
    (2, dtype_valid_64("out_dtype", WIDE, fp32r=True)),
    (2, dtype_valid_64("src0_dtype", WIDE)),
    (2, dtype_valid_64("src1_dtype", WIDE)),
    (3, member_of("op", AluOp)),
    (3, operator_in("op", "general_arith", "int_aluop", also=(AluOp.POW,), needs=("is_valid_enum[op]",))),
    (4, where(INTEGER, rule(
        "integer_dtypes", "", DTYPES, _one_wide_integer, _integer_dtypes,
        needs=("operator_in[op]", *(f"is_valid_dtype_64[{name}]" for name in DTYPES)), sets=("int32_set", WIDE),
    ))),
    (4, where(INTEGER, rule(
        "integer_signedness", "", ("op", "src0_dtype"), _right_signedness,
        lambda f: f"signed operands with {f.listed('int_signed')}; unsigned ones with {f.listed('int_unsigned')}",
        needs=("integer_dtypes",), sets=("signed", "int_signed", "int_unsigned"),
    ))),
    *((4, in_sbuf(name, INTEGER, "integer_in_sbuf", needs=("operator_in[op]", *valid(name)))) for name in OPERANDS),
    *((5, in_sbuf(name, POW, "pow_in_sbuf", needs=valid(name))) for name in OPERANDS),
    *((6, _no_64bit(name)) for name in DTYPES),
    *matched(10, 11, 12, "is_valid_dtype_64"),
)  # fmt: skip


def _is_wide(c: Columns, f: Facts) -> Bools:
    return f.has("int64_set", c["src0_dtype"])


def _second_dtype(c: Columns, f: Facts) -> Bools:
    counted = _is_wide(c, f) & f.has("shift", c["op"])
    return c["src1_dtype"] == np.where(counted, int(Dtype.UINT32), c["src0_dtype"])


SIXTY_FOUR = When(fields=("src0_dtype",), test=_is_wide, text="64-bit operands")

BITVEC_RULES = rules(
    EVIDENCE,
    (2, dtype_valid_64("out_dtype", WIDE, fp32r=True)),
    (2, dtype_valid_64("src0_dtype", WIDE)),
    (2, dtype_valid_64("src1_dtype", WIDE)),
    (3, member_of("op", AluOp)),
    (3, operator_in("op", "general_bitvec", needs=("is_valid_enum[op]",))),
    (7, dtype_in("out_dtype", "int_any", needs=("is_valid_dtype_64[out_dtype]",))),
    (8, same_dtype("src0_dtype", "out_dtype", needs=("is_valid_dtype_64[src0_dtype]", "dtype_in[out_dtype]"))),
    (8, rule(
        "second_dtype", "", ("src1_dtype", "src0_dtype", "op"), _second_dtype,
        "the dtype of src0; UINT32 where a 64-bit src0 is shifted",
        needs=("is_valid_dtype_64[src0_dtype]", "is_valid_dtype_64[src1_dtype]", "operator_in[op]"),
        sets=("int64_set", "shift"),
    )),
    *((8, in_sbuf(name, SIXTY_FOUR, "wide_in_sbuf", needs=valid(name))) for name in ("src0", "src1")),  # dst: 4-byte rule
    (9, arith_shift("op", "src0_dtype", needs=("is_valid_dtype_64[src0_dtype]", "dtype_in[out_dtype]"))),
    *matched(10, 11, 12, "is_valid_dtype_64"),
)  # fmt: skip


def _arith_takers(c: Columns, f: Facts, engine: str) -> Any:
    return (engine == "pool") | ~(_integer(c, f) | (c["op"] == AluOp.POW))


def _bitvec_takers(c: Columns, f: Facts, engine: str) -> Any:
    return (engine == "pool") | ~_is_wide(c, f)


READS = (Operand(name="left", at="src0", dtype="src0_dtype"), Operand(name="right", at="src1", dtype="src1_dtype"))
WRITES = (Operand(name="out", at="dst", dtype="out_dtype"),)

TENSOR_TENSOR_ARITH_OP = Instruction(
    name="tensor_tensor_arith_op",
    aliases=("TensorTensorArith",),
    layout=S3S3D3Tt,
    reads=READS,
    writes=WRITES,
    rules=ARITH_RULES,
    takes=_arith_takers,
    kernel=CompiledKernel(run=run, row=tensor_row),
    semantics=(
        "dst[k] = op(src0[k], src1[k]): in fp32 with one rounding and one conversion at the store; the integer band as "
        "wrapping integers of the operand width, on POOL and in SBUF; POW on POOL and in SBUF."
    ),
    evidence=EVIDENCE,
)

TENSOR_TENSOR_BITVEC_OP = Instruction(
    name="tensor_tensor_bitvec_op",
    aliases=("TensorTensorBitvec",),
    layout=S3S3D3Tt,
    reads=READS,
    writes=WRITES,
    rules=BITVEC_RULES,
    takes=_bitvec_takers,
    kernel=CompiledKernel(run=run, row=tensor_bitvec_row),
    semantics=(
        "dst[k] = op(src0[k], src1[k]) on raw bits. Shift counts are unsigned and come from src1; 64-bit elements are "
        "POOL's, in SBUF, and a shift counts them by UINT32 elements."
    ),
    evidence=EVIDENCE,
)

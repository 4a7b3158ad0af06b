"""tensor_scalar: two operators with scalars, plain (0x43, 0x53), transposing (0x93) and by pointer (0x44, 0x54)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.addresses import addresses
from gpsimd_core.isa.checks import (
    POINTER_TEXT,
    active_channels,
    dtype_in,
    dtype_valid,
    field_is,
    immediate,
    member_of,
    plain_pointer,
    reserved_zero,
    rule,
    rules,
    same_count,
)
from gpsimd_core.isa.dtypes import SIZES
from gpsimd_core.isa.enums import AccumCmd, AluOp, Dtype, ImmSrc, TensScalarRevOps
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.combine import crc32_missing
from gpsimd_core.isa.kernels.elementwise import run
from gpsimd_core.isa.kernels.elementwise_plan import scalar_bitvec_row, scalar_row, transpose_scalar_row
from gpsimd_core.isa.kernels.pointer_scalars import pointed_arith, pointed_bitvec, pointers_out_of_reach
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s3d3_ts import S3D3Ts
from gpsimd_core.isa.ops.shared import (
    CHANNELS,
    Bools,
    Rows,
    When,
    arith_shift,
    channels_multiple,
    count_multiple,
    operator_in,
    placed,
    same_dtype,
    valid,
    where,
)
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand, Rule

__all__ = [
    "TENSOR_SCALAR_ARITH_OP",
    "TENSOR_SCALAR_BITVEC_OP",
    "TENSOR_SCALAR_PTR_ARITH_OP",
    "TENSOR_SCALAR_PTR_BITVEC_OP",
    "TRANSPOSE_TENSOR_SCALAR_ARITH_OP",
    "moved",
]

EVIDENCE = Evidence(confidence="HIGH/OBSERVED", source="Tensor-Scalar + Tensor-Scalar-PTR")
POINTER_EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="SUNDA-only Dual / Deprecated TensorScalarPtr",
    note="the text says that the source bytes are pinned to pointer, the rule body tests them for 0",
)
INTEGERS = "int_aluop_dve"
OPERATORS = ("op0", "op1")
LEFT_SHIFTS = (AluOp.ARITH_SHIFT_LEFT, AluOp.LOGICAL_SHIFT_LEFT)
RIGHT_SHIFTS = (AluOp.ARITH_SHIFT_RIGHT, AluOp.LOGICAL_SHIFT_RIGHT)


def moved(number: int) -> Rows:
    """Start addresses, tensors, channels and equal counts of src and dst."""
    return (
        *placed(number, "src", "in_dtype", "is_valid_dtype[in_dtype]", mem_pattern=True),
        *placed(number, "dst", "out_dtype", "is_valid_dtype[out_dtype]", write=True),
        (number, active_channels()),
        (number, same_count("src", "dst", needs=valid("src", "dst"))),
    )


# Operators ------------------------------------------------------------------------------------------------------------


def _floating(c: Columns, f: Facts) -> Bools:
    return f.has("general_arith", c["op0"]) & f.has("general_arith", c["op1"])


def _rsqrt(c: Columns, f: Facts) -> Bools:
    return (c["op0"] == AluOp.RSQRT) & (c["op1"] == AluOp.BYPASS)


def _integer(c: Columns, f: Facts) -> Bools:
    return f.has(INTEGERS, c["op0"]) & f.has(INTEGERS, c["op1"]) & ~_floating(c, f)


RSQRT = When(fields=OPERATORS, test=_rsqrt, text="RSQRT")
INTEGER = When(fields=OPERATORS, test=_integer, text="integer operators")
BYPASSED = When(fields=("op0",), test=lambda c, f: c["op0"] == AluOp.BYPASS, text="op0 = BYPASS")


def _pair(c: Columns, f: Facts) -> Bools:
    return _floating(c, f) | _rsqrt(c, f) | _integer(c, f)


def _pairs(f: Facts) -> str:
    integers = f"; or both of {f.listed(INTEGERS)}" if f.sets[INTEGERS] else ""
    return f"both of {f.listed('general_arith')}; or RSQRT, then BYPASS{integers}"


def _zero(*fields: str) -> Rule:
    return rule(
        "rsqrt_immediates_zero", "", fields,
        lambda c, f: np.logical_and.reduce([c[name] == 0 for name in fields]),
        "both immediates and both of their sources zero", needs=("operator_pair",),
    )  # fmt: skip


def _bypass_then(number: int) -> Rows:
    first_needs = ("is_valid_enum[op0]", "operator_in[op1]")
    composed = rule(
        "operator_composition", "", ("op1",), lambda c, f: c["op1"] == AluOp.BYPASS, "BYPASS", needs=first_needs
    )
    return ((number, where(BYPASSED, composed)),)


ARITH_OPERATORS: Rows = (
    (2, member_of("op0", AluOp)),
    (2, member_of("op1", AluOp)),
    (2, operator_in("op0", "general_arith", INTEGERS, also=(AluOp.RSQRT,), needs=("is_valid_enum[op0]",))),
    (2, operator_in("op1", "general_arith", INTEGERS, needs=("is_valid_enum[op1]",))),
    (2, rule(
        "operator_pair", "", OPERATORS, _pair, _pairs, needs=("operator_in[op0]", "operator_in[op1]", "operator_composition"),
        sets=("general_arith", INTEGERS),
    )),
    (2, where(RSQRT, _zero("imm0", "imm1", "imm0_src", "imm1_src"))),
    (2, where(INTEGER, rule(
        "integer_dtypes", "", ("in_dtype", "out_dtype"),
        lambda c, f: f.has("int32_set", c["in_dtype"]) & (c["in_dtype"] == c["out_dtype"]),
        lambda f: f"in_dtype = out_dtype, one of {f.listed('int32_set')}",
        needs=("operator_pair", "is_valid_dtype[in_dtype]", "is_valid_dtype[out_dtype]"), sets=("int32_set",),
    ))),
    *_bypass_then(3),
)  # fmt: skip

BITVEC_OPERATORS: Rows = (
    (2, member_of("op0", AluOp)),
    (2, member_of("op1", AluOp)),
    (2, operator_in("op0", "bitvec", needs=("is_valid_enum[op0]",))),
    (2, operator_in("op1", "bitvec", needs=("is_valid_enum[op1]",))),
    *_bypass_then(3),
    (4, dtype_in("in_dtype", "int_datapath", needs=("is_valid_dtype[in_dtype]",))),
    (4, same_dtype("in_dtype", "out_dtype", needs=("dtype_in[in_dtype]", "is_valid_dtype[out_dtype]"))),
)


# Immediates, shifts and the rest --------------------------------------------------------------------------------------


def _inline_width(name: str, source: str) -> Rule:
    def check(c: Columns, f: Facts) -> Bools:
        bits = 8 * SIZES[c["in_dtype"]]
        return (c[source] != ImmSrc.INSTRUCTION_IMMEDIATE) | (c[name].astype(np.int64) >> bits == 0)

    return rule(
        "inline_width", name, (name, source, "in_dtype"), check, "no bit above the width of in_dtype when inline",
        needs=("dtype_in[in_dtype]",),
    )  # fmt: skip


def _shift_pair(c: Columns, f: Facts) -> Bools:
    pair = np.isin(c["op0"], LEFT_SHIFTS) & np.isin(c["op1"], RIGHT_SHIFTS)
    return ~pair | f.has("four_byte", c["in_dtype"])


SHIFTS: Rows = (
    (6, rule(
        "alu_shift_check", "", ("op0", "op1", "in_dtype"), _shift_pair,
        "for a left shift and then a right shift: a 4-byte dtype", needs=("dtype_in[in_dtype]",), sets=("four_byte",),
    )),
    (6, arith_shift("op0", "in_dtype", needs=("dtype_in[in_dtype]",))),
    (6, arith_shift("op1", "in_dtype", needs=("dtype_in[in_dtype]",))),
)  # fmt: skip


def _sourced(dtype: str | int, *needs: str) -> Rows:
    return tuple(
        (5, immediate(name, f"{name}_src", dtype, needs=(*needs, CHANNELS))) for name in ("imm0", "imm1")
    )  # fmt: skip


ARITH_IMMEDIATES = _sourced(Dtype.FP32)
BITVEC_IMMEDIATES: Rows = (
    *_sourced("in_dtype", "is_valid_dtype[in_dtype]"),
    (5, _inline_width("imm0", "imm0_src")),
    (5, _inline_width("imm1", "imm1_src")),
)


def _pointed(dtype: str | int, *needs: str) -> Rows:
    """ts_ptr_imm_chk: both immediates are pointers, although their source bytes read 0."""

    def pointer(name: str) -> Rule:
        def check(c: Columns, f: Facts) -> Bools:
            codes = c[dtype] if isinstance(dtype, str) else np.full(len(c), dtype)
            return plain_pointer(c, f, name, codes)

        fields = (name, *((dtype,) if isinstance(dtype, str) else ()), "num_active_channels")
        return rule("ts_ptr_imm_chk", name, fields, check, POINTER_TEXT, needs=(*needs, CHANNELS))

    return (
        (5, field_is("imm0_src", 0)),
        (5, field_is("imm1_src", 0)),
        (5, pointer("imm0")),
        (5, pointer("imm1")),
    )


def _plain_source(c: Columns, f: Facts) -> Bools:
    return ~addresses(c, f, "src").indirect


REST: Rows = (
    *moved(7),
    (8, member_of("reverse_operands", TensScalarRevOps)),
    (9, reserved_zero("reserved0")),
    (9, field_is("accumulator_cmd", AccumCmd.IDLE)),
    (10, dtype_valid("in_dtype")),
    (10, dtype_valid("out_dtype", fp32r=True)),
    (
        12,
        rule(
            "indirect_quadrant",
            "src",
            ("src.start_addr",),
            _plain_source,
            "not known",
            open="an indirect source: the body of the header's quadrant test is not given",
        ),
    ),
)

TRANSPOSED: Rows = (
    (11, channels_multiple(32)),
    (11, count_multiple("src", 32)),
)


def _takers(c: Columns, f: Facts, engine: str) -> Any:
    return (engine == "dve") | ~_integer(c, f)


READS = (Operand(name="data", at="src", dtype="in_dtype"),)
WRITES = (Operand(name="out", at="dst", dtype="out_dtype"),)
COMPUTES = "dst[k] = op1(op0(src[k], imm0), imm1)"
SWAPS = "reverse_operands swaps the operands of op0 (FIRST), op1 (SECOND) or both."

TENSOR_SCALAR_ARITH_OP = Instruction(
    name="tensor_scalar_arith_op",
    aliases=("TensorScalarArith",),
    layout=S3D3Ts,
    reads=READS,
    writes=WRITES,
    immediates=("imm0", "imm1"),
    rules=rules(EVIDENCE, *ARITH_OPERATORS, *ARITH_IMMEDIATES, *REST),
    takes=_takers,
    kernel=CompiledKernel(run=run, row=scalar_row),
    semantics=(
        f"{COMPUTES} in fp32, each operator rounded, one conversion at the store. {SWAPS} RSQRT, then BYPASS, gives one "
        "over the square root. The integer operators of DVE, where there are any, take raw 32-bit scalars."
    ),
    evidence=EVIDENCE,
)

TENSOR_SCALAR_BITVEC_OP = Instruction(
    name="tensor_scalar_bitvec_op",
    aliases=("TensorScalarBitvec",),
    layout=S3D3Ts,
    reads=READS,
    writes=WRITES,
    immediates=("imm0", "imm1"),
    rules=rules(EVIDENCE, *BITVEC_OPERATORS, *BITVEC_IMMEDIATES, *SHIFTS, *REST),
    kernel=CompiledKernel(run=run, row=scalar_bitvec_row),
    unsupported=crc32_missing,
    semantics=f"{COMPUTES} on raw bits; scalars count shifts, unsigned. {SWAPS}",
    evidence=EVIDENCE,
)

TRANSPOSE_TENSOR_SCALAR_ARITH_OP = Instruction(
    name="transpose_tensor_scalar_arith_op",
    aliases=("TransposeTensorScalarArith",),
    layout=S3D3Ts,
    reads=READS,
    writes=WRITES,
    immediates=("imm0", "imm1"),
    rules=rules(EVIDENCE, *ARITH_OPERATORS, *ARITH_IMMEDIATES, *REST, *TRANSPOSED),
    kernel=CompiledKernel(run=run, row=transpose_scalar_row),
    semantics="Transposes each block of 32 partitions by 32 elements of src, then computes as tensor_scalar_arith_op.",
    evidence=Evidence(confidence="HIGH/OBSERVED", source=EVIDENCE.source, note="the order of the two steps is MED"),
)

TENSOR_SCALAR_PTR_ARITH_OP = Instruction(
    name="tensor_scalar_ptr_arith_op",
    aliases=("TensorScalarPtrArith",),
    layout=S3D3Ts,
    reads=READS,
    writes=WRITES,
    immediates=("imm0", "imm1"),
    rules=rules(POINTER_EVIDENCE, *ARITH_OPERATORS, *_pointed(Dtype.FP32), *REST),
    takes=_takers,
    kernel=pointed_arith,
    ready=pointers_out_of_reach,
    semantics=(
        "As tensor_scalar_arith_op, with scalars that always come from memory: channel c reads one fp32 at the pointer "
        "plus c partitions."
    ),
    evidence=POINTER_EVIDENCE,
)

TENSOR_SCALAR_PTR_BITVEC_OP = Instruction(
    name="tensor_scalar_ptr_bitvec_op",
    aliases=("TensorScalarPtrBitvec",),
    layout=S3D3Ts,
    reads=READS,
    writes=WRITES,
    immediates=("imm0", "imm1"),
    rules=rules(POINTER_EVIDENCE, *BITVEC_OPERATORS, *_pointed("in_dtype", "is_valid_dtype[in_dtype]"), *SHIFTS, *REST),
    kernel=pointed_bitvec,
    ready=pointers_out_of_reach,
    unsupported=crc32_missing,
    semantics=(
        "As tensor_scalar_bitvec_op, with scalars that always come from memory: channel c reads one element of in_dtype "
        "at the pointer plus c partitions."
    ),
    evidence=POINTER_EVIDENCE,
)

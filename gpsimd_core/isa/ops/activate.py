"""The activation forms: activate (0x21), activate_quantize (0x22), activate2 (0x25), activate_multipass (0x26)."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import (
    POINTER_TEXT,
    active_channels,
    dtype_valid,
    field_in,
    field_is,
    immediate,
    member_of,
    plain_pointer,
    rule,
    rules,
    same_count,
)
from gpsimd_core.isa.enums import AccumCmd, AluOp, Dtype, ImmSrcN, ReduceCmd, TensScalarRevOps
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.activation import (
    activate,
    activate2,
    activate2_missing,
    activate_missing,
    activate_quantize,
)
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s1s2d2_am import S1S2D2Am
from gpsimd_core.isa.layouts.s2d2_ac import S2D2Ac
from gpsimd_core.isa.layouts.s3d3_ac import S3D3Ac
from gpsimd_core.isa.layouts.s3d3_aq import S3D3Aq
from gpsimd_core.isa.ops.shared import CHANNELS, Bools, Rows, core_version, placed, valid
from gpsimd_core.values import Evidence, Instruction, Operand, Rule

__all__ = ["ACTIVATE", "ACTIVATE2", "ACTIVATE_MULTIPASS", "ACTIVATE_QUANTIZE"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="Activate + the PWL Application Mechanism",
    note="function numbers mean what the table says that the host loads; the table that ships here is this project's own",
)
ORDER = Evidence(
    confidence="MED/INFERRED",
    source=EVIDENCE.source,
    note="order of the steps MED, rules HIGH; the public architecture guide folds with add, max, min, abs max, abs min",
)
BIASES = (Dtype.BFLOAT16, Dtype.FP16, Dtype.FP32)
READS = (Operand(name="data", at="src", dtype="in_dtype"),)
WRITES = (Operand(name="out", at="dst", dtype="out_dtype"),)


def _moved(number: int, source_gate: str, target_gate: str, *, psum: bool = True) -> Rows:
    return (
        *placed(number, "src", "in_dtype", source_gate, psum=psum),
        *placed(number, "dst", "out_dtype", target_gate, write=True, psum=psum),
    )


GATES = ("is_valid_dtype[in_dtype]", "is_valid_dtype[out_dtype]")
PLAIN: Rows = ((4, dtype_valid("in_dtype")), (4, dtype_valid("out_dtype", fp32r=True)))

ACTIVATE = Instruction(
    name="activate",
    aliases=("Activate",),
    layout=S3D3Ac,
    reads=READS,
    writes=WRITES,
    immediates=("scale_value", "bias", "imm"),
    rules=rules(
        EVIDENCE,
        (2, same_count("src", "dst", needs=valid("src", "dst"))),
        *_moved(3, *GATES),
        *PLAIN,
        (5, immediate("scale_value", "scale_src", Dtype.FP32, needs=(CHANNELS,))),
        (5, immediate("imm", "imm_src", Dtype.FP32, needs=(CHANNELS,))),
        (6, field_in("bias_dtype", *BIASES)),
        (6, immediate("bias", "bias_src_n", "bias_dtype", code=ImmSrcN, needs=("field_in[bias_dtype]", CHANNELS))),
        (7, active_channels()),
        (8, member_of("accumulator_cmd", AccumCmd)),
    ),
    accumulator="accumulator_cmd",
    kernel=activate,
    unsupported=activate_missing,
    semantics=(
        "dst[k] = function(src[k] * scale_value + bias), product and sum rounded apart. A fold command adds the values "
        "before conversion into the ACT accumulator of the lane; imm is the seed of LOAD_ACCUMULATE."
    ),
    evidence=EVIDENCE,
)


def _non_zero(field: str) -> Rule:
    return rule("non_zero", field, (field,), lambda c, f: c[field] & 0x7FFFFFFF != 0, "a number other than zero")


def _bias_pointer(c: Columns, f: Facts) -> Bools:
    return plain_pointer(c, f, "bias_addr", c["bias_dtype"])


ACTIVATE_QUANTIZE = Instruction(
    name="activate_quantize",
    aliases=("ActivateQuantize",),
    layout=S3D3Aq,
    reads=READS,
    writes=WRITES,
    rules=rules(
        EVIDENCE,
        (2, field_in("in_dtype", Dtype.FP32, Dtype.INT32)),
        (2, field_is("out_dtype", Dtype.UINT8)),
        (3, field_in("bias_dtype", *BIASES)),
        (4, _non_zero("quant_scale_value")),
        (4, _non_zero("dequant_scale_value")),
        (5, rule(
            "bias_pointer", "bias_addr", ("bias_addr", "bias_dtype", "num_active_channels"), _bias_pointer, POINTER_TEXT,
            needs=("field_in[bias_dtype]", CHANNELS),
        )),
        (6, same_count("src", "dst", needs=valid("src", "dst"))),
        *_moved(7, "field_in[in_dtype]", "field_is[out_dtype]"),
        (7, active_channels()),
    ),
    immediates=("bias_addr",),
    kernel=activate_quantize,
    unsupported=activate_missing,
    semantics=(
        "dst[k] = function(src[k] * dequant_scale_value + bias) * quant_scale_value + quant_zero_value, to UINT8; the bias of "
        "channel c lies at bias_addr plus c partitions."
    ),
    evidence=EVIDENCE,
)  # fmt: skip

PAIRS = (
    (AluOp.MULT, AluOp.ADD),
    (AluOp.MULT, AluOp.SUBTRACT),
    (AluOp.MULT, AluOp.BYPASS),
    (AluOp.ADD, AluOp.BYPASS),
    (AluOp.SUBTRACT, AluOp.BYPASS),
    (AluOp.BYPASS, AluOp.BYPASS),
)


def _pair(c: Columns, f: Facts) -> Bools:
    return np.logical_or.reduce([(c["op0"] == first) & (c["op1"] == second) for first, second in PAIRS])


def _immediate(name: str, source: str) -> Rule:
    return immediate(name, source, "imm_dtype", needs=("is_valid_dtype[imm_dtype]", CHANNELS))


ACTIVATE2 = Instruction(
    name="activate2",
    aliases=("Activate2",),
    layout=S2D2Ac,
    reads=READS,
    writes=WRITES,
    immediates=("imm0", "imm1", "relu_param"),
    rules=rules(
        ORDER,
        (1, core_version(4)),
        (2, member_of("op0", AluOp)),
        (2, member_of("op1", AluOp)),
        (3, rule(
            "operator_pair", "", ("op0", "op1"), _pair, "; ".join(f"{a.name}, {b.name}" for a, b in PAIRS),
            needs=("is_valid_enum[op0]", "is_valid_enum[op1]"),
        )),
        *PLAIN,
        (5, dtype_valid("imm_dtype")),
        (5, _immediate("imm0", "imm0_src")),
        (5, _immediate("imm1", "imm1_src")),
        (5, _immediate("relu_param", "relu_param_src")),
        (6, member_of("reduce_cmd", ReduceCmd)),
        (6, member_of("reduce_op", AluOp)),
        (6, member_of("reverse_operands", TensScalarRevOps)),
        (7, same_count("src", "dst", needs=valid("src", "dst"))),
        *_moved(7, *GATES),
        (7, active_channels()),
    ),
    accumulator="reduce_cmd",
    kernel=activate2,
    unsupported=activate2_missing,
    semantics=(
        "dst[k] = function(op1(op0(src[k], imm0), imm1)) in fp32; relu_param is the slope below zero of leaky_relu. REDUCE "
        "and RESET_REDUCE fold the values before conversion with reduce_op into the accumulator of the lane."
    ),
    evidence=ORDER,
)  # fmt: skip

ACTIVATE_MULTIPASS = Instruction(
    name="activate_multipass",
    aliases=("ActivateMultipass",),
    layout=S1S2D2Am,
    reads=(*READS, Operand(name="prev_pass", at="prev_pass", dtype="out_dtype")),
    writes=WRITES,
    immediates=("imm0", "imm1"),
    rules=rules(
        EVIDENCE,
        (2, member_of("op0", AluOp)),
        (2, member_of("op1", AluOp)),
        (2, member_of("reduce_op", AluOp)),
        (2, member_of("reduce_cmd", ReduceCmd)),
        (2, member_of("reverse_operands", TensScalarRevOps)),
        (3, dtype_valid("imm_dtype")),
        (3, _immediate("imm0", "imm0_src")),
        *PLAIN,
        *_moved(5, *GATES, psum=False),
        *placed(5, "prev_pass", "out_dtype", "is_valid_dtype[out_dtype]", psum=False),
        (6, active_channels()),
    ),
    missing="no firmware handler ships",
    semantics="Decodes and validates only.",
    evidence=EVIDENCE,
)

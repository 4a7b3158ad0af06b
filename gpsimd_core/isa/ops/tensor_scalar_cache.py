"""tensor_scalar_cache: a scalar operator that also folds, to one value (0x9A), running (0xE6), or exponential (0x30)."""

from __future__ import annotations

from gpsimd_core.isa.checks import (
    dtype_not_in,
    dtype_valid,
    field_in,
    field_is,
    immediate,
    member_of,
    reserved_zero,
    rule,
    rules,
)
from gpsimd_core.isa.enums import AccumCmd, AluOp, Dtype, TensScalarRevOps
from gpsimd_core.isa.kernels.elementwise import run
from gpsimd_core.isa.kernels.elementwise_plan import exponential_row, scalar_cumulative_row, scalar_reduce_row
from gpsimd_core.isa.layouts.s3d3_ts import S3D3Ts
from gpsimd_core.isa.ops.shared import CHANNELS, Rows, When, operator_in, where
from gpsimd_core.isa.ops.tensor_scalar import READS, WRITES, moved
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Reading

__all__ = ["EXPONENTIAL", "TENSOR_SCALAR_CACHE_CUMULATIVE", "TENSOR_SCALAR_CACHE_REDUCE"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="TensorScalarCacheReduce — 0x9a",
    note="the public kernel API also refuses INT32 and UINT32 outputs (MED); the header has no such rule",
    readings=(
        Reading(
            topic="dst of 0x9A",
            chosen="every op0 result",
            beaten=("only the final accumulator",),
            why="dst must be as large as src, and the public API reads the fold through 0x9B",
        ),
        Reading(
            topic="SUBTRACT in the fold",
            chosen="new minus old",
            beaten=("old minus new",),
            why="the public API's formula",
        ),
        Reading(
            topic="a fold of nothing but NaN",
            chosen="MAX and MIN keep their seed; ADD, SUBTRACT and MULT give NaN like any arithmetic",
            beaten=("every fold keeps its seed",),
            why="a sum with one NaN is NaN, so a sum of NaN alone can be nothing else",
        ),
    ),
)
EXPONENTIAL_EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="Tensor-Scalar + Tensor-Scalar-PTR",
    note="the formula is the public API's, that it is this opcode's is INFERRED (MED)",
    readings=(
        Reading(
            topic="rounding of the difference",
            chosen="src - imm0 rounds to fp32 before the exponential",
            beaten=("one rounding of the whole",),
            why="one rounding an operator, as in the activation forms: PROPOSED",
        ),
    ),
)

LOAD = When(
    fields=("accumulator_cmd",),
    test=lambda c, f: c["accumulator_cmd"] == AccumCmd.LOAD_ACCUMULATE,
    text="LOAD_ACCUMULATE",
)
NO_LOAD = When(fields=LOAD.fields, test=lambda c, f: ~LOAD.test(c, f), text="commands other than LOAD_ACCUMULATE")
COMMAND = "field_in[accumulator_cmd]"

DTYPES: Rows = (
    (3, dtype_valid("in_dtype")),
    (3, rule(
        "dtype_in", "in_dtype", ("in_dtype",),
        lambda c, f: f.has("fp_datapath", c["in_dtype"]) | f.has("int_datapath", c["in_dtype"]),
        lambda f: f"{f.listed('fp_datapath')} {f.listed('int_datapath')}",
        needs=("is_valid_dtype[in_dtype]",), sets=("fp_datapath", "int_datapath"),
    )),
    (3, dtype_not_in("in_dtype", "int32_set", needs=("is_valid_dtype[in_dtype]",))),
    (3, dtype_valid("out_dtype", fp32r=True)),
)  # fmt: skip

REST: Rows = (
    (4, immediate("imm0", "imm0_src", Dtype.FP32, needs=(CHANNELS,))),
    (4, where(LOAD, immediate("imm1", "imm1_src", Dtype.FP32, needs=(COMMAND, CHANNELS)))),
    (4, where(NO_LOAD, field_is("imm1", 0, needs=(COMMAND,)), id="imm1_unused")),
    (4, where(NO_LOAD, field_is("imm1_src", 0, needs=(COMMAND,)), id="imm1_unused")),
    (5, field_is("reverse_operands", TensScalarRevOps.NONE)),
    (6, field_in("accumulator_cmd", AccumCmd.ACCUMULATE, AccumCmd.ZERO_ACCUMULATE, AccumCmd.LOAD_ACCUMULATE)),
    *((8 if r.id == "same_element_count" else n, r) for n, r in moved(7)),
    (7, reserved_zero("reserved0")),
)

RULES = rules(
    EVIDENCE,
    (2, member_of("op0", AluOp)),
    (2, member_of("op1", AluOp)),
    (2, operator_in("op0", "general_arith", needs=("is_valid_enum[op0]",))),
    (2, operator_in("op1", "cache_combine", needs=("is_valid_enum[op1]",))),
    *DTYPES,
    *REST,
)

SEEDS = "from imm1 (LOAD_ACCUMULATE), from the identity of op1 (ZERO_ACCUMULATE) or from what is there (ACCUMULATE)"

TENSOR_SCALAR_CACHE_REDUCE = Instruction(
    name="tensor_scalar_cache_reduce",
    aliases=("TensorScalarCacheReduce",),
    layout=S3D3Ts,
    reads=READS,
    writes=WRITES,
    immediates=("imm0", "imm1"),
    rules=RULES,
    kernel=CompiledKernel(run=run, row=scalar_reduce_row),
    accumulator="accumulator_cmd",
    semantics=(
        "f = op0(src[k], imm0) in fp32; dst[k] = f; the accumulator of the lane becomes op1(f, accumulator), "
        f"starting {SEEDS}."
    ),
    evidence=EVIDENCE,
)

TENSOR_SCALAR_CACHE_CUMULATIVE = Instruction(
    name="tensor_scalar_cache_cumulative",
    aliases=("TensorScalarCacheCumulative",),
    layout=S3D3Ts,
    reads=READS,
    writes=WRITES,
    immediates=("imm0", "imm1"),
    rules=RULES,
    kernel=CompiledKernel(run=run, row=scalar_cumulative_row),
    accumulator="accumulator_cmd",
    semantics=(
        "f = op0(src[k], imm0) in fp32; the accumulator of the lane becomes op1(f, accumulator), and dst[k] is that "
        f"value, starting {SEEDS}."
    ),
    evidence=EVIDENCE,
)

EXPONENTIAL = Instruction(
    name="exponential",
    aliases=("Exponential",),
    layout=S3D3Ts,
    reads=READS,
    writes=WRITES,
    immediates=("imm0", "imm1"),
    rules=rules(
        EXPONENTIAL_EVIDENCE,
        (2, field_is("op0", AluOp.BYPASS)),
        (2, field_is("op1", AluOp.BYPASS)),
        *DTYPES,
        *REST,
    ),
    kernel=CompiledKernel(run=run, row=exponential_row),
    accumulator="accumulator_cmd",
    semantics=(
        "dst[k] = exp(src[k] - imm0) in fp32; the values before conversion are added into the accumulator of the lane, "
        "from imm1 (LOAD_ACCUMULATE), from 0 (ZERO_ACCUMULATE) or from what is there (ACCUMULATE)."
    ),
    evidence=EXPONENTIAL_EVIDENCE,
)

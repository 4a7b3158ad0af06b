"""select_reduce (0xEA): a predicated copy fused with a running maximum. The firmware calls it CopyPredicatedReduce."""

from __future__ import annotations

from gpsimd_core.isa.checks import (
    active_channels,
    dtype_in,
    dtype_not_in,
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
    start_partition,
    tensor_valid,
)
from gpsimd_core.isa.enums import AccumCmd, AluOp, TensScalarRevOps
from gpsimd_core.isa.kernels.select_reduce import row, run
from gpsimd_core.isa.layouts.s2s2d2_stt import S2S2D2Stt
from gpsimd_core.isa.ops.shared import inline_fp32
from gpsimd_core.values import CompiledKernel, Evidence, Instruction, Operand, Reading

__all__ = ["SELECT_REDUCE"]

_WARNING = Evidence(
    confidence="PROPOSED", source="AWS Neuron NKI docs: nki.isa.select_reduce", note="the ISA has no such rule"
)

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="CopyPredicatedReduce — SelectReduce (0xea)",
    note="contract and rules HIGH; the merge mechanism and the accumulator's initial value MED",
    readings=(
        Reading(
            topic="false lanes",
            chosen="merge: dst keeps its bytes, and the maximum runs over true lanes only",
            beaten=("select: dst takes imm0, and the maximum runs over the whole written row",),
            why="the device name, the three sibling opcodes and the page's explicit denial of a fill; imm0 being validated yet unused speaks for select",
            policy="select_reduce",
        ),
        Reading(
            topic="IDLE",
            chosen="single shot: seed, fold and store, so that IDLE equals ZERO_ACCUMULATE",
            beaten=("the accumulator is left undefined",),
            why="the page seeds on IDLE as on ZERO_ACCUMULATE; the public API calls the register disturbed",
            policy="idle_accumulator",
        ),
        Reading(
            topic="NaN in the maximum",
            chosen="the number wins, -0 orders below +0",
            beaten=("any NaN wins", "a > b ? a : b"),
            why="the vector core's rbmaxnum suppresses NaN",
            policy="reduce_nan",
        ),
        Reading(
            topic="where the accumulator lives",
            chosen="one fp32 register per lane of the engine, read by 0x9B",
            beaten=("a PSUM accumulator",),
            why="the read-back page shows a per-lane flop; PSUM is an ordinary destination",
        ),
        Reading(
            topic="reverse_operands = FIRST",
            chosen="inverts the predicate",
            beaten=("swaps the pairing of the copy and reduce operands",),
            why="the public API's reverse does so; the page does not say what a swapped pairing would copy",
        ),
        Reading(
            topic="seed of the maximum",
            chosen="-inf for floating data, the lowest value for integer data, by the dtype of src1",
            beaten=("by out_dtype", "0"),
            why="what is folded is the value before it is narrowed",
        ),
        Reading(
            topic="output count",
            chosen="dst has the full element count; only the accumulator is fewer",
            beaten=("the instruction writes fewer outputs than inputs",),
            why="the validator demands equal counts of src0 and dst",
        ),
        Reading(
            topic="name and struct",
            chosen="SelectReduce and CopyPredicatedReduce are one instruction on S2S2D2_STT, executed by DVE",
            beaten=("a member of the S3S3D3_TT copies", "a REDUCE_OP code of the partition fold", "POOL"),
            why="the validator name has_valid_s2s2d2_cpr_accum_cmd, the mapping table, and four self-names in the DVE images",
        ),
    ),
)  # fmt: skip


RULES = rules(
    EVIDENCE,
    (2, dtype_valid("src0_dtype")),
    (3, dtype_valid("src1_dtype")),
    (4, dtype_valid("imm0_dtype")),
    (5, dtype_valid("out_dtype", fp32r=True)),
    (6, dtype_in("src0_dtype", "int_datapath", needs=("is_valid_dtype[src0_dtype]",))),
    (6, dtype_not_in("src1_dtype", "int32_set", needs=("is_valid_dtype[src1_dtype]",))),
    (7, inline_fp32(needs=("is_valid_dtype[imm0_dtype]",))),
    (8, member_of("op0", AluOp)),
    (8, member_of("op1", AluOp)),
    (9, field_is("op0", AluOp.BYPASS, needs=("is_valid_enum[op0]",))),
    (9, field_is("op1", AluOp.MAX, needs=("is_valid_enum[op1]",))),
    (10, immediate("imm0", "imm0_src", "imm0_dtype", needs=("is_valid_dtype[imm0_dtype]", "check_active_channels"))),
    (11, start_partition("src0", needs=("check_active_channels",))),
    (11, start_partition("src1", needs=("check_active_channels",))),
    (11, start_partition("dst", needs=("check_active_channels",))),
    (12, tensor_valid("src0", "src0_dtype", needs=("is_valid_dtype[src0_dtype]",))),
    (12, tensor_valid("src1", "src1_dtype", needs=("is_valid_dtype[src1_dtype]",))),
    (12, tensor_valid("dst", "out_dtype", write=True, needs=("is_valid_dtype[out_dtype]",))),
    (13, active_channels()),
    (14, same_count("src0", "src1", needs=("tensor_valid[src0]", "tensor_valid[src1]"))),
    (15, same_count("src0", "dst", needs=("tensor_valid[src0]", "tensor_valid[dst]"))),
    (16, in_partitions("src0", "src1", needs=("start_addr_active_channels[src0]", "start_addr_active_channels[src1]"))),
    (17, field_in("accumulator_cmd", AccumCmd.IDLE, AccumCmd.ACCUMULATE, AccumCmd.ZERO_ACCUMULATE)),
    (18, member_of("reverse_operands", TensScalarRevOps)),
    (19, reserved_zero("reserved")),
    (20, field_in(
        "reverse_operands", TensScalarRevOps.NONE, TensScalarRevOps.FIRST, needs=("is_valid_enum[reverse_operands]",),
    )),
    (0, rule(
        "out_dtype_differs", "", ("out_dtype", "src1_dtype"), lambda c, f: c["out_dtype"] == c["src1_dtype"],
        "the dtype of src1", warning=True, evidence=_WARNING,
    )),
    (0, rule(
        "wide_predicate", "", ("src0_dtype",), lambda c, f: ~f.has("int32_set", c["src0_dtype"]),
        "an 8- or 16-bit predicate, as the public API demands", warning=True, evidence=_WARNING,
    )),
)  # fmt: skip

SELECT_REDUCE = Instruction(
    name="select_reduce",
    aliases=("SelectReduce", "CopyPredicatedReduce"),
    layout=S2S2D2Stt,
    reads=(
        Operand(name="predicate", at="src0", dtype="src0_dtype", predicate=True),
        Operand(name="data", at="src1", dtype="src1_dtype"),
    ),
    writes=(Operand(name="out", at="dst", dtype="out_dtype", merges=True),),
    immediates=("imm0",),
    rules=RULES,
    kernel=CompiledKernel(run=run, row=row),
    accumulator="accumulator_cmd",
    semantics=(
        "Per element k: where src0[k] is non-zero (zero under reverse FIRST), dst[k] = src1[k], bits kept when the dtypes are equal, "
        "else through fp32; elsewhere dst[k] keeps its bytes. The largest copied value of each channel is folded into the DVE "
        "accumulator of the lane that dst names: from the seed (ZERO_ACCUMULATE, IDLE) or from what is there (ACCUMULATE). "
        "Under policy select_reduce = select the other elements become imm0 and take part in the maximum."
    ),
    evidence=EVIDENCE,
)

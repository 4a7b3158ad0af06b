"""The search group: max8 (0x6C), match_value_load (0x6D), find_index8 (0x6E), match_replace8 (0x6F)."""

from __future__ import annotations

from gpsimd_core.isa.checks import (
    active_channels,
    dtype_valid,
    field_in,
    field_is,
    member_of,
    reserved_zero,
    rules,
    same_count,
)
from gpsimd_core.isa.enums import Dtype, ImmSrcN
from gpsimd_core.isa.kernels.search import (
    find_index8,
    find_index_missing,
    match_replace8,
    match_value_load,
    max8,
    values_ready,
)
from gpsimd_core.isa.layouts.s2_bn import S2Bn
from gpsimd_core.isa.layouts.s4d2_bn import S4D2Bn
from gpsimd_core.isa.layouts.s4d4_mr import S4D4Mr
from gpsimd_core.isa.ops.shared import count_in, placed, valid
from gpsimd_core.values import Evidence, Instruction, Operand, Reading

__all__ = ["FIND_INDEX8", "MATCH_REPLACE8", "MATCH_VALUE_LOAD", "MAX8"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="DVE Search/Select Cluster",
    readings=(
        Reading(
            topic="order of the eight largest",
            chosen="descending",
            beaten=("ascending",),
            why="the public API; the page shows an internal register order that 0x6D reverses",
        ),
        Reading(
            topic="a value that is not found",
            chosen="all ones",
            beaten=("any number from 32768 on",),
            why="the page gives only the bound",
        ),
        Reading(
            topic="lanes of loaded values and latched positions",
            chosen="the partition that an instruction writes; where it writes nothing, the one that it reads",
            beaten=("the partition of the source throughout",),
            why="as accumulators are numbered; no page says it: PROPOSED",
        ),
        Reading(
            topic="NaN and zeros among the eight largest",
            chosen="NaN below -infinity, -0 below +0",
            beaten=("NaN above +infinity", "zeros in their order"),
            why="the rule of every maximum; the other two are what `propagate` and `select` make of it: PROPOSED",
            policy="reduce_nan",
        ),
    ),
)
READS = (Operand(name="data", at="src", dtype="in_dtype"),)
WRITES = (Operand(name="out", at="dst", dtype="out_dtype"),)
MATCHED = (Dtype.FP16, Dtype.BFLOAT16, Dtype.UINT8, Dtype.UINT16, Dtype.UINT32, Dtype.FP32, Dtype.INT32)

MAX8 = Instruction(
    name="max8",
    aliases=("Max8",),
    layout=S4D2Bn,
    reads=READS,
    writes=WRITES,
    rules=rules(
        EVIDENCE,
        (2, dtype_valid("in_dtype")),
        (2, dtype_valid("out_dtype", fp32r=True)),
        (3, count_in("src", 8, 16384)),
        (3, count_in("dst", 8, 8)),
        (4, field_is("even_count", 0)),
        (4, field_is("odd_count", 0)),
        *placed(5, "src", "in_dtype", "is_valid_dtype[in_dtype]"),
        *placed(5, "dst", "out_dtype", "is_valid_dtype[out_dtype]", write=True),
        (5, active_channels()),
        (6, reserved_zero("reserved0", "reserved1")),
    ),
    kernel=max8,
    semantics="dst = the eight largest elements of each channel, largest first; NaN below -inf, equal values count apart.",
    evidence=EVIDENCE,
)

MATCH_VALUE_LOAD = Instruction(
    name="match_value_load",
    aliases=("MatchValueLoad",),
    layout=S2Bn,
    reads=(Operand(name="values", at="src", dtype="dtype"),),
    rules=rules(
        EVIDENCE,
        (2, dtype_valid("dtype")),
        (3, count_in("src", 8, 8)),
        (4, field_is("imm1", 0)),
        (4, field_is("imm0_ptr", 0)),
        (4, member_of("imm0_src", ImmSrcN)),
        *placed(5, "src", "dtype", "is_valid_dtype[dtype]"),
        (5, active_channels()),
        (6, reserved_zero("reserved0", "reserved1", "reserved2", "reserved3")),
    ),
    kernel=match_value_load,
    semantics="Keeps eight values for each channel, for find_index8 and match_replace8.",
    evidence=EVIDENCE,
)

FIND_INDEX8 = Instruction(
    name="find_index8",
    aliases=("FindIndex8",),
    layout=S4D2Bn,
    reads=READS,
    writes=WRITES,
    rules=rules(
        EVIDENCE,
        (2, dtype_valid("in_dtype")),
        (2, field_in("out_dtype", Dtype.UINT16, Dtype.UINT32)),
        (3, count_in("dst", 8, 8)),
        (4, field_is("even_count", 0)),
        (4, field_is("odd_count", 0)),
        *placed(5, "src", "in_dtype", "is_valid_dtype[in_dtype]"),
        *placed(5, "dst", "out_dtype", "field_in[out_dtype]", write=True),
        (5, active_channels()),
        (6, reserved_zero("reserved0", "reserved1")),
    ),
    kernel=find_index8,
    ready=values_ready,
    unsupported=find_index_missing,
    semantics=(
        "dst[k] = the position of the first element that equals the loaded value k; equal values take successive "
        "positions; a value that is not found gives all ones."
    ),
    evidence=EVIDENCE,
)

MATCH_REPLACE8 = Instruction(
    name="match_replace8",
    aliases=("MatchReplace8",),
    layout=S4D4Mr,
    reads=READS,
    writes=WRITES,
    rules=rules(
        EVIDENCE,
        (2, field_in("in_dtype", *MATCHED)),
        (2, field_in("out_dtype", *MATCHED)),
        (3, count_in("src", 1, 16384)),
        (3, same_count("src", "dst", needs=valid("src", "dst"))),
        *placed(4, "src", "in_dtype", "field_in[in_dtype]"),
        *placed(4, "dst", "out_dtype", "field_in[out_dtype]", write=True),
        (4, active_channels()),
        (5, reserved_zero("reserved0")),
    ),
    kernel=match_replace8,
    ready=values_ready,
    semantics=(
        "Copies src to dst, the first match of each loaded value replaced by the fp32 immediate, and latches the "
        "positions for dve_read_indices."
    ),
    evidence=EVIDENCE,
)

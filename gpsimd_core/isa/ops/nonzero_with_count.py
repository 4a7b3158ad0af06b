"""nonzero_with_count (0xF2) and get_sequence_bounds (0xBE): positions found along a row."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import (
    active_channels,
    addresses,
    counts,
    field_in,
    field_is,
    immediate,
    reserved_zero,
    rule,
    rules,
)
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.search import nonzero_with_count
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s3d3_nonzero_with_count import S3D3NonzeroWithCount
from gpsimd_core.isa.layouts.s3d3_seq_bounds import S3D3SeqBounds
from gpsimd_core.isa.ops.shared import CHANNELS, Bools, core_version, placed, valid
from gpsimd_core.values import Evidence, Instruction, Operand, Reading, Rule

__all__ = ["GET_SEQUENCE_BOUNDS", "NONZERO_WITH_COUNT"]

NONZERO = Evidence(confidence="HIGH/OBSERVED", source="NonzeroWithCount", note="that the count comes last is MED")
BOUNDS = Evidence(
    confidence="HIGH/OBSERVED",
    source="GetSequenceBounds",
    readings=(
        Reading(
            topic="what the pair holds",
            chosen="nothing: it decodes and validates only",
            beaten=("smallest and largest of the sequence", "begin and end of the run of each element"),
            why="the count rule fits one pair for each element, the prose does not",
        ),
    ),
)


def _count_of(factor: int, more: int, allowed: str) -> Rule:
    def check(c: Columns, f: Facts) -> Bools:
        waived = addresses(c, f, "src").shape | addresses(c, f, "dst").shape
        return waived | (counts(c, "dst") == factor * counts(c, "src") + np.uint64(more))

    return rule("element_count", "dst,src", ("dst.num_elem", "src.num_elem"), check, allowed, needs=valid("src", "dst"))


def _outermost(c: Columns, f: Facts) -> Bools:
    return addresses(c, f, "dst").shape | (c["dst.num_elem"][:, 2] == 2)


READS = (Operand(name="data", at="src", dtype="in_dtype"),)
WRITES = (Operand(name="out", at="dst", dtype="out_dtype"),)

NONZERO_WITH_COUNT = Instruction(
    name="nonzero_with_count",
    aliases=("NonzeroWithCount",),
    layout=S3D3NonzeroWithCount,
    reads=READS,
    writes=WRITES,
    immediates=("index_offset", "padding_val"),
    rules=rules(
        NONZERO,
        (1, core_version(3)),
        (2, field_in("in_dtype", Dtype.INT32, Dtype.FP32)),
        (2, field_is("out_dtype", Dtype.INT32)),
        (3, immediate("index_offset", "index_offset_src", Dtype.INT32, needs=(CHANNELS,))),
        (3, immediate("padding_val", "padding_val_src", Dtype.INT32, needs=(CHANNELS,))),
        *placed(4, "src", "in_dtype", "field_in[in_dtype]", psum=False),
        *placed(4, "dst", "out_dtype", "field_is[out_dtype]", write=True, psum=False),
        (5, _count_of(1, 1, "one element more than src")),
        (6, active_channels()),
        (7, reserved_zero("reserved0", "reserved1")),
    ),
    kernel=nonzero_with_count,
    semantics=(
        "dst = the positions of the non-zero elements of src in order, plus index_offset, then padding_val, then their "
        "number in the last element. Neither zero counts, nor does NaN."
    ),
    evidence=NONZERO,
)

GET_SEQUENCE_BOUNDS = Instruction(
    name="get_sequence_bounds",
    aliases=("GetSequenceBounds",),
    layout=S3D3SeqBounds,
    reads=READS,
    writes=WRITES,
    rules=rules(
        BOUNDS,
        (1, core_version(3)),
        (2, field_is("num_active_channels", 1)),
        (3, field_in("in_dtype", Dtype.INT32, Dtype.FP32)),
        (3, field_in("out_dtype", Dtype.INT32, Dtype.FP32)),
        (4, _count_of(2, 0, "twice the elements of src")),
        (5, rule(
            "outermost_count", "dst", ("dst.num_elem",), _outermost, "2 in the outermost dimension", needs=valid("dst"),
        )),
        *placed(6, "src", "in_dtype", "field_in[in_dtype]", psum=False, channels=1),
        *placed(6, "dst", "out_dtype", "field_in[out_dtype]", write=True, psum=False, channels=1),
        (7, reserved_zero("reserved0", "reserved1")),
    ),
    missing="what the pair for each element holds: the count rule and the prose of its page disagree",
    semantics="Decodes and validates only.",
    evidence=BOUNDS,
)  # fmt: skip

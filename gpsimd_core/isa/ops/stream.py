"""stream_shuffle (0x6A), stream_transpose (0x6B): permute partitions inside each quadrant of 32."""

from __future__ import annotations

from gpsimd_core.isa.checks import (
    active_channels,
    addresses,
    counts,
    dtype_valid,
    field_in,
    field_is,
    member_of,
    reserved_zero,
    rule,
    rules,
    same_count,
)
from gpsimd_core.isa.enums import AluOp, TensorSubdim
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.moves import map_ready, shuffle, transpose, transpose_missing
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s4d4_tr import S4D4Tr
from gpsimd_core.isa.ops.copy_cast import READS, SAME_DTYPE, WRITES
from gpsimd_core.isa.ops.shared import INDEX_LISTS, Bools, Rows, channels_multiple, count_multiple, placed, valid
from gpsimd_core.values import Evidence, Instruction, Rule

__all__ = ["STREAM_SHUFFLE", "STREAM_TRANSPOSE"]

SHUFFLE = Evidence(
    confidence="HIGH/OBSERVED",
    source="POOL/ACT Compute Gap-Cluster",
    note="that the counts agree is the common pairing of operands, no rule of the page",
    readings=(INDEX_LISTS,),
)
TRANSPOSE = Evidence(confidence="HIGH/OBSERVED", source="StreamTranspose", readings=(INDEX_LISTS,))

HEAD: Rows = (
    (1, reserved_zero("reserved1")),
    (2, dtype_valid("in_dtype")),
    (2, dtype_valid("out_dtype", fp32r=True)),
    (2, SAME_DTYPE),
    (3, field_is("op", AluOp.BYPASS)),
    (3, field_is("negated", 0)),
    (3, member_of("op_dim", TensorSubdim)),
)
REST: Rows = (
    (5, channels_multiple(32)),
    (6, active_channels()),
    *placed(6, "src", "in_dtype", "is_valid_dtype[in_dtype]", mem_pattern=True),
    *placed(6, "dst", "out_dtype", "is_valid_dtype[out_dtype]", write=True, mem_pattern=True),
)


def _not_larger() -> Rule:
    def check(c: Columns, f: Facts) -> Bools:
        waived = addresses(c, f, "src").shape | addresses(c, f, "dst").shape
        return waived | (counts(c, "dst") <= counts(c, "src"))

    return rule(
        "element_count", "dst,src", ("dst.num_elem", "src.num_elem"), check, "at most the source count",
        needs=valid("src", "dst"),
    )  # fmt: skip


STREAM_SHUFFLE = Instruction(
    name="stream_shuffle",
    aliases=("StreamShuffle",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=rules(
        SHUFFLE,
        *HEAD,
        (4, field_is("mask_enable", 0)),
        *REST,
        (7, same_count("src", "dst", needs=valid("src", "dst"))),
    ),
    kernel=shuffle,
    ready=map_ready,
    semantics=(
        "Inside each 32 partitions, partition i of dst takes partition map[i] of src, by the map that load_mask_select "
        "loaded. 255 leaves partition i unwritten."
    ),
    evidence=SHUFFLE,
)

STREAM_TRANSPOSE = Instruction(
    name="stream_transpose",
    aliases=("StreamTranspose",),
    layout=S4D4Tr,
    reads=READS,
    writes=WRITES,
    rules=rules(
        TRANSPOSE,
        *HEAD,
        (4, field_in("mask_enable", 0, 1)),
        *REST,
        (7, _not_larger()),
        (8, count_multiple("src", 32)),
    ),
    kernel=transpose,
    unsupported=transpose_missing,
    semantics="Inside each 32 partitions, dst[p, 32 t + e] = src[e, 32 t + p]: every block of 32 by 32 is transposed.",
    evidence=TRANSPOSE,
)

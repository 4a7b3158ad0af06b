"""memset (0x49) and dve_read_indices (0xE9): a destination without a source."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import (
    active_channels,
    addresses,
    counts,
    dtype_in,
    dtype_valid,
    field_is,
    reserved_zero,
    rule,
    rules,
)
from gpsimd_core.isa.dtypes import SIZES
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.moves import memset
from gpsimd_core.isa.kernels.search import indices_ready, read_indices
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.d4_mr import D4Mr
from gpsimd_core.isa.ops.shared import Bools, core_version, count_in, placed, valid
from gpsimd_core.values import Evidence, Instruction, Operand

__all__ = ["DVE_READ_INDICES", "MEMSET"]

MEMSET_EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="POOL/ACT Compute Gap-Cluster",
    note="the equality of dst_element_count is MED; that serial mode is 0 is PROPOSED",
)
INDICES_EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED", source="DVE State Read-Back", note="that serial mode is 0 is PROPOSED"
)
RESERVED = ("reserved0", "reserved1", "reserved2", "reserved3")


def _fits(c: Columns, f: Facts) -> Bools:
    return c["set_value"].astype(np.int64) >> 8 * SIZES[c["dtype"]] == 0


def _counted(c: Columns, f: Facts) -> Bools:
    return addresses(c, f, "dst").shape | (c["dst_element_count"] == counts(c, "dst"))


MEMSET = Instruction(
    name="memset",
    aliases=("MemSet",),
    layout=D4Mr,
    writes=(Operand(name="out", at="dst", dtype="dtype"),),
    rules=rules(
        MEMSET_EVIDENCE,
        (2, dtype_valid("dtype", fp32r=True)),
        (3, rule(
            "set_value_width", "", ("set_value", "dtype"), _fits, "no bit above the width of dtype",
            needs=("is_valid_dtype[dtype]",),
        )),
        (4, field_is("serialization_mode", 0)),
        (5, rule(
            "dst_element_count", "", ("dst_element_count", "dst.num_elem"), _counted, "the product of the dst counts",
            needs=valid("dst"), default={"dst_element_count": lambda c: counts(c, "dst")},
        )),
        *placed(6, "dst", "dtype", "is_valid_dtype[dtype]", write=True),
        (6, active_channels()),
        (7, reserved_zero(*RESERVED)),
    ),
    kernel=memset,
    semantics="Every element of dst takes the low bytes of set_value, as raw bits.",
    evidence=MEMSET_EVIDENCE,
)  # fmt: skip

DVE_READ_INDICES = Instruction(
    name="dve_read_indices",
    aliases=("DveReadIndices",),
    layout=D4Mr,
    writes=(Operand(name="out", at="dst", dtype="dtype"),),
    rules=rules(
        INDICES_EVIDENCE,
        (1, core_version(3)),
        (2, dtype_in("dtype", "dve_read_indices_out")),
        (3, field_is("dst_element_count", 8)),
        (3, count_in("dst", 8, 8)),
        (4, field_is("set_value", 0)),
        (5, field_is("serialization_mode", 0)),
        *placed(6, "dst", "dtype", "dtype_in[dtype]", write=True),
        (6, active_channels()),
        (7, reserved_zero(*RESERVED)),
    ),
    kernel=read_indices,
    ready=indices_ready,
    semantics=(
        "dst of each channel = the eight positions that match_replace8 latched; a value that was not found gives all ones."
    ),
    evidence=INDICES_EVIDENCE,
)

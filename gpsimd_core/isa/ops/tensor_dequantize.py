"""tensor_dequantize (0x7B): expand packed 4- and 6-bit codes to fp8 bytes, counted in 32-bit words."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import active_channels, addresses, counts, field_in, field_is, reserved_zero, rule, rules
from gpsimd_core.isa.enums import DequantFmt, Dtype
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.dequantize import dequantize, dequantize_missing
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s3d3_tens_dequant import S3D3TensDequant
from gpsimd_core.isa.ops.shared import INDEX_LISTS, Bools, When, core_version, placed, valid, where
from gpsimd_core.values import Evidence, Instruction, Operand, Reading

__all__ = ["TENSOR_DEQUANTIZE"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="TensorDequantize",
    note="order of the packed codes PROPOSED",
    readings=(
        Reading(
            topic="word counts",
            chosen="two destination words for one of 4-bit codes, four for three of 6-bit codes",
            beaten=("the reverse",),
            why="the header's gate and counting bits; the prose reads the ratios the wrong way round",
        ),
        INDEX_LISTS,
    ),
)

SIX_BIT = DequantFmt.E2M3_TO_E4M3
GROUPED = When(fields=("group_size",), test=lambda c, f: c["group_size"] == 8, text="group_size = 8")


def _words(c: Columns, f: Facts) -> Bools:
    src, dst = counts(c, "src"), counts(c, "dst")
    three_to_four = (c["dequant_fmt"] == SIX_BIT) & (src * np.uint64(4) == dst * np.uint64(3))
    four_bit = c["dequant_fmt"] != SIX_BIT
    plain = four_bit & (c["group_size"] == 0) & (src * np.uint64(2) == dst)
    grouped = four_bit & (c["group_size"] == 8) & (src * np.uint64(8) == dst * np.uint64(5))
    waived = addresses(c, f, "src").shape | addresses(c, f, "dst").shape
    return waived | three_to_four | plain | grouped


RULES = rules(
    EVIDENCE,
    (1, core_version(3)),
    (2, field_is("in_dtype", Dtype.UINT32)),
    (2, field_is("out_dtype", Dtype.UINT32)),
    (3, field_in("dequant_fmt", *(m for m in DequantFmt if m))),
    (4, field_in("group_size", 0, 8)),
    (4, where(GROUPED, rule(
        "group_format", "", ("dequant_fmt",), lambda c, f: c["dequant_fmt"] != SIX_BIT, "a 4-bit format",
        needs=("field_in[dequant_fmt]", "field_in[group_size]"),
    ))),
    (5, reserved_zero("reserved0", "reserved1", "reserved2")),
    (6, rule(
        "word_count", "dst,src", ("dst.num_elem", "src.num_elem", "dequant_fmt", "group_size"), _words,
        "2 words for 1; with group_size 8, 8 for 5; 4 for 3 of E2M3", needs=(*valid("src", "dst"), "group_format"),
    )),
    *placed(7, "src", "in_dtype", "field_is[in_dtype]", psum=False, mem_pattern=True),
    *placed(7, "dst", "out_dtype", "field_is[out_dtype]", write=True, psum=False, mem_pattern=True),
    (7, active_channels()),
)  # fmt: skip

TENSOR_DEQUANTIZE = Instruction(
    name="tensor_dequantize",
    aliases=("TensorDequantize",),
    layout=S3D3TensDequant,
    reads=(Operand(name="packed", at="src", dtype="in_dtype"),),
    writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
    rules=RULES,
    kernel=dequantize,
    unsupported=dequantize_missing,
    semantics=(
        "Each packed code becomes an fp8 byte: E2M1 or INT4 to E5M2, E2M3 to E4M3. The low nibble comes first; 6-bit codes "
        "are little-endian. Neither the NF4 code book nor the scale of a group is known."
    ),
    evidence=EVIDENCE,
)

"""sort (0x96): order the keys of each partition, with their positions."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import (
    active_channels,
    addresses,
    dtype_valid,
    field_in,
    immediate,
    reserved_zero,
    rule,
    rules,
)
from gpsimd_core.isa.dtypes import SIZES
from gpsimd_core.isa.enums import Dtype
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.search import sort
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s1d2_sort import S1D2Sort
from gpsimd_core.isa.ops.shared import CHANNELS, Bools, operator_in, placed, same_dtype, valid
from gpsimd_core.values import Evidence, Instruction, Operand, Reading

__all__ = ["SORT"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="Sort (0x96)",
    readings=(
        Reading(
            topic="top-K form",
            chosen="none",
            beaten=("the page mentions one",),
            why="no field holds K, and the validator knows none",
        ),
    ),
)
BYTES = 8192
"""Bytes of keys over all channels, which gives the three limits of the page: 8192, 4096 and 2048 keys."""


def _pairs(c: Columns, f: Facts) -> Bools:
    num = c["dst.num_elem"]
    keys = (num[:, 1] == c["src.num_elem"][:, 0]) | addresses(c, f, "src").shape
    return addresses(c, f, "dst").shape | ((num[:, 0] == 2) & keys)


def _capacity(c: Columns, f: Facts) -> Bools:
    keys = c["src.num_elem"][:, 0].astype(np.int64) * c["num_active_channels"]
    return addresses(c, f, "src").shape | (keys * SIZES[c["in_dtype"]] <= BYTES)


RULES = rules(
    EVIDENCE,
    (2, dtype_valid("in_dtype")),
    (2, same_dtype("in_dtype", "out_dtype", needs=("is_valid_dtype[in_dtype]",))),
    *placed(3, "src", "in_dtype", "is_valid_dtype[in_dtype]", psum=False),
    *placed(3, "dst", "out_dtype", "same_dtype[in_dtype,out_dtype]", write=True, psum=False),
    (3, active_channels()),
    (4, operator_in("comparison", "sort_compare")),
    (5, field_in("stable", 0, 1)),
    (6, rule(
        "pair_count", "dst", ("dst.num_elem", "src.num_elem"), _pairs, "2 innermost, the source count outermost",
        needs=valid("src", "dst"),
    )),
    (7, rule(
        "sort_capacity", "", ("src.num_elem", "num_active_channels", "in_dtype"), _capacity,
        f"at most {BYTES} keys of one byte over all channels, {BYTES // 2} of two, {BYTES // 4} of four",
        needs=(*valid("src"), CHANNELS),
    )),
    (8, immediate("index_offset", "index_offset_src", Dtype.INT32, needs=(CHANNELS,))),
    (9, reserved_zero("reserved1")),
)  # fmt: skip

SORT = Instruction(
    name="sort",
    aliases=("Sort",),
    layout=S1D2Sort,
    reads=(Operand(name="keys", at="src", dtype="in_dtype"),),
    writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
    immediates=("index_offset",),
    rules=RULES,
    kernel=sort,
    semantics=(
        "dst = pairs of key and position plus index_offset, by key upwards (IS_LT) or downwards (IS_GT), equal keys in "
        "their order, NaN last. A position is stored as raw integer bits of the key's width."
    ),
    evidence=EVIDENCE,
)

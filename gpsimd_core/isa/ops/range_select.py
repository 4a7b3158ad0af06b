"""range_select (0xBC): keep the elements whose index passes two comparisons, fill the others."""

from __future__ import annotations

import numpy as np

from gpsimd_core.isa.checks import (
    active_channels,
    addresses,
    counts,
    dtype_in,
    field_in,
    field_is,
    immediate,
    reserved_zero,
    rule,
    rules,
    same_count,
)
from gpsimd_core.isa.enums import AccumCmd, AluOp, Dtype
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.kernels.selects import range_select
from gpsimd_core.isa.layout import Columns
from gpsimd_core.isa.layouts.s2d2_rs import S2D2Rs
from gpsimd_core.isa.ops.shared import CHANNELS, Bools, core_version, operator_in, placed, valid
from gpsimd_core.values import Evidence, Instruction, Operand, Reading

__all__ = ["RANGE_SELECT"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="RangeSelect",
    readings=(
        Reading(
            topic="what is compared",
            chosen="the index, base + k",
            beaten=("the element",),
            why="the public API says so, and it explains the limit on base; the page leaves it open",
        ),
        Reading(
            topic="base",
            chosen="an fp32 number",
            beaten=("an unsigned integer",),
            why="the header's layout",
        ),
    ),
)
FILL = 0xFF7FFFFF
MOST = float(1 << 24)


def _base(c: Columns) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    with np.errstate(invalid="ignore"):
        return c["base"].astype("<u4").view("<f4").astype(np.float64)


def _last(c: Columns, f: Facts) -> Bools:
    return addresses(c, f, "src").shape | (_base(c) + counts(c, "src") <= MOST)


RULES = rules(
    EVIDENCE,
    (1, core_version(3)),
    (1, reserved_zero("reserved1")),
    (2, dtype_in("in_dtype", "fp_datapath")),
    (2, dtype_in("out_dtype", "fp_datapath_with_fp32r")),
    (3, field_is("fill_val", FILL)),
    (4, rule("index_base", "", ("base",), lambda c, f: _base(c) <= MOST, "at most 16777216.0")),
    (4, rule(
        "index_range", "", ("base", "src.num_elem"), _last, "base plus the source count at most 16777216",
        needs=("index_base", *valid("src")),
    )),
    (5, operator_in("comp_op0", "range_select_compare")),
    (5, operator_in("comp_op1", "range_select_compare")),
    (6, immediate("bound0", "bound0_src", Dtype.FP32, needs=(CHANNELS,))),
    (6, immediate("bound1", "bound1_src", Dtype.FP32, needs=(CHANNELS,))),
    (7, field_is("reduce_op", AluOp.MAX)),
    (7, field_in("reduce_cmd", AccumCmd.IDLE, AccumCmd.ACCUMULATE, AccumCmd.ZERO_ACCUMULATE)),
    (8, same_count("src", "dst", needs=valid("src", "dst"))),
    *placed(8, "src", "in_dtype", "dtype_in[in_dtype]"),
    *placed(8, "dst", "out_dtype", "dtype_in[out_dtype]", write=True),
    (8, active_channels()),
)  # fmt: skip

RANGE_SELECT = Instruction(
    name="range_select",
    aliases=("RangeSelect",),
    layout=S2D2Rs,
    reads=(Operand(name="data", at="src", dtype="in_dtype"),),
    writes=(Operand(name="out", at="dst", dtype="out_dtype"),),
    immediates=("bound0", "bound1"),
    rules=RULES,
    accumulator="reduce_cmd",
    kernel=range_select,
    semantics=(
        "key = base + k in fp32; where comp_op0(key, bound0) and comp_op1(key, bound1) hold, dst[k] = src[k], else "
        "fill_val. With ACCUMULATE or ZERO_ACCUMULATE the largest value of the row, fill included, before it is "
        "narrowed, is folded into the accumulator of the lane."
    ),
    evidence=EVIDENCE,
)

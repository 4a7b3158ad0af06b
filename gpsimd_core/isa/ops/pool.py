"""pool (0x45) and max_pool_select (0x58): windows over the inner dimensions."""

from __future__ import annotations

from gpsimd_core.isa.checks import (
    active_channels,
    dtype_valid,
    field_in,
    field_is,
    member_of,
    reserved_zero,
    rule,
    rules,
)
from gpsimd_core.isa.enums import Dtype, PoolType, TensorSubdim
from gpsimd_core.isa.kernels.windows import max_pool_select, pool, pool_select_missing
from gpsimd_core.isa.layouts.s4d4_pl import S4D4Pl
from gpsimd_core.isa.ops.shared import Rows, placed, reduced_count, valid
from gpsimd_core.values import Evidence, Instruction, Operand, Reading, Rule

__all__ = ["MAX_POOL_SELECT", "POOL"]

EVIDENCE = Evidence(
    confidence="HIGH/OBSERVED",
    source="avg_pool/max_pool",
    note="that dst holds the product of the other source dims is PROPOSED; what 0x58 computes is MED",
    readings=(
        Reading(
            topic="position of the largest element beside NaN",
            chosen="NaN is passed over; a window of nothing else gives 0",
            beaten=("the first NaN", "the first element, if it is NaN"),
            why="the rule of every maximum; the other two are what `propagate` and `select` make of it: PROPOSED",
            policy="reduce_nan",
        ),
    ),
)
ONE = 0x3F800000


def _rest(target: Rule, *pool_func: Rule) -> Rows:
    return (
        (2, dtype_valid("in_dtype")),
        (2, target),
        *((3, r) for r in pool_func),
        (4, member_of("pool_dim", TensorSubdim)),
        (5, reduced_count("src", "dst", "pool_dim", needs=(*valid("src", "dst"), "is_valid_enum[pool_dim]"))),
        (6, rule(
            "pool_scale_unused", "", ("pool_scale", "pool_func"),
            lambda c, f: (c["pool_func"] == PoolType.AVG) | (c["pool_scale"] == ONE),
            "1.0 (0x3f800000) where nothing is averaged", needs=tuple(r.name for r in pool_func),
            default={"pool_scale": ONE},
        )),
        *placed(7, "src", "in_dtype", "is_valid_dtype[in_dtype]"),
        *placed(7, "dst", "out_dtype", target.name, write=True),
        (7, active_channels()),
        (8, reserved_zero("reserved0", "reserved1")),
    )  # fmt: skip


READS = (Operand(name="data", at="src", dtype="in_dtype"),)
WRITES = (Operand(name="out", at="dst", dtype="out_dtype"),)

POOL = Instruction(
    name="pool",
    aliases=("Pooling",),
    layout=S4D4Pl,
    reads=READS,
    writes=WRITES,
    rules=rules(
        EVIDENCE, *_rest(dtype_valid("out_dtype", fp32r=True), field_in("pool_func", PoolType.MAX, PoolType.AVG))
    ),
    kernel=pool,
    semantics=(
        "Folds each window of the dimensions that pool_dim names, in fp32: the largest element (MAX), or the sum times "
        "pool_scale (AVG)."
    ),
    evidence=EVIDENCE,
)

MAX_POOL_SELECT = Instruction(
    name="max_pool_select",
    aliases=("MaxPoolSelect",),
    layout=S4D4Pl,
    reads=READS,
    writes=WRITES,
    rules=rules(
        EVIDENCE,
        *_rest(field_in("out_dtype", Dtype.UINT8, Dtype.UINT16, Dtype.UINT32), field_is("pool_func", PoolType.NONE)),
    ),
    kernel=max_pool_select,
    unsupported=pool_select_missing,
    semantics="dst = the index of the largest element inside each window, dim 0 fastest, the first on ties.",
    evidence=EVIDENCE,
)

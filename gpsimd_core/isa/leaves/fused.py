"""Floating sums, products and fused forms, one row for each width."""

from __future__ import annotations

from collections.abc import Iterator

from gpsimd_core.isa.lanes import arith
from gpsimd_core.isa.leaves.family import Family

__all__ = ["FAMILIES"]

_FOUR = "inexact:1 underflow:1 overflow:1 invalid:1"
_LANES = {
    16: (
        arith.add_leaf16,
        arith.multiply_leaf16,
        arith.fused_leaf16,
        arith.fused_nearest16,
        arith.one_minus_leaf16,
    ),
    32: (
        arith.add_leaf32,
        arith.multiply_leaf32,
        arith.fused_leaf32,
        arith.fused_nearest32,
        arith.one_minus_leaf32,
    ),
}


def _families(bits: int) -> Iterator[Family]:
    f = f"{bits}f"
    add, multiply, fused, nearest, one_minus = _LANES[bits]
    carried = "" if bits == 16 else "; fp32 values are carried from the algorithm driven in fp16"
    yield Family(
        names=f"{{add,sub}}_1_1_1_{f}_{f}_{f}_2",
        family="fp-arith",
        args="a:$5 b:$6 mode:3",
        results="inexact:1 overflow:1 invalid:1 r:$4",
        rule="IEEE sum (difference), subnormals kept; the FIRST NaN operand wins, quieted; codes 4 to 7 truncate",
        confidence="HIGH",
        pages="VFP B02 B17 B18",
        per="$4",
        bodies={"add": (add, 0), "sub": (add, 1)},
        note="Mode code 4 is called away on one page; driven rows truncate.",
    )
    yield Family(
        names=f"mul_1_1_1_1_{f}_{f}_{f}_2",
        family="fp-arith",
        args="a:$6 b:$7 mode:3",
        results=f"{_FOUR} r:$5",
        rule="IEEE product; the SECOND NaN operand wins, quieted; zero times infinity gives the canonical NaN",
        confidence="HIGH" if bits == 16 else "MED" + carried,
        pages="VFP B18",
        per="$5",
        bodies={"mul": (multiply,)},
        note="The order of the flags was not published.",
    )
    yield Family(
        names=f"{{madd,mula,msub,muls}}_1_1_1_1_{f}_{f}_{f}_{f}_2",
        family="fma",
        args="a:$6 b:$7 c:$8 mode:3",
        results=f"{_FOUR} r:$5",
        rule="a plus (msub, muls: minus) b * c, rounded once; NaN operands win in the order a, c, b",
        confidence="HIGH" if bits == 16 else "MED" + carried,
        pages="B18 B17 VFP CASMAC",
        per="$5",
        bodies={"madd": (fused, 0), "mula": (fused, 0), "msub": (fused, 1), "muls": (fused, 1)},
        note="mula is madd and muls is msub; the order of the flags was not published.",
    )
    yield Family(
        names=f"{{maddn,msubn}}_{f}",
        family="fma",
        args="a:$1 b:$1 c:$1",
        results="r:$1",
        rule="madd and msub, always to nearest even, without flags",
        confidence="MED",
        pages="FSII B17 FISA",
        per="$1",
        bodies={"maddn": (nearest, 0), "msubn": (nearest, 1)},
        note="Names of ours. One page calls these negated forms; then maddn would equal msubn.",
    )
    yield Family(
        names=f"mulsone_1_1_1_1_{f}_{f}_{f}_2",
        family="fma",
        args="a:$6 b:$7 mode:3",
        results=f"{_FOUR} r:$5",
        rule="1 - a * b, rounded once",
        confidence="HIGH for fp16",
        pages="B18 VFP",
        per="$5",
        bodies={"mulsone": (one_minus,)},
        note="The order of the flags was not published.",
    )
    yield Family(
        names=f"divn_1_1_1_{f}_{f}_{f}_{f}_2",
        family="fma",
        args="a:$5 b:$6 c:$7 mode:3",
        results="inexact:1 underflow:1 overflow:1 r:$4",
        rule="last Newton step of a division, a fused step, no division of its own",
        confidence="MED",
        pages="B17 B18 VSEED",
        per="$4",
        missing="the coefficients of the Newton step: shape and flags are known, no value was published",
    )


FAMILIES = (*_families(16), *_families(32))

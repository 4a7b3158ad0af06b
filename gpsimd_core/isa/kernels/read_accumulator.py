"""Kernel of the accumulator read-backs: one element a channel, from the lane state."""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.kernels.pattern import block, store_word
from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.convert import narrow
from gpsimd_core.isa.lanes.rounding import draw_at
from gpsimd_core.isa.lanes.words import u32
from gpsimd_core.isa.lanestate import ACCUMULATOR

__all__ = ["UNDEFINED_READ", "row", "run"]

UNDEFINED_READ = 1
"""Status bit: an accumulator was used while undefined."""

FP32 = 10
SEED = 6
CHANNELS, LANE, COLUMN, NEGATED, DST = 0, 1, 2, 3, 4
NAN = 0x7FC00000


def row(step: Any) -> tuple[int, ...]:
    """The plan row of a read-back."""
    dst = step.operands["out"]
    column = ACCUMULATOR[step.engine.accumulators]
    return (step.channels, dst.partition, column, step.number("negated"), *block(dst))


@lane
def run(memory: Any, source: Any, lanes: Any, formats: Any, rows: Any, status: Any) -> None:
    """Write each lane's accumulator, its sign flipped first where negated, converted to the destination's dtype."""
    for r in range(rows.shape[0]):
        plan = rows[r]
        code, size = plan[DST + 3], plan[DST + 2]
        fmt = formats[code]
        for c in range(plan[CHANNELS]):
            at = plan[LANE] + c
            bits = u32(lanes[at, plan[COLUMN]])
            if lanes[at, plan[COLUMN] + 1] == 0:
                bits = u32(NAN)
                status[r] |= UNDEFINED_READ
            if plan[NEGATED] != 0:
                if u32(bits & u32(0x7FFFFFFF)) > u32(0x7F800000):
                    bits = u32(NAN)
                else:
                    bits = u32(bits ^ u32(0x80000000))
            if code != FP32:
                bits = u32(narrow(bits, fmt, draw_at(fmt[SEED], c)))
            store_word(memory, plan[DST] + c * plan[DST + 1], size, bits)

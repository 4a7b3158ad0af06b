"""Kernel of the predicated copies: elements or one scalar a channel, written where a predicate holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import ImmSrc
from gpsimd_core.isa.kernels.pattern import BLOCK, block, gather, scatter_masked, word_at
from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.convert import narrow_row, widen_row
from gpsimd_core.isa.lanes.words import u32

__all__ = ["copy_row", "run", "scalar_row"]

CHANNELS, ELEMENTS, INVERT, SCALAR, BITS = range(5)
PRED, DATA, DST = 5, 5 + BLOCK, 5 + 2 * BLOCK


def copy_row(step: Any) -> tuple[int, ...]:
    """The plan row of a copy of elements: written where the predicate is non-zero."""
    predicate, data, out = (step.operands[n] for n in ("predicate", "data", "out"))
    return (step.channels, out.elements, 0, 0, 0, *block(predicate), *block(data), *block(out))


def scalar_row(step: Any) -> tuple[int, ...]:
    """The plan row of a scalar copy: written where the predicate is zero, or non-zero under reversed_pred."""
    predicate, out = step.operands["predicate"], step.operands["out"]
    scalar = step.immediates["src0_imm"]
    inline = scalar.source == ImmSrc.INSTRUCTION_IMMEDIATE
    data = (0,) * BLOCK if inline else block(scalar.placed)
    invert = step.number("reversed_pred") == 0
    return (
        step.channels, out.elements, invert, 1 + (not inline), scalar.bits & ((1 << 8 * out.size) - 1),
        *block(predicate), *data, *block(out),
    )  # fmt: skip


@lane
def run(memory: Any, source: Any, lanes: Any, formats: Any, rows: Any, status: Any) -> None:
    """Execute plan rows in order."""
    for r in range(rows.shape[0]):
        plan = rows[r]
        n = plan[ELEMENTS]
        codes, keep = np.empty(n, np.uint32), np.empty(n, np.uint8)
        converts = plan[SCALAR] == 0 and plan[DATA + 3] != plan[DST + 3]
        hub = np.empty(n if converts else 0, np.uint32)
        for c in range(plan[CHANNELS]):
            gather(source, plan, PRED, c, codes)
            flip = plan[INVERT] != 0
            for k in range(n):
                keep[k] = (codes[k] == 0) ^ flip
            if plan[SCALAR] == 0:
                gather(source, plan, DATA, c, codes)
            else:
                bits = u32(plan[BITS])
                if plan[SCALAR] == 2:
                    bits = u32(word_at(source, plan[DATA] + c * plan[DATA + 1], plan[DATA + 2]))
                codes[:] = bits
            if converts:
                widen_row(codes, formats[plan[DATA + 3]], hub)
                narrow_row(hub, formats[plan[DST + 3]], codes, c * n)
            scatter_masked(memory, plan, DST, c, codes, keep)

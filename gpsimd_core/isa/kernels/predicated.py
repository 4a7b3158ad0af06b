"""Kernel of the predicated copies: elements or one scalar a channel, written where a predicate holds.

Flat operands of one dtype are merged where they lie, by width; everything else is gathered, converted where the dtypes
differ, and scattered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import ImmSrc
from gpsimd_core.isa.kernels.pattern import (
    BLOCK,
    CODE,
    PITCH,
    SIZE,
    blend_run,
    block,
    flat,
    gather,
    scatter_masked,
    word_at,
)
from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.convert import narrow_row, widen_row
from gpsimd_core.isa.lanes.words import u32

__all__ = ["copy_row", "run", "scalar_row"]

CHANNELS, ELEMENTS, INVERT, SCALAR, BITS, BYTES, FAST = range(7)
PRED, DATA, DST = 7, 7 + BLOCK, 7 + 2 * BLOCK

ELEMENT, INLINE, POINTER = range(3)


def copy_row(step: Any) -> tuple[int, ...]:
    """The plan row of a copy of elements: written where the predicate is non-zero."""
    predicate, data, out = (step.operands[n] for n in ("predicate", "data", "out"))
    fast = data.code == out.code and flat(data) and flat(out)
    return (
        step.channels, out.elements, 0, ELEMENT, 0, predicate.size == 1 and flat(predicate), fast,
        *block(predicate), *block(data), *block(out),
    )  # fmt: skip


def scalar_row(step: Any) -> tuple[int, ...]:
    """The plan row of a scalar copy: written where the predicate is zero, or non-zero under reversed_pred."""
    predicate, out = step.operands["predicate"], step.operands["out"]
    scalar = step.immediates["src0_imm"]
    inline = scalar.source == ImmSrc.INSTRUCTION_IMMEDIATE
    return (
        step.channels, out.elements, step.number("reversed_pred") == 0, INLINE if inline else POINTER,
        scalar.bits & ((1 << 8 * out.size) - 1), predicate.size == 1 and flat(predicate), 0,
        *block(predicate), *((0,) * BLOCK if inline else block(scalar.placed)), *block(out),
    )  # fmt: skip


@lane
def keep_row(source: Any, plan: Any, channel: int, codes: Any, keep: Any) -> None:
    """Which elements of a channel stay as they are.

    Args:
        codes: uint32 scratch of the element count.
        keep: uint8, receives 1 where an element stays and 0 where it is written.
    """
    flip = plan[INVERT] != 0
    if plan[BYTES] != 0:
        at = plan[PRED] + channel * plan[PRED + PITCH]
        flags = source[at : at + keep.size]
        for k in range(keep.size):
            keep[k] = (flags[k] == 0) ^ flip
    else:
        gather(source, plan, PRED, channel, codes)
        for k in range(keep.size):
            keep[k] = (codes[k] == 0) ^ flip


@lane
def blend_channel(memory: Any, source: Any, plan: Any, channel: int, keep: Any) -> None:
    """Copy one channel of flat operands of one dtype."""
    n, size = plan[ELEMENTS], plan[DATA + SIZE]
    src = plan[DATA] + channel * plan[DATA + PITCH]
    dst = plan[DST] + channel * plan[DST + PITCH]
    if size == 1:
        blend_run(source[src : src + n], keep, memory[dst : dst + n])
    elif size == 2:
        data, out = source.view(np.uint16), memory.view(np.uint16)
        blend_run(data[src // 2 : src // 2 + n], keep, out[dst // 2 : dst // 2 + n])
    else:
        wide, target = source.view(np.uint32), memory.view(np.uint32)
        blend_run(wide[src // 4 : src // 4 + n], keep, target[dst // 4 : dst // 4 + n])


@lane
def scatter_channel(
    memory: Any, source: Any, formats: Any, plan: Any, channel: int, keep: Any, codes: Any, hub: Any
) -> None:
    """Write one channel of any patterns and dtypes.

    Args:
        keep: from `keep_row`.
        codes: uint32 scratch of the element count.
        hub: uint32 scratch of the element count, or of length 0 where nothing is converted.
    """
    if plan[SCALAR] == ELEMENT:
        gather(source, plan, DATA, channel, codes)
    elif plan[SCALAR] == POINTER:
        codes[:] = u32(word_at(source, plan[DATA] + channel * plan[DATA + PITCH], plan[DATA + SIZE]))
    else:
        codes[:] = u32(plan[BITS])
    if hub.size > 0:
        widen_row(codes, formats[plan[DATA + CODE]], hub)
        narrow_row(hub, formats[plan[DST + CODE]], codes, channel * hub.size)
    scatter_masked(memory, plan, DST, channel, codes, keep)


@lane
def run(memory: Any, source: Any, lanes: Any, formats: Any, rows: Any, status: Any) -> None:
    """Execute plan rows in order."""
    for r in range(rows.shape[0]):
        plan = rows[r]
        n = plan[ELEMENTS]
        converts = plan[SCALAR] == ELEMENT and plan[DATA + CODE] != plan[DST + CODE]
        codes, hub = np.empty(n, np.uint32), np.empty(n if converts else 0, np.uint32)
        keep = np.empty(n, np.uint8)
        for c in range(plan[CHANNELS]):
            keep_row(source, plan, c, codes, keep)
            if plan[FAST] != 0:
                blend_channel(memory, source, plan, c, keep)
            else:
                scatter_channel(memory, source, formats, plan, c, keep, codes, hub)

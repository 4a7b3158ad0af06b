"""Kernel of select_reduce: merge or select under an integer predicate, and the running maximum.

Codes of a format with a sign bit order like their values once negative ones are mirrored, so the maximum is folded
over integers, and only the winner is widened to fp32. That path serves equal dtypes and flat patterns; everything else
goes element by element through the hub.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import AccumCmd, Dtype, ImmSrc, TensScalarRevOps
from gpsimd_core.isa.kernels.pattern import BLOCK, block, flat, gather, scatter_masked, word_at
from gpsimd_core.isa.kernels.read_accumulator import UNDEFINED_READ
from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.convert import narrow_row, widen, widen_row
from gpsimd_core.isa.lanes.words import i32, u32
from gpsimd_core.isa.lanestate import ACCUMULATOR

__all__ = ["row", "run"]

CHANNELS, ELEMENTS, LANE, COLUMN, CONTINUES, DEFINES, INVERT, FILLS, NAN_POLICY, FAST = range(10)
SEED_BITS, INLINE, IMM_BITS = 10, 11, 12
IMM, PRED, DATA, DST = 13, 13 + BLOCK, 13 + 2 * BLOCK, 13 + 3 * BLOCK

NAN = 0x7FC00000
SUPPRESS, PROPAGATE, SELECT = 0, 1, 2
_NAN_POLICIES = {"suppress": SUPPRESS, "propagate": PROPAGATE, "select": SELECT}
NOTHING = -(1 << 31)
"""A key below that of every value."""

KIND, SIGNED, FLOAT = 0, 3, 1
READ_LAST = 12

_LOWEST = {Dtype.INT8: 0xC3000000, Dtype.INT16: 0xC7000000, Dtype.UINT8: 0, Dtype.UINT16: 0}
"""Lowest value of the integer data dtypes, as fp32 bits; floating ones start at -inf."""


def row(step: Any) -> tuple[int, ...]:
    """The plan row of a select_reduce."""
    predicate, data, out = (step.operands[n] for n in ("predicate", "data", "out"))
    command = step.number("accumulator_cmd")
    fills = step.policies["select_reduce"] == "select"
    idle_undefined = command == AccumCmd.IDLE and step.policies["idle_accumulator"] == "undefined"
    nan_policy = _NAN_POLICIES[step.policies["reduce_nan"]]
    same = data.code == out.code
    fast = same and not fills and nan_policy == SUPPRESS and all(flat(o) for o in (predicate, data, out))
    imm = step.immediates["imm0"]
    inline = imm.source == ImmSrc.INSTRUCTION_IMMEDIATE
    return (
        step.channels, data.elements, out.partition, ACCUMULATOR[step.engine.accumulators],
        command == AccumCmd.ACCUMULATE, not idle_undefined,
        step.number("reverse_operands") == TensScalarRevOps.FIRST, fills, nan_policy, fast,
        _LOWEST.get(Dtype(data.code), 0xFF800000), inline, imm.bits,
        *((0,) * BLOCK if inline else block(imm.placed)), *block(predicate), *block(data), *block(out),
    )  # fmt: skip


@lane
def order(bits: int) -> int:
    """The place of an fp32 value among all values: -0 below +0, NaN below everything."""
    magnitude = i32(bits & u32(0x7FFFFFFF))
    if magnitude > 0x7F800000:
        return NOTHING
    return i32(~magnitude) if bits >> u32(31) != 0 else magnitude


@lane
def is_nan(bits: int) -> bool:
    """Whether fp32 bits are a NaN."""
    return bool(u32(bits & u32(0x7FFFFFFF)) > u32(0x7F800000))


@lane
def fold_max(new: int, state: int, policy: int) -> int:
    """The larger of a new fp32 value and the running maximum, under policy `reduce_nan`."""
    if policy == SUPPRESS:
        a, b = order(new), order(state)
        if a == NOTHING and b == NOTHING:
            return u32(NAN)
        return u32(new) if a > b else u32(state)
    if policy == PROPAGATE and (is_nan(new) or is_nan(state)):
        return u32(NAN)
    if is_nan(new) or is_nan(state):
        return u32(state)
    zeros = u32((new | state) & u32(0x7FFFFFFF)) == u32(0)
    if policy == SELECT and zeros:
        return u32(state)
    return u32(new) if order(new) > order(state) else u32(state)


@lane
def merge_floats(predicate: Any, data: Any, out: Any, sign: int, last: int) -> int:
    """Copy floating codes where the predicate is non-zero, and give the key of the largest copied value.

    Args:
        predicate, data, out: one channel's elements, unsigned codes.
        sign: the sign bit of the format.
        last: largest magnitude code that is no NaN.
    """
    best = i32(NOTHING)
    low, top, none = i32(sign - 1), i32(last), i32(NOTHING)
    for i in range(out.size):
        d = data[i]
        holds = predicate[i] != 0
        magnitude = i32(i32(d) & low)
        key = i32(~magnitude) if i32(d) != magnitude else magnitude
        key = key if holds & (magnitude <= top) else none
        out[i] = d if holds else out[i]
        best = max(best, key)
    return best


@lane
def merge_integers(predicate: Any, data: Any, out: Any, sign: int) -> int:
    """As `merge_floats` for integers of at most 16 bits; `sign` is their sign bit, 0 for unsigned ones."""
    best = i32(NOTHING)
    s, none = i32(sign), i32(NOTHING)
    for i in range(out.size):
        d = data[i]
        holds = predicate[i] != 0
        key = i32((i32(d) ^ s) - s)
        key = key if holds else none
        out[i] = d if holds else out[i]
        best = max(best, key)
    return best


@lane
def merge_words(predicate: Any, data: Any, out: Any, plan: Any, formats: Any) -> int:
    """Merge one channel; gives the fp32 bits of the largest copied value, a NaN where there is none."""
    fmt = formats[plan[DATA + 3]]
    sign = 1 << (8 * plan[DATA + 2] - 1)
    if fmt[KIND] == FLOAT:
        best = merge_floats(predicate, data, out, sign, fmt[READ_LAST])
        code = u32(best) if best >= 0 else u32(u32(~best) | u32(sign))
    else:
        signed = sign if fmt[SIGNED] != 0 else 0
        best = merge_integers(predicate, data, out, signed)
        code = u32(best) & u32(2 * sign - 1)
    if best == NOTHING:
        return u32(NAN)
    return u32(widen(u32(code), fmt))


@lane
def merge_channel(memory: Any, source: Any, plan: Any, formats: Any, channel: int, flags: Any) -> int:
    """Merge one channel of flat operands with equal dtypes.

    Args:
        flags: uint8 scratch of the element count, for predicates that are wider than a byte or inverted.
    """
    n, inverted = plan[ELEMENTS], plan[INVERT] != 0
    at = plan[PRED] + channel * plan[PRED + 1]
    width = plan[PRED + 2]
    predicate = source[at : at + n]
    if width > 1 or inverted:
        for i in range(n):
            flags[i] = (word_at(source, at + i * width, width) != 0) ^ inverted
        predicate = flags
    size = plan[DATA + 2]
    src = plan[DATA] + channel * plan[DATA + 1]
    dst = plan[DST] + channel * plan[DST + 1]
    if size == 1:
        return merge_words(predicate, source[src : src + n], memory[dst : dst + n], plan, formats)
    if size == 2:
        data, out = source.view(np.uint16), memory.view(np.uint16)
        return merge_words(predicate, data[src // 2 : src // 2 + n], out[dst // 2 : dst // 2 + n], plan, formats)
    wide, target = source.view(np.uint32), memory.view(np.uint32)
    return merge_words(predicate, wide[src // 4 : src // 4 + n], target[dst // 4 : dst // 4 + n], plan, formats)


@lane
def walk_channel(
    memory: Any, source: Any, plan: Any, formats: Any, channel: int, state: int, codes: Any, hub: Any, keep: Any
) -> int:
    """One channel through the hub, element by element; gives the new maximum.

    Args:
        state: fp32 bits of the maximum so far.
        codes, hub: uint32 scratch of the element count.
        keep: uint8 scratch of the element count.
    """
    n, policy, fills = plan[ELEMENTS], plan[NAN_POLICY], plan[FILLS]
    fill = u32(plan[IMM_BITS])
    if plan[INLINE] == 0:
        word = word_at(source, plan[IMM] + channel * plan[IMM + 1], plan[IMM + 2])
        fill = u32(widen(u32(word), formats[plan[IMM + 3]]))
    gather(source, plan, PRED, channel, codes)
    for k in range(n):
        keep[k] = (codes[k] != 0) == (plan[INVERT] != 0)
    gather(source, plan, DATA, channel, codes)
    widen_row(codes, formats[plan[DATA + 3]], hub)
    for k in range(n):
        if keep[k] != 0 and fills != 0:
            hub[k] = fill
        if keep[k] == 0 or fills != 0:
            state = fold_max(u32(hub[k]), u32(state), policy)
    if fills == 0 and plan[DATA + 3] == plan[DST + 3]:
        scatter_masked(memory, plan, DST, channel, codes, keep)
        return u32(state)
    copies = plan[DATA + 3] == plan[DST + 3]
    written = np.empty(n, np.uint32)
    narrow_row(hub, formats[plan[DST + 3]], written, channel * n)
    for k in range(n):
        if copies and keep[k] == 0:
            written[k] = codes[k]
        if fills != 0:
            keep[k] = 0
    scatter_masked(memory, plan, DST, channel, written, keep)
    return u32(state)


@lane
def run(memory: Any, source: Any, lanes: Any, formats: Any, rows: Any, status: Any) -> None:
    """Execute plan rows in order."""
    for r in range(rows.shape[0]):
        plan = rows[r]
        n = 0 if plan[FAST] != 0 else plan[ELEMENTS]
        codes, hub = np.empty(n, np.uint32), np.empty(n, np.uint32)
        keep = np.empty(plan[ELEMENTS], np.uint8)
        column = plan[COLUMN]
        for c in range(plan[CHANNELS]):
            at = plan[LANE] + c
            state = u32(plan[SEED_BITS])
            if plan[CONTINUES] != 0:
                state = u32(lanes[at, column])
                if lanes[at, column + 1] == 0:
                    state = u32(NAN)
                    status[r] |= UNDEFINED_READ
            if plan[FAST] != 0:
                best = merge_channel(memory, source, plan, formats, c, keep)
                if not is_nan(best):
                    state = fold_max(u32(best), u32(state), SUPPRESS)
            else:
                state = walk_channel(memory, source, plan, formats, c, u32(state), codes, hub, keep)
            lanes[at, column] = u32(state)
            lanes[at, column + 1] = plan[DEFINES]

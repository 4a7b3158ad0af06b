"""Kernel of select_reduce: merge or select under an integer predicate, and the running maximum.

Codes of a format with a sign bit order like their values once negative ones are mirrored, so the maximum is folded
over integers, and only the winner is widened to fp32. That path serves equal dtypes and flat patterns; everything else
goes element by element through the hub.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import AccumCmd, Dtype, TensScalarRevOps
from gpsimd_core.isa.kernels.pattern import BLOCK, block, flat, gather, scatter_masked, word_at
from gpsimd_core.isa.kernels.read_accumulator import UNDEFINED_READ
from gpsimd_core.isa.lane import bind, lane
from gpsimd_core.isa.lanes.caches import prefetch
from gpsimd_core.isa.lanes.convert import narrow_row, widen, widen_row
from gpsimd_core.isa.lanes.words import i32, u32, u64
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

AHEAD = 16
"""How many channels before its turn a channel is fetched."""

UNUSED = 0
"""How many bits of a 32-bit word the elements leave free; `merge_bytes` and `merge_halves` have it otherwise."""

KIND, SIGNED, FLOAT = 0, 3, 1
FP32 = int(Dtype.FP32)
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
    imm = step.immediates["imm0"] if fills else None  # merging never reads it
    placed = imm.placed if imm else None
    return (
        step.channels, data.elements, out.partition, ACCUMULATOR[step.engine.accumulators],
        command == AccumCmd.ACCUMULATE, not idle_undefined,
        step.number("reverse_operands") == TensScalarRevOps.FIRST, fills, nan_policy, fast,
        _LOWEST.get(Dtype(data.code), 0xFF800000), placed is None, imm.bits if imm else 0,
        *(block(placed) if placed else (0,) * BLOCK), *block(predicate), *block(data), *block(out),
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
def merge_floats(predicate: Any, p: int, data: Any, s: int, out: Any, d: int, n: int, last: int) -> int:
    """Copy a channel's floating codes where the predicate is non-zero; gives the largest one copied, or -1.

    Codes compare as signed words: aligned to the top, negative ones mirrored, and moved up until every NaN has wrapped
    around to below -inf.

    Offsets are unsigned words, which index without a test for negative ones.

    Args:
        predicate, p: flags, and the offset of the channel's first.
        data, s: unsigned codes, and their offset.
        out, d: where they go, and its offset.
        n: elements.
        last: largest magnitude code that is no NaN.
    """
    low, none = i32(0x7FFFFFFF), i32(NOTHING)
    top = i32(last << UNUSED)
    up = i32(low - top)
    best = none
    for k in range(n):
        i = u64(k)
        code = data[s + i]
        holds = predicate[p + i] != 0
        word = i32(i32(code) << UNUSED)
        mirrored = i32(word ^ low)
        key = i32((mirrored if word < 0 else word) + up)
        key = key if holds else none
        out[d + i] = code if holds else out[d + i]
        best = max(best, key)
    if best < i32(i32(~top) + up):
        return -1
    word = i32(best - up)
    return int(u32(word if word >= 0 else i32(word ^ low)) >> u32(UNUSED))


@lane
def merge_integers(predicate: Any, p: int, data: Any, s: int, out: Any, d: int, n: int, sign: int) -> int:
    """As `merge_floats` for integers of at most 16 bits; `sign` is their sign bit, 0 for unsigned ones."""
    bit, none = i32(sign), i32(NOTHING)
    best = none
    for k in range(n):
        i = u64(k)
        code = data[s + i]
        holds = predicate[p + i] != 0
        key = i32((i32(code) ^ bit) - bit)
        key = key if holds else none
        out[d + i] = code if holds else out[d + i]
        best = max(best, key)
    if best == none:
        return -1
    return int(u32(best) & (u32(0xFFFFFFFF) >> u32(UNUSED)))


@lane
def begin(lanes: Any, plan: Any, lane_row: int, status: Any, r: int) -> int:
    """The maximum that a channel starts from."""
    if plan[CONTINUES] == 0:
        return u32(plan[SEED_BITS])
    if lanes[lane_row, plan[COLUMN] + 1] == 0:
        status[r] |= UNDEFINED_READ
        return u32(NAN)
    return u32(lanes[lane_row, plan[COLUMN]])


@lane
def merge_tile(data: Any, out: Any, source: Any, lanes: Any, plan: Any, formats: Any, status: Any, r: int) -> None:
    """Flat operands with equal dtypes: all channels of one instruction.

    Args:
        data, out: storage of the sources and of the destination as words of the element's width.
        source: storage of the sources as bytes, for the predicate.
        plan: plan row, the `r`-th.
    """
    n, size, width = plan[ELEMENTS], plan[DATA + 2], plan[PRED + 2]
    fmt = formats[plan[DATA + 3]]
    floating = fmt[KIND] == FLOAT
    sign = 1 << (8 * size - 1) if fmt[SIGNED] != 0 else 0
    inverted = plan[INVERT] != 0
    prepared = inverted or width > 1
    flags = np.empty(n if prepared else 0, np.uint8)
    predicate = flags if prepared else source
    first_source, source_pitch = plan[DATA] // size, plan[DATA + 1] // size
    first_target, target_pitch = plan[DST] // size, plan[DST + 1] // size
    is_hub = plan[DATA + 3] == FP32
    for c in range(plan[CHANNELS]):
        p = plan[PRED] + c * plan[PRED + 1]
        prefetch(source, u64(p + AHEAD * plan[PRED + 1]))
        prefetch(data, u64(first_source + (c + AHEAD) * source_pitch))
        prefetch(out, u64(first_target + (c + AHEAD) * target_pitch))
        if prepared:
            for k in range(n):
                flags[k] = (word_at(source, p + k * width, width) != 0) ^ inverted
            p = 0
        s, d = u64(first_source + c * source_pitch), u64(first_target + c * target_pitch)
        if floating:
            code = merge_floats(predicate, u64(p), data, s, out, d, n, fmt[READ_LAST])
        else:
            code = merge_integers(predicate, u64(p), data, s, out, d, n, sign)
        at = plan[LANE] + c
        state = begin(lanes, plan, at, status, r)
        if code >= 0:
            value = u32(code) if is_hub else u32(widen(u32(code), fmt))
            state = fold_max(value, u32(state), SUPPRESS)
        lanes[at, plan[COLUMN]] = u32(state)
        if plan[CONTINUES] == 0:  # going on from an undefined lane defines nothing
            lanes[at, plan[COLUMN] + 1] = plan[DEFINES]


def _narrower(bits: int) -> Any:
    floats, integers = bind(merge_floats, UNUSED=32 - bits), bind(merge_integers, UNUSED=32 - bits)
    return bind(merge_tile, merge_floats=floats, merge_integers=integers)


merge_bytes, merge_halves = _narrower(8), _narrower(16)


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
def walk_tile(memory: Any, source: Any, lanes: Any, plan: Any, formats: Any, status: Any, r: int) -> None:
    """Any operands: all channels of one instruction, through the hub."""
    n = plan[ELEMENTS]
    codes, hub, keep = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint8)
    for c in range(plan[CHANNELS]):
        at = plan[LANE] + c
        state = begin(lanes, plan, at, status, r)
        state = walk_channel(memory, source, plan, formats, c, u32(state), codes, hub, keep)
        lanes[at, plan[COLUMN]] = u32(state)
        if plan[CONTINUES] == 0:  # going on from an undefined lane defines nothing
            lanes[at, plan[COLUMN] + 1] = plan[DEFINES]


@lane
def run(memory: Any, source: Any, lanes: Any, formats: Any, rows: Any, status: Any) -> None:
    """Execute plan rows in order."""
    for r in range(rows.shape[0]):
        plan = rows[r]
        size = plan[DATA + 2]
        if plan[FAST] == 0:
            walk_tile(memory, source, lanes, plan, formats, status, r)
        elif size == 1:
            merge_bytes(source, memory, source, lanes, plan, formats, status, r)
        elif size == 2:
            merge_halves(source.view(np.uint16), memory.view(np.uint16), source, lanes, plan, formats, status, r)
        else:
            merge_tile(source.view(np.uint32), memory.view(np.uint32), source, lanes, plan, formats, status, r)

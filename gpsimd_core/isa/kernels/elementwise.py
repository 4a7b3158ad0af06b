"""Kernel of the elementwise families: op1(op0(x, scalar), scalar or y), and a fold of the results beside it.

One run serves 0x41, 0x51 and sunda's packed forms (op1 alone), 0x43, 0x53, 0x93, 0x44, 0x54 (two scalars), 0x4F, 0x5F
(preloaded scalars), 0x9D, 0x9E (a scalar and a tensor), 0x9A, 0xE6 and 0x30 (a scalar and a fold). `elementwise_plan.py`
makes its rows. Operators work on fp32 bits (HUB), each rounded once, or on raw words (BITS, INTEGER); the value that is
folded is the fp32 one before it is converted for the store.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import AluOp
from gpsimd_core.isa.kernels.combine import HUB, fold_hub, run_hub, words_row
from gpsimd_core.isa.kernels.hub import canonical_row, load_hub, load_tile, store_hub, transposed
from gpsimd_core.isa.kernels.pattern import BLOCK, CODE
from gpsimd_core.isa.kernels.read_accumulator import UNDEFINED_READ
from gpsimd_core.isa.kernels.walk import CHUNK, here, put, take
from gpsimd_core.isa.lane import bind, inlined, lane
from gpsimd_core.isa.lanes.alu import alu_fp32_row, canonical, each_pair, multiply, subtract
from gpsimd_core.isa.lanes.convert import widen, widen_row
from gpsimd_core.isa.lanes.transcend import exponential
from gpsimd_core.isa.lanes.words import bits32, f32, u32
from gpsimd_core.isa.lanestate import PRELOAD

__all__ = ["EXPONENTIAL", "run"]

(
    BAND, CHANNELS, ELEMENTS, PIECE, SLICES, WIDTH, SIGNED0, SIGNED1, NAN_POLICY, TRANSPOSED,
    OP0, SWAP0, FROM0, BITS0, OP1, SWAP1, FROM1, BITS1,
    FOLD, RUNNING, CONTINUES, SEED_FROM, SEED, LANE, COLUMN,
    DIRECT_X, DIRECT_Y, DIRECT_OUT, IN_PLACE, AFFINE,
) = range(30)  # fmt: skip
X, SCALAR0, Y, OUT = 30, 30 + BLOCK, 30 + 2 * BLOCK, 30 + 3 * BLOCK

NOTHING, INLINE, MEMORY, PRELOADED, TENSOR = range(5)
"""Where the second operand of an operator comes from. Y is the block of a scalar in memory, too."""

EXPONENTIAL = 256
"""In the place of op1: e to the power of its operand."""

FP32 = 10
NAN = 0x7FC00000


@lane
def scalar(source: Any, lanes: Any, formats: Any, plan: Any, which: int, block: Any, channel: int, slice_: int) -> int:
    """A scalar of a channel: fp32 bits in the hub, else the raw word."""
    origin, bits = plan[which], u32(plan[which + 1])
    if origin == PRELOADED:
        return u32(lanes[plan[LANE] + channel, PRELOAD + slice_])
    if origin == MEMORY:
        word = np.empty(1, np.uint32)
        take(source, block, channel, 0, 0, word)
        bits = u32(word[0])
        if plan[BAND] == HUB and block[CODE] != FP32:
            bits = u32(widen(bits, formats[block[CODE]]))
    return u32(bits)


@inlined
def fill(row: Any, word: int) -> None:
    """One word everywhere."""
    for i in range(row.size):
        row[i] = u32(word)


@lane
def exponential_row(x: Any, out: Any) -> None:
    """e to the power of each value."""
    for i in range(out.size):
        out[i] = exponential(u32(x[i]))


add_row, subtract_row, multiply_row = each_pair, bind(each_pair, value=subtract), bind(each_pair, value=multiply)


@inlined
def hub_row(op: int, swap: int, x: Any, y: Any, out: Any, nan_policy: int) -> None:
    """One operator of the fp32 band between two rows, its operands swapped where asked."""
    a, b = (y, x) if swap != 0 else (x, y)
    if op == AluOp.ADD:
        add_row(a, b, out)
    elif op == AluOp.MULT:
        multiply_row(a, b, out)
    elif op == AluOp.SUBTRACT:
        subtract_row(a, b, out)
    elif op == AluOp.BYPASS:
        canonical_row(a, out)
    elif op == EXPONENTIAL:
        exponential_row(a, out)
    else:
        alu_fp32_row(op, a, b, out, nan_policy)


@lane
def compute_hub(plan: Any, a: Any, s0: Any, b: Any, middle: Any, out: Any) -> None:
    """Both operators on fp32 bits, or the one there is. One place calls `hub_row`, so that it is built in once."""
    first = 1 if plan[FROM0] == NOTHING else 0
    last = 0 if plan[FROM1] == NOTHING and plan[OP1] == AluOp.BYPASS else 1
    for stage in range(first, last + 1):
        op, swap = (plan[OP1], plan[SWAP1]) if stage == 1 else (plan[OP0], plan[SWAP0])
        x, y, z = a if stage == first else middle, b if stage == 1 else s0, out if stage == last else middle
        hub_row(op, swap, x, y, z, plan[NAN_POLICY])


@inlined
def factor(op: int, swap: int, scalar: int) -> int:
    """With `addend`: op(x, scalar) = x factor + addend, where the step that is not the operator's changes nothing."""
    minus = u32(0xBF800000) if op == AluOp.SUBTRACT and swap != 0 else u32(0x3F800000)
    return u32(scalar) if op == AluOp.MULT else minus


@inlined
def addend(op: int, swap: int, scalar: int) -> int:
    """What is added after the factor; adding -0 changes nothing, nor does it turn a NaN into a number."""
    if op == AluOp.ADD:
        return u32(scalar)
    if op == AluOp.SUBTRACT:
        return u32(scalar) if swap != 0 else u32(u32(scalar) ^ u32(0x80000000))
    return u32(0x80000000)


@lane
def affine_row(plan: Any, x: Any, scalar0: int, scalar1: int, out: Any) -> None:
    """Two operators among sum, difference, product and BYPASS with scalars, in one pass; each rounds as it does alone."""
    m0, c0 = factor(plan[OP0], plan[SWAP0], scalar0), addend(plan[OP0], plan[SWAP0], scalar0)
    m1, c1 = factor(plan[OP1], plan[SWAP1], scalar1), addend(plan[OP1], plan[SWAP1], scalar1)
    for i in range(out.size):
        t = bits32(f32(bits32(f32(u32(x[i])) * f32(m0))) + f32(c0))
        out[i] = canonical(bits32(f32(bits32(f32(t) * f32(m1))) + f32(c1)))


@lane
def compute_where_it_lies(memory: Any, source: Any, lanes: Any, formats: Any, plan: Any) -> None:
    """Both operators on fp32 operands that are read and written in place: no piece of them is copied.

    A scalar is a row of itself, so that one loop serves both kinds of operand; but sums, differences and products with
    two scalars go through `affine_row`.
    """
    n, piece = plan[ELEMENTS], min(plan[PIECE], CHUNK)
    x, y, target = plan[X : X + BLOCK], plan[Y : Y + BLOCK], plan[OUT : OUT + BLOCK]
    words, stored = source.view(np.uint32), memory.view(np.uint32)
    s0, s1, middle = np.empty(piece, np.uint32), np.empty(piece, np.uint32), np.empty(piece, np.uint32)
    if plan[AFFINE] != 0 or (plan[FROM0] == NOTHING and plan[FROM1] == TENSOR):
        piece = n
    for c in range(plan[CHANNELS]):
        if plan[FROM0] == MEMORY or (c == 0 and plan[FROM0] == INLINE):
            fill(s0, scalar(source, lanes, formats, plan, FROM0, plan[SCALAR0 : SCALAR0 + BLOCK], c, 0))
        if plan[FROM1] == MEMORY or (c == 0 and plan[FROM1] == INLINE):
            fill(s1, scalar(source, lanes, formats, plan, FROM1, y, c, 0))
        for start in range(0, n, piece):
            m = min(piece, n - start)
            left, out = here(words, x, c, start, m), here(stored, target, c, start, m)
            if plan[AFFINE] != 0:
                affine_row(plan, left, s0[0], s1[0], out)
                continue
            right = here(words, y, c, start, m) if plan[FROM1] == TENSOR else s1[:m]
            compute_hub(plan, left, s0[:m], right, middle[:m], out)


@lane
def compute_words(plan: Any, a: Any, s0: Any, b: Any, n: int) -> None:
    """Both operators on raw words; the results replace `a`."""
    band, width = plan[BAND], plan[WIDTH]
    if plan[FROM0] != NOTHING:
        x, y = (s0, a) if plan[SWAP0] != 0 else (a, s0)
        words_row(band, plan[OP0], x, y, a, width, plan[SIGNED0], n)
    x, y = (b, a) if plan[SWAP1] != 0 else (a, b)
    words_row(band, plan[OP1], x, y, a, width, plan[SIGNED1], n)


@lane
def seed(source: Any, lanes: Any, plan: Any, channel: int) -> int:
    """What the accumulator of a channel starts from."""
    at = plan[LANE] + channel
    if plan[CONTINUES] != 0:
        return u32(lanes[at, plan[COLUMN]]) if lanes[at, plan[COLUMN] + 1] != 0 else u32(NAN)
    if plan[SEED_FROM] == MEMORY:
        word = np.empty(1, np.uint32)
        take(source, plan[Y : Y + BLOCK], channel, 0, 0, word)
        return u32(word[0])
    return u32(plan[SEED])


@lane
def run(memory: Any, source: Any, lanes: Any, formats: Any, rows: Any, status: Any) -> None:
    """Execute plan rows in order."""
    for r in range(rows.shape[0]):
        plan = rows[r]
        if plan[IN_PLACE] != 0:
            compute_where_it_lies(memory, source, lanes, formats, plan)
            continue
        band, n, piece, slices = plan[BAND], plan[ELEMENTS], plan[PIECE], plan[SLICES]
        x, y, target, pointer = (
            plan[X : X + BLOCK],
            plan[Y : Y + BLOCK],
            plan[OUT : OUT + BLOCK],
            plan[SCALAR0 : SCALAR0 + BLOCK],
        )
        words, stored = source.view(np.uint32), memory.view(np.uint32)
        scratch = np.empty((9, piece), np.uint32)
        spare = scratch[8]
        tile = np.empty((64 if plan[TRANSPOSED] != 0 else 0, piece), np.uint32)
        group = 32 if plan[TRANSPOSED] != 0 else 1
        fill(scratch[3], 0)  # scalars are no wider than 32 bits
        fill(scratch[5], 0)
        state = u32(0)
        for quadrant in range(0, plan[CHANNELS], group):
            if plan[FOLD] >= 0:
                state = seed(source, lanes, plan, quadrant)
                if plan[CONTINUES] != 0 and lanes[plan[LANE] + quadrant, plan[COLUMN] + 1] == 0:
                    status[r] |= UNDEFINED_READ
            for w in range(slices):
                last = (w + 1) * n // slices
                for start in range(w * n // slices, last, piece):
                    m = min(piece, last - start)
                    if plan[TRANSPOSED] != 0:
                        load_tile(source, x, quadrant, start, tile, m)
                    for c in range(quadrant, quadrant + group):
                        a, s0, b = scratch[0:2], scratch[2:4], scratch[4:6]
                        if start == w * n // slices or group > 1:
                            if plan[FROM0] >= INLINE:
                                fill(s0[0], scalar(source, lanes, formats, plan, FROM0, pointer, c, w))
                            if plan[FROM1] == INLINE or plan[FROM1] == MEMORY:
                                fill(b[0], scalar(source, lanes, formats, plan, FROM1, y, c, w))
                        left, right, out = a[0, :m], b[0, :m], scratch[6, :m]
                        if band != HUB:
                            if plan[TRANSPOSED] != 0:
                                transposed(tile, c - quadrant, 0, a[0, :m])
                                transposed(tile, c - quadrant, 1, a[1, :m])
                            else:
                                take(source, x, c, start, 0, a[0, :m])
                                take(source, x, c, start, 1, a[1, :m])
                            if plan[FROM1] == TENSOR:
                                take(source, y, c, start, 0, b[0, :m])
                                take(source, y, c, start, 1, b[1, :m])
                            compute_words(plan, a, s0, b, m)
                            put(memory, target, c, start, 0, a[0, :m])
                            put(memory, target, c, start, 1, a[1, :m])
                            continue
                        if plan[TRANSPOSED] != 0:
                            transposed(tile, c - quadrant, 0, out)
                            widen_row(out, formats[x[CODE]], left)
                        elif plan[DIRECT_X] != 0:
                            left = here(words, x, c, start, m)
                        else:
                            load_hub(source, formats, x, c, start, left, spare)
                        if plan[FROM1] == TENSOR and plan[DIRECT_Y] != 0:
                            right = here(words, y, c, start, m)
                        elif plan[FROM1] == TENSOR:
                            load_hub(source, formats, y, c, start, right, spare)
                        if plan[DIRECT_OUT] != 0:
                            out = here(stored, target, c, start, m)
                        compute_hub(plan, left, s0[0, :m], right, scratch[7, :m], out)
                        if plan[RUNNING] != 0:
                            state = run_hub(plan[FOLD], out, state, 0, plan[NAN_POLICY])
                        elif plan[FOLD] >= 0:
                            state = fold_hub(plan[FOLD], out, state, 0, plan[NAN_POLICY])
                        if plan[DIRECT_OUT] == 0:
                            store_hub(memory, formats, target, c, start, out, spare, c * n + start)
            if plan[FOLD] >= 0:
                at = plan[LANE] + quadrant
                lanes[at, plan[COLUMN]] = state
                if plan[CONTINUES] == 0:
                    lanes[at, plan[COLUMN] + 1] = u32(1)

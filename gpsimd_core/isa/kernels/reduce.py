"""Kernel of the folds: along the inner dimensions of each channel, running along them, and across partitions.

One run serves 0x42, 0x52, 0x83, 0x84 (fold), 0x4E, 0x5E (running) and 0x7C, 0x7D (across partitions). The value that
is folded is the fp32 one, or the raw word; it is converted once, where the result is stored.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpsimd_core.isa.alu import OPERATORS
from gpsimd_core.isa.enums import AluOp, ReduceAxis, ReduceOp, TensorSubdim
from gpsimd_core.isa.kernels.combine import (
    BITS,
    HUB,
    INTEGER,
    apply,
    band_of,
    extended,
    extends,
    fold_hub,
    fold_words,
    run_hub,
    words_row,
)
from gpsimd_core.isa.kernels.combine import word_at as word_of
from gpsimd_core.isa.kernels.hub import canonical_row, load_hub, load_tile, store_hub, transposed
from gpsimd_core.isa.kernels.pattern import BLOCK, CODE, block
from gpsimd_core.isa.kernels.walk import here, piece, put, streams, take
from gpsimd_core.isa.lane import bind, lane
from gpsimd_core.isa.lanes.alu import NAN_POLICIES, SUPPRESS, add, alu_fp32_row, canonical, maximum, multiply
from gpsimd_core.isa.lanes.alu_integer import argument_wins
from gpsimd_core.isa.lanes.convert import widen_row
from gpsimd_core.isa.lanes.hub import widen_integer
from gpsimd_core.isa.lanes.words import i64, u32, u64

__all__ = [
    "blocks_missing",
    "cross_lane_row",
    "cumulative_bitvec_row",
    "cumulative_row",
    "reduce_bitvec_row",
    "reduce_row",
    "run",
    "transpose_reduce_bitvec_row",
    "transpose_reduce_row",
    "width_missing",
]

(
    KIND, BAND, OP, NAN_POLICY, CHANNELS, ELEMENTS, INNER, PIECE, WIDTH, RAW, SIGNED, KEPT, STORE, NEGATED, SCALED, SCALE,
    TRANSPOSED, DIRECT,
) = range(18)  # fmt: skip
SRC, DST = 18, 18 + BLOCK

FOLD, RUNNING, ARGUMENT, PARTITIONS, WHOLE = range(5)
NARROWED, AS_THEY_ARE, SATURATED = range(3)
PARTITION_PIECE = 4096
"""Elements of a partition fold that stay in the nearest cache."""
FP32 = 10
FORMAT_KIND, FORMAT_BITS, FORMAT_SIGNED = 0, 1, 3
INTEGERS = 2


@lane
def load_words(source: Any, plan: Any, channel: int, start: int, words: Any, n: int) -> None:
    """Read `n` elements of a channel as words, (2, ...); those narrower than the fold are extended to 32 bits."""
    block = plan[SRC : SRC + BLOCK]
    take(source, block, channel, start, 0, words[0, :n])
    take(source, block, channel, start, 1, words[1, :n])
    if plan[RAW] < plan[WIDTH]:
        for i in range(n):
            words[0, i] = u32(extended(u64(words[0, i]), plan[RAW], plan[SIGNED]))


@lane
def load_fresh(source: Any, formats: Any, plan: Any, channel: int, start: int, out: Any, spare: Any) -> None:
    """Read elements as fp32 bits, multiplied by the scale where there is one."""
    load_hub(source, formats, plan[SRC : SRC + BLOCK], channel, start, out, spare)
    if plan[SCALED] != 0:
        scale = u32(plan[SCALE])
        for i in range(out.size):
            out[i] = multiply(u32(out[i]), scale)


@lane
def store(memory: Any, formats: Any, plan: Any, channel: int, start: int, words: Any, n: int, index: int) -> None:
    """Write `n` results to a channel of the destination, as `plan[STORE]` says; `words` is spent."""
    low, block = words[0, :n], plan[DST : DST + BLOCK]
    fmt = formats[block[CODE]]
    if plan[STORE] == SATURATED:
        for i in range(n):
            value = i64(extended(u64(low[i]), plan[KEPT], plan[SIGNED]))
            if fmt[FORMAT_KIND] == INTEGERS:
                top = i64(i64(1) << i64(fmt[FORMAT_BITS] - fmt[FORMAT_SIGNED]))
                value = min(max(value, i64(-top) if fmt[FORMAT_SIGNED] else i64(0)), i64(top - i64(1)))
                low[i] = u32(value)
            else:
                low[i] = widen_integer(u32(value), 32, plan[SIGNED])
    if plan[STORE] == NARROWED or (plan[STORE] == SATURATED and fmt[FORMAT_KIND] != INTEGERS):
        store_hub(memory, formats, block, channel, start, low, words[1], index)
    else:
        put(memory, block, channel, start, 0, low)
        put(memory, block, channel, start, 1, words[1, :n])


@lane
def fold_inner(memory: Any, source: Any, formats: Any, plan: Any) -> None:
    """Fold, or run along, the inner dimensions of every channel."""
    n, inner, piece, op, band = plan[ELEMENTS], plan[INNER], plan[PIECE], plan[OP], plan[BAND]
    width, signed, policy, kind = plan[WIDTH], plan[SIGNED], plan[NAN_POLICY], plan[KIND]
    flips = 1 if kind == RUNNING else 0
    group = 32 if plan[TRANSPOSED] != 0 else 1
    tile = np.empty((64 if plan[TRANSPOSED] != 0 else 0, piece), np.uint32)
    words, out = np.empty((2, piece), np.uint32), np.empty((2, piece), np.uint32)
    for quadrant in range(0, plan[CHANNELS], group):
        if plan[TRANSPOSED] != 0:
            load_tile(source, plan[SRC : SRC + BLOCK], quadrant, 0, tile, n)
        for c in range(quadrant, quadrant + group):
            bits, value, position, written = u32(0), u64(0), 0, 0
            best = u64(0)
            for start in range(0, n, piece):
                m = min(piece, n - start)
                if plan[TRANSPOSED] != 0:
                    transposed(tile, c - quadrant, 0, words[0, :m])
                    transposed(tile, c - quadrant, 1, words[1, :m])
                else:
                    load_words(source, plan, c, start, words, m)
                if band == HUB and plan[SRC + CODE] != FP32:
                    out[0, :m] = words[0, :m]
                    widen_row(out[0, :m], formats[plan[SRC + CODE]], words[0, :m])
                count, i = 0, 0
                while i < m:
                    span = min(inner - position, m - i)
                    first = i
                    if position == 0:
                        bits, value, best = u32(words[0, i]), word_of(words[0], words[1], i, width, signed), u64(0)
                        first = i + 1
                    if kind == ARGUMENT:
                        for k in range(first, i + span):
                            new = word_of(words[0], words[1], k, width, signed)
                            if argument_wins(op, new, value, 64):
                                value, best = new, u64(position + k - i)
                    elif band == HUB and kind == RUNNING:
                        bits = run_hub(op, words[0, first : i + span], bits, flips, policy)
                    elif band == HUB:
                        bits = fold_hub(op, words[0, first : i + span], bits, flips, policy)
                    elif kind == RUNNING:
                        for k in range(first, i + span):
                            value = apply(band, op, value, word_of(words[0], words[1], k, width, signed), width, signed)
                            value = extended(value, width, signed)
                            words[0, k] = u32(value)
                    else:
                        value = fold_words(band, op, words, first, i + span, value, flips, width, signed)
                    position += span
                    i += span
                    if position == inner:
                        position = 0
                        if kind == ARGUMENT:
                            value = best
                        if kind != RUNNING:
                            out[0, count] = u32(value) if band != HUB else finished(bits, plan[NEGATED])
                            out[1, count] = u32(value >> u64(32))
                            count += 1
                if kind == RUNNING:
                    if band == HUB:
                        canonical_row(words[0, :m], words[0, :m])
                    store(memory, formats, plan, c, start, words, m, c * n + start)
                else:
                    store(memory, formats, plan, c, written, out, count, c * (n // inner) + written)
                written += count


@lane
def finished(bits: int, negated: int) -> int:
    """The result of a fold: canonical, its sign flipped where negated; a NaN keeps its one code."""
    found = canonical(bits)
    if negated != 0 and u32(found) != u32(0x7FC00000):
        return u32(found ^ u32(0x80000000))
    return u32(found)


value = add


@lane
def four_rows(a: Any, b: Any, c: Any, d: Any, old: Any, new: Any) -> None:
    """Fold four rows into a state with an operator that `bind` sets, one after the other."""
    for i in range(new.size):
        new[i] = value(u32(d[i]), value(u32(c[i]), value(u32(b[i]), value(u32(a[i]), u32(old[i])))))


@lane
def larger(a: int, b: int) -> int:
    """The larger of two numbers, NaN suppressed."""
    return maximum(a, b, SUPPRESS)


add_four, largest_of_four = four_rows, bind(four_rows, value=larger)


@lane
def fold_rows(source: Any, plan: Any, start: int, m: int, states: Any) -> None:
    """Fold a piece of every channel where it lies; the state starts in row 0 of `states`, (2, ...), and ends there.

    It goes from one row to the other and back: a loop that writes where it reads keeps no vector width.
    """
    op, policy = plan[OP], plan[NAN_POLICY]
    view, block = source.view(np.uint32), plan[SRC : SRC + BLOCK]
    now = 0
    c = 1
    while c < plan[CHANNELS]:
        row, old, new = here(view, block, c, start, m), states[now, :m], states[1 - now, :m]
        step = 1
        if c + 3 < plan[CHANNELS] and (op == AluOp.ADD or (op == AluOp.MAX and policy == SUPPRESS)):
            step = 4
            b, c2, d = (
                here(view, block, c + 1, start, m), here(view, block, c + 2, start, m), here(view, block, c + 3, start, m)
            )  # fmt: skip
            if op == AluOp.ADD:
                add_four(row, b, c2, d, old, new)
            else:
                largest_of_four(row, b, c2, d, old, new)
        else:
            alu_fp32_row(op, row, old, new, policy)
        c += step
        now = 1 - now
    canonical_row(states[now, :m], states[0, :m])


@lane
def fold_partitions(memory: Any, source: Any, formats: Any, plan: Any) -> None:
    """Fold element k of all channels into element k of the destination, ascending partition."""
    n, piece, op, band, policy = plan[ELEMENTS], plan[PIECE], plan[OP], plan[BAND], plan[NAN_POLICY]
    states, words = np.empty((2, piece), np.uint32), np.empty((2, piece), np.uint32)
    for start in range(0, n, piece):
        m = min(piece, n - start)
        if band != HUB:
            load_words(source, plan, 0, start, states, m)
            for c in range(1, plan[CHANNELS]):
                load_words(source, plan, c, start, words, m)
                words_row(band, op, words, states, states, plan[WIDTH], plan[SIGNED], m)
        else:
            load_fresh(source, formats, plan, 0, start, states[0, :m], words[0])
            if plan[DIRECT] != 0:
                fold_rows(source, plan, start, m, states)
            else:
                for c in range(1, plan[CHANNELS]):
                    load_fresh(source, formats, plan, c, start, words[0, :m], words[1])
                    alu_fp32_row(op, words[0, :m], states[0, :m], states[1, :m], policy)
                    states[0, :m] = states[1, :m]
                canonical_row(states[0, :m], states[0, :m])
        store(memory, formats, plan, 0, start, states, m, start)


@lane
def fold_whole(memory: Any, source: Any, formats: Any, plan: Any) -> None:
    """Fold every element of every channel into one: channel by channel, each in stream order."""
    n, piece, op, band = plan[ELEMENTS], plan[PIECE], plan[OP], plan[BAND]
    words = np.empty((2, piece), np.uint32)
    bits, value = u32(0), u64(0)
    for c in range(plan[CHANNELS]):
        for start in range(0, n, piece):
            m = min(piece, n - start)
            first = 1 if c == 0 and start == 0 else 0
            if band == HUB:
                load_fresh(source, formats, plan, c, start, words[0, :m], words[1])
                bits = u32(words[0, 0]) if first else bits
                bits = fold_hub(op, words[0, first:m], bits, 0, plan[NAN_POLICY])
            else:
                load_words(source, plan, c, start, words, m)
                value = word_of(words[0], words[1], 0, plan[WIDTH], plan[SIGNED]) if first else value
                value = fold_words(band, op, words, first, m, value, 0, plan[WIDTH], plan[SIGNED])
    words[0, 0] = canonical(bits) if band == HUB else u32(value)
    store(memory, formats, plan, 0, 0, words, 1, 0)


@lane
def run(memory: Any, source: Any, lanes: Any, formats: Any, rows: Any, status: Any) -> None:
    """Execute plan rows in order."""
    for r in range(rows.shape[0]):
        plan = rows[r]
        if plan[KIND] == PARTITIONS:
            fold_partitions(memory, source, formats, plan)
        elif plan[KIND] == WHOLE:
            fold_whole(memory, source, formats, plan)
        else:
            fold_inner(memory, source, formats, plan)


# Plan rows ----------------------------------------------------------------------------------------------------------

_INNER_DIMS = {TensorSubdim.X: 1, TensorSubdim.XY: 2, TensorSubdim.XYZ: 3, TensorSubdim.XYZW: 4}
_CROSS = {
    ReduceOp.ADD: AluOp.ADD,
    ReduceOp.AVERAGE: AluOp.ADD,
    ReduceOp.MAX: AluOp.MAX,
    ReduceOp.BITWISE_OR: AluOp.BITWISE_OR,
    ReduceOp.BITWISE_AND: AluOp.BITWISE_AND,
    ReduceOp.BITWISE_XOR: AluOp.BITWISE_XOR,
}


def _along(step: Any, kind: int, bitvec: bool, *, transposes: bool = False) -> tuple[int, ...]:
    src, dst = step.operands["data"], step.operands["out"]
    op = step.number("op")
    fmt = step.formats[src.code]
    band = BITS if bitvec else band_of(op)
    argument = band == INTEGER and OPERATORS[AluOp(op)].kind == "argument"
    dims = _INNER_DIMS[TensorSubdim(step.number("op_dim"))]
    return (
        ARGUMENT if argument else kind, band, op, NAN_POLICIES[step.policies["reduce_nan"]], step.channels, src.elements,
        math.prod(src.num[:dims]), src.elements if transposes else piece(step, src.elements), 8 * src.size, 8 * src.size,
        band == INTEGER and extends(fmt, op), 0, NARROWED if band == HUB else AS_THEY_ARE, step.number("negated"), 0, 0,
        transposes, 0, *block(src), *block(dst),
    )  # fmt: skip


def width_missing(step: Any) -> str | None:
    """The integer band folds at the width of its elements; the rules admit another width for the result."""
    src, dst, op = step.operands["data"], step.operands["out"], AluOp(step.number("op"))
    if OPERATORS[op].kind != "int" or src.size == dst.size:
        return None
    return f"no source says at which width a fold of {8 * src.size}-bit integers into {8 * dst.size}-bit ones wraps"


def blocks_missing(step: Any) -> str | None:
    """0x83 and 0x84 transpose whole blocks of 32 elements."""
    n = step.operands["data"].elements
    return None if n % 32 == 0 else f"no source says what becomes of {n} elements, which are no whole blocks of 32"


def reduce_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x42, 0x8C, 0x8D."""
    return _along(step, FOLD, False)


def reduce_bitvec_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x52."""
    return _along(step, FOLD, True)


def transpose_reduce_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x83."""
    return _along(step, FOLD, False, transposes=True)


def transpose_reduce_bitvec_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x84."""
    return _along(step, FOLD, True, transposes=True)


def cumulative_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x4E."""
    return _along(step, RUNNING, False)


def cumulative_bitvec_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x5E."""
    return _along(step, RUNNING, True)


def cross_lane_row(step: Any) -> tuple[int, ...]:
    """The plan row of 0x7C and 0x7D."""
    src, dst = step.operands["data"], step.operands["out"]
    reduce_op = ReduceOp(step.number("reduce_op"))
    op, fmt = _CROSS[reduce_op], step.formats[src.code]
    kind = WHOLE if step.number("reduce_axis") == ReduceAxis.ALL else PARTITIONS
    bitwise = reduce_op >= ReduceOp.BITWISE_OR
    widens = (
        not bitwise
        and fmt.is_integer
        and reduce_op != ReduceOp.AVERAGE
        and step.policies["cross_lane_int"] == "widening"
    )
    band = BITS if bitwise else HUB
    width = kept = 8 * src.size
    if widens:
        band, width = INTEGER, 32
        kept = fmt.bits if op == AluOp.MAX else min(2 * fmt.bits, 32)
        op = AluOp.ADD_INT if op == AluOp.ADD else AluOp.MAX_INT if fmt.signed else AluOp.MAX_UINT
    return (
        kind, band, op, NAN_POLICIES[step.policies["reduce_nan"]], step.channels, src.elements, src.elements,
        min(src.elements, PARTITION_PIECE), width, 8 * src.size, widens and fmt.signed, kept,
        SATURATED if widens else AS_THEY_ARE if bitwise else NARROWED, 0, reduce_op == ReduceOp.AVERAGE,
        step.number("scale"), 0, streams(src) and reduce_op != ReduceOp.AVERAGE, *block(src), *block(dst),
    )  # fmt: skip

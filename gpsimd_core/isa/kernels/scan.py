"""Kernel of the carried recurrence 0xE5: state = op1(op0(x, state), y) along each channel, the state in fp32.

Eight channels go side by side, because one alone waits for each of its own results. The recurrence y = a y + b has a
loop of its own; a NaN state stays one until it is stored, so its code is set afterwards, off the chain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import AluOp, ImmSrc, TensScalarRevOps
from gpsimd_core.isa.kernels.hub import canonical_row, load_hub, store_hub
from gpsimd_core.isa.kernels.pattern import BLOCK, CODE, PITCH, block
from gpsimd_core.isa.kernels.walk import here, piece, streams, take
from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.alu import NAN_POLICIES, alu_fp32
from gpsimd_core.isa.lanes.convert import widen
from gpsimd_core.isa.lanes.words import bits32, f32, u32

__all__ = ["row", "run"]

CHANNELS, ELEMENTS, PIECE, OP0, SWAP0, OP1, SWAP1, NAN_POLICY, INLINE, BITS, DIRECT, DIRECT_OUT = range(12)
START, X, Y, OUT = 12, 12 + BLOCK, 12 + 2 * BLOCK, 12 + 3 * BLOCK

SIDE = 8
"""Channels that go side by side."""
SCAN_PIECE = 2048
FP32 = 10


def row(step: Any) -> tuple[int, ...]:
    """The plan row of a scan."""
    x, y, out = (step.operands[n] for n in ("data0", "data1", "out"))
    reverse, imm = step.number("reverse_operands"), step.immediates["imm0"]
    both = reverse == TensScalarRevOps.BOTH
    inline = imm.source == ImmSrc.INSTRUCTION_IMMEDIATE
    apart = not any(p.overlaps(out) for p in (x, y))
    return (
        step.channels, x.elements, piece(step, x.elements, SCAN_PIECE),
        step.number("op0"), both or reverse == TensScalarRevOps.FIRST,
        step.number("op1"), both or reverse == TensScalarRevOps.SECOND,
        NAN_POLICIES[step.policies["reduce_nan"]], inline, imm.bits, streams(x) and streams(y), apart and streams(out),
        *((0,) * BLOCK if inline else block(imm.placed)), *block(x), *block(y), *block(out),
    )  # fmt: skip


@lane
def multiply_add(x: Any, y: Any, xs: Any, ys: Any, out: Any, zs: Any, n: int, states: Any) -> None:
    """Eight recurrences state = x state + y side by side, product and sum rounded apart.

    Args:
        x, y, out: uint32 words.
        xs, ys, zs: int64, (8,): where each recurrence starts in them.
        n: elements.
        states: uint32, (8,): fp32 bits, replaced by the last states.
    """
    x0, x1, x2, x3 = x[xs[0] : xs[0] + n], x[xs[1] : xs[1] + n], x[xs[2] : xs[2] + n], x[xs[3] : xs[3] + n]
    x4, x5, x6, x7 = x[xs[4] : xs[4] + n], x[xs[5] : xs[5] + n], x[xs[6] : xs[6] + n], x[xs[7] : xs[7] + n]
    y0, y1, y2, y3 = y[ys[0] : ys[0] + n], y[ys[1] : ys[1] + n], y[ys[2] : ys[2] + n], y[ys[3] : ys[3] + n]
    y4, y5, y6, y7 = y[ys[4] : ys[4] + n], y[ys[5] : ys[5] + n], y[ys[6] : ys[6] + n], y[ys[7] : ys[7] + n]
    z0, z1, z2, z3 = out[zs[0] : zs[0] + n], out[zs[1] : zs[1] + n], out[zs[2] : zs[2] + n], out[zs[3] : zs[3] + n]
    z4, z5, z6, z7 = out[zs[4] : zs[4] + n], out[zs[5] : zs[5] + n], out[zs[6] : zs[6] + n], out[zs[7] : zs[7] + n]
    s0, s1, s2, s3 = u32(states[0]), u32(states[1]), u32(states[2]), u32(states[3])
    s4, s5, s6, s7 = u32(states[4]), u32(states[5]), u32(states[6]), u32(states[7])
    for i in range(n):
        s0, s1 = advanced(s0, x0[i], y0[i]), advanced(s1, x1[i], y1[i])
        s2, s3 = advanced(s2, x2[i], y2[i]), advanced(s3, x3[i], y3[i])
        s4, s5 = advanced(s4, x4[i], y4[i]), advanced(s5, x5[i], y5[i])
        s6, s7 = advanced(s6, x6[i], y6[i]), advanced(s7, x7[i], y7[i])
        z0[i], z1[i], z2[i], z3[i] = s0, s1, s2, s3
        z4[i], z5[i], z6[i], z7[i] = s4, s5, s6, s7
    states[0], states[1], states[2], states[3] = s0, s1, s2, s3
    states[4], states[5], states[6], states[7] = s4, s5, s6, s7


@lane
def advanced(state: int, x: int, y: int) -> int:
    """x state + y in fp32 bits, rounded twice; a NaN keeps whatever code it has."""
    return bits32(f32(bits32(f32(u32(x)) * f32(u32(state)))) + f32(u32(y)))


@lane
def recurrence(
    plan: Any, x: Any, y: Any, first_x: int, first_y: int, out: Any, first_out: int, n: int, state: int
) -> int:
    """One recurrence with any two operators; gives the last state."""
    op0, swap0, op1, swap1, policy = plan[OP0], plan[SWAP0], plan[OP1], plan[SWAP1], plan[NAN_POLICY]
    for i in range(n):
        a, b = u32(x[first_x + i]), u32(state)
        t = u32(alu_fp32(op0, b, a, policy) if swap0 != 0 else alu_fp32(op0, a, b, policy))
        b = u32(y[first_y + i])
        state = u32(alu_fp32(op1, b, t, policy) if swap1 != 0 else alu_fp32(op1, t, b, policy))
        out[first_out + i] = state
    return u32(state)


@lane
def initial(source: Any, formats: Any, plan: Any, channel: int) -> int:
    """The state that a channel starts from, as fp32 bits."""
    if plan[INLINE] != 0:
        return u32(plan[BITS])
    pointer = plan[START : START + BLOCK]
    word = np.empty(1, np.uint32)
    take(source, pointer, channel, 0, 0, word)
    return u32(widen(u32(word[0]), formats[pointer[CODE]]))


@lane
def run(memory: Any, source: Any, lanes: Any, formats: Any, rows: Any, status: Any) -> None:
    """Execute plan rows in order."""
    for r in range(rows.shape[0]):
        plan = rows[r]
        n, span = plan[ELEMENTS], plan[PIECE]
        x, y, target = plan[X : X + BLOCK], plan[Y : Y + BLOCK], plan[OUT : OUT + BLOCK]
        direct = plan[DIRECT] != 0
        fast = plan[OP0] == AluOp.MULT and plan[OP1] == AluOp.ADD
        words, stored = source.view(np.uint32), memory.view(np.uint32)
        loaded, results = np.empty(0 if direct else 2 * SIDE * span, np.uint32), np.empty(SIDE * span, np.uint32)
        spare = np.empty(span, np.uint32)
        states, spots = np.empty(SIDE, np.uint32), np.empty((3, SIDE), np.int64)
        for first in range(0, plan[CHANNELS], SIDE):
            count = min(SIDE, plan[CHANNELS] - first)
            for k in range(count):
                states[k] = initial(source, formats, plan, first + k)
            for start in range(0, n, span):
                m = min(span, n - start)
                for k in range(SIDE):
                    c = first + min(k, count - 1)
                    spots[0, k], spots[1, k], spots[2, k] = 2 * k * span, (2 * k + 1) * span, k * span
                    if direct:
                        spots[0, k] = (x[0] + c * x[PITCH]) // 4 + start
                        spots[1, k] = (y[0] + c * y[PITCH]) // 4 + start
                    elif k < count:
                        load_hub(source, formats, x, c, start, loaded[spots[0, k] : spots[0, k] + m], spare)
                        load_hub(source, formats, y, c, start, loaded[spots[1, k] : spots[1, k] + m], spare)
                given = words if direct else loaded
                if fast and count == SIDE:
                    multiply_add(given, given, spots[0], spots[1], results, spots[2], m, states)
                else:
                    for k in range(count):
                        states[k] = recurrence(
                            plan, given, given, spots[0, k], spots[1, k], results, spots[2, k], m, u32(states[k])
                        )
                for k in range(count):
                    row_of = results[k * span : k * span + m]
                    if plan[DIRECT_OUT] != 0:
                        canonical_row(row_of, here(stored, target, first + k, start, m))
                    else:
                        canonical_row(row_of, row_of)
                        store_hub(memory, formats, target, first + k, start, row_of, spare, (first + k) * n + start)

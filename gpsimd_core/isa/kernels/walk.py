"""Walk part of an operand's stream: the elements from a position on, into a row of words and back.

Kernels go through long channels piece by piece, so that a piece stays in the nearest cache. Words are uint32, one an
element of at most 4 bytes; an element of 8 bytes has a low and a high one, read and written apart. Blocks are those of
`pattern.py`, cut out of a plan row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.kernels.pattern import DIMS, PITCH, SIZE, flat
from gpsimd_core.isa.lane import inlined, lane
from gpsimd_core.isa.lanes.words import u8, u16, u32

__all__ = ["CHUNK", "distinct", "here", "piece", "put", "streams", "take"]

CHUNK = 1024
"""Elements that a kernel handles at a time."""
FP32 = 10


def distinct(placed: Any) -> bool:
    """Whether no two elements of a channel share a place, judged by nesting of the dimensions."""
    reach = 1
    for n, s in sorted(zip(placed.num, placed.step, strict=True), key=lambda d: abs(d[1])):
        if n > 1:
            if abs(s) < reach:
                return False
            reach += (n - 1) * abs(s)
    return True


def piece(step: Any, length: int, most: int = CHUNK) -> int:
    """How many elements a kernel may handle at a time.

    All of them where a destination that is written more than once lies over a source: everything is read before
    anything is written.
    """
    targets = [step.operands[o.name] for o in step.instruction.writes]
    sources = [step.operands[o.name] for o in step.instruction.reads]
    again = [t for t in targets if not distinct(t)]
    if any(s.overlaps(t) for s in sources for t in again):
        return max(length, 1)
    return max(min(length, most), 1)


def streams(placed: Any) -> bool:
    """Whether a channel is a run of fp32 words that a kernel can read or write where it lies."""
    return placed.code == FP32 and flat(placed)


@inlined
def here(words: Any, block: Any, channel: int, start: int, count: int) -> Any:
    """A view of `count` elements of a channel that is one run of 32-bit words; `words` is storage as uint32."""
    first = (block[0] + channel * block[PITCH]) // 4 + start
    return words[first : first + count]


@lane
def take(source: Any, block: Any, channel: int, start: int, half: int, out: Any) -> None:
    """Read elements of a channel.

    Args:
        source: storage, uint8.
        block: the operand's block.
        channel: counted from the operand's first partition.
        start: stream position of the first element wanted.
        half: of 8-byte elements, 0 for the low words, 1 for the high ones; narrower elements have no high words, and
            give zeros.
        out: uint32, receives as many words as it holds.
    """
    size = block[SIZE]
    n0, s0, n1, s1 = block[DIMS], block[DIMS + 1] * size, block[DIMS + 2], block[DIMS + 3] * size
    n2, s2, s3 = block[DIMS + 4], block[DIMS + 5] * size, block[DIMS + 7] * size
    halves, words = source.view(np.uint16), source.view(np.uint32)
    first = block[0] + channel * block[PITCH] + 4 * half
    i0, rest = start % n0, start // n0
    i1, rest = rest % n1, rest // n1
    i2, i3 = rest % n2, rest // n2
    k = 0
    while k < out.size:
        at = first + i3 * s3 + i2 * s2 + i1 * s1 + i0 * s0
        span = min(n0 - i0, out.size - k)
        part = out[k : k + span]
        if half > 0 and size < 8:
            for i in range(span):
                part[i] = u32(0)
        elif size == 1 and s0 == 1:
            bytes_run = source[at : at + span]
            for i in range(span):
                part[i] = bytes_run[i]
        elif size == 1:
            for i in range(span):
                part[i] = source[at + i * s0]
        elif size == 2 and s0 == 2:
            halves_run = halves[at >> 1 : (at >> 1) + span]
            for i in range(span):
                part[i] = halves_run[i]
        elif size == 2:
            for i in range(span):
                part[i] = halves[(at + i * s0) >> 1]
        elif s0 == 4:
            run = words[at >> 2 : (at >> 2) + span]
            for i in range(span):
                part[i] = run[i]
        else:
            for i in range(span):
                part[i] = words[(at + i * s0) >> 2]
        k += span
        i0, i1 = 0, i1 + 1
        if i1 == n1:
            i1, i2 = 0, i2 + 1
            if i2 == n2:
                i2, i3 = 0, i3 + 1


@lane
def put(memory: Any, block: Any, channel: int, start: int, half: int, codes: Any) -> None:
    """Write elements of a channel, in stream order; arguments as for `take`. The high words of narrow ones are dropped."""
    size = block[SIZE]
    n0, s0, n1, s1 = block[DIMS], block[DIMS + 1] * size, block[DIMS + 2], block[DIMS + 3] * size
    n2, s2, s3 = block[DIMS + 4], block[DIMS + 5] * size, block[DIMS + 7] * size
    halves, words = memory.view(np.uint16), memory.view(np.uint32)
    first = block[0] + channel * block[PITCH] + 4 * half
    i0, rest = start % n0, start // n0
    i1, rest = rest % n1, rest // n1
    i2, i3 = rest % n2, rest // n2
    k = codes.size if half > 0 and size < 8 else 0
    while k < codes.size:
        at = first + i3 * s3 + i2 * s2 + i1 * s1 + i0 * s0
        span = min(n0 - i0, codes.size - k)
        part = codes[k : k + span]
        if size == 1 and s0 == 1:
            bytes_run = memory[at : at + span]
            for i in range(span):
                bytes_run[i] = u8(part[i])
        elif size == 1:
            for i in range(span):
                memory[at + i * s0] = u8(part[i])
        elif size == 2 and s0 == 2:
            halves_run = halves[at >> 1 : (at >> 1) + span]
            for i in range(span):
                halves_run[i] = u16(part[i])
        elif size == 2:
            for i in range(span):
                halves[(at + i * s0) >> 1] = u16(part[i])
        elif s0 == 4:
            run = words[at >> 2 : (at >> 2) + span]
            for i in range(span):
                run[i] = part[i]
        else:
            for i in range(span):
                words[(at + i * s0) >> 2] = part[i]
        k += span
        i0, i1 = 0, i1 + 1
        if i1 == n1:
            i1, i2 = 0, i2 + 1
            if i2 == n2:
                i2, i3 = 0, i3 + 1

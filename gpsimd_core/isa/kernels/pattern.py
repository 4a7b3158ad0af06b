"""Walk an operand's pattern: the block of integers that describes it in a plan row, gather and scatter.

A block is BLOCK integers: storage byte of the first element on the first channel, storage distance between channels,
element size, dtype code, then count and step of up to four dimensions, innermost first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.words import u8, u16, u32

__all__ = ["BLOCK", "block", "flat", "gather", "scatter", "scatter_masked", "word_at"]

BLOCK = 12
PITCH, SIZE, CODE, DIMS = 1, 2, 3, 4


def block(placed: Any) -> tuple[int, ...]:
    """The plan-row block of a placed operand (see `gpsimd_core.placement.Placed`)."""
    dims = [v for pair in zip(placed.num, placed.step, strict=True) for v in pair]
    return (placed.base, placed.pitch, placed.size, placed.code, *dims, *(1, 0) * (4 - len(placed.num)))


def flat(placed: Any) -> bool:
    """Whether the elements of a channel lie one after the other."""
    expected = 1
    for n, s in zip(placed.num, placed.step, strict=True):
        if n > 1 and s != expected:
            return False
        expected *= n
    return True


@lane
def word_at(memory: Any, at: int, size: int) -> int:
    """The element of 1, 2 or 4 bytes at a storage byte, as an unsigned word."""
    if size == 1:
        return u32(memory[at])
    if size == 2:
        return u32(memory[at]) | (u32(memory[at + 1]) << u32(8))
    low = u32(memory[at]) | (u32(memory[at + 1]) << u32(8))
    return u32(low | (u32(memory[at + 2]) << u32(16)) | (u32(memory[at + 3]) << u32(24)))


@lane
def copy_run(words: Any, out: Any) -> None:
    """Copy neighbours, widening them."""
    for i in range(out.size):
        out[i] = words[i]


@lane
def blend_run(codes: Any, keep: Any, out: Any) -> None:
    """Write neighbours where `keep` is 0, without a branch, so that a random mask costs nothing."""
    for i in range(out.size):
        mask = u32(u32(keep[i]) - u32(1))
        old = u32(out[i])
        out[i] = u32(old ^ u32(u32(old ^ u32(codes[i])) & mask))


@lane
def gather_words(words: Any, first: int, row: Any, at: int, out: Any) -> None:
    """Copy a channel's elements, in stream order, from a typed view of storage."""
    n0, s0, n1, s1 = row[at + 4], row[at + 5], row[at + 6], row[at + 7]
    n2, s2, n3, s3 = row[at + 8], row[at + 9], row[at + 10], row[at + 11]
    k = 0
    for i3 in range(n3):
        for i2 in range(n2):
            for i1 in range(n1):
                here = first + i3 * s3 + i2 * s2 + i1 * s1
                if s0 == 1:
                    copy_run(words[here : here + n0], out[k : k + n0])
                else:
                    for i0 in range(n0):
                        out[k + i0] = words[here + i0 * s0]
                k += n0


@lane
def gather(memory: Any, row: Any, at: int, channel: int, out: Any) -> None:
    """Read a channel's elements of at most 4 bytes.

    Args:
        memory: storage, uint8.
        row: plan row.
        at: where the operand's block starts in it.
        channel: counted from the operand's first partition.
        out: uint32, receives the codes in stream order.
    """
    here = row[at] + channel * row[at + PITCH]
    size = row[at + SIZE]
    if size == 1:
        gather_words(memory, here, row, at, out)
    elif size == 2:
        gather_words(memory.view(np.uint16), here // 2, row, at, out)
    else:
        gather_words(memory.view(np.uint32), here // 4, row, at, out)


@lane
def scatter_words(words: Any, first: int, row: Any, at: int, codes: Any, keep: Any) -> None:
    """Store a channel's elements, in stream order, where `keep` is zero; the other flags are 1."""
    n0, s0, n1, s1 = row[at + 4], row[at + 5], row[at + 6], row[at + 7]
    n2, s2, n3, s3 = row[at + 8], row[at + 9], row[at + 10], row[at + 11]
    k = 0
    for i3 in range(n3):
        for i2 in range(n2):
            for i1 in range(n1):
                here = first + i3 * s3 + i2 * s2 + i1 * s1
                if s0 == 1:
                    blend_run(codes[k : k + n0], keep[k : k + n0], words[here : here + n0])
                else:
                    for i0 in range(n0):
                        if keep[k + i0] == 0:
                            words[here + i0 * s0] = codes[k + i0]
                k += n0


@lane
def scatter_masked(memory: Any, row: Any, at: int, channel: int, codes: Any, keep: Any) -> None:
    """Write a channel's elements of at most 4 bytes, in stream order; those with `keep` 1 stay as they are.

    Args:
        memory: storage, uint8.
        row: plan row.
        at: where the operand's block starts in it.
        channel: counted from the operand's first partition.
        codes: uint32, one an element.
        keep: uint8, one an element, 0 or 1.
    """
    here = row[at] + channel * row[at + PITCH]
    size = row[at + SIZE]
    if size == 1:
        scatter_words(memory, here, row, at, codes.astype(np.uint8), keep)
    elif size == 2:
        scatter_words(memory.view(np.uint16), here // 2, row, at, codes.astype(np.uint16), keep)
    else:
        scatter_words(memory.view(np.uint32), here // 4, row, at, codes, keep)


@lane
def scatter(memory: Any, row: Any, at: int, channel: int, codes: Any) -> None:
    """Write a channel's elements of at most 4 bytes, in stream order; the last write to a place wins."""
    scatter_masked(memory, row, at, channel, codes, np.zeros(codes.size, np.uint8))


@lane
def store_word(memory: Any, at: int, size: int, code: int) -> None:
    """Write one element of 1, 2 or 4 bytes at a storage byte."""
    if size == 1:
        memory[at] = u8(code)
    elif size == 2:
        memory.view(np.uint16)[at // 2] = u16(code)
    else:
        memory.view(np.uint32)[at // 4] = u32(code)

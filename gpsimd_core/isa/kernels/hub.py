"""Operands in and out of the fp32 hub, a piece at a time; 32 x 32 transposes on the way in."""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.kernels.pattern import CODE
from gpsimd_core.isa.kernels.walk import put, take
from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.alu import canonical
from gpsimd_core.isa.lanes.convert import narrow_row, widen_row
from gpsimd_core.isa.lanes.words import u32

__all__ = ["canonical_row", "load_hub", "load_tile", "store_hub", "transposed"]

FP32 = 10


@lane
def load_hub(source: Any, formats: Any, block: Any, channel: int, start: int, out: Any, spare: Any) -> None:
    """Read elements of a channel as fp32 bits: as many as `out`, uint32, holds.

    fp32 elements keep their bits, NaN included: whoever computes canonicalises. `spare`, uint32 and at least as long,
    holds the codes meanwhile: a loop that writes where it reads keeps no vector width.
    """
    if block[CODE] == FP32:
        take(source, block, channel, start, 0, out)
    else:
        codes = spare[: out.size]
        take(source, block, channel, start, 0, codes)
        widen_row(codes, formats[block[CODE]], out)


@lane
def store_hub(
    memory: Any, formats: Any, block: Any, channel: int, start: int, bits: Any, spare: Any, index: int
) -> None:
    """Write fp32 bits to elements of a channel, converted once.

    Args:
        bits: uint32.
        spare: uint32, at least as long, for the codes.
        index: number of the first element in the instruction, for the stochastic mode.
    """
    if block[CODE] == FP32:
        put(memory, block, channel, start, 0, bits)
    else:
        codes = spare[: bits.size]
        narrow_row(bits, formats[block[CODE]], codes, index)
        put(memory, block, channel, start, 0, codes)


@lane
def canonical_row(bits: Any, out: Any) -> None:
    """fp32 bits as arithmetic results: NaN is 7fc00000."""
    for i in range(out.size):
        out[i] = canonical(u32(bits[i]))


@lane
def load_tile(source: Any, block: Any, quadrant: int, start: int, tile: Any, n: int) -> None:
    """Read a piece of each of the 32 channels of a quadrant.

    Args:
        quadrant: its first channel.
        start: stream position of the piece.
        tile: uint32, (64, at least n): low words of channel e in row 2e, high words in row 2e + 1.
        n: elements of the piece.
    """
    for e in range(32):
        take(source, block, quadrant + e, start, 0, tile[2 * e, :n])
        take(source, block, quadrant + e, start, 1, tile[2 * e + 1, :n])


@lane
def transposed(tile: Any, channel: int, half: int, out: Any) -> None:
    """What one channel of a quadrant has after each block of 32 x 32 elements is transposed.

    Args:
        tile: from `load_tile`.
        channel: 0 to 31.
        half: 0 for low words, 1 for high ones.
        out: uint32, receives a multiple of 32 words.
    """
    for t in range(out.size // 32):
        for e in range(32):
            out[32 * t + e] = u32(tile[2 * e + half, 32 * t + channel])

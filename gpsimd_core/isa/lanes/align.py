"""Windows into a register: the load funnel, and the 32-bit window at a byte offset."""

from __future__ import annotations

from collections.abc import Sequence

from gpsimd_core.isa.lane import lane

__all__ = ["funnel_halfword", "funnel_quad", "window"]


@lane
def funnel_quad(index: int, words: Sequence[int], amount: int) -> int:
    """Word `index` of the 128-bit window: it starts at word amount / 4, rounded down to a multiple of four."""
    return words[((amount >> 2) & 12) + index]


@lane
def funnel_halfword(halfwords: Sequence[int], amount: int) -> int:
    """The halfword at byte offset `amount`, rounded down to an even one."""
    return halfwords[(amount & 63) >> 1]


@lane
def window(words: Sequence[int], byte: int) -> int:
    """32 bits at a byte offset; what lies beyond the register is zero."""
    if byte >= 4 * len(words):
        return 0
    place, shift = byte >> 2, 8 * (byte & 3)
    above = words[place + 1] if place + 1 < len(words) else 0
    return (words[place] >> shift) | ((above << (32 - shift)) & 0xFFFFFFFF)

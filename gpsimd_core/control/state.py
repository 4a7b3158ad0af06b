"""The lanes that reach registers: the window onto the physical address registers, and booleans."""

from __future__ import annotations

from gpsimd_core.control.layout import AR, AR_MASK, BR, FRAME_SHIFT, WB, WINDOW_MASK, Words
from gpsimd_core.isa.lane import lane


@lane
def window_base(m: Words) -> int:
    """Physical number of a0: 8 registers a step on q7, 4 on classic."""
    return (m[WB] & m[WINDOW_MASK]) << m[FRAME_SHIFT]


@lane
def physical(m: Words, register: int) -> int:
    """Position in the state of a register of the window; numbers above 15 reach into the frames beyond."""
    return AR + ((window_base(m) + register) & m[AR_MASK])


@lane
def boolean(m: Words, index: int) -> int:
    """One boolean register, 0 or 1."""
    return (m[BR] >> index) & 1

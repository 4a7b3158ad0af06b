"""Register windows of classic: steps of four registers, WINDOWSTART, handlers in memory. QEMU is the judge."""

from __future__ import annotations

from gpsimd_core.control.exceptions import (
    ALLOCA,
    EXCM,
    ILLEGAL_INSTRUCTION,
    OVERFLOW4,
    OVERFLOW8,
    OVERFLOW12,
    UNDERFLOW4,
    UNDERFLOW8,
    UNDERFLOW12,
)
from gpsimd_core.control.groups.flow import go
from gpsimd_core.control.groups.window import CALL, CALLX, ENTRY, RETW, ROTW
from gpsimd_core.control.layout import A0, BACK, MASK, NEW_BASE, NEXT, PC, PS, WB, WINDOW_MASK, WINDOWSTART, Words
from gpsimd_core.control.state import physical
from gpsimd_core.isa.lane import lane

CALLINC_SHIFT = 16
CALLINC = 3 << CALLINC_SHIFT
WINDOWS_ON = 1 << 18  # PS.WOE


@lane
def started(m: Words, step: int) -> int:
    """Whether a frame starts `step` positions away from the window base."""
    return (m[WINDOWSTART] >> ((m[WB] + step) & m[WINDOW_MASK])) & 1


@lane
def windowed(m: Words) -> bool:
    """Whether window checks are on: PS.WOE set, PS.EXCM clear."""
    return (m[PS] & (WINDOWS_ON | EXCM)) == WINDOWS_ON


@lane
def references_classic(m: Words, highest: int) -> int:
    """Before an instruction that names register `highest`: no live frame may start at or below it.

    Returns:
        0, or the overflow by the size of the frame that is in the way; m[NEW_BASE] is where that frame starts.
    """
    if not windowed(m):
        return 0
    for step in range(1, (highest >> 2) + 1):
        if started(m, step):
            m[NEW_BASE] = (m[WB] + step) & m[WINDOW_MASK]
            if started(m, step + 1):
                return OVERFLOW4
            if started(m, step + 2):
                return OVERFLOW8
            return OVERFLOW12
    return 0


@lane
def _move(m: Words, step: int) -> None:
    m[WB] = (m[WB] + step) & m[WINDOW_MASK]


@lane
def window_classic(m: Words, code: int, source: int, destination: int, touches: int, x: int, a: int, label: int) -> int:
    """Carry out a call, ENTRY, RETW, MOVSP or ROTW on classic; arguments as for `window`, and 4, 8 or 12 for a call.

    Returns:
        0, or the number of an exception, raised before anything has changed.
    """
    if code in (CALL, CALLX):
        target = label if code == CALL else x
        step = touches >> 2
        m[physical(m, touches)] = (step << 30) | (m[NEXT] & 0x3FFFFFFF)
        m[PS] = (m[PS] & ~CALLINC) | (step << CALLINC_SHIFT)
        go(m, target)
        return 0
    if code == ENTRY:
        if source > 3 or not windowed(m):
            return ILLEGAL_INSTRUCTION
        step = (m[PS] & CALLINC) >> CALLINC_SHIFT
        trap = references_classic(m, 4 * step)
        if trap:
            return trap
        _move(m, step)
        m[WINDOWSTART] |= 1 << m[WB]
        m[physical(m, source)] = (x - a) & MASK
        return 0
    if code == RETW:
        return _retw(m)
    if code == ROTW:
        _move(m, a)
        return 0
    if not (started(m, BACK) or started(m, BACK - 1) or started(m, BACK - 2)):
        return ALLOCA
    m[destination] = x
    return 0


@lane
def _retw(m: Words) -> int:
    link = m[physical(m, A0)]
    step = link >> 30
    found = 0
    for distance in range(3, 0, -1):
        if started(m, -distance):
            found = distance
    if step == 0 or (found != 0 and found != step) or not windowed(m):
        return ILLEGAL_INSTRUCTION
    if found == 0:
        m[NEW_BASE] = (m[WB] - step) & m[WINDOW_MASK]
        if step == 1:
            return UNDERFLOW4
        return UNDERFLOW8 if step == 2 else UNDERFLOW12
    m[WINDOWSTART] &= ~(1 << m[WB])
    _move(m, -step)
    go(m, (m[PC] & 0xC0000000) | (link & 0x3FFFFFFF))
    return 0

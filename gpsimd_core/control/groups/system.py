"""Ordering, traps, returns from handlers, and the words that are known but do not run."""

from __future__ import annotations

from functools import partial

from gpsimd_core.control.exceptions import (
    BREAK,
    BREAK_N,
    DEBUG_LEVEL,
    EXCM,
    EXIT,
    HALT,
    ILLEGAL_INSTRUCTION,
    OWB,
    OWB_SHIFT,
    SYSCALL,
    UNSUPPORTED,
)
from gpsimd_core.control.groups.flow import go
from gpsimd_core.control.groups.sources import B27, B28, B29, BASE, QEMU
from gpsimd_core.control.layout import A0, CLASSIC, DEPC, EPC, MS, PS, WB, WINDOW_MASK, WINDOWSTART, Words
from gpsimd_core.control.state import physical
from gpsimd_core.control.words import MISSING, ORDER, TRAP, Row
from gpsimd_core.isa.lane import lane

ILL, BREAKS, BREAKS_N, SYSCALLS, HALTS, SIMCALL = range(6)
RFDO, RFE, RFDE, RFI, RFWO, RFWU, RSIL = range(6, 13)

_order = partial(Row, group=ORDER, source=B27)
_trap = partial(Row, group=TRAP, source=B28)
_return = partial(Row, group=TRAP, source=BASE, variants=("classic",), privileged=True)

ROWS = (
    _order(name="isync", word=0x002000),
    _order(name="rsync", word=0x002010),
    _order(name="esync", word=0x002020),
    _order(name="dsync", word=0x002030, source=BASE),
    _order(name="excw", word=0x002080, source=B28),
    _order(name="memw", word=0x0020C0, source=B28),
    _order(name="extw", word=0x0020D0),
    _order(name="nop", word=0x0020F0, source=BASE),
    _order(name="nop.n", word=0xF03D, source=BASE),
    _trap(name="ill", word=0x000000, code=ILL),
    _trap(name="ill.n", word=0xF06D, code=ILL),
    _trap(name="syscall", word=0x005000, code=SYSCALLS, source=BASE),
    _trap(name="break", word=0x004000, uses="uimm4s uimm4t", code=BREAKS),
    _trap(name="break.n", word=0xF02D, uses="uimm4s", code=BREAKS_N),
    _trap(name="break1", word=0x0000F5, uses="uimm4s", code=BREAKS, variants=("q7",)),
    _trap(name="halt", word=0x005200, uses="uimm4t", code=HALTS, variants=("q7",)),
    _trap(name="rfdo", word=0xF1E000, uses="zero", code=RFDO, variants=("q7",), privileged=True, source=B29),
    _return(name="rfe", word=0x003000, code=RFE),
    _return(name="rfde", word=0x003200, code=RFDE),
    _return(name="rfi", word=0x003010, uses="uimm4s", code=RFI),
    _return(name="rfwo", word=0x003400, code=RFWO),
    _return(name="rfwu", word=0x003500, code=RFWU),
    _return(name="rsil", word=0x006000, uses="t= uimm4s", code=RSIL),
    _trap(name="simcall", word=0x005100, code=SIMCALL, variants=("classic",), source=QEMU),
)

_missing = partial(Row, group=MISSING, variants=("q7",), privileged=True)
_WINDOW_STATE = "no source says how it changes the window state"
_CACHE = "the instruction cache's state is not published"
_PREDICTOR = "the branch predictor's state is not published"
_REGIONS = "the protection regions' layout is not published"

MISSING_ROWS = (
    _missing(name="iii", word=0x0070F2, uses="s offset32", missing=_CACHE, source=B29),
    _missing(name="licw", word=0xF12000, uses="t= s", missing=_CACHE, source=B29),
    _missing(name="lict", word=0xF10000, uses="t= s", missing=_CACHE, source=B29),
    _missing(name="wptlb", word=0x50E000, uses="t s", missing=_REGIONS, source=B29),
    _missing(name="pptlb", word=0x50D000, uses="t= s", missing=_REGIONS, source=B29),
    _missing(name="rbtb0", word=0x508000, uses="t= s", missing=_PREDICTOR, source=B28),
    _missing(name="rbtb1", word=0x509000, uses="t= s", missing=_PREDICTOR, source=B28),
    _missing(name="rbtb2", word=0x50A000, uses="t= s", missing=_PREDICTOR, source=B28),
    _missing(name="wbtb1", word=0x501000, uses="t s", missing=_PREDICTOR, source=B28),
    _missing(name="wbtb2", word=0x502000, uses="t s", missing=_PREDICTOR, source=B28),
    _missing(name="setw", word=0x408100, uses="simm4", missing=_WINDOW_STATE, source=B27),
    _missing(name="spillw", word=0x003600, missing=_WINDOW_STATE, privileged=False, source=B27),
    _missing(name="tossw", word=0x003700, missing=_WINDOW_STATE, privileged=False, source=B28),
    _missing(name="exit", word=0x0001B0, missing=_WINDOW_STATE, privileged=False, source=B28),
)

_other = partial(Row, group=MISSING, variants=("classic",), source=BASE)
CLASSIC_MISSING_ROWS = (
    _other(name="waiti", word=0x007000, uses="uimm4s", privileged=True, missing="no interrupt source is modelled"),
    _other(name="wdtlb", word=0x50E000, uses="t s", privileged=True, missing="address translation is not modelled"),
    _other(name="pdtlb", word=0x50D000, uses="t= s", privileged=True, missing="address translation is not modelled"),
    _other(name="mac16", word=0x000004, uses="rest20", missing="the MAC16 option is not modelled"),
)


@lane
def trap(m: Words, code: int, s: int, position: int) -> int:
    """Breaks, system calls, stops, and the returns from handlers.

    Args:
        m: the state.
        code: which operation.
        s: the first constant operand.
        position: of the written AR in the state, for RSIL.

    Returns:
        0, or the number of an exception or stop.
    """
    if code == ILL:
        return ILLEGAL_INSTRUCTION
    if code == SYSCALLS:
        return SYSCALL
    if code in (BREAKS, BREAKS_N):
        return _break(m, code)
    if code == HALTS:
        return HALT
    if code == SIMCALL:
        return EXIT if m[physical(m, A0 + 2)] == 1 else UNSUPPORTED
    if code == RFDO:
        m[MS] = 0x20
        go(m, m[EPC])
        return 0
    if code == RSIL:
        m[position] = m[PS]
        m[PS] = (m[PS] & ~15) | s
        return 0
    return _return_classic(m, code, s)


@lane
def _break(m: Words, code: int) -> int:
    if m[CLASSIC]:  # a core that already runs at the debug level passes over breaks
        level = m[PS] & 15
        if level >= DEBUG_LEVEL:
            return 0
    return BREAK if code == BREAKS else BREAK_N


@lane
def _return_classic(m: Words, code: int, level: int) -> int:
    if code == RFI:
        if level < 2 or level > 7:
            return ILLEGAL_INSTRUCTION
        m[PS] = m[DEPC + level]  # EPS2 to EPS7 follow DEPC at a distance
        go(m, m[EPC + level - 1])
        return 0
    if code == RFDE:
        go(m, m[DEPC])
        return 0
    m[PS] &= ~EXCM
    go(m, m[EPC])
    if code == RFE:
        return 0
    if code == RFWO:
        m[WINDOWSTART] &= ~(1 << m[WB])
    else:
        m[WINDOWSTART] |= 1 << m[WB]
    m[WB] = ((m[PS] & OWB) >> OWB_SHIFT) & m[WINDOW_MASK]
    return 0

"""Register windows of q7: frames of eight registers, one live bit a frame, spill and fill by the core itself.

The frame arithmetic and the return from window traps are PROPOSED: no source publishes them. Losing readings: the
rotated a0 takes the new stack pointer; the window advances by PS.CALLINC; WB.P is the previous base and WB.S the
window-start bits (Formal Semantics II, section 4).
"""

from __future__ import annotations

from functools import partial

from gpsimd_core.control.exceptions import (
    ILLEGAL_INSTRUCTION,
    INST_CALL0,
    LOAD_STORE_ALIGNMENT,
    OVERFLOW8,
    UNDERFLOW8,
)
from gpsimd_core.control.groups.flow import go
from gpsimd_core.control.groups.sources import B27, BASE
from gpsimd_core.control.groups.stack import over_limit
from gpsimd_core.control.layout import (
    A0,
    ADDRESS,
    AHEAD,
    BACK,
    BLOCK_BYTES,
    BUILTIN,
    FILLS,
    FRAME,
    LIVE,
    MASK,
    NEXT,
    PC,
    PS,
    READ,
    SPILLS,
    WB,
    WINDOW_MASK,
    WORD_BYTES,
    WRITE,
    Bytes,
    Words,
)
from gpsimd_core.control.memory import access_fault, locate, locate_data, peek, poke
from gpsimd_core.control.state import physical
from gpsimd_core.control.words import WINDOW, Row
from gpsimd_core.isa.lane import lane

CALL, CALLX, ENTRY, RETW, MOVSP, ROTW = range(6)

_both = partial(Row, group=WINDOW)
_classic = partial(Row, group=WINDOW, source=BASE, variants=("classic",))

ROWS = (
    _both(name="call8", word=0x000025, uses="call18", code=CALL, touches=8, source=BASE),
    _both(name="callx8", word=0x0000E0, uses="s", code=CALLX, touches=8, source=BASE),
    _classic(name="call4", word=0x000015, uses="call18", code=CALL, touches=4),
    _classic(name="callx4", word=0x0000D0, uses="s", code=CALLX, touches=4),
    _classic(name="call12", word=0x000035, uses="call18", code=CALL, touches=12),
    _classic(name="callx12", word=0x0000F0, uses="s", code=CALLX, touches=12),
    _both(name="entry", word=0x000036, uses="s frame", code=ENTRY, source=BASE),
    _both(name="retw", word=0x000090, code=RETW, source=BASE),
    _both(name="retw.n", word=0xF01D, code=RETW, source=B27),
    _both(name="movsp", word=0x001000, uses="t= s", code=MOVSP, source=B27),
    _both(name="rotw", word=0x408000, uses="simm4", code=ROTW, privileged=True, source=B27),
)

ENTRYNR = 1 << 22


@lane
def frame_bit(m: Words, step: int) -> int:
    """The live bit of the frame `step` away from the current one."""
    return 1 << ((m[WB] + step) & m[WINDOW_MASK])


@lane
def _move(m: Words, step: int) -> None:
    m[WB] = (m[WB] & ~7) | ((m[WB] + step) & m[WINDOW_MASK])


@lane
def references(m: Words, memory: Bytes, highest: int) -> int:
    """Before an instruction that names register `highest`: the frame at C + 1 must not be somebody else's.

    Returns:
        0, or the number of an exception. With built-in spilling the live frame goes to memory and all is well.
    """
    if highest < FRAME or m[LIVE] & frame_bit(m, AHEAD) == 0:
        return 0
    return overflow(m, memory)


@lane
def overflow(m: Words, memory: Bytes) -> int:
    """WindowOverflow8: the frame at C + 1 is in the way. Spill it where the core does that itself.

    a0 to a3 go to [a9 - 16], a4 to a7 to [[a1 - 12] - 32], all seen from that frame.
    """
    if m[BUILTIN] == 0:
        return OVERFLOW8
    save = (m[physical(m, 2 * FRAME + 1)] - 16) & MASK
    low = _block(m, save, WRITE)
    if low < 0:
        return -low
    link = _link(m, memory, m[physical(m, FRAME + 1)])
    if link < 0:
        return -link
    extra = (link - 32) & MASK
    high = _block(m, extra, WRITE)
    if high < 0:
        return -high
    for k in range(4):
        poke(m, memory, low + 4 * k, WORD_BYTES, m[physical(m, FRAME + k)], save + 4 * k)
        poke(m, memory, high + 4 * k, WORD_BYTES, m[physical(m, FRAME + 4 + k)], extra + 4 * k)
    m[LIVE] &= ~frame_bit(m, AHEAD)
    m[SPILLS] += 1
    return 0


@lane
def underflow(m: Words, memory: Bytes) -> int:
    """WindowUnderflow8: the frame at C - 1 was spilled. Fill it where the core does that itself."""
    if m[BUILTIN] == 0:
        return UNDERFLOW8
    low = _block(m, (m[physical(m, A0 + 1)] - 16) & MASK, READ)
    if low < 0:
        return -low
    link = _link(m, memory, peek(memory, low + 4, WORD_BYTES))
    if link < 0:
        return -link
    high = _block(m, (link - 32) & MASK, READ)
    if high < 0:
        return -high
    for k in range(4):
        m[physical(m, k - FRAME)] = peek(memory, low + 4 * k, WORD_BYTES)
        m[physical(m, k + 4 - FRAME)] = peek(memory, high + 4 * k, WORD_BYTES)
    m[LIVE] |= frame_bit(m, BACK)
    m[FILLS] += 1
    return 0


@lane
def _block(m: Words, address: int, access: int) -> int:
    """Position of four words at `address`, or minus the number of an exception."""
    m[ADDRESS] = address
    if address & 3:
        return -LOAD_STORE_ALIGNMENT
    at = locate(m, address, BLOCK_BYTES, access)
    if at < 0:
        return -access_fault(m, at, access)
    return at


@lane
def _link(m: Words, memory: Bytes, stack_pointer: int) -> int:
    """The saved stack pointer of a frame's caller, or minus the number of an exception."""
    at = locate_data(m, (stack_pointer - 12) & MASK, WORD_BYTES, READ)
    if at < 0:
        return at
    return peek(memory, at, WORD_BYTES)


@lane
def window(m: Words, memory: Bytes, code: int, source: int, destination: int, x: int, a: int, label: int) -> int:
    """Carry out a call, ENTRY, RETW, MOVSP or ROTW on q7.

    Args:
        m: the state.
        memory: the bytes, for spilling and filling.
        code: which operation.
        source: number of the register operand, 0 to 15.
        destination: position of the written register in the state.
        x: value of the register operand.
        a: the constant operand.
        label: target of a call.

    Returns:
        0, or the number of an exception, raised before anything but the window's own spill or fill has changed.
    """
    if code in (CALL, CALLX):
        target = label if code == CALL else x
        m[physical(m, FRAME)] = (2 << 30) | (m[NEXT] & 0x3FFFFFFF)
        go(m, target)
        return 0
    if code == ENTRY:
        return _entry(m, memory, source, x, a)
    if code == RETW:
        return _retw(m, memory)
    if code == ROTW:
        _move(m, a)
        return 0
    trap = caller_present(m, memory)
    if trap == 0:
        trap = over_limit(m, x)
    if trap == 0:
        m[destination] = x
    return trap


@lane
def caller_present(m: Words, memory: Bytes) -> int:
    """See that the caller's frame is in the registers. Returns 0, or the number of an exception."""
    if m[LIVE] & frame_bit(m, BACK):
        return 0
    return underflow(m, memory)


@lane
def _entry(m: Words, memory: Bytes, source: int, x: int, frame: int) -> int:
    if source > 3:
        return ILLEGAL_INSTRUCTION
    if m[WB] & 0x600 == 0:
        return INST_CALL0
    rotates = m[PS] & ENTRYNR == 0
    if rotates:
        trap = references(m, memory, FRAME)
        if trap:
            return trap
    stack_pointer = (x - frame) & MASK
    trap = over_limit(m, stack_pointer)
    if trap:
        return trap
    if rotates:
        m[LIVE] |= frame_bit(m, AHEAD)
        _move(m, AHEAD)
    m[physical(m, source)] = stack_pointer
    m[PS] &= ~ENTRYNR
    return 0


@lane
def _retw(m: Words, memory: Bytes) -> int:
    link = m[physical(m, A0)]
    if link >> 30 != 2:
        return ILLEGAL_INSTRUCTION
    trap = caller_present(m, memory)
    if trap:
        return trap
    _move(m, BACK)
    m[LIVE] &= ~frame_bit(m, AHEAD)
    go(m, (m[PC] & 0xC0000000) | (link & 0x3FFFFFFF))
    return 0

"""Branches, jumps, plain calls and zero-overhead loops."""

from __future__ import annotations

from functools import partial

from gpsimd_core.control.exceptions import in_handler
from gpsimd_core.control.groups.arithmetic import signed
from gpsimd_core.control.groups.sources import B28, BASE
from gpsimd_core.control.layout import A0, LBEG, LCOUNT, LEND, MASK, NEXT, SEQUENTIAL, SIGN, Words
from gpsimd_core.control.state import physical
from gpsimd_core.control.words import BRANCH, JUMP, LOOP, Row
from gpsimd_core.isa.lane import lane

BEQZ, BNEZ, BLTZ, BGEZ, BEQI, BNEI, BLTI, BGEI, BLTUI, BGEUI = range(10)
BNONE, BEQ, BLT, BLTU, BALL, BBC, BANY, BNE, BGE, BGEU, BNALL, BBS = range(10, 22)
BBCI, BBSI, BF, BT = range(22, 26)
J, JX, CALL0, CALLX0, RET = range(5)
LOOP_ALWAYS, LOOPNEZ, LOOPGTZ = range(3)

_branch = partial(Row, group=BRANCH, source=BASE)
_jump = partial(Row, group=JUMP, source=BASE)
_loop = partial(Row, group=LOOP, uses="s end8", source=B28)

ROWS = (
    _branch(name="beqz", word=0x000016, uses="s to12", code=BEQZ),
    _branch(name="bnez", word=0x000056, uses="s to12", code=BNEZ),
    _branch(name="bltz", word=0x000096, uses="s to12", code=BLTZ),
    _branch(name="bgez", word=0x0000D6, uses="s to12", code=BGEZ),
    _branch(name="beqi", word=0x000026, uses="s b4const to8", code=BEQI),
    _branch(name="bnei", word=0x000066, uses="s b4const to8", code=BNEI),
    _branch(name="blti", word=0x0000A6, uses="s b4const to8", code=BLTI),
    _branch(name="bgei", word=0x0000E6, uses="s b4const to8", code=BGEI),
    _branch(name="bltui", word=0x0000B6, uses="s b4constu to8", code=BLTUI),
    _branch(name="bgeui", word=0x0000F6, uses="s b4constu to8", code=BGEUI),
    _branch(name="bnone", word=0x000007, uses="s t to8", code=BNONE),
    _branch(name="beq", word=0x001007, uses="s t to8", code=BEQ),
    _branch(name="blt", word=0x002007, uses="s t to8", code=BLT),
    _branch(name="bltu", word=0x003007, uses="s t to8", code=BLTU),
    _branch(name="ball", word=0x004007, uses="s t to8", code=BALL),
    _branch(name="bbc", word=0x005007, uses="s t to8", code=BBC),
    _branch(name="bbci", word=0x006007, uses="s bit to8", code=BBCI),
    _branch(name="bany", word=0x008007, uses="s t to8", code=BANY),
    _branch(name="bne", word=0x009007, uses="s t to8", code=BNE),
    _branch(name="bge", word=0x00A007, uses="s t to8", code=BGE),
    _branch(name="bgeu", word=0x00B007, uses="s t to8", code=BGEU),
    _branch(name="bnall", word=0x00C007, uses="s t to8", code=BNALL),
    _branch(name="bbs", word=0x00D007, uses="s t to8", code=BBS),
    _branch(name="bbsi", word=0x00E007, uses="s bit to8", code=BBSI),
    _branch(name="bf", word=0x000076, uses="bs to8", code=BF, source=B28),
    _branch(name="bt", word=0x001076, uses="bs to8", code=BT, source=B28),
    _branch(name="beqz.n", word=0x008C, uses="s to6", code=BEQZ),
    _branch(name="bnez.n", word=0x00CC, uses="s to6", code=BNEZ),
    _jump(name="j", word=0x000006, uses="to18", code=J),
    _jump(name="jx", word=0x0000A0, uses="s", code=JX),
    _jump(name="call0", word=0x000005, uses="call18", code=CALL0),
    _jump(name="callx0", word=0x0000C0, uses="s", code=CALLX0),
    _jump(name="ret", word=0x000080, code=RET),
    _jump(name="ret.n", word=0xF00D, code=RET),
    _loop(name="loop", word=0x008076, code=LOOP_ALWAYS),
    _loop(name="loopnez", word=0x009076, code=LOOPNEZ),
    _loop(name="loopgtz", word=0x00A076, code=LOOPGTZ),
)


@lane
def taken(code: int, x: int, y: int, a: int, flag: int) -> bool:
    """Whether a branch goes to its label.

    Args:
        code: which condition.
        x, y: the AR operands, 32-bit patterns.
        a: the constant or the bit number.
        flag: the boolean operand of BF and BT.
    """
    if code == BEQZ:
        return x == 0
    if code == BNEZ:
        return x != 0
    if code == BLTZ:
        return x >= SIGN
    if code == BGEZ:
        return x < SIGN
    if code == BEQ:
        return x == y
    if code == BNE:
        return x != y
    if code == BLTU:
        return x < y
    if code == BGEU:
        return x >= y
    if code == BLT:
        return signed(x) < signed(y)
    if code == BGE:
        return signed(x) >= signed(y)
    if code == BEQI:
        return x == a & MASK
    if code == BNEI:
        return x != a & MASK
    if code == BLTI:
        return signed(x) < a
    if code == BGEI:
        return signed(x) >= a
    if code == BLTUI:
        return x < a
    if code == BGEUI:
        return x >= a
    return _taken_by_bits(code, x, y, a, flag)


@lane
def _taken_by_bits(code: int, x: int, y: int, a: int, flag: int) -> bool:
    if code == BNONE:
        return x & y == 0
    if code == BANY:
        return x & y != 0
    if code == BALL:
        return x & y == y
    if code == BNALL:
        return x & y != y
    if code == BBC:
        return (x >> (y & 31)) & 1 == 0
    if code == BBS:
        return (x >> (y & 31)) & 1 != 0
    if code == BBCI:
        return (x >> a) & 1 == 0
    if code == BBSI:
        return (x >> a) & 1 != 0
    if code == BF:
        return flag == 0
    return flag != 0


@lane
def go(m: Words, target: int) -> None:
    """Continue at `target` instead of the next instruction."""
    m[NEXT] = target & MASK
    m[SEQUENTIAL] = 0


@lane
def jump(m: Words, code: int, x: int, label: int) -> None:
    """J, JX, CALL0, CALLX0 and RET; the calls leave the return address in a0."""
    a0 = physical(m, A0)
    target = label
    if code in (JX, CALLX0):
        target = x
    elif code == RET:
        target = m[a0]
    if code in (CALL0, CALLX0):
        m[a0] = m[NEXT]
    go(m, target)


@lane
def loop(m: Words, code: int, count: int, end: int) -> None:
    """Set up a zero-overhead loop; LOOPNEZ and LOOPGTZ skip the body when there is nothing to do.

    Overruled readings: LCOUNT = count and LEND = PC + offset (Formal Semantics II, section 4).
    """
    m[LCOUNT] = (count - 1) & MASK
    m[LBEG] = m[NEXT]
    m[LEND] = end
    if (code == LOOPNEZ and count == 0) or (code == LOOPGTZ and signed(count) <= 0):
        go(m, end)


@lane
def loop_back(m: Words) -> None:
    """After an instruction: start the loop's next pass when it completed sequentially and ended at LEND."""
    if m[SEQUENTIAL] and m[NEXT] == m[LEND] and m[LCOUNT] and not in_handler(m):
        m[LCOUNT] -= 1
        m[NEXT] = m[LBEG]

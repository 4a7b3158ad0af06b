"""Special registers, user registers, and the external-register bus."""

from __future__ import annotations

from functools import partial

from gpsimd_core.control.exceptions import (
    ASK_BUS,
    COPROCESSOR0,
    EXTERNAL_REGISTER_PRIVILEGE,
    ILLEGAL_INSTRUCTION,
    PRIVILEGED,
    user,
)
from gpsimd_core.control.groups.sources import B27, BASE
from gpsimd_core.control.layout import ADDRESS, BUS_READY, BUS_VALUE, CLASSIC, CPENABLE, INTERRUPT, SR, UR, Words
from gpsimd_core.control.words import BUS, REGISTER, Row
from gpsimd_core.isa.lane import lane

RSR, WSR, XSR, RUR, WUR = range(5)
RER, WER = range(2)

# Rights of a register: bits RSR, WSR and XSR (RUR and WUR for user registers) of `1 << form`, and:
GUARDED = 1 << 5  # needs privilege
COPROCESSOR = 1 << 6  # needs CPENABLE bit 0

_row = partial(Row, group=REGISTER)
_bus = partial(Row, group=BUS, source=B27)

ROWS = (
    _row(name="rsr", word=0x030000, uses="sr t=", code=RSR, source=B27),
    _row(name="wsr", word=0x130000, uses="sr t", code=WSR, source=B27),
    _row(name="xsr", word=0x610000, uses="sr t=+", code=XSR, source=B27),
    _row(name="rur", word=0xE30000, uses="rur r=", code=RUR, source=BASE),
    _row(name="wur", word=0xF30000, uses="wur t", code=WUR, source=BASE),
    _bus(name="rer", word=0x406000, uses="t= s", code=RER),
    _bus(name="wer", word=0x407000, uses="t s", code=WER),
)

_INTSET = 0xE2
_INTCLEAR = 0xE3


@lane
def register(m: Words, code: int, rights: int, mask: int, number: int, new: int, position: int) -> int:
    """RSR, WSR, XSR, RUR or WUR.

    Args:
        m: the state.
        code: the access form.
        rights, mask: what the roster says of the register: allowed forms, implemented bits.
        number: of the register.
        new: what a write takes.
        position: of the AR that a read writes, in the state.

    Returns:
        0, or the number of an exception.
    """
    if (rights >> code) & 1 == 0:
        return ILLEGAL_INSTRUCTION
    if rights & GUARDED and user(m):
        return PRIVILEGED
    if rights & COPROCESSOR and m[CPENABLE] & 1 == 0:
        return COPROCESSOR0
    at = UR + number if code >= RUR else SR + number
    if code in (RSR, XSR, RUR):
        m[position] = m[at]
    if code == WSR and m[CLASSIC] and number == _INTSET:
        m[at] |= new & mask
    elif code == WSR and m[CLASSIC] and number == _INTCLEAR:
        m[INTERRUPT] &= ~(new & mask)
    elif code in (WSR, XSR, WUR):
        m[at] = (m[at] & ~mask) | (new & mask)
    return 0


@lane
def bus(m: Words, code: int, position: int) -> int:
    """RER or WER. The bus is outside the core: the first call asks for it, the second finds its answer.

    Returns:
        ASK_BUS, then 0 or the number of an exception.
    """
    answer = m[BUS_READY]
    if answer == 0:
        return ASK_BUS
    m[BUS_READY] = 0
    if answer == 2:
        m[ADDRESS] = m[BUS_VALUE]
        return EXTERNAL_REGISTER_PRIVILEGE
    if code == RER:
        m[position] = m[BUS_VALUE]
    return 0

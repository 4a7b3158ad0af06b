"""Products and quotients."""

from __future__ import annotations

from functools import partial

from gpsimd_core.control.groups.arithmetic import signed
from gpsimd_core.control.groups.sources import BASE
from gpsimd_core.control.layout import MASK, SIGN
from gpsimd_core.control.words import MULTIPLY, Row
from gpsimd_core.isa.lane import lane

MULL, MULUH, MULSH, MUL16U, MUL16S, QUOU, QUOS, REMU, REMS = range(9)

_row = partial(Row, group=MULTIPLY, uses="r= s t", source=BASE)

ROWS = (
    _row(name="mull", word=0x820000, code=MULL),
    _row(name="muluh", word=0xA20000, code=MULUH),
    _row(name="mulsh", word=0xB20000, code=MULSH),
    _row(name="mul16u", word=0xC10000, code=MUL16U),
    _row(name="mul16s", word=0xD10000, code=MUL16S),
    _row(name="quou", word=0xC20000, code=QUOU),
    _row(name="quos", word=0xD20000, code=QUOS),
    _row(name="remu", word=0xE20000, code=REMU),
    _row(name="rems", word=0xF20000, code=REMS),
)


@lane
def divides(code: int) -> bool:
    """Whether a zero second operand is an exception."""
    return code >= QUOU


@lane
def multiply(code: int, x: int, y: int) -> int:
    """Product or quotient of two 32-bit patterns; `y` is not zero where `divides(code)`.

    The signed quotient truncates; the minimum divided by -1 is the minimum, with remainder 0.
    """
    if code == MUL16U:
        return (x & 0xFFFF) * (y & 0xFFFF)
    if code == MUL16S:
        return (((x & 0xFFFF) ^ 0x8000) - 0x8000) * (((y & 0xFFFF) ^ 0x8000) - 0x8000) & MASK
    if code == QUOU:
        return x // y
    if code == REMU:
        return x % y
    i = signed(x)
    j = signed(y)
    if code == MULL:
        return (i * j) & MASK
    if code == MULSH:
        return ((i * j) >> 32) & MASK
    if code == MULUH:  # the signed product keeps within 64 bits; unsigned factors add what their sign bits stand for
        return (((i * j) >> 32) + (y if x & SIGN else 0) + (x if y & SIGN else 0)) & MASK
    quotient = abs(i) // abs(j)
    if (i < 0) != (j < 0):
        quotient = -quotient
    if code == QUOS:
        return quotient & MASK
    return (i - quotient * j) & MASK

"""Shifts, field extraction, and what sets the shift amount SAR."""

from __future__ import annotations

from functools import partial

from gpsimd_core.control.groups.arithmetic import signed
from gpsimd_core.control.groups.sources import B25, BASE
from gpsimd_core.control.layout import MASK
from gpsimd_core.control.words import SHIFT, Row
from gpsimd_core.isa.lane import lane

SLLI, SRLI, SRAI, EXTUI, SLL, SRL, SRA, SRC = range(8)
SSR, SSL, SSA8L, SSA8B, SSAI = range(8, 13)  # these make a new SAR, the others a new AR

_row = partial(Row, group=SHIFT)

ROWS = (
    _row(name="slli", word=0x010000, uses="r= s left", code=SLLI, source=B25),
    _row(name="srli", word=0x410000, uses="r= t right4", code=SRLI, source=B25),
    _row(name="srai", word=0x210000, uses="r= t right5", code=SRAI, source=B25),
    _row(name="extui", word=0x040000, uses="r= t shift length", code=EXTUI, source=B25),
    _row(name="sll", word=0xA10000, uses="r= s", code=SLL, source=B25),
    _row(name="srl", word=0x910000, uses="r= t", code=SRL, source=B25),
    _row(name="sra", word=0xB10000, uses="r= t", code=SRA, source=BASE),
    _row(name="src", word=0x810000, uses="r= s t", code=SRC, source=B25),
    _row(name="ssr", word=0x400000, uses="s", code=SSR, source=B25),
    _row(name="ssl", word=0x401000, uses="s", code=SSL, source=B25),
    _row(name="ssa8l", word=0x402000, uses="s", code=SSA8L, source=B25),
    _row(name="ssa8b", word=0x403000, uses="s", code=SSA8B, source=B25),
    _row(name="ssai", word=0x404000, uses="sar5", code=SSAI, source=B25),
)


@lane
def shift(code: int, x: int, y: int, a: int, b: int, amount: int) -> int:
    """The new value of the destination, or of SAR for the codes from SSR on.

    Args:
        code: which operation.
        x, y: the AR operands that are read, 32-bit patterns.
        a, b: the constant operands.
        amount: SAR, 0 to 63.

    Returns:
        A 32-bit pattern, or a shift amount.
    """
    if code == SLLI:
        return (x << a) & MASK
    if code == SRLI:
        return x >> a
    if code == SRAI:
        return (signed(x) >> a) & MASK
    if code == EXTUI:
        return (x >> a) & ((1 << b) - 1)
    if code == SRL:
        return x >> amount
    if code == SRA:
        return (signed(x) >> amount) & MASK
    if code == SRC:
        return funnel(x, y, amount)
    if code == SLL:
        return funnel(x, 0, amount)
    if code == SSR:
        return x & 31
    if code == SSL:
        return 32 - (x & 31)
    if code == SSA8L:
        return 8 * (x & 3)
    if code == SSA8B:
        return 32 - 8 * (x & 3)
    return a


@lane
def funnel(high: int, low: int, amount: int) -> int:
    """The low word of {high, low} shifted right by 0 to 63."""
    if amount >= 32:
        return high >> (amount - 32)
    return ((high & ((1 << amount) - 1)) << (32 - amount)) | (low >> amount)

"""The algebra of the sixteen booleans."""

from __future__ import annotations

from functools import partial

from gpsimd_core.control.groups.sources import B28, BASE
from gpsimd_core.control.words import BOOLEAN, Row
from gpsimd_core.isa.lane import lane

ANDB, ANDBC, ORB, ORBC, XORB, ALL4, ANY4, ALL8, ANY8 = range(9)

_row = partial(Row, group=BOOLEAN)

ROWS = (
    _row(name="andb", word=0x020000, uses="br= bs bt", code=ANDB, source=B28),
    _row(name="andbc", word=0x120000, uses="br= bs bt", code=ANDBC, source=B28),
    _row(name="orb", word=0x220000, uses="br= bs bt", code=ORB, source=B28),
    _row(name="orbc", word=0x320000, uses="br= bs bt", code=ORBC, source=BASE),
    _row(name="xorb", word=0x420000, uses="br= bs bt", code=XORB, source=B28),
    _row(name="all4", word=0x009000, uses="bt= bs4", code=ALL4, source=B28),
    _row(name="any4", word=0x008000, uses="bt= bs4", code=ANY4, source=B28),
    _row(name="all8", word=0x00B000, uses="bt= bs8", code=ALL8, source=B28),
    _row(name="any8", word=0x00A000, uses="bt= bs8", code=ANY8, source=BASE),
)


@lane
def combine(code: int, flags: int, first: int, second: int) -> int:
    """The new value of the destination boolean.

    Args:
        code: which operation.
        flags: all sixteen booleans.
        first, second: numbers of the source booleans; a group has its first register only.

    Returns:
        0 or 1. The C forms complement the second source.
    """
    x = flags >> first
    y = flags >> second
    if code == ANDB:
        return x & y & 1
    if code == ANDBC:
        return x & ~y & 1
    if code == ORB:
        return (x | y) & 1
    if code == ORBC:
        return (x | ~y) & 1
    if code == XORB:
        return (x ^ y) & 1
    if code == ALL4:
        return 1 if x & 15 == 15 else 0
    if code == ANY4:
        return 1 if x & 15 else 0
    if code == ALL8:
        return 1 if x & 255 == 255 else 0
    return 1 if x & 255 else 0

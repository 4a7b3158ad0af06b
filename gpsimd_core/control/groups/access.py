"""Loads and stores."""

from __future__ import annotations

from functools import partial

from gpsimd_core.control.groups.sources import B27, B29, BASE
from gpsimd_core.control.groups.stack import over_limit
from gpsimd_core.control.layout import DDR, MASK, READ, SCOMPARE1, WORD_BYTES, WRITE, Bytes, Words
from gpsimd_core.control.memory import locate_data, peek, poke
from gpsimd_core.control.words import LOAD, STORE, Row
from gpsimd_core.isa.lane import lane

L8UI, L16UI, L16SI, L32, L32R, LDDR32_P, S32C1I = range(7)
S8, S16, S32, S32STK, SDDR32_P = range(5)

_load = partial(Row, group=LOAD, source=BASE)
_store = partial(Row, group=STORE, source=BASE)
_classic = ("classic",)

ROWS = (
    _load(name="l8ui", word=0x000002, uses="t= s offset8", code=L8UI),
    _load(name="l16ui", word=0x001002, uses="t= s offset16", code=L16UI),
    _load(name="l16si", word=0x009002, uses="t= s offset16", code=L16SI),
    _load(name="l32i", word=0x002002, uses="t= s offset32", code=L32),
    _load(name="l32i.n", word=0x0008, uses="t= s offset.n", code=L32),
    _load(name="l32r", word=0x000001, uses="t= literal", code=L32R),
    _load(name="l32e", word=0x090000, uses="t= s save", code=L32, privileged=True, source=B27),
    _load(name="lddr32.p", word=0x0070E0, uses="s=+", code=LDDR32_P, privileged=True, source=B29),
    _load(name="l32ai", word=0x00B002, uses="t= s offset32", code=L32, variants=_classic),
    _load(name="s32c1i", word=0x00E002, uses="t=+ s offset32", code=S32C1I, variants=_classic),
    _store(name="s8i", word=0x004002, uses="t s offset8", code=S8),
    _store(name="s16i", word=0x005002, uses="t s offset16", code=S16),
    _store(name="s32i", word=0x006002, uses="t s offset32", code=S32),
    _store(name="s32i.n", word=0x0009, uses="t s offset.n", code=S32),
    _store(name="s32e", word=0x490000, uses="t s save", code=S32, privileged=True, source=B27),
    _store(name="s32stk", word=0x698000, uses="t s guarded", code=S32STK, variants=("q7",), source=B27),
    _store(name="sddr32.p", word=0x0070F0, uses="s=+", code=SDDR32_P, privileged=True, source=B29),
    _store(name="s32ri", word=0x00F002, uses="t s offset32", code=S32, variants=_classic),
)


@lane
def load(m: Words, memory: Bytes, code: int, x: int, y: int, a: int, label: int) -> int:
    """The value that a load puts into its destination, or minus the number of an exception.

    Args:
        m: the state.
        memory: the bytes.
        code: which load.
        x: base address; for S32C1I the value to store, with the base in `y`.
        a: offset.
        label: address of an L32R literal.
    """
    if code == S32C1I:
        return _compare_and_swap(m, memory, x, (y + a) & MASK)
    address = label if code == L32R else (x + a) & MASK
    size = 4
    if code == L8UI:
        size = 1
    elif code in (L16UI, L16SI):
        size = 2
    at = locate_data(m, address, size, READ)
    if at < 0:
        return at
    value = peek(memory, at, size)
    if code == L16SI:
        return ((value ^ 0x8000) - 0x8000) & MASK
    if code == LDDR32_P:
        m[DDR] = value
        return (x + 4) & MASK
    return value


@lane
def _compare_and_swap(m: Words, memory: Bytes, new: int, address: int) -> int:
    at = locate_data(m, address, WORD_BYTES, WRITE)
    if at < 0:
        return at
    old = peek(memory, at, WORD_BYTES)
    if old == m[SCOMPARE1]:
        poke(m, memory, at, WORD_BYTES, new, address)
    return old


@lane
def store(m: Words, memory: Bytes, code: int, x: int, y: int, a: int, position: int) -> int:
    """Carry out a store.

    Args:
        m: the state.
        memory: the bytes.
        code: which store.
        x: the value; for SDDR32.P the address.
        y: base address.
        a: offset.
        position: of the written AR in the state, for SDDR32.P.

    Returns:
        0, or the number of an exception.
    """
    value = x
    size = 4
    address = (y + a) & MASK
    if code == S8:
        size = 1
    elif code == S16:
        size = 2
    elif code == SDDR32_P:
        value = m[DDR]
        address = x
    elif code == S32STK:
        address = (y - a) & MASK
        trap = over_limit(m, address)
        if trap:
            return trap
    at = locate_data(m, address, size, WRITE)
    if at < 0:
        return -at
    poke(m, memory, at, size, value, address)
    if code == SDDR32_P:
        m[position] = (x + 4) & MASK
    return 0

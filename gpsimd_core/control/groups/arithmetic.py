"""Sums, logic, moves, comparisons: everything that makes one AR from ARs and constants without the shifter."""

from __future__ import annotations

from functools import partial

from gpsimd_core.control.groups.sources import B25, B28, B29, BASE
from gpsimd_core.control.layout import MASK, SIGN
from gpsimd_core.control.words import ARITHMETIC, Row
from gpsimd_core.isa.lane import lane

ADD, ADDX2, ADDX4, ADDX8, SUB, SUBX2, SUBX4, SUBX8, ADDI, NEG, ABS, AND, OR, XOR = range(14)
MOVI, CONST16, COPY, MOVEQZ, MOVNEZ, MOVLTZ, MOVGEZ, MOVF, MOVT = range(14, 23)
MIN, MAX, MINU, MAXU, CLAMPS, SEXT, NSA, NSAU, SALT, SALTU = range(23, 33)

KEEP = -1  # the destination keeps its value


_row = partial(Row, group=ARITHMETIC)

ROWS = (
    _row(name="add", word=0x800000, uses="r= s t", code=ADD, source=B25),
    _row(name="addx2", word=0x900000, uses="r= s t", code=ADDX2, source=B25),
    _row(name="addx4", word=0xA00000, uses="r= s t", code=ADDX4, source=B25),
    _row(name="addx8", word=0xB00000, uses="r= s t", code=ADDX8, source=BASE),
    _row(name="sub", word=0xC00000, uses="r= s t", code=SUB, source=B25),
    _row(name="subx2", word=0xD00000, uses="r= s t", code=SUBX2, source=B25),
    _row(name="subx4", word=0xE00000, uses="r= s t", code=SUBX4, source=B25),
    _row(name="subx8", word=0xF00000, uses="r= s t", code=SUBX8, source=B25),
    _row(name="addi", word=0x00C002, uses="t= s simm8", code=ADDI, source=B25),
    _row(name="addmi", word=0x00D002, uses="t= s simm8x256", code=ADDI, source=B25),
    _row(name="neg", word=0x600000, uses="r= t", code=NEG, source=BASE),
    _row(name="abs", word=0x600100, uses="r= t", code=ABS, source=B25),
    _row(name="and", word=0x100000, uses="r= s t", code=AND, source=BASE),
    _row(name="or", word=0x200000, uses="r= s t", code=OR, source=BASE),
    _row(name="xor", word=0x300000, uses="r= s t", code=XOR, source=BASE),
    _row(name="movi", word=0x00A002, uses="t= simm12", code=MOVI, source=B25),
    _row(name="const16", word=0x000004, uses="t=+ const16", code=CONST16, variants=("q7",), source=B25),
    _row(name="moveqz", word=0x830000, uses="r= s t", code=MOVEQZ, source=B25),
    _row(name="movnez", word=0x930000, uses="r= s t", code=MOVNEZ, source=B25),
    _row(name="movltz", word=0xA30000, uses="r= s t", code=MOVLTZ, source=B25),
    _row(name="movgez", word=0xB30000, uses="r= s t", code=MOVGEZ, source=B25),
    _row(name="movf", word=0xC30000, uses="r= s bt", code=MOVF, source=B25),
    _row(name="movt", word=0xD30000, uses="r= s bt", code=MOVT, source=BASE),
    _row(name="min", word=0x430000, uses="r= s t", code=MIN, source=B28),
    _row(name="max", word=0x530000, uses="r= s t", code=MAX, source=B28),
    _row(name="minu", word=0x630000, uses="r= s t", code=MINU, source=B28),
    _row(name="maxu", word=0x730000, uses="r= s t", code=MAXU, source=BASE),
    _row(name="clamps", word=0x330000, uses="r= s top_bit", code=CLAMPS, source=B29),
    _row(name="sext", word=0x230000, uses="r= s top_bit", code=SEXT, source=B29),
    _row(name="nsa", word=0x40E000, uses="t= s", code=NSA, source=B29),
    _row(name="nsau", word=0x40F000, uses="t= s", code=NSAU, source=B29),
    _row(name="salt", word=0x720000, uses="r= s t", code=SALT, source=B25),
    _row(name="saltu", word=0x620000, uses="r= s t", code=SALTU, source=B25),
    _row(name="add.n", word=0x000A, uses="r= s t", code=ADD, source=BASE),
    _row(name="addi.n", word=0x000B, uses="r= s addi.n", code=ADDI, source=BASE),
    _row(name="mov.n", word=0x000D, uses="t= s", code=COPY, source=BASE),
    _row(name="movi.n", word=0x000C, uses="s= movi.n", code=MOVI, source=BASE),
)


@lane
def signed(x: int) -> int:
    """A 32-bit pattern as a two's-complement number."""
    return x - ((x & SIGN) << 1)


@lane
def leading_zeros(x: int) -> int:
    """Zeros above the highest set bit of a 32-bit pattern, 32 for 0."""
    count = 32
    width = 16
    while width:
        if x >> width:
            count -= width
            x >>= width
        width >>= 1
    return count - x


@lane
def arithmetic(code: int, x: int, y: int, a: int, flag: int) -> int:
    """The new value of the destination.

    Args:
        code: which operation.
        x, y: the AR operands that are read, in the order of the text, 32-bit patterns.
        a: the constant operand, signed.
        flag: the boolean operand of MOVF and MOVT.

    Returns:
        A 32-bit pattern, or KEEP.
    """
    if code <= SUBX8:
        if code < SUB:
            return ((x << (code - ADD)) + y) & MASK
        return ((x << (code - SUB)) - y) & MASK
    if code == ADDI:
        return (x + a) & MASK
    if code == NEG:
        return -x & MASK
    if code == ABS:
        return (-x & MASK) if x & SIGN else x
    if code == AND:
        return x & y
    if code == OR:
        return x | y
    if code == XOR:
        return x ^ y
    if code == MOVI:
        return a & MASK
    if code == CONST16:
        return ((x << 16) | a) & MASK
    if code == COPY:
        return x
    if code == MOVEQZ:
        return x if y == 0 else KEEP
    if code == MOVNEZ:
        return x if y != 0 else KEEP
    if code == MOVLTZ:
        return x if y & SIGN else KEEP
    if code == MOVGEZ:
        return KEEP if y & SIGN else x
    if code == MOVF:
        return KEEP if flag else x
    if code == MOVT:
        return x if flag else KEEP
    return _compare(code, x, y, a)


@lane
def _compare(code: int, x: int, y: int, a: int) -> int:
    if code == MINU:
        return min(x, y)
    if code == MAXU:
        return max(x, y)
    if code == SALTU:
        return 1 if x < y else 0
    if code == NSAU:
        return leading_zeros(x)
    if code == NSA:
        return leading_zeros(((x ^ (x << 1)) & MASK) | 1)
    if code == SEXT:
        return (((x & ((2 << a) - 1)) ^ (1 << a)) - (1 << a)) & MASK
    i = signed(x)
    j = signed(y)
    if code == CLAMPS:
        return max(min(i, (1 << a) - 1), -(1 << a)) & MASK
    if code == SALT:
        return 1 if i < j else 0
    if code == MIN:
        return min(i, j) & MASK
    return max(i, j) & MASK

"""One ALU operator between two rows, or down one row, in any of three bands.

HUB works on fp32 bits, BITS on raw words, INTEGER on wrapping integers. Words of more than 32 bits travel as two rows,
low and high; the band's operators see them as 64-bit patterns, narrower integers extended by their signedness.
"""

from __future__ import annotations

from typing import Any

from gpsimd_core.isa.alu import OPERATORS
from gpsimd_core.isa.enums import AluOp
from gpsimd_core.isa.formats import Format
from gpsimd_core.isa.lane import lane
from gpsimd_core.isa.lanes.alu import add, alu_fp32, canonical
from gpsimd_core.isa.lanes.alu_integer import alu_bitvec64, alu_int64
from gpsimd_core.isa.lanes.words import bits32, f32, i64, u32, u64

__all__ = [
    "BITS",
    "HUB",
    "INTEGER",
    "band_of",
    "crc32_missing",
    "extends",
    "fold_hub",
    "fold_words",
    "run_hub",
    "word_at",
    "words_row",
]

HUB, BITS, INTEGER = 0, 1, 2

_SIGNED_BY_NAME = {
    AluOp[name]
    for name in ("MAX_INT", "MIN_INT", "IS_GT_INT", "IS_GE_INT", "IS_LE_INT", "IS_LT_INT", "ARGMAX_INT", "ARGMIN_INT")
}
_UNSIGNED_BY_NAME = {op for op in AluOp if op.name.endswith("_UINT")}


def band_of(*ops: int) -> int:
    """INTEGER where one of the operators is of the integer band, else HUB."""
    kinds = {OPERATORS[AluOp(op)].kind for op in ops}
    return INTEGER if kinds & {"int", "argument"} else HUB


def crc32_missing(step: Any) -> str | None:
    """CRC32 has no published value."""
    fields = [name for name in ("op", "op0", "op1") if name in step.layout.leaves]
    named = any(step.number(name) == AluOp.CRC32 for name in fields)
    return OPERATORS[AluOp.CRC32].missing if named else None


def extends(fmt: Format, op: int) -> bool:
    """Whether an integer operator reads its operands as signed: by its name, or by their dtype where it takes either."""
    return AluOp(op) in _SIGNED_BY_NAME or (fmt.signed and AluOp(op) not in _UNSIGNED_BY_NAME)


@lane
def word_at(low: Any, high: Any, i: int, width: int, signed: int) -> int:
    """Element `i` of a pair of rows as a 64-bit pattern: `width` bits, extended by its sign where `signed`."""
    if width == 64:
        return u64(u64(low[i]) | u64(u64(high[i]) << u64(32)))
    if signed:
        lift = u64(64 - width)
        return u64(i64(i64(u64(u64(low[i]) << lift)) >> i64(lift)))
    return u64(low[i])


@lane
def apply(band: int, op: int, a: int, b: int, width: int, signed: int) -> int:
    """One operator of the BITS or INTEGER band on 64-bit patterns."""
    if op == AluOp.BYPASS:
        return u64(a)
    if band == BITS:
        return alu_bitvec64(op, a, b, width)
    return alu_int64(op, a, b, signed)


@lane
def words_row(band: int, op: int, a: Any, b: Any, out: Any, width: int, signed: int, n: int) -> None:
    """One operator between two rows of words.

    Args:
        band: BITS or INTEGER.
        op: operator code.
        a, b, out: uint32, (2, at least n): low and high rows; `out` may be `a` or `b`.
        width: bits of an element.
        signed: whether narrower integers are extended by their sign.
        n: elements.
    """
    for i in range(n):
        x, y = word_at(a[0], a[1], i, width, signed), word_at(b[0], b[1], i, width, signed)
        value = apply(band, op, x, y, width, signed)
        out[0, i] = u32(value)
        out[1, i] = u32(value >> u64(32))


@lane
def fold_hub(op: int, row: Any, state: int, flips: int, nan_policy: int) -> int:
    """Fold a row of fp32 bits into a state, left to right.

    Args:
        op: operator code of the fp32 band.
        row: uint32, the new values.
        state: fp32 bits to start from.
        flips: 0 for op(new, state), 1 for op(state, new).
        nan_policy: number of policy `reduce_nan`.

    Returns:
        fp32 bits.
    """
    if op == AluOp.ADD:
        for i in range(row.size):
            state = bits32(f32(u32(row[i])) + f32(state))
        return canonical(state) if row.size else u32(state)
    for i in range(row.size):
        a, b = (u32(state), u32(row[i])) if flips else (u32(row[i]), u32(state))
        state = alu_fp32(op, a, b, nan_policy)
    return u32(state)


@lane
def run_hub(op: int, row: Any, state: int, flips: int, nan_policy: int) -> int:
    """As `fold_hub`, and leaves every state in the row."""
    if op == AluOp.ADD:
        for i in range(row.size):
            state = add(u32(row[i]), u32(state))
            row[i] = state
        return u32(state)
    for i in range(row.size):
        a, b = (u32(state), u32(row[i])) if flips else (u32(row[i]), u32(state))
        state = alu_fp32(op, a, b, nan_policy)
        row[i] = state
    return u32(state)


@lane
def fold_words(
    band: int, op: int, a: Any, first: int, last: int, state: int, flips: int, width: int, signed: int
) -> int:
    """Fold elements of a pair of rows into a 64-bit pattern, left to right; operand order as for `fold_hub`."""
    for i in range(first, last):
        new = word_at(a[0], a[1], i, width, signed)
        x, y = (u64(state), new) if flips else (new, u64(state))
        state = apply(band, op, x, y, width, signed)
        if width < 64:
            state = extended(state, width, signed)
    return u64(state)


@lane
def extended(value: int, width: int, signed: int) -> int:
    """The low `width` bits, extended to 64 by their sign where `signed`."""
    lift = u64(64 - width)
    raised = u64(u64(value) << lift)
    return u64(i64(i64(raised) >> i64(lift))) if signed else u64(raised >> lift)

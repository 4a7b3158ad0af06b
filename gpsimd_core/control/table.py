"""The instruction table: rows of all groups, and what the decoder of each variant is built from.

One table serves the decoder, the assembler, the disassembler and the interpreter. For the interpreter it becomes one
int64 array: a tree that finds the row of a word, the rows' columns, register rights, and cause numbers.
"""

from __future__ import annotations

from functools import cache
from typing import cast

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from gpsimd_core.control import exceptions, registers
from gpsimd_core.control.groups import access, arithmetic, boolean, flow, multiply, register, shift, system, window
from gpsimd_core.control.layout import Words
from gpsimd_core.control.words import OPERAND_COLUMNS, VARIANTS, Operand, Row
from gpsimd_core.errors import BadValue
from gpsimd_core.isa.lane import lane

ROWS: tuple[Row, ...] = (
    *arithmetic.ROWS,
    *shift.ROWS,
    *multiply.ROWS,
    *boolean.ROWS,
    *access.ROWS,
    *flow.ROWS,
    *window.ROWS,
    *register.ROWS,
    *system.ROWS,
    *system.MISSING_ROWS,
    *system.CLASSIC_MISSING_ROWS,
)

# The array starts with the positions of its parts.
ROWS_AT, SPECIAL_AT, USER_AT, CAUSES_AT, TREE = range(5)

# Columns of a row.
MASK, MATCH, NO_ZERO, GROUP, CODE, PRIVILEGED, TOUCHES = range(7)
DESTINATION, FIRST, SECOND = range(7, 10)  # where the ARs' numbers lie in the word: written, read, read
A, B, LABEL = range(10, 10 + 3 * OPERAND_COLUMNS, OPERAND_COLUMNS)  # the other operands
ROW_COLUMNS = LABEL + OPERAND_COLUMNS

NO_FIELD = 32  # a shift that leaves nothing of a word: register 0
UNDEFINED = -1


@lane
def find_row(table: Words, word: int) -> int:
    """Where the columns of the row of `word` start, or UNDEFINED.

    A node of the tree is a header, lowest bit and mask of the field that it looks at, and an entry for each value of
    the field: a row, UNDEFINED, or below that the position of the next node, negated.
    """
    node = TREE
    while True:
        header = table[node]
        entry = table[node + 1 + ((word >> (header & 31)) & (header >> 5))]
        if entry >= UNDEFINED:
            break
        node = -entry
    if entry == UNDEFINED:
        return UNDEFINED
    row = table[ROWS_AT] + entry * ROW_COLUMNS
    if word & table[row + MASK] != table[row + MATCH]:
        return UNDEFINED
    if table[row + NO_ZERO] and word & table[row + NO_ZERO] == 0:
        return UNDEFINED
    return row


@frozen(kw_only=True)
class Table:
    """What one variant decodes.

    Args:
        variant: "q7" or "classic".
        rows: its rows.
        array: the int64 array that the lanes read.
        names: its rows by mnemonic.
    """

    variant: str
    rows: tuple[Row, ...]
    array: NDArray[np.int64]
    names: dict[str, Row]

    def find(self, word: int) -> Row | None:
        """The row of a word, None for an undefined one.

        A special-register word is undefined where the variant lacks the register or the access form.
        """
        at = int(find_row(cast(Words, self.array), word))
        if at == UNDEFINED:
            return None
        row = self.rows[(at - int(self.array[ROWS_AT])) // ROW_COLUMNS]
        for use in row.uses:
            if use.operand.kind in ("sr", "ur") and not self.allows(row, use.operand.raw(word)):
                return None
        return row

    def allows(self, row: Row, number: int) -> bool:
        """Whether the register `number` exists and has the access form of `row`."""
        known = registers.special if row.code < register.RUR else registers.user
        entry = known(self.variant).get(number)
        return entry is not None and bool(entry.rights >> row.code & 1)


@cache
def table(variant: str) -> Table:
    """The table of one variant.

    Raises:
        BadValue: the variant is neither "q7" nor "classic".
    """
    if variant not in VARIANTS:
        raise BadValue(f"variant {variant!r}: allowed are {' and '.join(VARIANTS)}")
    rows = tuple(row for row in ROWS if variant in row.variants)
    return Table(variant=variant, rows=rows, array=_array(rows, variant), names={row.name: row for row in rows})


def _array(rows: tuple[Row, ...], variant: str) -> NDArray[np.int64]:
    parts = [
        _tree(rows),
        _rights(registers.special(variant)),
        _rights(registers.user(variant)),
        exceptions.causes(variant),
    ]
    tree, special, user, causes = parts
    special_at = TREE + len(tree)
    user_at = special_at + len(special)
    causes_at = user_at + len(user)
    rows_at = causes_at + len(causes)
    lists: list[int] = []
    columns: list[int] = []
    for row in rows:
        columns += _columns(row, rows_at + len(rows) * ROW_COLUMNS, lists)
    head = [rows_at, special_at, user_at, causes_at]
    return np.array(head + tree + special + user + causes + columns + lists, dtype=np.int64)


def _rights(known: dict[int, registers.Register]) -> list[int]:
    """Rights and implemented bits of all 256 numbers."""
    pairs: list[int] = []
    for number in range(256):
        entry = known.get(number)
        pairs += [entry.rights, entry.mask] if entry else [0, 0]
    return pairs


def _columns(row: Row, lists_at: int, lists: list[int]) -> list[int]:
    written = [use.operand.pieces[0][0] for use in row.registers() if use.writes]
    read = [use.operand.pieces[0][0] for use in row.registers() if use.reads]
    columns = [row.mask, row.word, row.no_zero, row.group, row.code, int(row.privileged), row.touches]
    columns += [*written, NO_FIELD][:1] + [*read, NO_FIELD, NO_FIELD][:2]
    labels = [use.operand for use in row.uses if use.operand.kind == "label"]
    others: list[Operand | None] = [use.operand for use in row.uses if use.operand.kind not in ("a", "label")]
    while len(others) + len(labels) < 3:
        others.append(None)
    for operand in [*others, *labels]:
        if operand is None:
            columns += [0] * OPERAND_COLUMNS
            continue
        columns += operand.columns(lists_at + len(lists) if operand.values else 0)
        lists += operand.values
    return columns


def _tree(rows: tuple[Row, ...]) -> list[int]:
    """The decision tree of `find_row`; each node looks at the lowest run of bits that all its rows fix."""
    nodes: list[int] = []

    def grow(candidates: list[int], seen: int) -> int:
        if len(candidates) < 2:
            return candidates[0] if candidates else UNDEFINED
        common = ~seen
        for k in candidates:
            common &= rows[k].mask
        if common == 0:
            names = ", ".join(rows[k].name for k in candidates)
            raise BadValue(f"these rows have words in common: {names}")
        low = (common & -common).bit_length() - 1
        width = 0
        while common >> (low + width) & 1 and width < 8:
            width += 1
        at = len(nodes)
        mask = (1 << width) - 1
        nodes.extend([low | mask << 5, *[UNDEFINED] * (mask + 1)])
        for value in range(mask + 1):
            chosen = [k for k in candidates if rows[k].word >> low & mask == value]
            nodes[at + 1 + value] = grow(chosen, seen | mask << low)
        return -(TREE + at)

    grow(list(range(len(rows))), 0)
    return nodes

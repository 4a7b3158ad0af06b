"""Neighbours of a legal record, and which rules they break: how a rule is found to be the only violation of something.

Each legal record is changed in one place at a time: every byte field to every number, wider fields to boundaries, and
the counts of a pattern among themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gpsimd_core.isa.layout import Columns, Leaf, RecordLayout
from gpsimd_core.values import Geometry

if TYPE_CHECKING:
    from gpsimd_core.machine import Machine

__all__ = ["broken", "neighbours", "rules_alone"]

Records = np.ndarray[Any, Any]
"""uint8, (records, 64)."""

WORDS = [
    0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 63, 64, 0x40, 0x101, 0x102, 0x104, 0x3F800000, 0xFF7FFFFF, 0x4B800000,
    0x4B800001, 0x7FC00000, 0x80000001, 0x80000040, 0x80000100, 0x20000100, 0xA0000001, 0xA0000040, 0x40000100, 0x1FFFFFFF,
]  # fmt: skip
HALVES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 24, 25, 33, 64, 65, 128, 129, 4096, 4097, 16385, 65535]
FREE = ("opcode", "debug_cmd", "debug_hint", "inst_flags", "wait_idx", "update_idx", "semaphore_value")
"""Fields that no rule of an instruction reads, and the opcode, without which it is another instruction."""


def _numbers(leaf: Leaf, g: Geometry) -> list[int]:
    """What one number of a leaf is changed to."""
    if leaf.bits:
        return list(range(1 << leaf.bits))
    if leaf.format == "u1":
        return list(range(256)) if leaf.count <= 8 else [0, 1, 64, 255]
    if leaf.format == "<u4":
        near = [
            g.sbuf_stride * 32 + 0x100,
            g.sbuf_stride + 0x100,
            g.sbuf_active,
            g.psum_base,
            g.psum_base + g.psum_active,
        ]
        return [*WORDS, *near]
    return HALVES if leaf.format == "<u2" else [0, 1, 2]


def neighbours(layout: RecordLayout, geometry: Geometry, base: Records) -> Iterator[Records]:
    """Blocks of a record with one number changed, or with the counts of one pattern rotated.

    Args:
        layout: of the record.
        geometry: whose boundaries addresses are moved to.
        base: uint8, (64,).

    Yields:
        uint8, (n, 64).
    """
    for leaf in layout.leaves.values():
        if leaf.name in FREE:
            continue
        given = np.array(_numbers(leaf, geometry), np.int64).astype(leaf.format)
        for i in range(leaf.count):
            block = np.repeat(base[None], len(given), axis=0)
            column = block.view(layout.numpy)[:, 0][leaf.name]
            if leaf.is_array:
                column[:, i] = given
            elif leaf.bits:
                column[:] = column & ~np.array((1 << leaf.bits) - 1 << leaf.shift, leaf.format) | given << leaf.shift
            else:
                column[:] = given
            yield block
        if leaf.name.endswith(".num_elem"):
            block = np.repeat(base[None], leaf.count, axis=0)
            column = block.view(layout.numpy)[:, 0][leaf.name]
            column[:] = [np.roll(column[0], turn) for turn in range(leaf.count)]
            yield block


def broken(machine: Machine, name: str, layout: RecordLayout, raw: Records) -> tuple[list[str], Any]:
    """Which records break which rules, judged apart from the pipeline.

    Returns:
        Names of the rules that can be broken (those that only warn, or that nobody can judge, cannot), and bool of
        shape (rules, records): true where a rule is broken and every rule that it stands on holds.
    """
    book = machine.books[name]
    columns = Columns(layout, raw)
    good = [np.broadcast_to(b.rule.check(columns, machine.facts), (len(raw),)) for b in book.rules]
    checked = [np.ones(len(raw), bool) for _ in book.rules]
    for i in book.order:
        for n in book.rules[i].needs:
            checked[i] &= checked[n] & good[n]
    kept = [i for i, b in enumerate(book.rules) if not b.warning and not b.rule.open]
    return [book.rules[i].rule.name for i in kept], np.array([checked[i] & ~good[i] for i in kept])


def rules_alone(machine: Machine, name: str, legal: Iterable[bytes], wanted: frozenset[str] | None = None) -> set[str]:
    """The rules of an instruction that are the only violation of some neighbour of a legal record.

    Args:
        machine, name: the instruction.
        legal: records that break no rule.
        wanted: look no further once these are found; None looks at every record.

    Raises:
        ValueError: a record that is said to be legal breaks a rule.
    """
    alone: set[str] = set()
    for record in legal:
        if wanted is not None and wanted <= alone:
            break
        report = machine.validate(record)
        if not report.ok:
            raise ValueError(f"a record of {name} is not legal on {machine.generation.name}: {report}")
        base = np.frombuffer(record, np.uint8)
        layout = machine.decode(record)[0].layout
        raw = np.vstack([base[None], *neighbours(layout, machine.generation.geometry, base)])
        rules, wrong = broken(machine, name, layout, raw)
        single = wrong.sum(axis=0) == 1
        alone |= {rule for rule, row in zip(rules, wrong, strict=True) if (row & single).any()}
    return alone

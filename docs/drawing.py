"""The 64 bytes of a record as inline SVG, to scale: a word of four bytes a row, nibbles and parts as they lie."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from attrs import frozen

__all__ = ["Cell", "cells", "svg"]

BYTE, ROW, MARGIN = 156, 30, 34
"""Pixels of a byte, of a row, and of the column of byte numbers."""
LETTER = 7.3
"""Pixels of a letter."""
KINDS = {
    "tensor": "tensor",
    "data": "tensor",
    "code": "code",
    "bits": "code",
    "imm": "imm",
    "f32": "imm",
    "addr": "imm",
}


@frozen
class Cell:
    """A run of bits that is drawn as one."""

    first: int
    """Bit, counted from bit 0 of byte 0."""
    bits: int
    label: str
    title: str
    kind: str


def cells(layout: Any) -> Iterator[Cell]:
    """What is drawn of a layout, by position: leaves of patterns, elements of short arrays, nibbles, fields."""
    for f in layout.fields:
        kind = KINDS.get(f.kind, f.kind)
        if f.kind in ("tensor", "data"):
            for leaf in next(iter(f.arms().values())):
                part = leaf.name.removeprefix(f"{f.name}.").replace("_elem", "")
                for i in range(leaf.count):
                    name = f"{f.name}.{part}" + (f"[{i}]" if leaf.is_array else "")
                    yield Cell((leaf.offset + i * leaf.itemsize) * 8, leaf.itemsize * 8, name, f"{name}: {f.doc}", kind)
        elif f.kind == "zeros":
            yield Cell(f.offset * 8, f.size * 8, "0", f"{f.name}: {f.doc}", kind)
        elif f.kind == "ungrounded":
            yield Cell(f.offset * 8, f.size * 8, "not grounded", f"{f.name}: {f.doc}", kind)
        else:
            bits = f.bits or f.size * 8
            yield Cell(f.offset * 8 + f.shift, bits, f.name, f"{f.name} ({f.type}): {f.doc}", kind)


def svg(layout: Any, title: str) -> str:
    """The drawing. Lower bits stand left, as lower bytes do."""
    width, height = MARGIN + 4 * BYTE + 2, 16 * ROW + 24
    parts = [
        f'<div class="layout"><svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        *(f'<text class="byte" x="{MARGIN + i * BYTE + 2}" y="14">+{i}</text>' for i in range(4)),
        *(f'<text class="byte" x="0" y="{20 + row * ROW + 20}">{4 * row}</text>' for row in range(16)),
    ]
    for cell in cells(layout):
        parts += _cell(cell)
    return "".join([*parts, "</svg></div>"])


def _cell(cell: Cell) -> Iterator[str]:
    shown = False
    at, left = cell.first, cell.bits
    yield f"<g><title>{escape(cell.title)}</title>"
    while left:
        row, inside = divmod(at, 32)
        run = min(left, 32 - inside)
        x, y, w = MARGIN + inside * BYTE / 8, 20 + row * ROW, run * BYTE / 8
        yield f'<rect class="{cell.kind}" x="{x:g}" y="{y:g}" width="{w:g}" height="{ROW - 2}"/>'
        if not shown and cell.label:
            room = int((w - 3) / LETTER)
            label = cell.label if len(cell.label) <= room else cell.label[: room - 1] + "…"
            yield f'<text x="{x + w / 2:g}" y="{y + 18:g}" text-anchor="middle">{escape(label)}</text>'
            shown = True
        at, left = at + run, left - run
    yield "</g>"

"""Golden-vector files of our own: a leaf's results for given, boundary and random operands."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.leaves import PAGES, Leaf, find
from gpsimd_core.isa.leaves.names import Slot
from gpsimd_core.isa.leaves.operands import patterns
from gpsimd_core.vectors.columns import Column

__all__ = ["DEFAULT_COUNT", "boundary_patterns", "make_vectors", "to_toml"]

DEFAULT_COUNT = 64


def boundary_patterns(bits: int, floating: bool = False) -> tuple[int, ...]:
    """The patterns of a width at which values go wrong: ends of the ranges, and for floats every class of number."""
    top, last = 1 << (bits - 1), (1 << bits) - 1
    if not floating:
        return tuple(dict.fromkeys(x & last for x in (0, 1, 2, top - 1, top, top + 1, last, last - 1, last // 3)))
    fraction = 10 if bits == 16 else 23
    infinity, one = top - (1 << fraction), (top >> 1) - (1 << fraction)
    quiet = 1 << (fraction - 1)
    positive = (
        *(0, 1, (1 << fraction) - 1, 1 << fraction),
        *(one >> 1, one - 1, one, one + 1, one + quiet, one + (3 << (fraction - 1))),
        *(infinity - 1, infinity, infinity + 1, infinity + quiet, infinity + quiet + 5),
    )
    return tuple(sign | x for x in positive for sign in (0, top))


def make_vectors(
    name: str,
    operands: Sequence[Sequence[Any] | Mapping[str, Any]] | None = None,
    *,
    count: int = DEFAULT_COUNT,
    seed: int = 0,
) -> dict[str, Any]:
    """The content of a golden-vector file for one leaf, as `check_vectors` takes it.

    Args:
        name: full or short name of a leaf.
        operands: one item a row, operands in the leaf's order or by name, as the leaf takes them; a left-out mode is
            0. None: boundary patterns first, then random ones.
        count: number of generated rows.
        seed: of the random operands; the same seed gives the same file.

    Returns:
        Schema 2 of the leaf file, with results of the plain functions and evidence class `rule`: worked out from the
        published rule, not seen on hardware.

    Raises:
        BadValue: unknown leaf, operands that do not fit, a count below 1.
        Unsupported: no source gives the leaf's value, or its value for the given operands.
    """
    leaf = find(name)
    if leaf.missing:
        raise Unsupported(f"leaf {leaf.name}", leaf.missing)
    if count < 1:
        raise BadValue(f"count is {count}; at least one row is needed")
    outputs = [slot for slot in leaf.results if slot.name not in leaf.unpublished]
    rows = []
    for given in _given(leaf, operands) if operands is not None else _generated(leaf, random.Random(seed)):
        try:
            results = leaf.compute(given, fast=False)
        except Unsupported:
            if operands is not None:
                raise
            continue
        cells = [_cell(slot, patterns(slot, given[slot.name], leaf.format, slot.name)) for slot in leaf.args]
        rows.append({"i": cells, "o": [_cell(slot, results[slot.name]) for slot in outputs]})
        if operands is None and len(rows) == count:
            break
    group = {
        "id": leaf.short,
        "leaf": leaf.name,
        "family": leaf.family,
        "inputs": [Column.for_slot(slot).text for slot in leaf.args],
        "outputs": [Column.for_slot(slot).text for slot in outputs],
        "pages": list(leaf.pages),
        "evidence": "rule",
        "model_checked": False,
        "note": "Computed by gpsimd from the published rule; nothing here was seen on hardware.",
        "rows": rows,
    }
    return {"schema": 2, "pages": {tag: PAGES[tag] for tag in leaf.pages}, "group": [group]}


def _given(leaf: Leaf, operands: Sequence[Sequence[Any] | Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    names = [slot.name for slot in leaf.args]
    for row in operands:
        if not isinstance(row, Mapping) and len(row) > len(names):
            raise BadValue(f"{leaf.name} takes {len(names)} operands, got {len(row)}")
        given = dict(row) if isinstance(row, Mapping) else dict(zip(names, row, strict=False))
        if leaf.takes_mode:
            given.setdefault("mode", 0)
        missing = [name for name in names if name not in given]
        if missing:
            raise BadValue(f"{leaf.name} takes {', '.join(names)}; {missing[0]} is missing")
        yield given


def _generated(leaf: Leaf, draw: random.Random) -> Iterator[dict[str, Any]]:
    """Operands without end: every pair of boundary patterns of the first two arguments first, in mixed order."""
    lists = [_choices(leaf, slot) for slot in leaf.args]
    first = lists[0]
    second = lists[1] if len(lists) > 1 else (0,)
    pairs = [(a, b) for a in range(len(first)) for b in range(len(second))]
    draw.shuffle(pairs)
    for a, b in pairs[: max(len(first), 256)]:
        picks = [first[a], *([second[b]] if len(lists) > 1 else [])]
        picks += [draw.choice(choices) for choices in lists[2:]]
        yield {slot.name: _operand(slot, pick, draw) for slot, pick in zip(leaf.args, picks, strict=True)}
    while True:
        yield {slot.name: _operand(slot, None, draw, leaf.domain) for slot in leaf.args}


def _choices(leaf: Leaf, slot: Slot) -> Sequence[int]:
    if slot.name == "mode" and leaf.takes_mode:
        return range(5)
    for name, least, greatest in leaf.domain:
        if name == slot.name:
            return range(least, greatest + 1)
    return boundary_patterns(slot.bits, slot.floating)


def _operand(slot: Slot, pick: int | None, draw: random.Random, domain: Sequence[tuple[str, int, int]] = ()) -> Any:
    """A boundary pattern, in a register among others of its kind; or, without one, random bits."""

    def one() -> int:
        limits = next(((least, greatest) for name, least, greatest in domain if name == slot.name), None)
        if limits:
            return draw.randint(*limits)
        if slot.name == "mode" and slot.bits == 3:
            return draw.randrange(5)
        edges = boundary_patterns(slot.bits, slot.floating)
        return draw.choice(edges) if draw.random() < 0.25 else draw.getrandbits(slot.bits)

    if not slot.lanes:
        return one() if pick is None else pick
    lanes = [one() for _ in range(slot.lanes)]
    if pick is not None:
        for index in range(slot.lanes):
            if draw.random() < 0.5:
                lanes[index] = pick
    return np.array(lanes, np.uint64) if slot.flat or slot.bits == 64 else np.array(lanes)


def _cell(slot: Slot, array: Any) -> Any:
    """A pattern as a cell of a file."""
    if slot.flat:
        return f"{int.from_bytes(np.ascontiguousarray(array).tobytes(), 'little'):0128x}"
    digits = -(-slot.bits // 4)
    if slot.lanes:
        texts = [f"{lane:0{digits}x}" for lane in np.asarray(array).tolist()]
        return {"rep": texts[0]} if len(set(texts)) == 1 else {"list": texts}
    if slot.words:
        return "".join(f"{word:08x}" for word in reversed(np.asarray(array).tolist()))
    return f"{int(array):0{digits}x}"


def to_toml(content: Mapping[str, Any]) -> str:
    """The content of a leaf file as TOML text, one row a line."""
    lines = ["schema = 2", "", "[pages]"]
    lines += [f"{tag} = {_text(title)}" for tag, title in content["pages"].items()]
    for group in content["group"]:
        lines += ["", "[[group]]"]
        lines += [f"{key} = {_inline(value)}" for key, value in group.items() if key != "rows"]
        lines += ["rows = [", *(f"  {_inline(row)}," for row in group["rows"]), "]"]
    return "\n".join(lines) + "\n"


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(_inline(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_inline(item)}' for key, item in value.items())} }}"
    return str(value)


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

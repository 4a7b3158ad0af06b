"""Groups of leaf rows: read strictly, every row bound to its leaf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from gpsimd_core.errors import BadValue
from gpsimd_core.isa.leaves import Leaf, find
from gpsimd_core.isa.leaves.names import Slot
from gpsimd_core.vectors.columns import Column
from gpsimd_core.vectors.strict import Place, choice, digits, table, text_list

__all__ = ["EVIDENCE", "KINDS", "LeafRow", "read_groups"]

EVIDENCE = ("driven", "disassembly", "carried", "rule", "recommended")
KINDS = ("call", "lane", "steps", "merge", "repeat", "probe")

_REQUIRED = {
    "id": str,
    "leaf": str,
    "family": str,
    "inputs": list,
    "outputs": list,
    "pages": list,
    "evidence": str,
    "model_checked": bool,
    "rows": list,
}
_OPTIONAL = {"kind": str, "bind": dict, "fixed": dict, "unpinned": list, "note": str}
_TRAILING = {"merge": ("old", "keep"), "repeat": ("count",)}


@frozen(kw_only=True)
class LeafRow:
    """One row: a leaf, its operands and what it should give."""

    group: str
    row: int
    evidence: str
    kind: str
    leaf: Leaf
    operands: tuple[tuple[Column, Any], ...]
    """Cells of the row, then what `fixed` and `bind` give to every row of the group."""
    expected: tuple[tuple[Column, Any], ...]
    """Results that are compared, flags included."""


@frozen(kw_only=True)
class _Group:
    """The head of a group."""

    id: str
    leaf: str
    kind: str
    family: str
    evidence: str
    inputs: tuple[Column, ...]
    outputs: tuple[Column, ...]
    bind: dict[str, Any]
    fixed: dict[str, Any]
    unpinned: frozenset[str]
    place: Place

    @property
    def arguments(self) -> tuple[Column, ...]:
        """Input columns that are arguments of the leaf."""
        trailing = _TRAILING.get(self.kind, ())
        return tuple(c for c in self.inputs if c.kind != "name" and c.name not in trailing)


def read_groups(groups: list[Any], pages: dict[str, Any], file: str) -> Iterator[LeafRow]:
    """Every row of the `[[group]]` tables.

    Raises:
        BadInput: anything that the format does not allow, with group and row.
    """
    seen: set[str] = set()
    for number, raw in enumerate(groups, 1):
        name = raw.get("id") if isinstance(raw, dict) and isinstance(raw.get("id"), str) else f"number {number}"
        place = Place(file, f"group {name}")
        group = _head(raw, pages, place)
        if group.id in seen:
            raise place.wrong("the id is used twice")
        seen.add(group.id)
        checked: dict[str, Leaf] = {}
        for index, row in enumerate(raw["rows"], 1):
            yield _row(group, row, index, pages, checked, place.at(f"row {index}"))


def _head(raw: Any, pages: dict[str, Any], place: Place) -> _Group:
    table(raw, place, _REQUIRED, _OPTIONAL)
    kind = choice(raw.get("kind", "call"), place, "kind", KINDS)
    choice(raw["evidence"], place, "evidence", EVIDENCE)
    for tag in text_list(raw["pages"], place, "pages"):
        choice(tag, place, "pages", pages)
    inputs = tuple(Column.parse(text, place, steps=kind == "steps", output=False) for text in raw["inputs"])
    outputs = tuple(Column.parse(text, place, steps=False, output=True) for text in raw["outputs"])
    for columns in (inputs, outputs):
        names = [column.name for column in columns]
        if len(set(names)) != len(names):
            raise place.wrong(f"two columns of one name: {', '.join(names)}")
    unpinned = frozenset(text_list(raw.get("unpinned", []), place, "unpinned"))
    stray = unpinned - {column.name for column in outputs}
    if stray:
        raise place.wrong(f"unpinned names {sorted(stray)[0]!r}, which is no output")
    trailing = _TRAILING.get(kind, ())
    if trailing and tuple(column.name for column in inputs[-len(trailing) :]) != trailing:
        raise place.wrong(f"kind {kind} needs {' and '.join(trailing)} as last columns")
    if kind == "merge" and len(outputs) != 1:
        raise place.wrong("kind merge has one output")
    wanted = set(re.findall(r"\{([^{}]*)\}", raw["leaf"]))
    named = {column.name for column in inputs if column.kind == "name"}
    if wanted != named:
        raise place.wrong(f"leaf {raw['leaf']!r} and the name columns ({', '.join(sorted(named)) or 'none'}) differ")
    return _Group(
        id=raw["id"],
        leaf=raw["leaf"],
        kind=kind,
        family=raw["family"],
        evidence=raw["evidence"],
        inputs=inputs,
        outputs=outputs,
        bind=raw.get("bind", {}),
        fixed=raw.get("fixed", {}),
        unpinned=unpinned,
        place=place,
    )


def _row(group: _Group, raw: Any, index: int, pages: dict[str, Any], checked: dict[str, Leaf], place: Place) -> LeafRow:
    table(raw, place, {"i": list, "o": list}, {"f": dict, "s": str})
    for key, columns in (("i", group.inputs), ("o", group.outputs)):
        if len(raw[key]) != len(columns):
            raise place.wrong(f"{key} has {len(raw[key])} items; {len(columns)} columns are named")
    for tag in raw["s"].split("+") if "s" in raw else ():
        choice(tag, place, "s", pages)
    names = {
        c.name: c.value(cell, place, None) for c, cell in zip(group.inputs, raw["i"], strict=True) if c.kind == "name"
    }
    name = group.leaf
    for key, text in names.items():
        name = name.replace(f"{{{key}}}", text)
    if name not in checked:
        checked[name] = _leaf(group, name, place)
    leaf = checked[name]
    lanes = _lane_count(group, leaf)
    operands = [
        (c, c.value(cell, place, lanes)) for c, cell in zip(group.inputs, raw["i"], strict=True) if c.kind != "name"
    ]
    for key, cell in group.fixed.items():
        column = Column.for_slot(leaf.argument(key))
        operands.append((column, column.value(cell, place, lanes)))
    operands += [(Column.for_slot(leaf.argument(key)), number) for key, number in group.bind.items()]
    expected = [(c, c.value(cell, place, lanes)) for c, cell in zip(group.outputs, raw["o"], strict=True)]
    compared = [(c, value) for c, value in expected if c.name not in group.unpinned]
    return LeafRow(
        group=group.id,
        row=index,
        evidence=group.evidence,
        kind=group.kind,
        leaf=leaf,
        operands=tuple(operands),
        expected=(*compared, *_flags(group, raw.get("f", {}), leaf, place)),
    )


def _flags(group: _Group, raw: dict[str, Any], leaf: Leaf, place: Place) -> Iterator[tuple[Column, int]]:
    outputs = {column.name for column in group.outputs}
    for name, value in raw.items():
        slot = next((s for s in leaf.results if s.name == name and s.bits == 1), None)
        if slot is None or name in outputs or group.kind == "merge":
            raise place.wrong(f"f names {name!r}, which is no flag of {leaf.name} beside the outputs")
        if type(value) is not int or value not in (0, 1):
            raise place.wrong(f"f: {name} is {value!r}; allowed: 0, 1")
        yield Column.for_slot(slot), value


def _lane_count(group: _Group, leaf: Leaf) -> int | None:
    """How many lanes a `lanes` column speaks of."""
    if group.kind == "steps":
        return 64  # positions in the list, one bit each
    columns = [column.lanes for column in group.inputs + group.outputs if column.kind == "vector"]
    return columns[0] if columns else leaf.format.lanes if leaf.format else None


def _leaf(group: _Group, name: str, place: Place) -> Leaf:
    """The leaf of a row, after holding the group's columns against its arguments and results."""
    try:
        leaf = find(name)
    except BadValue as error:
        raise place.wrong(str(error)) from None
    if leaf.name != name:
        raise place.wrong(f"leaf {name!r} is written with its full name, {leaf.name!r}")
    if leaf.family != group.family:
        raise place.wrong(f"family is {group.family!r}; {name} belongs to {leaf.family}")
    if group.kind == "probe":
        return leaf
    lane_by_lane = group.kind in ("lane", "merge", "steps")
    slots = {slot.name: slot for slot in leaf.args}
    for column in group.arguments:
        _fit(column, slots, f"argument of {name}", lane_by_lane, place)
    for column in group.outputs:
        _fit(column, {slot.name: slot for slot in leaf.results}, f"result of {name}", lane_by_lane, place)
    for key, value in group.bind.items():
        slot = slots.get(key)
        if slot is None or slot.row or slot.flat:
            raise place.wrong(f"bind names {key!r}, which is no single value that {name} takes")
        if type(value) is not int or not 0 <= value < 1 << slot.bits:
            raise place.wrong(f"bind: {key} is {value!r}; it must be an integer of {slot.bits} bits")
    for key in group.fixed:
        if key not in slots or not slots[key].lanes:
            raise place.wrong(f"fixed names {key!r}, which is no vector that {name} takes")
    _check_order(group, leaf, place)
    return leaf


def _fit(column: Column, slots: dict[str, Slot], role: str, lane_by_lane: bool, place: Place) -> None:
    slot = slots.get(column.name)
    if slot is None:
        raise place.wrong(f"column {column.text}: no {role}; it has {', '.join(slots)}")
    if not column.fits(slot, lane_by_lane=lane_by_lane):
        raise place.wrong(f"column {column.text}: the {role} is {slot.name}:{slot.type}")


def _check_order(group: _Group, leaf: Leaf, place: Place) -> None:
    given = [column.name for column in group.arguments]
    if group.kind == "steps":
        state = {slot.name for slot in leaf.results}
        free = [slot.name for slot in leaf.args if slot.name not in state and slot.name not in given]
        if len(given) != 1 or len(free) != 1 or group.bind or group.fixed:
            raise place.wrong(f"kind steps folds one list column; {leaf.name} is no such step")
        return
    twice = [name for name in given if name in group.bind or name in group.fixed]
    if twice or set(group.bind) & set(group.fixed):
        raise place.wrong(f"argument {(twice or sorted(set(group.bind) & set(group.fixed)))[0]} is given twice")
    wanted = [slot.name for slot in leaf.args if slot.name not in group.bind and slot.name not in group.fixed]
    if given != wanted:
        raise place.wrong(f"inputs are {', '.join(given)}; {leaf.name} takes {', '.join(wanted)} in this order")


def read_encodings(encodings: list[Any], pages: dict[str, Any], file: str) -> Iterator[tuple[str, int, str, str, str]]:
    """Every row of the `[[encoding]]` tables: (id, row, evidence, text, word).

    Raises:
        BadInput: anything that the format does not allow.
    """
    required = {"id": str, "pages": list, "evidence": str, "rows": list}
    for number, raw in enumerate(encodings, 1):
        place = Place(file, f"encoding {raw.get('id', number) if isinstance(raw, dict) else number}")
        table(raw, place, required, {})
        for tag in text_list(raw["pages"], place, "pages"):
            choice(tag, place, "pages", pages)
        for index, row in enumerate(raw["rows"], 1):
            here = place.at(f"row {index}")
            table(row, here, {"text": str, "word": str}, {})
            bits = 16 if len(row["word"]) == 4 else 24
            digits(row["word"], bits, here, "word")
            yield raw["id"], index, raw["evidence"], row["text"], row["word"]

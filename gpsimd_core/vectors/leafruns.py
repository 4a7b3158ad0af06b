"""Running leaf rows: each kind of row turns into calls of its leaf, and results into the form of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gpsimd_core.errors import BadInput, BadValue, Unsupported
from gpsimd_core.isa.leaves.names import Slot
from gpsimd_core.vectors.columns import Column, Lanes, shown
from gpsimd_core.vectors.leafrows import LeafRow
from gpsimd_core.vectors.report import FAILED, PASSED, UNSUPPORTED, Difference, Outcome

__all__ = ["run_row"]

Results = Mapping[str, Any]


def run_row(row: LeafRow, compiled: bool) -> Outcome:
    """Evaluate a row by the plain functions and, with `compiled`, by the compiled ones too.

    Raises:
        BadInput: an operand is outside what the leaf takes.
    """
    status, reason = PASSED, _unsupported(row)
    differences: list[Difference] = []
    if not reason:
        try:
            for fast in (False, True) if compiled else (False,):
                how = ("compiled" if fast else "uncompiled") if compiled else ""
                differences += _compare(row, _EVALUATE[row.kind](row, fast), how)
        except Unsupported as error:
            reason, differences = error.missing, []
        except BadValue as error:
            raise BadInput(f"group {row.group}, row {row.row}: {error}") from None
    if reason:
        status = UNSUPPORTED
    elif differences:
        status = FAILED
    operands = ", ".join(f"{column.name}={shown(column, value)}" for column, value in row.operands)
    return Outcome(
        group=row.group,
        row=row.row,
        evidence=row.evidence,
        status=status,
        what=f"{row.leaf.name}({operands})",
        reason=reason,
        differences=tuple(differences),
    )


def _unsupported(row: LeafRow) -> str:
    if row.leaf.missing:
        return row.leaf.missing
    if row.kind == "probe":
        return "a single observation; the rule behind it is not known"
    hidden = [column.name for column, _ in row.expected if column.name in row.leaf.unpublished]
    return f"the meaning of {hidden[0]} was not published" if hidden else ""


def _compare(row: LeafRow, found: Results, how: str) -> Iterator[Difference]:
    for column, expected in row.expected:
        value = found[column.name]
        if type(value) is not type(expected) or value != expected:
            yield Difference(name=column.name, expected=shown(column, expected), found=shown(column, value), how=how)


def _call(row: LeafRow, fast: bool) -> Results:
    slots = {slot.name: slot for slot in row.leaf.args}
    operands = {column.name: _operand(slots[column.name], value) for column, value in row.operands}
    return _cells(row, row.leaf.compute(operands, fast=fast))


def _lane(row: LeafRow, fast: bool) -> Results:
    slots = {slot.name: slot for slot in row.leaf.args}
    operands = {}
    for column, value in row.operands:
        slot = slots[column.name]
        alone = slot.lanes and column.kind == "number"
        operands[column.name] = _operand(slot, [value] + [0] * (slot.lanes - 1) if alone else value)
    results = row.leaf.compute(operands, fast=fast)
    registers = {slot.name for slot in row.leaf.results if slot.lanes}
    first = {name: array[0] if name in registers else array for name, array in results.items()}
    return _cells(row, first)


def _steps(row: LeafRow, fast: bool) -> Results:
    ((column, items),) = row.operands
    state_names = [slot.name for slot in row.leaf.args if slot.name in {result.name for result in row.leaf.results}]
    position = next(s.name for s in row.leaf.args if s.name not in state_names and s.name != column.name)
    state: dict[str, Any] = dict.fromkeys(state_names, items[0]) | {"winners": 1}
    for index in range(1, len(items)):
        operands = {**state, column.name: items[index], position: index}
        state = dict(row.leaf.compute(operands, fast=fast))
    return _cells(row, state)


def _merge(row: LeafRow, fast: bool) -> Results:
    cells = {column.name: value for column, value in row.operands}
    old, keep = cells.pop("old"), cells.pop("keep")
    width = next(slot.bits for slot in row.leaf.results if slot.name == row.expected[0][0].name)
    operands = {name: np.array(value, object) for name, value in cells.items()}
    fresh = row.leaf.compute(operands, fast=fast)
    results = _cells(row, fresh)
    kill = [0 if lane in keep.members else (1 << width) - 1 for lane in range(len(old))]
    return {
        name: [(new & ~killed) | (kept & killed) for new, kept, killed in zip(lanes, old, kill, strict=True)]
        for name, lanes in results.items()
    }


def _repeat(row: LeafRow, fast: bool) -> Results:
    slots = {slot.name: slot for slot in row.leaf.args}
    cells = {column.name: value for column, value in row.operands}
    count = cells.pop("count")
    operands = {name: _operand(slots[name], value) for name, value in cells.items()}
    first, value = row.leaf.args[0].name, row.leaf.values[0].name
    results: Results = {value: operands[first]}
    for _ in range(count):
        results = row.leaf.compute({**operands, first: results[value]}, fast=fast)
    return _cells(row, results)


_EVALUATE: dict[str, Callable[[LeafRow, bool], Results]] = {
    "call": _call,
    "lane": _lane,
    "steps": _steps,
    "merge": _merge,
    "repeat": _repeat,
}


def _operand(slot: Slot, value: Any) -> Any:
    """A cell as the leaf takes it."""
    if isinstance(value, Lanes):
        return np.uint64(value.word)
    if slot.flat and isinstance(value, list):
        return np.array(value + [0] * (64 - len(value)), np.uint8)
    if slot.flat:
        return np.frombuffer(value.to_bytes(64, "little"), np.uint8)
    return np.array(value, object) if isinstance(value, list) else value


def _cells(row: LeafRow, results: Results) -> dict[str, Any]:
    """Results in the forms of their columns."""
    slots = {slot.name: slot for slot in row.leaf.results}
    return {
        column.name: _cell(column, slots[column.name], results[column.name], expected)
        for column, expected in row.expected
    }


def _cell(column: Column, slot: Slot, result: Any, expected: Any) -> Any:
    if column.kind == "lanes":
        return Lanes.of(int(result), expected.count)
    if column.kind == "bytes":
        return np.ascontiguousarray(result).view(np.uint8)[: len(expected)].tolist()
    if column.kind == "bool":
        whole = (1 << slot.bits) - 1
        return {0: False, whole: True}.get(int(result), f"field {int(result):#x}, neither all nor none")
    if slot.flat:
        return int.from_bytes(np.ascontiguousarray(result).tobytes(), "little")
    if column.kind == "vector" and not slot.words:
        return np.asarray(result).tolist()
    if column.kind == "vector":
        return [_joined(words) for words in np.asarray(result).tolist()]
    return _joined(np.asarray(result).tolist()) if slot.words else int(result)


def _joined(words: list[int]) -> int:
    return sum(word << (32 * k) for k, word in enumerate(words))

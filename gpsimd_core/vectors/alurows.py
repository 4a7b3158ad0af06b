"""Rows of engine-level values: conversions between formats, ALU operators, and single leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

from gpsimd_core.errors import BadInput, BadValue, Unsupported
from gpsimd_core.isa.alu import evaluate, operator_of
from gpsimd_core.isa.convert import codes_of, convert
from gpsimd_core.isa.formats import Format, Kind, format_row
from gpsimd_core.isa.lanes.convert import narrow_int64_row, narrow_row, widen_int64_row, widen_row
from gpsimd_core.isa.lanes.rounding import MODES
from gpsimd_core.isa.leaves import find
from gpsimd_core.vectors import values
from gpsimd_core.vectors.columns import Column
from gpsimd_core.vectors.leafrows import LeafRow
from gpsimd_core.vectors.leafruns import run_row
from gpsimd_core.vectors.report import FAILED, PASSED, UNSUPPORTED, Difference, Outcome
from gpsimd_core.vectors.strict import Place, choice, digits, table

__all__ = ["LEVELS", "ORIGINS", "EngineRow", "read_vectors", "run_vector"]

LEVELS = ("engine", "format", "ivp")
ORIGINS = ("oracle", "page", "vendor", "derived")
ROUNDINGS = ("RNE", "RTZ", "RPI", "RMI", "RNA")

_REQUIRED = {
    "group": str,
    "op": str,
    "inputs": list,
    "expected": list,
    "level": str,
    "origin": str,
    "checked": bool,
    "source": str,
}
_OPTIONAL = {"from": str, "to": str, "mode": str, "policies": dict, "flags": dict, "note": str}


@frozen(kw_only=True)
class EngineRow:
    """One conversion or operator with its operands and the code it should give."""

    group: str
    row: int
    origin: str
    op: str
    source: Format
    target: Format
    mode: str
    policies: dict[str, str | int]
    inputs: tuple[int, ...]
    expected: int


def read_vectors(vectors: list[Any], file: str) -> Iterator[EngineRow | LeafRow]:
    """Every `[[vector]]` row, numbered within its group.

    Raises:
        BadInput: anything that the format does not allow.
    """
    counts: dict[str, int] = {}
    for number, raw in enumerate(vectors, 1):
        group = raw.get("group") if isinstance(raw, dict) else None
        name = group if isinstance(group, str) else "?"
        counts[name] = counts.get(name, 0) + 1
        yield _row(raw, counts[name], Place(file, f"vector {number} (group {name}, row {counts[name]})"))


def _row(raw: Any, index: int, place: Place) -> EngineRow | LeafRow:
    table(raw, place, _REQUIRED, _OPTIONAL)
    choice(raw["level"], place, "level", LEVELS)
    choice(raw["origin"], place, "origin", ORIGINS)
    mode = choice(raw.get("mode", "RNE"), place, "mode", ROUNDINGS)
    policies = values.policies(raw.get("policies", {}), place)
    if len(raw["expected"]) != 1:
        raise place.wrong(f"expected has {len(raw['expected'])} values; it holds one")
    arity = _arity(raw["op"])
    if arity is None:
        return _leaf_row(raw, index, mode, place)
    for key in ("from", "to"):
        if key not in raw:
            raise place.wrong(f"key {key!r} is missing; {raw['op']} needs it")
    if "flags" in raw:
        raise place.wrong("flags belong to leaves")
    source, target = values.dtype(raw["from"], place, "from"), values.dtype(raw["to"], place, "to")
    if len(raw["inputs"]) != arity:
        raise place.wrong(f"{raw['op']} takes {arity} operands, found {len(raw['inputs'])}")
    return EngineRow(
        group=raw["group"],
        row=index,
        origin=raw["origin"],
        op=raw["op"],
        source=source,
        target=target,
        mode=mode,
        policies=policies,
        inputs=tuple(values.code(value, source, place, "inputs") for value in raw["inputs"]),
        expected=values.code(raw["expected"][0], target, place, "expected"),
    )


def _arity(op: str) -> int | None:
    """Operands of a conversion or operator, None for what may be a leaf."""
    if op == "convert":
        return 1
    if not op.isupper():
        return None
    try:
        return 1 if operator_of(op).unary else 2
    except BadValue:
        return None


def _leaf_row(raw: dict[str, Any], index: int, mode: str, place: Place) -> LeafRow:
    """A leaf's row in the terms of leaf groups."""
    try:
        leaf = find(raw["op"])
    except BadValue:
        leaf = None
    if leaf is None or leaf.name != raw["op"]:
        raise place.wrong(f"op is {raw['op']!r}, which is neither convert nor an ALU operator nor a leaf")
    for key in ("from", "to", "policies"):
        if key in raw:
            raise place.wrong(f"{key} does not belong to a leaf: its widths are in its name")
    slots = [slot for slot in leaf.args if not (slot.name == "mode" and leaf.takes_mode)]
    if len(leaf.values) != 1 or any(slot.lanes or slot.flat for slot in (*slots, *leaf.values)):
        raise place.wrong(f"{leaf.name} is no leaf of single values with one result")
    if len(raw["inputs"]) != len(slots):
        raise place.wrong(f"{leaf.name} takes {len(slots)} operands, found {len(raw['inputs'])}")
    operands = [
        (Column.for_slot(slot), digits(value, slot.bits, place, slot.name))
        for slot, value in zip(slots, raw["inputs"], strict=True)
    ]
    if leaf.takes_mode:
        operands.append((Column.for_slot(leaf.argument("mode")), _leaf_mode(mode, place)))
    elif "mode" in raw and raw["mode"] != "RNE":
        raise place.wrong(f"{leaf.name} takes no mode")
    value = leaf.values[0]
    expected = [(Column.for_slot(value), digits(raw["expected"][0], value.bits, place, "expected"))]
    for flag, bit in raw.get("flags", {}).items():
        choice(flag, place, "flags", leaf.flags)
        if type(bit) is not int or bit not in (0, 1):
            raise place.wrong(f"flags: {flag} is {bit!r}; allowed: 0, 1")
        expected.append((Column.for_slot(next(s for s in leaf.results if s.name == flag)), bit))
    return LeafRow(
        group=raw["group"],
        row=index,
        evidence=raw["origin"],
        kind="call",
        leaf=leaf,
        operands=tuple(operands),
        expected=tuple(expected),
    )


def _leaf_mode(mode: str, place: Place) -> int:
    codes = {"RNE": 0, "RTZ": 1, "RPI": 2, "RMI": 3}
    return codes[choice(mode, place, "mode of a leaf", codes)]


def run_vector(row: EngineRow | LeafRow, compiled: bool) -> Outcome:
    """Evaluate a row by the plain functions and, with `compiled`, by the compiled ones too.

    Raises:
        BadInput: formats that the operator does not take.
    """
    if isinstance(row, LeafRow):
        return run_row(row, compiled)
    status, reason = PASSED, ""
    differences: list[Difference] = []
    try:
        for fast in (False, True) if compiled else (False,):
            found = _compute(row, fast)
            if found != row.expected:
                differences.append(
                    Difference(
                        name="result",
                        expected=values.shown_code(row.expected, row.target),
                        found=values.shown_code(found, row.target),
                        how=("compiled" if fast else "uncompiled") if compiled else "",
                    )
                )
    except Unsupported as error:
        status, reason, differences = UNSUPPORTED, error.missing, []
    except BadValue as error:
        raise BadInput(f"group {row.group}, row {row.row}: {error}") from None
    operands = ", ".join(values.shown_code(number, row.source) for number in row.inputs)
    settings = "".join(f", {name} = {value}" for name, value in row.policies.items())
    return Outcome(
        group=row.group,
        row=row.row,
        evidence=row.origin,
        status=FAILED if differences else status,
        what=f"{row.op} {row.source.name} to {row.target.name}, {row.mode}{settings}: {operands}",
        reason=reason,
        differences=tuple(differences),
    )


def _compute(row: EngineRow, fast: bool) -> int:
    codes = [np.array([number], row.source.code_dtype) for number in row.inputs]
    if row.op != "convert":
        found = evaluate(
            row.op, *codes, from_=row.source, to=row.target, rounding=row.mode, policies=row.policies, slow=not fast
        )
        return int(found[0])
    if fast or row.source == row.target:
        taken = convert(codes[0], row.target, rounding=row.mode, policies=row.policies, from_=row.source)
        return int(codes_of(taken, row.target)[0])
    return _convert_plainly(row, codes[0])


def _convert_plainly(row: EngineRow, codes: np.ndarray[Any, Any]) -> int:
    """The conversion by the plain functions, through the fp32 hub."""
    row.source.require("reading")
    row.target.require("writing")
    reading = np.array(format_row(row.source, policies=row.policies))
    mode = None if row.mode == "RNE" and row.target.kind == Kind.FLOAT else MODES[row.mode]
    writing = np.array(format_row(row.target, policies=row.policies, rounding_mode=mode))
    hub, out = np.empty(1, np.uint32), np.empty(1, row.target.code_dtype)
    if row.source.bits == 64:
        widen_int64_row(codes, int(row.source.signed), hub)
    else:
        widen_row(codes, reading, hub)
    if row.target.bits == 64:
        narrow_int64_row(hub, writing, out)
    else:
        narrow_row(hub, writing, out, 0)
    return int(out[0])

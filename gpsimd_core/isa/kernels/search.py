"""Kernels of the search group: the eight largest, positions of loaded values, their replacement, sorting, non-zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpsimd_core.isa.enums import AluOp, Dtype
from gpsimd_core.isa.kernels.arrays import (
    HIGHEST,
    LOWEST,
    canonical,
    codes,
    integers,
    is_nan,
    order,
    scalar_bits,
    values,
)
from gpsimd_core.isa.lanestate import INDICES, INDICES_SET, MATCH, MATCH_SET

__all__ = [
    "find_index8",
    "find_index_missing",
    "indices_ready",
    "match_replace8",
    "match_value_load",
    "max8",
    "nonzero_with_count",
    "read_indices",
    "sort",
    "values_ready",
]

Array = np.ndarray[Any, Any]

EIGHT = 8
ABSENT = 0xFFFFFFFF
FLOATING, SIGNED, UNSIGNED = 1, 2, 3
"""How loaded match values are kept (column MATCH_SET): fp32 bits, or integers of 32 bits."""


def lane_of(step: Any) -> int:
    """The first lane of an instruction: the partition that it writes at, or reads at where it writes nothing."""
    o = (*step.instruction.writes, *step.instruction.reads)[0]
    return int(step.operands[o.name].partition)


# The eight largest -------------------------------------------------------------------------------------------------------


def max8(step: Any) -> dict[str, Any]:
    """The eight largest elements of each channel, largest first; the first of equals first.

    Under policy `reduce_nan`: suppress and select put NaN below -infinity, propagate above +infinity; select does not
    tell the zeros apart.
    """
    row = step.hub("data")
    keys = order(row, HIGHEST if step.policy("reduce_nan") == "propagate" else LOWEST)
    if step.policy("reduce_nan") == "select":
        keys = np.where(row & np.uint32(0x7FFFFFFF) == 0, np.int32(0), keys)
    ranks = (~keys.astype(np.int64) << 32) | np.arange(row.shape[1])  # all different: earlier ones first among equals
    places = np.sort(np.partition(ranks, EIGHT - 1, axis=1)[:, :EIGHT], axis=1) & 0xFFFFFFFF
    return {"out": step.narrowed("out", canonical(np.take_along_axis(row, places, axis=1)))}


# Loaded values ------------------------------------------------------------------------------------------------------------


def match_value_load(step: Any) -> dict[str, Any]:
    """Keep eight values a lane."""
    fmt = step.formats[step.operands["values"].code]
    kind = (SIGNED if fmt.signed else UNSIGNED) if fmt.is_integer else FLOATING
    kept = integers(step, "values").astype(np.uint32) if fmt.is_integer else step.hub("values")
    first = lane_of(step)
    flags = np.full((step.channels, 1), kind, np.uint32)
    return {"lanes": {(MATCH, first): kept, (MATCH_SET, first): flags}}


def values_ready(step: Any) -> str | None:
    """Which lane has no match values."""
    return _ready(step, MATCH_SET, "match values were loaded (match_value_load)")


def indices_ready(step: Any) -> str | None:
    """Which lane has no latched positions."""
    return _ready(step, INDICES_SET, "positions were latched (match_replace8)")


def _ready(step: Any, column: int, what: str) -> str | None:
    first = lane_of(step)
    missing = np.flatnonzero(step.state(column, first)[:, 0] == 0)
    return f"no {what} for lane {first + int(missing[0])}" if len(missing) else None


def positions(step: Any) -> Array:
    """Where the loaded values stand in the data: uint32, (channels, 8).

    Value k takes the first position of its equals; of several equal values each later one takes the next. What is not
    found is all ones. Two integers compare exactly, anything else as fp32 numbers.
    """
    first = lane_of(step)
    loaded, kinds = step.state(MATCH, first, EIGHT), step.state(MATCH_SET, first)[:, 0]
    fmt = step.formats[step.operands["data"].code]
    found = np.full((step.channels, EIGHT), ABSENT, np.uint32)
    hub = values(step.hub("data"))
    exact = integers(step, "data") if fmt.is_integer else None
    for kind in np.unique(kinds).tolist():
        lanes = np.flatnonzero(kinds == kind)
        wanted, rows = _comparable(loaded[lanes], kind, hub[lanes], None if exact is None else exact[lanes])
        found[lanes] = _places(wanted, rows)
    return found


def _places(wanted: Array, rows: Array) -> Array:
    """Where eight numbers stand in each row: uint32, (rows, 8)."""
    found = np.full(wanted.shape, ABSENT, np.uint32)
    for k in range(EIGHT):
        equal = rows == wanted[:, k : k + 1]
        earlier = (wanted[:, :k] == wanted[:, k : k + 1]).sum(axis=1)
        first = equal.argmax(axis=1)
        hits = equal[np.arange(len(rows)), first] & (earlier == 0)
        found[hits, k] = first[hits]
        for r in np.flatnonzero(earlier).tolist():
            places = np.flatnonzero(equal[r])
            if earlier[r] < len(places):
                found[r, k] = places[earlier[r]]
    return found


def _comparable(loaded: Array, kind: int, hub: Array, exact: Array | None) -> tuple[Array, Array]:
    """The loaded values and the elements of some channels in one kind of number."""
    if kind == FLOATING:
        return loaded.view(np.float32), hub
    number = loaded.view(np.int32).astype(np.int64) if kind == SIGNED else loaded.astype(np.int64)
    return (number.astype(np.float32), hub) if exact is None else (number, exact)


def find_index_missing(step: Any) -> str | None:
    """Which fact is missing, if one is."""
    bits, elements = 8 * step.operands["out"].size, step.operands["data"].elements
    if elements >= 1 << bits:
        return f"what a position beyond {bits} bits becomes; the source has {elements} elements"
    return None


def find_index8(step: Any) -> dict[str, Any]:
    """The position of each loaded value."""
    return {"out": positions(step).astype(f"u{step.operands['out'].size}")}


def match_replace8(step: Any) -> dict[str, Any]:
    """The data with each found value replaced by the immediate; the positions are latched."""
    found = positions(step)
    same = step.operands["data"].code == step.operands["out"].code
    out = step.read("data").copy() if same else step.narrowed("out", step.hub("data"))
    given = np.full((1, 1), step.number("immediate"), np.uint32)
    replacement = step.narrowed("out", given)[0, 0]
    channels, slots = np.nonzero(found != ABSENT)
    out[channels, found[channels, slots]] = replacement
    first = lane_of(step)
    latched = {(INDICES, first): found, (INDICES_SET, first): np.ones((step.channels, 1), np.uint32)}
    return {"out": out, "lanes": latched}


def read_indices(step: Any) -> dict[str, Any]:
    """The latched positions of each lane."""
    return {"out": step.state(INDICES, lane_of(step), EIGHT).astype(f"u{step.operands['out'].size}")}


# Sorting and counting ----------------------------------------------------------------------------------------------------


def sort(step: Any) -> dict[str, Any]:
    """Keys with their positions, equal keys in their order and NaN last."""
    data = codes(step, "keys")
    p = step.operands["keys"]
    if step.formats[p.code].is_integer:
        ranks, last = integers(step, "keys"), np.zeros(data.shape, bool)
    else:
        row = step.hub("keys")
        last = is_nan(row)
        ranks = np.where(row & np.uint32(0x7FFFFFFF) == 0, 0, order(row, 0)).astype(np.int64)
    ranks = -ranks if step.number("comparison") == AluOp.IS_GT else ranks
    places = np.argsort(np.where(last, 1 << 40, ranks), axis=1, kind="stable")
    index = (places.astype(np.uint32) + scalar_bits(step, "index_offset")).astype(data.dtype)
    pairs = np.stack((np.take_along_axis(data, places, axis=1), index), axis=2)
    return {"out": pairs.reshape(step.channels, -1).view(step.formats[p.code].dtype)}


def nonzero_with_count(step: Any) -> dict[str, Any]:
    """Positions of the non-zero elements in order, then padding, then their number."""
    data = codes(step, "data")
    if step.operands["data"].code == Dtype.FP32:
        counted = ((data & np.uint32(0x7FFFFFFF)) != 0) & ~is_nan(data)
    else:
        counted = data != 0
    out = np.repeat(scalar_bits(step, "padding_val"), data.shape[1] + 1, axis=1)
    offset = scalar_bits(step, "index_offset")
    channels, places = np.nonzero(counted)
    slots = (np.cumsum(counted, axis=1) - 1)[channels, places]
    out[channels, slots] = places.astype(np.uint32) + offset[channels, 0]
    out[:, -1] = counted.sum(axis=1)
    return {"out": out.view(np.int32)}

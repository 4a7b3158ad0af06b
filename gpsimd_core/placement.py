"""Operands and immediates at their places in storage, and access to what lies there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from attrs import evolve, frozen

from gpsimd_core.errors import Fault

__all__ = [
    "GROUP",
    "Immediate",
    "Immediates",
    "Placed",
    "Storage",
    "read_codes",
    "read_operand",
    "window",
    "write_operand",
]

GROUP = 16
"""Channels that share the indices of an index list, on every engine but PE."""


@frozen(kw_only=True)
class Placed:
    """An operand at its place in storage."""

    operand: str
    at: str
    region: str
    partition: int
    offset: int
    """Byte offset of the first element inside its partition."""
    base: int
    """Storage byte of the first element on the first channel."""
    pitch: int
    """Storage distance between channels."""
    size: int
    code: int
    """Wire dtype code."""
    num: tuple[int, ...]
    step: tuple[int, ...]
    channels: int
    elements: int
    """Elements a channel."""
    low: int
    high: int
    """Bytes of each partition that it touches lie in low to high - 1."""
    indices: tuple[tuple[int, ...], ...] = ()
    """Of an operand by an index list, for each GROUP channels: which elements from the first one on. `step` says nothing
    then."""
    index_list: Placed | None = None
    """Where the index list lies."""

    def spread(self) -> Iterator[Placed]:
        """The operand itself, or each place of one by an index list."""
        if not self.indices:
            yield self
        for group, row in enumerate(self.indices):
            first = GROUP * group
            for k in row:
                at = self.offset + k * self.size
                yield evolve(
                    self, partition=self.partition + first, offset=at, channels=min(GROUP, self.channels - first),
                    base=self.base + first * self.pitch + k * self.size, num=(1,), step=(1,), elements=1, low=at,
                    high=at + self.size, indices=(), index_list=None,
                )  # fmt: skip

    def same_places(self, other: Placed) -> bool:
        """Whether element k of both is the same bytes on the same partition, for every k."""
        return (
            (self.base, self.pitch, self.size) == (other.base, other.pitch, other.size)
            and self.elements == other.elements
            and self.indices == other.indices
            and (bool(self.indices) or _walk(self) == _walk(other))
        )

    def overlaps(self, other: Placed) -> bool:
        """Whether some byte may belong to both."""
        return (
            self.region == other.region
            and self.partition < other.partition + other.channels
            and other.partition < self.partition + self.channels
            and self.low < other.high
            and other.low < self.high
        )


@frozen(kw_only=True)
class Immediate:
    """A resolved immediate: inline bits, or the place of one element a channel."""

    source: int
    bits: int
    placed: Placed | None = None


class Immediates(dict[str, Immediate]):
    """Immediates by name. The fault of one that cannot be resolved is raised when a kernel asks for it: one that is never
    read, as imm0 of a merging select_reduce, may point anywhere."""

    def __init__(self) -> None:
        self.faults: dict[str, Fault] = {}

    def __missing__(self, name: str) -> Immediate:
        raise self.faults[name]


def _walk(p: Placed) -> tuple[tuple[int, int], ...]:
    """The dimensions that move, merged where one continues the other, so that equal walks compare equal."""
    dims: list[tuple[int, int]] = []
    for n, s in zip(p.num, p.step, strict=True):
        if n == 1:
            continue
        if dims and s == dims[-1][0] * dims[-1][1]:
            dims[-1] = (dims[-1][0] * n, dims[-1][1])
        else:
            dims.append((n, s))
    return tuple(dims)


class Storage(Protocol):
    """What holds the bytes of operands."""

    data: np.ndarray[Any, Any]


def window(memory: Storage, p: Placed, kind: np.dtype[Any] | None = None) -> np.ndarray[Any, Any]:
    """A strided view of an operand: (channels, outermost, ..., innermost), of `kind` or else of unsigned codes."""
    kind = kind or np.dtype(f"u{p.size}")
    shape = (p.channels, *reversed(p.num))
    strides = (p.pitch, *(s * p.size for s in reversed(p.step)))
    first = memory.data[p.base :].view(f"u{p.size}")  # numpy strides no array of a dtype that is not its own
    return np.lib.stride_tricks.as_strided(first, shape, strides).view(kind)


def read_codes(memory: Storage, p: Placed) -> np.ndarray[Any, Any]:
    """The elements of an operand in stream order, as unsigned codes: (channels, elements)."""
    if p.indices:
        return np.asarray(memory.data.view(f"u{p.size}")[_elements(p)])
    return window(memory, p).reshape(p.channels, p.elements)


def read_operand(memory: Storage, p: Placed, formats: Mapping[int, Any]) -> np.ndarray[Any, Any]:
    """The elements of an operand in stream order, read-only: (channels, elements)."""
    found: np.ndarray[Any, Any] = read_codes(memory, p).view(formats[p.code].dtype)
    found.flags.writeable = False
    return found


def _elements(p: Placed) -> np.ndarray[Any, Any]:
    """Where the elements of an operand by an index list stand in storage, counted in elements: (channels, elements)."""
    groups = np.repeat(np.array(p.indices, np.int64), GROUP, axis=0)[: p.channels]
    return np.asarray((p.base + np.arange(p.channels)[:, None] * p.pitch) // p.size + groups)


def write_operand(memory: Storage, p: Placed, value: np.ndarray[Any, Any], mask: Any = None) -> None:
    """Store elements in stream order; the last write to a place wins; only where `mask`, if one is given."""
    if p.indices:
        chosen = np.ones(value.shape, bool) if mask is None else np.asarray(mask, bool)
        memory.data.view(f"u{p.size}")[_elements(p)[chosen]] = value.view(f"u{p.size}")[chosen]
        return
    target = window(memory, p, value.dtype)
    shaped = value.reshape(target.shape)
    kept = None if mask is None else np.asarray(mask, bool).reshape(target.shape)
    if (0 in p.step and any(n > 1 and s == 0 for n, s in zip(p.num, p.step, strict=True))) or not _distinct(p):
        for k in np.ndindex(target.shape):
            if kept is None or kept[k]:
                target[k] = shaped[k]
    elif kept is None:
        target[...] = shaped
    else:
        target[kept] = shaped[kept]


def _distinct(p: Placed) -> bool:
    """Whether no two elements of a channel share a place, judged by nesting of the dimensions."""
    reach = 1
    for n, s in sorted(zip(p.num, p.step, strict=True), key=lambda d: abs(d[1])):
        if n > 1:
            if abs(s) < reach:
                return False
            reach += (n - 1) * abs(s)
    return True

"""Address words and patterns as columns: what an ADDR4 word says, where it lies, how many elements a pattern has."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import frozen

from gpsimd_core.isa.dtypes import SIZES
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.layout import Columns
from gpsimd_core.values import Geometry

__all__ = [
    "REGISTERS",
    "Addresses",
    "addresses",
    "aligned",
    "counts",
    "every",
    "legal_start",
    "one_of",
    "product",
    "read_words",
]

Bools = Any
"""A bool array of shape (records,)."""

REGISTERS = 64
"""Address registers of one stream."""


@frozen(kw_only=True, eq=False)
class Addresses:
    """The reading of one ADDR4 column, all arrays of shape (records,), or (1,) where all records agree."""

    register: Bools
    """The start address comes from a register."""
    register_ok: Bools
    """The register form is well made."""
    shape: Bools
    """Element counts come from shape registers."""
    indirect: Bools
    """The word is an index-list address, or names the register that holds one."""
    address: np.ndarray[Any, Any]
    """Flat byte address, meaningful where the word is plain or of the shape form."""
    sbuf: Bools
    psum: Bools
    partition: np.ndarray[Any, Any]
    offset: np.ndarray[Any, Any]
    """Byte offset inside the partition."""

    @property
    def plain(self) -> Bools:
        """The word holds an address."""
        return ~(self.register | self.indirect)


def read_words(words: np.ndarray[Any, Any], f: Facts) -> Addresses:
    """Read ADDR4 words.

    Args:
        words: uint32, any shape.
        f: geometry, and whether the generation allows no marker bit beside bit 31.
    """
    g = f.geometry
    word = np.ascontiguousarray(words, np.uint32)
    if not (word >> np.uint32(29)).any():  # plain addresses all: what the marker bits say needs no array
        none = np.zeros(1, bool)
        return Addresses(register=none, register_ok=none, shape=none, indirect=none, address=word, **_places(word, g))
    indirect = word & np.uint32(1 << 29) != 0
    register = (word >> np.uint32(31) != 0) & ~indirect
    fixed = 0xFFFFFF00 if "strict_register_form" in f.generation.features else 0x80FFFF00
    register_ok = register & (word & np.uint32(fixed) == 0x80000000) & (word & np.uint32(0xFF) < REGISTERS)
    address = word & np.uint32(0x1FFFFFFF)
    return Addresses(
        register=register, register_ok=register_ok, shape=(word & np.uint32(1 << 30) != 0) & ~indirect,
        indirect=indirect, address=address, **_places(address, g),
    )  # fmt: skip


def _places(address: np.ndarray[Any, Any], g: Geometry) -> dict[str, Any]:
    """Region, partition and offset of flat addresses."""
    psum = address - np.uint32(g.psum_base) < g.psum_window  # below the window the difference wraps to a large one
    partition, offset = divmod_stride(address, g.sbuf_stride)
    if psum.any():
        inside = divmod_stride(address - np.uint32(g.psum_base), g.psum_stride)
        partition, offset = np.where(psum, inside[0], partition), np.where(psum, inside[1], offset)
    return {"sbuf": (address < g.sbuf_window) & ~psum, "psum": psum, "partition": partition, "offset": offset}


def divmod_stride(address: np.ndarray[Any, Any], stride: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Partition and byte offset of addresses inside a region; strides are powers of two on every generation known."""
    if stride & (stride - 1):
        return address // np.uint32(stride), address % np.uint32(stride)
    return address >> np.uint32(stride.bit_length() - 1), address & np.uint32(stride - 1)


def one_of(column: np.ndarray[Any, Any], members: Iterable[int]) -> Bools:
    """Which numbers of a column are among these: a table for bytes."""
    numbers = [int(m) for m in members]
    if len(numbers) <= 4:
        return functools.reduce(operator.or_, (column == n for n in numbers))
    if column.dtype == np.uint8:
        return np.take(_byte_table(tuple(numbers)), column, mode="clip")
    return np.isin(column, numbers)


@functools.cache
def _byte_table(members: tuple[int, ...]) -> np.ndarray[Any, Any]:
    table = np.zeros(256, bool)
    table[list(members)] = True
    return table


def every(flags: np.ndarray[Any, Any]) -> Bools:
    """Which rows of a bool array (records, few) are all true; column by column, which numpy's own is slow at."""
    return functools.reduce(operator.and_, flags.T)


def product(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Product of each row of (records, few): uint64."""
    return functools.reduce(operator.mul, numbers.T.astype(np.uint64))


def addresses(c: Columns, f: Facts, operand: str, leaf: str = "start_addr") -> Addresses:
    """The reading of an operand's start address, computed once per stream."""
    key = ("address", operand, leaf)
    found = c.memo.get(key)
    if found is None:
        name = f"{operand}.{leaf}" if leaf else operand
        found = c.memo[key] = read_words(c[name], f)
    return found


def counts(c: Columns, operand: str) -> np.ndarray[Any, Any]:
    """Elements a channel of a pattern, uint64, shape (records,): the product of its counts, or how many indices."""
    key = ("count", operand)
    found = c.memo.get(key)
    if found is None:
        found = product(c[f"{operand}.num_elem"])
        if f"{operand}.num_indices" in c.layout.leaves:
            indirect = (c[f"{operand}.start_addr"] >> 29) & 1 == 1
            found = np.where(indirect, c[f"{operand}.num_indices"].astype(np.uint64), found)
        c.memo[key] = found
    return found


_START_MASK = np.array([31 if n <= 32 else 63 if n <= 64 else 127 for n in range(256)], np.uint32)
"""Bits of a start partition that must be zero, by channel count."""
_ALIGN_MASK = np.where(SIZES > 0, np.maximum(SIZES, 1) - 1, 0xFFFFFFFF).astype(np.uint32)
"""Bits of an address that must be zero, by dtype code; no address suits a code without a size."""


def legal_start(partition: np.ndarray[Any, Any], n: np.ndarray[Any, Any] | int) -> Bools:
    """Where n channels may start: above 64 at 0; 33 to 64 at 0, 64; at most 32 at 0, 32, 64, 96."""
    return (partition & np.take(_START_MASK, n, mode="clip") == 0) & (partition < 128)


def aligned(address: np.ndarray[Any, Any], dtype: np.ndarray[Any, Any]) -> Bools:
    """Whether the address is a multiple of the element size; false for a dtype without a size."""
    return address & np.take(_ALIGN_MASK, dtype, mode="clip") == 0

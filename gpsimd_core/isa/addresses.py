"""Address words and patterns as columns: what an ADDR4 word says, where it lies, how many elements a pattern has."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from gpsimd_core.isa.dtypes import SIZES
from gpsimd_core.isa.facts import Facts
from gpsimd_core.isa.layout import Columns

__all__ = ["REGISTERS", "Addresses", "addresses", "aligned", "counts", "legal_start", "read_words"]

Bools = Any
"""A bool array of shape (records,)."""

REGISTERS = 64
"""Address registers of one stream."""


@frozen(kw_only=True, eq=False)
class Addresses:
    """The reading of one ADDR4 column, all arrays of shape (records,)."""

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
    word = words.astype(np.int64)
    bit = {n: (word >> n) & 1 == 1 for n in (29, 30, 31)}
    register = bit[31] & ~bit[29]
    number = word & 0xFF
    if "strict_register_form" in f.generation.features:
        register_ok = register & (word >> 8 == 0x800000) & (number < REGISTERS)
    else:
        register_ok = register & ((word >> 8) & 0xFFFF == 0) & (number < REGISTERS)
    address = word & 0x1FFFFFFF
    sbuf = address < g.sbuf_window
    psum = (address >= g.psum_base) & (address < g.psum_base + g.psum_window)
    inside = np.where(psum, address - g.psum_base, address)
    stride = np.where(psum, g.psum_stride, g.sbuf_stride)
    return Addresses(
        register=register, register_ok=register_ok, shape=bit[30] & ~bit[29], indirect=bit[29], address=address,
        sbuf=sbuf & ~psum, psum=psum, partition=inside // stride, offset=inside % stride,
    )  # fmt: skip


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
        found = c[f"{operand}.num_elem"].prod(axis=1, dtype=np.uint64)
        if f"{operand}.num_indices" in c.layout.leaves:
            indirect = (c[f"{operand}.start_addr"] >> 29) & 1 == 1
            found = np.where(indirect, c[f"{operand}.num_indices"].astype(np.uint64), found)
        c.memo[key] = found
    return found


def legal_start(partition: np.ndarray[Any, Any], n: np.ndarray[Any, Any] | int) -> Bools:
    """Where n channels may start: above 64 at 0; 33 to 64 at 0, 64; at most 32 at 0, 32, 64, 96."""
    step = np.where(np.asarray(n) > 64, 128, np.where(np.asarray(n) > 32, 64, 32))
    return (partition % step == 0) & (partition < 128)


def aligned(address: np.ndarray[Any, Any], dtype: np.ndarray[Any, Any]) -> Bools:
    """Whether the address is a multiple of the element size; false for a dtype without a size."""
    size = SIZES[dtype]
    return (size > 0) & (address % np.maximum(size, 1) == 0)

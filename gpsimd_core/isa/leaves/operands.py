"""Operands as bit patterns: what a caller may pass for an argument, and in what type results come back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpsimd_core.errors import BadValue
from gpsimd_core.isa.leaves.names import LaneFormat, Slot

__all__ = ["carrier", "dress", "pack_word", "patterns", "unpack_word"]

Array = NDArray[Any]

_FLOATS: dict[int, np.dtype[Any]] = {16: np.dtype(np.float16), 32: np.dtype(np.float32)}


def carrier(bits: int) -> np.dtype[Any]:
    """The smallest unsigned dtype that holds `bits` bits; 32-bit words beyond 64."""
    size = next((size for size in (8, 16, 32, 64) if bits <= size), 32)
    return np.dtype(f"u{size // 8}")


def pack_word(truth: ArrayLike) -> Array:
    """Predicate words, uint64, out of booleans of shape batch + lanes: every bit of a true lane's field is set."""
    lanes = np.asarray(truth, bool)
    width = 64 // lanes.shape[-1]
    shifts = (np.arange(lanes.shape[-1]) * width).astype(np.uint64)
    fields = np.where(lanes, np.uint64(2**width - 1), np.uint64(0)) << shifts
    return np.asarray(np.bitwise_or.reduce(fields, axis=-1), np.uint64)


def unpack_word(word: ArrayLike, lanes: int) -> Array:
    """Booleans of shape batch + lanes out of predicate words: the lowest bit of each field."""
    shifts = (np.arange(lanes) * (64 // lanes)).astype(np.uint64)
    return ((np.asarray(word, np.uint64)[..., None] >> shifts) & np.uint64(1)).astype(bool)


def patterns(slot: Slot, value: ArrayLike, form: LaneFormat | None, where: str) -> Array:
    """An operand as unsigned bit patterns of shape batch + row.

    Args:
        slot: what the leaf expects.
        value: what the caller gave.
        form: lane format of the leaf, for predicate words given as booleans.
        where: beginning of an error message.

    Raises:
        BadValue: the value has no such reading.
    """
    if slot.flat:
        return _register(value, where)
    array = np.asarray(value)
    if slot.word and array.dtype == bool:
        if form is None or array.ndim == 0 or array.shape[-1] != form.lanes:
            lanes = form.lanes if form else "no"
            raise BadValue(f"{where} has shape {array.shape}; a predicate is a uint64 word or {lanes} booleans")
        return pack_word(array)
    if slot.words and (array.dtype == object or array.ndim == 0):
        return _wide(slot, array, where)
    if slot.row and array.shape[-1:] != slot.row:
        what = "lanes" if slot.lanes else "32-bit words"
        found = array.shape[-1] if array.ndim else "a single value"
        raise BadValue(f"{where} has {found}{' ' + what if array.ndim else ''}; {slot.row[0]} {what} are needed")
    bits = 32 if slot.words else slot.bits
    if array.dtype.kind == "f" or array.dtype == bool:
        array = _codes(slot, array, where)
    return _fitted(array, bits, where)


def _codes(slot: Slot, array: Array, where: str) -> Array:
    """Bit patterns out of floating values or booleans."""
    if array.dtype == bool:
        return array.astype(np.uint8)
    if not slot.floating:
        raise BadValue(f"{where} is an integer of {slot.bits} bits, got {array.dtype}")
    exact = _FLOATS[slot.bits]
    with np.errstate(over="ignore"):
        numbers = array.astype(exact)
    same = numbers.astype(array.dtype) == array
    if array.dtype != exact and not np.all(same | np.isnan(array)):
        raise BadValue(f"{where}: {array[~same].flat[0]} is not an fp{slot.bits} number")
    return numbers.view(carrier(slot.bits))


def _fitted(array: Array, bits: int, where: str) -> Array:
    """Integers as patterns of `bits` bits; negative ones as two's complement."""
    if array.dtype.kind in "iu" and 8 * array.itemsize == bits and array.dtype.isnative:
        return array.view(carrier(bits))
    if array.size == 0:
        return array.astype(carrier(bits))
    whole = array.dtype.kind in "iu" or (array.dtype == object and all(type(one) is int for one in array.flat))
    if not whole:
        raise BadValue(f"{where} is a number of {bits} bits, got {array.dtype}")
    least, greatest = int(array.min()), int(array.max())
    if least < -(1 << (bits - 1)) or greatest >= 1 << bits:
        beyond = least if least < -(1 << (bits - 1)) else greatest
        raise BadValue(f"{where}: {beyond} ({beyond:#x}) does not fit {bits} bits")
    if array.dtype == object:
        return np.array([number & (2**bits - 1) for number in array.flat], carrier(bits)).reshape(array.shape)
    return np.asarray(array.astype(carrier(bits)) & carrier(bits).type(2**bits - 1))


def _wide(slot: Slot, array: Array, where: str) -> Array:
    """Python integers beyond 64 bits as rows of words, low word first."""
    numbers = [int(number) for number in array.flat]
    for number in numbers:
        if not -(1 << (slot.bits - 1)) <= number < 1 << slot.bits:
            raise BadValue(f"{where}: {number:#x} does not fit {slot.bits} bits")
    words = [[(number >> (32 * k)) & 0xFFFFFFFF for k in range(slot.words)] for number in numbers]
    return np.array(words, np.uint32).reshape((*array.shape, slot.words))


def _register(value: ArrayLike, where: str) -> Array:
    """512 bits in any cut as 64-bit words."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or array.ndim == 0 or array.shape[-1] * array.itemsize != 64:
        raise BadValue(f"{where} is an array whose last axis holds 64 bytes, got {array.dtype} of shape {array.shape}")
    return np.ascontiguousarray(array).view(np.uint64)


def dress(slot: Slot, array: Array, kinds: Iterable[np.dtype[Any]]) -> Any:
    """A result in the type of the operands: floating where such came in, signed where such came in, else unsigned.

    Args:
        slot: the result.
        array: its bit patterns.
        kinds: dtypes of the operands that had one.
    """
    given = set(kinds)
    if slot.flat:
        cuts = [dtype for dtype in given if dtype.kind in "iuf"]
        return array.view(cuts[0]) if len(cuts) == 1 else array
    if slot.floating and any(dtype.kind == "f" for dtype in given):
        return array.view(_FLOATS[slot.bits])[()]
    if not (slot.floating or slot.word or slot.words) and slot.bits >= 8 and any(dtype in _SIGNED for dtype in given):
        signed = array.view(f"i{array.itemsize}")
        unused = 8 * array.itemsize - slot.bits
        return ((signed << unused) >> unused)[()]
    return array[()]


_SIGNED = (np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.int32))

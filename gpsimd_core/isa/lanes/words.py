"""Machine words: the casts that keep a lane at its width, and the passage between bit patterns and host floats.

Plain Python spells a word as an integer cut to its width and a float as a Python float; the compiled twin uses machine
words, `float32` and `float64`. Both give the same bits as long as a lane lets `bits32` round every single operation on
`f32` values: an fp32 sum, difference, product, quotient or square root, taken in double precision and rounded again, is
the correctly rounded fp32 result. Operations on `f64` values are those of IEEE binary64 in either spelling.
NaN payloads do not survive the passage: a lane answers NaN from its operands' bits, never from a float.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from gpsimd_core.isa.lane import primitive

__all__ = [
    "bits32",
    "bits64",
    "double",
    "f32",
    "f64",
    "i32",
    "i64",
    "root",
    "shl32",
    "shl64",
    "single",
    "u8",
    "u16",
    "u32",
    "u64",
]


@primitive(np.uint8)
def u8(value: int) -> int:
    """The low 8 bits."""
    return int(value) & 0xFF


@primitive(np.uint16)
def u16(value: int) -> int:
    """The low 16 bits."""
    return int(value) & 0xFFFF


@primitive(np.uint32)
def u32(value: int) -> int:
    """The low 32 bits."""
    return int(value) & 0xFFFFFFFF


@primitive(np.uint64)
def u64(value: int) -> int:
    """The low 64 bits."""
    return int(value) & 0xFFFFFFFFFFFFFFFF


@primitive(np.int32)
def i32(value: int) -> int:
    """The low 32 bits as a two's-complement number."""
    return ((int(value) & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


@primitive(np.int64)
def i64(value: int) -> int:
    """The low 64 bits as a two's-complement number."""
    return ((int(value) & 0xFFFFFFFFFFFFFFFF) ^ 0x8000000000000000) - 0x8000000000000000


def _shl32(value: Any, count: Any) -> Any:
    return np.left_shift(np.uint32(value), np.uint32(count))


def _shl64(value: Any, count: Any) -> Any:
    return np.left_shift(np.uint64(value), np.uint64(count))


@primitive(_shl32)
def shl32(value: int, count: int) -> int:
    """value << count for counts 0 to 31, at 32 bits all the way: a compiler that compares `u32(a << b)` with a constant
    computes it at 64."""
    return (value << count) & 0xFFFFFFFF


@primitive(_shl64)
def shl64(value: int, count: int) -> int:
    """value << count for counts 0 to 63."""
    return (value << count) & 0xFFFFFFFFFFFFFFFF


def _f32(bits: Any) -> Any:
    return np.uint32(bits).view(np.float32)


def _bits32(value: Any) -> Any:
    return np.float32(value).view(np.uint32)


def _f64(bits: Any) -> Any:
    return np.uint64(bits).view(np.float64)


def _bits64(value: Any) -> Any:
    return np.float64(value).view(np.uint64)


def _root(value: Any) -> Any:
    return np.sqrt(value)


@primitive(_f32)
def f32(bits: int) -> float:
    """The number that an fp32 pattern stands for."""
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


@primitive(_bits32)
def bits32(value: float) -> int:
    """The fp32 pattern nearest to `value`, ties to even, overflow to infinity."""
    try:
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:
        return 0xFF800000 if value < 0 else 0x7F800000


@primitive(_f64)
def f64(bits: int) -> float:
    """The number that an fp64 pattern stands for."""
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


@primitive(_bits64)
def bits64(value: float) -> int:
    """The fp64 pattern of `value`."""
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


@primitive(np.float32)
def single(value: int) -> float:
    """An integer of at most 32 bits on its way to `bits32`, which rounds it to nearest even."""
    return float(value)


@primitive(np.float64)
def double(value: float) -> float:
    """An integer of at most 53 bits, or an fp32 number, as a double."""
    return float(value)


@primitive(_root)
def root(value: float) -> float:
    """The correctly rounded square root of a number that is not below zero."""
    return math.sqrt(value)

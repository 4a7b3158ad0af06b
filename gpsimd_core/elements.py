"""Single elements in words: their bits, their value, how far apart two are, and what a place in memory is called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gpsimd_core.disassembly import statements
from gpsimd_core.errors import UsageError
from gpsimd_core.isa.dtypes import BY_CODE
from gpsimd_core.isa.formats import Kind
from gpsimd_core.program import Program

if TYPE_CHECKING:
    from gpsimd_core.isa.formats import Format
    from gpsimd_core.memory import Memory
    from gpsimd_core.tensors import NamedTensor

__all__ = ["APART", "Element", "bits_text", "distances", "place_text", "statement", "value_text"]

Codes = np.ndarray[Any, Any]

APART = np.uint64(0xFFFFFFFFFFFFFFFF)
"""The distance between a number and a NaN."""


def distances(one: Codes, two: Codes, a: Format | None, b: Format | None = None) -> Codes:
    """How far apart codes are, in units of the last place.

    Args:
        one, two: unsigned codes of the same shape.
        a, b: their formats; None: bare bits. Where they differ, codes are counted without regard to NaN.

    Returns:
        uint64 of the same shape: how many numbers of the format lie between, plus one. Two zeros are 0 apart, and so
        are two NaN; a NaN is `APART` from every number.
    """
    b = b or a
    x, y = _ordinals(one, a), _ordinals(two, b)
    found = np.where(x > y, x - y, y - x).astype(np.uint64)
    if a is not None and a is b and a.kind in (Kind.FLOAT, Kind.SCALE) and a.nan is not None:
        nan_x, nan_y = _nan(one, a), _nan(two, a)
        found = np.where(nan_x & nan_y, np.uint64(0), np.where(nan_x | nan_y, APART, found))
    return found


def _ordinals(codes: Codes, fmt: Format | None) -> Codes:
    """Codes as uint64 numbers that grow as the values do."""
    middle = np.uint64(1 << 63)
    wide = codes.astype(np.uint64)
    if fmt is None or fmt.kind in (Kind.NONE, Kind.SCALE) or (fmt.is_integer and not fmt.signed):
        return wide
    sign = np.uint64(1 << (fmt.bits - 1))
    negative = (wide & sign) != 0
    if fmt.is_integer:
        low = wide & np.uint64(2 * int(sign) - 1)
        return np.where(negative, middle - (np.uint64(2 * int(sign) - 1) - low) - np.uint64(1), middle + low)
    magnitude = (wide & (sign - np.uint64(1))) >> np.uint64(fmt.padding)
    return np.where(negative, middle - magnitude, middle + magnitude)


def _nan(codes: Codes, fmt: Format) -> Codes:
    values = codes.astype(fmt.code_dtype).view(fmt.dtype)
    if values.dtype.kind in "ui":
        return np.zeros(codes.shape, bool)
    return np.isnan(values.astype(np.float32))


def bits_text(code: int, size: int) -> str:
    """A code in hexadecimal, as wide as its bytes."""
    return f"0x{code:0{2 * size}x}"


def value_text(code: int, fmt: Format | None) -> str:
    """The value of a code, or `?` where its format has none."""
    if fmt is None or not fmt.readable:
        return "?"
    value = np.array([code], fmt.code_dtype).view(fmt.dtype)[0]
    return str(int(value)) if fmt.is_integer or fmt.numpy_name is None else f"{float(value):.9g}"


def statement(program: Program, index: int) -> str:
    """One record of a program as assembly text."""
    one = Program(program.machine, program.raw[index : index + 1], tensors=tuple(program.tensors.values()))
    return next(iter(statements(program.machine, one)))


class Element:
    """One element of a named tensor, `name[p,i]`: row p, and i counted through all later axes.

    Args:
        program: whose tensor.
        memory: where it lies.
        text: such as `y[0,3]`.

    Raises:
        UsageError: no such tensor or element.
    """

    def __init__(self, program: Program, memory: Memory, text: str) -> None:
        name, bracket, rest = text.strip().partition("[")
        numbers = rest.removesuffix("]").split(",")
        if not bracket or not rest.endswith("]") or len(numbers) != 2 or not all(n.strip().isdigit() for n in numbers):
            raise UsageError(f"an element is written name[p,i], such as y[0,3], not {text!r}")
        t = program.tensors.get(name)
        if t is None:
            there = f"it has {', '.join(program.tensors)}" if program.tensors else "it has none"
            raise UsageError(f"the program has no tensor {name!r}; {there}")
        self.tensor, self.row, self.column = t, int(numbers[0]), int(numbers[1])
        rows, per_row = _extent(t)
        if self.row >= rows or self.column >= per_row:
            raise UsageError(f"{text} is outside {name}, which has {rows} rows of {per_row} elements")
        self.size = int(BY_CODE[t.tensor.code].size)
        self.format: Format | None = program.machine.formats.get(int(t.tensor.code))
        region = memory.region(t.tensor.region)
        first = (
            region.start + (t.tensor.partition + self.row) * region.pitch + t.tensor.offset + self.column * self.size
        )
        self._bytes = memory.data[first : first + self.size]

    def __str__(self) -> str:
        return f"{self.tensor.name}[{self.row},{self.column}]"

    @property
    def code(self) -> int:
        """Its bits, as they are now."""
        return int.from_bytes(self._bytes.tobytes(), "little")

    def text(self, code: int) -> str:
        """Bits and value of a code of this element."""
        return f"{bits_text(code, self.size)} ({value_text(code, self.format)})"


def _extent(t: NamedTensor) -> tuple[int, int]:
    """Rows, and elements of a row, of a tensor in memory."""
    shape = t.tensor.shape
    return shape[0], int(np.prod(shape[1:], dtype=np.int64))


def place_text(memory: Memory, tensors: Iterable[NamedTensor], at: int) -> str:
    """What a storage byte is called: the element of a named tensor where one lies there, and its place."""
    region = memory.psum if at >= memory.psum.start else memory.sbuf
    partition, offset = divmod(at - region.start, region.pitch)
    text = f"{region.name} partition {partition}, byte {offset}"
    for t in tensors:
        rows, per_row = _extent(t)
        size = int(BY_CODE[t.tensor.code].size)
        row, column = partition - t.tensor.partition, (offset - t.tensor.offset) // size
        if t.tensor.region == region.name and 0 <= row < rows and 0 <= column < per_row:
            return f"{t.name}[{row},{column}] at {text}"
    return text

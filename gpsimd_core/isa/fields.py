"""The vocabulary of layouts: what a field is, which leaves it has, and the kinds that are declared by `Kind.at(offset)`.

Two terms: a *field* is what a user names (`src0`, `op0`, `wait_mode`); a *leaf* is one integer or array of integers
inside it (`src0.num_elem`), which rules read as a column.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

__all__ = [
    "F32",
    "I32",
    "RECORD_BYTES",
    "U8",
    "U16",
    "U32",
    "U64",
    "Addr4",
    "Addr8",
    "Array",
    "Bits",
    "Code",
    "Data4D",
    "Field",
    "Imm",
    "Imm64",
    "Leaf",
    "PartitionOffset",
    "Tensor1D",
    "Tensor2D",
    "Tensor3D",
    "Tensor4D",
    "ungrounded",
    "zeros",
]

RECORD_BYTES = 64


@frozen(kw_only=True)
class Leaf:
    """One column of a layout: an integer, part of one, or a short array of integers."""

    name: str
    offset: int
    format: str
    """numpy format of the element, little-endian."""
    count: int = 1
    """Elements; above 1 the column has shape (records, count)."""
    shift: int = 0
    bits: int = 0
    """Width inside the element; 0 means all of it."""
    code: type[Code] | None = None
    array: bool = False
    """Whether the column has a second axis even where `count` is 1."""

    @property
    def is_array(self) -> bool:
        """Whether a record's value is several numbers."""
        return self.array or self.count > 1

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return _itemsize(self.format)

    def bit_span(self) -> range:
        """The record bits that it covers, bit 0 being bit 0 of byte 0."""
        start = self.offset * 8 + self.shift
        return range(start, start + (self.bits or self.itemsize * self.count * 8))

    def place(self, index: int | None = None) -> str:
        """Where it lies, in words: `byte 40 low nibble`, `bytes 48..51`."""
        size = self.itemsize
        first = self.offset + size * (index or 0)
        if index is None:
            size *= self.count
        if self.bits == 4 and self.shift in (0, 4):
            return f"byte {first} {'high' if self.shift else 'low'} nibble"
        if self.bits == 1:
            return f"byte {first} bit {self.shift}"
        if self.bits:
            return f"byte {first} bits {self.shift}..{self.shift + self.bits - 1}"
        return f"byte {first}" if size == 1 else f"bytes {first}..{first + size - 1}"

    def limits(self) -> tuple[int, int]:
        """Smallest and largest number that it holds."""
        if self.bits:
            return 0, (1 << self.bits) - 1
        info = np.iinfo(self.format)
        return int(info.min), int(info.max)


CodeClass: TypeAlias = "type[Code]"


@functools.cache
def _itemsize(fmt: str) -> int:
    return np.dtype(fmt).itemsize


@frozen(kw_only=True)
class Field:
    """A named group of leaves. `kind` says how its value is shown and read; `arms` gives the forms.

    The name is that of the class attribute which declares it.
    """

    kind: str
    offset: int
    size: int
    name: str = ""
    doc: str = ""
    type: str = ""
    dtype: str | None = None
    """Leaf that holds the dtype code of what the field describes."""
    source: str | None = None
    """Leaf that says where an immediate comes from."""
    code: CodeClass | None = None
    dims: int = 0
    count: int = 1
    format: str = "u1"
    shift: int = 0
    bits: int = 0
    parts: tuple[tuple[str, int, int], ...] = ()
    """(name, shift, width) of each bit field of kind `bits`."""
    union: bool = False
    """A MEM_PATTERN slot: it may also hold the indirect form where the generation has it."""
    mx: bool = False
    """A MEM_PATTERN3D slot that may also hold a block-scaled tensor. No marker is grounded that selects this form, so
    its leaves have names and places, and values are shown in the plain or indirect form."""
    feature: tuple[str, str, str] | None = None
    """(feature, name, doc): another name and meaning where a generation has the feature."""

    def __set_name__(self, owner: Any, name: str) -> None:
        if not self.name:
            object.__setattr__(self, "name", name)

    def arms(self) -> dict[str, tuple[Leaf, ...]]:
        """The leaves of each form that the field can take; the first form is the ordinary one."""
        if self.kind == "tensor":
            return self._tensor_arms()
        if self.kind == "data":
            return {
                "plain": (
                    self._leaf("base", 0, "<i4"),
                    self._leaf("step_elem", 4, "<i2", count=self.dims, array=True),
                    self._leaf("num_elem", 4 + 2 * self.dims, "<u2", count=self.dims, array=True),
                )
            }
        if self.kind == "bits":
            return {"plain": tuple(self._leaf(n, 0, "u1", shift=s, bits=w) for n, s, w in self.parts)}
        own = Leaf(
            name=self.name, offset=self.offset, format=self.format, count=self.count,
            shift=self.shift, bits=self.bits, code=self.code,
        )  # fmt: skip
        if self.type == "ADDR8":
            register = tuple(self._leaf(n, at, "u1") for n, at in (("reg_lo", 0), ("reg_hi", 1), ("marker", 7)))
            return {"plain": (own,), "register": register}
        return {"plain": (own,)}

    def _leaf(self, part: str, at: int, fmt: str, **more: Any) -> Leaf:
        return Leaf(name=f"{self.name}.{part}", offset=self.offset + at, format=fmt, **more)

    def _tensor_arms(self) -> dict[str, tuple[Leaf, ...]]:
        d = self.dims
        arms: dict[str, tuple[Leaf, ...]] = {
            "plain": (
                self._leaf("start_addr", 0, "<u4"),
                self._leaf("step_elem", 4, "<i2", count=d, array=True),
                self._leaf("num_elem", 4 + 2 * d, "<u2", count=d, array=True),
            )
        }
        if self.union:
            arms["indirect"] = (
                self._leaf("index_addr", 0, "<u4"),
                self._leaf("data_addr", 4, "<u4"),
                self._leaf("num_indices", 8, "<u2"),
                self._leaf("indirect_reserved", 10, "u1", count=self.size - 10),
            )
        if self.mx:
            arms["mx"] = (
                self._leaf("mx_data_addr", 0, "<u4"),
                self._leaf("mx_scale_addr", 4, "<u4"),
                self._leaf("mx_num_elem", 8, "u1", count=2),
                self._leaf("mx_step_elem_data_1", 10, "<i2"),
                self._leaf("mx_step_elem_scale_1", 12, "<i2"),
                self._leaf("mx_p_f_dim", 14, "u1"),
                self._leaf("mx_scale_dtype", 15, "u1"),
            )
        return arms


def _scalar(kind: str, fmt: str, type_name: str) -> Callable[..., Field]:
    def at(offset: int, count: int = 1, **more: Any) -> Field:
        size = _itemsize(fmt) * count
        text = type_name if count == 1 else f"{type_name}[{count}]"
        return Field(kind=kind, offset=offset, size=size, format=fmt, count=count, **{"type": text, **more})

    return at


class _Kind:
    """A field kind; `Kind.at(offset)` declares a field of it."""

    def __init__(self, at: Callable[..., Field]) -> None:
        self.at = at


U8 = _Kind(_scalar("int", "u1", "u8"))
U16 = _Kind(_scalar("int", "<u2", "u16"))
U32 = _Kind(_scalar("int", "<u4", "u32"))
U64 = _Kind(_scalar("int", "<u8", "u64"))
I32 = _Kind(_scalar("int", "<i4", "i32"))
F32 = _Kind(_scalar("f32", "<u4", "f32"))
Imm = _Kind(_scalar("imm", "<u4", "IMM_VAL"))
Imm64 = _Kind(_scalar("int", "<u8", "IMM64"))
Addr4 = _Kind(_scalar("addr", "<u4", "ADDR4"))
Addr8 = _Kind(_scalar("int", "<u8", "ADDR8"))
PartitionOffset = _Kind(_scalar("addr", "<u4", "PARTITION_OFFSET"))
Array = U8


def _tensor(dims: int) -> Callable[..., Field]:
    def at(offset: int, dtype: str | None, *, mem_pattern: bool = False, doc: str = "") -> Field:
        return Field(
            kind="tensor", offset=offset, size=4 + 4 * dims, dims=dims, dtype=dtype, union=mem_pattern,
            doc=doc, type=f"TENSOR{dims}D",
        )  # fmt: skip

    return at


Tensor1D = _Kind(_tensor(1))
Tensor2D = _Kind(_tensor(2))
Tensor3D = _Kind(_tensor(3))
Tensor4D = _Kind(_tensor(4))


def _data4d(offset: int, doc: str = "") -> Field:
    return Field(kind="data", offset=offset, size=20, dims=4, doc=doc, type="DATA4D")


Data4D = _Kind(_data4d)


def _bits(offset: int, parts: Mapping[str, tuple[int, int]], type: str, doc: str = "") -> Field:
    rows = tuple((name, shift, width) for name, (shift, width) in parts.items())
    return Field(kind="bits", offset=offset, size=1, parts=rows, type=type, doc=doc)


Bits = _Kind(_bits)


class _Filler:
    def __init__(self, kind: str, doc: str) -> None:
        self.kind, self.doc = kind, doc

    def at(self, offset: int, count: int = 1, doc: str = "") -> Field:
        """`count` bytes of this filler at `offset`."""
        text = "u8" if count == 1 else f"u8[{count}]"
        return Field(kind=self.kind, offset=offset, size=count, count=count, type=text, doc=doc or self.doc)


zeros = _Filler("zeros", "reserved, must be zero")
ungrounded = _Filler("ungrounded", "described by no source: round-trips, never checked")


class Code(IntEnum):
    """Base of the enumerations: an enum that can declare layout fields of its type."""

    @classmethod
    def set_name(cls) -> str:
        """Name of the set of its members: `AluOp` gives `alu_op`."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def at(cls, offset: int, doc: str = "", **more: Any) -> Field:
        """A one-byte field of this enumeration at `offset`."""
        return Field(kind="code", offset=offset, size=1, code=cls, type=cls.__name__, doc=doc, **more)

    @classmethod
    def low(cls, offset: int, doc: str = "") -> Field:
        """The low nibble of the packed pair at `offset`."""
        return cls.at(offset, doc, bits=4)

    @classmethod
    def high(cls, offset: int, doc: str = "") -> Field:
        """The high nibble of the packed pair at `offset`."""
        return cls.at(offset, doc, bits=4, shift=4)

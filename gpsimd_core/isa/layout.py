"""How the 64 bytes of a record are laid out, declared once.

A `Layout` subclass lists its fields by byte offset. From that one declaration come the numpy structured dtype, decode,
encode, the names that rules and reports use, and the documentation. Every bit belongs to exactly one field: overlaps
and gaps are refused when the class is made. Variants of a generation (`features`) are chosen by `Layout.variant`.

The kinds of fields are those of `gpsimd_core.isa.fields`, given here again so that a layout needs one import.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, field, frozen

from gpsimd_core.errors import BadValue
from gpsimd_core.isa.fields import (
    F32,
    I32,
    RECORD_BYTES,
    U8,
    U16,
    U32,
    U64,
    Addr4,
    Addr8,
    Array,
    Bits,
    Code,
    Data4D,
    Field,
    Imm,
    Imm64,
    Leaf,
    PartitionOffset,
    Tensor1D,
    Tensor2D,
    Tensor3D,
    Tensor4D,
    ungrounded,
    zeros,
)

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
    "Columns",
    "Data4D",
    "Field",
    "Imm",
    "Imm64",
    "Layout",
    "Leaf",
    "PartitionOffset",
    "RecordLayout",
    "Tensor1D",
    "Tensor2D",
    "Tensor3D",
    "Tensor4D",
    "ungrounded",
    "zeros",
]


class Layout:
    """Base of every operand layout. The 12 bytes that all records share are declared in `common.py`."""

    title: ClassVar[str] = ""
    evidence: ClassVar[Any] = None
    notes: ClassVar[tuple[str, ...]] = ()
    selector: ClassVar[tuple[str, int, type[Layout]] | None] = None
    """(leaf, value, other layout): records whose leaf differs from value have the other layout."""
    fields: ClassVar[tuple[Field, ...]] = ()
    abstract: ClassVar[bool] = True

    def __init_subclass__(cls, abstract: bool = False) -> None:
        own = {name: f for name, f in vars(cls).items() if isinstance(f, Field)}
        for name, f in own.items():
            if f.name != name:
                raise TypeError(f"{cls.__name__}: {name} and {f.name} are one field; each needs its own")
            if name in (inherited.name for inherited in cls.fields):
                raise TypeError(f"{cls.__name__}: {name} is already a field of what it extends")
        cls.fields = tuple(sorted((*cls.fields, *own.values()), key=lambda f: (f.offset, f.shift)))
        cls.abstract = abstract
        if not abstract:
            cls.variant(frozenset())

    @classmethod
    def variant(cls, features: frozenset[str]) -> RecordLayout:
        """The layout as it is on a generation with these features."""
        return _variant(cls, frozenset(features))  # type: ignore[arg-type]  # classes are hashable


@functools.cache
def _variant(cls: type[Layout], features: frozenset[str]) -> RecordLayout:
    fields = tuple(_on(f, features) for f in cls.fields)
    other = None
    if cls.selector is not None:
        leaf, value, layout = cls.selector
        other = (leaf, value, layout.variant(features))
    return RecordLayout(cls=cls, fields=fields, otherwise=other)


def _on(declared: Field, features: frozenset[str]) -> Field:
    if declared.union:
        if "mem_pattern" not in features:
            return evolve(declared, union=False)
        mx = declared.dims == 3 and "mxtensor_v2" in features
        return evolve(declared, type=f"MEM_PATTERN{declared.dims}D", mx=mx)
    if declared.feature and declared.feature[0] in features:
        _, name, doc = declared.feature
        return evolve(declared, name=name, doc=doc)
    return declared


@frozen(kw_only=True, eq=False)
class RecordLayout:
    """One layout on one generation, ready for use."""

    cls: type[Layout]
    fields: tuple[Field, ...]
    otherwise: tuple[str, int, RecordLayout] | None = None
    by_name: Mapping[str, Field] = field(init=False, repr=False)
    leaves: Mapping[str, Leaf] = field(init=False, repr=False)
    numpy: np.dtype[Any] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        held = {f.name: [leaf for arm in f.arms().values() for leaf in arm] for f in self.fields}
        self._check_cover(held)
        leaves = {leaf.name: leaf for own in held.values() for leaf in own}
        object.__setattr__(self, "by_name", {f.name: f for f in self.fields})
        object.__setattr__(self, "leaves", leaves)
        formats = [(leaf.format, (leaf.count,)) if leaf.is_array else leaf.format for leaf in leaves.values()]
        described = {
            "names": list(leaves), "formats": formats,
            "offsets": [leaf.offset for leaf in leaves.values()], "itemsize": RECORD_BYTES,
        }  # fmt: skip
        object.__setattr__(self, "numpy", np.dtype(described))  # type: ignore[call-overload]

    @property
    def name(self) -> str:
        """Name of the layout: the class name."""
        return self.cls.__name__

    def _check_cover(self, held: Mapping[str, list[Leaf]]) -> None:
        covered: dict[str, int] = {}
        seen = 0
        for name, leaves in held.items():
            own = 0
            for leaf in leaves:
                span = leaf.bit_span()
                if span.start < 0 or span.stop > RECORD_BYTES * 8:
                    raise TypeError(f"{self.name}: {leaf.name}, {leaf.place()}, leaves the {RECORD_BYTES}-byte record")
                own |= ((1 << len(span)) - 1) << span.start
            if own & seen:
                other, shared = next((n, own & bits) for n, bits in covered.items() if own & bits)
                raise TypeError(f"{self.name}: {name} overlaps {other} at byte {_bytes_of(shared)[0]}")
            covered[name] = own
            seen |= own
        missing = _bytes_of(~seen)
        if missing:
            raise TypeError(f"{self.name}: no field declares byte {', '.join(map(str, missing))}")

    # One record --------------------------------------------------------------------------------------------------

    def read(self, record: np.ndarray[Any, Any]) -> dict[str, Any]:
        """The fields of one record.

        Args:
            record: uint8, shape (64,).

        Returns:
            Field name to value: an int, a member of the field's enumeration where the number is one, a tuple for an
            array, and a dict for a pattern or bit group (`addr`, `step`, `num`; or the parts by name).
        """
        row = np.ascontiguousarray(record).view(self.numpy)[0]
        return {f.name: self._value(f, row) for f in self.fields}

    def _value(self, f: Field, row: Any) -> Any:
        if f.kind == "tensor":
            word = int(row[f"{f.name}.start_addr"])
            if f.union and word & 0x20000000:
                return {part: self._number(f"{f.name}.{leaf}", row) for part, leaf in INDIRECT_PARTS.items()}
            return {part: self._number(f"{f.name}.{leaf}", row) for part, leaf in TENSOR_PARTS.items()}
        if f.kind == "data":
            return {part: self._number(f"{f.name}.{leaf}", row) for part, leaf in DATA_PARTS.items()}
        if f.kind == "bits":
            return {part: self._number(f"{f.name}.{part}", row) for part, _, _ in f.parts}
        return self._number(f.name, row)

    def _number(self, name: str, row: Any) -> Any:
        leaf = self.leaves[name]
        if leaf.is_array:
            return tuple(int(x) for x in row[name])
        number = int(row[name])
        if leaf.bits:
            number = (number >> leaf.shift) & ((1 << leaf.bits) - 1)
        return member(leaf.code, number)

    def write(self, record: np.ndarray[Any, Any], name: str, value: Any) -> None:
        """Store a field's value, in any form that `read` gives, into a record.

        Args:
            record: uint8, shape (64,), changed in place.
            name: field name.
            value: what `read` gives for it.

        Raises:
            BadValue: unknown field, or a number that the field cannot hold.
        """
        f = self.by_name.get(name)
        if f is None:
            raise BadValue(f"{self.name} has no field {name!r}; it has {', '.join(self.by_name)}")
        if f.kind not in ("tensor", "data", "bits"):
            self.store(record, f.name, value)
            return
        if not isinstance(value, Mapping):
            raise BadValue(f"{name} takes parts such as {{{', '.join(self._parts(f, {}))}}}, not {value!r}")
        parts = self._parts(f, value)
        for part, given in value.items():
            if part not in parts:
                raise BadValue(f"{name} has no part {part!r}; allowed: {', '.join(parts)}")
            self.store(record, f"{f.name}.{parts[part]}", given)

    @staticmethod
    def _parts(f: Field, value: Mapping[str, Any]) -> dict[str, str]:
        if f.kind == "bits":
            return {part: part for part, _, _ in f.parts}
        if f.kind == "data":
            return DATA_PARTS
        return INDIRECT_PARTS if f.union and "index" in value else TENSOR_PARTS

    def number(self, record: np.ndarray[Any, Any], leaf: str) -> int:
        """The number of a scalar leaf of one record (uint8, shape (64,))."""
        return int(self._number(leaf, record.view(self.numpy)[0]))

    def codes(self, leaf: str, record: np.ndarray[Any, Any]) -> int:
        """The source of an immediate, in the codes of IMM_SRC whatever enumeration the field has."""
        number = self.number(record, leaf)
        code = self.leaves[leaf].code
        if code is not None and code.__name__ == "ImmSrcN" and number < 2:
            return 1 - number
        return number

    def store(self, record: np.ndarray[Any, Any], name: str, value: Any) -> None:
        """Store a number in a leaf of one record (uint8, shape (64,)), changed in place."""
        leaf = self.leaves[name]
        low, high = leaf.limits()
        numbers = _as_numbers(name, value, leaf)
        for n in numbers:
            if not low <= n <= high:
                raise BadValue(f"{name} ({leaf.place()}) is {n}; it holds {low} to {high}")
        view = record.view(self.numpy)[0]
        if leaf.is_array:
            view[name] = numbers
        elif leaf.bits:
            mask = ((1 << leaf.bits) - 1) << leaf.shift
            view[name] = (int(view[name]) & ~mask) | (numbers[0] << leaf.shift)
        else:
            view[name] = numbers[0]


def _bytes_of(mask: int) -> list[int]:
    return [byte for byte in range(RECORD_BYTES) if mask >> byte * 8 & 0xFF]


TENSOR_PARTS = {"addr": "start_addr", "step": "step_elem", "num": "num_elem"}
INDIRECT_PARTS = {
    "index": "index_addr", "data": "data_addr", "count": "num_indices", "reserved": "indirect_reserved",
}  # fmt: skip
DATA_PARTS = {"base": "base", "step": "step_elem", "num": "num_elem"}


def member(code: type[Code] | None, number: int) -> int:
    """The member of `code` with this number, or the number itself where there is none."""
    if code is None:
        return number
    return code._value2member_map_.get(number, number)  # type: ignore[return-value]


def _as_numbers(name: str, value: Any, leaf: Leaf) -> list[int]:
    if leaf.is_array:
        if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
            raise BadValue(f"{name} takes {leaf.count} numbers, not {value!r}")
        if len(value) != leaf.count:
            raise BadValue(f"{name} takes {leaf.count} numbers, not {len(value)}")
        return [_as_number(name, x, leaf) for x in value]
    return [_as_number(name, value, leaf)]


def _as_number(name: str, value: Any, leaf: Leaf) -> int:
    if isinstance(value, str) and leaf.code is not None:
        found = leaf.code.__members__.get(value.upper())
        if found is None:
            raise BadValue(
                f"{name}: {leaf.code.__name__} has no member {value!r}; it has {', '.join(leaf.code.__members__)}"
            )
        return int(found)
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return int(value)
    raise BadValue(f"{name} takes a number, not {value!r}")


class Columns:
    """The records of one layout as columns, one array per leaf.

    Args:
        layout: the layout.
        raw: uint8, shape (records, 64).
    """

    def __init__(self, layout: RecordLayout, raw: np.ndarray[Any, Any]) -> None:
        self.layout = layout
        self.raw = np.ascontiguousarray(raw)
        self.records = self.raw.view(layout.numpy)[:, 0]
        self.memo: dict[Any, Any] = {}
        """What checks derive from the columns and share, such as an operand's addresses."""

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[str]:
        return iter(self.layout.leaves)

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        column = self.memo.get(name)
        if column is None:
            leaf = self.layout.leaves[name]
            column = self._read(leaf)
            if leaf.bits:
                column = (column >> leaf.shift) & ((1 << leaf.bits) - 1)
            self.memo[name] = column
        return column

    def _read(self, leaf: Leaf) -> np.ndarray[Any, Any]:
        """A leaf's numbers. Those inside one aligned word share one pass over the records."""
        inside = leaf.offset % 4
        if inside + leaf.itemsize * leaf.count > 4:
            return np.ascontiguousarray(self.records[leaf.name])
        number = leaf.offset // 4
        word = self.memo.get(number)
        if word is None:
            word = self.memo[number] = np.ascontiguousarray(self.raw.view("<u4")[:, number])
        units = word.view(leaf.format).reshape(len(word), -1)
        first = inside // leaf.itemsize
        return units[:, first : first + leaf.count] if leaf.is_array else units[:, first]

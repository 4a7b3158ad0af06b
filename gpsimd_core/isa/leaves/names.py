"""What a leaf's name says: its root, its widths, its lane format; and from these the types of its operands.

In a name, output widths come first, then input widths; `f` marks a floating one, `u` an unsigned one. `$k` in a type is
the k-th width of the name, counted over the parts between underscores that are a number, with `f` or `u` or bare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

__all__ = ["FLAGS", "FORMATS", "LaneFormat", "LeafName", "Slot", "braces", "slot"]

FLAGS = ("inexact", "underflow", "overflow", "invalid")
"""Results that are status flags, not values."""


@frozen(kw_only=True)
class LaneFormat:
    """How a 512-bit register is cut into lanes."""

    name: str
    lanes: int
    bits: int
    floating: bool = False

    @property
    def predicate_bits(self) -> int:
        """Bits of one lane's field in a 64-bit predicate word."""
        return 64 // self.lanes

    @property
    def title(self) -> str:
        """As in `32 x int16` or `16 x fp32`."""
        return f"{self.lanes} x {'fp' if self.floating else 'int'}{self.bits}"


FORMATS = {
    form.name: form
    for form in (
        LaneFormat(name="2nx8", lanes=64, bits=8),
        LaneFormat(name="nx16", lanes=32, bits=16),
        LaneFormat(name="n_2x32", lanes=16, bits=32),
        LaneFormat(name="n_4x64", lanes=8, bits=64),
        LaneFormat(name="nxf16", lanes=32, bits=16, floating=True),
        LaneFormat(name="n_2xf32", lanes=16, bits=32, floating=True),
    )
}

_SPELLED = {"nx16f": "nxf16", "n_2x32f": "n_2xf32"}
_FORMAT = re.compile(r"_?(2nx8|nx16f?|n_2x32f?|n_4x64|nxf16|n_2xf32)(?=_|t_|$)")
_WIDTH = re.compile(r"\d+[fu]?$")


def braces(pattern: str) -> tuple[str, ...]:
    """Every name of a pattern: `{a,b}_{8,16}` is a_8, a_16, b_8, b_16."""
    return tuple(_expand(pattern))


def _expand(pattern: str) -> Iterator[str]:
    found = re.search(r"\{([^{}]*)\}", pattern)
    if found is None:
        yield pattern
        return
    for choice in found.group(1).split(","):
        yield from _expand(pattern[: found.start()] + choice + pattern[found.end() :])


@frozen(kw_only=True)
class LeafName:
    """A leaf's name taken apart."""

    name: str
    root: str
    widths: tuple[str, ...]
    format: LaneFormat | None
    predicated: bool

    @classmethod
    def parse(cls, name: str) -> LeafName:
        found = _FORMAT.search(name)
        parts = name.split("_")
        widths = tuple(part for part in parts if _WIDTH.match(part))
        if found:
            root = name[: found.start()]
        else:
            root = "_".join(parts[: next((i for i, part in enumerate(parts) if _WIDTH.match(part)), len(parts))])
        form = FORMATS[_SPELLED.get(found.group(1), found.group(1))] if found else None
        predicated = name.endswith("_t") or bool(found and name[found.end() :].startswith("t_"))
        return cls(name=name, root=root, widths=widths, format=form, predicated=predicated)

    def width(self, token: str) -> int | None:
        """The number behind `$k`, None where the name has no k-th width."""
        k = int(token[1:])
        return int(self.widths[k - 1].rstrip("fu")) if k <= len(self.widths) else None

    def is_floating(self, token: str) -> bool:
        return self.widths[int(token[1:]) - 1].endswith("f")

    def element_format(self, token: str) -> LaneFormat:
        """The lane format whose lanes are as wide as `$k`."""
        bits, floating = self.width(token), self.is_floating(token)
        return next(form for form in FORMATS.values() if (form.bits, form.floating) == (bits, floating))


@frozen(kw_only=True)
class Slot:
    """One argument or result of a leaf.

    `lanes` is 0 for a single value. A single value of more than 64 bits travels as 32-bit words, low word first; 512
    bits without lanes are `flat`: any view of 64 bytes.
    """

    name: str
    bits: int
    lanes: int = 0
    floating: bool = False
    word: bool = False
    """A predicate word, to be read through a lane format."""
    flat: bool = False

    @property
    def words(self) -> int:
        """How many 32-bit words carry one value, 0 where one machine integer does."""
        return self.bits // 32 if self.bits > 64 else 0

    @property
    def row(self) -> tuple[int, ...]:
        """Trailing axes of one operand."""
        if self.flat:
            return ()
        return (self.lanes,) if self.lanes else (self.words,) if self.words else ()

    @property
    def is_flag(self) -> bool:
        return self.name in FLAGS and self.bits == 1

    @property
    def type(self) -> str:
        """As golden-vector files write it."""
        if self.flat:
            return "512"
        element = f"f{self.bits}" if self.floating else str(self.bits)
        return f"{self.lanes}x{element}" if self.lanes else element


_TYPE = re.compile(r"(?:(?P<lanes>\d+)x)?(?P<floating>f?)(?P<bits>\d+)$")


def slot(text: str, name: LeafName, form: LaneFormat | None) -> Slot | None:
    """An argument or result out of its `name:type`, None where the type is a `$k` that the leaf's name does not have."""
    label, _, kind = text.rpartition(":")
    if kind == "vbool":
        return Slot(name=label, bits=64, word=True)
    if kind in ("vec", "lane"):
        if form is None:
            raise ValueError(f"{name.name}: {text} without a lane format")
        return Slot(name=label, bits=form.bits, lanes=form.lanes if kind == "vec" else 0, floating=form.floating)
    if kind.startswith("$"):
        bits = name.width(kind)
        if bits is None:
            return None
        kind = f"{'f' if name.is_floating(kind) else ''}{bits}"
    if kind == "512":
        return Slot(name=label, bits=64, lanes=8, flat=True)
    found = _TYPE.match(kind)
    if found is None:
        raise ValueError(f"{name.name}: unknown type {kind}")
    return Slot(
        name=label,
        bits=int(found["bits"]),
        lanes=int(found["lanes"] or 0),
        floating=bool(found["floating"]),
    )
